"""What the engine would not take, or would show otherwise than meant, with the faces or vertices concerned."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....core import polygons
from ....core.errors import WriteError
from ....core.model import Domain, parents_first
from ....core.problems import Problem, some, whole
from . import properties
from .model import Model, Part, PointKind
from .properties import Kind

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
"""By how much of its size a face may leave its plane before its drawing shows it."""
_ONE_FACE = (Kind.FACING, Kind.FRONT_FACE, Kind.GLOW, Kind.THRUSTER)
_CHILDLESS = (Kind.SHELL, Kind.FRONT_FACE)
_NONE = np.zeros(0, np.int64)
_COUNTED = re.compile(r"^\d+ of \d+ ")


@dataclass(frozen=True)
class Finding:
    """A problem of one part, by its place, or with -1 of the whole model."""

    part: int
    problem: Problem


def check_hierarchy(model: Model) -> None:
    """Raise `WriteError` where parents form a ring or are not there."""
    for part in model.parts:
        if part.parent >= len(model.parts):
            raise WriteError(f"the parent of {part.name!r} is none of the parts", remedy="Export it too")
    try:
        parents_first([part.parent for part in model.parts])
    except ValueError as ring:
        raise WriteError(f"in the hierarchy, {ring}", remedy="Clear a parent") from None


def refuse(model: Model, before: Model | None = None) -> None:
    """Raise a `WriteError` for the first fatal problem that is not one of ``before``, the model as its file has it.

    What was odd in a file already must not stop edits of something else.
    """
    known: dict[tuple[int, str], int] = {}
    if before is not None:
        for finding in find_problems(before, shapes=False):
            known[finding.part, _kind(finding.problem)] = len(finding.problem.elements)
    for finding in find_problems(model, shapes=False):
        source = model.parts[finding.part].source if finding.part >= 0 else -1
        worst = known.get((source, _kind(finding.problem)), -1)
        if finding.problem.fatal and len(finding.problem.elements) > worst:
            place = f"{model.parts[finding.part].name!r}: " if finding.part >= 0 else ""
            raise WriteError(f"{place}{finding.problem.sentence}", remedy=finding.problem.remedy)


def _kind(problem: Problem) -> str:
    """The sentence without how many elements it is said of."""
    return _COUNTED.sub("", problem.sentence) if len(problem.elements) else problem.sentence


def find_problems(model: Model, *, shapes: bool = True) -> Iterator[Finding]:
    """All of them, the whole model's first. The hierarchy must be one (`check_hierarchy`).

    Without ``shapes`` faces are not looked at for being flat, convex and of some area, of which nothing is fatal.
    """
    yield from (Finding(-1, problem) for problem in _of_model(model))
    children = {part.parent for part in model.parts}
    for place, part in enumerate(model.parts):
        for problem in _of_part(part, place in children, shapes=shapes):
            yield Finding(place, problem)


def _worth_a_look(sentence: str, remedy: str) -> Problem:
    return Problem(sentence, remedy, Domain.FACE, _NONE)


def _of_model(model: Model) -> Iterator[Problem]:
    if not model.parts:
        yield whole("it has no sub-object", "Give it a mesh")
    if len(model.parts) > MOST_SUB_OBJECTS:
        yield whole(f"{len(model.parts)} sub-objects, the game takes {MOST_SUB_OBJECTS}", "Join some of them")
    if (depth := _depth(model)) > DEEPEST:
        yield whole(f"parts hang {depth} deep below each other, the game follows {DEEPEST}", "Flatten the hierarchy")
    if len(model.name) > LONGEST_FILE_NAME:
        yield whole(f"the name {model.name!r} is longer than {LONGEST_FILE_NAME} characters", "Shorten the file's name")
    yield from _of_textures(model)
    guns = len(model.of_kind(PointKind.GUN))
    if guns > MOST_GUNS:
        yield _worth_a_look(f"{guns} gun points, the game counts on {MOST_GUNS}", "Delete some")
    if len(model.of_kind(PointKind.GROUND)) > MOST_GROUND_POINTS:
        yield _worth_a_look(f"more than {MOST_GROUND_POINTS} ground points", "Delete some")
    yield from _of_batteries(model, guns)


def _of_textures(model: Model) -> Iterator[Problem]:
    used = {material.texture for part in model.parts for material in part.mesh.materials if material.texture}
    lowered = {name.lower() for name in model.textures}
    count = len(model.textures) + len({name.lower() for name in used} - lowered)
    if count > MOST_TEXTURES:
        yield whole(f"{count} textures, the game takes {MOST_TEXTURES}", "Use fewer materials")
    for name in sorted(used | {*model.textures}):
        if len(name) > LONGEST_TEXTURE:
            yield whole(
                f"the texture's name {name!r} is longer than {LONGEST_TEXTURE} characters", "Rename the texture"
            )


def _of_batteries(model: Model, guns: int) -> Iterator[Problem]:
    if len(model.batteries) > MOST_BATTERIES:
        yield whole(f"{len(model.batteries)} batteries, the game takes {MOST_BATTERIES}", "Delete some")
    for number, battery in enumerate(model.batteries):
        for numbers, most, what in ((battery.guns, guns, "gun"), (battery.turrets, len(model.parts), "turret")):
            if len(numbers) > MOST_IN_BATTERY:
                yield whole(
                    f"battery {number} has {len(numbers)} {what}s, the game takes {MOST_IN_BATTERY}", "Split it"
                )
            if any(not 0 <= one < most for one in numbers):
                yield whole(f"battery {number} names a {what} that is not there", "Correct its list")
        if any(gun > 255 for gun in battery.guns):
            yield whole(f"battery {number} names a gun above 255", "Put the gun points it uses first")


def _depth(model: Model) -> int:
    depths = [0] * len(model.parts)
    for place in parents_first([part.parent for part in model.parts]):
        parent = model.parts[place].parent
        depths[place] = 1 if parent < 0 else depths[parent] + 1
    return max(depths, default=0)


def _of_part(part: Part, has_children: bool, *, shapes: bool) -> Iterator[Problem]:
    mesh, said = part.mesh, properties.parse(part.properties)
    count, faces = len(mesh.positions), len(mesh.counts)
    if count > MOST_VERTICES:
        yield whole(f"{count} vertices, the game takes {MOST_VERTICES}", "Separate it into several objects")
    if faces > MOST_FACES:
        yield whole(f"{faces} faces, the game takes {MOST_FACES}", "Separate it into several objects")
    if len(part.name) > LONGEST_NAME:
        yield whole(f"its name is longer than {LONGEST_NAME} characters", "Rename it")
    if len(part.properties) > LONGEST_PROPERTIES or len(part.properties.partition("=")[0]) >= LONGEST_COMMAND:
        yield whole("its property string is too long for the game", "Shorten it")
    if not faces and has_children:
        yield _worth_a_look("it has no faces, so the game draws nothing of what hangs below it", "Give it a small face")
    kind = said.kind if said is not None and said.works else None
    yield from _of_faces(part, kind, shapes=shapes)
    if said is not None and said.problem:
        yield _worth_a_look(f"{part.properties}: {said.problem}", "Correct its property string")
    if part.properties.endswith("=") and said is None:
        yield _worth_a_look("its property string ends in =, behind which the game reads on", "Correct it")
    if kind in _CHILDLESS and has_children:
        yield _worth_a_look("the game draws nothing of what hangs below a door's shell or front", "Hang it elsewhere")
    if kind in (Kind.ROTATE, Kind.TURRET) and part.spin_axis is None:
        yield whole("it spins but has no axis; the game would read one in its memory", "Give it an axis of rotation")
    if part.motion is not None and part.motion.first < 0:
        yield _worth_a_look(
            "its motion begins before tick 0, where the game takes keys too early", "Begin at 0 or later"
        )


def _of_faces(part: Part, kind: Kind | None, *, shapes: bool) -> Iterator[Problem]:
    mesh = part.mesh
    counts, corners = mesh.counts, mesh.corners
    inside = polygons.all_in_face((corners >= 0) & (corners < len(mesh.positions)), counts)
    yield from some(~inside, "faces", "point to a vertex that does not exist", "Validate the mesh", fatal=True)
    yield from some(counts > MOST_CORNERS, "faces", f"have more than {MOST_CORNERS} corners", "Cut them", fatal=True)
    many = (counts > MOST_COLLIDING_CORNERS) & (counts <= MOST_CORNERS)
    yield from some(many, "faces", f"have more than {MOST_COLLIDING_CORNERS} corners; nothing hits them", "Cut them")
    finite: NDArray[np.bool_] = np.all(np.isfinite(mesh.positions), axis=1)
    yield from some(~finite, "vertices", "stand at no finite place", "Delete them", Domain.VERTEX)
    yield from some(counts < 3, "faces", "have fewer than three corners", "Delete them", fatal=True)
    if shapes and inside.all() and finite.all() and len(counts):
        yield from _of_shapes(part)
    if kind in _ONE_FACE:
        if len(counts) != 1:
            yield _worth_a_look(f"{part.properties} wants exactly one face, it has {len(counts)}", "Leave one face")
        yield from some(
            counts > MOST_BILLBOARD_CORNERS, "faces", f"have more than {MOST_BILLBOARD_CORNERS} corners", "Cut them"
        )
    if kind is Kind.FACING:
        index = np.zeros(len(counts), np.int64) if mesh.material_index is None else mesh.material_index
        textured = np.array([bool(material.texture) for material in mesh.materials] or [False])
        plain = np.logical_not(textured[np.clip(index, 0, len(textured) - 1)])
        yield from some(plain, "faces", "that always look at the camera have no texture", "Give them one")


def _of_shapes(part: Part) -> Iterator[Problem]:
    mesh = part.mesh
    flat = np.flatnonzero(mesh.counts >= 3)
    corners = mesh.corners[polygons.corners_of(mesh.counts, flat)]
    counts = mesh.counts[flat]
    wrong = np.zeros(len(mesh.counts), np.bool_)
    wrong[flat] = np.logical_not(polygons.normals(mesh.positions, counts, corners).any(axis=1))
    yield from some(wrong, "faces", "have no area", "Delete them, or merge their vertices")
    hollow = np.zeros_like(wrong)
    hollow[flat] = polygons.concave(mesh.positions, counts, corners)
    yield from some(hollow & ~wrong, "faces", "are not convex; the game draws them as fans", "Triangulate them")
    extent = float(np.linalg.norm(np.ptp(mesh.positions.astype(np.float64), axis=0)))
    bent = np.zeros_like(wrong)
    bent[flat] = polygons.distances_from_plane(mesh.positions, counts, corners) > FLAT * max(extent, 1e-9)
    yield from some(bent & ~wrong, "faces", "are not flat", "Triangulate them")
