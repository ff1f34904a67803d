"""Imported models are in the view: large levels as a whole, new models framed; cameras stay as they are."""

import math

import bpy
import numpy as np
import pytest

from addon.blender import views
from addon.core.report import Report
from addon.games.xray.levels.file import extend_clipping
from tests.blender.test_levels import drawn


@pytest.fixture
def view():
    area = bpy.context.screen.areas[0]
    kind, area.type = area.type, "VIEW_3D"
    space = area.spaces.active
    space.clip_start, space.clip_end = 0.01, 1000.0
    yield space
    space.clip_start, space.clip_end = 0.01, 1000.0
    area.type = kind


def square(size):
    return drawn("wide", [(0, 0, 0), (size, 0, 0), (size, size, 0), (0, size, 0)], [(0, 1, 2, 3)], "HOM")


def test_a_large_level_is_within_the_view(view):
    camera = bpy.data.cameras.new("mine")
    before = camera.clip_end
    report = Report()
    extend_clipping(bpy.context, [square(900)], report)
    assert view.clip_end > 3 * 900 * 2**0.5
    assert view.clip_end / view.clip_start <= 1.001e5
    assert camera.clip_end == before
    assert any("3D views show up to 5091 m now" in line for line in report.lines())
    again = Report()
    extend_clipping(bpy.context, [square(500)], again)
    assert (view.clip_end > 5000, again.lines()) == (True, []), "a view is never made to show less"


def test_a_view_behind_a_file_browser_shows_the_level_too(view):
    area = bpy.context.screen.areas[0]
    area.type = "FILE_BROWSER"
    extend_clipping(bpy.context, [square(900)], Report())
    area.type = "VIEW_3D"
    assert area.spaces.active.clip_end > 5000


@pytest.mark.parametrize("size", [10, 100, float("inf")])
def test_views_stay_as_they_are_where_all_is_seen(view, size):
    extend_clipping(bpy.context, [square(size)], Report())
    assert round(view.clip_end) == 1000


def test_new_models_are_framed_from_the_same_direction(view):
    looked = view.region_3d.view_rotation.copy()
    view.region_3d.view_perspective = "PERSP"
    square(4).location = 100, 0, 0
    obj = square(3)
    obj.location = -10, 5, 2
    views.frame(bpy.context, [obj])
    assert tuple(view.region_3d.view_location) == (-8.5, 6.5, 2)
    radius = 1.5 * 2**0.5
    area = bpy.context.screen.areas[0]
    narrower = math.atan(36 / view.lens * min(area.width, area.height) / max(area.width, area.height))
    assert radius < view.region_3d.view_distance * math.tan(narrower) < 1.2 * radius
    assert view.region_3d.view_rotation == looked
    view.region_3d.view_perspective = "CAMERA"
    views.frame(bpy.context, [square(50)])
    assert tuple(view.region_3d.view_location) == (-8.5, 6.5, 2), "who looks through a camera goes on"


def test_without_other_objects_instances_are_framed(view):
    """As of a level of which only trees are imported. Of an empty collection nothing is shown."""
    collection, empty_collection = (bpy.data.collections.new(name) for name in ("parts", "empty"))
    collection.instance_offset = 1, 1, 0
    obj = square(3)
    bpy.context.scene.collection.objects.unlink(obj)
    collection.objects.link(obj)
    trees = [bpy.data.objects.new("tree", None) for _ in range(3)]
    for tree, parts in zip(trees, (collection, collection, empty_collection), strict=True):
        tree.instance_type, tree.instance_collection = "COLLECTION", parts
        bpy.context.scene.collection.objects.link(tree)
    trees[1].location, trees[1].scale = (100, 0, 0), (2, 2, 2)
    views.frame(bpy.context, trees)
    assert tuple(view.region_3d.view_location) == ((104 - 1) / 2, (4 - 2) / 2, 0)
    before = view.region_3d.view_distance
    views.frame(bpy.context, trees[2:])
    assert view.region_3d.view_distance == before
    trees[1].location.x = 900
    bpy.context.view_layer.update()
    extend_clipping(bpy.context, trees, Report())
    assert view.clip_end > 3 * 900


@pytest.mark.parametrize("hidden", [True, False])
def test_what_is_not_seen_is_not_framed(view, hidden):
    before = tuple(view.region_3d.view_location)
    obj = square(50 if hidden else np.nan)
    obj.hide_set(hidden)
    views.frame(bpy.context, [obj])
    assert tuple(view.region_3d.view_location) == before


def test_scripts_leave_the_view_alone(view, samples):
    before = tuple(view.region_3d.view_location), view.region_3d.view_distance
    bpy.ops.import_scene.xray_ogf(filepath=str(samples / "humanoid.ogf"))
    assert (tuple(view.region_3d.view_location), view.region_3d.view_distance) == before


def test_a_camera_bone_far_away_is_not_framed(view):
    bpy.ops.object.armature_add()
    rig = bpy.context.object
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    for number in range(8):
        bone = bones.new(f"spine{number}")
        bone.head, bone.tail, bone.parent = (0, 0, number / 4), (0, 0, (number + 1) / 4), bones[-2]
    camera = bones.new("camera")
    camera.head, camera.tail, camera.parent = (0, -20, 1), (0, -20, 2), bones[0]
    bpy.ops.object.mode_set(mode="OBJECT")
    views.frame(bpy.context, [rig])
    assert np.allclose(view.region_3d.view_location, (0, 0, 1))
    assert view.region_3d.view_distance < 10
