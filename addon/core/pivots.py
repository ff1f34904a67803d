"""Where the joints of a skeleton lie, recovered from an animation that says only how the parts move.

A joint that does not slide is a point that a bone and its parent take to the same place. With the bone's delta relative
to its parent's, D = (A, t), that is (I - A) p = t in every frame: three equations a frame for three unknowns. Where the
bone turns about one axis only, any point of that axis will do; where it never turns against its parent, any point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .deltas import relative
from .model import parents_first

Floats = NDArray[np.float64]

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
    largest_residual: float = LARGEST_RESIDUAL,
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
        _solve(found, bone, factor[bone], start, (largest_residual, noise))
        if not found.accepted[bone]:
            found.points[bone] = found.points[above[bone]]
    return found


def _solve(found: Pivots, bone: int, factor: Floats, start: Floats, limits: tuple[float, float]) -> None:
    """Least squares from ``start``, along the directions in which rounding cannot carry the point far."""
    largest_residual, noise = limits
    equations = factor[:, :3]
    wrong = factor[:, 3] - equations @ start
    left, values, right = np.linalg.svd(equations, full_matrices=False)
    wanted = left.T @ wrong
    # What no point at all would mend; what a move along a direction that only rounding shows might is not counted.
    moving = values * largest_residual > noise
    found.residuals[bone] = np.linalg.norm(wrong - left[:, moving] @ wanted[moving])
    # An error of the equations moves the point by that error over the singular value.
    kept = values * largest_residual > max(noise, float(found.residuals[bone]))
    moved = np.divide(wanted, values, out=np.zeros(3), where=kept)
    found.points[bone] = start + right.T @ moved
    found.directions[bone] = kept.sum()
    found.accepted[bone] = kept.sum() >= 2 and found.residuals[bone] <= largest_residual
