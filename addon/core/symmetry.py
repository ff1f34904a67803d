"""Left and right: which bones are each other's counterpart, and poses with both sides exchanged.

Bones are paired by their names, and those whose names have no side by where they are. The plane between both sides is
perpendicular to the armature's x axis; its position does not matter. Heads are (bones, 3), matrices (..., 4, 4) in the
armature's space, metres, `p' = M p`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from . import affine
from .body import Side, body_of, split_side
from .model import parents_first

Floats = NDArray[np.float64]

ACROSS = np.array([-1.0, 1.0, 1.0])
"""Factors of x, y and z that reflect a vector."""
REFLECTION = np.diag([*ACROSS, 1.0])
MOST_APART = 0.02
"""Largest distance between a head and the reflection of its counterpart, as a fraction of the skeleton's size, if names
do not say that both are a pair. Bones nearer than this to the middle are not paired.
"""


def pairs_of(names: Sequence[str], parents: Sequence[int], heads: Floats) -> NDArray[np.intp]:
    """Return the counterpart on the other side of each bone (bones,): the bone itself if it has none."""
    pairs = np.arange(len(names))
    of_stem: dict[str, dict[Side, list[int]]] = {}
    for bone, name in enumerate(names):
        stem, side = split_side(name)
        of_stem.setdefault(stem, {}).setdefault(side, []).append(bone)
    for sides in of_stem.values():
        left, right = (sides.get(side, []) for side in (Side.LEFT, Side.RIGHT))
        if len(left) == len(right) == 1:
            pairs[left[0]], pairs[right[0]] = right[0], left[0]
    if body_of(names, parents).is_body:
        _pair_by_position(names, parents, heads, pairs)
    return pairs


def _pair_by_position(names: Sequence[str], parents: Sequence[int], heads: Floats, pairs: NDArray[np.intp]) -> None:
    """Pair bones without a side in their names whose parents are each other's counterpart, and whose heads are the
    reflection of each other.
    """
    nearest = MOST_APART * float(np.ptp(heads, axis=0).max())
    offsets = heads - np.where(np.array(parents)[:, None] >= 0, heads[np.array(parents)], 0.0)
    waiting = [
        bone for bone in parents_first(parents) if split_side(names[bone])[1] is Side.NONE and parents[bone] >= 0
    ]
    for bone in waiting:
        above = parents[bone]
        if pairs[bone] != bone or (pairs[above] == above and abs(offsets[bone, 0]) <= nearest):
            continue
        others = [other for other in waiting if other != bone and pairs[other] == other]
        others = [other for other in others if parents[other] == pairs[above]]
        gaps = [float(np.linalg.norm(offsets[other] * ACROSS - offsets[bone])) for other in others]
        if gaps and min(gaps) <= nearest:
            other = others[int(np.argmin(gaps))]
            pairs[bone], pairs[other] = other, bone


def mirrored(poses: Floats, rest: Floats, parents: Sequence[int], pairs: NDArray[np.intp]) -> Floats:
    """Return poses (frames, bones, 4, 4) with left and right exchanged; ``rest`` (bones, 4, 4).

    Each bone gets the reflection of the rotation by which its counterpart differs from its rest pose, and of the
    translation relative to the counterpart's parent, so bones keep their lengths. Whatever the rest pose, exchanging
    twice gives the same poses. What only one hand carries, such as a weapon, keeps its pose in the hand.
    """
    back = affine.inverse(rest)
    turned = REFLECTION @ (poses @ back)[:, pairs] @ REFLECTION @ rest
    moved = _translations(poses, rest, back, parents)[:, pairs] * ACROSS
    result, carried = np.empty_like(poses), set[int]()
    for bone in parents_first(parents):
        above = parents[bone]
        if above >= 0 and pairs[bone] == bone and (pairs[above] != above or above in carried):
            carried.add(bone)
            result[:, bone] = result[:, above] @ affine.inverse(poses[:, above]) @ poses[:, bone]
            continue
        result[:, bone] = turned[:, bone]
        result[:, bone, :3, 3] = rest[bone, :3, 3] + moved[:, bone]
        if above >= 0:
            frame = result[:, above] @ back[above]
            result[:, bone, :3, 3] = np.einsum("fij,fj->fi", frame[:, :3, :3], result[:, bone, :3, 3]) + frame[:, :3, 3]
    return result


def _translations(poses: Floats, rest: Floats, back: Floats, parents: Sequence[int]) -> Floats:
    """Return (frames, bones, 3): how far each head is from its rest pose, seen from the parent at rest."""
    above = np.array(parents)
    seen = rest[above] @ affine.inverse(poses[:, above]) @ poses
    result: Floats = np.where((above < 0)[:, None, None], poses, seen)[..., :3, 3] - rest[:, :3, 3]
    return result
