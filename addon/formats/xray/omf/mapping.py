"""Convert motions of a file to clips and back: `MotionSet` <-> `Clip`.

A key is the bone's whole transform relative to its parent, not a difference from the rest pose. Quaternions are stored
x, y, z, w; a page of the modders' wiki that puts w first is wrong. Encoding starts from the file that the clips came
from: tracks that were not edited keep their bytes, and `Changes` lists the others.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import names, quantum, rotation
from ....core.binary import as_in_file
from ....core.changes import Changes, Item, Noun, Part
from ....core.errors import WriteError
from ....core.model import Clip, Skeleton
from ....core.report import Message, Report, listed, say
from ..marks import decode_marks, encode_marks
from .codec import numbered
from .document import (
    ALL_PARTITIONS,
    DEFAULT_TIMING,
    FRAMES_PER_SECOND,
    MOST_BONES,
    Definition,
    Motion,
    MotionSet,
    Parameters,
    name_in_game,
    partitions_of,
    track_bones,
)
from .edit import pairs, rearranged, refuse_new_problems
from .tracks import Width, encode_tracks, frame_indices, overlong, refuse_overlong, track_arrays

LARGEST_VALID = 1e38
"""Values below this fit a 32-bit float, and so does the sum of three of them."""

POSES_PER_BATCH = 1 << 13
"""Frames times bones of the motions compared in one batch: few numpy calls, and it fits the processor's cache."""
_NO_BONES: frozenset[str] = frozenset()

Floats = NDArray[np.float64]


# ---- motions as clips, and back


def decode(motions: MotionSet, report: Report, model_bones: Sequence[str] = ()) -> list[Clip]:
    """Convert every motion to a `Clip`, in the engine's order. Raises `ReadError` as `refuse_overlong` does."""
    refuse_overlong(motions.library.motions)
    clips = []
    bones_by_count: dict[int, list[str]] = {}
    for index, motion in enumerate(motions.library.motions):
        if motion.track_count not in bones_by_count:
            bones_by_count[motion.track_count] = track_bones(
                motions.parameters, motion.track_count, report, model_bones
            )
        clips.append(decode_motion(motion, bones_by_count[motion.track_count], motions.definition(index)))
    return clips


def decode_motion(motion: Motion, bones: list[str], definition: Definition | None = None) -> Clip:
    """Convert one motion to a `Clip`, relative to the parent, with matching signs of neighbouring quaternions.

    Raises `ReadError` for a motion that declares more frames than its data can hold (`refuse_overlong`).
    """
    tracks = track_arrays(motion)
    return Clip(
        name_in_game(motion, definition),
        list(bones),
        rotation.continuous(tracks.rotations),
        tracks.translations,
        tracks.rotation_keyed,
        tracks.translation_keyed,
        FRAMES_PER_SECOND,
        decode_marks(definition.marks) if definition else [],
    )


@dataclass(frozen=True)
class Identity:
    """Which motion of the base a clip corresponds to: ``index`` in the base, None for a new motion.

    ``source``: the motion that the clip was made from, if it is not the base's motion. Its tracks are those of the
    base's bones. A track of the clip that still equals the source's gets the source's bytes.
    """

    index: int | None = None
    source: Motion | None = None


def encode(
    clips: Sequence[Clip],
    base: MotionSet | None = None,
    *,
    skeleton: Skeleton | None = None,
    definitions: Sequence[Definition] | None = None,
    identities: Sequence[Identity] | None = None,
    width: Width = Width.AUTOMATIC,
    sampled: Sequence[Collection[str]] | None = None,
    parts: Sequence[tuple[str, Sequence[str]]] = (),
    most_bones: int = MOST_BONES,
) -> tuple[MotionSet, Changes]:
    """Return ``base`` with each clip at the index of its motion, or appended, and the changes.

    ``identities``, one per clip, tell which motion it is and rename that to the clip's name; default: found by name.
    Without ``base``, a new set is made for ``skeleton``; ``parts`` as in `partitions_of`. ``definitions``, one per
    clip: how motions are played; marks come from the clips. ``sampled``: for each clip, the bones sampled from
    evaluated poses. Raises `WriteError` for what a game with ``most_bones`` refuses, unless ``base`` has it too.
    """
    start = base if base is not None else _empty_set(skeleton, clips, parts)
    pairs(start)  # refuses a base whose motions and definitions do not match
    motions = start.library.motions
    definitions_out = list(start.parameters.definitions)
    renaming = identities is not None
    identities = identities if identities is not None else _by_name(clips, start)
    listed = sum(len(partition.bones) for partition in start.parameters.partitions)
    model_bones = skeleton.bones if skeleton is not None else []
    changes, only_renamed = Changes(noun=Noun.MOTION, items=Noun.TRACK), 0
    bones_of = functools.cache(lambda count: track_bones(start.parameters, count, Report(), model_bones))
    bases = [motions[identity.index] if identity.index is not None else identity.source for identity in identities]
    bones = [bones_of(old.track_count if old is not None else listed) for old in bases]
    jobs = list(map(_job_of, clips, bones, bases, repeat(skeleton), sampled if sampled is not None else repeat(())))
    results = _encode_jobs(jobs, skeleton, width)
    for number, (clip, identity, old, encoded) in enumerate(zip(clips, identities, bases, results, strict=True)):
        index, (motion, track_changes) = identity.index, _use_source(jobs[number], identity.source, encoded, skeleton)
        given = definitions[number] if definitions is not None else None
        before = definitions_out[index] if index is not None else None
        definition = _definition(clip, given, before, renaming=renaming)
        motion.name = definition.name
        if index is None or before is None:
            motions.append(motion)
            definitions_out.append(definition)
            changes.parts.append(Part(clip.name, Noun.MOTION, new=True, items=tuple(track_changes), number=number))
            continue
        if definition.name != before.name:
            changes.renamed.append((before.label, definition.label))
        elif old is not None:
            motion.name = old.name
        fields = _changed_fields(old, motion, before, definition)
        if track_changes or fields:
            changes.parts.append(Part(clip.name, Noun.MOTION, False, tuple(track_changes), tuple(fields), number))
        elif definition.name != before.name:
            only_renamed += 1
        if track_changes or fields or definition.name != before.name:
            motions[index], definitions_out[index] = motion, definition
    changes.unchanged = len(motions) - len(changes.parts) - only_renamed
    if changes:
        start = rearranged(start, motions, definitions_out)
        refuse_new_problems(base, start, most_bones)
    return start, changes


def _by_name(clips: Sequence[Clip], base: MotionSet) -> list[Identity]:
    """Find the motion of each clip by name. Motions of the same name (the game plays the first) are used in order."""
    indices: dict[str, list[int]] = {}
    for index, (_, definition) in enumerate(pairs(base)):
        indices.setdefault(definition.label.lower(), []).append(index)
    matching = (indices.get(clip.name.lower()) for clip in clips)
    return [Identity(rows.pop(0) if rows else None) for rows in matching]


def _empty_set(
    skeleton: Skeleton | None, clips: Sequence[Clip], parts: Sequence[tuple[str, Sequence[str]]]
) -> MotionSet:
    bones = skeleton.bones if skeleton is not None else clips[0].bones if clips else []
    refuse_bones_of_one_name(bones)
    return MotionSet(numbered([]), Parameters(4, partitions_of(bones, parts), []))


def refuse_bones_of_one_name(bones: Sequence[str]) -> None:
    """Raise `WriteError` if names of bones differ only in upper case, which the game ignores."""
    for group in names.duplicates(bones):
        raise WriteError(
            say("the game treats these bones as one: {}", ", ".join(map(repr, group))),
            remedy="Rename all but one of them, or give them other names in the game (Bone properties)",
        )


def new_definition(name: str) -> Definition:
    """Return the default definition: no flags, all partitions, default timing."""
    return Definition(names.encode(name), 0, ALL_PARTITIONS, 0, np.array(DEFAULT_TIMING, "<f4"))


def _definition(clip: Clip, given: Definition | None, old: Definition | None, *, renaming: bool) -> Definition:
    same_name = old is not None and (not renaming or old.label == clip.name)
    source = given or old or new_definition(clip.name)
    marks = encode_marks(clip.markers, old.marks if old is not None else [])
    return Definition(
        old.name if old is not None and same_name else names.encode(clip.name),
        source.flags,
        source.bone_or_part,
        old.motion if old is not None else source.motion,
        source.timing if old is None else as_in_file(source.timing, old.timing),
        marks,
    )


def _changed_fields(old: Motion | None, motion: Motion, before: Definition, after: Definition) -> list[Message]:
    fields = []
    if old is not None and old.frames != motion.frames:
        fields.append(say("{} -> {:# frame|# frames}", old.frames, motion.frames))
    if before.flags != after.flags:
        fields.append(say("flags"))
    if before.bone_or_part != after.bone_or_part:
        fields.append(say("bone or part"))
    if before.timing.tobytes() != after.timing.tobytes():
        fields.append(say("timing"))
    same_marks = len(before.marks) == len(after.marks) and all(
        mark is other for mark, other in zip(before.marks, after.marks, strict=False)
    )
    if not same_marks:
        fields.append(say("marks"))
    return fields


# ---- encode one clip, starting from the file's motion


@dataclass(frozen=True)
class Unedited:
    """Which values of a clip are unedited: ``rotations`` (tracks, frames), ``translations`` (tracks, frames, 3)."""

    rotations: NDArray[np.bool_]
    translations: NDArray[np.bool_]

    @property
    def tracks(self) -> NDArray[np.bool_]:
        """(tracks,) whether all values of a track are unedited."""
        return np.logical_and(self.rotations.all(axis=1), self.translations.all(axis=(1, 2)))


def compare(
    clip: Clip, base: Motion | None, *, rest: Skeleton | None = None, sampled: Collection[str] = frozenset()
) -> Unedited:
    """Find the unedited values of a whole motion; track i of ``clip`` must be track i of ``base``, if there is one.

    ``rest``: the rest pose that the clip's keys were offsets from. Blender adds offsets to it and rotates the sum, so
    the rounding error of one component has the size of the whole vector and of the rest offset.

    ``sampled``: bones that were sampled from evaluated poses, which are normalised and contain Blender's rounding: for
    them one quantisation step is allowed instead of half a step. Frames after the base's last one count as unedited
    only in tracks that the base stores as a single value.
    """
    if base is None:
        new = np.zeros(clip.translations.shape, np.bool_)
        return Unedited(new[..., 0], new)
    old = track_arrays(base)
    is_sampled = np.array([bone in sampled for bone in clip.bones])[:, None, None]
    steps = np.where(is_sampled, quantum.SAMPLED, quantum.KEYED)
    rows = frame_indices(clip.frames, base.frames)
    old_translations = old.translations[:, rows]
    old_rotations = old.rotations[:, rows]
    rotation_steps = old.rotation_steps[:, None, None] * steps
    if sampled:
        old_rotations = np.where(is_sampled, rotation.normalised(old_rotations), old_rotations)
    rotations = quantum.unedited_rotations(clip.rotations, old_rotations, rotation_steps, steps=1.0)
    differing = np.flatnonzero(~rotations.all(axis=1))
    if len(differing):
        # Between two keys, Blender's quaternions are shorter than 1; they are normalised when written.
        written, steps_of = rotation.normalised(clip.rotations[differing]), rotation_steps[differing]
        rotations[differing] |= quantum.unedited_rotations(written, old_rotations[differing], steps_of, steps=1.0)
    translations = quantum.unedited(
        clip.translations,
        old_translations,
        old.translation_steps[:, None] * steps,
        steps=1.0,
        magnitude=np.maximum(
            quantum.reduce_rows(np.abs(old_translations), np.maximum)[..., None], _magnitudes(clip, rest, sampled)
        ),
    )
    if not _all_valid(clip.rotations):
        rotations |= _invalid(clip.rotations) & _invalid(old_rotations)
    if not _all_valid(clip.translations):
        translations |= (_invalid(clip.translations) & _invalid(old_translations))[..., None]
    first_new_frame = max(base.frames, 1)
    rotations[:, first_new_frame:] &= ~old.rotation_keyed[:, None]
    translations[:, first_new_frame:] &= ~old.translation_keyed[:, None, None]
    return Unedited(rotations, translations)


def _all_valid(rows: Floats) -> bool:
    """Return whether `_invalid` is False everywhere."""
    return bool((np.abs(rows) < LARGEST_VALID).all())


def _invalid(rows: Floats) -> NDArray[np.bool_]:
    """Return (...) which vectors (..., n) have a component that Blender cannot keep: NaN, infinite or too large.

    Rotated into a bone's space, one NaN component makes all three NaN, so such vectors are compared as a whole.
    """
    result: NDArray[np.bool_] = np.logical_not(np.all(np.abs(rows) < LARGEST_VALID, axis=-1))
    return result


def _magnitudes(clip: Clip, rest: Skeleton | None, sampled: Collection[str]) -> Floats:
    """Return (bones, 1, 1) metres: the size of the numbers that a bone's translation was computed from."""
    # A sampled pose was computed through the whole chain of bones, where values are up to metres.
    smallest = [2.0 if bone in sampled else 0.0 for bone in clip.bones]
    if rest is None:
        return np.array(smallest)[:, None, None]
    rest_sizes = np.abs(rest.rest_translation).max(axis=1).tolist()
    sizes = dict(zip(map(str.lower, rest.bones), rest_sizes, strict=True))
    sizes_of_bones = [
        max(sizes.get(bone.lower(), 0.0), least) for bone, least in zip(clip.bones, smallest, strict=True)
    ]
    return np.array(sizes_of_bones, np.float64)[:, None, None]


@dataclass(frozen=True)
class _EncodingJob:
    """A motion to encode: ``clip`` with the file's bones, and the motion ``base`` to compare it with, if any.

    ``sampled``: the file's bones that were sampled from evaluated poses.
    """

    clip: Clip
    base: Motion | None
    sampled: frozenset[str]


def _job_of(
    clip: Clip, bones: list[str], base: Motion | None, rest: Skeleton | None, sampled: Collection[str]
) -> _EncodingJob:
    if not bones:
        problem = "the file lists no bones: nothing can be animated"
        if base is not None:
            problem = say("the motion {!r} has no tracks: nothing can be animated", clip.name)
        raise WriteError(problem, remedy="Leave the motion out, or export to a new file")
    ordered = in_order(clip, bones, base, rest)
    known = base if base is not None and base.track_count == len(bones) and not overlong([base]) else None
    lowered = {name.lower() for name in sampled}
    present = frozenset(bone for bone in bones if bone.lower() in lowered) if lowered else _NO_BONES
    return _EncodingJob(ordered, known, present)


def _encode_jobs(
    jobs: Sequence[_EncodingJob], rest: Skeleton | None, width: Width
) -> Iterator[tuple[Motion, list[Item]]]:
    """Yield each motion, with one track per bone of its clip, and the tracks that differ from its base.

    Unedited tracks keep the base's bytes. Motions of one length, whose bases have one length too, are encoded in
    batches.
    """
    groups: dict[Any, list[int]] = {}
    for number, job in enumerate(jobs):
        base_frames = job.base.frames if job.base is not None else None
        groups.setdefault((job.clip.frames, base_frames, job.sampled), []).append(number)
    group_of: dict[int, list[int]] = {}
    for numbers in groups.values():
        poses = jobs[numbers[0]].clip.frames * max(len(jobs[number].clip.bones) for number in numbers)
        size = max(POSES_PER_BATCH // poses, 1)
        for first in range(0, len(numbers), size):
            group_of |= dict.fromkeys(numbers[first : first + size], numbers[first : first + size])
    encoded: dict[int, tuple[Motion, list[Item]]] = {}
    for number in range(len(jobs)):
        if number not in encoded:
            group = group_of[number]
            encoded |= zip(group, _encode_together([jobs[other] for other in group], rest, width), strict=True)
        yield encoded.pop(number)


def _concatenated(jobs: Sequence[_EncodingJob]) -> tuple[Clip, Motion | None]:
    """Join the tracks of several motions of the same length into one clip and one base motion."""
    clips, bases = [job.clip for job in jobs], [job.base for job in jobs if job.base is not None]
    if len(jobs) == 1:
        return clips[0], jobs[0].base
    joint: Any = {
        name: np.concatenate([getattr(clip, name) for clip in clips])
        for name in ("rotations", "translations", "rotation_keyed", "translation_keyed")
    }
    clip = replace(clips[0], bones=[bone for clip in clips for bone in clip.bones], **joint)
    if not bases:
        return clip, None
    tracks = (base.track_bytes(track) for base in bases for track in range(base.track_count))
    return clip, Motion.of(b"", bases[0].frames, tracks)


def _encode_together(
    jobs: Sequence[_EncodingJob], rest: Skeleton | None, width: Width
) -> Iterator[tuple[Motion, list[Item]]]:
    """Yield each motion and its edited tracks.

    The motions must have the same length and the same sampled bones, and all have bases of the same length, or none.
    """
    clip, base = _concatenated(jobs)
    unedited = compare(clip, base, rest=rest, sampled=jobs[0].sampled)
    equals_base = unedited.tracks
    as_long = base is not None and clip.frames == max(base.frames, 1)
    if base is not None and not base.frames:  # a broken file: there are no keys to start from
        base, unedited = None, compare(clip, None)
    unedited_tracks = unedited.tracks
    wanted = np.flatnonzero(~unedited_tracks) if as_long and base is not None else np.arange(len(clip.bones))
    edited = ~unedited.rotations, ~unedited.translations
    labels = [(bone, own_job.clip.name) for own_job in jobs for bone in own_job.clip.bones]
    tracks, errors = encode_tracks(clip, wanted, base, edited, width=width, labels=labels)
    keys, moved_keys = edited[0].sum(axis=1), quantum.reduce_rows(edited[1], np.logical_or).sum(axis=1)
    items = [
        Item(labels[track][0], turned + moved, error if moved else 0.0)
        for track, turned, moved, error in zip(
            wanted.tolist(), keys[wanted].tolist(), moved_keys[wanted].tolist(), errors.tolist(), strict=True
        )
    ]
    end = 0
    for job in jobs:
        begin, end = end, end + len(job.clip.bones)
        name = names.encode(job.clip.name)
        if as_long and job.base is not None and equals_base[begin:end].all():
            yield replace(job.base, name=name), []
            continue
        pieces: list[Any] = [b""] * (end - begin)
        if job.base is not None and base is not None:
            pieces = [job.base.track_bytes(track) for track in range(end - begin)]
        changes = []
        for index in range(*np.searchsorted(wanted, (begin, end)).tolist()):
            track = int(wanted[index])
            before, pieces[track - begin] = pieces[track - begin], tracks[index]
            # Edits too small for the file, such as the noise of a bake, give the same bytes.
            if not unedited_tracks[track] and tracks[index] != before:
                changes.append(items[index])
        yield Motion.of(name, job.clip.frames, pieces), changes


def _use_source(
    job: _EncodingJob, source: Motion | None, encoded: tuple[Motion, list[Item]], rest: Skeleton | None
) -> tuple[Motion, list[Item]]:
    """Return an encoded motion in which edited tracks that equal the ``source``'s have the source's bytes."""
    (motion, items), clip, old = encoded, job.clip, job.base
    if source is None or source is old or old is None or not items or source.frames != clip.frames:
        return encoded
    if source.track_count != len(clip.bones) or overlong([source]):
        return encoded
    same = compare(clip, source, rest=rest, sampled=job.sampled).tracks
    pieces: list[Any] = [motion.track_bytes(track) for track in range(motion.track_count)]
    exact = [track for track in np.flatnonzero(same).tolist() if pieces[track] != old.track_bytes(track)]
    for track in exact:
        pieces[track] = source.track_bytes(track)
    bones = {clip.bones[track] for track in exact}
    items = [replace(item, error=0.0) if item.name in bones else item for item in items]
    return Motion.of(motion.name, motion.frames, pieces), items


def in_order(clip: Clip, bones: list[str], base: Motion | None, rest: Skeleton | None) -> Clip:
    """Return the clip with exactly these bones in this order, names compared without case.

    Missing bones get the tracks of ``base``, or else the pose of ``rest`` in every frame. Raises `WriteError` if
    neither has them.
    """
    if [bone.lower() for bone in clip.bones] == [bone.lower() for bone in bones]:
        return clip  # also if a broken file has two tracks for one bone
    index_of = {bone.lower(): position for position, bone in reversed(list(enumerate(clip.bones)))}
    indices_of_bones = [index_of.get(bone.lower(), -1) for bone in bones]
    missing = [bone for bone, position in zip(bones, indices_of_bones, strict=True) if position < 0]
    filling = _filling(clip, bones, base, rest) if missing else clip
    if filling is None:
        raise WriteError(
            say("the motion {!r} lacks {:# bone|# bones} of the file: {}", clip.name, len(missing), listed(missing)),
            remedy="Name a model of this skeleton, which gives them its rest pose"
            if rest is None
            else "Choose a file of this armature's skeleton, or add these bones to the armature",
        )
    indices = np.array(indices_of_bones)
    is_missing = indices < 0
    source = np.where(is_missing, 0, indices)

    def merged(ours: NDArray[Any], theirs: NDArray[Any]) -> NDArray[Any]:
        if not len(ours):
            return theirs
        chosen = is_missing.reshape(-1, *[1] * (ours.ndim - 1))
        return np.where(chosen, theirs, ours[source]) if missing else ours[source]

    return Clip(
        clip.name,
        list(bones),
        merged(clip.rotations, filling.rotations),
        merged(clip.translations, filling.translations),
        merged(clip.rotation_keyed, filling.rotation_keyed),
        merged(clip.translation_keyed, filling.translation_keyed),
        clip.fps,
        clip.markers,
    )


def _filling(clip: Clip, bones: list[str], base: Motion | None, rest: Skeleton | None) -> Clip | None:
    """Return a clip of all ``bones`` as long as ``clip``, from the base's tracks or the rest pose.

    The base's tracks are cut, or held at their end. None if there is no usable base, and no rest pose that has all
    missing bones.
    """
    unkeyed = np.zeros(len(bones), np.bool_)
    if base is not None and base.track_count == len(bones) and not overlong([base]):
        filling = decode_motion(base, bones)
        rows = frame_indices(clip.frames, base.frames)
        filling.rotations, filling.translations = filling.rotations[:, rows], filling.translations[:, rows]
        return filling
    if rest is None:
        return None
    index_of = {bone.lower(): index for index, bone in enumerate(rest.bones)}
    indices = [index_of.get(bone.lower(), -1) for bone in bones]
    if any(
        index < 0 and bone.lower() not in (b.lower() for b in clip.bones)
        for index, bone in zip(indices, bones, strict=True)
    ):
        return None
    rotations = np.repeat(rest.rest_rotation[indices][:, None], clip.frames, axis=1)
    translations = np.repeat(rest.rest_translation[indices][:, None], clip.frames, axis=1)
    return Clip(clip.name, list(bones), rotations, translations, unkeyed, unkeyed, clip.fps)
