"""Operation Flashpoint and Arma: animations and models, and what Blender has to remember of them."""

from . import animation_properties, model_properties


def register() -> None:
    """Add the game's properties to Blender's actions, armatures and objects."""
    animation_properties.register()
    model_properties.register()


def unregister() -> None:
    """Take them away."""
    model_properties.unregister()
    animation_properties.unregister()
