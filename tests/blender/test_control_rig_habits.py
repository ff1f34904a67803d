"""What people do with a rig in a file, with a control rig on it: other motions stay, and what is shown is written."""

import shutil

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from addon.blender import action as actions
from addon.blender import compat, control_links, control_rig, control_transfer, scope
from addon.core import rotation
from addon.core.report import Report
from addon.formats.xray import omf
from addon.games.xray.motions import library, omf_codec
from addon.games.xray.options import MotionExportOptions
from tests.blender import test_linked
from tests.blender.test_action_lists import activate, bodies_in, duplicated, load, names_in
from tests.blender.test_control_rig import clips, goal_of, key, motions_of, off, shown
from tests.blender.test_ui import last_report, refusal

RAISED = Matrix.Translation((0.0, 0.02, 0.05))
ARM = {"upperarm_l", "forearm_l", "hand_l"}


@pytest.fixture
def game(samples, tmp_path):
    """The humanoid and its motions on disk."""
    for name in ("humanoid.ogf", "humanoid.omf"):
        shutil.copy(samples / name, tmp_path / name)
    return tmp_path


@pytest.fixture
def rig(game):
    """The humanoid with all its motions and a control rig."""
    result = load(game)
    bpy.ops.motionbridge.add_control_rig()
    return result


def controls_of(rig):
    return control_links.controls_of(rig)


def raise_hand(rig, *frames):
    """On some frames of the motion that plays, counted from its first."""
    first = int(rig.animation_data.action.frame_range[0])
    controls = controls_of(rig)
    key(controls, goal_of(controls), [first + frame for frame in frames], RAISED)


def save_back(rig, **options):
    activate(rig)
    return bpy.ops.motionbridge.save_back(**options)


def edited(path, before):
    """The names of the motions that are not as they were."""
    now = bodies_in(path)
    assert list(now) == list(before)
    return [name for name, body in now.items() if body != before[name]]


def test_a_copied_motion_gets_controls_of_its_own(rig, game):
    path, before = game / "humanoid.omf", bodies_in(game / "humanoid.omf")
    original = rig.animation_data.action
    controls = original.motionbridge_controls
    copy = original.copy()
    actions.play(bpy.context, rig, copy)
    assert copy.motionbridge_controls not in {None, controls}
    raise_hand(rig, 1, 2)
    actions.play(bpy.context, rig, original)
    assert controls_of(rig).animation_data.action == controls
    activate(rig)
    assert bpy.ops.export_scene.xray_omf(filepath=str(game / "old.omf")) == {"FINISHED"}
    assert (game / "old.omf").read_bytes() == path.read_bytes()
    actions.play(bpy.context, rig, copy)
    activate(rig)
    assert bpy.ops.export_scene.xray_omf(filepath=str(game / "new.omf")) == {"FINISHED"}
    now = bodies_in(game / "new.omf")
    assert {name: now[name] for name in before} == before
    copied = [name for name in now if name not in before]
    assert len(copied) == 1
    assert now[copied[0]] != before[original.name]
    assert bodies_in(path) == before


@pytest.mark.parametrize("renamed", ["forearm_l", "head"])
def test_a_renamed_bone_keeps_its_track_and_its_control(rig, game, renamed):
    path, before = game / "humanoid.omf", (game / "humanoid.omf").read_bytes()
    for action in motions_of(rig):
        actions.play(bpy.context, rig, action)
    rig.data.bones[renamed].name = "another name"
    assert save_back(rig) == {"CANCELLED"}
    assert path.read_bytes() == before
    bodies = bodies_in(path)
    action = rig.animation_data.action
    raise_hand(rig, 1)
    assert save_back(rig) == {"FINISHED"}
    assert edited(path, bodies) == [action.motionbridge_motion.imported_name]


def test_a_motion_that_is_played_right_after_a_bone_was_renamed_moves_with_all_its_keys(rig, game):
    path, before = game / "humanoid.omf", (game / "humanoid.omf").read_bytes()
    others = [action for action in motions_of(rig) if action != rig.animation_data.action]
    frames = {action: control_transfer.frames_of(action, rig) for action in others}
    poses = {}
    with control_links.links_muted(rig):
        for action in others:
            rig.animation_data.action = action
            poses[action] = shown(rig, frames[action])
    for bone in ("spine", "foot_r"):
        rig.data.bones[bone].name = f"my {bone}"
    for action in others:
        rig.motionbridge_motion_row = motions_of(rig).index(action)
        assert rig.animation_data.action == action
        metres, radians = off(shown(rig, frames[action]), poses[action])
        assert metres < 1e-5
        assert radians < 2.5e-5
    assert save_back(rig) == {"CANCELLED"}
    assert path.read_bytes() == before


def test_a_renamed_control_goes_on_working(rig, game):
    path, bodies = game / "humanoid.omf", bodies_in(game / "humanoid.omf")
    controls = controls_of(rig)
    controls.data.bones[goal_of(controls)].name = "my own hand_l"
    other = motions_of(rig)[-1]
    with control_links.links_muted(rig):
        rig.animation_data.action = other
        frames = control_transfer.frames_of(other, rig)
        poses = shown(rig, frames)
    actions.play(bpy.context, rig, other)
    metres, radians = off(shown(rig, frames), poses)
    assert metres < 1e-5
    assert radians < 2.5e-5
    assert save_back(rig) == {"CANCELLED"}
    raise_hand(rig, 2)
    assert save_back(rig) == {"FINISHED"}
    assert edited(path, bodies) == [other.motionbridge_motion.imported_name]


def length_in(path, name):
    motions = omf.read(path.read_bytes(), path.name, Report()).motion_set
    return next(motion.frames for motion in motions.library.motions if motion.label == name)


def test_keys_of_controls_behind_the_end_lengthen_the_motion(rig, game):
    path, bodies = game / "humanoid.omf", bodies_in(game / "humanoid.omf")
    action = rig.animation_data.action
    count = length_in(path, action.name)
    last = count - 1
    raise_hand(rig, last + 6)
    frames = int(action.frame_range[0]) + np.arange(count + 6)
    poses = shown(rig, frames)
    assert save_back(rig) == {"FINISHED"}
    assert edited(path, bodies) == [action.name]
    assert length_in(path, action.name) == count + 6
    assert save_back(rig) == {"CANCELLED"}
    again = load(game, motions=action.name)
    metres, radians = off(shown(again, frames), poses)
    assert metres < 1e-3  # 16-bit rotations, summed up along the chain of bones
    assert radians < 1e-3


def test_undo_and_redo_of_a_posed_hand(rig, game):
    path, before = game / "humanoid.omf", (game / "humanoid.omf").read_bytes()
    name = rig.name
    bpy.ops.ed.undo_push(message="control rig")
    raise_hand(rig, 1, 2)
    bpy.ops.ed.undo_push(message="posed")
    assert save_back(rig) == {"FINISHED"}
    bpy.ops.ed.undo_push(message="saved")
    posed = path.read_bytes()
    assert posed != before
    bpy.ops.ed.undo()
    bpy.ops.ed.undo()
    assert save_back(bpy.data.objects[name], if_changed="IMPORTED") == {"FINISHED"}
    assert path.read_bytes() == before
    bpy.ops.ed.redo()
    again = bpy.data.objects[name]
    assert control_links.owns_controls(again)
    assert save_back(again, if_changed="IMPORTED") == {"FINISHED"}
    assert path.read_bytes() == posed


def test_a_restored_motion_shows_the_file_again(rig, game):
    action = rig.animation_data.action
    frames = control_transfer.frames_of(action, rig)
    poses = shown(rig, frames)
    raise_hand(rig, 1, 2)
    assert off(shown(rig, frames), poses)[0] > 0.01
    activate(rig)
    assert bpy.ops.motionbridge.revert_motion() == {"FINISHED"}
    metres, radians = off(shown(rig, frames), poses)
    assert metres < 1e-5
    assert radians < 2.5e-5
    assert save_back(rig) == {"CANCELLED"}


def test_what_others_edited_is_shown_by_the_controls(rig, game, samples):
    path, action = game / "humanoid.omf", rig.animation_data.action
    frames = control_transfer.frames_of(action, rig)
    second = load(game)
    bpy.ops.motionbridge.add_control_rig()
    raise_hand(second, 1, 2)
    edited_name = second.animation_data.action.motionbridge_motion.imported_name
    assert edited_name == action.motionbridge_motion.imported_name
    assert save_back(second) == {"FINISHED"}
    theirs, poses = path.read_bytes(), shown(second, frames)
    other = next(entry for entry in motions_of(rig) if entry != action)
    actions.play(bpy.context, rig, other)
    raise_hand(rig, 1)
    assert save_back(rig, if_changed="DISK") == {"FINISHED"}
    now = bodies_in(path)
    again = omf.read(theirs, path.name, Report()).motion_set.library.motions
    assert [entry.label for entry in again if now[entry.label] != entry.body] == [
        other.motionbridge_motion.imported_name
    ]
    actions.play(bpy.context, rig, action)
    metres, radians = off(shown(rig, frames), poses)
    assert metres < 1e-3  # 16-bit rotations, summed up along the chain of bones
    assert radians < 1e-3
    assert save_back(rig) == {"CANCELLED"}


def test_the_bones_of_the_game_step_back_while_controls_are_there(game):
    rig = load(game)
    rig.display_type, rig.show_in_front = "SOLID", True
    bpy.ops.motionbridge.add_control_rig()
    assert (rig.display_type, rig.show_in_front) == ("WIRE", False)
    assert controls_of(rig).show_in_front
    activate(rig)
    assert bpy.ops.motionbridge.remove_control_rig() == {"FINISHED"}
    assert (rig.display_type, rig.show_in_front) == ("SOLID", True)
    assert not rig.is_property_set("motionbridge_drawn_before")
    bpy.ops.motionbridge.add_control_rig()
    bpy.data.objects.remove(controls_of(rig))
    activate(rig)
    assert bpy.ops.motionbridge.add_control_rig() == {"FINISHED"}
    assert bpy.ops.motionbridge.remove_control_rig() == {"FINISHED"}
    assert (rig.display_type, rig.show_in_front) == ("SOLID", True)
    bpy.ops.motionbridge.add_control_rig()
    rig.display_type = "BOUNDS"  # the user's own choice stays
    activate(rig)
    assert bpy.ops.motionbridge.remove_control_rig() == {"FINISHED"}
    assert (rig.display_type, rig.show_in_front) == ("BOUNDS", False)


def test_saved_back_twice_with_other_poses(rig, game, tmp_path):
    path, bodies = game / "humanoid.omf", bodies_in(game / "humanoid.omf")
    name = rig.animation_data.action.name
    raise_hand(rig, 1)
    assert save_back(rig) == {"FINISHED"}
    assert edited(path, bodies) == [name]
    once = bodies_in(path)
    assert save_back(rig) == {"CANCELLED"}
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rig.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "rig.blend"))
    rig = bpy.data.objects["humanoid"]
    assert save_back(rig) == {"CANCELLED"}
    assert bodies_in(path) == once
    raise_hand(rig, 3)
    assert save_back(rig) == {"FINISHED"}
    assert edited(path, once) == [name]


@pytest.mark.parametrize("mode", ["XYZ", "AXIS_ANGLE"])
def test_a_rotation_mode_of_a_bone_of_the_game_is_refused_as_without_controls(rig, game, mode):
    path, before = game / "humanoid.omf", (game / "humanoid.omf").read_bytes()
    rig.pose.bones["head"].rotation_mode = mode
    sentence = refusal(bpy.ops.export_scene.xray_omf, filepath=str(game / "new.omf"))
    assert "rotation mode" in sentence
    assert "Restore Mode" in sentence
    activate(rig)
    assert bpy.ops.export_scene.xray_omf(filepath=str(game / "new.omf"), hidden_keys="RESTORE") == {"FINISHED"}
    assert (game / "new.omf").read_bytes() == before
    assert path.read_bytes() == before


def muted(rig, of_controls):
    """The turns of one bone, muted."""
    action = rig.animation_data.action
    owner, action = (controls_of(rig), action.motionbridge_controls) if of_controls else (rig, action)
    name = goal_of(owner) if of_controls else "head"
    for curve in compat.curves_of(action, owner):
        curve.mute = f'"{name}"' in curve.data_path


def test_muted_curves_of_a_bone_keep_the_values_of_the_file(rig, game):
    path, before = game / "humanoid.omf", (game / "humanoid.omf").read_bytes()
    muted(rig, of_controls=False)
    assert save_back(rig) == {"CANCELLED"}
    assert path.read_bytes() == before


def test_a_muted_control_is_written_as_it_is_shown(rig, game):
    path, bodies = game / "humanoid.omf", bodies_in(game / "humanoid.omf")
    action = rig.animation_data.action
    frames = control_transfer.frames_of(action, rig)
    before = shown(rig, frames)
    muted(rig, of_controls=True)
    poses = shown(rig, frames)
    assert off(poses, before)[0] > 0.01
    assert save_back(rig) == {"FINISHED"}
    assert edited(path, bodies) == [action.name]
    again = load(game, motions=action.name)
    metres, radians = off(shown(again, frames), poses)
    assert metres < 1e-3
    assert radians < 1e-3


@pytest.mark.parametrize("kind", ["NOISE", "CYCLES"])
def test_controls_of_a_motion_whose_own_curves_have_modifiers_are_saved_as_they_are_shown(game, kind):
    """No digest tells what such curves say."""
    path, rig = game / "humanoid.omf", load(game)
    action = rig.animation_data.action
    curve = next(
        entry for entry in compat.curves_of(action, rig) if entry.data_path == 'pose.bones["head"].rotation_quaternion'
    )
    curve.modifiers.new(kind)
    action.update_tag()
    bpy.ops.motionbridge.add_control_rig()
    raise_hand(rig, 2)
    bodies = bodies_in(path)
    poses = shown(rig, np.arange(length_in(path, action.name)))
    assert save_back(rig) == {"FINISHED"}
    assert edited(path, bodies) == [action.name]
    bpy.ops.wm.read_homefile(use_empty=True)
    metres, radians = off(shown(load(game, motions="walk"), np.arange(len(poses))), poses)
    assert metres < 1e-3
    assert radians < 2e-3  # the file's 16 bits, along a chain


@pytest.mark.parametrize("control", ["hand_ik.L", "spine_fk", "torso"])
def test_controls_that_are_renamed_keep_their_keys_in_motions_that_do_not_play(rig, game, control):
    path, before = game / "humanoid.omf", (game / "humanoid.omf").read_bytes()
    bpy.ops.motionbridge.move_motions_to_controls()
    controls, playing = controls_of(rig), rig.animation_data.action
    # A switch and what a hand holds have keys of their own.
    others = [action for action in motions_of(rig) if action != playing]
    actions.play(bpy.context, rig, others[0])
    frames = {"first": int(others[0].frame_range[0]), "last": int(others[0].frame_range[1])}
    activate(rig)
    bpy.ops.motionbridge.match_controls(to="FK", **frames)
    actions.play(bpy.context, rig, playing)
    paths = {curve.data_path for curve in compat.curves_of(others[0].motionbridge_controls, controls)}
    assert f'pose.bones["hand_ik.L"]["{control_rig.PROPERTIES[control_rig.Role.GOAL]}"]' in paths
    controls.data.bones[control].name = "my own"
    assert save_back(rig) == {"CANCELLED"}
    assert path.read_bytes() == before
    renamed = {path.replace(f'"{control}"', '"my own"') for path in paths}
    assert {curve.data_path for curve in compat.curves_of(others[0].motionbridge_controls, controls)} == renamed
    poses = {}
    for action in others:
        with control_links.links_muted(rig):
            rig.animation_data.action = action
            frames = control_transfer.frames_of(action, rig)
            poses[action] = frames, shown(rig, frames)
    for action, (frames, expected) in poses.items():
        actions.play(bpy.context, rig, action)
        assert off(shown(rig, frames), expected)[0] < 1e-5


def test_controls_that_are_renamed_take_no_keys_of_another_control_rig(rig, game):
    bpy.ops.motionbridge.move_motions_to_controls()
    bodies = bodies_in(game / "humanoid.omf")
    other = load(game)
    assert other != rig
    activate(other)
    assert bpy.ops.motionbridge.add_control_rig() == {"FINISHED"}
    bpy.ops.motionbridge.move_motions_to_controls()
    controls_of(rig).data.bones["hand_ik.L"].name = "my own"
    assert save_back(rig) == {"CANCELLED"}
    for owner, name in ((rig, "my own"), (other, "hand_ik.L")):
        for action in motions_of(owner):
            curves = compat.curves_of(action.motionbridge_controls, controls_of(owner))
            named = {curve.data_path.split('"')[1] for curve in curves}
            assert {"my own", "hand_ik.L"} & named == {name}
    assert bodies_in(game / "humanoid.omf") == bodies


DELETED = {
    "torso": "torso", "thigh_fk.L": "thigh_l", "head_fk": "head", "calf_left_over.L": "calf_l", "neck_target": "neck",
    "hand_held.R": "hand_r", "elbow_pole.L": "forearm_l",
}  # fmt: skip
"""Controls, with what a report calls them or the bone of the game that they moved."""


@pytest.mark.parametrize("name", ["", *DELETED])
def test_a_deleted_control_is_reported_before_the_export_writes_what_is_shown(rig, name):
    controls, action = controls_of(rig), rig.animation_data.action
    if name:
        with scope.editing_armature(bpy.context, controls) as edit_bones:
            edit_bones.remove(edit_bones[name])
    report = Report()
    library.plan_export(
        omf_codec.OMF, bpy.context, rig, [action], "x.omf",
        onto=library.Onto.OWN_FILES, options=MotionExportOptions(), report=report,
    )  # fmt: skip
    lines = [line for line in report.lines() if "controls were deleted" in line]
    if not name:
        assert not lines
        return
    (line,) = lines
    assert DELETED[name] in line
    report = Report()
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.motionbridge.remove_control_rig() == {"FINISHED"}
    library.plan_export(
        omf_codec.OMF, bpy.context, rig, [action], "x.omf",
        onto=library.Onto.OWN_FILES, options=MotionExportOptions(), report=report,
    )  # fmt: skip
    assert "controls were deleted" not in " ".join(report.lines())


CONSTRAINED = {"upperarm_r": "foot_r", "hand_l": "head"}
"""Bones of the game that are to rotate along with another, in the middle and at the end of a chain."""


def constrain(rig):
    """Constraints of the user's, behind the copying of controls."""
    for bone, followed in CONSTRAINED.items():
        constraint = rig.pose.bones[bone].constraints.new("COPY_ROTATION")
        constraint.target, constraint.subtarget, constraint.influence = rig, followed, 0.5


def test_a_motion_that_is_moved_onto_controls_keeps_the_effect_of_constraints_once(rig):
    constrain(rig)
    action = next(entry for entry in motions_of(rig) if entry.motionbridge_controls is None)
    frames = control_transfer.frames_of(action, rig)
    with control_links.links_muted(rig):
        rig.animation_data.action = action
        poses = shown(rig, frames)
    actions.play(bpy.context, rig, action)
    assert action.motionbridge_controls is not None
    metres, radians = off(shown(rig, frames), poses)
    assert metres < 1e-5
    assert radians < 2.5e-5


@pytest.mark.parametrize("when", ["never", "before", "meanwhile", "removed"])
def test_constraints_on_bones_of_the_game_are_saved_as_they_are_shown(rig, game, when):
    """``when`` motions are played first, which moves them onto controls. A bone below one that a constraint moves stays
    where its control is: relative to its parent it moves the other way; what controls took over stays without it.
    """
    listed = motions_of(rig)
    for action in listed if when == "before" else []:
        actions.play(bpy.context, rig, action)
    constrain(rig)
    for action in listed if when in {"meanwhile", "removed"} else []:
        actions.play(bpy.context, rig, action)
    for bone in CONSTRAINED if when == "removed" else []:
        constraints = rig.pose.bones[bone].constraints
        constraints.remove(constraints[-1])
    poses = {}
    for action in motions_of(rig):  # each is saved while it plays: constraints change no other
        actions.play(bpy.context, rig, action)
        assert save_back(rig) in ({"FINISHED"}, {"CANCELLED"})
        first = int(action.frame_range[0])
        poses[action.name] = shown(rig, first + np.arange(length_in(game / "humanoid.omf", action.name)))
    bpy.ops.wm.read_homefile(use_empty=True)
    again = load(game)
    assert [action.name for action in motions_of(again)] == list(poses)
    for action in motions_of(again):
        actions.play(bpy.context, again, action)
        frames = int(action.frame_range[0]) + np.arange(len(poses[action.name]))
        metres, radians = off(shown(again, frames), poses[action.name])
        assert metres < 1e-3, action.name
        assert radians < 2e-3, action.name  # the file's 16 bits, along a chain


def test_an_export_of_one_motion_into_its_file_leaves_the_others(rig, game):
    path, bodies = game / "humanoid.omf", bodies_in(game / "humanoid.omf")
    action = rig.animation_data.action
    raise_hand(rig, 1)
    activate(rig)
    options = {"choose": "ACTIVE", "onto": "FILE"}
    assert bpy.ops.export_scene.xray_omf(filepath=str(path), **options) == {"FINISHED"}
    assert names_in(path) == list(bodies)
    assert edited(path, bodies) == [action.name]


def test_a_renamed_motion_keeps_its_controls(rig, game):
    path, bodies = game / "humanoid.omf", bodies_in(game / "humanoid.omf")
    action = rig.animation_data.action
    old = action.motionbridge_motion.imported_name
    action.name = "not the motion's name"
    action.motionbridge_motion.motion_name = "stroll"
    assert save_back(rig) == {"FINISHED"}
    expected = {"stroll" if name == old else name: body for name, body in bodies.items()}
    assert bodies_in(path) == expected
    raise_hand(rig, 1)
    assert save_back(rig) == {"FINISHED"}
    assert edited(path, expected) == ["stroll"]


def decoded(path, name):
    return clips(path.read_bytes())[name]


@pytest.mark.parametrize("is_posed", [False, True])
def test_a_frame_range_shortens_a_motion_with_controls(rig, game, is_posed):
    path, bodies = game / "humanoid.omf", bodies_in(game / "humanoid.omf")
    action = rig.animation_data.action
    before, left = decoded(path, action.name), 11
    if is_posed:
        raise_hand(rig, 2, before.frames - 1)
    first = int(action.frame_range[0])
    poses = shown(rig, range(first, first + left))
    action.frame_end = action.frame_start + left - 1
    assert save_back(rig) == {"FINISHED"}
    assert edited(path, bodies) == [action.name]
    after = decoded(path, action.name)
    assert after.frames == left
    keyed = [row for row, bone in enumerate(before.bones) if bone not in ARM]
    kept = before.rotations[keyed, :left], after.rotations[keyed]
    assert rotation.angles_between(*kept).max() <= 2 * 2 / 32767
    again = load(game, motions=action.name)
    metres, radians = off(shown(again, range(first, first + left)), poses)
    assert metres < 1e-3  # 16-bit rotations, summed up along the chain of bones
    assert radians < 1e-3


def test_fewer_motions_than_the_file_has_are_written_unchanged(rig, game):
    bodies = bodies_in(game / "humanoid.omf")
    bpy.ops.motionbridge.move_motions_to_controls()
    raise_hand(rig, 1)
    playing = rig.animation_data.action.name
    chosen = [name for name in bodies if name != playing][1:3]
    activate(rig)
    assert bpy.ops.export_scene.xray_omf(filepath=str(game / "some.omf"), motions=";".join(chosen)) == {"FINISHED"}
    assert names_in(game / "some.omf") == chosen
    assert bodies_in(game / "some.omf") == {name: bodies[name] for name in chosen}


@pytest.mark.parametrize("is_playing", [False, True])
def test_a_motion_that_is_deleted_takes_its_controls_along(rig, game, is_playing):
    path, bodies = game / "humanoid.omf", bodies_in(game / "humanoid.omf")
    bpy.ops.motionbridge.move_motions_to_controls()
    deleted = next(entry for entry in motions_of(rig) if (entry == rig.animation_data.action) == is_playing)
    copy = deleted.copy()
    name, controls = deleted.name, deleted.motionbridge_controls
    activate(rig)
    assert bpy.ops.motionbridge.delete_motion(action=name) == {"FINISHED"}
    assert copy.motionbridge_controls == controls, "a copy still has them"
    assert save_back(rig) == {"FINISHED"}
    del bodies[name]
    assert bodies_in(path) == bodies
    other, gone = rig.animation_data.action, rig.animation_data.action.motionbridge_controls.name
    activate(rig)
    assert bpy.ops.motionbridge.delete_motion(action=other.name) == {"FINISHED"}
    assert gone not in bpy.data.actions
    assert controls_of(rig).animation_data.action == rig.animation_data.action.motionbridge_controls


def test_a_rig_of_another_file_is_appended_beside_one_of_the_same_name(rig, game, tmp_path):
    path, bodies = game / "humanoid.omf", bodies_in(game / "humanoid.omf")
    bpy.ops.motionbridge.move_motions_to_controls()
    raise_hand(rig, 1, 2)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "posed.blend"))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    ours = load(game)
    bpy.ops.motionbridge.add_control_rig()
    bpy.ops.motionbridge.move_motions_to_controls()
    with bpy.data.libraries.load(str(tmp_path / "posed.blend")) as (_, into):
        into.objects = ["humanoid"]
    theirs = into.objects[0]
    bpy.context.scene.collection.objects.link(theirs)
    bpy.context.scene.collection.objects.link(controls_of(theirs))
    assert control_links.owns_controls(theirs)
    assert controls_of(theirs) != controls_of(ours)
    assert not set(motions_of(ours)) & set(motions_of(theirs))
    assert save_back(ours) == {"CANCELLED"}
    assert bodies_in(path) == bodies
    assert save_back(theirs) == {"FINISHED"}
    assert edited(path, bodies) == [theirs.animation_data.action.motionbridge_motion.imported_name]


def test_a_duplicate_that_is_posed_and_deleted_leaves_the_file_of_the_original(rig, game):
    path, bodies = game / "humanoid.omf", bodies_in(game / "humanoid.omf")
    copy = duplicated(rig, controls_of(rig))
    copy = copy if not control_links.is_control_rig(copy) else copy.parent
    assert controls_of(copy) != controls_of(rig)
    raise_hand(copy, 1, 2)
    assert save_back(rig) == {"CANCELLED"}
    for gone in (controls_of(copy), copy):
        bpy.data.objects.remove(gone)
    assert save_back(rig) == {"CANCELLED"}
    assert bodies_in(path) == bodies
    raise_hand(rig, 1)
    assert save_back(rig) == {"FINISHED"}
    assert edited(path, bodies) == [rig.animation_data.action.motionbridge_motion.imported_name]


@pytest.fixture(scope="module")
def files(tmp_path_factory, samples):
    """scenes.blend with a collection that holds a rig, its motions and its control rig."""
    folder = tmp_path_factory.mktemp("linked")
    for name in ("humanoid.ogf", "humanoid.omf"):
        shutil.copy(samples / name, folder / name)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    load(folder)
    bpy.ops.motionbridge.add_control_rig()
    box = bpy.data.collections.new("Box")
    for obj in list(bpy.data.objects):
        box.objects.link(obj)
    box.use_fake_user = True
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "scenes.blend"))
    return folder


ON_CONTROLS = {
    "add_control_rig": {},
    "move_motions_to_controls": {},
    "show_controls": {},
    "remove_control_rig": {},
    "match_controls": {"to": "FK", "first": 1, "last": 3},
}


@pytest.mark.parametrize("kind", test_linked.KINDS)
def test_control_rigs_of_other_files_are_exported_and_not_edited(files, tmp_path, kind):
    rig = test_linked.bring(files, kind, test_linked.RIG)
    before = test_linked.stored()
    for name, options in ON_CONTROLS.items():
        message = test_linked.call(f"motionbridge.{name}", options)
        assert message in ("not offered", {"CANCELLED"}) or "Make it local first" in message, (name, message)
    assert test_linked.stored() == before
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.export_scene.xray_omf(filepath=str(tmp_path / "out.omf")) == {"FINISHED"}
    assert (tmp_path / "out.omf").read_bytes() == (files / "humanoid.omf").read_bytes()


def test_saved_edits_stay_without_the_control_rig_and_others_are_reported_to_be_lost(rig, game):
    before = bodies_in(game / "humanoid.omf")
    raise_hand(rig, 4, 12)
    goal = goal_of(controls_of(rig))
    last = int(rig.animation_data.action.frame_range[1])
    key(controls_of(rig), goal, [last + 6], RAISED)  # longer, too
    assert save_back(rig) == {"FINISHED"}
    saved = bodies_in(game / "humanoid.omf")
    assert edited(game / "humanoid.omf", before) == ["walk"]
    library.play(bpy.context, rig, bpy.data.actions["idle"])
    raise_hand(rig, 4)
    assert bpy.ops.motionbridge.remove_control_rig() == {"FINISHED"}
    assert controls_of(rig) is None
    assert "1 motion is without the edits made with the controls; undo to keep these (idle)" in last_report()
    assert save_back(rig) == {"CANCELLED"}
    assert bodies_in(game / "humanoid.omf") == saved
