"""The table of a `.hog` or `.mn3` of Descent 3, read without the files. Format: `formats.descent3.hog2`."""

from __future__ import annotations

import struct
from typing import BinaryIO

import numpy as np

from ...core.binary import DAMAGED
from ...core.errors import ReadError
from ...core.report import Report, say
from ..descent3 import hog2, strings
from .table import NUMBERS, Table


def starts_like(head: bytes, _size: int, _path: str) -> bool:
    """Return whether a file begins with the mark of an archive."""
    return hog2.starts_like(head)


def read_table(file: BinaryIO, size: int, path: str, report: Report) -> Table:
    """Read the table. Raises `ReadError` if the archive ends before the files that it lists."""
    file.seek(0)
    _, count, start = struct.unpack("<4sII", file.read(12).ljust(12, b"\0"))
    file.seek(hog2.HEADER_SIZE)
    if hog2.HEADER_SIZE + count * hog2.ENTRY.itemsize > size:
        words = "the table of {:# file|# files} does not fit into the archive"
        raise ReadError(say(words, count), file=path, remedy=DAMAGED)
    rows = np.frombuffer(file.read(count * hog2.ENTRY.itemsize), hog2.ENTRY)
    numbers = np.zeros(count, NUMBERS)
    numbers["stored"] = numbers["size"] = rows["length"]
    numbers["checksum"] = -1
    ends = start + np.cumsum(rows["length"], dtype=np.uint64)
    numbers["offset"] = ends - rows["length"]
    end = int(ends[-1]) if count else start
    if end > size:
        words = "the files of the table need {:# byte|# bytes}, {} are left"
        raise ReadError(say(words, end - start, size - start), file=path, remedy=DAMAGED)
    # There are no folders in it: with a slash, a name counts as none (`table.is_clean`).
    names = [strings.decode(row.tobytes()).replace("\\", "/") for row in rows["name"]]
    hog2.report_names(names, report)
    return Table("Descent 3 archive", names, numbers, end=end, first_counts=True)
