"""Rigs that something else moves too, and long lists of motions: what working with them costs, and the least.

The motions are those of scripts/bench_files.py; scripts/bench_blender.py starts one measurement.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np
from bench_clock import cpu_seconds_of, seconds_of
from bench_files import made_skeleton

from addon.blender import action as actions
from addon.blender import armature, compat, control_rig, scope
from addon.core.report import Report
from addon.games.plan import OtherBase
from addon.games.xray.models.importing import import_model
from addon.games.xray.motions import library, omf_codec
from addon.games.xray.motions.omf_codec import OMF, MotionExportOptions, MotionImportOptions
from addon.games.xray.options import ModelImportOptions
from addon.ui import listed_actions
from addon.ui.xray.motion_panels import MOTIONS, MOTIONBRIDGE_UL_motions

SIDE = 150
"""Vertices along a side of the mesh."""
CHAIN = 2
REDRAWS = 50
ROWS_DRAWN = 34
"""Questions for the active row in each redraw."""
MOTIONS_MOVED = 8


def new_rig() -> Any:
    """The armature that the made motions are for, active and alone in the scene."""
    rig, _ = armature.build(bpy.context, made_skeleton())
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    return rig


def import_library(motions: str, rig: Any) -> Any:
    """Every motion of an `.omf` onto a rig; the rig."""
    library.import_motions(OMF, bpy.context, rig, motions, options=MotionImportOptions(), report=Report())
    return rig


def planned_save_back(rig: Any) -> Any:
    """What Save Back would write, as its dialog plans it."""
    file, options = rig.motionbridge_motion_files[0], MotionExportOptions()
    refuse = OtherBase.REFUSE
    return library.plan_save_back(OMF, bpy.context, rig, file, options=options, if_changed=refuse, report=Report())


# ---- rigs that something else moves


def _moved_rig(motions: str, *, mesh: bool) -> Any:
    rig = import_library(motions, new_rig())
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


def plan_with_kinematics(motions: str) -> float:
    """What the dialog of Save Back waits for where inverse kinematics move two bones."""
    rig = _moved_rig(motions, mesh=True)
    return seconds_of(lambda: planned_save_back(rig))


def plan_below_strips(motions: str) -> float:
    """The same below a track of the NLA, whose keys every motion replaces."""
    rig = _moved_rig(motions, mesh=True)
    for bone in rig.pose.bones:
        for constraint in list(bone.constraints):
            bone.constraints.remove(constraint)
    listed = library.motions_of(rig.motionbridge_motion_files[0])
    rig.animation_data.nla_tracks.new().strips.new("strip", 0, listed[1])
    return seconds_of(lambda: planned_save_back(rig))


def look_at_poses(motions: str) -> float:
    """The floor: every frame of every motion evaluated, on a rig without a mesh."""
    rig = _moved_rig(motions, mesh=False)
    scene = bpy.context.scene
    listed = library.motions_of(rig.motionbridge_motion_files[0])

    def work() -> None:
        for action in listed:
            compat.assign(rig, action)
            first, count = actions.frame_range(action)
            for frame in range(first, first + count):
                scene.frame_set(frame)

    return seconds_of(work)


# ---- long lists


def update_status(motions: str) -> float:
    """Every motion compared with its file, none edited."""
    rig = import_library(motions, new_rig())
    listed = library.motions_of(rig.motionbridge_motion_files[0])
    return seconds_of(lambda: omf_codec.update_status(bpy.context, rig, listed, Report()))


def redraw_list(motions: str) -> float:
    """One redraw of the list of motions, filtered by a name: rows, and which of them plays."""
    rig = import_library(motions, new_rig())
    drawn = SimpleNamespace(pattern="motion_00", regular=False, edited=False, filter_name="", bitflag_filter_item=1)
    rows = SimpleNamespace(label=lambda **_: None)
    rows.row = lambda **_: rows

    def drawn_list(*_: Any, **__: Any) -> None:
        MOTIONBRIDGE_UL_motions.filter_items(drawn, bpy.context, bpy.data, "actions")
        for index in range(ROWS_DRAWN):
            listed_actions.row_drawn(MOTIONS, rig)
            MOTIONBRIDGE_UL_motions.draw_item(drawn, bpy.context, rows, bpy.data, None, 0, rig, MOTIONS.row, index)

    layout = SimpleNamespace(template_list=drawn_list)

    def work() -> None:
        for _ in range(REDRAWS):
            listed_actions.draw(layout, MOTIONS, rig)

    return seconds_of(work) / REDRAWS


def redraw_stock_list(motions: str) -> float:
    """The floor of a redraw: the same actions in a list of Blender's own, filtered by a name."""
    import_library(motions, new_rig())
    by_name = bpy.types.UI_UL_list.filter_items_by_name

    def work() -> None:
        for _ in range(REDRAWS):
            by_name("motion_00", 1, bpy.data.actions, "name")

    return seconds_of(work) / REDRAWS


# ---- control rigs, on a character with its mesh


def _character(path: str) -> tuple[Any, list[Any]]:
    """The armature of a model and some motions, spread over those of its file beside it."""
    rig = import_model(bpy.context, Path(path), ModelImportOptions(textures=False), Report()).rig
    import_library(str(Path(path).with_suffix(".omf")), rig)
    listed = library.motions_of(rig.motionbridge_motion_files[0])
    places = np.linspace(0, len(listed) - 1, MOTIONS_MOVED).astype(int).tolist()
    return rig, [listed[place] for place in places]


def _look_at_each(rig: Any, listed: list[Any]) -> float:
    scene, total = bpy.context.scene, 0.0
    for action in listed:
        actions.play(bpy.context, rig, action)
        frames = control_rig.frames_of(action, rig).tolist()
        scene.frame_set(int(frames[0]))
        total += cpu_seconds_of(lambda frames=frames: [scene.frame_set(int(frame)) for frame in frames])
    return total


def move_onto_controls(path: str) -> float:
    """CPU time of moving motions onto a control rig, all in one go."""
    rig, listed = _character(path)
    control_rig.add(bpy.context, rig)
    with scope.only_evaluated(bpy.context, [rig]):
        return cpu_seconds_of(lambda: control_rig.transfer_all(bpy.context, rig, listed))


def look_at_frames(path: str) -> float:
    """The floor: CPU time of every frame of the same motions, evaluated as they were imported."""
    return _look_at_each(*_character(path))


def look_at_controls(path: str) -> float:
    """The same with a control rig that shows them."""
    rig, listed = _character(path)
    control_rig.add(bpy.context, rig)
    return _look_at_each(rig, listed)


def add_controls(path: str) -> float:
    """CPU time of a control rig for a character."""
    rig, _ = _character(path)
    return cpu_seconds_of(lambda: control_rig.add(bpy.context, rig))


def import_character(path: str) -> float:
    """CPU time of the import of the model and all its motions."""
    return cpu_seconds_of(lambda: _character(path))


MEASUREMENTS = (
    plan_with_kinematics,
    plan_below_strips,
    look_at_poses,
    update_status,
    redraw_list,
    redraw_stock_list,
    move_onto_controls,
    look_at_frames,
    look_at_controls,
    add_controls,
    import_character,
)
