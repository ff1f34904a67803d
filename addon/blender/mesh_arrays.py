"""A Blender mesh as arrays, and the faces that it cannot hold: those folded to a line, kept on it in a list."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core import text
from ..core.model import Domain, Mesh
from ..core.report import Report

LOOSE_UV = "loose_uv"
"""Attribute: texture coordinates of vertices without corners."""
FOLDED = "folded_faces"
"""Property of a mesh: vertices and faces it had in all, then place, corners and material of each folded face."""
FOLDED_VALUES = "folded_values"
"""Property of a mesh: name of an attribute -> its values on the folded faces, as bits."""


def folded_faces(triangles: NDArray[np.int32]) -> NDArray[np.bool_]:
    """(faces,) which have two corners on one vertex."""
    a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    result: NDArray[np.bool_] = (a == b) | (b == c) | (c == a)
    return result


def keep_folded(data: Any, mesh: Mesh, folded: NDArray[np.bool_], report: Report) -> None:
    """Remember the folded faces on the mesh that is built without them."""
    found = text.counted(int(folded.sum()), "triangle")
    report.warn(f"{found} without area; not shown, but kept", mesh.name)
    places = np.flatnonzero(folded)
    index = np.zeros(len(places), np.int64) if mesh.material_index is None else mesh.material_index[folded]
    rows = np.concatenate([places[:, None], mesh.triangles[folded], index[:, None]], axis=1)
    data[FOLDED] = [len(mesh.positions), len(mesh.triangles), *rows.ravel().tolist()]
    data[FOLDED_VALUES] = {
        name: np.ascontiguousarray(found.values[folded]).view(np.uint8).astype(np.int32).ravel().tolist()
        for name, found in mesh.attributes.items()
        if found.domain is Domain.FACE
    }


def folded_rows(data: Any, faces: int) -> NDArray[np.int32]:
    """(faces kept back, 5), while the mesh still has as many vertices and faces (``faces``) as it had with them."""
    kept = np.array(data.get(FOLDED, (0, 0)), np.int32)
    rows = kept[2:].reshape(-1, 5)
    same = len(data.vertices) == kept[0] and faces + len(rows) == kept[1]
    return rows if same else rows[:0]


def put_back(values: NDArray[Any], places: NDArray[np.int32], kept: Any) -> NDArray[Any]:
    """Values of faces with those of the faces that were kept back at their places."""
    if not len(places):
        return values
    result = np.empty((len(values) + len(places), *values.shape[1:]), values.dtype)
    there = np.ones(len(result), np.bool_)
    there[places] = False
    result[there] = values
    result[places] = kept
    return result


@contextmanager
def outside_edit_mode(shown: Any) -> Iterator[Any]:
    """The mesh, or while it is being edited a copy of what it is at this moment: edited meshes hide their arrays."""
    if shown.mode != "EDIT":
        yield shown.data
        return
    shown.update_from_editmode()
    copy = shown.data.copy()
    try:
        yield copy
    finally:
        bpy.data.meshes.remove(copy)


def column(values: Any, name: str, count: int, width: int) -> NDArray[np.float32]:
    """(count, width) a field of Blender's elements, read at once."""
    flat = np.empty(count * width, np.float32)
    if count:
        values.foreach_get(name, flat)
    return flat.reshape(count, width)


def positions_of(data: Any) -> NDArray[np.float32]:
    """(vertices, 3). A mesh without vertices may lack the attribute."""
    count = len(data.vertices)
    return column(data.attributes["position"].data, "vector", count, 3) if count else np.zeros((0, 3), np.float32)


def triangles_of(data: Any) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """(triangles, 3) corner numbers and (triangles,) the polygon each is of."""
    count = len(data.polygons)
    sizes = np.empty(count, np.int32)
    data.polygons.foreach_get("loop_total", sizes)
    if (sizes == 3).all():
        return np.arange(3 * count, dtype=np.int32).reshape(-1, 3), np.arange(count, dtype=np.int32)
    data.calc_loop_triangles()
    cut = len(data.loop_triangles)
    corners, faces = np.empty(3 * cut, np.int32), np.empty(cut, np.int32)
    data.loop_triangles.foreach_get("loops", corners)
    data.loop_triangles.foreach_get("polygon_index", faces)
    return corners.reshape(-1, 3), faces


def corner_uvs(data: Any) -> NDArray[np.float32] | None:
    """(corners, 2) of the layer that is rendered; None where there is none."""
    layer = next((layer for layer in data.uv_layers if layer.active_render), None)
    return None if layer is None else column(layer.uv, "vector", len(data.loops), 2)
