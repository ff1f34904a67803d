"""Decode an object of the editor into meshes and a skeleton in Blender's axes, and make new bones for an object.

A vertex of the mesh is a point of the file, with the same index. Points whose corners have different weights, and the
corners of faces that Blender cannot hold (two faces on the same points, a face with a point twice), get additional
vertices after them; the attribute `POINT` stores the point of each vertex.

New bones consist of the chunks that the SDK writes, in the order in which editors list bones after loading.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import names, polygons, space
from ....core.errors import ReadError
from ....core.model import Attribute, Domain, Material, PolygonMesh, Skeleton, VertexWeights, parents_first
from ....core.records import Record
from ....core.report import Report, say
from ..bones import Bone, Bones, Naming, Placement, Version, new_bone
from ..ogf.chunk_types import IkBone
from .document import Mesh, Model
from .mesh_chunks import FLAT, UV, WEIGHT, Faces, Points, SurfacesOfFaces, VertexMapRefs
from .smoothing import BACK_FACE, Rule, Sides, groups_of, hard_sides, rule_of, shared_normals

Indices = NDArray[np.int64]

POINT, SMOOTHING = "object_point", "object_smoothing"
"""Names of attributes: the point of each vertex; the smoothing number of each face, its bits as a signed integer."""
MOST_COMPARED_WEIGHTS = 8
"""Weights per vmref up to which equal vmrefs are found. If one has more, each vmref at a point gets its own vertex."""
NORMAL_TOLERANCE = 1e-3


def decode_mesh(mesh: Mesh, model: Model, report: Report) -> PolygonMesh:
    """Return a mesh with uv per corner, the normals that the editor shows, and vertex groups.

    There is a group for each bone and for each weight map that belongs to none. Faces that refer to missing points or
    vmrefs are left out and reported.
    """
    points, faces, refs = mesh.first(Points), mesh.first(Faces), mesh.first(VertexMapRefs)
    positions = points.positions if points is not None else np.zeros((0, 3), np.float32)
    corners = faces.corners if faces is not None else np.zeros((0, 3, 2), np.uint32)
    point, vmref = (corners[:, :, column].astype(np.int64) for column in range(2))
    total = len(refs.refs.counts) if refs is not None else 0
    intact: NDArray[np.bool_] = np.ones(len(corners), np.bool_)
    if point.max(initial=-1) >= len(positions) or vmref.max(initial=-1) >= total:
        intact = np.all(np.logical_and(point < len(positions), vmref < total), axis=1)
    lost = int((~intact).sum())
    if lost:
        report.warn(say("{:# face refers|# faces refer} to missing vertices; left out", lost), mesh.label)
        point, vmref = point[intact], vmref[intact]
    groups = group_of_map(mesh, model)
    uvs, weights = vmref_values(mesh, refs, groups, report)
    vertex, source, vmref_of_vertex = _vertices(point, vmref, weights, len(positions))
    index, surfaces = _surfaces(mesh, len(intact), report)
    result = PolygonMesh(
        mesh.label,
        space.xray_points(positions[source]),
        np.full(len(vertex), 3, np.int32),
        space.xray_triangles(vertex).ravel().astype(np.int32),
        _rows(space.xray_uvs(uvs), space.xray_triangles(vmref).ravel()) if total else None,
        materials=[_material(name, model) for name in surfaces],
        material_index=np.maximum(index[intact], 0).astype(np.int32) if surfaces else None,
        groups=_groups(mesh, model, groups),
        weights=_vertex_weights(weights, vmref_of_vertex),
    )
    result.attributes[SMOOTHING] = Attribute(Domain.FACE, groups_of(mesh)[intact].view(np.int32))
    if len(source) > len(positions):
        result.attributes[POINT] = Attribute(Domain.VERTEX, source.astype(np.int32))
    if not lost and len(vertex):
        sides = Sides(point)
        rule = rule_of(mesh, sides)
        normals, of_corners = shared_normals(mesh, rule, sides)
        own_points = space.xray_points(normals.astype(np.float32))
        result.corner_normals = own_points.take(space.xray_triangles(of_corners).ravel(), axis=0)
        sharp = _sharp_edges(mesh, rule, sides, normals)
        if len(source) == len(positions):
            # Vertices are points. Blender's faces are reversed, and so is the order of their sides.
            result.edges = sides.ends.astype(np.int32)
            result.corner_edges = sides.edge.reshape(-1, 3)[:, ::-1].astype(np.int32).ravel()
            result.sharp_edges = result.edges[sharp]
        else:
            chosen = np.flatnonzero(sharp[sides.edge])
            ends = [corners.ravel()[chosen] for corners in (vertex, np.roll(vertex, -1, axis=1))]
            result.sharp_edges = np.stack(ends, axis=1).astype(np.int32)
    return result


def _rows(pairs: NDArray[np.float32], chosen: Indices) -> NDArray[np.float32]:
    """Return (chosen, 2) these rows of ``pairs`` (n, 2), taken as 64-bit numbers, which needs a third of the time."""
    return pairs.view(np.int64).ravel().take(chosen).view(np.float32).reshape(-1, 2)


def _material(name: str, model: Model) -> Material:
    surface = next((own_surface for own_surface in model.surfaces if names.same(own_surface.label, name)), None)
    return Material(name, names.decode(surface.texture), names.decode(surface.shader)) if surface else Material(name)


def _surfaces(mesh: Mesh, faces: int, report: Report) -> tuple[Indices, list[str]]:
    """Return (faces,) the index of each face's surface, -1 for none, and the surfaces' names."""
    listed = mesh.first(SurfacesOfFaces)
    index = np.full(faces, -1, np.int64)
    entries = listed.surfaces if listed is not None else []
    for number, entry in enumerate(entries):
        index[entry.faces[(entry.faces >= 0) & (entry.faces < faces)]] = number
    if (index < 0).any():
        report.warn(say("{:# face has|# faces have} no surface", int((index < 0).sum())), mesh.label)
    return index, [entry.label for entry in entries]


def vmref_values(
    mesh: Mesh, refs: VertexMapRefs | None, groups: Sequence[int], report: Report
) -> tuple[NDArray[np.float32], VertexWeights]:
    """Return the first texture coordinate (vmrefs, 2) of each vmref, and the weights of vmrefs.

    The ``vertices`` of the weights are vmrefs. ``groups`` (maps,) is the result of `group_of_map`.
    """
    vertex_weights = VertexWeights(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.float32))
    if refs is None:
        return np.zeros((0, 2), np.float32), vertex_weights
    maps = mesh.maps.maps
    owner = np.repeat(np.arange(len(refs.refs.counts)), refs.refs.counts)
    number, entry = np.ascontiguousarray(refs.refs.rows.T, np.int64)
    sizes = np.array([*(len(vertex_map.values) for vertex_map in maps), 0])
    exists = (number >= 0) & (number < len(maps))
    exists &= (entry >= 0) & (entry < sizes[np.where(exists, number, -1)])
    if not exists.all():
        report.warn("vertices refer to weights or texture coordinates that do not exist; ignored", mesh.label)
        owner, number, entry = owner[exists], number[exists], entry[exists]
    # The values of all maps concatenated, and the offset of each entry.
    values = np.concatenate([np.zeros(0, np.float32), *(vertex_map.values.ravel() for vertex_map in maps)])
    widths = np.array([vertex_map.values.shape[1] for vertex_map in maps], np.int64)
    value_offset = np.cumsum(np.append(0, sizes[:-1] * widths))[number] + widths[number] * entry
    kind = np.array([vertex_map.type for vertex_map in maps], np.int64)[number]
    uvs = np.zeros((len(refs.refs.counts), 2), np.float32)
    textured = np.flatnonzero(kind == UV)[::-1]  # backwards, because the last value assigned stays: the first entry
    for column in range(2):
        wide = textured[widths[number[textured]] > column]
        uvs[owner[wide], column] = values[value_offset[wide] + column]
    weighing = np.flatnonzero(kind == WEIGHT)
    group = np.array(groups, np.int64)[number[weighing]]
    order, differs = polygons.row_order(np.stack([owner[weighing], group]).T)
    ordered = weighing[order]
    total = values[value_offset[ordered]]
    if not differs[1:].all():
        # Several weights for one bone are added up: Blender stores one per group.
        key, first = np.cumsum(differs), np.flatnonzero(np.append(True, differs[1:]))
        summed = np.bincount(key, total).astype(np.float32)
        total = np.where(np.bincount(key) == 1, total[first], summed)
        order, ordered = order[first], ordered[first]
    return uvs, VertexWeights(owner[ordered].astype(np.int32), group[order].astype(np.int32), total)


def _groups(mesh: Mesh, model: Model, group_of_each_map: Sequence[int]) -> list[str]:
    """Return the names of vertex groups: the bones in the file's order, then weight maps that belong to no bone."""
    bones = [bone.name for bone in model.bones]
    more = {
        group: vertex_map.label
        for group, vertex_map in zip(group_of_each_map, mesh.maps.maps, strict=True)
        if group >= len(bones)
    }
    return bones + [more[group] for group in sorted(more)]


def group_of_map(mesh: Mesh, model: Model) -> list[int]:
    """Return the vertex group of each vertex map, -1 for uv maps. Weight maps belong to bones by name, with case."""
    known = {bone.weight_map or bone.name: number for number, bone in reversed(list(enumerate(model.bones)))}
    more: dict[str, int] = {}
    result = []
    for vertex_map in mesh.maps.maps:
        if vertex_map.type != WEIGHT:
            result.append(-1)
        elif vertex_map.label in known:
            result.append(known[vertex_map.label])
        else:
            result.append(more.setdefault(vertex_map.label, len(model.bones) + len(more)))
    return result


def _vertices(point: Indices, vmref: Indices, weights: VertexWeights, points: int) -> tuple[Indices, Indices, Indices]:
    """Return (faces, 3) vertices, (vertices,) the point of each, and (vertices,) one of its vmrefs, -1 for none."""
    table = _weight_table(weights, int(vmref.max()) + 1 if len(vmref) else 0)
    flat, ref = point.ravel(), vmref.ravel()
    first = np.full(points, -1, np.int64)
    # Assigned backwards, because the last value of a point stays: its first corner.
    first[flat[::-1]] = np.arange(len(flat))[::-1]
    vertex = flat.copy()
    vmref_of_point = ref[first] if len(ref) else first
    other = np.flatnonzero(ref != vmref_of_point[flat])
    weights_here, weights_of_point = table.take(ref[other], axis=0), table.take(vmref_of_point[flat[other]], axis=0)
    differs = np.flatnonzero((weights_here != weights_of_point).any(axis=1))
    other, weights_here = other[differs], weights_here[differs]
    group = polygons.row_groups(np.concatenate([flat[other, None], weights_here], axis=1))
    vertex[other] = points + group
    first_of_group = np.zeros(int(group.max()) + 1 if len(group) else 0, np.int64)
    first_of_group[group] = other
    corner_of_vertex = np.concatenate([first, first_of_group])
    corners = vertex.reshape(-1, 3)
    a, b, c = corners.T
    separate = np.zeros(corners.shape, np.bool_)
    separate[:, 1] |= a == b
    separate[:, 2] |= (a == c) | (b == c)
    separate[polygons.repeated(corners)] = True
    isolated = np.flatnonzero(separate.ravel())
    vertex[isolated] = len(corner_of_vertex) + np.arange(len(isolated))
    corner_of_vertex = np.concatenate([corner_of_vertex, isolated])
    source = np.arange(len(corner_of_vertex))
    source[points:] = flat[corner_of_vertex[points:]]
    vmref_of_vertex = np.where(corner_of_vertex >= 0, ref[corner_of_vertex] if len(flat) else -1, -1)
    return vertex.reshape(-1, 3), source, vmref_of_vertex


def _weight_table(weights: VertexWeights, vmrefs: int) -> Indices:
    """Return (vmrefs, columns) integers, with equal rows for vmrefs with the same weights."""
    counts = np.bincount(weights.vertices, minlength=vmrefs)
    if not len(weights.weights):
        return np.zeros((max(vmrefs, len(counts)), 1), np.int64)
    if int(counts.max()) > MOST_COMPARED_WEIGHTS:
        return np.arange(len(counts))[:, None]
    within = np.arange(len(weights.vertices)) - np.repeat(np.cumsum(counts) - counts, counts)
    table = np.full((len(counts), 2 * int(counts.max())), -1, np.int64)
    table[weights.vertices, 2 * within] = weights.groups
    table[weights.vertices, 2 * within + 1] = weights.weights.view(np.int32)
    return table


def _vertex_weights(weights: VertexWeights, vmref_of_vertex: Indices) -> VertexWeights | None:
    """Return the weights of vertices; ``vmref_of_vertex`` (vertices,) is a vmref with the weights of each, or -1."""
    if not len(weights.weights):
        return None
    top = int(max(weights.vertices.max(), vmref_of_vertex.max(initial=0))) + 1
    counts = np.bincount(weights.vertices, minlength=top)
    starts = np.cumsum(counts) - counts
    used = np.flatnonzero(vmref_of_vertex >= 0)
    number = counts[vmref_of_vertex[used]]
    within = np.arange(int(number.sum())) - np.repeat(np.cumsum(number) - number, number)
    rows = np.repeat(starts[vmref_of_vertex[used]], number) + within
    return VertexWeights(np.repeat(used, number).astype(np.int32), weights.groups[rows], weights.weights[rows])


def _sharp_edges(mesh: Mesh, rule: Rule, sides: Sides, normals: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return (edges,): which edges of ``sides`` are not smooth by the mesh's rule."""
    groups = groups_of(mesh).astype(np.int64)
    first, edge, side, neighbour = sides.first, sides.edge, sides.side, sides.neighbour
    value = np.repeat(groups, 3)
    sharp = np.zeros(len(sides.ends), np.bool_)
    if rule is Rule.NORMALS:
        start_normal, end_normal = normals, np.roll(normals.reshape(-1, 3, 3), -1, axis=1).reshape(-1, 3)
        same = (first[side] == first[neighbour])[:, None]
        separate = (
            np.abs(start_normal[side] - np.where(same, start_normal[neighbour], end_normal[neighbour])).max(axis=1)
            > NORMAL_TOLERANCE
        )
        separate |= (
            np.abs(end_normal[side] - np.where(same, end_normal[neighbour], start_normal[neighbour])).max(axis=1)
            > NORMAL_TOLERANCE
        )
    elif rule is Rule.EDGES:
        sharp[edge[hard_sides(groups.astype(np.uint32)).ravel()]] = True
        separate = ((value[side] ^ value[neighbour]) & BACK_FACE) != 0
    elif rule is Rule.GROUPS:
        sharp[edge[value == FLAT]] = True
        separate = value[side] != value[neighbour]
    else:
        sharp[edge[value == 0]] = True
        separate = (value[side] & value[neighbour]) == 0
    sharp[edge[side[separate]]] = True
    return sharp


@np.errstate(invalid="ignore")  # infinite angles and signalling NaNs of broken files
def decode_skeleton(model: Model, name: str) -> Skeleton | None:
    """Return the bones in the file's order, None if there are none. Raises `ReadError` if parents form a cycle."""
    bones = model.bones
    if not bones:
        return None
    labels = [bone.name for bone in bones]
    number_of = {label.lower(): number for number, label in reversed(list(enumerate(labels)))}
    parent_names = [bone.parent for bone in bones]
    parents = np.array([number_of.get(label.lower(), -1) if label else -1 for label in parent_names], np.int32)
    try:
        parents_first(parents)
    except ValueError:
        raise ReadError("the parents of the bones form a cycle", file=name, remedy="Repair it in the editor") from None
    placements = [_placement(bone) for bone in bones]
    return Skeleton(
        name,
        labels,
        parents,
        space.xray_bone_angles(np.array([angles for _, angles in placements])),
        space.xray_bone_translations(np.array([offset for offset, _ in placements])),
        space.XRAY_ROOT_FRAME,
    )


def _placement(bone: Bone) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    placement, version = bone.first(Placement), bone.first(Version)
    if placement is None:
        return np.zeros(3), np.zeros(3)
    angles = placement.rotation.astype(np.float64)
    if version is not None and version.number == 1:
        angles = angles[[1, 0, 2]]
    return placement.offset.astype(np.float64), angles


# New bones ------------------------------------------------------------------------------------------------------------

NEW_BONE_LENGTH = np.float32(0.1)
"""Length of a new bone in metres; it only affects how editors draw the bone."""


def new_object_bone(name: str, parent: str, offset: NDArray[Any], angles: NDArray[Any], entry: IkBone) -> Bone:
    """Return a new bone whose weight map has the name of the bone.

    ``offset`` (3,) and ``angles`` (3,) are relative to the parent, as in `Placement`. The SDK writes the name twice:
    with parent and weight map, and alone.
    """
    label = names.encode(name)
    head: list[tuple[int, Record]] = [
        (1, Version(2)),
        (2, Naming([label, names.encode(parent), label])),
        (3, Placement(offset.astype(np.float32), angles.astype(np.float32), NEW_BONE_LENGTH)),
    ]
    return Bone([*Bone.of(head).sections, *new_bone(name, entry).sections])


def in_editor_order(bones: Sequence[Bone]) -> list[Bone]:
    """Return the bones depth first from the roots, siblings by name; bones in a cycle of parents come last."""
    children: dict[str, list[Bone]] = {}
    known = {bone.name.lower() for bone in bones}
    for bone in sorted(bones, key=lambda bone_entry: names.encode(bone_entry.name.lower())):
        parent = bone.parent.lower()
        children.setdefault(parent if parent in known else "", []).append(bone)
    ordered: list[Bone] = []
    waiting = children.pop("", [])[::-1]
    while waiting:
        bone = waiting.pop()
        ordered.append(bone)
        waiting += children.pop(bone.name.lower(), [])[::-1]  # pop: only once, even if several bones share a name
    placed = set(map(id, ordered))
    return ordered + [bone for bone in bones if id(bone) not in placed]


def bones_chunk(bones: Sequence[Bone]) -> Bones:
    """Return the chunk of these bones, in their order."""
    return Bones.of(enumerate(bones))


def with_rest_pose(bone: Bone, offset: NDArray[Any], angles: NDArray[Any]) -> Bone:
    """Return the bone with another rest pose: ``offset`` (3,) and ``angles`` (3,) in the order of version 2."""
    version, old = bone.first(Version), bone.first(Placement)
    if version is not None and version.number == 1:
        angles = angles[[1, 0, 2]]
    placement = Placement(
        offset.astype(np.float32), angles.astype(np.float32), old.length if old is not None else NEW_BONE_LENGTH
    )
    return bone.with_value(3, placement)


def with_parent(bone: Bone, parent: str) -> Bone:
    """Return the bone with another parent."""
    old = bone.first(Naming)
    texts = list(old.texts) if old is not None else []
    label = names.encode(bone.name)
    return bone.with_value(2, Naming([label, names.encode(parent), *(texts[2:] or [label])]))


def with_missing_chunks(bone: Bone, entry: IkBone, kinds: Sequence[type]) -> Bone:
    """Return the bone with those chunks of ``entry`` added that it lacks and whose types are among ``kinds``."""
    present = {type(section.value) for section in bone.sections}
    sections = new_bone(bone.name, entry).sections
    return Bone(
        [
            *bone.sections,
            *(section for section in sections if type(section.value) in kinds and type(section.value) not in present),
        ],
        bone.tail,
    )
