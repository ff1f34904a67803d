"""Joints where bones turn: a skeleton of nothing else, and joints recovered from an animation.

Of the skeleton it is known where bones turn; how they lie is made up so that it reads well.

An animation says only how the parts move. A joint that does not slide is a point that a bone and its parent take to the
same place. With the bone's delta relative to its parent's, D = (A, t), that is (I - A) p = t in every frame: three
equations a frame for three unknowns. Where the bone turns about one axis only, any point of that axis will do; where it
never turns against its parent, any point.
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

APART = 0.005
"""Metres from which on a joint has a direction as seen from another."""
NEARLY_BACK = -0.93
"""Cosine; what is beyond counts as straight back."""


def skeleton_of_joints(
    name: str, bones: Sequence[str], parents: Sequence[int] | NDArray[np.int32], points: Floats
) -> Skeleton:
    """Bones that begin at ``points`` (bones, 3) in model space and point to the middle of their children's joints.

    Bones without such go on in their parent's direction, parentless ones upwards. Raises `ValueError` where parents
    form a cycle.
    """
    above = np.asarray(parents, np.int32)
    rests = np.broadcast_to(np.eye(4), (len(bones), 4, 4)).copy()
    rests[:, :3, :3] = _turned_towards(_usable(above, _directions(above, points)))
    rests[:, :3, 3] = points
    frames = np.where((above < 0)[:, None, None], np.eye(4), rests[np.maximum(above, 0)])
    local = affine.inverse(frames) @ rests if len(bones) else rests
    return Skeleton(name, list(bones), above, rotation.from_matrices(local[:, :3, :3]), local[:, :3, 3])


def _usable(parents: NDArray[np.int32], directions: Floats) -> Floats:
    """Directions that nearly lead back along the parent's turned to lead straight back.

    Blender makes a bone's matrix from its direction in its parent's frame (a root's in the armature's), and there it
    loses half the digits near -Y, but not at -Y.
    """
    result = directions.copy()
    for bone in parents_first(parents):
        along = result[parents[bone]] if parents[bone] >= 0 else np.array([0.0, 1.0, 0.0])
        if result[bone] @ along < NEARLY_BACK:
            result[bone] = -along
    return result


def _directions(parents: NDArray[np.int32], points: Floats) -> Floats:
    """(bones, 3) unit vectors."""
    sums, counts = np.zeros_like(points), np.zeros(len(points))
    children = np.flatnonzero(parents >= 0)
    offsets = points[children] - points[parents[children]]
    children, offsets = children[(far := np.linalg.norm(offsets, axis=1) >= APART)], offsets[far]
    np.add.at(sums, parents[children], offsets)
    np.add.at(counts, parents[children], 1.0)
    means = sums / np.maximum(counts, 1.0)[:, None]
    lengths = np.linalg.norm(means, axis=1)
    result = np.tile([0.0, 0.0, 1.0], (len(points), 1))
    for bone in parents_first(parents):
        if lengths[bone] >= APART:
            result[bone] = means[bone] / lengths[bone]
        elif parents[bone] >= 0:
            result[bone] = result[parents[bone]]
    return result


def _turned_towards(directions: Floats) -> Floats:
    """(bones, 3, 3) rotations whose y axis is the direction and whose x axis lies level where it can."""
    upright = np.abs(directions[:, 2]) > 0.99
    reference = np.where(upright[:, None], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0])
    across = np.cross(directions, reference)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    result: Floats = np.stack((across, directions, np.cross(across, directions)), axis=-1)
    return result


# Joints of an animation -----------------------------------------------------------------------------------------------

LARGEST_RESIDUAL = 0.003
"""Metres a joint may slide (root mean square over the frames) and still be called one."""
NOISE = 1e-6
"""Metres of rounding to be expected of 32-bit matrices; a direction that moves points less is not determined."""


@dataclass
class Pivots:
    """``points`` (bones, 3) model space, metres; ``residuals`` (bones,) metres, root mean square over the frames of
    how far apart bone and parent take the point; ``directions`` (bones,) how many of three were determined.

    ``accepted`` (bones,): the residual is small and at least two directions are determined. Other bones have their
    parent's point, parentless ones what was given as ``near``.
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
    """The joints of bones with model-space deltas (bones, frames, 4, 4) below ``parents`` (bones,) index or -1.

    What the motion leaves open (a place along a hinge's axis) is chosen nearest to ``near`` (bones, 3), by default the
    parent's joint. Frames that are not finite are left out. Raises `ValueError` where parents form a cycle.
    """
    count = len(deltas)
    above = np.asarray(parents, np.int32)
    usable: NDArray[np.bool_] = np.all(np.isfinite(deltas), axis=(-1, -2))
    safe = np.where(usable[..., None, None], deltas, np.eye(4))
    against = relative(safe, above)
    left = np.eye(3) - against[..., :3, :3]
    right = against[..., :3, 3]
    heard = usable & usable[above]
    left, right = left * heard[..., None, None], right * heard[..., None]
    frames = np.maximum(heard.sum(axis=1), 1)
    # The stacked equations have 3 rows a frame; their triangular factor says the same in 3 (and costs one pass).
    stacked = np.concatenate((left, right[..., None]), axis=-1).reshape(count, -1, 4)
    padded = np.concatenate((stacked, np.zeros((count, 4, 4))), axis=1)
    triangle: Floats = np.asarray(np.linalg.qr(padded, mode="r"))
    factor = triangle[:, :4] / np.sqrt(frames)[:, None, None]
    found = Pivots(
        np.zeros((count, 3)) if near is None else np.array(near, np.float64),
        np.zeros(count),
        np.zeros(count, np.int32),
        np.zeros(count, np.bool_),
    )
    for bone in parents_first(above):
        if above[bone] < 0:
            continue
        start = found.points[above[bone]] if near is None else near[bone]
        _solve(found, bone, factor[bone], start, noise)
        if not found.accepted[bone]:
            found.points[bone] = found.points[above[bone]]
    return found


def _solve(found: Pivots, bone: int, factor: Floats, start: Floats, noise: float) -> None:
    """Least squares from ``start``, along the directions in which rounding cannot carry the point far."""
    equations = factor[:, :3]
    wrong = factor[:, 3] - equations @ start
    left, values, right = np.linalg.svd(equations, full_matrices=False)
    wanted = left.T @ wrong
    # What no point at all would mend; what a move along a direction that only rounding shows might is not counted.
    moving = values * LARGEST_RESIDUAL > noise
    found.residuals[bone] = np.linalg.norm(wrong - left[:, moving] @ wanted[moving])
    # An error of the equations moves the point by that error over the singular value.
    kept = values * LARGEST_RESIDUAL > max(noise, float(found.residuals[bone]))
    moved = np.divide(wanted, values, out=np.zeros(3), where=kept)
    found.points[bone] = start + right.T @ moved
    found.directions[bone] = kept.sum()
    found.accepted[bone] = kept.sum() >= 2 and found.residuals[bone] <= LARGEST_RESIDUAL
