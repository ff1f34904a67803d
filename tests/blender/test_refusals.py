"""What an export refuses, leaves out or takes from elsewhere, and of which of several objects it says so."""

import shutil

import bpy
import numpy as np
import pytest

import addon.ui
from addon.blender import compat
from addon.blender.properties import DATA_VERSION, _stored, keep, kept
from addon.core.errors import ReadError
from tests.blender.oof_scene import square
from tests.blender.test_p3d_export import cube
from tests.blender.test_rtm import moved, plain
from tests.blender.test_ui import game_folder, last_report, load, refusal

SCENE, MOTIONBRIDGE = bpy.ops.export_scene, bpy.ops.motionbridge
IMPORTERS = [
    kind.bl_idname.partition(".")[2]
    for kind in addon.ui.CLASSES
    if getattr(kind, "bl_idname", "").startswith("import_scene.")
]


@pytest.mark.parametrize("name", IMPORTERS)
def test_an_import_needs_a_file(tmp_path, samples, name):
    load(game_folder(tmp_path, samples))
    sentence = refusal(getattr(bpy.ops.import_scene, name))
    assert "no file is chosen. Choose " in sentence or "Choose the folder" in sentence, sentence


# Each makes a scene of several objects or motions, of which one is wrong, and returns what to call.


def humanoid(folder, samples):
    return load(game_folder(folder, samples))


def solo_track(folder, samples):
    rig = humanoid(folder, samples)
    for name in ("first", "second"):
        rig.animation_data.nla_tracks.new().name = name
    rig.animation_data.nla_tracks[1].strips.new("strip", 0, bpy.data.actions.new("of nothing"))
    rig.animation_data.nla_tracks[1].is_solo = True
    return SCENE.xray_omf, folder / "x.omf"


def two_motions_in_strips(folder, samples):
    rig = humanoid(folder, samples)
    rig.animation_data.action = None
    for name in ("walk", "jump"):
        rig.animation_data.nla_tracks.new().strips.new(name, 0, bpy.data.actions[name])
    return SCENE.xray_omf, folder / "x.omf"


def edited_armature(folder, samples):
    rig = humanoid(folder, samples)
    rig.pose.bones[0].constraints.new("LIMIT_ROTATION")
    bpy.ops.object.mode_set(mode="EDIT")
    return SCENE.xray_omf, folder / "x.omf"


def unknown_motion_file(folder, samples):
    humanoid(folder, samples)
    return lambda: MOTIONBRIDGE.save_back(file="other"), None


def unknown_collection(_folder, samples):
    bpy.ops.import_scene.descent3_oof(filepath=str(samples / "descent3" / "ship.oof"))
    return lambda: SCENE.descent3_oof(filepath="/x.oof", collection="gone"), None


def unknown_action(folder, samples):
    humanoid(folder, samples)
    return lambda: MOTIONBRIDGE.revert_motion(action="gone"), None


def armature_without_action(folder, _samples):
    bpy.ops.object.armature_add()
    return SCENE.xray_skl, folder / "x.skl"


def path_beside_no_file(_folder, samples):
    bpy.ops.import_scene.xray_anm(filepath=str(samples / "camera.anm"))
    return lambda: SCENE.xray_anm(filepath="//x.anm"), None


def two_paths_in_strips(folder, samples):
    for name in ("first.anm", "second.anm"):
        shutil.copy(samples / "camera.anm", folder / name)
        bpy.ops.import_scene.xray_anm(filepath=str(folder / name))
    camera = bpy.context.view_layer.objects.active
    camera.animation_data.action = None
    for action in bpy.data.actions:
        camera.animation_data.nla_tracks.new().strips.new(action.name, 0, action)
    return SCENE.xray_anm, folder / "x.anm"


def proxy_without_size(folder, samples):
    bpy.ops.import_scene.arma_p3d(filepath=str(samples / "arma" / "man.p3d"))
    for name in ("right", "wrong"):
        MOTIONBRIDGE.arma_mark_add(kind="PROXY", label=name)
    bpy.data.objects["wrong"].scale = (0, 0, 0)
    return SCENE.arma_p3d, folder / "x.p3d"


def arrow_without_direction(folder, samples):
    bpy.ops.import_scene.descent3_oof(filepath=str(samples / "descent3" / "ship.oof"))
    bpy.data.objects["Gun point 0"].scale = (0, 0, 0)
    return SCENE.descent3_oof, folder / "x.oof"


def other_suffix(folder, _samples):
    square("hull").select_set(True)
    return lambda: SCENE.descent3_oof(filepath=str(folder / "x.txt")), None


def two_ships(folder, samples):
    for _ in range(2):
        bpy.ops.import_scene.descent3_oof(filepath=str(samples / "descent3" / "ship.oof"))
    bpy.ops.object.select_all(action="DESELECT")
    bpy.context.view_layer.objects.active = None
    return SCENE.descent3_oof, folder / "x.oof"


def user_data_of_a_model_without_any(folder, samples):
    path = game_folder(folder, samples) / "weapon_embedded.ogf"
    bpy.ops.import_scene.xray_ogf(filepath=str(path))
    bpy.context.view_layer.objects.active.motionbridge_model.user_data = "[x]"
    return MOTIONBRIDGE.model_save_back, None


def portal_without_faces(folder, samples):
    shutil.copytree(samples / "level", folder / "level")
    bpy.ops.import_scene.xray_level(directory=str(folder / "level"))
    portal = [obj for obj in bpy.data.objects if obj.motionbridge_level.kind == "PORTAL"][-1]
    portal.name = "wrong"
    portal.data.clear_geometry()
    bpy.context.view_layer.objects.active = next(obj for obj in bpy.data.objects if obj.type == "LIGHT")
    return MOTIONBRIDGE.level_save_back, None


REFUSED = {
    solo_track: "the NLA track 'second' of 'humanoid' is solo: Blender plays it instead of any action",
    two_motions_in_strips: "NLA strips of 'humanoid' play several motions, so it is not clear which one the layers "
    "belong to: walk, jump",
    edited_armature: "'humanoid' is being edited, so it shows no pose",
    unknown_motion_file: "'humanoid' has no motion file 'other'",
    unknown_collection: "there is no collection 'gone'",
    unknown_action: "there is no action 'gone'",
    armature_without_action: "no action moves the bones of 'Armature'",
    path_beside_no_file: "the path starts at the folder of the .blend file, which is not saved yet",
    two_paths_in_strips: "play several paths, so it is not clear which one is written",
    proxy_without_size: "the proxy 'wrong' has a scale of 0",
    arrow_without_direction: "the arrow of 'Gun point 0' has no direction",
    other_suffix: "the game reads models of .oof, not .txt",
    two_ships: "no model is active, and the scene holds 2",
    user_data_of_a_model_without_any: "the model has no user data yet, and none can be added",
    portal_without_faces: "the portal 'wrong' has 0 faces and 0 vertices",
}


@pytest.mark.parametrize("make", REFUSED, ids=lambda make: make.__name__)
def test_a_refusal_names_what_is_wrong_and_writes_nothing(tmp_path, samples, make):
    call, path = make(tmp_path, samples)
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    sentence = refusal(call, **({"filepath": str(path)} if path is not None else {}))
    assert REFUSED[make] in sentence
    assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == before


def mesh_of_no_model(folder, samples):
    path = game_folder(folder, samples) / "humanoid.ogf"
    bpy.ops.import_scene.xray_ogf(filepath=str(path))
    rig = bpy.context.view_layer.objects.active
    cube("of no model").parent = rig
    bpy.context.view_layer.objects.active = rig
    return SCENE.xray_ogf, folder / "x.ogf"


def same_named_properties(folder, samples):
    bpy.ops.import_scene.arma_p3d(filepath=str(samples / "arma" / "man.p3d"))
    level = bpy.context.view_layer.objects.active
    for value in ("1", "2"):
        row = level.motionbridge_arma_level.properties.add()
        row.name, row.value = "twice", value
    level.name = "the LOD"
    return SCENE.arma_p3d, folder / "x.p3d"


def rotor_with_keys(folder, samples):
    bpy.ops.import_scene.descent3_oof(filepath=str(samples / "descent3" / "ship.oof"))
    holder = bpy.context.view_layer.objects.active
    rotor = [obj for obj in bpy.data.objects if obj.motionbridge_descent_part.is_part][-1]
    rotor.motionbridge_descent_part.text = "$rotate=2"
    rotor.name = "wrong"
    for frame in (0, 9):
        rotor.rotation_quaternion.x += 0.2
        rotor.keyframe_insert("rotation_quaternion", index=1, frame=frame)
    bpy.context.view_layer.objects.active = holder
    return SCENE.descent3_oof, folder / "x.oof"


def deleted_marker(folder, _samples):
    events = b"RTM_MDAT" + bytes(4) + (2).to_bytes(4, "little")
    for phase in (0.25, 0.75):
        events += np.float32(phase).tobytes() + b"\x04Step\x00"
    path = folder / "steps.rtm"
    path.write_bytes(plain(["Spine"], [(n / 8, [moved(x=0.1 * n)]) for n in range(9)], events=events))
    bpy.ops.import_scene.arma_rtm(filepath=str(path))
    action = bpy.context.view_layer.objects.active.animation_data.action
    action.pose_markers.remove(action.pose_markers[0])
    return SCENE.arma_rtm, folder / "x.rtm"


def bone_without_deform(folder, _samples):
    bpy.ops.object.armature_add()
    rig = bpy.context.view_layer.objects.active
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.new("wrong").tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.data.bones["wrong"].use_deform = False
    for frame in (0, 4):
        rig.pose.bones["Bone"].keyframe_insert("location", frame=frame)
    return SCENE.arma_rtm, folder / "x.rtm"


def copied_motion(folder, samples):
    rig = humanoid(folder, samples)
    copy = bpy.data.actions["jump"].copy()
    copy.name = "another"
    compat.assign(rig, copy)
    return SCENE.xray_omf, folder / "x.omf"


def duplicated_armature(folder, samples):
    rig = humanoid(folder, samples)
    copy = rig.copy()
    copy.name = "other"
    bpy.context.scene.collection.objects.link(copy)
    return MOTIONBRIDGE.save_back, None


def camera_that_plays(_folder, samples):
    path = str(samples / "camera.anm")
    bpy.ops.import_scene.xray_anm(filepath=path)
    action = bpy.context.view_layer.objects.active.animation_data.action
    action.name, action.use_fake_user = "before", False
    return lambda: bpy.ops.import_scene.xray_anm(filepath=path, target="ACTIVE"), None


def own_custom_shape(folder, samples):
    rig = humanoid(folder, samples)
    rig.pose.bones[3].custom_shape = cube("shape")
    bpy.context.view_layer.objects.active = rig
    return MOTIONBRIDGE.readable_bones, None


def armature_without_limbs(_folder, _samples):
    bpy.ops.object.armature_add()
    bpy.context.view_layer.objects.active.animation_data_create().action = bpy.data.actions.new("a")
    bpy.context.view_layer.objects.active.pose.bones[0].keyframe_insert("location", frame=0)
    return MOTIONBRIDGE.add_control_rig, None


def point_of_a_lod_that_is_a_mesh(folder, samples):
    bpy.ops.import_scene.arma_p3d(filepath=str(samples / "arma" / "man.p3d"), levels={"VISUAL", "MEMORY"})
    point = next(obj for obj in bpy.data.objects if obj.motionbridge_arma_mark.kind == "POINT")
    level = next(obj for obj in bpy.data.objects if obj.motionbridge_arma_level.is_level)
    point.name, point.motionbridge_arma_mark.level = "wrong", level.motionbridge_arma_level.index
    return SCENE.arma_p3d, folder / "x.p3d"


LEFT_OUT = {
    mesh_of_no_model: "a mesh that is not of the model is left out; join it to one that is, or export with Replace "
    "Meshes (of no model)",
    same_named_properties: "of named properties with the same name the last one is exported (the LOD)",
    rotor_with_keys: "the game rotates it by itself: 1 curve of its rotation left out (wrong)",
    bone_without_deform: "bones left out because Deform is off: 1 (wrong)",
    copied_motion: "a copy of another motion, written as a new one (another: another)",
    duplicated_armature: "another armature has motions of this file; each saves its own (humanoid.omf: other)",
    camera_that_plays: "the previous action of the object is kept with a fake user (before)",
    own_custom_shape: "bones with custom shapes of their own keep them: 1 (humanoid)",
    armature_without_limbs: "no arm or leg of two segments was found, so there is no inverse kinematics (Armature)",
    point_of_a_lod_that_is_a_mesh: "a point is left out, because its LOD is a mesh; add a vertex with a vertex group "
    "to that mesh (wrong)",
    deleted_marker: "events left out because their markers were deleted: 1 (steps)",
}


@pytest.mark.parametrize("make", LEFT_OUT, ids=lambda make: make.__name__)
def test_a_report_names_what_is_left_out(tmp_path, samples, make):
    call, path = make(tmp_path, samples)
    call(**({"filepath": str(path)} if path is not None else {}))
    assert LEFT_OUT[make] in "\n".join(last_report())


def test_stored_bytes_that_were_changed_or_are_of_a_newer_version_are_refused(samples):
    bpy.ops.import_scene.arma_rtm(filepath=str(samples / "arma" / "walk.rtm"))
    action = bpy.context.view_layer.objects.active.animation_data.action
    owner, before = action.motionbridge_animation, kept(action.motionbridge_animation, "phases")
    keep(owner, "frames", b"frames")
    seal, version = _stored(owner, "frames_seal"), bytes([DATA_VERSION])
    for data, digest, sentence in (
        (b"frame", seal, "the stored file data is damaged (5 bytes with a wrong checksum)"),
        (b"frames", version + seal[:0:-1], "the stored file data is damaged (6 bytes with a wrong checksum)"),
        (b"frames", bytes([DATA_VERSION + 1]) + seal[1:], "the file data was stored by a newer Motionbridge"),
    ):
        owner.frames, owner.frames_seal = data, digest
        with pytest.raises(ReadError) as refused:
            kept(owner, "frames")
        assert str(refused.value).startswith(f"{action.name}: {sentence}")
    assert kept(owner, "phases") == before
