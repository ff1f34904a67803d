"""Archives of X-Ray: `.db* .xdb*` of the games, `.xp* .xrp` of their early versions.

One chunk has the data of all files, each behind the other, another the table, with offsets from the start of the
archive. The table is compressed (LZHUF), and in Shadow of Chernobyl scrambled above that, with one of two keys. Its
layout changed with the games (`_LAYOUTS`), and only its content says which one it is. Sources: the engines'
``LocatorAPI`` and ``arc_db.cpp``, and a converter that agrees; of real archives only those of the last layout were at
hand.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import PurePath
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.binary import DAMAGED, Reader
from ...core.compression import lzhuf
from ...core.errors import ReadError
from ...core.report import Report, say
from .table import NUMBERS, Method, Table

_DATA, _TABLE, _HEADER = 0, 1, 666
_PACKED = 1 << 31
_FIRST = {_DATA, _TABLE, _TABLE | _PACKED, _HEADER, _HEADER | _PACKED}
_SUFFIX = re.compile(r"\.(x?db|xp|xrp).?")
_MOST_CHUNKS = 16
_LARGEST_HEADER = 1 << 20
_TRIED = 600
"""Bytes of the table that show whether a key is the right one."""
_ENCODING = "cp1251"
_MOUNT = "gamedata\\"


def starts_like(head: bytes, size: int, path: str) -> bool:
    """Return whether a file of this size begins with a chunk of an X-Ray archive that lies within it.

    Other files of X-Ray begin with such chunks too: without a suffix of archives, it must be that of the data or of the
    header.
    """
    if len(head) < 8:
        return False
    number, length = struct.unpack_from("<II", head)
    first = _FIRST if _SUFFIX.fullmatch(PurePath(path).suffix.lower()) else {_DATA, _HEADER}
    return number in first and 8 + length <= size


_FOREIGN = {
    b"hsqs": "It is a SquashFS archive of OGSR, which is not read here: unpack it with a tool for SquashFS",
    b"SQLite format 3": "It is a database of another program, not an archive",
    b"\xd0\xcf\x11\xe0": "It is a database of Windows, not an archive",
}


def foreign(head: bytes) -> str:
    """Return what another program made a file for that begins with ``head``, "" if unknown."""
    return next((words for sign, words in _FOREIGN.items() if head.startswith(sign)), "")


def read_table(file: BinaryIO, size: int, path: str, report: Report) -> Table:
    """Read the table of an archive of ``size`` bytes.

    Raises `ReadError` if there is none, or if it is encrypted with an unknown key.
    """
    chunks = {number & ~_PACKED: (number, offset, length) for number, offset, length in _chunks(file, size)}
    if _TABLE not in chunks:
        raise ReadError("the archive has no table of files", file=path, remedy=DAMAGED)
    number, offset, length = chunks[_TABLE]
    file.seek(offset)
    stored = file.read(length)
    plain, key = (stored, "") if number == _TABLE else _unpacked(stored, path, offset)
    layout, rows = _laid_out(plain, size, path)
    properties = _properties(file, chunks.get(_HEADER))
    names, numbers = _files(rows)
    past = numbers["offset"] + numbers["stored"] > size
    if past.any():
        report.warn(say("{:# file lies|# files lie} past the end of the archive", int(past.sum())))
    kind = f"{layout.name}{key and f', table scrambled ({key})'}"
    return Table(kind, names, numbers, _mount(properties), properties, size)


def _chunks(file: BinaryIO, size: int) -> Iterator[tuple[int, int, int]]:
    """Yield id, offset and length of the bodies, up to the first that does not fit."""
    at = 0
    for _ in range(_MOST_CHUNKS):
        file.seek(at)
        head = file.read(8)
        if len(head) < 8:
            return
        number, length = struct.unpack("<II", head)
        if number not in _FIRST or at + 8 + length > size:
            return
        yield number, at + 8, length
        at += 8 + length


# Keys ----------------------------------------------------------------------------------------------------------------


class _Key(NamedTuple):
    """The three numbers that scramble a table: swaps and seed of the alphabet, seed of the stream."""

    swaps: int
    table_seed: int
    stream_seed: int


_KEYS = {"WW": _Key(1024, 6011979, 24031979), "RU": _Key(2048, 20091958, 20031955)}
"""Edition of the game -> its key: worldwide, Russian."""
_FACTOR = 0x08088405


@cache
def _alphabet(key: _Key) -> bytes:
    """Return for each scrambled byte (256,) the plain one."""
    letters = list(range(256))
    value = key.table_seed

    def following() -> int:
        nonlocal value
        value = (value * _FACTOR + 1) & 0xFFFFFFFF
        return value >> 24

    for _ in range(key.swaps):
        first = following()
        second = following()
        while second == first:
            second = following()
        letters[first], letters[second] = letters[second], letters[first]
    plain = bytearray(256)
    for byte, scrambled in enumerate(letters):
        plain[scrambled] = byte
    return bytes(plain)


def _stream(key: _Key, size: int) -> NDArray[np.uint8]:
    """Return the bytes (size,) that the table was combined with: high bytes of a sequence x -> x * factor + 1."""
    values = np.array([(key.stream_seed * _FACTOR + 1) & 0xFFFFFFFF], np.uint32)
    factor, summand = _FACTOR, 1
    while len(values) < size:  # values so many steps further: the sequence doubles
        values = np.concatenate([values, values * np.uint32(factor) + np.uint32(summand)])
        factor, summand = factor * factor & 0xFFFFFFFF, (factor * summand + summand) & 0xFFFFFFFF
    return (values[:size] >> 24).astype(np.uint8)


def unscrambled(stored: bytes, key: _Key) -> bytes:
    """Return a table without its scrambling."""
    combined = np.frombuffer(stored, np.uint8) ^ _stream(key, len(stored))
    return combined.tobytes().translate(_alphabet(key))


def _unpacked(stored: bytes, path: str, offset: int) -> tuple[bytes, str]:
    """Return the unpacked table and the edition whose key it needed, "" for none. Raises `ReadError`."""
    for edition in ("", *_KEYS):
        packed = unscrambled(stored, _KEYS[edition]) if edition else stored
        with suppress(ReadError):
            begin = lzhuf.unpack_start(Reader(packed), _TRIED)
            if any(_begins_well(layout, begin) for layout in _LAYOUTS):
                return lzhuf.unpack(Reader(packed, file=path, chunk="table", start=offset)), edition
    raise ReadError(
        "the table is encrypted with an unknown key, or damaged",
        file=path,
        chunk="table",
        offset=offset,
        remedy="Ask the author of the mod for the unpacked files: a packer of a mod's own has written it",
    )


# Layouts -------------------------------------------------------------------------------------------------------------

_Row = tuple[bytes, int, int, int, int, int]
"""Name, offset, stored bytes, size, checksum, method; as in `NUMBERS`."""


def _long_rows(plain: bytes) -> Iterator[_Row]:
    """Yield rows of: u16 length, u32 size, u32 stored, u32 checksum, name, u32 offset."""
    at, unpack = 0, struct.Struct("<HIII").unpack_from
    last = struct.Struct("<I").unpack_from
    while at < len(plain):
        length, size, stored, checksum = unpack(plain, at)
        end = at + 2 + length
        name = plain[at + 14 : end - 4]
        (offset,) = last(plain, end - 4)
        yield name, offset, stored, size, checksum, Method.STORED if size == stored else Method.LZO
        at = end


def _named_rows(plain: bytes, numbers: int) -> Iterator[tuple[bytes, tuple[int, ...]]]:
    """Yield rows of: name, NUL, u32 numbers."""
    at, unpack = 0, struct.Struct(f"<{numbers}I").unpack_from
    while at < len(plain):
        end = plain.index(b"\0", at)
        yield plain[at:end], unpack(plain, end + 1)
        at = end + 1 + 4 * numbers


def _rows_with_checksum(plain: bytes) -> Iterator[_Row]:
    for name, (checksum, offset, size, stored) in _named_rows(plain, 4):
        yield name, offset, stored, size, checksum, Method.STORED if size == stored else Method.LZO


def _rows_with_sizes(plain: bytes) -> Iterator[_Row]:
    for name, (offset, size, stored) in _named_rows(plain, 3):
        yield name, offset, stored, size, -1, Method.STORED if size == stored else Method.LZO


def _rows_with_method(plain: bytes) -> Iterator[_Row]:
    for name, (is_stored, offset, stored) in _named_rows(plain, 3):
        if is_stored > 1:
            raise ValueError
        yield name, offset, stored, stored if is_stored else -1, -1, Method.STORED if is_stored else Method.LZHUF


class _Layout(NamedTuple):
    """A layout of the table: its ``name``, and a function that yields its rows and raises `ValueError`, `struct.error`
    for a table of another one.
    """

    name: str
    rows: Callable[[bytes], Iterator[_Row]]


_LAYOUTS = (
    _Layout("X-Ray archive", _long_rows),
    _Layout("X-Ray archive of builds about 2504 to 2945", _rows_with_checksum),
    _Layout("X-Ray archive of builds up to about 1600", _rows_with_method),
    _Layout("X-Ray archive of builds about 1601 to 2503", _rows_with_sizes),
)
"""In the order in which they are tried: the last two have rows of one length."""
_FOREIGN_TABLE = (ValueError, struct.error)


def _begins_well(layout: _Layout, begin: bytes) -> bool:
    """Return whether the first bytes of a table can be those of this layout."""
    rows = 0
    with suppress(*_FOREIGN_TABLE):
        for name, *_ in layout.rows(begin):
            if not _is_name(name):
                return False
            rows += 1
    return rows > 0


def _is_name(name: bytes) -> bool:
    return bool(name) and min(name) >= 0x20


def _laid_out(plain: bytes, size: int, path: str) -> tuple[_Layout, list[_Row]]:
    """Return the layout of a table and its rows: that whose rows end where the table ends, most of them within the
    archive.
    """
    best, best_share, best_rows = _LAYOUTS[0], 0.0, list[_Row]()
    for layout in _LAYOUTS:
        with suppress(*_FOREIGN_TABLE):
            rows = list(layout.rows(plain))
            within = sum(offset + stored <= size for _, offset, stored, *_ in rows)
            if within > best_share * len(rows) and all(_is_name(row[0]) for row in rows):
                best, best_share, best_rows = layout, within / len(rows), rows
        if best_share == 1.0:
            break  # the first of the best
    if best_share < 0.5 and plain:
        raise ReadError("the table of files has an unknown layout", file=path, chunk="table", remedy=DAMAGED)
    return best, best_rows


def _files(rows: list[_Row]) -> tuple[list[str], NDArray[np.void]]:
    """Return names and `NUMBERS` of the files among the rows; folders have no offset."""
    files = [row for row in rows if row[1]]
    numbers = np.zeros(len(files), NUMBERS)
    if files:
        names, *columns = zip(*files, strict=True)
        for title, values in zip(NUMBERS.names or (), columns, strict=True):
            numbers[title] = values
    else:
        names = ()
    return [name.decode(_ENCODING, "replace").replace("/", "\\") for name in names], numbers


# The header -----------------------------------------------------------------------------------------------------------


def _properties(file: BinaryIO, chunk: tuple[int, int, int] | None) -> dict[str, str]:
    """Return the texts of the header, by their small names; nothing without one."""
    if chunk is None or chunk[0] & _PACKED or chunk[2] > _LARGEST_HEADER:
        return {}
    file.seek(chunk[1])
    lines = file.read(chunk[2]).decode(_ENCODING, "replace").splitlines()
    pairs = (line.partition(";")[0].partition("=") for line in lines)
    return {name.strip().lower(): text.strip().strip('"') for name, equals, text in pairs if equals}


def _mount(properties: dict[str, str]) -> str:
    """Return where the game sees the files, below its folder. Archives without a header are mounted at gamedata."""
    entry_point = properties.get("entry_point", _MOUNT).replace("/", "\\").lower()
    path = entry_point.removeprefix("$fs_root$").strip("\\ ")
    return f"{path}\\" if path else ""
