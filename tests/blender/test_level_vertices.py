"""Vertices of a compiled level that were edited in place, in level.geom and level.geomx; everything else stays."""

import bmesh
import bpy
import numpy as np
import pytest

from addon.blender import compat
from addon.core.report import Report
from addon.formats.xray import level as levels
from addon.formats.xray.level import geometry
from addon.formats.xray.level import mesh as visual_mesh
from addon.formats.xray.level.document import Kind
from addon.games.plan import OtherBase
from addon.games.xray.levels import geometry as level_geometry
from tests.blender.scenes import column
from tests.blender.test_level_saving import FILES, copied, imported
from tests.real_files import corpus_files


def saved(folder):
    """What was said (the detail where there is but one mesh), and how each file differs: numbers of bytes by name."""
    before = {name: (folder / name).read_bytes() for name in FILES if (folder / name).is_file()}
    (holder,) = {obj.motionbridge_level.level_file for obj in bpy.context.scene.objects} - {None}
    report = Report()
    plan = level_geometry.plan_save_back(bpy.context, holder, if_changed=OtherBase.REFUSE, report=report)
    calls = [line for part in plan.changes.parts for line in part.lines()]
    sentence = "; ".join(calls) if len(calls) == 1 and "vert" in calls[0] else plan.sentence()
    if not plan.is_saved():
        plan.write()
        plan.settle(holder.motionbridge_level)
    different = {}
    for name, data in before.items():
        now = (folder / name).read_bytes()
        assert len(now) == len(data)
        different[name] = int((np.frombuffer(now, np.uint8) != np.frombuffer(data, np.uint8)).sum())
    return sentence, report, {name: count for name, count in different.items() if count}


@pytest.fixture
def yard(samples, tmp_path):
    return copied(samples / "level", tmp_path / "yard")


def geom(folder, name="level.geom"):
    return geometry.read((folder / name).read_bytes(), name, Report())


def document(folder):
    return levels.read((folder / "level").read_bytes(), "level", Report())


def decoded(folder, visual):
    """The vertices of a visual as its file has them now."""
    result = geom(folder)
    row = next(row for row in visual_mesh.drawn(document(folder), result, Report()) if row["visual"] == visual)
    first = int(row["vertex_base"])
    whole = visual_mesh.decode_vertices(result.vertices[int(row["vertex_buffer"])])
    here = slice(first, first + int(row["vertex_count"]))
    return {name: values[here] for name in whole.__slots__ if (values := getattr(whole, name)) is not None}


SETS = corpus_files("level/*/level.geom")


@pytest.mark.parametrize("path", SETS)
@pytest.mark.parametrize("detail", [1.0, 0.3])
def test_vertices_that_no_one_edited_leave_byte_for_byte(path, detail, tmp_path):
    folder = copied(path.parent, tmp_path / path.parent.name)
    imported(folder, detail=detail)
    sentence, report, different = saved(folder)
    assert (sentence, report.lines(), different) == ("nothing changed", [], {})


@pytest.mark.parametrize("path", SETS)
def test_one_position_of_a_real_level_changes_its_bytes_its_shadow_and_boxes(path, tmp_path):
    folder = copied(path.parent, tmp_path / path.parent.name)
    model = imported(folder)
    obj = model["SURFACE"][0]
    visual = obj.motionbridge_level.row
    old = np.array(obj.data.vertices[0].co, np.float32)
    before = decoded(folder, visual)
    same = (before["positions"] == old).all(axis=1)
    for number in np.flatnonzero(same).tolist():
        obj.data.vertices[number].co.z += 50
    was = document(folder)
    sentence, report, different = saved(folder)
    count = int(same.sum())
    assert sentence == f"{obj.name}: {count} {'vertex' if count == 1 else 'vertices'}"
    assert list(report.warnings) == ["vertices were moved; collision, normals and baked light stay as they are"]
    after = decoded(folder, visual)
    assert np.array_equal(after["positions"][same][:, 2], np.float32(old[2] + np.float32(50)).repeat(count))
    assert np.array_equal(after["positions"][~same], before["positions"][~same])
    assert set(different) <= set(FILES)
    assert different["level.geom"] <= 4 * count
    now = document(folder)
    fast = now.visuals.rows_of(Kind.CONTAINER, depth=2)[visual]
    if fast >= 0:
        row = now.visuals.fixed[Kind.CONTAINER][fast]
        first = int(row["vertex_base"])
        points = geom(folder, "level.geomx").vertices[int(row["vertex_buffer"])].rows["position"]
        points = points[first : first + int(row["vertex_count"])]
        wanted = np.unique(after["positions"][:, [0, 2, 1]], axis=0)
        assert np.array_equal(np.unique(points, axis=0), wanted)
    box, up = now.visuals.fixed[Kind.HEADER]["box"], visual_mesh.parents(now)
    rows = now.visuals.rows_of(Kind.HEADER)
    above = visual
    while above >= 0:
        assert box[rows[above]][1][1] >= old[2] + 50
        above = int(up[above])
    assert was.visuals.entries.tobytes() == now.visuals.entries.tobytes()
    # Saved again there is nothing to do, and the boxes stay.
    sentence, _, different = saved(folder)
    assert (sentence, different) == ("nothing changed", {})
    again = imported(folder)
    assert again["SURFACE"][0].data.vertices[0].co.z == pytest.approx(old[2] + 50, abs=1e-3)


def test_texture_coordinates_light_and_sky_are_written_to_the_nearest_step(yard):
    model = imported(yard)
    wall = model["SURFACE"][1]
    data = wall.data
    layer = data.uv_layers["UVMap"]
    values = column(layer.uv, "vector", 2)
    layer.uv.foreach_set("vector", (values + np.float32(0.123456)).ravel())
    data.attributes["hemi"].data[0].value = 0.5
    before = decoded(yard, 1)
    sentence, report, different = saved(yard)
    assert sentence == f"bricks 00001: {len(data.vertices)} vertices"
    assert not report.lines()
    assert set(different) == {"level.geom"}
    after = decoded(yard, 1)
    assert np.allclose(after["uvs"], before["uvs"] + np.float32(0.123456), atol=1 / 1024 / 255)
    assert after["hemi"][0] == pytest.approx(0.5, abs=0.51 / 255)
    assert np.array_equal(after["hemi"][1:], before["hemi"][1:])
    assert np.array_equal(after["positions"], before["positions"])
    assert np.array_equal(after["normals"], before["normals"])
    assert np.array_equal(after["light_map_uvs"], before["light_map_uvs"])
    assert saved(yard)[2] == {}


def test_vertex_colours_of_a_real_level(corpus, tmp_path):
    folder = copied(corpus / "level" / "bx_test", tmp_path / "bx")
    model = imported(folder)
    painted = next(entry for entry in model["SURFACE"] if entry.data.attributes.get("light") is not None)
    painted.data.attributes["light"].data[0].color = (0.2, 0.4, 0.6, 0.8)
    sentence, _, different = saved(folder)
    assert sentence == f"{painted.name}: 1 vertex"
    assert set(different) == {"level.geom"}
    colours = decoded(folder, painted.motionbridge_level.row)["colours"]
    assert np.allclose(colours[0], (0.2, 0.4, 0.6, 0.8), atol=0.5 / 255)


def test_a_surface_that_is_moved_as_an_object_is_moved_in_the_file(yard):
    model = imported(yard)
    before = decoded(yard, 1)["positions"]
    model["SURFACE"][1].location = (1, 2, 3)
    sentence, _, different = saved(yard)
    assert sentence == f"bricks 00001: {len(before)} vertices"
    assert set(different) == set(FILES)
    assert np.allclose(decoded(yard, 1)["positions"], before + np.float32((1, 2, 3)))
    assert saved(yard)[2] == {}


def test_a_tree_that_is_edited_is_edited_for_all_and_their_boxes_follow(yard):
    model = imported(yard)
    (part,) = model["TREE"][0].instance_collection.objects
    highest = max(range(len(part.data.vertices)), key=lambda number: part.data.vertices[number].co.z)
    part.data.vertices[highest].co.z = 4
    saved(yard)
    now = document(yard)
    box = now.visuals.fixed[Kind.HEADER]["box"][now.visuals.rows_of(Kind.HEADER)[[2, 3]]]
    assert np.allclose(box[:, 1, 1], (4.001, 6.001), atol=1e-4)


def test_save_back_writes_all_three_files_with_their_backups(yard):
    model = imported(yard)
    wall = model["SURFACE"][1]
    wall.data.vertices[0].co.z += 1
    bpy.context.view_layer.objects.active = wall
    assert bpy.ops.motionbridge.level_save_back(backup=True) == {"FINISHED"}
    assert sorted(path.name for path in yard.iterdir()) == sorted([*FILES, *(f"{name}.bak" for name in FILES)])
    assert bpy.ops.motionbridge.level_save_back() == {"CANCELLED"}


def test_export_to_another_folder_writes_edited_vertices_beside_the_file(yard, tmp_path):
    model = imported(yard)
    before = {name: (yard / name).read_bytes() for name in FILES}
    bpy.context.view_layer.objects.active = model["SURFACE"][1]
    plain, other, again = (tmp_path / name / "level" for name in ("plain", "other", "again"))
    for target in (plain, other, again):
        target.parent.mkdir()
    assert bpy.ops.export_scene.xray_level_geometry(filepath=str(plain)) == {"FINISHED"}
    assert [path.name for path in plain.parent.iterdir()] == ["level"]
    model["SURFACE"][1].data.vertices[0].co.z += 1
    assert bpy.ops.export_scene.xray_level_geometry(filepath=str(other)) == {"FINISHED"}
    assert "also written: level.geom, level.geomx" in bpy.context.window_manager.motionbridge_report
    assert sorted(path.name for path in other.parent.iterdir()) == sorted(FILES)
    assert {name: (yard / name).read_bytes() for name in FILES} == before
    assert bpy.ops.motionbridge.level_save_back(backup=False) == {"FINISHED"}
    after = {name: (yard / name).read_bytes() for name in FILES}
    assert {name: (other.parent / name).read_bytes() for name in FILES} == after
    # What was saved back already counts as edited since the import.
    assert bpy.ops.export_scene.xray_level_geometry(filepath=str(again)) == {"FINISHED"}
    assert {name: (again.parent / name).read_bytes() for name in FILES} == after


def test_export_onto_the_imported_files_makes_them_the_base(yard):
    model = imported(yard)
    wall = model["SURFACE"][1]
    bpy.context.view_layer.objects.active = wall
    wall.data.vertices[0].co.z += 1
    assert bpy.ops.export_scene.xray_level_geometry(filepath=str(yard / "level"), backup=False) == {"FINISHED"}
    assert saved(yard)[2] == {}
    wall.data.vertices[0].co.z += 1
    sentence, report, different = saved(yard)
    assert sentence.startswith("bricks 00001: ")
    assert {"level.geom", "level.geomx"} <= set(different)
    assert not [warning for warning in report.warnings if "not the imported one" in warning]


def test_vertices_are_saved_again_after_undo_of_the_save_and_of_the_edit(yard, tmp_path):
    before = {name: (yard / name).read_bytes() for name in FILES}

    def state(message=""):
        if message:
            bpy.ops.ed.undo_push(message=message)
        else:
            bpy.ops.ed.undo()
        wall = bpy.data.objects["bricks 00001"]
        bpy.context.view_layer.objects.active = wall
        return wall

    imported(yard)
    state("import").data.vertices[0].co.z += 1
    state("edit")
    assert bpy.ops.motionbridge.level_save_back(backup=False) == {"FINISHED"}
    after = {name: (yard / name).read_bytes() for name in FILES}
    state("save")
    state()
    assert bpy.ops.motionbridge.level_save_back(backup=False) == {"CANCELLED"}, "the edit is still there"
    (tmp_path / "other").mkdir()
    assert bpy.ops.export_scene.xray_level_geometry(filepath=str(tmp_path / "other" / "level")) == {"FINISHED"}
    assert {name: (tmp_path / "other" / name).read_bytes() for name in FILES} == after
    state()
    assert bpy.ops.motionbridge.level_save_back(backup=False) == {"FINISHED"}
    assert {name: (yard / name).read_bytes() for name in FILES} == before


def test_what_cannot_be_written_is_reported_by_name(yard):
    model = imported(yard)
    wall = model["SURFACE"][1]
    wall.data.vertices.add(1)
    floor = model["SURFACE"][0]
    floor.data.uv_layers["UVMap"].uv[0].vector = (99, 0)
    sentence, report, different = saved(yard)
    assert (sentence, different) == ("nothing changed", {})
    message = list(report.warnings)
    assert any("other vertices or faces than level.geom" in entry and "'bricks 00001'" in entry for entry in message)
    assert any("outside 32 tiles" in entry and "'earth 00000'" in entry for entry in message)


def test_edited_or_cleared_normals_are_reported_by_name(yard):
    model = imported(yard)
    wall, floor = model["SURFACE"][1], model["SURFACE"][0]
    bent = np.tile(np.float32((0, 0.6, 0.8)), (len(wall.data.loops), 1))
    compat.set_corner_normals(wall.data, bent)
    sentence, report, different = saved(yard)
    assert (sentence, different) == ("nothing changed", {})
    words = "edited normals; not written, those of the file stay"
    assert list(report.warnings) == [f"1 mesh has {words}: 'bricks 00001'"]
    floor.data.normals_split_custom_set([(0, 0, 0)] * len(floor.data.loops))
    with bpy.context.temp_override(object=floor, active_object=floor):
        bpy.ops.mesh.customdata_custom_splitnormals_clear()
    assert list(saved(yard)[1].warnings) == [f"2 meshes have {words}: 'earth 00000', 'bricks 00001'"]


@pytest.mark.parametrize("name", ["olr_tss_cd70ecb", "xray15_mp_test"])
def test_normals_beside_a_moved_vertex_are_not_edited_also_after_it_was_saved(name, corpus, tmp_path):
    """Before 4.5 Blender keeps normals as angles against the surface, which turn with it."""
    folder = copied(corpus / "level" / name, tmp_path / name)
    floor = max(imported(folder)["SURFACE"], key=lambda obj: len(obj.data.polygons))
    for number in range(0, 40, 4):
        floor.data.vertices[number].co.z += 0.5
    floor.data.update()
    assert saved(folder)[0].endswith("10 vertices")
    _, report, different = saved(folder)
    assert different == {}
    assert list(report.warnings) == []


@pytest.mark.parametrize("kind", ["SURFACE", "TREE"])
def test_vertices_are_saved_in_edit_mode(kind, yard):
    model = imported(yard)
    edited = model[kind][-1]
    edited.location.x += 0.5
    if kind == "TREE":
        edited = edited.instance_collection.objects[0]
        bpy.context.scene.collection.children.link(edited.users_collection[0])
    edited.select_set(state=True)
    bpy.context.view_layer.objects.active = edited
    bpy.ops.object.mode_set(mode="EDIT")
    mesh = bmesh.from_edit_mesh(edited.data)
    mesh.verts.ensure_lookup_table()
    mesh.verts[0].co.z += 1
    bmesh.update_edit_mesh(edited.data)
    assert bpy.ops.motionbridge.level_save_back(backup=False) == {"FINISHED"}
    assert edited.mode == "EDIT"
    bpy.ops.object.mode_set(mode="OBJECT")
    assert saved(yard)[2] == {}


def test_normals_stay_what_they_are_through_edit_mode(yard):
    model = imported(yard)
    bpy.context.view_layer.objects.active = model["SURFACE"][1]
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.object.mode_set(mode="OBJECT")
    assert saved(yard)[1].lines() == []


def test_layers_that_are_gone_are_reported_by_name(yard):
    model = imported(yard)
    data = model["SURFACE"][1].data
    data.uv_layers.remove(data.uv_layers["Light Map"])
    sentence, report, _ = saved(yard)
    assert sentence == "nothing changed"
    words = "has lost attributes or texture coordinates of the import; those of the file stay"
    assert list(report.warnings) == [f"1 mesh {words}: 'bricks 00001'"]


def test_a_level_geom_that_was_changed_meanwhile_stays(yard):
    model = imported(yard)
    data = bytearray((yard / "level.geom").read_bytes())
    data[-1] ^= 1
    (yard / "level.geom").write_bytes(data)
    model["SURFACE"][0].data.vertices[0].co.z += 1
    model["LIGHT"][1].location.z += 1
    sentence, report, different = saved(yard)
    assert sentence == "1 light changed"
    assert set(different) == {"level"}
    assert any("is not the imported one" in warning for warning in report.warnings)


def test_new_numbers_must_be_finite(yard):
    model = imported(yard)
    model["SURFACE"][0].data.vertices[0].co.z = np.nan
    with pytest.raises(Exception, match="NaN"):
        saved(yard)
