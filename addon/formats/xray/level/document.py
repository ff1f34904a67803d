"""Data types of `level`: shaders, visuals, portals, lights, glows and sectors of a compiled level, without vertices.

Versions 13 (builds 2205 to 2218) and 14 (all released games). Sources: the engine's level loader, visual classes and
light list, the history of the level compiler, and real files. Axes and metres of the file (X-Ray, y up).

A level has up to 20,000 visuals. They are stored in columns: `Visuals.entries` lists the chunks in file order, and one
array per kind of chunk contains the bodies in the same order. So no Python code runs per visual in most operations.
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
"""Versions that are not read, and the builds that use them; named in the error."""

LIGHT = np.dtype([
    ("controller", "<u4"), ("type", "<u4"),
    ("diffuse", "<f4", 4), ("specular", "<f4", 4), ("ambient", "<f4", 4),
    ("position", "<f4", 3), ("direction", "<f4", 3),
    ("range", "<f4"), ("falloff", "<f4"), ("attenuation", "<f4", 3), ("theta", "<f4"), ("phi", "<f4"),
])  # fmt: skip
GLOW = np.dtype([("position", "<f4", 3), ("radius", "<f4"), ("shader", "<u2")])
PORTAL = np.dtype([("front", "<u2"), ("back", "<u2"), ("vertices", "<f4", (6, 3)), ("count", "<u4")])
"""Vertices after the first ``count`` are uninitialised memory."""
HEADER = np.dtype([("version", "u1"), ("type", "u1"), ("shader", "<u2"), ("box", "<f4", (2, 3)), ("sphere", "<f4", 4)])
CONTAINER = np.dtype([
    ("vertex_buffer", "<u4"), ("vertex_base", "<u4"), ("vertex_count", "<u4"),
    ("index_buffer", "<u4"), ("index_base", "<u4"), ("index_count", "<u4"),
])  # fmt: skip
WINDOW = np.dtype([("offset", "<u4"), ("triangles", "<u2"), ("vertices", "<u2")])
TREE = np.dtype([("transform", "<f4", (4, 4)), ("scale", "<f4", 5), ("bias", "<f4", 5)])
"""``transform``: rows i, j, k, translation. ``scale`` and ``bias`` of the light: r, g, b, hemi, sun."""
CORNER = np.dtype([("position", "<f4", 3), ("uv", "<f4", 2), ("bgrh", "u1", 4), ("sun", "u1"), ("padding", "u1", 3)])
"""Corner of an impostor's facet. ``bgrh`` is blue, green, red, hemi; the padding is uninitialised memory."""
LOD = np.dtype([("corners", CORNER, (8, 4))])
SWI = np.dtype([("index", "<u4")])
SUN = 3
"""Type of a directional light (the sun)."""


class VisualType(IntEnum):
    """Class of a visual in the engine."""

    NORMAL = 0
    HIERARCHY = 1
    PROGRESSIVE = 2
    LOD = 6
    TREE = 7
    TREE_PROGRESSIVE = 11


class Kind(IntEnum):
    """Content of a visual's chunk, by chunk id. `OPAQUE`: kept as bytes."""

    OPAQUE = 0
    HEADER = 1
    WINDOWS = 6
    CHILDREN = 10
    LOD = 11
    TREE = 12
    SWI = 20
    CONTAINER = 21
    NESTED = 22
    """A visual (depth 0) or its fast path (depth 1): chunks that contain chunks."""


ENTRY = np.dtype([("id", "<u4"), ("depth", "u1"), ("kind", "u1")])
FIXED: dict[Kind, np.dtype[np.void]] = {
    Kind.HEADER: HEADER,
    Kind.CONTAINER: CONTAINER,
    Kind.SWI: SWI,
    Kind.TREE: TREE,
    Kind.LOD: LOD,
}
"""Layouts of the kinds of chunks that always have the same size."""


@dataclass(slots=True, eq=False)
class Lists:
    """Several lists of rows, concatenated: list n is ``rows[starts[n] : starts[n + 1]]``.

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
        """(lists,) length of each list."""
        return np.diff(self.starts)


@dataclass(slots=True, eq=False)
class Windows:
    """Levels of detail (sliding windows), best first: lists of `WINDOW`, each with ``reserved`` (lists, 4) uint32.

    A window draws the triangles ``indices[index base + offset :][: 3 * triangles]``.
    """

    reserved: NDArray[np.uint32]
    lists: Lists


@dataclass(slots=True, eq=False)
class Visuals:
    """The visuals of a level, as columns.

    ``entries`` (chunks,) of `ENTRY` in file order: depth 0 is a visual, 1 its chunks, 2 the chunks of its fast path.
    ``fixed`` contains the bodies of the kinds of `FIXED`, ``children`` and ``windows`` those of varying length,
    ``opaque`` bytes of unknown meaning; each in the order of the entries of that kind. ``tail`` are the bytes after the
    last visual.
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
        """(visuals,) chunk ids of the visuals; 0, 1, 2, ... in every file that a game accepts."""
        return np.asarray(self.entries["id"][self.entries["depth"] == 0])

    def owners(self, kind: Kind, depth: int = 1) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the indices of visuals that have a chunk of this kind, and the rows of these chunks in the kind's
        array.

        If a visual has several such chunks, the first counts. ``depth`` 1: chunks of the visual itself; 2: of its fast
        path.
        """
        of_kind = self.entries["kind"] == kind
        rows = np.cumsum(of_kind) - 1
        visuals = np.cumsum(self.entries["depth"] == 0) - 1
        wanted = np.flatnonzero(of_kind & (self.entries["depth"] == depth))
        owners, first = np.unique(visuals[wanted], return_index=True)
        return owners.astype(np.int64), rows[wanted][first].astype(np.int64)

    def rows_of(self, kind: Kind, depth: int = 1) -> NDArray[np.int64]:
        """Return (visuals,) the row of each visual's chunk in the kind's array; -1 if it has no such chunk."""
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
    """A sector: ``root`` is the index of its root visual, ``portals`` (portals,) uint16; None if the chunk is missing.

    ``run`` are its chunks in file order; ``rests`` bytes after the values of a chunk, by its id.
    """

    root: int | None
    portals: NDArray[np.uint16] | None
    run: ChunkRun
    rests: dict[int, Bytes] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Level:
    """The file `level`.

    ``shaders`` as bytes (engine shader, slash, textures), entry 0 empty; ``portals`` of `PORTAL`, ``lights`` of
    `LIGHT`, ``glows`` of `GLOW`. ``run`` are the file's chunks in order, ``sector_run`` those inside the sectors'
    chunk; ``rests`` bytes after the values of a chunk, by its id.
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
    rests: dict[int, Bytes] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the level: that of the folder that contains the file, or "level"."""
        return PurePath(self.file.replace("\\", "/")).parent.name or "level"


def empty_lists(layout: np.dtype[Any]) -> Lists:
    """Return a `Lists` without lists."""
    return Lists(np.zeros(1, np.int64), np.zeros(0, layout))
