"""Keys as the game has them, and the tangents it makes of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Shape(IntEnum):
    """What a key says about the segment that *ends* at it, and about its own tangents on both sides."""

    TCB = 0
    HERMITE = 1
    BEZIER_1D = 2
    """The engine treats it as `HERMITE`."""
    LINEAR = 3
    STEPPED = 4
    BEZIER_2D = 5


class Behaviour(IntEnum):
    """What happens before the first key or after the last one."""

    RESET = 0
    """The value is 0."""
    CONSTANT = 1
    REPEAT = 2
    OSCILLATE = 3
    OFFSET = 4
    """Repeat, each time further by the difference of the end values."""
    LINEAR = 5


@dataclass
class Envelope:
    """One channel, a row a key, in the file's order (times may repeat, and fall).

    ``times`` (keys,) seconds; ``values`` (keys,); ``shapes`` (keys,) uint8 of `Shape`, others count as stepped; ``tcb``
    (keys, 3) tension, continuity, bias; ``parameters`` (keys, 4): for Hermite keys the tangents before and after, for
    Bezier 2D keys the handles' (time, value) from the key, before and after; ``before`` and ``after`` the keys.
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
        """How many keys there are."""
        return len(self.times)

    @classmethod
    def of(cls, times: Floats, values: Floats, shapes: NDArray[np.uint8]) -> Envelope:
        """Keys whose tensions and parameters are all 0."""
        count = len(times)
        return cls(times, values, shapes, np.zeros((count, 3)), np.zeros((count, 4)))


@dataclass
class Envelopes:
    """Several envelopes: their ``keys`` one behind the other, whose own behaviours have no meaning.

    ``bounds`` (envelopes + 1,): where the keys of each begin, and the last one's end; ``before`` and ``after``
    (envelopes,).
    """

    keys: Envelope
    bounds: NDArray[np.intp]
    before: NDArray[np.intp]
    after: NDArray[np.intp]

    @classmethod
    def of(cls, envelopes: Sequence[Envelope]) -> Envelopes:
        """At least one envelope."""
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
        """How many envelopes there are."""
        return len(self.before)

    def __getitem__(self, number: int) -> Envelope:
        """One of them."""
        keys, part = self.keys, slice(self.bounds[number], self.bounds[number + 1])
        columns = keys.times[part], keys.values[part], keys.shapes[part], keys.tcb[part], keys.parameters[part]
        return Envelope(*columns, int(self.before[number]), int(self.after[number]))

    def __iter__(self) -> Iterator[Envelope]:
        """One after the other."""
        return map(self.__getitem__, range(len(self)))


SMALLEST_HANDLE = 1e-5
"""Seconds; a Bezier 2D handle shorter than this is divided by as if it had this length."""


def tangents(envelope: Envelope, breaks: NDArray[np.intp] | None = None) -> tuple[Floats, Floats]:
    """The slopes at both ends of each segment, times its length: (keys - 1,) at its start, (keys - 1,) at its end.

    With kp, k0, k1, kn four keys in a row, d = v1 - v0 and dt = t1 - t0, a TCB key's tangent mixes the chords on its
    two sides, linear and Hermite keys bring theirs; all are scaled by r = dt / (t1 - tp) at the start and by
    r' = dt / (tn - t0) at the end, which is the whole treatment of unequal spacing. The first and the last key have one
    chord only, and no factor of one half makes up for the other.

    ``breaks``: segments that lead from the last key of one channel to the first of another; they have no meaning.
    """
    times, values = envelope.times, envelope.values
    with np.errstate(all="ignore"):  # keys at one time, NaN and infinities of broken files
        length, rise = np.diff(times), np.diff(values)
        # A missing neighbour is a chord of 0 and a factor of 1: b·d and a·d, d, or the parameter alone remain.
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
    hermite = (shapes == Shape.HERMITE) | (shapes == Shape.BEZIER_1D)
    return np.where(
        shapes == Shape.TCB, tcb, np.where(shapes == Shape.LINEAR, chords, np.where(hermite, parameter, 0.0))
    )


def _handle_slope(handles: Floats) -> Floats:
    """Value per second along (keys, 2) handles; the sign of a too short one is lost, as it is in the engine."""
    time, value = handles[:, 0], handles[:, 1]
    short = np.abs(time) <= SMALLEST_HANDLE
    slope: Floats = value / np.where(short, SMALLEST_HANDLE, time)
    return slope
