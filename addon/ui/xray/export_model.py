"""File > Export > X-Ray Model (.ogf): what was imported, with what was changed since."""

from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from ...core.report import Report
from ...games.xray.models import exporting as model_export
from ..bases import BlenderOperator, ExportHelper
from ..file_export import FileExport, draw_backup, is_collection_exporter
from ..layouts import fields
from ..operation import Outcome
from ..target import active_model, model_to_export

LINKS = (
    ("4", "Four", "Clear Sky and Call of Pripyat: up to four bones move a vertex"),
    ("2", "Two", "Shadow of Chernobyl: up to two bones move a vertex"),
)


class EXPORT_SCENE_OT_xray_ogf(FileExport, ExportHelper, BlenderOperator):
    """Export an imported S.T.A.L.K.E.R. (X-Ray) model; unedited parts keep their bytes"""

    bl_idname = "export_scene.xray_ogf"
    bl_label = "Export X-Ray Model"

    filename_ext = ".ogf"
    filter_glob: StringProperty(default="*.ogf", options={"HIDDEN"})
    collection: StringProperty(
        name="Source Collection", description="Export the model of this collection", options={"HIDDEN"}
    )
    skeleton: BoolProperty(name="Skeleton", description="Bones with their rest pose, shapes and joints", default=True)
    meshes: BoolProperty(name="Meshes", description="Meshes with their weights and materials", default=True)
    most_links: EnumProperty(
        name="Bones per Vertex", description="Greatest number of bones that move one vertex", items=LINKS, default="4"
    )

    @classmethod
    def poll(cls, context: Any) -> bool:
        """There is a model that was imported."""
        cls.poll_message_set("No imported X-Ray model in the scene")
        there = any(shown.motionbridge_model.is_model for shown in context.scene.objects)
        return there or is_collection_exporter(cls)

    def suggest(self, context: Any) -> None:
        """The file the model came from."""
        holder = active_model(context)
        if holder is not None:
            self.filepath = bpy.path.abspath(holder.motionbridge_model.path)

    def draw(self, _context: Any) -> None:
        """The options."""
        layout = fields(self.layout)
        for name in ("skeleton", "meshes", "most_links"):
            layout.prop(self, name)
        draw_backup(layout, self, self.filepath)

    def run(self, context: Any, report: Report) -> Outcome:
        """Plan and write."""
        path = self.named_file(".ogf")
        holder = model_to_export(context, self.collection)
        options = model_export.ExportOptions(
            skeleton=self.skeleton, meshes=self.meshes, most_links=int(self.most_links), backup=self.backup
        )
        plan = model_export.export_model(context, holder, path, options, report)
        return Outcome(f"{Path(path).name}: {plan.sentence()}")


CLASSES = (EXPORT_SCENE_OT_xray_ogf,)
