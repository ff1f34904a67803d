"""Motions of X-Ray onto a rig: read, decode, build, count."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, Self

import bpy

from ....blender import action as actions
from ....blender import action_lists, compat, renamed_bones, rotation_modes
from ....blender.armature import Rest, rest_of
from ....blender.failure import rows_removed_on_failure
from ....blender.record import keep
from ....blender.shown import shortened
from ....core import files, space
from ....core.errors import ReadError
from ....core.report import Report
from ....core.text import of_file_are
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
    track_bones,
)
from ....formats.xray.omf.mapping import decode_motion
from ....formats.xray.omf.tracks import refuse_overlong
from ..bones.properties import bones_in_order, game_name
from . import files as motion_files
from . import marks
from .files import LISTS
from .unedited import Unedited


@dataclass(frozen=True)
class MotionImportOptions:
    """``motions`` by name, None for all; where the first key goes; whether saving keeps actions nobody plays."""

    motions: Collection[str] | None = None
    first_frame: int = 0
    fake_user: bool = True
    assign_first: bool = True
    stash: bool = False
    resample: bool = False
    """Spread the keys over the scene's frame rate, so that motions last as long as in the game without changing it."""


@dataclass
class MotionImport:
    """What came of it: the new ``actions``, the file kept on the rig, and ``missing`` bones (the file's names)."""

    actions: list[Any] = field(default_factory=list)
    file: Any = None
    missing: list[str] = field(default_factory=list)


def read_motions(path: str, report: Report) -> tuple[Omf, str, bool]:
    """A motion file or the motions inside a model, the digest of the file, and whether it is a model."""
    data = files.read_file(path)
    digest = hashlib.sha256(data).hexdigest()
    if not path.lower().endswith(".ogf"):
        return omf.read(data, path, report), digest, False
    model = ogf.read(data, path, report)
    inside = motion_set_of(model)
    if inside is None:
        raise ReadError(
            "this model has no motions inside", file=path, remedy="Import the motion files (.omf) its references name"
        )
    return omf.new_omf(inside), digest, True


def list_motions(path: str) -> list[tuple[str, int]]:
    """Name and frames of every motion of a file, without importing anything."""
    document, _, _ = read_motions(path, Report())
    definitions = document.motion_set.parameters.definitions
    return [
        (_label(motion, definitions, place), motion.frames)
        for place, motion in enumerate(document.motion_set.library.motions)
    ]


def _label(motion: Motion, definitions: list[Definition], place: int) -> str:
    return definitions[place].label if place < len(definitions) else motion.label


def import_motions(
    context: Any,
    rig: Any,
    path: str,
    *,
    options: MotionImportOptions,
    report: Report,
    progress: Callable[[int], None] = lambda _: None,
) -> MotionImport:
    """One action for each motion of the file at ``path``, on the armature object ``rig``.

    Raises `ReadError` for a file that is none, of which no bone is in the armature, or where a chosen motion claims
    more frames than its bytes bear, or all of them have no tracks.
    """
    with rows_removed_on_failure(rig, "motionbridge_motion_files"):
        return _import(context, rig, path, options=options, report=report, progress=progress)


def _import(
    context: Any, rig: Any, path: str, *, options: MotionImportOptions, report: Report, progress: Callable[[int], None]
) -> MotionImport:
    document, digest, embedded = read_motions(path, report)
    motions, parameters = document.motion_set.library.motions, document.motion_set.parameters
    chosen = _with_tracks(document, _chosen(document, options, path), path, report)
    refuse_overlong([motions[place] for place in chosen], path)
    result = MotionImport()
    renamed_bones.remember(rig.data)
    with Builders(rig, rest_of(rig, space.XRAY_ROOT_FRAME), parameters, path, report) as builders:
        for place in chosen:  # refuses before anything is made
            builders.for_motion(motions[place])
        result.file = motion_files.attach(rig, document, path, digest, embedded=embedded)
        unedited = Unedited(rig, result.file)
        for done, place in enumerate(chosen):
            definition = parameters.definitions[place] if place < len(parameters.definitions) else None
            action = builders.build(motions[place], definition, options)
            describe(action, motions[place], definition, place, result.file)
            action_lists.add(result.file, action, place, LISTS)
            unedited.remember(action, unedited.digest(action, place, builders.digest))
            result.actions.append(action)
            progress(done + 1)
        result.missing = builders.missing()
    if result.missing:
        report.warn(
            f"{of_file_are(len(result.missing), 'bone')} not in the armature; their keys are kept and written back",
            ", ".join(result.missing),
        )
    if options.assign_first and result.actions:
        _warn_of_stopped(rig, report)
        actions.play(context, rig, result.actions[0])
    if options.stash:
        actions.stash(rig, result.actions)
    rig.motionbridge_motion_file = len(rig.motionbridge_motion_files) - 1
    return result


def _warn_of_stopped(rig: Any, report: Report) -> None:
    """Say which of the user's actions do not play while bones rotate by quaternions, as the motions need."""
    stopped = [
        action
        for action in rotation_modes.actions_stopped(rig, list(rig.pose.bones.keys()), "quaternion")
        if not action.motionbridge_skeletal.is_skeletal
    ]
    if stopped:
        report.warn(
            "bones rotate by quaternions from now on, so actions with keys of Euler angles or axis-angle do not play; "
            "assign such an action and choose Restore Rotation Modes",
            shortened([action.name for action in stopped]),
        )


def _chosen(document: Omf, options: MotionImportOptions, path: str) -> list[int]:
    motions, definitions = document.motion_set.library.motions, document.motion_set.parameters.definitions
    labels = [_label(motion, definitions, place).lower() for place, motion in enumerate(motions)]
    if options.motions is None:
        return list(range(len(motions)))
    wanted = {name.lower() for name in options.motions}
    unknown = sorted(wanted - set(labels))
    if unknown:
        raise ReadError(f"there is no motion named {unknown[0]!r}", file=path, remedy="Choose from the list of motions")
    return [place for place, label in enumerate(labels) if label in wanted]


def _with_tracks(document: Omf, chosen: list[int], path: str, report: Report) -> list[int]:
    """Those of the motions that move something. Raises `ReadError` where none does."""
    motions, definitions = document.motion_set.library.motions, document.motion_set.parameters.definitions
    empty = [place for place in chosen if not motions[place].track_count]
    if empty and len(empty) == len(chosen):
        label = _label(motions[empty[0]], definitions, empty[0])
        problem = f"the motion {label!r} has no tracks: it moves no bone"
        raise ReadError(problem, file=path, remedy="Choose other motions, or another file")
    for place in empty:
        report.warn("a motion without tracks moves nothing; left out", _label(motions[place], definitions, place))
    return [place for place in chosen if motions[place].track_count]


class Builders:
    """Makers of actions by number of tracks: one for a healthy file, more where motions disagree about the bones."""

    def __init__(self, rig: Any, rest: Rest, parameters: Parameters, path: str, report: Report) -> None:
        self._rest = rest
        self._places = bone_places(rig, self._rest)
        self._rig, self._parameters, self._path, self._report = rig, parameters, path, report
        self._slot_name = compat.slot_name(rig)
        self._step = actions.frames_per_second(bpy.context.scene) / FRAMES_PER_SECOND
        self._made: dict[int, tuple[actions.ClipWriter, list[str], list[int]]] = {}
        self.digest = b""
        """`bone_curves.digest_of` the action that was built last."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for made in self._made.values():
            made[0].close()

    def for_motion(self, motion: Motion) -> tuple[actions.ClipWriter, list[str], list[int]]:
        count = motion.track_count
        if count not in self._made:
            bones = track_bones(self._parameters, count, self._report, bones_in_order(self._rig))
            tracks = [track for track, bone in enumerate(bones) if bone.lower() in self._places]
            if bones and not tracks:
                raise ReadError(
                    f"none of the {len(bones)} bones of the file is in the armature {self._rig.name!r}",
                    file=self._path,
                    remedy="Select the armature these motions belong to",
                )
            places = [self._places[bones[track].lower()] for track in tracks]
            self._made[count] = (actions.ClipWriter(self._rest, places, self._slot_name), bones, tracks)
        return self._made[count]

    def build(self, motion: Motion, definition: Definition | None, options: MotionImportOptions) -> Any:
        writer, bones, tracks = self.for_motion(motion)
        clip = decode_motion(motion, bones, definition)
        step = self._step if options.resample else 1.0
        action = writer.build(clip, tracks, options.first_frame, step)
        self.digest = writer.digest
        action.motionbridge_motion.frame_step = step
        action.use_fake_user = options.fake_user
        marks.store(action, clip.markers)
        return action

    def rebuild(self, action: Any, motion: Motion, definition: Definition | None) -> None:
        """The keys and marks of ``motion`` on an action that has others."""
        writer, bones, tracks = self.for_motion(motion)
        clip = decode_motion(motion, bones, definition)
        step = action.motionbridge_motion.frame_step
        writer.rebuild(action, clip, tracks, actions.frame_range(action, step)[0], step)
        marks.store(action, clip.markers)

    def missing(self) -> list[str]:
        named = dict.fromkeys(bone for _, bones, _ in self._made.values() for bone in bones)
        return [bone for bone in named if bone.lower() not in self._places]


def describe(action: Any, motion: Motion, definition: Definition | None, place: int, file: Any) -> None:
    """Show on the action how the game plays it, and keep its bytes."""
    properties = action.motionbridge_motion
    properties.is_motion = True
    properties.file, properties.place, properties.order = file.name, place, place
    properties.status = "UNTOUCHED"
    properties.motion_name = properties.imported_name = definition.label if definition else motion.label
    keep(properties, "body", write_motion(motion))
    if definition is None:
        return
    motion_files.set_flags(properties, definition.flags)
    properties.bone_or_part = definition.bone_or_part
    for name, value in zip(TIMING, definition.timing.tolist(), strict=True):
        setattr(properties, name, value)
    action.use_cyclic = not definition.flags & MotionFlag.STOP_AT_END


def bone_places(rig: Any, rest: Rest) -> dict[str, int]:
    """The place in ``rest`` of each bone by the game's name in lower case, or Blender's where the game's is unknown.

    Armatures of other importers have Blender's names only.
    """
    places: dict[str, int] = {}
    for place, bone in enumerate(rest.bones):
        places.setdefault(game_name(rig.data.bones[bone]).lower(), place)
    return places
