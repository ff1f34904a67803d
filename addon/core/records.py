"""Structs of files: dataclasses whose fields declare how they are stored, so that reading and writing are one list.

    @dataclass(slots=True)
    class Texture(Record):
        path: Annotated[bytes, string("the texture's path")]
        size: Annotated[int, u32("the texture's size")]

Each function takes ``what``, the name of the field in the message for a file that ends too early.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Generic, Self, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

from .binary import Reader, Writer

Value = TypeVar("Value")
Struct = TypeVar("Struct")


@dataclass(frozen=True, slots=True)
class Stored(Generic[Value]):
    """How a field is stored. ``floats``: the name and the shape of 32-bit floats, None for others."""

    read: Callable[[Reader], Value]
    write: Callable[[Writer, Value], None]
    floats: tuple[str, tuple[int, ...]] | None = None


_F32 = np.dtype("<f4")


class _Floats:
    """Adjacent floats of one name, which are read at once and shared out to their fields."""

    def __init__(self, run: list[tuple[str, Stored[Any]]]) -> None:
        self._parts: list[tuple[str, slice | int, tuple[int, ...]]] = []
        self._count = 0
        for name, stored in run:
            assert stored.floats is not None  # noqa: S101 - `_run_of` puts these together
            self._what, shape = stored.floats
            start, self._count = self._count, self._count + math.prod(shape)
            self._parts.append((name, slice(start, self._count) if shape else start, shape))

    def read(self, reader: Reader, values: dict[str, Any]) -> None:
        numbers = reader.array(_F32, self._count, what=self._what)
        for name, where, shape in self._parts:
            values[name] = numbers[where] if len(shape) < 2 else numbers[where].reshape(shape)


class Layout:
    """The ``fields`` of a struct in the order of the file. Adjacent floats of the same name are read at once."""

    def __init__(self, fields: Mapping[str, Stored[Any]]) -> None:
        """Create the layout of these fields."""
        self.fields = dict(fields)
        runs = [list(run) for _, run in groupby(self.fields.items(), _run_of)]
        self._steps = [_Floats(run) if len(run) > 1 else run[0] for run in runs]

    def with_fields(self, fields: Mapping[str, Stored[Any]]) -> Layout:
        """Return this layout with further fields behind, and others instead of those of the same name."""
        return Layout({**self.fields, **fields})

    def read(self, reader: Reader) -> dict[str, Any]:
        """Return the value of each field. Raises `ReadError` if bytes are missing."""
        values: dict[str, Any] = {}
        for step in self._steps:
            if isinstance(step, _Floats):
                step.read(reader, values)
            else:
                name, stored = step
                values[name] = stored.read(reader)
        return values


def _run_of(field: tuple[str, Stored[Any]]) -> tuple[bool, str]:
    """Return what adjacent fields have in common that are read at once: the name of floats."""
    name, stored = field
    return (False, name) if stored.floats is None else (True, stored.floats[0])


def u8(what: str) -> Stored[int]:
    """Return an unsigned byte."""
    return Stored(lambda reader: reader.u8(what), Writer.u8)


def u16(what: str) -> Stored[int]:
    """Return an unsigned 16-bit integer."""
    return Stored(lambda reader: reader.u16(what), Writer.u16)


def u32(what: str) -> Stored[int]:
    """Return an unsigned 32-bit integer."""
    return Stored(lambda reader: reader.u32(what), Writer.u32)


def i32(what: str) -> Stored[int]:
    """Return a signed 32-bit integer."""
    return Stored(lambda reader: reader.i32(what), Writer.i32)


def f32(what: str) -> Stored[np.float32]:
    """Return a 32-bit float."""
    return Stored(lambda reader: reader.f32(what), Writer.f32, (what, ()))


def string(what: str) -> Stored[bytes]:
    """Return bytes that a NUL ends."""
    return Stored(lambda reader: reader.string(what), Writer.string)


def array(dtype: str | np.dtype[Any], *shape: int, what: str) -> Stored[NDArray[Any]]:
    """Return numbers of a fixed ``shape``."""
    return Stored(
        lambda reader: reader.array(dtype, *shape, what=what),
        lambda writer, values: writer.array(values, dtype),
        (what, shape) if np.dtype(dtype) == _F32 else None,
    )


def counted_rows(count: Stored[int], dtype: str | np.dtype[Any], *shape: int, what: str) -> Stored[NDArray[Any]]:
    """Return rows of ``shape`` behind their number."""

    def write(writer: Writer, values: NDArray[Any]) -> None:
        count.write(writer, len(values))
        writer.array(values, dtype)

    return Stored(lambda reader: reader.array(dtype, count.read(reader), *shape, what=what), write)


def last_rows(dtype: str | np.dtype[Any], *shape: int, what: str) -> Stored[NDArray[Any]]:
    """Return all whole rows of ``shape`` up to the end."""
    row = np.dtype((dtype, shape)).itemsize
    return Stored(
        lambda reader: reader.array(dtype, reader.remaining // row, *shape, what=what),
        lambda writer, values: writer.array(values, dtype),
    )


def list_of(count: Stored[int], stored: Stored[Value], noun: str, least: int) -> Stored[list[Value]]:
    """Return a list behind its number; each element has at least ``least`` bytes."""

    def read(reader: Reader) -> list[Value]:
        return [stored.read(reader) for _ in range(reader.expect_room(count.read(reader), noun, least))]

    def write(writer: Writer, values: list[Value]) -> None:
        count.write(writer, len(values))
        _write_each(writer, stored, values)

    return Stored(read, write)


def list_to_end(stored: Stored[Value]) -> Stored[list[Value]]:
    """Return a list up to the end."""

    def read(reader: Reader) -> list[Value]:
        values = []
        while reader.remaining:
            values.append(stored.read(reader))
        return values

    return Stored(read, lambda writer, values: _write_each(writer, stored, values))


def _write_each(writer: Writer, stored: Stored[Value], values: Iterable[Value]) -> None:
    for value in values:
        stored.write(writer, value)


def unless_at_end(stored: Stored[Any]) -> Stored[Any]:
    """Return a field that is None if the bytes end before it."""
    return Stored(lambda reader: stored.read(reader) if reader.remaining else None, stored.write)


def nested(read: Callable[[Reader], Any]) -> Stored[Any]:
    """Return a struct inside another; ``read`` is that of its class."""
    return Stored(read, lambda writer, value: value.write(writer))


class Record:
    """A struct with a declaration for each field, or with methods of its own. Fields without one are not stored."""

    __slots__ = ()

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Read the struct. Raises `ReadError` if bytes are missing."""
        return read_fields(cls, layout_of(cls), reader)

    def write(self, writer: Writer) -> None:
        """Write the struct."""
        write_fields(self, layout_of(type(self)), writer)


def layout_of(kind: type) -> Layout:
    """Return the declared fields of a struct."""
    layout = _LAYOUTS.get(kind)
    if layout is None:
        hints = get_type_hints(kind, include_extras=True)
        declared = {name: getattr(hint, "__metadata__", ()) for name, hint in hints.items()}
        layout = _LAYOUTS[kind] = Layout({name: values[0] for name, values in declared.items() if values})
    return layout


_LAYOUTS: dict[type, Layout] = {}
"""Cache of `layout_of`."""


def read_fields(kind: Callable[..., Struct], layout: Layout, reader: Reader) -> Struct:
    """Read a struct by a layout. Raises `ReadError` if bytes are missing."""
    return kind(**layout.read(reader))


def write_fields(value: object, layout: Layout, writer: Writer) -> None:
    """Write a struct by a layout. Fields that are None are not stored."""
    for name, stored in layout.fields.items():
        field = getattr(value, name)
        if field is not None:
            stored.write(writer, field)
