"""The editor's motions in words: a summary, a complete dump for text tools, and what differs between two files."""

from __future__ import annotations

from collections.abc import Iterator

from ..channels import NAMES
from ..chunks import section_lines
from ..envelopes import are_different, dump_envelope, envelope_differences, shape_counts
from ..marks import Mark
from .document import TIMING, SkeletalMotion, Skl
from .mapping import bone_names

MOST_LISTED = 20


def describe(document: Skl) -> list[str]:
    """A few lines for people."""
    lines = [f"{len(document.motions)} {'motion' if len(document.motions) == 1 else 'motions'}"]
    for motion in document.motions[:MOST_LISTED]:
        seconds = (motion.last - motion.first) * motion.frame
        keys = [envelope for track in motion.tracks for envelope in track.envelopes]
        lines.append(
            f"{motion.label}: version {motion.version}, frames {motion.first} to {motion.last} at {motion.fps:g} a "
            f"second ({seconds:.2f} s), {len(motion.tracks)} bones, {len(motion.marks)} marks, "
            f"keys: {shape_counts(keys)}"
        )
    if len(document.motions) > MOST_LISTED:
        lines.append(f"and {len(document.motions) - MOST_LISTED} more")
    return lines


def dump(document: Skl) -> Iterator[str]:
    """Everything, a key a line."""
    if document.sections is None:
        for motion in document.motions:
            yield from _dump_motion(motion)
    yield from section_lines(document.sections or (), document.tail, lambda _, motion: _dump_motion(motion))


def _dump_motion(motion: SkeletalMotion) -> Iterator[str]:
    yield f"motion {motion.label!r} version {motion.version}"
    yield f"frames {motion.first} to {motion.last} fps {motion.fps}"
    yield f"flags {motion.flags}" + (f" switches {motion.switches}" if motion.switches else "")
    yield f"bone or part {motion.bone_or_part}"
    yield " ".join(f"{name} {value}" for name, value in zip(TIMING, motion.timing, strict=True))
    for label, track in zip(bone_names(motion), motion.tracks, strict=True):
        yield f"  bone {label!r} flags {track.flags}"
        for name, envelope in zip(NAMES, track.envelopes, strict=True):
            heading, *keys = dump_envelope(envelope)
            yield f"    channel {name} {heading}"
            yield from (f"    {key}" for key in keys)
    for mark in motion.marks:
        yield f"  mark {mark.label!r} line end {mark.line_end!r}"
        for start, end in mark.intervals:
            yield f"    interval {start} {end}"
    if len(motion.tail):
        yield f"  bytes {bytes(motion.tail).hex()}"


def differences(first: Skl, second: Skl) -> Iterator[str]:
    """What differs, motion by motion, bone by bone, by name."""
    ones, others = _by_name(first), _by_name(second)
    if list(ones) != list(others) and set(ones) == set(others):
        yield "the motions are in another order"
    for name, one in ones.items():
        if name not in others:
            yield f"motion {name!r} is only in the first"
        else:
            yield from (f"motion {name!r}: {line}" for line in _motion_differences(one, others[name]))
    yield from (f"motion {name!r} is only in the second" for name in others if name not in ones)
    if (first.sections is None) != (second.sections is None):
        yield "one is a single motion, the other a list"
    if first.tail != second.tail:
        yield "bytes at the end differ"


def _by_name(document: Skl) -> dict[str, SkeletalMotion]:
    result: dict[str, SkeletalMotion] = {}
    for motion in document.motions:
        unique, number = motion.label, 1
        while unique in result:
            number += 1
            unique = f"{motion.label} ({number})"
        result[unique] = motion
    return result


def _motion_differences(one: SkeletalMotion, other: SkeletalMotion) -> Iterator[str]:
    for name in ("version", "first", "last", "fps", "flags", "switches", "bone_or_part"):
        a, b = getattr(one, name), getattr(other, name)
        if are_different(a, b):
            yield f"{name.replace('_', ' ')}: {a} / {b}"
    for name, a, b in zip(TIMING, one.timing, other.timing, strict=True):
        if a.tobytes() != b.tobytes():
            yield f"{name}: {a:g} / {b:g}"
    labels = bone_names(one), bone_names(other)
    if labels[0] != labels[1]:
        yield f"bones: {', '.join(labels[0])} / {', '.join(labels[1])}"
    tracks = dict(zip(labels[1], other.tracks, strict=True))
    for label, track in zip(labels[0], one.tracks, strict=True):
        if label not in tracks:
            continue
        if track.flags != tracks[label].flags:
            yield f"bone {label!r}: flags: {track.flags} / {tracks[label].flags}"
        for name, a, b in zip(NAMES, track.envelopes, tracks[label].envelopes, strict=True):
            yield from (f"bone {label!r}: channel {name}: {line}" for line in envelope_differences(a, b))
    if _mark_values(one.marks) != _mark_values(other.marks):
        yield f"marks: {_mark_names(one.marks)} / {_mark_names(other.marks)}"
    if one.tail != other.tail:
        yield "bytes behind the motion differ"


def _mark_values(marks: list[Mark]) -> list[tuple[bytes, bytes, bytes]]:
    return [(mark.name, mark.line_end, mark.intervals.tobytes()) for mark in marks]


def _mark_names(marks: list[Mark]) -> str:
    return ", ".join(f"{mark.label} ({len(mark.intervals)} intervals)" for mark in marks) or "none"
