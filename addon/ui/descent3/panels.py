"""Models in the sidebar: sub-objects, points, batteries, checks, animation, with the operators of these panels."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import EnumProperty

from ...blender import bone_curves, scope, transforms
from ...blender.typed import Context, Object
from ...core.errors import WriteError
from ...core.report import Message, Report, joined, say
from ...formats.descent3 import oof
from ...games.descent3 import editing, hierarchy, model_export, motion
from ...games.descent3.kinds import GLOWS, PART_KINDS
from ...games.descent3.model_properties import POINT_KINDS, holder_of
from ..bases import BlenderList, BlenderOperator, BlenderPanel, classes_of, iface_, rpt_, tell
from ..layouts import STATUS_ICONS, DrawnRows, fields
from ..operation import Check, Need, Operation, Outcome, StartsAtOnce, draw_last_check, stores_nothing
from ..sidebar import MotionbridgePanel
from ..target import active_object, has_mesh, on_active
from .models import chosen_model

if TYPE_CHECKING:
    from ...blender.mesh import Offending


PART_OF_MODEL = Need("The active object is not part of a Descent 3 model", on_active(holder_of))


class MOTIONBRIDGE_OT_descent_compare(Operation, BlenderOperator):
    """Find edited motions and select their sub-objects"""

    bl_idname = "motionbridge.descent_compare"
    bl_label = "Compare with File"
    needs = (PART_OF_MODEL,)
    edited = stores_nothing  # the status need not be saved

    def run(self, context: Context, _report: Report) -> Outcome:
        edited = motion.update_status(context, holder_of(context.view_layer.objects.active))
        for obj in edited:
            if obj.visible_get():
                obj.select_set(True)
        if not edited:
            return Outcome(rpt_("The motions are the same as in the file"))
        names = ", ".join(obj.name for obj in edited)
        return Outcome(rpt_("Edited motions: {} ({})").format(len(edited), names))


class ModelPanel(MotionbridgePanel):
    """Base of the panels of the active object's model."""

    @classmethod
    def poll(cls, context: Context) -> bool:
        return holder_of(context.active_object) is not None


class MOTIONBRIDGE_PT_descent(ModelPanel, BlenderPanel):
    """The active object as part of a Descent 3 model."""

    bl_label = "Descent 3 Model"
    bl_order = -1

    def draw(self, context: Context) -> None:
        """Draw the file, the sub-object or point, and the operators."""
        layout = self.layout
        active = context.active_object
        holder = holder_of(active)
        _draw_file(layout, holder)
        layout.operator_menu_enum("motionbridge.descent_point_add", "kind", icon="EMPTY_SINGLE_ARROW")
        if active.motionbridge_descent_point.kind != "NONE":
            _draw_point(layout, context, active)
        elif active != holder:
            _draw_part(layout, active)
        layout.operator("motionbridge.descent_check", icon="VIEWZOOM")
        draw_last_check(layout, holder)
        column = layout.column(align=True)
        column.operator("motionbridge.descent_save_back", icon="FILE_TICK")
        column.operator("export_scene.descent3_oof", text="Export Model", icon="EXPORT")


MEMBERS_SHOWN = 8


def _members(guns: int, turrets: int) -> Message:
    """Return how many gun points and turrets a battery has."""
    counts = [say("{:# gun point|# gun points}", guns), say("{:# turret|# turrets}", turrets)]
    return joined([text for text, count in zip(counts, (guns, turrets), strict=True) if count]) or say("empty")


class MOTIONBRIDGE_UL_descent_batteries(DrawnRows, BlenderList):
    """Weapon batteries by index, with the number of their guns."""

    def draw_row(self, layout: Any, item: Any, _owner: Any, index: int) -> None:
        """Draw the index, and the numbers of gun points and turrets."""
        row = layout.row(align=True)
        row.label(text=iface_("Battery {}").format(index), translate=False)
        right = row.row()
        right.alignment = "RIGHT"
        right.active = False
        right.label(text=tell(_members(len(item.guns), len(item.turrets))), translate=False)

    def draw_filter(self, _context: Context, _layout: Any) -> None:
        """Draw no search: batteries have no names."""

    def filter_items(self, _context: Context, _data: Any, _property: str) -> tuple[list[int], list[int]]:
        return [], []


class MOTIONBRIDGE_PT_descent_batteries(ModelPanel, BlenderPanel):
    """Weapon batteries of the model."""

    bl_label = "Weapon Batteries"
    bl_parent_id = "MOTIONBRIDGE_PT_descent"

    def draw(self, context: Context) -> None:
        """Draw the list, and the guns and turrets of the active battery."""
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
                name = member.object.name if member.object is not None else f"? {member.number}"
                column.label(text=name, icon=icon, translate=False)
        layout.operator("motionbridge.descent_battery_set", icon="RESTRICT_SELECT_OFF")


class MOTIONBRIDGE_PT_descent_animation(ModelPanel, BlenderPanel):
    """Motions of the model."""

    bl_label = "Animation"
    bl_parent_id = "MOTIONBRIDGE_PT_descent"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        """Draw ticks and keys, the status, and the switches that preview rotors and turrets."""
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


def _draw_ticks(layout: bpy.types.UILayout, active: Object, moving: list[tuple[Any, list[Any]]]) -> None:
    curves = [curve for _, own in moving for curve in own]
    ends = transforms.key_range(curves)
    if ends is None:
        layout.label(text="No animated sub-objects", icon="ANIM")
        return
    text = iface_("Ticks {} to {}, moving sub-objects: {}").format(*ends, len(moving))
    layout.label(text=text, icon="ANIM", translate=False)
    own = next((obj for target, obj in moving if target == active), None)
    if own is not None and (ends := transforms.key_range(own)) is not None:
        times = bone_curves.key_times(own)
        between = int((times % 1 != 0).sum())
        text = iface_("{}: ticks {} to {}, keys: {}").format(active.name, *ends, len(times) - between)
        layout.label(text=text, icon="KEYFRAME", translate=False)
        if between:
            text = iface_("In-between keys (display only): {}").format(between)
            layout.label(text=text, icon="BLANK1", translate=False)


def _draw_file(layout: bpy.types.UILayout, holder: Object) -> None:
    model = holder.motionbridge_descent_model
    if model.path:
        layout.label(text=Path(model.path).name, icon="FILE_3D", translate=False)
    else:
        layout.label(text="A new model, not from a file", icon="FILE_NEW")


def _draw_part(layout: bpy.types.UILayout, active: Object) -> None:
    part = active.motionbridge_descent_part
    column = fields(layout.column())
    column.label(text=active.name, icon="OBJECT_DATA", translate=False)
    column.prop(part, "kind")
    for name in oof.fields_of(part.text):
        column.prop(part, name)
    prop = oof.parse_property(part.text)
    if prop is not None and prop.kind in oof.ROTATING:
        column.prop(part, "spin_axis")
    column.prop(part, "text")
    if prop is not None and prop.problem:
        column.label(text=tell(prop.problem), icon="ERROR", translate=False)


def _draw_point(layout: bpy.types.UILayout, context: Context, active: Object) -> None:
    point = active.motionbridge_descent_point
    column = fields(layout.column())
    column.prop(point, "kind")
    column.prop(point, "number")
    index = hierarchy.written_index(context, active)
    if index is not None and index != point.number:
        column.label(text=iface_("Index in the file: {}").format(index), icon="INFO", translate=False)
    if point.kind == "ATTACH":
        column.prop(point, "has_up")
    elif point.kind == "SPECIAL":
        column.prop(point, "game_name")
        column.prop(point, "text")


NEW_POINTS = (*POINT_KINDS[1:], *(entry[:3] for entry in PART_KINDS if entry[0] in GLOWS))


def active_holder(context: Context) -> Any:
    """Return the object that stores the model of the active object, or None."""
    return holder_of(context.view_layer.objects.active)


class MOTIONBRIDGE_OT_descent_begin(Operation, BlenderOperator):
    """Create a Descent 3 model from the selected meshes and their children"""

    bl_idname = "motionbridge.descent_begin"
    bl_label = "New Descent 3 Model"
    needs = (Need("No selected mesh", lambda context: any(obj.type == "MESH" for obj in context.selected_objects)),)

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        """The selected objects, which get a parent."""
        return context.selected_objects

    def run(self, context: Context, _report: Report) -> Outcome:
        with scope.object_mode(context):
            holder = editing.begin(context, list(context.selected_objects))
        return Outcome(rpt_("{} can now be exported for Descent 3").format(holder.name))


def _can_have_points(context: Context) -> bool:
    active = active_object(context)
    return active is not None and active_holder(context) is not None and active.type in ("MESH", "EMPTY")


class MOTIONBRIDGE_OT_descent_point_add(Operation, BlenderOperator):
    """Add a point, or a glow or thruster, to the active sub-object at the 3D cursor; of a point, to its sub-object"""

    bl_idname = "motionbridge.descent_point_add"
    bl_label = "Add Point"
    needs = (Need("The active object is not a sub-object of a Descent 3 model", _can_have_points),)

    kind: EnumProperty(name="Kind", description="Purpose of the point", items=NEW_POINTS, default="GUN")

    def run(self, context: Context, _report: Report) -> Outcome:
        """Add the point and make it active."""
        with scope.object_mode(context):
            part = editing.owner_of_points(context.view_layer.objects.active)
            point = editing.new_point(context, part, self.kind, context.scene.cursor.location)
            for obj in list(context.selected_objects):
                obj.select_set(False)
            point.select_set(True)
            context.view_layer.objects.active = point
        return Outcome(rpt_("Added {}").format(point.name))


class Batteries(Operation):
    """Base of operators that change the batteries of the active object's model."""

    needs = (PART_OF_MODEL,)

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        return (active_holder(context),)

    def active_index(self, context: Context) -> int:
        """Return the index of the active battery. Raises `WriteError` if there is none."""
        model = active_holder(context).motionbridge_descent_model
        if not len(model.batteries):
            raise WriteError("there is no battery", remedy="Add one first")
        return min(int(model.active_battery), len(model.batteries) - 1)


class MOTIONBRIDGE_OT_descent_battery_add(Batteries, BlenderOperator):
    """Add a weapon battery to the model, with the selected gun points and turrets"""

    bl_idname = "motionbridge.descent_battery_add"
    bl_label = "Add Battery"

    def run(self, context: Context, _report: Report) -> Outcome:
        holder = active_holder(context)
        model = holder.motionbridge_descent_model
        row = model.batteries.add()
        model.active_battery = len(model.batteries) - 1
        guns = [obj for obj in context.selected_objects if obj.motionbridge_descent_point.kind == "GUN"]
        if guns:
            editing.set_members(row, context.selected_objects, holder)
        return Outcome(rpt_("Added Battery {}").format(model.active_battery))


class MOTIONBRIDGE_OT_descent_battery_remove(Batteries, BlenderOperator):
    """Remove the active weapon battery; the following batteries are renumbered"""

    bl_idname = "motionbridge.descent_battery_remove"
    bl_label = "Remove Battery"

    def run(self, context: Context, _report: Report) -> Outcome:
        model = active_holder(context).motionbridge_descent_model
        index = self.active_index(context)
        model.batteries.remove(index)
        model.active_battery = max(min(model.active_battery, len(model.batteries) - 1), 0)
        return Outcome(rpt_("Removed Battery {}").format(index))


class MOTIONBRIDGE_OT_descent_battery_set(Batteries, BlenderOperator):
    """Assign the selected gun points and turrets to the active battery"""

    bl_idname = "motionbridge.descent_battery_set"
    bl_label = "Set from Selected"

    def run(self, context: Context, _report: Report) -> Outcome:
        holder = active_holder(context)
        index = self.active_index(context)
        row = holder.motionbridge_descent_model.batteries[index]
        editing.set_members(row, context.selected_objects, holder)
        members = _members(len(row.guns), len(row.turrets))
        return Outcome(tell(say("Battery {}: {}", index, members), rpt_))


class MOTIONBRIDGE_OT_descent_check(StartsAtOnce, Check, BlenderOperator):
    """Find what Descent 3 rejects or shows differently, and select the first affected faces or objects"""

    bl_idname = "motionbridge.descent_check"
    bl_label = "Select Invalid Elements"
    needs = (Need("No mesh in the scene", has_mesh),)

    def find(self, context: Context, report: Report) -> tuple[Any, list[Any]]:
        """Check the model of the active object, else of the selected objects, else the scene's only one."""
        chosen = chosen_model(context)
        return chosen.holder, model_export.find_problems(context, chosen, report)

    def selectable(self, _context: Context, problems: Sequence["Offending"], _report: Report) -> list["Offending"]:
        """Return all findings with a visible object, even if they concern no part of a mesh."""
        return [problem for problem in problems if problem.obj is not None and problem.obj.visible_get()]

    def select(self, context: Context, chosen: "Offending") -> None:
        """Select the object alone, and the affected elements of its mesh."""
        for other in scope.objects_of(context.view_layer):
            other.select_set(other == chosen.obj)
        context.view_layer.objects.active = chosen.obj
        if len(chosen.problem.elements) and chosen.obj.type == "MESH":
            super().select(context, chosen)


CLASSES = classes_of(__name__)
