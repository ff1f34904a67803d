"""A model's meshes as `Mesh`: full detail, Blender's axes, every child one mesh.

A progressive model stores its triangles once for every level of detail; the first sliding window is the finest. The
last of three or four weights is what the others leave of 1, two links store the second one's; a slot that is not used
repeats the first bone. Version 3 stores vertices in the space of their bone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import names, space
from ....core.model import Material, Mesh, VertexWeights
from ....core.report import Report
from .bones import BoneNames
from .document import Ogf, Part, parts
from .geometry import GeometryContainer, Indices, SlidingWindows, Texture, VertexContainer, Vertices
from .skeleton import decode_skeleton

Floats = NDArray[np.float64]


def decode_meshes(document: Ogf, report: Report) -> list[Mesh]:
    """A mesh for each of `mesh_parts`, in that order; the others are reported.

    Groups are the model's bones in the file's order, so that a group's index is the bone's number.
    """
    bones = bone_labels(document)
    rest = rest_of(document)
    there = mesh_parts(document)
    _report_missing(document, {part.path for part in there}, report)
    return [decode_mesh(part.visual, part_name(document, part), bones, report, rest) for part in there]


def bone_labels(document: Ogf) -> list[str]:
    """The names of the model's bones, none for a model without."""
    listed = document.first(BoneNames)
    return [bone.label for bone in listed.bones] if listed else []


def rest_of(document: Ogf) -> Floats | None:
    """(bones, 4, 4) what takes version 3's vertices from their bone's space to the model's; None for version 4."""
    if document.header.version != 3 or document.first(BoneNames) is None:
        return None
    # The file's own axes in, Blender's out: the bone's mirror is undone first.
    return decode_skeleton(document, Report()).rest_matrices() @ np.diag([1.0, 1.0, -1.0, 1.0])


def mesh_parts(document: Ogf) -> list[Part]:
    """The visuals that hold vertices and indices themselves."""
    return [
        part
        for part in parts(document)
        if part.visual.first(Vertices) is not None and part.visual.first(Indices) is not None
    ]


def part_name(document: Ogf, part: Part) -> str:
    """``model``, or ``model_02`` for its third child."""
    return "_".join([document.name, *(f"{number:02}" for number in part.path)])


def _report_missing(document: Ogf, there: set[tuple[int, ...]], report: Report) -> None:
    for part in parts(document):
        if part.path in there:
            continue
        in_level = part.visual.first(GeometryContainer) or part.visual.first(VertexContainer)
        where = "its geometry lies in the level's files" if in_level else "it has no readable vertices or indices"
        report.warn(f"a mesh is left out: {where}", part_name(document, part))


# Damaged files hold numbers whose sums overflow; they stay what they are.
@np.errstate(over="ignore", invalid="ignore")
def decode_mesh(visual: Ogf, name: str, bones: Sequence[str], report: Report, rest: Floats | None = None) -> Mesh:
    """One visual's geometry; ``rest`` as `rest_of` gives it."""
    vertices, indices = visual.first(Vertices), visual.first(Indices)
    assert vertices is not None  # noqa: S101 - `mesh_parts` chose it for that
    assert indices is not None  # noqa: S101 - likewise
    rows = vertices.rows
    corners = full_detail(indices, visual.first(SlidingWindows), name, report)
    triangles = corners.reshape(-1, 3).astype(np.int32)
    valid = (triangles < len(rows)).all(axis=1)
    if not valid.all():
        report.warn(f"{int((~valid).sum())} triangles point behind the last vertex; left out", name)
        triangles = triangles[valid]
    positions, normals = rows["position"], rows["normal"]
    if rest is not None and vertices.links:
        positions, normals = _to_model(rest, rows["bones"][:, 0], positions, normals)
    else:
        positions, normals = space.xray_points(positions), space.xray_points(normals)
    texture = visual.first(Texture)
    return Mesh(
        name,
        positions,
        space.xray_triangles(triangles),
        normals,
        space.xray_uvs(rows["uv"]),
        list(bones) if vertices.links else [],
        decode_weights(vertices, len(bones), name, report) if vertices.links else None,
        [material_of(texture)] if texture else [],
        np.zeros(len(triangles), np.int32) if texture else None,
    )


def full_detail(indices: Indices, windows: SlidingWindows | None, name: str, report: Report) -> NDArray[np.uint16]:
    """The corners of the finest detail, whole triangles only."""
    corners = indices.corners
    if windows is not None and len(windows.windows):
        finest = windows.windows[0]
        start, count = int(finest["offset"]), 3 * int(finest["triangles"])
        if start + count > len(corners):
            report.warn("the finest detail points behind the last index; taken as far as it goes", name)
        corners = corners[start : start + count]
    if len(corners) % 3:
        report.warn(f"{len(corners)} indices are no whole triangles; the rest is left out", name)
    return corners[: len(corners) // 3 * 3]


def _to_model(
    rest: Floats, bones: NDArray[Any], positions: NDArray[Any], normals: NDArray[Any]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    frames = rest[np.minimum(bones, len(rest) - 1)]
    placed = np.einsum("nij,nj->ni", frames[:, :3, :3], positions) + frames[:, :3, 3]
    turned = np.einsum("nij,nj->ni", frames[:, :3, :3], normals)
    return placed.astype(np.float32), turned.astype(np.float32)


def decode_weights(vertices: Vertices, bone_count: int, name: str, report: Report) -> VertexWeights:
    """Weights of equal bones added up; what is not above zero, or of a bone that does not exist, is left out."""
    bones, weights = weight_slots(vertices)
    unknown = (bones >= bone_count) & (weights > 0)
    if unknown.any():
        report.warn(f"{int(unknown.sum())} weights are of bones that do not exist; left out", name)
    used = (weights > 0) & np.isfinite(weights) & ~unknown
    rows, slots = np.nonzero(used)
    return VertexWeights(rows.astype(np.int32), bones[rows, slots].astype(np.int32), weights[rows, slots])


def weight_slots(vertices: Vertices) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """(vertices, links) bones and weights, those of equal bones added up in the first slot that names them."""
    rows, links = vertices.rows, vertices.links
    bones = rows["bones"].astype(np.int64)
    weights = np.ones((len(rows), links), np.float32)
    if links == 2:
        weights[:, 1] = rows["weights"][:, 0]
        weights[:, 0] = np.float32(1) - weights[:, 1]
    elif links > 2:
        weights[:, :-1] = rows["weights"]
        weights[:, -1] = np.float32(1) - rows["weights"].sum(axis=1, dtype=np.float32)
    for later in range(1, links):
        for earlier in range(later):
            same = bones[:, later] == bones[:, earlier]
            weights[:, earlier] += np.where(same, weights[:, later], np.float32(0))
            weights[:, later] = np.where(same, np.float32(0), weights[:, later])
    return bones, weights


def material_of(texture: Texture) -> Material:
    """The texture's last name part names the material."""
    path, shader = names.decode(texture.texture), names.decode(texture.shader)
    return Material(path.replace("/", "\\").rpartition("\\")[2] or shader, path, shader)
