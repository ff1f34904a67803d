"""User interface in Blender: operators, menus, file handlers, panels, preferences, translations, a command.

This package has what the games share; what belongs to one game is in a package of its name.
"""

from __future__ import annotations

from typing import Any

import bpy

from .. import lazy

lazy.attach(__name__)

from .. import games
from ..blender.properties import use_own_translations
from . import (
    arma,
    badges,
    bases,
    bone_maps,
    bones,
    command,
    control_rig,
    descent3,
    from_game,
    game_textures,
    installed_games,
    list_operators,
    manual,
    menus,
    mirror_motion,
    motion_lists,
    operation,
    playing,
    preferences,
    retarget_motion,
    searched_lists,
    sidebar,
    spread_pose,
    xray,
)
from .arma import lods as arma_lods
from .arma import panels as arma_panels
from .xray import motion_panels

_WITH_CLASSES: tuple[Any, ...] = (
    preferences,
    operation,
    installed_games,
    from_game,
    menus,
    list_operators,
    mirror_motion,
    spread_pose,
    searched_lists,
    playing,
    sidebar,
    bones,
    control_rig,
    xray,
    bone_maps,
    retarget_motion,  # after `xray`, whose rows of motions it has
    arma,
    descent3,
)
_WITH_MORE: tuple[Any, ...] = (
    games,
    operation,
    installed_games,
    motion_lists,
    motion_panels,
    arma_panels,
    arma_lods,
    menus,
    badges,
    bases,
    command,
    game_textures,
    manual,
)

CLASSES: list[type] = [kind for part in _WITH_CLASSES for kind in part.CLASSES]


def register() -> None:
    """Register every part, in order."""
    for part in _WITH_MORE:
        part.register()
    for kind in CLASSES:
        use_own_translations(kind)
        bpy.utils.register_class(kind)


def unregister() -> None:
    """Unregister every part, in reverse order."""
    for kind in reversed(CLASSES):
        bpy.utils.unregister_class(kind)
    for part in reversed(_WITH_MORE):
        part.unregister()
