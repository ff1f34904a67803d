"""Poses of whole motions without controls, computed from keys if nothing else moves the bones.

This takes a tenth of the time of evaluating them in Blender.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..core import affine, rotation
from ..core.model import absolute
from . import compat
from .armature import matrices_of, moving
from .bone_curves import UNSCALED, bone_of, channel_path, evaluated_poses, sampled_table, table_of
from .control_links import is_link, links_muted
from .nla import evaluated_tracks

if TYPE_CHECKING:
    import bpy

    from .typed import Action, Bone, Context, Object, PoseBone

Floats = NDArray[np.float64]

_CHANNELS = {"location": (0, 3), "rotation_quaternion": (3, 4), "scale": (7, 3)}
"""First column and number of columns of each channel in a row of ten."""


def follows_keys(bone: Bone) -> bool:
    """Whether the pose of a bone (of the armature data) relative to its parent is its keys applied to its rest pose."""
    inherits = bone.use_inherit_rotation and bone.inherit_scale == "FULL" and bone.use_local_location
    return bool(inherits and not bone.use_connect)


def poses_to_copy(context: Context, rig: Object, action: Action, wanted: NDArray[np.float32]) -> Floats:
    """Return (frames, bones, 4, 4) the poses that bones must copy from controls to be where they are without controls.

    In armature space. If constraints of the user come after the copying constraint, they move the bone again. So such a
    bone copies its pose before them, relative to the parent as they have moved it.
    """
    poses = poses_of_keys(rig, action, wanted)
    if poses is not None:
        return poses
    bones = rig.data.bones
    with links_muted(rig):
        poses = evaluated_poses(context, rig, action, wanted)
        behind = {bone.name: constraints for bone in rig.pose.bones if (constraints := _constraints_after_link(bone))}
        if not behind:
            return poses
        with _muted([constraint for own_constraints in behind.values() for constraint in own_constraints]):
            before = evaluated_poses(context, rig, action, wanted)
    copied, index = poses.copy(), {bone.name: row for row, bone in enumerate(bones)}
    for name in behind:
        row, above = index[name], bones[name].parent
        copied[:, row] = before[:, row]
        if above is not None and not affine.is_singular(before[:, index[above.name]]).any():
            parent = index[above.name]
            copied[:, row] = poses[:, parent] @ affine.inverse(before[:, parent]) @ before[:, row]
    return copied


def _constraints_after_link(bone: PoseBone) -> list[bpy.types.Constraint]:
    """Return the constraints that move a bone after it has copied a control."""
    listed = list(bone.constraints)
    link = next((index for index, constraint in enumerate(listed) if is_link(constraint)), len(listed))
    return [constraint for constraint in moving(bone) if constraint in listed[link + 1 :]]


@contextmanager
def _muted(constraints: list[bpy.types.Constraint]) -> Iterator[None]:
    """Mute these constraints, all of which are active before and afterwards."""
    try:
        for constraint in constraints:
            constraint.mute = True
        yield
    finally:
        for constraint in constraints:
            constraint.mute = False


def poses_of_keys(rig: Object, action: Action, wanted: NDArray[np.float32]) -> Floats | None:
    """Compute (frames, bones, 4, 4) what `bone_curves.evaluated_poses` returns without controls, equal within rounding.

    None if poses depend on more than location and quaternion keys: constraints except links to controls, drivers, NLA
    tracks, Euler or axis-angle keys, scale, bones that do not inherit, another slot. Channels without keys have their
    current values.
    """
    if not _is_moved_by_keys_alone(rig, action):
        return None
    indices = {
        channel_path(name, channel): (row, at)
        for row, name in enumerate(rig.pose.bones.keys())
        for channel, (at, _) in _CHANNELS.items()
    }
    table = table_of(action, rig)
    numbers = np.flatnonzero(table.played).tolist()
    played = [number for number in numbers if table.paths[number] in indices or bone_of(table.paths[number])]
    if any(table.paths[number] not in indices for number in played):
        return None
    values = np.repeat(_current_channels(rig)[..., None], len(wanted), axis=-1)
    bones, first = np.array([indices[table.paths[number]] for number in played], np.intp).reshape(-1, 2).T
    values[bones, first + table.indices[played]] = sampled_table(table.of(played), wanted)[0]
    return _compose(rig, values)


def _is_moved_by_keys_alone(rig: Object, action: Action) -> bool:
    bones, data, of_armature = rig.pose.bones, rig.animation_data, rig.data.animation_data
    if of_armature is not None and (of_armature.action is not None or len(of_armature.drivers)):
        return False
    if any(bone.rotation_mode != "QUATERNION" for bone in bones) or not all(map(follows_keys, rig.data.bones)):
        return False
    if any(not (constraint.mute or is_link(constraint)) for bone in bones for constraint in bone.constraints):
        return False
    if data is None:
        return True
    blended = data.action_blend_type, data.action_influence, data.action_extrapolation
    if data.use_tweak_mode or evaluated_tracks(rig) or blended != ("REPLACE", 1.0, "HOLD"):
        return False
    plays_other_slot = data.action == action and compat.used_slot(action, rig) != compat.suitable_slot(action, rig)
    return not plays_other_slot and all(curve.mute for curve in data.drivers)


def _current_channels(rig: Object) -> Floats:
    """Return (bones, 10) the current channels of the pose bones."""
    values = np.empty((len(rig.pose.bones), 10), np.float32)
    for channel, (at, width) in _CHANNELS.items():
        values_now = np.empty(len(values) * width, np.float32)
        rig.pose.bones.foreach_get(channel, values_now)
        values[:, at : at + width] = values_now.reshape(-1, width)
    return values.astype(np.float64)


def _compose(rig: Object, values: Floats) -> Floats | None:
    """Compose (frames, bones, 4, 4) poses of channels (bones, 10, frames); None if a value is not finite or a bone is
    scaled.
    """
    if not np.isfinite(values).all() or np.abs(values[:, 7:] - 1.0).max(initial=0.0) > UNSCALED:
        return None
    rotations = rotation.normalised(values[:, 3:7].transpose(2, 0, 1))
    basis = rotation.transforms(rotations, values[:, :3].transpose(2, 0, 1))
    rest = matrices_of(rig.data.bones, "matrix_local")
    index = {bone.name: number for number, bone in enumerate(rig.data.bones)}
    parents = np.array([index[bone.parent.name] if bone.parent is not None else -1 for bone in rig.data.bones], np.intp)
    above = np.where((parents < 0)[:, None, None], np.eye(4), rest[np.maximum(parents, 0)])
    return absolute((affine.inverse(above) @ rest @ basis).swapaxes(0, 1), parents).swapaxes(0, 1)
