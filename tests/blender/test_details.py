"""`.details` into Blender and back, judged by their bytes and by a reader of the test's own."""

import os
import struct
from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from addon.core.errors import ReadError, WriteError
from addon.core.report import Report
from addon.formats.xray import details, dm
from addon.games.xray.levels import details as level_details
from addon.games.xray.levels import geometry as level_geometry
from addon.games.xray.levels.details import models_of
from addon.games.xray.options import LevelExportOptions, LevelImportOptions
from tests.blender.scenes import add_object, column, delete_faces
from tests.formats.xray.level_bytes import chunk, words
from tests.formats.xray.test_details import GRASS, HEADER, OLD, SLOTS, SMALL, WORD
from tests.real_files import corpus_files
from tests.scene import differences, snapshot
from tests.work import memory_peak

ALL = corpus_files("details")
BIG = corpus_files("details/hospital.details")
SLOT = np.dtype([("word", "<u8"), ("density", "<u2", 4)])


def imported(path, **options):
    report = Report()
    created = level_geometry.import_file(bpy.context, path, LevelImportOptions(**options), report)
    return created.holder, report


def planned(ground, **options):
    report = Report()
    return level_geometry.plan_export(bpy.context, ground, "", LevelExportOptions(**options), report), report


def written(tmp_path, data, name="level.details"):
    path = tmp_path / name
    path.write_bytes(data)
    return path


def slots_of(data):
    """(offset in the file, slots) by walking through its chunks."""
    at = 0
    while at < len(data):
        identifier, size = struct.unpack_from("<2I", data, at)
        if identifier == 2:
            return at + 8, np.frombuffer(data, SLOT, size // 16, at + 8)
        at += 8 + size
    raise AssertionError("no slots")


def face_values(obj, name, width=1):
    stored = obj.data.attributes[name]
    assert stored.domain == "FACE"
    whole = stored.data_type == "INT"
    return column(stored.data, "value" if width == 1 else "color", width, np.int32 if whole else np.float32)


def set_face(obj, name, face, value):
    stored = obj.data.attributes[name].data[face]
    setattr(stored, "color" if hasattr(stored, "color") else "value", value)


def selected(ground, *faces):
    chosen = np.zeros(len(ground.data.polygons), np.bool_)
    chosen[list(faces)] = True
    return chosen


# Every byte ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [SMALL, OLD])
def test_both_versions_go_through_edit_mode_unchanged(data, tmp_path):
    ground, _ = imported(written(tmp_path, data))
    bpy.ops.object.mode_set(mode="EDIT")
    assert planned(ground)[0].data == data
    bpy.ops.object.mode_set(mode="OBJECT")
    assert planned(ground)[0].data == data


@pytest.mark.parametrize("path", BIG)
def test_another_order_of_faces_changes_nothing(path):
    ground, _ = imported(path)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.sort_elements(type="REVERSE", elements={"FACE"})
    bpy.ops.object.mode_set(mode="OBJECT")
    assert face_values(ground, "file_face")[0] != 0
    assert planned(ground)[0].data == path.read_bytes()


# What is seen --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", BIG)
def test_the_ground_shows_what_the_bytes_say(path):
    data = path.read_bytes()
    _, rows = slots_of(data)
    header = struct.unpack("<2I2i2I", data[-24:])  # version 3 has its header last
    _, _, x0, z0, width, _ = header
    ground, _ = imported(path)
    corners = column(ground.data.attributes["position"].data, "vector", 3).reshape(-1, 4, 3)
    slot = np.arange(len(rows))
    low = np.stack([(slot % width - x0) * 2, (slot // width - z0) * 2], axis=1)
    np.testing.assert_array_equal(corners[..., :2].min(axis=1), low)
    np.testing.assert_array_equal(corners[..., :2].max(axis=1), low + 2)
    lowest = (rows["word"] & np.uint64(0xFFF)) * 0.2 - 200
    np.testing.assert_allclose(corners[..., 2], np.repeat(lowest[:, None], 4, 1), atol=1e-4)
    tall = (rows["word"] >> np.uint64(12) & np.uint64(0xFF)) * 0.1
    np.testing.assert_allclose(face_values(ground, "height"), tall, atol=1e-5)
    for index in range(4):
        number = (rows["word"] >> np.uint64(20 + 6 * index) & np.uint64(63)).astype(int)
        np.testing.assert_array_equal(face_values(ground, f"model_{index}"), np.where(number == 63, -1, number))
        nibbles = np.stack([rows["density"][:, index] >> shift & 15 for shift in (0, 4, 8, 12)], axis=1)
        np.testing.assert_allclose(face_values(ground, f"density_{index}", 4), nibbles / 15, atol=1e-6)
    for name, shift in (("sun", 44), ("sky", 48)):
        np.testing.assert_allclose(
            face_values(ground, name), (rows["word"] >> np.uint64(shift) & np.uint64(15)) / 15, atol=1e-6
        )
    assert all(face.normal.z == 1 for face in ground.data.polygons[:9])


def test_models_are_objects_of_a_collection_in_a_row(tmp_path):
    model = chunk(0, GRASS) + chunk(1, GRASS.replace(b"grass", b"weeds"))
    data = chunk(1, model) + chunk(2, SLOTS) + chunk(0, words(3, 2) + struct.pack("<4i", -1, 2, 2, 1))
    ground, _ = imported(written(tmp_path, data))
    models = ground.motionbridge_level.models
    assert [obj.name for obj in models_of(ground)] == ["detail_00", "detail_01"]
    assert models in list(bpy.context.scene.collection.children)
    first, second = models_of(ground)
    assert second.location.x >= first.location.x + 1
    assert first.location.y < -4
    assert planned(ground)[0].data == data


def test_models_in_a_row_do_not_overlap():
    models = []
    for low, high in ((-3, 5), (-4, 2), (-0.1, 0.1), (0, 0.1)):
        data = bpy.data.meshes.new("model")
        data.from_pydata([(low, 0, 0), (high, 0.5, 0), (high, 0.5, 1)], [], [(0, 1, 2)])
        models.append(bpy.data.objects.new("model", data))
    level_details.lay_out_models(models, (7, 8, 9))
    np.testing.assert_allclose([model.location.x for model in models], [7, 16.5, 19.5, 20.6], atol=1e-5)
    assert {tuple(model.location.yz) for model in models} == {(8, 9)}


def test_the_ground_is_coloured_by_the_densest_model(tmp_path):
    ground, _ = imported(written(tmp_path, SMALL))
    names = [material.name for material in ground.data.materials]
    index = [face.material_index for face in ground.data.polygons]
    # Of 5, none, 0 and 62 the third is all 15.
    assert [names[number] for number in index] == ["detail model 00", "nothing grows"]


# What is edited ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ALL)
def test_one_edited_slot_changes_its_bytes_alone(path):
    ground, _ = imported(path)
    face = len(ground.data.polygons) // 2
    number = (face_values(ground, "model_0")[face] + 1) % 3
    set_face(ground, "model_0", face, int(number))
    data, old = planned(ground)[0].data, path.read_bytes()
    assert len(data) == len(old)
    changed = [index for index in range(len(old)) if data[index] != old[index]]
    assert changed
    assert max(changed) - min(changed) < 2  # a number of six bits lies in two bytes at most
    version = details.read(old, "", Report()).header.version
    size = 16 if version == 3 else 22
    at = old.index(struct.pack("<2I", 2, size * len(ground.data.polygons))) + 8
    assert (min(changed) - at) // size == face


def test_a_face_that_is_moved_up_raises_its_slot_alone(tmp_path):
    ground, _ = imported(written(tmp_path, SMALL))
    for vertex in ground.data.polygons[0].vertices:
        ground.data.vertices[vertex].co.z += 0.4
    plan, _ = planned(ground)
    assert plan.data == SMALL.replace(SLOTS[:8], struct.pack("<Q", WORD + 2))
    assert plan.sentence() == "1 height of the ground changed"


def test_a_tilted_square_is_reported_to_have_the_height_of_its_lowest_corner(tmp_path):
    ground, _ = imported(written(tmp_path, SMALL))
    ground.data.vertices[0].co.z += 1
    plan, report = planned(ground)
    assert plan.sentence() == "nothing changed"
    assert "1 slot is tilted, and has the height of its lowest corner" in report.warnings


def test_moving_the_object_up_raises_everything_and_moving_it_aside_is_reported(tmp_path):
    ground, _ = imported(written(tmp_path, SMALL))
    ground.location.z = 0.2
    assert planned(ground)[0].sentence() == "2 heights of the ground changed"
    ground.location = (2, 0, 0)
    plan, report = planned(ground)
    assert plan.data == SMALL
    assert any("moved sideways" in line for line in report.warnings)


def test_values_of_selected_slots_from_one_call(tmp_path):
    ground, _ = imported(written(tmp_path, SMALL))
    given = level_details.SlotValues(
        plants={1: (0, (0, 1 / 15, 2 / 15, 1))}, ground=1.0, height=0.5, sun=1, sky=0, colour=(0, 1, 0)
    )
    changed = level_details.set_slots(ground, selected(ground, 1), given)
    assert changed.tolist() == [False, True]
    _, rows = slots_of(planned(ground)[0].data)
    assert rows[0].tobytes() == SLOTS[:16]
    word = 1005 | 5 << 12 | 63 << 20 | 0 << 26 | 63 << 32 | 63 << 38 | 15 << 44 | 0 << 48 | 0 << 52 | 15 << 56
    assert rows["word"][1] == word
    assert rows["density"][1].tolist() == [0, 0xF210, 0, 0]


def test_a_model_that_is_taken_from_a_slot_takes_its_densities(tmp_path):
    ground, _ = imported(written(tmp_path, SMALL))
    given = level_details.SlotValues(plants={0: (details.EMPTY, (1, 1, 1, 1))})
    level_details.set_slots(ground, selected(ground, 0), given)
    _, rows = slots_of(planned(ground)[0].data)
    assert rows["density"][0].tolist() == [0, 0, 0xFFFF, 0x000F]


def test_deleted_faces_are_empty_slots_and_reported(tmp_path):

    ground, _ = imported(written(tmp_path, SMALL))
    delete_faces(ground.data, 0, context="FACES")
    plan, report = planned(ground)
    assert any("1 slot has no face, so nothing grows there" in line for line in report.warnings)
    _, rows = slots_of(plan.data)
    kept = WORD & ~(0xFFFFFF << 20) | 0xFFFFFF << 20
    assert rows["word"][0] == kept
    assert not rows["density"][0].any()
    assert rows[1].tobytes() == SLOTS[16:]


def test_two_faces_in_one_slot_are_refused_and_found(tmp_path):
    ground, _ = imported(written(tmp_path, SMALL))
    set_face(ground, "file_face", 1, 0)
    for vertex in ground.data.polygons[1].vertices:
        ground.data.vertices[vertex].co.x -= 2
    with pytest.raises(WriteError, match="in the slot of another face"):
        planned(ground)
    problems = level_geometry.find_problems(bpy.context, ground, Report())
    assert [entry.faces.tolist() for entry in problems if entry.problem.fatal] == [[0, 1]]


def test_numbers_the_file_cannot_hold_are_refused_and_found(tmp_path):
    ground, _ = imported(written(tmp_path, SMALL))
    set_face(ground, "model_3", 1, 63)
    with pytest.raises(WriteError, match="has a model_3 the file cannot store"):
        planned(ground)
    problems = level_geometry.find_problems(bpy.context, ground, Report())
    assert [entry.faces.tolist() for entry in problems if entry.problem.fatal] == [[1]]


# Models --------------------------------------------------------------------------------------------------------------


def models_in(data):
    document = details.read(data, "", Report())
    return [dm.write(document.models[number]) for number in sorted(document.models)]


def test_modifiers_of_models_are_applied_when_asked_and_reported_when_not(tmp_path):
    ground, _ = imported(written(tmp_path, SMALL))
    model = level_details.models_of(ground)[0]
    model.modifiers.new("more", "ARRAY")
    plan, report = planned(ground, modifiers=False)
    assert "modifiers are not applied (more)" in report.warnings
    assert plan.data == SMALL
    plan, report = planned(ground, modifiers=True)
    assert "modifiers are not applied (more)" not in report.warnings
    assert len(plan.data) > len(SMALL)


@pytest.mark.parametrize("path", BIG)
def test_an_edited_model_changes_alone(path):
    ground, _ = imported(path)
    models_of(ground)[3].data.vertices[0].co.x += 0.25
    plan, _ = planned(ground)
    old = path.read_bytes()
    different = [
        number for number, (a, b) in enumerate(zip(models_in(old), models_in(plan.data), strict=True)) if a != b
    ]
    assert different == [3]
    assert len(plan.data) == len(old)
    assert sum(a != b for a, b in zip(plan.data, old, strict=True)) <= 4
    assert plan.sentence() == "detail_03: 1 position; 1 model changed"


@pytest.mark.parametrize("path", BIG)
def test_a_removed_model_closes_the_gap_and_its_slots_are_empty(path):
    ground, _ = imported(path)
    before = np.stack([face_values(ground, f"model_{position}") for position in range(4)], axis=1)
    positions = level_details.remove_model(ground, models_of(ground)[5])
    assert positions == (before == 5).any(axis=1).sum() > 0
    plan, _ = planned(ground)
    old = models_in(path.read_bytes())
    assert models_in(plan.data) == old[:5] + old[6:]
    _, rows = slots_of(plan.data)
    for index in range(4):
        number = (rows["word"] >> np.uint64(20 + 6 * index) & np.uint64(63)).astype(int)
        expected = before[:, index] - (before[:, index] > 5)
        expected[(before[:, index] == 5) | (before[:, index] < 0)] = 63
        np.testing.assert_array_equal(number, expected)


@pytest.mark.parametrize("path", BIG)
def test_a_model_that_is_just_deleted_leaves_slots_that_are_refused_and_found(path):
    ground, _ = imported(path)
    bpy.data.objects.remove(models_of(ground)[5])
    with pytest.raises(WriteError, match=r"that is missing \(5\)"):
        planned(ground)
    problems = [
        problem for problem in level_geometry.find_problems(bpy.context, ground, Report()) if problem.problem.fatal
    ]
    indices = np.unique(np.concatenate([entry.faces for entry in problems]))
    numbers = np.stack([face_values(ground, f"model_{index}") for index in range(4)], axis=1)
    np.testing.assert_array_equal(indices, np.flatnonzero((numbers == 5).any(axis=1)))


def tuft(name="tuft"):
    data = bpy.data.meshes.new(name)
    data.from_pydata([(0, 0, 0), (0.5, 0, 0), (0, 0, 1)], [], [(0, 1, 2)])
    return add_object(name, data)


def test_added_copied_and_replaced_models(tmp_path):
    ground, _ = imported(written(tmp_path, SMALL))
    assert level_details.add_models(ground, [ground, tuft()]) == 1
    assert len(models_in(planned(ground)[0].data)) == 2
    first = models_of(ground)[0]
    copy = first.copy()
    ground.motionbridge_level.models.objects.link(copy)
    data = planned(ground)[0].data
    assert [len(model) for model in models_in(data)] == [len(GRASS), len(models_in(data)[1]), len(GRASS)]
    assert slots_of(data)[1].tobytes() == SLOTS
    other = tuft("other")
    level_details.replace_model(ground, first, other)
    data = planned(ground)[0].data
    assert other.name == "detail_00"
    assert len(models_in(data)) == 3
    assert models_in(data)[2] == GRASS
    assert slots_of(data)[1].tobytes() == SLOTS
    with pytest.raises(WriteError, match="no mesh is selected"):
        level_details.add_models(ground, [ground, other])
    with pytest.raises(WriteError, match="the game supports 63"):
        level_details.add_models(ground, [tuft() for _ in range(61)])


def test_a_mesh_of_another_file_becomes_a_model(tmp_path, samples):
    ground, _ = imported(written(tmp_path, SMALL))
    wall, _ = imported(samples / "level" / "level.hom")
    wall.data.materials.clear()
    assert level_details.add_models(ground, [wall]) == 1
    plan, _ = planned(ground)
    assert "models 1 -> 2" in plan.sentence()
    assert not wall.motionbridge_level.path


def test_gaps_between_the_numbers_of_models_stay(tmp_path):
    header = HEADER.replace(words(3, 1), words(3, 2))
    data = chunk(1, chunk(0, GRASS), chunk(5, GRASS)) + chunk(2, SLOTS) + chunk(0, header)
    ground, _ = imported(written(tmp_path, data))
    assert [entry.motionbridge_level.number for entry in models_of(ground)] == [0, 5]
    assert planned(ground)[0].data == data


def test_where_a_model_stands_does_not_count(tmp_path):
    ground, _ = imported(written(tmp_path, SMALL))
    models_of(ground)[0].location = (10, 20, 30)
    assert planned(ground)[0].data == SMALL
    models_of(ground)[0].scale = (2, 2, 2)
    assert "positions" in planned(ground)[0].sentence()


# From nothing --------------------------------------------------------------------------------------------------------


def test_a_grid_drawn_from_nothing_becomes_a_file():
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=3, y_subdivisions=2, size=2)
    ground = bpy.context.active_object
    ground.scale = (3, 2, 1)
    ground.location = (13, -4, 0.6)
    bpy.ops.motionbridge.level_begin(kind="DETAILS")
    level_details.add_models(ground, [tuft()])
    given = level_details.SlotValues(plants={0: (0, (1, 1, 0, 0))}, height=2.0)
    level_details.set_slots(ground, selected(ground, 0, 1), given)
    before = snapshot()
    plan, _ = planned(ground)
    assert differences(before, snapshot()) == []
    document = details.read(plan.data, "", Report())
    assert (document.header.version, document.header.size, document.header.offset) == (3, (3, 2), (-5, 3))
    values = details.unpack(document.slots)
    np.testing.assert_allclose(values.ground, 0.6)
    assert values.models[:, 0].tolist() == [0, 0, -1, -1, -1, -1]
    assert values.density[0, 0].tolist() == [15, 15, 0, 0]
    np.testing.assert_allclose(values.height, [2, 2, 0, 0, 0, 0])
    assert len(document.models) == 1


def test_a_whole_file_can_be_written_again(tmp_path):
    """The imported models and slots alone make the same file, where it had nothing else."""
    ground, _ = imported(written(tmp_path, SMALL))
    assert planned(ground, anew=True)[0].data == SMALL


def test_a_ground_without_faces_and_one_that_is_too_wide_are_refused():
    data = bpy.data.meshes.new("none")
    obj = add_object("none", data)
    obj.motionbridge_level.kind = "DETAILS"
    with pytest.raises(WriteError, match="has no faces"):
        planned(obj)
    far = [(x + side, y + side, 0) for side in (0, 1e6) for x, y in ((0, 0), (2, 0), (2, 2e6), (0, 2))]
    data.from_pydata(far, [], [(0, 1, 2, 3), (4, 5, 6, 7)])
    with pytest.raises(WriteError, match="spread over"):
        planned(obj)


# Plants --------------------------------------------------------------------------------------------------------------


def instances():
    graph = bpy.context.evaluated_depsgraph_get()
    return [
        (object_instance.matrix_world.copy(), object_instance.object.name)
        for object_instance in graph.object_instances
        if object_instance.is_instance
    ]


def test_a_model_of_a_huge_number_takes_no_memory_for_it(tmp_path):
    """A file of 675 bytes asked for 12 GiB."""
    ground, _ = imported(written(tmp_path, SMALL))
    assert bpy.ops.motionbridge.details_scatter(selected=False) == {"FINISHED"}
    plants = instances()
    another = models_of(ground)[0].copy()
    another.motionbridge_level.number = 2**31 - 1
    ground.motionbridge_level.models.objects.link(another)

    def scatter():
        assert bpy.ops.motionbridge.details_scatter(selected=False) == {"FINISHED"}

    assert memory_peak(scatter) < 5_000_000
    assert [matrix for matrix, _ in instances()] == [matrix for matrix, _ in plants]


def test_plants_stand_on_their_slots_and_go_without_a_trace(tmp_path):
    ground, _ = imported(written(tmp_path, SMALL))
    before = snapshot()
    assert bpy.ops.motionbridge.details_scatter(selected=False) == {"FINISHED"}
    result = instances()
    assert len(result) == 16  # the third model is everywhere, the raster has 4 x 4 places; 5 and 62 are not there
    positions = np.array([matrix.translation for matrix, _ in result])
    assert positions[:, :2].min() >= -4
    assert ((positions[:, 0] > 2) & (positions[:, 0] < 4) & (positions[:, 1] > -4) & (positions[:, 1] < -2)).all()
    np.testing.assert_allclose(positions[:, 2], 0.2, atol=1e-5)
    sizes = np.array([matrix.to_scale() for matrix, _ in result])
    properties = models_of(ground)[0].motionbridge_level
    assert (sizes >= properties.min_scale - 1e-5).all()
    assert (sizes <= properties.max_scale + 1e-5).all()
    assert planned(ground)[0].data == SMALL
    assert bpy.ops.motionbridge.details_scatter(selected=False, spacing=1.0) == {"FINISHED"}
    assert len(instances()) == 4
    assert bpy.ops.motionbridge.details_clear() == {"FINISHED"}
    assert differences(before, snapshot()) == []
    assert bpy.ops.motionbridge.details_clear() == {"CANCELLED"}


def test_refused_plants_leave_nothing_behind_and_the_old_ones_as_they_were(tmp_path, monkeypatch):
    def refuse(modifier, identifier, value):
        raise TypeError("id properties not supported for this type")

    ground, _ = imported(written(tmp_path, SMALL))
    empty = snapshot()
    with monkeypatch.context() as patch:
        patch.setattr("addon.blender.compat.set_group_input", refuse)
        with pytest.raises(RuntimeError, match="not supported"):
            bpy.ops.motionbridge.details_scatter(selected=False)
        assert differences(empty, snapshot()) == []
    assert bpy.ops.motionbridge.details_scatter(selected=False) == {"FINISHED"}
    actual = ground.motionbridge_level.scattered.name
    before = snapshot()
    with monkeypatch.context() as patch:
        patch.setattr("addon.blender.compat.set_group_input", refuse)
        with pytest.raises(RuntimeError, match="not supported"):
            bpy.ops.motionbridge.details_scatter(selected=False)
    assert differences(before, snapshot()) == []
    assert bpy.ops.motionbridge.details_scatter(selected=False) == {"FINISHED"}
    assert ground.motionbridge_level.scattered.name == actual


def test_plants_are_set_down_on_collision_within_the_slot(tmp_path):
    path = written(tmp_path, SMALL)
    imported(path)
    data = bpy.data.meshes.new("collision")
    data.from_pydata([(0, -9, 0.35), (3, -9, 0.35), (3, 9, 0.35), (0, 9, 0.35)], [], [(0, 1, 2, 3)])
    collision = add_object("collision", data)
    collision.motionbridge_level.kind = "CFORM"
    bpy.ops.motionbridge.details_scatter(selected=False)
    heights = {round(matrix.translation.z, 3) for matrix, _ in instances()}
    assert heights == {0.2, 0.35}  # left half hit, right half beside it
    bpy.ops.motionbridge.details_scatter(selected=False, on_collision=False)
    assert {round(matrix.translation.z, 3) for matrix, _ in instances()} == {0.2}


@pytest.mark.parametrize("path", BIG)
def test_of_too_many_plants_some_are_shown_and_it_is_reported(path):
    imported(path)
    assert bpy.ops.motionbridge.details_scatter(selected=False, most=1000) == {"FINISHED"}
    assert "only 1000 of" in bpy.context.window_manager.motionbridge_report
    assert len(instances()) == 1000


def test_folders_are_looked_through_once_for_all_models(tmp_path, monkeypatch):
    from addon.formats.trees import disk

    asked = []

    def noted(name):
        return lambda folder: asked.append(folder) or getattr(os, name)(folder)

    listing = SimpleNamespace(scandir=noted("scandir"), listdir=noted("listdir"), path=os.path)
    monkeypatch.setattr(disk, "os", listing)
    counts = []
    for names in ([b"grass"], [b"grass", b"weeds", b"stone"]):
        models = b"".join(chunk(number, GRASS.replace(b"grass", name)) for number, name in enumerate(names))
        data = chunk(1, models) + chunk(2, SLOTS) + chunk(0, words(3, len(names)) + struct.pack("<4i", -1, 2, 2, 1))
        asked.clear()
        imported(written(tmp_path, data))
        counts.append(len(asked))
    assert counts[0] == counts[1] > 0


# What is wrong -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (SMALL[:-20], "level.details"),
        (SMALL[: len(SMALL) // 2], "level.details"),
        (b"", "empty"),
        (SMALL.replace(struct.pack("<2I", 2, 1), b"\xff" * 8), "slots"),
    ],
)
def test_broken_files_are_refused_before_anything_is_made(data, message, tmp_path):
    path = written(tmp_path, data)
    before = snapshot()
    with pytest.raises(ReadError, match=message):
        imported(path)
    assert differences(before, snapshot()) == []


@pytest.mark.parametrize("size", [(2**32 - 1, 0), (0, 0)])
def test_a_grid_without_slots_opens_and_is_written_unchanged(size, tmp_path):
    data = chunk(0, words(3, 0, 0, 0, *size)) + chunk(2)
    ground, _ = imported(written(tmp_path, data))
    assert planned(ground)[0].data == data


def test_offsets_of_two_billion_and_numbers_that_are_not_one_are_written_unchanged(tmp_path):
    far = SMALL.replace(struct.pack("<2i", -1, 2), struct.pack("<2i", -(2**31), 2**31 - 1))
    broken = OLD.replace(struct.pack("<f", 1.0), struct.pack("<f", np.nan))
    for number, data in enumerate((far, broken)):
        ground, _ = imported(written(tmp_path, data, f"{number}.details"))
        assert planned(ground)[0].data == data


def test_missing_models_are_reported_and_the_file_still_leaves(tmp_path):
    ground, report = imported(written(tmp_path, SMALL))
    assert any("models that are not in the file: 5, 62" in line for line in report.warnings)
    problems = level_geometry.find_problems(bpy.context, ground, Report())
    assert [entry.faces.tolist() for entry in problems] == [[0], [0]]
    assert not any(entry.problem.fatal for entry in problems)


@pytest.mark.parametrize("path", corpus_files("details/l08_yantar.details"))
def test_slots_without_ground_are_hidden_and_kept(path):
    ground = imported(path)[0]
    assert column(ground.data.vertices, "co", 3)[:, 2].min() == -200
    actual = ground.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    assert len(ground.data.polygons) == 81510
    assert len(actual.polygons) == 81510 - 531, "of 651 at -200 m, which also have models in the file"
    plan, report = planned(ground)
    assert plan.data == path.read_bytes()
    assert not any("modifier" in line for line in report.lines())
