"""Gun, ground, attach and special points as empties: an arrow for a direction, a sphere for a radius.

The arrow is the empty's z axis; an attach point's y axis is up. While an empty has the rotation it was given, the
file's own direction counts, which a rotation cannot hold to the bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector
from numpy.typing import NDArray

from ...core import names
from ...core.errors import WriteError
from ...formats.descent3.oof.model import Model, Part, Point, PointKind

Floats = NDArray[np.float64]

ARROW = 0.12
"""Length of an arrow, as a share of the model's reach."""
_ALONG = np.array([0.0, 0.0, 1.0])
_UP = np.array([0.0, 1.0, 0.0])


def build(model: Model, holder: Any, parts: Sequence[Any], *, armature: bool) -> list[Any]:
    """An empty for each point, linked nowhere yet, below its part; what belongs to none is below the holder."""
    length = ARROW * max((_reach(part) for part in model.parts), default=1.0)
    counts: dict[PointKind, int] = {}
    made = []
    for point in model.points:
        number = counts.get(point.kind, 0)
        counts[point.kind] = number + 1
        shown = _new(point, number, length)
        shown.parent = parts[point.parent] if 0 <= point.parent < len(parts) else holder
        if armature and shown.parent == holder:
            shown.parent_type = "OBJECT"
        made.append(shown)
    holder.motionbridge_descent_model.shown_points = len(made)
    return made


def _reach(part: Part) -> float:
    reach = float(np.abs(part.mesh.positions).max(initial=0))
    return reach if 0.1 < reach < 1e4 else 1.0


def _new(point: Point, number: int, length: float) -> Any:
    name = point.name if point.kind is PointKind.SPECIAL and point.name else f"{point.kind.value} {number}".capitalize()
    shown: Any = bpy.data.objects.new(names.shortened(name), None)
    shown.location = point.position.tolist()
    shown.rotation_mode = "QUATERNION"
    # Guns and docks lie inside the hull.
    shown.show_in_front = True
    properties = shown.motionbridge_descent_point
    properties.kind, properties.source, properties.number = point.kind.name, point.source, number
    if point.direction is None:
        shown.empty_display_type = "SPHERE"
        shown.empty_display_size = min(max(point.radius, 0.01), 1e4) if np.isfinite(point.radius) else 0.01
        properties.game_name, properties.text = point.name, point.properties
        properties.radius, properties.shown_size = point.radius, shown.empty_display_size
        return shown
    shown.empty_display_type, shown.empty_display_size = "SINGLE_ARROW", length
    properties.direction = point.direction.tolist()
    if point.up is not None:
        properties.up = point.up.tolist()
    properties.has_up = properties.shown_up = point.up is not None
    shown.rotation_quaternion = _turn(point.direction, point.up)
    properties.shown_turn = list(shown.rotation_quaternion)
    return shown


def _turn(direction: NDArray[Any], up: NDArray[Any] | None) -> Quaternion:
    """The rotation that takes z to the direction, and y as near to ``up`` as it goes."""
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


def turned(point: Point, turn: Floats) -> Point:
    """The point where its part has been turned or stretched by (3, 3)."""
    if np.array_equal(turn, np.eye(3)):
        return point
    result = replace(point, position=(turn @ point.position).astype(np.float32))
    if point.direction is not None:
        result.direction = _unit(turn @ point.direction)
    if point.up is not None:
        result.up = _unit(turn @ point.up)
    return result


def _unit(direction: Floats) -> NDArray[np.float32]:
    length = float(np.linalg.norm(direction))
    return (direction / length if length else direction).astype(np.float32)


def gather(shown: Any, parent: int, place: Floats) -> Point:
    """What an empty says. ``parent`` is the place of its part, ``place`` (4, 4) where it stands in that part's frame.

    A special point has no part: its place is in the model's frame.

    Raises `WriteError` where its arrow has no direction.
    """
    properties = shown.motionbridge_descent_point
    kind = PointKind[properties.kind]
    position = place[:3, 3].astype(np.float32)
    if kind is PointKind.SPECIAL:
        same = shown.empty_display_size == properties.shown_size
        size = properties.radius if same else shown.empty_display_size * float(np.linalg.norm(place[:3, 0]))
        name = properties.game_name or shown.name
        return Point(kind, -1, position, name=name, properties=properties.text, radius=size, source=properties.source)
    turn = place[:3, :3]
    local = np.array(shown.matrix_basis, np.float64)[:3, :3]
    given = np.array(Quaternion(properties.shown_turn).to_matrix(), np.float64)
    still = properties.source >= 0 and np.abs(local - given).max() < 1e-5 and np.abs(turn - local).max() < 1e-5
    if still:
        direction = np.array(properties.direction, np.float32)
        up = np.array(properties.up, np.float32) if properties.has_up else None
        if properties.has_up and not properties.shown_up:
            up = (turn @ _UP).astype(np.float32)
        return Point(kind, parent, position, direction, up, source=properties.source)
    length = float(np.linalg.norm(turn @ _ALONG))
    if not length:
        raise WriteError(f"the arrow of {shown.name!r} has no direction", remedy="Clear its scale")
    direction = (turn @ _ALONG / length).astype(np.float32)
    upright = turn @ _UP
    up = (upright / np.linalg.norm(upright)).astype(np.float32) if properties.has_up else None
    return Point(kind, parent, position, direction, up, source=properties.source)
