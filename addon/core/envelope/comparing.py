"""What storing loses: how far the keys that were written lie from the curve that was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .curve import Curve, control_points, segment_values
from .display import SPACING
from .evaluation import extrapolation_slopes, segment_ends
from .keys import Behaviour, Envelope, Floats
from .matching import Flags

SAMPLES = 8
"""Times a segment at which what was asked for is compared with what is stored."""


@dataclass
class Stored:
    """A curve and the envelope that was made of it; ``segments`` (keys - 1,) of the curve that are worth comparing."""

    curve: Curve
    envelope: Envelope
    segments: Flags


@dataclass
class _Sampled:
    """Samples within segments: ``kinds`` (n,), control ``points`` (n, 4, 2), ``times`` (n,)."""

    kinds: NDArray[np.uint8]
    points: Floats
    times: Floats


def losses(channels: Sequence[Stored], frame: float) -> list[tuple[float, float]]:
    """For each channel how far, at most, its values are off, and by how much a second its slopes outside the keys.

    All are sampled in one go: a search for the parameters of a few cubics takes as long as that for many.
    """
    sampled = [side for channel in channels for side in _samples(channel, frame)]
    if not sampled:
        return []
    with np.errstate(all="ignore"):  # broken files hold numbers whose products are none
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
    """What was asked for, and what is stored, at the same times."""
    curve, envelope = channel.curve, channel.envelope
    length = np.diff(curve.keys[:, 0])
    wide = np.flatnonzero(channel.segments & (length >= SPACING * frame))
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
    place = segment_ends(envelope, times) - 1
    return asked, _Sampled(kinds[place], cubics[place], times)


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
