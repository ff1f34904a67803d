"""Motions as an animator has them: `Motion` and `Definition` <-> `Clip`.

A key is the bone's whole parent-local transform, not a difference from the rest pose. Track i belongs to the bone whose
partition entry carries the number i: neither the listing order nor the model's bone order says so (engine:
``motions_value::load``). Quaternions are stored x, y, z, w; a page of the modders' wiki that puts w first is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import names, quantum, rotation, space
from ....core.errors import WriteError
from ....core.model import Clip, Marker, Skeleton, Space
from ....core.report import Report
from .changes import TrackChange
from .document import FRAMES_PER_SECOND, Definition, Mark, Motion, MotionSet, Parameters, Track, TrackFlag
from .quantise import (
    ROTATION_STEP,
    Rotations,
    Translations,
    Width,
    composed,
    edited_rotations,
    edited_translations,
    float_rotations,
    float_translations,
    new_rotations,
    new_translations,
)

Floats = NDArray[np.float64]

COPIED_FRAMES = 1024
"""Up to here a motion without keys gets a row for each frame; a file may claim four billion frames for nothing."""


def track_bones(parameters: Parameters, tracks: int, report: Report, model_bones: Sequence[str] = ()) -> list[str]:
    """The bone of each track, by partition number; bare numbers and gaps are filled from the model's list by index.

    Where neither knows a bone the track is called ``track_<number>`` and reported.
    """
    bones: list[str | None] = [None] * tracks
    entries = [bone for partition in parameters.partitions for bone in partition.bones]
    for place, bone in enumerate(entries):
        track = place if bone.track is None else bone.track
        if track >= tracks:
            report.warn(f"a partition names track {track}, the motions have {tracks}", _bone_label(bone.name))
        elif bone.name is not None:
            if bones[track] is not None:
                report.warn(f"track {track} is given to two bones; the last one counts", _bone_label(bone.name))
            bones[track] = names.decode(bone.name)
    known = model_bones if len(model_bones) == tracks else ()
    for track, name in enumerate(bones):
        if name is None:
            found = known and known[track] not in bones
            bones[track] = known[track] if found else f"track_{track}"
            report.warn(
                "tracks without a bone's name: "
                + ("taken from the model by number" if found else "nobody knows their bones"),
                f"track {track}",
            )
    return [name or "" for name in bones]


def _bone_label(name: bytes | None) -> str:
    return names.decode(name) if name is not None else ""


def decode(motions: MotionSet, report: Report, model_bones: Sequence[str] = ()) -> list[Clip]:
    """Every motion as a `Clip`, in the engine's order."""
    clips = []
    known: dict[int, list[str]] = {}
    for place, motion in enumerate(motions.library.motions):
        if motion.track_count not in known:
            known[motion.track_count] = track_bones(motions.parameters, motion.track_count, report, model_bones)
        definitions = motions.parameters.definitions
        definition = definitions[place] if place < len(definitions) else None
        clips.append(decode_motion(motion, known[motion.track_count], definition))
    return clips


@dataclass(frozen=True)
class _Tracks:
    """A motion's tracks side by side in Blender's axes, signs as stored, and the steps of their numbers."""

    rotations: Floats
    translations: Floats
    rotation_steps: Floats
    translation_steps: Floats
    rotation_keyed: NDArray[np.bool_]
    translation_keyed: NDArray[np.bool_]


def _side_by_side(motion: Motion) -> _Tracks:
    """Where no track has keys one row stands for all frames: nothing in the file bounds how many those are."""
    count = motion.track_count
    flags = np.array([motion.flags(track) for track in range(count)], np.uint8)
    moves = (flags & (TrackFlag.TRANSLATION_KEYS | TrackFlag.SINGLE_ROTATION)) != TrackFlag.SINGLE_ROTATION
    frames = max(motion.frames, 1) if moves.any() else 1
    rotations, translations = np.empty((count, frames, 4)), np.empty((count, frames, 3))
    rotation_steps, translation_steps = np.full(count, ROTATION_STEP), np.zeros((count, 3))
    for index in range(count):
        track = motion.track(index)
        # A motion without frames (broken files) stands still.
        with np.errstate(invalid="ignore"):  # a signalling NaN of a broken file becomes a quiet one
            rotations[index] = track.rotation if len(track.rotation) else (0, 0, 0, 32767)
            translations[index] = _stored_translations(track).decoded() if len(track.translation) else 0
            if track.size is not None:
                translation_steps[index] = track.size
    floats = (flags & TrackFlag.FLOAT_KEYS) != 0
    rotations *= np.where(floats, 1.0, ROTATION_STEP)[:, None, None]
    rotation_steps[floats] = 0.0
    return _Tracks(
        space.xray_bone_rotations(rotations),
        space.xray_bone_translations(translations),
        rotation_steps,
        translation_steps,
        (flags & TrackFlag.SINGLE_ROTATION) == 0,
        (flags & TrackFlag.TRANSLATION_KEYS) != 0,
    )


def _stored_translations(track: Track) -> Translations:
    return Translations(track.translation, bool(track.flags & TrackFlag.TRANSLATION_KEYS), track.size, track.init)


def _each_frame(rows: Floats, frames: int) -> Floats:
    if rows.shape[1] == frames:
        return rows
    if frames <= COPIED_FRAMES:
        return np.repeat(rows, frames, axis=1)
    return np.broadcast_to(rows, (rows.shape[0], frames, rows.shape[2]))


def decode_motion(motion: Motion, bones: list[str], definition: Definition | None = None) -> Clip:
    """One motion as a `Clip`, parent-local, signs of neighbouring quaternions alike.

    Of a motion without any keys, longer than `COPIED_FRAMES`, the arrays are read-only: each frame is the same row.
    """
    tracks = _side_by_side(motion)
    frames = max(motion.frames, 1)
    return Clip(
        definition.label if definition else motion.label,
        list(bones),
        _each_frame(rotation.continuous(tracks.rotations), frames),
        _each_frame(tracks.translations, frames),
        tracks.rotation_keyed,
        tracks.translation_keyed,
        FRAMES_PER_SECOND,
        Space.PARENT_LOCAL,
        [Marker(mark.label, mark.intervals.astype(np.float64)) for mark in definition.marks] if definition else [],
    )


@dataclass(frozen=True)
class Untouched:
    """What of a clip still means what the base says: ``rotations`` (tracks, frames), ``translations`` (…, 3)."""

    rotations: NDArray[np.bool_]
    translations: NDArray[np.bool_]

    @property
    def tracks(self) -> NDArray[np.bool_]:
        """(tracks,) those of which every number is."""
        return np.logical_and(self.rotations.all(axis=1), self.translations.all(axis=(1, 2)))


def compare(clip: Clip, base: Motion, *, rest: Skeleton | None = None, sampled: bool = False) -> Untouched:
    """The untouched rule over a whole motion; track i of ``clip`` must be track i of ``base``.

    ``rest``: the pose the clip's keys were offsets from. Blender adds offsets to it and turns the sum, so the rounding
    of a number has the size of the whole vector and of the rest offset.

    ``sampled``: the clip was read from evaluated poses, which are normalised and carry Blender's rounding: one step is
    allowed then. Of a clip of another length only tracks that are one value in the base can be untouched.
    """
    old = _side_by_side(base)
    steps = quantum.SAMPLED if sampled else quantum.KEYED
    same_length = clip.frames == max(base.frames, 1)
    shown = slice(None) if same_length else slice(1)
    old_translations = old.translations[:, shown]
    old_rotations = old.rotations[:, shown]
    rotations = quantum.untouched_rotations(
        clip.rotations,
        rotation.normalised(old_rotations) if sampled else old_rotations,
        old.rotation_steps[:, None, None],
        steps=steps,
    )
    translations = quantum.untouched(
        clip.translations,
        old_translations,
        old.translation_steps[:, None],
        steps=steps,
        magnitude=np.maximum(np.abs(old_translations).max(axis=-1, keepdims=True), _magnitudes(clip, rest, sampled)),
    )
    if not same_length:
        rotations &= ~old.rotation_keyed[:, None]
        translations &= ~old.translation_keyed[:, None, None]
    return Untouched(rotations, translations)


def _magnitudes(clip: Clip, rest: Skeleton | None, sampled: bool) -> Floats:
    """(bones, 1, 1) metres: how large the numbers were that a bone's translation was computed from."""
    # A sampled pose went through the whole chain of bones: metres.
    sizes = dict.fromkeys((bone.lower() for bone in clip.bones), 2.0 if sampled else 0.0)
    for bone, offset in zip(rest.bones, rest.rest_translation, strict=True) if rest is not None else ():
        if bone.lower() in sizes:
            sizes[bone.lower()] = max(sizes[bone.lower()], float(np.abs(offset).max()))
    return np.array([sizes[bone.lower()] for bone in clip.bones])[:, None, None]


def encode_motion(
    clip: Clip,
    bones: list[str],
    base: Motion | None = None,
    *,
    rest: Skeleton | None = None,
    width: Width = Width.AUTOMATIC,
    sampled: bool = False,
) -> tuple[Motion, list[TrackChange]]:
    """A motion whose track i moves ``bones[i]``, and what in it differs from ``base``.

    Untouched tracks keep the base's bytes. Bones the clip lacks keep the base's track, else stand still in ``rest``.
    Raises `WriteError` where neither has them.
    """
    ordered = in_order(clip, bones, base, rest)
    name = names.encode(clip.name)
    if base is None or base.track_count != len(bones):
        return Motion.of(name, ordered.frames, _new_tracks(ordered, width)), [
            TrackChange(bone, ordered.frames, ordered.frames) for bone in bones
        ]
    kept = compare(ordered, base, rest=rest, sampled=sampled)
    pieces: list[Any] = []
    changes = []
    untouched = kept.tracks
    for track, bone in enumerate(bones):
        if not untouched[track]:
            pieces.append(_edited_track(ordered, track, base, kept, width))
            changes.append(
                TrackChange(
                    bone,
                    int((~kept.rotations[track]).sum()),
                    int((~kept.translations[track]).any(axis=1).sum()),
                )
            )
        else:
            pieces.append(base.track_bytes(track))
    motion = Motion.of(name, ordered.frames, pieces)
    if not changes and motion.frames == base.frames:
        motion.body = base.body
    return motion, changes


def in_order(clip: Clip, bones: list[str], base: Motion | None, rest: Skeleton | None) -> Clip:
    """The clip with exactly these bones, names compared without case; missing ones filled as `encode_motion` says."""
    places = {bone.lower(): place for place, bone in reversed(list(enumerate(clip.bones)))}
    found = [places.get(bone.lower(), -1) for bone in bones]
    if found == list(range(len(clip.bones))):
        return clip
    missing = [bone for bone, place in zip(bones, found, strict=True) if place < 0]
    filling = _filling(clip, bones, base, rest) if missing else clip
    if filling is None:
        raise WriteError(
            f"the motion {clip.name!r} lacks {len(missing)} bones of the file: {', '.join(missing[:8])}",
            remedy="Give the model's skeleton, so that they stand in its rest pose, or key them",
        )
    index = np.array(found)
    lacking = index < 0
    take = np.where(lacking, 0, index)

    def mixed(ours: NDArray[Any], theirs: NDArray[Any]) -> NDArray[Any]:
        chosen = lacking.reshape(-1, *[1] * (ours.ndim - 1))
        return np.where(chosen, theirs, ours[take]) if missing else ours[take]

    return Clip(
        clip.name,
        list(bones),
        mixed(clip.rotations, filling.rotations),
        mixed(clip.translations, filling.translations),
        mixed(clip.rotation_keyed, filling.rotation_keyed),
        mixed(clip.translation_keyed, filling.translation_keyed),
        clip.fps,
        clip.space,
        clip.markers,
    )


def _filling(clip: Clip, bones: list[str], base: Motion | None, rest: Skeleton | None) -> Clip | None:
    """A clip of all ``bones`` as long as ``clip``: the base's tracks where it is as long, else the rest pose."""
    still = np.zeros(len(bones), np.bool_)
    if base is not None and base.track_count == len(bones) and base.frames == clip.frames:
        return decode_motion(base, bones)
    if rest is None:
        return None
    places = {bone.lower(): place for place, bone in enumerate(rest.bones)}
    index = [places.get(bone.lower(), -1) for bone in bones]
    if any(
        place < 0 and bone.lower() not in (b.lower() for b in clip.bones)
        for place, bone in zip(index, bones, strict=True)
    ):
        return None
    rotations = np.repeat(rest.rest_rotation[index][:, None], clip.frames, axis=1)
    translations = np.repeat(rest.rest_translation[index][:, None], clip.frames, axis=1)
    return Clip(clip.name, list(bones), rotations, translations, still, still, clip.fps, clip.space)


def _stored(clip: Clip, track: int) -> tuple[Floats, Floats]:
    """A track's rows in the file's axes: (frames, 4) x, y, z, w and (frames, 3)."""
    return (
        space.xray_bone_rotations_back(clip.rotations[track]),
        space.xray_bone_translations(clip.translations[track]),
    )


def _new_tracks(clip: Clip, width: Width) -> list[Track]:
    tracks = []
    for track in range(len(clip.bones)):
        quaternions, metres = _stored(clip, track)
        tracks.append(composed(new_rotations(quaternions), new_translations(metres, width)))
    return tracks


def _edited_track(clip: Clip, index: int, base: Motion, kept: Untouched, width: Width) -> Track:
    quaternions, metres = _stored(clip, index)
    old = base.track(index)
    rotations = Rotations(old.rotation, bool(old.flags & TrackFlag.SINGLE_ROTATION))
    translations = _stored_translations(old)
    turned, moved = ~kept.rotations[index].all(), ~kept.translations[index].all()
    floats = bool(old.flags & TrackFlag.FLOAT_KEYS)
    same_length = clip.frames == base.frames
    if turned:
        if floats:
            rotations = float_rotations(quaternions, old.rotation, kept.rotations[index])
        elif rotations.single or not same_length:
            rotations = new_rotations(quaternions)
        else:
            rotations = edited_rotations(quaternions, old.rotation, kept.rotations[index])
    if moved:
        if floats:
            translations = float_translations(metres, translations, kept.translations[index])
        elif same_length:
            translations = edited_translations(metres, translations, kept.translations[index], width)
        else:
            translations = new_translations(metres, width)
    return composed(rotations, translations, old.flags)


def encode_marks(markers: list[Marker], base: list[Mark]) -> list[Mark]:
    """The marks of a definition; those that still say the same keep their bytes. Raises `WriteError`."""
    marks = []
    for place, marker in enumerate(markers):
        old = base[place] if place < len(base) else None
        intervals = marker.intervals.astype("<f4").reshape(-1, 2)
        if old is not None and old.label == marker.name and np.array_equal(old.intervals, intervals, equal_nan=True):
            marks.append(old)
        else:
            marks.append(Mark(names.encode(marker.name), intervals, old.line_end if old is not None else b"\r\n"))
    return marks
