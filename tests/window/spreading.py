"""Spread Pose in a window: its dialog shows what it does, leaves no trace if it is cancelled, and is one undo step; and
a newcomer's way through it, click by click.
"""

from pathlib import Path
from typing import Any

import bpy
import numpy as np

from addon.blender import compat
from addon.core.report import Report
from addon.formats.xray import omf
from addon.ui import motion_lists
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


def newcomers_walk() -> Steps:
    """From two files to a saved motion: found, duplicated, mirrored, a hand raised on frames 20 to 30, played, saved.

    The file gets the two new motions, below the one that they were made from; all others keep bytes and order.
    """
    hand, scene = stage.Hand(20), bpy.context.scene
    path = stage.sample("humanoid.omf")
    before = library_of(path)
    for dropped in (stage.sample("humanoid.ogf"), path):
        stage.forget_reports()
        hand.click(f"drop {dropped.name}", "OK")
        yield from stage.drop(dropped)
        yield from stage.confirm()
        yield from stage.reported()
    hand.click("search field")
    motion_lists.search_in(bpy.context).pattern = "wav"
    hand.click("row of the motion")
    identity.rig().motionbridge_playing = bpy.data.actions.find("wave")
    yield
    hand.click("Duplicate")
    stage.invoke("motionbridge.duplicate_motion")
    yield
    hand.click("menu of the row", "Mirror Motion")
    stage.invoke("motionbridge.mirror_motion")
    yield
    mirrored = identity.rig().animation_data.action.motionbridge_motion.motion_name
    hand.click("Add Control Rig")
    stage.invoke("motionbridge.add_control_rig")
    yield from stage.until(lambda: controls.controls() is not None, "controls")
    if bpy.context.mode != "POSE":
        stage.call("object.mode_set", mode="POSE")  # Ctrl Tab
    hand.click("frame 25 in the timeline")
    scene.frame_set(25)
    yield
    yield
    hand.click("the box of the hand", "end of the move (G)")
    compat.select(controls.controls(), ["hand_ik.R"])
    with stage.there():
        bpy.ops.transform.translate(value=(0.0, 0.0, 0.15), orient_type="GLOBAL")
    yield
    yield
    hand.click("menu Pose", "Spread Pose", "field First Frame", "OK")
    stage.forget_reports()
    stage.invoke("motionbridge.spread_pose", first=20, last=30, fade_in=4, fade_out=4)
    yield
    yield from stage.confirm()
    assert "spread over 17 frames: hand_ik.R" in stage.sentence(), (stage.sentence(), stage.reports())
    hand.click("play")
    stage.call("screen.animation_play")
    yield from stage.until(lambda: scene.frame_current != 25, "the motion to play")
    stage.call("screen.animation_cancel", restore_frame=False)
    hand.click("Save Back", "Save")
    yield from identity.save_back()
    after = library_of(path)
    new = {"wave.001", mirrored}
    assert [(name, body) for name, body in after if name not in new] == before, "all others keep bytes and order"
    assert {name for name, _ in after} == new | {name for name, _ in before}, after
    assert dict(after)["wave.001"] == dict(before)["wave"], "an unedited duplicate has the bytes of its original"
    assert dict(after)[mirrored] != dict(before)["wave"]
    hand.rests()


def library_of(path: Path) -> list[tuple[str, bytes]]:
    """Names and bytes of the motions of a file, in its order."""
    motions = omf.read(path.read_bytes(), path.name, Report()).motion_set.library.motions
    return [(motion.label, bytes(motion.body)) for motion in motions]


SCENES = [
    ("a pose is spread, cancelled, repeated and undone", spread_previewed_and_undone),
    ("a newcomer finds, duplicates, mirrors, poses, plays and saves a motion", newcomers_walk),
]
