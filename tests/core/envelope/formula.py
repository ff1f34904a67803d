"""The engine's value of a channel at any time, written from the description of its format: the judge of what is shown.

No line is shared with the code it judges; it starts from the bytes of the keys. Times are solved to the last bit of a
float64, where the engine's own search stops within 0.1 ms.
"""

import numpy as np

TCB, HERMITE, BEZIER_1D, LINEAR, STEPPED, BEZIER_2D = range(6)
CONSTANT_BEHAVIOUR, LINEAR_BEHAVIOUR = 1, 5
SEARCH = 1e-4
"""Seconds within which the engine's search of a Bezier segment is content."""


class Channel:
    """One channel as float64 lists: ``times``, ``values``, ``shapes``, rows of ``tcb`` and ``parameters``."""

    def __init__(self, stored):
        keys = stored.keys
        packed = keys["tcb"].dtype.kind == "u"
        self.times, self.values = (keys[name].astype(np.float64) for name in ("time", "value"))
        self.shapes = (keys["shape"] & 0xFF).astype(int)
        self.tcb, self.parameters = (
            keys[name] * 64.0 / 65535.0 - 32.0 if packed else keys[name].astype(np.float64)
            for name in ("tcb", "parameters")
        )
        if packed:  # the packed layout stores no parameters with stepped keys: the game has zeros
            self.parameters[self.shapes == STEPPED] = 0.0
        self.before, self.after = stored.before, stored.after

    def __len__(self):
        return len(self.times)

    def leaving(self, k):
        """The tangent of key k into the segment k ... k+1."""
        times, values, last = self.times, self.values, k == 0
        length, rise = times[k + 1] - times[k], values[k + 1] - values[k]
        scale = 1.0 if last else length / (times[k + 1] - times[k - 1])
        tension, continuity, bias = self.tcb[k]
        before = 0.0 if last else values[k] - values[k - 1]
        match self.shapes[k]:
            case 0:
                a = (1 - tension) * (1 + continuity) * (1 + bias)
                b = (1 - tension) * (1 - continuity) * (1 - bias)
                return scale * (a * before + b * rise)
            case 3:
                return scale * (before + rise)
            case 1 | 2:
                return scale * self.parameters[k, 1]
            case 5:
                time, value = self.parameters[k, 2:]
                return value / time * length if abs(time) > 1e-5 else value * 1e5 * length
        return 0.0

    def arriving(self, k):
        """The tangent of key k out of the segment k-1 ... k."""
        times, values, last = self.times, self.values, k == len(self) - 1
        length, rise = times[k] - times[k - 1], values[k] - values[k - 1]
        scale = 1.0 if last else length / (times[k + 1] - times[k - 1])
        tension, continuity, bias = self.tcb[k]
        after = 0.0 if last else values[k + 1] - values[k]
        match self.shapes[k]:
            case 0:
                a = (1 - tension) * (1 - continuity) * (1 + bias)
                b = (1 - tension) * (1 + continuity) * (1 - bias)
                return scale * (b * after + a * rise)
            case 3:
                return scale * (after + rise)
            case 1 | 2:
                return scale * self.parameters[k, 0]
            case 5:
                time, value = self.parameters[k, :2]
                return value / time * length if abs(time) > 1e-5 else value * 1e5 * length
        return 0.0

    def controls(self, k):
        """Control times and values of the Bezier 2D segment that ends at key k."""
        start = k - 1
        own = self.shapes[start] == BEZIER_2D
        third = (self.times[k] - self.times[start]) / 3, self.parameters[start, 1] / 3
        handle = self.parameters[start, 2:] if own else third
        return (
            (self.times[start], self.times[start] + handle[0], self.times[k] + self.parameters[k, 0], self.times[k]),
            (
                self.values[start],
                self.values[start] + handle[1],
                self.values[k] + self.parameters[k, 1],
                self.values[k],
            ),
        )

    def at(self, times):
        """Values at ``times`` (n,) seconds; outside the keys for constant and linear behaviours."""
        count = len(self)
        if count < 2:
            return np.full(len(times), self.values[0] if count else 0.0)
        ends = np.full(len(times), count - 1)
        for k in range(count - 1, 0, -1):
            ends[times <= self.times[k]] = k
        begin, end, first, last = self.times[ends - 1], self.times[ends], self.values[ends - 1], self.values[ends]
        s = (times - begin) / (end - begin)
        with np.errstate(all="ignore"):  # keys at one time: segments that are never played
            leaving = np.array([self.leaving(k) for k in range(count - 1)])[ends - 1]
            arriving = np.array([self.arriving(k) for k in range(1, count)])[ends - 1]
        shapes = self.shapes[ends]
        h2, h3, h4 = 3 * s**2 - 2 * s**3, s**3 - 2 * s**2 + s, s**3 - s**2
        result = np.where(
            shapes <= BEZIER_1D,
            (1 - h2) * first + h2 * last + h3 * leaving + h4 * arriving,
            np.where(shapes == LINEAR, first + s * (last - first), first),
        )
        flat = np.flatnonzero(shapes == BEZIER_2D)
        if len(flat):
            result[flat] = solved(np.array([self.controls(k) for k in range(1, count)])[ends[flat] - 1], times[flat])
        result = np.where(times == end, last, np.where(times == begin, first, result))
        for outside, behaviour, edge, slope in (
            (times < self.times[0], self.before, 0, self.leaving(0) / (self.times[1] - self.times[0])),
            (times > self.times[-1], self.after, -1, self.arriving(count - 1) / (self.times[-1] - self.times[-2])),
        ):
            assert not outside.any() or behaviour in (CONSTANT_BEHAVIOUR, LINEAR_BEHAVIOUR)
            went_on = slope * (times - self.times[edge]) if behaviour == LINEAR_BEHAVIOUR else 0.0
            result = np.where(outside, self.values[edge] + went_on, result)
        return result


def matrix_slack(channels, times):
    """(n, 4, 4) how far the engine's object matrix, in Blender's axes, may be from that of exact channels X Y Z H P B.

    1e-5; of each channel 1e-6 of its largest number, for float32; and what the search of a Bezier segment leaves open.
    A matrix' rotation is at most as far off as its three angles together.
    """
    slack = np.full((len(times), 4, 4), 1e-5)
    open_ = np.stack([_left_open(channel, times) for channel in channels], axis=1)
    slack[:, :3, :3] += open_[:, 3:].sum(axis=1)[:, None, None]
    slack[:, :3, 3] += open_[:, [0, 2, 1]]
    return slack


def _left_open(channel, times):
    if not len(channel):
        return np.zeros(len(times))
    rounding = np.full(len(times), 1e-6 * np.abs(channel.values).max())
    if not (channel.shapes == BEZIER_2D).any():
        return rounding
    first, last = channel.times[[0, -1]]
    held = np.clip(times, first, last)
    beside = [channel.at(np.clip(held + shift * SEARCH, first, last)) for shift in (-1, -0.5, 0.5, 1)]
    return rounding + np.abs(np.array(beside) - channel.at(held)).max(axis=0)


def solved(controls, times):
    """Values of cubics (n, 2, 4) of control times and values at (n,) times: halving [0, 1], the engine's way, to its
    end."""
    low, high = np.zeros(len(times)), np.ones(len(times))
    for _ in range(54):
        u = (low + high) / 2
        beyond = _cubic(controls[:, 0], u) > times
        low, high = np.where(beyond, low, u), np.where(beyond, u, high)
    return _cubic(controls[:, 1], (low + high) / 2)


def _cubic(controls, u):
    a, b, c, d = controls.T
    v = 1 - u
    return v * v * v * a + 3 * u * v * (v * b + u * c) + u * u * u * d
