"""Comparison of edited rows (vertices, faces) with the rows of the imported file: which rows correspond, which keep
their bits, and which values are refused.

Rows that are unedited in the sense of `quantum` keep the bits of the base (the imported file), whatever is added or
removed around them. All other rows are new. New values must not be NaN or infinite; those of a damaged file stay.
"""

from __future__ import annotations

import functools
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import quantum
from .errors import WriteError
from .mesh_parts import first_of_each
from .model import FILE_FACE, FILE_VERTEX, Attribute, Domain, PolygonMesh
from .polygons import row_groups

_LAST = np.iinfo(np.int64).max


def sources(stored: NDArray[Any] | None, count: int, base_count: int, *, unique: bool = False) -> NDArray[np.int64]:
    """(count,): the row of the base that each row was imported from, -1 for new rows.

    ``stored`` (count,): rows stored at import. Without them, rows correspond in order if their number is unchanged.
    ``unique``: if several rows have the same number, only the first one corresponds; the others are copies and count as
    new.
    """
    if stored is None:
        return np.arange(count) if count == base_count else np.full(count, -1, np.int64)
    rows = stored.astype(np.int64)
    usable = (rows >= 0) & (rows < base_count)
    return np.where(usable & first_of_each(rows) if unique else usable, rows, -1)


def are_all_in_order(source: NDArray[np.int64], base_count: int) -> bool:
    """Whether the rows with these `sources` are those of the base, none of them removed, moved or new: nearly always,
    and then nothing need be copied row by row.
    """
    return len(source) == base_count and bool((source == np.arange(base_count)).all())


def matched(rows: NDArray[Any], base: NDArray[Any]) -> NDArray[np.int64]:
    """(rows,): the row of ``base`` (n, width) that each of ``rows`` (rows, width) is, each once, -1 for new ones.

    Equal rows correspond, first those at the same index. A row that was edited is found by the row before it.
    """
    if not len(rows) or not len(base):
        return np.full(len(rows), -1, np.int64)
    ours, theirs = (np.ascontiguousarray(side).view(np.uint8).reshape(len(side), -1) for side in (rows, base))
    result, common = np.full(len(ours), -1, np.int64), min(len(ours), len(theirs))
    taken = np.zeros(len(theirs), np.bool_)

    def match(mine: NDArray[np.int64], partners: NDArray[np.int64]) -> None:
        result[mine], taken[partners] = partners, True

    same = np.flatnonzero((ours[:common] == theirs[:common]).all(axis=1))
    match(same, same)
    mine, free = np.flatnonzero(result < 0), np.flatnonzero(~taken)
    group = row_groups(np.concatenate([ours[mine], theirs[free]]).astype(np.int64))
    mine_of, free_of = (_ranked(part) for part in (group[: len(mine)], group[len(mine) :]))
    _, first, second = np.intersect1d(mine_of, free_of, return_indices=True)
    match(mine[first], free[second])
    known = np.maximum.accumulate(np.where(result >= 0, np.arange(len(ours)), -1))
    follows = np.arange(len(ours)) + np.where(known >= 0, result[known] - known, 0)
    left = np.flatnonzero((result < 0) & (follows >= 0) & (follows < len(theirs)))
    left = left[~taken[follows[left]]]
    partners, first = np.unique(follows[left], return_index=True)
    match(left[first], partners)
    return result


def _ranked(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """(n,): a number for each group and how often it occurred before, the same for the n-th row of a group anywhere."""
    order = np.argsort(groups, kind="stable")
    ordered = groups[order]
    begins = np.flatnonzero(np.diff(ordered, prepend=-1))
    rank = np.arange(len(groups)) - np.repeat(begins, np.diff(np.append(begins, len(groups))))
    result = np.empty(len(groups), np.int64)
    result[order] = ordered << 32 | rank
    return result


def named_or_in_order(names: Sequence[str], base: Sequence[str]) -> list[int]:
    """Return the index in ``base`` of each of ``names``: of an equal one, else of a free one at its index, else -1."""
    waiting: dict[str, deque[int]] = defaultdict(deque)
    for number, name in enumerate(base):
        waiting[name].append(number)
    own_sources = [waiting[name].popleft() if waiting[name] else -1 for name in names]
    free = {number for numbers in waiting.values() for number in numbers}
    return [number if source < 0 and number in free else source for number, source in enumerate(own_sources)]


def follow(mesh: PolygonMesh, base: PolygonMesh, vertex: NDArray[np.int64] | None = None) -> None:
    """Let `FILE_VERTEX` and `FILE_FACE` of a mesh be rows of another file, whose mesh is ``base``.

    ``vertex``: the vertex of the base that each is; by default as `matched` finds them by their positions.
    """
    vertex = matched(mesh.positions, base.positions) if vertex is None else vertex
    width = int(max(mesh.counts.max(initial=0), base.counts.max(initial=0)))
    tables = [_padded(mesh, vertex, width), _padded(base, np.arange(len(base.positions)), width)]
    for name, domain, source in (
        (FILE_VERTEX, Domain.VERTEX, vertex),
        (FILE_FACE, Domain.FACE, matched(*tables)),
    ):
        rows = np.append(base.attributes[name].values, -1)  # the last one for -1
        mesh.attributes[name] = Attribute(domain, rows[source].astype(np.int32))


def _padded(mesh: PolygonMesh, number: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """(faces, width): the ``number`` of each vertex of each face, -2 behind the last."""
    inside = np.arange(width) < mesh.counts[:, None]
    result = np.full(inside.shape, -2, np.int64)
    result[inside] = number[mesh.corners]
    return result


@np.errstate(invalid="ignore")  # signalling NaNs in broken files
def restore_unedited(
    values: NDArray[np.float32], base: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Return ``values`` (rows, ...) with the bits of ``base`` in every row that is unedited, and a mask (rows,) of the
    edited rows.

    Rows with equal bits cost only one comparison. In meshes with millions of rows nearly all are such.
    """
    if not values.size:
        return values, np.zeros(len(values), np.bool_)
    ours, theirs = (np.ascontiguousarray(side, np.float32).reshape(len(side), -1) for side in (values, base))
    differ = ours.view(np.int32) != theirs.view(np.int32)
    edited = in_any_column(differ)
    result = ours
    rows = np.flatnonzero(edited)
    if len(rows):
        near = rows[~in_any_column(~quantum.unedited(ours[rows], theirs[rows].astype(np.float64)))]
        result = ours.copy()
        result[near] = theirs[near]
        edited[near] = False
    return result.reshape(values.shape), edited


def in_any_column(flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(n,): whether a flag (n, columns) is set in any column. Faster than numpy's `any` along few columns."""
    result: NDArray[np.bool_] = functools.reduce(np.logical_or, flags.T)
    return result


def restore_from_sources(
    values: NDArray[Any],
    base: NDArray[Any],
    source: NDArray[np.int64],
    seen: tuple[NDArray[Any], NDArray[Any]] | None = None,
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return ``values`` (n, ...) with the bits of ``base[source]`` in every row that is unedited, and a mask (n,) of
    the edited and new rows.

    ``seen``: values and base as shown in Blender, to be compared instead if conversion there and back is not exact.
    """
    mine, theirs = (values, base) if seen is None else seen
    if are_all_in_order(source, len(theirs)):
        unedited, changed = restore_unedited(mine, theirs)
        if seen is not None:
            unedited = np.where(changed.reshape(-1, *[1] * (values.ndim - 1)), values, base)
        return unedited.astype(values.dtype, copy=False), changed
    known = np.flatnonzero(source >= 0)
    result, changed = values.copy(), np.ones(len(values), np.bool_)
    unedited, changed[known] = restore_unedited(mine[known], theirs[source[known]])
    if seen is None:
        result[known] = unedited
    else:
        same = known[~changed[known]]
        result[same] = base[source[same]]
    return result, changed


def differ(values: NDArray[Any], base: NDArray[Any], step: float = 0.0) -> NDArray[np.bool_]:
    """(n,): which rows (n, width) differ from the base by more than ``step`` in a component."""
    return in_any_column(~quantum.unedited(values, base, 2 * step))


def normals_differ(values: NDArray[Any], base: NDArray[Any], step: float) -> NDArray[np.bool_]:
    """(n,): which normals (n, 3) equal neither the base nor the normalised base, which is what Blender returns."""
    length = np.linalg.norm(base.astype(np.float64), axis=1, keepdims=True)
    unit = base / np.where(length > 0, length, 1.0)
    return differ(values, base, step) & differ(values, unit, step)


def refuse_not_finite(what: str, remedy: str, *values: NDArray[Any]) -> None:
    """Raise `WriteError` with the sentence ``what`` (``a vertex of 'hull' has a NaN …``) if new values are NaN or
    infinite.
    """
    if not all(np.isfinite(numbers).all() for numbers in values):
        raise WriteError(what, remedy=remedy)


@dataclass(frozen=True, eq=False)
class Rows:
    """Correspondence of the rows of a mesh and of the base if the file's order is kept and new rows are appended.

    ``order`` (n,): the mesh's rows in file order; ``source`` (n,): the base's row of each, in file order, or -1;
    ``index`` (n,): the row in the file of each row of the mesh; ``of_base`` (base,): the row in the file of each row of
    the base, -1 if removed.
    """

    order: NDArray[np.int64]
    source: NDArray[np.int64]
    index: NDArray[np.int64]
    of_base: NDArray[np.int64]

    @staticmethod
    def of(stored: NDArray[Any] | None, count: int, base_count: int) -> Rows:
        """Return the correspondence that `sources` finds, using each row of the base once."""
        rows = sources(stored, count, base_count, unique=True)
        if are_all_in_order(rows, base_count):
            return Rows(rows, rows, rows, rows)
        order = np.argsort(np.where(rows < 0, _LAST, rows), kind="stable")
        index = np.empty(count, np.int64)
        index[order] = np.arange(count)
        of_base = np.full(base_count, -1, np.int64)
        of_base[rows[rows >= 0]] = index[rows >= 0]
        return Rows(order, rows[order], index, of_base)

    @property
    def known(self) -> NDArray[np.int64]:
        """Rows in the file that are also in the base."""
        result: NDArray[np.int64] = np.flatnonzero(self.source >= 0)
        return result
