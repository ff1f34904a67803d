"""Benchmarks of armatures that constraints, NLA tracks or control rigs move, and of long lists of motions.

Entries of the table take a path, and return seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np

from addon.blender import action as actions
from addon.blender import armature, compat, control_rig, control_transfer, foreign_motions, scope
from addon.core import retarget, space
from addon.core.limb_goals import FRAMES_PER_SECOND
from addon.core.report import Report
from addon.games.plan import OtherBase
from addon.games.xray.models.importing import import_model
from addon.games.xray.motions import library, omf_codec
from addon.games.xray.motions.omf_codec import OMF, MotionExportOptions, MotionImportOptions
from addon.games.xray.options import ModelImportOptions
from addon.ui import bone_maps, listed_actions
from addon.ui.xray.motion_operators import MOTIONS
from addon.ui.xray.motion_panels import MOTIONBRIDGE_UL_motions

from . import seconds_of
from .files import made_skeleton

SIDE = 150
"""Vertices along each side of the mesh."""
CHAIN = 2
REDRAWS = 50
ROWS_DRAWN = 34
"""How often the active row is queried in each redraw."""
MOTIONS_TRANSFERRED = 8
FRAMES_RETARGETED = 1000


def new_rig() -> Any:
    """Create the armature for the generated motions, active and alone in the scene."""
    rig, _ = armature.build(bpy.context, made_skeleton())
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    return rig


def import_library(motions: str, rig: Any) -> Any:
    """Import all motions of an `.omf` onto an armature; return the armature."""
    library.import_motions(OMF, bpy.context, rig, motions, options=MotionImportOptions(), report=Report())
    return rig


def motions_of(rig: Any) -> list[Any]:
    """Return the actions of the motions of an armature's first file."""
    return library.motions_of(rig.motionbridge_motion_files[0])


def planned_save_back(rig: Any) -> Any:
    """Return the plan that the dialog of Save Back makes."""
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


def _rig_with_nla(motions: str) -> Any:
    rig = _moved_rig(motions, mesh=True)
    for bone in rig.pose.bones:
        for constraint in list(bone.constraints):
            bone.constraints.remove(constraint)
    rig.animation_data.nla_tracks.new().strips.new("strip", 0, motions_of(rig)[1])
    return rig


def _evaluate_motions(rig: Any) -> None:
    for action in motions_of(rig):
        compat.assign(rig, action)
        first, count = actions.frame_range(action)
        for frame in range(first, first + count):
            bpy.context.scene.frame_set(frame)


# ---- long lists


def _update_status(motions: str) -> float:
    rig = import_library(motions, new_rig())
    listed = motions_of(rig)
    return seconds_of(lambda: omf_codec.update_status(bpy.context, rig, listed, Report()))


def _redraw_list(motions: str) -> float:
    rig = import_library(motions, new_rig())
    drawn = SimpleNamespace(pattern="motion_00", regular=False, edited=False, by_name=False, bitflag_filter_item=1)
    drawn.listing, drawn.draw_name = MOTIONS, MOTIONBRIDGE_UL_motions.draw_name
    rows = SimpleNamespace(label=lambda **_: None)
    rows.row = lambda **_: rows

    def drawn_list(*_: Any, **__: Any) -> None:
        MOTIONBRIDGE_UL_motions.filter_items(drawn, bpy.context, bpy.data, "actions")
        for index in range(ROWS_DRAWN):
            listed_actions.row_drawn(MOTIONS, rig)
            MOTIONBRIDGE_UL_motions.draw_row(drawn, rows, None, rig, index)

    layout = SimpleNamespace(template_list=drawn_list)
    return seconds_of(lambda: [listed_actions.draw(layout, MOTIONS, rig) for _ in range(REDRAWS)]) / REDRAWS


def _redraw_stock_list(motions: str) -> float:
    import_library(motions, new_rig())
    by_name, listed = bpy.types.UI_UL_list.filter_items_by_name, bpy.data.actions
    return seconds_of(lambda: [by_name("motion_00", 1, listed, "name") for _ in range(REDRAWS)]) / REDRAWS


# ---- control rigs, on a character with its mesh


def character(path: str) -> tuple[Any, list[Any]]:
    """Import a model and the motions of the file beside it; return the armature and some of the motions."""
    rig = import_model(bpy.context, Path(path), ModelImportOptions(textures=False), Report()).rig
    import_library(str(Path(path).with_suffix(".omf")), rig)
    listed = motions_of(rig)
    return rig, [listed[index] for index in np.linspace(0, len(listed) - 1, MOTIONS_TRANSFERRED).astype(int)]


def _controlled(path: str) -> tuple[Any, list[Any]]:
    rig, listed = character(path)
    control_rig.add(bpy.context, rig)
    return rig, listed


def _evaluate_each(rig: Any, listed: list[Any]) -> float:
    scene, total = bpy.context.scene, 0.0
    for action in listed:
        actions.play(bpy.context, rig, action)
        frames = control_transfer.frames_of(action, rig).tolist()
        scene.frame_set(int(frames[0]))
        total += seconds_of(lambda frames=frames: [scene.frame_set(int(frame)) for frame in frames])
    return total


def _evaluate_all(path: str) -> float:
    rig, _ = character(path)
    return _evaluate_each(rig, motions_of(rig))


def _transfer_to_controls(path: str) -> float:
    rig, listed = _controlled(path)
    with scope.only_evaluated(bpy.context, [rig]):
        return seconds_of(lambda: control_transfer.transfer_all(bpy.context, rig, listed))


# ---- motions of another armature


def _with_source(path: str) -> tuple[Any, Any]:
    """Return a character with its meshes, and a bare armature with a motion of `FRAMES_RETARGETED` frames."""
    rig, listed = character(path)
    source = rig.copy()
    source.data, source.name = rig.data.copy(), "source"
    bpy.context.scene.collection.objects.link(source)
    source.animation_data_clear()
    moving = max(listed, key=lambda action: action.frame_range[1] - action.frame_range[0])
    compat.assign(source, moving, compat.suitable_slot(moving, source))
    (motion,) = foreign_motions.read_armature_motions(bpy.context, source, [moving], FRAMES_PER_SECOND, Report())
    poses = np.resize(motion.poses, (FRAMES_RETARGETED, *motion.poses.shape[1:]))
    action = foreign_motions.build(source, "long", poses, source.data.bones.keys(), space.XRAY_ROOT_FRAME)
    actions.play(bpy.context, source, action)
    bpy.context.view_layer.objects.active = rig
    return rig, source


def _retarget(path: str) -> float:
    rig, source = _with_source(path)

    def work() -> None:
        action = source.animation_data.action
        (motion,) = foreign_motions.read_armature_motions(bpy.context, source, [action], FRAMES_PER_SECOND, Report())
        target = foreign_motions.rig_of(rig)
        result = retarget.retarget(motion.rig, motion.poses, target, bone_maps.links_by("", motion.rig, target))
        added = foreign_motions.build(rig, motion.name, result.poses, rig.data.bones.keys(), space.XRAY_ROOT_FRAME)
        library.play(bpy.context, rig, library.add(OMF, rig.motionbridge_motion_files[0], added))

    return seconds_of(work)


def _evaluate_source(path: str) -> float:
    _, source = _with_source(path)
    bpy.data.batch_remove([obj for obj in bpy.data.objects if obj != source])
    scene, (first, last) = bpy.context.scene, source.animation_data.action.frame_range
    return seconds_of(lambda: [scene.frame_set(frame) for frame in range(round(first), round(last) + 1)])


MEASUREMENTS: dict[str, Callable[[str], float]] = {
    # Plan Save Back if inverse kinematics move two bones, or with an NLA track whose keys every motion replaces.
    # Floor: evaluate every frame of every motion on an armature without a mesh.
    "plan_with_kinematics": lambda motions: seconds_of(partial(planned_save_back, _moved_rig(motions, mesh=True))),
    "plan_with_nla": lambda motions: seconds_of(partial(planned_save_back, _rig_with_nla(motions))),
    "evaluate_poses": lambda motions: seconds_of(partial(_evaluate_motions, _moved_rig(motions, mesh=False))),
    # Compare every motion with its file; none is edited.
    "update_status": _update_status,
    # Redraw the list of motions once, filtered by name: filter, rows, and the active row. Floor: filter the same
    # actions by name as Blender's own lists do.
    "redraw_list": _redraw_list,
    "redraw_stock_list": _redraw_stock_list,
    # Transfer motions to a control rig, and play them with it. Floor: evaluate every frame without a control rig.
    "transfer_to_controls": _transfer_to_controls,
    "evaluate_with_controls": lambda path: _evaluate_each(*_controlled(path)),
    "evaluate_frames": lambda path: _evaluate_each(*character(path)),
    "evaluate_all_frames": _evaluate_all,
    # Retarget a motion of 1,000 frames of an armature onto a character. Floor: evaluate every frame of that armature.
    "retarget": _retarget,
    "evaluate_source": _evaluate_source,
    # Import the model of a character and all its motions.
    "import_character": lambda path: seconds_of(partial(character, path)),
}
