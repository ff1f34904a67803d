"""Check of an Arma model, and repairs of its geometry LODs: components and mass."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import EnumProperty, FloatProperty

from ...blender import compat, scope
from ...blender.typed import Context, Object
from ...core.report import Report
from ...games.arma import lod_list, model_check, model_export
from ...games.arma.options import ModelExportOptions
from ...games.arma.properties import level_of, model_of
from ..bases import BlenderOperator, classes_of, rpt_
from ..layouts import fields
from ..operation import Check, Need, Operation, Outcome, StartsAtOnce
from ..preferences import known_games
from .models import PART_OF_MODEL, chosen_model

if TYPE_CHECKING:
    from ...blender.mesh import Offending


class MOTIONBRIDGE_OT_arma_model_check(StartsAtOnce, Check, BlenderOperator):
    """Find what the game or its tools reject in the model, and select the first affected faces or vertices"""

    bl_idname = "motionbridge.arma_model_check"
    bl_label = "Select Invalid Elements"
    needs = (PART_OF_MODEL,)

    def find(self, context: Context, report: Report) -> tuple[Any, list[Any]]:
        """Check the model that an export would write."""
        options = ModelExportOptions(games=known_games(context, "ARMA"))
        lods = model_export.gather_lods(context, chosen_model(context), options)
        problems = model_check.find_problems(lods, report)
        return model_of(context.view_layer.objects.active) or context.scene, problems

    def selectable(self, context: Context, problems: Sequence["Offending"], report: Report) -> list["Offending"]:
        """Return findings on visible meshes that can be edited."""
        return [
            problem for problem in super().selectable(context, problems, report) if _can_be_edited(context, problem.obj)
        ]

    def select(self, context: Context, chosen: "Offending") -> None:
        """Show and edit the LOD alone, since LODs overlap; what is exported stays selected."""
        selected = [obj for obj in scope.objects_of(context.view_layer) if obj.select_get()]
        lods = lod_list.lods_of(context)
        lod_list.show(context, lods, lods[lod_list.index_of(lods, chosen.obj)], alone=chosen.obj.hide_get())
        for obj in selected:
            obj.select_set(False)
        super().select(context, chosen)
        chosen.obj.select_set(False)
        for obj in selected:
            obj.select_set(True)


def _can_be_edited(context: Context, obj: Any) -> bool:
    """Return whether a LOD can be shown, so that its elements can be selected."""
    if obj not in scope.objects_of(context.view_layer) or obj.library is not None or obj.data.library is not None:
        return False
    hidden = obj.hide_get()
    obj.hide_set(False)
    result = obj.visible_get(view_layer=context.view_layer)
    obj.hide_set(hidden)
    return bool(result)


def _can_undo_groups(context: Context) -> bool:
    return context.mode != "EDIT_MESH" or compat.GROUPS_UNDONE_IN_EDIT_MODE


def _geometries(context: Context) -> list[Object]:
    """Return the geometry LODs among the active object (or the LOD that it belongs to) and the selected ones."""
    level = level_of(context.view_layer.objects.active)
    objects = [*([level.id_data] if level is not None else []), *context.view_layer.objects.selected]
    with_components = [obj for obj in dict.fromkeys(objects) if model_check.has_components(obj)]
    return list({obj.data: obj for obj in reversed(with_components)}.values())[::-1]


class MOTIONBRIDGE_OT_arma_find_components(Operation, BlenderOperator):
    """Make a vertex group Component01, Component02 and so on of each connected piece of the selected geometry LODs"""

    bl_idname = "motionbridge.arma_find_components"
    bl_label = "Find Components"
    needs = (
        Need("Leave edit mode first (Tab): this Blender cannot undo new vertex groups there", _can_undo_groups),
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


def _with_mass(context: Context) -> Any:
    """Return the active LOD if its points have a mass, or None."""
    level = level_of(context.view_layer.objects.active)
    return level.id_data if level is not None and model_check.has_mass(level.id_data) else None


class MOTIONBRIDGE_OT_arma_set_mass(Operation, BlenderOperator):
    """Distribute a mass on the points of the geometry LOD"""

    bl_idname = "motionbridge.arma_set_mass"
    bl_label = "Set Mass"
    needs = (Need("The active LOD has no mass: make the Geometry LOD active", _with_mass),)

    mass: FloatProperty(
        name="Mass (kg)", description="Mass of the whole LOD in kilograms", default=100, min=0, soft_max=100_000
    )
    density: FloatProperty(
        name="Density (kg/m³)", description="Mass per volume of all components", default=200, min=0, soft_max=10_000
    )
    distribution: EnumProperty(
        name="Distribution", description="How much each point gets", items=DISTRIBUTIONS, default="EVENLY"
    )

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        obj = _with_mass(context)
        return obj, obj.data

    def invoke(self, context: Context, _event: bpy.types.Event) -> Any:
        """Start from the present mass."""
        self.mass = model_check.mass_of(_with_mass(context)) or self.mass
        return context.window_manager.invoke_props_dialog(self)

    def draw(self, _context: Context) -> None:
        layout = fields(self.layout)
        layout.prop(self, "density" if self.distribution == "DENSITY" else "mass")
        layout.prop(self, "distribution")

    def run(self, context: Context, report: Report) -> Outcome:
        obj = _with_mass(context)
        with scope.object_mode(context):
            mass = model_check.mass_by_density(obj, self.density) if self.distribution == "DENSITY" else self.mass
            model_check.set_mass(obj, mass, report, by_volume=self.distribution != "EVENLY")
        return Outcome(rpt_("{} has a mass of {:g} kg").format(obj.name, mass))


CLASSES = classes_of(__name__)
