"""Conversion between the axes of the games and of Blender; no other module does this.

X-Ray is left-handed, Y up, +Z forward, metres. Its matrices act on row vectors; here everything is in column form. With
``C`` = exchange y and z and ``D`` = diag(1, 1, -1), an object's transform A is C·A·C in Blender and a bone's
parent-local transform L is D·L·D, with C·D as the frame of root bones (90° about X). The engine's quaternion (x, y, z,
w) is the transposed rotation of the usual formula, which together with the reflections gives the signs below. Source:
``_matrix.h`` and ``_quaternion.h`` of the engine.

Descent 3 has the same axes (x right, y up, z forward, left-handed), with matrices in column form: a ship that flies
along z flies along Blender's y, and right stays right.

Arma and Operation Flashpoint are left-handed, Y up, metres; models face -Z and have their left side at +X. Only y and z
are exchanged: characters then face -Y in Blender.
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
"""C·D: the frame of X-Ray's bones without parent, in armature space."""

_BONE_MIRROR = np.array([1.0, 1.0, -1.0])
_BONE_QUATERNION_MIRROR = np.array([1.0, 1.0, 1.0, -1.0])


def xray_points(points: NDArray[Any]) -> NDArray[Any]:
    """Convert points or normals (..., 3) to Blender or back. Keeps the type; exact."""
    return _last_two_exchanged(points)


def xray_triangles(triangles: NDArray[Any]) -> NDArray[Any]:
    """Convert corners (..., 3) to the order that keeps the outer side outside, or back."""
    return _last_two_exchanged(triangles)


def _last_two_exchanged(rows: NDArray[Any]) -> NDArray[Any]:
    # Column by column, for a result in C order: indexing by a list returns another memory layout.
    result = np.empty(rows.shape, rows.dtype)
    for index, source in enumerate((0, 2, 1)):
        result[..., index] = rows[..., source]
    return result


def xray_uvs(uvs: NDArray[Any]) -> NDArray[Any]:
    """Convert texture coordinates (..., 2) to v upwards or back (to 1 ulp of v)."""
    flipped = uvs.copy()
    with np.errstate(invalid="ignore"):  # NaNs in broken files
        flipped[..., 1] = 1 - flipped[..., 1]
    return flipped


def xray_bone_translations(translations: NDArray[Any]) -> Floats:
    """Convert parent-local translations (..., 3) to Blender or back. Exact."""
    result: Floats = translations * _BONE_MIRROR
    return result


def xray_bone_rotations(quaternions: NDArray[Any]) -> Floats:
    """Convert parent-local quaternions, X-Ray's (..., x y z w) to Blender's (..., w x y z). Exact."""
    result: Floats = quaternions[..., [3, 0, 1, 2]] * _BONE_QUATERNION_MIRROR
    return result


def xray_bone_rotations_back(quaternions: Floats) -> Floats:
    """Convert parent-local quaternions, Blender's (..., w x y z) to X-Ray's (..., x y z w). Exact."""
    result: Floats = (quaternions * _BONE_QUATERNION_MIRROR)[..., [1, 2, 3, 0]]
    return result


def xray_bone_angles(angles: NDArray[Any]) -> Floats:
    """Return Blender's parent-local quaternions for X-Ray's bind rotations (..., 3), radians about x, y, z.

    ``setXYZi`` is Ry(y)·Rx(x)·Rz(z) in column form. D·L·D reverses the angles about x and y and keeps z: Blender's
    rotation is Ry(-y)·Rx(-x)·Rz(z).
    """
    x, y, z = np.moveaxis(np.asarray(angles, np.float64), -1, 0)
    rotation_of_bone = rotation.multiply(rotation.about_axis(1, -y), rotation.about_axis(0, -x))
    return rotation.multiply(rotation_of_bone, rotation.about_axis(2, z))


def xray_bone_angles_back(quaternions: Floats) -> Floats:
    """Return X-Ray's bind rotation angles (..., 3) for Blender's parent-local quaternions (``getXYZi``).

    With M = Ry(a)·Rx(b)·Rz(c) the third column gives a, and Ry(-a)·M = Rx(b)·Rz(c) gives b and c: each angle
    compensates for the rounding of the one before, so that no direction loses precision. At gimbal lock (|b| = 90°)
    only a - c or a + c is determined, and c is 0.
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
    """Convert points or normals (..., 3) to Blender or back. Keeps the type; exact."""
    return points[..., [0, 2, 1]]


def arma_deltas(rows: NDArray[Any]) -> Floats:
    """Convert a file's rows (..., 4, 3) to model-space matrices (..., 4, 4) in column form. Exact.

    The rows are the images of the file's x, y and z axes and the translation: the columns of the matrix.
    """
    # In memory the components come first, which is the layout of `core.affine`.
    parts = np.zeros((4, 4, *rows.shape[:-2]))
    with np.errstate(invalid="ignore"):  # signalling NaNs in broken files
        for column, image in enumerate((0, 2, 1, 3)):
            for row, axis in enumerate((0, 2, 1)):
                parts[row, column] = rows[..., image, axis]
    parts[3, 3] = 1.0
    return np.moveaxis(parts, (0, 1), (-2, -1))


def arma_deltas_back(deltas: Floats) -> Floats:
    """Convert matrices (..., 4, 4) to the file's rows (..., 4, 3). Exact."""
    result: Floats = np.swapaxes(deltas[..., :3, :], -1, -2)[..., [0, 2, 1, 3], :][..., [0, 2, 1]]
    return result


def descent_points(points: NDArray[Any]) -> NDArray[Any]:
    """Convert points or directions (..., 3) to Blender or back. Keeps the type; exact."""
    return points[..., [0, 2, 1]]


def descent_turns(matrices: NDArray[Any]) -> NDArray[Any]:
    """Convert rotation matrices (..., 3, 3) to Blender, C·M·C, or back. Exact."""
    return matrices[..., [0, 2, 1], :][..., :, [0, 2, 1]]


def descent_uvs(uvs: NDArray[Any]) -> NDArray[Any]:
    """Convert texture coordinates (..., 2) from v downwards to v upwards (v negated), or back. Exact."""
    flipped = uvs.copy()
    np.negative(flipped[..., 1], out=flipped[..., 1])
    return flipped


@np.errstate(invalid="ignore")  # signalling NaNs in broken files
def arma_parent_transforms(quaternions: Floats, translations: Floats, *, turned: bool) -> tuple[Floats, Floats]:
    """Convert quaternions (..., w x y z) and translations (..., 3) in metres of a binarised file to Blender. Exact.

    The file stores the transposed rotation. Exchanging y and z is a reflection, which reverses a rotation: this cancels
    the transposition. ``turned``: the file's axes are rotated by 180° about y, S = diag(-1, 1, -1).
    """
    signs = np.array([-1.0, -1.0, 1.0]) if turned else np.ones(3)
    rotations = quaternions[..., [0, 1, 3, 2]]
    rotations[..., 1:] *= signs
    return rotations, translations[..., [0, 2, 1]] * signs


def arma_parent_transforms_back(rotations: Floats, indices: Floats, *, turned: bool) -> tuple[Floats, Floats]:
    """Convert back from `arma_parent_transforms`. Exact."""
    signs = np.array([-1.0, 1.0, -1.0]) if turned else np.ones(3)
    quaternions = rotations[..., [0, 1, 3, 2]]
    quaternions[..., 1:] *= signs
    return quaternions, indices[..., [0, 2, 1]] * signs
