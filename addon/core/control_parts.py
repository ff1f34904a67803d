"""Fingers and twist bones of a skeleton, found by bone names and head positions alone.

They get controls of their own in a control rig, in addition to the limbs. Heads are (bones, 3) in the armature's space,
metres, z up.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .body import Body, Part, Side, children_of
from .limbs import TWIST_NAMES, bone_and_ancestors

Floats = NDArray[np.float64]

MIN_BEND, MIN_THUMB_BEND = np.sin(np.radians(10.0)), np.sin(np.radians(5.0))
"""Sines of the smallest bends at rest from which the curl axis of a finger and of a thumb is computed."""
MIN_AGREEMENT = np.cos(np.radians(45.0))
"""Cosine of the largest angle between the curl axis from a finger's own joints and that from the line of knuckles;
beyond it the knuckles are trusted.
"""
_THUMB = re.compile(r"thumb|finger_?0$", re.IGNORECASE)


@dataclass(frozen=True)
class Finger:
    """The joints of a finger from the hand outwards, its hand, the axis (3,) about which it closes, whether it is a
    thumb.
    """

    bones: tuple[int, ...]
    hand: int
    axis: Floats
    is_thumb: bool


@dataclass(frozen=True)
class Follower:
    """A twist bone: the limb bones where its segment starts and ends, and the share of the end bone's twist that it
    follows.
    """

    start: int
    end: int
    share: float


def followers_of(
    names: Sequence[str], parents: Sequence[int], heads: Floats, segments: Sequence[tuple[int, int]]
) -> dict[int, Follower]:
    """Return the twist and roll bones along the ``segments`` of limbs (start bone, end bone).

    The shares of several bones in a segment are spread evenly in the order from start to end; a single bone gets one
    half.
    """
    followers: dict[int, Follower] = {}
    for start, end in segments:
        along = [bone for bone in range(len(names)) if TWIST_NAMES.search(names[bone])]
        along = [bone for bone in along if _limb_ancestor(bone, names, parents) == start]
        along.sort(key=lambda bone: float((heads[bone] - heads[start]) @ (heads[end] - heads[start])))
        followers |= {bone: Follower(start, end, (index + 1) / (len(along) + 1)) for index, bone in enumerate(along)}
    return followers


def _limb_ancestor(bone: int, names: Sequence[str], parents: Sequence[int]) -> int:
    """Return the nearest ancestor (or the bone itself) that is not a twist or roll bone; -1 if all are."""
    return next((above for above in bone_and_ancestors(bone, parents) if not TWIST_NAMES.search(names[above])), -1)


def fingers_of(names: Sequence[str], parents: Sequence[int], heads: Floats, body: Body) -> list[Finger]:
    """Return the fingers that have at least two joints and a known axis."""
    inside = [part is Part.HAND and side is not Side.NONE for part, side in zip(body.parts, body.sides, strict=True)]
    children = [[child for child in below if inside[child]] for below in children_of(parents)]
    hands: dict[int, list[tuple[int, ...]]] = {}
    for leaf in range(len(names)):
        if not inside[leaf] or children[leaf]:
            continue
        line = [leaf]
        while (above := parents[line[0]]) >= 0 and inside[above] and len(children[above]) == 1:
            line.insert(0, above)
        hand = next((bone for bone in bone_and_ancestors(line[0], parents) if not inside[bone]), -1)
        if hand >= 0 and len(line) > 1:
            hands.setdefault(hand, []).append(tuple(line))
    fingers = []
    for hand, lines in hands.items():
        thumbs = [_THUMB.search(names[line[0]]) is not None for line in lines]
        with_axes = zip(lines, _axes(thumbs, lines, heads, body.sides[hand]), thumbs, strict=True)
        fingers += [Finger(line, hand, axis, is_thumb) for line, axis, is_thumb in with_axes if axis is not None]
    return fingers


def _axes(thumbs: Sequence[bool], lines: Sequence[tuple[int, ...]], heads: Floats, side: Side) -> list[Floats | None]:
    """Return the curl axis of each finger of one hand, None if unknown. ``thumbs``: which fingers are thumbs.

    Fingers close about the line through the knuckles: from the index finger to the little finger on a left hand, the
    other way on a right hand. The bend of a finger at rest is more exact and used if it agrees with that. A thumb
    closes in the direction in which it is bent, or else towards the little finger.
    """
    thumb = next((heads[line[0]] for line, thumb in zip(lines, thumbs, strict=True) if thumb), None)
    knuckles = np.array([heads[line[0]] for line, thumb in zip(lines, thumbs, strict=True) if not thumb]).reshape(-1, 3)
    across = little = None
    if len(knuckles):
        index = knuckles[0 if thumb is None else np.linalg.norm(knuckles - thumb, axis=1).argmin()]
        little = knuckles[np.linalg.norm(knuckles - index, axis=1).argmax()]
        begin = index if len(knuckles) > 1 or thumb is None else thumb
        across = _unit((little - begin) * (1.0 if side is Side.LEFT else -1.0))
    result: list[Floats | None] = []
    for line, is_thumb in zip(lines, thumbs, strict=True):
        first = heads[line[1]] - heads[line[0]]
        own = _bend(line, heads, MIN_THUMB_BEND if is_thumb else MIN_BEND)
        if is_thumb:
            other = _unit(np.cross(first, little - heads[line[0]])) if little is not None else None
        else:
            other = across
            own = own if other is None or own is None or own @ other > MIN_AGREEMENT else None
        axis = own if own is not None else other
        is_clear = axis is not None and np.linalg.norm(np.cross(axis, first)) > MIN_BEND * np.linalg.norm(first)
        result.append(axis if is_clear else None)
    return result


def _bend(line: tuple[int, ...], heads: Floats, least: float) -> Floats | None:
    """Return the unit axis (3,) about which the first two segments of a finger are bent at rest; None if they are bent
    by less than ``least`` (a sine).
    """
    if len(line) < 3:
        return None
    first, second = heads[line[1]] - heads[line[0]], heads[line[2]] - heads[line[1]]
    normal = np.cross(first, second)
    is_bent = np.linalg.norm(normal) > least * np.linalg.norm(first) * np.linalg.norm(second)
    return _unit(normal) if is_bent else None


def _unit(vector: Floats) -> Floats | None:
    length = float(np.linalg.norm(vector))
    return vector / length if length > 1e-9 else None
