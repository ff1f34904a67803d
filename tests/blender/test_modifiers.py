"""Exports write meshes as modifiers and shape keys make them, not bent by an armature nor without what we hide."""

import bpy
import numpy as np
import pytest

from addon.blender import armature
from addon.core.report import Report
from addon.ui.descent3.models import EXPORT_SCENE_OT_descent3_oof
from addon.ui.xray.editor_models import EXPORT_SCENE_OT_xray_object
from addon.ui.xray.models import EXPORT_SCENE_OT_xray_ogf
from tests.blender.dialogs import Dialog
from tests.blender.scenes import add_object
from tests.real_files import corpus_files
from tests.scene import differences, snapshot

POINTS = [(1, 0, 0), (3, 0, 0), (3, 2, 0.5), (1, 2, 0)]
EXPORTS = {
    "ogf": ("xray_ogf", "xray_ogf"),
    "object": ("xray_object", "xray_object"),
    "p3d": ("arma_p3d", "arma_p3d"),
    "oof": ("descent3_oof", "descent3_oof"),
    "hom": ("xray_level_geometry", "xray_level_geometry"),
    "cform": ("xray_level_geometry", "xray_level_geometry"),
    "dm": ("xray_level_geometry", "xray_level_geometry"),
}
KINDS = {"hom": "HOM", "cform": "CFORM", "dm": "DM"}


def report():
    return bpy.context.window_manager.motionbridge_report


def activate(obj):
    bpy.ops.object.select_all(action="DESELECT")
    obj.select_set(True)
    bpy.context.view_layer.objects.active = obj


def panel(suffix):
    """A new mesh that an export of ``suffix`` writes: a square with two triangles."""
    data = bpy.data.meshes.new("panel")
    data.from_pydata(POINTS, [], [(0, 1, 2), (0, 2, 3)])
    layer = data.uv_layers.new(name="UVMap")
    layer.uv.foreach_set("vector", [0, 0, 1, 0, 1, 1, 0, 0, 1, 1, 0, 1])
    data.materials.append(bpy.data.materials.new("paint"))
    data.materials[0].motionbridge_material.texture = "wpn\\paint"
    obj = add_object("panel", data)
    activate(obj)
    if suffix in KINDS:
        assert bpy.ops.motionbridge.level_begin(kind=KINDS[suffix]) == {"FINISHED"}
    if suffix == "p3d":
        assert bpy.ops.motionbridge.arma_set_lod(kind="RESOLUTION", number=1) == {"FINISHED"}
    return obj


def modify(obj):
    """A mirror, then a subdivision that smooths."""
    obj.modifiers.new("Mirror", "MIRROR")
    obj.modifiers.new("Subdivision", "SUBSURF").levels = 1


def exported(path, **options):
    getattr(bpy.ops.export_scene, EXPORTS[path.suffix[1:]][0])(filepath=str(path), **options)
    return path


def is_drawn(obj):
    """Whether an object is a mesh with faces that is no custom shape of bones."""
    return obj.type == "MESH" and len(obj.data.polygons) and not armature.is_shape(obj)


def measures(path):
    """Import a file: how many triangles it has, its area, its volume to the origin, its extent."""
    before = set(bpy.data.objects)
    getattr(bpy.ops.import_scene, EXPORTS[path.suffix[1:]][1])(filepath=str(path))
    bpy.context.view_layer.update()
    corners = []
    for obj in set(bpy.data.objects) - before:
        if is_drawn(obj):
            data = obj.data
            data.calc_loop_triangles()
            points = np.array([obj.matrix_world @ vertex.co for vertex in data.vertices]).reshape(-1, 3)
            index = [list(triangle.vertices) for triangle in data.loop_triangles]
            corners.append(points[np.array(index, np.int64).reshape(-1, 3)])
    for obj in set(bpy.data.objects) - before:
        bpy.data.objects.remove(obj)
    return of_triangles(np.concatenate(corners))


def of_triangles(corners):
    a, b, c = np.swapaxes(corners.astype(np.float64), 0, 1)
    across = np.cross(b - a, c - a)
    area = np.linalg.norm(across, axis=1).sum() / 2
    low, high = corners.reshape(-1, 3).min(axis=0), corners.reshape(-1, 3).max(axis=0)
    return [len(corners), area, (across * a).sum() / 6, *low, *high]


def shown(obj):
    """The measures of the mesh that Blender shows."""
    result = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    data = result.to_mesh()
    data.calc_loop_triangles()
    points = np.array([obj.matrix_world @ vertex.co for vertex in data.vertices])
    answer = of_triangles(points[np.array([list(loop_triangle.vertices) for loop_triangle in data.loop_triangles])])
    result.to_mesh_clear()
    return answer


@pytest.mark.parametrize("suffix", EXPORTS)
def test_a_mirrored_and_subdivided_mesh_comes_out_as_shown(suffix, tmp_path):
    created = panel(suffix)
    modify(created)
    wanted, before = shown(created), snapshot()
    path = exported(tmp_path / f"out.{suffix}")
    assert differences(before, snapshot()) == []
    assert "not applied" not in report()
    np.testing.assert_allclose(measures(path), wanted, atol=2e-3)


@pytest.mark.parametrize("suffix", EXPORTS)
def test_without_the_option_the_modifiers_are_named_and_the_plain_mesh_is_written(suffix, tmp_path):
    created = panel(suffix)
    wanted = shown(created)
    modify(created)
    path = exported(tmp_path / f"out.{suffix}", modifiers=False)
    assert "modifiers are not applied (Mirror, Subdivision)" in report()
    np.testing.assert_allclose(measures(path), wanted, atol=2e-3)


@pytest.mark.parametrize(
    "operator", [EXPORT_SCENE_OT_xray_ogf, EXPORT_SCENE_OT_xray_object, EXPORT_SCENE_OT_descent3_oof]
)
def test_the_dialog_names_modifiers_that_are_not_applied(operator):
    modify(panel("ogf"))
    for applied in (True, False):
        own_report = Report()
        dialog = Dialog(operator, modifiers=applied)
        if not dialog.modifiers:
            dialog._warn_of_modifiers(bpy.context, own_report)
        assert own_report.warnings == (
            {} if applied else {"modifiers are not applied (Mirror, Subdivision)": ["panel"]}
        )


@pytest.mark.parametrize("suffix", EXPORTS)
def test_shape_keys_come_out_as_shown(suffix, tmp_path):
    obj = panel(suffix)
    obj.shape_key_add(name="Basis")
    obj.shape_key_add(name="wide").data[1].co = (5, 0, 0)
    obj.data.shape_keys.key_blocks["wide"].value = 1.0
    wanted = shown(obj)
    np.testing.assert_allclose(measures(exported(tmp_path / f"out.{suffix}")), wanted, atol=2e-3)


@pytest.mark.parametrize("suffix", EXPORTS)
def test_no_export_applies_an_armature_or_what_hides_bones(suffix, tmp_path):
    obj = panel(suffix)
    plain = shown(obj)
    obj.modifiers.new("Mirror", "MIRROR")
    wanted = shown(obj)
    bpy.ops.object.armature_add()
    rig = bpy.context.active_object
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    obj.vertex_groups.new(name=rig.pose.bones[0].name).add(range(4), 1.0, "REPLACE")
    rig.pose.bones[0].location = (0, 3, 0)
    armature.hide_meshes(rig, {rig.pose.bones[0].name}, "Motionbridge Hidden")
    obj.modifiers[-1].invert_vertex_group = True
    activate(obj)
    before = snapshot()
    path = exported(tmp_path / f"out.{suffix}")
    assert differences(before, snapshot()) == []
    written = measures(path)
    np.testing.assert_allclose(written, wanted, atol=2e-3)
    assert not np.allclose(written, plain, atol=2e-3)


def test_a_mirrored_mesh_keeps_its_weights(tmp_path):
    bpy.ops.object.armature_add()
    rig = bpy.context.active_object
    bpy.ops.object.mode_set(mode="EDIT")
    for name, x in (("arm.L", 2.0), ("arm.R", -2.0)):
        bone = rig.data.edit_bones.new(name)
        bone.head, bone.tail, bone.parent = (x, 0, 0), (x, 1, 0), rig.data.edit_bones[0]
    bpy.ops.object.mode_set(mode="OBJECT")
    target = panel("ogf")
    target.parent = rig
    target.modifiers.new("Armature", "ARMATURE").object = rig
    target.modifiers.new("Mirror", "MIRROR")
    for name in ("arm.L", "arm.R"):
        target.vertex_groups.new(name=name)
    target.vertex_groups["arm.L"].add(range(4), 1.0, "REPLACE")
    activate(rig)
    assert bpy.ops.export_scene.xray_ogf(filepath=str(tmp_path / "out.ogf")) == {"FINISHED"}
    known = set(bpy.data.objects)
    bpy.ops.import_scene.xray_ogf(filepath=str(tmp_path / "out.ogf"))
    (copy,) = (obj for obj in set(bpy.data.objects) - known if obj.find_armature() is not None)
    sides = {
        (vertex.co.x > 0, copy.vertex_groups[vertex.groups[0].group].name.lower()) for vertex in copy.data.vertices
    }
    assert sides == {(True, "arm.l"), (False, "arm.r")}


REAL = corpus_files("ogf/*.ogf", "object/*.object", "oof/*.oof", "p3d/*.p3d")


@pytest.mark.deep
@pytest.mark.parametrize("path", REAL)
def test_a_mirrored_real_model_comes_out_as_shown(path, tmp_path):
    suffix = path.suffix[1:].lower()
    before = set(bpy.data.objects)
    try:
        getattr(bpy.ops.import_scene, EXPORTS[suffix][1])(filepath=str(path))
    except RuntimeError:
        pytest.skip("it cannot be imported")
    created = [obj for obj in set(bpy.data.objects) - before if is_drawn(obj)]
    if not created:
        pytest.skip("without faces")
    active = bpy.context.active_object
    plain = measures(exported(tmp_path / f"plain.{suffix}"))
    for obj in created:
        mirror = obj.modifiers.new("Mirror", "MIRROR")
        mirror.use_mirror_merge = mirror.use_mirror_vertex_groups = False
    activate(active)
    doubled = measures(exported(tmp_path / f"doubled.{suffix}"))
    assert doubled[0] == 2 * plain[0]
    np.testing.assert_allclose(doubled[1], 2 * plain[1], rtol=1e-3)
