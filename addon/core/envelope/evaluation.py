"""Keys as the game stores them, their tangents, and the value of an envelope at any time.

All formulas are the engine's, in float64, including its peculiarities, because that is what the game shows: a repeated
time is folded about 0 instead of the first key, and oscillation mirrors time about half the length. One difference: the
engine stops its search for the parameter of a Bezier segment at 0.1 ms, here it continues to full precision.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


class Shape(IntEnum):
    """Shape of the segment that *ends* at a key, and of the key's own tangents on both sides."""

    TCB = 0
    HERMITE = 1
    BEZIER_1D = 2
    """The engine treats it as `HERMITE`."""
    LINEAR = 3
    STEPPED = 4
    BEZIER_2D = 5


class Behaviour(IntEnum):
    """Extrapolation before the first key or after the last one."""

    RESET = 0
    """The value is 0."""
    CONSTANT = 1
    REPEAT = 2
    OSCILLATE = 3
    OFFSET = 4
    """Repeat, with the difference between the last and first value added each time."""
    LINEAR = 5


@dataclass
class Envelope:
    """The keys of one channel, one row per key, in the file's order (times may repeat or decrease).

    ``times`` (keys,) seconds; ``values`` (keys,); ``shapes`` (keys,) uint8 of `Shape`, others count as stepped; ``tcb``
    (keys, 3) tension, continuity, bias; ``parameters`` (keys, 4): tangents before and after for Hermite keys, (time,
    value) of the handles before and after, relative to the key, for Bezier 2D keys; ``before`` and ``after``: the
    `Behaviour` outside the keys.
    """

    times: Floats
    values: Floats
    shapes: NDArray[np.uint8]
    tcb: Floats
    parameters: Floats
    before: int = Behaviour.CONSTANT
    after: int = Behaviour.CONSTANT

    @property
    def count(self) -> int:
        """Number of keys."""
        return len(self.times)

    @classmethod
    def of(cls, times: Floats, values: Floats, shapes: NDArray[np.uint8]) -> Envelope:
        """Return an envelope whose tensions and parameters are all 0."""
        count = len(times)
        return cls(times, values, shapes, np.zeros((count, 3)), np.zeros((count, 4)))


def keyed_parts(bounds: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Return which of several channels have keys, and the first and last key of each; ``bounds`` as in `Envelopes`."""
    keyed = np.flatnonzero(bounds[1:] > bounds[:-1])
    return keyed, bounds[keyed], bounds[keyed + 1] - 1


@dataclass
class Envelopes:
    """Several envelopes with concatenated ``keys``; ``keys.before`` and ``keys.after`` have no meaning.

    ``bounds`` (envelopes + 1,): index of the first key of each, and the number of keys; ``before`` and ``after``
    (envelopes,).
    """

    keys: Envelope
    bounds: NDArray[np.intp]
    before: NDArray[np.intp]
    after: NDArray[np.intp]

    @classmethod
    def of(cls, envelopes: Sequence[Envelope]) -> Envelopes:
        """Return a sequence of at least one envelope as one `Envelopes`."""
        keys = Envelope(
            np.concatenate([envelope.times for envelope in envelopes]),
            np.concatenate([envelope.values for envelope in envelopes]),
            np.concatenate([envelope.shapes for envelope in envelopes]),
            np.concatenate([envelope.tcb for envelope in envelopes]),
            np.concatenate([envelope.parameters for envelope in envelopes]),
        )
        return cls(
            keys,
            np.cumsum([0, *(envelope.count for envelope in envelopes)]),
            np.array([envelope.before for envelope in envelopes], np.intp),
            np.array([envelope.after for envelope in envelopes], np.intp),
        )

    def __len__(self) -> int:
        return len(self.before)

    def __getitem__(self, number: int) -> Envelope:
        keys, part = self.keys, slice(self.bounds[number], self.bounds[number + 1])
        columns = keys.times[part], keys.values[part], keys.shapes[part], keys.tcb[part], keys.parameters[part]
        return Envelope(*columns, int(self.before[number]), int(self.after[number]))

    @property
    def ends(self) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
        """Indices of the envelopes that have keys, and of the first and last key of each."""
        return keyed_parts(self.bounds)

    def __iter__(self) -> Iterator[Envelope]:
        return map(self.__getitem__, range(len(self)))


SMALLEST_HANDLE = 1e-5
"""Seconds. The slope of a shorter Bezier 2D handle is computed as if it had this length."""


def tangents(envelope: Envelope, breaks: NDArray[np.intp] | None = None) -> tuple[Floats, Floats]:
    """Return the slopes at the start (keys - 1,) and at the end (keys - 1,) of each segment, times its length.

    With four consecutive keys kp, k0, k1, kn, d = v1 - v0 and dt = t1 - t0, the tangent of a TCB key mixes the chords
    on its two sides; linear and Hermite keys have their own. All are scaled by r = dt / (t1 - tp) at the start and by
    r' = dt / (tn - t0) at the end, which is all the engine does about unequal spacing. The first and the last key have
    one chord only, and no factor of one half compensates for the missing one.

    ``breaks``: segments from the last key of one channel to the first of the next; their slopes have no meaning.
    """
    times, values = envelope.times, envelope.values
    with np.errstate(all="ignore"):  # several keys at one time; NaN and infinities in broken files
        length, rise = np.diff(times), np.diff(values)
        # A missing neighbour counts as a chord of 0 with a factor of 1: b·d and a·d, d, or the parameter remain.
        scale_out, scale_in = np.ones_like(rise), np.ones_like(rise)
        chord_before, chord_after = np.zeros_like(rise), np.zeros_like(rise)
        span = times[2:] - times[:-2]
        scale_out[1:], scale_in[:-1] = length[1:] / span, length[:-1] / span
        chord_before[1:], chord_after[:-1] = rise[:-1], rise[1:]
        if breaks is not None and len(breaks):
            behind, ahead = breaks[breaks + 1 < len(rise)] + 1, breaks[breaks > 0] - 1
            scale_out[behind], chord_before[behind] = 1.0, 0.0
            scale_in[ahead], chord_after[ahead] = 1.0, 0.0
        tension, continuity, bias = 1.0 - envelope.tcb[:, 0], envelope.tcb[:, 1], envelope.tcb[:, 2]
        across, along = tension * (1 + continuity), tension * (1 - continuity)
        leaving = (across * (1 + bias))[:-1] * chord_before + (along * (1 - bias))[:-1] * rise
        arriving = (across * (1 - bias))[1:] * chord_after + (along * (1 + bias))[1:] * rise
        shapes, parameters = envelope.shapes, envelope.parameters
        if shapes.any():
            leaving = _other_tangents(shapes[:-1], leaving, chord_before + rise, parameters[:-1, 1])
            arriving = _other_tangents(shapes[1:], arriving, chord_after + rise, parameters[1:, 0])
        leaving *= scale_out
        arriving *= scale_in
        flat = shapes == Shape.BEZIER_2D
        if flat.any():
            leaving = np.where(flat[:-1], _handle_slope(parameters[:-1, 2:]) * length, leaving)
            arriving = np.where(flat[1:], _handle_slope(parameters[1:, :2]) * length, arriving)
    return leaving, arriving


def _other_tangents(shapes: NDArray[np.uint8], tcb: Floats, chords: Floats, parameter: Floats) -> Floats:
    curved, straight = shapes == Shape.TCB, shapes == Shape.LINEAR
    slopes: Floats = np.where(curved, tcb, chords)
    others = ~(curved | straight)
    if others.any():
        hermite = (shapes == Shape.HERMITE) | (shapes == Shape.BEZIER_1D)
        slopes[others] = np.where(hermite, parameter, 0.0)[others]
    return slopes


def _handle_slope(handles: Floats) -> Floats:
    """Return the slopes of handles (keys, 2) in value per second; as in the engine, handles that are too short lose
    their sign.
    """
    time, value = handles[:, 0], handles[:, 1]
    short = np.abs(time) <= SMALLEST_HANDLE
    slope: Floats = value / np.where(short, SMALLEST_HANDLE, time)
    return slope


# Evaluation -----------------------------------------------------------------------------------------------------------

BISECTIONS = 54
"""Steps of bisection after which the interval [0, 1] has shrunk to the precision of a float64."""
BISECTIONS_FIRST = 10
"""Steps of bisection before Newton's method is tried."""
BISECTIONS_OF_JUMPS = 12
"""Steps of bisection from an interval of a few rounding errors down to one."""
_PARTS = 2.0 ** np.arange(BISECTIONS)
"""Number of parts into which bisection has divided [0, 1] before each step."""


def evaluate(envelope: Envelope, times: ArrayLike) -> Floats:
    """Evaluate an envelope at ``times`` (any shape), seconds. It is 0 without keys and constant with a single key."""
    wanted = np.asarray(times, np.float64)
    flat = np.atleast_1d(wanted).ravel()
    if envelope.count < 2:
        result = np.full(flat.shape, envelope.values[0] if envelope.count else 0.0)
    else:
        with np.errstate(all="ignore"):  # NaN and infinities in broken files
            result = _with_behaviours(envelope, flat)
    return result.reshape(wanted.shape)


def extrapolation_slopes(envelope: Envelope, known: tuple[Floats, Floats] | None = None) -> tuple[float, float]:
    """Return the slopes, in value per second, of a linear extrapolation before the first and after the last key.

    0 if the two keys at that end have the same time: the engine would divide by 0. ``known``: the `tangents`, if
    already computed.
    """
    if envelope.count < 2:
        return 0.0, 0.0
    ends = np.zeros(1, np.intp), np.full(1, envelope.count - 1)
    before, after = outer_slopes(envelope, known if known is not None else tangents(envelope), *ends)[0].tolist()
    return before, after


def outer_slopes(
    joined: Envelope, known: tuple[Floats, Floats], starts: NDArray[np.intp], ends: NDArray[np.intp]
) -> Floats:
    """(envelopes, 2): the `extrapolation_slopes` of several envelopes with concatenated keys ``joined``.

    ``known``: their `tangents`; ``starts`` and ``ends`` (envelopes,): index of the first and last key of each.
    """
    result = np.zeros((len(starts), 2))
    several = np.flatnonzero(ends > starts)
    for side, (tangent, segment) in enumerate(zip(known, (starts[several], ends[several] - 1), strict=True)):
        length = joined.times[segment + 1] - joined.times[segment]
        with np.errstate(all="ignore"):
            result[several, side] = np.where(length != 0, tangent[segment] / length, 0.0)
    return result


def _with_behaviours(envelope: Envelope, times: Floats) -> Floats:
    start, end = envelope.times[0], envelope.times[-1]
    inner = times.copy()
    added = np.zeros_like(times)
    outside_values: list[tuple[NDArray[np.bool_], Floats | float]] = []
    known = tangents(envelope) if _needs_tangents(envelope) else None
    for outside, behaviour, edge in ((times < start, envelope.before, 0), (times > end, envelope.after, -1)):
        if not outside.any():
            continue
        if behaviour in (Behaviour.REPEAT, Behaviour.OSCILLATE, Behaviour.OFFSET):
            folded, rounds = _folded(times[outside], start, end)
            if behaviour == Behaviour.OSCILLATE:
                # As in the engine, right only if the first key is at 0. After the last key the engine reads beyond
                # its keys and has no defined value: there the last key is used.
                mirrored = np.minimum(end - start - folded, end)
                folded = np.where(rounds % 2 != 0, mirrored, folded)
            elif behaviour == Behaviour.OFFSET:
                added[outside] = rounds * (envelope.values[-1] - envelope.values[0])
            inner[outside] = folded
        elif behaviour == Behaviour.LINEAR:
            slope = extrapolation_slopes(envelope, known)[edge]
            outside_values.append((outside, envelope.values[edge] + slope * (times[outside] - envelope.times[edge])))
        else:
            outside_values.append((outside, 0.0 if behaviour == Behaviour.RESET else envelope.values[edge]))
    result = _between_keys(envelope, inner, known) + added
    for outside, value in outside_values:
        result[outside] = value
    return result


def _folded(times: Floats, start: float, end: float) -> tuple[Floats, Floats]:
    """Return times folded into the range of the keys, and the number of rounds they are away (halves are rounded away
    from 0).

    Times are folded about 0: with keys from 1 to 3 s, the value at 3.5 s is that at 2.5 s, not at 1.5 s.
    """
    length = end - start
    if not length:
        return np.full_like(times, start), np.zeros_like(times)
    folded = times - length * np.floor(times / length) + start
    away = (times - folded) / length
    return folded, np.copysign(np.floor(np.abs(away) + 0.5), away)


def segment_ends(envelope: Envelope, times: Floats) -> NDArray[np.intp]:
    """Return for each time the index of the key that ends its segment: the first key, from the second on, that is not
    earlier.

    Of several keys at one time, the first one is used at that time and the last one right after it; a key out of order
    is only ever the start of a segment. The first key that is not earlier is the first at which the running maximum of
    times is not earlier.
    """
    latest = np.fmax.accumulate(envelope.times[1:])
    return np.minimum(np.searchsorted(latest, times, "left") + 1, envelope.count - 1)


def _needs_tangents(envelope: Envelope) -> bool:
    return Behaviour.LINEAR in (envelope.before, envelope.after) or bool((envelope.shapes <= Shape.BEZIER_1D).any())


def _between_keys(envelope: Envelope, times: Floats, known: tuple[Floats, Floats] | None) -> Floats:
    ends = segment_ends(envelope, times)
    starts = ends - 1
    key_times, values, shapes = envelope.times, envelope.values, envelope.shapes[ends]
    begin, finish = values[starts], values[ends]
    share = (times - key_times[starts]) / (key_times[ends] - key_times[starts])
    result = np.where(shapes == Shape.LINEAR, begin + share * (finish - begin), begin)
    cubic = shapes <= Shape.BEZIER_1D
    if cubic.any():
        leaving, arriving = known if known is not None else tangents(envelope)
        square, cube = share * share, share * share * share
        blend = 3 * square - 2 * cube
        hermite = (
            (1 - blend) * begin
            + blend * finish
            + (cube - 2 * square + share) * leaving[starts]
            + (cube - square) * arriving[starts]
        )
        result = np.where(cubic, hermite, result)
    flat = shapes == Shape.BEZIER_2D
    if flat.any():
        result[flat] = _bezier(envelope, starts[flat], times[flat])
    result = np.where(times == key_times[ends], finish, result)
    return np.where(times == key_times[starts], begin, result)


def bezier_controls(envelope: Envelope, starts: NDArray[np.intp]) -> Floats:
    """(segments, 4, 2): control points (time, value) of Bezier 2D segments; ``starts``: index of their first keys.

    For a start key of another shape, its parameter 1 is the slope, over a third of the segment.
    """
    ends = starts + 1
    points = np.empty((len(starts), 4, 2))
    points[:, 0, 0], points[:, 0, 1] = envelope.times[starts], envelope.values[starts]
    points[:, 3, 0], points[:, 3, 1] = envelope.times[ends], envelope.values[ends]
    third = np.stack(((points[:, 3, 0] - points[:, 0, 0]) / 3, envelope.parameters[starts, 1] / 3), axis=1)
    own = envelope.shapes[starts] == Shape.BEZIER_2D
    points[:, 1] = points[:, 0] + np.where(own[:, None], envelope.parameters[starts, 2:], third)
    points[:, 2] = points[:, 3] + envelope.parameters[ends, :2]
    return points


def _bezier(envelope: Envelope, starts: NDArray[np.intp], times: Floats) -> Floats:
    points = bezier_controls(envelope, starts)
    return bernstein(points[:, :, 1], solve(points[:, :, 0], times))


def bernstein(controls: Floats, u: Floats) -> Floats:
    """Evaluate cubics with control values (n, 4) at parameters ``u`` (n,)."""
    rest = 1 - u
    result: Floats = (
        rest * rest * rest * controls[:, 0]
        + 3 * rest * rest * u * controls[:, 1]
        + 3 * rest * u * u * controls[:, 2]
        + u * u * u * controls[:, 3]
    )
    return result


def solve(controls: Floats, times: Floats) -> Floats:
    """Return the parameters in [0, 1] at which cubics with control times (n, 4) are at ``times`` (n,).

    By bisection, as the engine does: if a cubic that folds back has several solutions, this finds the engine's one. For
    a time outside the cubic this is the nearer end.
    """
    cubic = _Cubic.of(controls, times)
    low, high = cubic.halved(np.zeros_like(times), np.ones_like(times), BISECTIONS_FIRST)
    # Between such close bounds Newton's method converges quickly, unless the slope of time is near 0.
    result = (low + high) / 2
    with np.errstate(all="ignore"):
        for _ in range(5):
            result = np.clip(result - cubic.beyond(result) / cubic.slope(result), low, high)
        converged = np.abs(cubic.beyond(result)) <= 1e-15 * np.abs(controls).max(axis=1)
        unsolved = ~(converged & (cubic.slope(result) > 1e-3 * np.abs(cubic.size)))
    if unsolved.any():
        cubic = _Cubic.of(controls[unsolved], times[unsolved])
        low, high = cubic.halved(low[unsolved], high[unsolved], BISECTIONS - BISECTIONS_FIRST)
        result[unsolved] = (low + high) / 2
    return result


def solution_jumps(controls: Floats, parameters: Floats, begin: Floats, end: Floats) -> tuple[Floats, Floats]:
    """Return the times at which the result of `solve` jumps over ``parameters`` (n,) inside of folds: the last times
    with a smaller result and the first times with a larger one.

    ``controls`` (n, 4). Both times are limited to ``begin`` ... ``end`` (n,); if the jump is not between these, both
    are at one of them. In the middle of a fold time runs backwards, so Newton's method never ends there, and the result
    depends on where the bisection changes direction.
    """
    offset = _jump_offset(controls, parameters)
    # Exact up to rounding errors; a bisection with the comparison that `solve` makes finds the exact time.
    near = 8 * np.finfo(np.float64).eps * np.maximum(np.abs(controls[:, 0]), np.abs(offset))
    jump = np.nan_to_num(controls[:, 0] - offset, nan=np.inf, posinf=np.inf, neginf=-np.inf)
    low, high = np.clip(jump - near, begin, end), np.clip(jump + near, begin, end)
    for _ in range(BISECTIONS_OF_JUMPS):
        middle = (low + high) / 2
        behind = controls[:, 0] - middle <= offset
        low, high = np.where(behind, low, middle), np.where(behind, middle, high)
    return low, high


def _jump_offset(controls: Floats, parameters: Floats) -> Floats:
    """(n,) seconds: inside of folds, `solve` returns more than ``parameters`` (n,) exactly if the first control time
    minus the sought time is at most this.

    The bisection approaches a parameter until it goes to the other side of it. The steps at which it can do so are the
    same for all times, so the cubics are evaluated once at each of them.
    """
    cubic = _Cubic.of(controls, np.zeros(len(controls)))
    share = parameters[:, None] * _PARTS
    u = np.floor(share) / _PARTS + 0.5 / _PARTS
    upwards = u <= parameters[:, None]
    low = np.floor(share[:, -1]) / _PARTS[-1]
    high = low + 1 / _PARTS[-1]
    low, high = np.where(upwards[:, -1], u[:, -1], low), np.where(upwards[:, -1], high, u[:, -1])
    a, b, c = (column[:, None] for column in (cubic.a, cubic.b, cubic.c))
    # For each step, the limit of (first control time - sought time) at which the bisection leaves the way to the
    # parameter: it goes down above the limit and up at or below it. Only the first step that leaves the way counts,
    # so one number per cubic remains.
    limit = -((a * u + b) * u + c) * u
    limit[np.isnan(limit)] = np.inf
    lowest = np.minimum.accumulate(np.where(upwards, limit, np.inf), axis=1)
    most: Floats = np.minimum(np.where(upwards, -np.inf, limit), lowest).max(axis=1)
    return np.where((low + high) / 2 > parameters, np.maximum(most, lowest[:, -1]), most)


@dataclass
class _Cubic:
    """Cubics ((a·u + b)·u + c)·u + d, (n,) each: time at parameter u minus the sought time."""

    a: Floats
    b: Floats
    c: Floats
    d: Floats
    size: Floats
    """Three times the largest difference between consecutive control times."""

    @classmethod
    def of(cls, controls: Floats, times: Floats) -> _Cubic:
        first, second, third = 3 * np.diff(controls, axis=1).T
        size = np.maximum(np.maximum(np.abs(first), np.abs(second)), np.abs(third))
        return cls((third + first) / 3 - 2 * second / 3, second - first, first, controls[:, 0] - times, size)

    def beyond(self, u: Floats) -> Floats:
        """Return the time at u minus the sought time."""
        result: Floats = ((self.a * u + self.b) * u + self.c) * u + self.d
        return result

    def slope(self, u: Floats) -> Floats:
        """Return the slope in seconds per unit of u."""
        result: Floats = (3 * self.a * u + 2 * self.b) * u + self.c
        return result

    def halved(self, low: Floats, high: Floats, steps: int) -> tuple[Floats, Floats]:
        """Return the bounds after ``steps`` of bisection."""
        for _ in range(steps):
            middle = (low + high) / 2
            beyond = self.beyond(middle) > 0
            high, low = np.where(beyond, middle, high), np.where(beyond, low, middle)
        return low, high
