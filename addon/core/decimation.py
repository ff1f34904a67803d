"""Fewer triangles for a mesh: one vertex after another is merged into a neighbour, those first that change the surface
least (quadric error metric).

Vertices that stay do not move and keep their values. A merge is left out if it turned a face or its UVs over, or opened
or folded the surface. Vertices at edges where the surface is sharp, open, or changes its UVs or its material are merged
along such an edge only, and each of these edges that still exists keeps its mark.

Merges whose surroundings do not overlap are made together, so that there is no loop over faces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import polygons

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

STEEPEST = 0.25
"""Cosine of the largest angle by which a merge may turn a face."""
NARROWEST = 0.02
"""Smallest double area of a face over the square of its longest edge that a merge may make, unless it was less."""
EDGE_WEIGHT = 10.0
"""How much more than the surface the edges that are kept weigh."""
SAME_NORMAL = 1e-3
"""Difference of a normal's elements that counts as none."""
SHARP, SEAM, BORDER, OPEN = 1, 2, 4, 8
"""Reasons why an edge is kept."""
DIVIDES = SEAM | BORDER | OPEN
"""Reasons for which the corners at both sides have different values."""


@dataclass(frozen=True, eq=False)
class Decimated:
    """What is left of triangles.

    ``corners`` (faces, 3): the corner of the source, 3 * face + 0..2, whose values each corner has; ``face`` (faces,):
    which face of the source each was; ``sharp`` (edges, 2): vertices of the source at sharp edges.
    """

    corners: Ints
    face: Ints
    sharp: Ints


@dataclass(frozen=True, eq=False)
class Source:
    """Triangles to decimate.

    ``positions`` (vertices, 3), ``triangles`` (faces, 3); ``uvs``: values (3 * faces, 2) of corners; ``normals``
    (3 * faces, 3) of corners, which only say where the surface is divided; ``surface``
    (faces,): its material; ``sharp`` (edges, 2). ``fixed`` (vertices,): which ones stay; ``label`` (vertices,): only
    vertices with one label are merged.
    """

    positions: Floats
    triangles: Ints
    uvs: Sequence[Floats]
    normals: Floats | None
    surface: Ints
    sharp: Ints
    fixed: Bools
    label: Ints


def decimate(source: Source, target: int) -> Decimated:
    """Merge vertices until ``target`` triangles are left, or until no merge is possible."""
    state = _State(source)
    while len(state.face) > target and state.step(target):
        pass
    vertex = source.triangles.ravel()
    kept = state.reasons & SHARP > 0
    corners = state.wedge_corner[state.corner]
    sharp = _corner_pairs(state.vertices(), state.kept_edges[kept])
    return Decimated(corners, state.face, vertex[corners.ravel()[sharp]])


def _corner_pairs(triangles: Ints, edges: Ints) -> Ints:
    """Return (edges, 2) the corners at both ends of each side of a triangle that is one of ``edges``."""
    ends = np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2)
    corner = np.arange(triangles.size).reshape(-1, 3)
    pairs: Ints = np.stack([corner, np.roll(corner, -1, axis=1)], axis=2).reshape(-1, 2)
    count = int(max(ends.max(initial=0), edges.max(initial=0))) + 1
    return pairs[np.isin(_key(ends, count), _key(edges, count))]


def _key(pairs: Ints, count: int) -> Ints:
    """Return one number for each pair of vertices, in any order."""
    return np.minimum(pairs[:, 0], pairs[:, 1]) * count + np.maximum(pairs[:, 0], pairs[:, 1])


class _State:
    """Triangles while they are decimated.

    ``corner`` (faces, 3): the wedge of each corner. A wedge is corners of one vertex with no edge between them that
    divides, and has the values of ``wedge_corner``, a corner of the source. Vertices at one position are one.
    ``kept_edges`` (edges, 2), and their ``reasons`` (edges,).
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        weld = polygons.weld(source.positions.astype(np.float32))
        vertex = weld.vertex.astype(np.int64)
        triangles = vertex[source.triangles]
        self.count = len(weld.source)
        points = source.positions[weld.source]
        self.positions = points - points.mean(axis=0) if len(points) else points
        self.face = np.flatnonzero((triangles != np.roll(triangles, 1, axis=1)).all(axis=1))
        self.label = source.label[weld.source]
        self.fixed = np.zeros(self.count, np.bool_)
        self.fixed[vertex[source.fixed | (source.label != self.label[vertex])]] = True
        whole = triangles[self.face]
        corner = 3 * self.face[:, None] + np.arange(3)
        self.kept_edges, self.reasons, wedge = self._edges(whole, corner, vertex[source.sharp])
        self.wedge_corner, index = np.unique(wedge, return_inverse=True)
        self.corner: Ints = index.reshape(-1, 3).astype(np.int64)
        self.wedge_vertex = triangles.ravel()[self.wedge_corner]
        self.quadrics = self._quadrics(whole)

    def vertices(self) -> Ints:
        """(faces, 3): vertex of each corner."""
        return self.wedge_vertex[self.corner]

    def _edges(self, triangles: Ints, corner: Ints, sharp: Ints) -> tuple[Ints, Ints, Ints]:
        """Return the edges that are kept (n, 2), why (n,), and the first corner of the wedge of each corner."""
        here, there = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()
        pairs = np.stack([here, there], axis=1)
        edge = polygons.row_groups(np.sort(pairs, axis=1)) if len(pairs) else np.zeros(0, np.int64)
        uses = np.bincount(edge)
        order = np.argsort(edge, kind="stable")
        first = order[np.cumsum(uses) - uses]
        last = order[np.cumsum(uses) - 1]
        reasons = np.where(uses == 2, 0, OPEN)
        reasons[np.isin(_key(pairs[first], self.count), _key(sharp, self.count))] |= SHARP
        shared = np.flatnonzero((uses == 2) & (here[first] == there[last]))
        reasons[(uses == 2) & (here[first] == here[last])] |= OPEN
        side, other = first[shared], last[shared]
        own = np.arange(len(here))
        following = own - own % 3 + (own + 1) % 3
        ends = corner.ravel()
        normals = self.source.normals
        for values, tolerance in (
            *((uvs, 0.0) for uvs in self.source.uvs),
            *(((normals, SAME_NORMAL),) if normals is not None else ()),
        ):
            differ = (np.abs(values[ends[side]] - values[ends[following[other]]]) > tolerance).any(axis=1)
            differ |= (np.abs(values[ends[following[side]]] - values[ends[other]]) > tolerance).any(axis=1)
            reasons[shared[differ]] |= SEAM
        surface = self.source.surface[ends // 3]
        reasons[shared[surface[side] != surface[other]]] |= BORDER
        self.fixed[here[np.isin(edge, np.flatnonzero(uses > 2))]] = True
        self.fixed[there[np.isin(edge, np.flatnonzero(uses > 2))]] = True
        plain = reasons[shared] & DIVIDES == 0
        side, other = side[plain], other[plain]
        mine = np.concatenate([side, following[side]])
        root = polygons.connected(len(here), mine, np.concatenate([following[other], other]))
        kept = np.flatnonzero(reasons)
        return pairs[first[kept]], reasons[kept], ends[root]

    def _quadrics(self, triangles: Ints) -> Floats:
        """(vertices, 10): sum of the squared distances from the planes of the faces, and of the edges that are kept."""
        points = self.positions[triangles]
        normals = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
        size = np.linalg.norm(normals, axis=1)
        unit = normals / np.where(size > 0, size, 1)[:, None]
        result = np.zeros((self.count, 10))
        planes = _planes(unit, points[:, 0], size / 2)
        for slot in range(3):
            _add(result, triangles[:, slot], planes)
        here, there = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()
        inside = np.isin(_key(np.stack([here, there], axis=1), self.count), _key(self.kept_edges, self.count))
        here, there, face = here[inside], there[inside], np.repeat(np.arange(len(triangles)), 3)[inside]
        along = self.positions[there] - self.positions[here]
        across = np.cross(along, unit[face])
        length = np.linalg.norm(across, axis=1)
        across /= np.where(length > 0, length, 1)[:, None]
        planes = _planes(across, self.positions[here], EDGE_WEIGHT * length**2)
        _add(result, here, planes)
        _add(result, there, planes)
        return result

    # One step -------------------------------------------------------------------------------------------------------

    def step(self, target: int) -> bool:
        """Make the best merges that do not touch each other; return whether there were any."""
        needed = max((len(self.face) - target + 1) // 2, 1)
        ring = _Ring(self.vertices(), self.count)
        gone, stays, cost = self._candidates(ring)
        order = np.argsort(cost, kind="stable")
        for most in sorted({min(2 * needed + 64, len(order)), len(order)}):
            chosen = order[:most]
            merges = _Merges(self, ring, gone[chosen], stays[chosen])
            best = merges.apart(merges.valid(), needed)
            lost = np.cumsum(merges.faces_lost()[best])
            best = best[lost - merges.faces_lost()[best] < len(self.face) - target]
            if len(best):
                self._merge(merges, best)
                return True
        return False

    def _candidates(self, ring: _Ring) -> tuple[Ints, Ints, Floats]:
        """Return which vertices can go, into which, and what it costs."""
        edges = np.concatenate([ring.edges, ring.edges[:, ::-1]])
        gone, stays = edges[:, 0], edges[:, 1]
        ends, others = self.kept_edges.ravel(), self.kept_edges[:, ::-1].ravel()
        dividing = np.repeat(self.reasons & DIVIDES, 2)
        number = np.bincount(ends, minlength=self.count)
        low, high = np.full(self.count, DIVIDES), np.zeros(self.count, np.int64)
        np.minimum.at(low, ends[dividing > 0], dividing[dividing > 0])
        np.maximum.at(high, ends, dividing)
        divides = np.bincount(ends, dividing > 0, self.count)
        free = ~self.fixed & ((divides == 0) | ((divides == 2) & (low == high)))
        known = _key(self.kept_edges, self.count)
        key = _key(edges, self.count)
        along = np.where(divides[gone] > 0, np.isin(key, known[self.reasons & DIVIDES > 0]), np.isin(key, known))
        fits = free[gone] & (self.label[gone] == self.label[stays]) & ((number[gone] == 0) | along)
        gone, stays = gone[fits], stays[fits]
        # Another kept edge of the vertex must not fall onto an existing edge.
        owner = np.repeat(np.arange(len(gone)), number[gone])
        further = others[np.argsort(ends, kind="stable")][polygons.corners_of(number, gone)]
        falls = (further != stays[owner]) & ring.has(further, stays[owner])
        fits = np.bincount(owner, falls, len(gone)) == 0
        gone, stays = gone[fits], stays[fits]
        length = ((self.positions[gone] - self.positions[stays]) ** 2).sum(axis=1)
        cost = _error(self.quadrics[gone], self.positions[stays]) + 1e-9 * length
        return gone, stays, cost

    def _merge(self, merges: _Merges, best: Ints) -> None:
        rows = np.isin(merges.owner, best)
        slots = merges.slot[rows]
        self.corner.reshape(-1)[slots] = merges.target[rows]
        lost = np.unique(slots[merges.lost[rows]] // 3)
        stay = np.ones(len(self.face), np.bool_)
        stay[lost] = False
        self.corner, self.face = self.corner[stay], self.face[stay]
        gone, stays = merges.gone[best], merges.stays[best]
        np.add.at(self.quadrics, stays, self.quadrics[gone])
        into = np.arange(self.count)
        into[gone] = stays
        self.kept_edges = into[self.kept_edges]
        apart = self.kept_edges[:, 0] != self.kept_edges[:, 1]
        self.kept_edges, self.reasons = self.kept_edges[apart], self.reasons[apart]


class _Ring:
    """Faces and neighbours of the vertices of ``triangles`` (faces, 3)."""

    def __init__(self, triangles: Ints, count: int) -> None:
        self.triangles, self.count = triangles, count
        flat = triangles.ravel()
        self.corners = np.argsort(flat, kind="stable")
        self.number = np.bincount(flat, minlength=count)
        pairs = np.stack([flat, np.roll(triangles, -1, axis=1).ravel()], axis=1)
        self.keys, index, self.uses = np.unique(_key(pairs, count), return_index=True, return_counts=True)
        self.edges = pairs[index]
        both = np.concatenate([self.edges, self.edges[:, ::-1]])
        self.neighbours = both[np.argsort(both[:, 0], kind="stable"), 1]
        self.degree = np.bincount(both[:, 0], minlength=count)

    def find(self, here: Ints, there: Ints) -> tuple[Ints, Bools]:
        """Return the index of the edge between vertices, and whether there is one."""
        key = _key(np.stack([here, there], axis=1), self.count)
        at = np.minimum(np.searchsorted(self.keys, key), max(len(self.keys) - 1, 0))
        return at, self.keys[at] == key

    def has(self, here: Ints, there: Ints) -> Bools:
        """Return whether there is an edge between vertices."""
        return self.find(here, there)[1]


class _Merges:
    """Merges of the vertices ``gone`` into ``stays``: what becomes of the corners at each vertex that goes.

    Rows: ``owner``: the merge; ``slot``: a corner at its vertex; ``lost``: whether its face vanishes; ``target``: the
    wedge that the corner gets, -1 if there is none.
    """

    def __init__(self, state: _State, ring: _Ring, gone: Ints, stays: Ints) -> None:
        self.state, self.ring, self.gone, self.stays = state, ring, gone, stays
        self.owner = np.repeat(np.arange(len(gone)), ring.number[gone])
        self.slot = ring.corners[polygons.corners_of(ring.number, gone)]
        self.faces = ring.triangles[self.slot // 3]
        at_stay = self.faces == stays[self.owner][:, None]
        self.lost = at_stay.any(axis=1)
        wedges = state.corner.reshape(-1)
        count = len(state.wedge_corner)
        key = self.owner * count + wedges[self.slot]
        lost = np.flatnonzero(self.lost)
        into = state.corner[self.slot[lost] // 3, at_stay[lost].argmax(axis=1)]
        order = np.argsort(key[lost], kind="stable")
        known, values = key[lost][order], into[order]
        at = np.minimum(np.searchsorted(known, key), max(len(known) - 1, 0))
        self.target = np.where(known[at] == key, values[at], -1) if len(known) else np.full(len(key), -1)
        differ = (np.diff(known) == 0) & (np.diff(values) != 0)
        self.unclear = np.zeros(len(gone), np.bool_)
        self.unclear[known[1:][differ] // count] = True

    def faces_lost(self) -> Ints:
        """(merges,): how many faces vanish."""
        return np.bincount(self.owner[self.lost], minlength=len(self.gone))

    def valid(self) -> Bools:
        """(merges,): which merges keep the surface as it is."""
        result = ~self.unclear & self._is_linked()
        stay = np.flatnonzero(~self.lost)
        owner, slot, target = self.owner[stay], self.slot[stay], self.target[stay]
        good = target >= 0
        good &= self._turns_little(owner, slot)
        for uvs in self.state.source.uvs:
            good &= self._keeps_side(uvs, slot, target)
        result[owner[~good]] = False
        return result

    def _is_linked(self) -> Bools:
        """Return which pairs of vertices have only the neighbours in common that the faces at their edge have."""
        owner = np.repeat(np.arange(len(self.gone)), self.ring.degree[self.gone])
        index = polygons.corners_of(self.ring.degree, self.gone)
        common = self.ring.has(self.ring.neighbours[index], self.stays[owner])
        number = np.bincount(owner[common], minlength=len(self.gone))
        edge, _ = self.ring.find(self.gone, self.stays)
        result: Bools = (number == self.ring.uses[edge]) & (self.ring.uses[edge] <= 2)
        return result

    def _turns_little(self, owner: Ints, slot: Ints) -> Bools:
        positions = self.state.positions
        points = positions[self.ring.triangles[slot // 3]]
        moved = points.copy()
        moved[np.arange(len(slot)), slot % 3] = positions[self.stays[owner]]
        before, was = _normals(points)
        after, narrow = _normals(moved)
        size = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
        turned = np.einsum("fi,fi->f", before, after) < STEEPEST * size
        result: Bools = ~turned & (narrow > 0) & ((narrow >= NARROWEST) | (narrow >= was)) | (was == 0)
        return result

    def _keeps_side(self, uvs: Floats, slot: Ints, target: Ints) -> Bools:
        wedges = self.state.corner[slot // 3]
        before = _signed(uvs[self.state.wedge_corner[wedges]])
        wedges = wedges.copy()
        wedges[np.arange(len(slot)), slot % 3] = np.maximum(target, 0)
        after = _signed(uvs[self.state.wedge_corner[wedges]])
        result: Bools = (np.sign(before) == np.sign(after)) | (before == 0)
        return result

    def apart(self, valid: Bools, most: int) -> Ints:
        """Return merges, of the ``most`` cheapest, whose surroundings have no vertex in common.

        Which of two neighbours goes is random, the same in each run: by their costs, few on a slope would go at once.
        """
        merges = np.flatnonzero(valid)
        valid = np.zeros(len(valid), np.bool_)
        valid[merges[np.sort(np.unique(self.gone[merges], return_index=True)[1])[:most]]] = True
        rank = np.random.default_rng(0).permutation(len(valid))
        rows = np.flatnonzero(valid[self.owner])
        owner = np.repeat(self.owner[rows], 3)
        around = self.faces[rows].ravel()
        lowest = np.full(self.ring.count, len(rank))
        np.minimum.at(lowest, around, rank[owner])
        valid[owner[lowest[around] != rank[owner]]] = False
        return np.flatnonzero(valid)


def _normals(points: Floats) -> tuple[Floats, Floats]:
    """Return (faces, 3) normals as long as twice the area, and (faces,) that length by the longest edge squared."""
    sides = np.roll(points, -1, axis=1) - points
    normals = np.cross(sides[:, 0], sides[:, 1])
    longest = (sides**2).sum(axis=2).max(axis=1)
    return normals, np.linalg.norm(normals, axis=1) / np.where(longest > 0, longest, 1)


def _signed(uvs: Floats) -> Floats:
    """(faces,): twice the area of triangles (faces, 3, 2), negative if they are mirrored."""
    u, v = uvs[:, 1] - uvs[:, 0], uvs[:, 2] - uvs[:, 0]
    result: Floats = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    return result


def _planes(normals: Floats, points: Floats, weights: Floats) -> Floats:
    """(planes, 10): symmetric 4 x 4 matrices of weighted squared distances."""
    plane = np.concatenate([normals, -np.einsum("pi,pi->p", normals, points)[:, None]], axis=1)
    rows, columns = np.triu_indices(4)
    result: Floats = plane[:, rows] * plane[:, columns] * weights[:, None]
    return result


def _add(result: Floats, vertices: Ints, values: Floats) -> None:
    for column in range(values.shape[1]):
        result[:, column] += np.bincount(vertices, values[:, column], len(result))


def _error(quadrics: Floats, points: Floats) -> Floats:
    full = np.concatenate([points, np.ones((len(points), 1))], axis=1)
    rows, columns = np.triu_indices(4)
    twice = np.where(rows == columns, 1.0, 2.0)
    result: Floats = (quadrics * full[:, rows] * full[:, columns] * twice).sum(axis=1)
    return np.maximum(result, 0)
