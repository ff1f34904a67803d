"""Which part of a body each bone of a skeleton belongs to, and which of its children is its continuation.

Parts are found by names: those of X-Ray, Operation Flashpoint and Arma, and those riggers usually write. Bone axes are
not used, because the games let them point anywhere; lengths and directions come from the positions of heads alone.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .model import parents_first

Floats = NDArray[np.float64]

TOUCHING = 1e-3
"""Metres. Heads that are closer are at the same place."""
SHORTEST_LEAF, LONGEST_LEAF = 0.01, 0.2
"""Metres; limits of the displayed length of a bone without children."""


class Part(Enum):
    """A part of the body; the values are labels."""

    ROOT = "Root"
    SPINE = "Spine"
    HEAD = "Head"
    FACE = "Face"
    ARM = "Arm"
    HAND = "Fingers"
    LEG = "Leg"
    WEAPON = "Weapon"
    HELPER = "Helpers"
    OTHER = "Other"


class Side(Enum):
    """Left, right or neither; the values are labels."""

    NONE = ""
    LEFT = "Left"
    RIGHT = "Right"


NOT_LIMBS = {Part.WEAPON, Part.HELPER}
"""Parts that are not part of a limb."""
SIDED = {Part.ARM, Part.HAND, Part.LEG}

_SIDE_LETTER = re.compile(r"(?:^|[_. -])([lr])(?=[_. -]|$)")
_SIDE_WORD = re.compile(r"left|right")
_SIDE_OF_DOG = re.compile(r"^Rig([LR])[FB]")
_SIDE_IN_CZECH = re.compile(r"^([lp])(?=rameno|biceps|loket|ruka|zadek|stehno|holen|chodidlo|prsty)")
_SEPARATORS = re.compile(r"[_.:\s-]+")
_LEFT = {"l", "left"}
_NAMESPACE = re.compile(r"^.*[:|]")
_FIRST_WORDS = re.compile(r"^(?:[A-Za-z0-9]+[ _.-])+")
_MOST_NAMES = 4096
"""Number of names whose part and side are cached: models of one game share them."""

_WORDS = [
    (Part.WEAPON, re.compile(r"weapon|launcher|lead_gun|^wpn|^zbran$|^roura$")),
    (Part.HELPER, re.compile(r"twist|roll$|nub|dummy|helper|camera|^slot")),
    (Part.ROOT, re.compile(r"^root|^bip0?1$")),
    (
        Part.LEG,
        re.compile(r"thigh|thing$|calf|foot|toe|horselink|leg|(?:^|[_. ])hip$|stehno|holen|chodidlo|prsty|zadek"),
    ),
    (Part.HAND, re.compile(r"finger|thumb|pinky|digit|hand_?(?:index|middle|ring)|(?:^|[_. ])(?:index|middle|ring)\d")),
    (Part.ARM, re.compile(r"clavicle|arm(?!o)|hand|shoulder|sholder|elbow|rameno|biceps|loket|ruka")),
    (Part.FACE, re.compile(r"face|jaw|eye|brow|tongue")),
    (Part.HEAD, re.compile(r"head|neck|^hlava$|^krk$")),
    (Part.SPINE, re.compile(r"pelvis|spine|chest|(?<!pony)tail|^hips$|^bricho$|^zebra$|^hrudnik$")),
]


@dataclass(frozen=True)
class Body:
    """The ``parts`` and ``sides`` of bones; ``is_body``: whether they are the bones of a body with limbs at all."""

    parts: list[Part]
    sides: list[Side]
    is_body: bool


def body_of(names: Sequence[str], parents: Sequence[int]) -> Body:
    """Return the body whose bones have these ``names``; ``parents``: indices, -1 for none, in any order.

    A bone with an unknown name belongs to the part of its parent. A skeleton without a limb on the left and one on the
    right is not a body: all its bones belong to `Part.OTHER`.
    """
    has_children = set(parents)
    parts: list[Part | None] = []
    sides = [side_of(name) for name in names]
    for bone, name in enumerate(names):
        part = part_of(name)
        # A roll or twist bone with children is part of its limb.
        if part is Part.HELPER and bone in has_children:
            part = part_of(re.sub("twist|roll", "", name.lower()))
        parts.append(part)
    limbs = {(part, side) for part, side in zip(parts, sides, strict=True) if part in SIDED}
    if not any((part, Side.LEFT) in limbs and (part, Side.RIGHT) in limbs for part in SIDED):
        return Body([Part.OTHER] * len(names), [Side.NONE] * len(names), is_body=False)
    for bone in parents_first(parents):
        above, own = parents[bone], parts[bone]
        inherited = parts[above] if above >= 0 else None
        if own is None:
            parts[bone] = inherited if inherited not in (None, Part.ROOT, Part.HELPER) else Part.OTHER
        if sides[bone] is Side.NONE and above >= 0 and parts[bone] in SIDED and inherited in SIDED:
            sides[bone] = sides[above]
    return Body([part or Part.OTHER for part in parts], sides, is_body=True)


def side_of(name: str) -> Side:
    """Return the side that a bone's name indicates."""
    return split_side(name)[1]


def without_shared_words(names: Sequence[str]) -> list[str]:
    """Return the names without namespaces, and without the first words that most of them have, such as ``bip01_`` or
    ``CC_Base_``, unless these are words of a side.
    """
    plain = [_NAMESPACE.sub("", name) for name in names]
    beginnings = []
    for name in plain:
        match = _FIRST_WORDS.match(name)
        words = match.group() if match else ""
        beginnings.append([words[:end] for end, letter in enumerate(words, 1) if letter in " _.-"])
    counts = Counter(beginning for own in beginnings for beginning in own)
    shared = {beginning for beginning, count in counts.items() if 2 * count > len(names)}
    shared = {beginning for beginning in shared if side_of(beginning) is Side.NONE}
    return [
        name.removeprefix(max(shared.intersection(own), key=len, default=""))
        for name, own in zip(plain, beginnings, strict=True)
    ]


@lru_cache(_MOST_NAMES)
def split_side(name: str) -> tuple[str, Side]:
    """Return a bone's name in lower case without what indicates its side, with ``_`` between words, and the side."""
    lowered = name.lower()
    matches = (pattern.search(lowered) for pattern in (_SIDE_LETTER, _SIDE_WORD, _SIDE_IN_CZECH))
    match = next(filter(None, matches), None) or _SIDE_OF_DOG.search(name)
    if match is None:
        return _words(lowered), Side.NONE
    start, end = match.span() if match.re is _SIDE_LETTER else match.span(match.lastindex or 0)
    side = Side.LEFT if lowered[slice(*match.span(match.lastindex or 0))] in _LEFT else Side.RIGHT
    return _words(lowered[:start] + lowered[end:]), side


def _words(lowered: str) -> str:
    return _SEPARATORS.sub("_", lowered).strip("_")


@lru_cache(_MOST_NAMES)
def part_of(name: str) -> Part | None:
    """Return the part of the body that a bone's name alone indicates."""
    lowered = name.lower()
    return next((part for part, words in _WORDS if words.search(lowered)), None)


def children_of(parents: Sequence[int]) -> list[list[int]]:
    """Return the children of each bone."""
    children: list[list[int]] = [[] for _ in parents]
    for bone, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(bone)
    return children


def main_children(heads: Floats, parents: Sequence[int], body: Body) -> list[int]:
    """Return the child that continues each bone, -1 if it has none at another place; ``heads`` (bones, 3) in metres.

    Weapons and helpers come last. Preferred are children of the same part of the body on the same side, then the
    largest branch, then the most distant child. For fingers only the distance counts, so a hand continues in the middle
    finger. Eyes and jaw do not continue a head.
    """
    children = children_of(parents)
    sizes = [1] * len(parents)
    for bone in reversed(parents_first(parents)):
        if parents[bone] >= 0:
            sizes[parents[bone]] += sizes[bone]
    chosen = []
    points = heads.tolist()
    for bone, below in enumerate(children):
        ranks = []
        for child in below:
            distance = math.dist(points[child], points[bone])
            part = body.parts[child]
            if distance > TOUCHING and (part is not Part.FACE or body.parts[bone] is Part.FACE):
                size = 0 if part is Part.HAND else -sizes[child]
                alike = (part is not body.parts[bone], body.sides[child] is not body.sides[bone])
                ranks.append((part in NOT_LIMBS, *alike, size, -distance, child))
        chosen.append(min(ranks)[-1] if ranks else -1)
    return chosen


@dataclass(frozen=True)
class Drawing:
    """Display of bones: ``vectors`` (bones, 3) from each head to the end of its shape, in the armature's space.

    ``is_joint`` (bones,): displayed as rings around the head, because no child continues the bone; ``radii`` (bones,)
    of these rings.
    """

    vectors: Floats
    is_joint: NDArray[np.bool_]
    radii: Floats


def drawing_of(matrices: Floats, lengths: Floats, parents: Sequence[int], body: Body) -> Drawing:
    """Return the display of a rest pose; ``matrices`` (bones, 4, 4) in the armature's space, ``lengths`` (bones,) of
    Blender's bones.

    A bone ends at the head of its main child. A bone without main child continues the line from its parent's head to
    its own, at half the length; if both heads are at the same place, the direction of its parent; without a parent, its
    own y axis. Root bones of a body, and bones whose children are all at their own head, are rings that get larger
    towards the root.
    """
    heads = matrices[:, :3, 3]
    main = main_children(heads, parents, body)
    children, count = children_of(parents), len(parents)
    vectors, radii = np.zeros((count, 3)), np.zeros(count)
    is_joint = np.zeros(count, np.bool_)
    extent = float(np.ptp(heads, axis=0).max(initial=0.0)) if count else 0.0
    order, points = parents_first(parents), heads.tolist()
    leading = np.flatnonzero(np.array(main, np.int64) >= 0)
    vectors[leading] = heads[np.array(main, np.int64)[leading]] - heads[leading]
    for bone in order:
        above = parents[bone]
        if main[bone] < 0 and above < 0:
            vectors[bone] = matrices[bone, :3, 1] * lengths[bone]
        elif main[bone] < 0:
            gap = heads[bone] - heads[above]
            line = gap if math.hypot(*gap.tolist()) > TOUCHING else vectors[above]
            vectors[bone] = _with_length(line / 2, matrices[bone, :3, 1])
        below = children[bone]
        together = bool(below) and all(math.dist(points[child], points[bone]) <= TOUCHING for child in below)
        is_joint[bone] = together or body.parts[bone] is Part.ROOT
    ring = max(0.02 * extent, SHORTEST_LEAF)
    for bone in reversed(order):
        if is_joint[bone]:
            radii[bone] = max([ring, *(1.5 * radii[child] for child in children[bone] if is_joint[child])])
    return Drawing(vectors, is_joint, radii)


def _with_length(line: Floats, fallback: Floats) -> Floats:
    """Return a line with its length limited to that of bones without children."""
    length = math.hypot(*line.tolist())
    if length < 1e-9:
        return fallback * SHORTEST_LEAF
    return line * (min(max(length, SHORTEST_LEAF), LONGEST_LEAF) / length)
