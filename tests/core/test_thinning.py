"""Keys are placed where straight lines between them would leave the motion, and nowhere else."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from addon.core.deltas import needed_keys

NONE = np.zeros(100, np.bool_)


def apart(points, times, keys):
    at = np.flatnonzero(keys)
    lines = [[np.interp(times, times[at], point[at, axis]) for axis in range(3)] for point in points]
    return np.linalg.norm(points - np.moveaxis(np.array(lines), 1, -1), axis=-1).max()


def test_a_straight_motion_has_two_keys_and_a_corner_three():
    times = np.arange(100.0)
    line = np.stack([times, -2 * times, 0 * times], axis=-1)[None]
    assert np.flatnonzero(needed_keys(line, times, NONE, 1e-6)).tolist() == [0, 99]
    corner = np.abs(line - 30.0)
    assert 30 in np.flatnonzero(needed_keys(corner, times, NONE, 1e-6))
    required = NONE.copy()
    required[17] = True
    assert np.flatnonzero(needed_keys(line, times, required, 1e-6)).tolist() == [0, 17, 99]


def test_a_jump_has_a_key_on_both_sides():
    times = np.arange(100.0)
    jump = np.where(times < 40, 0.0, 1.0)[None, :, None] * np.ones(3)
    assert np.flatnonzero(needed_keys(jump, times, NONE, 1e-3)).tolist() == [0, 39, 40, 99]


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.5, 0.05, 0.001]))
def test_the_tolerance_holds_on_every_frame(seed, tolerance):
    random = np.random.default_rng(seed)
    times = np.cumsum(random.uniform(0.1, 2.0, 100))
    points = np.cumsum(random.normal(0, 0.1, (3, 100, 3)), axis=1)
    keys = needed_keys(points, times, random.random(100) < 0.05, tolerance)
    assert apart(points, times, keys) <= tolerance + 1e-12


def test_one_and_two_frames_are_their_keys():
    assert needed_keys(np.zeros((1, 1, 3)), np.zeros(1), np.zeros(1, np.bool_), 0.1).tolist() == [True]
    assert needed_keys(np.zeros((0, 2, 3)), np.arange(2), np.zeros(2, np.bool_), 0.1).tolist() == [True, True]
