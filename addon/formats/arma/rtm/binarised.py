"""The binarised `.rtm`: bytes <-> `Binarised`.

Arrays stand one behind the other, each with its count. Version 5 says of each whether it is compressed; older ones
compress what has 1024 bytes or more. What was read from a compressed block keeps it: the packers of the vendor need not
be matched to write a file back.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core.binary import Bytes, Reader, Writer
from ....core.errors import ReadError, WriteError
from ....core.report import Report
from .. import lzo, lzss
from .document import (
    BINARISED,
    BINARISED_VERSIONS,
    MOST_BONES,
    MOST_FRAMES,
    PACKED_BY_FLAG,
    PACKED_FROM,
    TRANSFORM,
    WITH_EVENTS,
    Binarised,
    StoredEvent,
    tell_not_finite,
)

_STORED, _COMPRESSED = 0, 2
_PHASE = np.dtype("<f4")


def read_binarised(reader: Reader, report: Report) -> Binarised:
    """The document, from the first byte on. Raises `ReadError`."""
    if bytes(reader.take(4, "the file's mark")) != BINARISED:
        raise reader.error("this is no binarised animation")
    version = reader.u32("the version")
    if version not in BINARISED_VERSIONS:
        raise reader.error(f"binarised animations of version {version} are unknown (known: 2 to 5)")
    turned = reader.u8("the direction")
    step = reader.array("<f4", 3, what="the step")
    frames, preload = reader.u32("the number of frames"), reader.u32("whether to preload")
    first_frame_bones, bones = reader.u32("the first frame's bones"), reader.u32("the number of bones")
    labels = _strings(reader, bones, "bone")
    meta, events = _read_events(reader) if version >= WITH_EVENTS else ([], [])
    phases, phases_block = _read_array(reader, version, _PHASE, frames, "the phases")
    rows, blocks = [], []
    for frame in range(frames):
        row, block = _read_array(reader, version, TRANSFORM, bones, f"frame {frame}")
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
    _tell(result, report)
    return result


def _strings(reader: Reader, count: int, what: str) -> list[bytes]:
    if count > reader.remaining:
        raise reader.error(f"{count} {what} names need at least as many bytes, {reader.remaining} are left")
    return [reader.string(f"the name of {what} {number}") for number in range(count)]


def _read_events(reader: Reader) -> tuple[list[bytes], list[StoredEvent]]:
    meta = _strings(reader, reader.u32("the number of meta names"), "meta")
    count = reader.u32("the number of events")
    if 10 * count > reader.remaining:
        raise reader.error(f"{count} events need at least {10 * count} bytes, {reader.remaining} are left")
    events = []
    for _ in range(count):
        kind, name = reader.i32("an event's kind"), reader.string("an event's name")
        events.append(StoredEvent(reader.f32("an event's phase"), name, reader.string("an event's value"), kind))
    return meta, events


def _read_array(
    reader: Reader, version: int, kind: np.dtype[Any], expected: int, what: str
) -> tuple[NDArray[Any], Bytes]:
    """An array and the compressed block it was in, empty where it was not."""
    count = reader.u32(f"the length of {what}")
    if count != expected:
        raise reader.error(f"{what}: {count} entries are announced, {expected} are expected")
    size = count * kind.itemsize
    if version >= PACKED_BY_FLAG:
        flag = reader.u8(f"the compression of {what}")
        if flag not in (_STORED, _COMPRESSED):
            raise reader.error(f"{what}: compression {flag} is unknown (known: 0 and 2)")
        compressed = flag == _COMPRESSED
    else:
        compressed = size >= PACKED_FROM
    if not compressed:
        return reader.array(kind, count, what=what), b""
    plain, block = _unpack(reader, version, size, what)
    return np.frombuffer(plain, kind), block


def _unpack(reader: Reader, version: int, size: int, what: str) -> tuple[bytes, memoryview]:
    return lzss.unpack(reader, size, what) if version == 2 else lzo.unpack(reader, size, what)


def _tell(document: Binarised, report: Report) -> None:
    frames, bones = document.transforms.shape
    tell_not_finite(document, report)
    if len(document.tail):
        report.warn(f"{len(document.tail)} bytes are left over behind the last frame; kept")
    if document.first_frame_bones != bones:
        report.warn(f"the first frame is said to have {document.first_frame_bones} bones, the others {bones}; kept")
    if document.turned != 1:
        report.warn(f"the direction is {document.turned}; every known file has 1, the half-turned frame")
    if not frames:
        report.warn("there are no frames in it")
    if frames > MOST_FRAMES or bones > MOST_BONES:
        report.warn(f"the game refuses more than {MOST_FRAMES} frames or {MOST_BONES} bones")
    packed = sum(1 for block in (document.phases_block, *document.blocks) if len(block))
    if packed:
        report.note(f"{packed} of {frames + 1} arrays are compressed")


def write_binarised(document: Binarised, *, checked: bool) -> bytes:
    """The file's bytes; ``checked``: kept blocks are unpacked and compared before use. Raises `WriteError`."""
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
        raise WriteError(f"binarised files of version {document.version} have no events", remedy="Write version 5")
    _write_array(writer, document.version, document.phases, document.phases_block, checked)
    for row, block in zip(document.transforms, document.blocks, strict=True):
        _write_array(writer, document.version, row, block, checked)
    writer.raw(document.tail)
    return writer.getvalue()


def _write_array(writer: Writer, version: int, values: NDArray[Any], block: Bytes, checked: bool) -> None:
    plain = np.ascontiguousarray(values).tobytes()
    if checked and len(block) and not _says(block, plain, version):
        block = b""
    writer.u32(len(values))
    if version >= PACKED_BY_FLAG:
        writer.u8(_COMPRESSED if block else _STORED)
    elif len(plain) >= PACKED_FROM and not block:
        block = lzss.stored(plain) if version == 2 else lzo.stored(plain)
    writer.raw(block if len(block) else plain)


def _says(block: Bytes, plain: bytes, version: int) -> bool:
    try:
        return _unpack(Reader(block), version, len(plain), "an array")[0] == plain
    except ReadError:
        return False
