"""Models (.p3d): import, and the panel about them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bpy.props import BoolProperty, EnumProperty, StringProperty

from ...blender.typed import Context, Object
from ...core.errors import ReadError
from ...core.report import Report
from ...games.arma import kinds, model_import
from ...games.arma.options import ModelImportOptions
from ...games.arma.properties import is_of_model, level_of
from ..bases import BlenderOperator, BlenderPanel, ImportHelper, options_from, properties_from
from ..files import FileImport
from ..layouts import fields
from ..operation import Outcome
from ..preferences import arma_folder
from ..sidebar import MotionbridgePanel
from ..target import active_rig
from ..translations import said
from .animations import BoneNamesChoice, SkeletonFilesChoice

if TYPE_CHECKING:
    from ...games.arma.model_import import ImportedModel

RIGS = (
    ("AUTOMATIC", "Automatic", "The active armature if its bones are selections of the model, otherwise none"),
    ("ACTIVE", "Active Armature", "Selections follow the bones of the same name; upper and lower case are the same"),
    (
        "NEW",
        "New Armature",
        ("Create an armature from the model.cfg set below or found in the file's folder, or from a known man"),
    ),
    ("NONE", "None", "Only the meshes"),
)


ModelImportProperties: Any = properties_from(ModelImportOptions)


class IMPORT_SCENE_OT_arma_p3d(
    ModelImportProperties, BoneNamesChoice, SkeletonFilesChoice, FileImport, ImportHelper, BlenderOperator
):
    """Import editable models of Arma and Operation Flashpoint (.p3d, MLOD), to show animations on them"""

    bl_idname = "import_scene.arma_p3d"
    bl_label = "Import Arma Model"

    filename_ext = ".p3d"
    filter_glob: StringProperty(default=kinds.MODELS.glob, options={"HIDDEN"})
    rig: EnumProperty(
        name="Armature", description="Which armature the meshes are parented to", items=RIGS, default="AUTOMATIC"
    )
    new_collection: BoolProperty(
        name="New Collection", description="Import each model into its own collection", default=False
    )

    def draw(self, context: Context) -> None:
        """The options, those that nothing is asked of left out."""
        layout = fields(self.layout)
        layout.column().prop(self, "levels")
        layout.prop(self, "rig")
        if self.rig == "NEW":
            layout.prop(self, "config")
            layout.prop(self, "pivots_model")
            layout.prop(self, "readable_bones")
        elif self.rig != "NONE" and active_rig(context) is not None:
            layout.prop(self, "prefix")
            self.draw_bone_names(layout)
        for name in ("proxies", "textures", "new_collection"):
            layout.prop(self, name)

    def run(self, context: Context, report: Report) -> Outcome:
        """Import every file."""
        paths = self.chosen_files("Choose at least one model (.p3d)")
        if not self.levels:
            raise ReadError("no LOD is chosen", remedy="Choose at least one LOD")
        rig = active_rig(context) if self.rig in {"AUTOMATIC", "ACTIVE"} else None
        if rig is None and self.rig == "ACTIVE":
            raise ReadError("no armature is active", remedy="Select the armature to animate, or choose a new one")
        made = self.import_each(context, paths, lambda path, found: self._import(context, rig, path, found), report)
        meshes, empties = sum(len(one.meshes) for one in made), sum(len(one.empties) for one in made)
        return Outcome(
            said("Imported models: {} (meshes: {}, points and proxies: {})").format(len(made), meshes, empties)
        )

    def _import(self, context: Context, rig: Object | None, path: str, report: Report) -> "ImportedModel":
        document = model_import.read_model(path, report)
        if (
            self.rig == "AUTOMATIC"
            and rig is not None
            and not model_import.fits(rig, document, self.prefix, self.table())
        ):
            rig = None
        options = options_from(
            self,
            ModelImportOptions,
            new_rig=self.rig == "NEW",
            table=self.table(),
            collection=Path(path).stem if self.new_collection else "",
            work_folder=arma_folder(context),
        )
        return model_import.import_model(context, rig, path, options, report, document=document)


class MOTIONBRIDGE_PT_arma_model(MotionbridgePanel, BlenderPanel):
    """What the active object is to a model of Arma."""

    bl_label = "Arma Model"
    bl_order = -1

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Something of a model is active."""
        return is_of_model(context.active_object)

    def draw(self, context: Context) -> None:
        """The point, the level, its properties."""
        layout = self.layout
        active = context.active_object
        mark = active.motionbridge_arma_mark
        if mark.kind != "NONE":
            icon = "LINKED" if mark.kind == "PROXY" else "DOT"
            layout.label(text=mark.game_name or active.name, icon=icon, translate=False)
        level = level_of(active)
        if level is None:
            return
        facts = layout.column(align=True)
        facts.label(text=Path(level.path).name, icon="FILE_3D", translate=False)
        text = f"{level.kind} ({level.resolution:g})" if level.kind == "visual" else level.kind
        facts.label(text=text, icon="MESH_DATA", translate=False)
        if not len(level.properties):
            layout.label(text="No named properties")
            return
        rows = layout.box().column(align=True)
        for entry in level.properties:
            row = rows.row()
            row.label(text=entry.name, translate=False)
            row.label(text=entry.value, translate=False)


CLASSES = (
    IMPORT_SCENE_OT_arma_p3d,
    MOTIONBRIDGE_PT_arma_model,
)
