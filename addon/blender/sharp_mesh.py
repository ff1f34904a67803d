"""Meshes with sharp edges and a normal per corner, stored so that an export can tell whether they were edited.

Before 4.5, setting custom normals marks edges as sharp and changes the normals. There both are stored as they were set,
beside the values that Blender changed them to. The stored values are used as long as Blender still has the latter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..core import polygons
from ..core.model import Domain, PolygonMesh
from ..core.report import Report
from . import attributes, compat, material
from .mesh import (
    column,
    corner_counts,
    corner_normals,
    corner_uvs,
    corner_vertices,
    edge_vertices,
    edges_between,
    keep_normals,
    material_indices,
    outside_edit_mode,
    positions_of,
    triangles_of,
)

if TYPE_CHECKING:
    from .typed import Mesh, Object


GIVEN_SHARP, SHOWN_SHARP = "given_sharp", "shown_sharp"


def remember(data: Mesh, mesh: PolygonMesh, report: Report, *, normals: bool) -> None:
    """Store the sharp edges of ``mesh`` on the mesh data built from it if Blender changed them.

    With ``normals``, also its normals (see `mesh.keep_normals`).
    """
    if compat.NORMALS_BY_ATTRIBUTE or mesh.corner_normals is None or mesh.sharp_edges is None:
        return
    given = edges_between(data, mesh.sharp_edges)
    if not np.array_equal(sharp_of(data), given):
        _keep_sharp(data, given)
    if normals:
        keep_normals(data, mesh.corner_normals, mesh.name, report)


def show_normals(data: Mesh, mesh: PolygonMesh, normals: NDArray[np.float32]) -> None:
    """Set ``normals`` (corners of ``mesh``, 3) on ``data``, from which ``mesh`` was gathered; sharp edges are
    preserved.
    """
    cut, _ = triangles_of(data)
    given = np.zeros((len(data.loops), 3), np.float32)
    given[cut.ravel()] = normals
    before, sharp = sharp_of(data), _given_sharp(data)
    compat.set_corner_normals(data, given)
    data.update()
    if not np.array_equal(before, sharp_of(data)):
        _keep_sharp(data, sharp)


def _keep_sharp(data: Mesh, given: NDArray[np.bool_]) -> None:
    """Store which edges are meant to be sharp (edges,), and which Blender marks as sharp."""
    for name, values in ((GIVEN_SHARP, given), (SHOWN_SHARP, sharp_of(data))):
        stored = data.attributes.get(name) or data.attributes.new(name, "BOOLEAN", "EDGE")
        stored.data.foreach_set("value", values)


def sharp_of(data: Mesh, name: str = "sharp_edge") -> NDArray[np.bool_]:
    """Return (edges,) which edges are sharp."""
    result = np.zeros(len(data.edges), np.bool_)
    stored = data.attributes.get(name)
    if stored is not None and stored.domain == "EDGE" and len(result):
        stored.data.foreach_get("value", result)
    return result


def gather(
    obj: Object, wanted: attributes.Wanted, evaluated: Any = None, *, most_corners: int = 3
) -> tuple[PolygonMesh, NDArray[np.int32]]:
    """Read an object's own mesh in local space, with all UV maps and normals of corners, sharp edges and weights.

    ``evaluated``: a mesh to read instead, such as the result of modifiers. Polygons with more than ``most_corners``
    are cut into triangles. Materials have Blender's names; all edges of flat faces are sharp. Reads those of the
    ``wanted`` attributes that exist. Also returns (faces,) the polygon that each face is, or is part of.
    """
    with outside_edit_mode(obj, evaluated) as data:
        flat, counts, faces = _faces_of(data, most_corners)
        corners = corner_vertices(data)
        uvs = corner_uvs(data)
        normals, _ = corner_normals(data, evaluated=evaluated is not None)
        mesh = PolygonMesh(
            obj.name,
            positions_of(data),
            counts,
            corners[flat],
            None if uvs is None else uvs[flat],
            materials=[material.gather(used) for used in material.materials_of(obj, data)],
            material_index=material_indices(data)[faces],
            corner_normals=normals[flat],
        )
        further = [layer for layer in data.uv_layers if not layer.active_render]
        mesh.more_uvs = {layer.name: column(layer.uv, "vector", len(data.loops), 2)[flat] for layer in further}
        mesh.groups, mesh.weights = attributes.gather_groups(obj, data, np.zeros(0, np.int32))
        mesh.sharp_edges = _sharp_pairs(data, mesh, faces)
        mesh.attributes = attributes.gather_all(data, wanted, faces)
    return mesh, faces


def _faces_of(data: Mesh, most_corners: int) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Return the corners of all faces, one after another, (faces,) how many each has, and (faces,) its polygon."""
    cut, of_polygon = triangles_of(data)
    sizes = corner_counts(data)
    if most_corners == 3 or not len(sizes):
        return cut.ravel(), np.full(len(cut), 3, np.int32), of_polygon
    whole = np.flatnonzero(sizes <= most_corners)
    parts = np.flatnonzero(sizes[of_polygon] > most_corners)
    face = np.concatenate([whole, of_polygon[parts]]).astype(np.int32)
    counts = np.concatenate([sizes[whole], np.full(len(parts), 3, np.int32)])
    corners = np.concatenate([polygons.corners_of(sizes, whole), cut[parts].ravel()])
    order = np.argsort(face, kind="stable")
    flat = corners[polygons.corners_of(counts, order)].astype(np.int32)
    return flat, counts[order].astype(np.int32), face[order]


def _sharp_pairs(data: Mesh, mesh: PolygonMesh, faces: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return (edges, 2) vertices of sharp edges, and of all edges of flat faces."""
    pairs = edge_vertices(data)[_given_sharp(data)]
    flat = attributes.gather(data, "sharp_face", Domain.FACE, np.bool_)
    if flat is None or not flat.any():
        return pairs
    sides = np.stack([mesh.corners, mesh.corners[polygons.next_corners(mesh.counts)]], axis=1)
    return np.concatenate([pairs, sides[np.repeat(flat[faces], mesh.counts)]])


def _given_sharp(data: Mesh) -> NDArray[np.bool_]:
    """Return (edges,) which edges are sharp, without those that only Blender marked."""
    sharp = sharp_of(data)
    if data.attributes.get(SHOWN_SHARP) is None:
        return sharp
    result: NDArray[np.bool_] = np.where(sharp == sharp_of(data, SHOWN_SHARP), sharp_of(data, GIVEN_SHARP), sharp)
    return result
