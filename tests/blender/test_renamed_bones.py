"""Bones renamed in Blender: keys of every motion follow them, in every format, and nothing counts as edited."""

import shutil
from pathlib import Path

import bpy
import numpy as np
import pytest

from addon.blender import compat
from addon.blender.bone_curves import bone_of
from addon.core.report import Report
from addon.games.renamed_bones import follow_renames, renames
from tests.blender.test_action_lists import bodies_in, load, save_back
from tests.blender.test_ui import refusal

SAVED = Path(__file__).resolve().parents[1] / "saved" / "0.1.0"
NEW_NAMES = ["upper arm", 'odd "name"\\', "BIP01 NEW"]


@pytest.fixture
def game(samples, tmp_path):
    for name in ("humanoid.ogf", "humanoid.omf"):
        shutil.copy(samples / name, tmp_path / name)
    return tmp_path


def bones_named_by(action) -> set[str]:
    return {bone_of(curve.data_path) for curve in compat.curve_bag(action).fcurves}


def a_keyed_bone(rig) -> str:
    return next(bone.name for bone in rig.data.bones if bone.parent and bone.parent.parent)


@pytest.mark.parametrize("new", NEW_NAMES)
def test_keys_of_motions_that_do_not_play_follow_a_renamed_bone(game, new):
    rig = load(game)
    before = (game / "humanoid.omf").read_bytes()
    old = a_keyed_bone(rig)
    assert all(old in bones_named_by(action) for action in bpy.data.actions)
    rig.data.bones[old].name = new
    assert old in bones_named_by(bpy.data.actions["idle"]), "Blender follows renames itself now"
    assert save_back() == {"CANCELLED"}
    assert (game / "humanoid.omf").read_bytes() == before
    for action in bpy.data.actions:
        assert old not in bones_named_by(action)
        assert new in bones_named_by(action)
        groups = {group.name for group in compat.curve_bag(action).groups}
        assert new in groups
        assert old not in groups


def test_an_edit_after_a_rename_is_that_edit_alone(game):
    rig = load(game)
    before = bodies_in(game / "humanoid.omf")
    rig.data.bones[a_keyed_bone(rig)].name = "renamed"
    follow_renames(Report())
    curve = next(
        fcurve
        for fcurve in compat.curve_bag(bpy.data.actions["idle"]).fcurves
        if fcurve.data_path == 'pose.bones["renamed"].rotation_quaternion' and fcurve.array_index == 1
    )
    curve.keyframe_points[0].co.y += 0.2
    assert save_back() == {"FINISHED"}
    now = bodies_in(game / "humanoid.omf")
    assert [name for name in before if now[name] != before[name]] == ["idle"]


def test_bones_renamed_in_edit_mode_keep_their_keys_once_it_is_left(game):
    rig = load(game)
    before = (game / "humanoid.omf").read_bytes()
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    first, other = "upperarm_l", "upperarm_r"
    for old, new in ((first, "spare"), (other, first), ("spare", other)):
        rig.data.edit_bones[old].name = new
    assert "renamed in edit mode. Leave edit mode" in refusal(save_back)
    assert rig.mode == "EDIT"
    follow_renames(Report())  # as the sidebar does meanwhile
    bpy.ops.object.mode_set(mode="OBJECT")
    assert save_back() == {"CANCELLED"}
    assert (game / "humanoid.omf").read_bytes() == before


def test_two_renames_in_a_row_and_a_chain(game):
    rig = load(game)
    first, second = (bone.name for bone in list(rig.data.bones)[2:4])
    rig.data.bones[first].name = "once"
    follow_renames(Report())
    rig.data.bones["once"].name = "twice"
    rig.data.bones[second].name = "spare"
    rig.data.bones["twice"].name = second
    assert save_back() == {"CANCELLED"}
    assert {first, "once", "twice"}.isdisjoint(set().union(*map(bones_named_by, bpy.data.actions)))


def poses(rig) -> dict[str, np.ndarray]:
    """Of each action and bone, by the place of the bone, where it is on the action's second frame."""
    playing = rig.animation_data.action
    result = {}
    for action in bpy.data.actions:
        compat.assign(rig, action, compat.suitable_slot(action, rig))
        bpy.context.scene.frame_set(2)
        result[action.name] = np.array([bone.matrix for bone in rig.pose.bones])
    compat.assign(rig, playing, compat.suitable_slot(playing, rig))
    return result


@pytest.mark.parametrize("chained", [False, True])
def test_two_bones_that_exchange_names_keep_their_keys_in_every_motion(game, chained):
    rig = load(game)
    before = (game / "humanoid.omf").read_bytes()
    own_poses = poses(rig)
    first, second = (bone.name for bone in list(rig.data.bones)[2:4])
    rig.data.bones[first].name = "spare"
    rig.data.bones[second].name = first
    rig.data.bones["spare"].name = "third" if chained else second
    follow_renames(Report())
    now = poses(rig)
    assert all(np.allclose(now[name], own_poses[name], atol=1e-5) for name in own_poses)
    assert save_back() == {"CANCELLED"}
    assert (game / "humanoid.omf").read_bytes() == before


@pytest.mark.parametrize("extra", ["", "added", "deleted"])
def test_bones_that_exchange_names_before_another_motion_is_chosen_in_edit_mode_keep_their_keys(game, extra):
    rig = load(game)
    before = (game / "humanoid.omf").read_bytes()
    own_poses = poses(rig)
    first, second, last = (list(rig.data.bones)[number].name for number in (2, 3, -1))
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    for old, new in ((first, "spare"), (second, first), ("spare", second)):
        bones[old].name = new
        follow_renames(Report())  # as after each change of an armature
    other = bpy.data.actions["nod"]
    assert rig.animation_data.action != other
    compat.assign(rig, other, compat.suitable_slot(other, rig))
    if extra == "added":
        bones.new("more").length = 0.1
        follow_renames(Report())
        bones["more"].name = "less"
    elif extra == "deleted":
        bones.remove(bones[last])
    follow_renames(Report())
    bpy.ops.object.mode_set(mode="OBJECT")
    follow_renames(Report())
    now = poses(rig)
    both = min(len(now["nod"]), len(own_poses["nod"]))
    assert all(np.allclose(now[name][:both], own_poses[name][:both], atol=1e-5) for name in own_poses)
    if extra != "deleted":
        assert save_back() == {"CANCELLED"}
    assert (game / "humanoid.omf").read_bytes() == before
    assert not renames(rig.data)


def test_a_duplicated_bone_takes_no_keys(game):
    rig = load(game)
    bpy.ops.object.mode_set(mode="EDIT")
    old = a_keyed_bone(rig)
    for bone in rig.data.edit_bones:
        bone.select = bone.select_head = bone.select_tail = bone.name == old
    bpy.ops.armature.duplicate()
    bpy.ops.object.mode_set(mode="OBJECT")
    assert renames(rig.data) == {}
    rig.data.bones[old].name = "moved"
    assert renames(rig.data) == {old: "moved"}
    assert save_back() == {"CANCELLED"}


def test_bones_of_editor_motions_keep_their_curves(tmp_path, samples):
    shutil.copy(SAVED / "humanoid.skls", tmp_path)
    bpy.ops.import_scene.xray_ogf(filepath=str(samples / "humanoid.ogf"))
    bpy.ops.import_scene.xray_skl(filepath=str(tmp_path / "humanoid.skls"))
    rig = bpy.context.view_layer.objects.active
    rig.data.bones[a_keyed_bone(rig)].name = "renamed"
    assert bpy.ops.export_scene.xray_skl(filepath=str(tmp_path / "new.skls")) == {"FINISHED"}
    assert (tmp_path / "new.skls").read_bytes() == (tmp_path / "humanoid.skls").read_bytes()


def test_bones_of_an_animation_of_arma_keep_their_names_in_the_file(tmp_path, samples):
    for name in ("walk.rtm", "walk_binarised.rtm"):
        bpy.ops.import_scene.arma_rtm(filepath=str(samples / "arma" / name))
    rig = next(owner for owner in bpy.data.objects if owner.type == "ARMATURE")
    bpy.context.view_layer.objects.active = rig
    old = next(iter(bones_named_by(rig.animation_data.action) - {""}))
    rig.data.bones[old].name = "renamed"
    for name in ("walk", "walk_binarised"):
        compat.assign(rig, bpy.data.actions[name])
        bpy.ops.export_scene.arma_rtm(filepath=str(tmp_path / "new.rtm"))
        assert (tmp_path / "new.rtm").read_bytes() == (samples / "arma" / f"{name}.rtm").read_bytes()


def test_actions_of_another_armature_with_such_a_bone_stay(game):
    rig = load(game)
    other = load(game)
    theirs = [action for action in bpy.data.actions if action.name.endswith(".001")]
    old = a_keyed_bone(rig)
    rig.data.bones[old].name = "renamed"
    follow_renames(Report())
    assert len(theirs) == 5
    assert all(old in bones_named_by(action) for action in theirs)
    assert all("renamed" in bones_named_by(action) for action in bpy.data.actions if action not in theirs)
    assert old in other.data.bones
