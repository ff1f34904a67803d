"""The buttons beside the list of motions, and what a click on a motion does to the scene."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from addon.blender.armature import matrices_of
from addon.games.xray.motions.library import list_motions
from addon.games.xray.motions.omf_codec import OMF
from addon.ui import menus
from addon.ui.preferences import preferences
from tests.blender.test_action_lists import bodies_in
from tests.blender.test_searched_lists import NAMES, in_viewport, listed, search_motions
from tests.blender.test_ui import game_folder, load, refusal


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
    assert scene.frame_preview_end == 15


def test_a_game_that_is_not_used_is_offered_nowhere(wanted):
    wanted.games = {"ARMA"}
    assert [game.identifier for game in menus.GAMES if menus.is_used(bpy.context, game)] == ["ARMA"]
    drawn = []
    layout = type("Menu", (), {"separator": lambda *_: None, "operator": lambda _, name, **__: drawn.append(name)})()
    for draw in (menus._draw_import, menus._draw_export, menus._draw_image):
        draw(type("Owner", (), {"layout": layout})(), bpy.context)
    assert drawn
    assert all("arma" in name for name in drawn)
    assert not bpy.types.IO_FH_motionbridge_xray_ogf.poll_drop(bpy.context)
