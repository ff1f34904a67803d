"""Making models of Descent 3 in Blender: a holder for meshes, points of a part, guns and turrets of batteries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import bpy
from mathutils import Matrix, Vector

from ...core import names
from ...core.errors import WriteError
from .hierarchy import is_part, is_point
from .model_properties import POINT_KINDS, holder_of

if TYPE_CHECKING:
    from ...blender.typed import Context, Object
    from .model_properties import BatteryProperties


def begin(context: Context, objects: Sequence[Any]) -> Any:
    """Parent objects, which keep their positions and become sub-objects, to a new holder, which is returned.

    Raises `WriteError` if there are none, or if one belongs to a model.
    """
    chosen = [found for found in objects if found.parent not in objects]
    for found in [*chosen, *(child for each in chosen for child in each.children_recursive)]:
        if holder_of(found) is not None:
            raise WriteError(f"{found.name!r} already belongs to a model", remedy="Choose other objects")
    if not chosen:
        raise WriteError("no mesh is selected", remedy="Select the meshes of the model")
    context.view_layer.update()
    holder: Any = bpy.data.objects.new(names.shortened(f"{chosen[0].name} model"), None)
    holder.empty_display_type = "PLAIN_AXES"
    holder.empty_display_size = max(max(found.dimensions) for found in chosen) / 2 or 1.0
    holder.motionbridge_descent_model.is_model = True
    for into in chosen[0].users_collection[:1] or [context.scene.collection]:
        into.objects.link(holder)
    for found in chosen:
        matrix = found.matrix_world.copy() if found.parent is not None else None
        found.parent = holder
        if matrix is not None:
            found.matrix_parent_inverse = Matrix()
            found.matrix_world = matrix
    return holder


def new_point(context: Context, part: Object | None, kind: str, location: Vector) -> Object:
    """A new empty of this kind at ``location`` in the world, child of a part, its arrow along the model's forward axis.

    Raises `WriteError` if the object is not a part.
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
    """The collection of the model's other points, otherwise that of the part."""
    for found in holder.children_recursive if holder is not None else ():
        if is_point(found) and found.users_collection:
            return found.users_collection[0]
    return next(iter(part.users_collection), context.scene.collection)


def set_members(battery: BatteryProperties, objects: Sequence[Object], holder: Object) -> tuple[int, int]:
    """Replace the guns and the turrets of a battery by those among these objects; the number of each.

    Raises `WriteError` if there are neither.
    """
    own = [found for found in objects if holder_of(found) == holder]
    guns = [found for found in own if found.motionbridge_descent_point.kind == "GUN"]
    turrets = [found for found in own if is_part(found) and not is_point(found)]
    if not guns and not turrets:
        raise WriteError("neither a gun point nor a sub-object of this model is selected", remedy="Select at least one")
    for members, chosen in ((battery.guns, guns), (battery.turrets, _most_mobile_first(turrets))):
        if chosen:
            members.clear()
            for found in chosen:
                members.add().shown = found
    return len(guns), len(turrets)


def _most_mobile_first(turrets: list[Object]) -> list[Object]:
    """Children before their parents, as the game expects."""

    def depth(found: Object) -> int:
        return 0 if found.parent is None else 1 + depth(found.parent)

    return sorted(turrets, key=depth, reverse=True)
