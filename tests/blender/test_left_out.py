"""What an export of chosen objects writes, and that it names what it does not write before it is written."""

import struct

import bpy
import numpy as np
import pytest

from addon.core.report import Report
from addon.games.xray.levels import geometry as level_geometry
from addon.ui.arma.files import EXPORT_SCENE_OT_arma_rtm
from addon.ui.descent3.models import EXPORT_SCENE_OT_descent3_oof
from addon.ui.xray.editor_models import EXPORT_SCENE_OT_xray_object
from addon.ui.xray.levels import EXPORT_SCENE_OT_xray_level_geometry
from addon.ui.xray.models import EXPORT_SCENE_OT_xray_ogf
from addon.ui.xray.paths import EXPORT_SCENE_OT_xray_anm
from tests.blender.dialogs import Dialog
from tests.blender.test_levels import SQUARE, drawn, imported
from tests.real_files import corpus_files
from tests.scene import differences, snapshot

FACES = [(0, 1, 2, 3)]
SIZES = {"HOM": 40, "SOM": 44}


def boxes(kind, count=3):
    """New meshes of a kind in a row, each of 12 triangles, all selected; the last is active."""
    result = []
    for number in range(count):
        bpy.ops.mesh.primitive_cube_add(location=(4 * number, 0, 0))
        result.append(bpy.context.active_object)
        assert bpy.ops.motionbridge.level_begin(kind=kind) == {"FINISHED"}
    select(*result)
    return result


def select(*objects):
    """Select these objects alone; the last is active."""
    bpy.ops.object.select_all(action="DESELECT")
    for obj in objects:
        obj.select_set(True)
    bpy.context.view_layer.objects.active = objects[-1] if objects else None


def report():
    return bpy.context.window_manager.motionbridge_report


def triangles(data, kind):
    """(triangles, 3, 3) positions, in the order of the file."""
    if kind == "CFORM":
        _, vertices, faces = struct.unpack_from("<3I", data)
        points = np.frombuffer(data, "<f4", 3 * vertices, 36).reshape(-1, 3)
        rows = np.frombuffer(data, [("v", "<u4", 3), ("m", "<u4")], faces, 36 + 12 * vertices)
        return points[rows["v"]]
    body = np.frombuffer(data, np.uint8, offset=20).reshape(-1, SIZES[kind])
    return np.ascontiguousarray(body[:, :36]).view("<f4").reshape(-1, 3, 3)


def exported(path, **options):
    assert bpy.ops.export_scene.xray_level_geometry(filepath=str(path), **options) == {"FINISHED"}
    return path.read_bytes()


def in_any_order(result):
    return sorted(map(bytes, np.ascontiguousarray(result.reshape(-1, 9))))


def left_out(operator, **properties):
    """What the dialog of an export says that it does not write."""
    return " ".join(Dialog(operator, **properties).left_out().warnings)


# Parts of a level -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["CFORM", "HOM", "SOM"])
def test_new_meshes_of_a_kind_become_one_file(kind, tmp_path):
    created = boxes(kind)
    before = snapshot()
    whole = triangles(exported(tmp_path / f"level.{kind.lower()}"), kind)
    assert differences(before, snapshot()) == []
    assert len(whole) == 36
    each = []
    for number, obj in enumerate(created):
        select(obj)
        each.append(triangles(exported(tmp_path / f"{number}.{kind.lower()}"), kind))
    assert in_any_order(whole) == in_any_order(np.concatenate(each))


@pytest.mark.parametrize("kind", ["CFORM", "HOM", "SOM"])
def test_without_a_selection_all_new_meshes_of_the_kind_are_written(kind, tmp_path):
    created = boxes(kind)
    drawn("of another kind", SQUARE, FACES, "SOM" if kind == "HOM" else "HOM")
    select()
    bpy.context.view_layer.objects.active = created[0]
    assert len(triangles(exported(tmp_path / f"level.{kind.lower()}"), kind)) == 36
    assert "not written" not in report()


def test_meshes_that_are_not_selected_are_named(tmp_path):
    created = boxes("HOM")
    select(*created[:2])
    assert len(triangles(exported(tmp_path / "level.hom"), "HOM")) == 24
    assert "new meshes of its kind are not written" in report()
    assert f"{created[2].name!r}" in report()


def test_a_collection_of_new_meshes_becomes_one_file(tmp_path):
    created = boxes("SOM")
    below = bpy.data.collections.new("occluders")
    bpy.context.scene.collection.children.link(below)
    for obj in created:
        below.objects.link(obj)
    select()
    assert len(triangles(exported(tmp_path / "level.som", collection="occluders"), "SOM")) == 36


@pytest.mark.parametrize("path", corpus_files("hom/l05_bar.hom", "som/l05_bar.som", "cform/tss_level.cform"))
def test_selected_new_meshes_are_added_to_the_file_that_was_imported(path, tmp_path):
    done, _ = imported(path)
    kind = done.holder.motionbridge_level.kind
    original = triangles(path.read_bytes(), kind)
    created = boxes(kind, 2)
    select(*created, done.holder)
    written = triangles(exported(tmp_path / path.name), kind)
    assert len(written) == len(original) + 24
    np.testing.assert_array_equal(written[: len(original)], original)


def test_of_two_imported_files_the_active_one_is_written_and_the_other_named(samples, tmp_path):
    first, second = (imported(samples / "level" / "level.hom")[0].holder for _ in range(2))
    second.motionbridge_level.path = "elsewhere.hom"
    select(second, first)
    assert exported(tmp_path / "level.hom") == (samples / "level" / "level.hom").read_bytes()
    assert "not part of the file and are not written" in report()
    assert repr(second.name) in report()


def test_saving_back_adds_no_new_mesh_and_names_it(samples):
    done, _ = imported(samples / "level" / "level.hom")
    created = boxes("HOM", 1)
    own_report = Report()
    plan = level_geometry.plan_save_back(
        bpy.context, done.holder, if_changed=level_geometry.OtherBase.REFUSE, report=own_report
    )
    assert plan.data == (samples / "level" / "level.hom").read_bytes()
    assert any("join them to it (Ctrl J)" in words and repr(created[0].name) in words for words in own_report.warnings)


def test_attributes_that_one_mesh_lacks_are_those_of_new_faces(tmp_path):
    created = boxes("HOM", 2)
    created[0].data.attributes.remove(created[0].data.attributes["two_sided"])
    data = exported(tmp_path / "level.hom")
    assert set(np.frombuffer(data, [("p", "<f4", 9), ("f", "<u4")], offset=20)["f"]) == {1}


def test_a_mesh_without_a_kind_and_a_second_detail_model_are_named(tmp_path):
    grass, litter, plain = (
        drawn(name, SQUARE, FACES, kind) for name, kind in (("grass", "DM"), ("litter", "DM"), ("plain", "NONE"))
    )
    select(litter, plain, grass)
    message = left_out(EXPORT_SCENE_OT_xray_level_geometry)
    assert "'litter', 'plain'" in message
    assert "'grass'" not in message
    exported(tmp_path / "grass.dm")
    assert "'litter', 'plain'" in report()


# Other exports --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operator", "suffix"), [(EXPORT_SCENE_OT_xray_ogf, "ogf"), (EXPORT_SCENE_OT_xray_object, "object")]
)
def test_a_model_names_selected_meshes_that_are_not_part_of_it(operator, suffix, tmp_path):
    body, wheel, apart = (drawn(name, SQUARE, FACES, "NONE") for name in ("body", "wheel", "apart"))
    wheel.parent = body
    for obj in (body, wheel):
        obj.data.materials.append(bpy.data.materials.new(obj.name))
    select(apart, wheel, body)
    assert "'apart'" in left_out(operator)
    assert "'wheel'" not in left_out(operator)
    group, _, name = operator.bl_idname.partition(".")
    getattr(getattr(bpy.ops, group), name)(filepath=str(tmp_path / f"out.{suffix}"))
    assert "chosen meshes are not part of the file" in report()
    select(body)
    assert left_out(operator) == ""


def test_a_model_of_descent_names_selected_meshes_that_are_not_part_of_it(samples):
    bpy.ops.import_scene.descent3_oof(filepath=str(samples / "descent3" / "ship.oof"))
    holder = bpy.context.active_object
    apart = drawn("apart", SQUARE, FACES, "NONE")
    select(apart, holder)
    assert "'apart'" in left_out(EXPORT_SCENE_OT_descent3_oof)


def test_a_model_of_arma_names_selected_meshes_that_are_no_lod(tmp_path):
    lod, apart = (drawn(name, SQUARE, FACES, "NONE") for name in ("lod", "apart"))
    select(lod)
    bpy.ops.motionbridge.arma_set_lod(kind="RESOLUTION", number=1)
    select(apart, lod)
    assert bpy.ops.export_scene.arma_p3d(filepath=str(tmp_path / "out.p3d")) == {"FINISHED"}
    assert "chosen meshes are not part of the file" in report()
    assert "'apart'" in report()


def test_an_animation_names_other_selected_armatures():
    rigs = []
    for _ in range(2):
        bpy.ops.object.armature_add()
        rigs.append(bpy.context.active_object)
    select(*rigs)
    message = left_out(EXPORT_SCENE_OT_arma_rtm)
    assert "other chosen objects are not written" in message
    assert repr(rigs[0].name) in message


def test_a_path_names_other_selected_objects_that_follow_one(samples):
    for _ in range(2):
        bpy.ops.import_scene.xray_anm(filepath=str(samples / "camera.anm"))
    first, second = (obj for obj in bpy.data.objects if obj.animation_data is not None)
    select(drawn("still", SQUARE, FACES, "NONE"), first, second)
    message = left_out(EXPORT_SCENE_OT_xray_anm)
    assert repr(first.name) in message
    assert "'still'" not in message
