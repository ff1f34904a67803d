"""Compute the derived data of vertices: normals, tangents and binormals, bounds, and bone weights in slots.

Positions and normals are in the file's axes (X-Ray's, triangles clockwise seen from outside, v downwards). A vertex
has up to four bones, the one with the largest weight first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import quantum
from ....core.errors import WriteError
from ....core.model import Mesh, PolygonMesh
from ....core.polygons import row_groups
from ....core.report import say

Floats = NDArray[np.float64]
CREASE_COSINE = 0.27
"""An edge is a crease if the tangents or binormals of its triangles have a dot product below this (absolute value).

Fitted to models of the SDK: between 0.2709 and 0.2802 it splits some edges and some not.
"""


def unit(vectors: Floats) -> Floats:
    """Return unit vectors; zero vectors stay zero."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    result: Floats = np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)
    return result


def _unit_normals(normals: Floats) -> Floats:
    """Return unit normals; up (y) for normals of length zero."""
    directions = unit(normals)
    directions[~directions.any(axis=-1)] = (0.0, 1.0, 0.0)
    return directions


def _sum_at_vertices(values: Floats, corners: NDArray[Any], count: int) -> Floats:
    """Return (count, 3): for each vertex the sum of the vectors ``values`` (triangles, 3) of its triangles.

    ``corners`` (triangles, 3) are vertex indices.
    """
    flat = corners.ravel()
    return np.stack([np.bincount(flat, np.repeat(values[:, axis], 3), count) for axis in range(3)], axis=-1)


def vertex_normals(positions: NDArray[np.float32], triangles: NDArray[np.int32]) -> Floats:
    """Return unit normals (vertices, 3): the triangles' outward normals, summed with their areas as weights.

    The normal is up (y) if the sum is zero.
    """
    a, b, c = (positions[triangles[:, corner]].astype(np.float64) for corner in range(3))
    return _unit_normals(_sum_at_vertices(np.cross(b - a, c - a), triangles, len(positions)))


def tangent_sums(positions: NDArray[Any], uvs: NDArray[Any], triangles: NDArray[Any]) -> tuple[Floats, Floats]:
    """Return tangents and binormals, both (vertices, 3), as the SDK writes them.

    The unit vectors of dP/du and dP/dv of each triangle are summed at its vertices, and the sums brought to unit
    length. They are not made perpendicular to the normal, and are 0 if the triangle has no area in the texture. Found
    in the bytes: in models that the SDK exported, all but a few in a thousand tangents are these sums.
    """
    frames = _face_frames(positions, uvs, triangles)
    tangents, binormals = (unit(_sum_at_vertices(along, triangles, len(positions))) for along in frames)
    return tangents, binormals


def tangent_frames(
    positions: NDArray[np.float32], normals: NDArray[Any], uvs: NDArray[np.float32], triangles: NDArray[np.int32]
) -> tuple[Floats, Floats]:
    """Return `tangent_sums` with unit length everywhere, both (vertices, 3).

    Where the sums are zero, the tangent is any perpendicular of the normal, and the binormal is perpendicular to both.
    """
    normals = _unit_normals(normals.astype(np.float64))
    tangents, binormals = tangent_sums(positions, uvs, triangles)
    # The axis of a normal's smallest component is never parallel to it.
    axis = np.eye(3)[np.argmin(np.abs(normals), axis=1)]
    tangents = np.where(tangents.any(axis=1, keepdims=True), tangents, unit(np.cross(axis, normals)))
    binormals = np.where(binormals.any(axis=1, keepdims=True), binormals, unit(np.cross(normals, tangents)))
    # A tangent may be parallel to the normal: then use the perpendicular of the tangent and the axis.
    binormals = np.where(binormals.any(axis=1, keepdims=True), binormals, unit(np.cross(axis, tangents)))
    return tangents, binormals


def _face_frames(positions: NDArray[Any], uvs: NDArray[Any], triangles: NDArray[Any]) -> tuple[Floats, Floats]:
    """Return dP/du and dP/dv of each triangle, both (triangles, 3), as unit vectors; 0 without area in the texture."""
    a, b, c = (positions[triangles[:, corner]].astype(np.float64) for corner in range(3))
    ua, ub, uc = (uvs[triangles[:, corner]].astype(np.float64) for corner in range(3))
    p, q, du, dv = b - a, c - a, ub - ua, uc - ua
    # Only directions matter, so the sign of the determinant is enough.
    side = np.sign(du[:, :1] * dv[:, 1:] - du[:, 1:] * dv[:, :1])
    tangents, binormals = p * dv[:, 1:] - q * du[:, 1:], q * du[:, :1] - p * dv[:, :1]
    return unit(tangents) * side, unit(binormals) * side


def creased_corners(positions: NDArray[Any], uvs: NDArray[Any], triangles: NDArray[Any]) -> NDArray[np.bool_]:
    """Return (triangles, 3): which corners get a vertex of their own because the tangents differ across an edge.

    Works like the mesh mender of the SDK. At an edge whose tangents or binormals make it a crease (`CREASE_COSINE`),
    the first of the two triangles gets own vertices for its two corners of that edge, and no longer shares any other
    edge. Edge 0 of all triangles is tested first, then edge 1, then edge 2. Opposite directions, as in mirrored
    textures, are no crease. Found in the bytes.
    """
    first, second = triangles.ravel().astype(np.int64), np.roll(triangles, -1, axis=1).ravel().astype(np.int64)
    edge = row_groups(np.stack([np.minimum(first, second), np.maximum(first, second)], axis=1))
    order = np.argsort(edge, kind="stable")
    together = np.diff(edge[order]) == 0
    side, neighbour = order[:-1][together], order[1:][together]
    turned = [
        np.abs((along[side // 3] * along[neighbour // 3]).sum(axis=1)) < CREASE_COSINE
        for along in _face_frames(positions, uvs, triangles)
    ]
    creased = turned[0] | turned[1]
    side, neighbour = side[creased], neighbour[creased]
    split, closed = np.zeros((len(triangles), 3), np.bool_), np.zeros(len(triangles), np.bool_)
    for edge_of_face in range(3):
        chosen = side[(side % 3 == edge_of_face) & ~closed[side // 3] & ~closed[neighbour // 3]] // 3
        split[chosen, edge_of_face] = split[chosen, (edge_of_face + 1) % 3] = closed[chosen] = True
    return split


# Bounds -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class BoundingVolume:
    """Bounds: ``box`` (2, 3) float32 lowest and highest corner, ``sphere`` (4,) float32 centre and radius.

    Each is None if the file has none.
    """

    box: NDArray[np.float32] | None
    sphere: NDArray[np.float32] | None


def bounds(positions: NDArray[np.float32]) -> BoundingVolume:
    """Return the box around points and the sphere around them with the box's centre, its radius rounded up."""
    box = np.stack([positions.min(axis=0), positions.max(axis=0)]).astype(np.float32)
    centre = box.astype(np.float64).mean(axis=0).astype(np.float32)
    return BoundingVolume(box, np.append(centre, _rounded_up(_radius(centre, positions))))


def combined_bounds(parts: Sequence[BoundingVolume]) -> BoundingVolume:
    """Return the box around the boxes of children, and a sphere with its centre.

    The sphere encloses their spheres, or the box if that is smaller. Every child must have a box.
    """
    boxes = np.array([part.box for part in parts])
    spheres_of_parts = (
        part.sphere if part.sphere is not None else bounds(box).sphere for part, box in zip(parts, boxes, strict=True)
    )
    spheres = np.array(list(spheres_of_parts))
    box = np.stack([boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)]).astype(np.float32)
    centre = box.astype(np.float64).mean(axis=0).astype(np.float32)
    radii = np.linalg.norm(spheres[:, :3].astype(np.float64) - centre, axis=1) + spheres[:, 3]
    corner = np.linalg.norm(box[1].astype(np.float64) - centre)
    return BoundingVolume(box, np.append(centre, _rounded_up(min(float(radii.max()), float(corner)))))


def fitted_bounds(
    old: BoundingVolume, wanted_before: BoundingVolume, wanted: BoundingVolume, points: NDArray[np.float32]
) -> BoundingVolume:
    """Return bounds after an edit: ``wanted``, or the ``old`` box or sphere where it may stay.

    The old sphere stays if it encloses ``points`` (n, 3), since tools fit spheres in many ways. The box follows the
    points, since nearly all files store it exactly; an old box that differed from ``wanted_before`` stays while it
    encloses them.
    """
    box, sphere = wanted.box, wanted.sphere
    if old.box is not None and wanted_before.box is not None and wanted.box is not None:
        was_larger = (
            not _same_box(old.box, wanted_before.box) and (points >= old.box[0]).all() and (points <= old.box[1]).all()
        )
        if was_larger or _same_box(old.box, wanted.box):
            box = old.box
    # Tools round radii to nearest, so points may be outside by a millionth of the radius.
    if old.sphere is not None and _radius(old.sphere[:3], points) <= old.sphere[3] * (1 + 1e-6):
        sphere = old.sphere
    return BoundingVolume(box, sphere)


def _same_box(box: NDArray[np.float32], other: NDArray[np.float32]) -> bool:
    """Return whether two boxes differ by rounding alone, measured at their largest coordinate."""
    size = np.abs(box).max(initial=0.0)
    return bool(quantum.unedited(box, other, magnitude=np.full(box.shape, size)).all())


def _radius(centre: NDArray[np.float32], points: NDArray[np.float32]) -> float:
    return float(np.linalg.norm(points.astype(np.float64) - centre, axis=1).max(initial=0.0))


def _rounded_up(radius: float) -> np.float32:
    result: np.float32 = np.nextafter(np.float32(radius), np.float32(np.inf))
    return result


# Weights ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Influences:
    """Bone weights as a sparse table.

    ``keys`` (n,) = vertex * bone_count + bone, ascending and distinct; ``weights`` (n,).
    """

    keys: NDArray[np.int64]
    weights: NDArray[np.float64]
    vertex_count: int
    bone_count: int
    left_out: tuple[str, ...] = ()
    """Names of groups with weights that are not bones of the model."""


def influences(mesh: Mesh | PolygonMesh, bones: Sequence[str]) -> Influences:
    """Return the mesh's weights by bone index, names compared without case.

    Raises `WriteError` if a weight is NaN or infinite.
    """
    count = max(len(bones), 1)
    if mesh.weights is None:
        return Influences(np.zeros(0, np.int64), np.zeros(0), len(mesh.positions), count)
    index = {bone.lower(): number for number, bone in enumerate(bones)}
    bone_of_group = np.array([index.get(group.lower(), -1) for group in mesh.groups] or [-1], np.int64)
    with np.errstate(invalid="ignore"):  # signalling NaNs of broken files
        weights = mesh.weights.weights.astype(np.float64)
    if not np.isfinite(weights).all():
        raise WriteError(say("a weight of {!r} is NaN or infinite", mesh.name), remedy="Normalise its vertex groups")
    bone = bone_of_group[mesh.weights.groups]
    unknown = np.unique(mesh.weights.groups[(bone < 0) & (weights > 0)])
    known = (bone >= 0) & (weights > 0)
    keys = mesh.weights.vertices[known].astype(np.int64) * count + bone[known]
    distinct, row = np.unique(keys, return_inverse=True)
    summed = np.bincount(row.ravel(), weights[known], len(distinct)).astype(np.float64)
    return Influences(distinct, summed, len(mesh.positions), count, tuple(mesh.groups[group] for group in unknown))


def changed_vertices(new: Influences, old: Influences) -> NDArray[np.bool_]:
    """Return (vertices,): whether a vertex's bones or weights differ by more than Blender's own rounding."""
    keys = np.union1d(new.keys, old.keys)
    both = []
    for side in (new, old):
        weights = np.zeros(len(keys))
        weights[np.searchsorted(keys, side.keys)] = side.weights
        both.append(weights)
    differs = ~quantum.unedited(both[0], both[1], magnitude=np.ones(len(keys)))
    result = np.zeros(new.vertex_count, np.bool_)
    result[keys[differs] // new.bone_count] = True
    return result


@dataclass(frozen=True)
class Slots:
    """The bone slots of vertices: ``bones`` and ``weights`` (vertices, most links), the largest weight first.

    The weights of a vertex have the sum 1. An unused slot repeats the first bone with weight 0. ``links`` (vertices,)
    is the number of used slots; ``trimmed`` the number of vertices that had more bones than slots.
    """

    bones: NDArray[np.int64]
    weights: NDArray[np.float64]
    links: NDArray[np.int64]
    trimmed: int


def slots(sparse: Influences, most: int, name: str) -> Slots:
    """Return the ``most`` bones with the largest weights of each vertex. Raises `WriteError` if one has no bone."""
    vertex, bone = np.divmod(sparse.keys, sparse.bone_count)
    counts = np.bincount(vertex, minlength=sparse.vertex_count)
    if not counts.all():
        lost = int((counts == 0).sum())
        raise WriteError(
            say("vertices of {!r} that are not assigned to a bone: {} of {}", name, lost, len(counts)),
            remedy="Give them weights in groups named like the model's bones",
        )
    order = np.lexsort((-sparse.weights, vertex))
    starts = np.cumsum(counts) - counts
    rank = np.arange(len(order)) - starts[vertex[order]]
    kept = rank < most
    row, column = vertex[order][kept], rank[kept]
    weights = np.zeros((sparse.vertex_count, most))
    weights[row, column] = sparse.weights[order][kept]
    bones = np.zeros((sparse.vertex_count, most), np.int64)
    bones[row, column] = bone[order][kept]
    links = np.minimum(counts, most)
    bones = np.where(np.arange(most) < links[:, None], bones, bones[:, :1])
    weights /= weights.sum(axis=1, keepdims=True)
    return Slots(bones, weights, links, int((counts > most).sum()))


def store(rows: NDArray[np.void], which: NDArray[np.bool_], own_slots: Slots) -> None:
    """Write bones and weights into the vertices ``which`` of ``rows``, whose layout must have room for their bones."""
    links = rows.dtype["bones"].shape[0]
    rows["bones"][which] = own_slots.bones[which, :links]
    if links == 2:
        # A single bone is written into both slots, with weight 1 for the second.
        second = np.where(own_slots.links == 1, 1.0, own_slots.weights[:, 1])
        rows["weights"][which, 0] = second[which]
    elif links > 2:
        rows["weights"][which] = own_slots.weights[which, : links - 1]
