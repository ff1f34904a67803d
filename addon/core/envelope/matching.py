"""Which keys of an edited curve still are the envelope's own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import quantum
from .curve import Curve, Interpolation
from .display import Display
from .keys import Behaviour, Floats

CLAMPED = 0.0015
"""Frames by which Blender moves a handle that lies on its key away from it."""

Flags = NDArray[np.bool_]


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
    cubic = old.interpolation == Interpolation.BEZIER
    used_right = np.append(cubic[:-1], old.after == Behaviour.LINEAR)
    used_left = np.append(old.before == Behaviour.LINEAR, cubic[:-1])
    return Match(
        place,
        there & _same(curve.keys, old.keys[place], old.keys[place]),
        there & (~used_left[place] | _same(curve.left, old.left[place], old.keys[place], CLAMPED * frame)),
        there & (~used_right[place] | _same(curve.right, old.right[place], old.keys[place], CLAMPED * frame)),
        there & ((curve.interpolation == old.interpolation[place]) | (place == old.count - 1)),
    )


def unchanged(curve: Curve, shown: Display, frame: float) -> bool:
    """Whether a curve is wholly what the envelope was shown as."""
    old = shown.curve
    if curve.count != old.count or curve.before != old.before or curve.after != old.after:
        return False
    if curve.keys is old.keys:
        return True
    matched = match(curve, shown, frame)
    in_place = matched.place == np.arange(curve.count)
    return bool((in_place & matched.key & matched.left & matched.right & matched.interpolation).all())


def _same(points: Floats, old: Floats, keys: Floats, slack: float = 0.0) -> Flags:
    """Whether (n, 2) points are the old ones to what a float32 holds; times may be ``slack`` off next to their key."""
    reach = quantum.tolerance(np.maximum(np.abs(old), np.abs(keys)), 0.0)
    if slack:
        beside = np.abs(old[:, 0] - keys[:, 0]) <= slack
        reach[:, 0] = np.where(beside, np.maximum(reach[:, 0], slack), reach[:, 0])
    near: Flags = np.asarray((np.abs(points - old) <= reach).all(axis=1))
    return near


def _places(curve: Curve, old: Curve, frame: float) -> NDArray[np.intp]:
    if curve.source is not None:
        given = curve.source.astype(np.intp)
        return np.where((given >= 0) & (given < old.count), given, -1)
    if not old.count:
        return np.full(curve.count, -1)
    times, known = curve.keys[:, 0], old.keys[:, 0]
    right = np.clip(np.searchsorted(known, times), 0, old.count - 1)
    left = np.maximum(right - 1, 0)
    nearest = np.where(np.abs(times - known[left]) < np.abs(times - known[right]), left, right)
    near = np.abs(times - known[nearest]) <= np.maximum(quantum.tolerance(times, 0.0), 1e-4 * frame)
    first = np.append(True, nearest[1:] != nearest[:-1])[: curve.count]
    place = np.where(near & first, nearest, -1)
    if curve.count == old.count:
        # As many keys as before: one that moved in time between its neighbours is still itself.
        moved = np.flatnonzero(place < 0)
        place[moved[~np.isin(moved, place)]] = moved[~np.isin(moved, place)]
    return place
