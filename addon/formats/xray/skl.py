"""`.skl`, `.skls`: skeletal motions of the game's editor, one motion or a list, with curves for each bone.

A motion has playback settings and six channels of keys for each bone. Source: the editor's ``Motion.cpp``. Real files
have version 6; versions 4, 5 and 7 are known from the code alone. The four timing numbers are in another order than in
an `.omf`. A `.skl` is chunk 0x1200 with one motion; a `.skls` has no chunks, only a count and the motions.

A track is the bone's whole transform relative to its parent, ``setXYZi`` of P, H, B: in column form Ry(H)·Rx(P)·Rz(B).
Mirrored along z on both sides (`core.space`) that is Ry(-H)·Rx(-P)·Rz(B), Blender's Euler order ZXY with x = -P,
y = -H, z = B.

Bones without a track get their rest pose as one key. The editor writes the rest rotation about x into H and that about
y into P for them, which rotates such bones wrongly; here each goes into its own channel.
"""

from __future__ import annotations

import functools
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core import names, space
from ...core.binary import Bytes, Reader, Writer, as_in_file, warn_not_finite
from ...core.changes import Changes, Item, Noun, Part
from ...core.envelope import Envelope, Shape
from ...core.errors import ReadError, WriteError
from ...core.model import Channels, CurveClip, Skeleton
from ...core.report import Message, Report, say
from ...core.walk import Entries, View, Views, fields
from .chunks import (
    CHUNK_VIEWS,
    Chunk,
    ChunkRun,
    Section,
    listed,
    open_chunk,
    read_chunks,
    starts_like_chunks,
)
from .contents import Contents, write_contents
from .envelopes import (
    BONE,
    ENVELOPE_VIEWS,
    NAMES,
    StoredEnvelope,
    are_sound,
    check,
    decode_channels,
    encode_channels,
    read_old,
    read_packed,
    shape_counts,
    stored,
    usable_rate,
    write_envelope,
)
from .marks import MARK_VIEWS, Mark, decode_marks, encode_marks, read_marks, write_marks

MOTION = 0x1200
VERSIONS = (4, 5, 6, 7)
NAMED_SINCE = 5
PACKED_SINCE = 6
MARKS_SINCE = 7
TIMING = ("speed", "accrue", "falloff", "power")
"""Names of the columns of `SkeletalMotion.timing`; in an `.omf` power is the second."""
FX, STOP_AT_END = 1, 2
"""Bits of `SkeletalMotion.flags`, which version 4 stores as two bytes."""
ALL_PARTS = 0xFFFF
WORLD_SPACE = (
    "{0:# bone is|# bones are} rotated in world space, but shown relative to {0:its parent|their parents}; kept"
)


@dataclass(slots=True)
class BoneTrack:
    """The channels X Y Z H P B of a bone: its whole transform relative to its parent.

    ``name`` is None if the version stores none. ``flags``: 1 the rotation is in world space.
    """

    name: bytes | None
    flags: int
    envelopes: list[StoredEnvelope]


@dataclass(slots=True)
class SkeletalMotion:
    """A motion of the frames ``first`` to ``last`` at ``fps``; ``timing`` (4,) float32 in the order of `TIMING`.

    ``switches``: the bytes for FX and stop of version 4 if one is neither 0 nor 1, written while they mean ``flags``.
    """

    name: bytes
    first: int
    last: int
    fps: np.float32
    version: int
    flags: int
    bone_or_part: int
    timing: NDArray[np.float32]
    tracks: list[BoneTrack]
    marks: list[Mark] = field(default_factory=list)
    switches: tuple[int, int] | None = None
    tail: Bytes = b""

    @property
    def label(self) -> str:
        """The name as text."""
        return names.decode(self.name)

    @property
    def frame(self) -> float:
        """The length of a frame in seconds; 1/30 if the file's frame rate is unusable."""
        return 1.0 / usable_rate(self.fps)


@dataclass(slots=True)
class Skl:
    """A file: ``sections`` of a `.skl`, of which the first `MOTION` has a value; None for a `.skls` (no chunks).

    ``bodies``: the bytes of each motion as read, without its tail; empty for a file that was not read.
    """

    motions: list[SkeletalMotion]
    sections: list[Section[SkeletalMotion]] | None = None
    tail: Bytes = b""
    bodies: list[Bytes] = field(default_factory=list, compare=False)

    def with_motions(self, changed: list[SkeletalMotion]) -> Skl:
        """Return the same file with other motions; a `.skl` takes only the first."""
        if self.sections is None:
            return Skl(changed, None, self.tail)
        sections = [replace(part, value=changed[0]) if part.value is not None else part for part in self.sections]
        return Skl(changed[:1], sections, self.tail)


def new_skl(motion: SkeletalMotion) -> Skl:
    """Return a new `.skl`."""
    return Skl([motion], [Section(Chunk(MOTION, b""), motion)])


def new_skls(motions: Iterable[SkeletalMotion]) -> Skl:
    """Return a new `.skls`."""
    return Skl(list(motions))


# Bytes ----------------------------------------------------------------------------------------------------------------

SMALLEST_MOTION = 1 + 4 + 4 + 4 + 2 + 3 + 16 + 2
SMALLEST_OLD_TRACK = 4 + 6 * 12
SMALLEST_TRACK = 2 + 6 * 4

starts_like = starts_like_chunks(MOTION)


def read(data: bytes, file: str, report: Report) -> Skl:
    """Read the document of a `.skl` or, by the suffix of ``file``, of a `.skls`. Raises `ReadError`."""
    reader = Reader.of_file(data, file)
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
                report.warn(say("{:# extra byte|# extra bytes} after the motion; kept", len(value.tail)), value.label)
            motions.append(value)
        sections.append(Section(chunk, value))
    if not motions:
        raise ReadError(
            say("no chunk {:#x} (a skeletal motion); found: {}", MOTION, listed(run.chunks)),
            file=file,
            remedy="Check that it was copied whole; a list of motions needs the suffix .skls",
        )
    return Skl(motions, sections, run.tail, bodies)


def read_list(reader: Reader, report: Report) -> Skl:
    """Read a count and the motions, as in a `.skls` or an object of the editor. Raises `ReadError`."""
    count = reader.u32("the number of motions")
    remedy = "Check that it was copied whole; a single motion needs the suffix .skl"
    reader.expect_room(count, "motion", SMALLEST_MOTION, remedy)
    motions: list[SkeletalMotion] = []
    bodies: list[Bytes] = []
    for _ in range(count):
        start = reader.position
        motions.append(read_motion(reader, report))
        bodies.append(reader.data[start : reader.position])
    tail = reader.rest()
    if len(tail):
        report.warn(say("{:# extra byte|# extra bytes} after the motions; kept", len(tail)))
    return Skl(motions, None, tail, bodies)


def read_motion(reader: Reader, report: Report) -> SkeletalMotion:
    """Read one motion of a `.skl`, a `.skls` or an object. Raises `ReadError`, also for unknown versions."""
    name = reader.string("the motion's name")
    first, last = reader.i32("the first frame"), reader.i32("the last frame")
    fps = reader.f32("the frames per second")
    version = reader.u16("the version")
    if version not in VERSIONS:
        raise reader.error(say("skeletal motions of version {} are unknown (known: 4 to 7)", version))
    flags, switches = 0, None
    if version == 4:
        bone_or_part = reader.u32("a bone or part")
        stored = (reader.u8("the FX switch"), reader.u8("the stop switch"))
        flags = _meaning_of(stored)
        switches = stored if max(stored) > 1 else None
    elif version == 5:
        flags, bone_or_part = reader.u32("a motion's flags"), reader.u32("a bone or part")
    else:
        flags, bone_or_part = reader.u8("a motion's flags"), reader.u16("a bone or part")
    timing = reader.array("<f4", 4, what="a motion's timing")
    motion = SkeletalMotion(name, first, last, fps, version, flags, bone_or_part, timing, [], switches=switches)
    warn_not_finite(report, say("{}, timing", motion.label), timing)
    motion.tracks = _read_tracks(reader, motion, report)
    if version >= MARKS_SINCE:
        motion.marks = read_marks(reader, report, motion.label)
    if not (np.isfinite(fps) and fps >= 1e-3):
        words = "{} is not a valid frame rate; 30 frames per second are used, the value is kept"
        report.warn(say(words, fps), motion.label)
    return motion


def _read_tracks(reader: Reader, motion: SkeletalMotion, report: Report) -> list[BoneTrack]:
    packed = motion.version >= PACKED_SINCE
    count = reader.u16("the number of bones") if packed else reader.u32("the number of bones")
    smallest = SMALLEST_TRACK if packed else SMALLEST_OLD_TRACK
    reader.expect_room(count, "bone", smallest)
    tracks = []
    for number in range(count):
        name = reader.string("a bone's name") if motion.version >= NAMED_SINCE else None
        flags = reader.u8("a bone's flags") if packed else reader.u32("a bone's flags")
        track = BoneTrack(name, flags, [])
        for channel in NAMES:
            what = _channel_of(channel, number)
            track.envelopes.append(read_packed(reader, what) if packed else read_old(reader, what))
        tracks.append(track)
    if not are_sound([envelope for track in tracks for envelope in track.envelopes]):
        for number, track in enumerate(tracks):
            for channel, envelope in zip(NAMES, track.envelopes, strict=True):
                check(envelope, f"{motion.label} {number} {channel}", report)
    return tracks


@functools.lru_cache(1 << 12)
def _channel_of(channel: str, bone: int) -> str:
    """Return what messages call a channel. Cached: a file has tens of thousands, of a few hundred names."""
    return say("channel {} of bone {}", channel, bone)


def _meaning_of(switches: tuple[int, int]) -> int:
    return (FX if switches[0] else 0) | (STOP_AT_END if switches[1] else 0)


def _refuse_flags(motion: SkeletalMotion, flags: int) -> None:
    most = FX | STOP_AT_END if motion.version == 4 else 0xFFFF_FFFF if motion.version == 5 else 0xFF
    if flags & ~most:
        raise WriteError(say("version {} has no such flags", motion.version), file=motion.label, remedy="Clear them")


def write_motion(writer: Writer, motion: SkeletalMotion) -> None:
    """Write one motion. Raises `WriteError` for flags that its version cannot store, and for channels in the layout of
    another version.
    """
    _refuse_flags(motion, motion.flags)
    writer.string(motion.name)
    writer.i32(motion.first)
    writer.i32(motion.last)
    writer.f32(motion.fps)
    writer.u16(motion.version)
    packed = motion.version >= PACKED_SINCE
    if motion.version == 4:
        switches = motion.switches
        if switches is None or _meaning_of(switches) != motion.flags:
            switches = (motion.flags & FX, motion.flags // STOP_AT_END)
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


def bytes_of(motion: SkeletalMotion) -> bytes:
    """Return the bytes of one motion. Raises `WriteError`."""
    writer = Writer()
    write_motion(writer, motion)
    return writer.getvalue()


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
            raise WriteError(say("a channel is not in the layout of version {}", motion.version), file=motion.label)
        write_envelope(writer, envelope)


def write(document: Skl) -> bytes:
    """Return the file's bytes."""
    if document.sections is None:
        writer = Writer()
        writer.u32(len(document.motions))
        for motion in document.motions:
            write_motion(writer, motion)
        writer.raw(document.tail)
        return writer.getvalue()
    return write_contents(Contents(document.sections, document.tail), bytes_of)


recompose = write
"""The same as `write`, which already writes all typed values from their fields."""


def raw_size(document: Skl) -> int:
    """Return the number of bytes that are kept without knowing their meaning."""
    unknown = sum(len(section.chunk.body) for section in document.sections or [] if section.value is None)
    return len(document.tail) + unknown + sum(len(motion.tail) for motion in document.motions)


# Curves of bones ------------------------------------------------------------------------------------------------------


def bone_names(motion: SkeletalMotion, bones: Sequence[str] = ()) -> list[str]:
    """Return the bone of each track. Version 4 stores no names, so the names in ``bones`` are used in their order."""
    return [
        names.decode(track.name)
        if track.name is not None
        else bones[number]
        if number < len(bones)
        else f"bone_{number}"
        for number, track in enumerate(motion.tracks)
    ]


def decode(document: Skl, report: Report, bones: Sequence[str] = ()) -> list[CurveClip]:
    """Return every motion as curves in Blender's axes; ``bones`` of the skeleton are for versions without names."""
    return [decode_motion(motion, report, bones) for motion in document.motions]


def decode_motion(motion: SkeletalMotion, report: Report, bones: Sequence[str] = ()) -> CurveClip:
    """Return one motion as curves in Blender's axes; ``bones`` as in `decode`."""
    labels = bone_names(motion, bones)
    if motion.version < NAMED_SINCE and len(labels) != len(bones):
        words = "{:# track|# tracks} without names of bones; the skeleton has {:# bone|# bones}"
        report.warn(say(words, len(labels), len(bones)), motion.label)
    tracks = []
    for label, track in zip(labels, motion.tracks, strict=True):
        if track.flags & 1:
            report.warn(say(WORLD_SPACE, 1), label)
        curves = decode_channels(track.envelopes, BONE, motion.frame, f"{label} ", report)
        tracks.append(Channels(curves[:3], curves[3:]))
    return CurveClip(
        motion.label,
        labels,
        tracks,
        1.0 / motion.frame,
        motion.first,
        motion.last,
        markers=decode_marks(motion.marks),
    )


def encode(
    clips: Sequence[CurveClip],
    base: Skl | None = None,
    *,
    skeleton: Skeleton | None = None,
    version: int | None = None,
) -> tuple[Skl, Changes]:
    """Return ``base`` with each clip replacing the motion of its name, or appended; and what changed.

    Without ``base`` the result is a new `.skls`. ``version`` is that of new motions; by default 6, or 7 if they have
    marks. Bones of ``skeleton`` that a new motion lacks are written in their rest pose. Raises `WriteError`.
    """
    motions = list(base.motions) if base is not None else []
    indices: dict[str, list[int]] = {}
    for index, motion in enumerate(motions):
        indices.setdefault(motion.label.lower(), []).append(index)
    changes = Changes(noun=Noun.MOTION, items=Noun.CHANNEL)
    for clip in clips:
        same_name = indices.get(clip.name.lower())
        if same_name:
            index = same_name.pop(0)
            motions[index], change = encode_motion(clip, motions[index], skeleton)
            if change is not None:
                changes.parts.append(change)
            continue
        own_motion, change = new_motion(clip, skeleton, version)
        motions.append(own_motion)
        changes.parts.append(change)
    if base is not None and base.sections is not None and len(motions) != 1:
        raise WriteError(say("a .skl file stores one motion, not {}", len(motions)), remedy="Write a .skls")
    changes.unchanged = len(motions) - len(changes.parts)
    if base is None:
        return new_skls(motions), changes
    return (base.with_motions(motions) if changes.parts else base), changes


def encode_motion(
    clip: CurveClip, base: SkeletalMotion, skeleton: Skeleton | None
) -> tuple[SkeletalMotion, Part | None]:
    """Return the motion ``base`` with the curves of a clip, and what changed; ``base`` itself if nothing did.

    Raises `WriteError` for what the version of the motion cannot store: new bones in version 4, marks before version 7.
    """
    labels = bone_names(base, skeleton.bones if skeleton is not None else ())
    tracks_of_clip = _tracks_by_bone(clip)
    tracks = []
    changed: list[Item] = []
    for label, old in zip(labels, base.tracks, strict=True):
        if not tracks_of_clip[label.lower()]:
            tracks.append(old)
            continue
        _, curves = tracks_of_clip[label.lower()].popleft()
        envelopes, differing = encode_channels(
            list(curves), old.envelopes, BONE, base.frame, f"{label} ", to_packed=base.version >= PACKED_SINCE
        )
        changed += differing
        tracks.append(BoneTrack(old.name, old.flags, envelopes) if differing else old)
    fields = []
    for bone, curves in chain.from_iterable(tracks_of_clip.values()):
        if base.version < NAMED_SINCE:
            raise WriteError(say("bone {!r} is not in the motion", bone), file=base.label)
        tracks.append(_new_track(bone, curves, base.frame, base.version)[0])
        fields.append(say("bone {}", bone))
    marks = encode_marks(clip.markers, base.marks)
    if len(marks) != len(base.marks) or any(mark is not other for mark, other in zip(marks, base.marks, strict=True)):
        if base.version < MARKS_SINCE:
            words = "the motion is of version {}, which has no marks"
            raise WriteError(
                say(words, base.version), file=base.label, remedy="Delete its marks, or write it as a new motion"
            )
        fields.append(say("marks"))
    fps = base.fps
    if (clip.first, clip.last) != (base.first, base.last):
        fields.append(say("frames"))
    if np.float32(clip.fps) not in (base.fps, np.float32(1.0 / base.frame)):
        fps = _checked_rate(clip)
        fields.append(say("fps"))
    if not changed and not fields:
        return base, None
    result = replace(base, first=clip.first, last=clip.last, fps=fps, tracks=tracks, marks=marks)
    return result, Part(clip.name, Noun.MOTION, items=tuple(changed), fields=tuple(fields))


def _tracks_by_bone(clip: CurveClip) -> defaultdict[str, deque[tuple[str, Channels]]]:
    """Return bone name in lower case -> names and tracks in the clip; damaged files have several for one bone."""
    result: defaultdict[str, deque[tuple[str, Channels]]] = defaultdict(deque)
    for bone, track in zip(clip.bones, clip.tracks, strict=True):
        result[bone.lower()].append((bone, track))
    return result


@dataclass(frozen=True)
class Playback:
    """The playback settings of a motion. ``bone_or_part`` has 16 bits; ``timing`` (4,) in the order of `TIMING`."""

    name: str
    flags: int
    bone_or_part: int
    timing: NDArray[np.float32]


def with_playback(motion: SkeletalMotion, playback: Playback) -> tuple[SkeletalMotion, tuple[Message, ...]]:
    """Return the motion with these playback settings, and the changed ones; itself if none changed.

    Raises `WriteError` for flags that the motion's version cannot store.
    """
    changed: dict[str, Any] = {}
    if playback.name != motion.label:
        changed["name"] = names.encode(playback.name)
    if playback.flags != motion.flags:
        _refuse_flags(motion, playback.flags)
        changed["flags"] = playback.flags
    if playback.bone_or_part != min(motion.bone_or_part, ALL_PARTS):
        whole = 0xFFFF_FFFF if motion.version < PACKED_SINCE else ALL_PARTS
        changed["bone_or_part"] = whole if playback.bone_or_part == ALL_PARTS else playback.bone_or_part
    timing = as_in_file(playback.timing, motion.timing)
    if timing.tobytes() != motion.timing.tobytes():
        changed["timing"] = timing
    fields = tuple(say(name.replace("_", " ")) for name in changed)
    return (replace(motion, **changed), fields) if changed else (motion, ())


def _checked_rate(clip: CurveClip) -> np.float32:
    if not (np.isfinite(clip.fps) and clip.fps >= 1e-3):
        raise WriteError(say("a frame rate of {} cannot be written", clip.fps), file=clip.name)
    return np.float32(clip.fps)


def new_motion(
    clip: CurveClip, skeleton: Skeleton | None = None, version: int | None = None
) -> tuple[SkeletalMotion, Part]:
    """Return a new motion, and the changes that storing it caused; ``version`` is by default 6, or 7 with marks.

    Bones of ``skeleton`` that the clip lacks are written in their rest pose. Raises `WriteError` for version 4, for
    marks in a version without them, and for an unusable frame rate.
    """
    version = version or (MARKS_SINCE if clip.markers else PACKED_SINCE)
    if version not in VERSIONS or version < NAMED_SINCE:
        raise WriteError(say("new motions of version {} are not written", version), remedy="Known: 5, 6, 7")
    if clip.markers and version < MARKS_SINCE:
        raise WriteError(say("version {} has no marks", version), file=clip.name, remedy="Write version 7")
    fps = _checked_rate(clip)
    tracks_of_clip = _tracks_by_bone(clip)
    tracks: list[BoneTrack] = []
    channels: list[Item] = []

    def add(bone: str, curves: Channels) -> None:
        track, changed = _new_track(bone, curves, 1.0 / float(fps), version)
        tracks.append(track)
        channels.extend(changed)

    for number, bone in enumerate(skeleton.bones if skeleton is not None else ()):
        if tracks_of_clip[bone.lower()]:
            add(bone, tracks_of_clip[bone.lower()].popleft()[1])
        elif skeleton is not None:
            tracks.append(rest_track(skeleton, number, version))
    for bone, curves in chain.from_iterable(tracks_of_clip.values()):
        add(bone, curves)
    skeletal_motion = SkeletalMotion(
        names.encode(clip.name),
        clip.first,
        clip.last,
        fps,
        version,
        0,
        ALL_PARTS,
        np.array([1.0, 2.0, 2.0, 1.0], "<f4"),
        tracks,
        encode_marks(clip.markers, []),
    )
    return skeletal_motion, Part(clip.name, Noun.MOTION, new=True, items=tuple(channels))


def _new_track(bone: str, curves: Channels, frame: float, version: int) -> tuple[BoneTrack, list[Item]]:
    packed = version >= PACKED_SINCE
    envelopes, changed = encode_channels(list(curves), None, BONE, frame, f"{bone} ", to_packed=packed)
    return BoneTrack(names.encode(bone.lower()), 0, envelopes), changed


def rest_track(skeleton: Skeleton, bone: int, version: int = PACKED_SINCE) -> BoneTrack:
    """Return the track of a bone in its rest pose, with one key per channel: rotation x in P, y in H, z in B."""
    x, y, z = space.xray_bone_angles_back(skeleton.rest_rotation[bone])
    offset = space.xray_bone_translations(skeleton.rest_translation[bone])
    values = dict(zip(NAMES, (*offset, y, x, z), strict=True))
    return BoneTrack(names.encode(skeleton.bones[bone].lower()), 0, [_one_key(values[name], version) for name in NAMES])


def _one_key(value: float, version: int) -> StoredEnvelope:
    key = Envelope.of(np.zeros(1), np.array([value]), np.array([Shape.STEPPED], np.uint8))
    return stored(key, to_packed=version >= PACKED_SINCE)


# Text output ----------------------------------------------------------------------------------------------------------

MOST_LISTED = 20


def describe(document: Skl) -> list[str]:
    """Return a summary: one line per motion, for the first `MOST_LISTED` of them."""
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


class _Bone(NamedTuple):
    """A track with the name of its bone."""

    name: str
    flags: int
    channel: dict[str, StoredEnvelope]


def _motion_entries(motion: SkeletalMotion) -> Entries:
    yield from fields(motion, "name", "timing", "tracks", "marks")
    yield from zip(TIMING, motion.timing, strict=True)
    tracks = zip(bone_names(motion), motion.tracks, strict=True)
    yield "bones", [_Bone(name, track.flags, dict(zip(NAMES, track.envelopes, strict=True))) for name, track in tracks]
    yield "marks", motion.marks


def _entries(document: Skl) -> Entries:
    yield "motions", document.motions
    if document.sections is not None:
        chunks = [part.chunk if part.value is None else replace(part.chunk, body=b"") for part in document.sections]
        yield "", ChunkRun(chunks)
    yield "tail", memoryview(document.tail)


VIEWS: Views = {
    **CHUNK_VIEWS,
    **ENVELOPE_VIEWS,
    **MARK_VIEWS,
    Skl: View(entries=_entries),
    SkeletalMotion: View(lambda motion: f"motion {motion.label!r}", entries=_motion_entries),
    _Bone: View(lambda bone: f"bone {bone.name!r}", words={"name": None}),
}
