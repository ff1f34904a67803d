"""Envelopes for the tests of curves: every shape, unequal spacing, numbers over their whole range."""

import numpy as np
from hypothesis import strategies as st

from addon.core.envelope import Curves, Displays, Envelope, Envelopes, Shape, keys_of_curves
from addon.core.envelope import unchanged as each_unchanged
from addon.core.envelope.writing import match

FRAME = 1 / 30
SHAPES = [int(shape) for shape in Shape]


@st.composite
def envelopes(draw, most=50, odd=False, handles=1.0):
    """1 ... ``most`` keys; ``odd``: some at one time or out of order; ``handles``: how many segments long."""
    count = draw(st.integers(1, most))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kinds = draw(st.lists(st.sampled_from(SHAPES), min_size=1, max_size=6))
    whole = draw(st.booleans())
    frames = random.integers(1, 40, count) if whole else random.uniform(0.5, 40, count)
    times = (np.cumsum(frames) - frames[0] + draw(st.integers(-40, 40))) * FRAME
    values = random.normal(size=count) * draw(st.sampled_from([1e-3, 1.0, 100.0]))
    result = Envelope.of(times, values, random.choice(kinds, count).astype(np.uint8))
    result.tcb[:] = random.uniform(-1, 1, (count, 3))
    result.parameters[:] = random.normal(size=(count, 4)) * np.abs(values).max(initial=1e-3)
    flat = result.shapes == Shape.BEZIER_2D
    length = np.append(np.diff(times), 1.0)
    result.parameters[flat, 0] = (-np.roll(length, 1) * random.uniform(0, handles, count))[flat]
    result.parameters[flat, 2] = (length * random.uniform(0, handles, count))[flat]
    if odd and count > 3:
        index = int(random.integers(1, count - 1))
        result.times[index] = result.times[index - 1] - random.choice([0.0, random.uniform(0, 1)])
    return result


def same(entry, other):
    """Whether two envelopes have the same keys to the bit."""
    names = ("times", "values", "shapes", "tcb", "parameters")
    return all(np.array_equal(getattr(entry, name), getattr(other, name)) for name in names)


def _displays(actual, count):
    return Displays.of(Curves.of([actual.curve]), {0: actual}, np.array([0, count]))


def keys_of_curve(curve, base, actual, frame, *, stepped_parameters):
    """The envelope of one curve, and for each key the index of the base's."""
    curves, matched = Curves.of([curve]), None
    if base is not None:
        actual, base = _displays(actual, base.count), Envelopes.of([base])
        matched = match(curves, actual.curves, frame, [curve.source])
    keys, source = keys_of_curves(curves, base, actual, matched, stepped_parameters=stepped_parameters)
    return keys[0], source


def unchanged(curve, actual, frame):
    """Whether a curve is the one that its envelope was shown as."""
    curves, others = Curves.of([curve]), Curves.of([actual.curve])
    return bool(each_unchanged(curves, others, match(curves, others, frame, [curve.source]))[0])
