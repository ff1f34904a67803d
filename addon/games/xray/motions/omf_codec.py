"""Motions of the game (`.omf`, or inside a model) as a kind of motion file: read and build, gather and encode.

Also what the panel's list of motions needs: compare motions with the file, restore, reorder and delete them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

import bpy
import numpy as np
from numpy.typing import NDArray

from ....blender import action as actions
from ....blender import action_lists, compat, rotation_modes, scope
from ....blender.action_lists import label_of
from ....blender.armature import Rest, rest_of
from ....blender.bone_curves import KeysRead, remember_keys, table_of
from ....blender.control_edits import CONTROLS, keep_baseline
from ....blender.properties import keep
from ....blender.rotation_modes import HiddenKeys
from ....blender.sampling import Sampler, warn_of_muted
from ....core import files, space
from ....core.errors import MotionbridgeError, ReadError, WriteError
from ....core.model import Clip
from ....core.report import Report, listed, say
from ....formats.xray import ogf, omf
from ....formats.xray.ogf.document import motion_set_of
from ....formats.xray.omf.codec import write_motion
from ....formats.xray.omf.document import (
    FRAMES_PER_SECOND,
    TIMING,
    Definition,
    Motion,
    MotionFlag,
    Omf,
    Parameters,
    name_in_game,
    track_bones,
)
from ....formats.xray.omf.mapping import decode_motion, encode, new_definition
from ....formats.xray.omf.tracks import refuse_overlong, rescaled_tracks
from ..bones.properties import bones_in_order, game_name
from ..options import MotionExportOptions, MotionImportOptions, RestChange
from . import files as motion_files
from . import timing as motion_timing
from .gathering import Gatherer
from .hosts import MotionIdentity
from .library import (
    Builder,
    Codec,
    MotionImport,
    Opened,
    bone_indices,
    keys_replaced,
    plan_onto,
    refuse_unknown_bones,
)
from .omf_host import MotionPlan, OmfHost, fingerprint, host_as_imported, host_of_list, host_on_disk, settle
from .properties import LISTS, order_of_angles
from .unedited import Unedited, plainly_unedited, unknown

if TYPE_CHECKING:
    from ....blender.typed import Action, Context, Object
    from .properties import MotionFile

SEEN = 1e-4
"""Metres, or components of a quaternion: a bone that is farther from its rest pose has been moved."""


class OmfCodec(Codec[Omf, "MotionFile", OmfHost, MotionPlan, MotionImportOptions, MotionExportOptions]):
    """Codec of the game's motion files (`.omf`) and of models (`.ogf`) that contain motions."""

    lists, suffix, model_suffix = LISTS, ".omf", ".ogf"

    def read_document(self, data: bytes, path: str, report: Report) -> Omf:
        return omf.read(data, path, report)

    def read_inside(self, data: bytes, path: str, report: Report) -> Omf | None:
        inside = motion_set_of(ogf.read(data, path, report))
        return omf.new_omf(inside) if inside is not None else None

    def motions(self, document: Omf) -> list[tuple[str, int]]:
        motion_set = document.motion_set
        return [
            (label, motion.frames) for label, motion in zip(motion_set.labels, motion_set.library.motions, strict=True)
        ]

    def bones(self, rig: Object, document: Omf, chosen: Sequence[int]) -> list[str]:
        library, parameters = document.motion_set
        counts = dict.fromkeys(library.motions[index].track_count for index in chosen)
        model_bones = bones_in_order(rig)
        named = (track_bones(parameters, count, Report(), model_bones) for count in counts)
        return list(dict.fromkeys(itertools.chain.from_iterable(named)))

    def builder(
        self, rig: Object, opened: Opened[Omf], chosen: list[int], options: MotionImportOptions, report: Report
    ) -> OmfBuilder:
        """Raises `ReadError` if motions declare more frames than their data can hold, if none of them has tracks, or if
        none of the bones of a motion is in the armature.
        """
        motions = opened.document.motion_set.library.motions
        chosen = _with_tracks(opened, chosen, report)
        refuse_overlong([motions[index] for index in chosen], opened.path)
        return OmfBuilder(rig, opened, chosen, options, report)

    def attach(self, rig: Object, opened: Opened[Omf]) -> MotionFile:
        file = motion_files.attach(rig, opened.path, LISTS)
        file.embedded = opened.embedded
        motion_files.keep_document(file, opened.document, opened.path, opened.digest)
        return file

    def bones_of_new(self, rig: Object, file: MotionFile) -> set[str]:
        in_file = {bone.name.lower() for partition in file.partitions for bone in partition.bones}
        return {bone.name for bone in rig.data.bones if game_name(bone).lower() in in_file}

    def mark_new(self, action: Action, order: int) -> None:
        action.motionbridge_motion.status, action.motionbridge_motion.order = "NEW", order

    def host(self, rig: Object, chosen: Sequence[Action], *, disk: str = "", file: MotionFile | None = None) -> OmfHost:
        if not disk:
            return host_as_imported(rig, chosen, file)
        host = host_on_disk(disk, rig)
        host.replaces = True
        return host

    host_of_list = staticmethod(host_of_list)
    settle = staticmethod(settle)

    def left_alone(self, rig: Object, file: MotionFile, chosen: Sequence[Action], host: OmfHost) -> set[Action]:
        if host.file != file or not host.is_known:
            return set()
        there = [action for action in chosen if host.index(action) is not None]
        return plainly_unedited(rig, file, there, host.bones)

    def gatherer(
        self, rig: Object, options: MotionExportOptions, report: Report, sampler: Sampler, host: OmfHost
    ) -> OmfGatherer:
        return OmfGatherer(rig, options, report, sampler, host)

    def fingerprints(self, document: Omf) -> set[bytes]:
        library, parameters = document.motion_set
        return set(map(fingerprint, map(write_motion, library.motions), parameters.definitions))

    def reload(self, plan: MotionPlan, rig: Object, file: MotionFile) -> None:
        motions = plan.document.motion_set.library.motions
        indices = {action: plan.unwritten[action].index for action in plan.theirs}
        _restore(file, {action: (motions[index], index) for action, index in indices.items()}, Report())


OMF = OmfCodec()


def _with_tracks(opened: Opened[Omf], chosen: list[int], report: Report) -> list[int]:
    """Return the motions that have tracks, and warn of the others. Raises `ReadError` if none has."""
    motions, labels = opened.document.motion_set.library.motions, opened.document.motion_set.labels
    empty = [index for index in chosen if not motions[index].track_count]
    if empty and len(empty) == len(chosen):
        problem = say("the motion {!r} has no tracks: it moves no bone", labels[empty[0]])
        raise ReadError(problem, file=opened.path, remedy="Choose other motions, or another file")
    for index in empty:
        report.warn("a motion without tracks moves nothing; left out", labels[index])
    return [index for index in chosen if motions[index].track_count]


class Builders:
    """Builders of actions, one for each number of tracks.

    An intact file needs one, a file whose motions have different numbers of tracks several.
    """

    def __init__(self, rig: Object, rest: Rest, parameters: Parameters, path: str, report: Report) -> None:
        self._rest = rest
        self._bone_indices = bone_indices(rig, self._rest)
        self._rig, self._parameters, self._path, self._report = rig, parameters, path, report
        self._slot_name = compat.slot_name(rig)
        self._step = scope.frames_per_second(bpy.context.scene) / FRAMES_PER_SECOND
        self._made: dict[int, tuple[actions.ClipWriter, list[str], list[int]]] = {}
        self.keys = KeysRead()
        """`bone_curves.keys_read` of the action that was built last."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for opened in self._made.values():
            opened[0].close()

    def for_motion(self, motion: Motion) -> tuple[actions.ClipWriter, list[str], list[int]]:
        count = motion.track_count
        if count not in self._made:
            bones = track_bones(self._parameters, count, self._report, bones_in_order(self._rig))
            tracks = [track for track, bone in enumerate(bones) if bone.lower() in self._bone_indices]
            refuse_unknown_bones(bones, self._bone_indices, self._rig, self._path)
            rows = [self._bone_indices[bones[track].lower()] for track in tracks]
            self._made[count] = (actions.ClipWriter(self._rest, rows, self._slot_name), bones, tracks)
        return self._made[count]

    def make(self, motion: Motion, definition: Definition | None, options: MotionImportOptions) -> Action:
        writer, bones, tracks = self.for_motion(motion)
        clip = decode_motion(motion, bones, definition)
        step = self._step if options.resample else 1.0
        action = writer.build(clip, tracks, options.first_frame, step)
        self.keys = writer.keys
        action.motionbridge_motion.frame_step = step
        motion_timing.store_marks(action, clip.markers)
        return action

    def rebuild(self, action: Action, motion: Motion, definition: Definition | None) -> None:
        """Replace the keys and marks of an action with those of ``motion``."""
        writer, bones, tracks = self.for_motion(motion)
        clip = decode_motion(motion, bones, definition)
        step = action.motionbridge_motion.frame_step
        first = actions.frame_range(action, step, owner=self._rig)[0]
        writer.rebuild(action, clip, tracks, first_frame=first, step=step, owner=self._rig)
        action.motionbridge_motion.is_cut = False
        motion_timing.store_marks(action, clip.markers)


class OmfBuilder(Builders, Builder["MotionFile"]):
    """Builder of the actions of an import."""

    def __init__(
        self, rig: Object, opened: Opened[Omf], chosen: list[int], options: MotionImportOptions, report: Report
    ) -> None:
        """Raises `ReadError`, before anything is created, if none of the bones of a motion is in the armature."""
        self._set = opened.document.motion_set
        super().__init__(rig, rest_of(rig, space.XRAY_ROOT_FRAME), self._set.parameters, opened.path, report)
        self._motions, self._chosen, self._options = self._set.library.motions, chosen, options
        for index in chosen:
            self.for_motion(self._motions[index])

    def build(self, file: MotionFile) -> Iterator[tuple[int, Action]]:
        """Yield the index of each motion and its action, stored as unedited."""
        unedited = Unedited(self._rig, file)
        for index in self._chosen:
            definition = self._set.definition(index)
            action = self.make(self._motions[index], definition, self._options)
            describe(action, self._motions[index], definition, index, file)
            unedited.remember(action, unedited.digest(action, index, self.keys.digest))
            remember_keys(action, self._rig, self.keys)
            yield index, action

    def report_results(self, _result: MotionImport[MotionFile]) -> None:
        """Warn of the user's actions that no longer play because the bones now rotate by quaternions."""
        if self._options.assign_first:
            _warn_of_stopped(self._rig, self._report)

    def finish(self) -> None:
        """Show the imported file in the panel."""
        self._rig.motionbridge_motion_file = len(self._rig.motionbridge_motion_files) - 1


def _warn_of_stopped(rig: Object, report: Report) -> None:
    """Warn of the user's actions that do not play while bones rotate by quaternions, as imported motions need."""
    stopped = [
        action
        for action in rotation_modes.actions_stopped(rig, list(rig.pose.bones.keys()))
        if not action.motionbridge_skeletal.is_skeletal
    ]
    if stopped:
        report.warn(
            "bones rotate by quaternions from now on, so actions with keys of Euler angles or axis-angle do not play; "
            "assign such an action and choose Restore Rotation Modes",
            listed([label_of(action) for action in stopped]),
        )


def describe(action: Action, motion: Motion, definition: Definition | None, index: int, file: MotionFile) -> None:
    """Store on the action the bytes of its motion, and its ``definition``: how the game plays it."""
    properties = action.motionbridge_motion
    properties.is_motion = True
    properties.file, properties.index, properties.order = file.name, index, index
    properties.status = "UNTOUCHED"
    properties.motion_name = properties.imported_name = name_in_game(motion, definition)
    keep(properties, "body", write_motion(motion))
    if definition is None:
        return
    motion_files.set_flags(properties, definition.flags)
    properties.bone_or_part = definition.bone_or_part
    for name, value in zip(TIMING, definition.timing.tolist(), strict=True):
        setattr(properties, name, value)
    action.use_cyclic = not definition.flags & MotionFlag.STOP_AT_END


# ---- export


class OmfGatherer(Gatherer[MotionPlan]):
    """Reader of actions as clips.

    ``_actions``: the actions read so far. ``_sampled``: for each of them the game's names of the bones that were
    sampled, or with the option ``sample`` off would have to be.
    """

    _options: MotionExportOptions

    def __init__(
        self, rig: Object, options: MotionExportOptions, report: Report, sampler: Sampler, host: OmfHost
    ) -> None:
        """Reads the bones that ``host`` has tracks for; all bones if that is not known."""
        super().__init__(rig, options, report, sampler, LISTS)
        self._host = host
        self._actions: list[Action] = []
        self._clips, self._sampled = list[Clip](), list[set[str]]()
        self._labels = [game_name(rig.data.bones[bone]) for bone in self._rest_now.bones]
        self._readers: dict[str, actions.ClipReader] = {}
        indices, bones = bone_indices(rig, self._rest_now), host.bones
        written = {row for label, row in indices.items() if bones is None or label in bones}
        self._written = [self._rest_now.bones[row] for row in sorted(written)]
        deforming = [rig.data.bones[bone].use_deform for bone in self._rest_now.bones]
        self._without_tracks = [row for row, deforms in enumerate(deforming) if deforms and row not in written]
        self._parameters: dict[str, Parameters] = {}
        if host.imported is not None and host.file is not None:
            self._parameters[host.file.name] = host.imported.parameters

    def add(self, action: Action, label: str) -> None:
        """Read the action as a clip with its marks; motion and bones have the game's names."""
        movers, stored = self._sampler.movers, motion_files.motion_of(action)
        imported = max(stored.frames, 1) if stored is not None else motion_timing.imported_frames(action)
        step = action.motionbridge_motion.frame_step
        frames, table = motion_timing.frames_of(action, imported, self._rig), table_of(action, self._rig)
        saved = stored if movers.is_as_saved(action) else None
        frames = (frames[0], saved.frames) if saved is not None else movers.play.frames(action, frames, step)
        modes = self._shown.modes(action, order_of_angles(action), table)
        rest = self._rest_for(action)[0]
        gathered = self._reader_for(action, rest).gather(action, modes, step, frames, table)
        clip = gathered.clip
        to_sample, reasons = self._bones_to_sample(action, self._written, is_new=stored is None)
        self._warn_of_left_out(action, gathered.left_out, gathered.other_kinds, to_sample)
        if action == movers.play.action:
            tracked = self._bones_with_tracks(action)
            if to_sample:
                tracked = [bone for bone in tracked or self._rest_now.bones if bone not in to_sample]
            self._shown.warn_of_pose(action, modes, tracked)
        self._warn_of_bones_without_tracks(clip, rest, action)
        if saved is not None:
            self._restore_tracks(clip, np.ones((len(clip.bones), 2), np.bool_), action, saved)
        else:
            self._restore_muted(clip, gathered.muted, action, to_sample)
        if movers.play.ends(action) is None and saved is None:
            motion_timing.warn_of_length(action, frames, imported, self.report, self._rig)
        clip.bones = list(self._labels)
        clip.markers = motion_timing.gather_marks(action)
        before = (imported - 1) / FRAMES_PER_SECOND if imported is not None else None
        motion_timing.warn_of_marks(action, clip.markers, (frames[1] - 1) / FRAMES_PER_SECOND, before, self.report)
        self._actions.append(action)
        self._sampled.append({self._labels[row] for row, bone in enumerate(rest.bones) if bone in to_sample})
        if to_sample and self._options.sample:
            self._note_sampling(reasons)
            rows, sampled = self._sampler.clip(
                action,
                rest,
                FRAMES_PER_SECOND,
                to_sample,
                modes=modes,
                step=step,
                frames=frames,
                is_still=self._is_still(action, reasons, is_new=stored is None),
            )
            if CONTROLS in reasons:
                keep_baseline(sampled, clip.of_tracks(rows))
            clip.put(rows, sampled)
        elif to_sample:
            clip = clip.of_tracks([row for row, bone in enumerate(rest.bones) if bone not in to_sample])
        clip.name = label
        self._clips.append(clip)

    def plan(self, path: str) -> MotionPlan:
        host = self._host
        chosen, labels = self._actions, [clip.name for clip in self._clips]
        identities = [host.identity(action, label) for action, label in zip(chosen, labels, strict=True)]
        encoded, changes = encode(
            self._clips,
            host.motions,
            skeleton=self.skeleton,
            definitions=[definition_of(action, label) for action, label in zip(chosen, labels, strict=True)],
            identities=identities,
            width=self._options.width,
            sampled=self._sampled,
            parts=host.parts,
            most_bones=self._options.most_bones,
        )
        added = itertools.count(len(host.labels))
        location = files.FileLocation(path)
        written = {
            action: MotionIdentity(location, next(added) if identity.index is None else identity.index, label)
            for action, identity, label in zip(chosen, identities, labels, strict=True)
        }
        data, document = host.written(encoded)
        plan = MotionPlan(path, data, changes, document, written, host.unwritten(location, written))
        plan.was_known = host.is_known
        plan.edited = [chosen[change.number] for change in changes.parts]
        if not self._options.sample:
            plan.unsampled = [action for action, bones in zip(chosen, self._sampled, strict=True) if bones]
        return plan

    def _warn_of_bones_without_tracks(self, clip: Clip, rest: Rest, action: Action) -> None:
        """Warn of bones that an action moves and that the file has no tracks of. ``clip``: values of all bones."""
        rows = self._without_tracks
        turned = np.abs(clip.rotations[rows] - rest.rotations[rows, None]).max(axis=(1, 2), initial=0.0)
        moved = np.abs(clip.translations[rows] - rest.translations[rows, None]).max(axis=(1, 2), initial=0.0)
        bones = [clip.bones[row] for row, by in zip(rows, np.maximum(turned, moved), strict=True) if by > SEEN]
        if bones:
            words = "the file has no tracks of these bones, so the game does not move them; their keys are left out"
            self.report.warn(words, say("{}: {}", label_of(action), listed(bones)))

    def _restore_muted(self, clip: Clip, muted: NDArray[np.bool_], action: Action, sampled: set[str]) -> None:
        """Give bones with muted curves the values of the file, and warn of them. ``clip`` has Blender's names of bones.

        ``muted``: (bones, 2), whether rotation and translation are muted. Bones in ``sampled`` are sampled and left
        alone.
        """
        rows = np.flatnonzero(muted.any(axis=1) & np.array([bone not in sampled for bone in clip.bones]))
        if not len(rows):
            return
        stored = motion_files.motion_of(action)
        warn_of_muted([clip.bones[row] for row in rows.tolist()], action, self.report, in_file=stored is not None)
        if stored is not None:
            chosen = np.zeros_like(muted)
            chosen[rows] = muted[rows]
            self._restore_tracks(clip, chosen, action, stored)

    def _restore_tracks(self, clip: Clip, chosen: NDArray[np.bool_], action: Action, stored: Motion) -> None:
        """Give bones the values of the motion ``stored``; ``chosen`` (bones, 2): in rotation and translation."""
        imported = decode_motion(stored, self._bones_in_file(action, stored.track_count))
        tracks = {bone.lower(): track for track, bone in enumerate(imported.bones)}
        frames = np.minimum(np.arange(clip.frames), imported.frames - 1)
        for row in np.flatnonzero(chosen.any(axis=1)).tolist():
            track = tracks.get(self._labels[row].lower())
            if track is not None and chosen[row, 0]:
                clip.rotations[row] = imported.rotations[track, frames]
                clip.rotation_keyed[row] = imported.rotation_keyed[track]
            if track is not None and chosen[row, 1]:
                clip.translations[row] = imported.translations[track, frames]
                clip.translation_keyed[row] = imported.translation_keyed[track]

    def _bones_with_tracks(self, action: Action) -> list[str] | None:
        """Return Blender's names of the bones that an action's file has tracks of; None for a new motion."""
        stored = motion_files.motion_of(action)
        if stored is None:
            return None
        tracked = {bone.lower() for bone in self._bones_in_file(action, stored.track_count)}
        return [
            bone for bone, label in zip(self._rest_now.bones, self._labels, strict=True) if label.lower() in tracked
        ]

    def _bones_in_file(self, action: Action, tracks: int) -> list[str]:
        key = action.motionbridge_motion.file
        file = self._rig.motionbridge_motion_files.get(key)
        if file is None:
            return []
        if key not in self._parameters:
            self._parameters[key] = motion_files.document_of(file).motion_set.parameters
        return track_bones(self._parameters[key], tracks, Report(), bones_in_order(self._rig))

    def _reader_for(self, action: Action, rest: Rest) -> actions.ClipReader:
        key = action.motionbridge_motion.file
        if key not in self._readers:
            self._readers[key] = actions.ClipReader(self._rig, rest, FRAMES_PER_SECOND)
        return self._readers[key]


def definition_of(action: Action, name: str) -> Definition:
    """Return how the game plays an action, from its properties; the editor's defaults if it is not a motion."""
    motion = action.motionbridge_motion
    definition = new_definition(name)
    if motion.is_motion:
        definition.flags = motion_files.flags_of(motion)
        definition.bone_or_part = motion.bone_or_part
        definition.timing = np.array([getattr(motion, field_name) for field_name in TIMING], "<f4")
    return definition


# Motions in the panel -------------------------------------------------------------------------------------------------


def update_status(
    context: Context,
    rig: Object,
    chosen: Sequence[Action],
    report: Report,
    *,
    sample: bool = True,
    progress: Callable[[int], None] = lambda _: None,
) -> None:
    """Compare each action with its motion in the file and set its status: new, edited or unedited.

    ``sample`` False: nothing is sampled, and actions that would need it get the status unknown.
    """
    by_file: dict[str, list[Action]] = {}
    files_of = action_lists.files_of_actions(rig, LISTS)
    for action in chosen:
        known = files_of.get(action)
        if known is None or motion_files.motion_of(action) is None:
            action.motionbridge_motion.status = "NEW"
        else:
            by_file.setdefault(known.name, []).append(action)
    done = 0
    for key, of_file in by_file.items():
        file = rig.motionbridge_motion_files[key]
        digests = unknown(rig, file, of_file)
        for action in of_file:
            if action not in digests:
                _set_status(action, "UNTOUCHED")
        done += len(of_file) - len(digests)
        progress(done)
        statuses = _compared(context, rig, file, list(digests), report, sample=sample, progress=_after(done, progress))
        for action, status in statuses.items():
            _set_status(action, status)
            if status == "UNTOUCHED":
                Unedited.remember(action, digests[action])
        done += len(digests)


def edited(context: Context, rig: Object, file: MotionFile) -> list[Action]:
    """Return the listed actions of a file that differ from their motions in it, without sampling.

    Of an action that has to be sampled the last comparison counts. If one of them cannot be written, all that may have
    been edited are returned. Nothing is stored.
    """
    members = [action for action, index in action_lists.members(file, LISTS).items() if index >= 0]
    compared = list(unknown(rig, file, members))
    try:
        statuses = _compared(context, rig, file, compared, Report(), sample=False, progress=lambda _: None)
    except MotionbridgeError:
        return compared
    last = {action: action.motionbridge_motion.status for action in statuses}
    return [action for action, now in statuses.items() if "EDITED" in (now, now == "UNKNOWN" and last[action])]


def rescaled(context: Context, rig: Object, action: Action) -> list[str]:
    """Return the bones whose track has to be stored in another range to hold what an action shows now.

    Empty for a new motion. Raises `MotionbridgeError` for an action that cannot be written.
    """
    file, motion = action_lists.file_of(rig, action, LISTS), motion_files.motion_of(action)
    if file is None or motion is None:
        return []
    options = MotionExportOptions(rest_change=RestChange.GAME_POSE, hidden_keys=HiddenKeys.RESTORE, rename=False)
    host = OMF.host(rig, [action], file=file)
    plan = plan_onto(OMF, context, rig, [action], file.name, host=host, options=options, report=Report())
    motions = plan.document.motion_set
    bones = track_bones(motions.parameters, motion.track_count, Report(), bones_in_order(rig))
    now = motions.library.motions[plan.written[action].index]
    return [bones[track] for track in rescaled_tracks(motion, now)]


def _after(offset: int, progress: Callable[[int], None]) -> Callable[[int], None]:
    return lambda done: progress(offset + done)


def _set_status(action: Action, status: str) -> None:
    if action.motionbridge_motion.status != status:
        action.motionbridge_motion.status = status


def _compared(
    context: Context,
    rig: Object,
    file: MotionFile,
    chosen: Sequence[Action],
    report: Report,
    *,
    sample: bool,
    progress: Callable[[int], None],
) -> dict[Action, str]:
    """Return the status of actions of one file, each compared with its motion in that file."""
    if not chosen:
        return {}
    host = OMF.host(rig, chosen, file=file)
    options = MotionExportOptions(
        rest_change=RestChange.GAME_POSE, hidden_keys=HiddenKeys.RESTORE, rename=False, sample=sample
    )
    plan = plan_onto(OMF, context, rig, chosen, file.name, host=host, options=options, report=report, progress=progress)
    changed = {change.number: change for change in plan.changes.parts}
    result = {}
    for number, action in enumerate(chosen):
        motion, change = action.motionbridge_motion, changed.get(number)
        renamed = motion.motion_name != motion.imported_name
        same = "UNKNOWN" if action in plan.unsampled else "UNTOUCHED"
        result[action] = "NEW" if change and change.new else "EDITED" if change or renamed else same
    return result


def revert(context: Context, rig: Object, action: Action, report: Report) -> None:
    """Restore keys, marks and parameters of an action from its file.

    Raises `WriteError` for an action that was not imported from a motion file of ``rig``.
    """
    file = action_lists.file_of(rig, action, LISTS)
    motion = motion_files.motion_of(action)
    index = action_lists.members(file, LISTS)[action] if file is not None else -1
    if file is None or motion is None or index < 0:
        raise WriteError(
            say("the action {!r} came from no motion file of {!r}", action.name, rig.name),
            remedy="Undo instead, or import its file again",
        )
    _restore(file, {action: (motion, index)}, report)
    keys_replaced(context, rig, action)


def _restore(file: MotionFile, own_motions: dict[Action, tuple[Motion, int]], report: Report) -> None:
    """Rebuild actions from the motions of a file. ``own_motions``: action -> its motion and its index in the file."""
    rig: Any = file.id_data
    motions = motion_files.document_of(file).motion_set
    rest = rest_of(rig, space.XRAY_ROOT_FRAME)
    if motion_files.rest_changes(file, rig):
        rest = motion_files.rest_then(file, rest)
    with Builders(rig, rest, motions.parameters, file.path, report) as builders:
        for action, (motion, index) in own_motions.items():
            definition = motions.definition(index)
            order = action.motionbridge_motion.order
            builders.rebuild(action, motion, definition)
            describe(action, motion, definition, index, file)
            action.motionbridge_motion.order = order
