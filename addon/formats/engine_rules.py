"""Problems that make a game reject or misread a file: counts, ids, names, bones.

A file can be read and written without loss and still crash the game. `verify` and `info` report these problems.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..core import names
from ..core.errors import ReadError
from ..core.problems import Problem
from ..core.report import Report, counted, listed
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


class Remark(NamedTuple):
    """Something that is wrong or unusual in a document.

    ``kind``: ``error``, ``warning`` or ``note`` of rules with severities, else ``problem``.
    """

    kind: str
    text: str
    remedy: str = ""


KINDS = ("problem", "error", "warning", "note")
"""Kinds of remarks, the worst first."""
Rules = Callable[[Any], Iterator[str | Remark]]
"""Function that takes a document and yields one remark per finding, or the text of each problem."""


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


def p3d_findings(document: p3d.P3d) -> Iterator[tuple[int, check.Finding]]:
    """Yield the findings of a model, each with the index of its LOD, -1 for those of the whole model."""
    model_class = check.class_of((float(lod.resolution), lod.properties()) for lod in document.lods)
    for number, lod in enumerate(document.lods):
        content = p3d.content_of(lod, lod.name, Report())
        problems = check.find_problems(content, base=lod, model_class=model_class)
        for finding in itertools.chain(problems, check.find_stored_problems(lod)):
            yield number, finding
    for finding in check.find_model_problems([float(lod.resolution) for lod in document.lods]):
        yield -1, finding


def _p3d(document: p3d.P3d) -> Iterator[Remark]:
    """Yield the findings, the worst first; the same about several LODs is one."""
    lods: dict[tuple[str, str, str], list[int]] = {}
    for number, finding in sorted(p3d_findings(document), key=lambda row: check.rank(row[1])):
        text = f"{finding.sentence} [{finding.label}]"
        lods.setdefault((finding.severity.value, text, finding.remedy), []).append(number)
    for (kind, text, remedy), numbers in lods.items():
        yield Remark(kind, f"{_lods(document, [number for number in numbers if number >= 0])}{text}", remedy)


def _lods(document: p3d.P3d, numbers: Sequence[int]) -> str:
    if not numbers:
        return ""
    named = listed([document.lods[number].name for number in numbers])
    return f"{'LODs' if len(numbers) > 1 else 'LOD'} {listed(list(map(str, numbers)))} ({named}): "


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


def remarks(name: str, document: Any) -> tuple[Remark, ...]:
    """Return what the game would reject or misread in a document of the format ``name``, and what is unusual."""
    rules = RULES.get(name)
    rows = dict.fromkeys(rules(document)) if rules is not None else ()
    return tuple(Remark("problem", row) if isinstance(row, str) else row for row in rows)
