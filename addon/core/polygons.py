"""Faces of any number of corners as flat arrays: which corners are whose, the other way round, normals, flatness.

``counts`` (faces,) is the number of corners of each face, the corners follow face after face.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_QUIET = np.errstate(over="ignore", invalid="ignore")
"""Damaged files hold numbers whose products overflow; what comes of them is told apart by the caller."""


def starts(counts: NDArray[Any]) -> NDArray[np.int64]:
    """(faces,) the first corner of each face."""
    ends = np.cumsum(counts, dtype=np.int64)
    result: NDArray[np.int64] = ends - counts
    return result


def face_of_corner(counts: NDArray[Any]) -> NDArray[np.int64]:
    """(corners,) the face each corner belongs to."""
    return np.repeat(np.arange(len(counts)), counts)


def corners_of(counts: NDArray[Any], faces: NDArray[Any]) -> NDArray[np.int64]:
    """The corners of these faces, face after face in the order given."""
    chosen = counts[faces].astype(np.int64)
    first = starts(counts)[faces]
    within = np.arange(int(chosen.sum())) - np.repeat(starts(chosen), chosen)
    result: NDArray[np.int64] = np.repeat(first, chosen) + within
    return result


def reversed_corners(counts: NDArray[Any]) -> NDArray[np.int64]:
    """(corners,) the order that turns every face round and leaves its first corner first: 0, n-1, ..., 1.

    Taken twice it is the old order.
    """
    number = np.repeat(counts.astype(np.int64), counts)
    first = np.repeat(starts(counts), counts)
    within = np.arange(len(first)) - first
    result: NDArray[np.int64] = first + (number - within) % np.maximum(number, 1)
    return result


def all_in_face(flags: NDArray[np.bool_], counts: NDArray[Any]) -> NDArray[np.bool_]:
    """(faces,) whether ``flags`` (corners,) are set at every corner; true for a face without any."""
    missing = np.bincount(face_of_corner(counts)[np.logical_not(flags)], minlength=len(counts))
    result: NDArray[np.bool_] = missing == 0
    return result


def repeats_a_vertex(counts: NDArray[Any], corners: NDArray[Any]) -> NDArray[np.bool_]:
    """(faces,) whether a vertex is at two corners of a face."""
    if len(counts) and (counts == counts[0]).all():
        sorted_ = np.sort(corners.reshape(len(counts), int(counts[0])), axis=1)
        alike: NDArray[np.bool_] = np.any(sorted_[:, 1:] == sorted_[:, :-1], axis=1)
        return alike
    face = face_of_corner(counts)
    order = np.lexsort((corners, face))
    same = (np.diff(face[order]) == 0) & (np.diff(corners[order]) == 0)
    result = np.zeros(len(counts), np.bool_)
    result[face[order][1:][same]] = True
    return result


@_QUIET
def normals(positions: NDArray[Any], counts: NDArray[Any], corners: NDArray[Any]) -> Floats:
    """(faces, 3) unit normals by the sum over edges (Newell), right for faces that are not flat; 0 without area."""
    # From each face's first corner: far from the origin nothing is lost.
    points = positions[corners].astype(np.float64)
    points -= np.repeat(points[np.minimum(starts(counts), max(len(points) - 1, 0))], counts, axis=0)
    after = points[_next_corners(counts)]
    crossed = np.cross(points, after)
    face = face_of_corner(counts)
    total = _sums(crossed, face, len(counts))
    length = np.linalg.norm(total, axis=1, keepdims=True)
    result: Floats = np.divide(total, length, out=np.zeros_like(total), where=length > 0)
    return result


def highest(values: Floats, counts: NDArray[Any]) -> Floats:
    """(faces,) the largest of the ``values`` (corners,) of each face, 0 for one without corners."""
    result = np.zeros(len(counts))
    filled = counts > 0
    if filled.any():
        # Corners of a face lie side by side, and faces without any lie nowhere between them.
        result[filled] = np.maximum.reduceat(values, starts(counts)[filled])
    return result


def _sums(values: Floats, face: NDArray[np.int64], faces: int) -> Floats:
    """(faces, 3) the values (corners, 3) of each face added up."""
    if not len(face):
        return np.zeros((faces, 3))
    return np.stack([np.bincount(face, values[:, axis], faces) for axis in range(3)], axis=-1)


def _next_corners(counts: NDArray[Any]) -> NDArray[np.int64]:
    number = np.repeat(counts.astype(np.int64), counts)
    first = np.repeat(starts(counts), counts)
    result: NDArray[np.int64] = first + (np.arange(len(first)) - first + 1) % np.maximum(number, 1)
    return result


@_QUIET
def distances_from_plane(positions: NDArray[Any], counts: NDArray[Any], corners: NDArray[Any]) -> Floats:
    """(faces,) how far, at most, a corner lies from the plane through the face's centre."""
    face = face_of_corner(counts)
    points = positions[corners].astype(np.float64)
    number = np.maximum(counts, 1)
    center = _sums(points, face, len(counts)) / number[:, None]
    away = np.abs(np.einsum("ci,ci->c", points - center[face], normals(positions, counts, corners)[face]))
    return highest(away, counts)


@_QUIET
def concave(positions: NDArray[Any], counts: NDArray[Any], corners: NDArray[Any]) -> NDArray[np.bool_]:
    """(faces,) whether the outline turns inwards at a corner, by more than rounding."""
    points = positions[corners].astype(np.float64)
    after = _next_corners(counts)
    edge = points[after] - points
    turned = np.einsum(
        "ci,ci->c", np.cross(edge, edge[after]), normals(positions, counts, corners)[face_of_corner(counts)]
    )
    size = np.linalg.norm(edge, axis=1) * np.linalg.norm(edge[after], axis=1)
    return np.logical_not(all_in_face(turned >= -1e-4 * size, counts))
