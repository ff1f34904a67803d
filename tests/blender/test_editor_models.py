"""Models of the editor (.object) into Blender, beside what their bytes say and what the editor computes."""

import json

import bpy
import numpy as np
import pytest

from addon.blender.properties import kept
from addon.core.errors import ReadError
from addon.core.report import Report
from addon.core.walk import Walk
from addon.formats.xray import bones as bone_files
from addon.formats.xray import object as editor_model
from addon.formats.xray.chunks import Chunk, Section
from addon.formats.xray.object.document import OBJECT
from addon.formats.xray.object.mesh_chunks import Faces, Points, SurfacesOfFaces
from addon.formats.xray.object.smoothing import corner_normals
from addon.games.xray.models import importing
from addon.games.xray.motions import library, skl_codec
from addon.games.xray.motions.library import Onto
from addon.games.xray.motions.skl_codec import SkeletalExportOptions
from addon.games.xray.options import ModelImportOptions
from tests.blender.scenes import column
from tests.blender.test_ui import refusal
from tests.formats.xray.level_bytes import floats, words
from tests.formats.xray.object.small_object import MESH, mesh, small
from tests.real_files import VECTORS, corpus_files

EXACT = bpy.app.version >= (4, 5)
"""Whether custom normals are kept as they were given; else in 16 bits."""
QUANTUM = 1e-5 if EXACT else 2e-3
"""Of custom normals. Before 4.5 they are two angles of 16 bits, taken from cosines: half are right to 1e-5, 99 of
100 to 2e-4, and the worst are 1e-3 off, where the angle to Blender's own normal is small."""
WHOLE = [corpus_file for corpus_file in corpus_files("object") if "bx_no_mesh" not in str(corpus_file.id)]


def imported(path, **options):
    report = Report()
    return importing.import_editor_model(bpy.context, path, ModelImportOptions(**options), report), report


def corners_of(data):
    """(faces, 3) vertices."""
    return column(data.loops, "vertex_index", 1, np.int32).reshape(-1, 3)


def assert_edges_are_the_sides_of_faces(data):
    corners = corners_of(data)
    edges = column(data.edges, "vertices", 2, np.int32)
    used = column(data.loops, "edge_index", 1, np.int32)
    sides = np.stack([corners, np.roll(corners, -1, axis=1)], axis=2).reshape(-1, 2)
    np.testing.assert_array_equal(np.sort(edges[used], axis=1), np.sort(sides, axis=1))
    assert len(np.unique(np.sort(edges, axis=1), axis=0)) == len(edges) == len(np.unique(used))


def written(tmp_path, data):
    path = tmp_path / "made.object"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("path", WHOLE)
def test_every_face_shows_what_its_bytes_say(path):
    document = editor_model.read(path.read_bytes(), path.name, Report())
    model, _ = imported(path)
    assert len(model.meshes) == len(document.model.meshes)
    for own_mesh, held in zip(model.meshes, document.model.meshes, strict=True):
        data = own_mesh.data
        points, faces = held.first(Points).positions, held.first(Faces).corners.astype(np.int64)
        positions = column(data.attributes["position"].data, "vector", 3)
        np.testing.assert_array_equal(positions[: len(points)], points[:, [0, 2, 1]])
        assert len(data.polygons) == len(faces)
        # The corners of a face in the other order, its first one first.
        np.testing.assert_array_equal(positions[corners_of(data)], points[faces[:, [0, 2, 1], 0]][..., [0, 2, 1]])
        names = [slot.motionbridge_surface.game_name.lower() for slot in data.materials]
        index = column(data.polygons, "material_index", 1, np.int32)
        for entry in held.first(SurfacesOfFaces).surfaces:
            assert {names[number] for number in index[entry.faces]} == {entry.label.lower()}
        assert_edges_are_the_sides_of_faces(data)
        assert not data.validate(verbose=True)


@pytest.mark.skipif(VECTORS is None, reason="MOTIONBRIDGE_VECTORS is not set")
@pytest.mark.parametrize("path", WHOLE)
def test_corners_are_those_of_the_editor(path):
    known = json.loads((VECTORS / "object" / f"{path.stem}.json").read_text())
    model, _ = imported(path)
    for own_mesh, expected in zip(model.meshes, known["meshes"], strict=True):
        data = own_mesh.data
        vertices = corners_of(data)
        uvs = column(data.uv_layers[0].uv, "vector", 2).reshape(-1, 3, 2)
        normals = column(data.corner_normals, "vector", 3).reshape(-1, 3, 3)
        for corner in expected["corners"]:
            position = corner["face"], (0, 2, 1)[corner["corner"]]
            u, v = corner["uv"]
            np.testing.assert_array_equal(uvs[position], np.array([u, 1 - np.float32(v)], np.float32))
            weights = {
                own_mesh.vertex_groups[group.group].name: group.weight
                for group in data.vertices[vertices[position]].groups
            }
            wanted = {name: min(weight, 1.0) for name, weight in corner["weights"]}
            assert weights == pytest.approx(wanted, abs=1e-6)
            x, y, z = corner["normal"]
            np.testing.assert_allclose(normals[position], (x, z, y), atol=QUANTUM)


@pytest.mark.parametrize(
    "path", corpus_files("object/bx_bones.object", "object/wpn_pm_hud.object", "object/wpn_hand_01.object")
)
def test_bones_are_where_the_editor_has_them_with_what_they_are(path):
    document = editor_model.read(path.read_bytes(), path.name, Report())
    known = json.loads((VECTORS / "object" / f"{path.stem}.json").read_text())["bones"] if VECTORS else []
    model, _ = imported(path)
    bones = model.rig.data.bones
    ordered = sorted(bones, key=lambda bone: bone.motionbridge_xray.index)
    assert [bone.motionbridge_xray.game_name for bone in ordered] == [bone.name for bone in document.model.bones]
    for bone, held in zip(ordered, document.model.bones, strict=True):
        assert (bone.parent.motionbridge_xray.game_name.lower() if bone.parent else "") == held.parent.lower()
        mass = held.first(bone_files.Mass)
        if mass is not None and np.isfinite(mass.mass):
            assert bone.motionbridge_xray.mass == mass.mass
    for bone, entry in zip(ordered, known, strict=bool(known)):
        np.testing.assert_allclose(np.array(bone.matrix_local), entry["rest_blender"], atol=1e-5)


@pytest.mark.parametrize("path", corpus_files("object/detector3_hud.object"))
def test_faces_on_the_same_points_are_all_there(path):
    model, _ = imported(path)
    data = model.meshes[0].data
    points = data.attributes["object_point"].data
    of_point = column(points, "value", 1, np.int32)
    sets = [tuple(sorted(face)) for face in of_point[corners_of(data)].tolist()]
    assert len(sets) - len(set(sets)) == 4


def test_the_sample(samples):
    model, report = imported(samples / "weapon.object", textures=False)
    assert model.rig is model.holder
    assert [modifier.object for modifier in model.meshes[0].modifiers] == [model.rig]
    properties = model.holder.motionbridge_editor_model
    assert properties.is_model
    assert kept(properties, "document") == (samples / "weapon.object").read_bytes()
    assert (properties.flags, properties.creator) == ("0x1", "Motionbridge")
    assert [entry.name for entry in properties.references] == ["samples\\weapon"]
    assert properties.user_data.startswith("[sample]")
    assert_edges_are_the_sides_of_faces(model.meshes[0].data)
    metal, sight = model.meshes[0].data.materials
    assert metal.motionbridge_material.texture == "samples\\metal"
    assert metal.motionbridge_surface.game_material == "objects\\metal"
    assert (metal.motionbridge_surface.two_sided, sight.motionbridge_surface.two_sided) == (False, True)
    assert metal.use_backface_culling
    assert not sight.use_backface_culling
    assert [(part.name, len(part.bones)) for part in properties.parts] == [("default", len(model.rig.data.bones))]
    assert (properties.shown_flags, not report.warnings) == ({"DYNAMIC"}, True)


def test_flags_without_a_name_stay(samples):
    model, _ = imported(samples / "weapon.object", textures=False)
    properties = model.holder.motionbridge_editor_model
    properties.flags = "0x1401"
    properties.shown_flags = {"DYNAMIC", "HIGH_QUALITY"}
    assert properties.flags == "0x1441"
    properties.flags = "text"
    assert properties.shown_flags == set()


def with_motions(samples, tmp_path, *, motions="INSIDE"):
    """The sample imported from a copy; (path, rig, its actions of the editor)."""
    path = written(tmp_path, (samples / "weapon.object").read_bytes())
    assert bpy.ops.import_scene.xray_object(filepath=str(path), motions=motions) == {"FINISHED"}
    rig = bpy.context.view_layer.objects.active
    return path, rig, [action for action in bpy.data.actions if action.motionbridge_skeletal.is_skeletal]


def test_motions_inside_become_actions(samples, tmp_path):
    path, rig, actions = with_motions(samples, tmp_path)
    (held,) = editor_model.read(path.read_bytes(), path.name, Report()).model.motions
    (file,) = rig.motionbridge_skeletal_files
    assert [action.motionbridge_motion.motion_name for action in actions] == [held.label]
    assert rig.animation_data.action == actions[0]
    assert file.embedded
    assert file.path == str(path)
    assert actions[0].motionbridge_skeletal.fitted + actions[0].motionbridge_skeletal.kept_exactly == len(held.tracks)


def test_motions_inside_can_be_left_out(samples, tmp_path):
    _, rig, actions = with_motions(samples, tmp_path, motions="NONE")
    assert (len(actions), len(rig.motionbridge_skeletal_files)) == (0, 0)


def test_motions_of_a_model_come_onto_another_armature(samples, tmp_path):
    path, rig, _ = with_motions(samples, tmp_path, motions="NONE")
    assert bpy.ops.import_scene.xray_skl(filepath=str(path)) == {"FINISHED"}
    assert rig.motionbridge_skeletal_files[0].embedded


def test_an_unedited_motion_goes_back_into_its_model_byte_for_byte(samples, tmp_path):
    path, rig, actions = with_motions(samples, tmp_path)
    before = path.read_bytes()
    codec = skl_codec.SKL
    plan = library.plan_export(
        codec, bpy.context, rig, actions, str(path), onto=Onto.FILE, options=SkeletalExportOptions(), report=Report()
    )
    assert plan.data == before
    assert not plan.changes


def test_an_edited_motion_is_saved_into_its_model(samples, tmp_path):
    path, _, (action,) = with_motions(samples, tmp_path)
    before = editor_model.read(path.read_bytes(), path.name, Report()).model
    action.motionbridge_motion.speed = 1.75
    assert bpy.ops.motionbridge.skeletal_save_back() == {"FINISHED"}
    after = editor_model.read(path.read_bytes(), path.name, Report()).model
    assert after.motions[0].timing[0] == 1.75
    differing = list(
        Walk(editor_model.VIEWS).differences(
            *(editor_model.Object([Section(Chunk(OBJECT, b""), entry)]) for entry in (before, after))
        )
    )
    assert len(differing) == 1
    assert bpy.ops.motionbridge.skeletal_save_back() == {"CANCELLED"}  # no changes to save


def test_motions_alone_do_not_replace_a_model(samples, tmp_path):
    path, _, _ = with_motions(samples, tmp_path)
    before = path.read_bytes()
    message = refusal(bpy.ops.export_scene.xray_skl, filepath=str(path), onto="OWN_FILES")
    assert "cannot replace a model" in message
    path.unlink()
    assert "is missing" in refusal(bpy.ops.motionbridge.skeletal_save_back)
    path.write_bytes(before)


def test_sharp_edges_are_the_hard_ones(samples):
    model, _ = imported(samples / "weapon.object", textures=False)
    data = model.meshes[0].data
    sharp = {tuple(edge.vertices) for edge in data.edges if edge.use_edge_sharp}
    diagonal = {tuple(edge.vertices) for edge in data.edges} - sharp
    assert len(sharp) == 4 * 12
    assert len(diagonal) == 4 * 6


def test_surfaces_that_differ_have_a_material_each(tmp_path):
    entry = b"metal\0models\\model\0default\0objects\\metal\0wpn\\metal\0Texture\0" + words(1, 0x112, 1)
    other = entry.replace(b"metal\0models", b"glass\0models").replace(b"objects\\metal", b"objects\\glass")
    faces = b"\2\0metal\0" + words(1, 0) + b"glass\0" + words(1, 1)
    data = small((mesh(x1009=faces),), x907=words(2) + entry + other, x921=None, x919=None, x923=None)
    model, _ = imported(written(tmp_path, data), textures=False)
    materials = [slot.motionbridge_surface.game_material for slot in model.meshes[0].data.materials]
    assert materials == ["objects\\metal", "objects\\glass"]


def test_weights_of_one_point_may_differ_by_corner(tmp_path):
    maps = MESH[0x1012].replace(words(4) + floats(1, 1, 0.5, 1) + words(0, 1, 2, 3),
                                words(5) + floats(1, 1, 0.5, 1, 0.25) + words(0, 1, 2, 3, 0))  # fmt: skip
    refs = MESH[0x1008].replace(words(1, 0) + words(2, 0), words(1, 0) + words(2, 4))
    assert maps != MESH[0x1012]
    assert refs != MESH[0x1008]
    model, _ = imported(written(tmp_path, small((mesh(x1012=maps, x1008=refs),))), textures=False)
    data = model.meshes[0].data
    first, second = corners_of(data)[:, 0].tolist()
    assert (first, second) == (0, 4)
    assert data.vertices[first].co == data.vertices[second].co
    assert [data.vertices[number].groups[0].weight for number in (first, second)] == [1.0, 0.25]


def test_faces_to_nowhere_are_left_out_and_reported(tmp_path):
    broken = MESH[0x1006].replace(words(3, 4), words(9, 4))
    model, report = imported(written(tmp_path, small((mesh(x1006=broken),))), textures=False)
    assert len(model.meshes[0].data.polygons) == 1
    assert any("1 face refers to missing vertices" in warning for warning in report.warnings)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_without_bones_the_only_mesh_is_the_model_and_several_are_below_an_empty(count, tmp_path):
    data = small((mesh(),) * count, x921=None, x919=None, x923=None)
    model, _ = imported(written(tmp_path, data), textures=False)
    assert model.rig is None
    assert model.holder.type == ("MESH" if count == 1 else "EMPTY")
    assert model.holder.motionbridge_editor_model.is_model
    assert len(model.meshes) == count
    assert set(model.holder.children_recursive) == set(model.meshes) - {model.holder}


def test_an_object_with_nothing_to_show_is_refused(tmp_path):
    data = small((), x921=None, x919=None, x923=None)
    with pytest.raises(ReadError, match="nothing that can be shown"):
        imported(written(tmp_path, data))


def test_through_the_operator(samples, tmp_path):
    assert bpy.ops.import_scene.xray_object(filepath=str(samples / "weapon.object"), new_collection=True) == {
        "FINISHED"
    }
    assert "weapon" in bpy.data.collections
    assert bpy.context.view_layer.objects.active.type == "ARMATURE"
    held = editor_model.read((samples / "weapon.object").read_bytes(), "a", Report()).model.meshes[0]
    obj = next(target for target in bpy.context.scene.objects if target.type == "MESH")
    normals = column(obj.data.corner_normals, "vector", 3).reshape(-1, 3, 3)
    np.testing.assert_allclose(normals, corner_normals(held)[:, [0, 2, 1]][..., [0, 2, 1]], atol=1e-3)
    assert "nothing of an object" in refusal(
        bpy.ops.import_scene.xray_object, filepath=str(written(tmp_path, small()[:8] + b"x" * (len(small()) - 8)))
    )
