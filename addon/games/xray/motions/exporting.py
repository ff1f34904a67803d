"""Motions of X-Ray from a rig: gather, encode onto what they came from, say what changes, write.

A `Plan` is the whole file in memory with the list of changes; nothing is on disk before `Plan.write`.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ....blender import action as actions
from ....blender import action_lists
from ....blender.action_lists import Kind
from ....blender.armature import Rest, is_turned_or_scaled, parent_local, rest_of
from ....blender.rotation_modes import HiddenKeys, played
from ....blender.sampling import Sampler, is_of_a_rig
from ....blender.shown import ShownActions, shortened, warn_of_muted, warn_of_other_kinds
from ....core import files, names, rotation, space
from ....core.errors import ReadError, WriteError
from ....core.model import Clip, Skeleton
from ....core.report import Report
from ....core.text import counted
from ....formats.xray import ogf, omf
from ....formats.xray.ogf.document import motion_set_of, with_motion_set
from ....formats.xray.omf import edit
from ....formats.xray.omf.document import (
    FRAMES_PER_SECOND,
    TIMING,
    Definition,
    Motion,
    MotionSet,
    Omf,
    Parameters,
    track_bones,
)
from ....formats.xray.omf.edit import LONGEST_NAME
from ....formats.xray.omf.mapping import Changes, Identity, decode_motion, encode, new_definition
from ....formats.xray.omf.tracks import Width
from ...plan import FilePlan
from ..bones.properties import bones_in_order, game_name
from . import files as motion_files
from . import length as motion_length
from . import marks
from .files import LISTS
from .skeletal_importing import order_of


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
class Plan(FilePlan):
    """A file of motions that could be written, and which motion in it each action is."""

    changes: Changes
    deleted: list[str] = field(default_factory=list)
    reordered: bool = False
    written: list[tuple[Any, str]] = field(default_factory=list)
    """The actions, each with the name its motion has in the file."""
    indices: dict[Any, int] = field(default_factory=dict)
    """Index in the written file of each action's motion, also of actions of the file that were not chosen."""
    document: Omf | None = None
    kept_deleted: list[tuple[str, int]] = field(default_factory=list)
    """Motions that were deleted in the panel and stay in this file: name and index."""
    unseen: list[Any] = field(default_factory=list)
    """Actions with bones that had to be sampled and were not."""

    @property
    def renamed(self) -> list[tuple[str, str]]:
        """Old and new names of motions that were renamed in the panel."""
        return self.changes.renamed

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
    host = host_on_disk(path, rig) if onto is Onto.FILE else host_as_imported(rig, chosen)
    host.replaces = onto is Onto.FILE
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
    samples: dict[Any, Any] | None = None,
    look: bool = True,
) -> Plan:
    """The file at ``path``: what ``host`` has, with the actions ``chosen``.

    ``samples`` as in `Sampler`. ``look`` False samples nothing: bones that keys do not tell everything of count as
    untouched, and the plan says of which actions.
    """
    warn_of_transform(rig, report)
    files.warn_of_replacing(bpy.path.abspath(path), report)
    gatherer = _Gatherer(context, rig, options, report, bones=host.bones, look=look)
    clips, definitions = [], []
    labels = written_names(chosen, LISTS, imported_name, report, rename=options.rename)
    refuse_one_name(chosen, labels, host.had_one_name)
    with Sampler(context, rig, samples) as sampler:
        for done, (action, label) in enumerate(zip(chosen, labels, strict=True)):
            clip = gatherer.clip(action, sampler)
            clip.name = label
            clips.append(clip)
            definitions.append(definition_of(action, label))
            progress(done + 1)
    identities = [host.identity(action, label) for action, label in zip(chosen, labels, strict=True)]
    encoded, changes = encode(
        clips,
        host.motions,
        skeleton=gatherer.skeleton,
        definitions=definitions,
        identities=identities,
        width=options.width,
        sampled=gatherer.sampled,
    )
    plan = Plan(path, b"", changes, written=list(zip(chosen, labels, strict=True)))
    plan.unseen = [action for action, bones in zip(chosen, gatherer.sampled, strict=True) if bones and not look]
    added = itertools.count(len(host.motions.library.motions) if host.motions is not None else 0)
    plan.indices = dict(host.indices)
    for action, identity in zip(chosen, identities, strict=True):
        plan.indices[action] = next(added) if identity.index is None else identity.index
    plan.data, plan.document = host.written(encoded)
    return plan


def written_names(
    chosen: Sequence[Any], kind: Kind, name_in_file: Callable[[Any], str], report: Report, *, rename: bool = True
) -> list[str]:
    """The name that the motion of each action gets: the one in the panel.

    A copy that was made in Blender has the original's name until somebody types another: it gets the action's. Without
    ``rename`` motions keep the names of their file.
    """
    copies = action_lists.copies(chosen, kind)
    found = []
    for action in chosen:
        label = str(action.motionbridge_motion.motion_name or name_in_file(action) or action.name)
        if action in copies:
            label = name_of_copy(action, copies[action], name_in_file)
            report.note("a copy of another motion, written as a new one", f"{action.name}: {label}")
        elif not rename and name_in_file(action):
            label = name_in_file(action)
        found.append(label)
    return found


def name_of_copy(action: Any, original: Any, name_in_file: Callable[[Any], str]) -> str:
    """The name that a copy's motion gets: the one typed for it, else the action's."""
    label = str(action.motionbridge_motion.motion_name)
    inherited = {"", name_in_file(action), original and original.motionbridge_motion.motion_name}
    return names.shortened(action.name, LONGEST_NAME) if label in inherited else label


def refuse_one_name(
    chosen: Sequence[Any], labels: Sequence[str], had_one_name: Callable[[list[Any], str], bool]
) -> None:
    """Raise `WriteError` where two motions would have one name, unless those actions had it in the file."""
    found: dict[str, list[Any]] = {}
    for action, label in zip(chosen, labels, strict=True):
        found.setdefault(label.lower(), []).append(action)
    for label, twins in found.items():
        if len(twins) > 1 and not had_one_name(twins, label):
            raise WriteError(
                f"the actions {' and '.join(repr(action.name) for action in twins[:3])} would be motions of one name, "
                f"{label!r}",
                remedy="Type another name for one of them in the Motion panel",
            )


def imported_name(action: Any) -> str:
    """The name an action's motion had in its file."""
    return str(action.motionbridge_motion.imported_name)


def warn_of_transform(rig: Any, report: Report) -> None:
    """Say so where the object stands turned or scaled."""
    if is_turned_or_scaled(rig):
        report.warn(
            "the armature object is scaled or rotated, which the game does not see; apply its transform (Ctrl A) first "
            "if the motions should have it",
            rig.name,
        )


class _Gatherer:
    """Reads the actions of one rig, by their keys; bones of which those are not the whole truth by evaluated poses.

    ``bones``: the game's names, in lower case, of those that are written; None for all. ``look`` as in `plan_onto`.
    ``sampled`` for each action the game's names of the bones that were, or would be, looked at.
    """

    def __init__(
        self,
        context: Any,
        rig: Any,
        options: MotionExportOptions,
        report: Report,
        *,
        bones: set[str] | None,
        look: bool,
    ) -> None:
        self._context, self._rig, self._options, self._report = context, rig, options, report
        self._look, self.sampled = look, list[set[str]]()
        self._now = rest_of(rig, space.XRAY_ROOT_FRAME)
        self._labels = [game_name(rig.data.bones[bone]) for bone in self._now.bones]
        self._readers: dict[str, actions.ClipReader] = {}
        self._files = action_lists.files_of_actions(rig, LISTS)
        named = zip(self._now.bones, self._labels, strict=True)
        self._written = [bone for bone, label in named if bones is None or label.lower() in bones]
        self._reasons: set[str] = set()
        self.skeleton = skeleton_of(rig, self._now)
        self._shown = ShownActions(rig, options.hidden, report)
        self._parameters: dict[str, Parameters] = {}
        self._rest_changes: dict[str, list[str]] = {}

    def clip(self, action: Any, sampler: Sampler) -> Clip:
        """The action as a clip with the game's names for motion and bones, marks included."""
        motion = action.motionbridge_motion
        step, frames = motion.frame_step, motion_length.frames_of(action)
        modes = self._shown.modes(action, order_of(action))
        gathered = self._reader_for(action).gather(action, modes, step, frames)
        clip = gathered.clip
        reasons = sampler.reach.of(action, self._written)
        reached = {bone for bones in reasons.values() for bone in bones}
        self._warn(action, gathered, modes, reached)
        self._take_muted(clip, gathered.muted, action, reached)
        motion_length.warn(action, self._report)
        rest = self._rest_for(action)
        clip.bones = list(self._labels)
        clip.markers = marks.gather(action)
        self.sampled.append({self._labels[row] for row, bone in enumerate(rest.bones) if bone in reached})
        if reached and self._look:
            self._note(reasons)
            clip.put(*sampler.clip(action, rest, FRAMES_PER_SECOND, reached, modes=modes, step=step, frames=frames))
        elif reached:
            clip = clip.of_tracks([row for row, bone in enumerate(rest.bones) if bone not in reached])
        return clip

    def _note(self, reasons: Iterable[str]) -> None:
        """Say once why something is sampled."""
        text = f"sampled frame by frame because of {', '.join(reasons)}"
        if text not in self._reasons:
            self._reasons.add(text)
            self._report.note(text, self._rig.name)

    def _warn(self, action: Any, gathered: actions.Gathered, modes: dict[str, str], reached: set[str]) -> None:
        """Warn of what is not written, but for bones that are ``reached`` and written as Blender shows them."""
        for path in gathered.left_out:
            if not (reached and is_of_a_rig(path)):
                self._report.warn("the game cannot store these curves; left out", f"{action.name}: {path}")
        warn_of_other_kinds([bone for bone in gathered.other_kinds if bone not in reached], action, self._report)
        if action == played(self._rig):
            tracked = self._tracked(action)
            if reached:
                tracked = [bone for bone in tracked or self._now.bones if bone not in reached]
            self._shown.warn_of_pose(action, modes, tracked)

    def _take_muted(self, clip: Clip, muted: NDArray[np.bool_], action: Any, reached: set[str]) -> None:
        """Give bones with muted curves what the file has, in ``clip`` whose bones are Blender's; warn of them.

        Those that are ``reached`` are sampled.
        """
        rows = np.flatnonzero(muted.any(axis=1) & np.array([bone not in reached for bone in clip.bones]))
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
        found = self._files.get(action)
        if found is not None and found.name not in self._rest_changes:
            self._rest_changes[found.name] = motion_files.rest_changes(found, self._rig)
        changed = self._rest_changes[found.name] if found is not None else []
        if not changed or self._options.rest_change is RestChange.OFFSETS:
            return self._now
        if self._options.rest_change is RestChange.REFUSE:
            raise WriteError(
                f"the rest pose has changed since the motions were imported ({', '.join(changed[:6])})",
                remedy="Choose whether to keep the game's pose or the offsets (option Edited Rest Pose)",
                option="rest_change",
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
    """What the motions go into: a file of their own, or a model that carries them.

    ``file``: the one kept on the rig that this is. ``moved``: index of a motion when it was imported -> index here.
    ``indices``: action -> index of its motion here. ``replaces``: other actions replace motions of their names.
    """

    motions: MotionSet | None
    document: Omf | None = None
    model: Any = None
    file: Any = None
    moved: dict[int, int] = field(default_factory=dict)
    indices: dict[Any, int] = field(default_factory=dict)
    replaces: bool = False
    as_imported: bool = False
    """Whether it was put together from the bytes that actions keep, instead of read from disk."""

    @property
    def bones(self) -> set[str] | None:
        """The game's names, in lower case, of the bones that have tracks here; None where that is open."""
        if self.motions is None:
            return None
        listed = [bone.name for part in self.motions.parameters.partitions for bone in part.bones]
        tracks = max((motion.track_count for motion in self.motions.library.motions), default=0)
        named = {names.decode(name).lower() for name in listed if name}
        return named if len(named) == len(listed) >= tracks else None

    def index(self, action: Any) -> int | None:
        """The index here of the motion that an action is, None for a new one."""
        return self.indices.get(action)

    def keep(self, indices: Sequence[int]) -> None:
        """Have the motions at these indices alone."""
        if self.motions is not None:
            self.motions = edit.arranged(self.motions, indices)
        rank = {index: place for place, index in enumerate(indices)}
        self.moved = {before: rank[index] for before, index in self.moved.items() if index in rank}
        self.indices = {action: rank[index] for action, index in self.indices.items() if index in rank}

    def identity(self, action: Any, label: str) -> Identity:
        """Which motion here an action is that gets the name ``label``."""
        index = self.index(action)
        if index is None and self.replaces and self.motions is not None:
            labels = [definition.label.lower() for definition in self.motions.parameters.definitions]
            taken = set(self.indices.values())
            index = next((i for i, one in enumerate(labels) if one == label.lower() and i not in taken), None)
        if index is not None:
            return Identity(index)
        of_file = self.file is not None and action.motionbridge_motion.file == self.file.name
        return Identity(None, motion_files.motion_of(action) if of_file else None)

    def had_one_name(self, twins: list[Any], label: str) -> bool:
        """Whether the motions of these actions had the name ``label`` (in lower case) before."""
        if self.motions is None:
            return False
        labels = [definition.label.lower() for definition in self.motions.parameters.definitions]
        indices = map(self.index, twins)
        return all(index is not None and labels[index : index + 1] == [label] for index in indices)

    def written(self, motions: MotionSet) -> tuple[bytes, Omf]:
        """The whole file's bytes with these motions, and the motions as a document."""
        if self.model is not None:
            return ogf.write(with_motion_set(self.model, motions)), omf.new_omf(motions)
        document = self.document.with_motion_set(motions) if self.document is not None else omf.new_omf(motions)
        return omf.write(document), document


def host_on_disk(path: str, rig: Any) -> Host:
    """The file at ``path``, a motion file or a model with motions inside; its motions are known if ``rig`` has it."""
    data = files.read_file(path)
    file = file_at(rig, path)
    if path.lower().endswith(".ogf"):
        model = ogf.read(data, path, Report())
        inside = motion_set_of(model)
        if inside is None:
            raise WriteError(
                "this model has no motions inside", file=path, remedy="Export to a motion file (.omf) that it refers to"
            )
        host = Host(inside, model=model, file=file)
    else:
        document = omf.read(data, path, Report())
        host = Host(document.motion_set, document, file=file)
    if file is not None:
        moved = host.moved = _moved_indices(file, host.motions, hashlib.sha256(data).hexdigest())
        placed = action_lists.members(file, LISTS)
        host.indices = {action: moved[place] for action, place in placed.items() if place in moved}
    return host


def file_at(rig: Any, path: str) -> Any:
    """The motion file of ``rig`` that lies at ``path``, or None."""
    target = Path(path).resolve()
    return next(
        (file for file in rig.motionbridge_motion_files if Path(bpy.path.abspath(file.path)).resolve() == target), None
    )


def _moved_indices(file: Any, there: MotionSet | None, digest: str) -> dict[int, int]:
    """Index of a motion when it was imported -> its index in the file on disk.

    Where that is another file by now, motions of one name are the same ones, in their order.
    """
    before = [one.label.lower() for one in motion_files.document_of(file).motion_set.parameters.definitions]
    if digest == file.sha256 or there is None:
        return {index: index for index in range(len(before))}
    now: dict[str, list[int]] = {}
    for index, one in enumerate(there.parameters.definitions):
        now.setdefault(one.label.lower(), []).append(index)
    return {index: now[label].pop(0) for index, label in enumerate(before) if now.get(label)}


def host_as_imported(rig: Any, chosen: Sequence[Any], file: Any = None) -> Host:
    """The motions of ``chosen`` as their file had them; of ``file``, or of the file most of them came from."""
    file = file if file is not None else _common_file(rig, chosen)
    if file is None:
        return Host(None)
    places = action_lists.members(file, LISTS)
    originals: dict[int, Motion] = {}
    placed: dict[Any, int] = {}
    for action in chosen:
        motion = motion_files.motion_of(action)
        if motion is not None and places.get(action, -1) >= 0:
            placed[action] = places[action]
            originals[places[action]] = motion
    document = motion_files.joined(file, originals)
    library, parameters = document.motion_set
    rank = {place: index for index, place in enumerate(sorted(originals))}
    indices = {action: rank[place] for action, place in placed.items()}
    motions = MotionSet(library, motion_files.with_partitions(parameters, file))
    return Host(motions, document, file=file, moved=rank, indices=indices, as_imported=True)


def _common_file(rig: Any, chosen: Sequence[Any]) -> Any:
    """The file most of the chosen motions came from; its bone parts are used."""
    files_of = action_lists.files_of_actions(rig, LISTS)
    named = Counter(files_of[action].name for action in chosen if action in files_of)
    return rig.motionbridge_motion_files[named.most_common(1)[0][0]] if named else None
