"""The chunk types of an editor mesh. Each class reads and writes the body of its chunk; arrays are views of the bytes.

A corner of a face refers to a point and a vmref. A vmref lists entries of vertex maps: first one of a uv map, then
those of weight maps. So texture coordinates and weights belong to the corner, not to the point. Two maps of the same
name are usual: one has an entry per point, the other (`VertexMap.polygon` 1) one per face corner. Maps are identified
by index. Sources: the editor's ``EditMeshIO.cpp`` and real files.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from ....core import names
from ....core.binary import DAMAGED, Reader, Writer
from ....core.records import (
    Record,
    array,
    counted_rows,
    i32,
    last_rows,
    list_of,
    nested,
    string,
    u8,
    u16,
    u32,
)
from ....core.report import say

MAPS, MAPS_WITHOUT_LISTS, UV_MAPS = 0x1012, 0x1011, 0x1007
"""Chunk ids of vertex maps, from the newest layout to the oldest."""
UV, WEIGHT = 0, 1
"""Values of `VertexMap.type`."""
VISIBLE, LOCKED, MASKS = 1, 2, 4
"""Bits of `MeshFlags`; if `MASKS` is set, the oldest editors read smoothing groups as masks."""
FLAT = 0xFFFF_FFFF
"""The smoothing group of a face with flat shading, which is smooth with no other face."""


@dataclass(slots=True)
class Version(Record):
    """The version of an object (0x10) or of a mesh (0x11); editors refuse other values."""

    number: Annotated[int, u16("the version")]


@dataclass(slots=True)
class MeshName(Record):
    """The name of the mesh; editors rename duplicates."""

    name: Annotated[bytes, string("the mesh's name")]


@dataclass(slots=True, eq=False)
class Box(Record):
    """The bounding box of the points: ``corners`` (2, 3) float32 lowest and highest corner."""

    corners: Annotated[NDArray[np.float32], array("<f4", 2, 3, what="the bounding box")]


@dataclass(slots=True)
class MeshFlags(Record):
    """The flags of a mesh: `VISIBLE`, `LOCKED`, `MASKS`."""

    flags: Annotated[int, u8("the mesh's flags")]


@dataclass(slots=True)
class Locked(Record):
    """Whether the mesh is locked (old files)."""

    value: Annotated[int, u8("whether the mesh is locked")]


@dataclass(slots=True)
class Options(Record):
    """Two numbers of the modelling program, 0 in all real files but one."""

    first: Annotated[int, i32("an option")]
    second: Annotated[int, i32("an option")]


@dataclass(slots=True, eq=False)
class RowGroups:
    """Groups of rows: ``counts`` (groups,) uint8 rows per group; ``rows`` (all rows, columns) int32 of all groups."""

    counts: NDArray[np.uint8]
    rows: NDArray[np.int32]

    @classmethod
    def read_groups(cls, reader: Reader, groups: int, columns: int, what: str) -> RowGroups:
        """Read groups of ``u8 k, k × i32[columns]``. Raises `ReadError` if bytes are missing."""
        starts, end = _starts(reader, groups, 4 * columns, what)
        data = np.frombuffer(reader.take(end, what), np.uint8)
        counts = data[starts]
        rows = np.ones(end, np.bool_)
        rows[starts] = False
        return cls(counts, data[rows].view("<i4").reshape(-1, columns))

    def write(self, writer: Writer) -> None:
        row = 4 * self.rows.shape[1]
        sizes = 1 + row * self.counts.astype(np.int64)
        starts = np.cumsum(sizes) - sizes
        data = np.empty(int(sizes.sum()), np.uint8)
        inside = np.ones(len(data), np.bool_)
        inside[starts] = False
        data[starts] = self.counts
        data[inside] = np.ascontiguousarray(self.rows, "<i4").view(np.uint8).ravel()
        writer.raw(data.tobytes())


def _starts(reader: Reader, groups: int, row: int, what: str) -> tuple[NDArray[np.int64], int]:
    """Return the offset of each group's count, and the end of the last group, from the reader's position.

    ``row`` is the size of a row in bytes. Raises `ReadError` if bytes are missing.
    """
    data = reader.data[reader.position :]
    if groups > len(data):
        raise reader.error(say("{}: {} are declared, {} bytes are left", what, groups, len(data)), DAMAGED)
    if not groups:
        return np.zeros(0, np.int64), 0
    stride = 1 + row * data[0]
    if groups * stride <= len(data) and bytes(data[: groups * stride : stride]).count(data[0]) == groups:
        return np.arange(groups, dtype=np.int64) * stride, groups * stride
    # Groups of different sizes: the size of each gives the offset of the next.
    sizes = [1 + row * count for count in range(256)]
    try:
        starts = np.fromiter(_group_offsets(bytes(data), sizes), np.int64, groups)
    except IndexError:
        end = len(data) + 1
    else:
        end = int(starts[-1]) + sizes[data[starts[-1]]]
    if end > len(data):
        raise reader.error(say("{} need more than the {} bytes that are left", what, len(data)), DAMAGED)
    return starts, end


def _group_offsets(counts: bytes, sizes: list[int]) -> Iterator[int]:
    """Yield the offsets of consecutive groups, ended by `IndexError`.

    ``sizes`` is the size of a group in bytes by its count.
    """
    offset = 0
    while True:
        size = sizes[counts[offset]]
        yield offset
        offset += size


@dataclass(slots=True, eq=False)
class Points(Record):
    """The points of a mesh: ``positions`` (points, 3) float32 metres in the object's space, also of skinned meshes.

    ``faces``: in old files the faces around each point, else None.
    """

    positions: NDArray[np.float32]
    faces: RowGroups | None = None

    @classmethod
    def read(cls, reader: Reader) -> Points:
        count = reader.u32("the number of points")
        points = cls(reader.array("<f4", count, 3, what="the points"))
        if reader.remaining:
            points.faces = RowGroups.read_groups(reader, count, 1, "the faces around points")
        return points

    def write(self, writer: Writer) -> None:
        writer.u32(len(self.positions))
        writer.array(self.positions, "<f4")
        if self.faces is not None:
            self.faces.write(writer)


@dataclass(slots=True, eq=False)
class Faces(Record):
    """Triangles: ``corners`` (faces, 3, 2) uint32, point and vmref of each corner.

    (v1-v0)×(v2-v0) points outwards.
    """

    corners: Annotated[NDArray[np.uint32], counted_rows(u32("the number of faces"), "<u4", 3, 2, what="the faces")]


@dataclass(slots=True, eq=False)
class Smoothing(Record):
    """Smoothing of the faces: ``groups`` (faces,) uint32, ids of groups, masks, or edge bits. See `smoothing`."""

    groups: Annotated[NDArray[np.uint32], last_rows("<u4", what="smoothing groups")]


@dataclass(slots=True, eq=False)
class Normals(Record):
    """Stored normals of newer editors: ``normals`` (faces, 3, 3) float32, a normal per corner."""

    normals: Annotated[NDArray[np.float32], last_rows("<f4", 3, 3, what="normals of faces")]


@dataclass(slots=True, eq=False)
class VertexMapRefs(Record):
    """The vmrefs, groups in ``refs``. Each row is the index of a vertex map and the index of an entry in it."""

    refs: RowGroups

    @classmethod
    def read(cls, reader: Reader) -> VertexMapRefs:
        return cls(RowGroups.read_groups(reader, reader.u32("the number of vmrefs"), 2, "vmrefs"))

    def write(self, writer: Writer) -> None:
        writer.u32(len(self.refs.counts))
        self.refs.write(writer)


@dataclass(slots=True, eq=False)
class SurfaceFaces(Record):
    """The faces (n,) int32 of one surface, with the name of the surface."""

    surface: Annotated[bytes, string("a surface's name")]
    faces: Annotated[
        NDArray[np.int32], counted_rows(u32("the number of a surface's faces"), "<i4", what="the faces of a surface")
    ]

    @property
    def label(self) -> str:
        """The name as text."""
        return names.decode(self.surface)


@dataclass(slots=True, eq=False)
class SurfacesOfFaces(Record):
    """The faces of each surface."""

    surfaces: Annotated[
        list[SurfaceFaces],
        list_of(u16("the number of surfaces"), nested(SurfaceFaces.read), "surface", 5),
    ]


@dataclass(slots=True, eq=False)
class VertexMap:
    """A map of uv (``values`` (entries, 2) float32, v down) or of weights (entries, 1).

    ``polygon`` 1: entries belong to face corners, and ``faces`` (entries,) int32 are their faces. ``points`` (entries,)
    int32 are their points. Fields that the file's layout lacks are None. The lists of points and faces in real files
    are unreliable, so readers follow the vmrefs instead.
    """

    name: bytes
    type: int
    values: NDArray[np.float32]
    polygon: int | None = None
    points: NDArray[np.int32] | None = None
    faces: NDArray[np.int32] | None = None

    @property
    def label(self) -> str:
        """The name as text."""
        return names.decode(self.name)


@dataclass(slots=True, eq=False)
class VertexMaps(Record):
    """The vertex maps in the order of the indices in vmrefs; ``layout`` is the id of the chunk."""

    maps: list[VertexMap]
    layout: int = MAPS

    @classmethod
    def read(cls, reader: Reader, layout: int = MAPS) -> VertexMaps:
        count = reader.expect_room(reader.u32("the number of vertex maps"), "vertex map", 5)
        return cls([_read_map(reader, layout) for _ in range(count)], layout)

    def write(self, writer: Writer) -> None:
        writer.u32(len(self.maps))
        for vertex_map in self.maps:
            _write_map(writer, vertex_map, self.layout)


def _read_map(reader: Reader, layout: int) -> VertexMap:
    name = reader.string("a vertex map's name")
    width = reader.u8("the numbers of an entry") if layout != UV_MAPS else 2
    polygon = reader.u8("whether a map is of face corners") if layout == MAPS else None
    kind = reader.u8("a vertex map's type") if layout != UV_MAPS else UV
    count = reader.u32("the number of a map's entries")
    if not width and count:
        raise reader.error(say("a vertex map has {:# entry|# entries} without numbers", count))
    what = "the entries of a vertex map"
    vertex_map = VertexMap(name, kind, reader.array("<f4", count, width, what=what), polygon)
    if layout == MAPS:
        vertex_map.points = reader.array("<i4", count, what=what)
        vertex_map.faces = reader.array("<i4", count, what=what) if polygon else None
    return vertex_map


def _write_map(writer: Writer, vertex_map: VertexMap, layout: int) -> None:
    writer.string(vertex_map.name)
    if layout != UV_MAPS:
        writer.u8(vertex_map.values.shape[1])
        if layout == MAPS:
            writer.u8(vertex_map.polygon or 0)
        writer.u8(vertex_map.type)
    writer.u32(len(vertex_map.values))
    writer.array(vertex_map.values, "<f4")
    for indices in (vertex_map.points, vertex_map.faces):
        if indices is not None:
            writer.array(indices, "<i4")
