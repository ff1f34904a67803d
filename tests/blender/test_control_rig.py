"""Control rigs: nothing of the game's armature changes, motions move onto controls exactly, exports obey the law."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from addon.blender import action as actions
from addon.blender import control_links, control_rig, control_transfer, nla, scope
from addon.blender.armature import matrices_of
from addon.blender.control_edits import ControlEdits
from addon.core import rotation
from addon.core.control_rig import Role
from addon.core.report import Report
from addon.formats.xray import omf
from addon.formats.xray.omf.document import track_bones
from addon.formats.xray.omf.mapping import decode_motion
from addon.games.xray.motions import omf_codec
from addon.ui import target
from tests.blender.test_action_lists import duplicated
from tests.blender.test_ui import refusal
from tests.real_files import CORPUS, motions_of_model
from tests.scene import differences, snapshot

SKELETONS = ["humanoid"]
REAL = ["human_stalker_hero_1", "gwr_wpn_hand_04", "ixray_wpn_hand_0"] if CORPUS else []
BIG = [pytest.param(model, marks=pytest.mark.deep) for model in REAL[:1]]
"""With the most motions."""
EVERY = [*SKELETONS, *BIG, *REAL[1:]]
METRES, RADIANS = 1e-5, 2.5e-5
"""What 32-bit numbers leave of a transfer, half of what the law takes for unedited."""


def imported(model, chosen=""):
    """A rig with all motions of its files, or those ``chosen`` by name."""
    path, motions = motions_of_model(model)
    bpy.ops.import_scene.xray_ogf(filepath=str(path))
    rig = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
    for motion in motions:
        bpy.ops.import_scene.xray_omf(filepath=str(motion), motions=chosen)
    return rig, motions


def motions_of(rig):
    return [entry.action for file in rig.motionbridge_motion_files for entry in rows(file)]


def rows(file):
    return file.action_list.motionbridge_actions.entries


def some(result, count):
    """As many of a list, spread over it."""
    return [
        result[position] for position in sorted({int(position) for position in np.linspace(0, len(result) - 1, count)})
    ]


def shown(rig, frames):
    """(frames, bones, 4, 4) what Blender shows, asked frame by frame."""
    result = []
    for frame in frames:
        bpy.context.scene.frame_set(int(np.floor(frame)), subframe=float(frame % 1))
        result.append(matrices_of(rig.pose.bones, "matrix"))
    return np.array(result)


def off(entry, other):
    """The largest distance in metres and angle in radians between poses (..., 4, 4)."""
    rotations = rotation.from_matrices(entry[..., :3, :3]), rotation.from_matrices(other[..., :3, :3])
    return (
        np.linalg.norm(entry[..., :3, 3] - other[..., :3, 3], axis=-1).max(),
        rotation.angles_between(*rotations).max(),
    )


def rest_bytes(rig):
    flat = np.empty(len(rig.data.bones) * 16, np.float32)
    rig.data.bones.foreach_get("matrix_local", flat)
    return flat.tobytes()


def saved(rig, path):
    """What Export writes of all motions of the first file."""
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.export_scene.xray_omf(filepath=str(path)) == {"FINISHED"}
    return path.read_bytes()


def with_rig(model):
    rig, motions = imported(model)
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.motionbridge.add_control_rig() == {"FINISHED"}
    return rig, control_links.controls_of(rig), motions


def key(controls, name, frames, change):
    """Move a control on some frames by ``change`` in the armature's space, as a person with keys on these frames."""
    bone = controls.pose.bones[name]
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        bone.matrix = change @ bone.matrix
        bone.keyframe_insert("location", frame=frame)
        bone.keyframe_insert("rotation_quaternion", frame=frame)


def goal_of(controls):
    """The goal of the left hand."""
    goals = control_rig.goals_of(controls)
    return next(goal.name for goal in goals if goal.bone[control_links.BONE].endswith(("l_hand", "hand_l")))


def control_of(controls, role, bone):
    """The name of the control with a role that belongs to a bone of the game."""
    roles = {"fk": Role.FREE.value, "ik": Role.GOAL.value}
    wanted = roles.get(role, role), bone
    return next(
        control.name
        for control in controls.data.bones
        if (control[control_links.ROLE], control.get(control_links.BONE)) == wanted
    )


@pytest.mark.parametrize("model", EVERY)
def test_the_rest_pose_and_the_bones_of_the_game_stay(model):
    rig, _ = imported(model)
    before, names = rest_bytes(rig), rig.data.bones.keys()
    bpy.context.view_layer.objects.active = rig
    bpy.ops.motionbridge.add_control_rig()
    assert rest_bytes(rig) == before
    assert rig.data.bones.keys() == names


@pytest.mark.parametrize("model", EVERY)
def test_the_pose_is_the_same_on_every_frame(model):
    rig, _ = imported(model)
    chosen = some(motions_of(rig), 6)
    before = {}
    for action in chosen:
        actions.play(bpy.context, rig, action)
        frames = control_transfer.frames_of(action, rig)
        before[action.name] = frames, shown(rig, frames)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.motionbridge.add_control_rig()
    for action in chosen:
        actions.play(bpy.context, rig, action)
        frames, poses = before[action.name]
        metres, radians = off(shown(rig, frames), poses)
        assert metres < METRES
        assert radians < RADIANS
        # It is the controls that show it: without the links something else would be wrong, too.
        for goal in control_rig.goals_of(control_links.controls_of(rig)):
            goal["ik"] = 0.0
        metres, radians = off(shown(rig, frames), poses)
        assert metres < METRES
        assert radians < RADIANS
        for goal in control_rig.goals_of(control_links.controls_of(rig)):
            goal["ik"] = 1.0


@pytest.mark.parametrize("model", EVERY)
def test_lines_of_controls_stand_out_from_a_dark_background(model):
    _, controls, _ = with_rig(model)
    grey = 0.24  # of Blender's viewport
    actual = [bone for bone in controls.data.bones if any(collection.is_visible for collection in bone.collections)]
    assert len(actual) > 10
    for bone in actual:
        states = [getattr(bone.color.custom, state)[:] for state in ("normal", "select", "active")]
        lights = [float(np.dot((0.2126, 0.7152, 0.0722), state)) for state in states]
        assert bone.color.palette == "CUSTOM", bone.name
        assert lights[0] > 1.75 * grey, bone.name
        assert lights == sorted(set(lights)), bone.name
    left, right = (
        {bone.color.custom.normal[:] for bone in actual if "hand" in bone.name and bone.name.endswith(side)}
        for side in (".L", ".R")
    )
    assert left
    assert not left & right


@pytest.mark.parametrize("model", REAL)
def test_limbs_of_real_skeletons_have_goals(model):
    _, controls, _ = with_rig(model)
    goals = {goal.name for goal in control_rig.goals_of(controls)}
    hands = {"hand_ik.L", "hand_ik.R"}
    feet = {"foot_ik.L", "foot_ik.R"} if model.startswith("human") else set()
    assert goals == hands | feet


@pytest.mark.parametrize("model", EVERY)
def test_files_are_the_same_with_a_control_rig(model, tmp_path):
    rig, _, motions = with_rig(model)
    for action in some(motions_of(rig), 20):
        actions.play(bpy.context, rig, action)
    assert saved(rig, tmp_path / "with.omf") == motions[-1].read_bytes()


def test_what_is_looked_at_without_an_edit_is_the_file(samples, tmp_path):
    """The digest differs, the pose does not: sampled numbers are the file's again."""
    rig, controls, motions = with_rig("humanoid")
    for action in motions_of(rig):
        actions.play(bpy.context, rig, action)
    goals = control_rig.goals_of(controls)
    for goal in goals:
        goal["ik"] = 0.0
    controls.update_tag()
    assert ControlEdits(rig).bones(motions_of(rig)[0]) == set(rig.data.bones.keys())
    assert saved(rig, tmp_path / "sampled.omf") == motions[-1].read_bytes()


def clips(data):
    library, parameters = omf.read(data, "x", Report()).motion_set
    bones = track_bones(parameters, library.motions[0].track_count, Report(), [])
    return {motion.label: decode_motion(motion, bones) for motion in library.motions}


@pytest.mark.skipif(CORPUS is None, reason="MOTIONBRIDGE_CORPUS is not set")
@pytest.mark.parametrize("model", [pytest.param(model, marks=pytest.mark.deep) for model in REAL[:2]])
def test_moving_a_hand_changes_the_tracks_of_that_arm_on_those_frames(model, tmp_path):
    rig, controls, motions = with_rig(model)
    long = [action for action in motions_of(rig) if action.frame_range[1] > 30]
    chosen = [long[index] for index in np.random.default_rng(16).permutation(len(long))[:30]]
    for action in chosen:
        actions.play(bpy.context, rig, action)
        key(controls, goal_of(controls), range(10, 21), Matrix.Translation((0.02, 0.03, 0.05)))
    before, after = clips(motions[-1].read_bytes()), clips(saved(rig, tmp_path / "edited.omf"))
    names = {action.motionbridge_motion.imported_name for action in chosen}
    arm = ("upperarm", "forearm", "forearm_twist", "hand")
    for name, old in before.items():
        new = after[name]
        differ = (old.rotations != new.rotations).any(axis=-1) | (old.translations != new.translations).any(axis=-1)
        changed = [bone for row, bone in enumerate(old.bones) if differ[row].any()]
        if name not in names:
            assert changed == []
            continue
        assert changed
        assert all("l_" in bone and bone.endswith(arm) for bone in changed), changed
        for row, bone in enumerate(old.bones):
            if bone not in changed:
                continue
            outside = np.r_[0:10, 21 : old.frames]
            turned = rotation.angles_between(old.rotations[row, outside], new.rotations[row, outside])
            # A rotation that had one key for the whole motion gets one for each frame, at most a step off.
            assert turned.max() <= 2 * 2 / 32767, bone
            if old.rotation_keyed[row]:
                assert np.array_equal(old.rotations[row, outside], new.rotations[row, outside]), bone
        assert np.array_equal(old.translations, new.translations)


def test_an_edit_is_exported_as_blender_shows_it(tmp_path):
    rig, controls, _ = with_rig("humanoid")
    action = rig.animation_data.action
    first = int(action.frame_range[0])
    goal = goal_of(controls)
    key(controls, goal, range(first, first + 3), Matrix.Translation((0.0, 0.02, 0.04)))
    frames = control_transfer.frames_of(action, rig)
    poses = shown(rig, frames)
    data = saved(rig, tmp_path / "edited.omf")
    bpy.ops.motionbridge.remove_control_rig()
    before = len(bpy.data.actions)
    (tmp_path / "again.omf").write_bytes(data)
    bpy.ops.import_scene.xray_omf(filepath=str(tmp_path / "again.omf"))
    again = next(
        own_action
        for own_action in list(bpy.data.actions)[::-1]
        if own_action.motionbridge_motion.imported_name == action.motionbridge_motion.imported_name
        and own_action != action
    )
    assert len(bpy.data.actions) > before
    actions.play(bpy.context, rig, again)
    metres, radians = off(shown(rig, frames), poses)
    assert metres < 1e-3  # 16-bit rotations, summed up along the chain of bones
    assert radians < 1e-3


def test_the_status_of_posed_controls_is_unknown_until_they_are_looked_at():
    rig, controls, _ = with_rig("humanoid")
    action = rig.animation_data.action
    motion = action.motionbridge_motion
    omf_codec.update_status(bpy.context, rig, [action], Report(), sample=False)
    assert motion.status == "UNTOUCHED"
    key(controls, goal_of(controls), [int(action.frame_range[0])], Matrix.Translation((0, 0, 0.05)))
    for look, status in ((False, "UNKNOWN"), (True, "EDITED")):
        omf_codec.update_status(bpy.context, rig, [action], Report(), sample=look)
        assert motion.status == status


@pytest.mark.parametrize(
    ("model", "chosen"),
    [
        ("humanoid", ""),
        *(pytest.param(model, "del_my;lead_0_sleep_in_0", marks=pytest.mark.deep) for model in REAL[:1]),
    ],
)
def test_removing_it_leaves_nothing(model, chosen):
    rig, _ = imported(model, chosen)
    scope.make_current(bpy.context, [rig], rig)
    before = snapshot()
    bpy.ops.motionbridge.add_control_rig()
    assert differences(before, snapshot())
    assert bpy.ops.motionbridge.remove_control_rig() == {"FINISHED"}
    assert differences(before, snapshot()) == []


def test_it_holds_after_saving_and_loading(tmp_path):
    rig, controls, motions = with_rig("humanoid")
    action = rig.animation_data.action
    key(controls, goal_of(controls), [int(action.frame_range[0])], Matrix.Translation((0, 0, 0.05)))
    edited = saved(rig, tmp_path / "edited.omf")
    assert edited != motions[-1].read_bytes()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rig.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "rig.blend"))
    rig = bpy.data.objects["humanoid"]
    assert control_links.owns_controls(rig)
    assert saved(rig, tmp_path / "loaded.omf") == edited


def test_a_duplicate_with_its_controls_has_its_own(tmp_path):
    rig, controls, motions = with_rig("humanoid")
    copy = duplicated(rig, controls)
    theirs = control_links.controls_of(copy)
    assert theirs not in {None, controls}
    assert theirs.parent == copy
    action = copy.animation_data.action
    key(theirs, goal_of(theirs), [int(action.frame_range[0])], Matrix.Translation((0, 0, 0.05)))
    assert saved(rig, tmp_path / "original.omf") == motions[-1].read_bytes()
    assert saved(copy, tmp_path / "copy.omf") != motions[-1].read_bytes()


def test_a_duplicate_alone_follows_until_it_plays_and_then_has_its_own(tmp_path):
    rig, controls, _ = with_rig("humanoid")
    copy = duplicated(rig)
    assert control_links.controls_of(copy) == controls
    playing = controls.animation_data.action
    actions.play(bpy.context, copy, copy.animation_data.action)
    theirs = control_links.controls_of(copy)
    assert theirs != controls
    assert control_links.owns_controls(copy)
    assert controls.animation_data.action == playing
    if copy.animation_data.action != rig.animation_data.action:
        assert theirs.animation_data.action != playing
    action = copy.animation_data.action
    key(theirs, goal_of(theirs), [int(action.frame_range[0])], Matrix.Translation((0, 0, 0.05)))
    bpy.context.view_layer.objects.active = rig
    frames = control_transfer.frames_of(rig.animation_data.action, rig)
    still = shown(rig, frames)
    assert bpy.ops.motionbridge.remove_control_rig() == {"FINISHED"}
    assert control_links.owns_controls(copy)
    metres, radians = off(shown(rig, frames), still)
    assert metres < 5e-6
    assert radians < 2e-5


def test_removing_the_original_leaves_a_follower_its_edits():
    rig, controls, _ = with_rig("humanoid")
    action = rig.animation_data.action
    key(controls, goal_of(controls), [int(action.frame_range[0])], Matrix.Translation((0, 0, 0.05)))
    copy = duplicated(rig)
    frames = [float(action.frame_range[0])]
    before = shown(copy, frames)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.motionbridge.remove_control_rig()
    assert control_links.controls_of(rig) is None
    assert control_links.owns_controls(copy)
    metres, _ = off(shown(copy, frames), before)
    assert metres < 5e-6


def test_it_is_appended_with_its_armature(tmp_path):
    rig, controls, _ = with_rig("humanoid")
    action = rig.animation_data.action
    key(controls, goal_of(controls), [int(action.frame_range[0])], Matrix.Translation((0, 0, 0.05)))
    edited = saved(rig, tmp_path / "edited.omf")
    path = str(tmp_path / "rig.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.append(directory=f"{path}/Object/", files=[{"name": "humanoid"}])
    rig = bpy.data.objects["humanoid"]
    assert control_links.owns_controls(rig)
    assert saved(rig, tmp_path / "appended.omf") == edited


def test_undo_takes_it_back(tmp_path):
    rig, motions = imported("humanoid")
    bpy.context.view_layer.objects.active = rig
    bpy.ops.ed.undo_push(message="imported")
    bpy.ops.motionbridge.add_control_rig()
    bpy.ops.ed.undo_push(message="added")
    bpy.ops.ed.undo()
    rig = bpy.data.objects["humanoid"]
    assert control_links.controls_of(rig) is None
    assert not [obj for obj in bpy.data.objects if control_links.is_control_rig(obj)]
    bpy.ops.ed.redo()
    rig = bpy.data.objects["humanoid"]
    assert control_links.owns_controls(rig)
    assert saved(rig, tmp_path / "redone.omf") == motions[-1].read_bytes()


def test_controls_count_as_no_armature_of_a_game():
    rig, controls, _ = with_rig("humanoid")
    bpy.context.view_layer.objects.active = controls
    assert target.active_rig(bpy.context) == rig
    assert target.rigs_of(bpy.context) == [rig]
    assert not bpy.ops.motionbridge.add_control_rig.poll()


def test_all_motions_are_moved():
    rig, controls, _ = with_rig("humanoid")
    bpy.ops.motionbridge.move_motions_to_controls()
    assert all(action.motionbridge_controls is not None for action in motions_of(rig))
    assert controls.animation_data.action == rig.animation_data.action.motionbridge_controls


@pytest.mark.parametrize("model", SKELETONS + BIG)
def test_switching_on_a_range_of_frames_does_not_jump(model, tmp_path):
    rig, controls, motions = with_rig(model)
    action = next(action for action in motions_of(rig) if action.frame_range[1] >= 8)
    actions.play(bpy.context, rig, action)
    first = int(action.frame_range[0])
    frames = np.arange(first, first + 9)
    for to, ends in (("FK", (first + 2, first + 5)), ("IK", (first + 3, first + 4))):
        before = shown(rig, frames)
        assert bpy.ops.motionbridge.match_controls(to=to, first=ends[0], last=ends[1]) == {"FINISHED"}
        metres, radians = off(shown(rig, frames), before)
        assert metres < METRES
        assert radians < RADIANS
    goal = controls.pose.bones[goal_of(controls)]
    switches = []
    for frame in range(first, first + 9):
        bpy.context.scene.frame_set(frame)
        switches.append(goal["ik"])
    assert switches == [1, 1, 0, 1, 1, 0, 1, 1, 1]
    assert saved(rig, tmp_path / "switched.omf") == motions[-1].read_bytes()


def test_an_edit_by_own_controls_stays_when_the_goal_is_matched():
    rig, controls, _ = with_rig("humanoid")
    action = rig.animation_data.action
    first = int(action.frame_range[0])
    goal = controls.pose.bones[goal_of(controls)]
    assert bpy.ops.motionbridge.match_controls(to="FK", first=first, last=first + 3) == {"FINISHED"}
    upper = next(bone.name for bone in controls.pose.bones if bone.name.startswith("upperarm_fk"))
    key(controls, upper, range(first, first + 4), Matrix.Rotation(0.3, 4, "X"))
    before = shown(rig, range(first, first + 4))
    assert bpy.ops.motionbridge.match_controls(to="IK", first=first, last=first + 3) == {"FINISHED"}
    bpy.context.scene.frame_set(first + 1)
    assert goal["ik"] == 1.0
    metres, radians = off(shown(rig, range(first, first + 4)), before)
    assert metres < METRES
    assert radians < RADIANS


def select(controls, *names):
    """In pose mode, as a person does."""
    scope.make_current(bpy.context, [controls], controls)
    bpy.ops.object.mode_set(mode="POSE")
    for bone in controls.pose.bones:
        owner = bone if bpy.app.version >= (5, 0) else bone.bone
        owner.select = bone.name in names


def goals_of_hands(controls):
    return [goal.name for goal in control_rig.goals_of(controls) if "hand" in goal.name]


def test_a_hand_follows_a_bone_on_some_frames_without_a_jump(tmp_path):
    rig, controls, motions = with_rig("humanoid")
    action = rig.animation_data.action
    first = int(action.frame_range[0])
    frames = range(first, int(action.frame_range[1]) + 1)
    before = shown(rig, frames)
    left, right = sorted(goals_of_hands(controls))
    held = "hand_r"
    select(controls, left)
    assert bpy.ops.motionbridge.hold_bone(bone=held, first=first + 2, last=first + 5) == {"FINISHED"}
    metres, radians = off(shown(rig, frames), before)
    assert metres < METRES
    assert radians < RADIANS
    assert saved(rig, tmp_path / "held.omf") == motions[-1].read_bytes()
    # What the right hand does now, the left one does too, but only where it holds on.
    step = Matrix.Translation((0.01, -0.02, 0.03))
    key(controls, right, frames, step)
    index = {bone.name: number for number, bone in enumerate(rig.data.bones)}
    rows = [index["hand_l"], index[held]]
    moved = (shown(rig, frames) - before)[:, rows][..., :3, 3]
    followed = [2 <= frame - first <= 5 for frame in frames]
    # The solution of a limb comes within half a millimetre of its goal.
    np.testing.assert_allclose(moved[:, 1], np.tile(step.translation, (len(frames), 1)), atol=5e-4)
    np.testing.assert_allclose(moved[followed, 0], moved[followed, 1], atol=5e-4)
    np.testing.assert_allclose(moved[np.logical_not(followed), 0], 0, atol=METRES)


def test_what_a_hand_follows_belongs_to_one_motion(tmp_path):
    rig, controls, motions = with_rig("humanoid")
    first, other = motions_of(rig)[:2]
    frames = range(int(other.frame_range[0]), int(other.frame_range[1]) + 1)
    actions.play(bpy.context, rig, other)
    before = shown(rig, frames)
    actions.play(bpy.context, rig, first)
    left, _ = sorted(goals_of_hands(controls))
    select(controls, left)
    ends = {"first": int(first.frame_range[0]), "last": int(first.frame_range[1])}
    assert bpy.ops.motionbridge.hold_bone(bone="hand_r", **ends) == {"FINISHED"}
    key(controls, left, [ends["last"]], Matrix.Translation((0, 0, 0.05)))
    edited = saved(rig, tmp_path / "edited.omf")
    assert edited != motions[-1].read_bytes()
    # Its last frame holds on, and the other motion has no key that says so.
    bpy.context.scene.frame_set(ends["last"])
    actions.play(bpy.context, rig, other)
    metres, radians = off(shown(rig, frames), before)
    assert metres < METRES
    assert radians < RADIANS
    assert saved(rig, tmp_path / "other.omf") == edited
    actions.play(bpy.context, rig, first)
    poses = shown(rig, range(ends["first"], ends["last"] + 1))
    select(controls, left)
    assert bpy.ops.motionbridge.hold_bone(bone="", **ends) == {"FINISHED"}
    metres, radians = off(shown(rig, range(ends["first"], ends["last"] + 1)), poses)
    assert metres < METRES
    assert radians < RADIANS
    assert saved(rig, tmp_path / "let go.omf") == edited


def test_a_hand_follows_nothing_that_it_moves():
    rig, controls, _ = with_rig("humanoid")
    first = int(rig.animation_data.action.frame_range[0])
    left, right = sorted(goals_of_hands(controls))
    select(controls, left)
    ends = {"first": first, "last": first + 3}
    sentence = refusal(bpy.ops.motionbridge.hold_bone, bone="hand_l", **ends)
    assert "moves 'hand_l', so it cannot follow it" in sentence
    assert bpy.ops.motionbridge.hold_bone(bone="hand_r", **ends) == {"FINISHED"}
    assert "Run Hold Bone on these frames" in refusal(bpy.ops.motionbridge.match_controls, to="IK", **ends)
    select(controls, right)
    assert "cannot follow it" in refusal(bpy.ops.motionbridge.hold_bone, bone="hand_l", **ends)
    select(controls)
    assert "Select some in pose mode" in refusal(bpy.ops.motionbridge.hold_bone, bone="hand_l", **ends)


@pytest.mark.parametrize("cleared", ["action", "animation data"])
def test_controls_that_play_nothing_are_not_matched(cleared):
    rig, controls, _ = with_rig("humanoid")
    select(controls, *goals_of_hands(controls))
    controls.animation_data.action = None
    if cleared == "animation data":
        controls.animation_data_clear()
    for operator in (bpy.ops.motionbridge.match_controls, bpy.ops.motionbridge.hold_bone):
        sentence = refusal(operator, first=0, last=3)
        assert f"the controls of {rig.name!r} play no motion. Play one of its motions first" in sentence


def test_an_action_chosen_elsewhere_is_shown_on_demand_and_exported_by_its_own_keys(tmp_path):
    rig, controls, motions = with_rig("humanoid")
    first, other = motions_of(rig)[:2]
    actions.play(bpy.context, rig, first)
    key(controls, goal_of(controls), [int(first.frame_range[0])], Matrix.Translation((0, 0, 0.05)))
    edited = saved(rig, tmp_path / "edited.omf")
    assert nla.plays_controls_action(rig)
    rig.animation_data.action = other
    assert not nla.plays_controls_action(rig)
    # Neither motion is written with the pose of the other.
    assert saved(rig, tmp_path / "chosen.omf") == edited
    assert edited != motions[-1].read_bytes()
    assert bpy.ops.motionbridge.show_controls() == {"FINISHED"}
    assert nla.plays_controls_action(rig)
    assert controls.animation_data.action == other.motionbridge_controls


def test_a_switch_that_one_motion_keys_leaves_the_edits_of_others(tmp_path):
    rig, controls, _ = with_rig("humanoid")
    first, other = motions_of(rig)[:2]
    actions.play(bpy.context, rig, first)
    frames = range(int(first.frame_range[0]), int(first.frame_range[1]) + 1)
    key(controls, goal_of(controls), frames, Matrix.Translation((0, 0, 0.05)))
    poses, edited = shown(rig, frames), saved(rig, tmp_path / "edited.omf")
    actions.play(bpy.context, rig, other)
    ends = map(int, other.frame_range)
    assert bpy.ops.motionbridge.match_controls(to="FK", first=next(ends), last=next(ends)) == {"FINISHED"}
    bpy.context.scene.frame_set(int(other.frame_range[0]))
    assert controls.pose.bones[goal_of(controls)]["ik"] == 0.0
    assert saved(rig, tmp_path / "switched.omf") == edited
    assert controls.pose.bones[goal_of(controls)]["ik"] == 0.0
    for _ in range(2):
        actions.play(bpy.context, rig, first)
        assert controls.pose.bones[goal_of(controls)]["ik"] == 1.0
        np.testing.assert_allclose(shown(rig, frames), poses, atol=1e-6)
        actions.play(bpy.context, rig, other)
    # What a person chose without a key stays, too.
    actions.play(bpy.context, rig, first)
    controls.pose.bones[goal_of(controls)]["ik"] = 0.25
    actions.play(bpy.context, rig, other)
    actions.play(bpy.context, rig, first)
    assert controls.pose.bones[goal_of(controls)]["ik"] == 0.25


@pytest.mark.parametrize(
    "taken",
    ["IK", "LOCKED_TRACK", "a goal", "head_fk", "upperarm_fk.L", "foot_fk.R", "upperarm_chain.L", "thigh_left_over.R",
     "upperarm_swing.L", "elbow_pole.L"],
)  # fmt: skip
def test_motions_still_move_onto_controls_that_were_taken_apart(taken):
    rig, controls, _ = with_rig("humanoid")
    action = next(action for action in motions_of(rig) if action.motionbridge_controls is None)
    with control_links.links_muted(rig):
        rig.animation_data.action = action
        frames = control_transfer.frames_of(action, rig)
        before = shown(rig, frames)
    if taken in {"IK", "LOCKED_TRACK"}:
        for bone in controls.pose.bones:
            for constraint in [constraint for constraint in bone.constraints if constraint.type == taken]:
                bone.constraints.remove(constraint)
    else:
        bpy.context.view_layer.objects.active = controls
        bpy.ops.object.mode_set(mode="EDIT")
        name = goal_of(controls) if taken == "a goal" else taken
        controls.data.edit_bones.remove(controls.data.edit_bones[name])
        bpy.ops.object.mode_set(mode="OBJECT")
    actions.play(bpy.context, rig, action)
    # Without its control or left-over, a bone and what hangs on it is elsewhere; no other bone is.
    alone = ""
    if "_fk" in taken or "_left_over" in taken:
        alone = taken.replace("_fk", "").replace("_left_over", "").replace(".", "_").lower()
    rows = [
        number
        for number, bone in enumerate(rig.data.bones)
        if alone not in {entry.name for entry in (bone, *bone.parent_recursive)}
    ]
    metres, radians = off(shown(rig, frames)[:, rows], before[:, rows])
    assert metres < METRES
    assert radians < RADIANS
    assert action.motionbridge_controls is not None


def test_no_other_control_replaces_one_that_was_deleted():
    rig, controls, _ = with_rig("humanoid")
    for bone in controls.pose.bones:
        for constraint in [constraint for constraint in bone.constraints if constraint.type == "IK"]:
            bone.constraints.remove(constraint)
    bpy.context.view_layer.objects.active = controls
    bpy.ops.object.mode_set(mode="EDIT")
    controls.data.edit_bones.remove(controls.data.edit_bones["head_fk"])
    bpy.ops.object.mode_set(mode="OBJECT")
    structure = control_rig.structure_of(rig, controls)
    of = dict(zip(controls.data.bones.keys(), structure.bones.tolist(), strict=True))
    head = rig.data.bones.find("head")
    assert [name for name, bone in of.items() if bone == head] == ["head_target", "head_aim", "head_left_over"]


def hidden(controls):
    """The controls that pose mode hides, but for those that work by themselves."""
    owners = controls.pose.bones if bpy.app.version >= (5, 0) else controls.data.bones
    return {owner.name for owner in owners if owner.hide}


LIMBS = {"hand_l": ("upperarm_l", "forearm_l", "hand_l"), "hand_r": ("upperarm_r", "forearm_r", "hand_r"),
         "foot_l": ("thigh_l", "calf_l", "foot_l"), "foot_r": ("thigh_r", "calf_r", "foot_r")}  # fmt: skip


JOINTS = {"forearm": "elbow", "calf": "knee"}


def unused(in_circles):
    """What is hidden when the limbs that end with ``in_circles`` follow their own circles, and the others do not."""
    result = set()
    for end, bones in LIMBS.items():
        joint, side = JOINTS[bones[1][:-2]], bones[1][-1].upper()
        boxes = {f"{end[:-2]}_ik.{side}", f"{joint}_pole.{side}", f"{joint}_line.{side}"}
        result |= boxes if end in in_circles else circles(end)
    return result


def circles(end):
    return {f"{bone[:-2]}_fk.{bone[-1].upper()}" for bone in LIMBS[end]}


def test_what_a_limb_does_not_follow_is_hidden(tmp_path):
    rig, controls, motions = with_rig("humanoid")
    assert hidden(controls) == unused(())
    assert ControlEdits(rig).bones(rig.animation_data.action) == set()
    first = int(rig.animation_data.action.frame_range[0])
    select(controls, "elbow_pole.L", "thigh_fk.R")
    assert bpy.ops.motionbridge.match_controls(to="FK", first=first + 1, last=first + 3) == {"FINISHED"}
    for frame, in_circles in ((first, ()), (first + 2, ("hand_l", "foot_r")), (first + 4, ())):
        bpy.context.scene.frame_set(frame)
        assert hidden(controls) == unused(in_circles)
    bpy.context.scene.frame_set(first)
    controls.pose.bones["hand_ik.R"]["ik"] = 0.5
    controls.update_tag()
    bpy.context.view_layer.update()
    assert hidden(controls) == unused(()) - circles("hand_r")
    assert saved(rig, tmp_path / "hidden.omf") == motions[-1].read_bytes()


def test_a_duplicate_hides_by_switches_of_its_own():
    rig, controls, _ = with_rig("humanoid")
    copy = duplicated(rig)
    actions.play(bpy.context, copy, copy.animation_data.action)
    theirs = control_links.controls_of(copy)
    assert theirs != controls
    theirs.pose.bones["hand_ik.L"]["ik"] = 0.0
    for entry in (controls, theirs):
        entry.update_tag()
    bpy.context.view_layer.update()
    assert hidden(theirs) == unused(["hand_l"])
    assert hidden(controls) == unused(())
