"""Bounds-checked reading and writing of little-endian bytes, with arrays as numpy arrays.

A `Reader` never copies: it returns views of the bytes it was given, so a count in a malicious file costs nothing unless
the bytes exist. Single floats stay ``numpy.float32``: a Python float would make signalling NaNs quiet, and the bytes
would change.
"""

from __future__ import annotations

import dataclasses
import math
import re
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import names
from .errors import ReadError, WriteError
from .report import Report, counted, say

Bytes = bytes | bytearray | memoryview

_WITHOUT_FLOATS = {"int", "int | None", "bool", "str", "bytes", "list[bytes]", "list[str]"}
"""Types of dataclass fields that cannot hold floats, as texts: the modules use postponed annotations."""
_FLOATS = (float, np.floating)
_FEW = 64
_FEW_BYTES = 256
_EXPONENT_OF_ONES = re.compile(rb"[\x80-\xff][\x7f\xff]")
"""Upper two bytes of a float whose exponent bits are all ones (infinity or NaN), of 32 or 64 bits."""
_FIELDS: dict[type, tuple[str, ...]] = {}
"""Cache of `_fields_of`: inspecting a dataclass takes longer than checking its numbers."""
NOT_FINITE = "NaN or infinite values, exported unchanged unless edited"


def warn_not_finite(report: Report, where: str, *values: Any) -> int:
    """Warn if any of ``values`` contains NaN or infinite numbers, and return how many.

    Each of ``values`` is a number, an array, a structured array, or a dataclass, list or dict of these; only floats are
    checked. ``where`` names the place in the file as users know it: ``vertices``, ``walk_0, timing``. The report merges
    repeated warnings.
    """
    count = count_not_finite(values)
    if count:
        report.warn(NOT_FINITE, f"{where}: {count}")
    return count


def all_finite(data: Bytes) -> bool:
    """Return whether no 32-bit or 64-bit float at any position in a few bytes is NaN or infinite; False for many bytes.

    A fast check that may return False although all are finite: then the floats must be checked one by one.
    """
    return len(data) <= _FEW_BYTES and _EXPONENT_OF_ONES.search(data) is None


def not_finite(values: NDArray[Any]) -> int:
    """Return how many numbers of an array, or of the float fields of a structured array, are NaN or infinite."""
    if values.dtype.names is not None:
        return sum(not_finite(values[name]) for name in values.dtype.names)
    if values.dtype.kind != "f":
        return 0
    if values.size <= _FEW and math.isfinite(np.vdot(values, values)):
        return 0  # the sum of squares is finite only if all are; a third of the time for few numbers
    return values.size - int(np.count_nonzero(np.isfinite(values)))


@np.errstate(invalid="ignore")  # signalling NaNs in broken files
def as_in_file(held: NDArray[Any], base: NDArray[Any]) -> NDArray[np.float32]:
    """Return ``held`` as 32-bit floats, with the bits of ``base`` wherever it equals ``base`` as stored in a Blender
    property.

    Properties store infinity as the largest 32-bit float. Shapes must be equal; ``base`` may have any float type.
    """
    ours, base = np.asarray(held, np.float32), np.asarray(base, np.float32)
    limit = np.finfo(np.float32).max
    rounded = np.clip(base, -limit, limit)
    result: NDArray[np.float32] = np.where((ours == rounded) | (np.isnan(ours) & np.isnan(rounded)), base, ours)
    return result


def count_not_finite(value: Any) -> int:
    """Return how many numbers in a value, as for `warn_not_finite`, are NaN or infinite."""
    if isinstance(value, np.ndarray):
        return not_finite(value)
    if isinstance(value, _FLOATS):
        return not math.isfinite(value)
    count = 0
    if isinstance(value, list | tuple):
        for part in value:
            count += count_not_finite(part)
    elif isinstance(value, dict):
        for part in value.values():
            count += count_not_finite(part)
    else:  # recursion depth is limited by the classes
        for name in _fields_of(type(value)):
            count += count_not_finite(getattr(value, name))
    return count


def _fields_of(kind: type) -> tuple[str, ...]:
    """Return the fields of a dataclass that may hold floats, by their declared types; none for other types."""
    fields = _FIELDS.get(kind)
    if fields is None:
        listed = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
        types = {part.name: str(part.type).removeprefix("Annotated[").partition(", ")[0] for part in listed}
        fields = _FIELDS[kind] = tuple(name for name, declared in types.items() if declared not in _WITHOUT_FLOATS)
    return fields


# Readers and writers --------------------------------------------------------------------------------------------------

_GIT_POINTER = b"version https://git-lfs"

_USUAL_NAME = 64

DAMAGED = "The file is damaged: copy it again from its source"
"""Remedy if bytes are missing."""
NOT_IN_FORMAT = "It does not follow the format: save it again with the tool that made it"
"""Remedy if the existing bytes cannot be read."""

_U16 = struct.Struct("<H")
_U32 = struct.Struct("<I")
_I32 = struct.Struct("<i")
_F32 = np.dtype("<f4")


class Reader:
    """Sequential reader of bytes. Every failure is a `ReadError` with file, chunk and offset.

    ``data``: the bytes; ``file`` and ``chunk``: for messages; ``start``: offset of the bytes in the file.
    """

    __slots__ = ("chunk", "data", "file", "position", "start")

    def __init__(self, data: Bytes, file: str = "", chunk: str = "", start: int = 0) -> None:
        self.data = memoryview(data)
        self.file = file
        self.chunk = chunk
        self.start = start
        self.position = 0

    @classmethod
    def of_file(cls, data: Bytes, file: str) -> Reader:
        """Return a reader of a whole file. Raises `ReadError` if the file is empty."""
        reader = cls(data, file)
        if not len(data):
            raise reader.error("the file is empty", "Copy it again")
        return reader

    @property
    def remaining(self) -> int:
        """Number of bytes left."""
        return len(self.data) - self.position

    @property
    def offset(self) -> int:
        """Offset of the next byte in the file."""
        return self.start + self.position

    def error(self, problem: str, remedy: str = NOT_IN_FORMAT) -> ReadError:
        """Return a `ReadError` for the present offset, to be raised by the caller."""
        return ReadError(problem, file=self.file, chunk=self.chunk, offset=self.offset, remedy=remedy)

    def take(self, size: int, what: str = "data") -> memoryview:
        """Return the next ``size`` bytes as a view. Raises `ReadError` if fewer are left."""
        start = self._skip(size, what)
        return self.data[start : start + size]

    def _skip(self, size: int, what: str) -> int:
        """Skip the next ``size`` bytes and return the position of the first."""
        start = self.position
        if not 0 <= size <= len(self.data) - start:
            words = "{}: {:# byte is|# bytes are} needed, {:# byte is|# bytes are} left"
            raise self.error(say(words, what, size, self.remaining), DAMAGED)
        self.position = start + size
        return start

    def rest(self) -> memoryview:
        """Return all remaining bytes as a view."""
        return self.take(self.remaining)

    def part(self, size: int, chunk: str, what: str = "chunk") -> Reader:
        """Return a reader over the next ``size`` bytes and skip them here; ``chunk``: its full path of chunk ids."""
        start = self.offset
        return Reader(self.take(size, what), self.file, chunk, start)

    def u8(self, what: str = "a byte") -> int:
        """Read an unsigned byte."""
        return self.take(1, what)[0]

    def u16(self, what: str = "a 16-bit number") -> int:
        """Read an unsigned 16-bit integer."""
        value: int = _U16.unpack_from(self.data, self._skip(2, what))[0]
        return value

    def u32(self, what: str = "a 32-bit number") -> int:
        """Read an unsigned 32-bit integer."""
        value: int = _U32.unpack_from(self.data, self._skip(4, what))[0]
        return value

    def i32(self, what: str = "a 32-bit number") -> int:
        """Read a signed 32-bit integer."""
        value: int = _I32.unpack_from(self.data, self._skip(4, what))[0]
        return value

    def f32(self, what: str = "a float") -> np.float32:
        """Read a 32-bit float, with its exact bits."""
        value: np.float32 = np.frombuffer(self.data, _F32, 1, self._skip(4, what))[0]
        return value

    def array(self, dtype: str | np.dtype[Any], *shape: int, what: str = "an array") -> NDArray[Any]:
        """Read the next numbers as a read-only array of ``shape``; ``dtype`` includes the byte order.

        The bounds are checked before anything is allocated, so an absurd count costs nothing.
        """
        kind = np.dtype(dtype)
        count = math.prod(shape)
        start = self._skip(count * kind.itemsize, what)
        numbers = np.frombuffer(self.data, kind, count, start) if count else np.zeros(0, kind)
        return numbers if len(shape) == 1 else numbers.reshape(shape)

    def string(self, what: str = "a name") -> bytes:
        """Read the bytes up to the next NUL, and skip the NUL."""
        near = bytes(self.data[self.position : self.position + _USUAL_NAME]).find(0)
        if near >= 0:
            start = self._skip(near + 1, what)
            return bytes(self.data[start : start + near])
        window = self.data[self.position :]
        length = _find_byte(window, 0)
        if length < 0:
            problem = say("{} has no end (no zero byte in the {} bytes that are left)", what, len(window))
            raise self.error(problem, DAMAGED)
        self.position += length + 1
        return bytes(window[:length])

    def refuse_git_pointer(self) -> None:
        """Raise `ReadError` for the text that git-lfs leaves in place of a file it has not fetched."""
        if bytes(self.data[: len(_GIT_POINTER)]) == _GIT_POINTER:
            raise self.error(
                "this is a git-lfs pointer, a text that stands for the file, not the file itself",
                "Fetch the file with `git lfs pull`",
            )

    def expect_room(self, count: int, noun: str, least: int, remedy: str = DAMAGED) -> int:
        """Return a declared count of elements of at least ``least`` bytes each. Raises `ReadError` if fewer bytes are
        left.
        """
        if not 0 <= count * least <= self.remaining:
            words = "{0} {1:needs|need} at least {2:# byte|# bytes}, {3:# byte is|# bytes are} left"
            problem = say(words, counted(count, noun), count, count * least, self.remaining)
            raise self.error(problem, remedy)
        return count

    def expect_end(self, what: str) -> None:
        """Raise `ReadError` if bytes are left after ``what``."""
        if self.remaining:
            raise self.error(say("{:# extra byte|# extra bytes} after {}", self.remaining, what))


def _find_byte(window: memoryview, value: int) -> int:
    """Return the index of the first such byte, or -1. Searches in growing steps: usually it is near, and the window may
    be huge.
    """
    step, start = 64, 0
    needle = bytes((value,))
    while start < len(window):
        index = bytes(window[start : start + step]).find(needle)
        if index >= 0:
            return start + index
        start += step
        step *= 2
    return -1


class Writer:
    """Collects bytes; ``bytes(writer)`` or `getvalue` joins them once."""

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        self._parts: list[bytes | memoryview] = []

    def raw(self, data: Bytes) -> None:
        """Write bytes unchanged."""
        self._parts.append(data if isinstance(data, bytes | memoryview) else bytes(data))

    def u8(self, value: int) -> None:
        """Write an unsigned byte."""
        self._parts.append(self._pack("<B", value))

    def u16(self, value: int) -> None:
        """Write an unsigned 16-bit integer."""
        self._parts.append(self._pack("<H", value))

    def u32(self, value: int) -> None:
        """Write an unsigned 32-bit integer."""
        self._parts.append(self._pack("<I", value))

    def i32(self, value: int) -> None:
        """Write a signed 32-bit integer."""
        self._parts.append(self._pack("<i", value))

    def f32(self, value: np.float32 | float) -> None:
        """Write a 32-bit float; the bits of a ``numpy.float32`` are kept."""
        self._parts.append(np.asarray(value, "<f4").tobytes())

    def array(self, values: NDArray[Any], dtype: str | np.dtype[Any]) -> None:
        """Write numbers in C order. Floats are rounded to ``dtype``; for integers that do not fit `WriteError` is
        raised.
        """
        kind = np.dtype(dtype)
        if kind.kind in "iu" and not np.can_cast(values.dtype, kind):
            limits = np.iinfo(kind)
            unfit = (values < limits.min) | (values > limits.max) | (values != np.rint(values))
            if unfit.any():
                words = "the number {} does not fit the file's field ({})"
                raise WriteError(say(words, values[unfit][0], kind.str[1:]))
        self._parts.append(np.ascontiguousarray(values, kind).tobytes())

    def string(self, text: bytes) -> None:
        """Write bytes and a terminating NUL. Raises `WriteError` if the bytes contain a NUL."""
        if b"\0" in text:
            raise WriteError(say("the name {!r} holds a zero byte", names.decode(text)), remedy="Rename it")
        self._parts.append(text + b"\0")

    def getvalue(self) -> bytes:
        """Return all bytes written so far."""
        return b"".join(self._parts)

    __bytes__ = getvalue

    @staticmethod
    def _pack(layout: str, value: int) -> bytes:
        try:
            return struct.pack(layout, value)
        except struct.error:
            raise WriteError(say("the number {} does not fit the file's field ({})", value, layout[1:])) from None
