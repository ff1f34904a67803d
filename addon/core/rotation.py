"""Quaternions (w, x, y, z), matrices and Euler angles on whole arrays, float64, any leading shape.

Column convention throughout: ``p' = M @ p``, and ``multiply(a, b)`` turns by ``b`` first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])


def normalised(quaternions: Floats) -> Floats:
    """Unit quaternions; a zero quaternion becomes the identity."""
    # Reductions over an axis of four cost many times as much as three additions, here and in `core.quantum`.
    squares = quaternions * quaternions
    length = np.sqrt(squares[..., 0] + squares[..., 1] + squares[..., 2] + squares[..., 3])[..., None]
    is_rotation = length > 0
    if is_rotation.all():
        every: Floats = quaternions / length
        return every
    unit: Floats = np.where(is_rotation, quaternions / np.where(is_rotation, length, 1.0), IDENTITY)
    return unit


def conjugate(quaternions: Floats) -> Floats:
    """The opposite rotation of unit quaternions."""
    opposite: Floats = quaternions * np.array([1.0, -1.0, -1.0, -1.0])
    return opposite


def multiply(a: Floats, b: Floats) -> Floats:
    """Hamilton product ``a * b``, broadcast over leading shapes."""
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
    """(..., 4, 4) matrices L with ``multiply(q, r) = L r``: one rotation applied to many by a matrix product."""
    w, x, y, z = np.moveaxis(quaternions, -1, 0)
    rows = ((w, -x, -y, -z), (x, w, -z, y), (y, z, w, -x), (z, -y, x, w))
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def rotate(quaternions: Floats, vectors: Floats) -> Floats:
    """Vectors (..., 3) turned by unit quaternions (..., 4)."""
    w = quaternions[..., :1]
    axis = quaternions[..., 1:]
    # v + 2w(u x v) + 2 u x (u x v): the product q v q* written out for a unit q.
    twice = 2.0 * np.cross(axis, vectors)
    turned: Floats = vectors + w * twice + np.cross(axis, twice)
    return turned


def matrices(quaternions: Floats) -> Floats:
    """(..., 3, 3) rotation matrices of unit quaternions.

    A quaternion that is not of unit length gives what a game that never normalises gives: diagonal
    ``1 - 2(yy + zz)``, off-diagonal ``2(xy - wz)``, with its deviation from a rotation.
    """
    w, x, y, z = np.moveaxis(quaternions, -1, 0)
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def transforms(quaternions: Floats, translations: Floats) -> Floats:
    """(..., 4, 4) matrices that turn, then move."""
    result = np.zeros((*quaternions.shape[:-1], 4, 4))
    result[..., :3, :3] = matrices(quaternions)
    result[..., :3, 3] = translations
    result[..., 3, 3] = 1.0
    return result


def from_matrices(turns: Floats) -> Floats:
    """Unit quaternions, w >= 0, of (..., 3, 3) rotation matrices (reflections and scale are not rotations).

    The largest of the four squared components is read off the diagonal and the others divided by it, so that no
    direction loses precision.
    """
    m = turns
    trace = m[..., 0, 0] + m[..., 1, 1] + m[..., 2, 2]
    squares = np.stack(
        [1 + trace, *(1 + 2 * m[..., axis, axis] - trace for axis in range(3))], axis=-1
    )  # 4 w², 4 x², 4 y², 4 z²
    wx, wy, wz = (m[..., a, b] - m[..., b, a] for a, b in ((2, 1), (0, 2), (1, 0)))
    xy, xz, yz = (m[..., a, b] + m[..., b, a] for a, b in ((0, 1), (0, 2), (1, 2)))
    # Row k holds 4 q_k (w, x, y, z): any row is the quaternion up to its factor.
    products = np.stack(
        [
            np.stack((squares[..., 0], wx, wy, wz), axis=-1),
            np.stack((wx, squares[..., 1], xy, xz), axis=-1),
            np.stack((wy, xy, squares[..., 2], yz), axis=-1),
            np.stack((wz, xz, yz, squares[..., 3]), axis=-1),
        ],
        axis=-2,
    )
    best = np.argmax(squares, axis=-1)
    row = np.take_along_axis(products, best[..., None, None], axis=-2)[..., 0, :]
    unit = normalised(row)
    result: Floats = np.where(unit[..., :1] < 0, -unit, unit)
    return result


def continuous(quaternions: Floats, starts: NDArray[np.intp] | None = None) -> Floats:
    """The same rotations with signs chosen so that neighbours along the second last axis are on one side.

    Interpolating between two keys whose signs differ would take the long way round. The first key keeps its sign, and
    so does each of ``starts``, where keys begin that do not follow on those before.
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
    """Runs of quaternions (runs, frames, 4), each with the sign by which it begins nearest to ``first`` (runs, 4)."""
    opposite = np.einsum("ij,ij->i", quaternions[:, 0], first) < 0
    result: Floats = np.where(opposite[:, None, None], -quaternions, quaternions)
    return result


def about_axis(axis: int, angles: Any) -> Floats:
    """Quaternions that turn by ``angles`` (radians) about the x (0), y (1) or z (2) axis, right-handed."""
    half = np.asarray(angles, np.float64) / 2
    result = np.zeros((*half.shape, 4))
    result[..., 0] = np.cos(half)
    result[..., 1 + axis] = np.sin(half)
    return result


def of_mode(channels: Floats, mode: str) -> Floats:
    """Quaternions of a Blender object's rotation channels, (..., 3 or 4) radians.

    ``mode`` is the order in which an Euler rotation is applied (``XYZ`` turns about x first), or ``AXIS_ANGLE`` for an
    angle and an axis of any length.
    """
    if mode == "AXIS_ANGLE":
        axis = channels[..., 1:4]
        length = np.linalg.norm(axis, axis=-1, keepdims=True)
        unit = np.where(length > 0, axis / np.where(length > 0, length, 1.0), np.array([0.0, 1.0, 0.0]))
        half = channels[..., :1] / 2
        return np.concatenate((np.cos(half), unit * np.sin(half)), axis=-1)
    first, second, third = ("XYZ".index(letter) for letter in mode)
    turn = multiply(about_axis(second, channels[..., second]), about_axis(first, channels[..., first]))
    return multiply(about_axis(third, channels[..., third]), turn)


def euler_yxz(turns: Floats) -> Floats:
    """Continuous Euler angles (frames, 3), about x, y, z, of rotation matrices (frames, 3, 3) in the order YXZ.

    With M = Rz(c)·Rx(a)·Ry(b): M[2,1] = sin a, M[0,1]/M[1,1] = -tan c, M[2,0]/M[2,2] = -tan b. Upright (|a| = 90°) only
    a sum of b and c is known; c is then 0. Of the two answers of every frame, (a, b, c) and (pi - a, b + pi, c + pi),
    and their full turns, the one nearest to the frame before is taken.
    """
    sine = np.clip(turns[:, 2, 1], -1.0, 1.0)
    upright = np.abs(sine) > 1 - 1e-12
    a = np.arcsin(sine)
    b = np.where(upright, np.arctan2(turns[:, 0, 2], turns[:, 0, 0]), np.arctan2(-turns[:, 2, 0], turns[:, 2, 2]))
    c = np.where(upright, 0.0, np.arctan2(-turns[:, 0, 1], turns[:, 1, 1]))
    one = np.stack((a, b, c), axis=-1)
    other = np.stack((np.pi - a, b + np.pi, c + np.pi), axis=-1)
    result = one.copy()
    for frame in range(1, len(result)):
        before = result[frame - 1]
        near = [answer[frame] + 2 * np.pi * np.rint((before - answer[frame]) / (2 * np.pi)) for answer in (one, other)]
        result[frame] = min(near, key=lambda answer: float(np.abs(answer - before).sum()))
    return result


_ZXY = ((0, 2), (1, 2), (2, 2), (1, 0), (1, 1), (0, 0), (2, 0))
"""Rows and columns of the entries of a matrix that tell its angles in the order ZXY."""


def euler_zxy(turns: Floats, starts: NDArray[np.intp] | None = None) -> Floats:
    """Continuous Euler angles (frames, 3), about x, y, z, of rotation matrices (frames, 3, 3) in the order ZXY.

    With M = Ry(b)·Rx(a)·Rz(c): M[1,2] = -sin a, M[0,2]/M[2,2] = tan b, M[1,0]/M[1,1] = tan c. Upright (|a| = 90°) only
    a sum of b and c is known; c is then 0. Of the two answers of every frame the one nearest to the frame before is
    taken. ``starts``: where rows begin that do not follow on those before.
    """
    entries = tuple(turns[None, :, row, column] for row, column in _ZXY)
    return _angles_zxy(entries, starts)[:, 0].T


def euler(turns: Floats, order: str) -> Floats:
    """Continuous Euler angles (frames, 3), about x, y, z, of rotation matrices (frames, 3, 3) in any order of Blender.

    Axes are renamed so that the order becomes ZXY; a renaming that reflects turns angles round.
    """
    first, second, third = ("XYZ".index(axis) for axis in order)
    axes = [second, third, first]
    sign = 1.0 if axes in ([0, 1, 2], [1, 2, 0], [2, 0, 1]) else -1.0
    result = np.empty((len(turns), 3))
    result[:, axes] = sign * euler_zxy(turns[:, axes][:, :, axes])
    return result


def turned_euler_zxy(turns: Floats, angles: Floats, starts: NDArray[np.intp] | None = None) -> Floats:
    """The `euler_zxy` of matrices (n, 3, 3) times the rotations of Euler angles (n, samples, 3) of the same order.

    Samples follow one another row by row; ``starts``: rows that do not follow on those before.
    """
    # An axis after the other, all samples of a time together: numpy goes through these without a step.
    # One tangent of the half costs less than a sine and a cosine.
    half = np.tan(np.ascontiguousarray(angles.transpose(2, 1, 0)) / 2)
    square = half * half
    share = 1 / (1 + square)
    (sin_a, sin_b, sin_c), (cos_a, cos_b, cos_c) = 2 * half * share, (1 - square) * share
    factors = np.ascontiguousarray(turns.transpose(1, 2, 0))
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
    """The angles (3, samples, n) of the matrices whose `_ZXY` are ``entries`` (samples, n).

    The samples of each of n follow one another, and those of the next but for ``starts`` follow them.
    """
    right, minus_sine, deep, below, middle, first, last = entries
    level = np.sqrt(right * right + deep * deep)
    result = np.empty((3, *right.shape))
    for angle, opposite, adjacent in zip(result, (-minus_sine, right, below), (level, deep, middle), strict=True):
        np.arctan2(opposite, adjacent, out=angle)
    upright = level < 1e-9
    if upright.any():
        result[1:, upright] = np.arctan2(-last, first)[upright], np.zeros(int(upright.sum()))
    begin = np.zeros(1, np.intp) if starts is None else starts
    leaping = np.flatnonzero(_are_far(_steps(result, begin)).any(axis=0))
    if len(leaping):
        run = np.searchsorted(begin, np.arange(right.shape[1]), "right")
        kept = np.flatnonzero(np.isin(run, run[leaping]))
        own = np.flatnonzero(np.append(True, np.diff(run[kept]) > 0)) * len(right)
        chosen = result[:, :, kept].transpose(0, 2, 1)
        result[:, :, kept] = _without_leaps(chosen.reshape(3, -1), own).reshape(chosen.shape).transpose(0, 2, 1)
    return result


def _steps(angles: Floats, starts: NDArray[np.intp]) -> Floats:
    """What is added to get to angles (3, samples, n) from those before; 0 at the first of ``starts``."""
    steps = np.empty_like(angles)
    np.subtract(angles[:, 1:], angles[:, :-1], out=steps[:, 1:])
    np.subtract(angles[:, 0, 1:], angles[:, -1, :-1], out=steps[:, 0, 1:])
    steps[:, 0, starts[starts < angles.shape[2]]] = 0.0
    return steps


def _are_far(steps: Floats) -> NDArray[np.bool_]:
    """Which steps (3, ...) are so wide that the other answer, or full turns more or less, may be nearer."""
    a, b, c = np.abs(steps)
    far: NDArray[np.bool_] = a + 2 * (b + c) >= 2 * np.pi
    return far


def _without_leaps(angles: Floats, starts: NDArray[np.intp]) -> Floats:
    """Angles (3, frames) as the answers that follow one another most nearly but at ``starts``."""
    result = angles.copy()
    far = np.flatnonzero(_are_far(_steps(angles[:, None], starts)[:, 0]))
    # Of the other answer (pi - a, b + pi, c + pi) every angle is as far from one of the first as the formulas below
    # say, and two other answers are as far apart as the first ones: only the sum counts.
    apart = np.abs(_wrapped(angles[:, far] - angles[:, far - 1]))
    cross = np.abs(_wrapped(angles[0, far] + angles[0, far - 1] - np.pi)) + 2 * np.pi - apart[1] - apart[2]
    switch = np.zeros(angles.shape[1], np.bool_)
    switch[far] = cross < apart.sum(axis=0)
    if switch.any():
        other = _since(np.cumsum(switch), starts) % 2 == 1
        result[:, other] = _other_zxy(angles[:, other].T).T
    # NaN or infinite values (broken files) must not spread to the frames behind them.
    change = (result[:, far] - result[:, far - 1]) / (2 * np.pi)
    rounds = np.zeros_like(result)
    rounds[:, far] = np.nan_to_num(np.rint(change), nan=0.0, posinf=0.0, neginf=0.0)
    result -= 2 * np.pi * _since(np.cumsum(rounds, axis=1).T, starts).T
    return result


def _since(counted: NDArray[Any], starts: NDArray[np.intp]) -> NDArray[Any]:
    """Running sums that start again at each of ``starts``."""
    lengths = np.diff(np.append(starts, len(counted)))
    since: NDArray[Any] = counted - np.repeat(counted[starts], lengths, axis=0)
    return since


def nearest_euler_zxy(angles: Floats, wanted: Floats) -> Floats:
    """The same rotations as ``angles`` (frames, 3) of order ZXY, by the angles nearest to ``wanted`` (frames, 3)."""
    answers = np.stack([wanted + _wrapped(answer - wanted) for answer in (angles, _other_zxy(angles))])
    costs = np.abs(answers - wanted).sum(axis=-1)
    result: Floats = np.where((costs[1] < costs[0])[:, None], answers[1], answers[0])
    return result


def euler_zxy_like(angles: Floats, first: Floats) -> Floats:
    """Continuous runs (runs, frames, 3) of order ZXY as the angles of the same rotations that begin nearest to
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


def angles_between(a: Floats, b: Floats) -> Floats:
    """Radians between two rotations, 0 ... pi, precise for small ones."""
    difference = multiply(conjugate(normalised(a)), normalised(b))
    result: Floats = 2.0 * np.arctan2(np.linalg.norm(difference[..., 1:], axis=-1), np.abs(difference[..., 0]))
    return result
