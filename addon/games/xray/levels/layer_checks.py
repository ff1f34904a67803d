"""Checks across the layers of a level: visuals against collision, occluders, portals, detail objects, the AI map.

Distances are from a face's centre to the nearest face of the other layer. Trees count as their bounding boxes: in real
levels they have ten million faces, and most of these have no collision.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from mathutils import Vector
from mathutils.bvhtree import BVHTree
from numpy.typing import NDArray

from ....blender import attributes
from ....blender import mesh as meshes
from ....blender.properties import kept
from ....blender.transforms import in_world, world_matrix
from ....core import pausing, problems
from ....core.model import Domain
from ....core.problems import Problem
from ....core.report import Report, say
from ....formats.xray import details, level_ai
from ....formats.xray import level as levels
from ....formats.xray.level import mesh as visual_mesh
from ....formats.xray.level import structure
from . import tree_sets
from .details import gather_ground
from .properties import meshes_of

if TYPE_CHECKING:
    from ....blender.typed import Object, Scene


Floats = NDArray[np.float64]
Finding = tuple[Any, Problem]

LARGEST_GAP = 0.5
"""Distance in metres of visual and collision meshes above which they are reported; compilers keep them within 1 cm."""
MOST_COVER = 10.0
"""Height in metres above a node within which ground that covers it is searched for."""
OCCLUDER_GAP = 0.25
"""Distance in metres that an occluder may be in front of a wall."""
PLANE_TOLERANCE = 0.01
"""Distance in metres that a corner of a portal may be off its plane; real ones are within 1e-5."""
MOST_NAMED = 20
"""Most objects that one check reports one by one; the others are counted."""
_POINTS_PER_PAUSE = 4096
"""Number of points after which the checks may be stopped."""
_SQUARES = 1024
"""Number of squares along each side of the area in which faces beside points are searched for."""
_SAMPLE_OFFSETS = np.array([(0, 0), (0.5, 0.5), (0.5, -0.5), (-0.5, 0.5), (-0.5, -0.5)])
"""Offsets in metres from the centre of a slot of 2 m at which ground is searched for."""


def find(scene: Scene, holder: Object) -> list[Finding]:
    """Return the warnings of all checks on the level file stored by ``holder``, each with its object.

    For an AI map only its nodes are checked.
    """
    layers = _Layers(scene, holder)
    result: list[Finding] = []
    checks = (_nodes,) if holder.motionbridge_level.kind == "AI" else _CHECKS
    for number, check in enumerate(checks):
        layers.done = number / len(checks)
        layers.pause()
        result += _summarised(list(check(layers)))
    return result


def _summarised(result: list[Finding]) -> list[Finding]:
    """Keep the findings with the most elements and summarise the others as a count."""
    if len(result) <= MOST_NAMED:
        return result
    result.sort(key=lambda finding: -len(finding[1].elements))
    rest = result[MOST_NAMED:]
    kept, problem = result[:MOST_NAMED], rest[0][1]
    words = say("{:# object|# objects} more with fewer: {}", len(rest), problem.kind)
    return [*kept, (rest[0][0], Problem(words, problem.remedy, problem.domain, problem.elements[:0]))]


class _Layers:
    """The objects of one level by kind, and search trees of their faces, built on first use."""

    def __init__(self, scene: Scene, holder: Object) -> None:
        self.holder = holder
        folder = Path(bpy.path.abspath(holder.motionbridge_level.path)).parent
        self.objects_by_kind: dict[str, list[Any]] = {}
        for obj in scene.objects:
            properties = obj.motionbridge_level
            mine = properties.level_file == holder
            beside = bool(properties.path) and Path(bpy.path.abspath(properties.path)).parent == folder
            if mine or beside:
                self.objects_by_kind.setdefault(properties.kind, []).extend([obj] if mine else meshes_of(obj))
        for objects in self.objects_by_kind.values():
            objects.sort(key=lambda obj: str(obj.name_full))
        self.done = 0.0
        self._faces: dict[str, Floats] = {}
        self._trees: dict[str, Any] = {}
        self._boxes: Floats | None = None

    def pause(self) -> None:
        """Let the user stop the checks here."""
        pausing.pause(self.done)

    def each(self, points: Floats, which: NDArray[np.bool_] | None = None) -> Iterator[int]:
        """Yield the indices of finite points (n, 3), or of ``which`` (n,); the user may stop the checks in between."""
        chosen = np.isfinite(points).all(axis=1) if which is None else which
        for step, number in enumerate(np.flatnonzero(chosen).tolist()):
            if step % _POINTS_PER_PAUSE == 0:
                self.pause()
            yield number

    def of(self, kind: str) -> list[Any]:
        """Return the meshes of a kind, by name."""
        return [obj for obj in self.objects_by_kind.get(kind, []) if obj.type == "MESH"]

    def faces(self, kind: str) -> Floats:
        """Return the corners (m, 3, 3) of all finite triangles of a kind in world space."""
        if kind not in self._faces:
            corners = [np.zeros((0, 3, 3))]
            for obj in self.of(kind):
                points, triangles = _faces(obj)
                corners.append(points[triangles])
                self.pause()
            whole = np.concatenate(corners)
            self._faces[kind] = whole[np.isfinite(whole).all(axis=(1, 2))]
        return self._faces[kind]

    def tree(self, kind: str) -> Any:
        """Return a search tree of all faces of a kind; None if there are none."""
        if kind not in self._trees:
            corners = self.faces(kind)
            self._trees[kind] = _search_tree(corners) if len(corners) else None
        return self._trees[kind]

    def in_trees(self, points: Floats) -> NDArray[np.bool_]:
        """Return (n,) which points (n, 3) are within `LARGEST_GAP` of the bounding box of a tree."""
        if self._boxes is None:
            placed = [
                (obj, world_matrix(obj)) if part is None else (part, world_matrix(obj) @ world_matrix(part))
                for obj in self.objects_by_kind.get("TREE", [])
                for part in tree_sets.parts_of(obj.motionbridge_level.parts).values() or [None]
            ]
            boxes = np.array([obj.bound_box for obj, _ in placed], np.float64).reshape(-1, 8, 3)
            matrices = np.array([matrix for _, matrix in placed]).reshape(-1, 4, 4)
            corners = boxes @ matrices[:, :3, :3].swapaxes(1, 2) + matrices[:, None, :3, 3]
            self._boxes = np.stack([corners.min(axis=1), corners.max(axis=1)], axis=1)
        return _inside(self._boxes, points, points, LARGEST_GAP)

    def boxes(self) -> Floats:
        """Return boxes (n, 2, 3) of surfaces and trees, for a level without its vertices."""
        if not kept(self.holder.motionbridge_level, "document") or self.holder.motionbridge_level.kind != "LEVEL":
            return np.zeros((0, 2, 3))
        document = levels.read(kept(self.holder.motionbridge_level, "document"), "", Report())
        drawn = np.flatnonzero(np.isin(document.visuals.types, (*visual_mesh.SURFACES, *visual_mesh.TREES)))
        return np.asarray(structure.boxes(document, drawn), np.float64)


def _inside(boxes: Floats, low: Floats, high: Floats, around: float) -> NDArray[np.bool_]:
    """Return (n,) which vertical lines from ``low`` to ``high`` (n, 3) come within ``around`` metres of a box."""
    inside = np.zeros(len(low), np.bool_)
    order = np.argsort(low[:, 0])
    along = low[order, 0]
    least, most = boxes[:, 0] - around, boxes[:, 1] + around
    starts, stops = np.searchsorted(along, least[:, 0]), np.searchsorted(along, most[:, 0], side="right")
    for number, (start, stop) in enumerate(zip(starts.tolist(), stops.tolist(), strict=True)):
        here = order[start:stop]
        inside[here] |= ((high[here] >= least[number]) & (low[here] <= most[number])).all(axis=1)
    return inside


def _faces(obj: Object) -> tuple[Floats, NDArray[np.int64]]:
    """Return vertices (n, 3) in world space, and triangles (m, 3)."""
    data = obj.data
    triangles, _ = meshes.triangles_of(data)
    return in_world(obj, meshes.positions_of(data)), meshes.corner_vertices(data)[triangles].astype(np.int64)


def _middles(obj: Object) -> Floats:
    """Return the centres of polygons (polygons, 3) in world space."""
    return in_world(obj, meshes.column(obj.data.polygons, "center", len(obj.data.polygons), 3))


def _search_tree(corners: Floats) -> Any:
    """Return a search tree of triangles (m, 3, 3)."""
    vertices = corners.reshape(-1, 3)
    return BVHTree.FromPolygons(vertices.tolist(), np.arange(len(vertices)).reshape(-1, 3).tolist())


def _far_from(layers: _Layers, points: Floats, kind: str) -> NDArray[np.bool_]:
    """Return (n,) which finite points (n, 3) have no face of a kind within `LARGEST_GAP`.

    Most have: these share a small cell with a centre or a corner of a face, which is faster than searching a tree.
    """
    result: NDArray[np.bool_] = np.all(np.isfinite(points), axis=1)
    faces = layers.faces(kind)
    centres, corners = faces.mean(axis=1), faces.reshape(-1, 3)
    for samples, shift in ((centres, 0.0), (centres, 0.5), (corners, 0.0)):
        cells = _cells(points[result], shift)
        known = np.append(np.sort(_cells(samples, shift)), -1)
        result[result] = (cells != known[np.searchsorted(known[:-1], cells)]) | (cells < 0)
        layers.pause()
    faces = faces[_beside(faces, points[result])]
    if not len(faces):
        return result
    tree = _search_tree(faces)
    for number in layers.each(points, result):
        result[number] = tree.find_nearest(points[number], LARGEST_GAP)[0] is None
    return result


def _cells(points: Floats, shift: float) -> NDArray[np.int64]:
    """Return (n,) the number of the cell of each point (n, 3) in a grid, -1 beyond 500 km.

    Points in one cell are closer than `LARGEST_GAP`. ``shift`` moves the grid, in cells.
    """
    cells = np.floor(points * (2 / LARGEST_GAP) + shift) + (1 << 20)
    beyond = ((cells < 0) | (cells >= 1 << 21)).any(axis=1)
    cells[beyond] = 0
    x, y, z = cells.astype(np.int64).T
    return np.where(beyond, -1, (x << 42) | (y << 21) | z)


def _beside(faces: Floats, points: Floats) -> NDArray[np.bool_]:
    """Return (m,) which triangles (m, 3, 3) may have one of the points (n, 3) within `LARGEST_GAP`, seen from above."""
    if not len(points):
        return np.zeros(len(faces), np.bool_)
    start = points[:, :2].min(axis=0)
    side = np.maximum(points[:, :2].max(axis=0) - start, 1.0) / _SQUARES

    def square(positions: Floats) -> NDArray[np.int64]:
        return np.clip(np.floor((positions - start) / side), -1, _SQUARES).astype(np.int64) + 1

    counts = np.zeros((_SQUARES + 2, _SQUARES + 2), np.int64)
    np.add.at(counts, tuple(square(points[:, :2]).T), 1)
    below = counts.cumsum(axis=0).cumsum(axis=1)  # of each square, and of all squares before it in x and y
    left, near = (square(faces[..., :2].min(axis=1) - LARGEST_GAP) - 1).clip(0).T
    right, far = square(faces[..., :2].max(axis=1) + LARGEST_GAP).T
    return below[right, far] - below[left, far] - below[right, near] + below[left, near] > 0


def _far_objects(layers: _Layers, kind: str, other: str) -> Iterator[tuple[Object, Floats, NDArray[np.bool_]]]:
    """Yield each mesh of a kind with faces far from all faces of the other: its centres (n, 3), and which are (n,).

    All meshes are compared at once. None is far if the level has no faces of the other kind.
    """
    if not len(layers.faces(other)):
        return
    objects = layers.of(kind)
    middles = [_middles(obj) for obj in objects]
    far = _far_from(layers, np.concatenate([np.zeros((0, 3)), *middles]), other)
    ends = np.cumsum([len(own) for own in middles]).tolist()
    for obj, own, end in zip(objects, middles, ends, strict=True):
        wrong = far[end - len(own) : end]
        if wrong.any():
            yield obj, own, wrong


def _without_collision(layers: _Layers) -> Iterator[Finding]:
    for obj, _, wrong in _far_objects(layers, "SURFACE", "CFORM"):
        remedy = "Check whether something can be walked through there"
        yield from _of(
            obj,
            problems.some(
                wrong, "face|faces", "{0:is|are} farther than {2:g} m from collision", remedy, values=(LARGEST_GAP,)
            ),
        )


def _without_visuals(layers: _Layers) -> Iterator[Finding]:
    for obj, middles, wrong in _far_objects(layers, "CFORM", "SURFACE"):
        wrong[wrong] = ~layers.in_trees(middles[wrong])
        remedy = "Check whether there is an invisible wall"
        what = "{0:is|are} farther than {2:g} m from what is seen"
        problem = problems.some(wrong, "collision face|collision faces", what, remedy, values=(LARGEST_GAP,))
        yield from _of(obj, problem)


def _occluders_outside(layers: _Layers) -> Iterator[Finding]:
    tree = layers.tree("SURFACE") if layers.of("HOM") else None
    boxes = layers.boxes() if tree is None and layers.of("HOM") else np.zeros((0, 2, 3))
    for obj in layers.of("HOM") if tree is not None or len(boxes) else ():
        points, faces = _faces(obj)
        samples = np.concatenate([points[faces], points[faces].mean(axis=1, keepdims=True)], axis=1)
        flat = samples.reshape(-1, 3)
        if tree is not None:
            outside = _in_front(layers, flat, tree)
        else:  # below a box they are in the ground
            outside = ~_inside(boxes, flat, flat + np.array((0, 0, np.inf)), OCCLUDER_GAP)
        outside = outside.reshape(-1, 4)
        outside[outside] = ~layers.in_trees(samples[outside])
        _, polygons = meshes.triangles_of(obj.data)
        wrong = np.zeros(len(obj.data.polygons), np.bool_)
        wrong[polygons[outside.any(axis=1)]] = True
        what = "{0:sticks|stick} out of what is seen by more than {2:g} m"
        if tree is None:
            what = "{0:sticks|stick} out of what is seen (as boxes) by more than {2:g} m"
        remedy = "Move {0:it|them} into walls: {0:it hides|they hide} what is seen"
        yield from _of(obj, problems.some(wrong, "occluder|occluders", what, remedy, values=(OCCLUDER_GAP,)))


def _in_front(layers: _Layers, points: Floats, tree: Any) -> NDArray[np.bool_]:
    """Return (n,) which points (n, 3) are in front of the nearest face by more than `OCCLUDER_GAP`."""
    result = np.zeros(len(points), np.bool_)
    for number in layers.each(points):
        nearest, normal, _, _ = tree.find_nearest(points[number])
        result[number] = nearest is not None and (Vector(points[number]) - nearest).dot(normal) > OCCLUDER_GAP
    return result


def is_bent(corners: Floats) -> bool:
    """Return whether corners (n, 3) of a portal are not in one plane."""
    middle = corners - corners.mean(axis=0)
    return bool(np.abs(middle @ np.linalg.svd(middle)[2][2]).max() > PLANE_TOLERANCE)


def _bent_portals(layers: _Layers) -> Iterator[Finding]:
    for obj in layers.of("PORTAL"):
        corners = meshes.positions_of(obj.data).astype(np.float64)
        if len(corners) < 3 or not np.isfinite(corners).all():
            continue
        wrong = np.full(len(obj.data.polygons), is_bent(corners))
        yield from _of(
            obj,
            problems.some(wrong, "portal|portals", "{0:does|do} not lie in a plane", "Scale it flat along its normal"),
        )


def _details_over_void(layers: _Layers) -> Iterator[Finding]:
    if not layers.of("DETAILS"):
        return
    tree = layers.tree("CFORM") or layers.tree("SURFACE")
    boxes = layers.boxes() if tree is None else np.zeros((0, 2, 3))
    for obj in layers.of("DETAILS") if tree is not None or len(boxes) else ():
        ground = gather_ground(obj)
        planted = np.zeros(len(ground.positions), np.bool_)
        for name in details.MODEL:
            numbers = ground.values(name, Domain.VERTEX)
            planted |= np.zeros(len(planted), np.bool_) if numbers is None else numbers != details.EMPTY
        planted &= np.isfinite(ground.positions).all(axis=1)
        heights = ground.values(details.HEIGHT, Domain.VERTEX)
        reach = (np.zeros(len(planted)) if heights is None else heights.astype(np.float64)) + 2 * LARGEST_GAP
        low = ground.positions[planted].astype(np.float64) - (0, 0, LARGEST_GAP)
        wrong = np.zeros(len(planted), np.bool_)
        wrong[planted] = ~_grounded(layers, low, reach[planted], tree, boxes)
        what = "{0:has|have} detail models and no ground"
        if tree is None:
            what = "{0:has|have} detail models outside all surfaces"
        remedy = "Remove {0:its|their} models, or extend the surface below"
        yield from _of(obj, problems.some(wrong, "slot|slots", what, remedy))


def _grounded(layers: _Layers, low: Floats, height: Floats, tree: Any, boxes: Floats) -> NDArray[np.bool_]:
    """Return (n,) whether there is ground above the points ``low`` (n, 3), at most ``height`` (n,) metres.

    If ``tree`` is None, the ``boxes`` of visuals count as ground.
    """
    high = low + np.stack([np.zeros_like(height), np.zeros_like(height), height], axis=1)
    if tree is None:
        return _inside(boxes, low, high, LARGEST_GAP)
    result = np.zeros(len(low), np.bool_)
    for dx, dy in _SAMPLE_OFFSETS:
        for number in layers.each(low, ~result):
            top = high[number] + (dx, dy, 0.0)
            result[number] = tree.ray_cast(top, (0, 0, -1), float(height[number]))[0] is not None
    return result


def _nodes(layers: _Layers) -> Iterator[Finding]:
    tree = layers.tree("CFORM") if layers.of("AI") else None
    for obj in layers.of("AI"):
        for name, what in (
            (level_ai.ISOLATED, "{0:has|have} no links"),
            (level_ai.ONE_WAY, "{0:has|have} a link that leads one way"),
        ):
            values = attributes.gather(obj.data, name, Domain.FACE, np.bool_)
            if values is not None:
                remedy = "Build the AI map again, if creatures get stuck there"
                yield from _of(obj, problems.some(values, "node|nodes", what, remedy))
        if tree is None:
            continue
        middles = _middles(obj)
        floating, buried = np.zeros(len(middles), np.bool_), np.zeros(len(middles), np.bool_)
        for number in layers.each(middles):
            x, y, z = middles[number].tolist()
            if tree.ray_cast((x, y, z + LARGEST_GAP), (0, 0, -1), 2 * LARGEST_GAP)[0] is None:
                # The first face above a buried node is the ground's lower side (normal up), above others a ceiling.
                _, normal, _, _ = tree.ray_cast((x, y, z), (0, 0, 1), MOST_COVER)
                buried[number] = normal is not None and normal.z > 0
                floating[number] = not buried[number]
        for wrong, what in (
            (floating, "{0:floats|float}: no collision within {2:g} m"),
            (buried, "{0:is|are} buried more than {2:g} m below the ground"),
        ):
            remedy = "Build the AI map again"
            yield from _of(obj, problems.some(wrong, "node|nodes", what, remedy, values=(LARGEST_GAP,)))


def _of(obj: Object, own_problems: Iterable[Problem]) -> Iterator[Finding]:
    return ((obj, problem) for problem in own_problems)


_CHECKS: Sequence[Any] = (
    _without_collision,
    _without_visuals,
    _occluders_outside,
    _bent_portals,
    _details_over_void,
    _nodes,
)
