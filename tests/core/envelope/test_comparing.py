"""What storing loses, against evaluating both sides one time after the other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from addon.core.envelope import (
    Behaviour,
    Curves,
    Envelope,
    Envelopes,
    Shape,
    display,
    evaluate,
    evaluate_curve,
    extrapolation_slopes,
)
from addon.core.envelope.curve import empty_curve
from addon.core.envelope.writing import SAMPLES, losses
from addon.formats.xray.envelopes import stored
from tests.core.envelope.envelopes import FRAME, envelopes


def lost(curves, stored_envelopes, segments):
    """The losses of several channels; ``segments``: for each the segments after its keys to compare."""
    return losses(Curves.of(curves), Envelopes.of(stored_envelopes), np.concatenate(segments), FRAME)


def packed(envelope):
    """The same channel with handles and tensions in 16 bits."""
    near = Envelope(envelope.times, envelope.values, envelope.shapes, envelope.tcb, envelope.parameters.clip(-30, 30))
    near.before, near.after = envelope.before, envelope.after
    return stored(near, to_packed=True).decoded()


def looked_at(curve, envelope, segments):
    """The largest difference at the same times, one segment after the other."""
    worst = abs(envelope.values[0] - curve.keys[0, 1])
    for start in np.flatnonzero(segments):
        begin, end = curve.keys[start, 0], curve.keys[start + 1, 0]
        times = begin + (end - begin) * (np.arange(SAMPLES) + 0.5) / SAMPLES
        worst = max(worst, np.abs(evaluate(envelope, times) - evaluate_curve(curve, times)).max())
    return worst


@settings(max_examples=60)
@given(st.lists(envelopes(most=20), min_size=1, max_size=6), st.integers(0, 2**32 - 1))
def test_all_channels_at_once_are_what_each_is_alone(channels, seed):
    random = np.random.default_rng(seed)
    asked = []
    for envelope in channels:
        curve = display(envelope, FRAME).curve
        asked.append((curve, packed(envelope), random.random(curve.count) < 0.5))
    for (curve, envelope, segments), (error, slope) in zip(asked, lost(*zip(*asked, strict=True)), strict=True):
        expected = looked_at(curve, envelope, segments[:-1])
        scale = max(np.abs(curve.keys[:, 1]).max(), np.abs(envelope.values).max())
        assert error == pytest.approx(expected, rel=1e-6, abs=1e-9 * scale)
        assert slope == 0.0


def test_nothing_to_compare():
    empty = Envelope.of(np.zeros(0), np.zeros(0), np.zeros(0, np.uint8))
    single = Envelope.of(np.zeros(1), np.ones(1), np.zeros(1, np.uint8))
    curves = [empty_curve(), display(single, FRAME).curve]
    assert lost(curves, [empty, single], [np.zeros(0, np.bool_), np.ones(1, np.bool_)]) == [(0.0, 0.0)] * 2


def test_slopes_outside_the_keys_count_where_they_are_played():
    envelope = Envelope.of(np.arange(3.0), np.array([0.0, 1, 0]), np.full(3, Shape.HERMITE, np.uint8))
    envelope.parameters[2, 0] = 2.0
    for after, loss in ((Behaviour.CONSTANT, 0.0), (Behaviour.LINEAR, 3.0)):
        envelope.after = after
        curve = display(envelope, FRAME).curve
        curve.right[-1] = curve.keys[-1] + [1.0, extrapolation_slopes(envelope)[1] + 3.0]
        assert lost([curve], [envelope], [np.ones(3, np.bool_)])[0][1] == pytest.approx(loss)
