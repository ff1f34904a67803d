"""Bytes of an `.oof` file <-> `Oof`, chunk by chunk; each chunk's reader is next to its writer.

The engine ignores the declared length of chunks it knows; here this length limits the chunk. A body that does not have
the layout of its id is kept as bytes and reported. Only files that the engine refuses are refused, and models of
FreeSpace and Descent 1 and 2, which begin with the same four letters.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import polygons
from ....core.binary import DAMAGED, Reader, Writer, warn_not_finite
from ....core.errors import ReadError
from ....core.records import Record, layout_of
from ....core.report import Report, counted, say
from .document import (
    ALPHA_SINCE,
    CORNER,
    FACE,
    GUN_PARENTS_SINCE,
    MAGIC,
    NEWEST,
    OLDEST,
    POINT,
    POINT_WITHOUT_PARENT,
    POSITION_KEY,
    ROTATION_KEY,
    SIZES_SINCE,
    TIMED_SINCE,
    UNTIMED_POSITION_KEY,
    UNTIMED_ROTATION_KEY,
    AttachPoints,
    AttachUps,
    Batteries,
    Faces,
    GroundPoints,
    GunPoints,
    ObjectHeader,
    Oof,
    Points,
    PositionTracks,
    Remark,
    RotationTracks,
    Section,
    SpecialPoints,
    SubObject,
    TextureNames,
    Tracks,
    chunk_label,
    count_of,
)

MOST_SUB_OBJECTS = 30
_ANOTHER_GAME = "Only models of Descent 3 (versions 1807 to 2300) are read here"
_FREESPACE = (b"HDR2", b"OBJ2")
_SKIPPED = (b"IDTA", b"GRID")


@dataclass(frozen=True, slots=True)
class _Context:
    """The version of the file and the number of sub-objects in its header, on which the layout of chunks depends."""

    version: int
    sub_objects: int

    @property
    def major(self) -> int:
        return self.version // 100


def starts_like(head: bytes) -> bool:
    """Return whether a file's first bytes are those of a model of a supported version."""
    return head[:4] == MAGIC and len(head) >= 8 and OLDEST <= int.from_bytes(head[4:8], "little", signed=True) <= NEWEST


def read(data: bytes, file: str, report: Report) -> Oof:
    """Parse an `.oof` file. Unknown and unreadable chunks are reported and kept.

    Raises `ReadError` if the file is truncated, of another game or version, or has no header.
    """
    reader = Reader.of_file(data, file)
    reader.refuse_git_pointer()
    version = _read_version(reader)
    spans = _read_chunks(reader)
    if any(identifier in _FREESPACE for identifier, _ in spans):
        raise ReadError("this is a model of FreeSpace, not of Descent 3", file=file, remedy=_ANOTHER_GAME)
    header = next((body for identifier, body in spans if identifier == b"OHDR"), None)
    if header is None:
        raise ReadError("there is no header (chunk OHDR): not a whole model", file=file, remedy=DAMAGED)
    sub_objects = ObjectHeader.read(Reader(header.data, file, "OHDR", header.start)).sub_objects
    context = _Context(version, sub_objects)
    sections = [_read_section(identifier, body, context, report) for identifier, body in spans]
    document = Oof(version, sections, reader.rest(), file)
    if len(document.tail):
        report.warn(say("{:# extra byte|# extra bytes} at the end, which can crash the game; kept", len(document.tail)))
    parts = [section for section in sections if section.id == b"SOBJ"]
    if parts and all(section.value is None for section in parts):
        raise ReadError("no sub-object is one of Descent 3", file=file, chunk="SOBJ", remedy=_ANOTHER_GAME)
    _report_oddities(document, report)
    return document


def write(document: Oof) -> bytes:
    """Return the file's bytes, composed from the typed values."""
    writer = Writer()
    writer.raw(MAGIC)
    writer.i32(document.version)
    for section in document.sections:
        body = _section_bytes(section, document.version)
        writer.raw(section.id)
        writer.i32(len(body))
        writer.raw(body)
    writer.raw(document.tail)
    return writer.getvalue()


recompose = write


def raw_size(document: Oof) -> int:
    """Return how many bytes are stored without being interpreted."""
    return len(document.tail) + sum(len(section.body) + len(section.tail) for section in document.sections)


def _read_version(reader: Reader) -> int:
    if bytes(reader.take(min(4, reader.remaining))) != MAGIC:
        reader.position = 0
        raise reader.error("a model begins with PSPO, this file does not", _ANOTHER_GAME)
    version = reader.i32("the version")
    if not OLDEST <= version <= NEWEST:
        reader.position = 4
        raise reader.error(say("version {} is not known to the game", version), _ANOTHER_GAME)
    return version


def _read_chunks(reader: Reader) -> list[tuple[bytes, Reader]]:
    spans = []
    while reader.remaining >= 8:
        identifier = bytes(reader.take(4))
        reader.chunk = chunk_label(identifier)
        size = reader.i32("the length of a chunk")
        spans.append((identifier, reader.part(size, chunk_label(identifier), "the chunk")))
    reader.chunk = ""
    return spans


def _read_section(identifier: bytes, body: Reader, context: _Context, report: Report) -> Section:
    chunk = chunk_label(identifier)
    layout = _CHUNKS.get(identifier)
    if layout is None:
        is_ignored = identifier in _SKIPPED
        words = "ignored by the game; kept unchanged" if is_ignored else "its meaning is not known; kept unchanged"
        report.note(words, chunk)
        return Section(identifier, body=body.data)
    try:
        value = layout.read(body, context)
    except ReadError as wrong:
        report.warn(say("not readable, kept unchanged: {}", wrong.problem), say("{} at {}", chunk, body.start))
        return Section(identifier, body=body.data)
    section = Section(identifier, value, tail=body.rest())
    if isinstance(value, SubObject):
        warn_not_finite(report, f"{chunk} {value.label}", replace(value, normals=_used_normals(value)))
    else:
        warn_not_finite(report, chunk, value)
    if len(section.tail):
        finding = say("{:# extra byte|# extra bytes}, which the game would read as a chunk; kept", len(section.tail))
        report.warn(finding, say("{} at {}", chunk, body.start))
    return section


def _used_normals(part: SubObject) -> NDArray[np.float32]:
    """Return the normals of a part without those of vertices that no face uses: tools write NaN there."""
    if np.isfinite(part.normals).all():
        return part.normals
    count, vertices = len(part.normals), part.faces.corners["vertex"]
    return part.normals[np.bincount(vertices[(vertices >= 0) & (vertices < count)], minlength=count) > 0]


def _section_bytes(section: Section, version: int) -> bytes:
    """Return the body of a chunk in a file of this version."""
    if section.value is None:
        return bytes(section.body)
    writer = Writer()
    _CHUNKS[section.id].write(writer, section.value, _Context(version, 0))
    writer.raw(section.tail)
    return writer.getvalue()


def _report_oddities(document: Oof, report: Report) -> None:
    """Warn about what the engine does not expect."""
    ids = [section.id for section in document.sections]
    announced = document.header.sub_objects
    if announced > MOST_SUB_OBJECTS:
        report.warn(say("{} sub-objects; the game supports {}", announced, MOST_SUB_OBJECTS), "OHDR")
    if ids.count(b"OHDR") > 1:
        report.warn("there are several headers; the first counts here", "OHDR")
    early = {chunk_label(ids) for ids in ids[: ids.index(b"OHDR")] if ids in (b"SOBJ", b"RANI", b"ANIM", b"PANI")}
    for chunk in sorted(early):
        report.warn("stands before the header, where the game cannot read it", chunk)
    if b"NATH" in ids and (b"ATCH" not in ids or ids.index(b"NATH") < ids.index(b"ATCH")):
        report.warn("stands before the attach points it belongs to", "NATH")
    if ids.count(b"RANI") + ids.count(b"ANIM") > 1:
        report.warn("there are several chunks of rotation keys; the last counts", "RANI")
    indices = [part.index for part in document.all(SubObject)]
    if len(indices) != announced or sorted(indices) != list(range(len(indices))):
        words = "{} sub-objects are declared, {} exist, or their indices are wrong"
        report.warn(say(words, announced, len(indices)), "SOBJ")
    textures = len(document.textures)
    for part in document.sub_objects:
        faces = part.faces
        textured = faces.rows["texture"][faces.is_textured]
        if len(textured) and (textured.min() < 0 or textured.max() >= textures):
            report.warn("faces have a texture that the model does not list", part.label)
        vertices = faces.corners["vertex"]
        if len(vertices) and (vertices.min() < 0 or vertices.max() >= len(part.positions)):
            report.warn("faces refer to missing vertices", part.label)
        for stored in (part.name, part.properties):
            if not stored.endswith(b"\0"):
                report.warn("a text has no end; the game would read past it", part.label)


# Shape ---------------------------------------------------------------------------------------------------------------


def _read_sub_object(reader: Reader, context: _Context) -> SubObject:
    start, count = layout_of(SubObject).read(reader), count_of("vertices").read(reader)
    return SubObject(
        **start,
        positions=reader.array("<f4", count, 3, what="the positions"),
        normals=reader.array("<f4", count, 3, what="the normals"),
        alphas=reader.array("<f4", count, what="the alphas") if context.major >= ALPHA_SINCE else None,
        faces=_read_faces(reader, reader.i32("the number of faces"), sizes=context.major >= SIZES_SINCE),
    )


def _write_sub_object(writer: Writer, part: SubObject, context: _Context) -> None:
    part.write(writer)
    writer.i32(len(part.positions))
    writer.array(part.positions, "<f4")
    writer.array(part.normals, "<f4")
    if context.major >= ALPHA_SINCE:
        writer.array(np.ones(len(part.positions), "<f4") if part.alphas is None else part.alphas, "<f4")
    writer.i32(len(part.faces))
    writer.raw(_face_bytes(part.faces, sizes=context.major >= SIZES_SINCE).data)


# Faces: records of different lengths ---------------------------------------------------------------------------------

_FIXED = np.dtype([("normal", "<f4", 3), ("corners", "<i4"), ("textured", "<i4")])
"""Start of a face record. It is followed by texture or colour, the corners, and two sizes from version 2100 on."""
_KIND, _KIND_AT = struct.Struct("<ii"), 12
"""Number of corners and whether textured, and where in the record."""
_SINGLE_RECORDS = 8
"""After this many consecutive records of equal size, the following ones are compared as an array."""
_BLOCK = 4096


def _record_type(corners: int, textured: bool, sizes: bool) -> np.dtype[np.void]:
    fields: list[Any] = [("normal", "<f4", 3), ("corners", "<i4"), ("textured", "<i4")]
    fields.append(("texture", "<i4") if textured else ("colour", "u1", 3))
    fields.append(("list", "<i4", (corners, 3)))
    if sizes:
        fields.append(("sizes", "<f4", 2))
    return np.dtype(fields)


def _record_sizes(corners: Any, textured: Any, sizes: bool) -> Any:
    """Return the length of a record, or of each."""
    return _FIXED.itemsize + 3 + textured + corners * CORNER.itemsize + (8 if sizes else 0)


@dataclass(frozen=True, eq=False)
class _Alike:
    """Faces whose records have the same ``layout``: their ``rows``, and ``corners`` in the table of corners."""

    rows: NDArray[np.int64] | slice
    corners: NDArray[np.int64] | slice
    layout: np.dtype[np.void]


def _by_layout(counts: NDArray[np.int32], textured: NDArray[np.bool_], sizes: bool) -> Iterator[_Alike]:
    first = polygons.starts(counts)
    for rows in polygons.by_value(2 * counts.astype(np.int64) + textured):
        start, end, number = int(rows[0]), int(rows[-1]) + 1, int(counts[rows[0]])
        layout = _record_type(number, bool(textured[start]), sizes)
        if end - start == len(rows):  # consecutive: without copies
            begin = int(first[start])
            yield _Alike(slice(start, end), slice(begin, begin + number * len(rows)), layout)
        else:
            yield _Alike(rows, (first[rows][:, None] + np.arange(number)).ravel(), layout)


def _read_faces(reader: Reader, count: int, *, sizes: bool) -> Faces:
    """Read ``count`` faces; ``sizes``: records end with two sizes. Raises `ReadError` if a record does not fit."""
    reader.expect_room(count, "face", _record_sizes(0, False, sizes))
    starts, counts, textured = _find_records(reader, count, sizes)
    faces = Faces(np.zeros(count, FACE), counts, np.zeros(int(counts.sum(dtype=np.int64)), CORNER))
    faces.rows["texture"] = -1
    corners, data = faces.corners.view("<i4").reshape(-1, 3), np.frombuffer(reader.data, np.uint8)
    for alike in _by_layout(counts, textured, sizes):
        records = _records_at(data, starts[alike.rows], alike.layout)
        for name in set(FACE.names or ()) & set(records.dtype.names or ()):
            faces.rows[name][alike.rows] = records[name]
        corners[alike.corners] = records["list"].reshape(-1, 3)
    return faces


def _find_records(
    reader: Reader, count: int, sizes: bool
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.bool_]]:
    """Return (faces,) start, number of corners and whether textured of each record; moves the reader to their end.

    The length of a record depends on its content, so records are visited in sequence, runs of equal ones in one step.
    """
    runs: list[tuple[int, int, bool, int]] = []
    index, equal, before, size = 0, 0, (-1, False), 0
    data, end, position = reader.data, len(reader.data), reader.position
    while index < count:
        if end - position < _FIXED.itemsize:
            reader.position = position
            reader.take(_FIXED.itemsize, "a face")
        corners, flag = _KIND.unpack_from(data, position + _KIND_AT)
        if corners < 0:
            reader.position = position + _FIXED.itemsize
            raise reader.error(say("a face of {:# corner|# corners}", corners))
        kind, run = (corners, flag != 0), 1
        if kind == before:
            equal += 1
        else:
            equal, before, size = 0, kind, _record_sizes(*kind, sizes)
        if equal >= _SINGLE_RECORDS:
            run = _equal_records(data, position, kind, size, min(count - index, _BLOCK))
        if run * size > end - position:
            reader.position = position
            reader.take(run * size, say("a face of {:# corner|# corners}", corners))
        runs.append((position, *kind, run))
        position += run * size
        index += run
    reader.position = position
    first, counts, textured, number = np.array(runs, np.int64).reshape(-1, 4).T
    within = np.arange(count) - np.repeat(np.cumsum(number) - number, number)
    starts = np.repeat(first, number) + within * np.repeat(_record_sizes(counts, textured, sizes), number)
    return starts, np.repeat(counts.astype(np.int32), number), np.repeat(textured != 0, number)


def _equal_records(data: memoryview, position: int, kind: tuple[int, bool], size: int, most: int) -> int:
    """Return how many records from this position on are of this kind and fit into the data: from 1 to ``most``."""
    most = min(most, (len(data) - position) // size)
    if most < 2:
        return 1
    heads: NDArray[np.int32] = np.ndarray((most, 2), "<i4", data, position + _KIND_AT, (size, 4))
    same = (heads[:, 0] == kind[0]) & ((heads[:, 1] != 0) == kind[1])
    return most if same.all() else max(int(np.argmin(same)), 1)


def _records_at(data: NDArray[np.uint8], starts: NDArray[np.int64], layout: np.dtype[np.void]) -> NDArray[np.void]:
    """Return the records (n,) at these offsets; a view if they are contiguous."""
    size, count = layout.itemsize, len(starts)
    if int(starts[-1]) - int(starts[0]) == (count - 1) * size:
        return data[int(starts[0]) : int(starts[0]) + count * size].view(layout)
    records: NDArray[np.void] = data[starts[:, None] + np.arange(size)].view(layout)[:, 0]
    return records


def _face_bytes(faces: Faces, *, sizes: bool) -> NDArray[np.uint8]:
    textured = faces.is_textured
    ends = np.cumsum(_record_sizes(faces.counts.astype(np.int64), textured, sizes))
    result = np.empty(int(ends[-1]) if len(ends) else 0, np.uint8)
    corners = np.ascontiguousarray(faces.corners).view("<i4").reshape(-1, 3)
    for alike in _by_layout(faces.counts, textured, sizes):
        size, last = alike.layout.itemsize, ends[alike.rows]
        is_run = isinstance(alike.rows, slice)
        records = (
            result[int(last[0]) - size : int(last[-1])].view(alike.layout)
            if is_run
            else np.empty(len(last), alike.layout)
        )
        for name in set(FACE.names or ()) & set(records.dtype.names or ()):
            records[name] = faces.rows[name][alike.rows]
        records["corners"] = records["list"].shape[1]
        records["list"] = corners[alike.corners].reshape(records["list"].shape)
        if not is_run:
            result[last[:, None] + np.arange(-size, 0)] = records[:, None].view(np.uint8)
    return result


# Points --------------------------------------------------------------------------------------------------------------


def _read_points(kind: type[Points], reader: Reader, context: _Context) -> Points:
    without_parent = kind is GunPoints and context.version < GUN_PARENTS_SINCE
    count = count_of("points").read(reader)
    return kind(reader.array(POINT_WITHOUT_PARENT if without_parent else POINT, count, what=counted(count, "point")))


def _write_points(writer: Writer, points: Points, _: _Context) -> None:
    writer.i32(len(points.rows))
    writer.raw(points.rows.tobytes())


# Tracks --------------------------------------------------------------------------------------------------------------

_TRACK = np.dtype([("count", "<i4"), ("first", "<i4"), ("last", "<i4")])
_KEYS: dict[type[Tracks], tuple[np.dtype[np.void], np.dtype[np.void]]] = {
    RotationTracks: (ROTATION_KEY, UNTIMED_ROTATION_KEY),
    PositionTracks: (POSITION_KEY, UNTIMED_POSITION_KEY),
}
"""Layout of keys with and without times."""


def _read_tracks(kind: type[Tracks], reader: Reader, context: _Context) -> Tracks:
    (timed, untimed), sub_objects = _KEYS[kind], context.sub_objects
    if context.major < TIMED_SINCE:
        count = reader.i32("the number of keys")
        if count < 0:
            raise reader.error(say("tracks of {:# key|# keys} are declared", count))
        words = "{:# track|# tracks} of {:# key|# keys}"
        rows = reader.array(untimed, sub_objects, count, what=say(words, sub_objects, count)) if count else ()
        return kind(list(rows), None, count)
    reader.expect_room(sub_objects, "track", _TRACK.itemsize)
    keys, ranges = [], np.zeros((sub_objects, 2), np.int32)
    for index in range(sub_objects):
        count = reader.i32("the number of keys")
        ranges[index] = reader.array("<i4", 2, what="the range of a track")
        if count < 0:
            raise reader.error(say("a track of {:# key|# keys} is declared", count))
        keys.append(reader.array(timed, count, what=counted(count, "key")))
    return kind(keys, ranges)


def _write_tracks(writer: Writer, tracks: Tracks, _: _Context) -> None:
    if tracks.ranges is None:
        writer.i32(tracks.shared_count)
    for index, keys in enumerate(tracks.keys):
        if tracks.ranges is not None:
            writer.i32(len(keys))
            writer.array(tracks.ranges[index], "<i4")
        writer.raw(keys.tobytes())


# Every chunk ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Chunk:
    """Reader and writer of the body of a chunk. ``Any`` is the chunk's own type of `Value`."""

    read: Callable[[Reader, _Context], Any]
    write: Callable[[Writer, Any, _Context], None]

    @staticmethod
    def of(kind: type[Record]) -> _Chunk:
        """Return those of a chunk that is the same in all versions."""
        return _Chunk(lambda reader, _: kind.read(reader), lambda writer, value, _: value.write(writer))

    @staticmethod
    def of_points(kind: type[Points]) -> _Chunk:
        return _Chunk(partial(_read_points, kind), _write_points)

    @staticmethod
    def of_tracks(kind: type[Tracks]) -> _Chunk:
        return _Chunk(partial(_read_tracks, kind), _write_tracks)


_CHUNKS = {
    b"OHDR": _Chunk.of(ObjectHeader),
    b"TXTR": _Chunk.of(TextureNames),
    b"SOBJ": _Chunk(_read_sub_object, _write_sub_object),
    b"GPNT": _Chunk.of_points(GunPoints),
    b"GRND": _Chunk.of_points(GroundPoints),
    b"ATCH": _Chunk.of_points(AttachPoints),
    b"NATH": _Chunk.of_points(AttachUps),
    b"WBAT": _Chunk.of(Batteries),
    b"SPCL": _Chunk.of(SpecialPoints),
    b"RANI": _Chunk.of_tracks(RotationTracks),
    b"ANIM": _Chunk.of_tracks(RotationTracks),
    b"PANI": _Chunk.of_tracks(PositionTracks),
    b"PINF": _Chunk.of(Remark),
}
