"""Compute the corner normals of an editor mesh by the smoothing rule that its file uses, and store sharp edges.

Newer editors store normals. By every other rule, the normal of a corner is the sum of the unit normals of some faces at
its point, without weights by angle or area; faces without area count nothing, and points are identified by index. Which
faces: those of the same group, those with a common bit in a mask, or those reached around the point without crossing a
hard edge. The file stores a number per face, which editors of different games read differently. In edge bits both sides
of an edge agree, in groups they do not, which identifies the rule. Sources: the editors of Shadow of Chernobyl and
Clear Sky; compared with all real files available.

Sharp edges are stored as that number per face; numbers that already express them stay. Edge bits can store any set of
sharp edges. Groups can store sharp edges between groups only, not one with the same smooth surface on both sides.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from ....core.errors import ReadError
from ....core.polygons import connected, row_groups, row_order
from ....core.report import say
from .document import Mesh
from .mesh_chunks import FLAT, MASKS, Faces, MeshFlags, Normals, Points, Smoothing

Floats = NDArray[np.float64]

BACK_FACE = 8
"""The edge bit of a face that was reversed."""
MOST_MASKS = 4096
"""Largest number of different masks at one point; the cost of comparing them grows with its square."""
_SHORTEST_SUM = 1e-7
_HIGHEST_EDGE_BITS = 15
_TABLE_ENTRIES_PER_CORNER = 4
"""Largest size of a lookup table, in entries per corner; with a larger one sorting is faster."""


_HARD_SIDES = np.array(
    [[number >> ((4 - edge) % 3 if number & BACK_FACE else edge) & 1 for edge in range(3)] for number in range(16)],
    np.bool_,
)
"""(16, 3): for each value of edge bits, whether the edge from corner e to e + 1 is hard."""


class Rule(Enum):
    """The ways to store the smoothing of a mesh."""

    NORMALS = "normals"
    """A normal per corner."""
    EDGES = "edges"
    """Bits of hard edges: Clear Sky, Call of Pripyat."""
    GROUPS = "groups"
    """Ids of groups: Shadow of Chernobyl."""
    MASKS = "masks"
    """Groups as bits of a mask: Shadow of Chernobyl, if the mesh's flag `MASKS` is set."""


class Sides:
    """The sides of triangles, each from a corner to the next one of its face. ``corners`` (faces, 3) are points.

    ``first``, ``second`` (sides,) the points of a side; ``edge`` (sides,) the index of its edge, equal for sides
    between the same two points; ``ends`` (edges, 2) the points of each edge; ``side``, ``neighbour`` (pairs,) sides
    that share an edge: if more than two share it, each with the next.
    """

    def __init__(self, corners: NDArray[np.int64]) -> None:
        self.first, self.second = corners.ravel(), np.roll(corners, -1, axis=1).ravel()
        order, differs = row_order(
            np.stack([np.minimum(self.first, self.second), np.maximum(self.first, self.second)]).T
        )
        self.edge = np.empty(len(order), np.int64)
        self.edge[order] = np.cumsum(differs)
        differs[:1] = True
        # With indices, since indexing with a mask takes three times as long.
        first_side = order[np.flatnonzero(differs)]
        self.ends = np.stack([self.first[first_side], self.second[first_side]], axis=1)
        adjacent = np.flatnonzero(~differs[1:])
        self.side, self.neighbour = order[adjacent], order[adjacent + 1]


def groups_of(mesh: Mesh) -> NDArray[np.uint32]:
    """Return (faces,) the smoothing number of each face.

    If the file has none, or another count, all faces get the number that editors assume: 0 (masks) or `FLAT`.
    """
    faces, stored, flags = mesh.first(Faces), mesh.first(Smoothing), mesh.first(MeshFlags)
    count = len(faces.corners) if faces is not None else 0
    if stored is not None and len(stored.groups) == count:
        return stored.groups
    masks = flags is not None and flags.flags & MASKS
    return np.full(count, 0 if masks else FLAT, np.uint32)


def rule_of(mesh: Mesh, sides: Sides | None = None) -> Rule:
    """Return the rule that editors use for a mesh: stored normals if it has one per corner, else `rule_of_groups`.

    ``sides`` are those of its faces, if already computed.
    """
    return Rule.NORMALS if has_normals(mesh) else rule_of_groups(mesh, sides)


def has_normals(mesh: Mesh) -> bool:
    """Return whether the mesh stores a normal for each corner."""
    faces, stored = mesh.first(Faces), mesh.first(Normals)
    return faces is not None and stored is not None and len(stored.normals) == len(faces.corners)


def rule_of_groups(mesh: Mesh, sides: Sides | None = None) -> Rule:
    """Return the rule by which the smoothing numbers are read, used if there are no stored normals."""
    faces = mesh.first(Faces)
    if faces is None:
        return Rule.EDGES
    groups = groups_of(mesh)
    if _are_small(groups) and not contradictions(sides if sides is not None else Sides(_points_of(faces)), groups):
        return Rule.EDGES
    flags = mesh.first(MeshFlags)
    return Rule.MASKS if flags is not None and flags.flags & MASKS else Rule.GROUPS


def _are_small(groups: NDArray[np.uint32]) -> bool:
    """Return whether smoothing numbers (faces,) may be edge bits by their size."""
    return bool((groups[groups != FLAT] <= _HIGHEST_EDGE_BITS).all())


def _points_of(faces: Faces) -> NDArray[np.int64]:
    return faces.corners[:, :, 0].astype(np.int64)


def contradictions(sides: Sides, groups: NDArray[np.uint32]) -> int:
    """Return how many edges of two faces would be hard for one of them only, if ``groups`` (faces,) were edge bits."""
    hard = hard_sides(groups).ravel()
    differing = np.flatnonzero(hard[sides.side] != hard[sides.neighbour])
    return int((np.bincount(sides.edge)[sides.edge[sides.side[differing]]] == 2).sum()) if len(differing) else 0


def hard_sides(groups: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Return (faces, 3): whether the edge from corner e to e + 1 is hard, by edge bits."""
    result: NDArray[np.bool_] = _HARD_SIDES.take(groups & 15, axis=0)
    return result


def face_normals(positions: NDArray[np.float32], corners: NDArray[np.int64]) -> Floats:
    """Return (faces, 3) unit normals that point outwards in X-Ray's axes; 0 without area."""
    return np.ascontiguousarray(_face_normals(positions, corners).T)


@np.errstate(all="ignore")  # numbers of broken files
def _face_normals(positions: NDArray[np.float32], corners: NDArray[np.int64]) -> Floats:
    """Return `face_normals` as (3, faces), which is computed several times as fast from contiguous columns."""
    columns = np.ascontiguousarray(positions.T, np.float64)
    first, second, third = (columns.take(index, axis=1) for index in corners.T)
    px, py, pz = second - first
    qx, qy, qz = third - first
    crossed = np.stack([py * qz - pz * qy, pz * qx - px * qz, px * qy - py * qx])
    length = _lengths(crossed)
    crossed /= np.where(length > 0, length, 1)
    crossed[:, ~(length > 0)] = 0
    return crossed


def _lengths(columns: Floats) -> Floats:
    """Return (n,) the lengths of vectors (3, n)."""
    x, y, z = columns
    result: Floats = np.sqrt(x * x + y * y + z * z)
    return result


def corner_normals(mesh: Mesh, rule: Rule | None = None, sides: Sides | None = None) -> Floats:
    """Return (faces, 3, 3) unit normals in X-Ray's axes, by the file's rule or by ``rule``.

    ``sides`` are those of the faces, if already computed. Raises `ReadError` if faces refer to missing points, or if
    too many masks meet at a point.
    """
    normals, corners = shared_normals(mesh, rule, sides)
    result: Floats = normals[corners]
    return result


def shared_normals(
    mesh: Mesh, rule: Rule | None = None, sides: Sides | None = None
) -> tuple[Floats, NDArray[np.int64]]:
    """Return `corner_normals` without repetition: normals (n, 3) and (faces, 3) their indices at the corners.

    Some of the normals may be unused.
    """
    points, faces = mesh.first(Points), mesh.first(Faces)
    if points is None or faces is None:
        return np.zeros((0, 3)), np.zeros((0, 3), np.int64)
    corners = _points_of(faces)
    if len(corners) and int(corners.max()) >= len(points.positions):
        raise ReadError("faces refer to points that do not exist", file=mesh.label, remedy="Repair it in the editor")
    rule = rule_of(mesh, sides) if rule is None else rule
    stored = mesh.first(Normals)
    if rule is Rule.NORMALS and stored is not None:
        with np.errstate(invalid="ignore"):  # signalling NaNs of broken files
            given = stored.normals.astype(np.float64).reshape(-1, 3)
        return given, np.arange(len(given)).reshape(-1, 3)
    flat = _face_normals(points.positions, corners)
    groups = groups_of(mesh).astype(np.int64)
    if rule is Rule.MASKS:
        sums = _summed_masks(corners, groups, np.ascontiguousarray(flat.T)).T
        return _unit_normals(np.ascontiguousarray(sums), np.arange(corners.size), corners, flat)
    around = rule is Rule.EDGES
    key = _joined_by_soft_edges(sides or Sides(corners), groups) if around else _joined_by_group(corners, groups)
    return _unit_normals(_sums_by_key(key, [np.repeat(column, 3) for column in flat]), key, corners, flat)


def _unit_normals(
    sums: Floats, key: NDArray[np.int64], corners: NDArray[np.int64], flat: Floats
) -> tuple[Floats, NDArray[np.int64]]:
    """Return unit normals of the ``sums`` (3, keys), and (faces, 3) the index of each corner's normal.

    ``key`` (corners,) is the index of each corner's sum. If a sum is nearly zero, the corner gets the normal, from
    ``flat`` (3, faces), of the first face at its point.
    """
    length = _lengths(sums)
    short = length < _SHORTEST_SUM
    normals = np.stack(list(sums / np.where(short, 1, length)), axis=1)
    without_direction = short[key]
    if without_direction.any():
        points = corners.ravel()
        first = np.zeros(int(points.max()) + 1, np.int64)
        # Assigned backwards, because the last value of a point stays: its first face.
        first[points[::-1]] = np.repeat(np.arange(len(corners)), 3)[::-1]
        key = np.where(without_direction, len(normals) + first[points], key)
        normals = np.concatenate([normals, flat.T])
    return normals, key.reshape(-1, 3)


def _sums_by_key(key: NDArray[np.int64], columns: Iterable[Floats]) -> Floats:
    """Return (3, keys) the sums of the ``columns`` (n,) over equal ``key`` (n,)."""
    count = int(key.max()) + 1 if len(key) else 0
    return np.stack([np.bincount(key, column, count) for column in columns])


def _joined_by_group(corners: NDArray[np.int64], groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return (corners,) an index, from 0: equal at the same point in the same group, unique for flat faces."""
    points, group = corners.ravel(), np.repeat(groups, 3)
    width = int(groups.max(initial=0)) + 1
    if width * (int(points.max(initial=0)) + 1) <= _TABLE_ENTRIES_PER_CORNER * len(points):
        table_index = points * width + group
        number = np.cumsum(np.bincount(table_index) > 0) - 1
        result: NDArray[np.int64] = number[table_index]
        return result
    unique = np.repeat(-1 - np.arange(len(groups)), 3)
    return row_groups(np.stack([points, np.where(group == FLAT, unique, group)]).T)


def _joined_by_soft_edges(sides: Sides, groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return (corners,) an index: the same for corners of one point that are connected by soft edges."""
    back = np.repeat(groups & BACK_FACE, 3)
    soft = np.flatnonzero(~hard_sides(groups.astype(np.uint32)).ravel())
    within, differs = row_order(np.stack([sides.edge[soft], back[soft]]).T)
    order, joined = soft[within], ~differs[1:]
    side, neighbour = order[:-1][joined], order[1:][joined]
    # A side goes from its own corner to the next one of its face; that of the neighbour may go the opposite way.
    following = np.roll(np.arange(len(back)).reshape(-1, 3), -1, axis=1).ravel()
    same_direction = sides.first[side] == sides.first[neighbour]
    own_sides = np.concatenate([side, following[side]])
    others = np.concatenate(
        [
            np.where(same_direction, neighbour, following[neighbour]),
            np.where(same_direction, following[neighbour], neighbour),
        ]
    )
    return connected(len(back), own_sides, others)


def _summed_masks(corners: NDArray[np.int64], masks: NDArray[np.int64], flat: Floats) -> Floats:
    """Return (corners, 3): for each corner the sum of the normals of faces at its point with a common bit.

    For mask 0 that is the face's own normal. Raises `ReadError` if too many different masks meet at a point.
    """
    points, value = corners.ravel(), np.repeat(masks, 3)
    kind = row_groups(np.stack([points, value]).T)
    count = int(kind.max()) + 1 if len(kind) else 0
    sums = np.ascontiguousarray(_sums_by_key(kind, np.repeat(flat.T, 3, axis=1)).T)
    point_of, mask_of = np.zeros(count, np.int64), np.zeros(count, np.int64)
    point_of[kind], mask_of[kind] = points, value
    result = sums.copy()
    # Masks of one point are consecutive: compare each with those 1, 2, 3 ... positions after it.
    for step in range(1, MOST_MASKS + 1):
        neighbours = np.flatnonzero(point_of[step:] == point_of[:-step])
        if not len(neighbours):
            break
        if step == MOST_MASKS:
            words = "more than {} different smoothing masks at one point"
            raise ReadError(say(words, MOST_MASKS), remedy="Check the file")
        neighbours = neighbours[(mask_of[neighbours] & mask_of[neighbours + step]) != 0]
        result[neighbours] += sums[neighbours + step]
        result[neighbours + step] += sums[neighbours]
    of_corner = result[kind]
    without_mask = value == 0
    of_corner[without_mask] = np.repeat(flat, 3, axis=0)[without_mask]
    return of_corner


# Storing sharp edges --------------------------------------------------------------------------------------------------

Indices = NDArray[np.int64]
Numbers = NDArray[np.uint32]
SharpSides = NDArray[np.bool_]

FIRST_NEW_GROUP = 16
"""Smallest id of a new group: above all edge bits, so that groups are not taken for them."""


def sides_of(corners: Indices, pairs: Indices) -> SharpSides:
    """Return (faces, 3): which sides of faces are among ``pairs`` (edges, 2) of points.

    ``corners`` (faces, 3) are the points of the faces; a side goes from corner e to e + 1.
    """
    width = max(int(corners.max(initial=0)), int(pairs.max(initial=0))) + 1
    first, second = corners, np.roll(corners, -1, axis=1)
    keys = np.minimum(first, second) * width + np.maximum(first, second)
    result: SharpSides = np.isin(keys, pairs.min(axis=1) * width + pairs.max(axis=1) if len(pairs) else pairs.ravel())
    return result


def smoothing_numbers(rule: Rule, corners: Indices, sharp: SharpSides, old: Numbers) -> tuple[Numbers, int]:
    """Return numbers (faces,) that store ``sharp`` (faces, 3), and how many sharp edges groups cannot store.

    ``old`` numbers are kept where they already express it, and cannot be taken for edge bits. ``corners`` (faces, 3)
    are points. `Rule.MASKS` is written as groups: the caller removes the mesh's flag.
    """
    if rule in (Rule.EDGES, Rule.NORMALS):
        return _as_bits(sharp, old), 0
    sides = Sides(corners)
    numbers, lost = _as_groups(sides, sharp.ravel(), old)
    if _are_small(numbers) and not contradictions(sides, numbers):
        # Few groups could be taken for edge bits; higher numbers cannot.
        numbers = np.where(numbers == FLAT, numbers, numbers + np.uint32(FIRST_NEW_GROUP))
    return numbers, lost


def _as_bits(sharp: SharpSides, old: Numbers) -> Numbers:
    differ = (hard_sides(old) != sharp).any(axis=1)
    back = (old & BACK_FACE) != 0
    edge = np.arange(3)
    bit = np.where(back[:, None], (4 - edge) % 3, edge)
    bits = (sharp.astype(np.int64) << bit).sum(axis=1) + np.where(back, BACK_FACE, 0)
    result: Numbers = np.where(differ, bits, old).astype(np.uint32)
    return result


def _as_groups(sides: Sides, sharp: SharpSides, old: Numbers) -> tuple[Numbers, int]:
    hard = sharp[sides.side] | sharp[sides.neighbour]
    side, neighbour = sides.side // 3, sides.neighbour // 3
    part = connected(len(old), side[~hard], neighbour[~hard])
    size = np.bincount(part, minlength=len(old))
    wrong = np.zeros(len(old), np.bool_)  # by part
    wrong[part[(old != old[part]) | ((old == FLAT) & (size[part] > 1))]] = True
    first, other = part[side[hard]], part[neighbour[hard]]
    same_group = (old[first] == old[other]) & (old[first] != FLAT) & (first != other)
    wrong[np.maximum(first, other)[same_group]] = True
    lost = int((first == other).sum())
    parts = np.flatnonzero(wrong)
    highest = int(old[old != FLAT].max(initial=0))
    new_group = np.zeros(len(old), np.int64)
    new_group[parts] = max(highest + 1, FIRST_NEW_GROUP) + np.arange(len(parts))
    new_group[parts[(size[parts] == 1) & sharp.reshape(-1, 3)[parts].all(axis=1)]] = FLAT
    return np.where(wrong[part], new_group[part], old).astype(np.uint32), lost
