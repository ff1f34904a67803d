"""Models of Descent 3 into Blender and back, judged by their bytes and by a reader of the tests' own."""

from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Quaternion, Vector

from addon.core import srgb
from addon.core.errors import ReadError, WriteError
from addon.core.report import Report
from addon.games.descent3 import editing, model, model_export
from addon.games.descent3.hierarchy import Chosen
from addon.games.descent3.textures import gather_material
from tests.blender.oof_scene import (
    SQUARE,
    batteries,
    chunks,
    drawn,
    evaluated_points,
    imported,
    parts,
    planned,
    points,
    reloaded,
    square,
    textures,
    warnings,
)
from tests.formats.descent3.oof import annotated
from tests.formats.descent3.oof.engine import engine_models
from tests.real_files import SAMPLES, corpus_files, sampled
from tests.scene import differences, snapshot


def label(source):
    """What a file is called in the list of tests."""
    return source.name if isinstance(source, Path) else str(source or "no corpus")


BOTH = pytest.mark.parametrize("bones", [False, True], ids=["objects", "bones"])


@pytest.fixture
def pyro(corpus):
    return corpus / "oof" / "purplepyro.oof"


@pytest.fixture
def wreck(corpus):
    return corpus / "oof" / "purplepyro_deathmodel.oof"


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.oof"
    path.write_bytes(annotated.model())
    return path


# Every byte ----------------------------------------------------------------------------------------------------------


UNEDITED = [SAMPLES / "descent3" / "ship.oof", *corpus_files("oof"), *annotated.VERSIONS, *sampled(engine_models())]


@BOTH
@pytest.mark.parametrize("few", [False, True], ids=["every", "few"])
@pytest.mark.parametrize("source", UNEDITED, ids=label)
def test_an_unedited_model_leaves_byte_for_byte_through_a_saved_scene(source, few, bones, request, tmp_path):
    """Real models, every version with every chunk, and models with motions."""
    path = source if isinstance(source, Path) else tmp_path / "all.oof"
    if isinstance(source, int):
        path.write_bytes(annotated.model(source))
    elif isinstance(source, str):
        path = request.getfixturevalue("vectors") / "oof" / f"{source}.oof"
    imported_model, _ = imported(path, bones=bones, few_keys=few)
    imported_model.holder.motionbridge_descent_model.shows_turrets = True
    bpy.context.scene.frame_set(7)
    before = snapshot()
    plan, report = planned(imported_model.holder)
    assert differences(before, snapshot()) == []
    assert (plan.data, plan.sentence()) == (path.read_bytes(), "nothing changed")
    assert "left out" not in warnings(report)
    assert planned(reloaded(imported_model.holder, tmp_path))[0].data == path.read_bytes()


def test_edit_mode_and_back_changes_nothing(pyro):
    imported_model, _ = imported(pyro)
    for part in imported_model.parts:
        bpy.context.view_layer.objects.active = part
        bpy.ops.object.mode_set(mode="EDIT")
    assert planned(imported_model.holder)[0].data == pyro.read_bytes()
    bpy.ops.object.mode_set(mode="OBJECT")
    assert planned(imported_model.holder)[0].data == pyro.read_bytes()


@BOTH
def test_where_the_model_stands_in_the_scene_means_nothing(pyro, bones):
    imported_model, _ = imported(pyro, bones=bones)
    imported_model.holder.location, imported_model.holder.scale = (3, 4, 5), (2, 2, 2)
    imported_model.holder.rotation_euler = (0.5, 0.25, 1)
    assert planned(imported_model.holder)[0].data == pyro.read_bytes()


def with_nodes(name):
    material = bpy.data.materials.new(name)
    if material.node_tree is None:  # since 5.0 there always are nodes
        material.use_nodes = True
    return material


# What is seen --------------------------------------------------------------------------------------------------------


@BOTH
def test_right_is_right_forward_is_forward_and_up_is_up(wreck, bones):
    imported_model, _ = imported(wreck, bones=bones)
    named = {part.motionbridge_descent_part.game_name.lower(): part for part in imported_model.parts}
    right, left = (evaluated_points(named[f"{side} wing01"]).mean(axis=0) for side in ("right", "left"))
    # Seen from behind, that is along +Y with +Z up, the right hand is at +X.
    assert right[0] > 1 > -1 > left[0]
    guns = [point for point in imported_model.points if point.motionbridge_descent_point.kind == "GUN"]
    bpy.context.view_layer.update()
    arrows = np.array([gun.matrix_world.col[2][:3] for gun in guns])
    assert (arrows[:, 1] > 0.99).sum() >= len(guns) - 1


def test_the_index_of_a_point_is_one_of_the_files_or_at_the_end():
    empty = bpy.data.objects.new("point", None)
    point = empty.motionbridge_descent_point
    assert point.number == -1
    for given, kept in ((-5, -1), (0, 0), (7, 7)):
        point.number = given
        assert point.number == kept


@BOTH
def test_faces_look_outwards_where_they_are_in_the_file(pyro, bones):
    imported_model, _ = imported(pyro, bones=bones)
    bpy.context.view_layer.update()
    for own_part, part in zip(imported_model.parts, parts(pyro.read_bytes()), strict=True):
        assert len(own_part.data.polygons) == len(part.faces)
        for face, (normal, _, corners, _) in zip(own_part.data.polygons, part.faces, strict=True):
            np.testing.assert_allclose(face.normal, normal[[0, 2, 1]], atol=2e-4)
            assert len(face.vertices) == len(corners)
            assert face.vertices[0] == corners[0][0]
            uvs = [tuple(own_part.data.uv_layers.active.uv[loop].vector) for loop in face.loop_indices]
            assert sorted(uvs) == sorted((u, -v) for _, u, v in corners)
            by_vertex = {vertex: (u, -v) for vertex, u, v in corners}
            assert [by_vertex[vertex] for vertex in face.vertices] == uvs


@BOTH
def test_pivots_are_where_the_file_has_them(wreck, bones):
    imported_model, _ = imported(wreck, bones=bones)
    bpy.context.view_layer.update()
    files = parts(wreck.read_bytes())
    for own_part, part in zip(imported_model.parts, files, strict=True):
        position, above = np.zeros(3), part
        while True:
            position += above.offset
            if above.parent < 0:
                break
            above = files[above.parent]
        np.testing.assert_allclose(own_part.matrix_world.translation, position[[0, 2, 1]], atol=2e-6)
        np.testing.assert_allclose(own_part.matrix_world.to_3x3(), np.eye(3), atol=1e-6)
        assert own_part.name == part.name


def test_points_stand_and_point_as_in_the_file(pyro):
    imported_model, _ = imported(pyro)
    data = pyro.read_bytes()
    bpy.context.view_layer.update()
    for kind, identifier in (("GUN", b"GPNT"), ("ATTACH", b"ATCH")):
        actual = [point for point in imported_model.points if point.motionbridge_descent_point.kind == kind]
        result = points(data, identifier)
        assert len(actual) == len(result) > 0
        for entry, (parent, position, direction) in zip(actual, result, strict=True):
            assert entry.parent == imported_model.parts[parent]
            np.testing.assert_allclose(entry.location, position[[0, 2, 1]])
            length = np.linalg.norm(direction)
            np.testing.assert_allclose(entry.matrix_world.col[2][:3], direction[[0, 2, 1]] / length, atol=1e-6)
    attached = [point for point in imported_model.points if point.motionbridge_descent_point.kind == "ATTACH"]
    for entry, (_, _, up) in zip(attached, points(data, b"NATH"), strict=True):
        np.testing.assert_allclose(entry.matrix_world.col[1][:3], up[[0, 2, 1]], atol=1e-4)
    assert {point.users_collection[0].name for point in imported_model.points} == {"purplepyro Points"}


def test_parts_without_vertices_are_empties_and_plain_faces_have_their_colour(small):
    imported_model, _ = imported(small)
    body, rotor = imported_model.parts
    assert (body.type, rotor.type, rotor.parent) == ("MESH", "EMPTY", body)
    assert [slot.name for slot in body.material_slots] == ["Hull1", "#102030"]
    shade = body.material_slots[1].material.diffuse_color
    np.testing.assert_allclose(shade[:3], [0.00518, 0.01444, 0.02956], atol=1e-5)
    assert [value.value for value in body.data.attributes["alpha"].data] == [1, 1, 0.5, 1]
    assert [face.loop_total for face in body.data.polygons] == [3, 4]


def test_every_colour_comes_back():
    created = with_nodes("plain")
    surface = next(node for node in created.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    for value in range(256):
        colour = (value, 255 - value, (7 * value) % 256)
        surface.inputs["Base Color"].default_value = (*srgb.to_linear(np.array(colour) / 255), 1)
        assert gather_material(created).colour == colour


@BOTH
def test_a_posed_bone_takes_its_part_along_and_the_file_stays(wreck, bones):
    imported_model, _ = imported(wreck, bones=bones)
    wing = next(
        part for part in imported_model.parts if part.motionbridge_descent_part.game_name.lower() == "right wing01"
    )
    before = evaluated_points(wing)
    if bones:
        imported_model.rig.pose.bones[wing.parent_bone].rotation_quaternion = Quaternion((0, 1, 0), 0.5)
        after = evaluated_points(wing)
        assert np.abs(after - before).max() > 0.1
        pivot = np.array(wing.matrix_world.translation)
        np.testing.assert_allclose(
            np.linalg.norm(after - pivot, axis=1), np.linalg.norm(before - pivot, axis=1), atol=1e-5
        )
        assert planned(imported_model.holder)[0].data == wreck.read_bytes()
    else:
        wing.rotation_quaternion = Quaternion((0, 1, 0), 0.5)
        wing.keyframe_insert("rotation_quaternion", frame=1)
        wing.location.x += 2
        wing.keyframe_insert("location", frame=1)
        result = chunks(planned(imported_model.holder)[0].data)
        assert [identifier for identifier, _ in result[-3:]] == [b"RANI", b"PANI", b"PINF"]
        kept = [row for row in result if row[0] not in (b"RANI", b"PANI")]
        assert kept == chunks(wreck.read_bytes())


# Edits ---------------------------------------------------------------------------------------------------------------


def changed_chunks(before, after):
    olds, news = chunks(before), chunks(after)
    assert [identifier for identifier, _ in olds] == [identifier for identifier, _ in news]
    return [number for number, (old, new) in enumerate(zip(olds, news, strict=True)) if old != new]


@BOTH
def test_one_moved_vertex_changes_its_own_part_alone(wreck, bones):
    imported_model, _ = imported(wreck, bones=bones)
    number = next(n for n, part in enumerate(imported_model.parts) if "right wing" in part.name.lower())
    obj = imported_model.parts[number]
    obj.data.vertices[3].co.z += 0.01
    plan, _ = planned(imported_model.holder)
    before = wreck.read_bytes()
    changed = changed_chunks(before, plan.data)
    kinds = [chunks(before)[position][0] for position in changed]
    assert kinds in ([b"SOBJ"], [b"OHDR", b"SOBJ"])
    old, new = parts(before)[number], parts(plan.data)[number]
    assert (old.name, old.parent, old.offset, old.properties) == (new.name, new.parent, new.offset, new.properties)
    moved = np.flatnonzero((old.positions != new.positions).any(axis=1))
    assert moved.tolist() == [3]
    np.testing.assert_allclose(new.positions[3], old.positions[3] + [0, 0.01, 0], atol=1e-6)
    around = set()
    for (normal, look, corners, sizes), (now, same, again, wide) in zip(old.faces, new.faces, strict=True):
        assert (look, corners) == (same, again)
        if 3 in {vertex for vertex, _, _ in corners}:
            around |= {vertex for vertex, _, _ in corners}
        else:
            assert (normal.tolist(), sizes) == (now.tolist(), wide)
    turned = np.flatnonzero((old.normals.view(np.uint32) != new.normals.view(np.uint32)).any(axis=1))
    assert set(turned.tolist()) <= around
    assert set(turned.tolist())
    assert old.alphas.tolist() == new.alphas.tolist()
    assert plan.sentence().startswith(f"{obj.name}: 1 position")


def test_a_moved_part_changes_its_offset_alone(pyro):
    imported_model, _ = imported(pyro)
    imported_model.parts[3].location.y += 0.5
    plan, _ = planned(imported_model.holder)
    old, new = parts(pyro.read_bytes()), parts(plan.data)
    assert [a.offset != b.offset for a, b in zip(old, new, strict=True)].count(True) == 1
    np.testing.assert_allclose(np.subtract(new[3].offset, old[3].offset), [0, 0, 0.5], atol=1e-6)
    assert old[3].positions.tobytes() == new[3].positions.tobytes()


def test_a_turned_part_has_turned_vertices_and_turned_children(wreck):
    imported_model, _ = imported(wreck)
    own_part = next(
        part for part in imported_model.parts if any(child in imported_model.parts for child in part.children)
    )
    own_part.rotation_quaternion = Quaternion((0, 0, 1), 0.7)
    world = {entry.name: evaluated_points(entry) for entry in [own_part, *own_part.children] if entry.type == "MESH"}
    plan, _ = planned(imported_model.holder)
    files = parts(plan.data)
    for part in files:
        if part.name not in world:
            continue
        position, above = np.array(part.offset), part
        while above.parent >= 0:
            above = files[above.parent]
            position = position + above.offset
        np.testing.assert_allclose((part.positions + position)[:, [0, 2, 1]], world[part.name], atol=2e-5)


def test_a_turned_gun_changes_its_direction_alone(pyro):
    imported_model, _ = imported(pyro)
    gun = next(point for point in imported_model.points if point.motionbridge_descent_point.kind == "GUN")
    gun.rotation_quaternion = Quaternion((1, 0, 0), 0)
    plan, _ = planned(imported_model.holder)
    assert plan.sentence() == "gun points changed"
    old, new = points(pyro.read_bytes(), b"GPNT"), points(plan.data, b"GPNT")
    assert new[0][2].tolist() == [0, 1, 0]
    assert (new[0][0], new[0][1].tolist()) == (old[0][0], old[0][1].tolist())
    assert [row[2].tolist() for row in new[1:]] == [row[2].tolist() for row in old[1:]]


@pytest.mark.parametrize("by_script", [False, True])
def test_a_deleted_gun_leaves_its_batteries_and_the_others_keep_their_indices(pyro, by_script):
    imported_model, _ = imported(pyro)
    before = batteries(pyro.read_bytes())
    assert any(0 in guns for guns, _ in before)
    if by_script:
        # Then it is gone from the battery too; the operator leaves it there.
        bpy.data.objects.remove(imported_model.points[0])
    else:
        bpy.ops.object.select_all(action="DESELECT")
        imported_model.points[0].select_set(True)
        bpy.ops.object.delete()
    plan, report = planned(imported_model.holder)
    assert "is no longer in the model" in warnings(report)
    expected = [([gun - 1 for gun in guns if gun], turrets) for guns, turrets in before]
    assert batteries(plan.data) == expected
    assert len(points(plan.data, b"GPNT")) == len(points(pyro.read_bytes(), b"GPNT")) - 1


@pytest.mark.parametrize("bones", [False, True])
def test_points_that_were_not_imported_stay_in_the_file(pyro, bones):
    imported_model, _ = imported(pyro, points=False, bones=bones)
    assert not imported_model.points
    plan, report = planned(imported_model.holder)
    assert (plan.data, warnings(report)) == (pyro.read_bytes(), "")


def test_points_that_were_not_imported_go_with_their_part(pyro):
    imported_model, _ = imported(pyro, points=False)
    old = points(pyro.read_bytes(), b"GPNT")
    part = imported_model.parts[old[0][0]]
    assert part.parent == imported_model.holder
    part.rotation_mode, part.rotation_euler = "XYZ", (0, 0, np.pi / 2)
    new = points(planned(imported_model.holder)[0].data, b"GPNT")
    # A quarter turn about what is up in Blender: x of the file goes to z, z to -x.
    quarter = np.array([[0, 0, -1], [0, 1, 0], [1, 0, 0]])
    for (_, position, kind), (_, new_place, new_way) in zip(old, new, strict=True):
        np.testing.assert_allclose(new_place, quarter @ position, atol=1e-5)
        np.testing.assert_allclose(new_way, quarter @ kind / np.linalg.norm(kind), atol=1e-5)


def test_points_that_were_not_imported_leave_with_their_part():
    path = SAMPLES / "descent3" / "ship.oof"
    imported_model, _ = imported(path, points=False)
    assert batteries(path.read_bytes()) == [([0], []), ([1], [4])]
    bpy.data.objects.remove(next(part for part in imported_model.parts if part.name == "turret"))
    plan, report = planned(imported_model.holder)
    assert "points of 'turret', which is no longer in the model" in warnings(report)
    assert "a gun point of a battery is no longer in the model" in warnings(report)
    assert len(points(plan.data, b"GPNT")) == 1
    for kind in (b"GRND", b"ATCH"):
        assert len(points(path.read_bytes(), kind)) == len(points(plan.data, kind)) == 1
    assert batteries(plan.data) == [([0], []), ([], [])]


def test_a_point_is_added_beside_those_that_were_not_imported():
    path = SAMPLES / "descent3" / "ship.oof"
    imported_model, _ = imported(path, points=False)
    added = editing.new_point(bpy.context, imported_model.parts[0], "GUN", Vector((0, 5, 0)))
    editing.set_members(imported_model.holder.motionbridge_descent_model.batteries[0], [added], imported_model.holder)
    data = planned(imported_model.holder)[0].data
    assert len(points(data, b"GPNT")) == 3
    assert batteries(data) == [([2], []), ([1], [4])]


def new_point(kind, parent, location):
    empty = bpy.data.objects.new(f"new {kind}", None)
    bpy.context.scene.collection.objects.link(empty)
    empty.parent, empty.location = parent, location
    empty.motionbridge_descent_point.kind = kind
    return empty


@pytest.mark.parametrize(("kind", "below_model"), [("SPECIAL", True), ("GUN", False), ("ATTACH", False)])
def test_special_points_are_added_below_the_model_and_others_below_their_part(small, kind, below_model):
    imported_model, _ = imported(small)
    added = editing.new_point(bpy.context, imported_model.parts[1], kind, Vector((0, 5, 0)))
    assert added.parent == (imported_model.holder if below_model else imported_model.parts[1])
    np.testing.assert_allclose(added.matrix_world.translation, (0, 5, 0), atol=1e-6)


def test_a_new_point_below_no_part_belongs_to_the_first(small):
    imported_model, _ = imported(small)
    new_point("GUN", imported_model.holder, (5, 6, 7))
    data = planned(imported_model.holder)[0].data
    parent, position, _ = points(data, b"GPNT")[-1]
    assert parent == 0
    np.testing.assert_allclose(position + parts(data)[0].offset, [5, 7, 6], atol=1e-6)


def test_a_special_point_below_a_part_is_in_the_frame_of_the_model(small):
    imported_model, _ = imported(small, animation=False, rotors=False)
    turned = imported_model.parts[1]
    turned.location, turned.rotation_quaternion = (1, 2, 3), Quaternion((0, 0, 1), 0.5)
    empty = new_point("SPECIAL", turned, (5, 6, 7))
    body = dict(chunks(planned(imported_model.holder)[0].data))[b"SPCL"]
    bpy.context.view_layer.update()
    expected = imported_model.holder.matrix_world.inverted() @ empty.matrix_world.translation
    np.testing.assert_allclose(np.frombuffer(body[-16:-4], "<f4")[[0, 2, 1]], expected, atol=1e-5)


def test_a_part_on_a_bone_of_an_armature_that_a_script_just_made(small):
    imported_model, _ = imported(small, bones=True)
    rig = bpy.data.objects.new("rig", imported_model.rig.data)
    bpy.context.scene.collection.objects.link(rig)
    assert rig.pose is None, "there is a pose only after Blender has updated the scene"
    part = square("hull", parent=rig)
    part.parent_type, part.parent_bone = "BONE", rig.data.bones[0].name
    data = planned(Chosen(None, [part]))[0].data
    assert [part.name for part in parts(data)] == ["hull"]


def test_a_holder_without_its_model_is_refused(pyro):
    imported_model, _ = imported(pyro)
    for part in imported_model.parts:
        part.parent = None
    with pytest.raises(WriteError, match=f"nothing of the model is below '{imported_model.holder.name}'"):
        planned(imported_model.holder)


def test_parts_are_renamed_doubled_and_deleted(wreck):
    imported_model, _ = imported(wreck)
    old = parts(wreck.read_bytes())
    leaf = next(part for part in reversed(imported_model.parts) if not part.children)
    number = imported_model.parts.index(leaf)
    double = leaf.copy()
    double.data = leaf.data.copy()
    bpy.context.scene.collection.objects.link(double)
    double.location.x += 1
    plan, _ = planned(imported_model.holder)
    new = parts(plan.data)
    assert len(new) == len(old) + 1
    assert new[-1].parent == old[number].parent
    assert new[-1].name == old[number].name
    assert new[-1].positions.tolist() == old[number].positions.tolist()
    assert new[number].faces[0][0].tolist() == old[number].faces[0][0].tolist()
    bpy.data.objects.remove(double)
    leaf.name = "other"
    assert parts(planned(imported_model.holder)[0].data)[number].name == "other"
    bpy.data.objects.remove(leaf)
    plan, _ = planned(imported_model.holder)
    assert len(parts(plan.data)) == len(old) - 1
    assert f"{old[number].name}: taken out" in plan.sentence()


def test_a_name_that_ends_like_blenders_numbers_is_the_files_own(small):
    data = small.read_bytes().replace(b"rotor\0", b"r.001\0")
    small.write_bytes(data)
    imported(small)
    imported_model, _ = imported(small)
    assert imported_model.parts[1].name == "r.002"
    assert planned(imported_model.holder)[0].data == data
    imported_model.parts[1].name = "r.777"
    assert planned(imported_model.holder)[0].data == data
    imported_model.parts[1].name = "blade.001"
    assert parts(planned(imported_model.holder)[0].data)[1].name == "blade"


def test_points_of_a_turned_part_go_with_it(pyro):
    imported_model, _ = imported(pyro)
    hull = imported_model.parts[0]
    hull.rotation_quaternion, hull.location = Quaternion((0, 0, 1), 0.7), (1, 2, 3)
    bpy.context.view_layer.update()
    guns = [point for point in imported_model.points if point.motionbridge_descent_point.kind == "GUN"]
    data = planned(imported_model.holder)[0].data
    pivot = np.array(parts(data)[0].offset)
    for gun, (parent, position, direction) in zip(guns, points(data, b"GPNT"), strict=True):
        assert parent == 0
        np.testing.assert_allclose((position + pivot)[[0, 2, 1]], gun.matrix_world.translation, atol=1e-5)
        np.testing.assert_allclose(direction[[0, 2, 1]], gun.matrix_world.col[2][:3], atol=1e-5)


def test_another_material_is_another_texture(pyro):
    imported_model, _ = imported(pyro, textures=False)
    obj = imported_model.parts[1]
    fresh = bpy.data.materials.new("paint")
    fresh.motionbridge_material.texture = "newskin"
    obj.data.materials.append(fresh)
    face = obj.data.polygons[0]
    face.material_index = len(obj.data.materials) - 1
    plan, _ = planned(imported_model.holder)
    table = textures(pyro.read_bytes())
    assert textures(plan.data) == [*table, "newskin"]
    assert parts(plan.data)[1].faces[0][1] == len(table)
    old, new = (parts(data)[1].faces[1:] for data in (pyro.read_bytes(), plan.data))
    assert [face[1] for face in old] == [face[1] for face in new]


def test_a_property_string_is_kept_verbatim_until_it_is_edited(small):
    imported_model, _ = imported(small)
    rotor = imported_model.parts[1].motionbridge_descent_part
    assert (rotor.text, rotor.kind, rotor.seconds) == ("$rotate=2.", "ROTATE", 2)
    rotor.seconds = 3
    assert rotor.text == "$rotate=3"
    assert parts(planned(imported_model.holder)[0].data)[1].properties == "$rotate=3"
    rotor.kind = "GLOW"
    rotor.colour = (0.35, 0, 1)
    rotor.size = 2
    assert rotor.text == "$glow=0.35,0,1,2"
    rotor.kind = "TURRET"
    rotor.degrees, rotor.seconds, rotor.reaction = 180, 1.5, 0.25
    assert rotor.text == "$fov=180,1.5,0.25"
    rotor.kind, rotor.monitor = "MONITOR", 7
    assert rotor.text == "$monitor07"
    rotor.text = "whatever"
    assert rotor.kind == "OTHER"
    rotor.kind = "NONE"
    assert rotor.text == ""


def test_modifiers_are_applied_where_that_is_asked_for():
    obj = square()
    obj.modifiers.new("Mirror", "MIRROR")
    plan, report = planned(Chosen(None, [obj]), modifiers=False)
    assert "modifiers are not applied (Mirror)" in warnings(report)
    assert len(parts(plan.data)[0].faces) == 1
    before = snapshot()
    plan, _ = planned(Chosen(None, [obj]), modifiers=True)
    assert differences(before, snapshot()) == []
    assert len(parts(plan.data)[0].faces) == 2


# From nothing --------------------------------------------------------------------------------------------------------


def test_meshes_made_in_blender_become_a_file_the_engine_takes(tmp_path):
    hull = square("hull", location=(1, 2, 3))
    wing = drawn("wing", [*SQUARE, (0.5, 2, 0)], [(0, 1, 2, 4, 3)], parent=hull, location=(0, 0, 1))
    wing.scale = (-1, 2, 1)
    plan, _ = planned(Chosen(None, [hull, wing]))
    assert plan.data[:8] == b"PSPO" + (2300).to_bytes(4, "little")
    assert [identifier for identifier, _ in chunks(plan.data)] == [b"TXTR", b"OHDR", b"SOBJ", b"SOBJ", b"SPCL", b"WBAT"]
    first, second = parts(plan.data)
    assert (first.name, first.parent, first.offset) == ("hull", -1, (1, 3, 2))
    assert (second.name, second.parent, second.offset) == ("wing", 0, (0, 1, 0))
    assert second.positions[4].tolist() == [-0.5, 0, 4]
    assert second.positions.tolist()[1] == [-1, 0, 0]
    normal, look, corners, sizes = second.faces[0]
    assert look == (128, 128, 128)
    # Mirrored twice, by its scale and by the axes, its corners are in their order.
    assert [row[0] for row in corners] == [0, 1, 2, 4, 3]
    # A mirrored object still shows its outside: up, which is y in the file.
    np.testing.assert_allclose(normal, [0, 1, 0], atol=1e-6)
    assert sizes == pytest.approx((1, 4)) or sizes == pytest.approx((4, 1))
    np.testing.assert_allclose(second.normals, [[0, 1, 0]] * 5, atol=1e-6)
    assert second.radius == pytest.approx(np.linalg.norm([0.5, 4]))
    path = tmp_path / "made.oof"
    path.write_bytes(plan.data)
    imported_model, _ = imported(path)
    bpy.context.view_layer.update()
    for part, before in zip(imported_model.parts, (hull, wing), strict=True):
        np.testing.assert_allclose(evaluated_points(part), evaluated_points(before), atol=1e-6)
    assert planned(imported_model.holder)[0].data == plan.data


def test_pictures_name_the_textures_of_materials_drawn_in_blender():
    obj = square()
    paint = with_nodes("paint")
    node = paint.node_tree.nodes.new("ShaderNodeTexImage")
    node.image = bpy.data.images.new("ignored", 4, 4)
    node.image.filepath = "//skins/Camouflage.tga"
    surface = next(node for node in paint.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    paint.node_tree.links.new(node.outputs["Color"], surface.inputs["Base Color"])
    obj.data.materials.append(paint)
    plan, _ = planned(Chosen(None, [obj]))
    assert textures(plan.data) == ["Camouflage"]
    assert parts(plan.data)[0].faces[0][1] == 0


@pytest.mark.parametrize("name", ["SampleHull", "Material"])
def test_that_a_material_without_an_image_becomes_its_colour_is_reported(name):
    obj = square()
    obj.data.materials.append(bpy.data.materials.new(name))
    plan, report = planned(Chosen(None, [obj]))
    assert textures(plan.data) == []
    message = f"1 of 1 face has the color of the material {name!r}, which has no image"
    assert f"{message}; if it is to be a texture, give the material an image of that name" in report.notes
    (problems,) = model_export.find_problems(bpy.context, Chosen(None, [obj]), Report())
    assert (problems.obj, problems.faces.tolist()) == (obj, [0])
    assert problems.problem.sentence == message


def test_colours_of_a_file_are_no_finding(small):
    imported_model, _ = imported(small)
    assert any("#" in slot.material.name for part in imported_model.parts for slot in part.material_slots)
    problems = model_export.find_problems(bpy.context, Chosen(imported_model.holder), Report())
    assert not any("no image" in entry.problem.sentence for entry in problems)


def test_sharp_edges_split_vertices_where_shown_normals_are_asked_for():
    corner = drawn("corner", [*SQUARE, (1, 0, 1), (1, 1, 1)], [(0, 1, 2, 3), (1, 4, 5, 2)])
    for face in corner.data.polygons:
        face.use_smooth = False
    smooth = parts(planned(Chosen(None, [corner]))[0].data)[0]
    assert len(smooth.positions) == 6
    sharp = parts(planned(Chosen(None, [corner]), shown_normals=True)[0].data)[0]
    assert len(sharp.positions) == 8
    for normal, _, corners, _ in sharp.faces:
        for vertex, _, _ in corners:
            np.testing.assert_allclose(sharp.normals[vertex], normal, atol=1e-3)


# What the game would not take ----------------------------------------------------------------------------------------


def test_too_many_parts_are_refused():
    created = [square(f"part {number}") for number in range(31)]
    with pytest.raises(WriteError, match="31 sub-objects, the game supports 30"):
        planned(Chosen(None, created))


def test_a_scene_without_meshes_is_refused():
    with pytest.raises(WriteError, match="there is no mesh to export"):
        planned(Chosen(None, []))


def test_too_many_textures_are_refused():
    obj = drawn(
        "grid", [(x, y, 0) for y in range(2) for x in range(36)], [(x, x + 1, x + 37, x + 36) for x in range(35)]
    )
    for number, face in enumerate(obj.data.polygons):
        material = bpy.data.materials.new(f"m{number}")
        material.motionbridge_material.texture = f"skin{number}"
        obj.data.materials.append(material)
        face.material_index = number
    with pytest.raises(WriteError, match="35 textures, the game supports 34"):
        planned(Chosen(None, [obj]))


@pytest.mark.parametrize(
    ("vertices", "text", "words"),
    [
        ([*SQUARE[:2], (0.2, 0.2, 0), (0, 1, 0)], "", "not convex"),
        ([*SQUARE[:2], (1, 1, 0.3), (0, 1, 0)], "", "not flat"),
        (SQUARE, "$facing", "has no texture"),
        (SQUARE, "$glow=1,1", "it needs 4 numbers"),
    ],
)
def test_what_the_game_shows_otherwise_is_reported(vertices, text, words):
    obj = drawn("odd", vertices, [(0, 1, 2, 3)])
    obj.motionbridge_descent_part.text = text
    _, report = planned(Chosen(None, [obj]))
    assert words in warnings(report)
    problems = model_export.find_problems(bpy.context, Chosen(None, [obj]), Report())
    assert any(words in entry.problem.sentence and entry.obj == obj for entry in problems)


def test_a_helper_without_faces_that_hides_its_branch_is_reported():
    helper = drawn("helper", [], [])
    square("wing", parent=helper)
    _, report = planned(Chosen(None, [helper, *helper.children]))
    assert "does not draw its children" in warnings(report)


def test_other_kinds_of_objects_are_left_out_and_reported():
    curve = bpy.data.objects.new("text", bpy.data.curves.new("text", "FONT"))
    bpy.context.scene.collection.objects.link(curve)
    _, report = planned(Chosen(None, [square(), curve]))
    assert "is not a mesh; left out" in warnings(report)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"PSPO" + (2117).to_bytes(4, "little") + annotated.chunk(b"HDR2", bytes(40)), "FreeSpace"),
        (b"PSPO" + (1700).to_bytes(4, "little"), "version 1700"),
        (b"nothing of it", "begins with PSPO"),
        (annotated.model()[:300], "bytes"),
        (annotated.model(without=(b"OHDR",)), "no header"),
    ],
)
def test_wrong_files_are_refused_before_anything_is_made(data, words, tmp_path):
    path = tmp_path / "wrong.oof"
    path.write_bytes(data)
    before = snapshot()
    with pytest.raises(ReadError, match=words):
        model.import_model(bpy.context, path, model.ModelImportOptions(), Report())
    assert differences(before, snapshot()) == []


def test_a_failed_export_leaves_the_old_file(pyro, tmp_path):
    imported_model, _ = imported(pyro)
    imported_model.parts[0].data.vertices[0].co.x = float("nan")
    target = tmp_path / "there.oof"
    target.write_bytes(b"old")
    with pytest.raises(WriteError, match="NaN or infinite position"):
        model_export.export_model(
            bpy.context, Chosen(imported_model.holder), target, model_export.ModelExportOptions(), Report()
        )
    assert target.read_bytes() == b"old"
