"""S.T.A.L.K.E.R.: models, their motions and what Blender has to remember of both."""

from . import (
    bone_properties,
    bones_file,
    level_properties,
    model_properties,
    motion_properties,
    path,
    skeletal_properties,
)

_PARTS = (
    bone_properties,
    bones_file,
    model_properties,
    level_properties,
    motion_properties,
    path,
    skeletal_properties,
)


def register() -> None:
    """Add the game's properties to Blender's bones, objects and actions."""
    for part in _PARTS:
        part.register()


def unregister() -> None:
    """Take them away."""
    for part in reversed(_PARTS):
        part.unregister()
