"""Which frames become keys of an `.rtm`: adaptive ones, the last one, keys behind the end, frame ranges, static poses.

The judge is the game's blend: element by element between neighbouring matrices, against the pose that Blender shows.
"""

import bpy
import numpy as np
import pytest

from addon.blender import compat
from addon.core.errors import WriteError
from addon.core.report import Report
from addon.formats.arma import rtm
from addon.games.arma import animation_edit, timing
from addon.games.arma.options import Encoding, FramesFrom, StepMode
from addon.ui.arma import panels
from tests.blender.rtm_scene import curve_of, exported, load, planned, raw_matrices, shown_matrices
from tests.blender.scenes import add_object
from tests.blender.test_rtm import drawn_animation, moved, plain, walk
from tests.blender.test_written_motions import as_in_a_window, drawn

__all__ = ["walk"]


def worst_between(done, plan, frames):
    """Metres between what the game blends and what Blender shows, of heads and tails, on these frames."""
    names, phases, written = raw_matrices(plan.data)
    bones = done.rig.data.bones
    key_frames = plan.key_frames if len(plan.key_frames) == len(phases) else np.arange(len(phases))
    worst = 0.0
    scene = bpy.context.scene
    for frame in frames:
        scene.frame_set(int(np.floor(frame)), subframe=float(frame) % 1.0)
        after = int(np.clip(np.searchsorted(key_frames, frame), 1, len(key_frames) - 1))
        share = (frame - key_frames[after - 1]) / (key_frames[after] - key_frames[after - 1])
        blend = (1 - share) * written[after - 1] + share * written[after]
        for index, name in enumerate(names):
            bone, pose = bones[name], done.rig.pose.bones[name]
            for rest, actual in ((bone.head_local, pose.head), (bone.tail_local, pose.tail)):
                worst = max(worst, np.linalg.norm(blend[index] @ [*rest, 1] - [*actual, 1]))
    return worst


def eased():
    """A new animation: one bone that turns far with two keys, eased as Blender eases new keys."""
    done = drawn_animation(frames=1, bones=("Root", "Arm"))
    bone = done.rig.pose.bones["Arm"]
    bone.rotation_mode = "XYZ"
    for frame, angle in ((0, 0.0), (30, 2.0)):
        bone.rotation_euler = (0, 0, angle)
        bone.keyframe_insert("rotation_euler", frame=frame)
        bone.location = (angle, 0, 0)
        bone.keyframe_insert("location", frame=frame)
    done.action = done.rig.animation_data.action
    return done


@pytest.mark.parametrize("tolerance", [0.05, 0.001])
def test_eased_keys_of_a_new_animation_get_keys_between(tolerance):
    done = eased()
    alone = planned(done, tolerance=0.0)
    assert worst_between(done, alone, range(31)) > 0.05
    report = Report()
    plan = planned(done, tolerance=tolerance, report=report)
    assert worst_between(done, plan, range(31)) <= tolerance + 1e-5
    assert len(alone.key_frames) < len(plan.key_frames) < 31
    assert set(alone.key_frames) <= set(plan.key_frames)
    assert any("keys added where the game's blend" in line for line in report.lines())


def test_a_rig_with_inverse_kinematics_is_keyed_where_it_moves():
    """Only the first and the last frame have keys of bones; the target moves between them."""
    done = drawn_animation(frames=1, bones=("Root", "Upper", "Lower"))
    for frame in (0, 40):
        done.rig.pose.bones["Root"].keyframe_insert("location", frame=frame)
    done.action = done.rig.animation_data.action
    goal = add_object("goal")
    for frame, x in ((0, 0.5), (20, -0.5), (40, 0.5)):
        goal.location = (x, 0.1, 0.5)
        goal.keyframe_insert("location", frame=frame)
    done.rig.pose.bones["Lower"].constraints.new("IK").target = goal
    assert worst_between(done, planned(done, tolerance=0.0), range(41)) > 0.1
    plan = planned(done)
    assert worst_between(done, plan, range(41)) < 1e-3 + 1e-5
    assert plan.key_frames[[0, -1]].tolist() == [0, 40]
    phases = raw_matrices(plan.data)[1]
    np.testing.assert_allclose(phases, plan.key_frames / 40, atol=1e-6)


def test_imported_animations_keep_their_keys(walk):
    done = load(walk)
    for curve in compat.curve_bag(done.action).fcurves:
        for point in curve.keyframe_points:
            point.interpolation = "BEZIER"
    assert exported(done) == walk.read_bytes()
    assert len(raw_matrices(exported(done, from_file=False))[1]) == 4


def test_a_rig_moved_by_something_else_alone_gets_few_keys():
    done = drawn_animation(frames=1, bones=("Root",))
    done.rig.animation_data_clear()
    driver = done.rig.pose.bones["Root"].driver_add("location", 0).driver
    driver.expression = "min(frame, 10) / 10"
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 0, 20
    done.action = None
    assert planned(done).key_frames.tolist() == [0, 10, 20]
    assert len(planned(done, frames=FramesFrom.EVERY).key_frames) == 21


@pytest.mark.parametrize(("step", "wanted"), [(1, [0, 1, 2, 3, 4, 5]), (2, [0, 2, 4, 5]), (7, [0, 5])])
def test_every_nth_frame_keeps_the_last(step, wanted):
    done = drawn_animation(frames=6, bones=("Root", "Arm"))
    done.action = done.rig.animation_data.action
    plan = planned(done, frames=FramesFrom.EVERY, every=step)
    assert plan.key_frames.tolist() == wanted
    assert raw_matrices(plan.data)[1].tolist() == pytest.approx([frame / 5 for frame in wanted])
    assert planned(done, frames=FramesFrom.RANGE, first=0, last=5, every=step).key_frames.tolist() == wanted


# Static poses ---------------------------------------------------------------------------------------------------------


def test_a_posed_rig_without_an_action_is_a_static_pose(tmp_path):
    done = drawn_animation(frames=1, bones=("Root", "Arm"))
    done.rig.animation_data_clear()
    done.action = None
    for bone in done.rig.pose.bones:
        bone.matrix_basis.identity()
        bone.location, bone.rotation_quaternion = (0, 0, 0), (1, 0, 0, 0)
    bpy.context.view_layer.update()
    with pytest.raises(WriteError, match="has no action and is in its rest pose"):
        planned(done)
    done.rig.pose.bones["Arm"].location = (0.1, 0.2, 0.3)
    bpy.context.view_layer.update()
    target = tmp_path / "pose.rtm"
    bpy.context.view_layer.objects.active = done.rig
    assert bpy.ops.export_scene.arma_rtm(filepath=str(target)) == {"FINISHED"}
    assert "exported as a static pose" in bpy.context.window_manager.motionbridge_report
    names, phases, matrices = raw_matrices(target.read_bytes())
    assert phases.tolist() == [0, 1]
    own_shown_matrices = shown_matrices_of(done.rig, names)
    assert np.abs(matrices - own_shown_matrices).max() < 1e-6
    assert np.abs(own_shown_matrices - np.eye(4)).max() > 0.1
    assert done.rig.animation_data is None


def shown_matrices_of(rig, names):
    poses = [np.array(rig.pose.bones[name].matrix @ rig.data.bones[name].matrix_local.inverted()) for name in names]
    return np.array(poses)


# Keys behind the end, and frame ranges --------------------------------------------------------------------------------


def key(done, frame, value=1.0):
    curve_of(done.action, "Spine", "location", 0).keyframe_points.insert(frame, value)


def frames_of(data):
    return raw_matrices(data)[1].tolist()


def test_keys_behind_the_end_make_it_longer(walk):
    done = load(walk)
    before = raw_matrices(walk.read_bytes())[2]
    key(done, 6)
    report = Report()
    plan = planned(done, report=report)
    assert frames_of(plan.data) == pytest.approx([0, 1 / 6, 1 / 3, 1 / 2, 1])
    after = raw_matrices(plan.data)[2]
    assert np.array_equal(after[:4], before), "the file's frames keep their matrices"
    assert after[4, 1, 0, 3] != before[3, 1, 0, 3]
    assert set(plan.changes.lines) == {"frames", "phases"}
    assert any("the length changed" in line and "3 -> 6 frames" in line for line in report.lines())
    assert done.action.frame_end == 3, "planning changes nothing"


def test_binarised_ones_become_longer_too(walk, tmp_path):
    file = tmp_path / "long.rtm"
    file.write_bytes(exported(load(walk), kind=Encoding.BINARISED))
    done = load(file)
    curve_of(done.action, "spine", "location", 0).keyframe_points.insert(6, 1.0)
    document = rtm.read(exported(done), "long", Report())
    before = rtm.read(file.read_bytes(), "long", Report())
    np.testing.assert_allclose(document.phases, [0, 1 / 6, 1 / 3, 1 / 2, 1])
    assert np.array_equal(document.transforms[:4], before.transforms)


def test_the_frame_range_makes_it_shorter_and_that_is_reported(walk):
    done = load(walk)
    done.action.frame_end = 2
    report = Report()
    plan = planned(done, report=report)
    assert frames_of(plan.data) == [0, 0.5, 1]
    assert np.array_equal(raw_matrices(plan.data)[2], raw_matrices(walk.read_bytes())[2][:3])
    assert any("keys are after the last frame and are left out" in line for line in report.lines())
    assert any("3 -> 2 frames" in line for line in report.lines())
    done.action.frame_start, done.action.frame_end = 0.5, 5
    assert planned(done).key_frames.tolist() == [0.5, 1, 2, 3, 5]
    done.action.use_frame_range = False
    assert exported(done) == walk.read_bytes()


def test_one_key_does_not_make_it_shorter(walk):
    done = load(walk)
    bag = compat.curve_bag(done.action)
    for curve in bag.fcurves:
        while len(curve.keyframe_points) > 1:
            curve.keyframe_points.remove(curve.keyframe_points[-1])
    data = exported(done)
    assert frames_of(data) == [0, 1], "as long as it was"
    np.testing.assert_allclose(*raw_matrices(data)[2], atol=1e-6)


def test_saved_lengths_stay_what_they_are(walk):
    done = load(walk)
    bpy.context.view_layer.objects.active = done.rig
    key(done, 6)
    assert bpy.ops.motionbridge.arma_save_back() == {"FINISHED"}
    saved = walk.read_bytes()
    assert (done.action.frame_start, done.action.frame_end) == (0, 6)
    assert exported(done) == saved
    assert animation_edit.update_status(bpy.context, done.rig, done.action, Report()) == "UNTOUCHED"
    done.action.frame_end = 2
    assert bpy.ops.motionbridge.arma_save_back() == {"FINISHED"}
    assert len(frames_of(walk.read_bytes())) == 3
    assert exported(done) == walk.read_bytes(), "the keys that were left out do not come back"
    done.action.frame_end = 6
    assert len(frames_of(exported(done))) == 5


def test_a_saved_animation_has_nothing_more_to_save(corpus, tmp_path):
    file = tmp_path / "dog_runfront.rtm"
    file.write_bytes((corpus / "rtm" / "dog_runfront.rtm").read_bytes())
    done = load(file)
    for curve in compat.curve_bag(done.action).fcurves:
        for point in curve.keyframe_points:
            point.co.x += 10
        curve.keyframe_points.remove(curve.keyframe_points[3])
        curve.update()
    bpy.context.view_layer.objects.active = done.rig
    assert bpy.ops.motionbridge.arma_save_back() == {"FINISHED"}
    saved = file.read_bytes()
    assert exported(done) == saved
    assert bpy.ops.motionbridge.arma_save_back() == {"CANCELLED"}


def test_what_was_saved_with_a_constraint_is_edited_when_that_is_gone(walk):
    done = load(walk)
    bpy.context.view_layer.objects.active = done.rig
    limit = done.rig.pose.bones["Spine"].constraints.new("LIMIT_LOCATION")
    limit.use_min_z = limit.use_max_z = True
    limit.min_z = limit.max_z = 3.0
    assert bpy.ops.motionbridge.arma_save_back() == {"FINISHED"}
    saved = walk.read_bytes()
    assert exported(done) == saved
    done.rig.pose.bones["Spine"].constraints.remove(limit)
    names, _, matrices = raw_matrices(exported(done))
    poses = shown_matrices(done, names, done.action.frame_start + np.arange(len(matrices), dtype=np.float32))
    assert np.abs(raw_matrices(saved)[2] - matrices).max() > 1
    assert np.abs(poses - matrices).max() < 1e-5


@pytest.mark.parametrize("mode", StepMode)
def test_the_step_goes_along_with_the_length(walk, mode):
    """On bones or the object it is what is shown: a cycle that goes on twice as far."""
    done = load(walk, step=mode)
    for index in range(3):
        for channel, bone in (("location", "Pelvis"), ("location", "Spine")):
            curve = curve_of(done.action, bone, channel, index)
            last, before = curve.keyframe_points[3].co[1], curve.keyframe_points[0].co[1]
            curve.keyframe_points.insert(6, last + (last - before)).interpolation = "LINEAR"
    if mode is StepMode.OBJECT:
        for curve in compat.curve_bag(done.action).fcurves:
            if curve.data_path == "location":
                curve.keyframe_points.insert(6, 2 * curve.keyframe_points[3].co[1]).interpolation = "LINEAR"
    clip = rtm.decode(rtm.read(exported(done), "x", Report()), Report())
    assert clip.step[1] == pytest.approx(-1.5 if mode is StepMode.LEFT_OUT else -3.0)
    if mode is StepMode.BONES:
        in_place = rtm.decode(rtm.read(walk.read_bytes(), "x", Report()), Report())
        np.testing.assert_allclose(clip.deltas[0, :4], in_place.deltas[0], atol=1e-6)
        before = exported(done)
        bpy.context.view_layer.objects.active = done.rig
        assert bpy.ops.motionbridge.arma_save_back() == {"FINISHED"}
        assert walk.read_bytes() == before == exported(done)


def test_events_stay_where_they_are_and_go_with_what_is_cut(tmp_path):
    events = b"RTM_MDAT" + bytes(4) + (2).to_bytes(4, "little")
    for phase in (0.25, 0.75):
        events += np.float32(phase).tobytes() + b"\x04Step\x00"
    file = tmp_path / "steps.rtm"
    file.write_bytes(plain(["Spine"], [(n / 8, [moved(x=0.1 * n)]) for n in range(9)], events=events))
    done = load(file)
    assert exported(done) == file.read_bytes()
    key(done, 16)
    assert [event.phase for event in planned(done).clip.events] == [0.125, 0.375]
    curve = curve_of(done.action, "Spine", "location", 0)
    curve.keyframe_points.remove(curve.keyframe_points[-1])
    done.action.frame_end = 4
    report = Report()
    assert [event.phase for event in planned(done, report=report).clip.events] == [0.5]
    assert any("events left out because they lie outside" in line for line in report.lines())


@pytest.mark.parametrize("phases", [(0.5, 0.75), (0.25, 0.5, 0.75), (0.75, 1.0), (0.2, 0.6, 1.0)])
def test_pieces_that_begin_earlier_do_so_in_proportion(tmp_path, phases):
    file = tmp_path / "piece.rtm"
    file.write_bytes(plain(["Spine"], [(phase, [moved(x=phase)]) for phase in phases]))
    done = load(file)
    key(done, -1)
    first = 2 * phases[0] - phases[1]
    if first < 0:
        assert frames_of(exported(done)) == pytest.approx(np.linspace(0, 1, len(phases) + 1))
    else:
        assert frames_of(exported(done)) == pytest.approx([first, *phases])


@pytest.mark.parametrize("phases", [(0.5, 1.0), (0.0, 0.1), (0.5, 1.5, 2.5, 3.5)])
def test_pieces_and_counted_frames_go_on_in_proportion(tmp_path, phases):
    file = tmp_path / "piece.rtm"
    file.write_bytes(plain(["Spine"], [(phase, [moved(x=phase)]) for phase in phases]))
    done = load(file)
    count = len(phases)
    key(done, count)
    frames = frames_of(exported(done))
    step = phases[1] - phases[0]
    wanted = phases[-1] + step
    if wanted > 1 and phases[-1] <= 1:
        assert frames == [0, 0.5, 1], "the game plays nothing behind 1"
    else:
        assert frames == pytest.approx([*phases, wanted])


def test_phases_run_between_the_files_keys_and_outside_as_they_do_on_the_whole(tmp_path):
    file = tmp_path / "uneven.rtm"
    file.write_bytes(plain(["Spine"], [(phase, [moved(x=phase)]) for phase in (0.0, 0.25, 1.0)]))  # frames 0, 1, 2
    action = load(file).action
    known = {-3: -1.5, 0: 0.0, 0.5: 0.125, 1: 0.25, 1.5: 0.625, 2: 1.0, 5: 2.5}
    assert {frame: timing.phase_at(action, frame) for frame in known} == known
    assert {timing.frame_of(action, phase) for frame, phase in known.items() if frame % 1 == 0} == {-3, 0, 1, 2, 5}
    assert [timing.frame_of(action, phase) for phase in (0.1, 0.2, 0.6, 0.7)] == [0, 1, 1, 2]


def test_markers_of_a_new_animation_are_events_by_their_share_of_its_length():
    action = drawn_animation(frames=11).action
    for frame in (0, 5, 10, 12):
        action.pose_markers.new("note").frame = frame
    assert [event.phase for event in timing.events_of_own_markers(action)] == pytest.approx([0.0, 0.5, 1.0, 1.2])


def test_new_animations_keep_to_a_frame_range_that_is_set():
    done = drawn_animation(frames=6, bones=("Root", "Arm"))
    done.action = done.rig.animation_data.action
    done.action.use_frame_range = True
    done.action.frame_start, done.action.frame_end = 1, 4
    report = Report()
    assert planned(done, tolerance=0.0, report=report).key_frames.tolist() == [1, 2, 3, 4]
    assert sum("are left out" in line for line in report.lines()) == 2


def test_the_dialog_says_before_writing_what_becomes_shorter(walk):
    done = load(walk)
    bpy.context.view_layer.objects.active = done.rig
    before = walk.read_bytes()
    done.action.frame_end = 2
    dialog = as_in_a_window(panels.MOTIONBRIDGE_OT_arma_save_back)
    dialog.check(bpy.context)
    text = " ".join(" ".join(drawn(dialog)).split())
    assert "frames, phases changed" in text
    assert "keys are after the last frame and are left out" in text
    assert walk.read_bytes() == before
    assert dialog.execute(bpy.context) == {"FINISHED"}
    assert len(frames_of(walk.read_bytes())) == 3
    dialog.check(bpy.context)
    assert "No changes to save" in drawn(dialog)
    done.rig.pose.bones["Spine"].rotation_mode = "XYZ"
    dialog = as_in_a_window(panels.MOTIONBRIDGE_OT_arma_save_back)
    dialog.check(bpy.context)
    assert any("rotation mode of 1 bone" in line for line in drawn(dialog))
