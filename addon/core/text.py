"""Arrays as text, one row per line, to compare two files with a text tool; and differences between two arrays."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import names

FEW = 16
"""Number of values that are written in one line, and shown completely if they differ."""
_BLOCK = 1 << 14
"""Rows that are converted to text at a time: numpy's texts take many times the memory of the numbers."""


def scalar(value: Any) -> str:
    """Return one value as text. For a float: the shortest text that identifies this float32."""
    if isinstance(value, np.floating):
        # The text of all NaNs is the same, so their bits are written too.
        return f"nan:{value.tobytes().hex()}" if np.isnan(value) else str(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return repr(names.decode(bytes(value)))
    return "-" if value is None else str(value)


def row(values: NDArray[Any]) -> str:
    """Return the text of one row (columns,)."""
    return rows(values[None])[0]


def rows(values: NDArray[Any]) -> list[str]:
    """Return the text of each of (rows, columns)."""
    texts = values.astype(str)
    if values.dtype.kind == "f" and np.isnan(values).any():
        texts = texts.astype(object)
        for place in zip(*np.nonzero(np.isnan(values)), strict=True):
            texts[place] = scalar(values[place])
    return [" ".join(row) for row in texts.tolist()]


def array_lines(label: str, values: NDArray[Any]) -> Iterator[str]:
    """Yield lines with every value of an array or structured array, each line with its index."""
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
    """Yield a line for each field in which two arrays differ: how many rows do, and their first difference. Compared
    bit by bit.
    """
    if a.dtype != b.dtype or a.shape != b.shape:
        fields = [" ".join(values.dtype.names or (str(values.dtype),)) for values in (a, b)]
        layout = f", {fields[0]} / {fields[1]}" if a.dtype != b.dtype else ""
        yield f"{place}: {len(a)} / {len(b)}{layout}"
        return
    for name in a.dtype.names or ("",):
        mine, theirs = (a[name], b[name]) if name else (a, b)
        field = f"{place}{f' {name}' if name else ''}"
        if mine.dtype.names:
            yield from array_differences(field, mine, theirs)
        elif mine.tobytes() != theirs.tobytes():
            yield f"{field}: {_which_differ(mine, theirs)}"


def _which_differ(mine: NDArray[Any], theirs: NDArray[Any]) -> str:
    if mine.size <= FEW:
        return f"{rows(mine.reshape(1, -1))[0]} / {rows(theirs.reshape(1, -1))[0]}"
    ones, others = (np.ascontiguousarray(values).reshape(len(values), -1) for values in (mine, theirs))
    # Compared bit by bit: NaN is equal to itself, 0 and -0 differ.
    found = np.flatnonzero((ones.view(f"u{ones.itemsize}") != others.view(f"u{others.itemsize}")).any(axis=1))
    first = found[0]
    return f"{len(found)} of {len(ones)} differ, first {first}: {rows(ones[[first]])[0]} / {rows(others[[first]])[0]}"


def extent(points: NDArray[Any]) -> str:
    """Return the lowest and highest corner of the finite points (n, 3), such as ``-1.0 0.0 2.0 to 4.0 0.5 3.0``."""
    finite = points[np.isfinite(points).all(axis=1)]
    if not len(finite):
        return "nowhere"
    return " to ".join(rows(np.stack([finite.min(axis=0), finite.max(axis=0)])))


def value_lines(label: str, value: Any) -> Iterator[str]:
    """Yield lines with everything in a value: an array, a list, or a dataclass of these; ``label``: the path to it."""
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
    """Yield the differences between two values as for `value_lines`; floats are compared bit by bit.

    ``word`` returns the text for a field's name in the path, ``entry`` the text for a list's entry and its index.
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
