"""Attachments of a weapon, and bones that follow another bone during a motion.

The game shows or hides scope, silencer, launcher and grenade, independent of the motion. Each is a bone of the weapon
with its descendants. The item's section defines which of them a new weapon has (``scope_status`` and similar keys: 0
never, 1 always, 2 when attached).

During a motion a bone can follow another one for some frames, written as keys: for example a magazine follows the left
hand, or the bone of the hands that holds the weapon (``lead_gun``) follows one. A constraint would have to be disabled
for all other motions, and where hands and weapon play at different speeds its export would use the hand at another
time; keys are right in every export. If the hand was edited, attaching again rewrites them.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....blender import action as blender_action
from ....blender import armature, bone_curves, compat, scope
from ....core import rotation
from ....core.errors import WriteError
from ....core.report import say
from ....formats.xray.ltx.document import numbers
from ..bones.properties import game_name
from . import pairs
from .state import active_row, holder_of, item_of

if TYPE_CHECKING:
    from ....blender.typed import Context, Object


BONES = {
    "SCOPE": ("wpn_scope",),
    "SILENCER": ("wpn_silencer",),
    "LAUNCHER": ("wpn_launcher", "wpn_grenade_launcher"),
    "GRENADE": ("grenade",),
}
STATUS = {"SCOPE": "scope_status", "SILENCER": "silencer_status", "LAUNCHER": "grenade_launcher_status"}
ALWAYS = 1
MASK_PREFIX = "Motionbridge Not Attached"
"""Prefix of the names of the Mask modifiers."""


def of_new(item: Mapping[str, str]) -> set[str]:
    """Return the attachments that are part of a new weapon, from its section's values; without values all."""
    fitted = {name for name, key in STATUS.items() if not item or int(numbers(item.get(key, ""), 1)[0]) == ALWAYS}
    return {*fitted, "GRENADE"}  # shown as loaded


def bones(hands: Any) -> dict[str, list[str]]:
    """Return attachment -> names of its bones, for those that the weapon's model has."""
    rig = item_of(hands) or hands
    result: dict[str, list[str]] = {}
    for bone in rig.data.bones:
        label = game_name(bone).lower()
        for name, labels in BONES.items():
            if label in labels:
                result.setdefault(name, []).append(bone.name)
    return result


def show(hands: Any) -> None:
    """Show the meshes of chosen attachments and hide the others."""
    if hands.type != "ARMATURE":  # the aim empty has the same properties
        return
    attached = hands.motionbridge_hud.attached
    hidden = [bone for name, own_bone in bones(hands).items() if name not in attached for bone in own_bone]
    armature.hide_meshes(item_of(hands) or hands, hidden, MASK_PREFIX)


# Bones that change hands ----------------------------------------------------------------------------------------------

Floats = NDArray[np.float64]

FRAME_TOLERANCE = 1e-4
"""Tolerance in frames."""


class Keeps(Enum):
    """The frame on which the bone keeps its own pose; the offset to the followed bone comes from there."""

    FIRST = "first"
    """The first frame: the part is taken there."""
    LAST = "last"
    """The last frame: the part is put down there."""


class Motion(NamedTuple):
    """What an armature object plays in an action of the list, and when.

    ``action`` has ``frames`` frames from ``first`` on. Its frame ``first`` + n plays at the scene's frame ``start`` + n
    * ``scale``.
    """

    action: Any
    first: int
    frames: int
    start: int
    scale: float


def attach(context: Context, rig: Object, bone: str, holder: str, *, frames: tuple[int, int], keeps: Keeps) -> int:
    """Key a bone of ``rig`` (hands or item) so that it follows the bone ``holder`` of the hands in the active action.

    ``frames`` of the scene, including the last. Keys on other frames and of other bones stay. Returns the number of
    keyed frames. Raises `WriteError` if the bone cannot follow, or if the motion has no frames there.
    """
    hands = holder_of(rig)
    _refuse(hands, rig, bone, holder)
    motion = _motion_of(hands, rig)
    scene_frames: Floats = motion.start + motion.scale * np.arange(motion.frames, dtype=np.float64)
    (chosen,) = np.nonzero(
        (scene_frames >= frames[0] - FRAME_TOLERANCE) & (scene_frames <= frames[1] + FRAME_TOLERANCE)
    )
    if not len(chosen):
        raise WriteError("the motion has no frames there", remedy="Choose other frames")
    pairs.play(context, hands, hands.motionbridge_hud.active_action)
    basis = _following_transforms(context, (rig, bone), (hands, holder), scene_frames[chosen], keeps)
    _write(rig, bone, motion, chosen, basis)
    pairs.play(context, hands, hands.motionbridge_hud.active_action)
    return len(chosen)


def _refuse(hands: Object, rig: Object, bone: str, holder: str) -> None:
    followed, moved = hands.pose.bones.get(holder), rig.pose.bones.get(bone)
    for obj, name, of in ((followed, holder, hands), (moved, bone, rig)):
        if obj is None:
            raise WriteError(say("{!r} has no bone {!r}", of.name, name), remedy="Choose one of its bones")
    if rig == hands and moved in {followed, *followed.parent_recursive}:
        raise WriteError(say("the bone {!r} moves with {!r}", holder, bone), remedy="Choose a bone of the other hand")
    if any(map(armature.is_pin, moved.constraints)):
        words = "the game ignores the keys of the weapon's root bone {!r}"
        raise WriteError(say(words, bone), remedy="Attach the bone of the hands that the weapon is at")
    if moved.rotation_mode != "QUATERNION":
        words = "the rotation mode of {!r} is not Quaternion"
        raise WriteError(say(words, bone), remedy="Choose Quaternion in the bone's transform panel")


def _motion_of(hands: Object, rig: Object) -> Motion:
    row = active_row(hands)
    action = None if row is None else row.hands if rig == hands else row.item
    if action is None:
        raise WriteError(say("{!r} plays no motion in the active action", rig.name), remedy="Choose another action")
    start, _ = blender_action.frame_range(row.hands)
    first, count = blender_action.frame_range(action)
    return Motion(action, first, count, start, pairs.speed_of(row.hands) / pairs.speed_of(action))


def _following_transforms(
    context: Context, moved: tuple[Any, str], held: tuple[Any, str], frames: Floats, keeps: Keeps
) -> list[Any]:
    """Return for each frame the bone's local transform that keeps it fixed relative to the holder."""
    (rig, bone), (hands, holder) = moved, held
    kept = frames[0 if keeps is Keeps.FIRST else -1]
    with scope.kept_frame(context) as scene:

        def at(frame: float) -> tuple[Any, Any, Any]:
            whole = int(np.floor(frame + FRAME_TOLERANCE))
            scene.frame_set(whole, subframe=max(float(frame) - whole, 0.0))
            posed = rig.pose.bones[bone]
            parent = posed.parent.matrix.copy() if posed.parent is not None else None
            in_rig = rig.matrix_world.inverted() @ hands.matrix_world @ hands.pose.bones[holder].matrix
            return in_rig, posed.matrix.copy(), parent

        in_rig, posed_matrix, _ = at(kept)
        offset = in_rig.inverted() @ posed_matrix
        own_pairs = []
        for frame in frames:
            in_rig, _, parent = at(frame)
            own_pairs.append((in_rig @ offset, parent))
    data = rig.data.bones[bone]

    def local(wanted: Any, parent: Any) -> Any:
        above = {} if parent is None else {"parent_matrix": parent, "parent_matrix_local": data.parent.matrix_local}
        return data.convert_local_to_pose(wanted, data.matrix_local, invert=True, **above)

    return [local(wanted, parent) for wanted, parent in own_pairs]


def _write(rig: Object, bone: str, motion: Motion, chosen: NDArray[np.intp], basis: list[Any]) -> None:
    """Key the bone on each frame of the motion: ``basis`` on the chosen frames, its own values on the others."""
    frames = blender_action.key_frames(motion.first, motion.frames, 1.0)
    bag = compat.curve_bag(motion.action, compat.suitable_slot(motion.action, rig))
    matrices = np.array(basis, np.float64)
    turned = rotation.from_matrices(matrices[:, :3, :3])
    wanted = {"location": matrices[:, :3, 3].T, "rotation_quaternion": turned.T}
    for channel, values in wanted.items():
        path = bone_curves.channel_path(bone, channel)
        curves = [
            bag.fcurves.find(path, index=index) or compat.curve_maker(motion.action, bag)(path, index, bone)
            for index in range(len(values))
        ]
        rows: Floats = bone_curves.sampled(curves, frames)[0].astype(np.float64)
        rows[:, chosen] = values
        if channel != "location":
            rows = rotation.continuous(rows.T).T
        for curve in curves:
            curve.keyframe_points.clear()
        keys = np.stack([np.broadcast_to(frames, rows.shape), rows], axis=-1).astype(np.float32)
        bone_curves.write_keys(curves, keys)
        for curve in curves:
            curve.update()
