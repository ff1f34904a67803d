"""Models of Arma in the interface: export, Save Back, LODs with their named properties, points and proxies, materials.

The import is in `files`, beside that of animations, with which it shares options.
"""

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import EnumProperty, IntProperty, StringProperty

from ...blender import attributes, scope
from ...blender.typed import Context, Object
from ...core.errors import WriteError
from ...core.report import Report, joined, say
from ...formats.arma import lod_kinds
from ...games import plan as plans
from ...games.arma import kinds, lod_list, model_check, model_export, proxies, textures
from ...games.arma import mass as masses
from ...games.arma.options import LOD_KINDS, LOD_WORDS, ModelExportOptions, lod_identifier
from ...games.arma.properties import (
    is_of_model,
    level_of,
    model_of,
    suggested_marks,
    suggested_properties,
    suggested_values,
)
from ..bases import (
    BlenderOperator,
    BlenderPanel,
    ExportHelper,
    classes_of,
    file_sentence,
    iface_,
    options_from,
    properties_from,
    rpt_,
    tell,
)
from ..files import (
    FileExport,
    source_collection,
)
from ..layouts import fields
from ..operation import Need, Operation, Outcome, draw_last_check, stores_nothing
from ..preferences import known_games
from ..saving import ModelSaveBack
from ..sidebar import MotionbridgePanel
from ..target import MESH, active_object, has_mesh, objects_of, on_active
from . import flags, lods
from .proxies import AXES

if TYPE_CHECKING:
    from ...games.plan import FilePlan

LEVELS_SHOWN = 12
"""Most LODs that the export's dialog lists."""
ModelExportProperties: Any = properties_from(ModelExportOptions)


def chosen_model(context: Context, collection: str = "", *, selected: bool = False) -> "model_export.Chosen":
    """Return the objects to export: of ``collection``, else of the model of the active object or armature.

    Else the LODs that belong to no imported model: all of the scene, or with ``selected`` the selected ones.

    Raises `WriteError` for a collection with parts of several models.
    """
    if collection:
        inside = objects_of(collection)
        models = list(dict.fromkeys(model_of(obj) for obj in inside if is_of_model(obj)))
        if len(models) > 1:
            words = "the collection {!r} holds parts of several Arma models"
            raise WriteError(say(words, collection), remedy="Keep one model in a collection that exports it")
        return model_export.Chosen.of(models[0] if models else None, inside)
    model = _active_model(context)
    if model is not None:
        return model_export.Chosen.of_scenes(model, context.scene)
    if not selected:
        return model_export.Chosen.of(None, context.scene.objects)
    # Long work runs in a thread of its own, where the context has no `selected_objects`.
    parts = list(context.view_layer.objects.selected)
    below = [child for part in parts for child in part.children_recursive]
    return model_export.Chosen.of(None, dict.fromkeys([*parts, *below]))


def _active_model(context: Context) -> Any:
    """Return the imported model of the active object, or the only one whose parts follow the active armature; None for
    a new model.
    """
    active = context.view_layer.objects.active
    if active is None or active.type != "ARMATURE" or is_of_model(active):
        return model_of(active)
    models = {model_of(part) for part in active.children_recursive if is_of_model(part)}
    return models.pop() if len(models) == 1 else None


PART_OF_MODEL = Need("The active object is not part of an Arma model", on_active(is_of_model))


class EXPORT_SCENE_OT_arma_p3d(ModelExportProperties, FileExport, ExportHelper, BlenderOperator):
    """Export the LODs, points and proxies of an editable Arma model (.p3d, MLOD); unedited LODs keep their bytes"""

    bl_idname = "export_scene.arma_p3d"
    bl_label = "Export Arma Model"
    needs = (Need("No mesh in the scene", lambda context: has_mesh(context) or is_of_model(active_object(context))),)

    filename_ext = ".p3d"
    filter_glob: StringProperty(default=kinds.MODELS.exported_glob, options={"HIDDEN"})
    collection: source_collection("Export the model of this collection")
    types = ("MESH",)
    checked = ("selected", "transforms")
    is_costly = True

    def suggest(self, context: Context) -> None:
        """Suggest the imported file; of a new model the one that it was exported to last."""
        active, model = context.view_layer.objects.active, _active_model(context)
        if model is not None:
            self.filepath = bpy.path.abspath(model.motionbridge_arma_model.path)
        elif active is not None:
            parts = chosen_model(context, selected=self.selected).parts
            last = plans.last_destination([active, *parts])
            self.filepath = last or f"{bpy.path.clean_name(active.name)}.p3d"

    def preview(self, context: Context, report: Report) -> "FilePlan":
        options, findings = options_from(self, ModelExportOptions, games=known_games(context, "ARMA")), Report()
        plan = model_export.preview(
            context, chosen_model(context, self.collection, selected=self.selected), options, findings
        )
        report.include(Report(findings.warnings))
        return plan

    def draw(self, context: Context) -> None:
        layout = fields(self.layout)
        if not self.collection and _active_model(context) is None:
            layout.prop(self, "selected")
            _draw_chosen(layout, chosen_model(context, selected=self.selected))
        layout.prop(self, "modifiers", text=iface_("Apply Modifiers"), translate=False)
        layout.prop(self, "transforms")
        self.draw_last(context)

    def written(self, context: Context) -> Collection[Object]:
        return chosen_model(context, self.collection, selected=self.selected).parts

    def run(self, context: Context, report: Report) -> Outcome:
        path = self.named_file(kinds.MODELS)
        options = options_from(self, ModelExportOptions, games=known_games(context, "ARMA"))
        chosen = chosen_model(context, self.collection, selected=self.selected)
        plan = model_export.plan_export(context, chosen, path, options, report)
        plan.write(backup=self.backup)
        plans.remember_destination(chosen.parts, path)
        if chosen.model is not None:
            plan.settle_exported(chosen.model.motionbridge_arma_model)
        return Outcome(file_sentence(path, plan))


def _draw_chosen(layout: bpy.types.UILayout, chosen: "model_export.Chosen") -> None:
    """Draw which LODs of a new model an export will write."""
    levels = sorted(chosen.levels, key=lambda obj: obj.motionbridge_arma_level.resolution)
    column = layout.column(align=True)
    counts = [say("{:# LOD|# LODs}", len(levels))]
    if chosen.marks:
        counts.append(say("{:# point or proxy|# points and proxies}", len(chosen.marks)))
    column.label(text=tell(joined(counts)), icon="MESH_DATA", translate=False)
    for obj in levels[:LEVELS_SHOWN]:
        level = obj.motionbridge_arma_level
        column.label(text=f"{lod_kinds.name_of(level.resolution)}: {obj.name}", icon="DOT", translate=False)
    if len(levels) > LEVELS_SHOWN:
        column.label(text=iface_("{} more").format(len(levels) - LEVELS_SHOWN), icon="DOT", translate=False)


class MOTIONBRIDGE_OT_arma_model_save_back(ModelSaveBack, BlenderOperator):
    """Write the model to its source file, after a preview of the changes, with a backup"""

    bl_idname = "motionbridge.arma_model_save_back"
    bl_label = "Save Model Back"
    needs = (
        Need("The active object is not part of an imported Arma model", on_active(is_of_model)),
        Need(
            "This model has no imported file: use Export Model, which suggests the last exported one",
            on_active(model_of),
        ),
    )
    stored_in, recipe = "motionbridge_arma_model", model_export

    def planned(self, context: Context, report: Report) -> "FilePlan":
        options = ModelExportOptions(games=known_games(context, "ARMA"))
        chosen = chosen_model(context)
        return model_export.plan_save_back(context, chosen, options, if_changed=self.base(), report=report)


# LODs, points and proxies ---------------------------------------------------------------------------------------------


class MOTIONBRIDGE_OT_arma_set_lod(Operation, BlenderOperator):
    """Make the active mesh a level of detail (LOD) of an Arma model, or change what it is for"""

    bl_idname = "motionbridge.arma_set_lod"
    bl_label = "Set Arma LOD"
    needs = (MESH,)

    kind: EnumProperty(name="LOD", description="Purpose of the LOD", items=LOD_KINDS, default="RESOLUTION")
    number: IntProperty(
        name="Number",
        description="Number of the LOD, if a model may have several of them",
        default=1,
        min=0,
        max=999,
    )

    def invoke(self, context: Context, _event: bpy.types.Event) -> Any:
        level = context.view_layer.objects.active.motionbridge_arma_level
        if level.is_level:
            self.kind, self.number = _kind_and_number(level.resolution)
        return context.window_manager.invoke_props_dialog(self)

    def draw(self, _context: Context) -> None:
        layout = fields(self.layout)
        layout.prop(self, "kind")
        row = layout.row()
        row.enabled = lod_kinds.BY_WORD[LOD_WORDS[self.kind]].is_numbered
        row.prop(self, "number")

    def run(self, context: Context, _report: Report) -> Outcome:
        """Set it; a mesh beside selected parts of an imported model becomes a LOD of that model."""
        active = context.view_layer.objects.active
        level = active.motionbridge_arma_level
        if not level.is_level:
            others = [obj for obj in context.view_layer.objects.selected if obj != active and is_of_model(obj)]
            level.model = next((model_of(obj) for obj in others), None)
        lod_list.set_resolution(active, lod_kinds.resolution_of(LOD_WORDS[self.kind], self.number))
        return Outcome(rpt_("{} is the LOD {}").format(active.name, lod_kinds.name_of(level.resolution)))


def _kind_and_number(resolution: float) -> tuple[str, int]:
    """Return the item of `LOD_KINDS` and the number of a LOD; a Resolution LOD if its purpose is unknown."""
    word = lod_kinds.kind_of(resolution)
    if word in lod_kinds.BY_WORD:
        return lod_identifier(word), max(round(lod_kinds.number_of(resolution)), 0)
    return lod_identifier(lod_kinds.RESOLUTION), 0


class OnLevel(Operation):
    """Base of operators on the LOD of the active object."""

    needs: tuple[Need, ...] = (Need("The active object is not part of a LOD of an Arma model", on_active(level_of)),)

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        return (level_of(context.view_layer.objects.active).id_data,)


class MOTIONBRIDGE_OT_arma_property_add(OnLevel, BlenderOperator):
    """Add a named property to the LOD"""

    bl_idname = "motionbridge.arma_property_add"
    bl_label = "Add Named Property"

    label: StringProperty(
        name="Name",
        description="Name of the property, such as autocenter",
        default="autocenter",
        search=lambda _operator, context, typed: suggested_properties(active_object(context), typed),
        search_options={"SUGGESTION"},
        options={"SKIP_SAVE"},
    )
    value: StringProperty(
        name="Value",
        description="Value of the property",
        default="0",
        search=lambda operator, _context, typed: suggested_values(operator.label, typed),
        search_options={"SUGGESTION"},
        options={"SKIP_SAVE"},
    )

    def run(self, context: Context, _report: Report) -> Outcome:
        """Add it; without a name the first that means something in the LOD and that it lacks."""
        names = suggested_properties(active_object(context), "")
        if names and self.label not in names and not self.properties.is_property_set("label"):
            self.label, self.value = names[0], next(iter(suggested_values(names[0], "")), "")
        row = level_of(context.view_layer.objects.active).properties.add()
        row.name, row.value = self.label, self.value
        return Outcome(rpt_("Added the property {}").format(self.label))


class MOTIONBRIDGE_OT_arma_property_remove(OnLevel, BlenderOperator):
    """Remove this named property from the LOD"""

    bl_idname = "motionbridge.arma_property_remove"
    bl_label = "Remove Named Property"

    index: IntProperty(name="Index", description="Index of the property in the list", min=0, options={"HIDDEN"})

    def run(self, context: Context, _report: Report) -> Outcome:
        properties = level_of(context.view_layer.objects.active).properties
        if self.index >= len(properties):
            return Outcome(rpt_("No property to remove"), done=False)
        name = properties[self.index].name
        properties.remove(self.index)
        return Outcome(rpt_("Removed the property {}").format(name))


MARKS = (
    ("POINT", "Point", "A point of the Memory LOD"),
    ("PROXY", "Proxy", "Where another model is attached to the LOD"),
)


PLACES = (
    ("CURSOR", "3D Cursor", "At the 3D cursor, not rotated"),
    *((key, label, description) for key, label, description in AXES),
)


class MOTIONBRIDGE_OT_arma_mark_add(OnLevel, BlenderOperator):
    """Add a point or a proxy to the model, at the 3D cursor or at the active face"""

    bl_idname = "motionbridge.arma_mark_add"
    bl_label = "Add Point or Proxy"
    needs = (PART_OF_MODEL,)
    edited = stores_nothing  # a new object is made

    kind: EnumProperty(name="Type", description="What the empty represents in the model", items=MARKS)
    label: StringProperty(
        name="Name",
        description="Name of the point, or path of the attached model with a number: tag\\addon\\gun.001",
        default="point",
        search=lambda operator, _context, typed: suggested_marks(operator.kind, typed),
        search_options={"SUGGESTION"},
    )
    align: EnumProperty(
        name="Align", description="Where it is added, and how a proxy is turned", items=PLACES, options={"SKIP_SAVE"}
    )

    def invoke(self, context: Context, _event: bpy.types.Event) -> Any:
        """Open the dialog; in Edit Mode the active face is where it is added."""
        active = context.view_layer.objects.active
        is_at_face = active.mode == "EDIT" and attributes.active_face(active.data, ()) is not None
        if is_at_face and not self.properties.is_property_set("align"):
            self.kind, self.align = "PROXY", "UP"
        return context.window_manager.invoke_props_dialog(self)

    def run(self, context: Context, _report: Report) -> Outcome:
        """Add it. Edit Mode ends, where an undo would not remove a new object."""
        active = context.view_layer.objects.active
        with scope.leaving_edit_mode(context):
            level = level_of(active)
            frame = None
            if self.align != "CURSOR":
                if level is None:
                    raise WriteError("no LOD is active", remedy="Make the LOD active whose face it is")
                frame = proxies.active_frame(level.id_data, self.align)
            mark = model_export.add_mark(context, active, self.kind, self.label)
            if frame is not None:
                proxies.place(mark, frame)
        return Outcome(rpt_("Added {}").format(mark.name))


class MOTIONBRIDGE_PT_arma_model(MotionbridgePanel, BlenderPanel):
    """The active object as part of an Arma model."""

    bl_label = "Arma Model"
    bl_order = -1

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Whether the active object is part of a model; also while the eye of its row hides it."""
        return is_of_model(active_object(context))

    def draw(self, context: Context) -> None:
        """Draw the LODs, the active point or proxy, the buttons of the active LOD and of the model."""
        layout, active = self.layout, active_object(context)
        lods.draw(layout, context)
        _draw_mark(layout, active)
        level = level_of(active)
        if level is not None:
            _draw_level(layout, level)
            if active.mode == "EDIT" and active == level.id_data:
                flags.draw(layout.column(align=True), context, active.data)
        layout.operator("motionbridge.arma_mark_add", icon="EMPTY_DATA")
        layout.operator("motionbridge.arma_model_check", icon="VIEWZOOM")
        draw_last_check(layout, model_of(active) or context.scene)
        column = layout.column(align=True)
        column.operator("motionbridge.arma_model_save_back", icon="FILE_TICK")
        column.operator("export_scene.arma_p3d", text="Export Model", icon="EXPORT")


class OfLevel(MotionbridgePanel):
    """Base of panels of the active LOD below the panel of the model."""

    bl_parent_id = "MOTIONBRIDGE_PT_arma_model"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return level_of(active_object(context)) is not None


class MOTIONBRIDGE_PT_arma_properties(OfLevel, BlenderPanel):
    """Named properties of the active LOD."""

    bl_label = "Named Properties"

    def draw(self, context: Context) -> None:
        layout, level = self.layout, level_of(active_object(context))
        rows = layout.column(align=True)
        for number, entry in enumerate(level.properties):
            row = rows.row(align=True)
            row.prop(entry, "label", text="")
            row.prop(entry, "value", text="")
            row.operator("motionbridge.arma_property_remove", text="", icon="REMOVE").index = number
        layout.operator("motionbridge.arma_property_add", icon="ADD")


class MOTIONBRIDGE_PT_arma_textures(OfLevel, BlenderPanel):
    """Texture and material file of the active material in the game."""

    bl_label = "Texture and Material"

    @classmethod
    def poll(cls, context: Context) -> bool:
        active = active_object(context)
        return level_of(active) is not None and active.active_material is not None

    def draw(self, context: Context) -> None:
        _draw_material(fields(self.layout).column(), context, active_object(context).active_material)


def _draw_mark(layout: bpy.types.UILayout, active: Object) -> None:
    mark = active.motionbridge_arma_mark
    if mark.kind != "NONE":
        column = fields(layout.column())
        column.prop(mark, "game_name", text="Proxy" if mark.kind == "PROXY" else "Point")
    if mark.kind == "PROXY":
        row = layout.row(align=True)
        row.operator_menu_enum("motionbridge.arma_proxy_align", "axis", text="Align to Face", icon="SNAP_NORMAL")
        row.operator("motionbridge.arma_proxies_copy", text="Copy to LODs", icon="DUPLICATE")


def _draw_level(layout: bpy.types.UILayout, level: Any) -> None:
    column = layout.column(align=True)
    if model_check.has_components(level.id_data):
        column.operator("motionbridge.arma_find_components", icon="MOD_EXPLODE")
    if model_check.has_mass(level.id_data):
        row = column.row(align=True)
        row.operator("motionbridge.arma_set_mass", icon="PHYSICS")
        is_shown = masses.is_shown(level.id_data)
        row.operator("motionbridge.arma_show_mass", text="", icon="HIDE_OFF", depress=is_shown)


class MOTIONBRIDGE_PT_arma_material(BlenderPanel):
    """Texture and material file of the material in the game."""

    bl_label = "Arma Material"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "material"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.material is not None and is_of_model(context.object)

    def draw(self, context: Context) -> None:
        _draw_material(fields(self.layout).column(), context, context.material)


def _draw_material(column: bpy.types.UILayout, context: Context, material: Any) -> None:
    properties = material.motionbridge_material
    column.prop(properties, "texture", text=iface_("Texture (.paa)"), translate=False)
    if not properties.texture and (path := textures.texture_of(material, known_games(context, "ARMA"))):
        column.label(text=iface_("From the image: {}").format(path), icon="IMAGE_DATA", translate=False)
    column.prop(material, "motionbridge_arma_rvmat", text=iface_("Material (.rvmat)"), translate=False)


CLASSES = classes_of(__name__)
