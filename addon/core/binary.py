"""Bounds-checked reading and writing of little-endian bytes, with arrays as arrays.

A `Reader` never copies: what it hands out are views of the bytes it was given, so a count from a hostile file costs
nothing until the bytes are there. Single floats stay ``numpy.float32``: a Python float would quieten signalling NaNs
and the bytes would not come back.
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
from .report import Report, counted, said_of

Bytes = bytes | bytearray | memoryview

_WITHOUT_FLOATS = {"int", "int | None", "bool", "str", "bytes", "list[bytes]", "list[str]"}
"""Declarations of fields; modules of dataclasses postpone their annotations, which are texts then."""
_FLOATS = (float, np.floating)
_FEW = 64
_FEW_BYTES = 256
_EXPONENT_OF_ONES = re.compile(rb"[\x80-\xff][\x7f\xff]")
"""The upper two bytes of such a float."""
_FIELDS: dict[type, tuple[str, ...]] = {}
"""What was found for each type: asking a dataclass takes longer than looking at its numbers."""
NOT_FINITE = "NaN or infinite values, exported unchanged unless edited"


def warn_not_finite(report: Report, place: str, *values: Any) -> int:
    """Warn if any of ``values`` is NaN or infinite, and return how many numbers are.

    Each of ``values`` is a number, an array, a structured array, or a dataclass, list or dict that holds such: of all
    of them only floats are looked at. ``place`` says where in the file they are, as users know it: ``vertices``,
    ``walk_0, timing``. Repeated places are folded by the report.
    """
    count = count_not_finite(values)
    if count:
        report.warn(NOT_FINITE, f"{place}: {count}")
    return count


def all_finite(data: Bytes) -> bool:
    """Whether no float of 32 or 64 bits that may lie anywhere in a few bytes is NaN or infinite; False of many bytes.

    What it says costs less than the floats one by one; where it is False they have to be looked at.
    """
    return len(data) <= _FEW_BYTES and _EXPONENT_OF_ONES.search(data) is None


def not_finite(values: NDArray[Any]) -> int:
    """How many numbers of an array, or of the float fields of a structured array, are NaN or infinite."""
    if values.dtype.names is not None:
        return sum(not_finite(values[name]) for name in values.dtype.names)
    if values.dtype.kind != "f":
        return 0
    if values.size <= _FEW and math.isfinite(np.vdot(values, values)):
        return 0  # the sum of squares of a few finite numbers, found in a third of the time
    return values.size - int(np.count_nonzero(np.isfinite(values)))


@np.errstate(invalid="ignore")  # signalling NaNs of broken files
def as_in_file(held: NDArray[Any], base: NDArray[Any]) -> NDArray[np.float32]:
    """``held`` as 32-bit floats, with the bits of ``base`` where it still is what Blender's properties make of it.

    Properties hold infinity as the largest 32-bit number. Shapes must be equal. ``base`` may be of any width.
    """
    ours, base = np.asarray(held, np.float32), np.asarray(base, np.float32)
    limit = np.finfo(np.float32).max
    shown = np.clip(base, -limit, limit)
    result: NDArray[np.float32] = np.where((ours == shown) | (np.isnan(ours) & np.isnan(shown)), base, ours)
    return result


def count_not_finite(value: Any) -> int:
    """How many numbers in a value, as `warn_not_finite` takes it, are NaN or infinite."""
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
    else:  # nesting is bounded by the classes of the value
        for name in _fields_of(type(value)):
            count += count_not_finite(getattr(value, name))
    return count


def _fields_of(kind: type) -> tuple[str, ...]:
    """The fields of a dataclass that may hold floats, as declared; none of other types."""
    found = _FIELDS.get(kind)
    if found is None:
        listed = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
        found = _FIELDS[kind] = tuple(part.name for part in listed if part.type not in _WITHOUT_FLOATS)
    return found


# Readers and writers --------------------------------------------------------------------------------------------------

_GIT_POINTER = b"version https://git-lfs"

_USUAL_NAME = 64

DAMAGED = "The file is damaged: copy it again from its source"

_U16 = struct.Struct("<H")
_U32 = struct.Struct("<I")
_I32 = struct.Struct("<i")
_F32 = np.dtype("<f4")


class Reader:
    """Reads forwards through a run of bytes; every failure is a `ReadError` that names file, chunk and offset.

    ``data`` the bytes; ``file`` and ``chunk`` for messages; ``start`` how far the bytes lie into the file.
    """

    __slots__ = ("chunk", "data", "file", "position", "start")

    def __init__(self, data: Bytes, file: str = "", chunk: str = "", start: int = 0) -> None:
        """Stand at the first byte of ``data``."""
        self.data = memoryview(data)
        self.file = file
        self.chunk = chunk
        self.start = start
        self.position = 0

    @property
    def remaining(self) -> int:
        """How many bytes are left."""
        return len(self.data) - self.position

    @property
    def offset(self) -> int:
        """Where in the file the next byte lies."""
        return self.start + self.position

    def error(self, problem: str, remedy: str = DAMAGED) -> ReadError:
        """A `ReadError` for this place, to be raised by the caller."""
        return ReadError(problem, file=self.file, chunk=self.chunk, offset=self.offset, remedy=remedy)

    def take(self, size: int, what: str = "data") -> memoryview:
        """The next ``size`` bytes as a view."""
        start = self._pass_over(size, what)
        return self.data[start : start + size]

    def _pass_over(self, size: int, what: str) -> int:
        """Where the next ``size`` bytes begin, which are passed over."""
        start = self.position
        if not 0 <= size <= len(self.data) - start:
            needed, left = (said_of(count, "bytes", "are") for count in (size, self.remaining))
            raise self.error(f"{what}: {needed} needed, {left} left")
        self.position = start + size
        return start

    def rest(self) -> memoryview:
        """Everything that is left, as a view."""
        return self.take(self.remaining)

    def part(self, size: int, chunk: str, what: str = "chunk") -> Reader:
        """A reader over the next ``size`` bytes, which are passed over here; ``chunk`` is its full path of ids."""
        start = self.offset
        return Reader(self.take(size, what), self.file, chunk, start)

    def u8(self, what: str = "a byte") -> int:
        """An unsigned byte."""
        return self.take(1, what)[0]

    def u16(self, what: str = "a 16-bit number") -> int:
        """An unsigned 16-bit number."""
        value: int = _U16.unpack_from(self.data, self._pass_over(2, what))[0]
        return value

    def u32(self, what: str = "a 32-bit number") -> int:
        """An unsigned 32-bit number."""
        value: int = _U32.unpack_from(self.data, self._pass_over(4, what))[0]
        return value

    def i32(self, what: str = "a 32-bit number") -> int:
        """A signed 32-bit number."""
        value: int = _I32.unpack_from(self.data, self._pass_over(4, what))[0]
        return value

    def f32(self, what: str = "a float") -> np.float32:
        """A 32-bit float, bits kept."""
        value: np.float32 = np.frombuffer(self.data, _F32, 1, self._pass_over(4, what))[0]
        return value

    def array(self, dtype: str | np.dtype[Any], *shape: int, what: str = "an array") -> NDArray[Any]:
        """The next numbers as a read-only array of ``shape``; ``dtype`` names its byte order.

        The bounds are checked before anything is made, so an absurd count costs nothing.
        """
        kind = np.dtype(dtype)
        count = math.prod(shape)
        start = self._pass_over(count * kind.itemsize, what)
        numbers = np.frombuffer(self.data, kind, count, start) if count else np.zeros(0, kind)
        return numbers if len(shape) == 1 else numbers.reshape(shape)

    def string(self, what: str = "a name") -> bytes:
        """The bytes up to the next NUL, which is passed over."""
        near = bytes(self.data[self.position : self.position + _USUAL_NAME]).find(0)
        if near >= 0:
            start = self._pass_over(near + 1, what)
            return bytes(self.data[start : start + near])
        window = self.data[self.position :]
        length = _find_byte(window, 0)
        if length < 0:
            raise self.error(f"{what} has no end (no zero byte in the {len(window)} bytes that are left)")
        self.position += length + 1
        return bytes(window[:length])

    def refuse_git_pointer(self) -> None:
        """Refuse the few lines of text that git-lfs leaves in the place of a file it has not fetched."""
        if bytes(self.data[: len(_GIT_POINTER)]) == _GIT_POINTER:
            raise self.error(
                "this is a git-lfs pointer, a text that stands for the file, not the file itself",
                "Fetch the file with `git lfs pull`",
            )

    def expect_room(self, count: int, nouns: str, least: int, remedy: str = DAMAGED) -> int:
        """A declared number of things, ``least`` bytes each or more. Raises `ReadError` if they cannot be there."""
        if not 0 <= count * least <= self.remaining:
            needed = f"{said_of(count, nouns, 'need')} at least {counted(count * least, 'byte')}"
            raise self.error(f"{needed}, {said_of(self.remaining, 'bytes', 'are')} left", remedy)
        return count

    def expect_end(self, what: str) -> None:
        """Refuse bytes left over behind ``what``."""
        if self.remaining:
            raise self.error(f"{counted(self.remaining, 'extra byte')} after {what}")


def _find_byte(window: memoryview, value: int) -> int:
    """Index of the first such byte, or -1. Looks in growing steps: the end is usually near, the window may be huge."""
    step, start = 64, 0
    needle = bytes((value,))
    while start < len(window):
        found = bytes(window[start : start + step]).find(needle)
        if found >= 0:
            return start + found
        start += step
        step *= 2
    return -1


class Writer:
    """Collects bytes; ``bytes(writer)`` or `getvalue` joins them once."""

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        """Start empty."""
        self._parts: list[bytes | memoryview] = []

    def raw(self, data: Bytes) -> None:
        """Bytes as they are."""
        self._parts.append(data if isinstance(data, bytes | memoryview) else bytes(data))

    def u8(self, value: int) -> None:
        """An unsigned byte."""
        self._parts.append(self._pack("<B", value))

    def u16(self, value: int) -> None:
        """An unsigned 16-bit number."""
        self._parts.append(self._pack("<H", value))

    def u32(self, value: int) -> None:
        """An unsigned 32-bit number."""
        self._parts.append(self._pack("<I", value))

    def i32(self, value: int) -> None:
        """A signed 32-bit number."""
        self._parts.append(self._pack("<i", value))

    def f32(self, value: np.float32 | float) -> None:
        """A 32-bit float; the bits of a ``numpy.float32`` are kept."""
        self._parts.append(np.asarray(value, "<f4").tobytes())

    def array(self, values: NDArray[Any], dtype: str) -> None:
        """Numbers in C order. Floats are rounded to ``dtype``; whole numbers that do not fit raise `WriteError`."""
        kind = np.dtype(dtype)
        if kind.kind in "iu" and not np.can_cast(values.dtype, kind):
            limits = np.iinfo(kind)
            unfit = (values < limits.min) | (values > limits.max) | (values != np.rint(values))
            if unfit.any():
                raise WriteError(f"the number {values[unfit][0]} does not fit the file's field ({kind.str[1:]})")
        self._parts.append(np.ascontiguousarray(values, kind).tobytes())

    def string(self, text: bytes) -> None:
        """Bytes and a closing NUL."""
        if b"\0" in text:
            raise WriteError(f"the name {names.decode(text)!r} holds a zero byte", remedy="Rename it")
        self._parts.append(text + b"\0")

    def getvalue(self) -> bytes:
        """Everything written so far."""
        return b"".join(self._parts)

    __bytes__ = getvalue

    @staticmethod
    def _pack(layout: str, value: int) -> bytes:
        try:
            return struct.pack(layout, value)
        except struct.error:
            raise WriteError(f"the number {value} does not fit the file's field ({layout[1:]})") from None
