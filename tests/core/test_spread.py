"""Spreading a changed pose: weights against their formula, channels against matrices and SciPy-free slerp."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core import rotation, spread
from addon.core.spread import Span

FRAMES = np.arange(-10.0, 60.0)
angle = st.floats(-3.1, 3.1)
unit = st.tuples(*[st.floats(-1.0, 1.0)] * 3).filter(lambda axis: np.linalg.norm(axis) > 0.1).map(np.array)
turned = st.tuples(unit, angle)
spans = st.tuples(st.integers(0, 40), st.integers(0, 10), st.integers(0, 12), st.integers(0, 12)).map(
    lambda four: Span(four[0], four[0] + four[1], four[2], four[3])
)


@given(spans, st.integers(20, 60))
def test_a_loop_has_the_same_weights_at_both_ends(span, period):
    frames = np.arange(0.0, period + 1)
    weights = span.weights(frames, float(period))
    assert weights[0] == weights[-1]
    start, end = span.ends
    once = span.weights(frames)
    assert (weights[:-1] >= once[:-1]).all()
    if start > 0 and end < period:
        assert (weights == once).all()


def quaternion(axis, radians):
    axis = axis / np.linalg.norm(axis)
    return np.array([np.cos(radians / 2), *(np.sin(radians / 2) * axis)])


def matrix(axis, radians):
    """Rodrigues' formula: the independent judge."""
    x, y, z = axis / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(radians) * cross + (1 - np.cos(radians)) * cross @ cross


@given(spans)
def test_weights_are_one_within_the_range_and_zero_beyond_the_fades(span):
    weights = span.weights(FRAMES)
    inside = (span.first <= FRAMES) & (span.last >= FRAMES)
    assert (weights[inside] == 1).all()
    start, end = span.ends
    outside = (start > FRAMES) | (end < FRAMES)
    assert (weights[outside] == 0).all()
    assert ((weights >= 0) & (weights <= 1)).all()
    before = weights[span.first >= FRAMES]
    assert (np.diff(before) >= 0).all()
    assert (np.diff(weights[span.last <= FRAMES]) <= 0).all()
    for frame, weight in zip(FRAMES, weights, strict=True):
        if start < frame < span.first:
            share = (frame - start) / span.fade_in
            assert weight == pytest.approx(3 * share**2 - 2 * share**3, abs=1e-12)


@given(turned, turned, turned, spans)
def test_a_rotation_turns_by_its_share_about_one_axis_of_the_bone(given_pose, own, change, span):
    weights = span.weights(FRAMES)
    values = np.tile(quaternion(*given_pose), (len(FRAMES), 1))
    axis, radians = change
    posed = rotation.multiply(quaternion(*own), quaternion(axis, radians))
    result = spread.rotations(values, quaternion(*own), -posed, weights)
    expected = [matrix(*given_pose) @ matrix(axis, radians * weight) for weight in weights]
    np.testing.assert_allclose(rotation.matrices(result), expected, atol=1e-9)
    assert (result[weights == 0] == values[weights == 0]).all()


@given(turned, st.floats(0.5, 2.0), st.booleans(), spans)
def test_signs_and_lengths_of_quaternions_stay(change, length, is_negative, span):
    angles = np.linspace(0.0, 8.0, len(FRAMES))
    values = rotation.about_axis(2, angles) * length * (-1 if is_negative else 1)
    result = spread.rotations(values, rotation.IDENTITY, quaternion(*change), span.weights(FRAMES))
    np.testing.assert_allclose(np.linalg.norm(result, axis=1), length)
    apart = np.abs(np.diff(span.weights(FRAMES))) * abs(change[1]) + 8.0 / (len(FRAMES) - 1)
    steps = np.einsum("ij,ij->i", result[1:], result[:-1]) / length**2
    assert (steps >= np.cos(apart / 2) - 1e-9).all()


@given(spans, *[st.tuples(*[st.floats(-5.0, 5.0)] * 3).map(np.array)] * 2)
def test_locations_move_by_the_difference(span, own, posed):
    values = np.random.default_rng(1).normal(size=(len(FRAMES), 3))
    result = spread.locations(values, own, posed, span.weights(FRAMES))
    for value, old, weight in zip(result, values, span.weights(FRAMES), strict=True):
        np.testing.assert_allclose(value, old + (posed - own) * weight)


@given(spans, *[st.tuples(*[st.floats(0.1, 5.0)] * 3).map(np.array)] * 2)
def test_scales_are_multiplied(span, own, posed):
    values = np.random.default_rng(1).uniform(0.5, 2.0, size=(len(FRAMES), 3))
    weights = span.weights(FRAMES)
    result = spread.scales(values, own, posed, weights)
    np.testing.assert_allclose(np.log(result), np.log(values) + weights[:, None] * (np.log(posed) - np.log(own)))


def test_where_a_scale_has_no_factor_the_difference_is_added():
    result = spread.scales(np.ones((3, 3)), np.array([1.0, 0.0, -1.0]), np.array([0.0, 2.0, 1.0]), np.full(3, 0.5))
    np.testing.assert_allclose(result, np.tile([0.5, 2.0, 2.0], (3, 1)))
