"""A bone's curves carried from the frame a game keeps them in to the frame of its rest pose, and back.

Games keep a bone's whole transform in its parent, Blender how it differs from the rest pose. On locations that is a
turn and an offset, on rotations one more rotation in front. What carries over exactly:

- location: key by key where the turn exchanges axes or mirrors them (each channel is then another one, moved), and
  where the three channels have keys and handles at the same times (a sum of such cubics is one of them);
- Euler angles of order ZXY, Ry·Rx·Rz: key by key where the rotation in front is one about y, which adds to the angle;
- both: whatever is held from key to key (stepped), through any rest pose.

Everything else gets a cubic from key to key, halved until it keeps a tolerance; where the file holds cubics whose time
runs evenly, as all but Bezier 2D segments do, that is exact for locations too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from . import rotation
from .envelope import Behaviour, Curve, Interpolation, evaluate_curve
from .envelope.display import NEAR, SPACING

Floats = NDArray[np.float64]
Mapping = Callable[[Floats], Floats]

ALIGNED = 2e-5
"""What an armature's rest pose is off by, since Blender keeps head, tail and roll instead of a matrix."""
MERGED = 0.011
"""Frames; Blender makes one of keys that are nearer."""
HALVINGS = 6
EXACT = 1e-6
"""Metres or radians that count as the rounding of 32-bit floats."""
INNER = 8
_SHARES = np.arange(INNER + 2) / (INNER + 1)
_FREE = np.stack((3 * (1 - _SHARES) ** 2 * _SHARES, 3 * (1 - _SHARES) * _SHARES**2), axis=1)
_SOLVED = np.linalg.pinv(_FREE[1:-1])


@dataclass
class Carried:
    """Curves in the other frame. ``exact``: they are what they were, but for rounding, and have no more keys."""

    curves: list[Curve]
    exact: bool


def still(value: float, time: float = 0.0) -> Curve:
    """One key."""
    key = np.array([[time, value]])
    return Curve(key, key.copy(), key.copy(), np.array([Interpolation.BEZIER], np.uint8))


def is_finite(curves: Sequence[Curve], frame: float) -> bool:
    """Whether every value, and every time in frames of ``frame`` seconds, is one that a 32-bit float can hold."""
    most = np.finfo(np.float32).max * np.array([min(frame, 1.0), 1.0])
    with np.errstate(invalid="ignore"):
        parts = [part for curve in curves for part in (curve.keys, curve.left, curve.right)]
        return all(bool((np.abs(part) <= most).all()) for part in parts)


def moved(curves: Sequence[Curve], turn: Floats, offset: Floats, frame: float, tolerance: float) -> Carried:
    """Location curves as ``turn`` (3, 3) times them plus ``offset`` (3,); ``frame`` seconds, ``tolerance`` metres."""
    axes = np.abs(turn).argmax(axis=1)
    signs = np.sign(turn[np.arange(3), axes])
    permuted = np.zeros((3, 3))
    permuted[np.arange(3), axes] = signs
    if np.abs(turn - permuted).max() <= ALIGNED and all(curve.count for curve in curves):
        pairs = zip(axes, signs, offset, strict=True)
        return Carried([_shifted(curves[axis], sign, value) for axis, sign, value in pairs], exact=True)
    if _alike(curves):
        return Carried(_summed(curves, turn, offset), exact=True)
    return _refitted(curves, lambda values: values @ turn.T + offset, frame, np.full(3, tolerance))


def turned(
    curves: Sequence[Curve],
    mode: str,
    turn: Floats,
    frame: float,
    tolerance: float,
    *,
    quaternions: bool = False,
    like: Sequence[Curve] | None = None,
) -> Carried:
    """Rotation curves of a ``mode`` (as `rotation.of_mode` or ``QUATERNION``) behind a rotation ``turn`` (4,).

    Three Euler ZXY curves come out, or four of a quaternion. ``tolerance`` radians. Of the answers there are to held
    angles, those nearest to the curves ``like`` are taken.
    """
    about_y = abs(turn[1]) <= ALIGNED and abs(turn[3]) <= ALIGNED
    if mode == "ZXY" and about_y and not quaternions and all(curve.count for curve in curves):
        angle = float(2 * np.arctan2(turn[2], turn[0]))
        angle -= 2 * np.pi * round(angle / (2 * np.pi))
        return Carried([_shifted(curve, 1.0, angle if axis == 1 else 0.0) for axis, curve in enumerate(curves)], True)

    def mapping(values: Floats) -> Floats:
        given = rotation.normalised(values) if mode == "QUATERNION" else rotation.of_mode(values, mode)
        found = rotation.multiply(np.broadcast_to(turn, given.shape), given)
        return rotation.continuous(found) if quaternions else rotation.euler_zxy(rotation.matrices(found))

    allowed = np.full(4, tolerance / 2) if quaternions else np.full(3, tolerance)
    result = _refitted(curves, mapping, frame, allowed)
    if like is not None and not quaternions:
        result.curves = _nearest(result.curves, like)
    return result


def snapped(curves: Sequence[Curve], base: Sequence[Curve], frame: float, near: float) -> list[Curve]:
    """The curves with the numbers of ``base`` where they are ``near`` enough; its very curves where that is all.

    A curve that says the same as the base's, though with other keys, is the base's.
    """
    result = []
    for curve, old in zip(curves, base, strict=True):
        if old.count and curve.count and _says_the_same(curve, old, near):
            result.append(old)
        else:
            result.append(_with_keys_of(curve, old, frame, near))
    return result


def apart(curve: Curve, frame: float) -> Curve:
    """The curve without keys that Blender makes one with the next: those at frames a 32-bit float cannot tell apart."""
    with np.errstate(over="ignore", invalid="ignore"):
        frames = (curve.keys[:, 0] / frame).astype(np.float32)
        kept = np.append(np.diff(frames) > MERGED, True)[: curve.count]
    return curve if kept.all() else _only(curve, kept)


def _only(curve: Curve, kept: NDArray[np.bool_]) -> Curve:
    return Curve(
        curve.keys[kept],
        curve.left[kept],
        curve.right[kept],
        curve.interpolation[kept],
        curve.before,
        curve.after,
    )


def thinned(curve: Curve) -> Curve:
    """A curve of held keys without those that repeat the value before them; the first and the last key stay."""
    if curve.count < 3 or (curve.interpolation[:-1] != Interpolation.CONSTANT).any():
        return curve
    wanted = np.ones(curve.count, np.bool_)
    wanted[1:-1] = np.abs(np.diff(curve.keys[:, 1])[:-1]) > 1e-7
    return _only(curve, wanted)


def straightened(curve: Curve, tolerance: float) -> Curve:
    """The curve with straight lines for cubics that are so nearly straight: lines have no handles to be rounded.

    A cubic lies no further from its chord than three quarters of what its inner control values do.
    """
    third = np.diff(curve.keys, axis=0) / 3
    bent = np.maximum(
        np.abs(curve.right[:-1] - curve.keys[:-1] - third).max(axis=1, initial=0.0),
        np.abs(curve.left[1:] - curve.keys[1:] + third).max(axis=1, initial=0.0),
    )
    line = (0.75 * bent <= tolerance) & (curve.interpolation[:-1] == Interpolation.BEZIER)
    interpolation = curve.interpolation.copy()
    interpolation[:-1][line] = Interpolation.LINEAR
    return replace(curve, interpolation=interpolation)


def _shifted(curve: Curve, sign: float, offset: float) -> Curve:
    if sign == 1.0 and offset == 0.0:
        return replace(curve, source=None)
    factor, moved_by = np.array([1.0, sign]), np.array([0.0, offset])
    keys, left, right = (part * factor + moved_by for part in (curve.keys, curve.left, curve.right))
    return replace(curve, keys=keys, left=left, right=right, source=None)


def _alike(curves: Sequence[Curve]) -> bool:
    """Whether the curves with more than one key have keys, handles and kinds of segments in common."""
    keyed = [curve for curve in curves if curve.count > 1]
    if not keyed:
        return True
    first = keyed[0]
    ends = {Behaviour.CONSTANT, Behaviour.LINEAR, Behaviour.OFFSET, Behaviour.REPEAT, Behaviour.OSCILLATE}
    if first.before not in ends or first.after not in ends:
        return False
    cubic = first.interpolation[:-1] == Interpolation.BEZIER
    return all(
        curve.count == first.count
        and (curve.before, curve.after) == (first.before, first.after)
        and np.array_equal(curve.keys[:, 0], first.keys[:, 0])
        and np.array_equal(curve.interpolation[:-1], first.interpolation[:-1])
        and np.array_equal(curve.right[:-1, 0][cubic], first.right[:-1, 0][cubic])
        and np.array_equal(curve.left[1:, 0][cubic], first.left[1:, 0][cubic])
        for curve in keyed[1:]
    )


def _summed(curves: Sequence[Curve], turn: Floats, offset: Floats) -> list[Curve]:
    keyed = [curve for curve in curves if curve.count > 1]
    model = max(keyed or curves, key=lambda curve: curve.count)
    if not model.count:
        model = still(0.0)
    parts = []
    for name in ("keys", "left", "right"):
        columns = [
            getattr(curve, name)[:, 1] if curve.count > 1 else np.full(model.count, float(curve.keys[:1, 1].sum()))
            for curve in curves
        ]
        times = getattr(model, name)[:, 0]
        values = np.stack(columns, axis=1) @ turn.T + offset
        parts.append([np.stack((times, values[:, axis]), axis=1) for axis in range(3)])
    made = [
        Curve(keys, left, right, model.interpolation.copy(), model.before, model.after)
        for keys, left, right in zip(*parts, strict=True)
    ]
    return [_collapsed(curve) for curve in made]


def _collapsed(curve: Curve) -> Curve:
    """One key where all say the same."""
    values = [curve.keys[:, 1]]
    if (curve.interpolation[:-1] == Interpolation.BEZIER).any():
        values += [curve.right[:-1, 1], curve.left[1:, 1]]
    flat = np.concatenate(values)
    if curve.count > 1 and np.abs(flat - flat[0]).max() <= 1e-9 * max(1.0, abs(float(flat[0]))):
        return still(float(flat[0]), float(curve.keys[0, 0]))
    return curve


@dataclass
class _Pieces:
    """Rows a key: when its segment ``begin``s and ``end``s, the ``result`` (n, INNER + 2, m) along it, whether nothing
    moves in it (``held``); the last row is the last key alone.
    """

    begin: Floats
    end: Floats
    held: NDArray[np.bool_]
    result: Floats
    inner: Floats
    error: Floats


def _refitted(curves: Sequence[Curve], mapping: Mapping, frame: float, tolerance: Floats) -> Carried:
    begin = _knots(curves, frame)
    if all((curve.interpolation[:-1] == Interpolation.CONSTANT).all() for curve in curves):
        return Carried(_held(curves, mapping, begin, frame), exact=True)
    end = _ends(curves, begin, frame)
    keys = len(begin)
    pieces = _pieces(curves, mapping, begin, end, frame)
    for _ in range(HALVINGS):
        bad = (pieces.error > tolerance).any(axis=1) & (pieces.end - pieces.begin > SPACING * frame)
        if not bad.any():
            break
        middle = (pieces.begin[bad] + pieces.end[bad]) / 2
        places = np.flatnonzero(bad) + 1
        begin, end = np.insert(pieces.begin, places, middle), np.insert(pieces.end, places, pieces.end[bad])
        end[np.flatnonzero(bad) + np.arange(len(places))] = middle
        pieces = _pieces(curves, mapping, begin, end, frame)
    made = [_collapsed(_assembled(pieces, axis)) for axis in range(pieces.result.shape[2])]
    return Carried(made, exact=len(pieces.begin) == keys and float(pieces.error.max(initial=0.0)) <= EXACT)


def _held(curves: Sequence[Curve], mapping: Mapping, begin: Floats, frame: float) -> list[Curve]:
    """Curves that are held from key to key need no looks between the keys."""
    columns = [
        curve.keys[_place(curve, begin, frame).clip(0), 1] if curve.count else np.zeros(len(begin)) for curve in curves
    ]
    with np.errstate(all="ignore"):  # numbers of broken files; what comes of them is looked at later
        result = mapping(np.stack(columns, axis=1))
    interpolation = np.full(len(begin), np.uint8(Interpolation.CONSTANT))
    interpolation[-1] = Interpolation.BEZIER
    made = []
    for column in result.T:
        keys = np.stack((begin, column), axis=1)
        made.append(_collapsed(Curve(keys, keys.copy(), keys.copy(), interpolation.copy())))
    return made


def _place(curve: Curve, times: Floats, frame: float) -> NDArray[np.intp]:
    """The last key of a curve at or before each time, -1 before the first."""
    return np.searchsorted(curve.keys[:, 0], times + MERGED * frame, "right") - 1


def _knots(curves: Sequence[Curve], frame: float) -> Floats:
    keyed = [curve.keys[:, 0] for curve in curves if curve.count > 1] or [
        curve.keys[:1, 0] for curve in curves if curve.count
    ]
    if not keyed:
        return np.zeros(1)
    times = np.unique(np.concatenate(keyed))
    result: Floats = times[np.append(True, np.diff(times) > MERGED * frame)]
    return result


def _ends(curves: Sequence[Curve], begin: Floats, frame: float) -> Floats:
    """Where each segment ends: at the next key, or just before it where one of several channels leaps there."""
    end = np.append(begin[1:], begin[-1])
    rows = [_along(curve, begin, begin[:, None], frame) for curve in curves]
    held = np.stack([row[1] for row in rows], axis=1)
    values = np.stack([row[0][:, 0] for row in rows], axis=1)
    leaps = np.zeros(len(begin), np.bool_)
    leaps[:-1] = (held[:-1] & (np.abs(np.diff(values, axis=0)) > EXACT)).any(axis=1) & ~held[:-1].all(axis=1)
    wide = end - begin > SPACING * frame
    shortened: Floats = np.where(leaps & wide, end - NEAR * frame, end)
    return shortened


def _along(curve: Curve, begin: Floats, grid: Floats, frame: float) -> tuple[Floats, NDArray[np.bool_]]:
    """Values (n, samples) of one curve on the times ``grid``, and whether it stands still from each ``begin`` on."""
    if not curve.count:
        return np.zeros_like(grid), np.ones(len(begin), np.bool_)
    place = _place(curve, begin, frame)
    inside = np.clip(place, 0, curve.count - 1)
    held = (place < 0) | (place >= curve.count - 1) | (curve.interpolation[inside] == Interpolation.CONSTANT)
    values = np.where(held[:, None], curve.keys[inside, 1][:, None], evaluate_curve(curve, grid))
    return values, held


def _pieces(curves: Sequence[Curve], mapping: Mapping, begin: Floats, end: Floats, frame: float) -> _Pieces:
    grid = begin[:, None] + (end - begin)[:, None] * _SHARES
    grid[:, -1] = end
    rows = [_along(curve, begin, grid, frame) for curve in curves]
    held = np.logical_and.reduce([row[1] for row in rows], axis=0)
    values = np.stack([row[0] for row in rows], axis=2)
    with np.errstate(all="ignore"):  # numbers of broken files; what comes of them is looked at later
        result = mapping(values.reshape(-1, len(curves))).reshape(len(begin), INNER + 2, -1)
        first, last = result[:, :1], result[:, -1:]
        known = (1 - _SHARES[:, None]) ** 3 * first + _SHARES[:, None] ** 3 * last
        line = np.concatenate((first + (last - first) / 3, last - (last - first) / 3), axis=1)
        wanted = (result - known)[:, 1:-1] - _FREE[1:-1] @ line
        inner = line + _SOLVED @ wanted
        error = np.abs(_FREE[1:-1] @ inner - (result - known)[:, 1:-1]).max(axis=1)
    error[held] = 0.0
    return _Pieces(begin, end, held, result, inner, np.nan_to_num(error, nan=0.0))


def _assembled(pieces: _Pieces, axis: int) -> Curve:
    """The curve of one channel: a key a piece, and one more where a piece ends just before the next begins."""
    begin, end, held = pieces.begin, pieces.end, pieces.held
    values, inner = pieces.result[:, :, axis], pieces.inner[:, :, axis]
    keys = np.stack((begin, values[:, 0]), axis=1)
    third = (end - begin) / 3
    left, right = keys.copy(), keys.copy()
    right[~held] = np.stack((begin + third, inner[:, 0]), axis=1)[~held]
    arriving = np.stack((end - third, inner[:, 1]), axis=1)
    joined = np.append(False, ~held[:-1] & (end[:-1] == begin[1:]))
    left[joined] = arriving[:-1][joined[1:]]
    interpolation = np.where(held, np.uint8(Interpolation.CONSTANT), np.uint8(Interpolation.BEZIER))
    interpolation[-1] = Interpolation.BEZIER
    before_leap = np.flatnonzero(~held[:-1] & (end[:-1] != begin[1:]))
    if len(before_leap):
        behind = before_leap + 1
        stops = np.stack((end[before_leap], values[before_leap, -1]), axis=1)
        keys, right = np.insert(keys, behind, stops, axis=0), np.insert(right, behind, stops, axis=0)
        left = np.insert(left, behind, arriving[before_leap], axis=0)
        interpolation = np.insert(interpolation, behind, np.uint8(Interpolation.CONSTANT))
    return Curve(keys, left, right, interpolation)


def _nearest(curves: list[Curve], like: Sequence[Curve]) -> list[Curve]:
    """Euler ZXY curves that are held throughout, at each key the answer nearest to what ``like`` says there."""
    longest = max(curves, key=lambda curve: curve.count)
    keyed = [curve for curve in curves if curve.count > 1]
    if any((curve.interpolation[:-1] != Interpolation.CONSTANT).any() for curve in keyed):
        return curves
    times = longest.keys[:, 0]
    angles = np.stack([evaluate_curve(curve, times) for curve in curves], axis=1)
    wanted = np.stack([evaluate_curve(curve, times) if curve.count else np.zeros(len(times)) for curve in like], axis=1)
    chosen = rotation.nearest_euler_zxy(angles, wanted)
    made = []
    for axis in range(3):
        keys = np.stack((times, chosen[:, axis]), axis=1)
        made.append(_collapsed(replace(longest, keys=keys, left=keys.copy(), right=keys.copy(), source=None)))
    return made


def _says_the_same(curve: Curve, old: Curve, near: float) -> bool:
    if (curve.before, curve.after) != (old.before, old.after):
        return False
    knots = np.unique(np.concatenate((curve.keys[:, 0], old.keys[:, 0])))
    shares = np.array([0.0, 0.25, 0.5, 0.75])
    times = np.append((knots[:-1, None] + np.diff(knots)[:, None] * shares).ravel(), knots[-1])
    return bool((np.abs(evaluate_curve(curve, times) - evaluate_curve(old, times)) <= near).all())


def _with_keys_of(curve: Curve, old: Curve, frame: float, near: float) -> Curve:
    if not old.count:
        return curve
    place = np.clip(np.searchsorted(old.keys[:, 0], curve.keys[:, 0] - MERGED * frame), 0, old.count - 1)
    there = np.abs(old.keys[place, 0] - curve.keys[:, 0]) <= MERGED * frame
    result = replace(curve, keys=curve.keys.copy(), left=curve.left.copy(), right=curve.right.copy(), source=None)
    for mine, theirs in ((result.keys, old.keys), (result.left, old.left), (result.right, old.right)):
        with np.errstate(invalid="ignore"):
            same = there & (np.abs(mine[:, 1] - theirs[place, 1]) <= near)
        same &= np.abs(mine[:, 0] - theirs[place, 0]) <= MERGED * frame
        mine[same] = theirs[place[same]]
    return result
