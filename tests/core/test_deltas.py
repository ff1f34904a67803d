"""Model-space deltas and keys: Blender's pose algebra written out, shear, reflections, flat and broken matrices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core import affine, deltas, rotation
from addon.core.model import absolute

SEEDS = st.integers(0, 2**32 - 1)


def turns(random, *shape):
    result = random.normal(size=(*shape, 4))
    return result / np.linalg.norm(result, axis=-1, keepdims=True)


def euler_matrix(x, y, z):
    """Rz Ry Rx, written out."""
    cx, cy, cz, sx, sy, sz = np.cos(x), np.cos(y), np.cos(z), np.sin(x), np.sin(y), np.sin(z)
    return np.array([
        [cy * cz, sx * sy * cz - cx * sz, cx * sy * cz + sx * sz],
        [cy * sz, sx * sy * sz + cx * cz, cx * sy * sz - sx * cz],
        [-sy, sx * cy, cx * cy],
    ])  # fmt: skip


def test_a_matrix_of_known_parts():
    matrix = np.eye(4)
    matrix[:3, :3] = euler_matrix(0.3, -1.0, 2.5) @ np.diag([2.0, 0.5, 3.0])
    matrix[:3, 3] = 1, -2, 3
    parts = deltas.decompose(matrix)
    np.testing.assert_allclose(parts.scales, [2, 0.5, 3], atol=1e-12)
    np.testing.assert_allclose(rotation.matrices(parts.rotations), euler_matrix(0.3, -1.0, 2.5), atol=1e-12)
    assert parts.locations.tolist() == [1, -2, 3]
    assert parts.shear < 1e-12


def test_shear_is_measured():
    matrix = np.eye(4)
    matrix[0, 1] = 0.1
    parts = deltas.decompose(matrix)
    left = matrix[:3, :3] - rotation.matrices(parts.rotations) @ np.diag(parts.scales)
    assert parts.shear == pytest.approx(np.abs(left).max())
    assert 0.045 < parts.shear < 0.055, "half of it becomes a turn"


@given(SEEDS, st.sampled_from([1.0, -1.0]))
def test_parts_of_unsheared_matrices_make_them_again(seed, sign):
    random = np.random.default_rng(seed)
    matrices = deltas.compose(random.normal(size=(5, 3)), turns(random, 5), sign * random.uniform(0.1, 3, (5, 3)))
    parts = deltas.decompose(matrices)
    assert (parts.rotations[:, 0] >= 0).all()
    np.testing.assert_allclose(deltas.compose(parts.locations, parts.rotations, parts.scales), matrices, atol=1e-9)
    assert (np.sign(parts.scales) == sign).all()


@given(SEEDS)
def test_the_rotation_is_the_nearest_one(seed):
    """Nearest in the sum of squares to the columns' directions: what singular values give."""
    random = np.random.default_rng(seed)
    linear = random.normal(size=(3, 3))
    linear *= np.sign(np.linalg.det(linear))
    parts = deltas.decompose(np.block([[linear, np.zeros((3, 1))], [np.zeros((1, 3)), np.ones((1, 1))]]))
    left, _, right = np.linalg.svd(linear / np.linalg.norm(linear, axis=0))
    np.testing.assert_allclose(rotation.matrices(parts.rotations), left @ right, atol=1e-6)


@pytest.mark.parametrize("scale", [(0, 1, 1), (0, 0, 1), (0, 0, 0)])
def test_flat_matrices_keep_what_they_have(scale):
    matrix = np.eye(4)
    matrix[:3, :3] = euler_matrix(0.3, -1.0, 2.5) @ np.diag(scale)
    parts = deltas.decompose(matrix)
    np.testing.assert_allclose(deltas.compose(parts.locations, parts.rotations, parts.scales), matrix, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(parts.rotations), 1)


PARENTS = [-1, 0, 1, 1, -1]


def skeleton(random, frames=3):
    rests = deltas.compose(random.normal(size=(5, 3)), turns(random, 5), np.ones((5, 3)))
    moved = deltas.compose(
        random.normal(size=(5, frames, 3)),
        turns(random, 5, frames),
        random.uniform(0.5, 2, (5, frames, 1)) * np.ones(3),
    )
    return rests, moved


@given(SEEDS)
def test_channels_pose_an_armature_so_that_every_delta_is_there(seed):
    """Blender's formula, bone by bone: pose = parent's pose @ inv(parent's rest) @ rest @ basis."""
    random = np.random.default_rng(seed)
    rests, wanted = skeleton(random)
    result = deltas.channels(wanted, rests, PARENTS)
    for frame in range(3):
        poses = {}
        for bone, parent in enumerate(PARENTS):
            basis = deltas.compose(
                result.locations[bone, frame], result.rotations[bone, frame], result.scales[bone, frame]
            )
            above = poses[parent] @ np.linalg.inv(rests[parent]) if parent >= 0 else np.eye(4)
            poses[bone] = above @ rests[bone] @ basis
            np.testing.assert_allclose(poses[bone] @ np.linalg.inv(rests[bone]), wanted[bone, frame], atol=1e-8)
    assert (np.einsum("bfi,bfi->bf", result.rotations[:, 1:], result.rotations[:, :-1]) >= 0).all(), "one side"
    np.testing.assert_allclose(deltas.deltas_of(result, rests, PARENTS), wanted, atol=1e-8)


def test_a_bone_is_off_by_its_own_shear_not_by_its_parents():
    random = np.random.default_rng(3)
    rests, wanted = skeleton(random, 1)
    wanted[0, 0, 0, 1] += 0.2
    result = deltas.channels(wanted, rests, PARENTS)
    apart = np.abs(deltas.deltas_of(result, rests, PARENTS) - wanted).max(axis=(1, 2, 3))
    assert 0.02 < apart[0] < 0.3
    assert apart[4] < 1e-9
    naive = np.eye(4)
    for bone in (0, 1, 2):  # keys made from the file's matrices alone drag the parent's loss along
        above = wanted[PARENTS[bone], 0] if bone else np.eye(4)
        parts = deltas.decompose(np.linalg.inv(rests[bone]) @ np.linalg.inv(above) @ wanted[bone, 0] @ rests[bone])
        kept = deltas.compose(parts.locations, parts.rotations, parts.scales)
        naive = naive @ rests[bone] @ kept @ np.linalg.inv(rests[bone])
    assert apart[2] < np.abs(naive - wanted[2, 0]).max()


def test_bones_that_are_not_animated_follow_their_parent():
    random = np.random.default_rng(4)
    rests, wanted = skeleton(random)
    animated = np.array([True, False, True, False, False])
    result = deltas.channels(np.where(animated[:, None, None, None], wanted, np.nan), rests, PARENTS, animated)
    assert not result.unusable.any()
    own_deltas = deltas.deltas_of(result, rests, PARENTS)
    np.testing.assert_allclose(own_deltas[1], wanted[0], atol=1e-9)
    np.testing.assert_allclose(own_deltas[2], wanted[2], atol=1e-9)
    np.testing.assert_allclose(own_deltas[3], wanted[0], atol=1e-9)
    np.testing.assert_allclose(own_deltas[4], np.broadcast_to(np.eye(4), (3, 4, 4)), atol=1e-14)
    assert (result.scales[~animated] == 1).all()
    assert (result.locations[~animated] == 0).all()
    assert (result.rotations[~animated] == rotation.IDENTITY).all()


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_matrices_that_are_not_one_are_marked_and_follow_their_parent(number):
    rests, wanted = skeleton(np.random.default_rng(5))
    wanted[1, 2, 0, 0] = number
    result = deltas.channels(wanted, rests, PARENTS)
    assert np.argwhere(result.unusable).tolist() == [[1, 2]]
    own_deltas = deltas.deltas_of(result, rests, PARENTS)
    assert np.isfinite(own_deltas).all()
    np.testing.assert_allclose(own_deltas[1, 2], wanted[0, 2], atol=1e-9)
    np.testing.assert_allclose(own_deltas[2, 2], wanted[2, 2], atol=1e-8)


@given(SEEDS)
def test_relative_and_absolute_undo_each_other(seed):
    _, wanted = skeleton(np.random.default_rng(seed))
    parts = deltas.relative(wanted, PARENTS)
    np.testing.assert_allclose(wanted[1] @ parts[3], wanted[3], atol=1e-8)
    np.testing.assert_allclose(absolute(parts, PARENTS), wanted, atol=1e-8)


def test_parents_may_stand_behind_their_children_but_form_no_cycle():
    _, wanted = skeleton(np.random.default_rng(6))
    parents = [2, -1, 1, 0, 1]
    np.testing.assert_allclose(absolute(deltas.relative(wanted, parents), parents), wanted, atol=1e-8)
    with pytest.raises(ValueError, match="cycle"):
        absolute(wanted, [1, 0, -1, -1, -1])


def test_inverses():
    _, wanted = skeleton(np.random.default_rng(7))
    np.testing.assert_allclose(deltas.inverse(wanted), np.linalg.inv(wanted), atol=1e-9)
    flat = np.diag([1.0, 0.0, 1.0, 1.0])
    np.testing.assert_array_equal(deltas.inverse(flat), np.eye(4))
    np.testing.assert_array_equal(deltas.inverse(np.full((4, 4), np.nan)), np.eye(4))


def test_many_frames_and_bones_are_what_each_frame_alone_is():
    """Motions are worked on in pieces: bones of one depth, so many frames at a time."""
    random = np.random.default_rng(8)
    count, frames = 40, affine.BLOCK // 6
    parents = [-1, *(random.integers(0, bone) for bone in range(1, count))]
    rests = deltas.compose(random.normal(size=(count, 3)), turns(random, count), np.ones((count, 3)))
    wanted = deltas.compose(
        random.normal(size=(count, frames, 3)),
        turns(random, count, frames),
        random.uniform(0.9, 1.1, (count, frames, 1)) * np.ones(3),
    )
    result = deltas.channels(wanted, rests, parents)
    for frame in (0, frames // 2, frames - 1):
        alone = deltas.channels(wanted[:, frame : frame + 1], rests, parents)
        np.testing.assert_allclose(result.locations[:, frame], alone.locations[:, 0], atol=1e-9)
        np.testing.assert_allclose(result.scales[:, frame], alone.scales[:, 0], atol=1e-9)
        np.testing.assert_allclose(
            rotation.matrices(result.rotations[:, frame]), rotation.matrices(alone.rotations[:, 0]), atol=1e-9
        )
    np.testing.assert_allclose(deltas.deltas_of(result, rests, parents), wanted, atol=1e-7)


def test_deltas_in_another_order_than_the_bones():
    random = np.random.default_rng(9)
    rests, wanted = skeleton(random)
    order = np.array([3, 0, 4, 1, 2])
    result = deltas.channels(wanted[order], rests, PARENTS, rows=np.argsort(order))
    same = deltas.channels(wanted, rests, PARENTS)
    np.testing.assert_array_equal(result.locations, same.locations)
    np.testing.assert_array_equal(result.rotations, same.rotations)
    fewer = deltas.channels(wanted[:2], rests, PARENTS, np.arange(5) < 2, np.array([0, 1, 0, 0, 0]))
    np.testing.assert_allclose(deltas.deltas_of(fewer, rests, PARENTS)[:4], wanted[[0, 1, 1, 1]], atol=1e-8)
