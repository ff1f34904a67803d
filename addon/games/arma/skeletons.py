"""The skeleton of an animation or a model: its hierarchy, and its joints as far as they are known.

Animation and model files contain no hierarchy: it comes from a model.cfg or a built-in skeleton, or there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...blender import armature
from ...core import files, space
from ...core.errors import ReadError
from ...core.game import InstalledGame
from ...core.joints import gaps, recover, skeleton_of_joints
from ...core.model import DeltaClip, Skeleton
from ...core.report import Report, say
from ...formats.arma import lod_kinds, model_cfg, p3d
from ...formats.arma.p3d.document import BINARISED_MARK
from ...formats.arma.skeletons import BUILT_IN, Hierarchy
from ...formats.trees import head_of
from .options import HierarchyFrom, PivotsFrom
from .sources import Sources

if TYPE_CHECKING:
    from ...blender.typed import Context, Object


Floats = NDArray[np.float64]
CONFIG_NAME = "model.cfg"
LARGEST_MISSING_SHARE = 0.5
"""Largest fraction of a file's bones that may be missing in a skeleton that still counts as the file's."""
LARGEST_GAP = 0.1
"""Largest distance in metres between the positions to which a bone and its parent move the joint of a pivots model that
still counts as the animation's. Real animations keep within 0.04 of a fitting skeleton, and are above 0.2 with another.
"""
LARGEST_JOINT_DISTANCE = 5.0
"""Largest accepted distance of a recovered joint from the model's origin, in metres; models are people and animals."""


# Hierarchies --------------------------------------------------------------------------------------------------------


FLAT = Hierarchy("flat", {}, for_display=True)


def chosen_hierarchy(source: HierarchyFrom, config: str, file: str, bones: Sequence[str], report: Report) -> Hierarchy:
    """Return the hierarchy for the bones of an animation ``file``; ``config``: path of its model.cfg, "" for none.

    Raises `ReadError` if ``source`` has none.
    """
    if source is HierarchyFrom.FLAT:
        return FLAT
    if source in (HierarchyFrom.AUTOMATIC, HierarchyFrom.CONFIG):
        result = hierarchy_of_config(config, file, bones, report) if config else None
        if result is not None:
            return result
        if source is HierarchyFrom.CONFIG:
            raise ReadError(
                "there is no model.cfg in the folder of the animation or above"
                if not config
                else "no skeleton of it has these bones",
                file=config or file,
                remedy="Name the model.cfg of the animation's skeleton, or choose a built-in skeleton",
            )
        return fitting_built_in(bones) or FLAT
    return BUILT_IN[source.name.lower()]


def config_of(file: str, report: Report, games: Sequence[InstalledGame]) -> str:
    """Return what `config_in` does for a file and ``games``."""
    return config_in(Sources(Path(file), games), report)


def config_in(sources: Sources, report: Report) -> str:
    """Return the path of the model.cfg of an animation or a model; "" if there is none.

    It is the nearest one with a class of the file's name, in its folder, above that in its project, or in its game;
    real ones are up to four folders above, or named as the model. Else it is the model.cfg in the folder of the file.
    """
    path = sources.file
    for config in sources.above(CONFIG_NAME, f"{path.stem}.cfg"):
        try:
            if model_cfg.read(files.read_file(config), str(config), Report()).skeleton_of(path.stem) is not None:
                return str(config)
        except ReadError as refusal:
            if config.parent != sources.file.parent:
                report.warn(say("a model.cfg is left out: {}", refusal.sentence()), path.name)
    beside = sources.beside(CONFIG_NAME)
    return str(beside) if beside is not None else ""


def hierarchy_of_config(path: str, file: str, bones: Sequence[str], report: Report) -> Hierarchy | None:
    """Return the skeleton that a model.cfg assigns to this file by name, else the one with the most of its bones.

    None, with a warning, if that skeleton, or every skeleton, lacks more than half of the bones. Raises `ReadError`.
    """
    config = model_cfg.read(files.read_file(path), path, report)
    named = config.skeleton_of(Path(file).stem)
    candidates = [named] if named is not None else list(config.skeletons.values())
    result = _fitting(candidates, bones)
    if result is None:
        report.warn(say("no skeleton of {} has the bones of the animation", Path(path).name), Path(file).name)
    return result


def listed_by_config(path: str, file: str) -> Hierarchy | None:
    """Return the bones that a model.cfg lists for this file by its name, else those of all its skeletons; None if it
    has no skeleton. Raises `ReadError`.
    """
    config = model_cfg.read(files.read_file(path), path, Report())
    named = config.skeleton_of(Path(file).stem)
    if named is not None:
        return named
    parents = {bone: above for skeleton in config.skeletons.values() for bone, above in skeleton.parents.items()}
    return Hierarchy(Path(path).name, parents) if parents else None


def fitting_built_in(bones: Sequence[str]) -> Hierarchy | None:
    """Return the built-in skeleton with the most of the bones, None if every one lacks more than half of them."""
    return _fitting(BUILT_IN.values(), bones)


def _fitting(candidates: Iterable[Hierarchy], bones: Sequence[str]) -> Hierarchy | None:
    fitting = [candidate for candidate in candidates if fits(candidate, bones)]
    return min(fitting, key=lambda candidate: len(candidate.unknown(bones)), default=None)


def guessed_hierarchy(own: Hierarchy, bones: Sequence[str], report: Report) -> Hierarchy:
    """Guess the game's hierarchy for an armature that does not store one: a built-in skeleton's, else its ``own``."""
    man = fitting_built_in(bones)
    if man is not None and not man.for_display:
        return man if own.for_display else Hierarchy(man.name, {**own.parents, **man.parents})
    if not own.for_display:
        report.warn(
            "the parents of the armature's bones are taken for those of the game's skeleton; name its model.cfg if "
            "they differ",
            own.name,
        )
    return own


def fits(hierarchy: Hierarchy, bones: Sequence[str]) -> bool:
    """Return whether a hierarchy contains at least half of the bones."""
    return bool(hierarchy.parents) and len(hierarchy.unknown(bones)) <= LARGEST_MISSING_SHARE * len(bones)


def hierarchy_of_armature(rig: Object, known: bool = True) -> Hierarchy:
    """Return the game's hierarchy stored on an armature, else, or if not ``known``, the armature's own."""
    skeleton = rig.data.motionbridge_skeleton
    if known and len(skeleton.bones):
        parents = {entry.name: entry.parent for entry in skeleton.bones}
        return Hierarchy(skeleton.skeleton or rig.name, parents, for_display=skeleton.for_display)
    spelled = {entry.bone: entry.name for entry in skeleton.bones}
    parents = {
        spelled.get(bone.name, bone.name): spelled.get(bone.parent.name, bone.parent.name) if bone.parent else ""
        for bone in rig.data.bones
    }
    return Hierarchy(rig.name, parents)


def store(rig: Object, hierarchy: Hierarchy, given: dict[str, str]) -> None:
    """Store the game's spelling, order and parents of bones on an armature; ``given``: game's name -> Blender's name.

    Bones that are stored already stay unchanged.
    """
    skeleton = rig.data.motionbridge_skeleton
    known = {entry.name.lower() for entry in skeleton.bones}
    if not known:
        skeleton.skeleton, skeleton.for_display = hierarchy.name, hierarchy.for_display
    above = {bone.lower(): parent for bone, parent in hierarchy.parents.items()}
    for name, bone in given.items():
        if name.lower() not in known:
            entry = skeleton.bones.add()
            entry.name, entry.bone, entry.parent = name, bone, above.get(name.lower(), "")


def spelled_as(hierarchy: Hierarchy, bones: Sequence[str]) -> list[str]:
    """Return the bones in the hierarchy's upper and lower case, where it contains them."""
    spelling = {bone.lower(): bone for bone in hierarchy.parents}
    return [spelling.get(bone.lower(), bone) for bone in bones]


# Joints of an animation ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Joints:
    """``points`` (bones, 3): joints in model space, metres, Blender's axes. ``known`` (bones,): False where a point is
    not known.
    """

    points: Floats
    known: NDArray[np.bool_]


def skeleton_for(
    clip: DeltaClip,
    hierarchy: Hierarchy,
    *,
    source: PivotsFrom,
    model: str,
    whole: bool,
    noise: float,
    report: Report,
) -> Skeleton:
    """Return the skeleton of a new armature for ``clip``.

    ``model``: path of a pivots model. ``whole``: as in `bones_of`. ``noise``: rounding error of its matrices in metres.
    Raises `ReadError` if ``model`` cannot be read.
    """
    bones = bones_of(clip, hierarchy, whole=whole)
    parents = hierarchy.parent_indices(bones)
    given = _pivots_of(model, bones, report) if model and source in (PivotsFrom.AUTOMATIC, PivotsFrom.MODEL) else {}
    used = source is PivotsFrom.MODEL
    if given and not _fit(clip, hierarchy, given, model=model, used=used, report=report) and not used:
        given = {}
    table = {bone: space.arma_points(np.array(point)) for bone, point in hierarchy.pivots.items()}
    if given:
        joints = joints_at(bones, given)
    elif source in (PivotsFrom.AUTOMATIC, PivotsFrom.ANIMATION):
        placed = joints_at(bones, table if source is PivotsFrom.AUTOMATIC else {})
        joints = _recovered(clip, placed, hierarchy.parent_indices(clip.bones), noise)
    else:
        joints = joints_at(bones, table)
    return _skeleton(clip.name, bones, parents, joints, report=report, where=clip.name)


def _skeleton(
    name: str, bones: list[str], parents: NDArray[np.int32], joints: Joints, *, report: Report, where: str
) -> Skeleton:
    unknown = int((~joints.known & (parents >= 0)).sum())
    if unknown:
        words = "joints with unknown positions: {} of {}; these bones start at their parent's joint"
        report.note(say(words, unknown, len(bones)), where)
    return skeleton_of_joints(name, bones, parents, filled_in(joints, parents))


def bones_of(clip: DeltaClip, hierarchy: Hierarchy, *, whole: bool) -> list[str]:
    """Return the clip's bones, with ``whole`` followed by bones of the hierarchy that the clip does not move."""
    listed = {bone.lower() for bone in clip.bones}
    return list(clip.bones) + [bone for bone in hierarchy.parents if whole and bone.lower() not in listed]


def _pivots_of(model: str, bones: Sequence[str], report: Report) -> dict[str, Floats]:
    """Return bone -> pivot, as in a pivots model; warns if there is none. Raises `ReadError` if it cannot be read."""
    pivots = p3d.pivots(p3d.read(files.read_file(model), model, report), bones, report)
    if not pivots:
        report.warn("no bone is a selection of the pivots model", Path(model).name)
    return pivots


def _fit(
    clip: DeltaClip, hierarchy: Hierarchy, pivots: Mapping[str, Floats], *, model: str, used: bool, report: Report
) -> bool:
    """Return whether joints of a pivots model stay together in an animation; warns if they do not.

    Only joints that do not slide in the animation count. ``used``: the joints are used all the same.
    """
    parents = hierarchy.parent_indices(clip.bones)
    fixed = recover(clip.deltas, parents).accepted
    apart = gaps(clip.deltas, parents, joints_at(clip.bones, pivots).points) * fixed
    worst = float(apart.max(initial=0.0))
    if worst <= LARGEST_GAP:
        return True
    wrong = int((apart > LARGEST_GAP).sum())
    words = (
        "the joints of the pivots model come apart by up to {:.2f} m in the animation (bones: {} of {}), so it belongs "
        "to another skeleton; joints are taken from the animation instead"
    )
    if used:
        words = (
            "the joints of the pivots model come apart by up to {:.2f} m in the animation (bones: {} of {}), so it "
            "belongs to another skeleton; choose Automatic as Joints to take them from the animation"
        )
    report.warn(say(words, worst, wrong, int(fixed.sum())), Path(model).name)
    return False


def joints_at(bones: Sequence[str], points: Mapping[str, Floats]) -> Joints:
    """Return joints for ``bones`` from ``points`` by bone name, ignoring case; missing ones are NaN and not known."""
    by_name = {bone.lower(): point for bone, point in points.items()}
    result = np.array([by_name.get(bone.lower(), np.full(3, np.nan)) for bone in bones]).reshape(-1, 3)
    known: NDArray[np.bool_] = np.isfinite(result).all(axis=1)
    return Joints(result, known)


def _recovered(clip: DeltaClip, placed: Joints, parents: NDArray[np.int32], noise: float) -> Joints:
    """Compute joints from the motion; where that fails, use those of ``placed``, whose first bones are the clip's."""
    own = len(clip.bones)
    near = np.where(placed.known[:own, None], placed.points[:own], 0.0) if placed.known[:own].any() else None
    pivots = recover(clip.deltas, parents, near=near, noise=noise)
    # Frames with almost no rotation between them give joints at arbitrary positions.
    accepted = pivots.accepted & (np.linalg.norm(pivots.points, axis=1) <= LARGEST_JOINT_DISTANCE)
    points, known = placed.points.copy(), placed.known.copy()
    points[:own][accepted] = pivots.points[accepted]
    known[:own] |= accepted
    return Joints(points, known)


def filled_in(joints: Joints, parents: NDArray[np.int32]) -> Floats:
    """Return joints (bones, 3), unknown ones at their parent's joint, or for roots at the median of their children's.

    A camera that is parented to the root and far away does not move it.
    """
    points, known = joints.points.copy(), joints.known.copy()
    for root in np.flatnonzero((parents < 0) & ~known):
        children = np.flatnonzero((parents == root) & known)
        points[root] = np.median(points[children], axis=0) if len(children) else 0.0
        known[root] = True
    while not known.all():
        ready = np.flatnonzero(~known & (parents >= 0) & known[np.maximum(parents, 0)])
        points[ready], known[ready] = points[parents[ready]], True
    return points


# The armature of a model --------------------------------------------------------------------------------------------


def selections_of(lods: Iterable[p3d.Lod]) -> list[str]:
    """Return the names of all selections that may move with a bone, without duplicates (ignoring case)."""
    names: dict[str, str] = {}
    for lod in lods:
        for name, _, _ in lod.selections():
            if name[:1] not in "-." and not name.lower().startswith("proxy:"):
                names.setdefault(name.lower(), name)
    return list(names.values())


def build_rig(
    context: Context,
    document: p3d.P3d,
    file: str,
    *,
    config: str,
    pivots_model: str,
    games: Sequence[InstalledGame],
    report: Report,
) -> Object | None:
    """Return a new armature of the model's skeleton, in no collection yet. Raises `ReadError` if none is found.

    ``games``: searched for a model.cfg and a pivots model after the model's project.
    """
    sources = Sources(Path(file), games)
    hierarchy = hierarchy_of(document, file, config or config_in(sources, report), report)
    bones = list(hierarchy.parents)
    parents = hierarchy.parent_indices(bones)
    pivots_model = pivots_model or _pivots_model_of(hierarchy, sources, report)
    joints = joints_at(bones, _pivots(document, file, hierarchy, pivots_model, report))
    skeleton = _skeleton(hierarchy.name, bones, parents, joints, report=report, where=Path(file).stem)
    return build_armature(context, skeleton, hierarchy, report, Path(file).stem)


def build_armature(context: Context, skeleton: Skeleton, hierarchy: Hierarchy, report: Report, where: str) -> Object:
    """Return a new armature object that stores the game's skeleton, in no collection yet."""
    rig, given = armature.build(context, skeleton)
    store(rig, hierarchy, dict(zip(skeleton.bones, given, strict=True)))
    report.note(say("a new armature of {:# bone|# bones}; hierarchy: {}", len(given), hierarchy.name), where)
    return rig


def hierarchy_of(document: p3d.P3d, file: str, config: str, report: Report) -> Hierarchy:
    """Return the skeleton of a model: the one its model.cfg assigns to the file name, else the one in the model.cfg
    with the most bones among the selections. Without a model.cfg, the built-in skeleton with at least half of them.
    Raises `ReadError` if none is found.
    """
    selections = selections_of(document.lods)
    if not config:
        hierarchy = fitting_built_in(selections) if selections else None
        if hierarchy is None:
            raise ReadError(
                "there is no model.cfg in the folder of the model or above, and it is not a known man",
                file=file,
                remedy="Name the model.cfg of its skeleton, or import it without an armature",
            )
        return hierarchy
    parsed = model_cfg.read(files.read_file(config), config, report)
    named = parsed.skeleton_of(Path(file).stem)
    if named is not None and named.parents:
        return named
    best = min(parsed.skeletons.values(), key=lambda skeleton: len(skeleton.unknown(selections)), default=None)
    if best is None or len(best.unknown(selections)) == len(selections):
        raise ReadError(
            "no skeleton of this model.cfg has a bone that the model has",
            file=config,
            remedy="Name the model.cfg of the model's skeleton, or import it without an armature",
        )
    return best


def _pivots(document: p3d.P3d, file: str, hierarchy: Hierarchy, pivots_model: str, report: Report) -> dict[str, Floats]:
    """Return bone -> joint: from the pivots model, "" for none, else from the model's memory LOD; for bones still
    missing, the centre of the bone's vertices.
    """
    bones = list(hierarchy.parents)
    if pivots_model:
        pivots = _pivots_of(pivots_model, bones, report)
        if pivots:
            return pivots
    memory = document.lod(lod_kinds.MEMORY)
    known = p3d.pivots(document, bones, report) if memory is not None else {}
    middles = _centres(document, bones)
    guessed = [bone for bone in middles if bone not in known]
    if guessed:
        words = (
            "{0:# bone has its|# bones have their} joint in the middle of {0:its|their} vertices, because no point "
            "of the model gives it"
        )
        report.note(say(words, len(guessed)), Path(file).stem)
    return middles | known


def _pivots_model_of(hierarchy: Hierarchy, sources: Sources, report: Report) -> str:
    """Return the path of the pivots model that a model.cfg names, "" if it is missing or made for the game."""
    path = sources.find(hierarchy.pivots_model, (".p3d",))
    if path is None or head_of(path, len(BINARISED_MARK)) != BINARISED_MARK:
        return "" if path is None else str(path)
    report.note(say("the pivots model is made for the game and is not used: {}", str(path)), sources.file.name)
    return ""


def _centres(document: p3d.P3d, bones: Sequence[str]) -> dict[str, Floats]:
    visual = next((lod for lod in document.lods if lod.kind == lod_kinds.RESOLUTION and len(lod.points)), None)
    return p3d.centres(visual, bones) if visual is not None else {}
