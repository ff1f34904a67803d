"""The table of an archive, and the files of an archive: found by name, read and unpacked one at a time."""

from __future__ import annotations

import os
import re
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.binary import DAMAGED, Reader
from ...core.compression import lzhuf, lzo, lzss
from ...core.errors import ReadError
from ...core.files import opened_for_reading, why_unsafe
from ...core.report import Report, counted, say
from ...core.walk import Entries, View, Views, fields

LARGEST = 512 << 20
"""Bytes that one file of an archive may unpack to."""
NUMBERS = np.dtype([("offset", "<u8"), ("stored", "<u8"), ("size", "<i8"), ("checksum", "<i8"), ("method", "u1")])
"""Of each file: where its bytes begin in the archive, how many they are, its size (-1: the bytes say it), CRC-32 of its
unpacked bytes (-1: unknown), and a `Method`."""
_LONGEST_PATH, _LONGEST_NAME = 260, 255
"""Characters of a path, and bytes of a name in UTF-8, that systems store."""
_LAST = "\U0010ffff"
_MAYBE_UNCLEAN = re.compile(
    r"[\x00-\x09\x0b-\x1f/:*?\"<>|]"  # characters of no name
    r"|[. ](?:[\\\n]|\Z)|\\(?:[\\\n]|\Z)|(?:\A|\n)(?:[\\\n]|\Z)"  # ends of parts, and empty parts
    r"|(?:\A|[\\\n])(?:con|prn|aux|nul|clock\$|com[^\\\n]|lpt[^\\\n])"  # begins of devices
    rf"|[^\n]{{{_LONGEST_PATH + 1}}}"
    rf"|[^\\\n]{{{_LONGEST_NAME // 4 + 1}}}",  # perhaps of four bytes each
    re.IGNORECASE,
)
"""Finds something in names, one a line, of which one is perhaps not clean."""


class Method(IntEnum):
    """How a file is stored in an archive."""

    STORED = 0
    LZO = 1
    LZHUF = 2
    """With its size, a u32, before it."""
    LZSS = 3
    """With the sum of its bytes, a u32, after it."""


_RATIOS = {Method.LZO: lzo.HIGHEST_RATIO, Method.LZSS: lzss.HIGHEST_RATIO}


class Entry(NamedTuple):
    """A file of an archive, in the numbers of `NUMBERS`. ``name``: as stored, with backslashes."""

    name: str
    offset: int
    stored: int
    size: int
    checksum: int
    method: Method


def key_of(name: str) -> str:
    """Return what names of one file have in common: small letters and backslashes."""
    return name.lower().replace("/", "\\")


def keys_of(names: list[str]) -> list[str]:
    """Return the keys of clean names; the same list if they are their own keys."""
    text = "\n".join(names)
    key = key_of(text)
    return names if key == text else key.split("\n")


def is_clean(name: str) -> bool:
    """Return whether a name in an archive is a path of names of files, below the archive and on every system."""
    parts = name.split("\\")
    too_long = any(len(part.encode("utf-8", "surrogatepass")) > _LONGEST_NAME for part in parts)
    return 0 < len(name) <= _LONGEST_PATH and not too_long and not any(map(why_unsafe, parts))


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """What an archive says of its files. ``kind``: its version, as users read it; ``names`` (files,) with backslashes;
    ``numbers`` (files,) of `NUMBERS`. Of an `Archive` both are in the order of the names' keys (`sorted_by_name`).

    ``mount``: the path at which the game sees the files, with a backslash at the end, "" for none. ``properties``:
    texts of the header. ``end``: offset after the last file that the table counts; with ``has_sha1`` the archive's
    checksum may follow there. ``left_out``: files whose names no file can have. ``first_counts``: of several files of
    one name the game takes the first, not the last.
    """

    kind: str
    names: list[str]
    numbers: NDArray[np.void]
    mount: str = ""
    properties: dict[str, str] = field(default_factory=dict)
    end: int = 0
    left_out: int = 0
    first_counts: bool = False
    has_sha1: bool = False


@dataclass(frozen=True, eq=False)
class Archive:
    """An archive on disk. ``status``: size and time (ns) of the file when its table was read."""

    path: Path
    table: Table
    status: tuple[int, int]

    def __len__(self) -> int:
        return len(self.table.names)

    def entry(self, index: int) -> Entry:
        """Return a file's row of the table."""
        offset, stored, size, checksum, method = self.table.numbers[index].item()
        return Entry(self.table.names[index], offset, stored, size, checksum, Method(method))

    @cached_property
    def keys(self) -> list[str]:
        """Names in small letters, in ascending order."""
        return keys_of(self.table.names)

    def find(self, name: str) -> int | None:
        """Return the index of a file by its name, in any case and with both slashes; of several the one that counts."""
        key, keys = key_of(name), self.keys
        index = bisect_left(keys, key) if self.table.first_counts else bisect_right(keys, key) - 1
        return index if 0 <= index < len(keys) and keys[index] == key else None

    def below(self, folder: str = "") -> Iterator[int]:
        """Yield the indices of the files that count whose keys begin with ``folder``, in the order of the keys."""
        keys = self.keys
        step = -1 if self.table.first_counts else 1
        for index in range(bisect_left(keys, folder), bisect_left(keys, folder + _LAST)):
            other = index + step
            if not (0 <= other < len(keys) and keys[other] == keys[index]):
                yield index

    def stored_bytes(self, index: int) -> bytes:
        """Return a file's bytes as they are in the archive.

        Raises `ReadError` if the archive has changed since its table was read, or ends before them.
        """
        entry = self.entry(index)
        with opened_for_reading(self.path) as file:
            status = os.fstat(file.fileno())
            if (status.st_size, status.st_mtime_ns) != self.status:
                raise ReadError("the archive has changed", file=str(self.path), remedy="Open it again")
            if entry.offset + entry.stored > status.st_size:
                raise self._damaged(entry, say("its {:# byte lies|# bytes lie} past the end", entry.stored))
            file.seek(entry.offset)
            return file.read(entry.stored)

    def read(self, index: int) -> bytes:
        """Return a file, unpacked. Safe from several threads.

        Raises `ReadError` as `stored_bytes` does, and if its bytes do not unpack to its size.
        """
        entry = self.entry(index)
        if entry.size > min(LARGEST, entry.stored * _RATIOS.get(entry.method, LARGEST)):
            words = "{:# byte cannot unpack|# bytes cannot unpack} to {}"
            raise self._damaged(entry, say(words, entry.stored, entry.size))
        data = self.stored_bytes(index)
        if entry.method is Method.STORED:
            return data
        reader = Reader(data, file=f"{self.path}{os.sep}{entry.name}")
        if entry.method is Method.LZHUF:
            return lzhuf.unpack(reader) if any(data[:4]) else b""
        unpack = lzo.unpack if entry.method is Method.LZO else lzss.unpack
        plain, _ = unpack(reader, entry.size, "the file")
        if reader.remaining:
            words = "{:# extra byte|# extra bytes} after its compressed bytes"
            raise self._damaged(entry, say(words, reader.remaining))
        return plain

    def verify(self, index: int) -> bytes:
        """Return a file as `read` does; raise `ReadError` also if its checksum is another than the table's."""
        entry, data = self.entry(index), self.read(index)
        if problem := checksum_problem(entry, data):
            raise self._damaged(entry, problem)
        return data

    def _damaged(self, entry: Entry, problem: str) -> ReadError:
        return ReadError(problem, file=f"{self.path}{os.sep}{entry.name}", remedy=DAMAGED)


def checksum_problem(entry: Entry, data: bytes) -> str:
    """Return what is wrong with the checksum of a file, "" if it is that of the table or the table has none."""
    if entry.checksum < 0 or zlib.crc32(data) == entry.checksum:
        return ""
    return say("its checksum is {:08X}, {:08X} in the table", zlib.crc32(data), entry.checksum)


def without_unclean(table: Table, report: Report) -> Table:
    """Return the table without files whose names are no clean paths, which no game finds and no folder can hold."""
    text = "\n".join(table.names)
    if text.count("\n") == max(len(table.names) - 1, 0) and _MAYBE_UNCLEAN.search(text) is None:
        return table
    kept = [index for index, name in enumerate(table.names) if is_clean(name)]
    left_out = len(table.names) - len(kept)
    if not left_out:
        return table
    first = next(name for name in table.names if not is_clean(name))
    report.warn(say("{:# file has a name|# files have names} that no file can have: left out", left_out), ascii(first))
    return replace(table, names=[table.names[index] for index in kept], numbers=table.numbers[kept], left_out=left_out)


def sorted_by_name(table: Table) -> Table:
    """Return the table, whose names are clean, in the order of their keys; files of one name keep their order."""
    keys = keys_of(table.names)
    order = sorted(range(len(keys)), key=keys.__getitem__)
    return replace(table, names=[table.names[index] for index in order], numbers=table.numbers[order])


# In words ------------------------------------------------------------------------------------------------------------


def describe(table: Table) -> list[str]:
    """Return kind, number of files and where the game sees them, the properties, and each file with its size."""
    numbers = table.numbers
    sizes = np.where(numbers["size"] < 0, numbers["stored"].astype(np.int64), numbers["size"])
    total, packed = int(sizes.sum()), int(np.count_nonzero(numbers["method"]))
    lines = [f"{table.kind}: {counted(len(table.names), 'file')}, {packed} compressed, {counted(total, 'byte')}"]
    lines += [f"seen by the game below {table.mount}"] if table.mount else []
    lines += [f"{name}: {text}"[:200] for name, text in table.properties.items()]
    return lines + [f"{name}: {counted(int(size), 'byte')}" for name, size in zip(table.names, sizes, strict=True)]


class _File(NamedTuple):
    """A file of an archive: its name, and its row (1,) of the numbers."""

    name: str
    numbers: NDArray[np.void]


def _entries(table: Table) -> Entries:
    yield from fields(table, "names", "numbers", "has_sha1")
    yield "files", [_File(name, table.numbers[[index]]) for index, name in enumerate(table.names)]


VIEWS: Views = {
    Table: View(entries=_entries),
    _File: View(lambda file: f"file {file.name!a}", (lambda file: key_of(file.name),), {"name": None, "numbers": ""}),
}
