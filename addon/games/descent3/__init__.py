"""Descent 3: models, and what Blender has to remember of them."""

from . import model_properties

_PARTS = (model_properties,)


def register() -> None:
    """Add the game's properties to Blender's objects."""
    for part in _PARTS:
        part.register()


def unregister() -> None:
    """Take them away."""
    for part in reversed(_PARTS):
        part.unregister()
