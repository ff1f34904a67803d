"""What the user of Blender meets: operators, menus, file handlers, panels, preferences, translations, a command."""

from __future__ import annotations

from typing import Any

import bpy

from .. import lazy

lazy.attach(__name__)

from .. import games
from . import (
    arma_animation_list,
    arma_model_panel,
    arma_panels,
    badges,
    bones_operators,
    collision_values,
    command,
    descent_operators,
    descent_panels,
    details_panels,
    export_arma_animation,
    export_descent_model,
    export_level,
    export_model,
    export_motions,
    export_path,
    export_skeletal,
    hidden_keys,
    import_arma_animation,
    import_arma_model,
    import_descent_model,
    import_descent_texture,
    import_level,
    import_model,
    import_motions,
    import_path,
    import_skeletal,
    level_panels,
    listed_motions,
    mark_operators,
    menus,
    model_panels,
    motion_operators,
    motion_panels,
    motion_references,
    operation,
    partition_operators,
    path_panels,
    preferences,
    save_back,
    save_back_files,
    sidebar,
    skeletal_panels,
    translations,
)

_WITH_CLASSES: tuple[Any, ...] = (
    preferences,
    operation,
    menus,
    sidebar,
    import_model,
    listed_motions,
    import_motions,
    import_path,
    import_skeletal,
    export_model,
    export_motions,
    export_path,
    export_skeletal,
    bones_operators,
    import_level,
    export_level,
    import_descent_model,
    import_descent_texture,
    export_descent_model,
    descent_operators,
    hidden_keys,
    save_back,
    save_back_files,
    motion_operators,
    mark_operators,
    partition_operators,
    motion_panels,
    motion_references,
    skeletal_panels,
    path_panels,
    import_arma_model,
    import_arma_animation,
    export_arma_animation,
    arma_panels,
    arma_model_panel,
    model_panels,
    details_panels,
    collision_values,
    level_panels,
    descent_panels,
)
_WITH_MORE: tuple[Any, ...] = (
    games,
    operation,
    motion_panels,
    arma_animation_list,
    menus,
    badges,
    translations,
    command,
)

CLASSES: list[type] = [kind for part in _WITH_CLASSES for kind in part.CLASSES]


def register() -> None:
    """Registers every part, in order."""
    for part in _WITH_MORE:
        part.register()
    for kind in CLASSES:
        bpy.utils.register_class(kind)


def unregister() -> None:
    """Unregisters every part, in reverse order."""
    for kind in reversed(CLASSES):
        bpy.utils.unregister_class(kind)
    for part in reversed(_WITH_MORE):
        part.unregister()
