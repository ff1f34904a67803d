"""Partitions of a motion file: which bones are in them, shown as bone collections or changed for the next export."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...core.errors import WriteError
from ...core.report import Report
from ...games.xray.bones import properties as bone_properties
from ...games.xray.motions import files as motion_files
from ..bases import BlenderOperator
from ..operation import Operation, Outcome
from ..target import active_rig, rig_to_export
from ..wording import said
from .export_motions import active_file
from .motion_operators import OnMotionFile


class MOTIONBRIDGE_OT_show_partitions(OnMotionFile, BlenderOperator):
    """Create a bone collection per bone part (partition); the file does not depend on them"""

    bl_idname = "motionbridge.show_partitions"
    bl_label = "Create Bone Collections"
    bl_options = {"REGISTER", "UNDO"}

    def edited(self, context: Any) -> Iterable[Any]:
        """The armature's data, which has the bone collections."""
        return (rig_to_export(context, "").data,)

    def run(self, context: Any, report: Report) -> Outcome:
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
    def poll(cls, context: Any) -> bool:
        """Bones are selected in pose mode, and a partition is chosen."""
        cls.poll_message_set("Select bones in pose mode, and a bone part in the list")
        file = active_file(active_rig(context))
        chosen = file is not None and 0 <= file.active_partition < len(file.partitions)
        return chosen and bool(context.selected_pose_bones)

    def edited(self, context: Any) -> Iterable[Any]:
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


CLASSES = (MOTIONBRIDGE_OT_show_partitions, MOTIONBRIDGE_OT_move_to_partition)
