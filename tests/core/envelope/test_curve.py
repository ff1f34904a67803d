"""Segments as cubics: judged by the Bernstein formula and a root finder, not by our own evaluation of curves."""

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from addon.core.envelope import (
    Behaviour,
    Curve,
    Envelope,
    Envelopes,
    Interpolation,
    Shape,
    control_points,
    display,
    displayed,
    each_display,
    evaluate,
    evaluate_curve,
)
from addon.core.envelope.curve import folds_back, halved, part_of, rows_of
from addon.core.envelope.display import JUMP_GAP, MIN_SPACING
from tests.core.envelope.envelopes import FRAME, envelopes, keys_of_curve


def drawn(curve, time):
    """What an F-curve draws at a time strictly between two keys: the cubic's root by numpy's polynomial solver."""
    index = np.searchsorted(curve.keys[:, 0], time, "right") - 1
    start, end = curve.keys[index], curve.keys[index + 1]
    kind = curve.interpolation[index]
    if kind == Interpolation.CONSTANT:
        return start[1]
    if kind == Interpolation.LINEAR:
        return start[1] + (end[1] - start[1]) * (time - start[0]) / (end[0] - start[0])
    length = end[0] - start[0]
    x = (np.array([start[0], curve.right[index, 0], curve.left[index + 1, 0], end[0]]) - time) / length
    y = np.array([start[1], curve.right[index, 1], curve.left[index + 1, 1], end[1]])
    cubic = [-x[0] + 3 * x[1] - 3 * x[2] + x[3], 3 * x[0] - 6 * x[1] + 3 * x[2], 3 * (x[1] - x[0]), x[0]]
    roots = np.roots(cubic)
    u = np.clip(min(roots, key=lambda root: abs(root.imag) + max(0, -root.real, root.real - 1)).real, 0, 1)
    return float(((1 - u) ** 3) * y[0] + 3 * (1 - u) ** 2 * u * y[1] + 3 * (1 - u) * u * u * y[2] + u**3 * y[3])


def blender_can_draw(curve):
    """Sorted keys far enough apart, handles on their own sides, none longer than its segment."""
    steps = np.diff(curve.keys[:, 0])
    assert (steps >= 0.0105 * FRAME).all()
    cubic = curve.interpolation[:-1] == Interpolation.BEZIER
    right, left = curve.right[:-1, 0] - curve.keys[:-1, 0], curve.keys[1:, 0] - curve.left[1:, 0]
    for reach in (right[cubic], left[cubic]):
        assert (reach >= 0).all()
        # Pieces too short to be cut again are hardly seen.
        assert ((reach <= steps[cubic] * (1 + 1e-6)) | (steps[cubic] <= 4 * MIN_SPACING * FRAME)).all()
    return True


def times_of(curve, random, count):
    """Moments between the keys, not beside leaps."""
    times = random.uniform(curve.keys[0, 0], curve.keys[-1, 0], count)
    near = np.abs(times[:, None] - curve.keys[None, :, 0]).min(axis=1)
    return times[near > 1.5 * JUMP_GAP * FRAME]


@settings(max_examples=250)
@given(envelopes())
def test_a_displayed_envelope_is_drawn_as_the_formula_says(envelope):
    actual = display(envelope, FRAME)
    assert blender_can_draw(actual.curve)
    times = times_of(actual.curve, np.random.default_rng(0), 40)
    expected = evaluate(envelope, times)
    scale = max(np.ptp(envelope.values), np.abs(expected).max(initial=0), 1e-9)
    for time, value in zip(times, expected, strict=True):
        assert drawn(actual.curve, time) == pytest.approx(value, abs=6e-5 * scale)
    if not (envelope.shapes == Shape.BEZIER_2D).any():
        assert actual.added == actual.hidden(envelope) == 0
        np.testing.assert_array_equal(actual.curve.keys[:, 1], envelope.values)
        exact = evaluate_curve(actual.curve, times)
        np.testing.assert_allclose(exact, expected, atol=1e-12 * scale)


@settings(max_examples=150)
@given(envelopes(most=20, odd=True, handles=1.4))
def test_leaps_long_handles_and_folds_are_drawn_too(envelope):
    actual = display(envelope, FRAME)
    assert blender_can_draw(actual.curve)
    assert actual.folded == 0
    times = times_of(actual.curve, np.random.default_rng(1), 60)
    expected = evaluate(envelope, times)
    scale = max(np.ptp(envelope.values), np.abs(expected).max(initial=0), 1e-9)
    got = evaluate_curve(actual.curve, times)
    assert np.abs(got - expected).max(initial=0) <= 6e-5 * scale


def test_thirds_hold_hermite_segments():
    path = Envelope.of(np.array([0.0, 3.0]), np.array([1.0, 2.0]), np.full(2, Shape.HERMITE, np.uint8))
    path.parameters[:] = [[0, 6, 0, 0], [-3, 0, 0, 0]]
    kinds, points = control_points(path)
    assert kinds.tolist() == [Interpolation.BEZIER]
    assert points[0].tolist() == [[0, 1], [1, 3], [2, 3], [3, 2]]


def straight(before, after, slope=0.0):
    result = Envelope.of(np.arange(3.0), np.array([0.0, 1, 3]), np.full(3, Shape.LINEAR, np.uint8))
    result.shapes[0] = Shape.HERMITE
    result.parameters[0, 1] = slope
    result.before, result.after = before, after
    return result


@pytest.mark.parametrize(
    ("before", "after", "slope", "kind"),
    [
        (Behaviour.CONSTANT, Behaviour.CONSTANT, 5.0, Interpolation.LINEAR),
        (Behaviour.LINEAR, Behaviour.CONSTANT, 1.0, Interpolation.LINEAR),  # along the segment anyway
        (Behaviour.LINEAR, Behaviour.CONSTANT, 5.0, Interpolation.BEZIER),
        (Behaviour.CONSTANT, Behaviour.LINEAR, 5.0, Interpolation.BEZIER),
        (Behaviour.RESET, Behaviour.LINEAR, 5.0, Interpolation.BEZIER),
        (Behaviour.REPEAT, Behaviour.LINEAR, 5.0, Interpolation.LINEAR),  # a modifier's to say
    ],
)
def test_before_a_straight_segment_a_handle_says_where_an_f_curve_goes_on(before, after, slope, kind):
    path = straight(before, after, slope)
    actual = display(path, FRAME)
    assert actual.curve.interpolation.tolist()[:2] == [kind, Interpolation.LINEAR]
    times = np.linspace(0, 2, 50)
    np.testing.assert_allclose(evaluate_curve(actual.curve, times), evaluate(path, times), atol=1e-12)
    if kind == Interpolation.BEZIER and before == Behaviour.LINEAR:
        (time, value), (key, at) = actual.curve.left[0], actual.curve.keys[0]
        assert (value - at) / (time - key) == pytest.approx(slope)
    # It is a straight segment again where it is written beside an edit.
    edited = copy.deepcopy(actual.curve)
    edited.keys[2, 1] += 1
    created, _ = keys_of_curve(edited, path, actual, FRAME, stepped_parameters=False)
    assert created.shapes.tolist() == path.shapes.tolist()
    assert created.values.tolist() == [0, 1, 4]
    assert created.parameters[0].tolist() == path.parameters[0].tolist()


def test_a_handle_longer_than_its_segment_is_cut_in_halves_on_the_same_curve():
    path = Envelope.of(np.array([0.0, 1.0]), np.array([0.0, 1.0]), np.full(2, Shape.BEZIER_2D, np.uint8))
    path.parameters[:] = [[0, 0, 1.2, 0.5], [-0.3, 0.25, 0, 0]]
    actual = display(path, FRAME)
    assert actual.curve.count > 2
    assert actual.added == actual.curve.count - 2
    assert blender_can_draw(actual.curve)
    times = np.linspace(0.01, 0.99, 50)
    np.testing.assert_allclose([drawn(actual.curve, time) for time in times], evaluate(path, times), atol=1e-9)


def test_a_handle_that_packing_moved_past_its_key_costs_no_key():
    path = Envelope.of(np.array([0.0, 1.0]), np.array([0.0, 1.0]), np.full(2, Shape.BEZIER_2D, np.uint8))
    path.parameters[:] = 32768 * 64 / 65535 - 32
    actual = display(path, FRAME)
    assert actual.curve.count == 2
    assert actual.curve.left[1, 0] <= 1.0
    times = np.linspace(0.01, 0.99, 99)
    assert np.abs(evaluate_curve(actual.curve, times) - evaluate(path, times)).max() < 4e-5


def test_equal_times_become_a_leap_of_a_fiftieth_of_a_frame():
    path = Envelope.of(np.array([0.0, 1, 1, 2]), np.array([0.0, 1, 5, 6]), np.full(4, Shape.LINEAR, np.uint8))
    actual = display(path, FRAME)
    assert actual.curve.keys[:, 0] == pytest.approx([0, 1, 1 + JUMP_GAP * FRAME, 2])
    assert actual.curve.keys[:, 1] == pytest.approx([0, 1, 5 + JUMP_GAP * FRAME, 6])
    assert actual.curve.interpolation[:3].tolist() == [1, 0, 1]
    assert actual.base_key.tolist() == [0, 1, -1, 3]
    assert actual.hidden(path) == 1


def test_a_jump_at_a_first_key_that_is_late_shows_the_new_value_at_its_frame():
    """The engine looks for the end of a segment from the second key on: at that time it is past the jump already."""
    path = Envelope.of(np.array([2.0, 1, 3, 4]), np.array([-5.0, 1, 3, 7]), np.full(4, Shape.LINEAR, np.uint8))
    actual = display(path, FRAME)
    assert actual.curve.keys[:, 0] == pytest.approx([2 - JUMP_GAP * FRAME, 2, 3, 4])
    assert actual.curve.keys[:, 1] == pytest.approx([-5, 2, 3, 7])
    assert actual.curve.interpolation[:3].tolist() == [0, 1, 1]
    times = np.array([1.0, 2 - 1.5 * JUMP_GAP * FRAME, 2, 2 + JUMP_GAP * FRAME, 2.5, 3, 4, 5])
    assert evaluate_curve(actual.curve, times) == pytest.approx(evaluate(path, times))


@pytest.mark.parametrize("times", [[1.0, 1, 1], [3.0, 2, 1], [0.0, 5, 3], [1.0, 0.5, 2]])
@pytest.mark.parametrize("shape", [Shape.TCB, Shape.LINEAR, Shape.STEPPED, Shape.BEZIER_2D])
def test_times_that_never_rise_are_shown_somehow_and_sorted(times, shape):
    path = Envelope.of(np.array(times), np.array([1.0, 2, 3]), np.full(3, shape, np.uint8))
    actual = display(path, FRAME)
    assert (np.diff(actual.curve.keys[:, 0]) > 0).all()
    assert actual.curve.keys[-1, 1] == 3  # what is held after the last key of the file


def test_ten_thousand_keys_at_once():
    random = np.random.default_rng(3)
    count = 10_000
    path = Envelope.of(np.arange(count) * FRAME, random.normal(size=count), random.choice(6, count).astype(np.uint8))
    path.parameters[:] = random.normal(size=(count, 4)) * FRAME
    actual = display(path, FRAME)
    assert actual.curve.count >= count
    times = np.arange(count - 1) * FRAME + FRAME / 2
    assert np.abs(evaluate_curve(actual.curve, times) - evaluate(path, times)).max() < 1e-3
    path.times[:] = 1.0
    assert display(path, FRAME).curve.count == 2


def test_cutting_keeps_the_polynomial():
    points = np.random.default_rng(4).normal(size=(5, 4, 2))
    part = part_of(points, np.full(5, 0.25), np.full(5, 0.75))
    left, right = halved(points)

    def at(controls, u):
        w = np.array([(1 - u) ** 3, 3 * (1 - u) ** 2 * u, 3 * (1 - u) * u * u, u**3])
        return np.einsum("k,nkc->nc", w, controls)

    for u in (0.0, 0.3, 1.0):
        np.testing.assert_allclose(at(part, u), at(points, 0.25 + 0.5 * u), atol=1e-13)
        np.testing.assert_allclose(at(left, u), at(points, u / 2), atol=1e-13)
        np.testing.assert_allclose(at(right, u), at(points, 0.5 + u / 2), atol=1e-13)


def test_running_backwards_is_seen():
    cubics = np.array([[0, 1, 2, 3], [0, 3, 0, 3], [0, 4, -1, 3], [0, -0.1, 2, 3], [0, 1, 3.1, 3.0]], float)
    assert folds_back(cubics).tolist() == [False, False, True, True, True]


def test_a_curve_is_evaluated_at_its_keys_and_beyond():
    keys = np.array([[0.0, 1], [1, 2], [2, 5]])
    curve = Curve(keys, keys.copy(), keys.copy(), np.array([0, 1, 2], np.uint8))
    assert evaluate_curve(curve, [-1, 0, 0.5, 1, 1.5, 2, 3]).tolist() == [1, 1, 1, 2, 3.5, 5, 5]


@settings(max_examples=100)
@given(st.lists(envelopes(), max_size=5))
def test_many_at_once_are_shown_as_each_alone(several):
    several.insert(len(several) // 2, Envelope.of(np.zeros(0), np.zeros(0), np.zeros(0, np.uint8)))
    several.append(Envelope.of(np.array([0.5]), np.array([2.0]), np.array([Shape.TCB], np.uint8)))
    shown_together = each_display(*displayed(Envelopes.of(several), FRAME))
    for envelope, actual in zip(several, shown_together, strict=True):
        alone = display(envelope, FRAME)
        assert (actual.folded, actual.cut) == (alone.folded, alone.cut)
        assert (actual.curve.before, actual.curve.after) == (envelope.before, envelope.after)
        for name in ("base_key", "segment", "exact"):
            np.testing.assert_array_equal(getattr(actual, name), getattr(alone, name))
        for name in ("keys", "left", "right", "interpolation", "source"):
            np.testing.assert_array_equal(getattr(actual.curve, name), getattr(alone.curve, name))


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 4)), max_size=8))
def test_rows_of_runs_are_one_range_after_the_other(runs):
    starts, counts = (np.array([run[part] for run in runs], np.intp) for part in (0, 1))
    assert rows_of(starts, counts).tolist() == [row for start, count in runs for row in range(start, start + count)]
