"""Faces as flat arrays: polygons with any number of corners, and triangles.

For polygons: corners per face, reversed order of corners, normals, flatness. ``counts`` (faces,) is the number of
corners of each face; the corners of all faces are concatenated. For triangles: areas, repeated faces, merging of
vertices by distance, splitting vertices whose corners differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_QUIET = np.errstate(over="ignore", invalid="ignore")
"""Damaged files contain values that overflow; callers check the results."""


def bounds(points: NDArray[Any]) -> NDArray[Any]:
    """Return (2, 3) the lowest and the highest corner of the bounding box of points (n, 3), zeros without points."""
    # Along contiguous components: twenty times as fast as numpy's minimum along rows of three.
    across = np.ascontiguousarray(points.T)
    return np.stack([across.min(axis=1), across.max(axis=1)]) if len(points) else np.zeros((2, 3), points.dtype)


def starts(counts: NDArray[Any]) -> NDArray[np.int64]:
    """(faces,): index of the first corner of each face."""
    ends = np.cumsum(counts, dtype=np.int64)
    result: NDArray[np.int64] = ends - counts
    return result


def face_of_corner(counts: NDArray[Any]) -> NDArray[np.int64]:
    """(corners,): index of the face of each corner."""
    return np.repeat(np.arange(len(counts)), counts)


def corners_of(counts: NDArray[Any], faces: NDArray[Any]) -> NDArray[np.int64]:
    """Return the indices of the corners of these faces, face by face in the given order."""
    chosen = counts[faces]
    shift = np.repeat(starts(counts)[faces] - starts(chosen), chosen)
    result: NDArray[np.int64] = shift + np.arange(len(shift))
    return result


def by_value(values: NDArray[Any]) -> Iterator[NDArray[np.int64]]:
    """Yield (n,) the indices of equal ``values`` (rows,), in ascending order, for each value that occurs."""
    if len(values) and (values == values[0]).all():
        yield np.arange(len(values))
        return
    order = np.argsort(values, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(values[order])) + 1, len(order))
    for begin, end in pairwise([0, *ends.tolist()]):
        if begin < end:
            yield order[begin:end]


def by_size(counts: NDArray[Any]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield, for each number of corners that occurs, (n,) the faces with it and (number, n) the indices of their first
    corners, second corners, and so on.
    """
    first = starts(counts)
    for faces in by_value(counts):
        yield faces, first[faces] + np.arange(int(counts[faces[0]]))[:, None]


def reversed_corners(counts: NDArray[Any]) -> NDArray[np.int64]:
    """(corners,): order of corners that flips every face and keeps its first corner first: 0, n-1, ..., 1.

    Applied twice it is the original order.
    """
    first, number = starts(counts), counts.astype(np.int64)
    turned = np.repeat(2 * first + number, number)
    result: NDArray[np.int64] = turned - np.arange(len(turned))
    first = first[number > 0]
    result[first] = first
    return result


def all_in_face(flags: NDArray[np.bool_], counts: NDArray[Any]) -> NDArray[np.bool_]:
    """(faces,): whether ``flags`` (corners,) are set at every corner; true for a face without corners."""
    result = np.ones(len(counts), np.bool_)
    if not flags.all():
        result[face_of_corner(counts)[np.logical_not(flags)]] = False
    return result


_FEW = 4
"""Up to this many corners of a face are compared with each other; more are sorted first."""


def repeats_a_vertex(counts: NDArray[Any], corners: NDArray[Any]) -> NDArray[np.bool_]:
    """(faces,): whether two corners of a face have the same vertex."""
    result = np.zeros(len(counts), np.bool_)
    for faces, index in by_size(counts):
        vertices = corners[index]
        neighbours = combinations(vertices, 2) if len(vertices) <= _FEW else pairwise(np.sort(vertices, axis=0))
        for before, after in neighbours:
            result[faces] |= before == after
    return result


@_QUIET
def normals(positions: NDArray[Any], counts: NDArray[Any], corners: NDArray[Any]) -> Floats:
    """(faces, 3): unit normals by the sum over edges (Newell's method), correct for faces that are not flat; 0 without
    area.
    """
    across = np.ascontiguousarray(positions.T, np.float64)
    result = np.zeros((len(counts), 3))
    for faces, index in by_size(counts):
        result[faces] = _unit_normals(_taken(across, corners[index])).T
    return result


def _taken(across: Floats, index: NDArray[Any]) -> Floats:
    """(3, ...): the columns of ``across`` (3, n) at ``index`` (...), row by row, which is twice as fast in numpy."""
    return np.stack([row[index] for row in across])


def _unit_normals(points: Floats) -> Floats:
    """(3, n): unit normals of the faces with these ``points`` (3, corners, n)."""
    # Relative to each face's first corner, to keep precision far from the origin. Its two edges thus add nothing.
    relative = points[:, 1:] - points[:, :1]
    total = crossed(relative[:, :-1], relative[:, 1:]).sum(axis=1)
    length = lengths(total)
    result: Floats = np.divide(total, length, out=np.zeros_like(total), where=length > 0)
    return result


def crossed(a: Floats, b: Floats) -> Floats:
    """(3, ...): the cross products of vectors (3, ...)."""
    (ax, ay, az), (bx, by, bz) = a, b
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])


def lengths(vectors: Floats) -> Floats:
    """(...): the lengths of vectors (3, ...)."""
    x, y, z = vectors
    result: Floats = np.sqrt(x * x + y * y + z * z)
    return result


def next_corners(counts: NDArray[Any]) -> NDArray[np.int64]:
    """(corners,): index of the next corner of the same face; the first corner follows the last."""
    ends = np.cumsum(counts, dtype=np.int64)[counts > 0]
    result = np.arange(1, int(ends[-1]) + 1 if len(ends) else 1)
    result[ends - 1] = starts(counts)[counts > 0]
    return result


@dataclass(frozen=True, eq=False)
class Outlines:
    """``normals`` (faces, 3) as of `normals`; ``distances`` (faces,): largest distance of a corner from the plane
    through the centre of the face; ``concave`` (faces,): whether it turns inwards at a corner, by more than rounding.
    """

    normals: Floats
    distances: Floats
    concave: NDArray[np.bool_]


@_QUIET
def outlines(positions: NDArray[Any], counts: NDArray[Any], corners: NDArray[Any]) -> Outlines:
    """Return the shapes of faces. Triangles are flat and convex."""
    across = np.ascontiguousarray(positions.T, np.float64)
    result = Outlines(np.zeros((len(counts), 3)), np.zeros(len(counts)), np.zeros(len(counts), np.bool_))
    for faces, index in by_size(counts):
        points = _taken(across, corners[index])
        unit = _unit_normals(points)
        result.normals[faces] = unit.T
        if len(index) <= 3:
            continue
        x, y, z = unit
        (px, py, pz), center = points, points.sum(axis=1) / len(index)
        away = (px - center[0]) * x + (py - center[1]) * y + (pz - center[2]) * z
        result.distances[faces] = np.abs(away).max(axis=0)
        edge = np.diff(points[:, [*range(len(index)), 0, 1]], axis=1)
        (ax, ay, az), (bx, by, bz) = edge[:, :-1], edge[:, 1:]
        bend = (ay * bz - az * by) * x + (az * bx - ax * bz) * y + (ax * by - ay * bx) * z
        inwards = np.flatnonzero((~(bend >= 0)).any(axis=0))
        size = lengths(edge[:, :, inwards])
        result.concave[faces[inwards]] = (~(bend[:, inwards] >= -1e-4 * size[:-1] * size[1:])).any(axis=0)
    return result


# Triangles ------------------------------------------------------------------------------------------------------------

_ROUNDS = 32
"""How often near points are assigned at most. Each round assigns whole neighbourhoods; only a long chain needs more."""
_FARTHEST_CELL = float(1 << 40)
_BLOCK = 1 << 14
_HASHINGS = 16
_MOST_BITS = 62
_ODD = np.uint64(0x9E3779B97F4A7C15)
"""2^64 divided by the golden ratio. Multiplying by it spreads neighbouring numbers far apart."""


# Damaged files contain values that overflow; callers check for areas that are NaN or infinite.
@np.errstate(over="ignore", invalid="ignore")
def areas(positions: NDArray[Any], triangles: NDArray[Any]) -> NDArray[np.float64]:
    """(faces,): areas, NaN if a corner is NaN or infinite. Every corner must be the index of a vertex."""
    result = np.empty(len(triangles), np.float64)
    # Component by component, in blocks that fit into the processor's cache: three times as fast for millions of faces.
    x, y, z = np.ascontiguousarray(positions.T)
    for start in range(0, len(triangles), _BLOCK):
        block = slice(start, start + _BLOCK)
        a, b, c = triangles[block].T.astype(np.intp)
        ax, ay, az = (values[a].astype(np.float64) for values in (x, y, z))
        px, py, pz = x[b] - ax, y[b] - ay, z[b] - az
        qx, qy, qz = x[c] - ax, y[c] - ay, z[c] - az
        result[block] = np.sqrt((py * qz - pz * qy) ** 2 + (pz * qx - px * qz) ** 2 + (px * qy - py * qx) ** 2) / 2
    return result


@np.errstate(over="ignore", invalid="ignore")
def without_area(positions: NDArray[Any], triangles: NDArray[Any]) -> NDArray[np.int64]:
    """Return the indices of the faces whose area is 0. Every corner must be the index of a vertex."""
    upright = [np.zeros(0, np.int64)]
    x, y = np.ascontiguousarray(positions.T[:2])
    for start in range(0, len(triangles), _BLOCK):
        a, b, c = triangles[start : start + _BLOCK].T.astype(np.intp)
        ax, ay = x[a].astype(np.float64), y[a].astype(np.float64)
        # Most faces are excluded because their projection to the xy plane has an area.
        upright.append(start + np.flatnonzero((x[b] - ax) * (y[c] - ay) == (y[b] - ay) * (x[c] - ax)))
    left = np.concatenate(upright)
    result: NDArray[np.int64] = left[areas(positions, triangles[left]) == 0]
    return result


def repeated(triangles: NDArray[Any]) -> NDArray[np.int64]:
    """Return the indices of the faces that have the same three vertices as an earlier one, in any order."""
    a, b, c = np.ascontiguousarray(triangles.T)
    low, high = np.minimum(a, b), np.maximum(a, b)
    corners = np.stack([np.minimum(low, c), np.maximum(low, np.minimum(high, c)), np.maximum(high, c)])
    keys = np.sort(_hashed(corners.T))
    if not (keys[1:] == keys[:-1]).any():
        return np.zeros(0, np.int64)
    return np.flatnonzero(first_of_equal(corners.T) != np.arange(len(triangles)))


def repeated_in_space(positions: NDArray[np.float32], triangles: NDArray[Any]) -> NDArray[np.int64]:
    """Return the indices of the faces whose three positions are those of an earlier one, bit by bit and in any order.

    Every corner must be the index of a vertex.
    """
    of_vertex = _hashed(np.ascontiguousarray(positions, np.float32).view(np.uint32))
    a, b, c = triangles.T
    keys = np.sort(of_vertex[a] + of_vertex[b] + of_vertex[c])
    if not (keys[1:] == keys[:-1]).any():
        return np.zeros(0, np.int64)
    return repeated(weld(positions).vertex[triangles])


def first_of_equal(rows: NDArray[Any]) -> NDArray[np.int64]:
    """(n,): index of the first row equal to each of ``rows`` (n, columns) of integers; its own index if there is none.

    By hashing, in time linear in the number of rows; rows with equal hashes are compared.
    """
    keys = _hashed(rows)
    first, waiting = np.arange(len(rows)), np.arange(len(rows), dtype=np.int32)
    for _ in range(_HASHINGS):
        if not len(waiting):
            break
        mine = keys[waiting]
        bits = (2 * len(waiting)).bit_length()
        bucket = (mine >> np.uint64(64 - bits)).astype(np.intp)
        representative = np.empty(1 << bits, np.int32)
        # Of several values written to one position the last one stays: in reversed order, that is the first.
        representative[bucket[::-1]] = waiting[::-1]
        nearest = representative[bucket]
        other = np.flatnonzero(nearest != waiting)
        same = mine[other] == keys[nearest[other]]
        first[waiting[other[same]]] = nearest[other[same]]
        waiting = waiting[other[~same]]
        keys *= _ODD
        keys ^= keys >> np.uint64(31)
    later = np.flatnonzero(first != np.arange(len(rows)))
    if len(waiting) or (rows[later] != rows[first[later]]).any():
        # Rows that were made to have equal hashes.
        group = row_groups(rows)
        first = np.unique(group, return_index=True)[1][group]
    return first


def _hashed(rows: NDArray[Any]) -> NDArray[np.uint64]:
    """(n,): numbers that are equal for equal rows and differ in all of their bits for most others."""
    keys = np.zeros(len(rows), np.uint64)
    for column in rows.T:
        keys ^= column.astype(np.uint64)
        keys *= _ODD
        keys ^= keys >> np.uint64(29)
    keys *= _ODD
    return keys


@dataclass(frozen=True, eq=False)
class Weld:
    """Result of merging points: ``vertex`` (points,), the index of the merged vertex of each; ``source`` (vertices,),
    the first point of each.

    ``points[source]`` are the merged vertices in order of first appearance; ``merged[vertex]`` are the points again.
    """

    vertex: NDArray[np.int32]
    source: NDArray[np.int32]


def weld(points: NDArray[np.float32], tolerance: float = 0.0) -> Weld:
    """Merge points (n, 3) whose bits are equal, or, with a tolerance, points near an earlier one.

    Near means at most ``tolerance`` away along every axis; a point never moves by more than twice that. In a chain of
    points that are each closer than the tolerance to the next, some points stay, so that no chain shrinks to a point.
    """
    bits = np.ascontiguousarray(points, np.float32).reshape(-1, 3).view(np.uint32)
    exact = _numbered_by_appearance(first_of_equal(bits))
    if tolerance <= 0 or len(exact.source) < 2:
        return exact
    with np.errstate(invalid="ignore"):  # signalling NaNs in broken files
        exact_points = np.asarray(points, np.float64).reshape(-1, 3)[exact.source]
    near = _near(exact_points, tolerance)
    return _numbered_by_appearance(near[exact.vertex])


def row_groups(rows: NDArray[Any]) -> NDArray[np.int64]:
    """(n,): a group number for each of the rows (n, columns) of integers, equal for equal rows and ascending as the
    rows do.
    """
    order, differs = row_order(rows)
    result = np.empty(len(order), np.int64)
    result[order] = np.cumsum(differs)
    return result


def connected(count: int, mine: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.int64]:
    """(count,): the lowest index connected to each one by the pairs (``mine``, ``others``), in a number of steps that
    grows slowly with count.
    """
    label: NDArray[np.int64] = np.arange(count)
    while len(mine):
        low, high = np.minimum(label[mine], label[others]), np.maximum(label[mine], label[others])
        apart = low != high
        if not apart.any():
            break
        mine, others, low, high = mine[apart], others[apart], low[apart], high[apart]
        np.minimum.at(label, high, low)
        while True:
            nearer = label[label]
            if np.array_equal(nearer, label):
                break
            label = nearer
    return label


def row_order(rows: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """(n,): order that sorts rows (n, columns) of integers, stable for equal ones; and (n,): which rows, in that order,
    differ from the one before.
    """
    differs = np.zeros(len(rows), np.bool_)
    key = _packed(rows)
    if key is None:
        order = np.lexsort(rows.T[::-1])
        ordered = rows[order]
        differs[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
        return order, differs
    # Key and index combined in one number: sorting numbers takes a fraction of the time of sorting rows.
    bits = len(rows).bit_length()
    sorted_keys = np.sort(key << bits | np.arange(len(rows)))
    differs[1:] = np.diff(sorted_keys >> bits) != 0
    return sorted_keys & ((1 << bits) - 1), differs


def _packed(rows: NDArray[Any]) -> NDArray[np.int64] | None:
    """(n,): a number for each row that sorts as the row does, with free bits for its index; None if it would be too
    large.
    """
    if not rows.size:
        return None
    # Column by column: along short rows it takes twenty times as long.
    lowest, highest = [int(column.min()) for column in rows.T], [int(column.max()) for column in rows.T]
    widths = [high - low + 1 for low, high in zip(lowest, highest, strict=True)]
    largest = max(-min(lowest), *highest, prod(widths))
    if largest.bit_length() + len(rows).bit_length() > _MOST_BITS:
        return None
    key = rows[:, 0].astype(np.int64) - lowest[0]
    for column, low, width in zip(rows.T[1:], lowest[1:], widths[1:], strict=True):
        key *= width
        key += column
        key -= low
    return key


def _numbered_by_appearance(group: NDArray[np.int64]) -> Weld:
    """Return groups renumbered in order of first appearance."""
    count = int(group.max()) + 1 if len(group) else 0
    first = np.full(count, -1, np.int64)
    # Of several values written to one position the last one stays: in reversed order, that is the first.
    first[group[::-1]] = np.arange(len(group))[::-1]
    used = np.sort(first[first >= 0])
    number = np.full(count, -1, np.int64)
    number[group[used]] = np.arange(len(used))
    return Weld(number[group].astype(np.int32), used.astype(np.int32))


def _near(points: NDArray[np.float64], tolerance: float) -> NDArray[np.int64]:
    """(points,): index of the point that each of the distinct points is merged into."""
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = np.floor(points / tolerance)
    # Points that are NaN or infinite, or too far away for cells of this size, are not merged.
    reachable: NDArray[np.bool_] = np.all(np.abs(scaled) < _FARTHEST_CELL, axis=1)
    cells = np.where(reachable[:, None], scaled, 0).astype(np.int64)
    result = np.arange(len(points))
    inside = np.flatnonzero(reachable)
    cell = row_groups(cells[inside])
    _, first = np.unique(cell, return_index=True)
    representatives = inside[first]
    settled = _representatives(points[representatives], representatives, cells[representatives], tolerance)
    result[inside] = representatives[settled][cell]
    return result


def _representatives(
    points: NDArray[np.float64], numbers: NDArray[np.int64], cells: NDArray[np.int64], tolerance: float
) -> NDArray[np.int64]:
    """(cells,): index of the cell whose point represents each cell: among near ones, the one with the lowest number."""
    pairs = np.concatenate(list(_neighbours(cells)))
    pairs = pairs[(np.abs(points[pairs[:, 0]] - points[pairs[:, 1]]) <= tolerance).all(axis=1)]
    low = np.where(numbers[pairs[:, 0]] < numbers[pairs[:, 1]], pairs[:, 0], pairs[:, 1])
    high = pairs.sum(axis=1) - low
    representative = np.full(len(cells), -1, np.int64)
    for _ in range(_ROUNDS):
        waiting = representative < 0
        open_pairs = waiting[low] & waiting[high]
        low, high = low[open_pairs], high[open_pairs]
        if not len(low):
            break
        free = waiting.copy()
        free[high] = False
        representative[free] = np.flatnonzero(free)
        represented = free[low]
        # The lowest of several is written last, so it stays.
        order = np.argsort(-numbers[low[represented]], kind="stable")
        representative[high[represented][order]] = low[represented][order]
    return np.where(representative < 0, np.arange(len(cells)), representative)


def _neighbours(cells: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Yield pairs (n, 2) of indices of cells that touch, each pair once. ``cells`` are distinct and in
    ascending order.
    """
    yield np.zeros((0, 2), np.int64)
    if not len(cells):
        return
    # Each axis is renumbered with gaps reduced to one empty cell, so that three numbers fit into one key.
    dense = np.empty_like(cells)
    for axis in range(3):
        values, rows = np.unique(cells[:, axis], return_inverse=True)
        dense[:, axis] = np.append(0, np.cumsum(np.minimum(np.diff(values), 2)))[rows.ravel()]
    widths = dense.max(axis=0) + 3
    keys = (dense[:, 0] * widths[1] + dense[:, 1]) * widths[2] + dense[:, 2]
    for x, y, z in product((-1, 0, 1), repeat=3):
        step = (x * widths[1] + y) * widths[2] + z
        if (x, y, z) <= (0, 0, 0):
            continue
        rows = np.minimum(np.searchsorted(keys, keys + step), len(keys) - 1)
        neighbours = np.flatnonzero(keys[rows] == keys + step)
        yield np.stack([neighbours, rows[neighbours]], axis=1)


@dataclass(frozen=True, eq=False)
class Split:
    """Result of splitting vertices.

    ``vertex`` (corners,): the new vertex of each corner; ``source`` (new vertices,): the old vertex of each; ``corner``
    (new vertices,): a corner whose values it has, -1 if no face uses it.
    """

    vertex: NDArray[np.int32]
    source: NDArray[np.int32]
    corner: NDArray[np.int64]


def split_corners(
    corners: NDArray[Any],
    values: NDArray[np.float32],
    count: int,
    close: NDArray[np.float32] | None = None,
    tolerance: float = 1.0,
) -> Split:
    """Split vertices whose corners have different ``values`` (corners, width), and no others.

    ``corners`` (corners,) are vertices. With ``close`` (corners, width), also vertices whose corners differ in these by
    more than ``tolerance`` in a component. The ``count`` existing vertices keep their indices and get the values of
    their first corner; each further combination gets a new vertex at the end. 0 and -0 are equal, and NaN is equal to
    itself.
    """
    bits = (values + np.float32(0)).view(np.int32)
    first = np.full(count, -1, np.int64)
    # Of several values written to one index the last stays, so write backwards to get the first corner.
    first[corners[::-1]] = np.arange(len(corners))[::-1]
    own = first[corners]
    differs = (bits != bits[own]).any(axis=1)
    if close is not None:
        with np.errstate(invalid="ignore"):
            differs |= (np.abs(close - close[own]) > tolerance).any(axis=1)
    other = np.flatnonzero(differs)
    vertex, source = corners.astype(np.int32), np.arange(count, dtype=np.int32)
    if len(other):
        keys: list[NDArray[Any]] = [corners[other, None].astype(np.int64), bits[other]]
        if close is not None:
            keys.append(np.nan_to_num(np.rint(close[other] / tolerance)).astype(np.int64))
        part = row_groups(np.concatenate(keys, axis=1))
        _, representative = np.unique(part, return_index=True)
        vertex[other] = count + part
        source = np.concatenate([source, corners[other][representative].astype(np.int32)])
        first = np.concatenate([first, other[representative]])
    return Split(vertex, source, first)
