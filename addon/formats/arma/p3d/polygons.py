"""A level of a model as a `PolygonMesh`: its points are the vertices, its triangles and quads stay what they are.

Normals and places on the texture belong to corners of faces, as in the file; sharp edges are named by pairs of points
(``#SharpEdges#``), the mass of the geometry level by a number for each (``#Mass#``).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ....core import polygons, space
from ....core.model import FILE_FACE, Attribute, Domain, Material, PolygonMesh
from ....core.report import Report
from .document import FURTHER_UVS, MASS, POSED_POINTS, SHARP_EDGES, Lod
from .mesh import blender_uvs, material_name, proxy_faces, selection_weights, vertex_weights

MASS_ATTRIBUTE = "mass"


def decode_polygons(lod: Lod, report: Report, groups: Mapping[str, str], name: str) -> PolygonMesh:
    """The level without the placeholders of proxies; every selection is a group, with the weights as stored.

    ``groups``: selection in lower case -> what its group is called, for those that are not called as they are.
    """
    shown = np.flatnonzero(~proxy_faces(lod))
    counts, corners, faces = _distinct_corners(lod.faces[shown], shown)
    folded = len(shown) - len(counts)
    if folded:
        report.note(f"faces folded to a line are left out: {folded}", name)
    _tell_of_others(lod, report, name)
    point = corners["point"].astype(np.int32)
    with np.errstate(invalid="ignore"):  # signalling NaNs of broken files
        positions = space.arma_points(lod.points["position"])
        normals = -space.arma_points(lod.normals)[corners["normal"]]
    mesh = PolygonMesh(name, positions, counts, point, blender_uvs(corners["uv"]), corner_normals=normals)
    mesh.materials = [Material(material_name(*texts), *texts) for texts in lod.textures()]
    mesh.material_index = lod.face_texts[faces]
    mesh.attributes = {FILE_FACE: Attribute(Domain.FACE, faces.astype(np.int32))}
    mass = _numbers(lod, MASS, "<f4")
    if mass is not None and len(mass) == len(positions) and len(mass):
        mesh.attributes[MASS_ATTRIBUTE] = Attribute(Domain.VERTEX, mass.astype(np.float32))
    mesh.sharp_edges = _sharp_edges(lod)
    table: dict[str, NDArray[np.float32]] = {}
    for selection, weights in selection_weights(lod).items():
        label = groups.get(selection.lower(), selection)
        table[label] = np.maximum(table[label], weights) if label in table else weights
    mesh.groups = list(table)
    mesh.weights = vertex_weights(table, np.arange(len(positions), dtype=np.int32), len(positions), normalise=False)
    return mesh


def _distinct_corners(
    faces: NDArray[np.void], places: NDArray[np.intp]
) -> tuple[NDArray[np.int32], NDArray[np.void], NDArray[np.intp]]:
    """Corners of each face (faces,), the corners face after face, and which of ``places`` each face is.

    A quad with two neighbouring corners on one point is a triangle; what is less than that is left out.
    """
    counts = np.minimum(faces["count"], 4).astype(np.int64)
    slot = np.arange(4)
    point = faces["corners"]["point"]
    following = np.take_along_axis(point, (slot + 1) % np.maximum(counts, 1)[:, None], axis=1)
    used = (slot < counts[:, None]) & (point != following)
    sizes = used.sum(axis=1).astype(np.int32)
    used[sizes < 3] = False
    whole = sizes >= 3
    corners = faces["corners"][used]
    repeating = np.zeros(len(faces), np.bool_)
    repeating[whole] = polygons.repeats_a_vertex(sizes[whole], corners["point"].astype(np.int64))
    kept = whole & ~repeating
    used[repeating] = False
    return sizes[kept], np.ascontiguousarray(faces["corners"][used]), places[kept]


def _numbers(lod: Lod, tag: bytes, kind: str) -> NDArray[np.generic] | None:
    """The content of a tag as numbers, None where the level has no such tag."""
    found = next((found for found in lod.tags if found.name == tag), None)
    if found is None:
        return None
    size = np.dtype(kind).itemsize
    return np.frombuffer(found.data, kind, len(found.data) // size)


def _sharp_edges(lod: Lod) -> NDArray[np.int32] | None:
    numbers = _numbers(lod, SHARP_EDGES, "<u4")
    if numbers is None:
        return None
    pairs = numbers[: len(numbers) // 2 * 2].reshape(-1, 2)
    inside: NDArray[np.bool_] = np.all(pairs < np.uint32(len(lod.points)), axis=1)
    return pairs[inside].astype(np.int32)


def _tell_of_others(lod: Lod, report: Report, name: str) -> None:
    further = sum(1 for tag in lod.tags if tag.name == FURTHER_UVS and bytes(tag.data[:4]) not in (b"", bytes(4)))
    if further:
        report.note(f"further sets of texture coordinates are not shown: {further}", name)
    posed = sum(1 for tag in lod.tags if tag.name == POSED_POINTS)
    if posed:
        report.note(f"posed point sets of the level itself are not shown: {posed}", name)
