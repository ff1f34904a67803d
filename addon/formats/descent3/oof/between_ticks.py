"""Keys at which linear curves play what the game plays, between ticks too.

The game blends matrix entries and takes angles of the result; it takes keys over at whole ticks, below 0 a tick early;
keys at one time make a step; positions run by the rotation's range and untimed keys lie anywhere. Curves whose
quaternions are blended evenly show other things between two ticks, the more so the faster a part turns. So each tick is
looked at, and where the two differ there are keys between, on a grid of `GRID` places a tick or at the file's own
times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....core import rotation, space
from ....core.model import parents_first
from ....core.report import Report
from .document import Oof
from .model import Floats, Motion
from .motion_encoding import chosen_ticks
from .pose import Track, motion_tracks, parent_places, play

GRID = 96
"""Places in a tick. Blender takes keys less than 0.01 frames apart for one when more are set beside them."""
NEAR = 2e-5
"""Units by which curves may differ from the game, and radians, fewer where long arms hang on a part."""
_LEAST_TURN = 2e-6
MOST_FAST_TICKS = 8192
"""Of a whole model, that get keys between; a file of few bytes can turn fast for hours."""
_PROBES = np.array([1, 12, 24, 36, 48, 60, 72, 84, 95]) / GRID
_AT_ONCE = 8192
_EXACT = 2**14
"""From here on 32 bits do not tell the places of the grid apart well enough."""


@dataclass(frozen=True, eq=False)
class KeyedMotion:
    """What linear curves play: keys at ``turn_times`` (k,) with ``rotations`` (k, 4), at ``move_times`` (m,) with
    ``displacements`` (m, 3); as in `Motion`, whose whole ticks may be among the times or not.
    """

    turn_times: Floats
    rotations: Floats
    move_times: Floats
    displacements: Floats

    @classmethod
    def of_rows(cls, motion: Motion, rows: NDArray[np.int64]) -> KeyedMotion:
        """The motion at some of its ticks."""
        times = (motion.first + rows).astype(np.float64)
        return cls(times, motion.rotations[rows], times, motion.displacements[rows])


def keyed_motions(document: Oof, motions: Sequence[Motion | None], report: Report) -> list[KeyedMotion | None]:
    """Keys at every tick of ``motions``, which are those of the document's parts, and between where they are needed."""
    left = MOST_FAST_TICKS
    result: list[KeyedMotion | None] = []
    rows = zip(document.sub_objects, motion_tracks(document), motions, _levers(document, motions), strict=True)
    for part, track, motion, lever in rows:
        if motion is None:
            result.append(None)
            continue
        near = max(NEAR / max(lever, 1), _LEAST_TURN)
        fast = _fast_ticks(track, motion, near)
        if len(fast) > left:
            report.warn(
                f"turns fast for long: from tick {motion.first + int(fast[left])} on only whole ticks show the game's "
                "poses, between them Blender turns evenly",
                part.label,
            )
            fast = fast[:left]
        left -= len(fast)
        result.append(_keyed(track, motion, fast, near))
    return result


def _levers(document: Oof, motions: Sequence[Motion | None]) -> Floats:
    """(parts,) how far at most the pivots are that hang on each part."""
    parents = parent_places(document)
    arms = np.array([np.linalg.norm(part.offset.astype(np.float64)) for part in document.sub_objects])
    arms += [np.abs(motion.displacements).max(initial=0) if motion is not None else 0.0 for motion in motions]
    levers = np.zeros(len(arms))
    for number in reversed(parents_first(parents)):
        if parents[number] >= 0:
            levers[parents[number]] = max(levers[parents[number]], arms[number] + levers[number])
    return levers


def _played(track: Track, times: Floats) -> tuple[Floats, Floats]:
    """Quaternions and displacements, in Blender's axes."""
    _, turns, moved = play(track, times)
    return rotation.from_matrices(space.descent_turns(turns)), space.descent_points(moved).astype(np.float64)


def _fast_ticks(track: Track, motion: Motion, near: float) -> NDArray[np.int64]:
    """The rows between which and the next ones even turns and ways are not the game's."""
    if max(abs(motion.first), abs(motion.last)) >= _EXACT:
        return np.zeros(0, np.int64)
    turn_limits, move_limits = _limits(motion, near)
    found = []
    for begin in range(0, len(motion.rotations) - 1, _AT_ONCE):
        rows = np.arange(begin, min(begin + _AT_ONCE, len(motion.rotations) - 1))
        turned, moved = _played(track, ((motion.first + rows)[:, None] + _PROBES).ravel())
        before = rows.repeat(len(_PROBES))
        steps = before, before + 1, np.tile(_PROBES, len(rows))
        turns_off = _apart(_even(motion.rotations, *steps), turned)
        moves_off = np.linalg.norm(_blended(motion.displacements, *steps) - moved, axis=1)
        wrong = (turns_off > turn_limits[before]) | (moves_off > move_limits[before])
        found.append(rows[wrong.reshape(len(rows), -1).any(axis=1)])
    return np.concatenate(found) if found else np.zeros(0, np.int64)


def _keyed(track: Track, motion: Motion, fast: NDArray[np.int64], near: float) -> KeyedMotion:
    ticks = np.arange(len(motion.rotations))
    if not len(fast):
        return KeyedMotion.of_rows(motion, ticks)
    times, whole = _candidates(track, motion, fast)
    turned, moved = _played(track, times)
    turned = rotation.continuous(turned)
    row = np.minimum(np.floor(times - motion.first).astype(np.int64), len(ticks) - 2)
    turn_limits, move_limits = (limits[row] for limits in _limits(motion, near))

    def turns_off(keys: NDArray[np.int64]) -> Floats:
        before, after, weight = _between(times, keys)
        result: Floats = _apart(_even(turned, before, after, weight), turned) / turn_limits
        return result

    def moves_off(keys: NDArray[np.int64]) -> Floats:
        way = _blended(moved, *_between(times, keys))
        result: Floats = np.linalg.norm(way - moved, axis=1) / move_limits
        return result

    turning, moving = (chosen_ticks(len(times), whole, error) for error in (turns_off, moves_off))
    return KeyedMotion(times[turning], turned[turning], times[moving], moved[moving])


def _candidates(track: Track, motion: Motion, fast: NDArray[np.int64]) -> tuple[Floats, NDArray[np.int64]]:
    """Times at which keys may be, rising, and the places of whole ticks among them."""
    ticks = np.arange(motion.first, motion.last + 1, dtype=np.float64)
    own = _own_times(track, motion)
    own = own[np.isin(np.floor(own) - motion.first, fast) & (np.abs(own - np.rint(own)) >= 1 / GRID)]
    # As the game counts frames, and Blender.
    own = np.unique(own.astype(np.float32)).astype(np.float64)
    grid = ((motion.first + fast)[:, None] + np.arange(1, GRID) / GRID).ravel().astype(np.float32).astype(np.float64)
    if len(own):
        place = np.clip(np.searchsorted(own, grid), 1, max(len(own) - 1, 1))
        nearest = np.minimum(np.abs(grid - own[place - 1]), np.abs(grid - own[np.minimum(place, len(own) - 1)]))
        grid = grid[nearest >= 1 / GRID]
    times = np.unique(np.concatenate([ticks, own, grid]))
    return times, np.searchsorted(times, ticks)


def _own_times(track: Track, motion: Motion) -> Floats:
    """Where the file's keys lie that are not at whole ticks of the rotation's range."""
    if track.rotation_range is None or track.position_range is None or track.position_starts is None:
        counts = [count for count in (len(track.turns), len(track.displacements)) if count > 1]
        return np.concatenate([np.arange(count) * (track.length / (count - 1)) for count in counts] or [np.zeros(0)])
    first, last = (float(tick) for tick in track.position_range)
    if last <= first:
        return np.zeros(0)
    passed = (track.position_starts - first) / (last - first)
    start, end = (float(tick) for tick in track.rotation_range)
    times: Floats = np.asarray(start + passed * (end - start), np.float64)
    return times[(times > motion.first) & (times < motion.last)]


# What linear curves show ---------------------------------------------------------------------------------------------


def _between(times: Floats, keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """For each time the rows of the keys around it, and how far it is on the way."""
    place = np.clip(np.searchsorted(keys, np.arange(len(times)), side="right") - 1, 0, len(keys) - 2)
    before, after = keys[place], keys[place + 1]
    return before, after, (times - times[before]) / (times[after] - times[before])


def _blended(values: Floats, before: NDArray[np.int64], after: NDArray[np.int64], weight: Floats) -> Floats:
    result: Floats = values[before] + (values[after] - values[before]) * weight[:, None]
    return result


def _even(values: Floats, before: NDArray[np.int64], after: NDArray[np.int64], weight: Floats) -> Floats:
    return rotation.normalised(_blended(values, before, after, weight))


def _apart(a: Floats, b: Floats) -> Floats:
    """Radians between unit quaternions, near enough where these are few."""
    difference = np.minimum(np.linalg.norm(a - b, axis=1), np.linalg.norm(a + b, axis=1))
    result: Floats = 2 * difference
    return result


def _limits(motion: Motion, near: float) -> tuple[Floats, Floats]:
    """(ticks - 1,) radians and units that are near enough between each tick and the next.

    The game and Blender count in 32 bits: places, and ticks, which carry on what moves fast.
    """
    single = float(np.finfo(np.float32).eps)
    reach = max(abs(motion.first), abs(motion.last))
    turning, moving = (
        np.linalg.norm(np.diff(values, axis=0), axis=1) for values in (motion.rotations, motion.displacements)
    )
    size = float(np.abs(motion.displacements).max(initial=0))
    return near + single * reach * 2 * turning, NEAR + 4 * single * size + single * reach * moving
