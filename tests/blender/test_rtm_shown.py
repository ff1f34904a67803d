"""Animations of Arma where Blender shows something else than keys: rotation modes, muted curves, actions in angles."""

import bpy
import numpy as np
import pytest

from addon.blender import compat, rotation_modes
from addon.blender.bone_curves import channel_path
from addon.blender.rotation_modes import HiddenKeys
from addon.core.errors import WriteError
from addon.core.report import Report
from addon.games.arma import animation_edit, timing
from addon.games.arma.options import StepMode
from tests.blender.rtm_scene import curve_of, exported, load, planned, raw_matrices, shown_matrices
from tests.blender.test_rtm import walk
from tests.real_files import corpus_files
from tests.scene import differences, snapshot

__all__ = ["walk"]

REAL = corpus_files("rtm/dog_runfront.rtm", "rtm/rhs_clamp_camera1.rtm", "rtm_binarised/armaio_v5_lzo.rtm")


def keyed_by_angles(rig, order="YZX", name="mine"):
    """An action of the user's own: every bone of ``rig`` has Euler keys."""
    for bone in rig.pose.bones:
        bone.rotation_mode = order
    action, _, bag = compat.new_action(name, "OBJECT", compat.slot_name(rig))
    make = compat.curve_maker(action, bag)
    for bone in rig.pose.bones:
        for index in range(3):
            points = make(channel_path(bone.name, "rotation_euler"), index, bone.name).keyframe_points
            points.add(2)
            points.foreach_set("co", [0.0, 0.0, 10.0, 0.3 * (index + 1)])
    action.use_fake_user = True
    return action


def shown_and_written(done, **options):
    """Matrices that Blender shows on the file's frames, and those that an export writes."""
    names, _, written = raw_matrices(exported(done, **options))
    return shown_matrices(done, names, timing.kept_frames(done.action.motionbridge_animation)), written


@pytest.mark.parametrize("mode", ["XYZ", "AXIS_ANGLE"])
def test_keys_that_the_rotation_mode_hides_stop_the_export(walk, mode, tmp_path):
    done = load(walk)
    bone = done.rig.pose.bones["Spine"]
    bone.rotation_mode = mode
    bone.rotation_euler, bone.rotation_axis_angle = (0.4, 0, 0), (0.4, 1, 0, 0)
    target = tmp_path / "out.rtm"
    before = snapshot()
    for operator, options in (
        (bpy.ops.export_scene.arma_rtm, {"filepath": str(target)}),
        (bpy.ops.motionbridge.arma_save_back, {}),
    ):
        with pytest.raises(RuntimeError, match=r"rotation mode of 1 bone does not match .* \(Spine\).* Restore Mode"):
            operator(**options)
        assert differences(before, snapshot()) == []
    assert not target.exists()
    actual, written = shown_and_written(done, hidden_keys=HiddenKeys.SHOWN)
    assert np.abs(actual - written).max() < 1e-6
    assert np.abs(written - raw_matrices(walk.read_bytes())[2]).max() > 0.1
    assert exported(done, hidden_keys=HiddenKeys.RESTORE) == walk.read_bytes()
    assert bone.rotation_mode == mode
    assert animation_edit.update_status(bpy.context, done.rig, done.action, Report()) == "UNTOUCHED"
    assert bpy.ops.export_scene.arma_rtm(filepath=str(target), hidden_keys="RESTORE") == {"FINISHED"}
    assert target.read_bytes() == walk.read_bytes()
    assert bone.rotation_mode == "QUATERNION"


def test_sampled_rigs_stop_too(walk):
    done = load(walk)
    done.rig.pose.bones["Pelvis"].constraints.new("LIMIT_LOCATION").use_min_x = True
    done.rig.pose.bones["Spine"].rotation_mode = "XYZ"
    with pytest.raises(WriteError, match="rotation mode"):
        exported(done)
    actual, written = shown_and_written(done, hidden_keys=HiddenKeys.SHOWN)
    assert np.abs(actual - written).max() < 1e-5
    assert exported(done, hidden_keys=HiddenKeys.RESTORE) == walk.read_bytes()
    assert done.rig.pose.bones["Spine"].rotation_mode == "XYZ"


@pytest.mark.parametrize("channel", ["location", "rotation_quaternion", "scale"])
def test_muted_curves_keep_the_files_values(walk, channel):
    done = load(walk)
    curve = curve_of(done.action, "Spine", channel, 1)
    curve.keyframe_points[2].co[1] += 0.3
    edited = exported(done)
    assert edited != walk.read_bytes()
    curve.mute = True
    report = Report()
    assert planned(done, report=report).data == walk.read_bytes()
    assert "curves are muted: their bones keep the values of the file there (walk: Spine)" in report.lines()
    report = Report()
    fresh = planned(done, report=report, from_file=False)
    assert "are exported in their rest pose" in report.lines()[0]
    assert np.isfinite(raw_matrices(fresh.data)[2]).all()


def test_muted_curves_keep_the_files_values_between_its_keys(walk):
    done = load(walk)
    for index in range(3):
        curve_of(done.action, "Spine", "location", index).mute = True
    curve_of(done.action, "Pelvis", "location", 0).keyframe_points.insert(1.5, 0.0)
    before, (_, _, after) = raw_matrices(walk.read_bytes())[2], raw_matrices(exported(done))
    assert np.array_equal(after[[0, 1, 3, 4], 1], before[:, 1])
    assert np.abs(after[2, 1, :3, 3] - (before[1, 1, :3, 3] + before[2, 1, :3, 3]) / 2).max() < 1e-6


def test_bones_posed_without_keys_are_reported(walk):
    done = load(walk)
    bag = compat.curve_bag(done.action)
    for curve in [curve for curve in bag.fcurves if 'bones["Spine"].scale' in curve.data_path]:
        bag.fcurves.remove(curve)
    done.rig.pose.bones["Spine"].scale = (2, 2, 2)
    report = Report()
    planned(done, report=report)
    assert any("posed without keys" in line and "Spine" in line for line in report.lines())


# Actions that turn bones by angles ------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", REAL)
@pytest.mark.parametrize("order", ["XYZ", "YXZ", "ZYX"])
def test_bones_keep_the_angles_that_other_actions_turn_them_by(file, order):
    """The user's own actions go on playing; the file leaves as it came, and an edit changes what it changes."""
    first = load(file)
    rig = first.rig
    mine = keyed_by_angles(rig, order)
    done = load(file, rig)
    assert {bone.rotation_mode for bone in rig.pose.bones} == {order}
    path = channel_path(done.action.motionbridge_animation.bones[0].bone, "rotation")
    assert any(curve.data_path.startswith(path + "_euler") for curve in compat.curve_bag(done.action).fcurves)
    assert exported(done) == file.read_bytes()
    names = [entry.name for entry in done.action.motionbridge_animation.bones]
    frames = timing.kept_frames(done.action.motionbridge_animation)[:5]
    by_angles = shown_matrices(done, names, frames)
    compat.assign(rig, first.action)
    rotation_modes.restore(rig, first.action)
    assert np.abs(shown_matrices(done, names, frames) - by_angles).max() < 1e-5
    compat.assign(rig, done.action)
    rotation_modes.restore(rig, done.action)
    bone = done.action.motionbridge_animation.bones[-1]
    curve_of(done.action, bone.bone, "location", 0).keyframe_points[0].co[1] += 0.1
    changes = planned(done).changes.parts
    below = {child.name for child in rig.data.bones[bone.bone].children_recursive}
    named = {entry.name: entry.bone for entry in done.action.motionbridge_animation.bones}
    assert {named[change.name] for change in changes} <= {bone.bone} | below
    assert {change.items[0].keys for change in changes} == {1}
    compat.assign(rig, mine)
    assert rotation_modes.RotationModes(rig).hidden(mine) == []


def test_a_step_on_the_root_bones_is_kept_with_angles(walk):
    first = load(walk)
    keyed_by_angles(first.rig)
    done = load(walk, first.rig, step=StepMode.BONES)
    assert exported(done) == walk.read_bytes()
    curve_of(done.action, "Spine", "rotation_euler", 1).keyframe_points[2].co[1] += 0.2
    assert [(change.name, change.items[0].keys) for change in planned(done).changes.parts] == [("Spine", 1)]


def test_bones_without_other_actions_rotate_by_quaternions(walk):
    rig = load(walk).rig
    for bone in rig.pose.bones:
        bone.rotation_mode = "ZYX"
    done = load(walk, rig)
    assert {bone.rotation_mode for bone in rig.pose.bones} == {"QUATERNION"}
    assert rig.pose.bones["Spine"].motionbridge_euler_order == "ZYX"
    assert exported(done) == walk.read_bytes()


def test_actions_that_stop_playing_are_named(walk):
    rig = load(walk).rig
    rig.pose.bones["Spine"].rotation_mode = "AXIS_ANGLE"
    action, _, bag = compat.new_action("turns", "OBJECT", compat.slot_name(rig))
    curve = compat.curve_maker(action, bag)(channel_path("Spine", "rotation_axis_angle"), 0, "Spine")
    curve.keyframe_points.insert(0, 1.0)
    report = Report()
    load(walk, rig, report)
    assert any("axis-angle keys" in line and "(turns)" in line for line in report.lines())
    assert rig.pose.bones["Spine"].rotation_mode == "QUATERNION"
