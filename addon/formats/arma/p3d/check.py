"""What the game or its tools reject in a LOD, or read differently from what its author meant.

The rules, their numbers and severities follow a survey of 3,012 LODs of published models: what is usual in good models
is no finding, such as parts that touch, points without mass, textures on geometries, or geometries without faces.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import Enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....core import polygons
from ....core.errors import WriteError
from ....core.model import FILE_VERTEX, Domain, Material, PolygonMesh
from ....core.problems import Problem, some
from ....core.report import Message, listed, say
from .. import lod_kinds
from ..lod_kinds import GEOMETRIES, SHADOWS
from .components import BULGE, Parts, Surface, edges_among
from .document import FURTHER_UVS, Lod
from .mesh import MASS_ATTRIBUTE, LodContent, distinct_corners, is_of_proxy

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

MOST_POINTS_OF_ROADWAY = 255
MOST_BONES = 4
MOST_UV_SETS = 2
MOST_VERTICES, MANY_POINTS = 65535, 32767
MANY_LODS = 30
FEWEST_FACES = 4
WEIGHT_SUM = 0.02
"""Difference of the sum of a point's bone weights from 1 that is reported."""
ENTRANCE = re.compile(r"in\d+", re.IGNORECASE)
MAN = "man"
"""Value of the property class of men, whose Geometry has the components 01 and 03."""

_NONE = np.zeros(0, np.int64)


class Severity(Enum):
    """How bad a finding is."""

    ERROR = "error"
    """Never in a LOD that an export makes; an unedited LOD of a file keeps it."""
    WARNING = "warning"
    NOTE = "note"


class Rule(NamedTuple):
    """A rule. ``name``: what findings and the guide call it; ``game``: the one that has it, "" for all.

    ``severity``: that of its worst findings.
    """

    name: str
    severity: Severity = Severity.WARNING
    game: str = ""

    @property
    def label(self) -> str:
        """The name, with the game if only one has the rule."""
        return say("{}, {}", self.name, self.game) if self.game else self.name


ASCII_NAMES, FOUR_CORNERS = 100, 101
RULES = {
    1: Rule(say("Components")),
    2: Rule(say("Component Numbers")),
    3: Rule(say("Component Names"), Severity.NOTE),
    4: Rule(say("Faces of Components")),
    5: Rule(say("Small Components")),
    6: Rule(say("Closed")),
    7: Rule(say("Convex")),
    8: Rule(say("Separate Pieces")),
    9: Rule(say("Inward Faces"), Severity.ERROR),
    10: Rule(say("Mass")),
    11: Rule(say("Mass Elsewhere"), game="DayZ"),
    12: Rule(say("Penetration")),
    14: Rule(say("Closed Shadow"), Severity.ERROR),
    15: Rule(say("Plain Shadow")),
    16: Rule(say("Sharp Shadow"), Severity.NOTE),
    17: Rule(say("Shadow without Area")),
    18: Rule(say("Inward Shadow")),
    20: Rule(say("Roadway Texture")),
    21: Rule(say("Roadway Direction")),
    22: Rule(say("Roadway Size"), Severity.ERROR),
    23: Rule(say("Named Points"), Severity.NOTE),
    24: Rule(say("Entrances"), Severity.NOTE),
    25: Rule(say("Nothing Drawn"), Severity.NOTE),
    26: Rule(say("LOD Numbers"), Severity.ERROR),
    27: Rule(say("LOD Size"), Severity.ERROR),
    28: Rule(say("UV Sets")),
    29: Rule(say("Unused UV Set"), Severity.NOTE),
    30: Rule(say("White Faces")),
    31: Rule(say("Useless Faces"), Severity.NOTE),
    32: Rule(say("Paths"), Severity.ERROR),
    33: Rule(say("Spaces")),
    34: Rule(say("Lower Case"), Severity.NOTE),
    35: Rule(say("Four Bones")),
    36: Rule(say("Sum of Weights"), Severity.NOTE),
    ASCII_NAMES: Rule(say("ASCII Names")),
    FOUR_CORNERS: Rule(say("Four Corners")),
}
"""Number -> rule: those of the survey, and from 100 on those of this extension."""


@dataclass(frozen=True, eq=False)
class Finding(Problem):
    """A problem by one of the `RULES`. ``rule``: its number."""

    rule: int = 0
    severity: Severity = Severity.WARNING

    @property
    def is_note(self) -> bool:
        """Whether this is unusual, but harmless in most files."""
        return self.severity is Severity.NOTE

    @property
    def label(self) -> str:
        """The name of its rule."""
        return RULES[self.rule].label

    @property
    def line(self) -> str:
        """The finding, its remedy and its rule, for a report."""
        return say("{}; {:lower} [{}]", self.sentence, self.remedy, self.label)


def by_rule(rule: int, problems: Iterable[Problem], severity: Severity | None = None) -> Iterator[Finding]:
    """Yield problems as findings by a rule."""
    severity = severity or RULES[rule].severity
    for problem in problems:
        values = {field.name: getattr(problem, field.name) for field in fields(Problem)}
        yield Finding(**values, rule=rule, severity=severity)


def _about(
    sentence: str,
    remedy: str,
    *,
    rule: int,
    kind: str = "",
    severity: Severity | None = None,
    faces: Ints = _NONE,
    vertices: Ints = _NONE,
) -> Iterator[Finding]:
    """Yield a finding about the whole LOD, or about some ``faces`` or ``vertices`` that the sentence does not count."""
    domain = Domain.VERTEX if len(vertices) else Domain.FACE
    problem = Problem(sentence, remedy, domain, vertices if len(vertices) else faces, kind=kind or sentence)
    yield from by_rule(rule, [problem], severity)


def _members(mesh: PolygonMesh, names: Collection[str]) -> Ints:
    """Return the vertices in groups of these names."""
    if mesh.weights is None or not names:
        return _NONE
    wanted = np.isin(mesh.groups, list(names))
    result: Ints = np.unique(mesh.weights.vertices[wanted[mesh.weights.groups] & (mesh.weights.weights > 0)])
    return result.astype(np.int64)


def _faces_with(mesh: PolygonMesh, paths: Collection[str]) -> Ints:
    """Return the faces whose texture or material is one of these paths."""
    wanted = np.array([bool({material.texture, material.shader} & {*paths}) for material in mesh.materials], np.bool_)
    return np.flatnonzero(wanted[_slots(mesh, len(wanted))]) if wanted.any() else _NONE


def find_problems(
    content: LodContent, bones: Collection[str] = (), base: Lod | None = None, model_class: str = ""
) -> Iterator[Finding]:
    """Yield what the game or its tools reject in a LOD.

    ``bones``: selections that move with a bone. ``base``: the imported LOD, or None for a new one.
    ``model_class``: value of the model's property class, as `class_of` returns it.
    """
    mesh, kind = content.mesh, lod_kinds.kind_of(content.resolution)
    surface = Surface(mesh)
    if kind in GEOMETRIES and len(mesh.counts):
        yield from _geometry_problems(surface, kind, model_class)
    if kind in SHADOWS:
        yield from _shadow_problems(surface, content.properties)
    if kind == lod_kinds.ROADWAY:
        yield from _roadway_problems(mesh, bones)
    if kind in {lod_kinds.MEMORY, lod_kinds.LAND_CONTACT, lod_kinds.HIT_POINTS, lod_kinds.PATHS}:
        yield from _point_problems(mesh, kind, base)
    if kind != lod_kinds.GEOMETRY and (mass := mesh.values(MASS_ATTRIBUTE, Domain.VERTEX)) is not None and mass.any():
        sentence = "it has a mass, which only the Geometry LOD should have"
        remedy = "Remove the attribute mass (Properties > Data > Attributes)"
        yield from _about(sentence, remedy, rule=11, vertices=np.flatnonzero(mass))
    yield from _size_problems(mesh)
    yield from _uv_problems(mesh, kind, hidden_uv_sets(content, base))
    yield from _face_problems(mesh, kind)
    yield from _path_problems(content, base)
    yield from _bone_problems(mesh, bones)
    yield from _name_problems(content)


def find_model_problems(resolutions: Sequence[float]) -> Iterator[Finding]:
    """Yield problems of a model with LODs of these resolutions."""
    if resolutions and lod_kinds.RESOLUTION not in map(lod_kinds.kind_of, resolutions):
        yield from _about("the model has no Resolution LOD", "Make a mesh Resolution 1 (Set Arma LOD)", rule=25)
    twice = [number for number, count in Counter(resolutions).items() if count > 1]
    if twice:
        yield from _about(
            say("two LODs are {}", lod_kinds.name_of(twice[0])), "Give one of them another number", rule=26
        )
    if len(resolutions) >= MANY_LODS:
        sentence = say("the model has {} LODs, with which the tools may crash", len(resolutions))
        yield from _about(sentence, "Remove some", rule=26, kind="LODs", severity=Severity.WARNING)


def class_of(properties: Iterable[tuple[float, Mapping[str, str]]]) -> str:
    """Return the value of the property class of a model, "" without one: of Geometry, else of its first LOD.

    ``properties``: resolution and named properties of each LOD.
    """
    rows = sorted(properties, key=lambda row: lod_kinds.kind_of(row[0]) != lod_kinds.GEOMETRY)
    for _, values in rows[:2]:
        for name, value in values.items():
            if name.lower() == "class":
                return value.strip().lower()
    return ""


def new_problems(now: Iterable[Finding], before: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the problems that an edit of a LOD made or made worse; ``before``: those of the imported LOD."""
    known = Counter({problem.kind: 1 + len(problem.elements) for problem in before})
    yield from (problem for problem in now if 1 + len(problem.elements) > known[problem.kind])


def rank(problem: Problem) -> int:
    """Return 0 for errors, 1 for warnings, 2 for notes."""
    severity = problem.severity if isinstance(problem, Finding) else Severity.WARNING
    return list(Severity).index(severity)


def refuse_errors(problems: Iterable[Finding], name: str) -> None:
    """Raise `WriteError` for the first error among these findings of the LOD ``name``."""
    for problem in problems:
        if problem.severity is Severity.ERROR:
            raise WriteError(say("{!r}: {} [{}]", name, problem.sentence, problem.label), remedy=problem.remedy)


def hidden_uv_sets(content: LodContent, base: Lod | None) -> int:
    """Return how many UV sets of the imported LOD are no UV maps; set 0 is the UVs of the faces."""
    tags = base.tags if base is not None else ()
    numbers = {int.from_bytes(tag.data[:4], "little") for tag in tags if tag.name == FURTHER_UVS}
    return len(numbers.difference({0}, content.shown_uvs))


# Geometry -------------------------------------------------------------------------------------------------------------


def _geometry_problems(surface: Surface, kind: str, model_class: str) -> Iterator[Finding]:
    mesh, parts = surface.mesh, Parts.of(surface)
    if not parts.names:
        yield from _about(
            "it has no components (vertex groups Component01, Component02 and so on)", "Use Find Components", rule=1
        )
    yield from _component_names(parts, model_class)
    if parts.names:
        yield from by_rule(4, some(parts.part < 0, "face|faces", "{0:is|are} in no component", "Use Find Components"))
        what = "{0:is|are} in several components"
        yield from by_rule(4, some(parts.in_several, "face|faces", what, "Use Find Components"))
        sizes = np.bincount(parts.part[parts.part >= 0], minlength=parts.count)
        small = np.array(parts.names, object)[sizes < FEWEST_FACES].tolist()
        if small:
            sentence = say("components with fewer than {} faces: {}", FEWEST_FACES, listed(small))
            remedy, kind = "Close them, or remove their vertex groups", "small components"
            yield from _about(sentence, remedy, rule=5, kind=kind, vertices=_members(mesh, small))
    whole = Parts(surface, np.zeros(len(mesh.counts), np.int64))
    opened = surface.faces_at(np.flatnonzero(whole.is_open))
    yield from by_rule(
        6,
        some(
            opened,
            "face|faces",
            "{0:has|have} an open edge; this LOD must be closed",
            "Fill the holes, and merge vertices at the same position (M)",
        ),
    )
    remedy = "Use Mesh > Convex Hull, or cut the component into convex ones"
    what = "{0:has|have} points of {0:its|their} component outside ({2} m, 1 %); components must be convex"
    yield from by_rule(7, some(parts.bulging(), "face|faces", what, remedy, values=(BULGE,)))
    if parts.names:
        apart = np.append(parts.in_pieces(), False)
        yield from by_rule(
            8,
            some(
                apart[parts.part],
                "face|faces",
                "{0:is|are} in a component of several separate pieces",
                "Use Find Components",
            ),
        )
    inwards = np.append(parts.turned_inwards, False)
    yield from by_rule(
        9, some(inwards[parts.part], "face|faces", "{0:points|point} inwards", "Recalculate the normals (Shift N)")
    )
    masses = mesh.values(MASS_ATTRIBUTE, Domain.VERTEX)
    if kind == lod_kinds.GEOMETRY and (masses is None or not masses.any()):
        severity = Severity.WARNING if model_class else Severity.NOTE
        yield from _about("it has no mass", "Use Set Mass", rule=10, severity=severity)
    if kind.endswith(lod_kinds.FIRE_GEOMETRY):
        bare = np.array([not material.shader for material in mesh.materials] or [True])
        yield from by_rule(
            12,
            some(
                bare[_slots(mesh, len(bare))], "face|faces", "{0:has|have} no material (.rvmat)", "Assign one to them"
            ),
        )


def _component_names(parts: Parts, model_class: str) -> Iterator[Finding]:
    numbers = sorted(set(parts.numbers()))
    if numbers and numbers != list(range(1, len(numbers) + 1)) and model_class != MAN:
        missing = sorted(set(range(1, numbers[-1] + 1)) - set(numbers))
        sentence = (
            say("components are missing: {}", listed([f"Component{number:02}" for number in missing[:MANY_LODS]]))
            if missing
            else say("a component is numbered 0")
        )
        yield from _about(sentence, "Use Find Components", rule=2, kind="gap")
    odd = [name for name, number in zip(parts.names, parts.numbers(), strict=True) if name != f"Component{number:02}"]
    if odd:
        yield from _about(
            say("components that are not spelled as Component01: {}", listed(odd)),
            "Use Find Components",
            rule=3,
            kind="spelled",
            vertices=_members(parts.surface.mesh, odd),
        )


def _slots(mesh: PolygonMesh, count: int) -> Ints:
    """(faces,): the material of each face, of ``count``."""
    index = np.zeros(len(mesh.counts), np.int64) if mesh.material_index is None else mesh.material_index
    result: Ints = np.clip(index, 0, count - 1).astype(np.int64)
    return result


# Other LODs -----------------------------------------------------------------------------------------------------------


def _shadow_problems(surface: Surface, properties: Mapping[str, str]) -> Iterator[Finding]:
    mesh = surface.mesh
    whole = Parts(surface, np.zeros(len(mesh.counts), np.int64))
    opened = surface.faces_at(np.flatnonzero(whole.is_open))
    yield from by_rule(
        14,
        some(
            opened,
            "face|faces",
            "{0:has|have} an open edge; this LOD must be closed",
            "Fill the holes, and merge vertices at the same position (M)",
        ),
    )
    what = "{0:has|have} four corners; a shadow is made of triangles"
    yield from by_rule(15, some(mesh.counts > 3, "face|faces", what, "Triangulate (Ctrl T)"))
    drawn = np.array([bool(material.texture or material.shader) for material in mesh.materials] or [False])
    what, remedy = (
        "{0:has|have} a texture or material; a shadow has none",
        "Remove the materials from {0:its|their} slots",
    )
    yield from by_rule(15, some(drawn[_slots(mesh, len(drawn))], "face|faces", what, remedy))
    smooth = np.ones(len(surface.uses), np.bool_)
    smooth[edges_among(surface, mesh.sharp_edges)] = False
    what = "{0:has|have} smooth edges; those of a shadow are all sharp"
    corners = np.flatnonzero(smooth[surface.edge]) if len(mesh.counts) else _NONE
    yield from by_rule(
        16, some(surface.faces_at(corners), "face|faces", what, "Select all edges and use Edge > Mark Sharp")
    )
    if {name.lower(): value for name, value in properties.items()}.get("lodnoshadow") != "1":
        yield from _about("it lacks the named property lodnoshadow = 1", "Add it", rule=16)
    yield from by_rule(
        17, some(_without_area(mesh), "face|faces", "{0:has|have} no area", "Use Mesh > Clean Up > Degenerate Dissolve")
    )
    pieces = Parts(surface, surface.piece)
    inwards = np.append(pieces.turned_inwards, False)
    yield from by_rule(
        18, some(inwards[pieces.part], "face|faces", "{0:points|point} inwards", "Recalculate the normals (Shift N)")
    )


def _without_area(mesh: PolygonMesh) -> Bools:
    """(faces,): which faces have no area."""
    with np.errstate(invalid="ignore", over="ignore"):
        normals = polygons.normals(mesh.positions, mesh.counts, mesh.corners)
        return np.asarray(np.isfinite(normals).all(axis=1) & ~normals.any(axis=1))


def _roadway_problems(mesh: PolygonMesh, bones: Collection[str]) -> Iterator[Finding]:
    if not len(mesh.counts):
        yield from _about("it has no faces", "Leave it out or give it faces", rule=20)
        return
    bare = np.array([not material.texture for material in mesh.materials] or [True])
    what = "{0:has|have} no texture, by which the game chooses the sound of steps"
    yield from by_rule(20, some(bare[_slots(mesh, len(bare))], "face|faces", what, "Assign a material with a texture"))
    with np.errstate(invalid="ignore", over="ignore"):
        up = polygons.normals(mesh.positions, mesh.counts, mesh.corners)[:, 2]
    down = ~(up > 0) & ~_without_area(mesh)
    yield from by_rule(
        21, some(down, "face|faces", "{0:does|do} not face up, so that people fall through", "Flip {0:it|them} (Alt N)")
    )
    known = {bone.lower() for bone in bones}
    moving = [group for group in mesh.groups if group.lower() in known]
    if len(mesh.positions) > MOST_POINTS_OF_ROADWAY and moving:
        words = "it has a bone and {:# point|# points}, a roadway that moves has at most {}"
        sentence = say(words, len(mesh.positions), MOST_POINTS_OF_ROADWAY)
        yield from _about(
            sentence,
            "Merge vertices, or dissolve edges that are not needed",
            rule=22,
            kind="points of the roadway",
            vertices=_members(mesh, moving),
        )


def _point_problems(mesh: PolygonMesh, kind: str, base: Lod | None) -> Iterator[Finding]:
    """Yield findings of LODs of which only the points count."""
    if kind == lod_kinds.PATHS:
        if not len(mesh.counts):
            yield from _about("it has no faces", "Leave it out or give it faces", rule=24)
        if not any(ENTRANCE.fullmatch(group) for group in mesh.groups):
            remedy = "Assign the vertex of each to a vertex group of its own: in1, in2 and so on"
            yield from _about("it has no entrances", remedy, rule=24)
        return
    if len(mesh.counts):
        remedy = "Delete Only Edges & Faces"
        yield from by_rule(
            23, some(np.ones(len(mesh.counts), np.bool_), "face|faces", "{0:is|are} in a LOD of points", remedy)
        )
    if kind == lod_kinds.MEMORY:
        named = _of_proxies(mesh, base)
        if mesh.weights is not None:
            named[mesh.weights.vertices[mesh.weights.weights > 0]] = True
        what, remedy = (
            "{0:is|are} in no selection, so {0:it has|they have} no name",
            "Assign vertex groups, or delete {0:it|them}",
        )
        yield from by_rule(23, some(~named, "point|points", what, remedy, Domain.VERTEX))


def _of_proxies(mesh: PolygonMesh, base: Lod | None) -> Bools:
    """(vertices,): which are corners of the proxies of the imported LOD."""
    rows = mesh.values(FILE_VERTEX, Domain.VERTEX)
    if base is None or rows is None:
        return np.zeros(len(mesh.positions), np.bool_)
    chosen = is_of_proxy(base) & base.complete_faces()
    corners = base.faces["corners"]["point"][base.used_corners() & chosen[:, None]]
    return np.isin(rows, corners.astype(np.int64))


# All LODs -------------------------------------------------------------------------------------------------------------


def _size_problems(mesh: PolygonMesh) -> Iterator[Finding]:
    points = len(mesh.positions)
    if len(mesh.corners) > MANY_POINTS:
        columns = [mesh.corners.reshape(-1, 1).astype(np.int32)]
        normals, uvs = mesh.corner_normals, mesh.uvs
        columns += [
            np.ascontiguousarray(part, np.float32).view(np.int32) for part in (normals, uvs) if part is not None
        ]
        vertices = int(polygons.row_groups(np.concatenate(columns, axis=1)).max()) + 1
        if vertices > MOST_VERTICES:
            words = "it has {} different vertices (point, normal and UV), the game draws at most {}"
            yield from _about(say(words, vertices, MOST_VERTICES), "Split it, or decimate it", rule=27, kind="vertices")
    normals = mesh.corner_normals if mesh.corner_normals is not None else np.zeros((0, 3), np.float32)
    different = 0
    if len(normals) > MANY_POINTS:
        different = int(polygons.row_groups(np.ascontiguousarray(normals, np.float32).view(np.int32)).max()) + 1
    for count, words in (
        (points, "it has {} points, with more than {} some versions of the game fail"),
        (different, "it has {} different normals, with more than {} some versions of the game fail"),
    ):
        if count > MANY_POINTS:
            sentence = say(words, count, MANY_POINTS)
            yield from _about(sentence, "Split it, or decimate it", rule=27, kind=words, severity=Severity.WARNING)


def _uv_problems(mesh: PolygonMesh, kind: str, hidden: int) -> Iterator[Finding]:
    sets = 1 + len(mesh.more_uvs) + hidden
    if sets > MOST_UV_SETS:
        sentence = say("it has {} UV sets, the game supports {}", sets, MOST_UV_SETS)
        yield from _about(sentence, "Delete UV maps", rule=28)
    if sets > 1 and kind not in lod_kinds.DRAWN and len(mesh.counts):
        yield from _about("it is not drawn, but has a second UV set", "Delete the UV map", rule=29)


def _face_problems(mesh: PolygonMesh, kind: str) -> Iterator[Finding]:
    if not len(mesh.counts):
        return
    if kind in lod_kinds.DRAWN:
        bare = np.array([not (material.texture or material.shader) for material in mesh.materials] or [True])
        what = "{0:has|have} neither texture nor material and {0:is|are} drawn white"
        yield from by_rule(
            30, some(bare[_slots(mesh, len(bare))], "face|faces", what, "Assign a material with a texture")
        )
    if kind in SHADOWS:
        return
    flat = _without_area(mesh)
    yield from by_rule(
        31, some(flat, "face|faces", "{0:has|have} no area", "Use Mesh > Clean Up > Degenerate Dissolve")
    )
    yield from by_rule(31, some(_repeated(mesh), "face|faces", "{0:repeats|repeat} another face", "Delete {0:it|them}"))
    if kind in lod_kinds.DRAWN and mesh.uvs is not None and len(mesh.uvs):
        shaded = np.array([bool(material.shader) for material in mesh.materials] or [False])
        wrong = shaded[_slots(mesh, len(shaded))] & ~flat & _without_uv_area(mesh)
        what = "{0:has|have} a material, but no area in the UV map"
        yield from by_rule(31, some(wrong, "face|faces", what, "Unwrap {0:it|them} (U)"))


def _repeated(mesh: PolygonMesh) -> Bools:
    """(faces,): which faces have the corners of an earlier one, in the same direction."""
    begin = polygons.starts(mesh.counts)
    slot = np.arange(4)
    inside = slot < mesh.counts[:, None]
    corner = np.where(
        inside, mesh.corners[np.minimum(begin[:, None] + slot, len(mesh.corners) - 1)], np.iinfo(np.int32).max
    )
    first = corner.argmin(axis=1)
    turned = (slot + first[:, None]) % mesh.counts[:, None]
    rows = np.where(inside, np.take_along_axis(corner, np.minimum(turned, 3), axis=1), -1)
    group = polygons.row_groups(rows)
    result = np.ones(len(rows), np.bool_)
    result[np.unique(group, return_index=True)[1]] = False
    return result


def _without_uv_area(mesh: PolygonMesh) -> Bools:
    uvs = mesh.uvs if mesh.uvs is not None else np.zeros((len(mesh.corners), 2), np.float32)
    flat = np.zeros((len(uvs), 3), np.float64)
    flat[:, :2] = uvs
    normals = polygons.normals(flat, mesh.counts, np.arange(len(flat)))
    return np.asarray(~np.nan_to_num(normals).any(axis=1))


def _path_problems(content: LodContent, base: Lod | None) -> Iterator[Finding]:
    materials = _used_materials(content.mesh)
    paths = list(dict.fromkeys(path for material in materials for path in (material.texture, material.shader) if path))
    real = [path for path in paths if not path.startswith(("#", "proxy:"))]
    stored = {path for pair in base.textures() for path in pair} if base is not None else set()
    for wrong, words, remedy, severity in (
        ([p for p in real if ":" in p], "paths with a drive: {}", "Begin with the addon's folder", Severity.ERROR),
        (
            [p for p in paths if "/" in p and p in stored],
            "paths with / instead of \\: {}",
            "Replace it",
            Severity.ERROR,
        ),
        (
            [p for p in real if not {"\\", "/"} & set(p)],
            "paths without a folder: {}",
            "Begin with the addon's folder",
            None,
        ),
        (_not_rvmat(materials), "materials that are not .rvmat files: {}", "Choose an .rvmat", Severity.ERROR),
    ):
        if wrong:
            chosen = severity or Severity.WARNING
            faces = _faces_with(content.mesh, wrong)
            yield from _about(say(words, listed(wrong)), remedy, rule=32, kind=words, severity=chosen, faces=faces)


def find_stored_problems(lod: Lod) -> Iterator[Finding]:
    """Yield problems of a LOD as it is stored, which no mesh has: faces with one point at several corners."""
    wrong = lod.complete_faces() & ~is_of_proxy(lod) & ~distinct_corners(lod).any(axis=1)
    what = "{0:has|have} no area, because corners are at the same point"
    yield from by_rule(17 if lod.kind in SHADOWS else 31, some(wrong, "face|faces", what, "Delete {0:it|them}"))


def _used_materials(mesh: PolygonMesh) -> list[Material]:
    """Return the materials that faces have; others, such as those of proxies, are not written."""
    materials = mesh.materials if len(mesh.counts) else []
    return [materials[number] for number in np.unique(_slots(mesh, len(materials))).tolist()] if materials else []


def _not_rvmat(materials: Iterable[Material]) -> list[str]:
    shaders = dict.fromkeys(material.shader for material in materials if material.shader)
    return [path for path in shaders if not path.startswith("#") and not path.lower().endswith(".rvmat")]


def _bone_problems(mesh: PolygonMesh, bones: Collection[str]) -> Iterator[Finding]:
    if mesh.weights is None or not bones:
        return
    known = {bone.lower() for bone in bones}
    of_bone = np.array([group.lower() in known for group in mesh.groups], np.bool_)
    if not of_bone.any():
        return
    follows = of_bone[mesh.weights.groups] & (mesh.weights.weights > 0)
    vertices = mesh.weights.vertices[follows]
    number = np.bincount(vertices, minlength=len(mesh.positions))
    remedy = "Use Clean Up Weights in the menu of the list of LODs"
    values = (MOST_BONES,)
    what = "{0:has|have} more than {2} bones"
    yield from by_rule(35, some(number > MOST_BONES, "vertex|vertices", what, remedy, Domain.VERTEX, values=values))
    sums = np.bincount(vertices, mesh.weights.weights[follows], len(mesh.positions))
    off = (number > 0) & (np.abs(sums - 1) > WEIGHT_SUM)
    what = "{0:has|have} bone weights that do not sum up to 1"
    yield from by_rule(36, some(off, "vertex|vertices", what, remedy, Domain.VERTEX))


def _name_problems(content: LodContent) -> Iterator[Finding]:
    mesh = content.mesh
    names = [*mesh.groups, *content.properties, *content.properties.values()]
    spaced = [name for name in dict.fromkeys(names) if name != name.strip()]
    if spaced:
        yield from _about(
            say("names with a space at an end: {}", _quoted(spaced)),
            "Remove the space",
            rule=33,
            kind="spaces",
            vertices=_members(mesh, spaced),
        )
    capitals = [name for name in content.properties if name != name.lower()]
    if capitals:
        yield from _about(
            say("names of properties with capitals: {}", listed(capitals)),
            "Write them in lower case",
            rule=34,
            kind="capitals",
        )
    names += [text for material in _used_materials(mesh) for text in (material.texture, material.shader)]
    names += [proxy.path for proxy in content.proxies or ()]
    wrong = [name for name in dict.fromkeys(names) if not name.isascii()]
    if wrong:
        remedy = "Rename them with the letters A to Z, digits and underscores"
        yield from _about(
            say("names with letters that the game does not know: {}", listed(wrong)),
            remedy,
            rule=ASCII_NAMES,
            vertices=_members(mesh, wrong),
            faces=_faces_with(mesh, wrong),
        )


def _quoted(names: Iterable[str]) -> Message:
    return listed([repr(name) for name in names])
