"""The files `.skl` and `.skls`: bytes <-> `Skl`.

A `.skl` is chunk 0x1200 with one motion; a `.skls` is no chunked file but a count and so many motions.
"""

from __future__ import annotations

from pathlib import PurePath

import numpy as np

from ....core.binary import Bytes, Reader, Writer
from ....core.errors import ReadError, WriteError
from ....core.finite import warn_not_finite
from ....core.report import Report
from ....core.text import counted
from ..channels import NAMES
from ..chunks import ChunkRun, Section, listed, open_chunk, read_chunks, starts_like_chunks, with_body, write_chunks
from ..envelopes import are_sound, check, read_old, read_packed, write_envelope
from ..marks import read_marks, write_marks
from .document import (
    FX,
    MARKS_SINCE,
    MOTION,
    NAMED_SINCE,
    PACKED_SINCE,
    STOP_AT_END,
    VERSIONS,
    BoneTrack,
    SkeletalMotion,
    Skl,
)

SMALLEST_MOTION = 1 + 4 + 4 + 4 + 2 + 3 + 16 + 2
SMALLEST_OLD_TRACK = 4 + 6 * 12
SMALLEST_TRACK = 2 + 6 * 4

starts_like = starts_like_chunks(MOTION)


def read(data: bytes, file: str, report: Report) -> Skl:
    """The document of a `.skl` or, by its name, of a `.skls`. Raises `ReadError`."""
    reader = Reader(data, file)
    if not len(data):
        raise reader.error("the file is empty", "Copy it again")
    if PurePath(file).suffix.lower() == ".skls":
        return read_list(reader, report)
    run = read_chunks(reader, report)
    sections: list[Section[SkeletalMotion]] = []
    motions: list[SkeletalMotion] = []
    bodies: list[Bytes] = []
    for chunk in run.chunks:
        value = None
        if chunk.plain_id == MOTION and len(chunk.body) and not motions:
            body = open_chunk(chunk, reader)
            value = read_motion(body, report)
            bodies.append(body.data[: body.position])
            value.tail = body.rest()
            if len(value.tail):
                report.warn(f"{counted(len(value.tail), 'extra byte')} after the motion; kept", value.label)
            motions.append(value)
        sections.append(Section(chunk, value))
    if not motions:
        raise ReadError(
            f"no chunk {MOTION:#x} (a skeletal motion); found: {listed(run.chunks)}",
            file=file,
            remedy="The file is damaged, or it is a list of motions that needs the suffix .skls",
        )
    return Skl(motions, sections, run.tail, bodies)


def read_list(reader: Reader, report: Report) -> Skl:
    """A count and so many motions, as in a `.skls` or an object of the editor. Raises `ReadError`."""
    count = reader.u32("the number of motions")
    remedy = "The file is damaged, or a single motion that needs the suffix .skl"
    reader.expect_room(count, "motions", SMALLEST_MOTION, remedy)
    motions: list[SkeletalMotion] = []
    bodies: list[Bytes] = []
    for _ in range(count):
        start = reader.position
        motions.append(read_motion(reader, report))
        bodies.append(reader.data[start : reader.position])
    tail = reader.rest()
    if len(tail):
        report.warn(f"{counted(len(tail), 'extra byte')} after the motions; kept")
    return Skl(motions, None, tail, bodies)


def read_motion(reader: Reader, report: Report) -> SkeletalMotion:
    """One motion, wherever it lies. Raises `ReadError`."""
    name = reader.string("the motion's name")
    first, last = reader.i32("the first frame"), reader.i32("the last frame")
    fps = reader.f32("the frames per second")
    version = reader.u16("the version")
    if version not in VERSIONS:
        raise reader.error(
            f"skeletal motions of version {version} are unknown (known: 4 to 7)", "The file is damaged: copy it again"
        )
    flags, switches = 0, None
    if version == 4:
        bone_or_part = reader.u32("a bone or part")
        switches = (reader.u8("the FX switch"), reader.u8("the stop switch"))
        flags = (FX if switches[0] else 0) | (STOP_AT_END if switches[1] else 0)
    elif version == 5:
        flags, bone_or_part = reader.u32("a motion's flags"), reader.u32("a bone or part")
    else:
        flags, bone_or_part = reader.u8("a motion's flags"), reader.u16("a bone or part")
    timing = reader.array("<f4", 4, what="a motion's timing")
    motion = SkeletalMotion(name, first, last, fps, version, flags, bone_or_part, timing, [], switches=switches)
    warn_not_finite(report, f"{motion.label}, timing", timing)
    motion.tracks = _read_tracks(reader, motion, report)
    if version >= MARKS_SINCE:
        motion.marks = read_marks(reader, report, motion.label)
    if not (np.isfinite(fps) and fps >= 1e-3):
        report.warn(f"{fps} is not a valid frame rate; 30 frames per second are used, the value is kept", motion.label)
    return motion


def _read_tracks(reader: Reader, motion: SkeletalMotion, report: Report) -> list[BoneTrack]:
    packed = motion.version >= PACKED_SINCE
    count = reader.u16("the number of bones") if packed else reader.u32("the number of bones")
    smallest = SMALLEST_TRACK if packed else SMALLEST_OLD_TRACK
    reader.expect_room(count, "bones", smallest)
    tracks = []
    for number in range(count):
        name = reader.string("a bone's name") if motion.version >= NAMED_SINCE else None
        flags = reader.u8("a bone's flags") if packed else reader.u32("a bone's flags")
        track = BoneTrack(name, flags, [])
        for channel in NAMES:
            what = f"channel {channel} of bone {number}"
            track.envelopes.append(read_packed(reader, what) if packed else read_old(reader, what))
        tracks.append(track)
    if not are_sound([envelope for track in tracks for envelope in track.envelopes]):
        for number, track in enumerate(tracks):
            for channel, envelope in zip(NAMES, track.envelopes, strict=True):
                check(envelope, f"{motion.label} {number} {channel}", report)
    return tracks


def write_motion(writer: Writer, motion: SkeletalMotion) -> None:
    """One motion. Raises `WriteError`."""
    writer.string(motion.name)
    writer.i32(motion.first)
    writer.i32(motion.last)
    writer.f32(motion.fps)
    writer.u16(motion.version)
    packed = motion.version >= PACKED_SINCE
    if motion.version == 4:
        switches = motion.switches or (int(bool(motion.flags & FX)), int(bool(motion.flags & STOP_AT_END)))
        writer.u32(motion.bone_or_part)
        writer.u8(switches[0])
        writer.u8(switches[1])
    elif packed:
        writer.u8(motion.flags)
        writer.u16(motion.bone_or_part)
    else:
        writer.u32(motion.flags)
        writer.u32(motion.bone_or_part)
    writer.array(motion.timing, "<f4")
    if packed:
        writer.u16(len(motion.tracks))
    else:
        writer.u32(len(motion.tracks))
    for track in motion.tracks:
        _write_track(writer, track, motion)
    if motion.version >= MARKS_SINCE:
        write_marks(writer, motion.marks)
    writer.raw(motion.tail)


def _write_track(writer: Writer, track: BoneTrack, motion: SkeletalMotion) -> None:
    packed = motion.version >= PACKED_SINCE
    if motion.version >= NAMED_SINCE:
        writer.string(track.name or b"")
    if packed:
        writer.u8(track.flags)
    else:
        writer.u32(track.flags)
    for envelope in track.envelopes:
        if envelope.packed != packed:
            raise WriteError(f"a channel is not in the layout of version {motion.version}", file=motion.label)
        write_envelope(writer, envelope)


def write(document: Skl) -> bytes:
    """The file's bytes."""
    if document.sections is None:
        writer = Writer()
        writer.u32(len(document.motions))
        for motion in document.motions:
            write_motion(writer, motion)
        writer.raw(document.tail)
        return writer.getvalue()
    chunks = []
    for section in document.sections:
        if section.value is None:
            chunks.append(section.chunk)
            continue
        writer = Writer()
        write_motion(writer, section.value)
        chunks.append(with_body(section.chunk, writer.getvalue()))
    return write_chunks(ChunkRun(chunks, document.tail))


recompose = write
"""The same: nothing of a file that has a type is kept as bytes."""


def raw_size(document: Skl) -> int:
    """Bytes kept without knowing what they mean."""
    unknown = sum(len(section.chunk.body) for section in document.sections or [] if section.value is None)
    return len(document.tail) + unknown + sum(len(motion.tail) for motion in document.motions)
