"""Spread Pose in a window: its dialog shows what it does, leaves no trace if it is cancelled, and is one undo step."""

from typing import Any

import bpy
import numpy as np

from addon.blender import compat
from tests.window import controls, identity, stage
from tests.window.stage import Steps


def values(owner: Any, name: str) -> Any:
    """(keys, 2) the keys of one curve of a bone."""
    path = f'pose.bones["{name}"].location'
    curve = next(curve for curve in compat.curves_of(owner.animation_data.action, owner) if curve.data_path == path)
    result = np.empty(2 * len(curve.keyframe_points), np.float32)
    curve.keyframe_points.foreach_get("co", result)
    return result.reshape(-1, 2)


def moved(before: Any, now: Any) -> list[int]:
    """The frames whose keys differ."""
    return sorted({round(float(time)) for time, value in now if not (before == (time, value)).all(axis=1).any()})


def spread_previewed_and_undone() -> Steps:
    """Fields and cancelling change keys back and forth; a repetition with other fades begins again; undo ends it."""
    identity.import_humanoid()
    stage.invoke("motionbridge.add_control_rig")
    yield from stage.until(lambda: controls.controls() is not None, "controls")
    stage.call("object.mode_set", mode="POSE")
    name = "hand_ik.L"
    compat.select(controls.controls(), [name])
    bpy.context.scene.frame_set(4)
    stage.step("Add Control Rig")
    before = values(controls.controls(), name)
    yield
    yield
    controls.controls().pose.bones[name].location.x += 0.05
    stage.step("Pose")
    yield
    posed = controls.controls().pose.bones[name].location.x
    stage.invoke("motionbridge.spread_pose")
    yield
    yield
    assert moved(before, values(controls.controls(), name)), "the dialog shows the change"
    stage.press("ESC")
    yield
    yield
    assert not moved(before, values(controls.controls(), name)), "cancelled"
    assert abs(controls.controls().pose.bones[name].location.x - posed) < 1e-6, "the pose is still there"
    stage.invoke("motionbridge.spread_pose", first=3, last=4, fade_in=2, fade_out=2)
    yield
    yield from stage.confirm()
    assert stage.sentence() == "Bones spread over 4 frames: hand_ik.L", stage.sentence()
    assert moved(before, values(controls.controls(), name)) == [2, 3, 4, 5]
    assert abs(controls.controls().pose.bones[name].location.x - posed) < 1e-6
    done = bpy.context.window_manager.operators[-1]
    assert done.bl_idname == "MOTIONBRIDGE_OT_spread_pose", done.bl_idname
    done.fade_in = 1
    with stage.there():
        bpy.ops.ed.undo_redo()
    yield
    assert moved(before, values(controls.controls(), name)) == [3, 4, 5], stage.reports()
    yield from stage.undo()
    assert not moved(before, values(controls.controls(), name)), "undone"


SCENES = [("a pose is spread, cancelled, repeated and undone", spread_previewed_and_undone)]
