"""Control rigs on armatures of Arma: animations leave byte for byte, also when every frame was looked at."""

import shutil

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from addon.blender import action as actions
from addon.blender import compat, control_links, control_rig, control_transfer
from addon.blender.control_edits import ControlEdits
from addon.core.report import Report
from addon.games.arma import timing
from tests.blender.rtm_scene import BINARISED, PLAIN, exported, load, planned, raw_matrices
from tests.real_files import corpus_files, sampled


def with_rig(file):
    done = load(file)
    bpy.context.view_layer.objects.active = done.rig
    assert bpy.ops.motionbridge.add_control_rig() == {"FINISHED"}
    return done, control_links.controls_of(done.rig)


def edited(file, done):
    """The bones that an export of an imported file changes, and (frames,) whether it changes a frame."""
    names, _, before = raw_matrices(file.read_bytes())
    changed = (before != raw_matrices(exported(done))[2]).any(axis=(2, 3))
    return {names[bone] for bone in np.flatnonzero(changed.any(axis=0))}, changed.any(axis=1)


@pytest.mark.parametrize("file", sampled(PLAIN + BINARISED))
def test_animations_are_the_same_with_a_control_rig(file):
    if not file.name.endswith(".rtm"):
        return
    done, controls = with_rig(file)
    assert ControlEdits(done.rig).bones(done.action) == set()
    assert exported(done) == file.read_bytes()
    controls.pose.bones["root"]["looked at"] = 1.0
    assert ControlEdits(done.rig).bones(done.action) == set(done.rig.data.bones.keys())
    assert exported(done) == file.read_bytes()


@pytest.mark.parametrize("file", corpus_files("rtm/agm_wipeglasses.rtm"))
def test_moving_a_hand_of_a_man_changes_what_it_moves_on_those_frames(file):
    done, controls = with_rig(file)
    goal = next(goal for goal in control_rig.goals_of(controls) if goal.name == "hand_ik.L")
    frames = control_transfer.frames_of(done.action, done.rig)
    chosen = frames[5:9].tolist()
    for frame in chosen:
        bpy.context.scene.frame_set(int(frame), subframe=frame % 1)
        goal.matrix = Matrix.Translation((0, 0, 0.05)) @ goal.matrix
        goal.keyframe_insert("location", frame=frame)
        goal.keyframe_insert("rotation_quaternion", frame=frame)
    moved, changed = edited(file, done)
    assert "LeftHand" in moved
    assert all(name.startswith("Left") and "Leg" not in name and "Foot" not in name for name in moved), moved
    assert changed.sum() <= len(chosen)


@pytest.mark.parametrize("file", corpus_files("rtm/rhs_clamp_camera1.rtm"))
def test_bones_that_are_moved_keep_their_scale_and_shear(file):
    done, controls = with_rig(file)
    names, _, before = raw_matrices(file.read_bytes())
    sizes = np.linalg.svd(before[..., :3, :3], compute_uv=False)
    stretched = names.index("LeftArmRoll")
    assert np.abs(sizes[:, stretched] - 1).max() > 0.5
    frame = float(control_transfer.frames_of(done.action, done.rig)[-1])
    bpy.context.scene.frame_set(int(frame), subframe=frame % 1)
    root = controls.pose.bones["root"]
    root.matrix = Matrix.Translation((0, 0, 0.05)) @ Matrix.Rotation(0.2, 4, "X") @ root.matrix
    root.keyframe_insert("location", frame=frame)
    root.keyframe_insert("rotation_quaternion", frame=frame)
    after = raw_matrices(exported(done))[2]
    moved = (before != after).any(axis=(2, 3))
    assert moved[:, stretched].any()
    # Stretches of up to 4e-5, which are the noise of 32-bit numbers, are not written again.
    np.testing.assert_allclose(np.linalg.svd(after[..., :3, :3], compute_uv=False)[moved], sizes[moved], atol=5e-5)


@pytest.mark.parametrize("file", [PLAIN[0]])
def test_keys_of_controls_behind_the_end_lengthen_the_animation(file):
    done, controls = with_rig(file)
    frames = control_transfer.frames_of(done.action, done.rig)
    root, last = controls.pose.bones["root"], float(frames[-1])
    for behind in (4, 9):
        bpy.context.scene.frame_set(int(last) + behind)
        root.matrix = Matrix.Translation((0, 0, 0.1)) @ root.matrix
        root.keyframe_insert("location", frame=int(last) + behind)
    before, after = raw_matrices(file.read_bytes())[2], raw_matrices(exported(done))[2]
    assert len(after) == len(before) + 2
    np.testing.assert_array_equal(after[: len(before)], before)
    raised = after[len(before) :, :, 2, 3] - before[-1, :, 2, 3]
    # Turns of 2e-5 rad, two metres from the origin.
    np.testing.assert_allclose(raised.T, np.tile([0.1, 0.2], (raised.shape[1], 1)), atol=1e-4)


@pytest.mark.parametrize("file", corpus_files("rtm/agm_wipeglasses.rtm"))
def test_a_key_of_a_control_between_those_of_the_file_is_reported_and_one_of_a_bone_there_is_written(file):
    done, controls = with_rig(file)
    known = timing.kept_keys(done.action.motionbridge_animation)[0]
    time = float(known[1] + known[2]) / 2
    root = controls.pose.bones["root"]
    bpy.context.scene.frame_set(int(time), subframe=time % 1)
    root.matrix = Matrix.Translation((0, 0, 0.1)) @ root.matrix
    root.keyframe_insert("location", frame=time)
    report = Report()
    assert planned(done, report=report).data == file.read_bytes()
    (message,) = (line for line in report.lines() if "the file's key times are kept" in line)
    assert f"frames {time:g}" in message
    bpy.context.scene.frame_set(int(time), subframe=time % 1)
    assert done.rig.pose.bones[0].keyframe_insert("location", frame=time)
    report = Report()
    before, after = raw_matrices(file.read_bytes())[2], raw_matrices(planned(done, report=report).data)[2]
    assert not [line for line in report.lines() if "the file's key times are kept" in line]
    np.testing.assert_array_equal(np.delete(after, 2, axis=0), before)
    middle = (before[1, :, 2, 3] + before[2, :, 2, 3]) / 2
    assert (after[2, :, 2, 3] - middle > 0.05).all()


@pytest.mark.parametrize("file", corpus_files("rtm/agm_wipeglasses.rtm"))
def test_saved_edits_of_an_animation_stay_without_the_control_rig(file, tmp_path):
    path, other = (shutil.copy(file, tmp_path / name) for name in ("walk.rtm", "run.rtm"))
    done, controls = with_rig(path)
    run = load(other, rig=done.rig, assign=False).action
    compat.curve_bag(done.action).fcurves.new("location", index=2).keyframe_points.insert(0.0, 0.0)

    def raise_hand(action):
        frame = int(control_transfer.frames_of(action, done.rig)[5])
        goal = next(goal for goal in control_rig.goals_of(controls) if goal.name == "hand_ik.L")
        bpy.context.scene.frame_set(frame)
        goal.matrix = Matrix.Translation((0, 0, 0.05)) @ goal.matrix
        goal.keyframe_insert("location", frame=frame)

    raise_hand(done.action)
    bpy.context.view_layer.objects.active = done.rig
    assert bpy.ops.motionbridge.arma_save_back(backup=False) == {"FINISHED"}
    saved = path.read_bytes()
    assert saved != file.read_bytes()
    actions.play(bpy.context, done.rig, run)
    control_transfer.show(bpy.context, done.rig, run)
    raise_hand(run)
    bpy.context.view_layer.objects.active = done.rig
    assert bpy.ops.motionbridge.remove_control_rig() == {"FINISHED"}
    message = bpy.context.window_manager.motionbridge_report
    assert f"1 motion is without the edits made with the controls; undo to keep these ({run.name})" in message
    assert exported(done) == saved
    assert [curve.data_path for curve in compat.curves_of(done.action, done.rig)].count("location") == 1
    actions.play(bpy.context, done.rig, done.action)
    assert bpy.ops.motionbridge.arma_save_back() == {"CANCELLED"}
