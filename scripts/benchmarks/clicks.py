"""Benchmarks of what people click all day with the motions of a character: each is measured with and without a window.

Entries of the table take the path of a model, beside which is a file with its motions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import bpy

from addon.blender import bone_curves, compat, control_rig, control_transfer, scope
from addon.core.report import Report
from addon.games.plan import OtherBase
from addon.games.xray.motions import library
from addon.games.xray.motions.omf_codec import OMF, MotionExportOptions

from . import Click, seconds_of
from .floors import reading_all
from .rigs import character, motions_of

NUMBER = 40
"""Index of the motion that is clicked."""


def _planned(rig: Any) -> Any:
    file, options = rig.motionbridge_motion_files[0], MotionExportOptions()
    how: dict[str, Any] = {"if_changed": OtherBase.REFUSE, "report": Report(), "is_preview": True}
    plan = library.plan_save_back(OMF, bpy.context, rig, file, options=options, **how)
    if len(plan.changes.parts) != 1:
        raise ValueError(f"{len(plan.changes.parts)} motions seem edited, not one")
    return plan


def _raise_a_key(action: Any) -> None:
    curves = [curve for curve in compat.curve_bag(action).fcurves if curve.data_path.endswith("location")]
    curve = max(curves, key=lambda curve: len(curve.keyframe_points))
    curve.keyframe_points[len(curve.keyframe_points) // 2].co[1] += 0.1
    curve.update()
    bpy.context.view_layer.update()


def _preview(path: str, *, controls: bool = False) -> Click:
    """Edit the motion that plays, or a control of it, and plan to save the file back, until the dialog is drawn."""
    rig, listed = character(path)
    played = rig.animation_data.action
    if controls:
        control_rig.add(bpy.context, rig)
        with scope.only_evaluated(bpy.context, [rig]):
            control_transfer.transfer_all(bpy.context, rig, [played, *listed])
        control_transfer.show(bpy.context, rig, played)
    bpy.context.view_layer.update()
    for action in motions_of(rig):
        bone_curves.keys_known(action, rig)
    _raise_a_key(played.motionbridge_controls if controls else played)
    return Click(partial(_planned, rig), partial(bpy.ops.motionbridge.save_back, "INVOKE_DEFAULT"))


def _read_keys(path: str) -> float:
    character(path)
    return seconds_of(reading_all())


def _add_controls(path: str) -> Click:
    rig, _ = character(path)
    return Click(
        lambda: control_rig.add(bpy.context, rig), partial(bpy.ops.motionbridge.add_control_rig, "INVOKE_DEFAULT")
    )


def _controlled(path: str) -> Any:
    rig, _ = character(path)
    played = rig.animation_data.action
    control_rig.add(bpy.context, rig)
    control_transfer.show(bpy.context, rig, played)
    return rig


def _move_all(path: str) -> Click:
    rig = _controlled(path)
    waiting = [action for action in motions_of(rig) if action.motionbridge_controls is None]

    def work() -> None:
        with scope.only_evaluated(bpy.context, [rig]), scope.kept_frame(bpy.context):
            control_transfer.transfer_all(bpy.context, rig, waiting)

    return Click(work, partial(bpy.ops.motionbridge.move_motions_to_controls, "INVOKE_DEFAULT"))


def _play(path: str, *, controls: bool) -> Click:
    rig = _controlled(path) if controls else character(path)[0]
    action = motions_of(rig)[NUMBER]
    library.play(bpy.context, rig, motions_of(rig)[NUMBER + 1])
    return Click(
        partial(library.play, bpy.context, rig, action), lambda: setattr(rig, "motionbridge_motion_row", NUMBER)
    )


MEASUREMENTS: dict[str, Callable[[str], Any]] = {
    # Preview of Save Back with one edited motion; with a control rig that eight other motions were moved to, one
    # edited control. Floor: read all keys.
    "preview": _preview,
    "preview_with_controls": partial(_preview, controls=True),
    "read_keys": _read_keys,
    # Add a control rig to a character. Floor in `rigs`.
    "add_controls": _add_controls,
    # Move all motions to a control rig. Floor in `rigs`.
    "move_all": _move_all,
    # Click on a motion that was not played yet, with a control rig. Floor: the same without one.
    "play_with_controls": partial(_play, controls=True),
    "play": partial(_play, controls=False),
}
