"""The path that the active object follows, in the Motionbridge tab beside the viewport and the action editor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..layouts import fields, paragraph
from ..sidebar import MotionbridgePanel, in_both_editors
from ..wording import shown
from .import_path import active_path

LETTERS_SHOWN = 40


class PathPanel(MotionbridgePanel):
    """Name, version, frames, rate and file of the path, and what Blender does not show."""

    bl_label = "X-Ray Motion Path"
    bl_order = 10

    @classmethod
    def poll(cls, context: Any) -> bool:
        """The active object follows a path."""
        return active_path(context) is not None

    def draw(self, context: Any) -> None:
        """The path, and the way to another."""
        layout = self.layout
        action = active_path(context)
        _draw_path(layout, action)
        layout.operator("import_scene.xray_anm", text="Import Path", icon="IMPORT")
        layout.operator("export_scene.xray_anm", text="Export Path", icon="EXPORT")
        layout.operator("motionbridge.path_save_back", icon="FILE_TICK")


def _draw_path(layout: Any, action: Any) -> None:
    path = action.motionbridge_path
    column = fields(layout.column())
    column.prop(path, "path_name")
    column.prop(path, "version")
    facts = layout.column(align=True)
    start, end = (round(frame) for frame in action.frame_range)
    facts.label(text=shown("Frames {} to {}, {:g} per second").format(start, end, path.fps), translate=False)
    facts.label(text=shown("{}, version {}").format(Path(path.path).name, path.came_as), icon="FILE", translate=False)
    if path.not_shown:
        _draw_not_shown(layout.box(), path.not_shown.split("; "))
    layout.operator("motionbridge.match_scene_to_path", icon="TIME")


def _draw_not_shown(box: Any, oddities: list[str]) -> None:
    column = box.column(align=True)
    column.label(text="Outside the keys (not shown, kept in the file):", icon="ERROR")
    for oddity in oddities:
        paragraph(column, oddity, LETTERS_SHOWN)


CLASSES = (*in_both_editors("path", PathPanel),)
