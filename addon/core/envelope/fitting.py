"""A curve with few keys through many samples: what cannot be carried over key by key is fitted.

Greedy, from the left: each segment is a cubic between two samples and reaches as far as the tolerance holds. With both
ends on their samples and the control times at thirds, time runs evenly (u = s), so the cubic is

    v(s) = (1-s)³ v0 + 3 (1-s)² s y1 + 3 (1-s) s² y2 + s³ v1

in which only y1 and y2 are free: a linear least-squares problem of two unknowns for each try.
"""

from __future__ import annotations

import numpy as np

from .curve import Curve, Interpolation, empty_curve
from .keys import Floats


def fitted(times: Floats, values: Floats, tolerance: float) -> Curve:
    """A curve through the first and the last sample, no sample further than ``tolerance`` from it.

    ``times`` (samples,) rising seconds, ``values`` (samples,). Constant samples give one key.
    """
    if not len(times):
        return empty_curve()
    if np.abs(values - values[0]).max() <= tolerance:
        point = np.array([[times[0], values[0]]])
        return Curve(point, point.copy(), point.copy(), np.array([Interpolation.BEZIER], np.uint8))
    places, handles = [0], []
    while places[-1] < len(times) - 1:
        end, pair = _furthest(times, values, places[-1], tolerance)
        places.append(end)
        handles.append(pair)
    keys = np.stack((times[places], values[places]), axis=1)
    curve = Curve(keys, keys.copy(), keys.copy(), np.full(len(keys), Interpolation.BEZIER, np.uint8))
    third = np.diff(keys[:, 0]) / 3
    inner = np.array(handles)
    curve.right[:-1] = np.stack((keys[:-1, 0] + third, inner[:, 0]), axis=1)
    curve.left[1:] = np.stack((keys[1:, 0] - third, inner[:, 1]), axis=1)
    return curve


def _furthest(times: Floats, values: Floats, start: int, tolerance: float) -> tuple[int, Floats]:
    """The furthest sample one cubic reaches from ``start``, and its two inner control values.

    The reach is doubled while it holds and then halved into place: a number of tries in the logarithm of the samples.
    """
    most = len(times) - 1
    good, pair = start + 1, _controls(times, values, start, start + 1)[0]
    step = 2
    while good < most:
        end = min(start + step, most)
        candidate, error = _controls(times, values, start, end)
        if error > tolerance:
            break
        good, pair = end, candidate
        step *= 2
    bad = min(start + step, most) + (good == most)
    while bad - good > 1:
        middle = (good + bad) // 2
        candidate, error = _controls(times, values, start, middle)
        if error <= tolerance:
            good, pair = middle, candidate
        else:
            bad = middle
    return good, pair


def _controls(times: Floats, values: Floats, start: int, end: int) -> tuple[Floats, float]:
    """Inner control values (2,) of the best cubic between two samples, and its largest error at those between."""
    first, last = values[start], values[end]
    line = np.array([first + (last - first) / 3, last - (last - first) / 3])
    if end - start < 2:
        return line, 0.0
    share = (times[start + 1 : end] - times[start]) / (times[end] - times[start])
    rest = 1 - share
    known = rest**3 * first + share**3 * last
    free = np.stack((3 * rest**2 * share, 3 * rest * share**2), axis=1)
    wanted = values[start + 1 : end] - known
    # One sample between cannot tell two unknowns: the nearest to the straight line is taken.
    offset, *_ = np.linalg.lstsq(free, wanted - free @ line, rcond=None)
    found = line + offset
    return found, float(np.abs(free @ found - wanted).max())
