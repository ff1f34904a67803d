"""What an `.oof` says: a model of Descent 3 as a run of chunks in the file's order, typed where their kind is known.

Known from the engine's ``newstyle.cpp`` and ``polymodel.cpp`` and from real files of version 2300; older versions are
known from the engine alone. Not known: IDTA and GRID, which the engine passes over and no real file holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TypeVar

from ....core.binary import Bytes
from .animation import PositionTracks, RotationTracks
from .geometry import ObjectHeader, Remark, SubObject, TextureNames
from .points import AttachPoints, AttachUps, Batteries, GroundPoints, GunPoints, SpecialPoints

MAGIC = b"PSPO"
OLDEST, NEWEST = 1807, 2300

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
"""Everything a chunk can mean."""

Wanted = TypeVar("Wanted")


@dataclass(slots=True, eq=False)
class Section:
    """A chunk: its four letters and what its body means; ``value`` None where that is not known.

    ``body`` the bytes of what is not known; ``tail`` those behind a value that ends before its chunk does.
    """

    id: bytes
    value: Value | None = None
    body: Bytes = b""
    tail: Bytes = b""


@dataclass(slots=True, eq=False)
class Oof:
    """A model: its chunks in order. ``file`` is the name it was read under."""

    version: int
    sections: list[Section]
    tail: Bytes = b""
    file: str = field(default="", compare=False)

    @property
    def major(self) -> int:
        """The hundreds of the version, which decide about most of the layout."""
        return self.version // 100

    @property
    def name(self) -> str:
        """The file's name without folder and suffix."""
        return PurePath(self.file.replace("\\", "/")).stem

    def all(self, kind: type[Wanted]) -> Iterator[Wanted]:
        """The values of a kind, in file order."""
        return (section.value for section in self.sections if isinstance(section.value, kind))

    def first(self, kind: type[Wanted]) -> Wanted | None:
        """The first value of a kind; None where there is none."""
        return next(self.all(kind), None)

    def last(self, kind: type[Wanted]) -> Wanted | None:
        """The last value of a kind, which is the one the engine keeps; None where there is none."""
        return next(iter(reversed(list(self.all(kind)))), None)

    @property
    def header(self) -> ObjectHeader:
        """The header, which reading made sure of."""
        header = self.first(ObjectHeader)
        assert header is not None  # noqa: S101 - `read` refuses a file without one
        return header

    @property
    def sub_objects(self) -> list[SubObject]:
        """By their index. Those of an index that is taken or does not exist are left out, and so are missing ones."""
        found: dict[int, SubObject] = {}
        for part in self.all(SubObject):
            if 0 <= part.index < self.header.sub_objects:
                found.setdefault(part.index, part)
        return [found[index] for index in sorted(found)]

    @property
    def textures(self) -> list[str]:
        """The names faces count by."""
        names = self.last(TextureNames)
        return names.labels if names is not None else []
