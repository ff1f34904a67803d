"""What follows from a mesh's shape: normals, tangent frames and bounds, for vertices that have to be written anew.

All in the file's axes (X-Ray's, triangles clockwise seen from outside, v downwards).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def unit(vectors: Floats) -> Floats:
    """Unit vectors; zero stays zero."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    result: Floats = np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)
    return result


def _directions(normals: Floats) -> Floats:
    """Unit normals; up (y) for those that have no direction."""
    directions = unit(normals)
    directions[~directions.any(axis=-1)] = (0.0, 1.0, 0.0)
    return directions


def _summed(values: Floats, corners: NDArray[Any], count: int) -> Floats:
    """(count, 3) sums of a triangle's vector (triangles, 3) over the vertices of its corners (triangles, 3)."""
    flat = corners.ravel()
    return np.stack([np.bincount(flat, np.repeat(values[:, axis], 3), count) for axis in range(3)], axis=-1)


def vertex_normals(positions: NDArray[Any], triangles: NDArray[Any]) -> Floats:
    """Unit normals (vertices, 3): the triangles' outward normals, weighted by area; up (y) where there are none."""
    a, b, c = (positions[triangles[:, corner]].astype(np.float64) for corner in range(3))
    return _directions(_summed(np.cross(b - a, c - a), triangles, len(positions)))


def tangent_frames(
    positions: NDArray[Any], normals: NDArray[Any], uvs: NDArray[Any], triangles: NDArray[Any]
) -> tuple[Floats, Floats]:
    """Tangents and binormals, both (vertices, 3).

    Every triangle's dP/du and dP/dv, brought to unit length and weighted by its area, are summed at its corners, made
    perpendicular to the normal and brought to unit length again. Where the texture has no extent the tangent is any
    perpendicular of the normal, and the binormal the perpendicular of both.
    """
    a, b, c = (positions[triangles[:, corner]].astype(np.float64) for corner in range(3))
    ua, ub, uc = (uvs[triangles[:, corner]].astype(np.float64) for corner in range(3))
    p, q, du, dv = b - a, c - a, ub - ua, uc - ua
    area = np.linalg.norm(np.cross(p, q), axis=1, keepdims=True)
    # Only the directions count, so the determinant's sign is all that is needed of it.
    side = np.sign(du[:, :1] * dv[:, 1:] - du[:, 1:] * dv[:, :1])
    normals = _directions(normals.astype(np.float64))
    frames = []
    for along in (p * dv[:, 1:] - q * du[:, 1:], q * du[:, :1] - p * dv[:, :1]):
        summed = _summed(unit(along) * side * area, triangles, len(positions))
        frames.append(unit(summed - normals * (summed * normals).sum(axis=1, keepdims=True)))
    tangents, binormals = frames
    # The axis a normal leans to least is never parallel to it.
    axis = np.eye(3)[np.argmin(np.abs(normals), axis=1)]
    tangents = np.where(tangents.any(axis=1, keepdims=True), tangents, unit(np.cross(axis, normals)))
    binormals = np.where(binormals.any(axis=1, keepdims=True), binormals, np.cross(normals, tangents))
    return tangents, binormals


def bounds(positions: NDArray[Any]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Box (2, 3) and sphere (4,) around points: the sphere about the box's middle, its radius rounded outwards."""
    box = np.stack([positions.min(axis=0), positions.max(axis=0)]).astype(np.float32)
    centre = box.astype(np.float64).mean(axis=0).astype(np.float32)
    radius = np.linalg.norm(positions.astype(np.float64) - centre, axis=1).max()
    return box, np.append(centre, np.nextafter(np.float32(radius), np.float32(np.inf)))


def joint_bounds(boxes: NDArray[Any], spheres: NDArray[Any]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Box (2, 3) and sphere (4,) around the boxes (n, 2, 3) and spheres (n, 4) of children."""
    box = np.stack([boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)]).astype(np.float32)
    centre = box.astype(np.float64).mean(axis=0).astype(np.float32)
    reach = np.linalg.norm(spheres[:, :3].astype(np.float64) - centre, axis=1) + spheres[:, 3]
    corner = np.linalg.norm(box[1].astype(np.float64) - centre)
    radius = min(float(reach.max()), float(corner))
    return box, np.append(centre, np.nextafter(np.float32(radius), np.float32(np.inf)))
