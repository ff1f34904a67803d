"""Models of the editor (.object): import, and the panel about what the file says."""

from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from ...core.report import Report
from ...games.xray import kinds
from ...games.xray.models import editor_importing
from ...games.xray.options import ModelImportOptions
from ..bases import BlenderOperator, BlenderPanel, ImportHelper
from ..files import FileImport
from ..layouts import fields
from ..operation import Outcome
from ..options import properties_from
from ..preferences import model_options
from ..translations import said
from .models import MOTION_ITEMS, PropertiesPanel, draw_references, draw_user_data, import_motions

ModelImportProperties: Any = properties_from(ModelImportOptions)


class IMPORT_SCENE_OT_xray_object(ModelImportProperties, FileImport, ImportHelper, BlenderOperator):
    """Import models of the editor of S.T.A.L.K.E.R. (X-Ray): armature, meshes, materials and motions"""

    bl_idname = "import_scene.xray_object"
    bl_label = "Import X-Ray Editor Model"

    filename_ext = ".object"
    filter_glob: StringProperty(default=kinds.EDITOR_MODELS.glob, options={"HIDDEN"})
    motions: EnumProperty(
        name="Motions", description="Which motions to import with the model", items=MOTION_ITEMS, default="INSIDE"
    )
    new_collection: BoolProperty(
        name="New Collection", description="Import each model into its own collection", default=False
    )

    def draw(self, _context: bpy.types.Context) -> None:
        """The options, in browser, dialog and presets alike."""
        layout = fields(self.layout)
        for name in ("meshes", "textures", "motions", "new_collection"):
            layout.prop(self, name)

    def run(self, context: bpy.types.Context, report: Report) -> Outcome:
        """Import every file."""

        def work(path: str, found: Report) -> Any:
            options = model_options(context, self, collection=Path(path).stem if self.new_collection else "")
            imported = editor_importing.import_model(context, path, options, found)
            if imported.rig is not None and self.motions != "NONE":
                import_motions(context, imported, path, self.motions == "ALL", found)
            return imported

        made = self.import_each(context, self.chosen_files("Choose at least one model (.object)"), work, report)
        bones = sum(len(one.rig.data.bones) for one in made if one.rig is not None)
        meshes = sum(len(one.meshes) for one in made)
        return Outcome(said("Imported models: {} (bones: {}, meshes: {})").format(len(made), bones, meshes))


class MOTIONBRIDGE_PT_editor_model(PropertiesPanel, BlenderPanel):
    """The editor's model that the object came from."""

    bl_label = "X-Ray Editor Model"
    bl_context = "object"

    @classmethod
    def poll(cls, context: Any) -> bool:
        """The object remembers a model of the editor."""
        return context.object is not None and context.object.motionbridge_editor_model.is_model

    def draw(self, context: Any) -> None:
        """File, flags, LOD, who made it, references, user data."""
        layout = self.layout
        holder = context.object
        model = holder.motionbridge_editor_model
        layout.prop(model, "path", text="")
        layout.grid_flow(columns=2, align=True, even_columns=True).prop(model, "shown_flags")
        column = self.fields()
        column.prop(model, "lod")
        people = column.column(align=True)
        people.enabled = False
        people.prop(model, "creator")
        people.prop(model, "modifier")
        draw_references(layout, holder, model)
        draw_user_data(layout, model)


class MOTIONBRIDGE_PT_editor_parts(PropertiesPanel, BlenderPanel):
    """The sets of bones that can play motions of their own."""

    bl_label = "Bone Parts"
    bl_context = "object"
    bl_parent_id = "MOTIONBRIDGE_PT_editor_model"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        """The model has some."""
        return len(context.object.motionbridge_editor_model.parts) > 0

    def draw(self, context: Any) -> None:
        """Each with its bones."""
        for part in context.object.motionbridge_editor_model.parts:
            box = self.layout.box()
            box.prop(part, "name", text="")
            box.label(text=", ".join(bone.name for bone in part.bones), icon="BONE_DATA", translate=False)


class MOTIONBRIDGE_PT_surface(PropertiesPanel, BlenderPanel):
    """The surface of the editor that the material is."""

    bl_label = "Surface"
    bl_context = "material"
    bl_parent_id = "MOTIONBRIDGE_PT_material"

    @classmethod
    def poll(cls, context: Any) -> bool:
        """It came from a model of the editor."""
        return context.material is not None and context.material.motionbridge_surface.is_surface

    def draw(self, context: Any) -> None:
        """What the compiler and the game take it for; texture and engine shader are above."""
        column = self.fields()
        for name in ("game_name", "compiler_shader", "game_material", "two_sided"):
            column.prop(context.material.motionbridge_surface, name)


CLASSES = (
    IMPORT_SCENE_OT_xray_object,
    MOTIONBRIDGE_PT_editor_model,
    MOTIONBRIDGE_PT_editor_parts,
    MOTIONBRIDGE_PT_surface,
)
