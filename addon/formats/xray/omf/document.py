"""Data types of an `.omf`, in the file's order and with its integers: a motion library and its parameters.

A motion keeps its body as one run of bytes with a table of track offsets. So 231 motions of 47 tracks are read without
creating ten thousand objects, and an unedited track keeps its bytes. `Track` is the typed view of one track.

Sources: the engine's ``SkeletonMotions.cpp`` and the editor's ``ExportSkeleton.cpp``. Not confirmed by a real file:
tracks with flag 8 (float keys of a later engine).
"""

from __future__ import annotations

import functools
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntFlag
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....core import names
from ....core.binary import Bytes
from ....core.report import Report, say
from ..chunks import Chunk, Section
from ..contents import Contents
from ..marks import Mark

_U8, _U32 = struct.Struct("<B"), struct.Struct("<I")

MOTIONS = 0x0E
COUNT = 0
"""Id of the nested chunk of `MOTIONS` that holds the number of motions."""
PARAMETERS = 0x0F

FRAMES_PER_SECOND = 30.0
"""Frame rate of every motion; the engine supports no other."""
ALL_PARTITIONS = 0xFFFF
MOST_BONES = 64
"""The engine stores sets of bones as a mask of 64 bits; some rebuilt engines have longer masks."""
RAISE_LIMIT = "Remove bones, or raise Bone Limit in the export if your engine supports more"


class TrackFlag(IntFlag):
    """How the keys of one bone are stored."""

    TRANSLATION_KEYS = 1
    SINGLE_ROTATION = 2
    WIDE_TRANSLATION = 4
    """16-bit translation keys; without effect unless `TRANSLATION_KEYS` is set."""
    FLOAT_KEYS = 8


class MotionFlag(IntFlag):
    """How the engine plays a motion. Files can contain other bits; they are kept."""

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
    """The keys of one bone as stored.

    ``rotation`` (1 or frames, 4) int16 x, y, z, w (float32 with `TrackFlag.FLOAT_KEYS`); ``translation`` (frames, 3)
    int8 or int16 with ``size`` and ``init`` (3,) float32, or (1, 3) or (frames, 3) float32 metres without them. The
    checksums are None if the layout has none.
    """

    flags: int
    rotation: NDArray[Any]
    translation: NDArray[Any]
    size: NDArray[np.float32] | None = None
    init: NDArray[np.float32] | None = None
    rotation_crc: int | None = None
    translation_crc: int | None = None

    def compose(self) -> bytes:
        """Return the bytes of the track."""
        pieces = [_U8.pack(self.flags)]
        for keys, crc in ((self.rotation, self.rotation_crc), (self.translation, self.translation_crc)):
            if crc is not None:
                pieces.append(_U32.pack(crc))
            pieces.append(keys.tobytes())
        if self.size is not None and self.init is not None:
            pieces += np.asarray(self.size, "<f4").tobytes(), np.asarray(self.init, "<f4").tobytes()
        return b"".join(pieces)


# Plain integers: IntFlag arithmetic costs a microsecond, and these are used once per track.
_KEYED, _SINGLE, _WIDE, _FLOATS = (int(flag) for flag in TrackFlag)


_LAYOUTS = np.array([flags & (0xF if flags & (_KEYED | _FLOATS) == _KEYED else 0xB) for flags in range(256)], np.uint8)
"""The bits of each possible flag byte that the layout of the track depends on."""


@functools.lru_cache(maxsize=512)
def track_layout(flags: int, frames: int) -> np.dtype[np.void]:
    """Return the layout of a track: its fields, named as those of `Track`, of which it has only some."""
    floats, keyed = flags & _FLOATS, flags & _KEYED
    fields: list[Any] = [("flags", "u1")]
    fields += [] if flags & _SINGLE else [("rotation_crc", "<u4")]
    fields.append(("rotation", "<f4" if floats else "<i2", (1 if flags & _SINGLE else frames, 4)))
    if not keyed or floats:
        fields += [("translation_crc", "<u4")] if keyed else []
        fields.append(("translation", "<f4", (frames if keyed else 1, 3)))
    else:
        fields += [("translation_crc", "<u4"), ("translation", "<i2" if flags & _WIDE else "i1", (frames, 3))]
        fields += [("size", "<f4", (3,)), ("init", "<f4", (3,))]
    return np.dtype(fields)


def track_size(flags: int, frames: int) -> int:
    """Return the size of a track in bytes, for any number of ``frames`` that a broken file declares."""
    empty, single = track_layout(flags, 0).itemsize, track_layout(flags, 1).itemsize
    return empty + (single - empty) * frames


def tracks_by_layout(flags: NDArray[np.uint8]) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Yield the layouts of tracks with these ``flags``: flags that have it, and the indices of its tracks."""
    layouts = _LAYOUTS[flags]
    for layout in sorted(set(layouts.tolist())):
        yield layout, np.flatnonzero(layouts == layout)


def checksum(keys: Bytes | NDArray[Any]) -> int:
    """Return the CRC-32 that is stored before a run of keys. The engine uses it only to find identical keys."""
    return zlib.crc32(keys if isinstance(keys, bytes | bytearray | memoryview) else keys.tobytes())


@dataclass(slots=True)
class Motion:
    """One motion: ``name``, ``frames``, and its tracks as bytes.

    ``body`` contains the tracks; ``starts`` (tracks + 1,) is the offset of each and the end of the last. Bytes after
    that could not be read as tracks (broken files only). ``identifier``, ``declared`` (a wrong size that the file
    declares) and ``offset`` are those of the motion's chunk.
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
        """Number of tracks, one per bone."""
        return len(self.starts) - 1

    @property
    def leftover(self) -> int:
        """Number of bytes after the last complete track."""
        return len(self.body) - self.starts[-1]

    def flags(self, track: int) -> int:
        """Return the flag byte of a track (`TrackFlag`)."""
        return self.body[self.starts[track]]

    def track_bytes(self, track: int) -> Bytes:
        """Return the stored bytes of a track."""
        return self.body[self.starts[track] : self.starts[track + 1]]

    def track(self, track: int) -> Track:
        """Return the typed view of a track. Its arrays are views of ``body``, whose layout was checked on reading."""
        start = self.starts[track]
        flags = self.body[start]
        row = np.frombuffer(self.body, track_layout(flags & 0xF, self.frames), 1, start)[0]
        keyed, has_range = flags & _KEYED, flags & (_KEYED | _FLOATS) == _KEYED
        return Track(
            flags,
            row["rotation"],
            row["translation"],
            row["size"] if has_range else None,
            row["init"] if has_range else None,
            None if flags & _SINGLE else int(row["rotation_crc"]),
            int(row["translation_crc"]) if keyed else None,
        )

    @property
    def all_flags(self) -> NDArray[np.uint8]:
        """The flag bytes of all tracks."""
        return np.frombuffer(self.body, np.uint8)[np.array(self.starts[:-1], np.intp)]

    def rows(self, tracks: NDArray[np.intp], layout: int) -> NDArray[np.void]:
        """Return the fields of ``tracks``, a row for each; all have the `track_layout` of the flags ``layout``."""
        kind = track_layout(layout, self.frames)
        starts, body = self.starts, self.body
        return np.frombuffer(b"".join([body[starts[track] : starts[track + 1]] for track in tracks.tolist()]), kind)

    @classmethod
    def of(cls, name: bytes, frames: int, tracks: Iterable[Track | Bytes]) -> Motion:
        """Create a motion from typed tracks or the stored bytes of tracks."""
        pieces = [track.compose() if isinstance(track, Track) else track for track in tracks]
        starts = [0]
        for piece in pieces:
            starts.append(starts[-1] + len(piece))
        return cls(name, frames, b"".join(pieces), starts)


@dataclass(slots=True)
class MotionLibrary:
    """Content of chunk 0xE. ``entries`` in file order: motions, and other chunks such as the count (chunk 0)."""

    entries: list[Motion | Chunk]
    tail: Bytes = b""

    @property
    def motions(self) -> list[Motion]:
        """The motions in the order of their chunk ids, by which the engine numbers them."""
        return sorted(
            (entry for entry in self.entries if isinstance(entry, Motion)), key=lambda entry: entry.identifier
        )

    @property
    def count(self) -> int | None:
        """Number of motions declared in chunk 0; None if that chunk is missing or has another size."""
        own_entry = next((entry for entry in self.entries if isinstance(entry, Chunk) and entry.id == COUNT), None)
        return (
            int(_U32.unpack(own_entry.body)[0]) if own_entry is not None and len(own_entry.body) == _U32.size else None
        )


@dataclass(slots=True)
class PartitionBone:
    """A bone entry of a partition. ``track`` is the index of the track that moves this bone. None if not stored."""

    name: bytes | None
    track: int | None


@dataclass(slots=True)
class Partition:
    """A named set of bones (bone part) that can play a motion independently of the other partitions."""

    name: bytes
    bones: list[PartitionBone]

    @property
    def label(self) -> str:
        """The name as text."""
        return names.decode(self.name)


@dataclass(slots=True)
class Definition:
    """How the engine plays the motion at the same index of the library.

    ``bone_or_part``: index of a partition (0xFFFF for all), for FX of a bone of the model; ``motion`` the index as
    stored (ignored by the engine); ``timing`` (4,) float32 speed, power, accrue, falloff.
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
        """All fields except the name and the stored index, bit by bit: equal if the engine plays both alike."""
        marks = [(mark.name, mark.line_end, mark.intervals.tobytes()) for mark in self.marks]
        return self.flags, self.bone_or_part, self.timing.tobytes(), marks


def name_in_game(motion: Motion | None, definition: Definition | None) -> str:
    """Return the name by which the game looks up a motion: its definition's; the motion's own only without one.

    Tools that protect files scramble the names in the motions, which the game ignores.
    """
    named = definition if definition is not None else motion
    return named.label if named is not None else ""


TIMING = ("speed", "power", "accrue", "falloff")
"""Names of the columns of `Definition.timing`."""
DEFAULT_TIMING = (1.0, 1.0, 2.0, 2.0)


@dataclass(slots=True)
class Parameters:
    """Content of chunk 0xF. ``named`` and ``numbered``: whether partition entries store bone names and track numbers.

    Both follow from the version, except in files with a bug of the editor (see `codec.read_parameters`).
    """

    version: int
    partitions: list[Partition]
    definitions: list[Definition]
    tail: Bytes = b""
    named: bool = True
    numbered: bool = True


class MotionSet(NamedTuple):
    """Motions and their parameters, as stored in an `.omf` or inside a model."""

    library: MotionLibrary
    parameters: Parameters

    @property
    def labels(self) -> list[str]:
        """The names of the motions in order (`name_in_game`)."""
        return [name_in_game(motion, self.definition(index)) for index, motion in enumerate(self.library.motions)]

    def definition(self, index: int) -> Definition | None:
        """Return the definition of the motion at ``index``, None if the file lacks it."""
        definitions = self.parameters.definitions
        return definitions[index] if index < len(definitions) else None


class Omf(Contents):
    """The file: its chunks in order, with typed values for the motions and the parameters."""

    __slots__ = ()

    @property
    def motion_set(self) -> MotionSet:
        """The first library and the first parameters, which are the ones that the engine uses."""
        return MotionSet(self.all(MotionLibrary)[0], self.all(Parameters)[0])

    @property
    def motions_section(self) -> Section[MotionLibrary | Parameters]:
        """The chunk that contains the motions."""
        return next(section for section in self.sections if isinstance(section.value, MotionLibrary))

    def with_motion_set(self, changed: MotionSet) -> Omf:
        """Return a copy of the file with ``changed`` in place of its `motion_set`."""
        return self.mapped(self.motion_set, changed)


def partitions_of(bones: Sequence[str], parts: Sequence[tuple[str, Sequence[str]]] = ()) -> list[Partition]:
    """Return partitions that contain each of ``bones`` once, with its index in ``bones`` as track number.

    ``parts`` are names, each with its bones. Bones without a part are added to the first one; names that are not in
    ``bones`` are ignored, and parts that are then empty are left out. Names are compared without case. Without parts
    there is one partition, ``default``.
    """
    tracks = {bone.lower(): track for track, bone in enumerate(bones)}
    partitions = []
    for label, part_bones in parts:
        entries = [
            PartitionBone(names.encode(bone.lower()), tracks.pop(bone.lower()))
            for bone in part_bones
            if bone.lower() in tracks
        ]
        if entries:
            partitions.append(Partition(names.encode(label.lower()), entries))
    rest = [PartitionBone(names.encode(bone), track) for bone, track in tracks.items()]
    if not partitions:
        return [Partition(b"default", rest)]
    partitions[0].bones += rest
    return partitions


def new_omf(motion_set: MotionSet) -> Omf:
    """Return a new file with the motions before the parameters, as the game's editor writes it."""
    return Omf.of([(MOTIONS, motion_set.library), (PARAMETERS, motion_set.parameters)])


def track_bones(parameters: Parameters, tracks: int, report: Report, model_bones: Sequence[str] = ()) -> list[str]:
    """Return the name of the bone that each track moves.

    Track i belongs to the bone whose partition entry has number i. Neither the order of the entries nor that of the
    model's bones decides (engine: ``motions_value::load``). Entries without numbers are taken in order. A track without
    a name gets the model's bone of the same index, if the model has as many bones as there are tracks and no other
    track has that bone. Otherwise it is called ``track_<number>``. Both are reported.
    """
    bones: list[str | None] = [None] * tracks
    entries = [bone for partition in parameters.partitions for bone in partition.bones]
    for entry_index, bone in enumerate(entries):
        track = entry_index if bone.track is None else bone.track
        if track >= tracks:
            words = "a bone part refers to track {}, the motions have {}"
            report.warn(say(words, track, tracks), _bone_label(bone.name))
        elif bone.name is not None:
            if bones[track] is not None:
                report.warn(say("track {} is given to two bones; the last one counts", track), _bone_label(bone.name))
            bones[track] = names.decode(bone.name)
    known = model_bones if len(model_bones) == tracks else ()
    for track, name in enumerate(bones):
        if name is None:
            bones_fit = known and known[track] not in bones
            bones[track] = known[track] if bones_fit else f"track_{track}"
            words = "tracks without a bone's name: their bones are unknown"
            if bones_fit:
                words = "tracks without a bone's name: taken from the model by index"
            report.warn(words, say("track {}", track))
    return [name or "" for name in bones]


def _bone_label(name: bytes | None) -> str:
    return names.decode(name) if name is not None else ""
