"""What the game or its tools refuse in a LOD; connected pieces of a geometry LOD, their volumes, and a mass for them.

The rules are those by which Object Builder and modders' tools validate a model: convex closed components, closed
shadows of triangles, small roadways, paths with entrances, ASCII names, four bones per point. A mass of 0 is no
problem: most published models have no other, such as those of buildings. All functions take faces with three or four
corners, in Blender's axes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ....core import polygons
from ....core.errors import WriteError
from ....core.model import Domain, PolygonMesh
from ....core.problems import Problem, some
from ....core.report import listed, say
from ..lod_kinds import GEOMETRIES, PATHS, ROADWAY, SHADOWS, kind_of
from .document import FURTHER_UVS, Lod
from .mesh import LodContent

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_POINTS_OF_ROADWAY = 255
MOST_BONES = 4
MOST_UV_SETS = 2
COMPONENT = re.compile(r"component\d+", re.IGNORECASE)
ENTRANCE = re.compile(r"in\d+", re.IGNORECASE)

INWARD_ANGLE = np.sin(np.radians(1))
"""Sine of the angle by which two faces may be bent inwards at their edge."""
ROUNDING, INWARD = 1e-4, 1e-3
"""Share of a piece's size that a face may be above the plane of its neighbour: at any angle, and at small ones."""
FLAT = 1e-9
"""Share of the cube of a piece's size below which its volume has no sign."""

_NONE = np.zeros(0, np.int64)
_USE_FIND = "Use Find Components"


def find_problems(content: LodContent, bones: Collection[str] = (), hidden_uv_sets: int = 0) -> Iterator[Problem]:
    """Yield what the game or its tools refuse in a LOD. None of it is fatal: the file can be written.

    ``bones``: selections that move with a bone. ``hidden_uv_sets``: UV sets of its file that are no UV maps.
    """
    mesh, kind = content.mesh, kind_of(content.resolution)
    if kind in GEOMETRIES:
        yield from _geometry_problems(mesh)
    if kind in SHADOWS:
        yield from _shadow_problems(mesh)
    if kind in {ROADWAY, PATHS} and not len(mesh.counts):
        yield _about("it has no faces", "Leave it out or give it faces")
    if kind == ROADWAY and len(mesh.positions) > MOST_POINTS_OF_ROADWAY:
        words = "it has {:# point|# points}, a roadway has at most {}"
        sentence = say(words, len(mesh.positions), MOST_POINTS_OF_ROADWAY)
        yield _about(sentence, "Merge vertices, or dissolve edges that are not needed", "points of the roadway")
    if kind == PATHS and not any(ENTRANCE.fullmatch(group) for group in mesh.groups):
        yield _about(
            "it has no entrances", "Assign the vertex of each to a vertex group of its own: in1, in2 and so on"
        )
    uv_sets = 1 + len(mesh.more_uvs) + hidden_uv_sets
    if uv_sets > MOST_UV_SETS:
        yield _about(say("it has {} UV sets, the game supports {}", uv_sets, MOST_UV_SETS), "Delete UV maps")
    yield from _bone_problems(mesh, bones)
    yield from _name_problems(content)


def new_problems(now: Iterable[Problem], before: Iterable[Problem]) -> Iterator[Problem]:
    """Yield the problems that an edit of a LOD made or made worse; ``before``: those of the imported LOD."""
    known = Counter({problem.kind: 1 + len(problem.elements) for problem in before})
    yield from (problem for problem in now if 1 + len(problem.elements) > known[problem.kind])


def hidden_uv_sets(content: LodContent, base: Lod | None) -> int:
    """Return how many UV sets of the imported LOD are no UV maps; set 0 is the UVs of the faces."""
    tags = base.tags if base is not None else ()
    numbers = {int.from_bytes(tag.data[:4], "little") for tag in tags if tag.name == FURTHER_UVS}
    return len(numbers.difference({0}, content.shown_uvs))


def _about(sentence: str, remedy: str, kind: str = "") -> Problem:
    """Return a problem of the whole LOD."""
    return Problem(sentence, remedy, Domain.FACE, _NONE, kind=kind or sentence)


# Geometry -------------------------------------------------------------------------------------------------------------


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


def _geometry_problems(mesh: PolygonMesh) -> Iterator[Problem]:
    surface = Surface(mesh)
    yield from _open_edges(surface)
    with np.errstate(invalid="ignore", over="ignore"):  # values of broken files
        turned, inwards, inward_edges = _orientation(surface)
    outside = "Recalculate the normals (Shift N)"
    yield from some(turned, "face|faces", "{0:points|point} the other way than {0:its|their} neighbours", outside)
    yield from some(inwards, "face|faces", "{0:points|point} inwards", outside)
    remedy = "Use Mesh > Convex Hull, or cut the component into convex ones"
    yield from some(
        inward_edges, "face|faces", "{0:has|have} an edge that bends inwards; components must be convex", remedy
    )
    yield from _component_problems(surface)


def _open_edges(surface: Surface) -> Iterator[Problem]:
    uses = surface.uses[surface.edge]
    open_, shared = surface.faces_at(np.flatnonzero(uses == 1)), surface.faces_at(np.flatnonzero(uses > 2))
    remedy = "Fill the holes, and merge vertices at the same place (M)"
    yield from some(open_, "face|faces", "{0:has|have} an open edge; this LOD must be closed", remedy)
    remedy = "Delete the faces inside, or split the parts (Y)"
    yield from some(shared, "face|faces", "{0:shares|share} an edge with more than one other face", remedy)


def _orientation(surface: Surface) -> tuple[Bools, Bools, Bools]:
    """(faces,): which faces are turned other than a neighbour, point inwards, and are bent inwards at an edge."""
    mesh = surface.mesh
    nothing = np.zeros(len(mesh.counts), np.bool_)
    if not len(mesh.counts):
        return nothing, nothing, nothing
    sides, others = surface.pairs()
    against = mesh.corners[sides] == mesh.corners[others]
    turned = surface.faces_at(np.append(sides[against], others[against]))
    unclear = np.zeros(len(surface.volumes), np.bool_)
    unclear[surface.piece[turned]] = True
    unclear |= ~(np.abs(surface.volumes) > FLAT * surface.sizes**3)
    side = np.where(unclear, 0, np.sign(surface.volumes))
    sides, others = sides[~against], others[~against]
    bent = _bent_inwards(surface, sides, others, side[surface.piece[surface.face[sides]]])
    return turned, side[surface.piece] < 0, surface.faces_at(np.append(sides[bent], others[bent]))


def _bent_inwards(surface: Surface, sides: Ints, others: Ints, side: Floats) -> Bools:
    """(edges,): whether two faces are bent inwards at the edge of a corner of each; ``side``: -1 if both are turned."""
    mesh = surface.mesh
    normals = polygons.normals(mesh.positions, mesh.counts, mesh.corners)
    face, neighbour = surface.face[sides], surface.face[others]
    along = surface.relative[polygons.next_corners(mesh.counts)[sides]] - surface.relative[sides]
    length = np.linalg.norm(along, axis=1)
    crossed = np.einsum("ei,ei->e", np.cross(normals[face], normals[neighbour]), along) * side
    slot = np.arange(4) % mesh.counts[neighbour][:, None]
    away = surface.relative[polygons.starts(mesh.counts)[neighbour][:, None] + slot] - surface.relative[sides][:, None]
    height = (np.einsum("eci,ei->ec", away, normals[face]) * side[:, None]).max(axis=1, initial=0)
    size = surface.sizes[surface.piece[face]]
    sharp = (crossed < -INWARD_ANGLE * length) & (height > ROUNDING * size)
    result: Bools = sharp | ((crossed < 0) & (height > INWARD * size))
    return result


def _component_problems(surface: Surface) -> Iterator[Problem]:
    mesh = surface.mesh
    total = len(mesh.groups)
    named = np.array([COMPONENT.fullmatch(group) is not None for group in mesh.groups], np.bool_)
    if not named.any():
        yield _about("it has no components (vertex groups Component01, Component02 and so on)", _USE_FIND)
        return
    face, component = _faces_of_groups(mesh, named)
    missing = np.ones(len(mesh.counts), np.bool_)
    missing[face] = False
    yield from some(missing, "face|faces", "{0:is|are} in no component", _USE_FIND)
    pairs = np.unique(surface.piece[face] * total + component)
    several = np.bincount(pairs % total, minlength=total) > 1
    split = np.zeros(len(mesh.counts), np.bool_)
    split[face[several[component]]] = True
    yield from some(split, "face|faces", "{0:is|are} in a component of several separate pieces", _USE_FIND)
    shared = np.bincount(pairs // total, minlength=len(surface.volumes)) > 1
    yield from some(
        shared[surface.piece], "face|faces", "{0:is|are} connected to faces of another component", _USE_FIND
    )


def _faces_of_groups(mesh: PolygonMesh, wanted: Bools) -> tuple[Ints, Ints]:
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


def mass_of_points(mesh: PolygonMesh, total: float, *, by_volume: bool) -> NDArray[np.float32]:
    """Return (vertices,) kg: ``total`` in equal parts on the vertices of faces, or of each piece by its volume.

    A mesh without faces gets it on all vertices. Raises `WriteError` for volumes that are not closed or 0.
    """
    surface, count = Surface(mesh), len(mesh.positions)
    if by_volume:
        if not len(mesh.counts) or (surface.uses != 2).any():
            raise WriteError(
                say("{!r} is not closed, so its volume is unknown", mesh.name),
                remedy="Close it (see Select Invalid Elements), or distribute the mass evenly",
            )
        volumes = np.abs(surface.volumes)
        if not float(volumes.sum()) > 0:
            raise WriteError(say("{!r} has no volume", mesh.name), remedy="Distribute the mass evenly")
        pairs = np.unique(surface.piece[surface.face] * count + mesh.corners)
        piece, vertex = pairs // count, pairs % count
        share = (volumes / volumes.sum() / np.bincount(piece))[piece]
        return (total * np.bincount(vertex, share, minlength=count)).astype(np.float32)
    used = np.bincount(mesh.corners, minlength=count) > 0 if len(mesh.corners) else np.ones(count, np.bool_)
    return np.where(used, total / max(int(used.sum()), 1), 0).astype(np.float32)


# Other LODs -----------------------------------------------------------------------------------------------------------


def _shadow_problems(mesh: PolygonMesh) -> Iterator[Problem]:
    surface = Surface(mesh)
    yield from _open_edges(surface)
    yield from some(
        mesh.counts > 3,
        "face|faces",
        "{0:has|have} four corners; a shadow is made of triangles",
        "Triangulate (Ctrl T)",
    )
    textured = np.array([bool(material.texture or material.shader) for material in mesh.materials] or [False])
    slot = np.zeros(len(mesh.counts), np.int64) if mesh.material_index is None else mesh.material_index
    remedy = "Remove the materials from their slots"
    drawn = textured[np.clip(slot, 0, len(textured) - 1)]
    yield from some(
        drawn,
        "face|faces",
        "{0:has|have} a texture or material; a shadow has none",
        "Remove the materials from {0:its|their} slots",
    )
    smooth = np.ones(len(surface.uses), np.bool_)
    smooth[_edges_among(surface, mesh.sharp_edges)] = False
    corners = np.flatnonzero(smooth[surface.edge])
    remedy = "Select all edges and use Edge > Mark Sharp"
    yield from some(
        surface.faces_at(corners), "face|faces", "{0:has|have} smooth edges; those of a shadow are all sharp", remedy
    )


def _edges_among(surface: Surface, pairs: NDArray[np.int32] | None) -> Ints:
    """Return the edges of faces that are among these pairs (n, 2) of vertices."""
    if pairs is None:
        return _NONE
    count = len(surface.mesh.positions)
    ends = np.sort(np.stack([surface.mesh.corners.astype(np.int64), surface.following], axis=1), axis=1)
    wanted = np.sort(pairs.astype(np.int64), axis=1)
    inside = np.isin(ends @ np.array([count, 1]), wanted @ np.array([count, 1]))
    return surface.edge[inside]


def _bone_problems(mesh: PolygonMesh, bones: Collection[str]) -> Iterator[Problem]:
    if mesh.weights is None or not bones:
        return
    known = {bone.lower() for bone in bones}
    of_bone = np.array([group.lower() in known for group in mesh.groups], np.bool_)
    if not of_bone.any():
        return
    follows = of_bone[mesh.weights.groups] & (mesh.weights.weights > 0)
    number = np.bincount(mesh.weights.vertices[follows], minlength=len(mesh.positions))
    remedy = "Use Weights > Limit Total in weight paint mode"
    yield from some(
        number > MOST_BONES,
        "vertex|vertices",
        "{0:has|have} more than {2} bones",
        remedy,
        Domain.VERTEX,
        values=(MOST_BONES,),
    )


def _name_problems(content: LodContent) -> Iterator[Problem]:
    mesh = content.mesh
    names = [*mesh.groups, *content.properties, *content.properties.values()]
    names += [text for material in mesh.materials for text in (material.texture, material.shader)]
    names += [proxy.path for proxy in content.proxies or ()]
    wrong = [name for name in dict.fromkeys(names) if not name.isascii()]
    if wrong:
        remedy = "Rename them with the letters A to Z, digits and underscores"
        yield _about(say("names with letters that the game does not know: {}", listed(wrong)), remedy)
