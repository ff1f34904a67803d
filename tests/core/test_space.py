"""Axes of X-Ray against the matrices of the engine's own convention, multiplied out."""

import numpy as np
import pytest

from addon.core import rotation, space
from tests.core.test_rotation import turn

RANDOM = np.random.default_rng(21)
C = np.array([[1.0, 0, 0], [0, 0, 1], [0, 1, 0]])
D = np.diag([1.0, 1, -1])


def engine_rotation(quaternion):
    """Column form of the engine's matrix of (x, y, z, w): its rows in memory are the textbook's, so the transposed."""
    x, y, z, w = quaternion
    rows = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    return rows.T


def engine_angles(x, y, z):
    """``setXYZi`` in column form."""
    return turn(1, y) @ turn(0, x) @ turn(2, z)


def unit(count):
    values = RANDOM.normal(size=(count, 4))
    return values / np.linalg.norm(values, axis=-1, keepdims=True)


def test_the_root_frame_is_the_exchange_of_axes_times_the_mirror():
    np.testing.assert_array_equal(space.XRAY_ROOT_FRAME[:3, :3], C @ D)
    np.testing.assert_allclose(space.XRAY_ROOT_FRAME[:3, :3], turn(0, np.pi / 2), atol=1e-15)
    np.testing.assert_array_equal(space.XRAY_ROOT_FRAME[3], [0, 0, 0, 1])
    np.testing.assert_array_equal(space.XRAY_ROOT_FRAME[:3, 3], 0)


def test_bone_rotations_are_mirrored_on_both_sides():
    for q in unit(500):
        created = rotation.matrices(space.xray_bone_rotations(q))
        np.testing.assert_allclose(created, D @ engine_rotation(q) @ D, atol=1e-14)


def test_bone_rotations_are_w_x_y_and_minus_z_exactly_and_come_back():
    stored = RANDOM.integers(-32767, 32768, size=(40, 7, 4)).astype(float)
    created = space.xray_bone_rotations(stored)
    np.testing.assert_array_equal(created, stored[..., [3, 0, 1, 2]] * [1, 1, 1, -1])
    np.testing.assert_array_equal(space.xray_bone_rotations_back(created), stored)


def test_bone_translations_are_mirrored_exactly_and_come_back():
    stored = RANDOM.normal(size=(40, 7, 3)).astype(np.float32)
    created = space.xray_bone_translations(stored)
    np.testing.assert_array_equal(created, stored @ D)
    np.testing.assert_array_equal(space.xray_bone_translations(created).astype(np.float32), stored)


def test_a_chain_of_bones_is_where_the_engine_puts_it():
    """Global C·G·D of the engine's chain, G = L0·L1·L2, equals root frame times our parent-local transforms."""
    for _ in range(100):
        engine, ours = np.eye(4), space.XRAY_ROOT_FRAME.copy()
        for q, t in zip(unit(3), RANDOM.normal(size=(3, 3)), strict=True):
            local = np.eye(4)
            local[:3, :3], local[:3, 3] = engine_rotation(q), t
            engine = engine @ local
            ours = ours @ rotation.transforms(space.xray_bone_rotations(q), space.xray_bone_translations(t))
        np.testing.assert_allclose(ours[:3, :3], C @ engine[:3, :3] @ D, atol=1e-13)
        np.testing.assert_allclose(ours[:3, 3], C @ engine[:3, 3], atol=1e-13)


def test_points_and_normals_exchange_y_and_z_and_keep_their_type():
    points = RANDOM.normal(size=(20, 3)).astype(np.float32)
    created = space.xray_points(points)
    assert created.dtype == np.float32
    np.testing.assert_array_equal(created, points @ C.astype(np.float32))
    np.testing.assert_array_equal(space.xray_points(created), points)


def test_the_outward_side_of_triangles_stays_outward():
    corners = RANDOM.normal(size=(50, 3, 3))
    outward = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    turned = space.xray_points(corners)[:, space.xray_triangles(np.arange(3))]
    created = np.cross(turned[:, 1] - turned[:, 0], turned[:, 2] - turned[:, 0])
    np.testing.assert_allclose(created, space.xray_points(outward), atol=1e-14)
    indices = np.arange(12, dtype=np.uint16).reshape(4, 3)
    np.testing.assert_array_equal(space.xray_triangles(space.xray_triangles(indices)), indices)


def test_v_points_up_and_the_given_array_stays_as_it_is():
    uvs = np.array([[0.25, 0.0], [2.0, 0.75]], np.float32)
    before = uvs.copy()
    created = space.xray_uvs(uvs)
    np.testing.assert_array_equal(created, [[0.25, 1.0], [2.0, 0.25]])
    np.testing.assert_array_equal(uvs, before)
    assert created.dtype == np.float32
    many = RANDOM.uniform(-3, 3, size=(1000, 2)).astype(np.float32)
    back = space.xray_uvs(space.xray_uvs(many))
    assert (np.abs(back - many) <= np.spacing(np.float32(4))).all()


def test_a_signalling_nan_among_texture_coordinates_is_no_alarm():
    broken = np.frombuffer(np.array([0, 0x7F80_0001], "<u4").tobytes(), "<f4").reshape(1, 2)
    assert np.isnan(space.xray_uvs(broken)[0, 1])


def test_bind_angles_are_the_engines_setxyzi_mirrored():
    angles = RANDOM.uniform(-np.pi, np.pi, size=(500, 3))
    created = rotation.matrices(space.xray_bone_angles(angles))
    expected = [D @ engine_angles(*each) @ D for each in angles]
    np.testing.assert_allclose(created, expected, atol=1e-14)


def test_bind_angles_come_back_below_a_right_angle():
    angles = RANDOM.uniform(-1, 1, size=(2000, 3)) * [np.pi / 2 - 1e-3, np.pi, np.pi]
    np.testing.assert_allclose(space.xray_bone_angles_back(space.xray_bone_angles(angles)), angles, atol=1e-10)


@pytest.mark.parametrize("upright", [np.pi / 2, -np.pi / 2])
@pytest.mark.parametrize("beside", [0.0, 1e-15, 1e-12, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-2])
def test_upright_bones_keep_their_rotation(upright, beside):
    """Here only the sum or the difference of the other two angles is known: the rotation must be the same, not they."""
    angles = np.column_stack(
        [np.full(400, upright - np.sign(upright) * beside), *RANDOM.uniform(-np.pi, np.pi, size=(2, 400))]
    )
    q = space.xray_bone_angles(angles)
    again = space.xray_bone_angles(space.xray_bone_angles_back(q))
    assert rotation.angles_between(q, again).max() < 2e-9


def test_upright_bones_turn_about_one_angle_only():
    angles = np.array([[np.pi / 2, 0.7, 0.4], [-np.pi / 2, 0.7, 0.4]])
    created = space.xray_bone_angles_back(space.xray_bone_angles(angles))
    np.testing.assert_allclose(created, [[np.pi / 2, 0.3, 0], [-np.pi / 2, 1.1, 0]], atol=1e-9)


def test_random_rotations_keep_their_rotation_through_angles():
    q = unit(5000)
    again = space.xray_bone_angles(space.xray_bone_angles_back(q))
    assert rotation.angles_between(q, again).max() < 4e-15


def test_angles_do_not_depend_on_the_length_or_sign_of_the_quaternion():
    q = unit(100)
    np.testing.assert_allclose(space.xray_bone_angles_back(q * -2.5), space.xray_bone_angles_back(q), atol=1e-12)
