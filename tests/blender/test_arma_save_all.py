"""Save All Animations: every edited animation of an armature to its file, copies and new ones into a folder."""

import os
import shutil
from pathlib import Path

import bpy
import pytest

from addon.core import files
from addon.core.report import Report
from addon.games.arma import animation_edit, animation_import
from addon.games.plan import OtherBase
from addon.ui.arma import panels
from tests.blender.rtm_scene import curve_of
from tests.blender.test_arma_list import folder, rig
from tests.blender.test_rtm import drawn_animation
from tests.blender.test_ui import last_report, refusal
from tests.blender.test_written_motions import as_in_a_window, drawn

__all__ = ["folder", "rig"]


def edit(action, by=0.5):
    curve_of(action, "head", "location", 0).keyframe_points[1].co[1] += by


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_only_edited_animations_are_written(rig, folder):
    before = contents(folder)
    edit(bpy.data.actions["wave"])  # not the one that plays
    dialog = as_in_a_window(panels.MOTIONBRIDGE_OT_arma_save_all)
    dialog.check(bpy.context)
    message = drawn(dialog)
    assert "1 animation changed, 1 unchanged" in message
    assert "wave.rtm: 1 bone, 1 frame changed, 1 unchanged" in message
    assert contents(folder) == before
    assert dialog.execute(bpy.context) == {"FINISHED"}
    after = contents(folder)
    assert after["nod.rtm"] == before["nod.rtm"]
    assert after["wave.rtm"] != before["wave.rtm"]
    assert after["wave.rtm.bak"] == before["wave.rtm"]
    assert "nod.rtm.bak" not in after
    assert bpy.ops.motionbridge.arma_save_all() == {"CANCELLED"}  # nothing is left to save
    assert last_report() == ["No changes to save"]
    assert contents(folder) == after


def test_each_animation_is_written_as_it_would_be_alone(rig, folder, tmp_path_factory):
    for name in ("nod", "wave"):
        edit(bpy.data.actions[name])
    alone = tmp_path_factory.mktemp("alone")
    for action in animation_import.animations_of(rig):
        plan = animation_edit.plan_save_back(bpy.context, rig, action, if_changed=OtherBase.REFUSE, report=Report())
        (alone / f"{action.name}.rtm").write_bytes(plan.data)
    assert bpy.ops.motionbridge.arma_save_all(backup=False) == {"FINISHED"}
    assert contents(folder) == contents(alone)


def test_copies_and_new_animations_go_into_the_chosen_folder(rig, folder, tmp_path_factory):
    chosen = tmp_path_factory.mktemp("new")
    before = contents(folder)
    copy = bpy.data.actions["nod"].copy()
    copy.name = "nod twice"
    edit(copy)
    animation_import.add(rig, copy, animation_import.ADDED_LATER)
    assert bpy.ops.motionbridge.arma_save_all() == {"CANCELLED"}
    edit(bpy.data.actions["wave"])
    dialog = as_in_a_window(panels.MOTIONBRIDGE_OT_arma_save_all)
    dialog.check(bpy.context)
    assert "Animations without a file, which need a folder: 1" in drawn(dialog)
    edit(bpy.data.actions["wave"], -0.5)
    assert bpy.ops.motionbridge.arma_save_all(folder=str(chosen)) == {"FINISHED"}
    assert contents(folder) == before
    assert list(contents(chosen)) == ["nod_twice.rtm"]
    assert contents(chosen)["nod_twice.rtm"] != before["nod.rtm"]
    assert bpy.ops.motionbridge.arma_save_all() == {"CANCELLED"}
    edit(copy)  # it has a file of its own now
    assert bpy.ops.motionbridge.arma_save_all() == {"FINISHED"}
    assert contents(folder) == before
    assert sorted(contents(chosen)) == ["nod_twice.rtm", "nod_twice.rtm.bak"]


def test_an_edited_copy_that_plays_is_written_by_save_all(rig, folder):
    before = contents(folder)
    copy = bpy.data.actions["nod"].copy()
    rig.animation_data.action = copy
    edit(copy)
    dialog = as_in_a_window(panels.MOTIONBRIDGE_OT_arma_save_all)
    dialog.check(bpy.context)
    message = drawn(dialog)
    assert "No changes to save" in message
    assert "Animations without a file, which need a folder: 1" in message
    assert bpy.ops.motionbridge.arma_save_all() == {"CANCELLED"}
    assert last_report() == ["No changes to save. Animations without a file, which need a folder: 1"]
    dialog = as_in_a_window(panels.MOTIONBRIDGE_OT_arma_save_all)
    dialog.suggest(bpy.context)
    assert dialog.folder == str(folder)
    dialog.check(bpy.context)
    message = drawn(dialog)
    assert "nod_001.rtm: new" in message
    assert dialog.execute(bpy.context) == {"FINISHED"}
    assert {name: data for name, data in contents(folder).items() if name != "nod_001.rtm"} == before
    assert contents(folder)["nod_001.rtm"] != before["nod.rtm"]
    assert animation_import.animations_of(rig)[-1] == copy
    assert rig.motionbridge_animations[-1].action == copy
    assert bpy.ops.motionbridge.arma_save_all() == {"CANCELLED"}


def test_two_animations_of_one_file_are_refused(rig, folder, tmp_path_factory):
    assert bpy.ops.import_scene.arma_rtm(filepath=str(folder / "nod.rtm")) == {"FINISHED"}
    before = contents(folder)
    for action in animation_import.animations_of(rig):
        edit(action)
    assert "would be written to the same file" in refusal(bpy.ops.motionbridge.arma_save_all)
    assert contents(folder) == before


def test_a_file_that_others_changed_is_asked_about_before_any_is_written(rig, folder):
    for action in animation_import.animations_of(rig):
        edit(action)
    shutil.copy(folder / "nod.rtm", folder / "wave.rtm")
    before = contents(folder)
    assert "no longer the one that was imported" in refusal(bpy.ops.motionbridge.arma_save_all)
    assert contents(folder) == before
    assert bpy.ops.motionbridge.arma_save_all(if_changed="IMPORTED", backup=False) == {"FINISHED"}
    assert all(contents(folder)[name] != before[name] for name in before)


def test_a_protected_file_stops_before_any_is_written(rig, folder, monkeypatch):
    for name in ("nod", "wave"):
        edit(bpy.data.actions[name])
    before, last = contents(folder), animation_import.animations_of(rig)[-1]
    protected, asked = Path(bpy.path.abspath(last.motionbridge_animation.path)), os.access
    monkeypatch.setattr(files.os, "access", lambda path, mode: path != protected and asked(path, mode))
    assert "the file is write-protected" in refusal(bpy.ops.motionbridge.arma_save_all)
    assert contents(folder) == before


def test_an_action_without_keys_does_not_stop_the_others(rig, folder):
    empty = bpy.data.actions.new("empty")
    animation_import.add(rig, empty, animation_import.ADDED_LATER)
    edit(bpy.data.actions["wave"])
    assert bpy.ops.motionbridge.arma_save_all(folder=str(folder)) == {"FINISHED"}
    assert "left out: 'empty' has no keys of bones" in "\n".join(last_report())
    assert sorted(contents(folder)) == ["nod.rtm", "wave.rtm", "wave.rtm.bak"]


def test_hidden_keys_stop_before_anything_is_written(rig, folder):
    before = contents(folder)
    edit(bpy.data.actions["wave"])
    rig.pose.bones["head"].rotation_mode = "XYZ"
    assert "rotation mode" in refusal(bpy.ops.motionbridge.arma_save_all)
    assert contents(folder) == before
    assert bpy.ops.motionbridge.arma_save_all(hidden_keys="RESTORE") == {"FINISHED"}
    assert rig.pose.bones["head"].rotation_mode == "QUATERNION"
    assert contents(folder)["nod.rtm"] == before["nod.rtm"]


def test_animations_made_in_blender_are_saved_into_a_folder(tmp_path):
    created = drawn_animation()
    action = created.rig.animation_data.action
    animation_import.adopt(created.rig)
    bpy.context.view_layer.objects.active = created.rig
    assert bpy.ops.motionbridge.arma_save_all(folder=str(tmp_path)) == {"FINISHED"}
    assert list(contents(tmp_path)) == [f"{bpy.path.clean_name(action.name)}.rtm"]
    assert bpy.ops.motionbridge.arma_save_all() == {"CANCELLED"}


def test_an_armature_without_animations_has_no_such_button():
    bpy.context.view_layer.objects.active = None
    assert not bpy.ops.motionbridge.arma_save_all.poll()


@pytest.mark.parametrize("gone", ["folder", "file"])
def test_a_folder_that_cannot_be_written_is_refused(rig, tmp_path, gone):
    copy = bpy.data.actions["nod"].copy()
    animation_import.add(rig, copy, animation_import.ADDED_LATER)
    target = tmp_path / "missing" if gone == "folder" else tmp_path / "a file"
    if gone == "file":
        target.write_text("no folder")
    assert refusal(bpy.ops.motionbridge.arma_save_all, folder=str(target))
    assert not (target / "nod_001.rtm").exists()
