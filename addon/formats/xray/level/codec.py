"""The file `level` as a whole: bytes <-> `Level`. What is not understood is kept where it lies."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core.binary import Reader, Writer
from ....core.finite import warn_not_finite
from ....core.report import Report
from ..chunks import Chunk, ChunkRun, listed, open_chunk, read_chunks, with_bodies, with_body, write_chunks
from .document import (
    ENTRY,
    FIXED,
    GLOW,
    LIGHT,
    OLDER,
    PORTAL,
    VERSIONS,
    WINDOW,
    Level,
    Sector,
    Visuals,
    Windows,
    empty_lists,
)
from .visuals import read_visuals, write_visuals

HEADER, SHADERS, VISUALS, PORTALS, LIGHTS, GLOWS, SECTORS = 1, 2, 3, 4, 6, 7, 8
KNOWN = (HEADER, SHADERS, VISUALS, PORTALS, LIGHTS, GLOWS, SECTORS)
_ROWS = {PORTALS: (PORTAL, "portals"), LIGHTS: (LIGHT, "lights"), GLOWS: (GLOW, "glows")}
_ROOT, _PORTALS = 2, 1
"""Chunks of a sector."""
_OLD_HEADER = 128
"""Size of the header of versions below 11: a name follows the version."""


def starts_like(head: bytes) -> bool:
    """Whether a file's first bytes are a level's header, of whatever version, and not those of its geometry."""
    if len(head) < 12 or head[:4] != b"\1\0\0\0":
        return False
    size, version = int.from_bytes(head[4:8], "little"), int.from_bytes(head[8:10], "little")
    if version not in OLDER and version not in VERSIONS:
        return False
    return size == _OLD_HEADER or (size == 4 and head[12] in KNOWN[1:])


def read(data: bytes, file: str, report: Report) -> Level:
    """The document; arrays of a few megabytes. Raises `ReadError` for other files and other versions."""
    reader = Reader(data, file)
    if not len(data):
        raise reader.error("the file is empty", "Copy it again")
    run = read_chunks(reader, report)
    version, quality = read_version(run, reader)
    missing = [number for number in (SHADERS, VISUALS, SECTORS) if run.first(number) is None]
    if missing:
        raise reader.error(
            f"chunk {missing[0]:#x} is missing (there are {listed(run.chunks)}): not a level, or cut off",
            "Check that this is the file named `level` of a compiled level, and that it was copied whole",
        )
    rows = {number: _read_rows(run.first(number), reader, report, *what) for number, what in _ROWS.items()}
    sector_run, sectors = _read_sectors(run.first(SECTORS), reader, report)
    document = Level(
        version,
        quality,
        _read_shaders(run.first(SHADERS), reader),
        _read_visuals(run.first(VISUALS), reader, report),
        rows[PORTALS],
        rows[LIGHTS],
        rows[GLOWS],
        sectors,
        run,
        sector_run,
        file,
    )
    for chunk in run.others(KNOWN):
        report.note(f"a chunk of unknown meaning ({chunk.id:#x}), kept unchanged")
    return document


def read_version(run: ChunkRun, reader: Reader) -> tuple[int, int]:
    """Version and quality (chunk 1). Raises `ReadError` for a version that is not read, by its name."""
    header = run.first(HEADER)
    if header is None:
        raise reader.error(
            f"there is no header (chunk {HEADER:#x}; there are {listed(run.chunks)}): not a level",
            "Check that this is the file named `level` or `level.geom` of a compiled level",
        )
    inside = open_chunk(header, reader)
    version = inside.u16("the version")
    if version not in VERSIONS:
        name = OLDER.get(version, "no known build or game")
        inside.position = 0
        raise inside.error(
            f"this is a level of version {version} ({name}); versions {VERSIONS[0]} and {VERSIONS[1]} are read",
            "Use the level of a released game, or compile it again with the SDK",
        )
    quality = inside.u16("the quality")
    inside.expect_end("the header")
    return version, quality


def _read_shaders(chunk: Chunk | None, parent: Reader) -> list[bytes]:
    if chunk is None:
        return []
    inside = open_chunk(chunk, parent)
    count = inside.u32("the number of shaders")
    inside.expect_room(count, "shaders", 1)
    found = [inside.string("a shader") for _ in range(count)]
    inside.expect_end("the last shader")
    return found


def _read_visuals(chunk: Chunk | None, parent: Reader, report: Report) -> Visuals:
    if chunk is None:
        return no_visuals()
    return read_visuals(open_chunk(chunk, parent), report)


def no_visuals() -> Visuals:
    """A level's list of visuals that holds nothing."""
    return Visuals(
        np.zeros(0, ENTRY),
        {kind: np.zeros(0, layout) for kind, layout in FIXED.items()},
        empty_lists(np.dtype("<u4")),
        Windows(np.zeros((0, 4), np.uint32), empty_lists(WINDOW)),
    )


def _read_rows(
    chunk: Chunk | None, parent: Reader, report: Report, layout: np.dtype[Any], noun: str
) -> NDArray[np.void]:
    if chunk is None:
        return np.zeros(0, layout)
    inside = open_chunk(chunk, parent)
    count = inside.remaining // layout.itemsize
    rows = inside.array(layout, count, what=f"{count} {noun}")
    inside.expect_end(f"the last whole record ({noun})")
    warn_not_finite(report, noun, rows)
    return rows


def _read_sectors(chunk: Chunk | None, parent: Reader, report: Report) -> tuple[ChunkRun, list[Sector]]:
    if chunk is None:
        return ChunkRun([]), []
    inside = open_chunk(chunk, parent)
    run = read_chunks(inside, report)
    return run, [_read_sector(open_chunk(one, inside), report) for one in run.chunks]


def _read_sector(reader: Reader, report: Report) -> Sector:
    run = read_chunks(reader, report)
    root, portals = run.first(_ROOT), run.first(_PORTALS)
    sector = Sector(None, None, run)
    if root is not None:
        inside = open_chunk(root, reader)
        sector.root = inside.u32("the root of a sector")
        inside.expect_end("the root of a sector")
    if portals is not None:
        inside = open_chunk(portals, reader)
        sector.portals = inside.array("<u2", inside.remaining // 2, what="the portals of a sector")
        inside.expect_end("the last portal")
    for other in run.others((_ROOT, _PORTALS)):
        report.note(f"a chunk of unknown meaning ({other.id:#x}), kept unchanged", reader.chunk)
    return sector


def write(document: Level) -> bytes:
    """The file's bytes, all from values; chunks that the file does not have are not made."""
    bodies = {
        HEADER: _header(document.version, document.quality),
        SHADERS: _shaders(document.shaders),
        VISUALS: write_visuals(document.visuals),
        PORTALS: document.portals.tobytes(),
        LIGHTS: document.lights.tobytes(),
        GLOWS: document.glows.tobytes(),
        SECTORS: _sectors(document),
    }
    there = {number: body for number, body in bodies.items() if document.run.first(number) is not None}
    return write_chunks(with_bodies(document.run, there))


recompose = write  # nothing is kept as bytes beside typed values


def _header(version: int, quality: int) -> bytes:
    writer = Writer()
    writer.u16(version)
    writer.u16(quality)
    return writer.getvalue()


def _shaders(shaders: list[bytes]) -> bytes:
    writer = Writer()
    writer.u32(len(shaders))
    for shader in shaders:
        writer.string(shader)
    return writer.getvalue()


def _sectors(document: Level) -> bytes:
    run = document.sector_run
    chunks = [with_body(chunk, _sector(sector)) for chunk, sector in zip(run.chunks, document.sectors, strict=True)]
    return write_chunks(ChunkRun(chunks, run.tail))


def _sector(sector: Sector) -> bytes:
    bodies: dict[int, bytes] = {}
    if sector.root is not None:
        bodies[_ROOT] = sector.root.to_bytes(4, "little")
    if sector.portals is not None:
        bodies[_PORTALS] = sector.portals.astype("<u2").tobytes()
    return write_chunks(with_bodies(sector.run, bodies))
