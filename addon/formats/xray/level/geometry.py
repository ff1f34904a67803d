"""`level.geom` and `level.geomx`: the vertices, indices and sliding windows that the visuals of `level` refer to.

`level.geomx` has the same layout and contains a second copy of the opaque surfaces, positions only, for shadows. A real
`level.geom` has 20 to 150 MB, so nothing is copied: buffers are views of the given bytes, which may be a file mapped
into memory, and `pieces` yields these views for writing. Sources: the level compiler and real files.

The layout of a vertex buffer is defined by its declaration (as in Direct3D), not by the version or the shader.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core.binary import Bytes, Reader, warn_not_finite
from ....core.report import Report, counted, say
from ....core.walk import View, Views
from ..chunks import (
    CHUNK_VIEWS,
    Chunk,
    ChunkRun,
    keep_rest,
    kept_size,
    note_unknown,
    open_chunk,
    read_chunks,
    stored_size,
    with_chunks,
)
from .codec import HEADER, read_version
from .document import NEWEST, VERSIONS, WINDOW, Lists, Windows, empty_lists

VERTICES, INDICES, WINDOWS = 9, 10, 11
KNOWN = (HEADER, VERTICES, INDICES, WINDOWS)
ELEMENT = np.dtype([
    ("stream", "<u2"), ("offset", "<u2"), ("type", "u1"), ("method", "u1"), ("usage", "u1"), ("index", "u1"),
])  # fmt: skip
LAST_STREAM = 255
"""Stream of the element that ends a declaration."""
MOST_ELEMENTS = 64
"""Direct3D's limit of elements in a declaration."""
TYPES: dict[int, tuple[str, int]] = {
    0: ("<f4", 1), 1: ("<f4", 2), 2: ("<f4", 3), 3: ("<f4", 4),
    4: ("u1", 4), 5: ("u1", 4), 6: ("<i2", 2), 7: ("<i2", 4),
}  # fmt: skip
"""Direct3D type of an element -> number type and count. A colour (4) is blue, green, red, alpha in memory."""
USAGES = {0: "position", 3: "normal", 5: "uv", 6: "tangent", 7: "binormal", 10: "colour"}
_WINDOWS_HEAD = struct.Struct("<5I")


@dataclass(slots=True, eq=False)
class VertexBuffer:
    """A vertex buffer: ``declaration`` (elements,) of `ELEMENT` with its end, ``rows`` (vertices,) with named fields.

    A normal, tangent or binormal is stored as z, y, x and a fourth byte (`level.mesh` decodes them).
    """

    declaration: NDArray[np.void]
    rows: NDArray[np.void]

    @property
    def stride(self) -> int:
        """Bytes per vertex."""
        return self.rows.dtype.itemsize


@dataclass(slots=True, eq=False)
class Geometry:
    """A `level.geom` or `level.geomx` file.

    ``indices`` are one (indices,) uint16 array per buffer, local to the visual; ``windows`` are those of progressive
    trees. ``quality`` is uninitialised memory in real files. ``run`` are the file's chunks in order; ``rests`` bytes
    after the values of a chunk, by its id.
    """

    version: int
    quality: int
    vertices: list[VertexBuffer]
    indices: list[NDArray[np.uint16]]
    windows: Windows
    run: ChunkRun
    file: str = field(default="", compare=False)
    rests: dict[int, Bytes] = field(default_factory=dict)


def starts_like(head: bytes) -> bool:
    """Return whether a file starts with a header of 4 bytes and a chunk of vertex or index buffers."""
    if len(head) < 16 or head[:8] != b"\1\0\0\0\4\0\0\0" or int.from_bytes(head[8:10], "little") not in VERSIONS:
        return False
    return int.from_bytes(head[12:16], "little") in (VERTICES, INDICES)


def read(data: Bytes, file: str, report: Report) -> Geometry:
    """Read the file without copying. Raises `ReadError` if counts and data do not match, and for other versions."""
    reader = Reader.of_file(data, file)
    run = read_chunks(reader, report)
    rests: dict[int, Bytes] = {}
    version, quality = read_version(run, reader, rests, report)
    document = Geometry(
        version, quality, [], [], Windows(np.zeros((0, 4), np.uint32), empty_lists(WINDOW)), run, file, rests
    )
    for number, read_part in ((VERTICES, _read_vertices), (INDICES, _read_indices), (WINDOWS, _read_windows)):
        chunk = run.first(number)
        if chunk is not None:
            inside = open_chunk(chunk, reader)
            read_part(inside, document, report)
            keep_rest(inside, number, rests, report)
    for chunk in run.others(KNOWN):
        note_unknown(report, reader, chunk)
    return document


def _read_vertices(reader: Reader, document: Geometry, report: Report) -> None:
    count = reader.u32("the number of vertex buffers")
    reader.expect_room(count, "vertex buffer", ELEMENT.itemsize + 4)
    for number in range(count):
        declaration = _read_declaration(reader)
        layout = layout_of(declaration, reader)
        size = reader.u32("the number of vertices")
        rows = reader.array(layout, size, what=counted(size, "vertex|vertices"))
        document.vertices.append(VertexBuffer(declaration, rows))
        for name in layout.names or ():
            warn_not_finite(report, say("vertex buffer {}, {}", number, name), rows[name])


def _read_declaration(reader: Reader) -> NDArray[np.void]:
    start = reader.position
    for count in range(1, MOST_ELEMENTS + 1):
        element = reader.array(ELEMENT, 1, what="a vertex declaration")
        if element["stream"][0] == LAST_STREAM:
            reader.position = start
            return reader.array(ELEMENT, count)
    reader.position = start
    raise reader.error(say("a vertex declaration has no end within {} elements", MOST_ELEMENTS))


def layout_of(declaration: NDArray[np.void], reader: Reader) -> np.dtype[np.void]:
    """Return the structure of a vertex: a field per element, named by usage (``uv0``, ``uv1``), and one per gap.

    Raises `ReadError` for elements of unknown type and for a declaration without elements.
    """
    names: list[str] = []
    formats: list[tuple[str, tuple[int, ...]]] = []
    offsets: list[int] = []
    for element in declaration[:-1]:
        kind, usage = int(element["type"]), int(element["usage"])
        if kind not in TYPES:
            raise reader.error(say("vertex elements of type {} are not known (known: 0 to {})", kind, max(TYPES)))
        name = USAGES.get(usage, f"usage{usage}_")
        if usage not in USAGES or usage == 5 or element["index"]:
            name += str(element["index"])
        scalar, width = TYPES[kind]
        names.append(name if name not in names else f"{name}_again{len(names)}")
        formats.append((scalar, (width,)))
        offsets.append(int(element["offset"]))
    if not names:
        raise reader.error("a vertex declaration has no elements")
    ends = [at + np.dtype(component).itemsize for at, component in zip(offsets, formats, strict=True)]
    stride = max(ends)
    used = np.ones(stride + 2, np.int8)
    used[1:-1] = 0
    for at, end in zip(offsets, ends, strict=True):
        used[at + 1 : end + 1] = 1
    steps = np.diff(used)
    for begin, stop in zip(np.flatnonzero(steps < 0).tolist(), np.flatnonzero(steps > 0).tolist(), strict=True):
        names.append(f"gap{begin}")
        formats.append(("u1", (stop - begin,)))
        offsets.append(begin)
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": stride})


def _read_indices(reader: Reader, document: Geometry, _report: Report) -> None:
    count = reader.u32("the number of index buffers")
    reader.expect_room(count, "index buffer", 4)
    for _ in range(count):
        size = reader.u32("the number of indices")
        document.indices.append(reader.array("<u2", size, what=say("{} indices", size)))


def _read_windows(reader: Reader, document: Geometry, _report: Report) -> None:
    count = reader.u32("the number of window lists")
    reader.expect_room(count, "list of windows|lists of windows", _WINDOWS_HEAD.size)
    reserved = np.zeros((count, 4), "<u4")
    rows: list[NDArray[np.void]] = []
    for number in range(count):
        *reserved[number], length = _WINDOWS_HEAD.unpack(reader.take(_WINDOWS_HEAD.size, "a list of windows"))
        rows.append(reader.array(WINDOW, length, what=counted(length, "window")))
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum([len(row) for row in rows], dtype=np.int64)))
    document.windows = Windows(reserved, Lists(starts, np.concatenate(rows) if rows else np.zeros(0, WINDOW)))


def pieces(document: Geometry) -> Iterator[Bytes]:
    """Yield the bytes of the file in consecutive blocks; buffers are yielded as views, not copies."""
    bodies = {HEADER: _header, VERTICES: _vertices, INDICES: _indices, WINDOWS: _windows}
    for chunk in document.run.chunks:
        body = bodies.get(chunk.plain_id)
        if body is None or chunk is not document.run.first(chunk.plain_id):
            yield from _stored(chunk)
        elif chunk.packed is not None or chunk.declared is not None:
            joined = b"".join([*body(document), document.rests.get(chunk.plain_id, b"")])
            if joined == chunk.body:
                yield from _stored(chunk)
            else:
                yield struct.pack("<II", chunk.plain_id, len(joined)) + joined
        else:
            parts = [*body(document), document.rests.get(chunk.plain_id, b"")]
            yield struct.pack("<II", chunk.id, sum(map(len, parts)))
            yield from parts
    yield document.run.tail


def _stored(chunk: Chunk) -> Iterator[Bytes]:
    size = stored_size(chunk) if chunk.declared is None else chunk.declared
    yield struct.pack("<II", chunk.id, size)
    yield chunk.body if chunk.packed is None else chunk.packed


def _header(document: Geometry) -> Iterator[Bytes]:
    yield struct.pack("<HH", document.version, document.quality)


def _vertices(document: Geometry) -> Iterator[Bytes]:
    yield struct.pack("<I", len(document.vertices))
    for buffer in document.vertices:
        yield buffer.declaration.tobytes()
        yield struct.pack("<I", len(buffer.rows))
        yield _bytes_of(buffer.rows)


def _indices(document: Geometry) -> Iterator[Bytes]:
    yield struct.pack("<I", len(document.indices))
    for indices in document.indices:
        yield struct.pack("<I", len(indices))
        yield _bytes_of(indices)


def _windows(document: Geometry) -> Iterator[Bytes]:
    lists = document.windows.lists
    yield struct.pack("<I", len(lists))
    for number in range(len(lists)):
        yield _WINDOWS_HEAD.pack(*document.windows.reserved[number].tolist(), len(lists[number]))
        yield lists[number].tobytes()


def _bytes_of(rows: NDArray[Any]) -> memoryview:
    """Return the bytes of rows, without copying if the array is contiguous."""
    return np.ascontiguousarray(rows).view(np.uint8).reshape(-1).data


def write(document: Geometry) -> bytes:
    """Return the bytes of the whole file as one object."""
    return b"".join(pieces(document))


recompose = write  # buffers are their bytes; everything else is written from values


def raw_size(document: Geometry) -> int:
    """Return the number of bytes that are kept without knowing their meaning.

    They are unknown chunks, gaps in vertices, and bytes after the last chunk.
    """
    gaps = sum(
        len(buffer.rows) * buffer.rows.dtype[name].itemsize
        for buffer in document.vertices
        for name in buffer.rows.dtype.names or ()
        if name.startswith("gap")
    )
    return gaps + kept_size(document.run, KNOWN, document.rests)


def problems(document: Geometry) -> Iterator[str]:
    """Yield what the game refuses."""
    if document.version != NEWEST:
        yield say("version {}; the released games accept {} only", document.version, NEWEST)
    for number in (VERTICES, INDICES):
        if document.run.first(number) is None:
            yield say("chunk {:#x} is missing", number)


def describe(document: Geometry) -> list[str]:
    """Return a summary: counts, memory, vertex layouts."""
    vertices = sum(len(buffer.rows) for buffer in document.vertices)
    indices = sum(map(len, document.indices))
    memory = sum(len(buffer.rows) * buffer.stride for buffer in document.vertices), 2 * indices
    lines = [
        (
            f"version {document.version}, {counted(vertices, 'vertex|vertices')} in "
            f"{counted(len(document.vertices), 'buffer')}, {counted(indices, 'index|indices')} in "
            f"{counted(len(document.indices), 'buffer')}, "
            f"{counted(len(document.windows.lists), 'window list')}"
        ),
        f"memory: {memory[0] / 2**20:.1f} MB of vertices, {memory[1] / 2**20:.1f} MB of indices",
    ]
    layouts: dict[str, list[int]] = {}
    for buffer in document.vertices:
        names = f"{buffer.stride} bytes: {' '.join(buffer.rows.dtype.names or ())}"
        layouts.setdefault(names, []).append(len(buffer.rows))
    lines += [f"{counted(sum(counts), 'vertex|vertices')} of {names}" for names, counts in sorted(layouts.items())]
    return lines


VIEWS: Views = {
    **CHUNK_VIEWS,
    Geometry: with_chunks(lambda _: KNOWN),
    VertexBuffer: View(words={"rows": ""}),
    Windows: View(words={"lists": ""}),
}
