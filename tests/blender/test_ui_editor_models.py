"""Export, Save Back and the check of the editor's models through their operators and panels."""

from dataclasses import replace
from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from addon.blender import compat
from addon.core.report import Report
from addon.formats.xray import bones as bone_files
from addon.formats.xray import object as editor_model
from addon.formats.xray import skl
from addon.formats.xray.object.mesh_chunks import Points
from addon.games.xray.models.making import find_problems_of_new
from addon.ui.xray import editor_models, models
from tests.blender.scenes import add_object
from tests.blender.test_level_panel import Layout
from tests.blender.test_ui import refusal
from tests.real_files import corpus_files


def imported(samples, tmp_path):
    """The sample imported from a copy: its path, its armature, its mesh."""
    path = tmp_path / "weapon.object"
    path.write_bytes((samples / "weapon.object").read_bytes())
    assert bpy.ops.import_scene.xray_object(filepath=str(path), textures=False) == {"FINISHED"}
    rig = bpy.context.view_layer.objects.active
    return path, rig, next(child for child in rig.children if child.type == "MESH")


def model_at(path):
    return editor_model.read(path.read_bytes(), path.name, Report()).model


def bytes_of(motion):
    return skl.write(skl.new_skls([motion]))


@pytest.mark.parametrize("meshes", [True, False])
def test_bones_imported_alone_are_exported_into_their_model(samples, tmp_path, meshes):
    path = samples / "weapon.object"
    assert bpy.ops.import_scene.xray_object(filepath=str(path), textures=False, meshes=False) == {"FINISHED"}
    assert not [obj for obj in bpy.context.scene.objects if obj.type == "MESH"]
    copy = tmp_path / "copy.object"
    assert bpy.ops.export_scene.xray_object(filepath=str(copy), meshes=meshes) == {"FINISHED"}
    assert copy.read_bytes() == path.read_bytes()
    rig = bpy.context.view_layer.objects.active
    rig.data.bones[0].motionbridge_xray.mass = 17
    assert bpy.ops.export_scene.xray_object(filepath=str(copy), meshes=meshes) == {"FINISHED"}
    before, after = model_at(path), model_at(copy)
    assert bone_files.decode_bone(after.bones[0]).entry.mass == 17
    assert len(after.meshes) == len(before.meshes) == 1


def test_saved_back_with_a_backup(samples, tmp_path):
    path, rig, obj = imported(samples, tmp_path)
    before = path.read_bytes()
    assert bpy.ops.motionbridge.editor_model_save_back() == {"CANCELLED"}  # no changes
    obj.data.vertices[0].co.z += 1
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.motionbridge.editor_model_save_back(backup=True) == {"FINISHED"}
    assert path.read_bytes() != before
    assert any(other.read_bytes() == before for other in tmp_path.iterdir() if other != path)
    # What is on disk is known now, to the motions inside as well.
    action = rig.animation_data.action
    action.motionbridge_motion.speed = 1.75
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.motionbridge.skeletal_save_back() == {"FINISHED"}
    assert model_at(path).motions[0].timing[0] == 1.75
    obj.data.vertices[1].co.z += 1
    assert bpy.ops.motionbridge.editor_model_save_back() == {"FINISHED"}
    assert model_at(path).motions[0].timing[0] == 1.75


def test_model_and_motions_are_saved_together(samples, tmp_path):
    path, rig, obj = imported(samples, tmp_path)
    before = model_at(path)
    action = rig.animation_data.action
    action.motionbridge_motion.speed = 1.75
    action.motionbridge_motion.motion_name = "other"
    assert bpy.ops.motionbridge.editor_model_save_back() == {"FINISHED"}
    after = model_at(path)
    assert [(motion.label, motion.timing[0]) for motion in after.motions] == [("other", 1.75)]
    np.testing.assert_array_equal(before.meshes[0].first(Points).positions, after.meshes[0].first(Points).positions)
    assert bpy.ops.motionbridge.editor_model_save_back() == {"CANCELLED"}  # no changes
    obj.data.vertices[0].co.z += 1
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
        fcurve
        for fcurve in compat.curve_bag(rig.animation_data.action).fcurves
        if fcurve.data_path.endswith("location")
    )
    curve.keyframe_points.insert(before.last + 0.0, curve.evaluate(before.last) + 0.5)
    assert bpy.ops.motionbridge.editor_model_save_back() == {"FINISHED"}
    (after,) = model_at(path).motions
    pairs = zip(before.tracks, after.tracks, strict=True)
    assert (
        sum(
            bytes_of(replace(before, tracks=[first])) != bytes_of(replace(before, tracks=[other]))
            for first, other in pairs
        )
        == 1
    )


def test_a_new_model_has_the_motions_of_its_armature(samples, tmp_path):
    path, rig, _ = imported(samples, tmp_path)
    held = model_at(path).motions
    copy = tmp_path / "new.object"
    rig.motionbridge_editor_model.is_model = False
    assert bpy.ops.export_scene.xray_object(filepath=str(copy)) == {"FINISHED"}
    created = model_at(copy)
    assert list(map(bytes_of, created.motions)) == list(map(bytes_of, held))
    assert [section.chunk.id for section in created.sections].index(0x916) == 7  # behind the bones, as the SDK has it
    assert bpy.ops.export_scene.xray_object(filepath=str(copy), motions=False) == {"FINISHED"}
    assert model_at(copy).motions == []


def test_a_file_that_others_changed_is_not_replaced_unasked(samples, tmp_path):
    path, _, obj = imported(samples, tmp_path)
    obj.data.vertices[0].co.z += 1
    path.write_bytes(path.read_bytes() + b"\0")
    message = refusal(bpy.ops.motionbridge.editor_model_save_back)
    assert "no longer the one" in message
    # Of the choices it names there is each, and no other.
    assert "Choose the file as imported as Base File, which overwrites it, or import the file on disk again" in message
    choice = bpy.ops.motionbridge.editor_model_save_back.get_rna_type().properties["if_changed"]
    assert [enum_item.name for enum_item in choice.enum_items] == ["Stop", "File as Imported"]
    assert bpy.ops.motionbridge.editor_model_save_back(if_changed="IMPORTED") == {"FINISHED"}


def test_the_check_selects_what_editors_refuse(samples, tmp_path):
    _, rig, obj = imported(samples, tmp_path)
    assert bpy.ops.motionbridge.editor_model_check() == {"FINISHED"}
    assert bpy.context.mode == "OBJECT"
    for group in obj.vertex_groups:
        group.remove([3, 5])
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.motionbridge.editor_model_check() == {"FINISHED"}
    assert bpy.context.mode == "EDIT_MESH"
    bpy.ops.object.mode_set(mode="OBJECT")
    assert [vertex.index for vertex in obj.data.vertices if vertex.select] == [3, 5]
    obj.data.materials.clear()
    obj.vertex_groups.new(name="strange").add([7], 1.0, "REPLACE")
    assert bpy.ops.motionbridge.editor_model_check(number=0) == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert all(polygon.select for polygon in obj.data.polygons)
    assert bpy.ops.motionbridge.editor_model_check(number=9) == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert [vertex.index for vertex in obj.data.vertices if vertex.select] == [7]


def new_mesh(name="box"):
    """A mesh of two triangles, the second without area, with a material; active."""
    data = bpy.data.meshes.new(name)
    data.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0), (2, 0, 0)], [], [(0, 1, 2), (0, 1, 3)])
    data.uv_layers.new(name="UVMap")
    data.materials.append(bpy.data.materials.new("skin"))
    return add_object(name, data, active=True)


def selected(obj):
    bpy.ops.object.mode_set(mode="OBJECT")
    return [polygon.index for polygon in obj.data.polygons if polygon.select], [
        vertex.index for vertex in obj.data.vertices if vertex.select
    ]


def panel_on(actual, kind=editor_models.MOTIONBRIDGE_PT_editor_model):
    context = SimpleNamespace(object=actual)
    if not kind.poll(context):
        return None
    panel = type("Panel", (), dict(vars(kind)) | {"layout": Layout(), "fields": lambda self: self.layout})()
    panel.draw(context)
    return panel.layout.kept


def test_a_mesh_shows_the_panel_of_its_model_and_its_buttons_work(samples, tmp_path):
    path, rig, actual = imported(samples, tmp_path)
    of_rig, of_mesh = panel_on(rig), panel_on(actual)
    assert of_mesh == [rig.name, *of_rig]
    assert "motionbridge.editor_model_save_back" in of_mesh
    assert panel_on(actual, models.MOTIONBRIDGE_PT_model) is None
    loose = new_mesh("loose")
    assert panel_on(loose) is None
    assert not bpy.ops.motionbridge.add_reference.poll()
    loose.modifiers.new("Armature", "ARMATURE").object = rig  # deformed, not parented
    assert panel_on(loose) == of_mesh
    for active in (actual, loose):
        bpy.context.view_layer.objects.active = active
        count = len(rig.motionbridge_editor_model.references)
        assert bpy.ops.motionbridge.add_reference() == {"FINISHED"}
        assert len(rig.motionbridge_editor_model.references) == count + 1
        assert bpy.ops.motionbridge.remove_reference() == {"FINISHED"}
    bpy.context.view_layer.objects.active = actual
    assert bpy.ops.motionbridge.user_data_to_text() == {"FINISHED"}
    (text,) = bpy.data.texts.values()[-1:]
    text.clear()
    text.write("[section]")
    assert bpy.ops.motionbridge.user_data_from_text() == {"FINISHED"}
    assert rig.motionbridge_editor_model.user_data.strip() == "[section]"
    assert bpy.ops.motionbridge.editor_model_save_back() == {"FINISHED"}
    assert b"[section]" in path.read_bytes()


def test_a_mesh_shows_the_panel_of_its_game_model(samples, tmp_path):
    path = tmp_path / "weapon.ogf"
    path.write_bytes((samples / "weapon.ogf").read_bytes())
    bpy.ops.import_scene.xray_ogf(filepath=str(path), textures=False)
    rig = bpy.context.view_layer.objects.active
    child = next(own_child for own_child in rig.children if own_child.type == "MESH")
    of_rig = panel_on(rig, models.MOTIONBRIDGE_PT_model)
    assert panel_on(child, models.MOTIONBRIDGE_PT_model) == [rig.name, *of_rig]
    assert panel_on(child) is None


def test_a_mesh_that_never_was_a_file_is_checked_before_it_is_exported(tmp_path):
    obj = new_mesh()
    assert not bpy.ops.motionbridge.editor_model_check.poll()
    assert bpy.ops.motionbridge.new_game_model() == {"FINISHED"}
    assert not bpy.ops.motionbridge.new_game_model.poll()
    assert bpy.ops.motionbridge.editor_model_check() == {"FINISHED"}
    assert bpy.context.mode == "EDIT_MESH"
    assert selected(obj)[0] == [1]
    obj.data.materials.clear()
    assert bpy.ops.motionbridge.editor_model_check(number=0) == {"FINISHED"}
    assert selected(obj)[0] == [0, 1]  # no surface
    path = tmp_path / "box.object"
    assert bpy.ops.export_scene.xray_object(filepath=str(path)) == {"FINISHED"}
    assert len(model_at(path).meshes) == 1


def test_a_rig_that_never_was_a_file_is_checked_with_the_meshes_that_it_deforms():
    obj, bone_mesh = new_mesh(), new_mesh("lid")
    rig = add_object("rig", bpy.data.armatures.new("rig"), active=True)
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.new("root").tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    for entry in (obj, bone_mesh):
        entry.data.clear_geometry()
        entry.data.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
        entry.data.uv_layers.new(name="UVMap")
    obj.modifiers.new("Armature", "ARMATURE").object = rig  # deformed, not parented
    obj.vertex_groups.new(name="root").add([0, 1], 1.0, "REPLACE")
    bone_mesh.parent, bone_mesh.parent_type, bone_mesh.parent_bone = rig, "BONE", "root"
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.motionbridge.new_game_model() == {"FINISHED"}
    assert rig.motionbridge_editor_model.is_made
    assert bpy.ops.motionbridge.editor_model_check() == {"FINISHED"}
    # What hangs on a bone follows it without weights; of the deformed mesh one vertex does not.
    assert selected(obj)[1] == [2]
    obj.vertex_groups[0].add([2], 1.0, "REPLACE")
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.motionbridge.editor_model_check() == {"FINISHED"}
    assert bpy.context.mode == "OBJECT"


def test_an_armature_without_meshes_is_a_finding():
    rig = add_object("rig", bpy.data.armatures.new("rig"))
    assert [entry.problem.sentence for entry in find_problems_of_new(bpy.context, rig, Report())] == [
        "the model has no mesh"
    ]


def test_nothing_to_export_is_refused():
    assert not bpy.ops.export_scene.xray_object.poll()
    assert not bpy.ops.motionbridge.editor_model_save_back.poll()
    assert not bpy.ops.motionbridge.editor_model_check.poll()


def three_motions(path, copy):
    """The real model ``path`` at ``copy``, with each motion inside three times; its document."""
    document = editor_model.read(path.read_bytes(), path.name, Report())
    model = document.model
    held = [replace(motion, name=motion.name + number) for number in (b"", b"_2", b"_3") for motion in model.motions]
    document = document.with_model(model.with_motions(skl.new_skls(held)))
    copy.write_bytes(editor_model.write(document))
    return document


def chunks_of(model):
    """The bytes of each chunk, motions left out."""
    return [
        (section.chunk.id, bytes(section.chunk.body))
        for section in model.sections
        if not isinstance(section.value, skl.Skl)
    ]


def with_motions_inside(result):
    """Whether a parameter of `corpus_files` is a model with motions, or stands for a missing corpus."""
    (path,) = result.values
    return path is None or model_at(path).motions


@pytest.mark.parametrize("often", [1, 3])
@pytest.mark.parametrize("real", list(filter(with_motions_inside, corpus_files("object"))))
def test_of_the_motions_inside_a_real_model_only_the_edited_one_changes(real, often, tmp_path):
    held = model_at(real).motions
    path, copy = tmp_path / real.name, tmp_path / "copy.object"
    if often == 3:
        held = three_motions(real, path).model.motions
    else:
        path.write_bytes(real.read_bytes())
    before = model_at(path)
    assert bpy.ops.import_scene.xray_object(filepath=str(path), textures=False) == {"FINISHED"}
    assert len(bpy.data.actions) == len(held)
    assert bpy.ops.export_scene.xray_object(filepath=str(copy)) == {"FINISHED"}
    assert copy.read_bytes() == path.read_bytes()
    edited = held[len(held) // 2].label
    action = next(action for action in bpy.data.actions if action.motionbridge_motion.motion_name == edited)
    curve = next(fcurve for fcurve in compat.curve_bag(action).fcurves if fcurve.data_path.endswith("location"))
    for key in curve.keyframe_points:
        key.co.y += 0.5
        key.handle_left.y += 0.5
        key.handle_right.y += 0.5
    assert bpy.ops.export_scene.xray_object(filepath=str(copy)) == {"FINISHED"}
    after = model_at(copy)
    assert chunks_of(after) == chunks_of(before)
    assert [motion.label for motion in after.motions] == [entry.label for entry in held]
    differ = [
        first.label for first, other in zip(held, after.motions, strict=True) if bytes_of(first) != bytes_of(other)
    ]
    assert differ == [edited]
    (now,) = (motion for motion in after.motions if motion.label == edited)
    (then,) = (entry for entry in held if entry.label == edited)
    tracks = zip(then.tracks, now.tracks, strict=True)
    assert (
        sum(bytes_of(replace(then, tracks=[entry])) != bytes_of(replace(then, tracks=[two])) for entry, two in tracks)
        == 1
    )
