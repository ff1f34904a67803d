"""Descent 3: models, and the properties stored for them in Blender."""

from ... import lazy

lazy.attach(__name__)

from . import model_properties

ADDED = (model_properties.ADDED,)
