"""The scene comparison notices what a careless exporter would change, and nothing else."""

import bpy
import pytest

from tests.scene import differences, snapshot


@pytest.fixture
def scene():
    """A rig of one bone with an action, a skinned triangle beside it, and a light."""
    mesh = bpy.data.meshes.new("Skin")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    body = bpy.data.objects.new("Body", mesh)
    body.vertex_groups.new(name="root").add([0, 1, 2], 0.5, "REPLACE")
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Skeleton"))
    light = bpy.data.objects.new("Light", bpy.data.lights.new("Light", "POINT"))
    for each in (body, rig, light):
        bpy.context.collection.objects.link(each)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.new("root").tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.keyframe_insert("location", frame=1)
    rig.animation_data.action.name = "Walk"
    return bpy.context.scene


def a_curve():
    return next(iter(curves(bpy.data.actions["Walk"])))


def curves(action):
    if hasattr(action, "layers"):
        return action.layers[0].strips[0].channelbag(action.slots[0]).fcurves
    return action.fcurves


def change_a_key():
    a_curve().keyframe_points[0].co[1] += 1e-6


def change_a_weight():
    bpy.data.objects["Body"].vertex_groups["root"].add([1], 0.25, "REPLACE")


def move_a_vertex():
    bpy.data.meshes["Skin"].vertices[1].co[2] += 1e-6


def enter_pose_mode():
    bpy.ops.object.mode_set(mode="POSE")


def set_a_custom_property():
    bpy.data.objects["Rig"]["note"] = 1


CHANGES = {
    "moved object": (lambda: setattr(bpy.data.objects["Body"], "location", (0, 0, 1e-6)), "objects['Body'].location"),
    "renamed action": (lambda: setattr(bpy.data.actions["Walk"], "name", "Run"), "actions['Run']"),
    "changed key": (change_a_key, "keyframe_points co"),
    "selection": (lambda: bpy.data.objects["Light"].select_set(True), "selected"),
    "active object": (lambda: setattr(bpy.context.view_layer.objects, "active", bpy.data.objects["Body"]), "active"),
    "hidden object": (lambda: bpy.data.objects["Light"].hide_set(True), "hidden"),
    "mode": (enter_pose_mode, "mode"),
    "frame": (lambda: bpy.context.scene.frame_set(7), "frame_current"),
    "vertex": (move_a_vertex, "meshes['Skin'].attributes"),
    "weight": (change_a_weight, "meshes['Skin'] weights"),
    "pose": (
        lambda: setattr(bpy.data.objects["Rig"].pose.bones["root"], "location", (0, 0, 1e-6)),
        "objects['Rig'].pose.bones",
    ),
    "no action": (lambda: setattr(bpy.data.objects["Rig"].animation_data, "action", None), "animation_data.action"),
    "new datablock": (lambda: bpy.data.actions.new("Left behind"), "actions['Left behind']"),
    "removed datablock": (lambda: bpy.data.lights.remove(bpy.data.lights["Light"]), "lights['Light']"),
    "one user more": (lambda: setattr(bpy.data.actions["Walk"], "use_fake_user", True), "actions['Walk'].users"),
    "custom property": (set_a_custom_property, "objects['Rig']['note']"),
    "frames per second": (lambda: setattr(bpy.context.scene.render, "fps", 30), "scenes['Scene'].render.fps"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_it_notices(scene, name):
    change, expected = CHANGES[name]
    before = snapshot()
    change()
    result = differences(before, snapshot())
    assert any(expected in line for line in result), result


def test_nothing_is_reported_where_nothing_was_changed(scene):
    before = snapshot()
    assert differences(before, snapshot()) == []


def test_nothing_is_reported_where_everything_was_put_back(scene):
    before = snapshot()
    frame = scene.frame_current
    scene.frame_set(20)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.object.mode_set(mode="OBJECT")
    scene.frame_set(frame)
    assert differences(before, snapshot()) == []


def test_a_snapshot_stays_as_it_was_taken(scene):
    before = snapshot()
    copy = {path: repr(value) for path, value in before.items()}
    bpy.data.objects["Body"].location.x = 3
    assert {path: repr(value) for path, value in before.items()} == copy
