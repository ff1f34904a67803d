"""The motions of all parts back into the animation chunks: a track nobody touched keeps its bytes.

The fraction of a track that has passed comes from the rotation track's range, for positions too: so a track that is
written anew has one range for both, and wherever there are position keys the rotation chunk is there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import text
from ....core.errors import WriteError
from ....core.finite import as_in_file
from .animation import POSITION_KEY, ROTATION_KEY, TIMED_SINCE, PositionTracks, RotationTracks, Tracks
from .changes import Changes
from .document import Oof, Value
from .model import Floats, Model, Motion, Part
from .motion import moves, sampled, span, spin_axis
from .motion_encoding import (
    Flags,
    Precision,
    StoredKeys,
    largest_step,
    position_keys,
    rotation_keys,
    same_displacements,
    same_rotations,
    spin_keys,
)
from .point_encoding import Indices
from .pose import Track, motion_tracks


@dataclass
class _Stored:
    """The keys and ranges of one part, as they are or will be in the file."""

    rotation: NDArray[Any]
    position: NDArray[Any]
    rotation_range: tuple[int, int]
    position_range: tuple[int, int]


def encode_tracks(
    model: Model, base: Oof, indices: Indices, precision: Precision, changes: Changes
) -> dict[bytes, Value | None]:
    """The chunks that are others, by their letters."""
    turning, moving = base.last(RotationTracks), base.last(PositionTracks)
    tracks = motion_tracks(base)
    told = Changes()
    if base.major < TIMED_SINCE and (turning is not None or moving is not None):
        return _check_untimed(model, base, indices, tracks, precision)
    ticks = model.ticks
    stored = []
    for place, part in enumerate(model.parts):
        source = indices.sources[place]
        index = base.sub_objects[source].index if source >= 0 else -1
        before = _Stored(*_keys(turning, moving, index))
        track = tracks[source] if source >= 0 else None
        stored.append(_encode_track(part, before, track, ticks=ticks, precision=precision, told=told))
    if indices.same and not told:
        return {}
    changes.lines += told.lines
    changes.left_out += told.left_out
    result: dict[bytes, Value | None] = {}
    count = max(indices.numbers, default=-1) + 1
    any_positions = moving is not None or any(len(one.position) for one in stored)
    if turning is not None or any_positions or any(len(one.rotation) for one in stored):
        if base.major < TIMED_SINCE:
            raise WriteError(f"version {base.version} has no times", remedy="Convert the file to version 2300")
        result[b"RANI"] = RotationTracks(*_table(stored, indices, count, "rotation"))
    if any_positions:
        result[b"PANI"] = PositionTracks(*_table(stored, indices, count, "position"))
    return result


def _keys(
    turning: Tracks | None, moving: Tracks | None, index: int
) -> tuple[NDArray[Any], NDArray[Any], tuple[int, int], tuple[int, int]]:
    keys, ranges = [], []
    for chunk, layout in ((turning, ROTATION_KEY), (moving, POSITION_KEY)):
        there = chunk is not None and chunk.ranges is not None and 0 <= index < len(chunk.keys)
        if chunk is not None and chunk.ranges is not None and there:
            keys.append(chunk.keys[index])
            ranges.append((int(chunk.ranges[index][0]), int(chunk.ranges[index][1])))
        else:
            keys.append(np.zeros(0, layout))
            ranges.append((0, 0))
    return keys[0], keys[1], ranges[0], ranges[1]


def _table(
    stored: list[_Stored], indices: Indices, count: int, which: str
) -> tuple[list[NDArray[Any]], NDArray[np.int32]]:
    layout = ROTATION_KEY if which == "rotation" else POSITION_KEY
    keys: list[NDArray[Any]] = [np.zeros(0, layout)] * count
    ranges = np.zeros((count, 2), np.int32)
    for index, one in zip(indices.numbers, stored, strict=True):
        keys[index] = getattr(one, which)
        ranges[index] = getattr(one, f"{which}_range")
    return keys, ranges


def _encode_track(
    part: Part,
    before: _Stored,
    track: Track | None,
    *,
    ticks: tuple[int, int],
    precision: Precision,
    told: Changes,
) -> _Stored:
    result = _Stored(before.rotation, before.position, before.rotation_range, before.position_range)
    if part.spin_axis is not None:
        _encode_spin(part, result, track, ticks, told)
    motion = part.motion
    if motion is None:
        return result
    if not (np.isfinite(motion.rotations).all() and np.isfinite(motion.displacements).all()):
        raise WriteError(f"the motion of {part.name!r} holds a number that is none", remedy="Clean up its F-curves")
    wanted = (motion.first, max(motion.last, motion.first + 1))
    turned_same, moved_same = _same_ticks(track, motion, precision)
    as_long = track is not None and _is_as_long(track, motion)
    turns_alike = part.spin_axis is not None or (as_long and bool(turned_same.all()))
    moves_alike = as_long and bool(moved_same.all())
    if turns_alike and moves_alike:
        return result
    one_range = result.rotation_range == result.position_range == wanted
    if not turns_alike or (not one_range and part.spin_axis is None):
        result.rotation = rotation_keys(motion, precision, StoredKeys(before.rotation, motion.first, turned_same))
        keys = text.changed_count("rotation keys", len(before.rotation), len(result.rotation))
        told.lines.append(f"{part.name}: {keys}")
        fastest = largest_step(motion, turned_same)
        if fastest > precision.step:
            told.left_out.append(f"{part.name} turns {fastest:.0f}° in a tick: the game shows a shorter way there")
    if not moves_alike or not one_range:
        # With a range of their own the game plays them at other ticks than they say.
        stored = before.position if before.rotation_range == before.position_range else before.position[:0]
        result.position = position_keys(motion, precision, StoredKeys(stored, motion.first, moved_same))
        keys = text.changed_count("position keys", len(before.position), len(result.position))
        told.lines.append(f"{part.name}: {keys if len(result.position) else 'range of positions'}")
    result.rotation_range = result.position_range = wanted
    return result


def _same_ticks(track: Track | None, motion: Motion, precision: Precision) -> tuple[Flags, Flags]:
    """(ticks,) where a motion turns, and where it moves, as the base plays it; beyond its range that holds on."""
    if track is None:
        nowhere = np.zeros(len(motion.rotations), np.bool_)
        return nowhere, nowhere
    old = sampled(track, motion.first, motion.last)
    return same_rotations(motion, old, precision), same_displacements(motion, old, precision)


def _is_as_long(track: Track, motion: Motion) -> bool:
    """Whether the base's motion has the same ticks. A part that nothing moved stood still as long."""
    return not moves(track) or span(track) == (motion.first, motion.last)


def _encode_spin(part: Part, result: _Stored, track: Track | None, ticks: tuple[int, int], told: Changes) -> None:
    assert part.spin_axis is not None  # noqa: S101 - the caller asked
    if _same_axis(spin_axis(track) if track is not None else None, part.spin_axis):
        return
    if not np.isfinite(part.spin_axis).all():
        raise WriteError(f"the axis of rotation of {part.name!r} is NaN or infinite", remedy="Set it again")
    first, last = result.rotation_range
    if last <= first:
        first, last = ticks[0], max(ticks[1], ticks[0] + 1)
    result.rotation = spin_keys(part.spin_axis, (first, last))
    result.rotation_range = (first, last)
    if not len(result.position):
        result.position_range = result.rotation_range
    told.lines.append(f"{part.name}: axis of rotation")


def _same_axis(old: Floats | None, new: Floats) -> bool:
    """Whether an axis (3,) still is the file's, which may be NaN or infinite in a damaged file."""
    if old is None:
        return False
    return bool(np.isclose(as_in_file(new, old), old, rtol=0, atol=1e-6, equal_nan=True).all())


def _check_untimed(
    model: Model, base: Oof, indices: Indices, tracks: list[Track], precision: Precision
) -> dict[bytes, Value | None]:
    """Nothing changes, or it is refused: old versions have one number of keys for all parts and no times."""
    for place, part in enumerate(model.parts):
        source = indices.sources[place]
        old = tracks[source] if source >= 0 else None
        alike = part.motion is None or (
            old is not None
            and _is_as_long(old, part.motion)
            and all(bool(same.all()) for same in _same_ticks(old, part.motion, precision))
        )
        if part.spin_axis is not None and not _same_axis(spin_axis(old) if old is not None else None, part.spin_axis):
            alike = False
        if not alike or not indices.same:
            raise WriteError(
                f"{part.name!r}: keys of version {base.version} have no times and cannot be changed",
                remedy="Convert the file to version 2300 first",
            )
    return {}
