"""The model.cfg and the pivots model of a scene's skeleton: chosen in the sidebar, suggested by the dialogs.

Blender opens no second file browser from the one an import is chosen in, and one that is opened from the pop-up of a
drop closes that pop-up. So files are picked in the sidebar.
"""

from __future__ import annotations

from typing import Any

from ..layouts import fields
from ..sidebar import MotionbridgePanel

NAMES = ("config", "pivots_model")


class SkeletonFilesChoice:
    """Mixed into operators with `config` and maybe `pivots_model`, before those that open a dialog."""

    def invoke(self, context: Any, event: Any) -> Any:
        """Suggest the scene's files, then open the dialog."""
        dialog: Any = super()
        chosen = context.scene.motionbridge_skeleton_files
        for name in NAMES:
            if getattr(self, name, None) is not None and getattr(chosen, name):
                setattr(self, name, getattr(chosen, name))
        return dialog.invoke(context, event)


class SkeletonFilesPanel(MotionbridgePanel):
    """The files, in a panel below one of Arma's."""

    bl_label = "Arma Skeleton Files"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Any) -> None:
        """The files."""
        column = fields(self.layout.column())
        for name in NAMES:
            column.prop(context.scene.motionbridge_skeleton_files, name)
