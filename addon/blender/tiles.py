"""Values on the ground: a square for each point, apart from all others, so that one moves without its neighbours.

Edges are handed over with the faces: Blender need not look for them, which is most of what a mesh costs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core.model import Attribute, Domain
from ..core.scratch import scratch
from . import attributes
from .mesh import outside_edit_mode, positions_of

if TYPE_CHECKING:
    from .typed import Mesh, Object


CORNERS = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], np.float32)
"""Of a square of 2 x 2 around the origin, counter-clockwise seen from above."""


def build(
    name: str,
    points: NDArray[np.float32],
    side: float,
    values: Iterable[tuple[str, NDArray[Any]]],
    slots: tuple[Sequence[Any], NDArray[np.int32]],
) -> Any:
    """A mesh object, linked nowhere yet: level squares of ``side`` metres around ``points`` (n, 3), facing up.

    ``values`` (name, (n, …)) become attributes of the faces, each asked for when its turn comes; ``slots`` are
    materials and which of them each face (n,) has.
    """
    data: Any = bpy.data.meshes.new(name)
    if len(points):
        _build_squares(data, points, side)
    del points
    materials, index = slots
    for made in materials:
        data.materials.append(made)
    if index.any():
        attributes.build(data, {"material_index": Attribute(Domain.FACE, index)})
    del slots, index
    for key, column in values:
        attributes.build(data, {key: Attribute(Domain.FACE, column)})
    data.update()
    return bpy.data.objects.new(name, data)


def _build_squares(data: Mesh, points: NDArray[np.float32], side: float) -> None:
    count = 4 * len(points)
    # One piece of memory for one thing after the other: together they are as large as the mesh.
    positions = scratch((len(points), 4, 3), np.float32)
    np.add(points[:, None, :], CORNERS * np.float32(side / 2), out=positions)
    data.vertices.add(count)
    data.attributes["position"].data.foreach_set("vector", positions.ravel())
    numbers = positions.ravel().view(np.int32)
    corners, ends = numbers[:count], numbers[count:].reshape(-1, 4, 2)
    corners[:] = np.arange(count, dtype=np.int32)
    data.loops.add(count)
    data.attributes[".corner_vert"].data.foreach_set("value", corners)
    data.polygons.add(len(points))
    data.polygons.foreach_set("loop_start", corners[::4].copy())
    ends[..., 0] = corners.reshape(-1, 4)
    ends[:, :3, 1], ends[:, 3, 1] = ends[:, 1:, 0], ends[:, 0, 0]
    data.edges.add(count)
    data.attributes[".edge_verts"].data.foreach_set("value", ends.ravel())
    data.attributes[".corner_edge"].data.foreach_set("value", corners)


def gather(
    shown: Object, wanted: attributes.Wanted, colours: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64], dict[str, NDArray[Any]]]:
    """The faces of a mesh, in world space: middles (faces, 2), heights (faces, 2) of the lowest and the highest corner,
    and those of the ``wanted`` attributes, and of the ones of four numbers named ``colours``, if they exist.
    """
    with outside_edit_mode(shown) as data:
        place = np.array(shown.matrix_world, np.float64)
        positions = positions_of(data).astype(np.float64)
        if not np.array_equal(place, np.eye(4)):
            positions = positions @ place[:3, :3].T + place[:3, 3]
        found = {name: attributes.gather(data, name, *about) for name, about in wanted.items()}
        found |= {name: attributes.gather_colours(data, name, Domain.FACE) for name in colours}
        values = {name: column for name, column in found.items() if column is not None}
        count = len(data.polygons)
        if not count:
            return np.zeros((0, 2)), np.zeros((0, 2)), values
        corners, starts, sizes = (np.empty(length, np.int32) for length in (len(data.loops), count, count))
        data.attributes[".corner_vert"].data.foreach_get("value", corners)
        data.polygons.foreach_get("loop_start", starts)
        data.polygons.foreach_get("loop_total", sizes)
    middles = np.stack([np.add.reduceat(positions[corners, axis], starts) / sizes for axis in (0, 1)], axis=1)
    heights = positions[corners, 2]
    extremes = np.stack([np.minimum.reduceat(heights, starts), np.maximum.reduceat(heights, starts)], axis=1)
    return middles, extremes, values
