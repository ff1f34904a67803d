"""An `.omf` as text: a summary, a complete dump for text tools, and the differences between two files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ....core import names
from ....core.report import Report, counted
from ....core.text import Rows
from ....core.walk import Entries, View, Views, fields
from ..chunks import CHUNK_VIEWS, Chunk, Section
from ..marks import MARK_VIEWS
from .document import (
    COUNT,
    TIMING,
    Definition,
    Motion,
    MotionFlag,
    MotionSet,
    Omf,
    Partition,
    PartitionBone,
    checksum,
    name_in_game,
    track_bones,
)


def flag_names(flags: int) -> str:
    """Return the names of motion flags: ``stop_at_end, no_mix``; unknown bits as one number; ``none`` without flags."""
    known = [flag.name.lower() for flag in MotionFlag if flag.name and flags & flag]
    unknown = flags & ~sum(MotionFlag)
    return ", ".join([*known, *([f"{unknown:#x}"] if unknown else [])]) or "none"


def describe(document: Omf) -> list[str]:
    """Return a short summary of the file."""
    return describe_motions(document.motion_set)


def describe_motions(motions: MotionSet) -> list[str]:
    """Return a short summary of a set of motions: counts, partitions, track flags."""
    library, parameters = motions
    all_motions = library.motions
    frames = sum(motion.frames for motion in all_motions)
    marks = sum(len(definition.marks) for definition in parameters.definitions)
    kinds = Counter(motion.flags(track) for motion in all_motions for track in range(motion.track_count))
    parts = ", ".join(f"{part.label} ({counted(len(part.bones), 'bone')})" for part in parameters.partitions)
    counts = f"{counted(len(all_motions), 'motion')}, {counted(frames, 'frame')}, {counted(marks, 'mark')}"
    return [
        f"{counts}, parameters version {parameters.version}",
        f"bone parts: {parts or 'none'}",
        f"track flags: {', '.join(f'{flags} ({count}x)' for flags, count in sorted(kinds.items())) or 'no tracks'}",
    ]


def list_motions(motions: MotionSet) -> list[str]:
    """Return one line per motion: index, name, frames, seconds, flags, timing, marks."""
    lines = []
    for index, (motion, definition) in enumerate(
        zip(motions.library.motions, motions.parameters.definitions, strict=False)
    ):
        timing = " ".join(f"{name} {value:g}" for name, value in zip(TIMING, definition.timing, strict=True))
        marks = f", {counted(len(definition.marks), 'mark')}" if definition.marks else ""
        lines.append(
            f"{index:4}  {definition.label}  {motion.frames} frames ({motion.frames / 30:.2f} s)  "
            f"{flag_names(definition.flags)}  {timing}{marks}"
        )
    return lines


class _Motion(NamedTuple):
    """A motion with its definition (None if one is missing), its number, its name in the game and its bones."""

    name: str
    number: int
    motion: Motion | None
    definition: Definition | None
    bones: Sequence[str]

    @property
    def keys(self) -> Hashable:
        """What tells a renamed motion: its keys."""
        return (self.motion.frames, bytes(self.motion.body)) if self.motion is not None else self


class _Track(NamedTuple):
    """A track of a motion, with its bone."""

    bone: str
    motion: Motion
    number: int


def _motions(motions: MotionSet) -> Iterator[_Motion]:
    library, definitions = motions.library.motions, motions.parameters.definitions
    names_of: dict[int, Sequence[str]] = {0: ()}
    for index in range(max(len(library), len(definitions))):
        motion, definition = library[index] if index < len(library) else None, motions.definition(index)
        count = motion.track_count if motion is not None else 0
        if count not in names_of:
            names_of[count] = track_bones(motions.parameters, count, Report())
        yield _Motion(name_in_game(motion, definition), index, motion, definition, names_of[count])


def _set_entries(motions: MotionSet) -> Entries:
    library, parameters = motions
    words = {"version": "parameters version", "tail": "tail of the parameters"}
    yield from fields(parameters, "partitions", "definitions", words=words)
    yield "bone parts", parameters.partitions
    yield "motions", list(_motions(motions))
    known = library.motions
    is_right = library.count == len(known)
    others = [entry for entry in library.entries if isinstance(entry, Chunk)]
    yield "chunks", [replace(chunk, body=b"") if is_right and chunk.plain_id == COUNT else chunk for chunk in others]
    if library.entries != [*others, *known]:
        yield (
            "order of the chunks",
            [part.id if isinstance(part, Chunk) else part.identifier for part in library.entries],
        )
    yield "tail of the motions", memoryview(library.tail)


def _motion_entries(whole: _Motion) -> Entries:
    motion, definition = whole.motion, whole.definition
    if definition is not None:
        yield "flags", flag_names(definition.flags)
        yield "bone or part", definition.bone_or_part
        # A motion whose index changed because motions were inserted before it has not changed itself.
        yield "motion number less its index", definition.motion - whole.number or None
        yield from zip(TIMING, definition.timing, strict=True)
        yield "marks", definition.marks
    if motion is not None:
        yield "chunk less its index", motion.identifier - whole.number
        yield "name in the motion", None if motion.label == whole.name else motion.name
        yield "frames", motion.frames
        yield "declared size", motion.declared
        yield "tracks", [_Track(bone, motion, index) for index, bone in enumerate(whole.bones)]
        yield "bytes after the tracks", memoryview(motion.body[motion.starts[-1] :])


def _track_entries(known: _Track) -> Entries:
    track, frames = known.motion.track(known.number), known.motion.frames
    yield "track flags", track.flags
    for name, keys, crc in (
        ("rotation", track.rotation, track.rotation_crc),
        ("translation", track.translation, track.translation_crc),
    ):
        unit = "LSB" if keys.dtype.kind == "i" else "m" if name == "translation" else ""
        yield name, Rows(keys, "frame", unit, counted=len(keys) == frames)
        yield f"{name} crc, wrong", None if crc is None or crc == checksum(keys) else f"{crc:08x}"
    yield "translation size", track.size
    yield "translation init", track.init


def section_entries(sections: Sequence[Section[Any]], motions: MotionSet | None) -> Entries:
    """Yield chunks, among them those of the ``motions`` without their values, and the motions."""
    yield (
        "chunks",
        [
            Section(replace(section.chunk, body=b""), None, section.tail)
            if section.value is not None and any(section.value is part for part in motions or ())
            else section
            for section in sections
        ],
    )
    yield "", motions


def _entries(document: Omf) -> Entries:
    yield from section_entries(document.sections, document.motion_set)
    yield "tail", memoryview(document.tail)


VIEWS: Views = {
    **CHUNK_VIEWS,
    **MARK_VIEWS,
    Omf: View(entries=_entries),
    MotionSet: View(entries=_set_entries),
    Partition: View(lambda part: f"bone part {part.label!r}", words={"name": None}),
    PartitionBone: View(
        lambda bone: f"bone {'-' if bone.name is None else repr(names.decode(bone.name))}", words={"name": None}
    ),
    _Motion: View(
        lambda motion: f"motion {motion.name!r}",
        (lambda motion: motion.name, lambda motion: motion.keys),
        entries=_motion_entries,
    ),
    _Track: View(
        lambda track: f"bone {track.bone!r}",
        entries=_track_entries,
        bits=lambda track: (track.motion.frames, bytes(track.motion.track_bytes(track.number))),
    ),
}
