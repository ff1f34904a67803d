"""One changed pose spread over the frames around it: weights with fades, and the channels of bones that follow.

A motion has a key on every frame, so a pose that is changed on one frame only jumps there. The difference between the
changed pose and the pose that the motion had is added to the frames around it instead, with a weight between 0 and 1:
rotations along the shortest arc, locations linearly, scales as factors. Quaternions are w, x, y, z; where the weight is
0 every value is returned as it was, to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import rotation

Floats = NDArray[np.float64]

SMALLEST = 1e-6
"""Largest difference of a channel that does not count as a changed pose: rounding of 32-bit floats."""


@dataclass(frozen=True)
class Span:
    """Frames on which a pose is spread: all of it from ``first`` to ``last``, less on ``fade_in`` frames before and on
    ``fade_out`` frames after them.
    """

    first: float
    last: float
    fade_in: float = 0.0
    fade_out: float = 0.0

    @property
    def ends(self) -> tuple[float, float]:
        """The frames around all frames that change; they do not change themselves unless they have no fade."""
        return self.first - self.fade_in, self.last + self.fade_out

    def weights(self, frames: NDArray[np.floating], period: float = 0.0) -> Floats:
        """Return (frames,) weights from 0 to 1. Fades are smooth: they begin and end without a change of speed.

        ``period``: frames after which a loop begins again at the first of ``frames``, so that a change beyond one end
        continues at the other; 0 for other motions.
        """
        if period:
            once = frames[0] + (frames - frames[0]) % period  # the last frame is the first one again
            wrapped: Floats = np.max([self.weights(once + shift) for shift in (-period, 0.0, period)], axis=0)
            return wrapped
        exact = np.asarray(frames, np.float64)
        rising, falling = _fade(self.first - exact, self.fade_in), _fade(exact - self.last, self.fade_out)
        share = np.minimum(rising, falling)
        result: Floats = share * share * (3.0 - 2.0 * share)
        return result


def _fade(distances: Floats, length: float) -> Floats:
    """Return 1 up to a distance of 0, then less, and 0 from ``length`` on."""
    if not length:
        return np.where(distances > 0, 0.0, 1.0)
    return np.clip(1.0 - distances / length, 0.0, 1.0)


def powers(quaternion: Floats, weights: Floats) -> Floats:
    """Return (frames, 4) the rotation of a unit quaternion (4,) by these shares of its angle, the shorter way round."""
    shorter = quaternion if quaternion[0] >= 0 else -quaternion
    length = float(np.linalg.norm(shorter[1:]))
    axis = shorter[1:] / length if length > 0 else np.zeros(3)
    half = np.arctan2(length, shorter[0]) * weights[:, None]
    return np.concatenate((np.cos(half), np.sin(half) * axis), axis=1)


def rotations(values: Floats, own: Floats, posed: Floats, weights: Floats) -> Floats:
    """Return quaternions (frames, 4) of a bone with the rotation from ``own`` to ``posed`` (4,) added, in its own axes.

    Their lengths and signs stay.
    """
    own_unit, posed_unit = rotation.normalised(own), rotation.normalised(posed)
    change = rotation.multiply(rotation.conjugate(own_unit), posed_unit)
    return _kept(values, rotation.multiply(values, powers(change, weights)), weights)


def locations(values: Floats, own: Floats, posed: Floats, weights: Floats) -> Floats:
    """Return locations (frames, 3) of a bone with the difference from ``own`` to ``posed`` (3,) added."""
    return _kept(values, values + weights[:, None] * (posed - own), weights)


def scales(values: Floats, own: Floats, posed: Floats, weights: Floats) -> Floats:
    """Return scales (frames, 3) of a bone multiplied by a power of the factor from ``own`` to ``posed`` (3,).

    An axis on which one of both is not positive has no such factor: there the difference is added.
    """
    has_factor = (own > 0) & (posed > 0)
    factors = np.where(has_factor, posed, 1.0) / np.where(has_factor, own, 1.0)
    added = values + weights[:, None] * (posed - own)
    return _kept(values, np.where(has_factor, values * factors ** weights[:, None], added), weights)


def _kept(values: Floats, changed: Floats, weights: Floats) -> Floats:
    """Return ``changed`` rows, and those of ``values`` where the weight is 0."""
    result: Floats = np.where(weights[:, None] > 0, changed, values)
    return result
