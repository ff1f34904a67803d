"""Export, Save Back and the check of the editor's models through their operators and panels."""

import bpy

from addon.core.report import Report
from addon.formats.xray import object as editor_model
from tests.blender.test_ui import refusal


def imported(samples, tmp_path):
    """The sample imported from a copy: its path, its armature, its mesh."""
    path = tmp_path / "weapon.object"
    path.write_bytes((samples / "weapon.object").read_bytes())
    assert bpy.ops.import_scene.xray_object(filepath=str(path), textures=False) == {"FINISHED"}
    rig = bpy.context.view_layer.objects.active
    return path, rig, next(shown for shown in rig.children if shown.type == "MESH")


def model_at(path):
    return editor_model.read(path.read_bytes(), path.name, Report()).model


def test_an_unedited_model_is_exported_byte_for_byte(samples, tmp_path):
    path, _, _ = imported(samples, tmp_path)
    copy = tmp_path / "copy.object"
    assert bpy.ops.export_scene.xray_object(filepath=str(copy)) == {"FINISHED"}
    assert copy.read_bytes() == path.read_bytes()


def test_saved_back_with_a_backup(samples, tmp_path):
    path, rig, shown = imported(samples, tmp_path)
    before = path.read_bytes()
    assert bpy.ops.motionbridge.editor_model_save_back() == {"CANCELLED"}  # no changes
    shown.data.vertices[0].co.z += 1
    bpy.context.view_layer.objects.active = shown
    assert bpy.ops.motionbridge.editor_model_save_back(backup=True) == {"FINISHED"}
    assert path.read_bytes() != before
    assert any(other.read_bytes() == before for other in tmp_path.iterdir() if other != path)
    # What is on disk is known now, to the motions inside as well.
    action = rig.animation_data.action
    action.motionbridge_motion.speed = 1.75
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.motionbridge.skeletal_save_back() == {"FINISHED"}
    assert model_at(path).motions[0].timing[0] == 1.75
    shown.data.vertices[1].co.z += 1
    assert bpy.ops.motionbridge.editor_model_save_back() == {"FINISHED"}
    assert model_at(path).motions[0].timing[0] == 1.75


def test_a_file_that_others_changed_is_not_replaced_unasked(samples, tmp_path):
    path, _, shown = imported(samples, tmp_path)
    shown.data.vertices[0].co.z += 1
    path.write_bytes(path.read_bytes() + b"\0")
    assert "no longer the one" in refusal(bpy.ops.motionbridge.editor_model_save_back)
    assert bpy.ops.motionbridge.editor_model_save_back(if_changed="IMPORTED") == {"FINISHED"}


def test_the_check_selects_what_editors_refuse(samples, tmp_path):
    _, rig, shown = imported(samples, tmp_path)
    assert bpy.ops.motionbridge.editor_model_check() == {"FINISHED"}
    assert bpy.context.mode == "OBJECT"
    for group in shown.vertex_groups:
        group.remove([3, 5])
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.motionbridge.editor_model_check() == {"FINISHED"}
    assert bpy.context.mode == "EDIT_MESH"
    bpy.ops.object.mode_set(mode="OBJECT")
    assert [one.index for one in shown.data.vertices if one.select] == [3, 5]
    shown.data.materials.clear()
    shown.vertex_groups.new(name="strange").add([7], 1.0, "REPLACE")
    assert bpy.ops.motionbridge.editor_model_check(number=0) == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert all(one.select for one in shown.data.polygons)
    assert bpy.ops.motionbridge.editor_model_check(number=9) == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert [one.index for one in shown.data.vertices if one.select] == [7]


def test_nothing_to_export_is_refused():
    assert not bpy.ops.export_scene.xray_object.poll()
    assert not bpy.ops.motionbridge.editor_model_save_back.poll()
    assert not bpy.ops.motionbridge.editor_model_check.poll()
