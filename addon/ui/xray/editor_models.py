"""Editor models (.object): import, export, Save Back, checks, and their panels in the Properties editor."""

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import EnumProperty, StringProperty

from ...blender import scope
from ...blender.properties import kept
from ...blender.typed import Action, Context, Object
from ...core.errors import ReadError, WriteError
from ...core.report import Report
from ...games.xray import kinds
from ...games.xray.models import editor_exporting, importing, making, taken_over
from ...games.xray.models.properties import holder_of, objects_below
from ...games.xray.motions import library, replaced
from ...games.xray.motions import properties as motion_properties
from ...games.xray.options import EditorModelExportOptions, ModelImportOptions
from ..bases import (
    BlenderOperator,
    BlenderPanel,
    ExportHelper,
    ImportHelper,
    classes_of,
    file_sentence,
    iface_,
    options_from,
    properties_from,
    rpt_,
)
from ..bones import hides_keys
from ..files import (
    FileExport,
    ModelFileImport,
    source_collection,
)
from ..layouts import FoldedOptions, draw_folded, draw_tolerances, fields
from ..operation import Check, Need, Operation, Outcome, draw_last_check
from ..preferences import model_options
from ..saving import ModelSaveBack
from ..target import (
    active_model,
    active_rig,
    checked_editor_model_of,
    editor_model_of,
    has_mesh,
)
from .models import MOTION_ITEMS, PropertiesPanel, draw_holder, draw_references, draw_user_data, import_motions
from .motion_choices import EditorMotionChoices, RemovedMotions, rest_is_edited
from .target import actions_moving, editor_model_to_export, root_of_active

if TYPE_CHECKING:
    from ...games.plan import FilePlan


ModelImportProperties: Any = properties_from(ModelImportOptions)
ModelExportProperties: Any = properties_from(EditorModelExportOptions)


class IMPORT_SCENE_OT_xray_object(ModelImportProperties, ModelFileImport, ImportHelper, BlenderOperator):
    """Import models of the editor of S.T.A.L.K.E.R. (X-Ray): armature, meshes, materials and motions"""

    bl_idname = "import_scene.xray_object"
    bl_label = "Import X-Ray Editor Model"

    filename_ext = ".object"
    filter_glob: StringProperty(default=kinds.EDITOR_MODELS.glob, options={"HIDDEN"})
    motions: EnumProperty(
        name="Motions", description="Which motions to import with the model", items=MOTION_ITEMS, default="INSIDE"
    )

    def draw(self, _context: Context) -> None:
        layout = fields(self.layout)
        for name in ("meshes", "textures", "motions", "readable_bones", "new_collection"):
            layout.prop(self, name)

    def run(self, context: Context, report: Report) -> Outcome:

        def work(path: str, report: Report) -> Any:
            options = model_options(context, self, collection=self.own_collection(path))
            imported = importing.import_editor_model(context, path, options, report)
            if imported.rig is not None and self.motions != "NONE":
                import_motions(context, imported, path, report, referenced=self.motions == "ALL", of_editor=True)
            return imported

        models = self.import_each(context, self.chosen_files("Choose at least one model (.object)"), work, report)
        bones = sum(len(model.rig.data.bones) for model in models if model.rig is not None)
        meshes = sum(len(model.meshes) for model in models)
        return Outcome(rpt_("Imported models: {} (bones: {}, meshes: {})").format(len(models), bones, meshes))


class EXPORT_SCENE_OT_xray_object(
    ModelExportProperties,
    FoldedOptions,
    RemovedMotions,
    FileExport,
    EditorMotionChoices,
    ExportHelper,
    BlenderOperator,
):
    """Export a model of the editor of S.T.A.L.K.E.R. (X-Ray): an imported one with its unedited bytes, or a new one"""

    bl_idname = "export_scene.xray_object"
    bl_label = "Export X-Ray Editor Model"
    needs = (
        Need("No mesh in the scene", lambda context: has_mesh(context) or editor_model_of(context)),
    )  # or bones only

    filename_ext = ".object"
    filter_glob: StringProperty(default=kinds.EDITOR_MODELS.exported_glob, options={"HIDDEN"})
    collection: source_collection("Export the model of this collection")
    types = ("MESH", "ARMATURE")

    def suggest(self, context: Context) -> None:
        """Suggest the imported file."""
        holder = editor_model_of(context)
        if holder is not None:
            self.filepath = bpy.path.abspath(holder.motionbridge_editor_model.path)

    def names_to_write(self, context: Context) -> list[str]:
        """Return the names of the motions that the model will have."""
        try:
            holder = editor_model_to_export(context, self.collection)
            if holder.motionbridge_editor_model.is_model:
                return replaced.names_inside(kept(holder.motionbridge_editor_model, "document"), self.filename_ext)
        except (ReadError, WriteError):
            return []  # the export will report what is wrong
        return library.written_names(self._chosen(holder), motion_properties.SKL_LISTS, Report())

    def written(self, context: Context) -> Collection[Object]:
        holder = editor_model_to_export(context, self.collection)
        is_new = not holder.motionbridge_editor_model.is_model
        return (holder, *(making.meshes_for(context, holder) if is_new else objects_below(holder)))

    def draw(self, context: Context) -> None:
        """Draw the options; that for the target editors only for a model that was not imported."""
        layout = fields(self.layout)
        self.draw_removed(layout)
        for name in ("skeleton", "meshes"):
            layout.prop(self, name)
        layout.prop(self, "modifiers", text=iface_("Apply Modifiers"), translate=False)
        layout.prop(self, "motions")
        holder = editor_model_of(context)
        rig = holder or active_rig(context)
        has_motions = self.motions and rig is not None and rig.type == "ARMATURE"
        if has_motions:
            self.draw_rest_change(layout, rig, "motionbridge_skeletal_files")
            self.draw_hidden_keys(layout, rig)
        if (holder is None or has_motions) and (body := draw_folded(self.layout, self, "show_options")):
            if holder is None:
                body.prop(self, "sdk")
            if has_motions:
                draw_tolerances(body, self)
        self.draw_last(context)

    def run(self, context: Context, report: Report) -> Outcome:
        path = self.named_file(kinds.EDITOR_MODELS)
        holder = editor_model_to_export(context, self.collection)
        options = options_from(self, EditorModelExportOptions, backup=self.backup)
        motions = self.export_options()
        if holder.motionbridge_editor_model.is_model:
            plan = editor_exporting.plan_export(context, holder, path, options, report, motions=motions)
        else:
            chosen = self._chosen(holder)
            plan = making.plan_new_object(context, holder, path, options, report, chosen=chosen, motions=motions)
        replaced.warn_of_model(holder.motionbridge_editor_model, path, plan.data, self.filename_ext, report)
        plan.write(backup=self.backup)
        if holder.motionbridge_editor_model.is_model:
            plan.settle_exported(holder.motionbridge_editor_model)
        if plan.inside is not None:
            self.restore_hidden_keys(holder, list(plan.inside.written))
        return Outcome(file_sentence(path, plan))

    def _chosen(self, holder: Object) -> list[Action]:
        """Return the actions for the motions of a new model."""
        return actions_moving(holder) if self.motions and self.skeleton and holder.type == "ARMATURE" else []


IMPORTED = Need("The active object is not part of an imported X-Ray editor model", editor_model_of)


class MOTIONBRIDGE_OT_editor_model_check(Check, BlenderOperator):
    """Find what the game's editors reject, and select the first affected faces or vertices"""

    bl_idname = "motionbridge.editor_model_check"
    bl_label = "Select Invalid Elements"
    needs = (Need("The active object is not part of an X-Ray editor model", checked_editor_model_of),)

    def find(self, context: Context, report: Report) -> tuple[Any, list[Any]]:
        """Check the model of the active object."""
        holder = checked_editor_model_of(context)
        if holder.motionbridge_editor_model.is_model:
            return holder, editor_exporting.find_problems(context, holder, report)
        return holder, making.find_problems(context, holder, report)


class MOTIONBRIDGE_OT_editor_model_normals(Operation, BlenderOperator):
    """Show the normals that the editor computes for edited meshes, by the smoothing rule of their file"""

    bl_idname = "motionbridge.editor_model_normals"
    bl_label = "Show Editor Normals"
    needs = (IMPORTED,)

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        holder = editor_model_of(context)
        return tuple(obj.data for obj in (holder, *holder.children_recursive) if obj.type == "MESH")

    def run(self, context: Context, report: Report) -> Outcome:
        with scope.object_mode(context):
            number = editor_exporting.show_normals(context, editor_model_of(context), report)
        return Outcome(rpt_("Meshes with the editor's normals: {}").format(number), done=number > 0)


class MOTIONBRIDGE_OT_take_over_xray(Operation, BlenderOperator):
    """Convert what blender-xray stored on the active model: bones, materials, motions, references, user data"""

    bl_idname = "motionbridge.take_over_xray"
    bl_label = "Convert from blender-xray"
    needs = (Need("Select the armature or object that blender-xray imported", root_of_active),)

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        holder = root_of_active(context)
        return (holder, holder.data)

    def run(self, context: Context, report: Report) -> Outcome:
        holder = root_of_active(context)
        actions = actions_moving(holder) if holder.type == "ARMATURE" else []
        taken = taken_over.take_over(holder, actions, report)
        words = (taken.bones, taken.materials, taken.actions, taken.references)
        return Outcome(rpt_("Converted: bones {}, materials {}, motions {}, motion references {}").format(*words))


class MOTIONBRIDGE_PT_editor_model(PropertiesPanel, BlenderPanel):
    """The editor model that the object is part of."""

    bl_label = "X-Ray Editor Model"
    bl_context = "object"

    @classmethod
    def poll(cls, context: Context) -> bool:
        """The object is part of an editor model, imported or new."""
        holder = holder_of(context.object)
        return holder is not None and not holder.motionbridge_model.is_model

    def draw(self, context: Context) -> None:
        """Draw file, operators, flags, LOD, authors, references, user data."""
        layout, holder = self.layout, holder_of(context.object)
        draw_holder(layout, context.object, holder)
        model = holder.motionbridge_editor_model
        if model.is_model:
            layout.prop(model, "path", text="")
            column = layout.column(align=True)
            column.operator("motionbridge.editor_model_save_back", icon="FILE_TICK")
            column.operator("motionbridge.editor_model_normals", icon="NORMALS_VERTEX_FACE")
        else:
            column = layout.column(align=True)
            if making.has_new_bones(holder):
                column.operator("motionbridge.new_game_model", text="Set Up New Bones", icon="ADD")
            column.operator("export_scene.xray_ogf", icon="EXPORT")
            column.operator("export_scene.xray_object", icon="EXPORT")
            column.operator("motionbridge.fit_shapes", icon="CUBE")
            column.operator("motionbridge.bones_as", icon="BONE_DATA")
        column.operator("motionbridge.editor_model_check", icon="VIEWZOOM")
        draw_last_check(layout, holder)
        # A column, since a row cuts off the longer names in a narrow editor.
        layout.column(align=True).prop(model, "shown_flags")
        column = self.fields()
        column.prop(model, "lod")
        column.prop(model, "scale")
        people = column.column(align=True)
        people.enabled = False
        people.prop(model, "creator")
        people.prop(model, "modifier")
        draw_references(layout, holder, model)
        draw_user_data(layout, model)
        layout.operator("motionbridge.report", icon="TEXT")


class MOTIONBRIDGE_PT_editor_parts(PropertiesPanel, BlenderPanel):
    """Bone parts of the model: sets of bones that can play separate motions."""

    bl_label = "Bone Parts"
    bl_context = "object"
    bl_parent_id = "MOTIONBRIDGE_PT_editor_model"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return len(holder_of(context.object).motionbridge_editor_model.parts) > 0

    def draw(self, context: Context) -> None:
        for part in holder_of(context.object).motionbridge_editor_model.parts:
            box = self.layout.box()
            box.prop(part, "name", text="")
            box.label(text=", ".join(bone.name for bone in part.bones), icon="BONE_DATA", translate=False)


class MOTIONBRIDGE_PT_surface(PropertiesPanel, BlenderPanel):
    """The material as a surface of the editor."""

    bl_label = "Surface"
    bl_context = "material"
    bl_parent_id = "MOTIONBRIDGE_PT_material"

    @classmethod
    def poll(cls, context: Context) -> bool:
        """The material is a surface of an editor model, or belongs to a model that can be exported as one."""
        if context.material is None:
            return False
        return (
            context.material.motionbridge_surface.is_surface
            or checked_editor_model_of(context) is not None
            or active_model(context) is not None
        )

    def draw(self, context: Context) -> None:
        """Draw compiler shader, game material and sides; the X-Ray Material panel has texture and engine shader."""
        column = self.fields()
        surface = context.material.motionbridge_surface
        if surface.is_surface:
            column.prop(surface, "game_name")
        column.prop(surface, "compiler_shader")
        row = column.row(align=True)
        row.prop(surface, "game_material")
        row.operator("motionbridge.choose_game_material", text="", icon="VIEWZOOM").target = "SURFACE"
        column.prop(surface, "two_sided")


class MOTIONBRIDGE_OT_editor_model_save_back(ModelSaveBack, EditorMotionChoices, BlenderOperator):
    """Write the editor's model with its motions to its source file, after a preview of the changes, with a backup"""

    bl_idname = "motionbridge.editor_model_save_back"
    bl_label = "Save Editor Model Back"
    needs = (IMPORTED,)
    stored_in, recipe = "motionbridge_editor_model", editor_exporting

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        """The object that stores the model, and its motions, which get the names that are written."""
        holder = editor_model_of(context)
        return (holder, *_motions_inside(holder))

    def planned(self, context: Context, report: Report) -> "FilePlan":
        return editor_exporting.plan_save_back(
            context,
            editor_model_of(context),
            if_changed=self.base(),
            report=report,
            motions=self.export_options(),
            samples=self._samples,
        )

    def questions(self, context: Context) -> dict[str, bool]:
        """Return the base file, and for a model with motions the edited rest pose and hidden keys."""
        holder = editor_model_of(context)
        moves = bool(_motions_inside(holder))
        return super().questions(context) | {
            "rest_change": moves and rest_is_edited(holder, "motionbridge_skeletal_files"),
            "hidden_keys": moves and hides_keys(holder),
        }

    def draw_options(self, context: Context, layout: bpy.types.UILayout) -> None:
        """Draw the tolerances of curve fitting if the model has motions."""
        if _motions_inside(editor_model_of(context)):
            draw_tolerances(layout, self)

    def settle(self, context: Context, plan: Any) -> None:
        """Store that the model and its motions are those of the written file."""
        super().settle(context, plan)
        if plan.inside is not None:
            self.restore_hidden_keys(editor_model_of(context), list(plan.inside.written))


def _motions_inside(holder: Object) -> list[Action]:
    """Return the actions of the motions inside a model."""
    file = editor_exporting.file_inside(holder)
    return library.motions_of(file) if file is not None else []


CLASSES = classes_of(__name__)
