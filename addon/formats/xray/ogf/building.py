"""Make a new model from plain arrays: children with vertices, chunks of bones, bounds.

As in the SDK: corners that agree in everything become one vertex, each pair of texture and shader becomes a child, the
vertex format is the smallest that holds the bones of a child's vertices, faces without extent and repeated faces are
left out. Unlike in the SDK, vertices closer than a millimetre are merged only on request, and texture coordinates are
not shifted by whole numbers. Source: the editor's ``ExportSkeleton.cpp`` and ``ExportObjectOGF.cpp``; the SDK's order
of faces comes from an optimiser and cannot be reproduced.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ....core import affine, names, polygons, space
from ....core.binary import not_finite
from ....core.errors import WriteError
from ....core.model import PolygonMesh
from ....core.report import Report, say
from . import surface
from .chunk_types import (
    LONG_FORMATS,
    SHORT_FORMATS,
    STATIC,
    VERTEX_FORMATS,
    BoneName,
    BoneNames,
    Header,
    IkBone,
    IkData,
    Indices,
    SlidingWindows,
    Texture,
    Vertices,
)
from .document import Children, Ogf, VisualType
from .mesh import bone_labels, mesh_parts
from .skeleton import decode_skeleton

Floats = NDArray[np.float64]

MOST_VERTICES = 65534
"""Largest number of vertices of a child in the SDK; further faces go into another child."""
MERGE_DISTANCE = 1e-3
"""Distance in metres, along every axis, within which the SDK merges vertices."""
SMALLEST_SIDE = 1e-5
"""Metres along every axis: a face with two corners closer than this is left out."""
NORMAL_STEP = 5e-4
"""Normals are rounded to this step when corners are compared."""
FEWEST_BOX_POINTS = 3
"""A bone with fewer vertices gets no box."""


@dataclass(frozen=True)
class Generation:
    """What an engine reads: ``formats`` by number of bones per vertex, and how motion references are stored."""

    formats: Mapping[int, int]
    references_as_list: bool

    @property
    def most_links(self) -> int:
        """The largest number of bones per vertex."""
        return max(self.formats)


SOC = Generation({links: LONG_FORMATS[links] for links in (1, 2)}, references_as_list=False)
"""Shadow of Chernobyl."""
COP = Generation(SHORT_FORMATS, references_as_list=True)
"""Clear Sky and Call of Pripyat."""


@dataclass
class Corners:
    """Triangles with all data of their corners, in X-Ray's axes, clockwise seen from outside.

    ``positions`` (vertices, 3) float32 metres; ``vertices`` (faces, 3) int64 indices; ``normals`` (faces, 3, 3) and
    ``uvs`` (faces, 3, 2) float32, v down; ``texture`` (faces,) index into a list of `Texture`; ``slots`` the bones of
    the vertices, None without a skeleton.
    """

    positions: NDArray[np.float32]
    vertices: NDArray[np.int64]
    normals: NDArray[np.float32]
    uvs: NDArray[np.float32]
    texture: NDArray[np.int64]
    slots: surface.Slots | None = None


# Geometry -----------------------------------------------------------------------------------------------------------


def make_children(
    corners: Corners, textures: Sequence[Texture], generation: Generation, report: Report, *, collapse: bool = False
) -> list[Ogf]:
    """Return a visual for each texture that faces use, several if it has too many vertices.

    ``collapse`` merges vertices within `MERGE_DISTANCE`, as the SDK does. Faces without extent and repeated faces are
    left out and reported.
    """
    if collapse:
        joined = polygons.weld(corners.positions, MERGE_DISTANCE)
        corners = replace(corners, positions=corners.positions[joined.source][joined.vertex])
    valid = _not_degenerate(corners)
    keys = _vertex_keys(corners)
    result: list[Ogf] = []
    lost, repeated = int((~valid).sum()), 0
    for number, texture in enumerate(textures):
        faces = np.flatnonzero(valid & (corners.texture == number))
        own = 3 * faces[:, None] + np.arange(3)
        triangles = own.ravel()[polygons.first_of_equal(keys[own.ravel()])].reshape(-1, 3)
        repeats = polygons.repeated(triangles)
        repeated += len(repeats)
        triangles = _split_at_creases(corners, np.delete(triangles, repeats, axis=0), np.delete(own, repeats, axis=0))
        result += [_child(corners, run, texture, generation) for run in _split_by_vertex_count(triangles)]
    if lost:
        report.warn(say("{:# face has|# faces have} no extent; left out", lost))
    if repeated:
        report.warn(say("{:# face is|# faces are} repeated; left out", repeated))
    return result


def _not_degenerate(corners: Corners) -> NDArray[np.bool_]:
    """Return (faces,): whether no two corners of a face are within `SMALLEST_SIDE` of each other."""
    positions = corners.positions[corners.vertices]
    sides = np.abs(positions - np.roll(positions, -1, axis=1)).max(axis=2)
    result: NDArray[np.bool_] = np.all(sides > SMALLEST_SIDE, axis=1)
    return result


def _vertex_keys(corners: Corners) -> NDArray[np.int32]:
    """Return (corners, columns) integers, equal for corners that become one vertex."""
    vertex = corners.vertices.ravel()
    uvs = corners.uvs.reshape(-1, 2)
    columns = [
        _bits(corners.positions[vertex]),
        _bits(uvs),
        np.rint(corners.normals.reshape(-1, 3) / NORMAL_STEP).astype(np.int32),
    ]
    if corners.slots is not None:
        columns.append(corners.slots.bones[vertex].astype(np.int32))
        columns.append(_bits(corners.slots.weights[vertex].astype(np.float32)))
    return np.concatenate(columns, axis=1)


def _bits(values: NDArray[np.float32]) -> NDArray[np.int32]:
    """Return the bits of the numbers as integers, with -0 changed to 0."""
    result: NDArray[np.int32] = np.ascontiguousarray(values + np.float32(0)).view(np.int32)
    return result


def _split_at_creases(corners: Corners, triangles: NDArray[np.int64], own: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return vertices (faces, 3) split at creases of the tangents.

    ``triangles`` and ``own`` are (faces, 3) corner indices: ``own`` of the faces themselves, ``triangles`` with one
    corner standing for all that become one vertex.
    """
    if corners.slots is None or not len(triangles):
        return triangles  # static vertices have no tangents
    positions, uvs = corners.positions[corners.vertices.ravel()], corners.uvs.reshape(-1, 2)
    split = np.where(surface.creased_corners(positions, uvs, triangles), own + 1, 0)
    first = polygons.first_of_equal(np.stack([triangles.ravel(), split.ravel()], axis=1))
    return own.ravel()[first].reshape(-1, 3)


def _split_by_vertex_count(triangles: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Yield consecutive parts of the triangles, each with at most `MOST_VERTICES` vertices."""
    while len(triangles):
        new = np.zeros(triangles.size, np.int64)
        new[np.unique(triangles.ravel(), return_index=True)[1]] = 1
        end = int(np.searchsorted(np.cumsum(new)[2::3], MOST_VERTICES, side="right"))
        yield triangles[:end]
        triangles = triangles[end:]


def _child(corners: Corners, triangles: NDArray[np.int64], texture: Texture, generation: Generation) -> Ogf:
    """Return a visual of ``triangles`` (faces, 3): corner indices, of which each distinct one becomes a vertex."""
    used, first, index = np.unique(triangles.ravel(), return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    corner, indices = used[order], rank[index.ravel()]
    vertex = corners.vertices.ravel()[corner]
    slots = corners.slots
    links = int(slots.links[vertex].max()) if slots is not None else 0
    number = generation.formats[links] if links else STATIC
    rows = np.zeros(len(corner), VERTEX_FORMATS[number])
    rows["position"] = corners.positions[vertex]
    rows["normal"] = corners.normals.reshape(-1, 3)[corner]
    rows["uv"] = corners.uvs.reshape(-1, 2)[corner]
    if slots is not None:
        child_slots = surface.Slots(slots.bones[vertex], slots.weights[vertex], slots.links[vertex], 0)
        surface.store(rows, np.ones(len(rows), np.bool_), child_slots)
        frames = surface.tangent_sums(rows["position"], rows["uv"], indices.reshape(-1, 3))
        rows["tangent"], rows["binormal"] = frames
    return Ogf.of(
        [
            (1, _header(VisualType.SKINNED_STRIP if links else VisualType.NORMAL, rows["position"])),
            (2, texture),
            (3, Vertices(number, rows)),
            (4, Indices(indices.astype("<u2"))),
        ]
    )


def _header(kind: int, points: NDArray[np.float32]) -> Header:
    hull = surface.bounds(points)
    return Header(4, kind, 0, hull.box, hull.sphere)


def header_around(kind: int, children: Sequence[Ogf]) -> Header:
    """Return the header of a model whose bounds enclose the vertices of ``children``."""
    chunks = [child.first(Vertices) for child in children]
    return _header(kind, np.concatenate([vertices.rows["position"] for vertices in chunks if vertices is not None]))


# Bones --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NewBone:
    """A bone with its physics and rest pose. Names are bytes as stored; ``parent`` is empty for the root."""

    name: bytes
    parent: bytes
    entry: IkBone


def bone_chunks(bones: Sequence[NewBone], corners: Corners) -> tuple[BoneNames, IkData]:
    """Return the chunk of names, each with a box around the bone's vertices, and the chunk of physics."""
    zero = np.zeros(3, np.float32)
    listed = BoneNames([BoneName(bone.name, bone.parent, np.eye(3, dtype=np.float32), zero, zero) for bone in bones])
    physics = IkData([bone.entry for bone in bones])
    for bone, points in zip(listed.bones, bone_points(listed, physics, corners), strict=True):
        if len(points) >= FEWEST_BOX_POINTS:
            bone.rotation, bone.centre, bone.half_size = oriented_box(points)
    return listed, physics


def bone_points(listed: BoneNames, physics: IkData, corners: Corners) -> list[Floats]:
    """Return for each bone the vertices (n, 3), in its space, on which it has the largest weight."""
    if corners.slots is None:
        return [np.zeros((0, 3)) for _ in listed.bones]
    skeleton = decode_skeleton(Ogf.of([(13, listed), (16, physics)]), Report())
    # From Blender's axes to the file's own: z is mirrored last.
    to_bone = affine.inverse(skeleton.rest_matrices() @ np.diag([1.0, 1.0, -1.0, 1.0]))
    used = np.unique(corners.vertices)
    positions = space.xray_points(corners.positions[used]).astype(np.float64)
    heaviest = corners.slots.bones[used, 0]
    result = []
    for bone, matrix in enumerate(to_bone):
        points = positions[heaviest == bone]
        result.append(points @ matrix[:3, :3].T + matrix[:3, 3])
    return result


def oriented_box(points: Floats) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """Return a box around points (n, 3): its axes as rows (3, 3), centre (3,), half size (3,), all float32.

    The box is aligned with the axes of the space or with the principal axes of the points, whichever is smaller.
    """
    spread = points - points.mean(axis=0)
    axes = np.linalg.eigh(spread.T @ spread)[1].T[::-1]
    axes[2] = np.cross(axes[0], axes[1])
    best: tuple[float, Floats, Floats, Floats] | None = None
    for candidate in (np.eye(3), axes):
        along = points @ candidate.T
        low, high = along.min(axis=0), along.max(axis=0)
        size = float(np.prod(high - low + SMALLEST_SIDE))
        if best is None or size < best[0]:
            best = size, candidate, (low + high) / 2 @ candidate, (high - low) / 2
    assert best is not None  # noqa: S101 - the loop has two rounds
    rotation, centre, half = (values.astype(np.float32) for values in best[1:])
    return rotation, centre, half


# Meshes in Blender's axes ---------------------------------------------------------------------------------------------

LONGEST_NORMAL = np.iinfo(np.int32).max * NORMAL_STEP
"""Components of longer normals do not fit into an integer number of steps. Normals of intact files have length 1."""


def with_new_meshes(
    document: Ogf,
    meshes: Sequence[PolygonMesh],
    most_links: int,
    report: Report,
    *,
    two_sided: Sequence[Sequence[bool]] = (),
) -> Ogf:
    """Return the model with other meshes; all chunks but its children and bounds stay.

    Vertices get the formats of the engine that the model was made for. ``two_sided``: for each mesh, which of its
    materials are two-sided; their faces get backs. Raises `WriteError` for a model of version 3, meshes that
    `mesh_corners` refuses, faces without material, no faces at all, or meshes that need several children in a model
    that has none.
    """
    header, holder = document.header, document.first(Children)
    if header.box is None:
        raise WriteError("the model is of an old build (version 3)", remedy="Export it as a new model")
    formats = [chunk.format for part in mesh_parts(document) if (chunk := part.visual.first(Vertices)) is not None]
    family = LONG_FORMATS if any(vertex_format in LONG_FORMATS.values() for vertex_format in formats) else SHORT_FORMATS
    generation = Generation({links: family[links] for links in range(1, most_links + 1)}, references_as_list=False)
    bones, textures, parts = bone_labels(document), list[Texture](), list[Corners]()
    for number, mesh in enumerate(meshes):
        if not len(mesh.counts):
            continue
        part = mesh_corners(mesh, bones, generation, report)
        if mesh.material_index is None or not mesh.materials:
            raise WriteError(say("{!r} has no material", mesh.name), remedy="Assign one with a texture and a shader")
        without_material = int(np.array([not material.name for material in mesh.materials])[mesh.material_index].sum())
        if without_material:
            words = "{:# face has|# faces have} no material in {!r}"
            raise WriteError(say(words, without_material, mesh.name), remedy="Give every face a material")
        listed = [Texture(names.encode(material.texture), names.encode(material.shader)) for material in mesh.materials]
        textures += [texture for texture in dict.fromkeys(listed) if texture not in textures]
        part.texture = np.array([textures.index(texture) for texture in listed])[mesh.material_index]
        is_two_sided = np.array(two_sided[number] if two_sided else [False] * len(listed))
        parts.append(with_backs(part, is_two_sided[mesh.material_index]))
    children = make_children(joined(parts), textures, generation, report)
    if not children:
        raise WriteError("the model would have no faces", remedy="Parent a mesh to it")
    bounds_header = header_around(header.type, children)
    new_header = replace(header, box=bounds_header.box, sphere=bounds_header.sphere)
    if holder is not None:
        return document.replaced(holder, Children.of(enumerate(children))).replaced(header, new_header)
    if len(children) > 1:
        raise WriteError("the model is one mesh of one material", remedy="Use one material, or export a new model")
    for old, new in (
        (document.first(Texture), children[0].first(Texture)),
        (document.first(Vertices), children[0].first(Vertices)),
        (document.first(Indices), children[0].first(Indices)),
    ):
        if old is not None:
            document = document.replaced(old, new)
    windows = document.first(SlidingWindows)
    if windows is not None:
        document = document.replaced(windows, None)
        new_header = replace(new_header, type=VisualType.NORMAL)
    return document.replaced(header, new_header)


def mesh_corners(mesh: PolygonMesh, bones: Sequence[str], generation: Generation, report: Report) -> Corners:
    """Return one mesh in X-Ray's axes, with only the vertices that faces use.

    Raises `WriteError` for damaged faces, NaN or infinite values, too long normals, and unusable weights.
    """
    if mesh.corner_normals is None:
        raise WriteError(say("faces of {!r} are damaged", mesh.name), remedy="Repair it in the editor")
    used, vertices = np.unique(mesh.corners, return_inverse=True)
    triangles = space.xray_triangles(vertices.reshape(-1, 3).astype(np.int64))
    uvs = np.zeros((len(mesh.corners), 2), np.float32) if mesh.uvs is None else space.xray_uvs(mesh.uvs)
    corners = Corners(
        space.xray_points(mesh.positions[used]),
        triangles,
        space.xray_points(mesh.corner_normals).reshape(-1, 3, 3)[:, [0, 2, 1]],
        uvs.reshape(-1, 3, 2)[:, [0, 2, 1]],
        np.zeros(len(triangles), np.int64),
    )
    if not_finite(np.concatenate([corners.positions.ravel(), corners.normals.ravel(), corners.uvs.ravel()])):
        raise WriteError(say("{!r} holds NaN or infinite values", mesh.name), remedy="Move or delete those vertices")
    if (np.abs(corners.normals) > LONGEST_NORMAL).any():
        raise WriteError(say("normals of {!r} are too long", mesh.name), remedy="Reset its normals")
    if bones:
        corners.slots = _slots(mesh, used, bones, generation, report)
    return corners


def _slots(
    mesh: PolygonMesh, used: NDArray[np.int32], bones: Sequence[str], generation: Generation, report: Report
) -> surface.Slots:
    if len(bones) == 1:  # a single bone moves all vertices, whatever its weights
        weights_number = np.ones(len(used), np.int64)
        room = (len(used), generation.most_links)
        weights = np.zeros(room)
        weights[:, 0] = 1.0
        return surface.Slots(np.zeros(room, np.int64), weights, weights_number, 0)
    slots = surface.influences(mesh, bones)
    row = np.full(len(mesh.positions), -1)
    row[used] = np.arange(len(used))
    vertex, bone = np.divmod(slots.keys, slots.bone_count)
    kept = row[vertex] >= 0
    keys = row[vertex[kept]] * slots.bone_count + bone[kept]
    result = surface.slots(
        replace(slots, keys=keys, weights=slots.weights[kept], vertex_count=len(used)), generation.most_links, mesh.name
    )
    if slots.left_out:
        report.warn(say("groups that are not bones left out: {}", ", ".join(slots.left_out)), mesh.name)
    if result.trimmed:
        sentence = "{:# vertex has|# vertices have} more bones than the engine reads; the heaviest are written"
        report.warn(say(sentence, result.trimmed), mesh.name)
    return result


def with_backs(corners: Corners, two_sided: NDArray[np.bool_]) -> Corners:
    """Return the corners with a back added to each face in the mask ``two_sided`` (faces,).

    A back has the reversed order of corners and negated normals.
    """
    if not two_sided.any():
        return corners
    order = [0, 2, 1]
    return replace(
        corners,
        vertices=np.concatenate([corners.vertices, corners.vertices[two_sided][:, order]]),
        normals=np.concatenate([corners.normals, -corners.normals[two_sided][:, order]]),
        uvs=np.concatenate([corners.uvs, corners.uvs[two_sided][:, order]]),
        texture=np.concatenate([corners.texture, corners.texture[two_sided]]),
    )


def joined(parts: Sequence[Corners]) -> Corners:
    """Return the concatenated meshes; their texture and bone indices must refer to the same lists."""
    if not parts:
        empty = np.zeros((0, 3, 3), np.float32)
        return Corners(empty[:, 0], np.zeros((0, 3), np.int64), empty, empty[..., :2], np.zeros(0, np.int64))
    starts = np.cumsum([0, *(len(part.positions) for part in parts)])
    slots = [part.slots for part in parts if part.slots is not None]
    return Corners(
        np.concatenate([part.positions for part in parts]),
        np.concatenate([part.vertices + start for part, start in zip(parts, starts, strict=False)]),
        np.concatenate([part.normals for part in parts]),
        np.concatenate([part.uvs for part in parts]),
        np.concatenate([part.texture for part in parts]),
        surface.Slots(
            np.concatenate([slot.bones for slot in slots]),
            np.concatenate([slot.weights for slot in slots]),
            np.concatenate([slot.links for slot in slots]),
            0,
        )
        if slots
        else None,
    )
