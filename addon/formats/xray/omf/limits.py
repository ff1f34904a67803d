"""What the game's engine and editor refuse or misread, checked before writing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ....core import names
from ....core.errors import WriteError
from ..marks import SWALLOWED
from .document import Definition, MotionLibrary, MotionSet, Parameters

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


def library_problems(library: MotionLibrary) -> Iterator[str]:
    """What the engine stumbles over in the chunks: it looks up chunk i + 1 for every i below the count, and asserts."""
    there = [motion.identifier for motion in library.motions]
    if there != list(range(1, len(there) + 1)):
        shown = ", ".join(map(str, there[:8])) + (" ..." if len(there) > 8 else "")
        yield f"motions have the chunk ids {shown}; the game looks for 1 to {len(there)}"
    if library.count is None:
        yield "the number of motions is missing"
    elif library.count != len(there):
        yield f"{library.count} motions are announced, {len(there)} are there"


def skeleton_problems(motions: MotionSet, bones: Sequence[str]) -> Iterator[str]:
    """What does not fit the model that the motions lie in; ``bones`` are its bones."""
    for count in sorted({motion.track_count for motion in motions.library.motions} - {len(bones)}):
        yield f"motions have {count} tracks, the model has {len(bones)} bones"
    known = {bone.lower() for bone in bones}
    listed = (bone.name for partition in motions.parameters.partitions for bone in partition.bones)
    strange = sorted({names.decode(name) for name in listed if name and names.decode(name).lower() not in known})
    if strange:
        yield f"partitions name bones that the model does not have: {', '.join(strange[:8])}"


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
