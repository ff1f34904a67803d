"""`level.wallmarks`: marks painted on a level's walls and ground, as triangles in world space, by shader and texture.

Chunk 1: u32 slots; each slot u32 marks, shader and texture as text, then the marks: a bounding sphere, u32 vertices
(three per triangle), and the vertices. Real files were read to the last byte.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...core import names, space, text
from ...core.binary import Bytes, Reader, Writer, warn_not_finite
from ...core.model import Material, Mesh
from ...core.report import Report, counted, say
from ...core.walk import Views
from .chunks import (
    CHUNK_VIEWS,
    ChunkRun,
    keep_rest,
    kept_size,
    listed,
    note_unknown,
    open_chunk,
    read_chunks,
    with_bodies,
    with_chunks,
    write_chunks,
)

MARKS = 1
VERTEX = np.dtype([("position", "<f4", 3), ("colour", "<u4"), ("uv", "<f4", 2)])
_SMALLEST_SLOT, _SMALLEST_MARK = 6, 20


@dataclass(slots=True, eq=False)
class Mark:
    """A wallmark: ``sphere`` (4,) float32 centre and radius; ``vertices`` (3 * triangles,) of `VERTEX`."""

    sphere: NDArray[np.float32]
    vertices: NDArray[np.void]


@dataclass(slots=True, eq=False)
class Slot:
    """The wallmarks with the same shader and texture."""

    shader: bytes
    texture: bytes
    marks: list[Mark]


@dataclass(slots=True, eq=False)
class Wallmarks:
    """A `level.wallmarks` file; ``run`` are its chunks in order, ``rests`` bytes after the values of a chunk."""

    slots: list[Slot]
    run: ChunkRun
    file: str = field(default="", compare=False)
    rests: dict[int, Bytes] = field(default_factory=dict)

    @property
    def marks(self) -> list[Mark]:
        """Wallmarks of all slots."""
        return [mark for slot in self.slots for mark in slot.marks]


def decode(document: Wallmarks, name: str) -> Mesh:
    """Convert all wallmarks to one mesh of separate triangles in Blender's axes, with a material per slot.

    Vertices after the last complete triangle of a mark are left out.
    """
    vertices = [np.zeros(0, VERTEX), *(mark.vertices[: 3 * (len(mark.vertices) // 3)] for mark in document.marks)]
    rows = np.concatenate(vertices)
    faces = [sum(len(mark.vertices) // 3 for mark in slot.marks) for slot in document.slots]
    materials = []
    for slot in document.slots:
        texture = names.decode(slot.texture)
        title = texture.replace("/", "\\").rpartition("\\")[2]
        materials.append(Material(title, texture, names.decode(slot.shader)))
    return Mesh(
        name,
        space.xray_points(rows["position"]),
        space.xray_triangles(np.arange(len(rows), dtype=np.int32).reshape(-1, 3)),
        uvs=space.xray_uvs(rows["uv"]),
        materials=materials,
        material_index=np.repeat(np.arange(len(faces), dtype=np.int32), faces),
    )


def starts_like(head: bytes) -> bool:
    """Return whether a file starts with a chunk 1, plausible numbers of slots and marks, and the name of a shader."""
    if len(head) < 20 or head[:4] != b"\1\0\0\0" or int.from_bytes(head[4:8], "little") < 4 + _SMALLEST_SLOT:
        return False
    slots, marks = (int.from_bytes(head[at : at + 4], "little") for at in (8, 12))
    shader = head[16:].partition(b"\0")[0]
    return (
        0 < slots < 1 << 16
        and marks < 1 << 20
        and len(shader) > 1
        and shader.isascii()
        and shader.decode().isprintable()
    )


def read(data: bytes, file: str, report: Report) -> Wallmarks:
    """Read the file. Raises `ReadError` if its size does not match the declared counts."""
    reader = Reader.of_file(data, file)
    run = read_chunks(reader, report)
    chunk = run.first(MARKS)
    if chunk is None:
        words = "there are no wallmarks (chunk {:#x}; there are {})"
        raise reader.error(say(words, MARKS, listed(run.chunks)), "Check that this is a level.wallmarks, copied whole")
    inside = open_chunk(chunk, reader)
    count = inside.u32("the number of slots")
    inside.expect_room(count, "slot", _SMALLEST_SLOT)
    slots = [_read_slot(inside) for _ in range(count)]
    rests: dict[int, Bytes] = {}
    keep_rest(inside, MARKS, rests, report)
    for other in run.others((MARKS,)):
        note_unknown(report, reader, other)
    document = Wallmarks(slots, run, file, rests)
    marks = document.marks
    if marks:
        warn_not_finite(report, "spheres", np.stack([mark.sphere for mark in marks]))
        warn_not_finite(report, "vertices", np.concatenate([mark.vertices for mark in marks]))
    partial = sum(len(mark.vertices) % 3 != 0 for mark in marks)
    if partial:
        report.warn(say("{:# wallmark has|# wallmarks have} vertices behind the last triangle; kept", partial))
    return document


def _read_slot(reader: Reader) -> Slot:
    count = reader.u32("the number of wallmarks")
    slot = Slot(reader.string("the shader of wallmarks"), reader.string("the texture of wallmarks"), [])
    reader.expect_room(count, "wallmark", _SMALLEST_MARK)
    for _ in range(count):
        sphere = reader.array("<f4", 4, what="the sphere of a wallmark")
        vertices = reader.u32("the number of vertices")
        slot.marks.append(Mark(sphere, reader.array(VERTEX, vertices, what=counted(vertices, "vertex|vertices"))))
    return slot


def write(document: Wallmarks) -> bytes:
    """Return the bytes of the file."""
    writer = Writer()
    writer.u32(len(document.slots))
    for slot in document.slots:
        writer.u32(len(slot.marks))
        writer.string(slot.shader)
        writer.string(slot.texture)
        for mark in slot.marks:
            writer.array(mark.sphere, "<f4")
            writer.u32(len(mark.vertices))
            writer.raw(mark.vertices.tobytes())
    return write_chunks(with_bodies(document.run, {MARKS: writer.getvalue()}, document.rests))


recompose = write  # nothing is kept as bytes in addition to typed values


def raw_size(document: Wallmarks) -> int:
    """Return the number of bytes that are kept without knowing their meaning."""
    return kept_size(document.run, (MARKS,), document.rests)


def describe(document: Wallmarks) -> list[str]:
    """Return a summary: counts and textures."""
    marks = document.marks
    triangles = sum(len(mark.vertices) // 3 for mark in marks)
    lines = [
        (f"{counted(len(document.slots), 'slot')}, {counted(len(marks), 'wallmark')}, {counted(triangles, 'triangle')}")
    ]
    lines += [
        f"{counted(len(slot.marks), 'wallmark')}: {names.decode(slot.texture)}" for slot in document.slots[: text.FEW]
    ]
    if len(document.slots) > text.FEW:
        lines.append("...")
    return lines


VIEWS: Views = {**CHUNK_VIEWS, Wallmarks: with_chunks(lambda _: (MARKS,))}
