"""Motions of Descent 3's models in Blender: against the numbers of the game's own code, and back into files."""

import math
import struct
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from mathutils import Quaternion

from addon.blender import compat, transforms
from addon.blender.bone_curves import key_times
from addon.core.errors import WriteError
from addon.core.report import Report
from addon.formats.descent3 import oof
from addon.formats.descent3.oof.pose import keyed_motions
from addon.games.descent3 import motion, rotors
from addon.games.descent3.hierarchy import Chosen, hierarchy_of
from addon.ui import badges
from addon.ui.descent3 import models, panels
from tests.blender.oof_scene import chunks, imported, parts, planned, reloaded, square, warnings
from tests.blender.test_level_panel import Layout
from tests.blender.test_oof import BOTH
from tests.blender.test_written_motions import as_in_a_window, drawn
from tests.formats.descent3.oof import annotated
from tests.formats.descent3.oof.engine import engine_models
from tests.real_files import sampled
from tests.scene import differences, snapshot

MODELS = pytest.mark.parametrize("name", sampled(engine_models()))
SWAP = np.eye(3)[[0, 2, 1]]
"""The file's x right, y up, z forward in Blender's axes."""


def document(data, name="model"):
    return oof.read(data, name, Report())


def scene_matrices(created, tick):
    """((4, 4) in the scene, (4, 4) in the part above) of every part, as Blender evaluates them."""
    bpy.context.scene.frame_set(math.floor(tick), subframe=tick % 1)
    graph = bpy.context.evaluated_depsgraph_get()
    world = [np.array(part.evaluated_get(graph).matrix_world) for part in created.parts]
    above = [part.motionbridge_descent_part.source for part in created.parts]
    assert above == list(range(len(above)))
    return world


def in_parent(world, parents):
    return [m if p < 0 else np.linalg.inv(world[p]) @ m for m, p in zip(world, parents, strict=True)]


def in_game(data, ticks):
    """Poses by the formulas that are held to the game's numbers elsewhere; rotors and turrets stand."""
    return oof.poses(document(data), np.asarray(ticks, np.float64))


def off(matrix, rotation, position):
    """How far a matrix of Blender is from a rotation and place of the file: (matrix elements, units)."""
    turned = np.abs(SWAP @ matrix[:3, :3] @ SWAP - rotation).max()
    return turned, np.abs(SWAP @ matrix[:3, 3] - position).max()


# What plays ----------------------------------------------------------------------------------------------------------


def driven_otherwise(created, numbers, order, parents):
    """(which parts are turned by more than frames, which of them or of what they hang on)."""
    itself = np.array([rotors.rotates_itself(part) is not None for part in created.parts])
    itself |= np.isfinite(numbers["override"][:, order]).any(axis=0)
    below = itself.copy()
    for index in range(len(parents)):
        above = parents[index]
        while above >= 0:
            below[index] |= itself[above]
            above = parents[above]
    return itself, below


def in_model(rotations, positions, parents):
    """Local rotations (n, 3, 3) and positions (n, 3) carried down the hierarchy, part by part."""
    result = {}

    def place_of(part):
        if part not in result:
            turned, placed = rotations[part], positions[part]
            if parents[part] >= 0:
                above, origin = place_of(parents[part])
                turned, placed = above @ turned, origin + above @ placed
            result[part] = turned, placed
        return result[part]

    return [place_of(part) for part in range(len(parents))]


def beside_keys(created, frames):
    """Which frames are so near to a key that Blender plays the key: within 0.0001."""
    owners = {created.holder, *created.parts}
    times = key_times([curve for owner in owners for curve in transforms.playing_curves(owner)])
    if not len(times):
        return np.zeros(len(frames), bool)
    apart = np.abs(frames[:, None].astype(np.float64) - times).min(axis=1)
    return (apart > 0) & (apart < 1.01e-4)


def measured(created, numbers, file):
    """Largest differences from exact arithmetic (local and in the model) and from the game's own, at all samples.

    Rotations and places by turns. The last four are of what the game computed, where its own pitch lets it.
    """
    order = [part.index for part in file.sub_objects]  # the numbers go by index
    parents = file.parent_indices
    itself, below = driven_otherwise(created, numbers, order, parents)
    frames = numbers["frame"].tolist()
    snapped = beside_keys(created, numbers["frame"])
    assert snapped.sum() <= 1
    worst = np.zeros(8)
    for sample in np.flatnonzero(~snapped):
        ideal = numbers["ideal_local_matrix"][sample, order].astype(np.float64)
        positions = numbers["local_position"][sample, order].astype(np.float64)
        world = scene_matrices(created, frames[sample])
        local, model = in_parent(world, parents), in_model(ideal, positions, parents)
        steep = np.hypot(ideal[:, 0, 2], ideal[:, 2, 2]) <= 0.1
        for position in np.flatnonzero(~itself):
            index = order[position]
            rows = [off(local[position], ideal[position], positions[position]), (0, 0), (0, 0), (0, 0)]
            if not steep[position]:
                game = numbers["local_matrix"][sample, index]
                rows[2] = off(local[position], game, positions[position])
            if not below[position]:
                rows[1] = off(world[position], *model[position])
                if not steep.any():
                    game = numbers["model_matrix"][sample, index], numbers["model_position"][sample, index]
                    rows[3] = off(world[position], *game)
            worst = np.maximum(worst, np.ravel(rows))
    return worst


@BOTH
@MODELS
def test_blender_plays_what_the_games_own_code_computed_on_and_between_ticks(name, bones, vectors):
    path = vectors / "oof" / f"{name}.oof"
    model, _ = imported(path, bones=bones, rotors=False, textures=False)
    worst = measured(model, np.load(path.with_suffix(".npz")), document(path.read_bytes()))
    print(name, "ideal local, model; game local, model:", *(f"{v:.1e}" for v in worst))  # noqa: T201 - for reading
    assert (worst[:4] < 1e-4).all(), worst
    assert (worst[4:] < [2e-3, 1e-4, 2e-3, 2e-2]).all(), worst


@BOTH
@MODELS
def test_every_tick_shows_the_exact_pose_in_the_scene(name, bones, vectors):
    path = vectors / "oof" / f"{name}.oof"
    model, _ = imported(path, bones=bones, rotors=False, textures=False)
    first, last = model.ticks
    beyond = 2 if document(path.read_bytes()).major >= 22 else 0  # older files begin at 0
    ticks = np.unique(np.linspace(first - beyond, last + beyond, 25).round())
    game = in_game(path.read_bytes(), ticks)
    spinning = [rotors.rotates_itself(part) is not None for part in model.parts]
    if any(spinning):
        return  # a turret in no battery follows the frame in viewers: compared part by part above
    for row, tick in enumerate(ticks):
        for index, world in enumerate(scene_matrices(model, float(tick))):
            turned, moved = off(world, game.model_rotations[row, index], game.model_positions[row, index])
            assert turned < 1e-4
            assert moved < 1e-4


@BOTH
@MODELS
def test_few_keys_stay_near_the_game_and_keep_its_key_times(name, bones, vectors):
    path = vectors / "oof" / f"{name}.oof"
    model, _ = imported(path, bones=bones, rotors=False, textures=False, few_keys=True)
    file = document(path.read_bytes())
    parents = file.parent_indices
    motions = oof.decode(file, Report()).parts
    moving = [position for position, part in enumerate(motions) if part.motion is not None and part.spin_axis is None]
    step = max(1, (model.ticks[1] - model.ticks[0]) // 12)
    frames = np.concatenate([np.arange(*model.ticks, step), np.arange(*model.ticks, step) + 0.5])
    game = in_game(path.read_bytes(), frames)
    for row, frame in enumerate(frames.tolist()):
        local = in_parent(scene_matrices(model, frame), parents)
        for own_position in moving:
            turned = SWAP @ local[own_position][:3, :3] @ SWAP
            sine = np.linalg.norm(turned - game.rotations[row, own_position]) / (2 * math.sqrt(2))
            assert 2 * math.degrees(math.asin(sine)) < 0.051
    for own_position in moving:
        actual = model.parts[own_position]
        bone = actual.parent_bone if bones else ""
        curves = transforms.channels_of(transforms.playing_curves(model.holder if bones else actual), bone)
        turning = [curve for (channel, _), curve in curves.items() if channel == "rotation_quaternion"]
        motion = motions[own_position].motion
        if (motion.rotations != motion.rotations[:1]).any():
            assert set(motion.key_ticks.tolist()) <= set(key_times(turning).tolist())


def test_fewer_keys_than_ticks(vectors):
    path = vectors / "oof" / "twenty_irregular.oof"
    counts = []
    for few in (False, True):
        model, _ = imported(path, few_keys=few, textures=False)
        times = key_times(transforms.playing_curves(model.parts[1]))
        counts.append((np.count_nonzero(times % 1 == 0), np.count_nonzero(times % 1)))
    assert counts[0][0] == 201
    assert 20 <= counts[1][0] < 201
    assert counts[1][1] < counts[0][1] / 4


def test_keys_lie_between_ticks_only_where_the_game_turns_differently(vectors):
    model, _ = imported(vectors / "oof" / "same_time_keys.oof", textures=False)
    for part in model.parts:
        moves = transforms.channels_of(transforms.playing_curves(part))["location", 0]
        times = key_times([moves])
        between = times[times % 1 != 0]
        # A straight way needs no key between; a step has one just before it or just behind.
        assert (np.minimum(between % 1, 1 - between % 1) < 0.011).all()
        assert len(between) <= 1
    slow = square("slow")
    slow.rotation_mode = "QUATERNION"
    for tick, angle in ((0, 0.0), (60, math.radians(30))):
        slow.rotation_quaternion = Quaternion((0, 0, 1), angle)
        slow.keyframe_insert("rotation_quaternion", frame=tick)
    for curve in transforms.playing_curves(slow):
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"
    plan, _ = planned(Chosen(None, [slow]))
    (keyed,) = keyed_motions(document(plan.data), [oof.decode(document(plan.data), Report()).parts[0].motion], Report())
    assert keyed.rotation_times.tolist() == keyed.position_times.tolist() == list(range(61))


@BOTH
def test_keys_between_ticks_say_nothing_to_an_export(bones, vectors):
    path = vectors / "oof" / "big_steps.oof"
    model, _ = imported(path, bones=bones, textures=False)
    curves = rotation_curves(model, 4, bones)
    assert any(key.co.x % 1 for key in curves[0].keyframe_points)
    for curve in curves:
        for key in curve.keyframe_points:
            if key.co.x % 1:
                key.co.y += 0.25
    assert planned(model.holder)[0].data == path.read_bytes()
    turn_key(curves, 7, Quaternion((1, 2, 3), math.radians(4)))
    plan, _ = planned(model.holder)
    rows = [a != b for a, b in zip(tracks(path.read_bytes(), b"RANI"), tracks(plan.data, b"RANI"), strict=True)]
    assert rows == [index == 4 for index in range(len(rows))]
    hold_to_game(model, plan.data)


@BOTH
def test_all_parts_play_together_and_are_one_action_where_slots_allow(bones, vectors):
    model, _ = imported(vectors / "oof" / "twenty_irregular.oof", bones=bones, textures=False)
    playing = {entry.animation_data.action for entry in ([model.rig] if bones else model.parts)}
    assert len(playing) == (1 if bones or compat.SLOTTED else len(model.parts))
    assert {tuple(action.frame_range) for action in playing} == {(0, 200)}
    assert model.moving == len(model.parts)


# Every byte ----------------------------------------------------------------------------------------------------------


# Edits ---------------------------------------------------------------------------------------------------------------


def tracks(data, identifier):
    """(keys, first, last, bytes) of every sub-object of a timed chunk."""
    body = dict(chunks(data))[identifier]
    size = 20 if identifier != b"PANI" else 16
    at, result = 0, []
    while at < len(body):
        count, first, last = struct.unpack_from("<3i", body, at)
        result.append((count, first, last, body[at + 12 : at + 12 + size * count]))
        at += 12 + size * count
    return result


def rotation_curves(created, position, bones):
    actual = created.parts[position]
    owner, bone = (created.rig, actual.parent_bone) if bones else (actual, "")
    channels = transforms.channels_of(transforms.playing_curves(owner), bone)
    return [channels["rotation_quaternion", index] for index in range(4)]


def turn_key(curves, tick, rotation):
    """Multiply the keys at a tick by a rotation."""
    keys = [next(key for key in curve.keyframe_points if key.co.x == tick) for curve in curves]
    turned = rotation @ Quaternion([key.co.y for key in keys])
    for key, value in zip(keys, turned, strict=True):
        key.co.y = value


@BOTH
@pytest.mark.parametrize("few", [False, True], ids=["every", "few"])
def test_one_key_touched_changes_that_parts_rotations_alone_and_the_game_shows_it(few, bones, vectors):
    path = vectors / "oof" / "position_same_range.oof"
    model, _ = imported(path, bones=bones, few_keys=few, textures=False)
    old = path.read_bytes()
    tick = sorted(key_times(rotation_curves(model, 2, bones)))[1]
    turn_key(rotation_curves(model, 2, bones), tick, Quaternion((1, 2, 3), math.radians(4)))
    plan, _ = planned(model.holder)
    assert [identifier for identifier, _ in chunks(plan.data)] == [identifier for identifier, _ in chunks(old)]
    changed = [a[0] for a, b in zip(chunks(old), chunks(plan.data), strict=True) if a != b]
    assert changed == [b"RANI"]
    rows = [a != b for a, b in zip(tracks(old, b"RANI"), tracks(plan.data, b"RANI"), strict=True)]
    assert rows == [index == 2 for index in range(len(rows))]
    hold_to_game(model, plan.data, 0.08 if few else 0.03)


@BOTH
@pytest.mark.parametrize("few", [False, True], ids=["every", "few"])
def test_one_edited_key_keeps_the_other_keys_of_its_track(few, bones, vectors):
    path = vectors / "oof" / "twenty_irregular.oof"
    model, _ = imported(path, bones=bones, few_keys=few, textures=False)
    old = path.read_bytes()
    index = max(range(len(model.parts)), key=lambda number: tracks(old, b"RANI")[number][0])
    count, first, last, _ = tracks(old, b"RANI")[index]
    starts = [key[0] for key in struct.iter_unpack("<i3fi", tracks(old, b"RANI")[index][3])]
    turn_key(rotation_curves(model, index, bones), float(starts[9]), Quaternion((1, 2, 3), math.radians(4)))
    plan, _ = planned(model.holder)
    after = tracks(plan.data, b"RANI")[index]
    rows = tracks(old, b"RANI")[index][3], after[3]
    before, now = ([row[at : at + 20] for at in range(0, len(row), 20)] for row in rows)
    assert after[1:3] == (first, last)
    assert len(set(before) & set(now)) >= count - 3
    assert after[0] <= count + 12
    hold_to_game(model, plan.data, 0.08 if few else 0.03)


def hold_to_game(created, data, degrees=0.03, units=2e-3):
    """The game's poses of the file are Blender's of the scene, at every tick."""
    file = document(data)
    game = oof.poses(file, np.arange(created.ticks[0], created.ticks[1] + 1))
    parents = file.parent_indices
    for row in range(len(game.rotations)):
        local = in_parent(scene_matrices(created, float(created.ticks[0] + row)), parents)
        for index, matrix in enumerate(local):
            sine = np.linalg.norm(SWAP @ matrix[:3, :3] @ SWAP - game.rotations[row, index]) / (2 * math.sqrt(2))
            assert 2 * math.degrees(math.asin(sine)) < degrees
            assert np.abs(SWAP @ matrix[:3, 3] - game.positions[row, index]).max() < units
    for count, first, last, keys in tracks(data, b"RANI"):
        if count > 1:
            assert last > first
            assert struct.unpack_from("<i", keys)[0] <= first


@BOTH
def test_a_moved_part_gets_positions_and_both_tracks_have_one_range(bones, vectors):
    path = vectors / "oof" / "key_counts.oof"
    model, _ = imported(path, bones=bones, textures=False)
    obj = model.parts[3]
    mover = model.rig.pose.bones[obj.parent_bone] if bones else obj
    for tick, x in ((0, 0.0), (40, 1.5)):
        mover.location.x = x + (0 if bones else obj.motionbridge_descent_part.offset[0])
        mover.keyframe_insert("location", index=0, frame=tick)
    plan, _ = planned(model.holder)
    rotations, moves = tracks(plan.data, b"RANI"), tracks(plan.data, b"PANI")
    assert moves[3][0] >= 2
    assert rotations[3][1:3] == moves[3][1:3]
    assert [row[0] for index, row in enumerate(moves) if index != 3] == [0] * (len(moves) - 1)
    hold_to_game(model, plan.data)


def test_other_tracks_keep_their_bytes_where_a_range_grows(vectors):
    path = vectors / "oof" / "key_counts.oof"
    model, _ = imported(path, textures=False)
    obj = model.parts[2]
    last = transforms.key_range(transforms.playing_curves(obj))[1]
    obj.rotation_quaternion = Quaternion((0, 0, 1), 0.5)
    obj.keyframe_insert("rotation_quaternion", frame=last + 10)
    model.ticks = (model.ticks[0], max(model.ticks[1], last + 10))
    plan, _ = planned(model.holder)
    old, new = tracks(path.read_bytes(), b"RANI"), tracks(plan.data, b"RANI")
    assert new[2][2] == last + 10
    assert [a == b for index, (a, b) in enumerate(zip(old, new, strict=True)) if index != 2] == [True] * (len(old) - 1)
    hold_to_game(model, plan.data)


# What lies outside of the range, and what Blender does not show -------------------------------------------------------


def twenty(vectors, bones=False):
    """The model with twenty keys, the place of its part with most keys, and the file's bytes."""
    path = vectors / "oof" / "twenty_irregular.oof"
    model, _ = imported(path, bones=bones, textures=False)
    old = path.read_bytes()
    return model, max(range(len(model.parts)), key=lambda number: tracks(old, b"RANI")[number][0]), old


def action_of(created, position, bones=False):
    return (created.rig if bones else created.parts[position]).animation_data.action


@BOTH
def test_a_key_taken_away_does_not_shorten_a_motion(bones, vectors):
    created, index_of, old = twenty(vectors, bones)
    _, first, last, _ = tracks(old, b"RANI")[index_of]
    for curve in rotation_curves(created, index_of, bones):
        while curve.keyframe_points[-1].co.x > last - 10:
            curve.keyframe_points.remove(curve.keyframe_points[-1])
    plan, _ = planned(created.holder)
    assert tracks(plan.data, b"RANI")[index_of][1:3] == (first, last)
    hold_to_game(created, plan.data)


@BOTH
def test_a_shorter_frame_range_shortens_motions_and_reports_it(bones, vectors):
    created, index_of, old = twenty(vectors, bones)
    _, first, last, _ = tracks(old, b"RANI")[index_of]
    action_of(created, index_of, bones).frame_end = last - 20
    plan, report = planned(created.holder)
    assert "the frame range of the action" in warnings(report)
    assert tracks(plan.data, b"RANI")[index_of][1:3] == (first, last - 20)
    created.ticks = (first, last - 20)
    hold_to_game(created, plan.data)
    before, after = tracks(old, b"RANI")[index_of][3], tracks(plan.data, b"RANI")[index_of][3]
    assert before[: 20 * 10] == after[: 20 * 10]


def test_a_longer_frame_range_lengthens_what_lasted_to_the_end(vectors):
    created, index_of, old = twenty(vectors)
    _, first, last, keys = tracks(old, b"RANI")[index_of]
    action_of(created, index_of).frame_end = last + 30
    plan, report = planned(created.holder)
    assert not report.warnings
    assert tracks(plan.data, b"RANI")[index_of][1:] == (first, last + 30, keys)


@BOTH
def test_muted_curves_keep_what_the_file_has_and_are_reported(bones, vectors):
    created, index_of, old = twenty(vectors, bones)
    for curve in rotation_curves(created, index_of, bones):
        curve.mute = True
    bpy.context.scene.frame_set(33)
    plan, report = planned(created.holder)
    assert "muted curves are not shown: the file's rotation is kept" in warnings(report)
    assert plan.data == old
    obj = created.parts[index_of]
    mover = created.rig.pose.bones[obj.parent_bone] if bones else obj
    for tick, x in ((0, 0.0), (20, 1.5)):
        mover.location.x = x + (0 if bones else obj.motionbridge_descent_part.offset[0])
        mover.keyframe_insert("location", index=0, frame=tick)
    plan, report = planned(created.holder)
    assert tracks(plan.data, b"RANI")[index_of] == tracks(old, b"RANI")[index_of]
    assert tracks(plan.data, b"PANI")[index_of][0] >= 2


@BOTH
def test_a_rotation_mode_that_hides_keys_is_exported_as_shown_and_reported(bones, vectors):
    created, index_of, old = twenty(vectors, bones)
    actual = created.parts[index_of]
    mover = created.rig.pose.bones[actual.parent_bone] if bones else actual
    mover.rotation_mode = "XYZ"
    mover.rotation_euler = (0, 0, 0.5)
    plan, report = planned(created.holder)
    assert "its rotation mode hides its keys (quaternion): exported as shown" in warnings(report)
    hold_to_game(created, plan.data)
    mover.rotation_mode = "QUATERNION"
    plan, report = planned(created.holder)
    assert not report.warnings
    assert plan.data == old


def test_the_file_browser_says_what_is_not_shown_before_anything_is_written(vectors):
    created, index_of, _ = twenty(vectors)
    for curve in rotation_curves(created, index_of, False):
        curve.mute = True
    bpy.context.view_layer.objects.active = created.parts[index_of]
    browser = as_in_a_window(models.EXPORT_SCENE_OT_descent3_oof, filepath="ship.oof", check_existing=False)
    browser.check(bpy.context)
    assert "muted curves are not shown" in " ".join(drawn(browser))


def test_constraints_drivers_and_nla_are_looked_at_frame_by_frame(vectors):
    path = vectors / "oof" / "key_counts.oof"
    model, _ = imported(path, textures=False)
    first, second, third = model.parts[1], model.parts[2], model.parts[3]
    limit = first.constraints.new("LIMIT_ROTATION")
    limit.use_limit_x = limit.use_limit_y = limit.use_limit_z = True
    limit.owner_space = "LOCAL"
    driver = second.driver_add("location", 2).driver
    driver.expression = "frame * 0.01"
    track = third.animation_data.nla_tracks.new()
    action, slot = third.animation_data.action, compat.suitable_slot(third.animation_data.action, third)
    strip = track.strips.new("strip", 5, action)
    if compat.SLOTTED:
        strip.action_slot = slot
    third.animation_data.action = None
    before = snapshot()
    plan, _ = planned(model.holder)
    assert differences(before, snapshot()) == []
    hold_to_game(model, plan.data)


def test_keys_that_were_taken_away_are_reported_and_the_part_stands_still(vectors):
    path = vectors / "oof" / "twenty_irregular.oof"
    model, _ = imported(path, textures=False)
    model.parts[1].animation_data_clear()
    model.parts[1].location = model.parts[1].motionbridge_descent_part.offset
    model.parts[1].rotation_quaternion = (1, 0, 0, 0)
    plan, report = planned(model.holder)
    assert "has no keys: in the file it moves only with its parent" in warnings(report)
    assert tracks(plan.data, b"RANI")[1][0] == 0
    assert tracks(plan.data, b"RANI")[0] == tracks(path.read_bytes(), b"RANI")[0]


def test_without_animation_imported_the_files_motions_stay(vectors):
    path = vectors / "oof" / "twenty_irregular.oof"
    model, _ = imported(path, animation=False, textures=False)
    assert not list(bpy.data.actions)
    model.parts[0].data.vertices[0].co.x += 0.125
    plan, _ = planned(model.holder)
    assert tracks(plan.data, b"RANI") == tracks(path.read_bytes(), b"RANI")


def test_motions_made_in_blender_become_keys():
    hull = square("hull", location=(1, 2, 3))
    hull.rotation_mode = "XYZ"
    for tick, angle, x in ((0, 0.0, 1.0), (30, math.radians(120), 3.0)):
        hull.rotation_euler.z, hull.location.x = angle, x
        hull.keyframe_insert("rotation_euler", frame=tick)
        hull.keyframe_insert("location", frame=tick)
    square("wing", parent=hull, location=(0, 0, 1))
    bpy.context.scene.frame_set(13)
    plan, _ = planned(Chosen(None, [hull, *hull.children]))
    turned, still = tracks(plan.data, b"RANI")
    assert turned[1:3] == (0, 30)
    assert turned[0] >= 13, "no step is above ten degrees"
    assert still[0] == 0
    file = document(plan.data)
    game = oof.poses(file, np.arange(31))
    for tick in range(31):
        bpy.context.scene.frame_set(tick)
        for index, obj in enumerate((hull, hull.children[0])):
            turned, moved = off(
                np.array(obj.matrix_world), game.model_rotations[tick, index], game.model_positions[tick, index]
            )
            assert turned < 1e-3
            assert moved < 1e-3


@pytest.mark.parametrize("bones", [False, True])
def test_parts_below_one_that_is_scaled_to_zero_cannot_be_sampled(vectors, bones):
    model, _ = imported(vectors / "oof" / "chain_depth_six.oof", bones=bones, textures=False)
    above, below = model.parts[2], model.parts[3]
    below.constraints.new("LIMIT_ROTATION")
    planned(model.holder)
    above.scale = (0, 0, 0)
    with pytest.raises(WriteError, match=f"'{above.name}' is scaled to 0 at frame .*'{below.name}' moves relative"):
        planned(model.holder)


def test_what_a_motion_cannot_hold_is_reported(vectors):
    model, _ = imported(vectors / "oof" / "twenty_irregular.oof", textures=False)
    obj = model.parts[1]
    obj.keyframe_insert("scale", frame=0)
    obj.scale = (2, 1, 1)
    obj.keyframe_insert("scale", frame=20)
    obj.keyframe_insert("hide_render", frame=0)
    _, report = planned(model.holder)
    assert "scale is animated" in warnings(report)
    assert "1 animated property left out (hide_render)" in warnings(report)


@pytest.mark.parametrize("channel", ["location", "delta_location"])
def test_the_pivot_of_a_new_part_is_where_its_first_key_is(channel):
    hull = square("hull")
    part = square("part", parent=hull)
    for frame, value in ((2, 1.0), (9, 5.0)):
        setattr(part, channel, (value, 0, 0))
        part.keyframe_insert(channel, frame=frame)
    result = []
    for frame in (0, 5, 9):
        bpy.context.scene.frame_set(frame)
        result.append(planned(Chosen(None, [hull, part]))[0].data)
    assert result[0] == result[1] == result[2]
    assert [written.offset for written in parts(result[0])] == [(0, 0, 0), (1, 0, 0)]


def test_points_that_move_are_counted_and_the_first_is_named(samples):
    model, _ = imported(samples / "descent3" / "ship.oof", textures=False)
    sentence = "points do not move on their own; keys of {} left out"
    points = hierarchy_of(bpy.context, Chosen(model.holder), Report()).points
    assert len(points) > 1
    for count, point in enumerate(reversed(points), 1):
        for frame in (0, 9):
            point.location.x += 1
            point.keyframe_insert("location", frame=frame)
        _, report = planned(model.holder)
        assert report.warnings[sentence.format(count)] == [point.name]


def test_untimed_keys_cannot_change(vectors):
    model, _ = imported(vectors / "oof" / "v1807_rotation.oof", textures=False)
    index = next(n for n, part in enumerate(model.parts) if transforms.playing_curves(part))
    turn_key(rotation_curves(model, index, False), 1, Quaternion((1, 2, 3), 0.3))
    with pytest.raises(WriteError, match="have no times"):
        planned(model.holder)
    plan, _ = planned(model.holder, anew=True)
    assert plan.data[4:8] == (2300).to_bytes(4, "little")
    hold_to_game(model, plan.data)
    plan, _ = planned(model.holder, version=2300)
    assert plan.data[4:8] == (2300).to_bytes(4, "little")
    assert "version 1807 -> 2300" in plan.sentence()
    hold_to_game(model, plan.data)


def test_a_curve_of_no_number_is_refused(vectors):
    model, _ = imported(vectors / "oof" / "twenty_irregular.oof", textures=False)
    rotation_curves(model, 1, False)[2].keyframe_points[3].co.y = float("nan")
    with pytest.raises(WriteError, match="holds NaN or infinite values"):
        planned(model.holder)


def test_a_motion_longer_than_the_user_would_wait_for_is_refused():
    hull = square("hull")
    for tick in (0, 40_000):
        hull.keyframe_insert("location", frame=tick)
    planned(Chosen(None, [hull]))
    limit = hull.constraints.new("LIMIT_ROTATION")
    with pytest.raises(WriteError, match=r"moves over too many frames to sample \(it has active constraints"):
        planned(Chosen(None, [hull]))
    hull.constraints.remove(limit)
    hull.keyframe_insert("location", frame=200_000)
    with pytest.raises(WriteError, match=r"moves over too many frames: 200001\. Shorten it"):
        planned(Chosen(None, [hull]))


def test_ticks_beyond_blenders_frames_are_left_out_and_kept(tmp_path):
    far = 2_000_000
    keys = b"".join(struct.pack("<i3fi", far + tick, 0, 0, 1, 100 * tick) for tick in (0, 5))
    rows = struct.pack("<3i", 2, far, far + 5) + keys + struct.pack("<3i", 0, 0, 0)
    path = tmp_path / "far.oof"
    path.write_bytes(annotated.model(replaced={b"RANI": rows}, without=(b"PANI", b"WBAT")))
    model, report = imported(path)
    assert "outside of Blender's frames" in warnings(report)
    assert model.moving == 0
    assert planned(model.holder)[0].data == path.read_bytes()


# The badge -----------------------------------------------------------------------------------------------------------


@BOTH
def test_the_badge_tells_which_motions_are_edited(bones, vectors):
    model, _ = imported(vectors / "oof" / "twenty_irregular.oof", bones=bones, textures=False)
    state = model.holder.motionbridge_descent_model
    assert state.motion_status == "UNKNOWN"
    assert bpy.ops.motionbridge.descent_compare() == {"FINISHED"}
    assert state.motion_status == "UNTOUCHED"
    turn_key(rotation_curves(model, 2, bones), 4, Quaternion((1, 0, 0), 0.1))
    assert bpy.ops.motionbridge.descent_compare() == {"FINISHED"}
    assert state.motion_status == "EDITED"
    assert motion.update_status(bpy.context, model.holder) == [model.parts[2]]


@BOTH
@pytest.mark.parametrize("few", [False, pytest.param(True, marks=pytest.mark.deep)], ids=["every", "few"])
def test_a_motion_that_was_saved_back_is_that_of_the_file(few, bones, vectors, tmp_path):
    path = tmp_path / "model.oof"
    path.write_bytes((vectors / "oof" / "twenty_irregular.oof").read_bytes())
    model, _ = imported(path, bones=bones, few_keys=few, textures=False)
    curves = rotation_curves(model, 2, bones)
    tick = next(int(tick) for tick in sorted(key_times(curves))[3:] if tick % 1 == 0)
    turn_key(curves, tick, Quaternion((1, 2, 3), math.radians(20)))
    for curve in curves:  # the lengths of quaternions have no meaning
        next(key for key in curve.keyframe_points if key.co.x == tick).co.y *= 0.5
    assert compared(model) == (["EDITED"], [2])
    assert bpy.ops.motionbridge.descent_save_back() == {"FINISHED"}
    assert model.holder.motionbridge_descent_model.motion_status == "UNTOUCHED"
    assert compared(model) == (["UNTOUCHED"], [])
    assert bpy.ops.motionbridge.descent_save_back() == {"CANCELLED"}
    turn_key(curves, tick, Quaternion((1, 2, 3), math.radians(3)))
    assert compared(model) == (["EDITED"], [2])
    assert bpy.ops.motionbridge.descent_save_back() == {"FINISHED"}
    assert compared(model) == (["UNTOUCHED"], [])
    # What was imported is an edit of what was saved.
    for curve in curves:
        next(key for key in curve.keyframe_points if key.co.x == tick).co.y *= 2
    turn_key(curves, tick, Quaternion((1, 2, 3), math.radians(-23)))
    assert planned(model.holder)[0].data == (vectors / "oof" / "twenty_irregular.oof").read_bytes()
    assert compared(model) == (["EDITED"], [2])
    assert bpy.ops.motionbridge.descent_save_back() == {"FINISHED"}
    assert compared(model) == (["UNTOUCHED"], [])


def compared(created):
    """([the badge], the indices of the parts that were found edited)."""
    for part in created.parts:
        part.select_set(False)
    assert bpy.ops.motionbridge.descent_compare() == {"FINISHED"}
    edited = [index for index, part in enumerate(created.parts) if part.select_get()]
    return [created.holder.motionbridge_descent_model.motion_status], edited


def test_a_saved_motion_is_known_after_the_scene_is_loaded(vectors, tmp_path):
    path = tmp_path / "model.oof"
    path.write_bytes((vectors / "oof" / "twenty_irregular.oof").read_bytes())
    model, _ = imported(path, textures=False)
    turn_key(rotation_curves(model, 2, False), 0, Quaternion((1, 2, 3), math.radians(20)))
    assert bpy.ops.motionbridge.descent_save_back() == {"FINISHED"}
    holder = reloaded(model.holder, tmp_path)
    bpy.context.view_layer.objects.active = holder
    assert bpy.ops.motionbridge.descent_compare() == {"FINISHED"}
    assert holder.motionbridge_descent_model.motion_status == "UNTOUCHED"


# Rotors and turrets --------------------------------------------------------------------------------------------------


@BOTH
def test_rotors_turn_as_in_the_game_and_exports_take_no_notice(bones, vectors):
    path = vectors / "oof" / "rotators_turrets.oof"
    imported_model, _ = imported(path, bones=bones, textures=False)
    model = document(path.read_bytes())
    indices = [
        n
        for n, part in enumerate(imported_model.parts)
        if (message := rotors.rotates_itself(part)) and message.kind.name == "ROTATE"
    ]
    assert indices
    for frame in (0, 6, 17):
        bpy.context.scene.frame_set(frame)
        seconds = frame / 24  # the scene's rate
        game = oof.poses(model, np.array([frame]), np.array([seconds]))
        world = scene_matrices(imported_model, frame)
        local = in_parent(world, model.parent_indices)
        for position in indices:
            turned = np.abs(SWAP @ local[position][:3, :3] @ SWAP - game.rotations[0, position]).max()
            assert turned < 2e-4  # the game counts 65535 units
    state = imported_model.holder.motionbridge_descent_model
    assert planned(imported_model.holder)[0].data == path.read_bytes()
    state.shows_turrets = True
    assert planned(imported_model.holder)[0].data == path.read_bytes()
    state.shows_rotors = state.shows_turrets = False
    owners = [imported_model.rig] if bones else imported_model.parts
    assert not any(owner.animation_data.drivers for owner in owners if owner.animation_data is not None)
    assert planned(imported_model.holder)[0].data == path.read_bytes()


@BOTH
def test_rotors_and_turrets_are_driven_on_what_poses_their_part(bones, samples):
    model, _ = imported(samples / "descent3" / "ship.oof", bones=bones, textures=False)
    model.holder.motionbridge_descent_model.shows_turrets = True
    parts = [part for part in model.parts if rotors.rotates_itself(part)]
    assert len(parts) == 2
    driven = {
        (owner.name, curve.data_path)
        for owner in bpy.data.objects
        if owner.animation_data is not None
        for curve in owner.animation_data.drivers
    }
    assert driven == {
        (model.rig.name, f'pose.bones["{part.parent_bone}"].rotation_quaternion')
        if bones
        else (part.name, "rotation_quaternion")
        for part in parts
    }


def test_a_turret_swings_within_its_field():
    turret = square("turret")
    turret.motionbridge_descent_part.is_part = True
    turret.motionbridge_descent_part.text = "$fov=90,2,0.5"
    turret.motionbridge_descent_part.spin_axis = (0, 0, 1)
    bpy.context.view_layer.objects.active = turret
    turret.select_set(True)
    bpy.ops.motionbridge.descent_begin()
    turret.parent.motionbridge_descent_model.shows_turrets = True
    angles = []
    for frame in range(120):
        bpy.context.scene.frame_set(frame)
        angles.append(math.degrees(turret.matrix_world.to_euler().z))
    assert max(angles) == pytest.approx(45, abs=0.5)
    assert min(angles) == pytest.approx(-45, abs=0.5)


# The panel and the dialog --------------------------------------------------------------------------------------------


def panel_says(active):
    context = SimpleNamespace(active_object=active, scene=bpy.context.scene)
    kind = panels.MOTIONBRIDGE_PT_descent_animation
    assert kind.poll(context)
    panel = type("Panel", (), dict(vars(kind)) | {"layout": Layout()})()
    panel.draw(context)
    return panel.layout.kept


@BOTH
def test_the_panel_tells_ticks_and_keys(bones, vectors):
    model, _ = imported(vectors / "oof" / "position_other_range.oof", bones=bones, textures=False)
    file = (vectors / "oof" / "position_other_range.oof").read_bytes()
    index = next(n for n, row in enumerate(tracks(file, b"RANI")) if row[0] > 1)
    _, first, last, _ = tracks(file, b"RANI")[index]
    message = panel_says(model.parts[index])
    assert f"{model.parts[index].name}: ticks {first} to {last}, keys: {last - first + 1}" in message
    owner, bone = (model.rig, model.parts[index].parent_bone) if bones else (model.parts[index], "")
    own = transforms.channels_of(transforms.playing_curves(owner), bone).values()
    between = np.count_nonzero(key_times(list(own)) % 1)
    assert between
    assert f"In-between keys (display only): {between}" in message
    assert f"Ticks {model.ticks[0]} to {model.ticks[1]}, moving sub-objects: {model.moving}" in message
    assert {"Not Compared", "motionbridge.descent_compare"} <= {text for text in message if isinstance(text, str)}


def test_the_panel_of_a_model_that_stands_still(tmp_path):
    path = tmp_path / "still.oof"
    path.write_bytes(annotated.model(without=(b"RANI", b"PANI")))
    model, _ = imported(path)
    assert panel_says(model.holder) == ["No animated sub-objects", ("shows_rotors", True), ("shows_turrets", True)]


def test_the_import_sets_rate_and_range_where_that_is_asked_for(vectors):
    path = vectors / "oof" / "rotators_turrets.oof"
    before = bpy.context.scene.frame_end
    bpy.ops.import_scene.descent3_oof(filepath=str(path), textures=False)
    assert (bpy.context.scene.render.fps, bpy.context.scene.frame_end) == (24, before)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.import_scene.descent3_oof(filepath=str(path), textures=False, match_scene=True, keys="FEW")
    scene = bpy.context.scene
    assert (scene.render.fps, scene.frame_start, scene.frame_end) == (30, 0, 30)
    fan = next(
        obj for obj in scene.objects if (message := rotors.rotates_itself(obj)) and message.kind.name == "ROTATE"
    )
    seconds = rotors.rotates_itself(fan).numbers[0]
    scene.frame_set(7)
    # Rotors turn by the new rate.
    angle = 2 * math.pi * (7 / 30) / seconds
    assert 2 * math.acos(abs(fan.rotation_quaternion.w)) == pytest.approx(angle % (2 * math.pi), abs=1e-4)


def test_the_import_leaves_motions_out_where_that_is_asked_for(vectors):
    path = vectors / "oof" / "rotators_turrets.oof"
    bpy.ops.import_scene.descent3_oof(filepath=str(path), textures=False, animation=False, rotors=False)
    assert not list(bpy.data.actions)
    assert not any(obj.animation_data for obj in bpy.context.scene.objects)


@pytest.mark.parametrize("between", [False, True])
def test_a_rotor_swings_round_with_an_empty_above_it(samples, between):
    """That a part rotates by itself is no reason to leave out what carries it."""
    model, _ = imported(samples / "descent3" / "ship.oof", textures=False, rotors=False, animation=False)
    index = next(n for n, part in enumerate(model.parts) if rotors.rotates_itself(part) is not None)
    rotor, above = model.parts[index], model.parts[index].parent
    x, y, z = rotor.location = (0.25, 0.5, 0.75)
    rotor.matrix_parent_inverse.identity()
    swinging, still = (bpy.data.objects.new(name, None) for name in ("swinging", "still"))
    for empty, parent in ((swinging, above), (still, swinging)):
        bpy.context.scene.collection.objects.link(empty)
        empty.parent = parent
    rotor.parent = still if between else swinging
    for tick in range(11):
        swinging.rotation_euler.x = np.radians(3 * tick)
        swinging.keyframe_insert("rotation_euler", frame=tick)
    bpy.context.view_layer.update()
    plan, _ = planned(model.holder)
    ticks = np.arange(11)
    positions = in_game(plan.data, ticks).positions[:, index] @ SWAP
    sine, cosine = (of(np.radians(3 * ticks)) for of in (np.sin, np.cos))
    wanted = np.stack([np.full(11, x), cosine * y - sine * z, sine * y + cosine * z], axis=1)
    np.testing.assert_allclose(positions, wanted, atol=1e-4)


# Armatures posed by more than keys -----------------------------------------------------------------------------------


def test_bones_with_constraints_are_looked_at_frame_by_frame(vectors):
    model, _ = imported(vectors / "oof" / "chain_depth_six.oof", bones=True, textures=False)
    goal = bpy.data.objects.new("goal", None)
    bpy.context.scene.collection.objects.link(goal)
    for tick, x in ((0, -3), (30, 4)):
        goal.location = (x, 2, 1)
        goal.keyframe_insert("location", frame=tick)
    bone = model.rig.pose.bones[model.parts[3].parent_bone]
    constraint = bone.constraints.new("DAMPED_TRACK")
    constraint.target = goal
    model.holder.location = (5, 6, 7)
    bpy.context.scene.frame_set(11)
    before = snapshot()
    plan, _ = planned(model.holder)
    assert differences(before, snapshot()) == []
    model.holder.location = (0, 0, 0)
    goal.parent = model.holder  # where the rig stood, the goal was seen from there
    goal.matrix_parent_inverse.translation = (-5, -6, -7)
    hold_to_game(model, plan.data)
    old = tracks((vectors / "oof" / "chain_depth_six.oof").read_bytes(), b"RANI")
    changed = [n for n, (a, b) in enumerate(zip(old, tracks(plan.data, b"RANI"), strict=True)) if a != b]
    assert 3 in changed
    assert set(changed) <= {3, 4}


def test_an_object_moved_on_its_bone_moves_its_part_alone(vectors):
    path = vectors / "oof" / "chain_depth_six.oof"
    model, _ = imported(path, bones=True, textures=False)
    model.parts[2].location.x += 0.25
    plan, _ = planned(model.holder)
    hold_to_game(model, plan.data)


def test_the_badge_follows_edits(vectors):
    model, _ = imported(vectors / "oof" / "twenty_irregular.oof", textures=False)
    state = model.holder.motionbridge_descent_model
    action = model.parts[2].animation_data.action
    assert motion.plays_any(model.holder, [action])
    assert not motion.plays_any(model.holder, [bpy.data.actions.new("other")])
    badges.compare_model(bpy.context)
    assert state.motion_status == "UNTOUCHED"
    turn_key(rotation_curves(model, 2, False), 4, Quaternion((1, 0, 0), 0.1))
    badges.compare_model(bpy.context)
    assert state.motion_status == "EDITED"
    # What must be looked at frame by frame is not compared behind the user's back.
    model.parts[1].constraints.new("LIMIT_ROTATION")
    turn_key(rotation_curves(model, 2, False), 4, Quaternion((1, 0, 0), -0.1))
    badges.compare_model(bpy.context)
    assert state.motion_status == "UNKNOWN"
