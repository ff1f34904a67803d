"""File > Import > X-Ray Model (.ogf), and the drop of such files into the viewport."""

from pathlib import Path
from typing import Any

from bpy.props import BoolProperty, EnumProperty, StringProperty

from ...blender import failure
from ...blender.record import kept
from ...core import text as texts
from ...core.errors import ReadError
from ...core.report import Report
from ...formats.xray import ogf
from ...games.descent3 import textures
from ...games.xray.models import importing as model
from ...games.xray.motions import importing as motion_import
from ..bases import BlenderOperator, FileHandler, ImportHelper
from ..descent3.import_texture import is_texture, keep_and_show
from ..file_import import DropInScene, FileImport
from ..layouts import fields
from ..operation import Outcome
from ..preferences import model_options
from ..wording import said

MOTION_ITEMS = (
    ("NONE", "None", "Only the model"),
    ("INSIDE", "Inside the Model", "Motions stored inside the model file"),
    ("ALL", "Inside and Referenced", "Motions inside the model, and motions of the referenced files that are found"),
)


class IMPORT_SCENE_OT_xray_ogf(FileImport, ImportHelper, BlenderOperator):
    """Import S.T.A.L.K.E.R. (X-Ray) models: armature, meshes, materials and optionally motions"""

    bl_idname = "import_scene.xray_ogf"
    bl_label = "Import X-Ray Model"

    filename_ext = ".ogf"
    filter_glob: StringProperty(default="*.ogf", options={"HIDDEN"})
    meshes: BoolProperty(name="Meshes", description="Import the meshes too, not only the armature", default=True)
    textures: BoolProperty(
        name="Textures",
        description=(
            "Show textures found in the folders of the preferences, or in the game folders that contain the model"
        ),
        default=True,
    )
    motions: EnumProperty(
        name="Motions", description="Which motions to import with the model", items=MOTION_ITEMS, default="INSIDE"
    )
    new_collection: BoolProperty(
        name="New Collection", description="Import each model into its own collection", default=False
    )

    def draw(self, _context: Any) -> None:
        """The options, in browser, dialog and presets alike."""
        layout = fields(self.layout)
        layout.prop(self, "meshes")
        layout.prop(self, "textures")
        layout.prop(self, "motions")
        layout.prop(self, "new_collection")

    def run(self, context: Any, report: Report) -> Outcome:
        """Import every file. Blender drops files by their suffix alone, so textures of Descent 3 come here as well."""
        models: list[model.ImportedModel] = []
        images: list[Any] = []

        def work(path: str, found: Report) -> None:
            if is_texture(path):
                images.extend(textures.import_pictures(Path(path), found))
            else:
                models.append(self._import(context, path, found))

        self.import_each(context, self.chosen_files("Choose at least one model (.ogf)"), work, report)
        sentences = [_sentence(models)] if models else []
        if images:
            sentences.append(keep_and_show(context, images))
            report.note(f"textures of Descent 3, which have the same suffix, are images now: {len(images)}")
        return Outcome("; ".join(sentences))

    def _import(self, context: Any, path: str, report: Report) -> "model.ImportedModel":
        options = model_options(
            context,
            meshes=self.meshes,
            textures=self.textures,
            collection=Path(path).stem if self.new_collection else "",
        )
        imported = model.import_model(context, path, options, report)
        if imported.rig is not None and self.motions != "NONE":
            _import_motions(context, imported, path, self.motions == "ALL", report)
        return imported


def _import_motions(context: Any, imported: "model.ImportedModel", path: str, referenced: bool, report: Report) -> None:
    sources = [path] if has_motions_inside(imported.holder) else []
    if referenced:
        sources += [str(file) for reference in imported.references for file in reference.files]
    plays = False
    for source in dict.fromkeys(sources):
        options = motion_import.MotionImportOptions(assign_first=not plays)
        try:
            with failure.undone_on_failure(context):
                result = motion_import.import_motions(context, imported.rig, source, options=options, report=report)
        except ReadError as refusal:  # the model can be used without them
            report.warn(f"motions left out: {str(refusal).rstrip('.')}")
        else:
            plays = plays or bool(result.actions)
            report.note(f"{texts.counted(len(result.actions), 'motion')} imported", Path(source).name)


def has_motions_inside(holder: Any) -> bool:
    """Whether a model that was imported carries motions in its own file."""
    properties = holder.motionbridge_model
    return ogf.motion_set_of(ogf.read(kept(properties, "document"), properties.path, Report())) is not None


def _sentence(made: "list[model.ImportedModel]") -> str:
    bones = sum(len(one.rig.data.bones) for one in made if one.rig is not None)
    meshes = sum(len(one.meshes) for one in made)
    found = sum(len(reference.files) for one in made for reference in one.references)
    text = said("Imported models: {} (bones: {}, meshes: {})").format(len(made), bones, meshes)
    rigs = [one.rig for one in made if one.rig is not None]
    if found and not any(len(rig.motionbridge_motion_files) for rig in rigs):
        offer = said("motion files found: {}, see the Motionbridge tab of the sidebar").format(found)
        text = f"{text}; {offer}"
    return text


class IO_FH_motionbridge_xray_ogf(DropInScene, FileHandler):
    """Drop of models, and their export by collections."""

    bl_idname = "IO_FH_motionbridge_xray_ogf"
    bl_label = "X-Ray Model"
    bl_import_operator = "import_scene.xray_ogf"
    bl_export_operator = "export_scene.xray_ogf"
    bl_file_extensions = ".ogf"


CLASSES = (IMPORT_SCENE_OT_xray_ogf, IO_FH_motionbridge_xray_ogf)
