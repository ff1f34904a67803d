"""Bones of any armature, whoever made it: buttons for bones that can be read, and rotation keys that modes hide.

A bone's rotation mode hides keys of another kind: each export of motions lets the user choose, and a button sets the
mode.
"""

from collections.abc import Iterable
from typing import Any

import bpy

from .. import games
from ..blender import armature, rotation_modes, sampling
from ..blender.rotation_modes import HiddenKeys, RotationModes, played
from ..blender.typed import Action, Context, Object
from ..core.report import Report
from ..games.options import HiddenKeysOptions
from .bases import BlenderOperator, properties_from, said
from .operation import Operation, Outcome
from .target import active_rig, lacks_rig


class BoneDisplayOperation(Operation):
    """Work on the active armature that leaves its rest pose alone."""

    @classmethod
    def poll(cls, context: Context) -> bool:
        return not lacks_rig(cls, context)

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        """The armature object and its bones."""
        rig = active_rig(context)
        return (rig, rig.data) if rig is not None else ()


class MOTIONBRIDGE_OT_readable_bones(BoneDisplayOperation, BlenderOperator):
    """Draw each bone up to the next joint, in colors and bone collections by body part; exported files are the same"""

    bl_idname = "motionbridge.readable_bones"
    bl_label = "Readable Bones"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, context: Context, report: Report) -> Outcome:
        """Add the shapes; those that a user chose stay."""
        rig = active_rig(context)
        drawn = armature.make_readable(rig)
        kept = len(rig.pose.bones) - drawn
        if kept:
            report.note(f"bones with custom shapes of their own keep them: {kept}", rig.name)
        return Outcome(said("Bones drawn: {}").format(drawn), done=drawn > 0)


class MOTIONBRIDGE_OT_original_bones(BoneDisplayOperation, BlenderOperator):
    """Remove the shapes, colors and bone collections of Readable Bones"""

    bl_idname = "motionbridge.original_bones"
    bl_label = "Original Bones"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        if not super().poll(context):
            return False
        cls.poll_message_set("The bones are drawn as Blender does")
        return armature.is_readable(active_rig(context))

    def run(self, context: Context, _report: Report) -> Outcome:
        rig = active_rig(context)
        armature.make_plain(rig)
        return Outcome(said("{}: bones as Blender draws them").format(rig.name))


def draw_bone_display(layout: bpy.types.UILayout, context: Context) -> None:
    """The buttons, where an armature is active."""
    if active_rig(context) is not None:
        row = layout.row(align=True)
        row.operator("motionbridge.readable_bones", icon="BONE_DATA")
        row.operator("motionbridge.original_bones", icon="X", text="")


# Hidden keys ----------------------------------------------------------------------------------------------------------

HiddenKeysProperties: Any = properties_from(HiddenKeysOptions)


def hidden_bones(rig: Object | None) -> list[str]:
    """The bones of ``rig``, if any, whose keys in the action that plays are hidden by their rotation mode."""
    action = played(rig) if rig is not None else None
    if rig is None or action is None:
        return []
    return RotationModes(rig).hidden(action, games.order_of_angles(action))


def hides_keys(rig: Object | None) -> bool:
    """Whether Blender shows something else than the keys of the action that ``rig``, if any, plays."""
    return rig is not None and bool(hidden_bones(rig) or sampling.solo_tracks(rig))


class HiddenKeysChoice(HiddenKeysProperties):
    """Mixed into operators that write motions of armatures."""

    def draw_hidden_keys(self, layout: bpy.types.UILayout, rig: Object) -> None:
        """The choice, where it matters."""
        if hides_keys(rig):
            column = layout.column()
            column.alert = self.hidden_keys == "STOP"
            column.prop(self, "hidden_keys")

    def hidden_keys_option(self) -> HiddenKeys:
        """The choice as exports take it."""
        return HiddenKeys[self.hidden_keys]

    def restore_hidden_keys(self, rig: Object, exported: list[Action]) -> None:
        """After the file was written: set rotation modes back where that was chosen."""
        action = played(rig)
        if self.hidden_keys_option() is HiddenKeys.RESTORE and action in exported:
            rotation_modes.restore(rig, action, games.order_of_angles(action))


class MOTIONBRIDGE_OT_restore_rotation_modes(Operation, BlenderOperator):
    """Restore the rotation mode that plays the rotation keys of the active action"""

    bl_idname = "motionbridge.restore_rotation_modes"
    bl_label = "Restore Rotation Modes"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """The active armature plays an action."""
        if lacks_rig(cls, context):
            return False
        cls.poll_message_set("The active armature has no action: choose one in the list")
        return played(active_rig(context)) is not None

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        """The armature, where it is linked: overrides keep rotation modes."""
        rig = active_rig(context)
        return (rig,) if rig is not None and rig.library is not None else ()

    def run(self, context: Context, _report: Report) -> Outcome:
        rig = active_rig(context)
        action = played(rig)
        bones = rotation_modes.restore(rig, action, games.order_of_angles(action))
        if not bones:
            return Outcome(said("{} has no hidden rotation keys").format(action.name), done=False)
        return Outcome(said("Rotation modes restored: {}").format(len(bones)))


def draw_restore(layout: bpy.types.UILayout, rig: Object) -> None:
    """The button, where keys of the action that plays are hidden."""
    if hidden_bones(rig):
        column = layout.column()
        column.alert = True
        column.operator("motionbridge.restore_rotation_modes", icon="ERROR")


CLASSES = (
    MOTIONBRIDGE_OT_readable_bones,
    MOTIONBRIDGE_OT_original_bones,
    MOTIONBRIDGE_OT_restore_rotation_modes,
)
