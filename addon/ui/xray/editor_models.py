"""Models of the editor (.object): import, and the panel about what the file says."""

from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, StringProperty

from ...core.report import Report
from ...games.xray import kinds
from ...games.xray.models import editor_importing
from ...games.xray.options import ModelImportOptions
from ..bases import BlenderOperator, ImportHelper
from ..files import FileImport
from ..layouts import fields
from ..operation import Outcome
from ..options import properties_from
from ..preferences import model_options
from ..translations import said

ModelImportProperties: Any = properties_from(ModelImportOptions)


class IMPORT_SCENE_OT_xray_object(ModelImportProperties, FileImport, ImportHelper, BlenderOperator):
    """Import models of the editor of S.T.A.L.K.E.R. (X-Ray): armature, meshes and materials"""

    bl_idname = "import_scene.xray_object"
    bl_label = "Import X-Ray Editor Model"

    filename_ext = ".object"
    filter_glob: StringProperty(default=kinds.EDITOR_MODELS.glob, options={"HIDDEN"})
    new_collection: BoolProperty(
        name="New Collection", description="Import each model into its own collection", default=False
    )

    def draw(self, _context: bpy.types.Context) -> None:
        """The options, in browser, dialog and presets alike."""
        layout = fields(self.layout)
        for name in ("meshes", "textures", "new_collection"):
            layout.prop(self, name)

    def run(self, context: bpy.types.Context, report: Report) -> Outcome:
        """Import every file."""

        def work(path: str, found: Report) -> Any:
            options = model_options(context, self, collection=Path(path).stem if self.new_collection else "")
            return editor_importing.import_model(context, path, options, found)

        made = self.import_each(context, self.chosen_files("Choose at least one model (.object)"), work, report)
        bones = sum(len(one.rig.data.bones) for one in made if one.rig is not None)
        meshes = sum(len(one.meshes) for one in made)
        return Outcome(said("Imported models: {} (bones: {}, meshes: {})").format(len(made), bones, meshes))


CLASSES = (IMPORT_SCENE_OT_xray_object,)
