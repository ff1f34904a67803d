"""Math on affine matrices of whole motions, with the frames as the last axis: arrays (..., 3, 4, frames), or (..., 3,
3, frames) without the translation ("components").

With small matrices as the last axes, numpy loops over single matrices. With the frames last, each step of a formula is
one operation on contiguous rows of numbers, and a product with a matrix that is the same in all frames is one product
of large matrices. Callers should pass about `BLOCK` frames at a time, which fit into the processor's cache.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import rotation

Floats = NDArray[np.float64]

BLOCK = 1 << 12
"""Number of frames (of all bones together) that is fast to process at a time."""
NEARLY_ORTHOGONAL = 5e-7
"""Largest cosine between axes for which one iteration makes them perpendicular to 1e-12: the error of a rotation in
32-bit floats.
"""
NEARLY_SINGULAR = 0.05
"""Determinant of the normalised columns (1 for a rotation) below which the iteration is slow, so that singular values
are used.
"""
SINGULAR = 1e-6
"""Determinant of the normalised columns below which a matrix of 32-bit floats is singular; the rest is rounding."""
_STEPS = 12
_SETTLED = 1e-13


def components(matrices: Floats) -> Floats:
    """Return matrices (..., frames, 4, 4) as components (..., 3, 4, frames)."""
    return np.ascontiguousarray(np.moveaxis(matrices[..., :3, :], -3, -1))


def matrices(parts: Floats) -> Floats:
    """Return components (..., 3, 4, frames) as matrices (..., frames, 4, 4)."""
    result = np.zeros((*parts.shape[:-3], parts.shape[-1], 4, 4))
    result[..., :3, :] = np.moveaxis(parts, -1, -3)
    result[..., 3, 3] = 1.0
    return result


def constant(matrix: Floats, frames: int) -> Floats:
    """Return one matrix (..., 4, 4), repeated for all frames, as components (..., 3, 4, frames). The result is a
    read-only view.
    """
    rows = matrix[..., :3, :, None]
    return np.broadcast_to(rows, (*rows.shape[:-1], frames))


def composed(linear: Floats, locations: Floats) -> Floats:
    """Return components (..., 3, 4, frames) of a linear part (..., 3, 3, frames) and translations (..., 3, frames)."""
    result = np.empty((*linear.shape[:-2], 4, linear.shape[-1]))
    result[..., :3, :], result[..., 3, :] = linear, locations
    return result


def product(a: Floats, b: Floats) -> Floats:
    """Return ``a @ b`` of components (..., 3, 4, frames)."""
    result: Floats = np.einsum("...ikf,...kjf->...ijf", a[..., :3, :], b)
    result[..., 3, :] += a[..., 3, :]
    return result


def product_with_constant(a: Floats, matrix: Floats) -> Floats:
    """Return ``a @ matrix`` of components (..., 3, 4, frames) and one matrix (..., 4, 4) for all frames."""
    # Each row of `a` is (4, frames), so one product with the transposed matrix covers all frames.
    result: Floats = np.matmul(np.swapaxes(matrix, -1, -2)[..., None, :, :], a)
    return result


def solved(a: Floats, b: Floats, fallback: Floats) -> Floats:
    """Return ``inv(a) @ b`` of components (..., 3, 4, frames). Where ``a`` is singular or not finite, ``fallback``
    (..., 4, 4) is used instead of it.
    """
    cofactors, determinant = _cofactors(a[..., :3, :])
    size = np.abs(determinant)
    singular = ~((size > np.finfo(np.float64).tiny) & (size < np.inf))
    if singular.any():
        a = np.where(singular[..., None, None, :], constant(fallback, a.shape[-1]), a)
        cofactors, determinant = _cofactors(a[..., :3, :])
    cofactors /= determinant[..., None, None, :]
    # The inverse is the transposed matrix of cofactors, divided by the determinant.
    result: Floats = np.einsum("...kif,...kjf->...ijf", cofactors, b)
    result[..., 3, :] -= np.einsum("...kif,...kf->...if", cofactors, a[..., 3, :])
    return result


def inverse(whole: Floats) -> Floats:
    """Return the inverses of affine matrices (..., 4, 4), whose last row is 0 0 0 1.

    Like `numpy.linalg.inv`, which calls a threaded library for each small matrix and takes five to ten times the
    processor time. Raises `numpy.linalg.LinAlgError`, as that does, if a matrix is singular.
    """
    parts = components(whole.reshape(-1, 4, 4))
    cofactors, determinant = _cofactors(parts[:, :3])
    if (determinant == 0).any():
        raise np.linalg.LinAlgError("a matrix without volume has no inverse")
    result = np.empty_like(parts)
    np.divide(cofactors.swapaxes(0, 1), determinant, out=result[:, :3])
    result[:, 3] = -np.einsum("ijf,jf->if", result[:, :3], parts[:, 3])
    return matrices(result).reshape(whole.shape)


def is_singular(whole: Floats) -> NDArray[np.bool_]:
    """(...): which affine matrices (..., 4, 4) are singular, for example by a scale of 0, and so have no inverse."""
    linear = components(whole.reshape(-1, 4, 4))[:, :3]
    lengths = np.sqrt(np.einsum("ijf,ijf->jf", linear, linear))
    singular: NDArray[np.bool_] = np.abs(_determinants(linear)) <= SINGULAR * lengths.prod(axis=0)
    return singular.reshape(whole.shape[:-2])


def _cofactors(linear: Floats) -> tuple[Floats, Floats]:
    """Return cofactors (..., 3, 3, frames) and determinants (..., frames)."""
    result = np.empty_like(linear)
    for row in range(3):
        _cofactors_of_row(linear, row, result[..., row, :, :])
    return result, np.einsum("...jf,...jf->...f", linear[..., 0, :, :], result[..., 0, :, :])


def _cofactors_of_row(linear: Floats, row: int, result: Floats) -> None:
    first, other = linear[..., (row + 1) % 3, :, :], linear[..., (row + 2) % 3, :, :]
    for column in range(3):
        left, right = (column + 1) % 3, (column + 2) % 3
        np.multiply(first[..., left, :], other[..., right, :], out=result[..., column, :])
        result[..., column, :] -= first[..., right, :] * other[..., left, :]


def _determinants(linear: Floats) -> Floats:
    """Return determinants (..., frames)."""
    cofactors = np.empty_like(linear[..., 0, :, :])
    _cofactors_of_row(linear, 0, cofactors)
    result: Floats = np.einsum("...jf,...jf->...f", linear[..., 0, :, :], cofactors)
    return result


def rotations_and_scales(linear: Floats) -> tuple[Floats, Floats]:
    """Return the rotations (..., 3, 3, frames) nearest to the directions of the columns, and the scales (..., 3,
    frames), the lengths of the columns along them. A reflection gives a negative scale on all three axes.
    """
    lengths = np.sqrt(np.einsum("...ijf,...ijf->...jf", linear, linear))
    lengths[lengths == 0] = 1.0
    rotations = _nearest_rotations(linear / lengths[..., None, :, :])
    return rotations, np.einsum("...ijf,...ijf->...jf", rotations, linear)


def rigid(whole: Floats) -> Floats:
    """Return matrices (..., 4, 4) with the nearest rotations and the same translations."""
    parts = components(whole.reshape(-1, 4, 4))
    parts[:, :3] = rotations_and_scales(parts[:, :3])[0]
    return matrices(parts).reshape(whole.shape)


def distortion(whole: Floats) -> Floats:
    """(...): the largest element of MᵀM - I for the linear parts M of matrices (..., 4, 4); 0 without scale
    and shear.
    """
    rotations = whole[..., :3, :3]
    result: Floats = np.abs(np.swapaxes(rotations, -1, -2) @ rotations - np.eye(3)).max(axis=(-2, -1))
    return result


def largest_difference(floats: Floats, other: Floats) -> Floats:
    """Return the largest difference between elements, (..., frames), of components (..., 3, 3, frames)."""
    apart = floats - other
    np.abs(apart, out=apart)
    # Reduced over one axis, because numpy is slow over two.
    result: Floats = apart.reshape(*apart.shape[:-3], 9, apart.shape[-1]).max(axis=-2)
    return result


def _nearest_rotations(directions: Floats) -> Floats:
    """Return the rotations nearest to matrices (..., 3, 3, frames) with unit columns, or to their negatives if these
    reflect.

    With D = Q H, Q the rotation and H symmetric, the step D (3 - DᵀD) / 2 reduces the error E of H = 1 + E to -3/2 E².
    Since the columns are unit vectors, only the three cosines of DᵀD must be computed. If these are not small,
    `_iterated` is used.
    """
    x, y, z = (directions[..., :, axis, :] for axis in range(3))
    xy, xz, yz = (np.einsum("...if,...if->...f", first, other) for first, other in ((x, y), (x, z), (y, z)))
    skew = np.maximum(np.maximum(np.abs(xy), np.abs(xz)), np.abs(yz))
    for cosines in (xy, xz, yz):
        cosines /= 2
    result = directions.copy()
    for column, first, mine, second, other in ((0, xy, y, xz, z), (1, xy, x, yz, z), (2, xz, x, yz, y)):
        result[..., :, column, :] -= first[..., None, :] * mine + second[..., None, :] * other
    determinant = _determinants(result)
    reflected = determinant < 0
    if reflected.any():
        result *= np.where(reflected, -1.0, 1.0)[..., None, None, :]
    # A zero column has cosines of 0 too, so the determinant is checked as well.
    unfinished = ~((skew <= NEARLY_ORTHOGONAL) & (np.abs(determinant) > NEARLY_SINGULAR))
    if unfinished.any():
        np.moveaxis(result, -1, -3)[unfinished] = _iterated(np.moveaxis(directions, -1, -3)[unfinished])
    return result


def _iterated(directions: Floats) -> Floats:
    """Return the same for any matrices (n, 3, 3), by Newton's iteration towards the orthogonal factor.

    Nearly singular matrices use singular values; for one that is not finite the result is that of the identity.
    """
    parts = np.moveaxis(directions, 0, -1)
    determinant = _determinants(parts)
    singular = ~(np.abs(determinant) > NEARLY_SINGULAR)
    result = np.where(determinant < 0, -1.0, 1.0) * parts
    result[..., singular] = np.eye(3)[..., None]
    for _ in range(_STEPS):
        cofactors, determinant = _cofactors(result)
        better = (result + cofactors / determinant) / 2
        moved = np.abs(better - result).max(initial=0.0)
        result = better
        if moved < _SETTLED:
            break
    if singular.any():
        finite = np.isfinite(directions[singular]).all(axis=(1, 2), keepdims=True)
        left, _, right = np.linalg.svd(np.where(finite, directions[singular], np.eye(3)))
        sign = np.linalg.det(left @ right)
        left[..., 2] *= np.where(sign < 0, -1.0, 1.0)[..., None]
        result[..., singular] = np.moveaxis(left @ right, 0, -1)
    return np.moveaxis(result, -1, 0)


def quaternions(rotations: Floats) -> Floats:
    """Return unit quaternions (..., 4, frames) wxyz, w >= 0, of rotations (..., 3, 3, frames).

    For angles below 120 degrees they are computed by dividing by w, otherwise by their largest component.
    """
    result = np.empty((*rotations.shape[:-3], 4, rotations.shape[-1]))
    w = result[..., 0, :]
    np.add(rotations[..., 0, 0, :], rotations[..., 1, 1, :], out=w)
    w += rotations[..., 2, 2, :]
    w += 1.0  # 4 w²; the differences below are 4 w times the others
    small_w = ~(w >= 1.0)
    for axis, (first, other) in enumerate(((2, 1), (0, 2), (1, 0)), 1):
        np.subtract(rotations[..., first, other, :], rotations[..., other, first, :], out=result[..., axis, :])
    w[small_w] = 1.0  # avoids dividing by 0 at half turns; these are replaced below
    result /= np.sqrt(np.einsum("...if,...if->...f", result, result))[..., None, :]
    if small_w.any():
        np.moveaxis(result, -1, -2)[small_w] = rotation.from_matrices(np.moveaxis(rotations, -1, -3)[small_w])
    return result


def rotation_matrices(quaternions: Floats) -> Floats:
    """Return rotations (..., 3, 3, frames) of unit quaternions (..., 4, frames)."""
    w, x, y, z = np.moveaxis(quaternions, -2, 0)
    result = np.empty((*quaternions.shape[:-2], 3, 3, quaternions.shape[-1]))
    for axis, first, other in ((0, y, z), (1, x, z), (2, x, y)):
        result[..., axis, axis, :] = 1 - 2 * (first * first + other * other)
    for row, column, first, other, third in ((0, 1, x, y, z), (2, 0, x, z, y), (1, 2, y, z, x)):
        even, odd = first * other, w * third
        result[..., row, column, :] = 2 * (even - odd)
        result[..., column, row, :] = 2 * (even + odd)
    return result
