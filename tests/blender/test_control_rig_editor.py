"""The editor's motions with a control rig: unedited they leave as they came, an edit changes what it moves alone."""

import shutil
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from addon.blender import action as actions
from addon.blender import control_links, control_rig
from addon.blender.control_edits import ControlEdits
from addon.games.xray.motions import library
from addon.games.xray.motions.skl_codec import Rotation
from tests.blender.test_control_rig import goal_of, key, off, shown
from tests.blender.test_skl_motions import CURVED, MIXED, STEPPED, load, made_motion, planned, read, written
from tests.real_files import CORPUS

SAVED = Path(__file__).resolve().parents[1] / "saved" / "0.1.0"
KINDS = [Rotation.EULER, Rotation.QUATERNION]
ARM = {b"upperarm_l", b"forearm_l", b"hand_l"}
FIRST, LAST = 10, 20


def humanoid(samples):
    bpy.ops.import_scene.xray_ogf(filepath=str(samples / "humanoid.ogf"))
    return bpy.context.view_layer.objects.active


def with_rig(rig, loaded):
    """A control rig onto which all of the motions are moved, as a person does by playing them."""
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.motionbridge.add_control_rig() == {"FINISHED"}
    for action in loaded:
        actions.play(bpy.context, rig, action)
        assert action.motionbridge_controls is not None
    return control_links.controls_of(rig)


def look_at(rig, controls, action):
    """Make the controls' digest another one, though nothing moved."""
    for goal in control_rig.goals_of(controls):
        goal["ik"] = 0.0
    assert ControlEdits(rig).bones(action) == set(rig.data.bones.keys())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shapes", [STEPPED, CURVED, MIXED])
def test_unedited_motions_are_written_unchanged(samples, tmp_path, shapes, kind):
    rig = humanoid(samples)
    bones = rig.data.bones.keys()
    second = made_motion(shapes, bones=bones, seed=5, apart=True)
    second.name = b"run"
    path = written(tmp_path, made_motion(shapes, bones=bones), second)
    loaded = load(rig, path, rotation=kind).actions
    controls = with_rig(rig, loaded)
    assert [ControlEdits(rig).bones(action) for action in loaded] == [set(), set()]
    assert planned(rig, loaded, tmp_path / "new.skls").data == path.read_bytes()
    look_at(rig, controls, loaded[0])
    assert planned(rig, loaded, tmp_path / "new.skls").data == path.read_bytes()


@pytest.mark.skipif(CORPUS is None, reason="MOTIONBRIDGE_CORPUS is not set")
@pytest.mark.parametrize("kind", KINDS)
def test_unedited_real_motions_are_written_unchanged(tmp_path, kind):
    bpy.ops.import_scene.xray_ogf(filepath=str(CORPUS / "ogf" / "ixray_wpn_hand_0.ogf"))
    rig = bpy.context.view_layer.objects.active
    path = CORPUS / "skls" / "unarmed.skls"
    loaded = load(rig, path, rotation=kind).actions
    controls = with_rig(rig, loaded)
    assert planned(rig, loaded, tmp_path / "new.skls").data == path.read_bytes()
    look_at(rig, controls, loaded[0])
    assert planned(rig, loaded, tmp_path / "new.skls").data == path.read_bytes()


def keys_of(motion):
    return {track.name: [envelope.keys.tobytes() for envelope in track.envelopes] for track in motion.tracks}


@pytest.mark.parametrize("shapes", [STEPPED, CURVED])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["one.skl", "two.skls"])
def test_a_hand_that_is_moved_changes_that_arm_on_those_frames(samples, tmp_path, kind, name, shapes):
    rig = humanoid(samples)
    bones = rig.data.bones.keys()
    # Version 6 rounds handles.
    motions = [made_motion(shapes, bones=bones, keys=9, version=5)]
    motions.append(made_motion(MIXED, bones=bones, keys=9, version=5, seed=5))
    motions[1].name = b"run"
    path = written(tmp_path, *motions, name=name)
    loaded = load(rig, path, rotation=kind).actions
    controls = with_rig(rig, loaded)
    action = loaded[0]
    actions.play(bpy.context, rig, action)
    assert action.frame_range[1] > LAST
    frames = np.arange(0, 31)
    before = shown(rig, frames)
    key(controls, goal_of(controls), range(FIRST, LAST + 1), Matrix.Translation((0.0, 0.01, 0.02)))
    posed = shown(rig, frames)
    assert off(posed[FIRST : LAST + 1], before[FIRST : LAST + 1])[0] > 0.01
    file_path = tmp_path / f"new{path.suffix}"
    file_path.write_bytes(planned(rig, loaded, file_path).data)
    then, now = read(path).motions, read(file_path).motions
    assert len(now) == len(then)
    changed = [
        {bone for bone, keys in keys_of(first).items() if keys_of(other)[bone] != keys}
        for first, other in zip(then, now, strict=True)
    ]
    assert changed[0]
    assert changed[0] <= ARM
    assert not any(changed[1:])
    # And the file, imported again, shows what was posed, and what was there on all other frames.
    again = load(rig, file_path, rotation=kind).actions[0]
    with control_links.links_muted(rig):
        rig.animation_data.action = again
        result = shown(rig, frames)
    metres, radians = off(result, posed)
    assert metres < 5e-4
    assert radians < 1e-3  # 0.01 degrees about each axis of three bones
    others = np.r_[0:FIRST, LAST + 1 : 31]
    assert np.abs(result[others] - before[others]).max() < 1e-3


def test_keys_of_controls_behind_the_end_lengthen_a_motion_of_the_editor(samples, tmp_path):
    shutil.copy(SAVED / "humanoid.skls", tmp_path / "humanoid.skls")
    rig = humanoid(samples)
    bpy.ops.import_scene.xray_skl(filepath=str(tmp_path / "humanoid.skls"))
    action = rig.animation_data.action
    then = next(motion for motion in read(tmp_path / "humanoid.skls").motions if motion.label == action.name)
    controls = with_rig(rig, [action])
    end = int(action.frame_end)
    key(controls, goal_of(controls), [end + 6], Matrix.Translation((0.0, 0.02, 0.05)))
    loaded = library.motions_of(rig.motionbridge_skeletal_files[0])
    (tmp_path / "new.skls").write_bytes(planned(rig, loaded, tmp_path / "new.skls").data)
    now = {motion.label: motion for motion in read(tmp_path / "new.skls").motions}
    assert (now[action.name].first, now[action.name].last) == (then.first, then.last + 6)
    assert {name: motion.last for name, motion in now.items() if name != action.name} == {
        motion.label: motion.last for motion in read(tmp_path / "humanoid.skls").motions if motion.label != action.name
    }


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_that_is_posed_leaves_the_original(samples, tmp_path, kind):
    rig = humanoid(samples)
    path = written(tmp_path, made_motion(STEPPED, bones=rig.data.bones.keys()))
    (original,) = load(rig, path, rotation=kind).actions
    controls = with_rig(rig, [original])
    copy = original.copy()
    copy.name = "a copy whose name is first"
    actions.play(bpy.context, rig, copy)
    assert copy.motionbridge_controls not in {None, original.motionbridge_controls}
    key(controls, goal_of(controls), range(2, 5), Matrix.Translation((0.0, 0.02, 0.05)))
    assert planned(rig, [original], tmp_path / "old.skls").data == path.read_bytes()
    file_path = tmp_path / "new.skls"
    file_path.write_bytes(planned(rig, [copy], file_path).data)
    before, after = (keys_of(*read(file).motions) for file in (path, file_path))
    assert {name for name, keys in after.items() if keys != before[name]} <= ARM
    assert after != before


@pytest.mark.parametrize("kind", KINDS)
def test_saved_edits_of_an_editor_motion_stay_without_the_control_rig(samples, tmp_path, kind):
    rig = humanoid(samples)
    bones = rig.data.bones.keys()
    motions = [made_motion(shapes, bones=bones, keys=9, version=5) for shapes in (CURVED, STEPPED)]
    motions[1].name = b"run"
    path = written(tmp_path, *motions, name="two.skls")
    walk, run = load(rig, path, rotation=kind).actions
    controls = with_rig(rig, [run, walk])
    raised = Matrix.Translation((0.0, 0.01, 0.02))
    key(controls, goal_of(controls), range(FIRST, LAST + 1), raised)
    bpy.context.view_layer.objects.active = rig
    before = path.read_bytes()
    assert bpy.ops.motionbridge.skeletal_save_back(backup=False) == {"FINISHED"}
    saved = path.read_bytes()
    assert saved != before
    posed = shown(rig, np.arange(31))
    actions.play(bpy.context, rig, run)
    key(controls, goal_of(controls), range(FIRST, LAST + 1), raised)
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.motionbridge.remove_control_rig() == {"FINISHED"}
    message = bpy.context.window_manager.motionbridge_report
    assert f"1 motion is without the edits made with the controls; undo to keep these ({run.name})" in message
    assert bpy.ops.motionbridge.skeletal_save_back() == {"CANCELLED"}
    assert path.read_bytes() == saved
    actions.play(bpy.context, rig, walk)
    metres, radians = off(shown(rig, np.arange(31)), posed)
    assert metres < 5e-4
    assert radians < 1e-3
