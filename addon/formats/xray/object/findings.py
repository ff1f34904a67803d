"""What editors and the game make of a mesh in Blender that would become one of an `.object`, with its elements.

`checks` says the same of files; here are the findings that a user can select and repair.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
from numpy.typing import NDArray

from ....core.model import Domain, PolygonMesh
from ....core.problems import Problem, some, whole
from ....core.triangles import without_area

MOST_WEIGHTS = 4
"""Bones of a vertex in Clear Sky and Call of Pripyat; Shadow of Chernobyl has 2."""
MOST_VERTICES = 65534
"""Of an exported part, which is a surface of all meshes; here only those of one mesh are counted."""


def find_problems(mesh: PolygonMesh, bones: Collection[str] | None) -> Iterator[Problem]:
    """Problems of a mesh of triangles; ``bones`` of a skinned model by their names, None of one without."""
    if len(mesh.positions) < 3 or not len(mesh.counts):
        yield whole("the mesh has no faces, and editors do not load the object", "Add faces, or delete the mesh")
        return
    corners = mesh.corners.reshape(-1, 3)
    if mesh.uvs is None:
        yield whole("the mesh has no UV map", "Add one in Properties > Data > UV Maps")
    yield from some(_without_surface(mesh), "faces", "have no material, so no surface", "Assign a material")
    folded = np.zeros(len(corners), np.bool_)
    folded[without_area(mesh.positions, corners)] = True
    yield from some(
        folded, "faces", "have no area, and are left out in the game", "Merge their vertices, or delete them"
    )
    yield from _crowded(mesh, corners)
    if bones is not None:
        yield from _weight_problems(mesh, corners, bones)


def _without_surface(mesh: PolygonMesh) -> NDArray[np.bool_]:
    if mesh.material_index is None or not mesh.materials:
        return np.ones(len(mesh.counts), np.bool_)
    nameless = np.array([not material.name for material in mesh.materials])
    outside = mesh.material_index >= len(nameless)
    result: NDArray[np.bool_] = outside | nameless[np.where(outside, 0, mesh.material_index)]
    return result


def _crowded(mesh: PolygonMesh, corners: NDArray[np.int32]) -> Iterator[Problem]:
    index = np.zeros(len(corners), np.int64) if mesh.material_index is None else mesh.material_index.astype(np.int64)
    pairs = np.unique(index[:, None] * len(mesh.positions) + corners)
    many = np.flatnonzero(np.bincount(pairs // len(mesh.positions)) > MOST_VERTICES)
    yield from some(
        np.isin(index, many),
        "faces",
        f"have a surface with more than {MOST_VERTICES} vertices, which the game cannot hold",
        "Use several materials",
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
    strange = np.zeros(count, np.bool_)
    strange[vertices[~follows]] = True
    yield from some(
        used & (number == 0), "vertices", "have no bone, which editors refuse", "Assign weights", Domain.VERTEX
    )
    yield from some(
        strange,
        "vertices",
        "have weights of vertex groups that are no bones, which ends the editor",
        "Remove those groups, or name them after bones",
        Domain.VERTEX,
    )
    yield from some(
        number > MOST_WEIGHTS,
        "vertices",
        f"have more than {MOST_WEIGHTS} bones, of which the game uses the heaviest",
        "Limit their total weights",
        Domain.VERTEX,
    )
