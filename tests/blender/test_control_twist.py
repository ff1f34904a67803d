"""Twist bones of control rigs: what they follow by a formula of quaternions, what of a file that changes."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from addon.blender import action as actions
from addon.blender import control_links, control_rig, control_transfer
from addon.blender.control_edits import ControlEdits
from addon.core import control_rig as core_rig
from addon.core import rotation
from tests.blender import test_control_rig_arma as arma
from tests.blender.test_action_lists import duplicated
from tests.blender.test_control_rig import (
    REAL,
    clips,
    control_of,
    goal_of,
    imported,
    key,
    motions_of,
    off,
    saved,
    shown,
    some,
    with_rig,
)
from tests.real_files import corpus_files, sampled

METRES, RADIANS = 1e-5, 5e-5
HANDS = REAL[1:] or corpus_files("-")
MAN = corpus_files("rtm/agm_wipeglasses.rtm")
LEFT = {
    "l_forearm_twist": ("l_forearm", "l_hand"),
    "forearm_roll1_l": ("forearm_l", "hand_l"),
    "forearm_roll2_l": ("forearm_l", "hand_l"),
    "LeftForeArmRoll": ("LeftForeArm", "LeftHand"),
    "LeftArmRoll": ("LeftArm", "LeftForeArm"),
}
"""Twist bones of a left arm, and the joints that each lies between."""

ROLLS = ["forearm_roll1_l", "forearm_roll2_l"]


def rest_of(rig, name):
    return np.array(rig.data.bones[name].matrix_local)


def twist_of(rig, poses, start, end):
    """(frames,) by which ``end`` is turned against ``start`` about the line between their heads, from rest."""
    rows = [rig.data.bones.find(name) for name in (start, end)]
    carried = [poses[:, row] @ np.linalg.inv(rest_of(rig, name)) for row, name in zip(rows, (start, end), strict=True)]
    rotations = rotation.from_matrices(np.linalg.inv(carried[0])[:, :3, :3] @ carried[1][:, :3, :3])
    return np.angle(np.exp(2j * np.arctan2(rotations[:, 1:] @ line_of(rig, start, end), rotations[:, 0])))


def line_of(rig, start, end):
    along = rest_of(rig, end)[:3, 3] - rest_of(rig, start)[:3, 3]
    return along / np.linalg.norm(along)


def expected(rig, before, after, name, share):
    """(frames, 4, 4) where a twist bone is when its neighbours went from ``before`` to ``after``."""
    start, end = LEFT[name]
    row, above = rig.data.bones.find(name), rig.data.bones.find(start)
    change = twist_of(rig, after, start, end) - twist_of(rig, before, start, end)
    carried = after[:, above] @ np.linalg.inv(before[:, above]) @ before[:, row]
    axis = carried[:, :3, :3] @ np.linalg.inv(rest_of(rig, name))[:3, :3] @ line_of(rig, start, end)
    half = share * change[:, None] / 2
    quaternion = rotation.matrices(np.concatenate([np.cos(half), np.sin(half) * axis], axis=1))
    result = carried.copy()
    result[:, :3, :3] = quaternion @ carried[:, :3, :3]
    return result


def man(file):
    done, controls = arma.with_rig(file)
    return done.rig, controls


def hands(model):
    rig, controls, _ = with_rig(model)
    action = next(action for action in motions_of(rig) if action.frame_range[1] >= 20)
    actions.play(bpy.context, rig, action)
    return rig, controls


RIGS = [*((hands, model) for model in REAL[1:]), *((man, file) for param in MAN for file in param.values if file)]


def opened(make, name):
    rig, controls = make(name)
    first = int(rig.animation_data.action.frame_range[0])
    return rig, controls, range(first + 2, first + 7)


def left_of(rig):
    return [name for name in LEFT if name in rig.data.bones]


def left_goal(controls):
    return next(goal.name for goal in control_rig.goals_of(controls) if goal.name == "hand_ik.L")


@pytest.mark.parametrize(("make", "name"), RIGS)
@pytest.mark.parametrize("angle", [0.7, -1.2, 3.0])
def test_twist_bones_turn_by_half_of_what_their_hand_is_twisted(make, name, angle):
    rig, controls, frames = opened(make, name)
    before = shown(rig, frames)
    key(controls, left_goal(controls), frames, about_hand(rig, angle))
    after = shown(rig, frames)
    for bone in left_of(rig):
        wanted = expected(rig, before, after, bone, 0.5)
        metres, radians = off(after[:, rig.data.bones.find(bone)], wanted)
        assert metres < METRES
        assert radians < RADIANS
    forearm = left_of(rig)[0]
    change = twist_of(rig, after, *LEFT[forearm]) - twist_of(rig, before, *LEFT[forearm])
    assert np.abs(change).max() > 0.3
    around = [*range(frames[0] - 2, frames[0]), *range(frames[-1] + 1, frames[-1] + 3)]
    with control_links.links_muted(rig):
        unedited = shown(rig, around)
    metres, radians = off(shown(rig, around), unedited)
    assert metres < METRES
    assert radians < RADIANS


def about_hand(rig, angle):
    """A turn of the left hand about the forearm, and a little to the side."""
    start, end = LEFT[left_of(rig)[0]]
    bones = rig.pose.bones
    along = bones[end].head - bones[start].head
    there = Matrix.Translation(bones[end].head)
    return there @ Matrix.Rotation(0.1, 4, "X") @ Matrix.Rotation(angle, 4, along) @ there.inverted()


@pytest.mark.parametrize(("make", "name"), RIGS)
def test_twist_bones_that_keep_their_keys_do_not_follow(make, name):
    rig, controls, frames = opened(make, name)
    bpy.ops.motionbridge.remove_control_rig()
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.motionbridge.add_control_rig(twist="KEEP") == {"FINISHED"}
    controls = control_links.controls_of(rig)
    before = shown(rig, frames)
    key(controls, left_goal(controls), frames, about_hand(rig, 0.7))
    after = shown(rig, frames)
    rows = [rig.data.bones.find(bone) for bone in left_of(rig)]
    wanted = [expected(rig, before, after, bone, 0.0) for bone in left_of(rig)]
    metres, radians = off(after[:, rows], np.stack(wanted, axis=1))
    assert metres < METRES
    assert radians < RADIANS
    for bone in control_rig.twists_of(controls):
        bone["twist"] = 1.0
    controls.update_tag()
    after = shown(rig, frames)
    wanted = [expected(rig, before, after, bone, 0.5) for bone in left_of(rig)]
    metres, radians = off(after[:, rows], np.stack(wanted, axis=1))
    assert metres < METRES
    assert radians < RADIANS


@pytest.mark.parametrize(("make", "name"), RIGS)
def test_matching_leaves_what_twist_bones_show(make, name):
    rig, controls, frames = opened(make, name)
    key(controls, left_goal(controls), frames, about_hand(rig, 0.7))
    before = shown(rig, frames)
    ends = {"first": frames[0], "last": frames[-1]}
    for to in ("FK", "IK"):
        assert bpy.ops.motionbridge.match_controls(to=to, **ends) == {"FINISHED"}
        metres, radians = off(shown(rig, frames), before)
        assert metres < METRES
        assert radians < RADIANS
    # The hand's own circle twists them as its box does.
    assert bpy.ops.motionbridge.match_controls(to="FK", **ends) == {"FINISHED"}
    end = LEFT[left_of(rig)[0]][1]
    key(controls, control_of(controls, "fk", end), frames, about_hand(rig, -0.5))
    after = shown(rig, frames)
    for bone in left_of(rig):
        metres, radians = off(after[:, rig.data.bones.find(bone)], expected(rig, before, after, bone, 0.5))
        assert metres < METRES
        assert radians < RADIANS
    assert bpy.ops.motionbridge.match_controls(to="IK", **ends) == {"FINISHED"}
    metres, radians = off(shown(rig, frames), after)
    assert metres < METRES
    assert radians < RADIANS


@pytest.mark.parametrize("file", MAN)
def test_circles_of_twist_bones_still_carry_what_is_behind_them(file):
    """With keys kept, and limbs that follow their own circles."""
    rig, controls, frames = opened(*RIGS[-1])
    for goal in control_rig.goals_of(controls):
        goal["ik"] = 0.0
    for bone in control_rig.twists_of(controls):
        bone["twist"] = 0.0
    controls.update_tag()
    before = shown(rig, frames)
    change = about_hand(rig, 0.4)
    key(controls, "forearmroll_fk.L", frames, change)
    after = shown(rig, frames)
    behind = {bone.name for bone in rig.data.bones["LeftForeArmRoll"].children_recursive} | {"LeftForeArmRoll"}
    is_behind = np.array([bone.name in behind for bone in rig.data.bones])
    wanted = np.where(is_behind[:, None, None], np.array(change) @ before, before)
    metres, radians = off(after, wanted)
    assert metres < METRES
    assert radians < RADIANS


@pytest.mark.parametrize("model", sampled(HANDS, 1))
def test_files_of_twist_bones_that_follow_are_the_same(model, tmp_path):
    """Also when every frame was looked at, whatever the switches say."""
    rig, controls, motions = with_rig(model)
    for action in some(motions_of(rig), 6):
        actions.play(bpy.context, rig, action)
    assert saved(rig, tmp_path / "with.omf") == motions[-1].read_bytes()
    for value in (0.0, 0.5, 1.0):
        for bone in control_rig.twists_of(controls):
            bone["twist"] = value
        controls.pose.bones["root"]["looked at"] = value
        controls.update_tag()
        assert ControlEdits(rig).bones(rig.animation_data.action)
        assert saved(rig, tmp_path / "looked at.omf") == motions[-1].read_bytes()


@pytest.mark.parametrize("model", sampled(HANDS, 1))
@pytest.mark.parametrize("twist", ["FOLLOW", "KEEP"])
def test_twisting_a_hand_changes_its_limb_and_twist_bone_on_those_frames(model, twist, tmp_path):
    rig, motions = imported(model)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.motionbridge.add_control_rig(twist=twist)
    controls = control_links.controls_of(rig)
    chosen = some([action for action in motions_of(rig) if action.frame_range[1] > 24], 4)
    for action in chosen:
        actions.play(bpy.context, rig, action)
        key(controls, goal_of(controls), range(10, 21), about_hand(rig, 0.6))
    names = {action.motionbridge_motion.imported_name for action in chosen}
    before, after = clips(motions[-1].read_bytes()), clips(saved(rig, tmp_path / "edited.omf"))
    arm, edited = {"l_upperarm", "l_forearm", "l_hand"}, 0
    if twist == "FOLLOW":
        arm.add("l_forearm_twist")
    for name, old in before.items():
        new = after[name]
        differ = (old.rotations != new.rotations).any(axis=-1) | (old.translations != new.translations).any(axis=-1)
        changed = {bone for row, bone in enumerate(old.bones) if differ[row].any()}
        if name not in names:
            assert changed == set()
            continue
        edited += 1
        assert changed <= arm
        assert {"l_hand", *arm.intersection({"l_forearm_twist"})} <= changed
        outside = np.r_[0:10, 21 : old.frames]
        # A rotation that had one key for the whole motion gets one for each frame, at most a step off.
        turned = rotation.angles_between(old.rotations[:, outside], new.rotations[:, outside])
        assert turned.max() <= 2 * 2 / 32767
        assert np.array_equal(old.translations[:, outside], new.translations[:, outside])
    assert edited


@pytest.mark.parametrize("file", MAN)
def test_twisting_a_mans_hand_changes_its_arm_on_those_frames(file):
    done, controls = arma.with_rig(file)
    frames = control_transfer.frames_of(done.action, done.rig)[5:9]
    goal = controls.pose.bones["hand_ik.L"]
    for frame in frames.tolist():
        bpy.context.scene.frame_set(int(frame), subframe=frame % 1)
        goal.matrix = about_hand(done.rig, 0.6) @ goal.matrix
        goal.keyframe_insert("rotation_quaternion", frame=frame)
        goal.keyframe_insert("location", frame=frame)
    moved, changed = arma.edited(file, done)
    assert {"LeftHand", "LeftForeArmRoll"} <= moved
    assert all(name.startswith(("LeftArm", "LeftForeArm", "LeftHand")) for name in moved), moved
    assert np.flatnonzero(changed).tolist() == list(range(5, 9))


@pytest.mark.skipif(not RIGS, reason="MOTIONBRIDGE_CORPUS is not set")
def test_twist_bones_of_a_duplicate_follow_its_own_hand():
    rig, controls, frames = opened(*RIGS[0])
    copy = duplicated(rig, controls)
    before, still = shown(copy, frames), shown(rig, frames)
    theirs = control_links.controls_of(copy)
    assert theirs not in {None, controls}
    key(theirs, left_goal(theirs), frames, about_hand(copy, 0.7))
    after = shown(copy, frames)
    metres, radians = off(
        after[:, copy.data.bones.find("l_forearm_twist")], expected(copy, before, after, "l_forearm_twist", 0.5)
    )
    assert metres < METRES
    assert radians < RADIANS
    metres, radians = off(shown(rig, frames), still)
    assert metres < METRES
    assert radians < RADIANS


@pytest.mark.skipif(not RIGS, reason="MOTIONBRIDGE_CORPUS is not set")
def test_twist_bones_follow_after_saving_and_loading(tmp_path):
    rig, controls, frames = opened(*RIGS[0])
    before = shown(rig, frames)
    key(controls, left_goal(controls), frames, about_hand(rig, 0.7))
    after = shown(rig, frames)
    name = rig.name
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rig.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "rig.blend"))
    rig = bpy.data.objects[name]
    again = shown(rig, frames)
    assert np.array_equal(again, after)
    row = rig.data.bones.find("l_forearm_twist")
    assert off(again[:, row], expected(rig, before, again, "l_forearm_twist", 0.5))[1] < RADIANS


@pytest.mark.parametrize("model", HANDS)
def test_controls_without_twist_bones_go_on(model, tmp_path, monkeypatch):
    rig, motions = imported(model)
    bpy.context.view_layer.objects.active = rig
    with monkeypatch.context() as earlier:
        earlier.setattr(core_rig, "followers_of", lambda *_: {})
        bpy.ops.motionbridge.add_control_rig()
    controls = control_links.controls_of(rig)
    assert control_rig.twists_of(controls) == []
    assert not any(bone[control_links.ROLE] in {"twist", "wrist", "grip"} for bone in controls.data.bones)
    for action in some(motions_of(rig), 3):
        actions.play(bpy.context, rig, action)
        frames = control_transfer.frames_of(action, rig)[:20]
        with control_links.links_muted(rig):
            before = shown(rig, frames)
        metres, radians = off(shown(rig, frames), before)
        assert metres < METRES
        assert radians < RADIANS
    controls.pose.bones["root"]["looked at"] = 1.0
    assert saved(rig, tmp_path / "looked at.omf") == motions[-1].read_bytes()


def with_rolls():
    """The sample's rig with two roll bones in a row on its left forearm, and its controls."""
    rig, _ = imported("humanoid")
    action = next(action for action in motions_of(rig) if action.frame_range[1] >= 8)
    actions.play(bpy.context, rig, action)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    above, end = bones["forearm_l"], bones["hand_l"].head
    for number, name in enumerate(ROLLS, start=1):
        roll = bones.new(name)
        roll.head, roll.parent = above.head.lerp(end, number / 3), above if number == 1 else bones[ROLLS[0]]
        roll.tail, roll.roll = roll.head + Vector((0.03, 0.02, -0.05)), 0.4 * number
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.motionbridge.add_control_rig()
    return rig, control_links.controls_of(rig)


@pytest.mark.parametrize("angle", [0.7, -1.2])
def test_several_roll_bones_share_a_twist_evenly(angle):
    rig, controls = with_rolls()
    first = int(rig.animation_data.action.frame_range[0])
    frames = range(first + 2, first + 6)
    before = shown(rig, frames)
    with control_links.links_muted(rig):
        metres, radians = off(shown(rig, frames), before)
    assert metres < METRES
    assert radians < RADIANS
    key(controls, "hand_ik.L", frames, about_hand(rig, angle))
    after = shown(rig, frames)
    for name, share in zip(ROLLS, (1 / 3, 2 / 3), strict=True):
        metres, radians = off(after[:, rig.data.bones.find(name)], expected(rig, before, after, name, share))
        assert metres < METRES
        assert radians < RADIANS
