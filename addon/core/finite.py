"""NaN and infinite values of files: counted and warned about when a file is read, and kept as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .report import Report

NOT_FINITE = "NaN or infinite values, exported unchanged unless edited"


def warn_not_finite(report: Report, place: str, *values: NDArray[Any] | np.float32 | float) -> int:
    """Warn if any of ``values`` is NaN or infinite, and return how many numbers are.

    Each of ``values`` is a number or an array of any shape; of a structured array all float fields are looked at, of
    an array of integers nothing. ``place`` says where in the file they are, as users know it: ``vertices``,
    ``walk_0, timing``. Repeated places are folded by the report.
    """
    count = sum(not_finite(np.asarray(part)) for part in values)
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
