"""Motions of the editor as motions of the game and back: `.skls` and motions inside an `.object` as `.omf`.

The game has a key per frame at 30 frames per second, the editor curves; both hold the bone's whole transform relative
to its parent. So the editor's curves are sampled, and the game's keys become stepped keys on every frame, as real
files of the editor have them. Numbers and flags of how a motion plays are the same in both.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from ...core import names, rotation, space
from ...core.envelope import Shape, evaluate
from ...core.errors import WriteError
from ...core.finite import warn_not_finite
from ...core.model import Clip, Space
from ...core.report import Report
from ...core.text import said_of
from .bones import Part
from .channels import NAMES
from .envelopes import PACKED, StoredEnvelope
from .marks import decode_marks
from .object.document import Object
from .omf.codec import numbered
from .omf.document import (
    FRAMES_PER_SECOND,
    Definition,
    MotionSet,
    Omf,
    Parameters,
    Partition,
    PartitionBone,
    new_omf,
)
from .omf.mapping import decode as decode_clips
from .omf.mapping import encode as encode_clips
from .omf.mapping import new_definition
from .skl.document import ALL_PARTS, MARKS_SINCE, PACKED_SINCE, BoneTrack, SkeletalMotion, Skl, new_skls
from .skl.mapping import bone_names

Floats = NDArray[np.float64]

MOST_FRAMES = 0xFFFF
"""Frames of a motion that are sampled; the longest real ones have some thousands."""
ROUNDING = 1e-4
"""Seconds: times of keys are 32-bit floats of seconds."""
STANDING_STILL = 1e-6
"""Metres or parts of a quaternion: a track that moves by less has one key."""


def game_motions(motions: Sequence[SkeletalMotion], report: Report, parts: Sequence[Part] = ()) -> Omf:
    """An `.omf` of the editor's motions; ``parts`` of the object they are of, else one part of all bones.

    Raises `WriteError` if there are none, or a motion lacks a bone of the first.
    """
    if not motions:
        raise WriteError("there are no motions", remedy="Choose a file with motions")
    bones = bone_names(motions[0])
    known = {bone.lower(): track for track, bone in enumerate(bones)}
    listed = [Part(b"default", [names.encode(bone) for bone in bones])]
    if sorted(name.lower() for part in parts for name in map(names.decode, part.bones)) == sorted(known):
        listed = list(parts)
    partitions = [
        Partition(
            part.name.lower(),
            [PartitionBone(name.lower(), known[names.decode(name).lower()]) for name in part.bones],
        )
        for part in listed
    ]
    base = MotionSet(numbered([]), Parameters(4, partitions, []))
    clips = [sampled(motion, report) for motion in motions]
    return new_omf(encode_clips(clips, base, definitions=[_definition(motion) for motion in motions])[0])


def sampled(motion: SkeletalMotion, report: Report) -> Clip:
    """An editor's motion as keys on every frame of the game. Raises `WriteError` for more than `MOST_FRAMES`."""
    frames = round((motion.last - motion.first) * motion.frame * FRAMES_PER_SECOND) + 1
    if not 0 < frames <= MOST_FRAMES:
        raise WriteError(f"the motion has frames {motion.first} to {motion.last}", file=motion.label)
    if abs(motion.frame * FRAMES_PER_SECOND - 1) > 1e-6:
        report.note(f"sampled at {FRAMES_PER_SECOND:g} frames per second instead of {motion.fps:g}", motion.label)
    times = motion.first * motion.frame + np.arange(frames) / FRAMES_PER_SECOND
    values = np.zeros((len(motion.tracks), len(NAMES), frames))
    for number, track in enumerate(motion.tracks):
        if track.flags & 1:
            report.warn("a bone is rotated in world space; converted as if relative to its parent", motion.label)
        for channel, stored in enumerate(track.envelopes):
            envelope = stored.decoded()
            values[number, channel] = evaluate(envelope, _on_keys(times, envelope.times))
    if not np.isfinite(values).all():
        raise WriteError("the motion has NaN or infinite values", file=motion.label, remedy="Delete those keys")
    x, y, z, heading, pitch, bank = np.moveaxis(values, 1, 0)
    translations = space.xray_bone_translations(np.stack([x, y, z], axis=-1))
    turns = rotation.of_mode(np.stack([-pitch, -heading, bank], axis=-1), "ZXY")
    return Clip(
        motion.label,
        bone_names(motion),
        np.stack([rotation.continuous(turn) for turn in turns]) if len(turns) else turns,
        translations,
        _moving(turns),
        _moving(translations),
        FRAMES_PER_SECOND,
        Space.PARENT_LOCAL,
        decode_marks(motion.marks),
    )


def _on_keys(times: Floats, keys: Floats) -> Floats:
    """Times, those that are a key's but for rounding as the key's own: a step must not be missed."""
    if not len(keys):
        return times
    after = np.clip(np.searchsorted(keys, times), 0, len(keys) - 1)
    before = np.maximum(after - 1, 0)
    nearest = np.where(np.abs(keys[after] - times) < np.abs(keys[before] - times), keys[after], keys[before])
    return np.where(np.abs(nearest - times) < ROUNDING, nearest, times)


def _moving(values: Floats) -> NDArray[np.bool_]:
    """(bones,) whether values (bones, frames, width) change."""
    result: NDArray[np.bool_] = (np.ptp(values, axis=1) > STANDING_STILL).any(axis=1)
    return result


def _definition(motion: SkeletalMotion) -> Definition:
    definition = new_definition(motion.label)
    definition.flags = motion.flags & 0xFF
    definition.bone_or_part = min(motion.bone_or_part, ALL_PARTS)
    speed, accrue, falloff, power = motion.timing
    definition.timing = np.array([speed, power, accrue, falloff], "<f4")
    return definition


def editor_motions(document: Omf, report: Report) -> Skl:
    """A `.skls` of the game's motions, stepped keys on every frame.

    Warns of values that 32 bits do not hold, as motions with an absurd scale have them: they become infinite.
    """
    motions = document.motion_set
    definitions = motions.parameters.definitions
    made = []
    for place, clip in enumerate(decode_clips(motions, report)):
        definition = definitions[place] if place < len(definitions) else new_definition(clip.name)
        speed, power, accrue, falloff = definition.timing
        tracks = _tracks(clip)
        warn_not_finite(report, clip.name, tracks)
        made.append(
            SkeletalMotion(
                definition.name,
                0,
                max(clip.frames - 1, 0),
                np.float32(FRAMES_PER_SECOND),
                MARKS_SINCE if definition.marks else PACKED_SINCE,
                definition.flags & 0xFF,
                definition.bone_or_part & 0xFFFF,
                np.array([speed, accrue, falloff, power], "<f4"),
                tracks,
                list(definition.marks),
            )
        )
    return new_skls(made)


def into_model(motions: Sequence[SkeletalMotion], target: Object, report: Report) -> Object:
    """The object ``target`` with these motions inside: those of the same name are replaced, others added behind.

    Raises `WriteError` if there are none, if the object has no bones, or if its own motions are damaged.
    """
    model = target.model
    if not motions:
        raise WriteError("there are no motions", remedy="Choose a file with motions")
    if not model.bones:
        raise WriteError("the object has no bones, so no motions", remedy="Choose an object with bones")
    bones = {bone.name.lower() for bone in model.bones}
    for motion in motions:
        strange = [name for name in bone_names(motion) if name.lower() not in bones]
        if strange:
            told = said_of(len(strange), "bones", "are not in the object")
            report.warn(told, f"{motion.label}: {', '.join(strange)}")
    waiting: dict[bytes, list[SkeletalMotion]] = {}
    for motion in motions:
        waiting.setdefault(motion.name.lower(), []).append(motion)
    kept = []
    for motion in model.motions:
        of_name = waiting.get(motion.name.lower())
        kept.append(of_name.pop(0) if of_name else motion)
    # Of several of one name, which broken files have, none is lost.
    return target.with_model(model.with_motions(new_skls([*kept, *chain.from_iterable(waiting.values())])))


def _tracks(clip: Clip) -> list[BoneTrack]:
    tracks = []
    for number, bone in enumerate(clip.bones):
        place = space.xray_bone_translations(clip.translations[number])
        turn = rotation.euler_zxy(rotation.matrices(clip.rotations[number]))
        channels = (*place.T, -turn[:, 1], -turn[:, 0], turn[:, 2])
        keyed = [bool(clip.translation_keyed[number])] * 3 + [bool(clip.rotation_keyed[number])] * 3
        envelopes = [_stepped(values if moves else values[:1]) for values, moves in zip(channels, keyed, strict=True)]
        tracks.append(BoneTrack(names.encode(bone.lower()), 0, envelopes))
    return tracks


def _stepped(values: Floats) -> StoredEnvelope:
    keys = np.zeros(len(values), PACKED)
    with np.errstate(over="ignore", invalid="ignore"):  # the caller warns of what is not finite
        keys["value"] = values
    keys["time"] = np.arange(len(values)) / FRAMES_PER_SECOND
    keys["shape"] = Shape.STEPPED
    return StoredEnvelope(1, 1, keys)
