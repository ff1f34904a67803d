"""Curves as an F-curve holds them: a key has two handles and defines the interpolation of the segment *after* it.

`fitted` makes a curve with few keys through many samples, for motion that cannot be converted key by key. It works from
the first sample to the last: each segment is a cubic between two samples, as long as the tolerance allows. With both
ends on their samples and the control times at thirds, time is linear in the parameter (u = s), so the cubic is

    v(s) = (1-s)³ v0 + 3 (1-s)² s y1 + 3 (1-s) s² y2 + s³ v1

in which only y1 and y2 are free: a linear least-squares problem with two unknowns per trial.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .evaluation import (
    Behaviour,
    Envelope,
    Floats,
    Shape,
    bernstein,
    bezier_controls,
    keyed_parts,
    solve,
    tangents,
)


class Interpolation(IntEnum):
    """Interpolation of the segment after a key; the numbers are Blender's."""

    CONSTANT = 0
    LINEAR = 1
    BEZIER = 2


@dataclass
class Curve:
    """The keys of one channel, one row per key, sorted by time.

    ``keys``, ``left`` and ``right`` (keys, 2): time in seconds and value of the key, its left and its right handle
    (absolute); ``interpolation`` (keys,) uint8 of `Interpolation`; ``before`` and ``after``: the `Behaviour` outside
    the keys, where linear continues along the outer handles. ``source`` (keys,) int32: index of each key in the curve
    that the file decodes to, -1 for a new key; None if unknown (keys are then matched by time).
    """

    keys: Floats
    left: Floats
    right: Floats
    interpolation: NDArray[np.uint8]
    before: int = Behaviour.CONSTANT
    after: int = Behaviour.CONSTANT
    source: NDArray[np.int32] | None = None

    @property
    def count(self) -> int:
        """Number of keys."""
        return len(self.keys)

    def signed(self, sign: float) -> Curve:
        """Return the curve with its values multiplied by ``sign``."""
        factor = np.array([1.0, sign])
        return Curve(
            self.keys * factor,
            self.left * factor,
            self.right * factor,
            self.interpolation,
            self.before,
            self.after,
            self.source,
        )


def rows_of(starts: NDArray[np.intp], counts: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the indices of several runs of rows, concatenated: ``counts`` rows from each of ``starts``."""
    ends = np.cumsum(counts)
    if not counts.all():
        return np.repeat(starts - ends + counts, counts) + np.arange(int(ends[-1]) if len(ends) else 0)
    # As a running sum of the steps from row to row: in numpy 1.24 `repeat` is eight times slower than `cumsum`.
    steps = np.ones(int(ends[-1]) if len(ends) else 0, np.intp)
    steps[:1], steps[ends[:-1]] = starts[:1], starts[1:] - starts[:-1] - counts[:-1] + 1
    return np.cumsum(steps, out=steps)


def in_columns(times: Floats, values: Floats) -> Floats:
    """Return times and values as (n, 2), with all times contiguous in memory, which numpy processes fastest."""
    result = np.empty((2, len(times)))
    result[0], result[1] = times, values
    return result.T


@dataclass
class Curves:
    """Several curves with concatenated keys, so that numpy processes all of them together.

    ``keys``, ``left``, ``right`` (all keys, 2) and ``interpolation`` (all keys,) as in `Curve`; ``bounds`` (curves +
    1,): index of the first key of each curve, and the number of keys; ``before`` and ``after`` (curves,).
    """

    keys: Floats
    left: Floats
    right: Floats
    interpolation: NDArray[np.uint8]
    bounds: NDArray[np.intp]
    before: NDArray[np.intp]
    after: NDArray[np.intp]

    @classmethod
    def of(cls, curves: Sequence[Curve]) -> Curves:
        """Return a sequence of curves as one `Curves`."""
        empty = [empty_curve()]
        return cls(
            np.concatenate([curve.keys for curve in curves or empty]),
            np.concatenate([curve.left for curve in curves or empty]),
            np.concatenate([curve.right for curve in curves or empty]),
            np.concatenate([curve.interpolation for curve in curves or empty]),
            np.cumsum([0, *(curve.count for curve in curves)]),
            np.array([curve.before for curve in curves], np.intp),
            np.array([curve.after for curve in curves], np.intp),
        )

    @classmethod
    def joined(cls, parts: Sequence[Curves]) -> Curves:
        """Return the curves of all ``parts``."""
        counts = np.concatenate([part.counts for part in parts])
        columns = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("keys", "left", "right", "interpolation", "before", "after")
        )
        keys, left, right, interpolation, before, after = columns
        return cls(keys, left, right, interpolation, np.append(0, np.cumsum(counts)), before, after)

    def __len__(self) -> int:
        return len(self.before)

    def __getitem__(self, number: int) -> Curve:
        part = slice(self.bounds[number], self.bounds[number + 1])
        ends = int(self.before[number]), int(self.after[number])
        return Curve(self.keys[part], self.left[part], self.right[part], self.interpolation[part], *ends)

    def numbered(self, number: int) -> Curve:
        """Return the curve at an index, as decoded from a file: `Curve.source` numbers its keys."""
        curve = self[number]
        curve.source = np.arange(curve.count, dtype=np.int32)
        return curve

    def __iter__(self) -> Iterator[Curve]:
        return map(self.__getitem__, range(len(self)))

    @property
    def counts(self) -> NDArray[np.intp]:
        """(curves,): number of keys of each curve."""
        return np.diff(self.bounds)

    @property
    def ends(self) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
        """Indices of the curves that have keys, and of the first and last key of each."""
        return keyed_parts(self.bounds)

    def signed(self, signs: Floats) -> Curves:
        """Return the curves with the values of each multiplied by one of ``signs`` (curves,)."""
        factors = np.repeat(signs, self.counts)
        parts = self.keys, self.left, self.right
        keys, left, right = (in_columns(part[:, 0], part[:, 1] * factors) for part in parts)
        return Curves(keys, left, right, self.interpolation, self.bounds, self.before, self.after)

    def take(self, numbers: NDArray[np.intp]) -> Curves:
        """Return copies of the curves at the indices ``numbers`` (n,), in this order."""
        counts = self.counts[numbers]
        rows, bounds = rows_of(self.bounds[numbers], counts), np.append(0, np.cumsum(counts))
        # Column by column: `numpy.take` takes three times as long in numpy 1.24.
        keys, left, right = (
            in_columns(part[:, 0][rows], part[:, 1][rows]) for part in (self.keys, self.left, self.right)
        )
        kinds = self.interpolation[rows]
        return Curves(keys, left, right, kinds, bounds, self.before[numbers], self.after[numbers])


def empty_curve(before: int = Behaviour.CONSTANT, after: int = Behaviour.CONSTANT) -> Curve:
    """Return a curve without keys."""
    empty = np.zeros((0, 2))
    return Curve(empty, empty, empty, np.zeros(0, np.uint8), before, after, np.zeros(0, np.int32))


def single_key(value: float, time: float = 0.0) -> Curve:
    """Return a curve with a single key."""
    key = np.array([[time, value]])
    return Curve(key, key.copy(), key.copy(), np.array([Interpolation.BEZIER], np.uint8))


def control_points(envelope: Envelope, known: tuple[Floats, Floats] | None = None) -> tuple[NDArray[np.uint8], Floats]:
    """Return each segment of an envelope as a cubic Bezier: its `Interpolation` (keys - 1,) and its control points
    (keys - 1, 4, 2) of time and value.

    A Hermite segment (1 - h2)·v0 + h2·v1 + h3·out + h4·in with h2 = 3s² - 2s³, h3 = s³ - 2s² + s, h4 = s³ - s² has the
    slopes out at s = 0 and in at s = 1. A cubic Bezier's slope at its ends is three times the difference of the outer
    control values, so these are v0, v0 + out/3, v1 - in/3, v1; and with control times at thirds x(u) = t0 + u·dt, so
    that u = s: the same polynomial. Stepped and linear segments get the handles of a straight line. ``known``: the
    `tangents` of the envelope, if already computed.
    """
    starts = np.arange(envelope.count - 1)
    shapes = envelope.shapes[1:]
    points = np.empty((2, 4, len(starts))).T  # in memory, the same point of all segments is contiguous
    points[:, 0, 0], points[:, 0, 1] = envelope.times[:-1], envelope.values[:-1]
    points[:, 3, 0], points[:, 3, 1] = envelope.times[1:], envelope.values[1:]
    with np.errstate(all="ignore"):
        third = (points[:, 3] - points[:, 0]) / 3
        points[:, 1], points[:, 2] = points[:, 0] + third, points[:, 3] - third
        cubic = shapes <= Shape.BEZIER_1D
        if cubic.any():
            leaving, arriving = known if known is not None else tangents(envelope)
            points[:, 1, 1] = np.where(cubic, points[:, 0, 1] + leaving / 3, points[:, 1, 1])
            points[:, 2, 1] = np.where(cubic, points[:, 3, 1] - arriving / 3, points[:, 2, 1])
        flat = shapes == Shape.BEZIER_2D
        if flat.any():
            points[flat] = bezier_controls(envelope, starts[flat])
    kinds = np.where(
        cubic | flat,
        np.uint8(Interpolation.BEZIER),
        np.where(shapes == Shape.LINEAR, np.uint8(Interpolation.LINEAR), np.uint8(Interpolation.CONSTANT)),
    )
    return kinds, points


def evaluate_curve(curve: Curve, times: ArrayLike) -> Floats:
    """Evaluate a curve at ``times``; outside its keys it has the value of the first or last key."""
    wanted = np.asarray(times, np.float64)
    if not curve.count:
        return np.zeros_like(wanted)
    flat = np.clip(np.atleast_1d(wanted).ravel(), curve.keys[0, 0], curve.keys[-1, 0])
    if curve.count == 1:
        return np.full(wanted.shape, curve.keys[0, 1])
    starts = np.clip(np.searchsorted(curve.keys[:, 0], flat, "right") - 1, 0, curve.count - 2)
    begin, end = curve.keys[starts], curve.keys[starts + 1]
    with np.errstate(all="ignore"):
        share = (flat - begin[:, 0]) / (end[:, 0] - begin[:, 0])
        result = begin[:, 1] + share * (end[:, 1] - begin[:, 1])
        cubic = curve.interpolation[starts] == Interpolation.BEZIER
        if cubic.any():
            chosen = starts[cubic]
            points = np.stack(
                (curve.keys[chosen], curve.right[chosen], curve.left[chosen + 1], curve.keys[chosen + 1]), axis=1
            )
            result[cubic] = bernstein(points[:, :, 1], solve(points[:, :, 0], flat[cubic]))
    held = (curve.interpolation[starts] == Interpolation.CONSTANT) & (flat < end[:, 0])
    result = np.where(held, begin[:, 1], result)
    return np.where(flat == end[:, 0], end[:, 1], result).reshape(wanted.shape)


def segment_values(kinds: NDArray[np.uint8], points: Floats, times: Floats) -> tuple[Floats, Floats]:
    """Evaluate segments of interpolation ``kinds`` (n,) and control ``points`` (n, 4, 2) at ``times`` (n,). Returns
    values (n,) and curve parameters (n,).

    A constant segment has its first value.
    """
    start, end = points[:, 0], points[:, 3]
    share = (times - start[:, 0]) / (end[:, 0] - start[:, 0])
    cubic = kinds == Interpolation.BEZIER
    u = share.copy()
    # At the times of its ends a cubic has the parameters 0 and 1, unless it folds back: then the search decides.
    known = ((times == start[:, 0]) | (times == end[:, 0])) & ~folds_back(points[:, :, 0])
    sought = cubic & ~known
    u[sought] = solve(points[sought, :, 0], times[sought])
    value = np.where(cubic, bernstein(points[:, :, 1], u), start[:, 1] + share * (end[:, 1] - start[:, 1]))
    return np.where(kinds == Interpolation.CONSTANT, start[:, 1], value), u


def part_of(points: Floats, begin: Floats, end: Floats) -> Floats:
    """Cut cubics with control points (n, 4, 2) to the parts between the parameters ``begin`` and ``end`` (n,).

    The polynomial stays the same: the ends are B(u0) and B(u1), and the slopes there are B' times the new length.
    """
    result = np.empty_like(points)
    width = ((end - begin) / 3)[:, None]
    for index, u in ((0, begin), (3, end)):
        for axis in (0, 1):
            result[:, index, axis] = bernstein(points[:, :, axis], u)
    result[:, 1] = result[:, 0] + width * _slopes(points, begin)
    result[:, 2] = result[:, 3] - width * _slopes(points, end)
    whole = (begin == 0) & (end == 1)
    result[whole] = points[whole]
    return result


def _slopes(points: Floats, u: Floats) -> Floats:
    u = u[:, None]
    first, second, third = (points[:, index + 1] - points[:, index] for index in range(3))
    slope: Floats = 3 * ((1 - u) * (1 - u) * first + 2 * u * (1 - u) * second + u * u * third)
    return slope


def halved(points: Floats) -> tuple[Floats, Floats]:
    """Return both halves of cubics (n, 4, 2), divided at u = 1/2 (de Casteljau)."""
    a, b, c = ((points[:, index] + points[:, index + 1]) / 2 for index in range(3))
    d, e = (a + b) / 2, (b + c) / 2
    middle = (d + e) / 2
    return np.stack((points[:, 0], a, d, middle), axis=1), np.stack((middle, e, c, points[:, 3]), axis=1)


def folds_back(times: Floats) -> NDArray[np.bool_]:
    """Return which cubics with control times (n, 4) run backwards in time anywhere between their ends.

    The slope is a quadratic with Bernstein coefficients a, b, c; with a, c >= 0 it is negative only if b < -√(ac).
    """
    a, b, c = (times[:, index + 1] - times[:, index] for index in range(3))
    slack = -1e-9 * np.abs(times[:, 3] - times[:, 0])
    outward = (a < slack) | (c < slack)
    inside: NDArray[np.bool_] = b < -np.sqrt(np.maximum(a, 0) * np.maximum(c, 0)) + 10 * slack
    return outward | inside


def fitted(times: Floats, values: Floats, tolerance: float, stops: Sequence[int] = ()) -> Curve:
    """Return a curve through the first and the last sample, with no sample further than ``tolerance`` from it.

    ``times`` (samples,) rising seconds, ``values`` (samples,). Constant samples give a single key. ``stops``: rising
    indices of samples that get a key in any case.
    """
    if not len(times):
        return empty_curve()
    if np.abs(values - values[0]).max() <= tolerance:
        point = np.array([[times[0], values[0]]])
        return Curve(point, point.copy(), point.copy(), np.array([Interpolation.BEZIER], np.uint8))
    indices, handles = [0], []
    ends = [*stops, len(times) - 1]
    while indices[-1] < len(times) - 1:
        most = ends[bisect_right(ends, indices[-1])] + 1
        end, pair = _furthest(times[:most], values[:most], indices[-1], tolerance)
        indices.append(end)
        handles.append(pair)
    keys = np.stack((times[indices], values[indices]), axis=1)
    curve = Curve(keys, keys.copy(), keys.copy(), np.full(len(keys), Interpolation.BEZIER, np.uint8))
    third = np.diff(keys[:, 0]) / 3
    inner = np.array(handles)
    curve.right[:-1] = np.stack((keys[:-1, 0] + third, inner[:, 0]), axis=1)
    curve.left[1:] = np.stack((keys[1:, 0] - third, inner[:, 1]), axis=1)
    return curve


def _furthest(times: Floats, values: Floats, start: int, tolerance: float) -> tuple[int, Floats]:
    """Return the last sample up to which one cubic from ``start`` stays within the tolerance, and its inner control
    values.

    The length is doubled until it is too long and then found by bisection, in O(log samples) trials.
    """
    most = len(times) - 1
    good, pair = start + 1, _controls(times, values, start, start + 1)[0]
    step = 2
    while good < most:
        end = min(start + step, most)
        candidate, error = _controls(times, values, start, end)
        if error > tolerance:
            break
        good, pair = end, candidate
        step *= 2
    bad = min(start + step, most) + (good == most)
    while bad - good > 1:
        middle = (good + bad) // 2
        candidate, error = _controls(times, values, start, middle)
        if error <= tolerance:
            good, pair = middle, candidate
        else:
            bad = middle
    return good, pair


def _controls(times: Floats, values: Floats, start: int, end: int) -> tuple[Floats, float]:
    """Return the inner control values (2,) of the best cubic between two samples, and its largest error at the samples
    between.
    """
    first, last = values[start], values[end]
    line = np.array([first + (last - first) / 3, last - (last - first) / 3])
    if end - start < 2:
        return line, 0.0
    share = (times[start + 1 : end] - times[start]) / (times[end] - times[start])
    rest = 1 - share
    known = rest**3 * first + share**3 * last
    free = np.stack((3 * rest**2 * share, 3 * rest * share**2), axis=1)
    wanted = values[start + 1 : end] - known
    # A single sample does not determine two unknowns: the solution nearest to the straight line is taken.
    offset, *_ = np.linalg.lstsq(free, wanted - free @ line, rcond=None)
    controls = line + offset
    return controls, float(np.abs(free @ controls - wanted).max())
