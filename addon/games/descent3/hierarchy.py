"""Which objects are the sub-objects and points of a model, and their rest pose.

A sub-object of the file has a pivot and no rotation or scale of its own: if its object is rotated or scaled at rest,
the vertices are transformed. Objects between two sub-objects count only by their transforms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from mathutils import Matrix, Quaternion, Vector
from numpy.typing import NDArray

from ...blender import compat
from ...blender.transforms import channels_of, playing_curves
from ...core.report import Report
from ...formats.descent3.oof.model import Floats, PointKind, Singles
from .model_properties import holder_of

if TYPE_CHECKING:
    from ...blender.typed import Bone, Context, Object


ROTATION_TOLERANCE, POSITION_TOLERANCE = 2e-5, 1e-6
"""Differences of matrix elements, and of units in a model of size 1, that Blender's rounding alone can cause."""
_LATER = 1 << 30


@dataclass(frozen=True)
class Chosen:
    """What is exported: the model below a ``holder``, or without one what of ``objects`` is a model."""

    holder: Any
    objects: Sequence[Any] = ()


@dataclass(frozen=True)
class Hierarchy:
    """Objects of a model: ``parts`` in file order, new ones last, parents first; ``points``.

    ``parents`` the index of each part's parent part, -1 for none; ``point_parents`` the same of each point.
    """

    holder: Any
    parts: list[Any]
    points: list[Any]
    parents: list[int]
    point_parents: list[int]


def hierarchy_of(context: Context, chosen: Chosen, report: Report) -> Hierarchy:
    """The objects of a model that are in the scene."""
    holder, in_scene = chosen.holder, set(context.scene.objects)
    candidates = holder.children_recursive if holder is not None else chosen.objects
    own = [
        found
        for found in candidates
        if found in in_scene and not found.motionbridge_descent_model.is_model and holder_of(found) == holder
    ]
    points = sorted(filter(is_point, own), key=_point_order)
    parts = sorted(filter(is_part, own), key=_part_order)
    indices = {part: index for index, part in enumerate(parts)}
    for found in own:
        if not is_part(found) and not is_point(found) and found.type in ("CURVE", "SURFACE", "META", "FONT", "CURVES"):
            report.warn("is not a mesh; left out (convert it to a mesh)", found.name)
    parents, point_parents = ([_part_above(one, holder, indices) for one in objects] for objects in (parts, points))
    return Hierarchy(holder, parts, points, parents, point_parents)


def is_point(candidate: Any) -> bool:
    """Whether an object is a point of a model."""
    return candidate.type == "EMPTY" and candidate.motionbridge_descent_point.kind != "NONE"


def is_part(candidate: Object) -> bool:
    """Whether an object is a sub-object, or can become one."""
    is_empty_part = candidate.type == "EMPTY" and bool(candidate.motionbridge_descent_part.is_part)
    return candidate.type == "MESH" or is_empty_part


def _part_order(part: Object) -> tuple[int, bool, int, str]:
    """File order; of copies the renamed ones later; new ones last, parents first."""
    properties, depth, above = part.motionbridge_descent_part, 0, part.parent
    while above is not None:
        above, depth = above.parent, depth + 1
    source = properties.source if properties.source >= 0 else _LATER
    return source, part.name != properties.shown_name, depth, part.name


def _point_order(point: Object) -> tuple[int, int, str]:
    properties = point.motionbridge_descent_point
    index = properties.number if properties.number >= 0 else _LATER
    return index, properties.source if properties.source >= 0 else _LATER, point.name


def _part_above(child: Object, holder: Object | None, indices: dict[Any, int]) -> int:
    """The index of the nearest part above an object, -1 for none."""
    above = _above(child)
    while above is not None and above != holder and above not in indices:
        above = _above(above)
    return indices.get(above, -1) if above is not None else -1


def _above(child: Object) -> Object | None:
    """The object above another: its parent, or of a child of a bone the part that is parented to the bone above."""
    parent = child.parent
    if parent is None or child.parent_type != "BONE" or parent.type != "ARMATURE":
        return parent
    on_bones = {
        other.parent_bone: other
        for other in parent.children
        if other.parent_type == "BONE" and other.motionbridge_descent_part.is_part
    }
    bone = parent.data.bones.get(child.parent_bone)
    if bone is not None and on_bones.get(bone.name) not in (None, child):
        return on_bones[bone.name]
    while bone is not None and bone.parent is not None:
        bone = bone.parent
        if bone.name in on_bones:
            return on_bones[bone.name]
    return parent


# The rest pose -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RestPose:
    """Where the objects of a hierarchy are at rest, column form.

    ``matrices`` (parts, 4, 4) in the holder's space, or without a holder in the world's; ``is_straight`` (parts,)
    whether a part is neither rotated nor scaled; ``offsets`` (parts, 3) pivots relative to the parent's pivot. For each
    point ``points`` has the index of its part, or -1 for the model's origin, and its matrix (4, 4) relative to it.
    """

    matrices: Floats
    is_straight: NDArray[np.bool_]
    offsets: Singles
    points: list[tuple[int, Floats]]


def rest_pose(hierarchy: Hierarchy) -> RestPose:
    """The rest pose of a model's parts and points, without what animates them."""
    known: dict[Any, Floats] = {}

    def matrix_of(found: Object | None) -> Floats:
        if found is None or found == hierarchy.holder:
            return np.eye(4)
        if found not in known:
            parent, bone = matrix_of(found.parent), _bone_of(found)
            if bone is not None:  # Blender counts from the tail
                parent = parent @ array(bone.matrix_local) @ array(Matrix.Translation((0, bone.length, 0)))
            known[found] = parent @ local_at_rest(found)
        return known[found]

    matrices = np.array([matrix_of(part) for part in hierarchy.parts], np.float64).reshape(-1, 4, 4)
    is_straight = np.abs(matrices[:, :3, :3] - np.eye(3)).max(axis=(1, 2), initial=0) <= ROTATION_TOLERANCE
    rows = zip(hierarchy.parts, hierarchy.parents, matrices[:, :3, 3], strict=True)
    offsets = [_offset(part, own, matrices[above, :3, 3] if above >= 0 else np.zeros(3)) for part, above, own in rows]
    points = []
    for point, nearest in zip(hierarchy.points, hierarchy.point_parents, strict=True):
        above = _part_of_point(point, nearest)
        if above >= 0 and point.parent == hierarchy.parts[above] and is_straight[above]:
            points.append((above, local_at_rest(point)))
        else:
            matrix = matrix_of(point).copy()
            matrix[:3, 3] -= matrices[above, :3, 3] if above >= 0 else 0.0
            points.append((above, matrix))
    return RestPose(matrices, is_straight, np.array(offsets, np.float32).reshape(-1, 3), points)


def _part_of_point(point: Object, nearest: int) -> int:
    """The index of the part that a point belongs to: new ones below no part belong to the first."""
    properties = point.motionbridge_descent_point
    if properties.kind == PointKind.SPECIAL.name:
        return -1
    return 0 if nearest < 0 and properties.source < 0 else nearest


def _offset(part: Object, own: Floats, above: Floats) -> Singles:
    """(3,) a part's pivot relative to its parent's; the file's if the difference is only rounding."""
    offset = own - above
    stored = np.array(part.motionbridge_descent_part.offset, np.float32)
    tolerance = POSITION_TOLERANCE * max(1.0, float(np.abs(own).max()), float(np.abs(above).max()))
    return stored if np.abs(offset - stored).max() <= tolerance else offset.astype(np.float32)


def _bone_of(child: Object) -> Bone | None:
    """The bone that an object is parented to, or None."""
    if child.parent is not None and child.parent_type == "BONE" and child.parent.type == "ARMATURE":
        return child.parent.data.bones.get(child.parent_bone)
    return None


def local_at_rest(found: Object) -> Floats:
    """(4, 4) an object's matrix in its parent's space, without the effect of actions, NLA and drivers."""
    animated = _animated_channels(found)
    properties = found.motionbridge_descent_part
    if not animated or not is_part(found):
        basis = found.matrix_basis
    else:
        location: Any = found.location
        if "location" in animated and found.parent_type == "BONE":
            location = Vector((0, 0, 0))
        elif "location" in animated:
            location = Vector(properties.offset) if properties.is_part else _first_location(found)
        rotation = Quaternion() if "rotation" in animated else found.matrix_basis.to_quaternion()
        scale: Any = Vector((1, 1, 1)) if "scale" in animated else found.scale
        basis = Matrix.LocRotScale(location, rotation, scale)
    return array(found.matrix_parent_inverse) @ array(basis)


def _first_location(found: Any) -> Vector:
    """The location at the first keys: what was made in Blender has no other pivot."""
    location = Vector(found.location)
    for (channel, index), curve in channels_of(playing_curves(found)).items():
        if channel == "location" and len(curve.keyframe_points):
            location[index] = curve.evaluate(curve.keyframe_points[0].co.x)
    return location


def _animated_channels(found: Object) -> set[str]:
    """Those of location, rotation and scale that drivers, the action or NLA strips animate."""
    data = found.animation_data
    if data is None:
        return set()
    curves = list(data.drivers)
    actions = [data.action] if data.action is not None else []
    actions += [strip.action for track in data.nla_tracks for strip in track.strips if strip.action is not None]
    for action in actions:
        bag = compat.curve_bag(action, compat.suitable_slot(action, found) if compat.SLOTTED else None)
        curves += list(bag.fcurves) if bag is not None else []
    return {curve.data_path.partition("_")[0] for curve in curves} & {"location", "rotation", "scale"}


def array(matrix: Any) -> Floats:
    """A matrix of Blender as float64."""
    return np.array(matrix, np.float64)
