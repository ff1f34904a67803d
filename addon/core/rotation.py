"""Quaternions (w, x, y, z), rotation matrices and Euler angles on whole arrays: float64, any leading shape.

Column vectors throughout: ``p' = M @ p``, and ``multiply(a, b)`` rotates by ``b`` first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])


def normalised(quaternions: Floats) -> Floats:
    """Return unit quaternions; a zero quaternion becomes the identity."""
    # NumPy's sum over an axis of four takes many times as long as three additions.
    squares = quaternions * quaternions
    length = np.sqrt(squares[..., 0] + squares[..., 1] + squares[..., 2] + squares[..., 3])[..., None]
    is_rotation = length > 0
    if is_rotation.all():
        every: Floats = quaternions / length
        return every
    unit: Floats = np.where(is_rotation, quaternions / np.where(is_rotation, length, 1.0), IDENTITY)
    return unit


def conjugate(quaternions: Floats) -> Floats:
    """Return the inverse rotations of unit quaternions."""
    opposite: Floats = quaternions * np.array([1.0, -1.0, -1.0, -1.0])
    return opposite


def multiply(a: Floats, b: Floats) -> Floats:
    """Return the Hamilton product ``a * b``, broadcast over leading shapes."""
    aw, ax, ay, az = np.moveaxis(a, -1, 0)
    bw, bx, by, bz = np.moveaxis(b, -1, 0)
    return np.stack(
        (
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ),
        axis=-1,
    )


def left_matrices(quaternions: Floats) -> Floats:
    """Return matrices L (..., 4, 4) with ``multiply(q, r) = L r``, to apply one rotation to many by a matrix
    product.
    """
    w, x, y, z = np.moveaxis(quaternions, -1, 0)
    rows = ((w, -x, -y, -z), (x, w, -z, y), (y, z, w, -x), (z, -y, x, w))
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def rotate(quaternions: Floats, vectors: Floats) -> Floats:
    """Return vectors (..., 3) rotated by unit quaternions (..., 4)."""
    w = quaternions[..., :1]
    axis = quaternions[..., 1:]
    # v + 2w(u x v) + 2 u x (u x v): the product q v q* written out for a unit q.
    twice = 2.0 * np.cross(axis, vectors)
    turned: Floats = vectors + w * twice + np.cross(axis, twice)
    return turned


def matrices(quaternions: Floats) -> Floats:
    """Return the rotation matrices (..., 3, 3) of unit quaternions.

    A quaternion that is not of unit length gives the matrix that a game without normalisation computes: diagonal ``1 -
    2(yy + zz)``, off-diagonal ``2(xy - wz)``, which is not an exact rotation.
    """
    w, x, y, z = np.moveaxis(quaternions, -1, 0)
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def transforms(quaternions: Floats, translations: Floats) -> Floats:
    """Return matrices (..., 4, 4) that rotate, then translate."""
    result = np.zeros((*quaternions.shape[:-1], 4, 4))
    result[..., :3, :3] = matrices(quaternions)
    result[..., :3, 3] = translations
    result[..., 3, 3] = 1.0
    return result


def from_matrices(rotations: Floats) -> Floats:
    """Return the unit quaternions, w >= 0, of rotation matrices (..., 3, 3) without reflection and scale.

    The largest of the four squared components is computed from the diagonal and the others are divided by it, so that
    no direction loses precision.
    """
    m = rotations
    trace = m[..., 0, 0] + m[..., 1, 1] + m[..., 2, 2]
    # Row k holds 4 q_k (w, x, y, z): any row is the quaternion up to its factor.
    products = np.empty((*m.shape[:-2], 4, 4))
    products[..., 0, 0] = 1 + trace
    for axis, (first, other) in enumerate(((1, 2), (2, 0), (0, 1)), 1):
        products[..., axis, axis] = 1 + 2 * m[..., axis - 1, axis - 1] - trace
        products[..., 0, axis] = products[..., axis, 0] = m[..., other, first] - m[..., first, other]
        total = m[..., first, other] + m[..., other, first]
        products[..., first + 1, other + 1] = products[..., other + 1, first + 1] = total
    squares = np.einsum("...ii->...i", products)  # 4 w², 4 x², 4 y², 4 z²
    best = np.argmax(squares, axis=-1)
    row = np.take_along_axis(products, best[..., None, None], axis=-2)[..., 0, :]
    unit = normalised(row)
    result: Floats = np.where(unit[..., :1] < 0, -unit, unit)
    return result


def continuous(quaternions: Floats, starts: NDArray[np.intp] | None = None) -> Floats:
    """Return the same rotations, with signs for which neighbours along the second last axis are on the same side.

    Interpolation between two keys of opposite signs would take the long way round. The first key keeps its sign, and so
    does each of ``starts``: indices at which keys begin that do not continue those before.
    """
    dots = np.einsum("...ij,...ij->...i", quaternions[..., 1:, :], quaternions[..., :-1, :])
    flips = np.where(dots < 0, -1.0, 1.0)
    signs = np.concatenate([np.ones_like(quaternions[..., :1, 0]), np.cumprod(flips, axis=-1)], axis=-1)
    if starts is not None:
        lengths = np.diff(np.append(starts, signs.shape[-1]))
        signs *= np.repeat(signs[..., starts], lengths, axis=-1)
    result: Floats = quaternions * signs[..., None]
    return result


def signed_like(quaternions: Floats, first: Floats) -> Floats:
    """Return runs of quaternions (runs, frames, 4), each with the sign for which it begins nearest to ``first`` (runs,
    4).
    """
    opposite = np.einsum("ij,ij->i", quaternions[:, 0], first) < 0
    result: Floats = np.where(opposite[:, None, None], -quaternions, quaternions)
    return result


def about_axis(axis: int, angles: Any) -> Floats:
    """Return quaternions that rotate by ``angles`` (radians) about the x (0), y (1) or z (2) axis, right-handed."""
    half = np.asarray(angles, np.float64) / 2
    result = np.zeros((*half.shape, 4))
    result[..., 0] = np.cos(half)
    result[..., 1 + axis] = np.sin(half)
    return result


def of_mode(channels: Floats, mode: str) -> Floats:
    """Return the quaternions of a Blender object's rotation channels (..., 3 or 4), radians.

    ``mode``: the order in which Euler rotations are applied (``XYZ`` rotates about x first), or ``AXIS_ANGLE`` for an
    angle and an axis of any length.
    """
    if mode == "AXIS_ANGLE":
        axis = channels[..., 1:4]
        length = np.linalg.norm(axis, axis=-1, keepdims=True)
        unit = np.where(length > 0, axis / np.where(length > 0, length, 1.0), np.array([0.0, 1.0, 0.0]))
        half = channels[..., :1] / 2
        return np.concatenate((np.cos(half), unit * np.sin(half)), axis=-1)
    first, second, third = ("XYZ".index(letter) for letter in mode)
    rotation = multiply(about_axis(second, channels[..., second]), about_axis(first, channels[..., first]))
    return multiply(about_axis(third, channels[..., third]), rotation)


_ZXY = ((0, 2), (1, 2), (2, 2), (1, 0), (1, 1), (0, 0), (2, 0))
"""Rows and columns of the matrix elements from which the angles of order ZXY are computed."""


def euler_zxy(rotations: Floats, starts: NDArray[np.intp] | None = None) -> Floats:
    """Return continuous Euler angles (frames, 3), about x, y, z, of rotation matrices (frames, 3, 3) in the order ZXY.

    With M = Ry(b)·Rx(a)·Rz(c): M[1,2] = -sin a, M[0,2]/M[2,2] = tan b, M[1,0]/M[1,1] = tan c. At gimbal lock (|a| =
    90°) only a sum of b and c is determined, and c is 0. Of the two solutions of each frame the one nearest to the
    previous frame is used. ``starts``: indices at which frames begin that do not continue those before.
    """
    entries = tuple(rotations[None, :, row, column] for row, column in _ZXY)
    return _angles_zxy(entries, starts)[:, 0].T


def euler(rotations: Floats, order: str) -> Floats:
    """Return continuous Euler angles (frames, 3), about x, y, z, of rotation matrices (frames, 3, 3) in any order of
    Blender.

    The axes are renamed so that the order becomes ZXY; a renaming that is a reflection reverses the angles.
    """
    axes, sign = _as_zxy(order)
    result = np.empty((len(rotations), 3))
    result[:, axes] = sign * euler_zxy(rotations[:, axes][:, :, axes])
    return result


def _as_zxy(order: str) -> tuple[list[int], float]:
    """Return what x, y and z become when an order of Euler angles is renamed to ZXY, and the sign of the angles."""
    first, second, third = ("XYZ".index(axis) for axis in order)
    axes = [second, third, first]
    return axes, 1.0 if axes in ([0, 1, 2], [1, 2, 0], [2, 0, 1]) else -1.0


def rotated_euler_zxy(rotations: Floats, angles: Floats, starts: NDArray[np.intp] | None = None) -> Floats:
    """Return the `euler_zxy` of matrices (n, 3, 3) times the rotations of Euler angles (n, samples, 3) in the same
    order.

    The samples of each row continue those of the previous row, except at the rows ``starts``.
    """
    # Axes first and rows last, so that numpy processes contiguous numbers. One tangent of half the angle takes less
    # time than a sine and a cosine.
    half = np.tan(np.ascontiguousarray(angles.transpose(2, 1, 0)) / 2)
    square = half * half
    share = 1 / (1 + square)
    (sin_a, sin_b, sin_c), (cos_a, cos_b, cos_c) = 2 * half * share, (1 - square) * share
    factors = np.ascontiguousarray(rotations.transpose(1, 2, 0))
    tilted, level = sin_b * sin_a, cos_b * sin_a
    columns = (
        (cos_b * cos_c + tilted * sin_c, cos_a * sin_c, level * sin_c - sin_b * cos_c),
        (tilted * cos_c - cos_b * sin_c, cos_a * cos_c, sin_b * sin_c + level * cos_c),
        (sin_b * cos_a, -sin_a, cos_b * cos_a),
    )

    def entry(row: int, column: int) -> Floats:
        x, y, z = columns[column]
        product: Floats = factors[row, 0] * x
        product += factors[row, 1] * y
        product += factors[row, 2] * z
        return product

    entries = tuple(entry(row, column) for row, column in _ZXY)
    return _angles_zxy(entries, starts).transpose(2, 1, 0)


def _angles_zxy(entries: tuple[Floats, ...], starts: NDArray[np.intp] | None) -> Floats:
    """Return the angles (3, samples, n) of matrices given by their `_ZXY` elements ``entries`` (samples, n).

    The samples of each of the n columns continue those of the previous column, except at ``starts``.
    """
    right, minus_sine, deep, below, middle, first, last = entries
    level = np.sqrt(right * right + deep * deep)
    result = np.empty((3, *right.shape))
    for angle, opposite, adjacent in zip(result, (-minus_sine, right, below), (level, deep, middle), strict=True):
        np.arctan2(opposite, adjacent, out=angle)
    gimbal_lock = level < 1e-9
    if gimbal_lock.any():
        result[1:, gimbal_lock] = np.arctan2(-last, first)[gimbal_lock], np.zeros(int(gimbal_lock.sum()))
    begin = np.zeros(1, np.intp) if starts is None else starts
    wrapping = np.flatnonzero(_may_wrap(_steps(result, begin)).any(axis=0))
    if len(wrapping):
        run = np.searchsorted(begin, np.arange(right.shape[1]), "right")
        kept = np.flatnonzero(np.isin(run, run[wrapping]))
        own = np.flatnonzero(np.append(True, np.diff(run[kept]) > 0)) * len(right)
        chosen = result[:, :, kept].transpose(0, 2, 1)
        result[:, :, kept] = _unwrapped(chosen.reshape(3, -1), own).reshape(chosen.shape).transpose(0, 2, 1)
    return result


def _steps(angles: Floats, starts: NDArray[np.intp]) -> Floats:
    """Return the differences between angles (3, samples, n) and those before; 0 at the first sample of each of
    ``starts``.
    """
    steps = np.empty_like(angles)
    np.subtract(angles[:, 1:], angles[:, :-1], out=steps[:, 1:])
    np.subtract(angles[:, 0, 1:], angles[:, -1, :-1], out=steps[:, 0, 1:])
    steps[:, 0, starts[starts < angles.shape[2]]] = 0.0
    return steps


def _may_wrap(steps: Floats) -> NDArray[np.bool_]:
    """Return which steps (3, ...) are so large that the other solution, or one with full turns added, may be nearer."""
    a, b, c = np.abs(steps)
    far: NDArray[np.bool_] = a + 2 * (b + c) >= 2 * np.pi
    return far


def _unwrapped(angles: Floats, starts: NDArray[np.intp]) -> Floats:
    """Return angles (3, frames) as the equivalent ones that follow each other most closely, except at ``starts``."""
    result = angles.copy()
    far = np.flatnonzero(_may_wrap(_steps(angles[:, None], starts)[:, 0]))
    # `apart`: steps between two first solutions, or two second ones (pi - a, b + pi, c + pi), which are as far apart.
    # `cross`: sum of the steps between a first solution and a second one.
    apart = np.abs(_wrapped(angles[:, far] - angles[:, far - 1]))
    cross = np.abs(_wrapped(angles[0, far] + angles[0, far - 1] - np.pi)) + 2 * np.pi - apart[1] - apart[2]
    switch = np.zeros(angles.shape[1], np.bool_)
    switch[far] = cross < apart.sum(axis=0)
    if switch.any():
        other = _restarted_sums(np.cumsum(switch), starts) % 2 == 1
        result[:, other] = _other_zxy(angles[:, other].T).T
    # NaN or infinite values (broken files) must not spread to the frames after them.
    change = (result[:, far] - result[:, far - 1]) / (2 * np.pi)
    rounds = np.zeros_like(result)
    rounds[:, far] = np.nan_to_num(np.rint(change), nan=0.0, posinf=0.0, neginf=0.0)
    result -= 2 * np.pi * _restarted_sums(np.cumsum(rounds, axis=1).T, starts).T
    return result


def _restarted_sums(counted: NDArray[Any], starts: NDArray[np.intp]) -> NDArray[Any]:
    """Return running sums restarted at each of ``starts``."""
    lengths = np.diff(np.append(starts, len(counted)))
    since: NDArray[Any] = counted - np.repeat(counted[starts], lengths, axis=0)
    return since


def nearest_euler_zxy(angles: Floats, wanted: Floats) -> Floats:
    """Return the same rotations as ``angles`` (frames, 3) of order ZXY, as the angles nearest to ``wanted`` (frames,
    3).
    """
    answers = np.stack([wanted + _wrapped(answer - wanted) for answer in (angles, _other_zxy(angles))])
    costs = np.abs(answers - wanted).sum(axis=-1)
    result: Floats = np.where((costs[1] < costs[0])[:, None], answers[1], answers[0])
    return result


def euler_zxy_like(angles: Floats, first: Floats) -> Floats:
    """Return continuous runs (runs, frames, 3) of order ZXY as the angles of the same rotations that begin nearest to
    ``first`` (runs, 3).
    """
    begin = angles[:, 0]
    others = np.abs(_wrapped(_other_zxy(begin) - first)).sum(axis=1) < np.abs(_wrapped(begin - first)).sum(axis=1)
    result: Floats = np.where(others[:, None, None], _other_zxy(angles), angles)
    return result - 2 * np.pi * np.rint((result[:, 0] - first) / (2 * np.pi))[:, None]


def _other_zxy(angles: Floats) -> Floats:
    other: Floats = angles * np.array([-1.0, 1.0, 1.0]) + np.pi
    return other


def _wrapped(angles: Floats) -> Floats:
    result: Floats = angles - 2 * np.pi * np.rint(angles / (2 * np.pi))
    return result


def in_mode(quaternions: Floats, mode: str, first: Floats) -> Floats:
    """Return continuous rotation channels (frames, 3 or 4) of unit quaternions (frames, 4) in a rotation mode of
    Blender: of all values that mean the same rotations, those that begin nearest to ``first`` (3 or 4). See `of_mode`.
    """
    if mode == "QUATERNION":
        signed: Floats = signed_like(continuous(quaternions)[None], first[None])[0]
        return signed
    if mode != "AXIS_ANGLE":
        axes, sign = _as_zxy(mode)
        angles, result = euler(matrices(quaternions), mode), np.empty((len(quaternions), 3))
        result[:, axes] = sign * euler_zxy_like(sign * angles[None][..., axes], sign * first[None, axes])[0]
        return result
    signed = continuous(quaternions)
    lengths = np.linalg.norm(signed[:, 1:], axis=1)
    axes_of = np.where(lengths[:, None] > 0, signed[:, 1:] / np.where(lengths > 0, lengths, 1.0)[:, None], first[1:])
    flips = np.einsum("ij,ij->i", axes_of, np.concatenate((first[None, 1:], axes_of[:-1]))) < 0
    signs = np.cumprod(np.where(flips, -1.0, 1.0))
    axes_of, angles_of = axes_of * signs[:, None], 2.0 * np.unwrap(np.arctan2(lengths * signs, signed[:, 0]))
    rounds = 2 * np.pi * np.rint((angles_of[0] - first[0]) / (2 * np.pi))
    return np.concatenate((angles_of[:, None] - rounds, axes_of), axis=1)


def angles_between(a: Floats, b: Floats) -> Floats:
    """Return the angle between two rotations in radians, 0 ... pi, precise for small ones."""
    difference = multiply(conjugate(normalised(a)), normalised(b))
    result: Floats = 2.0 * np.arctan2(np.linalg.norm(difference[..., 1:], axis=-1), np.abs(difference[..., 0]))
    return result
