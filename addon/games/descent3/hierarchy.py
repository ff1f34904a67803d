"""Which objects are the sub-objects and points of a model, their rest pose, empties for points, and new models.

A sub-object of the file has a pivot but no rotation or scale: if its object is rotated or scaled at rest, the vertices
are transformed. Objects between two sub-objects only contribute their transforms.

Gun, ground, attach and special points are empties: an arrow for a direction, a sphere for a radius. The arrow is the
empty's z axis; an attach point's y axis is up. A rotation cannot store the file's direction exactly, so the file's
direction is exported as long as the empty has its imported rotation.

New models: a holder for meshes, points of a part, guns and turrets of batteries.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector
from numpy.typing import NDArray

from ...blender import compat
from ...blender.instances import shows_instances
from ...blender.properties import kept
from ...blender.transforms import channels_of, kind_of, playing_curves, rotations
from ...core import names
from ...core.errors import WriteError
from ...core.report import Report, say
from ...formats.descent3 import oof
from ...formats.descent3.oof.document import Oof
from ...formats.descent3.oof.mapping import decode
from ...formats.descent3.oof.model import Floats, Model, Part, Point, PointKind, Singles
from .model_properties import POINT_KINDS, holder_of, is_of_file, source_of

if TYPE_CHECKING:
    from ...blender.typed import Bone, Context, Object
    from .model_properties import BatteryProperties

ROTATION_TOLERANCE, POSITION_TOLERANCE = 2e-5, 1e-6
"""Largest differences by Blender's rounding: of matrix elements, and of positions in a model of size 1."""
_LAST = 1 << 30


@dataclass(frozen=True)
class Chosen:
    """What is exported: the model below a ``holder``, or without one the parts and points among ``objects``."""

    holder: Any
    objects: Sequence[Object] = ()


@dataclass(frozen=True)
class Hierarchy:
    """Objects of a model: ``parts`` in file order, new ones last, parents first; ``points``.

    ``parents``: index of each part's parent part, -1 for none; ``point_parents``: the same for each point. What else is
    asked of the model, such as its rest pose and the imported file, is computed once.
    """

    holder: Any
    parts: list[Any]
    points: list[Any]
    parents: list[int]
    point_parents: list[int]

    @cached_property
    def data(self) -> bytes:
        """The bytes of the imported file, b"" for a model that was made in Blender."""
        return kept(self.holder.motionbridge_descent_model, "document") if self.holder is not None else b""

    @cached_property
    def base(self) -> Oof | None:
        """The imported file, None for a model that was made in Blender."""
        return oof.read(self.data, "", Report()) if self.data else None

    @cached_property
    def before(self) -> Model:
        """The model as imported; an empty one if it was made in Blender."""
        return decode(self.base, Report()) if self.base is not None else Model("")

    @cached_property
    def sources(self) -> list[int]:
        """Index of each part among those of the imported file, -1 for new parts."""
        return [part_source(part) for part in self.parts]

    @cached_property
    def rest(self) -> RestPose:
        """The rest pose of the parts and points, ignoring their animation."""
        return rest_pose(self)

    def old(self, index: int) -> Part | None:
        """Return a part as imported, None for a new one."""
        return self.before.known(self.sources[index])


def hierarchy_of(context: Context, chosen: Chosen, report: Report) -> Hierarchy:
    """Return the objects of a model that are in the scene."""
    holder, in_scene = chosen.holder, set(context.scene.objects)
    candidates = holder.children_recursive if holder is not None else chosen.objects
    own = [
        candidate
        for candidate in candidates
        if candidate in in_scene
        and not candidate.motionbridge_descent_model.is_model
        and holder_of(candidate) == holder
    ]
    points = _at_their_indices(_copies_last(sorted(filter(is_point, own), key=_point_order), _point_of_file))
    parts = _copies_last(sorted(filter(is_part, own), key=_part_order), part_source)
    indices = {part: index for index, part in enumerate(parts)}
    for instance in own:
        if (
            not is_part(instance)
            and not is_point(instance)
            and instance.type in ("CURVE", "SURFACE", "META", "FONT", "CURVES")
        ):
            report.warn("is not a mesh; left out (convert it to a mesh)", instance.name)
        if shows_instances(instance):
            report.warn("its instances are left out (make them real: Object > Apply)", instance.name)
    parents, point_parents = ([_parent_part(obj, holder, indices) for obj in objects] for objects in (parts, points))
    return Hierarchy(holder, parts, points, parents, point_parents)


def written_index(context: Context, point: Object) -> int | None:
    """Return the index a point gets among those of its kind.

    None if it is not exported, or if the file's points were imported without empties.
    """
    holder = holder_of(point)
    model = holder.motionbridge_descent_model if holder is not None else None
    if model is None or (model.path and not model.shown_points):
        return None
    kind = point.motionbridge_descent_point.kind
    points = hierarchy_of(context, Chosen(holder), Report()).points
    alike = [point for point in points if point.motionbridge_descent_point.kind == kind]
    return alike.index(point) if point in alike else None


def cut_off(context: Context, hierarchy: Hierarchy) -> list[Object]:
    """Return objects of the file's parts and points that lost their model because a parent was deleted.

    Descendants of a returned object are left out.
    """
    before = hierarchy.before
    parts = set(range(len(before.parts))) - set(hierarchy.sources)
    present = {(point.motionbridge_descent_point.kind, _source_of(point)) for point in hierarchy.points}
    points = {(point.kind.name, point.source) for point in before.points} - present

    def is_lost(obj: Object) -> bool:
        part, point = obj.motionbridge_descent_part, obj.motionbridge_descent_point
        if not is_of_file(point if is_point(obj) else part, hierarchy.holder):
            return False
        if is_point(obj):
            return (point.kind, _source_of(obj)) in points
        return part.is_part and part.source in parts and before.parts[part.source].name == part.game_name

    lost = {obj for obj in context.scene.objects if holder_of(obj) is None and is_lost(obj)}
    return sorted((obj for obj in lost if obj.parent not in lost), key=lambda obj: obj.name)


def is_point(candidate: Any) -> bool:
    """Return whether an object is a point of a model."""
    return candidate.type == "EMPTY" and candidate.motionbridge_descent_point.kind != "NONE"


def is_part(candidate: Object) -> bool:
    """Return whether an object is a sub-object, or can become one."""
    is_empty_part = candidate.type == "EMPTY" and bool(candidate.motionbridge_descent_part.is_part)
    return candidate.type == "MESH" or is_empty_part


def part_source(part: Object) -> int:
    """Return an object's index among the sub-objects of its model's file, -1 if it is new."""
    return source_of(part, part.motionbridge_descent_part)


def _part_order(part: Object) -> tuple[int, bool, int, str]:
    """Sort key: file order, renamed copies after their original; new objects last, parents first."""
    properties, depth, above = part.motionbridge_descent_part, 0, part.parent
    while above is not None:
        above, depth = above.parent, depth + 1
    source = part_source(part)
    source = source if source >= 0 else _LAST
    return source, part.name != properties.shown_name, depth, part.name


def _copies_last(ordered: list[Any], row_of: Callable[[Any], Any]) -> list[Any]:
    """Sort copies last: objects with the same row of the file as an earlier one. Row -1 means not from the file."""
    taken: set[Any] = set()
    copies = []
    for obj in ordered:
        row = row_of(obj)
        if row in taken:
            copies.append(obj)
        elif row != -1:
            taken.add(row)
    return [*(target for target in ordered if target not in copies), *copies]


def _point_of_file(point: Object) -> Any:
    """Return which point of the file an empty is or was copied from, -1 for none; a copy with its own index is new."""
    source = _source_of(point)
    return (point.motionbridge_descent_point.kind, source, _index_of(point)) if source >= 0 else -1


def _source_of(point: Object) -> int:
    """Return the empty's index among the file's points of its kind; -1 if it is new, also of another kind or file."""
    properties = point.motionbridge_descent_point
    return source_of(point, properties) if properties.file_kind in ("", properties.kind) else -1


def _index_of(point: Object) -> int:
    """Return the index that was typed or comes from the file, -1 for none or if it belongs to an earlier kind."""
    properties = point.motionbridge_descent_point
    return -1 if properties.number == properties.source != _source_of(point) else properties.number


def _at_their_indices(ordered: list[Any]) -> list[Any]:
    """Move points with a typed index to that index among the points of their kind."""
    result = []
    for kind in dict.fromkeys(point.motionbridge_descent_point.kind for point in ordered):
        alike = [point for point in ordered if point.motionbridge_descent_point.kind == kind]
        typed = [point for point in alike if _is_index_typed(point)]
        others = [point for point in alike if point not in typed]
        for point in typed:
            others.insert(_index_of(point), point)
        result += others
    return result


def _is_index_typed(point: Object) -> bool:
    return _index_of(point) >= 0 and _index_of(point) != _source_of(point)


def _point_order(point: Object) -> tuple[int, int, str]:
    index, source = _index_of(point), _source_of(point)
    return index if index >= 0 else _LAST, source if source >= 0 else _LAST, point.name


def _parent_part(child: Object, holder: Object | None, indices: dict[Any, int]) -> int:
    """Return the index of the nearest ancestor that is a part, -1 for none."""
    above = _parent_object(child)
    while above is not None and above != holder and above not in indices:
        above = _parent_object(above)
    return indices.get(above, -1) if above is not None else -1


def _parent_object(child: Object) -> Object | None:
    """Return an object's parent; for a child of a bone, the part on that bone or on its nearest ancestor with one."""
    parent = child.parent
    if parent is None or child.parent_type != "BONE" or parent.type != "ARMATURE":
        return parent
    others = [
        child for child in parent.children if child.parent_type == "BONE" and child.motionbridge_descent_part.is_part
    ]
    # If copies of a part are on the same bone, the part is their parent.
    on_bones = {other.parent_bone: other for other in sorted(others, key=_part_order, reverse=True)}
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
    """Transforms of the objects of a hierarchy at rest, column vectors.

    ``matrices`` (parts, 4, 4) in the holder's space, or without a holder in world space; ``is_straight`` (parts,):
    whether a part is neither rotated nor scaled; ``offsets`` (parts, 3): pivots relative to the parent's pivot.
    ``points``: for each point the index of its part, -1 for the model's origin, and its matrix (4, 4) relative to that.
    """

    matrices: Floats
    is_straight: NDArray[np.bool_]
    offsets: Singles
    points: list[tuple[int, Floats]]


def rest_pose(hierarchy: Hierarchy) -> RestPose:
    """Return the rest pose of a model's parts and points, ignoring their animation."""
    known: dict[Any, Floats] = {}

    def matrix_of(obj: Object | None) -> Floats:
        if obj is None or obj == hierarchy.holder:
            return np.eye(4)
        if obj not in known:
            parent, bone = matrix_of(obj.parent), bone_of(obj)
            if bone is not None:
                parent = parent @ array(bone.matrix_local) @ to_tail(bone)
            known[obj] = parent @ local_at_rest(obj)
        return known[obj]

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
    """Return the index of the part that a point belongs to; new points without a parent part belong to the first."""
    properties = point.motionbridge_descent_point
    if properties.kind == PointKind.SPECIAL.name:
        return -1
    return 0 if nearest < 0 and _source_of(point) < 0 else nearest


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


# Points ---------------------------------------------------------------------------------------------------------------

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
    properties, source = empty.motionbridge_descent_point, _source_of(empty)
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


# New models -----------------------------------------------------------------------------------------------------------


def begin(context: Context, objects: Sequence[Any]) -> Any:
    """Parent objects, which keep their positions and become sub-objects, to a new holder; returns the holder.

    Raises `WriteError` if there are none, or if one belongs to a model.
    """
    chosen = [target for target in objects if target.parent not in objects]
    for obj in [*chosen, *(child for each in chosen for child in each.children_recursive)]:
        if holder_of(obj) is not None:
            raise WriteError(say("{!r} already belongs to a model", obj.name), remedy="Choose other objects")
    if not chosen:
        raise WriteError("no mesh is selected", remedy="Select the meshes of the model")
    context.view_layer.update()
    holder: Any = bpy.data.objects.new(names.shortened(f"{chosen[0].name} model"), None)
    holder.empty_display_type = "PLAIN_AXES"
    holder.empty_display_size = max(max(target.dimensions) for target in chosen) / 2 or 1.0
    holder.motionbridge_descent_model.is_model = True
    for into in chosen[0].users_collection[:1] or [context.scene.collection]:
        into.objects.link(holder)
    for obj in chosen:
        matrix = obj.matrix_world.copy() if obj.parent is not None else None
        obj.parent = holder
        if matrix is not None:
            obj.matrix_parent_inverse = Matrix()
            obj.matrix_world = matrix
    return holder


def new_point(context: Context, part: Object | None, kind: str, location: Vector) -> Object:
    """Create an empty of this kind at ``location`` (world space), its arrow along the model's forward axis.

    It is a child of ``part``, special points of the holder. Raises `WriteError` if ``part`` is neither a part nor a
    holder.
    """
    holder = holder_of(part)
    if part is None or (not is_part(part) and part != holder):
        raise WriteError("no sub-object is active", remedy="Make the sub-object of the point active")
    label = next(label for identifier, label, _ in POINT_KINDS if identifier == kind)
    empty: Any = bpy.data.objects.new(label, None)
    empty.motionbridge_descent_point.kind = kind
    empty.motionbridge_descent_point.has_up = kind == "ATTACH"
    if kind == "SPECIAL":
        empty.empty_display_type, empty.empty_display_size = "SPHERE", 0.5
    else:
        empty.empty_display_type, empty.empty_display_size = "SINGLE_ARROW", _length(part)
    empty.rotation_mode, empty.show_in_front = "QUATERNION", True
    _points_collection(context, part, holder).objects.link(empty)
    context.view_layer.update()
    empty.parent = holder if kind == "SPECIAL" and holder is not None else part
    # Forward is y, up is z, in the space of the holder.
    where: Any = location  # stubs disagree on what takes a vector
    forward = Matrix(((-1, 0, 0), (0, 0, 1), (0, 1, 0)))
    upright = (holder.matrix_world if holder is not None else Matrix()).to_quaternion() @ forward.to_quaternion()
    empty.matrix_world = Matrix.LocRotScale(where, upright, None)
    return empty


def _length(part: Any) -> float:
    return float(max(*part.dimensions, 0.2)) * 0.25


def _points_collection(context: Context, part: Object, holder: Object | None) -> bpy.types.Collection:
    """Return the collection of the model's other points, otherwise that of the part."""
    for obj in holder.children_recursive if holder is not None else ():
        if is_point(obj) and obj.users_collection:
            return obj.users_collection[0]
    return next(iter(part.users_collection), context.scene.collection)


def set_members(battery: BatteryProperties, objects: Sequence[Object], holder: Object) -> tuple[int, int]:
    """Replace the guns and the turrets of a battery by those among these objects; returns the number of each.

    Raises `WriteError` if there are neither.
    """
    own = [target for target in objects if holder_of(target) == holder]
    guns = [target for target in own if target.motionbridge_descent_point.kind == "GUN"]
    turrets = [target for target in own if is_part(target) and not is_point(target)]
    if not guns and not turrets:
        raise WriteError("neither a gun point nor a sub-object of this model is selected", remedy="Select at least one")
    for members, chosen in ((battery.guns, guns), (battery.turrets, _children_first(turrets))):
        if chosen:
            members.clear()
            for obj in chosen:
                members.add().object = obj
    return len(guns), len(turrets)


def _children_first(turrets: list[Object]) -> list[Object]:
    """Sort children before their parents, as the game expects."""

    def depth(obj: Object) -> int:
        return 0 if obj.parent is None else 1 + depth(obj.parent)

    return sorted(turrets, key=depth, reverse=True)
