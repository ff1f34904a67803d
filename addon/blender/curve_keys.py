"""Keys of F-curves as `Curves` and back, with handles and interpolation, for bones and objects.

This module alone handles the differences between F-curves and the game: an F-curve has one extrapolation for both ends
(if only one end is linear, the other's outer handle is made flat), and repeating is a Cycles modifier.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from ..core.envelope import Behaviour, Curve, Curves, Interpolation

if TYPE_CHECKING:
    import bpy

Floats = NDArray[np.float64]

DIGEST_SIZE = 16
CYCLES: dict[int, str] = {
    Behaviour.REPEAT: "REPEAT",
    Behaviour.OFFSET: "REPEAT_OFFSET",
    Behaviour.OSCILLATE: "MIRROR",
}
_FREE = 0
_COLUMNS = ("co", "handle_left", "handle_right")


@dataclass
class Keys:
    """Keys of several F-curves, concatenated, as Blender stores them.

    ``columns``: frame and value (keys, 2) of keys, left and right handles; ``interpolation`` (keys,): `Interpolation`;
    ``bounds``: index of each curve's first key, and the number of all keys.
    """

    columns: list[NDArray[np.float32]]
    interpolation: NDArray[np.uint8]
    bounds: list[int]

    def digest(self, first: int, channels: Sequence[tuple[str, int, str]]) -> bytes:
        """Return a digest of the curves from index ``first`` on, one for each of ``channels`` (channel, index,
        extrapolation).
        """
        bounds = self.bounds[first : first + len(channels) + 1]
        counts, part = np.diff(bounds).tolist(), slice(bounds[0], bounds[-1])
        digest = hashlib.blake2b(repr((channels, counts)).encode(), digest_size=DIGEST_SIZE)
        for column in self.columns:
            digest.update(column[part].data)
        digest.update(self.interpolation[part].data)
        return digest.digest()

    def curve(self, number: int, of: bpy.types.FCurve, fps: float) -> Curve:
        """Return the keys of an F-curve, which is ``of``, at ``fps`` frames per second."""
        part = slice(*self.bounds[number : number + 2])
        keys, left, right = (column[part].astype(np.float64) / [fps, 1.0] for column in self.columns)
        result = Curve(keys, left, right, self.interpolation[part].copy())
        result.before, result.after = _behaviours(of, result)
        return result


_FIELDS: dict[str, tuple[Any, int]] = {
    **dict.fromkeys(_COLUMNS, (np.float32, 2)),
    **dict.fromkeys(("amplitude", "back", "period"), (np.float32, 1)),
    **dict.fromkeys(("handle_left_type", "handle_right_type", "interpolation", "easing", "type"), (np.uint8, 1)),
}
"""Everything that a key has, with the type and number of its values."""


@dataclass(frozen=True)
class KeyRows:
    """All keys of one F-curve with everything they have: field -> (keys, width)."""

    fields: dict[str, NDArray[Any]]

    @classmethod
    def read(cls, curve: Any) -> Self:
        """Read the keys of an F-curve."""
        fields = {}
        for name, (kind, width) in _FIELDS.items():
            fields[name] = np.empty((len(curve.keyframe_points), width), kind)
            curve.keyframe_points.foreach_get(name, fields[name].ravel())
        return cls(fields)

    @property
    def times(self) -> NDArray[np.float32]:
        """(keys,) frames of the keys."""
        times: NDArray[np.float32] = self.fields["co"][:, 0]
        return times

    def where(self, chosen: NDArray[np.bool_]) -> Self:
        """Return only the ``chosen`` (keys,) keys."""
        return type(self)({name: rows[chosen] for name, rows in self.fields.items()})

    def moved(self, keys: NDArray[np.intp], values: NDArray[np.float32]) -> Self:
        """Return the rows with other ``values`` for some keys; their handles move along."""
        fields = dict(self.fields)
        change = values - self.fields["co"][keys, 1]
        for name in _COLUMNS:
            fields[name] = self.fields[name].copy()
            fields[name][keys, 1] += change
        fields["co"][keys, 1] = values
        return type(self)(fields)

    def replaced(self, times: NDArray[np.float32], values: NDArray[np.float32], kind: int) -> Self:
        """Return the keys with others, of the interpolation ``kind``, in place of all from the first to the last of
        ``times``.
        """
        added = {name: np.zeros((len(times), width), of) for name, (of, width) in _FIELDS.items()}
        for name in _COLUMNS:
            added[name][:] = np.stack([times, values], axis=1)
        added["interpolation"][:] = kind
        outside = (self.times < times[0]) | (self.times > times[-1])
        joined = {name: np.concatenate([rows[outside], added[name]]) for name, rows in self.fields.items()}
        order = np.argsort(joined["co"][:, 0], kind="stable")
        return type(self)({name: rows[order] for name, rows in joined.items()})

    def restore_outside(self, other: Self, time: float, *, keeps_kind: bool) -> None:
        """Give a key at ``time`` its handles in ``other`` back, and its interpolation (``keeps_kind``), so that the
        curve beyond `replaced` keys has its shape.
        """
        at, of = (np.flatnonzero(rows.times == time) for rows in (self, other))
        for name in _FIELDS if len(of) else ():
            if name in {"handle_left_type", "handle_right_type"}:
                self.fields[name][at] = _FREE
            elif keeps_kind or name != "interpolation":
                self.fields[name][at] = other.fields[name][of]

    def write(self, curve: Any) -> None:
        """Replace the keys of an F-curve."""
        points = curve.keyframe_points
        if len(points) != len(self.times):
            points.clear()
            points.add(len(self.times))
        for name, rows in self.fields.items():
            points.foreach_set(name, rows.ravel())
        curve.update()


def read(curves: Sequence[bpy.types.FCurve]) -> Keys:
    """Read the keys of F-curves."""
    points_of = [curve.keyframe_points for curve in curves]
    bounds = np.cumsum([0, *map(len, points_of)]).tolist()
    columns = [np.empty(2 * bounds[-1], np.float32) for _ in _COLUMNS]
    interpolation = np.empty(bounds[-1], np.uint8)
    for points, begin, end in zip(points_of, bounds[:-1], bounds[1:], strict=True):
        for name, column in zip(_COLUMNS, columns, strict=True):
            points.foreach_get(name, column[2 * begin : 2 * end])
        points.foreach_get("interpolation", interpolation[begin:end])
    return Keys([column.reshape(-1, 2) for column in columns], interpolation, bounds)


def read_curves(curves: Sequence[bpy.types.FCurve], fps: float) -> list[Curve]:
    """Return the keys of F-curves, at ``fps`` frames per second."""
    keys = read(curves)
    return [keys.curve(number, curve, fps) for number, curve in enumerate(curves)]


def write(targets: Sequence[Any], curves: Curves, fps: float) -> Keys:
    """Write the keys of ``curves`` to new F-curves, at ``fps`` frames per second."""
    keys, left, right = (
        np.stack((column[:, 0] * fps, column[:, 1]), axis=1, dtype=np.float32, casting="same_kind").ravel()
        for column in (curves.keys, *_with_flat_ends(curves))
    )
    interpolation, counts, bounds = curves.interpolation, curves.counts.tolist(), curves.bounds.tolist()
    free = bytes([_FREE]) * max(counts, default=0)
    for curve, begin, count in zip(targets, bounds, counts, strict=False):
        if not count:
            continue
        points, part, kinds = curve.keyframe_points, slice(2 * begin, 2 * (begin + count)), free[:count]
        points.add(count)
        points.foreach_set("co", keys[part])
        points.foreach_set("handle_left", left[part])
        points.foreach_set("handle_right", right[part])
        points.foreach_set("handle_left_type", kinds)
        points.foreach_set("handle_right_type", kinds)
        points.foreach_set("interpolation", interpolation[begin : begin + count])
    for number in np.flatnonzero(extrapolated(curves)).tolist():
        targets[number].extrapolation = "LINEAR"
    repeating = np.isin(curves.before, list(CYCLES)) | np.isin(curves.after, list(CYCLES))
    for number in np.flatnonzero(repeating & (curves.counts > 0)).tolist():
        cycles = targets[number].modifiers.new("CYCLES")
        cycles.mode_before, cycles.mode_after = (
            CYCLES.get(int(ends[number]), "NONE") for ends in (curves.before, curves.after)
        )
    return Keys([column.reshape(-1, 2) for column in (keys, left, right)], interpolation, bounds)


def extrapolated(curves: Curves) -> NDArray[np.bool_]:
    """Return (curves,) which curves have linear extrapolation at one end at least."""
    linear = (curves.before == Behaviour.LINEAR) | (curves.after == Behaviour.LINEAR)
    return linear & (curves.counts > 0)


def _with_flat_ends(curves: Curves) -> tuple[Floats, Floats]:
    """Return left and right handles of all curves; if only one end of a curve is linear, the other's outer handle is
    flat.
    """
    left, right, linear = curves.left, curves.right, extrapolated(curves)
    if linear.any():
        left, right = left.copy(), right.copy()
        first = curves.bounds[:-1][linear & (curves.before != Behaviour.LINEAR)]
        last = curves.bounds[1:][linear & (curves.after != Behaviour.LINEAR)] - 1
        left[first, 1], right[last, 1] = curves.keys[first, 1], curves.keys[last, 1]
    return left, right


def needs_sampling(curve: bpy.types.FCurve) -> bool:
    """Whether an F-curve has modifiers or easing that the games do not have, or samples instead of keys."""
    if any(not modifier.mute and not _repeats_endlessly(modifier) for modifier in curve.modifiers):
        return True
    if len(curve.sampled_points):
        return True
    used = np.empty(len(curve.keyframe_points), np.uint8)
    curve.keyframe_points.foreach_get("interpolation", used)
    return bool((used > Interpolation.BEZIER).any())


def _repeats_endlessly(modifier: Any) -> bool:
    """Whether a modifier repeats a curve endlessly, as the game does."""
    if modifier.type != "CYCLES" or modifier.cycles_before or modifier.cycles_after:
        return False
    return not modifier.use_restricted_range and (not modifier.use_influence or modifier.influence == 1.0)


def _behaviours(curve: Any, read: Curve) -> tuple[int, int]:
    """Return how an F-curve behaves before and after its keys, which are those of ``read``."""
    ends = _ends(read, extrapolated=curve.extrapolation == "LINEAR")
    names = {mode: behaviour for behaviour, mode in CYCLES.items()}
    for modifier in curve.modifiers:
        if modifier.type == "CYCLES" and not modifier.mute:
            ends[0] = names.get(modifier.mode_before, ends[0])
            ends[1] = names.get(modifier.mode_after, ends[1])
    return int(ends[0]), int(ends[1])


def _ends(read: Curve, *, extrapolated: bool) -> list[int]:
    """Return the two behaviours of an F-curve's extrapolation: a flat outer handle of a Bezier end means a constant
    end.
    """
    if not extrapolated or not read.count:
        return [Behaviour.CONSTANT, Behaviour.CONSTANT]
    flat_left = read.interpolation[0] == Interpolation.BEZIER and read.left[0, 1] == read.keys[0, 1]
    flat_right = read.interpolation[-1] == Interpolation.BEZIER and read.right[-1, 1] == read.keys[-1, 1]
    return [
        Behaviour.CONSTANT if flat_left and not flat_right else Behaviour.LINEAR,
        Behaviour.CONSTANT if flat_right and not flat_left else Behaviour.LINEAR,
    ]


def keep_not_shown(curve: Curve, old: Curve) -> None:
    """Copy behaviours that F-curves cannot show from ``old``, if the curve's own are those of its unedited curve."""
    if not old.count and not curve.count:
        curve.before, curve.after = old.before, old.after
    elif old.count and curve.count:
        old_curves = Curves.of([old])
        left, right = _with_flat_ends(old_curves)
        flat = Curve(old.keys, left, right, old.interpolation)
        ends = _ends(flat, extrapolated=bool(extrapolated(old_curves)[0]))
        if old.before not in CYCLES and curve.before == ends[0]:
            curve.before = old.before
        if old.after not in CYCLES and curve.after == ends[1]:
            curve.after = old.after
