"""A bone renamed on a duplicated armature: both armatures keep the keys of the motions that they share."""

import shutil
from pathlib import Path

import bpy
import numpy as np
import pytest

from addon.blender import compat, control_rig
from addon.blender.control_links import control_action, controls_of
from addon.core.report import Report
from addon.games.renamed_bones import follow_renames
from addon.games.xray.motions import library
from tests.blender.test_action_lists import load, save_back
from tests.blender.test_renamed_bones import a_keyed_bone, bones_named_by

SAVED = Path(__file__).resolve().parents[1] / "saved" / "0.1.0"


@pytest.fixture
def game(samples, tmp_path):
    for name in ("humanoid.ogf", "humanoid.omf"):
        shutil.copy(samples / name, tmp_path / name)
    return tmp_path


def duplicate(*chosen):
    """Shift D; the copy of the first object."""
    bpy.ops.object.select_all(action="DESELECT")
    for entry in chosen:
        entry.hide_set(False)
        entry.select_set(True)
    bpy.context.view_layer.objects.active = chosen[0]
    bpy.ops.object.duplicate()
    return bpy.context.view_layer.objects.active


def motions(rig):
    return library.motions_of(rig.motionbridge_motion_files[0])


def poses(rig, actions):
    """(actions, bones, 4, 4) on their second frames."""
    playing, result = rig.animation_data.action, []
    for action in actions:
        compat.assign(rig, action)
        bpy.context.scene.frame_set(2)
        result.append([np.array(bone.matrix) for bone in rig.pose.bones])
    compat.assign(rig, playing)
    return np.array(result)


def save_back_of(rig):
    bpy.context.view_layer.objects.active = rig
    return save_back()


@pytest.mark.parametrize("renamed", ["original", "copy"])
@pytest.mark.parametrize("exchanged", [False, True])
def test_each_armature_keeps_its_motions(game, renamed, exchanged):
    rig = load(game)
    before = (game / "humanoid.omf").read_bytes()
    copy = duplicate(rig)
    own_poses = [poses(own_entry, motions(own_entry)) for own_entry in (rig, copy)]
    assert len(set(motions(rig)) & set(motions(copy))) == 4
    bones = (rig if renamed == "original" else copy).data.bones
    old, other = a_keyed_bone(rig), list(bones.keys())[-1]
    bones[old].name = "fresh"
    if exchanged:
        bones[other].name = old
        bones["fresh"].name = other
    follow_renames(report := Report())
    assert report.notes["an armature shared actions with another; it has copies of them now"] == [copy.name]
    assert not set(motions(rig)) & set(motions(copy))
    assert not any(action.name.endswith(".001") for action in motions(rig))
    assert all(action.use_fake_user for action in motions(copy)[1:])
    for entry, then in zip((rig, copy), own_poses, strict=True):
        np.testing.assert_allclose(poses(entry, motions(entry)), then, atol=1e-5)
        assert save_back_of(entry) == {"CANCELLED"}
    assert (game / "humanoid.omf").read_bytes() == before


@pytest.mark.parametrize("renamed", ["original", "copy"])
def test_a_motion_that_both_play_moves_both(game, renamed):
    rig = load(game)
    before = (game / "humanoid.omf").read_bytes()
    copy = duplicate(rig)
    for entry in (rig, copy):
        library.play(bpy.context, entry, bpy.data.actions["idle"])
    own_poses = [poses(own_entry, motions(own_entry)) for own_entry in (rig, copy)]
    (rig if renamed == "original" else copy).data.bones[a_keyed_bone(rig)].name = "fresh"
    follow_renames(Report())
    assert rig.animation_data.action == bpy.data.actions["idle"]
    assert copy.animation_data.action == bpy.data.actions["idle.001"]
    for entry, then in zip((rig, copy), own_poses, strict=True):
        np.testing.assert_allclose(poses(entry, motions(entry)), then, atol=1e-5)
        assert save_back_of(entry) == {"CANCELLED"}
    assert (game / "humanoid.omf").read_bytes() == before


def test_a_third_armature_and_a_strip(game):
    rig = load(game)
    rig.animation_data.nla_tracks.new().strips.new("wave", 1, bpy.data.actions["wave"])
    copies = [duplicate(rig), duplicate(rig)]
    for number, entry in enumerate(copies):
        entry.data.bones[a_keyed_bone(entry)].name = f"fresh {number}"
        follow_renames(Report())
    for entry in (rig, *copies):
        (strip,) = entry.animation_data.nla_tracks[0].strips
        assert strip.action in motions(entry)
        bones = set(entry.data.bones.keys())
        assert all(bones_named_by(action) <= bones for action in motions(entry))
    assert len({action for own_entry in (rig, *copies) for action in motions(own_entry)}) == 15


def test_an_armature_without_a_common_bone_name_keeps_the_actions_as_they_are(game):
    rig = load(game)
    copy = duplicate(rig)
    count = len(bpy.data.actions)
    old = a_keyed_bone(rig)
    for entry in (rig, copy):
        entry.data.bones[old].name = "fresh"
    follow_renames(Report())
    assert len(bpy.data.actions) == count
    assert all("fresh" in bones_named_by(action) for action in bpy.data.actions)


def test_undo_and_redo_of_the_rename(game):
    rig = load(game)
    before = (game / "humanoid.omf").read_bytes()
    duplicate(rig)
    old = a_keyed_bone(rig)
    bpy.ops.ed.undo_push(message="duplicated")
    bpy.data.objects["humanoid.001"].data.bones[old].name = "fresh"
    bpy.ops.ed.undo_push(message="renamed")
    follow_renames(Report())  # as the window's timer does, after the step was stored
    for step, name in ((bpy.ops.ed.undo, old), (bpy.ops.ed.redo, "fresh"), (bpy.ops.ed.undo, old)):
        step()
        follow_renames(Report())
        for owner, bone in (("humanoid", old), ("humanoid.001", name)):
            obj = bpy.data.objects[owner]
            assert bone in obj.data.bones
            assert all(bone in bones_named_by(action) for action in motions(obj))
            assert save_back_of(obj) == {"CANCELLED"}
    assert (game / "humanoid.omf").read_bytes() == before


def test_motions_of_the_editor(tmp_path, samples):
    shutil.copy(SAVED / "humanoid.skls", tmp_path)
    bpy.ops.import_scene.xray_ogf(filepath=str(samples / "humanoid.ogf"))
    bpy.ops.import_scene.xray_skl(filepath=str(tmp_path / "humanoid.skls"))
    rig = bpy.context.view_layer.objects.active
    copy = duplicate(rig)
    copy.data.bones[a_keyed_bone(rig)].name = "fresh"
    for entry in (rig, copy):
        bpy.context.view_layer.objects.active = entry
        assert bpy.ops.export_scene.xray_skl(filepath=str(tmp_path / "new.skls")) == {"FINISHED"}
        assert (tmp_path / "new.skls").read_bytes() == (tmp_path / "humanoid.skls").read_bytes()


def test_animations_of_arma(tmp_path, samples):
    names = ("walk", "walk_binarised")
    for name in names:
        bpy.ops.import_scene.arma_rtm(filepath=str(samples / "arma" / f"{name}.rtm"))
    rig = next(owner for owner in bpy.data.objects if owner.type == "ARMATURE")
    copy = duplicate(rig)
    old = next(iter(bones_named_by(rig.animation_data.action) - {""}))
    copy.data.bones[old].name = "fresh"
    follow_renames(Report())
    for entry, bone in ((rig, old), (copy, "fresh")):
        bpy.context.view_layer.objects.active = entry
        rows = [row.action for row in entry.motionbridge_animations]
        assert len(rows) == 2
        for name, action in zip(names, rows, strict=True):
            assert bone in bones_named_by(action)
            compat.assign(entry, action)
            bpy.ops.export_scene.arma_rtm(filepath=str(tmp_path / "new.rtm"))
            assert (tmp_path / "new.rtm").read_bytes() == (samples / "arma" / f"{name}.rtm").read_bytes()


@pytest.mark.parametrize("of_controls", [False, True])
def test_motions_that_were_moved_to_controls(game, of_controls):
    rig = load(game)
    controls = control_rig.add(bpy.context, rig)
    for action in motions(rig):
        library.play(bpy.context, rig, action)
    copy = duplicate(rig, controls)
    mine = controls_of(copy)
    assert mine not in {None, controls}
    own_poses = [poses_with_controls(own_entry) for own_entry in (rig, copy)]
    renamed = mine if of_controls else copy
    bone = next(iter(bones_named_by(control_action(rig, motions(rig)[0])))) if of_controls else a_keyed_bone(copy)
    renamed.data.bones[bone].name = "fresh"
    follow_renames(Report())
    for entry, then in zip((rig, copy), own_poses, strict=True):
        np.testing.assert_allclose(poses_with_controls(entry), then, atol=1e-4)
    of_each = [{control_action(own_entry, action) for action in motions(own_entry)} for own_entry in (rig, copy)]
    assert not of_each[0] & of_each[1]


def poses_with_controls(rig):
    result = []
    for action in motions(rig):
        library.play(bpy.context, rig, action)
        bpy.context.scene.frame_set(2)
        result.append([np.array(bone.matrix) for bone in rig.pose.bones])
    return np.array(result)


@pytest.mark.parametrize("mode", ["OBJECT", "EDIT"])
def test_a_motion_played_right_after_bones_exchanged_names_loses_no_keys(game, mode):
    rig = load(game)
    before = (game / "humanoid.omf").read_bytes()
    own_poses = poses(rig, motions(rig))
    first, other = "upperarm_l", "upperarm_r"
    bpy.ops.object.mode_set(mode=mode)
    for old, new in ((first, "spare"), (other, first), ("spare", other)):
        (rig.data.edit_bones if mode == "EDIT" else rig.data.bones)[old].name = new
    library.play(bpy.context, rig, bpy.data.actions["idle"])
    assert rig.mode == mode
    bpy.ops.object.mode_set(mode="OBJECT")
    follow_renames(Report())
    np.testing.assert_allclose(poses(rig, motions(rig)), own_poses, atol=1e-5)
    assert save_back() == {"CANCELLED"}
    assert (game / "humanoid.omf").read_bytes() == before


def test_a_shared_motion_played_right_after_the_rename_is_the_armatures_own(game):
    rig = load(game)
    copy = duplicate(rig)
    copy.data.bones[a_keyed_bone(copy)].name = "fresh"
    library.play(bpy.context, copy, bpy.data.actions["idle"])
    assert copy.animation_data.action == bpy.data.actions["idle.001"]
    assert bones_named_by(bpy.data.actions["idle"]) <= set(rig.data.bones.keys())
