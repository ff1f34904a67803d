"""What Blender shows is what is exported, or the export stops or warns before it writes.

Rotation modes that hide keys, muted curves, slots, the NLA, poses without keys, on rigs whose keys are read and on rigs
that are sampled. The judge is the pose that Blender evaluates.
"""

from pathlib import Path
from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from addon.blender import action as actions
from addon.blender import armature, bone_curves, compat, rotation_modes
from addon.blender.rotation_modes import HiddenKeys
from addon.core import rotation, space
from addon.core.errors import WriteError
from addon.core.report import Report
from addon.formats.xray import omf
from addon.formats.xray.omf.mapping import decode
from addon.games.xray.motions import library, omf_codec
from addon.games.xray.motions.library import Onto
from addon.games.xray.motions.omf_codec import MotionExportOptions
from addon.games.xray.motions.skl_codec import Rotation
from addon.ui import bones as ui_bones
from tests.blender.test_motions import OPTIONS, humanoid, load_model, load_motions
from tests.blender.test_skl_motions import CURVED, STEPPED, made_motion, planned, rig_of, written
from tests.blender.test_skl_motions import load as load_editor_motions
from tests.blender.test_ui import game, last_report, load, refusal
from tests.scene import differences, snapshot

__all__ = ["game", "humanoid"]

BONES = ["root", "arm", "hand", "Finger"]
MODES = ["XYZ", "AXIS_ANGLE"]
NEAR = 2e-4
"""Metres, or the sine of the angle: 16-bit quaternions and fitted curves."""


def curves(action, bone="thigh_l", channel="rotation"):
    return [curve for curve in compat.curve_bag(action).fcurves if f'"{bone}"].{channel}' in curve.data_path]


def export(rig, chosen, report=None, **options):
    return library.plan_export(
        omf_codec.OMF,
        bpy.context,
        rig,
        chosen,
        "x.omf",
        onto=Onto.OWN_FILES,
        options=MotionExportOptions(**options),
        report=Report() if report is None else report,
    )


def shown(rig, action):
    """(bones, frames, 4, 4) parent-local, while ``action`` is assigned and nothing else is touched."""
    first, frames = actions.frame_range(action)
    rest = armature.rest_of(rig, space.XRAY_ROOT_FRAME)
    poses = bone_curves.evaluated_poses(bpy.context, rig, action, actions.key_frames(first, frames, 1.0))
    return np.stack([armature.parent_local(pose, rest.parents, rest.root_frame) for pose in poses], axis=1)


def in_file(rig, plan, number=0):
    """The same of a motion of a plan's file."""
    clip = decode(omf.read(plan.data, "x.omf", Report()).motion_set, Report())[number]
    tracks = {bone.lower(): track for track, bone in enumerate(clip.bones)}
    order = [tracks[bone.lower()] for bone in armature.rest_of(rig, space.XRAY_ROOT_FRAME).bones]
    matrices = np.tile(np.eye(4), (len(order), clip.frames, 1, 1))
    for row, track in enumerate(order):
        matrices[row, :, :3, :3] = rotation.matrices(rotation.normalised(clip.rotations[track]))
        matrices[row, :, :3, 3] = clip.translations[track]
    return matrices


def difference(entry, other):
    return np.abs(entry - other).max()


# Rotation modes that hide keys ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_keys_that_the_rotation_mode_hides_stop_the_export(humanoid, mode):
    rig, imported = humanoid
    action = imported.actions[0]
    untouched = export(rig, [action]).data
    by_keys = shown(rig, action)
    rig.pose.bones["thigh_l"].rotation_mode = mode
    assert difference(shown(rig, action), by_keys) > 0.1
    with pytest.raises(WriteError) as refused:
        export(rig, [action])
    for part in ("thigh_l", "'walk'", "Restore Mode", "Export as Shown"):
        assert part in str(refused.value)
    before = snapshot()
    assert export(rig, [action], hidden_keys=HiddenKeys.RESTORE).data == untouched
    as_shown = export(rig, [action], hidden_keys=HiddenKeys.SHOWN)
    assert differences(before, snapshot()) == []
    assert difference(in_file(rig, as_shown), shown(rig, action)) < NEAR
    assert rotation_modes.restore(rig, action) == ["thigh_l"]
    assert export(rig, [action]).data == untouched


@pytest.mark.parametrize("mode", MODES)
def test_on_a_sampled_rig_too(humanoid, mode):
    rig, imported = humanoid
    action = imported.actions[0]
    untouched = export(rig, [action]).data
    rig.pose.bones["hand_l"].constraints.new("LIMIT_ROTATION")
    rig.pose.bones["thigh_l"].rotation_mode = mode
    with pytest.raises(WriteError, match="thigh_l"):
        export(rig, [action])
    before = snapshot()
    assert export(rig, [action], hidden_keys=HiddenKeys.RESTORE).data == untouched
    as_shown = export(rig, [action], hidden_keys=HiddenKeys.SHOWN)
    assert differences(before, snapshot()) == []
    assert difference(in_file(rig, as_shown), shown(rig, action)) < NEAR


@pytest.mark.parametrize("sampled", [False, True])
def test_an_action_that_does_not_play_is_exported_as_the_list_plays_it(humanoid, sampled):
    """Its keys are all quaternions: the modes of the moment, which another action needs, say nothing about it."""
    rig, imported = humanoid
    action, other = imported.actions[:2]
    untouched = export(rig, [action]).data
    if sampled:
        rig.pose.bones["hand_l"].constraints.new("LIMIT_ROTATION")
    compat.assign(rig, other)
    for bone in rig.pose.bones:
        bone.rotation_mode = "ZXY"
    assert export(rig, [action]).data == untouched
    with pytest.raises(WriteError, match=repr(other.name)):
        export(rig, [action, other])


def test_new_keys_in_another_mode_are_exported_and_the_old_ones_named(humanoid):
    rig, imported = humanoid
    action, bone = imported.actions[0], rig.pose.bones["thigh_l"]
    bone.rotation_mode = "XYZ"
    bone.rotation_euler = 0.5, 0.2, -0.4
    bone.keyframe_insert("rotation_euler", frame=0)
    report = Report()
    plan = export(rig, [action], report)
    assert difference(in_file(rig, plan), shown(rig, action)) < NEAR
    assert any("rotation" in line and "thigh_l" in line for line in report.lines())


def test_the_order_of_angles_is_remembered_when_quaternions_play(humanoid):
    """A user's action by angles still means what it did after a motion of the game was played."""
    rig, imported = humanoid
    bone = rig.pose.bones["thigh_l"]
    own, slot, bag = compat.new_action("own", "OBJECT", rig.name)
    compat.assign(rig, own, slot)
    bone.rotation_mode = "ZYX"
    for index, angle in enumerate((0.5, 0.2, -0.4)):
        path = bone_curves.channel_path("thigh_l", "rotation_euler")
        compat.curve_maker(own, bag)(path, index, "thigh_l").keyframe_points.insert(0, angle)
    expected = shown(rig, own)
    actions.play(bpy.context, rig, imported.actions[0])
    assert bone.rotation_mode == "QUATERNION"
    report = Report()
    plan = export(rig, [own], report)
    assert difference(in_file(rig, plan), expected) < NEAR
    assert not report.warnings
    compat.assign(rig, own, slot)
    assert bpy.ops.motionbridge.restore_rotation_modes() == {"FINISHED"}
    assert bone.rotation_mode == "ZYX"
    assert bpy.ops.motionbridge.restore_rotation_modes() == {"CANCELLED"}


def test_an_unknown_order_of_angles_is_warned_of(humanoid):
    rig, _ = humanoid
    own, _, bag = compat.new_action("own", "OBJECT", rig.name)
    path = bone_curves.channel_path("thigh_l", "rotation_euler")
    compat.curve_maker(own, bag)(path, 0, "thigh_l").keyframe_points.insert(0, 0.5)
    report = Report()
    export(rig, [own], report)
    assert any("XYZ" in line and "thigh_l" in line for line in report.lines())


@pytest.mark.parametrize("turning", [Rotation.EULER, Rotation.QUATERNION])
@pytest.mark.parametrize("mode", ["XYZ", "AXIS_ANGLE"])
def test_editor_motions_stop_too(tmp_path, turning, mode):
    path = written(tmp_path, made_motion(STEPPED, version=5))
    rig = rig_of(BONES)
    (action,) = load_editor_motions(rig, path, rotation=turning).actions
    rig.pose.bones["hand"].rotation_mode = mode
    with pytest.raises(WriteError, match="hand"):
        planned(rig, [action], path)
    before = snapshot()
    assert planned(rig, [action], path, hidden_keys=HiddenKeys.RESTORE).data == path.read_bytes()
    plan = planned(rig, [action], tmp_path / "new.skls", hidden_keys=HiddenKeys.SHOWN)
    assert differences(before, snapshot()) == []
    plan.write()
    expected = shown(rig, action)
    assert difference(_reimported(plan.path), expected) < NEAR
    library.play(bpy.context, rig, action)
    assert planned(rig, [action], path).data == path.read_bytes()


def _reimported(path):
    rig = rig_of(BONES)
    (action,) = load_editor_motions(rig, path).actions
    return shown(rig, action)


def test_editor_motions_that_do_not_play_keep_their_order_of_angles(tmp_path):
    second = made_motion(CURVED, seed=8)
    second.name = b"run"
    path = written(tmp_path, made_motion(STEPPED), second)
    rig = rig_of(BONES)
    walk, run = load_editor_motions(rig, path).actions
    rig.pose.bones["hand"].rotation_mode = "QUATERNION"
    with pytest.raises(WriteError, match="'walk'"):
        planned(rig, [walk, run], path)
    rig.animation_data.action = None
    assert planned(rig, [walk, run], path).data == path.read_bytes()


def test_the_operators_offer_the_choice_and_restore_modes(game, tmp_path):
    rig = load(game)
    rig.pose.bones["thigh_l"].rotation_mode = "XYZ"
    target = tmp_path / "out.omf"
    for operator, arguments in (
        (bpy.ops.motionbridge.save_back, {}),
        (bpy.ops.export_scene.xray_omf, {"filepath": str(target)}),
        (bpy.ops.export_scene.xray_skl, {"filepath": str(tmp_path / "out.skls"), "choose": "ACTIVE"}),
    ):
        assert "thigh_l" in refusal(operator, **arguments)
    assert not target.exists()
    assert bpy.ops.export_scene.xray_omf(filepath=str(target), hidden_keys="SHOWN") == {"FINISHED"}
    assert rig.pose.bones["thigh_l"].rotation_mode == "XYZ"
    assert target.read_bytes() != (game / "humanoid.omf").read_bytes()
    assert bpy.ops.export_scene.xray_omf(filepath=str(target), hidden_keys="RESTORE") == {"FINISHED"}
    assert rig.pose.bones["thigh_l"].rotation_mode == "QUATERNION"
    assert target.read_bytes() == (game / "humanoid.omf").read_bytes()
    rig.pose.bones["thigh_l"].rotation_mode = "XYZ"
    assert bpy.ops.motionbridge.restore_rotation_modes() == {"FINISHED"}
    assert last_report()[0] == "Rotation modes restored: 1"
    assert bpy.ops.motionbridge.save_back() == {"CANCELLED"}  # nothing was changed


def test_hidden_keys_are_not_called_edited_and_revert_shows_them(game):
    rig = load(game)
    rig.pose.bones["thigh_l"].rotation_mode = "XYZ"
    bpy.ops.motionbridge.update_status()
    assert last_report()[0].startswith("Edited: 0, new: 0")
    bpy.ops.motionbridge.revert_motion()
    assert rig.pose.bones["thigh_l"].rotation_mode == "QUATERNION"


# Muted curves ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("indices", [(0, 1, 2, 3), (1,)])
def test_muted_curves_keep_the_values_of_the_file(humanoid, indices):
    """Whatever their keys say by now: muting an edit takes it back."""
    rig, imported = humanoid
    action = imported.actions[0]
    untouched = export(rig, [action]).data
    for curve in curves(action):
        if curve.array_index in indices:
            curve.keyframe_points[1].co[1] += 0.2
            curve.mute = True
    report = Report()
    assert export(rig, [action], report).data == untouched
    assert any(
        "muted" in line and "keep the values of the file" in line and "thigh_l" in line for line in report.lines()
    )


def test_muted_curves_of_new_actions_are_in_rest(humanoid):
    rig, imported = humanoid
    action = imported.actions[0].copy()
    for name in ("motionbridge_motion", "motionbridge_skeletal"):
        action.property_unset(name)
    for curve in curves(action):
        curve.mute = True
    report = Report()
    clip = decode(omf.read(export(rig, [action], report).data, "x.omf", Report()).motion_set, Report())[0]
    rest = armature.rest_of(rig, space.XRAY_ROOT_FRAME)
    track = [bone.lower() for bone in clip.bones].index("thigh_l")
    index = rest.bones.index("thigh_l")
    assert rotation.angles_between(clip.rotations[track], rest.rotations[index]).max() < 1e-3
    assert any("muted" in line and "rest pose" in line for line in report.lines())


def test_muted_groups_count_where_blender_does_not_play_them(humanoid):
    rig, imported = humanoid
    action = imported.actions[0]
    played = shown(rig, action)
    compat.curve_bag(action).groups["thigh_l"].mute = True
    rig.pose.bones["thigh_l"].rotation_quaternion = 1, 0, 0, 0
    report = Report()
    export(rig, [action], report)
    assert bool(report.warnings) == (difference(shown(rig, action), played) > 0.01)


@pytest.mark.parametrize("turning", [Rotation.EULER, Rotation.QUATERNION])
@pytest.mark.parametrize("channel", ["rotation", "location"])
def test_muted_curves_of_editor_motions_keep_the_values_of_the_file(tmp_path, turning, channel):
    path = written(tmp_path, made_motion(STEPPED, version=5))
    rig = rig_of(BONES)
    (action,) = load_editor_motions(rig, path, rotation=turning).actions
    for curve in curves(action, "arm", channel):
        curve.keyframe_points[1].co[1] += 0.2
        curve.mute = True
    report = Report()
    plan = planned(rig, [action], tmp_path / "new.skls", report)
    assert plan.data == path.read_bytes()
    assert any("muted" in line and "arm" in line for line in report.lines())


# Bones that the file lacks, or cannot tell apart ----------------------------------------------------------------------


def added_bone(rig, name, parent):
    """A new bone below ``parent``, keyed so that it moves."""
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bone = rig.data.edit_bones.new(name)
    bone.head, bone.tail, bone.parent = (0, 0, 2), (0, 0, 2.1), rig.data.edit_bones[parent]
    bpy.ops.object.mode_set(mode="OBJECT")
    for frame in (0, 5):
        rig.pose.bones[name].location.x = frame
        rig.pose.bones[name].keyframe_insert("location", frame=frame)


@pytest.mark.parametrize("name", ["extra", "HEAD"])
def test_keys_of_a_bone_without_a_track_are_reported_to_be_left_out(humanoid, name):
    rig, imported = humanoid
    untouched = export(rig, imported.actions).data
    added_bone(rig, name, "head")
    assert export(rig, imported.actions, report := Report()).data == untouched
    words = "the file has no tracks of these bones, so the game does not move them; their keys are left out"
    assert report.warnings == {words: [f"walk: {name}"]}
    rig.data.bones[name].use_deform = False  # a helper
    export(rig, imported.actions, report := Report())
    assert not report.warnings


def test_keys_of_two_bones_of_one_name_to_the_editor_are_refused(tmp_path):
    path = written(tmp_path, made_motion(STEPPED))
    rig = rig_of(BONES)
    (action,) = load_editor_motions(rig, path).actions
    added_bone(rig, "HAND", "hand")
    with pytest.raises(WriteError, match=r"these bones as one: 'hand', 'HAND'\. Rename all but one"):
        planned(rig, [action], path)
    rig.pose.bones["HAND"].name = "hand 2"
    assert planned(rig, [action], path).document.motions[0].tracks[-1].name == b"hand 2"


# What else Blender shows ----------------------------------------------------------------------------------------------


def _generator(curve):
    curve.keyframe_points.clear()
    curve.modifiers.new("GENERATOR").coefficients = 0.4, 0.0


def _empty(curve):
    curve.keyframe_points.clear()


def _samples(curve):
    curve.convert_to_samples(0, 40)


def _slope(curve):
    while len(curve.keyframe_points) > 1:
        curve.keyframe_points.remove(curve.keyframe_points[-1])
    key = curve.keyframe_points[0]
    key.interpolation, key.handle_right_type = "BEZIER", "FREE"
    key.handle_right = key.co[0] + 2, key.co[1] + 0.2
    curve.extrapolation = "LINEAR"


def _noise(curve):
    curve.modifiers.new("NOISE").strength = 1.0


@pytest.mark.parametrize("change", [_generator, _empty, _samples, _slope, _noise])
def test_curves_are_exported_as_blender_plays_them(humanoid, change):
    rig, imported = humanoid
    action = imported.actions[0]
    change(next(curve for curve in curves(action) if curve.array_index == 1))
    rig.pose.bones["thigh_l"].rotation_quaternion = 1, 0, 0, 0
    assert difference(in_file(rig, export(rig, [action])), shown(rig, action)) < NEAR


@pytest.mark.parametrize("change", [_generator, _empty, _samples, _noise])
def test_curves_of_editor_motions_are_exported_as_blender_plays_them(tmp_path, change):
    rig = rig_of(BONES)
    (action,) = load_editor_motions(rig, written(tmp_path, made_motion(CURVED, version=5))).actions
    change(curves(action, "arm", "rotation_euler")[1])
    rig.pose.bones["arm"].rotation_euler = 0, 0, 0
    plan = planned(rig, [action], tmp_path / "new.skls")
    plan.write()
    assert difference(_reimported(plan.path), shown(rig, action)) < 1e-3  # fitted within 0.01 degrees


def test_sampling_leaves_the_pose_as_it_was(humanoid):
    """Bones that the playing action does not key keep their pose, and no action gets the pose of one before it."""
    rig, imported = humanoid
    walk, other = imported.actions[:2]
    for curve in curves(walk, "head", ""):
        compat.curve_bag(walk).fcurves.remove(curve)
    rig.pose.bones["hand_l"].constraints.new("LIMIT_ROTATION")
    rig.pose.bones["head"].rotation_quaternion = 0.8, 0.6, 0, 0
    bpy.context.view_layer.update()
    alone = export(rig, [walk]).data
    before = snapshot()
    export(rig, [other, walk])
    assert differences(before, snapshot()) == []
    assert export(rig, [walk]).data == alone


def test_a_sampled_rig_in_its_rest_position_exports_its_motions(humanoid):
    rig, imported = humanoid
    untouched = export(rig, [imported.actions[0]]).data
    rig.pose.bones["hand_l"].constraints.new("LIMIT_ROTATION")
    rig.data.pose_position = "REST"
    before = snapshot()
    assert export(rig, [imported.actions[0]]).data == untouched
    assert differences(before, snapshot()) == []


def by_driver(rig):
    rig.data.driver_add("pose_position").driver.expression = "1"


def by_a_driver_that_begins_later(rig):
    rig.data.driver_add("pose_position").driver.expression = "frame > 1"


def by_keys(rig):
    for frame, position in ((0, "POSE"), (2, "REST")):
        rig.data.pose_position = position
        rig.data.keyframe_insert("pose_position", frame=frame)


@pytest.mark.parametrize("switch", [by_driver, by_a_driver_that_begins_later, by_keys])
def test_what_switches_a_sampled_rig_to_its_rest_position_changes_no_export(humanoid, switch):
    rig, imported = humanoid
    bpy.context.scene.frame_set(0)
    untouched = export(rig, [imported.actions[0]]).data
    rig.pose.bones["hand_l"].constraints.new("LIMIT_ROTATION")
    switch(rig)
    bpy.context.scene.frame_set(3)
    assert rig.data.pose_position == "REST"
    before = snapshot()
    assert export(rig, [imported.actions[0]]).data == untouched
    assert differences(before, snapshot()) == []
    bpy.context.scene.frame_set(3)
    assert rig.data.pose_position == "REST"


@pytest.mark.parametrize("path", ["hide_viewport", "scale", "hide_render"])
def test_drivers_of_the_rigs_object_change_no_export(humanoid, path):
    rig, imported = humanoid
    untouched = export(rig, [imported.actions[0]]).data
    rig.pose.bones["hand_l"].constraints.new("LIMIT_ROTATION")
    created = rig.driver_add(path)
    for curve in created if isinstance(created, list) else [created]:
        curve.driver.expression = "2"
    bpy.context.scene.frame_set(3)
    assert export(rig, [imported.actions[0]]).data == untouched


def test_a_solo_track_of_a_motion_puts_it_in_play(humanoid):
    rig, imported = humanoid
    untouched = export(rig, [imported.actions[0]]).data
    track = rig.animation_data.nla_tracks.new()
    strip = track.strips.new("wave", 0, imported.actions[2])
    strip.influence, track.is_solo = 0.5, True
    assert export(rig, [imported.actions[0]]).data == untouched
    written = in_file(rig, export(rig, [imported.actions[2]]))
    frames = np.arange(written.shape[1], dtype=np.float32)
    assert difference(written, seen_at(rig, frames)) < NEAR


def seen_at(rig, frames):
    """The local poses (bones, frames) that the scene shows."""
    rest = armature.rest_of(rig, space.XRAY_ROOT_FRAME)
    result = []
    for frame in frames.tolist():
        bpy.context.scene.frame_set(int(frame), subframe=frame % 1)
        poses = armature.matrices_of(rig.pose.bones, "matrix")
        result.append(armature.parent_local(poses, rest.parents, rest.root_frame))
    return np.stack(result, axis=1)


def test_a_solo_track_of_a_layer_stops_the_export(humanoid):
    rig, imported = humanoid
    track = rig.animation_data.nla_tracks.new()
    layer, slot, bag = compat.new_action("layer", "OBJECT", rig.name)
    bag.fcurves.new(bone_curves.channel_path("head", "location"), index=0).keyframe_points.insert(0, 0.1)
    strip = track.strips.new("layer", 0, layer)
    if slot is not None:
        strip.action_slot = slot
    strip.blend_type, track.is_solo = "ADD", True
    with pytest.raises(WriteError, match="solo"):
        export(rig, [imported.actions[0]])
    as_shown = export(rig, [imported.actions[0]], hidden_keys=HiddenKeys.SHOWN)
    assert difference(in_file(rig, as_shown), shown(rig, imported.actions[0])) < NEAR
    track.mute = True
    with pytest.raises(WriteError, match="solo"):
        export(rig, [imported.actions[0]])


def test_a_strip_that_is_tweaked_is_exported_as_it_is_evaluated(humanoid):
    """Another motion is read by its keys; where it has to be sampled, the export stops."""
    rig, imported = humanoid
    untouched = export(rig, [imported.actions[1]]).data
    data = rig.animation_data
    data.nla_tracks.new().strips.new("walk", 5, imported.actions[0]).scale = 2
    data.action = None
    data.use_tweak_mode = True
    written = in_file(rig, export(rig, [imported.actions[0]]))
    assert difference(written, seen_at(rig, 5 + np.arange(written.shape[1], dtype=np.float32))) < NEAR
    assert export(rig, [imported.actions[1]]).data == untouched
    rig.data.bones["head"].use_inherit_rotation = False
    with pytest.raises(WriteError, match="tweak"):
        export(rig, [imported.actions[1]])


def test_bones_posed_without_keys_are_warned_of(humanoid):
    rig, imported = humanoid
    walk = imported.actions[0]
    for curve in curves(walk, "head", ""):
        compat.curve_bag(walk).fcurves.remove(curve)
    for change in ({"location": (0.5, 0, 0)}, {"rotation_quaternion": (0.8, 0.6, 0, 0)}, {"scale": (2, 2, 2)}):
        head = rig.pose.bones["head"]
        head.location, head.rotation_quaternion, head.scale = (0, 0, 0), (1, 0, 0, 0), (1, 1, 1)
        clean = Report()
        export(rig, [walk], clean)
        assert not clean.warnings
        for name, value in change.items():
            setattr(head, name, value)
        report = Report()
        export(rig, [walk], report)
        assert any("without keys" in line and "head" in line for line in report.lines())


def test_the_pose_of_another_motion_is_not_called_posed(samples, tmp_path):
    """Bones that the file of an editor motion has no tracks of keep the pose of what played before."""
    rig = load_model(samples / "humanoid.ogf")
    load_motions(rig, samples / "humanoid.omf", OPTIONS)
    bpy.context.scene.frame_set(3)
    bones = [bone.name for bone in rig.data.bones]
    path = written(tmp_path, made_motion(STEPPED, bones=bones[:4]))
    editor = load_editor_motions(rig, path).actions
    report = Report()
    assert planned(rig, editor, path, report).data == path.read_bytes()
    assert not report.warnings


@pytest.mark.skipif(not compat.SLOTTED, reason="slots came with Blender 4.4")
def test_the_slot_that_plays_is_exported(humanoid):
    rig, imported = humanoid
    action = imported.actions[0]
    untouched = export(rig, [action]).data
    slot, bag = compat.add_slot(action, "OBJECT", "Other")
    rig.animation_data.action_slot = slot
    report = Report()
    assert export(rig, [action], report).data == untouched  # an empty slot hides no keys
    assert any("slot" in line and "Other" in line for line in report.lines())
    path = bone_curves.channel_path("thigh_l", "location")
    bag.fcurves.new(path, index=0).keyframe_points.insert(0, 0.5)
    for bone in rig.pose.bones:
        bone.location, bone.rotation_quaternion = (0, 0, 0), (1, 0, 0, 0)
    assert difference(in_file(rig, export(rig, [action])), shown(rig, action)) < NEAR


@pytest.mark.skipif(not compat.SLOTTED, reason="slots came with Blender 4.4")
def test_keys_of_other_slots_say_nothing_of_a_motions_length(game):
    """A shot whose first slot is the camera's."""
    load(game)
    rig = bpy.context.view_layer.objects.active
    shot, _, of_camera = compat.new_action("shot", "OBJECT", "camera")
    of_camera.fcurves.new("location", index=0).keyframe_points.insert(250, 3.0)
    slot, bag = compat.add_slot(shot, "OBJECT", rig.name)
    fcurve = bag.fcurves.new(bone_curves.channel_path("thigh_l", "rotation_quaternion"), index=1)
    fcurve.keyframe_points.insert(0, 0.0)
    fcurve.keyframe_points.insert(20, 0.5)
    compat.assign(rig, shot, slot)
    for bone in rig.pose.bones:
        bone.location, bone.rotation_quaternion = (0, 0, 0), (1, 0, 0, 0)
    written = in_file(rig, export(rig, [shot]))
    assert written.shape[1] == 21
    rest = armature.rest_of(rig, space.XRAY_ROOT_FRAME)
    poses = bone_curves.evaluated_poses(bpy.context, rig, shot, np.arange(21, dtype=np.float32))
    seen = np.stack([armature.parent_local(pose, rest.parents, rest.root_frame) for pose in poses], axis=1)
    assert difference(written, seen) < NEAR
    file = rig.motionbridge_motion_files[0]
    library.add(omf_codec.OMF, file, shot)
    save(rig, file)
    fcurve.keyframe_points.insert(40, 0.1)
    assert save(rig, file).library.motions[-1].frames == 41
    omf_codec.revert(bpy.context, rig, shot, Report())
    assert [curve.data_path for curve in of_camera.fcurves] == ["location"]
    assert bag.fcurves[0].data_path.startswith("pose.bones")


def save(rig, file):
    """What is in the file after Save Back."""
    assert bpy.ops.motionbridge.save_back() == {"FINISHED"}
    return omf.read(Path(file.path).read_bytes(), "x.omf", Report()).motion_set


@pytest.mark.parametrize("hide", ["eye", "viewport", "collection", "scene"])
def test_a_hidden_rig_is_sampled_as_it_is_when_it_is_shown(humanoid, hide):
    rig, imported = humanoid
    constraint = rig.pose.bones["thigh_l"].constraints.new("LIMIT_ROTATION")
    constraint.use_limit_x, constraint.min_x, constraint.owner_space = True, 0.4, "LOCAL"
    seen = export(rig, imported.actions[:2]).data
    apart = bpy.data.collections.new("apart")
    bpy.context.scene.collection.children.link(apart)
    for before in rig.users_collection:
        before.objects.unlink(rig)
    apart.objects.link(rig)
    if hide == "eye":
        rig.hide_set(True)
    elif hide == "viewport":
        rig.hide_viewport = True
    elif hide == "collection":
        bpy.context.view_layer.layer_collection.children["apart"].exclude = True
    else:
        bpy.data.scenes.new("other").collection.children.link(apart)
        bpy.context.scene.collection.children.unlink(apart)
    bpy.context.view_layer.update()
    before = snapshot()
    assert export(rig, imported.actions[:2]).data == seen
    assert differences(before, snapshot()) == []


def test_scale_that_stays_1_is_no_loss_and_any_other_is(humanoid):
    """Blender's bakes key the scale of every bone."""
    rig, imported = humanoid
    action = imported.actions[0]
    untouched = export(rig, [action]).data
    bag = compat.curve_bag(action)
    for index in range(3):
        curve = bag.fcurves.new(bone_curves.channel_path("head", "scale"), index=index)
        for frame in (0, 10, 20):
            curve.keyframe_points.insert(frame, 1.0)
    report = Report()
    assert export(rig, [action], report).data == untouched
    assert not report.warnings
    curve.keyframe_points[1].co[1] = 1.01
    export(rig, [action], report)
    assert any("head" in line and "scale" in line for line in report.lines())


def test_marks_that_end_up_outside_of_their_motion_are_reported(humanoid):
    """Blender moves keys without the markers above them."""
    rig, imported = humanoid
    action = next(action for action in imported.actions if len(action.motionbridge_motion.marks))
    report = Report()
    export(rig, [action], report)
    assert not report.warnings
    for curve in compat.curve_bag(action).fcurves:
        for key in curve.keyframe_points:
            key.co.x += 100
        curve.update()
    action.frame_end += 100
    action.frame_start += 100
    export(rig, [action], report)
    assert any(
        "marks are outside" in line and action.motionbridge_motion.marks[0].name in line for line in report.lines()
    )
    for marker in action.pose_markers:
        marker.frame += 100
    report = Report()
    export(rig, [action], report)
    assert not report.warnings


def test_time_stretching_of_the_scene_changes_no_export(humanoid):
    rig, imported = humanoid
    rig.pose.bones["thigh_l"].constraints.new("LIMIT_ROTATION")
    plain = export(rig, [imported.actions[0]]).data
    bpy.context.scene.render.frame_map_new = 200
    before = snapshot()
    assert export(rig, [imported.actions[0]]).data == plain
    assert differences(before, snapshot()) == []


@pytest.mark.parametrize(("influence", "blending"), [(0.5, "REPLACE"), (1.0, "ADD")])
def test_an_action_that_is_blended_with_strips_is_exported_as_blended(humanoid, influence, blending):
    """Also its bones that no strip has keys of."""
    rig, imported = humanoid
    action = imported.actions[0]
    other, slot, bag = compat.new_action("other", "OBJECT", rig.name)
    bag.fcurves.new(bone_curves.channel_path("head", "location"), index=0).keyframe_points.insert(0, 0.1)
    strip = rig.animation_data.nla_tracks.new().strips.new("other", 0, other)
    if slot is not None:
        strip.action_slot = slot
    rig.animation_data.action_influence, rig.animation_data.action_blend_type = influence, blending
    assert difference(in_file(rig, export(rig, [action])), shown(rig, action)) < NEAR


def test_an_armature_that_is_being_edited_is_not_sampled(humanoid):
    rig, imported = humanoid
    constraint = rig.pose.bones["thigh_l"].constraints.new("LIMIT_ROTATION")
    constraint.use_limit_x, constraint.min_x, constraint.owner_space = True, 0.4, "LOCAL"
    seen = export(rig, [imported.actions[0]]).data
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(WriteError, match=r"'humanoid' is being edited.*Leave edit mode"):
        export(rig, [imported.actions[0]])
    bpy.ops.object.mode_set(mode="OBJECT")
    assert export(rig, [imported.actions[0]]).data == seen


def test_motions_by_angles_and_by_quaternions_live_on_one_rig(samples, tmp_path):
    rig = load_model(samples / "humanoid.ogf")
    motions = load_motions(rig, samples / "humanoid.omf", OPTIONS).actions
    bones = [bone.name for bone in rig.data.bones]
    path = written(tmp_path, made_motion(STEPPED, bones=bones[:6]))
    editor = load_editor_motions(rig, path).actions
    assert rig.pose.bones[bones[1]].rotation_mode == "ZXY"
    for _ in range(2):
        assert planned(rig, editor, path).data == path.read_bytes()
        assert export(rig, motions).data == (samples / "humanoid.omf").read_bytes()
        library.play(bpy.context, rig, motions[0])


def test_the_choice_is_drawn_where_it_matters(humanoid):
    rig, _ = humanoid
    drawn = []
    column = SimpleNamespace(prop=lambda _, name: drawn.append(name), operator=lambda name, **_: drawn.append(name))
    layout = SimpleNamespace(column=lambda: column)
    dialog = SimpleNamespace(hidden_keys="STOP")
    ui_bones.HiddenKeysChoice.draw_hidden_keys(dialog, layout, rig)
    ui_bones.draw_restore(layout, rig)
    assert drawn == []
    rig.pose.bones["thigh_l"].rotation_mode = "XYZ"
    ui_bones.HiddenKeysChoice.draw_hidden_keys(dialog, layout, rig)
    ui_bones.draw_restore(layout, rig)
    assert drawn == ["hidden_keys", "motionbridge.restore_rotation_modes"]
    assert column.alert


def test_an_import_says_which_actions_of_the_user_stop_playing(game):
    rig = load(game, motions="")
    bone = rig.pose.bones["thigh_l"]
    bone.rotation_mode = "YXZ"
    bone.rotation_euler = 0.5, 0.2, -0.4
    bone.keyframe_insert("rotation_euler", frame=0)
    own = rig.animation_data.action
    assert bpy.ops.import_scene.xray_omf(filepath=str(game / "humanoid.omf")) == {"FINISHED"}
    assert any("do not play" in line and own.name in line for line in last_report())
    rig.animation_data.action = own
    assert bpy.ops.motionbridge.restore_rotation_modes() == {"FINISHED"}
    assert bone.rotation_mode == "YXZ"
