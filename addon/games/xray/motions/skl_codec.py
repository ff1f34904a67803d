"""Motions of the editor (`.skl`, `.skls`, inside an `.object`) as a kind of motion file: tracks on bones, and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

import bpy
import numpy as np
from numpy.typing import NDArray

from ....blender import action as actions
from ....blender import action_lists, compat, pose, scope
from ....blender.action_lists import label_of
from ....blender.armature import Rest, rest_of
from ....blender.control_edits import CONTROLS
from ....blender.nla import CONSTRAINTS
from ....blender.pose_markers import nearest_frame
from ....blender.properties import drop, is_local, keep, kept
from ....blender.rotation_modes import set_mode
from ....blender.sampling import Sampler, warn_of_muted
from ....core import files, rotation, space
from ....core.binary import Bytes
from ....core.changes import Noun, Part
from ....core.envelope.curve import fitted
from ....core.model import Channels, Clip, CurveClip
from ....core.pose_curves import with_straight_segments
from ....core.report import Report, say
from ....core.scratch import keep_freed_memory
from ....formats.xray import object as editor_model
from ....formats.xray import skl
from ....formats.xray.envelopes import lost_slopes
from ....formats.xray.marks import decode_marks
from ....formats.xray.omf.document import FRAMES_PER_SECOND
from ....formats.xray.omf.mapping import refuse_bones_of_one_name
from ....formats.xray.skl import (
    ALL_PARTS,
    MARKS_SINCE,
    PACKED_SINCE,
    TIMING,
    Playback,
    SkeletalMotion,
    Skl,
    bone_names,
    encode_motion,
    new_motion,
    with_playback,
)
from ...plan import location_of
from ..bones.properties import bones_in_order, game_name
from ..options import Rotation, SkeletalExportOptions, SkeletalImportOptions
from . import files as motion_files
from . import timing as motion_timing
from .files import skl_document_of, skl_motion_of
from .gathering import Gatherer
from .hosts import MotionIdentity
from .library import (
    Builder,
    Codec,
    MotionImport,
    Opened,
    Plan,
    add,
    imported_name,
    refuse_unknown_bones,
    remember_shown,
)
from .properties import EULER_ORDER, SKL_LISTS, order_of_angles
from .skl_host import MadeMotion, SklHost, fingerprint, host_on_disk
from .skl_pose import Bones, Showing, Shown, ShownTracks, bones_of, same, show, show_all, to_file, tracks_on

if TYPE_CHECKING:
    from ....blender.typed import Action, Object
    from .properties import SkeletalFile


KEYS_PER_BLOCK = 30_000
"""Keys of motions that are converted together, which takes a hundredth of a second and 10 MB."""

Floats = NDArray[np.float64]


class SklCodec(Codec[Skl, "SkeletalFile", SklHost, "Plan[Skl]", SkeletalImportOptions, SkeletalExportOptions]):
    """Codec of the editor's files: motions only (`.skl`, `.skls`), and models (`.object`) that contain motions."""

    lists, suffix, model_suffix = SKL_LISTS, ".skls", ".object"

    def read_document(self, data: bytes, path: str, report: Report) -> Skl:
        keep_freed_memory()
        return skl.read(data, path, report)

    def read_inside(self, data: bytes, path: str, report: Report) -> Skl | None:
        keep_freed_memory()
        return editor_model.read(data, path, report).model.first(skl.Skl)

    def motions(self, document: Skl) -> list[tuple[str, int]]:
        return [(motion.label, max(motion.last - motion.first, 0) + 1) for motion in document.motions]

    def bones(self, rig: Object, document: Skl, chosen: Sequence[int]) -> list[str]:
        model_bones = bones_in_order(rig)
        return list(dict.fromkeys(bone for i in chosen for bone in bone_names(document.motions[i], model_bones)))

    def builder(
        self, rig: Object, opened: Opened[Skl], chosen: list[int], options: SkeletalImportOptions, report: Report
    ) -> SklBuilder:
        return SklBuilder(rig, opened, chosen, options, report)

    def attach(self, rig: Object, opened: Opened[Skl]) -> SkeletalFile:
        file = motion_files.attach(rig, opened.path, SKL_LISTS)
        file.sha256, file.embedded = opened.digest, opened.embedded
        motion_files.keep_skl_document(file, opened.document)
        return file

    def host(
        self, rig: Object, chosen: Sequence[Action], *, disk: str = "", file: SkeletalFile | None = None
    ) -> SklHost:
        """Without ``disk``, return the imported file that most of the motions ``chosen`` came from, else ``file``."""
        if disk:
            return host_on_disk(rig, disk, file)
        files_of = action_lists.files_of_actions(rig, SKL_LISTS)
        known = Counter(files_of[action].name for action in chosen if action in files_of)
        file = rig.motionbridge_skeletal_files[known.most_common(1)[0][0]] if known else file
        return SklHost.of(rig, skl_document_of(file) if file is not None else None, file)

    def host_of_list(
        self,
        rig: Object,
        file: SkeletalFile,
        listed: Sequence[Action],
        report: Report,
        *,
        disk: str,
        others_changed: bool,
    ) -> SklHost:
        """Motions inside a model are written into the model on disk."""
        return self.host(rig, listed, disk=bpy.path.abspath(file.path) if file.embedded else disk, file=file)

    def gatherer(
        self, rig: Object, options: SkeletalExportOptions, report: Report, sampler: Sampler, host: SklHost
    ) -> SklGatherer:
        return SklGatherer(rig, options, report, sampler, host)

    def settle(
        self, plan: Plan[Skl], rig: Object, file: SkeletalFile, options: SkeletalExportOptions | None = None
    ) -> SkeletalFile:
        """Remember the SHA-256 of the written file, and the names that the motions have in it; list copies as new ones.

        Later edits are still compared with the imported motions, so saving the same keys again gives the same bytes.
        """
        file.sha256 = plan.digest
        file.deleted.clear()
        for copy in action_lists.copies(list(plan.written), SKL_LISTS):
            add(self, file, copy)
        for action, written in plan.written.items():
            action.motionbridge_skeletal.imported_name = written.name
            keep_saved_motion(action, plan.document.motions[written.index] if action in plan.shown_keys else None)
        return file

    def settle_exported(self, plan: Plan[Skl], rig: Object) -> None:
        """After an export of ``plan`` that replaced the file of its motions: remember that file as `settle` does."""
        for file in rig.motionbridge_skeletal_files:
            own = location_of(file).is_same(files.FileLocation(plan.path)) and not file.embedded and is_local(rig)
            if own and plan.written.keys() <= action_lists.members(file, SKL_LISTS).keys():
                self.settle(plan, rig, file)
                remember_shown(plan.written, plan.shown_keys)

    def fingerprints(self, document: Skl) -> set[bytes]:
        return set(map(fingerprint, document.motions))

    def reload(self, plan: Plan[Skl], rig: Object, file: SkeletalFile) -> None:
        """Restore curves, marks and parameters of the plan's ``theirs`` from the written file.

        The rotation mode and the fitting tolerance stay those of the import.
        """
        report = Report()
        bones = bones_of(rig, motion_files.rest_then(file, rest_of(rig, space.XRAY_ROOT_FRAME)))
        with pose.PoseWriter(compat.slot_name(rig)) as writer:
            for action in plan.theirs:
                skeletal = action.motionbridge_skeletal
                motion = plan.document.motions[plan.unwritten[action].index]
                before = _Imported.of(action, motion, bones)
                tracks = {bone: motion.tracks[number] for bone, number in before.numbers.items()}
                (shown_tracks,) = show_all([(motion, tracks)], bones.rest, showing=before.showing, report=report)
                frames, on_bones = _frames_of(motion), shown_tracks.on_bones(bones.rest.bones)
                digests = writer.rebuild(action, rig, on_bones, 1.0 / motion.frame, frames)
                _store_shown(
                    action,
                    motion,
                    shown_tracks,
                    before.numbers,
                    digests,
                    bones=bones.rest.bones,
                    showing=before.showing,
                )
                describe(action, motion, skl.bytes_of(replace(motion, tail=b"")), skeletal.index, file)
                motion_timing.store_marks(action, decode_marks(motion.marks))


SKL = SklCodec()


def keep_saved_motion(action: Action, motion: SkeletalMotion | None) -> None:
    """Store on an action its motion as it was saved as shown, with more than its own keys; None for any other."""
    if motion is not None:
        keep(action.motionbridge_skeletal, "saved", skl.bytes_of(replace(motion, tail=b"")))
    else:
        drop(action.motionbridge_skeletal, "saved")


# ---- import


class SklBuilder(Builder["SkeletalFile"]):
    """Builder of the actions of an import."""

    def __init__(
        self, rig: Object, opened: Opened[Skl], chosen: list[int], options: SkeletalImportOptions, report: Report
    ) -> None:
        """Raises `ReadError`, before anything is created, if none of the bones of the motions is in the armature."""
        self._rig, self._document, self._chosen, self._options = rig, opened.document, chosen, options
        self._path, self._report = opened.path, report
        self._bones = bones_of(rig, rest_of(rig, space.XRAY_ROOT_FRAME))
        refuse_unknown_bones(SKL.bones(rig, opened.document, chosen), self._bones.indices, rig, opened.path)
        self._showing = _showing(rig, options, report)
        if reasons := [reason for reason in actions.why_sampled(rig) if reason != CONSTRAINTS]:
            words = "what is shown differs from the game, because the armature has {}"
            report.warn(say(words, ", ".join(reasons)), rig.name)
        self._writer = pose.PoseWriter(compat.slot_name(rig))

    def __enter__(self) -> Self:
        self._writer.__enter__()
        return self

    def __exit__(self, *failure: object) -> None:
        self._writer.__exit__(*failure)

    def build(self, file: SkeletalFile) -> Iterator[tuple[int, Action]]:
        """Yield the index of each motion and its action; the bones get the rotation mode that plays it."""
        bones = self._bones.rest.bones
        for index, tracks, numbers in _show_chosen(
            self._document, self._chosen, self._bones, self._showing, self._report
        ):
            motion = self._document.motions[index]
            action = _build(self._writer, motion, tracks, numbers, bones=bones, showing=self._showing)
            describe(action, motion, self._document.bodies[index], index, file)
            motion_timing.store_marks(action, decode_marks(motion.marks))
            _set_modes(self._rig, [bones[bone] for bone in tracks], self._showing)
            yield index, action

    def report_results(self, result: MotionImport[SkeletalFile]) -> None:
        """Report how many tracks have the file's curves and how many are fitted."""
        result.kept_exactly = sum(action.motionbridge_skeletal.kept_exactly for action in result.actions)
        result.fitted = sum(action.motionbridge_skeletal.fitted for action in result.actions)
        if result.fitted:
            metres, radians = self._options.tolerance
            words = (
                "{:# track has|# tracks have} the file's curves; fitted to the bones' rest pose: {}, within {:g} mm "
                "and {:.3g}°"
            )
            self._report.note(
                say(words, result.kept_exactly, result.fitted, 1000 * metres, np.degrees(radians)),
                Path(self._path).name,
            )


def _showing(rig: Object, options: SkeletalImportOptions, report: Report) -> Showing:
    others_changed = pose.actions_turning(rig, pose.QUATERNION)
    quaternions = options.rotation is Rotation.QUATERNION or (
        options.rotation is Rotation.AUTOMATIC and bool(others_changed)
    )
    if quaternions and options.rotation is Rotation.AUTOMATIC:
        report.note("bones use quaternions, as in the other actions of this armature", rig.name)
    elif not quaternions and others_changed:
        words = (
            "bones now use Euler angles; actions with quaternion keys that no longer play: {} (import with "
            "quaternions to keep both)"
        )
        report.warn(say(words, len(others_changed)), rig.name)
    # Rounded like the properties that store them: comparing the action later gives the same fits.
    metres, radians = (float(np.float32(value)) for value in options.tolerance)
    return Showing(quaternions, (metres, radians))


def _show_chosen(
    document: Skl, chosen: Sequence[int], bones: Bones, showing: Showing, report: Report
) -> Iterator[tuple[int, ShownTracks, dict[int, int]]]:
    """Yield for each chosen motion its index, its tracks as shown on bones, and which track each bone has.

    Motions with frames of the same length are converted together, up to `KEYS_PER_BLOCK`, because larger arrays hardly
    take longer.
    """
    block: list[tuple[int, dict[int, int]]] = []
    keys = 0
    for number, motion_index in enumerate(chosen, 1):
        motion = document.motions[motion_index]
        block.append((motion_index, tracks_on(motion, bones, report)))
        keys += sum(len(envelope.keys) for track in motion.tracks for envelope in track.envelopes)
        last = number == len(chosen)
        if not last and keys < KEYS_PER_BLOCK and document.motions[chosen[number]].frame == motion.frame:
            continue
        motions = [
            (document.motions[index], {bone: document.motions[index].tracks[track] for bone, track in numbers.items()})
            for index, numbers in block
        ]
        shown_tracks_of_block = show_all(motions, bones.rest, showing=showing, report=report)
        for (index, numbers), tracks in zip(block, shown_tracks_of_block, strict=True):
            yield index, tracks, numbers
        block, keys = [], 0


def _build(
    writer: pose.PoseWriter,
    motion: SkeletalMotion,
    tracks: ShownTracks,
    numbers: dict[int, int],
    *,
    bones: Sequence[str],
    showing: Showing,
) -> Action:
    """Create the action of a motion. ``numbers``: bone -> track, by index. ``bones``: Blender's names by index."""
    action, digests = writer.build(
        motion.label or "motion", tracks.on_bones(bones), 1.0 / motion.frame, _frames_of(motion)
    )
    _store_shown(action, motion, tracks, numbers, digests, bones=bones, showing=showing)
    return action


def _frames_of(motion: SkeletalMotion) -> tuple[int, int]:
    """Return the first and the last frame, limited to what Blender supports."""
    return nearest_frame(motion.first), nearest_frame(motion.last)


def _store_shown(
    action: Action,
    motion: SkeletalMotion,
    tracks: ShownTracks,
    numbers: dict[int, int],
    digests: Mapping[str, bytes],
    *,
    bones: Sequence[str],
    showing: Showing,
) -> None:
    """Store how an action shows its motion, and digests of its keys, to find out later which bones were edited."""
    properties = action.motionbridge_skeletal
    properties.rotation = "QUATERNION" if showing.quaternions else "EULER"
    properties.metres, properties.radians = showing.tolerance
    properties.kept_exactly = sum(map(tracks.is_exact, tracks))
    properties.fitted = len(tracks) - properties.kept_exactly
    by_track = {number: digests[bones[bone]] for bone, number in numbers.items()}
    keep(properties, "drawn", b"".join(by_track.get(number, pose.NO_CURVES) for number in range(len(motion.tracks))))


def describe(action: Action, motion: SkeletalMotion, body: Bytes, index: int, file: SkeletalFile) -> None:
    """Store on the action the bytes of its motion, ``body``, and how the game plays it."""
    skeletal = action.motionbridge_skeletal
    skeletal.is_skeletal = True
    skeletal.file, skeletal.index, skeletal.version = file.name, index, motion.version
    skeletal.fps, skeletal.imported_name = 1.0 / motion.frame, motion.label
    skeletal.shown_first, skeletal.shown_last = action.frame_start, action.frame_end
    keep(skeletal, "body", body)
    played = action.motionbridge_motion
    played.is_motion = True
    played.motion_name = motion.label
    played.frame_step = 1.0 / (motion.frame * FRAMES_PER_SECOND)
    motion_files.set_flags(played, motion.flags)
    played.bone_or_part = min(motion.bone_or_part, ALL_PARTS)
    for name, value in zip(TIMING, motion.timing.tolist(), strict=True):
        setattr(played, name, value)


def _set_modes(rig: Object, names_of_bones: list[str], showing: Showing) -> None:
    mode = "QUATERNION" if showing.quaternions else EULER_ORDER
    for bone in map(rig.pose.bones.get, names_of_bones):
        if bone.rotation_mode != mode:
            set_mode(bone, mode)


# ---- export


@dataclass
class _Imported:
    """A motion as its file has it, and how it was shown at import.

    ``numbers``: index of a bone in the rest pose -> index of its track.
    """

    motion: SkeletalMotion
    bones: Bones
    showing: Showing
    numbers: dict[int, int]
    drawn: bytes

    @classmethod
    def of(cls, action: Action, motion: SkeletalMotion, bones: Bones) -> _Imported:
        """Return the motion with what its action stores about the import."""
        skeletal = action.motionbridge_skeletal
        showing = Showing(skeletal.rotation == "QUATERNION", (skeletal.metres, skeletal.radians))
        return cls(motion, bones, showing, tracks_on(motion, bones, Report()), kept(skeletal, "drawn"))

    def shown(self, indices: Iterable[int]) -> Mapping[int, Shown]:
        """Return tracks as they were shown at import. ``indices``: indices of their bones."""
        tracks = {index: self.motion.tracks[self.numbers[index]] for index in indices}
        return show(tracks, self.motion, self.bones.rest, showing=self.showing, report=Report())

    def digest(self, index: int) -> bytes:
        """Return the digest of a bone's imported F-curves; empty if an old version that stored none imported it."""
        begin = self.numbers[index] * pose.DIGEST_SIZE
        return self.drawn[begin : begin + pose.DIGEST_SIZE]


class SklGatherer(Gatherer["Plan[Skl]"]):
    """Reader of actions as motions, with the differences from the motions they were imported from."""

    _options: SkeletalExportOptions

    def __init__(
        self, rig: Object, options: SkeletalExportOptions, report: Report, sampler: Sampler, host: SklHost
    ) -> None:
        """Raises `WriteError` as `Gatherer`."""
        super().__init__(rig, options, report, sampler, SKL_LISTS)
        self._host, self._made = host, list[MadeMotion]()
        self._reader = pose.PoseReader(rig)
        self._bones_by_file: dict[str, Bones] = {}
        self._labels = {index: label for label, index in bones_of(rig, self._rest_now).indices.items()}

    def add(self, action: Action, label: str) -> None:
        self._made.append(self._motion(action, label))

    def plan(self, path: str) -> Plan[Skl]:
        document, changes, indices = self._host.joined(self._made, path)
        metres, radians = changes.worst_errors()
        if metres > self._options.tolerance[0] or radians > self._options.tolerance[1]:
            words = (
                "versions 6 and 7 store handles in steps of 0.98 ms and 0.98 mm, which moves channels by up to "
                "{:.3g} mm and {:.3g}°; keys lie where they are"
            )
            self.report.warn(say(words, 1000 * metres, np.degrees(radians)))
        if slopes := lost_slopes(changes.all_items()):
            self.report.warn(slopes)
        data = self._host.written(document)
        location = files.FileLocation(path)
        written = {
            encoded.action: MotionIdentity(location, index, encoded.motion.label)
            for encoded, index in zip(self._made, indices, strict=True)
        }
        edited = [encoded.action for encoded in self._made if encoded.change is not None]
        return Plan(path, data, changes, document, written, self._host.unwritten(location, written), edited)

    def _motion(self, action: Action, label: str) -> MadeMotion:
        """Return the motion to write for an action, named ``label``."""
        skeletal = action.motionbridge_skeletal
        in_file = "" if action_lists.copies([action], SKL_LISTS) else imported_name(action, SKL_LISTS)
        is_new = skeletal.is_skeletal and not in_file
        base, saved = skl_motion_of(action), skl_motion_of(action, "saved")
        playing = self._playing(action, label)
        if saved is not None and self._sampler.movers.is_as_saved(action):
            motion, fields = with_playback(saved, playing)
            change = Part(playing.name, Noun.MOTION, fields=fields, new=is_new) if fields or is_new else None
            return MadeMotion(action, motion, change)
        clip = CurveClip(playing.name, [], [], self._rate(action, base), *self._frames(action, base))
        clip.markers = motion_timing.gather_marks(action)
        before = (base.last - base.first) * base.frame if base is not None else None
        end = (clip.last - clip.first) / clip.fps
        motion_timing.warn_of_marks(action, clip.markers, end, before, self.report)
        if base is None:
            self._fill(clip, action, None)
            motion, new = new_motion(clip, self.skeleton, self._options.version)
            return MadeMotion(action, with_playback(motion, playing)[0], new)
        if clip.markers and base.version == PACKED_SINCE:
            self.report.note(say("written as version {}, for its marks", MARKS_SINCE), label_of(action))
            base = replace(base, version=MARKS_SINCE)
        self._fill(clip, action, base)
        motion, change = encode_motion(clip, base, self.skeleton)
        motion, fields = with_playback(motion, playing)
        if fields or (is_new and change is None):
            change = replace(
                change or Part(playing.name, Noun.MOTION), fields=(*(change.fields if change else ()), *fields)
            )
        if is_new and change is not None:
            change = replace(change, new=True)
        return MadeMotion(action, motion, change)

    def _playing(self, action: Action, name: str) -> Playback:
        played = action.motionbridge_motion
        timing = np.array([getattr(played, field_name) for field_name in TIMING], np.float32)
        return Playback(name, motion_files.flags_of(played), played.bone_or_part, timing)

    def _rate(self, action: Action, base: SkeletalMotion | None) -> float:
        if base is not None:
            return 1.0 / base.frame
        if action.motionbridge_motion.is_motion:
            return float(FRAMES_PER_SECOND * action.motionbridge_motion.frame_step)
        return scope.frames_per_second(bpy.context.scene)

    def _frames(self, action: Action, base: SkeletalMotion | None) -> tuple[int, int]:
        if base is None:
            return self._as_played(action, motion_timing.ends_of(action, self._rig))
        first, last = motion_timing.frames_of_skeletal(action, base, self._rig)
        result = self._as_played(action, (first, last))
        if result == (first, last):
            motion_timing.warn_of_skeletal(action, base, result, self.report, self._rig)
        return result

    def _as_played(self, action: Action, ends: tuple[int, int]) -> tuple[int, int]:
        """Return the first and the last frame as an NLA strip plays the action, by default ``ends``."""
        first, count = self._sampler.movers.play.frames(action, (ends[0], ends[1] - ends[0] + 1))
        return first, first + count - 1

    def _bones_at_import(self, action: Action) -> Bones:
        file = self._files.get(action)
        key = file.name if file is not None else ""
        if key not in self._bones_by_file:
            self._bones_by_file[key] = bones_of(
                self._rig, motion_files.rest_then(file, self._rest_now) if file is not None else self._rest_now
            )
        return self._bones_by_file[key]

    def _fill(self, clip: CurveClip, action: Action, base: SkeletalMotion | None) -> None:
        """Add to ``clip`` the tracks that differ from ``base``; all tracks if ``base`` is None."""
        rest, rest_edited = self._rest_for(action)
        frame = base.frame if base is not None else 1.0 / clip.fps
        imported = _Imported.of(action, base, self._bones_at_import(action)) if base is not None else None
        modes = self._shown.modes(action, order_of_angles(action))
        tracked = [rest.bones[index] for index in imported.numbers] if imported is not None else None
        to_sample, reasons = self._bones_to_sample(action, tracked, is_new=base is None)
        if to_sample:
            self._note_sampling(reasons)
            frames = clip.first, max(clip.last - clip.first, 0) + 1
            if set(reasons) == {CONTROLS}:
                rows, sampled = self._sampler.moved(action, rest, 1.0 / frame, to_sample, modes=modes, frames=frames)
            else:
                is_still = self._is_still(action, reasons, is_new=base is None)
                rows, sampled = self._sampler.clip(
                    action, rest, 1.0 / frame, to_sample, modes=modes, frames=frames, is_still=is_still
                )
            to_sample = {rest.bones[row] for row in rows}
        keys = self._reader.read(action, modes)
        self._warn(action, keys, tracked, to_sample)
        tracks = self._keyed_tracks(keys, rest, rest_edited, frame, imported, sampled=to_sample)
        if to_sample:
            imported_tracks = (
                imported.shown([row for row in rows if row in imported.numbers]) if imported is not None else {}
            )
            tracks |= self._sampled_tracks(sampled, rows, clip.first, frame, imported_tracks)
        for index, channels in sorted(tracks.items(), key=lambda track: track[0]):
            clip.bones.append(self._label(rest.bones[index], index))
            clip.tracks.append(channels)

    def _label(self, bone: str, index: int) -> str:
        """Return the game's name of a bone. Raises `WriteError` if an earlier bone has it, in any letter case."""
        if index not in self._labels:
            label = game_name(self._rig.data.bones[bone]).lower()
            names = map(game_name, self._rig.data.bones)
            refuse_bones_of_one_name([name for name in names if name.lower() == label])
        return self._labels[index]

    def _warn(self, action: Action, keys: pose.PoseKeys, tracked: list[str] | None, sampled: set[str]) -> None:
        """Warn of curves that are not exported as they are, and of bones that are posed without keys.

        ``tracked``: the bones that the file has tracks of, None for a new motion. ``sampled``: the sampled bones.
        """
        self._warn_of_left_out(action, keys.left_out, keys.other_kinds, sampled)
        muted = [bone for bone in keys.muted if bone not in sampled]
        if muted:
            warn_of_muted(muted, action, self.report, in_file=tracked is not None)
        if sampled:
            tracked = [bone for bone in tracked or self._rest_now.bones if bone not in sampled]
        self._shown.warn_of_pose(action, keys.modes, tracked)

    def _keyed_tracks(
        self,
        keys: pose.PoseKeys,
        rest: Rest,
        rest_edited: set[str],
        frame: float,
        imported: _Imported | None,
        *,
        sampled: set[str],
    ) -> dict[int, Channels]:
        """Return the edited tracks of bones that are not in ``sampled``: index of the bone -> its channels.

        ``rest_edited``: bones whose rest pose was edited and which keep their offsets. ``frame``: seconds per frame.
        ``imported``: the imported motion, None for a new one.
        """
        numbers = imported.numbers if imported is not None else {}
        keyed = set(keys.bones)
        candidates = [
            index
            for index, bone in enumerate(rest.bones)
            if bone not in sampled
            and (index in numbers or bone in keyed)
            and not (imported is not None and self._is_as_built(index, bone, keys, imported, rest_edited))
        ]
        imported_tracks = (
            imported.shown([index for index in candidates if index in numbers]) if imported is not None else {}
        )
        tracks: dict[int, Channels] = {}
        for index in candidates:
            bone, imported_track = rest.bones[index], imported_tracks.get(index)
            curves = keys.curves(bone, 1.0 / frame, self._options.tolerance)
            mode, muted_channels = keys.modes[bone], keys.muted.get(bone, ())
            base = imported_track if bone not in rest_edited else None
            same_rotation = base is not None and self._same_rotation(base, curves, mode, frame)
            same_location = base is not None and same(curves.location, base.pose.location, frame)
            if imported_track is not None:
                same_rotation, same_location = (
                    same_rotation or "rotation" in muted_channels,
                    same_location or "location" in muted_channels,
                )
            if same_rotation and same_location:
                continue
            tracks[index] = to_file(
                curves,
                mode,
                rest,
                index,
                frame=frame,
                tolerance=self._options.tolerance,
                base=imported_track,
                same_location=same_location,
                same_rotation=same_rotation,
            )
        return tracks

    def _is_as_built(
        self, index: int, bone: str, keys: pose.PoseKeys, imported: _Imported, rest_edited: set[str]
    ) -> bool:
        """Return whether a bone's F-curves are bit for bit the imported ones, read by the same rotation mode."""
        if bone in rest_edited or index not in imported.numbers or keys.digest(bone) != imported.digest(index):
            return False
        return not keys.rotates(bone) or keys.modes[bone] == imported.showing.mode

    def _same_rotation(self, imported: Shown, curves: pose.BoneCurves, mode: str, frame: float) -> bool:
        if curves.rotation is not None and mode != Showing(imported.pose.channel == pose.QUATERNION, (0.0, 0.0)).mode:
            return False
        return same(curves.rotation, imported.pose.rotation, frame)

    def _sampled_tracks(
        self, clip: Clip, rows: Sequence[int], first: int, frame: float, imported_tracks: Mapping[int, Shown]
    ) -> dict[int, Channels]:
        """Fit curves to sampled poses of bones that differ from the file on any frame. Returns channels by bone index.

        ``rows``: index of the bone of each track of ``clip``. ``frame``: seconds per frame. ``imported_tracks``: those
        of the imported motion.
        """
        times = np.arange(first, first + clip.frames, dtype=np.float64) * frame
        metres, radians = self._options.tolerance
        tracks = {}
        for index, rotations, locations in zip(rows, clip.rotations, clip.translations, strict=True):
            imported = imported_tracks.get(index)
            if imported is not None and _has_poses(imported, times, rotations, locations, (metres, radians)):
                continue
            angles = rotation.euler_zxy(rotation.matrices(rotations))
            tracks[index] = Channels(
                [with_straight_segments(fitted(times, locations[:, axis], metres), metres) for axis in range(3)],
                [with_straight_segments(fitted(times, angles[:, axis], radians), radians) for axis in range(3)],
            )
        return tracks


def _has_poses(
    imported: Shown, times: Floats, rotations: Floats, locations: Floats, tolerance: tuple[float, float]
) -> bool:
    """Return whether the file's channels give the same poses at all ``times``, within ``tolerance`` (metres, radians).

    ``rotations`` (times, 4) and ``indices`` (times, 3): the sampled rotations and locations.
    """
    location, angles = imported.values_at(times)
    differences = rotation.angles_between(rotation.of_mode(angles, "ZXY"), rotations)
    return bool(np.abs(location - locations).max() <= tolerance[0] and differences.max() <= tolerance[1])
