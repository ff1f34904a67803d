"""Saving back motions of a rig that something else moves too, and the least that looking at its poses costs.

The motions are those of scripts/bench_library.py; the rig carries a skinned mesh, as rigs in use do.
"""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from bench_level import seconds_of
from bench_library import made_skeleton

from addon.blender import action as actions
from addon.blender import armature, compat
from addon.core.report import Report
from addon.games import plan as plans
from addon.games.xray.motions import exporting as motion_export
from addon.games.xray.motions import library, omf_codec
from addon.games.xray.motions.omf_codec import MotionExportOptions, MotionImportOptions

SIDE = 150
"""Vertices along a side of the mesh."""
CHAIN = 2


def _rig(motions: str, *, mesh: bool) -> Any:
    rig, _ = armature.build(bpy.context, made_skeleton())
    bpy.context.scene.collection.objects.link(rig)
    library.import_motions(omf_codec.OMF, bpy.context, rig, motions, options=MotionImportOptions(), report=Report())
    tip = next(bone for bone in rig.pose.bones if not bone.children and len(bone.parent_recursive) >= CHAIN)
    goal = bpy.data.objects.new("goal", None)
    goal.location = (0.3, 0.2, 0.5)
    bpy.context.scene.collection.objects.link(goal)
    constraint = tip.constraints.new("IK")
    constraint.target, constraint.chain_count = goal, CHAIN
    if mesh:
        _skin(rig)
    return rig


def _skin(rig: Any) -> None:
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=SIDE, y_subdivisions=SIDE)
    skin = bpy.context.object
    skin.parent = rig
    vertices = np.array_split(np.arange(len(skin.data.vertices)), len(rig.data.bones))
    for bone, part in zip(rig.data.bones, vertices, strict=True):
        skin.vertex_groups.new(name=bone.name).add(part.tolist(), 1.0, "REPLACE")
    skin.modifiers.new("Armature", "ARMATURE").object = rig


def _seconds_of_plan(rig: Any) -> float:
    def work() -> None:
        motion_export.plan_save_back(
            omf_codec.OMF,
            bpy.context,
            rig,
            rig.motionbridge_motion_files[0],
            options=MotionExportOptions(),
            if_changed=plans.OtherBase.REFUSE,
            report=Report(),
        )

    return seconds_of(work)


def plan_with_kinematics(motions: str) -> float:
    """What the dialog of Save Back waits for where inverse kinematics move two bones."""
    return _seconds_of_plan(_rig(motions, mesh=True))


def plan_below_strips(motions: str) -> float:
    """The same below a track of the NLA, whose keys every motion replaces."""
    rig = _rig(motions, mesh=True)
    for bone in rig.pose.bones:
        for constraint in list(bone.constraints):
            bone.constraints.remove(constraint)
    listed = library.motions_of(rig.motionbridge_motion_files[0])
    rig.animation_data.nla_tracks.new().strips.new("strip", 0, listed[1])
    return _seconds_of_plan(rig)


def look_at_poses(motions: str) -> float:
    """The floor: every frame of every motion evaluated, on a rig without a mesh."""
    rig = _rig(motions, mesh=False)
    scene = bpy.context.scene
    listed = library.motions_of(rig.motionbridge_motion_files[0])

    def work() -> None:
        for action in listed:
            compat.assign(rig, action)
            first, count = actions.frame_range(action)
            for frame in range(first, first + count):
                scene.frame_set(frame)

    return seconds_of(work)


MEASUREMENTS = (plan_with_kinematics, plan_below_strips, look_at_poses)
