"""Connected pieces and components of the meshes of a LOD: which are closed, convex and turned outwards; their mass.

All functions take faces with three or four corners, in Blender's axes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ....core import polygons
from ....core.errors import WriteError
from ....core.model import PolygonMesh
from ....core.report import say

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

COMPONENT = re.compile(r"component(\d+)", re.IGNORECASE)
WELDED = 1e-5
"""Metres between points that the tools take for one when they look for holes."""
BULGE, BULGE_SHARE = 0.01, 0.01
"""How far a point may be outside of the plane of a face: metres, or a share of the component's size if that is more."""
_PAIRS_AT_ONCE = 1 << 21
_NONE = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class Surface:
    """The faces of a mesh, with their edges and connected pieces."""

    mesh: PolygonMesh

    @cached_property
    def face(self) -> Ints:
        """(corners,): the face of each corner."""
        return polygons.face_of_corner(self.mesh.counts)

    @cached_property
    def following(self) -> Ints:
        """(corners,): vertex of the next corner; the edge of a corner leads to it."""
        return self.mesh.corners[polygons.next_corners(self.mesh.counts)].astype(np.int64)

    @cached_property
    def edge(self) -> Ints:
        """(corners,): index of the edge that begins at each corner, in any direction."""
        ends = self.mesh.corners.astype(np.int64)
        pair = np.stack([np.minimum(ends, self.following), np.maximum(ends, self.following)], axis=1)
        return polygons.row_groups(pair)

    @cached_property
    def uses(self) -> Ints:
        """(edges,): number of faces at each edge."""
        return np.bincount(self.edge)

    @cached_property
    def piece(self) -> Ints:
        """(faces,): the piece of each face, in the order of their first faces; faces that share an edge are in one."""
        sides, others = self._neighbours()
        first = polygons.connected(len(self.mesh.counts), self.face[sides], self.face[others])
        result: Ints = np.unique(first, return_inverse=True)[1].ravel()
        return result

    def _neighbours(self) -> tuple[Ints, Ints]:
        """Return pairs of corners at the same edge, which connect all faces at it."""
        order = np.argsort(self.edge, kind="stable")
        same = np.diff(self.edge[order]) == 0
        return order[:-1][same], order[1:][same]

    def pairs(self) -> tuple[Ints, Ints]:
        """Return the two corners of each edge that exactly two faces share."""
        sides, others = self._neighbours()
        two = self.uses[self.edge[sides]] == 2
        return sides[two], others[two]

    @cached_property
    def relative(self) -> Floats:
        """(corners, 3): position of each corner relative to the middle of its piece."""
        points = self.mesh.positions[self.mesh.corners].astype(np.float64)
        piece = self.piece[self.face]
        number = np.maximum(np.bincount(piece), 1)
        middle = np.stack([np.bincount(piece, points[:, axis]) / number for axis in range(3)], axis=-1)
        result: Floats = points - middle[piece]
        return result

    @cached_property
    def volumes(self) -> Floats:
        """(pieces,): volume of each piece in cubic metres, negative if its faces point inwards."""
        points, counts = self.relative, self.mesh.counts
        first = points[polygons.starts(counts)[self.face]]
        after = points[polygons.next_corners(counts)]
        parts = np.einsum("ci,ci->c", first, np.cross(points, after)) / 6
        result: Floats = np.bincount(self.piece[self.face], parts, minlength=1).astype(np.float64)
        return result

    @cached_property
    def sizes(self) -> Floats:
        """(pieces,): diameter of each piece in metres."""
        result = np.zeros(len(self.volumes))
        np.maximum.at(result, self.piece[self.face], 2 * np.linalg.norm(self.relative, axis=1))
        return result

    def faces_at(self, corners: Ints) -> Bools:
        """(faces,): the faces of these corners."""
        result = np.zeros(len(self.mesh.counts), np.bool_)
        result[self.face[corners]] = True
        return result


@dataclass(frozen=True, eq=False)
class Parts:
    """Faces in groups: components, or the connected pieces of a mesh without components.

    ``part`` (faces,): index of each face's part, -1 for faces in none. ``names``: names of components.
    """

    surface: Surface
    part: Ints
    names: tuple[str, ...] = ()

    @staticmethod
    def of(surface: Surface) -> Parts:
        """Return the components of a mesh, else its connected pieces. A face in several is in the first of them."""
        mesh = surface.mesh
        named = _are_components(mesh)
        if not named.any():
            return Parts(surface, surface.piece)
        face, group = faces_of_groups(mesh, named)
        part = np.full(len(mesh.counts), -1, np.int64)
        number = np.cumsum(named) - 1
        part[face[::-1]] = number[group[::-1]]
        return Parts(surface, part, tuple(np.array(mesh.groups, object)[named]))

    @cached_property
    def in_several(self) -> Bools:
        """(faces,): which faces are in more than one component."""
        mesh = self.surface.mesh
        face, _ = faces_of_groups(mesh, _are_components(mesh))
        result: Bools = np.bincount(face, minlength=len(mesh.counts)) > 1
        return result

    @cached_property
    def count(self) -> int:
        """Number of parts."""
        return max(len(self.names), int(self.part.max(initial=-1)) + 1)

    @cached_property
    def welded(self) -> Ints:
        """(corners,): the point of each corner, where points closer than `WELDED` are one."""
        mesh = self.surface.mesh
        positions = np.where(np.isfinite(mesh.positions), mesh.positions, 0)
        result: Ints = polygons.weld(positions.astype(np.float32), WELDED).vertex[mesh.corners].astype(np.int64)
        return result

    @cached_property
    def is_open(self) -> Bools:
        """(corners,): whether the edge that begins at each corner is not used as often in the one direction as in the
        other, by the faces of its part.
        """
        here, there = self.welded, self.welded[polygons.next_corners(self.surface.mesh.counts)]
        part = self.part[self.surface.face]
        edge = polygons.row_groups(np.stack([part, np.minimum(here, there), np.maximum(here, there)], axis=1))
        surplus = np.bincount(edge, np.sign(there - here).astype(np.float64))
        result: Bools = surplus[edge] != 0
        return result

    @cached_property
    def closed(self) -> Bools:
        """(parts,): which parts have faces and no open edges."""
        result = np.bincount(self.part[self.part >= 0], minlength=self.count) > 0
        opened = self.part[self.surface.face[self.is_open]]
        result[opened[opened >= 0]] = False
        return result

    @cached_property
    def volumes(self) -> Floats:
        """(parts,): volume in cubic metres, negative if the faces point inwards; only of use for closed parts."""
        mesh, face = self.surface.mesh, self.surface.face
        part = self.part[face]
        inside = part >= 0
        points = np.where(np.isfinite(mesh.positions), mesh.positions, 0).astype(np.float64)[mesh.corners]
        number = np.maximum(np.bincount(part[inside], minlength=self.count), 1)
        middle = np.stack(
            [np.bincount(part[inside], points[inside, axis], self.count) / number for axis in range(3)], axis=-1
        )
        points -= np.where(inside[:, None], middle[part] if self.count else 0, 0)
        with np.errstate(over="ignore", invalid="ignore"):
            first, after = points[polygons.starts(mesh.counts)[face]], points[polygons.next_corners(mesh.counts)]
            shares = np.einsum("ci,ci->c", first, np.cross(points, after)) / 6
        result: Floats = np.bincount(part[inside], shares[inside], self.count).astype(np.float64)
        return result

    @cached_property
    def turned_inwards(self) -> Bools:
        """(parts,): closed parts whose faces point inwards; none that is as thin as a sheet with two sides."""
        result: Bools = self.closed & (self.volumes < -WELDED / 2 * self._areas)
        return result

    @cached_property
    def _areas(self) -> Floats:
        """(parts,): area of the faces in square metres."""
        mesh, face = self.surface.mesh, self.surface.face
        points = np.where(np.isfinite(mesh.positions), mesh.positions, 0).astype(np.float64)[mesh.corners]
        points -= points[polygons.starts(mesh.counts)[face]]
        with np.errstate(over="ignore", invalid="ignore"):
            crosses = np.cross(points, points[polygons.next_corners(mesh.counts)])
            vectors = np.stack([np.bincount(face, crosses[:, axis], len(mesh.counts)) for axis in range(3)], axis=-1)
            sizes = np.linalg.norm(vectors, axis=1) / 2
        inside = self.part >= 0
        result: Floats = np.bincount(self.part[inside], sizes[inside], self.count).astype(np.float64)
        return result

    def bulging(self) -> Bools:
        """(faces,): faces outside of whose plane another point of their part is, by more than the tools allow."""
        result = np.zeros(len(self.part), np.bool_)
        order = np.argsort(self.part, kind="stable")
        ends = np.searchsorted(self.part[order], np.arange(self.count + 1))
        for number in range(self.count):
            faces = order[ends[number] : ends[number + 1]]
            if len(faces) > 3 or (len(faces) and not self.closed[number]):
                result[faces] = self._bulging(faces, -1 if self.turned_inwards[number] else 1)
        return result

    def _bulging(self, faces: Ints, side: int) -> Bools:
        mesh = self.surface.mesh
        begin = polygons.starts(mesh.counts)[faces]
        corner = polygons.corners_of(mesh.counts, faces)
        points = mesh.positions[np.unique(mesh.corners[corner])].astype(np.float64)
        result = np.zeros(len(faces), np.bool_)
        if not np.isfinite(points).all():
            return result
        size = float(np.linalg.norm(np.ptp(points, axis=0)))
        normals = side * self._normals[faces]
        first = mesh.positions[mesh.corners[begin]].astype(np.float64)
        step = max(_PAIRS_AT_ONCE // len(points), 1)
        for at in range(0, len(faces), step):
            part = slice(at, at + step)
            height = (normals[part] @ points.T).max(axis=1) - np.einsum("fi,fi->f", normals[part], first[part])
            result[part] = height > max(BULGE, BULGE_SHARE * size)
        return result

    @cached_property
    def _normals(self) -> Floats:
        mesh = self.surface.mesh
        with np.errstate(over="ignore", invalid="ignore"):
            normals = polygons.normals(mesh.positions, mesh.counts, mesh.corners).astype(np.float64)
        return np.where(np.isfinite(normals), normals, 0)

    def in_pieces(self) -> Bools:
        """(parts,): parts whose faces do not share points, directly or through each other."""
        face, point = self.surface.face, self.welded
        rows = np.stack([self.part[face], point], axis=1)
        node = polygons.row_groups(rows)
        first = node[polygons.starts(self.surface.mesh.counts)[face]]
        piece = polygons.connected(int(node.max(initial=-1)) + 1, node, first)
        pairs = np.unique(np.stack([self.part[face], piece[node]], axis=1), axis=0)
        result: Bools = np.bincount(pairs[pairs[:, 0] >= 0, 0], minlength=self.count) > 1
        return result

    def numbers(self) -> Iterator[int]:
        """Yield the numbers of the components' names."""
        for name in self.names:
            if (match := COMPONENT.fullmatch(name)) is not None:
                yield int(match[1])


def _are_components(mesh: PolygonMesh) -> Bools:
    """(groups,): which groups are components."""
    return np.array([COMPONENT.fullmatch(group) is not None for group in mesh.groups], np.bool_)


def edges_among(surface: Surface, pairs: NDArray[np.int32] | None) -> Ints:
    """Return the edges of faces that are among these pairs (n, 2) of vertices."""
    if pairs is None:
        return _NONE
    count = len(surface.mesh.positions)
    ends = np.sort(np.stack([surface.mesh.corners.astype(np.int64), surface.following], axis=1), axis=1)
    wanted = np.sort(pairs.astype(np.int64), axis=1)
    inside = np.isin(ends @ np.array([count, 1]), wanted @ np.array([count, 1]))
    return surface.edge[inside]


def faces_of_groups(mesh: PolygonMesh, wanted: Bools) -> tuple[Ints, Ints]:
    """Return pairs of a face and a group, of those ``wanted`` (groups,), that has all of its vertices."""
    if mesh.weights is None:
        return _NONE, _NONE
    kept = wanted[mesh.weights.groups] & (np.rint(mesh.weights.weights * 256) > 0)
    vertices, groups = mesh.weights.vertices[kept].astype(np.int64), mesh.weights.groups[kept].astype(np.int64)
    order = np.argsort(vertices, kind="stable")
    groups = groups[order]
    number = np.bincount(vertices, minlength=len(mesh.positions))
    each = number[mesh.corners]
    member = polygons.corners_of(number, mesh.corners)
    key = np.repeat(polygons.face_of_corner(mesh.counts), each) * len(mesh.groups) + groups[member]
    keys, count = np.unique(key, return_counts=True)
    keys = keys[count == mesh.counts[keys // len(mesh.groups)]]
    return keys // len(mesh.groups), keys % len(mesh.groups)


def mass_of_points(
    mesh: PolygonMesh, total: float, *, by_volume: bool, chosen: Bools | None = None
) -> tuple[NDArray[np.float32], Bools]:
    """Return (vertices,) kg, and which vertices get it: ``total`` in equal parts on the ``chosen`` vertices of faces
    (by default all), or by volume on all vertices of the pieces with chosen ones.

    A mesh without faces gets it on its vertices. Raises `WriteError` for volumes that are not closed or 0.
    """
    surface, count = Surface(mesh), len(mesh.positions)
    chosen = np.ones(count, np.bool_) if chosen is None else chosen
    if by_volume:
        volumes = chosen_volumes(surface, chosen)
        pairs = np.unique(surface.piece[surface.face] * count + mesh.corners)
        piece, vertex = pairs // count, pairs % count
        share = (volumes / volumes.sum() / np.bincount(piece))[piece]
        replaced = np.bincount(vertex, volumes[piece] > 0, minlength=count) > 0
        return (total * np.bincount(vertex, share, minlength=count)).astype(np.float32), replaced
    used = np.bincount(mesh.corners, minlength=count) > 0 if len(mesh.corners) else np.ones(count, np.bool_)
    used &= chosen
    return np.where(used, total / max(int(used.sum()), 1), 0).astype(np.float32), used


def chosen_volumes(surface: Surface, chosen: Bools) -> Floats:
    """Return (pieces,) the volumes in cubic metres of the pieces with ``chosen`` vertices, 0 for the others.

    Raises `WriteError` for volumes that are not closed or 0.
    """
    mesh = surface.mesh
    wanted = np.zeros(len(surface.volumes), np.bool_)
    wanted[surface.piece[surface.face[chosen[mesh.corners]]]] = True
    edges = surface.edge[wanted[surface.piece[surface.face]]] if len(mesh.counts) else _NONE
    if not len(edges) or (surface.uses[edges] != 2).any():
        raise WriteError(
            say("{!r} is not closed, so its volume is unknown", mesh.name),
            remedy="Close it (see Select Invalid Elements), or distribute the mass evenly",
        )
    result = np.where(wanted, np.abs(surface.volumes), 0)
    if not float(result.sum()) > 0:
        raise WriteError(say("{!r} has no volume", mesh.name), remedy="Distribute the mass evenly")
    return result
