"""The Descent 3 Model panel of the sidebar: the model's file, the active sub-object or point, the weapon batteries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...formats.descent3 import oof
from ...games.descent3.model_properties import holder_of
from .. import checks
from ..bases import BlenderList, BlenderPanel
from ..layouts import fields
from ..sidebar import MotionbridgePanel
from ..wording import shown
from . import animation_panel

FIELDS = {
    "ROTATE": ("seconds", "spin_axis"),
    "GLOW": ("colour", "size"),
    "THRUSTER": ("colour", "size"),
    "TURRET": ("degrees", "seconds", "reaction", "spin_axis"),
    "MONITOR": ("monitor",),
}
"""Kind of a sub-object -> the numbers its property string has, and what else belongs to it."""
MEMBERS_SHOWN = 8


class MOTIONBRIDGE_UL_descent_batteries(BlenderList):
    """Weapon batteries by number, with the guns they fire."""

    def draw_item(
        self,
        _context: Any,
        layout: Any,
        _data: Any,
        item: Any,
        _icon: int,
        _active: Any,
        _property: str,
        index: int = 0,
    ) -> None:
        """Number, how many guns, whether it turns."""
        row = layout.row(align=True)
        row.label(text=shown("Battery {}").format(index), translate=False)
        right = row.row()
        right.alignment = "RIGHT"
        right.active = False
        text = shown("Guns: {}, turrets: {}").format(len(item.guns), len(item.turrets))
        right.label(text=text, translate=False)


class MOTIONBRIDGE_PT_descent(MotionbridgePanel, BlenderPanel):
    """What the active object is to a Descent 3 model."""

    bl_label = "Descent 3 Model"
    bl_order = -1

    @classmethod
    def poll(cls, context: Any) -> bool:
        """Something of a model is active."""
        return holder_of(context.active_object) is not None

    def draw(self, context: Any) -> None:
        """File, sub-object or point, what to do."""
        layout = self.layout
        active = context.active_object
        holder = holder_of(active)
        _draw_file(layout, holder)
        if active.motionbridge_descent_point.kind != "NONE":
            _draw_point(layout, active)
        elif active != holder:
            _draw_part(layout, active)
        layout.operator_menu_enum("motionbridge.descent_point_add", "kind", icon="EMPTY_SINGLE_ARROW")
        layout.operator("motionbridge.descent_check", icon="VIEWZOOM")
        checks.draw(layout, holder)
        layout.operator("export_scene.descent3_oof", text="Export", icon="EXPORT")
        layout.operator("motionbridge.descent_save_back", icon="FILE_TICK")


class MOTIONBRIDGE_PT_descent_batteries(MotionbridgePanel, BlenderPanel):
    """The weapon batteries of the model."""

    bl_label = "Weapon Batteries"
    bl_parent_id = "MOTIONBRIDGE_PT_descent"

    @classmethod
    def poll(cls, context: Any) -> bool:
        """There is a model."""
        return holder_of(context.active_object) is not None

    def draw(self, context: Any) -> None:
        """The list, and what the chosen one fires."""
        layout = self.layout
        model = holder_of(context.active_object).motionbridge_descent_model
        row = layout.row()
        row.template_list("MOTIONBRIDGE_UL_descent_batteries", "", model, "batteries", model, "active_battery", rows=3)
        buttons = row.column(align=True)
        buttons.operator("motionbridge.descent_battery_add", text="", icon="ADD")
        buttons.operator("motionbridge.descent_battery_remove", text="", icon="REMOVE")
        if not len(model.batteries):
            return
        battery = model.batteries[min(model.active_battery, len(model.batteries) - 1)]
        column = layout.column(align=True)
        for members, icon in ((battery.guns, "EMPTY_SINGLE_ARROW"), (battery.turrets, "CON_TRACKTO")):
            for member in members[:MEMBERS_SHOWN]:
                name = member.shown.name if member.shown is not None else f"? {member.number}"
                column.label(text=name, icon=icon, translate=False)
        layout.operator("motionbridge.descent_battery_set", icon="RESTRICT_SELECT_OFF")


def _draw_file(layout: Any, holder: Any) -> None:
    model = holder.motionbridge_descent_model
    if model.path:
        name = f"{Path(model.path).name}: {model.member}" if model.member else Path(model.path).name
        layout.label(text=name, icon="FILE_3D", translate=False)
    else:
        layout.label(text="A new model, not from a file", icon="FILE_NEW")


def _draw_part(layout: Any, active: Any) -> None:
    part = active.motionbridge_descent_part
    column = fields(layout.column())
    column.label(text=active.name, icon="OBJECT_DATA", translate=False)
    column.prop(part, "kind")
    for name in FIELDS.get(part.kind, ()):
        column.prop(part, name)
    column.prop(part, "text")
    found = oof.parse_property(part.text)
    if found is not None and found.problem:
        column.label(text=found.problem, icon="ERROR", translate=False)


def _draw_point(layout: Any, active: Any) -> None:
    point = active.motionbridge_descent_point
    column = fields(layout.column())
    column.prop(point, "kind")
    column.prop(point, "number")
    if point.kind == "ATTACH":
        column.prop(point, "has_up")
    elif point.kind == "SPECIAL":
        column.prop(point, "game_name")
        column.prop(point, "text")


CLASSES = (
    MOTIONBRIDGE_UL_descent_batteries,
    MOTIONBRIDGE_PT_descent,
    *animation_panel.CLASSES,
    MOTIONBRIDGE_PT_descent_batteries,
)
