"""Animation curves of many bones, refitted through a mapping that cannot be applied key by key (a change of the rest
frame of Euler angles, for example).

Each result curve gets a cubic segment between consecutive key times of the bone's channels; segments that miss the
tolerance are halved. All bones are processed together: the keys of their curves are concatenated, and tables with one
row per segment store which bone each segment belongs to.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .envelope import Behaviour, Curve, Curves, Interpolation
from .envelope.curve import in_columns, rows_of, segment_values, single_key
from .envelope.display import JUMP_GAP, MIN_SPACING

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]
Mapping = Callable[[Floats, Indices, Indices], Floats]
"""Function from values (rows, samples, channels), the bone of each row (rows,) and the first row of each run of
consecutive rows (runs,) to results (rows, samples, m).
"""
Aligned = Callable[[Floats, Floats], Floats]
"""Function that picks one of several equivalent results, such as Euler angles of one rotation: from results (runs,
samples, m) and wanted first results (runs, m) to the equivalent results that begin nearest to the wanted ones.
"""

MERGE_DISTANCE = 0.011
"""Frames. Keys closer than this count as one: Blender merges keys that are less than 0.01 apart."""
MAX_HALVINGS = 6
"""How often a segment is halved at most."""
ROUNDING = 1e-6
"""Metres or radians. Smaller differences are rounding errors of 32-bit floats."""
FLAT_TOLERANCE = 1e-9
"""Tolerance, as a fraction of the first value (of 1 if that is smaller): curves whose values differ by less get a
single key.
"""
LINEAR_TIME_TOLERANCE = 1e-9
"""Tolerance, as a fraction of the segment: handles within it of the thirds count as linear in time."""
MAX_COARSE_RANGE = 1.0
"""Metres or radians. A segment in which the control values of a channel span more is always measured with many samples:
between few samples, a rotation by more than half a turn could be missed.
"""
COARSE_UNDERESTIMATE = 8.0
"""A coarse measurement of a segment finds at least this part (1/8) of its error, and a fine one at least half of what
the coarse one found. So a coarse error below 1/8 of the tolerance or above twice the tolerance decides without a
fine measurement.
"""


def _bernstein(shares: Floats) -> Floats:
    """(4, shares): weights of the four control values of a cubic at ``shares`` of its parameter."""
    return np.stack([math.comb(3, power) * (1 - shares) ** (3 - power) * shares**power for power in range(4)])


class _Fit:
    """Least-squares fit of a cubic to evenly spaced samples, exact at the first and the last one.

    ``shares`` (samples,): position of the samples as fractions of the segment. Multiplied by the samples, ``inner`` (2,
    samples) gives the inner control values, and ``deviations`` (samples - 2, samples) the errors of the cubic at the
    samples between the ends.
    """

    def __init__(self, samples: int) -> None:
        self.shares = np.linspace(0.0, 1.0, samples)
        basis = _bernstein(self.shares).T
        ends = np.zeros((samples, samples))
        ends[:, [0, -1]] = basis[:, [0, 3]]
        wanted = (np.eye(samples) - ends)[1:-1]
        self.inner = np.linalg.pinv(basis[1:-1, 1:3]) @ wanted
        self.deviations = wanted - basis[1:-1, 1:3] @ self.inner


_COARSE, _FINE = _Fit(6), _Fit(10)


@dataclass
class Converted:
    """Converted curves of one bone. ``exact``: they have as many keys as the original curves and differ from the exact
    conversion only by rounding.
    """

    curves: list[Curve]
    exact: bool


@dataclass
class ConvertedBones:
    """Converted curves of many bones: ``curves``, the same number for each; ``exact`` (bones,) as in `Converted`."""

    curves: Curves
    exact: Flags

    def __getitem__(self, bone: int) -> Converted:
        width = len(self.curves) // len(self.exact)
        return Converted(
            [self.curves[number] for number in range(width * bone, width * (bone + 1))], bool(self.exact[bone])
        )

    @classmethod
    def in_order(cls, parts: Sequence[tuple[Indices, ConvertedBones]]) -> ConvertedBones:
        """Combine disjoint sets of bones, each with the indices of its bones, in the order of the indices; together
        these are 0, 1, 2, ...
        """
        if not parts:
            return cls(Curves.of([]), np.zeros(0, np.bool_))
        if len(parts) == 1 and (np.diff(parts[0][0]) > 0).all():
            return parts[0][1]
        numbers = np.concatenate([numbers for numbers, _ in parts])
        joined = cls(
            Curves.joined([part.curves for _, part in parts]), np.concatenate([part.exact for _, part in parts])
        )
        return joined if (np.diff(numbers) > 0).all() else joined.of(np.argsort(numbers))

    def of(self, bones: Indices) -> ConvertedBones:
        """Return the curves of the bones at these indices."""
        return ConvertedBones(
            self.curves.take(curve_indices(bones, len(self.curves) // len(self.exact))), self.exact[bones]
        )


def curve_indices(bones: Indices, width: int) -> Indices:
    """Return the indices of the curves of these bones if each bone has ``width`` consecutive curves."""
    numbers: Indices = (width * bones[:, None] + np.arange(width)).ravel()
    return numbers


@dataclass
class _Channel:
    """One channel of all bones. For each key, the segment after it as a cubic: control ``times`` and ``values``, both
    (4, keys).

    ``kinds`` (keys,): interpolation of the segment; ``linear_time`` (keys,): whether its time is linear in the curve
    parameter; ``begins`` (bones,): index of each bone's first key.
    """

    begins: Indices
    times: Floats
    values: Floats
    kinds: NDArray[np.uint8]
    linear_time: Flags


@dataclass
class _Intervals:
    """Intervals of time, one per row, sorted by bone and time; the last row of each bone is its last key and has no
    length.

    ``bone`` (rows,); ``key`` (rows, channels): for each channel, the key whose segment contains the interval;
    ``constant`` (rows, channels): whether the channel is constant in it; ``begin`` and ``end`` (rows,) in seconds.
    """

    bone: Indices
    key: Indices
    constant: Flags
    begin: Floats
    end: Floats

    def of(self, rows: NDArray[np.intp] | Flags) -> _Intervals:
        """Return the rows at these indices, or where the mask is set."""
        return _Intervals(*(getattr(self, field.name)[rows] for field in fields(self)))


@dataclass
class _Segments:
    """Result segments, one per row: ``result`` (rows, 2, m) at both ends, ``held`` (rows,) whether all channels are
    constant, ``inner`` control values (rows, 2, m), and ``error`` (rows, m), the largest error of the cubic.
    """

    rows: _Intervals
    result: Floats
    held: Flags
    inner: Floats
    error: Floats

    def with_halves(self, bad: Flags, halves: _Segments) -> _Segments:
        """Return a copy in which each ``bad`` row is replaced by two rows of ``halves``."""
        counts = 1 + bad
        second = (np.cumsum(counts) - 1)[bad]
        at = np.stack((second - 1, second), axis=1).ravel()

        def column(own: Any, other: Any) -> Any:
            doubled = np.repeat(own, counts, axis=0)
            doubled[at] = other
            return doubled

        rows = (
            column(getattr(self.rows, field.name), getattr(halves.rows, field.name)) for field in fields(_Intervals)
        )
        rest = (column(getattr(self, name), getattr(halves, name)) for name in ("result", "held", "inner", "error"))
        return _Segments(_Intervals(*rows), *rest)

    def put(self, where: Flags | Indices, others: _Segments) -> None:
        """Replace the measurements of the rows ``where`` by those of ``others``, which has the same intervals."""
        for name in ("result", "held", "inner", "error"):
            getattr(self, name)[where] = getattr(others, name)


@dataclass
class Runs:
    """Curves of many bones with keys at common times: one row per key, the rows of each bone (a run) concatenated.

    ``times`` (rows,) and ``values`` (rows, m) for the keys, left handles and right handles; ``starts`` (runs,): first
    row of each run; ``interpolation`` (rows,); ``flat`` (runs, m): curves that get a single key because they are
    constant.
    """

    starts: Indices
    times: Sequence[Floats]
    values: Sequence[Floats]
    interpolation: NDArray[np.uint8]
    flat: Flags

    def curves(self, before: Indices | None = None, after: Indices | None = None) -> Curves:
        """Return the m curves of each run. ``before`` and ``after`` (runs,): extrapolation of the curves that are not
        flat.
        """
        counts = np.diff(np.append(self.starts, len(self.interpolation)))
        width = self.flat.shape[1]
        keys = np.where(self.flat, 1, counts[:, None]).ravel()
        rows = rows_of(np.repeat(self.starts, width), keys)
        axis = np.repeat(np.tile(np.arange(width), len(counts)), keys)
        key, left, right = (
            in_columns(times[rows], values[rows, axis]) for times, values in zip(self.times, self.values, strict=True)
        )
        interpolation = self.interpolation[rows]
        if self.flat.any():
            single = np.repeat(self.flat.ravel(), keys)
            left[single] = right[single] = key[single]
            interpolation[single] = Interpolation.BEZIER
        constant = np.full(len(counts), int(Behaviour.CONSTANT))
        return Curves(
            key,
            left,
            right,
            interpolation,
            np.append(0, np.cumsum(keys)),
            *(
                np.where(self.flat, constant[:, None], (constant if given is None else given)[:, None]).ravel()
                for given in (before, after)
            ),
        )


def run_starts(bone: Indices) -> Indices:
    """Return the rows at which another bone begins."""
    return np.flatnonzero(np.append(True, bone[1:] != bone[:-1])[: len(bone)])


def refit(
    curves: Curves,
    width: int,
    mapping: Mapping,
    frame: float,
    tolerance: Floats,
    *,
    aligned: Aligned = lambda value, _: value,
) -> ConvertedBones:
    """Return the curves of bones, ``width`` per bone, after ``mapping``.

    ``frame``: seconds per frame; ``tolerance`` (m,): allowed error of each result. ``aligned`` is needed if ``mapping``
    chooses one of several equivalent results at the first row of each run.
    """
    if not curves.counts.all():
        listed = list(curves)
        bones = [listed[begin : begin + width] for begin in range(0, len(listed), width)]
        curves = Curves.of([curve for bone in bones for curve in _with_keys(bone)])
    moving = curves.interpolation != Interpolation.CONSTANT
    moving[curves.bounds[1:] - 1] = False
    held = ~np.logical_or.reduceat(moving, curves.bounds[:-1]).reshape(-1, width).any(axis=1)
    parts = []
    for is_held in (True, False):
        chosen = np.flatnonzero(held == is_held)
        if not len(chosen):
            continue

        def numbered(values: Floats, bone: Indices, starts: Indices, chosen: Indices = chosen) -> Floats:
            return mapping(values, chosen[bone], starts)

        taken = curves if len(chosen) * width == len(curves) else curves.take(curve_indices(chosen, width))
        channels = [_channel(taken, np.arange(axis, len(taken), width)) for axis in range(width)]
        fitter = _Fitter(channels, numbered, aligned, tolerance, is_held)
        parts.append((chosen, _refit_bones(taken, fitter, frame=frame, tolerance=tolerance)))
    return ConvertedBones.in_order(parts)


def _with_keys(curves: Sequence[Curve]) -> list[Curve]:
    """Return the channels with a key of value 0 added to those without keys."""
    begin = next((float(curve.keys[0, 0]) for curve in curves if curve.count), 0.0)
    return [curve if curve.count else single_key(0.0, begin) for curve in curves]


def _refit_bones(curves: Curves, fitter: _Fitter, *, frame: float, tolerance: Floats) -> ConvertedBones:
    bones = len(curves) // len(fitter.channels)
    rows = _rows(fitter.channels, curves, frame)
    keys = np.bincount(rows.bone, minlength=bones)
    segments = fitter.fit(rows, run_starts(rows.bone))
    for _ in range(MAX_HALVINGS):
        rows = segments.rows
        bad = (segments.error > tolerance).any(axis=1) & (rows.end - rows.begin > MIN_SPACING * frame)
        if not bad.any():
            break
        halves = fitter.fit(_halved(rows.of(bad)), np.arange(0, 2 * int(bad.sum()), 2), segments.result[bad, 0])
        # Finer samples may end at another of several equivalent results: the rows after it must continue from that.
        same = (np.abs(halves.result[1::2, 1] - segments.result[bad, 1]) <= ROUNDING).all(axis=1)
        segments = segments.with_halves(bad, halves)
        if not same.all():
            again = np.isin(segments.rows.bone, rows.bone[bad][~same])
            whole = segments.rows.of(again)
            segments.put(again, fitter.fit(whole, run_starts(whole.bone)))
    return _as_curves(segments, keys)


def _channel(curves: Curves, numbers: Indices) -> _Channel:
    """Return one channel of all bones; ``numbers``: index of its curve for each bone."""
    counts = curves.counts[numbers]
    own = rows_of(curves.bounds[numbers], counts)
    times, values = np.empty((4, len(own))), np.empty((4, len(own)))
    for axis, points in enumerate((times, values)):
        points[0], points[1] = curves.keys[:, axis][own], curves.right[:, axis][own]
        # The segment from the last key of a bone to the first key of the next bone is not used.
        points[2:, -1:] = 0.0
        points[2, :-1], points[3, :-1] = curves.left[:, axis][own[1:]], points[0, 1:]
    with np.errstate(all="ignore"):  # values in broken files
        length = times[3] - times[0]
        linear_time = np.abs(times[1] - times[0] - length / 3) <= LINEAR_TIME_TOLERANCE * length
        linear_time &= np.abs(times[2] - times[0] - length * (2 / 3)) <= LINEAR_TIME_TOLERANCE * length
    return _Channel(np.cumsum(counts) - counts, times, values, curves.interpolation[own], linear_time)


def _rows(channels: Sequence[_Channel], curves: Curves, frame: float) -> _Intervals:
    """Return an interval from each key time of a bone to the next; times that Blender would merge count as one."""
    bone, begin, index, outside = _shared_key_times(curves, len(channels), frame)
    key, constant = np.empty(index.shape[::-1], np.intp), np.empty(index.shape[::-1], np.bool_)
    for axis, channel in enumerate(channels):
        np.add(index[:, axis], channel.begins[bone], out=key[axis])
        np.logical_or(outside[:, axis], channel.kinds[key[axis]] == Interpolation.CONSTANT, out=constant[axis])
    end = np.append(begin[1:], begin[-1])
    last = np.append(bone[1:] != bone[:-1], True)
    end[last] = begin[last]
    rows = _Intervals(bone, key.T, constant.T, begin, end)
    rows.end = _ends_before_jumps(channels, rows, frame)
    return rows


def _shared_key_times(curves: Curves, width: int, frame: float) -> tuple[Indices, Floats, Indices, Flags]:
    """Return the bone (rows,) and time (rows,) of each key time of each bone, and the `_key_indices` of its channels
    there: two arrays (rows, channels).

    Usually all channels of a bone that have several keys have them at the same times, far enough apart: these times are
    used as they are. Other bones are processed one by one.
    """
    counts, starts = curves.counts.reshape(-1, width), curves.bounds[:-1].reshape(-1, width)
    bones, several = np.arange(len(counts)), counts > 1
    model = several.argmax(axis=1)
    knots, first = counts[bones, model], starts[bones, model]
    asked = several | ~several.any(axis=1, keepdims=True)
    shared = ((counts == knots[:, None]) | ~asked).all(axis=1)
    bone = np.repeat(bones, knots)
    begins = np.cumsum(knots) - knots
    number = np.arange(len(bone)) - begins[bone]
    times = curves.keys[first[bone] + number, 0]
    same = np.append(np.diff(times) > MERGE_DISTANCE * frame, True)
    same[begins[1:] - 1] = True
    for axis in range(width):
        compared = asked[:, axis] & shared
        own = np.where(compared, starts[:, axis], first)
        same &= curves.keys[own[bone] + number, 0] == times
    shared &= np.logical_and.reduceat(same, begins)
    index = np.where(several[bone], number[:, None], 0)
    outside = ~several[bone] | (number == knots[bone] - 1)[:, None]
    if shared.all():
        return bone, times, index, outside
    kept = shared[bone]
    columns = [(bone[kept], times[kept], index[kept], outside[kept])]
    for other in np.flatnonzero(~shared).tolist():
        own_curves = [curves[number] for number in range(width * other, width * (other + 1))]
        wanted = _key_times(own_curves, frame)
        indices = [_key_indices(curve, wanted, frame) for curve in own_curves]
        columns.append(
            (
                np.full(len(wanted), other),
                wanted,
                np.stack([index for index, _ in indices], axis=1),
                np.stack([outside for _, outside in indices], axis=1),
            )
        )
    bone, times, index, outside = (np.concatenate(column) for column in zip(*columns, strict=True))
    order = np.argsort(bone, kind="stable")
    return bone[order], times[order], index[order], outside[order]


def _key_times(curves: Sequence[Curve], frame: float) -> Floats:
    """Return the key times of a bone's curves, without times that Blender would merge with the one before."""
    keyed = [curve.keys[:, 0] for curve in curves if curve.count > 1] or [curve.keys[:, 0] for curve in curves]
    times = np.unique(np.concatenate(keyed))
    apart: Floats = times[np.append(True, np.diff(times) > MERGE_DISTANCE * frame)]
    return apart


def _key_indices(curve: Curve, knots: Floats, frame: float) -> tuple[Indices, Flags]:
    """For each time, return the index of the last key at or before it, and whether it is before the first key or at or
    after the last key.
    """
    last = curve.count - 1
    index = np.searchsorted(curve.keys[:, 0], knots + MERGE_DISTANCE * frame, "right") - 1
    return np.clip(index, 0, last), (index < 0) | (index >= last)


def _ends_before_jumps(channels: Sequence[_Channel], rows: _Intervals, frame: float) -> Floats:
    """Return the end time of each row (rows,): where the next row begins or, if some but not all channels are constant
    and one of these jumps there, `JUMP_GAP` frames earlier.
    """
    mixed = rows.constant.any(axis=1) & ~rows.constant.all(axis=1)
    if not mixed.any():
        return rows.end
    values = np.stack([control[0] for control in _controls(channels, rows)], axis=1)
    jumps = mixed & (rows.end > rows.begin)
    jumps[:-1] &= (rows.constant[:-1] & (np.abs(np.diff(values, axis=0)) > ROUNDING)).any(axis=1)
    wide = rows.end - rows.begin > MIN_SPACING * frame
    shortened: Floats = np.where(jumps & wide, rows.end - JUMP_GAP * frame, rows.end)
    return shortened


@np.errstate(all="ignore")  # constant segments may have no length; values in broken files
def _controls(channels: Sequence[_Channel], rows: _Intervals) -> Floats:
    """(channels, 4, rows): control values of each channel's source segment, cut to the interval of the row.

    For a constant channel all four are equal.
    """
    result = np.empty((len(channels), 4, len(rows.bone)))
    for channel, key, constant, values in zip(channels, rows.key.T, rows.constant.T, result, strict=True):
        for own, control in zip(values, channel.values, strict=True):
            own[:] = control[key]
        values[1:, constant] = values[0, constant]
        line = np.flatnonzero(~constant & (channel.kinds[key] != Interpolation.BEZIER))
        third = (values[3, line] - values[0, line]) / 3
        values[1, line], values[2, line] = values[0, line] + third, values[3, line] - third
        start, end = channel.times[0, key], channel.times[3, key]
        part = np.flatnonzero(~constant & ((rows.begin != start) | (rows.end != end)))
        if len(part):
            shares = ((times[part] - start[part]) / (end - start)[part] for times in (rows.begin, rows.end))
            values[:, part] = _cut(values[:, part], *(np.clip(share, 0.0, 1.0) for share in shares))
    return result


def _cut(values: Floats, begin: Floats, end: Floats) -> Floats:
    """Cut cubics with control values (4, n) to the parts between the parameters ``begin`` and ``end`` (n,)."""
    once, twice = (values[:3] + share * np.diff(values, axis=0) for share in (begin, end))
    first, last = (corner[:2] + share * np.diff(corner, axis=0) for corner, share in ((once, begin), (twice, end)))
    corners = (first, begin), (first, end), (last, begin), (last, end)
    return np.stack([corner[0] + share * (corner[1] - corner[0]) for corner, share in corners])


@np.errstate(all="ignore")
def _evaluate_nonlinear_time(values: Floats, channels: Sequence[_Channel], rows: _Intervals, shares: Floats) -> Flags:
    """Evaluate segments whose time is not linear in the curve parameter at ``shares`` of their rows, into ``values``
    (channels, samples, rows).

    Returns (rows,): which rows have such a channel.
    """
    result: Flags = np.zeros(len(rows.bone), np.bool_)
    for axis, channel in enumerate(channels):
        key = rows.key[:, axis]
        nonlinear = np.flatnonzero(
            ~rows.constant[:, axis] & (channel.kinds[key] == Interpolation.BEZIER) & ~channel.linear_time[key]
        )
        if not len(nonlinear):
            continue
        times = rows.begin[nonlinear, None] + (rows.end - rows.begin)[nonlinear, None] * shares
        own = np.stack((channel.times[:, key[nonlinear]], channel.values[:, key[nonlinear]]), axis=-1).swapaxes(0, 1)
        inside = np.clip(times, own[:, :1, 0], own[:, 3:, 0])
        each = np.repeat(np.arange(len(nonlinear)), len(shares))
        evaluated = segment_values(channel.kinds[key[nonlinear[each]]], own[each], inside.ravel())[0]
        values[axis, :, nonlinear] = evaluated.reshape(inside.shape)
        result[nonlinear] = True
    return result


@dataclass
class _Fitter:
    """Samples source curves, maps the samples and fits result segments to them.

    ``tolerance`` (m,) of the results; ``held``: all channels are constant from key to key, so no samples between keys
    are needed.
    """

    channels: Sequence[_Channel]
    mapping: Mapping
    aligned: Aligned
    tolerance: Floats
    held: bool

    def fit(self, rows: _Intervals, starts: Indices, first: Floats | None = None) -> _Segments:
        """Return the result segments of ``rows``, which are consecutive except at ``starts``.

        ``first`` (runs, m): results to begin nearest to; all runs must then have the same length. Most segments are
        decided by a coarse measurement. Those near the tolerance, and those whose rotation a coarse measurement might
        follow in the wrong direction, get a fine one.
        """
        with np.errstate(all="ignore"):  # values in broken files; callers check the results
            if self.held:
                return self._fit_constant(rows, starts, first)
            segments, coarse_fails = self._fit_samples(rows, starts, first, _COARSE)
            coarse_fails |= (
                (segments.error > self.tolerance / COARSE_UNDERESTIMATE) & (segments.error <= 2 * self.tolerance)
            ).any(axis=1)
            segments.error *= COARSE_UNDERESTIMATE
            unclear = np.flatnonzero(coarse_fails)
            if len(unclear):
                self._refine(segments, unclear, starts, first)
            return segments

    def _refine(self, segments: _Segments, unclear: Indices, starts: Indices, first: Floats | None) -> None:
        """Measure some rows with many samples. If that finds another of several equivalent results, measure their whole
        runs again.
        """
        rows, before = segments.rows, segments.result[unclear]
        refined, _ = self._fit_samples(rows.of(unclear), np.arange(len(unclear)), before[:, 0], _FINE)
        segments.put(unclear, refined)
        other = (np.abs(refined.result - before) > ROUNDING).any(axis=(1, 2))
        if other.any():
            run = np.searchsorted(starts, np.arange(len(rows.bone)), "right") - 1
            runs = np.unique(run[unclear[other]])
            again = np.flatnonzero(np.isin(run, runs))
            begin = None if first is None else first[runs]
            segments.put(again, self._fit_samples(rows.of(again), run_starts(run[again]), begin, _FINE)[0])

    def _fit_samples(
        self, rows: _Intervals, starts: Indices, first: Floats | None, fit: _Fit
    ) -> tuple[_Segments, Flags]:
        """Return the segments fitted to samples, and (rows,): rows for which few samples are too few."""
        controls = _controls(self.channels, rows)
        values = _bernstein(fit.shares).T @ controls
        coarse_fails = _evaluate_nonlinear_time(values, self.channels, rows, fit.shares)
        coarse_fails |= (controls.max(axis=1) - controls.min(axis=1) > MAX_COARSE_RANGE).any(axis=0)
        result = self._map_samples(values, rows, starts, first)
        held: Flags = np.asarray(rows.constant.all(axis=1))
        error = np.abs(fit.deviations @ result).max(axis=1).T
        error[held] = 0.0
        ends, inner = result[:, [0, -1]].transpose(2, 1, 0), (fit.inner @ result).transpose(2, 1, 0)
        return _Segments(rows, ends, held, inner, np.nan_to_num(error, nan=0.0)), coarse_fails

    def _fit_constant(self, rows: _Intervals, starts: Indices, first: Floats | None) -> _Segments:
        """Return the segments of rows in which all channels are constant."""
        result = self._map_samples(_controls(self.channels, rows)[:, :1], rows, starts, first)
        both = np.repeat(result, 2, axis=1).transpose(2, 1, 0)
        return _Segments(rows, both, np.asarray(rows.constant.all(axis=1)), both.copy(), np.zeros(both[:, 0].shape))

    def _map_samples(self, values: Floats, rows: _Intervals, starts: Indices, first: Floats | None) -> Floats:
        """Map channel values (channels, samples, rows) to results (m, samples, rows)."""
        result = self.mapping(values.transpose(2, 1, 0), rows.bone, starts)
        if first is not None:
            result = self.aligned(result.reshape(len(starts), -1, result.shape[2]), first).reshape(result.shape)
        return np.ascontiguousarray(result.transpose(2, 1, 0))


def _halved(rows: _Intervals) -> _Intervals:
    """Return two rows for each row, divided at the middle of its interval."""
    doubled = rows.of(np.repeat(np.arange(len(rows.bone)), 2))
    doubled.end[::2] = doubled.begin[1::2] = (rows.begin + rows.end) / 2
    return doubled


@dataclass
class _Keys:
    """Keys of the result curves, one per row: ``times`` (rows,) and ``values`` (rows, m) of the keys, left handles and
    right handles.
    """

    bone: Indices
    interpolation: NDArray[np.uint8]
    times: tuple[Floats, Floats, Floats]
    values: tuple[Floats, Floats, Floats]


def _keys_of(segments: _Segments) -> _Keys:
    """Return a key for the start of each segment, and for the end of each segment that ends before the next begins."""
    begin, end, held, bone = segments.rows.begin, segments.rows.end, segments.held, segments.rows.bone
    value, third = segments.result[:, 0], (end - begin) / 3
    right_time = np.where(held, begin, begin + third)
    right = np.where(held[:, None], value, segments.inner[:, 0])
    left_time, left = begin.copy(), value.copy()
    joined = np.flatnonzero(~held[:-1] & (end[:-1] == begin[1:]))
    left_time[joined + 1], left[joined + 1] = (end - third)[joined], segments.inner[joined, 1]
    interpolation = np.where(held, np.uint8(Interpolation.CONSTANT), np.uint8(Interpolation.BEZIER))
    interpolation[np.append(bone[1:] != bone[:-1], True)] = Interpolation.BEZIER
    jump = np.flatnonzero(~held[:-1] & (end[:-1] != begin[1:]))
    if not len(jump):
        return _Keys(bone, interpolation, (begin, left_time, right_time), (value, left, right))
    stop, behind = segments.result[jump, -1], jump + 1
    return _Keys(
        np.insert(bone, behind, bone[jump]),
        np.insert(interpolation, behind, np.uint8(Interpolation.CONSTANT)),
        (
            np.insert(begin, behind, end[jump]),
            np.insert(left_time, behind, (end - third)[jump]),
            np.insert(right_time, behind, end[jump]),
        ),
        (
            np.insert(value, behind, stop, axis=0),
            np.insert(left, behind, segments.inner[jump, 1], axis=0),
            np.insert(right, behind, stop, axis=0),
        ),
    )


def _as_curves(segments: _Segments, keys: Indices) -> ConvertedBones:
    """Return the curves of the bones; ``keys`` (bones,): number of segments of each bone before any was halved."""
    rows = run_starts(segments.rows.bone)
    worst = np.maximum.reduceat(segments.error.max(axis=1), rows)
    exact = (np.diff(np.append(rows, len(segments.held))) == keys) & (worst <= ROUNDING)
    own_keys = _keys_of(segments)
    starts = run_starts(own_keys.bone)
    runs = Runs(starts, own_keys.times, own_keys.values, own_keys.interpolation, flat_runs(own_keys.values, starts))
    return ConvertedBones(runs.curves(), exact)


def flat_runs(values: Sequence[Floats], starts: Indices) -> Flags:
    """(runs, m): columns whose values are equal, within `FLAT_TOLERANCE`, in all rows of a run of at least two rows.

    ``values``: arrays (rows, m) which must all agree with the first row of the first array in each run; ``starts``
    (runs,): first row of each run.
    """
    first = values[0][starts]
    with np.errstate(invalid="ignore"):
        limit = FLAT_TOLERANCE * np.maximum(1.0, np.abs(first))
        flat = np.diff(np.append(starts, len(values[0])))[:, None] > np.ones(first.shape, np.intp)
        for part in values:
            flat &= np.maximum.reduceat(part, starts) - first <= limit
            flat &= first - np.minimum.reduceat(part, starts) <= limit
    return flat
