"""Read and write the file `level`: bytes <-> `Level`. Data of unknown meaning is kept in its place.

The visuals (chunk 3) are read into columns for all visuals together. A visual or a chunk of a visual that does not have
the layout of its id is kept as bytes, so that one broken visual does not make the level unreadable.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core.binary import DAMAGED, Bytes, Reader, Writer, warn_not_finite
from ....core.report import Report, say
from ..chunks import (
    Chunk,
    ChunkRun,
    chunk_path,
    keep_rest,
    listed,
    note_unknown,
    open_chunk,
    read_chunks,
    with_bodies,
    with_body,
    write_chunks,
)
from .document import (
    ENTRY,
    FIXED,
    GLOW,
    LIGHT,
    OLDER,
    PORTAL,
    VERSIONS,
    WINDOW,
    Kind,
    Level,
    Lists,
    Sector,
    Visuals,
    Windows,
    empty_lists,
)

_CHUNK = struct.Struct("<II")
_COUNT = struct.Struct("<I")
_CHILD = np.dtype("<u4")
_WINDOWS_HEAD = 20
"""Bytes of the four reserved words and of the number of windows."""
_PLAIN = {int(kind): kind for kind in (*FIXED, Kind.CHILDREN, Kind.WINDOWS)}
_IN_FAST_PATH = {int(kind): kind for kind in (Kind.CONTAINER, Kind.WINDOWS)}


@dataclass(slots=True)
class _ChunkTable:
    """What is collected from the chunks of all visuals: the entries, and per kind the offsets and sizes of the bodies.

    ``unreadable`` are the chunk paths of visuals whose chunks do not fit into them.
    """

    data: memoryview
    ids: list[int] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    offsets: dict[int, list[int]] = field(default_factory=lambda: {int(kind): [] for kind in Kind})
    sizes: dict[int, list[int]] = field(default_factory=lambda: {int(kind): [] for kind in Kind})
    unreadable: list[str] = field(default_factory=list)

    def add(self, identifier: int, depth: int, kind: int, offset: int, size: int) -> None:
        """Add a chunk."""
        self.ids.append(identifier)
        self.depths.append(depth)
        self.kinds.append(kind)
        if kind != Kind.NESTED:
            self.offsets[kind].append(offset)
            self.sizes[kind].append(size)


def read_visuals(reader: Reader, report: Report) -> Visuals:
    """Read the visuals from the body of chunk 3. Raises `ReadError` if a visual is longer than the chunk."""
    table = _ChunkTable(reader.data)
    end = len(reader.data)
    at = reader.position
    while end - at >= _CHUNK.size:
        identifier, size = _CHUNK.unpack_from(table.data, at)
        if size > end - at - _CHUNK.size:
            reader.position = at
            problem = say("visual {} claims {} bytes, {} are left", identifier, size, end - at - _CHUNK.size)
            raise reader.error(problem, DAMAGED)
        at += _CHUNK.size
        inner = list(_chunks(table.data, at, at + size))
        if inner and inner[-1][1] < 0:
            table.unreadable.append(chunk_path(reader.chunk, identifier))
            table.add(identifier, 0, Kind.OPAQUE, at, size)
        else:
            table.add(identifier, 0, Kind.NESTED, at, size)
            _add_visual(table, inner)
        at += size
    tail = table.data[at:]
    if len(tail):
        report.warn(say("{:# extra byte|# extra bytes} after the last visual; kept", len(tail)), reader.chunk)
    for path in table.unreadable:
        words = "{0:# visual has|# visuals have} chunks that do not fit into {0:it|them}; kept unchanged, not shown"
        report.warn(say(words, 1), path)
    return _to_visuals(table, tail, report)


def _chunks(data: memoryview, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield id, offset of the body and size of each chunk. The offset -1 ends the list if a chunk does not fit."""
    while at < end:
        if end - at < _CHUNK.size:
            yield 0, -1, 0
            return
        identifier, size = _CHUNK.unpack_from(data, at)
        at += _CHUNK.size
        if size > end - at:
            yield 0, -1, 0
            return
        yield identifier, at, size
        at += size


def _add_visual(table: _ChunkTable, inner: list[tuple[int, int, int]]) -> None:
    for identifier, at, size in inner:
        if identifier == Kind.NESTED:
            nested = list(_chunks(table.data, at, at + size))
            if not nested or nested[-1][1] >= 0:
                table.add(identifier, 1, Kind.NESTED, at, size)
                for number, start, length in nested:
                    kind = _IN_FAST_PATH.get(number, Kind.OPAQUE)
                    table.add(number, 2, kind if _fits(table.data, kind, start, length) else Kind.OPAQUE, start, length)
                continue
        kind = _PLAIN.get(identifier, Kind.OPAQUE)
        table.add(identifier, 1, kind if _fits(table.data, kind, at, size) else Kind.OPAQUE, at, size)


def _fits(data: memoryview, kind: int, at: int, size: int) -> bool:
    """Return whether a body has the size that its kind requires."""
    layout = FIXED.get(kind)  # type: ignore[call-overload]  # an IntEnum equals its number as a key
    if layout is not None:
        return bool(size == layout.itemsize)
    if kind == Kind.CHILDREN:
        return size >= 4 and size == 4 + 4 * _COUNT.unpack_from(data, at)[0]
    if kind == Kind.WINDOWS:
        return size >= _WINDOWS_HEAD and size == _WINDOWS_HEAD + 8 * _COUNT.unpack_from(data, at + 16)[0]
    return True


def _to_visuals(table: _ChunkTable, tail: Bytes, report: Report) -> Visuals:
    data = np.frombuffer(table.data, np.uint8)
    entries = np.empty(len(table.ids), ENTRY)
    for name, values in (("id", table.ids), ("depth", table.depths), ("kind", table.kinds)):
        entries[name] = values
    fixed = {kind: _rows(data, table.offsets[kind], layout) for kind, layout in FIXED.items()}
    sizes = np.array(table.sizes[Kind.CHILDREN], np.int64)
    children = _lists(data, np.array(table.offsets[Kind.CHILDREN], np.int64) + 4, (sizes - 4) // 4, _CHILD)
    heads = _rows(data, table.offsets[Kind.WINDOWS], np.dtype([("reserved", "<u4", 4), ("count", "<u4")]))
    begin = np.array(table.offsets[Kind.WINDOWS], np.int64) + _WINDOWS_HEAD
    windows = Windows(heads["reserved"], _lists(data, begin, heads["count"].astype(np.int64), WINDOW))
    opaque: list[Bytes] = [
        table.data[at : at + size]
        for at, size in zip(table.offsets[Kind.OPAQUE], table.sizes[Kind.OPAQUE], strict=True)
    ]
    opaque_count = int(np.count_nonzero((entries["kind"] == Kind.OPAQUE) & (entries["depth"] > 0)))
    if opaque_count:
        words = "{:# chunk|# chunks} of visuals of unknown meaning or wrong size; kept unchanged"
        report.warn(say(words, opaque_count))
    for kind, word in ((Kind.HEADER, "bounds of visuals"), (Kind.TREE, "trees"), (Kind.LOD, "impostors")):
        rows = fixed[kind]
        warn_not_finite(report, word, rows["corners"] if kind == Kind.LOD else rows)
    return Visuals(entries, fixed, children, windows, opaque, tail)


def _rows(data: NDArray[np.uint8], starts: list[int] | NDArray[np.int64], layout: np.dtype[Any]) -> NDArray[Any]:
    """Return the structures of one layout that begin at these offsets."""
    if not len(starts):
        return np.zeros(0, layout)
    byte_offsets = np.asarray(starts, np.int64)[:, None] + np.arange(layout.itemsize)
    return np.asarray(data[byte_offsets].view(layout).reshape(-1))


def _lists(data: NDArray[np.uint8], at: NDArray[np.int64], counts: NDArray[np.int64], layout: np.dtype[Any]) -> Lists:
    """Return the lists that begin at these offsets, with ``counts`` rows each."""
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
    # Row r of list n begins at at[n] + (r - starts[n]) * size.
    row_offsets = np.repeat(at - starts[:-1] * layout.itemsize, counts) + np.arange(starts[-1]) * layout.itemsize
    return Lists(starts, _rows(data, row_offsets, layout))


def write_visuals(visuals: Visuals) -> bytes:
    """Return the body of chunk 3. The sizes of visuals and fast paths are computed from their content."""
    entries = visuals.entries
    sizes = np.zeros(len(entries), np.int64)
    for kind, bodies in _bodies(visuals):
        sizes[entries["kind"] == kind] = bodies
    ends = np.cumsum(sizes + _CHUNK.size)
    starts = ends - sizes
    for depth in (0, 1):
        # A chunk with nested chunks ends where the next chunk of the same or a lower depth begins.
        bounds = np.append(np.flatnonzero(entries["depth"] <= depth), len(entries))
        nested = np.flatnonzero((entries["kind"] == Kind.NESTED) & (entries["depth"] == depth))
        following = bounds[np.searchsorted(bounds, nested, side="right")]
        sizes[nested] = ends[following - 1] - starts[nested]
    result = np.zeros(int(ends[-1]) if len(ends) else 0, np.uint8)
    heads = np.empty((len(entries), 2), "<u4")
    heads[:, 0], heads[:, 1] = entries["id"], sizes
    _put_rows(result, starts - _CHUNK.size, heads)
    for kind, rows in visuals.fixed.items():
        _put_rows(result, starts[entries["kind"] == kind], rows)
    at = starts[entries["kind"] == Kind.CHILDREN]
    _put_rows(result, at, visuals.children.counts.astype("<u4"))
    _put_lists(result, at + 4, visuals.children)
    at = starts[entries["kind"] == Kind.WINDOWS]
    _put_rows(result, at, np.ascontiguousarray(visuals.windows.reserved))
    _put_rows(result, at + 16, visuals.windows.lists.counts.astype("<u4"))
    _put_lists(result, at + _WINDOWS_HEAD, visuals.windows.lists)
    for begin, body in zip(starts[entries["kind"] == Kind.OPAQUE].tolist(), visuals.opaque, strict=True):
        result[begin : begin + len(body)] = np.frombuffer(body, np.uint8)
    return result.tobytes() + bytes(visuals.tail)


def _bodies(visuals: Visuals) -> Iterator[tuple[Kind, Any]]:
    """Yield the body sizes of each kind of chunk: one number for all, or one per chunk."""
    for kind, layout in FIXED.items():
        yield kind, layout.itemsize
    yield Kind.CHILDREN, 4 + 4 * visuals.children.counts
    yield Kind.WINDOWS, _WINDOWS_HEAD + 8 * visuals.windows.lists.counts
    yield Kind.OPAQUE, [len(body) for body in visuals.opaque]


def _put_rows(result: NDArray[np.uint8], at: NDArray[np.int64], rows: NDArray[Any]) -> None:
    if len(rows):
        plain = np.ascontiguousarray(rows).view(np.uint8).reshape(len(rows), -1)
        result[at[:, None] + np.arange(plain.shape[1])] = plain


def _put_lists(result: NDArray[np.uint8], at: NDArray[np.int64], lists: Lists) -> None:
    size = lists.rows.dtype.itemsize
    row_offsets = np.repeat(at - lists.starts[:-1] * size, lists.counts) + np.arange(len(lists.rows)) * size
    _put_rows(result, row_offsets, lists.rows)


# The whole file -------------------------------------------------------------------------------------------------------

HEADER, SHADERS, VISUALS, PORTALS, LIGHTS, GLOWS, SECTORS = 1, 2, 3, 4, 6, 7, 8
KNOWN = (HEADER, SHADERS, VISUALS, PORTALS, LIGHTS, GLOWS, SECTORS)
_ROWS = {PORTALS: (PORTAL, "portals"), LIGHTS: (LIGHT, "lights"), GLOWS: (GLOW, "glows")}
_ROOT, _PORTALS = 2, 1
"""Chunks of a sector: its root visual, its portals."""
_OLD_HEADER = 128
"""Bytes of the header of versions below 11, in which a name follows the version."""


def starts_like(head: bytes) -> bool:
    """Return whether a file starts with the header of a `level` of any version, but not of a `level.geom`."""
    if len(head) < 13 or head[:4] != b"\1\0\0\0":
        return False
    size, version = int.from_bytes(head[4:8], "little"), int.from_bytes(head[8:10], "little")
    if version not in OLDER and version not in VERSIONS:
        return False
    return size == _OLD_HEADER or (size == 4 and head[12] in KNOWN[1:])


def read(data: bytes, file: str, report: Report) -> Level:
    """Read a `level` file; its arrays take a few megabytes. Raises `ReadError` for other files and other versions."""
    reader = Reader.of_file(data, file)
    run = read_chunks(reader, report)
    rests: dict[int, Bytes] = {}
    version, quality = read_version(run, reader, rests, report)
    missing = [number for number in (SHADERS, VISUALS, SECTORS) if run.first(number) is None]
    if missing:
        raise reader.error(
            say("chunk {:#x} is missing (there are {}): not a level, or cut off", missing[0], listed(run.chunks)),
            "Check that this is the file named `level` of a compiled level, and that it was copied whole",
        )
    rows = {number: _read_rows(run, number, reader, rests, report) for number in _ROWS}
    sector_run, sectors = _read_sectors(run.first(SECTORS), reader, report)
    document = Level(
        version,
        quality,
        _read_shaders(run.first(SHADERS), reader, rests, report),
        _read_visuals(run.first(VISUALS), reader, report),
        rows[PORTALS],
        rows[LIGHTS],
        rows[GLOWS],
        sectors,
        run,
        sector_run,
        file,
        rests,
    )
    for chunk in run.others(KNOWN):
        note_unknown(report, reader, chunk)
    return document


def read_version(run: ChunkRun, reader: Reader, rests: dict[int, Bytes], report: Report) -> tuple[int, int]:
    """Return version and quality from chunk 1; other bytes in it are put into ``rests``.

    Raises `ReadError` for an unsupported version, with the builds that use it.
    """
    header = run.first(HEADER)
    if header is None:
        raise reader.error(
            say("there is no header (chunk {:#x}; there are {}): not a level", HEADER, listed(run.chunks)),
            "Check that this is the file named `level` or `level.geom` of a compiled level, copied whole",
        )
    inside = open_chunk(header, reader)
    version = inside.u16("the version")
    if version not in VERSIONS:
        name = OLDER.get(version, "no known build or game")
        inside.position = 0
        words = "this is a level of version {} ({}); versions {} and {} are read"
        raise inside.error(
            say(words, version, name, VERSIONS[0], VERSIONS[1]),
            "Use the level of a released game, or compile it again with the SDK",
        )
    quality = inside.u16("the quality")
    keep_rest(inside, HEADER, rests, report)
    return version, quality


def _read_shaders(chunk: Chunk | None, parent: Reader, rests: dict[int, Bytes], report: Report) -> list[bytes]:
    if chunk is None:
        return []
    inside = open_chunk(chunk, parent)
    count = inside.u32("the number of shaders")
    inside.expect_room(count, "shader", 1)
    result = [inside.string("a shader") for _ in range(count)]
    keep_rest(inside, SHADERS, rests, report)
    return result


def _read_visuals(chunk: Chunk | None, parent: Reader, report: Report) -> Visuals:
    if chunk is None:
        return no_visuals()
    return read_visuals(open_chunk(chunk, parent), report)


def no_visuals() -> Visuals:
    """Return an empty list of visuals."""
    return Visuals(
        np.zeros(0, ENTRY),
        {kind: np.zeros(0, layout) for kind, layout in FIXED.items()},
        empty_lists(np.dtype("<u4")),
        Windows(np.zeros((0, 4), np.uint32), empty_lists(WINDOW)),
    )


def _read_rows(run: ChunkRun, number: int, parent: Reader, rests: dict[int, Bytes], report: Report) -> NDArray[np.void]:
    chunk, (layout, noun) = run.first(number), _ROWS[number]
    if chunk is None:
        return np.zeros(0, layout)
    inside = open_chunk(chunk, parent)
    count = inside.remaining // layout.itemsize
    rows = inside.array(layout, count, what=say("{} {}", count, noun))
    keep_rest(inside, number, rests, report)
    warn_not_finite(report, noun, rows)
    return rows


def _read_sectors(chunk: Chunk | None, parent: Reader, report: Report) -> tuple[ChunkRun, list[Sector]]:
    if chunk is None:
        return ChunkRun([]), []
    inside = open_chunk(chunk, parent)
    run = read_chunks(inside, report)
    return run, [_read_sector(open_chunk(chunk, inside), report) for chunk in run.chunks]


def _read_sector(reader: Reader, report: Report) -> Sector:
    run = read_chunks(reader, report)
    root, portals = run.first(_ROOT), run.first(_PORTALS)
    sector = Sector(None, None, run)
    if root is not None:
        inside = open_chunk(root, reader)
        sector.root = inside.u32("the root of a sector")
        keep_rest(inside, _ROOT, sector.rests, report)
    if portals is not None:
        inside = open_chunk(portals, reader)
        sector.portals = inside.array("<u2", inside.remaining // 2, what="the portals of a sector")
        keep_rest(inside, _PORTALS, sector.rests, report)
    for other in run.others((_ROOT, _PORTALS)):
        note_unknown(report, reader, other)
    return sector


def write(document: Level) -> bytes:
    """Return the bytes of the file, all written from values. Chunks that the read file lacks are not added."""
    bodies = {
        HEADER: _header(document.version, document.quality),
        SHADERS: _shaders(document.shaders),
        VISUALS: write_visuals(document.visuals),
        PORTALS: document.portals.tobytes(),
        LIGHTS: document.lights.tobytes(),
        GLOWS: document.glows.tobytes(),
        SECTORS: _sectors(document),
    }
    existing = {number: body for number, body in bodies.items() if document.run.first(number) is not None}
    return write_chunks(with_bodies(document.run, existing, document.rests))


recompose = write  # nothing is kept as bytes in addition to typed values


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
    return write_chunks(with_bodies(sector.run, bodies, sector.rests))
