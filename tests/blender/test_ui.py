"""The operators as scripts and users call them: what they do, what they refuse and how they say it."""

import shutil
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from addon.blender import compat
from addon.core import files
from addon.core.report import Report
from addon.formats.xray import ogf, omf
from addon.formats.xray.ogf.chunk_types import IkData, Vertices
from addon.games.xray.motions import library, omf_codec, read_files
from addon.ui import operation
from addon.ui.files import draw_backup
from tests.blender.scenes import add_object
from tests.blender.test_level_panel import Layout
from tests.blender.test_motions import needs_corpus
from tests.scene import differences, snapshot


@pytest.fixture
def game(tmp_path, samples) -> Path:
    return game_folder(tmp_path, samples)


@contextmanager
def installed(*folders, mods=()):
    """Games in the preferences; mods of the last one."""
    rows = bpy.context.preferences.addons["bl_ext.dev.motionbridge"].preferences.known_games
    for folder in folders:
        rows.add().folder = str(folder)
    for folder in mods:
        rows[-1].mods.add().folder = str(folder)
    try:
        yield rows
    finally:
        rows.clear()


def game_folder(tmp_path: Path, samples: Path) -> Path:
    """A folder of the game as modders have it: the samples below meshes, with a name that is not Latin above."""
    folder = tmp_path / "Сталкер" / "gamedata" / "meshes" / "samples"
    shutil.copytree(samples, folder)
    return folder


def refusal(operator, **arguments) -> str:
    """What an operator says when it refuses; a script hears it as a RuntimeError."""
    with pytest.raises(RuntimeError) as caught:
        operator(**arguments)
    text = str(caught.value)
    assert "Traceback" not in text
    return text.removeprefix("Error: ").strip()


def last_report() -> list[str]:
    return bpy.context.window_manager.motionbridge_report.splitlines()


def load(game: Path, model: str = "humanoid.ogf", motions: str = "humanoid.omf"):
    assert bpy.ops.import_scene.xray_ogf(filepath=str(game / model)) == {"FINISHED"}
    rig = bpy.context.view_layer.objects.active
    if motions:
        assert bpy.ops.import_scene.xray_omf(filepath=str(game / motions)) == {"FINISHED"}
    return rig


@pytest.fixture
def reads(monkeypatch) -> list[str]:
    """The names of files that are read whole, in this order."""
    names = []
    read_file = files.read_file

    def counted(path, size=-1):
        names.extend([Path(path).name] if size < 0 else [])
        return read_file(path, size)

    monkeypatch.setattr("addon.core.files.read_file", counted)
    return names


def test_an_import_reads_its_file_once(game, reads):
    load(game)
    assert reads == ["humanoid.ogf", "humanoid.omf"]


def test_a_model_with_motions_inside_is_read_once(game, reads):
    assert bpy.ops.import_scene.xray_ogf(filepath=str(game / "weapon_embedded.ogf"), motions="INSIDE") == {"FINISHED"}
    assert bpy.context.object.motionbridge_motion_files[0].embedded
    assert reads == ["weapon_embedded.ogf"]


def test_a_file_that_changes_while_its_motions_are_listed_is_read_again(game):
    path, file_path = game / "humanoid.omf", read_files.ReadFiles()
    before = file_path.list_motions(omf_codec.OMF, str(path))
    assert file_path.list_motions(omf_codec.OMF, str(path)) == before
    path.write_bytes((game / "weapon.omf").read_bytes())
    opened = file_path.take(omf_codec.OMF, str(path), Report())
    assert omf_codec.OMF.motions(opened.document) == library.list_motions(omf_codec.OMF, str(game / "weapon.omf"))


def names_of(file: Path) -> list[str]:
    document = omf.read(file.read_bytes(), file.name, Report())
    return [definition.label for definition in document.motion_set.parameters.definitions]


def turn_a_key(action, path: str = 'pose.bones["head"].rotation_quaternion', index: int = 1, frame: int = 0) -> None:
    curves = compat.curve_bag(action).fcurves
    curve = next(curve for curve in curves if curve.data_path == path and curve.array_index == index)
    curve.keyframe_points[frame].co[1] += 0.3
    curve.update()


def pose(rig, bone: str) -> np.ndarray:
    return np.array(rig.pose.bones[bone].matrix)


# Complaints of importers' users ---------------------------------------------------------------------------------------


def test_complaint_1_something_plays_after_the_import(game):
    rig = load(game)
    scene = bpy.context.scene
    scene.frame_set(0)
    before = pose(rig, "thigh_l")
    scene.frame_set(8)
    assert np.abs(pose(rig, "thigh_l") - before).max() > 0.01
    assert last_report()[0].startswith("Motions imported onto humanoid: 5; shown: walk")


def test_complaint_1_every_other_motion_plays_when_it_is_clicked_in_the_list(game):
    rig = load(game)
    for index, action in enumerate(bpy.data.actions):
        rig.motionbridge_playing = index
        assert rig.animation_data.action == action
        assert rig.motionbridge_playing == index
        poses = []
        for frame in range(round(action.frame_end) + 1):
            bpy.context.scene.frame_set(frame)
            poses.append(np.array([bone.matrix for bone in rig.pose.bones]))
        assert np.ptp(poses, axis=0).max() > 1e-3, action.name


def test_complaint_1_a_choice_in_the_action_editor_plays_too(game):
    rig = load(game)
    rig.animation_data.action = bpy.data.actions["wave"]
    if compat.SLOTTED:
        assert rig.animation_data.action_slot is not None


@needs_corpus
def test_complaint_3_hundreds_of_motions_are_imported_by_name_or_all(corpus):
    bpy.ops.import_scene.xray_ogf(filepath=str(corpus / "ogf" / "human_stalker_hero_1.ogf"))
    path = corpus / "omf" / "human_smart_cover.omf"
    wanted = names_of(path)[:3]
    bpy.ops.import_scene.xray_omf(filepath=str(path), motions=";".join(wanted))
    assert sorted(action.name for action in bpy.data.actions) == sorted(wanted)
    bpy.ops.import_scene.xray_omf(filepath=str(path))
    assert len(bpy.data.actions) == 231 + 3


def test_complaint_8_the_scene_keeps_its_rate_unless_asked(game):
    render = bpy.context.scene.render
    render.fps, render.fps_base = 25, 1.0
    bpy.context.scene.frame_end = 111
    load(game)
    assert (render.fps, bpy.context.scene.frame_end) == (25, 111)
    assert any("25 frames per second" in line for line in last_report())
    bpy.ops.motionbridge.match_scene()
    assert (render.fps, bpy.context.scene.frame_start, bpy.context.scene.frame_end) == (30, 0, 24)
    render.fps = 24
    bpy.ops.import_scene.xray_omf(filepath=str(game / "humanoid.omf"), motions="nod", match_scene=True)
    assert (render.fps, bpy.context.scene.frame_end) == (30, 7)


def test_complaint_9_several_files_at_once(game):
    names = ["humanoid.ogf", "weapon.ogf"]
    bpy.ops.import_scene.xray_ogf(directory=str(game), files=[{"name": name} for name in names])
    assert {obj.name for obj in bpy.data.objects if obj.type == "ARMATURE"} == {"humanoid", "weapon"}
    shutil.copy(game / "humanoid.omf", game / "again.omf")
    bpy.context.view_layer.objects.active = bpy.data.objects["humanoid"]
    files = [{"name": name} for name in ("humanoid.omf", "again.omf")]
    bpy.ops.import_scene.xray_omf(directory=str(game), files=files, motions="walk;nod")
    assert [file.name for file in bpy.data.objects["humanoid"].motionbridge_motion_files] == names_with("humanoid")
    assert len(bpy.data.actions) == 4


def names_with(first: str) -> list[str]:
    return [f"{first}.omf", "again.omf"]


def test_complaint_9_one_bad_file_does_not_stop_the_others(game):
    (game / "cut.ogf").write_bytes((game / "humanoid.ogf").read_bytes()[:200])
    files = [{"name": name} for name in ("cut.ogf", "weapon.ogf")]
    assert bpy.ops.import_scene.xray_ogf(directory=str(game), files=files) == {"FINISHED"}
    assert [obj.name for obj in bpy.data.objects if obj.type == "ARMATURE"] == ["weapon"]
    assert any(line.startswith("left out: ") and "cut.ogf" in line for line in last_report())


def test_complaint_9_nothing_chosen_is_reported(game):
    load(game, motions="")
    assert "no file is chosen" in refusal(bpy.ops.import_scene.xray_omf)
    assert "no file is chosen" in refusal(bpy.ops.import_scene.xray_ogf)
    listed = [{"name": "walk", "file": str(game / "humanoid.omf"), "frames": 25, "ticked": False}]
    message = refusal(bpy.ops.import_scene.xray_omf, filepath=str(game / "humanoid.omf"), listed=listed)
    assert "no motion is chosen" in message
    assert "Tick at least one" in message
    message = refusal(bpy.ops.import_scene.xray_omf, filepath=str(game / "humanoid.omf"), motions="wlak")
    assert "there is no motion named 'wlak'" in message


def test_a_click_on_a_motion_shows_it_where_the_scene_stands_behind_its_end(game):
    rig = load(game)
    number = list(bpy.data.actions).index(bpy.data.actions["nod"])
    for frame, actual in ((30, 0), (5, 5), (-3, 0)):
        bpy.context.scene.frame_set(frame)
        rig.motionbridge_playing = number
        assert bpy.context.scene.frame_current == actual


def test_bones_of_an_armature_that_are_from_no_model_are_reported_apart_for_fx(game):
    rig = load(game)
    action = rig.animation_data.action
    for bone in rig.data.bones:
        bone.property_unset("motionbridge_xray")
    motion = action.motionbridge_motion
    motion.flags = {"FX"}
    names = [bone.name for bone in rig.data.bones]
    for bone in (names[0], names[3], names[-1]):
        motion.target = bone
        assert motion.target == bone
        assert motion.bone_or_part == names.index(bone)


def edit_mode(rig):
    bpy.ops.object.mode_set(mode="EDIT")


def pose_mode(rig):
    bpy.ops.object.mode_set(mode="POSE")


def hidden(rig):
    rig.hide_set(True)


def hidden_in_viewports(rig):
    rig.hide_viewport = True


def excluded(rig):
    collection = bpy.data.collections.new("Away")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(rig)
    for other in list(rig.users_collection):
        if other != collection:
            other.objects.unlink(rig)
    bpy.context.view_layer.layer_collection.children["Away"].exclude = True


def nothing_active(rig):
    bpy.context.view_layer.objects.active = None


def mesh_active(rig):
    bpy.context.view_layer.objects.active = next(child for child in rig.children if child.type == "MESH")


def other_active(rig):
    add_object("Light", bpy.data.lights.new("Light", "POINT"), active=True)


STATES = [edit_mode, pose_mode, hidden, hidden_in_viewports, excluded, nothing_active, mesh_active, other_active]


@pytest.mark.parametrize("state", STATES)
def test_complaint_10_whatever_state_the_scene_is_in(game, tmp_path, state):
    rig = load(game, motions="")
    state(rig)
    mode = bpy.context.mode
    assert bpy.ops.import_scene.xray_omf(filepath=str(game / "humanoid.omf")) == {"FINISHED"}
    assert len(bpy.data.actions) == 5
    assert rig.animation_data.action.name == "walk"
    assert bpy.context.mode == mode
    before = snapshot()
    assert bpy.ops.export_scene.xray_omf(filepath=str(tmp_path / "out.omf")) == {"FINISHED"}
    assert differences(before, snapshot()) == []
    assert (tmp_path / "out.omf").read_bytes() == (game / "humanoid.omf").read_bytes()


@pytest.mark.parametrize("state", [edit_mode, pose_mode, hidden])
def test_complaint_10_models_too(game, tmp_path, state):
    state(load(game))
    assert bpy.ops.import_scene.xray_ogf(filepath=str(game / "weapon.ogf")) == {"FINISHED"}
    assert bpy.context.view_layer.objects.active.name == "weapon"
    before = snapshot()
    assert bpy.ops.export_scene.xray_ogf(filepath=str(tmp_path / "out.ogf")) == {"FINISHED"}
    assert differences(before, snapshot()) == []
    assert (tmp_path / "out.ogf").read_bytes() == (game / "weapon.ogf").read_bytes()


def test_complaint_11_cyrillic_names_of_folders_files_and_motions(game, tmp_path):
    shutil.copy(game / "humanoid.omf", game / "ходьба.omf")
    rig = load(game, motions="ходьба.omf")
    bpy.data.actions["nod"].motionbridge_motion.motion_name = "кивок"
    out = tmp_path / "выход.omf"
    assert bpy.ops.export_scene.xray_omf(filepath=str(out)) == {"FINISHED"}
    assert names_of(out) == ["walk", "idle", "wave", "jump", "кивок"]
    bpy.ops.import_scene.xray_omf(filepath=str(out), motions="КИВОК")
    assert rig.animation_data.action.motionbridge_motion.motion_name == "кивок"
    bpy.data.actions["wave"].motionbridge_motion.motion_name = "手"
    message = refusal(bpy.ops.export_scene.xray_omf, filepath=str(out), motions="手")
    assert "not in the game's code page (1251)" in message


WRONG = {
    "not_there.omf": (None, "there is no such file"),
    "empty.omf": (b"", "the file is empty"),
    "text.omf": (b"this is a text and nothing else\n" * 4, "chunked file"),
    "cut.omf": ("half", "cut.omf"),
    "model.omf": ("model", "model.omf"),
}


@pytest.mark.parametrize("name", WRONG)
def test_complaint_12_a_wrong_file_is_refused_in_a_sentence_and_changes_nothing(game, name):
    load(game, motions="")
    content, expected = WRONG[name]
    content = {"half": (game / "humanoid.omf").read_bytes()[:2000], "model": (game / "weapon.ogf").read_bytes()}.get(
        content, content
    )
    if content is not None:
        (game / name).write_bytes(content)
    before = snapshot()
    message = refusal(bpy.ops.import_scene.xray_omf, filepath=str(game / name))
    assert expected in message
    assert name in message
    assert message.endswith(".")
    assert differences(before, snapshot()) == []


def test_complaint_12_a_failed_export_leaves_the_old_file(game):
    load(game)
    old = (game / "humanoid.omf").read_bytes()
    motion = bpy.data.actions["walk"].motionbridge_motion
    motion.motion_name = "idle"
    message = refusal(bpy.ops.motionbridge.save_back)
    assert "would be motions of one name, 'idle'" in message
    assert (game / "humanoid.omf").read_bytes() == old
    motion.motion_name = "walk"
    message = refusal(bpy.ops.export_scene.xray_omf, filepath=str(game))
    assert "this is a folder" in message


def test_complaint_12_what_was_left_out_is_counted(game):
    rig = load(game, motions="")
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.remove(rig.data.edit_bones["hand_l"])
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.import_scene.xray_omf(filepath=str(game / "humanoid.omf"))
    assert any(line.startswith("1 bone of the file is not in the armature") for line in last_report())


# Where motions go -----------------------------------------------------------------------------------------------------


def test_without_an_armature_the_model_beside_the_file_is_found(game):
    assert bpy.ops.import_scene.xray_omf(filepath=str(game / "humanoid.omf")) == {"FINISHED"}
    rig = bpy.context.view_layer.objects.active
    assert rig.name == "humanoid"
    assert rig.animation_data.action.name == "walk"
    assert any("a model that was imported for them (humanoid.ogf)" in line for line in last_report())


def test_without_an_armature_a_model_in_a_folder_below_is_found(game):
    (game / "character").mkdir()
    (game / "humanoid.ogf").rename(game / "character" / "humanoid.ogf")
    (game / "character" / "another.ogf").write_bytes(b"broken")
    assert bpy.ops.import_scene.xray_omf(filepath=str(game / "humanoid.omf")) == {"FINISHED"}
    assert bpy.context.view_layer.objects.active.name == "humanoid"


def test_without_an_armature_the_model_can_be_named(game, tmp_path):
    alone = tmp_path / "alone.omf"
    shutil.copy(game / "weapon.omf", alone)
    assert "name their model" in refusal(bpy.ops.import_scene.xray_omf, filepath=str(alone))
    assert not bpy.data.objects
    bpy.ops.import_scene.xray_omf(filepath=str(alone), model=str(game / "weapon.ogf"))
    assert bpy.context.view_layer.objects.active.name == "weapon"
    assert len(bpy.data.actions) == len(names_of(alone))


def test_motions_that_do_not_fit_the_model_that_was_named_leave_nothing_behind(game):
    message = refusal(
        bpy.ops.import_scene.xray_omf, filepath=str(game / "weapon.omf"), model=str(game / "humanoid.ogf")
    )
    assert "none of the" in message
    assert not bpy.data.objects


def test_of_several_armatures_the_active_one_is_meant(game):
    first, second = load(game, motions=""), load(game, "weapon.ogf", "")
    bpy.ops.import_scene.xray_omf(filepath=str(game / "weapon.omf"))
    assert second.animation_data is not None
    assert first.animation_data is None
    bpy.context.view_layer.objects.active = None
    message = refusal(bpy.ops.export_scene.xray_omf, filepath=str(game / "x.omf"))
    assert "no armature is active" in message


def test_a_model_brings_the_motions_inside_it(game):
    bpy.ops.import_scene.xray_ogf(filepath=str(game / "weapon_embedded.ogf"))
    rig = bpy.context.view_layer.objects.active
    assert rig.motionbridge_motion_files[0].embedded
    assert rig.animation_data.action is not None
    count = len(bpy.data.actions)
    bpy.ops.import_scene.xray_ogf(filepath=str(game / "weapon_embedded.ogf"), motions="NONE")
    assert len(bpy.data.actions) == count


def test_a_model_brings_the_motions_it_refers_to_when_asked(game):
    bpy.ops.import_scene.xray_ogf(filepath=str(game / "humanoid.ogf"), motions="ALL")
    assert len(bpy.data.actions) == 5


def test_referenced_motions_are_found_and_imported(game):
    load(game, motions="")
    assert bpy.ops.motionbridge.import_referenced_motions() == {"FINISHED"}
    assert len(bpy.data.actions) == 5
    (game / "humanoid.omf").unlink()
    message = refusal(bpy.ops.motionbridge.import_referenced_motions)
    assert "no motion file was found for samples\\humanoid" in message
    assert "Add its game to the games of the preferences" in message


def test_the_game_folder_of_the_preferences_is_searched(game, tmp_path):
    shutil.copy(game / "humanoid.ogf", tmp_path / "humanoid.ogf")
    load(tmp_path, motions="")
    with installed(game.parents[1]):
        assert bpy.ops.motionbridge.import_referenced_motions() == {"FINISHED"}


def test_a_drop_does_the_same_as_the_menu(game):
    area = next(area for area in bpy.context.window_manager.windows[0].screen.areas if area.type == "VIEW_3D")
    with bpy.context.temp_override(window=bpy.context.window_manager.windows[0], area=area, region=area.regions[-1]):
        for name in ("humanoid.ogf", "humanoid.omf"):
            bpy.ops.wm.drop_import_file("INVOKE_DEFAULT", directory=str(game), files=[{"name": name}])
    assert len(bpy.data.actions) == 5


def test_options_of_the_import(game):
    rig = load(game, motions="")
    bpy.ops.import_scene.xray_omf(
        filepath=str(game / "humanoid.omf"), motions="nod;jump", first_frame=10, fake_user=False, stash=True
    )
    action = bpy.data.actions["nod"]
    assert (action.use_fake_user, action.frame_start) == (False, 10)
    assert [track.name for track in rig.animation_data.nla_tracks] == ["jump", "nod"]
    assert all(track.mute for track in rig.animation_data.nla_tracks)
    bpy.ops.import_scene.xray_ogf(
        filepath=str(game / "weapon.ogf"), meshes=False, textures=False, new_collection=True, motions="NONE"
    )
    assert [obj.name for obj in bpy.data.collections["weapon"].objects] == ["weapon"]


# Saving ---------------------------------------------------------------------------------------------------------------


@pytest.mark.deep
@needs_corpus
def test_one_key_of_231_motions_is_saved_back_with_its_sentence(corpus, tmp_path):
    path = tmp_path / "human_smart_cover.omf"
    shutil.copy(corpus / "omf" / "human_smart_cover.omf", path)
    bpy.ops.import_scene.xray_ogf(filepath=str(corpus / "ogf" / "human_stalker_hero_1.ogf"))
    bpy.ops.import_scene.xray_omf(filepath=str(path))
    rig = bpy.context.view_layer.objects.active
    turn_a_key(rig.animation_data.action, 'pose.bones["bip01_head"].rotation_quaternion')
    assert bpy.ops.motionbridge.save_back() == {"FINISHED"}
    assert last_report()[0] == "human_smart_cover.omf: 1 motion, 1 track changed, 230 unchanged"
    assert (tmp_path / "human_smart_cover.omf.bak").read_bytes() == (
        corpus / "omf" / "human_smart_cover.omf"
    ).read_bytes()
    assert bpy.ops.motionbridge.save_back() == {"CANCELLED"}


def test_save_back_writes_edits_deletions_additions_renames_and_the_order(game):
    rig = load(game)
    turn_a_key(rig.animation_data.action)
    assert bpy.ops.motionbridge.delete_motion(action="idle") == {"FINISHED"}
    assert bpy.ops.motionbridge.move_motion(action="nod", direction="TOP") == {"FINISHED"}
    assert bpy.ops.motionbridge.move_motion(action="nod", direction="UP") == {"CANCELLED"}
    copy = bpy.data.actions["jump"].copy()
    copy.name = "jump_high"
    assert bpy.ops.motionbridge.add_motion(action="jump_high") == {"FINISHED"}
    assert copy.motionbridge_motion.status == "NEW"
    bpy.data.actions["wave"].name = "greet"
    assert bpy.ops.motionbridge.save_back() == {"FINISHED"}
    assert names_of(game / "humanoid.omf") == ["nod", "walk", "greet", "jump", "jump_high"]
    sentence = last_report()[0]
    assert "1 renamed" in sentence
    assert "1 deleted" in sentence
    assert "1 motion added" in sentence
    assert bpy.ops.motionbridge.save_back() == {"CANCELLED"}


def test_an_edited_rest_pose_is_asked_about(game, tmp_path):
    rig = load(game)
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones["head"].roll += 0.5
    bpy.ops.object.mode_set(mode="OBJECT")
    message = refusal(bpy.ops.export_scene.xray_omf, filepath=str(tmp_path / "x.omf"))
    assert "rest pose has changed" in message
    assert bpy.ops.export_scene.xray_omf(filepath=str(tmp_path / "x.omf"), rest_change="GAME_POSE") == {"FINISHED"}
    assert (tmp_path / "x.omf").read_bytes() == (game / "humanoid.omf").read_bytes()


def test_the_first_backup_is_never_overwritten_and_the_dialog_reports_it(game):
    rig = load(game)
    path = game / "humanoid.omf"
    first = path.read_bytes()
    turn_a_key(bpy.data.actions[0])
    options = SimpleNamespace(backup=True)
    layout = Layout()
    draw_backup(layout, options, str(path))
    assert layout.kept == [("backup", True)]
    assert bpy.ops.motionbridge.save_back() == {"FINISHED"}
    turn_a_key(bpy.data.actions[0])
    draw_backup(layout, options, str(path))
    assert layout.kept[1:] == [("backup", True), "The existing backup is kept"]
    assert bpy.ops.motionbridge.save_back() == {"FINISHED"}
    assert bpy.ops.export_scene.xray_omf(filepath=str(path), backup=True) == {"FINISHED"}
    assert path.with_name("humanoid.omf.bak").read_bytes() == first
    assert len(rig.motionbridge_motion_files) == 1


def test_into_a_file_existing(game):
    rig = load(game)
    turn_a_key(rig.animation_data.action)
    shutil.copy(game / "humanoid.omf", game / "other.omf")
    path = str(game / "other.omf")
    assert bpy.ops.export_scene.xray_omf(filepath=path, onto="FILE", choose="ACTIVE") == {"FINISHED"}
    assert last_report()[0] == "other.omf: 1 motion, 1 track changed, 4 unchanged"
    assert (game / "other.omf.bak").read_bytes() == (game / "humanoid.omf").read_bytes()
    assert names_of(game / "other.omf") == ["walk", "idle", "wave", "jump", "nod"]


def test_new_actions_become_a_file_that_saves_back(game, tmp_path):
    rig = load(game, motions="")
    rig.pose.bones["head"].rotation_mode = "QUATERNION"
    for frame, rotation in ((1, 1.0), (11, 0.8)):
        rig.pose.bones["head"].rotation_quaternion = (rotation, 0.1, 0.0, 0.0)
        rig.pose.bones["head"].keyframe_insert("rotation_quaternion", frame=frame)
    action = rig.animation_data.action
    action.name = "look"
    path = tmp_path / "look.omf"
    assert bpy.ops.export_scene.xray_omf(filepath=str(path), choose="ALL", remember=True) == {"FINISHED"}
    assert names_of(path) == ["look"]
    assert action.motionbridge_motion.status == "UNTOUCHED"
    turn_a_key(action)
    assert bpy.ops.motionbridge.save_back() == {"FINISHED"}


def test_the_status_says_what_is_edited_and_revert_takes_it_back(game):
    rig = load(game)
    turn_a_key(bpy.data.actions["walk"])
    bpy.data.actions["nod"].motionbridge_motion.speed = 2.0
    assert bpy.ops.motionbridge.update_status() == {"FINISHED"}
    states = {action.name: action.motionbridge_motion.status for action in bpy.data.actions}
    assert states == {"walk": "EDITED", "nod": "EDITED", "idle": "UNTOUCHED", "wave": "UNTOUCHED", "jump": "UNTOUCHED"}
    for name in ("walk", "nod"):
        assert bpy.ops.motionbridge.revert_motion(action=name) == {"FINISHED"}
    assert bpy.data.actions["nod"].motionbridge_motion.speed == 1.0
    assert rig.animation_data.action == bpy.data.actions["walk"]
    assert bpy.ops.motionbridge.save_back() == {"CANCELLED"}


def test_collections_export_what_they_hold(game, tmp_path):
    load(game)
    collection = bpy.data.collections.new("Stalker")
    bpy.context.scene.collection.children.link(collection)
    for obj in list(bpy.data.objects):
        collection.objects.link(obj)
    layer = bpy.context.view_layer.layer_collection.children[collection.name]
    bpy.context.view_layer.active_layer_collection = layer
    for kind, suffix in (("omf", ".omf"), ("ogf", ".ogf")):
        bpy.ops.collection.exporter_add(name=f"IO_FH_motionbridge_xray_{kind}")
        collection.exporters[-1].export_properties.filepath = str(tmp_path / f"made{suffix}")
        if "filepath" in collection.exporters[-1].bl_rna.properties:
            collection.exporters[-1].filepath = str(tmp_path / f"made{suffix}")
    bpy.context.view_layer.objects.active = None
    bpy.ops.collection.export_all()
    for suffix in (".omf", ".ogf"):
        assert (tmp_path / f"made{suffix}").read_bytes() == (game / f"humanoid{suffix}").read_bytes()


@pytest.mark.parametrize("value", [1e7, 1e8, 1e20, 3e38, np.inf, np.nan])
@pytest.mark.parametrize("bone", [0, 13])
def test_a_skeleton_with_huge_coordinates_comes_in_is_edited_and_goes_out(game, value, bone):
    """The tail of a bone that far out was rounded onto its head, and its matrix could not be inverted."""
    path = game / "humanoid.ogf"
    document = ogf.read(path.read_bytes(), path.name, Report())
    rest = document.first(IkData).bones[bone]
    data = bytearray(path.read_bytes())
    index = data.index(rest.rotation.tobytes() + rest.offset.tobytes()) + 12
    data[index : index + 4] = np.float32(value).tobytes()
    path.write_bytes(data)
    rig = load(game)
    out = game / "out.ogf"
    assert bpy.ops.export_scene.xray_ogf(filepath=str(out)) == {"FINISHED"}
    assert out.read_bytes() == bytes(data)
    next(child for child in rig.children if child.type == "MESH").data.vertices[1].co.x += 0.01
    assert bpy.ops.export_scene.xray_ogf(filepath=str(out)) == {"FINISHED"}
    assert out.read_bytes() != bytes(data)
    omf_out = game / "out.omf"
    assert bpy.ops.export_scene.xray_omf(filepath=str(omf_out)) == {"FINISHED"}


@pytest.mark.parametrize("value", [1e8, 3e38, np.inf, np.nan])
def test_a_mesh_with_huge_coordinates_comes_in_is_edited_and_goes_out(game, value):
    path = game / "weapon.ogf"
    document = ogf.read(path.read_bytes(), path.name, Report())
    data = bytearray(path.read_bytes())
    rows = document.children[0].first(Vertices).rows
    index = data.index(rows.tobytes()) + rows.dtype.fields["position"][1]
    data[index : index + 4] = np.float32(value).tobytes()
    path.write_bytes(data)
    rig = load(game, "weapon.ogf", "")
    out = game / "out.ogf"
    assert bpy.ops.export_scene.xray_ogf(filepath=str(out)) == {"FINISHED"}
    assert out.read_bytes() == bytes(data)
    rig.children[0].data.vertices[1].co.x += 0.01
    assert bpy.ops.export_scene.xray_ogf(filepath=str(out)) == {"FINISHED"}
    assert out.read_bytes() != bytes(data)


# Long work ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("window", [True, False])
@pytest.mark.parametrize("undo", [True, False])
@pytest.mark.parametrize("called", ["by a script", "by a dialog", "by the file browser"])
def test_only_what_the_user_started_in_a_window_works_in_steps_and_only_once(monkeypatch, window, undo, called):
    monkeypatch.setattr(operation, "bpy", SimpleNamespace(app=SimpleNamespace(background=False)))
    work = operation.LongWork()
    work.bl_options = {"UNDO"} if undo else set()
    context = SimpleNamespace(window=object() if window else None)
    if called != "by a script":
        work.invoked_by_user(from_browser=called == "by the file browser")
    from_browser = called == "by the file browser" and undo and not operation.STEPS_FROM_BROWSER
    assert work.works_in_steps(context) == (window and called != "by a script" and not from_browser)
    assert not work.works_in_steps(context)
