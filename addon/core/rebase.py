"""Edited values over imported ones: which row of the file each row is, which keep their bits, and what is refused.

What `quantum` calls unedited keeps the bits of the base (the imported file), whatever is added or removed around it.
Everything else is new, and no new number may be NaN or infinite; those of a damaged file stay.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import quantum
from .errors import WriteError
from .mesh_parts import first_of_each

_LAST = np.iinfo(np.int64).max


def sources(stored: NDArray[Any] | None, count: int, base_count: int, *, unique: bool = False) -> NDArray[np.int64]:
    """(count,) the base's row of each row, -1 for new ones.

    ``stored`` (count,) are the rows remembered since the import; without them rows are in order if they are as many.
    ``unique``: of several that remember one row only the first is that row, the others are copies and new.
    """
    if stored is None:
        return np.arange(count) if count == base_count else np.full(count, -1, np.int64)
    rows = stored.astype(np.int64)
    usable = (rows >= 0) & (rows < base_count)
    return np.where(usable & first_of_each(rows) if unique else usable, rows, -1)


@np.errstate(invalid="ignore")  # signalling NaNs of broken files
def kept(values: NDArray[np.float32], base: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """``values`` (rows, ...) with the bits of ``base`` where a whole row is unedited, and which rows (rows,) are not.

    Rows that are equal to the bit cost one comparison: that is nearly all of them, in meshes of millions.
    """
    if not values.size:
        return values, np.zeros(len(values), np.bool_)
    ours, theirs = (np.ascontiguousarray(side, np.float32).reshape(len(side), -1) for side in (values, base))
    differ = ours.view(np.int32) != theirs.view(np.int32)
    touched: NDArray[np.bool_] = functools.reduce(np.logical_or, differ.T)
    result = ours
    rows = np.flatnonzero(touched)
    if len(rows):
        near = rows[quantum.untouched(ours[rows], theirs[rows].astype(np.float64)).all(axis=1)]
        result = ours.copy()
        result[near] = theirs[near]
        touched[near] = False
    return result.reshape(values.shape), touched


def over(
    values: NDArray[Any],
    base: NDArray[Any],
    source: NDArray[np.int64],
    shown: tuple[NDArray[Any], NDArray[Any]] | None = None,
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """``values`` (n, ...) with the bits of ``base[source]`` where a row is unedited, and (n,) which are edited or new.

    ``shown`` are compared instead of values and base, where converting them there and back costs the last bit.
    """
    mine, theirs = (values, base) if shown is None else shown
    known = np.flatnonzero(source >= 0)
    result, changed = values.copy(), np.ones(len(values), np.bool_)
    unedited, changed[known] = kept(mine[known], theirs[source[known]])
    if shown is None:
        result[known] = unedited
    else:
        same = known[~changed[known]]
        result[same] = base[source[same]]
    return result, changed


def differ(values: NDArray[Any], base: NDArray[Any], step: float = 0.0) -> NDArray[np.bool_]:
    """(n,) which rows (n, width) are not those of the base, of which a component may be ``step`` away."""
    result: NDArray[np.bool_] = np.logical_not(quantum.untouched(values, base, 2 * step).all(axis=1))
    return result


def normals_differ(values: NDArray[Any], base: NDArray[Any], step: float) -> NDArray[np.bool_]:
    """(n,) which normals (n, 3) are neither the base's nor these normalised: Blender returns them so."""
    length = np.linalg.norm(base.astype(np.float64), axis=1, keepdims=True)
    unit = base / np.where(length > 0, length, 1.0)
    return differ(values, base, step) & differ(values, unit, step)


def refuse_not_finite(what: str, remedy: str, *values: NDArray[Any]) -> None:
    """Raise `WriteError` with ``what`` (``a vertex of 'hull' has a``) if new numbers are NaN or infinite."""
    if not all(np.isfinite(numbers).all() for numbers in values):
        raise WriteError(what, remedy=remedy)


@dataclass(frozen=True, eq=False)
class Rows:
    """How rows of a mesh correspond to those of the base if the file's order is kept and new rows come last.

    ``order`` (n,) the mesh's rows in file order; ``source`` (n,) the base's row or -1, in file order; ``index`` (n,)
    the row in the file of each row of the mesh; ``of_base`` (base,) that of each row of the base, -1 if removed.
    """

    order: NDArray[np.int64]
    source: NDArray[np.int64]
    index: NDArray[np.int64]
    of_base: NDArray[np.int64]

    @staticmethod
    def of(stored: NDArray[Any] | None, count: int, base_count: int) -> Rows:
        """As `sources` finds them, each row of the base once."""
        rows = sources(stored, count, base_count, unique=True)
        order = np.argsort(np.where(rows < 0, _LAST, rows), kind="stable")
        index = np.empty(count, np.int64)
        index[order] = np.arange(count)
        of_base = np.full(base_count, -1, np.int64)
        of_base[rows[rows >= 0]] = index[rows >= 0]
        return Rows(order, rows[order], index, of_base)

    @property
    def known(self) -> NDArray[np.int64]:
        """The rows in the file that the base has too."""
        found: NDArray[np.int64] = np.flatnonzero(self.source >= 0)
        return found
