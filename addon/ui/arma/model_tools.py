"""Check of an Arma model, and repairs of its geometry LODs: components and mass, also shown."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import EnumProperty, FloatProperty

from ...blender import compat, scope, views
from ...blender.typed import Context, Object
from ...core.errors import WriteError
from ...core.report import Report
from ...games.arma import flags, lod_list, mass, model_check, model_export
from ...games.arma.options import ModelExportOptions
from ...games.arma.properties import level_of, model_of
from ..bases import BlenderOperator, classes_of, rpt_
from ..layouts import fields
from ..operation import Check, Need, Operation, Outcome, StartsAtOnce
from ..preferences import known_games
from .models import PART_OF_MODEL, chosen_model

if TYPE_CHECKING:
    from ...games.arma.model_check import OffendingPart


class MOTIONBRIDGE_OT_arma_model_check(StartsAtOnce, Check, BlenderOperator):
    """Find what the game or its tools reject in the model, and select the first affected faces, vertices or objects"""

    bl_idname = "motionbridge.arma_model_check"
    bl_label = "Select Invalid Elements"
    needs = (PART_OF_MODEL,)

    def find(self, context: Context, report: Report) -> tuple[Any, list[Any]]:
        """Check the model that an export would write."""
        options = ModelExportOptions(games=known_games(context, "ARMA"))
        lods = model_export.gather_lods(context, chosen_model(context), options)
        problems = model_check.find_problems(lods, report)
        return model_of(context.view_layer.objects.active) or context.scene, problems

    def selectable(self, context: Context, problems: Sequence[Any], report: Report) -> list[Any]:
        """Return findings on visible meshes that can be edited, and those about objects that can be shown."""
        with_elements = {
            id(problem)
            for problem in super().selectable(context, problems, report)
            if _can_be_edited(context, problem.obj)
        }
        return [
            problem
            for problem in problems
            if id(problem) in with_elements
            or (problem.objects and all(_can_be_shown(context, obj) for obj in problem.objects))
        ]

    def select(self, context: Context, chosen: "OffendingPart") -> None:
        """Show and edit the LOD alone, since LODs overlap; what is exported stays selected.

        Of a finding about objects these are selected, in object mode.
        """
        selected = [obj for obj in scope.objects_of(context.view_layer) if obj.select_get()]
        first = chosen.objects[0] if chosen.objects else chosen.obj
        lods = lod_list.lods_of(context)
        lod_list.show(context, lods, lods[lod_list.index_of(lods, first)], alone=first.hide_get())
        if chosen.objects:
            for obj in chosen.objects:
                obj.hide_set(False)
            scope.make_current(context, chosen.objects, first)
            return
        for obj in selected:
            obj.select_set(False)
        super().select(context, chosen)
        chosen.obj.select_set(False)
        for obj in selected:
            obj.select_set(True)


def _can_be_edited(context: Context, obj: Any) -> bool:
    """Return whether a LOD can be shown, so that its elements can be selected."""
    return obj.library is None and obj.data.library is None and _can_be_shown(context, obj)


def _can_be_shown(context: Context, obj: Any) -> bool:
    if obj not in scope.objects_of(context.view_layer):
        return False
    hidden = obj.hide_get()
    obj.hide_set(False)
    result = obj.visible_get(view_layer=context.view_layer)
    obj.hide_set(hidden)
    return bool(result)


def can_undo_groups(context: Context) -> bool:
    """Return whether new vertex groups, or new weights, can be undone in the present mode."""
    return context.mode != "EDIT_MESH" or compat.GROUPS_UNDONE_IN_EDIT_MODE


def _geometries(context: Context) -> list[Object]:
    """Return the geometry LODs among the active object (or the LOD that it belongs to) and the selected ones."""
    level = level_of(context.view_layer.objects.active)
    objects = [*([level.id_data] if level is not None else []), *context.view_layer.objects.selected]
    return scope.one_for_each_mesh(obj for obj in objects if model_check.has_components(obj))


class MOTIONBRIDGE_OT_arma_find_components(Operation, BlenderOperator):
    """Make a vertex group Component01, Component02 and so on of each connected piece of the selected geometry LODs"""

    bl_idname = "motionbridge.arma_find_components"
    bl_label = "Find Components"
    needs = (
        Need("Leave edit mode first (Tab): this Blender cannot undo new vertex groups there", can_undo_groups),
        Need("No geometry LOD is selected: its components are what the game collides with", _geometries),
    )

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        return [block for obj in _geometries(context) for block in (obj, obj.data)]

    def run(self, context: Context, _report: Report) -> Outcome:
        objects = _geometries(context)
        with scope.object_mode(context):
            counts = [model_check.number_components(obj) for obj in objects]
        if not any(counts):
            return Outcome(rpt_("No faces, so no components"), done=False)
        if len(objects) == 1:
            return Outcome(rpt_("Components of {}: {}").format(objects[0].name, counts[0]))
        return Outcome(rpt_("Components: {}, LODs: {}").format(sum(counts), len(objects)))


DISTRIBUTIONS = (
    ("EVENLY", "Evenly", "The same mass on each point"),
    ("VOLUME", "By Volume", "To each component by its volume, evenly on its points"),
    ("DENSITY", "By Density", "The volume of each component times the density, evenly on its points"),
)
PARTS = (
    ("WHOLE", "Whole LOD", "All points of the LOD"),
    ("SELECTED", "Selected", "The selected vertices; by volume or density all of the loose parts that they are in"),
)


def _with_mass(context: Context) -> Any:
    """Return the active LOD if its points have a mass, or None."""
    level = level_of(context.view_layer.objects.active)
    return level.id_data if level is not None and model_check.has_mass(level.id_data) else None


def _edited_masses(context: Context) -> list[Any]:
    """Return the active LOD and the others with mass that are selected, or edited with it, one for each mesh."""
    active = _with_mass(context)
    if active is None:
        return []
    layer = context.view_layer
    is_edited = active.mode == "EDIT"
    others = [
        obj
        for obj in (scope.objects_of(layer) if is_edited else layer.objects.selected)
        if obj.type == "MESH" and model_check.has_mass(obj) and (obj.mode == "EDIT") == is_edited
    ]
    return scope.one_for_each_mesh([active, *others])


class MOTIONBRIDGE_OT_arma_set_mass(Operation, BlenderOperator):
    """Distribute a mass on the points of the selected geometry LODs, or in Edit Mode on their selected parts"""

    bl_idname = "motionbridge.arma_set_mass"
    bl_label = "Set Mass"
    needs = (Need("The active LOD has no mass: make the Geometry LOD active", _with_mass),)

    mass: FloatProperty(
        name="Mass (kg)",
        description="Mass of the whole LOD, or of the selection, in kilograms",
        default=100,
        min=0,
        soft_max=100_000,
    )
    density: FloatProperty(
        name="Density (kg/m³)", description="Mass per volume of all components", default=200, min=0, soft_max=10_000
    )
    distribution: EnumProperty(
        name="Distribution", description="How much each point gets", items=DISTRIBUTIONS, default="EVENLY"
    )
    part: EnumProperty(
        name="Apply To",
        description="Which points get the mass; the others keep theirs",
        items=PARTS,
        options={"SKIP_SAVE"},
    )

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        return [block for obj in _edited_masses(context) for block in (obj, obj.data)]

    def invoke(self, context: Context, _event: bpy.types.Event) -> Any:
        """Start from the present mass; in Edit Mode from that of the selection, if there is one."""
        obj = _with_mass(context)
        if obj.mode == "EDIT" and not self.properties.is_property_set("part"):
            obj.update_from_editmode()
            self.part = "SELECTED" if obj.data.total_vert_sel else "WHOLE"
        self.mass = mass.mass_of(obj, selected=self.part == "SELECTED") or self.mass
        return context.window_manager.invoke_props_dialog(self)

    def draw(self, context: Context) -> None:
        layout = fields(self.layout)
        layout.prop(self, "density" if self.distribution == "DENSITY" else "mass")
        layout.prop(self, "distribution")
        if context.mode == "EDIT_MESH":
            layout.prop(self, "part")

    def run(self, context: Context, report: Report) -> Outcome:
        objects, selected = _edited_masses(context), self.part == "SELECTED"
        by_volume = self.distribution != "EVENLY"
        with scope.object_mode(context):
            if selected:
                objects = [obj for obj in objects if flags.selected(obj.data, "VERTEX").any()]
            if not objects:
                raise WriteError("no vertex is selected", remedy="Select vertices in edit mode")
            totals = [
                mass.mass_by_density(obj, self.density, selected=selected)
                if self.distribution == "DENSITY"
                else self.mass
                for obj in objects
            ]
            points = 0
            for obj, total in zip(objects, totals, strict=True):
                points += mass.set_mass(obj, total, report, by_volume=by_volume, selected=selected)
        name = ", ".join(obj.name for obj in objects)
        if selected:
            text = rpt_("{}: {:g} kg on {} points, {:g} kg in all")
            return Outcome(text.format(name, sum(totals), points, sum(mass.mass_of(obj) for obj in objects)))
        return Outcome(rpt_("{} has a mass of {:g} kg").format(name, sum(totals)))


class MOTIONBRIDGE_OT_arma_show_mass(Operation, BlenderOperator):
    """Show the masses of the LOD's points as colors, from blue to red, and mark the center of mass; or remove both"""

    bl_idname = "motionbridge.arma_show_mass"
    bl_label = "Show Mass"
    needs = (
        Need("The active LOD has no mass: make the Geometry LOD active", _with_mass),
        Need("Leave edit mode first (Tab)", lambda context: _with_mass(context).mode == "OBJECT"),
    )

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        obj = _with_mass(context)
        return obj, obj.data

    def run(self, context: Context, _report: Report) -> Outcome:
        obj = _with_mass(context)
        if mass.is_shown(obj):
            mass.hide(obj)
            views.show_colours(context, "MATERIAL")
            return Outcome(rpt_("The mass is no longer shown"))
        total, centre = mass.mass_of(obj), mass.centre_of(obj)
        if centre is None:
            return Outcome(rpt_("{} has no mass").format(obj.name), done=False)
        largest = mass.show(context, obj)
        views.show_colours(context, "VERTEX")
        text = rpt_("{}: {:g} kg, center at {:.3f}, {:.3f}, {:.3f}; red is {:g} kg")
        return Outcome(text.format(obj.name, total, *centre, largest))


CLASSES = classes_of(__name__)
