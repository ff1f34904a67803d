"""Conversion of an envelope to a curve that a Blender F-curve draws exactly as the game evaluates it.

Usually this is the envelope key by key, each segment with its own Bezier handles. Segments that an F-curve cannot hold
are cut, without changing the polynomial:

- Blender shortens a handle that is longer than its segment: such a segment is halved until no handle is too long.
- Blender keeps handles on their own side of their keys, games do not. Only the part of such a cubic between the two
  keys is ever evaluated, so that part is cut out; its handles point inwards.
- A cubic whose time runs backwards has several values at one time, of which the game's search finds one. The value
  jumps, and the two parts that the search finds are shown.
- Blender sorts keys and merges near ones; a file may have several keys at one time, or one out of order, where the
  game's value jumps. The value before the jump is held by one key, and the curve after it begins at another key 0.02
  frames later. If the first key of the file is later than the second, the engine is already past the jump at that time:
  then the curve begins at that time, and the value before it ends 0.02 frames earlier.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from .curve import (
    Curve,
    Curves,
    Interpolation,
    control_points,
    empty_curve,
    folds_back,
    halved,
    in_columns,
    part_of,
    rows_of,
    segment_values,
)
from .evaluation import Behaviour, Envelope, Envelopes, Floats, outer_slopes, segment_ends, solution_jumps, tangents

JUMP_GAP = 0.02
"""Frames between the two keys of a jump. Blender merges keys that are less than 0.01 apart."""
MIN_SPACING = 3 * JUMP_GAP
"""Minimum distance in frames between keys of the file that are shown as keys: a jump at either end must fit between
them.
"""
EQUAL_VALUES = 4e-5
"""Fraction of the envelope's range of values; two values that differ by less count as equal. Handles that quantisation
moved past their keys, by half a millisecond, cause jumps of 2e-5, which are not worth a key; the game's own search
is a hundred times less exact.
"""
MAX_HALVINGS = 10
"""How often a segment is halved at most."""
MIN_OUTER_HANDLE = 10.0
"""Minimum length in frames of the outer handles."""

_LINEAR = int(Behaviour.LINEAR)

Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]


@dataclass
class Display:
    """An envelope as a curve, with the origin of its keys.

    For each key of ``curve``: ``base_key``: the envelope's key it is, -1 if none; ``segment``: the envelope's segment
    after it (also where a value is held before or after a jump), -1 after the last key; ``exact``: whether that segment
    is shown whole, from key to key. ``folded``: number of segments whose time runs backwards, which an F-curve cannot
    draw.
    """

    curve: Curve
    base_key: Indices
    segment: Indices
    exact: Flags
    folded: int = 0
    cut: bool = False
    """Whether the keys differ from those of the envelope because segments were cut."""

    @property
    def added(self) -> int:
        """Number of keys that the envelope does not have."""
        return int((self.base_key < 0).sum())

    def hidden(self, envelope: Envelope) -> int:
        """Return the number of the envelope's keys that are not shown as keys."""
        return envelope.count - int((self.base_key >= 0).sum())


@dataclass
class Displays:
    """Several `Display` with concatenated keys: ``curves``, and for each key what `Display` has of it. Indices of keys
    and segments count through all envelopes.
    """

    curves: Curves
    base_key: Indices
    segment: Indices
    exact: Flags

    @classmethod
    def of(cls, curves: Curves, changed: dict[int, Display], bounds: Indices) -> Displays:
        """Return the result of `displayed` for envelopes with these ``bounds``."""
        base_key = rows_of(bounds[:-1], curves.counts)
        segment = base_key.copy()
        segment[curves.ends[2]] = -1
        exact = segment >= 0
        for number, drawn in changed.items():
            part, start = slice(*curves.bounds[number : number + 2]), bounds[number]
            base_key[part] = np.where(drawn.base_key < 0, -1, drawn.base_key + start)
            segment[part] = np.where(drawn.segment < 0, -1, drawn.segment + start)
            exact[part] = drawn.exact
        return cls(curves, base_key, segment, exact)

    @property
    def is_cut(self) -> bool:
        """Whether a segment is not `Display.exact`."""
        return bool((~self.exact & (self.segment >= 0)).any())


@dataclass
class _PlayedSegments:
    """Segments that the game evaluates during some time, sorted by envelope: index of their envelope (``owner``), index
    of the segment in it, interpolation, control points, and the times ``begin`` and ``end`` in seconds.
    """

    owner: Indices
    segment: Indices
    kinds: NDArray[np.uint8]
    points: Floats
    begin: Floats
    end: Floats


@dataclass
class _Cubics:
    """Cubics to be shown, in order of time: ``points`` (n, 4, 2), ``kinds``, and the ``segment`` each is a part of.

    ``owner`` as in `_PlayedSegments`; ``jump_before`` and ``jump_after``: whether the value jumps there.
    """

    owner: Indices
    points: Floats
    kinds: NDArray[np.uint8]
    segment: Indices
    jump_before: Flags
    jump_after: Flags

    def of(self, rows: Indices | slice) -> _Cubics:
        """Return the rows at these indices (as copies) or in this slice."""
        return _Cubics(*(getattr(self, field.name)[rows] for field in fields(self)))


def display(envelope: Envelope, frame: float) -> Display:
    """Return an envelope of finite values as a curve; ``frame``: seconds per frame."""
    return each_display(*displayed(Envelopes.of([envelope]), frame))[0]


def each_display(curves: Curves, changed: dict[int, Display]) -> list[Display]:
    """Return the `display` of each envelope, from the result of `displayed` for all of them."""
    numbers = np.arange(curves.counts.max(initial=0))
    return [
        changed[number] if number in changed else _uncut_display(curves.numbered(number), numbers)
        for number in range(len(curves))
    ]


def displayed(envelopes: Envelopes, frame: float) -> tuple[Curves, dict[int, Display]]:
    """Return the curve of each envelope's `display`, and the displays, by index of the envelope, in which a segment is
    not `Display.exact`.
    """
    joined, counts = envelopes.keys, np.diff(envelopes.bounds)
    keyed = np.flatnonzero(counts)
    starts, ends = envelopes.bounds[keyed], envelopes.bounds[keyed + 1] - 1
    breaks = ends[:-1]
    with np.errstate(all="ignore"):  # values in broken files may overflow
        if not len(keyed):
            return Curves.of([empty_curve(envelope.before, envelope.after) for envelope in envelopes]), {}
        slopes = tangents(joined, breaks)
        kinds, points = control_points(joined, slopes)
        drawable = np.append(_are_drawable(kinds, points, frame), True)
        drawable[breaks] = True
        not_drawn = np.flatnonzero(~np.logical_and.reduceat(drawable, starts))
        whole = _uncut_curve(joined, kinds, points, breaks)
        outer = outer_slopes(joined, slopes, starts, ends)
        _point_outwards(whole, starts, ends, outer, frame)
        columns = whole.keys, whole.left, whole.right, whole.interpolation
        curves = Curves(*columns, envelopes.bounds, envelopes.before, envelopes.after)
        changed = _cut_where_needed(envelopes, keyed[not_drawn], kinds, points, frame)
        for number, slope in zip(changed, outer[not_drawn], strict=True):
            drawn = changed[number]
            last = np.array([drawn.curve.count - 1])
            _point_outwards(drawn.curve, np.zeros(1, np.intp), last, slope[None], frame)
            drawn.curve.source = np.arange(drawn.curve.count, dtype=np.int32)
        behaves = (envelopes.before[keyed] == Behaviour.LINEAR) | (envelopes.after[keyed] == Behaviour.LINEAR)
        for row in np.flatnonzero(behaves).tolist():
            number = int(keyed[row])
            drawn = (
                changed[number]
                if number in changed
                else _uncut_display(curves.numbered(number), np.arange(counts[number]))
            )
            _free_first_handle(drawn, float(outer[row, 0]))
            if not drawn.exact[:-1].all():
                changed[number] = drawn
    if any(curve_display.cut for curve_display in changed.values()):
        order = np.arange(len(envelopes))
        order[list(changed)] = len(envelopes) + np.arange(len(changed))
        curves = Curves.joined([curves, Curves.of([curve_display.curve for curve_display in changed.values()])]).take(
            order
        )
    return curves, changed


def _cut_where_needed(
    envelopes: Envelopes, numbers: Indices, kinds: NDArray[np.uint8], points: Floats, frame: float
) -> dict[int, Display]:
    """Return the displays, by index, of the envelopes at the indices ``numbers``, whose segments must be cut."""
    if not len(numbers):
        return {}
    counts = np.diff(envelopes.bounds)[numbers]
    inside = rows_of(envelopes.bounds[numbers], counts - 1)
    cut = _cut([envelopes[number] for number in numbers.tolist()], kinds[inside], points[inside], frame)
    return dict(zip(numbers.tolist(), cut, strict=True))


def _uncut_curve(joined: Envelope, kinds: NDArray[np.uint8], points: Floats, breaks: Indices) -> Curve:
    """Return a curve with the keys of ``joined`` and the handles of the segments on both sides of each."""
    key, left, right = (in_columns(joined.times, joined.values) for _ in range(3))
    interpolation = np.append(kinds, np.uint8(Interpolation.BEZIER))
    interpolation[breaks] = Interpolation.BEZIER
    right[:-1], left[1:] = points[:, 1], points[:, 2]
    return Curve(key, left, right, interpolation)


def _uncut_display(curve: Curve, numbers: Indices) -> Display:
    """Return the display of an envelope that needs no cuts; ``numbers``: 0, 1, ... for at least as many keys."""
    everything = numbers[: curve.count]
    segment = everything.copy()
    segment[-1:] = -1
    return Display(curve, everything, segment, segment >= 0)


def _are_drawable(kinds: NDArray[np.uint8], points: Floats, frame: float) -> Flags:
    """Return whether an F-curve can draw each segment without cuts."""
    times = points[:, :, 0]
    start, end = times[:, 0], times[:, 3]
    inwards = (times[:, 1] >= start) & (times[:, 2] <= end) & (times[:, 1] <= end) & (times[:, 2] >= start)
    return np.asarray((end - start >= MIN_SPACING * frame) & (inwards | (kinds != Interpolation.BEZIER)))


def _point_outwards(curve: Curve, starts: Indices, ends: Indices, slopes: Floats, frame: float) -> None:
    """Set the outer handles of concatenated curves to the ``slopes`` (curves, 2) with which a linear extrapolation
    continues.
    """
    keys = curve.keys
    slopes = np.where(np.isfinite(slopes), slopes, 0.0)
    several = ends > starts
    for handles, index, segment, slope, away in (
        (curve.left, starts, starts, slopes[:, 0], -1.0),
        (curve.right, ends, ends - 1, slopes[:, 1], 1.0),
    ):
        segment = np.where(several, segment, 0)
        length = np.where(several, keys[np.minimum(segment + 1, curve.count - 1), 0] - keys[segment, 0], 0.0)
        # Any length gives the same slope; a 32-bit float stores the slope of a long handle more exactly.
        handle_length = away * np.maximum(MIN_OUTER_HANDLE * frame, length / 3)
        handles[index, 0], handles[index, 1] = keys[index, 0] + handle_length, keys[index, 1] + handle_length * slope


def _free_first_handle(drawn: Display, slope: float) -> None:
    """Make a straight first segment a Bezier one on the same line if the extrapolation before it has another slope.

    An F-curve is extrapolated before a linear segment along that segment, and before a Bezier segment along the left
    handle of the first key.
    """
    curve = drawn.curve
    if _LINEAR not in {curve.before, curve.after} or curve.count < 2:
        return
    if curve.interpolation[0] != Interpolation.LINEAR:
        return
    (start, first), (end, last) = curve.keys[:2]
    goes_on = curve.before == Behaviour.LINEAR and slope != (last - first) / (end - start)
    if goes_on or (curve.before in (Behaviour.CONSTANT, Behaviour.RESET) and curve.after == Behaviour.LINEAR):
        curve.interpolation[0] = Interpolation.BEZIER
        drawn.exact[0] = False


def _cut(envelopes: Sequence[Envelope], kinds: NDArray[np.uint8], points: Floats, frame: float) -> list[Display]:
    """Return the displays of envelopes that an F-curve cannot draw as they are; ``kinds`` and ``points`` of their
    segments, concatenated.
    """
    firsts = np.cumsum([0, *(envelope.count - 1 for envelope in envelopes)])
    ranges = [_when_played(envelope.times, MIN_SPACING * frame) for envelope in envelopes]
    owner = np.repeat(np.arange(len(envelopes)), [len(own_samples) for own_samples, _, _ in ranges])
    samples, begin, end = (np.concatenate(column) for column in zip(*ranges, strict=True))
    rows = samples + firsts[owner]
    played = _divided_at_folds(
        _PlayedSegments(owner, samples, kinds[rows], points[rows], begin, end), MIN_SPACING * frame
    )
    cubics = _played_parts(envelopes, played, JUMP_GAP * frame)
    times = cubics.points[:, :, 0]
    cubic = cubics.kinds == Interpolation.BEZIER
    folded = cubic & folds_back(times)
    number_folded = np.bincount(cubics.owner[folded], minlength=len(envelopes)).tolist()
    # A handle that is past its key by a rounding error is put on the key. So are those of cubics that run backwards,
    # which an F-curve cannot draw anyway.
    inwards = np.clip(times[:, 1:3], times[:, :1], times[:, 3:])
    slack = 1e-7 * (times[:, 3:] - times[:, :1])
    beside = (inwards != times[:, 1:3]) & ((np.abs(inwards - times[:, 1:3]) < slack) | folded[:, None])
    cubics.points[:, 1:3, 0] = np.where(beside & cubic[:, None], inwards, times[:, 1:3])
    cubics = _halved_where_long(cubics, JUMP_GAP * frame)
    bounds = np.searchsorted(cubics.owner, np.arange(len(envelopes) + 1))
    result = []
    for number, envelope in enumerate(envelopes):
        own, own_points = cubics.of(slice(*bounds[number : number + 2])), points[firsts[number] : firsts[number + 1]]
        piece = _with_end(envelope, _joined(envelope, own, own_points, JUMP_GAP * frame), JUMP_GAP * frame)
        piece.folded, piece.cut = number_folded[number], True
        result.append(piece)
    return result


def _when_played(times: Floats, spacing: float) -> tuple[Indices, Floats, Floats]:
    """Return the indices of the segments that the game evaluates, and their begin and end times; ends are at least
    ``spacing`` seconds apart.

    The segment that ends at a key is evaluated from the latest time of all keys before it (`evaluation.segment_ends`)
    to its own key, or to the time of the file's last key, where the animation ends.
    """
    begin, end = np.maximum.accumulate(times)[:-1], np.minimum(times[1:], times[-1])
    kept = np.flatnonzero(end > begin)
    # Of keys that are too close to each other the last one stays: counted from the end, one in each bin of this width,
    # and of two in neighbouring bins that are still too close the later one.
    if len(kept):
        bins = np.floor((end[kept[-1]] - end[kept]) / spacing)
        kept = kept[np.append(bins[:-1] != bins[1:], True)]
        kept = kept[np.append(np.diff(end[kept]) >= spacing, True)]
        kept = kept[end[kept] - times[0] >= spacing]
    return kept, begin[kept], end[kept]


def _divided_at_folds(played: _PlayedSegments, spacing: float) -> _PlayedSegments:
    """Divide segments whose time runs backwards in their middle in two: before and after the engine's solution jumps.

    The slope of time is A·u² + 2(b - a)·u + a; if A > 0 it is negative between its roots. The solution of a bisection
    is never between them and never decreases with time, so it jumps once over the middle between them.
    """
    points, begin, end = played.points, played.begin, played.end
    a, b, c = (points[:, index + 1, 0] - points[:, index, 0] for index in range(3))
    bend = a - 2 * b + c
    root = np.sqrt(np.maximum((b - a) ** 2 - bend * a, 0))
    with np.errstate(all="ignore"):
        middle = (a - b) / bend
        inside = (bend > 0) & (root > 0) & (middle - root / bend > 0) & (middle + root / bend < 1)
    folding = np.flatnonzero(inside & (played.kinds == Interpolation.BEZIER))
    if not len(folding):
        return played
    times, over = points[folding, :, 0], middle[folding]
    low, high = solution_jumps(times, over, begin[folding], end[folding])
    early, late = low - begin[folding] < spacing, end[folding] - low < spacing
    # A part too short to be shown is left out.
    begin[folding[early]], end[folding[late & ~early]] = high[early], low[late & ~early]
    fits = ~early & ~late
    folding, low, high = folding[fits], low[fits], high[fits]
    return _PlayedSegments(
        np.insert(played.owner, folding, played.owner[folding]),
        np.insert(played.segment, folding, played.segment[folding]),
        np.insert(played.kinds, folding, played.kinds[folding]),
        np.insert(points, folding, points[folding], axis=0),
        np.insert(begin, folding + 1, high),
        np.insert(end, folding, low),
    )


def _played_parts(envelopes: Sequence[Envelope], played: _PlayedSegments, near: float) -> _Cubics:
    """Return the part of each segment that the game evaluates, and where values jump."""
    owner, kinds, points, begin, end = played.owner, played.kinds, played.points, played.begin, played.end
    firsts = np.searchsorted(owner, np.arange(len(envelopes) + 1))
    first_rows = firsts[:-1][np.diff(firsts) > 0]
    played_ones = [envelopes[number] for number in owner[first_rows].tolist()]
    same = np.array([_value_tolerance(envelope.values) for envelope in envelopes])[owner]
    ends = played.segment + np.cumsum([0, *(envelope.count for envelope in envelopes)])[owner] + 1
    key_times = np.concatenate([envelope.times for envelope in envelopes])
    key_values = np.concatenate([envelope.values for envelope in envelopes])
    own_end = end == key_times[ends]
    both = np.concatenate((kinds, kinds)), np.concatenate((points, points)), np.concatenate((end, begin))
    (last, first), (u1, u0) = (np.split(segment_value, 2) for segment_value in segment_values(*both))
    finish = np.where(own_end, key_values[ends], last)
    before_time, before = np.roll(end, 1), np.roll(finish, 1)
    before_time[first_rows] = [envelope.times[0] for envelope in played_ones]
    before[first_rows] = [envelope.values[0] for envelope in played_ones]
    jump_before = (begin > before_time) | (np.abs(first - before) > same)
    gap = np.full(len(begin), near)
    segments = played.segment[first_rows].tolist()
    past = [_past_first_key(envelope, segment) for envelope, segment in zip(played_ones, segments, strict=True)]
    gap[first_rows] = np.where(past, 0.0, near)
    begin = np.where(jump_before, np.minimum(np.maximum(begin, before_time + gap), end - 2 * near), begin)
    jump_after = own_end & (kinds != Interpolation.CONSTANT) & (np.abs(last - finish) > same)
    end = np.where(jump_after, end - near, end)
    moved, times = np.concatenate((jump_before, jump_after)), np.concatenate((begin, end))
    values, indices = np.concatenate((first, last)), np.concatenate((u0, u1))
    values[moved], indices[moved] = segment_values(both[0][moved], both[1][moved], times[moved])
    (first, last), (u0, u1) = np.split(values, 2), np.split(indices, 2)
    parts = part_of(points, u0, u1)
    start_point = np.stack((begin, np.where(jump_before, first, before)), axis=1)
    end_point = np.stack((end, np.where(jump_after, last, finish)), axis=1)
    straight = kinds != Interpolation.BEZIER
    third = (end_point - start_point) / 3
    parts[straight, 1], parts[straight, 2] = (start_point + third)[straight], (end_point - third)[straight]
    parts[:, 0], parts[:, 3] = start_point, end_point
    return _Cubics(owner, parts, kinds, played.segment, jump_before, jump_after)


def _value_tolerance(values: Floats) -> float:
    """Return the largest difference between two values of an envelope that count as equal."""
    return float(EQUAL_VALUES * np.ptp(values) + 4 * np.spacing(np.abs(values).max().astype(np.float32)))


def _past_first_key(envelope: Envelope, first_played: int) -> bool:
    """Return whether at the time of the file's first key the engine already evaluates the first segment that is shown.

    It searches for the end of a segment from the second key on: a first key that is later than the second is never
    found.
    """
    if envelope.before != Behaviour.CONSTANT or envelope.times[1] >= envelope.times[0]:
        return False
    return bool(segment_ends(envelope, envelope.times[:1])[0] - 1 == first_played)


def _halved_where_long(cubics: _Cubics, shortest: float) -> _Cubics:
    """Halve every cubic that has a handle longer than itself, repeatedly."""
    for _ in range(MAX_HALVINGS):
        times = cubics.points[:, :, 0]
        length = times[:, 3] - times[:, 0]
        handle_length = np.maximum(times[:, 1] - times[:, 0], times[:, 3] - times[:, 2])
        long = (cubics.kinds == Interpolation.BEZIER) & (handle_length > length * (1 + 1e-9)) & (length > 2 * shortest)
        if not long.any():
            break
        left, right = halved(cubics.points[long])
        fits = (left[:, 3, 0] - left[:, 0, 0] > shortest) & (right[:, 3, 0] - right[:, 0, 0] > shortest)
        long[np.flatnonzero(long)[~fits]] = False
        if not long.any():
            break
        left, right = left[fits], right[fits]
        first, second = np.cumsum(1 + long) - 1 - long, np.cumsum(1 + long) - 1
        doubled = cubics.of(np.repeat(np.arange(len(long)), 1 + long))
        doubled.points[first[long]], doubled.points[second[long]] = left, right
        doubled.jump_before[second[long]], doubled.jump_after[first[long]] = False, False
        cubics = doubled
    return cubics


def _joined(envelope: Envelope, cubics: _Cubics, points: Floats, near: float) -> Display:
    """Convert cubics to keys: the first key of the file, the end of each cubic, and both sides of every jump."""
    count = len(cubics.segment)
    # If the value jumps at the time of the first key, that key is moved to an earlier time.
    early = near if cubics.jump_before[:1].any() and cubics.points[0, 0, 0] <= envelope.times[0] else 0.0
    number = np.arange(count)
    last_of_segment = np.append(cubics.segment[:-1] != cubics.segment[1:], True)[:count]
    ends_on_key = last_of_segment & (envelope.times[cubics.segment + 1] == cubics.points[:, 3, 0])
    end_key = np.where(ends_on_key, cubics.segment + 1, -1)
    jumps, landings = np.flatnonzero(cubics.jump_before), np.flatnonzero(cubics.jump_after)
    after = cubics.segment[landings] + 1
    rank = np.concatenate(([-1.0], number + 0.5, number[jumps].astype(np.float64), landings + 0.75))
    keys = np.concatenate(
        (
            [[envelope.times[0] - early, envelope.values[0]]],
            cubics.points[:, 3],
            cubics.points[jumps, 0],
            np.stack((envelope.times[after], envelope.values[after]), axis=1),
        )
    )
    base_key = np.concatenate(([0], end_key, np.full(len(jumps), -1), after))
    order = np.argsort(rank, kind="stable")
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    keys, base_key = keys[order], base_key[order]
    ends = position[1 : count + 1]
    curve = Curve(keys, keys.copy(), keys.copy(), np.zeros(len(keys), np.uint8), envelope.before, envelope.after)
    segment = np.full(len(keys), -1)
    curve.interpolation[ends - 1], segment[ends - 1] = cubics.kinds, cubics.segment
    curve.right[ends - 1], curve.left[ends] = cubics.points[:, 1], cubics.points[:, 2]
    # A value held before a jump belongs to the segment after it, one held after a jump to the segment before it.
    segment[position[count + 1 : count + 1 + len(jumps)] - 1] = cubics.segment[jumps]
    segment[ends[landings]] = cubics.segment[landings]
    whole = (cubics.points == points[cubics.segment]).all(axis=(1, 2)) & ends_on_key
    exact = np.zeros(len(keys), np.bool_)
    exact[ends - 1] = whole & (base_key[ends - 1] == cubics.segment)
    return Display(curve, base_key, segment, exact)


def _with_end(envelope: Envelope, drawn: Display, near: float) -> Display:
    """If the file's last key is not the last one shown, add a key with its value, which is held from there on."""
    curve = drawn.curve
    if drawn.base_key[-1] == envelope.count - 1 or curve.keys[-1, 1] == envelope.values[-1]:
        curve.interpolation[-1] = Interpolation.BEZIER
        return drawn
    key = np.array([[curve.keys[-1, 0] + near, envelope.values[-1]]])
    drawn.curve = Curve(
        np.concatenate((curve.keys, key)),
        np.concatenate((curve.left, key)),
        np.concatenate((curve.right, key)),
        np.append(curve.interpolation, np.uint8(Interpolation.BEZIER)),
        curve.before,
        curve.after,
    )
    drawn.base_key, drawn.exact = np.append(drawn.base_key, -1), np.append(drawn.exact, False)
    drawn.segment = np.append(drawn.segment, -1)
    drawn.segment[-2] = envelope.count - 2
    return drawn
