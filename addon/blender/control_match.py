"""Switching between FK and IK without changing the shown pose, and letting IK goals follow a bone of the game."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core import affine
from ..core.control_poses import Controls
from ..core.control_rig import Role
from ..core.errors import WriteError
from ..core.report import say
from . import compat, scope
from .bone_curves import bone_path, channel_path, evaluated_poses
from .control_links import HOLD, RESTING, controls_of, hold_path, holds_of
from .control_rig import structure_of, switch_of
from .control_transfer import CHANNELS, frames_of
from .curve_keys import KeyRows

if TYPE_CHECKING:
    from .typed import Action, Context, Object, PoseBone

Floats = NDArray[np.float64]

_CONSTANT, _LINEAR = 0, 1


def match(context: Context, rig: Object, goals: Collection[str], ends: tuple[int, int], *, to_goals: bool) -> int:
    """Key IK goals and poles (``to_goals``) or the limbs' own controls, so that the shown pose stays between two
    frames.

    ``goals``: names of the IK goals of limbs, and of the look-at targets of necks. From the first to the last frame of
    ``ends`` the switches are keyed to the matched controls, and behind it back. Returns the number of limbs and necks.
    Raises `WriteError` if the controls play no motion, if it has no frame in this range, if a goal follows a bone
    there, or if a control has no keys.
    """
    controls, action, frames = _playing(rig, ends)
    structure, labels = structure_of(rig, controls), controls.data.bones.keys()
    switches = [(owner, bones, keyed) for owner, bones, keyed in _switches(structure) if labels[owner] in goals]
    if to_goals:
        _refuse_holding(controls, action, [labels[owner] for owner, _, _ in switches], frames)
    with scope.only_evaluated(context, [controls]):
        seen_poses = evaluated_poses(context, controls, action, frames)
        poses = structure.poses(_shown_poses(structure, seen_poses, len(rig.data.bones)))
        for _, bones, keyed in switches:
            if not to_goals:
                rows = _rows(structure, bones, Role.FREE)
                _replace_channel_keys(controls, action, rows, frames, structure.channels_of(rows, poses, seen_poses))
                continue
            solved_poses = seen_poses.copy()
            solved_poses[:, keyed] = poses[:, keyed]
            _replace_channel_keys(controls, action, keyed, frames, structure.channels_of(keyed, poses, solved_poses))
        if to_goals:
            for owner, _, _ in switches:
                # Aims depend on the shown neck, so it must follow its own controls until they are keyed.
                if structure.roles[owner] is Role.LOOK:
                    _key_switch(controls, action, labels[owner], frames, value=0.0)
            solved = evaluated_poses(context, controls, action, frames)
            for _, bones, _ in switches:
                rows = _rows(structure, bones, Role.LEFT_OVER)
                _replace_channel_keys(controls, action, rows, frames, structure.channels_of(rows, poses, solved))
    for owner, _, _ in switches:
        _key_switch(controls, action, labels[owner], frames, value=float(to_goals))
    context.view_layer.update()
    return len(switches)


def _key_switch(controls: Object, action: Action, owner: str, frames: NDArray[np.float32], *, value: float) -> None:
    """Key the switch of an IK goal or look-at target on these frames."""
    bone = controls.pose.bones[owner]
    name = switch_of(bone)
    path = f'{bone_path(owner)}["{bpy.utils.escape_identifier(name)}"]'
    if all(curve.data_path != path for curve in compat.curves_of(action, controls)):
        bone[RESTING] = bone[name]
    _key_constant(controls, action, path, group=owner, now=float(bone[name]), frames=frames, value=value)


def _switches(structure: Controls) -> list[tuple[int, NDArray[np.intp], NDArray[np.intp]]]:
    """Return, for each limb and neck, the control with its switch, the bones of the game, and the controls that solve
    them.
    """
    result = []
    for limb in structure.limbs.tolist():
        bones = structure.bones_of(limb)
        keyed = np.union1d(_rows(structure, bones, Role.CHAIN, Role.GOAL, Role.HOCK, Role.SWING), [limb[3]])
        result.append((limb[2], bones, keyed))
    for target in np.unique(structure.looks[:, 1]).tolist():
        aims = structure.looks[structure.looks[:, 1] == target, 0]
        result.append((target, structure.bones[aims], np.append(aims, target)))
    return result


def goals_of_limbs(rig: Object, selected: Collection[str]) -> list[str]:
    """Return the IK goals of the limbs of which the goal, the pole or an own control is ``selected``."""
    structure, labels = structure_of(rig, controls_of(rig)), controls_of(rig).data.bones.keys()
    result = []
    for limb in structure.limbs.tolist():
        own = _rows(structure, structure.bones_of(limb), Role.FREE, Role.HOCK).tolist()
        if any(labels[row] in selected for row in (*own, limb[2], limb[3])):
            result.append(labels[limb[2]])
    return result


def hold(context: Context, rig: Object, goals: Collection[str], ends: tuple[int, int], bone: str) -> int:
    """Let IK goals follow a bone of the game between two frames, or nothing if ``bone`` is empty; the shown pose stays.

    Moving the bone then moves the ends of these limbs. Returns the number of goals. Raises `WriteError` if the controls
    do not move the bone, if a goal itself moves it, if the controls play no motion, or if it has no frame in this
    range.
    """
    controls, action, frames = _playing(rig, ends)
    structure, labels = structure_of(rig, controls), controls.data.bones.keys()
    limbs = [limb for limb in structure.limbs.tolist() if labels[limb[2]] in goals]
    number = rig.data.bones.find(bone)
    targets = _rows(structure, np.array([number]), Role.TARGET).tolist()
    if bone and not targets:
        raise WriteError(say("{!r} is not a bone that the controls move", bone), remedy="Choose a bone of the armature")
    for limb in limbs if bone else ():
        if limb in _limbs_moving(rig, controls, structure, number):
            goal = labels[limb[2]]
            raise WriteError(say("{!r} moves {!r}, so it cannot follow it", goal, bone), remedy="Choose another bone")
    with scope.only_evaluated(context, [controls]):
        seen_poses = evaluated_poses(context, controls, action, frames)
    for limb in limbs:
        goal, poses = controls.pose.bones[labels[limb[2]]], seen_poses.copy()
        wanted = None
        for target in targets if bone else ():
            poses[:, limb[2]] = structure.rest[target] @ affine.inverse(seen_poses[:, target]) @ seen_poses[:, limb[2]]
            wanted = _hold_of(controls, goal, bone, labels[target])
        row = np.array([limb[2]])
        _replace_channel_keys(controls, action, row, frames, structure.channels_of(row, poses, seen_poses))
        keyed = {curve.data_path for curve in compat.curves_of(action, controls)}
        for constraint in holds_of(goal):
            if constraint == wanted or hold_path(constraint) in keyed:
                value = float(constraint == wanted)
                _key_constant(
                    controls, action, hold_path(constraint), group=goal.name, now=0.0, frames=frames, value=value
                )
    context.view_layer.update()
    return len(limbs)


def _hold_of(controls: Object, goal: PoseBone, bone: str, target: str) -> bpy.types.ArmatureConstraint:
    """Return the constraint by which a goal can follow a target; create it if it is missing."""
    for existing in holds_of(goal):
        if existing.targets and existing.targets[0].subtarget == target:
            return existing
    constraint = goal.constraints.new("ARMATURE")
    constraint.name, constraint.influence = HOLD + bone, 0.0
    followed = constraint.targets.new()
    followed.target, followed.subtarget = controls, target
    return constraint


def _limbs_moving(rig: Object, controls: Object, structure: Controls, bone: int) -> list[list[int]]:
    """Return the limbs that move a bone of the game, also through bones that their goals follow."""
    labels, numbers = controls.data.bones.keys(), {name: number for number, name in enumerate(rig.data.bones.keys())}
    result: list[list[int]] = []
    waiting = [bone]
    while waiting:
        at = rig.data.bones[waiting.pop()]
        above = {numbers[bone.name] for bone in (at, *at.parent_recursive)}
        for limb in structure.limbs.tolist():
            if limb in result or above.isdisjoint(structure.bones_of(limb).tolist()):
                continue
            result.append(limb)
            for constraint in holds_of(controls.pose.bones[labels[limb[2]]]):
                rows = [controls.data.bones.find(target.subtarget) for target in constraint.targets]
                waiting += [int(structure.bones[row]) for row in rows if row >= 0 and structure.bones[row] >= 0]
    return result


def _playing(rig: Object, ends: tuple[int, int]) -> tuple[Object, Action, NDArray[np.float32]]:
    """Return the control rig of an armature, the action it plays, and the frames of that between ``ends``."""
    controls = controls_of(rig)
    data = controls.animation_data
    if data is None or data.action is None:
        raise WriteError(say("the controls of {!r} play no motion", rig.name), remedy="Play one of its motions first")
    frames = frames_of(data.action, controls)
    frames = frames[(frames >= ends[0]) & (frames <= ends[1])]
    if not len(frames):
        words = "the motion has no frame from {} to {}"
        raise WriteError(say(words, ends[0], ends[1]), remedy="Choose frames of the motion")
    return controls, data.action, frames


def _refuse_holding(controls: Object, action: Action, goals: Collection[str], frames: NDArray[np.float32]) -> None:
    curves = {curve.data_path: curve for curve in compat.curves_of(action, controls)}
    for name in goals:
        for constraint in holds_of(controls.pose.bones[name]):
            curve = curves.get(hold_path(constraint))
            if curve is not None and any(curve.evaluate(float(frame)) for frame in frames):
                raise WriteError(
                    say("{!r} follows {!r} on some of these frames", name, constraint.name[len(HOLD) :]),
                    remedy="Run Hold Bone on these frames with an empty bone first",
                )


def _shown_poses(structure: Controls, poses: Floats, count: int) -> Floats:
    """Return (frames, bones, 4, 4) the shown poses of the game's bones, taken from their targets."""
    result = np.broadcast_to(np.eye(4), (len(poses), count, 4, 4)).copy()
    targets = structure.rows(Role.TARGET)
    targets = targets[structure.bones[targets] >= 0]
    result[:, structure.bones[targets]] = poses[:, targets]
    return result


def _rows(structure: Controls, bones: NDArray[np.intp], *roles: Role) -> NDArray[np.intp]:
    """Return the rows of the controls with these roles that belong to these bones of the game."""
    rows = structure.rows(*roles)
    return rows[np.isin(structure.bones[rows], bones)]


def _replace_channel_keys(
    controls: Object,
    action: Action,
    rows: NDArray[np.intp],
    frames: NDArray[np.float32],
    channels: tuple[Floats, Floats],
) -> None:
    """Replace the keys from the first to the last of ``frames`` with ``channels`` of `Controls.channels_of`."""
    labels = controls.data.bones.keys()
    known = {(curve.data_path, curve.array_index): curve for curve in compat.curves_of(action, controls)}
    for number, row in enumerate(rows.tolist()):
        for (channel, width), values in zip(CHANNELS, channels, strict=True):
            path = channel_path(labels[row], channel)
            curves = [known.get((path, index)) for index in range(width)]
            if None in curves:
                words = "the control {!r} has no keys"
                raise WriteError(say(words, labels[row]), remedy="Move the motion to the controls again")
            wanted = values[number]
            now = np.array([curve.evaluate(float(frames[0])) for curve in curves if curve is not None])
            if width == 4 and wanted[0] @ now < 0:
                wanted = -wanted
            for index, curve in enumerate(curves):
                _replace_keys(curve, frames, wanted[:, index], _LINEAR)


def _replace_keys(curve: Any, frames: NDArray[np.float32], values: Floats, kind: int) -> None:
    """Replace all keys from the first to the last of ``frames`` with keys on these frames; the others stay."""
    KeyRows.read(curve).replaced(frames, values.astype(np.float32), kind).write(curve)


def _key_constant(
    controls: Object, action: Action, path: str, *, group: str, now: float, frames: NDArray[np.float32], value: float
) -> None:
    """Key a switch to ``value`` on these frames, and to its previous value around them (``now`` if it has no keys)."""
    curve = next((curve for curve in compat.curves_of(action, controls) if curve.data_path == path), None)
    first, last = float(frames[0]), float(frames[-1])
    previous_value = next_value = now
    if curve is None:
        bag = compat.curve_bag(action, compat.suitable_slot(action, controls))
        curve = compat.curve_maker(action, bag)(path, 0, group)
        start = min(float(action.frame_range[0]), first)
        _replace_keys(curve, np.array([start], np.float32), np.array([previous_value]), _CONSTANT)
    else:
        previous_value, next_value = curve.evaluate(first - 1), curve.evaluate(last + 1)
    steps = {first - 1: previous_value} if first > action.frame_range[0] else {}
    steps |= {first: value, last: value}
    if last < action.frame_range[1]:
        steps[last + 1] = next_value
    times = np.array(list(steps), np.float32)
    _replace_keys(curve, times, np.array(list(steps.values())), _CONSTANT)
