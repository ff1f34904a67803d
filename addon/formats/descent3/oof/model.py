"""A model of Descent 3 as an animator has it, in Blender's axes: parts in a hierarchy, points, batteries, motions.

Parts and points are counted by their place in the lists here; `source` says which of the file's they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from ....core.model import PolygonMesh

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]

NEW = -1
"""The `source` of what no file holds yet."""


@dataclass
class Motion:
    """How a part moves in its parent's frame, tick by tick.

    ``first`` the tick of the first row; ``rotations`` (ticks, 4) quaternions w first, sign-continuous;
    ``displacements`` (ticks, 3) are added to the part's offset. ``key_ticks`` are those at which the file has keys:
    what an importer sets keys at, and what an exporter keeps keys at where it can.
    """

    first: int
    rotations: Floats
    displacements: Floats
    key_ticks: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))

    @property
    def last(self) -> int:
        """The tick of the last row."""
        return self.first + len(self.rotations) - 1


@dataclass
class Part:
    """A sub-object: a rigid mesh around its pivot.

    ``parent`` place of another part or -1; ``offset`` (3,) its pivot from its parent's. ``properties`` is the property
    string, verbatim. ``motion`` None where nothing is said: an export keeps what the file has. ``spin_axis`` (3,) of a
    rotor or turret, which the game turns by itself, right-handed: key rotations do not move such a part.
    """

    name: str
    mesh: PolygonMesh
    parent: int = -1
    offset: Singles = field(default_factory=lambda: np.zeros(3, np.float32))
    properties: str = ""
    motion: Motion | None = None
    spin_axis: Floats | None = None
    source: int = NEW


class PointKind(Enum):
    """What a point is for."""

    GUN = "gun point"
    GROUND = "ground point"
    ATTACH = "attach point"
    SPECIAL = "special point"


@dataclass
class Point:
    """A place of a part, in the part's frame.

    ``direction`` (3,) where it points to, None for special points; ``up`` (3,) of an attach point that has one.
    ``name``, ``properties`` and ``radius`` are a special point's, whose ``parent`` is -1. ``source`` is its number
    among those of its kind.
    """

    kind: PointKind
    parent: int
    position: Singles
    direction: Singles | None = None
    up: Singles | None = None
    name: str = ""
    properties: str = ""
    radius: float = 0.0
    source: int = NEW


@dataclass
class WeaponBattery:
    """``guns`` numbers among the gun points, ``turrets`` places of parts, the most mobile first."""

    guns: list[int] = field(default_factory=list)
    turrets: list[int] = field(default_factory=list)


@dataclass
class Model:
    """A whole model. ``textures`` is the file's table; ``first_tick`` and ``last_tick`` bound all motions."""

    name: str
    parts: list[Part] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)
    batteries: list[WeaponBattery] = field(default_factory=list)
    textures: list[str] = field(default_factory=list)

    def of_kind(self, kind: PointKind) -> list[Point]:
        """The points of a kind, in order: the place of a gun point in it is what batteries call it by."""
        return [point for point in self.points if point.kind is kind]

    @property
    def ticks(self) -> tuple[int, int]:
        """The first and last tick of all motions; 0 is always between them, as in the game."""
        moving = [part.motion for part in self.parts if part.motion is not None]
        return min([0, *(m.first for m in moving)]), max([0, *(m.last for m in moving)])
