"""Interface for S.T.A.L.K.E.R. (X-Ray): operators and panels of models, motions, paths, levels and the HUD."""

from typing import Any

from . import (
    editor_models,
    hud,
    hud_tools,
    level_faces,
    level_layers,
    level_trees,
    levels,
    materials,
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
    hud,  # its panel comes before that of motions; bl_order cannot do that, Blender treats orders below 0 as 0
    hud_tools,
    motion_panels,
    skeletal,
    paths,
    models,
    materials,
    editor_models,
    level_faces,
    new_models,
    level_layers,
    level_trees,
    levels,
)

CLASSES: list[type] = [kind for part in _WITH_CLASSES for kind in part.CLASSES]
