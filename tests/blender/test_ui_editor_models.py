"""Export, Save Back and the check of the editor's models through their operators and panels."""

from dataclasses import replace

import bpy
import numpy as np

from addon.blender import compat
from addon.core.report import Report
from addon.formats.xray import object as editor_model
from addon.formats.xray import skl
from addon.formats.xray.object.mesh_chunks import Points
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


def bytes_of(motion):
    return skl.write(skl.new_skls([motion]))


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


def test_model_and_motions_are_saved_together(samples, tmp_path):
    path, rig, shown = imported(samples, tmp_path)
    before = model_at(path)
    action = rig.animation_data.action
    action.motionbridge_motion.speed = 1.75
    action.motionbridge_motion.motion_name = "other"
    assert bpy.ops.motionbridge.editor_model_save_back() == {"FINISHED"}
    after = model_at(path)
    assert [(motion.label, motion.timing[0]) for motion in after.motions] == [("other", 1.75)]
    np.testing.assert_array_equal(before.meshes[0].first(Points).positions, after.meshes[0].first(Points).positions)
    assert bpy.ops.motionbridge.editor_model_save_back() == {"CANCELLED"}  # no changes
    shown.data.vertices[0].co.z += 1
    action.motionbridge_motion.power = 0.5
    assert bpy.ops.motionbridge.editor_model_save_back() == {"FINISHED"}
    again = model_at(path)
    assert len(again.motions) == 1
    assert again.motions[0].timing[3] == 0.5
    moved = (before.meshes[0].first(Points).positions != again.meshes[0].first(Points).positions).any(axis=1)
    assert np.flatnonzero(moved).tolist() == [0]
    # Both ways to save know of each other.
    assert bpy.ops.motionbridge.skeletal_save_back() == {"CANCELLED"}
    # What was edited since is in an export of the model too; without Motions it is not.
    action.motionbridge_motion.power = 0.25
    copy = tmp_path / "copy.object"
    assert bpy.ops.export_scene.xray_object(filepath=str(copy), motions=False) == {"FINISHED"}
    assert model_at(copy).motions[0].timing[3] == 0.5
    assert bpy.ops.export_scene.xray_object(filepath=str(copy)) == {"FINISHED"}
    assert model_at(copy).motions[0].timing[3] == 0.25


def test_keys_are_saved_with_the_model(samples, tmp_path):
    path, rig, _ = imported(samples, tmp_path)
    (before,) = model_at(path).motions
    curve = next(
        one for one in compat.curve_bag(rig.animation_data.action).fcurves if one.data_path.endswith("location")
    )
    curve.keyframe_points.insert(before.last + 0.0, curve.evaluate(before.last) + 0.5)
    assert bpy.ops.motionbridge.editor_model_save_back() == {"FINISHED"}
    (after,) = model_at(path).motions
    pairs = zip(before.tracks, after.tracks, strict=True)
    assert (
        sum(
            bytes_of(replace(before, tracks=[one])) != bytes_of(replace(before, tracks=[other])) for one, other in pairs
        )
        == 1
    )


def test_a_new_model_has_the_motions_of_its_armature(samples, tmp_path):
    path, rig, _ = imported(samples, tmp_path)
    held = model_at(path).motions
    copy = tmp_path / "new.object"
    rig.motionbridge_editor_model.is_model = False
    assert bpy.ops.export_scene.xray_object(filepath=str(copy)) == {"FINISHED"}
    made = model_at(copy)
    assert list(map(bytes_of, made.motions)) == list(map(bytes_of, held))
    assert [one.chunk.id for one in made.sections].index(0x916) == 7  # behind the bones, as the SDK has it
    assert bpy.ops.export_scene.xray_object(filepath=str(copy), motions=False) == {"FINISHED"}
    assert model_at(copy).motions == []


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
