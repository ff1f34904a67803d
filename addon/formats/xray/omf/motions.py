"""Chunk 0xE: ``chunk 0: u32 n``, ``chunk k + 1``: motion k = name, u32 frames, a track for each bone.

The same bytes lie in an `.omf` and inside a model.
"""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ....core.binary import Reader, Writer
from ....core.errors import ReadError
from ....core.finite import warn_not_finite
from ....core.report import Report
from ..chunks import Chunk, ChunkRun, open_chunk, read_chunks, write_chunks
from .document import COUNT, Motion, MotionLibrary, Track, TrackFlag, rotation_size, track_size, translation_key
from .tracks import overlong

_U32 = struct.Struct("<I")


def read_motions(reader: Reader, report: Report) -> MotionLibrary:
    """The motions of a chunk's body; what cannot be read as one stays a chunk, and is reported."""
    run = read_chunks(reader, report)
    library = MotionLibrary([_motion_or_chunk(chunk, reader, report) for chunk in run.chunks], run.tail)
    _check_count(library, reader, report)
    return library


def _motion_or_chunk(chunk: Chunk, parent: Reader, report: Report) -> Motion | Chunk:
    if chunk.id == COUNT or chunk.packed is not None:
        return chunk
    body = open_chunk(chunk, parent)
    try:
        return _read_motion(chunk, body, report)
    except ReadError as wrong:
        report.warn(f"not readable as a motion, kept as it is: {wrong.problem}", body.chunk)
        return chunk


def _read_motion(chunk: Chunk, reader: Reader, report: Report) -> Motion:
    motion = read_motion(reader)
    motion.identifier, motion.declared, motion.offset = chunk.id, chunk.declared, chunk.offset
    if motion.leftover:
        report.warn(f"{motion.leftover} bytes are no whole track; kept", motion.label)
    _check_checksums(motion, report)
    _check_numbers(motion, report)
    return motion


def read_motion(reader: Reader) -> Motion:
    """One motion of a chunk's body. Raises `ReadError`."""
    name = reader.string("the motion's name")
    frames = reader.u32("the number of frames")
    body = reader.rest()
    return Motion(name, frames, body, _track_starts(body, frames))


def _track_starts(body: memoryview, frames: int) -> list[int]:
    """Where tracks begin, and where the last whole one ends: they follow one another to the end of the chunk."""
    sizes = [track_size(flags & 0xF, frames) for flags in range(16)]
    end, position, starts = len(body), 0, [0]
    while position < end:
        position += sizes[body[position] & 0xF]
        if position > end:
            break
        starts.append(position)
    return starts


def _check_checksums(motion: Motion, report: Report) -> None:
    body, frames = motion.body, motion.frames
    stored = _U32.unpack_from
    # IntFlag arithmetic costs a microsecond; this loop runs once a track.
    single, keyed = int(TrackFlag.SINGLE_ROTATION), int(TrackFlag.TRANSLATION_KEYS)
    rotations = [rotation_size(flags, frames) for flags in range(16)]
    translations = [3 * translation_key(flags).itemsize * frames for flags in range(16)]
    for start in motion.starts[:-1]:
        flags = body[start] & 0xF
        place = start + 1 + rotations[flags]
        if not flags & single and crc32(body[start + 5 : place]) != stored(body, start + 1)[0]:
            report.warn("the checksum of rotation keys is wrong; kept (the game does not mind)", motion.label)
        if flags & keyed and crc32(body[place + 4 : place + 4 + translations[flags]]) != stored(body, place)[0]:
            report.warn("the checksum of translation keys is wrong; kept (the game does not mind)", motion.label)


def _check_numbers(motion: Motion, report: Report) -> None:
    """Look for NaN and infinite values: in ranges and lone translations, which end their tracks, and in float keys."""
    body = np.frombuffer(motion.body, np.uint8)
    starts = np.array(motion.starts, np.int64)
    flags = body[starts[:-1]]
    keyed = (flags & TrackFlag.TRANSLATION_KEYS) != 0
    floats = (flags & TrackFlag.FLOAT_KEYS) != 0
    last, ranges = (starts[1:][chosen][:, None] - 12 + np.arange(12) for chosen in (~(keyed & floats), keyed & ~floats))
    found = [body[places].view("<f4") for places in (last, ranges - 12)]
    found += [keys for track in np.flatnonzero(floats).tolist() for keys in _float_keys(motion.track(track))]
    warn_not_finite(report, motion.label, *found)


def _float_keys(track: Track) -> list[NDArray[Any]]:
    return [track.rotation, track.translation] if track.flags & TrackFlag.TRANSLATION_KEYS else [track.rotation]


def _check_count(library: MotionLibrary, reader: Reader, report: Report) -> None:
    motions = library.motions
    if library.count is None:
        report.warn("the number of motions is missing", reader.chunk)
    elif library.count != len(motions):
        report.warn(f"{library.count} motions are announced, {len(motions)} are there", reader.chunk)
    if len({motion.track_count for motion in motions}) > 1:
        report.warn("the motions have different numbers of tracks", reader.chunk)
    if not motions:
        report.warn("there are no motions in it", reader.chunk)
    for motion in motions:
        if not motion.frames:
            report.warn("a motion without frames", motion.label)
    worst = overlong(motions)
    if worst is not None:
        report.warn("motions claim more frames than their bytes bear; they cannot be imported", worst.label)


def write_motions(library: MotionLibrary, *, recompose: bool = False) -> bytes:
    """A chunk's body. With ``recompose`` each track is written from its typed fields."""
    chunks = [entry if isinstance(entry, Chunk) else _motion_chunk(entry, recompose) for entry in library.entries]
    return write_chunks(ChunkRun(chunks, library.tail))


def _motion_chunk(motion: Motion, recompose: bool) -> Chunk:
    return Chunk(motion.identifier, write_motion(motion, recompose=recompose), declared=motion.declared)


def write_motion(motion: Motion, *, recompose: bool = False) -> bytes:
    """One motion's chunk body."""
    writer = Writer()
    writer.string(motion.name)
    writer.u32(motion.frames)
    if recompose:
        for track in range(motion.track_count):
            writer.raw(motion.track(track).compose())
        writer.raw(motion.body[motion.starts[-1] :])
    else:
        writer.raw(motion.body)
    return writer.getvalue()


def numbered(motions: list[Motion]) -> MotionLibrary:
    """A library of these motions, counted and numbered in this order."""
    entries: list[Motion | Chunk] = [Chunk(COUNT, _U32.pack(len(motions)))]
    for number, motion in enumerate(motions, 1):
        entries.append(Motion(motion.name, motion.frames, motion.body, motion.starts, number, offset=motion.offset))
    return MotionLibrary(entries)


def with_motions(library: MotionLibrary, motions: list[Motion]) -> MotionLibrary:
    """``library`` with ``motions`` in the places of its own; where there are more or fewer, counted and numbered again.

    The engine looks up chunk i + 1 for every i below the count. As many motions keep the file's chunk ids and what else
    lies between them, odd as that may be.
    """
    places = {id(motion): place for place, motion in enumerate(library.motions)}
    if len(motions) != len(places):
        return numbered(motions)

    def laid(entry: Motion) -> Motion:
        motion = motions[places[id(entry)]]
        if motion is entry:
            return entry
        # A size that the file declares wrongly belongs to the chunk that lies there, not to a motion that moved.
        declared = None if id(motion) in places else motion.declared
        return replace(motion, identifier=entry.identifier, declared=declared)

    return MotionLibrary(
        [laid(entry) if isinstance(entry, Motion) else entry for entry in library.entries], library.tail
    )


def raw_size(library: MotionLibrary) -> int:
    """Bytes kept without knowing what they mean."""
    size = len(library.tail)
    for entry in library.entries:
        if isinstance(entry, Motion):
            size += entry.leftover
        elif entry.id != COUNT or len(entry.body) != _U32.size:
            size += len(entry.body)
    return size
