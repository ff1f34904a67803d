"""Control rigs: creating one for an armature of a game, its bones and switches, removing it.

`core.control_rig` plans the bones; this module makes bones and constraints in Blender, `control_transfer` the keys. The
controls are an armature of their own: the game's rest pose stays, and exports do not see their bones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ..core import names
from ..core.body import Part, Side, part_of, side_of
from ..core.control_poses import Controls
from ..core.control_rig import BETWEEN, HIDDEN, NEUTRAL, ControlPlan, Role, plan
from ..core.errors import WriteError
from ..core.report import say
from . import compat, nla, scope
from .armature import drop_unused_shapes, matrices_of, remember_names, show_controls
from .bone_curves import bone_path
from .control_links import (
    AIM,
    BONE,
    FOLLOW,
    JOINT,
    LINE,
    LOOK_AT,
    NAME,
    POINTER,
    ROLE,
    SOLVER,
    SWITCH,
    controls_of,
    draw_as_wires,
    links_of,
    owns_controls,
    redirect_references,
    restore_drawing,
)

if TYPE_CHECKING:
    from .typed import Action, Context, Object, PoseBone

Floats = NDArray[np.float64]

PROPERTIES = {Role.GOAL: "ik", Role.LOOK: "look", Role.FREE: "twist"}
"""Switches: custom properties of IK goals and look-at targets (0: bones follow their own controls, 1: they follow this
one), and of controls of twist bones (0: bones show their keys, 1: they also follow the twist of the joint behind them).
"""
MECHANISM = "Mechanism"
"""Bone collection of the bones that the user does not pose."""
ITERATIONS = 100
_ROLES = {role.value: role for role in Role}


def add(context: Context, rig: Object, *, is_following: bool = True) -> Object:
    """Add a control rig, still without motions, to an armature object. Raises `WriteError` if it has no bones.

    ``is_following``: initial value of the switches of twist bones.
    """
    if not len(rig.data.bones):
        raise WriteError(say("{!r} has no bones", rig.name), remedy="Choose an armature with bones")
    bones = rig.data.bones
    index = {bone.name: number for number, bone in enumerate(bones)}
    parents = [index[bone.parent.name] if bone.parent is not None else -1 for bone in bones]
    lengths = np.empty(len(bones), np.float32)
    bones.foreach_get("length", lengths)
    planned = plan(list(index), parents, matrices_of(bones, "matrix_local"), lengths.astype(np.float64))
    controls, given = _build_armature(context, rig, planned)
    _add_solvers(controls, planned, given)
    _add_turns(controls, planned, given)
    _add_twists(controls, planned, given, is_following=is_following)
    for name, target in zip(index, planned.targets, strict=True):
        link = rig.pose.bones[name].constraints.new("COPY_TRANSFORMS")
        link.name = NAME
        link.target, link.subtarget = controls, given[target]
        link.owner_space = link.target_space = "POSE"
    _set_display(controls, planned, given)
    _hide_unused(controls, planned, given)
    draw_as_wires(rig)
    return controls


def _build_armature(context: Context, rig: Object, planned: ControlPlan) -> tuple[Object, list[str]]:
    """Create the armature object and its bones, in the collections of ``rig``; return it and the bones' names."""
    armature = bpy.data.armatures.new(names.shortened(f"{rig.name} Controls", compat.DATA_NAME_LIMIT))
    controls: Any = bpy.data.objects.new(armature.name, armature)
    given: list[str] = []
    with scope.editing_armature(context, controls) as edit_bones:
        own_edit_bones: list[bpy.types.EditBone] = []
        for bone in planned.bones:
            edit_bone = edit_bones.new(bone.name)
            edit_bone.length = bone.length
            edit_bone.matrix = Matrix(bone.matrix.tolist())
            edit_bone.use_deform = False
            if bone.parent >= 0:
                edit_bone.parent = own_edit_bones[bone.parent]
            own_edit_bones.append(edit_bone)
            given.append(edit_bone.name)
    controls.motionbridge_is_control_rig = True
    remember_names(armature)
    labels = rig.data.bones.keys()
    for bone, name in zip(planned.bones, given, strict=True):
        controls.pose.bones[name].rotation_mode = "QUATERNION"
        control = controls.data.bones[name]
        control[ROLE] = bone.role.value
        if bone.bone >= 0:
            control[BONE] = labels[bone.bone]
    for collection in rig.users_collection:
        collection.objects.link(controls)
    controls.parent = rig
    controls.show_in_front = True
    return controls, given


def _add_solvers(controls: Object, planned: ControlPlan, given: list[str]) -> None:
    """Add constraints and switches of limbs and necks."""
    bones = controls.pose.bones
    for limb in planned.limbs:
        solver = bones[given[limb.chain[1]]].constraints.new("IK")
        solver.name = SOLVER
        solver.target = solver.pole_target = controls
        solver.subtarget, solver.pole_subtarget = given[limb.tip], given[limb.aside]
        solver.pole_angle = np.pi / 2  # the z axis of the upper bone
        solver.chain_count, solver.use_stretch, solver.iterations = 2, False, ITERATIONS
        swing = bones[given[limb.swing]].constraints
        towards = swing.new("DAMPED_TRACK")
        towards.name = AIM
        towards.target, towards.subtarget, towards.track_axis = controls, given[limb.tip], "TRACK_Y"
        turned = swing.new("LOCKED_TRACK")
        turned.name = POINTER
        turned.target, turned.subtarget = controls, given[limb.pole]
        turned.lock_axis, turned.track_axis = "LOCK_Y", "TRACK_X"
        line = bones[given[limb.line]].constraints.new("STRETCH_TO")
        line.name = LINE
        line.target, line.subtarget = controls, given[planned.targets[limb.bones[1]]]
        line.rest_length, line.volume, line.keep_axis = planned.bones[limb.line].length, "NO_VOLUME", "SWING_Y"
        switched = zip(limb.bones, (*limb.left_over, *limb.held), strict=True)
        _add_switch(controls, planned, given, limb.goal, dict(switched))
    for look in planned.looks:
        for number, aim in enumerate(look.aims):
            looker = bones[given[aim]].constraints.new("DAMPED_TRACK")
            looker.name = LOOK_AT
            looker.target, looker.subtarget, looker.track_axis = controls, given[look.target], "TRACK_Y"
            # So each of them takes an equal share of the rotation.
            looker.influence = 1.0 / (len(look.aims) - number)
        _add_switch(controls, planned, given, look.target, dict(zip(look.bones, look.left_over, strict=True)))


def _add_switch(controls: Object, planned: ControlPlan, given: list[str], index: int, solved: dict[int, int]) -> None:
    """Let the targets of bones copy what is ``solved`` for them, by the value of a property of the control at
    ``index``. ``solved``: index of the game's bone -> index of the control bone to copy.
    """
    bones, role = controls.pose.bones, planned.bones[index].role
    owner, name = bones[given[index]], PROPERTIES[role]
    owner[name] = float(role is Role.GOAL)
    meaning = "0: own keys, 1: follows the hand" if role is Role.FREE else "0: own controls, 1: this one"
    owner.id_properties_ui(name).update(min=0.0, max=1.0, description=meaning)
    for bone, goal in solved.items():
        # Copy Rotation works with Euler angles and loses precision at singularities; Copy Transforms is exact.
        joint = bones[given[goal]].constraints.new("COPY_LOCATION")
        joint.name = JOINT
        joint.target, joint.subtarget = controls, given[planned.frees[bone]]
        joint.owner_space = joint.target_space = "POSE"
        switch = bones[given[planned.targets[bone]]].constraints.new("COPY_TRANSFORMS")
        switch.name = SWITCH
        switch.target, switch.subtarget = controls, given[goal]
        switch.owner_space = switch.target_space = "POSE"
        driver = switch.driver_add("influence").driver
        driver.type = "AVERAGE"
        _add_switch_variable(driver, controls, owner.name, name)


def _add_switch_variable(driver: bpy.types.Driver, controls: Object, owner: str, name: str) -> None:
    """Add the switch of a control to a driver, as a variable called ``name``."""
    variable = driver.variables.new()
    variable.name = name
    variable.targets[0].id, variable.targets[0].data_path = controls, f'{bone_path(owner)}["{name}"]'


def _hide_unused(controls: Object, planned: ControlPlan, given: list[str]) -> None:
    """Add drivers that hide the circles of a limb that follows its goal, or else its goal, pole and line."""
    name = PROPERTIES[Role.GOAL]
    for limb in planned.limbs:
        own = [index for index in (limb.goal, limb.hock, limb.pole, limb.line) if index >= 0]
        hidden = dict.fromkeys(own, f"{name} <= 0")
        hidden |= dict.fromkeys((planned.frees[bone] for bone in limb.bones), f"{name} >= 1")
        for index, expression in hidden.items():
            driver = compat.hiding_driver(controls, given[index])
            _add_switch_variable(driver, controls, given[limb.goal], name)
            driver.type, driver.expression = "SCRIPTED", expression


def _add_turns(controls: Object, planned: ControlPlan, given: list[str]) -> None:
    """Add constraints to bones that bend or curl along with another control; lock the location of these controls."""
    bones = controls.pose.bones
    for rotation in planned.rotations:
        constraints = bones[given[rotation.bone]].constraints
        copied = constraints.new("COPY_ROTATION")
        copied.name = FOLLOW
        copied.target, copied.subtarget = controls, given[rotation.source]
        copied.owner_space = copied.target_space = "LOCAL"
        copied.influence = rotation.share
        if rotation.is_curl:
            copied.use_y = copied.use_z = False
            copied.mix_mode = "ADD" if len(constraints) > 1 else "REPLACE"
    for bone, name in zip(planned.bones, given, strict=True):
        bones[name].lock_location = (bone.role in NEUTRAL,) * 3
        bones[name].lock_rotation = (False, *(bone.role is Role.FIST,) * 2)


def _add_twists(controls: Object, planned: ControlPlan, given: list[str], *, is_following: bool) -> None:
    """Add drivers that rotate twist bones by a share of the twist of the joint behind them, and their switches."""
    bones = controls.pose.bones
    for twist in planned.twists:
        wrist = bones[given[twist.wrist]]
        if not len(wrist.constraints):
            copied = wrist.constraints.new("COPY_TRANSFORMS")
            copied.name = FOLLOW
            copied.target, copied.subtarget = controls, given[twist.grip]
            copied.owner_space = copied.target_space = "POSE"
        turned = bones[given[twist.turned]]
        turned.rotation_mode = "XYZ"
        driver = turned.driver_add("rotation_euler", 1).driver
        variable = driver.variables.new()
        variable.name, variable.type = "angle", "TRANSFORMS"
        source = variable.targets[0]
        source.id, source.bone_target, source.transform_space = controls, wrist.name, "LOCAL_SPACE"
        source.transform_type, source.rotation_mode = "ROT_Y", "SWING_TWIST_Y"
        driver.type, driver.expression = "SCRIPTED", f"angle * {twist.share!r}"
        free = planned.frees[twist.bone]
        _add_switch(controls, planned, given, free, {twist.bone: twist.left_over})
        bones[given[free]][PROPERTIES[Role.FREE]] = float(is_following)


def _set_display(controls: Object, planned: ControlPlan, given: list[str]) -> None:
    """Set shapes, colors and collections; hide the bones that the user does not pose."""
    show_controls(controls, planned, given)
    mechanism = controls.data.collections.new(MECHANISM)
    for bone, name in zip(planned.bones, given, strict=True):
        if bone.role in HIDDEN:
            mechanism.assign(controls.data.bones[name])
    mechanism.is_visible = False


def structure_of(rig: Object, controls: Object) -> Controls:
    """Return the bones of a control rig as arrays; ``rig`` is the armature that it animates."""
    bones = controls.data.bones
    index = {bone.name: number for number, bone in enumerate(bones)}
    parents = np.array([index[bone.parent.name] if bone.parent is not None else -1 for bone in bones], np.intp)
    roles = [_ROLES.get(bone.get(ROLE), Role.TARGET) for bone in bones]
    of, references = np.full(len(bones), -1, np.intp), np.arange(len(bones))
    numbers = {name: number for number, name in enumerate(rig.data.bones.keys())}
    for name, link in links_of(rig).items():
        target, bone = index.get(link.subtarget, -1), numbers[name]
        if target < 0:
            continue
        of[target] = bone
        free = _parent_of_role(parents, roles, target, Role.FREE)
        if free >= 0:
            of[free], references[free] = bone, target
            torso = _parent_of_role(parents, roles, free, Role.TORSO)
            # The spine is also a child of it, but comes after the pelvis.
            if torso >= 0 and of[torso] < 0:
                of[torso], references[torso] = bone, target
        switch = controls.pose.bones[target].constraints.get(SWITCH)
        own_goal = index.get(switch.subtarget, -1) if switch is not None else -1
        if own_goal < 0:
            continue
        of[own_goal] = bone
        above = _parent_of_role(parents, roles, own_goal, Role.CHAIN, Role.GOAL, Role.HOCK, Role.AIM)
        if above >= 0:
            is_held = roles[above] in {Role.GOAL, Role.HOCK}
            of[above], references[above] = bone, own_goal if is_held else target
    limbs, looks = [], []
    for number, bone in enumerate(controls.pose.bones):
        looker = bone.constraints.get(LOOK_AT)
        looked_at = index.get(looker.subtarget, -1) if looker is not None else -1
        if looked_at >= 0:
            looks.append((number, looked_at))
        limb = _limb_of(bone, number, index, (parents, roles))
        if limb is None:
            continue
        limbs.append(limb[:5])
        upper, _, goal, pole, tip, swing = limb
        for other in (pole, swing):
            of[other], references[other] = of[upper], references[upper]
        if tip != goal:
            hock = _parent_of_role(parents, roles, tip, Role.HOCK)
            of[tip], references[tip] = of[hock], references[hock]
    rest = matrices_of(bones, "matrix_local")
    looks.sort(key=lambda look: len(bones[look[0]].parent_recursive))
    indices = np.array(limbs, np.intp).reshape(-1, 5), np.array(looks, np.intp).reshape(-1, 2)
    return Controls(roles, parents, rest, of, references, *indices)


def _limb_of(
    lower: PoseBone, row: int, index: dict[str, int], structure: tuple[NDArray[np.intp], list[Role]]
) -> tuple[int, int, int, int, int, int] | None:
    """Return the rows of a limb: upper and lower bone, goal, pole, what the solver follows, swing bone; None if the
    bone does not have a limb's solver. ``structure``: the controls' parents and roles.
    """
    solver = lower.constraints.get(SOLVER)
    side = index.get(solver.pole_subtarget, -1) if solver is not None else -1
    swing = _parent_of_role(*structure, side, Role.SWING) if side >= 0 else -1
    if swing < 0:
        return None
    pointer = lower.id_data.pose.bones[swing].constraints.get(POINTER)
    pole = index.get(pointer.subtarget, -1) if pointer is not None else -1
    upper, goal = _parent_of_role(*structure, row, Role.CHAIN), index.get(solver.subtarget, -1)
    tip = goal
    if goal >= 0 and structure[1][goal] is Role.TIP:
        hock = _parent_of_role(*structure, tip, Role.HOCK)
        goal = _parent_of_role(*structure, hock, Role.GOAL) if hock >= 0 else -1
    # If the user deleted some of them, the rest is still exact.
    return (upper, row, goal, pole, tip, swing) if min(upper, goal, pole) >= 0 else None


def _parent_of_role(parents: NDArray[np.intp], roles: list[Role], row: int, *wanted: Role) -> int:
    """Return the nearest ancestor of a control that is not of a role in `BETWEEN`; -1 if its role is not ``wanted``."""
    above = int(parents[row])
    while above >= 0 and roles[above] in BETWEEN:
        above = int(parents[above])
    return above if above >= 0 and roles[above] in wanted else -1


def goals_of(controls: Object) -> list[PoseBone]:
    """Return the IK goals of a control rig, which have the switches of its limbs."""
    return _of_role(controls, Role.GOAL)


def looks_of(controls: Object) -> list[PoseBone]:
    """Return the look-at targets of a control rig, which have the switches of necks and heads."""
    return _of_role(controls, Role.LOOK)


def twists_of(controls: Object) -> list[PoseBone]:
    """Return the controls of a control rig's twist bones that have a switch."""
    return [bone for bone in _of_role(controls, Role.FREE) if bone.get(PROPERTIES[Role.FREE]) is not None]


def _of_role(controls: Object, role: Role) -> list[PoseBone]:
    bones = controls.pose.bones
    return [bones[bone.name] for bone in controls.data.bones if bone.get(ROLE) == role.value]


def switch_of(owner: PoseBone) -> str:
    """Return the name of the switch property of an IK goal, a look-at target or a twist bone's control."""
    return PROPERTIES[_ROLES[owner.bone[ROLE]]]


def limb_of(owner: PoseBone) -> str:
    """Return which part of the body an IK goal or look-at target switches: ``Left Arm``, ``Right Leg``, ``Head``; the
    name of the control if its bone does not say.
    """
    bone = str(owner.bone.get(BONE, ""))
    part, side = part_of(bone), side_of(bone)
    if owner.bone[ROLE] == Role.LOOK.value:
        return Part.HEAD.value
    part = Part.ARM if part is Part.HAND else part  # the goal of a paw is that of a finger
    return f"{side.value} {part.value}" if part in {Part.ARM, Part.LEG} and side is not Side.NONE else owner.name


def hand_over(context: Context, rig: Object, controls: Object) -> None:
    """Make the controls current instead of the armature that they move, in the same mode, with what belongs to the
    selected bones selected.
    """
    layer = context.view_layer
    is_posed = context.mode == "POSE"
    selected = {bone.name for bone in rig.data.bones if is_posed and compat.is_selected(rig, bone)}
    if context.mode != "OBJECT":
        scope.set_mode("OBJECT")
    rig.select_set(False)
    controls.select_set(True)
    layer.objects.active = controls
    if not is_posed:
        return
    scope.set_mode("POSE")
    layer.update()  # hides what limbs do not follow
    of_selected = (
        bone
        for bone in controls.data.bones
        if bone.get(BONE) in selected and _ROLES[bone[ROLE]] in {Role.FREE, Role.GOAL}
    )
    compat.select(controls, [bone.name for bone in of_selected if not compat.is_hidden(controls, bone)])


def hand_back(context: Context, rig: Object, names: Sequence[str], *, is_posed: bool) -> None:
    """Make an armature whose controls were removed current, in pose mode with these bones selected if ``is_posed``."""
    scope.make_current(context, [rig], rig)
    if is_posed:
        scope.set_mode("POSE")
        compat.select(rig, names)


def bones_of_selected(rig: Object, controls: Object) -> list[str]:
    """Return the bones of the game that the selected controls belong to."""
    chosen = (bone.get(BONE) for bone in controls.data.bones if compat.is_selected(controls, bone))
    return [name for name in dict.fromkeys(chosen) if name in rig.data.bones]


@contextmanager
def switched_off(controls: Object) -> Iterator[None]:
    """Let the bones of limbs and necks follow their own controls; the switches are restored afterwards."""
    switched = [bone for bone in (*goals_of(controls), *looks_of(controls)) if bone.get(switch_of(bone))]
    before = {bone: bone[switch_of(bone)] for bone in switched}
    for bone in before:
        bone[switch_of(bone)] = 0.0
    controls.update_tag()
    try:
        yield
    finally:
        for bone, value in before.items():
            bone[switch_of(bone)] = value
        controls.update_tag()


# Copies and removal --------------------------------------------------------------------------------------------------


def own_controls(context: Context, rig: Object) -> None:
    """Give an armature that follows the control rig of another a copy of it."""
    theirs = controls_of(rig)
    if theirs is None or owns_controls(rig):
        return
    mine = theirs.copy()
    mine.data = theirs.data.copy()
    mine.parent = rig
    for collection in rig.users_collection:
        collection.objects.link(mine)
    for link in links_of(rig).values():
        link.target = mine
    redirect_references(mine, theirs)
    context.view_layer.update()


def remove(context: Context, rig: Object, actions: Iterable[Action]) -> None:
    """Remove the control rig of an armature, and the controls actions of ``actions`` that no other action uses.

    Armatures that follow it get their own first. The bones show the keys of their own actions again.
    """
    controls, mine = controls_of(rig), owns_controls(rig)
    objects: Any = bpy.data.objects
    for other in objects if mine else ():
        if other != rig and other.type == "ARMATURE" and controls_of(other) == controls:
            own_controls(context, other)
    for name, link in links_of(rig).items():
        rig.pose.bones[name].constraints.remove(link)
    restore_drawing(rig)
    unused = []
    for action in actions:
        pointed = action.motionbridge_controls
        if pointed is not None:
            action.property_unset("motionbridge_controls")
            action.update_tag()  # as in `action_lists`: the evaluated copy keeps its pointer otherwise
            unused.append(pointed)
    if mine:
        playing = nla.assigned(controls)
        armature = controls.data
        bpy.data.objects.remove(controls)
        if not armature.users:
            bpy.data.armatures.remove(armature)
        if playing is not None and playing.motionbridge_controls_digest:
            unused.append(playing)
    for action in dict.fromkeys(unused):
        if not action.users:
            bpy.data.actions.remove(action)
    drop_unused_shapes()
