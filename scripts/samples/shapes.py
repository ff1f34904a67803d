"""Solid shapes of the showcase: tubes and blocks along a line, with normals, texture coordinates and bones.

Axes are those of whoever uses a shape; the cross product of a face's first two edges always points outwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Point = tuple[float, float, float]
Follows = str | tuple[str, str, float]
"""A bone, or two bones and the share of the second."""

GRID = 4
"""Swatches of the texture in each direction."""
INSET = 0.03
"""Part of a swatch at its edges that no face uses, so that neighbours do not bleed in."""


@dataclass
class Solid:
    """Quads: ``points`` and ``normals`` (quads, 4, 3), ``uvs`` (quads, 4, 2); of each corner two bones and a share."""

    points: list[Floats] = field(default_factory=list)
    normals: list[Floats] = field(default_factory=list)
    uvs: list[Floats] = field(default_factory=list)
    bones: list[tuple[str, str]] = field(default_factory=list)
    """Of each corner."""
    shares: list[float] = field(default_factory=list)
    """Of each corner: how much it follows the second of its bones."""

    def tube(
        self,
        line: Sequence[Point],
        radii: Sequence[float | tuple[float, float]],
        follows: Follows | Sequence[Follows],
        swatch: int,
        *,
        side: Point = (1.0, 0.0, 0.0),
        segments: int = 12,
        square: float = 1.0,
    ) -> None:
        """Add a closed tube along a line. ``radii``: along ``side`` and across; ``square``: 1 is round, 0.2 a box."""
        # Rings of no size close both ends.
        whole = [line[0], *line, line[-1]]
        pairs = [radius if isinstance(radius, tuple) else (radius, radius) for radius in radii]
        sizes = [(0.0, 0.0), *pairs, (0.0, 0.0)]
        angles = 2 * np.pi * (np.arange(segments) + 0.5) / segments
        shape = np.array([np.sign(part) * np.abs(part) ** square for part in (np.cos(angles), np.sin(angles))])
        rings = [
            _ring(np.array(centre), _direction(line, number), np.array(side), shape * np.array(size)[:, None])
            for number, (centre, size) in enumerate(zip(whole, sizes, strict=True))
        ]
        grid = np.array(rings)  # (rings, segments, 3)
        each = [follows] * len(line) if isinstance(follows, str) or isinstance(follows[-1], float) else list(follows)
        owners = [each[0], *each, each[-1]]
        quads = np.stack([grid[:-1], np.roll(grid, -1, 1)[:-1], np.roll(grid, -1, 1)[1:], grid[1:]], axis=2)
        flat = quads.reshape(-1, 4, 3)
        facing = np.cross(flat[:, 2] - flat[:, 0], flat[:, 3] - flat[:, 1])
        middle = np.repeat((np.array(whole)[:-1] + np.array(whole)[1:]) / 2, segments, axis=0)
        turned = np.sum(facing * (flat.mean(axis=1) - middle)) < 0
        smooth = _smooth(facing.reshape(len(grid) - 1, segments, 3) * (-1 if turned else 1))
        corners = np.stack([smooth[:-1], np.roll(smooth, -1, 1)[:-1], np.roll(smooth, -1, 1)[1:], smooth[1:]], axis=2)
        rows, columns = np.meshgrid(np.arange(len(grid) - 1), np.arange(segments), indexing="ij")
        u, v = columns / segments, rows / (len(grid) - 1)
        du, dv = 1 / segments, 1 / (len(grid) - 1)
        uvs = np.stack(
            [np.stack(pair, -1) for pair in ((u, v), (u + du, v), (u + du, v + dv), (u, v + dv))], axis=2
        ).reshape(-1, 4, 2)
        order = [0, 3, 2, 1] if turned else [0, 1, 2, 3]
        corner = np.array([swatch % GRID, swatch // GRID])
        self.points.append(flat[:, order])
        self.normals.append(corners.reshape(-1, 4, 3)[:, order])
        self.uvs.append((corner + INSET + (1 - 2 * INSET) * uvs[:, order]) / GRID)
        for row in rows.ravel():
            both = [owners[row], owners[row], owners[row + 1], owners[row + 1]]
            for owner in (both[corner] for corner in order):
                first, second, share = (owner, owner, 0.0) if isinstance(owner, str) else owner
                self.bones.append((first, second))
                self.shares.append(share)

    def block(self, low: Point, high: Point, follows: Follows, swatch: int) -> None:
        """Add a box with slightly round edges between two corners."""
        (x, y, z), (right, top, far) = low, high
        centre_x, centre_z = (x + right) / 2, (z + far) / 2
        size = ((right - x) / 2, (far - z) / 2)
        rim = min(top - y, *size) * 0.15
        line = [(centre_x, at, centre_z) for at in (y, y + rim, top - rim, top)]
        smaller = (size[0] - rim, size[1] - rim)
        self.tube(line, [smaller, size, size, smaller], follows, swatch, segments=16, square=0.2)

    def arrays(self) -> tuple[Floats, Floats, Floats]:
        """Return points, normals and texture coordinates of all quads."""
        return np.concatenate(self.points), np.concatenate(self.normals), np.concatenate(self.uvs)


def _direction(line: Sequence[Point], number: int) -> Floats:
    """Return the direction of the line at a ring; the first and the last ring close the ends."""
    points = np.array(line)
    at = min(max(number - 1, 0), len(line) - 1)
    step = points[min(at + 1, len(line) - 1)] - points[max(at - 1, 0)]
    return np.asarray(step / np.linalg.norm(step))


def _ring(centre: Floats, direction: Floats, side: Floats, shape: Floats) -> Floats:
    """Return the points of a ring; ``shape`` (2, points): along ``side`` and across, about 0."""
    across = side - direction * np.dot(side, direction)
    across /= np.linalg.norm(across)
    return np.asarray(centre + shape[0][:, None] * across + shape[1][:, None] * np.cross(direction, across))


def _smooth(facing: Floats) -> Floats:
    """Return the normals of all points of a tube from those of its faces (rings - 1, segments, 3)."""
    around = facing + np.roll(facing, 1, 1)
    total = np.concatenate([around[:1], around[:-1] + around[1:], around[-1:]])
    # The two ends are points: their faces' normals are added around the whole ring.
    total[0], total[-1] = total[0].sum(0), total[-1].sum(0)
    return np.asarray(total / np.maximum(np.linalg.norm(total, axis=-1, keepdims=True), 1e-12))
