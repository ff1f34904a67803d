"""What an `.oof` says of the model's shape: object header, texture names, sub-objects.

Known from the engine's ``newstyle.cpp`` and ``polymodel.cpp`` and from real files. A sub-object is a rigid part with a
pivot; its vertices are relative to that, its pivot to its parent's. Unused by the engine, and kept: the separation
plane, the two offsets, movement type and axis, and free space.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ....core.binary import Reader, Writer
from .. import strings
from ..strings import read_counted, write_counted
from .faces import SIZES_SINCE, Faces, face_bytes, read_faces

ALPHA_SINCE = 23
"""Hundreds of the version."""


@dataclass(slots=True, eq=False)
class ObjectHeader:
    """``box`` (2, 3) float32, lowest and highest corner, is computed anew by the engine; ``details`` (levels,)."""

    sub_objects: int
    radius: np.float32
    box: NDArray[np.float32]
    details: NDArray[np.int32]

    @staticmethod
    def read(reader: Reader) -> ObjectHeader:
        sub_objects = reader.i32("the number of sub-objects")
        if sub_objects < 0:
            raise reader.error(f"{sub_objects} sub-objects are announced")
        radius = reader.f32("the radius")
        box = reader.array("<f4", 2, 3, what="the box")
        count = reader.i32("the number of levels of detail")
        return ObjectHeader(sub_objects, radius, box, reader.array("<i4", count, what=f"{count} levels of detail"))

    def write(self, writer: Writer) -> None:
        writer.i32(self.sub_objects)
        writer.f32(self.radius)
        writer.array(self.box, "<f4")
        writer.i32(len(self.details))
        writer.array(self.details, "<i4")


@dataclass(slots=True, eq=False)
class TextureNames:
    """The table faces count by: ``names`` as stored, NUL included; duplicates and unused ones are normal."""

    names: list[bytes]

    @staticmethod
    def read(reader: Reader) -> TextureNames:
        count = reader.i32("the number of textures")
        if count < 0 or count * 4 > reader.remaining:
            raise reader.error(f"{count} names need at least {count * 4} bytes, {reader.remaining} are left")
        return TextureNames([read_counted(reader, "the name of a texture") for _ in range(count)])

    def write(self, writer: Writer) -> None:
        writer.i32(len(self.names))
        for name in self.names:
            write_counted(writer, name)

    @property
    def labels(self) -> list[str]:
        """The names as text."""
        return [strings.decode(name) for name in self.names]


@dataclass(slots=True, eq=False)
class SubObject:
    """One rigid part.

    ``plane`` (7,) the separation plane: normal, distance, point; ``offset`` (3,) its pivot from its parent's;
    ``unused`` (2,) tree and data offset; ``movement`` (2,) type and axis. ``positions`` and ``normals`` (vertices, 3)
    relative to the pivot, normals of any length; ``alphas`` (vertices,) or None before version 2300. All float32 or
    int32.
    """

    index: int
    parent: int
    plane: NDArray[np.float32]
    offset: NDArray[np.float32]
    radius: np.float32
    unused: NDArray[np.int32]
    center: NDArray[np.float32]
    name: bytes
    properties: bytes
    movement: NDArray[np.int32]
    free_space: NDArray[np.int32]
    positions: NDArray[np.float32]
    normals: NDArray[np.float32]
    alphas: NDArray[np.float32] | None
    faces: Faces

    @staticmethod
    def read(reader: Reader, major: int) -> SubObject:
        """A sub-object of a file of this version's hundreds."""
        index, parent = reader.i32("the index"), reader.i32("the parent")
        plane = reader.array("<f4", 7, what="the separation plane")
        offset = reader.array("<f4", 3, what="the offset")
        radius = reader.f32("the radius")
        unused = reader.array("<i4", 2, what="two offsets")
        center = reader.array("<f4", 3, what="the geometric centre")
        name, properties = read_counted(reader, "the name"), read_counted(reader, "the properties")
        movement = reader.array("<i4", 2, what="the movement")
        count = reader.i32("the size of free space")
        free_space = reader.array("<i4", count, what=f"{count} numbers of free space")
        count = reader.i32("the number of vertices")
        positions = reader.array("<f4", count, 3, what=f"{count} vertices")
        normals = reader.array("<f4", count, 3, what=f"{count} normals")
        alphas = reader.array("<f4", count, what=f"{count} alphas") if major >= ALPHA_SINCE else None
        faces = read_faces(reader, reader.i32("the number of faces"), sizes=major >= SIZES_SINCE)
        numbers = (movement, free_space, positions, normals, alphas, faces)
        return SubObject(index, parent, plane, offset, radius, unused, center, name, properties, *numbers)

    def write(self, writer: Writer, major: int) -> None:
        """For a file of this version's hundreds."""
        writer.i32(self.index)
        writer.i32(self.parent)
        writer.array(self.plane, "<f4")
        writer.array(self.offset, "<f4")
        writer.f32(self.radius)
        writer.array(self.unused, "<i4")
        writer.array(self.center, "<f4")
        write_counted(writer, self.name)
        write_counted(writer, self.properties)
        writer.array(self.movement, "<i4")
        writer.i32(len(self.free_space))
        writer.array(self.free_space, "<i4")
        writer.i32(len(self.positions))
        writer.array(self.positions, "<f4")
        writer.array(self.normals, "<f4")
        if major >= ALPHA_SINCE:
            alphas = np.ones(len(self.positions), "<f4") if self.alphas is None else self.alphas
            writer.array(alphas, "<f4")
        writer.i32(len(self.faces))
        writer.raw(face_bytes(self.faces, sizes=major >= SIZES_SINCE))

    @property
    def label(self) -> str:
        """The name as text."""
        return strings.decode(self.name)

    @property
    def property_text(self) -> str:
        """The property string as text."""
        return strings.decode(self.properties)


@dataclass(slots=True, eq=False)
class Remark:
    """Chunk PINF: what the generator says of its work; lines of text without an end."""

    text: bytes = field(default=b"")

    @staticmethod
    def read(reader: Reader) -> Remark:
        return Remark(bytes(reader.rest()))

    def write(self, writer: Writer) -> None:
        writer.raw(self.text)
