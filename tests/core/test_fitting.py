"""Few keys through many samples: within the tolerance, and no more than are needed."""

import hypothesis.strategies as some
import numpy as np
from hypothesis import given

from addon.core.envelope import Interpolation, evaluate_curve
from addon.core.envelope.curve import fitted


@given(some.lists(some.floats(-10, 10), min_size=2, max_size=60), some.sampled_from([1e-4, 1e-2, 1.0]))
def test_every_sample_is_met_within_the_tolerance(values, tolerance) -> None:
    times = np.arange(len(values)) / 30
    curve = fitted(times, np.array(values), tolerance)
    assert np.abs(evaluate_curve(curve, times) - values).max() <= tolerance * (1 + 1e-6) + 1e-9
    assert curve.count <= len(values)


def test_a_cubic_is_two_keys_whose_handles_are_its_own() -> None:
    times = np.linspace(0, 2, 61)
    curve = fitted(times, times**3 - 2 * times, 1e-6)
    assert curve.count == 2
    # v' = 3t² - 2: -2 at the start and 10 at the end; a handle a third of the way goes a third of the slope.
    np.testing.assert_allclose(curve.right[0], [2 / 3, -2 * 2 / 3], atol=1e-6)
    np.testing.assert_allclose(curve.left[-1], [2 - 2 / 3, 4 - 10 * 2 / 3], atol=1e-6)


def test_a_value_that_does_not_move_is_one_key() -> None:
    curve = fitted(np.arange(10) / 30, np.full(10, 3.25), 1e-4)
    assert curve.keys.tolist() == [[0.0, 3.25]]
    assert fitted(np.zeros(0), np.zeros(0), 1e-4).count == 0


def test_a_stop_gets_a_key() -> None:
    times = np.arange(61) / 30
    curve = fitted(times, times.copy(), 1e-4, [7, 30])
    np.testing.assert_allclose(curve.keys[:, 0] * 30, [0, 7, 30, 60])


def test_a_smooth_curve_needs_few_keys() -> None:
    times = np.arange(301) / 30
    curve = fitted(times, np.sin(times), 1e-3)
    assert curve.count <= 10
    assert set(curve.interpolation.tolist()) == {Interpolation.BEZIER}
