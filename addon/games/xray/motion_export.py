"""Motions of X-Ray from a rig: gather, encode onto what they came from, say what changes, write.

A `Plan` is the whole file in memory with the list of changes; nothing is on disk before `Plan.write`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...blender import action as actions
from ...blender.armature import Rest, is_turned_or_scaled, parent_local, rest_of
from ...blender.rotation_modes import HiddenKeys, played
from ...blender.shown import ShownActions, shortened, warn_of_muted, warn_of_other_kinds
from ...core import files, names, rotation, space
from ...core.errors import ReadError, WriteError
from ...core.model import Clip, Skeleton
from ...core.report import Report
from ...core.text import counted
from ...formats.xray import ogf, omf
from ...formats.xray.ogf.motions import motion_set_of, with_motion_set
from ...formats.xray.omf import edit
from ...formats.xray.omf.changes import Changes
from ...formats.xray.omf.decoding import decode_motion, track_bones
from ...formats.xray.omf.document import FRAMES_PER_SECOND, TIMING, Definition, Motion, MotionSet, Omf, Parameters
from ...formats.xray.omf.encoding import encode, new_definition
from ...formats.xray.omf.limits import LONGEST_NAME
from ...formats.xray.omf.quantise import Width
from . import marks, motion_files, motion_length
from .bone_properties import bones_in_order, game_name
from .skeletal_import import order_of


class Onto(Enum):
    """What an export starts from."""

    OWN_FILES = "own"
    """The chosen motions alone, with the bytes and the partitions they came with."""
    FILE = "file"
    """A file on disk: motions of the same name are replaced, others added, the rest stays."""


class RestChange(Enum):
    """What to do about a rest pose that was edited after the motions were imported."""

    REFUSE = "refuse"
    GAME_POSE = "game pose"
    """Keep what the game showed: keys are taken relative to the rest pose of the import."""
    OFFSETS = "offsets"
    """Keep the offsets: keys are taken relative to the rest pose as it is now, as Blender shows them."""


@dataclass(frozen=True)
class MotionExportOptions:
    """How to write: translation width, what a renamed motion does, what an edited rest pose means."""

    width: Width = Width.AUTOMATIC
    rename: bool = True
    rest_change: RestChange = RestChange.REFUSE
    backup: bool = False
    hidden: HiddenKeys = HiddenKeys.STOP


@dataclass
class Plan:
    """A file that could be written: its bytes, and what is different from what it starts from."""

    path: str
    data: bytes
    changes: Changes
    renamed: list[tuple[str, str]] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    reordered: bool = False
    written: list[tuple[Any, str]] = field(default_factory=list)
    """The actions, each with the name its motion has in the file."""
    document: Omf | None = None

    def sentence(self) -> str:
        """What will change, in one sentence."""
        parts = [self.changes.sentence()]
        if self.renamed:
            parts.append(f"{len(self.renamed)} renamed")
        if self.deleted:
            parts.append(f"{len(self.deleted)} deleted")
        if self.reordered:
            parts.append("in another order")
        return ", ".join(parts)

    def write(self, *, backup: bool = False) -> None:
        """Put the file on disk in one step."""
        files.write_atomically(self.path, self.data, backup=backup)


def plan_export(
    context: Any,
    rig: Any,
    chosen: Sequence[Any],
    path: str,
    *,
    onto: Onto,
    options: MotionExportOptions,
    report: Report,
    progress: Callable[[int], None] = lambda _: None,
) -> Plan:
    """The file at ``path`` with the actions ``chosen``. Raises `WriteError` or, for the file on disk, `ReadError`."""
    if not chosen:
        raise WriteError("no motion is chosen", remedy="Tick motions in the list, or assign an action to the armature")
    if onto is Onto.OWN_FILES and path.lower().endswith(".ogf"):
        raise WriteError(
            "a new file of motions cannot replace a model",
            file=path,
            remedy="Name a motion file (.omf), or write into the model's file",
        )
    host = host_on_disk(path) if onto is Onto.FILE else host_as_imported(rig, chosen)
    plan = plan_onto(context, rig, chosen, path, host=host, options=options, report=report, progress=progress)
    if onto is Onto.OWN_FILES and Path(path).is_file() and plan.document is not None:
        definitions = plan.document.motion_set.parameters.definitions
        warn_of_removed(path, _names_in, [definition.label for definition in definitions], report)
    return plan


def _names_in(path: str) -> list[str]:
    document = omf.read(files.read_file(path), path, Report())
    return [motion.label for motion in document.motion_set.library.motions]


def warn_of_removed(path: str, read: Callable[[str], list[str]], written: Sequence[str], report: Report) -> None:
    """Say which motions of the file that is replaced are not ``written``; one that cannot be read loses none."""
    try:
        there = read(path)
    except ReadError:
        return
    kept = {name.lower() for name in written}
    removed = [name for name in there if name.lower() not in kept]
    if removed:
        are = "is" if len(removed) == 1 else "are"
        report.warn(f"{counted(len(removed), 'motion')} of the replaced file {are} removed", shortened(removed))


def plan_onto(
    context: Any,
    rig: Any,
    chosen: Sequence[Any],
    path: str,
    *,
    host: Host,
    options: MotionExportOptions,
    report: Report,
    progress: Callable[[int], None] = lambda _: None,
) -> Plan:
    """The file at ``path``: what ``host`` has, with the actions ``chosen``."""
    warn_of_transform(rig, report)
    files.warn_of_replacing(bpy.path.abspath(path), report)
    gatherer = _Gatherer(context, rig, options, report)
    clips, definitions = [], []
    copies = copied(chosen)
    for done, action in enumerate(chosen):
        clip = gatherer.clip(action)
        if action in copies:
            clip.name = names.shortened(action.name, LONGEST_NAME)
            report.note("a copy of another motion, written as a new one under the action's name", action.name)
        clips.append(clip)
        definitions.append(definition_of(action, clip.name))
        progress(done + 1)
    encoded, changes = encode(
        clips,
        host.motions,
        skeleton=gatherer.skeleton,
        definitions=definitions,
        width=options.width,
        sampled=gatherer.sampled,
    )
    plan = Plan(path, b"", changes)
    own = [place for place, action in enumerate(chosen) if action not in copies]
    encoded = _renamed(encoded, [chosen[place] for place in own], [clips[place] for place in own], options, plan)
    renamed = dict(plan.renamed)
    plan.written = [(action, renamed.get(clip.name, clip.name)) for action, clip in zip(chosen, clips, strict=True)]
    plan.data, plan.document = host.written(encoded)
    return plan


def copied(chosen: Sequence[Any]) -> set[Any]:
    """The actions that were duplicated in Blender from another of ``chosen``: they say they are the same motion."""
    seen: set[tuple[str, int]] = set()
    copies = set()
    for action in chosen:
        motion = action.motionbridge_motion
        if motion.file and motion.place >= 0 and (motion.file, motion.place) in seen:
            copies.add(action)
        seen.add((motion.file, motion.place))
    return copies


def warn_of_transform(rig: Any, report: Report) -> None:
    """Say so where the object stands turned or scaled."""
    if is_turned_or_scaled(rig):
        report.warn(
            "the armature object is scaled or rotated, which the game does not see; apply its transform (Ctrl A) first "
            "if the motions should have it",
            rig.name,
        )


class _Gatherer:
    """Reads the actions of one rig, by their keys or, where those are not the whole truth, by evaluated poses."""

    def __init__(self, context: Any, rig: Any, options: MotionExportOptions, report: Report) -> None:
        self._context, self._rig, self._options, self._report = context, rig, options, report
        self._now = rest_of(rig, space.XRAY_ROOT_FRAME)
        self._labels = [game_name(rig.data.bones[bone]) for bone in self._now.bones]
        self._readers: dict[str, actions.ClipReader] = {}
        reasons = actions.why_sampled(rig)
        self.sampled = bool(reasons)
        if reasons:
            report.note(f"sampled frame by frame because of {', '.join(reasons)}", rig.name)
        self.skeleton = skeleton_of(rig, self._now)
        self._shown = ShownActions(rig, options.hidden, report)
        self._parameters: dict[str, Parameters] = {}

    def clip(self, action: Any) -> Clip:
        """The action as a clip with the game's names for motion and bones, marks included."""
        motion = action.motionbridge_motion
        step, frames = motion.frame_step, motion_length.frames_of(action)
        modes = self._shown.modes(action, order_of(action))
        if self.sampled:
            rest = self._rest_for(action)
            clip = actions.sample(
                self._context, self._rig, action, rest, FRAMES_PER_SECOND, modes=modes, step=step, frames=frames
            )
        else:
            gathered = self._reader_for(action).gather(action, modes, step, frames)
            clip = gathered.clip
            for path in gathered.left_out:
                self._report.warn("the game has no place for these curves; left out", f"{action.name}: {path}")
            warn_of_other_kinds(gathered.other_kinds, action, self._report)
            if action == played(self._rig):
                self._shown.warn_of_pose(action, modes, self._tracked(action))
            self._take_muted(clip, gathered.muted, action)
        motion_length.warn(action, self._report)
        clip.bones = list(self._labels)
        clip.name = motion.imported_name or motion.motion_name or action.name
        clip.markers = marks.gather(action)
        return clip

    def _take_muted(self, clip: Clip, muted: NDArray[np.bool_], action: Any) -> None:
        """Give bones with muted curves what the file has, in ``clip`` whose bones are Blender's; warn of them."""
        rows = np.flatnonzero(muted.any(axis=1))
        if not len(rows):
            return
        stored = motion_files.motion_of(action)
        warn_of_muted([clip.bones[row] for row in rows.tolist()], action, self._report, in_file=stored is not None)
        if stored is None:
            return
        then = decode_motion(stored, self._bones_in_file(action, stored.track_count))
        tracks = {bone.lower(): track for track, bone in enumerate(then.bones)}
        frames = np.minimum(np.arange(clip.frames), then.frames - 1)
        for row in rows.tolist():
            track = tracks.get(self._labels[row].lower())
            if track is not None and muted[row, 0]:
                clip.rotations[row] = then.rotations[track, frames]
                clip.rotation_keyed[row] = then.rotation_keyed[track]
            if track is not None and muted[row, 1]:
                clip.translations[row] = then.translations[track, frames]
                clip.translation_keyed[row] = then.translation_keyed[track]

    def _tracked(self, action: Any) -> list[str] | None:
        """Blender's names of the bones that the file of an action has tracks of; None for a new motion."""
        stored = motion_files.motion_of(action)
        if stored is None:
            return None
        tracked = {bone.lower() for bone in self._bones_in_file(action, stored.track_count)}
        return [bone for bone, label in zip(self._now.bones, self._labels, strict=True) if label.lower() in tracked]

    def _bones_in_file(self, action: Any, tracks: int) -> list[str]:
        key = action.motionbridge_motion.file
        file = self._rig.motionbridge_motion_files.get(key)
        if file is None:
            return []
        if key not in self._parameters:
            self._parameters[key] = motion_files.document_of(file).motion_set.parameters
        return track_bones(self._parameters[key], tracks, Report(), bones_in_order(self._rig))

    def _reader_for(self, action: Any) -> actions.ClipReader:
        key = action.motionbridge_motion.file
        if key not in self._readers:
            self._readers[key] = actions.ClipReader(self._rig, self._rest_for(action), FRAMES_PER_SECOND)
        return self._readers[key]

    def _rest_for(self, action: Any) -> Rest:
        found = self._rig.motionbridge_motion_files.get(action.motionbridge_motion.file)
        changed = motion_files.rest_changes(found, self._rig) if found is not None else []
        if not changed or self._options.rest_change is RestChange.OFFSETS:
            return self._now
        if self._options.rest_change is RestChange.REFUSE:
            raise WriteError(
                f"the rest pose was edited after the motions were imported ({', '.join(changed[:6])})",
                remedy="Choose whether to keep the game's pose or the offsets (option Edited Rest Pose)",
            )
        return rest_then(found, self._now)


def skeleton_of(rig: Any, rest: Rest) -> Skeleton:
    """The bones of a rig by the game's names in the game's order, standing as ``rest`` says."""
    labels = [game_name(rig.data.bones[bone]) for bone in rest.bones]
    order = bones_in_order(rig)
    places = [labels.index(label) for label in order]
    parents = [places.index(parent) if parent >= 0 else -1 for parent in rest.parents[places].tolist()]
    return Skeleton(
        rig.name,
        order,
        np.array(parents, np.int32),
        rest.rotations[places],
        rest.translations[places],
        space.XRAY_ROOT_FRAME,
    )


def rest_then(file: Any, now: Rest) -> Rest:
    """The rest pose of the import; bones that were not there yet stand as they stand now."""
    kept = motion_files.kept_rest_matrices(file, now)
    local = parent_local(kept, now.parents, now.root_frame)
    known = np.logical_and.reduce(np.isfinite(local), axis=(1, 2))
    turns = np.where(known[:, None, None], local[:, :3, :3], np.eye(3))
    return replace(
        now,
        rotations=np.where(known[:, None], rotation.from_matrices(turns), now.rotations),
        translations=np.where(known[:, None], local[:, :3, 3], now.translations),
    )


def definition_of(action: Any, name: str) -> Definition:
    """How the game plays an action, from its properties; the editor's defaults for an action that has none."""
    motion = action.motionbridge_motion
    definition = new_definition(name)
    if motion.is_motion:
        definition.flags = motion_files.flags_of(motion)
        definition.bone_or_part = motion.bone_or_part
        definition.timing = np.array([getattr(motion, field_name) for field_name in TIMING], "<f4")
    return definition


@dataclass
class Host:
    """What the motions go into: a file of their own, or a model that carries them."""

    motions: MotionSet | None
    document: Omf | None = None
    model: Any = None
    as_imported: bool = False
    """Whether it was put together from the bytes that actions keep, instead of read from disk."""

    def written(self, motions: MotionSet) -> tuple[bytes, Omf]:
        """The whole file's bytes with these motions, and the motions as a document."""
        if self.model is not None:
            return ogf.write(with_motion_set(self.model, motions)), omf.new_omf(motions)
        document = self.document.with_motion_set(motions) if self.document is not None else omf.new_omf(motions)
        return omf.write(document), document


def host_on_disk(path: str) -> Host:
    """The file at ``path``, a motion file or a model with motions inside."""
    data = files.read_file(path)
    if path.lower().endswith(".ogf"):
        model = ogf.read(data, path, Report())
        inside = motion_set_of(model)
        if inside is None:
            raise WriteError(
                "this model has no motions inside", file=path, remedy="Export to a motion file (.omf) that it refers to"
            )
        return Host(inside, model=model)
    document = omf.read(data, path, Report())
    return Host(document.motion_set, document)


def host_as_imported(rig: Any, chosen: Sequence[Any], file: Any = None) -> Host:
    """The motions of ``chosen`` as their file had them; of ``file``, or of the file most of them came from."""
    file = file if file is not None else _common_file(rig, chosen)
    if file is None:
        return Host(None)
    originals: dict[int, Motion] = {}
    for action in chosen:
        motion = motion_files.motion_of(action)
        if motion is not None and action.motionbridge_motion.file == file.name:
            originals[action.motionbridge_motion.place] = motion
    document = motion_files.joined(file, originals)
    library, parameters = document.motion_set
    return Host(MotionSet(library, motion_files.with_partitions(parameters, file)), document, as_imported=True)


def _common_file(rig: Any, chosen: Sequence[Any]) -> Any:
    """The file most of the chosen motions came from: the partitions are its."""
    keys = [action.motionbridge_motion.file for action in chosen]
    known = [key for key in keys if key and rig.motionbridge_motion_files.get(key) is not None]
    return rig.motionbridge_motion_files[max(known, key=known.count)] if known else None


def _renamed(
    motions: MotionSet, chosen: Sequence[Any], clips: list[Clip], options: MotionExportOptions, plan: Plan
) -> MotionSet:
    """Carry out the renames the user made in the panel; ``clips`` belong to ``chosen``."""
    for action, clip in zip(chosen, clips, strict=True):
        wanted = action.motionbridge_motion.motion_name or clip.name
        if wanted != clip.name and options.rename:
            motions = edit.rename(motions, clip.name, wanted)
            plan.renamed.append((clip.name, wanted))
    return motions
