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

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from . import rotation
from .envelope import Behaviour, Curve, Interpolation, evaluate_curve
from .pose_refit import MERGED, Carried, Flags, Floats, Indices, cut_out, flat_runs, refitted, still

__all__ = [
    "ALIGNED",
    "Carried",
    "apart",
    "are_apart",
    "is_finite",
    "moved",
    "moved_all",
    "snapped",
    "still",
    "straightened",
    "thinned",
    "turned",
    "turned_all",
]

ALIGNED = 2e-5
"""What an armature's rest pose is off by, since Blender keeps head, tail and roll instead of a matrix."""


def is_finite(curves: Sequence[Curve], frame: float) -> bool:
    """Whether every value, and every time in frames of ``frame`` seconds, is one that a 32-bit float can hold."""
    most = np.finfo(np.float32).max * np.array([min(frame, 1.0), 1.0])
    with np.errstate(invalid="ignore"):
        parts = [part for curve in curves for part in (curve.keys, curve.left, curve.right)]
        return bool((np.abs(np.concatenate(parts)) <= most).all())


def moved(curves: Sequence[Curve], turn: Floats, offset: Floats, frame: float, tolerance: float) -> Carried:
    """Location curves as ``turn`` (3, 3) times them plus ``offset`` (3,); ``frame`` seconds, ``tolerance`` metres."""
    return moved_all([curves], turn[None], offset[None], frame, tolerance)[0]


def moved_all(
    bones: Sequence[Sequence[Curve]], turns: Floats, offsets: Floats, frame: float, tolerance: float
) -> list[Carried]:
    """What `moved` makes of the curves of each bone; ``turns`` (bones, 3, 3), ``offsets`` (bones, 3)."""
    axes = np.abs(turns).argmax(axis=2)
    signs = np.sign(np.take_along_axis(turns, axes[..., None], axis=2))[..., 0]
    permuted = np.zeros_like(turns)
    np.put_along_axis(permuted, axes[..., None], signs[..., None], axis=2)
    aligned = (np.abs(turns - permuted).max(axis=(1, 2)) <= ALIGNED).tolist()
    found: dict[int, Carried] = {}
    for bone, curves in enumerate(bones):
        if aligned[bone] and all(curve.count for curve in curves):
            triples = zip(axes[bone], signs[bone], offsets[bone], strict=True)
            found[bone] = Carried([_shifted(curves[axis], sign, value) for axis, sign, value in triples], exact=True)
    found |= _summed([bone for bone in range(len(bones)) if bone not in found], bones, turns, offsets)
    rest = np.array([bone for bone in range(len(bones)) if bone not in found], np.intp)

    def mapping(values: Floats, bone: Indices, _: Indices) -> Floats:
        return values @ turns[rest[bone]].swapaxes(1, 2) + offsets[rest[bone], None]

    if len(rest):
        made = refitted([bones[bone] for bone in rest], mapping, frame, np.full(3, tolerance))
        found.update(zip(rest.tolist(), made, strict=True))
    return [found[bone] for bone in range(len(bones))]


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
    result = turned_all([curves], mode, turn[None], frame, tolerance, quaternions=quaternions)[0]
    if like is not None and not quaternions and not _turns_about_y(mode, turn):
        result.curves = _nearest(result.curves, like)
    return result


def turned_all(
    bones: Sequence[Sequence[Curve]],
    mode: str,
    turns: Floats,
    frame: float,
    tolerance: float,
    *,
    quaternions: bool = False,
) -> list[Carried]:
    """What `turned` makes of the curves of each bone; ``turns`` (bones, 4)."""
    found: dict[int, Carried] = {}
    for bone, curves in enumerate(bones):
        if not quaternions and _turns_about_y(mode, turns[bone]) and all(curve.count for curve in curves):
            angle = float(2 * np.arctan2(turns[bone, 2], turns[bone, 0]))
            angle -= 2 * np.pi * round(angle / (2 * np.pi))
            found[bone] = Carried(
                [_shifted(curve, 1.0, angle if axis == 1 else 0.0) for axis, curve in enumerate(curves)], exact=True
            )
    rest = np.array([bone for bone in range(len(bones)) if bone not in found], np.intp)
    if not len(rest):
        return [found[bone] for bone in range(len(bones))]
    matrices = rotation.matrices(turns[rest])

    def mapping(values: Floats, bone: Indices, starts: Indices) -> Floats:
        if mode == "ZXY" and not quaternions:
            return rotation.turned_euler_zxy(matrices[bone], values, starts)
        rows, samples, width = values.shape
        flat = values.reshape(-1, width)
        given = rotation.normalised(flat) if mode == "QUATERNION" else rotation.of_mode(flat, mode)
        whole = rotation.multiply(np.repeat(turns[rest[bone]], samples, axis=0), given)
        begin = starts * samples
        if quaternions:
            return rotation.continuous(whole, begin).reshape(rows, samples, 4)
        return rotation.euler_zxy(rotation.matrices(whole), begin).reshape(rows, samples, 3)

    allowed = np.full(4, tolerance / 2) if quaternions else np.full(3, tolerance)
    made = refitted([bones[bone] for bone in rest], mapping, frame, allowed)
    found.update(zip(rest.tolist(), made, strict=True))
    return [found[bone] for bone in range(len(bones))]


def _turns_about_y(mode: str, turn: Floats) -> bool:
    return mode == "ZXY" and bool(abs(turn[1]) <= ALIGNED and abs(turn[3]) <= ALIGNED)


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


def are_apart(curves: Sequence[Curve], frame: float) -> bool:
    """Whether `apart` leaves all these curves as they are."""
    first = np.zeros(sum(curve.count for curve in curves), np.bool_)
    first[np.cumsum([0, *(curve.count for curve in curves[:-1])])[[curve.count > 0 for curve in curves]]] = True
    with np.errstate(over="ignore", invalid="ignore"):
        frames = (np.concatenate([curve.keys[:, 0] for curve in curves]) / frame).astype(np.float32)
        return bool((first[1:] | (np.diff(frames) > MERGED)).all())


def apart(curve: Curve, frame: float) -> Curve:
    """The curve without keys that Blender makes one with the next: those at frames a 32-bit float cannot tell apart."""
    with np.errstate(over="ignore", invalid="ignore"):
        frames = (curve.keys[:, 0] / frame).astype(np.float32)
        kept = np.append(np.diff(frames) > MERGED, True)[: curve.count]
    return curve if kept.all() else _only(curve, kept)


def _only(curve: Curve, kept: Flags) -> Curve:
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


def _summed(
    chosen: Sequence[int], bones: Sequence[Sequence[Curve]], turns: Floats, offsets: Floats
) -> dict[int, Carried]:
    """Those of the ``chosen`` bones whose three curves have keys, handles and kinds of segments in common, as sums."""
    counted = {bone: _as_many_keys(bones[bone]) for bone in chosen}
    known = {bone: curves for bone, curves in counted.items() if curves is not None}
    if not known:
        return {}
    counts = np.array([curves[0].count for curves in known.values()])
    starts = np.cumsum(counts) - counts
    columns = [[curves[axis] for curves in known.values()] for axis in range(3)]
    keys, left, right = (
        np.stack([np.concatenate([getattr(curve, name) for curve in column]) for column in columns], axis=1)
        for name in ("keys", "left", "right")
    )
    kinds = np.stack([np.concatenate([curve.interpolation for curve in column]) for column in columns], axis=1)
    ends = starts + counts - 1
    cubic = kinds[:, 0] == Interpolation.BEZIER
    cubic[ends] = False
    behind = np.append(False, cubic[:-1])
    kinds[ends] = Interpolation.BEZIER
    same = (keys[:, 1:, 0] == keys[:, :1, 0]).all(axis=1) & (kinds[:, 1:] == kinds[:, :1]).all(axis=1)
    same &= ~cubic | (right[:, 1:, 0] == right[:, :1, 0]).all(axis=1)
    same &= ~behind | (left[:, 1:, 0] == left[:, :1, 0]).all(axis=1)
    alike = np.logical_and.reduceat(same, starts)
    place = np.repeat(np.array(list(known)), counts)
    values = [np.einsum("kj,kij->ki", part[:, :, 1], turns[place]) + offsets[place] for part in (keys, left, right)]
    drawn = [values[0], np.where(behind[:, None], values[1], values[0]), np.where(cubic[:, None], values[2], values[0])]
    flat = flat_runs(drawn, starts)
    times = [part[:, 0, 0] for part in (keys, left, right)]
    points = [
        [np.stack((time, value[:, axis]), axis=1) for time, value in zip(times, values, strict=True)]
        for axis in range(3)
    ]
    found = {}
    for number, (bone, curves) in enumerate(known.items()):
        if not alike[number]:
            continue
        part, model = slice(starts[number], ends[number] + 1), _model(bones[bone], curves)
        found[bone] = Carried(
            [
                still(float(points[axis][0][part.start, 1]), float(times[0][part.start]))
                if flat[number, axis]
                else cut_out(points[axis], part, model.interpolation.copy(), model.before, model.after)
                for axis in range(3)
            ],
            exact=True,
        )
    return found


def _as_many_keys(curves: Sequence[Curve]) -> list[Curve] | None:
    """Three curves of as many keys, those that stand still with keys where the others have them; None for others."""
    keyed = [curve for curve in curves if curve.count > 1]
    model = keyed[0] if keyed else next((curve for curve in curves if curve.count), still(0.0))
    ends = {Behaviour.CONSTANT, Behaviour.LINEAR, Behaviour.OFFSET, Behaviour.REPEAT, Behaviour.OSCILLATE}
    if keyed and (model.before not in ends or model.after not in ends):
        return None
    if any(
        curve.count != model.count or curve.before != model.before or curve.after != model.after for curve in keyed[1:]
    ):
        return None
    return [curve if curve.count > 1 else _standing(curve, model) for curve in curves]


def _standing(curve: Curve, model: Curve) -> Curve:
    """A curve of one key or none with keys where ``model`` has them."""
    value = float(curve.keys[:1, 1].sum())
    parts = []
    for name in ("keys", "left", "right"):
        part = getattr(model, name).copy()
        part[:, 1] = value
        parts.append(part)
    return cut_out(parts, slice(None), model.interpolation)


def _model(given: Sequence[Curve], filled: Sequence[Curve]) -> Curve:
    """The curve that the others have their keys from."""
    return next((curve for curve in (*given, *filled) if curve.count == filled[0].count), filled[0])


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


def _collapsed(curve: Curve) -> Curve:
    """One key where all say the same; of held keys."""
    if flat_runs([curve.keys[:, 1:]], np.zeros(1, np.intp)).all():
        return still(float(curve.keys[0, 1]), float(curve.keys[0, 0]))
    return curve


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
