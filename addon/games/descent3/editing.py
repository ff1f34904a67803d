"""What is made in Blender: a holder that turns meshes into a model, points of a part, guns and turrets of batteries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import bpy
from mathutils import Matrix, Vector

from ...core import names
from ...core.errors import WriteError
from ...core.report import say
from .kinds import GLOWS
from .model_properties import POINT_KINDS, holder_of, is_part, is_point

if TYPE_CHECKING:
    from ...blender.typed import Context, Object
    from .model_properties import BatteryProperties


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

    It is a child of ``part``, special points of the holder. A glow or thruster is a sub-object with one face, which
    looks backwards. Raises `WriteError` if ``part`` is neither a part nor a
    holder.
    """
    holder = holder_of(part)
    if part is None or (not is_part(part) and part != holder):
        raise WriteError("no sub-object is active", remedy="Make the sub-object of the point active")
    if kind in GLOWS:
        return _new_glow(context, part, kind, location)
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


def owner_of_points(obj: Object | None) -> Object | None:
    """Return the sub-object or holder that gets a new point if ``obj`` is active: of a point or glow, what it is on."""
    while obj is not None and (is_point(obj) or obj.motionbridge_descent_part.kind in GLOWS):
        obj = obj.parent
    return obj


def _new_glow(context: Context, part: Object, kind: str, location: Vector) -> Object:
    label = GLOWS[kind].partition(" (")[0]
    mesh, size = bpy.data.meshes.new(label), _length(part) / 2
    mesh.from_pydata([(-size, 0, -size), (size, 0, -size), (0, 0, size)], [], [(0, 1, 2)])
    glow: Any = bpy.data.objects.new(label, mesh)
    next(iter(part.users_collection), context.scene.collection).objects.link(glow)
    context.view_layer.update()
    glow.parent, holder = part, holder_of(part)
    where: Any = location
    upright = (holder.matrix_world if holder is not None else Matrix()).to_quaternion()
    glow.matrix_world = Matrix.LocRotScale(where, upright, None)
    glow.motionbridge_descent_part.is_part = True
    glow.motionbridge_descent_part.kind = kind
    return glow


def _length(part: Any) -> float:
    return float(max(*part.dimensions, 0.2)) * 0.25


def _points_collection(context: Context, part: Object, holder: Object | None) -> bpy.types.Collection:
    """Return the collection of the model's other points, otherwise that of the part."""
    for obj in holder.children_recursive if holder is not None else ():
        if is_point(obj) and obj.users_collection:
            return obj.users_collection[0]
    return next(iter(part.users_collection), context.scene.collection)


def set_members(battery: BatteryProperties, objects: Sequence[Object], holder: Object) -> None:
    """Replace the guns and the turrets of a battery by those among these objects.

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


def _children_first(turrets: list[Object]) -> list[Object]:
    """Sort children before their parents, as the game expects."""

    def depth(obj: Object) -> int:
        return 0 if obj.parent is None else 1 + depth(obj.parent)

    return sorted(turrets, key=depth, reverse=True)
