"""Check what the game's editors require of an `.object`, and of a Blender mesh that is to become one.

For a file: a sentence for each problem when editors load or export it. For a mesh: findings with the elements
concerned, which the user can select and repair. Sources: ``EditObjectIO.cpp``, ``EditMeshIO.cpp`` and
``ExportSkeleton.cpp`` of the editors of Shadow of Chernobyl and Clear Sky.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
from numpy.typing import NDArray

from ....core import names
from ....core.model import Domain, PolygonMesh
from ....core.polygons import without_area
from ....core.problems import Problem, some, whole
from ....core.report import say
from .. import bones
from ..omf.document import MOST_BONES
from .chunk_types import DYNAMIC, VERTEX_FORMAT, ObjectFlags, Surfaces
from .document import Mesh, Model, Object
from .mesh_chunks import (
    UV,
    WEIGHT,
    Box,
    Faces,
    MeshFlags,
    MeshName,
    Normals,
    Points,
    Smoothing,
    SurfacesOfFaces,
    Version,
    VertexMapRefs,
)

OBJECT_VERSION, MESH_VERSION = 0x10, 0x11
_REQUIRED_CHUNKS = (MeshName, Box, MeshFlags, Points, Faces, VertexMapRefs, SurfacesOfFaces)
_CHUNK_WORDS = {
    MeshName: "name",
    Box: "bounding box",
    MeshFlags: "flags",
    Points: "points",
    Faces: "faces",
    VertexMapRefs: "weights and texture coordinates of vertices",
    SurfacesOfFaces: "list of surfaces",
}


MOST_WEIGHTS = 4
"""Bones per vertex in Clear Sky and Call of Pripyat; Shadow of Chernobyl and its editor allow 2."""


def problems(document: Object, most_bones: int = MOST_BONES, most_weights: int | None = MOST_WEIGHTS) -> Iterator[str]:
    """Yield a sentence for everything that editors refuse or misread, and for more bones than the game supports.

    ``most_weights``: bones per vertex that the editor keeps, None if that is not asked. Motions inside have rules of
    their own.
    """
    model = document.model
    version = model.first(Version)
    if version is None or version.number != OBJECT_VERSION:
        words = "the version of the object is missing, not 16"
        yield say("the version of the object is {}, not 16", version.number) if version is not None else words
    if model.first(ObjectFlags) is None:
        yield "the object has no flags"
    if model.first(Surfaces) is None:
        yield "the object has no list of surfaces"
    if not model.meshes:
        yield "there is no mesh: the object cannot be shown or exported"
    yield from _surface_problems(model)
    yield from _bone_problems(model, most_bones)
    weight_maps = {bone.weight_map for bone in model.bones}
    surfaces = {surface.label.lower() for surface in model.surfaces} if model.first(Surfaces) is not None else None
    for mesh in model.meshes:
        sentences = _mesh_problems(mesh, surfaces, weight_maps if model.bones else None, most_weights)
        yield from (say("in mesh {!r}: {}", mesh.label, sentence) for sentence in sentences)
    for group in names.duplicates(mesh.label for mesh in model.meshes):
        yield say("the mesh {!r} occurs {} times", group[0], len(group))


def _surface_problems(model: Model) -> Iterator[str]:
    for surface in model.surfaces:
        if not surface.shader:
            yield say("the surface {!r} has no shader", surface.label)
        if surface.format != VERTEX_FORMAT or surface.coordinates != 1:
            words = (
                "the surface {!r} has vertex format {:#x} and {:# texture coordinate|# texture coordinates}, not "
                "0x112 and 1"
            )
            yield (say(words, surface.label, surface.format, surface.coordinates))
    for group in names.duplicates(surface.label for surface in model.surfaces):
        yield say("the surface {!r} occurs {} times", group[0], len(group))


def _bone_problems(model: Model, most_bones: int) -> Iterator[str]:
    labels = [bone.name.lower() for bone in model.bones]
    for group in names.duplicates(labels):
        yield say("the bone {!r} occurs {} times", group[0], len(group))
    if "" in labels:
        yield "a bone without a name"
    if len(labels) > most_bones:
        yield say("{:# bone|# bones}, the game supports {}", len(labels), most_bones)
    flags = model.first(ObjectFlags)
    if labels and flags is not None and not flags.flags & DYNAMIC:
        yield "the object has bones but is not dynamic (flag 1): the actor editor cannot export it"
    yield from _hierarchy_problems(model.bones, labels)
    for part in model.parts:
        missing = [name for name in map(names.decode, part.bones) if name.lower() not in labels]
        if missing:
            yield say("the bone part {!r} has bones that do not exist: {}", names.decode(part.name), ", ".join(missing))


def _hierarchy_problems(bones_of_file: list[bones.Bone], labels: list[str]) -> Iterator[str]:
    parents = {label: bone.parent.lower() for label, bone in zip(labels, bones_of_file, strict=True)}
    roots = [label for label in parents if parents[label] not in parents]
    if len(roots) > 1:
        yield say("{:# bone has|# bones have} no parent: {}", len(roots), ", ".join(roots))
    for label, parent in parents.items():
        seen, ancestor = {label}, parent
        while ancestor in parents and ancestor not in seen:
            seen.add(ancestor)
            ancestor = parents[ancestor]
        if ancestor in parents:
            yield say("the parents of the bone {!r} form a cycle", label)
            return


def _mesh_problems(
    mesh: Mesh, surfaces: set[str] | None, weight_maps: set[str] | None, most_weights: int | None
) -> Iterator[str]:
    version = mesh.first(Version)
    if version is None or version.number != MESH_VERSION:
        yield (
            say("its version is {}, not 17", version.number)
            if version is not None
            else "its version is missing, not 17"
        )
    missing = [kind for kind in _REQUIRED_CHUNKS if mesh.first(kind) is None]
    yield from (say("it has no {}", _CHUNK_WORDS[kind]) for kind in missing)
    points, faces, refs = mesh.first(Points), mesh.first(Faces), mesh.first(VertexMapRefs)
    if points is None or faces is None or refs is None:
        return
    if len(points.positions) < 3 or not len(faces.corners):
        words = "it has {:# point|# points} and {:# face|# faces}; editors want at least 3 and 1"
        yield say(words, len(points.positions), len(faces.corners))
    box = mesh.first(Box)
    if box is not None and not _is_box(box.corners, points.positions):
        yield "its bounding box is not that of its points"
    yield from _count_problems(mesh, len(faces.corners))
    yield from _surface_list_problems(mesh, surfaces, len(faces.corners))
    if (faces.corners[:, :, 0] >= len(points.positions)).any():
        yield "faces refer to points that do not exist"
        return
    if (faces.corners[:, :, 1] >= len(refs.refs.counts)).any():
        yield "faces refer to weights and texture coordinates that do not exist"
        return
    yield from _map_problems(mesh, refs, faces.corners.reshape(-1, 2), weight_maps, most_weights)


def _is_box(corners: NDArray[np.float32], positions: NDArray[np.float32]) -> bool:
    if not len(positions):
        return True
    with np.errstate(invalid="ignore"):  # signalling NaNs of broken files; as doubles, no difference overflows
        ends = np.array([positions.min(axis=0), positions.max(axis=0)], np.float64)
        return bool(np.allclose(corners.astype(np.float64), ends, rtol=1e-5, atol=1e-5))


def _count_problems(mesh: Mesh, faces: int) -> Iterator[str]:
    smoothing, normals = mesh.first(Smoothing), mesh.first(Normals)
    if smoothing is not None and len(smoothing.groups) != faces:
        words = "it has smoothing groups of {:# face|# faces}, and {:# face|# faces}"
        yield say(words, len(smoothing.groups), faces)
    if normals is not None and len(normals.normals) != faces:
        words = "it has normals of {:# face|# faces}, and {:# face|# faces}"
        yield say(words, len(normals.normals), faces)


def _surface_list_problems(mesh: Mesh, surfaces: set[str] | None, faces: int) -> Iterator[str]:
    listed = mesh.first(SurfacesOfFaces)
    if listed is None:
        return
    for entry in listed.surfaces:
        if not len(entry.faces):
            yield say("its surface {!r} has no faces", entry.label)
        if surfaces is not None and entry.label.lower() not in surfaces and not entry.label:
            yield say("{:# face has|# faces have} no surface", len(entry.faces))
        elif surfaces is not None and entry.label.lower() not in surfaces:
            yield say("its surface {!r} is not in the object's list", entry.label)
    numbers = np.concatenate([np.zeros(0, np.int64), *(entry.faces for entry in listed.surfaces)]).astype(np.int64)
    if ((numbers < 0) | (numbers >= faces)).any():
        yield "its surfaces have faces that do not exist"
        return
    without = faces - len(np.unique(numbers))
    if without:
        yield say("{:# face has|# faces have} no surface", without)


def _map_problems(
    mesh: Mesh,
    refs: VertexMapRefs,
    corners: NDArray[np.uint32],
    weight_maps: set[str] | None,
    most_weights: int | None,
) -> Iterator[str]:
    """Yield the problems of texture coordinates and weights; ``corners`` (corners, 2): point and vmref of each."""
    maps, rows, count = mesh.maps.maps, refs.refs.rows, len(refs.refs.counts)
    sizes = np.array([len(vertex_map.values) for vertex_map in maps], np.int64)
    kinds = np.array([vertex_map.type for vertex_map in maps], np.int64)
    inside = (rows[:, 0] >= 0) & (rows[:, 0] < len(maps))
    inside[inside] = (rows[inside, 1] >= 0) & (rows[inside, 1] < sizes[rows[inside, 0]])
    if not inside.all():
        yield "vertices refer to weights or texture coordinates that do not exist"
        return
    owner = np.repeat(np.arange(count), refs.refs.counts)
    of_kind = kinds[rows[:, 0]] if len(rows) else np.zeros(0, np.int64)
    uvs = np.bincount(owner[of_kind == UV], minlength=count)
    if untextured := _points_with(corners, uvs != 1):
        yield say("{:# vertex has|# vertices have} no texture coordinates, or several", untextured)
    if weight_maps is None:
        return
    unknown = sorted({vertex_map.label for vertex_map in maps if vertex_map.type == WEIGHT} - weight_maps)
    if unknown:
        yield say("weights of bones that do not exist: {}", ", ".join(unknown))
    weights = np.bincount(owner[of_kind == WEIGHT], minlength=count)
    if unweighted := _points_with(corners, weights == 0):
        yield say("{:# vertex has|# vertices have} no weights", unweighted)
    if most_weights is not None and (trimmed := _points_with(corners, weights > most_weights)):
        words = "{:# vertex has|# vertices have} more bones than the editor keeps, the {} heaviest"
        yield say(words, trimmed, most_weights)


def _points_with(corners: NDArray[np.uint32], chosen: NDArray[np.bool_]) -> int:
    """Return how many points have corners (corners, 2) whose vmref is in the mask ``chosen``."""
    return len(np.unique(corners[chosen[corners[:, 1]], 0]))


# Problems of a Blender mesh -------------------------------------------------------------------------------------------

MOST_VERTICES = 65534
"""Largest number of vertices of an exported part, which is one surface in all meshes; here counted in one mesh only."""


def find_problems(mesh: PolygonMesh, bones: Collection[str] | None) -> Iterator[Problem]:
    """Yield the problems of a mesh of triangles; ``bones`` are the names of its model's bones, None if it has none."""
    if len(mesh.positions) < 3 or not len(mesh.counts):
        yield whole("the mesh has no faces, and editors do not load the object", "Add faces, or delete the mesh")
        return
    corners = mesh.corners.reshape(-1, 3)
    if mesh.uvs is None:
        yield whole("the mesh has no UV map", "Add one in Properties > Data > UV Maps")
    yield from some(
        _without_surface(mesh), "face|faces", "{0:has|have} no material, so no surface", "Assign a material"
    )
    degenerate = np.zeros(len(corners), np.bool_)
    degenerate[without_area(mesh.positions, corners)] = True
    yield from some(
        degenerate,
        "face|faces",
        "{0:has|have} no area, and {0:is|are} left out in the game",
        "Merge {0:its|their} vertices, or delete {0:it|them}",
    )
    yield from _too_large_surfaces(mesh, corners)
    if bones is not None:
        yield from _weight_problems(mesh, corners, bones)


def _without_surface(mesh: PolygonMesh) -> NDArray[np.bool_]:
    if mesh.material_index is None or not mesh.materials:
        return np.ones(len(mesh.counts), np.bool_)
    nameless = np.array([not material.name for material in mesh.materials])
    outside = mesh.material_index >= len(nameless)
    result: NDArray[np.bool_] = outside | nameless[np.where(outside, 0, mesh.material_index)]
    return result


def _too_large_surfaces(mesh: PolygonMesh, corners: NDArray[np.int32]) -> Iterator[Problem]:
    index = np.zeros(len(corners), np.int64) if mesh.material_index is None else mesh.material_index.astype(np.int64)
    pairs = np.unique(index[:, None] * len(mesh.positions) + corners)
    many = np.flatnonzero(np.bincount(pairs // len(mesh.positions)) > MOST_VERTICES)
    yield from some(
        np.isin(index, many),
        "face|faces",
        "{0:has|have} a surface with more than {2} vertices, which the game cannot hold",
        "Use several materials",
        values=(MOST_VERTICES,),
    )


def _weight_problems(mesh: PolygonMesh, corners: NDArray[np.int32], bones: Collection[str]) -> Iterator[Problem]:
    count = len(mesh.positions)
    used = np.zeros(count, np.bool_)
    used[corners.ravel()] = True
    known = {bone.lower() for bone in bones}
    of_bone = np.array([group.lower() in known for group in mesh.groups], np.bool_)
    vertices, groups = np.zeros(0, np.int32), np.zeros(0, np.int32)
    if mesh.weights is not None:
        vertices, groups = mesh.weights.vertices, mesh.weights.groups
    follows = of_bone[groups] if len(groups) else np.zeros(0, np.bool_)
    number = np.bincount(vertices[follows], minlength=count)
    has_other_groups = np.zeros(count, np.bool_)
    has_other_groups[vertices[~follows]] = True
    yield from some(
        used & (number == 0),
        "vertex|vertices",
        "{0:has|have} no bone, which editors refuse",
        "Assign weights",
        Domain.VERTEX,
    )
    yield from some(
        has_other_groups,
        "vertex|vertices",
        "{0:has|have} weights of vertex groups that are no bones, which ends the editor",
        "Remove those groups, or name each after a bone",
        Domain.VERTEX,
    )
    yield from some(
        number > MOST_WEIGHTS,
        "vertex|vertices",
        "{0:has|have} more than {2} bones, of which the game uses the heaviest",
        "Limit the number of {0:its|their} weights",
        Domain.VERTEX,
        values=(MOST_WEIGHTS,),
    )
