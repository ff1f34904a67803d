"""Joints of a skeleton: bones made from joint positions only, and joint positions recovered from an animation.

Of a skeleton made from joints only the positions of heads are known; directions and lengths of bones are chosen to be
easy to read.

An animation only states how parts move. A joint that does not slide is a point that a bone and its parent move to the
same place. With the bone's delta relative to its parent's, D = (A, t), this is (I - A) p = t in every frame: three
equations per frame for three unknowns. If the bone rotates about one axis only, any point of that axis is a solution;
if it never rotates relative to its parent, any point is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import affine, rotation
from .deltas import relative
from .model import Skeleton, parents_first

Floats = NDArray[np.float64]

MIN_DISTANCE = 0.005
"""Metres; minimum distance between two joints for a direction from one to the other."""
OUTLYING = 5.0
"""A child joint counts as far from its siblings if it is as many times farther from the parent's joint."""
NEARLY_BACK = -0.93
"""Cosine. Directions beyond it count as exactly opposite to the parent's."""


def skeleton_of_joints(
    name: str, bones: Sequence[str], parents: Sequence[int] | NDArray[np.int32], points: Floats
) -> Skeleton:
    """Return a skeleton whose bones begin at ``points`` (bones, 3) in model space and point to the centre of their
    children's joints.

    Bones without such children continue in their parent's direction, or upwards without a parent. Raises `ValueError`
    if the parents form a cycle.
    """
    above = np.asarray(parents, np.int32)
    rests = np.broadcast_to(np.eye(4), (len(bones), 4, 4)).copy()
    rests[:, :3, :3] = _turned_towards(_with_exact_opposites(above, _directions(above, points)))
    rests[:, :3, 3] = points
    frames = np.where((above < 0)[:, None, None], np.eye(4), rests[np.maximum(above, 0)])
    local = affine.inverse(frames) @ rests if len(bones) else rests
    return Skeleton(name, list(bones), above, rotation.from_matrices(local[:, :3, :3]), local[:, :3, 3])


def _with_exact_opposites(parents: NDArray[np.int32], directions: Floats) -> Floats:
    """Return the directions with those nearly opposite to the parent's made exactly opposite.

    Blender computes a bone's matrix from its direction in its parent's frame (for a root bone the armature's). It loses
    half the digits near -Y, but none at exactly -Y.
    """
    result = directions.copy()
    for bone in parents_first(parents):
        along = result[parents[bone]] if parents[bone] >= 0 else np.array([0.0, 1.0, 0.0])
        if result[bone] @ along < NEARLY_BACK:
            result[bone] = -along
    return result


def _directions(parents: NDArray[np.int32], points: Floats) -> Floats:
    """Return unit vectors (bones, 3) towards the children's joints, without those far from the others."""
    sums, counts = np.zeros_like(points), np.zeros(len(points))
    children = np.flatnonzero(parents >= 0)
    offsets = points[children] - points[parents[children]]
    lengths = np.linalg.norm(offsets, axis=1)
    kept = (lengths >= MIN_DISTANCE) & ~_outlying(parents[children], lengths)
    children, offsets = children[kept], offsets[kept]
    np.add.at(sums, parents[children], offsets)
    np.add.at(counts, parents[children], 1.0)
    means = sums / np.maximum(counts, 1.0)[:, None]
    lengths = np.linalg.norm(means, axis=1)
    result = np.tile([0.0, 0.0, 1.0], (len(points), 1))
    for bone in parents_first(parents):
        if lengths[bone] >= MIN_DISTANCE:
            result[bone] = means[bone] / lengths[bone]
        elif parents[bone] >= 0:
            result[bone] = result[parents[bone]]
    return result


def _outlying(parents: NDArray[np.int32], lengths: Floats) -> NDArray[np.bool_]:
    """Return which children (n,) are far from their parent, of three or more whose others are near: a camera, say."""
    order = np.lexsort((lengths, parents))
    _, first, counts = np.unique(parents[order], return_index=True, return_counts=True)
    medians = np.repeat(lengths[order][first + counts // 2], counts)
    result = np.zeros(len(lengths), np.bool_)
    result[order] = (np.repeat(counts, counts) > 2) & (lengths[order] > OUTLYING * np.maximum(medians, MIN_DISTANCE))
    return result


def _turned_towards(directions: Floats) -> Floats:
    """Return rotations (bones, 3, 3) whose y axis is the direction and whose x axis is horizontal if possible."""
    upright = np.abs(directions[:, 2]) > 0.99
    reference = np.where(upright[:, None], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0])
    across = np.cross(directions, reference)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    result: Floats = np.stack((across, directions, np.cross(across, directions)), axis=-1)
    return result


# Joints of an animation -----------------------------------------------------------------------------------------------

LARGEST_RESIDUAL = 0.003
"""Metres that a joint may slide (root mean square over the frames) to be accepted."""
NOISE = 1e-6
"""Metres; expected rounding error of 32-bit matrices. A direction that moves points by less is undetermined."""


@dataclass
class Pivots:
    """Joints recovered from an animation: ``points`` (bones, 3) in model space, metres; ``residuals`` (bones,):
    distance in metres between the positions to which bone and parent move the point, root mean square over the
    frames; ``directions`` (bones,): how many of three directions were determined.

    ``accepted`` (bones,): the residual is small and at least two directions are determined. Other bones have their
    parent's point, those without parent the point given as ``near``.
    """

    points: Floats
    residuals: Floats
    directions: NDArray[np.int32]
    accepted: NDArray[np.bool_]


def recover(
    deltas: Floats,
    parents: Sequence[int] | NDArray[np.int32],
    *,
    near: Floats | None = None,
    noise: float = NOISE,
) -> Pivots:
    """Return the joints of bones with model-space deltas (bones, frames, 4, 4) and ``parents`` (bones,), index or -1.

    If the motion leaves a choice (a position along a hinge's axis), the point nearest to ``near`` (bones, 3) is used,
    by default nearest to the parent's joint. Frames that are not finite are ignored. Raises `ValueError` if the parents
    form a cycle.
    """
    count = len(deltas)
    above = np.asarray(parents, np.int32)
    usable: NDArray[np.bool_] = np.all(np.isfinite(deltas), axis=(-1, -2))
    safe = np.where(usable[..., None, None], deltas, np.eye(4))
    against = relative(safe, above)
    left = np.eye(3) - against[..., :3, :3]
    right = against[..., :3, 3]
    both_finite = usable & usable[above]
    left, right = left * both_finite[..., None, None], right * both_finite[..., None]
    frames = np.maximum(both_finite.sum(axis=1), 1)
    # The stacked equations have 3 rows per frame; their triangular factor is equivalent and has only 4 rows.
    stacked = np.concatenate((left, right[..., None]), axis=-1).reshape(count, -1, 4)
    padded = np.concatenate((stacked, np.zeros((count, 4, 4))), axis=1)
    triangle: Floats = np.asarray(np.linalg.qr(padded, mode="r"))
    factor = triangle[:, :4] / np.sqrt(frames)[:, None, None]
    pivots = Pivots(
        np.zeros((count, 3)) if near is None else np.array(near, np.float64),
        np.zeros(count),
        np.zeros(count, np.int32),
        np.zeros(count, np.bool_),
    )
    for bone in parents_first(above):
        if above[bone] < 0:
            continue
        start = pivots.points[above[bone]] if near is None else near[bone]
        _solve(pivots, bone, factor[bone], start, noise)
        if not pivots.accepted[bone]:
            pivots.points[bone] = pivots.points[above[bone]]
    return pivots


def gaps(deltas: Floats, parents: Sequence[int] | NDArray[np.int32], points: Floats) -> Floats:
    """Return the largest distances (bones,) in metres, over the frames, between the positions to which a bone and its
    parent move the bone's joint.

    ``deltas`` and ``parents`` as in `recover`; ``points`` (bones, 3). 0 for bones without parent or without a known
    point, and in frames that are not finite.
    """
    above = np.asarray(parents, np.int32)
    own = np.einsum("bfij,bj->bfi", deltas[..., :3, :3], points) + deltas[..., :3, 3]
    theirs = np.einsum("bfij,bj->bfi", deltas[above][..., :3, :3], points) + deltas[above][..., :3, 3]
    distances = np.linalg.norm(own - theirs, axis=-1)
    distances[(above < 0) | ~np.isfinite(points).all(axis=1)] = 0.0
    result: Floats = np.nan_to_num(distances, posinf=0.0).max(axis=1, initial=0.0)
    return result


def _solve(pivots: Pivots, bone: int, factor: Floats, start: Floats, noise: float) -> None:
    """Find a joint by least squares from ``start``, only along directions in which rounding cannot move the
    point far.
    """
    equations = factor[:, :3]
    wrong = factor[:, 3] - equations @ start
    left, values, right = np.linalg.svd(equations, full_matrices=False)
    wanted = left.T @ wrong
    # The error that remains at the best point. Moves along directions that are only due to rounding do not count.
    moving = values * LARGEST_RESIDUAL > noise
    pivots.residuals[bone] = np.linalg.norm(wrong - left[:, moving] @ wanted[moving])
    # An error of the equations moves the point by the error divided by the singular value.
    kept = values * LARGEST_RESIDUAL > max(noise, float(pivots.residuals[bone]))
    moved = np.divide(wanted, values, out=np.zeros(3), where=kept)
    pivots.points[bone] = start + right.T @ moved
    pivots.directions[bone] = kept.sum()
    pivots.accepted[bone] = kept.sum() >= 2 and pivots.residuals[bone] <= LARGEST_RESIDUAL
