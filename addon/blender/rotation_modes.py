"""Rotation modes of pose bones: which keys of an action they play, and which they hide.

A pose bone uses one rotation channel at a time (quaternion, Euler angles, axis-angle), selected by its rotation mode.
The mode belongs to the armature object and keys belong to actions, so one armature may have actions with keys of
different types.

The rule for what an action shows, and so for what an export writes:

- For the motion in play (`nla`), it is what Blender shows now. A bone whose rotation keys are all of other types than
  its mode has *hidden* keys: Blender does not play them, and the user chooses what is exported (`HiddenKeys`).
- For any other action, it is what the action shows when it is played from a list of motions (`restore`): a bone uses
  the type that it has keys of, whatever its mode is now. If it has keys of several types, its current mode decides.
- Bones without rotation keys keep their mode.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import StringProperty

from ..core.errors import WriteError
from ..core.report import listed, say
from . import bone_curves, nla, scope
from .action_lists import label_of
from .properties import AddedProperties

if TYPE_CHECKING:
    from .typed import Action, Object


KINDS = ("quaternion", "euler", "axis_angle")
MODES = {"quaternion": "QUATERNION", "axis_angle": "AXIS_ANGLE"}
UNKNOWN_ORDER = "XYZ"
"""Order of Euler angles if nothing defines it: Blender's default."""


class HiddenKeys(Enum):
    """What an export does with rotation keys that the rotation mode of their bone hides."""

    STOP = "stop"
    RESTORE = "restore"
    """Write the keys, as if each bone had the rotation mode that plays them."""
    SHOWN = "shown"
    """Write what Blender shows: the bone's rotation without these keys."""


class RotationModes:
    """Rotation modes of one armature. Its data paths are computed once, for many actions."""

    def __init__(self, rig: Object) -> None:
        self._rig = rig
        self._paths = _rotation_paths(tuple(rig.pose.bones.keys()))

    def kinds(self, action: bpy.types.Action, table: bone_curves.CurveTable | None = None) -> dict[str, set[str]]:
        """Return bone -> types of rotation that ``action`` has played F-curves for; muted ones are ignored.

        ``table``: the action's F-curves, if the caller already has them.
        """
        result: dict[str, set[str]] = {}
        table = table or bone_curves.table_of(action, self._rig)
        for path in dict.fromkeys(itertools.compress(table.paths, table.played.tolist())):
            if path in self._paths:
                bone, kind = self._paths[path]
                result.setdefault(bone, set()).add(kind)
        return result

    def _current_modes(self) -> dict[str, str]:
        """Return the current rotation mode of each bone."""
        return {bone.name: bone.rotation_mode for bone in self._rig.pose.bones}

    def needed(
        self,
        action: Any,
        order: str = "",
        now: Mapping[str, str] | None = None,
        table: bone_curves.CurveTable | None = None,
    ) -> dict[str, str]:
        """Return the rotation modes that play an action's keys, for bones whose current mode plays none of them.

        ``order``: order of this action's Euler angles; a bone with another order then counts as not playing them.
        Without it, the order is the one that the bone had before quaternions were played on it. ``now``: the bones'
        modes, ``table``: the action's F-curves, if the caller already has them.
        """
        needed = {}
        modes = now if now is not None else self._current_modes()
        kind_of = bone_curves.rotation_kind
        for name, kinds in self.kinds(action, table).items():
            kind = kind_of(modes[name])
            if kind in kinds and not (kind == "euler" and order and modes[name] != order):
                continue
            bone = self._rig.pose.bones[name]
            chosen = kind if kind in kinds else next(known for known in KINDS if known in kinds)
            needed[name] = MODES.get(chosen) or order or bone.motionbridge_euler_order or UNKNOWN_ORDER
        return needed

    def hidden(self, action: bpy.types.Action, order: str = "") -> list[str]:
        """Return the bones whose rotation mode hides their keys in ``action``; empty if another motion is in play."""
        return list(self.needed(action, order)) if action == nla.playing(self._rig).action else []

    def of_export(
        self, action: Action, order: str, hidden: HiddenKeys, table: bone_curves.CurveTable | None = None
    ) -> dict[str, str]:
        """Return the rotation mode of each bone with which an export of ``action`` reads keys, by the rule of this
        module.

        Raises `WriteError` for hidden keys if ``hidden`` is `HiddenKeys.STOP`.
        """
        modes = self._current_modes()
        needed = self.needed(action, order, modes, table)
        in_play = action == nla.playing(self._rig).action
        bones = list(needed) if in_play else []
        if bones and hidden is HiddenKeys.STOP:
            raise refusal(action, bones)
        if hidden is HiddenKeys.SHOWN and in_play:
            return modes
        return modes | needed

    def guessed(self, action: Action, modes: dict[str, str]) -> list[str]:
        """Return the bones with Euler keys in ``action`` whose order in ``modes`` is only the default."""
        bones = self._rig.pose.bones
        unknown = {
            name
            for name, mode in modes.items()
            if mode == UNKNOWN_ORDER != bones[name].rotation_mode and not bones[name].motionbridge_euler_order
        }
        if not unknown:
            return []
        return [name for name, kinds in self.kinds(action).items() if name in unknown and "euler" in kinds]


@functools.lru_cache(maxsize=8)
def _rotation_paths(bones: tuple[str, ...]) -> dict[str, tuple[str, str]]:
    """Return data path -> (bone, type of rotation). Cached, because panels need it at every redraw."""
    return {bone_curves.channel_path(bone, f"rotation_{kind}"): (bone, kind) for bone in bones for kind in KINDS}


def refusal(action: Action, bones: Sequence[str]) -> WriteError:
    """Return the error for an action with hidden keys, raised until the user has chosen what to do with them."""
    words = (
        "the rotation mode of {0} bone{0:|s} does not match the keys in the action {1!r}, so Blender does not show "
        "these keys ({2})"
    )
    return WriteError(
        say(words, len(bones), label_of(action), listed(bones)),
        remedy="Choose Restore Mode to write the keys, or Export as Shown to write what Blender shows (option Hidden "
        "Keys)",
        option="hidden_keys",
    )


def set_mode(bone: Any, mode: str) -> None:
    """Set the rotation mode of a pose bone, and store the order of Euler angles that it had."""
    if bone_curves.rotation_kind(bone.rotation_mode) == "euler" and bone_curves.rotation_kind(mode) != "euler":
        bone.motionbridge_euler_order = bone.rotation_mode
    bone.rotation_mode = mode


def restore(rig: Object, action: Action, order: str = "") -> list[str]:
    """Set the rotation modes that play the keys of ``action``. Returns the changed bones."""
    needed = RotationModes(rig).needed(action, order)
    for name, mode in needed.items():
        set_mode(rig.pose.bones[name], mode)
    return list(needed)


def angles_in_use(rig: Object, bones: Sequence[str]) -> dict[str, str]:
    """Return bone -> order for those of ``bones`` that rotate by Euler angles and have such keys in any action."""
    orders = {bone: rig.pose.bones[bone].rotation_mode for bone in bones}
    turned = {bone: order for bone, order in orders.items() if bone_curves.rotation_kind(order) == "euler"}
    used = _keyed_actions(rig, "euler", turned) if turned else {}
    return {bone: order for bone, order in turned.items() if bone in used}


def actions_stopped(rig: Object, bones: Sequence[str]) -> list[Any]:
    """Return the actions whose rotation keys stop playing if ``bones`` change to quaternions."""
    kinds = {bone: bone_curves.rotation_kind(rig.pose.bones[bone].rotation_mode) for bone in bones}
    own_actions: dict[Any, None] = {}
    for other in set(kinds.values()) - {"quaternion"}:
        for actions in _keyed_actions(rig, other, [bone for bone in bones if kinds[bone] == other]).values():
            own_actions.update(dict.fromkeys(actions))
    return list(own_actions)


def _keyed_actions(rig: Object, kind: str, bones: Collection[str]) -> dict[str, list[Any]]:
    """Return bone -> actions with keys of this rotation type, for those of ``bones`` that have such keys."""
    result: dict[str, list[Any]] = {}
    modes = RotationModes(rig)
    for action in bpy.data.actions:
        for bone, kinds in modes.kinds(action).items():
            if kind in kinds and bone in bones:
                result.setdefault(bone, []).append(action)
    return result


@contextmanager
def modes_set(rig: Object, modes: dict[str, str]) -> Iterator[None]:
    """Set the rotation modes of bones; modes and channels are restored afterwards."""
    changed = [(bone, bone.rotation_mode) for bone in rig.pose.bones if modes.get(bone.name) != bone.rotation_mode]
    changed = [(bone, before) for bone, before in changed if bone.name in modes]
    with scope.kept_pose(rig):
        try:
            for bone, _ in changed:
                bone.rotation_mode = modes[bone.name]
            yield
        finally:
            for bone, before in changed:
                bone.rotation_mode = before


ADDED = AddedProperties(
    (),
    {
        (bpy.types.PoseBone, "motionbridge_euler_order"): StringProperty(
            name="Euler Order",
            description="The order of Euler angles the bone had before it was set to another kind of rotation",
            options={"HIDDEN"},
        )
    },
)
