"""Spread Pose: a change on one frame reaches the frames around it with fades, and nothing else."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from addon.blender import compat, control_links
from addon.core import rotation
from addon.core.report import Report
from addon.core.spread import Span
from addon.formats.xray import omf
from tests.blender.test_action_lists import activate, bodies_in, load
from tests.blender.test_control_rig import goal_of, off, shown
from tests.blender.test_control_rig_habits import controls_of, game  # noqa: F401 (a fixture)
from tests.blender.test_ui import last_report, refusal

CHANGE = Quaternion((0.3, 1.0, -0.2), 0.7)
OFFSET = Vector((0.01, -0.02, 0.03))
FADES = {"fade_in": 3, "fade_out": 4}


@pytest.fixture
def rig(game):  # noqa: F811
    """The humanoid with its motions, in pose mode, without a control rig."""
    result = load(game)
    posing(result)
    return result


def posing(owner):
    activate(owner)
    bpy.ops.object.mode_set(mode="POSE")


def go(frame):
    bpy.context.scene.frame_set(frame)


def turn(owner, name, *, is_keyed=False):
    """Turn and move a bone on the current frame, as a person; select only it."""
    bone = owner.pose.bones[name]
    mode, bone_rotation = bone.rotation_mode, bone.matrix_basis.to_quaternion() @ CHANGE
    if mode == "QUATERNION":
        bone.rotation_quaternion = bone_rotation
    elif mode == "AXIS_ANGLE":
        axis, angle = bone_rotation.to_axis_angle()
        bone.rotation_axis_angle = (angle, *axis)
    else:
        bone.rotation_euler = bone_rotation.to_euler(mode)
    bone.location += OFFSET
    if is_keyed:
        for channel in ("location", "rotation_quaternion" if mode == "QUATERNION" else "rotation_euler"):
            bone.keyframe_insert(channel)
    bpy.context.view_layer.update()
    compat.select(owner, [name])


def spread_pose(first, last, **fades):
    return bpy.ops.motionbridge.spread_pose(first=first, last=last, **(fades or FADES))


def basis(owner, name, frames):
    """(frames, 4) unit quaternions and (frames, 3) locations of a bone, asked frame by frame."""
    rotations, locations = [], []
    for frame in frames:
        go(int(frame))
        matrix = owner.pose.bones[name].matrix_basis
        rotations.append(matrix.to_quaternion()[:])
        locations.append(matrix.translation[:])
    return np.array(rotations), np.array(locations)


def keys_of(action, owner):
    """Every key of an action: path, index -> bytes of frames and values."""
    result = {}
    for curve in compat.curves_of(action, owner):
        values = np.empty(2 * len(curve.keyframe_points), np.float32)
        curve.keyframe_points.foreach_get("co", values)
        result[curve.data_path, curve.array_index] = values.reshape(-1, 2)
    return result


def frames_of(action):
    return np.arange(round(action.frame_range[0]), round(action.frame_range[1]) + 1)


def check(owner, name, before, weights, tolerance=2e-6):
    """The bone has its motion with the change in its own axes, by the weights."""
    rotations, locations = basis(owner, name, frames_of(owner.animation_data.action))
    for now, old, weight in zip(rotations, before[0], weights, strict=True):
        wanted = Quaternion(old) @ Quaternion(CHANGE.axis, CHANGE.angle * weight)
        assert rotation.angles_between(np.array(now), np.array(wanted[:])) < max(tolerance, 2e-6) * 10
    wanted = before[1] + weights[:, None] * np.array(OFFSET[:])
    np.testing.assert_allclose(locations, wanted, atol=tolerance)


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "ZXY", "YXZ", "AXIS_ANGLE"])
def test_the_change_fades_in_and_out_and_nothing_else_changes(rig, mode):
    action = rig.animation_data.action
    frames = frames_of(action)
    name, middle = "upperarm_l", int(frames[len(frames) // 2])
    if mode != "QUATERNION":
        activate(rig)
        bpy.ops.object.mode_set(mode="POSE")
        rig.pose.bones[name].rotation_mode = mode
        for frame in frames:  # animated by hand in this mode
            bone = rig.pose.bones[name]
            bone.rotation_euler = (0.1 * frame, 0.02 * frame, -0.05 * frame)
            bone.rotation_axis_angle = (0.1 * frame, 0.0, 0.6, 0.8)
            channel = "rotation_axis_angle" if mode == "AXIS_ANGLE" else "rotation_euler"
            bone.keyframe_insert(channel, frame=int(frame))
    before, keys = basis(rig, name, frames), keys_of(action, rig)
    go(middle)
    turn(rig, name)
    pose = shown_now(rig)
    assert spread_pose(middle - 1, middle + 2) == {"FINISHED"}
    metres, radians = off(shown_now(rig), pose)
    assert metres < 1e-5
    assert radians < 1e-5
    weights = Span(middle - 1, middle + 2, 3, 4).weights(frames)
    assert 0 < np.count_nonzero(weights) < len(frames)
    check(rig, name, before, weights)
    for key, now in keys_of(action, rig).items():
        if name not in key[0]:
            assert (now == keys[key]).all()
        elif len(keys[key]) > 1:
            unchanged = np.isin(now[:, 0], frames[weights == 0])
            assert (now[unchanged] == keys[key][np.isin(keys[key][:, 0], now[unchanged, 0])]).all()


def shown_now(owner):
    return np.array([np.array(bone.matrix) for bone in owner.pose.bones])


def test_the_file_gets_one_other_track_on_these_frames_only(rig, game):  # noqa: F811
    before = bodies_in(game / "humanoid.omf")
    action = rig.animation_data.action
    frames = frames_of(action)
    middle = int(frames[len(frames) // 2])
    go(middle)
    rig.pose.bones["upperarm_l"].rotation_quaternion = rig.pose.bones["upperarm_l"].rotation_quaternion @ CHANGE
    compat.select(rig, ["upperarm_l"])
    assert spread_pose(middle, middle, fade_in=1, fade_out=2) == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert bpy.ops.motionbridge.save_back() == {"FINISHED"}
    after = bodies_in(game / "humanoid.omf")
    changed = [name for name in before if before[name] != after[name]]
    assert changed == [action.motionbridge_motion.motion_name]
    assert len(before[changed[0]]) == len(after[changed[0]])
    assert "1 motion, 1 track changed" in " ".join(last_report())


@pytest.mark.parametrize("change", [0.0005, 3.0])
def test_tracks_that_get_another_range_are_named_and_no_others(rig, game, change):  # noqa: F811
    """The root moves far out of the range of its track, or stays within."""
    path, action = game / "humanoid.omf", rig.animation_data.action
    root, middle = rig.pose.bones[0].name, int(sum(action.frame_range) // 2)
    before = omf.read(path.read_bytes(), path.name, Report()).motion_set.library.motions
    go(middle)
    rig.pose.bones[root].location.x += change
    compat.select(rig, [root])
    assert spread_pose(middle, middle) == {"FINISHED"}
    reported = [line for line in last_report() if "another range" in line]
    bpy.ops.object.mode_set(mode="OBJECT")
    assert bpy.ops.motionbridge.save_back() == {"FINISHED"}
    after = omf.read(path.read_bytes(), path.name, Report()).motion_set.library.motions
    changed = [
        track
        for old, new in zip(before, after, strict=True)
        for track in range(old.track_count)
        if ranges(old.track(track)) != ranges(new.track(track))
    ]
    assert len(changed) == len(reported) == (1 if change > 1 else 0)
    assert all(f"({root})" in line for line in reported)


def ranges(track):
    return track.flags & 1, track.size is not None and (*track.size, *track.init)


def test_controls_spread_and_what_is_beyond_stays_as_in_the_file(game):  # noqa: F811
    rig = load(game)
    bpy.ops.motionbridge.add_control_rig()
    controls = controls_of(rig)
    posing(controls)
    action, name = rig.animation_data.action, goal_of(controls)
    frames = frames_of(action)
    before = shown(rig, frames)
    middle = int(frames[len(frames) // 2])
    go(middle)
    bone = controls.pose.bones[name]
    bone.matrix = Matrix.Translation((0.0, 0.02, 0.05)) @ bone.matrix
    bpy.context.view_layer.update()
    compat.select(controls, [name])
    pose = shown_now(rig)
    assert spread_pose(middle, middle, fade_in=1, fade_out=1) == {"FINISHED"}
    after = shown(rig, frames)
    metres, radians = off(after[frames == middle], pose[None])
    assert metres < 1e-5
    assert radians < 1e-5
    outside = np.abs(frames - middle) >= 1
    metres, radians = off(after[outside], before[outside])
    assert metres < 1e-6
    assert radians < 1e-6
    path, bodies = game / "humanoid.omf", bodies_in(game / "humanoid.omf")
    bpy.ops.object.mode_set(mode="OBJECT")
    assert bpy.ops.motionbridge.save_back() == {"FINISHED"}
    now = bodies_in(path)
    assert [label for label in now if now[label] != bodies[label]] == [action.motionbridge_motion.motion_name]


def looped(action, rig):
    """Let the motion end in the pose in which it begins."""
    for curve in compat.curves_of(action, rig):
        curve.keyframe_points[-1].co.y = curve.keyframe_points[0].co.y
        curve.update()


@pytest.mark.parametrize("at", [0, 1, -2, -1])
@pytest.mark.parametrize("is_keyed", [False, True])
def test_a_loop_ends_as_it_begins_unless_that_is_not_wanted(rig, at, is_keyed):
    action, name = rig.animation_data.action, "upperarm_l"
    frames = frames_of(action)
    looped(action, rig)
    before = basis(rig, name, frames)
    go(int(frames[at]))
    turn(rig, name, is_keyed=is_keyed)
    change = {"first": int(frames[at]), "last": int(frames[at]), "fade_in": 3, "fade_out": 4}
    assert spread_pose(**change) == {"FINISHED"}
    assert any("the motion is a loop" in line for line in last_report())
    after = basis(rig, name, frames)
    assert rotation.angles_between(after[0][0], after[0][-1]) < 1e-4
    assert np.abs(after[1][0] - after[1][-1]).max() < 1e-4
    assert rotation.angles_between(after[0][0], before[0][0]) > 0.1
    if not is_keyed:  # else its own pose is known only as the one between the neighbouring keys
        check(rig, name, before, Span(*change.values()).weights(frames, float(len(frames) - 1)))


@pytest.mark.parametrize("is_loop", [False, True])
def test_only_what_is_kept_as_a_loop_changes_at_the_other_end(rig, is_loop):
    action, name = rig.animation_data.action, "upperarm_l"
    frames = frames_of(action)
    looped(action, rig)
    if not is_loop:
        curve = next(curve for curve in compat.curves_of(action, rig) if "thigh_l" in curve.data_path)
        curve.keyframe_points[-1].co.y += 0.1
    before = basis(rig, name, frames)
    go(int(frames[0]))
    turn(rig, name)
    first = int(frames[0])
    assert spread_pose(first, first, fade_in=3, fade_out=4, keeps_loop=not is_loop) == {"FINISHED"}
    assert not any("the motion is a loop" in line for line in last_report())
    check(rig, name, before, Span(first, first, 3, 4).weights(frames))


def test_inserted_keys_count_as_the_change(rig):
    action = rig.animation_data.action
    frames = frames_of(action)
    middle, name = int(frames[len(frames) // 2]), "upperarm_l"
    before = basis(rig, name, frames)
    go(middle)
    turn(rig, name, is_keyed=True)
    pose = shown_now(rig)
    assert spread_pose(middle - 1, middle + 1) == {"FINISHED"}
    assert off(shown_now(rig), pose)[1] < 1e-5
    weights = Span(middle - 1, middle + 1, 3, 4).weights(frames)
    # The motion's own pose is known only as the one between the neighbouring keys.
    check(rig, name, before, weights, tolerance=2e-2)
    rotations, locations = basis(rig, name, frames[weights == 0])
    np.testing.assert_array_equal(locations, before[1][weights == 0])
    np.testing.assert_array_equal(rotations, before[0][weights == 0])


def test_auto_keying_selected_bones_leaves_those_that_were_not_posed(rig):
    action = rig.animation_data.action
    frames = frames_of(action)
    middle, keys = int(frames[len(frames) // 2]), keys_of(action, rig)
    go(middle)
    turn(rig, "upperarm_l")
    for bone in rig.pose.bones:
        bone.keyframe_insert("rotation_quaternion")
        bone.keyframe_insert("location")
    compat.select(rig, rig.pose.bones.keys())
    assert spread_pose(middle, middle) == {"FINISHED"}
    for (path, index), now in keys_of(action, rig).items():
        if "upperarm_l" not in path:
            times = keys[path, index][:, 0]
            assert (now[np.isin(now[:, 0], times)] == keys[path, index]).all()


def test_without_a_selection_keys_of_the_motion_are_not_a_change(rig):
    action = rig.animation_data.action
    middle, name = int(sum(action.frame_range) // 2), "upperarm_l"
    go(middle)
    turn(rig, name, is_keyed=True)
    compat.select(rig, [])
    words = refusal(bpy.ops.motionbridge.spread_pose, first=middle, last=middle)
    assert "no chosen bone has another pose" in words
    turn(rig, name)
    compat.select(rig, [])
    assert spread_pose(middle, middle) == {"FINISHED"}
    assert last_report()[0].endswith(": upperarm_l")


def test_curves_of_few_keys_keep_their_shape_beyond(rig):
    """A swing that somebody made of three Bezier keys."""
    action = bpy.data.actions.new("swing")
    compat.assign(rig, action)
    name, frames = "upperarm_l", np.arange(0, 61)
    for frame, angle in ((0, 0.0), (30, 1.2), (60, -0.4)):
        rig.pose.bones[name].rotation_quaternion = Quaternion((1, 0, 0), angle)
        rig.pose.bones[name].keyframe_insert("rotation_quaternion", frame=frame)
    before = basis(rig, name, frames)
    go(20)
    turn(rig, name)
    assert spread_pose(18, 22) == {"FINISHED"}
    weights = Span(18, 22, 3, 4).weights(frames)
    check(rig, name, before, weights)
    rotations, locations = basis(rig, name, frames)
    np.testing.assert_allclose(rotations[weights == 0], before[0][weights == 0], atol=1e-6)
    assert (locations[weights == 0] == 0).all()
    turned = [curve for curve in compat.curves_of(action, rig) if curve.data_path.endswith("rotation_quaternion")]
    assert {(curve.keyframe_points[-1].co.x, curve.keyframe_points[-1].interpolation) for curve in turned} == {
        (60.0, "BEZIER")
    }


def test_a_second_spread_adds_to_the_first(rig):
    action = rig.animation_data.action
    frames = frames_of(action)
    middle, name = int(frames[len(frames) // 2]), "upperarm_l"
    before = basis(rig, name, frames)
    for _ in range(2):
        go(middle)
        rig.pose.bones[name].location += OFFSET
        compat.select(rig, [name])
        assert spread_pose(middle, middle + 1) == {"FINISHED"}
    weights = Span(middle, middle + 1, 3, 4).weights(frames)
    np.testing.assert_allclose(
        basis(rig, name, frames)[1], before[1] + 2 * weights[:, None] * np.array(OFFSET[:]), atol=2e-6
    )


def test_undo_takes_back_the_spread_and_leaves_the_motion(rig):
    action = rig.animation_data.action
    keys, middle = keys_of(action, rig), int(sum(action.frame_range) // 2)
    bpy.ops.ed.undo_push(message="before")
    go(middle)
    turn(rig, "upperarm_l")
    assert spread_pose(middle, middle) == {"FINISHED"}
    bpy.ops.ed.undo_push(message="spread")
    bpy.ops.ed.undo()
    rig = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
    now = keys_of(rig.animation_data.action, rig)
    assert all((now[key] == keys[key]).all() for key in keys)
    assert now.keys() == keys.keys()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda curve: setattr(curve, "mute", True), "muted curves stay as they are"),
        (lambda curve: setattr(curve, "lock", True), "locked curves stay as they are"),
        (lambda curve: curve.modifiers.new("NOISE"), "curves with modifiers stay as they are"),
    ],
)
def test_curves_that_cannot_be_keyed_stay_and_are_named(rig, change, words):
    action = rig.animation_data.action
    path = 'pose.bones["upperarm_l"].location'
    for curve in compat.curves_of(action, rig):
        if curve.data_path == path:
            change(curve)
    keys, middle = keys_of(action, rig), int(sum(action.frame_range) // 2)
    go(middle)
    turn(rig, "upperarm_l")
    assert spread_pose(middle, middle) == {"FINISHED"}
    assert f"{words} (upperarm_l)" in " ".join(last_report())
    now = keys_of(action, rig)
    assert {key[0] for key in now if not np.array_equal(now[key], keys[key])} == {
        'pose.bones["upperarm_l"].rotation_quaternion'
    }
    go(middle)
    rig.pose.bones["upperarm_l"].location += OFFSET
    if words.startswith("muted"):
        assert words in refusal(bpy.ops.motionbridge.spread_pose, first=middle, last=middle)


def test_what_cannot_be_spread_is_refused(rig):
    middle = int(sum(rig.animation_data.action.frame_range) // 2)
    go(middle)
    assert "no chosen bone has another pose" in refusal(bpy.ops.motionbridge.spread_pose, first=middle, last=middle)
    turn(rig, "upperarm_l")
    keys = keys_of(rig.animation_data.action, rig)
    words = refusal(bpy.ops.motionbridge.spread_pose, first=1000, last=1010)
    assert "the motion has no frame from 995 to 1015" in words
    now = keys_of(rig.animation_data.action, rig)
    assert all((now[key] == keys[key]).all() for key in keys)
    np.testing.assert_allclose(rig.pose.bones["upperarm_l"].location, OFFSET, atol=0.05)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert not bpy.ops.motionbridge.spread_pose.poll()


def test_bones_that_copy_controls_are_refused(game):  # noqa: F811
    rig = load(game)
    bpy.ops.motionbridge.add_control_rig()
    posing(rig)
    compat.select(rig, ["upperarm_l"])
    assert "copy the controls" in refusal(bpy.ops.motionbridge.spread_pose, first=1, last=2)
    assert control_links.controls_of(rig) is not None


def test_a_layer_of_the_nla_editor_gets_the_change(rig):
    """The active action is combined with a strip below it; what is shown changes by the difference."""
    action = rig.animation_data.action
    frames = frames_of(action)
    middle, name = int(frames[len(frames) // 2]), "upperarm_l"
    data = rig.animation_data
    data.action = None
    strip = data.nla_tracks.new().strips.new(action.name, int(frames[0]), action)
    if compat.SLOTTED and strip.action_slot is None:
        strip.action_slot = action.slots[0]
    layer = bpy.data.actions.new("layer")
    compat.assign(rig, layer)
    data.action_blend_type, data.action_extrapolation = "COMBINE", "NOTHING"
    go(int(frames[0]))
    bone = rig.pose.bones[name]
    for frame in (int(frames[0]), int(frames[-1])):
        go(frame)
        bone.keyframe_insert("location")
        bone.keyframe_insert("rotation_quaternion")
    before = basis(rig, name, frames)
    go(middle)
    turn(rig, name)
    assert spread_pose(middle, middle) == {"FINISHED"}
    check(rig, name, before, Span(middle, middle, 3, 4).weights(frames), tolerance=1e-5)
    data.action_influence = 0.5
    go(middle)
    turn(rig, name)
    assert "blended with NLA strips" in refusal(bpy.ops.motionbridge.spread_pose, first=middle, last=middle)
