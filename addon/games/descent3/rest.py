"""The rest pose of a model's objects, and what keys, drivers and NLA strips change of it.

A sub-object of the file has a pivot but no rotation or scale: if its object is rotated or scaled at rest, the vertices
are transformed. Objects between two sub-objects only contribute their transforms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from mathutils import Matrix, Quaternion, Vector
from numpy.typing import NDArray

from ...blender import compat
from ...blender.transforms import channels_of, kind_of, playing_curves, rotations
from ...formats.descent3.oof.model import Floats, PointKind, Singles
from .model_properties import is_part, point_source

if TYPE_CHECKING:
    from ...blender.typed import Bone, Object

Tree = Sequence[tuple[Any, int]]
"""Objects, each with the index of the part it belongs to, -1 for none."""
ROTATION_TOLERANCE, POSITION_TOLERANCE = 2e-5, 1e-6
"""Largest differences by Blender's rounding: of matrix elements, and of positions in a model of size 1."""


@dataclass(frozen=True, eq=False)
class RestPose:
    """Transforms of the objects of a hierarchy at rest, column vectors.

    ``matrices`` (parts, 4, 4) in the holder's space, or without a holder in world space; ``is_straight`` (parts,):
    whether a part is neither rotated nor scaled; ``offsets`` (parts, 3): pivots relative to the parent's pivot.
    ``points``: for each point the index of its part, -1 for the model's origin, and its matrix (4, 4) relative to that.
    """

    matrices: Floats
    is_straight: NDArray[np.bool_]
    offsets: Singles
    points: list[tuple[int, Floats]]


def rest_pose(holder: Object | None, parts: Tree, points: Tree) -> RestPose:
    """Return the rest pose of a model's parts and points, ignoring their animation."""
    known: dict[Any, Floats] = {}

    def matrix_of(obj: Object | None) -> Floats:
        if obj is None or obj == holder:
            return np.eye(4)
        if obj not in known:
            parent, bone = matrix_of(obj.parent), bone_of(obj)
            if bone is not None:
                parent = parent @ array(bone.matrix_local) @ to_tail(bone)
            known[obj] = parent @ local_at_rest(obj)
        return known[obj]

    matrices = np.array([matrix_of(part) for part, _ in parts], np.float64).reshape(-1, 4, 4)
    is_straight = np.abs(matrices[:, :3, :3] - np.eye(3)).max(axis=(1, 2), initial=0) <= ROTATION_TOLERANCE
    offsets = [
        _offset(part, own, matrices[above, :3, 3] if above >= 0 else np.zeros(3))
        for (part, above), own in zip(parts, matrices[:, :3, 3], strict=True)
    ]
    placed = []
    for point, nearest in points:
        above = _part_of_point(point, nearest)
        if above >= 0 and point.parent == parts[above][0] and is_straight[above]:
            placed.append((above, local_at_rest(point)))
        else:
            matrix = matrix_of(point).copy()
            matrix[:3, 3] -= matrices[above, :3, 3] if above >= 0 else 0.0
            placed.append((above, matrix))
    return RestPose(matrices, is_straight, np.array(offsets, np.float32).reshape(-1, 3), placed)


def _part_of_point(point: Object, nearest: int) -> int:
    """Return the index of the part that a point belongs to; new points without a parent part belong to the first."""
    properties = point.motionbridge_descent_point
    if properties.kind == PointKind.SPECIAL.name:
        return -1
    return 0 if nearest < 0 and point_source(point) < 0 else nearest


def _offset(part: Object, own: Floats, above: Floats) -> Singles:
    """Return (3,) a part's pivot relative to its parent's; the file's if they differ only by rounding."""
    offset = own - above
    stored = np.array(part.motionbridge_descent_part.offset, np.float32)
    tolerance = POSITION_TOLERANCE * max(1.0, float(np.abs(own).max()), float(np.abs(above).max()))
    return stored if np.abs(offset - stored).max() <= tolerance else offset.astype(np.float32)


def bone_of(child: Object) -> Bone | None:
    """Return the bone that an object is parented to, or None."""
    if child.parent is not None and child.parent_type == "BONE" and child.parent.type == "ARMATURE":
        return child.parent.data.bones.get(child.parent_bone)
    return None


def to_tail(bone: Bone) -> Floats:
    """Return the matrix (4, 4) from the head of a bone to its tail, where the space of its children begins."""
    return array(Matrix.Translation((0, bone.length, 0)))


def local_at_rest(obj: Any) -> Floats:
    """Return an object's matrix (4, 4) in its parent's space, without the effect of actions, NLA and drivers."""
    animated = _animated_channels(obj)
    properties = obj.motionbridge_descent_part
    if not animated or not is_part(obj):
        basis = obj.matrix_basis
    else:
        location: Any = obj.matrix_basis.translation
        if "location" in animated and obj.parent_type == "BONE":
            location = Vector((0, 0, 0))
        elif "location" in animated:
            location = Vector(properties.offset) if properties.is_part else _first_location(obj)
        # The basis of a mirrored object does not tell its rotation.
        turned = rotations(obj, {}, np.zeros(1, np.float32))[0]
        rotation = Quaternion() if "rotation" in animated else Quaternion(turned.tolist())
        scale: Any = _constant_scale(obj) if "scale" in animated else obj.scale * obj.delta_scale
        basis = Matrix.LocRotScale(location, rotation, scale)
    return array(obj.matrix_parent_inverse) @ array(basis)


def _first_location(obj: Any) -> Vector:
    """Return the location at the first keys: the pivot of an animated object that was made in Blender."""
    locations: dict[str, Any] = {name: Vector(getattr(obj, name)) for name in ("location", "delta_location")}
    for (channel, index), curve in channels_of(playing_curves(obj)).items():
        if channel in locations and len(curve.keyframe_points):
            locations[channel][index] = curve.evaluate(curve.keyframe_points[0].co.x)
    result: Vector = locations["location"] + locations["delta_location"]
    return result


def _constant_scale(obj: Any) -> Vector:
    """Return the scale if all keys have the same one (the I key may key scale with location and rotation), else 1."""
    scales: dict[str, Any] = {name: Vector(getattr(obj, name)) for name in ("scale", "delta_scale")}
    data = obj.animation_data
    if data is not None and any(curve.data_path in scales for curve in data.drivers):
        return Vector((1, 1, 1))
    for curve in _curves_of_all_actions(obj):
        if curve.data_path in scales:
            values = {round(key.co.y, 6) for key in curve.keyframe_points}
            if len(values) != 1 or len(curve.modifiers):
                return Vector((1, 1, 1))
            scales[curve.data_path][curve.array_index] = curve.keyframe_points[0].co.y
    result: Vector = scales["scale"] * scales["delta_scale"]
    return result


def _animated_channels(obj: Object) -> set[str]:
    """Return which of location, rotation and scale are animated by drivers, the action or NLA strips."""
    data = obj.animation_data
    if data is None:
        return set()
    curves = [*data.drivers, *_curves_of_all_actions(obj)]
    return {kind_of(curve.data_path) for curve in curves} & {"location", "rotation", "scale"}


def _curves_of_all_actions(obj: Object) -> list[Any]:
    """Return the F-curves of the action and of NLA strips."""
    data = obj.animation_data
    if data is None:
        return []
    actions = [data.action] if data.action is not None else []
    actions += [strip.action for track in data.nla_tracks for strip in track.strips if strip.action is not None]
    return [curve for action in actions for curve in compat.curves_of(action, obj)]


def array(matrix: Any) -> Floats:
    """Convert a Blender matrix to float64."""
    return np.array(matrix, np.float64)
