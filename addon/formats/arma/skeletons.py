"""Skeletons: the parent of each bone, tables that rename bones, and the built-in skeletons of the games' men.

Tables of names serve animations and armatures that use different names for the same bones. They are editable JSON:
``{"bones": {"name in the file": "name in the armature", …}}``, with an optional ``comment``. Names are compared without
regard to case, as everywhere in the game; bones that are not in the table keep their names. The shipped table of
Flashpoint's and Arma's men is based on anatomy; the games themselves do not define one.

The built-in men have bones and parents, and joints where these are known: Arma 3's and Arma 2's from public
configurations; the bones of Operation Flashpoint's man from its configurations and the community's. Joints are
recovered from animations of mods (their rigs differ by about a centimetre) and are only used for display.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import files
from ...core.errors import ReadError
from ...core.report import say


@dataclass(frozen=True)
class Hierarchy:
    """A skeleton. ``parents``: bone -> parent ("" for none) in the list's own order and spelling; a parent may come
    after its child, or be missing. ``pivots``: bone -> (x, y, z) metres in the game's axes, for some of the bones.
    ``pivots_model``: path of the P3D with all pivots, as written in the game's configuration.

    ``for_display``: the game's skeleton has no hierarchy; this one only makes an armature easier to read.
    """

    name: str
    parents: Mapping[str, str]
    pivots: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)
    pivots_model: str = ""
    for_display: bool = False

    def renamed(self, named: Callable[[str], str]) -> Hierarchy:
        """Return the same hierarchy with the bone names that ``named`` returns, without pivots."""
        parents = {named(bone): named(parent) if parent else "" for bone, parent in self.parents.items()}
        return Hierarchy(self.name, parents, for_display=self.for_display)

    def parent_indices(self, bones: Sequence[str]) -> NDArray[np.int32]:
        """Return (bones,) the index in ``bones`` of each bone's nearest ancestor that is in ``bones``, -1 for none.

        Names are compared without regard to case. In a cycle of parents one bone becomes a root.
        """
        parents = {bone.lower(): parent.lower() for bone, parent in self.parents.items()}
        index = {bone.lower(): number for number, bone in reversed(list(enumerate(bones)))}
        nearest: dict[str, int] = {"": -1}
        result = np.full(len(bones), -1, np.int32)
        for number, bone in enumerate(bones):
            passed: dict[str, None] = {}
            ancestor = parents.get(bone.lower(), "")
            while ancestor not in nearest and ancestor not in index and ancestor not in passed:
                passed[ancestor] = None
                ancestor = parents.get(ancestor, "")
            own_parent = index.get(ancestor, nearest.get(ancestor, -1))
            nearest.update((name, own_parent) for name in passed)
            result[number] = own_parent if own_parent != number else -1
        return _without_cycles(result)

    def unknown(self, bones: Sequence[str]) -> list[str]:
        """Return those of ``bones`` that the skeleton does not list."""
        listed = {bone.lower() for bone in self.parents}
        return [bone for bone in bones if bone.lower() not in listed]


def _without_cycles(parents: NDArray[np.int32]) -> NDArray[np.int32]:
    """Make one bone of every cycle a root. Changes ``parents`` and returns it."""
    seen = np.zeros(len(parents), np.int32)  # number (from 1) of the walk that visited the bone, 0 for none
    for start in range(len(parents)):
        bone = start
        while bone >= 0 and not seen[bone]:
            seen[bone] = start + 1
            above = int(parents[bone])
            if above >= 0 and seen[above] == start + 1:
                parents[bone] = -1
            bone = int(parents[bone])
    return parents


# Tables of names ------------------------------------------------------------------------------------------------------

BONES, COMMENT = "bones", "comment"
SHIPPED = Path(__file__).with_name("flashpoint_to_arma.json")
_EXAMPLE = 'Write it as {"bones": {"name in the file": "name in the armature"}}'


@dataclass(frozen=True)
class BoneTable:
    """A table of bone names. ``pairs``: name in the file -> name in the armature. Other bones keep their names."""

    pairs: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.pairs)

    def in_armature(self, bone: str) -> str:
        """Return the name in the armature of a bone of the file."""
        return _translated(self.pairs.items(), bone)

    def in_file(self, bone: str) -> str:
        """Return the name in the file of a bone of the armature."""
        return _translated(((right, left) for left, right in self.pairs.items()), bone)

    def reversed(self) -> BoneTable:
        """Return the table with the two sides swapped."""
        return BoneTable({right: left for left, right in self.pairs.items()})


def _translated(pairs: Iterable[tuple[str, str]], bone: str) -> str:
    lowered = bone.lower()
    return next((other for first, other in pairs if first.lower() == lowered), bone)


def read_table(data: bytes, file: str) -> BoneTable:
    """Parse a JSON table of bone names. Raises `ReadError` if it is not a one-to-one table."""
    try:
        content = json.loads(data.decode("utf-8-sig"), object_pairs_hook=_refuse_duplicates)
    except UnicodeDecodeError as wrong:
        raise ReadError("the table of bone names is not UTF-8 text", file=file, remedy=_EXAMPLE) from wrong
    except (json.JSONDecodeError, RecursionError) as wrong:
        problem = "the table of bone names is not valid JSON"
        if isinstance(wrong, json.JSONDecodeError):
            problem = say("the table of bone names is not valid JSON (line {}: {})", wrong.lineno, wrong.msg)
        raise ReadError(problem, file=file, remedy=_EXAMPLE) from wrong
    except _DuplicateName as repeated:
        words = "the table of bone names has {} twice"
        raise ReadError(say(words, repeated), file=file, remedy="Keep one of the two lines") from repeated
    pairs = content.get(BONES) if isinstance(content, dict) else None
    if not isinstance(pairs, dict) or not pairs:
        raise ReadError('the table of bone names has no "bones"', file=file, remedy=_EXAMPLE)
    unknown = [name for name in content if name not in (BONES, COMMENT)]
    if unknown:
        words = "the table of bone names says {!r}, which is unknown"
        raise ReadError(say(words, unknown[0]), file=file, remedy=_EXAMPLE)
    wrong_names = [left for left, right in pairs.items() if not left or not isinstance(right, str) or not right]
    if wrong_names:
        words = "in the table of bone names {!r} has no name on one side"
        raise ReadError(say(words, wrong_names[0]), file=file, remedy=_EXAMPLE)
    for names in (pairs, pairs.values()):
        duplicate = _first_duplicate(names)
        if duplicate:
            words = "the table of bone names has {!r} twice"
            raise ReadError(say(words, duplicate), file=file, remedy="List each name once on each side")
    return BoneTable(pairs)


class _DuplicateName(Exception):
    """A name that occurs twice in one JSON object."""


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    duplicate = _first_duplicate(name for name, _ in pairs)
    if duplicate:
        raise _DuplicateName(repr(duplicate))
    return dict(pairs)


def _first_duplicate(names: Iterable[str]) -> str:
    seen: set[str] = set()
    for name in names:
        if name.lower() in seen:
            return name
        seen.add(name.lower())
    return ""


def read_table_file(path: str) -> BoneTable:
    """Read a table of bone names from a file. Raises `ReadError`."""
    return read_table(files.read_file(path), path)


@cache
def flashpoint_to_arma() -> BoneTable:
    """Return the shipped table for files with the bones of Flashpoint's man and armatures with those of Arma's."""
    return read_table_file(str(SHIPPED))


# Skeletons of the games -----------------------------------------------------------------------------------------------

_UPPER = """
    Pelvis, Spine < Pelvis, Spine1 < Spine, Spine2 < Spine1, Spine3 < Spine2, Camera < Pelvis, weapon < Spine1,
    launcher < Spine1, neck < Spine3, neck1 < neck, head < neck1
"""
_FACE = """
    Face_Hub < head, Face_Jawbone < Face_Hub, Face_Jowl < Face_Jawbone, Face_chopRight < Face_Jawbone,
    Face_chopLeft < Face_Jawbone, Face_LipLowerMiddle < Face_Jawbone, Face_LipLowerLeft < Face_Jawbone,
    Face_LipLowerRight < Face_Jawbone, Face_Chin < Face_Jawbone, Face_Tongue < Face_Jawbone,
    Face_CornerRight < Face_Hub, Face_CheekSideRight < Face_CornerRight, Face_CornerLeft < Face_Hub,
    Face_CheekSideLeft < Face_CornerLeft, Face_CheekFrontRight < Face_Hub, Face_CheekFrontLeft < Face_Hub,
    Face_CheekUpperRight < Face_Hub, Face_CheekUpperLeft < Face_Hub, Face_LipUpperMiddle < Face_Hub,
    Face_LipUpperRight < Face_Hub, Face_LipUpperLeft < Face_Hub, Face_NostrilRight < Face_Hub,
    Face_NostrilLeft < Face_Hub, Face_Forehead < Face_Hub, Face_BrowFrontRight < Face_Forehead,
    Face_BrowFrontLeft < Face_Forehead, Face_BrowMiddle < Face_Forehead, Face_BrowSideRight < Face_Forehead,
    Face_BrowSideLeft < Face_Forehead, Face_Eyelids < Face_Hub, Face_EyelidUpperRight < Face_Hub,
    Face_EyelidUpperLeft < Face_Hub, Face_EyelidLowerRight < Face_Hub, Face_EyelidLowerLeft < Face_Hub,
    EyeLeft < Face_Hub, EyeRight < Face_Hub
"""
_FACE_ARMA_2 = """
    HeadCutScene, jaw, chin, jaw_rf, jaw_rm, jaw_rs, jaw_lf, jaw_lm, jaw_ls, ear_r, ear_l, lip_lc, lip_lwlb,
    lip_lwlf, lip_lwm, lip_lwrf, lip_lwrb, lip_rc, lip_uprb, lip_uprf, lip_upm, lip_uplf, lip_uplb, nose_tip,
    nose_r, nose_l, zig_lt, zig_lm, zig_lb, zig_rt, zig_rm, zig_rb, cheek_r, cheek_l, eyebrow_lb, eyebrow_lm,
    eyebrow_lf, corr, eyebrow_rf, eyebrow_rm, eyebrow_rb, eye_upr, eye_lwr, eye_upl, eye_lwl, cheek_rf,
    cheek_rm, cheek_rb, cheek_lf, cheek_lm, cheek_lb, forehead_l, forehead_m, forehead_r, l_eye, r_eye,
    l_pupila, r_pupila, neck_t, neck_b, neck_r, neck_l, tongue_b, tongue_m, tongue_f
"""
_LEFT_ARM = """
    LeftShoulder < Spine3, LeftArm < LeftShoulder, LeftArmRoll < LeftArm, LeftForeArm < LeftArmRoll,
    LeftForeArmRoll < LeftForeArm, LeftHand < LeftForeArmRoll, LeftHandRing < LeftHand,
    LeftHandRing1 < LeftHandRing, LeftHandRing2 < LeftHandRing1, LeftHandRing3 < LeftHandRing2,
    LeftHandPinky1 < LeftHandRing, LeftHandPinky2 < LeftHandPinky1, LeftHandPinky3 < LeftHandPinky2,
    LeftHandMiddle1 < LeftHand, LeftHandMiddle2 < LeftHandMiddle1, LeftHandMiddle3 < LeftHandMiddle2,
    LeftHandIndex1 < LeftHand, LeftHandIndex2 < LeftHandIndex1, LeftHandIndex3 < LeftHandIndex2,
    LeftHandThumb1 < LeftHand, LeftHandThumb2 < LeftHandThumb1, LeftHandThumb3 < LeftHandThumb2
"""
_LEFT_LEG = """
    LeftUpLeg < Pelvis, LeftUpLegRoll < LeftUpLeg, LeftLeg < LeftUpLegRoll, LeftLegRoll < LeftLeg,
    LeftFoot < LeftLegRoll, LeftToeBase < LeftFoot
"""
_LIMBS = ",".join(limb.replace("Left", side) for limb in (_LEFT_ARM, _LEFT_LEG) for side in ("Left", "Right"))
_OFP_MAN = """
    pchodidlo < pholen, lchodidlo < lholen, pprsty < pchodidlo, lprsty < lchodidlo, pholen < pstehno,
    lholen < lstehno, pstehno < pzadek, lstehno < lzadek, pzadek < bricho, lzadek < bricho, bricho, zebra < bricho,
    hrudnik < zebra, krk < hrudnik, prameno < hrudnik, lrameno < hrudnik, hlava < krk, pbiceps < prameno,
    lbiceps < lrameno, ploket < pbiceps, lloket < lbiceps, roura < hrudnik, pruka < ploket, lruka < lloket,
    zbran < hrudnik, loboci < hlava, soboci < hlava, poboci < hlava, lkoutek < hlava, skoutek < hlava,
    pkoutek < hlava, vicka < hlava, spodni ret < hlava
"""

_JOINTS = {
    "Spine1": (0.0, 0.156, 0.012),
    "Spine2": (0.0, 0.286, 0.027),
    "neck": (0.0, 0.555, 0.025),
    "neck1": (0.0, 0.627, 0.008),
    "head": (0.0, 0.667, 0.007),
}
_LEFT_JOINTS = {
    "Shoulder": (0.065, 0.51, 0.02),
    "Arm": (0.203, 0.477, 0.050),
    "ArmRoll": (0.281, 0.39, 0.064),
    "ForeArm": (0.378, 0.283, 0.084),
    "ForeArmRoll": (0.471, 0.178, 0.076),
    "Hand": (0.587, 0.068, 0.077),
    "HandThumb1": (0.589, 0.063, 0.047),
    "HandThumb2": (0.612, 0.034, 0.011),
    "HandThumb3": (0.630, 0.013, -0.009),
    "HandIndex1": (0.650, 0.004, 0.045),
    "HandIndex2": (0.680, -0.022, 0.038),
    "HandIndex3": (0.696, -0.038, 0.030),
    "HandMiddle1": (0.658, -0.001, 0.056),
    "HandMiddle2": (0.685, -0.030, 0.058),
    "HandMiddle3": (0.703, -0.049, 0.061),
    "HandRing": (0.631, 0.020, 0.090),
    "HandRing1": (0.650, 0.002, 0.086),
    "HandRing2": (0.675, -0.023, 0.098),
    "HandRing3": (0.692, -0.039, 0.104),
    "HandPinky1": (0.646, 0.001, 0.101),
    "HandPinky2": (0.657, -0.014, 0.128),
    "HandPinky3": (0.674, -0.028, 0.123),
    "UpLeg": (0.114, -0.060, 0.000),
    "Leg": (0.149, -0.467, -0.019),
    "Foot": (0.171, -0.887, 0.079),
}


def _parse_parents(*parts: str) -> dict[str, str]:
    """Parse comma-separated entries ``child < parent`` into a dictionary bone -> parent ("" for none)."""
    pairs = (entry.strip().partition(" < ") for part in parts for entry in part.split(","))
    return {bone: parent for bone, _, parent in pairs}


def _all_joints() -> dict[str, tuple[float, float, float]]:
    sides = {
        side + bone: (sign * x, y, z)
        for side, sign in (("Left", 1.0), ("Right", -1.0))
        for bone, (x, y, z) in _LEFT_JOINTS.items()
    }
    return _JOINTS | sides


_ARMA_2_HEAD = ",".join(f"{bone.strip()} < head" for bone in _FACE_ARMA_2.split(","))

MAN_ARMA_3 = Hierarchy("OFP2_ManSkeleton", _parse_parents(_UPPER, _FACE, _LIMBS), _all_joints())
MAN_ARMA_2 = Hierarchy("OFP2_ManSkeleton", _parse_parents(_UPPER, _ARMA_2_HEAD, _LIMBS), _all_joints())
MAN_FLASHPOINT = Hierarchy("OFP man", _parse_parents(_OFP_MAN), for_display=True)

BUILT_IN = {"arma3": MAN_ARMA_3, "arma2": MAN_ARMA_2, "flashpoint": MAN_FLASHPOINT}
"""Built-in skeletons by the names that options and the command line use."""
