"""What belongs to S.T.A.L.K.E.R.: operators, file handlers and panels of its models, motions, paths and levels."""

from typing import Any

from . import (
    editor_models,
    hud,
    hud_tools,
    level_faces,
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
    motion_panels,
    skeletal,
    paths,
    models,
    editor_models,
    level_faces,
    new_models,
    levels,
)

CLASSES: list[type] = [kind for part in _WITH_CLASSES for kind in part.CLASSES]
