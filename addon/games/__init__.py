"""What each game adds to Blender, and the recipes: read, decode, build; gather, encode, write."""

from ..blender import material
from . import arma, descent3, xray


def register() -> None:
    """Add every game's properties to Blender."""
    material.register()
    xray.register()
    arma.register()
    descent3.register()


def unregister() -> None:
    """Take them away."""
    descent3.unregister()
    arma.unregister()
    xray.unregister()
    material.unregister()
