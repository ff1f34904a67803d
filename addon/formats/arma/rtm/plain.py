"""The plain `.rtm`: bytes <-> `Plain`. No end mark: the last matrix ends the file."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....core.binary import Reader, Writer
from ....core.errors import WriteError
from ....core.report import Report
from .document import (
    MOST_BONES,
    MOST_FRAMES,
    NAME_SIZE,
    PLAIN,
    PLAIN_OLD,
    PROPERTIES,
    Plain,
    StoredEvent,
    tell_not_finite,
)

_MATRIX_SIZE = 4 * 12


def read_plain(reader: Reader, report: Report) -> Plain:
    """The document, from the first byte on. Raises `ReadError`."""
    events, properties_version = None, 0
    magic = bytes(reader.take(8, "the file's mark"))
    if magic == PROPERTIES:
        properties_version = reader.u32("the version of the properties")
        events = _read_events(reader)
        magic = bytes(reader.take(8, "the animation's mark"))
    if magic not in (PLAIN, PLAIN_OLD):
        raise reader.error(f"the animation begins with {magic!r} instead of {PLAIN!r}")
    step = np.zeros(3, "<f4")
    axes = slice(None) if magic == PLAIN else slice(2, 3)
    step[axes] = reader.array("<f4", len(step[axes]), what="the step")
    frames, bones = reader.u32("the number of frames"), reader.u32("the number of bones")
    fields = reader.array("u1", bones, NAME_SIZE, what=f"the list of {bones} bones")
    row = _row_size(bones)
    # A view of raw bytes: numpy refuses row types beyond 2 GiB, and a hostile count of bones asks for one.
    rows = reader.array("u1", frames, row, what=f"{frames} frames of {bones} bones")
    placed = rows[:, 4:].reshape(frames, bones, NAME_SIZE + _MATRIX_SIZE)
    result = Plain(
        magic,
        step,
        fields,
        _floats(rows[:, :4]).reshape(frames),
        placed[..., :NAME_SIZE],
        _floats(placed[..., NAME_SIZE:]).reshape(frames, bones, 4, 3),
        events,
        properties_version,
        reader.rest(),
    )
    _tell(result, report)
    return result


def _row_size(bones: int) -> int:
    return 4 + bones * (NAME_SIZE + _MATRIX_SIZE)


def _floats(raw: NDArray[np.uint8]) -> NDArray[np.float32]:
    """The numbers in bytes (..., 4 n) that do not lie side by side."""
    result: NDArray[np.float32] = np.ascontiguousarray(raw).view("<f4")
    return result


def _read_events(reader: Reader) -> list[StoredEvent]:
    count = reader.u32("the number of events")
    if 6 * count > reader.remaining:
        raise reader.error(f"{count} events need at least {6 * count} bytes, {reader.remaining} are left")
    return [
        StoredEvent(reader.f32("an event's phase"), _short_string(reader, "name"), _short_string(reader, "value"))
        for _ in range(count)
    ]


def _short_string(reader: Reader, what: str) -> bytes:
    return bytes(reader.take(reader.u8(f"the length of an event's {what}"), f"an event's {what}"))


def _tell(document: Plain, report: Report) -> None:
    frames, bones = document.matrices.shape[:2]
    tell_not_finite(document, report)
    if len(document.tail):
        report.warn(f"{len(document.tail)} bytes are left over behind the last matrix; kept")
    if not frames:
        report.warn("there are no frames in it")
    if frames > MOST_FRAMES or bones > MOST_BONES:
        report.warn(f"the game refuses more than {MOST_FRAMES} frames or {MOST_BONES} bones")
    renamed = np.flatnonzero(document.frame_names_differ())
    if len(renamed):
        report.warn(
            f"{len(renamed)} frames, the first {renamed[0]}, name other bones or in another order than the file"
        )


def write_plain(document: Plain) -> bytes:
    """The file's bytes. Raises `WriteError`."""
    writer = Writer()
    if document.events is not None:
        writer.raw(PROPERTIES)
        writer.u32(document.properties_version)
        writer.u32(len(document.events))
        for event in document.events:
            writer.f32(event.phase)
            for text in (event.name, event.value):
                if len(text) > 255:
                    raise WriteError(f"{text!r} is longer than 255 bytes", remedy="Shorten the event's name or value")
                writer.u8(len(text))
                writer.raw(text)
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
    placed = rows[:, 4:].reshape(frames, bones, NAME_SIZE + _MATRIX_SIZE)
    placed[..., :NAME_SIZE] = document.frame_fields
    placed[..., NAME_SIZE:] = _bytes(document.matrices.reshape(frames, bones, 12))
    rows[:, 4:] = placed.reshape(frames, _row_size(bones) - 4)
    writer.raw(rows.tobytes())
    writer.raw(document.tail)
    return writer.getvalue()


def _bytes(values: NDArray[np.float32]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(values, "<f4").view(np.uint8)
