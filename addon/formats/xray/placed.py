"""Placed objects of a level: particles, weather modifiers, sounds and spawned objects, one chunk each.

`level.ps_static`, `level.env_mod`, `level.snd_static` and `level.spawn` differ in the fields of an entry (`Layout`).
Later games store a version in chunk 0 and number entries from 1. Sources: the engine and real files without a version.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ...core import names, text
from ...core.binary import DAMAGED, Bytes, Reader, Writer, warn_not_finite
from ...core.report import Report, counted, say
from ...core.walk import Entries, View, Views
from .chunks import (
    CHUNK_VIEWS,
    Chunk,
    ChunkRun,
    headings,
    listed,
    open_chunk,
    read_chunks,
    stored_size,
    with_bodies,
    with_body,
    write_chunks,
)


@dataclass(frozen=True, slots=True)
class Layout:
    """Fields of an entry: numbers ``before``, the names ``words`` of its texts, numbers ``after`` them.

    ``nested``: the entry's data is in a chunk 0 inside its chunk. ``rest``: other bytes may follow, which are kept
    (they depend on the kind of object). ``what`` is the noun for reports.
    """

    what: str
    before: np.dtype[np.void]
    words: tuple[str, ...]
    after: np.dtype[np.void]
    nested: bool = False
    rest: bool = False


NOTHING = np.dtype([])


@dataclass(slots=True, eq=False)
class Placed:
    """Entries of a file: ``before``, ``after`` (entries,) and ``words`` as in the layout; ``rests``: other bytes.

    ``version`` is that of chunk 0, None if chunk 0 is an entry. ``run`` are the file's chunks; ``inner`` those of each
    entry.
    """

    layout: Layout
    version: int | None
    before: NDArray[np.void]
    words: list[tuple[bytes, ...]]
    after: NDArray[np.void]
    rests: list[Bytes]
    run: ChunkRun
    inner: list[ChunkRun]
    file: str = field(default="", compare=False)

    def __len__(self) -> int:
        return len(self.words)

    @property
    def entries(self) -> list[Chunk]:
        """The chunk of each entry."""
        return self.run.chunks if self.version is None else self.run.chunks[1:]


def read(data: bytes, file: str, report: Report, layouts: dict[int | None, Layout]) -> Placed:
    """Read the file; ``layouts`` by version, None for files without one.

    Raises `ReadError` for unknown versions and damaged entries.
    """
    reader = Reader.of_file(data, file)
    run = read_chunks(reader, report)
    if not run.chunks:
        raise reader.error("there is no chunk", DAMAGED)
    version = None
    first = run.chunks[0]
    if len(first.body) == 4 and first.plain_id == 0 and len(layouts) > 1:
        version = open_chunk(first, reader).u32("the version")
        if version not in layouts:
            known = ", ".join(str(number) for number in layouts if number is not None)
            words = "version {} is not known (known: {})"
            raise reader.error(say(words, version, known), "Check where the file came from")
    layout = layouts[version]
    document = Placed(layout, version, np.zeros(0, layout.before), [], np.zeros(0, layout.after), [], run, [], file)
    before, after = bytearray(), bytearray()
    for chunk in document.entries:
        inside = open_chunk(chunk, reader)
        if layout.nested:
            inner = read_chunks(inside, report)
            body = inner.first(0)
            if body is None:
                words = "{} without a body (chunk 0x0; there are {})"
                raise inside.error(say(words, layout.what, listed(inner.chunks)), DAMAGED)
            document.inner.append(inner)
            inside = open_chunk(body, inside)
        before += inside.take(layout.before.itemsize, layout.what)
        document.words.append(tuple(inside.string(say("{}: {}", layout.what, word)) for word in layout.words))
        after += inside.take(layout.after.itemsize, layout.what)
        document.rests.append(inside.rest())
        if len(document.rests[-1]) and not layout.rest:
            words = "{:# extra byte|# extra bytes} after {}; kept"
            report.warn(say(words, len(document.rests[-1]), layout.what), inside.chunk)
    document.before = _rows(before, layout.before, len(document))
    document.after = _rows(after, layout.after, len(document))
    warn_not_finite(report, layout.what, document.after)
    return document


def _rows(data: bytearray, layout: np.dtype[np.void], count: int) -> NDArray[np.void]:
    if not layout.itemsize:
        return np.zeros(count, layout)
    return np.frombuffer(bytes(data), layout)


def write(document: Placed) -> bytes:
    """Return the bytes of the file."""
    chunks = document.run.chunks[: len(document.run.chunks) - len(document.entries)]
    for number, chunk in enumerate(document.entries):
        writer = Writer()
        writer.raw(document.before[number].tobytes())
        for word in document.words[number]:
            writer.string(word)
        writer.raw(document.after[number].tobytes())
        writer.raw(document.rests[number])
        body = writer.getvalue()
        if document.layout.nested:
            body = write_chunks(with_bodies(document.inner[number], {0: body}))
        chunks.append(with_body(chunk, body))
    return write_chunks(ChunkRun(chunks, document.run.tail))


def raw_size(document: Placed) -> int:
    """Return the number of bytes that are kept without knowing their meaning."""
    inner = sum(len(run.tail) + sum(map(stored_size, run.others((0,)))) for run in document.inner)
    return inner + sum(map(len, document.rests)) + len(document.run.tail)


def describe(document: Placed) -> list[str]:
    """Return a summary: counts, bounds, names."""
    version = "" if document.version is None else f"version {document.version}, "
    lines = [f"{version}{counted(len(document), document.layout.what)}"]
    points = positions(document)
    if points is not None and len(points):
        lines.append(f"bounds (file axes): {text.extent(points)}")
    counts: dict[bytes, int] = {}
    for words in document.words:
        if words:
            counts[words[0]] = counts.get(words[0], 0) + 1
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    lines += [f"{count}: {names.decode(word)}" for word, count in ordered[: text.FEW]]
    return [*lines, "..."] if len(ordered) > text.FEW else lines


def positions(document: Placed) -> NDArray[np.float32] | None:
    """Return (entries, 3) metres in the file's axes; None if the layout has no positions."""
    fields = document.after.dtype.names or ()
    if "transform" in fields:
        return np.asarray(document.after["transform"][:, 3, :3])
    return np.asarray(document.after["position"]) if "position" in fields else None


def _entries(document: Placed) -> Entries:
    yield "version", document.version
    columns = [(name, rows[name]) for rows in (document.before, document.after) for name in rows.dtype.names or ()]
    yield (
        document.layout.what,
        [
            {
                **dict(zip(document.layout.words, words, strict=True)),
                **{name: values[number] for name, values in columns},
                "rest": memoryview(document.rests[number]),
            }
            for number, words in enumerate(document.words)
        ],
    )
    yield "", ChunkRun([replace(chunk, body=b"") for chunk in document.run.chunks], document.run.tail)
    yield "inside", [headings(run, (0,)) for run in document.inner]


VIEWS: Views = {**CHUNK_VIEWS, Placed: View(entries=_entries)}
