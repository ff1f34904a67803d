"""Bones of any armature: operators for readable bones, and rotation keys that the rotation mode hides.

A bone's rotation mode hides keys of another mode. Each export of motions lets the user choose how to treat hidden keys,
and an operator restores the modes that play them.
"""

from collections.abc import Iterable
from typing import Any

import bpy

from .. import games
from ..blender import armature, nla, rotation_modes, sampling
from ..blender.action_lists import label_of
from ..blender.rotation_modes import HiddenKeys, RotationModes
from ..blender.typed import Action, Context, Object
from ..core.report import Report, say
from ..games.options import HiddenKeysOptions
from .bases import BlenderOperator, classes_of, properties_from, rpt_
from .operation import Need, Operation, Outcome
from .target import RIG, OnAction, active_rig, on_rig


class BoneDisplayOperation(Operation):
    """Base of operators that change how the bones of the active armature are drawn."""

    needs: tuple[Need, ...] = (RIG,)

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        """The armature object and its bones."""
        rig = active_rig(context)
        return (rig, rig.data) if rig is not None else ()


class MOTIONBRIDGE_OT_readable_bones(BoneDisplayOperation, BlenderOperator):
    """Draw each bone up to the next joint, in colors and bone collections by body part; exported files are the same"""

    bl_idname = "motionbridge.readable_bones"
    bl_label = "Readable Bones"

    def run(self, context: Context, report: Report) -> Outcome:
        """Set the custom shapes; those that the user set are kept."""
        rig = active_rig(context)
        drawn = armature.make_readable(rig)
        kept = len(rig.pose.bones) - drawn
        if kept:
            report.note(say("bones with custom shapes of their own keep them: {}", kept), rig.name)
        return Outcome(rpt_("Bones drawn: {}").format(drawn), done=drawn > 0)


def _is_readable(rig: Object) -> bool:  # `armature` is loaded only when this is asked
    return armature.is_readable(rig)


class MOTIONBRIDGE_OT_original_bones(BoneDisplayOperation, BlenderOperator):
    """Remove the shapes, colors and bone collections of Readable Bones"""

    bl_idname = "motionbridge.original_bones"
    bl_label = "Original Bones"
    needs = (RIG, Need("The armature has no readable bones", on_rig(_is_readable)))

    def run(self, context: Context, _report: Report) -> Outcome:
        rig = active_rig(context)
        armature.make_plain(rig)
        return Outcome(rpt_("{}: readable bones removed").format(rig.name))


def draw_bone_display(layout: bpy.types.UILayout, context: Context) -> None:
    """Draw the two buttons if an armature is active."""
    if active_rig(context) is not None:
        row = layout.row(align=True)
        row.operator("motionbridge.readable_bones", icon="BONE_DATA")
        row.operator("motionbridge.original_bones", icon="X", text="")


# Hidden keys ----------------------------------------------------------------------------------------------------------

HiddenKeysProperties: Any = properties_from(HiddenKeysOptions)


def hidden_bones(rig: Object | None) -> list[str]:
    """Return the bones of ``rig``, if any, whose keys in the playing action are hidden by their rotation mode."""
    action = nla.playing(rig).action if rig is not None else None
    if rig is None or action is None:
        return []
    return RotationModes(rig).hidden(action, games.order_of_angles(action))


def hides_keys(rig: Object | None) -> bool:
    """Return whether Blender shows something other than the keys of the action that ``rig``, if any, plays.

    The reason is a rotation mode, or a solo NLA track that plays no motion.
    """
    return rig is not None and bool(hidden_bones(rig) or sampling.is_hidden(rig))


class HiddenKeysChoice(HiddenKeysProperties):
    """Mixin for operators that write motions of armatures: how to export hidden keys."""

    def draw_hidden_keys(self, layout: bpy.types.UILayout, rig: Object) -> None:
        """Draw the option if keys are hidden."""
        if hides_keys(rig):
            column = layout.column()
            column.alert = self.hidden_keys == "STOP"
            column.prop(self, "hidden_keys")

    def hidden_keys_option(self) -> HiddenKeys:
        """Return the option as exports take it."""
        return HiddenKeys[self.hidden_keys]

    def restore_hidden_keys(self, rig: Object, exported: list[Action]) -> None:
        """After the file was written: restore the rotation modes if the user chose that."""
        action = nla.playing(rig).action
        if self.hidden_keys_option() is HiddenKeys.RESTORE and action in exported:
            rotation_modes.restore(rig, action, games.order_of_angles(action))


class MOTIONBRIDGE_OT_restore_rotation_modes(Operation, BlenderOperator):
    """Restore the rotation mode that plays the rotation keys of the active action"""

    bl_idname = "motionbridge.restore_rotation_modes"
    bl_label = "Restore Rotation Modes"
    needs = OnAction.needs

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        """The armature if it is linked: library overrides can store rotation modes."""
        rig = active_rig(context)
        return (rig,) if rig is not None and rig.library is not None else ()

    def run(self, context: Context, _report: Report) -> Outcome:
        rig = active_rig(context)
        action = nla.playing(rig).action
        bones = rotation_modes.restore(rig, action, games.order_of_angles(action))
        if not bones:
            return Outcome(rpt_("{} has no hidden rotation keys").format(label_of(action)), done=False)
        return Outcome(rpt_("Rotation modes restored: {}").format(len(bones)))


def draw_restore(layout: bpy.types.UILayout, rig: Object) -> None:
    """Draw the button if keys of the playing action are hidden."""
    if hidden_bones(rig):
        column = layout.column()
        column.alert = True
        column.operator("motionbridge.restore_rotation_modes", icon="ERROR")


CLASSES = classes_of(__name__)
