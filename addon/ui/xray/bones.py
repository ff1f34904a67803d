"""File > Import and Export > X-Ray Bone Properties (.bones), and the drop of such files onto an armature."""

from pathlib import Path
from typing import Any

import bpy
from bpy.props import StringProperty

from ...blender import scope
from ...blender.linked import refuse_linked
from ...core.errors import ReadError
from ...core.report import Report
from ...games.xray.bones import file as bones_file
from ..bases import BlenderOperator, ExportHelper, FileHandler, ImportHelper
from ..file_export import ArmatureExport, draw_backup
from ..file_import import DropInScene, FileImport
from ..layouts import fields
from ..operation import Outcome
from ..target import likely_rig, rig_to_export
from ..wording import said
from .import_skeletal import draw_rig, rig_to_import_onto


class IMPORT_SCENE_OT_xray_bones(FileImport, ImportHelper, BlenderOperator):
    """Import shapes, joints, masses and materials of bones (X-Ray) onto the active armature"""

    bl_idname = "import_scene.xray_bones"
    bl_label = "Import X-Ray Bone Properties"

    filename_ext = ".bones"
    filter_glob: StringProperty(default="*.bones", options={"HIDDEN"})

    def draw(self, context: Any) -> None:
        """Onto what."""
        draw_rig(self.layout, context)

    def run(self, context: Any, report: Report) -> Outcome:
        """Import the file."""
        paths = self.chosen_files("Choose a file of bone properties (.bones)")
        if len(paths) > 1:
            raise ReadError("the bones of an armature have one file", remedy="Choose one file (.bones)")
        rig = rig_to_import_onto(context, report)
        refuse_linked((rig, rig.data))
        with scope.object_mode(context):  # what is set in edit mode is lost when that is left
            given = bones_file.import_bones(rig, paths[0], report)
        return Outcome(said("Bone properties on {}, bones: {}").format(rig.name, given))


class EXPORT_SCENE_OT_xray_bones(ArmatureExport, ExportHelper, BlenderOperator):
    """Export shapes, joints, masses and materials of the armature's bones (X-Ray); unedited bones keep their bytes"""

    bl_idname = "export_scene.xray_bones"
    bl_label = "Export X-Ray Bone Properties"

    filename_ext = ".bones"
    filter_glob: StringProperty(default="*.bones", options={"HIDDEN"})

    def suggest(self, context: Any) -> None:
        """The file the properties came from."""
        rig = likely_rig(context)
        if rig is not None:
            self.filepath = bpy.path.abspath(bones_file.suggested_name(rig))

    def draw(self, _context: Any) -> None:
        """Whether to keep a backup."""
        draw_backup(fields(self.layout), self, self.filepath)

    def run(self, context: Any, report: Report) -> Outcome:
        """Plan and write."""
        path = self.named_file(".bones")
        rig = rig_to_export(context, self.collection)
        with scope.object_mode(context):
            plan = bones_file.plan_export(rig, path, report)
        plan.write(backup=self.backup)
        return Outcome(f"{Path(path).name}: {plan.sentence()}")


class IO_FH_motionbridge_xray_bones(DropInScene, FileHandler):
    """Drop of bone properties, and their export by collections."""

    bl_idname = "IO_FH_motionbridge_xray_bones"
    bl_label = "X-Ray Bone Properties"
    bl_import_operator = "import_scene.xray_bones"
    bl_export_operator = "export_scene.xray_bones"
    bl_file_extensions = ".bones"


CLASSES = (IMPORT_SCENE_OT_xray_bones, EXPORT_SCENE_OT_xray_bones, IO_FH_motionbridge_xray_bones)
