"""Descent 3: models, and what Blender has to remember of them."""

from . import model_properties

ADDED = (model_properties.ADDED,)
