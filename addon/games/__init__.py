"""What each game adds to Blender, and the recipes: read, decode, build; gather, encode, write."""

from typing import Any

from .. import lazy

lazy.attach(__name__)

from ..blender import action_lists, control_links, properties, rotation_modes
from . import arma, descent3, xray
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
"""The kinds of files of each game, in the order of menus."""


def order_of_angles(action: Any) -> str:
    """The order of an action's angles where the file of a game tells it, which X-Ray's editor alone does; else ""."""
    return _xray_motions.order_of_angles(action)


def register() -> None:
    """Add every game's properties to Blender."""
    for one in ADDED:
        one.register()
    properties.watch_changes()
    action_lists.watch_undo()


def unregister() -> None:
    """Take them away."""
    action_lists.stop_watching()
    properties.stop_watching()
    for one in reversed(ADDED):
        one.unregister()
