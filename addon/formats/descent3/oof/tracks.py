"""Animation chunks <-> the motions of parts, tick by tick, in Blender's axes; unchanged tracks keep their bytes.

A decoded motion is what the game shows at every tick, including the error of its blending of matrices, which makes
large steps lag behind and bulge. Therefore an edited motion gets keys until what the game would play is within a
tolerance at every tick, and no step exceeds ten degrees where ticks permit; no further keys are written. The engine
computes the fraction of a track that has passed from the rotation track's range, for positions too. So a rewritten
track has one range for both, and a file with position keys always has a rotation chunk.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import rotation, space
from ....core.binary import as_in_file
from ....core.changes import Changes
from ....core.errors import WriteError
from ....core.report import Report, say
from .document import (
    FULL_TURN,
    POSITION_KEY,
    ROTATION_KEY,
    TIMED_SINCE,
    Oof,
    PositionTracks,
    RotationTracks,
)
from .model import Floats, Match, Model, Motion, Part, Singles
from .points import EncodedChunks
from .pose import aimed_parts, around, blended, by_heading_pitch_bank, chosen_ticks, play
from .track import Keys, Track, tracks_of

Flags = NDArray[np.bool_]

MOST_TICKS = 150_000
"""Limit for all parts together, more than an hour. A damaged or malicious file of a few bytes can declare billions."""
_EPSILON = 1e-9


# Decode --------------------------------------------------------------------------------------------------------------


def decode_motions(document: Oof, tracks: list[Track], report: Report) -> list[Motion | None]:
    """Return the motion of each part, None for parts without effective keys and for turrets of weapon batteries."""
    parts, aimed = document.sub_objects, aimed_parts(document)
    moving = [index for index, track in enumerate(tracks) if track.moves and parts[index].index not in aimed]
    result: list[Motion | None] = [None] * len(parts)
    spans = {index: tracks[index].span for index in moving}
    if sum(last - first + 1 for first, last in spans.values()) > MOST_TICKS:
        report.warn(say("the motions last more than {} ticks; left out here, kept for export", MOST_TICKS))
        return result
    for index in moving:
        track = tracks[index]
        first, last = spans[index]
        if track.rotation.range is not None and track.rotation.range[1] <= track.rotation.range[0]:
            report.warn("the rotation's range is empty: positions jump to their last key", parts[index].label)
        if track.rotation.start_late or track.position.start_late:
            report.warn("the first key starts after the first tick, which crashes the game", parts[index].label)
        result[index] = sampled(track, first, last)
    return result


def sampled(track: Track, first: int, last: int) -> Motion:
    """Sample what the game plays for a track, at every tick from ``first`` to ``last``."""
    _, matrices, moved = play(track, np.arange(first, last + 1))
    quaternions = rotation.continuous(rotation.from_matrices(space.descent_turns(matrices)))
    return Motion(first, quaternions, space.descent_points(moved), _key_ticks(track, first, last), track)


def _key_ticks(track: Track, first: int, last: int) -> NDArray[np.int64]:
    """Return the ticks at which keys start, and both ends of the track."""
    key_ticks = [np.array([first, last])]
    if track.rotation.range is None:
        key_ticks.append(np.rint(track.untimed_times).astype(np.int64))
    else:
        key_ticks.append(track.rotation.starts.astype(np.int64))
        if track.rotation.range == track.position.range:
            key_ticks.append(track.position.starts.astype(np.int64))
    ticks = np.unique(np.concatenate(key_ticks))
    return ticks[(ticks >= first) & (ticks <= last)]


def spin_axis(track: Track) -> Floats | None:
    """Return the axis (3,) of a rotor or turret, right-handed in Blender's axes; None for other parts."""
    if track.spin_axis is None:
        return None
    # Mirroring reverses the sense of rotation.
    axis: Floats = -space.descent_points(track.spin_axis)
    return axis


# Encode --------------------------------------------------------------------------------------------------------------


DEGREES, DISTANCE, STEP = 0.02, 1e-4, 10.0
"""Tolerances of written keys: in degrees and units at every tick, and degrees per key."""
UNEDITED_DEGREES, UNEDITED_DISTANCE = 0.01, 1e-5
"""A motion that differs from the file's by at most these degrees and units counts as unedited."""


def same_rotations(motion: Motion, other: Motion) -> Flags:
    """Return (ticks,) whether the rotations of two motions with the same ticks are equal within the tolerance."""
    apart = rotation.angles_between(motion.rotations, other.rotations)
    result: Flags = apart <= math.radians(UNEDITED_DEGREES)
    return result


def same_displacements(motion: Motion, other: Motion, offset: Singles | None = None) -> Flags:
    """Return (ticks,) whether the displacements of two motions with the same ticks are equal within the tolerance.

    ``offset`` (3,): what one of them was added to in 32 bits; then the tolerance includes the rounding of the sum.
    """
    size = 1 + np.abs(other.displacements).max(initial=0)
    tolerance = UNEDITED_DISTANCE * size
    if offset is not None:
        tolerance += 4 * np.finfo(np.float32).eps * (np.abs(offset).max(initial=0) + size)
    apart = np.abs(motion.displacements - other.displacements).max(axis=1, initial=0)
    result: Flags = apart <= tolerance
    return result


def is_same(motion: Motion, other: Motion) -> bool:
    """Return whether two motions with the same ticks are equal within the tolerance."""
    return bool(same_rotations(motion, other).all() and same_displacements(motion, other).all())


def encode_tracks(model: Model, base: Oof, match: Match) -> EncodedChunks:
    """Return the animation chunks that differ from the base's. Raises `WriteError`."""
    rotations, positions = base.last(RotationTracks), base.last(PositionTracks)
    old, timed = tracks_of(base), base.major >= TIMED_SINCE
    if not timed and (rotations is not None or positions is not None):
        _check_untimed(model, base, match, old)
        return EncodedChunks()
    result, ticks, tracks = EncodedChunks(), model.ticks, []
    for part, source, origin in zip(model.parts, match.sources, match.origins, strict=True):
        # What moves as before keeps its keys; only parts of the file also keep keys that were not imported.
        row = origin if part.motion is not None else source
        before = old[row] if row >= 0 and timed else Track()
        tracks.append(_encode_track(part, before, ticks=ticks, changes=result.changes))
    if match.same and not result.changes:
        return EncodedChunks()
    any_positions = positions is not None or any(len(track.position) for track in tracks)
    if rotations is not None or any_positions or any(len(track.rotation) for track in tracks):
        if not timed:
            raise WriteError(say("version {} has no times", base.version), remedy="Choose Version 2300 in the export")
        keys = _by_stored_index([track.rotation for track in tracks], match, ROTATION_KEY)
        result.values[b"RANI"] = RotationTracks(*keys)
    if any_positions:
        keys = _by_stored_index([track.position for track in tracks], match, POSITION_KEY)
        result.values[b"PANI"] = PositionTracks(*keys)
    return result


def _by_stored_index(
    keys: list[Keys], match: Match, layout: np.dtype[np.void]
) -> tuple[list[NDArray[np.void]], NDArray[np.int32]]:
    """Return keys and ranges in order of the stored index."""
    count = max(match.stored, default=-1) + 1
    rows: list[NDArray[np.void]] = [np.zeros(0, layout)] * count
    ranges = np.zeros((count, 2), np.int32)
    for index, own in zip(match.stored, keys, strict=True):
        rows[index], ranges[index] = own.rows, own.range or (0, 0)
    return rows, ranges


def _encode_track(part: Part, before: Track, *, ticks: tuple[int, int], changes: Changes) -> Track:
    """Return the part's track, ``before`` if nothing changed. ``ticks``: first and last tick of the model."""
    result = before if part.spin_axis is None else _encode_spin(part, part.spin_axis, before, ticks, changes)
    motion = part.motion
    if motion is None:
        return result
    if not (np.isfinite(motion.rotations).all() and np.isfinite(motion.displacements).all()):
        words = "the motion of {!r} holds NaN or infinite values"
        raise WriteError(say(words, part.label), remedy="Clean up its F-curves")
    wanted = (motion.first, max(motion.last, motion.first + 1))
    old = sampled(before, motion.first, motion.last)  # beyond the range of the track: its end
    same_rotation, same_position = same_rotations(motion, old), same_displacements(motion, old)
    same_span = _has_same_span(before, motion)
    keeps_rotation = part.spin_axis is not None or (same_span and bool(same_rotation.all()))
    keeps_position = same_span and bool(same_position.all())
    if keeps_rotation and keeps_position:
        return result
    one_range = result.rotation.range == result.position.range == wanted
    rotations, positions = result.rotation.rows, result.position.rows
    if not keeps_rotation or (not one_range and part.spin_axis is None):
        rotations = rotation_keys(motion, StoredKeys(before.rotation.rows, motion.first, same_rotation))
        counts = len(before.rotation), len(rotations)
        changes.replaced("rotation keys {} -> {}", *counts, same=say("rotation keys"), name=part.label)
        fastest = largest_step(motion, same_rotation)
        if fastest > STEP:
            words = "{} turns {:.0f}° in one tick: the game rotates the shorter way"
            changes.left_out.append(say(words, part.label, fastest))
    if not keeps_position or not one_range:
        # With a different range of its own the game plays position keys at other ticks than their start.
        stored = before.position.rows if before.rotation.range == before.position.range else before.position.rows[:0]
        positions = position_keys(motion, StoredKeys(stored, motion.first, same_position))
        counts = len(before.position), len(positions)
        if len(positions):
            changes.replaced("position keys {} -> {}", *counts, same=say("position keys"), name=part.label)
        else:
            changes.note(say("range of positions"), name=part.label)
    return replace(result, rotation=Keys(rotations, wanted), position=Keys(positions, wanted))


def _has_same_span(track: Track, motion: Motion) -> bool:
    """Return whether the motion has the same ticks as the track, or that does not move the part."""
    return not track.moves or track.span == (motion.first, motion.last)


def _encode_spin(part: Part, axis: Floats, before: Track, ticks: tuple[int, int], changes: Changes) -> Track:
    if _same_axis(spin_axis(before), axis):
        return before
    if not np.isfinite(axis).all():
        raise WriteError(say("the axis of rotation of {!r} is NaN or infinite", part.label), remedy="Set it again")
    wanted = before.rotation.range
    if wanted is None or wanted[1] <= wanted[0]:
        wanted = ticks[0], max(ticks[1], ticks[0] + 1)
    changes.note(say("axis of rotation"), name=part.label)
    position = before.position if len(before.position) else Keys(before.position.rows, wanted)
    return replace(before, rotation=Keys(spin_keys(axis, wanted), wanted), position=position)


def _same_axis(old: Floats | None, new: Floats) -> bool:
    """Return whether an axis (3,) equals the file's, which may be NaN or infinite in a damaged file."""
    if old is None:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isclose(as_in_file(new, old), old, rtol=0, atol=1e-6, equal_nan=True).all())


def _check_untimed(model: Model, base: Oof, match: Match, tracks: list[Track]) -> None:
    """Raise `WriteError` if a motion changed: old versions have one number of keys for all parts and no times."""
    for part, source in zip(model.parts, match.sources, strict=True):
        old = tracks[source] if source >= 0 else Track()
        motion = part.motion
        same = motion is None or (
            _has_same_span(old, motion) and is_same(motion, sampled(old, motion.first, motion.last))
        )
        if part.spin_axis is not None and not _same_axis(spin_axis(old), part.spin_axis):
            same = False
        if not same or not match.same:
            words = "{!r}: keys of version {} have no times and cannot be changed"
            raise WriteError(say(words, part.name, base.version), remedy="Choose Version 2300 in the export")


# Keys of an edited motion --------------------------------------------------------------------------------------------


class StoredKeys:
    """Keys of a file, and which of them an edited motion keeps.

    ``keys`` (n,) as stored. An interval between two keys is kept if the motion equals what they play at every tick of
    it: then the motion already includes the engine's error at large steps.
    """

    def __init__(self, keys: NDArray[np.void], first: int, same: Flags) -> None:
        """``same`` (ticks,): whether the motion is unedited; ``first``: the tick of its first row."""
        starts = keys["start"].astype(np.int64)
        usable = len(keys) > 1 and bool((np.diff(starts) > 0).all())
        if usable and "axis" in (keys.dtype.names or ()):
            lengths = np.linalg.norm(keys["axis"].astype(np.float64), axis=1)
            usable = bool((np.isfinite(lengths) & (lengths > 0)).all())
        self.keys = keys if usable else keys[:0]
        self._same, count = same, len(same)
        self._rows = starts[: len(self.keys)] - first
        inside = (self._rows >= 0) & (self._rows < count)
        different = np.concatenate([np.zeros(1, np.int64), np.cumsum(~same)])
        ends = np.clip(self._rows, 0, count - 1)
        changed = different[ends[1:] + 1] - different[ends[:-1]]
        self._kept = inside[1:] & inside[:-1] & (changed == 0)
        self.unedited_at_end = bool(len(ends) and inside[-1] and different[-1] == different[ends[-1]])
        """Whether the motion is unedited after the last key: then no key is needed at the end."""
        self.covered = np.zeros(count, np.bool_)
        """(ticks,) whether a tick is played by kept keys, including the ticks of these keys."""
        edges = np.zeros(count + 1, np.int64)
        np.add.at(edges, ends[:-1][self._kept], 1)
        np.add.at(edges, ends[1:][self._kept] + 1, -1)
        self.covered |= np.cumsum(edges)[:count] > 0
        if self.unedited_at_end:
            self.covered[ends[-1] :] = True

    def key_rows(self, others: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return rows for keys: those of kept keys, and those of ``others`` that are not between kept keys."""
        own = self._rows[(self._rows >= 0) & (self._rows < len(self.covered))]
        return np.union1d(own[self.covered[own]], others[~self.covered[others]])

    def without_constant_end(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return ``rows`` without those after the last stored key, if nothing changes after it."""
        return rows[rows <= self._rows[-1]] if self.unedited_at_end else rows

    def sources(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return (rows,) the index of the unedited stored key at each row, -1 for none."""
        if not len(self.keys):
            return np.full(len(rows), -1, np.int64)
        before_index = np.clip(np.searchsorted(self._rows, rows), 0, len(self._rows) - 1)
        return np.where((self._rows[before_index] == rows) & self._same[rows], before_index, -1)

    def relative_sources(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Like `sources` for keys relative to the previous key, which must be the previous stored key."""
        own_before = self.sources(rows)
        before = np.concatenate([np.full(1, -1, np.int64), own_before[:-1]])
        return np.where(before == own_before - 1, own_before, -1)


def rotation_keys(motion: Motion, known: StoredKeys) -> NDArray[np.void]:
    """Return (keys,) of `ROTATION_KEY`, empty for a part that does not rotate; ``known``: its keys in the file."""
    matrices = space.descent_turns(rotation.matrices(rotation.normalised(motion.rotations)))
    limit = math.radians(DEGREES)
    if (_angle(matrices, np.eye(3)) <= limit).all():
        return np.zeros(0, ROTATION_KEY)
    ticks = np.arange(len(matrices))

    def error(keys: NDArray[np.int64]) -> Floats:
        before, after, weight = around(ticks, keys)
        played = by_heading_pitch_bank(blended(matrices, before, after, weight))
        steps = np.degrees(_angle(matrices[before], matrices[after]))
        result: Floats = np.maximum(_angle(played, matrices) / limit, steps / STEP)
        result[known.covered] = 0
        return result

    key_rows = known.key_rows(np.union1d(motion.key_rows, _even_steps(matrices, STEP)))
    rows = known.without_constant_end(chosen_ticks(len(matrices), key_rows, error))
    return _relative_keys(rotation.from_matrices(matrices[rows]), rows, motion, known)


def position_keys(motion: Motion, known: StoredKeys) -> NDArray[np.void]:
    """Return (keys,) of `POSITION_KEY`, empty for a part that stays at its offset; ``known``: its keys in the file."""
    moved = space.descent_points(motion.displacements).astype(np.float64)
    if (np.abs(moved) <= DISTANCE).all():
        return np.zeros(0, POSITION_KEY)
    ticks = np.arange(len(moved))

    def error(keys: NDArray[np.int64]) -> Floats:
        played = blended(moved, *around(ticks, keys))
        result: Floats = np.linalg.norm(played - moved, axis=1) / DISTANCE
        result[known.covered] = 0
        return result

    rows = known.without_constant_end(chosen_ticks(len(moved), known.key_rows(motion.key_rows), error))
    result = np.zeros(len(rows), POSITION_KEY)
    result["start"], result["position"] = motion.first + rows, moved[rows]
    sources = known.sources(rows)
    result[sources >= 0] = known.keys[sources[sources >= 0]]
    return _at_least_two(result, motion)


def spin_keys(axis: Floats, ticks: tuple[int, int]) -> NDArray[np.void]:
    """Return the two keys of a rotor or turret that rotates about ``axis`` (3,), right-handed in Blender's axes."""
    result = np.zeros(2, ROTATION_KEY)
    result["start"], result["angle"] = ticks, (0, FULL_TURN)
    result["axis"] = -space.descent_points(axis)
    return result


def largest_step(motion: Motion, same: Flags) -> float:
    """Return the largest angle in degrees between adjacent ticks, ignoring pairs that are both unedited (``same``)."""
    steps = rotation.angles_between(motion.rotations[1:], motion.rotations[:-1])
    return math.degrees(float(steps[~(same[1:] & same[:-1])].max(initial=0)))


def _angle(a: Floats, b: Floats) -> Floats:
    """Return angles in radians between rotation matrices, from the norm of their difference: precise if small."""
    apart = np.linalg.norm(a - b, axis=(-2, -1)) / (2 * math.sqrt(2))
    result: Floats = 2 * np.arcsin(np.minimum(apart, 1))
    return result


def _even_steps(matrices: Floats, step: float) -> NDArray[np.int64]:
    """Return the last row before each further ``step`` degrees of rotation: keys there are as few as possible."""
    angles = np.concatenate([np.zeros(1), np.cumsum(np.degrees(_angle(matrices[1:], matrices[:-1])))])
    rows = np.searchsorted(angles, np.arange(step, angles[-1], step) + _EPSILON, side="right") - 1
    return rows.astype(np.int64)


def _relative_keys(
    quaternions: Floats, rows: NDArray[np.int64], motion: Motion, stored: StoredKeys
) -> NDArray[np.void]:
    """Return keys that result in these rotations (keys, 4) at these rows, each relative to the stored keys before it.

    A loop, because each key compensates the rounding of the keys before it: errors do not add up. Kept keys are copied.
    """
    result = np.zeros(len(rows), ROTATION_KEY)
    result["start"] = motion.first + rows
    total = (1.0, 0.0, 0.0, 0.0)
    axis = np.array([1, 0, 0], np.float32)
    sources = stored.relative_sources(rows).tolist()
    for index, wanted in enumerate(quaternions.tolist()):
        if sources[index] >= 0:
            key = stored.keys[sources[index]]
            result[index] = key
            total = _product(_quaternion(key["axis"], int(key["angle"])), total)
            continue
        w, x, y, z = _product(wanted, (total[0], -total[1], -total[2], -total[3]))
        if w < 0:
            w, x, y, z = -w, -x, -y, -z
        length = math.sqrt(x * x + y * y + z * z)
        if length > _EPSILON:
            axis = np.array([x / length, y / length, z / length], np.float32)
        units = round(2 * math.atan2(length, w) / (2 * math.pi) * FULL_TURN)
        result["axis"][index], result["angle"][index] = axis, units
        total = _product(_quaternion(axis, units), total)
    return _at_least_two(result, motion)


Quaternion = tuple[float, float, float, float]


def _quaternion(axis: NDArray[np.float32], units: int) -> Quaternion:
    """Return the rotation of a key."""
    half = units * math.pi / FULL_TURN
    exact = axis.astype(np.float64)
    x, y, z = (exact * (math.sin(half) / np.linalg.norm(exact))).tolist()
    return math.cos(half), x, y, z


def _product(a: Any, b: Quaternion) -> Quaternion:
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


def _at_least_two(keys: NDArray[np.void], motion: Motion) -> NDArray[np.void]:
    """Return the keys, a single one doubled: the game ignores a track with one key."""
    if len(keys) != 1:
        return keys
    again = keys.copy()
    again["start"] = motion.first + 1
    if "angle" in (again.dtype.names or ()):
        again["angle"] = 0
    return np.concatenate([keys, again])
