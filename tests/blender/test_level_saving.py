"""What of a compiled level is written without its compiler, into the imported bytes, and what is said of the rest."""

import shutil
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix

from addon.core.errors import WriteError
from addon.core.report import Report
from addon.formats.xray import level as levels
from addon.formats.xray.level import mesh as visual_mesh
from addon.formats.xray.level.document import Kind, VisualType
from addon.games.xray.levels import folder as level_folder
from addon.games.xray.levels import geometry
from addon.games.xray.levels.file import listed_objects
from addon.games.xray.options import LevelExportOptions, LevelFolderOptions
from addon.ui.xray import levels as level_panels
from tests.blender.scenes import add_object, reopen
from tests.blender.test_level_panel import Dialog
from tests.blender.test_save_back import dialog_of, drawn

FILES = ("level", "level.geom", "level.geomx")

TREES_ALONE = "trees were moved or deleted; collision and baked light stay as they are"


def imported(folder, **options):
    created = level_folder.import_folder(
        bpy.context, folder, LevelFolderOptions(textures=False, **options), Report(), lambda _done: None
    )
    bpy.context.view_layer.update()
    return {entry.kind: [*entry.held, *entry.objects] for entry in created}


def holder():
    (result,) = {obj.motionbridge_level.level_file for obj in bpy.context.scene.objects} - {None}
    return result


def planned():
    report = Report()
    plan = geometry.plan_export(bpy.context, holder(), holder().motionbridge_level.path, LevelExportOptions(), report)
    return plan, levels.read(plan.data, "level", Report()), report


def copy_of(actual):
    copy = actual.copy()
    actual.users_collection[0].objects.link(copy)
    return copy


def copied(source, target):
    target.mkdir(parents=True)
    for name in FILES:
        if (source / name).is_file():
            shutil.copy(source / name, target / name)
    return target


@pytest.fixture
def yard(samples, tmp_path):
    return copied(samples / "level", tmp_path / "yard")


def box_of(document, visual):
    return document.visuals.fixed[Kind.HEADER]["box"][document.visuals.rows_of(Kind.HEADER)[visual]]


# Nothing was edited ---------------------------------------------------------------------------------------------------


def test_what_was_not_imported_stays(yard):
    imported(yard, trees=False, lights=False, portals=False)
    plan, _, _ = planned()
    assert plan.data == (yard / "level").read_bytes()


def test_a_kind_of_which_nothing_is_left_stays(yard):
    model = imported(yard)
    for entry in (*model["TREE"], *model["LIGHT"], *model["PORTAL"]):
        bpy.data.objects.remove(entry)
    plan, _, report = planned()
    assert plan.data == (yard / "level").read_bytes()
    assert list(report.warnings) == [
        "no trees are in the scene: the imported ones are written",
        "no lights are in the scene: the imported ones are written",
        "no portals are in the scene: the imported ones are written",
    ]


def test_the_dialog_says_that_a_kind_that_was_deleted_comes_back(yard):
    model = imported(yard)
    for entry in model["TREE"]:
        bpy.data.objects.remove(entry)
    model["SURFACE"][1].data.materials[0].motionbridge_material.texture = "wall/concrete,lmap#1_1,lmap#1_2"
    bpy.context.view_layer.objects.active = model["SURFACE"][1]
    dialog = dialog_of(level_panels.MOTIONBRIDGE_OT_level_save_back)
    message = " ".join(own_entry for own_entry in drawn(dialog) if isinstance(own_entry, str))
    assert "no trees are in the scene: the imported ones are written" in message
    assert "1 shader string changed" in message


# Shader strings -------------------------------------------------------------------------------------------------------


def test_another_texture_in_a_material_replaces_the_string_of_all(yard):
    model = imported(yard)
    material = model["SURFACE"][1].data.materials[0]
    material.motionbridge_material.texture = "wall/concrete,lmap#1_1,lmap#1_2"
    plan, document, report = planned()
    assert document.shaders[2] == b"default/wall\\concrete,lmap#1_1,lmap#1_2"
    assert plan.sentence() == "1 shader string changed"
    (part,) = plan.changes.parts
    assert part.lines() == ["default/wall\\bricks,lmap#1_1,lmap#1_2: now default/wall\\concrete,lmap#1_1,lmap#1_2"]
    assert not report.lines()
    base = levels.read((yard / "level").read_bytes(), "level", Report())
    document.shaders[2] = base.shaders[2]
    assert levels.write(document) == (yard / "level").read_bytes()


def test_another_picture_on_a_material_is_reported_and_the_string_stays(yard):
    model = imported(yard)
    material = model["SURFACE"][1].data.materials[0]
    node = material.node_tree.nodes.new("ShaderNodeTexImage")
    node.image = bpy.data.images.new("concrete", 4, 4)
    plan, _, report = planned()
    assert plan.data == (yard / "level").read_bytes()
    (message,) = report.warnings
    assert message.startswith("the material shows 'concrete', but its texture is wall\\bricks,lmap#1_1,lmap#1_2; type")
    material.motionbridge_material.texture = "wall\\concrete,lmap#1_1,lmap#1_2"
    assert not planned()[2].warnings


def test_another_material_on_one_object_gives_its_visual_another_string(corpus, tmp_path):
    surfaces = imported(copied(corpus / "level" / "olr_tss_cd70ecb", tmp_path / "tss"))["SURFACE"]
    shared = [obj for obj in surfaces if obj.data.materials[0] == surfaces[0].data.materials[0]]
    assert len(shared) > 1
    material = surfaces[0].data.materials[0].copy()
    material.motionbridge_material.texture = f"mine,{material.motionbridge_material.texture.partition(',')[2]}"
    shared[1].data.materials[0] = material
    plan, document, _ = planned()
    numbers = document.visuals.shaders[[obj.motionbridge_level.row for obj in shared]]
    assert b"/mine," in document.shaders[-1]
    assert np.flatnonzero(numbers == len(document.shaders) - 1).tolist() == [1]
    assert plan.sentence() == "shader strings of 1 visual changed"


def test_a_material_without_names_is_reported_and_the_string_stays(yard):
    model = imported(yard)
    model["SURFACE"][0].data.materials[0] = bpy.data.materials.new("mine")
    plan, _, report = planned()
    assert plan.data == (yard / "level").read_bytes()
    (message,) = report.warnings
    assert message.startswith("1 visual has a material without shader and texture of the game")
    assert "'earth 00000'" in message


def test_another_number_of_textures_is_warned_of(yard):
    model = imported(yard)
    model["SURFACE"][0].data.materials[0].motionbridge_material.texture = "ground\\earth"
    _, document, report = planned()
    assert document.shaders[1] == b"default/ground\\earth"
    assert any(warning.startswith("another number of textures") for warning in report.warnings)


def test_a_face_of_another_material_is_reported_by_name(yard):
    model = imported(yard)
    wall = model["SURFACE"][1].data
    other = wall.materials[0].copy()
    other.motionbridge_material.texture = "wall\\paint,lmap#1_1,lmap#1_2"
    wall.materials.append(other)
    wall.polygons[3].material_index = 1
    plan, _, report = planned()
    assert plan.data == (yard / "level").read_bytes()
    assert list(report.warnings) == [
        "1 object has faces of several materials; a visual has one, that of the first face: 'bricks 00001'"
    ]
    wall.polygons.foreach_set("material_index", np.ones(len(wall.polygons), np.int32))
    _, document, report = planned()
    assert document.shaders[2] == b"default/wall\\paint,lmap#1_1,lmap#1_2"
    assert not report.lines()


def test_the_shader_of_a_glow_is_written_and_that_of_its_copy(yard):
    model = imported(yard)
    glow = model["GLOW"][0]
    calls = glow.motionbridge_level
    assert (calls.shader, calls.texture) == ("effects\\glow", "glow\\lamp")
    calls.texture = "glow/moon"
    plan, document, report = planned()
    assert document.shaders[4] == b"effects\\glow/glow\\moon"
    assert plan.sentence() == "1 shader string changed"
    assert not report.lines()
    base = levels.read((yard / "level").read_bytes(), "level", Report())
    document.shaders[4] = base.shaders[4]
    assert levels.write(document) == (yard / "level").read_bytes()
    other = copy_of(glow)
    other.motionbridge_level.texture = "glow\\sun"
    plan, document, _ = planned()
    assert [document.shaders[number] for number in document.glows["shader"]] == [
        b"effects\\glow/glow\\moon",
        b"effects\\glow/glow\\sun",
    ]
    assert plan.sentence() == "shader strings of 2 glows changed, 1 glow added"
    # A .blend file of a version that knew nothing of it, and a panel that was cleared.
    calls.shader = calls.texture = ""
    bpy.data.objects.remove(other)
    plan, _, _ = planned()
    assert plan.data == (yard / "level").read_bytes()


# Trees ----------------------------------------------------------------------------------------------------------------


def test_a_moved_tree_is_moved_with_all_boxes_above_it(yard):
    model = imported(yard)
    base = levels.read((yard / "level").read_bytes(), "level", Report())
    near = model["TREE"][0]
    near.location = (20, 3.5, 1)
    near.rotation_euler = (0, 0, np.pi / 2)
    near.scale = (2, 2, 2)
    plan, document, report = planned()
    matrix = np.array(Matrix.LocRotScale((20, 3.5, 1), Euler((0, 0, np.pi / 2)), (2, 2, 2)))
    (now,) = visual_mesh.tree_matrices(document, np.array([2]))
    assert np.allclose(now, matrix, atol=1e-6)
    assert plan.sentence() == "1 tree changed"
    resized = "1 tree has another size than in the file, which Apply Scale changes, too: 'bush 00002'"
    assert report.lines() == [resized, TREES_ALONE]
    # A bush is a metre wide and high, in the file's axes x, height, depth; boxes are a millimetre larger.
    wanted = np.array([(18.999, 0.999, 2.499), (21.001, 3.001, 4.501)])
    assert np.allclose(box_of(document, 2), wanted, atol=1e-5)
    up = visual_mesh.parents(document)
    above = int(up[2])
    while above >= 0:
        box = box_of(document, above)
        assert (box[0] <= wanted[0] + 1e-5).all()
        assert (box[1] >= wanted[1] - 1e-5).all()
        sphere = document.visuals.fixed[Kind.HEADER]["sphere"][document.visuals.rows_of(Kind.HEADER)[above]]
        assert np.linalg.norm(wanted - sphere[:3], axis=1).max() <= sphere[3] + 1e-4
        above = int(up[above])
    assert bytes(document.visuals.fixed[Kind.TREE][1]) == bytes(base.visuals.fixed[Kind.TREE][1])
    assert len(plan.data) == len((yard / "level").read_bytes())


def bounds(document, visual):
    """Box (2, 3), centre and radius of a visual as the file has them."""
    row = document.visuals.fixed[Kind.HEADER][document.visuals.rows_of(Kind.HEADER)[visual]]
    return row["box"].copy(), row["sphere"][:3].copy(), row["sphere"][3].copy()


def transform(document, visual):
    return document.visuals.fixed[Kind.TREE]["transform"][document.visuals.rows_of(Kind.TREE)[visual]]


def assert_moved_along(base, document, visual, move, source=None):
    """That a tree's own sphere moved by ``move`` (4, 4) in Blender's world, and nothing else changed its size."""
    box, centre, radius = bounds(base, visual if source is None else source)
    new_box, new_centre, new_radius = bounds(document, visual)
    swap = [0, 2, 1]
    wanted = move[:3, :3] @ centre[swap].astype(np.float64) + move[:3, 3]
    np.testing.assert_allclose(new_centre[swap], wanted, atol=1e-4)
    stretch = np.linalg.norm(move[:3, :3], ord=2)
    assert new_radius == pytest.approx(radius * stretch, rel=1e-5)
    if np.array_equal(move[:3, :3], np.eye(3)):
        assert new_radius == radius
        np.testing.assert_allclose(new_box[1] - new_box[0], box[1] - box[0], atol=1e-4)
        old, new = transform(base, visual if source is None else source), transform(document, visual)
        assert new[:3].tobytes() == old[:3].tobytes()


@pytest.mark.parametrize("copied_tree", [False, True])
@pytest.mark.parametrize("name", ["yard", "olr_tss_cd70ecb"])
def test_a_tree_that_is_moved_keeps_its_own_sphere_and_the_bits_of_its_rotation(name, copied_tree, request, tmp_path):
    if name == "yard":
        folder = request.getfixturevalue("yard")
    else:
        folder = copied(request.getfixturevalue("corpus") / "level" / name, tmp_path / "real")
    model = imported(folder)
    base = levels.read((folder / "level").read_bytes(), "level", Report())
    tree = model["TREE"][-1]
    row = tree.motionbridge_level.row
    edited = copy_of(tree) if copied_tree else tree
    edited.location.x += 3
    _, document, _ = planned()
    visual = len(base.visuals) if copied_tree else row
    move = np.eye(4)
    move[0, 3] = 3
    assert_moved_along(base, document, visual, move, row)
    # Rotated about its own position, the position's bits stay; scaled, the sphere grows as much.
    edited.location.x -= 3
    edited.rotation_mode = "XYZ"
    edited.rotation_euler.z += 0.5
    edited.scale *= 2
    bpy.context.view_layer.update()
    _, document, _ = planned()
    stored = np.array(visual_mesh.tree_matrices(base, np.array([row]))[0], np.float64)
    move = np.array(edited.matrix_world, np.float64) @ np.linalg.inv(stored)
    assert_moved_along(base, document, visual, move, row)
    assert transform(document, visual)[3, :3].tobytes() == transform(base, row)[3, :3].tobytes()


def test_a_deleted_tree_is_hidden_by_its_scale(yard):
    model = imported(yard)
    bpy.data.objects.remove(model["TREE"][1])
    plan, document, report = planned()
    (now,) = visual_mesh.tree_matrices(document, np.array([3]))
    assert np.allclose(np.linalg.norm(now[:3, :3], axis=0), 1e-5)
    assert np.allclose(now[:3, 3], (-3.5, 3.5, 0))
    assert len(document.visuals) == len(levels.read((yard / "level").read_bytes(), "level", Report()).visuals)
    assert plan.sentence() == "1 tree deleted"
    (note,) = report.notes
    assert note == "1 deleted tree is hidden by its scale: a level's visuals cannot be removed"
    (yard / "level").write_bytes(plan.data)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    imported(yard)
    again, _, _ = planned()
    assert again.data == plan.data


def test_a_copied_tree_is_a_new_visual_below_a_new_root(yard):
    model = imported(yard)
    copy_of(model["TREE"][0]).location = (0, 30, 0)
    plan, document, report = planned()
    base = levels.read((yard / "level").read_bytes(), "level", Report())
    count = len(base.visuals)
    assert document.visuals.ids.tolist() == list(range(count + 2))
    types = document.visuals.types
    assert types[count] == types[2]
    assert types[count + 1] == VisualType.HIERARCHY
    sector = int(visual_mesh.sectors(base)[2])
    assert document.sectors[sector].root == count + 1
    lists = document.visuals.rows_of(Kind.CHILDREN)
    assert document.visuals.children[lists[count + 1]].tolist() == [base.sectors[sector].root, count]
    assert np.allclose(visual_mesh.tree_matrices(document, np.array([count]))[0][:3, 3], (0, 30, 0))
    containers = document.visuals.fixed[Kind.CONTAINER]
    rows = document.visuals.rows_of(Kind.CONTAINER)
    assert containers[rows[count]] == containers[rows[2]]
    root, old = box_of(document, count + 1), box_of(base, base.sectors[sector].root)
    assert np.allclose(root[0], old[0])
    assert root[1][2] == pytest.approx(30.501, abs=0.01)
    assert plan.sentence() == "1 tree added"
    assert any("no one has tried in a game" in warning for warning in report.warnings)
    assert list(visual_mesh.sectors(document)[[2, count]]) == [sector, sector]
    (yard / "level").write_bytes(plan.data)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    assert len(imported(yard)["TREE"]) == 3


def test_a_copied_scene_is_no_copy_of_trees(yard):
    imported(yard)
    bpy.ops.scene.new(type="FULL_COPY")
    assert len(bpy.data.scenes) == 2
    plan, _, report = planned()
    assert plan.data == (yard / "level").read_bytes()
    assert not report.lines()
    near = min(
        (obj for obj in bpy.context.scene.objects if obj.motionbridge_level.kind == "TREE"),
        key=lambda entry: entry.name,
    )
    near.location.x += 1
    plan, _, _ = planned()
    assert plan.sentence() == "1 tree changed"


@pytest.mark.parametrize("height", [0, 3])
def test_trees_below_an_empty_stay_where_they_are_while_their_collection_is_excluded(height, yard, tmp_path):
    model = imported(yard)
    above = add_object("above")
    above.location.z = height
    for entry in (*model["TREE"], *model["PORTAL"]):
        entry.parent = above
    for below in bpy.context.view_layer.layer_collection.children[0].children:
        below.exclude = True
    reopen(tmp_path)
    plan, document, _ = planned()
    base = levels.read((yard / "level").read_bytes(), "level", Report())
    before, after = (own_entry.visuals.fixed[Kind.TREE]["transform"][:, 3, 1] for own_entry in (base, document))
    assert np.allclose(after, before + height)
    assert np.allclose(document.portals["vertices"][0, :4, 1], base.portals["vertices"][0, :4, 1] + height)
    assert height or plan.data == (yard / "level").read_bytes()


def test_a_sheared_tree_keeps_its_shear_when_it_is_moved(yard):
    data = bytearray((yard / "level").read_bytes())
    stored = levels.read(bytes(data), "level", Report()).visuals.fixed[Kind.TREE]["transform"][0]
    at = data.index(stored.tobytes())
    sheared = stored.copy()
    sheared[0, 1] = 0.5
    data[at : at + 64] = sheared.tobytes()
    (yard / "level").write_bytes(data)
    model = imported(yard)
    plan, _, _ = planned()
    assert plan.data == bytes(data)
    model["TREE"][0].location.x += 2
    _, document, _ = planned()
    sheared[3, 0] += 2
    assert np.allclose(document.visuals.fixed[Kind.TREE]["transform"][0], sheared, atol=1e-5)


def test_the_impostor_follows_a_tree_that_is_moved(corpus, tmp_path):
    folder = copied(corpus / "level" / "olr_tss_cd70ecb", tmp_path / "tss")
    model = imported(folder)
    base = levels.read((folder / "level").read_bytes(), "level", Report())
    up, types = visual_mesh.parents(base), base.visuals.types
    below = [own_entry for own_entry in model["TREE"] if types[up[own_entry.motionbridge_level.row]] == VisualType.LOD]
    parent = int(up[below[0].motionbridge_level.row])
    (moved,) = [own_entry for own_entry in below if up[own_entry.motionbridge_level.row] == parent]
    moved.location.x += 3
    plan, document, report = planned()
    assert plan.sentence() == "1 tree changed"
    row = base.visuals.rows_of(Kind.LOD)[parent]
    before, after = (own_entry.visuals.fixed[Kind.LOD]["corners"]["position"] for own_entry in (base, document))
    assert np.allclose(after[row] - before[row], (3, 0, 0), atol=1e-4)
    others = np.arange(len(before)) != row
    assert np.array_equal(after[others], before[others])
    assert report.lines() == [TREES_ALONE]
    part = moved.instance_collection.objects[0]
    bpy.data.objects.remove(part)
    _, document, report = planned()
    assert any(warning.startswith("1 impostor does not follow") for warning in report.warnings)


# Impostors ------------------------------------------------------------------------------------------------------------


def lods(document):
    return document.visuals.fixed[Kind.LOD]["corners"].copy()


def test_corners_of_an_impostor_are_written_in_place(corpus, tmp_path):
    folder = copied(corpus / "level" / "olr_tss_cd70ecb", tmp_path / "tss")
    first, second = (obj.data for obj in imported(folder)["LOD"])
    base = levels.read((folder / "level").read_bytes(), "level", Report())
    first.vertices[1].co.z += 2
    second.uv_layers["UVMap"].uv[2].vector = (0.25, 0.75)
    first.attributes["hemi"].data[0].value = 0.2
    second.attributes["light"].data[29].color = (0.2, 0.4, 0.6, 0.8)
    plan, document, report = planned()
    assert plan.sentence() == "2 impostors changed"
    assert [part.fields for part in plan.changes.parts] == [("positions", "hemi"), ("uvs", "light")]
    assert not report.lines()
    was, now = lods(base), lods(document)
    # Corner 1 of a facet is the fourth of the file, corner 2 its third.
    assert now[0, 0, 3]["position"][1] == np.float32(was[0, 0, 3]["position"][1] + np.float32(2))
    assert np.allclose(now[1, 0, 2]["uv"], (0.25, 0.25))
    assert now[0, 0, 0]["bgrh"].tolist() == [*was[0, 0, 0]["bgrh"][:3].tolist(), 51]
    assert (now[1, 7, 3]["bgrh"][:3].tolist(), now[1, 7, 3]["sun"]) == ([153, 102, 51], 204)
    different = np.frombuffer(plan.data, np.uint8) != np.frombuffer((folder / "level").read_bytes(), np.uint8)
    assert different.sum() <= 4 + 8 + 1 + 4
    assert now["padding"].tobytes() == was["padding"].tobytes()


def test_impostors_that_were_separated_and_joined_again_keep_their_order(corpus, tmp_path):
    folder = copied(corpus / "level" / "olr_tss_cd70ecb", tmp_path / "tss")
    target, other = imported(folder)["LOD"]
    for obj in (target, other):
        bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = target
    for obj in bpy.context.scene.objects:
        obj.select_set(obj == target)
    bpy.context.scene.tool_settings.mesh_select_mode = (False, False, True)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")
    bpy.ops.object.mode_set(mode="OBJECT")
    target.data.polygons[0].select = target.data.polygons[5].select = True
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.separate(type="SELECTED")
    bpy.ops.object.mode_set(mode="OBJECT")
    assert len(target.data.polygons) == 6
    plan, _, report = planned()
    assert (plan.sentence(), plan.data) == ("nothing changed", (folder / "level").read_bytes())
    assert not report.warnings
    for obj in bpy.context.scene.objects:
        obj.select_set(obj.motionbridge_level.kind == "LOD")
    bpy.ops.object.join()
    plan, _, report = planned()
    assert (plan.sentence(), plan.data) == ("nothing changed", (folder / "level").read_bytes())
    assert not report.warnings
    assert len(target.data.polygons) == 16
    target.data.attributes["visual"].data[0].value += 1
    plan, _, report = planned()
    assert plan.data == (folder / "level").read_bytes()
    assert any("impostors have other vertices or faces" in warning for warning in report.warnings)


def test_an_impostor_that_is_edited_is_written_where_it_is_shown_when_its_tree_moves(corpus, tmp_path):
    folder = copied(corpus / "level" / "olr_tss_cd70ecb", tmp_path / "tss")
    model = imported(folder)
    base = levels.read((folder / "level").read_bytes(), "level", Report())
    for entry in model["TREE"]:
        entry.location.x += 3
    edited = model["LOD"][0]
    edited.data.vertices[0].co.z += 1
    _, document, _ = planned()
    was, now = lods(base)["position"], lods(document)["position"]
    wanted = np.tile(np.float32((3, 0, 0)), (8, 4, 1))
    wanted[0, 0] = (3, 1, 0)
    assert np.allclose(now[0] - was[0], wanted, atol=1e-4)
    assert np.allclose(now[1:] - was[1:], (3, 0, 0), atol=1e-4)
    # Without its parent it stays where it is, which is then an edit, too.
    edited.parent = None
    edited.matrix_basis = Matrix()
    _, document, _ = planned()
    assert np.array_equal(lods(document)["position"][0, ..., 0], was[0, ..., 0])


def test_impostors_get_the_shader_strings_of_their_materials(corpus, tmp_path):
    folder = copied(corpus / "level" / "olr_tss_cd70ecb", tmp_path / "tss")
    impostors, _ = imported(folder)["LOD"]
    other = impostors.data.materials[0].copy()
    other.motionbridge_material.texture = "mine_lods"
    impostors.data.materials.append(other)
    for polygon in impostors.data.polygons:
        polygon.material_index = len(impostors.data.materials) - 1
    plan, document, _ = planned()
    assert plan.sentence() == "shader strings of 1 visual changed"
    visuals, _ = document.visuals.owners(Kind.LOD)
    strings = [document.shaders[number] for number in document.visuals.shaders[visuals]]
    assert strings[0] == b"details\\lod/mine_lods"
    assert b"mine_lods" not in b"".join(strings[1:])


def test_impostors_that_cannot_be_written_are_reported_by_name(corpus, tmp_path):
    folder = copied(corpus / "level" / "olr_tss_cd70ecb", tmp_path / "tss")
    impostors, other = imported(folder)["LOD"]
    copy_of(other).location.x += 1
    impostors.data = impostors.data.copy()
    impostors.data.vertices.add(1)
    plan, _, report = planned()
    assert plan.data == (folder / "level").read_bytes()
    assert list(report.warnings) == [
        f"impostors cannot be added; not written: '{other.name}.001'",
        f"impostors have other vertices or faces than the file; not written: '{impostors.name}'",
    ]
    bpy.data.objects.remove(impostors)
    _, deleted = planned()[2].warnings
    assert deleted.startswith("impostors cannot be deleted; they stay in the file: 'level_lods")
    for obj in [target for target in bpy.data.objects if target.motionbridge_level.kind == "LOD"]:
        bpy.data.objects.remove(obj)
    plan, _, report = planned()
    assert plan.data == (folder / "level").read_bytes()
    assert list(report.warnings) == ["no impostors are in the scene: the imported ones are written"]


# Lights, glows, portals -----------------------------------------------------------------------------------------------


def test_lights_are_written_in_place_and_their_leftovers_stay(yard):
    model = imported(yard)
    sun, lamp = model["LIGHT"]
    base = levels.read((yard / "level").read_bytes(), "level", Report()).lights
    lamp.location = (1, 2, 3)
    lamp.data.color = (1, 0.5, 0.25)
    sun.rotation_euler = (0, 0, 0)
    plan, document, report = planned()
    now = document.lights
    assert np.allclose(now["position"][1], (1, 3, 2))
    assert np.allclose(now["diffuse"][1], [1.5, 0.75, 0.375, base["diffuse"][1][3]])
    length = np.linalg.norm(base["direction"][0])
    assert np.allclose(now["direction"][0], (0, -length, 0), atol=1e-6)
    assert now["specular"].tobytes() == base["specular"].tobytes()
    assert now["range"].tobytes() == base["range"].tobytes()
    assert plan.sentence() == "2 lights changed"
    lines = [line for part in plan.changes.parts for line in part.lines()]
    assert lines == ["yard sun: direction", "yard light 001: diffuse", "yard light 001: position"]
    assert not report.lines()
    lamp.data.energy *= 2
    lamp.motionbridge_level.light_range = 12
    _, document, _ = planned()
    assert np.allclose(document.lights["diffuse"][1][:3], (3, 1.5, 0.75))
    assert document.lights["range"][1] == 12


def test_lights_and_glows_are_copied_and_deleted_but_the_last_sun(yard):
    model = imported(yard)
    copy_of(model["LIGHT"][1]).location = (4, 0, 2)
    copy_of(model["GLOW"][0]).empty_display_size = 2
    plan, document, _ = planned()
    assert plan.sentence() == "1 light added, 1 glow added"
    assert np.allclose(document.lights["position"][2], (4, 2, 0))
    assert document.glows["radius"].tolist() == [0.5, 2]
    assert document.glows["shader"][1] == document.glows["shader"][0]
    bpy.data.objects.remove(model["LIGHT"][0])
    with pytest.raises(WriteError, match="no sun"):
        planned()


def test_a_glow_is_as_large_as_its_empty(yard):
    model = imported(yard)
    model["GLOW"][0].scale = (3, 3, 3)
    model["GLOW"][0].location.z = 4
    _, document, _ = planned()
    assert document.glows["radius"][0] == pytest.approx(1.5)
    assert np.allclose(document.glows["position"][0], (0, 4, 0))


def test_a_portal_is_moved_and_keeps_what_lies_behind_its_corners(yard):
    model = imported(yard)
    (portal,) = model["PORTAL"]
    base = levels.read((yard / "level").read_bytes(), "level", Report())
    portal.data.vertices[0].co.x -= 0.5
    plan, document, _ = planned()
    assert plan.sentence() == "1 portal changed"
    before, after = base.portals["vertices"][0], document.portals["vertices"][0]
    assert np.allclose(after[0] - before[0], (-0.5, 0, 0))
    assert after[1:].tobytes() == before[1:].tobytes()
    portal.data.vertices[1].co.y += 0.5
    with pytest.raises(WriteError, match="do not lie in a plane"):
        planned()


def test_portals_are_copied_deleted_and_renumbered_in_their_sectors(corpus, tmp_path):
    folder = copied(corpus / "level" / "nlc_l06_rostok", tmp_path / "rostok")
    model = imported(folder)
    base = levels.read((folder / "level").read_bytes(), "level", Report())
    bpy.data.objects.remove(model["PORTAL"][0])
    new = copy_of(model["PORTAL"][1])
    new.motionbridge_level.back_sector = int(base.portals["back"][2])
    plan, document, _ = planned()
    assert plan.sentence() == "1 portal added, 1 portal deleted"
    assert document.portals[:-1].tobytes() == base.portals[1:].tobytes()
    assert document.portals["vertices"][-1].tobytes() == base.portals["vertices"][1].tobytes()
    for number, sector in enumerate(document.sectors):
        touches = (document.portals["front"] == number) | (document.portals["back"] == number)
        assert sector.portals.tolist() == np.flatnonzero(touches).tolist()


# What cannot be written -----------------------------------------------------------------------------------------------


def test_a_portal_to_a_sector_that_the_level_lacks_is_refused(yard):
    (portal,) = imported(yard)["PORTAL"]
    portal.motionbridge_level.back_sector = 2
    with pytest.raises(WriteError, match="leads to sector 2, which the level does not have"):
        planned()
    portal.motionbridge_level.back_sector = 1
    assert planned()[0].data == (yard / "level").read_bytes()


def test_surfaces_that_are_moved_or_copied_are_reported_by_name(yard):
    model = imported(yard)
    (yard / "level.geom").unlink()
    model["SURFACE"][0].location.x = 1
    copy_of(model["SURFACE"][1])
    plan, _, report = planned()
    assert plan.data == (yard / "level").read_bytes()
    assert list(report.warnings) == [
        "level.geom is missing; copy it there to edit meshes: their vertices stay as they are in the file",
        "surfaces cannot be moved as objects; not written: 'earth 00000'",
        "surfaces cannot be added; not written: 'bricks 00001.001'",
    ]


def test_the_export_dialog_of_a_level_says_beforehand_what_stays_as_it_is(yard):
    model = imported(yard)
    bpy.context.view_layer.objects.active = model["SURFACE"][0]
    assert Dialog().says() == ""
    model["SURFACE"][0].location.x += 1
    assert Dialog().says() == "vertices were moved; collision, normals and baked light stay as they are"


def test_meshes_beside_those_of_a_level_and_modifiers_are_reported_by_name(yard):
    model = imported(yard)
    (inside,) = model["SURFACE"][0].users_collection
    for name, collection in (("Crate", inside), ("Far", bpy.context.scene.collection)):
        collection.objects.link(bpy.data.objects.new(name, bpy.data.meshes.new(name)))
    part = model["TREE"][1].instance_collection.objects[0]
    part.modifiers.new("Bend", "SIMPLE_DEFORM")
    plan, _, report = planned()
    assert plan.data == (yard / "level").read_bytes()
    assert list(report.warnings) == [
        f"modifiers and shape keys that are not applied are not written: '{part.name}'",
        "meshes cannot be added to a level; not written: 'Crate'",
    ]


def test_shape_keys_mirrored_trees_and_objects_of_another_scene_are_reported_by_name(yard):
    model = imported(yard)
    actual = model["SURFACE"][0]
    actual.shape_key_add(name="Basis")
    actual.shape_key_add(name="raised").value = 1.0
    near, far = model["TREE"]
    near.scale.x = -near.scale.x
    other = bpy.data.scenes.new("other")
    other.collection.objects.link(far)
    for collection in far.users_collection:
        if collection != other.collection:
            collection.objects.unlink(far)
    _, _, report = planned()
    assert "modifiers and shape keys that are not applied are not written: 'earth 00000'" in report.warnings
    words = "1 tree is mirrored by a negative scale, and the game would show its faces from behind: 'bush 00002'"
    assert words in report.warnings
    assert "objects that are only in another scene are written as they are there: 'bush 00003'" in report.warnings


def test_new_lights_and_instances_beside_those_of_a_level_are_reported_by_name(yard):
    model = imported(yard)
    (inside,) = model["LIGHT"][0].users_collection
    lamp = bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "POINT"))
    target = bpy.data.objects.new("Crates", None)
    target.instance_type, target.instance_collection = "COLLECTION", bpy.data.collections.new("crate")
    for obj in (lamp, target):
        inside.objects.link(obj)
    plan, _, report = planned()
    assert plan.data == (yard / "level").read_bytes()
    assert list(report.warnings) == [
        "new lights are written only if they are copies (Shift D) of the level's; not written: 'Lamp'",
        "instances are not written: 'Crates'",
    ]


def test_boxes_that_are_edited_are_reported_by_name(yard):
    (yard / "level.geom").unlink()
    model = imported(yard)
    assert not planned()[2].lines()
    model["TREE"][0].data.vertices[0].co.x += 1
    model["SURFACE"][0].location.x += 1
    plan, _, report = planned()
    assert plan.data == (yard / "level").read_bytes()
    message = listed_objects([model["SURFACE"][0], model["TREE"][0]])
    assert list(report.warnings) == [f"boxes only show where surfaces and trees are; not written: {message}"]


def test_a_lamp_of_another_type_is_reported_by_name(yard):
    model = imported(yard)
    model["LIGHT"][1].data.type = "SPOT"
    plan, _, report = planned()
    assert plan.data == (yard / "level").read_bytes()
    assert list(report.warnings) == ["lights cannot change their type; written as before: 'yard light 001'"]


def test_surfaces_that_were_deleted_are_reported_and_stay(yard):
    model = imported(yard)
    bpy.data.objects.remove(model["SURFACE"][0])
    plan, _, report = planned()
    assert plan.data == (yard / "level").read_bytes()
    assert list(report.warnings) == ["surfaces cannot be deleted; they stay in the file: 'earth 00000'"]


def test_a_new_file_is_refused(yard):
    imported(yard)
    with pytest.raises(WriteError, match="without its compiler"):
        geometry.plan_export(
            bpy.context, holder(), holder().motionbridge_level.path, LevelExportOptions(anew=True), Report()
        )


def test_a_kind_that_is_gone_takes_edits_back_that_were_saved(yard):
    model = imported(yard)
    before = (yard / "level").read_bytes()
    bpy.context.view_layer.objects.active = model["SURFACE"][0]
    model["TREE"][0].location.x += 1
    assert bpy.ops.motionbridge.level_save_back(backup=False) == {"FINISHED"}
    for entry in model["TREE"]:
        bpy.data.objects.remove(entry)
    plan, _, report = planned()
    assert plan.data == before
    words = "no trees are in the scene: the imported ones are written, without the edits that were saved since"
    assert list(report.warnings) == [words]


def test_save_back_writes_the_file_and_knows_it_afterwards(yard):
    model = imported(yard)
    bpy.context.view_layer.objects.active = model["TREE"][0]
    assert bpy.ops.motionbridge.level_save_back() == {"CANCELLED"}
    model["TREE"][0].location.x += 1
    assert bpy.ops.motionbridge.level_save_back(backup=False) == {"FINISHED"}
    document = levels.read((yard / "level").read_bytes(), "level", Report())
    assert np.allclose(visual_mesh.tree_matrices(document, np.array([2]))[0][:3, 3], (4.5, 3.5, 0))
    assert bpy.ops.motionbridge.level_save_back() == {"CANCELLED"}
    assert sorted(path.name for path in Path(yard).iterdir()) == sorted(FILES)


def test_export_writes_a_file_without_a_suffix(yard, tmp_path):
    model = imported(yard)
    bpy.context.view_layer.objects.active = model["SURFACE"][0]
    target = tmp_path / "new" / "level"
    target.parent.mkdir()
    assert bpy.ops.export_scene.xray_level_geometry(filepath=str(target)) == {"FINISHED"}
    assert target.read_bytes() == (yard / "level").read_bytes()
    with pytest.raises(RuntimeError, match="holds no file of a level"):
        bpy.ops.export_scene.xray_level_geometry(filepath=str(target.with_suffix(".cform")))


def test_what_has_lost_its_level_is_refused_with_the_remedy(yard, tmp_path):
    actual = imported(yard)["SURFACE"][0]
    bpy.data.objects.remove(holder())
    bpy.context.view_layer.objects.active = actual
    with pytest.raises(RuntimeError, match="what remembers the level file of 'earth 00000' is gone"):
        bpy.ops.export_scene.xray_level_geometry(filepath=str(tmp_path / "level"))
