"""What an `.omf` says, in its own order and integers: a library of motions and their parameters.

A motion's body stays one run of bytes with a table of where its tracks begin: 231 motions of 47 tracks are read without
making ten thousand objects, and an unedited track keeps its bytes. `Track` is the typed view of one of them.

Known from the engine's ``SkeletonMotions.cpp`` and the editor's ``ExportSkeleton.cpp``. Unconfirmed by real bytes:
tracks with flag 8 (float keys, a later engine's).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntFlag
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....core import names
from ....core.binary import Bytes
from ....core.report import Report
from ..chunks import Chunk, Section
from ..marks import Mark

_U8, _U32 = struct.Struct("<B"), struct.Struct("<I")

MOTIONS = 0x0E
COUNT = 0
"""The chunk inside that counts them."""
PARAMETERS = 0x0F

FRAMES_PER_SECOND = 30.0
"""Always: the engine knows no other rate."""
ALL_PARTITIONS = 0xFFFF


class TrackFlag(IntFlag):
    """How one bone's keys are stored."""

    TRANSLATION_KEYS = 1
    SINGLE_ROTATION = 2
    WIDE_TRANSLATION = 4
    """16-bit translation keys; means nothing without `TRANSLATION_KEYS`."""
    FLOAT_KEYS = 8


class MotionFlag(IntFlag):
    """How the engine plays a motion. Other bits occur and are kept."""

    FX = 1
    STOP_AT_END = 2
    NO_MIX = 4
    SYNC_PART = 8
    USE_FOOT_STEPS = 0x10
    ROOT_MOVER = 0x20
    IDLE = 0x40
    USE_WEAPON_BONE = 0x80


@dataclass(slots=True)
class Track:
    """One bone's keys as stored.

    ``rotation`` (1 or frames, 4) int16 x, y, z, w (float32 with `TrackFlag.FLOAT_KEYS`); ``translation`` (frames, 3)
    int8 or int16 with ``size`` and ``init`` (3,) float32, else (1, 3) or (frames, 3) float32 metres. The checksums are
    None where the layout has none.
    """

    flags: int
    rotation: NDArray[Any]
    translation: NDArray[Any]
    size: NDArray[np.float32] | None = None
    init: NDArray[np.float32] | None = None
    rotation_crc: int | None = None
    translation_crc: int | None = None

    def compose(self) -> bytes:
        """The track's bytes."""
        pieces = [_U8.pack(self.flags)]
        for keys, crc in ((self.rotation, self.rotation_crc), (self.translation, self.translation_crc)):
            if crc is not None:
                pieces.append(_U32.pack(crc))
            pieces.append(keys.tobytes())
        if self.size is not None and self.init is not None:
            pieces += np.asarray(self.size, "<f4").tobytes(), np.asarray(self.init, "<f4").tobytes()
        return b"".join(pieces)


# Plain numbers: IntFlag arithmetic costs a microsecond, and these are asked once a track.
_KEYED, _SINGLE, _WIDE, _FLOATS = (int(flag) for flag in TrackFlag)
_FLOAT32, _INT16, _INT8 = np.dtype("<f4"), np.dtype("<i2"), np.dtype("i1")


def rotation_size(flags: int, frames: int) -> int:
    """Bytes of a track's rotation, its checksum included."""
    key = 16 if flags & _FLOATS else 8
    return key if flags & _SINGLE else 4 + key * frames


def translation_key(flags: int) -> np.dtype[np.int8 | np.int16 | np.float32]:
    """The number type of a track's translation keys."""
    if flags & _FLOATS or not flags & _KEYED:
        return _FLOAT32
    return _INT16 if flags & _WIDE else _INT8


def track_size(flags: int, frames: int) -> int:
    """Bytes of a whole track, its flag byte included."""
    size = 1 + rotation_size(flags, frames)
    if not flags & _KEYED:
        return size + 12
    ranges = 0 if flags & _FLOATS else 24
    return size + 4 + 3 * translation_key(flags).itemsize * frames + ranges


def checksum(keys: Bytes | NDArray[Any]) -> int:
    """What the engine expects before a run of keys (it uses the number only to find equal keys again)."""
    return zlib.crc32(keys if isinstance(keys, bytes | bytearray | memoryview) else keys.tobytes())


@dataclass(slots=True)
class Motion:
    """One motion: ``name``, ``frames``, and its tracks as bytes.

    ``body`` holds the tracks, ``starts`` (tracks + 1,) where each begins and the last one ends; bytes behind that are
    what could not be read as tracks (broken files only). ``identifier`` and ``declared`` are the chunk's own.
    """

    name: bytes
    frames: int
    body: Bytes
    starts: list[int]
    identifier: int = 0
    declared: int | None = None
    offset: int = 0

    @property
    def label(self) -> str:
        """The name as text."""
        return names.decode(self.name)

    @property
    def track_count(self) -> int:
        """How many bones the motion moves."""
        return len(self.starts) - 1

    @property
    def leftover(self) -> int:
        """Bytes behind the last whole track."""
        return len(self.body) - self.starts[-1]

    def flags(self, track: int) -> int:
        """The flag byte of a track."""
        return self.body[self.starts[track]]

    def track_bytes(self, track: int) -> Bytes:
        """A track as stored."""
        return self.body[self.starts[track] : self.starts[track + 1]]

    def track(self, track: int) -> Track:
        """The typed view of a track; its arrays look into the file's bytes, whose layout reading has checked."""
        body, frames, start = self.body, self.frames, self.starts[track]
        flags = body[start]
        single, keyed, floats = flags & _SINGLE, flags & _KEYED, flags & _FLOATS
        place = start + 1
        rotation_crc = translation_crc = None
        if not single:
            rotation_crc = _U32.unpack_from(body, place)[0]
            place += 4
        count = 1 if single else frames
        rotation = np.frombuffer(body, "<f4" if floats else "<i2", 4 * count, place).reshape(count, 4)
        place += rotation.nbytes
        if keyed:
            translation_crc = _U32.unpack_from(body, place)[0]
            place += 4
        count = frames if keyed else 1
        translation = np.frombuffer(body, translation_key(flags), 3 * count, place).reshape(count, 3)
        size = init = None
        if keyed and not floats:
            ranges = np.frombuffer(body, "<f4", 6, place + translation.nbytes)
            size, init = ranges[:3], ranges[3:]
        return Track(flags, rotation, translation, size, init, rotation_crc, translation_crc)

    @classmethod
    def of(cls, name: bytes, frames: int, tracks: Iterable[Track | Bytes]) -> Motion:
        """A motion of typed or stored tracks."""
        pieces = [track.compose() if isinstance(track, Track) else track for track in tracks]
        starts = [0]
        for piece in pieces:
            starts.append(starts[-1] + len(piece))
        return cls(name, frames, b"".join(pieces), starts)


@dataclass(slots=True)
class MotionLibrary:
    """Chunk 0xE. ``entries`` in the file's order: motions, and chunks that hold no motion (the count is chunk 0)."""

    entries: list[Motion | Chunk]
    tail: Bytes = b""

    @property
    def motions(self) -> list[Motion]:
        """The motions in the order of their chunk ids, which is the order the engine counts by."""
        return sorted(
            (entry for entry in self.entries if isinstance(entry, Motion)), key=lambda entry: entry.identifier
        )

    @property
    def count(self) -> int | None:
        """How many motions chunk 0 announces, None where it is missing or of another size."""
        found = next((entry for entry in self.entries if isinstance(entry, Chunk) and entry.id == COUNT), None)
        return int(_U32.unpack(found.body)[0]) if found is not None and len(found.body) == _U32.size else None


@dataclass(slots=True)
class PartitionBone:
    """An entry of a partition. ``track`` is the number of the track that drives this bone. None where not stored."""

    name: bytes | None
    track: int | None


@dataclass(slots=True)
class Partition:
    """A named set of bones that can play a motion of its own."""

    name: bytes
    bones: list[PartitionBone]

    @property
    def label(self) -> str:
        """The name as text."""
        return names.decode(self.name)


@dataclass(slots=True)
class Definition:
    """How the engine plays the motion of the same place in the library.

    ``bone_or_part``: partition (0xFFFF all), for FX the bone of the model; ``motion`` the index as stored (the engine
    ignores it); ``timing`` (4,) float32 speed, power, accrue, falloff.
    """

    name: bytes
    flags: int
    bone_or_part: int
    motion: int
    timing: NDArray[np.float32]
    marks: list[Mark] = field(default_factory=list)

    @property
    def label(self) -> str:
        """The name as text."""
        return names.decode(self.name)

    @property
    def playing(self) -> tuple[Any, ...]:
        """All that it says, to the bit, but its name and stored index."""
        marks = [(mark.name, mark.line_end, mark.intervals.tobytes()) for mark in self.marks]
        return self.flags, self.bone_or_part, self.timing.tobytes(), marks


TIMING = ("speed", "power", "accrue", "falloff")
"""The names of the columns of `Definition.timing`."""
DEFAULT_TIMING = (1.0, 1.0, 2.0, 2.0)


@dataclass(slots=True)
class Parameters:
    """Chunk 0xF. ``named`` and ``numbered``: what partition entries hold (a version's rule, broken by one editor)."""

    version: int
    partitions: list[Partition]
    definitions: list[Definition]
    tail: Bytes = b""
    named: bool = True
    numbered: bool = True


class MotionSet(NamedTuple):
    """Motions and how they play: an `.omf`, or what a model carries inside."""

    library: MotionLibrary
    parameters: Parameters


@dataclass(slots=True)
class Omf:
    """The file: its chunks in order, the two known ones typed."""

    sections: list[Section[MotionLibrary | Parameters]]
    tail: Bytes = b""

    @property
    def motion_set(self) -> MotionSet:
        """The first chunk of either kind, which is the one the engine takes."""
        values = [section.value for section in self.sections]
        library = next(value for value in values if isinstance(value, MotionLibrary))
        return MotionSet(library, next(value for value in values if isinstance(value, Parameters)))

    @property
    def motions_section(self) -> Section[MotionLibrary | Parameters]:
        """The chunk that the motions are in."""
        return next(section for section in self.sections if isinstance(section.value, MotionLibrary))

    def with_motion_set(self, changed: MotionSet) -> Omf:
        """The same file with other motions and parameters in the places of the first ones."""
        old = self.motion_set
        sections: list[Section[MotionLibrary | Parameters]] = []
        for section in self.sections:
            value = section.value
            if value is old.library:
                value = changed.library
            elif value is old.parameters:
                value = changed.parameters
            sections.append(Section(section.chunk, value))
        return Omf(sections, self.tail)


def partitions_of(bones: Sequence[str], parts: Sequence[tuple[str, Sequence[str]]] = ()) -> list[Partition]:
    """Partitions that have each of ``bones`` once, the number of its track being its place there.

    ``parts`` are names with the bones of each. Bones of no part go into the first, others than ``bones`` are left out,
    and so are parts of which none is left. Names are compared without case; without parts there is one, ``default``.
    """
    tracks = {bone.lower(): track for track, bone in enumerate(bones)}
    found = []
    for label, listed in parts:
        entries = [
            PartitionBone(names.encode(bone.lower()), tracks.pop(bone.lower()))
            for bone in listed
            if bone.lower() in tracks
        ]
        if entries:
            found.append(Partition(names.encode(label.lower()), entries))
    rest = [PartitionBone(names.encode(bone), track) for bone, track in tracks.items()]
    if not found:
        return [Partition(b"default", rest)]
    found[0].bones += rest
    return found


def new_omf(motion_set: MotionSet) -> Omf:
    """A file of its own, motions first as the game's editor writes it."""
    return Omf(
        [Section(Chunk(MOTIONS, b""), motion_set.library), Section(Chunk(PARAMETERS, b""), motion_set.parameters)]
    )


def track_bones(parameters: Parameters, tracks: int, report: Report, model_bones: Sequence[str] = ()) -> list[str]:
    """The bone of each track, by partition number; bare numbers and gaps are filled from the model's list by index.

    Track i belongs to the bone whose entry carries the number i: neither the listing order nor the model's bone order
    says so (engine: ``motions_value::load``). Where neither knows a bone the track is called ``track_<number>`` and
    reported.
    """
    bones: list[str | None] = [None] * tracks
    entries = [bone for partition in parameters.partitions for bone in partition.bones]
    for place, bone in enumerate(entries):
        track = place if bone.track is None else bone.track
        if track >= tracks:
            report.warn(f"a partition refers to track {track}, the motions have {tracks}", _bone_label(bone.name))
        elif bone.name is not None:
            if bones[track] is not None:
                report.warn(f"track {track} is given to two bones; the last one counts", _bone_label(bone.name))
            bones[track] = names.decode(bone.name)
    known = model_bones if len(model_bones) == tracks else ()
    for track, name in enumerate(bones):
        if name is None:
            found = known and known[track] not in bones
            bones[track] = known[track] if found else f"track_{track}"
            report.warn(
                "tracks without a bone's name: "
                + ("taken from the model by index" if found else "their bones are unknown"),
                f"track {track}",
            )
    return [name or "" for name in bones]


def _bone_label(name: bytes | None) -> str:
    return names.decode(name) if name is not None else ""
