"""`.hog` and `.mn3`: the archives of Descent 3, a table of names followed by the concatenated files.

Known from the engine's ``hogfile.cpp`` and ``cfile.cpp`` and from real archives. The table stores lengths but no
offsets: each file begins where the one before it ends. The engine uses binary search, so the table must be sorted
without regard to case. The bytes after the NUL of a name are arbitrary.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.binary import DAMAGED, Bytes, Reader, Writer
from ...core.errors import ReadError, WriteError
from ...core.files import why_unsafe
from ...core.report import Report, counted, say
from ...core.walk import Entries, View, Views, fields
from . import strings

MAGIC = b"HOG2"
ENTRY = np.dtype([("name", "u1", 36), ("flags", "<u4"), ("length", "<u4"), ("time", "<u4")])
LONGEST_NAME = 35
_RESERVED = 56
HEADER_SIZE = 4 + 4 + 4 + _RESERVED


@dataclass(slots=True, eq=False)
class Hog2:
    """An archive. ``table`` (files,) of `ENTRY`; ``contents`` of each file; ``start``: declared offset of the first.

    ``reserved`` (56 bytes of 0xFF), ``gap`` between table and contents and ``tail`` after the contents are kept.
    """

    start: int
    reserved: Bytes
    table: NDArray[np.void]
    contents: list[Bytes]
    gap: Bytes = b""
    tail: Bytes = b""
    file: str = field(default="", compare=False)

    @property
    def names(self) -> list[str]:
        """Names of the files, as stored."""
        return [strings.decode(entry.tobytes()) for entry in self.table["name"]]

    def find(self, name: str) -> int | None:
        """Return the index of the file with this name (case-insensitive), or None."""
        wanted = name.lower()
        return next((number for number, name in enumerate(self.names) if name.lower() == wanted), None)

    def content(self, name: str) -> bytes:
        """Return the bytes of the file with this name (case-insensitive). Raises `ReadError` if there is none."""
        number = self.find(name)
        if number is None:
            words = "there is no file named '{}' in it"
            raise ReadError(say(words, name), file=self.file, remedy="List it to see the names")
        return bytes(self.contents[number])


def starts_like(head: bytes) -> bool:
    """Return whether a file begins with the mark of an archive."""
    return head[:4] == MAGIC


def read(data: bytes, file: str, report: Report) -> Hog2:
    """Parse an archive. Raises `ReadError` if the file is not an archive or is truncated."""
    reader = Reader.of_file(data, file)
    reader.refuse_git_pointer()
    if bytes(reader.take(min(4, reader.remaining))) != MAGIC:
        reader.position = 0
        raise reader.error(
            "an archive begins with HOG2, this file does not", "Only archives of Descent 3 are read here"
        )
    count, start = reader.u32("the number of files"), reader.u32("where the files begin")
    reserved = reader.take(_RESERVED, "the header")
    table = reader.array(ENTRY, count, what=say("the table of {:# file|# files}", count))
    if start < reader.position:
        raise reader.error(say("the header says that the files begin at {}, inside the table", start))
    gap = reader.take(start - reader.position, "what lies between table and files")
    needed = int(table["length"].sum(dtype=np.int64))
    if needed > reader.remaining:
        problem = say("the files of the table need {:# byte|# bytes}, {} are left", needed, reader.remaining)
        raise reader.error(problem, DAMAGED)
    contents: list[Bytes] = [reader.take(int(length), "a file") for length in table["length"]]
    document = Hog2(start, reserved, table, contents, gap, reader.rest(), file)
    _report_oddities(document, report)
    return document


def _report_oddities(document: Hog2, report: Report) -> None:
    if len(document.tail):
        report.warn(say("{:# extra byte|# extra bytes} after the files; kept", len(document.tail)))
    if len(document.gap):
        report.note(say("{:# byte lies|# bytes lie} between table and files; kept", len(document.gap)))
    report_names(document.names, report)


def report_names(names: Sequence[str], report: Report) -> None:
    """Report names of a table that the game does not find."""
    lowered = [name.lower() for name in names]
    if lowered != sorted(lowered):
        report.warn("the table is not sorted: the game does not find every file")
    if len(set(lowered)) != len(lowered):
        report.warn("several files have one name; the first is found here")


def write(document: Hog2) -> bytes:
    """Return the file's bytes, composed from the typed values. Raises `WriteError` as `runs` does."""
    return b"".join(runs(document))


def runs(document: Hog2) -> Iterator[Bytes]:
    """Yield the file's bytes in runs that follow each other: archives may be larger than half of the memory.

    Raises `WriteError` if the files are not where the header and the table say, or not as long.
    """
    start, lengths = HEADER_SIZE + document.table.nbytes + len(document.gap), list(map(len, document.contents))
    if document.start != start or document.table["length"].tolist() != lengths:
        raise WriteError("the files are not where the table says, or not as long", remedy="Create the archive again")
    writer = Writer()
    writer.raw(MAGIC)
    writer.u32(len(document.table))
    writer.u32(document.start)
    writer.raw(document.reserved)
    writer.raw(document.table.tobytes())
    writer.raw(document.gap)
    yield writer.getvalue()
    yield from document.contents
    yield document.tail


recompose = write


def raw_size(document: Hog2) -> int:
    """Return how many bytes are stored without being interpreted, the archived files excepted."""
    return len(document.gap) + len(document.tail)


def new_hog2(files: Mapping[str, bytes], times: Mapping[str, int] | None = None) -> Hog2:
    """Return an archive of ``files`` by name with their unix times. Raises `WriteError` for unsuitable names."""
    ordered = sorted(files, key=_sort_key)
    table = np.zeros(len(ordered), ENTRY)
    for number, name in enumerate(ordered):
        stored = strings.encode(name)
        if why := why_unsafe(name):
            raise WriteError(say("the name {!r} {}", name, why), remedy="Rename the file")
        if len(stored) > LONGEST_NAME + 1:
            words = "the name {!r} has {:# character|# characters}, {} fit"
            raise WriteError(say(words, name, len(stored) - 1, LONGEST_NAME), remedy="Shorten it")
        table["name"][number, : len(stored)] = np.frombuffer(stored, np.uint8)
        table["length"][number] = len(files[name])
        table["time"][number] = (times or {}).get(name, 0)
    for first, other in pairwise(ordered):
        if _sort_key(first) == _sort_key(other):
            problem = say("two files have one name, for upper and lower case are the same: {}, {}", first, other)
            raise WriteError(problem, remedy="Rename one")
    start = HEADER_SIZE + table.nbytes
    return Hog2(start, b"\xff" * _RESERVED, table, [files[name] for name in ordered])


def with_files(document: Hog2, files: Mapping[str, bytes], times: Mapping[str, int] | None = None) -> Hog2:
    """Return the archive with ``files`` by name: those of its names (case-insensitive) are replaced, others added.

    The other files, and those whose bytes are the same, keep their entries. The table is sorted, if it was not. Raises
    `WriteError` for unsuitable names.
    """
    added = new_hog2(files, times)
    where = {_sort_key(name): number for number, name in reversed(list(enumerate(document.names)))}
    table, contents, new = document.table.copy(), list(document.contents), []
    for number, name in enumerate(added.names):
        old = where.get(_sort_key(name))
        if old is None:
            new.append(number)
        elif bytes(contents[old]) != added.contents[number]:
            contents[old] = added.contents[number]
            table["length"][old], table["time"][old] = added.table["length"][number], added.table["time"][number]
    rows = np.concatenate([table, added.table[new]])
    contents += [added.contents[number] for number in new]
    keys = [_sort_key(strings.decode(entry.tobytes())) for entry in rows["name"]]
    order = sorted(range(len(rows)), key=lambda number: keys[number])
    start = document.start + rows.nbytes - document.table.nbytes
    ordered = [contents[number] for number in order]
    return replace(document, start=start, table=rows[order], contents=ordered)


def _sort_key(name: str) -> bytes:
    """Return the sort key that the engine's search expects: ASCII letters in lower case, other characters as bytes."""
    return strings.encode(name)[:-1].lower()


# In words ------------------------------------------------------------------------------------------------------------


def describe(document: Hog2) -> list[str]:
    """Return the number of files, and each file with its size."""
    total = sum(map(len, document.contents))
    listed = [
        f"{ascii(name)[1:-1]}: {counted(len(content), 'byte')}"
        for name, content in zip(document.names, document.contents, strict=True)
    ]
    return [f"{counted(len(listed), 'file')}, {counted(total, 'byte')}", *listed]


class _File(NamedTuple):
    """A file of an archive: its name, its row of the table (1,), its bytes."""

    name: str
    entry: NDArray[np.void]
    content: memoryview


def _entries(document: Hog2) -> Entries:
    yield from fields(document, "table", "contents")
    rows = (document.table[[number]] for number in range(len(document.table)))
    yield "files", list(map(_File, document.names, rows, [memoryview(content) for content in document.contents]))


VIEWS: Views = {
    Hog2: View(entries=_entries),
    _File: View(
        lambda file: f"file {file.name!a}",
        (lambda file: file.name.lower(),),
        {"name": None, "entry": "", "content": "bytes"},
    ),
}
