"""Operation Flashpoint and Arma: animations and models, and what Blender has to remember of them."""

from . import animation_properties, model_properties

ADDED = (animation_properties.ADDED, model_properties.ADDED)
