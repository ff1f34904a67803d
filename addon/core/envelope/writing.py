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
the keys (`keys_of_curves`), and how far they differ from the curve (`losses`). Each step takes the curves of several
channels with concatenated keys; from the last key of a channel to the first of the next nothing is played.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import quantum
from .curve import Curve, Curves, Interpolation, control_points, segment_values
from .display import MIN_SPACING, Displays
from .evaluation import Behaviour, Envelope, Envelopes, Floats, Shape, outer_slopes, segment_ends, tangents

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


# ---- matching the keys of edited curves with those of the envelopes


@dataclass
class Match:
    """For each key of the compared curves: the key of the shown curves it corresponds to (``indices``, -1 for none),
    and which of its values are unchanged.

    Handles that no segment and no extrapolation uses count as unchanged; new keys have nothing unchanged.
    ``interpolation`` refers to the segment after the key.
    """

    indices: NDArray[np.intp]
    key: Flags
    left: Flags
    right: Flags
    interpolation: Flags

    @property
    def keys_unchanged(self) -> Flags:
        """(keys,): whether nothing of each key and of the segment after it is edited."""
        return self.key & self.left & self.right & self.interpolation


def match(curves: Curves, old: Curves, frame: float, sources: Sequence[NDArray[np.int32] | None] = ()) -> Match:
    """Compare curves with those that their envelopes were shown as.

    Keys are matched by ``sources``, the `Curve.source` of each curve, or where it is None by time.
    """
    indices = _matching_keys(curves, old, frame, sources)
    is_matched = indices >= 0
    if not is_matched.any():
        nothing = np.zeros(len(indices), np.bool_)
        return Match(indices, nothing, nothing, nothing, nothing)
    cubic = old.interpolation == _BEZIER
    free_right, free_left = ~cubic, np.append(False, ~cubic[:-1])
    keyed, first, last = old.ends
    free_left[first], free_right[last] = old.before[keyed] != Behaviour.LINEAR, old.after[keyed] != Behaviour.LINEAR
    is_last = np.zeros(len(cubic), np.bool_)
    is_last[last] = True
    key, left, right = _same(curves, old, indices, HANDLE_CLAMP * frame)
    return Match(
        indices,
        is_matched & key,
        is_matched & (left | free_left[indices]),
        is_matched & (right | free_right[indices]),
        is_matched & ((curves.interpolation == old.interpolation[indices]) | is_last[indices]),
    )


def unchanged(curves: Curves, old: Curves, matched: Match) -> Flags:
    """(curves,): whether each curve is the one that its envelope was shown as; ``matched``: the result of `match`."""
    result: Flags = (curves.counts == old.counts) & (curves.before == old.before) & (curves.after == old.after)
    key_by_key = matched.keys_unchanged
    for number in np.flatnonzero(result).tolist():
        start, end = curves.bounds[number : number + 2]
        moved = old.bounds[number] - start
        in_place = matched.indices[start:end] == np.arange(start + moved, end + moved)
        result[number] = (in_place & key_by_key[start:end]).all()
    return result


def _same(curves: Curves, old: Curves, indices: NDArray[np.intp], slack: float) -> NDArray[np.bool_]:
    """(3, keys): whether keys, left handles and right handles equal those of the old curves within float32 precision.

    The time of a handle may differ by ``slack`` if it was no further than that from its key.
    """
    points = np.stack((curves.keys, curves.left, curves.right))
    theirs = np.stack((old.keys, old.left, old.right))[:, indices]
    size = np.abs(theirs)
    allowed = quantum.tolerance(np.maximum(size, size[0], out=size), 0.0)
    beside = np.abs(theirs[1:, :, 0] - theirs[0, :, 0]) <= slack
    times = allowed[1:, :, 0]
    np.maximum(times, slack, out=times, where=beside)
    near = np.abs(np.subtract(points, theirs, out=points), out=points) <= allowed
    same: NDArray[np.bool_] = near[:, :, 0] & near[:, :, 1]
    return same


def _matching_keys(
    curves: Curves, old: Curves, frame: float, sources: Sequence[NDArray[np.int32] | None]
) -> NDArray[np.intp]:
    times, known = curves.keys[:, 0], old.keys[:, 0]
    allowed = np.maximum(quantum.tolerance(times, 0.0), 1e-4 * frame)
    by_time = all(source is None for source in sources)
    # Shown keys are further apart than the tolerance, so no other key is nearer.
    if by_time and np.array_equal(curves.bounds, old.bounds) and (np.abs(times - known) <= allowed).all():
        return np.arange(len(times))
    indices = np.full(len(times), -1)
    for number, source in enumerate(sources or [None] * len(curves)):
        own, theirs = (slice(*of.bounds[number : number + 2]) for of in (curves, old))
        if source is not None:
            key = np.where(source < len(known[theirs]), source, -1).astype(np.intp)
        else:
            key = _nearest_keys(times[own], known[theirs], allowed[own])
        indices[own] = np.where(key >= 0, key + old.bounds[number], -1)
    return indices


def _nearest_keys(times: Floats, known: Floats, allowed: Floats) -> NDArray[np.intp]:
    if not len(known):
        return np.full(len(times), -1)
    right = np.clip(np.searchsorted(known, times), 0, len(known) - 1)
    left = np.maximum(right - 1, 0)
    nearest = np.where(np.abs(times - known[left]) < np.abs(times - known[right]), left, right)
    near = np.abs(times - known[nearest]) <= allowed
    first = np.append(True, nearest[1:] != nearest[:-1])[: len(times)]
    indices = np.where(near & first, nearest, -1)
    if len(times) == len(known):
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
    ``source`` (n,): index of the base's key, -1 for none; ``owner`` (n,): index of the channel.
    """

    keys: Floats
    kind_before: NDArray[np.uint8]
    kind_after: NDArray[np.uint8]
    before: Floats
    after: Floats
    source: NDArray[np.intp]
    owner: NDArray[np.intp]

    @property
    def breaks(self) -> NDArray[np.intp]:
        """Indices of the last keys of all channels but the last one that has keys."""
        return np.flatnonzero(self.owner[1:] != self.owner[:-1])


def plan(
    curves: Curves, base: Envelopes | None = None, display: Displays | None = None, matched: Match | None = None
) -> Plan:
    """Return what to write for curves. If the base is known, its exact values are used for everything unchanged."""
    keys, left, right = curves.keys, curves.left, curves.right
    source = np.full(len(keys), -1)
    if display is not None and matched is not None:
        old, indices = display.curves, matched.indices
        if len(old.keys):
            keys = np.where(matched.key[:, None], old.keys[indices], keys)
            # A handle that no segment of the base uses counts as unchanged, wherever it points. If a segment uses it
            # now, the curve's own handle is written.
            left_of_old, right_of_old = _used_handles(old)
            used_left, used_right = _used_handles(curves)
            known_left = matched.left & matched.key & (left_of_old[indices] | ~used_left)
            known_right = matched.right & matched.key & (right_of_old[indices] | ~used_right)
            left = np.where(known_left[:, None], old.left[indices], left)
            right = np.where(known_right[:, None], old.right[indices], right)
            source = np.where(indices >= 0, display.base_key[indices], -1)
    kinds = curves.interpolation.copy()
    kinds[curves.ends[2]] = UNPLAYED
    planned = Plan(
        keys,
        np.append(np.uint8(UNPLAYED), kinds[:-1])[: len(kinds)],
        kinds,
        left - keys,
        right - keys,
        source,
        np.repeat(np.arange(len(curves)), curves.counts),
    )
    if base is not None and display is not None and matched is not None and matched.key.any() and display.is_cut:
        planned = _with_cut_segments_whole(planned, base, display, matched)
    _straighten(planned)
    return planned


def _used_handles(curves: Curves) -> tuple[Flags, Flags]:
    """(keys,) each: whether a cubic segment ends at each key, and whether it begins there."""
    begins = curves.interpolation == Interpolation.BEZIER
    begins[curves.ends[2]] = False
    return np.append(False, begins[:-1])[: len(begins)], begins


def _straighten(planned: Plan) -> None:
    """Put the handles of linear segments on the line, at thirds, in case they must be written as Bezier segments."""
    chord = np.diff(planned.keys, axis=0) / 3
    line = (planned.kind_after[:-1] == Interpolation.LINEAR)[:, None]
    planned.after[:-1] = np.where(line, chord, planned.after[:-1])
    planned.before[1:] = np.where(line, -chord, planned.before[1:])


def _with_cut_segments_whole(planned: Plan, base: Envelopes, display: Displays, matched: Match) -> Plan:
    """Merge the parts of segments that were cut for display if none of the parts was edited.

    Also restores the first key of such a segment if the shown curve had no key for it (several keys at one time, or one
    out of order).
    """
    is_matched = matched.indices >= 0
    index = np.full(len(display.base_key), -1)
    index[matched.indices[is_matched]] = np.flatnonzero(is_matched)
    begin, end = index[:-1], index[1:]
    alive = (begin >= 0) & (end == begin + 1)
    same = alive & matched.key[begin] & matched.key[end] & matched.interpolation[begin]
    same &= matched.right[begin] & matched.left[end]
    remove = np.zeros(len(planned.keys), np.bool_)
    kinds, points = control_points(base.keys, tangents(base.keys, base.ends[2][:-1]))
    inserted: list[tuple[int, int]] = []
    rows = np.flatnonzero(display.segment[:-1] >= 0)
    segments = display.segment[rows]
    for segment in np.unique(segments[~display.exact[rows]]):
        parts = rows[np.searchsorted(segments, segment) : np.searchsorted(segments, segment, "right")]
        if not same[parts].all() or display.base_key[parts[-1] + 1] != segment + 1:
            continue
        first, last = index[parts[0]], index[parts[-1] + 1]
        remove[first + 1 : last] = True
        planned.kind_before[last], planned.before[last] = kinds[segment], points[segment, 2] - points[segment, 3]
        key = display.base_key[parts[0]]
        if key == segment:
            planned.kind_after[first], planned.after[first] = kinds[segment], points[segment, 1] - points[segment, 0]
        else:
            if key in base.bounds:  # a first key that was moved because of a jump at its time
                planned.keys[first] = base.keys.times[key], base.keys.values[key]
            planned.kind_after[first] = UNPLAYED
            inserted.append((int(segment), int(last)))
    return _rearranged(planned, ~remove, kinds, points, np.array(inserted, np.intp).reshape(-1, 2))


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
        together(planned.owner, planned.owner[insertions[:, 1]]),
    )


# ---- keys and their shapes


def keys_of_curves(
    curves: Curves,
    base: Envelopes | None,
    display: Displays | None,
    matched: Match | None,
    *,
    stepped_parameters: bool,
) -> tuple[Envelopes, NDArray[np.intp]]:
    """Return envelopes that evaluate to ``curves``, and for each of their keys the index of the key of ``base``, -1 for
    none.

    ``display``: what ``base`` was shown as; ``matched``: the result of `match` for both; ``stepped_parameters``:
    whether the file stores the parameters of stepped keys.
    """
    with np.errstate(all="ignore"):  # values in broken files may overflow
        keys, source, owner = _shaped(plan(curves, base, display, matched), base, stepped_parameters)
    bounds = np.searchsorted(owner, np.arange(len(curves) + 1))
    return Envelopes(keys, bounds, curves.before, curves.after), source


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


def _shaped(
    planned: Plan, base: Envelopes | None, stepped_parameters: bool
) -> tuple[Envelope, NDArray[np.intp], NDArray[np.intp]]:
    """Return the keys, and for each the index of the base's key and of its channel."""
    count = len(planned.source)
    known = planned.source >= 0
    old = Envelope(
        planned.keys[:, 0],
        planned.keys[:, 1],
        np.full(count, UNDECIDED, np.uint8),
        np.zeros((count, 3)),
        np.zeros((count, 4)),
    )
    if base is not None:
        took, theirs = planned.source[known], base.keys
        old.shapes[known], old.tcb[known] = theirs.shapes[took], theirs.tcb[took]
        old.parameters[known] = theirs.parameters[took]
    if not count:
        return old, planned.source, planned.owner
    fits = _fits(planned, old, stepped_parameters)
    return _filled(planned, old, _decided(planned, old.shapes, fits), stepped_parameters)


def _fits(planned: Plan, old: Envelope, stepped_parameters: bool) -> _Fits:
    shapes, parameters, breaks = old.shapes, old.parameters, planned.breaks
    leaving, arriving = tangents(old, breaks)
    straight = leaving
    if (planned.kind_before == Interpolation.LINEAR).any():  # only needed for linear segments
        lines = Envelope(old.times, old.values, np.full_like(shapes, Shape.LINEAR), old.tcb, parameters)
        straight = tangents(lines, breaks)[0]
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
    first = np.append(0, planned.breaks + 1)
    chosen = []
    for next_flat in (False, True):
        says_after = fits.flat if next_flat else fits.hermite
        needs = cubic_after | line_after if next_flat else cubic_after
        kept = fits.before & (~needs | says_after)
        linear_does = ~needs | (fits.thirds if next_flat else fits.linear_hermite)
        kinds = planned.kind_before
        new = np.where(kinds == Interpolation.CONSTANT, np.uint8(Shape.STEPPED), np.uint8(Shape.BEZIER_2D))
        new = np.where((kinds == Interpolation.LINEAR) & linear_does, np.uint8(Shape.LINEAR), new)
        free = np.where(line_after[first], np.uint8(Shape.LINEAR), np.uint8(Shape.STEPPED))
        new[first] = np.where(needs[first] & ~line_after[first], np.uint8(Shape.BEZIER_2D), free)
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
) -> tuple[Envelope, NDArray[np.intp], NDArray[np.intp]]:
    """Return `_shaped` with parameters. A second key is added where a stepped key cannot store the handle after it."""
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
        return result, planned.source, planned.owner
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
        np.insert(planned.owner, behind, planned.owner[second]),
    )


# ---- difference between the stored keys and the curves


def losses(curves: Curves, envelopes: Envelopes, segments: Flags, frame: float) -> list[tuple[float, float]]:
    """Return for each curve the largest error of the values of its envelope, and of its linear extrapolation, the
    latter in value per second.

    ``segments`` (all keys,): whether the segment of a curve after each key is compared.
    """
    keys = curves.keys
    used = segments.copy()
    used[curves.ends[2]] = False
    length = np.append(np.diff(keys[:, 0]), 0.0)[: len(keys)]
    wide = np.flatnonzero(used & (length >= MIN_SPACING * frame))
    times = (keys[wide, 0, None] + length[wide, None] * ((np.arange(SAMPLES) + 0.5) / SAMPLES)).ravel()
    points = np.stack((keys[wide], curves.right[wide], curves.left[wide + 1], keys[wide + 1]), axis=1)
    bounds = SAMPLES * np.searchsorted(wide, curves.bounds)
    keyed, first, last = envelopes.ends
    slopes = tangents(envelopes.keys, last[:-1])
    kinds, cubics = _sampled_segments(envelopes, times, bounds, slopes)
    with np.errstate(all="ignore"):  # values in broken files may overflow
        asked, got = np.split(
            segment_values(
                np.concatenate((np.repeat(curves.interpolation[wide], SAMPLES), kinds)),
                np.concatenate((np.repeat(points, SAMPLES, axis=0), cubics)),
                np.concatenate((times, times)),
            )[0],
            2,
        )
    off = np.abs(got - asked)
    outer = np.zeros((len(curves), 2))
    outer[keyed] = outer_slopes(envelopes.keys, slopes, first, last)
    result = []
    for number, (curve, start, end) in enumerate(zip(curves, bounds[:-1], bounds[1:], strict=True)):
        error = off[start:end].max(initial=0.0)
        values = envelopes[number].values
        if curve.count and len(values):
            error = max(error, np.abs(values[0] - curve.keys[0, 1]))
        result.append((float(error), _slope_loss(curve, outer[number])))
    return result


def _sampled_segments(
    envelopes: Envelopes, times: Floats, bounds: NDArray[np.intp], slopes: tuple[Floats, Floats]
) -> tuple[NDArray[np.uint8], Floats]:
    """Return the kinds (n,) and control points (n, 4, 2) of the segments at ``times`` (n,).

    ``bounds``: the index of the first time of each envelope. An envelope of less than two keys has a constant segment.
    """
    kinds, points = np.zeros(len(times), np.uint8), np.zeros((len(times), 4, 2))
    all_kinds, all_points = control_points(envelopes.keys, slopes)
    for number, (envelope, start, end) in enumerate(zip(envelopes, bounds[:-1], bounds[1:], strict=True)):
        if envelope.count < 2:
            points[start:end, :, 1] = envelope.values[0] if envelope.count else 0.0
            points[start:end, 3, 0] = np.inf
        elif end > start:
            segments = segment_ends(envelope, times[start:end]) - 1 + envelopes.bounds[number]
            kinds[start:end], points[start:end] = all_kinds[segments], all_points[segments]
    return kinds, points


def _slope_loss(curve: Curve, slopes: Floats) -> float:
    """Return the largest difference of the slopes of a curve's linear extrapolation from ``slopes`` (2,)."""
    loss = 0.0
    if not curve.count:
        return loss
    for slope, behaviour, handle, key in (
        (slopes[0], curve.before, curve.left[0], curve.keys[0]),
        (slopes[1], curve.after, curve.right[-1], curve.keys[-1]),
    ):
        if behaviour == Behaviour.LINEAR and handle[0] != key[0]:
            loss = max(loss, abs(float(slope - (handle[1] - key[1]) / (handle[0] - key[0]))))
    return loss
