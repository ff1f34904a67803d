"""`.pbo`: archives of Operation Flashpoint, Arma and DayZ. A table, then the data of all files in its order.

The table gives lengths but no offsets. It may begin with properties, of which ``prefix`` is the path at which the game
sees the files. After the data follow a 0 and the SHA-1 of everything before it, in most archives. Sources: the
community's description, a free engine of the first game, and 769 archives of public repositories.
"""

from __future__ import annotations

import hashlib
import re
import struct
from pathlib import PurePath
from typing import BinaryIO

import numpy as np

from ...core.binary import DAMAGED
from ...core.errors import ReadError
from ...core.report import Report, say
from .table import NUMBERS, Method, Table

_NUMBERS = struct.Struct("<5I")
_STORED, _COMPRESSED, _PROPERTIES, _ENCRYPTED = 0, 0x43707273, 0x56657273, 0x456E6372
_METHODS = {_STORED, _COMPRESSED, _PROPERTIES, _ENCRYPTED}
_SUFFIXES = {".pbo", ".ifa"}
_ENCRYPTED_SUFFIXES = {".ebo", ".xbo"}
_LONGEST_NAME = 1 << 16
_BLOCK = 1 << 18
_TRAILER = 21


def starts_like(head: bytes, size: int, path: str) -> bool:
    """Return whether a file has a suffix of these archives, or begins with the entry of their properties."""
    suffix = PurePath(path).suffix.lower()
    is_named = suffix in _SUFFIXES or suffix in _ENCRYPTED_SUFFIXES
    return (is_named and size > _NUMBERS.size) or head[:5] == b"\0" + struct.pack("<I", _PROPERTIES)


class _Header:
    """The start of an archive, read as far as it is asked for."""

    def __init__(self, file: BinaryIO, path: str) -> None:
        self._file, self._path = file, path
        self._data = b""
        self.position = 0
        file.seek(0)

    def _extend(self) -> None:
        block = self._file.read(max(_BLOCK, len(self._data)))
        if not block:
            raise ReadError("the archive ends inside its table", file=self._path, remedy=DAMAGED)
        self._data += block

    def text(self) -> bytes:
        """Return the bytes up to the next NUL. Raises `ReadError` if there is none nearby."""
        while (end := self._data.find(b"\0", self.position)) < 0:
            if len(self._data) - self.position > _LONGEST_NAME:
                raise ReadError("this is not an archive of Arma (.pbo)", file=self._path, offset=self.position)
            self._extend()
        result = self._data[self.position : end]
        self.position = end + 1
        return result

    def numbers(self) -> tuple[int, ...]:
        """Return the next five u32."""
        while len(self._data) - self.position < _NUMBERS.size:
            self._extend()
        result = _NUMBERS.unpack_from(self._data, self.position)
        self.position += _NUMBERS.size
        return result


def read_table(file: BinaryIO, size: int, path: str, _report: Report) -> Table:
    """Read the table of an archive of ``size`` bytes.

    Raises `ReadError` for encrypted archives, and where a file lies past the end: then all offsets are wrong.
    """
    if PurePath(path).suffix.lower() in _ENCRYPTED_SUFFIXES:
        raise _encrypted(path)
    header = _Header(file, path)
    properties: dict[str, str] = {}
    rows: list[tuple[bytes, int, int, int]] = []
    while True:
        name = header.text()
        method, original, _, _, stored = header.numbers()
        if method == _ENCRYPTED:
            raise _encrypted(path)
        if name:
            rows.append((name, method, original, stored))
        elif method == _PROPERTIES and not rows and not properties:
            properties = _properties(header, path)
        else:
            break
    offsets = header.position + np.cumsum([0, *(row[3] for row in rows)], dtype=np.uint64)
    if int(offsets[-1]) > size:
        words = "the files of the table need {:# byte|# bytes}, {} are left"
        problem = say(words, int(offsets[-1]) - header.position, size - header.position)
        raise ReadError(problem, file=path, remedy=DAMAGED)
    names = [_decoded(row[0]).replace("/", "\\") for row in rows]
    numbers = np.zeros(len(rows), NUMBERS)
    numbers["offset"], numbers["checksum"] = offsets[:-1], -1
    numbers["stored"] = [stored for *_, stored in rows]
    is_packed = np.array([method == _COMPRESSED for _, method, *_ in rows], np.bool_)
    numbers["method"] = np.where(is_packed, Method.LZSS, Method.STORED)
    # Of files that are not compressed, the original size is 0, the size, or nonsense.
    originals = np.array([original for _, _, original, _ in rows], np.int64)
    numbers["size"] = np.where(is_packed, originals, numbers["stored"])
    mount = _mount(properties, path)
    return Table("Arma archive", names, numbers, mount, properties, int(offsets[-1]), has_sha1=True)


def _properties(header: _Header, path: str) -> dict[str, str]:
    """Return the properties by their small names. Raises `ReadError` if they say that the archive is encrypted."""
    result: dict[str, str] = {}
    while key := header.text():
        result.setdefault(_decoded(key).lower(), _decoded(header.text()))
    if result.get("encryption"):
        raise _encrypted(path)
    return result


def _encrypted(path: str) -> ReadError:
    return ReadError(
        "the archive is encrypted", file=path, remedy="Its author or vendor has locked it: use what they offer unlocked"
    )


def _decoded(text: bytes) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text.decode("cp1252", "replace")


def _mount(properties: dict[str, str], path: str) -> str:
    """Return where the game sees the files: at the prefix; without one at the archive's name."""
    given = properties.get("prefix", "").replace("/", "\\")
    prefix = re.sub(r"^\\+|\\+$", "", given.strip()).strip() or PurePath(path).stem
    return f"{prefix}\\"


def checksum_problem(file: BinaryIO, table: Table, size: int) -> str:
    """Return what is wrong with the SHA-1 after the files, "" if it is right or there is none."""
    file.seek(table.end)
    trailer = file.read(_TRAILER + 1)
    if len(trailer) != _TRAILER or trailer[0]:
        rest = size - table.end
        return say("{:# extra byte|# extra bytes} after the files", rest) if rest else ""
    file.seek(0)
    digest = hashlib.sha1(usedforsecurity=False)
    left = table.end
    while left and (block := file.read(min(left, 1 << 20))):
        digest.update(block)
        left -= len(block)
    return "" if digest.digest() == trailer[1:] else "the SHA-1 after the files is not that of the archive"
