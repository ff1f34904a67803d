"""The editor's motions (`.skl`, `.skls`) onto a rig: read, show each track on its bone, count."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ....blender import action as actions
from ....blender import action_lists, compat, pose, renamed_bones
from ....blender.action_lists import Kind
from ....blender.armature import Rest, rest_of
from ....blender.failure import rows_removed_on_failure
from ....blender.record import keep, kept
from ....blender.rotation_modes import set_mode
from ....core import files, names, space
from ....core.binary import Reader, Writer
from ....core.errors import ReadError
from ....core.report import Report
from ....core.text import of_file_are
from ....formats.xray import skl
from ....formats.xray.marks import decode_marks
from ....formats.xray.omf.document import FRAMES_PER_SECOND
from ....formats.xray.skl.codec import read_motion, write_motion
from ....formats.xray.skl.document import ALL_PARTS, TIMING, SkeletalMotion, Skl
from ....formats.xray.skl.mapping import bone_names
from ..bones.properties import bones_in_order
from . import files as motion_files
from . import marks
from .importing import bone_places
from .skeletal_pose import Showing, ShownTracks, odd_behaviours, show_all

ORDER = "ZXY"
"""The order of the editor's angles."""
FARTHEST = 1_048_574
"""The last frame that Blender has."""
KEYS_TOGETHER = 30_000
"""Keys of motions that are looked at in one go; it takes a hundredth of a second and 10 MB."""


class Rotation(Enum):
    """What imported bones are turned by."""

    AUTOMATIC = "automatic"
    """Quaternions where other actions turn the armature by them, else angles."""
    EULER = "euler"
    QUATERNION = "quaternion"


@dataclass(frozen=True)
class SkeletalImportOptions:
    """``motions`` by name, None for all; ``tolerance`` (metres, radians) of what has to be fitted."""

    motions: Collection[str] | None = None
    rotation: Rotation = Rotation.AUTOMATIC
    tolerance: tuple[float, float] = (1e-4, float(np.radians(0.01)))
    fake_user: bool = True
    assign_first: bool = True
    stash: bool = False


@dataclass
class SkeletalImport:
    """The new ``actions``, how many tracks have the file's keys and how many are fitted, bones that are ``missing``."""

    actions: list[Any] = field(default_factory=list)
    kept_exactly: int = 0
    fitted: int = 0
    missing: list[str] = field(default_factory=list)


def list_motions(path: str) -> list[tuple[str, int]]:
    """Name and frames of every motion of a file, without importing anything."""
    document = skl.read(files.read_file(path), path, Report())
    return [(motion.label, max(motion.last - motion.first, 0) + 1) for motion in document.motions]


def import_skeletal(
    context: Any,
    rig: Any,
    path: str,
    *,
    options: SkeletalImportOptions,
    report: Report,
    progress: Callable[[int], None] = lambda _: None,
) -> SkeletalImport:
    """One action for each motion of the file at ``path``, on the armature object ``rig``.

    Raises `ReadError` for a file that is none, or of which no bone is in the armature.
    """
    with rows_removed_on_failure(rig, "motionbridge_skeletal_files"):
        return _import(context, rig, path, options=options, report=report, progress=progress)


def _import(
    context: Any,
    rig: Any,
    path: str,
    *,
    options: SkeletalImportOptions,
    report: Report,
    progress: Callable[[int], None],
) -> SkeletalImport:
    data = files.read_file(path)
    document = skl.read(data, path, report)
    chosen = _chosen(document, options, path)
    renamed_bones.remember(rig.data)
    bones = bones_of(rig, rest_of(rig, space.XRAY_ROOT_FRAME))
    _refuse_strangers([document.motions[place] for place in chosen], bones, rig, path)
    showing = _showing(rig, options, report)
    if reasons := actions.why_sampled(rig):
        report.warn(f"the armature has {', '.join(reasons)}: the game plays more than is shown", rig.name)
    result = SkeletalImport()
    file = attach(rig, document, path)
    file.sha256 = hashlib.sha256(data).hexdigest()
    missing: dict[str, None] = {}
    with pose.PoseWriter(compat.slot_name(rig)) as writer:
        for place, shown, numbers in _shown(document, chosen, bones, showing, report):
            motion = document.motions[place]
            missing |= dict.fromkeys(
                bone for bone in bone_names(motion, bones.order) if bone.lower() not in bones.places
            )
            action = _build(writer, motion, shown, numbers, bones=bones.rest.bones, showing=showing)
            action.use_fake_user = options.fake_user
            describe(action, motion, place, file)
            action_lists.add(file, action, place, LISTS)
            marks.store(action, decode_marks(motion.marks))
            _set_modes(rig, [bones.rest.bones[bone] for bone in shown], showing)
            result.actions.append(action)
            result.kept_exactly += action.motionbridge_skeletal.kept_exactly
            result.fitted += action.motionbridge_skeletal.fitted
            progress(len(result.actions))
    result.missing = list(missing)
    if missing:
        report.warn(
            f"{of_file_are(len(missing), 'bone')} not in the armature; their keys are kept and written back",
            ", ".join(missing),
        )
    if result.fitted:
        report.note(
            f"{result.kept_exactly} tracks have the file's curves, {result.fitted} are fitted within "
            f"{1000 * options.tolerance[0]:g} mm and {np.degrees(options.tolerance[1]):.3g}° for the bones' rest pose",
            Path(path).name,
        )
    if options.assign_first:
        play(context, rig, result.actions[0])
    if options.stash:
        actions.stash(rig, result.actions)
    return result


def _chosen(document: Skl, options: SkeletalImportOptions, path: str) -> list[int]:
    labels = [motion.label.lower() for motion in document.motions]
    wanted = set(labels) if options.motions is None else {name.lower() for name in options.motions}
    unknown = sorted(wanted - set(labels))
    if unknown:
        raise ReadError(f"there is no motion named {unknown[0]!r}", file=path, remedy="Choose from the list of motions")
    chosen = [place for place, label in enumerate(labels) if label in wanted]
    if not chosen:
        raise ReadError("there are no motions in this file", file=path, remedy="Choose another file")
    return chosen


def _refuse_strangers(motions: list[SkeletalMotion], bones: Bones, rig: Any, path: str) -> None:
    named = {bone.lower() for motion in motions for bone in bone_names(motion, bones.order)}
    if named and not named & bones.places.keys():
        raise ReadError(
            f"none of the {len(named)} bones of the file is in the armature {rig.name!r}",
            file=path,
            remedy="Select the armature these motions belong to",
        )


def _showing(rig: Any, options: SkeletalImportOptions, report: Report) -> Showing:
    others = pose.actions_turning(rig, pose.QUATERNION)
    quaternions = options.rotation is Rotation.QUATERNION or (options.rotation is Rotation.AUTOMATIC and bool(others))
    if quaternions and options.rotation is Rotation.AUTOMATIC:
        report.note("bones use quaternions, as in the other actions of this armature", rig.name)
    elif not quaternions and others:
        report.warn(
            f"bones now use Euler angles; {len(others)} actions with quaternion keys no longer play "
            "(import with quaternions to keep both)",
            rig.name,
        )
    # The numbers as a property holds them, for the same fits when the action is compared.
    metres, radians = (float(np.float32(value)) for value in options.tolerance)
    return Showing(quaternions, (metres, radians))


@dataclass(frozen=True)
class Bones:
    """The bones of a rig: their ``rest`` pose, the ``places`` in it by the game's names in lower case, and the game's
    names in the game's ``order``, for motions that name no bones.
    """

    rest: Rest
    places: dict[str, int]
    order: list[str]


def bones_of(rig: Any, rest: Rest) -> Bones:
    """The bones of ``rig``, standing as ``rest`` says."""
    return Bones(rest, bone_places(rig, rest), bones_in_order(rig))


def tracks_on(motion: SkeletalMotion, bones: Bones, report: Report) -> dict[int, int]:
    """Which track of a motion moves which bone of a rig, by place in ``rest``; of two for a bone the first."""
    result: dict[int, int] = {}
    odd = []
    for number, (label, track) in enumerate(zip(bone_names(motion, bones.order), motion.tracks, strict=True)):
        place = bones.places.get(label.lower())
        if place is None:
            continue
        if place in result:
            report.warn("a bone occurs twice: the first is shown, the second is kept", f"{motion.label} {label}")
            continue
        if track.flags & 1:
            report.warn("a bone is rotated in world space, but shown relative to its parent; kept", label)
        if odd_behaviours(track):
            odd.append(label)
        result[place] = number
    if odd:
        report.warn(
            f"{len(odd)} bones repeat or go on outside their keys, which is shown only where channels carry over as "
            "they are; kept unless edited",
            motion.label,
        )
    return result


def _shown(
    document: Skl, chosen: Sequence[int], bones: Bones, showing: Showing, report: Report
) -> Iterator[tuple[int, ShownTracks, dict[int, int]]]:
    """The chosen motions, what is shown of each, and which of its tracks moves which bone.

    Short ones, frames of one length, are looked at together: what is done to arrays costs little more then.
    """
    block: list[tuple[int, dict[int, int]]] = []
    keys = 0
    for number, place in enumerate(chosen, 1):
        motion = document.motions[place]
        block.append((place, tracks_on(motion, bones, report)))
        keys += sum(len(one.keys) for track in motion.tracks for one in track.envelopes)
        last = number == len(chosen)
        if not last and keys < KEYS_TOGETHER and document.motions[chosen[number]].frame == motion.frame:
            continue
        motions = [
            (document.motions[index], {bone: document.motions[index].tracks[track] for bone, track in numbers.items()})
            for index, numbers in block
        ]
        shown = show_all(motions, bones.rest, showing=showing, report=report)
        for (index, numbers), one in zip(block, shown, strict=True):
            yield index, one, numbers
        block, keys = [], 0


def _build(
    writer: pose.PoseWriter,
    motion: SkeletalMotion,
    shown: ShownTracks,
    numbers: dict[int, int],
    *,
    bones: Sequence[str],
    showing: Showing,
) -> Any:
    """The action of a motion; ``numbers``: the track of each place, ``bones``: Blender's names by places."""
    first, last = (min(max(frame, -FARTHEST), FARTHEST) for frame in (motion.first, motion.last))
    action, digests = writer.build(motion.label or "motion", shown.on_bones(bones), 1.0 / motion.frame, (first, last))
    properties = action.motionbridge_skeletal
    properties.rotation = "QUATERNION" if showing.quaternions else "EULER"
    properties.metres, properties.radians = showing.tolerance
    properties.kept_exactly = sum(map(shown.is_exact, shown))
    properties.fitted = len(shown) - properties.kept_exactly
    by_track = {number: digests[bones[place]] for place, number in numbers.items()}
    keep(properties, "drawn", b"".join(by_track.get(number, pose.NOTHING) for number in range(len(motion.tracks))))
    return action


def describe(action: Any, motion: SkeletalMotion, place: int, file: Any) -> None:
    """Show on the action how the game plays it, and keep its bytes."""
    skeletal = action.motionbridge_skeletal
    skeletal.is_skeletal = True
    skeletal.file, skeletal.place, skeletal.version = file.name, place, motion.version
    skeletal.fps, skeletal.imported_name = 1.0 / motion.frame, motion.label
    skeletal.shown_first, skeletal.shown_last = action.frame_start, action.frame_end
    writer = Writer()
    write_motion(writer, replace(motion, tail=b""))
    keep(skeletal, "body", writer.getvalue())
    played = action.motionbridge_motion
    played.is_motion = True
    played.motion_name = motion.label
    played.frame_step = 1.0 / (motion.frame * FRAMES_PER_SECOND)
    motion_files.set_flags(played, motion.flags)
    played.bone_or_part = min(motion.bone_or_part, ALL_PARTS)
    for name, value in zip(TIMING, motion.timing.tolist(), strict=True):
        setattr(played, name, value)


def _set_modes(rig: Any, names_of_bones: list[str], showing: Showing) -> None:
    mode = "QUATERNION" if showing.quaternions else ORDER
    for bone in map(rig.pose.bones.get, names_of_bones):
        if bone.rotation_mode != mode:
            set_mode(bone, mode)


def _fits(action: Any, file: Any, place: int) -> bool:
    """Whether an action can be what a file had at an index, by its name."""
    motions = document_of(file).motions
    return place < len(motions) and action.motionbridge_skeletal.imported_name == motions[place].label


LISTS = Kind("motionbridge_skeletal_files", "motionbridge_skeletal", _fits)
"""The editor's files of an armature and the actions they list."""


def attach(rig: Any, document: Skl, path: str) -> Any:
    """Keep a file on ``rig``: everything but its motions' keys, which go with their actions, and the rest pose."""
    taken = {file.name for other in _objects() for file in other.motionbridge_skeletal_files}
    file = rig.motionbridge_skeletal_files.add()
    action_lists.start_list(file)
    file.name, file.path = names.distinct(Path(path).name, taken), path
    keep(file, "document", skl.write(document.with_motions([replace(one, tracks=[]) for one in document.motions])))
    motion_files.keep_rest(file, rig)
    return file


def play(context: Any, rig: Any, action: Any) -> None:
    """Make ``rig`` play an action, its bones turned by what the action turns them by."""
    actions.play(context, rig, action, order_of(action))


def order_of(action: Any) -> str:
    """The order of an action's angles where its file tells it, which is that of the editor's motions; else ""."""
    skeletal = action.motionbridge_skeletal
    return ORDER if skeletal.is_skeletal and skeletal.rotation == "EULER" else ""


def _objects() -> Iterable[Any]:
    return bpy.data.objects


def document_of(file: Any) -> Skl:
    """The file as it was read, its motions without tracks."""
    return skl.read(kept(file, "document"), file.path, Report())


def motion_of(action: Any) -> SkeletalMotion | None:
    """The motion as its file had it, or None for an action that came from no such file.

    Raises `ReadError` where the stored bytes are damaged.
    """
    body = kept(action.motionbridge_skeletal, "body")
    if not body:
        return None
    reader = Reader(body, action.name)
    motion = read_motion(reader, Report())
    if reader.remaining:
        raise reader.error("the data kept from its file goes on after its end", "Import the file again")
    return motion
