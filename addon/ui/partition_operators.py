"""Partitions of a motion file as bone collections, to see them: what the file says stays in the motion file."""

from __future__ import annotations

from typing import Any

from ..core.report import Report
from ..games.xray import bone_properties
from .bases import BlenderOperator
from .export_motions import active_file
from .operation import Operation, Outcome
from .target import active_rig, rig_to_export
from .wording import said


class MOTIONBRIDGE_OT_show_partitions(Operation, BlenderOperator):
    """Make a bone collection of each partition, to see and select its bones; the file does not depend on them"""

    bl_idname = "motionbridge.show_partitions"
    bl_label = "Show as Bone Collections"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        """The active armature has a motion file."""
        cls.poll_message_set("No motions were imported onto the active armature")
        return active_file(active_rig(context)) is not None

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


CLASSES = (MOTIONBRIDGE_OT_show_partitions,)
