"""Descent 3's operators called as a user calls them: files, archives, textures, collections, the panel's buttons."""

import shutil
import struct
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from addon.core import png
from addon.core.pausing import Work
from addon.core.report import Report
from addon.formats.descent3 import hog2
from addon.games.descent3 import model, model_export
from addon.games.descent3.hierarchy import Chosen
from addon.games.descent3.model_properties import holder_of
from addon.ui import files, scene_command
from addon.ui.arma.textures import IMPORT_SCENE_OT_arma_paa
from addon.ui.descent3 import models
from addon.ui.descent3.models import (
    IMPORT_SCENE_OT_descent3_oof,
    MOTIONBRIDGE_OT_descent_save_back,
    chosen_model,
)
from tests.blender.oof_scene import SQUARE, batteries, chunks, drawn, parts, points, square, textures
from tests.blender.test_save_back import NOTHING, dialog_of
from tests.blender.test_save_back import drawn as texts_of
from tests.blender.test_ui import installed
from tests.blender.test_ui_drawing import let_super_work
from tests.blender.test_written_motions import as_in_a_window
from tests.blender.test_written_motions import drawn as texts_in
from tests.formats.descent3.test_gam import page
from tests.formats.descent3.test_ogf_image import image, runs
from tests.real_files import SAMPLES
from tests.scene import differences, snapshot

SHIP = SAMPLES / "descent3" / "ship.oof"
ARCHIVE = SAMPLES / "descent3" / "ship.hog"


def last_report():
    return bpy.context.window_manager.motionbridge_report


def load(path=SHIP, **options):
    assert bpy.ops.import_scene.descent3_oof(filepath=str(path), **options) == {"FINISHED"}
    return bpy.context.view_layer.objects.active


def save(path, **options):
    assert bpy.ops.export_scene.descent3_oof(filepath=str(path), **options) == {"FINISHED"}
    return path.read_bytes()


def refused(operator, **options):
    with pytest.raises(RuntimeError) as caught:
        operator(**options)
    return str(caught.value)


def part_of(holder, name):
    return next(obj for obj in holder.children_recursive if obj.motionbridge_descent_part.game_name == name)


def pictures(holder):
    """Texture -> pixels (rows, columns, 4) of the picture it is shown with, top row first, 0 to 255."""
    result = {}
    for obj in holder.children_recursive:
        for slot in obj.material_slots:
            for node in slot.material.node_tree.nodes:
                if node.type == "TEX_IMAGE":
                    width, height = node.image.size
                    pixels = np.array(node.image.pixels[:]).reshape(height, width, 4)[::-1]
                    result[slot.material.motionbridge_material.texture] = np.rint(255 * pixels).astype(int)
    return result


# In and out ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shown_as", ["OBJECTS", "BONES"])
def test_a_model_goes_in_and_out(tmp_path, shown_as):
    holder = load(shown_as=shown_as)
    assert holder.type == ("EMPTY" if shown_as == "OBJECTS" else "ARMATURE")
    assert "Imported ship: 6 sub-objects, 1 of them animated, 5 points" in last_report()
    before = snapshot()
    assert save(tmp_path / "out.oof") == SHIP.read_bytes()
    assert differences(before, snapshot()) == []
    assert "nothing changed" in last_report()


def test_dropped_files_are_imported_together(tmp_path):
    for name in ("one.oof", "two.oof"):
        shutil.copy(SHIP, tmp_path / name)
    (tmp_path / "three.oof").write_bytes(b"nothing of it")
    names = [{"name": name} for name in ("one.oof", "two.oof", "three.oof")]
    assert bpy.ops.import_scene.descent3_oof(directory=str(tmp_path), files=names, new_collection=True) == {"FINISHED"}
    assert "Imported 2 models (one, two): " in last_report()
    assert "left out" in last_report()
    assert {"one", "two"} <= set(bpy.context.scene.collection.children.keys())


def first_folder(kind):
    """The folder in which the file browser of an import opens; None: Blender chooses."""
    opened = []
    browser = as_in_a_window(kind, paths=lambda _: [], invoked_by_user=lambda _, **__: None, at_once=False)
    window_manager = SimpleNamespace(fileselect_add=lambda operator: opened.append(operator.directory))
    context = SimpleNamespace(window_manager=window_manager, view_layer=bpy.context.view_layer, scene=bpy.context.scene)
    browser.invoke(context, None)
    return Path(opened[0]) if opened[0] else None


def test_file_browsers_open_in_the_folder_of_the_last_file_else_of_the_model(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_last_folders", {})
    kinds = (IMPORT_SCENE_OT_descent3_oof, models.IMPORT_SCENE_OT_descent3_ogf)
    assert [first_folder(kind) for kind in kinds] == [None, None]
    for name in ("imported", "exported"):
        (tmp_path / name).mkdir()
    shutil.copy(SHIP, tmp_path / "imported")
    load(tmp_path / "imported" / "ship.oof")
    assert [first_folder(kind) for kind in kinds] == [tmp_path / "imported"] * 2
    assert first_folder(IMPORT_SCENE_OT_arma_paa) is None, "that is another game"
    save(tmp_path / "exported" / "ship.oof")
    assert [first_folder(kind) for kind in kinds] == [tmp_path / "exported"] * 2
    files._last_folders.clear()
    assert [first_folder(kind) for kind in kinds] == [tmp_path / "imported"] * 2, "as after a restart, with the scene"
    shutil.rmtree(tmp_path / "imported")
    assert [first_folder(kind) for kind in kinds] == [None, None]


@pytest.mark.parametrize("name", ["ship.oof", "//ship.oof", ""])
def test_a_new_model_is_suggested_in_the_folder_of_the_last_file(name, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_last_folders", {"descent3": str(tmp_path)})
    square("hull").select_set(True)
    browser = as_in_a_window(
        models.EXPORT_SCENE_OT_descent3_oof, suggest=lambda *_: None, filepath=name, check_existing=False
    )
    monkeypatch.setattr(files.ExportHelper, "invoke", lambda *_: {"RUNNING_MODAL"})
    browser.invoke(bpy.context, None)
    assert browser.filepath == (str(tmp_path / name) if name == "ship.oof" else name)


def test_levels_of_detail_leave_from_collections(tmp_path):
    for name in ("near.oof", "far.oof"):
        shutil.copy(SHIP, tmp_path / name)
        load(tmp_path / name, new_collection=True)
    part_of(bpy.data.objects["far"], "hull").data.vertices[0].co.x += 1
    bpy.context.view_layer.objects.active = None
    for name in ("near", "far"):
        layer = bpy.context.view_layer.layer_collection.children[name]
        bpy.context.view_layer.active_layer_collection = layer
        bpy.ops.collection.exporter_add(name="IO_FH_motionbridge_descent3_oof")
        exporter = bpy.data.collections[name].exporters[0]
        exporter.export_properties.filepath = str(tmp_path / f"{name}_out.oof")
        if "filepath" in exporter.bl_rna.properties:
            exporter.filepath = str(tmp_path / f"{name}_out.oof")
    bpy.context.view_layer.objects.active = None
    assert bpy.ops.wm.collection_export_all() == {"FINISHED"}
    assert (tmp_path / "near_out.oof").read_bytes() == SHIP.read_bytes()
    assert (tmp_path / "far_out.oof").read_bytes() != SHIP.read_bytes()
    both = bpy.data.collections.new("both")
    bpy.context.scene.collection.children.link(both)
    for name in ("near", "far"):
        both.objects.link(bpy.data.objects[name])
    message = refused(bpy.ops.export_scene.descent3_oof, filepath=str(tmp_path / "no.oof"), collection="both")
    assert "holds 2" in message


def test_selected_meshes_are_a_model(tmp_path):
    hull, other = square("hull"), square("other")
    square("wing", parent=hull)
    bpy.context.view_layer.objects.active = hull
    hull.select_set(True)
    data = save(tmp_path / "made.oof")
    assert [part.name for part in parts(data)] == ["hull", "wing"]
    assert other.name not in [part.name for part in parts(data)]
    hull.select_set(False)
    message = refused(bpy.ops.export_scene.descent3_oof, filepath=str(tmp_path / "no.oof"))
    assert "Select the objects of one model" in message


def test_files_are_named_as_the_game_reads_them(tmp_path):
    load()
    assert "not .ogf" in refused(bpy.ops.export_scene.descent3_oof, filepath=str(tmp_path / "out.ogf"))
    assert "no file is named" in refused(bpy.ops.export_scene.descent3_oof)


def test_the_name_of_a_file_that_the_game_cannot_hold_is_reported_though_nothing_is_edited(tmp_path):
    load()
    assert save(tmp_path / f"{'x' * 30}.oof") == SHIP.read_bytes()
    assert "longer" not in last_report()
    assert save(tmp_path / f"{'x' * 31}.oof") == SHIP.read_bytes()
    assert "is longer than 30 characters; shorten the file's name" in last_report().lower()


def test_a_backup_is_kept(tmp_path):
    target = tmp_path / "there.oof"
    target.write_bytes(b"old")
    load()
    save(target, backup=True)
    assert (tmp_path / "there.oof.bak").read_bytes() == b"old"


def test_a_new_file_says_the_same_model(tmp_path):
    load()
    data = save(tmp_path / "new.oof", anew=True)
    for old, new in zip(parts(SHIP.read_bytes()), parts(data), strict=True):
        assert (old.name, old.parent, old.offset, old.properties) == (new.name, new.parent, new.offset, new.properties)
        np.testing.assert_allclose(old.positions, new.positions)
    assert len(points(data, b"GPNT")) == 2
    assert batteries(data) == batteries(SHIP.read_bytes())


@pytest.mark.parametrize("version", ["2300", "2200", "2100"])
def test_a_chosen_version_is_written_and_the_browser_says_before_what_that_loses(version, tmp_path):
    holder = load()
    hull = part_of(holder, "hull")
    hull.data.attributes["alpha"].data[2].value = 0.5
    same = save(tmp_path / "same.oof")
    browser = as_in_a_window(
        models.EXPORT_SCENE_OT_descent3_oof, filepath="a.oof", check_existing=False, version=version
    )
    browser.check(bpy.context)
    text = " ".join(texts_in(browser))
    data = save(tmp_path / "chosen.oof", version=version)
    assert struct.unpack_from("<i", same, 4) == (2300,)
    assert struct.unpack_from("<i", data, 4) == (int(version),)
    for old, new in zip(parts(same), parts(data), strict=True):
        assert (old.name, old.parent, old.offset, old.properties) == (new.name, new.parent, new.offset, new.properties)
        assert old.positions.tobytes() == new.positions.tobytes()
        assert [(look, rows, sizes) for _, look, rows, sizes in old.faces] == (
            [(look, rows, sizes) for _, look, rows, sizes in new.faces]
        )
        assert new.alphas.tolist() == (old.alphas.tolist() if version == "2300" else [])
    kept = {identifier for identifier, _ in chunks(same)} - {b"SOBJ"}
    kept -= {b"RANI", b"PANI"} if version == "2100" else set()
    assert {row for row in chunks(data) if row[0] != b"SOBJ"} == {row for row in chunks(same) if row[0] in kept}
    assert ("1 vertex loses its alpha" in text) == (version != "2300")
    assert ("its keys are left out" in text) == (version == "2100")
    assert (data == same) == (version == "2300")


def test_in_edit_mode_what_is_edited_counts_and_editing_goes_on(tmp_path):
    hull = part_of(load(), "hull")
    bpy.context.view_layer.objects.active = hull
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.transform.translate(value=(0, 0, 1))
    data = save(tmp_path / "edited.oof")
    assert hull.mode == "EDIT"
    np.testing.assert_allclose(parts(data)[0].positions[:, 1], parts(SHIP.read_bytes())[0].positions[:, 1] + 1)


def test_joints_being_edited_count_and_editing_goes_on(tmp_path):
    rig = load(shown_as="BONES")
    bpy.ops.object.mode_set(mode="EDIT")
    wing = rig.data.edit_bones["right wing"]
    wing.head.z += 0.5
    wing.tail.z += 0.5
    data = save(tmp_path / "edited.oof")
    assert rig.mode == "EDIT"
    old, new = parts(SHIP.read_bytes()), parts(data)
    # The game's y is up.
    assert np.subtract(new[1].offset, old[1].offset).round(5).tolist() == [0, 0.5, 0]
    assert [part.offset for part in new[2:]] == [part.offset for part in old[2:]]


# Archives ------------------------------------------------------------------------------------------------------------


def test_a_model_comes_right_out_of_an_archive_with_its_textures(tmp_path):
    archive = tmp_path / "ship.hog"
    shutil.copy(ARCHIVE, archive)
    holder = load(archive)
    assert holder.name == "ship"
    assert holder.motionbridge_descent_model.path == str(archive / "ship.oof")
    assert set(pictures(holder)) == {"SampleHull", "SamplePuff"}
    assert save(tmp_path / "ship.oof") == SHIP.read_bytes()


def in_an_archive(tmp_path):
    """An archive that others wrote, unsorted and with bytes of unknown meaning; the model of it in the scene."""
    archive = tmp_path / "mod.mn3"
    names = ("zzz.txt", "Ship.OOF", "a.wav")
    whole = hog2.new_hog2({name: SHIP.read_bytes() if name == "Ship.OOF" else name.encode() * 9 for name in names})
    archive.write_bytes(hog2.write(replace(whole, gap=b"gap", start=whole.start + 3, tail=b"tail")))
    load(archive)
    part = next(obj for obj in bpy.data.objects if obj.type == "MESH" and obj.motionbridge_descent_part.is_part)
    bpy.context.view_layer.objects.active = part
    return archive, part.data


def contents(archive):
    document = hog2.read(archive.read_bytes(), "", Report())
    return {name: bytes(content) for name, content in zip(document.names, document.contents, strict=True)}


def test_a_model_is_saved_back_into_its_archive_and_the_other_files_keep_their_bytes(tmp_path):
    archive, mesh = in_an_archive(tmp_path)
    before, old = archive.read_bytes(), contents(archive)
    dialog = dialog_of(MOTIONBRIDGE_OT_descent_save_back)
    assert NOTHING in texts_of(dialog)
    assert bpy.ops.motionbridge.descent_save_back() == {"CANCELLED"}
    assert archive.read_bytes() == before
    mesh.vertices[0].co[0] += 0.25
    dialog = dialog_of(MOTIONBRIDGE_OT_descent_save_back)
    texts = texts_of(dialog)
    assert texts[0] == str(archive / "Ship.OOF")
    assert "1 file of mod.mn3 changes: Ship.OOF; the others keep their bytes" in texts
    assert archive.read_bytes() == before
    assert dialog.execute(bpy.context) == {"FINISHED"}
    assert "mod.mn3: Ship.OOF: " in last_report()
    exported = save(tmp_path / "ship.oof")
    assert contents(archive) == {**old, "Ship.OOF": exported} != old
    assert (archive.read_bytes()[-4:], archive.with_name("mod.mn3.bak").read_bytes()) == (b"tail", before)
    assert bpy.ops.motionbridge.descent_save_back() == {"CANCELLED"}
    mesh.vertices[0].co[0] -= 0.25
    assert bpy.ops.motionbridge.descent_save_back() == {"FINISHED"}
    assert contents(archive) == old


def test_another_model_in_the_archive_is_asked_about_and_other_files_are_not(tmp_path):
    archive, mesh = in_an_archive(tmp_path)
    mesh.vertices[0].co[0] += 0.25
    whole = hog2.read(archive.read_bytes(), "", Report())
    archive.write_bytes(hog2.write(hog2.with_files(whole, {"zzz.txt": b"new", "more.txt": b"more"})))
    assert bpy.ops.motionbridge.descent_save_back() == {"FINISHED"}
    saved = contents(archive)
    assert (saved["zzz.txt"], saved["more.txt"]) == (b"new", b"more")
    whole = hog2.read(archive.read_bytes(), "", Report())
    archive.write_bytes(hog2.write(hog2.with_files(whole, {"ship.oof": SHIP.read_bytes() + bytes(8)})))
    mesh.vertices[0].co[0] += 0.25
    assert "is no longer the one that was imported" in refused(bpy.ops.motionbridge.descent_save_back)
    assert bpy.ops.motionbridge.descent_save_back(if_changed="IMPORTED") == {"FINISHED"}
    assert contents(archive)["Ship.OOF"] == save(tmp_path / "ship.oof")


def test_an_archive_that_is_gone_or_damaged_is_refused_with_what_helps(tmp_path):
    archive, mesh = in_an_archive(tmp_path)
    mesh.vertices[0].co[0] += 0.25
    damaged = archive.read_bytes()[:-200]
    archive.write_bytes(damaged)
    assert "bytes, " in refused(bpy.ops.motionbridge.descent_save_back)
    assert archive.read_bytes() == damaged
    archive.unlink()
    assert "there is no such file" in refused(bpy.ops.motionbridge.descent_save_back)
    assert not archive.exists()


def test_of_many_models_those_that_are_named_are_imported(tmp_path):
    archive = tmp_path / "many.mn3"
    files = {name: SHIP.read_bytes() for name in ("a.oof", "B.OOF", "c.oof")}
    archive.write_bytes(hog2.write(hog2.new_hog2({**files, "readme.txt": b"x"})))
    assert "models in it: 3" in refused(bpy.ops.import_scene.descent3_oof, filepath=str(archive))
    message = refused(bpy.ops.import_scene.descent3_oof, filepath=str(archive), models="zzz")
    assert "there is no model named 'zzz'" in message
    load(archive, models="b;C.oof")
    assert {"B", "c"} <= set(bpy.data.objects.keys())
    assert "a" not in bpy.data.objects
    load(archive, models="*")
    assert "Imported 3 models (" in last_report()


def test_an_archive_without_models_is_refused(tmp_path):
    archive = tmp_path / "none.hog"
    archive.write_bytes(hog2.write(hog2.new_hog2({"readme.txt": b"x"})))
    assert "no models in this archive" in refused(bpy.ops.import_scene.descent3_oof, filepath=str(archive))
    archive.write_bytes(b"HOG2" + struct.pack("<II", 1000, 68) + b"\xff" * 56)
    assert "table" in refused(bpy.ops.import_scene.descent3_oof, filepath=str(archive))


# Textures ------------------------------------------------------------------------------------------------------------


def test_textures_are_shown_with_the_pixels_of_the_file():
    result = pictures(load())
    # 565: eight of red, six of blue, two clear; the sample is 4 by 4, top row first.
    assert result["SampleHull"][0].tolist() == [[255, 0, 0, 255]] * 4
    assert result["SampleHull"][3].tolist() == [[0, 0, 255, 255]] * 2 + [[0, 255, 0, 0]] * 2
    assert result["SamplePuff"][0, 0].tolist() == [0, 0, 255, 255]
    assert "one of the 2 frames of an animated texture is shown" in last_report()


@pytest.mark.parametrize("also", ["", "SampleHull.ogf"])
def test_a_png_beside_the_model_is_its_texture_unless_the_folder_has_that(tmp_path, also):
    path = Path(shutil.copy(SHIP, tmp_path))
    drawn_by_user = np.array([[[9, 8, 7, 255], [200, 100, 0, 0]]], np.uint8)
    (tmp_path / "samplehull.PNG").write_bytes(png.encode(drawn_by_user))
    if also:
        shutil.copy(SHIP.with_name(also), tmp_path)
    holder = load(path)
    assert (pictures(holder)["SampleHull"].tolist() == drawn_by_user.tolist()) == (not also)
    assert "1 texture is missing" in last_report()  # the other one
    assert textures(save(tmp_path / "after.oof")) == textures(SHIP.read_bytes())


def test_animated_textures_play_where_a_folder_for_their_pictures_is_named(tmp_path):
    folder = tmp_path / "new" / "pictures"
    model = load(animated_textures=str(folder))
    assert sorted(path.name for path in folder.iterdir()) == ["SamplePuff_0001.png", "SamplePuff_0002.png"]
    assert "an animated texture plays its 2 pictures, one per frame" in last_report()
    nodes = [
        node
        for obj in model.children_recursive
        for slot in obj.material_slots
        for node in slot.material.node_tree.nodes
        if node.type == "TEX_IMAGE" and node.image.source == "SEQUENCE"
    ]
    assert nodes
    for node in nodes:
        played = node.image_user
        assert (played.frame_duration, played.use_cyclic, played.use_auto_refresh) == (2, True, True)
        assert node.image.filepath == str(folder / "SamplePuff_0001.png")
    written = [np.array(bpy.data.images.load(str(path)).pixels[:]) for path in sorted(folder.iterdir())]
    assert np.rint(255 * written[0]).astype(int).reshape(2, 2, 4)[::-1][0, 0].tolist() == [0, 0, 255, 255]
    assert (written[0] != written[1]).any()


def test_a_folder_that_cannot_be_made_leaves_one_picture(tmp_path):
    (tmp_path / "file").write_bytes(b"x")
    path = pictures(load(animated_textures=str(tmp_path / "file")))
    assert path["SamplePuff"][0, 0].tolist() == [0, 0, 255, 255]
    assert "could not be written: " in last_report()


def test_a_texture_is_found_beside_the_model_in_folders_and_by_the_table(tmp_path):
    data = SHIP.read_bytes()
    game = tmp_path / "game"
    (game / "data").mkdir(parents=True)
    model = tmp_path / "model" / "ship.oof"
    model.parent.mkdir()
    model.write_bytes(data)
    assert pictures(load(model)) == {}
    assert "2 textures are missing: add the game to the preferences to see them (SampleHull" in last_report()
    green = image(127, 1, 1, runs((0, 0x07C0)))
    (game / "data" / "OTHER.OGF").write_bytes(green)
    body = struct.pack("<h", 7) + b"samplehull\0other.ogf\0\0" + bytes(32) + b"\0" + struct.pack("<iI", 0, 0)
    (game / "table.gam").write_bytes(page(1, body + b"\0" + struct.pack("<f", 1)))
    (game / "d3.hog").write_bytes(hog2.write(hog2.new_hog2({"SamplePuff.ogf": green})))
    with installed(game):
        result = pictures(load(model))
    assert {name: pixels.tolist() for name, pixels in result.items()} == {
        "SampleHull": [[[0, 251, 0, 255]]],
        "SamplePuff": [[[0, 251, 0, 255]]],
    }


def test_the_same_pictures_and_materials_are_made_once():
    load()
    counts = len(bpy.data.images), len(bpy.data.materials)
    load()
    assert (len(bpy.data.images), len(bpy.data.materials)) == counts


def test_broken_textures_are_reported_and_the_model_is_there(tmp_path):
    model = tmp_path / "ship.oof"
    shutil.copy(SHIP, model)
    (tmp_path / "samplehull.ogf").write_bytes(image(127, 4, 4, b"\1\0\0"))
    load(model)
    assert "a texture is not readable" in last_report()


def test_pictures_stay_with_the_scene(tmp_path):
    name = load().name
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "scene.blend"))
    assert pictures(bpy.data.objects[name])["SampleHull"][0, 0].tolist() == [255, 0, 0, 255]


def test_textures_are_imported_as_images():
    names = [{"name": name} for name in ("SampleHull.ogf", "SamplePuff.oaf")]
    assert bpy.ops.import_scene.descent3_ogf(directory=str(SHIP.parent), files=names) == {"FINISHED"}
    assert {picture.name: tuple(picture.size) for picture in bpy.data.images} == {
        "SampleHull": (4, 4),
        "SamplePuff": (2, 2),
        "SamplePuff2": (2, 2),
    }
    pixels = np.rint(255 * np.array(bpy.data.images["SamplePuff2"].pixels[:])).reshape(-1, 4)
    assert pixels.tolist() == [[255, 0, 0, 255]] * 4
    message = refused(bpy.ops.import_scene.descent3_ogf, filepath=str(SAMPLES / "humanoid.ogf"))
    assert "not a Descent 3 image" in message


def test_textures_and_models_of_one_suffix_are_dropped_together(tmp_path):
    names = ("humanoid.ogf", "SampleHull.ogf", "broken.ogf")
    for source in (SAMPLES / "humanoid.ogf", SHIP.parent / "SampleHull.ogf"):
        shutil.copy(source, tmp_path)
    (tmp_path / "broken.ogf").write_bytes(b"neither of them")
    files = [{"name": name} for name in names]
    assert bpy.ops.import_scene.xray_ogf(directory=str(tmp_path), files=files) == {"FINISHED"}
    assert "Imported models: 1" in last_report()
    assert "Images: 1, first: SampleHull" in last_report()
    assert "left out: " in last_report()
    assert tuple(bpy.data.images["SampleHull"].size) == (4, 4)
    assert bpy.data.images["SampleHull"].use_fake_user
    assert scene_command.main(["--import", str(tmp_path / "SampleHull.ogf")]) == 0
    assert (len(bpy.data.images), len(bpy.data.objects)) == (1, 0)


def test_a_doubled_model_is_the_same_model(tmp_path):
    load()
    bpy.ops.object.select_all(action="SELECT")
    bpy.ops.object.duplicate()
    double = holder_of(bpy.context.selected_objects[0])
    assert double.name == "ship.001"
    bpy.context.view_layer.objects.active = double
    assert save(tmp_path / "double.oof") == SHIP.read_bytes()


def test_a_scene_is_worked_on_without_a_window(tmp_path):
    target = tmp_path / "out.oof"
    assert scene_command.main(["--import", str(ARCHIVE), "--export", str(target)]) == 0
    assert target.read_bytes() == SHIP.read_bytes()


# The panel -----------------------------------------------------------------------------------------------------------


def test_a_model_with_points_and_batteries_is_made_by_the_panel(tmp_path):
    hull, wing = square("hull"), square("wing", location=(5, 0, 0))
    for obj in (hull, wing):
        obj.select_set(True)
    bpy.context.view_layer.objects.active = hull
    assert bpy.ops.motionbridge.descent_begin() == {"FINISHED"}
    holder = holder_of(hull)
    assert holder == holder_of(wing)
    assert "already belongs to a model" in refused(bpy.ops.motionbridge.descent_begin)
    bpy.context.scene.cursor.location = (1, 2, 3)
    for kind in ("GUN", "ATTACH", "GROUND", "SPECIAL", "GUN"):
        bpy.context.view_layer.objects.active = wing
        assert bpy.ops.motionbridge.descent_point_add(kind=kind) == {"FINISHED"}
    bpy.context.view_layer.objects.active = wing
    bpy.ops.object.select_all(action="SELECT")
    assert bpy.ops.motionbridge.descent_battery_add() == {"FINISHED"}
    data = save(tmp_path / "made.oof")
    assert {part.name: part.offset for part in parts(data)} == {"hull": (0, 0, 0), "wing": (5, 0, 0)}
    index = [part.name for part in parts(data)].index("wing")
    for identifier, count in ((b"GPNT", 2), (b"ATCH", 1), (b"GRND", 1)):
        rows = points(data, identifier)
        assert len(rows) == count
        for parent, position, direction in rows:
            assert parent == index
            np.testing.assert_allclose(position, [-4, 3, 2], atol=1e-6)
            np.testing.assert_allclose(direction, [0, 0, 1], atol=1e-6)
    np.testing.assert_allclose(points(data, b"NATH")[0][2], [0, 1, 0], atol=1e-6)
    assert batteries(data) == [([0, 1], [0, 1])]
    assert bpy.ops.motionbridge.descent_battery_remove() == {"FINISHED"}
    assert batteries(save(tmp_path / "made.oof")) == []


def test_a_new_ship_gets_a_glow_and_a_thruster_that_look_backwards(tmp_path):
    hull = square("hull")
    hull.select_set(True)
    bpy.context.view_layer.objects.active = hull
    assert bpy.ops.motionbridge.descent_begin() == {"FINISHED"}
    bpy.context.view_layer.objects.active = hull
    bpy.context.scene.cursor.location = (1, -2, 3)
    for kind in ("GLOW", "THRUSTER", "GUN"):  # each is active, and the next is on the hull all the same
        assert bpy.ops.motionbridge.descent_point_add(kind=kind) == {"FINISHED"}
        assert bpy.context.view_layer.objects.active.parent == hull
    result = parts(save(tmp_path / "ship.oof"))
    assert [part.name for part in result] == ["hull", "Glow", "Thruster"]
    for part, command in zip(result[1:], ("$glow=", "$thruster="), strict=True):
        assert part.properties.startswith(command)
        assert (part.parent, part.offset) == (0, (1, 3, -2))
        assert len(part.faces) == 1
        np.testing.assert_allclose(part.faces[0][0], [0, 0, -1], atol=1e-6)


def test_a_battery_takes_what_is_selected(tmp_path):
    holder = load()
    bpy.ops.object.select_all(action="DESELECT")
    guns = [obj for obj in bpy.data.objects if obj.motionbridge_descent_point.kind == "GUN"]
    assert "neither a gun point nor a sub-object" in refused(bpy.ops.motionbridge.descent_battery_set)
    for gun in guns:
        gun.select_set(True)
    assert bpy.ops.motionbridge.descent_battery_set() == {"FINISHED"}
    assert holder.motionbridge_descent_model.active_battery == 0
    assert batteries(save(tmp_path / "out.oof")) == [([0, 1], []), ([1], [4])]


@pytest.mark.parametrize("mode", ["OBJECT", "EDIT"])
def test_offending_faces_are_selected(mode):
    obj = drawn("bent", [*SQUARE, (2, 0, 0), (2, 1, 1)], [(0, 1, 2, 3), (1, 4, 5, 2)])
    obj.select_set(True)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.motionbridge.descent_begin()
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode=mode)
    assert bpy.ops.motionbridge.descent_check() == {"FINISHED"}
    assert "is not flat" in last_report()
    assert obj.mode == "EDIT"
    bpy.ops.object.mode_set(mode="OBJECT")
    assert [face.select for face in obj.data.polygons] == [False, True]


def test_the_real_ship_is_as_the_game_wants_it():
    load()
    assert bpy.ops.motionbridge.descent_check() == {"FINISHED"}
    problems = model_export.find_problems(bpy.context, Chosen(bpy.data.objects["ship"]), Report())
    assert all(not entry.problem.fatal for entry in problems)


def test_drops_and_collections_know_the_operators():
    assert IMPORT_SCENE_OT_descent3_oof.bl_idname == "import_scene.descent3_oof"
    handlers = bpy.types.IO_FH_motionbridge_descent3_oof, bpy.types.IO_FH_motionbridge_descent3_hog
    assert [handler.bl_file_extensions for handler in handlers] == [".oof;.pof", ".hog;.mn3"]
    assert handlers[0].bl_export_operator == "export_scene.descent3_oof"


def test_a_model_may_be_called_pof(tmp_path):
    path = Path(shutil.copy(SHIP, tmp_path / "ship.pof"))
    load(path)
    assert save(tmp_path / "out.pof") == SHIP.read_bytes()
    next(obj for obj in bpy.data.objects if obj.type == "MESH").data.vertices[0].co.x += 0.25
    assert bpy.ops.motionbridge.descent_save_back() == {"FINISHED"}
    assert path.read_bytes() == save(tmp_path / "out.pof") != SHIP.read_bytes()


def test_a_material_without_its_texture_goes_out_under_its_name(tmp_path):
    load(textures=False)
    assert save(tmp_path / "out.oof") == SHIP.read_bytes()
    assert textures(SHIP.read_bytes())[0] == "SampleHull"


def test_the_list_of_an_archive_takes_the_highlighted_row():
    path = str(ARCHIVE)
    (name, _), *_ = model.models_in(path, Report())
    rows = [
        {"name": "other.oof", "file": path, "bytes": 1, "ticked": False},
        {"name": name, "file": path, "bytes": 1, "ticked": False},
    ]
    with pytest.raises(RuntimeError, match="no model is chosen"):
        bpy.ops.import_scene.descent3_oof(filepath=path, listed=rows, active_listed=1, name_filter="nothing fits")
    assert bpy.ops.import_scene.descent3_oof(filepath=path, listed=rows, active_listed=1) == {"FINISHED"}
    assert bpy.context.view_layer.objects.active is not None
    assert f"no model was ticked: the highlighted one is imported ({name})" in last_report()
    actual = [SimpleNamespace(**row) for row in rows]
    dialog = as_in_a_window(IMPORT_SCENE_OT_descent3_oof, filepath=path, listed=actual, active_listed=1)
    message = f"No model is ticked: the highlighted one is imported, {name}"
    assert message in texts_of(dialog)
    actual[0].ticked = True
    assert message not in texts_of(dialog)


def test_a_ticked_model_of_an_archive_that_the_filter_hides_is_not_imported():
    path = str(ARCHIVE)
    (name, _), *_ = model.models_in(path, Report())
    rows = [{"name": each, "file": path, "bytes": 1, "ticked": each == name} for each in (name, "other.oof")]
    with pytest.raises(RuntimeError, match="no model is chosen"):
        bpy.ops.import_scene.descent3_oof(filepath=path, listed=rows, active_listed=1, name_filter="other")
    assert len(bpy.data.objects) == 0
    actual = [SimpleNamespace(**row) for row in rows]
    dialog = as_in_a_window(IMPORT_SCENE_OT_descent3_oof, filepath=path, listed=actual, name_filter="other")
    assert {"Models: 0 of 2", "Ticked, but hidden by the filter and not imported: 1"} <= set(texts_of(dialog))
    dialog.name_filter = name
    assert "Models: 1 of 2" in texts_of(dialog)
    assert not any("hidden" in text for text in texts_of(dialog))


@pytest.mark.parametrize("background", [False, True])
@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("answer", ["CANCELLED", "FINISHED", "RUNNING_MODAL"])
def test_the_list_of_an_archive_opens_again_after_an_error_in_a_window(monkeypatch, background, listed, answer):
    kind, opened = IMPORT_SCENE_OT_descent3_oof, []
    rows = [SimpleNamespace(name="other.oof")] if listed else []
    dialog = as_in_a_window(kind, listed=rows, invoked=False, _open_again=opened.append)
    monkeypatch.setattr(models, "bpy", SimpleNamespace(app=SimpleNamespace(background=background)))
    let_super_work(kind, dialog, monkeypatch)
    monkeypatch.setattr(kind.__mro__[1], "execute", lambda *_: {answer}, raising=False)
    assert dialog.execute(bpy.context) == {answer}
    assert opened == ([bpy.context] if listed and answer == "CANCELLED" and not background else [])


def test_the_chosen_meshes_are_known_in_work_that_pauses_at_each_of_them():
    """In a window checks and exports run in a thread of their own, where Blender gives no `selected_objects`."""
    meshes = [drawn(name, SQUARE, [(0, 1, 2, 3)]) for name in ("one", "two")]
    for mesh in meshes:
        mesh.select_set(True)
    bpy.context.view_layer.objects.active = None

    def check():
        chosen = chosen_model(bpy.context)
        return chosen, model_export.find_problems(bpy.context, chosen, Report())

    work, pauses = Work(check), 0
    while not work.advance(0.0):
        pauses += 1
    assert pauses == len(meshes)
    assert set(work.result()[0].objects) == set(meshes)
