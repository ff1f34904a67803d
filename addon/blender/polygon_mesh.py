"""The one door to meshes of polygons: `PolygonMesh` -> mesh object, and back; faces keep their corners and their order.

Every vertex and face of the model becomes one of Blender's, under the same number. Normals are for display only: they
are read back only where they are asked for, as Blender shows them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core import polygons
from ..core.model import Attribute, Domain, PolygonMesh
from . import attributes, compat
from .mesh import UV_LAYER
from .mesh_arrays import column, corner_uvs, outside_edit_mode, positions_of


def build(mesh: PolygonMesh, materials: Sequence[Any]) -> Any:
    """A mesh, no object yet; ``materials`` are Blender's, one for each of ``mesh.materials``.

    Raises `ValueError` where a face has fewer than three corners or points behind the last vertex: that would end
    the whole process.
    """
    corners = np.ascontiguousarray(mesh.corners, np.int32)
    outside = len(corners) and not (corners.min() >= 0 and corners.max() < len(mesh.positions))
    if outside or (len(mesh.counts) and mesh.counts.min() < 3):
        raise ValueError(f"{mesh.name}: faces that Blender meshes cannot store")
    data: Any = bpy.data.meshes.new(mesh.name)
    if len(mesh.positions):
        data.vertices.add(len(mesh.positions))
        data.attributes["position"].data.foreach_set("vector", np.ascontiguousarray(mesh.positions, np.float32).ravel())
    if len(mesh.counts):
        data.loops.add(len(corners))
        data.attributes[".corner_vert"].data.foreach_set("value", corners)
        data.polygons.add(len(mesh.counts))
        data.polygons.foreach_set("loop_start", polygons.starts(mesh.counts).astype(np.int32))
    for made in materials:
        data.materials.append(made)
    given = dict(mesh.attributes)
    if mesh.material_index is not None and mesh.material_index.any():
        given["material_index"] = Attribute(Domain.FACE, mesh.material_index.astype(np.int32, copy=False))
    attributes.build(data, given)
    if mesh.uvs is not None:
        layer = data.uv_layers.new(name=UV_LAYER, do_init=False)
        layer.uv.foreach_set("vector", np.ascontiguousarray(mesh.uvs, np.float32).ravel())
    data.update(calc_edges=True)
    data.shade_smooth()
    if mesh.sharp_edges is not None and len(mesh.sharp_edges):
        _sharpen(data, mesh.sharp_edges)
    if mesh.corner_normals is not None and len(corners):
        compat.set_corner_normals(data, _directions(mesh.corner_normals))
    elif mesh.normals is not None and len(corners):
        compat.set_corner_normals(data, _directions(mesh.normals)[corners])
    return data


def _directions(normals: NDArray[np.float32]) -> NDArray[np.float32]:
    """What is no direction as 0, which leaves it to Blender."""
    return np.where(np.isfinite(normals).all(axis=1, keepdims=True), normals, np.float32(0))


def _sharpen(data: Any, pairs: NDArray[np.int32]) -> None:
    """Mark the edges between these vertices; pairs without an edge mark nothing."""
    if not len(data.edges):
        return
    count = np.int64(len(data.vertices))
    stored = np.empty(2 * len(data.edges), np.int32)
    data.attributes[".edge_verts"].data.foreach_get("value", stored)
    edges = np.sort(stored.reshape(-1, 2), axis=1).astype(np.int64)
    wanted = np.sort(pairs, axis=1).astype(np.int64)
    sharp = np.isin(edges[:, 0] * count + edges[:, 1], wanted[:, 0] * count + wanted[:, 1])
    if sharp.any():
        made = data.attributes.new("sharp_edge", "BOOLEAN", "EDGE")
        made.data.foreach_set("value", sharp)


def gather(shown: Any, wanted: attributes.Wanted, evaluated: Any = None, *, normals: bool = False) -> PolygonMesh:
    """What an object's mesh says, in its own space; Blender's material slots, existing ``wanted`` attributes.

    ``evaluated`` is the mesh to read instead, such as the one modifiers make. With ``normals`` vertices are taken apart
    where Blender shows them with several: at sharp edges, beside flat faces.
    """
    with outside_edit_mode(shown) as own:
        data = own if evaluated is None else evaluated
        corners = np.empty(len(data.loops), np.int32)
        if len(corners):
            data.attributes[".corner_vert"].data.foreach_get("value", corners)
        counts = np.empty(len(data.polygons), np.int32)
        data.polygons.foreach_get("loop_total", counts)
        mesh = PolygonMesh(shown.name, positions_of(data), counts, corners, corner_uvs(data))
        index = attributes.gather(data, "material_index", Domain.FACE, np.int32)
        mesh.material_index = np.zeros(len(counts), np.int32) if index is None else index
        for name, (domain, kind) in wanted.items():
            values = attributes.gather(data, name, domain, kind)
            if values is not None:
                mesh.attributes[name] = Attribute(domain, values)
        return _with_normals(mesh, column(data.corner_normals, "vector", len(corners), 3)) if normals else mesh


_STEP = 1e-3
"""Normals of one vertex that differ by less (0.06 degrees) are one."""


def _with_normals(mesh: PolygonMesh, by_corner: NDArray[np.float32]) -> PolygonMesh:
    """The mesh with a normal for each vertex; where corners disagree further vertices are added at its end."""
    count = len(mesh.positions)
    first = np.full(count, -1, np.int64)
    # Of several written to one place the last stays: backwards, that is the first corner.
    first[mesh.corners[::-1]] = np.arange(len(mesh.corners))[::-1]
    own = first[mesh.corners]
    other = np.flatnonzero((np.abs(by_corner - by_corner[own]) > _STEP).any(axis=1))
    mesh.normals = np.zeros((count, 3), np.float32)
    mesh.normals[first >= 0] = by_corner[first[first >= 0]]
    if not len(other):
        return mesh
    steps = np.rint(by_corner[other] / _STEP).astype(np.int64)
    keys = np.concatenate([mesh.corners[other, None], steps], axis=1)
    _, speaker, place = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    source = mesh.corners[other[speaker]]
    mesh.corners = mesh.corners.copy()
    mesh.corners[other] = count + place.ravel()
    mesh.positions = np.concatenate([mesh.positions, mesh.positions[source]])
    mesh.normals = np.concatenate([mesh.normals, by_corner[other[speaker]]])
    for name, attribute in mesh.attributes.items():
        if attribute.domain is Domain.VERTEX:
            values = np.concatenate([attribute.values, attribute.values[source]])
            mesh.attributes[name] = Attribute(Domain.VERTEX, values)
    return mesh
