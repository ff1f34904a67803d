"""Options of X-Ray's imports and exports, as the interface shows them and as recipes take them.

They are needed when the extension is enabled, so no format and no recipe is loaded here.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from enum import Enum
from typing import Any

from ..options import Options, choice, option
from .motions.skeletal_properties import ROTATIONS

TOLERANCE = (1e-4, math.radians(0.01))
"""Metres and radians that what has to be fitted may be off."""


def _fake_user() -> Any:
    return option(True, "Fake User", "Keep actions without users when the .blend file is saved")


def _stash() -> Any:
    return option(False, "Stash", "Also add each action to a muted NLA track of the armature")


# Motions --------------------------------------------------------------------------------------------------------------


class MotionImportOptions(Options):
    """``motions`` by name, None for all; where the first key goes; whether saving keeps actions nobody plays."""

    motions: Collection[str] | None = None
    first_frame: int = option(0, "First Frame", "Frame of the first key")
    fake_user: bool = _fake_user()
    assign_first: bool = True
    stash: bool = _stash()
    resample: bool = option(
        False,
        "Match Scene Frame Rate",
        "Space the keys for the scene's frame rate, so that motions last as long as in the game; otherwise each key "
        "is one frame",
    )


class Rotation(Enum):
    """What imported bones are turned by."""

    AUTOMATIC = "automatic"
    """Quaternions where other actions turn the armature by them, else angles."""
    EULER = "euler"
    QUATERNION = "quaternion"


ROTATION_CHOICES = (
    ("AUTOMATIC", "Automatic", "Quaternions if other actions of the armature use them, otherwise Euler angles"),
    *ROTATIONS,
)


class SkeletalImportOptions(Options):
    """``motions`` by name, None for all; ``tolerance`` (metres, radians) of what has to be fitted."""

    motions: Collection[str] | None = None
    rotation: Rotation = choice(Rotation.AUTOMATIC, "Rotation", "Rotation mode of the bones", ROTATION_CHOICES)
    tolerance: tuple[float, float] = TOLERANCE
    fake_user: bool = _fake_user()
    assign_first: bool = True
    stash: bool = _stash()


# Motion paths ---------------------------------------------------------------------------------------------------------


class Target(Enum):
    """What an imported path moves."""

    EMPTY = "empty"
    CAMERA = "camera"
    """A new empty with a camera below it that looks where the game's camera looks."""
    ACTIVE = "active"
    """The active object; an active camera gets the empty that moves it."""


TARGETS = (
    ("EMPTY", "A New Empty", "Create an empty for each path"),
    ("CAMERA", "A New Camera", "Create an empty for each path, with a child camera that looks as in the game"),
    ("ACTIVE", "The Active Object", "The first path moves the active object; the others become actions"),
)


class PathImportOptions(Options):
    """What moves; whether the path is drawn as a curve object too.

    ``play`` False: the action is made, but what moves does not `play` it yet, and is not made active.
    """

    target: Target = choice(Target.EMPTY, "Import Onto", "Which object follows the path", TARGETS)
    draw_curve: bool = option(
        False, "Draw as Curve", "Also create a curve object for each path, with one point per location key"
    )
    fake_user: bool = _fake_user()
    play: bool = True


class PathExportOptions(Options):
    """``version`` 3, 4, 5 or None for the one it came in; tolerances (metres, radians) of what has to be sampled.

    ``banked``: what moves along a curve object tilts as the curve does.
    """

    version: int | None = None
    tolerance: tuple[float, float] = TOLERANCE
    banked: bool = option(True, "Tilt with Curve", "An object that follows a curve object tilts with the curve")
