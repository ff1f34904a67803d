"""Operators of the Descent 3 panel: making a model, its points and batteries, finding what the game would refuse."""

from collections.abc import Iterable
from typing import Any

import bpy
from bpy.props import EnumProperty, IntProperty

from ...blender import mesh as meshes
from ...blender import scope
from ...core import model as core_model
from ...core.errors import WriteError
from ...core.report import Report
from ...games.descent3 import model_edit, model_export
from ...games.descent3.model_properties import POINT_KINDS, holder_of
from .. import layouts
from ..bases import BlenderOperator
from ..operation import Operation, Outcome, StartsAtOnce
from ..translations import said
from .models import chosen_model

NEW_POINTS = POINT_KINDS[1:]


def active_holder(context: Any) -> Any:
    """What remembers the model the active object is part of, or None."""
    return holder_of(context.view_layer.objects.active)


class MOTIONBRIDGE_OT_descent_begin(Operation, BlenderOperator):
    """Create a Descent 3 model from the selected meshes and their children"""

    bl_idname = "motionbridge.descent_begin"
    bl_label = "New Descent 3 Model"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        """A mesh is selected."""
        cls.poll_message_set("No selected mesh")
        return any(shown.type == "MESH" for shown in context.selected_objects)

    def edited(self, context: Any) -> Iterable[Any]:
        """The selected objects, which get a parent."""
        return context.selected_objects

    def run(self, context: Any, _report: Report) -> Outcome:
        """Put a holder above them."""
        with scope.object_mode(context):
            holder = model_edit.begin(context, list(context.selected_objects))
        return Outcome(said("{} can now be exported for Descent 3").format(holder.name))


class MOTIONBRIDGE_OT_descent_point_add(Operation, BlenderOperator):
    """Add a point to the active sub-object at the 3D cursor"""

    bl_idname = "motionbridge.descent_point_add"
    bl_label = "Add Point"
    bl_options = {"REGISTER", "UNDO"}

    kind: EnumProperty(name="Kind", description="Purpose of the point", items=NEW_POINTS, default="GUN")

    @classmethod
    def poll(cls, context: Any) -> bool:
        """A sub-object is active."""
        cls.poll_message_set("The active object is not a sub-object of a Descent 3 model")
        active = context.view_layer.objects.active
        return active is not None and active_holder(context) is not None and active.type in ("MESH", "EMPTY")

    def run(self, context: Any, _report: Report) -> Outcome:
        """Add it and make it active."""
        with scope.object_mode(context):
            part = context.view_layer.objects.active
            made = model_edit.new_point(context, part, self.kind, context.scene.cursor.location)
            for shown in list(context.selected_objects):
                shown.select_set(False)
            made.select_set(True)
            context.view_layer.objects.active = made
        return Outcome(said("Added {}").format(made.name))


class Batteries(Operation):
    """Changes the batteries of the active object's model."""

    bl_options = {"REGISTER", "UNDO"}

    def edited(self, context: bpy.types.Context) -> Iterable[Any]:
        """What has the batteries."""
        return (active_holder(context),)

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """It has a model."""
        chosen: Any = cls
        chosen.poll_message_set("The active object is not part of a Descent 3 model")
        return active_holder(context) is not None


class MOTIONBRIDGE_OT_descent_battery_add(Batteries, BlenderOperator):
    """Add a weapon battery to the model, with the selected gun points and turrets"""

    bl_idname = "motionbridge.descent_battery_add"
    bl_label = "Add Battery"

    def run(self, context: Any, _report: Report) -> Outcome:
        """Add it."""
        holder = active_holder(context)
        model = holder.motionbridge_descent_model
        row = model.batteries.add()
        model.active_battery = len(model.batteries) - 1
        guns = [shown for shown in context.selected_objects if shown.motionbridge_descent_point.kind == "GUN"]
        if guns:
            model_edit.set_members(row, context.selected_objects, holder)
        return Outcome(said("Batteries: {}").format(len(model.batteries)))


class MOTIONBRIDGE_OT_descent_battery_remove(Batteries, BlenderOperator):
    """Remove the chosen weapon battery; the following batteries are renumbered"""

    bl_idname = "motionbridge.descent_battery_remove"
    bl_label = "Remove Battery"

    def run(self, context: bpy.types.Context, _report: Report) -> Outcome:
        """Remove it."""
        model = active_holder(context).motionbridge_descent_model
        if not len(model.batteries):
            raise WriteError("there is no battery", remedy="Add one first")
        model.batteries.remove(min(model.active_battery, len(model.batteries) - 1))
        model.active_battery = max(min(model.active_battery, len(model.batteries) - 1), 0)
        return Outcome(said("Batteries: {}").format(len(model.batteries)))


class MOTIONBRIDGE_OT_descent_battery_set(Batteries, BlenderOperator):
    """Assign the selected gun points and turrets to the chosen battery"""

    bl_idname = "motionbridge.descent_battery_set"
    bl_label = "Set from Selected"

    def run(self, context: Any, _report: Report) -> Outcome:
        """Set what is selected."""
        holder = active_holder(context)
        model = holder.motionbridge_descent_model
        if not len(model.batteries):
            raise WriteError("there is no battery", remedy="Add one first")
        row = model.batteries[min(model.active_battery, len(model.batteries) - 1)]
        counts = model_edit.set_members(row, context.selected_objects, holder)
        return Outcome(said("Gun points: {}, turrets: {}").format(*counts))


class MOTIONBRIDGE_OT_descent_check(StartsAtOnce, Operation, BlenderOperator):
    """Find what Descent 3 rejects or shows differently, and select the first such faces or objects"""

    bl_idname = "motionbridge.descent_check"
    bl_label = "Select Invalid Elements"
    bl_options = {"REGISTER", "UNDO"}

    number: IntProperty(name="Finding", description="Index of the finding to select", default=0, min=0)

    @classmethod
    def poll(cls, context: Any) -> bool:
        """There is a mesh."""
        cls.poll_message_set("No mesh in the scene")
        return any(shown.type == "MESH" for shown in context.scene.objects)

    def edited(self, context: bpy.types.Context) -> Iterable[Any]:
        """Nothing: elements are selected."""
        return ()

    def run(self, context: bpy.types.Context, report: Report) -> Outcome:
        """Report everything, select the elements of one finding."""
        chosen = chosen_model(context)
        with scope.leaving_edit_mode(context):
            found = model_export.find_problems(context, chosen, report)
        layouts.remember_check(chosen.holder, len(found))
        if not found:
            return Outcome(said("No errors or warnings found"))
        for one in found:
            report.warn(one.finding.problem.line, one.shown.name if one.shown is not None else "")
        selectable = [one for one in found if one.shown is not None and one.shown.visible_get()]
        if not selectable:
            return Outcome(said("Findings: {}").format(len(found)))
        number = min(self.number, len(selectable) - 1)
        _select(context, selectable[number])
        words = (number + 1, len(selectable), selectable[number].finding.problem.sentence)
        return Outcome(said("Selected finding {} of {}: {}").format(*words))


def _select(context: Any, found: "model_export.Offending") -> None:
    """The object alone, and of its mesh the elements concerned, in edit mode."""
    shown, problem = found.shown, found.finding.problem
    for other in scope.objects_of(context.view_layer):
        other.select_set(other == shown)
    context.view_layer.objects.active = shown
    if not len(problem.elements) or shown.type != "MESH":
        return
    on_faces = problem.domain is core_model.Domain.FACE
    nothing = problem.elements[:0]
    meshes.select_elements(shown, problem.elements if on_faces else nothing, nothing if on_faces else problem.elements)
    context.tool_settings.mesh_select_mode = (not on_faces, False, on_faces)
    scope.set_mode("EDIT")


CLASSES = (
    MOTIONBRIDGE_OT_descent_begin,
    MOTIONBRIDGE_OT_descent_point_add,
    MOTIONBRIDGE_OT_descent_battery_add,
    MOTIONBRIDGE_OT_descent_battery_remove,
    MOTIONBRIDGE_OT_descent_battery_set,
    MOTIONBRIDGE_OT_descent_check,
)
