"""The editor's motion that the active armature plays, in the Motionbridge tab beside the viewport and the actions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..core.report import Report
from .bases import BlenderOperator, BlenderPanel
from .import_skeletal import match_scene
from .motion_operators import active_action
from .motion_panels import MotionbridgePanel
from .operation import Operation, Outcome
from .target import active_rig
from .wording import said, shown


def active_skeletal(context: Any) -> Any:
    """The action that the active armature plays, where it is one of the editor's motions."""
    action = active_action(context)
    return action if action is not None and action.motionbridge_skeletal.is_skeletal else None


class MOTIONBRIDGE_OT_match_scene_to_editor_motion(Operation, BlenderOperator):
    """Set the scene to the frame rate and the length of the editor's motion that plays"""

    bl_idname = "motionbridge.match_scene_to_editor_motion"
    bl_label = "Match Scene to Editor Motion"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        """One plays."""
        cls.poll_message_set("The active armature plays no motion of the editor")
        return active_skeletal(context) is not None

    def run(self, context: Any, _report: Report) -> Outcome:
        """Set rate, first and last frame."""
        match_scene(context, active_skeletal(context))
        scene = context.scene
        return Outcome(said("Frames {} to {}").format(scene.frame_start, scene.frame_end))


class SkeletalPanel(MotionbridgePanel):
    """What the motion's file has, and the way to get or write one; how it plays is in the panel of all motions."""

    bl_label = "X-Ray Editor Motions"
    bl_options = {"DEFAULT_CLOSED"}
    bl_order = 9

    def draw(self, context: Any) -> None:
        """The motion, or how to get one."""
        layout = self.layout
        action = active_skeletal(context)
        if action is None:
            layout.label(text="The active armature plays no motion of the editor", icon="INFO")
        else:
            _draw_motion(layout, active_rig(context), action)
        column = layout.column(align=True)
        column.operator("import_scene.xray_skl", text="Import Editor Motions", icon="IMPORT")
        column.operator("export_scene.xray_skl", text="Export Editor Motions", icon="EXPORT")
        column = layout.column(align=True)
        column.operator("import_scene.xray_bones", text="Import Bone Properties", icon="IMPORT")
        column.operator("export_scene.xray_bones", text="Export Bone Properties", icon="EXPORT")


def _draw_motion(layout: Any, rig: Any, action: Any) -> None:
    skeletal = action.motionbridge_skeletal
    file = rig.motionbridge_skeletal_files.get(skeletal.file)
    facts = layout.column(align=True)
    if file is not None:
        text = shown("{}, version {}").format(Path(file.path).name, skeletal.version)
        facts.label(text=text, icon="FILE", translate=False)
    start, end = (round(frame) for frame in action.frame_range)
    facts.label(text=shown("Frames {} to {}, {:g} a second").format(start, end, skeletal.fps), translate=False)
    if skeletal.fitted:
        text = shown("Bones with the file's curves: {}, fitted: {}").format(skeletal.kept_exactly, skeletal.fitted)
        facts.label(text=text, translate=False)
    layout.operator("motionbridge.match_scene_to_editor_motion", icon="TIME")


class MOTIONBRIDGE_PT_skeletal_v(SkeletalPanel, BlenderPanel):
    """The editor's motion, beside the viewport."""

    bl_space_type = "VIEW_3D"


class MOTIONBRIDGE_PT_skeletal_d(SkeletalPanel, BlenderPanel):
    """The editor's motion, beside the action editor."""

    bl_space_type = "DOPESHEET_EDITOR"


CLASSES = (
    MOTIONBRIDGE_OT_match_scene_to_editor_motion,
    MOTIONBRIDGE_PT_skeletal_v,
    MOTIONBRIDGE_PT_skeletal_d,
)
