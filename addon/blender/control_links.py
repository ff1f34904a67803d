"""Links between an armature and its control rig, and between an action and the action of its controls.

A control rig is an armature object of its own, a child of the game's armature. The game's bones copy its bones with
constraints, which Blender keeps correct when objects are copied, appended, renamed or undone. An action of the game's
armature points at the action that animates its controls.

An armature that was duplicated alone still follows the control rig of the original, which belongs to its parent only
(`owns_controls`). A copied action points at the controls action of the original, so it gets its own copy before that
is edited.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeGuard

import bpy
from bpy.props import BoolProperty, PointerProperty, StringProperty

from . import compat
from .properties import AddedProperties

if TYPE_CHECKING:
    from .typed import Action, Object, PoseBone

OWN = "Motionbridge "
"""Prefix of the names of all constraints that belong to a control rig."""
NAME = "Motionbridge Control"
"""Name of the constraint by which a bone of the game copies a bone of its control rig."""
SOLVER, SWITCH, POINTER = "Motionbridge IK", "Motionbridge Solved", "Motionbridge Pole"
"""Names of constraints in a control rig: the IK of a limb; the one by which a target copies the solved limb or neck;
the one that turns a swing bone towards the pole.
"""
AIM, JOINT, FOLLOW = "Motionbridge Aim", "Motionbridge Joint", "Motionbridge Follow"
"""Names of others: the one that aims a swing bone at its goal; the one by which a target keeps the joint of a bone that
is solved; those by which a bone takes part in the rotation of another.
"""
LINE = "Motionbridge Line"
"""Name of the constraint by which the line of a pole ends at the joint."""
LOOK_AT = "Motionbridge Look"
"""Name of the constraint by which a control of a neck or head aims at what the head looks at."""
HOLD = "Motionbridge Hold "
"""Prefix of the names of constraints by which an IK goal follows a bone of the game; that bone's name comes after it.

If an action has no keys for the influence of such a constraint, it does not use it.
"""


ROLE = "motionbridge_role"
"""Custom property of control rig bones: their `core.control_rig.Role`."""
BONE = "motionbridge_bone"
"""Custom property of control rig bones: name of the bone of the game that they belong to."""
SWITCHES = {"ik": 1.0, "look": 0.0, "twist": 1.0}
"""Custom properties (switches) of IK goals, of look-at targets and of controls of twist bones, with their first values.
"""
RESTING = "motionbridge_resting"
"""Custom property of these bones: the value of their switch without keys, stored while keys set it."""


def is_link(constraint: bpy.types.Constraint) -> bool:
    """Whether a constraint of a bone of the game copies a bone of a control rig."""
    return bool(constraint.type == "COPY_TRANSFORMS" and constraint.name.startswith(NAME))


def links_of(rig: Object) -> dict[str, bpy.types.CopyTransformsConstraint]:
    """Return bone name -> the constraint by which the bone copies a control rig."""
    links = {}
    for bone in rig.pose.bones if rig.pose is not None else ():
        link = next(filter(is_link, bone.constraints), None)
        if link is not None:
            links[bone.name] = link
    return links


def controls_of(rig: Object | None) -> Any:
    """Return the control rig that an armature object follows, its own or that of another; None if there is none."""
    for bone in rig.pose.bones if rig is not None and rig.pose is not None else ():
        for constraint in bone.constraints:
            if is_link(constraint) and constraint.target is not None:
                return constraint.target
    return None


def is_control_rig(obj: Object | None) -> TypeGuard[Object]:
    """Whether an object is a control rig."""
    return obj is not None and obj.type == "ARMATURE" and bool(obj.motionbridge_is_control_rig)


def moved_by(obj: Object | None) -> Object | None:
    """Return the game's armature that a control rig animates; other objects are returned unchanged."""
    return obj.parent if is_control_rig(obj) and obj.parent is not None else obj


def owns_controls(rig: Object) -> bool:
    """Whether the control rig that an armature follows is its own."""
    controls = controls_of(rig)
    return controls is not None and controls.parent == rig


def control_action(rig: Object, action: Action | None) -> Action | None:
    """Return the action of the controls that belongs to ``action`` of ``rig``, or None.

    When Blender duplicates an armature and its control rig together, it also copies the actions that both play. So if
    the control rig plays a copy that no action points at, this copy belongs to the action that the armature plays.
    """
    if action is None:
        return None
    pointed = action.motionbridge_controls
    controls = controls_of(rig)
    data = controls.animation_data if controls is not None and controls.parent == rig else None
    own = rig.animation_data
    if data is None or data.action in {None, pointed} or own is None or own.action != action:
        return pointed
    current = data.action
    is_copy = bool(current.motionbridge_controls_digest) and not users_of(current)
    return current if is_copy and pointed is not None else pointed


def draw_as_wires(rig: Object) -> None:
    """Draw the game's bones as wires, not in front, so that the controls stand out. `restore_drawing` reverts it."""
    if not rig.motionbridge_drawn_before:  # still set if the user deleted the controls by hand
        rig.motionbridge_drawn_before = f"{rig.display_type} {'FRONT' if rig.show_in_front else ''}"
    rig.display_type, rig.show_in_front = "WIRE", False


def restore_drawing(rig: Any) -> None:
    """Draw the game's bones as before `draw_as_wires`, unless the user has changed the settings since."""
    kind, _, front = rig.motionbridge_drawn_before.partition(" ")
    if kind and rig.display_type == "WIRE" and not rig.show_in_front:
        rig.display_type, rig.show_in_front = kind, bool(front)
    rig.property_unset("motionbridge_drawn_before")


def users_of(controls: Action) -> list[Action]:
    """Return the actions of armatures that point at an action of controls."""
    every: Any = bpy.data.actions
    return [action for action in every if action.motionbridge_controls == controls]


def remove_action(action: Action) -> None:
    """Delete an action, and that of its controls unless it is used elsewhere."""
    controls = action.motionbridge_controls
    bpy.data.actions.remove(action)
    if controls is not None and not users_of(controls):
        bpy.data.actions.remove(controls)


def holds_of(goal: PoseBone) -> list[bpy.types.ArmatureConstraint]:
    """Return the Hold Bone constraints of an IK goal; each is active on some frames of some actions."""
    return [
        constraint
        for constraint in goal.constraints
        if constraint.type == "ARMATURE" and constraint.name.startswith(HOLD)
    ]


def hold_path(hold: bpy.types.Constraint) -> str:
    """Return the data path of the influence (0 or 1) of a Hold Bone constraint."""
    return str(hold.path_from_id("influence"))


def mute_unkeyed_holds(controls: Object, action: Action | None) -> dict[bpy.types.ArmatureConstraint, float]:
    """Set the influence of Hold Bone constraints without keys in ``action`` to 0; return the changed ones with the old
    value.

    Blender leaves what an action has no keys for at the values of the previous action.
    """
    held = [hold for goal in controls.pose.bones for hold in holds_of(goal) if hold.influence]
    if not held:
        return {}
    keyed = {curve.data_path for curve in compat.curves_of(action, controls)} if action is not None else set()
    result = {hold: hold.influence for hold in held if hold_path(hold) not in keyed}
    for hold in result:
        hold.influence = 0.0
    return result


@contextmanager
def unkeyed_holds_muted(controls: Object, action: Action | None) -> Iterator[None]:
    """Use only the Hold Bone constraints that ``action`` has keys for; the influence of the others is restored
    afterwards.
    """
    muted = mute_unkeyed_holds(controls, action)
    try:
        yield
    finally:
        for hold, influence in muted.items():
            hold.influence = influence


def reset_unkeyed_switches(
    controls: Object, before: Action | None, action: Action | None
) -> dict[tuple[PoseBone, str], float]:
    """Reset switches that the action ``before`` has keys for and ``action`` has not to their values without keys.

    Blender would leave them at the values that the keys set. Returns all switches with their values before the call.
    """
    was, now = ({curve.data_path for curve in _curves(user, controls)} for user in (before, action))
    result = {}
    for bone in controls.pose.bones:
        for name in (name for name in SWITCHES if name in bone):
            result[bone, name] = bone[name]
            path = f'{bone.path_from_id()}["{name}"]'
            if path in now and path not in was:
                bone[RESTING] = bone[name]
            elif path in was and path not in now:
                bone[name] = bone.get(RESTING, SWITCHES[name])
    controls.update_tag()
    return result


def _curves(action: Action | None, controls: Object) -> list[bpy.types.FCurve]:
    return list(compat.curves_of(action, controls)) if action is not None else []


@contextmanager
def following(rig: Object, action: Action | None) -> Iterator[None]:
    """Let the controls of ``rig`` play what belongs to ``action``; if nothing does, let its bones not copy the
    controls.

    Everything is restored afterwards.
    """
    controls = controls_of(rig)
    if controls is None or action is None:
        yield
        return
    wanted = control_action(rig, action)
    if wanted is None:
        with links_muted(rig):
            yield
        return
    data = controls.animation_data
    before = data.action if data is not None else None
    slot = data.action_slot if data is not None and compat.SLOTTED else None
    switches = {}
    if before != wanted:
        switches = reset_unkeyed_switches(controls, before, wanted)
        compat.assign(controls, wanted)
    try:
        with unkeyed_holds_muted(controls, wanted):
            yield
    finally:
        if before != wanted:
            compat.assign(controls, before, slot)
        for (bone, name), value in switches.items():
            bone[name] = value


@contextmanager
def links_muted(rig: Object) -> Iterator[None]:
    """Mute the constraints by which the bones of ``rig`` copy a control rig; they are restored afterwards."""
    muted = [link for link in links_of(rig).values() if not link.mute]
    for link in muted:
        link.mute = True
    try:
        yield
    finally:
        for link in muted:
            link.mute = False


def redirect_references(mine: Any, theirs: Any) -> None:
    """Change references to the original in constraints and drivers of the copy ``mine`` to the copy."""
    for owner, name in references_of(mine):
        if getattr(owner, name) == theirs:
            setattr(owner, name, mine)


def references_of(controls: Any) -> Iterator[tuple[Any, str]]:
    """Yield all references of drivers and bone constraints to objects or other data: their owner and property name."""
    animated = [owner.animation_data for owner in (controls, controls.data) if owner.animation_data is not None]
    for variable in (variable for data in animated for curve in data.drivers for variable in curve.driver.variables):
        for target in variable.targets:
            yield target, "id"
    for constraint in (constraint for bone in controls.pose.bones for constraint in bone.constraints):
        yield from ((constraint, name) for name in ("target", "pole_target") if getattr(constraint, name, None))
        yield from ((target, "target") for target in getattr(constraint, "targets", ()))


ADDED = AddedProperties(
    (),
    {
        (bpy.types.Object, "motionbridge_is_control_rig"): BoolProperty(name="Is Control Rig", options={"HIDDEN"}),
        (bpy.types.Object, "motionbridge_drawn_before"): StringProperty(name="Drawn Before", options={"HIDDEN"}),
        (bpy.types.Action, "motionbridge_controls"): PointerProperty(
            name="Controls", type=bpy.types.Action, options={"HIDDEN"}
        ),
        (bpy.types.Action, "motionbridge_controls_digest"): StringProperty(
            name="Controls as Transferred", options={"HIDDEN"}
        ),
        (bpy.types.Action, "motionbridge_shown_keys"): StringProperty(name="Keys as Saved", options={"HIDDEN"}),
    },
)
"""Whether an armature is a control rig; how an armature was drawn before it got one; the action of an action's
controls; on that action a digest of how it was created; a digest of an action's keys when it was saved as it was shown
(`sampling.Movers.is_as_saved`).
"""
