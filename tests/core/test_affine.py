"""Component-by-component formulas against numpy's matrices, singular values and the house's other formulas."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core import affine, rotation

SEEDS = st.integers(0, 2**32 - 1)


def random_matrices(random, *shape):
    result = np.zeros((*shape, 4, 4))
    result[..., :3, :] = random.normal(size=(*shape, 3, 4))
    result[..., 3, 3] = 1.0
    return result


def random_turns(random, count):
    quaternions = random.normal(size=(count, 4))
    return rotation.matrices(quaternions / np.linalg.norm(quaternions, axis=-1, keepdims=True))


def linear_parts(rotations):
    """(3, 3, n) of (n, 3, 3)."""
    return np.ascontiguousarray(np.moveaxis(rotations, 0, -1))


@given(SEEDS)
def test_products_and_quotients_are_those_of_matrices(seed):
    random = np.random.default_rng(seed)
    a, b = random_matrices(random, 2, 5), random_matrices(random, 2, 5)
    c = random_matrices(random, 2)
    first, other = affine.components(a), affine.components(b)
    assert first.shape == (2, 3, 4, 5)
    np.testing.assert_array_equal(affine.matrices(first), a)
    np.testing.assert_allclose(affine.matrices(affine.product(first, other)), a @ b, atol=1e-12)
    np.testing.assert_allclose(affine.matrices(affine.product_with_constant(first, c)), a @ c[:, None], atol=1e-12)
    result = affine.matrices(affine.solved(first, other, np.eye(4)))
    np.testing.assert_allclose(result, np.linalg.inv(a) @ b, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(affine.matrices(affine.constant(c, 5)), np.broadcast_to(c[:, None], a.shape))


@pytest.mark.parametrize("shape", [(), (0,), (47,), (3, 5)])
def test_inverses_are_those_of_numpy(shape):
    random = np.random.default_rng(len(shape))
    skew = random_matrices(random, *shape)
    rigid = skew.copy()
    rigid[..., :3, :3] = random_turns(random, max(int(np.prod(shape)), 1))[: int(np.prod(shape))].reshape(*shape, 3, 3)
    np.testing.assert_allclose(affine.inverse(rigid), np.linalg.inv(rigid), rtol=0, atol=4e-15)
    worst = np.linalg.cond(skew).max(initial=1.0)
    error = np.abs(affine.inverse(skew) - np.linalg.inv(skew)).max(initial=0.0)
    assert error <= 1e-15 * worst * np.abs(np.linalg.inv(skew)).max(initial=1.0)


def test_a_flat_matrix_has_no_inverse():
    flat = np.stack((np.eye(4), np.diag([1.0, 0, 1, 1])))
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.inv(flat)
    with pytest.raises(np.linalg.LinAlgError):
        affine.inverse(flat)


@pytest.mark.parametrize("number", [0.0, np.nan, np.inf])
def test_what_has_no_inverse_is_replaced_where_it_stands_and_only_there(number):
    random = np.random.default_rng(1)
    a, b, instead = random_matrices(random, 4), random_matrices(random, 4), random_matrices(random)
    a[2, :3, 0] = number
    with np.errstate(invalid="ignore"):
        result = affine.matrices(affine.solved(affine.components(a), affine.components(b), instead))
    a[2] = instead
    np.testing.assert_allclose(result, np.linalg.inv(a) @ b, atol=1e-9)


@given(SEEDS)
def test_quaternions_of_all_angles_and_back(seed):
    """Half turns and more than 120 degrees are read off otherwise than the rest."""
    random = np.random.default_rng(seed)
    half_turns = [np.diag(signs) for signs in ((1.0, -1, -1), (-1.0, 1, -1), (-1.0, -1, 1))]
    rotations = np.concatenate([random_turns(random, 20), half_turns])
    result = affine.quaternions(linear_parts(rotations))
    np.testing.assert_allclose(result.T, rotation.from_matrices(rotations), atol=1e-14)
    np.testing.assert_allclose(affine.rotation_matrices(result), linear_parts(rotations), atol=1e-14)
    np.testing.assert_allclose(
        np.moveaxis(affine.rotation_matrices(result), -1, 0), rotation.matrices(result.T), atol=1e-15
    )


@given(SEEDS, st.sampled_from([0.0, 1e-9, 1e-7, 4e-7, 1e-6, 1e-4, 0.3]), st.sampled_from([1.0, -1.0]))
def test_the_nearest_rotation_by_singular_values_however_skew_the_axes_are(seed, skew, sign):
    random = np.random.default_rng(seed)
    matrices = sign * random_turns(random, 8) @ (np.eye(3) + skew * random.uniform(-1, 1, (8, 3, 3)))
    rotations, scales = affine.rotations_and_scales(linear_parts(matrices))
    units = sign * matrices / np.linalg.norm(matrices, axis=1, keepdims=True)
    left, _, right = np.linalg.svd(units)
    np.testing.assert_allclose(np.moveaxis(rotations, -1, 0), left @ right, atol=3e-12)
    np.testing.assert_allclose(scales.T, np.einsum("nij,nij->nj", left @ right, matrices), atol=3e-12)


@pytest.mark.parametrize("number", [np.nan, np.inf, 1e200])
def test_numbers_beyond_reason_spoil_their_own_frame_alone(number):
    rotations = random_turns(np.random.default_rng(2), 4)
    broken = rotations.copy()
    broken[1, 0, 0] = number
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        result, _ = affine.rotations_and_scales(linear_parts(broken))
    np.testing.assert_allclose(np.moveaxis(result, -1, 0)[[0, 2, 3]], rotations[[0, 2, 3]], atol=1e-12)


def test_flat_matrices_are_those_that_lost_a_dimension():
    rotations = np.tile(np.eye(4), (6, 1, 1))
    rotations[:, :3, :3] = random_turns(np.random.default_rng(3), 6)
    rotations[0, :3, :3] *= 1e-4
    rotations[1, :3, 1] *= 1e-4
    rotations[2, :3, 1] = 0
    rotations[3, :3, :3] = 0
    rotations[4, :3, :3] = (rotations[4, :3, :3] * [1, 0, 1] @ rotations[0, :3, :3]).astype(np.float32)
    rotations[5, 0, 0] = np.nan
    assert affine.is_singular(rotations).tolist() == [False, False, True, True, True, False]
    assert affine.is_singular(rotations.reshape(2, 3, 4, 4)).shape == (2, 3)
