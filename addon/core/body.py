"""Which part of a body each bone of a skeleton belongs to, and which of its children it leads to.

Names decide about parts: those of X-Ray, Operation Flashpoint and Arma, and what riggers usually write. A bone's axes
say nothing, since the games let them point anywhere; lengths and directions come from the positions of heads alone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

TOUCHING = 1e-3
"""Metres between heads that count as one place."""
SHORTEST_LEAF, LONGEST_LEAF = 0.01, 0.2
"""Metres a bone without children is drawn long."""


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


APART = {Part.WEAPON, Part.HELPER}
"""Parts that no limb is made of."""
SIDED = {Part.ARM, Part.HAND, Part.LEG}

_SIDE_LETTER = re.compile(r"(?:^|[_. -])([lr])(?=[_. -]|$)")
_SIDE_WORD = re.compile(r"left|right")
_SIDE_OF_DOG = re.compile(r"^Rig([LR])[FB]")
_SIDE_IN_CZECH = re.compile(r"^([lp])(?=rameno|biceps|loket|ruka|zadek|stehno|holen|chodidlo|prsty)")
_LEFT = {"l", "left"}
_MOST_NAMES = 4096
"""Names that are remembered with their part and side: models of one game share them."""

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
    """The ``parts`` and ``sides`` of bones; ``is_body`` whether they are the bones of a body with limbs at all."""

    parts: list[Part]
    sides: list[Side]
    is_body: bool


def body_of(names: Sequence[str], parents: Sequence[int]) -> Body:
    """The body whose bones have these ``names``; ``parents`` are indices, -1 for none, in any order.

    A bone whose name says nothing belongs to the part of its parent. Without a limb on the left and one on the right
    it is no body, and every bone belongs to `Part.OTHER`.
    """
    has_children = set(parents)
    parts: list[Part | None] = []
    sides = [side_of(name) for name in names]
    for bone, name in enumerate(names):
        part = _part_of(name)
        # A roll or twist bone in the middle of a limb is a piece of it.
        if part is Part.HELPER and bone in has_children:
            part = _part_of(re.sub("twist|roll", "", name.lower()))
        parts.append(part)
    limbs = {(part, side) for part, side in zip(parts, sides, strict=True) if part in SIDED}
    if not any((part, Side.LEFT) in limbs and (part, Side.RIGHT) in limbs for part in SIDED):
        return Body([Part.OTHER] * len(names), [Side.NONE] * len(names), is_body=False)
    for bone in order_from_roots(parents):
        above, own = parents[bone], parts[bone]
        inherited = parts[above] if above >= 0 else None
        if own is None:
            parts[bone] = inherited if inherited not in (None, Part.ROOT, Part.HELPER) else Part.OTHER
        if sides[bone] is Side.NONE and above >= 0 and parts[bone] in SIDED and inherited in SIDED:
            sides[bone] = sides[above]
    return Body([part or Part.OTHER for part in parts], sides, is_body=True)


@lru_cache(_MOST_NAMES)
def side_of(name: str) -> Side:
    """The side a bone's name tells."""
    lowered = name.lower()
    for pattern in (_SIDE_LETTER, _SIDE_WORD, _SIDE_IN_CZECH):
        found = pattern.search(lowered)
        if found is not None:
            return Side.LEFT if found.group(found.lastindex or 0) in _LEFT else Side.RIGHT
    found = _SIDE_OF_DOG.search(name)
    return Side.NONE if found is None else Side.LEFT if found.group(1) == "L" else Side.RIGHT


@lru_cache(_MOST_NAMES)
def _part_of(name: str) -> Part | None:
    lowered = name.lower()
    return next((part for part, words in _WORDS if words.search(lowered)), None)


def order_from_roots(parents: Sequence[int]) -> list[int]:
    """All bones, parents before their children."""
    children = children_of(parents)
    order = [bone for bone, parent in enumerate(parents) if parent < 0]
    for bone in order:  # which grows meanwhile
        order.extend(children[bone])
    return order


def children_of(parents: Sequence[int]) -> list[list[int]]:
    """The children of each bone."""
    children: list[list[int]] = [[] for _ in parents]
    for bone, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(bone)
    return children


def main_children(heads: Floats, parents: Sequence[int], body: Body) -> list[int]:
    """The child that each bone leads to, -1 where it has none that is elsewhere; ``heads`` (bones, 3) in metres.

    Weapons and helpers come last; first the same part of the body on the same side, then the largest branch, then the
    most distant. Among fingers only the distance counts: it is the middle one's. No head leads to its eyes or its jaw.
    """
    children = children_of(parents)
    sizes = [1] * len(parents)
    for bone in reversed(order_from_roots(parents)):
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
                ranks.append((part in APART, *alike, size, -distance, child))
        chosen.append(min(ranks)[-1] if ranks else -1)
    return chosen


@dataclass(frozen=True)
class Drawing:
    """How bones are drawn: ``vectors`` (bones, 3) from each head to where its shape ends, in the armature's space.

    ``is_joint`` (bones,): drawn as rings around the head, because the bone leads nowhere; ``radii`` (bones,) of those.
    """

    vectors: Floats
    is_joint: NDArray[np.bool_]
    radii: Floats


def drawing_of(matrices: Floats, lengths: Floats, parents: Sequence[int], body: Body) -> Drawing:
    """The drawing of a rest pose; ``matrices`` (bones, 4, 4) in the armature's space, ``lengths`` (bones,) Blender's.

    A bone ends at the head of its main child. A leaf goes on in the line from its parent's head through its own, half
    as long; where both are in one place, as its parent does; without a parent along its own y axis. Roots of a body,
    and bones all of whose children are at their own head, are rings; the further up, the larger.
    """
    heads = matrices[:, :3, 3]
    main = main_children(heads, parents, body)
    children, count = children_of(parents), len(parents)
    vectors, radii = np.zeros((count, 3)), np.zeros(count)
    is_joint = np.zeros(count, np.bool_)
    extent = float(np.ptp(heads, axis=0).max(initial=0.0)) if count else 0.0
    order, points = order_from_roots(parents), heads.tolist()
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
    """A line no shorter and no longer than a leaf may be."""
    length = math.hypot(*line.tolist())
    if length < 1e-9:
        return fallback * SHORTEST_LEAF
    return line * (min(max(length, SHORTEST_LEAF), LONGEST_LEAF) / length)
