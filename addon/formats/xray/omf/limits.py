"""What the game's engine and editor refuse or misread, checked before writing."""

from __future__ import annotations

from collections import Counter

from ....core import names
from ....core.errors import WriteError
from ..marks import SWALLOWED
from .document import Definition, MotionSet, Parameters

MOST_BONES = 64
MOST_PARTITIONS = 4
MOST_MOTIONS = 0x3FFE
MOST_FRAMES = (1 << 24) - 1
LONGEST_NAME = 127


def problems(motions: MotionSet) -> dict[str, str]:
    """What the game would not take, each with its remedy."""
    found: dict[str, str] = {}
    library, parameters = motions
    _partition_problems(parameters, found)
    there = library.motions
    if len(there) > MOST_MOTIONS:
        found[f"{len(there)} motions; the game takes {MOST_MOTIONS}"] = "Split the file"
    if len(there) != len(parameters.definitions):
        found[f"{len(there)} motions, {len(parameters.definitions)} definitions"] = "Delete the motions that lack one"
    bones = sum(len(partition.bones) for partition in parameters.partitions)
    for motion in there:
        if not 1 <= motion.frames <= MOST_FRAMES:
            found[f"the motion {motion.label!r} has {motion.frames} frames"] = "Give it at least one frame"
        if motion.track_count != bones:
            found[f"the motion {motion.label!r} has {motion.track_count} tracks for {bones} bones"] = (
                "Export it with the skeleton the file belongs to"
            )
    for definition in parameters.definitions:
        _definition_problems(definition, parameters, found)
    for group in names.duplicates(definition.label for definition in parameters.definitions):
        found[f"the motion {group[0]!r} is there {len(group)} times"] = "Rename all but one: the game plays the first"
    return found


def _partition_problems(parameters: Parameters, found: dict[str, str]) -> None:
    bones = [bone for partition in parameters.partitions for bone in partition.bones]
    if len(bones) > MOST_BONES:
        found[f"{len(bones)} bones; the game takes {MOST_BONES}"] = "Remove bones that nothing moves"
    if len(parameters.partitions) > MOST_PARTITIONS:
        found[f"{len(parameters.partitions)} partitions; the game takes {MOST_PARTITIONS}"] = "Join some of them"
    if parameters.numbered and sorted(bone.track or 0 for bone in bones) != list(range(len(bones))):
        found["the partitions do not number every track once"] = "Put every bone into exactly one partition"
    for name, count in Counter((bone.name or b"").lower() for bone in bones if parameters.named).items():
        if count > 1:
            found[f"the bone {names.decode(name)!r} is in {count} partitions"] = "Put it into one"
    for label in [partition.name for partition in parameters.partitions] + [bone.name or b"" for bone in bones]:
        _name_problems("partition or bone", label, found)


def _definition_problems(definition: Definition, parameters: Parameters, found: dict[str, str]) -> None:
    _name_problems("motion", definition.name, found)
    if definition.marks and parameters.version < 4:
        found[f"the motion {definition.label!r} has marks; version {parameters.version} of the file has none"] = (
            "Remove the marks or write version 4"
        )
    for mark in definition.marks:
        if len(mark.intervals) & 0xFF in SWALLOWED:
            mark_text = f"the mark {mark.label!r} of {definition.label!r} has {len(mark.intervals)} intervals"
            found[f"{mark_text}, which the game misreads"] = "Split it or add an interval"
        if any(byte in mark.name for byte in SWALLOWED) or b"\0" in mark.name:
            found[f"a mark's name of {definition.label!r} holds a line break"] = "Rename the mark"


def _name_problems(what: str, name: bytes, found: dict[str, str]) -> None:
    if not name:
        found[f"a {what} without a name"] = "Name it"
    elif len(name) > LONGEST_NAME:
        found[f"the {what} name {names.decode(name)!r} is longer than {LONGEST_NAME} bytes"] = "Shorten it"


def refuse_new_problems(before: MotionSet | None, after: MotionSet) -> None:
    """Raise `WriteError` for the first problem that ``before`` did not have: old sins of a file stop nobody's work."""
    known = problems(before) if before is not None else {}
    for problem, remedy in problems(after).items():
        if problem not in known:
            raise WriteError(problem, remedy=remedy)
