"""An `.omf` as text: a summary, a complete dump for text tools, and the differences between two files."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....core import names
from ....core.report import Report, counted
from ....core.text import row, rows, value_differences
from ..chunks import Chunk, chunk_heading
from ..marks import mark_differences
from .document import (
    TIMING,
    Definition,
    Motion,
    MotionFlag,
    MotionLibrary,
    MotionSet,
    Omf,
    Parameters,
    Track,
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


def dump(document: Omf) -> Iterator[str]:
    """Yield the whole file as text, one line per value or key."""
    for section in document.sections:
        yield chunk_heading(section.chunk)
        if isinstance(section.value, MotionLibrary):
            yield from dump_library(section.value, document.motion_set.parameters)
        elif isinstance(section.value, Parameters):
            yield from dump_parameters(section.value)
        else:
            yield f"  bytes {bytes(section.chunk.body).hex()}"
    if len(document.tail):
        yield f"tail {bytes(document.tail).hex()}"


def dump_library(library: MotionLibrary, parameters: Parameters) -> Iterator[str]:
    """Yield the motions, one line per key."""
    for entry in library.entries:
        if isinstance(entry, Chunk):
            yield f"  {chunk_heading(entry)} bytes {bytes(entry.body).hex()}"
            continue
        bones = track_bones(parameters, entry.track_count, Report())
        claim = "" if entry.declared is None else f" claims {entry.declared} bytes"
        yield f"  motion {entry.identifier} {entry.label!r} frames {entry.frames}{claim}"
        for index, bone in enumerate(bones):
            yield from _dump_track(entry.track(index), bone)
        if entry.leftover:
            yield f"    bytes {bytes(entry.body[entry.starts[-1] :]).hex()}"
    if len(library.tail):
        yield f"  tail {bytes(library.tail).hex()}"


def _dump_track(track: Track, bone: str) -> Iterator[str]:
    yield f"    track {bone} flags {track.flags}"
    for what, keys, crc in (
        ("rotation", track.rotation, track.rotation_crc),
        ("translation", track.translation, track.translation_crc),
    ):
        if crc is not None:
            yield f"      {what} crc {crc:08x}"
        for frame, key in enumerate(rows(keys)):
            yield f"      {what} {frame} {key}"
    if track.size is not None and track.init is not None:
        yield f"      size {row(track.size)}"
        yield f"      init {row(track.init)}"


def dump_parameters(parameters: Parameters) -> Iterator[str]:
    """Yield partitions and definitions, one line per field."""
    yield f"  version {parameters.version}"
    for partition in parameters.partitions:
        yield f"  partition {partition.label!r}"
        for bone in partition.bones:
            label = names.decode(bone.name) if bone.name is not None else "-"
            yield f"    bone {label!r} track {'-' if bone.track is None else bone.track}"
    for definition in parameters.definitions:
        yield f"  definition {definition.label!r}"
        yield f"    flags {definition.flags} ({flag_names(definition.flags)})"
        yield f"    bone or part {definition.bone_or_part}"
        yield f"    motion {definition.motion}"
        yield f"    timing {row(definition.timing)}"
        for mark in definition.marks:
            yield f"    mark {mark.label!r} line end {mark.line_end!r}"
            for interval in rows(mark.intervals):
                yield f"      interval {interval}"
    if len(parameters.tail):
        yield f"  tail {bytes(parameters.tail).hex()}"


def differences(first: Omf, second: Omf) -> Iterator[str]:
    """Yield the differences between two files: parameters, motions, bones, frames, stored integers, other chunks."""
    yield from motion_set_differences(first.motion_set, second.motion_set)
    ids = [[section.chunk.id for section in document.sections] for document in (first, second)]
    if ids[0] != ids[1]:
        yield f"chunks: {_hex(ids[0])} / {_hex(ids[1])}"
    for one, other in zip(first.sections, second.sections, strict=False):
        if one.value is None and other.value is None and one.chunk.body != other.chunk.body:
            yield f"chunk {one.chunk.id:#x}: its bytes differ"
    if first.tail != second.tail:
        yield "bytes behind the last chunk differ"


def _hex(ids: list[int]) -> str:
    return " ".join(f"{identifier:#x}" for identifier in ids)


def motion_set_differences(
    first: MotionSet,
    second: MotionSet,
    *,
    missing: str = "is only in the first",
    added: str = "is only in the second",
) -> Iterator[str]:
    """Yield the differences between two sets of motions. If only the name of a motion differs, it counts as renamed.

    ``missing`` and ``added`` are the words for a motion that only one of them has.
    """
    yield from _parameter_differences(first.parameters, second.parameters)
    ones, others = _by_name(first), _by_name(second)
    renamed = _renamed(ones, others)
    for old, new in renamed.items():
        yield f"motion {old!r} is now called {new!r}"
    new_names = {name: renamed.get(name, name) for name in ones}
    order = [name for name in new_names.values() if name in others]
    shared = set(order)
    if order != [name for name in others if name in shared]:
        yield "the motions are in another order"
    for name, one in ones.items():
        other = others.get(new_names[name])
        if other is None:
            yield f"motion {name!r} {missing}"
        else:
            yield from (f"motion {name!r}: {line}" for line in _motion_differences(one, other, first.parameters))
    for name in others:
        if name not in shared:
            yield f"motion {name!r} {added}"


class _Pair(NamedTuple):
    """A motion and its definition (None if one is missing), and their index in the file, from 0."""

    motion: Motion | None
    definition: Definition | None
    position: int


Named = dict[str, _Pair]


def _by_name(motions: MotionSet) -> Named:
    """Return the motions by name; motions of the same name get distinguishing numbers."""
    pairs, labels = [], []
    all_motions, definitions = motions.library.motions, motions.parameters.definitions
    for index in range(max(len(all_motions), len(definitions))):
        motion = all_motions[index] if index < len(all_motions) else None
        definition = motions.definition(index)
        labels.append(name_in_game(motion, definition))
        pairs.append(_Pair(motion, definition, index))
    return dict(zip(names.numbered_labels(labels), pairs, strict=True))


def _renamed(ones: Named, others: Named) -> dict[str, str]:
    """Return old -> new names: names only in ``ones``, with the motion only in ``others`` that has the same keys."""
    found: dict[tuple[int, bytes], deque[str]] = {}
    for name, pair in others.items():
        if name not in ones and pair.motion is not None:
            found.setdefault(_keys(pair.motion), deque()).append(name)
    result = {}
    for name, pair in ones.items():
        twins = found.get(_keys(pair.motion)) if name not in others and pair.motion is not None else None
        if twins:
            result[name] = twins.popleft()
    return result


def _keys(motion: Motion) -> tuple[int, bytes]:
    return motion.frames, bytes(motion.body)


def _parameter_differences(one: Parameters, other: Parameters) -> Iterator[str]:
    if one.version != other.version:
        yield f"parameters version: {one.version} / {other.version}"
    lists = [
        [(part.label, [(bone.name, bone.track) for bone in part.bones]) for part in parameters.partitions]
        for parameters in (one, other)
    ]
    if lists[0] != lists[1]:
        yield f"bone parts: {_parts(one)} / {_parts(other)}"
    if one.tail != other.tail:
        yield "bytes behind the parameters differ"


def _parts(parameters: Parameters) -> str:
    return ", ".join(f"{part.label} {len(part.bones)}" for part in parameters.partitions)


def _motion_differences(one: _Pair, other: _Pair, parameters: Parameters) -> Iterator[str]:
    yield from _definition_differences(one, other)
    first, second = one.motion, other.motion
    if first is None or second is None:
        if first is not second:
            yield f"keys only in the {'first' if first else 'second'}"
        return
    if first.frames != second.frames:
        yield f"frames: {first.frames} / {second.frames}"
    if first.track_count != second.track_count:
        yield f"tracks: {first.track_count} / {second.track_count}"
    # A motion whose index changed because motions were inserted before it has not changed itself.
    if first.identifier - one.position != second.identifier - other.position:
        yield f"chunk {first.identifier} / {second.identifier}"
    bones = track_bones(parameters, first.track_count, Report())
    for track in range(min(first.track_count, second.track_count)):
        if first.track_bytes(track) != second.track_bytes(track):
            lines = _track_differences(first.track(track), second.track(track))
            yield from (f"bone {bones[track]!r}: {line}" for line in lines)
    if first.body[first.starts[-1] :] != second.body[second.starts[-1] :]:
        yield "bytes behind the tracks differ"


def _definition_differences(first: _Pair, second: _Pair) -> Iterator[str]:
    one, other = first.definition, second.definition
    if one is None or other is None:
        if one is not other:
            yield f"defined only in the {'first' if one else 'second'}"
        return
    if one.flags != other.flags:
        yield f"flags: {flag_names(one.flags)} / {flag_names(other.flags)}"
    if one.bone_or_part != other.bone_or_part:
        yield f"bone or part: {one.bone_or_part} / {other.bone_or_part}"
    if one.motion - first.position != other.motion - second.position:
        yield f"motion number: {one.motion} / {other.motion}"
    for field, a, b in zip(TIMING, one.timing, other.timing, strict=True):
        yield from value_differences(field, a, b)
    yield from mark_differences(one.marks, other.marks)


def _track_differences(one: Track, other: Track) -> Iterator[str]:
    if one.flags != other.flags:
        yield f"track flags: {one.flags} / {other.flags}"
    yield from _key_differences("rotation", one.rotation, other.rotation)
    yield from _key_differences("translation", one.translation, other.translation)
    for what, a, b in (("size", one.size, other.size), ("init", one.init, other.init)):
        if (a is None) != (b is None) or (a is not None and b is not None and a.tobytes() != b.tobytes()):
            yield f"translation {what}: {row(a) if a is not None else '-'} / {row(b) if b is not None else '-'}"
    if one.rotation_crc != other.rotation_crc and one.rotation.tobytes() == other.rotation.tobytes():
        yield "rotation crc differs, the keys do not"
    if one.translation_crc != other.translation_crc and one.translation.tobytes() == other.translation.tobytes():
        yield "translation crc differs, the keys do not"


def _key_differences(what: str, one: NDArray[Any], other: NDArray[Any]) -> Iterator[str]:
    if one.shape != other.shape or one.dtype != other.dtype:
        yield f"{what}: {len(one)} keys of {one.dtype} / {len(other)} of {other.dtype}"
        return
    if one.tobytes() == other.tobytes():
        return
    # Compared as bits: a NaN is equal to itself, 0 and -0 are not equal.
    bits = f"u{one.itemsize}"
    frames = np.flatnonzero((one.view(bits) != other.view(bits)).any(axis=1))
    gap = np.abs(one[frames].astype(np.float64) - other[frames].astype(np.float64))
    unit = "LSB" if one.dtype.kind == "i" else "m" if what == "translation" else ""
    where = (
        f"frame {frames[0]}"
        if len(frames) == 1
        else f"{len(frames)} of {len(one)} keys, frames {frames[0]} to {frames[-1]}"
    )
    yield f"{what}: {where}, at most {gap.max():g} {unit}".rstrip()
