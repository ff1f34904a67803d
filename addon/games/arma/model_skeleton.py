"""An armature for a model: its bones from a model.cfg, their joints from points named like them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...blender import armature
from ...core import files
from ...core.errors import ReadError
from ...core.joints import skeleton_of_joints
from ...core.report import Report
from ...core.text import counted
from ...formats.arma import model_cfg, p3d
from ...formats.arma.hierarchy import Hierarchy
from . import hierarchies
from .skeleton import joints_at, settled

Floats = NDArray[np.float64]


def selections_of(lods: Iterable[p3d.Lod]) -> list[str]:
    """The names of all selections that may move with a bone, each once, whatever the case."""
    found: dict[str, str] = {}
    for lod in lods:
        for name, _, _ in lod.selections():
            if name[:1] not in "-." and not name.lower().startswith("proxy:"):
                found.setdefault(name.lower(), name)
    return list(found.values())


def build_rig(context: Any, document: p3d.P3d, file: str, *, config: str, pivots_model: str, report: Report) -> Any:
    """A new armature, linked nowhere yet, of the model's skeleton. Raises `ReadError` where nothing says which."""
    hierarchy = hierarchy_of(document, file, config, report)
    bones = list(hierarchy.parents)
    parents = hierarchy.parent_indices(bones)
    joints = joints_at(bones, _pivots(document, file, hierarchy, pivots_model, report))
    unknown = int((~joints.known & (parents >= 0)).sum())
    if unknown:
        report.note(
            f"joints whose place is not known: {unknown} of {len(bones)}; these bones begin at their parent's",
            Path(file).stem,
        )
    skeleton = skeleton_of_joints(hierarchy.name, bones, parents, settled(joints, parents))
    rig, given = armature.build(context, skeleton)
    hierarchies.remember(rig, hierarchy, dict(zip(bones, given, strict=True)))
    report.note(f"a new armature of {counted(len(given), 'bone')}; hierarchy: {hierarchy.name}", Path(file).stem)
    return rig


def hierarchy_of(document: p3d.P3d, file: str, config: str, report: Report) -> Hierarchy:
    """What the model.cfg says of a model of this name, else its skeleton with the most bones among the selections;
    without a model.cfg the known man that has half of them. Raises `ReadError`.
    """
    selections = selections_of(document.lods)
    path = config or hierarchies.beside(file)
    if not path:
        found = hierarchies.built_in(selections) if selections else None
        if found is None:
            raise ReadError(
                "there is no model.cfg beside the model, and it is no known man",
                file=file,
                remedy="Name the model.cfg of its skeleton, or import it without an armature",
            )
        return found
    parsed = model_cfg.read(files.read_file(path), path, report)
    named = parsed.skeleton_of(Path(file).stem)
    if named is not None and named.parents:
        return named
    best = min(parsed.skeletons.values(), key=lambda skeleton: len(skeleton.unknown(selections)), default=None)
    if best is None or len(best.unknown(selections)) == len(selections):
        raise ReadError(
            "no skeleton of this model.cfg has a bone that the model has",
            file=path,
            remedy="Name the model.cfg of the model's skeleton, or import it without an armature",
        )
    return best


def _pivots(document: p3d.P3d, file: str, hierarchy: Hierarchy, pivots_model: str, report: Report) -> dict[str, Floats]:
    """Bone -> joint: of the pivots model that is named or lies beside, else of the model's memory level; what is still
    missing is the middle of what hangs on the bone.
    """
    bones = list(hierarchy.parents)
    path = pivots_model or _beside(file, hierarchy.pivots_model)
    if path:
        found = p3d.pivots(p3d.read(files.read_file(path), path, report), bones, report)
        if found:
            return found
        report.warn("none of the bones is a selection of the model of pivots", Path(path).name)
    memory = document.lod("memory")
    known = p3d.pivots(document, bones, report) if memory is not None else {}
    middles = _centres(document, bones)
    guessed = [bone for bone in middles if bone not in known]
    if guessed:
        report.note(
            f"no point says where they turn: {counted(len(guessed), 'bone')} in the middle of what hangs on them",
            Path(file).stem,
        )
    return middles | known


def _centres(document: p3d.P3d, bones: Sequence[str]) -> dict[str, Floats]:
    visual = next((lod for lod in document.lods if lod.kind == "visual" and len(lod.points)), None)
    return p3d.centres(visual, bones) if visual is not None else {}


def _beside(file: str, model: str) -> str:
    """A model the game knows by its path, looked for by its name in the folder of ``file``; "" where it is not."""
    name = model.replace("\\", "/").rpartition("/")[2].lower()
    if not name:
        return ""
    folder = Path(file).absolute().parent
    found = sorted(entry for entry in folder.glob("*.[pP]3[dD]") if entry.name.lower() == name)
    return str(found[0]) if found else ""
