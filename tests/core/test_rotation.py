"""Rotations against matrices built from sines and cosines alone, and against properties that need no formula."""

import numpy as np
import pytest

from addon.core import rotation

RANDOM = np.random.default_rng(20)


def quaternions(*shape):
    """Evenly spread unit quaternions."""
    values = RANDOM.normal(size=(*shape, 4))
    return values / np.linalg.norm(values, axis=-1, keepdims=True)


def turn(axis, angle):
    """The textbook matrix about x, y or z: the independent judge."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array(
        {
            0: [[1, 0, 0], [0, c, -s], [0, s, c]],
            1: [[c, 0, s], [0, 1, 0], [-s, 0, c]],
            2: [[c, -s, 0], [s, c, 0], [0, 0, 1]],
        }[axis]
    )


def turn_about(direction, angle):
    """Rodrigues' formula."""
    x, y, z = direction / np.linalg.norm(direction)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_turning_about_an_axis_is_right_handed(axis):
    angles = np.linspace(-7, 7, 29)
    created = rotation.matrices(rotation.about_axis(axis, angles))
    np.testing.assert_allclose(created, [turn(axis, angle) for angle in angles], atol=1e-15)


def test_matrices_are_those_of_rodrigues():
    for direction, angle in zip(RANDOM.normal(size=(200, 3)), RANDOM.uniform(-np.pi, np.pi, 200), strict=True):
        unit = direction / np.linalg.norm(direction)
        quaternion = np.array([np.cos(angle / 2), *(np.sin(angle / 2) * unit)])
        np.testing.assert_allclose(rotation.matrices(quaternion), turn_about(direction, angle), atol=1e-14)


def test_a_quaternion_off_unit_length_gives_what_a_game_gives_that_never_normalises():
    w, x, y, z = 0.5, 0.5, 0.5, 0.6
    expected = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    np.testing.assert_array_equal(rotation.matrices(np.array([w, x, y, z])), expected)


def test_the_product_turns_by_the_second_first():
    a, b = quaternions(500), quaternions(500)
    np.testing.assert_allclose(
        rotation.matrices(rotation.multiply(a, b)), rotation.matrices(a) @ rotation.matrices(b), atol=1e-14
    )


def test_the_product_broadcasts_like_everything_else():
    a, b = quaternions(3, 1), quaternions(5)
    product = rotation.multiply(a, b)
    assert product.shape == (3, 5, 4)
    np.testing.assert_array_equal(product[2, 4], rotation.multiply(a[2, 0], b[4]))


def test_the_conjugate_undoes():
    q = quaternions(100)
    identity = rotation.multiply(q, rotation.conjugate(q))
    np.testing.assert_allclose(identity, np.broadcast_to(rotation.IDENTITY, (100, 4)), atol=1e-15)
    np.testing.assert_allclose(
        rotation.matrices(rotation.conjugate(q)), np.swapaxes(rotation.matrices(q), -1, -2), atol=1e-15
    )


def test_turned_vectors_are_the_matrix_times_the_vector():
    q, v = quaternions(300), RANDOM.normal(size=(300, 3)) * 50
    expected = (rotation.matrices(q) @ v[..., None])[..., 0]
    np.testing.assert_allclose(rotation.rotate(q, v), expected, atol=1e-12)


def test_transforms_turn_then_move():
    q, t, p = quaternions(4, 6), RANDOM.normal(size=(4, 6, 3)), np.array([1.0, 2.0, 3.0])
    created = rotation.transforms(q, t)
    assert created.shape == (4, 6, 4, 4)
    np.testing.assert_array_equal(created[..., 3, :], np.broadcast_to([0, 0, 0, 1], (4, 6, 4)))
    np.testing.assert_allclose(created[1, 2] @ [*p, 1], [*(rotation.matrices(q[1, 2]) @ p + t[1, 2]), 1], atol=1e-14)


def test_normalising_keeps_the_direction_and_makes_nothing_of_nothing_the_identity():
    q = quaternions(50)
    np.testing.assert_allclose(rotation.normalised(q * 1e-30), q, atol=1e-15)
    np.testing.assert_array_equal(rotation.normalised(np.zeros((2, 4))), [rotation.IDENTITY] * 2)


def judged(q):
    """From matrix back to a quaternion: unit, w >= 0, the same rotation to the last digits."""
    back = rotation.from_matrices(rotation.matrices(q))
    assert back.shape == q.shape
    assert (back[..., 0] >= 0).all()
    np.testing.assert_allclose(np.linalg.norm(back, axis=-1), 1.0, atol=1e-15)
    nearest = np.minimum(np.abs(back - q).max(axis=-1), np.abs(back + q).max(axis=-1))
    assert nearest.max() < 4e-16 * 4, nearest.max()


def test_quaternions_come_back_from_matrices():
    judged(quaternions(20_000))


@pytest.mark.parametrize("size", [0.0, 1e-300, 1e-160, 1e-16, 1e-12, 1e-9, 1e-8, 1e-6, 1e-3])
def test_quaternions_come_back_near_every_direction_where_a_component_vanishes(size):
    """The identity, half turns about the axes and between them, and a hair beside each of them."""
    signs = np.array(np.meshgrid(*[(-1, 0, 1)] * 4)).reshape(4, -1).T
    corners = signs[(signs != 0).any(axis=1)].astype(float)
    near = corners[:, None] + size * RANDOM.normal(size=(80, 40, 4))
    judged(near / np.linalg.norm(near, axis=-1, keepdims=True))


def test_half_turns_exactly():
    for axis in range(3):
        half = np.diag([1.0 if other == axis else -1.0 for other in range(3)])
        np.testing.assert_array_equal(np.abs(rotation.from_matrices(half)), np.eye(4)[axis + 1])


def test_matrices_that_are_a_little_off_still_give_a_unit_quaternion():
    rotations = rotation.matrices(quaternions(1000)) + RANDOM.normal(size=(1000, 3, 3)) * 1e-4
    back = rotation.from_matrices(rotations)
    np.testing.assert_allclose(np.linalg.norm(back, axis=-1), 1.0, atol=1e-15)
    assert np.abs(rotation.matrices(back) - rotations).max() < 1e-3


def test_signs_are_continuous_and_rotations_the_same():
    start = quaternions(7, 1)
    angles = np.linspace(0, 12, 90)
    path = rotation.multiply(start, rotation.about_axis(1, angles))
    flipped = path * RANDOM.choice([-1.0, 1.0], size=(7, 90, 1))
    smooth = rotation.continuous(flipped)
    assert (np.einsum("bfk,bfk->bf", smooth[:, 1:], smooth[:, :-1]) > 0).all()
    np.testing.assert_array_equal(smooth[:, 0], flipped[:, 0])
    np.testing.assert_array_equal(np.abs(smooth), np.abs(flipped))
    np.testing.assert_array_equal(np.abs(np.einsum("bfk,bfk->bf", smooth, flipped)) > 0.99, True)


@pytest.mark.parametrize("frames", [0, 1])
def test_one_key_or_none_is_continuous_already(frames):
    q = quaternions(3, frames)
    np.testing.assert_array_equal(rotation.continuous(q), q)


def test_angles_between_rotations_are_precise_even_when_tiny():
    angles = np.array([0.0, 1e-12, 1e-8, 1e-4, 1.0, 3.0, np.pi])
    base = quaternions(1)
    turned = rotation.multiply(base, rotation.about_axis(0, angles))
    np.testing.assert_allclose(rotation.angles_between(base, turned), angles, rtol=1e-7, atol=3e-16)
    np.testing.assert_allclose(rotation.angles_between(base, -turned), angles, rtol=1e-7, atol=3e-16)


def test_angles_do_not_depend_on_length():
    a, b = quaternions(50), quaternions(50)
    traces = np.trace(rotation.matrices(a).swapaxes(-1, -2) @ rotation.matrices(b), axis1=-2, axis2=-1)
    expected = np.arccos(np.clip((traces - 1) / 2, -1, 1))
    np.testing.assert_allclose(rotation.angles_between(a * 3, b * 0.2), expected, atol=1e-7)


def test_euler_angles_go_on_through_full_turns() -> None:
    wanted = np.stack([np.linspace(0, 1, 60), np.linspace(0, 10, 60), np.linspace(0, -9, 60)], axis=1)
    result = rotation.euler(rotation.matrices(rotation.of_mode(wanted, "YXZ")), "YXZ")
    np.testing.assert_allclose(result, wanted, atol=1e-9)


def test_the_nearest_of_the_answers_in_the_order_zxy() -> None:
    wanted = RANDOM.uniform(-7, 7, (300, 3))
    other = np.pi - wanted[:, 0], wanted[:, 1] - np.pi, wanted[:, 2] + 3 * np.pi
    result = rotation.nearest_euler_zxy(np.stack(other, axis=1), wanted)
    np.testing.assert_allclose(result, wanted, atol=1e-9)


def test_angles_and_signs_go_on_within_runs_only():
    steps = np.linspace(0, 14, 60)
    run = rotation.multiply(rotation.about_axis(1, 3 * steps), rotation.about_axis(0, steps))
    runs, starts = np.concatenate((run, run[::-1], run[:1], run)), np.array([0, 60, 120, 121])
    parts = [run, run[::-1], run[:1], run]
    angles = rotation.euler_zxy(rotation.matrices(runs), starts)
    alone = np.concatenate([rotation.euler_zxy(rotation.matrices(part)) for part in parts])
    np.testing.assert_allclose(angles, alone, rtol=0, atol=1e-12)
    assert np.abs(np.diff(angles, axis=0))[:59].max() < 1.0
    given = runs * np.where(np.arange(len(runs)) % 3, 1.0, -1.0)[:, None]
    signed = rotation.continuous(given, starts)
    assert (np.einsum("ij,ij->i", signed[1:], signed[:-1])[np.setdiff1d(np.arange(180), starts - 1)] > 0).all()
    np.testing.assert_array_equal(
        signed[starts], (runs * np.where(np.arange(len(runs)) % 3, 1.0, -1.0)[:, None])[starts]
    )


def test_what_is_not_finite_stays_in_its_run():
    runs = np.concatenate(
        (rotation.matrices(quaternions(5)), np.full((2, 3, 3), np.nan), rotation.matrices(quaternions(5)))
    )
    angles = rotation.euler_zxy(runs, np.array([0, 5, 7]))
    np.testing.assert_allclose(angles[7:], rotation.euler_zxy(runs[7:]), rtol=0, atol=1e-12)


def test_turned_euler_angles_are_those_of_the_product():
    random = np.random.default_rng(7)
    angles, rotations = np.cumsum(random.normal(0, 0.3, (6, 5, 3)), axis=1), quaternions(6)
    result = rotation.rotated_euler_zxy(rotation.matrices(rotations), angles, np.array([0, 2]))
    whole = rotation.multiply(rotations[:, None], rotation.of_mode(angles, "ZXY"))
    np.testing.assert_allclose(
        rotation.matrices(rotation.of_mode(result, "ZXY")), rotation.matrices(whole), rtol=0, atol=1e-12
    )


def turned(angles: np.ndarray, order: str) -> np.ndarray:
    """The rotation matrices of Euler angles that are applied in this order."""
    first, second, third = ("XYZ".index(axis) for axis in order)
    return np.stack([turn(third, row[third]) @ turn(second, row[second]) @ turn(first, row[first]) for row in angles])


@pytest.mark.parametrize("order", ["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"])
def test_euler_angles_in_any_order_give_the_rotation_back_without_leaps(order) -> None:
    angles = np.cumsum(RANDOM.normal(0, 0.2, (2000, 3)), axis=0)
    result = rotation.euler(turned(angles, order), order)
    np.testing.assert_allclose(turned(result, order), turned(angles, order), rtol=0, atol=1e-9)
    np.testing.assert_allclose(np.diff(result, axis=0), np.diff(angles, axis=0), atol=1e-6)
    upright = RANDOM.uniform(-3, 3, (50, 3))
    upright[:, "XYZ".index(order[1])] = np.pi / 2  # only a sum of the other two is known
    again = rotation.euler(turned(upright, order), order)
    np.testing.assert_allclose(turned(again, order), turned(upright, order), rtol=0, atol=2e-7)


@pytest.mark.parametrize("mode", ["QUATERNION", "AXIS_ANGLE", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"])
def test_channels_of_a_mode_mean_the_same_rotations_and_continue_those_given(mode):
    angles = np.linspace(0.0, 4.0, 40)[:, None] * [0.9, 0.7, 1.1]
    if mode == "QUATERNION":
        channels = -rotation.continuous(rotation.of_mode(angles, "XYZ"))
    elif mode == "AXIS_ANGLE":
        unit = turn_about(np.array([1.0, 2.0, 3.0]), 0.4)[0]
        channels = np.concatenate((np.linspace(-7.0, 9.0, 40)[:, None], np.tile(unit, (40, 1))), axis=1)
    else:
        channels = angles * np.where(np.arange(3) == "XYZ".index(mode[1]), 0.3, 1.0) + 2 * np.pi * np.array([1, -1, 0])
    given = channels if mode == "QUATERNION" else rotation.of_mode(channels, mode)
    np.testing.assert_allclose(rotation.in_mode(given, mode, channels[0]), channels, atol=1e-9)
