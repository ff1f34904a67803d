"""Rotation keys that a bone's rotation mode hides: the choice of every export of motions, and the button against it."""

from collections.abc import Iterable
from typing import Any

import bpy

from ..blender import rotation_modes, sampling
from ..blender.rotation_modes import HiddenKeys, RotationModes, played
from ..core.report import Report
from ..games.options import HiddenKeysOptions
from ..games.xray.motions import library
from .bases import BlenderOperator
from .operation import Operation, Outcome
from .options import properties_from
from .target import active_rig, lacks_rig
from .translations import said

HiddenKeysProperties: Any = properties_from(HiddenKeysOptions)


def hidden_bones(rig: bpy.types.Object | None) -> list[str]:
    """The bones of ``rig``, if any, whose keys in the action that plays are hidden by their rotation mode."""
    action = played(rig) if rig is not None else None
    return RotationModes(rig).hidden(action, library.order_of(action)) if action is not None else []


def hides_keys(rig: bpy.types.Object | None) -> bool:
    """Whether Blender shows something else than the keys of the action that ``rig``, if any, plays."""
    return rig is not None and bool(hidden_bones(rig) or sampling.solo_tracks(rig))


class HiddenKeysChoice(HiddenKeysProperties):
    """Mixed into operators that write motions of armatures."""

    def draw_hidden_keys(self, layout: bpy.types.UILayout, rig: bpy.types.Object) -> None:
        """The choice, where it matters."""
        chosen: Any = self
        if hides_keys(rig):
            column = layout.column()
            column.alert = chosen.hidden_keys == "STOP"
            column.prop(chosen, "hidden_keys")

    def hidden_keys_option(self) -> HiddenKeys:
        """The choice as exports take it."""
        chosen: Any = self
        return HiddenKeys[chosen.hidden_keys]

    def restore_hidden_keys(self, rig: bpy.types.Object, exported: list[Any]) -> None:
        """After the file was written: set rotation modes back where that was chosen."""
        action = played(rig)
        if self.hidden_keys_option() is HiddenKeys.RESTORE and action in exported:
            rotation_modes.restore(rig, action, library.order_of(action))


class MOTIONBRIDGE_OT_restore_rotation_modes(Operation, BlenderOperator):
    """Restore the rotation mode that plays the rotation keys of the active action"""

    bl_idname = "motionbridge.restore_rotation_modes"
    bl_label = "Restore Rotation Modes"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """The active armature plays an action."""
        if lacks_rig(cls, context):
            return False
        cls.poll_message_set("The active armature has no action: choose one in the list")
        return played(active_rig(context)) is not None

    def edited(self, context: bpy.types.Context) -> Iterable[Any]:
        """The armature, where it is linked: overrides keep rotation modes."""
        rig = active_rig(context)
        return (rig,) if rig is not None and rig.library is not None else ()

    def run(self, context: bpy.types.Context, _report: Report) -> Outcome:
        """Restore."""
        rig = active_rig(context)
        action = played(rig)
        bones = rotation_modes.restore(rig, action, library.order_of(action))
        if not bones:
            return Outcome(said("{} has no hidden rotation keys").format(action.name), done=False)
        return Outcome(said("Rotation modes restored: {}").format(len(bones)))


def draw_restore(layout: bpy.types.UILayout, rig: bpy.types.Object) -> None:
    """The button, where keys of the action that plays are hidden."""
    if hidden_bones(rig):
        column = layout.column()
        column.alert = True
        column.operator("motionbridge.restore_rotation_modes", icon="ERROR")


CLASSES = (MOTIONBRIDGE_OT_restore_rotation_modes,)
