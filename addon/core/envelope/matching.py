"""Which keys of an edited curve still are the envelope's own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import quantum
from .curve import Curve, Interpolation
from .display import Display
from .keys import Behaviour

CLAMPED = 0.0015
"""Frames by which Blender moves a handle that lies on its key away from it."""

Flags = NDArray[np.bool_]
_BEZIER = np.uint8(Interpolation.BEZIER)


@dataclass
class Match:
    """For each key of a curve: the shown key it is (``place``, -1 for none), and what of it is unchanged.

    Handles that no segment and no behaviour uses count as unchanged; of keys that are none of the shown ones nothing
    is. ``interpolation`` is about the segment after the key.
    """

    place: NDArray[np.intp]
    key: Flags
    left: Flags
    right: Flags
    interpolation: Flags


def match(curve: Curve, shown: Display, frame: float) -> Match:
    """Compare a curve with what an envelope was shown as. Keys are told by ``Curve.source``, else by their times."""
    place = _places(curve, shown.curve, frame)
    there = place >= 0
    if not there.any():
        nothing = np.zeros(curve.count, np.bool_)
        return Match(place, nothing, nothing, nothing, nothing)
    old = shown.curve
    cubic = old.interpolation == _BEZIER
    free_right, free_left = np.empty(old.count, np.bool_), np.empty(old.count, np.bool_)
    np.logical_not(cubic[:-1], out=free_right[:-1])
    free_left[1:] = free_right[:-1]
    free_left[0], free_right[-1] = old.before != Behaviour.LINEAR, old.after != Behaviour.LINEAR
    key, left, right = _same(curve, old, place, CLAMPED * frame)
    return Match(
        place,
        there & key,
        there & (left | free_left[place]),
        there & (right | free_right[place]),
        there & ((curve.interpolation == old.interpolation[place]) | (place == old.count - 1)),
    )


def unchanged(curve: Curve, shown: Display, frame: float, matched: Match | None = None) -> bool:
    """Whether a curve is wholly what the envelope was shown as; ``matched``: their `match`, where it is known."""
    old = shown.curve
    if curve.count != old.count or curve.before != old.before or curve.after != old.after:
        return False
    if curve.keys is old.keys:
        return True
    if matched is None:
        matched = match(curve, shown, frame)
    in_place = matched.place == np.arange(curve.count)
    return bool((in_place & matched.key & matched.left & matched.right & matched.interpolation).all())


def _same(curve: Curve, old: Curve, place: NDArray[np.intp], slack: float) -> NDArray[np.bool_]:
    """(3, keys): whether keys and handles are the old ones to what a float32 holds.

    A handle's time may be ``slack`` off where it lies so close to its key.
    """
    points = np.stack((curve.keys, curve.left, curve.right))
    theirs = np.stack((old.keys, old.left, old.right))[:, place]
    size = np.abs(theirs)
    reach = quantum.tolerance(np.maximum(size, size[0], out=size), 0.0)
    beside = np.abs(theirs[1:, :, 0] - theirs[0, :, 0]) <= slack
    times = reach[1:, :, 0]
    np.maximum(times, slack, out=times, where=beside)
    near = np.abs(np.subtract(points, theirs, out=points), out=points) <= reach
    same: NDArray[np.bool_] = near[:, :, 0] & near[:, :, 1]
    return same


def _places(curve: Curve, old: Curve, frame: float) -> NDArray[np.intp]:
    if curve.source is not None:
        given = curve.source.astype(np.intp)
        return np.where((given >= 0) & (given < old.count), given, -1)
    if not old.count:
        return np.full(curve.count, -1)
    times, known = curve.keys[:, 0], old.keys[:, 0]
    reach = np.maximum(quantum.tolerance(times, 0.0), 1e-4 * frame)
    if curve.count == old.count:
        everywhere = np.arange(curve.count)
        near = np.abs(times - known) <= reach
        # Shown keys are further apart than this, so that no other one is nearer.
        if near.all():
            return everywhere
    right = np.clip(np.searchsorted(known, times), 0, old.count - 1)
    left = np.maximum(right - 1, 0)
    nearest = np.where(np.abs(times - known[left]) < np.abs(times - known[right]), left, right)
    near = np.abs(times - known[nearest]) <= reach
    first = np.append(True, nearest[1:] != nearest[:-1])[: curve.count]
    place = np.where(near & first, nearest, -1)
    if curve.count == old.count:
        # As many keys as before: one that moved in time between its neighbours is still itself.
        moved = np.flatnonzero(place < 0)
        place[moved[~np.isin(moved, place)]] = moved[~np.isin(moved, place)]
    return place
