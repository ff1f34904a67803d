"""A curve as keys of the game, starting from the keys it came from.

The game keeps one shape a key, which names the segment *before* it, while the handle after it is read from the same
key: so one key's shape decides how its neighbour's handle is read. What comes out:

- A key keeps its shape, tensions and parameters where the segment before it still is of that kind, and where the
  tangents the game will compute for it, from its neighbours as they are now, are those the curve has.
- Any other end of a Bezier segment becomes a Bezier 2D key. Then the key before it must say its handle too: a Bezier
  2D key in its parameters 2 and 3, any other key (a TCB key for example) in its parameter 1, which the game takes for
  three times the rise of a handle a third of the segment long. If it is not that long, the key becomes Bezier 2D too.
- Before a Bezier segment a linear one is written as a Bezier 2D segment with both handles on the line, at thirds, and a
  stepped key, where it cannot hold a parameter, is followed by a Bezier 2D key at the same time: of two keys at one
  time the game uses the first up to that time and the second from there on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import quantum
from .curve import Curve, Interpolation
from .display import Display
from .keys import Envelope, Floats, Shape, tangents
from .matching import Flags, Match, match
from .restoring import UNPLAYED, Plan, plan

NONE = 255
"""The shape of a key that has none yet."""


def keys_of_curve(
    curve: Curve,
    base: Envelope | None,
    shown: Display | None,
    frame: float,
    *,
    stepped_parameters: bool,
    matched: Match | None = None,
) -> tuple[Envelope, NDArray[np.intp]]:
    """An envelope that plays ``curve``, and which key of ``base`` each of its keys is (-1: none).

    ``shown`` is what ``base`` was shown as, ``frame`` seconds; ``stepped_parameters``: whether the file stores the
    parameters of stepped keys; ``matched``: the `match` of curve and ``shown``, where it is known.
    """
    if base is None or shown is None:
        planned = plan(curve)
        base = Envelope.of(np.zeros(0), np.zeros(0), np.zeros(0, np.uint8))
    else:
        planned = plan(curve, base, shown, matched or match(curve, shown, frame))
    with np.errstate(all="ignore"):  # broken files hold numbers whose products are none
        result = _shaped(planned, base, stepped_parameters)
    result[0].before, result[0].after = curve.before, curve.after
    return result


@dataclass
class _Fits:
    """For each key as the base has it, and as a linear key: whether it says the curve's handles.

    ``before`` the handle (and kind of segment) before it; ``hermite`` and ``flat`` the one after it where the next key
    ends a Hermite or a Bezier 2D segment; ``linear_...`` the same for a linear key.
    """

    before: Flags
    hermite: Flags
    flat: Flags
    linear_hermite: Flags
    thirds: Flags


@dataclass
class _Decision:
    """Which keys stay as the base has them, the shapes of all, and whether the next key ends a Bezier 2D segment."""

    kept: Flags
    shapes: NDArray[np.uint8]
    next_flat: Flags


def _shaped(planned: Plan, base: Envelope, stepped_parameters: bool) -> tuple[Envelope, NDArray[np.intp]]:
    count = len(planned.source)
    known = planned.source >= 0
    old = Envelope(
        planned.keys[:, 0],
        planned.keys[:, 1],
        np.full(count, NONE, np.uint8),
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
    if (planned.kind_before == Interpolation.LINEAR).any():  # nobody else is asked whether a linear key would do
        straight = tangents(Envelope(old.times, old.values, np.full_like(shapes, Shape.LINEAR), old.tcb, parameters))[0]
    third = np.diff(planned.keys[:, 0]) / 3
    after, before = planned.after[:-1], planned.before[1:]
    near = _near(planned)
    after_thirds = np.abs(after[:, 0] - third) <= near[:-1, 0]
    thirds_before = (np.abs(before[:, 0] + third) <= near[1:, 0]) & after_thirds
    hermite_shape = shapes <= Shape.BEZIER_1D
    own_handle = (np.abs(before - parameters[1:, :2]) <= near[1:]).all(axis=1)
    same_slope = np.abs(before[:, 1] + arriving / 3) <= near[1:, 1]
    kinds = planned.kind_before[1:]
    fits_before = np.select(
        [kinds == UNPLAYED, kinds == Interpolation.CONSTANT, kinds == Interpolation.LINEAR],
        [
            shapes[1:] != NONE,
            (shapes[1:] == Shape.STEPPED) | ((shapes[1:] > Shape.BEZIER_2D) & (shapes[1:] != NONE)),
            shapes[1:] == Shape.LINEAR,
        ],
        np.where(shapes[1:] == Shape.BEZIER_2D, own_handle, hermite_shape[1:] & thirds_before & same_slope),
    )
    own_after = (np.abs(after - parameters[:-1, 2:]) <= near[:-1]).all(axis=1)
    holds = (shapes[:-1] <= Shape.LINEAR) | (np.abs(after[:, 1] - parameters[:-1, 1] / 3) <= near[:-1, 1])
    holds |= stepped_parameters
    return _Fits(
        np.append(shapes[0] != NONE, fits_before),
        np.append(after_thirds & (np.abs(after[:, 1] - leaving / 3) <= near[:-1, 1]), True),
        np.append(np.where(shapes[:-1] == Shape.BEZIER_2D, own_after, after_thirds & holds), True),
        np.append(after_thirds & (np.abs(after[:, 1] - straight / 3) <= near[:-1, 1]), True),
        np.append(after_thirds, True),
    )


def _near(planned: Plan) -> Floats:
    """How far handles may be off, (keys, 2): what a float32 of the size of keys and handles leaves open."""
    reach = np.maximum(np.abs(planned.keys + planned.before), np.abs(planned.keys + planned.after))
    return quantum.tolerance(np.maximum(reach, np.abs(planned.keys)), 0.0)


def _decided(planned: Plan, old: NDArray[np.uint8], fits: _Fits) -> _Decision:
    """The shape of every key.

    Each key's shape hangs on whether the next one's segment is Bezier 2D: two answers are prepared, and taken from the
    end backwards.
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
    """Answers each of which hangs on the next: ``if_so`` where the next is true, else ``if_not``; after the last false.

    Where both are the same the answer is known. Between such places each key either takes the next one's answer or
    turns it round, so it is the known one, turned round as often as there are turns on the way.
    """
    count = len(if_not)
    known = if_not == if_so
    known[-1] = True
    turns = np.append(np.cumsum((if_not & ~if_so)[::-1])[::-1], 0)
    places = np.where(known, np.arange(count), count)
    place = np.minimum.accumulate(places[::-1])[::-1]
    answer: Flags = if_not[place] ^ ((turns[:count] - turns[place]) % 2 == 1)
    return answer


def _filled(
    planned: Plan, old: Envelope, decided: _Decision, stepped_parameters: bool
) -> tuple[Envelope, NDArray[np.intp]]:
    """The keys with their numbers, and second keys where a stepped one cannot say the handle after it."""
    kept, shapes, next_flat = decided.kept, decided.shapes, decided.next_flat
    near = _near(planned)
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
    # What a stepped key itself makes of the segment after it: its parameter, or a flat tangent.
    third = np.append(np.diff(old.times) / 3, 0.0)
    said = np.where(next_flat, parameters[:, 1] / 3, 0.0)
    fits = (np.abs(planned.after[:, 0] - third) <= near[:, 0]) & (np.abs(planned.after[:, 1] - said) <= near[:, 1])
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
