"""Marks: named lists of time intervals in a motion, for example the times when a foot is on the ground.

Source: the engine's ``SkeletonMotions.cpp``. An `.omf` since parameters version 4, and editor motions since version 7,
store them with the same bytes: a name ends with a line break instead of a zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...core import names
from ...core.binary import DAMAGED, Reader, Writer, as_in_file, warn_not_finite
from ...core.model import Marker
from ...core.report import Report, say
from ...core.text import Rows
from ...core.walk import Entries, View, Views

SKIPPED_BYTES = (10, 13)
"""After a mark's name the engine skips every byte of these values, even if they are part of the number of intervals."""
SMALLEST_MARK = 5
"""Size of the shortest mark in bytes."""


@dataclass(slots=True)
class Mark:
    """A named list of time intervals: ``intervals`` (n, 2) float32 seconds; ``line_end`` ends the name in the file."""

    name: bytes
    intervals: NDArray[np.float32]
    line_end: bytes = b"\r\n"

    @property
    def label(self) -> str:
        """The name as text."""
        return names.decode(self.name)


def _mark_entries(mark: Mark) -> Entries:
    yield "line end", mark.line_end
    yield "", Rows(mark.intervals, "interval")


MARK_VIEWS: Views = {Mark: View(lambda mark: f"mark {mark.label!r}", entries=_mark_entries)}


def read_marks(reader: Reader, report: Report, motion: str) -> list[Mark]:
    """Read the number of a motion's marks, and the marks. Raises `ReadError` if one is not complete."""
    count = reader.u32("a motion's number of marks")
    reader.expect_room(count, "entry|entries", SMALLEST_MARK)
    return [_read_mark(reader, report, motion) for _ in range(count)]


def _read_mark(reader: Reader, report: Report, motion: str) -> Mark:
    line = bytes(reader.data[reader.position : reader.position + 4096]).partition(b"\n")
    if not line[1]:
        raise reader.error("a mark's name does not end", DAMAGED)
    reader.take(len(line[0]) + 1)
    line_end = b"\r\n" if line[0].endswith(b"\r") else b"\n"
    count = reader.u32("a mark's number of intervals")
    intervals = reader.array("<f4", count, 2, what="a mark's intervals")
    warn_not_finite(report, say("{}, marks", motion), intervals)
    if count & 0xFF in SKIPPED_BYTES:
        report.warn(say("a mark has {:# interval|# intervals}, a number the game misreads", count), motion)
    return Mark(line[0].removesuffix(b"\r"), intervals, line_end)


def write_marks(writer: Writer, marks: list[Mark]) -> None:
    """Write the number of a motion's marks, and the marks."""
    writer.u32(len(marks))
    for mark in marks:
        writer.raw(mark.name + mark.line_end)
        writer.u32(len(mark.intervals))
        writer.array(np.asarray(mark.intervals), "<f4")


def decode_marks(marks: list[Mark]) -> list[Marker]:
    """Return the marks as `Marker`: names as text, intervals as float64."""
    with np.errstate(invalid="ignore"):  # signalling NaNs of broken files
        return [Marker(mark.label, mark.intervals.astype(np.float64)) for mark in marks]


def encode_marks(markers: list[Marker], base: list[Mark]) -> list[Mark]:
    """Return the marks of a motion; unedited ones keep their bytes. Raises `WriteError` if a name cannot be encoded."""
    marks = []
    for index, marker in enumerate(markers):
        old = base[index] if index < len(base) else None
        intervals = marker.intervals.astype("<f4").reshape(-1, 2)
        if old is not None and old.intervals.shape == intervals.shape:
            intervals = as_in_file(intervals, old.intervals)
        if old is not None and old.label == marker.name and old.intervals.tobytes() == intervals.tobytes():
            marks.append(old)
        else:
            marks.append(Mark(names.encode(marker.name), intervals, old.line_end if old is not None else b"\r\n"))
    return marks
