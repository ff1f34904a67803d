"""Axes of the games and of Blender: the one place where they are exchanged.

X-Ray is left-handed, Y up, +Z forward, metres. Its matrices act on row vectors; here everything is in column form.
With ``C`` = exchange y and z and ``D`` = diag(1, 1, -1), an object's transform A is C·A·C in Blender and a bone's
parent-local transform L is D·L·D, the root's frame being C·D (a quarter turn about X). The engine's quaternion
(x, y, z, w) names the transposed rotation of the textbook formula, which the reflections turn into the signs below.
Facts: ``_matrix.h`` and ``_quaternion.h`` of the engine.

Descent 3 has the same axes (x right, y up, z forward, left-handed), with matrices in column form throughout: a ship
that flies along z flies along Blender's y, and right stays right.

Arma and Operation Flashpoint are left-handed, Y up, metres; models face -Z and have their left side at +X. Exchanging
y and z is all: characters then face -Y in Blender.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import rotation

Floats = NDArray[np.float64]

XRAY_ROOT_FRAME: Floats = np.array(
    [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, -1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
)
"""C·D: the frame in which X-Ray's parentless bones stand, in armature space."""

_BONE_MIRROR = np.array([1.0, 1.0, -1.0])
_BONE_QUATERNION_MIRROR = np.array([1.0, 1.0, 1.0, -1.0])


def xray_points(points: NDArray[Any]) -> NDArray[Any]:
    """Points or normals (..., 3) to Blender; the same call takes them back. Keeps the type, exact."""
    return _last_two_exchanged(points)


def xray_triangles(triangles: NDArray[Any]) -> NDArray[Any]:
    """Corners (..., 3) in the order that keeps the outward side outward; the same call takes them back."""
    return _last_two_exchanged(triangles)


def _last_two_exchanged(rows: NDArray[Any]) -> NDArray[Any]:
    # Column by column, into rows that lie one behind the other: indexing by a list leaves them scattered.
    result = np.empty(rows.shape, rows.dtype)
    for place, source in enumerate((0, 2, 1)):
        result[..., place] = rows[..., source]
    return result


def xray_uvs(uvs: NDArray[Any]) -> NDArray[Any]:
    """Texture coordinates (..., 2) with v upwards; the same call takes them back (to 1 ulp of v)."""
    flipped = uvs.copy()
    with np.errstate(invalid="ignore"):  # a NaN of a broken file stays one
        flipped[..., 1] = 1 - flipped[..., 1]
    return flipped


def xray_bone_translations(translations: NDArray[Any]) -> Floats:
    """Parent-local translations (..., 3) to Blender; the same call takes them back. Exact."""
    result: Floats = translations * _BONE_MIRROR
    return result


def xray_bone_rotations(quaternions: NDArray[Any]) -> Floats:
    """Parent-local quaternions, X-Ray's (..., x y z w) to Blender's (..., w x y z). Exact."""
    result: Floats = quaternions[..., [3, 0, 1, 2]] * _BONE_QUATERNION_MIRROR
    return result


def xray_bone_rotations_back(quaternions: Floats) -> Floats:
    """Blender's (..., w x y z) to X-Ray's (..., x y z w). Exact."""
    result: Floats = (quaternions * _BONE_QUATERNION_MIRROR)[..., [1, 2, 3, 0]]
    return result


def xray_bone_angles(angles: NDArray[Any]) -> Floats:
    """Blender's parent-local quaternions of X-Ray's bind rotations (..., 3), radians about x, y, z.

    ``setXYZi`` is Ry(y)·Rx(x)·Rz(z) in column form; D·L·D turns x and y round and leaves z:
    Blender's rotation is Ry(-y)·Rx(-x)·Rz(z).
    """
    x, y, z = np.moveaxis(np.asarray(angles, np.float64), -1, 0)
    turn = rotation.multiply(rotation.about_axis(1, -y), rotation.about_axis(0, -x))
    return rotation.multiply(turn, rotation.about_axis(2, z))


def xray_bone_angles_back(quaternions: Floats) -> Floats:
    """X-Ray's bind rotation angles (..., 3) of Blender's parent-local quaternions (``getXYZi``).

    With M = Ry(a)·Rx(b)·Rz(c) the third column gives a, and Ry(-a)·M = Rx(b)·Rz(c) gives b and c: each angle makes up
    for the rounding of the one before, so that no direction loses precision. Upright (|b| = 90°) only a - c or a + c
    is known; c is then 0.
    """
    m = rotation.matrices(rotation.normalised(quaternions))
    upright = np.hypot(m[..., 0, 2], m[..., 2, 2]) < 1e-9
    a = np.where(upright, np.arctan2(-m[..., 2, 0], m[..., 0, 0]), np.arctan2(m[..., 0, 2], m[..., 2, 2]))
    sine, cosine = np.sin(a)[..., None], np.cos(a)[..., None]
    first = cosine * m[..., 0, :] - sine * m[..., 2, :]
    third = sine * m[..., 0, :] + cosine * m[..., 2, :]
    b = np.arctan2(-m[..., 1, 2], third[..., 2])
    c = np.arctan2(-first[..., 1], first[..., 0])
    return np.stack((-b, -a, c), axis=-1)


def arma_points(points: NDArray[Any]) -> NDArray[Any]:
    """Points or normals (..., 3) to Blender; the same call takes them back. Keeps the type, exact."""
    return points[..., [0, 2, 1]]


def arma_deltas(rows: NDArray[Any]) -> Floats:
    """Model-space matrices (..., 4, 4) in column form of a file's rows (..., 4, 3). Exact.

    The rows are the images of the file's x, y and z axes and the translation: the columns of the matrix.
    """
    # In memory component by component, as `core.affine` wants them.
    parts = np.zeros((4, 4, *rows.shape[:-2]))
    with np.errstate(invalid="ignore"):  # signalling NaNs of broken files
        for column, image in enumerate((0, 2, 1, 3)):
            for row, axis in enumerate((0, 2, 1)):
                parts[row, column] = rows[..., image, axis]
    parts[3, 3] = 1.0
    return np.moveaxis(parts, (0, 1), (-2, -1))


def arma_deltas_back(deltas: Floats) -> Floats:
    """The file's rows (..., 4, 3) of matrices (..., 4, 4). Exact."""
    result: Floats = np.swapaxes(deltas[..., :3, :], -1, -2)[..., [0, 2, 1, 3], :][..., [0, 2, 1]]
    return result


def descent_points(points: NDArray[Any]) -> NDArray[Any]:
    """Points or directions (..., 3) to Blender; the same call takes them back. Keeps the type, exact."""
    return points[..., [0, 2, 1]]


def descent_turns(matrices: NDArray[Any]) -> NDArray[Any]:
    """Rotation matrices (..., 3, 3) to Blender, C·M·C; the same call takes them back. Exact."""
    return matrices[..., [0, 2, 1], :][..., :, [0, 2, 1]]


def descent_uvs(uvs: NDArray[Any]) -> NDArray[Any]:
    """Texture coordinates (..., 2), v downwards below 0, with v upwards; the same call takes them back. Exact."""
    flipped = uvs.copy()
    np.negative(flipped[..., 1], out=flipped[..., 1])
    return flipped


@np.errstate(invalid="ignore")  # signalling NaNs of broken files
def arma_parent_transforms(quaternions: Floats, translations: Floats, *, turned: bool) -> tuple[Floats, Floats]:
    """What a binarised file's quaternions (..., w x y z) and metres (..., 3) say in Blender. Exact.

    The file names the transposed rotation; ``turned``: in axes turned half round about y, S = diag(-1, 1, -1).
    Exchanging y and z is a reflection, which turns a rotation's axis round: it undoes the transposition.
    """
    signs = np.array([-1.0, -1.0, 1.0]) if turned else np.ones(3)
    turns = quaternions[..., [0, 1, 3, 2]]
    turns[..., 1:] *= signs
    return turns, translations[..., [0, 2, 1]] * signs


def arma_parent_transforms_back(turns: Floats, places: Floats, *, turned: bool) -> tuple[Floats, Floats]:
    """The inverse of `arma_parent_transforms`. Exact."""
    signs = np.array([-1.0, 1.0, -1.0]) if turned else np.ones(3)
    quaternions = turns[..., [0, 1, 3, 2]]
    quaternions[..., 1:] *= signs
    return quaternions, places[..., [0, 2, 1]] * signs
