"""The rule for unedited values: when does a value that was imported and exported still equal that of the file?

A file stores integers with a scale and an offset, or 32-bit floats; Blender keeps 32-bit floats. A value is unedited
when rounding it with the file's own scale gives the file's own integer, that is when it lies within half a quantum of
what the integer decodes to. Where the quantum is finer than a 32-bit float at that magnitude (a tiny range on a large
offset, a quantum of zero, a plain float), four units in the last place are allowed instead.

Values must come as stored: normalising a quaternion first would move nearly a third of its components by one step.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

KEYED = 0.5
"""Steps allowed for values read from keys."""
SAMPLED = 1.0
"""Steps allowed for values sampled from an evaluated pose (constraints, drivers), which carry its rounding."""
ULPS = 4.0
LARGEST = float(np.finfo(np.float32).max)
LARGEST_ULP = 2.0**104
"""That of the largest 32-bit float, behind which there is only infinity."""
_FOUR_TRUE = np.uint32(0x0101_0101)
"""Four truth values read as one number, which is many times as fast as numpy's reduction of short rows."""


def tolerance(magnitude: NDArray[Any], quantum: NDArray[Any] | float, steps: float = KEYED) -> Floats:
    """How far a value may lie from the file's: ``steps`` quanta, or 4 ulp of a float32 of this magnitude."""
    # What a float32 cannot hold (sums of huge values, in broken files) has the ulp of the largest.
    with np.errstate(over="ignore", invalid="ignore"):
        spacing = np.spacing(np.minimum(np.abs(magnitude), LARGEST).astype(np.float32)).astype(np.float64)
    finite = np.isfinite(spacing).all()
    ulp = spacing if finite else np.nan_to_num(spacing, nan=0.0, posinf=LARGEST_ULP)
    # A step that is NaN, of a broken file, allows for nothing.
    result: Floats = np.fmax(np.abs(np.asarray(quantum, np.float64)) * steps, ULPS * ulp)
    return result


def untouched(
    values: NDArray[Any],
    base: NDArray[Any],
    quantum: NDArray[Any] | float = 0.0,
    *,
    steps: float = KEYED,
    magnitude: NDArray[Any] | None = None,
) -> NDArray[np.bool_]:
    """Which ``values`` still mean ``base`` (what the file decodes to), element by element.

    ``quantum`` is the file's step, broadcast against both; 0 for plain floats. ``magnitude`` is the size of the numbers
    the value was computed from, where that is larger than the value (a sum or a rotated vector); default ``base``.
    An infinity or a NaN of a damaged file is unedited if it still is one.
    """
    reach = tolerance(base if magnitude is None else magnitude, quantum, steps)
    exact = np.asarray(values, np.float64)
    with np.errstate(invalid="ignore"):
        near: NDArray[np.bool_] = np.asarray(np.abs(exact - base) <= reach)
    if not np.isfinite(base).all():
        near |= (exact == base) | (np.isnan(exact) & np.isnan(base))
    return near


def untouched_rotations(
    values: NDArray[Any], base: NDArray[Any], quantum: NDArray[Any] | float, *, steps: float = KEYED
) -> NDArray[np.bool_]:
    """Which quaternions (..., 4) still mean ``base``; q and -q are the same rotation. Shape (...).

    A quaternion of a damaged file that holds an infinity or a NaN is unedited if it still holds one.
    """
    reach = np.maximum(np.asarray(quantum, np.float64) * steps, ULPS * float(np.spacing(np.float32(1))))
    with np.errstate(invalid="ignore"):  # infinities of broken files
        signs = np.where(np.einsum("...i,...i->...", values, base) < 0, -1.0, 1.0)
        near = np.ascontiguousarray(np.abs(values * signs[..., None] - base) <= reach)
    result: NDArray[np.bool_] = near.view(np.uint32)[..., 0] == _FOUR_TRUE
    if not np.isfinite(base).all():
        result |= ~np.isfinite(base).all(axis=-1) & ~np.isfinite(values).all(axis=-1)
    return result


def of_rows(values: NDArray[Any], operation: np.ufunc) -> NDArray[Any]:
    """``operation.reduce(values, axis=-1)`` of short rows (..., n), n at least 1, which numpy does one by one."""
    result: NDArray[Any] = functools.reduce(operation, np.moveaxis(values, -1, 0))
    return result


def quantised(values: NDArray[Any], scale: NDArray[Any] | float, offset: NDArray[Any] | float = 0.0) -> Floats:
    """Nearest whole numbers of ``(values - offset) / scale``; 0 where the scale is 0. Not clamped."""
    divisor = np.asarray(scale, np.float64)
    shifted = np.asarray(values, np.float64) - offset
    scaled = divisor != 0
    if scaled.all():
        shifted = shifted / divisor
    else:
        shifted = np.divide(shifted, divisor, out=np.zeros_like(shifted), where=scaled)
    result: Floats = np.rint(shifted)
    return result
