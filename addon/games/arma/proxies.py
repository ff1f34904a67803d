"""Proxies aligned to a face of their LOD, and copied to other LODs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ...blender import attributes
from ...blender.mesh import outside_edit_mode
from ...core.errors import WriteError
from ...core.report import say
from . import lod_list, model_export

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...blender.typed import Object
    from .lod_list import SceneLod

Floats = NDArray[np.float64]


def frame_of_face(points: Floats, axis: str) -> Floats:
    """Return the transform (4, 4) at the middle of a face with corners ``points`` (n, 3).

    ``axis``: "UP" or "FORWARD", the axis (z or y) that is the face's normal; the other one stays as near to its own
    direction as it can. Raises `WriteError` for a face without area.
    """
    normal = np.cross(points, np.roll(points, -1, axis=0)).sum(axis=0)
    length = float(np.linalg.norm(normal))
    if not length > 1e-12:
        raise WriteError("the active face has no area", remedy="Choose another face")
    normal /= length
    own, other = (2, 1) if axis == "UP" else (1, 2)
    second = np.eye(3)[other]
    second = second - normal * (second @ normal)
    if np.linalg.norm(second) < 1e-4:  # the normal is along it: turned over the x axis
        second = np.eye(3)[own] * -normal[other]
    result = np.eye(4)
    result[:3, own] = normal
    result[:3, other] = second / np.linalg.norm(second)
    result[:3, 0] = np.cross(result[:3, 1], result[:3, 2])
    result[:3, 3] = points.mean(axis=0)
    return result


def active_frame(obj: Any, axis: str) -> Floats:
    """Return the frame of the active face of a LOD in model space. Raises `WriteError` without one."""
    face = attributes.active_face(obj.data, ())
    if face is None:
        raise WriteError(
            say("{!r} has no active face", obj.name), remedy="Click a face of the LOD in Edit Mode, in face select mode"
        )
    with outside_edit_mode(obj) as data:
        polygon: Any = data.polygons[face.index]
        points = np.array([data.vertices[number].co for number in polygon.vertices], np.float64)
    matrix = model_export.model_matrix(obj)
    return frame_of_face(points @ matrix[:3, :3].T + matrix[:3, 3], axis)


def place(mark: Any, transform: Floats) -> None:
    """Move an empty to a transform (4, 4) in model space, whatever its parent."""
    if mark.parent is not None and mark.parent.type != "ARMATURE":  # whose scale may not be the same on all axes
        mark.matrix_parent_inverse = Matrix(model_export.model_matrix(mark.parent).tolist()).inverted()
        mark.matrix_basis = Matrix(transform.tolist())
        return
    above = Matrix(model_export.model_matrix(mark).tolist()) @ mark.matrix_basis.inverted()
    mark.matrix_basis = above.inverted() @ Matrix(transform.tolist())


def copy_to(proxies: Iterable[Object], lods: Sequence[SceneLod]) -> int:
    """Copy proxies to mesh LODs, at the same positions; return how many copies there are. Copies are hidden with
    their LOD.
    """
    count = 0
    for proxy in proxies:
        for lod in lods:
            copy = lod_list.copy_proxy(proxy, lod.obj)
            copy.select_set(False)
            copy.hide_set(lod.is_hidden())
            count += 1
    return count
