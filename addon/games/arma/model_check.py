"""Checks of Arma models, and a repair of geometry LODs: components of connected pieces.

What the game refuses is in `formats.arma.p3d.check`; here it gets the objects and polygons that show it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...blender import attributes, modifiers, sharp_mesh
from ...blender.mesh import Offending
from ...core.errors import WriteError
from ...core.model import Domain, VertexWeights
from ...core.problems import Problem
from ...core.report import Report, say
from ...formats.arma import lod_kinds, p3d
from ...formats.arma.p3d import check, components

if TYPE_CHECKING:
    from ...blender.typed import Object

MOST_COMPONENTS = 4096
"""Faces that share no vertices would be as many components, and Blender takes minutes to make so many vertex groups."""


@dataclass(frozen=True)
class OffendingPart(Offending):
    """A problem of a LOD, or of the model, that may be about whole ``objects`` instead of faces or vertices."""

    objects: Sequence[Any] = ()


@dataclass
class GatheredLod:
    """What Blender has of a LOD. ``obj``: its mesh, None if empties show it; ``base``: the imported LOD, if any.

    ``polygons`` (faces,): polygon of the mesh that each face is, or is part of. ``bones``: selections that are bones.
    ``not_imported``: neither a mesh nor empties show it. ``is_modified``: the faces are those that modifiers made.
    ``model_class``: value of the model's named property class. ``marks``: the empties that show its last points.
    """

    obj: Object | None
    content: p3d.LodContent
    base: p3d.Lod | None
    polygons: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    bones: frozenset[str] = frozenset()
    not_imported: bool = False
    is_modified: bool = False
    model_class: str = ""
    marks: Sequence[Object] = ()

    def cut_faces(self) -> Iterator[check.Finding]:
        """Yield the faces with more than four corners; elements are polygons of the mesh."""
        cut = np.unique(self.polygons[1:][np.diff(self.polygons) == 0]).astype(np.int64)
        if len(cut):
            words = "{0:# face has|# faces have} more than four corners and {0:is|are} written as triangles"
            sentence = say(words, len(cut))
            problem = Problem(sentence, "Triangulate them (Ctrl T) to see how they are cut", Domain.FACE, cut)
            yield from check.by_rule(check.FOUR_CORNERS, [problem])

    def selectable(self, problem: Problem) -> OffendingPart:
        """Return a problem with the polygons or vertices of the object's own mesh, or the empties of its points.

        Without any of them it is about the objects that show the LOD.
        """
        empty = problem.elements[:0]
        if self.obj is None:
            rows = problem.elements - (len(self.content.mesh.positions) - len(self.marks))
            chosen = [self.marks[row] for row in rows.tolist() if row >= 0] if problem.domain is Domain.VERTEX else []
            return OffendingPart(None, problem, empty, empty, tuple(chosen or self.marks))
        objects = () if len(problem.elements) else (self.obj,)
        if problem.domain is not Domain.FACE:
            return OffendingPart(self.obj, problem, empty, problem.elements, objects)
        polygons = np.unique(self.polygons[problem.elements]).astype(np.int64) if len(problem.elements) else empty
        return OffendingPart(self.obj, problem, polygons, empty, objects)

    def problems(self) -> Iterator[check.Finding]:
        """Yield what the game or its tools would reject."""
        yield from self._problems_of(self.content)

    def _problems_of(self, content: p3d.LodContent) -> Iterator[check.Finding]:
        yield from check.find_problems(content, self.bones, self.base, self.model_class)
        if self.not_imported and self.base is not None:
            yield from check.find_stored_problems(self.base)

    def warn(self, report: Report, *, edited: bool) -> None:
        """Report the problems; of an ``edited`` imported LOD, those that it did not have before.

        Raises `WriteError` for errors.
        """
        before: Iterable[check.Finding] = ()
        if edited and self.base is not None:
            before = self._problems_of(p3d.content_of(self.base, self.content.mesh.name, Report()))
        problems = list(check.new_problems(self.problems(), before))
        check.refuse_errors(problems, self.content.mesh.name)
        for problem in problems:
            add = report.note if problem.is_note else report.warn
            add(problem.line, self.content.mesh.name)


def find_problems(gathered: Iterable[GatheredLod], report: Report) -> list[OffendingPart]:
    """Return what the game or its tools would reject in a model, the worst first, with the objects and the polygons or
    vertices.

    Those of a mesh with modifiers are unknown, which is reported.
    """
    result, empty, lods = list[OffendingPart](), np.zeros(0, np.int64), list(gathered)
    for lod in lods:
        cut, problems = list(lod.cut_faces()), list(lod.problems())
        if lod.not_imported:
            name = lod.content.mesh.name
            for problem in problems:
                sentence = say("in the LOD {}, which is not imported: {}", name, problem.sentence)
                result.append(OffendingPart(None, replace(problem, sentence=sentence, elements=empty), empty, empty))
        elif lod.is_modified:
            every = (*cut, *problems)
            result += [OffendingPart(lod.obj, finding, empty, empty, (lod.obj,)) for finding in every]
            if cut or problems:
                report.note(modifiers.NOTHING_SELECTED, lod.content.mesh.name)
        else:
            result += [OffendingPart(lod.obj, finding, finding.elements, empty) for finding in cut]
            result += [lod.selectable(finding) for finding in problems]
    of_resolution = Counter(lod.content.resolution for lod in lods)
    twice = tuple(lod.obj for lod in lods if of_resolution[lod.content.resolution] > 1 and lod.obj is not None)
    for finding in check.find_model_problems([lod.content.resolution for lod in lods]):
        objects = twice if finding.severity is check.Severity.ERROR else ()
        result.append(OffendingPart(None, finding, empty, empty, objects))
    return sorted(result, key=lambda offending: (check.rank(offending.problem), not len(offending.problem.elements)))


# Repairs --------------------------------------------------------------------------------------------------------------


def has_components(obj: Object) -> bool:
    """Return whether an object is a LOD that consists of components."""
    return _kind(obj) in lod_kinds.GEOMETRIES


def has_mass(obj: Object) -> bool:
    """Return whether an object is a LOD whose points have masses."""
    return _kind(obj) in lod_kinds.WITH_MASS


def _kind(obj: Object) -> str:
    level = obj.motionbridge_arma_level if obj.type == "MESH" else None
    return lod_kinds.kind_of(level.resolution) if level is not None and level.is_level else ""


def number_components(obj: Object) -> int:
    """Make a vertex group Component01, Component02 … of each piece of connected faces; return how many.

    Earlier groups of such names are removed. Called in object mode. Raises `WriteError` for too many pieces.
    """
    mesh, _ = sharp_mesh.gather(obj, {}, most_corners=4)
    if not len(mesh.counts):
        return 0
    surface = components.Surface(mesh)
    count = int(surface.piece.max()) + 1
    if count > MOST_COMPONENTS:
        raise WriteError(
            say("{!r} has {:# separate piece|# separate pieces}, too many for components", obj.name, count),
            remedy="Merge vertices at the same place (M), so that faces are connected",
        )
    members = np.unique(np.stack([surface.piece[surface.face], mesh.corners], axis=1), axis=0).astype(np.int32)
    for group in [group for group in obj.vertex_groups if components.COMPONENT.fullmatch(group.name)]:
        obj.vertex_groups.remove(group)
    mesh.groups = [f"Component{number + 1:02}" for number in range(count)]
    mesh.weights = VertexWeights(members[:, 1], members[:, 0], np.ones(len(members), np.float32))
    attributes.build_vertex_groups(obj, mesh)
    return count
