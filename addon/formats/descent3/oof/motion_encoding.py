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


def same_rotations(motion: Motion, other: Motion, precision: Precision) -> bool:
    """Whether two motions of the same ticks turn alike."""
    apart = rotation.angles_between(motion.rotations, other.rotations)
    return bool((apart <= math.radians(precision.untouched_degrees)).all())


def same_displacements(motion: Motion, other: Motion, precision: Precision) -> bool:
    """Whether two motions of the same ticks move alike."""
    size = 1 + np.abs(other.displacements).max(initial=0)
    apart = np.abs(motion.displacements - other.displacements).max(initial=0)
    return bool(apart <= precision.untouched_distance * size)


def rotation_keys(motion: Motion, precision: Precision) -> NDArray[Any]:
    """(keys,) of `ROTATION_KEY`; none for a part that does not turn."""
    turns = space.descent_turns(rotation.matrices(rotation.normalised(motion.rotations)))
    away = _angle(turns, np.eye(3))
    limit = math.radians(precision.degrees)
    if (away <= limit).all():
        return np.zeros(0, ROTATION_KEY)

    def error(keys: NDArray[np.int64]) -> Floats:
        before, weight = between_keys(len(turns), keys)
        first, second = turns[keys[before]], turns[keys[np.minimum(before + 1, len(keys) - 1)]]
        shown = by_angles(first + (second - first) * weight[:, None, None])
        steps = np.degrees(_angle(first, second))
        result: Floats = np.maximum(_angle(shown, turns) / limit, steps / precision.step)
        return result

    hints = np.union1d(key_hints(motion), _even_steps(turns, precision.step))
    places = chosen_ticks(len(turns), hints, error)
    return _relative(rotation.from_matrices(turns[places]), motion.first + places, motion)


def position_keys(motion: Motion, precision: Precision) -> NDArray[Any]:
    """(keys,) of `POSITION_KEY`; none for a part that stays at its offset."""
    moved = space.descent_points(motion.displacements).astype(np.float64)
    if (np.abs(moved) <= precision.distance).all():
        return np.zeros(0, POSITION_KEY)

    def error(keys: NDArray[np.int64]) -> Floats:
        before, weight = between_keys(len(moved), keys)
        first, second = moved[keys[before]], moved[keys[np.minimum(before + 1, len(keys) - 1)]]
        shown = first + (second - first) * weight[:, None]
        result: Floats = np.linalg.norm(shown - moved, axis=1) / precision.distance
        return result

    places = chosen_ticks(len(moved), key_hints(motion), error)
    result = np.zeros(len(places), POSITION_KEY)
    result["start"], result["position"] = motion.first + places, moved[places]
    return _at_least_two(result, motion)


def spin_keys(axis: Floats, ticks: tuple[int, int]) -> NDArray[Any]:
    """The two keys of a rotor or turret that turns about ``axis`` (3,), right-handed in Blender's axes."""
    result = np.zeros(2, ROTATION_KEY)
    result["start"], result["angle"] = ticks, (0, FULL_TURN)
    result["axis"] = -space.descent_points(axis)
    return result


def largest_step(motion: Motion) -> float:
    """Degrees between two neighbouring ticks, at most: what no key can make smaller."""
    steps = rotation.angles_between(motion.rotations[1:], motion.rotations[:-1])
    return math.degrees(float(steps.max(initial=0)))


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


def _relative(quaternions: Floats, ticks: NDArray[np.int64], motion: Motion) -> NDArray[Any]:
    """Keys that give these rotations (keys, 4), each from what the stored numbers before it have turned to.

    One after the other, for the rounding of each is made up for by the next: errors do not add up.
    """
    result = np.zeros(len(ticks), ROTATION_KEY)
    result["start"] = ticks
    now = (1.0, 0.0, 0.0, 0.0)
    axis = np.array([1, 0, 0], np.float32)
    for number, wanted in enumerate(quaternions.tolist()):
        w, x, y, z = _product(wanted, (now[0], -now[1], -now[2], -now[3]))
        if w < 0:
            w, x, y, z = -w, -x, -y, -z
        length = math.sqrt(x * x + y * y + z * z)
        if length > _STILL:
            axis = np.array([x / length, y / length, z / length], np.float32)
        units = round(2 * math.atan2(length, w) / (2 * math.pi) * FULL_TURN)
        result["axis"][number], result["angle"][number] = axis, units
        half = units * math.pi / FULL_TURN
        exact = axis.astype(np.float64)
        along = (exact * (math.sin(half) / np.linalg.norm(exact))).tolist()
        now = _product((math.cos(half), *along), now)
    return _at_least_two(result, motion)


Quaternion = tuple[float, float, float, float]


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
