"""Selecting elements of meshes, as a user would."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def select(shown: Any, faces: NDArray[np.int64], vertices: NDArray[np.int64]) -> None:
    """Select these faces or vertices of a mesh alone, outside edit mode."""
    data = shown.data
    of_vertices = np.zeros(len(data.vertices), np.bool_)
    of_vertices[vertices] = True
    of_faces = np.zeros(len(data.polygons), np.bool_)
    of_faces[faces] = True
    if len(faces):
        corners, starts, totals = (np.empty(count, np.int32) for count in (len(data.loops), *[len(of_faces)] * 2))
        data.attributes[".corner_vert"].data.foreach_get("value", corners)
        data.polygons.foreach_get("loop_start", starts)
        data.polygons.foreach_get("loop_total", totals)
        of_vertices[corners[np.repeat(of_faces, totals)]] = True
    data.vertices.foreach_set("select", of_vertices)
    if len(of_faces):
        data.polygons.foreach_set("select", of_faces)
    _select_edges(data, of_vertices)
    data.update()


def _select_edges(data: Any, of_vertices: NDArray[np.bool_]) -> None:
    """Select the edges between selected vertices: in edit mode one more would bring its faces along."""
    if not len(data.edges):
        return
    ends = np.empty(2 * len(data.edges), np.int32)
    data.edges.foreach_get("vertices", ends)
    # Made anew: since 5.0 there may be one value for all edges, which cannot be written at once.
    there = data.attributes.get(".select_edge")
    if there is not None:
        data.attributes.remove(there)
    made = data.attributes.new(".select_edge", "BOOLEAN", "EDGE")
    made.data.foreach_set("value", of_vertices[ends.reshape(-1, 2)].all(axis=1))
