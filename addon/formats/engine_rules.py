"""Problems that make a game reject or misread a file: counts, ids, names, bones.

A file can be read and written without loss and still crash the game. `verify` and `info` report these problems.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..core import names
from ..core.errors import ReadError
from ..core.problems import Problem
from ..core.report import Report, counted
from .arma import p3d, paa
from .arma.p3d import check
from .arma.rtm import Rtm
from .descent3 import oof
from .xray import bones, cform, details, dm, hom, level_ai, skl, som
from .xray.level import geometry
from .xray.level.text import problems as level_problems
from .xray.ltx.codec import problems as text_problems
from .xray.object import checks
from .xray.object.document import Object
from .xray.ogf.chunk_types import BoneNames
from .xray.ogf.document import Ogf, motion_set_of
from .xray.ogf.text import problems as model_problems
from .xray.omf import edit
from .xray.omf.document import MotionSet, Omf

Rules = Callable[[Any], Iterator[str]]
"""Function that takes a document and yields one sentence per problem."""


def _motions(motions: MotionSet) -> Iterator[str]:
    yield from edit.library_problems(motions.library)
    yield from edit.problems(motions)


def _omf(document: Omf) -> Iterator[str]:
    yield from _motions(document.motion_set)


def _ogf(document: Ogf) -> Iterator[str]:
    yield from model_problems(document)
    motions = motion_set_of(document)
    if motions is None:
        return
    yield from _motions(motions)
    listed = document.first(BoneNames)
    if listed is not None:
        yield from edit.skeleton_problems(motions, [bone.label for bone in listed.bones])


def _skl(document: skl.Skl) -> Iterator[str]:
    for group in names.duplicates(motion.label for motion in document.motions):
        yield f"the motion {group[0]!r} occurs {len(group)} times"
    for motion in document.motions:
        if not motion.name:
            yield "a motion without a name"
        if motion.last < motion.first:
            yield f"the motion {motion.label!r} ends at frame {motion.last}, before it begins ({motion.first})"
        labels = [names.decode(track.name) for track in motion.tracks if track.name is not None]
        if "" in labels:
            yield f"the motion {motion.label!r} has a bone without a name"
        for group in names.duplicates(labels):
            yield f"the motion {motion.label!r} has the bone {group[0]!r} {len(group)} times"


def _bones(document: bones.Bones) -> Iterator[str]:
    labels = [bone.name for bone in document.bones]
    if "" in labels:
        yield "a bone without a name"
    for group in names.duplicates(labels):
        yield f"the bone {group[0]!r} occurs {len(group)} times"


def _object(document: Object) -> Iterator[str]:
    yield from checks.problems(document)
    yield from _skl(skl.new_skls(document.model.motions))


def _rtm(document: Rtm) -> Iterator[str]:
    if not len(document.bones):
        yield "there are no bones"
    if not len(document.phases):
        yield "there are no frames"
    if "" in document.bones:
        yield "a bone without a name"
    for group in names.duplicates(document.bones):
        yield f"the bone {group[0]!r} occurs {len(group)} times"


def p3d_findings(document: p3d.P3d) -> Iterator[tuple[str, check.Finding]]:
    """Yield the findings of a model, each with the name of its LOD, "" for those of the whole model."""
    model_class = check.class_of((float(lod.resolution), lod.properties()) for lod in document.lods)
    for number, lod in enumerate(document.lods):
        content = p3d.content_of(lod, lod.name, Report())
        problems = check.find_problems(content, base=lod, model_class=model_class)
        for finding in itertools.chain(problems, check.find_stored_problems(lod)):
            yield f"LOD {number} ({lod.name}): ", finding
    for finding in check.find_model_problems([float(lod.resolution) for lod in document.lods]):
        yield "", finding


def _p3d(document: p3d.P3d) -> Iterator[str]:
    for where, finding in p3d_findings(document):
        if not finding.is_note:
            yield f"{where}{finding.sentence}"


def _p3d_notes(document: p3d.P3d) -> Iterator[str]:
    for where, finding in p3d_findings(document):
        if finding.is_note:
            yield f"{where}{finding.sentence}"


def _details(document: details.Details) -> Iterator[str]:
    if len(document.models) > details.MODELS:
        yield f"{counted(len(document.models), 'detail model')}, the game supports {details.MODELS}"
    missing = sorted(details.named_models(document) - set(document.models))
    if missing:
        yield f"slots refer to models that are not in the file: {', '.join(map(str, missing))}"
    for number, model in document.models.items():
        yield from (f"detail model {number}: {sentence}" for sentence in _dm(model))


def _dm(document: dm.Dm) -> Iterator[str]:
    yield from _fatal(dm.find_problems(dm.decode(document, Report())))
    if not document.texture:
        yield "the texture has no name"


def _fatal(problems: Iterator[Problem]) -> Iterator[str]:
    return (problem.sentence for problem in problems if problem.fatal)


def _oof(document: oof.Oof) -> Iterator[str]:
    try:
        model = oof.decode(document, Report())
    except ReadError as refusal:
        yield refusal.problem
        return
    yield from (
        f"{model.parts[problem.part].name}: {problem.problem.sentence}"
        if problem.part >= 0
        else problem.problem.sentence
        for problem in oof.find_problems(model, shapes=False)
        if problem.problem.fatal
    )


RULES: Mapping[str, Rules] = {
    "omf": _omf,
    "ogf": _ogf,
    "skl": _skl,
    "bones": _bones,
    "object": _object,
    "rtm": _rtm,
    "p3d": _p3d,
    "paa": paa.problems,
    "details": _details,
    "dm": _dm,
    "oof": _oof,
    "ltx": text_problems,
    "level": level_problems,
    "level_geom": geometry.problems,
    "ai": level_ai.problems,
    "cform": lambda document: _fatal(cform.find_problems(cform.decode(document, Report()))),
    "hom": lambda document: _fatal(hom.find_problems(hom.decode(document, Report()))),
    "som": lambda document: _fatal(som.find_problems(som.decode(document, Report()))),
}
"""Rules by the name of the format (`formats.FORMATS`)."""
NOTES: Mapping[str, Rules] = {"p3d": _p3d_notes}
"""What is unusual in a document of a format, but harmless in most files."""
