"""The pose of every sub-object at a tick: what the engine plays, computed with exact trigonometry, in the file's axes.

Source: the engine's ``polymodel.cpp``, ``newstyle.cpp`` and ``vector.cpp``; compared with numbers computed by the
engine's own routines. Rotation keys are cumulative: each rotates the result of the keys before it, about an axis in the
parent's space. Between keys the engine blends matrix entries, not angles, and takes heading, pitch and bank of the
result, so large steps lag behind and bulge. A track with one key is ignored in timed files and obeyed in untimed ones.
The fraction of a track that has passed is computed from the rotation track's range, for positions too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ....core import rotation, space
from ....core.model import parents_first
from ....core.report import Report, say
from .document import Batteries, Oof
from .model import Floats, Motion, Singles
from .track import Keys, Track, rotation_matrices, tracks_of

_UPRIGHT = 1e-5
_UNITS_PER_FRACTION = 65535
"""Angle units that a rotor or turret rotates for a fraction of 1: one less than a full turn, as in the engine."""


@dataclass(frozen=True, eq=False)
class Poses:
    """Poses of n sub-objects at f frames, in column form: ``p_parent = rotation @ p + position``.

    ``fractions`` (f, n): the fraction of each track that has passed; ``rotations`` (f, n, 3, 3) and ``positions`` (f,
    n, 3) in the parent's space; ``model_rotations`` and ``model_positions``: the same in model space.
    """

    fractions: Singles
    rotations: Floats
    positions: Floats
    model_rotations: Floats
    model_positions: Floats


def poses(
    document: Oof,
    frames: NDArray[Any],
    game_times: NDArray[Any] | None = None,
    overrides: Singles | None = None,
) -> Poses:
    """Return the poses of a model at ``frames`` (f,), in ticks, possibly fractional.

    ``game_times`` (f,): seconds that drive rotors, default 0. ``overrides`` (f, n): fractions of the tracks to use
    instead of those of the frames, NaN for none; the engine sets these for turrets, whose default is 0. Raises
    `ValueError` if parents form a cycle.
    """
    when = np.asarray(frames, np.float32)
    parts, tracks, aimed = document.sub_objects, tracks_of(document), aimed_parts(document)
    fractions = np.zeros((len(when), len(parts)), np.float32)
    rotations = np.zeros((len(when), len(parts), 3, 3))
    positions = np.zeros((len(when), len(parts), 3))
    for index, (part, track) in enumerate(zip(parts, tracks, strict=True)):
        part_overrides = np.full(len(when), np.nan, np.float32)
        if overrides is not None:
            part_overrides = np.asarray(overrides[:, index], np.float32)
        if part.index in aimed:
            part_overrides = np.where(np.isnan(part_overrides), np.float32(0), part_overrides)
        fractions[:, index], rotations[:, index], moved = play(track, when, game_times, part_overrides)
        positions[:, index] = part.offset.astype(np.float64) + moved
    return Poses(fractions, rotations, positions, *_in_model_space(document.parent_indices, rotations, positions))


def play(
    track: Track, frames: NDArray[Any], seconds: NDArray[Any] | None = None, overrides: Singles | None = None
) -> tuple[Singles, Floats, Floats]:
    """Evaluate one track at ``frames`` (f,): fractions (f,), rotations (f, 3, 3), displacements (f, 3), as in `poses`.

    ``overrides`` (f,): fractions to use instead of those of the frames, NaN for none.
    """
    when = np.asarray(frames, np.float32)
    fractions = _fractions(track, when)
    if overrides is not None:
        fractions = np.where(np.isnan(overrides), fractions, overrides)
    times = np.zeros(len(when)) if seconds is None else np.asarray(seconds)
    return fractions, _rotations(track, fractions, times), _displacements(track, fractions)


def aimed_parts(document: Oof) -> set[int]:
    """Return the stored indices of the turrets of weapon batteries, which are not moved by keys."""
    batteries = document.last(Batteries)
    return {int(part) for battery in (batteries.batteries if batteries else ()) for part in battery.turrets[:8]}


def _in_model_space(parents: NDArray[np.int32], rotations: Floats, positions: Floats) -> tuple[Floats, Floats]:
    """Return rotations and positions in model space from those in the parent's space."""
    in_model, at = rotations.copy(), positions.copy()
    for index in parents_first(parents):
        parent = parents[index]
        if parent >= 0:
            in_model[:, index] = in_model[:, parent] @ rotations[:, index]
            moved = np.einsum("fij,fj->fi", in_model[:, parent], positions[:, index])
            at[:, index] = at[:, parent] + moved
    return in_model, at


def _fractions(track: Track, frames: Singles) -> Singles:
    if track.rotation.range is None:
        if not track.length:
            return np.zeros(len(frames), np.float32)
        return (frames / np.float32(track.length)).astype(np.float32)
    first, last = (np.float32(end) for end in track.rotation.range)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        between = (frames - first) / np.float32(last - first)
    result: Singles = np.where(frames <= first, np.float32(0), np.where(frames >= last, np.float32(1), between))
    return result.astype(np.float32)


def _rotations(track: Track, fractions: Singles, seconds: NDArray[Any]) -> Floats:
    if track.spin_axis is not None:
        if track.spin_seconds is not None:
            passed = np.modf(seconds.astype(np.float64) / track.spin_seconds)[0]
        else:
            passed = fractions.astype(np.float64)
        units = np.trunc(passed * _UNITS_PER_FRACTION)
        axes = np.broadcast_to(track.spin_axis, (len(units), 3))
        return by_heading_pitch_bank(rotation_matrices(axes, units.astype(np.int64)))
    if not track.rotation.work:
        return np.broadcast_to(np.eye(3), (len(fractions), 3, 3))
    return by_heading_pitch_bank(blended(track.rotations, *_keys_at(fractions, track.rotation)))


def _displacements(track: Track, fractions: Singles) -> Floats:
    if not track.position.work:
        return np.zeros((len(fractions), 3))
    values = track.displacements
    if track.position.range is None and len(values) > 1:
        values = np.concatenate([np.zeros((1, 3)), values[1:]])  # the engine ignores the first key
    return blended(values, *_keys_at(fractions, track.position))


def _keys_at(fractions: Singles, keys: Keys) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """Return (frames,) the last key that has started at each fraction, the key after it, and the weight of the latter
    (0 to 1).
    """
    last = len(keys) - 1
    if keys.range is None:
        step = np.float32(1 / np.float32(max(last, 1)))
        key = np.clip(np.trunc(fractions / step), 0, last).astype(np.int64)
        weight = (fractions - key.astype(np.float32) * step) / step
        return key, np.minimum(key + 1, last), np.where(key == last, 0.0, weight.astype(np.float64))
    first, end = (np.float32(tick) for tick in keys.range)
    starts = keys.starts
    ticks = fractions * np.float32(end - first) + first
    # The last key that has started, even if times are not in order.
    order = np.minimum.accumulate(starts[::-1])[::-1]
    key = np.searchsorted(order, np.trunc(ticks), side="right") - 1
    key = np.where(fractions >= 1, last, np.maximum(key, 0))
    after = np.minimum(key + 1, last)
    length = starts[after].astype(np.float32) - starts[key].astype(np.float32)
    weight = (ticks - starts[key].astype(np.float32)) / np.where(length == 0, np.float32(1), length)
    return key, after, np.where(key == last, 0.0, weight.astype(np.float64))


def by_heading_pitch_bank(matrices: Floats) -> Floats:
    """Convert blended matrices (f, 3, 3) to rotations by their heading, pitch and bank, as the engine does."""
    right_y, up_y = matrices[:, 1, 0], matrices[:, 1, 1]
    x, y, z = matrices[:, 0, 2], matrices[:, 1, 2], matrices[:, 2, 2]
    upright = (np.abs(x) < _UPRIGHT) & (np.abs(z) < _UPRIGHT)
    heading = np.where(upright, np.arctan2(-matrices[:, 2, 0], matrices[:, 0, 0]), np.arctan2(x, z))
    pitch = np.where(upright, np.where(y > 0, -np.pi / 2, np.pi / 2), np.arctan2(-y, np.hypot(x, z)))
    bank = np.where(upright, 0.0, np.arctan2(right_y, up_y))
    ch, sh, cp, sp, cb, sb = (f(a) for a in (heading, pitch, bank) for f in (np.cos, np.sin))
    entries = [
        [cb * ch + sp * sb * sh, sp * cb * sh - sb * ch, sh * cp],
        [sb * cp, cb * cp, -sp],
        [sp * sb * ch - cb * sh, sb * sh + sp * cb * ch, ch * cp],
    ]
    return np.stack([np.stack(row, axis=-1) for row in entries], axis=-2)


# Keys within a tolerance ---------------------------------------------------------------------------------------------

_SPLITTING_ROUNDS = 12
"""Rounds that split each interval at its worst tick. Later rounds split in the middle, which limits their number."""
_ROUNDING = 1e-9


def chosen_ticks(
    count: int, hints: NDArray[np.int64], error: Callable[[NDArray[np.int64]], Floats]
) -> NDArray[np.int64]:
    """Return rows for keys: both ends, ``hints``, and more rows until ``error(keys)`` (count,) is nowhere above 1."""
    keys = np.unique(np.concatenate([hints, np.array([0, count - 1])]))
    rounds = 0
    while True:
        errors = error(keys)
        errors[keys] = 0  # the pose at a key is exact, however large the next step is
        bad = np.flatnonzero(errors > 1 + _ROUNDING)
        if not len(bad):
            return keys
        interval = np.searchsorted(keys, bad, side="right") - 1
        if rounds < _SPLITTING_ROUNDS:
            order = np.lexsort((errors[bad], interval))
            last = np.append(np.diff(interval[order]) > 0, True)
            cuts = bad[order][last]
        else:
            different = np.unique(interval)
            cuts = (keys[different] + keys[different + 1]) // 2
        keys = np.union1d(keys, cuts)
        rounds += 1


def around(times: NDArray[Any], keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """Return (times,) the rows of the ``keys`` before and after each of the ascending times, and the weight of the
    latter. ``keys``: rows of times.
    """
    interval = np.clip(np.searchsorted(keys, np.arange(len(times)), side="right") - 1, 0, max(len(keys) - 2, 0))
    before, after = keys[interval], keys[np.minimum(interval + 1, len(keys) - 1)]
    length = times[after] - times[before]
    return before, after, (times - times[before]) / np.where(length > 0, length, 1)


def blended(values: Floats, before: NDArray[np.int64], after: NDArray[np.int64], weight: Floats) -> Floats:
    """Return values (n, ...) between those of two rows."""
    result: Floats = values[before] + (values[after] - values[before]) * weight.reshape(-1, *[1] * (values.ndim - 1))
    return result


# Keys with which linear curves show what the game plays, between ticks too -------------------------------------------
#
# The game changes to the next key at whole ticks, at negative ticks one tick early; two keys at one tick are a step;
# positions use the rotation's range; untimed keys can be at fractional ticks. Curves that interpolate quaternions
# linearly differ from this between two ticks, the more the faster a part rotates. So every tick is examined, and where
# both differ, keys are added between ticks, on a grid of `GRID` steps per tick or at the file's own times.

GRID = 96
"""Steps per tick of the grid of key times. Blender merges keys that are less than 0.01 frames apart."""
TOLERANCE = 2e-5
"""Largest difference from the game in units, and in radians (smaller for parts with distant children)."""
_LEAST_TOLERANCE = 2e-6
FEW_RADIANS, FEW_UNITS = np.radians(0.05), 1e-3
"""The same for few keys; the game's smallest models have 1 unit."""
_FEW, _FEW_FAST = ((share * FEW_RADIANS, share * FEW_UNITS) for share in (0.85, 0.05))
"""Tolerances of few keys where the game is examined, and those from which it is examined between two ticks."""
MOST_FAST_TICKS = 8192
"""Limit per model of ticks after which keys are added: a file of a few bytes can declare hours of fast rotation."""
_SAMPLED_FRACTIONS = np.array([1, 12, 24, 36, 48, 60, 72, 84, 95]) / GRID
_TICKS_AT_ONCE = 8192
_FIRST_INEXACT_TICK = 2**14
"""From this tick on 32-bit floats do not resolve the steps of the grid well enough."""


@dataclass(frozen=True, eq=False)
class KeyedMotion:
    """Keys for linear curves: ``rotations`` (k, 4) at ``rotation_times`` (k,), ``displacements`` (m, 3) at
    ``position_times`` (m,); as in `Motion`. Times are in ticks, possibly fractional.
    """

    rotation_times: Floats
    rotations: Floats
    position_times: Floats
    displacements: Floats

    @classmethod
    def of_rows(cls, motion: Motion, rows: NDArray[np.int64]) -> KeyedMotion:
        """Return the keys of a motion at some of its rows."""
        times = (motion.first + rows).astype(np.float64)
        return cls(times, motion.rotations[rows], times, motion.displacements[rows])

    def sampled(self, first: int, last: int) -> Motion:
        """Return what linear curves show at the ticks from ``first`` to ``last``."""
        ticks = np.arange(first, last + 1)

        def played(times: Floats, values: Floats) -> Floats:
            return np.stack([np.interp(ticks, times, column) for column in values.T], axis=1)

        rotations = rotation.normalised(played(self.rotation_times, self.rotations))
        return Motion(first, rotations, played(self.position_times, self.displacements))


def keyed_motions(
    document: Oof, motions: Sequence[Motion | None], report: Report, *, few: bool = False
) -> list[KeyedMotion | None]:
    """Return keys for ``motions``, as decoded from the document's parts: at every tick, and between ticks where needed.

    ``few``: only those of the file and those needed to stay within `FEW_RADIANS` and `FEW_UNITS`, between ticks too.
    """
    left = _most_fast_ticks(len(motions)) if few else MOST_FAST_TICKS
    result: list[KeyedMotion | None] = []
    for part, motion, lever in zip(document.sub_objects, motions, _lever_arms(document, motions), strict=True):
        if motion is None:
            result.append(None)
            continue
        tolerances = max(TOLERANCE / max(lever, 1), _LEAST_TOLERANCE), TOLERANCE
        fast = _fast_ticks(motion, _FEW_FAST if few else tolerances)
        if len(fast) > left:
            words = (
                "rotates fast: from tick {} on, only whole ticks show the game's poses; between them Blender rotates "
                "evenly"
            )
            report.warn(say(words, motion.first + int(fast[left])), part.label)
            fast = fast[:left]
        left -= 0 if few else len(fast)
        result.append(_keyed(motion, fast, _FEW if few else tolerances, motion.key_rows if few else None))
    return result


def few_keys(motion: Motion, parts: int) -> KeyedMotion:
    """Return the keys of `keyed_motions` with ``few`` for a motion of a model that has so many parts."""
    return _keyed(motion, _fast_ticks(motion, _FEW_FAST)[: _most_fast_ticks(parts)], _FEW, motion.key_rows)


def _most_fast_ticks(parts: int) -> int:
    return MOST_FAST_TICKS // max(parts, 1)


def _lever_arms(document: Oof, motions: Sequence[Motion | None]) -> Floats:
    """Return (parts,) the largest possible distance of a descendant's pivot from the part's pivot."""
    parents = document.parent_indices
    arms = np.array([np.linalg.norm(part.offset.astype(np.float64)) for part in document.sub_objects])
    arms += [np.abs(motion.displacements).max(initial=0) if motion is not None else 0.0 for motion in motions]
    levers = np.zeros(len(arms))
    for index in reversed(parents_first(parents)):
        if parents[index] >= 0:
            levers[parents[index]] = max(levers[parents[index]], arms[index] + levers[index])
    return levers


def _played(motion: Motion, times: Floats) -> tuple[Floats, Floats]:
    """Return quaternions (times, 4) and displacements (times, 3) of a motion's track, in Blender's axes."""
    _, matrices, moved = play(cast("Track", motion.track), times)
    return rotation.from_matrices(space.descent_turns(matrices)), space.descent_points(moved).astype(np.float64)


def _fast_ticks(motion: Motion, tolerances: tuple[float, float]) -> NDArray[np.int64]:
    """Return the rows after which linear curves exceed the tolerances before the next row."""
    if max(abs(motion.first), abs(motion.last)) >= _FIRST_INEXACT_TICK:
        return np.zeros(0, np.int64)
    rotation_limits, position_limits = _limits(motion, *tolerances)
    ticks = []
    for begin in range(0, len(motion.rotations) - 1, _TICKS_AT_ONCE):
        rows = np.arange(begin, min(begin + _TICKS_AT_ONCE, len(motion.rotations) - 1))
        rotated, moved = _played(motion, ((motion.first + rows)[:, None] + _SAMPLED_FRACTIONS).ravel())
        before = rows.repeat(len(_SAMPLED_FRACTIONS))
        steps = before, before + 1, np.tile(_SAMPLED_FRACTIONS, len(rows))
        angles = _angles(_blended_rotations(motion.rotations, *steps), rotated)
        distances = np.linalg.norm(blended(motion.displacements, *steps) - moved, axis=1)
        wrong = (angles > rotation_limits[before]) | (distances > position_limits[before])
        ticks.append(rows[wrong.reshape(len(rows), -1).any(axis=1)])
    return np.concatenate(ticks) if ticks else np.zeros(0, np.int64)


def _keyed(
    motion: Motion,
    fast: NDArray[np.int64],
    tolerances: tuple[float, float],
    rows: NDArray[np.int64] | None,
) -> KeyedMotion:
    """Return keys at ``rows``, at all if None, and others where needed, after the ``fast`` rows also between ticks."""
    ticks = np.arange(len(motion.rotations))
    if len(ticks) < 2 or (rows is None and not len(fast)):
        return KeyedMotion.of_rows(motion, ticks)
    times, whole = _candidates(motion, fast)
    rotated, moved = _played(motion, times)
    rotated = rotation.continuous(rotated)
    row = np.minimum(np.floor(times - motion.first).astype(np.int64), len(ticks) - 2)
    rotation_limits, position_limits = (limits[row] for limits in _limits(motion, *tolerances))

    def rotation_error(keys: NDArray[np.int64]) -> Floats:
        result: Floats = _angles(_blended_rotations(rotated, *around(times, keys)), rotated) / rotation_limits
        return result

    def position_error(keys: NDArray[np.int64]) -> Floats:
        result: Floats = np.linalg.norm(blended(moved, *around(times, keys)) - moved, axis=1) / position_limits
        return result

    rotation_rows, position_rows = (
        chosen_ticks(len(times), whole if rows is None else _whole_hints(whole, rows, error), error)
        for error in (rotation_error, position_error)
    )
    return KeyedMotion(times[rotation_rows], rotated[rotation_rows], times[position_rows], moved[position_rows])


def _whole_hints(
    whole: NDArray[np.int64], rows: NDArray[np.int64], error: Callable[[NDArray[np.int64]], Floats]
) -> NDArray[np.int64]:
    """Return the keys at whole ticks that ``error`` demands, and both ticks around each time that still differs.

    So keys are between ticks only where those at the ticks are not enough: an export reads whole ticks alone.
    """
    keys = whole[chosen_ticks(len(whole), rows, lambda chosen: error(whole[chosen])[whole])]
    after = np.searchsorted(whole, np.flatnonzero(error(keys) > 1))
    return np.unique(np.concatenate([keys, whole[np.maximum(after - 1, 0)], whole[after]]))


def _candidates(motion: Motion, fast: NDArray[np.int64]) -> tuple[Floats, NDArray[np.int64]]:
    """Return possible times of keys, ascending, and the rows of the whole ticks among them."""
    ticks = np.arange(motion.first, motion.last + 1, dtype=np.float64)
    file_times = _file_key_times(motion)
    file_times = file_times[
        np.isin(np.floor(file_times) - motion.first, fast) & (np.abs(file_times - np.rint(file_times)) >= 1 / GRID)
    ]
    # The game and Blender store frames as 32-bit floats.
    file_times = np.unique(file_times.astype(np.float32)).astype(np.float64)
    grid = ((motion.first + fast)[:, None] + np.arange(1, GRID) / GRID).ravel().astype(np.float32).astype(np.float64)
    if len(file_times):
        after = np.clip(np.searchsorted(file_times, grid), 1, max(len(file_times) - 1, 1))
        nearest = np.minimum(
            np.abs(grid - file_times[after - 1]), np.abs(grid - file_times[np.minimum(after, len(file_times) - 1)])
        )
        grid = grid[nearest >= 1 / GRID]
    times = np.unique(np.concatenate([ticks, file_times, grid]))
    return times, np.searchsorted(times, ticks)


def _file_key_times(motion: Motion) -> Floats:
    """Return the times of the file's keys that may be between whole ticks of the rotation's range."""
    track = cast("Track", motion.track)
    if track.rotation.range is None or track.position.range is None:
        return track.untimed_times
    first, last = (float(tick) for tick in track.position.range)
    if last <= first:
        return np.zeros(0)
    passed = (track.position.starts - first) / (last - first)
    start, end = (float(tick) for tick in track.rotation.range)
    times: Floats = np.asarray(start + passed * (end - start), np.float64)
    return times[(times > motion.first) & (times < motion.last)]


def _blended_rotations(values: Floats, before: NDArray[np.int64], after: NDArray[np.int64], weight: Floats) -> Floats:
    return rotation.normalised(blended(values, before, after, weight))


def _angles(a: Floats, b: Floats) -> Floats:
    """Return angles in radians between unit quaternions, accurate for small angles."""
    difference = np.minimum(np.linalg.norm(a - b, axis=1), np.linalg.norm(a + b, axis=1))
    result: Floats = 2 * difference
    return result


def _limits(motion: Motion, radians: float, units: float) -> tuple[Floats, Floats]:
    """Return (ticks - 1,) the tolerances in radians, and in units, between each tick and the next.

    Both include the rounding error of 32-bit positions and of 32-bit ticks multiplied by the speed.
    """
    single = float(np.finfo(np.float32).eps)
    farthest = max(abs(motion.first), abs(motion.last))
    rotating, moving = (
        np.linalg.norm(np.diff(values, axis=0), axis=1) for values in (motion.rotations, motion.displacements)
    )
    size = float(np.abs(motion.displacements).max(initial=0))
    rotation_limits = radians + single * farthest * 2 * rotating
    return rotation_limits, units + 4 * single * size + single * farthest * moving
