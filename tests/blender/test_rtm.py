"""Animations of Arma, edited and exported: what was touched changes, nothing else; steps, events, names, refusals."""

import math
import struct

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from addon.blender import armature, compat, scope
from addon.core.errors import MotionbridgeError, ReadError, WriteError
from addon.core.joints import skeleton_of_joints
from addon.core.report import Report
from addon.formats.arma import rtm
from addon.games.arma import animation_edit, timing
from addon.games.arma.options import Encoding, FramesFrom, HierarchyFrom, NamesFrom, PhasesFrom, StepFrom, StepMode
from tests.blender.rtm_scene import curve_of, exported, load, planned, raw_matrices, shown_matrices
from tests.blender.scenes import add_object
from tests.scene import differences, snapshot

IDENTITY_ROWS = (1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0)


def name_field(name: str) -> bytes:
    return name.encode().ljust(32, b"\0")


def plain(bones, frames, step=(0.0, 0.0, 0.0), events=b"") -> bytes:
    """An `.rtm` by the layout: ``frames`` pairs of phase and rows of twelve numbers, one a bone."""
    data = events + b"RTM_0101" + struct.pack("<3f2I", *step, len(frames), len(bones))
    data += b"".join(map(name_field, bones))
    for phase, rows in frames:
        data += struct.pack("<f", phase)
        for bone, row in zip(bones, rows, strict=True):
            data += name_field(bone) + struct.pack("<12f", *row)
    return data


def moved(x=0.0, y=0.0, z=0.0) -> tuple:
    return (*IDENTITY_ROWS[:9], x, y, z)


@pytest.fixture
def walk(tmp_path):
    """Two bones that swing, a step forward (the file's -z), four frames."""
    frames = []
    for number in range(4):
        angle = 0.2 * number
        c, s = math.cos(angle), math.sin(angle)
        turned = (c, s, 0, -s, c, 0, 0, 0, 1, 0.1 * number, 0, 0)
        frames.append((number / 3, [moved(z=0.01 * number), turned]))
    file = tmp_path / "walk.rtm"
    file.write_bytes(plain(["Pelvis", "Spine"], frames, step=(0.0, 0.0, -1.5)))
    return file


# What was touched, and nothing else


def test_a_touched_key_changes_its_bones_matrix_in_its_frame_alone(corpus):
    file = corpus / "rtm" / "melee_pistolblock_launcher3.rtm"
    done = load(file)
    names, _, before = raw_matrices(file.read_bytes())
    leaf = "RightHandThumb3"
    curve_of(done.action, leaf, "location", 0).keyframe_points[7].co[1] += 0.25
    plan = planned(done)
    after = raw_matrices(plan.data)[2]
    changed = np.argwhere((before != after).any(axis=(2, 3)))
    assert changed.tolist() == [[7, names.index(leaf)]]
    moved_by = np.linalg.norm(after[7, names.index(leaf), :3, 3] - before[7, names.index(leaf), :3, 3])
    assert abs(moved_by - 0.25) < 2e-3  # what it hangs on is not quite rigid
    assert [(change.name, change.items[0].keys) for change in plan.changes.parts] == [(leaf, 1)]
    data, original = np.frombuffer(plan.data, np.uint8), np.frombuffer(file.read_bytes(), np.uint8)
    assert len(data) == len(original)
    assert np.count_nonzero(data != original) <= 48


def test_a_touched_parent_takes_its_children_along(corpus):
    file = corpus / "rtm" / "agm_wipeglasses.rtm"
    done = load(file)
    names, _, before = raw_matrices(file.read_bytes())
    curve_of(done.action, "RightForeArm", "rotation_quaternion", 1).keyframe_points[3].co[1] += 0.1
    after = raw_matrices(exported(done))[2]
    changed = {names[bone] for _, bone in np.argwhere((before != after).any(axis=(2, 3)))}
    below = {bone.name for bone in done.rig.data.bones["RightForeArm"].children_recursive}
    assert changed == ({"RightForeArm"} | below) & set(names)
    assert set(np.argwhere((before != after).any(axis=(1, 2, 3))).ravel()) == {3}
    poses = shown_matrices(done, names, timing.kept_frames(done.action.motionbridge_animation))
    for name in changed:
        assert np.abs(poses[3, names.index(name)] - after[3, names.index(name)]).max() < 1e-5


def test_scale_and_shear_that_not_edited_are_written_unchanged(tmp_path):
    sheared = (0.8, 0.1, 0, 0.3, 1.2, 0, 0, 0, 0.7, 1, 2, 3)
    frames = [(0.0, [sheared, moved()]), (1.0, [sheared, moved(x=1)])]
    file = tmp_path / "odd.rtm"
    file.write_bytes(plain(["a", "b"], frames))
    done = load(file, hierarchy=HierarchyFrom.FLAT)
    assert exported(done) == file.read_bytes()
    curve_of(done.action, "b", "location", 0).keyframe_points[1].co[1] += 1
    after = raw_matrices(exported(done))[2]
    assert np.array_equal(after[:, 0], raw_matrices(file.read_bytes())[2][:, 0])


def test_keys_added_between_keep_the_phases_and_matrices_of_the_others(walk):
    done = load(walk)
    _, phases, before = raw_matrices(walk.read_bytes())
    curve_of(done.action, "Spine", "location", 0).keyframe_points.insert(1.5, 3.0)
    _, now, after = raw_matrices(exported(done))
    assert now.tolist() == [*phases[:2], np.float32(0.5), *phases[2:]]
    assert np.array_equal(after[[0, 1, 3, 4], 0], before[:, 0])
    assert np.array_equal(after[[0, 1, 3, 4], 1], before[:, 1])


def test_keys_stretched_together_keep_phases_and_bytes(walk):
    done = load(walk)
    for curve in compat.curve_bag(done.action).fcurves:
        for point in curve.keyframe_points:
            point.co[0] = 10 + 2.5 * point.co[0]
        curve.update()
    assert exported(done) == walk.read_bytes()


def test_constraints_are_sampled_and_what_they_leave_alone_keeps_its_bytes(corpus):
    file = corpus / "rtm" / "dog_runfront.rtm"
    done = load(file)
    names, _, before = raw_matrices(file.read_bytes())
    bone = next(bone.name for bone in done.rig.data.bones if not bone.children)
    constraint = done.rig.pose.bones[bone].constraints.new("LIMIT_LOCATION")
    constraint.use_min_x, constraint.min_x = True, 0.5
    scene = snapshot()
    plan = planned(done)
    assert differences(scene, snapshot()) == []
    assert plan.sampled == ["active constraints"]
    after = raw_matrices(plan.data)[2]
    assert {names[index] for _, index in np.argwhere((before != after).any(axis=(2, 3)))} == {bone}
    poses = shown_matrices(done, names, timing.kept_frames(done.action.motionbridge_animation))
    assert np.abs(poses[:, names.index(bone)] - after[:, names.index(bone)]).max() <= 1e-5


def test_bones_below_one_that_is_scaled_to_zero_are_written_as_shown(walk):
    done = load(walk)
    bone = next(bone for bone in done.rig.pose.bones if bone.parent is not None)
    bone.constraints.new("LIMIT_LOCATION")
    bone.parent.scale = (0, 0, 0)
    matrices = raw_matrices(planned(done).data)[2]
    assert np.isfinite(matrices).all()
    poses = shown_matrices(done, [bone.name], timing.kept_frames(done.action.motionbridge_animation))
    names = raw_matrices(walk.read_bytes())[0]
    assert np.abs(poses[:, 0] - matrices[:, names.index(bone.name)]).max() <= 1e-5


def test_nla_is_sampled(walk):
    done = load(walk)
    track = done.rig.animation_data.nla_tracks.new()
    strip = track.strips.new("walk", 0, done.action)
    done.rig.animation_data.action = None
    strip.scale = 2.0
    before = raw_matrices(walk.read_bytes())[2]
    done.action = None
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 0, 6
    after = raw_matrices(exported(done, frames=FramesFrom.EVERY))[2]
    assert np.abs(after[::2] - before).max() < 1e-5


def test_inverse_kinematics_are_sampled():
    done = drawn_animation(frames=5, bones=("Root", "Upper", "Lower"))
    goal = add_object("goal")
    for frame in range(5):
        goal.location = (0.1 * frame, 0.1, 0.5)
        goal.keyframe_insert("location", frame=frame)
    constraint = done.rig.pose.bones["Lower"].constraints.new("IK")
    constraint.target = goal
    bpy.context.scene.frame_set(2)  # what was keyed above is where its keys say
    before = snapshot()
    plan = planned(done)
    assert differences(before, snapshot()) == []
    assert plan.sampled == ["active constraints"]
    names, _, rows = raw_matrices(plan.data)
    for frame in range(5):
        bpy.context.scene.frame_set(frame)
        for index, name in enumerate(names):
            bone = done.rig.pose.bones[name]
            wanted = np.array(bone.matrix) @ np.linalg.inv(np.array(bone.bone.matrix_local))
            assert np.abs(rows[frame, index] - wanted).max() < 1e-6
    assert np.abs(rows[0, 1] - rows[4, 1]).max() > 0.05


def test_drivers_are_sampled(walk):
    done = load(walk)
    driver = done.rig.pose.bones["Spine"].driver_add("scale", 2).driver
    driver.expression = "1 + frame / 10"
    driver.use_self = False
    plan = planned(done)
    assert "active drivers" in plan.sampled
    rows = raw_matrices(plan.data)[2]
    stretched = np.linalg.norm(rows[:, 1, :3, :3], axis=1).max(axis=1)
    assert np.allclose(stretched, 1 + np.arange(4) / 10, atol=1e-5)
    assert rows[:, 0].tobytes() == raw_matrices(walk.read_bytes())[2][:, 0].tobytes()


def test_other_rotation_modes_are_read(walk):
    done = load(walk)
    bone = done.rig.pose.bones["Spine"]
    bone.rotation_mode = "XYZ"
    bag = compat.curve_bag(done.action)
    for curve in [c for c in bag.fcurves if c.data_path.endswith('"Spine"].rotation_quaternion')]:
        bag.fcurves.remove(curve)
    make = compat.curve_maker(done.action, bag)
    rotation = make('pose.bones["Spine"].rotation_euler', 0, "Spine")
    for frame in range(4):
        rotation.keyframe_points.insert(frame, 0.3 * frame)
    names = ["Pelvis", "Spine"]
    poses = shown_matrices(done, names, np.arange(4, dtype=np.float32))
    assert np.abs(raw_matrices(exported(done))[2] - poses).max() < 1e-6


# Steps


@pytest.mark.parametrize("mode", StepMode)
def test_a_step_forward_moves_forward_and_is_taken_out_again(walk, mode):
    done = load(walk, step=mode)
    positions = []
    for frame in (0, 3):
        bpy.context.scene.frame_set(frame)
        positions.append((done.rig.matrix_world @ done.rig.pose.bones["Pelvis"].matrix).translation.copy())
    kind = positions[1] - positions[0]
    # In the file the bone goes 0.03 along z in place: Blender's y. Characters look along -Y.
    expected = 0.03 - (0.0 if mode is StepMode.LEFT_OUT else 1.5)
    assert (kind - Vector((0, expected, 0))).length < 1e-5
    assert tuple(done.action.motionbridge_animation.step) == (0, -1.5, 0)
    assert exported(done) == walk.read_bytes()


def test_an_object_that_is_turned_walks_where_it_looks(walk):
    rig = load(walk).rig
    rig.rotation_euler = (0, 0, math.pi / 2)
    rig.location = (5, 0, 0)
    done = load(walk, rig, step=StepMode.OBJECT)
    bpy.context.scene.frame_set(3)
    assert (done.rig.matrix_world.translation - Vector((6.5, 0, 0))).length < 1e-5
    assert exported(done) == walk.read_bytes()


def test_edited_keys_of_the_object_are_the_step(walk):
    done = load(walk, step=StepMode.OBJECT)
    curve = next(c for c in compat.curve_bag(done.action).fcurves if c.data_path == "location" and c.array_index == 1)
    curve.keyframe_points[3].co[1] = -2.0
    document = rtm.read(exported(done), "", Report())
    assert np.allclose(document.step, (0, 0, -2.0))
    assert np.array_equal(document.matrices, rtm.read(walk.read_bytes(), "", Report()).matrices)


def test_a_typed_step_is_written(walk):
    done = load(walk)
    done.action.motionbridge_animation.step[1] = -3.0
    assert rtm.read(exported(done), "", Report()).step.tolist() == [0, 0, -3.0]


def test_a_step_measured_from_a_bone_is_taken_out_of_all(walk):
    done = load(walk, step=StepMode.BONES)
    rows = raw_matrices(exported(done, step=StepFrom.BONE, step_bone="Pelvis"))[2]
    document = rtm.read(exported(done, step=StepFrom.BONE, step_bone="Pelvis"), "", Report())
    assert np.allclose(document.step, (0, 0, -1.47), atol=1e-5)
    assert np.abs(rows[:, 0, :3, 3]).max() < 1e-5  # Pelvis stays where it was
    assert np.allclose(rows[:, 1, 1, 3], [0, -0.01, -0.02, -0.03], atol=1e-5)


DIGITS = [f"Rig{side}LegDigit11" for side in ("LB", "RB", "LF", "RF")]
"""A dog's toes."""


def runs(corpus, tmp_path, step):
    """A real run whose frames are numbered, with another step."""
    data = (corpus / "rtm" / "dog_runfront.rtm").read_bytes()
    file = tmp_path / f"run{step}.rtm"
    file.write_bytes(data[:8] + struct.pack("<3f", 0, 0, step) + data[20:])
    return load(file, config=str(corpus / "rtm" / "dog_model.cfg"), step=StepMode.OBJECT)


def slides(done, toe):
    """How far in metres a toe goes over the ground while it is within 1 cm of its lowest place, and on which frames."""
    frames = timing.kept_frames(done.action.motionbridge_animation)
    positions = []
    for frame in frames.tolist():
        bpy.context.scene.frame_set(int(frame), subframe=frame % 1.0)
        positions.append(np.array((done.rig.matrix_world @ done.rig.pose.bones[toe].matrix).translation))
    heights, level = np.array(positions)[:, 2], np.array(positions)[:, :2]
    low = np.flatnonzero(heights <= heights.min() + 0.01)
    down = max(np.split(low, np.flatnonzero(np.diff(low) > 1) + 1), key=len)
    return float(np.linalg.norm(level[down] - level[down[0]], axis=1).max()), down.tolist()


@pytest.mark.deep
def test_a_real_run_goes_forward_and_its_planted_feet_stay(corpus, tmp_path):
    planted = {toe: slides(runs(corpus, tmp_path, 0.0), toe)[1] for toe in DIGITS}
    assert planted == dict(zip(DIGITS, ([1, 2], [12, 13], [7, 8, 9], [6, 7]), strict=True))
    for toe in DIGITS:
        in_place, as_in_file, backwards = (slides(runs(corpus, tmp_path, step), toe)[0] for step in (0.0, -3.0, 3.0))
        # The step of this file is shorter than its dog's; the direction is not in doubt.
        assert as_in_file < 0.3 * in_place < in_place < backwards
        assert slides(runs(corpus, tmp_path, -4.0), toe)[0] < 0.02


# Events


def mdat(events) -> bytes:
    data = b"RTM_MDAT" + struct.pack("<2I", 0, len(events))
    for phase, name, value in events:
        data += struct.pack("<fB", phase, len(name)) + name + struct.pack("<B", len(value)) + value
    return data


@pytest.fixture
def sounds(tmp_path):
    file = tmp_path / "sounds.rtm"
    frames = [(number / 10, [moved(x=number)]) for number in range(11)]
    file.write_bytes(plain(["a"], frames, events=mdat([(0.123, b"StepSound", b""), (0.7, b"StepSound", b"left")])))
    return file


def test_events_are_markers_and_only_moved_ones_are_rounded(sounds):
    done = load(sounds)
    markers = {marker.name: marker.frame for marker in done.action.pose_markers}
    assert markers == {"StepSound #1": 1, "StepSound #2": 7}
    assert exported(done) == sounds.read_bytes()
    done.action.pose_markers["StepSound #2"].frame = 4
    events = rtm.read(exported(done), "", Report()).events
    assert [(event.phase, event.name, event.value) for event in events] == [
        (np.float32(0.123), b"StepSound", b""),
        (np.float32(0.4), b"StepSound", b"left"),
    ]
    done.action.pose_markers.remove(done.action.pose_markers["StepSound #1"])
    assert len(rtm.read(exported(done), "", Report()).events) == 1


def test_new_events_make_a_block_of_them(walk):
    done = load(walk)
    bpy.context.view_layer.objects.active = done.rig
    bpy.context.scene.frame_set(3)
    assert bpy.ops.motionbridge.arma_event_add() == {"FINISHED"}
    event = done.action.motionbridge_animation.events[0]
    event.label, event.value = "Sound", "bark"
    assert [marker.name for marker in done.action.pose_markers] == ["Sound #1"]
    data = exported(done)
    assert data == mdat([(1.0, b"Sound", b"bark")]) + walk.read_bytes()
    event.phase = 0.0
    assert done.action.pose_markers[0].frame == 0
    assert bpy.ops.motionbridge.arma_event_remove() == {"FINISHED"}
    assert exported(done) == walk.read_bytes()


def test_own_markers_become_events_on_request(walk):
    done = load(walk)
    done.action.pose_markers.new("note").frame = 3
    assert exported(done) == walk.read_bytes()
    assert rtm.read(exported(done, own_markers=True), "", Report()).events[0].name == b"note"


# Frames and phases


def test_frames_are_keys_or_every_nth_or_a_range(walk):
    done = load(walk)
    assert len(raw_matrices(exported(done, frames=FramesFrom.EVERY, every=3))[1]) == 2
    phases = raw_matrices(exported(done, frames=FramesFrom.RANGE, first=1, last=2))[1]
    assert phases.tobytes() == raw_matrices(walk.read_bytes())[1][1:3].tobytes()
    even = raw_matrices(exported(done, frames=FramesFrom.RANGE, first=0, last=6, phases=PhasesFrom.EVEN))[1]
    assert even.tobytes() == (np.arange(7, dtype=np.float32) * np.float32(1 / 6)).tobytes()


def test_a_pose_is_written_as_two_frames():
    done = drawn_animation(frames=1)
    _, phases, rows = raw_matrices(exported(done))
    assert phases.tolist() == [0, 1]
    assert np.array_equal(rows[0], rows[1])
    assert len(raw_matrices(exported(done, pairs=False))[1]) == 1


def drawn_animation(frames=11, bones=("Root", "Tip"), connect=False):
    """An armature that came from no file, its second bone turning."""
    points = np.array([[0.0, 0.0, 0.3 * number] for number in range(len(bones))])
    skeleton = skeleton_of_joints("drawn", list(bones), [number - 1 for number in range(len(bones))], points)
    rig, _ = armature.build(bpy.context, skeleton)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    action, _, bag = compat.new_action("drawn", "OBJECT", rig.name)
    make = compat.curve_maker(action, bag)
    curve = make(f'pose.bones["{bones[-1]}"].rotation_quaternion', 1, bones[-1])
    for frame in range(frames):
        curve.keyframe_points.insert(frame, 0.05 * frame)
    bpy.context.view_layer.update()
    compat.assign(rig, action)

    class Drawn:
        pass

    done = Drawn()
    done.rig, done.action = rig, action
    return done


def test_what_is_drawn_in_blender_gets_the_usual_phases_and_comes_back(tmp_path):
    done = drawn_animation()
    plan = planned(done)
    names, phases, rows = raw_matrices(plan.data)
    assert names == ["Root", "Tip"]
    assert plan.changes.new
    assert phases.tobytes() == (np.arange(11, dtype=np.float32) * np.float32(0.1)).tobytes()
    file = tmp_path / "drawn.rtm"
    file.write_bytes(plan.data)
    again = load(file, done.rig)
    assert np.abs(shown_matrices(again, names, np.arange(11, dtype=np.float32)) - rows).max() < 1e-6


# Names, order, kinds


def test_names_and_order_come_from_file_config_or_armature(walk, tmp_path):
    config = tmp_path / "bones.cfg"
    config.write_text(
        'class CfgSkeletons { class Man { skeletonBones[] = {"spine", "PELVIS", "PELVIS", ""}; }; };', encoding="ascii"
    )
    done = load(walk)
    done.rig.data.bones["Spine"].name = "SPINE"
    for entry in done.action.motionbridge_animation.bones:
        entry.bone = entry.bone.replace("Spine", "SPINE")
    assert raw_matrices(exported(done))[0] == ["Pelvis", "Spine"]
    assert raw_matrices(exported(done, names=NamesFrom.CONFIG, config=str(config)))[0] == ["spine", "PELVIS"]
    assert raw_matrices(exported(done, names=NamesFrom.ARMATURE))[0] == ["Pelvis", "SPINE"]


def test_bones_in_another_order_keep_their_own_numbers(tmp_path):
    """Shear cannot be shown in Blender: it stays only where each bone is compared with its own matrices."""
    config = tmp_path / "bones.cfg"
    config.write_text(
        'class CfgSkeletons { class Man { skeletonBones[] = {"Spine", "Pelvis", "Pelvis", ""}; }; };', encoding="ascii"
    )
    rows = [[(1, 0.3 + 0.1 * frame, *IDENTITY_ROWS[2:]), (*IDENTITY_ROWS[:4], 2 + frame, 0.7, *IDENTITY_ROWS[6:])]
            for frame in range(3)]  # fmt: skip
    file = tmp_path / "sheared.rtm"
    file.write_bytes(plain(["Pelvis", "Spine"], list(zip((0.0, 0.5, 1.0), rows, strict=True))))
    before = raw_matrices(file.read_bytes())[2]
    done = load(file)
    names, _, after = raw_matrices(exported(done, names=NamesFrom.CONFIG, config=str(config)))
    assert names == ["Spine", "Pelvis"]
    assert np.array_equal(after, before[:, ::-1])
    fewer = exported(done, names=NamesFrom.CONFIG, config=str(config), frames=FramesFrom.RANGE, first=1, last=2)
    assert np.array_equal(raw_matrices(fewer)[2], before[1:, ::-1])
    same_order = exported(done, frames=FramesFrom.RANGE, first=1, last=2)
    assert np.array_equal(raw_matrices(same_order)[2], before[1:])


def test_a_prefix_and_other_case_find_the_bones(walk):
    rig = load(walk).rig
    rig.data.motionbridge_skeleton.bones.clear()
    for bone in rig.data.bones:
        bone.name = f"def_{bone.name.upper()}"
    done = load(walk, rig, prefix="DEF_")
    assert [entry.bone for entry in done.action.motionbridge_animation.bones] == ["def_PELVIS", "def_SPINE"]
    assert exported(done) == walk.read_bytes()


def test_a_scaled_armature_is_reported_and_applied_it_plays_what_the_game_plays(walk):
    rig = load(walk).rig
    rig.scale = (2, 2, 2)
    bpy.context.view_layer.update()
    report = Report()
    load(walk, rig, report)
    assert any("apply its scale (Ctrl A) and import again" in line for line in report.lines())
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
    report = Report()
    done = load(walk, rig, report)
    assert not any("is scaled" in line for line in report.lines())
    names, _, matrices = raw_matrices(walk.read_bytes())
    frames = np.arange(len(matrices), dtype=np.float32)
    in_world = np.array(rig.matrix_world)
    poses = in_world @ shown_matrices(done, names, frames) @ np.linalg.inv(in_world)
    assert np.abs(poses - matrices).max() < 1e-5


def test_bones_that_the_armature_lacks_are_kept(walk):
    done = drawn_animation(bones=("Pelvis", "Tail"))
    report = Report()
    again = load(walk, done.rig, report)
    assert again.missing == ["Spine"]
    assert any("not in the armature" in line for line in report.lines())
    assert exported(again) == walk.read_bytes()
    curve_of(again.action, "Pelvis", "location", 0).keyframe_points[1].co[1] += 1
    before, after = raw_matrices(walk.read_bytes())[2], raw_matrices(exported(again))[2]
    assert np.array_equal(before[:, 1], after[:, 1])
    assert not np.array_equal(before[:, 0], after[:, 0])


def test_a_deleted_bone_keeps_its_keys_in_the_file_and_that_is_reported(walk):
    done = load(walk)
    with scope.editing_armature(bpy.context, done.rig) as bones:
        bones.remove(bones["Spine"])
    report = Report()
    assert exported(done, report=report) == walk.read_bytes()
    assert report.warnings == {"keys of a bone that the armature lacks; those of the file are kept": ["walk: Spine"]}
    report = Report()
    exported(done, report=report, from_file=False)
    assert "keys of a bone that the armature lacks; left out" in report.warnings


def test_connected_bones_are_disconnected_and_reported(walk):
    done = drawn_animation(bones=("Pelvis", "Spine"))
    bpy.ops.object.mode_set(mode="EDIT")
    bones = done.rig.data.edit_bones
    bones["Pelvis"].tail = bones["Spine"].head
    bones["Spine"].use_connect = True
    bpy.ops.object.mode_set(mode="OBJECT")
    done.rig.pose.bones["Spine"].rotation_mode = "XYZ"
    done.rig.hide_set(True)
    report = Report()
    again = load(walk, done.rig, report)
    assert any("disconnected" in line for line in report.lines())
    names, _, wanted = raw_matrices(walk.read_bytes())
    assert np.abs(shown_matrices(again, names, np.arange(4, dtype=np.float32)) - wanted).max() < 1e-5
    assert done.rig.hide_get()


def test_plain_and_binarised_say_the_same(walk, tmp_path):
    done = load(walk)
    data = exported(done, kind=Encoding.BINARISED)
    assert data[:8] == b"BMTR" + struct.pack("<I", 5)
    file = tmp_path / "walk_bmtr.rtm"
    file.write_bytes(data)
    again = load(file, hierarchy=HierarchyFrom.ARMA3)
    assert exported(again) == data
    back = raw_matrices(exported(again, kind=Encoding.PLAIN))
    wanted = raw_matrices(walk.read_bytes())
    assert back[0] == ["pelvis", "spine"]
    assert back[1].tobytes() == wanted[1].tobytes()
    assert np.abs(back[2] - wanted[2]).max() < 5e-4


def test_what_a_binarised_file_cannot_hold_is_reported(tmp_path):
    file = tmp_path / "far.rtm"
    file.write_bytes(plain(["Pelvis"], [(0.0, [moved(x=100.03)]), (1.0, [moved(x=1)])]))
    report = Report()
    done = load(file)
    assert planned(done, report=report).data == file.read_bytes()
    assert not report
    planned(done, kind=Encoding.BINARISED, report=report)
    # Numbers of 11 bits are 1/16 apart from 64 on.
    (line,) = report.lines()
    assert line == "positions of Pelvis are rounded by up to 0.03 m: binarised files hold 11 bits of each (x)"


def test_a_binarised_file_needs_the_games_hierarchy(walk, tmp_path):
    file = tmp_path / "other.rtm"
    file.write_bytes(walk.read_bytes().replace(b"Pelvis", b"Quelle").replace(b"Spine", b"Stamm"))
    done = load(file)
    with pytest.raises(WriteError, match="hierarchy"):
        planned(done, kind=Encoding.BINARISED)
    data = exported(load(walk), kind=Encoding.BINARISED)
    file.write_bytes(data)
    with pytest.raises(MotionbridgeError, match="parent"):
        load(file, hierarchy=HierarchyFrom.FLAT)


@pytest.mark.parametrize("bones", [("DEF-Pelvis", "DEF-Spine"), ("DEF-Spine", "DEF-Pelvis")])
def test_bones_of_a_rig_behind_a_prefix_have_the_parents_of_the_known_man(bones, tmp_path):
    done = drawn_animation(bones=bones)
    done.rig.pose.bones[bones[0]].keyframe_insert("location", frame=0)
    done.rig.pose.bones[bones[0]].location = (0.5, 0.25, 0)
    done.rig.pose.bones[bones[0]].keyframe_insert("location", frame=10)
    report = Report()
    file = tmp_path / "own.rtm"
    file.write_bytes(planned(done, report=report, kind=Encoding.BINARISED, prefix="DEF-").data)
    assert not any("are taken for those of the game" in line for line in report.lines())
    again = load(file, hierarchy=HierarchyFrom.ARMA3)
    names, _, matrices = raw_matrices(exported(again, kind=Encoding.PLAIN))
    wanted_names, _, wanted = raw_matrices(exported(done, kind=Encoding.PLAIN, prefix="DEF-"))
    assert [name.lower() for name in wanted_names] == names
    assert np.abs(matrices - wanted).max() < 5e-4


def test_the_parents_of_a_rig_of_unknown_bones_are_a_guess_that_is_reported(tmp_path):
    report = Report()
    planned(drawn_animation(bones=("DEF-Quelle", "DEF-Stamm")), report=report, kind=Encoding.BINARISED, prefix="DEF-")
    assert any("are taken for those of the game's skeleton; name its model.cfg" in line for line in report.lines())
    config = tmp_path / "bones.cfg"
    config.write_text(
        'class CfgSkeletons { class Man { skeletonBones[] = {"Quelle", "", "Stamm", "Quelle"}; }; };', encoding="ascii"
    )
    report = Report()
    done = drawn_animation(bones=("DEF-Quelle", "DEF-Stamm"))
    planned(done, report=report, kind=Encoding.BINARISED, prefix="DEF-", config=str(config))
    assert not any("are taken for" in line for line in report.lines())


def test_a_model_cfg_says_which_bone_of_a_binarised_file_is_above_which(walk, tmp_path):
    file, config = tmp_path / "other.rtm", tmp_path / "bones.cfg"
    file.write_bytes(walk.read_bytes().replace(b"Pelvis", b"Quelle").replace(b"Spine", b"Stamm"))
    config.write_text(
        'class CfgSkeletons { class Man { skeletonBones[] = {"Quelle", "", "Stamm", "Quelle"}; }; };', encoding="ascii"
    )
    data = exported(load(file), kind=Encoding.BINARISED, config=str(config))
    file.write_bytes(data)
    again = load(file, hierarchy=HierarchyFrom.CONFIG, config=str(config))
    names, _, matrices = raw_matrices(exported(again, kind=Encoding.PLAIN))
    assert names == ["quelle", "stamm"]
    assert np.abs(matrices - raw_matrices(walk.read_bytes())[2]).max() < 5e-4


# Saving back and the badge


def test_the_badge_and_saving_back(walk):
    done = load(walk)
    properties = done.action.motionbridge_animation
    status = animation_edit.update_status
    assert status(bpy.context, done.rig, done.action, Report()) == "UNTOUCHED"
    curve_of(done.action, "Spine", "location", 2).keyframe_points[2].co[1] += 0.5
    assert status(bpy.context, done.rig, done.action, Report()) == properties.status == "EDITED"
    bpy.context.view_layer.objects.active = done.rig
    assert bpy.ops.motionbridge.arma_save_back() == {"FINISHED"}
    assert walk.with_name("walk.rtm.bak").exists()
    assert exported(done) == walk.read_bytes()
    assert properties.status == "UNTOUCHED"
    assert bpy.ops.motionbridge.arma_save_back() == {"CANCELLED"}
    walk.write_bytes(walk.read_bytes()[:-1] + b"\x01")
    curve_of(done.action, "Spine", "location", 2).keyframe_points[2].co[1] += 0.5
    with pytest.raises(RuntimeError, match="no longer the one"):
        bpy.ops.motionbridge.arma_save_back()


# Refusals


def refused(data: bytes, tmp_path, match: str, **options) -> None:
    file = tmp_path / "bad.rtm"
    file.write_bytes(data)
    before = snapshot()
    with pytest.raises(ReadError, match=match):
        load(file, **options)
    assert differences(before, snapshot()) == []


def test_what_is_no_animation_is_refused(walk, tmp_path, corpus):
    refused((corpus / "p3d" / "ascz_2dscope_odol58.p3d").read_bytes(), tmp_path, "not an animation")
    refused(plain(["a"], []), tmp_path, "no frames")
    refused(plain([], [(0.0, [])]), tmp_path, "no bones")
    refused(walk.read_bytes()[:-20], tmp_path, "bytes")
    refused(b"RTM_0101" + struct.pack("<3f2I", 0, 0, 0, 4_000_000_000, 1) + name_field("a"), tmp_path, "4000000000")
    refused(walk.read_bytes(), tmp_path, "no file|model.cfg", hierarchy=HierarchyFrom.CONFIG)


def test_a_wrong_armature_is_refused(walk):
    done = drawn_animation(bones=("bip01_pelvis", "bip01_head"))
    with pytest.raises(ReadError, match="none of the file's bones"):
        load(walk, done.rig)
    assert not done.action.motionbridge_animation.is_animation


def test_phases_that_are_not_finite_are_kept(tmp_path):
    file = tmp_path / "nan.rtm"
    file.write_bytes(plain(["a"], [(math.nan, [moved()]), (1.0, [moved(x=1)])], step=(0, 0, -1)))
    for mode in StepMode:
        done = load(file, step=mode, seconds=1.0)
        assert exported(done) == file.read_bytes()
        curve_of(done.action, "a", "location", 0).keyframe_points[1].co[1] += 1
        assert np.isnan(raw_matrices(exported(done))[1][0])


def test_matrices_that_are_not_finite_are_shown_as_rest_and_kept(tmp_path):
    file = tmp_path / "nan.rtm"
    broken = (math.nan,) * 12
    file.write_bytes(plain(["a", "b"], [(0.0, [broken, moved()]), (1.0, [moved(x=1), moved()])]))
    report = Report()
    done = load(file, report=report)
    assert any("NaN or infinite matrices" in line for line in report.lines())
    assert exported(done) == file.read_bytes()
    bpy.context.scene.frame_set(0)
    apart = np.array(done.rig.pose.bones["a"].matrix) - np.array(done.rig.data.bones["a"].matrix_local)
    assert np.abs(apart).max() < 1e-6


def test_a_skeleton_without_most_of_the_bones_is_reported(tmp_path):
    file = tmp_path / "dog.rtm"
    file.write_bytes(plain(["tail", "paw", "head"], [(0, [moved(), moved(), moved()])]))
    assert bpy.ops.import_scene.arma_rtm(filepath=str(file), hierarchy="ARMA3") == {"FINISHED"}
    warning = "the skeleton OFP2_ManSkeleton does not list tail, paw; treated as roots"
    assert warning in bpy.context.window_manager.motionbridge_report


def test_zero_quaternions_are_the_identity(tmp_path):
    data = b"BMTR" + struct.pack("<IB3f4I", 5, 1, 0, 0, 0, 1, 1, 1, 1) + b"pelvis\0" + struct.pack("<2I", 0, 0)
    data += struct.pack("<IBf", 1, 0, 0.0) + struct.pack("<IB", 1, 0) + struct.pack("<4h3e", 0, 0, 0, 0, 1, 0, 0)
    file = tmp_path / "zero.rtm"
    file.write_bytes(data)
    done = load(file, hierarchy=HierarchyFrom.ARMA3)
    poses = shown_matrices(done, ["pelvis"], np.zeros(1, np.float32))[0, 0]
    assert np.abs(poses - np.array(Matrix.Translation((-1, 0, 0)))).max() < 1e-6
    assert exported(done) == data


def test_names_of_32_bytes_are_read_kept_and_refused_when_new(tmp_path):
    name = "a" * 32
    file = tmp_path / "long.rtm"
    file.write_bytes(plain([name, "b"], [(0.0, [moved(), moved()]), (1.0, [moved(x=1), moved()])]))
    done = load(file)
    assert exported(done) == file.read_bytes()
    with pytest.raises(WriteError, match=name):
        planned(done, from_file=False)


def test_exports_change_nothing_and_are_whole_or_not_at_all(walk, tmp_path):
    done = load(walk)
    bpy.context.view_layer.objects.active = done.rig
    before = snapshot()
    target = tmp_path / "out.rtm"
    assert bpy.ops.export_scene.arma_rtm(filepath=str(target)) == {"FINISHED"}
    assert differences(before, snapshot()) == []
    assert target.read_bytes() == walk.read_bytes()
    target.chmod(0o444)
    with pytest.raises(RuntimeError):
        bpy.ops.export_scene.arma_rtm(filepath=str(tmp_path / "nowhere" / "out.rtm"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.rtm", "walk.rtm"]
