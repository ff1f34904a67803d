"""Chunks that are typed if their id is known: reading, editing and writing them, for models, bones and objects.

An edit puts a value into a chunk, or makes a chunk for it; the chunks of all other values are shared with the old
contents, so their bytes stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeVar

from ...core.binary import Bytes, Reader, Writer
from ...core.report import Report
from .chunks import (
    Chunk,
    ChunkRun,
    Section,
    note_unknown,
    open_chunk,
    read_chunks,
    stored_size,
    typed,
    with_body,
    write_chunks,
)

Kind = TypeVar("Kind")
Read = Callable[[Reader, Report], Any]
"""Reader of a chunk's body: returns its value, or None if the chunk is to be kept as bytes."""


@dataclass(slots=True, eq=False)
class Contents:
    """A list of chunks: ``sections`` in the file's order, and the bytes after the last chunk."""

    sections: list[Section[Any]] = field(default_factory=list)
    tail: Bytes = b""

    @classmethod
    def of(cls, values: Iterable[tuple[int, Any]]) -> Self:
        """Return new chunks of these ids."""
        return cls([Section(Chunk(identifier, b""), value) for identifier, value in values])

    def first(self, kind: type[Kind]) -> Kind | None:
        """Return the first value of a type, which is the one that games and editors use; None if there is none."""
        return next((section.value for section in self.sections if isinstance(section.value, kind)), None)

    def all(self, kind: type[Kind]) -> list[Kind]:
        """Return the values of a type in the order of their chunk ids."""
        ordered = sorted(self.sections, key=lambda section: section.chunk.plain_id)
        return [section.value for section in ordered if isinstance(section.value, kind)]

    def replaced(self, old: object, new: object) -> Self:
        """Return the same chunks with ``new`` instead of the value ``old``, or without its chunk if ``new`` is None."""
        return self.mapped([old], [new])

    def mapped(self, old: Sequence[object], new: Sequence[object]) -> Self:
        """Return the same chunks with another value for each of ``old``, or without its chunk if that is None."""
        changed = dict(zip(map(id, old), new, strict=True))
        sections = []
        for section in self.sections:
            value = changed.get(id(section.value), section.value) if section.value is not None else None
            if value is not None or section.value is None:
                sections.append(section if value is section.value else Section(section.chunk, value, section.tail))
        return replace(self, sections=sections)

    def with_value(self, identifier: int, new: object) -> Self:
        """Return the same chunks with ``new`` instead of the first value of its type, else in an empty or new chunk."""
        old: object = self.first(type(new))
        if old is not None:
            return self.replaced(old, new)
        for index, section in enumerate(self.sections):
            if section.chunk.plain_id == identifier and section.value is None and not len(section.chunk.body):
                return replace(
                    self, sections=[*self.sections[:index], Section(section.chunk, new), *self.sections[index + 1 :]]
                )
        return replace(self, sections=[*self.sections, Section(Chunk(identifier, b""), new)])

    def without(self, *kinds: type) -> Self:
        """Return the chunks but those with values of these types."""
        return replace(self, sections=[section for section in self.sections if not isinstance(section.value, kinds)])


ContentsType = TypeVar("ContentsType", bound=Contents)


def typed_reader(known: Callable[[Reader], Any]) -> Read:
    """Return a reader of a chunk that is kept as bytes if ``known`` cannot read it: see `typed`."""
    return lambda reader, report: typed(known, reader, report)


def read_contents(
    kind: type[ContentsType],
    reader: Reader,
    report: Report,
    reads: Callable[[int], Read | None],
    *,
    once: bool = False,
    empty: bool = False,
) -> ContentsType:
    """Read the remaining chunks of ``reader``.

    ``once``: type only the first one that can be typed. ``empty``: read chunks without bytes too.
    """
    run = read_chunks(reader, report)
    contents = kind([], run.tail)
    for chunk in run.chunks:
        value, read_body = None, reads(chunk.plain_id)
        if read_body is None:
            note_unknown(report, reader, chunk)
        elif len(chunk.body) or empty:
            value = read_body(open_chunk(chunk, reader), report)
            reads = reads if not once else lambda _: None
        contents.sections.append(Section(chunk, value))
    return contents


def body_of(value: Any) -> bytes:
    """Return the body of a chunk from the fields of its value."""
    writer = Writer()
    value.write(writer)
    return writer.getvalue()


def write_contents(contents: Contents, body: Callable[[Any], bytes] = body_of) -> bytes:
    """Return the bytes of the chunks; ``body`` returns those of a value that has no chunks itself."""

    def chunk_of(section: Section[Any]) -> Chunk:
        value = section.value
        if value is None:
            return section.chunk
        data = write_contents(value, body) if isinstance(value, Contents) else body(value)
        return with_body(section.chunk, data + bytes(section.tail) if len(section.tail) else data)

    return write_chunks(ChunkRun(list(map(chunk_of, contents.sections)), contents.tail))


def unknown_size(contents: Contents, of_value: Callable[[Any], int] = lambda _: 0) -> int:
    """Return the number of bytes that are kept without knowing their meaning; ``of_value``: those in a value."""
    size = len(contents.tail)
    for section in contents.sections:
        if section.value is None:
            size += stored_size(section.chunk)
        elif isinstance(section.value, Contents):
            size += unknown_size(section.value, of_value)
        else:
            size += of_value(section.value)
        size += len(section.tail)
    return size
