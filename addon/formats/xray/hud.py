"""First person view: where the game shows hands and weapon, which motions it plays, and how.

Shadow of Chernobyl has one model of both; later games parent an item to a bone of the hands. Matrices are in column
form, in X-Ray's axes (x right, y up, z forward) and metres. Sources: the engines' ``player_hud.cpp``, ``WeaponHUD.cpp``
and ``HudItem.cpp``. What the game adds by itself (sway, recoil) is left out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core import rotation
from ...core.errors import ReadError
from ...core.report import Report, say
from .ltx.document import numbers, words
from .omf.document import MotionFlag, MotionSet

Floats = NDArray[np.float64]

FRAMES_PER_SECOND = 30.0
WIDE_SUFFIX = "_16x9"
"""Of the keys that the game reads for wide screens: an aspect ratio (width over height) above 1.343."""
MISSING_KEY = "{:# key is|# keys are} missing; some games stop with an error there"
"""Warning, with the key."""
VARIANTS = 8
IDLE = "idle"
POINT_BONES = {"fire_point": "fire_bone", "fire_point2": "fire_bone2", "shell_point": "shell_bone"}
"""Muzzle, grenade launcher and shell of an item: key of the point -> key of the bone that the point belongs to."""
CAMERA_EFFECTS = "anims\\camera_effects\\weapon\\{}.anm"
"""Path in gamedata of the camera animation that plays while the hands play the motion of that name."""
_PARAMETER_KEYS = re.compile(r".*_(speed_k|start_k|stop_k|effector)")
"""Keys of parameters in OGSR, which have the prefix of actions but are not actions."""


def without_zeros(number: str) -> str:
    """Remove the trailing zeros of a number in a config, 0.040000 -> 0.04; other text is returned stripped."""
    number = number.strip()
    if not re.fullmatch(r"-?\d*\.\d+", number):
        return number
    shorter = number.rstrip("0").rstrip(".")
    return shorter if shorter not in ("-0", "-", "") else "0"


class View(NamedTuple):
    """The HUD's camera: vertical field of view in degrees, near clipping distance in metres."""

    field_of_view: float
    near: float


VIEWS = {
    "Shadow of Chernobyl, Clear Sky": View(0.45 * 67.5, 0.2),
    "Call of Pripyat": View(0.45 * 55.0, 0.2),
    "OpenXRay": View(0.45 * 67.5, 0.05),
    "Anomaly": View(0.45 * 83.0, 0.005),
    "IX-Ray": View(33.75, 0.01),
    "Advanced X-Ray": View(math.degrees(0.55), 0.005),
}
"""The HUD's camera of each game with the settings it is installed with."""


class Generation(Enum):
    """The kind of a section; its value is the prefix of the keys of its actions."""

    ONE_MODEL = "anim_"
    """Shadow of Chernobyl: ``visual`` contains arms and weapon."""
    TWO_MODELS = "anm_"
    """Clear Sky and later: ``item_visual`` is parented to a bone of the hands."""


def generation(values: Mapping[str, str]) -> Generation:
    """Return the kind of a section with these keys. Raises `ReadError` if it has no model."""
    if values.get("item_visual"):
        return Generation.TWO_MODELS
    if values.get("visual"):
        return Generation.ONE_MODEL
    raise ReadError(
        "the section has neither item_visual nor visual", remedy="Choose the section that `hud` of the weapon names"
    )


ZOOM_KEYS = ("zoom_offset", "zoom_rotate_x", "zoom_rotate_y")
"""Keys of aiming in a section of one model; what cannot be aimed, such as a knife, has none of them."""


# Placement ----------------------------------------------------------------------------------------------------------


def placement_matrix(position: Sequence[float], orientation: Sequence[float]) -> Floats:
    """Return the matrix (4, 4) of a position in metres and an orientation in degrees: heading, pitch, bank."""
    heading, pitch, bank = -np.radians(np.asarray(orientation, np.float64))
    rotation_matrix = rotation.multiply(rotation.about_axis(1, heading), rotation.about_axis(0, pitch))
    return rotation.transforms(
        rotation.multiply(rotation_matrix, rotation.about_axis(2, bank)), np.asarray(position, np.float64)
    )


def placement_values(matrix: Floats) -> tuple[Floats, Floats]:
    """Return position and orientation (3,) of a matrix made by `placement_matrix`.

    They are exact except near a pitch of 90 degrees.
    """
    heading = math.atan2(-matrix[0, 2], matrix[2, 2])
    bank = math.atan2(-matrix[1, 0], matrix[1, 1])
    return matrix[:3, 3].copy(), np.degrees([heading, _arcsine(matrix[1, 2]), bank])


def aim_matrix(position: Sequence[float], angles: Sequence[float]) -> Floats:
    """Return the matrix (4, 4) of an offset while aiming: metres, and **radians** about x, y, z."""
    x, y, z = np.asarray(angles, np.float64)
    rotation_matrix = rotation.multiply(rotation.about_axis(2, z), rotation.about_axis(1, y))
    rotation_matrix = rotation.multiply(rotation_matrix, rotation.about_axis(0, x))
    return rotation.transforms(rotation_matrix, np.asarray(position, np.float64))


def aim_values(matrix: Floats) -> tuple[Floats, Floats]:
    """Return position and angles (3,) of a matrix made by `aim_matrix`."""
    x = math.atan2(matrix[2, 1], matrix[2, 2])
    z = math.atan2(matrix[1, 0], matrix[0, 0])
    return matrix[:3, 3].copy(), np.array([x, -_arcsine(matrix[2, 0]), z])


def point_matrix(position: Sequence[float]) -> Floats:
    """Return the matrix (4, 4) of a point of the item in the space of its bone, in metres."""
    result = np.eye(4)
    result[:3, 3] = position
    return result


def _arcsine(value: float) -> float:
    return math.asin(min(max(value, -1.0), 1.0))


@dataclass(frozen=True)
class Placing:
    """Matrices (4, 4) of a section's models: the hands at the hip, the item relative to its bone, and the aim.

    ``aim`` is added while aiming, ``launcher`` while the grenade launcher is selected. In Shadow of Chernobyl ``hands``
    is the whole model, and ``item`` the identity.
    """

    hands: Floats
    item: Floats
    aim: Floats
    launcher: Floats


def placing(values: Mapping[str, str], report: Report, *, wide: bool) -> Placing:
    """Return the matrices that the keys of a section define; see `Generation` for the two kinds of sections.

    Missing keys count as 0 and are reported; a section of one model needs those of aiming only if it has one of them.
    ``wide``: use the keys for wide screens. Raises `ReadError` if the section has no model.
    """

    def read(*keys: str, wide: bool = wide) -> list[float]:
        """Return three numbers: those of one key, or one of each."""
        texts = [_text_of(values, key, report, wide) for key in keys]
        return numbers(texts[0], 3) if len(keys) == 1 else [numbers(text, 1)[0] for text in texts]

    if generation(values) is Generation.ONE_MODEL:
        hands = placement_matrix(read("position", wide=False), read("orientation", wide=False))
        aim = np.eye(4)
        if not values.keys().isdisjoint(ZOOM_KEYS):
            offset, *axes = ZOOM_KEYS
            aim = aim_matrix(read(offset, wide=False), [*read(*axes, wide=False), 0.0])
        return Placing(hands, np.eye(4), aim, np.eye(4))
    return Placing(
        placement_matrix(read("hands_position"), read("hands_orientation")),
        placement_matrix(read("item_position", wide=False), read("item_orientation", wide=False)),
        aim_matrix(read("aim_hud_offset_pos"), read("aim_hud_offset_rot")),
        aim_matrix(read("gl_hud_offset_pos"), read("gl_hud_offset_rot")),
    )


def _text_of(values: Mapping[str, str], key: str, report: Report, wide: bool) -> str:
    """Return the value of a key, or of its variant for wide screens: the game reads exactly one of them.

    If it is missing, that is reported. A missing variant is replaced by the plain key, as
    in OGSR.
    """
    wanted = key + WIDE_SUFFIX if wide else key
    if wanted in values:
        return values[wanted]
    report.warn(say(MISSING_KEY, 1), wanted)
    return values.get(key, "")


def anchor_bone(hands: Mapping[str, str], item: Mapping[str, str]) -> str:
    """Return the bone of the hands that an item is parented to: by its index in the sorted keys ``ancor_*``.

    Raises `ReadError` if the hands have no such key.
    """
    bones = [hands[key] for key in sorted(hands) if key.startswith("ancor_")]
    attached = attach_place(item)
    if not 0 <= attached < len(bones):
        raise ReadError(
            say("the hands have {:# place|# places} for items, the item asks for place {}", len(bones), attached),
            remedy="Correct attach_place_idx, or choose another section of hands",
        )
    return bones[attached]


def attach_place(item: Mapping[str, str]) -> int:
    """Return 0 for an item in the right hand, 1 for the left."""
    return int(numbers(item.get("attach_place_idx", "0"), 1)[0])


# Motions ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Action:
    """An action of a section: ``alias`` its key, ``hands`` the motion of the hands, ``item`` that of the item if named.

    ``speed`` and ``end`` (seconds) exist in Anomaly only.
    """

    alias: str
    hands: str
    item: str = ""
    speed: float = 1.0
    end: float = 0.0

    def value(self) -> str:
        """Return the value for the config, without trailing entries that are defaults."""
        fields = [self.hands, self.item or self.hands, f"{self.speed:g}", f"{self.end:g}"]
        count = 4 if self.end else 3 if self.speed != 1.0 else 2 if fields[1] != self.hands else 1
        return ", ".join(fields[:count])


def action_of(alias: str, value: str) -> Action:
    """Return the action of a key with the value ``hands [, item [, speed [, end]]]``."""
    fields = [*words(value), "", "", "", ""]
    speed = numbers(fields[2], 1)[0] if fields[2] else 1.0
    return Action(alias, fields[0], fields[1], speed, numbers(fields[3], 1)[0])


def actions(values: Mapping[str, str], *, wide: bool = False) -> list[Action]:
    """Return all actions of a section in its order; variants of keys for wide screens are not actions of their own.

    With ``wide``, actions of items in the left hand take the value for wide screens; without one, the plain value, as
    Anomaly does.
    """
    prefix = generation(values).value
    wide_values = wide and attach_place(values) == 1
    result = []
    for alias, value in values.items():
        if alias.startswith(prefix) and not alias.endswith(WIDE_SUFFIX) and not _PARAMETER_KEYS.fullmatch(alias):
            result.append(action_of(alias, values.get(alias + WIDE_SUFFIX, value) if wide_values else value))
    return result


def motion_table(sets: Iterable[MotionSet]) -> dict[str, tuple[int, int]]:
    """Return name -> (file, definition) of the motions in a model's motion files, in their order.

    Names in the files have no letter case and are in lower case here; names in configs are looked up as written, so a
    capital finds nothing. The last file with a name wins, and in it the first definition. Motions for single bones (FX)
    are never found.
    """
    table: dict[str, tuple[int, int]] = {}
    for file, motions in enumerate(sets):
        of_file: dict[str, tuple[int, int]] = {}
        for index, definition in enumerate(motions.parameters.definitions):
            if not definition.flags & MotionFlag.FX:
                of_file.setdefault(definition.label.lower(), (file, index))
        table |= of_file
    return table


def variants(name: str, motions: Collection[str], kind: Generation) -> list[str]:
    """Return the variants of a motion that exist, of which the game chooses one at random.

    They are ``M, M1 ... M8``; in Shadow of Chernobyl ``M, M0 ... M7``.
    """
    first = 0 if kind is Generation.ONE_MODEL else 1
    names = [name, *(f"{name}{number}" for number in range(first, first + VARIANTS))]
    return [name for name in names if name in motions]


def item_motion(action: Action, variant: str, motions: Collection[str]) -> tuple[str, bool]:
    """Return the item's motion while the hands play ``variant``, and whether it is the fallback ``idle``.

    If the action names two different motions it is the second, else that of the chosen variant. Raises `ReadError` if
    the item lacks ``idle`` as well, where the game stops.
    """
    wanted = action.item if action.item and action.item != action.hands else variant
    if wanted in motions:
        return wanted, False
    if IDLE in motions:
        return IDLE, True
    words = "the item has neither the motion {!r} nor {!r}"
    raise ReadError(say(words, wanted, IDLE), remedy="Add a motion of that name")
