"""The Arma Model panel of the sidebar: which level or point is active, and the level's named properties."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...games.arma.properties import is_of_model, level_of
from ..bases import BlenderPanel
from ..sidebar import MotionbridgePanel


class MOTIONBRIDGE_PT_arma_model(MotionbridgePanel, BlenderPanel):
    """What the active object is to a model of Arma."""

    bl_label = "Arma Model"
    bl_order = -1

    @classmethod
    def poll(cls, context: Any) -> bool:
        """Something of a model is active."""
        return is_of_model(context.active_object)

    def draw(self, context: Any) -> None:
        """The point, the level, its properties."""
        layout = self.layout
        active = context.active_object
        mark = active.motionbridge_arma_mark
        if mark.kind != "NONE":
            icon = "LINKED" if mark.kind == "PROXY" else "DOT"
            layout.label(text=mark.game_name or active.name, icon=icon, translate=False)
        level = level_of(active)
        if level is None:
            return
        facts = layout.column(align=True)
        facts.label(text=Path(level.path).name, icon="FILE_3D", translate=False)
        text = f"{level.kind} ({level.resolution:g})" if level.kind == "visual" else level.kind
        facts.label(text=text, icon="MESH_DATA", translate=False)
        if not len(level.properties):
            layout.label(text="No named properties")
            return
        rows = layout.box().column(align=True)
        for entry in level.properties:
            row = rows.row()
            row.label(text=entry.name, translate=False)
            row.label(text=entry.value, translate=False)


CLASSES = (MOTIONBRIDGE_PT_arma_model,)
