"""Exports to a file that exists: into it, or in its place, and what is said of the motions that go."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import bpy
import pytest

from addon.core.report import Report
from addon.formats.xray import object as editor_model
from addon.formats.xray import skl
from addon.games.xray.motions import library
from addon.ui.bases import ExportHelper
from addon.ui.xray import editor_models, models, motion_files, skeletal
from tests.blender.test_skl_motions import load as load_skeletal
from tests.blender.test_skl_motions import made_motion, rig_of, written
from tests.blender.test_ui import game_folder, last_report, refusal
from tests.blender.test_written_motions import as_in_a_window, drawn, motions_in, new_action, sound_motions, walk_of


@pytest.fixture
def game(tmp_path, samples) -> Path:
    return game_folder(tmp_path, samples)


@pytest.fixture
def export_in_a_window(monkeypatch):
    """The export operators with a file browser that opens at once."""

    def opened(kind: type, **options):
        operator = as_in_a_window(kind, **options)
        monkeypatch.setattr(ExportHelper, "invoke", lambda *_: {"RUNNING_MODAL"})
        assert operator.invoke(bpy.context, None) == {"RUNNING_MODAL"}
        return operator

    return opened


def test_a_new_action_exported_into_the_file_of_others_is_listed_with_them(game):
    walk_of(game)
    path = game / "humanoid.omf"
    names = sound_motions(path)
    rig = bpy.context.view_layer.objects.active
    action = new_action(rig, "step", 0.3)
    chosen = {"choose": "ACTIVE", "onto": "FILE", "remember": True}
    assert bpy.ops.export_scene.xray_omf(filepath=str(path), **chosen) == {"FINISHED"}
    assert sound_motions(path) == [*names, "step"]
    (file,) = rig.motionbridge_motion_files
    listed = library.motions_of(file)
    assert (len(listed), listed[-1]) == (len(names) + 1, action)
    assert bpy.ops.motionbridge.save_back() == {"CANCELLED"}, "nothing is edited"


def test_in_a_window_motions_go_into_the_file_that_exists(game, export_in_a_window):
    walk_of(game)
    path = game / "humanoid.omf"
    names = sound_motions(path)
    browser = export_in_a_window(motion_files.EXPORT_SCENE_OT_xray_omf)
    assert (browser.filepath, browser.onto, browser.removed_motions) == (str(path), "FILE", "")
    browser.filepath = str(game / "new.omf")
    assert browser.check(bpy.context)
    assert browser.onto == "OWN_FILES"
    browser.filepath = str(path)
    browser.check(bpy.context)
    assert browser.onto == "FILE"
    # Three clicks that replaced a file of many motions by one.
    browser.choose = "ACTIVE"
    browser.check(bpy.context)
    assert browser.execute(bpy.context) == {"FINISHED"}
    assert sound_motions(path) == names


def test_a_choice_by_hand_stays_and_says_what_will_be_removed(game, export_in_a_window):
    walk_of(game)
    path = game / "humanoid.omf"
    names = sound_motions(path)
    browser = export_in_a_window(motion_files.EXPORT_SCENE_OT_xray_omf)
    browser.onto, browser.choose = "OWN_FILES", "ACTIVE"
    assert browser.check(bpy.context)
    assert browser.onto == "OWN_FILES"
    message = drawn(browser)
    index = message.index(f"{len(names) - 1} motions will be removed")
    assert message[index + 1] == names[1]
    browser.choose = "FILE"
    browser.check(bpy.context)
    assert not any("will be removed" in line for line in drawn(browser))
    browser.choose = "ACTIVE"
    assert browser.execute(bpy.context) == {"FINISHED"}
    assert sound_motions(path) == names[:1]
    others = ", ".join(names[1:])
    assert f"{len(names) - 1} motions of the replaced file are removed ({others})" in last_report()
    assert not any("removed" in line for line in drawn(browser))


def test_a_copy_in_a_new_file_does_not_stand_for_its_original(game, export_in_a_window):
    rig, action = walk_of(game)
    names = sound_motions(game / "humanoid.omf")
    rig.animation_data.action = action.copy()
    browser = export_in_a_window(motion_files.EXPORT_SCENE_OT_xray_omf)
    browser.onto, browser.choose = "OWN_FILES", "ACTIVE"
    browser.check(bpy.context)
    assert browser.removed_motions.split("\n") == names


def test_what_a_script_sets_is_respected_and_its_default_is_a_new_file(game, export_in_a_window):
    walk_of(game)
    browser = export_in_a_window(motion_files.EXPORT_SCENE_OT_xray_omf, onto="OWN_FILES")
    browser.check(bpy.context)
    assert browser.onto == "OWN_FILES"
    rna = bpy.ops.export_scene.xray_omf.get_rna_type().properties["onto"]
    assert rna.default == "OWN_FILES"
    assert rna.is_skip_save  # what was used last would count as set by hand


def test_a_file_that_cannot_be_read_is_reported_to_be_replaced(game, export_in_a_window):
    walk_of(game)
    browser = export_in_a_window(motion_files.EXPORT_SCENE_OT_xray_omf, onto="OWN_FILES", choose="ACTIVE")
    browser.filepath = str(game / "other.omf")
    Path(browser.filepath).write_bytes(b"something else")
    assert browser.check(bpy.context)
    assert browser.removed_motions == ""
    assert "No readable motion file: will be replaced" in drawn(browser)
    assert browser.execute(bpy.context) == {"FINISHED"}
    _, warning = last_report()
    assert warning == "the replaced file cannot be read as motions; all of it is removed (other.omf)"
    browser.check(bpy.context)
    assert "No readable motion file: will be replaced" not in drawn(browser), "now it is one"


def test_a_new_file_of_motions_never_replaces_a_model(game, samples):
    walk_of(game)
    shutil.copy(samples / "weapon.object", game)
    for name in ("humanoid.ogf", "weapon.object"):
        before = (game / name).read_bytes()
        assert "cannot replace a model" in refusal(bpy.ops.export_scene.xray_omf, filepath=str(game / name))
        assert (game / name).read_bytes() == before


def test_motions_of_the_editor_go_into_a_file_that_exists_too(tmp_path, export_in_a_window):
    motions = [replace(made_motion([4], seed=seed), name=name) for seed, name in enumerate((b"a", b"b", b"c"))]
    path = written(tmp_path, *motions)
    rig = rig_of(["root", "arm", "hand", "Finger"])
    rig.animation_data.action = load_skeletal(rig, path).actions[1]
    browser = export_in_a_window(skeletal.EXPORT_SCENE_OT_xray_skl, choose="ACTIVE")
    assert (browser.filepath, browser.onto) == (str(path), "FILE")
    browser.onto = "OWN_FILES"
    browser.check(bpy.context)
    assert drawn(browser)[:3] == ["2 motions will be removed", "a", "c"]
    assert browser.execute(bpy.context) == {"FINISHED"}
    assert "2 motions of the replaced file are removed (a, c)" in last_report()
    single = written(tmp_path, motions[0], name="one.skl")
    browser = export_in_a_window(skeletal.EXPORT_SCENE_OT_xray_skl, choose="ACTIVE")
    browser.filepath = str(single)
    browser.check(bpy.context)
    assert browser.onto == "OWN_FILES"  # there is no room for a second one
    assert drawn(browser)[:2] == ["1 motion will be removed", "a"]


# Models that have motions inside -------------------------------------------------------------------------------------


def cube(name: str = "box"):
    bpy.ops.mesh.primitive_cube_add()
    result = bpy.context.view_layer.objects.active
    result.name = name
    result.data.materials.append(bpy.data.materials.new("stone"))
    result.data.materials[0].motionbridge_surface.texture = "ston\\stone"
    return result


def warned_of_removed() -> list[str]:
    return [line for line in last_report() if "of the replaced file" in line]


def test_a_model_exported_over_another_says_which_motions_inside_go(tmp_path, samples, export_in_a_window):
    path = Path(shutil.copy(samples / "weapon_embedded.ogf", tmp_path / "gun.ogf"))
    names = [motion.label for motion in motions_in(path).library.motions]
    cube()
    browser = export_in_a_window(models.EXPORT_SCENE_OT_xray_ogf)
    assert browser.removed_motions == ""
    browser.filepath = str(path)
    assert browser.check(bpy.context), "the options are drawn again"
    message = drawn(browser)
    words = "1 motion will be removed" if len(names) == 1 else f"{len(names)} motions will be removed"
    assert words in message
    assert message[message.index(words) + 1] == names[0]
    assert browser.execute(bpy.context) == {"FINISHED"}
    assert [line.partition(" (")[2] for line in warned_of_removed()] == [", ".join(names) + ")"]
    assert browser.check(bpy.context)
    assert browser.removed_motions == "", "now there are none"


def test_a_model_exported_onto_itself_or_to_a_new_file_says_nothing(tmp_path, samples, export_in_a_window):
    path = Path(shutil.copy(samples / "weapon_embedded.ogf", tmp_path / "gun.ogf"))
    assert bpy.ops.import_scene.xray_ogf(filepath=str(path), textures=False) == {"FINISHED"}
    browser = export_in_a_window(models.EXPORT_SCENE_OT_xray_ogf)
    assert (browser.filepath, browser.removed_motions) == (str(path), "")
    assert browser.execute(bpy.context) == {"FINISHED"}
    assert warned_of_removed() == []
    browser.filepath = str(tmp_path / "new.ogf")
    browser.check(bpy.context)
    assert browser.execute(bpy.context) == {"FINISHED"}
    assert warned_of_removed() == []
    # A model without motions that takes the place of this one.
    other = Path(shutil.copy(samples / "weapon.ogf", tmp_path / "other.ogf"))
    assert bpy.ops.import_scene.xray_ogf(filepath=str(other), textures=False) == {"FINISHED"}
    browser = export_in_a_window(models.EXPORT_SCENE_OT_xray_ogf)
    browser.filepath = str(path)
    browser.check(bpy.context)
    assert browser.removed_motions
    for replace_meshes in (False, True):
        shutil.copy(samples / "weapon_embedded.ogf", path)
        options = {"replace_meshes": replace_meshes}
        assert bpy.ops.export_scene.xray_ogf(filepath=str(path), **options) == {"FINISHED"}
        assert len(warned_of_removed()) == 1


def test_a_folder_or_a_broken_file_instead_of_a_model_is_not_a_matter(tmp_path, export_in_a_window):
    cube()
    browser = export_in_a_window(models.EXPORT_SCENE_OT_xray_ogf)
    broken = tmp_path / "broken.ogf"
    broken.write_bytes(os.urandom(64))
    for path in (tmp_path, broken):
        browser.filepath = str(path)
        browser.check(bpy.context)
        assert browser.removed_motions == ""
    assert browser.execute(bpy.context) == {"FINISHED"}
    assert warned_of_removed() == []


def test_an_editor_model_exported_over_another_says_which_motions_inside_go(tmp_path, samples, export_in_a_window):
    path = Path(shutil.copy(samples / "weapon.object", tmp_path))
    inside = editor_model.read(path.read_bytes(), path.name, Report()).model.first(skl.Skl)
    names = [motion.label for motion in inside.motions]
    assert bpy.ops.import_scene.xray_object(filepath=str(path), textures=False) == {"FINISHED"}
    browser = export_in_a_window(editor_models.EXPORT_SCENE_OT_xray_object)
    assert (browser.filepath, browser.removed_motions) == (str(path), "")
    assert browser.execute(bpy.context) == {"FINISHED"}
    assert warned_of_removed() == []
    cube()
    browser = export_in_a_window(editor_models.EXPORT_SCENE_OT_xray_object)
    browser.filepath = str(path)
    browser.check(bpy.context)
    assert browser.removed_motions.split("\n") == names
    assert browser.execute(bpy.context) == {"FINISHED"}
    assert [line.partition(" (")[2] for line in warned_of_removed()] == [", ".join(names) + ")"]


def test_a_model_of_the_game_exported_over_one_of_the_editor_is_read_as_what_it_is(tmp_path, samples):
    gun = Path(shutil.copy(samples / "weapon_embedded.ogf", tmp_path / "gun.ogf"))
    assert bpy.ops.import_scene.xray_ogf(filepath=str(gun), textures=False) == {"FINISHED"}
    path = Path(shutil.copy(samples / "weapon.object", tmp_path))
    inside = editor_model.read(path.read_bytes(), path.name, Report()).model.first(skl.Skl)
    written = {motion.label.lower() for motion in motions_in(gun).library.motions}
    gone = [motion.label for motion in inside.motions if motion.label.lower() not in written]
    assert bpy.ops.export_scene.xray_ogf(filepath=str(path)) == {"FINISHED"}
    assert path.read_bytes() == gun.read_bytes()
    assert [line.partition(" (")[2] for line in warned_of_removed()] == [", ".join(gone) + ")"] * bool(gone)
