"""The Arma Model panel of the sidebar: which level or point is active, and the level's named properties."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .bases import BlenderPanel


def level_of(active: Any) -> Any:
    """What the active object is to a model: the level itself, or of an empty the level it hangs on; else None."""
    while active is not None:
        if active.type == "MESH" and active.motionbridge_arma_level.is_level:
            return active.motionbridge_arma_level
        active = active.parent
    return None


class MOTIONBRIDGE_PT_arma_model(BlenderPanel):
    """What the active object is to a model of Arma."""

    bl_label = "Arma Model"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Motionbridge"
    bl_order = -1

    @classmethod
    def poll(cls, context: Any) -> bool:
        """Something of a model is active."""
        active = context.active_object
        return level_of(active) is not None or (active is not None and active.motionbridge_arma_mark.kind != "NONE")

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
