"""What belongs to S.T.A.L.K.E.R.: operators, file handlers and panels of its models, motions, paths and levels."""

from typing import Any

from . import (
    collision_values,
    details,
    editor_models,
    hud,
    hud_gizmos,
    hud_tools,
    levels,
    models,
    motion_choices,
    motion_files,
    motion_operators,
    motion_panels,
    new_models,
    paths,
    skeletal,
)

_WITH_CLASSES: tuple[Any, ...] = (
    motion_choices,
    motion_files,
    motion_operators,
    hud,  # its panel comes before that of motions: Blender takes an order below 0 for 0
    hud_tools,
    hud_gizmos,
    motion_panels,
    skeletal,
    paths,
    models,
    editor_models,
    details,
    collision_values,
    new_models,
    levels,
)

CLASSES: list[type] = [kind for part in _WITH_CLASSES for kind in part.CLASSES]
