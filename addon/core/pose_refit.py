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
from .envelope.curve import rows_of, segment_values
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
INNER = 8
EVEN = 1e-9
"""Share of a segment by which control times may miss its thirds while its time still runs evenly."""
_SHARES = np.arange(INNER + 2) / (INNER + 1)
_ENDS = np.stack(((1 - _SHARES) ** 3, _SHARES**3), axis=1)
_FREE = np.stack((3 * (1 - _SHARES) ** 2 * _SHARES, 3 * (1 - _SHARES) * _SHARES**2), axis=1)
_SOLVED = np.linalg.pinv(_FREE[1:-1])


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
    """One channel of all bones, a row a key: the segment after it as a cubic, its kind, whether its time runs evenly.

    ``begins`` (bones,): where each bone's keys do.
    """

    begins: Indices
    points: Floats
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

    def put(self, where: Flags, others: _Pieces) -> None:
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
        single = np.repeat(self.flat.ravel(), keys)
        key, left, right = (
            np.stack((times[rows], values[rows, axis]), axis=1)
            for times, values in zip(self.times, self.values, strict=True)
        )
        left[single] = right[single] = key[single]
        constant = np.full(len(counts), int(Behaviour.CONSTANT))
        return Curves(
            key,
            left,
            right,
            np.where(single, np.uint8(Interpolation.BEZIER), self.interpolation[rows]),
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

        # Channels that are all held from key to key need no looks between the keys.
        shares = _SHARES[:1] if is_held else _SHARES
        taken = curves if len(chosen) * width == len(curves) else curves.take(of_bones(chosen, width))
        channels = [_channel(taken.take(np.arange(axis, len(taken), width))) for axis in range(width)]
        look = _Look(channels, numbered, shares, aligned)
        parts.append((chosen, _carried(taken, look, frame=frame, tolerance=tolerance)))
    return CarriedBones.in_order(parts)


def _with_keys(curves: Sequence[Curve]) -> list[Curve]:
    """Channels without keys stand at 0."""
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


def _channel(curves: Curves) -> _Channel:
    keys, left, right = curves.keys, curves.left, curves.right
    # After a bone's last key comes another bone's first: nobody asks for the segment between.
    points = np.stack((keys, right, np.roll(left, -1, axis=0), np.roll(keys, -1, axis=0)), axis=1)
    with np.errstate(all="ignore"):  # numbers of broken files
        length = points[:, 3, 0] - points[:, 0, 0]
        off = np.abs(points[:, 1:3, 0] - points[:, :1, 0] - length[:, None] * np.array([1 / 3, 2 / 3])).max(axis=1)
        even = off <= EVEN * length
    return _Channel(curves.bounds[:-1], points, curves.interpolation, even)


def _rows(channels: Sequence[_Channel], curves: Curves, frame: float) -> _Rows:
    """A row a time at which a channel of a bone has a key; times that Blender would make one are one."""
    bone, begin, place, outside = _shared_knots(curves, len(channels), frame)
    key = place + np.stack([channel.begins for channel in channels], axis=1)[bone]
    standing = [
        outside[:, axis] | (channel.kinds[key[:, axis]] == Interpolation.CONSTANT)
        for axis, channel in enumerate(channels)
    ]
    end = np.append(begin[1:], begin[-1])
    last = np.append(bone[1:] != bone[:-1], True)
    end[last] = begin[last]
    rows = _Rows(bone, key, np.stack(standing, axis=1), begin, end)
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
    values = _values(channels, rows, _SHARES[:1])[:, 0]
    leaps = mixed & (rows.end > rows.begin)
    leaps[:-1] &= (rows.still[:-1] & (np.abs(np.diff(values, axis=0)) > EXACT)).any(axis=1)
    wide = rows.end - rows.begin > SPACING * frame
    shortened: Floats = np.where(leaps & wide, rows.end - NEAR * frame, rows.end)
    return shortened


@np.errstate(all="ignore")  # keys that stand still have no length; numbers of broken files
def _values(channels: Sequence[_Channel], rows: _Rows, shares: Floats) -> Floats:
    """(rows, samples, channels) what the channels say at ``shares`` (samples,) of each row's time."""
    result = np.empty((len(rows.bone), len(shares), len(channels)))
    basis = np.stack([math.comb(3, power) * (1 - shares) ** (3 - power) * shares**power for power in range(4)])
    for axis, channel in enumerate(channels):
        key, moving = rows.key[:, axis], ~rows.still[:, axis]
        points, kinds = channel.points.take(key, axis=0), channel.kinds[key]
        values = np.where(moving[:, None], points[..., 1], points[:, :1, 1])
        line = np.flatnonzero(moving & (kinds != Interpolation.BEZIER))
        third = (values[line, 3] - values[line, 0]) / 3
        values[line, 1], values[line, 2] = values[line, 0] + third, values[line, 3] - third
        start, end = points[:, 0, 0], points[:, 3, 0]
        part = np.flatnonzero(moving & ((rows.begin != start) | (rows.end != end)))
        reach = ((times[part] - start[part]) / (end - start)[part] for times in (rows.begin, rows.end))
        values[part] = _cut(values[part], *(np.clip(share, 0.0, 1.0)[:, None] for share in reach))
        result[:, :, axis] = values @ basis
        uneven = np.flatnonzero(moving & (kinds == Interpolation.BEZIER) & ~channel.even[key])
        if len(uneven):
            times = rows.begin[uneven, None] + (rows.end - rows.begin)[uneven, None] * shares
            inside = np.clip(times, points[uneven, :1, 0], points[uneven, 3:, 0])
            each = np.repeat(uneven, len(shares))
            found = segment_values(kinds[each], points[each], inside.ravel())[0]
            result[uneven, :, axis] = found.reshape(inside.shape)
    return result


def _cut(values: Floats, begin: Floats, end: Floats) -> Floats:
    """Control values (n, 4) of cubics as those of their parts between the shares ``begin`` and ``end`` (n, 1)."""
    once, twice = (values[:, :3] + share * np.diff(values, axis=1) for share in (begin, end))
    first, last = (corner[:, :2] + share * np.diff(corner, axis=1) for corner, share in ((once, begin), (twice, end)))
    corners = (first, begin), (first, end), (last, begin), (last, end)
    return np.concatenate([corner[:, :1] + share * np.diff(corner, axis=1) for corner, share in corners], axis=1)


@dataclass
class _Look:
    """How pieces are measured: ``mapping`` of what the ``channels`` say at ``shares`` of each piece's time."""

    channels: Sequence[_Channel]
    mapping: Mapping
    shares: Floats
    aligned: Aligned

    def at(self, rows: _Rows, starts: Indices, first: Floats | None = None) -> _Pieces:
        """The pieces of ``rows``, which follow one another but for ``starts``, where results begin nearest to ``first``
        (runs, m) if that is given; all runs are of one length then.
        """
        held: Flags = np.asarray(rows.still.all(axis=1))
        with np.errstate(all="ignore"):  # numbers of broken files; what comes of them is looked at later
            result = self.mapping(_values(self.channels, rows, self.shares), rows.bone, starts)
            count, samples, width = result.shape
            if first is not None:
                result = self.aligned(result.reshape(len(starts), -1, width), first).reshape(result.shape)
            if samples == 1:
                doubled = np.repeat(result, 2, axis=1)
                return _Pieces(rows, doubled, held, doubled.copy(), np.zeros((count, width)))
            flat = np.ascontiguousarray(result.transpose(1, 0, 2)).reshape(samples, -1)
            ends = flat[[0, -1]]
            line = np.stack((ends[0] + (ends[1] - ends[0]) / 3, ends[1] - (ends[1] - ends[0]) / 3))
            wanted = (flat - _ENDS @ ends)[1:-1] - _FREE[1:-1] @ line
            offset = _SOLVED @ wanted
            error = np.abs(_FREE[1:-1] @ offset - wanted).max(axis=0).reshape(count, width)
        error[held] = 0.0
        inner = (line + offset).reshape(2, count, width).transpose(1, 0, 2)
        return _Pieces(rows, result[:, [0, -1]], held, inner, np.nan_to_num(error, nan=0.0))


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
