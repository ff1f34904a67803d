"""What each game adds to Blender, and the recipes: read, decode, build; gather, encode, write."""

from .. import lazy

lazy.attach(__name__)

from ..blender import action_lists, freshness, material, rotation_modes
from ..blender import renamed_bones as known_bones
from . import arma, descent3, xray
from .arma.kinds import KINDS as _ARMA
from .descent3.kinds import KINDS as _DESCENT3
from .xray.kinds import KINDS as _XRAY

ADDED = (
    material.ADDED,
    action_lists.ADDED,
    known_bones.ADDED,
    rotation_modes.ADDED,
    *xray.ADDED,
    *arma.ADDED,
    *descent3.ADDED,
)

KINDS = (_XRAY, _ARMA, _DESCENT3)
"""The kinds of files of each game, in the order of menus."""


def register() -> None:
    """Add every game's properties to Blender."""
    for one in ADDED:
        one.register()
    freshness.register()


def unregister() -> None:
    """Take them away."""
    freshness.unregister()
    for one in reversed(ADDED):
        one.unregister()
