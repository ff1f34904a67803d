"""The chunks of a visual that say what is drawn: header, texture, vertices, indices, and where a level keeps them.

Every class reads and writes its chunk's body; arrays are views of the file's bytes. Known from the engine's
``FMesh.hpp``, ``SkeletonX.cpp`` and ``r2_loader.cpp``. In a skinned vertex the position is in model space of the rest
pose (version 3: in its bone's space); tangent and binormal are dP/du and dP/dv, not of unit length.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core.binary import Reader, Writer

STATIC = 0x112
"""Vertex format of what no bone moves: Direct3D's bits for position, normal, one texture coordinate."""
MOST_LINKS = 4
MOST_VERTICES = 0xFFFF

_FRAME = [("position", "<f4", 3), ("normal", "<f4", 3), ("tangent", "<f4", 3), ("binormal", "<f4", 3)]


def _skinned(links: int) -> np.dtype[Any]:
    """The vertex with ``links`` bones: one is a u32 at the end, several are u16 at the start; nothing is padded."""
    if links == 1:
        return np.dtype([*_FRAME, ("uv", "<f4", 2), ("bones", "<u4", (1,))])
    return np.dtype([("bones", "<u2", (links,)), *_FRAME, ("weights", "<f4", (links - 1,)), ("uv", "<f4", 2)])


SKINNED = {links: _skinned(links) for links in range(1, MOST_LINKS + 1)}
_STATIC_VERTEX = np.dtype([("position", "<f4", 3), ("normal", "<f4", 3), ("uv", "<f4", 2)])
_OLD_VERTEX = np.dtype([("position", "<f4", 3), ("normal", "<f4", 3), ("uv", "<f4", 2), ("bones", "<u4", (1,))])

SHORT_FORMATS = {1: 1, 2: 2, 3: 3, 4: 4}
"""Number of links -> vertex format of Clear Sky and Call of Pripyat."""
LONG_FORMATS = {1: 0x12071980, 2: 0x240E3300, 3: 0x481C6600, 4: 0x5A237F80}
"""Number of links -> vertex format of Shadow of Chernobyl (three and four links: later engines only)."""

VERTEX_FORMATS: dict[int, np.dtype[Any]] = {
    STATIC: _STATIC_VERTEX,
    **{number: SKINNED[links] for formats in (SHORT_FORMATS, LONG_FORMATS) for links, number in formats.items()},
}
OLD_VERTEX_FORMATS: dict[int, np.dtype[Any]] = {STATIC: _STATIC_VERTEX, 1: _OLD_VERTEX, LONG_FORMATS[1]: _OLD_VERTEX}

WINDOW = np.dtype([("offset", "<u4"), ("triangles", "<u2"), ("vertices", "<u2")])
LOD_CORNER = np.dtype(
    [("position", "<f4", 3), ("uv", "<f4", 2), ("colour", "<u4"), ("sun", "u1"), ("padding", "u1", 3)]
)


@dataclass(slots=True, eq=False)
class Header:
    """``box`` (2, 3) float32 lowest and highest corner and ``sphere`` (4,) centre and radius, None in version 3."""

    version: int
    type: int
    shader: int
    box: NDArray[np.float32] | None = None
    sphere: NDArray[np.float32] | None = None

    @classmethod
    def read(cls, reader: Reader) -> Header:
        """Raises `ReadError` for versions other than 3 and 4."""
        version = reader.u8("the model's version")
        if version not in (3, 4):
            raise reader.error(
                f"a model of version {version} is not known (known: 3 and 4)",
                "Check that this is a model of S.T.A.L.K.E.R.; older builds' models have to be converted first",
            )
        header = cls(version, reader.u8("the model's type"), reader.u16("the model's shader"))
        if version == 4:
            header.box = reader.array("<f4", 2, 3, what="the bounding box")
            header.sphere = reader.array("<f4", 4, what="the bounding sphere")
        return header

    def write(self, writer: Writer) -> None:
        writer.u8(self.version)
        writer.u8(self.type)
        writer.u16(self.shader)
        if self.box is not None and self.sphere is not None:
            writer.array(self.box, "<f4")
            writer.array(self.sphere, "<f4")


@dataclass(slots=True, eq=False)
class Bounds:
    """Version 3's bounding box: ``box`` (2, 3) float32."""

    box: NDArray[np.float32]

    @classmethod
    def read(cls, reader: Reader) -> Bounds:
        return cls(reader.array("<f4", 2, 3, what="the bounding box"))

    def write(self, writer: Writer) -> None:
        writer.array(self.box, "<f4")


@dataclass(slots=True, eq=False)
class Sphere:
    """Version 3's bounding sphere: ``sphere`` (4,) float32, centre and radius."""

    sphere: NDArray[np.float32]

    @classmethod
    def read(cls, reader: Reader) -> Sphere:
        return cls(reader.array("<f4", 4, what="the bounding sphere"))

    def write(self, writer: Writer) -> None:
        writer.array(self.sphere, "<f4")


@dataclass(slots=True)
class Texture:
    """The texture's path without extension, and the engine's shader."""

    texture: bytes
    shader: bytes

    @classmethod
    def read(cls, reader: Reader) -> Texture:
        return cls(reader.string("the texture's name"), reader.string("the shader's name"))

    def write(self, writer: Writer) -> None:
        writer.string(self.texture)
        writer.string(self.shader)


@dataclass(slots=True)
class TextureLinks:
    """Version 3 in levels: numbers of the texture and the shader in the level's lists."""

    texture: int
    shader: int

    @classmethod
    def read(cls, reader: Reader) -> TextureLinks:
        return cls(reader.u32("the texture's number"), reader.u32("the shader's number"))

    def write(self, writer: Writer) -> None:
        writer.u32(self.texture)
        writer.u32(self.shader)


@dataclass(slots=True, eq=False)
class Vertices:
    """``format`` as stored; ``rows`` (vertices,) with the fields of that format (`VERTEX_FORMATS`)."""

    format: int
    rows: NDArray[Any]

    @classmethod
    def read(cls, reader: Reader, formats: Mapping[int, np.dtype[Any]] = VERTEX_FORMATS) -> Vertices:
        """Raises `ReadError` for a format whose layout is not known."""
        number = reader.u32("the vertex format")
        if number not in formats:
            raise reader.error(f"the vertex format {number:#x} is not known")
        count = reader.u32("the number of vertices")
        return cls(number, reader.array(formats[number], count, what=f"{count} vertices"))

    @classmethod
    def read_old(cls, reader: Reader) -> Vertices:
        """As version 3 has them."""
        return cls.read(reader, OLD_VERTEX_FORMATS)

    def write(self, writer: Writer) -> None:
        writer.u32(self.format)
        writer.u32(len(self.rows))
        writer.raw(self.rows.tobytes())

    @property
    def links(self) -> int:
        """How many bones a vertex can follow; 0 where none moves it."""
        names = self.rows.dtype.names or ()
        return self.rows.dtype["bones"].shape[0] if "bones" in names else 0


@dataclass(slots=True, eq=False)
class Indices:
    """``corners`` (3 * triangles,) uint16, clockwise seen from outside. Progressive models store several details."""

    corners: NDArray[np.uint16]

    @classmethod
    def read(cls, reader: Reader) -> Indices:
        count = reader.u32("the number of indices")
        return cls(reader.array("<u2", count, what=f"{count} indices"))

    def write(self, writer: Writer) -> None:
        writer.u32(len(self.corners))
        writer.array(self.corners, "<u2")


@dataclass(slots=True, eq=False)
class SlidingWindows:
    """Levels of detail of a progressive model: ``windows`` (details,) offset, triangles, vertices; 0 is the finest."""

    reserved: NDArray[np.uint32]
    windows: NDArray[Any]

    @classmethod
    def read(cls, reader: Reader) -> SlidingWindows:
        reserved = reader.array("<u4", 4, what="the sliding windows' reserved numbers")
        count = reader.u32("the number of sliding windows")
        return cls(reserved, reader.array(WINDOW, count, what=f"{count} sliding windows"))

    def write(self, writer: Writer) -> None:
        writer.array(self.reserved, "<u4")
        writer.u32(len(self.windows))
        writer.raw(self.windows.tobytes())


@dataclass(slots=True)
class VertexContainer:
    """Where the level keeps the vertices: number of the buffer, first vertex, how many."""

    buffer: int
    base: int
    count: int

    @classmethod
    def read(cls, reader: Reader) -> VertexContainer:
        return cls(reader.u32("the buffer's number"), reader.u32("the first vertex"), reader.u32("the vertex count"))

    def write(self, writer: Writer) -> None:
        for number in (self.buffer, self.base, self.count):
            writer.u32(number)


@dataclass(slots=True)
class IndexContainer:
    """Where the level keeps the indices: number of the buffer, first index, how many."""

    buffer: int
    base: int
    count: int

    @classmethod
    def read(cls, reader: Reader) -> IndexContainer:
        return cls(reader.u32("the buffer's number"), reader.u32("the first index"), reader.u32("the index count"))

    def write(self, writer: Writer) -> None:
        for number in (self.buffer, self.base, self.count):
            writer.u32(number)


@dataclass(slots=True)
class GeometryContainer:
    """Both of the above in one chunk."""

    vertices: VertexContainer
    indices: IndexContainer

    @classmethod
    def read(cls, reader: Reader) -> GeometryContainer:
        return cls(VertexContainer.read(reader), IndexContainer.read(reader))

    def write(self, writer: Writer) -> None:
        self.vertices.write(writer)
        self.indices.write(writer)


@dataclass(slots=True)
class SwiContainer:
    """Number of the sliding windows in the level's list."""

    number: int

    @classmethod
    def read(cls, reader: Reader) -> SwiContainer:
        return cls(reader.u32("the number of the sliding windows"))

    def write(self, writer: Writer) -> None:
        writer.u32(self.number)


@dataclass(slots=True, eq=False)
class Links:
    """Children by their numbers in the level's list of visuals: ``visuals`` (n,) uint32."""

    visuals: NDArray[np.uint32]

    @classmethod
    def read(cls, reader: Reader) -> Links:
        count = reader.u32("the number of children")
        return cls(reader.array("<u4", count, what=f"{count} children"))

    def write(self, writer: Writer) -> None:
        writer.u32(len(self.visuals))
        writer.array(self.visuals, "<u4")


@dataclass(slots=True, eq=False)
class LodFaces:
    """The eight pictures a distant model is drawn as: ``corners`` (8, 4) of position, uv, light and sun."""

    corners: NDArray[Any]

    @classmethod
    def read(cls, reader: Reader) -> LodFaces:
        return cls(reader.array(LOD_CORNER, 8, 4, what="the faces of a level of detail"))

    def write(self, writer: Writer) -> None:
        writer.raw(self.corners.tobytes())


@dataclass(slots=True, eq=False)
class TreeShape:
    """A tree's place and light: ``transform`` (4, 4) rows, ``scale`` and ``bias`` (5,) red, green, blue, sky, sun."""

    transform: NDArray[np.float32]
    scale: NDArray[np.float32]
    bias: NDArray[np.float32]

    @classmethod
    def read(cls, reader: Reader) -> TreeShape:
        transform = reader.array("<f4", 4, 4, what="a tree's transform")
        scale, bias = reader.array("<f4", 2, 5, what="a tree's light")
        return cls(transform, scale, bias)

    def write(self, writer: Writer) -> None:
        for numbers in (self.transform, self.scale, self.bias):
            writer.array(numbers, "<f4")
