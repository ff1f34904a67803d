"""Bytes <-> document of an `.rtm`, plain (`Plain`) or binarised (`Binarised`).

Neither kind has an end mark. A binarised file concatenates its arrays, each with its count. Version 5 stores a flag for
each array that says whether it is compressed; older versions compress arrays of 1024 bytes or more. A document keeps
the block of every compressed array, so that an unedited file is written byte for byte without the vendor's packers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core.binary import Bytes, Reader, Writer, warn_not_finite
from ....core.compression import lzo, lzss
from ....core.errors import ReadError, WriteError
from ....core.report import Report, say
from .document import (
    BINARISED,
    BINARISED_VERSIONS,
    LONGEST_TEXT,
    MOST_BONES,
    MOST_FRAMES,
    NAME_SIZE,
    PACKED_BY_FLAG,
    PACKED_FROM,
    PLAIN,
    PLAIN_OLD,
    PROPERTIES,
    TRANSFORM,
    WITH_EVENTS,
    Binarised,
    Plain,
    Rtm,
    StoredEvent,
    garbage_size,
    too_long,
)

_MATRIX_SIZE = 4 * 12
_STORED, _COMPRESSED = 0, 2
_PHASE = np.dtype("<f4")


def starts_like(head: bytes) -> bool:
    """Return whether a file's first bytes are the mark of a plain or binarised animation."""
    return head[:8] in (PLAIN, PLAIN_OLD, PROPERTIES) or head[:4] == BINARISED


def read(data: bytes, file: str, report: Report) -> Rtm:
    """Parse an `.rtm` into a `Plain` or `Binarised` document. Raises `ReadError`."""
    reader = Reader.of_file(data, file)
    reader.refuse_git_pointer()
    if not starts_like(data[:8]):
        words = "the file begins with {}: this is not an animation of Operation Flashpoint or Arma"
        raise reader.error(say(words, repr(data[:8])[1:]), "Choose an .rtm file that begins with RTM_ or BMTR")
    return _read_binarised(reader, report) if data[:4] == BINARISED else _read_plain(reader, report)


def write(document: Rtm) -> bytes:
    """Return the file's bytes. Raises `WriteError`."""
    return _write_binarised(document, checked=False) if isinstance(document, Binarised) else _write_plain(document)


def recompose(document: Rtm) -> bytes:
    """Like `write`, but use a stored compressed block only if it unpacks to the document's values."""
    return _write_binarised(document, checked=True) if isinstance(document, Binarised) else _write_plain(document)


def raw_size(document: Rtm) -> int:
    """Return how many bytes are stored without being interpreted: after the zero of names, and after the last frame."""
    if isinstance(document, Binarised):
        return len(document.tail)
    return len(document.tail) + garbage_size(document.bone_fields) + garbage_size(document.frame_fields)


# Plain --------------------------------------------------------------------------------------------------------------


def _read_plain(reader: Reader, report: Report) -> Plain:
    events, properties_version = None, 0
    magic = bytes(reader.take(8, "the file's mark"))
    if magic == PROPERTIES:
        properties_version = reader.u32("the version of the properties")
        events = _read_plain_events(reader)
        magic = bytes(reader.take(8, "the animation's mark"))
    if magic not in (PLAIN, PLAIN_OLD):
        raise reader.error(say("the animation begins with {} instead of RTM_0101", repr(magic)[1:]))
    step = np.zeros(3, "<f4")
    axes = slice(None) if magic == PLAIN else slice(2, 3)
    step[axes] = reader.array("<f4", len(step[axes]), what="the step")
    frames, bones = reader.u32("the number of frames"), reader.u32("the number of bones")
    fields = reader.array("u1", bones, NAME_SIZE, what=say("the list of {:# bone|# bones}", bones))
    row = _row_size(bones)
    # Raw bytes instead of a structured dtype: numpy refuses row types beyond 2 GiB, which a damaged number of bones may
    # need.
    rows = reader.array("u1", frames, row, what=say("{:# frame|# frames} of {:# bone|# bones}", frames, bones))
    cells = rows[:, 4:].reshape(frames, bones, NAME_SIZE + _MATRIX_SIZE)
    result = Plain(
        magic,
        step,
        fields,
        _floats(rows[:, :4]).reshape(frames),
        cells[..., :NAME_SIZE],
        _floats(cells[..., NAME_SIZE:]).reshape(frames, bones, 4, 3),
        events,
        properties_version,
        reader.rest(),
    )
    _report(result, report)
    renamed = np.flatnonzero(result.frame_names_differ())
    if len(renamed):
        words = "other bone names or another order than the file: {:# frame|# frames}, the first {}"
        report.warn(say(words, len(renamed), renamed[0]))
    return result


def _write_plain(document: Plain) -> bytes:
    writer = Writer()
    if document.events is not None:
        writer.raw(PROPERTIES)
        writer.u32(document.properties_version)
        _write_plain_events(writer, document.events)
    writer.raw(document.magic)
    if document.magic == PLAIN_OLD and document.step[:2].any():
        raise WriteError(
            "the oldest version of .rtm has no room for a step aside or upwards", remedy="Write a plain file instead"
        )
    writer.array(document.step if document.magic == PLAIN else document.step[2:], "<f4")
    frames, bones = document.matrices.shape[:2]
    writer.u32(frames)
    writer.u32(bones)
    writer.array(document.bone_fields, "u1")
    rows = np.empty((frames, _row_size(bones)), np.uint8)
    rows[:, :4] = _bytes(document.phases.reshape(frames, 1))
    cells = rows[:, 4:].reshape(frames, bones, NAME_SIZE + _MATRIX_SIZE)
    cells[..., :NAME_SIZE] = document.frame_fields
    cells[..., NAME_SIZE:] = _bytes(document.matrices.reshape(frames, bones, 12))
    rows[:, 4:] = cells.reshape(frames, _row_size(bones) - 4)
    writer.raw(rows.tobytes())
    writer.raw(document.tail)
    return writer.getvalue()


def _row_size(bones: int) -> int:
    return 4 + bones * (NAME_SIZE + _MATRIX_SIZE)


def _floats(raw: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Convert bytes (..., 4 n), not necessarily contiguous, to floats (..., n)."""
    result: NDArray[np.float32] = np.ascontiguousarray(raw).view("<f4")
    return result


def _bytes(values: NDArray[np.float32]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(values, "<f4").view(np.uint8)


def _read_plain_events(reader: Reader) -> list[StoredEvent]:
    count = reader.u32("the number of events")
    reader.expect_room(count, "event", 6)
    return [
        StoredEvent(reader.f32("an event's phase"), _short_string(reader, "name"), _short_string(reader, "value"))
        for _ in range(count)
    ]


def _write_plain_events(writer: Writer, events: list[StoredEvent]) -> None:
    writer.u32(len(events))
    for event in events:
        writer.f32(event.phase)
        for text in (event.name, event.value):
            if len(text) > LONGEST_TEXT:
                raise too_long(text)
            writer.u8(len(text))
            writer.raw(text)


def _short_string(reader: Reader, what: str) -> bytes:
    return bytes(reader.take(reader.u8(say("the length of an event's {}", what)), say("an event's {}", what)))


# Binarised ----------------------------------------------------------------------------------------------------------


def _read_binarised(reader: Reader, report: Report) -> Binarised:
    reader.take(len(BINARISED), "the file's mark")
    version = reader.u32("the version")
    if version not in BINARISED_VERSIONS:
        raise reader.error(say("binarised animations of version {} are unknown (known: 2 to 5)", version))
    turned = reader.u8("the direction")
    step = reader.array("<f4", 3, what="the step")
    frames, preload = reader.u32("the number of frames"), reader.u32("whether to preload")
    first_frame_bones, bones = reader.u32("the first frame's bones"), reader.u32("the number of bones")
    labels = _strings(reader, bones, "bone")
    meta, events = _read_binarised_events(reader) if version >= WITH_EVENTS else ([], [])
    phases, phases_block = _read_array(reader, version, _PHASE, frames, "the phases")
    rows, blocks = [], []
    for frame in range(frames):
        row, block = _read_array(reader, version, TRANSFORM, bones, say("frame {}", frame))
        rows.append(row)
        blocks.append(block)
    transforms = np.stack(rows) if rows else np.empty((0, bones), TRANSFORM)
    result = Binarised(
        version,
        turned,
        step,
        preload,
        first_frame_bones,
        labels,
        phases,
        transforms,
        meta,
        events,
        phases_block,
        blocks,
    )
    result.tail = reader.rest()
    _report(result, report)
    if first_frame_bones != bones:
        report.warn(say("the first frame declares {:# bone|# bones}, the others {}; kept", first_frame_bones, bones))
    if turned != 1:
        report.warn(say("the direction is {}; every known file has 1 (axes rotated by 180°)", turned))
    packed = sum(1 for block in (phases_block, *blocks) if len(block))
    if packed:
        report.note(say("compressed arrays: {} of {}", packed, frames + 1))
    return result


def _write_binarised(document: Binarised, *, checked: bool) -> bytes:
    """Return the file's bytes. ``checked``: use stored blocks only if they unpack to the values.

    Raises `WriteError`.
    """
    writer = Writer()
    writer.raw(BINARISED)
    writer.u32(document.version)
    writer.u8(document.turned)
    writer.array(document.step, "<f4")
    frames, bones = document.transforms.shape
    for number in (frames, document.preload, document.first_frame_bones, bones):
        writer.u32(number)
    for name in document.bone_names:
        writer.string(name)
    if document.version >= WITH_EVENTS:
        writer.u32(len(document.meta))
        for name in document.meta:
            writer.string(name)
        writer.u32(len(document.events))
        for event in document.events:
            writer.i32(event.kind)
            writer.string(event.name)
            writer.f32(event.phase)
            writer.string(event.value)
    elif document.events or document.meta:
        words = "binarised files of version {} have no events"
        raise WriteError(say(words, document.version), remedy="Write version 5")
    _write_array(writer, document.version, document.phases, document.phases_block, checked)
    for row, block in zip(document.transforms, document.blocks, strict=True):
        _write_array(writer, document.version, row, block, checked)
    writer.raw(document.tail)
    return writer.getvalue()


def _strings(reader: Reader, count: int, what: str) -> list[bytes]:
    reader.expect_room(count, f"{what} name", 1)
    return [reader.string(say("the name of {} {}", what, number)) for number in range(count)]


def _read_binarised_events(reader: Reader) -> tuple[list[bytes], list[StoredEvent]]:
    meta = _strings(reader, reader.u32("the number of meta names"), "meta")
    count = reader.u32("the number of events")
    reader.expect_room(count, "event", 10)
    events = []
    for _ in range(count):
        kind, name = reader.i32("an event's kind"), reader.string("an event's name")
        events.append(StoredEvent(reader.f32("an event's phase"), name, reader.string("an event's value"), kind))
    return meta, events


def _read_array(
    reader: Reader, version: int, kind: np.dtype[Any], expected: int, what: str
) -> tuple[NDArray[Any], Bytes]:
    """Return an array and the compressed block it was read from, which is empty if the array is not compressed."""
    count = reader.u32(say("the length of {}", what))
    if count != expected:
        raise reader.error(say("{}: {:# entry is|# entries are} declared, {} are expected", what, count, expected))
    size = count * kind.itemsize
    if version >= PACKED_BY_FLAG:
        flag = reader.u8(say("the compression of {}", what))
        if flag not in (_STORED, _COMPRESSED):
            raise reader.error(say("{}: compression {} is unknown (known: 0 and 2)", what, flag))
        compressed = flag == _COMPRESSED
    else:
        compressed = size >= PACKED_FROM
    if not compressed:
        return reader.array(kind, count, what=what), b""
    plain, block = _unpack(reader, version, size, what)
    return np.frombuffer(plain, kind), block


def _write_array(writer: Writer, version: int, values: NDArray[Any], block: Bytes, checked: bool) -> None:
    plain = np.ascontiguousarray(values).tobytes()
    if checked and len(block) and not _unpacks_to(block, plain, version):
        block = b""
    writer.u32(len(values))
    if version >= PACKED_BY_FLAG:
        writer.u8(_COMPRESSED if block else _STORED)
    elif len(plain) >= PACKED_FROM and not block:
        block = lzss.stored(plain) if version == 2 else lzo.stored(plain)
    writer.raw(block if len(block) else plain)


def _unpacks_to(block: Bytes, plain: bytes, version: int) -> bool:
    try:
        return _unpack(Reader(block), version, len(plain), "an array")[0] == plain
    except ReadError:
        return False


def _unpack(reader: Reader, version: int, size: int, what: str) -> tuple[bytes, memoryview]:
    return lzss.unpack(reader, size, what) if version == 2 else lzo.unpack(reader, size, what)


def _report(document: Rtm, report: Report) -> None:
    """Warn about oddities of a file that was read."""
    matrices: NDArray[Any] = document.matrices if isinstance(document, Plain) else document.transforms
    frames, bones = matrices.shape[:2]
    for what, values in (
        ("matrices", matrices),
        ("phases", document.phases),
        ("step", document.step),
        ("events", [event.phase for event in document.events or ()]),
    ):
        warn_not_finite(report, what, values)
    if len(document.tail):
        words = "{:# extra byte|# extra bytes} after the last frame; kept"
        if isinstance(document, Plain):
            words = "{:# extra byte|# extra bytes} after the last matrix; kept"
        report.warn(say(words, len(document.tail)))
    if not frames:
        report.warn("the animation has no frames")
    if frames > MOST_FRAMES or bones > MOST_BONES:
        report.warn(say("the game refuses more than {} frames or {} bones", MOST_FRAMES, MOST_BONES))
