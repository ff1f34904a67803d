"""Motions back into keys: turns since the key before, in steps small enough that the game's blend does not show.

The game blends matrix entries between keys, which lags behind and bulges where steps are large; so keys are set until
what the game would play is the motion within a tolerance at every tick, and no step is above ten degrees where ticks
allow it. Keys that the tolerance does not need are not written.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import rotation, space
from .animation import FULL_TURN, POSITION_KEY, ROTATION_KEY
from .model import Floats, Motion
from .pose import by_angles

Flags = NDArray[np.bool_]

_FIRST_ROUNDS = 12
"""So often intervals are cut at their worst tick, then in the middle, so that the number of rounds stays small."""
_STILL = 1e-9


@dataclass(frozen=True)
class Precision:
    """How near keys come to a motion: ``degrees`` and ``distance`` (units) at every tick, ``step`` degrees a key.

    A motion that is within ``untouched_degrees`` and ``untouched_distance`` of the file's at every tick is the file's.
    """

    degrees: float = 0.02
    distance: float = 1e-4
    step: float = 10.0
    untouched_degrees: float = 0.01
    untouched_distance: float = 1e-5


def same_rotations(motion: Motion, other: Motion, precision: Precision) -> Flags:
    """(ticks,) where two motions of the same ticks turn alike."""
    apart = rotation.angles_between(motion.rotations, other.rotations)
    result: Flags = apart <= math.radians(precision.untouched_degrees)
    return result


def same_displacements(motion: Motion, other: Motion, precision: Precision) -> Flags:
    """(ticks,) where two motions of the same ticks move alike."""
    size = 1 + np.abs(other.displacements).max(initial=0)
    apart = np.abs(motion.displacements - other.displacements).max(axis=1, initial=0)
    result: Flags = apart <= precision.untouched_distance * size
    return result


class StoredKeys:
    """Keys of a file, and which of them a motion that was edited elsewhere keeps.

    ``keys`` (n,) as stored; ``same`` (ticks,) where the motion is still what they play. An interval between two keys is
    kept where it is the same at every tick: whatever the game makes of its large steps is what the motion shows.
    """

    def __init__(self, keys: NDArray[Any], first: int, same: Flags) -> None:
        """``first`` is the tick of the first of ``same``."""
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
        self.holds_on = bool(len(ends) and inside[-1] and different[-1] == different[ends[-1]])
        """Whether nothing differs from the last key on: then there is no need of one at the end."""
        self.quiet = np.zeros(count, np.bool_)
        """(ticks,) that the kept keys play, their own included."""
        edges = np.zeros(count + 1, np.int64)
        np.add.at(edges, ends[:-1][self._kept], 1)
        np.add.at(edges, ends[1:][self._kept] + 1, -1)
        self.quiet |= np.cumsum(edges)[:count] > 0
        if self.holds_on:
            self.quiet[ends[-1] :] = True

    def hints(self, others: NDArray[np.int64]) -> NDArray[np.int64]:
        """Rows to set keys at: those of the keys that are kept, and the ``others`` that are not between them."""
        own = self._rows[(self._rows >= 0) & (self._rows < len(self.quiet))]
        return np.union1d(own[self.quiet[own]], others[~self.quiet[others]])

    def ended(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows without one that only ends a motion which holds on."""
        return rows[rows <= self._rows[-1]] if self.holds_on else rows

    def sources(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each row with a key the number of the stored key that is there and was not edited, -1 for none."""
        if not len(self.keys):
            return np.full(len(rows), -1, np.int64)
        found = np.clip(np.searchsorted(self._rows, rows), 0, len(self._rows) - 1)
        return np.where((self._rows[found] == rows) & self._same[rows], found, -1)

    def steps(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The same for keys that say how far it is from the one before: that has to be the stored one too."""
        found = self.sources(rows)
        before = np.concatenate([np.full(1, -1, np.int64), found[:-1]])
        follows = (found >= 0) & (before == found - 1)
        if len(self._kept):
            follows[1:] &= self._kept[np.clip(found[1:] - 1, 0, len(self._kept) - 1)]
        return np.where(follows, found, -1)


def rotation_keys(motion: Motion, precision: Precision, stored: StoredKeys | None = None) -> NDArray[Any]:
    """(keys,) of `ROTATION_KEY`; none for a part that does not turn. ``stored`` are those it had."""
    turns = space.descent_turns(rotation.matrices(rotation.normalised(motion.rotations)))
    away = _angle(turns, np.eye(3))
    limit = math.radians(precision.degrees)
    if (away <= limit).all():
        return np.zeros(0, ROTATION_KEY)
    known = stored or _no_keys(motion, ROTATION_KEY)

    def error(keys: NDArray[np.int64]) -> Floats:
        before, weight = between_keys(len(turns), keys)
        first, second = turns[keys[before]], turns[keys[np.minimum(before + 1, len(keys) - 1)]]
        shown = by_angles(first + (second - first) * weight[:, None, None])
        steps = np.degrees(_angle(first, second))
        result: Floats = np.maximum(_angle(shown, turns) / limit, steps / precision.step)
        result[known.quiet] = 0
        return result

    hints = known.hints(np.union1d(key_hints(motion), _even_steps(turns, precision.step)))
    places = known.ended(chosen_ticks(len(turns), hints, error))
    return _relative(rotation.from_matrices(turns[places]), places, motion, known)


def position_keys(motion: Motion, precision: Precision, stored: StoredKeys | None = None) -> NDArray[Any]:
    """(keys,) of `POSITION_KEY`; none for a part that stays at its offset. ``stored`` are those it had."""
    moved = space.descent_points(motion.displacements).astype(np.float64)
    if (np.abs(moved) <= precision.distance).all():
        return np.zeros(0, POSITION_KEY)
    known = stored or _no_keys(motion, POSITION_KEY)

    def error(keys: NDArray[np.int64]) -> Floats:
        before, weight = between_keys(len(moved), keys)
        first, second = moved[keys[before]], moved[keys[np.minimum(before + 1, len(keys) - 1)]]
        shown = first + (second - first) * weight[:, None]
        result: Floats = np.linalg.norm(shown - moved, axis=1) / precision.distance
        result[known.quiet] = 0
        return result

    places = known.ended(chosen_ticks(len(moved), known.hints(key_hints(motion)), error))
    result = np.zeros(len(places), POSITION_KEY)
    result["start"], result["position"] = motion.first + places, moved[places]
    sources = known.sources(places)
    result[sources >= 0] = known.keys[sources[sources >= 0]]
    return _at_least_two(result, motion)


def _no_keys(motion: Motion, layout: np.dtype[Any]) -> StoredKeys:
    return StoredKeys(np.zeros(0, layout), motion.first, np.zeros(len(motion.rotations), np.bool_))


def spin_keys(axis: Floats, ticks: tuple[int, int]) -> NDArray[Any]:
    """The two keys of a rotor or turret that turns about ``axis`` (3,), right-handed in Blender's axes."""
    result = np.zeros(2, ROTATION_KEY)
    result["start"], result["angle"] = ticks, (0, FULL_TURN)
    result["axis"] = -space.descent_points(axis)
    return result


def largest_step(motion: Motion, same: Flags) -> float:
    """Degrees between neighbouring ticks, at most: what no key can make smaller. Not where both are the ``same``."""
    steps = rotation.angles_between(motion.rotations[1:], motion.rotations[:-1])
    return math.degrees(float(steps[~(same[1:] & same[:-1])].max(initial=0)))


def _angle(a: Floats, b: Floats) -> Floats:
    """Radians between rotation matrices, from the length of their difference: precise for small ones."""
    apart = np.linalg.norm(a - b, axis=(-2, -1)) / (2 * math.sqrt(2))
    result: Floats = 2 * np.arcsin(np.minimum(apart, 1))
    return result


def key_hints(motion: Motion) -> NDArray[np.int64]:
    """The rows of a motion at which its file has keys."""
    found = motion.key_ticks - motion.first
    return found[(found >= 0) & (found < len(motion.rotations))]


def _even_steps(turns: Floats, step: float) -> NDArray[np.int64]:
    """The last tick before each further ``step`` degrees of the way: cutting there needs the fewest keys."""
    way = np.concatenate([np.zeros(1), np.cumsum(np.degrees(_angle(turns[1:], turns[:-1])))])
    places = np.searchsorted(way, np.arange(step, way[-1], step) + _STILL, side="right") - 1
    return places.astype(np.int64)


def between_keys(count: int, keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], Floats]:
    """For each tick the key it follows and how far it is on the way to the next."""
    ticks = np.arange(count)
    before = np.clip(np.searchsorted(keys, ticks, side="right") - 1, 0, max(len(keys) - 2, 0))
    after = np.minimum(before + 1, len(keys) - 1)
    length = np.maximum(keys[after] - keys[before], 1)
    return before, (ticks - keys[before]) / length


def chosen_ticks(
    count: int, hints: NDArray[np.int64], error: Callable[[NDArray[np.int64]], Floats]
) -> NDArray[np.int64]:
    """Ticks to set keys at: the ends, the hints, and more until the error between keys is nowhere above 1."""
    keys = np.unique(np.concatenate([hints, np.array([0, count - 1])]))
    rounds = 0
    while True:
        wrong = error(keys)
        wrong[keys] = 0  # a key is where it should be, whatever step follows it
        bad = np.flatnonzero(wrong > 1 + _STILL)
        if not len(bad):
            return keys
        interval = np.searchsorted(keys, bad, side="right") - 1
        if rounds < _FIRST_ROUNDS:
            order = np.lexsort((wrong[bad], interval))
            last = np.append(np.diff(interval[order]) > 0, True)
            cuts = bad[order][last]
        else:
            different = np.unique(interval)
            cuts = (keys[different] + keys[different + 1]) // 2
        keys = np.union1d(keys, cuts)
        rounds += 1


def _relative(quaternions: Floats, places: NDArray[np.int64], motion: Motion, stored: StoredKeys) -> NDArray[Any]:
    """Keys that give these rotations (keys, 4) at these rows, each from what the numbers before it have turned to.

    One after the other, for the rounding of each is made up for by the next: errors do not add up. Keys that are kept
    have the numbers they had.
    """
    result = np.zeros(len(places), ROTATION_KEY)
    result["start"] = motion.first + places
    now = (1.0, 0.0, 0.0, 0.0)
    axis = np.array([1, 0, 0], np.float32)
    sources = stored.steps(places).tolist()
    for number, wanted in enumerate(quaternions.tolist()):
        if sources[number] >= 0:
            key = stored.keys[sources[number]]
            result[number] = key
            now = _product(_turn(key["axis"], int(key["angle"])), now)
            continue
        w, x, y, z = _product(wanted, (now[0], -now[1], -now[2], -now[3]))
        if w < 0:
            w, x, y, z = -w, -x, -y, -z
        length = math.sqrt(x * x + y * y + z * z)
        if length > _STILL:
            axis = np.array([x / length, y / length, z / length], np.float32)
        units = round(2 * math.atan2(length, w) / (2 * math.pi) * FULL_TURN)
        result["axis"][number], result["angle"][number] = axis, units
        now = _product(_turn(axis, units), now)
    return _at_least_two(result, motion)


Quaternion = tuple[float, float, float, float]


def _turn(axis: NDArray[np.float32], units: int) -> Quaternion:
    """What a key turns by."""
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


def _at_least_two(keys: NDArray[Any], motion: Motion) -> NDArray[Any]:
    """The game ignores a single key: a pose that is held has two."""
    if len(keys) != 1:
        return keys
    again = keys.copy()
    again["start"] = motion.first + 1
    if "angle" in (again.dtype.names or ()):
        again["angle"] = 0
    return np.concatenate([keys, again])
