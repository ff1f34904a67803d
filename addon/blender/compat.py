"""Every question about Blender's version, asked once: actions and their slots, normals, names, node groups.

4.2 keeps F-curves on the action; 4.4 and later keep them in the channelbag of a slot; 5.0 dropped the old way. ``Any``
stands for what the stubs of one version do not know.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import bpy

if TYPE_CHECKING:
    import bmesh
    import numpy as np
    from numpy.typing import NDArray

    from .typed import Action, Mesh, Object

SLOTTED = hasattr(bpy.types, "ActionSlot")
_GROUP_BY_NAME = bpy.app.version >= (5, 0, 0)
NORMALS_BY_ATTRIBUTE = bpy.app.version >= (4, 5, 0)
_POSES_SELECTED = "select" in bpy.types.PoseBone.bl_rna.properties
_GROUP_INPUTS_TYPED = "properties" in bpy.types.NodesModifier.bl_rna.properties

PATH_OPTIONS = {"PATH_SUPPORTS_BLEND_RELATIVE"} if bpy.app.version >= (4, 5, 0) else set[str]()
"""Of properties that hold a path which may begin with ``//``; older versions ask for no leave."""
BROWSER_WAITS_WITH_UNDO = bpy.app.version >= (5, 2, 0)
"""Whether the file browser makes no step of undo for an operator that goes on after it was executed (not in 4.3)."""
DATA_NAME_LIMIT = 255 if bpy.app.version >= (5, 0, 0) else 63
"""Bytes of UTF-8 in a data-block's name."""

MakeCurve = Callable[[str, int, str], Any]


def new_action(name: str, owner_type: str, slot_name: str) -> tuple[Action, Any, Any]:
    """An empty action, its slot (None before 4.4), and what holds its F-curves and groups.

    ``owner_type`` is the kind of data-block it moves (``OBJECT``, ``ARMATURE``, …).
    """
    action: Any = bpy.data.actions.new(name)
    if not SLOTTED:
        action.id_root = owner_type
        return action, None, action
    slot = action.slots.new(owner_type, slot_name)
    strip = action.layers.new("Layer").strips.new(type="KEYFRAME")
    return action, slot, strip.channelbag(slot, ensure=True)


def add_slot(action: Any, owner_type: str, slot_name: str) -> tuple[Any, Any]:
    """Another slot of an action of `new_action`, since 4.4, and what holds its F-curves."""
    slot = action.slots.new(owner_type, slot_name)
    return slot, action.layers[0].strips[0].channelbag(slot, ensure=True)


def curve_maker(action: Any, bag: Any) -> MakeCurve:
    """A function (data path, index, group name) that adds an F-curve to a new action."""
    if _GROUP_BY_NAME:
        return lambda path, index, group: bag.fcurves.new(path, index=index, group_name=group)
    if SLOTTED and len(action.slots) > 1:
        return lambda path, index, group: _new_in_group(bag, path, index, group)
    # 4.4 and 4.5 take a group only through the old door, which leads to the first slot.
    return lambda path, index, group: action.fcurves.new(path, index=index, action_group=group)


def _new_in_group(bag: Any, path: str, index: int, group: str) -> Any:
    curve = bag.fcurves.new(path, index=index)
    curve.group = bag.groups.get(group) or bag.groups.new(group)
    return curve


def curve_bag(action: Any, slot: Any = None) -> Any:
    """What holds the F-curves of a slot (of the first one where none is given), or None where there are none.

    Asked of the strip by function: a bag reached through ``channelbags[i]`` makes every key touched cost three times as
    much.
    """
    if not SLOTTED:
        return action
    chosen = slot if slot is not None else next(iter(action.slots), None)
    if chosen is None or not len(action.layers) or not len(action.layers[0].strips):
        return None
    return action.layers[0].strips[0].channelbag(chosen)


def curves_of(action: bpy.types.Action | None, owner: Any) -> list[bpy.types.FCurve]:
    """The F-curves that ``action`` has for ``owner``, in its suitable slot."""
    bag = curve_bag(action, suitable_slot(action, owner)) if action is not None else None
    return list(bag.fcurves) if bag is not None else []


def is_muted(curve: bpy.types.FCurve) -> bool:
    """Whether Blender leaves an F-curve out because it is muted; with slots, muted groups play all the same."""
    return bool(curve.mute or (not SLOTTED and curve.group is not None and curve.group.mute))


def muted_by_groups(bag: Any, curves: list[bpy.types.FCurve]) -> list[bool]:
    """(curves,) which F-curves of a bag lie in a muted group that mutes them, as `is_muted` has it."""
    if SLOTTED or not any(group.mute for group in bag.groups):
        return [False] * len(curves)
    return [curve.group is not None and curve.group.mute for curve in curves]


def is_played(curve: bpy.types.FCurve) -> bool:
    """Whether Blender plays an F-curve: it is not muted, and has keys, samples or a generator."""
    return not curve.is_empty and not is_muted(curve)


def all_curve_bags(action: Any) -> list[Any]:
    """Everything that holds F-curves of an action: one bag for each of its slots."""
    if not SLOTTED:
        return [action]
    found = (curve_bag(action, slot) for slot in action.slots)
    return [bag for bag in found if bag is not None]


def clear_curves(bag: Any) -> None:
    """Remove every F-curve and its groups."""
    bag.fcurves.clear()
    for group in list(bag.groups):
        bag.groups.remove(group)


def suitable_slot(action: Any, owner: Object) -> Any:
    """The slot of ``action`` for this data-block: the one it uses, else one of its name, else the first of its kind.

    Slots with F-curves come first: an empty one that is used by mistake does not hide the keys.
    """
    if not SLOTTED:
        return None
    fitting = [slot for slot in action.slots if slot.target_id_type in {owner.id_type, "UNSPECIFIED"}]
    if len(fitting) < 2:
        return fitting[0] if fitting else None
    used = used_slot(action, owner)
    named = [slot for slot in fitting if slot.identifier[2:] == owner.name]
    ordered = ([used] if used is not None else []) + named + fitting
    return next((slot for slot in ordered if _has_curves(action, slot)), ordered[0])


def has_several_slots(action: Any) -> bool:
    """Whether an action moves several data-blocks, each by curves of its own."""
    return SLOTTED and len(action.slots) > 1


def used_slot(action: Action, owner: Object) -> Any:
    """The slot by which ``owner`` plays ``action``, or None."""
    data = owner.animation_data
    return data.action_slot if SLOTTED and data is not None and data.action == action else None


def _has_curves(action: Action, slot: Any) -> bool:
    bag = curve_bag(action, slot)
    return bag is not None and len(bag.fcurves) > 0


def assign(owner: Object, action: Action | None, slot: Any = None) -> None:
    """Make ``owner`` play ``action`` through ``slot`` (or the suitable one); None takes the action away."""
    data = owner.animation_data or owner.animation_data_create()
    data.action = action
    if SLOTTED and action is not None:
        data.action_slot = slot if slot is not None else suitable_slot(action, owner)


def slot_name(owner: Object) -> str:
    """The name to give new slots, so that whatever action the user picks plays: the last one used, else the owner's."""
    data = owner.animation_data
    if SLOTTED and data is not None and data.last_slot_identifier:
        return str(data.last_slot_identifier[2:])
    return str(owner.name)


def set_corner_normals(mesh: Mesh, normals: NDArray[np.float32]) -> None:
    """Custom normals (corners, 3) of a mesh whose topology is final and which is shaded smooth.

    Exact since 4.5; before, Blender stores angles of 16 bits (0.003 degrees off at most).
    """
    if NORMALS_BY_ATTRIBUTE:
        before = mesh.attributes.get("custom_normal")
        if before is not None:
            mesh.attributes.remove(before)
        attribute = mesh.attributes.new("custom_normal", "FLOAT_VECTOR", "CORNER")
        attribute.data.foreach_set("vector", normals.astype("float32").ravel())
    else:
        mesh.normals_split_custom_set(normals)


def hiding_driver(rig: Object, bone: str) -> Any:
    """A new driver of whether a bone is hidden in pose mode: Blender 5.0 moved that from the armature to the object."""
    owner = rig.pose.bones[bone] if bpy.app.version >= (5, 0) else rig.data.bones[bone]
    return owner.driver_add("hide").driver


def is_hiding(curve: Any) -> bool:
    """Whether the curve of a driver hides a bone."""
    return bool(curve.data_path.endswith("].hide"))


def is_selected(rig: Object, bone: Any) -> bool:
    """Whether a bone of ``rig`` is selected in pose mode; since 5.0 the pose has a selection of its own."""
    pose = rig.pose.bones[bone.name]
    return bool(pose.select if _POSES_SELECTED else bone.select)


def set_group_input(modifier: Any, identifier: str, value: Object | bpy.types.Collection) -> None:
    """Give a geometry nodes modifier the value of an input of its group: a property of its own since 5.2."""
    if _GROUP_INPUTS_TYPED:
        getattr(modifier.properties.inputs, identifier).value = value
    else:
        modifier[identifier] = value


def face_layers(edited: bmesh.types.BMesh, kind: str) -> Any:
    """The layers of a type (``int``, ``float``, ``bool``) on the faces of a `bmesh.types.BMesh`.

    None for ``bool`` in 4.2, which cannot read truth values in edit mode.
    """
    return getattr(edited.faces.layers, kind, None)
