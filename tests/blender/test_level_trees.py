"""Trees of a level are one thing each for Blender's own tools: parts, light and impostor are written with them."""

import bpy
import numpy as np
import pytest

from addon.core.errors import WriteError
from addon.core.report import Report
from addon.formats.xray import level as levels
from addon.formats.xray.level import mesh as visual_mesh
from addon.formats.xray.level.document import Kind, VisualType
from addon.games.xray.levels import tree_sets
from tests.blender.scenes import reopen
from tests.blender.test_level_panel import panel_says
from tests.blender.test_level_saving import TREES_ALONE, copied, imported, planned

REAL = "olr_tss_cd70ecb"
"""A real level with two trees of two parts each, and an impostor for each tree."""


@pytest.fixture
def real(corpus, tmp_path):
    return copied(corpus / "level" / REAL, tmp_path / "real")


@pytest.fixture
def yard(samples, tmp_path):
    return copied(samples / "level", tmp_path / "yard")


def document_of(folder):
    return levels.read((folder / "level").read_bytes(), "level", Report())


def select_only(*objects):
    for obj in bpy.context.view_layer.objects:
        obj.select_set(obj in objects)
    bpy.context.view_layer.objects.active = objects[0]


def show_impostors():
    (layer,) = (own for own in bpy.context.view_layer.layer_collection.children[0].children if "Impostors" in own.name)
    layer.exclude = False
    bpy.context.view_layer.update()


def transforms(document, visuals):
    return visual_mesh.tree_matrices(document, np.array(visuals)).astype(np.float64)


def corners(document):
    """Positions (impostors, 8, 4, 3) in Blender's axes."""
    return document.visuals.fixed[Kind.LOD]["corners"]["position"][..., [0, 2, 1]].astype(np.float64)


def different_bytes(first, second):
    assert len(first) == len(second)
    return np.flatnonzero(np.frombuffer(first, np.uint8) != np.frombuffer(second, np.uint8))


def test_a_real_level_has_an_object_for_each_tree_and_a_set_for_each_kind(real):
    model = imported(real)
    first, second = model["TREE"]
    base = document_of(real)
    of_visual = visual_mesh.impostor_of(base)
    assert (
        sorted([*tree_sets.visuals_of(first), *tree_sets.visuals_of(second)]) == np.flatnonzero(of_visual >= 0).tolist()
    )
    for tree, impostor in zip(model["TREE"], model["LOD"], strict=True):
        visuals = tree_sets.visuals_of(tree)
        assert set(of_visual[visuals]) == {impostor.motionbridge_level.row}
        assert impostor.parent == tree
        parts = tree_sets.parts_of(tree.instance_collection)
        assert sorted(parts) == [0, 1]
        assert not {part.name for part in parts.values()} & {obj.name for obj in bpy.context.scene.objects}
    plan, _, report = planned()
    assert (plan.sentence(), plan.data) == ("nothing changed", (real / "level").read_bytes())
    assert report.lines() == []


@pytest.mark.parametrize("scale", [1.0, 2.5])
def test_a_tree_is_moved_and_scaled_with_all_its_parts_and_its_impostor(scale, real):
    model = imported(real)
    show_impostors()
    tree, other = model["TREE"]
    base = document_of(real)
    visuals, left = tree_sets.visuals_of(tree), tree_sets.visuals_of(other)
    tree.location.x += 5
    tree.scale *= scale
    bpy.context.view_layer.update()
    plan, document, report = planned()
    assert plan.sentence() == "1 tree changed"
    assert list(report.warnings)[-1] == TREES_ALONE
    assert (len(report.warnings) == 2) == (scale != 1)
    wanted = np.array(tree.matrix_world, np.float64)
    assert np.allclose(transforms(document, visuals), wanted, atol=1e-4)
    assert np.array_equal(transforms(document, left), transforms(base, left))
    move = wanted @ np.linalg.inv(transforms(base, visuals[:1])[0])
    before, after = corners(base), corners(document)
    assert np.allclose(after[0], before[0] @ move[:3, :3].T + move[:3, 3], atol=2e-3)
    assert np.array_equal(after[1:], before[1:])
    # What Blender shows of the impostor is where the file has it.
    impostor = model["LOD"][0]
    seen = np.array([impostor.matrix_world @ vertex.co for vertex in impostor.data.vertices])
    assert np.allclose(seen.reshape(8, 4, 3)[:, [0, 3, 2, 1]], after[0], atol=2e-3)
    # Light and shape of each part stay.
    for name in ("scale", "bias"):
        assert np.array_equal(document.visuals.fixed[Kind.TREE][name], base.visuals.fixed[Kind.TREE][name])
    assert len(plan.data) == len((real / "level").read_bytes())


@pytest.mark.parametrize("linked", [True, False])
@pytest.mark.parametrize("with_impostor", [True, False])
def test_a_duplicate_has_all_parts_with_their_light_and_an_impostor(linked, with_impostor, real):
    model = imported(real)
    show_impostors()
    tree, impostor = model["TREE"][0], model["LOD"][0]
    base = document_of(real)
    visuals = tree_sets.visuals_of(tree)
    select_only(tree, *([impostor] if with_impostor else []))
    assert bpy.ops.object.duplicate(linked=linked) == {"FINISHED"}
    (new,) = (obj for obj in bpy.context.selected_objects if obj.motionbridge_level.kind == "TREE")
    assert new != tree
    new.location.y += 7
    plan, document, report = planned()
    assert plan.sentence() == "1 tree added"
    (sentence,) = report.warnings
    assert sentence.startswith("1 tree is added below a new root")
    count = len(base.visuals)
    added = [count, count + 1]
    assert document.visuals.types[count:].tolist() == [
        *base.visuals.types[visuals].tolist(),
        VisualType.LOD,
        VisualType.HIERARCHY,
    ]
    shift = np.array((0, 7, 0))
    assert np.allclose(transforms(document, added)[:, :3, 3], transforms(base, visuals)[:, :3, 3] + shift, atol=1e-4)
    rows = document.visuals.rows_of(Kind.TREE)
    stored = document.visuals.fixed[Kind.TREE]
    for name in ("scale", "bias"):
        assert np.array_equal(stored[name][rows[added]], stored[name][rows[visuals]])
    lists = document.visuals.rows_of(Kind.CHILDREN)
    assert document.visuals.children[lists[count + 2]].tolist() == added
    source = int(visual_mesh.impostor_of(base)[visuals[0]])
    sector = int(visual_mesh.sectors(base)[source])
    assert document.visuals.children[lists[count + 3]].tolist() == [base.sectors[sector].root, count + 2]
    assert document.sectors[sector].root == count + 3
    assert visual_mesh.impostor_of(document)[added].tolist() == [count + 2] * 2
    assert np.allclose(corners(document)[-1], corners(base)[0] + shift, atol=1e-4)
    assert np.array_equal(corners(document)[:-1], corners(base))
    (real / "level").write_bytes(plan.data)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    again = imported(real)
    assert (len(again["TREE"]), len(again["LOD"])) == (3, 3)
    assert planned()[0].data == plan.data


def test_a_deleted_tree_is_hidden_with_all_parts_and_its_impostor(real):
    model = imported(real)
    tree = model["TREE"][0]
    visuals = tree_sets.visuals_of(tree)
    select_only(tree)
    assert bpy.ops.object.delete() == {"FINISHED"}
    plan, document, report = planned()
    assert plan.sentence() == "1 tree deleted"
    assert list(report.warnings) == [TREES_ALONE]
    assert np.allclose(np.linalg.norm(transforms(document, visuals)[:, :3, :3], axis=1), 1e-5, rtol=1e-3)
    size = np.ptp(corners(document), axis=(1, 2)).max(axis=1)
    assert size[0] < 1e-3 < size[1]


def test_a_part_that_is_deleted_from_a_set_is_hidden_at_each_place(yard):
    model = imported(yard)
    (part,) = model["TREE"][0].instance_collection.objects
    bpy.data.objects.remove(part)
    plan, document, report = planned()
    assert plan.sentence() == "2 parts of trees changed"
    assert np.allclose(np.linalg.norm(transforms(document, [2, 3])[:, :3, :3], axis=1), 1e-5, rtol=1e-3)
    assert list(report.warnings) == [TREES_ALONE]


def test_apply_scale_is_reported_with_the_trees_that_it_shrank(yard):
    near, far = imported(yard)["TREE"]
    select_only(near, far)
    assert bpy.ops.object.transform_apply(location=False, rotation=False, scale=True) == {"FINISHED"}
    plan, document, report = planned()
    assert plan.sentence() == "1 tree changed"
    resized = f"1 tree has another size than in the file, which Apply Scale changes, too: {far.name!r}"
    assert list(report.warnings) == [resized, TREES_ALONE]
    assert np.allclose(transforms(document, [3])[0][:3, :3], np.eye(3), atol=1e-6)


def test_make_instances_real_is_refused_by_name(yard):
    near, far = imported(yard)["TREE"]
    select_only(near)
    assert bpy.ops.object.duplicates_make_real() == {"FINISHED"}
    with pytest.raises(WriteError, match=f"the tree '{near.name}' does not show its parts any more"):
        planned()
    bpy.data.objects.remove(near)
    with pytest.raises(WriteError, match=r"parts of trees are objects of their own: 'bush\.001'"):
        planned()
    for obj in [obj for obj in bpy.context.scene.objects if obj.motionbridge_level.kind == "TREE_PART"]:
        bpy.data.objects.remove(obj)
    assert planned()[0].sentence() == "1 tree deleted"
    far.instance_collection = bpy.data.collections.new("other")
    with pytest.raises(WriteError, match=f"the tree '{far.name}' does not show its parts any more"):
        planned()


def test_what_is_added_to_a_set_is_reported_by_name(yard):
    tree = imported(yard)["TREE"][0]
    (part,) = tree.instance_collection.objects
    for obj in (part.copy(), bpy.data.objects.new("Crate", bpy.data.meshes.new("Crate"))):
        tree.instance_collection.objects.link(obj)
    plan, _, report = planned()
    assert plan.data == (yard / "level").read_bytes()
    assert list(report.warnings) == ["meshes cannot be added to a level; not written: 'bush.001', 'Crate'"]


def test_a_part_that_is_moved_in_its_set_moves_its_vertices_at_each_place(yard):
    (part,) = imported(yard)["TREE"][0].instance_collection.objects
    part.location.z = 1
    plan, document, _ = planned()
    count = len(part.data.vertices)
    assert [part.line() for part in plan.changes.parts] == [f"bush: {count} vertices"]
    box = document.visuals.fixed[Kind.HEADER]["box"][document.visuals.rows_of(Kind.HEADER)[[2, 3]]]
    assert np.allclose(box[:, :, 1], [[0.999, 2.001], [1.499, 3.001]], atol=1e-4)


def test_trees_are_the_same_after_undo_saving_and_appending(real, tmp_path):
    bpy.context.preferences.edit.use_global_undo = True
    imported(real)
    before = (real / "level").read_bytes()
    names = sorted(obj.name for obj in bpy.data.objects if obj.motionbridge_level.kind == "TREE")
    bpy.ops.ed.undo_push(message="imported")
    bpy.data.objects[names[0]].location.x += 3
    bpy.ops.ed.undo_push(message="moved")
    assert planned()[0].sentence() == "1 tree changed"
    bpy.ops.ed.undo()
    assert planned()[0].data == before
    bpy.ops.ed.redo()
    moved = planned()[0].data
    assert len(different_bytes(before, moved)) > 0
    reopen(tmp_path)
    assert planned()[0].data == moved
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.wm.append(directory=f"{tmp_path}/scene.blend/Collection/", filename="real")
    assert planned()[0].data == moved


def test_edit_tree_shows_the_parts_says_how_many_trees_change_and_goes_back(yard):
    far = imported(yard)["TREE"][1]
    before = (yard / "level.geom").read_bytes()
    select_only(far)
    assert bpy.ops.motionbridge.tree_edit() == {"FINISHED"}
    report = bpy.context.window_manager.motionbridge_report
    assert report.startswith(f"Editing the parts of {far.name}: 2 trees change")
    (part,) = bpy.context.selected_objects
    assert part == bpy.context.active_object
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.transform.translate(value=(0, 0, 1))
    # Saved while it is being edited.
    assert bpy.ops.motionbridge.level_save_back(backup=False) == {"FINISHED"}
    saved = (yard / "level.geom").read_bytes()
    assert saved != before
    assert bpy.ops.motionbridge.tree_edit_end() == {"FINISHED"}
    assert (bpy.context.active_object, bpy.context.selected_objects) == (far, [far])
    assert part.name not in bpy.context.scene.objects
    assert not bpy.ops.motionbridge.tree_edit_end.poll()
    assert bpy.ops.motionbridge.level_save_back() == {"CANCELLED"}
    assert (yard / "level.geom").read_bytes() == saved


def test_only_the_tree_that_is_edited_offers_to_finish_that(yard):
    near, far = imported(yard)["TREE"]
    far.motionbridge_level.parts = far.instance_collection = near.instance_collection.copy()
    select_only(far)
    assert bpy.ops.motionbridge.tree_edit() == {"FINISHED"}
    (part,) = bpy.context.selected_objects
    for active, offered in ((near, "tree_edit"), (far, "tree_edit_end"), (part, "tree_edit_end")):
        lines = panel_says(active)
        assert [line for line in lines if line.startswith("motionbridge.tree_edit")] == [f"motionbridge.{offered}"]
    select_only(near)
    assert bpy.ops.motionbridge.tree_edit() == {"FINISHED"}
    assert tree_sets.edited_sets(bpy.context.scene) == [near.instance_collection]


def test_the_panel_of_a_tree_has_the_textures_of_its_parts(real):
    tree = imported(real)["TREE"][0]
    materials = [part.data.materials[0] for part in tree_sets.parts_of(tree.instance_collection).values()]
    lines = panel_says(tree)
    assert [line for line in lines if line in {material.name for material in materials}] == [
        material.name for material in dict.fromkeys(materials)
    ]
    assert "motionbridge.tree_edit" in lines
    materials[0].motionbridge_material.texture = "trees\\oak"
    assert planned()[0].sentence() == "1 shader string changed"
