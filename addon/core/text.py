"""Arrays in words: a row a line, made for comparing two files with a text tool, and what differs between two."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import names

FEW = 16
"""Numbers that are shown whole when they differ, and in one line."""
_BLOCK = 1 << 14
"""Rows that become text at a time: numpy's texts are many times as large as the numbers."""


def scalar(value: Any) -> str:
    """One value; floats are the shortest text that names this float32 and no other."""
    if isinstance(value, np.floating):
        # All NaNs look alike; their bits do not.
        return f"nan:{value.tobytes().hex()}" if np.isnan(value) else str(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return repr(names.decode(bytes(value)))
    return "-" if value is None else str(value)


def row(values: NDArray[Any]) -> str:
    """The text of one row (columns,)."""
    return rows(values[None])[0]


def rows(values: NDArray[Any]) -> list[str]:
    """A text for every row of (rows, columns)."""
    texts = values.astype(str)
    if values.dtype.kind == "f" and np.isnan(values).any():
        texts = texts.astype(object)
        for place in zip(*np.nonzero(np.isnan(values)), strict=True):
            texts[place] = scalar(values[place])
    return [" ".join(row) for row in texts.tolist()]


def array_lines(label: str, values: NDArray[Any]) -> Iterator[str]:
    """Lines that say every number of an array, of structured rows too, each with its place."""
    if values.dtype.names:
        flat = values.ravel()
        yield f"{label} count {len(flat)}: {' | '.join(values.dtype.names)}"
        for start in range(0, len(flat), _BLOCK):
            block = flat[start : start + _BLOCK]
            columns = [rows(block[name].reshape(len(block), -1)) for name in values.dtype.names]
            for number, fields in enumerate(zip(*columns, strict=True), start):
                yield f"{label} {number} {' | '.join(fields)}"
    elif values.ndim == 1 and len(values) > FEW:
        yield f"{label} count {len(values)}"
        whole = len(values) // 3 * 3
        for number, row in enumerate(_rows_in_blocks(values[:whole].reshape(-1, 3))):
            yield f"{label} {3 * number} {row}"
        if whole < len(values):
            yield f"{label} {whole} {rows(values[None, whole:])[0]}"
    elif values.ndim == 1:
        yield f"{label} {rows(values[None])[0]}"
    else:
        width = values.size // len(values) if len(values) else 1
        for number, row in enumerate(_rows_in_blocks(values.reshape(-1, width))):
            yield f"{label} {number} {row}"


def _rows_in_blocks(values: NDArray[Any]) -> Iterator[str]:
    for start in range(0, len(values), _BLOCK):
        yield from rows(values[start : start + _BLOCK])


def array_differences(place: str, a: NDArray[Any], b: NDArray[Any]) -> Iterator[str]:
    """In which fields two arrays differ, how many rows do, and what the first of them says; compared as bits."""
    if a.dtype != b.dtype or a.shape != b.shape:
        fields = [" ".join(values.dtype.names or (str(values.dtype),)) for values in (a, b)]
        layout = f", {fields[0]} / {fields[1]}" if a.dtype != b.dtype else ""
        yield f"{place}: {len(a)} / {len(b)}{layout}"
        return
    for name in a.dtype.names or ("",):
        mine, theirs = (a[name], b[name]) if name else (a, b)
        if mine.tobytes() != theirs.tobytes():
            yield f"{place}{f' {name}' if name else ''}: {_which_differ(mine, theirs)}"


def _which_differ(mine: NDArray[Any], theirs: NDArray[Any]) -> str:
    if mine.size <= FEW:
        return f"{rows(mine.reshape(1, -1))[0]} / {rows(theirs.reshape(1, -1))[0]}"
    ones, others = (np.ascontiguousarray(values).reshape(len(values), -1) for values in (mine, theirs))
    # Compared as bits: a NaN is equal to itself, 0 and -0 are not equal.
    found = np.flatnonzero((ones.view(f"u{ones.itemsize}") != others.view(f"u{others.itemsize}")).any(axis=1))
    first = found[0]
    return f"{len(found)} of {len(ones)} differ, first {first}: {rows(ones[[first]])[0]} / {rows(others[[first]])[0]}"


def extent(points: NDArray[Any]) -> str:
    """``-1.0 0.0 2.0 to 4.0 0.5 3.0``, the lowest and highest corner of points (n, 3) without NaN and infinite ones."""
    finite = points[np.isfinite(points).all(axis=1)]
    if not len(finite):
        return "nowhere"
    return " to ".join(rows(np.stack([finite.min(axis=0), finite.max(axis=0)])))


def value_lines(label: str, value: Any) -> Iterator[str]:
    """Lines that say everything of a value: an array, a list, a dataclass of these; ``label`` is the path to it."""
    if isinstance(value, np.ndarray):
        yield from array_lines(label, value)
    elif isinstance(value, list):
        yield f"{label} count {len(value)}"
        for number, entry in enumerate(value):
            yield from value_lines(f"{label} {number}", entry)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from value_lines(f"{label} {field.name}".strip(), getattr(value, field.name))
    else:
        yield f"{label} {scalar(value)}"


def value_differences(
    place: str,
    a: Any,
    b: Any,
    word: Callable[[str], str] = lambda name: f" {name.replace('_', ' ')}",
    entry: Callable[[Any, int], str] = lambda _entry, number: str(number),
) -> Iterator[str]:
    """What differs between two values as `value_lines` takes them; floats compared as bits.

    ``word`` is what the place says of a field's name, ``entry`` what it calls a list's entry of a number.
    """
    if type(a) is not type(b):
        yield f"{place}: {scalar(a)} / {scalar(b)}"
    elif isinstance(a, np.ndarray):
        yield from array_differences(place, a, b)
    elif isinstance(a, list):
        if len(a) != len(b):
            yield f"{place}: {len(a)} / {len(b)}"
        for number, (mine, theirs) in enumerate(zip(a, b, strict=False)):
            yield from value_differences(f"{place} {entry(mine, number)}", mine, theirs, word, entry)
    elif dataclasses.is_dataclass(a):
        for field in dataclasses.fields(a):
            path = f"{place}{word(field.name)}"
            yield from value_differences(path, getattr(a, field.name), getattr(b, field.name), word, entry)
    elif (a.tobytes() != b.tobytes()) if isinstance(a, np.floating) else a != b:
        yield f"{place}: {scalar(a)} / {scalar(b)}"
