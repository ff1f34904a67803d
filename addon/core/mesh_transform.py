"""A mesh moved, turned, stretched or mirrored."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .model import Mesh


def transformed(mesh: Mesh, place: NDArray[Any]) -> Mesh:
    """The mesh with a transform (4, 4) applied; where it mirrors, faces are turned so that outside stays outside."""
    turn = place[:3, :3]
    positions = mesh.positions @ turn.T + place[:3, 3]
    normals = mesh.normals
    if normals is not None:
        # Normals stand on surfaces, which a stretched space tilts the other way.
        turned = normals @ np.linalg.pinv(turn)
        length = np.linalg.norm(turned, axis=1, keepdims=True)
        normals = np.divide(turned, length, out=np.zeros_like(turned), where=length > 0).astype(np.float32)
    mirrored = np.linalg.det(turn) < 0
    triangles = mesh.triangles[:, [0, 2, 1]] if mirrored else mesh.triangles
    return replace(mesh, positions=positions.astype(np.float32), normals=normals, triangles=triangles)
