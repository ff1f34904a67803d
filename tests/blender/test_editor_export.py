"""Models of the editor (.object) out of Blender: what is not edited keeps its bytes, an edit changes its chunks."""

from pathlib import Path

import bmesh
import bpy
import numpy as np
import pytest

from addon.core.binary import Writer
from addon.core.changes import Noun
from addon.core.errors import WriteError
from addon.core.report import Report
from addon.formats.xray import bones as bone_files
from addon.formats.xray import object as editor_model
from addon.formats.xray.object.checks import problems
from addon.formats.xray.object.chunk_types import DYNAMIC, ExportScale, LodName, ObjectFlags
from addon.formats.xray.object.mesh_chunks import (
    Box,
    Faces,
    MeshFlags,
    Normals,
    Points,
    Smoothing,
    SurfacesOfFaces,
    VertexMapRefs,
    VertexMaps,
)
from addon.formats.xray.object.smoothing import Rule, corner_normals, rule_of
from addon.formats.xray.ogf.chunk_types import MotionReferences, MotionReferences2, UserData
from addon.games.xray.models import editor_exporting, importing
from addon.games.xray.options import EditorModelExportOptions, ModelImportOptions
from tests.blender import raw_object
from tests.blender.scenes import column, delete_faces, editing
from tests.formats.xray.level_bytes import chunk, words
from tests.formats.xray.object.small_object import BONE, mesh, small
from tests.real_files import corpus_files

WHOLE = [corpus_file for corpus_file in corpus_files("object") if "bx_no_mesh" not in str(corpus_file.id)]


def imported(path, **options):
    options.setdefault("textures", False)
    return importing.import_editor_model(bpy.context, path, ModelImportOptions(**options), Report())


def planned(result, report=None, **options):
    report = Report() if report is None else report
    return editor_exporting.plan_export(
        bpy.context, result.holder, "out.object", EditorModelExportOptions(**options), report
    )


def exported(result, report=None):
    """The model that would be written, and what is said of it."""
    plan = planned(result, report)
    return editor_model.read(plan.data, "out.object", Report()).model, plan


def made(tmp_path, data):
    path = tmp_path / "made.object"
    path.write_bytes(data)
    return path


def changed_kinds(before, after):
    """The kinds of the mesh chunks whose bodies differ."""
    first, second = ({type(section.value): section for section in held.sections} for held in (before, after))
    assert first.keys() == second.keys()
    bodies = [{kind: _body(entry.value) for kind, entry in side.items()} for side in (first, second)]
    return {kind for kind in first if bodies[0][kind] != bodies[1][kind]}


def _body(value):
    writer = Writer()
    value.write(writer)
    return writer.getvalue()


@pytest.mark.parametrize(
    "path",
    corpus_files("object/wpn_pm_hud.object", "object/bx_bones.object"),
)
def test_one_vertex_changes_its_mesh_alone(path):
    before = editor_model.read(path.read_bytes(), path.name, Report()).model
    model = imported(path)
    model.meshes[-1].data.vertices[2].co.x += 0.25
    after, plan = exported(model)
    assert [part.noun for part in plan.changes.parts] == [Noun.MESH]
    for old, new in zip(before.meshes[:-1], after.meshes[:-1], strict=True):
        assert changed_kinds(old, new) == set()
    assert changed_kinds(before.meshes[-1], after.meshes[-1]) <= {Points, Box}
    moved = np.flatnonzero(
        (before.meshes[-1].first(Points).positions != after.meshes[-1].first(Points).positions).any(axis=1)
    )
    assert moved.tolist() == [2]
    assert [section.chunk.id for section in before.sections] == [section.chunk.id for section in after.sections]


def test_texture_coordinates_of_one_corner(samples):
    model = imported(samples / "weapon.object")
    before = editor_model.read((samples / "weapon.object").read_bytes(), "a", Report()).model
    model.meshes[0].data.uv_layers[0].uv[4].vector = (0.125, 0.25)
    after, plan = exported(model)
    assert plan.changes.parts[0].fields == ("1 texture coordinate",)
    assert changed_kinds(before.meshes[0], after.meshes[0]) <= {Faces, VertexMapRefs, VertexMaps}
    again = imported(made_file(plan))
    own_mesh = again.meshes[0].data.uv_layers[0].uv
    assert tuple(own_mesh[4].vector) == (0.125, 0.25)
    for number in (0, 3, 5, 20):
        assert tuple(own_mesh[number].vector) == tuple(model.meshes[0].data.uv_layers[0].uv[number].vector)


def test_another_picture_on_a_material_is_reported_and_the_texture_stays(samples):
    model = imported(samples / "weapon.object")
    metal = model.meshes[0].data.materials[0]
    node = metal.node_tree.nodes.new("ShaderNodeTexImage")
    node.image = bpy.data.images.new("rust", 4, 4)
    report = Report()
    plan = planned(model, report)
    assert plan.data == (samples / "weapon.object").read_bytes()
    (message,) = report.warnings
    assert message == (
        "the material shows 'rust', but its texture is samples\\metal; type the path of another texture in "
        "Properties > Material > X-Ray Material"
    )
    metal.motionbridge_material.texture = "samples\\rust"
    report = Report()
    assert [part.fields for part in planned(model, report).changes.parts] == [("texture",)]
    assert not report.warnings


def made_file(plan):
    path = Path(bpy.app.tempdir) / "written.object"
    path.write_bytes(plan.data)
    return path


def test_weights_of_one_vertex(samples):
    model = imported(samples / "weapon.object")
    own_mesh = model.meshes[0]
    group = own_mesh.vertex_groups[1]
    group.add([0], 0.5, "REPLACE")
    own_mesh.vertex_groups[0].add([0], 0.5, "REPLACE")
    _, plan = exported(model)
    assert plan.changes.parts[0].fields == ("1 vertex with other weights",)
    again = imported(made_file(plan)).meshes[0]
    for number in range(len(own_mesh.data.vertices)):
        weights = [
            sorted((side.vertex_groups[group.group].name, group.weight) for group in side.data.vertices[number].groups)
            for side in (own_mesh, again)
        ]
        assert weights[0] == weights[1]
    assert not list(problems(editor_model.read(plan.data, "a", Report())))


def test_another_material_of_a_face(samples):
    model = imported(samples / "weapon.object")
    before = editor_model.read((samples / "weapon.object").read_bytes(), "a", Report()).model
    model.meshes[0].data.polygons[0].material_index = 1
    after, plan = exported(model)
    assert plan.changes.parts[0].fields == ("1 face with another surface",)
    assert changed_kinds(before.meshes[0], after.meshes[0]) == {SurfacesOfFaces}
    metal, sight = after.meshes[0].first(SurfacesOfFaces).surfaces
    assert 0 in sight.faces
    assert 0 not in metal.faces


def sharpen(data, number, value):
    edge = data.edges[number]
    edge.use_edge_sharp = value
    return edge


def test_a_sharp_edge_is_a_hard_edge_of_its_two_faces(samples):
    model = imported(samples / "weapon.object")
    before = editor_model.read((samples / "weapon.object").read_bytes(), "a", Report()).model.meshes[0]
    assert rule_of(before) is Rule.EDGES
    data = model.meshes[0].data
    number = next(edge.index for edge in data.edges if not edge.use_edge_sharp)
    sharpen(data, number, True)
    after, plan = exported(model)
    assert plan.changes.parts[0].fields == ("sharp edges",)
    assert changed_kinds(before, after.meshes[0]) == {Smoothing}
    differ = np.flatnonzero(before.first(Smoothing).groups != after.meshes[0].first(Smoothing).groups)
    assert len(differ) == 2
    assert rule_of(after.meshes[0]) is Rule.EDGES
    again = imported(made_file(plan)).meshes[0].data
    assert [edge.use_edge_sharp for edge in again.edges] == [edge.use_edge_sharp for edge in data.edges]


def test_groups_stay_groups(tmp_path):
    # Two triangles of one group: 20 is no edge bits.
    model = imported(made(tmp_path, small((mesh(x1013=words(20, 20), x1014=None),))))
    data = model.meshes[0].data
    diagonal = next(edge for edge in data.edges if set(edge.vertices) == {0, 2})
    diagonal.use_edge_sharp = True
    after, _ = exported(model)
    first, second = after.meshes[0].first(Smoothing).groups.tolist()
    assert first == 20
    assert (second not in (20, 0xFFFFFFFF) and second >= 16) or second == 0xFFFFFFFF
    assert rule_of(after.meshes[0]) is Rule.GROUPS


def test_stored_normals_follow_the_ones_shown(tmp_path):
    model = imported(made(tmp_path, small()))
    data = model.meshes[0].data
    wanted = np.tile(np.array([0.0, 0.6, 0.8], np.float32), (len(data.loops), 1))
    if "custom_normal" in data.attributes:
        data.attributes["custom_normal"].data.foreach_set("vector", wanted.ravel())
    else:
        data.normals_split_custom_set(wanted.tolist())
    after, plan = exported(model)
    stored = after.meshes[0].first(Normals).normals
    np.testing.assert_allclose(stored.reshape(-1, 3), np.tile([0.0, 0.8, 0.6], (6, 1)), atol=2e-3)
    assert "normals" in plan.changes.parts[0].fields[0]


def test_deleted_and_new_faces(samples):
    model = imported(samples / "weapon.object")
    own_mesh = model.meshes[0]
    delete_faces(own_mesh.data, 0)
    report = Report()
    after, plan = exported(model, report)
    held = after.meshes[0]
    assert len(held.first(Faces).corners) == 47
    assert plan.changes.parts[0].fields == ("faces 48 -> 47",)
    assert not report.warnings
    again = imported(made_file(plan)).meshes[0].data
    assert len(again.polygons) == 47
    np.testing.assert_allclose(
        [tuple(vertex.co) for vertex in again.vertices], [tuple(vertex.co) for vertex in own_mesh.data.vertices]
    )


def test_a_square_is_cut_into_triangles(samples):
    model = imported(samples / "weapon.object")
    own_mesh = model.meshes[0]
    with editing(own_mesh.data) as edited:
        bmesh.ops.join_triangles(edited, faces=edited.faces[:], angle_face_threshold=0.1, angle_shape_threshold=3.2)
    assert len(own_mesh.data.polygons) < 48
    after, _ = exported(model)
    assert len(after.meshes[0].first(Faces).corners) == 48
    assert not list(problems(editor_model.read(planned(model).data, "a", Report())))


def test_a_new_mesh_below_the_armature(samples):
    model = imported(samples / "weapon.object")
    own_mesh = model.meshes[0].copy()
    own_mesh.data = own_mesh.data.copy()
    own_mesh.name = "second"
    own_mesh.motionbridge_editor_mesh.is_part = False
    bpy.context.scene.collection.objects.link(own_mesh)
    after, plan = exported(model)
    assert [these_mesh.label for these_mesh in after.meshes] == ["weapon", "second"]
    assert after.meshes[1].first(MeshFlags).flags == 1
    np.testing.assert_array_equal(after.meshes[1].first(Points).positions, after.meshes[0].first(Points).positions)
    np.testing.assert_allclose(corner_normals(after.meshes[1]), corner_normals(after.meshes[0]), atol=1e-6)
    assert [(part.noun, part.name) for part in plan.changes.parts] == [(Noun.MESH, "second")]
    assert plan.sentence() == "1 mesh added"


def two_meshes(tmp_path, samples, **options):
    """The sample's model with its mesh twice, the second one beside the first, imported from a file of its own."""
    model = imported(samples / "weapon.object")
    own_mesh = model.meshes[0].copy()
    own_mesh.data = own_mesh.data.copy()
    own_mesh.name, own_mesh.location = "second", (3, 0, 0)
    bpy.context.scene.collection.objects.link(own_mesh)
    path = made(tmp_path, planned(model).data)
    bpy.data.batch_remove([*bpy.data.objects, *bpy.data.materials])
    return imported(path, **options), path


def test_a_deleted_mesh_leaves_the_file(tmp_path, samples):
    model, path = two_meshes(tmp_path, samples)
    first, second = raw_object.model(path.read_bytes())[0]
    bpy.data.objects.remove(model.meshes[0])
    report = Report()
    plan = planned(model, report)
    ((only,), _, _) = raw_object.model(plan.data)
    assert [only.name, only.points.tolist(), only.faces] == [second.name, second.points.tolist(), second.faces]
    assert first.name != second.name
    assert plan.changes.lines_of(Noun.MESH) == [f"{first.name}: removed"]
    assert report.lines() == [f"a mesh of the model is no longer in the scene; left out of the file ({first.name})"]


def test_meshes_that_are_joined_are_not_written_twice(tmp_path, samples):
    model, path = two_meshes(tmp_path, samples)
    before = sum(len(entry.faces) for entry in raw_object.model(path.read_bytes())[0])
    with bpy.context.temp_override(active_object=model.meshes[1], selected_editable_objects=model.meshes):
        bpy.ops.object.join()
    assert [len(entry.faces) for entry in raw_object.model(planned(model).data)[0]] == [before]


@pytest.mark.parametrize("meshes", [False, True])
def test_a_model_without_any_mesh_in_the_scene_keeps_those_of_its_file(tmp_path, samples, meshes):
    model, path = two_meshes(tmp_path, samples, meshes=meshes)
    bpy.data.batch_remove(model.meshes)
    report = Report()
    assert planned(model, report).data == path.read_bytes()
    assert [*report.warnings] == ["a mesh of the model is not in the scene; written as the file has it"]


def volume(meshes):
    """What the faces enclose, six times: below 0 where they are inside out."""
    corners = np.array([[corner[1] for corner in face] for own_mesh in meshes for face in own_mesh.faces])
    return float(np.linalg.det(corners).sum())


def hard_places(entry):
    """Hard edges as the places of their ends."""
    return {frozenset(tuple(entry.points[end].tolist()) for end in edge) for edge in raw_object.hard_edges(entry)}


def test_a_mirrored_object_keeps_its_outside_outside(samples):
    path = samples / "weapon.object"
    model = imported(path)
    before, surfaces, bones = raw_object.model(path.read_bytes())
    assert volume(before) > 1e-6
    hard = {frozenset((0.0 - x, y, z) for x, y, z in edge) for edge in hard_places(before[0])}
    model.meshes[0].scale.x = -1
    report = Report()
    plan = planned(model, report)
    after, _, _ = raw_object.model(plan.data)
    assert not report.warnings
    assert volume(after) == pytest.approx(volume(before), rel=1e-5)
    for entry in before:
        entry.faces = [
            [(point, (0.0 - x, y, z), uv, weights) for point, (x, y, z), uv, weights in (face[0], face[2], face[1])]
            for face in entry.faces
        ]
    assert raw_object.soup(after[0], surfaces, bones) == raw_object.soup(before[0], surfaces, bones)
    assert hard_places(after[0]) == hard


def test_the_models_own_scale_is_reported_to_be_left_out(samples):
    model = imported(samples / "weapon.object")
    model.holder.scale = (2, 2, 2)
    bpy.context.view_layer.update()
    report = Report()
    assert planned(model, report).data == (samples / "weapon.object").read_bytes()
    assert [*report.warnings] == [
        "its own rotation and scale are not in the model; apply them (Ctrl A) if they should be"
    ]


def test_what_is_parented_to_a_bone_is_written_at_rest_and_follows_it(samples):
    model = imported(samples / "weapon.object")
    bone = model.rig.data.bones[-1]
    added = []
    for name in ("barrel", "sight"):
        bpy.ops.mesh.primitive_cube_add(size=0.1)
        bpy.context.object.name = name
        bpy.context.object.data.materials.append(model.meshes[0].data.materials[0])
        added.append(bpy.context.object)
    added[0].parent, added[0].parent_type, added[0].parent_bone = model.rig, "BONE", bone.name
    added[1].parent = added[0]
    for entry in added:
        entry.location, entry.rotation_euler = (0.1, 0.2, 0.3), (0.4, 0.5, 0.6)
    bpy.context.view_layer.update()
    positions = [np.array(model.rig.matrix_world.inverted() @ own_entry.matrix_world) for own_entry in added]
    for posed in model.rig.pose.bones:
        posed.rotation_mode, posed.rotation_euler, posed.location = "XYZ", (0.7, 0.2, 0.1), (1, 2, 3)
    bpy.context.view_layer.update()
    report = Report()
    written = raw_object.model(planned(model, report).data)[0][-2:]
    assert not report.warnings
    for entry, position, mesh_of_file in zip(added, positions, written, strict=True):
        corners = np.array([tuple(vertex.co) for vertex in entry.data.vertices])
        expected = corners @ position[:3, :3].T + position[:3, 3]
        np.testing.assert_allclose(mesh_of_file.points, expected[:, [0, 2, 1]], atol=1e-5)
        weights = {tuple(corner[3].items()) for face in mesh_of_file.faces for corner in face}
        assert weights == {((bone.motionbridge_xray.game_name, 1.0),)}
    model.rig.pose.bones[bone.name].scale = (0, 0, 0)
    bpy.context.view_layer.update()
    with pytest.raises(WriteError, match=r"'barrel' is parented to the bone .*Show the armature in its rest position"):
        planned(model)
    model.rig.data.pose_position = "REST"
    planned(model)


def test_a_new_material_gets_what_the_editor_asks_for(samples, tmp_path):
    model = imported(samples / "weapon.object")
    used = bpy.data.materials.new("Wood")
    if used.node_tree is None:
        used.use_nodes = True
    picture = used.node_tree.nodes.new("ShaderNodeTexImage")
    picture.image = bpy.data.images.new("stock", 4, 4)
    picture.image.filepath = str(tmp_path / "textures" / "wpn" / "stock.dds")
    shader = next(node for node in used.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    used.node_tree.links.new(shader.inputs["Base Color"], picture.outputs["Color"])
    model.meshes[0].data.materials[1] = used
    plan = planned(model)
    _, surfaces, _ = raw_object.model(plan.data)
    assert surfaces["wood"] == ("models\\model", "wpn\\stock", 0, ("default", "default"))
    assert not list(problems(editor_model.read(plan.data, "a", Report())))


@pytest.mark.parametrize("edit", ["moved", "added", "other faces"])
def test_positions_that_are_not_finite_are_refused(samples, edit):
    model = imported(samples / "weapon.object")
    own_mesh = model.meshes[0]
    if edit == "added":
        own_mesh = own_mesh.copy()
        own_mesh.data, own_mesh.name = own_mesh.data.copy(), "weapon"
        bpy.context.scene.collection.objects.link(own_mesh)
    if edit == "other faces":
        delete_faces(own_mesh.data, 0)
    own_mesh.data.vertices[3].co.x = float("nan")
    with pytest.raises(WriteError, match=r"a vertex of 'weapon.*' holds NaN or infinite values\. Correct or delete it"):
        planned(model)


def test_faces_without_material_are_of_no_surface(samples):
    model = imported(samples / "weapon.object")
    model.meshes[0].data.materials[1] = None
    report = Report()
    planned(model, report)
    count = sum(polygon.material_index == 1 for polygon in model.meshes[0].data.polygons)
    assert [*report.warnings] == [f"editors of the game: in mesh 'weapon': {count} faces have no surface"]


def test_surfaces_of_materials(samples):
    model = imported(samples / "weapon.object")
    metal = model.meshes[0].data.materials[0]
    metal.motionbridge_surface.game_material = "objects\\glass"
    metal.motionbridge_surface.two_sided = True
    metal.motionbridge_material.shader = "models\\window"
    after, plan = exported(model)
    surface = after.surfaces[0]
    assert (surface.material, surface.flags, surface.shader) == (b"objects\\glass", 1, b"models\\window")
    assert plan.changes.parts[0].fields == ("engine shader", "game material", "two-sided")
    assert after.surfaces[1].name == b"Sight"


def test_texts_of_the_panel(samples):
    model = imported(samples / "weapon.object")
    properties = model.holder.motionbridge_editor_model
    properties.shown_flags = {"DYNAMIC", "HIGH_QUALITY"}
    properties.user_data = "[other]\r\n"
    properties.lod = "lod\\weapon"
    properties.scale = 2.5
    properties.references[0].name = "actors\\weapon"
    properties.parts[0].name = "all"
    after, plan = exported(model)
    assert after.first(ObjectFlags).flags == DYNAMIC | 0x40
    assert after.first(ExportScale).scale == 2.5
    assert after.references == [b"actors\\weapon"]
    assert after.parts[0].name == b"all"
    assert (after.first(UserData).text, after.first(LodName).name) == (b"[other]\r\n", b"lod\\weapon")
    assert plan.changes.lines == ["flags", "user data", "LOD", "export scale", "motion references", "bone parts"]


def test_a_text_that_is_taken_out_again_is_empty_in_the_file(samples, tmp_path):
    model = imported(samples / "weapon.object")
    properties = model.holder.motionbridge_editor_model
    properties.user_data, properties.lod = "[other]\r\n", "lod\\weapon"
    target = tmp_path / "with_texts.object"
    target.write_bytes(exported(model)[1].data)
    model = imported(target)
    properties = model.holder.motionbridge_editor_model
    assert (properties.user_data, properties.lod) == ("[other]\r\n", "lod\\weapon")
    properties.user_data = properties.lod = ""
    after, plan = exported(model)
    assert plan.changes.lines == ["user data", "LOD"]
    assert (after.first(UserData).text, after.first(LodName).name) == (b"", b"")


def test_bones_at_rest_and_their_shapes(samples):
    model = imported(samples / "weapon.object")
    bones = model.rig.data.bones
    bones[1].motionbridge_xray.mass = 3.5
    bpy.context.view_layer.objects.active = model.rig
    bpy.ops.object.mode_set(mode="EDIT")
    bone = model.rig.data.edit_bones[-1]
    bone.head.z += 0.1
    bone.tail.z += 0.1
    name = bone.name
    bpy.ops.object.mode_set(mode="OBJECT")
    before = editor_model.read((samples / "weapon.object").read_bytes(), "a", Report()).model
    after, plan = exported(model)
    assert {part.name for part in plan.changes.parts} == {bones[1].motionbridge_xray.game_name, name}
    assert after.bones[1].first(bone_files.Mass).mass == 3.5
    old, new = (entry.bones[-1].first(bone_files.Placement).offset for entry in (before, after))
    assert np.abs(old - new).max() == pytest.approx(0.1, abs=1e-5)
    assert (
        after.bones[0].first(bone_files.Placement).offset.tolist()
        == before.bones[0].first(bone_files.Placement).offset.tolist()
    )


def test_a_new_bone_is_in_the_editors_order(samples):
    model = imported(samples / "weapon.object")
    bpy.context.view_layer.objects.active = model.rig
    bpy.ops.object.mode_set(mode="EDIT")
    bones = model.rig.data.edit_bones
    root = next(bone for bone in bones if bone.parent is None)
    new = bones.new("aaa")
    new.head, new.tail, new.parent = (0, 0, 1), (0, 0.1, 1), root
    bpy.ops.object.mode_set(mode="OBJECT")
    after, plan = exported(model)
    assert [bone.name for bone in after.bones][1] == "aaa"
    assert after.bones[1].parent == after.bones[0].name
    assert after.bones[1].weight_map == "aaa"
    assert [(part.name, part.new) for part in plan.changes.parts] == [("aaa", True)]
    assert plan.sentence() == "1 bone added"


def test_a_vertex_without_weights_is_reported_before_writing(samples):
    model = imported(samples / "weapon.object")
    own_mesh = model.meshes[0]
    for group in own_mesh.vertex_groups:
        group.remove([0])
    report = Report()
    planned(model, report)
    assert any("no weights" in warning for warning in report.warnings)


def test_bones_of_one_name_stay(tmp_path):
    model = imported(made(tmp_path, small(x921=chunk(0, BONE) + chunk(1, BONE))))
    plan = planned(model)
    assert plan.data == (tmp_path / "made.object").read_bytes()


def test_an_object_that_was_not_imported_is_refused():
    with pytest.raises(WriteError, match="not imported"):
        editor_exporting.plan_export(
            bpy.context, bpy.data.objects.new("other", None), "a.object", EditorModelExportOptions(), Report()
        )


@pytest.mark.parametrize("turned", [False, True])
def test_normals_of_the_editor_are_shown_after_an_edit(samples, turned):
    model = imported(samples / "weapon.object")
    own_mesh = model.meshes[0]
    before = column(own_mesh.data.corner_normals, "vector", 3)
    sharp = [edge.use_edge_sharp for edge in own_mesh.data.edges]
    own_mesh.data.vertices[2].co.x += 0.25
    if turned:  # the mesh is moved and turned in the model
        own_mesh.rotation_euler.z = 0.7
        own_mesh.location.y = 2
        bpy.context.view_layer.update()
    assert editor_exporting.show_normals(bpy.context, model.holder, Report()) == 1
    now = column(own_mesh.data.corner_normals, "vector", 3)
    assert np.abs(now - before).max() > 0.01
    _, plan = exported(model)
    (again,) = imported(made_file(plan)).meshes
    wanted = column(again.data.corner_normals, "vector", 3)
    if turned:
        wanted = wanted @ np.array(own_mesh.matrix_local)[:3, :3]
    np.testing.assert_allclose(now, wanted, atol=2e-3)  # 4.2 stores normals in 16 bits
    assert [edge.use_edge_sharp for edge in again.data.edges] == sharp
    # Normals alone are no edit.
    assert plan.changes.parts[0].fields == ((f"{len(own_mesh.data.vertices)} vertices" if turned else "1 vertex"),)


def test_normals_that_the_file_stores_are_left(tmp_path):
    model = imported(made(tmp_path, small()))
    report = Report()
    assert editor_exporting.show_normals(bpy.context, model.holder, report) == 0
    assert any("stores normals" in note for note in report.notes)


@pytest.mark.parametrize(
    "kinds", [(), (MotionReferences,), (MotionReferences2,), (MotionReferences2, MotionReferences)]
)
def test_motion_references_stay_in_the_chunk_that_editors_read(tmp_path, kinds):
    """Both at once: the first one is read."""
    bodies = {
        MotionReferences: (0x924, b"old,older\0"),
        MotionReferences2: (0x926, words(2) + b"old\0older\0"),
    }
    given = {f"x{number:x}": body for number, body in (bodies[kind] for kind in kinds)}
    path = made(tmp_path, small(**{"x924": None, "x926": None} | given))
    model = imported(path)
    rows = model.holder.motionbridge_editor_model.references
    assert [row.name for row in rows] == (["old", "older"] if kinds else [])
    rows.add().name = "new"
    after, _ = exported(model)
    before = editor_model.read(path.read_bytes(), "", Report()).model
    written = {kind: after.first(kind) for kind in (MotionReferences, MotionReferences2)}
    assert [kind for kind in written if written[kind] is not None and written[kind] != before.first(kind)] == [
        MotionReferences if MotionReferences in kinds or not kinds else MotionReferences2
    ]
    assert after.references == [row.name.encode() for row in rows]
