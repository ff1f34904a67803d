"""What LODs are for, by their resolutions, with the names that Object Builder gives them.

The names are the same in the interface, in messages and on the command line, in every language.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

_STORED = struct.Struct("<f")


class LodKind(NamedTuple):
    """A purpose of LODs.

    ``first``: its resolution, or that of number 0 if a model may have several; then ``end`` is the end of the range and
    ``step`` the difference from one number to the next.
    """

    word: str
    first: float
    end: float = 0.0
    step: float = 1.0

    @property
    def is_numbered(self) -> bool:
        """Whether a model may have several, distinguished by a number."""
        return self.end > 0

    def includes(self, resolution: float) -> bool:
        """Return whether a resolution has this purpose."""
        if not self.is_numbered:
            return abs(resolution - self.first) <= 1e-4 * self.first
        return self.first * (1 - 1e-6) <= resolution < self.end * (1 - 1e-6)

    def number(self, resolution: float) -> float:
        """Return the number of a resolution; 0 for a purpose without numbers."""
        return round((resolution - self.first) / self.step, 3) + 0.0 if self.is_numbered else 0.0


RESOLUTION, GEOMETRY, BUOYANCY, PHYSX = "Resolution", "Geometry", "Geometry Buoyancy", "Geometry PhysX"
VIEW_GEOMETRY, FIRE_GEOMETRY = "View Geometry", "Fire Geometry"
SHADOW, SHADOW_BUFFER, EDIT = "Shadow Volume", "Shadow Buffer", "Edit"
MEMORY, LAND_CONTACT, ROADWAY, PATHS, HIT_POINTS = "Memory", "Land Contact", "Roadway", "Paths", "Hit-points"
SUB_PARTS, WRECKAGE, UNKNOWN = "Sub Parts", "Wreckage", "Unknown"

MEMORY_RESOLUTION = 1e15
VISUAL = LodKind(RESOLUTION, 0.0, 1e3)
KINDS = (
    VISUAL,
    LodKind("View Gunner", 1e3),
    LodKind("View Pilot", 1.1e3),
    LodKind("View Cargo", 1.2e3, 1.3e3),
    LodKind(SHADOW_BUFFER, 1.1e4, 1.2e4),
    LodKind(SHADOW, 1e4, 2e4),
    LodKind(EDIT, 2e4, 3e4),
    LodKind(GEOMETRY, 1e13),
    LodKind(BUOYANCY, 2e13),
    LodKind(PHYSX, 4e13),
    LodKind(MEMORY, MEMORY_RESOLUTION),
    LodKind(LAND_CONTACT, 2e15),
    LodKind(ROADWAY, 3e15),
    LodKind(PATHS, 4e15),
    LodKind(HIT_POINTS, 5e15),
    LodKind(VIEW_GEOMETRY, 6e15),
    LodKind(FIRE_GEOMETRY, 7e15),
    LodKind("View Cargo Geometry", 8e15),
    LodKind("View Cargo Fire Geometry", 9e15),
    LodKind("View Commander", 1e16),
    LodKind("View Commander Geometry", 1.1e16),
    LodKind("View Commander Fire Geometry", 1.2e16),
    LodKind("View Pilot Geometry", 1.3e16),
    LodKind("View Pilot Fire Geometry", 1.4e16),
    LodKind("View Gunner Geometry", 1.5e16),
    LodKind("View Gunner Fire Geometry", 1.6e16),
    LodKind(SUB_PARTS, 1.7e16),
    LodKind("Shadow Volume View Cargo", 1.8e16, 1.9e16, 1e13),
    LodKind("Shadow Volume View Pilot", 1.9e16),
    LodKind("Shadow Volume View Gunner", 2e16),
    LodKind(WRECKAGE, 2.1e16),
)
"""All purposes that are known; of two that include a resolution the first one counts."""
BY_WORD = {kind.word: kind for kind in KINDS}

GEOMETRIES = frozenset({BUOYANCY, PHYSX, *(word for word in BY_WORD if word.endswith(GEOMETRY))})
"""LODs that consist of components."""
WITH_MASS = frozenset({GEOMETRY, PHYSX})
"""LODs that store a mass in published models."""
SHADOWS = frozenset(word for word in BY_WORD if word.startswith(SHADOW))
"""LODs that cast shadows as volumes; shadow buffers are drawn."""
INSIDE_VIEWS = frozenset(word for word in BY_WORD if word.startswith("View ") and not word.endswith(GEOMETRY))
"""LODs that are drawn for people inside."""
DRAWN = INSIDE_VIEWS | {RESOLUTION}
"""LODs whose textures the game shows."""


def _kind(resolution: float) -> LodKind | None:
    if resolution < VISUAL.first:
        return VISUAL
    return next((kind for kind in KINDS if kind.includes(resolution)), None)


def kind_of(resolution: float) -> str:
    """Return the purpose of a LOD: its name without the number."""
    kind = _kind(resolution)
    return kind.word if kind is not None else UNKNOWN


def number_of(resolution: float) -> float:
    """Return the number that distinguishes a LOD from others of its purpose; 0 for purposes without numbers."""
    kind = _kind(resolution)
    return kind.number(resolution) if kind is not None else 0.0


def name_of(resolution: float) -> str:
    """Return the name of a LOD, such as ``Resolution 1``, ``Geometry`` or ``Unknown 2.2e16``."""
    kind = _kind(resolution)
    if kind is VISUAL:
        return f"{RESOLUTION} {_in_full(resolution)}"
    if kind is None:
        return f"{UNKNOWN} {_in_full(resolution)}"
    return f"{kind.word} {_in_full(kind.number(resolution))}" if kind.is_numbered else kind.word


def resolution_of(word: str, number: float = 0.0) -> float:
    """Return the resolution of a purpose and a number."""
    kind = BY_WORD[word]
    return kind.first + number * kind.step if kind.is_numbered else kind.first


def _in_full(value: float) -> str:
    """Return the shortest text of a 32-bit number that is read as the same number."""
    if abs(value) > 3.4e38:
        return f"{value:.9g}".replace("e+", "e")
    texts = (f"{value:.{digits}g}" for digits in range(1, 10))
    text = next((text for text in texts if _STORED.pack(float(text)) == _STORED.pack(value)), f"{value:.9g}")
    if abs(value) < 1e7:
        return f"{float(text):.9f}".rstrip("0").rstrip(".")
    return text.replace("e+0", "e").replace("e+", "e")
