"""Bone properties (.bones): import and export; and the bone parts that motion files name."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import bpy
from bpy.props import StringProperty

from ...blender import scope
from ...blender.properties import refuse_linked
from ...core.errors import ReadError, WriteError
from ...core.report import Report
from ...games.xray import kinds
from ...games.xray.bones import file as bones_file
from ...games.xray.bones import properties as bone_properties
from ...games.xray.motions import files as motion_files
from ..bases import BlenderOperator, ExportHelper, ImportHelper
from ..files import ArmatureExport, FileImport, draw_backup
from ..layouts import fields
from ..operation import Operation, Outcome
from ..target import active_rig, likely_rig, rig_to_export
from ..translations import said
from .motion_files import active_file
from .motion_operators import OnMotionFile
from .skeletal import draw_rig, rig_to_import_onto


class IMPORT_SCENE_OT_xray_bones(FileImport, ImportHelper, BlenderOperator):
    """Import shapes, joints, masses and materials of bones (X-Ray) onto the active armature"""

    bl_idname = "import_scene.xray_bones"
    bl_label = "Import X-Ray Bone Properties"

    filename_ext = ".bones"
    filter_glob: StringProperty(default=kinds.BONES.glob, options={"HIDDEN"})

    def draw(self, context: bpy.types.Context) -> None:
        """Onto what."""
        draw_rig(self.layout, context)

    def run(self, context: bpy.types.Context, report: Report) -> Outcome:
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
    filter_glob: StringProperty(default=kinds.BONES.exported_glob, options={"HIDDEN"})

    def suggest(self, context: bpy.types.Context) -> None:
        """The file the properties came from."""
        rig = likely_rig(context)
        if rig is not None:
            self.filepath = bpy.path.abspath(bones_file.suggested_name(rig))

    def draw(self, _context: bpy.types.Context) -> None:
        """Whether to keep a backup."""
        draw_backup(fields(self.layout), self, self.filepath)

    def run(self, context: bpy.types.Context, report: Report) -> Outcome:
        """Plan and write."""
        path = self.named_file(kinds.BONES)
        rig = rig_to_export(context, self.collection)
        with scope.object_mode(context):
            plan = bones_file.plan_export(rig, path, report)
        plan.write(backup=self.backup)
        return Outcome(f"{Path(path).name}: {plan.sentence()}")


class MOTIONBRIDGE_OT_show_partitions(OnMotionFile, BlenderOperator):
    """Create a bone collection per bone part (partition); the file does not depend on them"""

    bl_idname = "motionbridge.show_partitions"
    bl_label = "Create Bone Collections"
    bl_options = {"REGISTER", "UNDO"}

    def edited(self, context: bpy.types.Context) -> Iterable[Any]:
        """The armature's data, which has the bone collections."""
        return (rig_to_export(context, "").data,)

    def run(self, context: bpy.types.Context, report: Report) -> Outcome:
        """Collections of the partitions' names get exactly their bones."""
        rig = rig_to_export(context, "")
        armature = rig.data
        bones = {bone_properties.game_name(bone).lower(): bone for bone in armature.bones}
        file = active_file(rig)
        for partition in file.partitions:
            shown = armature.collections_all.get(partition.name) or armature.collections.new(partition.name)
            wanted = [bones[bone.name.lower()] for bone in partition.bones if bone.name.lower() in bones]
            for bone in list(shown.bones):
                shown.unassign(bone)
            for bone in wanted:
                shown.assign(bone)
        return Outcome(said("Bone collections: {}").format(len(file.partitions)))


class MOTIONBRIDGE_OT_move_to_partition(Operation, BlenderOperator):
    """Move the selected bones to the bone part (partition) chosen in the list; written on the next save"""

    bl_idname = "motionbridge.move_to_partition"
    bl_label = "Assign Selected Bones"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Bones are selected in pose mode, and a partition is chosen."""
        cls.poll_message_set("Select bones in pose mode, and a bone part in the list")
        file = active_file(active_rig(context))
        chosen = file is not None and 0 <= file.active_partition < len(file.partitions)
        return chosen and bool(context.selected_pose_bones)

    def edited(self, context: bpy.types.Context) -> Iterable[Any]:
        """The armature, which has the file."""
        return (rig_to_export(context, ""),)

    def run(self, context: Any, report: Report) -> Outcome:
        """Every bone that the file has a track of and that is not there yet."""
        file = active_file(rig_to_export(context, ""))
        bones = [bone_properties.game_name(bone.bone) for bone in context.selected_pose_bones]
        moved = motion_files.move_to_partition(file, file.active_partition, bones)
        partition = file.partitions[file.active_partition]
        inside = {bone.name.lower() for bone in partition.bones}
        outside = [bone for bone in bones if bone.lower() not in inside]
        if not moved:
            raise WriteError(
                f"none of the selected bones can be moved to {partition.name!r}: they are in it, or the file has no "
                "track of them",
                remedy="Select bones of another bone part",
            )
        if outside:
            report.warn(f"bones without a track in this file: {len(outside)}", ", ".join(outside))
        return Outcome(said("Bones moved to {}: {}").format(partition.name, moved))


CLASSES = (
    IMPORT_SCENE_OT_xray_bones,
    EXPORT_SCENE_OT_xray_bones,
    MOTIONBRIDGE_OT_show_partitions,
    MOTIONBRIDGE_OT_move_to_partition,
)
