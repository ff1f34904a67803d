"""New models of the game (.ogf) of meshes and armatures that were made in Blender, or imported from the editor's."""

import bpy
import numpy as np
import pytest

from addon.core.errors import WriteError
from addon.core.report import Report
from addon.formats.xray import object as editor_model
from addon.formats.xray import ogf, omf
from addon.formats.xray.ogf.chunk_types import (
    BoneNames,
    IkData,
    Indices,
    MotionReferences2,
    Texture,
    UserData,
    Vertices,
)
from addon.formats.xray.ogf.document import VisualType, motion_set_of
from addon.formats.xray.ogf.mesh import decode_meshes
from addon.formats.xray.ogf.skeleton import decode_skeleton
from addon.formats.xray.omf.codec import numbered
from addon.formats.xray.omf.document import MotionSet, Parameters, Partition, PartitionBone
from addon.formats.xray.omf.mapping import decode as decode_clips
from addon.games.xray.bones.properties import known
from addon.games.xray.models import importing, making
from addon.games.xray.models.importing import import_model
from addon.games.xray.options import ModelExportOptions, ModelImportOptions, ModelKind
from addon.ui.xray import new_models
from tests.blender.scenes import add_object
from tests.blender.test_ui import installed, last_report
from tests.formats.xray.level_bytes import chunk, words
from tests.formats.xray.model_pairs import PAIRS, compare, compare_bones, triangles
from tests.real_files import CORPUS
from tests.scene import differences, snapshot


def material(name, texture="", shader=""):
    used_material = bpy.data.materials.new(name)
    used_material.motionbridge_material.texture, used_material.motionbridge_material.shader = texture, shader
    return used_material


def cube(name="crate", size=2.0):
    bpy.ops.mesh.primitive_cube_add(size=size)
    obj = bpy.context.object
    obj.name = name
    obj.data.materials.append(material("Wood", "prop\\crate", "default"))
    return obj


def made(holder, report=None, **options):
    """The document of a new model; making it changes nothing in the scene."""
    before = snapshot()
    plan = making.plan_new(
        bpy.context, holder, "new.ogf", ModelExportOptions(**options), Report() if report is None else report
    )
    assert not differences(before, snapshot())
    result = ogf.read(plan.data, "new.ogf", Report())
    assert ogf.write(result) == plan.data
    return result


def test_a_static_mesh():
    document = made(cube())
    assert document.header.type == VisualType.NORMAL
    assert document.first(Texture) == Texture(b"prop\\crate", b"default")
    rows, indices = document.first(Vertices).rows, document.first(Indices).corners.reshape(-1, 3)
    assert (document.first(Vertices).format, len(rows), len(indices)) == (0x112, 24, 12)
    a, b, c = rows["position"][indices].transpose(1, 0, 2)
    np.testing.assert_allclose(np.cross(b - a, c - a) / 4, rows["normal"][indices[:, 0]], atol=1e-6)
    np.testing.assert_array_equal(document.header.box, [[-1, -1, -1], [1, 1, 1]])


def test_several_materials_are_a_group():
    obj = cube()
    obj.data.materials.append(material("Iron", "prop\\iron", "default"))
    obj.data.polygons[2].material_index = 1
    document = made(obj)
    assert document.header.type == VisualType.HIERARCHY
    assert [len(child.first(Indices).corners) for child in document.children] == [30, 6]


def test_a_rigid_object_has_one_bone_with_a_box():
    document = made(cube(), kind=ModelKind.RIGID)
    assert document.header.type == VisualType.SKELETON_RIGID
    assert [bone.name for bone in document.first(BoneNames).bones] == [b"link"]
    (entry,) = document.first(IkData).bones
    assert (entry.shape.type, entry.mass, entry.material) == (1, 10, b"default_object")
    np.testing.assert_allclose(entry.shape.box, [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1], atol=1e-6)
    assert document.children[0].first(Vertices).links == 1


BONES = {
    "spine": ("", 1.0),
    "Head": ("spine", 1.6),
    "arm_r": ("spine", 1.4),
    "arm_l": ("spine", 1.4),
    "hand": ("arm_l", 1),
}


def humanoid():
    """An armature with a mesh of two materials; a quad around each bone, the last also moved by its parent."""
    data = bpy.data.armatures.new("Body")
    rig = add_object("Body", data, active=True)
    bpy.ops.object.mode_set(mode="EDIT")
    for number, (name, (parent, height)) in enumerate(BONES.items()):
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = (0.3 * number, 0.1, height), (0.3 * number, 0.2, height + 0.3)
        bone.parent = data.edit_bones.get(parent)
    bpy.ops.object.mode_set(mode="OBJECT")
    vertices, faces = [], []
    for number, (_, (_, height)) in enumerate(BONES.items()):
        for x, y, z in ((0, 0, 0), (0.2, 0, 0), (0.2, 0.3, 0.1), (0, 0.3, 0.1)):
            vertices.append((0.3 * number + x, y, height + z))
        faces.append([4 * number + corner for corner in range(4)])
    mesh = bpy.data.meshes.new("Skin")
    mesh.from_pydata(vertices, [], faces)
    layer = mesh.uv_layers.new(name="UVMap")
    layer.uv.foreach_set("vector", np.tile(np.float32([0, 0, 1, 0, 1, 1, 0, 1]), len(faces)))
    obj = add_object("Skin", mesh)
    obj.parent = rig
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    for number, name in enumerate(BONES):
        obj.vertex_groups.new(name=name).add(range(4 * number, 4 * number + 4), 1.0, "REPLACE")
    obj.vertex_groups["arm_l"].add([16, 17], 0.5, "REPLACE")
    mesh.materials.append(material("Skin", "act\\skin", "models\\model"))
    mesh.materials.append(material("Cloth", "act\\cloth", "models\\model"))
    mesh.polygons[1].material_index = 1
    return rig, obj


ORDER = ["spine", "arm_l", "hand", "arm_r", "head"]


def test_an_armature_and_its_mesh_read_back():
    rig, obj = humanoid()
    document = made(rig)
    assert document.header.type == VisualType.SKELETON_RIGID
    skeleton = decode_skeleton(document, Report())
    assert skeleton.bones == ORDER
    rest = {bone.name.lower(): np.array(bone.matrix_local) for bone in rig.data.bones}
    for name, matrix in zip(skeleton.bones, skeleton.rest_matrices(), strict=True):
        np.testing.assert_allclose(matrix, rest[name], atol=1e-5)
    skin, cloth = decode_meshes(document, Report())
    assert [len(mesh.triangles) for mesh in (skin, cloth)] == [8, 2]
    positions = np.array([vertex.co for vertex in obj.data.vertices])
    result = np.concatenate([skin.positions, cloth.positions])
    assert np.abs(result[:, None] - positions).max(axis=2).min(axis=1).max() < 1e-6
    child, other = document.children
    assert (child.first(Vertices).format, other.first(Vertices).format) == (2, 1)
    shared = np.abs(skin.positions[:, None] - positions[16:18]).max(axis=2).min(axis=1) < 1e-6
    vertices = np.flatnonzero(shared)
    held = skin.weights
    for vertex in vertices:
        here = held.vertices == vertex
        weights = {
            skeleton.bones[group]: weight for group, weight in zip(held.groups[here], held.weights[here], strict=True)
        }
        assert weights == pytest.approx({"hand": 2 / 3, "arm_l": 1 / 3}, abs=1e-6)


def test_shadow_of_chernobyl_and_references():
    rig, _ = humanoid()
    making.set_up(rig)
    model = rig.motionbridge_editor_model
    model.references.add().name = "actors\\body"
    model.user_data, model.lod = "[a]\r\n", "actors\\body_lod"
    document = made(rig)
    assert document.header.type == VisualType.SKELETON_ANIMATED
    assert document.first(MotionReferences2).names == [b"actors\\body"]
    assert document.first(UserData).text == b"[a]\r\n"
    assert [section.chunk.id for section in document.sections] == [1, 18, 9, 13, 16, 17, 23, 24]
    early = made(rig, most_links=2)
    assert early.children[0].first(Vertices).format == 0x240E3300
    assert [section.chunk.id for section in early.sections][-1] == 19


def test_bones_as_in_another_model(tmp_path):
    rig, _ = humanoid()
    path = tmp_path / "other.ogf"
    rig.data.bones["arm_l"].name = "aaa"
    path.write_bytes(ogf.write(made(rig)))
    rig.data.bones["aaa"].name = "zzz"
    report = Report()
    document = made(rig, report, bones_as=str(path))
    assert [bone.name for bone in document.first(BoneNames).bones] == [b"spine", b"hand", b"arm_r", b"head", b"zzz"]
    assert any("this one lacks: aaa" in line for line in report.lines())


def test_setting_up_gives_bones_the_values_of_the_sdk():
    rig, _ = humanoid()
    assert making.set_up(rig) == 5
    assert [bone.name.lower() for bone in sorted(rig.data.bones, key=lambda bone: known(bone).index)] == ORDER
    values = known(rig.data.bones["Head"])
    assert (values.material, values.mass, values.shape, values.joint) == ("default_object", 10, "NONE", "RIGID")
    assert (values.spring, values.damping, values.limit_x.spring, values.limit_x.highest) == (1, 1, 1, 0)
    assert making.set_up(rig) == 0


@pytest.mark.parametrize("shape", ["BOX", "SPHERE", "CYLINDER"])
def test_fitted_shapes_hold_the_vertices(shape):
    rig, _ = humanoid()
    making.set_up(rig)
    assert making.fit_shapes(bpy.context, rig, shape, {"Head", "arm_r"}, density=500, report=Report()) == 2
    (index,) = [number for number, name in enumerate(ORDER) if name == "head"]
    entry = made(rig).first(IkData).bones[index]
    assert entry.shape.type == {"BOX": 1, "SPHERE": 2, "CYLINDER": 3}[shape]
    values = known(rig.data.bones["Head"])
    if shape == "SPHERE":
        assert values.sphere_radius == pytest.approx(np.hypot(0.1, np.hypot(0.15, 0.05)), abs=1e-5)
        assert values.mass == pytest.approx(500 * 4 / 3 * np.pi * values.sphere_radius**3, rel=1e-5)
    assert known(rig.data.bones["hand"]).shape == "NONE"


def test_shapes_of_selected_bones():
    rig, _ = humanoid()
    making.set_up(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    for pose in rig.pose.bones:
        # Since 5.0 the pose has a selection of its own.
        (pose if "select" in pose.bl_rna.properties else pose.bone).select = pose.name == "arm_l"
    assert bpy.ops.motionbridge.fit_shapes(shape="BOX", selected=True) == {"FINISHED"}
    assert [bone.name for bone in rig.data.bones if known(bone).shape == "BOX"] == ["arm_l"]


def test_refusals():
    rig, obj = humanoid()
    obj.vertex_groups.remove(obj.vertex_groups["Head"])
    with pytest.raises(WriteError, match="not assigned to a bone"):
        made(rig)
    for modifier in list(obj.modifiers):
        obj.modifiers.remove(modifier)
    obj.parent = None
    with pytest.raises(WriteError, match="has no meshes"):
        made(rig)


def test_checks_before_writing():
    rig, obj = humanoid()
    making.set_up(rig)
    obj.vertex_groups.remove(obj.vertex_groups["Head"])
    obj.data.materials[1].motionbridge_material.texture = ""
    known(rig.data.bones["hand"]).shape = "SPHERE"
    rig.scale = (2, 2, 2)
    bpy.context.view_layer.update()
    problems = {problem.problem.sentence: problem for problem in making.find_problems(bpy.context, rig, Report())}
    (without,) = [entry for sentence, entry in problems.items() if "have no bone" in sentence]
    assert without.vertices.tolist() == [4, 5, 6, 7]
    assert any("material 'Cloth' has no texture" in sentence for sentence in problems)
    assert any("the bone 'hand' has no volume" in sentence for sentence in problems)
    assert any("is scaled (2, 2, 2)" in sentence for sentence in problems)


def test_the_operator_writes_a_new_model_that_can_be_imported(tmp_path):
    rig, _ = humanoid()
    path = tmp_path / "body.ogf"
    assert bpy.ops.export_scene.xray_ogf(filepath=str(path)) == {"FINISHED"}
    imported = import_model(bpy.context, path, ModelImportOptions(), Report())
    assert [bone.name for bone in sorted(imported.rig.data.bones, key=lambda bone: known(bone).index)] == ORDER
    assert len(imported.meshes) == 2
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.motionbridge.new_game_model() == {"FINISHED"}
    assert bpy.ops.motionbridge.fit_shapes(shape="SPHERE") == {"FINISHED"}
    assert bpy.ops.motionbridge.editor_model_check() == {"FINISHED"}


@pytest.mark.skipif(CORPUS is None, reason="MOTIONBRIDGE_CORPUS is not set")
@pytest.mark.parametrize("name", PAIRS)
def test_real_objects_through_blender_become_what_the_sdk_made_of_them(name):
    options = ModelImportOptions(textures=False)
    imported = importing.import_editor_model(bpy.context, CORPUS / "object" / f"{name}.object", options, Report())
    expected = ogf.read((CORPUS / "ogf" / f"{name}.ogf").read_bytes(), name, Report())
    document = made(imported.holder)
    compare_bones(document, expected)
    assert compare(triangles(document), triangles(expected)) == PAIRS[name]


def test_new_meshes_of_an_imported_model_leave_everything_else(tmp_path):
    rig, _ = humanoid()
    making.set_up(rig)
    rig.motionbridge_editor_model.references.add().name = "actors\\body"
    path = tmp_path / "body.ogf"
    path.write_bytes(ogf.write(made(rig)))
    imported = import_model(bpy.context, path, ModelImportOptions(), Report())
    for obj in imported.meshes:
        bpy.data.objects.remove(obj)
    _, obj = humanoid()
    obj.parent, obj.modifiers[0].object = imported.rig, imported.rig
    for group in obj.vertex_groups:
        group.name = group.name.lower()
    obj.data.materials.append(material("Iron", "act\\iron", "models\\model"))
    obj.data.polygons[2].material_index = 2
    bpy.context.view_layer.update()
    bpy.context.view_layer.objects.active = imported.rig
    target = tmp_path / "other.ogf"
    assert bpy.ops.export_scene.xray_ogf(filepath=str(target), replace_meshes=True) == {"FINISHED"}
    before, after = (ogf.read(entry.read_bytes(), "body.ogf", Report()) for entry in (path, target))
    assert [len(child.first(Indices).corners) for child in after.children] == [18, 6, 6]
    obj.data.materials[2].motionbridge_surface.two_sided = True
    assert bpy.ops.export_scene.xray_ogf(filepath=str(target), replace_meshes=True) == {"FINISHED"}
    iron = ogf.read(target.read_bytes(), "body.ogf", Report()).children[2]
    assert len(iron.first(Indices).corners) == 12
    normals = iron.first(Vertices).rows["normal"]
    np.testing.assert_allclose(normals.sum(axis=0), 0, atol=1e-5)
    again = import_model(bpy.context, path, ModelImportOptions(), Report())
    again.meshes[0].data.materials[0].motionbridge_surface.two_sided = True
    bpy.context.view_layer.objects.active = again.rig
    untouched = tmp_path / "untouched.ogf"
    assert bpy.ops.export_scene.xray_ogf(filepath=str(untouched)) == {"FINISHED"}
    assert untouched.read_bytes() == path.read_bytes()
    assert any("two-sided materials are written by Replace Meshes alone" in line for line in last_report())
    bpy.context.view_layer.objects.active = imported.rig
    obj.data.materials[2] = None
    with pytest.raises(RuntimeError, match=r"2 faces have no material in 'Skin"):
        bpy.ops.export_scene.xray_ogf(filepath=str(target), replace_meshes=True)
    obj.data.materials[2] = bpy.data.materials["Iron"]
    assert sum(len(child.first(Indices).corners) for child in before.children) == 30
    np.testing.assert_array_equal(after.header.box, before.header.box)
    kept = [
        [bytes(section.chunk.body) for section in document.sections if section.chunk.id != 9]
        for document in (before, after)
    ]
    assert kept[0] == kept[1]


def wave(rig):
    """An action that turns and moves every bone."""
    rig.animation_data_create().action = bpy.data.actions.new("wave")
    bpy.context.view_layer.objects.active = rig
    for frame, angle in ((0, 0.0), (10, 0.7)):
        for number, bone in enumerate(rig.pose.bones):
            bone.rotation_quaternion = (np.cos(angle + 0.1 * number), np.sin(angle + 0.1 * number), 0, 0)
            bone.location = (0.1 * angle, 0, 0.02 * number * angle)
            for path in ("rotation_quaternion", "location"):
                bone.keyframe_insert(path, frame=frame)


def test_motions_inside_a_new_model(tmp_path):
    rig, _ = humanoid()
    making.set_up(rig)
    wave(rig)
    path = tmp_path / "body.ogf"
    assert bpy.ops.export_scene.xray_ogf(filepath=str(path), motions_inside=True) == {"FINISHED"}
    document = ogf.read(path.read_bytes(), "body.ogf", Report())
    assert document.header.type == VisualType.SKELETON_ANIMATED
    inside = motion_set_of(document)
    alone = tmp_path / "body.omf"
    assert bpy.ops.export_scene.xray_omf(filepath=str(alone)) == {"FINISHED"}
    expected = omf.read(alone.read_bytes(), "body.omf", Report()).motion_set
    assert omf.write(omf.new_omf(inside)) == omf.write(omf.new_omf(expected))
    assert [bone.name.decode() for bone in inside.parameters.partitions[0].bones] == ORDER
    imported = import_model(bpy.context, path, ModelImportOptions(), Report())
    assert imported.motions is not None
    rig.motionbridge_editor_model.references.add().name = "actors\\body"
    bpy.context.view_layer.objects.active = rig
    report = Report()
    plan = making.plan_new(
        bpy.context, rig, "new.ogf", ModelExportOptions(), report, chosen=[rig.animation_data.action]
    )
    assert motion_set_of(ogf.read(plan.data, "new.ogf", Report())) is None
    assert any("the game reads motion references instead" in line for line in report.lines())


def test_bones_as_in_motions_gives_order_and_parts_to_model_and_motions(tmp_path):
    rig, _ = humanoid()
    making.set_up(rig)
    wave(rig)
    rig.data.bones["hand"].name = "tail"
    rig.data.bones["tail"].motionbridge_xray.game_name = "tail"
    entries = [("legs", [("head", 0), ("wing", 1)]), ("torso", [("spine", 3), ("arm_r", 2), ("arm_l", 4)])]
    parts = [Partition(name.encode(), [PartitionBone(*(bone.encode(), track)) for bone, track in bones])
             for name, bones in entries]  # fmt: skip
    source = tmp_path / "other.omf"
    source.write_bytes(omf.write(omf.new_omf(MotionSet(numbered([]), Parameters(4, parts, [])))))
    assert bpy.ops.motionbridge.bones_as(filepath=str(source)) == {"FINISHED"}
    message = "\n".join(last_report())
    assert "bones of the other model that this one lacks: wing" in message
    assert "bones that the other model lacks, which get numbers behind its own: tail" in message
    order = [b"head", b"arm_r", b"spine", b"arm_l", b"tail"]
    path, motions = tmp_path / "body.ogf", tmp_path / "body.omf"
    assert bpy.ops.export_scene.xray_ogf(filepath=str(path), motions_inside=True) == {"FINISHED"}
    document = ogf.read(path.read_bytes(), "body.ogf", Report())
    assert [bone.name for bone in document.first(BoneNames).bones] == order
    wanted = [
        (b"legs", [(b"head", 0), (b"tail", 4)]),
        (b"torso", [(b"spine", 2), (b"arm_r", 1), (b"arm_l", 3)]),
    ]
    assert bpy.ops.export_scene.xray_omf(filepath=str(motions)) == {"FINISHED"}
    for result in (motion_set_of(document), omf.read(motions.read_bytes(), "body.omf", Report()).motion_set):
        listed = result.parameters.partitions
        assert [(part.name, [(bone.name, bone.track) for bone in part.bones]) for part in listed] == wanted
    model = tmp_path / "body.object"
    assert bpy.ops.export_scene.xray_object(filepath=str(model), motions=False) == {"FINISHED"}
    listed = editor_model.read(model.read_bytes(), "body.object", Report()).model.parts
    assert [(part.name, part.bones) for part in listed] == [
        (b"legs", [b"head", b"tail"]),
        (b"torso", [b"spine", b"arm_r", b"arm_l"]),
    ]


def listed_material(number, name, flags):
    return chunk(number, chunk(0x1000, words(number), name + b"\0"), chunk(0x1001, words(flags)))


@pytest.fixture
def game_materials(tmp_path):
    """A game folder with materials, of which one is dynamic."""
    entries = (listed_material(0, b"objects\\metal", 1 << 8), listed_material(1, b"materials\\earth", 0))
    listed = chunk(0x1000, b"\1\0"), chunk(0x1002, *entries)
    (tmp_path / "gamemtl.xr").write_bytes(b"".join(listed))
    with installed(tmp_path):
        yield


def test_game_materials_of_bones_and_surfaces_come_from_the_game(game_materials):
    rig, obj = humanoid()
    making.set_up(rig)
    assert new_models.material_names(bpy.context, dynamic=True) == {"objects\\metal"}
    assert new_models.material_names(bpy.context, dynamic=False) == {"objects\\metal", "materials\\earth"}
    bpy.context.view_layer.objects.active = rig
    rig.data.bones.active = rig.data.bones["Head"]
    name = "objects\\metal"
    assert bpy.ops.motionbridge.choose_game_material(target="BONE", material_name=name) == {"FINISHED"}
    assert known(rig.data.bones["Head"]).material == name
    entry = made(rig).first(IkData).bones[ORDER.index("head")]
    assert entry.material == name.encode()
    with pytest.raises(RuntimeError, match="there is no such game material"):
        bpy.ops.motionbridge.choose_game_material(target="BONE", material_name="materials\\earth")
    bpy.context.view_layer.objects.active = obj
    call = {"target": "SURFACE", "material_name": "materials\\earth"}
    assert bpy.ops.motionbridge.choose_game_material(**call) == {"FINISHED"}
    assert obj.active_material.motionbridge_surface.game_material == "materials\\earth"


def test_exported_motions_move_the_exported_model_as_in_blender(tmp_path):
    rig, _ = humanoid()
    document = made(rig)
    wave(rig)
    path = tmp_path / "body.omf"
    assert bpy.ops.export_scene.xray_omf(filepath=str(path)) == {"FINISHED"}
    (clip,) = decode_clips(omf.read(path.read_bytes(), "body.omf", Report()).motion_set, Report())
    skeleton = decode_skeleton(document, Report())
    tracks = [[bone.lower() for bone in clip.bones].index(name) for name in skeleton.bones]
    poses = skeleton.pose_matrices(clip.rotations[tracks], clip.translations[tracks])
    assert poses.shape[1] == 11
    for frame in (0, 5, 10):
        bpy.context.scene.frame_set(frame)
        for name, pose in zip(skeleton.bones, poses[:, frame], strict=True):
            bone = next(bone for bone in rig.pose.bones if bone.name.lower() == name)
            np.testing.assert_allclose(pose, np.array(bone.matrix), atol=2e-3)


def test_bones_that_were_added_later_can_be_set_up():
    rig, _ = humanoid()
    assert bpy.ops.motionbridge.new_game_model.poll()
    making.set_up(rig)
    bpy.context.view_layer.objects.active = rig
    assert not bpy.ops.motionbridge.new_game_model.poll()
    bpy.ops.object.mode_set(mode="EDIT")
    bone = rig.data.edit_bones.new("tail")
    bone.head, bone.tail, bone.parent = (0, 0, 1), (0, 0.3, 1), rig.data.edit_bones["spine"]
    bpy.ops.object.mode_set(mode="OBJECT")
    assert making.has_new_bones(rig)
    assert bpy.ops.motionbridge.new_game_model() == {"FINISHED"}
    assert last_report()[0].endswith("new bones: 1")
    assert known(rig.data.bones["tail"]).index == 5
    assert not making.has_new_bones(rig)


def test_what_a_new_model_lacks_is_reported_when_it_is_exported():
    rig, obj = humanoid()
    rig.scale = (1, -1, 1)
    obj.data.materials[1].motionbridge_material.texture = ""
    bpy.context.view_layer.update()
    report = Report()
    made(rig, report)
    lines = report.lines()
    assert any("its own rotation and scale are not in the model" in line and "Body" in line for line in lines)
    assert [line for line in lines if "has no texture" in line and "Cloth" in line]
    assert not [line for line in lines if "has no texture" in line and "Skin" in line]
    obj.data.materials[0] = None
    with pytest.raises(WriteError, match=r"8 faces have no material in 'Skin'\. Give every face a material"):
        made(rig)


def test_mirrored_meshes_and_those_on_posed_bones_are_written_as_they_are_seen_at_rest():
    rig, obj = humanoid()
    obj.scale = (-1, 1, 1)
    added = cube("tool", 0.2)
    added.parent, added.parent_type, added.parent_bone = rig, "BONE", "hand"
    added.location, added.rotation_euler = (0.1, 0.2, 0.3), (0.4, 0.5, 0.6)
    bpy.context.view_layer.update()
    seen = [(own_entry, np.array(rig.matrix_world.inverted() @ own_entry.matrix_world)) for own_entry in (obj, added)]
    for posed in rig.pose.bones:
        posed.rotation_mode, posed.rotation_euler = "XYZ", (0.7, 0.2, 0.1)
    bpy.context.view_layer.update()
    expected = set()
    for entry, position in seen:
        corners = np.array([tuple(vertex.co) for vertex in entry.data.vertices]) @ position[:3, :3].T + position[:3, 3]
        entry.data.calc_loop_triangles()
        expected |= {
            outside(corners[list(cut.vertices)[:: -1 if entry is obj else 1]]) for cut in entry.data.loop_triangles
        }
    document = made(rig)
    written = set()
    for mesh in decode_meshes(document, Report()):
        written |= {outside(mesh.positions[triangle]) for triangle in mesh.triangles}
    assert written == expected
    assert not [
        problem for problem in making.find_problems(bpy.context, rig, Report()) if "scale" in problem.problem.sentence
    ]


def outside(corners):
    """A triangle as the least of its corners and the two that follow it, seen from outside."""
    rounded = [tuple(np.round(corner.astype(np.float64), 4) + 0.0) for corner in corners]
    least = rounded.index(min(rounded))
    return tuple(rounded[least:] + rounded[:least])
