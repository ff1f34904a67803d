"""What each game adds to Blender, and the recipes: read, decode, build; gather, encode, write."""

from ..blender import material
from . import xray


def register() -> None:
    """Add every game's properties to Blender."""
    material.register()
    xray.register()


def unregister() -> None:
    """Take them away."""
    xray.unregister()
    material.unregister()
