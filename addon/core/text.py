"""Arrays and runs of bytes as text, one row per line; and in one line, in what two of them differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import names
from .report import counted

FEW = 16
"""Number of values that are written in one line, and shown completely if they differ."""
_BLOCK = 1 << 14
"""Rows that are converted to text at a time: numpy's texts take many times the memory of the numbers."""
_MOST_COLUMNS = 8
"""Number of columns up to which the first row that differs is written."""


class Rows(NamedTuple):
    """An array or a list with what a row is (``frame``) and the ``unit`` of its numbers; ``first``: number of the first
    row.

    ``counted``: another value says how many rows there are, which is then not repeated here.
    """

    values: NDArray[Any] | Sequence[str]
    noun: str = ""
    unit: str = ""
    first: int = 0
    counted: bool = False


def scalar(value: Any) -> str:
    """Return one value as text. For a float: the shortest text that identifies this float32."""
    if isinstance(value, np.floating):
        # The text of all NaNs is the same, so their bits are written too.
        return f"nan:{value.tobytes().hex()}" if np.isnan(value) else str(value)
    if isinstance(value, bytes):
        return repr(names.decode(value))
    if isinstance(value, memoryview):
        return bytes(value).hex() or "-"
    return "-" if value is None else str(value)


def row(values: NDArray[Any]) -> str:
    """Return the text of one row (columns,)."""
    return rows(values[None])[0]


def rows(values: NDArray[Any]) -> list[str]:
    """Return the text of each of (rows, columns)."""
    texts = values.astype(str)
    if values.dtype.kind == "f" and np.isnan(values).any():
        texts = texts.astype(object)
        for index in zip(*np.nonzero(np.isnan(values)), strict=True):
            texts[index] = scalar(values[index])
    return [" ".join(row) for row in texts.tolist()]


def array_lines(label: str, values: NDArray[Any], first: int = 0) -> Iterator[str]:
    """Yield lines with every value of an array or structured array, each line with its index, which begins at
    ``first``.
    """
    if values.dtype.names:
        flat = values.ravel()
        columns = list(_columns(flat))
        yield f"{label} count {len(flat)}: {' | '.join(name.strip() for name, _ in columns)}"
        for start in range(0, len(flat), _BLOCK):
            blocks = [column[start : start + _BLOCK] for _, column in columns]
            texts = [rows(block.reshape(len(block), -1)) for block in blocks]
            for number, cells in enumerate(zip(*texts, strict=True), first + start):
                yield f"{label} {number} {' | '.join(cells)}"
    elif values.ndim == 1 and len(values) > FEW:
        yield f"{label} count {len(values)}"
        whole = len(values) // 3 * 3
        for number, row in enumerate(_rows_in_blocks(values[:whole].reshape(-1, 3))):
            yield f"{label} {first + 3 * number} {row}"
        if whole < len(values):
            yield f"{label} {first + whole} {rows(values[None, whole:])[0]}"
    elif values.ndim <= 1:
        yield f"{label} {rows(values.reshape(1, -1))[0]}"
    elif not values.size:
        yield f"{label} count {' x '.join(map(str, values.shape))}"
    else:
        for number, row in enumerate(_rows_in_blocks(values.reshape(len(values), -1)), first):
            yield f"{label} {number} {row}"


def _columns(values: NDArray[Any], name: str = "") -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield the columns of a structured array, also of those inside, each with its name after a space."""
    if values.dtype.names is None:
        yield name, values
    for inner in values.dtype.names or ():
        yield from _columns(values[inner], f"{name} {inner.replace('_', ' ')}")


def _rows_in_blocks(values: NDArray[Any]) -> Iterator[str]:
    for start in range(0, len(values), _BLOCK):
        yield from rows(values[start : start + _BLOCK])


def array_differences(where: str, a: NDArray[Any], b: NDArray[Any], kind: Rows | None = None) -> Iterator[str]:
    """Yield a line for each field in which two arrays differ: how many rows do, the first that does, and the largest
    difference between floats or numbers with a unit. Compared bit by bit. Arrays of different lengths are compared as
    far as the shorter one goes.
    """
    if a.dtype != b.dtype or a.shape[1:] != b.shape[1:]:
        fields = [" ".join(values.dtype.names or (str(values.dtype),)) for values in (a, b)]
        layout = f", {fields[0]} / {fields[1]}" if a.dtype != b.dtype else ""
        counts = [" x ".join(map(str, values.shape)) for values in (a, b)]
        yield line(where, f"{' / '.join(counts)}{layout}")
        return
    common = min(len(a), len(b))
    is_longer = len(a) != len(b)
    if is_longer and not (kind is not None and kind.counted):
        length = counted(len(b), kind.noun) if kind is not None and kind.noun else str(len(b))
        yield line(where, f"{len(a)} / {length}")
    for (name, mine), (_, theirs) in zip(_columns(a[:common]), _columns(b[:common]), strict=True):
        if mine.tobytes() != theirs.tobytes():
            what = _which_differ(mine, theirs, kind or Rows(a), "the common " if is_longer else "")
            yield line(f"{where}{name}", what)


def line(where: str, what: str) -> str:
    """Return a difference with the ``where`` that it is at, if that has a name."""
    return f"{where.lstrip()}: {what}" if where else what


def _which_differ(mine: NDArray[Any], theirs: NDArray[Any], kind: Rows, common: str) -> str:
    if mine.size <= FEW and not kind.noun and not common:
        return f"{rows(mine.reshape(1, -1))[0]} / {rows(theirs.reshape(1, -1))[0]}"
    before, after = (np.ascontiguousarray(values).reshape(len(values), -1) for values in (mine, theirs))
    # Compared bit by bit: NaN is equal to itself, 0 and -0 differ.
    own_rows = np.flatnonzero((before.view(np.uint8) != after.view(np.uint8)).any(axis=1))
    first = own_rows[0]
    pair = f"{rows(before[[first]])[0]} / {rows(after[[first]])[0]}" if before.shape[1] <= _MOST_COLUMNS else ""
    gap = (
        ""
        if len(own_rows) == 1 and pair and not kind.unit
        else _largest_gap(before[own_rows], after[own_rows], kind.unit)
    )
    if len(own_rows) == 1 and kind.noun and not common:
        return f"{kind.noun} {first + kind.first}{f': {pair}' if pair else ''}{gap}"
    total = counted(len(before), kind.noun) if kind.noun else str(len(before))
    where = f"{len(own_rows)} of {common}{total} differ, first {first + kind.first}"
    return f"{where}{f': {pair}' if pair else ''}{gap}"


def _largest_gap(before: NDArray[Any], after: NDArray[Any], unit: str) -> str:
    if before.dtype.kind != "f" and not unit:
        return ""
    with np.errstate(invalid="ignore", over="ignore"):
        gaps = np.abs(before.astype(np.float64) - after.astype(np.float64))
    largest = float(np.max(gaps, where=np.isfinite(gaps), initial=0.0))
    text = f"{largest:.3g}" if before.dtype.kind == "f" else str(int(largest))
    return f", by at most {text} {unit}".rstrip() if largest else ""


def run_difference(where: str, before: bytes, after: bytes) -> Iterator[str]:
    """Yield a line for two different runs of bytes: both if they are short, else how many bytes differ."""
    if before == after:
        return
    if max(len(before), len(after)) <= FEW:
        yield f"{where}: {before.hex() or '-'} / {after.hex() or '-'}"
    elif len(before) != len(after):
        yield f"{where}: {len(before)} / {counted(len(after), 'byte')}"
    else:
        offsets = np.flatnonzero(np.frombuffer(before, np.uint8) != np.frombuffer(after, np.uint8))
        yield f"{where}: {len(offsets)} of {counted(len(before), 'byte')} differ, first {offsets[0]}"


def sequence_difference(
    where: str, before: Sequence[Any], after: Sequence[Any], kind: Rows | None = None
) -> Iterator[str]:
    """Yield a line for two different lists of numbers or texts: both if they are short, else how many entries differ
    between the equal ones at the start and at the end.
    """
    if list(before) == list(after):
        return
    if max(len(before), len(after)) <= FEW and kind is None:
        texts = [", ".join(map(scalar, side)) or "none" for side in (before, after)]
        yield f"{where}: {texts[0]} / {texts[1]}"
        return
    shorter = min(len(before), len(after))
    start = next((index for index in range(shorter) if before[index] != after[index]), shorter)
    same_end = next((back for back in range(shorter - start) if before[-1 - back] != after[-1 - back]), shorter - start)
    counts = len(before) - start - same_end, len(after) - start - same_end
    pair = f", first {scalar(before[start])} / {scalar(after[start])}" if all(counts) else ""
    yield f"{where} from {start + (kind.first if kind is not None else 0)}: {counts[0]} / {counts[1]} differ{pair}"


def extent(points: NDArray[Any]) -> str:
    """Return the lowest and highest corner of the finite points (n, 3), such as ``-1.0 0.0 2.0 to 4.0 0.5 3.0``."""
    finite = points[np.isfinite(points).all(axis=1)]
    if not len(finite):
        return "nowhere"
    return " to ".join(rows(np.stack([finite.min(axis=0), finite.max(axis=0)])))
