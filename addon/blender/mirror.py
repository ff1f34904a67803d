"""Motions with left and right exchanged, as new actions.

`core.symmetry` has the formula. A motion whose controls were edited is sampled as Blender shows it; of any other the
keys are exchanged, which is exact: exchanging twice gives the same keys.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..core import affine, names, rotation, symmetry
from ..core.errors import WriteError
from ..core.report import say
from . import bone_curves, compat
from .action_lists import label_of
from .control_edits import ControlEdits
from .control_links import following, links_muted
from .control_transfer import frames_of
from .delta_action import RestPose
from .keyed_poses import poses_of_keys

if TYPE_CHECKING:
    from .typed import Action, Context, Object

Floats = NDArray[np.float64]

STILL = 1e-6
"""Channels that change by less than this get one key."""
ROTATION = "rotation_quaternion"
_WIDTHS = {"location": 3, ROTATION: 4, "scale": 3}


def mirrored_action(context: Context, rig: Object, action: Action, name: str) -> Action:
    """Return a copy of an action of ``rig``, called ``name``, with left and right exchanged.

    Its keys are on the frames of the original's keys, and on all whole frames if these are not linear or if controls
    were edited. It has no controls yet. Raises `WriteError` if the armature has no bones on both sides, or the action
    no keys of bones.
    """
    rest = RestPose.of(rig)
    parents = rest.parents.tolist()
    pairs = symmetry.pairs_of(rest.bones, parents, rest.matrices[:, :3, 3])
    if np.array_equal(pairs, np.arange(len(pairs))):
        raise WriteError(
            say("{!r} has no bones on a left and a right side", rig.name), remedy="Name them like hand.L and hand.R"
        )
    edited = ControlEdits(rig).bones(action)
    keyed = _keyed_channels(rig, action) | {(bone, channel) for bone in edited for channel in ("location", ROTATION)}
    if not keyed:
        raise WriteError(say("the action {!r} has no keys of bones", label_of(action)), remedy="Choose a motion")
    frames = frames_of(action, rig)
    if edited:
        with following(rig, action):
            poses = bone_curves.evaluated_poses(context, rig, action, frames)
    else:
        frames, poses = _poses_of_keys(context, rig, action, frames)
    channels = _channels(symmetry.mirrored(poses, rest.matrices, parents, pairs), rest)
    wanted = {
        bone: [channel for channel in _WIDTHS if {(bone, channel), (rest.bones[other], channel)} & keyed]
        for bone, other in zip(rest.bones, pairs.tolist(), strict=True)
    }
    copy: Any = action.copy()
    copy.name = names.shortened(name, compat.DATA_NAME_LIMIT)
    for name_of_old in ("motionbridge_controls", "motionbridge_shown_keys"):
        copy.property_unset(name_of_old)
    _write(copy, rig, {bone: has for bone, has in wanted.items() if has}, frames, channels)
    _reflect_object(copy, rig)
    return copy


def _poses_of_keys(
    context: Context, rig: Object, action: Action, frames: NDArray[np.float32]
) -> tuple[NDArray[np.float32], Floats]:
    """Return (frames,) and (frames, bones, 4, 4) poses without controls, on the frames of the keys if these are linear,
    else on ``frames``.
    """
    curves = compat.curves_of(action, rig)
    kinds = [np.empty(len(curve.keyframe_points), np.uint8) for curve in curves]
    for curve, kind in zip(curves, kinds, strict=True):
        curve.keyframe_points.foreach_get("interpolation", kind)
    if (np.concatenate(kinds) == bone_curves.LINEAR).all():
        frames = bone_curves.key_times(curves)
    with links_muted(rig):
        poses = poses_of_keys(rig, action, frames)
        return frames, poses if poses is not None else bone_curves.evaluated_poses(context, rig, action, frames)


def _keyed_channels(rig: Object, action: Action) -> set[tuple[str, str]]:
    """Return (bone, channel) of the keys of an action; all rotations count as quaternions."""
    curves = [curve for curve in compat.curves_of(action, rig) if bone_curves.bone_of(curve.data_path)]
    channels = [curve.data_path.rpartition(".")[2] for curve in curves]
    channels = [ROTATION if channel.startswith("rotation") else channel for channel in channels]
    bones = [bone_curves.bone_of(curve.data_path) for curve in curves]
    return {key for key in zip(bones, channels, strict=True) if key[1] in _WIDTHS}


def _channels(poses: Floats, rest: RestPose) -> dict[str, Floats]:
    """Return the channels (bones, frames, width) of pose bones at ``poses`` (frames, bones, 4, 4)."""
    above = rest.parents
    is_root = (above < 0)[:, None, None]
    to_parents = np.where(is_root, np.eye(4), affine.inverse(poses)[:, above])
    from_parents = np.where(is_root, np.eye(4), affine.inverse(rest.matrices)[above]) @ rest.matrices
    basis = (affine.inverse(from_parents) @ to_parents @ poses).swapaxes(0, 1)
    scales = np.linalg.norm(basis[..., :3, :3], axis=-2)
    rotations = affine.rigid(basis)[..., :3, :3]
    return {
        "location": np.ascontiguousarray(basis[..., :3, 3]),
        ROTATION: rotation.continuous(rotation.from_matrices(rotations)),
        "scale": scales,
    }


def _write(
    copy: Action, rig: Object, wanted: dict[str, list[str]], frames: NDArray[np.float32], channels: dict[str, Floats]
) -> None:
    """Replace the keys of bones in an action; ``wanted``: the channels of each bone."""
    slot = compat.suitable_slot(copy, rig)
    others = {bone: [(channel, _WIDTHS[channel]) for channel in has] for bone, has in wanted.items()}
    template = bone_curves.ActionTemplate(list(wanted), (), compat.slot_name(rig), others)
    try:
        curves = template.restore(copy, slot)
    finally:
        template.close()
    rows = [rig.data.bones.find(bone) for bone in wanted]
    values = [channels[channel][row] for row, has in zip(rows, wanted.values(), strict=True) for channel in has]
    keys = np.concatenate([bone_curves.keys_at(frames, channel[None])[0] for channel in values])
    still = np.ptp(keys[..., 1], axis=1) <= STILL
    widths = [value.shape[1] for value in values]
    # A channel is still only if all its components are.
    ends = np.cumsum(widths)[:-1]
    still = np.concatenate([np.full(len(part), part.all()) for part in np.split(still, ends)])
    bone_curves.write_keys(curves, keys, ~still)


def _reflect_object(copy: Action, rig: Object) -> None:
    """Reflect keys of the location of the armature object itself."""
    for curve in compat.curves_of(copy, rig):
        if curve.data_path == "location" and curve.array_index == 0:
            for point in curve.keyframe_points:
                for end in (point.co, point.handle_left, point.handle_right):
                    end.y = -end.y
            curve.update()
