"""Control rigs: creating one for an armature of a game, transferring its motions to it, removing it.

`core.control_rig` plans the bones and explains why the transfer is exact; this module makes bones, constraints and keys
in Blender. The controls are an armature of their own: the game's rest pose stays, and exports do not see their bones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ..core import affine, names
from ..core.control_rig import BETWEEN, HIDDEN, KEYED, NEUTRAL, ControlPlan, Controls, Role, plan
from ..core.errors import WriteError
from . import bone_curves, compat, control_edits, scope
from .armature import drop_unused_shapes, matrices_of, remember_names, show_controls
from .bone_curves import ActionTemplate, bone_path, bone_within, write_keys
from .control_links import (
    LOOK_AT,
    NAME,
    POINTER,
    ROLE,
    SOLVER,
    SWITCH,
    control_action,
    controls_of,
    draw_as_wires,
    links_of,
    mute_unkeyed_holds,
    owns_controls,
    reset_unkeyed_switches,
    restore_drawing,
    users_of,
)
from .keyed_poses import poses_to_copy

if TYPE_CHECKING:
    from .typed import Action, Context, Object, PoseBone

Floats = NDArray[np.float64]
_Solved = Callable[[NDArray[np.float32], Floats, Floats], Floats]

PROPERTIES = {Role.GOAL: "ik", Role.LOOK: "look", Role.FREE: "twist"}
"""Switches: custom properties of IK goals and look-at targets (0: bones follow their own controls, 1: they follow this
one), and of controls of twist bones (0: bones show their keys, 1: they also follow the twist of the joint behind them).
"""
MECHANISM = "Mechanism"
"""Bone collection of the bones that the user does not pose."""
CHANNELS = (("rotation_quaternion", 4), ("location", 3))
ITERATIONS = 100
RIGID = 1e-5
"""Largest `affine.distortion` that comes from Blender's rounding."""
SCRATCH = ".motionbridge"
"""Name of temporary data-blocks of a transfer: Blender's lists hide names that begin with a dot."""
BATCH_FRAMES = 250
"""Number of frames from which a batch of motions is transferred at once."""
_ROLES = {role.value: role for role in Role}


def add(context: Context, rig: Object, *, is_following: bool = True) -> Object:
    """Add a control rig, still without motions, to an armature object. Raises `WriteError` if it has no bones.

    ``is_following``: initial value of the switches of twist bones.
    """
    if not len(rig.data.bones):
        raise WriteError(f"{rig.name!r} has no bones", remedy="Choose an armature with bones")
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
    for name, place in zip(index, planned.targets, strict=True):
        link = rig.pose.bones[name].constraints.new("COPY_TRANSFORMS")
        link.name = NAME
        link.target, link.subtarget = controls, given[place]
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
        made: list[bpy.types.EditBone] = []
        for bone in planned.bones:
            one = edit_bones.new(names.shortened(bone.name))
            one.length = bone.length
            one.matrix = Matrix(bone.matrix.tolist())
            one.use_deform = False
            if bone.parent >= 0:
                one.parent = made[bone.parent]
            made.append(one)
            given.append(one.name)
    controls.motionbridge_is_control_rig = True
    remember_names(armature)
    for bone, name in zip(planned.bones, given, strict=True):
        controls.pose.bones[name].rotation_mode = "QUATERNION"
        controls.data.bones[name][ROLE] = bone.role.value
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
        solver.subtarget, solver.pole_subtarget = given[limb.goal], given[limb.aside]
        solver.pole_angle = np.pi / 2  # the z axis of the upper bone
        solver.chain_count, solver.use_stretch, solver.iterations = 2, False, ITERATIONS
        swing = bones[given[limb.swing]].constraints
        towards = swing.new("DAMPED_TRACK")
        towards.target, towards.subtarget, towards.track_axis = controls, given[limb.goal], "TRACK_Y"
        turned = swing.new("LOCKED_TRACK")
        turned.name = POINTER
        turned.target, turned.subtarget = controls, given[limb.pole]
        turned.lock_axis, turned.track_axis = "LOCK_Y", "TRACK_X"
        switched = zip(limb.bones, (*limb.left_over, limb.held), strict=True)
        _add_switch(controls, planned, given, limb.goal, dict(switched))
    for look in planned.looks:
        for number, place in enumerate(look.aims):
            looker = bones[given[place]].constraints.new("DAMPED_TRACK")
            looker.name = LOOK_AT
            looker.target, looker.subtarget, looker.track_axis = controls, given[look.target], "TRACK_Y"
            # So each of them takes an equal share of the rotation.
            looker.influence = 1.0 / (len(look.aims) - number)
        _add_switch(controls, planned, given, look.target, dict(zip(look.bones, look.left_over, strict=True)))


def _add_switch(controls: Object, planned: ControlPlan, given: list[str], place: int, solved: dict[int, int]) -> None:
    """Let the targets of bones copy what is ``solved`` for them, by the value of a property of the control at
    ``place``. ``solved``: index of the game's bone -> index of the control bone to copy.
    """
    bones, role = controls.pose.bones, planned.bones[place].role
    owner, name = bones[given[place]], PROPERTIES[role]
    owner[name] = float(role is Role.GOAL)
    meaning = "0: own keys, 1: follows the hand" if role is Role.FREE else "0: own controls, 1: this one"
    owner.id_properties_ui(name).update(min=0.0, max=1.0, description=meaning)
    for bone, shown in solved.items():
        # Copy Rotation works with Euler angles and loses precision at singularities; Copy Transforms is exact.
        joint = bones[given[shown]].constraints.new("COPY_LOCATION")
        joint.target, joint.subtarget = controls, given[planned.frees[bone]]
        joint.owner_space = joint.target_space = "POSE"
        switch = bones[given[planned.targets[bone]]].constraints.new("COPY_TRANSFORMS")
        switch.name = SWITCH
        switch.target, switch.subtarget = controls, given[shown]
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
    """Add drivers that hide the circles of a limb that follows its goal, or else its goal and pole."""
    name = PROPERTIES[Role.GOAL]
    for limb in planned.limbs:
        hidden = dict.fromkeys((limb.goal, limb.pole), f"{name} <= 0")
        hidden |= dict.fromkeys((planned.frees[bone] for bone in limb.bones), f"{name} >= 1")
        for place, expression in hidden.items():
            driver = compat.hiding_driver(controls, given[place])
            _add_switch_variable(driver, controls, given[limb.goal], name)
            driver.type, driver.expression = "SCRIPTED", expression


def _add_turns(controls: Object, planned: ControlPlan, given: list[str]) -> None:
    """Add constraints to bones that bend or curl along with another control; lock the location of these controls."""
    bones = controls.pose.bones
    for turn in planned.turns:
        constraints = bones[given[turn.bone]].constraints
        copied = constraints.new("COPY_ROTATION")
        copied.target, copied.subtarget = controls, given[turn.source]
        copied.owner_space = copied.target_space = "LOCAL"
        copied.influence = turn.share
        if turn.is_curl:
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
        shown = index.get(switch.subtarget, -1) if switch is not None else -1
        if shown < 0:
            continue
        of[shown] = bone
        above = _parent_of_role(parents, roles, shown, Role.CHAIN, Role.GOAL, Role.AIM)
        if above >= 0:
            of[above], references[above] = bone, shown if roles[above] is Role.GOAL else target
    limbs, looks = [], []
    for number, bone in enumerate(controls.pose.bones):
        looker = bone.constraints.get(LOOK_AT)
        looked_at = index.get(looker.subtarget, -1) if looker is not None else -1
        if looked_at >= 0:
            looks.append((number, looked_at))
        solver = bone.constraints.get(SOLVER)
        side = index.get(solver.pole_subtarget, -1) if solver is not None else -1
        swing = _parent_of_role(parents, roles, side, Role.SWING) if side >= 0 else -1
        if swing < 0:
            continue
        pointer = controls.pose.bones[swing].constraints.get(POINTER)
        upper, goal = _parent_of_role(parents, roles, number, Role.CHAIN), index.get(solver.subtarget, -1)
        pole = index.get(pointer.subtarget, -1) if pointer is not None else -1
        if min(upper, goal, pole) < 0:  # partly deleted by the user; the rest is still exact
            continue
        limbs.append((upper, number, goal, pole))
        for other in (pole, swing):
            of[other], references[other] = of[upper], references[upper]
    rest = matrices_of(bones, "matrix_local")
    looks.sort(key=lambda look: len(bones[look[0]].parent_recursive))
    places = np.array(limbs, np.intp).reshape(-1, 4), np.array(looks, np.intp).reshape(-1, 2)
    return Controls(roles, parents, rest, of, references, *places)


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


# Motions -------------------------------------------------------------------------------------------------------------


def frames_of(action: Action, rig: Object) -> NDArray[np.float32]:
    """Return (frames,) all whole frames of an action, and the times of keys between frames."""
    times = bone_curves.key_times(compat.curves_of(action, rig))
    first, last = np.floor(action.frame_range[0]), np.ceil(action.frame_range[1])
    if len(times):
        first, last = min(first, np.floor(times[0])), max(last, np.ceil(times[-1]))
    return np.union1d(np.arange(first, last + 1), times).astype(np.float32)


def transfer(context: Context, rig: Object, action: Action) -> Any:
    """Transfer what ``rig`` shows of ``action`` to its own controls; return the action of the controls.

    The pose stays the same at each of `frames_of`. The action of the armature does not change.
    """
    transfer_all(context, rig, [action])
    return action.motionbridge_controls


def transfer_all(
    context: Context, rig: Object, actions: Sequence[Action], progress: Callable[[int], None] = lambda _: None
) -> None:
    """`transfer` several motions, faster than one by one; ``progress`` is called with the number that is done."""
    done = 0
    with closing(_Transfer(context, rig)) as work, work.solving() as solved:
        for batch in _batches(actions):
            originals = [work.originals(action) for action in batch]
            frames, poses = [one for one, _ in originals], np.concatenate([other for _, other in originals])
            for action, times, rotations, locations in zip(
                batch, frames, *work.channels(frames, poses, solved), strict=True
            ):
                work.write(action, times, rotations, locations)
                done += 1
                progress(done)


def _batches(actions: Sequence[Action]) -> Iterator[list[Any]]:
    """Yield batches of actions; a batch ends when it has at least `BATCH_FRAMES` frames."""
    batch, frames = list[Any](), 0.0
    for action in actions:
        batch.append(action)
        frames += action.frame_range[1] - action.frame_range[0]
        if frames >= BATCH_FRAMES:
            yield batch
            batch, frames = [], 0.0
    if batch:
        yield batch


class _Transfer:
    """Transfers motions of one armature to its controls."""

    def __init__(self, context: Context, rig: Object) -> None:
        self._context, self._rig, self._controls = context, rig, controls_of(rig)
        self._structure, self._edits = structure_of(rig, self._controls), control_edits.ControlEdits(rig)
        self._left_over = self._structure.rows(Role.LEFT_OVER)
        self._rows = self._structure.rows(*KEYED)
        names_of_rows = [self._controls.data.bones[row].name for row in self._rows.tolist()]
        self._template = ActionTemplate(names_of_rows, CHANNELS, compat.slot_name(self._controls))
        self._identity = bone_curves.identity_of(self._template.bag, list(self._template.bag.fcurves)) or b""
        self._replaced: list[Action] = []
        self._made: list[Any] = [self._template.action]

    def close(self) -> None:
        """Remove temporary data-blocks, and replaced actions of controls that no action points at any more."""
        data = self._controls.animation_data
        unused = [old for old in self._replaced if not users_of(old)]
        if data is not None and data.action in unused:
            compat.assign(self._controls, None)
        if unused:
            bpy.data.batch_remove(unused)
        _remove_unused(self._made)

    def originals(self, action: Action) -> tuple[NDArray[np.float32], Floats]:
        """Return `frames_of` the action, and (frames, bones, 4, 4) the poses of the armature there without controls."""
        frames = frames_of(action, self._rig)
        poses = poses_to_copy(self._context, self._rig, action, frames)
        return frames, poses if affine.distortion(poses).max(initial=0.0) <= RIGID else affine.rigid(poses)

    def channels(
        self, frames: list[NDArray[np.float32]], originals: Floats, solved: _Solved | None
    ) -> tuple[list[Floats], list[Floats]]:
        """Return quaternions (controls, frames, 4) and locations (controls, frames, 3) of each motion.

        ``originals`` (frames, bones, 4, 4): the poses of all motions, concatenated. ``solved``: the function of
        `solving`.
        """
        ends = np.cumsum([len(times) for times in frames])[:-1]
        poses = self._structure.poses(originals)
        rotations, locations = self._structure.channels(poses)
        left_over = self._left_over
        if solved is not None:
            # These have no keys yet, so they do not affect the solved poses.
            split = np.split(rotations, ends, axis=1), np.split(locations, ends, axis=1)
            solved_poses = np.concatenate([solved(*one) for one in zip(frames, *split, strict=True)])
            rotations[left_over], locations[left_over] = self._structure.channels_of(left_over, poses, solved_poses)
        return np.split(rotations, ends, axis=1), np.split(locations, ends, axis=1)

    def write(self, action: Action, frames: NDArray[np.float32], rotations: Floats, locations: Floats) -> None:
        """Create an action of the controls with these channels, and let ``action`` point at it."""
        made, keys = self._template.copy(f"{action.name} Controls"), _keys(self._rows, frames, rotations, locations)
        write_keys(list(compat.curve_bag(made).fcurves), keys)
        made.use_frame_range = True
        made.frame_start, made.frame_end = float(frames[0]), float(frames[-1])
        if action.motionbridge_controls is not None:
            self._replaced.append(action.motionbridge_controls)
        action.motionbridge_controls = made
        counts = np.full(len(keys), len(frames), np.int64)
        self._edits.seal(action, bone_curves.digest_of_keys(self._identity, counts, keys))

    @contextmanager
    def solving(self) -> Iterator[_Solved | None]:
        """Yield a function that evaluates solved controls: channels of all controls -> poses (frames, controls, 4, 4).

        Only the rows of controls that are parents of left-over controls are filled. Yields None if no control is
        solved.
        """
        if not len(self._left_over):
            yield None
            return
        wanted = set(self._structure.parents[self._left_over].tolist())
        needed = _with_dependencies(self._controls, wanted)
        # Blender needs more time for keys than for poses: play only those that affect the solved poses.
        of_played = self._structure.rows(*KEYED - {Role.LEFT_OVER})
        of_played = of_played[[row in needed for row in of_played.tolist()]]
        played = self._template.copy(SCRATCH)
        curves = list(compat.curve_bag(played).fcurves)
        width = sum(width for _, width in CHANNELS)
        places = np.searchsorted(self._rows, of_played)[:, None] * width + np.arange(width)
        curves = [curves[place] for place in places.ravel().tolist()]
        with _evaluated_alone(self._rig, played, needed, sorted(wanted), self._made) as poses:

            def solved(frames: NDArray[np.float32], rotations: Floats, locations: Floats) -> Floats:
                for curve in curves:
                    curve.keyframe_points.clear()
                write_keys(curves, _keys(of_played, frames, rotations, locations))
                played.update_tag()
                return poses(frames)

            yield solved


@contextmanager
def _evaluated_alone(
    rig: Object, played: Action, needed: set[int], wanted: list[int], made: list[Any]
) -> Iterator[Callable[[NDArray[np.float32]], Floats]]:
    """Yield a function: frames -> poses (frames, controls, 4, 4), filled for the ``wanted`` controls only.

    They are evaluated on a copy of the controls that plays ``played`` with all switches off, in a scene of its own:
    nothing else is evaluated and the user's scene does not change. ``needed`` as in `_copy_for_evaluation`. The copy,
    the scene and ``played`` are added to ``made``, whose contents the caller removes.
    """
    controls, scene = controls_of(rig), bpy.data.scenes.new(SCRATCH)
    made += [scene, played]
    copy = _copy_for_evaluation(controls, needed, made)
    scene.collection.objects.link(copy)

    def poses(frames: NDArray[np.float32]) -> Floats:
        found = np.empty((len(frames), len(copy.data.bones), 4, 4))
        with scope.posed(copy), scope.playing(rig, None) if copy.parent is not None else nullcontext():
            for number, frame in enumerate(frames.tolist()):
                scope.set_frame(scene, frame)
                bones = copy.evaluated_get(scene.view_layers[0].depsgraph).pose.bones
                for row in wanted:
                    found[number, row] = bones[row].matrix
        return found

    with scope.playing(copy, played), switched_off(copy):
        mute_unkeyed_holds(copy, played)
        yield poses


def _copy_for_evaluation(controls: Object, needed: set[int], made: list[Any]) -> Any:
    """Copy the controls, with the same world transform; the copy keeps the parent only if it must.

    ``needed``: controls to evaluate, including all that they depend on; drivers are removed from the others and their
    constraints are muted. The copy and its armature are added to ``made``.
    """
    scope.refuse_edited([controls])
    copy: Any = controls.copy()
    made.append(copy)
    copy.data = controls.data.copy()
    made.append(copy.data)
    copy.name = copy.data.name = SCRATCH
    copy.data.animation_data_clear()
    copy.hide_viewport = False
    moved = {controls.data.bones[row].name for row in needed}
    for curve in list(copy.animation_data.drivers) if copy.animation_data is not None else ():
        if compat.is_hiding(curve) or bone_within(curve.data_path) not in moved:
            copy.animation_data.drivers.remove(curve)
    for bone in copy.pose.bones:
        bone.custom_shape = None
        for constraint in bone.constraints if bone.name not in moved else ():
            constraint.mute = True
    _redirect_references(copy, controls)
    world = controls.parent.matrix_world if controls.parent is not None else Matrix()
    world = world @ controls.matrix_parent_inverse @ controls.matrix_basis
    is_alone = all(getattr(owner, name) in (None, copy) for owner, name in _references(copy))
    # The solution for nearly straight limbs changes if one bit of the transform is different.
    if is_alone and np.array_equal(np.array(world), np.eye(4)):
        copy.parent = None
        copy.matrix_basis = world
    return copy


def _keys(
    rows: NDArray[np.intp], frames: NDArray[np.float32], rotations: Floats, locations: Floats
) -> NDArray[np.float32]:
    """Return (curves, frames, 2) keys of the controls ``rows`` on all ``frames``, of channels of all controls:
    quaternions (controls, frames, 4) and locations (controls, frames, 3).
    """
    keys = np.empty((len(rows), 7, len(frames), 2), np.float32)
    keys[..., 0] = frames
    keys[:, :4, :, 1] = rotations[rows].swapaxes(1, 2)
    keys[:, 4:, :, 1] = locations[rows].swapaxes(1, 2)
    return keys.reshape(-1, len(frames), 2)


def _remove_unused(blocks: Sequence[Any]) -> None:
    """Remove actions, objects with their data, and scenes with these. Nothing else uses them, so Blender need not
    search the whole file for users, which would take most of the time.
    """
    for scene in (found for found in blocks if isinstance(found, bpy.types.Scene)):
        for shown in list(scene.collection.objects):
            scene.collection.objects.unlink(shown)
    kinds: dict[Any, Any] = {
        bpy.types.Object: bpy.data.objects,
        bpy.types.Armature: bpy.data.armatures,
        bpy.types.Action: bpy.data.actions,
        bpy.types.Scene: bpy.data.scenes,
    }
    for kind, data in kinds.items():
        for unused in (found for found in blocks if isinstance(found, kind)):
            unused.user_clear()
            data.remove(unused, do_unlink=False)


def _with_dependencies(controls: Object, rows: set[int]) -> set[int]:
    """Return these controls and all controls that they depend on."""
    index = {bone.name: number for number, bone in enumerate(controls.data.bones)}
    uses: dict[str, set[str]] = {name: set() for name in index}
    for bone in controls.pose.bones:
        found = uses[bone.name]
        if bone.parent is not None:
            found.add(bone.parent.name)
        for constraint in bone.constraints:
            found |= {getattr(constraint, name, "") for name in ("subtarget", "pole_subtarget")}
            found |= {target.subtarget for target in getattr(constraint, "targets", ())}
    drivers = controls.animation_data.drivers if controls.animation_data is not None else ()
    for curve in (one for one in drivers if not compat.is_hiding(one)):
        for target in (target for variable in curve.driver.variables for target in variable.targets):
            used = uses.setdefault(bone_within(curve.data_path), set())
            used.update({target.bone_target, bone_within(target.data_path)})
    names = list(index)
    waiting, known = list(rows), set(rows)
    while waiting:
        new = {index[name] for name in uses[names[waiting.pop()]] if name in index} - known
        known |= new
        waiting += new
    return known


def show(context: Context, rig: Object, action: Action) -> None:
    """Let the controls of ``rig`` play what belongs to ``action``; transfer the motion if that was not done yet. An
    armature that follows the controls of another gets its own. Does nothing without controls.
    """
    own_controls(context, rig)
    controls = controls_of(rig)
    if controls is None:
        return
    mine = control_action(rig, action)
    if mine is None:
        mine = transfer(context, rig, action)
    elif mine != action.motionbridge_controls:
        action.motionbridge_controls = mine
    elif len(users_of(mine)) > 1:
        mine = mine.copy()
        action.motionbridge_controls = mine
    data = controls.animation_data
    reset_unkeyed_switches(controls, data.action if data is not None else None, mine)
    compat.assign(controls, mine)
    mute_unkeyed_holds(controls, mine)


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
    _redirect_references(mine, theirs)
    context.view_layer.update()


def _redirect_references(mine: Any, theirs: Any) -> None:
    """Change references to the original in constraints and drivers of the copy ``mine`` to the copy."""
    for owner, name in _references(mine):
        if getattr(owner, name) == theirs:
            setattr(owner, name, mine)


def _references(controls: Any) -> Iterator[tuple[Any, str]]:
    """Yield all references of drivers and bone constraints to objects or other data: their owner and property name."""
    animated = [one.animation_data for one in (controls, controls.data) if one.animation_data is not None]
    for variable in (variable for one in animated for curve in one.drivers for variable in curve.driver.variables):
        for target in variable.targets:
            yield target, "id"
    for constraint in (one for bone in controls.pose.bones for one in bone.constraints):
        yield from ((constraint, name) for name in ("target", "pole_target") if getattr(constraint, name, None))
        yield from ((target, "target") for target in getattr(constraint, "targets", ()))


# Removal -------------------------------------------------------------------------------------------------------------


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
            unused.append(pointed)
    if mine:
        playing = controls.animation_data.action if controls.animation_data is not None else None
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
