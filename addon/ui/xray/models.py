"""Models (.ogf) and bone properties (.bones): import, export, and the panels of a model and its bones."""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import EnumProperty, StringProperty

from ...blender import scope
from ...blender.properties import kept, refuse_linked
from ...blender.typed import Action, Context, Object
from ...core import files
from ...core.errors import ReadError, WriteError
from ...core.report import Report, say
from ...formats import HEAD_SIZE, detect
from ...formats.xray import omf
from ...games.descent3 import textures
from ...games.xray import kinds
from ...games.xray.bones import properties as bone_properties
from ...games.xray.bones import values as bone_values
from ...games.xray.models import exporting as model_export
from ...games.xray.models import importing as model_importing
from ...games.xray.models import making
from ...games.xray.models.properties import holder_of, objects_below, remembered
from ...games.xray.motions import inside_models, library, omf_codec, replaced, skl_codec
from ...games.xray.motions import properties as motion_properties
from ...games.xray.options import ModelExportOptions, ModelImportOptions, MotionImportOptions, SkeletalImportOptions
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
from ..files import (
    ArmatureExport,
    FileExport,
    FileImport,
    ModelFileImport,
    keep_and_show,
    source_collection,
)
from ..layouts import SIDEBAR, FoldedOptions, draw_folded, fields, paragraph
from ..operation import Need, Operation, Outcome
from ..preferences import model_options
from ..saving import ModelSaveBack
from ..searched_lists import PanelList
from ..target import (
    active_model,
    active_rig,
    has_mesh,
    likely_rig,
    on_active,
    rig_to_export,
    some_action,
)
from . import motion_choices
from .target import actions_moving, draw_rig, game_model_to_export, rig_to_import_onto

if TYPE_CHECKING:
    from ...games.plan import FilePlan
    from ...games.xray.models.properties import EditorModelProperties, ModelProperties

ModelImportProperties: Any = properties_from(ModelImportOptions)
ModelExportProperties: Any = properties_from(ModelExportOptions)
MOTION_ITEMS = (
    ("NONE", "None", "Only the model"),
    ("INSIDE", "Inside the Model", "Motions stored inside the model file"),
    ("ALL", "Inside and Referenced", "Motions inside the model, and motions of the referenced files that are found"),
)


class IMPORT_SCENE_OT_xray_ogf(ModelImportProperties, ModelFileImport, ImportHelper, BlenderOperator):
    """Import S.T.A.L.K.E.R. (X-Ray) models: armature, meshes, materials and optionally motions"""

    bl_idname = "import_scene.xray_ogf"
    bl_label = "Import X-Ray Model"

    filename_ext = ".ogf"
    filter_glob: StringProperty(default=kinds.MODELS.glob, options={"HIDDEN"})
    motions: EnumProperty(
        name="Motions", description="Which motions to import with the model", items=MOTION_ITEMS, default="INSIDE"
    )

    def draw(self, _context: Context) -> None:
        layout = fields(self.layout)
        layout.prop(self, "meshes")
        layout.prop(self, "textures")
        for name in ("motions", "readable_bones", "new_collection"):
            layout.prop(self, name)

    def run(self, context: Context, report: Report) -> Outcome:
        """Import every file. Blender drops files by suffix only, so textures of Descent 3 (.ogf) arrive here too."""
        models: list[model_importing.ImportedModel] = []
        images: list[Any] = []

        def work(path: str, report: Report) -> None:
            if is_texture(path):
                images.extend(textures.import_pictures(Path(path), report))
            else:
                models.append(self._import(context, path, report))

        self.import_each(context, self.chosen_files("Choose at least one model (.ogf)"), work, report)
        sentences = [_sentence(models)] if models else []
        if images:
            sentences.append(keep_and_show(context, images))
            report.note(say("textures of Descent 3 have the same suffix and were imported as images: {}", len(images)))
        return Outcome("; ".join(sentences))

    def _import(self, context: Context, path: str, report: Report) -> "model_importing.ImportedModel":
        options = model_options(
            context,
            self,
            collection=self.own_collection(path),
        )
        imported = model_importing.import_model(context, path, options, report)
        if imported.rig is not None and self.motions != "NONE":
            import_motions(context, imported, path, report, referenced=self.motions == "ALL")
        return imported


def is_texture(path: str) -> bool:
    """Return whether a .ogf file is a texture of Descent 3, not a model. Raises `ReadError`."""
    known = detect(path, files.read_file(path, HEAD_SIZE))
    return known is not None and known.name == "ogf_image"


def import_motions(
    context: Context,
    imported: "model_importing.ImportedModel",
    path: str,
    report: Report,
    *,
    referenced: bool,
    of_editor: bool = False,
) -> None:
    """Import the motions inside a new model and, with ``referenced``, those of the files it refers to.

    ``of_editor``: the model is a file of the editor (.object). Files that fail are left out and reported.
    """
    sources = [path] if imported.motions is not None else []
    if referenced:
        sources += [str(file) for reference in imported.references for file in reference.files]
    plays = False

    def read(codec: "library.AnyCodec", source: str, report: Report) -> "library.Opened[Any]":
        if source == path and imported.motions is not None:
            document = imported.motions if of_editor else omf.new_omf(imported.motions)
            return library.Opened(path, document, imported.digest, embedded=True)
        return codec.read(source, report)

    for source in dict.fromkeys(sources):
        inside = of_editor and source == path
        codec: Any = skl_codec.SKL if inside else omf_codec.OMF
        options: Any = (SkeletalImportOptions if inside else MotionImportOptions)(assign_first=not plays)
        try:
            with scope.undone_on_failure(context):
                result = library.import_motions(
                    codec, context, imported.rig, source, options=options, report=report, read=read
                )
        except ReadError as refusal:  # the model is usable without them
            report.warn(say("motions left out: {}", str(refusal).rstrip(".")))
        else:
            plays = plays or bool(result.actions)
            report.note(say("{:# motion|# motions} imported", len(result.actions)), Path(source).name)


def _sentence(models: "list[model_importing.ImportedModel]") -> str:
    bones = sum(len(model.rig.data.bones) for model in models if model.rig is not None)
    meshes = sum(len(model.meshes) for model in models)
    files_count = sum(len(reference.files) for model in models for reference in model.references)
    text = rpt_("Imported models: {} (bones: {}, meshes: {})").format(len(models), bones, meshes)
    rigs = [model.rig for model in models if model.rig is not None]
    if files_count and not any(len(rig.motionbridge_motion_files) for rig in rigs):
        offer = rpt_("motion files found: {}, see the Motionbridge tab of the sidebar").format(files_count)
        text = f"{text}; {offer}"
    return text


def _has_mesh_or_model(context: Context) -> bool:
    return has_mesh(context) or any(obj.motionbridge_model.is_model for obj in context.scene.objects)


class EXPORT_SCENE_OT_xray_ogf(
    ModelExportProperties,
    FoldedOptions,
    motion_choices.RemovedMotions,
    FileExport,
    motion_choices.ExportChoices,
    ExportHelper,
    BlenderOperator,
):
    """Export a S.T.A.L.K.E.R. (X-Ray) model: an imported one with its unedited bytes, or a new one"""

    bl_idname = "export_scene.xray_ogf"
    bl_label = "Export X-Ray Model"
    needs = (Need("No mesh in the scene", _has_mesh_or_model),)

    filename_ext = ".ogf"
    filter_glob: StringProperty(default=kinds.MODELS.exported_glob, options={"HIDDEN"})
    collection: source_collection("Export the model of this collection")
    types = ("MESH", "ARMATURE")

    def suggest(self, context: Context) -> None:
        """Suggest the imported file."""
        holder = active_model(context)
        if holder is not None:
            self.filepath = bpy.path.abspath(holder.motionbridge_model.path)

    def names_to_write(self, context: Context) -> list[str]:
        """Return the names in the game of the motions that will be inside the model."""
        try:
            holder = game_model_to_export(context, self.collection)
            if holder.motionbridge_model.is_model:
                return replaced.names_inside(kept(holder.motionbridge_model, "document"), self.filename_ext)
            chosen = self._chosen(holder)
        except (ReadError, WriteError):
            return []  # the export will report what is wrong
        known = remembered(holder)
        if known is not None and len(known.references):
            return []
        return library.written_names(chosen, motion_properties.LISTS, Report(), rename=self.rename)

    def written(self, context: Context) -> Collection[Object]:
        holder = game_model_to_export(context, self.collection)
        anew = not holder.motionbridge_model.is_model or (self.meshes and self.replace_meshes)
        return (holder, *(making.meshes_for(context, holder) if anew else objects_below(holder)))

    def draw(self, context: Context) -> None:
        """Draw the options of an imported or of a new model."""
        layout = fields(self.layout)
        self.draw_removed(layout)
        if active_model(context) is not None:
            layout.prop(self, "meshes")
            row = layout.row()
            row.active = self.meshes
            row.prop(self, "replace_meshes")
        layout.prop(self, "skeleton")
        layout.prop(self, "modifiers", text=iface_("Apply Modifiers"), translate=False)
        rig = active_rig(context)
        motion_choices.draw_bone_limit(layout, self, rig)
        if active_model(context) is None:
            layout.prop(self, "kind" if rig is None else "bones_as")
            if rig is not None and not rig.motionbridge_editor_model.is_model:
                self._draw_motions(layout, rig)
        if body := draw_folded(self.layout, self, "show_options"):
            body.prop(self, "most_links")
            if active_model(context) is None:
                body.prop(self, "collapse")
        self.draw_last(context)

    def _draw_motions(self, layout: bpy.types.UILayout, rig: Object) -> None:
        """Draw the options for motions inside a new model."""
        layout.prop(self, "motions_inside")
        if not self.motions_inside:
            return
        known = remembered(rig)
        if known is not None and len(known.references):
            paragraph(layout, iface_("The game reads the motion references instead"), SIDEBAR, "ERROR")
        self.draw_choices(layout, rig)

    def run(self, context: Context, report: Report) -> Outcome:
        path = self.named_file(kinds.MODELS)
        holder = game_model_to_export(context, self.collection)
        options = options_from(self, ModelExportOptions, backup=self.backup)
        is_new = not holder.motionbridge_model.is_model
        if is_new or (options.meshes and options.replace_meshes):
            if is_new:
                plan = self._plan_new(context, holder, path, options, report)
            else:
                plan = making.plan_replaced(context, holder, path, options, report)
            replaced.warn_of_model(holder.motionbridge_model, path, plan.data, self.filename_ext, report)
            plan.write(backup=self.backup)
            inside_models.follow_model(holder, path, plan.data)
            if is_new and options.motions_inside and holder.type == "ARMATURE":
                self.restore_hidden_keys(holder, actions_moving(holder))
        else:
            plan = model_export.export_model(context, holder, path, options, report)
        return Outcome(file_sentence(path, plan))

    def _plan_new(
        self, context: Context, holder: Object, path: str, options: ModelExportOptions, report: Report
    ) -> "FilePlan":
        chosen = self._chosen(holder)
        return making.plan_new(context, holder, path, options, report, chosen=chosen, motions=self.export_options())

    def _chosen(self, holder: Object) -> list[Action]:
        """Return the actions for the motions inside a new model. Raises `WriteError` if there should be some."""
        is_rig = holder.type == "ARMATURE" and not holder.motionbridge_editor_model.is_model
        return some_action(holder, actions_moving(holder)) if is_rig and self.motions_inside else []


def active_game_model(context: Context) -> Any:
    """Return the object with the imported model of the active object, which may be a mesh that it deforms, or None."""
    holder = holder_of(context.view_layer.objects.active)
    return holder if holder is not None and holder.motionbridge_model.is_model else None


class MOTIONBRIDGE_OT_model_save_back(ModelSaveBack, BlenderOperator):
    """Write the model to its source file, after a preview of the changes, with a backup"""

    bl_idname = "motionbridge.model_save_back"
    bl_label = "Save Model Back"
    needs = (Need("The active object is not part of an imported X-Ray model", active_game_model),)
    stored_in, recipe = "motionbridge_model", model_export


USER_DATA = "User Data"

SHAPE_FIELDS = {
    "BOX": ("box_centre", "box_half_size", "box_rotation"),
    "SPHERE": ("sphere_centre", "sphere_radius"),
    "CYLINDER": ("cylinder_centre", "cylinder_direction", "cylinder_height", "cylinder_radius"),
}
WITH_LIMITS = {"JOINT", "WHEEL", "SLIDER"}


class PropertiesPanel:
    """Base of panels in the Properties editor."""

    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    if TYPE_CHECKING:
        layout: Any

    def fields(self) -> Any:
        """Return a column with property names on the left."""
        layout = fields(self.layout)
        return layout.column()


def _bone(context: Context) -> Any:
    """Return the active bone, in edit mode too."""
    bone = context.bone
    if bone is None and context.edit_bone is not None:
        bone = context.edit_bone.id_data.bones.get(context.edit_bone.name)
    return bone


class MOTIONBRIDGE_PT_bone(PropertiesPanel, BlenderPanel):
    """Game properties of the bone."""

    bl_label = "X-Ray Bone"
    bl_context = "bone"

    @classmethod
    def poll(cls, context: Context) -> bool:
        """The bone belongs to a model."""
        bone = _bone(context)
        return bone is not None and bone_properties.known(bone) is not None

    def draw(self, context: Context) -> None:
        bone = _bone(context).motionbridge_xray
        column = self.fields()
        column.prop(bone, "game_name")
        fixed = column.column()
        fixed.enabled = False
        fixed.prop(bone, "index")
        row = column.row(align=True)
        row.prop(bone, "material")
        row.operator("motionbridge.choose_game_material", text="", icon="VIEWZOOM").target = "BONE"
        column.prop(bone, "mass")
        column.prop(bone, "centre_of_mass")
        fixed = column.column()
        fixed.enabled = False
        fixed.prop(bone, "rest_offset")
        fixed.prop(bone, "rest_rotation")


class MOTIONBRIDGE_PT_bone_shape(PropertiesPanel, BlenderPanel):
    """Collision shape of the bone."""

    bl_label = "Shape"
    bl_context = "bone"
    bl_parent_id = "MOTIONBRIDGE_PT_bone"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        """Draw the fields of the chosen shape, and the flags."""
        bone = _bone(context).motionbridge_xray
        column = self.fields()
        column.prop(bone, "shape")
        for name in SHAPE_FIELDS.get(bone.shape, ()):
            column.prop(bone, name)
        flags = column.column(align=True)
        flags.use_property_split = False
        flags.grid_flow(columns=2, align=True, even_columns=True).prop(bone, "shape_flags")


class MOTIONBRIDGE_PT_bone_joint(PropertiesPanel, BlenderPanel):
    """How the bone is connected to its parent."""

    bl_label = "Joint"
    bl_context = "bone"
    bl_parent_id = "MOTIONBRIDGE_PT_bone"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        """Draw the type of joint, limits if the type has them, forces."""
        bone = _bone(context).motionbridge_xray
        column = self.fields()
        column.prop(bone, "joint")
        if bone.joint in WITH_LIMITS:
            for axis in bone_properties.AXES:
                limit = getattr(bone, f"limit_{axis}")
                block = column.column(align=True)
                block.prop(limit, "lowest", text=iface_("{} Min").format(axis.upper()), translate=False)
                block.prop(limit, "highest", text=iface_("Max"))
                block.prop(limit, "spring")
                block.prop(limit, "damping")
        for name in ("spring", "damping", "friction", "breakable"):
            column.prop(bone, name)
        if bone.breakable:
            column.prop(bone, "break_force")
            column.prop(bone, "break_torque")


class MOTIONBRIDGE_PT_model(PropertiesPanel, BlenderPanel):
    """The imported model that the object is part of."""

    bl_label = "X-Ray Model"
    bl_context = "object"

    @classmethod
    def poll(cls, context: Context) -> bool:
        holder = holder_of(context.object)
        return holder is not None and holder.motionbridge_model.is_model

    def draw(self, context: Context) -> None:
        layout, holder = self.layout, holder_of(context.object)
        draw_holder(layout, context.object, holder)
        model = holder.motionbridge_model
        layout.prop(model, "path", text="")
        column = layout.column(align=True)
        column.operator("motionbridge.model_save_back", icon="FILE_TICK")
        column.operator("export_scene.xray_ogf", text="Export", icon="EXPORT")
        if holder.type == "ARMATURE" or model.lod:  # the game looks for it in models with bones alone
            self.fields().prop(model, "lod")
        draw_references(layout, holder, model)
        draw_user_data(layout, model)
        layout.operator("motionbridge.report", icon="TEXT")


def draw_holder(layout: Any, obj: Object, holder: Object) -> None:
    """Draw the name of the object that stores the model, if another object is shown."""
    if obj != holder:
        icon = "OUTLINER_OB_ARMATURE" if holder.type == "ARMATURE" else "OBJECT_DATA"
        layout.label(text=holder.name, icon=icon, translate=False)


def draw_references(layout: Any, holder: Object, model: "EditorModelProperties | ModelProperties") -> None:
    """Draw the motion references of a model, and the files found for the active one."""
    layout.label(text="Motion References")
    buttons = ("motionbridge.add_reference", "ADD"), ("motionbridge.remove_reference", "REMOVE")
    REFERENCES.draw(layout, model, *buttons, rows=2)
    if (index := REFERENCES.active_index(model)) >= 0:
        reference = model.references[index]
        layout.prop(reference, "name", text="")
        paths = motion_choices.paths_of(holder, reference.name)
        for path in paths:
            layout.label(text=Path(path).name, icon="CHECKMARK", translate=False)
        if paths and holder.type == "ARMATURE":
            button = layout.operator("motionbridge.import_referenced_motions", text="Import", icon="IMPORT")
            button.reference = reference.name
        if not paths:
            paragraph(layout, iface_("Not found: add its game to the preferences"), SIDEBAR, "INFO")


def draw_user_data(layout: Any, model: "EditorModelProperties | ModelProperties") -> None:
    """Draw the first lines of the user data, and buttons to edit it as a text."""
    layout.label(text="User Data")
    for line in model.user_data.splitlines()[:8]:
        layout.label(text=line, translate=False)
    row = layout.row(align=True)
    row.operator("motionbridge.user_data_to_text", icon="TEXT")
    row.operator("motionbridge.user_data_from_text", icon="CHECKMARK")


class OnModel(Operation):
    """Mixin for operators on the model that the active object is part of."""

    needs: tuple[Need, ...] = (Need("The active object is not part of an imported X-Ray model", on_active(holder_of)),)

    def edited(self, context: Context) -> Iterable[Any]:
        return (holder_of(context.view_layer.objects.active),)


REFERENCES = PanelList(
    "motionbridge_references",
    lambda context: remembered(holder_of(context.view_layer.objects.active)),
    "references",
    "active_reference",
)


class MOTIONBRIDGE_OT_add_reference(OnModel, BlenderOperator):
    """Add a motion file to the model's references: its path below the meshes folder, without suffix"""

    bl_idname = "motionbridge.add_reference"
    bl_label = "Add Motion Reference"

    def run(self, context: Context, report: Report) -> Outcome:
        model = remembered(holder_of(context.view_layer.objects.active))
        model.references.add().name = "actors\\motions"
        model.active_reference = len(model.references) - 1
        return Outcome(rpt_("Type the name of the motion file"))


class MOTIONBRIDGE_OT_remove_reference(OnModel, BlenderOperator):
    """Remove the active motion file from the model's references"""

    bl_idname = "motionbridge.remove_reference"
    bl_label = "Remove Motion Reference"
    needs = (*OnModel.needs, REFERENCES.shown)

    def run(self, context: Context, report: Report) -> Outcome:
        model = remembered(holder_of(context.view_layer.objects.active))
        index = REFERENCES.active_index(model)
        if index < 0:
            raise WriteError("no reference is chosen", remedy="Choose one in the list")
        name = model.references[index].name
        following = REFERENCES.after_removal(context)
        model.references.remove(index)
        model.active_reference = following
        return Outcome(rpt_("Removed the reference {}").format(name))


def _text_name(holder: Object) -> str:
    return f"{holder.name} {USER_DATA}"


class MOTIONBRIDGE_OT_user_data_to_text(OnModel, BlenderOperator):
    """Copy the user data into a text, to edit it in the Text Editor"""

    bl_idname = "motionbridge.user_data_to_text"
    bl_label = "Edit as Text"

    def run(self, context: Context, report: Report) -> Outcome:
        holder = holder_of(context.view_layer.objects.active)
        name = _text_name(holder)
        text = bpy.data.texts.get(name) or bpy.data.texts.new(name)
        text.clear()
        text.write(remembered(holder).user_data.replace("\r\n", "\n"))
        return Outcome(rpt_("The user data is in the text '{}'; edit it, then use Apply Text").format(name))


class MOTIONBRIDGE_OT_user_data_from_text(OnModel, BlenderOperator):
    """Use the edited text as the model's user data"""

    bl_idname = "motionbridge.user_data_from_text"
    bl_label = "Apply Text"

    def run(self, context: Context, report: Report) -> Outcome:
        """Store the text, with the line ends that the game uses."""
        holder = holder_of(context.view_layer.objects.active)
        text: Any = bpy.data.texts.get(_text_name(holder))
        if text is None:
            raise WriteError("there is no text with the user data", remedy="Click Edit as Text first")
        properties = remembered(holder)
        edited = text.as_string()
        old = properties.user_data
        ends = "\r\n" if "\r\n" in old or not old else "\n"
        edited = edited.replace("\n", ends)
        if edited.rstrip() == old.rstrip():
            return Outcome(rpt_("The user data is unchanged"), done=False)
        properties.user_data = edited
        return Outcome(rpt_("Applied the text to the user data"))


class IMPORT_SCENE_OT_xray_bones(FileImport, ImportHelper, BlenderOperator):
    """Import shapes, joints, masses and materials of bones (X-Ray) onto the active armature"""

    bl_idname = "import_scene.xray_bones"
    bl_label = "Import X-Ray Bone Properties"

    filename_ext = ".bones"
    filter_glob: StringProperty(default=kinds.BONES.glob, options={"HIDDEN"})

    def draw(self, context: Context) -> None:
        draw_rig(self.layout, context)

    def run(self, context: Context, report: Report) -> Outcome:
        paths = self.chosen_files("Choose a file of bone properties (.bones)")
        if len(paths) > 1:
            raise ReadError("the bone properties of an armature come from one file", remedy="Choose one file (.bones)")
        rig = rig_to_import_onto(context, report)
        refuse_linked((rig, rig.data))
        with scope.object_mode(context):  # Blender discards bone properties set during edit mode
            given = bone_values.import_bones(rig, paths[0], report)
        return Outcome(rpt_("Bone properties on {}, bones: {}").format(rig.name, given))


class EXPORT_SCENE_OT_xray_bones(ArmatureExport, ExportHelper, BlenderOperator):
    """Export shapes, joints, masses and materials of the armature's bones (X-Ray); unedited bones keep their bytes"""

    bl_idname = "export_scene.xray_bones"
    bl_label = "Export X-Ray Bone Properties"

    filename_ext = ".bones"
    filter_glob: StringProperty(default=kinds.BONES.exported_glob, options={"HIDDEN"})

    def suggest(self, context: Context) -> None:
        """Suggest the imported file."""
        rig = likely_rig(context)
        if rig is not None:
            self.filepath = bpy.path.abspath(bone_values.suggested_name(rig))

    def draw(self, context: Context) -> None:
        self.draw_last(context)

    def run(self, context: Context, report: Report) -> Outcome:
        path = self.named_file(kinds.BONES)
        rig = rig_to_export(context, self.collection)
        with scope.object_mode(context):
            plan = bone_values.plan_export(rig, path, report)
        plan.write(backup=self.backup)
        return Outcome(file_sentence(path, plan))


CLASSES = classes_of(__name__)
