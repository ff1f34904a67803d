"""All differences between Blender versions: actions and their slots, normals, names, node groups.

4.2 keeps F-curves on the action; 4.4 and later keep them in the channelbag of a slot; 5.0 removed ``Action.fcurves``.
`Any` is used where the stubs of one version do not know the type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
"""Options for properties whose path may begin with ``//``. Versions before 4.5 do not have the option and need none."""
GROUPS_UNDONE_IN_EDIT_MODE = bpy.app.version >= (4, 5, 0)
"""Whether undo in edit mode restores the list of vertex groups; else weights would get those of other groups."""
BROWSER_WAITS_WITH_UNDO = bpy.app.version >= (5, 2, 0)
"""Whether the file browser adds no undo step for an operator that continues running modally after it was executed
(checked: not in 4.3).
"""
APPEND_HANDLERS = [name for name in ("blend_import_post",) if hasattr(bpy.app.handlers, name)]
"""Names in `bpy.app.handlers` of what Blender calls after data was appended or linked; 4.2 has none."""
LINKED_IMAGES_PACKED = bpy.app.version < (5, 3, 0)
"""Whether an image of a linked library can be given bytes to pack (checked: not in 5.3)."""
DATA_NAME_LIMIT = 255 if bpy.app.version >= (5, 0, 0) else 63
"""Longest name of a data-block in bytes of UTF-8."""

MakeCurve = Callable[[str, int, str], Any]


def new_action(name: str, owner_type: str, slot_name: str) -> tuple[Action, Any, Any]:
    """Create an empty action. Returns the action, its slot (None before 4.4), and the container of its F-curves and
    groups.

    The container is the slot's channelbag since 4.4, before that the action itself. ``owner_type`` is the type of
    data-block that the action animates (``OBJECT``, ``ARMATURE``, …).
    """
    action: Any = bpy.data.actions.new(name)
    if not SLOTTED:
        action.id_root = owner_type
        return action, None, action
    slot = action.slots.new(owner_type, slot_name)
    strip = action.layers.new("Layer").strips.new(type="KEYFRAME")
    return action, slot, strip.channelbag(slot, ensure=True)


def add_slot(action: Any, owner_type: str, slot_name: str) -> tuple[Any, Any]:
    """Add a slot to an action of `new_action` (4.4 and later). Returns the slot and its channelbag."""
    slot = action.slots.new(owner_type, slot_name)
    return slot, action.layers[0].strips[0].channelbag(slot, ensure=True)


def curve_maker(action: Any, bag: Any) -> MakeCurve:
    """Return a function (data path, index, group name) that adds an F-curve to a new action and returns it."""
    if _GROUP_BY_NAME:
        return lambda path, index, group: bag.fcurves.new(path, index=index, group_name=group)
    if SLOTTED and len(action.slots) > 1:
        return lambda path, index, group: _new_in_group(bag, path, index, group)
    # 4.4 and 4.5 take a group name only in the legacy API, which uses the first slot.
    return lambda path, index, group: action.fcurves.new(path, index=index, action_group=group)


def _new_in_group(bag: Any, path: str, index: int, group: str) -> Any:
    curve = bag.fcurves.new(path, index=index)
    curve.group = bag.groups.get(group) or bag.groups.new(group)
    return curve


def curve_bag(action: Any, slot: Any = None) -> Any:
    """Return the container of the F-curves of a slot (by default the first slot), or None if there is none.

    The strip is asked with a function call: access to a bag of ``channelbags[i]`` makes every operation on keys three
    times as slow.
    """
    if not SLOTTED:
        return action
    chosen = slot if slot is not None else next(iter(action.slots), None)
    if chosen is None or not len(action.layers) or not len(action.layers[0].strips):
        return None
    return action.layers[0].strips[0].channelbag(chosen)


def curves_of(action: bpy.types.Action | None, owner: Any) -> list[bpy.types.FCurve]:
    """Return the F-curves that ``action`` has for ``owner``, in its suitable slot; empty without an action."""
    bag = curve_bag(action, suitable_slot(action, owner)) if action is not None else None
    return list(bag.fcurves) if bag is not None else []


def is_muted(curve: bpy.types.FCurve) -> bool:
    """Whether an F-curve is not played because it is muted. Before 4.4 also if its group is muted; later versions play
    curves of muted groups.
    """
    return bool(curve.mute or (not SLOTTED and curve.group is not None and curve.group.mute))


def muted_by_groups(bag: Any, curves: list[bpy.types.FCurve]) -> list[bool]:
    """Return (curves,) whether each F-curve of a bag is muted by its group, by the rule of `is_muted`."""
    if SLOTTED or not any(group.mute for group in bag.groups):
        return [False] * len(curves)
    return [curve.group is not None and curve.group.mute for curve in curves]


def is_played(curve: bpy.types.FCurve) -> bool:
    """Whether Blender plays an F-curve: it is not muted and has keys, samples or a generator."""
    return not curve.is_empty and not is_muted(curve)


def all_curve_bags(action: Any) -> list[Any]:
    """Return the containers of all F-curves of an action: the channelbag of each slot, before 4.4 the action itself."""
    if not SLOTTED:
        return [action]
    bags = (curve_bag(action, slot) for slot in action.slots)
    return [bag for bag in bags if bag is not None]


def clear_curves(bag: Any) -> None:
    """Remove all F-curves and groups of a bag."""
    bag.fcurves.clear()
    for group in list(bag.groups):
        bag.groups.remove(group)


def suitable_slot(action: Any, owner: Object) -> Any:
    """Return the slot of ``action`` to use for ``owner``: the assigned slot, else one with the owner's name, else the
    first of the owner's type. None before 4.4, or if no slot has that type.

    Among these, slots with F-curves come first, so that keys are found even if an empty slot was assigned by mistake.
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
    """Whether an action has more than one slot and so can animate several data-blocks, each with its own F-curves."""
    return SLOTTED and len(action.slots) > 1


def used_slot(action: Action, owner: Object) -> Any:
    """Return the slot with which ``owner`` plays ``action``; None if it does not play it, and before 4.4."""
    data = owner.animation_data
    return data.action_slot if SLOTTED and data is not None and data.action == action else None


def _has_curves(action: Action, slot: Any) -> bool:
    bag = curve_bag(action, slot)
    return bag is not None and len(bag.fcurves) > 0


def assign(owner: Object, action: Action | None, slot: Any = None) -> None:
    """Assign ``action`` with ``slot`` (by default the suitable one) to ``owner``; with None, unassign its action."""
    data = owner.animation_data or owner.animation_data_create()
    data.action = action
    if SLOTTED and action is not None:
        data.action_slot = slot if slot is not None else suitable_slot(action, owner)


def slot_name(owner: Object) -> str:
    """Return the name for new slots of ``owner``, chosen so that every action the user picks plays: that of the slot it
    used last, else the name of the owner.
    """
    data = owner.animation_data
    if SLOTTED and data is not None and data.last_slot_identifier:
        return str(data.last_slot_identifier[2:])
    return str(owner.name)


def set_corner_normals(mesh: Mesh, normals: NDArray[np.float32]) -> None:
    """Set custom normals (corners, 3) of a mesh whose topology is final and which is shaded smooth.

    Exact since 4.5. Earlier versions store them as 16-bit angles (errors up to 0.003 degrees).
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
    """Add a driver for whether a bone is hidden in pose mode: on the pose bone since 5.0, before that on the armature's
    bone.
    """
    owner = rig.pose.bones[bone] if bpy.app.version >= (5, 0) else rig.data.bones[bone]
    return owner.driver_add("hide").driver


def is_hiding(curve: Any) -> bool:
    """Whether the F-curve of a driver controls whether a bone is hidden."""
    return bool(curve.data_path.endswith("].hide"))


def is_hidden(rig: Object, bone: Any) -> bool:
    """Whether a bone of ``rig`` is hidden in pose mode by `hiding_driver` or by the user."""
    return bool((rig.pose.bones[bone.name] if bpy.app.version >= (5, 0) else bone).hide)


def select(rig: Object, names: Sequence[str]) -> None:
    """Select only these bones of ``rig`` in pose mode and make the first one active."""
    for bone in rig.data.bones:
        owner: Any = rig.pose.bones[bone.name] if _POSES_SELECTED else bone
        owner.select = bone.name in names
    if names:
        rig.data.bones.active = rig.data.bones[names[0]]


def is_selected(rig: Object, bone: Any) -> bool:
    """Whether a bone of ``rig`` is selected in pose mode. Since 5.0 pose bones have their own selection."""
    pose = rig.pose.bones[bone.name]
    return bool(pose.select if _POSES_SELECTED else bone.select)


def set_group_input(modifier: Any, identifier: str, value: Object | bpy.types.Collection) -> None:
    """Set an input of a geometry nodes modifier by its identifier. Since 5.2 inputs are typed properties."""
    if _GROUP_INPUTS_TYPED:
        getattr(modifier.properties.inputs, identifier).value = value
    else:
        modifier[identifier] = value


def face_layers(edited: bmesh.types.BMesh, kind: str) -> Any:
    """Return the face layers of a type (``int``, ``float``, ``bool``) of a `bmesh.types.BMesh`.

    None for ``bool`` in 4.2, which has no boolean layers in edit mode.
    """
    return getattr(edited.faces.layers, kind, None)


def keep_out_of_lamps(material: Any) -> None:
    """Let Cycles, if it is enabled, not count the triangles of a glowing material among the lamps of the scene."""
    if hasattr(material, "cycles"):
        material.cycles.emission_sampling = "NONE"
