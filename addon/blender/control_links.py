"""Which control rig moves an armature, and which action of it belongs to which of the armature's.

A control rig is an armature object of its own, a child of the game's. The game's bones copy bones of it, so the links
are constraints, which Blender itself keeps right when objects are copied, appended, renamed or undone. An action of the
game's armature points at the action that moves its controls.

An armature that was duplicated alone follows the control rig of the original, which obeys its parent only
(`owns_controls`). A copied action points at the controls of the original: whoever edits them gets its own copy first.
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

NAME = "Motionbridge Control"
"""Name of the constraint by which a bone of the game copies a bone of its control rig."""
SOLVER, SWITCH, POINTER = "Motionbridge IK", "Motionbridge Solved", "Motionbridge Pole"
LOOKER = "Motionbridge Look"
"""Names of constraints inside a control rig: what solves a limb, by what a target copies it, what turns to a pole; what
lets a head look.
"""
HOLD = "Motionbridge Hold "
"""What names of constraints begin with by which a goal follows a bone of the game, before that bone's name. An action
without keys of their influence does not use them.
"""


ROLE = "motionbridge_role"
"""Custom property of the bones of a control rig: what they are for."""
SWITCHES = {"ik": 1.0, "look": 0.0, "twist": 1.0}
"""Custom properties of goals, of what heads look at and of controls of twist bones, and what they are at first."""
RESTING = "motionbridge_resting"
"""Custom property of these bones: what their switch is without keys, while keys set it."""


def is_link(constraint: bpy.types.Constraint) -> bool:
    """Whether a constraint of a bone of the game copies a control rig."""
    return bool(constraint.type == "COPY_TRANSFORMS" and constraint.name.startswith(NAME))


def links_of(rig: Object) -> dict[str, bpy.types.CopyTransformsConstraint]:
    """The constraint of each bone that copies a control rig."""
    found = {}
    for bone in rig.pose.bones if rig.pose is not None else ():
        link = next(filter(is_link, bone.constraints), None)
        if link is not None:
            found[bone.name] = link
    return found


def controls_of(rig: Object | None) -> Any:
    """The control rig that moves an armature object, its own or another's, or None."""
    for bone in rig.pose.bones if rig is not None and rig.pose is not None else ():
        for constraint in bone.constraints:
            if is_link(constraint) and constraint.target is not None:
                return constraint.target
    return None


def is_control_rig(shown: Object | None) -> TypeGuard[Object]:
    """Whether an object is a control rig."""
    return shown is not None and shown.type == "ARMATURE" and bool(shown.motionbridge_is_control_rig)


def moved_by(shown: Object | None) -> Object | None:
    """The armature of the game that a control rig moves; other objects are given back."""
    return shown.parent if is_control_rig(shown) and shown.parent is not None else shown


def owns_controls(rig: Object) -> bool:
    """Whether an armature has a control rig that no other owns."""
    controls = controls_of(rig)
    return controls is not None and controls.parent == rig


def control_action(rig: Object, action: Action | None) -> Action | None:
    """The action of the controls that belongs to ``action`` of ``rig``, or None.

    Blender copies what an armature and its control rig play when it duplicates both: what the control rig plays and no
    action points at is then that of what the armature plays.
    """
    if action is None:
        return None
    pointed = action.motionbridge_controls
    controls = controls_of(rig)
    data = controls.animation_data if controls is not None and controls.parent == rig else None
    own = rig.animation_data
    if data is None or data.action in {None, pointed} or own is None or own.action != action:
        return pointed
    shown = data.action
    is_copy = bool(shown.motionbridge_controls_digest) and not users_of(shown)
    return shown if is_copy and pointed is not None else pointed


def draw_lightly(rig: Object) -> None:
    """Draw the game's bones as wires, behind meshes: controls are what is posed. `draw_as_before` takes it back."""
    if not rig.motionbridge_drawn_before:  # of controls that were deleted by hand it is still there
        rig.motionbridge_drawn_before = f"{rig.display_type} {'FRONT' if rig.show_in_front else ''}"
    rig.display_type, rig.show_in_front = "WIRE", False


def draw_as_before(rig: Any) -> None:
    """Draw the game's bones as before `draw_lightly`, where the user has not chosen something else since."""
    kind, _, front = rig.motionbridge_drawn_before.partition(" ")
    if kind and rig.display_type == "WIRE" and not rig.show_in_front:
        rig.display_type, rig.show_in_front = kind, bool(front)
    rig.property_unset("motionbridge_drawn_before")


def is_shown(rig: Object) -> bool:
    """Whether the control rig of an armature plays what belongs to the action that the armature plays."""
    own, theirs = rig.animation_data, controls_of(rig).animation_data
    mine = control_action(rig, own.action) if own is not None else None
    return mine is not None and theirs is not None and theirs.action == mine


def users_of(controls: Action) -> list[Action]:
    """The actions of armatures that point at an action of controls."""
    every: Any = bpy.data.actions
    return [action for action in every if action.motionbridge_controls == controls]


def holds_of(goal: PoseBone) -> list[bpy.types.ArmatureConstraint]:
    """The constraints by which a goal follows bones of the game, each on some frames of some actions."""
    return [one for one in goal.constraints if one.type == "ARMATURE" and one.name.startswith(HOLD)]


def hold_path(hold: bpy.types.Constraint) -> str:
    """The data path of how far a goal follows by one of its constraints, 0 or 1."""
    return str(hold.path_from_id("influence"))


def let_go(controls: Object, action: Action | None) -> dict[bpy.types.ArmatureConstraint, float]:
    """Goals follow nothing that ``action`` has no key of. Gives the constraints that did, and their influence.

    Blender leaves what an action has no keys of as the action before it left it.
    """
    held = [hold for goal in controls.pose.bones for hold in holds_of(goal) if hold.influence]
    if not held:
        return {}
    keyed = {curve.data_path for curve in compat.curves_of(action, controls)} if action is not None else set()
    found = {hold: hold.influence for hold in held if hold_path(hold) not in keyed}
    for hold in found:
        hold.influence = 0.0
    return found


@contextmanager
def holding(controls: Object, action: Action | None) -> Iterator[None]:
    """Goals follow what ``action`` says inside, and what they followed before afterwards."""
    found = let_go(controls, action)
    try:
        yield
    finally:
        for hold, influence in found.items():
            hold.influence = influence


def rest_switches(controls: Object, before: Action | None, action: Action | None) -> dict[tuple[PoseBone, str], float]:
    """Switches that ``action`` has no key of are as they were before the keys of the action ``before`` set them.

    Gives all switches, and what they were. Blender leaves them as the keys left them.
    """
    was, now = ({curve.data_path for curve in _curves(one, controls)} for one in (before, action))
    found = {}
    for bone in controls.pose.bones:
        for name in (name for name in SWITCHES if name in bone):
            found[bone, name] = bone[name]
            path = f'{bone.path_from_id()}["{name}"]'
            if path in now and path not in was:
                bone[RESTING] = bone[name]
            elif path in was and path not in now:
                bone[name] = bone.get(RESTING, SWITCHES[name])
    controls.update_tag()
    return found


def _curves(action: Action | None, controls: Object) -> list[bpy.types.FCurve]:
    return list(compat.curves_of(action, controls)) if action is not None else []


@contextmanager
def following(rig: Object, action: Action | None) -> Iterator[None]:
    """The controls of ``rig`` play what belongs to ``action`` inside; where nothing does, its bones do not copy them.

    All is as before afterwards.
    """
    controls = controls_of(rig)
    if controls is None or action is None:
        yield
        return
    wanted = control_action(rig, action)
    if wanted is None:
        with loose(rig):
            yield
        return
    data = controls.animation_data
    before = data.action if data is not None else None
    slot = data.action_slot if data is not None and compat.SLOTTED else None
    switches = {}
    if before != wanted:
        switches = rest_switches(controls, before, wanted)
        compat.assign(controls, wanted)
    try:
        with holding(controls, wanted):
            yield
    finally:
        if before != wanted:
            compat.assign(controls, before, slot)
        for (bone, name), value in switches.items():
            bone[name] = value


@contextmanager
def loose(rig: Object) -> Iterator[None]:
    """The bones of ``rig`` do not copy a control rig inside."""
    muted = [link for link in links_of(rig).values() if not link.mute]
    for link in muted:
        link.mute = True
    try:
        yield
    finally:
        for link in muted:
            link.mute = False


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
    },
)
"""On a control rig that it is one; on an armature with one how it was drawn before; on an action the action of its
controls; on that a digest of how it was made.
"""
