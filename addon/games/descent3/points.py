"""Points of a model as empties: an arrow for a direction, a sphere for a radius.

The arrow is the empty's z axis; an attach point's y axis is up. A rotation cannot store the file's direction exactly,
so the file's direction is exported as long as the empty has its imported rotation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector
from numpy.typing import NDArray

from ...core import names
from ...core.errors import WriteError
from ...core.report import say
from ...formats.descent3.oof.model import Floats, Model, Part, Point, PointKind
from .model_properties import point_source

if TYPE_CHECKING:
    from ...blender.typed import Object

ARROW = 0.12
"""Length of an arrow, relative to the size of the model."""
_ALONG = np.array([0.0, 0.0, 1.0])
_UP = np.array([0.0, 1.0, 0.0])


def build(model: Model, holder: Object, parts: Sequence[Object]) -> list[Any]:
    """Create an empty for each point, in no collection yet, parented to its part or to the holder."""
    length = ARROW * max((_size(part) for part in model.parts), default=1.0)
    counts: dict[PointKind, int] = {}
    empties = []
    for point in model.points:
        index = counts.get(point.kind, 0)
        counts[point.kind] = index + 1
        empty = _new_empty(point, index, length)
        empty.parent = parts[point.parent] if 0 <= point.parent < len(parts) else holder
        empties.append(empty)
    holder.motionbridge_descent_model.shown_points = len(empties)
    return empties


def _size(part: Part) -> float:
    size = float(np.abs(part.mesh.positions).max(initial=0))
    return size if 0.1 < size < 1e4 else 1.0


def _new_empty(point: Point, index: int, length: float) -> Object:
    name = point.name if point.kind is PointKind.SPECIAL and point.name else f"{point.kind.value} {index}".capitalize()
    empty: Any = bpy.data.objects.new(names.shortened(name), None)
    empty.location = point.position.tolist()
    empty.rotation_mode = "QUATERNION"
    # Gun and attach points are inside the hull.
    empty.show_in_front = True
    properties = empty.motionbridge_descent_point
    properties.kind = properties.file_kind = point.kind.name
    properties.source, properties.number = point.source, index
    if point.direction is None:
        empty.empty_display_type = "SPHERE"
        empty.empty_display_size = min(max(point.radius, 0.01), 1e4) if np.isfinite(point.radius) else 0.01
        properties.game_name, properties.text = point.name, point.properties
        properties.radius, properties.shown_size = point.radius, empty.empty_display_size
        return empty
    empty.empty_display_type, empty.empty_display_size = "SINGLE_ARROW", length
    properties.direction = point.direction.tolist()
    if point.up is not None:
        properties.up = point.up.tolist()
    properties.has_up = properties.shown_up = point.up is not None
    empty.rotation_quaternion = _rotation(point.direction, point.up)
    properties.shown_turn = list(empty.rotation_quaternion)
    return empty


def _rotation(direction: NDArray[Any], up: NDArray[Any] | None) -> Quaternion:
    """Return the rotation whose z axis is the direction and whose y axis is as close to ``up`` as possible."""
    along: Any = Vector(np.nan_to_num(direction.astype(np.float64)).tolist())
    if along.length_squared == 0:
        return Quaternion()
    along.normalize()
    upright: Any = Vector(np.nan_to_num(up.astype(np.float64)).tolist()) if up is not None else None
    if upright is None or upright.cross(along).length < 1e-6:
        return along.to_track_quat("Z", "Y")
    across = upright.cross(along).normalized()
    axes: Any = (across, along.cross(across), along)
    return Matrix(axes).transposed().to_quaternion()


def transformed(point: Point, matrix: Floats) -> Point:
    """Return the point after its part was rotated or scaled by a matrix (3, 3)."""
    if np.array_equal(matrix, np.eye(3)):
        return point
    result = replace(point, position=(matrix @ point.position).astype(np.float32))
    if point.direction is not None:
        result.direction = _unit(matrix @ point.direction)
    if point.up is not None:
        result.up = _unit(matrix @ point.up)
    return result


def _unit(direction: Floats) -> NDArray[np.float32]:
    length = float(np.linalg.norm(direction))
    return (direction / length if length else direction).astype(np.float32)


def gather(empty: Object, parent: int, matrix: Floats) -> Point:
    """Return the point of an empty. ``parent``: index of its part; ``matrix`` (4, 4) relative to the part's pivot.

    The matrix of a special point, which has no part, is in the model's frame. Raises `WriteError` if the arrow has no
    direction.
    """
    properties, source = empty.motionbridge_descent_point, point_source(empty)
    kind = PointKind[properties.kind]
    position = matrix[:3, 3].astype(np.float32)
    if kind is PointKind.SPECIAL:
        same = empty.empty_display_size == properties.shown_size
        size = properties.radius if same else empty.empty_display_size * float(np.linalg.norm(matrix[:3, 0]))
        name = properties.game_name or empty.name
        return Point(kind, -1, position, name=name, properties=properties.text, radius=size, source=source)
    rotation = matrix[:3, :3]
    local = np.array(empty.matrix_basis, np.float64)[:3, :3]
    imported = np.array(Quaternion(properties.shown_turn).to_matrix(), np.float64)
    unrotated = np.abs(local - imported).max() < 1e-5 and np.abs(rotation - local).max() < 1e-5
    if source >= 0 and unrotated:
        direction = np.array(properties.direction, np.float32)
        up = np.array(properties.up, np.float32) if properties.has_up else None
        if properties.has_up and not properties.shown_up:
            up = (rotation @ _UP).astype(np.float32)
        return Point(kind, parent, position, direction, up, source=source)
    length = float(np.linalg.norm(rotation @ _ALONG))
    if not length:
        raise WriteError(say("the arrow of {!r} has no direction", empty.name), remedy="Clear its scale")
    direction = (rotation @ _ALONG / length).astype(np.float32)
    upright = rotation @ _UP
    up = (upright / np.linalg.norm(upright)).astype(np.float32) if properties.has_up else None
    return Point(kind, parent, position, direction, up, source=source)
