"""Models of X-Ray into Blender and back, judged by readers of the test's own and by numbers of the engine."""

import hashlib
import struct
from dataclasses import replace

import bpy
import numpy as np
import pytest

from addon.blender import armature
from addon.blender.properties import kept
from addon.core.changes import Noun
from addon.core.errors import ReadError, WriteError
from addon.core.game import InstalledGame
from addon.core.report import Report
from addon.formats.trees import disk
from addon.formats.xray import ogf
from addon.formats.xray.ogf.chunk_types import BoneName, BoneNames, IkData
from addon.games.xray.bones import properties as bone_properties
from addon.games.xray.models import exporting as model_export
from addon.games.xray.models import importing as model_importing
from tests.blender import raw_ogf
from tests.blender.scenes import add_object, column
from tests.real_files import corpus_files, sampled
from tests.scene import differences, snapshot

SWAP = np.array([[1, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1]], np.float64)
MIRROR = np.diag([1.0, 1.0, -1.0, 1.0])

SOUND = [parameter for parameter in corpus_files("ogf") if "odd_" not in str(parameter.id)]
ODD = corpus_files("ogf/odd_*")


def imported(path, **options):
    report = Report()
    return model_importing.import_model(
        bpy.context, path, model_importing.ModelImportOptions(**options), report
    ), report


def exported(holder, path, **options):
    report = Report()
    plan = model_export.export_model(bpy.context, holder, path, model_export.ModelExportOptions(**options), report)
    return plan, report


# What is seen -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", sampled(SOUND, 12))
def test_every_model_shows_what_its_bytes_say(path):
    data = path.read_bytes()
    if data[8] == 3:
        pytest.skip("version 3 has a test of its own")
    model, _ = imported(path)
    parts = raw_ogf.children(data)
    assert len(model.meshes) == len(parts)
    names = [bone.decode("cp1251") for bone, _ in raw_ogf.bone_names(data)] if model.rig else []
    for own_mesh, (_, child) in zip(model.meshes, parts, strict=True):
        rows, number = raw_ogf.vertices(child)
        mesh = own_mesh.data
        positions = column(mesh.attributes["position"].data, "vector", 3)
        np.testing.assert_array_equal(positions, rows["p"][:, [0, 2, 1]])
        corners = column(mesh.loops, "vertex_index", kind=np.int32)
        np.testing.assert_array_equal(corners.reshape(-1, 3), raw_ogf.triangles(child)[:, [0, 2, 1]])
        uvs = column(mesh.uv_layers[0].uv, "vector", 2)
        np.testing.assert_allclose(uvs, (rows["uv"] * (1, -1) + (0, 1))[corners], atol=1e-6)
        normals = column(mesh.corner_normals, "vector", 3)
        wanted = rows["n"][:, [0, 2, 1]][corners]
        if mesh.attributes.get("custom_normal") is not None:
            np.testing.assert_allclose(normals, wanted, atol=1e-6)
        else:
            # 16 bits; and a few where the surface folds up are out of Blender 4.2's reach.
            off = np.abs(normals - wanted).max(axis=1)
            assert (off > 2e-3).mean() < 0.02
            assert np.median(off) < 1e-4
        if number == 0x112:
            assert not own_mesh.vertex_groups
            continue
        assert [group.name for group in own_mesh.vertex_groups] == names
        for vertex in range(0, len(rows), 7):
            stored = raw_ogf.weights(rows[vertex], number)
            shown_weights = {member.group: member.weight for member in mesh.vertices[vertex].groups}
            for bone in stored.keys() | shown_weights.keys():
                assert shown_weights.get(bone, 0.0) == pytest.approx(stored.get(bone, 0.0), abs=1e-6)


@pytest.mark.parametrize("path", corpus_files("ogf/bx_build_v3.ogf"))
def test_version_3_stores_vertices_in_their_bones_space(path):
    """Its one bone stands nearly in the origin, so the vertices are nearly where the file has them."""
    model, _ = imported(path)
    body = raw_ogf.chunks(raw_ogf.chunks(raw_ogf.chunks(path.read_bytes())[0x11][1])[0][1])[7][1]
    rows = np.frombuffer(body, np.dtype([("p", "<f4", 3), ("n", "<f4", 3), ("uv", "<f4", 2), ("b", "<u4")]), -1, 8)
    rest = np.array(model.rig.data.bones[0].matrix_local)
    points = np.concatenate([rows["p"], np.ones((len(rows), 1))], axis=1)
    wanted = (rest @ MIRROR @ points.T).T[:, :3]
    positions = column(model.meshes[0].data.attributes["position"].data, "vector", 3)
    np.testing.assert_allclose(positions, wanted, atol=1e-6)


@pytest.mark.parametrize("path", sampled(SOUND, 12))
def test_at_rest_the_skin_is_where_the_file_has_it(path):
    model, _ = imported(path)
    if not model.rig:
        pytest.skip("no skeleton")
    graph = bpy.context.evaluated_depsgraph_get()
    for mesh in model.meshes:
        assert mesh.parent == model.rig
        assert [modifier.object for modifier in mesh.modifiers if modifier.type == "ARMATURE"] == [model.rig]
        posed = column(mesh.evaluated_get(graph).data.attributes["position"].data, "vector", 3)
        stored = column(mesh.data.attributes["position"].data, "vector", 3)
        np.testing.assert_allclose(posed, stored, atol=2e-6)


@pytest.mark.parametrize("vector", ["omf_human_smart_cover", "omf_radium_cat", "omf_coc_detector1_16bit"])
def test_bones_rest_where_the_engine_has_them(corpus, vectors, vector):
    numbers = np.load(vectors / "xray" / f"{vector}.npz")
    path = corpus / str(numbers["ogf"])
    assert hashlib.sha256(path.read_bytes()).hexdigest() == str(numbers["ogf_sha256"])
    model, _ = imported(path)
    bones = {bone_properties.game_name(bone).lower(): bone for bone in model.rig.data.bones}
    for number, (name, parent, bind) in enumerate(
        zip(numbers["bone"].tolist(), numbers["parent"].tolist(), numbers["bind"], strict=True)
    ):
        bone = bones[name]
        assert bone.motionbridge_xray.index == number
        assert (bone.parent.motionbridge_xray.index if bone.parent else -1) == parent
        np.testing.assert_allclose(np.array(bone.matrix_local), SWAP @ bind @ MIRROR, atol=2e-5)
    assert bone_properties.bones_in_order(model.rig) == numbers["bone"].tolist()


@pytest.mark.parametrize("path", corpus_files("ogf/human_stalker_hero_1.ogf"))
def test_a_man_stands_upright_faces_plus_y_and_is_not_mirrored(path):
    model, _ = imported(path)
    bones = model.rig.data.bones
    assert bones["bip01_head"].head_local.z > 1.5
    toes = bones["bip01_l_toe0"].head_local - bones["bip01_l_foot"].head_local
    assert toes.y > 0.1  # X-Ray's +Z, forward
    assert bones["bip01_l_hand"].head_local.x < -0.5  # the left of who faces +Y
    for own_mesh in model.meshes:
        mesh = own_mesh.data
        graph = np.array([face.normal for face in mesh.polygons])
        corner_normals = column(mesh.corner_normals, "vector", 3).reshape(-1, 3, 3).sum(axis=1)
        agrees = (graph * corner_normals).sum(axis=1) > 0
        assert agrees.mean() > 0.97


# There and back ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", corpus_files("ogf/human_stalker_hero_1.ogf"))
def test_unedited_through_edit_modes_it_is_the_same_file(path, tmp_path):
    model, _ = imported(path)
    for obj in model.objects * 2:
        bpy.context.view_layer.objects.active = obj
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.object.mode_set(mode="OBJECT")
    plan, _ = exported(model.holder, tmp_path / "out.ogf")
    assert not plan.changes
    assert (tmp_path / "out.ogf").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("path", corpus_files("ogf/human_stalker_hero_1.ogf"))
def test_wherever_it_stands_and_however_it_is_posed_it_is_the_same_file(path, tmp_path):
    model, _ = imported(path)
    model.rig.location, model.rig.rotation_euler = (103.7, -51.3, 0.7), (0, 0, 1.1)
    model.rig.pose.bones["bip01_head"].location = (0.1, 0.2, 0.3)
    plan, report = exported(model.rig, tmp_path / "out.ogf")
    assert not plan.changes
    assert (tmp_path / "out.ogf").read_bytes() == path.read_bytes()
    assert any("scaled or rotated" in line for line in report.lines())


def test_the_scale_of_a_model_without_bones_is_reported_to_be_left_out(tmp_path):
    bpy.ops.mesh.primitive_cube_add()
    bpy.context.object.data.materials.append(bpy.data.materials.new("Wood"))
    path = tmp_path / "crate.ogf"
    assert bpy.ops.export_scene.xray_ogf(filepath=str(path)) == {"FINISHED"}
    model, _ = imported(path)
    (obj,) = model.meshes
    obj.scale = (2, 2, 2)
    bpy.context.view_layer.update()
    plan, report = exported(obj, tmp_path / "out.ogf")
    assert not plan.changes
    words = "its own rotation and scale are not in the model; apply them (Ctrl A) if they should be"
    assert report.lines() == [f"{words} ({obj.name})"]


@pytest.mark.parametrize("mode", ["POSE", "EDIT", "mesh EDIT", "mesh WEIGHT_PAINT"])
def test_exporting_leaves_the_scene_as_it_is_in_every_mode(samples, tmp_path, mode):
    model, _ = imported(samples / "humanoid.ogf")
    if mode.startswith("mesh"):
        bpy.context.view_layer.objects.active = model.meshes[0]
    bpy.ops.object.mode_set(mode=mode.removeprefix("mesh "))
    before = snapshot()
    plan, _ = exported(model.rig, tmp_path / "out.ogf")
    assert differences(before, snapshot()) == []
    assert not plan.changes
    assert (tmp_path / "out.ogf").read_bytes() == (samples / "humanoid.ogf").read_bytes()


def test_bones_are_exported_as_they_are_being_edited(samples, tmp_path):
    model, _ = imported(samples / "humanoid.ogf")
    bpy.ops.object.mode_set(mode="EDIT")
    bone = model.rig.data.edit_bones[5]
    name, up = bone.name, type(bone.head)((0, 0, 0.125))
    bone.head, bone.tail = bone.head + up, bone.tail + up
    plan, _ = exported(model.rig, tmp_path / "out.ogf")
    assert model.rig.mode == "EDIT"
    assert any(line.startswith(f"{name}: ") for line in plan.changes.lines_of(Noun.BONE))


@pytest.mark.parametrize("path", corpus_files("ogf/human_stalker_hero_1.ogf"))
def test_one_vertex_of_the_head_moved_leaves_every_byte_of_the_body_alone(path, tmp_path):
    data = path.read_bytes()
    model, _ = imported(path)
    model.meshes[0].data.vertices[10].co.x += 0.25
    plan, _ = exported(model.rig, tmp_path / "out.ogf")
    out = (tmp_path / "out.ogf").read_bytes()
    assert len(out) == len(data)
    changed = np.flatnonzero(np.frombuffer(out, np.uint8) != np.frombuffer(data, np.uint8))
    start, head = raw_ogf.children(data)[0]
    # The model's own bounds lie in its header, which is the first chunk.
    assert all(8 <= at < 52 or start <= at < start + len(head) for at in changed)
    rows, _ = raw_ogf.vertices(raw_ogf.children(out)[0][1])
    old, _ = raw_ogf.vertices(head)
    assert rows["p"][10, 0] == np.float32(old["p"][10, 0] + np.float32(0.25))
    np.testing.assert_array_equal(np.delete(rows["p"], 10, 0), np.delete(old["p"], 10, 0))
    assert len(plan.changes.lines_of(Noun.MESH)) > 0
    assert not plan.changes.lines_of(Noun.BONE)
    assert plan.sentence().endswith("changed")


@pytest.mark.parametrize("path", corpus_files("ogf/type10_rigid_brkbl.ogf"))
def test_mass_limits_and_shape_edited_in_the_panel_are_what_is_written(path, tmp_path):
    data = path.read_bytes()
    model, _ = imported(path)
    bone = next(bone for bone in model.rig.data.bones if bone.motionbridge_xray.index == 1)
    bone.motionbridge_xray.mass = 12.5
    plan, _ = exported(model.rig, tmp_path / "out.ogf")
    out = (tmp_path / "out.ogf").read_bytes()
    label = bone_properties.game_name(bone)
    assert plan.changes.lines_of(Noun.BONE) == [f"{label}: mass"]
    changed = np.flatnonzero(np.frombuffer(out, np.uint8) != np.frombuffer(data, np.uint8))
    at = int(changed[0])
    assert changed[-1] - changed[0] < 4
    assert np.float32(12.5).tobytes() in out[at - 3 : at + 4]
    bone.motionbridge_xray.shape = "SPHERE"
    bone.motionbridge_xray.limit_y.lowest = -0.5
    plan, _ = exported(model.rig, tmp_path / "out.ogf")
    again, _ = imported(tmp_path / "out.ogf")
    new = again.rig.data.bones[bone.name].motionbridge_xray
    assert (new.shape, new.mass, new.limit_y.lowest) == ("SPHERE", 12.5, -0.5)
    document = ogf.read((tmp_path / "out.ogf").read_bytes(), "", Report())
    stored = document.first(IkData).bones[1]
    assert stored.joint.limits[1, 1] == np.float32(0.5)  # the file has the opposite sign, as the highest


@pytest.mark.parametrize("path", corpus_files("ogf/radium_cat.ogf"))
def test_a_bone_moved_at_rest_is_written_and_the_others_keep_their_bytes(path, tmp_path):
    model, _ = imported(path)
    bpy.ops.object.mode_set(mode="EDIT")
    bone = model.rig.data.edit_bones["bip01_head"]
    for end in ("head", "tail"):
        setattr(bone, end, getattr(bone, end) + type(bone.head)((0, 0, 0.125)))
    bpy.ops.object.mode_set(mode="OBJECT")
    children = {child.name for child in model.rig.data.bones["bip01_head"].children}
    wanted = np.array(model.rig.data.bones["bip01_head"].matrix_local)
    plan, _ = exported(model.rig, tmp_path / "out.ogf")
    assert {line.split(":")[0] for line in plan.changes.lines_of(Noun.BONE)} == {"bip01_head"} | children
    again, _ = imported(tmp_path / "out.ogf")
    np.testing.assert_allclose(np.array(again.rig.data.bones["bip01_head"].matrix_local), wanted, atol=2e-5)


@pytest.mark.parametrize("path", corpus_files("ogf/human_stalker_hero_1.ogf"))
def test_motion_references_and_texture_names_are_written_as_edited(path, tmp_path):
    model, _ = imported(path)
    references = model.rig.motionbridge_model.references
    assert references[0].name == "actors\\stalker_animation"
    references[0].name = "actors\\my_animation"
    model.meshes[0].data.materials[0].motionbridge_material.texture = "act\\my_face"
    plan, _ = exported(model.rig, tmp_path / "out.ogf")
    assert plan.changes.lines == ["motion references"]
    assert plan.changes.lines_of(Noun.MESH) == ["human_stalker_hero_1_00: texture or shader"]
    out, data = (tmp_path / "out.ogf").read_bytes(), path.read_bytes()
    assert b"actors\\my_animation\0" in out
    assert b"act\\my_face\0models\\model_pn\0" in out
    assert raw_ogf.children(out)[1][1] == raw_ogf.children(data)[1][1]


@pytest.mark.parametrize("path", corpus_files("ogf/coc_detector1_hud.ogf"))
def test_what_the_scene_lacks_or_has_too_much_of_is_reported(path, tmp_path):
    model, _ = imported(path)
    copy = model.meshes[0].copy()
    bpy.context.collection.objects.link(copy)
    with pytest.raises(WriteError, match="are both 'coc_detector1_hud_00' of the model"):
        exported(model.rig, tmp_path / "out.ogf")
    assert not (tmp_path / "out.ogf").exists()
    bpy.data.objects.remove(copy)
    bpy.data.objects.remove(model.meshes[2])
    stranger = bpy.data.objects.new("stranger", bpy.data.meshes.new("stranger"))
    stranger.parent = model.rig
    _, report = exported(model.rig, tmp_path / "out.ogf")
    assert len(report.warnings) == 2
    assert "a mesh of the model is not in the scene; written as the file has it" in report.warnings
    assert (tmp_path / "out.ogf").read_bytes() == path.read_bytes()
    with pytest.raises(WriteError, match="was not imported from a model"):
        exported(stranger, tmp_path / "other.ogf")


def test_the_material_of_an_object_is_written_where_its_slot_is_linked_to_that(samples, tmp_path):
    model, _ = imported(samples / "weapon.ogf")
    slot = model.meshes[0].material_slots[0]
    other = slot.material.copy()
    other.motionbridge_material.texture = "wpn\\other"
    slot.link = "OBJECT"
    slot.material = other
    exported(model.rig, tmp_path / "out.ogf")
    assert b"wpn\\other\0" in (tmp_path / "out.ogf").read_bytes()


def test_a_mesh_below_an_empty_is_written_where_it_stands_while_it_is_disabled(samples, tmp_path):
    model, _ = imported(samples / "weapon.ogf")
    between = add_object("between")
    between.parent, model.meshes[0].parent = model.rig, between
    between.location.z = 2
    exported(model.rig, tmp_path / "shown.ogf")
    model.meshes[0].hide_viewport = True
    name, saved = model.rig.name, str(tmp_path / "weapon.blend")
    bpy.ops.wm.save_as_mainfile(filepath=saved)
    bpy.ops.wm.open_mainfile(filepath=saved)
    exported(bpy.data.objects[name], tmp_path / "disabled.ogf")
    actual, disabled = ((tmp_path / f"{how}.ogf").read_bytes() for how in ("shown", "disabled"))
    assert disabled == actual != (samples / "weapon.ogf").read_bytes()


@pytest.mark.parametrize("path", corpus_files("ogf/radium_rat.ogf"))
def test_a_mesh_moved_in_its_rig_is_written_where_it_stands(path, tmp_path):
    model, _ = imported(path)
    mesh = model.meshes[0]
    stored = column(mesh.data.attributes["position"].data, "vector", 3)
    mesh.location = (0, 0, 2)
    mesh.scale = (-1, 1, 1)
    exported(model.rig, tmp_path / "out.ogf")
    rows, _ = raw_ogf.vertices(raw_ogf.children((tmp_path / "out.ogf").read_bytes())[0][1])
    wanted = stored * (-1, 1, 1) + (0, 0, 2)
    np.testing.assert_allclose(rows["p"][:, [0, 2, 1]], wanted, atol=1e-6)
    turned = raw_ogf.triangles(raw_ogf.children((tmp_path / "out.ogf").read_bytes())[0][1])[:, [0, 2, 1]]
    a, b, c = (wanted[turned[:, corner]] for corner in range(3))
    agrees = (np.cross(b - a, c - a) * rows["n"][:, [0, 2, 1]][turned].sum(axis=1)).sum(axis=1) > 0
    assert agrees.mean() > 0.95


# Whatever state the scene is in --------------------------------------------------------------------------------------


def old_things(state):
    """An object of the user's, in the given state, and what may change of the scene by an import."""
    data = bpy.data.meshes.new("Mine")
    data.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    mine = bpy.data.objects.new("Mine", data)
    drawer = bpy.data.collections.new("Drawer")
    bpy.context.scene.collection.children.link(drawer)
    drawer.objects.link(mine)
    bpy.context.view_layer.objects.active = mine
    mine.select_set(True)
    layer = bpy.context.view_layer.layer_collection.children["Drawer"]
    bpy.context.view_layer.active_layer_collection = layer
    if state == "edit mode":
        bpy.ops.object.mode_set(mode="EDIT")
    elif state == "hidden active object":
        mine.hide_set(True)
    elif state == "hidden while edited":
        bpy.ops.object.mode_set(mode="EDIT")
        mine.hide_set(True)
    elif state == "excluded collection":
        layer.exclude = True
        bpy.context.view_layer.active_layer_collection = layer
    elif state == "hidden collection":
        layer.hide_viewport = True
    elif state == "disabled collection":
        drawer.hide_viewport = True
    elif state == "inside a hidden collection":
        box = bpy.data.collections.new("Box")
        bpy.context.scene.collection.children.link(box)
        bpy.context.scene.collection.children.unlink(drawer)
        box.children.link(drawer)
        layer = bpy.context.view_layer.layer_collection.children["Box"]
        bpy.context.view_layer.active_layer_collection = layer.children["Drawer"]
        layer.hide_viewport = True
    elif state == "sculpt mode":
        bpy.ops.object.mode_set(mode="SCULPT")
    elif state == "no active object":
        bpy.context.view_layer.objects.active = None
    return mine


STATES = (
    "object mode", "edit mode", "sculpt mode", "hidden active object", "hidden while edited", "excluded collection",
    "hidden collection", "disabled collection", "inside a hidden collection", "no active object",
)  # fmt: skip


@pytest.mark.parametrize("state", STATES)
def test_it_works_from_any_state_and_leaves_the_rest_alone(samples, state):
    old_things(state)
    before = snapshot()
    model, report = imported(samples / "humanoid.ogf")
    assert bpy.context.view_layer.objects.active == model.rig
    assert bpy.context.mode == "OBJECT"
    assert {selected_obj.name for selected_obj in bpy.context.selected_objects} == {obj.name for obj in model.objects}
    assert all(obj.visible_get() for obj in model.objects)
    elsewhere = "collection" in state
    assert all((obj.users_collection[0].name == "Drawer") != elsewhere for obj in model.objects)
    assert not any("of another file" in line for line in report.lines())
    changed = [line for line in differences(before, snapshot()) if " is new " not in line]
    kinds = ("mode:", "active:", "selected:", "count:", "objects:", "armatures:", "meshes:", "materials:", ".objects[")
    kinds += ("all_objects[", "is_editmode", "_sel:", "collections:")
    assert [line for line in changed if not any(kind in line for kind in kinds)] == []
    assert [
        collection.name for collection in bpy.data.collections if f"collections['{collection.name}'].name" not in before
    ] == [armature.SHAPE_COLLECTION]
    assert "objects['Mine'].location" in "".join(before)


@pytest.mark.parametrize("inside", [False, True])
def test_a_collection_of_another_file_cannot_take_the_model(samples, tmp_path, inside):
    box = bpy.data.collections.new("Box")
    bpy.context.scene.collection.children.link(box)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, linked):
        linked.collections = ["Box"]
    usable, layer = bpy.context.scene.collection, bpy.context.view_layer.layer_collection
    if inside:
        usable = bpy.data.collections.new("Own")
        bpy.context.scene.collection.children.link(usable)
        layer = layer.children["Own"]
    usable.children.link(bpy.data.collections["Box"])
    bpy.context.view_layer.active_layer_collection = layer.children["Box"]
    model, report = imported(samples / "humanoid.ogf")
    assert {obj.users_collection[0] for obj in model.objects} == {usable}
    sentence = f"the active collection is of another file; new objects are in {usable.name!r}"
    assert report.notes[sentence] == ["Box"]


def test_a_selected_armature_is_not_drawn_into_the_work(samples):
    """Edit mode takes all selected armatures along, and Blender makes the bones of each anew."""
    first, _ = imported(samples / "humanoid.ogf")
    bone = first.rig.data.bones[3]
    folder = bone.as_pointer()
    imported(samples / "weapon.ogf")
    assert first.rig.data.bones[3].as_pointer() == folder


def test_a_named_collection_is_made_for_the_model(samples):
    model, _ = imported(samples / "humanoid.ogf", collection="Stalker")
    assert [obj.users_collection[0].name for obj in model.objects] == ["Stalker"] * len(model.objects)
    assert "Stalker" in bpy.context.scene.collection.children


def test_a_file_that_is_not_one_changes_nothing_at_all(tmp_path):
    old_things("edit mode")
    before = snapshot()
    (tmp_path / "bad.ogf").write_bytes(b"this is not a model at all, and long enough to look like one")
    with pytest.raises(ReadError):
        imported(tmp_path / "bad.ogf")
    assert differences(before, snapshot()) == []


REFUSED = {
    "odd_chunk_size_wrong_middle.ogf": "run past its end.* is damaged",
    "odd_d3_texture_not_xray.ogf": "a texture of Descent 3",
    "odd_hand_text_mangled.ogf": "run past its end.* is damaged",
}


@pytest.mark.parametrize("path", ODD)
def test_odd_files_say_what_they_lack(path):
    if path.name in REFUSED:
        with pytest.raises(ReadError, match=REFUSED[path.name]) as refusal:
            imported(path)
        assert path.name in str(refusal.value)
        assert refusal.value.remedy
        assert not bpy.data.objects
    else:
        model, report = imported(path)
        assert report.warnings
        assert model.meshes
        assert model.rig


@pytest.mark.parametrize("path", corpus_files("ogf/type0_static_puddles.ogf"))
def test_a_static_model_is_a_mesh_that_remembers_its_file(path, tmp_path):
    model, report = imported(path)
    assert model.rig is None
    assert model.holder == model.meshes[0]
    assert not bpy.data.armatures
    assert kept(model.holder.motionbridge_model, "document") == path.read_bytes()
    assert [line for line in report.lines() if "texture" not in line] == []


@pytest.mark.parametrize("path", corpus_files("ogf/type0_static_puddles.ogf"))
def test_what_is_not_shown_of_a_tree_is_reported_once(path, tmp_path):
    data = bytearray(path.read_bytes())
    data[9] = 7
    (tmp_path / "tree.ogf").write_bytes(data)
    _, report = imported(tmp_path / "tree.ogf")
    assert report.warnings["a tree's place and light in its level are not shown"] == ["tree"]


def test_without_meshes_only_the_bones_come(samples):
    model, _ = imported(samples / "humanoid.ogf", meshes=False)
    assert model.objects == [model.rig]
    assert [mesh.name for mesh in bpy.data.meshes if armature.MARK not in mesh] == []


# Names ---------------------------------------------------------------------------------------------------------------


def test_bone_names_in_cyrillic_and_of_any_length_are_kept(samples, tmp_path):
    document = ogf.read((samples / "humanoid.ogf").read_bytes(), "humanoid.ogf", Report())
    listed = document.first(BoneNames)
    renamed = {bone.name: f"кость_{'длинная_' * 9}{index}".encode("cp1251") for index, bone in enumerate(listed.bones)}
    bones = [
        BoneName(renamed[bone.name], renamed.get(bone.parent, b""), bone.rotation, bone.centre, bone.half_size)
        for bone in listed.bones
    ]
    data = ogf.write(document.replaced(listed, BoneNames(bones)))
    (tmp_path / "model.ogf").write_bytes(data)
    model, _ = imported(tmp_path / "model.ogf")
    names = [name.decode("cp1251") for name in renamed.values()]
    assert bone_properties.bones_in_order(model.rig) == names
    given = [bone.name for bone in bone_properties.in_order(model.rig)]
    assert all(len(name.encode()) <= 63 for name in given)
    assert len(set(given)) == len(names)
    for mesh in model.meshes:
        assert [group.name for group in mesh.vertex_groups] == given
    plan, _ = exported(model.rig, tmp_path / "out.ogf")
    assert not plan.changes
    assert (tmp_path / "out.ogf").read_bytes() == data


def test_bones_of_one_name_or_none_keep_their_weights(samples, tmp_path):
    """Such a skeleton cannot be built; the meshes can."""
    document = ogf.read((samples / "humanoid.ogf").read_bytes(), "humanoid.ogf", Report())
    listed = document.first(BoneNames)
    bones = [replace(bone, name=(b"twin", b"twin", b"", b"")[index % 4]) for index, bone in enumerate(listed.bones)]
    data = ogf.write(document.replaced(listed, BoneNames(bones)))
    (tmp_path / "model.ogf").write_bytes(data)
    model, report = imported(tmp_path / "model.ogf")
    assert model.rig is None
    assert any("imported without bones" in warning for warning in report.warnings)
    plan, report = exported(model.holder, tmp_path / "out.ogf")
    assert not plan.changes
    assert not report.warnings
    assert (tmp_path / "out.ogf").read_bytes() == data
    mesh = model.meshes[0]
    mesh.data.vertices[0].co.z += 1
    exported(model.holder, tmp_path / "out.ogf")
    rows, _ = raw_ogf.vertices(raw_ogf.children((tmp_path / "out.ogf").read_bytes())[0][1])
    before, _ = raw_ogf.vertices(raw_ogf.children(data)[0][1])
    assert rows["p"][0, 1] == pytest.approx(before["p"][0, 1] + 1)
    for name in [name for name in rows.dtype.names if name[0] in "bw" and name != "b"]:
        np.testing.assert_array_equal(rows[name], before[name])


def test_a_bone_renamed_in_blender_is_still_the_games_and_a_copy_of_it_is_not(samples, tmp_path):
    model, _ = imported(samples / "humanoid.ogf")
    first = bone_properties.in_order(model.rig)[1]
    game_name = bone_properties.game_name(first)
    first.name = "my bone"
    assert bone_properties.game_name(model.rig.data.bones["my bone"]) == game_name
    plan, report = exported(model.rig, tmp_path / "out.ogf")
    assert not plan.changes
    assert f"a bone was renamed in Blender; to the game it is still {game_name!r}" in report.notes
    model.rig.data.bones["my bone"].name = game_name
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.armature.select_all(action="DESELECT")
    edit = model.rig.data.edit_bones[game_name]
    edit.select = edit.select_head = edit.select_tail = True
    bpy.ops.armature.duplicate()
    bpy.ops.object.mode_set(mode="OBJECT")
    copies = [bone for bone in model.rig.data.bones if bone.name.startswith(game_name) and bone.name != game_name]
    assert [bone_properties.game_name(bone) for bone in copies] == [bone.name for bone in copies]
    assert len(copies) == 1


# Textures ------------------------------------------------------------------------------------------------------------


def a_dds(colour):
    """Four by four pixels, uncompressed."""
    header = struct.pack("<4s7I44x", b"DDS ", 124, 0x100F, 4, 4, 16, 0, 0)
    pixels = struct.pack("<8I", 32, 0x41, 0, 32, 0xFF0000, 0xFF00, 0xFF, 0xFF000000)
    red, green, blue = colour
    return header + pixels + struct.pack("<5I", 0x1000, 0, 0, 0, 0) + bytes((blue, green, red, 255)) * 16


def a_tree(folder, samples, texture_folder="textures"):
    """A model deep below meshes, and its textures beside, in other letters than the model writes."""
    own_folder = folder / "gamedata" / "Meshes" / "actors"
    own_folder.mkdir(parents=True)
    source = (samples / "humanoid.ogf").read_bytes()
    (own_folder / "humanoid.ogf").write_bytes(source)
    texture = ogf.read(source, "", Report())
    from addon.formats.xray.ogf.mesh import decode_meshes

    name = decode_meshes(texture, Report())[0].materials[0].texture
    path = folder / "gamedata" / texture_folder / (name.replace("\\", "/").upper() + ".DDS")
    path.parent.mkdir(parents=True)
    path.write_bytes(a_dds((255, 0, 0)))
    return own_folder / "humanoid.ogf", path


def shown_image(result):
    tree = result.meshes[0].data.materials[0].node_tree
    return next((node.image for node in tree.nodes if node.type == "TEX_IMAGE"), None)


def test_a_texture_of_the_tree_is_found_and_shown(tmp_path, samples):
    path, picture = a_tree(tmp_path, samples, "Textures")
    model, report = imported(path)
    image = shown_image(model)
    assert picture.samefile(bpy.path.abspath(image.filepath))
    assert tuple(image.size) == (4, 4)
    np.testing.assert_allclose(image.pixels[:4], (1, 0, 0, 1))
    assert not any("texture" in line for line in report.lines())
    principled = next(n for n in model.meshes[0].data.materials[0].node_tree.nodes if n.type == "BSDF_PRINCIPLED")
    assert principled.inputs["Base Color"].links[0].from_node.image == image


def test_another_picture_on_a_material_is_reported_and_the_texture_stays(tmp_path, samples):
    path, picture = a_tree(tmp_path, samples)
    model, _ = imported(path)
    obj = model.meshes[0].data.materials[0]
    texture = obj.motionbridge_material.texture
    node = next(node for node in obj.node_tree.nodes if node.type == "TEX_IMAGE")
    other = picture.with_name("Stripes.dds")
    other.write_bytes(a_dds((0, 255, 0)))
    _, report = exported(model.holder, tmp_path / "as_it_was.ogf")
    assert not report.warnings
    node.image = bpy.data.images.load(str(other))
    plan, report = exported(model.holder, tmp_path / "other.ogf")
    assert plan.data == path.read_bytes()
    (message,) = report.warnings
    assert message == (
        f"the material shows 'Stripes.dds', but its texture is {texture}; type the path of another texture in "
        "Properties > Material > X-Ray Material"
    )
    obj.motionbridge_material.texture = "act\\stripes"
    plan, report = exported(model.holder, tmp_path / "typed.ogf")
    assert plan.changes.lines_of(Noun.MESH) == [f"{mesh.name}: texture or shader" for mesh in model.meshes]
    assert not report.warnings


def test_pictures_of_the_textures_name_and_bumps_are_no_other_pictures(tmp_path, samples):
    path, picture = a_tree(tmp_path, samples)
    model, _ = imported(path)
    created = model.meshes[0].data.materials[0]
    nodes = created.node_tree.nodes
    own_node = next(node for node in nodes if node.type == "TEX_IMAGE")
    painted = tmp_path / f"{picture.stem.lower()}.tga"
    painted.write_bytes(b"")
    own_node.image = bpy.data.images.load(str(painted))
    bump = nodes.new("ShaderNodeTexImage")
    bump.image = bpy.data.images.new("bump", 4, 4)
    surface = next(node for node in nodes if node.type == "BSDF_PRINCIPLED")
    created.node_tree.links.new(bump.outputs["Color"], surface.inputs["Roughness"])
    _, report = exported(model.holder, tmp_path / "m.ogf")
    assert not report.warnings


def test_a_mesh_without_uv_map_keeps_the_texture_coordinates_of_the_file_and_reports_it(tmp_path, samples):
    model, _ = imported(samples / "humanoid.ogf", textures=False)
    layers = model.meshes[0].data.uv_layers
    layers.remove(layers[0])
    plan, report = exported(model.holder, tmp_path / "m.ogf")
    assert plan.data == (samples / "humanoid.ogf").read_bytes()
    assert list(report.warnings) == ["it has no UV map: vertices of the file keep their texture coordinates"]


def test_a_texture_is_found_in_the_folder_given(tmp_path, samples):
    _, picture = a_tree(tmp_path, samples)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "m.ogf").write_bytes((samples / "humanoid.ogf").read_bytes())
    model, report = imported(elsewhere / "m.ogf")
    assert shown_image(model) is None
    assert any("missing: add the game to the preferences to see" in line for line in report.lines())
    model, _ = imported(elsewhere / "m.ogf", games=(InstalledGame(tmp_path / "gamedata"),))
    assert picture.samefile(bpy.path.abspath(shown_image(model).filepath))


def test_a_picture_that_is_not_one_is_reported_and_not_kept(tmp_path, samples):
    path, picture = a_tree(tmp_path, samples)
    picture.write_bytes(b"DDS but not really")
    model, report = imported(path)
    assert shown_image(model) is None
    assert "Blender cannot show a texture" in report.warnings
    assert not bpy.data.images


def test_materials_are_named_after_the_texture_and_keep_the_games_names(samples):
    model, _ = imported(samples / "humanoid.ogf")
    document = ogf.read((samples / "humanoid.ogf").read_bytes(), "", Report())
    from addon.formats.xray.ogf.mesh import decode_meshes

    for own_mesh, mesh in zip(model.meshes, decode_meshes(document, Report()), strict=True):
        (material,) = own_mesh.data.materials
        names = material.motionbridge_material
        assert (names.texture, names.shader) == (mesh.materials[0].texture, mesh.materials[0].shader)
        assert material.name.startswith(mesh.materials[0].texture.rpartition("\\")[2])


def test_importing_twice_makes_no_second_material(samples):
    imported(samples / "humanoid.ogf")
    names = bpy.data.materials.keys()
    again, _ = imported(samples / "humanoid.ogf")
    assert bpy.data.materials.keys() == names
    assert again.rig.name == "humanoid.001"


def test_models_are_not_looked_for_on_a_whole_disk(tmp_path, monkeypatch):
    """A motion file in a folder with a hundred thousand files below it kept its dialog waiting for a minute."""
    for name in ("a/b/one.txt", "a/b/two.txt", "c/three.OGF", "walk.omf"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    tried = []
    monkeypatch.setattr(model_importing, "_plays", lambda path, *_: tried.append(path.name) or True)
    assert model_importing.models_playing(tmp_path / "walk.omf", None, Report()) == [tmp_path / "c/three.OGF"]
    monkeypatch.setattr(model_importing, "MOST_MODELS", 0)
    report = Report()
    assert model_importing.models_playing(tmp_path / "walk.omf", None, report) == []
    (line,) = report.lines()
    assert line.endswith("plays these; 1 more is not looked at")
    monkeypatch.setattr(disk, "MOST_FILES", 3)
    report = Report()
    assert model_importing.models_playing(tmp_path / "walk.omf", None, report) == []
    assert report.lines()
    assert tried == ["three.OGF"]


@pytest.mark.parametrize("path", corpus_files("ogf/human_stalker_hero_1.ogf"))
def test_a_motion_file_beside_its_model_finds_it(path, tmp_path):
    folder = tmp_path / "meshes" / "Actors"
    folder.mkdir(parents=True)
    (folder / "hero.ogf").write_bytes(path.read_bytes())
    (folder / "broken.ogf").write_bytes(b"not a model")
    (folder / "Stalker_Animation.OMF").write_bytes(b"whatever")
    (folder / "unknown.omf").write_bytes(b"whatever")
    assert model_importing.models_playing(folder / "Stalker_Animation.OMF", None, Report()) == [folder / "hero.ogf"]
    assert model_importing.models_playing(folder / "unknown.omf", None, Report()) == []
    model, report = imported(folder / "hero.ogf")
    assert model.references[0].files == (folder / "Stalker_Animation.OMF",)
    assert any("a motion file of the model was not found" in line for line in report.lines())
