"""NaN and infinite values of files: counted and warned about when a file is read, and kept as they are."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .report import Report

NOT_FINITE = "NaN or infinite values, exported unchanged unless edited"


def warn_not_finite(report: Report, place: str, *values: Any) -> int:
    """Warn if any of ``values`` is NaN or infinite, and return how many numbers are.

    Each of ``values`` is a number, an array, a structured array, or a dataclass, list or dict that holds such: of all
    of them only floats are looked at. ``place`` says where in the file they are, as users know it: ``vertices``,
    ``walk_0, timing``. Repeated places are folded by the report.
    """
    count = sum(not_finite(part) for value in values for part in _floats_in(value))
    if count:
        report.warn(NOT_FINITE, f"{place}: {count}")
    return count


def not_finite(values: NDArray[Any]) -> int:
    """How many numbers of an array, or of the float fields of a structured array, are NaN or infinite."""
    if values.dtype.names is not None:
        return sum(not_finite(values[name]) for name in values.dtype.names)
    if values.dtype.kind != "f":
        return 0
    return values.size - int(np.count_nonzero(np.isfinite(values)))


@np.errstate(invalid="ignore")  # signalling NaNs of broken files
def as_in_file(held: NDArray[Any], base: NDArray[Any]) -> NDArray[np.float32]:
    """``held`` as 32-bit floats, with the bits of ``base`` where it still is what Blender's properties make of it.

    Properties hold infinity as the largest 32-bit number. Shapes must be equal.
    """
    ours = np.asarray(held, np.float32)
    limit = np.finfo(np.float32).max
    shown = np.clip(base, -limit, limit)
    result: NDArray[np.float32] = np.where((ours == shown) | (np.isnan(ours) & np.isnan(shown)), base, ours)
    return result


def _floats_in(value: Any) -> Iterator[NDArray[Any]]:
    """The arrays and lone floats of a value, as arrays. Nesting is bounded by the classes of the value."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, float | np.floating):
        yield np.asarray(value)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _floats_in(part)
    elif isinstance(value, dict):
        yield from _floats_in(list(value.values()))
    elif dataclasses.is_dataclass(value):
        for part in dataclasses.fields(value):
            yield from _floats_in(getattr(value, part.name))
