"""Problems of a mesh that a game would reject or that a user should check, with the indices of the faces or
vertices.
"""

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
from .report import say


@dataclass(frozen=True, eq=False)
class Problem:
    """One finding: ``elements`` (n,), the indices of faces or vertices to be selected; none if it is about the whole
    mesh.

    ``fatal``: the file cannot be written with it. ``kind``: the sentence without counts, for comparison.
    """

    sentence: str
    remedy: str
    domain: Domain
    elements: NDArray[np.int64]
    fatal: bool = False
    kind: str = ""

    @property
    def is_note(self) -> bool:
        """Whether this is unusual, but harmless in most files."""
        return False

    @property
    def line(self) -> str:
        """The finding and its remedy, for a report."""
        return say("{}; {:lower}", self.sentence, self.remedy)


_NONE = np.zeros(0, np.int64)


def refuse(problems: Iterable[Problem], name: str) -> None:
    """Raise `WriteError` for the first fatal problem, if any."""
    for problem in problems:
        if problem.fatal:
            raise WriteError(say("{!r}: {}", name, problem.sentence), remedy=problem.remedy)


def whole(sentence: str, remedy: str) -> Problem:
    """Return a fatal problem of the whole mesh."""
    return Problem(sentence, remedy, Domain.FACE, _NONE, fatal=True)


def some(
    wrong: NDArray[np.bool_],
    noun: str,
    what: str,
    remedy: str,
    domain: Domain = Domain.FACE,
    *,
    fatal: bool = False,
    values: tuple[object, ...] = (),
) -> Iterator[Problem]:
    """Yield a problem of the elements for which ``wrong`` is set, if there are any.

    ``noun`` is ``face|faces``; ``what`` and ``remedy`` are templates as of `report.say`, such as ``{0:has|have} no
    area``: value 0 is the number of the elements, 1 that of all, followed by ``values``.
    """
    elements = np.flatnonzero(wrong)
    count = len(elements)
    if count:
        singular, _, many = noun.partition("|")
        sentence = say(f"{{0}} of {{1:# {singular}|# {many}}} {what}", count, len(wrong), *values)
        kind = say(f"{many} {what}", 2, 2, *values)
        yield Problem(sentence, say(remedy, count, len(wrong), *values), domain, elements, fatal, kind)


def unusable(mesh: Mesh) -> Iterator[Problem]:
    """Yield the problems that are fatal in every format: no faces, or faces with vertices that do not exist."""
    yield from no_faces(mesh)
    yield from points_to_nowhere(mesh)


def likely_mistakes(mesh: Mesh, least: float = 0.0) -> Iterator[Problem]:
    """Yield likely mistakes in any format: NaN or infinite positions, faces of less than ``least`` m², and repeated
    faces.
    """
    yield from not_finite(mesh)
    yield from small_faces(mesh, least)
    yield from repeated_faces(mesh)


def no_faces(mesh: Mesh) -> Iterator[Problem]:
    """Yield a fatal problem if there are no triangles."""
    if not len(mesh.triangles):
        yield whole("it has no faces", "Leave it out or give it faces")


def points_to_nowhere(mesh: Mesh) -> Iterator[Problem]:
    """Yield a fatal problem for faces with vertices that do not exist."""
    wrong = np.logical_not(valid_faces(mesh))
    yield from some(
        wrong, "face|faces", "{0:points|point} to a vertex that does not exist", "Validate the mesh", fatal=True
    )


def valid_faces(mesh: Mesh) -> NDArray[np.bool_]:
    """(faces,): whether all vertices of the face exist."""
    corners = mesh.triangles
    if not len(corners) or (int(corners.min()) >= 0 and int(corners.max()) < len(mesh.positions)):
        return np.ones(len(corners), np.bool_)
    result: NDArray[np.bool_] = np.all((corners >= 0) & (corners < len(mesh.positions)), axis=1)
    return result


def not_finite(mesh: Mesh) -> Iterator[Problem]:
    """Yield a problem for vertices whose position is NaN or infinite."""
    finite = np.isfinite(mesh.positions)
    wrong = np.logical_not(functools.reduce(np.logical_and, finite.T))
    yield from some(
        wrong, "vertex|vertices", "{0:has|have} a NaN or infinite position", "Delete {0:it|them}", Domain.VERTEX
    )


def small_faces(mesh: Mesh, least: float) -> Iterator[Problem]:
    """Yield a problem for faces of less than ``least`` square metres, including those without any area."""
    numbers, corners = _faces_with_places(mesh)
    wrong = np.zeros(len(mesh.triangles), np.bool_)
    if least > 0:
        wrong[numbers] = polygons.areas(mesh.positions, corners) < least
    else:
        wrong[numbers[polygons.without_area(mesh.positions, corners)]] = True
    what = "{0:has|have} an area below {2:g} m²" if least > 0 else "{0:has|have} no area"
    remedy = "Delete {0:it|them}, or merge {0:its|their} vertices"
    yield from some(wrong, "face|faces", what, remedy, values=(least,))


def repeated_faces(mesh: Mesh) -> Iterator[Problem]:
    """Yield a problem for faces with the same three positions as an earlier face, in any order."""
    numbers, corners = _faces_with_places(mesh)
    wrong = np.zeros(len(mesh.triangles), np.bool_)
    wrong[numbers[polygons.repeated_in_space(mesh.positions, corners)]] = True
    yield from some(
        wrong,
        "face|faces",
        "{0:lies|lie} exactly on another face",
        "Delete {0:it|them} if {0:it is|they are} not wanted",
    )


def _faces_with_places(mesh: Mesh) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the indices and corners of the faces whose vertices exist."""
    valid = valid_faces(mesh)
    return np.flatnonzero(valid), mesh.triangles if valid.all() else mesh.triangles[valid]


def out_of_range(values: NDArray[Any], highest: int, what: str) -> Iterator[Problem]:
    """Yield a fatal problem for faces whose value is below 0 or above the ``highest`` that the file can store."""
    wrong = np.logical_or(values < 0, values > highest)
    words, remedy = "{0:has|have} a {2} the file cannot store", "Give {0:it|them} a number from 0 to {3}"
    yield from some(wrong, "face|faces", words, remedy, fatal=True, values=(what, highest))
