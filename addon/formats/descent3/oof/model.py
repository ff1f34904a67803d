"""A model of Descent 3 for editing, in Blender's axes; problems that the game would have with it.

Indices of parts and points are indices in the lists here; ``source`` is the index in the file. Property strings and
limits are known from the engine's ``newstyle.cpp``, ``polymodel.h`` and ``polymodel.cpp``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ....core import polygons, rebase
from ....core.errors import WriteError
from ....core.model import Domain, PolygonMesh, parents_first
from ....core.problems import Problem, some, whole
from ....core.report import say
from .commands import ROTATING, Kind, parse_property

if TYPE_CHECKING:
    from .track import Track

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]

NEW = -1
"""``source`` of a part or point that is not in a file yet."""


@dataclass
class Motion:
    """Animation of a part in its parent's space, one row per tick.

    ``first``: tick of the first row; ``rotations`` (ticks, 4): quaternions w first, sign-continuous; ``displacements``
    (ticks, 3): added to the part's offset. ``key_ticks``: the ticks of the file's keys. An import sets keys at these
    ticks, an export keeps keys there if possible. ``track``: the keys of a motion from a file.
    """

    first: int
    rotations: Floats
    displacements: Floats
    key_ticks: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    track: Track | None = None

    @property
    def last(self) -> int:
        """Tick of the last row."""
        return self.first + len(self.rotations) - 1

    @property
    def key_rows(self) -> NDArray[np.int64]:
        """The rows that have keys in the file."""
        rows = self.key_ticks - self.first
        return rows[(rows >= 0) & (rows < len(self.rotations))]


@dataclass
class Part:
    """A sub-object: a rigid mesh around its pivot.

    ``parent``: index of another part or -1; ``offset`` (3,): pivot relative to the parent's pivot. ``properties``: the
    property string, verbatim. ``motion``: None if unknown, then an export keeps that of the file. ``spin_axis`` (3,),
    right-handed, of a rotor or turret, which the game rotates itself: rotation keys do not affect such a part.
    ``display_name``: the name in Blender, if other parts have the same ``name``, else "".
    """

    name: str
    mesh: PolygonMesh
    parent: int = -1
    offset: Singles = field(default_factory=lambda: np.zeros(3, np.float32))
    properties: str = ""
    motion: Motion | None = None
    spin_axis: Floats | None = None
    source: int = NEW
    display_name: str = ""

    @property
    def label(self) -> str:
        """Name for reports."""
        return self.display_name or self.name


class PointKind(Enum):
    """Purpose of a point."""

    GUN = "gun point"
    GROUND = "ground point"
    ATTACH = "attach point"
    SPECIAL = "special point"


@dataclass
class Point:
    """A point in the space of its part.

    ``direction`` (3,), None for special points; ``up`` (3,) of an attach point, if it has one. ``name``, ``properties``
    and ``radius`` belong to special points, whose ``parent`` is -1. ``source``: index among the file's points of this
    kind.
    """

    kind: PointKind
    parent: int
    position: Singles
    direction: Singles | None = None
    up: Singles | None = None
    name: str = ""
    properties: str = ""
    radius: float = 0.0
    source: int = NEW


@dataclass
class WeaponBattery:
    """A weapon battery: ``guns`` indices among the gun points, ``turrets`` indices of parts, the most mobile first."""

    guns: list[int] = field(default_factory=list)
    turrets: list[int] = field(default_factory=list)


@dataclass
class Model:
    """A whole model. ``textures``: the file's table of texture names."""

    name: str
    parts: list[Part] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)
    batteries: list[WeaponBattery] = field(default_factory=list)
    textures: list[str] = field(default_factory=list)

    def known(self, source: int) -> Part | None:
        """Return the part with this index, None if there is none."""
        return self.parts[source] if 0 <= source < len(self.parts) else None

    def of_kind(self, kind: PointKind) -> list[Point]:
        """Return the points of a kind, in order. Batteries refer to gun points by their index in this list."""
        return [point for point in self.points if point.kind is kind]

    @property
    def ticks(self) -> tuple[int, int]:
        """First and last tick of all motions, extended to include 0, as in the game."""
        moving = [part.motion for part in self.parts if part.motion is not None]
        return min([0, *(m.first for m in moving)]), max([0, *(m.last for m in moving)])


# A model and its file -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Match:
    """The correspondence between the parts of a model and the sub-objects of a base file.

    ``stored``: the stored index of each part in the file to be written; ``sources``: its part index in the base, or -1;
    ``origins``: the same, but for a copy the part index of its original; ``base_indices``: stored index -> part index
    of the base; ``same``: the parts are those of the base, in its order.
    """

    stored: list[int]
    sources: list[int]
    origins: list[int]
    base_indices: dict[int, int]
    same: bool

    def of_part(self, index: int) -> int:
        """Return the stored index of a part, -1 for -1 (none). Raises `WriteError` if there is no such part."""
        if index < 0:
            return -1
        if index >= len(self.stored):
            words = "there is no part {}"
            raise WriteError(say(words, index), remedy="Give the point or turret to a part of the model")
        return self.stored[index]

    def kept(self, stored: int, index: int) -> int:
        """Return the base's stored index if it still refers to part ``index``, else the stored index of that part."""
        unchanged = self.same and self.base_indices.get(stored, -1) == index
        return stored if unchanged else self.of_part(index)


# What the game would refuse ------------------------------------------------------------------------------------------

MOST_SUB_OBJECTS = 30
DEEPEST = 29
MOST_VERTICES = 2499
MOST_FACES = 3000
MOST_CORNERS = 99
MOST_COLLIDING_CORNERS = 32
MOST_BILLBOARD_CORNERS = 30
MOST_TEXTURES = 34
LONGEST_TEXTURE = 30
LONGEST_NAME = 34
LONGEST_PROPERTIES = 255
LONGEST_COMMAND = 199
LONGEST_FILE_NAME = 30
MOST_BATTERIES = 21
MOST_IN_BATTERY = 8
MOST_GUNS = 64
MOST_GROUND_POINTS = 10
FLAT = 1e-3
"""Largest distance of a corner from the plane of its face, relative to the mesh's size, that is not visible."""
_SINGLE_FACE = (Kind.FACING, Kind.FRONT_FACE, Kind.GLOW, Kind.THRUSTER)
_CHILDLESS = (Kind.SHELL, Kind.FRONT_FACE)
_NONE = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Finding:
    """A problem of the part with this index, or of the whole model (-1)."""

    part: int
    problem: Problem


def check_hierarchy(model: Model) -> None:
    """Raise `WriteError` if parents are missing or form a cycle."""
    for part in model.parts:
        if part.parent >= len(model.parts):
            raise WriteError(say("the parent of {!r} is not one of the parts", part.name), remedy="Export it too")
    try:
        parents_first([part.parent for part in model.parts])
    except ValueError as cycle:
        raise WriteError(say("in the hierarchy, {}", cycle), remedy="Clear a parent") from None


def refuse(model: Model, before: Model | None = None) -> None:
    """Raise `WriteError` for the first fatal problem that ``before``, the model as in its file, does not have as well.

    Problems that the file already has must not block edits of something else.
    """
    fatal = [finding for finding in find_problems(model, shapes=False) if finding.problem.fatal]
    known: dict[tuple[int, str], int] = {}
    if fatal and before is not None:
        for finding in find_problems(before, shapes=False):
            known[finding.part, _sentence_kind(finding.problem)] = len(finding.problem.elements)
    for finding in fatal:
        source = model.parts[finding.part].source if finding.part >= 0 else -1
        if len(finding.problem.elements) > known.get((source, _sentence_kind(finding.problem)), -1):
            sentence = finding.problem.sentence
            if finding.part >= 0:
                sentence = say("{!r}: {}", model.parts[finding.part].name, sentence)
            raise WriteError(sentence, remedy=finding.problem.remedy)


def _sentence_kind(problem: Problem) -> str:
    """Return the sentence without the number of elements."""
    return problem.kind or problem.sentence


def find_problems(model: Model, *, shapes: bool = True) -> Iterator[Finding]:
    """Yield what the game would refuse or draw differently, first for the whole model, then for each part.

    The hierarchy must be valid (`check_hierarchy`). Without ``shapes`` it is not checked whether faces are flat, convex
    and have an area; these problems are never fatal.
    """
    yield from (Finding(-1, problem) for problem in _problems_of_model(model))
    children = {part.parent for part in model.parts}
    for index, part in enumerate(model.parts):
        for problem in _problems_of_part(part, index in children, shapes=shapes):
            yield Finding(index, problem)


def problems_of_name(name: str) -> Iterator[Problem]:
    """Yield problems of the name of a model's file (without suffix) that the game would refuse."""
    if len(name) > LONGEST_FILE_NAME:
        words = "the name {!r} is longer than {} characters"
        yield whole(say(words, name, LONGEST_FILE_NAME), "Shorten the file's name")


def _warning(sentence: str, remedy: str) -> Problem:
    return Problem(sentence, remedy, Domain.FACE, _NONE)


def _problems_of_model(model: Model) -> Iterator[Problem]:
    if not model.parts:
        yield whole("it has no sub-object", "Add a mesh to it")
    if len(model.parts) > MOST_SUB_OBJECTS:
        words = "{} sub-objects, the game supports {}"
        yield whole(say(words, len(model.parts), MOST_SUB_OBJECTS), "Join some of them")
    if (depth := _depth(model)) > DEEPEST:
        words = "the hierarchy is {} levels deep, the game supports {}"
        yield whole(say(words, depth, DEEPEST), "Flatten the hierarchy")
    yield from problems_of_name(model.name)
    yield from _problems_of_textures(model)
    guns = len(model.of_kind(PointKind.GUN))
    if guns > MOST_GUNS:
        yield _warning(say("{:# gun point|# gun points}, the game supports {}", guns, MOST_GUNS), "Delete some")
    if len(model.of_kind(PointKind.GROUND)) > MOST_GROUND_POINTS:
        yield _warning(say("more than {} ground points", MOST_GROUND_POINTS), "Delete some")
    yield from _problems_of_batteries(model, guns)


def _problems_of_textures(model: Model) -> Iterator[Problem]:
    used = {material.texture for part in model.parts for material in part.mesh.materials if material.texture}
    lowered = {name.lower() for name in model.textures}
    count = len(model.textures) + len({name.lower() for name in used} - lowered)
    if count > MOST_TEXTURES:
        yield whole(say("{:# texture|# textures}, the game supports {}", count, MOST_TEXTURES), "Use fewer materials")
    for name in sorted(used | {*model.textures}):
        if len(name) > LONGEST_TEXTURE:
            words = "the texture's name {!r} is longer than {} characters"
            yield whole(say(words, name, LONGEST_TEXTURE), "Rename the texture")


def _problems_of_batteries(model: Model, guns: int) -> Iterator[Problem]:
    if len(model.batteries) > MOST_BATTERIES:
        words = "{:# battery|# batteries}, the game supports {}"
        yield whole(say(words, len(model.batteries), MOST_BATTERIES), "Delete some")
    for index, battery in enumerate(model.batteries):
        for numbers, most, what in ((battery.guns, guns, "gun"), (battery.turrets, len(model.parts), "turret")):
            if len(numbers) > MOST_IN_BATTERY:
                words = "battery {} has {} guns, the game supports {}"
                if what == "turret":
                    words = "battery {} has {} turrets, the game supports {}"
                yield whole(say(words, index, len(numbers), MOST_IN_BATTERY), "Split it")
            if any(not 0 <= number < most for number in numbers):
                words = "battery {} names a gun that is not there"
                if what == "turret":
                    words = "battery {} names a turret that is not there"
                yield whole(say(words, index), "Correct its list")
        if any(gun > 255 for gun in battery.guns):
            yield whole(say("battery {} names a gun above 255", index), "Put the gun points it uses first")


def _depth(model: Model) -> int:
    depths = [0] * len(model.parts)
    for index in parents_first([part.parent for part in model.parts]):
        parent = model.parts[index].parent
        depths[index] = 1 if parent < 0 else depths[parent] + 1
    return max(depths, default=0)


def _problems_of_part(part: Part, has_children: bool, *, shapes: bool) -> Iterator[Problem]:
    mesh, command = part.mesh, parse_property(part.properties)
    count, faces = len(mesh.positions), len(mesh.counts)
    if count > MOST_VERTICES:
        words = "{:# vertex|# vertices}, the game supports {}"
        yield whole(say(words, count, MOST_VERTICES), "Separate it into several objects")
    if faces > MOST_FACES:
        words = "{:# face|# faces}, the game supports {}"
        yield whole(say(words, faces, MOST_FACES), "Separate it into several objects")
    if len(part.name) > LONGEST_NAME:
        yield whole(say("its name is longer than {} characters", LONGEST_NAME), "Rename it")
    if len(part.properties) > LONGEST_PROPERTIES or len(part.properties.partition("=")[0]) >= LONGEST_COMMAND:
        yield whole("its property string is too long for the game", "Shorten it")
    if not faces and has_children:
        yield _warning("it has no faces, so the game does not draw its children", "Give it a small face")
    kind = command.kind if command is not None and command.works else None
    yield from _problems_of_faces(part, kind, shapes=shapes)
    if command is not None and command.problem:
        yield _warning(say("{}: {}", part.properties, command.problem), "Correct its property string")
    if part.properties.endswith("=") and command is None:
        yield _warning("its property string ends in =; the game would read past it", "Correct it")
    if kind in _CHILDLESS and has_children:
        yield _warning("the game does not draw the children of a door's shell or front", "Choose another parent")
    if kind in ROTATING and part.spin_axis is None:
        yield whole(
            "it rotates but has no axis of rotation; the game would use a random one", "Give it an axis of rotation"
        )
    if part.motion is not None and part.motion.first < 0:
        yield _warning("its motion begins before tick 0, where the game plays keys too early", "Begin at 0 or later")


def _problems_of_faces(part: Part, kind: Kind | None, *, shapes: bool) -> Iterator[Problem]:
    mesh = part.mesh
    counts, corners = mesh.counts, mesh.corners
    inside = polygons.all_in_face((corners >= 0) & (corners < len(mesh.positions)), counts)
    yield from some(
        ~inside, "face|faces", "{0:points|point} to a vertex that does not exist", "Validate the mesh", fatal=True
    )
    yield from some(
        counts > MOST_CORNERS,
        "face|faces",
        "{0:has|have} more than {2} corners",
        "Cut {0:it|them}",
        fatal=True,
        values=(MOST_CORNERS,),
    )
    many = (counts > MOST_COLLIDING_CORNERS) & (counts <= MOST_CORNERS)
    yield from some(
        many,
        "face|faces",
        "{0:has|have} more than {2} corners; nothing hits {0:it|them}",
        "Cut {0:it|them}",
        values=(MOST_COLLIDING_CORNERS,),
    )
    infinite = rebase.in_any_column(~np.isfinite(mesh.positions))
    yield from some(
        infinite, "vertex|vertices", "{0:has|have} a NaN or infinite position", "Delete {0:it|them}", Domain.VERTEX
    )
    yield from some(counts < 3, "face|faces", "{0:has|have} fewer than three corners", "Delete {0:it|them}", fatal=True)
    if shapes and inside.all() and not infinite.any() and len(counts):
        yield from _problems_of_shapes(part)
    if kind in _SINGLE_FACE:
        if len(counts) != 1:
            yield _warning(say("{} wants exactly one face, it has {}", part.properties, len(counts)), "Leave one face")
        yield from some(
            counts > MOST_BILLBOARD_CORNERS,
            "face|faces",
            "{0:has|have} more than {2} corners",
            "Cut {0:it|them}",
            values=(MOST_BILLBOARD_CORNERS,),
        )
    if kind is Kind.FACING:
        index = np.zeros(len(counts), np.int64) if mesh.material_index is None else mesh.material_index
        textured = np.array([bool(material.texture) for material in mesh.materials] or [False])
        plain = np.logical_not(textured[np.clip(index, 0, len(textured) - 1)])
        yield from some(
            plain,
            "face|faces",
            "{0:has|have} no texture, which faces that always look at the camera need",
            "Give {0:it|them} one",
        )


def _problems_of_shapes(part: Part) -> Iterator[Problem]:
    mesh = part.mesh
    outlines = polygons.outlines(mesh.positions, mesh.counts, mesh.corners)
    without_area = (mesh.counts >= 3) & ~rebase.in_any_column(outlines.normals != 0)
    remedy = "Delete {0:it|them}, or merge {0:its|their} vertices"
    yield from some(without_area, "face|faces", "{0:has|have} no area", remedy)
    yield from some(
        outlines.concave & ~without_area,
        "face|faces",
        "{0:is|are} not convex; the game draws {0:it|them} as fans",
        "Triangulate {0:it|them}",
    )
    lowest, highest = polygons.bounds(mesh.positions).astype(np.float64)
    extent = float(np.linalg.norm(highest - lowest))
    bent = outlines.distances > FLAT * max(extent, 1e-9)
    yield from some(bent & ~without_area, "face|faces", "{0:is|are} not flat", "Triangulate {0:it|them}")
