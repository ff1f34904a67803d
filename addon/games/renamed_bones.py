"""What every game stores of bones, and the actions that name them, follow bones that were renamed in Blender."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy

from ..blender import action_lists, renamed_bones
from ..blender.linked import is_local
from ..core.report import Report
from .xray.motions import files as motion_files


def follow_renames(report: Report) -> None:
    """Take actions and stored names along with the bones that were renamed since they were last looked at."""
    armatures: Any = bpy.data.armatures
    for armature in armatures:
        if not is_local(armature):
            continue
        _know(armature)
        if not renamed_bones.renames(armature):
            continue
        rigs = [owner for owner in bpy.data.objects if owner.data == armature]
        played = {action for rig in rigs for action in action_lists.used_by(rig)}
        found = renamed_bones.follow(armature, _actions(armature, rigs), played, _names(armature, rigs))
        for old, new in found.items():
            report.note("bones were renamed in Blender; their keys follow them", f"{old} > {new}")


def _know(armature: Any) -> None:
    """Version 0.1.0 remembered the names of X-Ray's bones alone, and elsewhere."""
    for bone in armature.bones:
        if not bone.motionbridge_known_as and bone.motionbridge_xray.is_bone:
            bone.motionbridge_known_as = bone.motionbridge_xray.imported_name


def _actions(armature: Any, rigs: list[Any]) -> Iterator[Any]:
    """Those of the rigs, and those that can mean no other armature, for none has a bone of an old name."""
    old = renamed_bones.renames(armature)
    elsewhere = any(name in other.bones for other in bpy.data.armatures if other != armature for name in old)
    ours: set[Any] = set()
    for rig in rigs:
        ours.update(action_lists.used_by(rig))
        for kind in (motion_files.LISTS, motion_files.SKL_LISTS):
            ours.update(action_lists.files_of_actions(rig, kind))
    for action in bpy.data.actions:
        if is_local(action) and (action in ours or not elsewhere):
            yield action


def _names(armature: Any, rigs: list[Any]) -> list[tuple[Any, str]]:
    """Each stored name of a bone: what holds it, and the property."""
    files = [file for rig in rigs for file in (*rig.motionbridge_motion_files, *rig.motionbridge_skeletal_files)]
    found = [(entry, "name") for file in files for entry in file.rest]
    found += [(entry, "bone") for entry in armature.motionbridge_skeleton.bones]
    used = {action for rig in rigs for action in action_lists.used_by(rig)}
    known = set(armature.bones.keys()) | renamed_bones.renames(armature).keys() | {""}
    actions: Any = bpy.data.actions
    for action in actions:
        bones = action.motionbridge_animation.bones if is_local(action) else ()
        # An animation of Arma names no armature: it is of this one if it plays here, or if all its bones are here.
        if action in used or all(entry.bone in known for entry in bones):
            found += [(entry, "bone") for entry in bones]
    return found
