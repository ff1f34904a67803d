"""Gun points, ground points, attach points, weapon batteries and special points of an `.oof`.

Known from the engine's ``newstyle.cpp`` and ``polymodel.cpp``. Positions and directions are in the frame of the
sub-object they belong to and follow its animation. Special points are not read by the engine; their layout is known
from real files. A `NATH` entry gives the up vector of the attach point with its number in the place of the direction;
its parent and position are ignored by the engine, and in real files the position is the helper object's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ....core.binary import Reader, Writer
from ..strings import read_counted, write_counted

POINT = np.dtype([("parent", "<i4"), ("position", "<f4", 3), ("direction", "<f4", 3)])
POINT_WITHOUT_PARENT = np.dtype([("position", "<f4", 3), ("direction", "<f4", 3)])
GUN_PARENTS_SINCE = 1908


@dataclass(slots=True, eq=False)
class Points:
    """``rows`` (points,) of `POINT`, or in old files of `POINT_WITHOUT_PARENT`, which belong to sub-object 0."""

    rows: NDArray[Any]

    @classmethod
    def read(cls, reader: Reader, layout: np.dtype[Any] = POINT) -> Self:
        """The points in rows of this layout."""
        count = reader.i32("the number of points")
        return cls(reader.array(layout, _checked(reader, count, "points"), what=f"{count} points"))

    def write(self, writer: Writer) -> None:
        writer.i32(len(self.rows))
        writer.raw(self.rows.tobytes())

    @property
    def parents(self) -> NDArray[np.int32]:
        """(points,) the sub-objects they belong to."""
        if "parent" in (self.rows.dtype.names or ()):
            parents: NDArray[np.int32] = self.rows["parent"]
            return parents
        return np.zeros(len(self.rows), np.int32)


class GunPoints(Points):
    """Where weapons leave, and in which direction; batteries and the game's tables refer to them by number."""


class GroundPoints(Points):
    """Where the object touches the ground."""


class AttachPoints(Points):
    """Where objects dock; the direction is forward."""


class AttachUps(Points):
    """The up vectors of the attach points, in the place of the direction."""


@dataclass(slots=True, eq=False)
class Battery:
    """``guns`` numbers of gun points, ``turrets`` numbers of sub-objects, the most mobile first."""

    guns: NDArray[np.int32]
    turrets: NDArray[np.int32]


@dataclass(slots=True, eq=False)
class Batteries:
    """The weapon batteries; which weapons they fire stands in the game's tables."""

    batteries: list[Battery]

    @staticmethod
    def read(reader: Reader) -> Batteries:
        count = _checked(reader, reader.i32("the number of batteries"), "batteries")
        if count * 8 > reader.remaining:
            raise reader.error(f"{count} batteries need at least {count * 8} bytes, {reader.remaining} are left")
        return Batteries([_read_battery(reader) for _ in range(count)])

    def write(self, writer: Writer) -> None:
        writer.i32(len(self.batteries))
        for battery in self.batteries:
            for numbers in (battery.guns, battery.turrets):
                writer.i32(len(numbers))
                writer.array(numbers, "<i4")


def _read_battery(reader: Reader) -> Battery:
    lists = []
    for what in ("guns", "turrets"):
        count = _checked(reader, reader.i32(f"the number of {what}"), what)
        lists.append(reader.array("<i4", count, what=f"{count} {what}"))
    return Battery(*lists)


@dataclass(slots=True, eq=False)
class SpecialPoint:
    """A named place; ``name`` and ``properties`` as stored, NUL included."""

    name: bytes
    properties: bytes
    position: NDArray[np.float32]
    radius: np.float32


@dataclass(slots=True, eq=False)
class SpecialPoints:
    """Named places that tools put there; the engine passes over them."""

    points: list[SpecialPoint]

    @staticmethod
    def read(reader: Reader) -> SpecialPoints:
        count = _checked(reader, reader.i32("the number of special points"), "special points")
        if count * 24 > reader.remaining:
            raise reader.error(f"{count} special points need at least {count * 24} bytes, {reader.remaining} are left")
        return SpecialPoints(
            [
                SpecialPoint(
                    read_counted(reader, "the name of a special point"),
                    read_counted(reader, "the properties of a special point"),
                    reader.array("<f4", 3, what="the position of a special point"),
                    reader.f32("the radius of a special point"),
                )
                for _ in range(count)
            ]
        )

    def write(self, writer: Writer) -> None:
        writer.i32(len(self.points))
        for point in self.points:
            write_counted(writer, point.name)
            write_counted(writer, point.properties)
            writer.array(point.position, "<f4")
            writer.f32(point.radius)


def _checked(reader: Reader, count: int, what: str) -> int:
    if count < 0:
        raise reader.error(f"{count} {what} are announced")
    return count
