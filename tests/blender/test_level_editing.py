"""A level's meshes edited in Blender, and the bytes that come of it; meshes made ready for export."""

import struct

import bmesh
import bpy
import numpy as np
import pytest

from addon.core.errors import WriteError
from addon.core.report import Report
from addon.formats.xray import cform
from addon.games.xray.levels import geometry as level_geometry
from addon.games.xray.levels.properties import holder_of
from tests.blender.scenes import add_object, editing
from tests.blender.test_levels import (
    FACE,
    SQUARE,
    cform_bytes,
    drawn,
    face_values,
    imported,
    planned,
    read_cform,
)
from tests.real_files import corpus_files
from tests.scene import differences, snapshot

CORNERS = [(0, 0, 0), (1, 0, 0), (1, 0, 1), (0, 0, 1), (2, 0, 0), (2, 0, 1)]
FACES = [(0, 1, 2), (0, 2, 3), (1, 4, 5), (1, 5, 2)]


@pytest.fixture
def two_sectors(tmp_path):
    """Four faces, the second and fourth in sector 1, in the order 0 1 0 1; both sectors share vertices."""
    data = bytearray(cform_bytes(CORNERS, FACES))
    for face in (1, 3):
        at = len(data) - 16 * (4 - face) + 14
        data[at : at + 2] = (1).to_bytes(2, "little")
    path = tmp_path / "level.cform"
    path.write_bytes(bytes(data))
    return path


def named_parts(created):
    return {mesh.name.rpartition(" ")[2]: mesh for mesh in created.meshes}


# Parts --------------------------------------------------------------------------------------------------------------


def test_parts_hold_what_is_theirs_and_are_named_after_it(two_sectors):
    parts = named_parts(imported(two_sectors, split=level_geometry.Split.SECTOR)[0])
    assert {name: len(part.data.polygons) for name, part in parts.items()} == {"0": 2, "1": 2}
    assert face_values(parts["1"], "sector", np.int32).tolist() == [1, 1]
    assert face_values(parts["1"], "material", np.int32).tolist() == [1, 0]


def test_a_vertex_moved_in_one_part_parts_from_its_copies(two_sectors):
    model, _ = imported(two_sectors, split=level_geometry.Split.SECTOR)
    part = named_parts(model)["1"]
    moved = next(vertex for vertex in part.data.vertices if tuple(vertex.co) == (0, 1, 0))  # only of face 1
    moved.co.z = 5
    shared = next(vertex for vertex in part.data.vertices if tuple(vertex.co) == (1, 1, 0))  # of all four faces
    shared.co.z = 7
    points, faces = read_cform(planned(model.holder)[0].data)
    old, before = read_cform(two_sectors.read_bytes())
    corners = points[faces["v"].astype(int)]
    wanted = old[before["v"].astype(int)]
    for face in (1, 3):
        wanted[face][(wanted[face] == (0, 0, 1)).all(axis=1), 1] = 5
        wanted[face][(wanted[face] == (1, 0, 1)).all(axis=1), 1] = 7
    np.testing.assert_array_equal(corners, wanted)
    assert len(points) == 7
    np.testing.assert_array_equal(faces[["m", "s"]], before[["m", "s"]])


def test_a_part_that_is_deleted_takes_its_faces_along_and_no_others(two_sectors):
    model, _ = imported(two_sectors, split=level_geometry.Split.SECTOR)
    bpy.data.objects.remove(named_parts(model)["0"])
    points, faces = read_cform(planned(model.holder)[0].data)
    old, before = read_cform(two_sectors.read_bytes())
    np.testing.assert_array_equal(points[faces["v"].astype(int)], old[before["v"][[1, 3]].astype(int)])
    assert faces["s"].tolist() == [1, 1]
    assert faces["m"].tolist() == before["m"][[1, 3]].tolist()


def test_all_parts_deleted_is_refused(two_sectors):
    model, _ = imported(two_sectors, split=level_geometry.Split.MATERIAL)
    for part in model.meshes:
        bpy.data.objects.remove(part)
    with pytest.raises(WriteError, match="has no meshes"):
        planned(model.holder)


# The box ------------------------------------------------------------------------------------------------------------


def box(data):
    return struct.unpack_from("<6f", data, 12)


def test_a_box_that_is_too_large_stays_until_a_vertex_moves(two_sectors):
    data = bytearray(two_sectors.read_bytes())
    struct.pack_into("<6f", data, 12, -9, -9, -9, 9, 9, 9)
    two_sectors.write_bytes(bytes(data))
    model, _ = imported(two_sectors)
    model.holder.data.attributes["sector"].data[0].value = 4
    assert box(planned(model.holder)[0].data) == (-9, -9, -9, 9, 9, 9)
    model.holder.data.vertices[3].co = (0, 1, 3)
    assert box(planned(model.holder)[0].data) == (0, 0, 0, 2, 3, 1)


# Welded occluders ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", corpus_files("hom/l05_bar.hom", "som/l05_bar.som"))
@pytest.mark.parametrize("weld", [0.0, 0.01])
def test_a_welded_corner_moves_every_loose_one_that_lay_there_and_nothing_else(path, weld):
    model, _ = imported(path, weld=weld)
    data = path.read_bytes()
    size = 40 if path.suffix == ".hom" else 44
    rows = np.frombuffer(data, [("p", "<f4", (3, 3)), ("rest", f"V{size - 36}")], offset=20)
    assert len(model.holder.data.vertices) < 3 * len(rows) / 1.5
    vertex = model.holder.data.vertices[model.holder.data.polygons[7].vertices[0]]
    near = np.abs(rows["p"] - np.array(vertex.co)[[0, 2, 1]]).max(axis=2) <= 2 * weld
    vertex.co.z += 0.5
    after = np.frombuffer(planned(model.holder)[0].data, rows.dtype, offset=20)
    changed = (after["p"] != rows["p"]).any(axis=2)
    assert changed.sum() > 1
    assert not (changed & ~near).any()
    if not weld:
        np.testing.assert_array_equal(changed, near)
    assert after["rest"].tobytes() == rows["rest"].tobytes()


# Detail models ------------------------------------------------------------------------------------------------------


def with_uvs(corners):
    obj = drawn("leaf", SQUARE, [(0, 1, 2), (0, 2, 3)], "DM")
    layer = obj.data.uv_layers.new(name="UVMap")
    layer.uv.foreach_set("vector", np.array(corners, np.float32).ravel())
    return obj


def detail_model(data):
    """Vertices (n, 5) and triangles of a `.dm`."""
    head = data.index(b"\0", data.index(b"\0") + 1) + 1
    vertices, indices = struct.unpack_from("<2I", data, head + 12)
    rows = np.frombuffer(data, "<f4", 5 * vertices, head + 20).reshape(-1, 5)
    return rows, np.frombuffer(data, "<u2", indices, head + 20 + 20 * vertices).reshape(-1, 3)


ONE_UV_EACH = [(0, 0), (1, 0), (1, 1), (0, 0), (1, 1), (0, 1)]


def test_a_detail_model_without_seams_has_no_vertex_more():
    rows, faces = detail_model(planned(with_uvs(ONE_UV_EACH))[0].data)
    assert len(rows) == 4
    assert faces.max() == 3


def test_a_vertex_on_a_seam_is_there_twice_and_no_other():
    obj = with_uvs([*ONE_UV_EACH[:3], (0.5, 0.25), *ONE_UV_EACH[4:]])
    rows, faces = detail_model(planned(obj)[0].data)
    assert len(rows) == 5
    corners = {tuple(row) for row in rows[faces.ravel()].tolist()}
    assert len(corners) == 5
    assert {(0, 0, 0, 0, 1), (0, 0, 0, 0.5, 0.75)} <= corners  # v is downwards in the file
    assert len(obj.data.vertices) == 4


def test_a_detail_model_too_large_or_of_two_materials_is_refused():
    side = 257
    x, y = np.meshgrid(np.arange(side), np.arange(side))
    first = (np.arange(side - 1)[:, None] * side + np.arange(side - 1)).ravel()
    faces = np.stack([first, first + 1, first + side + 1, first + side], axis=1)
    points = np.stack([x, y, np.zeros_like(x)], axis=-1).reshape(-1, 3)
    with pytest.raises(WriteError, match="66049 vertices, the game supports"):
        planned(drawn("meadow", points.tolist(), faces.tolist(), "DM"))
    obj = with_uvs(ONE_UV_EACH)
    for name in ("grass", "stone"):
        obj.data.materials.append(bpy.data.materials.new(name))
    obj.data.polygons[1].material_index = 1
    with pytest.raises(WriteError, match="several materials"):
        planned(obj)


# On the way out -----------------------------------------------------------------------------------------------------


def test_the_transforms_of_an_object_and_of_those_above_it_are_applied():
    obj = drawn("wall", SQUARE, [(0, 1, 2), (0, 2, 3)], "HOM")
    above = add_object("above")
    obj.parent = above
    above.location, above.rotation_euler = (10, 0, 0), (0, 0, np.pi / 2)
    obj.scale = (2, 2, 2)
    before = snapshot()
    plan, _ = planned(obj)
    assert differences(before, snapshot()) == []
    rows = np.frombuffer(plan.data, [("p", "<f4", (3, 3)), ("f", "<u4")], offset=20)
    x, y, z = np.array(SQUARE, float)[[[0, 2, 1], [0, 3, 2]]].transpose(2, 0, 1)
    np.testing.assert_allclose(rows["p"], np.stack([10 - 2 * y, 2 * z, 2 * x], axis=-1), atol=1e-6)


def test_what_is_edited_in_edit_mode_is_exported_without_leaving_it():
    obj = drawn("wall", SQUARE, [(0, 1, 2, 3)], "CFORM")
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    edited = bmesh.from_edit_mesh(obj.data)
    edited.verts.ensure_lookup_table()
    edited.verts[0].co = (-3, 0, 0)
    bmesh.update_edit_mesh(obj.data)
    points, _ = read_cform(planned(obj)[0].data)
    assert obj.mode == "EDIT"
    assert points[0].tolist() == [-3, 0, 0]


@pytest.mark.parametrize("suffix", ["cform", "hom", "som", "dm"])
def test_the_exporter_of_a_collection_writes_what_it_holds(samples, tmp_path, suffix):
    source = next((samples / "level").glob(f"*.{suffix}"))
    model, _ = imported(source)
    group = bpy.data.collections.new("kept")
    bpy.context.scene.collection.children.link(group)
    group.objects.link(model.holder)
    layer = bpy.context.view_layer
    layer.active_layer_collection = layer.layer_collection.children["kept"]
    bpy.ops.collection.exporter_add(name="IO_FH_motionbridge_xray_level_geometry")
    (exporter,) = group.exporters
    target = tmp_path / source.name
    (exporter if hasattr(exporter, "filepath") else exporter.export_properties).filepath = str(target)
    assert bpy.ops.collection.export_all() == {"FINISHED"}
    assert target.read_bytes() == source.read_bytes()


# Meshes drawn from nothing ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        ("CFORM", {"material": 0, "sector": 0, "suppress_shadows": False, "suppress_wallmarks": False}),
        ("HOM", {"two_sided": True}),
        ("SOM", {"two_sided": True, "occlusion": 0.05}),
        ("DM", {}),
    ],
)
def test_the_panel_adds_the_attributes_that_are_missing(kind, wanted, tmp_path):
    obj = drawn("wall", SQUARE, [(0, 1, 2, 3)], "NONE")
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.motionbridge.level_begin(kind=kind) == {"FINISHED"}
    result = {name: obj.data.attributes[name].data[0].value for name in wanted}
    assert result == pytest.approx(wanted)
    target = tmp_path / f"wall.{kind.lower()}"
    assert bpy.ops.export_scene.xray_level_geometry(filepath=str(target)) == {"FINISHED"}
    assert imported(target)[0].kind == kind


def test_all_selected_meshes_become_parts_of_one_file(tmp_path):
    known, *walls = (
        drawn(name, [(x, y, z + height) for x, y, z in SQUARE], [(0, 1, 2, 3)], "NONE")
        for height, name in enumerate(("roof", "wall", "door"))
    )
    level_geometry.begin(bpy.context, known, "SOM")
    walls.append(walls[0].copy())  # which shares the mesh
    bpy.context.scene.collection.objects.link(walls[-1])
    bpy.ops.object.select_all(action="SELECT")
    bpy.context.view_layer.objects.active = walls[0]
    assert bpy.ops.motionbridge.level_begin(kind="HOM") == {"FINISHED"}
    assert [obj.motionbridge_level.kind for obj in (known, *walls)] == ["SOM", "HOM", "HOM", "HOM"]
    known.select_set(False)
    path = tmp_path / "level.hom"
    assert bpy.ops.export_scene.xray_level_geometry(filepath=str(path)) == {"FINISHED"}
    assert len(path.read_bytes()) == 20 + 40 * 3 * 2


def test_attributes_existing_keep_their_values():
    obj = drawn("wall", SQUARE, [(0, 1, 2), (0, 2, 3)], "NONE")
    attribute = obj.data.attributes.new("two_sided", "BOOLEAN", "FACE")
    attribute.data.foreach_set("value", [False, True])
    level_geometry.begin(bpy.context, obj, "HOM")
    assert face_values(obj, "two_sided", np.bool_).tolist() == [False, True]
    plan, _ = planned(obj)
    assert [struct.unpack_from("<I", plan.data, 20 + 40 * face + 36)[0] for face in (0, 1)] == [0, 1]


def test_faces_drawn_beside_those_of_a_file_get_the_defaults_and_the_others_keep_theirs(two_sectors):
    model, _ = imported(two_sectors)
    with editing(model.holder.data) as work:
        work.faces.new([work.verts.new(position) for position in ((5, 5, 0), (6, 5, 0), (6, 6, 0))])
    _, faces = read_cform(planned(model.holder)[0].data)
    _, before = read_cform(two_sectors.read_bytes())
    assert faces.dtype == FACE
    np.testing.assert_array_equal(faces[:4], before)
    assert faces[4]["s"] == 0


@pytest.mark.parametrize("path", corpus_files("cform/tss_level.cform", "details/bx_v3.details"))
def test_what_does_not_count_is_reported(path):
    model, report = imported(path)
    name = "sector" if path.suffix == ".cform" else "density_0"
    assert not planned(model.holder)[1].warnings
    attributes = model.holder.data.attributes
    attributes.remove(attributes[name])
    attributes.new(name, "FLOAT_VECTOR", "POINT")
    model.holder.modifiers.new("Thick", "SOLIDIFY")
    plan, report = planned(model.holder, modifiers=False)
    assert plan.data == path.read_bytes()
    assert [line.partition(" (")[0] for line in report.warnings] == [
        f"the attribute {name!r} is ignored: its domain or data type is wrong",
        "modifiers are not applied",
    ]


# What is beside the file's mesh, and what its colours say ----------------------------------------------------------


@pytest.mark.parametrize("name", ["level.cform", "level.hom", "level.som"])
def test_a_separated_piece_is_reported_to_be_left_out_of_both(name, samples):
    model, _ = imported(samples / "level" / name)
    whole = model.holder
    bpy.context.view_layer.objects.active = whole
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")
    bpy.ops.object.mode_set(mode="OBJECT")
    whole.data.polygons[0].select = True
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.separate(type="SELECTED")
    bpy.ops.object.mode_set(mode="OBJECT")
    piece = next(obj for obj in bpy.context.scene.objects if obj != whole)
    words = "objects that were separated or copied from it are not written; join them to it (Ctrl J): "
    for first, other in ((whole, piece), (piece, whole)):
        assert f"{words}{other.name!r}" in planned(first)[1].warnings
    with bpy.context.temp_override(active_object=whole, object=whole, selected_editable_objects=[whole, piece]):
        bpy.ops.object.join()
    assert not any(line.startswith(words) for line in planned(whole)[1].warnings)


def test_parts_that_lost_their_parent_and_meshes_that_are_no_parts_are_reported(two_sectors):
    model, _ = imported(two_sectors, split=level_geometry.Split.SECTOR)
    holder, (first, second) = model.holder, model.meshes
    assert not planned(holder)[1].warnings
    second.parent = None
    stranger = drawn("crate", SQUARE, [(0, 1, 2, 3)], "NONE")
    stranger.parent = first
    obj = bpy.data.objects.new("crates", None)
    obj.instance_type, obj.instance_collection = "COLLECTION", bpy.data.collections.new("crates")
    bpy.context.scene.collection.objects.link(obj)
    obj.parent = holder
    plan, report = planned(holder)
    assert len(cform.read(plan.data, "", Report()).faces) == 2
    assert list(report.warnings) == [
        f"objects that were separated or copied from it are not written; join them to it (Ctrl J): {second.name!r}",
        "meshes below it that are no part of it are not written; join them to it (Ctrl J): 'crate'",
        "instances are not written; make them real (Object > Apply) and join them to it: 'crates'",
    ]
    between = add_object("between")
    between.parent, second.parent = holder, between
    assert planned(holder)[0].sentence() == "nothing changed"
    assert holder_of(second) == holder


@pytest.mark.parametrize(("name", "share"), [("level.hom", None), ("level.som", 0.6)])
def test_a_face_drawn_in_edit_mode_is_found_until_it_has_the_values_of_its_color(name, share, samples):
    model, _ = imported(samples / "level" / name)
    whole = model.holder
    count = len(whole.data.polygons)
    bpy.context.view_layer.objects.active = whole
    whole.select_set(True)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.primitive_plane_add(size=5, location=(0, 0, 50))
    # It has the first slot, which in most files is that of a two-sided face.
    whole.active_material_index = [slot.name.endswith("one-sided") for slot in whole.material_slots].index(False)
    bpy.ops.object.material_slot_assign()
    words = f"2 of {count + 2} faces have other values than their color shows, and the values are exported"
    assert any(line.startswith(words) for line in planned(whole)[1].warnings)
    problems = level_geometry.find_problems(bpy.context, whole, Report())
    assert [entry.faces.tolist() for entry in problems if entry.problem.sentence == words] == [[count]]
    assert bpy.ops.motionbridge.level_two_sided(two_sided=True) == {"FINISHED"}
    if share is not None:
        assert bpy.ops.motionbridge.level_occlusion(occlusion=share) == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    plan, report = planned(whole)
    assert not any("color shows" in line for line in report.warnings)
    size = 40 if share is None else 44
    for row in (plan.data[-size:], plan.data[-2 * size : -size]):
        assert struct.unpack_from("<I", row, 36)[0] == 1
        assert share is None or struct.unpack_from("<f", row, 40)[0] == pytest.approx(share)


@pytest.mark.parametrize("named", [False, True])
def test_joined_faces_without_a_game_material_are_reported(named, samples):
    model, _ = imported(samples / "level" / "level.cform")
    whole = model.holder
    crate = drawn("crate", SQUARE, [(0, 1, 2, 3)], "NONE")
    crate.data.materials.append(bpy.data.materials.new("wood") if named else None)
    bpy.context.view_layer.objects.active = whole
    with bpy.context.temp_override(active_object=whole, object=whole, selected_editable_objects=[whole, crate]):
        bpy.ops.object.join()
    words = "have no game material and no sector, and are written with 0; set both with Set Collision Values"
    plan, report = planned(whole)
    assert f"2 faces {words}" in report.warnings
    assert read_cform(plan.data)[1]["m"][-2:].tolist() == [0, 0]
    whole.data.polygons.foreach_set(
        "select", [index == len(whole.data.polygons) - 1 for index in range(len(whole.data.polygons))]
    )
    level_geometry.set_values(bpy.context, whole, "CFORM", {"sector": 3})
    words = "have no game material, and are written with number 0; give them one with Set Collision Values"
    assert f"2 faces {words}" in planned(whole)[1].warnings
    level_geometry.set_values(bpy.context, whole, "CFORM", {"material": 5})
    plan, report = planned(whole)
    assert not any("game material" in line for line in report.warnings)
    assert read_cform(plan.data)[1]["m"][-2:].tolist() == [5, 5]
    assert read_cform(plan.data)[1]["s"][-2:].tolist() == [3, 3]
