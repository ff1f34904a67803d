"""Conversion of a bone's curves from the frame in which a game stores them to the frame of its rest pose, and back.

Games store a bone's whole transform relative to its parent, Blender the difference from the rest pose. Locations are
converted by a rotation and an offset, rotations by one more rotation applied after them. Exact conversions are:

- location: key by key if the rotation exchanges or mirrors axes (each channel becomes another one, shifted), and if the
  three channels have keys and handles at the same times (a weighted sum of such cubics is again such a cubic);
- Euler angles of order ZXY, Ry·Rx·Rz: key by key if the rotation is about y, which adds to that angle;
- both: keys with constant interpolation (stepped), for any rest pose.

All other curves get a cubic segment from key to key, halved until it is within a tolerance (`pose_refit`). If the time
of the file's cubics is linear in their parameter, as in all but Bezier 2D segments, that is exact for locations too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from . import rotation
from .envelope import Behaviour, Curve, Curves, Interpolation, evaluate_curve
from .envelope.curve import single_key
from .pose_refit import (
    MERGE_DISTANCE,
    Converted,
    ConvertedBones,
    Flags,
    Floats,
    Indices,
    Runs,
    curve_indices,
    flat_runs,
    refit,
)

__all__ = [
    "REST_POSE_ERROR",
    "Converted",
    "ConvertedBones",
    "are_keys_apart",
    "convert_locations",
    "convert_locations_of_bones",
    "convert_rotations",
    "convert_rotations_of_bones",
    "is_finite",
    "snapped_to_base",
    "with_straight_segments",
    "without_merged_keys",
    "without_repeated_keys",
]

POINTS = ("keys", "left", "right")
SUMMABLE_BEHAVIOURS = tuple(
    map(int, (Behaviour.CONSTANT, Behaviour.LINEAR, Behaviour.OFFSET, Behaviour.REPEAT, Behaviour.OSCILLATE))
)
"""Extrapolations for which a weighted sum of curves behaves as the curves do."""
REST_POSE_ERROR = 2e-5
"""Error of an armature's rest pose: Blender stores head, tail and roll instead of a matrix."""


def is_finite(curves: Curves, frame: float) -> bool:
    """Return whether a 32-bit float can hold every value, and every time in frames of ``frame`` seconds."""
    largest = float(np.finfo(np.float32).max)
    with np.errstate(invalid="ignore"):
        return all(
            bool((np.abs(column) <= most).all())
            for part in (curves.keys, curves.left, curves.right)
            for column, most in zip(part.T, (largest * min(frame, 1.0), largest), strict=True)
        )


def convert_locations(
    curves: Sequence[Curve], axis_rotation: Floats, offset: Floats, frame: float, tolerance: float
) -> Converted:
    """Return the three location curves, multiplied by ``axis_rotation`` (3, 3) and shifted by ``offset`` (3,).

    ``frame``: seconds per frame; ``tolerance``: metres.
    """
    return convert_locations_of_bones(Curves.of(curves), axis_rotation[None], offset[None], frame, tolerance)[0]


def convert_locations_of_bones(
    curves: Curves, rotations: Floats, offsets: Floats, frame: float, tolerance: float
) -> ConvertedBones:
    """Apply `convert_locations` to the three curves of each bone; ``rotations`` (bones, 3, 3), ``offsets``
    (bones, 3).
    """
    axes = np.abs(rotations).argmax(axis=2)
    signs = np.sign(np.take_along_axis(rotations, axes[..., None], axis=2))[..., 0]
    permuted = np.zeros_like(rotations)
    np.put_along_axis(permuted, axes[..., None], signs[..., None], axis=2)
    aligned = np.abs(rotations - permuted).max(axis=(1, 2)) <= REST_POSE_ERROR
    aligned &= curves.counts.reshape(-1, 3).all(axis=1)
    parts = []
    if aligned.any():
        chosen = np.flatnonzero(aligned)
        shifted = _shifted(
            curves.take((3 * chosen[:, None] + axes[chosen]).ravel()), signs[chosen].ravel(), offsets[chosen].ravel()
        )
        parts.append((chosen, ConvertedBones(shifted, np.ones(len(chosen), np.bool_))))
    rest = np.flatnonzero(~aligned)
    if len(rest):
        parts.append(_summed(rest, curves, rotations, offsets))
        rest = np.setdiff1d(rest, parts[-1][0])

    def mapping(values: Floats, bone: Indices, _: Indices) -> Floats:
        return values @ rotations[rest[bone]].swapaxes(1, 2) + offsets[rest[bone], None]

    if len(rest):
        fitted = refit(curves.take(curve_indices(rest, 3)), 3, mapping, frame, np.full(3, tolerance))
        parts.append((rest, fitted))
    return ConvertedBones.in_order(parts)


def convert_rotations(
    curves: Sequence[Curve],
    mode: str,
    axis_rotation: Floats,
    frame: float,
    tolerance: float,
    *,
    quaternions: bool = False,
    like: Sequence[Curve] | None = None,
) -> Converted:
    """Return the curves of a rotation to which the rotation ``axis_rotation`` (4,) is applied afterwards.

    ``mode``: rotation mode of the curves, as in `rotation.of_mode` or ``QUATERNION``. Returns three Euler ZXY curves,
    or four quaternion curves if ``quaternions``. ``frame``: seconds per frame; ``tolerance``: radians. Keys of stepped
    Euler curves get the equivalent angles nearest to the curves ``like``.
    """
    bones = convert_rotations_of_bones(
        Curves.of(curves), mode, axis_rotation[None], frame, tolerance, quaternions=quaternions
    )
    result = bones[0]
    if like is not None and not quaternions and not _rotates_about_y(mode, axis_rotation):
        result.curves = _nearest(result.curves, like)
    return result


def convert_rotations_of_bones(
    curves: Curves, mode: str, rotations: Floats, frame: float, tolerance: float, *, quaternions: bool = False
) -> ConvertedBones:
    """Apply `convert_rotations` to the curves of each bone; ``rotations`` (bones, 4)."""
    if not len(rotations):
        return ConvertedBones.in_order([])
    width = len(curves) // len(rotations)
    about_y: Flags = np.zeros(len(rotations), np.bool_)
    if not quaternions and mode == "ZXY":
        about_y = np.abs(rotations[:, [1, 3]]).max(axis=1) <= REST_POSE_ERROR
        about_y &= curves.counts.reshape(-1, width).all(axis=1)
    parts = []
    if about_y.any():
        chosen = np.flatnonzero(about_y)
        angles = 2 * np.arctan2(rotations[chosen, 2], rotations[chosen, 0])
        offsets = np.zeros((len(chosen), width))
        offsets[:, 1] = angles - 2 * np.pi * np.round(angles / (2 * np.pi))
        shifted = _shifted(curves.take(curve_indices(chosen, width)), np.ones(offsets.size), offsets.ravel())
        parts.append((chosen, ConvertedBones(shifted, np.ones(len(chosen), np.bool_))))
    rest = np.flatnonzero(~about_y)
    if not len(rest):
        return ConvertedBones.in_order(parts)
    matrices = rotation.matrices(rotations[rest])

    def mapping(values: Floats, bone: Indices, starts: Indices) -> Floats:
        if mode == "ZXY" and not quaternions:
            return rotation.rotated_euler_zxy(matrices[bone], values, starts)
        rows, samples, width = values.shape
        flat = values.reshape(-1, width)
        given = rotation.normalised(flat) if mode == "QUATERNION" else rotation.of_mode(flat, mode)
        whole = rotation.multiply(np.repeat(rotations[rest[bone]], samples, axis=0), given)
        begin = starts * samples
        if quaternions:
            return rotation.continuous(whole, begin).reshape(rows, samples, 4)
        return rotation.euler_zxy(rotation.matrices(whole), begin).reshape(rows, samples, 3)

    aligned = rotation.signed_like if quaternions else rotation.euler_zxy_like
    allowed = np.full(4, tolerance / 2) if quaternions else np.full(3, tolerance)
    taken = curves if not parts else curves.take(curve_indices(rest, width))
    return ConvertedBones.in_order([*parts, (rest, refit(taken, width, mapping, frame, allowed, aligned=aligned))])


def _rotates_about_y(mode: str, axis_rotation: Floats) -> bool:
    return mode == "ZXY" and bool(abs(axis_rotation[1]) <= REST_POSE_ERROR and abs(axis_rotation[3]) <= REST_POSE_ERROR)


def snapped_to_base(curves: Sequence[Curve], base: Sequence[Curve], frame: float, near: float) -> list[Curve]:
    """Return the curves with keys and handles replaced by those of ``base`` at the same time if their values differ by
    at most ``near``.

    A curve that evaluates to the same values as the curve of ``base``, even with other keys, is replaced by it.
    """
    result = []
    for curve, old in zip(curves, base, strict=True):
        if old.count and curve.count and _evaluates_equal(curve, old, near):
            result.append(old)
        else:
            result.append(_with_points_of_base(curve, old, frame, near))
    return result


def are_keys_apart(curves: Curves, frame: float) -> bool:
    """Return whether `without_merged_keys` would leave all these curves unchanged."""
    first = np.zeros(len(curves.keys) + 1, np.bool_)
    first[curves.bounds[:-1]] = True
    with np.errstate(over="ignore", invalid="ignore"):
        frames = (curves.keys[:, 0] / frame).astype(np.float32)
        return bool((first[1:-1] | (np.diff(frames) > MERGE_DISTANCE)).all())


def without_merged_keys(curve: Curve, frame: float) -> Curve:
    """Return the curve without keys that Blender would merge with the next one, measured in frames as 32-bit floats."""
    with np.errstate(over="ignore", invalid="ignore"):
        frames = (curve.keys[:, 0] / frame).astype(np.float32)
        kept = np.append(np.diff(frames) > MERGE_DISTANCE, True)[: curve.count]
    return curve if kept.all() else _with_keys_at(curve, kept)


def _with_keys_at(curve: Curve, kept: Flags) -> Curve:
    return Curve(
        curve.keys[kept],
        curve.left[kept],
        curve.right[kept],
        curve.interpolation[kept],
        curve.before,
        curve.after,
    )


def without_repeated_keys(curve: Curve) -> Curve:
    """Return a stepped curve without keys that repeat the value before them; the first and the last key stay.

    Other curves are returned as they are.
    """
    if curve.count < 3 or (curve.interpolation[:-1] != Interpolation.CONSTANT).any():
        return curve
    wanted = np.ones(curve.count, np.bool_)
    wanted[1:-1] = np.abs(np.diff(curve.keys[:, 1])[:-1]) > 1e-7
    return _with_keys_at(curve, wanted)


def with_straight_segments(curve: Curve, tolerance: float) -> Curve:
    """Return the curve with linear segments for cubics that are straight within ``tolerance``: linear segments have no
    handles that would be rounded.

    The distance of a cubic from its chord is at most three quarters of that of its inner control values.
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


def _shifted(curves: Curves, signs: Floats, offsets: Floats) -> Curves:
    """Multiply the values of each curve by one of ``signs`` and add one of ``offsets`` (curves,), in place."""
    moved_by = np.flatnonzero(np.repeat((signs != 1.0) | (offsets != 0.0), curves.counts))
    factor, added = (np.repeat(part, curves.counts)[moved_by] for part in (signs, offsets))
    for times, values in (part.T for part in (curves.keys, curves.left, curves.right)):
        times[moved_by] += 0.0
        values[moved_by] = values[moved_by] * factor + added
    return curves


def _summed(chosen: Indices, curves: Curves, rotations: Floats, offsets: Floats) -> tuple[Indices, ConvertedBones]:
    """Convert the location curves of those ``chosen`` bones whose three curves have the same key times, handle times
    and interpolation, as weighted sums. Returns the indices of these bones and their curves.
    """
    known, model, columns, values = _as_many_keys(chosen, curves)
    if not len(known):
        return known, ConvertedBones.in_order([])
    first, counts = columns[0], model.counts
    starts = model.bounds[:-1]
    ends = starts + counts - 1
    cubic = first.interpolation == Interpolation.BEZIER
    cubic[ends] = False
    behind = np.append(False, cubic[:-1])
    same: Flags = np.ones(len(cubic), np.bool_)
    for column in columns[1:]:
        kind_differs = column.interpolation != first.interpolation
        kind_differs[ends] = False
        same &= ~kind_differs & (column.keys[:, 0] == first.keys[:, 0])
        same &= ~cubic | (column.right[:, 0] == first.right[:, 0])
        same &= ~behind | (column.left[:, 0] == first.left[:, 0])
    alike = np.flatnonzero(np.logical_and.reduceat(same, starts))
    rotation_part, offset = (
        np.repeat(part, counts, axis=-1) for part in (rotations[known].transpose(1, 2, 0), offsets[known].T)
    )
    key, left, right = ((rotation_part * part).sum(axis=1) + offset for part in values)
    drawn = [key.T, np.where(behind, left, key).T, np.where(cubic, right, key).T]
    times = [part[:, 0] for part in (first.keys, first.left, first.right)]
    runs = Runs(starts, times, [key.T, left.T, right.T], model.interpolation, flat_runs(drawn, starts))
    converted_bones = ConvertedBones(runs.curves(model.before, model.after), np.ones(len(known), np.bool_))
    return known[alike], converted_bones if len(alike) == len(known) else converted_bones.of(alike)


def _as_many_keys(chosen: Indices, curves: Curves) -> tuple[Indices, Curves, list[Curves], tuple[Floats, ...]]:
    """Return those of the ``chosen`` bones whose animated curves all have the same number of keys and the same
    extrapolation.

    Also returns, for each of them: its model curve (the first that is animated, which provides the key times); its
    three curves, constant ones replaced by the model curve; and three arrays (3, rows) of the values of keys, left
    handles and right handles.
    """
    own = 3 * chosen[:, None] + np.arange(3)
    if not curves.counts[own].any(axis=1).all():
        curves = Curves.joined([curves, Curves.of([single_key(0.0)])])
    counts, before, after = curves.counts, curves.before, curves.after
    several = counts[own] > 1
    moves = several.any(axis=1)
    axis = np.where(moves, several.argmax(axis=1), (counts[own] > 0).argmax(axis=1))
    model = np.where(counts[own].any(axis=1), own[np.arange(len(own)), axis], len(curves) - 1)
    same = ~several
    same |= (counts[own] == counts[model, None]) & (before[own] == before[model, None])
    same &= ~several | (after[own] == after[model, None])
    known = same.all(axis=1) & (
        ~moves | (np.isin(before[model], SUMMABLE_BEHAVIOURS) & np.isin(after[model], SUMMABLE_BEHAVIOURS))
    )
    chosen, own, several, model = chosen[known], own[known], several[known], model[known]
    columns = [curves.take(numbers) for numbers in np.where(several, own, model[:, None]).T]
    modelled = columns[0] if (axis[known] == 0).all() else curves.take(model)
    values = tuple(np.stack([getattr(column, name)[:, 1] for column in columns]) for name in POINTS)
    if not several.all():
        held = np.minimum(curves.bounds[own], len(curves.keys) - 1)
        value = np.where(counts[own] > 0, curves.keys[held, 1], 0.0)
        constant, value = (np.repeat(part.T, counts[model], axis=1) for part in (~several, value))
        for part in values:
            part[constant] = value[constant]
    return chosen, modelled, columns, values


def _nearest(curves: list[Curve], like: Sequence[Curve]) -> list[Curve]:
    """Return Euler ZXY curves with the equivalent angles nearest to the curves ``like`` at each key, if all are
    stepped.
    """
    longest = max(curves, key=lambda curve: curve.count)
    keyed = [curve for curve in curves if curve.count > 1]
    if any((curve.interpolation[:-1] != Interpolation.CONSTANT).any() for curve in keyed):
        return curves
    times = longest.keys[:, 0]
    angles = np.stack([evaluate_curve(curve, times) for curve in curves], axis=1)
    wanted = np.stack([evaluate_curve(curve, times) if curve.count else np.zeros(len(times)) for curve in like], axis=1)
    chosen = rotation.nearest_euler_zxy(angles, wanted)
    result = []
    for axis in range(3):
        keys = np.stack((times, chosen[:, axis]), axis=1)
        result.append(_collapsed(replace(longest, keys=keys, left=keys.copy(), right=keys.copy(), source=None)))
    return result


def _collapsed(curve: Curve) -> Curve:
    """Return the curve with a single key if all its values are equal; for stepped curves."""
    if flat_runs([curve.keys[:, 1:]], np.zeros(1, np.intp)).all():
        return single_key(float(curve.keys[0, 1]), float(curve.keys[0, 0]))
    return curve


def _evaluates_equal(curve: Curve, old: Curve, near: float) -> bool:
    if (curve.before, curve.after) != (old.before, old.after):
        return False
    knots = np.unique(np.concatenate((curve.keys[:, 0], old.keys[:, 0])))
    shares = np.array([0.0, 0.25, 0.5, 0.75])
    times = np.append((knots[:-1, None] + np.diff(knots)[:, None] * shares).ravel(), knots[-1])
    return bool((np.abs(evaluate_curve(curve, times) - evaluate_curve(old, times)) <= near).all())


def _with_points_of_base(curve: Curve, old: Curve, frame: float, near: float) -> Curve:
    if not old.count:
        return curve
    index = np.clip(np.searchsorted(old.keys[:, 0], curve.keys[:, 0] - MERGE_DISTANCE * frame), 0, old.count - 1)
    is_near = np.abs(old.keys[index, 0] - curve.keys[:, 0]) <= MERGE_DISTANCE * frame
    result = replace(curve, keys=curve.keys.copy(), left=curve.left.copy(), right=curve.right.copy(), source=None)
    for mine, theirs in ((result.keys, old.keys), (result.left, old.left), (result.right, old.right)):
        with np.errstate(invalid="ignore"):
            same = is_near & (np.abs(mine[:, 1] - theirs[index, 1]) <= near)
        same &= np.abs(mine[:, 0] - theirs[index, 0]) <= MERGE_DISTANCE * frame
        mine[same] = theirs[index[same]]
    return result
