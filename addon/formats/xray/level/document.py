"""What `level` says: shaders, visuals, portals, lights, glows and sectors of a compiled level; no vertices.

Versions 13 (builds 2205 to 2218) and 14 (all released games). Known from the engine's level loader, visual classes and
light list, from the level compiler's history, and from real files. Axes and metres of the file (X-Ray, y up).

A level has up to 20,000 visuals. They are columns: `Visuals.entries` says which chunks follow each other in the file,
and one array for each kind of chunk holds the bodies in the same order. So reading and writing take no time per visual.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core.binary import Bytes
from ..chunks import ChunkRun

VERSIONS = (13, 14)
NEWEST = 14
OLDER = {
    5: "builds of 2002",
    8: "builds of 2002",
    9: "builds of 2002 and 2003",
    10: "builds of 2003",
    11: "builds of 2003",
    12: "builds of 2003 to 2005",
}
"""Versions that are refused by name."""

LIGHT = np.dtype([
    ("controller", "<u4"), ("type", "<u4"),
    ("diffuse", "<f4", 4), ("specular", "<f4", 4), ("ambient", "<f4", 4),
    ("position", "<f4", 3), ("direction", "<f4", 3),
    ("range", "<f4"), ("falloff", "<f4"), ("attenuation", "<f4", 3), ("theta", "<f4"), ("phi", "<f4"),
])  # fmt: skip
GLOW = np.dtype([("position", "<f4", 3), ("radius", "<f4"), ("shader", "<u2")])
PORTAL = np.dtype([("front", "<u2"), ("back", "<u2"), ("vertices", "<f4", (6, 3)), ("count", "<u4")])
"""Vertices behind ``count`` are uninitialised memory."""
HEADER = np.dtype([("version", "u1"), ("type", "u1"), ("shader", "<u2"), ("box", "<f4", (2, 3)), ("sphere", "<f4", 4)])
CONTAINER = np.dtype([
    ("vertex_buffer", "<u4"), ("vertex_base", "<u4"), ("vertex_count", "<u4"),
    ("index_buffer", "<u4"), ("index_base", "<u4"), ("index_count", "<u4"),
])  # fmt: skip
WINDOW = np.dtype([("offset", "<u4"), ("triangles", "<u2"), ("vertices", "<u2")])
TREE = np.dtype([("transform", "<f4", (4, 4)), ("scale", "<f4", 5), ("bias", "<f4", 5)])
"""``transform``: rows i, j, k, translation. ``scale`` and ``bias`` of light: r, g, b, hemi, sun."""
CORNER = np.dtype([("position", "<f4", 3), ("uv", "<f4", 2), ("bgrh", "u1", 4), ("sun", "u1"), ("padding", "u1", 3)])
"""Corner of a facet: colour in blue, green, red, hemi; the padding is uninitialised memory."""
LOD = np.dtype([("corners", CORNER, (8, 4))])
SWI = np.dtype([("index", "<u4")])
SUN = 3
"""Type of a directional light."""


class VisualType(IntEnum):
    """What the engine makes of a visual."""

    NORMAL = 0
    HIERARCHY = 1
    PROGRESSIVE = 2
    LOD = 6
    TREE = 7
    TREE_PROGRESSIVE = 11


class Kind(IntEnum):
    """What a chunk of a visual holds, by the chunk's id; `OPAQUE` for bytes that are kept."""

    OPAQUE = 0
    HEADER = 1
    WINDOWS = 6
    CHILDREN = 10
    LOD = 11
    TREE = 12
    SWI = 20
    CONTAINER = 21
    NESTED = 22
    """The visual itself (depth 0) and its fast path (depth 1), which hold chunks."""


ENTRY = np.dtype([("id", "<u4"), ("depth", "u1"), ("kind", "u1")])
FIXED: dict[Kind, np.dtype[np.void]] = {
    Kind.HEADER: HEADER,
    Kind.CONTAINER: CONTAINER,
    Kind.SWI: SWI,
    Kind.TREE: TREE,
    Kind.LOD: LOD,
}
"""Kinds of chunks that always have the same size."""


@dataclass(slots=True, eq=False)
class Lists:
    """Several lists of rows behind each other: list n is ``rows[starts[n] : starts[n + 1]]``.

    ``starts`` (lists + 1,) int64; ``rows`` (rows,).
    """

    starts: NDArray[np.int64]
    rows: NDArray[Any]

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, number: int) -> NDArray[Any]:
        return self.rows[self.starts[number] : self.starts[number + 1]]

    @property
    def counts(self) -> NDArray[np.int64]:
        """(lists,) length of each."""
        return np.diff(self.starts)


@dataclass(slots=True, eq=False)
class Windows:
    """Levels of detail, best first: lists of `WINDOW`, each behind ``reserved`` (lists, 4) uint32.

    A window draws the triangles ``indices[index base + offset :][: 3 * triangles]``.
    """

    reserved: NDArray[np.uint32]
    lists: Lists


@dataclass(slots=True, eq=False)
class Visuals:
    """``entries`` (chunks,) of `ENTRY` in file order: depth 0 a visual, 1 its chunks, 2 those of its fast path.

    ``fixed`` the bodies of chunks by kind (those of `FIXED`), ``children`` and ``windows`` those of varying length,
    ``opaque`` bytes of unknown meaning; each in the order of the entries of that kind. ``tail`` bytes behind the last.
    """

    entries: NDArray[np.void]
    fixed: dict[Kind, NDArray[np.void]]
    children: Lists
    windows: Windows
    opaque: list[Bytes] = field(default_factory=list)
    tail: Bytes = b""

    def __len__(self) -> int:
        return int(np.count_nonzero(self.entries["depth"] == 0))

    @property
    def ids(self) -> NDArray[np.uint32]:
        """(visuals,) ids of their chunks; dense from 0 in every file that a game takes."""
        return np.asarray(self.entries["id"][self.entries["depth"] == 0])

    def owners(self, kind: Kind, depth: int = 1) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Index of the visual, and row in the kind's array, of the first such chunk of each visual that has one.

        ``depth`` 1: chunks of the visual itself; 2: of its fast path.
        """
        of_kind = self.entries["kind"] == kind
        rows = np.cumsum(of_kind) - 1
        visuals = np.cumsum(self.entries["depth"] == 0) - 1
        wanted = np.flatnonzero(of_kind & (self.entries["depth"] == depth))
        owners, first = np.unique(visuals[wanted], return_index=True)
        return owners.astype(np.int64), rows[wanted][first].astype(np.int64)

    def rows_of(self, kind: Kind, depth: int = 1) -> NDArray[np.int64]:
        """(visuals,) row of each visual in the kind's array; -1 where it has no such chunk."""
        result = np.full(len(self), -1, np.int64)
        owners, rows = self.owners(kind, depth)
        result[owners] = rows
        return result

    @property
    def types(self) -> NDArray[np.int64]:
        """(visuals,) `VisualType`; -1 for a visual without a readable header."""
        return self._of_header("type")

    @property
    def shaders(self) -> NDArray[np.int64]:
        """(visuals,) index of the shader; -1 for a visual without a readable header."""
        return self._of_header("shader")

    def _of_header(self, name: str) -> NDArray[np.int64]:
        result = np.full(len(self), -1, np.int64)
        owners, rows = self.owners(Kind.HEADER)
        result[owners] = self.fixed[Kind.HEADER][name][rows]
        return result


@dataclass(slots=True, eq=False)
class Sector:
    """``root`` the index of its visual, ``portals`` (portals,) uint16; None where the chunk is missing.

    ``run`` its chunks in file order.
    """

    root: int | None
    portals: NDArray[np.uint16] | None
    run: ChunkRun


@dataclass(slots=True, eq=False)
class Level:
    """``shaders`` as bytes (engine shader, slash, textures), entry 0 empty; ``lights`` of `LIGHT`, ``glows`` of `GLOW`.

    ``portals`` of `PORTAL`; ``run`` the file's chunks in order; ``sector_run`` those of the sectors' chunk.
    """

    version: int
    quality: int
    shaders: list[bytes]
    visuals: Visuals
    portals: NDArray[np.void]
    lights: NDArray[np.void]
    glows: NDArray[np.void]
    sectors: list[Sector]
    run: ChunkRun
    sector_run: ChunkRun
    file: str = field(default="", compare=False)

    @property
    def name(self) -> str:
        """Name of the level: the folder the file lies in."""
        return PurePath(self.file.replace("\\", "/")).parent.name or "level"


def empty_lists(layout: np.dtype[Any]) -> Lists:
    """No list at all."""
    return Lists(np.zeros(1, np.int64), np.zeros(0, layout))
