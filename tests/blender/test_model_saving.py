"""Game models (`.ogf`) saved back into their file, beside the motions inside them, which are saved by themselves."""

import shutil

import bpy
import pytest

from addon.blender import compat
from addon.games import plan as plans
from addon.games.xray.motions.library import motions_of
from tests.blender import raw_ogf

MESHES, MOTIONS = 9, 14


@pytest.fixture
def path(samples, tmp_path):
    return shutil.copy(samples / "weapon_embedded.ogf", tmp_path / "weapon.ogf")


@pytest.fixture
def rig(path):
    assert bpy.ops.import_scene.xray_ogf(filepath=str(path), textures=False) == {"FINISHED"}
    return bpy.context.view_layer.objects.active


def activate(obj):
    bpy.context.view_layer.objects.active = obj
    return obj


def move_vertex(rig):
    mesh = activate(next(obj for obj in rig.children if obj.type == "MESH"))
    mesh.data.vertices[0].co.x += 0.01


def edit_motion(rig):
    bone = activate(rig).pose.bones[1]
    bone.rotation_mode = "QUATERNION"
    bone.rotation_quaternion = (0.7, 0.7, 0, 0)
    assert bone.keyframe_insert("rotation_quaternion", frame=1)


def last_report():
    return bpy.context.window_manager.motionbridge_report.splitlines()


def differing(first, second):
    """Ids of the chunks that differ."""
    result = [raw_ogf.chunks(data) for data in (first, second)]
    return [number for number in result[0] if result[0][number][1] != result[1][number][1]]


def test_texts_of_the_panel_are_named(path, rig):
    rig.motionbridge_model.references.add().name = "actors\\more"
    with pytest.raises(RuntimeError, match="references cannot be added"):
        bpy.ops.motionbridge.model_save_back()


@pytest.mark.parametrize("saved_back", [True, False])
def test_saved_motions_stay_in_the_file_when_the_model_is_written(saved_back, path, rig):
    original = path.read_bytes()
    edit_motion(rig)
    assert bpy.ops.motionbridge.save_back() == {"FINISHED"}
    with_motion = path.read_bytes()
    assert differing(original, with_motion) == [MOTIONS]
    move_vertex(rig)
    if saved_back:
        assert bpy.ops.motionbridge.model_save_back() == {"FINISHED"}
    else:
        assert bpy.ops.export_scene.xray_ogf(filepath=str(path)) == {"FINISHED"}
    assert differing(with_motion, path.read_bytes()) == [MESHES]


def test_motions_and_model_take_turns_without_asking(path, rig):
    for motion in ("idle", "reload"):
        move_vertex(rig)
        before = path.read_bytes()
        assert bpy.ops.motionbridge.model_save_back() == {"FINISHED"}
        assert differing(before, path.read_bytes()) == [MESHES]
        before = path.read_bytes()
        action = bpy.data.actions[motion]
        compat.assign(rig, action, compat.suitable_slot(action, rig))
        edit_motion(rig)
        assert bpy.ops.motionbridge.save_back() == {"FINISHED"}
        assert differing(before, path.read_bytes()) == [MOTIONS]


def test_a_model_that_others_changed_is_not_replaced_unasked(path, rig):
    changed = path.read_bytes() + bytes(8)
    path.write_bytes(changed)
    move_vertex(rig)
    with pytest.raises(RuntimeError, match="no longer the one that was imported"):
        bpy.ops.motionbridge.model_save_back()
    edit_motion(rig)
    assert bpy.ops.motionbridge.save_back(if_changed="DISK") == {"FINISHED"}
    move_vertex(rig)
    with pytest.raises(RuntimeError, match="no longer the one that was imported"):
        bpy.ops.motionbridge.model_save_back()
    assert bpy.ops.motionbridge.model_save_back(if_changed="IMPORTED") == {"FINISHED"}


def edit_speed(rig):
    motions_of(rig.motionbridge_motion_files[0])[-1].motionbridge_motion.speed += 1


@pytest.mark.parametrize("edit", [edit_motion, edit_speed])
def test_edited_motions_that_are_not_saved_are_reported(edit, path, rig):
    edit(rig)
    move_vertex(rig)
    assert bpy.ops.motionbridge.model_save_back() == {"FINISHED"}
    words = "edited motions are not saved with the model; save them with Save Back in the Motionbridge tab: "
    assert any(line.startswith(words) for line in last_report())
    activate(rig)
    assert bpy.ops.motionbridge.save_back() == {"FINISHED"}
    move_vertex(rig)
    assert bpy.ops.motionbridge.model_save_back() == {"FINISHED"}
    assert not any(line.startswith(words) for line in last_report())


def test_a_mesh_that_the_armature_deforms_has_the_button(rig):
    mesh = next(obj for obj in rig.children if obj.type == "MESH")
    mesh.parent = None
    activate(mesh)
    assert bpy.ops.motionbridge.model_save_back.poll() == (mesh.find_armature() is not None)
    bpy.ops.mesh.primitive_cube_add()
    assert not bpy.ops.motionbridge.model_save_back.poll()


@pytest.mark.parametrize("gone", [False, True])
def test_replaced_meshes_are_those_of_the_scene_hidden_ones_too(gone, samples, tmp_path):
    assert bpy.ops.import_scene.xray_ogf(filepath=str(samples / "humanoid.ogf"), textures=False) == {"FINISHED"}
    rig = bpy.context.view_layer.objects.active
    mesh = next(obj for obj in rig.children if obj.type == "MESH")
    faces = sum(len(obj.data.polygons) for obj in rig.children if obj.type == "MESH")
    if gone:  # as Unlink in the outliner does
        for collection in mesh.users_collection:
            collection.objects.unlink(mesh)
        faces -= len(mesh.data.polygons)
    else:
        mesh.hide_viewport = True
    target = tmp_path / "replaced.ogf"
    assert bpy.ops.export_scene.xray_ogf(filepath=str(target), replace_meshes=True) == {"FINISHED"}
    assert sum(len(raw_ogf.triangles(child)) for _, child in raw_ogf.children(target.read_bytes())) == faces


@pytest.mark.parametrize("replaced", [False, True])
def test_an_export_onto_its_own_file_is_known_to_model_and_motions(replaced, path, rig):
    move_vertex(rig)
    assert bpy.ops.export_scene.xray_ogf(filepath=str(path), replace_meshes=replaced) == {"FINISHED"}
    plans._saved.clear()  # as in the next Blender, which has only what the .blend stores
    before = path.read_bytes()
    edit_motion(rig)
    assert bpy.ops.motionbridge.save_back() == {"FINISHED"}
    assert differing(before, path.read_bytes()) == [MOTIONS]
    move_vertex(rig)
    if replaced:  # the meshes on disk are not those that a save would compare with
        with pytest.raises(RuntimeError, match="no longer the one that was imported"):
            bpy.ops.motionbridge.model_save_back()
    else:
        before = path.read_bytes()
        assert bpy.ops.motionbridge.model_save_back() == {"FINISHED"}
        assert differing(before, path.read_bytes()) == [MESHES]


@pytest.mark.parametrize("exported", [False, True])
def test_a_model_written_with_older_motions_is_not_taken_for_the_file_of_newer_ones(exported, path, rig):
    older = path.read_bytes()
    edit_motion(rig)
    assert bpy.ops.motionbridge.save_back() == {"FINISHED"}
    newer = path.read_bytes()
    path.write_bytes(older)
    bpy.ops.object.select_all(action="SELECT")
    bpy.ops.object.delete()
    assert bpy.ops.import_scene.xray_ogf(filepath=str(path), textures=False, motions="NONE") == {"FINISHED"}
    rig = bpy.context.view_layer.objects.active
    path.write_bytes(newer)
    assert bpy.ops.import_scene.xray_omf(filepath=str(path)) == {"FINISHED"}
    move_vertex(rig)
    if exported:
        assert bpy.ops.export_scene.xray_ogf(filepath=str(path)) == {"FINISHED"}
    else:
        assert bpy.ops.motionbridge.model_save_back(if_changed="IMPORTED") == {"FINISHED"}
    assert differing(older, path.read_bytes()) == [MESHES]
    activate(rig)
    assert bpy.ops.motionbridge.save_back() == {"FINISHED"}
    assert differing(newer, path.read_bytes()) == [MESHES]
