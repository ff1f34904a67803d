"""What follows from a mesh's shape: normals, tangent frames and bounds, for vertices that have to be written anew.

All in the file's axes (X-Ray's, triangles clockwise seen from outside, v downwards).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import quantum

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


@dataclass(frozen=True, eq=False)
class Hull:
    """``box`` (2, 3) float32 lowest and highest corner, ``sphere`` (4,) float32 centre and radius; None where a file
    has none.
    """

    box: NDArray[np.float32] | None
    sphere: NDArray[np.float32] | None


def bounds(positions: NDArray[Any]) -> Hull:
    """The box around points, and the sphere about its middle, the radius rounded outwards."""
    box = np.stack([positions.min(axis=0), positions.max(axis=0)]).astype(np.float32)
    centre = box.astype(np.float64).mean(axis=0).astype(np.float32)
    return Hull(box, np.append(centre, _rounded_up(_reach(centre, positions))))


def joint_bounds(parts: Sequence[Hull]) -> Hull:
    """The box around the boxes of children, which must have one, and a sphere around their spheres or the box."""
    boxes = np.array([part.box for part in parts])
    found = (
        part.sphere if part.sphere is not None else bounds(box).sphere for part, box in zip(parts, boxes, strict=True)
    )
    spheres = np.array(list(found))
    box = np.stack([boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)]).astype(np.float32)
    centre = box.astype(np.float64).mean(axis=0).astype(np.float32)
    reach = np.linalg.norm(spheres[:, :3].astype(np.float64) - centre, axis=1) + spheres[:, 3]
    corner = np.linalg.norm(box[1].astype(np.float64) - centre)
    return Hull(box, np.append(centre, _rounded_up(min(float(reach.max()), float(corner)))))


def refitted(old: Hull, wanted_before: Hull, wanted: Hull, points: NDArray[Any]) -> Hull:
    """Bounds after an edit: ``wanted``, but of ``old`` what still encloses ``points`` (n, 3) stays.

    A sphere stays whenever it does: tools fit spheres in many ways. A box is exact in nearly every file and follows the
    points; one that was larger than ``wanted_before`` asks for stays.
    """
    box, sphere = wanted.box, wanted.sphere
    if old.box is not None and wanted_before.box is not None and wanted.box is not None:
        loose = not _same(old.box, wanted_before.box) and (points >= old.box[0]).all() and (points <= old.box[1]).all()
        if loose or _same(old.box, wanted.box):
            box = old.box
    # Tools round radii to nearest: a millionth outside is inside.
    if old.sphere is not None and _reach(old.sphere[:3], points) <= old.sphere[3] * (1 + 1e-6):
        sphere = old.sphere
    return Hull(box, sphere)


def _same(one: NDArray[np.float32], other: NDArray[np.float32]) -> bool:
    """Whether boxes differ by rounding alone, which is that of their largest number."""
    size = np.abs(one).max(initial=0.0)
    return bool(quantum.untouched(one, other, magnitude=np.full(one.shape, size)).all())


def _reach(centre: NDArray[np.float32], points: NDArray[Any]) -> float:
    return float(np.linalg.norm(points.astype(np.float64) - centre, axis=1).max(initial=0.0))


def _rounded_up(radius: float) -> np.float32:
    result: np.float32 = np.nextafter(np.float32(radius), np.float32(np.inf))
    return result
