"""New HUD Scene: what Blender shows is what the engine's formulas give, in the camera's space."""

import math
import os
from pathlib import Path
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from bpy_extras.object_utils import world_to_camera_view
from mathutils import Vector

from addon.blender import action as blender_action
from addon.blender import control_links, control_rig, nla
from addon.blender.armature import matrices_of
from addon.blender.nla import CONSTRAINTS
from addon.blender.sampling import Movers
from addon.core.envelope import evaluate_curve
from addon.core.errors import ReadError
from addon.core.report import Report
from addon.formats.xray import anm, hud, omf
from addon.formats.xray.omf.document import MotionFlag
from addon.games.xray.bones.properties import game_name
from addon.games.xray.hud import pairs, placing, sections
from addon.games.xray.hud import scene as hud_scene
from addon.games.xray.hud.state import holder_of
from addon.games.xray.motions import library
from addon.games.xray.options import Aspect, Game, HudSceneOptions, Stance
from addon.ui import command
from addon.ui.xray import hud as ui
from tests.blender.test_action_lists import duplicated
from tests.blender.test_ui import refusal
from tests.formats.xray import hud_engine
from tests.formats.xray.test_hud import SETS, composed, parameters, path_of
from tests.real_files import sampled

EXCHANGED = np.eye(4)[[0, 2, 1, 3]]
MIRROR = np.diag([1.0, 1.0, -1.0, 1.0])
GAMES = {"anomaly": Game.ANOMALY, "cop": Game.OPENXRAY, "soc": Game.SHADOW_OF_CHERNOBYL}
BUILT = [
    (created, stance, aspect)
    for created in SETS
    for stance in (Stance.HIP, Stance.AIM)
    for aspect in (Aspect.NARROW, Aspect.WIDE)
    if any(case["wide"] == (aspect is Aspect.WIDE) for case in created["cases"])
]


def sets(cases):
    if cases:
        return [pytest.param(*case, id="-".join([case[0]["id"], *(part.name for part in case[1:])])) for case in cases]
    return [pytest.param(None, None, None, marks=parameters([], None)[0].marks)]


def options_of(created, **chosen):
    files = sorted(created["ltx"], key=lambda name: "defines" not in name)
    names = [name.removeprefix("Game/CallOfPripyat/").removeprefix("gamedata/") for name in files]
    chosen = {"game": GAMES[created["engine"]], "folders": (path_of(created, "gamedata"),)} | chosen
    return HudSceneOptions(section=created["section"], configs=tuple(names), **chosen)


def build(options):
    report = Report()
    own_hud_scene = hud_scene.new_scene(bpy.context, options, report)
    return own_hud_scene, report


def shown_bones(rig, prefix):
    """Bone -> its matrix in the game's camera space."""
    bpy.context.view_layer.update()
    world = np.array(rig.matrix_world)
    return {
        f"{prefix}:{game_name(rig.data.bones[bone.name])}": EXCHANGED @ world @ np.array(bone.matrix) @ MIRROR
        for bone in rig.pose.bones
    }


def play(rig, action):
    hud_scene.library.play(bpy.context, rig, action)


@pytest.mark.parametrize(("created", "stance", "aspect"), sampled(sets(BUILT)))
def test_blender_shows_what_the_formulas_give(created, stance, aspect):
    result, _ = build(options_of(created, stance=stance, aspect=aspect))
    one_model = result.item is None
    assert one_model == (created["hands_ogf"] is None)
    suffix, prefix = ("_aim", "aim:") if stance is Stance.AIM else ("", "")
    compared = 0
    for case in created["cases"]:
        if case["wide"] != (aspect is Aspect.WIDE):
            continue
        play(result.hands, result.hands_actions[case["hands_motion"]])
        if not one_model:
            play(result.item, result.item_actions[case["item_motion"]])
        bpy.context.scene.frame_set(case["item_frame"] if one_model else case["hands_frame"])
        obj = shown_bones(result.hands, "model" if one_model else "hands")
        if not one_model:
            obj |= shown_bones(result.item, "item")
            for rig, name in ((result.hands, "hands"), (result.item, "item")):
                wanted = case[f"blender_{name}_object{suffix}"]  # with quaternions as they are stored
                np.testing.assert_allclose(np.array(rig.matrix_world), wanted, atol=5e-4, rtol=0)
        computed, root, _ = composed(created, case, unit=True, aiming=stance is Stance.AIM)
        whole = np.array((result.item or result.hands).matrix_world)
        np.testing.assert_allclose(whole, EXCHANGED @ root @ EXCHANGED, atol=1e-5, rtol=0)
        assert obj.keys() == computed.keys()
        for bone, matrix in computed.items():
            # Some motions hide bones by moving them 200 m away, where 32-bit numbers are that much coarser.
            far = 1e-6 * float(np.linalg.norm(matrix[:3, 3]))
            np.testing.assert_allclose(obj[bone][:3, :3], matrix[:3, :3], atol=1e-5, rtol=0, err_msg=bone)
            np.testing.assert_allclose(obj[bone][:3, 3], matrix[:3, 3], atol=1e-5 + far, rtol=0, err_msg=bone)
        for bone, matrix in case["world_unit"].items():
            if bone.startswith("aim:") == (stance is Stance.AIM):
                np.testing.assert_allclose(obj[bone.removeprefix(prefix)], matrix, atol=1e-5, rtol=0, err_msg=bone)
                compared += 1
        if "fire_point" in case and stance is Stance.HIP:
            obj = result.hands.motionbridge_hud.points["fire_point"].object
            muzzle = np.array(obj.matrix_world.translation)[[0, 2, 1]]
            np.testing.assert_allclose(muzzle, case["fire_point"], atol=5e-4, rtol=0)  # quaternions as stored
            on_screen = screen(result.camera, case["fire_point"], 30.375)
            np.testing.assert_allclose(on_screen, case["fire_point_ndc_fov30.375_16x9"], atol=1e-5, rtol=1e-4)
    assert compared


def screen(camera, point, field_of_view):
    """-1 to 1 from left to right and bottom to top, through the scene's camera in 16:9."""
    render = bpy.context.scene.render
    camera.data.angle_y = math.radians(field_of_view)
    render.resolution_x, render.resolution_y = Aspect.WIDE.size
    bpy.context.view_layer.update()
    result = world_to_camera_view(bpy.context.scene, camera, Vector(point).xzy)
    return [2 * result.x - 1, 2 * result.y - 1]


# Our own samples ------------------------------------------------------------------------------------------------------


@pytest.fixture
def gamedata(samples, tmp_path):
    """The samples as a game has them."""
    folder = tmp_path / "gamedata"
    (folder / "configs").mkdir(parents=True)
    (folder / "meshes" / "samples").mkdir(parents=True)
    for file in (samples / "configs").iterdir():
        (folder / "configs" / file.name).write_bytes(file.read_bytes())
    for name in ("humanoid.ogf", "humanoid.omf", "weapon.ogf", "weapon.omf"):
        (folder / "meshes" / "samples" / name).write_bytes((samples / name).read_bytes())
    return folder


def sample_options(*folders, **chosen):
    return HudSceneOptions(section="wpn_sample", folders=folders, **chosen)


def values_of(folder):
    configs = sections.load_configs(sample_options(folder), Report())
    return sections.texts(configs, "wpn_sample_hud")


def test_a_section_places_hands_weapon_and_camera(gamedata):
    created, report = build(sample_options(gamedata))
    assert created.collection.name == "wpn_sample_hud"
    own_placing = hud.placing(values_of(gamedata), Report(), wide=True)
    bpy.context.scene.frame_set(7)
    hands, item = shown_bones(created.hands, "hands"), shown_bones(created.item, "item")
    root = hud_engine.item_matrix(own_placing, np.linalg.inv(own_placing.hands) @ hands["hands:hand_r"])
    assert np.array(created.hands.matrix_world) == pytest.approx(EXCHANGED @ own_placing.hands @ EXCHANGED, abs=1e-6)
    assert np.array(created.item.matrix_world) == pytest.approx(EXCHANGED @ root @ EXCHANGED, abs=1e-6)
    assert item["item:wpn_body"] == pytest.approx(root, abs=1e-6)
    # What a person sees in the transform panel are the config's numbers.
    assert created.hands.location[:] == pytest.approx((0.03, 0.05, -0.15))
    assert np.degrees(created.hands.rotation_euler) == pytest.approx((-1, 3, 2), abs=1e-4)
    assert created.item.location[:] == pytest.approx((0, 0, 0.01), abs=1e-6)
    assert np.degrees(created.item.rotation_euler) == pytest.approx((5, 0, 0), abs=1e-4)
    scene = bpy.context.scene
    assert scene.camera == created.camera
    assert (scene.render.fps, scene.render.fps_base) == (30, 1.0)
    assert (scene.render.resolution_x, scene.render.resolution_y) == (1920, 1080)
    assert math.degrees(created.camera.data.angle_y) == pytest.approx(37.35, abs=1e-4)
    assert np.array(created.camera.matrix_world) == pytest.approx(
        np.array([[1, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]]), abs=1e-6
    )
    assert set(report.warnings) == {
        "1 key is missing; some games stop with an error there",  # of the grenade launcher
        "1 texture is neither beside the file nor in the game",
    }


def test_only_the_motions_of_the_actions_come_and_the_idle_one_plays(gamedata):
    created, _ = build(sample_options(gamedata))
    assert set(created.hands_actions) == {"walk", "wave"}
    assert set(created.item_actions) == {"idle", "reload", "shoot"}
    assert created.hands.animation_data.action == created.hands_actions["walk"]
    assert shown_action(created.item) == created.item_actions["idle"]
    scene, action = bpy.context.scene, created.hands_actions["walk"]
    assert (scene.frame_start, scene.frame_end) == (action.frame_start, action.frame_end)


def shown_action(rig):
    """What an item plays, as an action or through its strip."""
    data = rig.animation_data
    return data.action or data.nla_tracks[pairs.TRACK].strips[0].action


def rows_of(created):
    return {row.name: row for row in created.hands.motionbridge_hud.actions}


def test_the_list_has_what_each_action_plays(gamedata):
    created, report = build(sample_options(gamedata))
    rows = rows_of(created)
    assert {name: (row.hands_motion, row.item_motion, row.fallback) for name, row in rows.items()} == {
        "anm_idle": ("walk", "idle", False),
        "anm_reload": ("wave", "reload", False),
        "anm_shots": ("walk", "shoot", False),
        "anm_bore": ("walk", "idle", True),
    }
    assert rows["anm_reload"].speed == 1.5
    assert created.hands.motionbridge_hud.item == created.item
    assert holder_of(created.item.children[0]) == created.hands
    assert holder_of(created.aim) == created.hands
    assert holder_of(created.camera) is None
    assert not report.notes.get("motions of the weapon that no action of the section plays")


def test_what_is_missing_and_what_no_action_plays_is_marked(gamedata):
    config = gamedata / "configs" / "w_sample.ltx"
    text = config.read_bytes().replace(b"= wave, reload", b"= unknown, reload")
    config.write_bytes(text.replace(b"= walk, shoot", b"= walk, idle"))
    created, report = build(sample_options(gamedata))
    row = rows_of(created)["anm_reload"]
    assert (row.hands, row.item, row.hands_motion) == (None, None, "unknown")
    assert report.notes["no motion file that was found has this motion of the hands"] == ["anm_reload: unknown"]
    assert report.notes["motions of the weapon that no action of the section plays"] == ["shoot"]
    before = created.hands.animation_data.action
    created.hands.motionbridge_hud.active_action = list(rows_of(created)).index("anm_reload")
    assert created.hands.animation_data.action == before


# Points and view ------------------------------------------------------------------------------------------------------


@pytest.fixture
def with_points(gamedata):
    """The sample's game folder, whose weapon has a muzzle and a place that shells leave."""
    (gamedata / "configs" / "mod_system_sample.ltx").unlink()  # it takes the muzzle away
    config = gamedata / "configs" / "w_sample.ltx"
    lines = b"shell_bone = wpn_body\r\nshell_point = 0.02, 0.05, 0.1\r\n\r\nanm_idle"
    config.write_bytes(config.read_bytes().replace(b"\r\nanm_idle", lines, 1))
    return gamedata


def test_points_are_shown_moved_and_written(with_points):
    created, _ = build(sample_options(with_points))
    rows = created.hands.motionbridge_hud.points
    assert list(rows.keys()) == ["fire_point", "shell_point"]
    muzzle = rows["fire_point"].object
    assert muzzle.location[:] == pytest.approx((0, 0.43, 0.06), abs=1e-6)
    bpy.context.scene.frame_set(5)
    bones = shown_bones(created.item, "item")
    wanted = hud_engine.fire_point(np.eye(4), bones["item:wpn_body"], (0, 0.06, 0.43))
    np.testing.assert_allclose(np.array(muzzle.matrix_world.translation)[[0, 2, 1]], wanted, atol=1e-6)
    assert placing.changed(created.hands) == {}
    muzzle.location.y += 0.01
    assert placing.texts(created.hands)["fire_point"] == "0, 0.06, 0.44"
    before = bytes_of(with_points)
    assert save_back(created) == {"FINISHED"}
    after = bytes_of(with_points)
    assert after.pop(CONFIG) == before.pop(CONFIG).replace(b"0, 0.06, 0.43", b"0, 0.06, 0.44")
    assert after == before
    assert save_back(created) == {"CANCELLED"}


@pytest.mark.parametrize("key", ["shell_bone", "shell_point"])
def test_a_point_without_its_bone_and_a_bone_without_its_point_are_reported(with_points, key):
    config = with_points / CONFIG
    config.write_bytes(config.read_bytes().replace(key.encode(), b"; "))
    created, report = build(sample_options(with_points))
    assert list(created.hands.motionbridge_hud.points.keys()) == ["fire_point"]
    assert key in report.warnings["1 key is missing; some games stop with an error there"]


def test_a_point_of_a_bone_that_the_model_lacks_is_reported(with_points):
    config = with_points / CONFIG
    config.write_bytes(config.read_bytes().replace(b"shell_bone = wpn_body", b"shell_bone = wpn_none"))
    created, report = build(sample_options(with_points))
    assert list(created.hands.motionbridge_hud.points.keys()) == ["fire_point"]
    assert "has no bone 'wpn_none'" in " ".join(report.warnings)


def test_camera_effects_move_the_view_in_seconds_and_not_the_hands(gamedata, samples):
    effects = gamedata / "anims" / "camera_effects" / "weapon"
    effects.mkdir(parents=True)
    data = (samples / "camera.anm").read_bytes()
    (effects / "WAVE.anm").write_bytes(data)
    created, _ = build(sample_options(gamedata))
    assert set(created.view_actions) == {"wave"}
    still, there = np.array(created.camera.matrix_world), np.array(created.hands.matrix_world)
    number = list(rows_of(created)).index("anm_reload")
    created.hands_actions["wave"].motionbridge_motion.speed = 0.8
    properties = created.hands.motionbridge_hud
    properties.actions[number].speed = 1.25
    properties.active_action = number
    path = anm.decode(anm.read(data, "", Report()), Report())
    for frame in (0, 3, 10):
        bpy.context.scene.frame_set(frame)
        seconds = path.first / path.fps + frame / 30
        moved = created.view.matrix_world
        wanted = [evaluate_curve(curve, np.array([seconds]))[0] for curve in path.channels.location]
        np.testing.assert_allclose(moved.translation, wanted, atol=1e-4)
        np.testing.assert_allclose(np.array(created.camera.matrix_world), np.array(moved) @ still, atol=1e-5)
        np.testing.assert_array_equal(np.array(created.hands.matrix_world), there)
    properties.camera_effects = False
    bpy.context.scene.frame_set(10)
    np.testing.assert_allclose(np.array(created.camera.matrix_world), still, atol=1e-6)
    properties.camera_effects = True
    properties.active_action = 0
    bpy.context.scene.frame_set(10)
    np.testing.assert_allclose(np.array(created.camera.matrix_world), still, atol=1e-6)


def test_the_crosshair_is_in_the_middle_of_the_picture_and_not_rendered(gamedata):
    created, _ = build(sample_options(gamedata))
    crosshair = next(child for child in created.camera.children if child.name.endswith("Crosshair"))
    bpy.context.view_layer.update()
    corners = [crosshair.matrix_world @ vertex.co for vertex in crosshair.data.vertices]
    result = [world_to_camera_view(bpy.context.scene, created.camera, corner) for corner in corners]
    assert np.mean(result, axis=0)[:2] == pytest.approx((0.5, 0.5), abs=1e-5)
    assert np.ptp(result, axis=0)[1] < 0.1
    assert crosshair.hide_render


def test_a_copy_of_the_hands_plays_its_own_action_and_leaves_the_original_alone(gamedata):
    created, _ = build(sample_options(gamedata))
    number = list(rows_of(created)).index("anm_reload")
    created.hands.motionbridge_hud.active_action = number
    played = created.hands.animation_data.action, shown_action(created.item)
    copy = duplicated(created.hands)
    own = copy.animation_data.action
    assert own != played[0]
    for other in (0, number):
        copy.motionbridge_hud.active_action = other
    assert copy.animation_data.action == own
    assert (created.hands.animation_data.action, shown_action(created.item)) == played


def item_pose(created):
    """(bones, 4, 4) relative to the item."""
    bpy.context.view_layer.update()
    return np.array([bone.matrix for bone in created.item.pose.bones])


@pytest.mark.parametrize("flags", [set(), {"STOP_AT_END"}])
@pytest.mark.parametrize(("hands_speed", "item_speed"), [(1.0, 1.0), (0.75, 1.5), (1.25, 1.0)])
def test_both_play_in_the_games_time(gamedata, flags, hands_speed, item_speed):
    created, _ = build(sample_options(gamedata))
    number = list(rows_of(created)).index("anm_reload")
    hands, item = (
        actions[name] for actions, name in ((created.hands_actions, "wave"), (created.item_actions, "reload"))
    )
    hands.motionbridge_motion.speed, item.motionbridge_motion.speed = hands_speed, item_speed
    item.motionbridge_motion.flags = flags
    created.hands.motionbridge_hud.active_action = number
    scene, bits = bpy.context.scene, MotionFlag.STOP_AT_END if flags else 0
    assert created.hands.animation_data.action == hands
    assert (scene.frame_preview_start, scene.frame_preview_end) == (0, hands.frame_end)
    last = int(item.frame_end)
    assert last > 3
    frames = [0, 1, 2, 3, int(hands.frame_end) - 1]
    poses = []
    for frame in frames:
        scene.frame_set(frame)
        poses.append(item_pose(created))
    play(created.item, item)
    for frame, pose in zip(frames, poses, strict=True):
        wanted = hud_engine.frame_after(frame / 30 / hands_speed, last + 1, item_speed, bits)
        scene.frame_set(int(wanted), subframe=wanted - int(wanted))
        np.testing.assert_allclose(pose, item_pose(created), atol=1e-4, err_msg=f"frame {frame}: {wanted}")
    created.hands.motionbridge_hud.active_action = number
    assert sum(track.name.startswith(pairs.TRACK) for track in created.item.animation_data.nla_tracks) <= 1


def test_a_new_action_is_two_motions_of_equal_duration(gamedata):
    created, _ = build(sample_options(gamedata))
    wave, reload = created.hands_actions["wave"], created.item_actions["reload"]
    wave.motionbridge_motion.speed, reload.motionbridge_motion.speed = 0.8, 1.2
    properties = created.hands.motionbridge_hud
    properties.active_action = list(rows_of(created)).index("anm_reload")
    assert bpy.ops.motionbridge.hud_add_action(alias="anm_kick", motion="kick") == {"FINISHED"}
    row = properties.actions[properties.active_action]
    assert (row.name, row.hands_motion, row.item_motion) == ("anm_kick", "kick", "kick")
    assert created.hands.animation_data.action == row.hands
    for copy, original in ((row.hands, wave), (row.item, reload)):
        assert copy.motionbridge_motion.flags == original.motionbridge_motion.flags
        assert [mark.name for mark in copy.motionbridge_motion.marks] == [
            mark.name for mark in original.motionbridge_motion.marks
        ]
    seconds = [action.frame_end / 30 / action.motionbridge_motion.speed for action in (row.hands, row.item)]
    assert seconds[0] == pytest.approx(seconds[1], abs=0.5 / 30 / 0.8)
    sentence = refusal(bpy.ops.motionbridge.hud_add_action, alias="anm_kick2", motion="kick")
    assert "has a motion named 'kick' already" in sentence
    assert "without capitals" in refusal(bpy.ops.motionbridge.hud_add_action, motion="Kick")
    files = gamedata / "meshes" / "samples"
    for rig, name in ((created.hands, "humanoid.omf"), (created.item, "weapon.omf")):
        before = omf.read((files / name).read_bytes(), name, Report()).motion_set
        bpy.context.view_layer.objects.active = rig
        assert bpy.ops.motionbridge.save_back() == {"FINISHED"}
        after = omf.read((files / name).read_bytes(), name, Report()).motion_set
        labels = [definition.label for definition in before.parameters.definitions]
        assert [definition.label for definition in after.parameters.definitions] == [*labels, "kick"]
        for old, new in zip(before.library.motions, after.library.motions, strict=False):
            assert bytes(old.body) == bytes(new.body)
        action = row.hands if rig == created.hands else row.item
        assert after.library.motions[-1].frames == action.frame_end + 1


def test_a_new_action_needs_motions_to_copy(gamedata):
    created, _ = build(sample_options(gamedata))
    properties = created.hands.motionbridge_hud
    before = len(properties.actions), len(bpy.data.actions)
    properties.actions[properties.active_action].hands = None
    for number in (properties.active_action, len(properties.actions)):
        properties.active_action = number
        sentence = refusal(bpy.ops.motionbridge.hud_add_action, alias="anm_kick", motion="kick")
        assert "the active action has no motion of the hands to copy. Choose another action" in sentence
    assert (len(properties.actions), len(bpy.data.actions)) == before


def test_a_motion_file_that_cannot_be_read_is_reported_and_the_rest_is_made(gamedata):
    (gamedata / "meshes" / "samples" / "humanoid.omf").write_bytes(b"no motions")
    created, report = build(sample_options(gamedata))
    assert any(finding.startswith("motions left out: ") for finding in report.warnings)
    assert created.item.parent == created.hands
    assert not created.hands_actions
    assert all(row.hands is None for row in rows_of(created).values())


def test_without_motions_nothing_plays(gamedata):
    created, _ = build(sample_options(gamedata, motions=False))
    assert not created.hands_actions
    assert not bpy.data.actions


def test_the_pinned_root_keeps_its_keys_and_counts_as_no_edit(gamedata, tmp_path):
    created, _ = build(sample_options(gamedata))
    for action in created.item_actions.values():
        assert not Movers(created.item).of(action)
    assert blender_action.why_sampled(created.item) == []
    before = {path: path.read_bytes() for path in gamedata.rglob("*.*") if path.is_file()}
    for rig in (created.hands, created.item):
        bpy.context.view_layer.objects.active = rig
        bpy.ops.motionbridge.update_status()
        assert {file.name for file in rig.motionbridge_motion_files}
        assert {entry.motionbridge_motion.status for entry in library.motions_of(rig.motionbridge_motion_files[0])} == {
            "UNTOUCHED"
        }
        bpy.ops.motionbridge.save_back()
    assert {path: path.read_bytes() for path in gamedata.rglob("*.*") if path.is_file()} == before
    bpy.context.view_layer.objects.active = created.item
    written = tmp_path / "written.omf"
    bpy.ops.export_scene.xray_omf(filepath=str(written))
    assert written.read_bytes() == (gamedata / "meshes" / "samples" / "weapon.omf").read_bytes()


def test_a_constraint_of_the_users_is_sampled_beside_the_pin(gamedata):
    created, _ = build(sample_options(gamedata))
    root = next(bone for bone in created.item.pose.bones if bone.parent is None)
    assert len(root.constraints) == 2
    child = root.children[0]
    child.constraints.new("COPY_LOCATION").target = created.camera
    movers = Movers(created.item).of(created.item_actions["idle"])
    assert movers == {CONSTRAINTS: {child.name}}


def test_the_first_folder_that_has_a_file_wins(gamedata, tmp_path):
    mod = tmp_path / "mod"
    (mod / "configs").mkdir(parents=True)
    text = (gamedata / "configs" / "w_sample.ltx").read_bytes().replace(b"0.03, -0.15, 0.05", b"0.5, 0, 0")
    (mod / "configs" / "w_sample.ltx").write_bytes(text)
    created, _ = build(sample_options(mod, gamedata))
    assert created.hands.location.x == pytest.approx(0.5)


def test_aiming_moves_the_empty_above_the_hands(gamedata):
    created, _ = build(sample_options(gamedata, stance=Stance.AIM))
    own_placing = hud.placing(values_of(gamedata), Report(), wide=True)
    bpy.context.view_layer.update()
    assert np.array(created.aim.matrix_world) == pytest.approx(EXCHANGED @ own_placing.aim @ EXCHANGED, abs=1e-6)


def test_other_models_may_stand_in_for_those_of_the_section(gamedata, samples):
    path, _ = build(sample_options(gamedata, item=str(samples / "weapon_embedded.ogf")))
    assert path.item.name.startswith("weapon_embedded")
    assert set(path.item_actions) == {"idle", "reload", "shoot"}


def test_models_alone_make_a_scene_with_all_their_motions(gamedata):
    folder = gamedata / "meshes" / "samples"
    options = HudSceneOptions(item=str(folder / "weapon.ogf"), hands=str(folder / "humanoid.ogf"), anchor="hand_l")
    created, _ = build(options)
    assert created.item.parent == created.hands
    assert created.item.parent_bone == "hand_l"
    assert (len(created.hands_actions), len(created.item_actions)) == (5, 3)
    np.testing.assert_array_equal(np.array(created.hands.matrix_world), np.eye(4))


def test_one_model_of_arms_and_weapon_is_not_pinned(gamedata):
    path, _ = build(HudSceneOptions(item=str(gamedata / "meshes" / "samples" / "weapon.ogf")))
    assert path.item is None
    assert not any(len(bone.constraints) for bone in path.hands.pose.bones)
    assert len(path.hands_actions) == 3


def test_sections_of_weapons_and_of_hands_are_found(gamedata):
    configs = sections.load_configs(sample_options(gamedata), Report())
    assert sections.hud_sections(configs) == ["wpn_sample_hud"]
    assert sections.hands_sections(configs) == ["actor_hud"]


@pytest.mark.parametrize(
    ("chosen", "sentence"),
    [
        ({"folders": ()}, "no game folder is chosen"),
        ({"folders": (Path("/nowhere"),)}, "no such folder"),
        ({"section": "wpn_none"}, r"there is no section \[wpn_none\]"),
        ({"section": "", "folders": ()}, "neither a section nor a weapon is chosen"),
        ({"section": "hud_base"}, "neither item_visual nor visual"),
        ({"hands_section": "hud_base"}, "the hands have 0 places for items"),
        ({"item": "/nowhere.ogf"}, "no such file"),
    ],
)
def test_what_is_missing_is_named_before_anything_is_made(gamedata, chosen, sentence):
    options = HudSceneOptions(**({"section": "wpn_sample", "folders": (gamedata,)} | chosen))
    with pytest.raises(ReadError, match=sentence):
        build(options)
    assert not bpy.data.objects


def test_a_missing_model_says_where_it_was_looked_for(gamedata):
    (gamedata / "meshes" / "samples" / "weapon.ogf").unlink()
    with pytest.raises(ReadError, match=r"model of the weapon 'samples\\\\weapon.ogf' was not found .*meshes"):
        build(sample_options(gamedata))


# Operator and command -------------------------------------------------------------------------------------------------


def test_the_operator_makes_the_scene(gamedata):
    result = bpy.ops.motionbridge.new_hud_scene(folders=f"{gamedata}; ", section="wpn_sample", stance="AIM")
    assert result == {"FINISHED"}
    assert "wpn_sample_hud" in bpy.data.collections
    message = bpy.context.window_manager.motionbridge_report
    assert "Created wpn_sample_hud: motions of the hands: 2, of the weapon: 3" in message


def test_what_was_in_the_picture_is_hidden_and_named(gamedata):
    def box(name, size, location):
        bpy.ops.mesh.primitive_cube_add(size=size, location=location)
        bpy.context.object.name = name
        return bpy.context.object

    hidden = [box("Default", 2, (0, 0, 0)), box("Near", 0.2, (0.1, 0.6, 0))]
    others = [box("Behind", 0.2, (0, -0.6, 0)), box("Aside", 0.2, (2, 0.6, 0)), box("Room", 8, (0, 0, 0))]
    bpy.ops.motionbridge.new_hud_scene(folders=str(gamedata), section="wpn_sample")
    assert "Hidden, because it was in the picture: Default, Near" in bpy.context.window_manager.motionbridge_report
    assert [obj.hide_render and obj.hide_get() for obj in hidden] == [True, True]
    assert [obj.hide_render or obj.hide_get() for obj in others] == [False, False, False]
    bpy.ops.import_scene.xray_ogf(filepath=str(gamedata / "meshes" / "samples" / "humanoid.ogf"))
    rig = bpy.context.object
    rig.location = 0, 0.8, -1
    bpy.ops.motionbridge.new_hud_scene(folders=str(gamedata), section="wpn_sample")
    assert rig.hide_get()
    assert rig.name in bpy.context.window_manager.motionbridge_report
    own = bpy.context.object.users_collection[0].all_objects
    assert not any(obj.hide_get() for obj in own if obj.type == "MESH")


def test_a_refused_scene_leaves_nothing_behind(gamedata):
    (gamedata / "meshes" / "samples" / "humanoid.ogf").write_bytes(
        (gamedata / "meshes" / "samples" / "weapon.ogf").read_bytes()
    )
    sentence = refusal(bpy.ops.motionbridge.new_hud_scene, folders=str(gamedata), section="wpn_sample")
    assert "has no bone 'hand_r' to attach 'weapon' to" in sentence
    assert not bpy.data.objects
    assert not bpy.data.collections
    assert bpy.context.scene.camera is None


def test_sections_are_offered_while_they_are_typed(gamedata):
    operator = SimpleNamespace(
        folders=str(gamedata), known_game="", configs="", section="", hands_section="", beside=""
    )
    for name, field in HudSceneOptions.FIELDS.items():
        if field.declared:
            setattr(operator, name, getattr(field.default, "name", field.default))
    assert ui._search_section(operator, bpy.context, "SAMPLE") == ["wpn_sample_hud"]
    assert ui._search_section(operator, bpy.context, "other") == []
    assert ui._search_hands(operator, bpy.context, "") == ["actor_hud"]
    assert f"{gamedata};{gamedata}/" in ui._search_folders(operator, bpy.context, f"{gamedata};{gamedata}")
    operator.folders = "/nowhere"
    assert ui._search_section(operator, bpy.context, "") == []


def test_of_a_mod_alone_sections_are_offered_with_what_is_missing(gamedata, tmp_path):
    mod = tmp_path / "mod" / "configs" / "weapons"
    mod.mkdir(parents=True)
    (mod / "w_mod.ltx").write_text(
        '#include "..\\defines.ltx"\n[wpn_mod]:wpn_sample\nhud = wpn_mod_hud\n[wpn_mod_hud]:wpn_sample_hud\n'
        "hands_position_16x9 = 0.5, 0, 0\n[whole_hud]\nitem_visual = samples\\weapon.ogf\n"
    )
    options = HudSceneOptions(folders=(mod.parents[1],))
    lacks = "missing: [wpn_sample_hud], ..\\defines.ltx"
    assert ui.sections_of(options).items == {"wpn_mod_hud": lacks, "whole_hud": "missing: ..\\defines.ltx"}
    incomplete = r"\[wpn_mod_hud\] names no model, and its configs are incomplete: \[wpn_sample_hud\], .*Add the folder"
    with pytest.raises(ReadError, match=incomplete):
        build(HudSceneOptions(section="wpn_mod", folders=options.folders))
    chosen = HudSceneOptions(
        section="whole_hud", folders=(*options.folders, gamedata), configs=("system.ltx", "weapons/w_mod.ltx")
    )
    _, report = build(chosen)
    assert any("there is no file '..\\\\defines.ltx' to include" in line for line in report.lines())
    both = HudSceneOptions(
        section="wpn_mod", folders=(gamedata, *options.folders), configs=("system.ltx", "weapons/w_mod.ltx")
    )
    scene, _ = build(both)
    assert placing.texts(scene.hands)["hands_position_16x9"] == "0.5,0,0"


def test_the_command_makes_lists_and_refuses(gamedata, tmp_path, capfd):
    saved = tmp_path / "hud.blend"
    assert command._execute(["hud", "wpn_sample", "--folders", str(gamedata), "--save", str(saved)]) == 0
    assert "Created wpn_sample_hud" in capfd.readouterr().out
    bpy.ops.wm.open_mainfile(filepath=str(saved))
    assert "wpn_sample_hud" in bpy.data.collections
    assert command._execute(["hud", "--list", "--folders", str(gamedata)]) == 0
    assert capfd.readouterr().out.splitlines()[-1] == "wpn_sample_hud"
    assert command._execute(["hud", "wpn_none", "--folders", str(gamedata)]) == 2
    assert "motionbridge: there is no section [wpn_none]" in capfd.readouterr().err
    assert command._execute(["hud", "--list"]) == 2
    assert "no game folder is chosen" in capfd.readouterr().err


# Save Back ------------------------------------------------------------------------------------------------------------


CONFIG = "configs/w_sample.ltx"
SAVED = (CONFIG, "configs/system.ltx", "meshes/samples/humanoid.omf", "meshes/samples/weapon.omf")


def move(bone, frames=range(10), index=0):
    """Keys on each frame of the action that plays, with what moves step by step along x; of all axes with -1."""
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        bone.location.x += 0.01
        bone.keyframe_insert("location", index=index, frame=frame)


def changed_motions(before, after, name="meshes/samples/humanoid.omf"):
    """The names of the motions of a file that are other bytes than before."""
    old, new = (omf.read(files[name], "", Report()).motion_set.library.motions for files in (before, after))
    return [first.name for first, other in zip(old, new, strict=True) if bytes(first.body) != bytes(other.body)]


def bytes_of(folder):
    """Of every file but backups."""
    files = (path for path in folder.rglob("*.*") if path.suffix != ".bak")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def save_back(created, **options):
    bpy.context.view_layer.objects.active = created.hands
    return bpy.ops.motionbridge.hud_save_back(**options)


def test_a_save_says_each_changed_line_once(gamedata):
    created, _ = build(sample_options(gamedata))
    created.hands.location.x += 0.01
    report = Report()
    (plan,) = sections.plan_configs(created.hands, sections.Inherited.SECTION, report)
    line = "[wpn_sample_hud] hands_position_16x9: 0.03,-0.15,0.05 -> 0.04,-0.15,0.05"
    assert (plan.sentence(), plan.changes.lines, report.lines()) == ("1 line", [line], [f"changed line: {line}"])


def test_without_an_edit_nothing_is_written(gamedata):
    before = bytes_of(gamedata)
    created, _ = build(sample_options(gamedata))
    properties = created.hands.motionbridge_hud
    for stance in Stance:
        for aspect in Aspect:
            properties.stance, properties.aspect = stance.name, aspect.name
    assert placing.changed(created.hands) == {}
    assert save_back(created) == {"CANCELLED"}
    assert "no changes to save" in bpy.context.window_manager.motionbridge_report
    assert bytes_of(gamedata) == before


def test_one_save_writes_both_motion_files_and_the_line_of_a_new_action(gamedata):
    before = bytes_of(gamedata)
    created, _ = build(sample_options(gamedata))
    properties = created.hands.motionbridge_hud
    properties.active_action = list(rows_of(created)).index("anm_reload")
    assert bpy.ops.motionbridge.hud_add_action(alias="anm_kick", motion="kick") == {"FINISHED"}
    assert save_back(created) == {"FINISHED"}
    after = bytes_of(gamedata)
    assert {name for name in after if after[name] != before.get(name)} == {SAVED[0], *SAVED[2:]}
    for name in SAVED[2:]:
        motions = omf.read(after[name], name, Report()).motion_set
        assert motions.parameters.definitions[-1].label == "kick"
    old, new = (files[CONFIG].splitlines(keepends=True) for files in (before, after))
    added = [line for line in new if line not in old]
    # The sample's mod file plays anm_reload at one and a half times its speed.
    assert [line.split() for line in added] == [[b"anm_kick", b"=", b"kick,", b"kick,", b"1.5"]]
    assert [line for line in new if line not in added] == old
    assert values_of(gamedata)["anm_kick"] == "kick,kick,1.5"
    assert "scaled or rotated" not in bpy.context.window_manager.motionbridge_report
    assert save_back(created) == {"CANCELLED"}
    assert bytes_of(gamedata) == after


def test_another_name_of_a_config_that_is_saved_is_reported(gamedata):
    created, _ = build(sample_options(gamedata))
    os.link(gamedata / CONFIG, gamedata / "staging.ltx")
    assert bpy.ops.motionbridge.hud_add_action(alias="anm_kick", motion="kick") == {"FINISHED"}
    assert save_back(created) == {"FINISHED"}
    assert "1 other hard link to the file keeps the old content" in bpy.context.window_manager.motionbridge_report


@pytest.mark.parametrize(
    ("game", "speed", "end", "line"),
    [
        (Game.ANOMALY, 1.0, 0.0, "kick"),
        (Game.ANOMALY, 1.5, 0.0, "kick, kick, 1.5"),
        (Game.ANOMALY, 1.0, 2.25, "kick, kick, 1, 2.25"),
        (Game.OPENXRAY, 1.5, 2.25, "kick"),
    ],
)
def test_the_line_of_a_new_action_has_anomalys_speed_and_end(gamedata, game, speed, end, line):
    created, _ = build(sample_options(gamedata, game=game))
    properties = created.hands.motionbridge_hud
    properties.active_action = list(rows_of(created)).index("anm_reload")
    row = properties.actions[properties.active_action]
    row.speed, row.end = speed, end
    assert bpy.ops.motionbridge.hud_add_action(alias="anm_kick", motion="kick") == {"FINISHED"}
    assert save_back(created) == {"FINISHED"}
    lines = [line for line in (gamedata / CONFIG).read_text("cp1251").splitlines() if line.startswith("anm_kick")]
    assert [line.partition("=")[2].strip() for line in lines] == [line]
    fresh, _ = build(sample_options(gamedata, game=game))
    assert rows_of(fresh)["anm_kick"].speed == (speed if game is Game.ANOMALY else 1.0)


def test_a_new_action_of_the_left_hand_gets_its_twin_for_wide_screens(gamedata):
    config = gamedata / CONFIG
    config.write_bytes(config.read_bytes().replace(b"attach_place_idx        = 0", b"attach_place_idx        = 1"))
    created, _ = build(sample_options(gamedata))
    assert bpy.ops.motionbridge.hud_add_action(alias="anm_kick", motion="kick") == {"FINISHED"}
    assert save_back(created) == {"FINISHED"}
    lines = [line.split() for line in config.read_bytes().splitlines() if line.startswith(b"anm_kick")]
    assert lines == [[b"anm_kick", b"=", b"kick"], [b"anm_kick_16x9", b"=", b"kick"]]
    fresh, _ = build(sample_options(gamedata, aspect=Aspect.WIDE))
    assert "anm_kick" in rows_of(fresh)
    assert "anm_kick_16x9" not in rows_of(fresh)


def real_game(created, tmp_path):
    """A copy of a real set that may be written, and its options."""
    folder, original = tmp_path / "gamedata", path_of(created, "gamedata")
    for file in (file for file in original.rglob("*") if file.is_file()):
        copy = folder / file.relative_to(original)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(file.read_bytes())
    return folder, options_of(created, folders=(folder,))


REAL = [pytest.param(created, id=created["id"]) for created in SETS] or [
    pytest.param(None, marks=parameters([], None)[0].marks)
]


@pytest.mark.parametrize("created", sampled(REAL, 2))
def test_real_sets_are_saved_back_without_an_edit_and_with_one_of_ten_frames(created, tmp_path):
    folder, options = real_game(created, tmp_path)
    before = bytes_of(folder)
    result, _ = build(options)
    assert save_back(result) == {"CANCELLED"}
    assert bytes_of(folder) == before
    row = next(row for row in result.hands.motionbridge_hud.actions if row.hands and row.hands.frame_end >= 10)
    library.play(bpy.context, result.hands, row.hands)
    bone = next(bone for bone in result.hands.pose.bones if game_name(result.hands.data.bones[bone.name]) == "l_hand")
    move(bone, index=-1)
    assert save_back(result) == {"FINISHED"}
    after = bytes_of(folder)
    (name,) = (name for name in after if after[name] != before[name])
    changed = changed_motions(before, after, name)
    assert [motion.lower().decode() for motion in changed] == [row.hands.motionbridge_motion.motion_name.lower()]


@pytest.mark.parametrize("created", sampled(REAL, 2))
def test_a_control_rig_on_the_hands_of_real_sets_changes_what_is_posed_with_it_only(created, tmp_path):
    folder, options = real_game(created, tmp_path)
    before = bytes_of(folder)
    result, _ = build(options)
    rows = [row for row in result.hands.motionbridge_hud.actions if row.hands and row.hands.frame_end >= 10]
    library.play(bpy.context, result.hands, rows[0].hands)
    bpy.context.scene.frame_set(5)
    rigs = [entry for entry in (result.hands, result.item) if entry is not None]
    these_placing = [np.array(own_rig.matrix_world) for own_rig in rigs]
    poses = [matrices_of(own_rig.pose.bones, "matrix") for own_rig in rigs]
    bpy.context.view_layer.objects.active = result.hands
    assert bpy.ops.motionbridge.add_control_rig() == {"FINISHED"}
    bpy.context.scene.frame_set(5)
    for rig, own_placing, pose in zip(rigs, these_placing, poses, strict=True):
        np.testing.assert_allclose(np.array(rig.matrix_world), own_placing, atol=2e-5, rtol=0)
        np.testing.assert_allclose(matrices_of(rig.pose.bones, "matrix"), pose, atol=1e-5, rtol=0)
    # Another action that is played in the list shows its own controls.
    other = next(row for row in rows[1:] if row.hands != rows[0].hands)
    properties = result.hands.motionbridge_hud
    properties.active_action = list(properties.actions).index(other)
    assert result.hands.animation_data.action == other.hands
    assert nla.plays_controls_action(result.hands)
    assert save_back(result) == {"CANCELLED"}
    assert bytes_of(folder) == before
    controls = control_links.controls_of(result.hands)
    goal = next(goal for goal in control_rig.goals_of(controls) if goal.name == "hand_ik.L")
    move(goal, range(2, 6), index=-1)
    assert save_back(result) == {"FINISHED"}
    after = bytes_of(folder)
    (name,) = (name for name in after if after[name] != before[name])
    changed = changed_motions(before, after, name)
    assert [motion.lower().decode() for motion in changed] == [other.hands.motionbridge_motion.motion_name.lower()]


def test_an_edit_of_ten_frames_changes_one_motion_of_the_hands_only(gamedata):
    before = bytes_of(gamedata)
    created, _ = build(sample_options(gamedata))
    bone = next(bone for bone in created.hands.pose.bones if "hand_l" in bone.name)
    library.play(bpy.context, created.hands, created.hands_actions["wave"])
    move(bone)
    assert save_back(created) == {"FINISHED"}
    after = bytes_of(gamedata)
    assert [name for name in after if after[name] != before[name]] == ["meshes/samples/humanoid.omf"]
    assert changed_motions(before, after, SAVED[2]) == [b"wave"]


# Places ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", Stance)
@pytest.mark.parametrize("then", Stance)
@pytest.mark.parametrize("aspect", Aspect)
def test_another_stance_and_aspect_show_what_a_new_scene_shows(gamedata, first, then, aspect):
    created, _ = build(sample_options(gamedata, stance=first))
    properties = created.hands.motionbridge_hud
    properties.stance, properties.aspect = then.name, aspect.name
    fresh, _ = build(sample_options(gamedata, stance=then, aspect=aspect))
    bpy.context.view_layer.update()
    for name in ("hands", "item", "aim"):
        wanted = np.array(getattr(fresh, name).matrix_basis)
        np.testing.assert_allclose(np.array(getattr(created, name).matrix_basis), wanted, atol=1e-6, rtol=0)
    render = bpy.context.scene.render
    assert (render.resolution_x, render.resolution_y) == aspect.size
    assert placing.changed(created.hands) == {}


def moved_scene(gamedata):
    """Hands moved at the hip, the aim turned on a narrow screen, shown as they were at first."""
    result, _ = build(sample_options(gamedata))
    properties = result.hands.motionbridge_hud
    result.hands.location.x += 0.01
    properties.stance, properties.aspect = "AIM", "NARROW"
    result.aim.rotation_euler = (0.1, -0.2, 0.3)
    properties.stance, properties.aspect = "HIP", "WIDE"
    return result


def test_moved_objects_become_values_of_the_position_that_was_shown(gamedata):
    created = moved_scene(gamedata)
    assert placing.changed(created.hands) == {
        "hands_position_16x9": "0.04, -0.15, 0.05",
        "aim_hud_offset_rot": "-0.1, -0.3, 0.2",
    }
    before = (gamedata / CONFIG).read_bytes()
    assert save_back(created) == {"FINISHED"}
    assert (gamedata / CONFIG).read_bytes() == before.replace(b"0.03, -0.15, 0.05", b"0.04, -0.15, 0.05").replace(
        b"0.01, 0.04, -0.1", b"-0.1, -0.3, 0.2"
    )
    assert placing.changed(created.hands) == {}
    assert save_back(created) == {"CANCELLED"}


@pytest.mark.parametrize("inherited", ["SECTION", "PARENT", "MOD"])
def test_an_inherited_value_goes_where_it_is_asked_to(gamedata, inherited):
    created, _ = build(sample_options(gamedata, stance=Stance.AIM))
    before = bytes_of(gamedata)
    created.aim.location.z += 0.02
    assert save_back(created, inherited=inherited) == {"FINISHED"}
    after = bytes_of(gamedata)
    changed = [name for name in after if after[name] != before.get(name)]
    line = b"aim_hud_offset_pos_16x9 = 0, 0.02, 0"
    if inherited == "MOD":
        assert changed == ["configs/mod_system_wpn_sample_hud.ltx"]
        # The sample has a mod file whose changes come before this one's.
        assert after[changed[0]] == b"![wpn_sample_hud]\r\n" + line + b"\r\n"
    else:
        assert changed == [CONFIG]
        own = after[CONFIG].partition(b"[wpn_sample_hud]")
        assert (b"0, 0.02, 0" in own[2]) == (inherited == "SECTION")
        assert (b"0, 0.02, 0" in own[0]) == (inherited == "PARENT")
    assert values_of(gamedata)["aim_hud_offset_pos_16x9"].replace(" ", "") == "0,0.02,0"
    fresh, _ = build(sample_options(gamedata, stance=Stance.AIM))
    np.testing.assert_allclose(np.array(fresh.aim.matrix_basis), np.array(created.aim.matrix_basis), atol=1e-6)


ONE_MODEL = b"""
[wpn_one_hud]
visual = samples\\weapon.ogf
position = 0.02, -0.15, 0.05
orientation = 2, -1, 3
zoom_offset = -0.05, 0.03, -0.08
zoom_rotate_x = 0.01
zoom_rotate_y = 0.04
fire_point = 0, 0.06, 0.43
"""
"""As in Shadow of Chernobyl: arms and weapon are one model, and the angles of aiming have two keys."""


@pytest.mark.parametrize("stance", Stance)
@pytest.mark.parametrize("aspect", Aspect)
@pytest.mark.parametrize("section", ["wpn_sample_hud", "wpn_one_hud"])
def test_values_of_moved_objects_place_them_again(gamedata, stance, aspect, section):
    (gamedata / CONFIG).write_bytes((gamedata / CONFIG).read_bytes() + ONE_MODEL)
    created, _ = build(HudSceneOptions(section=section, folders=(gamedata,), stance=stance, aspect=aspect))
    assert (created.item is None) == (section == "wpn_one_hud")
    parts = placing.shown_parts(created.hands)
    for number, part in enumerate(parts, 1):
        part.obj.location.y += 0.01 * number
        if part.angles:
            about_view = -0.2 if len(part.angles) == 1 else 0.0  # two keys store no angle about the view
            part.obj.rotation_euler = Vector((0.1, about_view, 0.3)) * number
    result = placing.moved_values(created.hands)
    assert list(result) == [key for part in parts for key in (part.position, *part.angles)]
    for part in parts:
        for key in (part.position, *part.angles):
            assert result[key].count(", ") == (0 if len(part.angles) > 1 and key in part.angles else 2)
            created.hands.motionbridge_hud.values[key].text = result[key]
    assert placing.moved_values(created.hands) == {}


def test_positions_are_copied_as_lines(gamedata):
    created = moved_scene(gamedata)
    bpy.context.view_layer.objects.active = created.hands
    assert bpy.ops.motionbridge.hud_copy_values() == {"FINISHED"}
    assert placing.texts(created.hands) == {
        "hands_position_16x9": "0.04,-0.15,0.05",
        "hands_orientation_16x9": "2,-1,3",
        "item_position": "0,0.01,0",
        "item_orientation": "0,5,0",
    }


def test_a_config_that_is_gone_is_reported_before(gamedata):
    moved_scene(gamedata)
    (gamedata / CONFIG).unlink()
    assert "wpn_sample_hud" in refusal(bpy.ops.motionbridge.hud_save_back)


@pytest.mark.parametrize(("created", "stance", "aspect"), sampled(sets(BUILT)))
def test_real_sets_are_unmoved_in_every_stance(created, stance, aspect):
    result, _ = build(options_of(created, stance=stance, aspect=aspect, motions=False))
    properties = result.hands.motionbridge_hud
    for other in Stance:
        for width in Aspect:
            properties.stance, properties.aspect = other.name, width.name
            bpy.context.view_layer.update()
            assert placing.moved_values(result.hands) == {}
    properties.stance, properties.aspect = stance.name, aspect.name
    fresh, _ = build(options_of(created, stance=stance, aspect=aspect, motions=False))
    np.testing.assert_allclose(np.array(result.aim.matrix_basis), np.array(fresh.aim.matrix_basis), atol=1e-6)
    np.testing.assert_allclose(np.array(result.hands.matrix_basis), np.array(fresh.hands.matrix_basis), atol=1e-6)
