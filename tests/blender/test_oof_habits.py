"""Models of Descent 3 as people work on them: copies, keys of everything, shape keys, other pictures."""

from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from mathutils import Euler, Quaternion, Vector

from addon.blender import compat, transforms
from addon.core.report import Report
from addon.formats.descent3.oof.mapping import decode
from addon.games.descent3.editing import new_point
from addon.games.descent3.hierarchy import Chosen, hierarchy_of, written_index
from addon.ui.descent3 import panels
from tests.blender.oof_scene import (
    batteries,
    chunks,
    evaluated_points,
    imported,
    parts,
    planned,
    points,
    square,
    textures,
    warnings,
)
from tests.blender.test_action_lists import duplicated
from tests.blender.test_oof import BOTH
from tests.blender.test_oof_animation import SWAP, document, hold_to_game, in_game, tracks


@pytest.fixture
def ship(samples):
    return samples / "descent3" / "ship.oof"


# Copies --------------------------------------------------------------------------------------------------------------


@BOTH
def test_a_copied_part_comes_last_and_the_others_keep_their_bytes(ship, bones):
    model, _ = imported(ship, textures=False, bones=bones)
    copy = duplicated(model.parts[2])
    copy.location.x += 3
    plan, report = planned(model.holder)
    old, new = parts(ship.read_bytes()), parts(plan.data)
    assert [part.name for part in new] == [*(part.name for part in old), old[2].name]
    assert [part.index for part in new] == list(range(7))
    assert [part.parent for part in new[:-1]] == [part.parent for part in old]
    assert new[-1].positions.tolist() == old[2].positions.tolist()
    assert new[-1].normals.tolist() == old[2].normals.tolist()
    assert [repr(face) for face in new[-1].faces] == [repr(face) for face in old[2].faces]
    assert "index" not in plan.sentence()
    assert batteries(plan.data) == batteries(ship.read_bytes())
    assert warnings(report) == ""


@pytest.mark.parametrize("name", ["twenty_irregular", "position_same_range", "big_steps"])
def test_a_copied_part_has_the_keys_of_its_original(vectors, name):
    path = vectors / "oof" / f"{name}.oof"
    model, _ = imported(path, textures=False)
    index = next(row for row, part in enumerate(model.parts) if part.motionbridge_descent_part.is_moved)
    copy = duplicated(model.parts[index])
    kinds = [kind for kind in (b"RANI", b"PANI") if kind in dict(chunks(path.read_bytes()))]
    old = {kind: tracks(path.read_bytes(), kind) for kind in kinds}
    expected = {kind: [*rows, rows[index]] for kind, rows in old.items()}
    data = planned(model.holder)[0].data
    assert {kind: tracks(data, kind) for kind in kinds} == expected
    for curve in transforms.playing_curves(copy):
        curve.mute = True
    plan, report = planned(model.holder)
    assert {kind: tracks(plan.data, kind) for kind in kinds} == expected
    assert "is kept" in warnings(report)


def test_a_copied_gun_comes_last_and_the_others_keep_their_index(ship):
    model, _ = imported(ship, textures=False)
    gun = next(point for point in model.points if point.motionbridge_descent_point.kind == "GUN")
    copy = duplicated(gun)
    copy.location = (0, 0, 7)
    old, new = (points(data, b"GPNT") for data in (ship.read_bytes(), planned(model.holder)[0].data))
    assert len(new) == len(old) + 1
    for before, after in zip(old, new, strict=False):
        assert (before[0], before[1].tolist(), before[2].tolist()) == (after[0], after[1].tolist(), after[2].tolist())
    assert new[-1][1].tolist() == [0, 7, 0]
    assert batteries(planned(model.holder)[0].data) == batteries(ship.read_bytes())
    copy.motionbridge_descent_point.number = 1
    assert points(planned(model.holder)[0].data, b"GPNT")[1][1].tolist() == [0, 7, 0]


@pytest.mark.parametrize("index", range(3))
def test_a_point_gets_the_index_that_is_typed_and_batteries_follow(ship, index):
    model, _ = imported(ship, textures=False)
    old = [row[1].tolist() for row in points(ship.read_bytes(), b"GPNT")]
    gun = new_point(bpy.context, model.parts[0], "GUN", Vector((0, 0, 7)))
    gun.motionbridge_descent_point.number = index
    data = planned(model.holder)[0].data
    new = [row[1].tolist() for row in points(data, b"GPNT")]
    assert new == [*old[:index], [0, 7, 0], *old[index:]]
    assert [[new[gun] for gun in guns] for guns, _ in batteries(data)] == [
        [old[gun] for gun in guns] for guns, _ in batteries(ship.read_bytes())
    ]
    assert written_index(bpy.context, gun) == index


def test_a_point_of_another_kind_is_a_new_one_and_the_others_keep_their_index(ship):
    model, _ = imported(ship, textures=False)
    attached = next(point for point in model.points if point.motionbridge_descent_point.kind == "ATTACH")
    attached.motionbridge_descent_point.kind = "GUN"
    data = planned(model.holder)[0].data
    old, new = (points(entry, b"GPNT") for entry in (ship.read_bytes(), data))
    assert [row[1].tolist() for row in new] == [*(row[1].tolist() for row in old), [0, 0.25, 0]]
    assert batteries(data) == batteries(ship.read_bytes())
    assert points(data, b"ATCH") == []
    attached.motionbridge_descent_point.kind = "ATTACH"
    assert planned(model.holder)[0].data == ship.read_bytes()


@pytest.mark.parametrize("index", range(3))
def test_a_point_of_the_file_moves_to_the_index_that_is_typed(index):
    hull = square("hull")
    guns = [new_point(bpy.context, hull, "GUN", Vector((number, 0, 0))) for number in range(3)]
    for number, gun in enumerate(guns):
        properties = gun.motionbridge_descent_point
        properties.source = properties.number = number
    guns[0].motionbridge_descent_point.number = index
    order = [guns[1], guns[2]]
    order.insert(index, guns[0])
    assert hierarchy_of(bpy.context, Chosen(None, [hull, *guns]), Report()).points == order


@BOTH
def test_parts_and_points_of_another_model_are_new_here(ship, tmp_path, bones):
    """Whatever their index was there: the parts and points of this file keep theirs, which tables of the game use."""
    first, _ = imported(ship, textures=False)
    first.parts[1].data.vertices[0].co.x += 1
    first.parts[0].name = "A hull"
    variant = tmp_path / "variant.oof"
    variant.write_bytes(planned(first.holder)[0].data)
    for name in [target.name for target in first.objects]:
        bpy.data.objects.remove(bpy.data.objects[name])
    other, _ = imported(variant, textures=False)
    model, _ = imported(ship, textures=False, bones=bones)
    for obj in (other.points[0], other.parts[3], other.parts[1], other.parts[0]):
        obj.parent = model.parts[4]
    plan, _ = planned(model.holder)
    old, new = parts(ship.read_bytes()), parts(plan.data)
    assert [part.name for part in new[: len(old)]] == [part.name for part in old]
    assert sorted(part.name for part in new[len(old) :]) == sorted(p.name for p in parts(variant.read_bytes()))
    for row, part in enumerate(old):
        assert new[row].positions.tolist() == part.positions.tolist()
    guns = [points(data, b"GPNT") for data in (ship.read_bytes(), plan.data)]
    assert [row[1].tolist() for row in guns[1]][: len(guns[0])] == [row[1].tolist() for row in guns[0]]
    assert batteries(plan.data) == batteries(ship.read_bytes())


def test_a_part_of_another_model_does_not_replace_one_that_was_deleted(ship, vectors):
    model, _ = imported(ship, textures=False)
    other, _ = imported(vectors / "oof" / "chain_depth_six.oof", textures=False, animation=False)
    row = next(row for row, part in enumerate(model.parts) if part.name == "glow")
    bpy.data.objects.remove(model.parts[row])
    other.parts[row].parent = model.parts[0]
    sentence = planned(model.holder)[0].sentence()
    assert "glow: taken out; link 5: vertices 0 -> 6" in sentence
    assert sentence.count("a new sub-object") == 2


def test_the_panel_shows_the_index_that_a_copied_point_gets(ship):
    model, _ = imported(ship, textures=False)
    guns = [point for point in model.points if point.motionbridge_descent_point.kind == "GUN"]
    copy = duplicated(guns[0])
    copy.location = (0, 0, 7)
    assert [written_index(bpy.context, gun) for gun in guns] == list(range(len(guns)))
    assert written_index(bpy.context, copy) == len(guns)
    assert points(planned(model.holder)[0].data, b"GPNT")[len(guns)][1].tolist() == [0, 7, 0]
    message = f"Index in the file: {len(guns)}"
    assert [message in labels_of(panels.MOTIONBRIDGE_PT_descent, entry) for entry in (copy, guns[0])] == [True, False]
    bpy.context.view_layer.objects.active = copy
    copy.parent = None
    assert written_index(bpy.context, copy) is None


def labels_of(panel, active):
    """The texts that a panel draws with an object active."""
    bpy.context.view_layer.objects.active = active
    message = []

    class Layout:
        def __getattr__(self, name):
            def called(*arguments, **options):
                message.append(options.get("text"))
                return Layout()

            return called

    panel.draw(SimpleNamespace(layout=Layout()), bpy.context)
    return message


def test_separated_parts_are_called_in_reports_what_blender_calls_them(ship):
    model, _ = imported(ship, textures=False)
    part = next(part for part in model.parts if part.type == "MESH" and len(part.data.polygons) > 1)
    bpy.context.view_layer.objects.active = part
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")
    bpy.ops.object.mode_set(mode="OBJECT")
    part.data.polygons[0].select = True
    before = set(bpy.data.objects)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.separate(type="SELECTED")
    bpy.ops.object.mode_set(mode="OBJECT")
    (piece,) = set(bpy.data.objects) - before
    plan, _ = planned(model.holder)
    names = [part.name for part in parts(plan.data)]
    assert names.count(part.motionbridge_descent_part.game_name) == 2, "the file has both by the part's name"
    of_part, of_piece, *_ = plan.sentence().split("; ")
    assert (of_part.partition(": ")[0], of_piece.partition(": ")[0]) == (part.name, piece.name)
    assert "faces" in of_part
    assert "a new sub-object" in of_piece


@pytest.mark.parametrize("name", ["chain_depth_six", "position_same_range"])
def test_a_copy_of_a_part_on_a_bone_depends_on_the_part(vectors, name):
    path = vectors / "oof" / f"{name}.oof"
    model, _ = imported(path, bones=True, textures=False)
    copy = duplicated(model.parts[-1])
    bpy.context.scene.frame_set(3)
    for tick, z in ((0, 0.5), (20, 2)):
        copy.location.z = z
        copy.keyframe_insert("location", frame=tick)
    model.parts[-1].location.y += 0.25
    plan, _ = planned(model.holder)
    model.parts.append(copy)
    number = len(model.parts) - 1
    assert parts(plan.data)[number].parent == parts(path.read_bytes())[number - 1].index
    ticks = np.arange(0, 25, 5)
    game = in_game(plan.data, ticks)
    for row, tick in enumerate(ticks.tolist()):
        bpy.context.scene.frame_set(tick)
        graph = bpy.context.evaluated_depsgraph_get()
        for part, own_part in enumerate(model.parts):
            matrix = np.array(own_part.evaluated_get(graph).matrix_world)
            np.testing.assert_allclose(matrix[:3, 3], SWAP @ game.model_positions[row, part], atol=2e-3)
            turned = SWAP @ game.model_rotations[row, part] @ SWAP
            np.testing.assert_allclose(matrix[:3, :3], turned, atol=2e-3)


# Keys of everything --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [(2, 2, 2), (2, 1, 0.5), (-1, 1, 1)])
@pytest.mark.parametrize("turned", [False, True])
def test_a_scale_that_every_key_has_is_that_of_the_vertices(scale, turned):
    """I keys location, rotation and scale, whatever moves."""
    obj = square("wing")
    obj.scale = scale
    obj.rotation_mode = "QUATERNION"
    for frame, x in ((0, 0.0), (10, 4.0)):
        obj.location.x = x
        if turned:
            obj.rotation_quaternion = Quaternion((0, 0, 1), x / 4)
        for channel in ("location", "rotation_quaternion", "scale"):
            obj.keyframe_insert(channel, frame=frame)
    plan, report = planned(Chosen(None, [obj]))
    assert "scale is animated" not in warnings(report)
    game = in_game(plan.data, [0, 5, 10])
    mesh = decode(document(plan.data), report).parts[0].mesh
    for row, frame in enumerate((0, 5, 10)):
        bpy.context.scene.frame_set(frame)
        matrix = np.array(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world)
        seen = np.array([vertex.co for vertex in obj.data.vertices]) @ matrix[:3, :3].T + matrix[:3, 3]
        position = SWAP @ game.model_rotations[row, 0] @ SWAP, SWAP @ game.model_positions[row, 0]
        np.testing.assert_allclose(mesh.positions @ position[0].T + position[1], seen, atol=2e-3)


def test_a_scale_that_changes_is_reported():
    obj = square("wing")
    for frame, size in ((0, 1.0), (10, 2.0)):
        obj.scale = (size,) * 3
        obj.keyframe_insert("scale", frame=frame)
    plan, report = planned(Chosen(None, [obj]))
    assert "scale is animated" in warnings(report)
    assert np.ptp(parts(plan.data)[0].positions, axis=0).tolist() == [1, 0, 1]


def hold_to_scene(actual, frames):
    """A part alone in the scene: the game shows its vertices where Blender shows them. Returns the warnings."""
    plan, report = planned(Chosen(None, [actual]))
    game = in_game(plan.data, frames)
    mesh = decode(document(plan.data), report).parts[0].mesh
    for row, frame in enumerate(frames):
        bpy.context.scene.frame_set(frame)
        position = SWAP @ game.model_rotations[row, 0] @ SWAP, SWAP @ game.model_positions[row, 0]
        np.testing.assert_allclose(mesh.positions @ position[0].T + position[1], evaluated_points(actual), atol=2e-3)
    return warnings(report)


@pytest.mark.parametrize("mode", ["QUATERNION", "XZY"])
@pytest.mark.parametrize("channels", [["location"], ["rotation", "scale"], ["delta_location"], ["delta_rotation"]])
def test_delta_transforms_are_exported_as_shown(mode, channels):
    """Object > Apply > (Animated) Transforms to Deltas."""
    obj = square("wing")
    obj.rotation_mode = mode
    kind = "quaternion" if mode == "QUATERNION" else "euler"
    obj.delta_location, obj.delta_scale = (1, 2, 3), (2, 1, 0.5)
    for prefix, angle in (("", 0.4), ("delta_", -0.7)):
        turned = Euler((angle, 1, 2 * angle), "XYZ" if kind == "quaternion" else mode)
        setattr(obj, f"{prefix}rotation_{kind}", turned.to_quaternion() if kind == "quaternion" else turned)
    for frame, amount in ((0, 0.0), (10, 0.5)):
        for channel in channels:
            name = f"{channel}_{kind}" if "rotation" in channel else channel
            value = getattr(obj, name)
            value[1] += amount if channel != "scale" else 0
            obj.keyframe_insert(name, frame=frame)
    assert hold_to_scene(obj, [0, 5, 10]) == ""


def test_keys_of_a_delta_scale_that_changes_are_reported_at_every_frame():
    obj = square("wing")
    for frame, size in ((0, 1.0), (10, 2.0)):
        obj.delta_scale = (size,) * 3
        obj.keyframe_insert("delta_scale", frame=frame)
    for frame in (0, 5):
        bpy.context.scene.frame_set(frame)
        plan, report = planned(Chosen(None, [obj]))
        assert "scale is animated" in warnings(report)
        assert np.ptp(parts(plan.data)[0].positions, axis=0).tolist() == [1, 0, 1]


def test_a_mirrored_part_that_only_moves_is_exported_as_shown():
    obj = square("wing")
    obj.scale, obj.rotation_euler = (-1, 2, 1), (0.3, 0.2, 0.1)
    for frame, x in ((0, 0.0), (10, 4.0)):
        obj.location.x = x
        obj.keyframe_insert("location", frame=frame)
    assert hold_to_scene(obj, [0, 10]) == ""
    assert tracks(planned(Chosen(None, [obj]))[0].data, b"RANI")[0][0] == 0


def test_a_part_that_stands_still_with_deltas_gets_no_motion():
    actual = square("wing")
    actual.delta_location = (1, 2, 3)
    data = planned(Chosen(None, [actual]))[0].data
    assert parts(data)[0].offset == (1, 3, 2)
    assert [kind for kind, _ in chunks(data) if kind in (b"RANI", b"PANI")] == []


def test_curves_muted_with_their_group_do_not_play(vectors):
    """Blender before 4.4 mutes the curves of a muted group."""
    path = vectors / "oof" / "chain_depth_six.oof"
    model, _ = imported(path, textures=False)
    for part in model.parts:
        data = part.animation_data
        bag = compat.curve_bag(data.action, data.action_slot if compat.SLOTTED else None)
        for group in bag.groups:
            group.mute = True
    plan, report = planned(model.holder)
    assert plan.data == path.read_bytes()
    assert ("muted curves are not shown" in warnings(report)) == (not compat.SLOTTED)
    if compat.SLOTTED:
        hold_to_game(model, plan.data)


# Shapes and pictures -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pinned", [False, True])
def test_shape_keys_are_applied_with_modifiers_and_reported_without(ship, pinned):
    model, _ = imported(ship, textures=False)
    hull = model.parts[0]
    hull.shape_key_add(name="Basis")
    wide = hull.shape_key_add(name="wide")
    wide.data[0].co.x += 2
    wide.value = 0  # 1 from the start, since 5.0
    assert warnings(planned(model.holder)[1]) == ""
    wide.value = 0 if pinned else 1
    hull.show_only_shape_key, hull.active_shape_key_index = pinned, 1
    plan, report = planned(model.holder, modifiers=False)
    assert plan.data == ship.read_bytes()
    assert "shape keys are not applied (wide)" in warnings(report)
    plan, report = planned(model.holder, modifiers=True)
    old, new = parts(ship.read_bytes())[0].positions, parts(plan.data)[0].positions
    assert "shape keys" not in warnings(report)
    assert (new - old).round(6).tolist() == [[2, 0, 0], *[[0, 0, 0]] * (len(old) - 1)]
    hull.active_shape_key_index = 0
    wide.value = 0
    assert warnings(planned(model.holder)[1]) == ""


def test_another_picture_on_an_imported_material_is_another_texture(ship):
    model, _ = imported(ship)
    used = model.parts[0].data.materials[0]
    node = next(node for node in used.node_tree.nodes if node.type == "TEX_IMAGE")
    before, old = node.image, textures(ship.read_bytes())
    node.image = bpy.data.images.new("NewHull.png", 4, 4)
    plan, _ = planned(model.holder)
    assert textures(plan.data) == [*old, "NewHull"]
    now, then = ([face[1] for face in parts(data)[0].faces] for data in (plan.data, ship.read_bytes()))
    assert now == [len(old) if look == old.index("SampleHull") else look for look in then]
    assert len(old) in now
    node.image = before
    before.name = "renamed"
    assert planned(model.holder)[0].data == ship.read_bytes()


def test_a_sub_object_without_uv_map_keeps_the_texture_coordinates_of_the_file_and_reports_it(ship):
    model, _ = imported(ship, textures=False)
    hull = model.parts[0]
    assert warnings(planned(model.holder)[1]) == ""
    while hull.data.uv_layers:
        hull.data.uv_layers.remove(hull.data.uv_layers[0])
    plan, report = planned(model.holder)
    assert plan.data == ship.read_bytes()
    (message,) = report.warnings
    assert message == "it has no UV map: faces of the file keep their texture coordinates, new ones get 0"
    wing = model.parts[1].data
    wing.uv_layers[0].uv[0].vector = (0.125, 0.25)
    now, then = (parts(data)[1].faces for data in (planned(model.holder)[0].data, ship.read_bytes()))
    assert (
        sum(a != b for first, other in zip(now, then, strict=True) for a, b in zip(first[2], other[2], strict=True))
        == 1
    )
    plan, report = planned(model.holder, anew=True)
    assert {row[1:] for face in parts(plan.data)[0].faces for row in face[2]} == {(0.0, 0.0)}
    assert warnings(report) == ""


def test_a_picture_instead_of_a_missing_texture_is_another_texture(ship):
    model, _ = imported(ship, textures=False)
    used = model.parts[0].data.materials[0]
    old = textures(ship.read_bytes())
    node = used.node_tree.nodes.new("ShaderNodeTexImage")
    used.node_tree.links.new(node.outputs["Color"], used.node_tree.nodes["Principled BSDF"].inputs["Base Color"])
    node.image = bpy.data.images.new("samplehull.png", 4, 4)  # the texture itself, found elsewhere
    assert planned(model.holder)[0].data == ship.read_bytes()
    node.image = bpy.data.images.new("NewHull.png", 4, 4)
    assert textures(planned(model.holder)[0].data) == [*old, "NewHull"]


def test_a_material_that_lost_its_picture_keeps_its_texture(ship):
    model, _ = imported(ship)
    for node in model.parts[0].data.materials[0].node_tree.nodes:
        if node.type == "TEX_IMAGE":
            node.image = None
    assert planned(model.holder)[0].data == ship.read_bytes()


# What the scene shows and the file cannot have -----------------------------------------------------------------------


def test_what_depends_on_a_deleted_part_is_reported_to_be_left_out_until_it_is_parented(vectors):
    path = vectors / "oof" / "chain_depth_six.oof"
    model, _ = imported(path, textures=False)
    middle = model.parts[1]
    orphans = sorted(child.name for child in middle.children)
    bpy.data.objects.remove(middle)
    plan, report = planned(model.holder)
    assert [part.name for part in parts(plan.data)] == ["link 0"]
    (finding,) = (warning for warning in report.warnings if "is below no object of the model" in warning)
    assert report.warnings[finding] == orphans
    assert {"link 2", "Gun point 2"} <= set(orphans)
    for orphan in orphans:
        bpy.data.objects[orphan].parent = model.parts[0]
    plan, report = planned(model.holder)
    assert [part.name for part in parts(plan.data)] == ["link 0", *(f"link {number}" for number in range(2, 7))]
    assert len(points(plan.data, b"GPNT")) == len(points(path.read_bytes(), b"GPNT"))
    assert "is below no object" not in warnings(report)


def test_a_model_whose_root_was_deleted_is_reported_to_become_a_new_file(ship):
    model, _ = imported(ship, textures=False)
    bpy.data.objects.remove(model.holder)
    plan, report = planned(Chosen(None, [*model.parts, *model.points]))
    assert plan.sentence() == "a new model"
    assert warnings(report).startswith("its root object is gone, which stored the imported file")


def test_another_model_of_the_file_is_not_what_this_one_lost(ship):
    model, _ = imported(ship, textures=False)
    imported(ship, textures=False)
    bpy.data.objects.remove(model.parts[-1])
    assert "is below no object" not in warnings(planned(model.holder)[1])


def test_the_scale_of_the_root_is_reported_and_applied_it_is_exported(ship):
    model, _ = imported(ship, textures=False, bones=True)
    model.holder.scale = (1, 1, 2)
    bpy.context.view_layer.update()
    assert "import the model as objects and scale that" in warnings(planned(model.holder)[1])
    model, _ = imported(ship, textures=False)
    model.holder.scale = (2, 2, 2)
    bpy.context.view_layer.update()
    plan, report = planned(model.holder)
    assert plan.data == ship.read_bytes()
    assert "its scale is not exported" in warnings(report)
    bpy.ops.object.select_all(action="DESELECT")
    model.holder.select_set(True)
    bpy.context.view_layer.objects.active = model.holder
    bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
    plan, report = planned(model.holder)
    assert "its scale" not in warnings(report)
    for before, after in zip(parts(ship.read_bytes()), parts(plan.data), strict=True):
        assert np.abs(2 * before.positions - after.positions).max(initial=0) < 1e-5
        assert np.abs(2 * np.array(before.offset) - after.offset).max() < 1e-5
    for before, after in zip(points(ship.read_bytes(), b"GPNT"), points(plan.data, b"GPNT"), strict=True):
        assert np.abs(2 * before[1] - after[1]).max() < 1e-5


@pytest.mark.parametrize("mirrored", [False, True])
def test_a_shape_bent_by_an_armature_is_exported_straight_and_reported(mirrored):
    obj = square()
    rig = bpy.data.objects.new("rig", bpy.data.armatures.new("rig"))
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bone = rig.data.edit_bones.new("bone")
    bone.tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    obj.vertex_groups.new(name="bone").add([0, 1], 1.0, "REPLACE")
    if mirrored:
        obj.modifiers.new("Mirror", "MIRROR")
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    rig.pose.bones["bone"].location = (0, 5, 0)
    bpy.context.view_layer.update()
    plan, report = planned(Chosen(None, [obj]), modifiers=True)
    assert np.abs(parts(plan.data)[0].positions[:, 1]).max() == 0  # up: no vertex was raised
    assert "an armature bends it" in warnings(report)
    assert obj.modifiers["Armature"].show_viewport
    obj.modifiers["Armature"].show_viewport = False
    assert "an armature bends it" not in warnings(planned(Chosen(None, [obj]), modifiers=True)[1])


def test_a_bone_posed_without_keys_is_reported_and_applied_it_is_exported(ship):
    model, _ = imported(ship, textures=False, bones=True, animation=False)
    wing = model.parts[2]
    assert warnings(planned(model.holder)[1]) == ""
    bpy.context.view_layer.objects.active = model.holder
    bpy.ops.object.mode_set(mode="POSE")
    model.rig.pose.bones[wing.parent_bone].location = (0, 0, 3)
    model.rig.pose.bones[wing.parent_bone].rotation_quaternion = Quaternion((0, 0, 1), 0.5)
    plan, report = planned(model.holder)
    assert plan.data == ship.read_bytes()
    (finding,) = (warning for warning in report.warnings if "its bone is posed without keys" in warning)
    assert report.warnings[finding] == [wing.name]
    actual = evaluated_points(wing)
    bpy.ops.pose.armature_apply()
    bpy.ops.object.mode_set(mode="OBJECT")
    assert np.abs(evaluated_points(wing) - actual).max() < 1e-5
    plan, report = planned(model.holder)
    assert "its bone is posed" not in warnings(report)
    part = parts(plan.data)[2]
    in_file = np.array(part.offset) + part.positions
    np.testing.assert_allclose(in_file @ SWAP, actual, atol=1e-5)


def test_instances_below_a_model_are_reported_to_be_left_out(ship):
    model, _ = imported(ship, textures=False)
    obj = bpy.data.objects.new("crates", None)
    bpy.context.scene.collection.objects.link(obj)
    obj.parent, obj.instance_type = model.parts[0], "COLLECTION"
    assert warnings(planned(model.holder)[1]) == ""
    obj.instance_collection = bpy.data.collections.new("crate")
    plan, report = planned(model.holder)
    assert plan.data == ship.read_bytes()
    assert warnings(report) == "its instances are left out (make them real: Object > Apply)"
