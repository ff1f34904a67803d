"""The `.bones` file: bytes <-> `Bones`."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from ....core.binary import Reader, Writer
from ....core.errors import ReadError
from ....core.finite import warn_not_finite
from ....core.report import Report
from ..chunks import Chunk, ChunkRun, Section, open_chunk, read_chunks, with_body, write_chunks
from ..ogf.chunk_types import Joint, Shape
from .document import (
    MOST_BONES,
    PARTS,
    Bone,
    Bones,
    Breaking,
    Friction,
    IkFlags,
    Kind,
    Mass,
    Material,
    Naming,
    Part,
    Parts,
    Placement,
    Value,
    Version,
)


def _read_joint(reader: Reader) -> Joint:
    return Joint.read(reader, breakable=False, friction=False)


READERS: dict[int, Callable[[Reader], Value]] = {
    1: Version.read,
    2: Naming.read,
    3: Placement.read,
    4: Material.read,
    5: Shape.read,
    6: _read_joint,
    7: Mass.read,
    8: IkFlags.read,
    9: Breaking.read,
    0x10: Friction.read,
}


def starts_like(head: bytes) -> bool:
    """Whether a file's first bytes are a chunk 0 that begins with a bone's property."""
    if len(head) < 16:
        return False
    bone, size, number, inner = struct.unpack_from("<4I", head)
    return bone == 0 and number in READERS and 0 < inner <= size - 8


def read(data: bytes, file: str, report: Report) -> Bones:
    """The document of a `.bones`. Raises `ReadError`."""
    reader = Reader(data, file)
    if not len(data):
        raise reader.error("the file is empty", "Copy it again")
    run = read_chunks(reader, report)
    document = Bones([], bytes(run.tail))
    for chunk in run.chunks:
        value: Bone | Parts | None = None
        body = open_chunk(chunk, reader)
        if chunk.plain_id < MOST_BONES and len(chunk.body):
            value = _read_bone(body, report)
        elif chunk.plain_id == PARTS:
            value = _typed(_read_parts, body, report)
        document.sections.append(Section(chunk, value))
    if not document.bones:
        there = ", ".join(f"{chunk.id:#x}" for chunk in run.chunks[:6])
        raise ReadError(f"no bones; found: {there}", file=file, remedy="Check that this is a .bones of the editor")
    return document


def _read_bone(reader: Reader, report: Report) -> Bone | None:
    """A bone, or None where none of the chunks in it is one of a bone."""
    run = read_chunks(reader, report)
    bone = Bone([], bytes(run.tail))
    for chunk in run.chunks:
        known = READERS.get(chunk.plain_id) if len(chunk.body) else None
        value = _typed(known, open_chunk(chunk, reader), report) if known is not None else None
        bone.sections.append(Section(chunk, value))
    return bone if any(section.value is not None for section in bone.sections) else None


def _typed(known: Callable[[Reader], Kind], reader: Reader, report: Report) -> Kind | None:
    """The value of a chunk, or None, reported, where its bytes are not what they should be."""
    try:
        value = known(reader)
        reader.expect_end("what is known of this chunk")
    except ReadError as wrong:
        report.warn(f"not readable, kept as it is: {wrong.problem}", reader.chunk)
        return None
    warn_not_finite(report, f"chunk {reader.chunk}", value)
    return value


def _read_parts(reader: Reader) -> Parts:
    parts = []
    for _ in range(_counted(reader, "parts", 5)):
        name = reader.string("a part's name")
        parts.append(Part(name, [reader.string("a bone's name") for _ in range(_counted(reader, "bones", 1))]))
    return Parts(parts)


def _counted(reader: Reader, what: str, smallest: int) -> int:
    count = reader.u32(f"the number of {what}")
    if count * smallest > reader.remaining:
        raise reader.error(f"{count} {what} are announced, {reader.remaining} bytes are left")
    return count


def write(document: Bones) -> bytes:
    """The file's bytes."""
    return _compose(document.sections, document.tail)


recompose = write
"""The same: nothing of a file that has a type is kept as bytes."""


def _compose(sections: list[Section[Any]], tail: bytes) -> bytes:
    chunks: list[Chunk] = []
    for section in sections:
        if section.value is None:
            chunks.append(section.chunk)
        elif isinstance(section.value, Bone):
            chunks.append(with_body(section.chunk, _compose(section.value.sections, section.value.tail)))
        else:
            writer = Writer()
            if isinstance(section.value, Parts):
                _write_parts(writer, section.value)
            else:
                section.value.write(writer)
            chunks.append(with_body(section.chunk, writer.getvalue()))
    return write_chunks(ChunkRun(chunks, tail))


def _write_parts(writer: Writer, parts: Parts) -> None:
    writer.u32(len(parts.parts))
    for part in parts.parts:
        writer.string(part.name)
        writer.u32(len(part.bones))
        for bone in part.bones:
            writer.string(bone)


def raw_size(document: Bones) -> int:
    """Bytes kept without knowing what they mean."""
    size = len(document.tail)
    for section in document.sections:
        if section.value is None:
            size += len(section.chunk.body)
        elif isinstance(section.value, Bone):
            inner = section.value.sections
            size += len(section.value.tail) + sum(len(part.chunk.body) for part in inner if part.value is None)
    return size
