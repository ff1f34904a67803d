"""The animation chunks of an `.oof` as they are stored: rotation keys (RANI, ANIM) and position keys (PANI).

Known from the engine's ``newstyle.cpp`` and ``polymodel.cpp``. From version 2200 on each sub-object has its own number
of keys, a range of ticks, and keys that start at a tick ("timed"); older files give one number of keys for all and no
times. What keys mean is in `pose`. Real files hold rotation keys of version 2300 only: the others are known from
the engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ....core.binary import Reader, Writer

TIMED_SINCE = 22
"""Hundreds of the version."""
FULL_TURN = 65536
"""The unit of angles: so many are a whole turn. Stored angles are not limited to one turn."""

ROTATION_KEY = np.dtype([("start", "<i4"), ("axis", "<f4", 3), ("angle", "<i4")])
POSITION_KEY = np.dtype([("start", "<i4"), ("position", "<f4", 3)])
UNTIMED_ROTATION_KEY = np.dtype([("axis", "<f4", 3), ("angle", "<i4")])
UNTIMED_POSITION_KEY = np.dtype([("position", "<f4", 3)])
_TRACK = np.dtype([("count", "<i4"), ("first", "<i4"), ("last", "<i4")])


@dataclass(slots=True, eq=False)
class Tracks:
    """A track for each sub-object, by its index.

    ``keys`` of each track, structured; ``ranges`` (sub-objects, 2) first and last tick, or None in untimed files, where
    ``shared_count`` is the number of keys of every track, as stored.
    """

    keys: list[NDArray[Any]]
    ranges: NDArray[np.int32] | None
    shared_count: int = 0

    @property
    def timed(self) -> bool:
        """Whether keys have times."""
        return self.ranges is not None

    @classmethod
    def read(cls, reader: Reader, layout: np.dtype[Any], sub_objects: int) -> Self:
        """The tracks of so many sub-objects, timed where the layout of a key says so."""
        if "start" not in (layout.names or ()):
            keys, count = _read_untimed(reader, layout, sub_objects)
            return cls(keys, None, count)
        if sub_objects * _TRACK.itemsize > reader.remaining:
            raise reader.error(
                f"{sub_objects} tracks need at least {sub_objects * _TRACK.itemsize} bytes, {reader.remaining} are left"
            )
        keys, ranges = [], np.zeros((sub_objects, 2), np.int32)
        for number in range(sub_objects):
            count = reader.i32("the number of keys")
            ranges[number] = reader.array("<i4", 2, what="the range of a track")
            if count < 0:
                raise reader.error(f"a track of {count} keys is announced")
            keys.append(reader.array(layout, count, what=f"{count} keys"))
        return cls(keys, ranges)

    def write(self, writer: Writer) -> None:
        if self.ranges is None:
            writer.i32(self.shared_count)
        for number, keys in enumerate(self.keys):
            if self.ranges is not None:
                writer.i32(len(keys))
                writer.array(self.ranges[number], "<i4")
            writer.raw(keys.tobytes())


def _read_untimed(reader: Reader, layout: np.dtype[Any], sub_objects: int) -> tuple[list[NDArray[Any]], int]:
    count = reader.i32("the number of keys")
    if count < 0:
        raise reader.error(f"tracks of {count} keys are announced")
    if not count:
        return [], 0
    rows = reader.array(layout, sub_objects, count, what=f"{sub_objects} tracks of {count} keys")
    return list(rows), count


class RotationTracks(Tracks):
    """Chunk RANI or ANIM: ``axis`` and ``angle`` of each key are the turn since the key before, in the parent's frame.

    Angles are in units of `FULL_TURN`.
    """


class PositionTracks(Tracks):
    """Chunk PANI: ``position`` is what is added to the sub-object's offset, in the parent's frame."""
