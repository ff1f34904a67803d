"""A whole set of motions from clips, starting from the file they came from."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from ....core import names
from ....core.errors import WriteError
from ....core.finite import as_in_file
from ....core.model import Clip, Skeleton
from ....core.report import Report
from ..marks import encode_marks
from .changes import Changes, MotionChange
from .decoding import track_bones
from .document import (
    ALL_PARTITIONS,
    DEFAULT_TIMING,
    Definition,
    Motion,
    MotionSet,
    Parameters,
    Partition,
    PartitionBone,
)
from .edit import pairs, rearranged
from .limits import refuse_new_problems
from .motion_encoding import encode_motion
from .motions import numbered
from .quantise import Width


@dataclass(frozen=True)
class Identity:
    """Which motion a clip is: ``index`` of that in the base, None where it is new.

    ``source``: what a new one was copied from, with tracks for the base's bones; tracks that say the same keep their
    bytes.
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
) -> tuple[MotionSet, Changes]:
    """``base`` with each clip at the index of the motion it is, or added behind the last; and what changed.

    ``identities``, one for each clip, say which motion that is; without them it is the one of the clip's name. A motion
    gets its clip's name. Without ``base`` a new set for ``skeleton`` (one partition ``default``). ``definitions``, one
    for each clip, say how motions play; marks come from the clips. ``sampled``, for each clip the bones that were read
    from evaluated poses. Raises `WriteError` for what the game cannot take,
    unless the base has it already.
    """
    start = base if base is not None else _empty_set(skeleton, clips)
    pairs(start)  # refuses a base of which nobody knows what belongs together
    motions = start.library.motions
    definitions_out = list(start.parameters.definitions)
    renaming = identities is not None
    if identities is None:
        identities = _by_name(clips, start)
    listed = sum(len(partition.bones) for partition in start.parameters.partitions)
    model_bones = skeleton.bones if skeleton is not None else []
    changes, only_renamed = Changes(), 0
    for number, (clip, identity) in enumerate(zip(clips, identities, strict=True)):
        index = identity.index
        old = motions[index] if index is not None else identity.source
        bones = track_bones(start.parameters, old.track_count if old is not None else listed, Report(), model_bones)
        looked_at = sampled[number] if sampled is not None else ()
        motion, track_changes = encode_motion(clip, bones, old, rest=skeleton, width=width, sampled=looked_at)
        given = definitions[number] if definitions is not None else None
        before = definitions_out[index] if index is not None else None
        definition = _definition(clip, given, before, renaming=renaming)
        motion.name = definition.name
        if index is None or before is None:
            motions.append(motion)
            definitions_out.append(definition)
            changes.motions.append(MotionChange(clip.name, number, new=True, tracks=tuple(track_changes)))
            continue
        if definition.name != before.name:
            changes.renamed.append((before.label, definition.label))
        elif old is not None:
            motion.name = old.name
        fields = _changed_fields(old, motion, before, definition)
        if track_changes or fields:
            changes.motions.append(MotionChange(clip.name, number, tracks=tuple(track_changes), fields=tuple(fields)))
        elif definition.name != before.name:
            only_renamed += 1
        if track_changes or fields or definition.name != before.name:
            motions[index], definitions_out[index] = motion, definition
    changes.untouched = len(motions) - len(changes.motions) - only_renamed
    if not changes.motions and not changes.renamed:
        return start, changes
    result = rearranged(start, motions, definitions_out)
    refuse_new_problems(base, result)
    return result, changes


def _by_name(clips: Sequence[Clip], base: MotionSet) -> list[Identity]:
    """The motion of each clip's name; where a name is there twice (the game plays the first) they are taken in turn."""
    indices: dict[str, list[int]] = {}
    for index, (_, definition) in enumerate(pairs(base)):
        indices.setdefault(definition.label.lower(), []).append(index)
    free = (indices.get(clip.name.lower()) for clip in clips)
    return [Identity(found.pop(0) if found else None) for found in free]


def _empty_set(skeleton: Skeleton | None, clips: Sequence[Clip]) -> MotionSet:
    bones = skeleton.bones if skeleton is not None else clips[0].bones if clips else []
    for group in names.duplicates(bones):
        raise WriteError(
            f"the game takes these bones for one: {', '.join(map(repr, group))}",
            remedy="Rename all but one of them, or give them other names in the game (Bone properties)",
        )
    entries = [PartitionBone(names.encode(bone.lower()), track) for track, bone in enumerate(bones)]
    return MotionSet(numbered([]), Parameters(4, [Partition(b"default", entries)], []))


def new_definition(name: str) -> Definition:
    """How a motion plays unless something else is said: once through all partitions, at its own speed."""
    return Definition(names.encode(name), 0, ALL_PARTITIONS, 0, np.array(DEFAULT_TIMING, "<f4"))


def _definition(clip: Clip, given: Definition | None, old: Definition | None, *, renaming: bool) -> Definition:
    same_name = old is not None and (not renaming or old.label == clip.name)
    chosen = given or old or new_definition(clip.name)
    marks = encode_marks(clip.markers, old.marks if old is not None else [])
    return Definition(
        old.name if old is not None and same_name else names.encode(clip.name),
        chosen.flags,
        chosen.bone_or_part,
        old.motion if old is not None else chosen.motion,
        chosen.timing if old is None else as_in_file(chosen.timing, old.timing),
        marks,
    )


def _changed_fields(old: Motion | None, motion: Motion, before: Definition, after: Definition) -> list[str]:
    fields = []
    if old is not None and old.frames != motion.frames:
        fields.append(f"{old.frames} -> {motion.frames} frames")
    if before.flags != after.flags:
        fields.append("flags")
    if before.bone_or_part != after.bone_or_part:
        fields.append("bone or part")
    if before.timing.tobytes() != after.timing.tobytes():
        fields.append("timing")
    same_marks = len(before.marks) == len(after.marks) and all(
        one is other for one, other in zip(before.marks, after.marks, strict=False)
    )
    if not same_marks:
        fields.append("marks")
    return fields
