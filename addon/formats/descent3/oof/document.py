"""Document of an `.oof` file: a model of Descent 3 as chunks in file order, typed if their meaning is known.

Source: the engine's ``newstyle.cpp`` and ``polymodel.cpp``, and real files of version 2300; older versions are known
from the engine alone. Unknown: the chunks IDTA and GRID, which the engine skips and no real file contains. All
positions, normals and directions are float32 in the file's axes (x right, y up, z forward, left-handed).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Annotated, TypeVar

import numpy as np
from numpy.typing import NDArray

from ....core import names
from ....core.binary import Bytes, Reader, Writer
from ....core.records import Record, Stored, array, counted_rows, f32, i32, list_of, nested
from ....core.report import say
from .. import strings

MAGIC = b"PSPO"
OLDEST, NEWEST = 1807, 2300
GUN_PARENTS_SINCE = 1908
SIZES_SINCE, TIMED_SINCE, ALPHA_SINCE = 21, 22, 23
"""Hundreds of the version from which faces have sizes, keys have times, vertices have alphas."""
FULL_TURN = 65536
"""Angle units of a full turn. Stored angles are not limited to one turn."""

FACE = np.dtype(
    [
        ("normal", "<f4", 3),
        ("textured", "<i4"),
        ("texture", "<i4"),
        ("colour", "u1", 3),
        ("sizes", "<f4", 2),
    ]
)
"""``textured`` is 0 for a flat colour; ``texture`` is -1 and ``colour`` 0 if unused."""
CORNER = np.dtype([("vertex", "<i4"), ("uv", "<f4", 2)])
POINT = np.dtype([("parent", "<i4"), ("position", "<f4", 3), ("direction", "<f4", 3)])
POINT_WITHOUT_PARENT = np.dtype([("position", "<f4", 3), ("direction", "<f4", 3)])
ROTATION_KEY = np.dtype([("start", "<i4"), ("axis", "<f4", 3), ("angle", "<i4")])
POSITION_KEY = np.dtype([("start", "<i4"), ("position", "<f4", 3)])
UNTIMED_ROTATION_KEY = np.dtype([("axis", "<f4", 3), ("angle", "<i4")])
UNTIMED_POSITION_KEY = np.dtype([("position", "<f4", 3)])


def count_of(what: str) -> Stored[int]:
    """Return a field for the number of ``what``. Reading raises `ReadError` if it is negative."""
    noun = say("the number of {}", what)

    def read(reader: Reader) -> int:
        count = reader.i32(noun)
        if count < 0:
            raise reader.error(say("{} {} are declared", count, what))
        return count

    return Stored(read, Writer.i32)


def _indices(what: str) -> Stored[NDArray[np.int32]]:
    return counted_rows(count_of(what), "<i4", what=what)


# Shape ---------------------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class ObjectHeader(Record):
    """Chunk OHDR. ``box`` (2, 3): lowest and highest corner, recomputed by the engine; ``details`` (levels,) int32."""

    sub_objects: Annotated[int, count_of("sub-objects")]
    radius: Annotated[np.float32, f32("the radius")]
    box: Annotated[NDArray[np.float32], array("<f4", 2, 3, what="the box")]
    details: Annotated[NDArray[np.int32], _indices("levels of detail")]


@dataclass(slots=True, eq=False)
class TextureNames(Record):
    """Chunk TXTR, the texture table that faces index: ``names`` as stored, with NUL; possibly duplicate or unused."""

    names: Annotated[list[bytes], list_of(count_of("textures"), strings.counted("the name of a texture"), "name", 4)]

    @property
    def labels(self) -> list[str]:
        """Texture names as text."""
        return [strings.decode(name) for name in self.names]


@dataclass(slots=True, eq=False)
class Faces:
    """Faces: ``rows`` (faces,) of `FACE`, ``counts`` (faces,) corners per face, ``corners`` (corners,) of `CORNER`."""

    rows: NDArray[np.void]
    counts: NDArray[np.int32]
    corners: NDArray[np.void]

    @staticmethod
    def none() -> Faces:
        """Return an instance without faces."""
        return Faces(np.zeros(0, FACE), np.zeros(0, np.int32), np.zeros(0, CORNER))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def starts(self) -> NDArray[np.int64]:
        """(faces + 1,) index of each face's first corner, and the number of corners."""
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(self.counts, dtype=np.int64)])

    @property
    def is_textured(self) -> NDArray[np.bool_]:
        """(faces,) bool: False for flat colours."""
        textured: NDArray[np.bool_] = self.rows["textured"] != 0
        return textured


@dataclass(slots=True, eq=False)
class SubObject(Record):
    """Chunk SOBJ, one rigid part.

    ``plane`` (7,): the separation plane (normal, distance, point); ``offset`` (3,): pivot relative to the parent's
    pivot; ``unused`` (2,): tree and data offset; ``movement`` (2,): type and axis. ``positions`` and ``normals``
    (vertices, 3) relative to the pivot, normals of any length; ``alphas`` (vertices,), None before version 2300. The
    engine does not use ``plane``, ``unused``, ``movement`` and ``free_space``; they are kept.
    """

    index: Annotated[int, i32("the index")]
    parent: Annotated[int, i32("the parent")]
    plane: Annotated[NDArray[np.float32], array("<f4", 7, what="the separation plane")]
    offset: Annotated[NDArray[np.float32], array("<f4", 3, what="the offset")]
    radius: Annotated[np.float32, f32("the radius")]
    unused: Annotated[NDArray[np.int32], array("<i4", 2, what="two offsets")]
    center: Annotated[NDArray[np.float32], array("<f4", 3, what="the geometric centre")]
    name: Annotated[bytes, strings.counted("the name")]
    properties: Annotated[bytes, strings.counted("the properties")]
    movement: Annotated[NDArray[np.int32], array("<i4", 2, what="the movement")]
    free_space: Annotated[NDArray[np.int32], _indices("numbers of free space")]
    positions: NDArray[np.float32]
    normals: NDArray[np.float32]
    alphas: NDArray[np.float32] | None
    faces: Faces

    @property
    def label(self) -> str:
        """Name as text."""
        return strings.decode(self.name)

    @property
    def property_text(self) -> str:
        """Property string as text."""
        return strings.decode(self.properties)


@dataclass(slots=True, eq=False)
class Remark(Record):
    """Chunk PINF: lines of text from the tool that wrote the file, without NUL."""

    text: Annotated[bytes, Stored(lambda reader: bytes(reader.rest()), Writer.raw)] = field(default=b"")


# Points --------------------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Points:
    """Points: ``rows`` (points,) of `POINT`; in old files of `POINT_WITHOUT_PARENT`, all of sub-object 0.

    Positions and directions are in the space of the sub-object and follow its animation.
    """

    rows: NDArray[np.void]

    @property
    def parents(self) -> NDArray[np.int32]:
        """(points,) stored index of each point's sub-object."""
        if "parent" in (self.rows.dtype.names or ()):
            parents: NDArray[np.int32] = self.rows["parent"]
            return parents
        return np.zeros(len(self.rows), np.int32)


class GunPoints(Points):
    """Chunk GPNT: muzzles and firing directions. Batteries and the game's tables refer to them by index."""


class GroundPoints(Points):
    """Chunk GRND: points at which the object touches the ground."""


class AttachPoints(Points):
    """Chunk ATCH: points at which objects dock; the direction is forward."""


class AttachUps(Points):
    """Chunk NATH: the up vector of the attach point with the same index, stored in the direction field.

    The engine ignores parent and position; in real files the position is that of a helper object.
    """


@dataclass(slots=True, eq=False)
class Battery(Record):
    """A weapon battery: ``guns`` indices of gun points, ``turrets`` indices of sub-objects, the most mobile first."""

    guns: Annotated[NDArray[np.int32], _indices("guns")]
    turrets: Annotated[NDArray[np.int32], _indices("turrets")]


@dataclass(slots=True, eq=False)
class Batteries(Record):
    """Chunk WBAT: the weapon batteries. The game's tables define which weapons they fire."""

    batteries: Annotated[list[Battery], list_of(count_of("batteries"), nested(Battery.read), "battery|batteries", 8)]


@dataclass(slots=True, eq=False)
class SpecialPoint(Record):
    """A named point in model space; ``name`` and ``properties`` as stored, with NUL."""

    name: Annotated[bytes, strings.counted("the name of a special point")]
    properties: Annotated[bytes, strings.counted("the properties of a special point")]
    position: Annotated[NDArray[np.float32], array("<f4", 3, what="the position of a special point")]
    radius: Annotated[np.float32, f32("the radius of a special point")]


@dataclass(slots=True, eq=False)
class SpecialPoints(Record):
    """Chunk SPCL, which the engine skips; its layout is known from real files."""

    points: Annotated[
        list[SpecialPoint], list_of(count_of("special points"), nested(SpecialPoint.read), "special point", 24)
    ]


# Animation -----------------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Tracks:
    """One track per sub-object, in order of the stored index.

    ``keys`` of each track, structured; ``ranges`` (sub-objects, 2): first and last tick, None in untimed files (before
    version 2200), in which every track has the same stored number of keys, ``shared_count``.
    """

    keys: list[NDArray[np.void]]
    ranges: NDArray[np.int32] | None
    shared_count: int = 0

    @property
    def timed(self) -> bool:
        """Whether keys have times."""
        return self.ranges is not None


class RotationTracks(Tracks):
    """Chunk RANI or ANIM: ``axis`` and ``angle`` of the rotation since the previous key, in the parent's space.

    Angles are in units of 1 / `FULL_TURN` of a turn.
    """


class PositionTracks(Tracks):
    """Chunk PANI: ``position`` is added to the sub-object's offset, in the parent's space."""


# The file ------------------------------------------------------------------------------------------------------------


Value = (
    ObjectHeader
    | TextureNames
    | SubObject
    | GunPoints
    | GroundPoints
    | AttachPoints
    | AttachUps
    | Batteries
    | SpecialPoints
    | RotationTracks
    | PositionTracks
    | Remark
)
"""Content of a chunk of known meaning."""
Wanted = TypeVar("Wanted")


@dataclass(slots=True, eq=False)
class Section:
    """A chunk: its id of four letters and its ``value``, None if its meaning is unknown.

    ``body``: the bytes of an unknown chunk; ``tail``: bytes after a value that ends before its chunk.
    """

    id: bytes
    value: Value | None = None
    body: Bytes = b""
    tail: Bytes = b""


@dataclass(slots=True, eq=False)
class Oof:
    """A model: its chunks in file order. ``file`` is the file's name, for messages."""

    version: int
    sections: list[Section]
    tail: Bytes = b""
    file: str = field(default="", compare=False)

    @property
    def major(self) -> int:
        """Hundreds of the version, which determine most of the layout."""
        return self.version // 100

    @property
    def name(self) -> str:
        """The file's name without folder and suffix."""
        return PurePath(self.file.replace("\\", "/")).stem

    def all(self, kind: type[Wanted]) -> Iterator[Wanted]:
        """Yield the values of a type, in file order."""
        return (section.value for section in self.sections if isinstance(section.value, kind))

    def first(self, kind: type[Wanted]) -> Wanted | None:
        """Return the first value of a type, or None."""
        return next(self.all(kind), None)

    def last(self, kind: type[Wanted]) -> Wanted | None:
        """Return the last value of a type, which is the one that the engine uses, or None."""
        return next(iter(reversed(list(self.all(kind)))), None)

    @property
    def header(self) -> ObjectHeader:
        """The object header. `read` refuses files without one."""
        header = self.first(ObjectHeader)
        assert header is not None  # noqa: S101 - `read` refuses a file without one
        return header

    @property
    def sub_objects(self) -> list[SubObject]:
        """Sub-objects in order of their stored index. Of duplicate indices the first counts; indices beyond the number
        that the header declares are left out.

        The index in this list is the part index of `Model`. It differs from the stored index if some are missing.
        """
        parts: dict[int, SubObject] = {}
        for part in self.all(SubObject):
            if 0 <= part.index < self.header.sub_objects:
                parts.setdefault(part.index, part)
        return [parts[index] for index in sorted(parts)]

    @property
    def textures(self) -> list[str]:
        """Names of the textures that faces index."""
        names = self.last(TextureNames)
        return names.labels if names is not None else []

    @property
    def part_indices(self) -> dict[int, int]:
        """Stored index -> part index."""
        return {part.index: index for index, part in enumerate(self.sub_objects)}

    @property
    def parent_indices(self) -> NDArray[np.int32]:
        """(sub-objects,) part index of each one's parent, -1 for roots, also for those that are their own parent."""
        indices = self.part_indices
        parents = [-1 if part.parent == part.index else indices.get(part.parent, -1) for part in self.sub_objects]
        return np.array(parents, np.int32)


def chunk_label(identifier: bytes) -> str:
    """Return a chunk's id as text, as hexadecimal digits if it is not alphanumeric."""
    return names.decode(identifier) if identifier.isalnum() else identifier.hex()
