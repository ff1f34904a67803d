"""The operators for a level's files, called as a user calls them."""

import re

import bpy
import numpy as np
import pytest

from addon.blender import scope
from addon.blender.views import views_of
from addon.core.pausing import Stopped, Work
from addon.core.report import Report
from addon.games.xray.levels import geometry as level_geometry
from tests.blender.test_levels import SQUARE, drawn, face_values


@pytest.fixture
def level_folder(tmp_path, corpus):
    folder = tmp_path / "levels" / "l01_test"
    folder.mkdir(parents=True)
    for source, name in (
        ("cform/tss_level.cform", "level.cform"),
        ("hom/l01_escape.hom", "level.hom"),
        ("som/l01_escape.som", "level.som"),
        ("err/bx_test.err", "level.err"),
        ("cform/odd_truncated_header.cform", "build.cform"),
    ):
        (folder / name).write_bytes((corpus / source).read_bytes())
    return folder


def test_a_level_folder_becomes_coloured_collections_and_a_report(level_folder):
    assert bpy.ops.import_scene.xray_level(directory=str(level_folder)) == {"FINISHED"}
    whole = bpy.context.scene.collection.children["l01_test"]
    assert [below.name for below in whole.children] == [
        f"{name} l01_test" for name in ("Collision", "Occluders", "Sound Occluders", "Level Errors")
    ]
    assert len({below.color_tag for below in whole.children}) == 4
    message = bpy.context.window_manager.motionbridge_report
    for words in ("faces", "4 materials", "1 sector", "two-sided", "left out", "build.cform"):
        assert words in message


@pytest.fixture
def sample_level(samples):
    assert bpy.ops.import_scene.xray_level(directory=str(samples / "level")) == {"FINISHED"}
    return bpy.context.view_layer.layer_collection.children["level"].children


def test_layers_that_cover_surfaces_are_hidden_at_first_and_collision_is_drawn_as_wire(sample_level):
    hidden = {layer.name.removesuffix(" level") for layer in sample_level if layer.exclude}
    assert hidden == {"Detail Objects", "Collision", "Occluders", "Sound Occluders", "Portals", "AI Map"}
    assert [obj.display_type for obj in bpy.data.collections["Collision level"].objects] == ["WIRE"]
    assert not bpy.context.selected_objects
    assert bpy.context.active_object.motionbridge_level.kind == "SURFACE"
    assert bpy.context.active_object.display_type == "TEXTURED"


def test_without_surfaces_no_layer_is_hidden_and_collision_is_solid(samples):
    assert bpy.ops.import_scene.xray_level(directory=str(samples / "level"), surfaces=False) == {"FINISHED"}
    assert not any(layer.exclude for layer in bpy.context.view_layer.layer_collection.children["level"].children)
    assert [obj.display_type for obj in bpy.data.collections["Collision level"].objects] == ["TEXTURED"]


def test_a_layer_is_shown_hidden_and_selected_whatever_hides_it(sample_level):
    layer = sample_level["Collision level"]
    for _ in range(2):
        assert bpy.ops.motionbridge.level_layer_show(layer="Collision level") == {"FINISHED"}
        assert not layer.exclude
        assert bpy.ops.motionbridge.level_layer_show(layer="Collision level") == {"FINISHED"}
        assert layer.exclude
    layer.exclude, layer.hide_viewport = False, True
    assert bpy.ops.motionbridge.level_layer_show(layer="Collision level") == {"FINISHED"}
    assert not layer.hide_viewport
    for name, kinds in (("Occluders", {"HOM"}), ("Trees", {"TREE"}), ("Lights", {"LIGHT", "GLOW"})):
        assert bpy.ops.motionbridge.level_layer_select(layer=f"{name} level") == {"FINISHED"}
        assert {obj.motionbridge_level.kind for obj in bpy.context.selected_objects} == kinds
        assert bpy.context.active_object in bpy.context.selected_objects
    with pytest.raises(RuntimeError, match="no layer of the scene"):
        bpy.ops.motionbridge.level_layer_show(layer="walls")


def test_the_light_of_levels_is_shown_in_material_preview_and_goes_with_it(sample_level):
    (view, *_) = (space for _, space in views_of(bpy.context))
    for before, is_lit, after in (
        ("SOLID", True, "MATERIAL"),
        ("MATERIAL", False, "SOLID"),
        ("WIREFRAME", True, "MATERIAL"),
    ):
        view.shading.type = before
        bpy.context.evaluated_depsgraph_get()
        assert bpy.ops.motionbridge.level_light() == {"FINISHED"}
        assert bpy.context.evaluated_depsgraph_get().scene_eval.motionbridge_level_light == is_lit
        assert (bpy.context.scene.motionbridge_level_light, view.shading.type) == (is_lit, after)


def test_boxes_have_no_light(samples, tmp_path):
    (tmp_path / "level").write_bytes((samples / "level" / "level").read_bytes())
    assert bpy.ops.import_scene.xray_level(directory=str(tmp_path)) == {"FINISHED"}
    bpy.context.scene.motionbridge_level_light = False
    with pytest.raises(RuntimeError, match="boxes have no light"):
        bpy.ops.motionbridge.level_light()
    assert bpy.ops.import_scene.xray_level(directory=str(samples / "level")) == {"FINISHED"}
    assert bpy.ops.motionbridge.level_light() == {"FINISHED"}
    bpy.data.batch_remove([obj for obj in bpy.data.objects if obj.motionbridge_level.row >= 0])
    assert bpy.ops.motionbridge.level_light() == {"FINISHED"}  # what is on can always be turned off
    assert not bpy.context.scene.motionbridge_level_light


def test_a_folder_without_a_level_is_refused(tmp_path):
    with pytest.raises(RuntimeError, match="no supported file in it"):
        bpy.ops.import_scene.xray_level(directory=str(tmp_path))


def test_a_folder_without_a_file_name_is_refused(tmp_path):
    bpy.context.view_layer.objects.active = drawn("wall", SQUARE, [(0, 1, 2, 3)], "HOM")
    for folder in (tmp_path / "out", tmp_path / "out.hom"):
        folder.mkdir()
        with pytest.raises(RuntimeError, match="this is a folder"):
            bpy.ops.export_scene.xray_level_geometry(filepath=f"{folder}/")
    assert not any(path.is_file() for path in tmp_path.iterdir())


def test_faces_are_edited_by_selection_in_edit_mode():
    obj = drawn("walls", [*SQUARE, (4, 0, 0), (4, 1, 0)], [(0, 1, 2, 3), (1, 4, 5, 2)], "NONE")
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.motionbridge.level_begin(kind="SOM") == {"FINISHED"}
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")
    bpy.ops.object.mode_set(mode="OBJECT")
    obj.data.polygons[1].select = True
    bpy.ops.object.mode_set(mode="EDIT")
    assert bpy.ops.motionbridge.level_occlusion(occlusion=0.5) == {"FINISHED"}
    assert bpy.ops.motionbridge.level_two_sided(two_sided=False) == {"FINISHED"}
    assert obj.mode == "EDIT"
    bpy.ops.object.mode_set(mode="OBJECT")
    np.testing.assert_allclose(face_values(obj, "occlusion", np.float32), [0.05, 0.5])
    assert face_values(obj, "two_sided", np.bool_).tolist() == [True, False]
    assert [material.name for material in obj.data.materials] == [
        "lets 5% of sound through",
        "lets 50% of sound through, one-sided",
    ]


@pytest.mark.parametrize("kind", ["CFORM", "HOM"])
@pytest.mark.parametrize("source", ["SURFACE", "SOM", "CFORM part"])
def test_a_copy_of_one_kind_becomes_a_new_file_of_another(kind, source, samples, tmp_path):
    bpy.ops.import_scene.xray_level(directory=str(samples / "level"), textures=False, split="MATERIAL")
    named, _, part = source.partition(" ")
    original = next(
        obj
        for obj in bpy.context.scene.objects
        if obj.motionbridge_level.kind == named and obj.motionbridge_level.is_part == bool(part)
    )
    copy = original.copy()
    copy.data = original.data.copy()
    bpy.context.scene.collection.objects.link(copy)
    bpy.context.view_layer.objects.active = copy
    assert bpy.ops.motionbridge.level_begin(kind=kind) == {"FINISHED"}
    path = tmp_path / f"new.{kind.lower()}"
    if named != kind:
        assert "it no longer belongs to level" in bpy.context.window_manager.motionbridge_report
        assert bpy.ops.export_scene.xray_level_geometry(filepath=str(path)) == {"FINISHED"}
        message = bpy.context.window_manager.motionbridge_report
        assert message.startswith(f"{path.name}: ")
        assert re.search(r"a new (occluder|collision) file, \d+ (triangles|faces)", message)
        assert not bpy.ops.motionbridge.level_save_back.poll()
    else:
        assert copy.motionbridge_level.is_part


def test_faces_of_all_meshes_that_are_edited_together_are_set():
    walls = [drawn(name, SQUARE, [(0, 1, 2, 3)], "HOM") for name in ("one", "two")]
    apart = drawn("apart", SQUARE, [(0, 1, 2, 3)], "HOM")
    for wall in (*walls, apart):
        wall.select_set(wall in walls)
    bpy.context.view_layer.objects.active = walls[0]
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    assert bpy.ops.motionbridge.level_two_sided(two_sided=False) == {"FINISHED"}
    assert bpy.context.window_manager.motionbridge_report == "Changed faces: 2 of 2 selected"
    assert {own_wall.mode for own_wall in walls} == {"EDIT"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert [face_values(own_wall, "two_sided", np.bool_).tolist() for own_wall in walls] == [[False], [False]]
    assert "two_sided" not in apart.data.attributes


def test_collision_values_of_selected_faces():
    obj = drawn("walls", [*SQUARE, (4, 0, 0), (4, 1, 0)], [(0, 1, 2, 3), (1, 4, 5, 2)], "NONE")
    bpy.context.view_layer.objects.active = obj
    bpy.ops.motionbridge.level_begin(kind="CFORM")
    obj.data.polygons.foreach_set("select", [False, True])
    assert bpy.ops.motionbridge.level_collision(material=7, sector=3, suppress_shadows=True) == {"FINISHED"}
    assert face_values(obj, "material", np.int32).tolist() == [0, 7]
    assert face_values(obj, "sector", np.int32).tolist() == [0, 3]
    assert face_values(obj, "suppress_shadows", np.bool_).tolist() == [False, True]
    obj.data.polygons.foreach_set("select", [False, False])
    with pytest.raises(RuntimeError, match="no face is selected"):
        bpy.ops.motionbridge.level_collision(sector=1)


@pytest.fixture
def thin():
    """Two findings: a face nearly without area, and one that lies on another."""
    actual = drawn("thin", [*SQUARE, (0, 0.0001, 0)], [(0, 1, 2), (0, 1, 4), (0, 2, 3), (2, 0, 1)], "HOM")
    bpy.context.view_layer.objects.active = actual
    return actual


@pytest.mark.parametrize("mode", ["OBJECT", "EDIT"])
def test_a_check_that_is_stopped_leaves_the_mode_as_it_was(thin, mode):
    bpy.ops.object.mode_set(mode=mode)

    def check():
        with scope.leaving_edit_mode(bpy.context):
            return level_geometry.find_problems(bpy.context, thin, Report())

    work = Work(check)
    assert not work.advance(0.0)
    assert thin.mode == "OBJECT"
    work.stop()
    with pytest.raises(Stopped):
        work.result()
    assert thin.mode == mode
    whole = Work(check)
    pauses = 0
    while not whole.advance(0.0):
        pauses += 1
    assert pauses == 1 + len(whole.result()) == 3
    assert thin.mode == "OBJECT"


def test_a_finding_that_is_alone_is_reported_once(thin):
    thin.data.clear_geometry()
    thin.data.from_pydata([*SQUARE, (0, 0.0001, 0)], [], [(0, 1, 2), (0, 1, 4), (0, 2, 3)])
    assert bpy.ops.motionbridge.level_check() == {"FINISHED"}
    first, *lines = bpy.context.window_manager.motionbridge_report.splitlines()
    assert first == "Selected finding 1 of 1"
    assert [line.count("an area below") for line in lines] == [1]
    bpy.ops.object.mode_set(mode="OBJECT")
    assert [face.index for face in thin.data.polygons if face.select] == [1]


@pytest.mark.parametrize("mode", ["OBJECT", "EDIT"])
@pytest.mark.parametrize(("number", "faces", "words"), [(0, [1], "an area below"), (1, [3], "lies exactly on another")])
def test_offending_faces_are_selected(thin, mode, number, faces, words):
    bpy.ops.object.mode_set(mode=mode)
    assert bpy.ops.motionbridge.level_check(number=number) == {"FINISHED"}
    assert thin.mode == "EDIT"
    bpy.ops.object.mode_set(mode="OBJECT")
    assert [face.index for face in thin.data.polygons if face.select] == faces
    message = bpy.context.window_manager.motionbridge_report
    first = message.partition("\n")[0]
    assert first.startswith(f"Selected finding {number + 1} of 2: 1 of 4 faces")
    assert words in first
    assert "has an area below 0.001 m²; delete it, or merge its vertices" in message


def test_findings_on_a_disabled_object_are_reported_and_not_selected(thin):
    thin.hide_viewport = True
    assert bpy.ops.motionbridge.level_check() == {"FINISHED"}
    message = bpy.context.window_manager.motionbridge_report
    assert message.startswith("2 findings")
    assert f"enable {thin.name!r} in viewports to select what was found there" in message
    assert thin.mode == "OBJECT"


def test_a_mesh_that_is_right_has_no_findings():
    bpy.context.view_layer.objects.active = drawn("square", SQUARE, [(0, 1, 2, 3)], "HOM")
    assert bpy.ops.motionbridge.level_check() == {"FINISHED"}
    assert bpy.context.active_object.mode == "OBJECT"
    assert "No errors or warnings found" in bpy.context.window_manager.motionbridge_report
