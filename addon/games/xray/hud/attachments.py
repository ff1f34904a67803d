"""What is fitted to a weapon and what changes hands during a motion.

The game shows scope, silencer, launcher and grenade or hides them, whatever plays. Each is a bone of the weapon, and
what follows it. Which of them a new weapon has, the section of the item says (``scope_status`` and the like: 0 never,
1 always, 2 once it is attached).

Things that change hands: a bone follows another one for some frames, written as keys at once. A magazine follows the
left hand, or the weapon's bone of the hands (``lead_gun``) does. A constraint would have to be switched off for every
other motion, and where hands and weapon play at different speeds its export would take the hand of another moment; keys
are right in every export. Attaching once more after the hand was edited writes them again.
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
from ....formats.xray.ltx.document import numbers
from ..bones.properties import game_name
from . import holder_of, pairs

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
LABEL = "Motionbridge Not Attached"
"""What the names of the masks begin with."""


def of_new(item: Mapping[str, str]) -> set[str]:
    """What a weapon has that nothing was attached to, by the values of its section; everything without a section."""
    fitted = {name for name, key in STATUS.items() if not item or int(numbers(item.get(key, ""), 1)[0]) == ALWAYS}
    return {*fitted, "GRENADE"}  # it is loaded


def bones(hands: Any) -> dict[str, list[str]]:
    """What can be attached to the weapon of a scene -> the names of its bones; nothing that the model lacks."""
    rig = pairs.item_of(hands) or hands
    found: dict[str, list[str]] = {}
    for bone in rig.data.bones:
        label = game_name(bone).lower()
        for name, labels in BONES.items():
            if label in labels:
                found.setdefault(name, []).append(bone.name)
    return found


def show(hands: Any) -> None:
    """Show what is attached and hide the rest."""
    attached = hands.motionbridge_hud.attached
    hidden = [bone for name, found in bones(hands).items() if name not in attached for bone in found]
    armature.hide_meshes(pairs.item_of(hands) or hands, hidden, LABEL)


# Bones that change hands ----------------------------------------------------------------------------------------------

Floats = NDArray[np.float64]

NEAR = 1e-4
"""Frames."""


class Keeps(Enum):
    """On which frame the bone stays where its own keys put it."""

    FIRST = "first"
    """It is taken there."""
    LAST = "last"
    """It is put down there."""


class Motion(NamedTuple):
    """What an armature object plays in an action of the list, and when.

    Frame ``first`` + n of ``action``, which has ``frames``, is shown at the scene's frame ``start`` + n * ``scale``.
    """

    action: Any
    first: int
    frames: int
    start: int
    scale: float


def attach(context: Context, rig: Object, bone: str, holder: str, *, frames: tuple[int, int], keeps: Keeps) -> int:
    """Let a bone of ``rig`` (hands or item) follow the bone ``holder`` of the hands in the active action.

    ``frames`` of the scene, the last included. Outside of them, and of other bones, every key stays. Gives back the
    number of keys. Raises `WriteError` where the bone cannot follow, or nothing lies between the frames.
    """
    hands = holder_of(rig)
    _refuse(hands, rig, bone, holder)
    motion = _motion_of(hands, rig)
    shown: Floats = motion.start + motion.scale * np.arange(motion.frames, dtype=np.float64)
    (chosen,) = np.nonzero((shown >= frames[0] - NEAR) & (shown <= frames[1] + NEAR))
    if not len(chosen):
        raise WriteError("the motion has no frames there", remedy="Choose other frames")
    pairs.play(context, hands, hands.motionbridge_hud.active_action)
    basis = _following(context, (rig, bone), (hands, holder), shown[chosen], keeps)
    _write(rig, bone, motion, chosen, basis)
    pairs.play(context, hands, hands.motionbridge_hud.active_action)
    return len(chosen)


def _refuse(hands: Object, rig: Object, bone: str, holder: str) -> None:
    followed, moved = hands.pose.bones.get(holder), rig.pose.bones.get(bone)
    for found, name, of in ((followed, holder, hands), (moved, bone, rig)):
        if found is None:
            raise WriteError(f"{of.name!r} has no bone {name!r}", remedy="Choose one of its bones")
    if rig == hands and moved in {followed, *followed.parent_recursive}:
        raise WriteError(f"the bone {holder!r} moves with {bone!r}", remedy="Choose a bone of the other hand")
    if any(map(armature.is_pin, moved.constraints)):
        raise WriteError(
            f"the game ignores the keys of the weapon's root bone {bone!r}",
            remedy="Attach the bone of the hands that the weapon is at",
        )
    if moved.rotation_mode != "QUATERNION":
        raise WriteError(
            f"the rotation mode of {bone!r} is not Quaternion", remedy="Choose Quaternion in the bone's transform panel"
        )


def _motion_of(hands: Object, rig: Object) -> Motion:
    rows = hands.motionbridge_hud.actions
    number = hands.motionbridge_hud.active_action
    row = rows[number] if 0 <= number < len(rows) else None
    action = None if row is None else row.hands if rig == hands else row.item
    if row is None or row.hands is None or action is None:
        raise WriteError(f"{rig.name!r} plays no motion in the active action", remedy="Choose another action")
    start, _ = blender_action.frame_range(row.hands)
    first, count = blender_action.frame_range(action)
    return Motion(action, first, count, start, pairs.speed_of(row.hands) / pairs.speed_of(action))


def _following(
    context: Context, moved: tuple[Any, str], held: tuple[Any, str], frames: Floats, keeps: Keeps
) -> list[Any]:
    """Of each frame: the bone's local transform that keeps its place relative to the holder."""
    (rig, bone), (hands, holder) = moved, held
    kept = frames[0 if keeps is Keeps.FIRST else -1]
    with scope.kept_frame(context) as scene:

        def at(frame: float) -> tuple[Any, Any, Any]:
            whole = int(np.floor(frame + NEAR))
            scene.frame_set(whole, subframe=max(float(frame) - whole, 0.0))
            posed = rig.pose.bones[bone]
            parent = posed.parent.matrix.copy() if posed.parent is not None else None
            in_rig = rig.matrix_world.inverted() @ hands.matrix_world @ hands.pose.bones[holder].matrix
            return in_rig, posed.matrix.copy(), parent

        in_rig, there, _ = at(kept)
        offset = in_rig.inverted() @ there
        found = []
        for frame in frames:
            in_rig, _, parent = at(frame)
            found.append((in_rig @ offset, parent))
    data = rig.data.bones[bone]

    def local(wanted: Any, parent: Any) -> Any:
        above = {} if parent is None else {"parent_matrix": parent, "parent_matrix_local": data.parent.matrix_local}
        return data.convert_local_to_pose(wanted, data.matrix_local, invert=True, **above)

    return [local(wanted, parent) for wanted, parent in found]


def _write(rig: Object, bone: str, motion: Motion, chosen: NDArray[np.intp], basis: list[Any]) -> None:
    """Keys on each frame of the motion for the bone: those it has, but the chosen ones."""
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
