"""NaN and infinite values of files: counted and warned about when a file is read, and kept as they are."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .report import Report

_WITHOUT_FLOATS = {"int", "int | None", "bool", "str", "bytes", "list[bytes]", "list[str]"}
"""Declarations of fields; modules of dataclasses postpone their annotations, which are texts then."""
_FEW = 64
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

    Properties hold infinity as the largest 32-bit number. Shapes must be equal.
    """
    ours = np.asarray(held, np.float32)
    limit = np.finfo(np.float32).max
    shown = np.clip(base, -limit, limit)
    result: NDArray[np.float32] = np.where((ours == shown) | (np.isnan(ours) & np.isnan(shown)), base, ours)
    return result


def count_not_finite(value: Any) -> int:
    """How many numbers in a value, as `warn_not_finite` takes it, are NaN or infinite."""
    if isinstance(value, np.ndarray):
        return not_finite(value)
    if isinstance(value, float | np.floating):
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
