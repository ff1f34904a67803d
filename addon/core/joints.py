"""A skeleton of nothing but joints: where bones turn is known, how they lie is made up so that it reads well."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from . import affine, rotation
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
