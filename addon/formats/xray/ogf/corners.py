"""Meshes in Blender's axes as `Corners`, from which a model of the game is built."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ....core import names, space
from ....core.errors import WriteError
from ....core.finite import not_finite
from ....core.model import PolygonMesh
from ....core.report import Report
from ....core.text import said_of
from . import surface
from .building import SAME_NORMAL, Corners, Generation, children_chunk, header_around, make_children
from .chunk_types import LONG_FORMATS, SHORT_FORMATS, Indices, SlidingWindows, Texture, Vertices
from .document import Children, Ogf, VisualType
from .mesh import bone_labels, mesh_parts

LONGEST_NORMAL = np.iinfo(np.int32).max * SAME_NORMAL
"""Above this, normals cannot be told apart in whole steps. Normals of sound files have the length 1."""


def with_new_meshes(
    document: Ogf,
    meshes: Sequence[PolygonMesh],
    most_links: int,
    report: Report,
    *,
    two_sided: Sequence[Sequence[bool]] = (),
) -> Ogf:
    """The model with other meshes: every chunk but its children and its bounds stays.

    Vertices have the formats of the engine that the model is for. ``two_sided``: for each mesh which of its materials
    are; their faces get backs. Raises `WriteError`.
    """
    header, holder = document.header, document.first(Children)
    if header.box is None:
        raise WriteError("the model is of an old build (version 3)", remedy="Export it as a new model")
    formats = [found.format for part in mesh_parts(document) if (found := part.visual.first(Vertices)) is not None]
    family = LONG_FORMATS if any(one in LONG_FORMATS.values() for one in formats) else SHORT_FORMATS
    generation = Generation({links: family[links] for links in range(1, most_links + 1)}, references_as_list=False)
    bones, textures, parts = bone_labels(document), list[Texture](), list[Corners]()
    for number, mesh in enumerate(meshes):
        if not len(mesh.counts):
            continue
        part = mesh_corners(mesh, bones, generation, report)
        if mesh.material_index is None or not mesh.materials:
            raise WriteError(f"{mesh.name!r} has no material", remedy="Assign one with a texture and a shader")
        bare = int(np.array([not one.name for one in mesh.materials])[mesh.material_index].sum())
        if bare:
            words = f"{said_of(bare, 'faces', 'have')} no material"
            raise WriteError(f"{words} in {mesh.name!r}", remedy="Assign a material to every face")
        listed = [Texture(names.encode(one.texture), names.encode(one.shader)) for one in mesh.materials]
        textures += [one for one in dict.fromkeys(listed) if one not in textures]
        part.texture = np.array([textures.index(one) for one in listed])[mesh.material_index]
        both = np.array(two_sided[number] if two_sided else [False] * len(listed))
        parts.append(with_backs(part, both[mesh.material_index]))
    children = make_children(joined(parts), textures, generation, report)
    if not children:
        raise WriteError("the model would have no faces", remedy="Parent a mesh to it")
    around = header_around(header.type, children)
    new_header = replace(header, box=around.box, sphere=around.sphere)
    if holder is not None:
        return document.replaced(holder, children_chunk(children)).replaced(header, new_header)
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
    """One mesh in X-Ray's axes, with the vertices that faces use. Raises `WriteError`."""
    if mesh.corner_normals is None:
        raise WriteError(f"faces of {mesh.name!r} are damaged", remedy="Repair it in the editor")
    used, place = np.unique(mesh.corners, return_inverse=True)
    triangles = space.xray_triangles(place.reshape(-1, 3).astype(np.int64))
    uvs = np.zeros((len(mesh.corners), 2), np.float32) if mesh.uvs is None else space.xray_uvs(mesh.uvs)
    corners = Corners(
        space.xray_points(mesh.positions[used]),
        triangles,
        space.xray_points(mesh.corner_normals).reshape(-1, 3, 3)[:, [0, 2, 1]],
        uvs.reshape(-1, 3, 2)[:, [0, 2, 1]],
        np.zeros(len(triangles), np.int64),
    )
    if not_finite(np.concatenate([corners.positions.ravel(), corners.normals.ravel(), corners.uvs.ravel()])):
        raise WriteError(f"{mesh.name!r} holds NaN or infinite values", remedy="Clean the mesh up")
    if (np.abs(corners.normals) > LONGEST_NORMAL).any():
        raise WriteError(f"normals of {mesh.name!r} are too long", remedy="Reset its normals")
    if bones:
        corners.slots = _slots(mesh, used, bones, generation, report)
    return corners


def _slots(
    mesh: PolygonMesh, used: NDArray[np.int32], bones: Sequence[str], generation: Generation, report: Report
) -> surface.Slots:
    if len(bones) == 1:  # the only bone moves everything
        one = np.ones(len(used), np.int64)
        room = (len(used), generation.most_links)
        weights = np.zeros(room)
        weights[:, 0] = 1.0
        return surface.Slots(np.zeros(room, np.int64), weights, one, 0)
    found = surface.influences(mesh, bones)
    row = np.full(len(mesh.positions), -1)
    row[used] = np.arange(len(used))
    vertex, bone = np.divmod(found.keys, found.bone_count)
    kept = row[vertex] >= 0
    keys = row[vertex[kept]] * found.bone_count + bone[kept]
    held = surface.slots(
        replace(found, keys=keys, weights=found.weights[kept], vertex_count=len(used)), generation.most_links, mesh.name
    )
    if found.left_out:
        report.warn(f"groups that are not bones left out: {', '.join(found.left_out)}", mesh.name)
    if held.trimmed:
        words = "have more bones than the engine reads; the heaviest are written"
        report.warn(said_of(held.trimmed, "vertices", words), mesh.name)
    return held


def with_backs(corners: Corners, both: NDArray[np.bool_]) -> Corners:
    """With the faces ``both`` (faces,) once more, seen from behind."""
    if not both.any():
        return corners
    order = [0, 2, 1]
    return replace(
        corners,
        vertices=np.concatenate([corners.vertices, corners.vertices[both][:, order]]),
        normals=np.concatenate([corners.normals, -corners.normals[both][:, order]]),
        uvs=np.concatenate([corners.uvs, corners.uvs[both][:, order]]),
        texture=np.concatenate([corners.texture, corners.texture[both]]),
    )


def joined(parts: Sequence[Corners]) -> Corners:
    """The meshes as one; textures and bones of all count from the same list."""
    if not parts:
        none = np.zeros((0, 3, 3), np.float32)
        return Corners(none[:, 0], np.zeros((0, 3), np.int64), none, none[..., :2], np.zeros(0, np.int64))
    starts = np.cumsum([0, *(len(part.positions) for part in parts)])
    slots = [part.slots for part in parts if part.slots is not None]
    return Corners(
        np.concatenate([part.positions for part in parts]),
        np.concatenate([part.vertices + start for part, start in zip(parts, starts, strict=False)]),
        np.concatenate([part.normals for part in parts]),
        np.concatenate([part.uvs for part in parts]),
        np.concatenate([part.texture for part in parts]),
        surface.Slots(
            np.concatenate([one.bones for one in slots]),
            np.concatenate([one.weights for one in slots]),
            np.concatenate([one.links for one in slots]),
            0,
        )
        if slots
        else None,
    )
