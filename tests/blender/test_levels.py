"""Files of a level into Blender and back, judged by their bytes and by a reader of the test's own."""

import json
import re
import struct

import bpy
import numpy as np
import pytest

from addon.core.errors import ReadError, WriteError
from addon.core.report import Report, translated
from addon.formats.xray import hom
from addon.games.xray.levels import game_materials
from addon.games.xray.levels import geometry as level_geometry
from addon.ui import bases
from tests.blender.scenes import add_object, column, delete_faces, editing, reopen
from tests.real_files import corpus_files
from tests.scene import differences, snapshot

KINDS = {".cform": "CFORM", ".hom": "HOM", ".som": "SOM", ".dm": "DM"}
ALL = [parameter for parameter in corpus_files("cform", "hom", "som", "dm") if "odd_" not in str(parameter.id)]


def imported(path, **options):
    report = Report()
    return level_geometry.import_file(bpy.context, path, level_geometry.LevelImportOptions(**options), report), report


def planned(holder, **options):
    options, report = level_geometry.LevelExportOptions(**options), Report()
    return level_geometry.plan_export(bpy.context, holder, "", options, report), report


def occluders_in(plan):
    return len(hom.read(plan.data, "", Report()).rows)


def positions_of(obj):
    return column(obj.data.attributes["position"].data, "vector", 3)


def corners_of(obj):
    return column(obj.data.loops, "vertex_index", kind=np.int32).reshape(-1, 3)


def face_values(obj, name, kind):
    return column(obj.data.attributes[name].data, "value", kind=kind)


def is_kept(path, **options):
    """Import and export: the bytes."""
    model, _ = imported(path, **options)
    plan, _ = planned(model.holder)
    assert plan.data == path.read_bytes()
    assert plan.sentence() == "nothing changed"


@pytest.mark.parametrize(
    ("name", "counts"),
    {
        "grass.dm": "4 faces, 8 vertices",
        "level.ai": "11 nodes, 1 isolated, 1 with one-way links",
        "level.cform": "17 faces, 4 materials, 2 sectors, 2 without area",
        "level.details": "6 x 6 slots, 32 with models, 2 detail models",
        "level.env_mod": "1 weather modifier",
        "level.err": "2 points, 1 edge, 2 triangles",
        "level.hom": "12 faces, 10 two-sided",
        "level.ps_static": "1 particle effect",
        "level.snd_static": "2 static sounds",
        "level.som": "10 faces, 8 two-sided",
        "level.spawn": "2 spawned objects",
        "level.wallmarks": "1 mark, 1 face",
    }.items(),
)
def test_an_import_says_what_is_in_the_file(samples, name, counts):
    message = imported(samples / "level" / name)[0].counts
    assert message == counts
    table = json.loads(bases.FILES["ru_RU"].with_name("ru_reports.json").read_bytes())
    assert not re.search("[a-z]", translated(message, table)), "each word of it has its Russian"


# Every byte ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weld", [0.0, 0.01])
@pytest.mark.parametrize("path", [parameter for parameter in ALL if str(parameter.id).startswith(("hom", "som"))])
def test_welded_soup_comes_back_in_its_order(path, weld):
    is_kept(path, weld=weld)


@pytest.mark.parametrize("split", [level_geometry.Split.SECTOR, level_geometry.Split.MATERIAL])
@pytest.mark.parametrize("path", [parameter for parameter in ALL if str(parameter.id).startswith("cform")])
def test_collision_in_parts_comes_back_as_one(path, split):
    is_kept(path, split=split)


# What is seen -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [parameter for parameter in ALL if str(parameter.id).startswith("cform")])
def test_collision_shows_what_its_bytes_say(path):
    data = path.read_bytes()
    model, _ = imported(path)
    _, vertices, faces = struct.unpack_from("<3I", data)
    points = np.frombuffer(data, "<f4", 3 * vertices, 36).reshape(-1, 3)
    rows = np.frombuffer(data, [("v", "<u4", 3), ("m", "<u2"), ("s", "<u2")], faces, 36 + 12 * vertices)
    (obj,) = model.meshes
    np.testing.assert_array_equal(positions_of(obj), points[:, [0, 2, 1]])
    np.testing.assert_array_equal(corners_of(obj), rows["v"][:, [0, 2, 1]])
    np.testing.assert_array_equal(face_values(obj, "material", np.int32), rows["m"] & 0x3FFF)
    np.testing.assert_array_equal(face_values(obj, "suppress_shadows", np.bool_), rows["m"] >> 14 & 1)
    np.testing.assert_array_equal(face_values(obj, "suppress_wallmarks", np.bool_), rows["m"] >> 15)
    np.testing.assert_array_equal(face_values(obj, "sector", np.int32), rows["s"])
    numbers = [material.motionbridge_material.number for material in obj.data.materials]
    assert numbers == sorted(set((rows["m"] & 0x3FFF).tolist()))
    slots = column(obj.data.polygons, "material_index", kind=np.int32)
    np.testing.assert_array_equal(np.array(numbers)[slots], rows["m"] & 0x3FFF)


@pytest.mark.parametrize("path", corpus_files("hom/l01_escape.hom"))
def test_occluders_show_which_faces_are_two_sided(path):
    model, _ = imported(path)
    (obj,) = model.meshes
    rows = np.frombuffer(path.read_bytes(), [("p", "<f4", 9), ("f", "<u4")], offset=20)
    two_sided = face_values(obj, "two_sided", np.bool_)
    np.testing.assert_array_equal(two_sided, rows["f"] != 0)
    slots = column(obj.data.polygons, "material_index", kind=np.int32)
    names = np.array([material.name for material in obj.data.materials])
    assert set(names[slots[two_sided]]) == {"occluder, two-sided"}
    assert len(obj.data.vertices) == 3 * len(rows)
    assert face_values(obj, "sharp_face", np.bool_).all()


@pytest.mark.parametrize("path", corpus_files("som/l05_bar.som"))
def test_sound_occluders_show_how_much_they_let_through(path):
    model, _ = imported(path)
    (obj,) = model.meshes
    rows = np.frombuffer(path.read_bytes(), [("p", "<f4", 9), ("t", "<u4"), ("o", "<f4")], offset=20)
    np.testing.assert_array_equal(face_values(obj, "occlusion", np.float32), rows["o"])
    assert len(obj.data.materials) == len(np.unique(np.stack([rows["o"], rows["t"] != 0]), axis=1).T)


@pytest.mark.parametrize(("path", "items"), [*zip(["bx_test.err", "bx_test_sdk.err"], [(1, 1, 1)] * 2, strict=True)])
def test_errors_are_points_edges_and_triangles_that_are_selected(corpus, path, items):
    data = (corpus / "err" / path).read_bytes()
    counts, at = [], 0
    while at < len(data):
        _, size, count = struct.unpack_from("<3I", data, at)
        counts.append(count)
        at += 8 + size
    model, _ = imported(corpus / "err" / path)
    meshes = {mesh.name.rpartition(" ")[2]: mesh.data for mesh in model.meshes}
    for noun, count, elements in zip(
        ("points", "edges", "triangles"), counts, ("vertices", "edges", "polygons"), strict=True
    ):
        if count:
            result = getattr(meshes[noun], elements)
            assert len(result) == count
            assert all(element.select for element in result)
    assert len(meshes) == sum(count > 0 for count in counts)


# What is edited -----------------------------------------------------------------------------------------------------

FACE = np.dtype([("v", "<u4", 3), ("m", "<u2"), ("s", "<u2")])


def drawn(name, vertices, faces, kind):
    data = bpy.data.meshes.new(name)
    data.from_pydata(vertices, [], faces)
    obj = add_object(name, data)
    obj.motionbridge_level.kind = kind
    return obj


def read_cform(data):
    _, vertices, faces = struct.unpack_from("<3I", data)
    assert len(data) == 36 + 12 * vertices + 16 * faces
    points = np.frombuffer(data, "<f4", 3 * vertices, 36).reshape(-1, 3)
    return points, np.frombuffer(data, FACE, faces, 36 + 12 * vertices)


SQUARE = [(0, 0, 0), (2, 0, 0), (2, 1, 0), (0, 1, 0)]


@pytest.mark.parametrize("path", corpus_files("cform/tss_level.cform"))
@pytest.mark.parametrize("split", [level_geometry.Split.WHOLE, level_geometry.Split.MATERIAL])
def test_another_material_of_a_face_is_the_only_byte_that_changes(path, split):
    model, _ = imported(path, split=split)
    mesh = model.meshes[0]
    mesh.data.materials.append(game_materials.game_material(777, "materials\\test"))
    mesh.data.polygons[3].material_index = len(mesh.data.materials) - 1
    plan, _ = planned(model.holder)
    assert plan.sentence() == "1 material changed"
    points, before = read_cform(path.read_bytes())
    same_points, after = read_cform(plan.data)
    np.testing.assert_array_equal(points, same_points)
    (changed,) = np.flatnonzero(before["m"] != after["m"])
    assert after["m"][changed] & 0x3FFF == 777
    assert (after["m"] >> 14 == before["m"] >> 14).all()
    assert (after["v"] == before["v"]).all()
    assert (after["s"] == before["s"]).all()


@pytest.mark.parametrize("path", corpus_files("hom/l01_escape.hom"))
def test_deleted_occluders_leave_the_others_bytes_alone(path):
    model, _ = imported(path)

    delete_faces(model.holder.data, 5, 9, context="FACES")
    plan, _ = planned(model.holder)
    data = path.read_bytes()
    rows = [data[at : at + 40] for at in range(20, len(data), 40)]
    assert plan.data[20:] == b"".join(row for number, row in enumerate(rows) if number not in (5, 9))


@pytest.mark.parametrize("path", corpus_files("hom/l05_bar.hom", "som/l05_bar.som"))
def test_occluders_that_were_separated_and_joined_again_keep_their_order(path):
    model, _ = imported(path)
    target = model.holder
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")
    bpy.ops.object.mode_set(mode="OBJECT")
    target.data.polygons[0].select = target.data.polygons[7].select = True
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.separate(type="SELECTED")
    bpy.ops.object.mode_set(mode="OBJECT")
    for obj in bpy.context.scene.objects:
        obj.select_set(True)
    bpy.ops.object.join()
    plan, _ = planned(target)
    assert (plan.sentence(), plan.data) == ("nothing changed", path.read_bytes())


@pytest.mark.parametrize("split", [level_geometry.Split.WHOLE, level_geometry.Split.MATERIAL])
def test_attributes_of_collision_that_are_gone_are_reported(split, corpus):
    model, _ = imported(corpus / "cform" / "bx_test.cform", split=split)
    mesh = model.meshes[0]
    mesh.data.attributes.remove(mesh.data.attributes["sector"])
    plan, report = planned(model.holder)
    message = "the attribute 'sector' is gone, and written as 0"
    assert (message in report.warnings) == (split is not level_geometry.Split.WHOLE), (
        "faces that are those of the file keep their sectors"
    )
    with editing(mesh.data) as edited:
        edited.faces.remove(edited.faces[0])
    plan, report = planned(model.holder)
    assert message in report.warnings
    base = read_cform((corpus / "cform" / "bx_test.cform").read_bytes())[1]
    assert read_cform(plan.data)[1]["s"].sum() < base["s"].sum() - 1


@pytest.mark.parametrize("path", corpus_files("hom/l05_bar.hom", "som/l05_bar.som"))
def test_a_plain_mesh_joined_to_occluders_is_reported_to_have_none_of_their_values(path):
    model, _ = imported(path)
    plain = drawn("plain", SQUARE, [(0, 1, 2, 3)], "NONE")
    plain.select_set(True)
    bpy.ops.object.join()
    plan, report = planned(model.holder)
    (message,) = (warning for warning in report.warnings if warning.startswith("2 of ") and "color" in warning)
    # Before 5.0 joined faces without a material get the first one, which is a color of other values.
    assert "have no color of" in message or "have other values than their color shows" in message
    old = path.read_bytes()[20:]
    assert plan.data[20 : 20 + len(old)] == old


@pytest.mark.parametrize("kind", ["CFORM", "HOM", "SOM", "DM"])
def test_a_mesh_drawn_from_nothing_is_exported_with_defaults_and_leaves_the_scene_alone(kind):
    obj = drawn("square", SQUARE, [(0, 1, 2, 3)], kind)
    obj.location = (10, 20, 30)
    before = snapshot()
    plan, _ = planned(obj)
    assert differences(before, snapshot()) == []
    if kind == "CFORM":
        points, faces = read_cform(plan.data)
        np.testing.assert_array_equal(points, np.array(SQUARE)[:, [0, 2, 1]] + (10, 30, 20))
        assert not faces["m"].any()
        corners = points[faces["v"].astype(int)]
    elif kind == "DM":
        head = plan.data.index(b"\0", plan.data.index(b"\0") + 1) + 1
        _, low, high, vertices, indices = struct.unpack_from("<I2f2I", plan.data, head)
        assert (low, high, vertices, indices) == (0.5, 2.0, 4, 6)
        points = np.frombuffer(plan.data, "<f4", 20, head + 20).reshape(-1, 5)[:, :3]
        corners = points[np.frombuffer(plan.data, "<u2", 6, head + 20 + 80).reshape(-1, 3)]
    else:
        size = 40 if kind == "HOM" else 44
        rows = [plan.data[at : at + size] for at in range(20, len(plan.data), size)]
        assert [struct.unpack_from("<I", row, 36)[0] for row in rows] == [1, 1]
        corners = np.array([struct.unpack_from("<9f", row) for row in rows]).reshape(-1, 3, 3)
        if kind == "SOM":
            assert [struct.unpack_from("<f", row, 40)[0] for row in rows] == [pytest.approx(0.05)] * 2
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert (normals[:, 1] > 0).all()  # outward is up, as in Blender
    assert np.linalg.norm(normals, axis=1).sum() / 2 == pytest.approx(2.0)


def test_a_mirrored_object_keeps_its_outside_outside():
    obj = drawn("square", SQUARE, [(0, 1, 2, 3)], "CFORM")
    obj.scale = (-1, 1, 1)
    points, faces = read_cform(planned(obj)[0].data)
    corners = points[faces["v"].astype(int)]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert (normals[:, 1] > 0).all()
    assert points[:, 0].min() == -2


def test_an_n_gon_that_turns_back_on_itself_keeps_its_area():
    ring = [
        (0, 0, 0),
        (3, 0, 0),
        (3, 3, 0),
        (0, 3, 0),
        (0, 0, 0.0),
        (1, 1, 0),
        (1, 2, 0),
        (2, 2, 0),
        (2, 1, 0),
        (1, 1, 0),
    ]
    actual = drawn("frame", ring, [tuple(range(10))], "CFORM")
    points, faces = read_cform(planned(actual)[0].data)
    corners = points[faces["v"].astype(int)]
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1).sum() / 2
    assert area == pytest.approx(8.0)


@pytest.mark.parametrize("unseen", ["excluded", "disabled", "constrained"])
def test_what_blender_does_not_show_is_exported_where_it_is(unseen, tmp_path):
    obj = drawn("walls", SQUARE, [(0, 1, 2, 3)], "HOM")
    above = bpy.data.objects.new("above", None)
    apart = bpy.data.collections.new("apart")
    bpy.context.scene.collection.children.link(apart)
    for entry in (obj, above):
        apart.objects.link(entry)
    bpy.context.scene.collection.objects.unlink(obj)
    above.location, obj.location = (1, 2, 3), (10, 20, 30)
    if unseen == "constrained":
        obj.constraints.new("COPY_LOCATION").target = above
    else:
        obj.parent = above
    expected, _ = planned(obj)
    if unseen == "disabled":
        obj.hide_viewport = True
    else:
        bpy.context.view_layer.layer_collection.children["apart"].exclude = True
    reopen(tmp_path)
    before = snapshot()
    plan, _ = planned(bpy.data.objects["walls"])
    assert plan.data == expected.data
    # Blender has to compute the matrix that constraints give.
    assert [difference for difference in differences(before, snapshot()) if "matrix_" not in str(difference)] == []
    first = {"constrained": (1, 3, 2)}.get(unseen, (11, 33, 22))
    assert np.frombuffer(plan.data, "<f4", 9, 20).reshape(3, 3).min(axis=0) == pytest.approx(first)


def test_modifiers_are_applied_when_asked_and_reported_when_not():
    obj = drawn("square", SQUARE, [(0, 1, 2, 3)], "HOM")
    obj.modifiers.new("Array", "ARRAY").count = 3
    before = snapshot()
    plan, report = planned(obj, modifiers=False)
    assert occluders_in(plan) == 2
    assert any("modifiers are not applied (Array)" in line for line in report.warnings)
    plan, report = planned(obj, modifiers=True)
    assert occluders_in(plan) == 6
    assert report.warnings == {}
    assert differences(before, snapshot()) == []
    obj.hide_viewport = True
    bpy.context.view_layer.update()
    assert occluders_in(planned(obj, modifiers=True)[0]) == 6, "hidden, too"
    assert obj.hide_viewport


# What is wrong ------------------------------------------------------------------------------------------------------


def with_material_of_nodes(obj, material):
    """A modifier that gives all faces a material, which the mesh has no slot for."""
    tree = bpy.data.node_groups.new("painted", "GeometryNodeTree")
    tree.is_modifier = True
    for kind in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=kind, socket_type="NodeSocketGeometry")
    names = ("NodeGroupInput", "GeometryNodeSetMaterial", "NodeGroupOutput")
    given, painted, result = (tree.nodes.new(name) for name in names)
    painted.inputs["Material"].default_value = material
    tree.links.new(given.outputs[0], painted.inputs[0])
    tree.links.new(painted.outputs[0], result.inputs[0])
    obj.modifiers.new("painted", "NODES").node_group = tree


def test_the_materials_that_are_shown_are_exported_those_of_objects_and_of_modifiers(corpus):
    other = bpy.data.materials.new("other")
    other.motionbridge_material.number = 77
    other.motionbridge_material.texture = other.motionbridge_material.shader = "details\\other"
    collision = imported(corpus / "cform" / "bx_test.cform")[0].holder
    with_material_of_nodes(collision, other)
    faces = read_cform(planned(collision, modifiers=True)[0].data)[1]
    assert set(faces["m"] & 0x3FFF) == {77}
    collision.modifiers.clear()
    collision.material_slots[0].link = "OBJECT"
    collision.material_slots[0].material = other
    numbers = read_cform(planned(collision)[0].data)[1]["m"] & 0x3FFF
    slots = column(collision.data.polygons, "material_index", kind=np.int32)
    assert ((numbers == 77) == (slots == 0)).all()
    plant = imported(corpus / "dm" / "bx_test.dm")[0].holder
    with_material_of_nodes(plant, other)
    assert planned(plant, modifiers=True)[0].data.startswith(b"details\\other\0details\\other\0")
    plant.modifiers.clear()
    plant.material_slots[0].link = "OBJECT"
    plant.material_slots[0].material = other
    assert planned(plant)[0].data.startswith(b"details\\other\0details\\other\0")


def test_shape_keys_that_the_time_chooses_are_applied_and_reported_too():
    obj = drawn("square", SQUARE, [(0, 1, 2, 3)], "HOM")
    obj.shape_key_add(name="Basis")
    raised = obj.shape_key_add(name="raised")
    raised.value = 0.0
    for point in raised.data:
        point.co.z += 5
    keys = obj.data.shape_keys
    keys.use_relative, keys.eval_time = False, keys.key_blocks[1].frame
    plan, report = planned(obj, modifiers=False)
    assert "shape keys are not applied (raised)" in report.warnings
    plan, report = planned(obj, modifiers=True)
    assert not report.warnings
    assert np.frombuffer(plan.data, "<f4", 9, 20).reshape(3, 3)[:, 1].tolist() == [5, 5, 5]


@pytest.mark.parametrize("path", corpus_files("cform/odd_truncated_header.cform", "hom/odd_git_lfs_pointer.hom"))
def test_broken_files_are_refused_before_anything_is_made(path):
    before = snapshot()
    with pytest.raises(ReadError, match=path.name):
        imported(path)
    assert differences(before, snapshot()) == []


def cform_bytes(vertices, faces, count=None):
    points = np.array(vertices, "<f4")
    rows = np.zeros(len(faces), FACE)
    rows["v"] = faces
    rows["m"] = np.arange(len(faces)) % 3
    finite = points[np.isfinite(points).all(axis=1)]
    head = struct.pack("<3I", 4, len(points) if count is None else count, len(faces))
    return head + finite.min(axis=0).tobytes() + finite.max(axis=0).tobytes() + points.tobytes() + rows.tobytes()


TRIANGLE = [(0, 0, 0), (1, 0, 0), (0, 0, 1)]


def test_folded_faces_repeated_faces_and_no_numbers_survive(tmp_path):
    path = tmp_path / "level.cform"
    faces = [(0, 1, 2), (1, 1, 2), (0, 1, 2), (2, 1, 0), (0, 0, 0), (0, 1, 3)]
    path.write_bytes(cform_bytes([*TRIANGLE, (np.nan, 0, 0)], faces))
    for split in (level_geometry.Split.WHOLE, level_geometry.Split.MATERIAL):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        is_kept(path, split=split)


def test_folded_faces_keep_their_values_when_another_face_changes(tmp_path):
    path = tmp_path / "level.cform"
    path.write_bytes(cform_bytes(TRIANGLE, [(0, 1, 2), (1, 1, 2), (0, 1, 2)]))
    model, report = imported(path)
    assert any("without area; not shown, but kept" in line for line in report.warnings)
    model.holder.data.attributes["sector"].data[1].value = 9
    _, rows = read_cform(planned(model.holder)[0].data)
    assert rows["s"].tolist() == [0, 0, 9]
    assert rows["m"].tolist() == [0, 1, 2]
    assert rows["v"].tolist() == [[0, 1, 2], [1, 1, 2], [0, 1, 2]]


def test_faces_that_point_past_the_vertices_are_left_out_and_reported(tmp_path):
    path = tmp_path / "level.cform"
    path.write_bytes(cform_bytes(TRIANGLE, [(0, 1, 2), (0, 1, 0xFFFFFFFF), (0, 1, 3)]))
    model, report = imported(path)
    assert len(model.holder.data.polygons) == 1
    assert any("refer to missing vertices" in line for line in report.warnings)
    assert planned(model.holder)[0].data == path.read_bytes()


def test_counts_of_four_billion_are_refused(tmp_path):
    path = tmp_path / "level.cform"
    path.write_bytes(cform_bytes(TRIANGLE, [(0, 1, 2)], count=0xFFFFFFFF))
    with pytest.raises(ReadError, match="4294967295"):
        imported(path)


def test_an_empty_hom_leaves_unchanged_and_cannot_be_written_again(tmp_path):
    path = tmp_path / "level.hom"
    path.write_bytes(struct.pack("<5I", 0, 4, 0, 1, 0))
    model, report = imported(path)
    assert report.warnings
    plan, report = planned(model.holder)
    assert plan.data == path.read_bytes()
    assert any("treats the file as missing" in line for line in report.warnings)
    with pytest.raises(WriteError, match="no faces"):
        planned(model.holder, anew=True)


def test_a_mesh_without_faces_and_one_that_is_nothing_are_refused():
    with pytest.raises(WriteError, match="no faces"):
        planned(drawn("points", SQUARE, [], "CFORM"))
    with pytest.raises(WriteError, match="not part of a level"):
        planned(drawn("cube", SQUARE, [(0, 1, 2)], "NONE"))


def test_what_the_game_rejects_is_reported_with_the_faces():
    actual = drawn("thin", [*SQUARE, (0, 0.0001, 0)], [(0, 1, 2), (0, 1, 4), (0, 1, 2)], "HOM")
    report = Report()
    problems = {
        problem.problem.sentence: problem.faces.tolist()
        for problem in level_geometry.find_problems(bpy.context, actual, report)
    }
    assert problems["1 of 3 faces has an area below 0.001 m²"] == [1]
    assert problems["1 of 3 faces lies exactly on another face"] == [2]
    _, message = planned(actual)
    assert any("area below 0.001" in line for line in message.warnings)
