"""Moving motions onto controls: poses by keys alone are those that Blender evaluates; nothing else is left changed."""

import bpy
import numpy as np
import pytest

from addon.blender import action as actions
from addon.blender import compat, control_links, control_transfer
from addon.blender.bone_curves import evaluated_poses
from addon.blender.control_links import SOLVER
from addon.blender.keyed_poses import poses_of_keys
from tests.blender.test_control_rig import (
    BIG,
    EVERY,
    METRES,
    RADIANS,
    SKELETONS,
    imported,
    motions_of,
    off,
    shown,
    some,
)
from tests.scene import differences, snapshot


def curve_of(action, channel, index):
    """The curve of one channel of the thigh, which walks."""
    curves = compat.curve_bag(action).fcurves
    return next(
        curve for curve in curves if curve.data_path.endswith(f'thigh_l"].{channel}') and curve.array_index == index
    )


def assert_alike(rig, action):
    frames = control_transfer.frames_of(action, rig)
    result = poses_of_keys(rig, action, frames)
    assert result is not None
    metres, radians = off(result, evaluated_poses(bpy.context, rig, action, frames))
    assert metres < METRES
    assert radians < RADIANS


@pytest.mark.parametrize("model", EVERY)
def test_poses_by_keys_alone_are_those_that_blender_evaluates(model):
    rig, _ = imported(model)
    for action in some(motions_of(rig), 8):
        assert_alike(rig, action)


def bezier(_rig, action):
    curve = max((curve_of(action, "rotation_quaternion", index) for index in range(1, 4)), key=_spread)
    points = curve.keyframe_points
    while len(points) > 2:
        points.remove(points[1])
    points[0].interpolation = "BEZIER"
    points[0].handle_right_type = points[1].handle_left_type = "FREE"
    points[0].handle_right = points[0].co[0] + 1.0, points[0].co[1] + 0.4
    curve.update()


def _spread(curve):
    return np.ptp([point.co[1] for point in curve.keyframe_points])


def between(_rig, action):
    curve_of(action, "location", 2).keyframe_points.insert(action.frame_range[0] + 1.5, 0.07)


def muted(rig, action):
    for index in range(4):
        curve_of(action, "rotation_quaternion", index).mute = True
    rig.pose.bones["thigh_l"].rotation_quaternion = (0.9, 0.1, 0.3, 0.2)


def modified(_rig, action):
    curve_of(action, "location", 0).modifiers.new("NOISE")
    action.update_tag()


def posed_without_keys(rig, action):
    compat.curve_bag(action).fcurves.remove(curve_of(action, "location", 1))
    rig.pose.bones["thigh_l"].location[1] = 0.11


def not_of_unit_length(_rig, action):
    for index in range(4):
        for point in curve_of(action, "rotation_quaternion", index).keyframe_points:
            point.co[1] *= 3.0


@pytest.mark.parametrize("change", [bezier, between, muted, modified, posed_without_keys, not_of_unit_length])
def test_so_are_those_of_edited_keys(change):
    rig, _ = imported("humanoid")
    action = rig.animation_data.action
    before = poses_of_keys(rig, action, control_transfer.frames_of(action, rig)[:4])
    change(rig, action)
    assert_alike(rig, action)
    after = poses_of_keys(rig, action, control_transfer.frames_of(action, rig)[:4])
    assert np.allclose(before, after) == (change is not_of_unit_length)


def constrained(rig, _action):
    rig.pose.bones[2].constraints.new("LIMIT_ROTATION").use_limit_x = True


def driven(rig, _action):
    rig.pose.bones[2].driver_add("location", 0).driver.expression = "0.1"


def turned_by_angles(rig, _action):
    rig.pose.bones[2].rotation_mode = "XYZ"


def scaled(rig, _action):
    rig.pose.bones[2].scale = (1.0, 2.0, 1.0)


def not_inheriting(rig, _action):
    rig.data.bones[3].use_inherit_rotation = False


def heard(rig, action):
    rig.animation_data.nla_tracks.new().strips.new("strip", 0, action.copy())


def blended(rig, _action):
    rig.animation_data.action_blend_type = "ADD"


@pytest.mark.parametrize(
    "change",
    [constrained, driven, turned_by_angles, scaled, not_inheriting, heard, blended],
    ids=lambda entry: entry.__name__,
)
def test_where_more_than_keys_moves_bones_they_are_evaluated(change):
    rig, _ = imported("humanoid")
    action = rig.animation_data.action
    frames = control_transfer.frames_of(action, rig)
    assert poses_of_keys(rig, action, frames) is not None
    change(rig, action)
    assert poses_of_keys(rig, action, frames) is None
    # And so is the motion that the controls show, but for scale, which they do not have.
    before = shown(rig, frames)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.motionbridge.add_control_rig()
    if change is not scaled:
        metres, radians = off(shown(rig, frames), before)
        assert metres < METRES
        assert radians < RADIANS


def names_of_all():
    """Kinds and names of all data-blocks."""
    kinds = {kind.identifier for kind in bpy.types.BlendData.bl_rna.properties if kind.type == "COLLECTION"}
    return {(kind, obj.name) for kind in kinds - {"all_ids"} for obj in getattr(bpy.data, kind)}


def test_a_transfer_leaves_what_plays_and_is_posed():
    rig, _ = imported("humanoid")
    bpy.context.view_layer.objects.active = rig
    bpy.ops.motionbridge.add_control_rig()
    controls = control_links.controls_of(rig)
    scene, action = bpy.context.scene, rig.animation_data.action
    scene.frame_set(int(action.frame_range[0]) + 3)

    def state():
        data = rig.animation_data
        return (
            scene.frame_current, data.action, data.action_slot_handle if compat.SLOTTED else 0,
            controls.animation_data.action, controls.parent, [obj.hide_viewport for obj in scene.objects],
            [tuple(value) for bone in rig.pose.bones for value in bone.matrix],
        )  # fmt: skip

    before, every = state(), names_of_all()
    other = next(target for target in motions_of(rig) if target.motionbridge_controls is None)
    obj = control_transfer.transfer(bpy.context, rig, other)
    assert state() == before
    assert names_of_all() - every == {("actions", obj.name)}, "what was needed meanwhile is gone"
    assert obj.motionbridge_controls_digest
    actions.play(bpy.context, rig, other)
    assert controls.animation_data.action == obj


def test_limbs_that_something_outside_turns_too_are_solved_where_the_armature_stands():
    rig, _ = imported("humanoid")
    other = next(result for result in motions_of(rig) if result != rig.animation_data.action)
    frames = control_transfer.frames_of(other, rig)
    expected = poses_of_keys(rig, other, frames)
    carrier, beacon = (bpy.data.objects.new(name, None) for name in ("carrier", "beacon"))
    for empty in (carrier, beacon):
        bpy.context.scene.collection.objects.link(empty)
    rig.parent = carrier
    for frame, angle in ((frames[0], 0.3), (frames[-1], 2.1)):
        carrier.rotation_euler = (0.2, angle, angle)
        carrier.keyframe_insert("rotation_euler", frame=float(frame))
    bpy.context.view_layer.objects.active = rig
    bpy.ops.motionbridge.add_control_rig()
    controls = control_links.controls_of(rig)
    solved = [bone for bone in controls.pose.bones if SOLVER in bone.constraints]
    for bone in solved:
        turned = bone.constraints.new("COPY_ROTATION")
        turned.target, turned.influence = beacon, 0.2
    assert solved
    control_transfer.transfer(bpy.context, rig, other)
    actions.play(bpy.context, rig, other)
    metres, radians = off(shown(rig, frames), expected)
    assert metres < METRES
    assert radians < RADIANS


@pytest.mark.parametrize("model", SKELETONS + BIG)
def test_motions_that_are_moved_together_are_as_exact(model):
    rig, _ = imported(model)
    every = motions_of(rig)
    expected = {
        action: poses_of_keys(rig, action, control_transfer.frames_of(action, rig)) for action in some(every, 12)
    }
    bpy.context.view_layer.objects.active = rig
    bpy.ops.motionbridge.add_control_rig()
    calls = []
    control_transfer.transfer_all(bpy.context, rig, list(expected), calls.append)
    assert calls == list(range(1, len(expected) + 1))
    for action, poses in expected.items():
        actions.play(bpy.context, rig, action)
        metres, radians = off(shown(rig, control_transfer.frames_of(action, rig)), poses)
        assert metres < METRES
        assert radians < RADIANS


def test_long_motions_that_are_solved_without_unneeded_bones_get_the_same_keys(monkeypatch):
    rig, _ = imported("humanoid")
    bpy.context.view_layer.objects.active = rig
    bpy.ops.motionbridge.add_control_rig()
    action, counts, keys = rig.animation_data.action, [], []
    evaluated = control_transfer._evaluated_alone
    seen = lambda rig, copy, *others: (counts.append(len(copy.pose.bones)), evaluated(rig, copy, *others))[1]  # noqa: E731
    monkeypatch.setattr(control_transfer, "_evaluated_alone", seen)
    for frames in (np.inf, 0):
        monkeypatch.setattr(control_transfer, "CUT_FRAMES", frames)
        created = control_transfer.transfer(bpy.context, rig, action)
        curves = compat.curve_bag(created).fcurves
        keys.append([[tuple(key.co) for key in curve.keyframe_points] for curve in curves])
    assert counts[0] == len(control_links.controls_of(rig).pose.bones) > counts[1]
    np.testing.assert_array_equal(*keys)


def test_no_list_shows_what_a_transfer_needs_meanwhile():
    rig, _ = imported("humanoid")
    bpy.context.view_layer.objects.active = rig
    bpy.ops.motionbridge.add_control_rig()
    waiting = [action for action in motions_of(rig) if action.motionbridge_controls is None]
    before, seen = names_of_all(), set()
    control_transfer.transfer_all(bpy.context, rig, waiting, lambda _: seen.update(names_of_all() - before))
    created = {("actions", action.motionbridge_controls.name) for action in waiting}
    assert {kind for kind, _ in seen - created} == {"actions", "armatures", "objects", "scenes"}
    assert all(name.startswith(".") for _, name in seen - created)


def test_work_that_fails_before_it_is_staged_leaves_nothing(monkeypatch):
    rig, _ = imported("humanoid")
    bpy.context.view_layer.objects.active = rig
    bpy.ops.motionbridge.add_control_rig()
    other = next(action for action in motions_of(rig) if action.motionbridge_controls is None)
    before = snapshot()

    def refuse(*_):
        raise KeyboardInterrupt

    for name in ("_copy_for_evaluation", "redirect_references"):
        with monkeypatch.context() as patched:
            patched.setattr(control_transfer, name, refuse)
            with pytest.raises(KeyboardInterrupt):
                control_transfer.transfer(bpy.context, rig, other)
        assert differences(before, snapshot()) == []


def test_work_that_is_stopped_leaves_nothing_that_it_needed():
    rig, _ = imported("humanoid")
    bpy.context.view_layer.objects.active = rig
    bpy.ops.motionbridge.add_control_rig()
    waiting = [action for action in motions_of(rig) if action.motionbridge_controls is None]
    before, playing = snapshot(), rig.animation_data.action

    def stop(done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        control_transfer.transfer_all(bpy.context, rig, waiting, stop)
    created = waiting[0].motionbridge_controls
    assert created is not None
    assert [action for action in waiting if action.motionbridge_controls is not None] == waiting[:1]
    assert rig.animation_data.action == playing
    waiting[0].property_unset("motionbridge_controls")
    bpy.data.actions.remove(created)
    assert differences(before, snapshot()) == []


def test_undo_of_all_motions_that_were_moved_leaves_nothing_of_them():
    rig, _ = imported("humanoid")
    bpy.context.view_layer.objects.active = rig
    bpy.ops.motionbridge.add_control_rig()
    bpy.ops.ed.undo_push(message="added")
    before = names_of_all()
    assert bpy.ops.motionbridge.move_motions_to_controls() == {"FINISHED"}
    after = names_of_all()
    assert {kind for kind, _ in after - before} == {"actions"}
    bpy.ops.ed.undo_push(message="moved")
    bpy.ops.ed.undo()
    assert names_of_all() == before
    bpy.ops.ed.redo()
    assert names_of_all() == after
