"""Edit a set of motions as a list: rename, delete, reorder, merge, split, change how motions are played.

Every function returns a new set and does not change the given one; motions that are not named keep their bytes. Names
are compared as in the game, without case; of several motions with the same name the first is used.

`problems` lists what the game's engine and editor refuse or misread; it is checked before anything is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from ....core import names
from ....core.errors import WriteError
from ....core.report import Report, listed, say
from ..marks import SKIPPED_BYTES
from .codec import with_motions
from .document import (
    ALL_PARTITIONS,
    MOST_BONES,
    RAISE_LIMIT,
    TIMING,
    Definition,
    Motion,
    MotionFlag,
    MotionLibrary,
    MotionSet,
    Parameters,
    track_bones,
)

MOST_PARTITIONS = 4
MOST_MOTIONS = 0x3FFE
MOST_FRAMES = (1 << 24) - 1
LONGEST_NAME = 127


def problems(motions: MotionSet, most_bones: int = MOST_BONES) -> dict[str, str]:
    """Return what the game, which supports ``most_bones``, would refuse or misread: each problem with its remedy."""
    result: dict[str, str] = {}
    library, parameters = motions
    _partition_problems(parameters, result, most_bones)
    all_motions = library.motions
    if len(all_motions) > MOST_MOTIONS:
        result[say("{:# motion|# motions}; the game supports {}", len(all_motions), MOST_MOTIONS)] = "Split the file"
    if len(all_motions) != len(parameters.definitions):
        words = "{:# motion|# motions}, {:# definition|# definitions}"
        result[say(words, len(all_motions), len(parameters.definitions))] = "Delete the motions that lack one"
    bones = sum(len(partition.bones) for partition in parameters.partitions)
    for motion, label in zip(all_motions, motions.labels, strict=True):
        if not 1 <= motion.frames <= MOST_FRAMES:
            result[say("the motion {!r} has {:# frame|# frames}", label, motion.frames)] = "Give it at least one frame"
        if motion.track_count != bones:
            words = "the motion {!r} has {:# track|# tracks} for {:# bone|# bones}"
            result[say(words, label, motion.track_count, bones)] = "Export it with the skeleton the file belongs to"
    for definition in parameters.definitions:
        _definition_problems(definition, parameters, result)
    for group in names.duplicates(definition.label for definition in parameters.definitions):
        words = "the motion {!r} occurs {} times"
        result[say(words, group[0], len(group))] = "Rename all but one: the game plays the first"
    return result


def library_problems(library: MotionLibrary) -> Iterator[str]:
    """Yield errors of chunk ids and count. The engine looks up chunk i + 1 for every i below the count, and asserts."""
    identifiers = [motion.identifier for motion in library.motions]
    if identifiers != list(range(1, len(identifiers) + 1)):
        ids_text = listed(list(map(str, identifiers)))
        yield say("motions have the chunk ids {}; the game looks for 1 to {}", ids_text, len(identifiers))
    if library.count is None:
        yield "the number of motions is missing"
    elif library.count != len(identifiers):
        yield say("{:# motion is|# motions are} declared, {} found", library.count, len(identifiers))


def skeleton_problems(motions: MotionSet, bones: Sequence[str]) -> Iterator[str]:
    """Yield what does not match the model that contains the motions; ``bones`` are the model's bones."""
    for count in sorted({motion.track_count for motion in motions.library.motions} - {len(bones)}):
        yield say("motions have {:# track|# tracks}, the model has {:# bone|# bones}", count, len(bones))
    known = {bone.lower() for bone in bones}
    named = (bone.name for partition in motions.parameters.partitions for bone in partition.bones)
    strange = sorted({names.decode(name) for name in named if name and names.decode(name).lower() not in known})
    if strange:
        yield say("bone parts refer to bones that the model does not have: {}", listed(strange))


def _partition_problems(parameters: Parameters, own_problems: dict[str, str], most_bones: int) -> None:
    bones = [bone for partition in parameters.partitions for bone in partition.bones]
    if len(bones) > most_bones:
        own_problems[say("{:# bone|# bones}; the game supports {}", len(bones), most_bones)] = RAISE_LIMIT
    if len(parameters.partitions) > MOST_PARTITIONS:
        words = "{:# bone part|# bone parts}; the game supports {}"
        own_problems[say(words, len(parameters.partitions), MOST_PARTITIONS)] = "Join some of them"
    if parameters.numbered and sorted(bone.track or 0 for bone in bones) != list(range(len(bones))):
        own_problems["the bone parts do not number every track exactly once"] = (
            "Put every bone into exactly one bone part"
        )
    for name, count in Counter((bone.name or b"").lower() for bone in bones if parameters.named).items():
        if count > 1:
            own_problems[say("the bone {!r} is in several bone parts ({})", names.decode(name), count)] = (
                "Put it into one"
            )
    for label in [partition.name for partition in parameters.partitions] + [bone.name or b"" for bone in bones]:
        _name_problems("bone part or bone", label, own_problems)


def _definition_problems(definition: Definition, parameters: Parameters, own_problems: dict[str, str]) -> None:
    _name_problems("motion", definition.name, own_problems)
    if definition.marks and parameters.version < 4:
        words = "the motion {!r} has marks; version {} of the file has none"
        own_problems[say(words, definition.label, parameters.version)] = "Remove the marks or write version 4"
    for mark in definition.marks:
        if len(mark.intervals) & 0xFF in SKIPPED_BYTES:
            words = "the mark {!r} of {!r} has {:# interval|# intervals}, which the game misreads"
            own_problems[say(words, mark.label, definition.label, len(mark.intervals))] = "Split it or add an interval"
        if any(byte in mark.name for byte in SKIPPED_BYTES) or b"\0" in mark.name:
            own_problems[say("a mark's name of {!r} holds a line break", definition.label)] = "Rename the mark"


def _name_problems(what: str, name: bytes, own_problems: dict[str, str]) -> None:
    if not name:
        own_problems[say("a {} without a name", what)] = "Name it"
    elif len(name) > LONGEST_NAME:
        own_problems[say("the {} name {!r} is longer than {} bytes", what, names.decode(name), LONGEST_NAME)] = (
            "Shorten it"
        )


def refuse_new_problems(before: MotionSet | None, after: MotionSet, most_bones: int = MOST_BONES) -> None:
    """Raise `WriteError` for the first of the `problems` of ``after`` that ``before`` does not have."""
    known = problems(before, most_bones) if before is not None else {}
    for problem, remedy in problems(after, most_bones).items():
        if problem not in known:
            raise WriteError(problem, remedy=remedy)


Pair = tuple[Motion, Definition]


def pairs(motions: MotionSet) -> list[Pair]:
    """Return each motion with the definition of the same index. Raises `WriteError` if their numbers differ."""
    all_motions, definitions = motions.library.motions, motions.parameters.definitions
    if len(all_motions) != len(definitions):
        words = "the file has {:# motion|# motions} and {:# definition|# definitions}, so they cannot be matched"
        raise WriteError(say(words, len(all_motions), len(definitions)), remedy="Repair the file first")
    return list(zip(all_motions, definitions, strict=True))


def rearranged(
    before: MotionSet,
    motions: Sequence[Motion],
    definitions: Sequence[Definition],
    parameters: Parameters | None = None,
) -> MotionSet:
    """Return ``before`` with other motions and definitions; a motion and its definition have the same index.

    If their number changed, count, chunk ids and the indices stored in definitions are written again. Otherwise those
    of the file are kept, except the stored index of definitions that moved.
    """
    old_index = {id(definition): index for index, definition in enumerate(before.parameters.definitions)}
    same_number = len(motions) == len(before.library.motions)
    renumbered = [
        definition
        if same_number and old_index.get(id(definition), index) == index
        else replace(definition, motion=index)
        for index, definition in enumerate(definitions)
    ]
    library = with_motions(before.library, list(motions))
    return MotionSet(library, replace(parameters or before.parameters, definitions=renumbered))


def only(motions: MotionSet, indices: Collection[int]) -> MotionSet:
    """Return the motions at these indices and their definitions, in file order; ``motions`` itself if these are all."""
    all_motions, definitions = motions.library.motions, motions.parameters.definitions
    left_out = set(range(len(all_motions))).difference(indices)
    if not left_out:
        return motions
    return rearranged(
        motions,
        [motion for index, motion in enumerate(all_motions) if index not in left_out],
        [definition for index, definition in enumerate(definitions) if index not in left_out],
    )


def _rearranged_checked(before: MotionSet, chosen: Sequence[Pair], parameters: Parameters | None = None) -> MotionSet:
    result = rearranged(before, [motion for motion, _ in chosen], [definition for _, definition in chosen], parameters)
    refuse_new_problems(before, result)
    return result


def _index_of(all_pairs: Sequence[Pair], name: str) -> int:
    for index, (_, definition) in enumerate(all_pairs):
        if names.same(definition.label, name):
            return index
    similar = [definition.label for _, definition in all_pairs if name.lower() in definition.label.lower()]
    remedy = "List the motions to see their names"
    if similar:
        remedy = say("Did you mean {}?", ", ".join(similar[:5]))
    raise WriteError(say("there is no motion named {!r}", name), remedy=remedy)


def rename(motions: MotionSet, old: str, new: str) -> MotionSet:
    """Rename one motion. Raises `WriteError` if ``old`` does not exist or ``new`` is already used."""
    all_pairs = pairs(motions)
    index = _index_of(all_pairs, old)
    for other, (_, definition) in enumerate(all_pairs):
        if other != index and names.same(definition.label, new):
            raise WriteError(say("a motion named {!r} already exists", definition.label), remedy="Choose another name")
    motion, definition = all_pairs[index]
    label = names.encode(new)
    all_pairs[index] = (replace(motion, name=label), replace(definition, name=label))
    return _rearranged_checked(motions, all_pairs)


def delete(motions: MotionSet, unwanted: Iterable[str]) -> MotionSet:
    """Remove the named motions. Raises `WriteError` if one does not exist."""
    all_pairs = pairs(motions)
    removed = {_index_of(all_pairs, name) for name in unwanted}
    return _rearranged_checked(motions, [pair for index, pair in enumerate(all_pairs) if index not in removed])


def reorder(motions: MotionSet, first: Sequence[str]) -> MotionSet:
    """Move the named motions to the start, in the given order; the others follow in their old order."""
    all_pairs = pairs(motions)
    front = list(dict.fromkeys(_index_of(all_pairs, name) for name in first))
    rest = [index for index in range(len(all_pairs)) if index not in front]
    return _rearranged_checked(motions, [all_pairs[index] for index in front + rest])


def arranged(motions: MotionSet, indices: Sequence[int]) -> MotionSet:
    """Return the motions at these indices, in this order."""
    all_pairs = pairs(motions)
    return _rearranged_checked(motions, [all_pairs[index] for index in indices])


def split(motions: MotionSet, wanted: Iterable[str]) -> tuple[MotionSet, MotionSet]:
    """Split into two sets with the same partitions: the named motions in file order, and the others."""
    all_pairs = pairs(motions)
    indices = {_index_of(all_pairs, name) for name in wanted}
    wanted_pairs = [pair for index, pair in enumerate(all_pairs) if index in indices]
    other_pairs = [pair for index, pair in enumerate(all_pairs) if index not in indices]
    return _rearranged_checked(motions, wanted_pairs), _rearranged_checked(motions, other_pairs)


def merge(motions: MotionSet, other: MotionSet, *, replace_same: bool = False) -> MotionSet:
    """Append the motions of ``other`` to ``motions``, their tracks in the bone order of ``motions``.

    A motion whose name already exists is refused, or with ``replace_same`` replaces the old one at its index. Raises
    `WriteError` if the bones differ or a motion is played on a partition that ``motions`` lacks.
    """
    result = pairs(motions)
    track_order = _track_order(motions, other)
    parts = [names.decode(part.name).lower() for part in motions.parameters.partitions]
    index_by_name = {definition.label.lower(): index for index, (_, definition) in enumerate(result)}
    for motion, definition in pairs(other):
        pair = (_in_track_order(motion, track_order), _with_partition(definition, other, parts))
        index = index_by_name.get(definition.label.lower())
        if index is None:
            index_by_name[definition.label.lower()] = len(result)
            result.append(pair)
        elif replace_same:
            motion, definition = pair
            result[index] = (motion, replace(definition, motion=result[index][1].motion))
        else:
            words = "both files have a motion named {!r}"
            raise WriteError(say(words, definition.label), remedy="Rename one, or replace those of the first")
    marks = any(definition.marks for _, definition in result)
    version = max(motions.parameters.version, other.parameters.version) if marks else motions.parameters.version
    return _rearranged_checked(motions, result, replace(motions.parameters, version=version))


def _track_order(motions: MotionSet, other: MotionSet) -> list[int]:
    """Return, for each track of ``motions``, the index of the track of ``other`` that moves the same bone."""

    def bones(of: MotionSet) -> list[str]:
        count = sum(len(partition.bones) for partition in of.parameters.partitions)
        return [bone.lower() for bone in track_bones(of.parameters, count, Report())]

    own_bones, other_bones = bones(motions), bones(other)
    if sorted(own_bones) != sorted(other_bones):
        unshared = sorted(set(own_bones) ^ set(other_bones))
        raise WriteError(
            say("the files move different bones ({} and {}; {})", len(own_bones), len(other_bones), listed(unshared)),
            remedy="Merge only files that belong to one skeleton",
        )
    return [other_bones.index(bone) for bone in own_bones]


def _in_track_order(motion: Motion, order: list[int]) -> Motion:
    if order == list(range(motion.track_count)):
        return motion
    if motion.track_count != len(order):
        words = "the motion {!r} has {:# track|# tracks} for {} bones"
        raise WriteError(say(words, motion.label, motion.track_count, len(order)))
    return Motion.of(motion.name, motion.frames, [motion.track_bytes(track) for track in order])


def _with_partition(definition: Definition, source: MotionSet, parts: list[str]) -> Definition:
    """Return the definition with its partition's index in ``parts``. An FX refers to a bone and is not changed."""
    number = definition.bone_or_part
    if number == ALL_PARTITIONS or definition.flags & MotionFlag.FX:
        return definition
    partitions = source.parameters.partitions
    label = names.decode(partitions[number].name) if number < len(partitions) else f"number {number}"
    if label.lower() not in parts:
        raise WriteError(
            say("the motion {!r} plays on the bone part {!r}, which this file lacks", definition.label, label),
            remedy="Set it to another bone part or to all of them first",
        )
    return replace(definition, bone_or_part=parts.index(label.lower()))


def set_parameters(
    motions: MotionSet,
    name: str,
    *,
    timing: dict[str, float] | None = None,
    set_flags: int = 0,
    clear_flags: int = 0,
    bone_or_part: int | None = None,
) -> MotionSet:
    """Change how one motion is played.

    ``timing`` by the names of `TIMING`, flags to set and to clear, bone or partition. Raises `WriteError` for timing
    outside 0 to 100 and for a name that does not exist.
    """
    all_pairs = pairs(motions)
    index = _index_of(all_pairs, name)
    motion, definition = all_pairs[index]
    values = np.array(definition.timing, "<f4")
    for field, value in (timing or {}).items():
        if not 0.0 <= value <= 100.0:
            words = "{} {} is outside what the file can store"
            raise WriteError(say(words, field, value), remedy="Choose a number from 0 to 100")
        values[TIMING.index(field)] = value
    changed = replace(
        definition,
        timing=values,
        flags=(definition.flags | set_flags) & ~clear_flags,
        bone_or_part=definition.bone_or_part if bone_or_part is None else bone_or_part,
    )
    all_pairs[index] = (motion, changed)
    return _rearranged_checked(motions, all_pairs)
