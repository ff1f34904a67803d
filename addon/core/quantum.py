"""The rule for unedited values: a value that was imported and is exported again, does it still equal the file's value?

A file stores integers with a scale and an offset, or 32-bit floats; Blender stores 32-bit floats. A value is unedited
if quantising it with the file's scale gives the file's integer, that is, if it differs by at most half a quantum from
the value that the integer decodes to. If the quantum is finer than a 32-bit float of that magnitude (a tiny range on a
large offset, a quantum of zero, a plain float), a difference of four units in the last place (ulp) is allowed instead.

Values must be passed as stored: normalising a quaternion first would change nearly a third of its components by one
quantum.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

KEYED = 0.5
"""Quanta by which a value read from keyframes may differ."""
SAMPLED = 1.0
"""Quanta by which a value sampled from an evaluated pose (constraints, drivers) may differ; it has rounding errors."""
ULPS = 4.0
LARGEST = float(np.finfo(np.float32).max)
LARGEST_ULP = 2.0**104
"""Ulp of the largest finite 32-bit float. NumPy's spacing for it is infinite."""
_FOUR_TRUE = np.uint32(0x0101_0101)
"""Four booleans as one 32-bit number. Comparing these is many times as fast as numpy's `all` over an axis of four."""


def tolerance(magnitude: NDArray[Any], quantum: NDArray[Any] | float, steps: float = KEYED) -> Floats:
    """Return the allowed difference from the file's value: ``steps`` quanta, or 4 ulp of a float32 of this magnitude if
    larger.
    """
    # Values beyond float32 (sums of huge values in broken files) get the ulp of the largest float32.
    with np.errstate(over="ignore", invalid="ignore"):
        spacing = np.spacing(np.minimum(np.abs(magnitude), LARGEST).astype(np.float32)).astype(np.float64)
    finite = np.isfinite(spacing).all()
    ulp = spacing if finite else np.nan_to_num(spacing, nan=0.0, posinf=LARGEST_ULP)
    # A quantum that is NaN, in a broken file, adds no tolerance.
    result: Floats = np.fmax(np.abs(np.asarray(quantum, np.float64)) * steps, ULPS * ulp)
    return result


def unedited(
    values: NDArray[Any],
    base: NDArray[Any],
    quantum: NDArray[Any] | float = 0.0,
    *,
    steps: float = KEYED,
    magnitude: NDArray[Any] | None = None,
) -> NDArray[np.bool_]:
    """Return which ``values`` are unedited: equal to ``base`` (the file's decoded values) within `tolerance`, element
    by element.

    ``quantum``: the file's quantum, broadcast against both; 0 for plain floats. ``magnitude``: size of the numbers that
    the value was computed from, if larger than the value (a sum or a rotated vector); default ``base``. An infinity or
    NaN of a damaged file is unedited if it still is one.
    """
    allowed = tolerance(base if magnitude is None else magnitude, quantum, steps)
    exact = np.asarray(values, np.float64)
    with np.errstate(invalid="ignore"):
        near: NDArray[np.bool_] = np.asarray(np.abs(exact - base) <= allowed)
    if not np.isfinite(base).all():
        near |= (exact == base) | (np.isnan(exact) & np.isnan(base))
    return near


def unedited_rotations(
    values: NDArray[Any], base: NDArray[Any], quantum: NDArray[Any] | float, *, steps: float = KEYED
) -> NDArray[np.bool_]:
    """(...): which quaternions (..., 4) are unedited, that is, equal to ``base`` or its negative, which is the same
    rotation.

    A quaternion of a damaged file that contains an infinity or NaN is unedited if it still contains one.
    """
    allowed = np.maximum(np.asarray(quantum, np.float64) * steps, ULPS * float(np.spacing(np.float32(1))))
    with np.errstate(invalid="ignore"):  # infinities in broken files
        signs = np.where(np.einsum("...i,...i->...", values, base) < 0, -1.0, 1.0)
        near = np.ascontiguousarray(np.abs(values * signs[..., None] - base) <= allowed)
    result: NDArray[np.bool_] = near.view(np.uint32)[..., 0] == _FOUR_TRUE
    if not np.isfinite(base).all():
        result |= ~np.isfinite(base).all(axis=-1) & ~np.isfinite(values).all(axis=-1)
    return result


def reduce_rows(values: NDArray[Any], operation: np.ufunc) -> NDArray[Any]:
    """Return ``operation.reduce(values, axis=-1)`` for short rows (..., n), n at least 1. NumPy reduces short rows
    slowly.
    """
    result: NDArray[Any] = functools.reduce(operation, np.moveaxis(values, -1, 0))
    return result


def quantised(values: NDArray[Any], scale: NDArray[Any] | float, offset: NDArray[Any] | float = 0.0) -> Floats:
    """Return the integers nearest to ``(values - offset) / scale``, as floats; 0 where the scale is 0. Not clamped."""
    divisor = np.asarray(scale, np.float64)
    shifted = np.asarray(values, np.float64) - offset
    scaled = divisor != 0
    if scaled.all():
        shifted = shifted / divisor
    else:
        shifted = np.divide(shifted, divisor, out=np.zeros_like(shifted), where=scaled)
    result: Floats = np.rint(shifted)
    return result
