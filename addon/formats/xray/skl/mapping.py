"""The editor's motions as curves for each bone, and back.

A track is the bone's whole parent-local transform, ``setXYZi`` of P, H, B: in column form Ry(H)·Rx(P)·Rz(B). Mirrored
along z on both sides (`core.space`) that is Ry(-H)·Rx(-P)·Rz(B), Blender's Euler order ZXY with x = -P, y = -H, z = B.

Bones that a motion lacks are given their rest pose as one key. The editor puts the rest rotation about x into H and
that about y into P there, which turns such bones round; here each goes where it belongs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import names, space
from ....core.changes import Changes, Item, Part
from ....core.envelope import Envelope, Shape
from ....core.errors import WriteError
from ....core.finite import as_in_file
from ....core.model import Channels, CurveClip, Skeleton
from ....core.report import Report
from ....core.text import counted
from ..channels import BONE, NAMES, decode_channels, encode_channels
from ..envelopes import StoredEnvelope, stored
from ..marks import decode_marks, encode_marks
from .document import (
    ALL_PARTS,
    FX,
    MARKS_SINCE,
    NAMED_SINCE,
    PACKED_SINCE,
    STOP_AT_END,
    VERSIONS,
    BoneTrack,
    SkeletalMotion,
    Skl,
    new_skls,
)


def bone_names(motion: SkeletalMotion, bones: Sequence[str] = ()) -> list[str]:
    """The bone of each track; version 4 has no names, there a skeleton's are taken in order."""
    return [
        names.decode(track.name)
        if track.name is not None
        else bones[number]
        if number < len(bones)
        else f"bone_{number}"
        for number, track in enumerate(motion.tracks)
    ]


def decode(document: Skl, report: Report, bones: Sequence[str] = ()) -> list[CurveClip]:
    """Every motion as curves in Blender's axes; ``bones`` of the skeleton, for versions without names."""
    return [decode_motion(motion, report, bones) for motion in document.motions]


def decode_motion(motion: SkeletalMotion, report: Report, bones: Sequence[str] = ()) -> CurveClip:
    """One motion as curves in Blender's axes."""
    labels = bone_names(motion, bones)
    if motion.version < NAMED_SINCE and len(labels) != len(bones):
        report.warn(
            f"{counted(len(labels), 'track')} without names of bones; the skeleton has {counted(len(bones), 'bone')}",
            motion.label,
        )
    tracks = []
    for label, track in zip(labels, motion.tracks, strict=True):
        if track.flags & 1:
            report.warn("a bone is rotated in world space, but shown relative to its parent; kept", label)
        curves = decode_channels(track.envelopes, BONE, motion.frame, f"{label} ", report)
        tracks.append(Channels(curves[:3], curves[3:]))
    return CurveClip(
        motion.label,
        labels,
        tracks,
        1.0 / motion.frame,
        motion.first,
        motion.last,
        markers=decode_marks(motion.marks),
    )


def encode(
    clips: Sequence[CurveClip],
    base: Skl | None = None,
    *,
    skeleton: Skeleton | None = None,
    version: int | None = None,
) -> tuple[Skl, Changes]:
    """``base`` with each clip put in the place of the motion of its name, or added behind the last; and what changed.

    Without ``base`` a new `.skls`. ``version`` of new motions: 6, or 7 where they have marks. Bones of ``skeleton``
    that a new motion lacks stand in its rest pose. Raises `WriteError`.
    """
    motions = list(base.motions) if base is not None else []
    places: dict[str, list[int]] = {}
    for place, motion in enumerate(motions):
        places.setdefault(motion.label.lower(), []).append(place)
    changes = Changes(noun="motion", items="channel")
    for clip in clips:
        free = places.get(clip.name.lower())
        if free:
            place = free.pop(0)
            motions[place], change = edited(clip, motions[place], skeleton)
            if change is not None:
                changes.parts.append(change)
            continue
        made, change = new_motion(clip, skeleton, version)
        motions.append(made)
        changes.parts.append(change)
    if base is not None and base.sections is not None and len(motions) != 1:
        raise WriteError(f"a .skl file stores one motion, not {len(motions)}", remedy="Write a .skls")
    changes.unchanged = len(motions) - len(changes.parts)
    if base is None:
        return new_skls(motions), changes
    return (base.with_motions(motions) if changes.parts else base), changes


def edited(clip: CurveClip, base: SkeletalMotion, skeleton: Skeleton | None) -> tuple[SkeletalMotion, Part | None]:
    """A motion of the file with a clip in it; the very same object where nothing changed. Raises `WriteError`."""
    labels = bone_names(base, skeleton.bones if skeleton is not None else ())
    given = {bone.lower(): track for bone, track in zip(clip.bones, clip.tracks, strict=True)}
    tracks = []
    changed: list[Item] = []
    for label, old in zip(labels, base.tracks, strict=True):
        curves = given.pop(label.lower(), None)
        if curves is None:
            tracks.append(old)
            continue
        envelopes, differing = encode_channels(
            list(curves), old.envelopes, BONE, base.frame, f"{label} ", to_packed=base.version >= PACKED_SINCE
        )
        changed += differing
        tracks.append(BoneTrack(old.name, old.flags, envelopes) if differing else old)
    fields = []
    for bone, curves in zip(clip.bones, clip.tracks, strict=True):
        if bone.lower() in given:
            if base.version < NAMED_SINCE:
                raise WriteError(f"bone {bone!r} is not in the motion", file=base.label)
            tracks.append(_new_track(bone, curves, base.frame, base.version)[0])
            fields.append(f"bone {bone}")
    marks = encode_marks(clip.markers, base.marks)
    if len(marks) != len(base.marks) or any(one is not other for one, other in zip(marks, base.marks, strict=True)):
        if base.version < MARKS_SINCE:
            raise WriteError(
                f"the motion is of version {base.version}, which has no marks",
                file=base.label,
                remedy="Delete its marks, or write it as a new motion",
            )
        fields.append("marks")
    fps = base.fps
    if (clip.first, clip.last) != (base.first, base.last):
        fields.append("frames")
    if np.float32(clip.fps) not in (base.fps, np.float32(1.0 / base.frame)):
        fps = _rate(clip)
        fields.append("fps")
    if not changed and not fields:
        return base, None
    result = replace(base, first=clip.first, last=clip.last, fps=fps, tracks=tracks, marks=marks)
    return result, Part(clip.name, "motion", items=tuple(changed), fields=tuple(fields))


@dataclass(frozen=True)
class Playing:
    """How the game plays a motion. ``bone_or_part`` as far as 16 bits hold it; ``timing`` as `TIMING` names it."""

    name: str
    flags: int
    bone_or_part: int
    timing: NDArray[np.float32]


def with_playing(motion: SkeletalMotion, playing: Playing) -> tuple[SkeletalMotion, tuple[str, ...]]:
    """The motion played as told, itself where that is what it says; and what differs. Raises `WriteError`."""
    changed: dict[str, Any] = {}
    if playing.name != motion.label:
        changed["name"] = names.encode(playing.name)
    if playing.flags != motion.flags:
        most = FX | STOP_AT_END if motion.version == 4 else 0xFFFF_FFFF if motion.version == 5 else 0xFF
        if playing.flags & ~most:
            raise WriteError(f"version {motion.version} has no such flags", file=motion.label, remedy="Clear them")
        changed["flags"] = playing.flags
        if motion.switches is not None:
            changed["switches"] = (int(bool(playing.flags & FX)), int(bool(playing.flags & STOP_AT_END)))
    if playing.bone_or_part != min(motion.bone_or_part, ALL_PARTS):
        whole = 0xFFFF_FFFF if motion.version < PACKED_SINCE else ALL_PARTS
        changed["bone_or_part"] = whole if playing.bone_or_part == ALL_PARTS else playing.bone_or_part
    timing = as_in_file(playing.timing, motion.timing)
    if timing.tobytes() != motion.timing.tobytes():
        changed["timing"] = timing
    shown = tuple(name.replace("_", " ") for name in changed if name != "switches")
    return (replace(motion, **changed), shown) if changed else (motion, ())


def _rate(clip: CurveClip) -> np.float32:
    if not (np.isfinite(clip.fps) and clip.fps >= 1e-3):
        raise WriteError(f"a frame rate of {clip.fps} cannot be written", file=clip.name)
    return np.float32(clip.fps)


def new_motion(
    clip: CurveClip, skeleton: Skeleton | None = None, version: int | None = None
) -> tuple[SkeletalMotion, Part]:
    """A motion that is in no file yet, and what storing it costs; ``version`` 6, or 7 with marks, where None is asked.

    Raises `WriteError`.
    """
    version = version or (MARKS_SINCE if clip.markers else PACKED_SINCE)
    if version not in VERSIONS or version < NAMED_SINCE:
        raise WriteError(f"new motions of version {version} are not written", remedy="Known: 5, 6, 7")
    if clip.markers and version < MARKS_SINCE:
        raise WriteError(f"version {version} has no marks", file=clip.name, remedy="Write version 7")
    fps = _rate(clip)
    given = {bone.lower(): track for bone, track in zip(clip.bones, clip.tracks, strict=True)}
    tracks: list[BoneTrack] = []
    channels: list[Item] = []

    def add(bone: str, curves: Channels) -> None:
        track, changed = _new_track(bone, curves, 1.0 / float(fps), version)
        tracks.append(track)
        channels.extend(changed)

    for number, bone in enumerate(skeleton.bones if skeleton is not None else ()):
        curves = given.pop(bone.lower(), None)
        if curves is not None:
            add(bone, curves)
        elif skeleton is not None:
            tracks.append(still_track(skeleton, number, version))
    for bone, curves in zip(clip.bones, clip.tracks, strict=True):
        if bone.lower() in given:
            add(bone, curves)
    made = SkeletalMotion(
        names.encode(clip.name),
        clip.first,
        clip.last,
        fps,
        version,
        0,
        ALL_PARTS,
        np.array([1.0, 2.0, 2.0, 1.0], "<f4"),
        tracks,
        encode_marks(clip.markers, []),
    )
    return made, Part(clip.name, "motion", new=True, items=tuple(channels))


def _new_track(bone: str, curves: Channels, frame: float, version: int) -> tuple[BoneTrack, list[Item]]:
    packed = version >= PACKED_SINCE
    envelopes, changed = encode_channels(list(curves), None, BONE, frame, f"{bone} ", to_packed=packed)
    return BoneTrack(names.encode(bone.lower()), 0, envelopes), changed


def still_track(skeleton: Skeleton, bone: int, version: int = PACKED_SINCE) -> BoneTrack:
    """A bone that stands in its rest pose, one key a channel: x to P, y to H, z to B."""
    x, y, z = space.xray_bone_angles_back(skeleton.rest_rotation[bone])
    offset = space.xray_bone_translations(skeleton.rest_translation[bone])
    values = dict(zip(NAMES, (*offset, y, x, z), strict=True))
    return BoneTrack(names.encode(skeleton.bones[bone].lower()), 0, [_one_key(values[name], version) for name in NAMES])


def _one_key(value: float, version: int) -> StoredEnvelope:
    key = Envelope.of(np.zeros(1), np.array([value]), np.array([Shape.STEPPED], np.uint8))
    return stored(key, to_packed=version >= PACKED_SINCE)
