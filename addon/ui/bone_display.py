"""Buttons for bones that can be read, on any armature, whoever made it."""

from collections.abc import Iterable
from typing import Any

import bpy

from ..blender import bone_display
from ..core.report import Report
from .bases import BlenderOperator
from .operation import Operation, Outcome
from .target import active_rig, lacks_rig
from .translations import said


class BoneDisplayOperation(Operation):
    """Work on the active armature that leaves its rest pose alone."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """An armature is active."""
        return not lacks_rig(cls, context)

    def edited(self, context: bpy.types.Context) -> Iterable[Any]:
        """The armature object and its bones."""
        rig = active_rig(context)
        return (rig, rig.data) if rig is not None else ()


class MOTIONBRIDGE_OT_readable_bones(BoneDisplayOperation, BlenderOperator):
    """Draw each bone up to the next joint, in colors and bone collections by body part; exported files are the same"""

    bl_idname = "motionbridge.readable_bones"
    bl_label = "Readable Bones"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, context: bpy.types.Context, report: Report) -> Outcome:
        """Add the shapes; those that a user chose stay."""
        rig = active_rig(context)
        drawn = bone_display.make_readable(rig)
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
    def poll(cls, context: bpy.types.Context) -> bool:
        """There is something to remove."""
        if not super().poll(context):
            return False
        cls.poll_message_set("The bones are drawn as Blender does")
        return bone_display.is_readable(active_rig(context))

    def run(self, context: bpy.types.Context, _report: Report) -> Outcome:
        """Remove them."""
        rig = active_rig(context)
        bone_display.make_plain(rig)
        return Outcome(said("{}: bones as Blender draws them").format(rig.name))


def draw_bone_display(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """The buttons, where an armature is active."""
    if active_rig(context) is not None:
        row = layout.row(align=True)
        row.operator("motionbridge.readable_bones", icon="BONE_DATA")
        row.operator("motionbridge.original_bones", icon="X", text="")


CLASSES = (MOTIONBRIDGE_OT_readable_bones, MOTIONBRIDGE_OT_original_bones)
