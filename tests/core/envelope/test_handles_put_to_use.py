"""Handles that no segment used, until the curve was edited: they are the curve's, not the base's."""

import numpy as np
import pytest

from addon.core.envelope import Curve, Envelope, Interpolation, Shape, display, evaluate, evaluate_curve
from tests.core.envelope.envelopes import keys_of_curve

FRAME = 1 / 30


def base_of(shape):
    times, values = np.array([0.0, 0.1, 0.3, 0.5]), np.array([0.0, 1.0, 0.0, 1.0])
    return Envelope.of(times, values, np.array([shape] * 3 + [Shape.TCB], np.uint8))


def edited(curve):
    return Curve(curve.keys.copy(), curve.left.copy(), curve.right.copy(), curve.interpolation.copy())


def plays_as_asked(curve, base, actual):
    keys, _ = keys_of_curve(curve, base, actual, FRAME, stepped_parameters=True)
    times = np.linspace(0, curve.keys[-1, 0], 500)
    np.testing.assert_allclose(evaluate(keys, times), evaluate_curve(curve, times), atol=1e-6)


@pytest.mark.parametrize("shape", [Shape.LINEAR, Shape.STEPPED])
def test_of_a_segment_that_has_become_a_cubic(shape):
    base = base_of(shape)
    actual = display(base, FRAME)
    curve = edited(actual.curve)
    curve.interpolation[:] = Interpolation.BEZIER
    curve.right[1] = curve.keys[1] + np.array([0.05, 0.5])
    curve.left[2] = curve.keys[2] + np.array([-0.05, 0.7])
    plays_as_asked(curve, base, actual)


def test_of_the_last_key_when_another_comes_behind_it():
    base = base_of(Shape.TCB)
    actual = display(base, FRAME)
    curve = edited(actual.curve)
    curve.right[3] = curve.keys[3] + np.array([0.1, 0.0])
    curve.keys = np.vstack([curve.keys, [0.8, 3.0]])
    curve.left, curve.right = np.vstack([curve.left, [0.7, 2.0]]), np.vstack([curve.right, [0.8, 3.0]])
    curve.interpolation = np.full(5, Interpolation.BEZIER, np.uint8)
    plays_as_asked(curve, base, actual)


def test_of_the_first_key_when_another_comes_before_it():
    base = base_of(Shape.TCB)
    actual = display(base, FRAME)
    curve = edited(actual.curve)
    curve.left[0] = curve.keys[0] + np.array([-0.05, 0.4])
    curve.keys = np.vstack([[-0.3, 3.0], curve.keys])
    curve.left, curve.right = np.vstack([[-0.3, 3.0], curve.left]), np.vstack([[-0.2, 2.0], curve.right])
    curve.interpolation = np.full(5, Interpolation.BEZIER, np.uint8)
    keys, _ = keys_of_curve(curve, base, actual, FRAME, stepped_parameters=True)
    times = np.linspace(-0.3, 0.5, 500)
    np.testing.assert_allclose(evaluate(keys, times), evaluate_curve(curve, times), atol=1e-6)
