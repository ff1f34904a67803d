"""New models of the editor (.object) of meshes and armatures that came from no such file."""

import bpy
import numpy as np
import pytest

from addon.core.errors import WriteError
from addon.core.report import Report
from addon.formats.xray import bones as bone_files
from addon.formats.xray import object as editor_model
from addon.formats.xray.object.checks import problems
from addon.formats.xray.object.chunk_types import ActorTransform, ObjectFlags
from addon.formats.xray.object.mesh_chunks import Faces, MeshFlags, Points
from addon.formats.xray.object.smoothing import Rule, corner_normals, rule_of
from addon.formats.xray.ogf.chunk_types import MotionReferences, MotionReferences2
from addon.games.xray.models import importing, making
from addon.games.xray.models.importing import import_model
from addon.games.xray.options import EditorModelExportOptions, ModelImportOptions, Sdk
from tests.blender.scenes import add_object


def cube(name="cube"):
    bpy.ops.mesh.primitive_cube_add(size=2)
    obj = bpy.context.object
    obj.name = name
    obj.data.materials.append(bpy.data.materials.new("Wall"))
    return obj


def made(holder, report=None, **options):
    """The plan and the document of a new model."""
    report = Report() if report is None else report
    plan = making.plan_new_object(bpy.context, holder, "new.object", EditorModelExportOptions(**options), report)
    return plan, editor_model.read(plan.data, "new.object", Report())


def test_a_mesh_alone():
    actual = cube()
    report = Report()
    plan, document = made(actual, report)
    model = document.model
    assert plan.sentence() == "a new editor model"
    assert not list(problems(document))
    assert not report.warnings
    (mesh,) = model.meshes
    assert (mesh.label, len(mesh.first(Points).positions), len(mesh.first(Faces).corners)) == ("cube", 8, 12)
    assert mesh.first(MeshFlags).flags == 1
    assert model.first(ObjectFlags).flags == 0
    (surface,) = model.surfaces
    assert (surface.name, surface.shader, surface.compiler_shader, surface.material) == (
        b"Wall",
        b"default",
        b"default",
        b"default",
    )


@pytest.mark.parametrize(("sdk", "rule"), [(Sdk.SOC, Rule.GROUPS), (Sdk.COP, Rule.EDGES)])
def test_flat_and_smooth_faces(sdk, rule):
    obj = cube()
    obj.data.shade_flat()
    _, document = made(obj, sdk=sdk)
    flat = corner_normals(document.model.meshes[0])
    assert np.abs(flat).max(axis=2) == pytest.approx(1, abs=1e-6)
    obj.data.shade_smooth()
    _, document = made(obj, sdk=sdk)
    mesh = document.model.meshes[0]
    normals = corner_normals(mesh)
    positions = mesh.first(Points).positions[mesh.first(Faces).corners[:, :, 0]]
    assert (np.sign(normals) == np.sign(positions)).all()
    assert rule_of(mesh) in (rule, Rule.EDGES)


def test_what_is_written_is_what_is_imported(tmp_path):
    obj = cube()
    obj.data.shade_smooth()
    sharp = obj.data.edges[3]
    sharp.use_edge_sharp = True
    plan, _ = made(obj)
    path = tmp_path / "new.object"
    path.write_bytes(plan.data)
    model = importing.import_editor_model(bpy.context, path, ModelImportOptions(textures=False), Report())
    again = model.meshes[0].data
    assert [tuple(vertex.co) for vertex in again.vertices] == [tuple(vertex.co) for vertex in obj.data.vertices]
    assert [set(edge.vertices) for edge in again.edges if edge.use_edge_sharp] == [set(sharp.vertices)]
    assert again.materials[0].motionbridge_surface.game_name == "Wall"


def rigged():
    """An armature of two plain bones and a cube that follows them."""
    obj = cube()
    data = bpy.data.armatures.new("rig")
    rig = add_object("rig", data, active=True)
    bpy.ops.object.mode_set(mode="EDIT")
    root = data.edit_bones.new("root")
    root.head, root.tail = (0, 0, 0), (0, 0, 1)
    arm = data.edit_bones.new("Arm")
    arm.head, arm.tail, arm.parent = (0, 0, 1), (0, 1, 1), root
    bpy.ops.object.mode_set(mode="OBJECT")
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    obj.vertex_groups.new(name="root").add([0, 1, 2, 3], 1.0, "REPLACE")
    obj.vertex_groups.new(name="Arm").add([4, 5, 6, 7], 1.0, "REPLACE")
    return rig, obj


def test_a_rig(tmp_path):
    rig, _ = rigged()
    report = Report()
    plan, document = made(rig, report)
    model = document.model
    assert not list(problems(document))
    assert [(bone.name, bone.parent, bone.weight_map) for bone in model.bones] == [
        ("root", "", "root"),
        ("Arm", "root", "Arm"),
    ]
    assert [bone.first(bone_files.Mass).mass for bone in model.bones] == [10, 10]
    assert model.first(ObjectFlags).flags == 1
    assert [part.bones for part in model.parts] == [[b"root", b"Arm"]]
    assert model.first(ActorTransform).values.tolist() == [[0, 0, 0], [0, 0, 0]]
    path = tmp_path / "new.object"
    path.write_bytes(plan.data)
    imported = importing.import_editor_model(bpy.context, path, ModelImportOptions(textures=False), Report())
    for bone in imported.rig.data.bones:
        np.testing.assert_allclose(
            np.array(bone.matrix_local), np.array(rig.data.bones[bone.name].matrix_local), atol=1e-5
        )
    again = imported.meshes[0]
    for vertex in again.data.vertices:
        weights = {again.vertex_groups[group.group].name: group.weight for group in vertex.groups}
        assert weights == {"root" if vertex.index < 4 else "Arm": 1.0}


def test_a_mesh_on_a_bone_follows_it():
    rig, obj = rigged()
    obj.modifiers.clear()
    obj.vertex_groups.clear()
    obj.parent, obj.parent_type, obj.parent_bone = rig, "BONE", "Arm"
    _, document = made(rig)
    assert not list(problems(document))
    assert [entry.label for entry in document.model.meshes[0].maps.maps if entry.type == 1] == ["Arm"]


def test_a_game_model_becomes_one_of_the_editor(samples):
    imported = import_model(bpy.context, samples / "humanoid.ogf", ModelImportOptions(textures=False), Report())
    for sdk, kind in ((Sdk.SOC, MotionReferences), (Sdk.COP, MotionReferences2)):
        _, document = made(imported.rig, sdk=sdk)
        model = document.model
        assert {bone.name for bone in model.bones} == {
            bone.motionbridge_xray.game_name for bone in imported.rig.data.bones
        }
        wanted = [entry.name.encode() for entry in imported.rig.motionbridge_model.references]
        listed = model.first(kind)
        assert (listed.names if listed is not None else []) == wanted
        assert all(surface.shader and surface.texture for surface in model.surfaces)


def test_names_of_textures():
    used = bpy.data.materials.new("m")
    if used.node_tree is None:
        used.use_nodes = True
    node = used.node_tree.nodes.new("ShaderNodeTexImage")
    node.image = bpy.data.images.new("Plain", 4, 4)
    assert making.texture_name(used) == "plain"
    node.image.filepath = "C:\\game\\textures\\wpn\\Wpn_AK74.dds"
    assert making.texture_name(used) == "wpn\\wpn_ak74"
    node.image.filepath = "//../textures/wpn/Wpn_PM.dds"
    assert making.texture_name(used) == "wpn\\wpn_pm"
    bump = used.node_tree.nodes.new("ShaderNodeTexImage")
    bump.image = node.image
    node.image = bpy.data.images.new("Bump", 4, 4)
    surface = next(node for node in used.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    used.node_tree.links.new(bump.outputs["Color"], surface.inputs["Base Color"])
    assert making.texture_name(used) == "wpn\\wpn_pm"
    assert making.texture_name(bpy.data.materials.new("none")) == ""


def test_nothing_with_faces_is_refused():
    with pytest.raises(WriteError, match="has no meshes"):
        made(bpy.data.objects.new("empty", None))


def test_through_the_operator(tmp_path):
    rig, _ = rigged()
    bpy.context.view_layer.objects.active = rig
    path = tmp_path / "new.object"
    assert bpy.ops.export_scene.xray_object(filepath=str(path), sdk="SOC") == {"FINISHED"}
    assert len(editor_model.read(path.read_bytes(), "a", Report()).model.bones) == 2
