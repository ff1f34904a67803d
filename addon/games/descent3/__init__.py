"""Descent 3: models, and what Blender has to remember of them."""

from ... import lazy

lazy.attach(__name__)

from . import model_properties

ADDED = (model_properties.ADDED,)
