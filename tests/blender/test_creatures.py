"""Control rigs of creatures: legs with hocks, necks and jaws; motions are shown exactly and leave byte for byte."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from addon.blender import action as actions
from addon.blender import control_links, control_rig
from addon.core.control_rig import HIDDEN, Role
from addon.games.arma.options import PivotsFrom
from tests.blender.rtm_scene import exported, load
from tests.blender.test_control_rig import clips, control_of, key, motions_of, off, saved, select, shown, with_rig
from tests.blender.test_control_rig_corpus import Shown, is_shown_exactly_and_written_unchanged
from tests.blender.test_mirror_motion import check as check_mirrored
from tests.blender.test_mirror_motion import mirror
from tests.real_files import CORPUS, corpus_files

SETS = {
    "radium_rat": "radium_rat", "radium_cat": "radium_cat", "tushkano_big": "tushkano_big_animation",
    "flesh_big": "flesh_big_animation", "mutant_boar_big": "mutant_boar_big_animation",
    "radium_chimera": "radium_chimera", "radium_psevdogigant": "radium_psevdogigant",
    "pseudodog_big": "pseudodog_big_animation", "dog_big": "dog_big_animation",
    "radium_bloodsucker": "radium_bloodsucker", "radium_zombi_trup": "radium_zombi_v3",
}  # fmt: skip
"""Models of creatures -> their motions; the first is quick, the others are deep tests."""


def files():
    if CORPUS is None:
        return corpus_files("-")
    return [
        pytest.param(model, motions, id=model, marks=() if number == 0 else pytest.mark.deep)
        for number, (model, motions) in enumerate(SETS.items())
    ]


THROWN = {"mutant_boar_big"}
"""Creatures with motions that throw a bone 4.8e19 m away: numbers of seven digits cannot repeat the poses of its
children, so these files are the same only where nothing is sampled.
"""
SOLVED = 5e-4
"""Metres within which the solution of a leg comes to its goal."""
needs_corpus = pytest.mark.skipif(CORPUS is None, reason="MOTIONBRIDGE_CORPUS is not set")
LEG = ["bip01_l_thigh", "bip01_l_calf", "bip01_l_foot", "bip01_l_toe0"]
"""A leg of the rat: its bones are named like a person's, but the foot is the hock."""


@pytest.mark.parametrize(("model", "motions"), files())
def test_every_motion_is_shown_exactly_and_leaves_byte_for_byte(model, motions, tmp_path, capsys):
    path = CORPUS / "omf" / f"{motions}.omf"
    bpy.ops.import_scene.xray_ogf(filepath=str(CORPUS / "ogf" / f"{model}.ogf"), motions="NONE")
    rig = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
    bpy.context.view_layer.objects.active = rig
    bpy.ops.import_scene.xray_omf(filepath=str(path))
    written = is_shown_exactly_and_written_unchanged(
        rig, model, lambda: saved(rig, tmp_path / "out.omf"), capsys, is_sampled=model not in THROWN
    )
    assert written == path.read_bytes()


def playing_rat():
    """A rat with controls that plays a long motion, and some frames of that."""
    rig, controls, motions = with_rig("radium_rat")
    action = next(action for action in motions_of(rig) if action.frame_range[1] >= 12)
    actions.play(bpy.context, rig, action)
    first = int(action.frame_range[0])
    return rig, controls, motions, range(first + 3, first + 7)


def poses_of(rig, frames, names):
    """(frames, names, 4, 4) what Blender shows of some bones."""
    return shown(rig, frames)[:, [rig.data.bones.find(name) for name in names]]


def changed_bones(rig, before, frames):
    """The bones that move otherwise than ``before``."""
    moved = np.abs(shown(rig, frames) - before).max(axis=(0, 2, 3)) > 1e-5
    return {bone.name for bone, is_moved in zip(rig.data.bones, moved, strict=True) if is_moved}


@needs_corpus
def test_a_paw_follows_its_box_and_keeps_the_bend_of_its_hock():
    rig, controls, _, frames = playing_rat()
    every, before = shown(rig, frames), poses_of(rig, frames, LEG)
    change = Matrix.Translation((0.0, -0.01, 0.01))
    key(controls, control_of(controls, "ik", LEG[3]), frames, change)
    after = poses_of(rig, frames, LEG)
    heads = before[:, 2:, :3, 3] + np.array(change.translation)
    assert np.abs(after[:, 2:, :3, 3] - heads).max() < SOLVED
    metres, radians = off(after[:, 3], np.array(change) @ before[:, 3])
    assert metres < SOLVED
    assert radians < SOLVED
    assert off(after[:, 0], before[:, 0])[1] > 0.01
    assert changed_bones(rig, every, frames) == set(LEG)


@needs_corpus
def test_a_hock_control_turns_the_hock_about_the_paw_that_stays():
    rig, controls, _, frames = playing_rat()
    every, before = shown(rig, frames), poses_of(rig, frames, LEG)
    hock = controls.pose.bones[control_of(controls, "hock", LEG[2])]
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        hock.rotation_quaternion = hock.rotation_quaternion @ Matrix.Rotation(-0.1, 3, "X").to_quaternion()
        hock.keyframe_insert("rotation_quaternion", frame=frame)
    after = poses_of(rig, frames, LEG)
    metres, radians = off(after[:, 3], before[:, 3])
    assert metres < SOLVED
    assert radians < SOLVED
    length = np.linalg.norm(before[:, 2, :3, 3] - before[:, 3, :3, 3], axis=-1)
    moved = np.linalg.norm(after[:, 2, :3, 3] - before[:, 2, :3, 3], axis=-1)
    assert np.allclose(moved, 2 * np.sin(0.05) * length, rtol=0.1)
    assert changed_bones(rig, every, frames) == set(LEG[:3])


@needs_corpus
def test_a_moved_paw_changes_the_tracks_of_that_leg_alone(tmp_path):
    rig, controls, motions, frames = playing_rat()
    key(controls, control_of(controls, "ik", LEG[3]), frames, Matrix.Translation((0.0, -0.01, 0.01)))
    name = rig.animation_data.action.motionbridge_motion.imported_name
    before, after = clips(motions[-1].read_bytes()), clips(saved(rig, tmp_path / "edited.omf"))
    for motion, old in before.items():
        new = after[motion]
        differ = (old.rotations != new.rotations).any(axis=(1, 2)) | (old.translations != new.translations).any(
            axis=(1, 2)
        )
        changed = {bone for bone, is_changed in zip(old.bones, differ, strict=True) if is_changed}
        assert changed <= (set(LEG) if motion == name else set())
        assert (len(changed) >= 3) == (motion == name)


@needs_corpus
@pytest.mark.parametrize("to_goals", [False, True])
def test_matching_a_leg_keeps_its_pose(to_goals):
    rig, controls, _, frames = playing_rat()
    goal = control_of(controls, "ik", LEG[3])
    if to_goals:
        controls.pose.bones[goal]["ik"] = 0.0
        key(controls, control_of(controls, "fk", LEG[1]), frames, Matrix.Rotation(0.1, 4, "X"))
        key(controls, control_of(controls, "fk", LEG[2]), frames, Matrix.Rotation(-0.1, 4, "X"))
    else:
        key(controls, goal, frames, Matrix.Translation((0.0, -0.01, 0.01)))
    before = shown(rig, frames)
    bpy.context.view_layer.objects.active = rig
    match = bpy.ops.motionbridge.match_controls
    done = match(to="IK" if to_goals else "FK", control=goal, first=frames[0], last=frames[-1])
    assert done == {"FINISHED"}
    bpy.context.scene.frame_set(frames[0])
    assert controls.pose.bones[goal]["ik"] == float(to_goals)
    metres, radians = off(shown(rig, frames), before)
    assert metres < 2e-5
    assert radians < 5e-5


@needs_corpus
def test_the_head_of_a_creature_looks_at_its_control():
    rig, controls, _, frames = playing_rat()
    (look,) = control_rig.looks_of(controls)
    bpy.context.view_layer.objects.active = rig
    done = bpy.ops.motionbridge.match_controls(to="IK", control=look.name, first=frames[0], last=frames[-1])
    assert done == {"FINISHED"}
    before = shown(rig, frames)
    key(controls, look.name, frames, Matrix.Translation((0.1, 0.0, 0.05)))
    head = rig.data.bones["bip01_head"]
    below = {head.name, *(bone.name for bone in head.children_recursive)}
    assert changed_bones(rig, before, frames) == below


@needs_corpus
def test_mirror_motion_exchanges_the_sides_of_a_creature():
    rig, controls, _, frames = playing_rat()
    poses = shown(rig, frames)
    bpy.context.view_layer.objects.active = rig
    copy = mirror(rig)
    assert controls.animation_data.action == copy.motionbridge_controls
    check_mirrored(rig, poses, frames)


@needs_corpus
def test_spread_pose_adds_a_change_of_a_paw_around_its_frame():
    rig, controls, _, frames = playing_rat()
    goal, middle = control_of(controls, "ik", LEG[3]), frames[1]
    before = poses_of(rig, range(middle - 3, middle + 4), LEG[3:])
    select(controls, goal)
    bpy.context.scene.frame_set(middle)
    controls.pose.bones[goal].location.z += 0.02
    bpy.context.view_layer.update()
    assert bpy.ops.motionbridge.spread_pose(first=middle, last=middle, fade_in=3, fade_out=3) == {"FINISHED"}
    after = poses_of(rig, range(middle - 3, middle + 4), LEG[3:])
    moved = np.linalg.norm((after - before)[:, 0, :3, 3], axis=-1)
    assert moved[3] == pytest.approx(0.02, abs=SOLVED)
    assert np.all(np.diff(moved[:4]) > -1e-6)
    assert moved[[0, 6]].max() < SOLVED


DOORS = {"wpn_colt1911": 26, "type10_rigid_brkbl": 9, "embedded_motions_af_soul": 11}
"""Models without a body -> their bones."""


@needs_corpus
@pytest.mark.parametrize("model", DOORS)
def test_what_is_no_body_gets_plain_controls(model):
    bpy.ops.import_scene.xray_ogf(filepath=str(CORPUS / "ogf" / f"{model}.ogf"), motions="NONE")
    rig = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.motionbridge.add_control_rig() == {"FINISHED"}
    bones = control_links.controls_of(rig).data.bones
    roles = {Role(bone[control_links.ROLE]) for bone in bones}
    assert roles <= {Role.ROOT, Role.FREE, Role.TARGET, Role.SOCKET}
    assert sum(bone[control_links.ROLE] == Role.FREE.value for bone in bones) == DOORS[model] == len(rig.data.bones)


@pytest.mark.parametrize("file", corpus_files("rtm/dog_runfront.rtm"))
def test_the_dog_of_arma_has_four_legs_with_hocks_and_its_animation_stays(file, capsys):
    """Its front legs have no parents, and its neck is on a collar bone."""
    pivots = {"pivots": PivotsFrom.MODEL, "pivots_model": str(CORPUS / "p3d" / "dog_skeleton_pivots.p3d")}
    done = load(file, config=str(CORPUS / "rtm" / "dog_model.cfg"), **pivots)
    actual = Shown(done.rig, [done.action])
    bpy.context.view_layer.objects.active = done.rig
    assert bpy.ops.motionbridge.add_control_rig() == {"FINISHED"}
    actual.compare(file.name, capsys)
    assert exported(done) == file.read_bytes()
    controls = control_links.controls_of(done.rig)
    controls.pose.bones["root"]["looked at"] = 1.0
    assert exported(done) == file.read_bytes()
    hocks = [bone for bone in controls.data.bones if bone[control_links.ROLE] == Role.HOCK.value]
    assert len(hocks) == len(control_rig.goals_of(controls)) == 4
    assert len(control_rig.looks_of(controls)) == 1


@needs_corpus
@pytest.mark.parametrize("model", ["dog_big", "radium_chimera"])
def test_controls_of_a_creature_have_names_that_blender_flips_and_colors(model):
    bpy.ops.import_scene.xray_ogf(filepath=str(CORPUS / "ogf" / f"{model}.ogf"), motions="NONE")
    rig = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.motionbridge.add_control_rig() == {"FINISHED"}
    controls = control_links.controls_of(rig)
    names = set(controls.data.bones.keys())
    limbs = [control_rig.limb_of(goal) for goal in control_rig.goals_of(controls)]
    assert sorted(limbs) == ["Left Arm", "Left Leg", "Right Arm", "Right Leg"]
    wanted = {"torso", "chest", "foot_ik.L", "knee_pole.L", "elbow_pole.R"}
    if model == "dog_big":
        wanted |= {"finger0_ik.L", "hand_hock.R", "horselink_hock.L", "jaw_fk", "head_look"}
    else:
        wanted |= {"hand_ik.R", "leg_1_hock.L", "head_boss_look", "head_little_look", "boss_jaw_fk", "jaw_little_fk"}
    assert wanted <= names
    posed = {bone.name for bone in controls.data.bones if Role(bone[control_links.ROLE]) not in HIDDEN}
    assert {name for name in posed if name.endswith(".L") and f"{name[:-1]}R" not in posed} == set()
    assert {controls.data.bones[name].color.palette for name in wanted} == {"CUSTOM"}
