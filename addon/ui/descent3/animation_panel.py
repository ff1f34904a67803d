"""The Animation part of the Descent 3 Model panel: the motions' ticks and keys, whether they are edited, rotors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bpy

from ...blender import bone_curves, transforms
from ...core.report import Report
from ...games.descent3 import hierarchy, model_export, motion
from ...games.descent3.model_properties import holder_of
from ..bases import BlenderOperator, BlenderPanel
from ..layouts import STATUS_ICONS, fields
from ..operation import Operation, Outcome
from ..sidebar import MotionbridgePanel
from ..wording import said, shown


class MOTIONBRIDGE_OT_descent_compare(Operation, BlenderOperator):
    """Find edited motions and select their sub-objects"""

    bl_idname = "motionbridge.descent_compare"
    bl_label = "Compare with File"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        """A model is active."""
        cls.poll_message_set("The active object is not part of a Descent 3 model")
        return holder_of(context.view_layer.objects.active) is not None

    def edited(self, context: Any) -> Iterable[Any]:
        """Nothing: the badge may be lost."""
        return ()

    def run(self, context: Any, _report: Report) -> Outcome:
        """Compare, select what differs."""
        edited = compare(context)
        for one in edited:
            if one.visible_get():
                one.select_set(True)
        if not edited:
            return Outcome(said("The motions are the same as in the file"))
        return Outcome(said("Edited motions: {} ({})").format(len(edited), ", ".join(one.name for one in edited)))


def compare(context: Any) -> list[Any]:
    """Set the badge of the active object's model; the parts whose motions are not the file's. Raises `WriteError`."""
    holder = holder_of(context.view_layer.objects.active)
    return motion.update_status(context, holder, model_export.imported_model(hierarchy.Chosen(holder)))


class MOTIONBRIDGE_PT_descent_animation(MotionbridgePanel, BlenderPanel):
    """The motions of the model."""

    bl_label = "Animation"
    bl_parent_id = "MOTIONBRIDGE_PT_descent"

    @classmethod
    def poll(cls, context: Any) -> bool:
        """There is a model."""
        return holder_of(context.active_object) is not None

    def draw(self, context: Any) -> None:
        """Ticks and keys, the badge, and the switches for the preview of rotors and turrets."""
        layout = self.layout
        holder = holder_of(context.active_object)
        model = holder.motionbridge_descent_model
        moving = motion.moved_by_keys(hierarchy.hierarchy_of(context, hierarchy.Chosen(holder), Report()))
        _draw_ticks(layout, context.active_object, moving)
        if moving:
            status = model.bl_rna.properties["motion_status"].enum_items[model.motion_status]
            row = layout.row(align=True)
            row.label(text=status.name, icon=STATUS_ICONS[model.motion_status])
            row.operator("motionbridge.descent_compare", text="", icon="FILE_REFRESH")
            layout.label(text="Ticks per second: set in the game's tables", icon="INFO")
        column = fields(layout.column())
        column.prop(model, "shows_rotors")
        column.prop(model, "shows_turrets")


def _draw_ticks(layout: Any, active: Any, moving: list[tuple[Any, list[Any]]]) -> None:
    curves = [curve for _, own in moving for curve in own]
    ends = transforms.key_range(curves)
    if ends is None:
        layout.label(text="No animated sub-objects", icon="ANIM")
        return
    text = shown("Ticks {} to {}, moving sub-objects: {}").format(*ends, len(moving))
    layout.label(text=text, icon="ANIM", translate=False)
    own = next((found for one, found in moving if one == active), None)
    if own is not None and (ends := transforms.key_range(own)) is not None:
        times = bone_curves.key_times(own)
        between = int((times % 1 != 0).sum())
        text = shown("{}: ticks {} to {}, keys: {}").format(active.name, *ends, len(times) - between)
        layout.label(text=text, icon="KEYFRAME", translate=False)
        if between:
            text = shown("In-between keys (display only): {}").format(between)
            layout.label(text=text, icon="BLANK1", translate=False)


CLASSES: tuple[type[bpy.types.bpy_struct], ...] = (MOTIONBRIDGE_OT_descent_compare, MOTIONBRIDGE_PT_descent_animation)
