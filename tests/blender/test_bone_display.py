"""Readable bones: shapes from head to head, nothing else changed, on imports and on any armature."""

from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from addon.blender import armature
from addon.core.report import Report
from addon.games.xray.models import importing
from addon.games.xray.options import ModelImportOptions
from addon.ui import target
from tests.real_files import corpus_files, sampled
from tests.scene import differences, snapshot


def imported(path, *, readable):
    options = ModelImportOptions(readable_bones=readable)
    return importing.import_model(bpy.context, Path(path), options, Report()).rig


def rest_bytes(rig) -> bytes:
    flat = np.empty(len(rig.data.bones) * 16, np.float32)
    rig.data.bones.foreach_get("matrix_local", flat)
    return flat.tobytes()


def drawn_end(rig, bone) -> Vector:
    """Where the shape of a pose bone ends, in the armature's space, as Blender computes it."""
    pose_bone = rig.pose.bones[bone]
    loc_rot_scale = Matrix.LocRotScale(
        pose_bone.custom_shape_translation, pose_bone.custom_shape_rotation_euler, pose_bone.custom_shape_scale_xyz
    )
    assert not pose_bone.use_custom_shape_bone_size
    return pose_bone.matrix @ loc_rot_scale @ Vector((0, 1, 0))


def collections(rig) -> dict[str, set[str]]:
    return {obj.name: {bone.name for bone in obj.bones} for obj in rig.data.collections_all}


def test_the_rest_pose_is_the_same_bit_for_bit_with_and_without(samples):
    plain, readable = (rest_bytes(imported(samples / "humanoid.ogf", readable=on)) for on in (False, True))
    assert plain == readable


SKELETONS = corpus_files(
    "ogf/human_stalker*", "ogf/gwr_*hand*", "ogf/nlc_*", "ogf/radium_*", "ogf/soc_*", "ogf/odd_v4*"
)


@pytest.mark.parametrize("path", SKELETONS)
def test_real_rest_poses_stay_and_shapes_end_at_a_head(path):
    rig = imported(path, readable=False)
    before = rest_bytes(rig)
    armature.make_readable(rig)
    assert rest_bytes(rig) == before
    heads = [bone.head_local for bone in rig.data.bones]
    for bone in rig.pose.bones:
        below = [child.bone.head_local for child in bone.children]
        away = [head for head in below if (head - bone.bone.head_local).length > 1e-3]
        if bone.custom_shape.data.name.startswith(armature.BONE) and away and "head" not in bone.name:
            assert min((drawn_end(rig, bone.name) - head).length for head in heads) < 1e-3, bone.name


def test_a_shape_ends_at_the_head_of_the_next_joint_and_follows_the_pose(samples):
    rig = imported(samples / "humanoid.ogf", readable=True)
    upper = next(rig.pose.bones[name] for name in collections(rig)["Left Leg"] if len(rig.pose.bones[name].children))
    lower = upper.children[0]
    assert (drawn_end(rig, upper.name) - lower.head).length < 1e-3
    upper.rotation_quaternion = (0.5, 0.5, 0.5, 0.5)
    bpy.context.view_layer.update()
    assert (drawn_end(rig, upper.name) - lower.head).length < 1e-3


def test_bones_are_sorted_and_coloured_by_part(samples):
    rig = imported(samples / "humanoid.ogf", readable=True)
    result = collections(rig)
    assert {"Spine", "Left Arm", "Right Arm", "Left Leg", "Right Leg"} <= result.keys()
    assert set.union(*result.values()) == {bone.name for bone in rig.data.bones}
    assert all(rig.data.bones[name].motionbridge_is_colored for name in result["Left Arm"])
    left, right = ({rig.data.bones[name].color.palette for name in result[f"{side} Arm"]} for side in ("Left", "Right"))
    assert len(left) == len(right) == 1
    assert left != right
    assert "DEFAULT" not in left | right


def test_a_weapon_is_drawn_and_not_sorted(samples):
    rig = imported(samples / "weapon.ogf", readable=True)
    assert armature.is_readable(rig)
    assert collections(rig) == {}
    assert {bone.color.palette for bone in rig.data.bones} == {"DEFAULT"}


def test_removing_it_leaves_nothing(samples):
    rig = imported(samples / "humanoid.ogf", readable=False)
    mine = rig.data.collections.new("Mine")
    mine.assign(rig.data.bones[0])
    rig.data.bones[1].color.palette = "THEME05"
    before = snapshot()
    armature.make_readable(rig)
    assert differences(before, snapshot())
    armature.make_readable(rig)  # a second time changes nothing
    armature.make_plain(rig)
    assert differences(before, snapshot()) == []


def test_shapes_and_colours_of_the_user_stay(samples):
    rig = imported(samples / "humanoid.ogf", readable=False)
    mine = bpy.data.objects.new("Mine", None)
    rig.pose.bones[2].custom_shape = mine
    rig.data.bones[3].color.palette = "THEME05"
    assert bpy.ops.motionbridge.readable_bones() == {"FINISHED"}
    assert rig.pose.bones[2].custom_shape == mine
    assert rig.data.bones[3].color.palette == "THEME05"
    assert bpy.ops.motionbridge.original_bones() == {"FINISHED"}
    assert not armature.is_readable(rig)
    assert rig.pose.bones[2].custom_shape == mine
    assert rig.data.bones[3].color.palette == "THEME05"


def test_any_armature_becomes_readable():
    bpy.ops.object.armature_add()
    rig = bpy.context.view_layer.objects.active
    assert bpy.ops.motionbridge.readable_bones() == {"FINISHED"}
    assert armature.is_readable(rig)
    assert (drawn_end(rig, "Bone") - Vector((0, 0, 1))).length < 1e-3
    assert len(bpy.context.scene.objects) == 1


def test_copies_have_it_and_share_the_shapes(samples):
    rig = imported(samples / "humanoid.ogf", readable=True)
    bpy.ops.object.duplicate()
    copy = bpy.context.view_layer.objects.active
    assert copy != rig
    assert {bone.custom_shape for bone in copy.pose.bones} == {bone.custom_shape for bone in rig.pose.bones}
    assert collections(copy) == collections(rig)
    assert sum(obj.type == "MESH" and armature.MARK in obj.data for obj in bpy.data.objects) == 2


def test_it_is_there_after_saving_and_appending(samples, tmp_path):
    rig = imported(samples / "humanoid.ogf", readable=True)
    ends = {bone.name: drawn_end(rig, bone.name).freeze() for bone in rig.pose.bones}
    path = str(tmp_path / "rig.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, compress=False)
    bpy.ops.wm.open_mainfile(filepath=path)
    rig = bpy.data.objects["humanoid"]
    assert {bone.name: drawn_end(rig, bone.name) for bone in rig.pose.bones} == ends
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.append(directory=f"{path}/Object/", files=[{"name": "humanoid"}])
    rig = bpy.data.objects["humanoid"]
    bpy.context.view_layer.update()
    assert {bone.name: drawn_end(rig, bone.name) for bone in rig.pose.bones} == ends
    assert "Left Arm" in collections(rig)
    # Blender links the shapes to the scene: nobody sees, selects or renders them.
    for obj in bpy.context.scene.objects:
        if obj.data is not None and armature.MARK in obj.data:
            assert (obj.hide_viewport, obj.hide_render, obj.hide_select) == (True, True, True)
    # Nor are they meshes of a model: there is nothing to export, and nothing of them in a collection's export.
    brought = {selected_obj for selected_obj in bpy.data.objects if armature.is_shape(selected_obj)}
    assert brought
    assert brought & set(bpy.context.scene.objects)
    for operator in (bpy.ops.export_scene.descent3_oof, bpy.ops.motionbridge.descent_check):
        assert not operator.poll()
    bpy.context.scene.collection.children.link(model := bpy.data.collections.new("model"))
    for obj in (rig, *brought):
        model.objects.link(obj)
    assert target.objects_of("model") == [rig]


@pytest.mark.parametrize("kind", ["xray_ogf", "xray_object", "arma_rtm", "arma_p3d"])
@pytest.mark.parametrize("readable", [True, False])
def test_imports_make_readable_bones_by_default(kind, readable, samples):
    files = {"xray_ogf": "humanoid.ogf", "xray_object": "weapon.object"}
    files |= {"arma_rtm": "arma/walk.rtm", "arma_p3d": "arma/man.p3d"}
    more = {"rig": "NEW"} if kind == "arma_p3d" else {}
    getattr(bpy.ops.import_scene, kind)(filepath=str(samples / files[kind]), readable_bones=readable, **more)
    rig = next(obj for obj in bpy.context.scene.objects if obj.type == "ARMATURE")
    assert armature.is_readable(rig) == readable


def test_a_model_of_descent_as_an_armature_is_readable(samples):
    bpy.ops.import_scene.descent3_oof(filepath=str(samples / "descent3/ship.oof"), shown_as="BONES")
    rig = next(obj for obj in bpy.context.scene.objects if obj.type == "ARMATURE")
    assert armature.is_readable(rig)


def test_files_are_the_same_with_readable_bones(samples, tmp_path):
    for readable in (True, False):
        bpy.ops.wm.read_homefile(use_empty=True)
        path = str(samples / "humanoid.ogf")
        bpy.ops.import_scene.xray_ogf(filepath=path, readable_bones=readable)
        bpy.ops.import_scene.xray_omf(filepath=str(samples / "humanoid.omf"))
        bpy.ops.export_scene.xray_ogf(filepath=str(tmp_path / f"{readable}.ogf"))
        bpy.ops.export_scene.xray_omf(filepath=str(tmp_path / f"{readable}.omf"))
    assert (tmp_path / "True.ogf").read_bytes() == (samples / "humanoid.ogf").read_bytes()
    assert (tmp_path / "True.omf").read_bytes() == (samples / "humanoid.omf").read_bytes()
    for kind in ("ogf", "omf"):
        assert (tmp_path / f"True.{kind}").read_bytes() == (tmp_path / f"False.{kind}").read_bytes()


WITHOUT_BONES = {"odd_chunk_size_wrong_middle.ogf", "odd_hand_text_mangled.ogf", "bx_no_mesh.object"}
"""Refused as models with a skeleton, or without a mesh that could be exported."""
EVERY_SKELETON = [
    corpus_file
    for corpus_file in corpus_files("ogf", "hud/**/*.ogf", "object")
    if str(corpus_file.id).rpartition("/")[2] not in WITHOUT_BONES
]


@pytest.mark.parametrize("path", sampled(EVERY_SKELETON, 12))
def test_every_real_skeleton_is_exported_alike_with_and_without(path, tmp_path):
    kind = f"xray_{path.suffix.removeprefix('.')}"
    result = []
    for readable in (True, False):
        bpy.ops.wm.read_homefile(use_empty=True)
        getattr(bpy.ops.import_scene, kind)(filepath=str(path), readable_bones=readable, textures=False)
        rig = next((obj for obj in bpy.context.scene.objects if obj.type == "ARMATURE"), None)
        if rig is None:
            pytest.skip("no skeleton")
        assert armature.is_readable(rig) == readable
        written = tmp_path / f"{readable}{path.suffix}"
        getattr(bpy.ops.export_scene, kind)(filepath=str(written))
        result.append((rest_bytes(rig), written.read_bytes()))
    assert result[0] == result[1]


@pytest.mark.parametrize("name", armature.SHAPES)
def test_a_shape_has_an_extent_and_no_part_twice(name):
    corners, edges, faces = armature.SHAPES[name]()
    at = [tuple(corner) for corner in np.round(corners, 5).tolist()]
    parts = [tuple(sorted(at[corner] for corner in part)) for part in (*np.asarray(edges).tolist(), *faces)]
    assert len(set(parts)) == len(parts)
    assert all(len(set(part)) == len(part) for part in parts)
    assert {corner for part in parts for corner in part} == set(at)
    lengths = [np.linalg.norm(np.subtract(*part)) for part in parts if len(part) == 2]
    assert np.ptp(lengths or [0]) < 1e-4, "edges of circles and boxes are of one length"
