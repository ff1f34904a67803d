"""File > Export > X-Ray Model (.ogf): what was imported, with what was changed since."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from ..core.errors import WriteError
from ..core.report import Report
from ..games.xray import model_export
from .bases import BlenderOperator, ExportHelper
from .operation import Operation, Outcome
from .preferences import preferences
from .target import active_model, model_to_export

LINKS = (
    ("4", "Four", "Clear Sky and Call of Pripyat: a vertex follows up to four bones"),
    ("2", "Two", "Shadow of Chernobyl: a vertex follows up to two bones"),
)


class EXPORT_SCENE_OT_xray_ogf(Operation, ExportHelper, BlenderOperator):
    """Export a model of S.T.A.L.K.E.R. (X-Ray) that was imported; what nobody touched keeps its bytes"""

    bl_idname = "export_scene.xray_ogf"
    bl_label = "Export X-Ray Model"
    bl_options = {"PRESET"}

    filename_ext = ".ogf"
    filter_glob: StringProperty(default="*.ogf", options={"HIDDEN"})
    collection: StringProperty(
        name="Source Collection", description="Export the model of this collection", options={"HIDDEN"}
    )
    skeleton: BoolProperty(name="Skeleton", description="Bones with their rest pose, shapes and joints", default=True)
    meshes: BoolProperty(name="Meshes", description="Meshes with their weights and materials", default=True)
    most_links: EnumProperty(
        name="Bones per Vertex", description="How many bones a vertex may follow at most", items=LINKS, default="4"
    )
    backup: BoolProperty(name="Keep a Backup", description="Keep a file that is there beside the new one", default=True)

    @classmethod
    def poll(cls, context: Any) -> bool:
        """There is a model that was imported."""
        cls.poll_message_set("No model that was imported from the game is in the scene")
        return any(shown.motionbridge_model.is_model for shown in context.scene.objects)

    def invoke(self, context: Any, event: Any) -> Any:
        """The file browser, at the file the model came from."""
        holder = active_model(context)
        if holder is not None:
            self.filepath = bpy.path.abspath(holder.motionbridge_model.path)
        self.backup = preferences(context).backup
        return ExportHelper.invoke(self, context, event)

    def draw(self, _context: Any) -> None:
        """The options."""
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        for name in ("skeleton", "meshes", "most_links", "backup"):
            layout.prop(self, name)

    def run(self, context: Any, report: Report) -> Outcome:
        """Plan and write."""
        if not self.filepath:
            raise WriteError("no file is named", remedy="Name the file to write (.ogf)")
        path = bpy.path.abspath(self.filepath)
        holder = model_to_export(context, self.collection)
        options = model_export.ExportOptions(
            skeleton=self.skeleton, meshes=self.meshes, most_links=int(self.most_links), backup=self.backup
        )
        plan = model_export.export_model(context, holder, path, options, report)
        return Outcome(f"{Path(path).name}: {plan.sentence()}")


CLASSES = (EXPORT_SCENE_OT_xray_ogf,)
