"""The unedited rule: what travelled through 32-bit floats still means the file's integer, one step more does not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core.quantum import KEYED, SAMPLED, quantised, tolerance, unedited, unedited_rotations
from addon.core.rebase import restore_unedited

RANDOM = np.random.default_rng(22)
Q = 1 / 32767


def through_blender(values):
    """What an F-curve keeps."""
    return np.asarray(values).astype(np.float32).astype(np.float64)


def keys(width, frames=2000):
    limit = (1 << (width - 1)) - 1
    return RANDOM.integers(-limit, limit + 1, size=(frames, 3))


@pytest.mark.parametrize("width", [8, 16])
@given(size=st.floats(2**-20, 0.125, width=32), init=st.floats(-2, 2, width=32))
def test_every_key_of_a_track_comes_back_from_floats(width, size, init):
    """The ranges of real tracks: the step is at least some ulp of the offset."""
    stored = keys(width, 50)
    decoded = stored * np.float64(size) + np.float64(init)
    seen = through_blender(decoded)
    assert unedited(seen, decoded, size).all()
    fine = size > 8 * np.spacing(np.abs(decoded).max().astype(np.float32))
    if fine:
        np.testing.assert_array_equal(quantised(seen, size, init), stored)
        assert not unedited(through_blender(decoded + size), decoded, size).any()


def test_the_edge_is_half_a_step():
    base, size = np.array([1.0, -1.0, 0.0]), 2.0**-8
    assert unedited(base + size / 2, base, size).all()
    assert unedited(base - size / 2, base, size).all()
    assert not unedited(base + np.nextafter(size / 2, 1), np.zeros(3) + base, size)[2]
    assert not unedited(base + size * 0.5001, base, size).any()


def test_poses_may_be_a_whole_step_off():
    base, size = np.array([0.25]), 2.0**-8
    assert unedited(base + size, base, size, steps=SAMPLED).all()
    assert not unedited(base + size * 1.001, base, size, steps=SAMPLED).any()
    assert not unedited(base + size, base, size, steps=KEYED).any()


def test_a_negative_step_is_as_wide():
    assert unedited(np.array([1.4]), np.array([1.0]), -1.0).all()
    assert not unedited(np.array([1.6]), np.array([1.0]), -1.0).any()


def test_a_step_that_is_not_finite_allows_for_nothing():
    base = np.array([[0.0, 1.0]])
    assert unedited(base, base, np.array([np.nan, 0.1])).all()
    assert unedited(base + 0.04, base, np.array([np.nan, 0.1])).tolist() == [[False, True]]


def test_each_axis_has_its_own_step():
    base = np.zeros((2, 3))
    values = np.array([[0.4, 0.4, 0.4], [0.04, 0.04, 0.04]])
    steps = np.array([1.0, 0.1, 0.01])
    np.testing.assert_array_equal(unedited(values, base, steps), [[True, False, False], [True, True, False]])


def test_a_tiny_range_on_a_large_offset_is_judged_by_the_floats_own_step():
    """Real tracks have half ranges of 0.2 micrometres about 1.5 m: a float32 cannot hold key·size + init."""
    size, init = np.float32(0.2e-6 / 127), np.float32(1.5)
    stored = np.arange(-127, 128)
    decoded = stored * np.float64(size) + np.float64(init)
    seen = through_blender(decoded)
    assert (quantised(seen, size, init) != stored).any(), "if floats held it there would be nothing to judge"
    assert unedited(seen, decoded, size).all()
    ulp = np.spacing(np.float32(1.5)).astype(np.float64)
    assert unedited(decoded + 3.9 * ulp, decoded, size).all()
    assert not unedited(decoded + 4.1 * ulp, decoded, size).any()


def test_plain_floats_may_be_four_units_in_the_last_digit_off():
    base = np.array([1.0, 1000.0, 1e-20, -3.0])
    ulp = np.spacing(np.abs(base).astype(np.float32)).astype(np.float64)
    assert unedited(base + 4 * ulp, base).all()
    assert not unedited(base + 4.5 * ulp, base).any()


def test_zero_as_a_plain_float_must_stay_zero():
    assert unedited(np.array([0.0, -0.0]), np.zeros(2)).all()
    assert not unedited(np.array([1e-30]), np.zeros(1)).any()


def test_the_numbers_a_value_was_computed_from_count_where_they_are_larger():
    base, value = np.array([1e-6]), np.array([1e-6 + 3e-7])
    assert not unedited(value, base).any()
    assert unedited(value, base, magnitude=np.array([1.0])).all()


def test_sums_beyond_the_largest_float_have_its_step():
    """A height of a broken file: 3.07e38 above a ground of -3.07e38."""
    ground, height = -3.0784353286206134e38, 3.078459445438074e38
    base = np.array([height])
    assert unedited(base.astype(np.float32), base, magnitude=np.array([height - ground])).all()
    assert not unedited(base * 1.001, base, magnitude=np.array([height - ground])).any()


def test_broken_files_numbers_are_unedited_where_they_are_the_same():
    odd = np.array([np.nan, np.inf, -np.inf, 1e300, 1.0])
    assert unedited(odd, odd).all()
    assert not unedited(np.zeros(4), odd[:4]).any()
    assert not unedited(odd[:3], np.zeros(3), 1.0).any()
    assert not unedited(np.array([np.inf]), np.array([-np.inf])).any()
    assert (tolerance(odd, 0.5) >= 0.25).all()


def test_a_rotation_is_the_same_with_its_sign_turned():
    base = RANDOM.integers(-32767, 32768, size=(500, 4)) * Q
    assert unedited_rotations(through_blender(base), base, Q).all()
    assert unedited_rotations(through_blender(-base), base, Q).all()
    mixed = base * [1, 1, 1, -1]
    assert not unedited_rotations(mixed, base, Q).any()


def test_the_sign_is_turned_whole_not_by_component():
    base = np.array([0.5, 0.5, 0.5, 0.5])
    assert not unedited_rotations(base * [1, -1, 1, -1], base, Q)
    assert unedited_rotations(base * -1, base, Q)


def test_one_component_one_step_off_is_another_rotation():
    base = np.tile(RANDOM.integers(-32000, 32000, size=4) * Q, (4, 1))
    assert not unedited_rotations(base + np.eye(4) * Q, base, Q).any()
    assert unedited_rotations(base + np.eye(4) * Q, base, Q, steps=SAMPLED).all()
    assert unedited_rotations(base + np.eye(4) * Q * 0.49, base, Q).all()


def test_rotations_of_damaged_files_are_unedited_while_they_hold_no_numbers():
    sound = np.array([0.5, 0.5, 0.5, 0.5])
    base = np.array([[np.inf, 0, 0, 0], [np.nan, 0, 0, 1], [np.inf, 0, 0, 0], sound, sound])
    values = np.array([[np.inf, 0, 0, 0], [np.nan] * 4, sound, [np.nan] * 4, sound])
    assert unedited_rotations(values, base, Q).tolist() == [True, True, False, False, True]


def test_rotations_keep_their_leading_shape():
    base = RANDOM.normal(size=(3, 5, 4))
    assert unedited_rotations(base, base, Q).shape == (3, 5)


def test_a_tiny_component_of_a_float_rotation_is_judged_at_the_size_of_a_quaternion():
    base = np.array([1.0, 0.0, 0.0, 0.0])
    assert unedited_rotations(np.array([1.0, 3e-7, 0.0, 0.0]), base, 0.0)
    assert not unedited_rotations(np.array([1.0, 6e-7, 0.0, 0.0]), base, 0.0)


def test_every_rotation_component_comes_back_without_normalising():
    stored = np.arange(-32767, 32768)
    decoded = stored * Q
    np.testing.assert_array_equal(quantised(through_blender(decoded), Q), stored)
    by_float_reciprocal = stored * np.float64(np.float32(1) / np.float32(32767))
    np.testing.assert_array_equal(quantised(through_blender(by_float_reciprocal), Q), stored)


def test_truncating_would_not_bring_keys_back():
    """The editor's own first quantisation truncates; repeated, it drifts. Rounding is why `quantised` exists."""
    stored = keys(8)
    size, init = np.float32(0.0123), np.float32(0.7)
    decoded = through_blender(stored * np.float64(size) + np.float64(init))
    assert (np.trunc((decoded - init) / size) != stored).any()
    np.testing.assert_array_equal(quantised(decoded, size, init), stored)


def test_a_scale_of_zero_gives_zero_whatever_the_key():
    size = np.array([0.01, 0.0, 0.01], np.float32)
    values = np.array([[0.05, 123.0, -0.05], [np.nan, np.nan, np.inf]])
    created = quantised(values, size)
    np.testing.assert_array_equal(created[0], [5, 0, -5])
    assert created[1, 1] == 0
    assert unedited(np.array([1.5]), np.array([1.5]), 0.0).all()


def test_nothing_is_clamped():
    np.testing.assert_array_equal(quantised(np.array([10.0, -10.0]), 0.01), [1000, -1000])


@given(st.integers(0, 2**32 - 1))
def test_kept_rows_have_the_bases_bits_and_touched_rows_their_own(seed):
    chance = np.random.default_rng(seed)
    base = chance.normal(0, 100, (40, 3)).astype(np.float32)
    base[0] = 0
    base.view(np.uint32)[1, 0] = 0x7FC01234  # a NaN with a payload
    values = np.nextafter(base, np.float32(np.inf), dtype=np.float32)
    values[0] = -0.0
    values[10:20, 1] += np.float32(0.5)
    result, touched = restore_unedited(values, base)
    assert touched.tolist() == [10 <= row < 20 for row in range(40)]
    assert result[~touched].tobytes() == base[~touched].tobytes()
    assert result[touched].tobytes() == values[touched].tobytes()


@pytest.mark.parametrize("shape", [(0, 3), (0,), (4, 0)])
def test_nothing_is_kept_of_nothing(shape):
    result, touched = restore_unedited(np.zeros(shape, np.float32), np.zeros(shape, np.float32))
    assert result.shape == shape
    assert not touched.any()


def test_the_largest_float_is_not_near_everything():
    largest = np.array([np.finfo(np.float32).max], np.float64)
    assert not unedited(np.array([0.0]), largest).any()
    assert unedited(largest, largest).all()
