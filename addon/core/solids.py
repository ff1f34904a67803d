"""Closed bodies around points: convex hulls and boxes, as triangles that face outwards, and their volumes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

DIRECTIONS = 96
"""A hull has the outermost points in so many directions, and no others."""
TOLERANCE = 1e-6
"""Distance from a plane, as a share of the size of all points, that counts as none."""
NEAR_TOLERANCE = (1, -1, 4, -4, 16, -16, 64, -64)
"""Heights over a face, in tolerances, above which a point sees it, in the order in which they are tried."""
THINNEST_FACE = 10
"""Smallest height of a triangle of a hull over its longest side, in tolerances."""
OUTSIDE = 1e-4
"""How far outside a point must be to be added to a hull, as a share of the size of all points."""
TURNED = 0.7
"""A box along the axes of the points is taken if its volume is less than this share of that along x, y and z."""


@dataclass(frozen=True, eq=False)
class Solid:
    """A closed body: ``positions`` (vertices, 3), ``triangles`` (faces, 3), counter-clockwise seen from outside."""

    positions: Floats
    triangles: Ints

    @property
    def volume(self) -> float:
        """In cubic metres."""
        points = (self.positions - self.positions.mean(axis=0))[self.triangles]
        return float(np.einsum("fi,fi->f", points[:, 0], np.cross(points[:, 1], points[:, 2])).sum() / 6)


def box(points: Floats, thinnest: float) -> Solid:
    """Return the box around points (n, 3) along x, y and z, or along the axes of the points if that is much smaller.

    Each side is at least ``thinnest`` metres long.
    """
    axes = np.eye(3)
    middle = points.mean(axis=0)
    own = _axes(points - middle)
    if _volume(points @ own, thinnest) < TURNED * _volume(points @ axes, thinnest):
        axes = own
    low, high = (points @ axes).min(axis=0), (points @ axes).max(axis=0)
    more = np.maximum(thinnest - (high - low), 0) / 2
    low, high = low - more, high + more
    corners = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)])
    quads = np.array([[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]])
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    return Solid((low + corners * (high - low)) @ axes.T, triangles)


def _axes(points: Floats) -> Floats:
    """(3, 3): columns are the directions in which points spread most, second and least; a right-handed system."""
    _, axes = np.linalg.eigh(points.T @ points)
    axes = axes[:, ::-1]
    # The same signs on every machine: the largest element of an axis is positive.
    largest = np.abs(axes).argmax(axis=0)
    axes = axes * np.sign(axes[largest, np.arange(3)])
    if np.linalg.det(axes) < 0:
        axes[:, 2] *= -1
    return np.asarray(axes, np.float64)


def _volume(points: Floats, thinnest: float) -> float:
    return float(np.maximum(np.ptp(points, axis=0), thinnest).prod())


def hull(points: Floats, thinnest: float) -> Solid:
    """Return the convex hull of points (n, 3), or a box if they are in a plane or closer to it than ``thinnest``.

    Of many points it is that of the outermost ones in `DIRECTIONS`.
    """
    centred = points - points.mean(axis=0)
    if float(np.ptp(centred @ _axes(centred), axis=0).min()) < thinnest:
        return box(points, thinnest)
    chosen = outermost(points)
    triangles = _hull_of(points[chosen])
    if triangles is None:
        return box(points, thinnest)
    used, index = np.unique(triangles, return_inverse=True)
    return Solid(points[chosen[used]], index.reshape(-1, 3).astype(np.int64))


def outermost(points: Floats) -> Ints:
    """Return the indices of the outermost of points (n, 3) in each direction."""
    number = np.arange(DIRECTIONS) + 0.5
    height, angle = 1 - 2 * number / DIRECTIONS, np.pi * (1 + 5**0.5) * number
    around = np.sqrt(1 - height**2)
    directions = np.stack([around * np.cos(angle), around * np.sin(angle), height], axis=1)
    corners = np.array([[x, y, z] for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)], np.float64)
    result: Ints = np.unique((points @ np.concatenate([directions, corners]).T).argmax(axis=0)).astype(np.int64)
    return result


def _hull_of(points: Floats) -> Ints | None:
    """Return the triangles of the convex hull of a few points, None if they are nearly in a plane.

    Points are added one by one, the one farthest outside first: the faces that see a point are replaced by those from
    their outline to the point. So what is added last, or left out, is nearly in a face.
    """
    tolerance = TOLERANCE * float(np.linalg.norm(np.ptp(points, axis=0)))
    first = _tetrahedron(points, tolerance)
    if first is None:
        return None
    triangles = first
    left = np.setdiff1d(np.arange(len(points)), first)
    while len(left):
        normals, heights = _planes(points, triangles)
        height = points[left] @ normals.T - heights
        highest = height.max(axis=1)
        farthest = int(highest.argmax())
        if highest[farthest] <= OUTSIDE / TOLERANCE * tolerance:
            break
        triangles = _with_point(points, triangles, int(left[farthest]), height[farthest], tolerance)
        left = np.delete(left, farthest)
    return triangles


def _with_point(points: Floats, triangles: Ints, point: int, height: Floats, tolerance: float) -> Ints:
    """Return the triangles of a hull with another point, which is at this ``height`` (faces,) over the faces.

    Faces nearly in one plane with the point may or may not see it: of the choices near the tolerance the first one
    counts that leaves the hull closed. Without such a choice the point is left out.
    """
    for share in NEAR_TOLERANCE:
        sees = height > share * tolerance
        seen = triangles[sees]
        sides = np.stack([seen, np.roll(seen, -1, axis=1)], axis=2).reshape(-1, 2)
        outline = sides[~np.isin(sides @ [len(points), 1], sides @ [1, len(points)])]
        cone = np.concatenate([outline, np.full((len(outline), 1), point)], axis=1)
        if _is_loop(outline) and _heights(points, cone).min() > THINNEST_FACE * tolerance:
            return np.concatenate([triangles[~sees], cone])
    return triangles


def _is_loop(outline: Ints) -> bool:
    """Return whether directed edges (n, 2) are one loop."""
    following = dict(outline.tolist())
    if len(following) < len(outline) or not following:
        return False
    first = vertex = int(outline[0, 0])
    for step in range(1, len(following) + 1):
        vertex = following.get(vertex, -1)
        if vertex == first:
            return step == len(following)
    return False


def _heights(points: Floats, triangles: Ints) -> Floats:
    """(faces,): height of each triangle over its longest side."""
    corner = points[triangles]
    sides = corner - np.roll(corner, -1, axis=1)
    longest = np.linalg.norm(sides, axis=2).max(axis=1)
    result: Floats = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1) / np.where(longest > 0, longest, 1)
    return result


def _planes(points: Floats, triangles: Ints) -> tuple[Floats, Floats]:
    corner = points[triangles]
    normals = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = normals / np.where(length > 0, length, 1)
    return normals, np.einsum("fi,fi->f", normals, corner[:, 0])


def _tetrahedron(points: Floats, tolerance: float) -> Ints | None:
    start = int(points[:, 0].argmin())
    end = int(np.linalg.norm(points - points[start], axis=1).argmax())
    along = points[end] - points[start]
    across = np.linalg.norm(np.cross(points - points[start], along), axis=1)
    third = int(across.argmax())
    if across[third] <= tolerance * np.linalg.norm(along):
        return None
    normal = np.cross(along, points[third] - points[start])
    height = (points - points[start]) @ normal / np.linalg.norm(normal)
    top = int(np.abs(height).argmax())
    if abs(height[top]) <= tolerance:
        return None
    if height[top] > 0:
        end, third = third, end
    return np.array([[start, end, third], [start, third, top], [end, start, top], [third, end, top]])
