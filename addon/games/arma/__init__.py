"""Operation Flashpoint and Arma: animations, and what Blender has to remember of them."""

from . import animation_properties


def register() -> None:
    """Add the game's properties to Blender's actions and armatures."""
    animation_properties.register()


def unregister() -> None:
    """Take them away."""
    animation_properties.unregister()
