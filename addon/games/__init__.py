"""The supported games: properties they add to Blender's types, and the steps of each import and export."""

from typing import Any

from .. import lazy

lazy.attach(__name__)

from ..blender import action_lists, control_links, properties, rotation_modes
from . import arma, descent3, renamed_bones, xray
from .arma.kinds import KINDS as _ARMA
from .descent3.kinds import KINDS as _DESCENT3
from .xray.kinds import KINDS as _XRAY
from .xray.motions import properties as _xray_motions

ADDED = (
    properties.ADDED,
    action_lists.ADDED,
    rotation_modes.ADDED,
    control_links.ADDED,
    *xray.ADDED,
    *arma.ADDED,
    *descent3.ADDED,
)

KINDS = (_XRAY, _ARMA, _DESCENT3)
"""File kinds of each game, in menu order."""


def order_of_angles(action: Any) -> str:
    """Return the Euler order stored with an action (only actions of X-Ray's editor formats store one), else ""."""
    return _xray_motions.order_of_angles(action)


def register() -> None:
    """Add every game's properties and handlers to Blender."""
    for module in ADDED:
        module.register()
    action_lists.before_playing = _before_playing
    action_lists.is_motion = _is_motion


def _is_motion(action: Any) -> bool:
    kinds = (action.motionbridge_motion.is_motion, action.motionbridge_skeletal.is_skeletal)
    return any(kinds) or bool(action.motionbridge_animation.is_animation)


def _before_playing(context: Any, rig: Any, action: Any) -> Any:
    return renamed_bones.before_playing(context, rig, action)


def unregister() -> None:
    """Remove every game's properties and handlers from Blender."""
    for module in reversed(ADDED):
        module.unregister()
