"""The list of LODs: a click shows one of them; add, copy, remove, move; what the file then has."""

from types import SimpleNamespace

import bpy
import pytest

from addon.core.report import Report
from addon.formats.arma import p3d
from addon.games.arma import lod_list
from addon.games.arma.options import LOD_WORDS
from addon.ui.arma import lods as ui
from addon.ui.arma import models
from tests.blender.test_p3d_export import cube, exported
from tests.blender.test_ui import last_report, refusal

ALL = {"FIRST", "VISUAL", "VIEWS", "SHADOW", "GEOMETRY", "MEMORY", "OTHER"}


@pytest.fixture
def man(samples):
    bpy.ops.import_scene.arma_p3d(filepath=str(samples / "arma" / "man.p3d"), levels=ALL)


@pytest.fixture
def crate():
    """A new model: Resolution 1 with a proxy."""
    result = cube("crate")
    assert bpy.ops.motionbridge.arma_set_lod(kind="RESOLUTION", number=1) == {"FINISHED"}
    assert bpy.ops.motionbridge.arma_mark_add(kind="PROXY", label="tag\\gun.001") == {"FINISHED"}
    return result


def names():
    return [lod.name for lod in lod_list.lods_of(bpy.context)]


def click(name):
    bpy.context.scene.motionbridge_arma_lod = names().index(name)


def visible():
    return [lod.name for lod in lod_list.lods_of(bpy.context) if not lod.is_hidden()]


def lods_in(path):
    return {lod.name: lod for lod in p3d.read(path, "", Report()).lods}


def test_an_import_shows_its_first_lod_alone_and_a_click_another(man):
    assert names() == ["Resolution 1", "Memory"]
    assert visible() == ["Resolution 1"]
    click("Memory")
    assert visible() == ["Memory"]
    seen = [obj for obj in bpy.context.scene.objects if not obj.hide_get()]
    assert {obj.motionbridge_arma_mark.kind for obj in seen} == {"POINT"}, "the proxy is hidden with its LOD"
    assert bpy.context.scene.motionbridge_arma_lod == names().index("Memory")
    assert bpy.ops.motionbridge.arma_lod_show_all() == {"FINISHED"}
    assert visible() == names()


def test_without_solo_a_click_hides_nothing_and_the_eye_hides_one(man):
    bpy.context.scene.motionbridge_arma_lods.solo = False
    click("Memory")
    assert visible() == names()
    assert bpy.ops.motionbridge.arma_lod_hide(index=0) == {"FINISHED"}
    assert visible() == ["Memory"]
    assert bpy.ops.motionbridge.arma_lod_hide(index=0) == {"FINISHED"}
    assert visible() == names()


def test_the_list_stays_in_the_sidebar_while_the_eye_hides_the_active_lod(man):
    assert bpy.ops.motionbridge.arma_lod_hide(index=0) == {"FINISHED"}
    assert (names(), visible()) == (["Resolution 1", "Memory"], [])
    assert models.MOTIONBRIDGE_PT_arma_model.poll(bpy.context)
    assert bpy.ops.motionbridge.arma_lod_hide(index=0) == {"FINISHED"}
    assert visible() == ["Resolution 1"]


@pytest.mark.parametrize("rig", ["NONE", "NEW"])
def test_other_lods_of_the_file_are_imported_later(samples, tmp_path, rig):
    source = samples / "arma" / "man.p3d"
    bpy.ops.import_scene.arma_p3d(filepath=str(source), rig=rig)
    assert last_report()[0] == "Imported 1 of 2 LODs of man.p3d"
    bpy.data.texts.new("names").write("Spine;torso\nLeftFoot;RightFoot\nRightFoot;LeftFoot\n")
    assert bpy.ops.motionbridge.arma_rename_selections(table="names") == {"FINISHED"}
    before = exported(tmp_path)
    assert "Import Other LODs" in refusal(bpy.ops.motionbridge.arma_lod_add, kind="MEMORY")
    bpy.ops.object.mode_set(mode="EDIT")
    assert bpy.ops.motionbridge.arma_lods_import() == {"FINISHED"}
    assert last_report()[0] == "Imported 1 of 2 LODs of man.p3d"
    assert (names(), visible()) == (["Resolution 1", "Memory"], ["Resolution 1"])
    points = {obj.motionbridge_arma_mark.game_name: obj for obj in lod_list.lods_of(bpy.context)[1].parts}
    assert {"torso", "LeftFoot", "RightFoot"} < set(points)
    assert points["torso"].parent_bone == ("Spine" if rig == "NEW" else "")
    assert exported(tmp_path) == before
    assert not bpy.ops.motionbridge.arma_lods_import.poll()
    bpy.data.objects.remove(points["torso"])
    assert exported(tmp_path) != before


def test_a_damaged_list_of_imported_lods_is_refused(samples):
    bpy.ops.import_scene.arma_p3d(filepath=str(samples / "arma" / "man.p3d"), rig="NONE")
    lod_list.lods_of(bpy.context)[0].obj.motionbridge_arma_level.model.motionbridge_arma_model.imported = "0 x"
    objects = set(bpy.data.objects)
    for operator in (bpy.ops.motionbridge.arma_lods_import, bpy.ops.motionbridge.arma_new_lods):
        assert "the stored file data is damaged. Import the file again" in refusal(operator)
    assert set(bpy.data.objects) == objects


def test_numbers_of_lods_that_were_not_imported_are_taken(crate, tmp_path):
    bpy.context.view_layer.objects.active = crate
    assert bpy.ops.motionbridge.arma_lod_copy(kinds={"RESOLUTION", "GEOMETRY"}) == {"FINISHED"}
    exported(tmp_path)
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    assert bpy.ops.import_scene.arma_p3d(filepath=str(tmp_path / "out.p3d")) == {"FINISHED"}
    assert bpy.ops.motionbridge.arma_lod_add(kind="RESOLUTION") == {"FINISHED"}
    assert names() == ["Resolution 1", "Resolution 3"]
    assert bpy.ops.motionbridge.arma_set_lod(kind="GEOMETRY") == {"FINISHED"}
    assert "that of the file, which is not imported" in refusal(
        bpy.ops.export_scene.arma_p3d, filepath=str(tmp_path / "again.p3d")
    )


def test_add_named_property_adds_what_the_lod_lacks(crate):
    bpy.context.view_layer.objects.active = crate
    assert bpy.ops.motionbridge.arma_set_lod(kind="GEOMETRY") == {"FINISHED"}
    for _ in range(3):
        assert bpy.ops.motionbridge.arma_property_add() == {"FINISHED"}
    added = [row.name for row in crate.motionbridge_arma_level.properties]
    assert added[0] == "autocenter"
    assert len(set(added)) == 3


def test_edit_mode_goes_on_with_the_lod_that_is_clicked(crate):
    bpy.context.view_layer.objects.active = crate
    assert bpy.ops.motionbridge.arma_lod_copy(kinds={"GEOMETRY"}) == {"FINISHED"}
    bpy.ops.object.mode_set(mode="EDIT")
    click("Resolution 1")
    assert (bpy.context.view_layer.objects.active, crate.mode) == (crate, "EDIT")
    assert visible() == ["Resolution 1"]


def test_hidden_lods_are_exported_with_their_modifiers(crate, tmp_path):
    crate.modifiers.new("more", "SUBSURF").levels = 1
    bpy.context.view_layer.objects.active = crate
    assert bpy.ops.motionbridge.arma_lod_add(kind="GEOMETRY") == {"FINISHED"}
    assert crate.hide_get()
    file = lods_in(exported(tmp_path))
    assert list(file) == ["Resolution 1", "Geometry"]
    assert len(file["Resolution 1"].faces) == 24 + 1, "and the triangle of the proxy"
    assert len(file["Geometry"].faces) == 0


def test_one_mesh_is_copied_into_several_lods_with_its_proxies(crate, tmp_path):
    bpy.context.view_layer.objects.active = crate
    assert bpy.ops.motionbridge.arma_lod_copy(kinds={"RESOLUTION", "GEOMETRY", "SHADOW_VOLUME"}) == {"FINISHED"}
    assert last_report() == ["Copied to LODs: Resolution 2, Shadow Volume 0, Geometry"]
    assert visible() == ["Resolution 2"]
    file = lods_in(exported(tmp_path))
    assert list(file) == ["Resolution 1", "Resolution 2", "Shadow Volume 0", "Geometry"]
    first, *copies = file.values()
    for copy in copies:
        assert (len(copy.points), len(copy.faces)) == (len(first.points), len(first.faces))
        assert [proxy.name for proxy in p3d.proxies(copy)] == ["tag\\gun.001"]
        assert [proxy.transform.tolist() for proxy in p3d.proxies(copy)] == [
            proxy.transform.tolist() for proxy in p3d.proxies(first)
        ]
    assert "has the LOD Geometry already" in refusal(bpy.ops.motionbridge.arma_lod_copy, kinds={"GEOMETRY"})
    assert len(lods_in(exported(tmp_path))) == 4, "nothing is left of a refused copy"


def test_a_lod_is_removed_with_its_proxies_and_the_next_one_is_shown(crate):
    bpy.context.view_layer.objects.active = crate
    assert bpy.ops.motionbridge.arma_lod_copy(kinds={"RESOLUTION"}) == {"FINISHED"}
    click("Resolution 1")
    before = len(bpy.context.scene.objects)
    assert bpy.ops.motionbridge.arma_lod_remove() == {"FINISHED"}
    assert last_report() == ["Removed the LOD Resolution 1"]
    assert len(bpy.context.scene.objects) == before - 2
    assert (names(), visible()) == (["Resolution 2"], ["Resolution 2"])
    assert bpy.ops.motionbridge.arma_lod_remove() == {"FINISHED"}
    assert not bpy.ops.motionbridge.arma_lod_remove.poll()


def test_move_exchanges_numbers_within_one_kind(crate):
    bpy.context.view_layer.objects.active = crate
    assert bpy.ops.motionbridge.arma_lod_copy(kinds={"RESOLUTION", "GEOMETRY"}) == {"FINISHED"}
    moved = bpy.context.view_layer.objects.active
    assert bpy.ops.motionbridge.arma_lod_move(direction="UP") == {"FINISHED"}
    assert last_report() == ["Resolution 2 is now Resolution 1"]
    assert (moved.motionbridge_arma_level.resolution, crate.motionbridge_arma_level.resolution) == (1, 2)
    click("Geometry")
    assert bpy.ops.motionbridge.arma_lod_move(direction="UP") == {"CANCELLED"}


@pytest.mark.parametrize("kind", LOD_WORDS)
def test_every_kind_can_be_added(crate, kind, tmp_path):
    bpy.context.view_layer.objects.active = crate
    assert bpy.ops.motionbridge.arma_lod_add(kind=kind) == {"FINISHED"}
    (added,) = [name for name in lods_in(exported(tmp_path)) if name != "Resolution 1"]
    assert added.startswith(LOD_WORDS[kind])


def test_the_list_of_a_file_shows_its_lods_and_hides_surplus_rows(man):
    """Of eight objects only two rows are drawn, whatever the other objects are called."""
    drawn = SimpleNamespace(filter_name="", bitflag_filter_item=1, bitflag_item_never_show=2)
    with ui._remembered(bpy.context):
        flags, order = ui.MOTIONBRIDGE_UL_arma_lods.filter_items(drawn, bpy.context, bpy.data, "objects")
        drawn.filter_name = "mem"
        searched, _ = ui.MOTIONBRIDGE_UL_arma_lods.filter_items(drawn, bpy.context, bpy.data, "objects")
    assert (flags[:2], set(flags[2:]), order) == ([1, 1], {2}, [])
    assert searched[:2] == [0, 1]
    assert len(flags) == len(bpy.data.objects)
