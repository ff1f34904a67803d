"""Making models of Descent 3 in Blender: a holder above meshes, points below a part, guns and turrets in batteries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
from mathutils import Matrix, Vector

from ...core import names
from ...core.errors import WriteError
from .hierarchy import is_part, is_point
from .model_properties import POINT_KINDS, holder_of


def begin(context: Any, objects: Sequence[Any]) -> Any:
    """Put a new holder above objects, which stay where they are and become sub-objects; those below others follow.

    Raises `WriteError` where they belong to a model.
    """
    chosen = [shown for shown in objects if shown.parent not in objects]
    for shown in [*chosen, *(child for each in chosen for child in each.children_recursive)]:
        if holder_of(shown) is not None:
            raise WriteError(f"{shown.name!r} belongs to a model already", remedy="Choose other objects")
    if not chosen:
        raise WriteError("no mesh is selected", remedy="Select the meshes of the model")
    context.view_layer.update()
    holder: Any = bpy.data.objects.new(names.shortened(f"{chosen[0].name} model"), None)
    holder.empty_display_type = "PLAIN_AXES"
    holder.empty_display_size = max(max(shown.dimensions) for shown in chosen) / 2 or 1.0
    holder.motionbridge_descent_model.is_model = True
    for into in chosen[0].users_collection[:1] or [context.scene.collection]:
        into.objects.link(holder)
    for shown in chosen:
        place = shown.matrix_world.copy() if shown.parent is not None else None
        shown.parent = holder
        if place is not None:
            shown.matrix_parent_inverse = Matrix()
            shown.matrix_world = place
    return holder


def new_point(context: Any, part: Any, kind: str, place: Vector) -> Any:
    """An empty of this kind at a place of the scene, below a part: its arrow along the model's forward axis.

    Raises `WriteError` where the object is no part.
    """
    holder = holder_of(part)
    if part is None or (not is_part(part) and part != holder):
        raise WriteError("no sub-object is active", remedy="Click the sub-object the point is to belong to")
    label = next(label for identifier, label, _ in POINT_KINDS if identifier == kind)
    shown: Any = bpy.data.objects.new(label, None)
    shown.motionbridge_descent_point.kind = kind
    shown.motionbridge_descent_point.has_up = kind == "ATTACH"
    if kind == "SPECIAL":
        shown.empty_display_type, shown.empty_display_size = "SPHERE", 0.5
    else:
        shown.empty_display_type, shown.empty_display_size = "SINGLE_ARROW", _length(part)
    shown.rotation_mode, shown.show_in_front = "QUATERNION", True
    _points_collection(context, part, holder).objects.link(shown)
    context.view_layer.update()
    shown.parent = holder if kind == "SPECIAL" and holder is not None else part
    # Forward is y, up is z; in the space of the holder, whichever way that stands.
    where: Any = place  # stubs disagree on what takes a vector
    forward = Matrix(((-1, 0, 0), (0, 0, 1), (0, 1, 0)))
    upright = (holder.matrix_world if holder is not None else Matrix()).to_quaternion() @ forward.to_quaternion()
    shown.matrix_world = Matrix.LocRotScale(where, upright, None)
    return shown


def _length(part: Any) -> float:
    return float(max(*part.dimensions, 0.2)) * 0.25


def _points_collection(context: Any, part: Any, holder: Any) -> Any:
    """Where the model's other points are, else where the part is."""
    for shown in holder.children_recursive if holder is not None else ():
        if is_point(shown) and shown.users_collection:
            return shown.users_collection[0]
    return next(iter(part.users_collection), context.scene.collection)


def set_members(battery: Any, objects: Sequence[Any], holder: Any) -> tuple[int, int]:
    """Let a battery fire the gun points and turn the sub-objects among these; how many of each.

    Raises `WriteError` where there is none of either.
    """
    own = [shown for shown in objects if holder_of(shown) == holder]
    guns = [shown for shown in own if shown.motionbridge_descent_point.kind == "GUN"]
    turrets = [shown for shown in own if is_part(shown) and not is_point(shown)]
    if not guns and not turrets:
        raise WriteError(
            "neither a gun point nor a sub-object of this model is selected", remedy="Select those that are meant"
        )
    for members, chosen in ((battery.guns, guns), (battery.turrets, _most_mobile_first(turrets))):
        if chosen:
            members.clear()
            for shown in chosen:
                members.add().shown = shown
    return len(guns), len(turrets)


def _most_mobile_first(turrets: list[Any]) -> list[Any]:
    """Those that hang on others before these, as the game wants them."""

    def depth(shown: Any) -> int:
        return 0 if shown.parent is None else 1 + depth(shown.parent)

    return sorted(turrets, key=depth, reverse=True)
