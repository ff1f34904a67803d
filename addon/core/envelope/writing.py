"""Conversion of a curve to keys of the game, starting from the keys it was imported from.

The game stores one shape per key, which defines the segment *before* it, while the handle after it is read from the
same key: the shape of one key decides how the neighbour's handle is read. The resulting rules:

- A key keeps its shape, tensions and parameters if the segment before it still is of that kind, and if the tangents
  that the game will compute for it from its present neighbours are those of the curve.
- Any other end of a Bezier segment becomes a Bezier 2D key. Then the key before it must store its handle too: a Bezier
  2D key in its parameters 2 and 3, any other key (a TCB key for example) in its parameter 1, which the game reads as
  three times the rise of a handle that is a third of the segment long. If the handle has another length, that key
  becomes Bezier 2D too.
- A linear segment before a Bezier segment is written as a Bezier 2D segment with both handles on the line, at thirds. A
  stepped key that cannot store a parameter is followed by a Bezier 2D key at the same time: of two keys at one time the
  game uses the first up to that time and the second from then on.

Steps: which keys of an edited curve still are keys of the envelope (`match`), what the keys must represent (`plan`),
the keys (`keys_of_curve`), and how far they differ from the curve (`losses`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import quantum
from .curve import Curve, Interpolation, control_points, segment_values
from .display import MIN_SPACING, Display
from .evaluation import Behaviour, Envelope, Floats, Shape, extrapolation_slopes, segment_ends, tangents

HANDLE_CLAMP = 0.0015
"""Frames by which Blender moves a handle away from its key if both are at the same time."""

Flags = NDArray[np.bool_]
UNPLAYED = 3
"""Kind, in addition to `Interpolation`, of a segment that the game never evaluates because no time falls into it."""
UNDECIDED = 255
"""Shape of a key whose shape is not decided yet."""
SAMPLES = 8
"""Samples per segment at which the stored envelope is compared with the curve."""
_BEZIER = np.uint8(Interpolation.BEZIER)


# ---- matching the keys of an edited curve with those of the envelope


@dataclass
class Match:
    """For each key of a curve: the key of the shown curve it corresponds to (``indices``, -1 for none), and which of
    its values are unchanged.

    Handles that no segment and no extrapolation uses count as unchanged; new keys have nothing unchanged.
    ``interpolation`` refers to the segment after the key.
    """

    indices: NDArray[np.intp]
    key: Flags
    left: Flags
    right: Flags
    interpolation: Flags


def match(curve: Curve, display: Display, frame: float) -> Match:
    """Compare a curve with the curve that an envelope was shown as. Keys are matched by ``Curve.source``, or else by
    time.
    """
    indices = _matching_keys(curve, display.curve, frame)
    is_matched = indices >= 0
    if not is_matched.any():
        nothing = np.zeros(curve.count, np.bool_)
        return Match(indices, nothing, nothing, nothing, nothing)
    old = display.curve
    cubic = old.interpolation == _BEZIER
    free_right, free_left = np.empty(old.count, np.bool_), np.empty(old.count, np.bool_)
    np.logical_not(cubic[:-1], out=free_right[:-1])
    free_left[1:] = free_right[:-1]
    free_left[0], free_right[-1] = old.before != Behaviour.LINEAR, old.after != Behaviour.LINEAR
    key, left, right = _same(curve, old, indices, HANDLE_CLAMP * frame)
    return Match(
        indices,
        is_matched & key,
        is_matched & (left | free_left[indices]),
        is_matched & (right | free_right[indices]),
        is_matched & ((curve.interpolation == old.interpolation[indices]) | (indices == old.count - 1)),
    )


def unchanged(curve: Curve, display: Display, frame: float, matched: Match | None = None) -> bool:
    """Return whether a curve is the one that the envelope was shown as; ``matched``: the result of `match`, if already
    known.
    """
    old = display.curve
    if curve.count != old.count or curve.before != old.before or curve.after != old.after:
        return False
    if curve.keys is old.keys:
        return True
    if matched is None:
        matched = match(curve, display, frame)
    in_place = matched.indices == np.arange(curve.count)
    return bool((in_place & matched.key & matched.left & matched.right & matched.interpolation).all())


def _same(curve: Curve, old: Curve, indices: NDArray[np.intp], slack: float) -> NDArray[np.bool_]:
    """(3, keys): whether keys, left handles and right handles equal those of the old curve within float32 precision.

    The time of a handle may differ by ``slack`` if it was no further than that from its key.
    """
    points = np.stack((curve.keys, curve.left, curve.right))
    theirs = np.stack((old.keys, old.left, old.right))[:, indices]
    size = np.abs(theirs)
    allowed = quantum.tolerance(np.maximum(size, size[0], out=size), 0.0)
    beside = np.abs(theirs[1:, :, 0] - theirs[0, :, 0]) <= slack
    times = allowed[1:, :, 0]
    np.maximum(times, slack, out=times, where=beside)
    near = np.abs(np.subtract(points, theirs, out=points), out=points) <= allowed
    same: NDArray[np.bool_] = near[:, :, 0] & near[:, :, 1]
    return same


def _matching_keys(curve: Curve, old: Curve, frame: float) -> NDArray[np.intp]:
    if curve.source is not None:
        given = curve.source.astype(np.intp)
        return np.where((given >= 0) & (given < old.count), given, -1)
    if not old.count:
        return np.full(curve.count, -1)
    times, known = curve.keys[:, 0], old.keys[:, 0]
    allowed = np.maximum(quantum.tolerance(times, 0.0), 1e-4 * frame)
    if curve.count == old.count:
        everywhere = np.arange(curve.count)
        near = np.abs(times - known) <= allowed
        # Shown keys are further apart than the tolerance, so no other key is nearer.
        if near.all():
            return everywhere
    right = np.clip(np.searchsorted(known, times), 0, old.count - 1)
    left = np.maximum(right - 1, 0)
    nearest = np.where(np.abs(times - known[left]) < np.abs(times - known[right]), left, right)
    near = np.abs(times - known[nearest]) <= allowed
    first = np.append(True, nearest[1:] != nearest[:-1])[: curve.count]
    indices = np.where(near & first, nearest, -1)
    if curve.count == old.count:
        # The number of keys is unchanged: a key that only moved in time is still the same key.
        moved = np.flatnonzero(indices < 0)
        indices[moved[~np.isin(moved, indices)]] = moved[~np.isin(moved, indices)]
    return indices


# ---- what the keys must represent, with the exact values of the base where nothing was edited


@dataclass
class Plan:
    """Keys to be written, in the file's order, before their shapes are decided.

    ``keys`` (n, 2) time and value; ``kind_before`` and ``kind_after`` (n,): `Interpolation` of the segments beside each
    key, or `UNPLAYED`; ``before`` and ``after`` (n, 2): handles relative to the key, at thirds for linear segments;
    ``source`` (n,): index of the base's key, -1 for none.
    """

    keys: Floats
    kind_before: NDArray[np.uint8]
    kind_after: NDArray[np.uint8]
    before: Floats
    after: Floats
    source: NDArray[np.intp]


def plan(
    curve: Curve, base: Envelope | None = None, display: Display | None = None, matched: Match | None = None
) -> Plan:
    """Return what to write for a curve. If the base is known, its exact values are used for everything unchanged."""
    keys, left, right = curve.keys, curve.left, curve.right
    source = np.full(curve.count, -1)
    if display is not None and matched is not None:
        old, indices = display.curve, matched.indices
        if old.count:
            keys = np.where(matched.key[:, None], old.keys[indices], keys)
            # A handle that no segment of the base uses counts as unchanged, wherever it points. If a segment uses it
            # now, the curve's own handle is written.
            known_left = matched.left & matched.key & (_uses_left(old)[indices] | ~_uses_left(curve))
            known_right = matched.right & matched.key & (_uses_right(old)[indices] | ~_uses_right(curve))
            left = np.where(known_left[:, None], old.left[indices], left)
            right = np.where(known_right[:, None], old.right[indices], right)
            source = np.where(indices >= 0, display.base_key[indices], -1)
    kinds = np.append(curve.interpolation[:-1], np.uint8(UNPLAYED))[: curve.count]
    planned = Plan(
        keys, np.append(np.uint8(UNPLAYED), kinds[:-1])[: curve.count], kinds, left - keys, right - keys, source
    )
    if base is not None and display is not None and matched is not None and not display.exact[:-1].all():
        planned = _with_cut_segments_whole(planned, base, display, matched, curve.count)
    _straighten(planned)
    return planned


def _uses_left(curve: Curve) -> Flags:
    """(keys,): whether a cubic segment ends at each key."""
    return np.append(False, _uses_right(curve)[:-1])[: curve.count]


def _uses_right(curve: Curve) -> Flags:
    """(keys,): whether a cubic segment begins at each key."""
    used: Flags = curve.interpolation == Interpolation.BEZIER
    return np.append(used[:-1], False)[: curve.count]


def _straighten(planned: Plan) -> None:
    """Put the handles of linear segments on the line, at thirds, in case they must be written as Bezier segments."""
    chord = np.diff(planned.keys, axis=0) / 3
    line = (planned.kind_after[:-1] == Interpolation.LINEAR)[:, None]
    planned.after[:-1] = np.where(line, chord, planned.after[:-1])
    planned.before[1:] = np.where(line, -chord, planned.before[1:])


def _with_cut_segments_whole(planned: Plan, base: Envelope, display: Display, matched: Match, count: int) -> Plan:
    """Merge the parts of segments that were cut for display if none of the parts was edited.

    Also restores the first key of such a segment if the shown curve had no key for it (several keys at one time, or one
    out of order).
    """
    index = np.full(display.curve.count, -1)
    index[matched.indices[matched.indices >= 0]] = np.flatnonzero(matched.indices >= 0)
    begin, end = index[:-1], index[1:]
    alive = (begin >= 0) & (end == begin + 1)
    same = alive & matched.key[begin] & matched.key[end] & matched.interpolation[begin]
    same &= matched.right[begin] & matched.left[end]
    remove = np.zeros(count, np.bool_)
    kinds, points = control_points(base)
    inserted: list[tuple[int, int]] = []
    segments = display.segment[:-1]
    for segment in np.unique(segments[~display.exact[:-1] & (segments >= 0)]):
        parts = _run(segments, segment)
        if not same[parts].all() or display.base_key[parts[-1] + 1] != segment + 1:
            continue
        first, last = index[parts[0]], index[parts[-1] + 1]
        remove[first + 1 : last] = True
        planned.kind_before[last], planned.before[last] = kinds[segment], points[segment, 2] - points[segment, 3]
        if display.base_key[parts[0]] == segment:
            planned.kind_after[first], planned.after[first] = kinds[segment], points[segment, 1] - points[segment, 0]
        else:
            if display.base_key[parts[0]] == 0:  # a first key that was moved because of a jump at its time
                planned.keys[first] = base.times[0], base.values[0]
            planned.kind_after[first] = UNPLAYED
            inserted.append((int(segment), int(last)))
    return _rearranged(planned, ~remove, kinds, points, np.array(inserted, np.intp).reshape(-1, 2))


def _run(segments: NDArray[np.intp], segment: int) -> NDArray[np.intp]:
    """Return the indices at which a sorted array has this value."""
    return np.arange(np.searchsorted(segments, segment), np.searchsorted(segments, segment, "right"))


def _rearranged(
    planned: Plan, keep: Flags, kinds: NDArray[np.uint8], points: Floats, insertions: NDArray[np.intp]
) -> Plan:
    """Return the plan with only the keys in ``keep``, and with first keys of segments added. Each row of
    ``insertions``: index of the segment, index of the key before which its first key goes.
    """
    inserted = insertions[:, 0]
    order = np.argsort(np.concatenate((np.flatnonzero(keep), insertions[:, 1] - 0.5)), kind="stable")
    added = points[inserted]

    def together(ours: NDArray[Any], theirs: NDArray[Any]) -> NDArray[Any]:
        joined: NDArray[Any] = np.concatenate((ours[keep], theirs))[order]
        return joined

    unplayed = np.full(len(inserted), np.uint8(UNPLAYED))
    return Plan(
        together(planned.keys, added[:, 0]),
        together(planned.kind_before, unplayed),
        together(planned.kind_after, kinds[inserted]),
        together(planned.before, np.zeros((len(inserted), 2))),
        together(planned.after, added[:, 1] - added[:, 0]),
        together(planned.source, inserted),
    )


# ---- keys and their shapes


def keys_of_curve(
    curve: Curve,
    base: Envelope | None,
    display: Display | None,
    frame: float,
    *,
    stepped_parameters: bool,
    matched: Match | None = None,
) -> tuple[Envelope, NDArray[np.intp]]:
    """Return an envelope that evaluates to ``curve``, and for each of its keys the index of the key of ``base``, -1 for
    none.

    ``display``: what ``base`` was shown as; ``frame``: seconds per frame; ``stepped_parameters``: whether the file
    stores the parameters of stepped keys; ``matched``: the result of `match` for curve and ``display``, if already
    known.
    """
    if base is None or display is None:
        planned = plan(curve)
        base = Envelope.of(np.zeros(0), np.zeros(0), np.zeros(0, np.uint8))
    else:
        planned = plan(curve, base, display, matched or match(curve, display, frame))
    with np.errstate(all="ignore"):  # values in broken files may overflow
        result = _shaped(planned, base, stepped_parameters)
    result[0].before, result[0].after = curve.before, curve.after
    return result


@dataclass
class _Fits:
    """(keys,) each: whether a key represents the curve's handles as the base has it, or as a linear key.

    ``before``: the handle and kind of segment before it; ``hermite`` and ``flat``: the handle after it if the next key
    ends a Hermite or a Bezier 2D segment; ``linear_hermite`` and ``thirds``: the same for a linear key.
    """

    before: Flags
    hermite: Flags
    flat: Flags
    linear_hermite: Flags
    thirds: Flags


@dataclass
class _Decision:
    """Which keys stay as the base has them, the shapes of all keys, and whether the next key ends a Bezier 2D
    segment.
    """

    kept: Flags
    shapes: NDArray[np.uint8]
    next_flat: Flags


def _shaped(planned: Plan, base: Envelope, stepped_parameters: bool) -> tuple[Envelope, NDArray[np.intp]]:
    count = len(planned.source)
    known = planned.source >= 0
    old = Envelope(
        planned.keys[:, 0],
        planned.keys[:, 1],
        np.full(count, UNDECIDED, np.uint8),
        np.zeros((count, 3)),
        np.zeros((count, 4)),
    )
    took = planned.source[known]
    old.shapes[known], old.tcb[known], old.parameters[known] = base.shapes[took], base.tcb[took], base.parameters[took]
    if count < 2:
        old.shapes[~known] = Shape.STEPPED
        return old, planned.source
    fits = _fits(planned, old, stepped_parameters)
    return _filled(planned, old, _decided(planned, old.shapes, fits), stepped_parameters)


def _fits(planned: Plan, old: Envelope, stepped_parameters: bool) -> _Fits:
    shapes, parameters = old.shapes, old.parameters
    leaving, arriving = tangents(old)
    straight = leaving
    if (planned.kind_before == Interpolation.LINEAR).any():  # only needed for linear segments
        straight = tangents(Envelope(old.times, old.values, np.full_like(shapes, Shape.LINEAR), old.tcb, parameters))[0]
    third = np.diff(planned.keys[:, 0]) / 3
    after, before = planned.after[:-1], planned.before[1:]
    near = _handle_tolerance(planned)
    after_thirds = np.abs(after[:, 0] - third) <= near[:-1, 0]
    thirds_before = (np.abs(before[:, 0] + third) <= near[1:, 0]) & after_thirds
    hermite_shape = shapes <= Shape.BEZIER_1D
    own_handle = (np.abs(before - parameters[1:, :2]) <= near[1:]).all(axis=1)
    same_slope = np.abs(before[:, 1] + arriving / 3) <= near[1:, 1]
    kinds = planned.kind_before[1:]
    fits_before = np.select(
        [kinds == UNPLAYED, kinds == Interpolation.CONSTANT, kinds == Interpolation.LINEAR],
        [
            shapes[1:] != UNDECIDED,
            (shapes[1:] == Shape.STEPPED) | ((shapes[1:] > Shape.BEZIER_2D) & (shapes[1:] != UNDECIDED)),
            shapes[1:] == Shape.LINEAR,
        ],
        np.where(shapes[1:] == Shape.BEZIER_2D, own_handle, hermite_shape[1:] & thirds_before & same_slope),
    )
    own_after = (np.abs(after - parameters[:-1, 2:]) <= near[:-1]).all(axis=1)
    holds = (shapes[:-1] <= Shape.LINEAR) | (np.abs(after[:, 1] - parameters[:-1, 1] / 3) <= near[:-1, 1])
    holds |= stepped_parameters
    return _Fits(
        np.append(shapes[0] != UNDECIDED, fits_before),
        np.append(after_thirds & (np.abs(after[:, 1] - leaving / 3) <= near[:-1, 1]), True),
        np.append(np.where(shapes[:-1] == Shape.BEZIER_2D, own_after, after_thirds & holds), True),
        np.append(after_thirds & (np.abs(after[:, 1] - straight / 3) <= near[:-1, 1]), True),
        np.append(after_thirds, True),
    )


def _handle_tolerance(planned: Plan) -> Floats:
    """(keys, 2): tolerance of handles, the precision of a float32 of the size of keys and handles."""
    allowed = np.maximum(np.abs(planned.keys + planned.before), np.abs(planned.keys + planned.after))
    return quantum.tolerance(np.maximum(allowed, np.abs(planned.keys)), 0.0)


def _decided(planned: Plan, old: NDArray[np.uint8], fits: _Fits) -> _Decision:
    """Decide the shape of every key.

    It depends on whether the next key's segment is Bezier 2D: both alternatives are prepared and chosen from the last
    key backwards.
    """
    cubic_after = planned.kind_after == Interpolation.BEZIER
    line_after = planned.kind_after == Interpolation.LINEAR
    chosen = []
    for next_flat in (False, True):
        says_after = fits.flat if next_flat else fits.hermite
        needs = cubic_after | line_after if next_flat else cubic_after
        kept = fits.before & (~needs | says_after)
        linear_does = ~needs | (fits.thirds if next_flat else fits.linear_hermite)
        kinds = planned.kind_before
        new = np.where(kinds == Interpolation.CONSTANT, np.uint8(Shape.STEPPED), np.uint8(Shape.BEZIER_2D))
        new = np.where((kinds == Interpolation.LINEAR) & linear_does, np.uint8(Shape.LINEAR), new)
        free = np.where(line_after[:1], np.uint8(Shape.LINEAR), np.uint8(Shape.STEPPED))
        new[:1] = np.where(needs[:1] & ~line_after[:1], np.uint8(Shape.BEZIER_2D), free)
        chosen.append((kept, np.where(kept, old, new)))
    flat = [
        (shapes == Shape.BEZIER_2D)
        & (planned.kind_before != UNPLAYED)
        & (planned.kind_before != Interpolation.CONSTANT)
        for _, shapes in chosen
    ]
    is_flat = _from_the_end(flat[0], flat[1])
    next_flat = np.append(is_flat[1:], False) & (cubic_after | line_after)
    kept = np.where(next_flat, chosen[1][0], chosen[0][0])
    return _Decision(kept, np.where(next_flat, chosen[1][1], chosen[0][1]), next_flat)


def _from_the_end(if_not: Flags, if_so: Flags) -> Flags:
    """Resolve answers that depend on the next one: ``if_so`` if the next is true, else ``if_not``; the last one has no
    next.

    If both alternatives are equal the answer is known. Between such positions each key either copies or inverts the
    next key's answer, so it is the next known answer, inverted as often as there are inversions in between.
    """
    count = len(if_not)
    known = if_not == if_so
    known[-1] = True
    rotations = np.append(np.cumsum((if_not & ~if_so)[::-1])[::-1], 0)
    rows = np.where(known, np.arange(count), count)
    indices = np.minimum.accumulate(rows[::-1])[::-1]
    answer: Flags = if_not[indices] ^ ((rotations[:count] - rotations[indices]) % 2 == 1)
    return answer


def _filled(
    planned: Plan, old: Envelope, decided: _Decision, stepped_parameters: bool
) -> tuple[Envelope, NDArray[np.intp]]:
    """Return the keys with their parameters. A second key is added where a stepped key cannot store the handle after
    it.
    """
    kept, shapes, next_flat = decided.kept, decided.shapes, decided.next_flat
    near = _handle_tolerance(planned)
    cubic_after = planned.kind_after == Interpolation.BEZIER
    result = Envelope(
        old.times,
        old.values,
        shapes,
        np.where(kept[:, None], old.tcb, 0.0),
        np.where(kept[:, None], old.parameters, 0.0),
    )
    parameters = result.parameters
    new = (shapes == Shape.BEZIER_2D) & ~kept
    cubic_before = (planned.kind_before != UNPLAYED) & (planned.kind_before != Interpolation.CONSTANT)
    parameters[:, :2] = np.where((new & cubic_before)[:, None], planned.before, parameters[:, :2])
    parameters[:, 2:] = np.where((new & (next_flat | cubic_after))[:, None], planned.after, parameters[:, 2:])
    stepped = (shapes == Shape.STEPPED) | (shapes > Shape.BEZIER_2D)
    lends = next_flat & (shapes != Shape.BEZIER_2D) & (~stepped | stepped_parameters)
    differs = np.abs(parameters[:, 1] / 3 - planned.after[:, 1]) > near[:, 1]
    parameters[:, 1] = np.where(lends & differs, 3 * planned.after[:, 1], parameters[:, 1])
    # The handle that a stepped key gives the segment after it: from its parameter, or a flat tangent.
    third = np.append(np.diff(old.times) / 3, 0.0)
    stored = np.where(next_flat, parameters[:, 1] / 3, 0.0)
    fits = (np.abs(planned.after[:, 0] - third) <= near[:, 0]) & (np.abs(planned.after[:, 1] - stored) <= near[:, 1])
    second = np.flatnonzero(stepped & (cubic_after | next_flat) & ~fits)
    if not len(second):
        return result, planned.source
    behind = second + 1
    handles = np.concatenate((np.zeros((len(second), 2)), planned.after[second]), axis=1)
    return (
        Envelope(
            np.insert(result.times, behind, result.times[second]),
            np.insert(result.values, behind, result.values[second]),
            np.insert(shapes, behind, np.uint8(Shape.BEZIER_2D)),
            np.insert(result.tcb, behind, 0.0, axis=0),
            np.insert(parameters, behind, handles, axis=0),
        ),
        np.insert(planned.source, behind, -1),
    )


# ---- difference between the stored keys and the curve


@dataclass
class Stored:
    """A curve and the envelope written for it; ``segments`` (keys - 1,): segments of the curve to be compared."""

    curve: Curve
    envelope: Envelope
    segments: Flags


@dataclass
class _Sampled:
    """Segments and the times at which they are sampled: ``kinds`` (n,), control ``points`` (n, 4, 2),
    ``times`` (n,).
    """

    kinds: NDArray[np.uint8]
    points: Floats
    times: Floats


def losses(channels: Sequence[Stored], frame: float) -> list[tuple[float, float]]:
    """Return for each channel the largest error of its values and of its linear extrapolation, the latter in value per
    second.

    All channels are sampled together: finding the parameters of a few cubics takes as long as of many.
    """
    sampled = [side for channel in channels for side in _samples(channel, frame)]
    if not sampled:
        return []
    with np.errstate(all="ignore"):  # values in broken files may overflow
        values = segment_values(
            np.concatenate([side.kinds for side in sampled]),
            np.concatenate([side.points for side in sampled]),
            np.concatenate([side.times for side in sampled]),
        )[0]
    parts = np.split(values, np.cumsum([len(side.times) for side in sampled])[:-1])
    result = []
    for channel, asked, got in zip(channels, parts[::2], parts[1::2], strict=True):
        off = np.abs(got - asked).max(initial=0.0)
        if channel.curve.count and channel.envelope.count:
            off = max(off, np.abs(channel.envelope.values[0] - channel.curve.keys[0, 1]))
        result.append((float(off), _slope_loss(channel)))
    return result


def _samples(channel: Stored, frame: float) -> tuple[_Sampled, _Sampled]:
    """Return the segments of the curve and of the stored envelope, to be sampled at the same times."""
    curve, envelope = channel.curve, channel.envelope
    length = np.diff(curve.keys[:, 0])
    wide = np.flatnonzero(channel.segments & (length >= MIN_SPACING * frame))
    shares = (np.arange(SAMPLES) + 0.5) / SAMPLES
    times = (curve.keys[wide, 0, None] + length[wide, None] * shares).ravel()
    starts = np.repeat(wide, SAMPLES)
    points = np.stack((curve.keys[wide], curve.right[wide], curve.left[wide + 1], curve.keys[wide + 1]), axis=1)
    asked = _Sampled(curve.interpolation[starts], np.repeat(points, SAMPLES, axis=0), times)
    if envelope.count < 2:
        held = np.zeros((len(times), 4, 2))
        held[:, :, 1] = envelope.values[0] if envelope.count else 0.0
        held[:, 3, 0] = np.inf
        return asked, _Sampled(np.zeros(len(times), np.uint8), held, times)
    kinds, cubics = control_points(envelope)
    segments = segment_ends(envelope, times) - 1
    return asked, _Sampled(kinds[segments], cubics[segments], times)


def _slope_loss(channel: Stored) -> float:
    curve = channel.curve
    if not curve.count or Behaviour.LINEAR not in (curve.before, curve.after):
        return 0.0
    slopes, loss = extrapolation_slopes(channel.envelope), 0.0
    for slope, behaviour, handle, key in (
        (slopes[0], curve.before, curve.left[0], curve.keys[0]),
        (slopes[1], curve.after, curve.right[-1], curve.keys[-1]),
    ):
        if behaviour == Behaviour.LINEAR and handle[0] != key[0]:
            loss = max(loss, abs(slope - float((handle[1] - key[1]) / (handle[0] - key[0]))))
    return loss
