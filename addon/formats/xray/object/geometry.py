"""A mesh's geometry as arrays, in X-Ray's axes, and the chunks of a new mesh of it.

New meshes have vertex maps as the SDK writes them: a uv map with the first uv met at each point, a second one of the
same name with the others, then a weight map for each bone that has points.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core.errors import WriteError
from ....core.model import VertexWeights
from ....core.text import counted
from ....core.triangles import row_groups
from ..chunks import Chunk, Section
from .document import Mesh
from .mesh_chunks import (
    UV,
    VISIBLE,
    WEIGHT,
    Box,
    Faces,
    MeshFlags,
    MeshName,
    Normals,
    Options,
    Points,
    Runs,
    Smoothing,
    SurfaceFaces,
    SurfacesOfFaces,
    Version,
    VertexMap,
    VertexMapRefs,
    VertexMaps,
)

UV_MAP = b"Texture"
"""What the SDK calls uv maps."""
MOST_REFS = 255
CHUNK_IDS: dict[type, int] = {
    Version: 0x1000,
    MeshName: 0x1001,
    Box: 0x1004,
    MeshFlags: 0x1002,
    Options: 0x1010,
    Points: 0x1005,
    Faces: 0x1006,
    Smoothing: 0x1013,
    Normals: 0x1014,
    VertexMapRefs: 0x1008,
    SurfacesOfFaces: 0x1009,
    VertexMaps: 0x1012,
}
"""In the SDK's order."""


@dataclass
class Geometry:
    """Triangles in X-Ray's axes.

    ``positions`` (vertices, 3) float32; ``point`` (vertices,) the point of the file that each vertex is: vertices of
    one point differ in their weights. ``corners`` (faces, 3) vertices; ``uvs`` (faces, 3, 2) float32, v down;
    ``surface`` (faces,) index into ``surfaces``, -1 for none; ``smoothing`` (faces,) uint32; ``normals`` (faces, 3, 3)
    float32. ``weights`` of vertices, by index into ``groups``, the names of weight maps.
    """

    positions: NDArray[np.float32]
    point: NDArray[np.int64]
    corners: NDArray[np.int64]
    uvs: NDArray[np.float32]
    surface: NDArray[np.int64]
    surfaces: list[bytes]
    smoothing: NDArray[np.uint32] | None = None
    normals: NDArray[np.float32] | None = None
    groups: list[bytes] = field(default_factory=list)
    weights: VertexWeights | None = None


def new_mesh(name: bytes, geometry: Geometry) -> Mesh:
    """A mesh of its own, with the chunks that the SDK writes. Raises `WriteError`."""
    values: dict[type, Any] = {
        Version: Version(0x11),
        MeshName: MeshName(name),
        MeshFlags: MeshFlags(VISIBLE),
        Options: Options(0, 0),
        **chunk_values(geometry),
    }
    return Mesh([Section(Chunk(number, b""), values[kind]) for kind, number in CHUNK_IDS.items() if kind in values])


def chunk_values(geometry: Geometry) -> dict[type, Any]:
    """The chunks that say the geometry, by their types. Raises `WriteError` for a vertex with too many weights."""
    points = np.zeros((int(geometry.point.max()) + 1 if len(geometry.point) else 0, 3), np.float32)
    # Of several written to one place the last stays: backwards, that is the first vertex.
    points[geometry.point[::-1]] = geometry.positions[::-1]
    maps, uv_ref = _uv_maps(geometry)
    rows, counts = _weight_refs(geometry, maps)
    vmref = row_groups(np.concatenate([geometry.corners.reshape(-1, 1), uv_ref], axis=1))
    total = int(vmref.max()) + 1 if len(vmref) else 0
    vertex, first = np.zeros(total, np.int64), np.zeros((total, 2), np.int64)
    vertex[vmref], first[vmref] = geometry.corners.ravel(), uv_ref
    refs = _joined_refs(first, vertex, rows, counts)
    corners = np.stack([geometry.point[geometry.corners], vmref.reshape(-1, 3)], axis=2).astype(np.uint32)
    result: dict[type, Any] = {
        Box: Box(box_of(points)),
        Points: Points(points),
        Faces: Faces(corners),
        VertexMapRefs: VertexMapRefs(refs),
        SurfacesOfFaces: SurfacesOfFaces(
            [
                SurfaceFaces(name, np.flatnonzero(geometry.surface == number).astype(np.int32))
                for number, name in enumerate(geometry.surfaces)
                if (geometry.surface == number).any()
            ]
        ),
        VertexMaps: VertexMaps(maps),
    }
    if geometry.smoothing is not None:
        result[Smoothing] = Smoothing(geometry.smoothing)
    if geometry.normals is not None:
        result[Normals] = Normals(geometry.normals)
    return result


def box_of(points: NDArray[np.float32]) -> NDArray[np.float32]:
    """(2, 3) the lowest and highest corner; zeros without points."""
    if not len(points):
        return np.zeros((2, 3), np.float32)
    return np.stack([points.min(axis=0), points.max(axis=0)])


def _uv_maps(geometry: Geometry) -> tuple[list[VertexMap], NDArray[np.int64]]:
    """The uv maps, and (corners, 2) the map and the entry of each corner."""
    point, uvs = geometry.point[geometry.corners].ravel(), geometry.uvs.reshape(-1, 2)
    bits = np.ascontiguousarray(uvs).view(np.int32).astype(np.int64)
    first = np.full(int(point.max()) + 1 if len(point) else 0, -1, np.int64)
    first[point[::-1]] = np.arange(len(point))[::-1]
    used = np.flatnonzero(first >= 0)
    entry = np.zeros(len(first), np.int64)
    entry[used] = np.arange(len(used))
    maps = [VertexMap(UV_MAP, UV, uvs[first[used]], 0, used.astype(np.int32))]
    ref = np.stack([np.zeros(len(point), np.int64), entry[point]], axis=1)
    others = np.flatnonzero((bits != bits[first[point]]).any(axis=1))
    if len(others):
        group = row_groups(np.concatenate([point[others, None], bits[others]], axis=1))
        speaker = np.zeros(int(group.max()) + 1, np.int64)
        speaker[group] = others  # the last corner, as the SDK names it
        maps.append(
            VertexMap(UV_MAP, UV, uvs[speaker], 1, point[speaker].astype(np.int32), (speaker // 3).astype(np.int32))
        )
        ref[others] = np.stack([np.ones(len(others), np.int64), group], axis=1)
    return maps, ref


def _weight_refs(geometry: Geometry, maps: list[VertexMap]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Weight maps are added to ``maps``; (weights, 2) map and entry, sorted by vertex, and (vertices,) how many."""
    weights = geometry.weights
    counts = np.zeros(len(geometry.positions), np.int64)
    if weights is None or not len(weights.weights):
        return np.zeros((0, 2), np.int64), counts
    order = np.lexsort((weights.vertices, weights.groups))
    vertex, group, value = weights.vertices[order], weights.groups[order], weights.weights[order]
    starts = np.flatnonzero(np.append(True, np.diff(group) != 0))
    refs = np.zeros((len(order), 2), np.int64)
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(order)], strict=True):
        refs[start:end] = np.stack([np.full(end - start, len(maps)), np.arange(end - start)], axis=1)
        values, points = value[start:end].reshape(-1, 1), geometry.point[vertex[start:end]].astype(np.int32)
        maps.append(VertexMap(geometry.groups[int(group[start])], WEIGHT, values.astype(np.float32), 0, points))
    counts += np.bincount(vertex, minlength=len(counts))
    if int(counts.max()) >= MOST_REFS:
        raise WriteError(
            f"a vertex has {counted(int(counts.max()), 'weight')}, the file holds {MOST_REFS - 1}",
            remedy="Limit its total weights",
        )
    return refs[np.lexsort((group, vertex))], counts


def _joined_refs(
    first: NDArray[np.int64], vertex: NDArray[np.int64], rows: NDArray[np.int64], counts: NDArray[np.int64]
) -> Runs:
    """Runs of a uv entry ``first`` (vmrefs, 2) and the weights of its ``vertex`` (vmrefs,)."""
    begins = np.cumsum(counts) - counts
    sizes = counts[vertex] + 1
    starts = np.cumsum(sizes) - sizes
    result = np.zeros((int(sizes.sum()), 2), np.int32)
    result[starts] = first
    within = np.arange(len(result)) - np.repeat(starts, sizes)
    source = np.repeat(begins[vertex], sizes) + within - 1
    result[within > 0] = rows[source[within > 0]]
    return Runs(sizes.astype(np.uint8), result)
