"""The container of nearly every X-Ray file: ``u32 id, u32 size, size bytes``, nested to any depth.

Source: the engine's ``FS.h`` / ``FS.cpp``. The engine finds chunks by id, so order is free, the first chunk of an id is
used, and a chunk of size 0 counts as absent. Bit 31 of an id marks a compressed body (`lzhuf`), but some mods set it on
plain bodies, and broken files declare wrong sizes: both are kept as stored, read as far as possible, and reported.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from ...core.binary import NOT_FINITE, Bytes, Reader, all_finite, count_not_finite
from ...core.compression.lzhuf import unpack
from ...core.errors import ReadError
from ...core.report import Report, say
from ...core.walk import Entries, View, Views, fields, kind_word

COMPRESSED = 0x8000_0000
MAX_DEPTH = 32
"""Largest depth of nesting that is read. Real files have four levels; the limit protects the stack from hostile files.
"""

_HEADER = struct.Struct("<II")

Value = TypeVar("Value")


@dataclass(slots=True)
class Chunk:
    """One chunk as stored in the file.

    ``id`` with bit 31 as stored; ``body`` the uncompressed bytes; ``offset`` of the stored body in the file; ``packed``
    the stored bytes if they really were compressed; ``declared`` the size that the file declares, if it is wrong.
    """

    id: int
    body: Bytes
    offset: int = 0
    packed: Bytes | None = None
    declared: int | None = None

    @property
    def plain_id(self) -> int:
        """The id without the bit that marks compression."""
        return self.id & ~COMPRESSED


@dataclass(slots=True)
class ChunkRun:
    """The chunks of a file or of a chunk's body, and the bytes after the last one (broken files only)."""

    chunks: list[Chunk]
    tail: Bytes = b""

    def first(self, identifier: int) -> Chunk | None:
        """Return the first chunk with an id, which is the one the engine uses; None if there is none."""
        return next((chunk for chunk in self.chunks if chunk.plain_id == identifier), None)

    def others(self, identifiers: Iterable[int]) -> list[Chunk]:
        """Return the chunks that are not the first of any of these ids."""
        left, result = set(identifiers), []
        for chunk in self.chunks:
            if chunk.plain_id in left:
                left.remove(chunk.plain_id)
            else:
                result.append(chunk)
        return result


@dataclass(slots=True)
class Section(Generic[Value]):
    """A chunk and the value of its body; ``value`` is None if it is unknown and the bytes are kept.

    ``tail`` holds the bytes after a value that ends before its chunk does (broken files only).
    """

    chunk: Chunk
    value: Value | None = None
    tail: Bytes = b""


def chunk_path(parent: str, identifier: int) -> str:
    """Return the path of a chunk as messages show it: ``0xE/0x3``."""
    return f"{parent}/0x{identifier:X}" if parent else f"0x{identifier:X}"


def read_chunks(reader: Reader, report: Report) -> ChunkRun:
    """Split the remaining bytes of ``reader`` into chunks. Bodies are views; only compressed ones are copied.

    A size beyond the end is clamped and reported; bytes too few for a header are kept as the tail. Raises `ReadError`
    if the nesting is too deep, or if the first chunk of a file declares more bytes than the file has.
    """
    if reader.chunk.count("/") >= MAX_DEPTH:
        raise reader.error(say("chunks are nested more than {} deep", MAX_DEPTH))
    if not reader.chunk:
        reader.refuse_git_pointer()
    chunks: list[Chunk] = []
    data, header = reader.data, _HEADER.size
    while (left := len(data) - reader.position - header) >= 0:
        identifier, size = _HEADER.unpack_from(data, reader.position)
        declared = None
        if size > left:
            declared, size = size, left
            if not chunks and not reader.chunk:
                words = "the first chunk ({:#x}) claims {:# byte|# bytes}, {} follow: truncated, or not a chunked file"
                raise reader.error(
                    say(words, identifier, declared, size),
                    "Check that this is a file of S.T.A.L.K.E.R. and that it was copied whole",
                )
            report.warn(
                say(
                    "the chunk declares {:# byte|# bytes}, but only {} follow; the existing bytes are read",
                    declared,
                    size,
                ),
                say("{} at {}", chunk_path(reader.chunk, identifier), reader.offset),
            )
        body_at = reader.position + header
        reader.position = body_at + size
        chunk = Chunk(identifier, data[body_at : body_at + size], reader.start + body_at, None, declared)
        if identifier & COMPRESSED and size:
            _unpack_body(chunk, reader, report)
        chunks.append(chunk)
    tail = reader.rest()
    if len(tail):
        report.warn(say("{:# extra byte|# extra bytes} after the last chunk; kept", len(tail)), reader.chunk or "file")
    return ChunkRun(chunks, tail)


def note_unknown(report: Report, reader: Reader, chunk: Chunk) -> None:
    """Report that a chunk in ``reader`` is kept as bytes, because its meaning is not known."""
    words = "{:# chunk|# chunks} of unknown meaning, kept unchanged"
    report.note(say(words, 1), chunk_path(reader.chunk, chunk.id))


def _unpack_body(chunk: Chunk, reader: Reader, report: Report) -> None:
    where = say("{} at {}", chunk_path(reader.chunk, chunk.id), chunk.offset)
    if any(int(number, 16) & COMPRESSED for number in reader.chunk.split("/") if number):
        # Every level of compression multiplies the size: a hundred bytes could fill all memory.
        words = (
            "{:# chunk is|# chunks are} marked as compressed inside a compressed chunk, which no game writes; read as "
            "uncompressed"
        )
        report.warn(say(words, 1), where)
        return
    try:
        plain = unpack(Reader(chunk.body, reader.file, chunk_path(reader.chunk, chunk.id), chunk.offset))
    except ReadError:
        words = (
            "{:# chunk is|# chunks are} marked as compressed but not in the game's way (encrypted by a mod's tool?); "
            "kept unchanged"
        )
        report.warn(say(words, 1), where)
        return
    chunk.packed, chunk.body = chunk.body, plain
    report.note(say("{0:# compressed chunk remains|# compressed chunks remain} compressed unless edited", 1), where)


def open_chunk(chunk: Chunk, parent: Reader) -> Reader:
    """Return a reader of a chunk's plain body, with the path and offset for messages."""
    start = chunk.offset if chunk.packed is None else 0
    return Reader(chunk.body, parent.file, chunk_path(parent.chunk, chunk.id), start)


def typed(known: Callable[[Reader], Value], reader: Reader, report: Report) -> Value | None:
    """Return the value of a chunk that ``reader`` was opened on; NaN and infinite values are reported.

    If the bytes cannot be read with ``known``, or some are left over, that is reported and the result is None: the
    chunk is then kept as bytes.
    """
    try:
        value = known(reader)
        if reader.position != len(reader.data):
            reader.expect_end("what is known of this chunk")
    except ReadError as wrong:
        report.warn(say("not readable, kept unchanged: {}", wrong.problem), reader.chunk)
        return None
    if not all_finite(reader.data) and (count := count_not_finite(value)):
        report.warn(NOT_FINITE, say("chunk {}: {}", reader.chunk, count))
    return value


def keep_rest(reader: Reader, number: int, rests: dict[int, Bytes], report: Report) -> None:
    """Put the bytes that are left in chunk ``number`` after its values into ``rests``, and report them."""
    if reader.remaining:
        words = "{:# extra byte|# extra bytes} after the values of the chunk; kept"
        report.warn(say(words, reader.remaining), reader.chunk)
        rests[number] = reader.rest()


def write_chunks(run: ChunkRun) -> bytes:
    """Return the bytes of the chunks, including wrong sizes that were declared, and the tail."""
    return b"".join([*_headers_and_bodies(run.chunks), run.tail])


def _headers_and_bodies(chunks: Iterable[Chunk]) -> Iterable[Bytes]:
    for chunk in chunks:
        stored = chunk.body if chunk.packed is None else chunk.packed
        yield _HEADER.pack(chunk.id, len(stored) if chunk.declared is None else chunk.declared)
        yield stored


def _chunk_entries(chunk: Chunk) -> Entries:
    yield "id", hex(chunk.id)
    yield "declared size", chunk.declared
    yield "packed", None if chunk.packed is None else memoryview(chunk.packed)
    yield "bytes", memoryview(chunk.body)


def _section_entries(section: Section[Any]) -> Entries:
    chunk = section.chunk
    yield "", chunk if section.value is None else replace(chunk, body=b"")
    yield "", section.value
    yield "tail", memoryview(section.tail)


def section_view(titles: Mapping[type, str | Callable[[Any], str]] | None = None) -> View:
    """Return the view of a `Section`, whose title is that of its value: the words for its class. ``titles``: others, or
    functions of the section, by class.
    """

    def title(section: Section[Any]) -> str:
        if section.value is None:
            return f"chunk {section.chunk.plain_id:#x}"
        kind = type(section.value)
        known = (titles or {}).get(kind, kind_word(kind))
        return known if isinstance(known, str) else known(section)

    return View(title, entries=_section_entries)


def _chunk_title(chunk: Chunk) -> str:
    return f"chunk {chunk.plain_id:#x}"


CHUNK_VIEWS: Views = {Chunk: View(_chunk_title, entries=_chunk_entries), Section: section_view()}
"""How chunks are shown in dumps and differences."""


def with_chunks(
    known: Callable[[Any], Iterable[int]], words: Mapping[str, str | None] | None = None, field: str = "run"
) -> View:
    """Return the view of a document that keeps its chunks beside their values: the bodies of the chunks with ``known``
    ids, the first of each, are not shown. ``words``: as in a `View`.
    """

    def entries(document: Any) -> Entries:
        yield from fields(document, field, words=words or {})
        yield "", headings(getattr(document, field), known(document))

    return View(entries=entries)


def headings(run: ChunkRun, known: Iterable[int]) -> ChunkRun:
    """Return the chunks without the bodies of those that have a value: the first of each of the ids ``known``."""
    others = {id(chunk) for chunk in run.others(known)}
    return ChunkRun([chunk if id(chunk) in others else replace(chunk, body=b"") for chunk in run.chunks], run.tail)


def listed(chunks: Sequence[Chunk]) -> str:
    """Return the ids of the first six chunks as text, for the refusal of a file that lacks another one."""
    return ", ".join(f"{chunk.id:#x}" for chunk in chunks[:6]) or "none"


def with_body(chunk: Chunk, body: bytes) -> Chunk:
    """Return the chunk with ``body``; a changed one is stored uncompressed and with its true size."""
    if body == chunk.body:
        return chunk
    identifier = chunk.id if chunk.packed is None else chunk.plain_id
    return Chunk(identifier, body, chunk.offset)


def with_bodies(run: ChunkRun, bodies: Mapping[int, bytes], rests: Mapping[int, Bytes] | None = None) -> ChunkRun:
    """Return the same chunks with other bodies for the first chunk of each of these ids; the order stays.

    ``rests``: what `keep_rest` kept of them.
    """
    rests = rests or {}
    changed = {
        id(run.first(identifier)): body + bytes(rests.get(identifier, b"")) for identifier, body in bodies.items()
    }
    return ChunkRun(
        [with_body(chunk, changed[id(chunk)]) if id(chunk) in changed else chunk for chunk in run.chunks], run.tail
    )


def stored_size(chunk: Chunk) -> int:
    """Return the number of bytes that the chunk's body has in the file."""
    return len(chunk.body if chunk.packed is None else chunk.packed)


def kept_size(run: ChunkRun, known: Iterable[int], rests: Mapping[int, Bytes]) -> int:
    """Return the number of bytes of a run whose meaning is unknown: other chunks than those of the ids ``known``, the
    ``rests`` that `keep_rest` kept, and the tail.
    """
    return sum(map(stored_size, run.others(known))) + sum(map(len, rests.values())) + len(run.tail)


def starts_like_chunks(*identifiers: int) -> Callable[[bytes], bool]:
    """Return a function that tells whether a file begins with the header of one of these chunks, bit 31 ignored."""

    def test(head: bytes) -> bool:
        return len(head) >= _HEADER.size and (_HEADER.unpack_from(head)[0] & ~COMPRESSED) in identifiers

    return test
