"""Encode Blender meshes as the chunks of editor meshes: new ones, or edits of an imported mesh.

New meshes have vertex maps as the SDK writes them: a uv map with the first texture coordinate of each point, a second
one of the same name with the others, then a weight map for each bone that has points.

Of an imported mesh, everything that was not edited keeps its bytes. While vertices and faces are those of the import,
an edit replaces only its own chunks: points with their box, normals, smoothing, the faces of surfaces. Texture
coordinates and weights are replaced together, since faces refer to both by one vmref. If faces changed, all geometry is
written again; the other chunks of the mesh stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import names, polygons, rebase, space
from ....core.changes import NORMALS, TEXTURE_COORDINATES, Changes
from ....core.errors import WriteError
from ....core.model import Domain, PolygonMesh, VertexWeights
from ....core.report import Report, say
from .document import Mesh, Model
from .mapping import POINT, SMOOTHING, decode_mesh, group_of_map, vmref_values
from .mesh_chunks import (
    FLAT,
    MAPS,
    MASKS,
    UV,
    VISIBLE,
    WEIGHT,
    Box,
    Faces,
    MeshFlags,
    MeshName,
    Normals,
    Options,
    Points,
    RowGroups,
    Smoothing,
    SurfaceFaces,
    SurfacesOfFaces,
    Version,
    VertexMap,
    VertexMapRefs,
    VertexMaps,
)
from .smoothing import Rule, groups_of, rule_of, rule_of_groups, sides_of, smoothing_numbers

UV_MAP = b"Texture"
"""Name of uv maps in the SDK."""
MOST_VMREF_ENTRIES = 255
CHUNK_IDS: dict[type, int] = {
    Version: 0x1000,
    MeshName: 0x1001,
    Box: 0x1004,
    MeshFlags: 0x1002,
    Options: 0x1010,
    Points: 0x1005,
    Faces: 0x1006,
    Smoothing: 0x1013,
    Normals: 0x1014,
    VertexMapRefs: 0x1008,
    SurfacesOfFaces: 0x1009,
    VertexMaps: 0x1012,
}
"""Chunk ids of the types, in the order in which the SDK writes them."""


@dataclass
class Geometry:
    """Triangles in X-Ray's axes.

    ``positions`` (vertices, 3) float32; ``point`` (vertices,) the file's point of each vertex: vertices of one point
    differ in their weights. ``corners`` (faces, 3) vertices; ``uvs`` (faces, 3, 2) float32, v down; ``surface``
    (faces,) index into ``surfaces``, -1 for none; ``smoothing`` (faces,) uint32; ``normals`` (faces, 3, 3) float32.
    ``weights`` of vertices, by index into ``groups``, the names of weight maps.
    """

    positions: NDArray[np.float32]
    point: NDArray[np.int64]
    corners: NDArray[np.int64]
    uvs: NDArray[np.float32]
    surface: NDArray[np.int64]
    surfaces: list[bytes]
    smoothing: NDArray[np.uint32] | None = None
    normals: NDArray[np.float32] | None = None
    groups: list[bytes] = field(default_factory=list)
    weights: VertexWeights | None = None


def new_mesh(name: bytes, geometry: Geometry) -> Mesh:
    """Return a new mesh with the chunks that the SDK writes. Raises `WriteError` for a vertex with too many weights."""
    values: dict[type, Any] = {
        Version: Version(0x11),
        MeshName: MeshName(name),
        MeshFlags: MeshFlags(VISIBLE),
        Options: Options(0, 0),
        **chunk_values(geometry),
    }
    return Mesh.of((number, values[kind]) for kind, number in CHUNK_IDS.items() if kind in values)


def chunk_values(geometry: Geometry) -> dict[type, Any]:
    """Return the chunks of the geometry by their types. Raises `WriteError` for a vertex with too many weights."""
    points = np.zeros((int(geometry.point.max()) + 1 if len(geometry.point) else 0, 3), np.float32)
    # Assigned backwards, because the last value of a point stays: that of its first vertex.
    points[geometry.point[::-1]] = geometry.positions[::-1]
    maps, uv_ref = _uv_maps(geometry)
    rows, counts = _weight_refs(geometry, maps)
    vmref = polygons.row_groups(np.concatenate([geometry.corners.reshape(-1, 1), uv_ref], axis=1))
    total = int(vmref.max()) + 1 if len(vmref) else 0
    vertex, first = np.zeros(total, np.int64), np.zeros((total, 2), np.int64)
    vertex[vmref], first[vmref] = geometry.corners.ravel(), uv_ref
    refs = _vmref_rows(first, vertex, rows, counts)
    corners = np.stack([geometry.point[geometry.corners], vmref.reshape(-1, 3)], axis=2).astype(np.uint32)
    result: dict[type, Any] = {
        Box: Box(polygons.bounds(points)),
        Points: Points(points),
        Faces: Faces(corners),
        VertexMapRefs: VertexMapRefs(refs),
        SurfacesOfFaces: SurfacesOfFaces(
            [
                SurfaceFaces(name, np.flatnonzero(geometry.surface == number).astype(np.int32))
                for number, name in enumerate(geometry.surfaces)
                if (geometry.surface == number).any()
            ]
        ),
        VertexMaps: VertexMaps(maps),
    }
    if geometry.smoothing is not None:
        result[Smoothing] = Smoothing(geometry.smoothing)
    if geometry.normals is not None:
        result[Normals] = Normals(geometry.normals)
    return result


def _uv_maps(geometry: Geometry) -> tuple[list[VertexMap], NDArray[np.int64]]:
    """Return the uv maps, and (corners, 2) the map and the entry of each corner."""
    point, uvs = geometry.point[geometry.corners].ravel(), geometry.uvs.reshape(-1, 2)
    bits = np.ascontiguousarray(uvs).view(np.int32).astype(np.int64)
    first = np.full(int(point.max()) + 1 if len(point) else 0, -1, np.int64)
    first[point[::-1]] = np.arange(len(point))[::-1]
    used = np.flatnonzero(first >= 0)
    entry = np.zeros(len(first), np.int64)
    entry[used] = np.arange(len(used))
    maps = [VertexMap(UV_MAP, UV, uvs[first[used]], 0, used.astype(np.int32))]
    ref = np.stack([np.zeros(len(point), np.int64), entry[point]], axis=1)
    others = np.flatnonzero((bits != bits[first[point]]).any(axis=1))
    if len(others):
        group = polygons.row_groups(np.concatenate([point[others, None], bits[others]], axis=1))
        last_corner = np.zeros(int(group.max()) + 1, np.int64)
        last_corner[group] = others  # the last one stays, as in the SDK's files
        maps.append(
            VertexMap(
                UV_MAP,
                UV,
                uvs[last_corner],
                1,
                point[last_corner].astype(np.int32),
                (last_corner // 3).astype(np.int32),
            )
        )
        ref[others] = np.stack([np.ones(len(others), np.int64), group], axis=1)
    return maps, ref


def _weight_refs(geometry: Geometry, maps: list[VertexMap]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Add weight maps to ``maps``; return (weights, 2) map and entry, sorted by vertex, and (vertices,) counts."""
    weights = geometry.weights
    counts = np.zeros(len(geometry.positions), np.int64)
    if weights is None or not len(weights.weights):
        return np.zeros((0, 2), np.int64), counts
    order = np.lexsort((weights.vertices, weights.groups))
    vertex, group, value = weights.vertices[order], weights.groups[order], weights.weights[order]
    starts = np.flatnonzero(np.append(True, np.diff(group) != 0))
    refs = np.zeros((len(order), 2), np.int64)
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(order)], strict=True):
        refs[start:end] = np.stack([np.full(end - start, len(maps)), np.arange(end - start)], axis=1)
        values, points = value[start:end].reshape(-1, 1), geometry.point[vertex[start:end]].astype(np.int32)
        maps.append(VertexMap(geometry.groups[int(group[start])], WEIGHT, values.astype(np.float32), 0, points))
    counts += np.bincount(vertex, minlength=len(counts))
    if int(counts.max()) >= MOST_VMREF_ENTRIES:
        words = "a vertex has {:# weight|# weights}, the file holds {}"
        raise WriteError(say(words, int(counts.max()), MOST_VMREF_ENTRIES - 1), remedy="Limit its total weights")
    return refs[np.lexsort((group, vertex))], counts


def _vmref_rows(
    first: NDArray[np.int64], vertex: NDArray[np.int64], rows: NDArray[np.int64], counts: NDArray[np.int64]
) -> RowGroups:
    """Return the rows of each vmref: its uv entry ``first`` (vmrefs, 2), then the weights of its ``vertex``.

    ``vertex`` is (vmrefs,); ``rows`` and ``counts`` are the results of `_weight_refs`.
    """
    begins = np.cumsum(counts) - counts
    sizes = counts[vertex] + 1
    starts = np.cumsum(sizes) - sizes
    result = np.zeros((int(sizes.sum()), 2), np.int32)
    result[starts] = first
    within = np.arange(len(result)) - np.repeat(starts, sizes)
    source = np.repeat(begins[vertex], sizes) + within - 1
    result[within > 0] = rows[source[within > 0]]
    return RowGroups(sizes.astype(np.uint8), result)


# Edited meshes --------------------------------------------------------------------------------------------------------

Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]
Groups = NDArray[np.uint32]

_GEOMETRY_TYPES = (Points, Faces, Smoothing, Normals, VertexMapRefs, SurfacesOfFaces, VertexMaps, Box)


@dataclass
class _Compared:
    """What was edited in a mesh that has the faces of the import.

    ``imported`` is the imported mesh; ``positions`` are the new ones, with the bits of the import where unedited. Masks
    of edited elements: ``moved`` and ``weights`` (vertices,), ``uvs`` and ``normals`` (corners,), ``surfaces``
    (faces,); ``sharp_edges``: whether sharp edges changed.
    """

    imported: PolygonMesh
    positions: NDArray[np.float32]
    moved: Flags
    uvs: Flags
    normals: Flags
    weights: Flags
    surfaces: Flags
    sharp_edges: bool

    def changes(self) -> Changes:
        """Return the edits in words."""
        changes = Changes()
        changes.count(self.moved, "{:# vertex|# vertices}")
        changes.count(self.uvs, TEXTURE_COORDINATES)
        changes.count(self.normals, NORMALS)
        changes.count(self.weights, "{:# vertex with other weights|# vertices with other weights}")
        changes.count(self.surfaces, "{:# face with another surface|# faces with another surface}")
        if self.sharp_edges:
            changes.note(say("sharp edges"))
        return changes


def encode_mesh(mesh: PolygonMesh, base: Mesh, model: Model, report: Report) -> tuple[Mesh, Changes]:
    """Return the mesh ``base`` of ``model`` with the edits of ``mesh``, and what changed.

    Without edits the result is ``base`` itself. ``mesh`` has triangles, vertex groups named after bones, and materials
    named after surfaces. Raises `WriteError` for NaN or infinite values in edited vertices, and for a vertex with too
    many weights.
    """
    own_report = Report()
    imported = decode_mesh(base, model, own_report)
    if not _same_faces(mesh, imported):
        if np.isfinite(imported.positions).all():
            _refuse_not_finite(mesh, mesh.positions)
        geometry = _geometry(mesh, base, model, report)
        changes = Changes()
        changes.note(say("faces {} -> {}", len(imported.counts), len(mesh.counts)))
        return _with_smoothing(
            _with_values(base, chunk_values(geometry), _GEOMETRY_TYPES), mesh, base, geometry, report
        ), changes
    compared = _compare(mesh, imported, rule_of(base))
    changes = compared.changes()
    if not changes:
        return base, changes
    _refuse_not_finite(mesh, compared.positions[compared.moved])
    faces = base.first(Faces)
    whole = faces is not None and len(faces.corners) == len(imported.counts)
    if not whole or compared.uvs.any() or compared.weights.any() or _splits_points(mesh, compared, base):
        return _with_new_vertex_maps(mesh, compared, base, model, report), changes
    return _edited(mesh, compared, base, report), changes


def encode_new_mesh(mesh: PolygonMesh, model: Model, rule: Rule, report: Report) -> Mesh:
    """Return a new mesh with its sharp edges stored by ``rule``, or with its normals as they are (`Rule.NORMALS`).

    Raises `WriteError` for NaN or infinite values, and for a vertex with too many weights.
    """
    _refuse_not_finite(mesh, mesh.positions)
    geometry = _geometry(mesh, None, model, report)
    if rule is Rule.NORMALS and mesh.corner_normals is not None:
        geometry.normals = _xray_vectors(mesh.corner_normals)
        return new_mesh(names.encode(mesh.name), geometry)
    new = new_mesh(names.encode(mesh.name), geometry)
    old = np.full(len(geometry.corners), 0 if rule is Rule.EDGES else FLAT, np.uint32)
    corners = geometry.point[geometry.corners]
    return _with_sharp_edges(new, rule, (corners, geometry.point[_pairs(mesh)]), old, report)


def _refuse_not_finite(mesh: PolygonMesh, positions: NDArray[np.float32]) -> None:
    message = say("a vertex of {!r} holds NaN or infinite values", mesh.name)
    rebase.refuse_not_finite(message, "Correct or delete it", positions)


def _same_faces(mesh: PolygonMesh, imported: PolygonMesh) -> bool:
    return (
        len(mesh.positions) == len(imported.positions)
        and (mesh.uvs is None) == (imported.uvs is None)
        and np.array_equal(mesh.corners, imported.corners)
    )


# ---- finding edits


def _compare(mesh: PolygonMesh, imported: PolygonMesh, rule: Rule) -> _Compared:
    positions, moved = rebase.restore_unedited(mesh.positions, imported.positions)
    corners = len(mesh.corners)
    uvs = np.zeros(corners, np.bool_)
    if mesh.uvs is not None and imported.uvs is not None:
        uvs = rebase.restore_unedited(mesh.uvs, imported.uvs)[1]
    normals = np.zeros(corners, np.bool_)
    if rule is Rule.NORMALS and mesh.corner_normals is not None and imported.corner_normals is not None:
        imported_normals = np.where(
            np.isfinite(imported.corner_normals).all(axis=1, keepdims=True), imported.corner_normals, np.float32(0)
        )
        normals = rebase.restore_unedited(mesh.corner_normals, imported_normals)[1]
    new_surface, old_surface = (_surface_of_faces(side) for side in (mesh, imported))
    vertices = mesh.corners.reshape(-1, 3).astype(np.int64)
    sharp_now, sharp_then = (sides_of(vertices, _pairs(side)) for side in (mesh, imported))
    return _Compared(
        imported,
        positions,
        moved,
        uvs,
        normals,
        _weights_differ(mesh, imported),
        new_surface != old_surface,
        bool((sharp_now != sharp_then).any()),
    )


def _pairs(mesh: PolygonMesh) -> Indices:
    return np.zeros((0, 2), np.int64) if mesh.sharp_edges is None else mesh.sharp_edges.astype(np.int64)


def _surface_of_faces(mesh: PolygonMesh) -> NDArray[np.str_]:
    """Return (faces,) the name of each face's surface in lower case."""
    if not mesh.materials or mesh.material_index is None:
        return np.full(len(mesh.counts), "")
    listed = np.array([material.name.lower() for material in mesh.materials])
    return listed[np.clip(mesh.material_index, 0, len(listed) - 1)]


def _weights_differ(mesh: PolygonMesh, imported: PolygonMesh) -> Flags:
    """Return (vertices,): whether the weights of a vertex changed. Blender holds weights from 0 to 1."""
    result = np.zeros(len(mesh.positions), np.bool_)
    labels = {label: number for number, label in reversed(list(enumerate(imported.groups)))}
    own = [labels.setdefault(label, len(labels)) for label in mesh.groups]
    known = [labels[label] for label in imported.groups]
    new, old = _weight_keys(mesh.weights, own, len(labels)), _weight_keys(imported.weights, known, len(labels))
    for first, other in ((new, old), (old, new)):
        only_in_one = first[0][~np.isin(first[0], other[0])]
        result[only_in_one // max(len(labels), 1)] = True
    _, new_index, old_index = np.intersect1d(new[0], old[0], return_indices=True)
    differ = rebase.restore_unedited(new[1][new_index, None], np.clip(old[1], 0, 1)[old_index, None])[1]
    result[new[0][new_index[differ]] // max(len(labels), 1)] = True
    return result


def _weight_keys(
    weights: VertexWeights | None, group: Sequence[int], groups: int
) -> tuple[Indices, NDArray[np.float32]]:
    """Return (weights,) vertex and group as one number, and the weights."""
    if weights is None or not len(weights.weights):
        return np.zeros(0, np.int64), np.zeros(0, np.float32)
    return weights.vertices.astype(np.int64) * groups + np.array(group, np.int64)[weights.groups], weights.weights


def _points_of(mesh: PolygonMesh) -> Indices:
    """Return (vertices,) the file's point of each vertex, by the attribute of the import."""
    stored = mesh.values(POINT, Domain.VERTEX)
    return np.arange(len(mesh.positions)) if stored is None else stored.astype(np.int64)


def _splits_points(mesh: PolygonMesh, compared: _Compared, base: Mesh) -> bool:
    """Return whether vertices of one point no longer have the same position."""
    point, points = _points_of(mesh), base.first(Points)
    if points is None or len(point) <= len(points.positions):
        return False
    return bool(
        (compared.positions != compared.positions[point]).any(axis=1)[compared.moved | compared.moved[point]].any()
    )


# ---- edits that keep the imported faces


def _edited(mesh: PolygonMesh, compared: _Compared, base: Mesh, report: Report) -> Mesh:
    values: dict[type, Any] = {}
    points, faces = base.first(Points), base.first(Faces)
    if points is None or faces is None:
        return base
    if compared.moved.any():
        count = len(points.positions)
        positions = np.where(
            compared.moved[:count, None], space.xray_points(compared.positions[:count]), points.positions
        ).astype(np.float32)
        values[Points] = Points(positions, points.faces)
        values[Box] = Box(polygons.bounds(positions))
    stored = base.first(Normals)
    if compared.normals.any() and stored is not None and mesh.corner_normals is not None:
        values[Normals] = Normals(_merged_corners(_xray_vectors(mesh.corner_normals), compared.normals, stored.normals))
    if compared.surfaces.any():
        values[SurfacesOfFaces] = SurfacesOfFaces(_surface_faces(mesh, base))
    result = _with_values(base, values, ())
    if not compared.sharp_edges:
        return result
    corners = faces.corners[:, :, 0].astype(np.int64)
    sharp = _points_of(mesh)[_pairs(mesh)]
    return _with_sharp_edges(result, rule_of_groups(base), (corners, sharp), groups_of(base), report)


def _xray_vectors(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return (faces, 3, 3) vectors of corners in X-Ray's axes and order of corners."""
    result: NDArray[np.float32] = space.xray_points(vectors).reshape(-1, 3, 3)[:, [0, 2, 1]]
    return result


def _merged_corners(corners: NDArray[np.float32], changed: Flags, old: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return values of corners (faces, 3, ...): ``corners`` where ``changed``, else ``old``.

    ``changed`` is in Blender's order of corners, the values are in X-Ray's.
    """
    result: NDArray[np.float32] = np.where(changed.reshape(-1, 3)[:, [0, 2, 1], None], corners, old).astype(np.float32)
    return result


def _surface_faces(mesh: PolygonMesh, base: Mesh | None) -> list[SurfaceFaces]:
    """Return the faces of each surface, surfaces of the import first, in their order."""
    listed = base.first(SurfacesOfFaces) if base is not None else None
    known = {entry.label.lower(): entry.surface for entry in (listed.surfaces if listed is not None else ())}
    for material in mesh.materials:
        known.setdefault(material.name.lower(), names.encode(material.name))
    index = _surface_of_faces(mesh)
    groups = [SurfaceFaces(name, np.flatnonzero(index == key).astype(np.int32)) for key, name in known.items()]
    return [entry for entry in groups if len(entry.faces)]


def _with_new_vertex_maps(mesh: PolygonMesh, compared: _Compared, base: Mesh, model: Model, report: Report) -> Mesh:
    """Return the mesh with new vertex maps and vmrefs; values that are not edited keep the bits of the import."""
    geometry = _geometry(mesh, base, model, report)
    points, faces, refs = base.first(Points), base.first(Faces), base.first(VertexMapRefs)
    if points is None or faces is None or refs is None or len(faces.corners) != len(geometry.corners):
        result = _with_values(base, chunk_values(geometry), _GEOMETRY_TYPES)
        return _with_smoothing(result, mesh, base, geometry, report)
    same = ~compared.moved & (_points_of(mesh) < len(points.positions))
    geometry.positions[same] = points.positions[_points_of(mesh)[same]]
    uvs = vmref_values(base, refs, group_of_map(base, model), Report())[0]
    geometry.uvs = _merged_corners(geometry.uvs, compared.uvs, uvs[faces.corners[:, :, 1]])
    geometry.weights = _joined_weights(geometry, compared.imported, compared.weights, _weight_maps(model))
    stored = base.first(Normals)
    if geometry.normals is not None and stored is not None:
        geometry.normals = _merged_corners(geometry.normals, compared.normals, stored.normals)
    values = chunk_values(geometry)
    if not compared.surfaces.any():
        del values[SurfacesOfFaces]
    if not compared.moved.any() and len(values[Points].positions) == len(points.positions):
        del values[Points], values[Box]
    result = _with_values(base, values, (VertexMaps,))
    if not compared.sharp_edges:
        return result
    return _with_smoothing(result, mesh, base, geometry, report)


def _joined_weights(
    geometry: Geometry, imported: PolygonMesh, changed: Flags, maps: dict[str, bytes]
) -> VertexWeights | None:
    """Return the weights of ``geometry`` for ``changed`` vertices, those of the import for the others.

    Adds the groups of the import to ``geometry.groups``.
    """
    new, old = geometry.weights, imported.weights
    if old is None:
        return new
    named = [maps.get(label, names.encode(label)) for label in imported.groups]
    groups = [*geometry.groups, *(name for name in dict.fromkeys(named) if name not in geometry.groups)]
    geometry.groups = groups
    of_group = np.array([groups.index(name) for name in named], np.int32)
    unedited = ~changed[old.vertices]
    parts = [VertexWeights(old.vertices[unedited], of_group[old.groups[unedited]], old.weights[unedited])]
    if new is not None:
        edited = changed[new.vertices]
        parts.append(VertexWeights(new.vertices[edited], new.groups[edited], new.weights[edited]))
    return VertexWeights(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in ("vertices", "groups", "weights"))
    )


# ---- geometry from any mesh


def _weight_maps(model: Model) -> dict[str, bytes]:
    """Return the name of each bone's weight map by the name of the bone."""
    return {bone.name: names.encode(bone.weight_map or bone.name) for bone in reversed(model.bones)}


def _geometry(mesh: PolygonMesh, base: Mesh | None, model: Model, report: Report) -> Geometry:
    """Return the whole mesh in X-Ray's axes; vertices of one imported point with the same position become one point."""
    if mesh.uvs is None:
        report.warn(say("{:# mesh has|# meshes have} no UV map: texture coordinates are 0", 1), mesh.name)
    corners = space.xray_triangles(mesh.corners.reshape(-1, 3).astype(np.int64))
    uvs = np.zeros((len(mesh.corners), 2), np.float32) if mesh.uvs is None else space.xray_uvs(mesh.uvs)
    entries = _surface_faces(mesh, base)
    surface = np.full(len(corners), -1, np.int64)
    for number, entry in enumerate(entries):
        surface[entry.faces] = number
    maps = _weight_maps(model)
    geometry = Geometry(
        space.xray_points(mesh.positions).astype(np.float32),
        _file_points(mesh),
        corners,
        uvs.reshape(-1, 3, 2)[:, [0, 2, 1]],
        surface,
        [entry.surface for entry in entries],
        groups=[maps.get(label, names.encode(label)) for label in mesh.groups],
        weights=mesh.weights,
    )
    if base is not None and rule_of(base) is Rule.NORMALS and mesh.corner_normals is not None:
        geometry.normals = _xray_vectors(mesh.corner_normals)
    return geometry


def _file_points(mesh: PolygonMesh) -> Indices:
    """Return (vertices,) the point of each vertex; points are numbered in the order of their first vertex."""
    stored = mesh.values(POINT, Domain.VERTEX)
    if stored is None:
        return np.arange(len(mesh.positions))
    bits = np.ascontiguousarray(mesh.positions + np.float32(0)).view(np.int32)
    group = polygons.row_groups(np.concatenate([stored.astype(np.int64)[:, None], bits], axis=1))
    first = np.full(int(group.max()) + 1 if len(group) else 0, len(group), np.int64)
    np.minimum.at(first, group, np.arange(len(group)))
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[group]


def _with_smoothing(own_mesh: Mesh, mesh: PolygonMesh, base: Mesh, geometry: Geometry, report: Report) -> Mesh:
    old = mesh.values(SMOOTHING, Domain.FACE)
    groups = np.full(len(geometry.corners), 0, np.uint32) if old is None else old.astype(np.int32).view(np.uint32)
    corners = geometry.point[geometry.corners]
    return _with_sharp_edges(own_mesh, rule_of_groups(base), (corners, geometry.point[_pairs(mesh)]), groups, report)


def _with_sharp_edges(mesh: Mesh, rule: Rule, points: tuple[Indices, Indices], old: Groups, report: Report) -> Mesh:
    """Return the mesh with its sharp edges stored by ``rule``; reports what that cannot store.

    ``points`` of the corners of faces (faces, 3), and of the sharp edges (edges, 2). ``old`` (faces,) numbers are kept
    where they already express it.
    """
    groups, lost = smoothing_numbers(rule, points[0], sides_of(*points), old)
    if rule is Rule.MASKS:
        report.warn("smoothing masks are written as smoothing groups", mesh.label)
        flags = mesh.first(MeshFlags)
        mesh = mesh if flags is None else mesh.replaced(flags, replace(flags, flags=flags.flags & ~MASKS))
    if lost:
        words = (
            "{0:# sharp edge ends|# sharp edges end} inside a smooth surface, which groups cannot store; {0:it "
            "becomes|they become} smooth"
        )
        report.warn(say(words, lost), mesh.label)
    return _with_values(mesh, {Smoothing: Smoothing(groups)}, ())


def _with_values(base: Mesh, values: dict[type, Any], dropped: Sequence[type]) -> Mesh:
    """Return the chunks of ``base`` with other ``values``.

    Chunks of types in ``dropped`` without a new value are removed, and so are vertex maps of older layouts if there are
    new ones; values of new types are appended.
    """
    old_maps = [maps for maps in base.all(VertexMaps) if maps.layout != MAPS] if VertexMaps in dropped else []
    result = base.mapped(old_maps, [None] * len(old_maps)).without(*(kind for kind in dropped if kind not in values))
    for kind, number in CHUNK_IDS.items():
        if kind in values:
            result = result.with_value(number, values[kind])
    return result
