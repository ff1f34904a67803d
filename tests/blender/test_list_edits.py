"""The buttons beside the list of motions, and what a click on a motion does to the scene."""

import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from addon.blender.armature import matrices_of
from addon.core.report import Report
from addon.formats.xray import object as editor_model
from addon.formats.xray import skl
from addon.games.xray.motions.library import list_motions
from addon.games.xray.motions.omf_codec import OMF
from addon.ui import menus
from addon.ui.arma.panels import ANIMATIONS, MOTIONBRIDGE_UL_arma_animations
from addon.ui.playing import timing_of_active
from addon.ui.preferences import preferences
from addon.ui.xray.motion_operators import EDITOR_MOTIONS, MOTIONS
from addon.ui.xray.motion_panels import MOTIONBRIDGE_UL_motions
from addon.ui.xray.skeletal import MOTIONBRIDGE_UL_editor_motions
from tests.blender.test_action_lists import bodies_in
from tests.blender.test_searched_lists import NAMES, in_viewport, listed, search_motions
from tests.blender.test_ui import game_folder, last_report, load, refusal


@pytest.fixture
def game(tmp_path, samples):
    return game_folder(tmp_path, samples)


@pytest.fixture
def rig(game):
    return load(game)


@pytest.fixture
def wanted():
    """The preferences, which are set back."""
    result = preferences(bpy.context)
    before = result.follow_length, result.play_on_click, set(result.games)
    yield result
    result.follow_length, result.play_on_click, result.games = before


def test_a_duplicate_is_a_new_motion_below_the_original_and_plays(game, rig):
    before = bodies_in(game / "humanoid.omf")
    rig.animation_data.action = bpy.data.actions["idle"]
    assert bpy.ops.motionbridge.duplicate_motion() == {"FINISHED"}
    copy = rig.animation_data.action
    assert listed(rig) == ["walk", "idle", "idle.001", "wave", "jump", "nod"]
    assert (copy.name, copy.motionbridge_motion.status) == ("idle.001", "NEW")
    copy.motionbridge_motion.motion_name = "rest"
    assert copy.name == "rest"
    assert bpy.ops.motionbridge.save_back() == {"FINISHED"}
    after = bodies_in(game / "humanoid.omf")
    assert [name for name, _ in list_motions(OMF, str(game / "humanoid.omf"))] == [*NAMES[:2], "rest", *NAMES[2:]]
    assert all(after[name] == body for name, body in before.items())
    assert after["rest"] == before["idle"]


def test_a_duplicate_has_controls_of_its_own(rig):
    assert bpy.ops.motionbridge.add_control_rig() == {"FINISHED"}
    original = rig.animation_data.action
    assert bpy.ops.motionbridge.duplicate_motion() == {"FINISHED"}
    copy = rig.animation_data.action
    assert copy.motionbridge_controls not in {None, original.motionbridge_controls}


def test_a_new_motion_has_the_pose_that_is_shown(game, rig):
    bpy.context.scene.frame_set(9)
    rig.pose.bones["hand_l"].matrix = Matrix.Rotation(0.7, 4, "X") @ rig.pose.bones["hand_l"].matrix  # not keyed
    bpy.context.view_layer.update()
    before = matrices_of(rig.pose.bones, "matrix")
    assert bpy.ops.motionbridge.new_motion(name="pose") == {"FINISHED"}
    action = rig.animation_data.action
    assert (action.name, action.motionbridge_motion.status, listed(rig)) == ("pose", "NEW", [*NAMES, "pose"])
    bpy.context.view_layer.update()
    np.testing.assert_allclose(matrices_of(rig.pose.bones, "matrix"), before, atol=1e-5)
    assert bpy.ops.motionbridge.new_motion(name="pose") == {"FINISHED"}
    assert rig.animation_data.action.motionbridge_motion.motion_name == "pose.001"
    rig.pose.bones["hand_l"].keyframe_insert("rotation_quaternion", frame=10)
    assert bpy.ops.motionbridge.save_back() == {"FINISHED"}
    assert list_motions(OMF, str(game / "humanoid.omf"))[-2:] == [("pose", 1), ("pose.001", 11)]


def test_a_new_motion_has_the_pose_of_the_controls(rig):
    assert bpy.ops.motionbridge.add_control_rig() == {"FINISHED"}
    bpy.context.scene.frame_set(5)
    before = matrices_of(rig.pose.bones, "matrix")
    assert bpy.ops.motionbridge.new_motion() == {"FINISHED"}
    bpy.context.view_layer.update()
    np.testing.assert_allclose(matrices_of(rig.pose.bones, "matrix"), before, atol=1e-4)


def test_an_action_that_moves_bones_is_added_and_another_is_refused(rig):
    action = bpy.data.actions.new("nothing")
    assert "has no keys for any bone" in refusal(bpy.ops.motionbridge.add_motion, action="nothing")
    assert not action.motionbridge_motion.is_motion
    copy = bpy.data.actions["nod"].copy()
    copy.name = "agree"
    rig.animation_data.action = None
    assert bpy.ops.motionbridge.add_motion(action="agree") == {"FINISHED"}
    assert listed(rig) == [*NAMES, "agree"]


def test_only_motions_that_the_list_shows_are_deleted_together(rig):
    with in_viewport():
        search_motions("w*")
        assert bpy.ops.motionbridge.delete_listed_motions() == {"FINISHED"}
        assert listed(rig) == ["idle", "jump", "nod"]
        assert rig.animation_data.action.name == "idle"
        search_motions("zzz")
        assert bpy.ops.motionbridge.delete_listed_motions() == {"CANCELLED"}
        assert listed(rig) == ["idle", "jump", "nod"]


def test_a_click_makes_the_length_of_the_motion_the_preview_range(rig, wanted):
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 3, 200
    for name, last in (("nod", 7), ("wave", 36), ("jump", 15)):
        rig.motionbridge_playing = bpy.data.actions.find(name)
        assert scene.use_preview_range
        assert (scene.frame_preview_start, scene.frame_preview_end) == (0, last)
    assert (scene.frame_start, scene.frame_end) == (3, 200)
    wanted.follow_length = False
    rig.motionbridge_playing = bpy.data.actions.find("nod")
    assert not scene.use_preview_range


@pytest.mark.parametrize("used", [False, True])
def test_the_switch_of_the_length_acts_at_once(rig, wanted, used):
    scene = bpy.context.scene
    wanted.follow_length = False
    scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = used, 4, 90
    wanted.follow_length = True
    first, last = map(round, rig.animation_data.action.frame_range)
    assert (scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end) == (True, first, last)
    rig.motionbridge_playing = bpy.data.actions.find("nod")
    assert scene.frame_preview_end == 7
    wanted.follow_length = False
    assert scene.use_preview_range == used
    if used:  # Blender stores no other ends while the range is not used
        assert (scene.frame_preview_start, scene.frame_preview_end) == (4, 90)


@pytest.mark.parametrize("name", ["camera.anm", "arma/walk.rtm", "descent3/ship.oof"])
def test_the_switch_follows_every_kind_of_motion(samples, wanted, name):
    operator = {".anm": "xray_anm", ".rtm": "arma_rtm", ".oof": "descent3_oof"}[Path(name).suffix]
    wanted.follow_length = False
    assert getattr(bpy.ops.import_scene, operator)(filepath=str(samples / name)) == {"FINISHED"}
    scene = bpy.context.scene
    assert not scene.use_preview_range
    wanted.follow_length = True
    first, last = timing_of_active(bpy.context)[1]
    assert (scene.use_preview_range, scene.frame_preview_start) == (True, math.floor(first))
    assert scene.frame_preview_end == math.ceil(last)
    wanted.follow_length = False
    assert not scene.use_preview_range


def test_a_game_that_is_not_used_is_offered_nowhere(wanted):
    wanted.games = {"ARMA"}
    assert [game.identifier for game in menus.GAMES if menus.is_used(bpy.context, game)] == ["ARMA"]
    drawn = []
    layout = type("Menu", (), {"separator": lambda *_: None, "operator": lambda _, name, **__: drawn.append(name)})()
    for draw in (menus._draw_import, menus._draw_export, menus._draw_image):
        draw(type("Owner", (), {"layout": layout})(), bpy.context)
    assert drawn
    assert {name for name in drawn if "arma" not in name} == {"motionbridge.add_game"}
    assert not bpy.types.IO_FH_motionbridge_xray_ogf.poll_drop(bpy.context)


# Every list -----------------------------------------------------------------------------------------------------------


class Case(NamedTuple):
    """A list of motions: its armature, the folder of its files, and what a file of it contains: name -> bytes."""

    listing: Any
    rig: Any
    folder: Path
    contents: Callable[[Path], dict[str, bytes]]
    names: list[str]

    @property
    def shown(self) -> list[str]:
        return [row.name for row in self.listing.rows(self.rig).listed]


def editor_motions(folder: Path) -> dict[str, bytes]:
    data = next(folder.glob("*.skls")).read_bytes()
    return {motion.label: bytes(skl.bytes_of(motion)) for motion in skl.read(data, "x.skls", Report()).motions}


def motions_in_model(folder: Path) -> dict[str, bytes]:
    model = editor_model.read((folder / "weapon.object").read_bytes(), "x.object", Report())
    return {motion.label: bytes(skl.bytes_of(motion)) for motion in model.model.first(skl.Skl).motions}


def game_motions(folder: Path) -> dict[str, bytes]:
    return bodies_in(folder / "humanoid.omf")


def animations(folder: Path) -> dict[str, bytes]:
    return {path.stem: path.read_bytes() for path in folder.glob("*.rtm")}


@pytest.fixture(params=["omf", "skls", "object", "rtm"])
def case(request, tmp_path, samples):
    kind = request.param
    if kind == "rtm":
        for name in ("nod", "wave"):
            shutil.copy(samples / "arma/walk.rtm", tmp_path / f"{name}.rtm")
        files = [{"name": "nod.rtm"}, {"name": "wave.rtm"}]
        bpy.ops.import_scene.arma_rtm(directory=str(tmp_path), files=files)
        rig = bpy.context.view_layer.objects.active
        return Case(ANIMATIONS, rig, tmp_path, animations, ["nod", "wave"])
    if kind == "object":
        shutil.copy(samples / "weapon.object", tmp_path)
        bpy.ops.import_scene.xray_object(filepath=str(tmp_path / "weapon.object"))
        rig = bpy.context.view_layer.objects.active
        return Case(EDITOR_MOTIONS, rig, tmp_path, motions_in_model, list(motions_in_model(tmp_path)))
    folder = game_folder(tmp_path, samples)
    rig = load(folder)
    if kind == "omf":
        return Case(MOTIONS, rig, folder, game_motions, NAMES)
    bpy.ops.export_scene.xray_skl(filepath=str(folder / "motions.skls"), choose="ALL")
    bpy.data.objects.remove(rig)
    bpy.data.batch_remove(bpy.data.actions)
    rig = load(folder, motions="")
    bpy.ops.import_scene.xray_skl(filepath=str(folder / "motions.skls"))
    return Case(EDITOR_MOTIONS, rig, folder, editor_motions, NAMES)


KINDS = {
    kind.__name__: kind
    for kind in (MOTIONBRIDGE_UL_motions, MOTIONBRIDGE_UL_editor_motions, MOTIONBRIDGE_UL_arma_animations)
}


def save(case: Case):
    operator = {"MOTIONBRIDGE_UL_motions": "save_back", "MOTIONBRIDGE_UL_editor_motions": "skeletal_save_back"}
    name = operator.get(case.listing.drawn_by, "arma_save_all")
    options = {"folder": str(case.folder)} if name == "arma_save_all" else {}
    assert getattr(bpy.ops.motionbridge, name)(**options) == {"FINISHED"}


def test_every_list_takes_a_new_motion_with_the_pose_that_is_shown(case):
    before = case.contents(case.folder)
    bpy.context.scene.frame_set(3)
    bone = case.rig.pose.bones[1]
    bone.matrix = Matrix.Rotation(0.4, 4, "X") @ bone.matrix  # not keyed
    bpy.context.view_layer.update()
    poses = matrices_of(case.rig.pose.bones, "matrix")
    assert bpy.ops.motionbridge.new_motion(name="pose") == {"FINISHED"}
    assert case.shown == [*case.names, "pose"]
    assert case.rig.animation_data.action.name == "pose"
    bpy.context.view_layer.update()
    np.testing.assert_allclose(matrices_of(case.rig.pose.bones, "matrix"), poses, atol=1e-5)
    save(case)
    after = case.contents(case.folder)
    assert set(after) == {*before, "pose"}
    assert all(after[name] == data for name, data in before.items())


def test_every_list_takes_a_copy_that_plays_and_is_saved_as_its_original(case):
    before, name = case.contents(case.folder), case.names[0]
    original = bpy.data.actions[name]
    case.listing.play(case.rig, original)
    assert bpy.ops.motionbridge.duplicate_motion() == {"FINISHED"}
    copy = case.rig.animation_data.action
    assert copy != original
    assert sorted(case.shown) == sorted([*case.names, f"{name}.001"])
    assert case.listing.status is None or case.listing.status(copy) == "NEW"
    save(case)
    after = case.contents(case.folder)
    assert set(after) == {*before, f"{name}.001" if case.listing is not ANIMATIONS else f"{name}_001"}
    assert all(after[name] == data for name, data in before.items())


def test_every_list_takes_an_action_that_has_keys_of_its_bones(case):
    bpy.data.actions.new("nothing")
    assert "has no keys for any bone" in refusal(bpy.ops.motionbridge.add_motion, action="nothing")
    other = case.rig.copy()
    other.animation_data_clear()
    bpy.context.scene.collection.objects.link(other)
    bone = other.pose.bones[0]
    for frame in (0, 5):
        bone.location.x = frame / 10
        bone.keyframe_insert("location", frame=frame)
    action = other.animation_data.action
    action.name = "drawn"
    bpy.data.objects.remove(other)
    assert bpy.ops.motionbridge.add_motion(action="drawn") == {"FINISHED"}
    assert case.shown == [*case.names, "drawn"]
    assert bpy.ops.motionbridge.add_motion(action="drawn") == {"CANCELLED"}
    before = case.contents(case.folder)
    save(case)
    assert set(case.contents(case.folder)) == {*before, "drawn"}


@pytest.mark.parametrize("together", [False, True])
def test_what_is_deleted_leaves_a_file_of_many_motions(case, together):
    before, (gone, *left) = case.contents(case.folder), case.names
    case.listing.play(case.rig, bpy.data.actions[gone])
    if together:
        with in_viewport():
            search_motions(gone, kind=KINDS[case.listing.drawn_by])
            assert bpy.ops.motionbridge.delete_listed_motions() == {"FINISHED"}
            search_motions()
    else:
        assert bpy.ops.motionbridge.delete_motion() == {"FINISHED"}
    assert case.shown == left
    assert gone not in bpy.data.actions
    if not left:
        return
    assert case.rig.animation_data.action.name == left[0]
    if case.listing is ANIMATIONS:  # its file stays
        assert case.contents(case.folder) == before
        return
    save(case)
    assert case.contents(case.folder) == {name: before[name] for name in left}


def test_a_button_of_one_list_does_not_touch_another(game, rig):
    bpy.ops.export_scene.xray_skl(filepath=str(game / "motions.skls"), choose="ALL")
    bpy.ops.import_scene.xray_skl(filepath=str(game / "motions.skls"), motions="nod")
    assert bpy.ops.motionbridge.new_motion(name="pose", listing=MOTIONS.drawn_by) == {"FINISHED"}
    assert bpy.ops.motionbridge.new_motion(name="stand", listing=EDITOR_MOTIONS.drawn_by) == {"FINISHED"}
    assert listed(rig) == [*NAMES, "pose"]
    assert [row.name for row in EDITOR_MOTIONS.rows(rig).listed] == ["nod", "stand"]


def test_a_file_of_one_motion_says_so_where_another_is_added(game, rig):
    bpy.ops.export_scene.xray_skl(filepath=str(game / "nod.skl"), choose="ACTIVE")
    bpy.ops.import_scene.xray_skl(filepath=str(game / "nod.skl"))
    assert bpy.ops.motionbridge.duplicate_motion() == {"FINISHED"}
    assert any("a .skl file stores one motion" in line for line in last_report())


@pytest.mark.parametrize("case", ["object"], indirect=True)
def test_a_motion_that_is_deleted_leaves_the_model_that_contains_it(case):
    assert bpy.ops.motionbridge.new_motion(name="pose") == {"FINISHED"}
    save(case)
    new = motions_in_model(case.folder)["pose"]
    assert bpy.ops.motionbridge.delete_motion(action="fire") == {"FINISHED"}
    save(case)
    assert motions_in_model(case.folder) == {"pose": new}
    assert bpy.ops.motionbridge.duplicate_motion() == {"FINISHED"}
    bpy.context.view_layer.objects.active.animation_data.action.motionbridge_motion.motion_name = "fire"
    save(case)
    assert list(motions_in_model(case.folder)) == ["pose", "fire"]
