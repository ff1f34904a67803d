"""What a game would reject or a user should look at in a mesh, with the numbers of the faces or vertices concerned."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import polygons
from .errors import WriteError
from .model import Domain, Mesh
from .report import agreeing, counted_plural


@dataclass(frozen=True, eq=False)
class Problem:
    """One finding: ``elements`` (n,) numbers of faces or vertices, to be selected; none where it is the whole mesh.

    ``fatal`` where the file cannot be written with it. ``kind``: the sentence without counts, for comparing.
    """

    sentence: str
    remedy: str
    domain: Domain
    elements: NDArray[np.int64]
    fatal: bool = False
    kind: str = ""

    @property
    def line(self) -> str:
        """The finding and what to do, for a report."""
        return f"{self.sentence}; {self.remedy[:1].lower()}{self.remedy[1:]}"


_NONE = np.zeros(0, np.int64)


def refuse(problems: Iterable[Problem], name: str) -> None:
    """Raise a `WriteError` for the first fatal one."""
    for problem in problems:
        if problem.fatal:
            raise WriteError(f"{name!r}: {problem.sentence}", remedy=problem.remedy)


def whole(sentence: str, remedy: str) -> Problem:
    """A fatal problem of the mesh as a whole."""
    return Problem(sentence, remedy, Domain.FACE, _NONE, fatal=True)


def some(
    wrong: NDArray[np.bool_], noun: str, what: str, remedy: str, domain: Domain = Domain.FACE, *, fatal: bool = False
) -> Iterator[Problem]:
    """A problem of the elements where ``wrong`` is set; nothing where it is set nowhere. All words in the plural."""
    elements = np.flatnonzero(wrong)
    count = len(elements)
    if count:
        sentence = f"{count} of {counted_plural(len(wrong), noun)} {agreeing(count, what)}"
        yield Problem(sentence, agreeing(count, remedy), domain, elements, fatal, f"{noun} {what}")


def unusable(mesh: Mesh) -> Iterator[Problem]:
    """Fatal in every format: no faces, or faces that point to nowhere."""
    yield from no_faces(mesh)
    yield from points_to_nowhere(mesh)


def worth_a_look(mesh: Mesh, least: float = 0.0) -> Iterator[Problem]:
    """What is hardly meant in any format: vertices at no place, faces of less than ``least`` m², and repeated ones."""
    yield from not_finite(mesh)
    yield from small_faces(mesh, least)
    yield from repeated_faces(mesh)


def no_faces(mesh: Mesh) -> Iterator[Problem]:
    """Fatal: there is not one triangle."""
    if not len(mesh.triangles):
        yield whole("it has no faces", "Leave it out or give it faces")


def points_to_nowhere(mesh: Mesh) -> Iterator[Problem]:
    """Fatal: faces that name a vertex which does not exist."""
    wrong = np.logical_not(valid_faces(mesh))
    yield from some(wrong, "faces", "point to a vertex that does not exist", "Validate the mesh", fatal=True)


def valid_faces(mesh: Mesh) -> NDArray[np.bool_]:
    """(faces,) whether all their vertices exist."""
    found = mesh.triangles
    if not len(found) or (int(found.min()) >= 0 and int(found.max()) < len(mesh.positions)):
        return np.ones(len(found), np.bool_)
    result: NDArray[np.bool_] = np.all((found >= 0) & (found < len(mesh.positions)), axis=1)
    return result


def not_finite(mesh: Mesh) -> Iterator[Problem]:
    """Vertices without a position (NaN or infinite)."""
    finite = np.isfinite(mesh.positions)
    wrong = np.logical_not(functools.reduce(np.logical_and, finite.T))
    yield from some(wrong, "vertices", "have a NaN or infinite position", "Delete them", Domain.VERTEX)


def small_faces(mesh: Mesh, least: float) -> Iterator[Problem]:
    """Faces of less than ``least`` square metres, those without any area included."""
    numbers, corners = _faces_with_places(mesh)
    wrong = np.zeros(len(mesh.triangles), np.bool_)
    if least > 0:
        wrong[numbers] = polygons.areas(mesh.positions, corners) < least
    else:
        wrong[numbers[polygons.without_area(mesh.positions, corners)]] = True
    what = f"have an area below {least:g} m²" if least > 0 else "have no area"
    yield from some(wrong, "faces", what, "Delete them, or merge their vertices")


def repeated_faces(mesh: Mesh) -> Iterator[Problem]:
    """Faces that lie on an earlier one: the same three places, in whatever order."""
    numbers, corners = _faces_with_places(mesh)
    place = polygons.weld(mesh.positions).vertex
    wrong = np.zeros(len(mesh.triangles), np.bool_)
    wrong[numbers[polygons.repeated(place[corners])]] = True
    yield from some(wrong, "faces", "lie exactly on another face", "Delete them if they are not wanted")


def _faces_with_places(mesh: Mesh) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Numbers and corners of the faces whose vertices exist."""
    valid = valid_faces(mesh)
    return np.flatnonzero(valid), mesh.triangles if valid.all() else mesh.triangles[valid]


def out_of_range(values: NDArray[Any], highest: int, what: str) -> Iterator[Problem]:
    """Fatal: faces whose number is below 0 or above what the file's field holds."""
    wrong = np.logical_or(values < 0, values > highest)
    remedy = f"Give them a number from 0 to {highest}"
    yield from some(wrong, "faces", f"have a {what} the file cannot store", remedy, fatal=True)
