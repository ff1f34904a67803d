"""What the game's own generator wrote besides positions: radii, centres, normals, sizes of faces.

Known from real files, whose numbers these rules give again. All in the file's axes, float32 where it rounded.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import polygons

Singles = NDArray[np.float32]

NO_NORMAL = np.array([0xFFC00000], np.uint32).view(np.float32)[0]
"""What stands in the normal of a vertex without faces: not a number, to the bit."""


def radius(positions: NDArray[Any]) -> np.float32:
    """The distance of the farthest vertex from the pivot."""
    if not len(positions):
        return np.float32(0)
    exact = positions.astype(np.float64)
    return np.float32(np.sqrt((exact * exact).sum(axis=1).max()))


def center(positions: NDArray[Any]) -> Singles:
    """(3,) the middle of the vertices' box."""
    if not len(positions):
        return np.zeros(3, np.float32)
    exact = positions.astype(np.float64)
    result: Singles = ((exact.min(axis=0) + exact.max(axis=0)) / 2).astype(np.float32)
    return result


def vertex_normals(count: int, face_normals: Singles, counts: NDArray[Any], corners: NDArray[Any]) -> Singles:
    """(count, 3) the mean of the normals at a vertex's corners, summed in their order and not made a unit again."""
    total = np.zeros((count, 3), np.float32)
    there = (corners >= 0) & (corners < count)
    face, corners = polygons.face_of_corner(counts)[there], corners[there]
    np.add.at(total, corners, face_normals[face])
    number = np.bincount(corners, minlength=count)
    result = np.full((count, 3), NO_NORMAL, np.float32)
    used = number > 0
    result[used] = total[used] / number[used, None].astype(np.float32)
    return result


def face_sizes(positions: NDArray[Any], normals: NDArray[Any], counts: NDArray[Any], corners: NDArray[Any]) -> Singles:
    """(faces, 2) the extent of each face along two axes in its plane, by which the level editor chooses lightmaps."""
    exact = normals.astype(np.float64)
    upright = (exact[:, 0] == 0) & (exact[:, 2] == 0)
    right = np.stack([exact[:, 2], np.zeros(len(exact)), -exact[:, 0]], axis=-1)
    right[upright] = (1, 0, 0)
    right /= np.linalg.norm(right, axis=1, keepdims=True)
    up = np.cross(exact, right)
    up[upright] = (0, 0, 1)
    face = polygons.face_of_corner(counts)
    points = positions[corners].astype(np.float64)
    result = np.zeros((len(counts), 2), np.float32)
    for column, axes in enumerate((right, up)):
        along = np.einsum("ci,ci->c", points, axes[face])
        result[:, column] = polygons.highest(along, counts) + polygons.highest(-along, counts)
    return result
