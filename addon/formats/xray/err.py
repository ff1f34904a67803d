"""`.err`: errors that a level compiler or the level editor found, as points, edges and triangles to display.

Chunked; every body is a count and items. Chunks 0, 1, 2 are the level compiler's points, edges and triangles; 10, 11,
12 the level editor's. A triangle of the editor has 8 more bytes: a colour, two flags of unknown meaning, two bytes of
padding.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePath

import numpy as np
from numpy.typing import NDArray

from ...core import space, text
from ...core.binary import Bytes, Reader, warn_not_finite
from ...core.model import Attribute, Domain, Mesh
from ...core.report import Report, say
from ...core.walk import Entries, View, Views, fields
from .chunks import (
    CHUNK_VIEWS,
    ChunkRun,
    headings,
    kept_size,
    note_unknown,
    open_chunk,
    read_chunks,
    with_bodies,
    write_chunks,
)

POINT = np.dtype([("positions", "<f4", (1, 3))])
EDGE = np.dtype([("positions", "<f4", (2, 3))])
TRIANGLE = np.dtype([("positions", "<f4", (3, 3))])
EDITOR_TRIANGLE = np.dtype([("positions", "<f4", (3, 3)), ("colour", "<u4"), ("flags", "u1", 2), ("padding", "u1", 2)])
KINDS: dict[int, tuple[str, np.dtype[np.void]]] = {
    0: ("points", POINT),
    1: ("edges", EDGE),
    2: ("triangles", TRIANGLE),
    10: ("editor's points", POINT),
    11: ("editor's edges", EDGE),
    12: ("editor's triangles", EDITOR_TRIANGLE),
}
"""Chunk id -> its items in words, layout of an item."""
COLOUR = "colour"


@dataclass(slots=True, eq=False)
class Err:
    """An `.err` file: ``lists`` chunk id -> (items,) of its layout; ``rests`` chunk id -> bytes after the items."""

    lists: dict[int, NDArray[np.void]]
    run: ChunkRun
    rests: dict[int, Bytes]
    file: str = field(default="", compare=False)

    @property
    def name(self) -> str:
        """Name of the file without its folder."""
        return PurePath(self.file.replace("\\", "/")).name or "level.err"


def starts_like(head: bytes) -> bool:
    """Return whether a file starts with a chunk of points of the right size, and if it is empty, one of edges."""
    if len(head) < 12:
        return False
    identifier, size, count = np.frombuffer(head[:12], "<u4").tolist()
    if identifier not in (0, 10) or size != 4 + POINT.itemsize * count:
        return False
    if count or len(head) == 12:
        return True
    if len(head) < 24:
        return False
    # Without points, these twelve bytes are the same as at the start of a .hom or .som.
    identifier, size, count = np.frombuffer(head[12:24], "<u4").tolist()
    return identifier in (1, 11) and bool(size == 4 + EDGE.itemsize * count)


def read(data: bytes, file: str, report: Report) -> Err:
    """Read the file. Raises `ReadError` if it has none of the six chunks.

    A chunk that declares more items than it has stays bytes, and is reported.
    """
    reader = Reader.of_file(data, file)
    run = read_chunks(reader, report)
    document = Err({}, run, {}, file)
    for number, (what, layout) in KINDS.items():
        chunk = run.first(number)
        if chunk is None or not len(chunk.body):
            continue
        inside = open_chunk(chunk, reader)
        count = inside.u32(say("the number of {}", what))
        whole = inside.remaining // layout.itemsize
        if count > whole:
            report.warn(say("{} {} are declared, {} exist", count, what, whole), inside.chunk)
            # The count is wrong, so the whole body is kept as bytes.
            continue
        document.lists[number] = inside.array(layout, count, what=what)
        document.rests[number] = inside.rest()
        warn_not_finite(report, what, document.lists[number])
        if len(document.rests[number]):
            words = "{:# extra byte|# extra bytes} after the {}; kept"
            report.warn(say(words, len(document.rests[number]), what), inside.chunk)
    if not document.lists:
        raise reader.error(
            "there are no errors of a level in it", "Check that this is an .err of a level compiler, copied whole"
        )
    for chunk in run.others(document.lists):
        if len(chunk.body):
            note_unknown(report, reader, chunk)
    return document


def write(document: Err) -> bytes:
    """Return the bytes of the file."""
    bodies = {
        number: len(rows).to_bytes(4, "little") + rows.tobytes() + bytes(document.rests.get(number, b""))
        for number, rows in document.lists.items()
    }
    return write_chunks(with_bodies(document.run, bodies))


recompose = write


def raw_size(document: Err) -> int:
    """Return the number of bytes that are kept without knowing their meaning."""
    flags = sum(4 * len(rows) for number, rows in document.lists.items() if number == 12)
    return flags + kept_size(document.run, document.lists, document.rests)


def describe(document: Err) -> list[str]:
    """Return a summary: counts and bounds."""
    points = [rows["positions"].reshape(-1, 3) for rows in document.lists.values()]
    return [
        ", ".join(f"{len(rows)} {KINDS[number][0]}" for number, rows in document.lists.items()),
        f"bounds (file axes): {text.extent(np.concatenate(points))}",
    ]


def _entries(document: Err) -> Entries:
    for number, rows in document.lists.items():
        yield KINDS[number][0], rows
    yield from fields(document, "found", "run")
    yield "", headings(document.run, document.lists)


VIEWS: Views = {**CHUNK_VIEWS, Err: View(entries=_entries)}


def decode(document: Err, report: Report) -> list[Mesh]:
    """Convert to up to three meshes: points, edges and triangles of both programs. Kinds without items are left out.

    Nothing is merged: item i of a kind is vertex, edge or face i, the compiler's items before the editor's. The
    triangles have the face attribute `COLOUR` (faces, 4) if any of them came from the editor.
    """
    meshes = []
    for numbers in ((0, 10), (1, 11), (2, 12)):
        parts = [(number, document.lists[number]) for number in numbers if number in document.lists]
        rows = [part["positions"] for _, part in parts]
        positions = np.concatenate(rows) if rows else np.zeros((0, 1, 3), np.float32)
        if not len(positions):
            continue
        corners = np.arange(positions.shape[0] * positions.shape[1], dtype=np.int32).reshape(len(positions), -1)
        title = f"{document.name} {KINDS[numbers[0]][0]}"
        mesh = Mesh(title, space.xray_points(positions.reshape(-1, 3)), np.zeros((0, 3), np.int32))
        if corners.shape[1] == 2:
            mesh.edges = corners
        elif corners.shape[1] == 3:
            mesh.triangles = space.xray_triangles(corners)
            if any("colour" in (part.dtype.names or ()) for _, part in parts):
                mesh.attributes[COLOUR] = Attribute(Domain.FACE, np.concatenate([_colours(part) for _, part in parts]))
        meshes.append(mesh)
    if not meshes:
        report.note("no errors", document.name)
    return meshes


def _colours(rows: NDArray[np.void]) -> NDArray[np.float32]:
    """Return (items, 4) red, green, blue, alpha; items of the compiler are white."""
    if "colour" not in (rows.dtype.names or ()):
        return np.ones((len(rows), 4), np.float32)
    bytes_of = np.ascontiguousarray(rows["colour"]).view(np.uint8).reshape(-1, 4)
    return (bytes_of[:, [2, 1, 0, 3]] / 255).astype(np.float32)
