"""Weights of vertices: `VertexWeights` -> vertex groups, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.model import Mesh, PolygonMesh, VertexWeights


def build(shown: Any, mesh: Mesh | PolygonMesh) -> None:
    """A vertex group for each of ``mesh.groups``, in their order, and who pulls on whom.

    Blender takes many vertices at once, but one weight: a call for each different weight of a group.
    """
    groups = [shown.vertex_groups.new(name=name) for name in mesh.groups]
    pulls = mesh.weights
    if pulls is None or not len(pulls.weights):
        return
    order = np.lexsort((pulls.vertices, pulls.weights, pulls.groups))
    group, weight, vertex = pulls.groups[order], pulls.weights[order], pulls.vertices[order]
    starts = np.flatnonzero(np.append(True, (np.diff(group) != 0) | (np.diff(weight) != 0)))
    ends = [*starts[1:].tolist(), len(order)]
    vertices = vertex.tolist()
    for start, end, number, value in zip(
        starts.tolist(), ends, group[starts].tolist(), weight[starts].tolist(), strict=True
    ):
        groups[number].add(vertices[start:end], value, "REPLACE")


def _weights(data: Any) -> VertexWeights:
    """By vertex, then in Blender's order.

    Blender has no array of weights to hand out; this walk of its members is the fastest door there is (2 µs each).
    """
    members = [(vertex.index, member.group, member.weight) for vertex in data.vertices for member in vertex.groups]
    rows = np.array(members, np.float64).reshape(-1, 3)
    return VertexWeights(rows[:, 0].astype(np.int32), rows[:, 1].astype(np.int32), rows[:, 2].astype(np.float32))


def gather(data: Any, extra: NDArray[np.int32]) -> VertexWeights:
    """The weights of a mesh; ``extra`` the old vertices of those behind the last, which follow the same bones."""
    pulls, count = _weights(data), len(data.vertices)
    if not len(extra):
        return pulls
    starts = np.searchsorted(pulls.vertices, extra)
    counts = np.searchsorted(pulls.vertices, extra, side="right") - starts
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    members = np.repeat(starts, counts) + within
    return VertexWeights(
        np.concatenate([pulls.vertices, np.repeat(count + np.arange(len(extra)), counts).astype(np.int32)]),
        np.concatenate([pulls.groups, pulls.groups[members]]),
        np.concatenate([pulls.weights, pulls.weights[members]]),
    )
