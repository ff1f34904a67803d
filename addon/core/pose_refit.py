"""Curves of many bones taken through a mapping of their values that no arithmetic key by key can do.

Each bone gets a cubic from key to key of its channels, halved until it keeps a tolerance. All bones are looked at in
one go: the keys of their curves lie one behind the other, and rows, one a piece, tell which bone's they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .envelope import Behaviour, Curve, Curves, Interpolation
from .envelope.curve import in_columns, rows_of, segment_values
from .envelope.display import NEAR, SPACING

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]
Mapping = Callable[[Floats, Indices, Indices], Floats]
"""Values (rows, samples, channels), the bone of each row, the rows where bones begin -> (rows, samples, results)."""
Aligned = Callable[[Floats, Floats], Floats]
"""Results (runs, samples, results) that begin on any of several answers -> on those nearest to (runs, results)."""

MERGED = 0.011
"""Frames; Blender makes one of keys that are nearer."""
HALVINGS = 6
EXACT = 1e-6
"""Metres or radians that count as the rounding of 32-bit floats."""
FLAT = 1e-9
"""Share of their size by which the values of a curve may differ that becomes one key."""
EVEN = 1e-9
"""Share of a segment by which control times may miss its thirds while its time still runs evenly."""
FAR = 1.0
"""Metres or radians within which few looks at a piece are enough to follow where its results go."""
DOUBT = 8.0
"""A few looks find at least one part in so many of a piece's error, and many find half of what they find."""


def _bernstein(shares: Floats) -> Floats:
    """(4, shares) how much each control value of a cubic counts."""
    return np.stack([math.comb(3, power) * (1 - shares) ** (3 - power) * shares**power for power in range(4)])


class _Fit:
    """The cubic through the first and the last of evenly spaced samples that misses those between them least.

    ``shares`` (samples,) of a piece's time. ``inner`` (2, samples) times the samples are its inner control values,
    ``missed`` (samples - 2, samples) times them how far it is off between the ends.
    """

    def __init__(self, samples: int) -> None:
        """For so many samples."""
        self.shares = np.linspace(0.0, 1.0, samples)
        basis = _bernstein(self.shares).T
        ends = np.zeros((samples, samples))
        ends[:, [0, -1]] = basis[:, [0, 3]]
        wanted = (np.eye(samples) - ends)[1:-1]
        self.inner = np.linalg.pinv(basis[1:-1, 1:3]) @ wanted
        self.missed = wanted - basis[1:-1, 1:3] @ self.inner


_FEW, _MANY = _Fit(6), _Fit(10)


@dataclass
class Carried:
    """Curves in the other frame. ``exact``: they are what they were, but for rounding, and have no more keys."""

    curves: list[Curve]
    exact: bool


@dataclass
class CarriedBones:
    """What `Carried` says of each of many bones: their ``curves``, of all as many, and (bones,) ``exact``."""

    curves: Curves
    exact: Flags

    def __getitem__(self, bone: int) -> Carried:
        """One of them."""
        width = len(self.curves) // len(self.exact)
        return Carried(
            [self.curves[number] for number in range(width * bone, width * (bone + 1))], bool(self.exact[bone])
        )

    @classmethod
    def in_order(cls, parts: Sequence[tuple[Indices, CarriedBones]]) -> CarriedBones:
        """Several by the numbers of their bones, which all together are 0, 1, ..."""
        if not parts:
            return cls(Curves.of([]), np.zeros(0, np.bool_))
        if len(parts) == 1 and (np.diff(parts[0][0]) > 0).all():
            return parts[0][1]
        numbers = np.concatenate([numbers for numbers, _ in parts])
        joined = cls(
            Curves.joined([part.curves for _, part in parts]), np.concatenate([part.exact for _, part in parts])
        )
        return joined if (np.diff(numbers) > 0).all() else joined.of(np.argsort(numbers))

    def of(self, bones: Indices) -> CarriedBones:
        """Some of the bones."""
        return CarriedBones(self.curves.take(of_bones(bones, len(self.curves) // len(self.exact))), self.exact[bones])


def of_bones(bones: Indices, width: int) -> Indices:
    """The numbers of all ``width`` curves of each of some bones."""
    numbers: Indices = (width * bones[:, None] + np.arange(width)).ravel()
    return numbers


@dataclass
class _Channel:
    """One channel of all bones, for each key the segment after it as a cubic: (4, keys) ``times`` and ``values``.

    ``kinds`` (keys,), ``even`` whether its time runs evenly, ``begins`` (bones,): where each bone's keys do.
    """

    begins: Indices
    times: Floats
    values: Floats
    kinds: NDArray[np.uint8]
    even: Flags


@dataclass
class _Rows:
    """Pieces before their values are known, times rising, bone by bone; a bone's last row is its last key alone.

    For each its ``bone``, the ``key`` of every channel (rows, channels) whose segment it lies in, which channels stand
    ``still``, and when it ``begin``s and ``end``s.
    """

    bone: Indices
    key: Indices
    still: Flags
    begin: Floats
    end: Floats

    def of(self, rows: NDArray[np.intp] | Flags) -> _Rows:
        """Some of the rows."""
        return _Rows(*(getattr(self, field.name)[rows] for field in fields(self)))


@dataclass
class _Pieces:
    """Rows with the ``result`` (rows, 2, m) at their ends, whether nothing moves in them (``held``), the ``inner``
    control values (rows, 2, m) and how far off these are (rows, m).
    """

    rows: _Rows
    result: Floats
    held: Flags
    inner: Floats
    error: Floats

    def with_halves(self, bad: Flags, halves: _Pieces) -> _Pieces:
        """The same with two pieces for each ``bad`` row."""
        counts = 1 + bad
        second = (np.cumsum(counts) - 1)[bad]
        at = np.stack((second - 1, second), axis=1).ravel()

        def column(own: Any, other: Any) -> Any:
            doubled = np.repeat(own, counts, axis=0)
            doubled[at] = other
            return doubled

        rows = (column(getattr(self.rows, one.name), getattr(halves.rows, one.name)) for one in fields(_Rows))
        rest = (column(getattr(self, name), getattr(halves, name)) for name in ("result", "held", "inner", "error"))
        return _Pieces(_Rows(*rows), *rest)

    def put(self, where: Flags | Indices, others: _Pieces) -> None:
        """Replace the rows ``where`` by as many others, whose times and keys are the same."""
        for name in ("result", "held", "inner", "error"):
            getattr(self, name)[where] = getattr(others, name)


def still(value: float, time: float = 0.0) -> Curve:
    """One key."""
    key = np.array([[time, value]])
    return Curve(key, key.copy(), key.copy(), np.array([Interpolation.BEZIER], np.uint8))


@dataclass
class Runs:
    """Curves of many bones, a run of rows for each: ``times`` and ``values`` (rows, m) of keys, left and right handles.

    ``starts`` (runs,); ``interpolation`` (rows,); ``flat`` (runs, m): curves that one key says.
    """

    starts: Indices
    times: Sequence[Floats]
    values: Sequence[Floats]
    interpolation: NDArray[np.uint8]
    flat: Flags

    def curves(self, before: Indices | None = None, after: Indices | None = None) -> Curves:
        """The m curves of each run; ``before`` and ``after`` (runs,) of those that are not flat."""
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
    """The rows where another bone begins."""
    return np.flatnonzero(np.append(True, bone[1:] != bone[:-1])[: len(bone)])


def refitted(
    curves: Curves,
    width: int,
    mapping: Mapping,
    frame: float,
    tolerance: Floats,
    *,
    aligned: Aligned = lambda one, _: one,
) -> CarriedBones:
    """The curves of bones, ``width`` of each, through ``mapping``; ``tolerance`` (m,) of the results.

    ``aligned`` where ``mapping`` chooses one of several answers at the rows where bones begin.
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

        taken = curves if len(chosen) * width == len(curves) else curves.take(of_bones(chosen, width))
        channels = [_channel(taken, np.arange(axis, len(taken), width)) for axis in range(width)]
        look = _Look(channels, numbered, aligned, tolerance, is_held)
        parts.append((chosen, _carried(taken, look, frame=frame, tolerance=tolerance)))
    return CarriedBones.in_order(parts)


def _with_keys(curves: Sequence[Curve]) -> list[Curve]:
    """Channels without keys are at 0."""
    begin = next((float(curve.keys[0, 0]) for curve in curves if curve.count), 0.0)
    return [curve if curve.count else still(0.0, begin) for curve in curves]


def _carried(curves: Curves, look: _Look, *, frame: float, tolerance: Floats) -> CarriedBones:
    bones = len(curves) // len(look.channels)
    rows = _rows(look.channels, curves, frame)
    keys = np.bincount(rows.bone, minlength=bones)
    pieces = look.at(rows, run_starts(rows.bone))
    for _ in range(HALVINGS):
        rows = pieces.rows
        bad = (pieces.error > tolerance).any(axis=1) & (rows.end - rows.begin > SPACING * frame)
        if not bad.any():
            break
        halves = look.at(_halved(rows.of(bad)), np.arange(0, 2 * int(bad.sum()), 2), pieces.result[bad, 0])
        # Finer looks may find another of several answers at the end: what follows has to follow from that.
        same = (np.abs(halves.result[1::2, 1] - pieces.result[bad, 1]) <= EXACT).all(axis=1)
        pieces = pieces.with_halves(bad, halves)
        if not same.all():
            again = np.isin(pieces.rows.bone, rows.bone[bad][~same])
            whole = pieces.rows.of(again)
            pieces.put(again, look.at(whole, run_starts(whole.bone)))
    return _as_curves(pieces, keys)


def _channel(curves: Curves, numbers: Indices) -> _Channel:
    """The channel of which these are the curves."""
    counts = curves.counts[numbers]
    own = rows_of(curves.bounds[numbers], counts)
    times, values = np.empty((4, len(own))), np.empty((4, len(own)))
    for axis, points in enumerate((times, values)):
        points[0], points[1] = curves.keys[:, axis][own], curves.right[:, axis][own]
        # After a bone's last key comes another bone's first: the segment between is not used.
        points[2:, -1:] = 0.0
        points[2, :-1], points[3, :-1] = curves.left[:, axis][own[1:]], points[0, 1:]
    with np.errstate(all="ignore"):  # numbers of broken files
        length = times[3] - times[0]
        even = np.abs(times[1] - times[0] - length / 3) <= EVEN * length
        even &= np.abs(times[2] - times[0] - length * (2 / 3)) <= EVEN * length
    return _Channel(np.cumsum(counts) - counts, times, values, curves.interpolation[own], even)


def _rows(channels: Sequence[_Channel], curves: Curves, frame: float) -> _Rows:
    """A row a time at which a channel of a bone has a key; times that Blender would make one are one."""
    bone, begin, place, outside = _shared_knots(curves, len(channels), frame)
    key, standing = np.empty(place.shape[::-1], np.intp), np.empty(place.shape[::-1], np.bool_)
    for axis, channel in enumerate(channels):
        np.add(place[:, axis], channel.begins[bone], out=key[axis])
        np.logical_or(outside[:, axis], channel.kinds[key[axis]] == Interpolation.CONSTANT, out=standing[axis])
    end = np.append(begin[1:], begin[-1])
    last = np.append(bone[1:] != bone[:-1], True)
    end[last] = begin[last]
    rows = _Rows(bone, key.T, standing.T, begin, end)
    rows.end = _before_leaps(channels, rows, frame)
    return rows


def _shared_knots(curves: Curves, width: int, frame: float) -> tuple[Indices, Floats, Indices, Flags]:
    """The bone (rows,) and time of each of its knots, and the `_places` (rows, channels) of its channels there.

    Nearly always all channels of a bone that have several keys have them at the same times, far enough apart: then the
    keys are the knots. Other bones are looked at one by one.
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
    same = np.append(np.diff(times) > MERGED * frame, True)
    same[begins[1:] - 1] = True
    for axis in range(width):
        compared = asked[:, axis] & shared
        own = np.where(compared, starts[:, axis], first)
        same &= curves.keys[own[bone] + number, 0] == times
    shared &= np.logical_and.reduceat(same, begins)
    place = np.where(several[bone], number[:, None], 0)
    outside = ~several[bone] | (number == knots[bone] - 1)[:, None]
    if shared.all():
        return bone, times, place, outside
    kept = shared[bone]
    columns = [(bone[kept], times[kept], place[kept], outside[kept])]
    for other in np.flatnonzero(~shared).tolist():
        own_curves = [curves[number] for number in range(width * other, width * (other + 1))]
        wanted = _knots(own_curves, frame)
        found = [_places(curve, wanted, frame) for curve in own_curves]
        columns.append(
            (
                np.full(len(wanted), other),
                wanted,
                np.stack([place for place, _ in found], axis=1),
                np.stack([outside for _, outside in found], axis=1),
            )
        )
    bone, times, place, outside = (np.concatenate(column) for column in zip(*columns, strict=True))
    order = np.argsort(bone, kind="stable")
    return bone[order], times[order], place[order], outside[order]


def _knots(curves: Sequence[Curve], frame: float) -> Floats:
    """The times of a bone's keys."""
    keyed = [curve.keys[:, 0] for curve in curves if curve.count > 1] or [curve.keys[:, 0] for curve in curves]
    times = np.unique(np.concatenate(keyed))
    apart: Floats = times[np.append(True, np.diff(times) > MERGED * frame)]
    return apart


def _places(curve: Curve, knots: Floats, frame: float) -> tuple[Indices, Flags]:
    """For each knot the last key at or before it, and whether it is before the first key or from the last one on."""
    last = curve.count - 1
    place = np.searchsorted(curve.keys[:, 0], knots + MERGED * frame, "right") - 1
    return np.clip(place, 0, last), (place < 0) | (place >= last)


def _before_leaps(channels: Sequence[_Channel], rows: _Rows, frame: float) -> Floats:
    """When each row ends: where the next begins, or just before it where one of several channels leaps there."""
    mixed = rows.still.any(axis=1) & ~rows.still.all(axis=1)
    if not mixed.any():
        return rows.end
    values = np.stack([control[0] for control in _controls(channels, rows)], axis=1)
    leaps = mixed & (rows.end > rows.begin)
    leaps[:-1] &= (rows.still[:-1] & (np.abs(np.diff(values, axis=0)) > EXACT)).any(axis=1)
    wide = rows.end - rows.begin > SPACING * frame
    shortened: Floats = np.where(leaps & wide, rows.end - NEAR * frame, rows.end)
    return shortened


@np.errstate(all="ignore")  # keys that stand still have no length; numbers of broken files
def _controls(channels: Sequence[_Channel], rows: _Rows) -> Floats:
    """(channels, 4, rows) the control values of each row's part of the segment it lies in, and for its whole time.

    Those of a row in which a channel stands still are all the same.
    """
    result = np.empty((len(channels), 4, len(rows.bone)))
    for channel, key, standing, values in zip(channels, rows.key.T, rows.still.T, result, strict=True):
        for own, control in zip(values, channel.values, strict=True):
            own[:] = control[key]
        values[1:, standing] = values[0, standing]
        line = np.flatnonzero(~standing & (channel.kinds[key] != Interpolation.BEZIER))
        third = (values[3, line] - values[0, line]) / 3
        values[1, line], values[2, line] = values[0, line] + third, values[3, line] - third
        start, end = channel.times[0, key], channel.times[3, key]
        part = np.flatnonzero(~standing & ((rows.begin != start) | (rows.end != end)))
        if len(part):
            reach = ((times[part] - start[part]) / (end - start)[part] for times in (rows.begin, rows.end))
            values[:, part] = _cut(values[:, part], *(np.clip(share, 0.0, 1.0) for share in reach))
    return result


def _cut(values: Floats, begin: Floats, end: Floats) -> Floats:
    """Control values (4, n) of cubics as those of their parts between the shares ``begin`` and ``end`` (n,)."""
    once, twice = (values[:3] + share * np.diff(values, axis=0) for share in (begin, end))
    first, last = (corner[:2] + share * np.diff(corner, axis=0) for corner, share in ((once, begin), (twice, end)))
    corners = (first, begin), (first, end), (last, begin), (last, end)
    return np.stack([corner[0] + share * (corner[1] - corner[0]) for corner, share in corners])


@np.errstate(all="ignore")
def _set_uneven(values: Floats, channels: Sequence[_Channel], rows: _Rows, shares: Floats) -> Flags:
    """Put what channels whose time runs unevenly say at ``shares`` into ``values`` (channels, samples, rows).

    Returns (rows,) where there is such a channel.
    """
    found: Flags = np.zeros(len(rows.bone), np.bool_)
    for axis, channel in enumerate(channels):
        key = rows.key[:, axis]
        uneven = np.flatnonzero(
            ~rows.still[:, axis] & (channel.kinds[key] == Interpolation.BEZIER) & ~channel.even[key]
        )
        if not len(uneven):
            continue
        times = rows.begin[uneven, None] + (rows.end - rows.begin)[uneven, None] * shares
        own = np.stack((channel.times[:, key[uneven]], channel.values[:, key[uneven]]), axis=-1).swapaxes(0, 1)
        inside = np.clip(times, own[:, :1, 0], own[:, 3:, 0])
        each = np.repeat(np.arange(len(uneven)), len(shares))
        said = segment_values(channel.kinds[key[uneven[each]]], own[each], inside.ravel())[0]
        values[axis, :, uneven] = said.reshape(inside.shape)
        found[uneven] = True
    return found


@dataclass
class _Look:
    """How pieces are measured: ``mapping`` of what the ``channels`` say at some of each piece's times.

    ``tolerance`` (m,) of the results. ``held``: channels that are all held from key to key need no looks between keys.
    """

    channels: Sequence[_Channel]
    mapping: Mapping
    aligned: Aligned
    tolerance: Floats
    held: bool

    def at(self, rows: _Rows, starts: Indices, first: Floats | None = None) -> _Pieces:
        """The pieces of ``rows``, which follow one another but for ``starts``, where results begin nearest to ``first``
        (runs, m) if that is given; all runs are of one length then.

        A few looks tell nearly all pieces that keep the tolerance, and those that are far from it. At others, and where
        so few might miss which way round something turns, there are many.
        """
        with np.errstate(all="ignore"):  # numbers of broken files; what comes of them is looked at later
            if self.held:
                return self._standing(rows, starts, first)
            pieces, rough = self._measured(rows, starts, first, _FEW)
            rough |= ((pieces.error > self.tolerance / DOUBT) & (pieces.error <= 2 * self.tolerance)).any(axis=1)
            pieces.error *= DOUBT
            doubtful = np.flatnonzero(rough)
            if len(doubtful):
                self._look_closely(pieces, doubtful, starts, first)
            return pieces

    def _look_closely(self, pieces: _Pieces, doubtful: Indices, starts: Indices, first: Floats | None) -> None:
        """Measure some of the rows at many times; if that finds another of several answers, their whole runs."""
        rows, before = pieces.rows, pieces.result[doubtful]
        closely, _ = self._measured(rows.of(doubtful), np.arange(len(doubtful)), before[:, 0], _MANY)
        pieces.put(doubtful, closely)
        other = (np.abs(closely.result - before) > EXACT).any(axis=(1, 2))
        if other.any():
            run = np.searchsorted(starts, np.arange(len(rows.bone)), "right") - 1
            runs = np.unique(run[doubtful[other]])
            again = np.flatnonzero(np.isin(run, runs))
            begin = None if first is None else first[runs]
            pieces.put(again, self._measured(rows.of(again), run_starts(run[again]), begin, _MANY)[0])

    def _measured(self, rows: _Rows, starts: Indices, first: Floats | None, fit: _Fit) -> tuple[_Pieces, Flags]:
        """Pieces by their samples, and (rows,) where few of these are too few."""
        controls = _controls(self.channels, rows)
        values = _bernstein(fit.shares).T @ controls
        rough = _set_uneven(values, self.channels, rows, fit.shares)
        rough |= (controls.max(axis=1) - controls.min(axis=1) > FAR).any(axis=0)
        result = self._mapped(values, rows, starts, first)
        held: Flags = np.asarray(rows.still.all(axis=1))
        error = np.abs(fit.missed @ result).max(axis=1).T
        error[held] = 0.0
        ends, inner = result[:, [0, -1]].transpose(2, 1, 0), (fit.inner @ result).transpose(2, 1, 0)
        return _Pieces(rows, ends, held, inner, np.nan_to_num(error, nan=0.0)), rough

    def _standing(self, rows: _Rows, starts: Indices, first: Floats | None) -> _Pieces:
        """Pieces in which nothing moves."""
        result = self._mapped(_controls(self.channels, rows)[:, :1], rows, starts, first)
        both = np.repeat(result, 2, axis=1).transpose(2, 1, 0)
        return _Pieces(rows, both, np.asarray(rows.still.all(axis=1)), both.copy(), np.zeros(both[:, 0].shape))

    def _mapped(self, values: Floats, rows: _Rows, starts: Indices, first: Floats | None) -> Floats:
        """(m, samples, rows) of what the channels say (channels, samples, rows)."""
        result = self.mapping(values.transpose(2, 1, 0), rows.bone, starts)
        if first is not None:
            result = self.aligned(result.reshape(len(starts), -1, result.shape[2]), first).reshape(result.shape)
        return np.ascontiguousarray(result.transpose(2, 1, 0))


def _halved(rows: _Rows) -> _Rows:
    """Two rows for each."""
    doubled = rows.of(np.repeat(np.arange(len(rows.bone)), 2))
    doubled.end[::2] = doubled.begin[1::2] = (rows.begin + rows.end) / 2
    return doubled


@dataclass
class _Keys:
    """A row a key of curves of bones: ``times`` of the key and its handles (rows,), ``values`` of these (rows, m)."""

    bone: Indices
    interpolation: NDArray[np.uint8]
    times: tuple[Floats, Floats, Floats]
    values: tuple[Floats, Floats, Floats]


def _keys_of(pieces: _Pieces) -> _Keys:
    """A key a piece, and one more where a piece ends just before the next begins."""
    begin, end, held, bone = pieces.rows.begin, pieces.rows.end, pieces.held, pieces.rows.bone
    value, third = pieces.result[:, 0], (end - begin) / 3
    right_time = np.where(held, begin, begin + third)
    right = np.where(held[:, None], value, pieces.inner[:, 0])
    left_time, left = begin.copy(), value.copy()
    joined = np.flatnonzero(~held[:-1] & (end[:-1] == begin[1:]))
    left_time[joined + 1], left[joined + 1] = (end - third)[joined], pieces.inner[joined, 1]
    interpolation = np.where(held, np.uint8(Interpolation.CONSTANT), np.uint8(Interpolation.BEZIER))
    interpolation[np.append(bone[1:] != bone[:-1], True)] = Interpolation.BEZIER
    leap = np.flatnonzero(~held[:-1] & (end[:-1] != begin[1:]))
    if not len(leap):
        return _Keys(bone, interpolation, (begin, left_time, right_time), (value, left, right))
    stop, behind = pieces.result[leap, -1], leap + 1
    return _Keys(
        np.insert(bone, behind, bone[leap]),
        np.insert(interpolation, behind, np.uint8(Interpolation.CONSTANT)),
        (
            np.insert(begin, behind, end[leap]),
            np.insert(left_time, behind, (end - third)[leap]),
            np.insert(right_time, behind, end[leap]),
        ),
        (
            np.insert(value, behind, stop, axis=0),
            np.insert(left, behind, pieces.inner[leap, 1], axis=0),
            np.insert(right, behind, stop, axis=0),
        ),
    )


def _as_curves(pieces: _Pieces, keys: Indices) -> CarriedBones:
    """The bones' curves; ``keys``: how many pieces each had before anything was halved."""
    rows = run_starts(pieces.rows.bone)
    worst = np.maximum.reduceat(pieces.error.max(axis=1), rows)
    exact = (np.diff(np.append(rows, len(pieces.held))) == keys) & (worst <= EXACT)
    made = _keys_of(pieces)
    starts = run_starts(made.bone)
    runs = Runs(starts, made.times, made.values, made.interpolation, flat_runs(made.values, starts))
    return CarriedBones(runs.curves(), exact)


def flat_runs(values: Sequence[Floats], starts: Indices) -> Flags:
    """(runs, m) which columns of (rows, m) ``values`` say the same from each of ``starts`` on, in more rows than one.

    The first rows of the first values say what.
    """
    first = values[0][starts]
    with np.errstate(invalid="ignore"):
        reach = FLAT * np.maximum(1.0, np.abs(first))
        flat = np.diff(np.append(starts, len(values[0])))[:, None] > np.ones(first.shape, np.intp)
        for part in values:
            flat &= np.maximum.reduceat(part, starts) - first <= reach
            flat &= first - np.minimum.reduceat(part, starts) <= reach
    return flat
