"""The editor's motion that the active armature plays, in the Motionbridge tab beside the viewport and the actions."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ...core.report import Report
from ...games.xray.motions import length as motion_length
from ...games.xray.motions import skeletal_exporting as skeletal_export
from ...games.xray.motions import skeletal_importing as skeletal_import
from .. import listed_actions
from ..bases import BlenderList, BlenderOperator
from ..name_filter import name_filter
from ..operation import Operation, Outcome
from ..scene_rate import frames_said, match_scene
from ..sidebar import MotionbridgePanel, in_both_editors, is_of_xray
from ..target import active_action, active_rig, lacks_rig
from ..wording import shown


def active_skeletal(context: Any) -> Any:
    """The action that the active armature plays, where it is one of the editor's motions."""
    action = active_action(context)
    return action if action is not None and action.motionbridge_skeletal.is_skeletal else None


class MOTIONBRIDGE_UL_editor_motions(BlenderList):
    """Actions that came from the editor's files on the active armature."""

    def draw_item(
        self, _context: Any, layout: Any, _data: Any, item: Any, _icon: int, _active: Any, _property: str
    ) -> None:
        """Name, then the file's."""
        row = layout.row()
        row.label(text=item.motionbridge_motion.motion_name or item.name, translate=False)
        right = row.row()
        right.alignment = "RIGHT"
        right.active = False
        right.label(text=item.motionbridge_skeletal.file, translate=False)

    def filter_items(self, context: Any, data: Any, _property: str) -> tuple[list[int], list[int]]:
        """Those of the active armature's files, in their order."""
        rig = active_rig(context)
        if rig is None:
            return [0] * len(data.actions), []
        files = list(rig.motionbridge_skeletal_files)
        rows = listed_actions.rows_of(rig, files, skeletal_import.LISTS, skeletal_export.motions_of)
        fits = name_filter(self.filter_name, regular=False)
        asked = rig.session_uid, skeletal_import.LISTS.files, self.filter_name
        return listed_actions.filtered(rows, lambda row: fits(row.name), asked, self.bitflag_filter_item)


class MOTIONBRIDGE_OT_match_scene_to_editor_motion(Operation, BlenderOperator):
    """Set the scene to the frame rate and length of the playing editor motion"""

    bl_idname = "motionbridge.match_scene_to_editor_motion"
    bl_label = "Match Scene to Editor Motion"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        """One plays."""
        if lacks_rig(cls, context):
            return False
        cls.poll_message_set("The active armature plays no editor motion")
        return active_skeletal(context) is not None

    def edited(self, context: Any) -> Iterable[Any]:
        """Nothing but the scene."""
        return ()

    def run(self, context: Any, _report: Report) -> Outcome:
        """Set rate, first and last frame."""
        action = active_skeletal(context)
        match_scene(context, action.motionbridge_skeletal.fps, motion_length.ends_of(action))
        return frames_said(context)


class SkeletalPanel(MotionbridgePanel):
    """What the motion's file has, and the way to get or write one; how it plays is in the panel of all motions."""

    bl_label = "X-Ray Editor Motions"
    bl_options = {"DEFAULT_CLOSED"}
    bl_order = 9

    @classmethod
    def poll(cls, context: Any) -> bool:
        """The active armature is of the game."""
        return is_of_xray(context)

    def draw(self, context: Any) -> None:
        """The motion, or how to get one."""
        layout = self.layout
        action, rig = active_skeletal(context), active_rig(context)
        if rig is not None and len(rig.motionbridge_skeletal_files):
            listed_actions.draw(layout, "MOTIONBRIDGE_UL_editor_motions", rig)
        if action is None:
            layout.label(text="The active armature plays no editor motion", icon="INFO")
        else:
            _draw_motion(layout, rig, action)
        column = layout.column(align=True)
        column.operator("import_scene.xray_skl", text="Import Editor Motions", icon="IMPORT")
        column.operator("export_scene.xray_skl", text="Export Editor Motions", icon="EXPORT")
        column.operator("motionbridge.skeletal_save_back", icon="FILE_TICK")
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
    start, end = motion_length.drawn_ends(action)
    facts.label(text=shown("Frames {} to {}, {:g} per second").format(start, end, skeletal.fps), translate=False)
    if skeletal.fitted:
        text = shown("Bones with curves of the file: {}, with fitted curves: {}").format(
            skeletal.kept_exactly, skeletal.fitted
        )
        facts.label(text=text, translate=False)
    layout.operator("motionbridge.match_scene_to_editor_motion", icon="TIME")


CLASSES = (
    MOTIONBRIDGE_UL_editor_motions,
    MOTIONBRIDGE_OT_match_scene_to_editor_motion,
    *in_both_editors("skeletal", SkeletalPanel),
)
