"""`Mesh` or `PolygonMesh` to Blender meshes and back; no other module does this for them.

Every vertex of the model becomes one vertex, so that unedited vertices keep their index. Blender stores texture
coordinates and normals at face corners; a vertex whose corners have come to differ is split on export, and the values
of its first corner stay under the old index. Vertices without faces have no corners; two attributes store their values.

A face with two corners at one vertex is invisible and crashes Blender when it computes normals. Such faces are stored
in a list on the mesh, with their attributes, and put back in their place on export.

Before 4.5 Blender stores custom normals as two 16-bit angles, mostly exact to 0.01 degrees, but off by up to 60 degrees
where the surface around a vertex folds up. So the original normals are stored beside those that Blender made of them,
and are used for every corner that still shows the latter.

Polygons (`build_polygons`, `gather_polygons`) keep their corners and their order; every vertex and face of the model
becomes one in Blender, with the same index. Normals of polygons are for display, and are read back only on request.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core import polygons
from ..core.model import Attribute, Domain, Mesh, PolygonMesh
from ..core.problems import Problem
from ..core.report import Report, say
from . import attributes, compat, material

if TYPE_CHECKING:
    from . import typed
    from .typed import Material, Object


UV_LAYER = "UVMap"
LOOSE_NORMAL = "loose_normal"
GIVEN_NORMAL, SHOWN_NORMAL = "given_normal", "shown_normal"
VISIBLE_DIFFERENCE = 0.02
"""Component difference from which a shown normal counts as different from the original one (about a degree)."""

SAME_NORMAL = 2e-4
"""Component difference up to which two normals of a vertex are one (0.01 degrees): Blender may store them in 16 bits.
"""


def build(mesh: Mesh, materials: Sequence[Material], report: Report, *, flat: bool = False) -> Any:
    """Create a mesh object, not linked to a collection, with a vertex group for each of ``mesh.groups``, in this order.

    ``materials``: Blender's, one for each of ``mesh.materials``; ``flat``: show faces without smoothing. Faces that
    refer to missing vertices are left out and reported; folded ones are not shown but kept.
    """
    data: Any = bpy.data.meshes.new(mesh.name)
    mesh = _without_invalid_faces(mesh, report)
    shown_faces, triangles = None, np.ascontiguousarray(mesh.triangles, np.int32)
    folded = folded_faces(triangles)
    if folded.any():
        keep_folded(data, mesh, folded, report)
        shown_faces, triangles = ~folded, triangles[~folded]
    _build_topology(data, mesh.positions, triangles.ravel(), np.arange(0, triangles.size, 3, dtype=np.int32))
    if mesh.edges is not None and len(mesh.edges):
        data.edges.add(len(mesh.edges))
        data.edges.foreach_set("vertices", np.ascontiguousarray(mesh.edges, np.int32).ravel())
    _add_values(data, mesh, materials, shown_faces)
    corners = triangles.ravel()
    if mesh.uvs is not None:
        _add_uvs(data, {UV_LAYER: mesh.uvs[corners]})
    _store_loose_values(data, mesh, corners)
    data.update(calc_edges=not _add_edges_of_separate_triangles(data, corners))
    if flat and len(triangles):
        attributes.build(data, {"sharp_face": Attribute(Domain.FACE, np.ones(len(triangles), np.bool_))})
    else:
        data.shade_smooth()
    if mesh.normals is not None and len(corners):
        # Last, because building edges and shading smooth can remove custom normals.
        given = mesh.normals[corners]
        _set_normals(data, given, corners)
        keep_normals(data, given, mesh.name, report)
    obj: Any = bpy.data.objects.new(mesh.name, data)
    attributes.build_vertex_groups(obj, mesh)
    return obj


def _without_invalid_faces(mesh: Mesh, report: Report) -> Mesh:
    """Return the mesh without faces that refer to missing vertices, which would crash Blender; report them."""
    triangles = mesh.triangles
    if not len(triangles) or (int(triangles.min()) >= 0 and int(triangles.max()) < len(mesh.positions)):
        return mesh
    valid = np.logical_and(triangles >= 0, triangles < len(mesh.positions)).all(axis=1)
    words = "{:# triangle points|# triangles point} to vertices that do not exist; left out"
    report.warn(say(words, int((~valid).sum())), mesh.name)
    index = None if mesh.material_index is None else mesh.material_index[valid]
    kept = {
        name: replace(attribute, values=attribute.values[valid]) if attribute.domain is Domain.FACE else attribute
        for name, attribute in mesh.attributes.items()
    }
    return replace(mesh, triangles=triangles[valid], material_index=index, attributes=kept)


def _build_topology(
    data: typed.Mesh, positions: NDArray[Any], corners: NDArray[np.int32], starts: NDArray[np.int32]
) -> None:
    """Add vertices, corners, and faces, which begin at the corners ``starts`` (faces,)."""
    if len(positions):
        data.vertices.add(len(positions))
        data.attributes["position"].data.foreach_set("vector", np.ascontiguousarray(positions, np.float32).ravel())
    if len(starts):
        data.loops.add(len(corners))
        data.attributes[".corner_vert"].data.foreach_set("value", corners)
        data.polygons.add(len(starts))
        data.polygons.foreach_set("loop_start", starts)


def _add_edges_of_separate_triangles(data: typed.Mesh, corners: NDArray[np.int32]) -> bool:
    """Add the edges if no triangles share a vertex, and return whether that is so; Blender takes longer to find them.

    A mesh that has edges already is left to Blender.
    """
    count = len(data.vertices)
    if not 0 < len(corners) <= count or len(data.edges) or np.bincount(corners, minlength=count).max() > 1:
        return False
    ends = corners.reshape(-1, 3)
    edges = np.stack([ends, ends[:, [1, 2, 0]]], axis=-1)
    data.edges.add(len(corners))
    data.attributes[".edge_verts"].data.foreach_set("value", edges.ravel())
    data.attributes[".corner_edge"].data.foreach_set("value", np.arange(len(corners), dtype=np.int32))
    return True


def _add_values(
    data: typed.Mesh, mesh: Mesh | PolygonMesh, materials: Sequence[Any], faces: NDArray[np.bool_] | None = None
) -> None:
    """Add materials, those of faces, and attributes; ``faces``: which of the mesh's faces were added, None for all."""
    for used_material in materials:
        data.materials.append(used_material)
    given = dict(mesh.attributes)
    if mesh.material_index is not None and mesh.material_index.any():
        given["material_index"] = Attribute(Domain.FACE, mesh.material_index.astype(np.int32, copy=False))
    attributes.build(data, given, faces)


def _store_loose_values(data: typed.Mesh, mesh: Mesh, corners: NDArray[np.int32]) -> None:
    if mesh.uvs is None and mesh.normals is None:
        return
    if np.bincount(corners, minlength=len(mesh.positions)).all():
        return
    for name, kind, values in ((LOOSE_UV, "FLOAT2", mesh.uvs), (LOOSE_NORMAL, "FLOAT_VECTOR", mesh.normals)):
        if values is not None:
            kept = data.attributes.new(name, kind, "POINT")
            kept.data.foreach_set("vector", np.ascontiguousarray(values, np.float32).ravel())


def keep_normals(data: typed.Mesh, given: NDArray[np.float32], name: str, report: Report) -> None:
    """Store the original normals (corners, 3) and those that Blender made of them, if Blender cannot store them
    exactly.
    """
    normals, exact = corner_normals(data)
    if exact:
        return
    for attribute, values in ((GIVEN_NORMAL, given), (SHOWN_NORMAL, normals)):
        kept = data.attributes.new(attribute, "FLOAT_VECTOR", "CORNER")
        kept.data.foreach_set("vector", np.ascontiguousarray(values, np.float32).ravel())
    with np.errstate(over="ignore", invalid="ignore"):  # normals of damaged files
        length = np.linalg.norm(given, axis=1, keepdims=True)
        unit = np.divide(given, length, out=normals.copy(), where=length > 0)
        far = int((np.abs(unit - normals).max(axis=1) > VISIBLE_DIFFERENCE).sum())
    if far:
        words = "{:# normal|# normals} that this Blender cannot show exactly (4.5 and later can); kept unchanged"
        report.note(say(words, far), name)


def select_loose_edges(data: typed.Mesh) -> None:
    """Select the edges of a new mesh that has no faces. Its vertices and faces are selected from the start."""
    # Since 5.0 they are selected, stored as one value for all edges; writing that with foreach_set crashes.
    if len(data.edges) and not data.edges[0].select:
        data.edges.foreach_set("select", np.ones(len(data.edges), np.bool_))


@dataclass(frozen=True)
class Gathered:
    """A mesh read from Blender. ``exact_normals`` is False if Blender stored normals in 16 bits or computed them."""

    mesh: Mesh
    exact_normals: bool


def gather(obj: Object, evaluated: Any = None) -> Gathered:
    """Read an object's mesh in local space; polygons are triangulated. Normals are those that Blender shows; unedited
    custom normals have their original values. ``evaluated``: a mesh to read instead, the result of modifiers.
    """
    with outside_edit_mode(obj, evaluated) as data:
        positions = positions_of(data)
        triangles, faces = triangles_of(data)
        corners = corner_vertices(data)
        normals, exact = corner_normals(data, evaluated=evaluated is not None)
        uvs = corner_uvs(data)
        index = material_indices(data)
        exact_values = np.zeros((len(corners), 0), np.float32) if uvs is None else uvs
        split = polygons.split_corners(corners, exact_values, len(positions), normals, SAME_NORMAL)
        folded = folded_rows(data, len(triangles))
        cut = reinserted(split.vertex[triangles], folded[:, 0], folded[:, 1:4])
        cut_index = reinserted(index[faces], folded[:, 0], folded[:, 4])
        mesh = Mesh(
            obj.name,
            positions[split.source],
            cut,
            _vertex_values(data, normals, split, LOOSE_NORMAL),
            None if uvs is None else _vertex_values(data, uvs, split, LOOSE_UV),
            *attributes.gather_groups(obj, data, split.source[len(positions) :]),
            [material.gather(used) for used in material.materials_of(obj, data)],
            cut_index if len(data.materials) else None,
        )
    return Gathered(mesh, exact)


def corner_normals(data: typed.Mesh, *, evaluated: bool = False) -> tuple[NDArray[np.float32], bool]:
    """Return (corners, 3) normals, and whether unedited custom normals among them are exact.

    ``evaluated``: modifiers made the mesh, and copied the stored normals as if they were any attribute.
    """
    normals = column(data.corner_normals, "vector", len(data.loops), 3)
    if evaluated:
        return normals, False
    exact = _vectors_of_corners(data, "custom_normal")
    if exact is not None:
        return exact, True
    given, shown_then = _vectors_of_corners(data, GIVEN_NORMAL), _vectors_of_corners(data, SHOWN_NORMAL)
    if given is None or shown_then is None:
        return normals, False
    same = (np.abs(normals - shown_then) <= SAME_NORMAL).all(axis=1, keepdims=True)
    return np.where(same, given, normals), True


def has_normals(data: typed.Mesh, given: NDArray[np.float32], *, moved: bool) -> bool:
    """Whether a mesh still has the custom normals (corners, 3) that it was ``given``. If Blender stores them as angles
    to the surface and vertices were ``moved``, this is unknown and counts as True.
    """
    exact = _vectors_of_corners(data, "custom_normal")
    if exact is not None:
        return np.array_equal(exact, given) or bool((np.abs(exact - given) <= SAME_NORMAL).all())
    if moved or not len(given):
        return True
    if not data.has_custom_normals:
        return False
    normals = column(data.corner_normals, "vector", len(data.loops), 3)
    if (np.abs(normals - given) <= VISIBLE_DIFFERENCE).all():
        return True
    # Angles cannot store every normal exactly: compare with what Blender makes of the given normals.
    again = data.copy()
    try:
        again.normals_split_custom_set(given)
        return bool(
            (np.abs(normals - column(again.corner_normals, "vector", len(given), 3)) <= VISIBLE_DIFFERENCE).all()
        )
    finally:
        bpy.data.meshes.remove(again)


def _vectors_of_corners(data: typed.Mesh, name: str) -> NDArray[np.float32] | None:
    stored = data.attributes.get(name)
    if stored is None or stored.data_type != "FLOAT_VECTOR" or stored.domain != "CORNER":
        return None
    return column(stored.data, "vector", len(data.loops), 3)


def _vertex_values(
    data: typed.Mesh, values: NDArray[np.float32], split: polygons.Split, loose_name: str
) -> NDArray[np.float32]:
    """Return (new vertices, …) values of corners; vertices without corners get their stored values, or else 0."""
    loose = split.corner < 0
    if not loose.any():
        return values[split.corner]
    result = np.zeros((len(split.corner), values.shape[1]), np.float32)
    result[~loose] = values[split.corner[~loose]]
    kept = data.attributes.get(loose_name)
    if kept is not None and kept.domain == "POINT":
        given = column(kept.data, "vector", len(data.vertices), values.shape[1])
        result[loose] = given[split.source[loose]]
    return result


@dataclass(frozen=True)
class Shape:
    """Geometry and attributes of a mesh, without normals.

    ``faces`` (triangles,): the polygon of each triangle, -1 for a folded face. ``corner_uvs`` (triangles, 3, 2): None
    if they were not requested or if there are none.
    """

    mesh: Mesh
    faces: NDArray[np.int32]
    corner_uvs: NDArray[np.float32] | None = None


def gather_shape(
    obj: Object, wanted: attributes.Wanted, report: Report, evaluated: Any = None, *, textured: bool = False
) -> Shape:
    """Read vertices, triangles, Blender's material slots and those of the ``wanted`` attributes that exist.

    Nothing is split or computed, so it is fast for a million faces. ``evaluated``: a mesh to read instead, such as the
    result of modifiers; ``textured``: also read materials and texture coordinates.
    """
    with outside_edit_mode(obj, evaluated) as data:
        positions = positions_of(data)
        corners = corner_vertices(data)
        cut, faces = triangles_of(data)
        all_triangles = len(faces) == len(data.polygons)
        folded = folded_rows(data, len(faces))
        lost = (len(data.get(FOLDED, (0, 0))) - 2) // 5 - len(folded)
        if lost:
            words = "{0:# triangle|# triangles} without area {0:is|are} left out because the mesh has changed"
            problem = say(words, lost)
            report.warn(problem, obj.name)
        indices = folded[:, 0]
        index = material_indices(data)
        mesh = Mesh(
            obj.name,
            positions,
            reinserted(corners.reshape(-1, 3) if all_triangles else corners[cut], indices, folded[:, 1:4]),
            material_index=reinserted(index if all_triangles else index[faces], indices, folded[:, 4]),
        )
        mesh.attributes = attributes.gather_all(data, wanted, None if all_triangles else faces)
        for name, attribute in mesh.attributes.items() if len(indices) else ():
            if attribute.domain is Domain.FACE:
                kept = np.array(data.get(FOLDED_VALUES, {}).get(name, ()), np.uint8).view(attribute.values.dtype)
                mesh.attributes[name] = Attribute(
                    Domain.FACE, reinserted(attribute.values, indices, kept if len(kept) else 0)
                )
        by_corner = None
        if textured:
            mesh.materials = [material.gather(used) for used in material.materials_of(obj, data)]
            mesh.material_index = mesh.material_index if mesh.materials else None
            uvs = corner_uvs(data)
            if uvs is not None:
                mesh.uvs = _vertex_uvs(data, uvs, corners)
                by_corner = reinserted(uvs[cut], indices, mesh.uvs[folded[:, 1:4]])
        return Shape(mesh, reinserted(faces, indices, -1), by_corner)


def _vertex_uvs(data: typed.Mesh, uvs: NDArray[np.float32], corners: NDArray[np.int32]) -> NDArray[np.float32]:
    """Return (vertices, 2) the uv of each vertex's first corner; without corners the stored values, or else 0."""
    loose = data.attributes.get(LOOSE_UV)
    if loose is None or loose.domain != "POINT":
        result = np.zeros((len(data.vertices), 2), np.float32)
    else:
        result = column(loose.data, "vector", len(data.vertices), 2)
    # Of several values written to one index the last stays, so write backwards to get the first corner.
    result[corners[::-1]] = uvs[::-1]
    return result


def build_polygons(mesh: PolygonMesh, materials: Sequence[Any]) -> Any:
    """Create mesh data, without an object; ``materials`` are Blender's, one for each of ``mesh.materials``. Raises
    `ValueError` if a face has fewer than three corners or refers to a missing vertex, which would crash Blender.
    """
    corners = np.ascontiguousarray(mesh.corners, np.int32)
    outside = len(corners) and not (corners.min() >= 0 and corners.max() < len(mesh.positions))
    if outside or (len(mesh.counts) and mesh.counts.min() < 3):
        raise ValueError(say("{}: faces that Blender meshes cannot store", mesh.name))
    data: Any = bpy.data.meshes.new(mesh.name)
    _build_topology(data, mesh.positions, corners, polygons.starts(mesh.counts).astype(np.int32))
    if mesh.edges is not None and mesh.corner_edges is not None:
        # If Blender has to find the edges, that takes most of the time.
        data.edges.add(len(mesh.edges))
        data.attributes[".edge_verts"].data.foreach_set("value", mesh.edges.ravel())
        data.attributes[".corner_edge"].data.foreach_set("value", mesh.corner_edges)
    _add_values(data, mesh, materials)
    _add_uvs(data, mesh.more_uvs if mesh.uvs is None else {UV_LAYER: mesh.uvs, **mesh.more_uvs})
    data.update(calc_edges=mesh.edges is None)
    data.shade_smooth()
    if mesh.sharp_edges is not None and len(mesh.sharp_edges):
        _mark_sharp(data, mesh.sharp_edges)
    if mesh.corner_normals is not None and len(corners):
        _set_normals(data, _finite_or_zero(mesh.corner_normals), corners)
    elif mesh.normals is not None and len(corners):
        _set_normals(data, _finite_or_zero(mesh.normals)[corners], corners)
    return data


def _add_uvs(data: typed.Mesh, maps: dict[str, NDArray[np.float32]]) -> None:
    """Add UV maps (corners, 2) by name; materials use the first."""
    for name, uvs in maps.items():
        layer = data.uv_layers.new(name=name, do_init=False)
        layer.uv.foreach_set("vector", np.ascontiguousarray(uvs, np.float32).ravel())
    if maps:
        # Since Blender 5.2 a pair of numbers on faces counts as the existing map, and would be rendered.
        data.uv_layers[0].active_render = True


def _set_normals(data: typed.Mesh, normals: NDArray[np.float32], corners: NDArray[np.int32]) -> None:
    """Set custom normals (corners, 3); ``corners`` (corners,): the vertex of each. Before 4.5 it takes a third of the
    time if the corners of a vertex share a normal: Blender need not look for edges to mark as sharp.
    """
    if not compat.NORMALS_BY_ATTRIBUTE:
        of_vertices = np.ones((len(data.vertices), 3), np.float32)
        of_vertices[corners] = normals
        # For normals of 0 Blender computes one per corner, so corners may differ there.
        if of_vertices.any(axis=1).all() and np.array_equal(of_vertices[corners], normals):
            data.normals_split_custom_set_from_vertices(of_vertices)
            return
    compat.set_corner_normals(data, normals)


def _finite_or_zero(normals: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the normals with 0 in place of those that are not finite; Blender then computes them."""
    finite = np.isfinite(normals)
    return normals if finite.all() else np.where(finite.all(axis=1, keepdims=True), normals, np.float32(0))


def _mark_sharp(data: typed.Mesh, pairs: NDArray[np.int32]) -> None:
    """Mark the edges between these pairs of vertices as sharp; pairs without an edge are ignored."""
    sharp = edges_between(data, pairs)
    if sharp.any():
        attribute = data.attributes.new("sharp_edge", "BOOLEAN", "EDGE")
        attribute.data.foreach_set("value", sharp)


def edges_between(data: typed.Mesh, pairs: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return (edges,) which edges connect one of these ``pairs`` (n, 2) of vertices."""
    if not len(data.edges) or not len(pairs):
        return np.zeros(len(data.edges), np.bool_)
    edges, wanted = (
        np.minimum(first, other).astype(np.int64) * len(data.vertices) + np.maximum(first, other)
        for first, other in (edge_vertices(data).T, pairs.T)
    )
    wanted.sort()
    result: NDArray[np.bool_] = wanted[np.minimum(np.searchsorted(wanted, edges), len(wanted) - 1)] == edges
    return result


def gather_polygons(
    obj: Object, wanted: attributes.Wanted, evaluated: Any = None, *, normals: bool = False
) -> PolygonMesh:
    """Read an object's mesh in local space, with material slots and those of the ``wanted`` attributes that exist.

    ``evaluated``: a mesh to read instead, such as the result of modifiers. With ``normals``, vertices that Blender
    shows with several normals are split: at sharp edges, beside flat faces.
    """
    with outside_edit_mode(obj, evaluated) as data:
        corners = corner_vertices(data)
        counts = corner_counts(data)
        mesh = PolygonMesh(obj.name, positions_of(data), counts, corners, corner_uvs(data))
        mesh.material_index = material_indices(data)
        mesh.attributes = attributes.gather_all(data, wanted)
        return _with_vertex_normals(mesh, column(data.corner_normals, "vector", len(corners), 3)) if normals else mesh


_NORMAL_STEP = 1e-3
"""Component difference up to which two normals of a vertex are one (0.06 degrees)."""


def _with_vertex_normals(mesh: PolygonMesh, by_corner: NDArray[np.float32]) -> PolygonMesh:
    """Return the mesh with a normal per vertex; if corners differ, further vertices are appended."""
    count = len(mesh.positions)
    split = polygons.split_corners(mesh.corners, by_corner[:, :0], count, by_corner, _NORMAL_STEP)
    mesh.normals = np.where((split.corner >= 0)[:, None], by_corner[split.corner], np.float32(0))
    more = split.source[count:]
    mesh.corners = split.vertex
    mesh.positions = np.concatenate([mesh.positions, mesh.positions[more]])
    for name, attribute in mesh.attributes.items():
        if attribute.domain is Domain.VERTEX:
            values = np.concatenate([attribute.values, attribute.values[more]])
            mesh.attributes[name] = Attribute(Domain.VERTEX, values)
    return mesh


LOOSE_UV = "loose_uv"
"""Attribute with the texture coordinates of vertices without corners."""
FOLDED = "folded_faces"
"""Custom property: vertices and faces of the mesh with folded faces; then index, corners and material of each of these.
"""
FOLDED_VALUES = "folded_values"
"""Custom property of a mesh: name of a face attribute -> its values on the folded faces, as bytes."""


def folded_faces(triangles: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return (faces,) which faces are folded: they have two corners at one vertex."""
    a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    result: NDArray[np.bool_] = (a == b) | (b == c) | (c == a)
    return result


def keep_folded(data: typed.Mesh, mesh: Mesh, folded: NDArray[np.bool_], report: Report) -> None:
    """Store the folded faces on the mesh that is built without them, and report them."""
    report.warn(say("{:# triangle|# triangles} without area; not shown, but kept", int(folded.sum())), mesh.name)
    indices = np.flatnonzero(folded)
    index = np.zeros(len(indices), np.int64) if mesh.material_index is None else mesh.material_index[folded]
    rows = np.concatenate([indices[:, None], mesh.triangles[folded], index[:, None]], axis=1)
    data[FOLDED] = [len(mesh.positions), len(mesh.triangles), *rows.ravel().tolist()]
    data[FOLDED_VALUES] = {
        name: np.ascontiguousarray(attribute.values[folded]).view(np.uint8).astype(np.int32).ravel().tolist()
        for name, attribute in mesh.attributes.items()
        if attribute.domain is Domain.FACE
    }


def folded_rows(data: typed.Mesh, faces: int) -> NDArray[np.int32]:
    """Return (folded faces, 5) index, corners and material; empty if the numbers of vertices and ``faces`` have
    changed.
    """
    kept = np.array(data.get(FOLDED, (0, 0)), np.int32)
    rows = kept[2:].reshape(-1, 5)
    same = len(data.vertices) == kept[0] and faces + len(rows) == kept[1]
    return rows if same else rows[:0]


def reinserted(values: NDArray[Any], indices: NDArray[np.int32], kept: Any) -> NDArray[Any]:
    """Return values of faces with the values ``kept`` of folded faces inserted at ``indices``."""
    if not len(indices):
        return values
    result = np.empty((len(values) + len(indices), *values.shape[1:]), values.dtype)
    others = np.ones(len(result), np.bool_)
    others[indices] = False
    result[others] = values
    result[indices] = kept
    return result


@contextmanager
def outside_edit_mode(obj: Object, evaluated: Any = None) -> Iterator[typed.Mesh]:
    """Yield the object's mesh; in edit mode (also through another object that shares the mesh) a copy of its current
    state, because edited meshes do not expose their arrays. ``evaluated``: a mesh to yield instead.
    """
    if evaluated is not None or not obj.data.is_editmode:
        yield obj.data if evaluated is None else evaluated
        return
    obj.update_from_editmode()
    copy = obj.data.copy()
    try:
        yield copy
    finally:
        bpy.data.meshes.remove(copy)


def column(values: Any, name: str, count: int, width: int) -> NDArray[np.float32]:
    """Read (count, width) a property of all elements of a collection."""
    flat = np.empty(count * width, np.float32)
    if count:
        values.foreach_get(name, flat)
    return flat.reshape(count, width)


def positions_of(data: typed.Mesh) -> NDArray[np.float32]:
    """Return (vertices, 3). A mesh without vertices may lack the attribute."""
    count = len(data.vertices)
    return column(data.attributes["position"].data, "vector", count, 3) if count else np.zeros((0, 3), np.float32)


def corner_vertices(data: typed.Mesh) -> NDArray[np.int32]:
    """Return (corners,) the vertex of each corner. A mesh without faces may lack the attribute."""
    corners = np.empty(len(data.loops), np.int32)
    if len(corners):
        data.attributes[".corner_vert"].data.foreach_get("value", corners)
    return corners


def corner_counts(data: typed.Mesh) -> NDArray[np.int32]:
    """Return (polygons,) the number of corners of each."""
    counts = np.full(len(data.polygons), 3, np.int32)
    if not _has_only_triangles(data):
        data.polygons.foreach_get("loop_total", counts)
    return counts


def _has_only_triangles(data: typed.Mesh) -> bool:
    return len(data.loops) == 3 * len(data.polygons)  # none has fewer than three corners


def material_indices(data: typed.Mesh) -> NDArray[np.int32]:
    """Return (polygons,) the material slot of each."""
    stored = attributes.gather(data, "material_index", Domain.FACE, np.int32)
    return np.zeros(len(data.polygons), np.int32) if stored is None else stored


def edge_vertices(data: typed.Mesh) -> NDArray[np.int32]:
    """Return (edges, 2) the vertices of each edge. A mesh without edges may lack the attribute."""
    ends = np.empty(2 * len(data.edges), np.int32)
    if len(ends):
        data.attributes[".edge_verts"].data.foreach_get("value", ends)
    return ends.reshape(-1, 2)


def triangles_of(data: typed.Mesh) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return (triangles, 3) indices of corners, and (triangles,) the polygon of each triangle."""
    count = len(data.polygons)
    if _has_only_triangles(data):
        return np.arange(3 * count, dtype=np.int32).reshape(-1, 3), np.arange(count, dtype=np.int32)
    data.calc_loop_triangles()
    cut = len(data.loop_triangles)
    corners, faces = np.empty(3 * cut, np.int32), np.empty(cut, np.int32)
    data.loop_triangles.foreach_get("loops", corners)
    data.loop_triangles.foreach_get("polygon_index", faces)
    return corners.reshape(-1, 3), faces


def corner_uvs(data: typed.Mesh) -> NDArray[np.float32] | None:
    """Return (corners, 2) of the UV map that is rendered, or else active; None without UV maps."""
    layer = next((layer for layer in data.uv_layers if layer.active_render), data.uv_layers.active)
    return None if layer is None else column(layer.uv, "vector", len(data.loops), 2)


@dataclass(frozen=True)
class Offending:
    """A problem of one object (None: of the whole model), with the indices of its ``faces`` and ``vertices``."""

    obj: Any
    problem: Problem
    faces: NDArray[np.int64]
    vertices: NDArray[np.int64]


def select_elements(obj: Object, faces: NDArray[np.int64], vertices: NDArray[np.int64]) -> None:
    """Select only these faces or vertices of a mesh, outside edit mode."""
    data = obj.data
    of_vertices = np.zeros(len(data.vertices), np.bool_)
    of_vertices[vertices] = True
    of_faces = np.zeros(len(data.polygons), np.bool_)
    of_faces[faces] = True
    if len(faces):
        of_vertices[corner_vertices(data)[np.repeat(of_faces, corner_counts(data))]] = True
    data.vertices.foreach_set("select", of_vertices)
    if len(of_faces):
        data.polygons.foreach_set("select", of_faces)
    _select_edges(data, of_vertices)
    data.update()


def _select_edges(data: typed.Mesh, of_vertices: NDArray[np.bool_]) -> None:
    """Select only the edges between selected vertices: any other would, in edit mode, also select its faces."""
    if not len(data.edges):
        return
    # Replaced, because since 5.0 it may be one value for all edges, which foreach_set cannot write.
    existing = data.attributes.get(".select_edge")
    if existing is not None:
        data.attributes.remove(existing)
    attribute = data.attributes.new(".select_edge", "BOOLEAN", "EDGE")
    attribute.data.foreach_set("value", of_vertices[edge_vertices(data)].all(axis=1))
