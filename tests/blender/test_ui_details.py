"""The operators for what grows on a level, called as a user calls them."""

import bpy
import numpy as np
import pytest

from addon.core.report import Report
from addon.formats.xray import details
from addon.games.xray.levels import details as level_details
from addon.games.xray.levels import geometry as level_geometry
from addon.games.xray.levels.details import models_of
from addon.ui.xray import level_faces
from tests.blender.scenes import column
from tests.blender.test_collision_values import Dialog
from tests.blender.test_details import face_values, models_in, planned, slots_of, tuft, written
from tests.formats.xray.test_details import OLD, SLOTS, SMALL
from tests.formats.xray.test_dm import SMALL as GRASS
from tests.scene import differences, snapshot


def opened(tmp_path, data=SMALL):
    path = written(tmp_path, data)
    assert bpy.ops.import_scene.xray_level_geometry(filepath=str(path)) == {"FINISHED"}
    return bpy.context.active_object, path


def select_faces(ground, *faces):
    level_geometry.select(ground, np.array(faces, np.int64), np.zeros(0, np.int64))


def test_slots_are_edited_by_selection_in_edit_mode(tmp_path):
    ground, _ = opened(tmp_path)
    select_faces(ground, 1)
    bpy.ops.object.mode_set(mode="EDIT")
    assert bpy.ops.motionbridge.details_slots(plant="2", model=0, density=(1, 0, 0, 1), ground=3.0) == {"FINISHED"}
    assert ground.mode == "EDIT"
    bpy.ops.object.mode_set(mode="OBJECT")
    assert face_values(ground, "model_2").tolist() == [0, 0]
    _, rows = slots_of(planned(ground)[0].data)
    assert rows[0].tobytes() == SLOTS[:16]
    assert rows["density"][1].tolist() == [0, 0, 0xF00F, 0]
    assert int(rows["word"][1]) & 0xFFF == 1015
    # The colour follows at once.
    names = [material.name for material in ground.data.materials]
    assert names[ground.data.polygons[1].material_index] == "detail model 00"


def test_the_values_of_selected_slots(tmp_path):
    ground, _ = opened(tmp_path)
    now = level_details.selected_values(ground, np.array([True, True]))
    assert now["model_2"][0] == 0
    assert now["density_2"][0].tolist() == [1, 1, 1, 1]
    assert (now["ground"][0], now["height"][0]) == (pytest.approx(0.2), pytest.approx(0.3))
    assert (now["sun"][0], now["sky"][0]) == (pytest.approx(1 / 15), pytest.approx(2 / 15))
    assert now["colour"][0] == pytest.approx([3 / 15, 4 / 15, 5 / 15])
    nothing = level_details.selected_values(ground, np.zeros(2, np.bool_))
    assert {len(column) for column in nothing.values()} == {0}
    old, _ = opened(tmp_path, OLD)
    assert "sun" not in level_details.selected_values(old, np.ones(1, np.bool_))


def test_the_dialog_of_slots_begins_with_the_selection_and_writes_what_is_changed(tmp_path):
    ground, _ = opened(tmp_path)
    select_faces(ground, 0, 1)
    before = {name: face_values(ground, name).copy() for name in ("height", "sun", "sky", "model_0", "model_2")}
    dialog = Dialog("details_slots", level_faces.MOTIONBRIDGE_OT_details_slots).opened()
    heights = level_details.selected_values(ground, np.ones(2, np.bool_))["height"]
    assert dialog.height == pytest.approx(heights[0])
    assert ("height" in dialog.mixed.split()) == (heights[0] != heights[1])
    assert not dialog.changed
    assert dialog.run(bpy.context, Report()).done is False
    dialog.plant = "2"
    assert dialog.model == 0
    assert not dialog.changed
    dialog.height = 0.7
    assert dialog.label("height", "Height") == "Height"
    dialog.run(bpy.context, Report())
    np.testing.assert_allclose(face_values(ground, "height"), [0.7, 0.7])
    for name in before.keys() - {"height"}:
        np.testing.assert_array_equal(face_values(ground, name), before[name])


def test_what_is_missing_to_edit_is_reported(tmp_path):
    ground, _ = opened(tmp_path)
    assert bpy.ops.motionbridge.details_slots() == {"CANCELLED"}
    assert bpy.context.window_manager.motionbridge_report == "No value was changed"
    select_faces(ground)
    with pytest.raises(RuntimeError, match="no face is selected"):
        bpy.ops.motionbridge.details_slots(height=1)
    with pytest.raises(RuntimeError, match="no detail models on 0 selected slots"):
        bpy.ops.motionbridge.details_scatter()
    bpy.context.view_layer.objects.active = None
    with pytest.raises(RuntimeError, match="not the ground of a level"):
        bpy.ops.motionbridge.details_scatter()


def test_models_are_added_replaced_selected_and_removed(tmp_path):
    ground, _ = opened(tmp_path)
    with pytest.raises(RuntimeError, match="no mesh is selected"):
        bpy.ops.motionbridge.details_add_models()
    tuft().select_set(True)
    bpy.context.view_layer.objects.active = ground
    assert bpy.ops.motionbridge.details_add_models() == {"FINISHED"}
    assert [target.motionbridge_level.number for target in models_of(ground)] == [0, 1]
    ground.motionbridge_level.active_model = 0
    assert bpy.ops.motionbridge.details_select() == {"FINISHED"}
    assert ground.mode == "EDIT"
    bpy.ops.object.mode_set(mode="OBJECT")
    assert [face.select for face in ground.data.polygons] == [True, False]
    for obj in bpy.context.view_layer.objects:
        obj.select_set(False)
    with pytest.raises(RuntimeError, match="no other meshes are selected"):
        bpy.ops.motionbridge.details_replace_model()
    tuft("better").select_set(True)
    assert bpy.ops.motionbridge.details_replace_model() == {"FINISHED"}
    data = planned(ground)[0].data
    assert slots_of(data)[1].tobytes() == SLOTS
    assert GRASS not in data
    ground.motionbridge_level.active_model = next(
        index
        for index, target in enumerate(ground.motionbridge_level.models.objects)
        if target.motionbridge_level.number == 0
    )
    assert bpy.ops.motionbridge.details_remove_model() == {"FINISHED"}
    data = planned(ground)[0].data
    assert len(models_in(data)) == 1
    values = details.unpack(slots_of(data)[1])
    assert values.models[0].tolist() == [5, -1, -1, 62]


def test_colours_follow_a_script_that_changed_attributes(tmp_path):
    ground, _ = opened(tmp_path)
    ground.data.attributes["model_0"].data[1].value = 0
    ground.data.attributes["density_0"].data[1].color = (1, 1, 1, 1)
    assert bpy.ops.motionbridge.level_colours() == {"FINISHED"}
    names = [material.name for material in ground.data.materials]
    assert [names[face.material_index] for face in ground.data.polygons] == ["detail model 00"] * 2
    assert bpy.ops.motionbridge.level_colours(shown_by="SUN") == {"FINISHED"}
    assert [material.name for material in ground.data.materials] == ["sun 0%", "sun 7%"]
    for by in ("SKY", "COLOUR", "DENSITY"):
        assert bpy.ops.motionbridge.level_colours(shown_by=by) == {"FINISHED"}
        assert ground.motionbridge_level.shown_by == by
    before = planned(ground)[0]
    assert before.sentence() == "1 slot with other models, 1 slot with other densities changed"


def test_occluders_colours_follow_a_script_too(corpus):
    bpy.ops.import_scene.xray_level_geometry(filepath=str(corpus / "hom" / "l05_bar.hom"))
    obj = bpy.context.active_object
    two_sided = column(obj.data.attributes["two_sided"].data, "value", kind=np.bool_)
    obj.data.attributes["two_sided"].data.foreach_set("value", ~two_sided)
    assert bpy.ops.motionbridge.level_colours() == {"FINISHED"}
    index = column(obj.data.polygons, "material_index", kind=np.int32)
    names = np.array([material.name for material in obj.data.materials])
    assert (names[index] == np.where(~two_sided, "occluder, two-sided", "occluder, one-sided")).all()


def test_version_2_has_no_light_to_show(tmp_path):
    ground, _ = opened(tmp_path, OLD)
    with pytest.raises(RuntimeError, match="has no sun"):
        bpy.ops.motionbridge.level_colours(shown_by="SUN")
    assert ground.motionbridge_level.shown_by == "MODEL"


def test_offending_slots_are_selected(tmp_path):
    ground, _ = opened(tmp_path)
    bpy.data.objects.remove(models_of(ground)[0])
    with pytest.raises(RuntimeError, match="that is missing"):
        bpy.ops.export_scene.xray_level_geometry(filepath=str(tmp_path / "out.details"))
    assert bpy.ops.motionbridge.level_check() == {"FINISHED"}
    assert ground.mode == "EDIT"
    bpy.ops.object.mode_set(mode="OBJECT")
    assert [face.select for face in ground.data.polygons] == [True, False]
    assert bpy.ops.motionbridge.details_slots(plant="2", model=-1) == {"FINISHED"}
    assert bpy.ops.export_scene.xray_level_geometry(filepath=str(tmp_path / "out.details")) == {"FINISHED"}


def test_a_level_folder_brings_them_in_one_layer_and_models_side_by_side(tmp_path):
    folder = tmp_path / "l01_test"
    folder.mkdir()
    (folder / "level.details").write_bytes(SMALL)
    for name in ("a.dm", "b.dm", "c.dm"):
        (folder / name).write_bytes(GRASS)
    assert bpy.ops.import_scene.xray_level(directory=str(folder)) == {"FINISHED"}
    (layer,) = bpy.context.scene.collection.children["l01_test"].children
    assert "Detail Objects" in layer.name
    ground, *models = layer.objects
    assert ground.name == "level.details"
    assert [[obj.name for obj in below.objects] for below in layer.children] == [["detail_00"]]
    positions = [imported.location.x for imported in models]
    assert len(positions) == 3
    assert (np.diff(positions) >= 1).all()
    for number, model in enumerate(models):
        target = tmp_path / f"{number}.dm"
        bpy.context.view_layer.objects.active = model
        assert bpy.ops.export_scene.xray_level_geometry(filepath=str(target)) == {"FINISHED"}
        assert target.read_bytes() == GRASS


def test_a_wrong_file_makes_nothing(tmp_path):
    path = written(tmp_path, SMALL[:-20])
    before = snapshot()
    with pytest.raises(RuntimeError, match=r"level\.details"):
        bpy.ops.import_scene.xray_level_geometry(filepath=str(path))
    assert differences(before, snapshot()) == []
