"""What the LODs of a new model are made of: convex components around the loose parts of a mesh, a closed shadow, and
what the games expect: memory points and named properties.

The lists are those of published models of Arma 3 and DayZ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import decimation, polygons, solids
from ...core.model import Attribute, Domain, PolygonMesh, VertexWeights
from . import lod_kinds
from .lists import DAYZ
from .p3d.components import COMPONENT, WELDED, Parts, Surface, edges_among, faces_of_groups
from .p3d.mesh import MASS_ATTRIBUTE

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_COMPONENTS = 64
BENT = 0.9998
"""Cosine of the angle between the normals of two faces that are not in one plane: one degree."""
THINNEST = 0.01
"""Metres; a component of a flat part is a box at least this thick."""
ROUNDING = 1e-5
"""Metres that are added to it, so that it is still as thick where 32 bits store it."""

PLAIN, ITEM, HOUSE, VEHICLE = "PLAIN", "ITEM", "HOUSE", "VEHICLE"
TREE_HARD, TREE_SOFT, BUSH_HARD, BUSH_SOFT = "TREE_HARD", "TREE_SOFT", "BUSH_HARD", "BUSH_SOFT"
PROPERTIES = {
    PLAIN: {},
    ITEM: {"autocenter": "0"},
    HOUSE: {"class": "house", "map": "house", "autocenter": "0"},
    VEHICLE: {"class": "vehicle", "autocenter": "0"},
    TREE_HARD: {"class": "treehard", "map": "tree"},
    TREE_SOFT: {"class": "treesoft", "map": "tree"},
    BUSH_HARD: {"class": "bushhard", "map": "bush"},
    BUSH_SOFT: {"class": "bushsoft", "map": "bush"},
}
"""Kind of model -> named properties of its Geometry."""
PLANTS = frozenset({TREE_HARD, TREE_SOFT, BUSH_HARD, BUSH_SOFT})


def named_properties(game: str, model: str, word: str, *, has_shadow: bool) -> dict[str, str]:
    """Return the named properties that a LOD (``word``: its kind) of a kind of model should have."""
    if word in lod_kinds.SHADOWS:
        return {"lodnoshadow": "1"}
    if word == lod_kinds.GEOMETRY:
        shadow = {
            "sbsource": "shadowvolume" if has_shadow else "visualex",
            "prefershadowvolume": "1" if has_shadow else "0",
        }
        return {**PROPERTIES[model], **(shadow if model in PLANTS else {})}
    if game == DAYZ and word in lod_kinds.GEOMETRIES:
        return {name: value for name, value in PROPERTIES[model].items() if name == "autocenter"}
    return {}


def memory_points(game: str, model: str, positions: NDArray[np.float32]) -> dict[str, Floats]:
    """Return the points that a game expects in the Memory LOD, for a model with these ``positions`` (n, 3).

    Arma 3 expects none. DayZ: opposite corners, centre and a corner of the box of what is drawn; of an item also the
    eye that shows it in the inventory, on the thinnest axis.
    """
    if game != DAYZ or not len(positions):
        return {}
    low, high = positions.min(axis=0).astype(np.float64), positions.max(axis=0).astype(np.float64)
    middle = (low + high) / 2
    result = {"boundingbox_min": low, "boundingbox_max": high, "ce_center": middle, "ce_radius": high}
    if model == ITEM:
        eye = middle.copy()
        thinnest = int((high - low).argmin())
        eye[thinnest] += (-1.5 if thinnest == 1 else 1.5) * float((high - low).max())  # the front is towards -y
        result["invview"] = eye
    return result


# Loose parts ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LooseParts:
    """The loose parts of a mesh of triangles in model space; points closer than `WELDED` are one."""

    mesh: PolygonMesh

    @cached_property
    def vertex(self) -> Ints:
        """(vertices,): the merged point of each."""
        return polygons.weld(self.mesh.positions, WELDED).vertex.astype(np.int64)

    @cached_property
    def part(self) -> Ints:
        """(faces,): the part of each face, in the order of their first faces."""
        first = np.repeat(self.triangles[:, 0], 3)
        root = polygons.connected(int(self.vertex.max(initial=-1)) + 1, first, self.triangles.ravel())
        _, begin, part = np.unique(root[self.triangles[:, 0]], return_index=True, return_inverse=True)
        rank = np.empty(len(begin), np.int64)
        rank[np.argsort(begin)] = np.arange(len(begin))
        result: Ints = rank[part.ravel()]
        return result

    @cached_property
    def points(self) -> NDArray[np.float32]:
        """(merged points, 3): positions."""
        return self.mesh.positions[polygons.weld(self.mesh.positions, WELDED).source]

    @cached_property
    def triangles(self) -> Ints:
        """(faces, 3): merged points of each face."""
        return self.vertex[self.mesh.corners].reshape(-1, 3)

    @cached_property
    def is_open(self) -> Bools:
        """(parts,): which parts have an open edge, or a face without area, which a shadow must not have.

        A face with two corners at one point can be left out, and its part stays closed.
        """
        result = ~Parts(Surface(self.mesh), self.part).closed
        counts = np.full(len(self.triangles), 3, np.int32)
        flat = ~polygons.normals(self.points, counts, self.triangles.ravel()).any(axis=1)
        result[self.part[flat & self.is_whole]] = True
        return result

    @cached_property
    def is_whole(self) -> Bools:
        """(faces,): which faces have three different points."""
        result: Bools = (self.triangles != np.roll(self.triangles, 1, axis=1)).all(axis=1)
        return result

    def vertices(self, parts: Ints) -> tuple[Ints, Ints]:
        """Return pairs of a component, of those ``parts`` (parts,) are in, and a vertex of its faces, sorted."""
        count = len(self.mesh.positions)
        keys = np.unique(np.repeat(parts[self.part], 3) * count + self.mesh.corners)
        keys = keys[keys >= 0]
        return keys // count, keys % count

    def joined(self, smallest: float) -> tuple[Ints, Ints]:
        """(parts,): number of the component of each part; and the same with -1 for parts that join another one.

        Those are parts smaller than ``smallest`` metres, and all but the largest `MOST_COMPONENTS`; they join the
        nearest other one.
        """
        count = int(self.part.max(initial=-1)) + 1
        if not count:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        part, vertex = self.vertices(np.arange(count))
        begin = np.searchsorted(part, np.arange(count))
        points = self.mesh.positions[vertex].astype(np.float64)
        low, high = np.minimum.reduceat(points, begin), np.maximum.reduceat(points, begin)
        size = np.linalg.norm(high - low, axis=1)
        order = np.argsort(-size, kind="stable")
        large = np.sort(order[: max(min(int((size >= smallest).sum()), MOST_COMPONENTS), 1)])
        result = np.full(count, -1)
        result[large] = np.arange(len(large))
        for number in np.flatnonzero(result < 0).tolist():
            gap = np.maximum(np.maximum(low[large] - high[number], low[number] - high[large]), 0)
            apart = np.linalg.norm((low[large] + high[large] - low[number] - high[number]) / 2, axis=1)
            result[number] = int(np.lexsort((apart, np.linalg.norm(gap, axis=1)))[0])
        return result, np.where(np.isin(np.arange(count), large), result, -1)

    def bodies(self, components: Ints, *, boxes: bool) -> list[solids.Solid]:
        """Return a convex body around each component; ``components`` (parts,): that of each part, -1 for none."""
        component, vertex = self.vertices(components)
        points = np.split(self.mesh.positions[vertex].astype(np.float64), np.flatnonzero(np.diff(component)) + 1)
        make = solids.box if boxes else solids.hull
        return [make(part, THINNEST + ROUNDING) for part in points if len(part)]

    def selections(self, components: Ints) -> list[list[str]]:
        """Return the selections that have all vertices of each component; those of components are left out."""
        mesh, (component, vertex) = self.mesh, self.vertices(components)
        count = int(components.max(initial=-1)) + 1
        result: list[list[str]] = [[] for _ in range(count)]
        if mesh.weights is None or not mesh.groups:
            return result
        member = np.zeros((len(mesh.groups), len(mesh.positions)), np.bool_)
        member[mesh.weights.groups, mesh.weights.vertices] = mesh.weights.weights > 0
        number = np.bincount(component, minlength=count)
        for row, name in enumerate(mesh.groups):
            whole = np.bincount(component, member[row, vertex], count) == number
            for part in np.flatnonzero(whole).tolist() if not COMPONENT.fullmatch(name) else ():
                result[part].append(name)
        return result


def geometry(parts: LooseParts, name: str, *, boxes: bool, smallest: float, density: float = 0.0) -> PolygonMesh:
    """Return a mesh of convex components around the parts, Component01 and so on, in model space.

    ``density``: kg per cubic metre for the mass of its points; 0 for none.
    """
    components, own = parts.joined(smallest)
    bodies = parts.bodies(components, boxes=boxes)
    selections = parts.selections(own)
    groups = [[f"Component{number + 1:02}", *names] for number, names in enumerate(selections)]
    result = _joined(bodies, groups, name)
    mass = np.concatenate(
        [np.full(len(body.positions), density * body.volume / len(body.positions), np.float32) for body in bodies]
        or [np.zeros(0, np.float32)]
    )
    if density > 0:
        result.attributes[MASS_ATTRIBUTE] = Attribute(Domain.VERTEX, mass)
    return result


def _joined(bodies: Sequence[solids.Solid], groups: Sequence[Sequence[str]], name: str) -> PolygonMesh:
    """Return one mesh of bodies whose vertices are in these groups, all edges sharp."""
    positions = [body.positions for body in bodies]
    sizes = np.array([len(part) for part in positions], np.int64)
    first = np.cumsum(sizes) - sizes
    triangles = [body.triangles + at for body, at in zip(bodies, first.tolist(), strict=True)]
    table = [(number, group) for number, names in enumerate(groups) for group in names]
    labels = sorted(dict.fromkeys(group for _, group in table), key=lambda group: not COMPONENT.fullmatch(group))
    body = np.array([number for number, _ in table], np.int64)
    group = np.array([labels.index(label) for _, label in table], np.int32)
    vertex = polygons.corners_of(sizes, body).astype(np.int32)
    weights = VertexWeights(vertex, np.repeat(group, sizes[body]), np.ones(len(vertex), np.float32))
    empty: Floats = np.zeros((0, 3))
    return _sharp_mesh(
        name, np.concatenate([*positions, empty]), np.concatenate([*triangles, empty.astype(np.int64)]), labels, weights
    )


def _sharp_mesh(
    name: str, positions: NDArray[Any], triangles: Ints, groups: list[str], weights: VertexWeights
) -> PolygonMesh:
    corners = triangles.astype(np.int32)
    result = PolygonMesh(name, positions.astype(np.float32), np.full(len(corners), 3, np.int32), corners.ravel())
    result.groups, result.weights = groups, weights
    result.sharp_edges = np.stack([corners, np.roll(corners, -1, axis=1)], axis=2).reshape(-1, 2)
    return result


def shadow(parts: LooseParts, name: str) -> PolygonMesh:
    """Return a closed mesh that casts the shadow of the parts, in model space: open parts are replaced by their hulls.

    It has triangles that face outwards, sharp edges, the selections of the parts, no materials and no UVs.
    """
    mesh = parts.mesh
    kept = ~parts.is_open[parts.part] & parts.is_whole
    inwards = Parts(Surface(mesh), parts.part).turned_inwards[parts.part]
    triangles = np.where(inwards[:, None], parts.triangles[:, ::-1], parts.triangles)[kept]
    used, index = np.unique(triangles, return_inverse=True)
    opened = np.flatnonzero(parts.is_open)
    number = np.full(len(parts.is_open), -1)
    number[opened] = np.arange(len(opened))
    hulls = _joined(parts.bodies(number, boxes=False), parts.selections(number), name)
    groups = [group for group in mesh.groups if not COMPONENT.fullmatch(group)]
    weights = _of_vertices(mesh, groups, polygons.weld(mesh.positions, WELDED).source[used])
    more = hulls.weights or _no_weights()
    names = np.array([groups.index(group) for group in hulls.groups], np.int32)
    weights = VertexWeights(
        np.concatenate([weights.vertices, more.vertices + np.int32(len(used))]),
        np.concatenate([weights.groups, names[more.groups]]),
        np.concatenate([weights.weights, more.weights]),
    )
    positions = np.concatenate([parts.points[used], hulls.positions])
    faces = np.concatenate([index.reshape(-1, 3), hulls.corners.reshape(-1, 3) + len(used)])
    return _sharp_mesh(name, positions, faces, groups, weights)


def _no_weights() -> VertexWeights:
    nothing = np.zeros(0, np.int32)
    return VertexWeights(nothing, nothing, np.zeros(0, np.float32))


def _of_vertices(mesh: PolygonMesh, groups: list[str], vertices: NDArray[Any]) -> VertexWeights:
    """Return the weights of some vertices in ``groups``, which are groups of the mesh."""
    if mesh.weights is None:
        return _no_weights()
    row = np.full(len(mesh.positions), -1, np.int32)
    row[vertices] = np.arange(len(vertices), dtype=np.int32)
    number = np.array([groups.index(group) if group in groups else -1 for group in mesh.groups], np.int32)
    chosen = (row[mesh.weights.vertices] >= 0) & (number[mesh.weights.groups] >= 0)
    return VertexWeights(
        row[mesh.weights.vertices[chosen]], number[mesh.weights.groups[chosen]], mesh.weights.weights[chosen]
    )


# Resolutions ----------------------------------------------------------------------------------------------------------


def resolution(mesh: PolygonMesh, share: float, name: str) -> PolygonMesh:
    """Return a mesh of triangles with a ``share`` of its faces, or more if it cannot have so few.

    Each material and each selection stays, with at least one of its faces. A mesh that is flat everywhere stays flat;
    its edges are no features that the faces left would have to keep.
    """
    is_flat = _is_flat(mesh)
    triangles = mesh.corners.reshape(-1, 3).astype(np.int64)
    surface = (
        np.zeros(len(triangles), np.int64) if mesh.material_index is None else mesh.material_index.astype(np.int64)
    )
    label, fixed = _selections_kept(mesh, triangles, surface)
    source = decimation.Source(
        mesh.positions.astype(np.float64),
        triangles,
        [uvs.astype(np.float64) for uvs in (mesh.uvs, *mesh.more_uvs.values()) if uvs is not None],
        None if mesh.corner_normals is None or is_flat else mesh.corner_normals.astype(np.float64),
        surface,
        (mesh.sharp_edges if mesh.sharp_edges is not None and not is_flat else np.zeros((0, 2))).astype(np.int64),
        fixed,
        label,
    )
    left = decimation.decimate(source, max(round(share * len(triangles)), 1))
    corner = left.corners.ravel()
    used, index = np.unique(mesh.corners[corner], return_inverse=True)
    row = np.full(len(mesh.positions), -1, np.int64)
    row[used] = np.arange(len(used))
    result = PolygonMesh(
        name, mesh.positions[used], np.full(len(left.face), 3, np.int32), index.ravel().astype(np.int32)
    )
    result.uvs = None if mesh.uvs is None else mesh.uvs[corner]
    result.more_uvs = {label: uvs[corner] for label, uvs in mesh.more_uvs.items()}
    result.corner_normals = None if mesh.corner_normals is None or is_flat else mesh.corner_normals[corner]
    result.materials = mesh.materials
    result.material_index = None if mesh.material_index is None else mesh.material_index[left.face]
    result.groups, result.weights = mesh.groups, _of_vertices(mesh, mesh.groups, used)
    result.sharp_edges = row[left.sharp].astype(np.int32)
    if is_flat:
        sides = np.stack([result.corners, result.corners[polygons.next_corners(result.counts)]], axis=1)
        result.sharp_edges = np.unique(np.sort(sides, axis=1), axis=0)
    for label_, attribute in mesh.attributes.items():
        rows = left.face if attribute.domain is Domain.FACE else used
        result.attributes[label_] = Attribute(attribute.domain, attribute.values[rows])
    return result


def _is_flat(mesh: PolygonMesh) -> bool:
    """Return whether all edges between triangles that are not in one plane are sharp."""
    if mesh.sharp_edges is None or not len(mesh.sharp_edges):
        return False
    surface = Surface(mesh)
    sides, others = surface.pairs()
    normals = polygons.normals(mesh.positions, mesh.counts, mesh.corners)
    cosines = np.einsum("ei,ei->e", normals[surface.face[sides]], normals[surface.face[others]])
    bent = surface.edge[sides][cosines < BENT]
    return bool(len(bent)) and bool(np.isin(bent, edges_among(surface, mesh.sharp_edges)).all())


def _selections_kept(mesh: PolygonMesh, triangles: Ints, surface: Ints) -> tuple[Ints, Bools]:
    """Return (vertices,) labels that vertices in the same selections without partial weights share, and (vertices,)
    which stay: those of the largest face of each material and selection, and the first vertex of others.
    """
    count = len(mesh.positions)
    label, fixed = np.zeros(count, np.int64), np.zeros(count, np.bool_)
    areas = polygons.areas(mesh.positions, triangles)

    def keep_largest(faces: Ints) -> None:
        fixed[triangles[faces[areas[faces].argmax()]]] = True

    for faces in polygons.by_value(surface):
        keep_largest(faces)
    weights = mesh.weights
    if weights is None or not len(weights.weights):
        return label, fixed
    soft = np.bincount(weights.groups, (weights.weights > 0) & (weights.weights < 1), len(mesh.groups)) > 0
    marks = np.random.default_rng(0).integers(1, 1 << 62, len(mesh.groups))
    hard = ~soft[weights.groups] & (weights.weights > 0)
    np.add.at(label, weights.vertices[hard], marks[weights.groups[hard]])
    face, group = faces_of_groups(mesh, np.ones(len(mesh.groups), np.bool_))
    for rows in polygons.by_value(group):
        keep_largest(face[rows])
    others = ~np.isin(weights.groups, group) & (weights.weights > 0)
    fixed[weights.vertices[others][np.unique(weights.groups[others], return_index=True)[1]]] = True
    return label, fixed
