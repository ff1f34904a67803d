"""Actions of a rig as the editor's motions (`.skl`, `.skls`): what nobody touched leaves with the bytes it came with.

New motions are of version 6, which every editor reads and every known file has, or 7 where they have marks, which no
older version can hold. A motion of version 6 that gets marks becomes one of version 7, which differs in nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ....blender import action as actions
from ....blender import action_lists, pose
from ....blender.armature import Rest, rest_of
from ....blender.record import kept
from ....blender.rotation_modes import HiddenKeys
from ....blender.sampling import Sampler, is_of_a_rig
from ....blender.shown import ShownActions, warn_of_muted, warn_of_other_kinds
from ....core import files, rotation, space
from ....core.envelope.curve import fitted
from ....core.errors import WriteError
from ....core.model import Channels, Clip, CurveClip
from ....core.pose_curves import straightened
from ....core.report import Report
from ....formats.xray import skl
from ....formats.xray.channels import lost_slopes
from ....formats.xray.omf.document import FRAMES_PER_SECOND
from ....formats.xray.skl.document import MARKS_SINCE, PACKED_SINCE, TIMING, SkeletalMotion, Skl
from ....formats.xray.skl.mapping import Changes, MotionChange, Playing, edited, new_motion, with_playing
from ...plan import FilePlan, OtherBase, starts_from_disk
from . import files as motion_files
from . import length as motion_length
from . import marks
from .exporting import (
    RestChange,
    name_of_copy,
    refuse_one_name,
    rest_then,
    skeleton_of,
    warn_of_removed,
    warn_of_transform,
    written_names,
)
from .skeletal_importing import LISTS, Bones, bones_of, document_of, motion_of, order_of, tracks_on
from .skeletal_pose import Showing, Shown, same, show, to_file

Floats = NDArray[np.float64]


class Onto(Enum):
    """What an export starts from."""

    OWN_FILES = "own"
    """The chosen motions alone."""
    FILE = "file"
    """A file on disk: motions of the same name are replaced, others added, the rest stays."""


@dataclass(frozen=True)
class SkeletalExportOptions:
    """``tolerance`` (metres, radians) of what has to be fitted; what an edited rest pose means.

    ``version`` of motions that are in no file yet: 6 or with marks 7 where it is None, or 5.
    """

    onto: Onto = Onto.OWN_FILES
    tolerance: tuple[float, float] = (1e-4, float(np.radians(0.01)))
    rest_change: RestChange = RestChange.REFUSE
    hidden: HiddenKeys = HiddenKeys.STOP
    version: int | None = None


@dataclass
class SkeletalPlan(FilePlan):
    """A file of the editor's motions that could be written."""

    changes: Changes
    written: list[tuple[Any, str]] = field(default_factory=list)
    """The actions, each with the name its motion has in the file."""


@dataclass
class _Motion:
    """A motion to write, the one of a file it replaces (by name), and what differs from it."""

    action: Any
    motion: SkeletalMotion
    replaces: str
    change: MotionChange | None


def motions_of(file: Any) -> list[Any]:
    """The actions of a file, in the order of the file; copies that the armature uses come last."""
    places = action_lists.members(file, LISTS)
    return sorted(places, key=lambda action: (places[action] < 0, places[action], action.name))


def adopt_copies(rig: Any) -> None:
    """Make copies that the armature uses new motions of their file, so that they stay when it plays others."""
    for file, action in action_lists.unlisted(rig, LISTS):
        original = action_lists.copies([action], LISTS).get(action)
        action.motionbridge_motion.motion_name = name_of_copy(action, original, imported_name)
        action.motionbridge_skeletal.place, action.motionbridge_skeletal.imported_name = -1, ""
        action_lists.add(file, action, -1, LISTS)
        action.use_fake_user = True


def plan_export(
    context: Any,
    rig: Any,
    chosen: Sequence[Any],
    path: str,
    *,
    options: SkeletalExportOptions,
    report: Report,
    progress: Callable[[int], None] = lambda _: None,
    samples: dict[Any, Any] | None = None,
) -> SkeletalPlan:
    """The file at ``path`` with the actions ``chosen``. Raises `WriteError` or, for the file on disk, `ReadError`.

    ``samples`` as in `Sampler`.
    """
    if not chosen:
        raise WriteError("no motion is chosen", remedy="Import motions, or assign an action to the armature")
    warn_of_transform(rig, report)
    files.warn_of_replacing(path, report)
    labels = written_names(chosen, LISTS, imported_name, report)
    refuse_one_name(chosen, labels, _had_one_name)
    copies = action_lists.copies(chosen, LISTS)
    made = []
    with Sampler(context, rig, samples) as sampler:
        gatherer = _Gatherer(context, rig, options, report, sampler)
        for done, (action, label) in enumerate(zip(chosen, labels, strict=True)):
            skeletal = action.motionbridge_skeletal
            copied = action in copies or (skeletal.is_skeletal and skeletal.place < 0)
            made.append(gatherer.motion(action, label, copied=copied))
            progress(done + 1)
    document, changes = _joined(rig, made, path, options)
    metres, radians = changes.worst_errors()
    if metres > options.tolerance[0] or radians > options.tolerance[1]:
        report.warn(
            "versions 6 and 7 store handles in steps of 0.98 ms and 0.98 mm, which moves channels by up to "
            f"{1000 * metres:.3g} mm and {np.degrees(radians):.3g}°; keys lie where they are"
        )
    if slopes := lost_slopes(channel for motion in changes.motions for channel in motion.channels):
        report.warn(slopes)
    if options.onto is Onto.OWN_FILES and Path(path).is_file():
        warn_of_removed(path, _names_in, [motion.label for motion in document.motions], report)
    written = list(zip(chosen, labels, strict=True))
    return SkeletalPlan(path, skl.write(document), changes, written)


def plan_save_back(
    context: Any,
    rig: Any,
    file: Any,
    *,
    options: SkeletalExportOptions,
    if_changed: OtherBase,
    report: Report,
    samples: dict[Any, Any] | None = None,
) -> SkeletalPlan:
    """The file of ``rig`` as it would be saved: motions of the list replaced or added, everything else as it is.

    Raises `WriteError` where the file on disk is another one by now and ``if_changed`` says to refuse.
    """
    path = bpy.path.abspath(file.path)
    on_disk = starts_from_disk(path, {file.sha256}, if_changed)
    chosen = motions_of(file)
    options = replace(options, onto=Onto.FILE if on_disk else Onto.OWN_FILES)
    return plan_export(context, rig, chosen, path, options=options, report=report, samples=samples)


def settle(plan: SkeletalPlan, file: Any) -> None:
    """After ``plan`` was written: the file on disk is known, and its motions by their new names.

    What an edit is compared with stays what was imported: the same keys give the same bytes when saved again.
    """
    file.sha256 = plan.digest
    for action, label in plan.written:
        action.motionbridge_skeletal.imported_name = label


def imported_name(action: Any) -> str:
    """The name an action's motion had in the file it came from, "" for a new one."""
    return str(action.motionbridge_skeletal.imported_name)


def _had_one_name(twins: list[Any], label: str) -> bool:
    known = action_lists.copies(twins, LISTS)
    return all(twin not in known and imported_name(twin).lower() == label for twin in twins)


def _names_in(path: str) -> list[str]:
    return [motion.label for motion in skl.read(files.read_file(path), path, Report()).motions]


def _joined(rig: Any, made: list[_Motion], path: str, options: SkeletalExportOptions) -> tuple[Skl, Changes]:
    """The motions in the file they go into."""
    changes = Changes([one.change for one in made if one.change is not None])
    if options.onto is Onto.FILE:
        document = skl.read(files.read_file(path), path, Report())
        motions = list(document.motions)
        labels = [motion.label.lower() for motion in motions]
        for one in made:
            name = one.replaces.lower()
            if name in labels:
                place = labels.index(name)
                motions[place] = replace(one.motion, tail=motions[place].tail)
                labels[place] = "\0"  # of two motions of one name each replaces one
            else:
                motions.append(one.motion)
                if one.change is None:
                    changes.motions.append(MotionChange(one.motion.label, new=True))
    else:
        document, motions = _as_imported(rig, made, path), [one.motion for one in made]
    single = Path(path).suffix.lower() == ".skl"
    if single and len(motions) != 1:
        raise WriteError(
            f"a .skl file stores one motion, not {len(motions)}",
            file=path,
            remedy="Choose one action, or name a file that ends in .skls",
        )
    changes.untouched = len(motions) - len(changes.motions)
    if single and document.sections is None:
        return skl.new_skl(motions[0]), changes
    if not single and document.sections is not None:
        return skl.new_skls(motions), changes
    return document.with_motions(motions), changes


def _as_imported(rig: Any, made: list[_Motion], path: str) -> Skl:
    """The file most of the motions came from, which may end in bytes nobody knows; a new one without any."""
    files_of = action_lists.files_of_actions(rig, LISTS)
    known = Counter(files_of[one.action].name for one in made if one.action in files_of)
    if not known:
        return skl.new_skl(made[0].motion) if path.lower().endswith(".skl") else skl.new_skls([])
    file = rig.motionbridge_skeletal_files[known.most_common(1)[0][0]]
    document, places = document_of(file), action_lists.members(file, LISTS)
    for one in made:
        place = places.get(one.action, -1)
        if 0 <= place < len(document.motions):
            one.motion = replace(one.motion, tail=document.motions[place].tail)
    return document


@dataclass
class _Kept:
    """A motion as its file has it and how it was shown; ``numbers``: its track for each place of a bone."""

    motion: SkeletalMotion
    bones: Bones
    showing: Showing
    numbers: dict[int, int]
    drawn: bytes

    @classmethod
    def of(cls, action: Any, motion: SkeletalMotion, bones: Bones) -> _Kept:
        """What travels with an action."""
        skeletal = action.motionbridge_skeletal
        showing = Showing(skeletal.rotation == "QUATERNION", (skeletal.metres, skeletal.radians))
        return cls(motion, bones, showing, tracks_on(motion, bones, Report()), kept(skeletal, "drawn"))

    def shown(self, places: Iterable[int]) -> Mapping[int, Shown]:
        """Tracks as they were shown when they were imported, by places of bones."""
        tracks = {place: self.motion.tracks[self.numbers[place]] for place in places}
        return show(tracks, self.motion, self.bones.rest, showing=self.showing, report=Report())

    def digest(self, place: int) -> bytes:
        """What tells a bone's untouched F-curves; empty in files of versions that kept none."""
        begin = self.numbers[place] * pose.DIGEST_SIZE
        return self.drawn[begin : begin + pose.DIGEST_SIZE]


class _Gatherer:
    """Reads the actions of one rig and says of each what differs from the motion it came from."""

    def __init__(
        self, context: Any, rig: Any, options: SkeletalExportOptions, report: Report, sampler: Sampler
    ) -> None:
        self._context, self._rig, self._options, self._report = context, rig, options, report
        self._now = rest_of(rig, space.XRAY_ROOT_FRAME)
        self._sampler, self._reasons = sampler, set[str]()
        self._skeleton = skeleton_of(rig, self._now)
        self._reader = pose.PoseReader(rig)
        self._shown = ShownActions(rig, options.hidden, report)
        self._files = action_lists.files_of_actions(rig, LISTS)
        self._then: dict[str, Bones] = {}
        self._rest_changes: dict[str, list[str]] = {}
        self._labels = {place: label for label, place in bones_of(rig, self._now).places.items()}

    def motion(self, action: Any, label: str, *, copied: bool) -> _Motion:
        """The motion to write for an action under a name."""
        base = motion_of(action)
        playing = self._playing(action, label)
        clip = CurveClip(playing.name, [], [], self._rate(action, base), *self._frames(action, base))
        clip.markers = marks.gather(action)
        if base is None:
            self._fill(clip, action, None)
            made, new = new_motion(clip, self._skeleton, self._options.version)
            return _Motion(action, with_playing(made, playing)[0], playing.name, new)
        if clip.markers and base.version == PACKED_SINCE:
            self._report.note(f"written as version {MARKS_SINCE}, for its marks", action.name)
            base = replace(base, version=MARKS_SINCE)
        self._fill(clip, action, base)
        made, change = edited(clip, base, self._skeleton)
        made, fields = with_playing(made, playing)
        if fields or (copied and change is None):
            change = replace(change or MotionChange(playing.name), fields=(*(change.fields if change else ()), *fields))
        if copied and change is not None:
            change = replace(change, new=True)
        replaces = (not copied and imported_name(action)) or playing.name
        return _Motion(action, made, replaces, change)

    def _playing(self, action: Any, name: str) -> Playing:
        played = action.motionbridge_motion
        timing = np.array([getattr(played, field_name) for field_name in TIMING], np.float32)
        return Playing(name, motion_files.flags_of(played), played.bone_or_part, timing)

    def _rate(self, action: Any, base: SkeletalMotion | None) -> float:
        if base is not None:
            return 1.0 / base.frame
        if action.motionbridge_motion.is_motion:
            return float(FRAMES_PER_SECOND * action.motionbridge_motion.frame_step)
        return actions.frames_per_second(self._context.scene)

    def _frames(self, action: Any, base: SkeletalMotion | None) -> tuple[int, int]:
        if base is None:
            return motion_length.ends_of(action)
        first, last = motion_length.frames_of_skeletal(action, base)
        motion_length.warn_of_skeletal(action, base, (first, last), self._report)
        return first, last

    def _bones_then(self, action: Any) -> Bones:
        file = self._files.get(action)
        key = file.name if file is not None else ""
        if key not in self._then:
            self._then[key] = bones_of(self._rig, rest_then(file, self._now) if file is not None else self._now)
        return self._then[key]

    def _rest_for(self, action: Any) -> tuple[Rest, set[str]]:
        """The rest pose that the action's keys are relative to, and the bones of which it is not the import's."""
        file = self._files.get(action)
        if file is not None and file.name not in self._rest_changes:
            self._rest_changes[file.name] = motion_files.rest_changes(file, self._rig)
        changed = self._rest_changes[file.name] if file is not None else []
        if not changed:
            return self._now, set()
        if self._options.rest_change is RestChange.REFUSE:
            raise WriteError(
                f"the rest pose has changed since the motions were imported ({', '.join(changed[:6])})",
                remedy="Choose whether to keep the game's pose or the offsets (option Edited Rest Pose)",
                option="rest_change",
            )
        if self._options.rest_change is RestChange.OFFSETS:
            return self._now, set(changed)
        return rest_then(file, self._now), set()

    def _fill(self, clip: CurveClip, action: Any, base: SkeletalMotion | None) -> None:
        """Give ``clip`` the tracks that are not what ``base`` says."""
        rest, moved = self._rest_for(action)
        frame = base.frame if base is not None else 1.0 / clip.fps
        known = _Kept.of(action, base, self._bones_then(action)) if base is not None else None
        modes = self._shown.modes(action, order_of(action))
        tracked = [rest.bones[place] for place in known.numbers] if known is not None else None
        reasons = self._sampler.reach.of(action, tracked)
        reached = {bone for bones in reasons.values() for bone in bones}
        keys = self._reader.read(action, modes)
        self._warn(action, keys, tracked, reached)
        tracks = self._keyed_tracks(keys, rest, moved, frame, known, reached=reached)
        if reached:
            self._note(reasons)
            frames = clip.first, max(clip.last - clip.first, 0) + 1
            rows, sampled = self._sampler.clip(action, rest, 1.0 / frame, reached, modes=modes, frames=frames)
            shown = known.shown([row for row in rows if row in known.numbers]) if known is not None else {}
            tracks |= self._sampled_tracks(sampled, rows, clip.first, frame, shown)
        for place, channels in sorted(tracks.items(), key=lambda track: track[0]):
            clip.bones.append(self._labels[place])
            clip.tracks.append(channels)

    def _note(self, reasons: Iterable[str]) -> None:
        """Say once why something is sampled."""
        text = f"sampled frame by frame because of {', '.join(reasons)}"
        if text not in self._reasons:
            self._reasons.add(text)
            self._report.note(text, self._rig.name)

    def _warn(self, action: Any, found: pose.PoseKeys, tracked: list[str] | None, reached: set[str]) -> None:
        """``tracked``: the bones that the file has tracks of, None for a new motion; ``reached``: those sampled."""
        for path in found.left_out:
            if not (reached and is_of_a_rig(path)):
                self._report.warn("the game cannot store these curves; left out", f"{action.name}: {path}")
        warn_of_other_kinds([bone for bone in found.other_kinds if bone not in reached], action, self._report)
        muted = [bone for bone in found.muted if bone not in reached]
        if muted:
            warn_of_muted(muted, action, self._report, in_file=tracked is not None)
        if reached:
            tracked = [bone for bone in tracked or self._now.bones if bone not in reached]
        self._shown.warn_of_pose(action, found.modes, tracked)

    def _keyed_tracks(
        self, found: pose.PoseKeys, rest: Rest, moved: set[str], frame: float, kept: _Kept | None, *, reached: set[str]
    ) -> dict[int, Channels]:
        known = kept.numbers if kept is not None else {}
        there = set(found.bones)
        touched = [
            place
            for place, bone in enumerate(rest.bones)
            if bone not in reached
            and (place in known or bone in there)
            and not (kept is not None and self._is_as_built(place, bone, found, kept, moved))
        ]
        shown = kept.shown([place for place in touched if place in known]) if kept is not None else {}
        tracks: dict[int, Channels] = {}
        for place in touched:
            bone, then = rest.bones[place], shown.get(place)
            now = found.curves(bone, 1.0 / frame, self._options.tolerance)
            mode, muted = found.modes[bone], found.muted.get(bone, ())
            base = then if bone not in moved else None
            same_turn = base is not None and self._same_turn(base, now, mode, frame)
            same_place = base is not None and same(now.location, base.pose.location, frame)
            if then is not None:
                same_turn, same_place = same_turn or "rotation" in muted, same_place or "location" in muted
            if same_turn and same_place:
                continue
            channels = to_file(now, mode, rest, place, frame=frame, tolerance=self._options.tolerance, base=then)
            if then is not None:
                channels = Channels(
                    then.channels.location if same_place else channels.location,
                    then.channels.rotation if same_turn else channels.rotation,
                )
            tracks[place] = channels
        return tracks

    def _is_as_built(self, place: int, bone: str, found: pose.PoseKeys, kept: _Kept, moved: set[str]) -> bool:
        """Whether a bone's F-curves are to the bit those it was given, and still turn it in the same way."""
        if bone in moved or place not in kept.numbers or found.digest(bone) != kept.digest(place):
            return False
        return not found.rotates(bone) or found.modes[bone] == kept.showing.mode

    def _same_turn(self, then: Shown, now: pose.BoneCurves, mode: str, frame: float) -> bool:
        if now.rotation is not None and mode != Showing(then.pose.channel == pose.QUATERNION, (0.0, 0.0)).mode:
            return False
        return same(now.rotation, then.pose.rotation, frame)

    def _sampled_tracks(
        self, clip: Clip, rows: Sequence[int], first: int, frame: float, shown: Mapping[int, Shown]
    ) -> dict[int, Channels]:
        """Curves through evaluated poses, of bones that are elsewhere than the file has them on any frame.

        ``rows``: which bone each track of ``clip`` is.
        """
        times = np.arange(first, first + clip.frames, dtype=np.float64) * frame
        metres, radians = self._options.tolerance
        tracks = {}
        for place, turns, places in zip(rows, clip.rotations, clip.translations, strict=True):
            then = shown.get(place)
            if then is not None and _stands_as(then, times, turns, places, (metres, radians)):
                continue
            angles = rotation.euler_zxy(rotation.matrices(turns))
            tracks[place] = Channels(
                [straightened(fitted(times, places[:, axis], metres), metres) for axis in range(3)],
                [straightened(fitted(times, angles[:, axis], radians), radians) for axis in range(3)],
            )
        return tracks


def _stands_as(then: Shown, times: Floats, turns: Floats, places: Floats, tolerance: tuple[float, float]) -> bool:
    """Whether a bone is where the file's channels have it, at all ``times``."""
    location, angles = then.values_at(times)
    turned = rotation.angles_between(rotation.of_mode(angles, "ZXY"), turns)
    return bool(np.abs(location - places).max() <= tolerance[0] and turned.max() <= tolerance[1])
