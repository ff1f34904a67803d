"""Update Status of long lists: unedited motions are recognised by a digest, all others are compared key by key."""

import bpy
import pytest

from addon.blender import compat
from addon.blender.bone_curves import digest_of
from addon.core.errors import ReadError
from addon.core.report import Report
from addon.games.xray.motions import library, omf_codec
from addon.games.xray.motions.omf_codec import Unedited
from tests.blender.scenes import add_object
from tests.blender.test_motions import ALL_PAIRS, load_pair, needs_corpus, saved_and_reloaded
from tests.blender.test_sampling import reach_toward
from tests.blender.test_ui import game, load, turn_a_key
from tests.real_files import sampled

__all__ = ["game"]


@pytest.fixture
def compared(monkeypatch):
    """The actions that were compared key by key."""
    result = []
    plan_onto = omf_codec.plan_onto
    monkeypatch.setattr(omf_codec, "plan_onto", lambda *a, **k: result.extend(a[3]) or plan_onto(*a, **k))
    return result


def listed(rig):
    return library.motions_of(rig.motionbridge_motion_files[0])


def statuses(rig, *, looks: bool = True) -> dict[str, str]:
    omf_codec.update_status(bpy.context, rig, listed(rig), Report(), sample=looks)
    return {action.name: action.motionbridge_motion.status for action in listed(rig)}


def compared_key_by_key(rig) -> dict[str, str]:
    for action in listed(rig):
        action.motionbridge_motion.property_unset("unedited")
    return statuses(rig)


def curve_of(action, path='pose.bones["head"].rotation_quaternion', index=1):
    return next(
        fcurve for fcurve in compat.curve_bag(action).fcurves if (fcurve.data_path, fcurve.array_index) == (path, index)
    )


def mute(action):
    curve_of(action).mute = True


def modify(action):
    curve_of(action).modifiers.new("NOISE").strength = 5.0


def remove_a_curve(action):
    compat.curve_bag(action).fcurves.remove(curve_of(action))


def shorten(action):
    action.frame_end -= 2


def cycle(action):
    motion = action.motionbridge_motion
    motion.flags = set(motion.flags) ^ {"STOP_AT_END"}


def speed_up(action):
    action.motionbridge_motion.speed = 1.5


def rename(action):
    action.motionbridge_motion.motion_name = "another"


def add_a_mark(action):
    mark = action.motionbridge_motion.marks.add()
    mark.name = "Mark 9"
    mark.intervals.add().end = 0.3


def without_quaternions(action):
    for index in range(4):
        curve_of(action, index=index).data_path = 'pose.bones["head"].rotation_axis_angle'


EDITS = [turn_a_key, mute, modify, remove_a_curve, shorten, cycle, speed_up, rename, add_a_mark, without_quaternions]


def test_motions_as_they_were_imported_are_not_compared_key_by_key(game, compared):
    rig = load(game)
    for action in listed(rig):
        action.motionbridge_motion.status = "UNKNOWN"
    assert set(statuses(rig).values()) == {"UNTOUCHED"}
    assert compared == []


def test_the_import_knows_the_digest_of_the_keys_that_it_wrote(game):
    rig = load(game)
    file = rig.motionbridge_motion_files[0]
    for index, action in enumerate(listed(rig)):
        digest = Unedited(rig, file).digest(action, index)
        assert digest
        assert action.motionbridge_motion.unedited == digest.hex()


@pytest.mark.parametrize("edit", EDITS)
def test_whatever_is_edited_is_compared_and_nothing_else(game, compared, edit):
    rig = load(game)
    action = listed(rig)[2]
    edit(action)
    result = statuses(rig)
    assert compared == [action]
    # Muted curves keep the values of the file, and the curve that is removed was at rest.
    assert result[action.name] == ("UNTOUCHED" if edit in (mute, remove_a_curve) else "EDITED")
    assert result == compared_key_by_key(rig)


def test_an_edit_that_is_taken_back_is_recognised(game, compared):
    rig = load(game)
    action = listed(rig)[0]
    curve = curve_of(action)
    before = curve.keyframe_points[0].co[1]
    turn_a_key(action)
    assert statuses(rig)[action.name] == "EDITED"
    curve.keyframe_points[0].co[1] = before
    assert statuses(rig)[action.name] == "UNTOUCHED"
    assert compared == [action]


def test_what_the_whole_file_depends_on_compares_all_of_it(game, compared):
    rig = load(game)
    rig.data.bones["head"].motionbridge_xray.game_name = "skull"
    assert set(statuses(rig).values()) == {"UNTOUCHED"}
    assert compared == listed(rig)
    del compared[:]
    statuses(rig)
    assert compared == []
    rig.motionbridge_motion_files[0].partitions[0].name = "other"
    statuses(rig)
    assert compared == listed(rig)


def test_a_copy_is_new_although_it_has_the_digest_of_the_original(game, compared):
    rig = load(game)
    original = rig.animation_data.action
    copy = original.copy()
    rig.animation_data.action = copy
    result = statuses(rig)
    assert (result[original.name], result[copy.name]) == ("UNTOUCHED", "NEW")
    assert compared == [copy]


def test_a_saved_motion_is_compared_with_what_was_saved(game, compared):
    rig = load(game)
    action = listed(rig)[0]
    action.motionbridge_motion.speed = 1.5
    bpy.ops.motionbridge.save_back(backup=False)
    del compared[:]
    assert set(statuses(rig).values()) == {"UNTOUCHED"}
    assert compared == [rig.animation_data.action], "a rotation mode may hide keys of the one that plays"
    assert set(compared_key_by_key(rig).values()) == {"UNTOUCHED"}
    action.motionbridge_motion.speed = 1.0
    assert statuses(rig)[action.name] == "EDITED"


def test_sampled_motions_are_compared_always(game, compared):
    rig = load(game)
    constraint = reach_toward(rig)
    untouched = dict.fromkeys(statuses(rig), "UNTOUCHED")
    playing = rig.animation_data.action.name  # the others are what their keys say
    assert statuses(rig, looks=False) == untouched | {playing: "UNKNOWN"}
    assert statuses(rig) == untouched | {playing: "EDITED"}
    constraint.mute = True
    assert set(statuses(rig).values()) == {"UNTOUCHED"}


def test_stored_bytes_that_are_damaged_are_refused(game):
    rig = load(game)
    motion = listed(rig)[1].motionbridge_motion
    motion.body = motion.body[:-1]
    with pytest.raises(ReadError, match="damaged"):
        statuses(rig)


def test_progress_counts_every_motion_once(game):
    rig = load(game)
    turn_a_key(listed(rig)[1])
    calls = []
    omf_codec.update_status(bpy.context, rig, listed(rig), Report(), progress=calls.append)
    assert calls == sorted(calls)
    assert calls[-1] == len(listed(rig))


@needs_corpus
@pytest.mark.parametrize(("model", "motions"), sampled(ALL_PAIRS))
def test_real_motions_that_are_recognised_are_unedited(corpus, tmp_path, compared, model, motions):
    rig, _ = load_pair(corpus, model, motions)
    rig = saved_and_reloaded(tmp_path, rig)
    assert set(statuses(rig).values()) == {"UNTOUCHED"}
    assert compared == []
    assert set(compared_key_by_key(rig).values()) == {"UNTOUCHED"}
    assert compared == listed(rig)


def test_digests_of_other_rotations_and_samples_are_not_one(game):
    rig = load(game)
    first, second = listed(rig)[:2]
    without_quaternions(first)
    assert digest_of(first, rig) == b""
    curve_of(second).convert_to_samples(0, 5)
    assert digest_of(second, rig) == b""


def bake(rig, bone, *, new: bool):
    """Bake Action with Visual Keying: of one bone without its constraints or, into a new action, of all."""
    bpy.ops.object.mode_set(mode="POSE")
    for own_bone in rig.pose.bones:
        (own_bone if hasattr(own_bone, "select") else own_bone.bone).select = own_bone == bone
    first, last = map(int, rig.animation_data.action.frame_range)
    options = {"only_selected": not new, "use_current_action": not new, "clear_constraints": not new}
    bpy.ops.nla.bake(frame_start=first, frame_end=last, visual_keying=True, bake_types={"POSE"}, **options)
    return rig.animation_data.action


def test_a_baked_constraint_is_one_edited_track_and_unedited_once_it_is_saved(game):
    rig = load(game)
    bone = rig.pose.bones["hand_l"]
    target = add_object("target")
    target.location = 1, -2, 1
    bone.constraints.new("DAMPED_TRACK").target = target
    bake(rig, bone, new=False)
    assert not len(bone.constraints)
    assert bpy.ops.motionbridge.save_back() == {"FINISHED"}
    assert bpy.context.window_manager.motionbridge_report == "humanoid.omf: 1 motion, 1 track changed, 4 unchanged"
    assert set(statuses(rig).values()) == {"UNTOUCHED"}
    assert bpy.ops.motionbridge.save_back() == {"CANCELLED"}


def test_scale_that_a_bake_keeps_at_one_is_nothing_to_leave_out(game):
    rig = load(game)
    action = bake(rig, None, new=True)
    scales = [curve for curve in compat.curve_bag(action).fcurves if curve.data_path.endswith("scale")]
    assert len(scales) == 3 * len(rig.data.bones)
    assert bpy.ops.motionbridge.add_motion() == {"FINISHED"}
    assert bpy.ops.motionbridge.save_back() == {"FINISHED"}
    assert bpy.context.window_manager.motionbridge_report == "humanoid.omf: 1 motion added, 5 unchanged"
    scales[0].keyframe_points[3].co.y = 1.1
    bpy.ops.motionbridge.save_back()
    assert scales[0].data_path in bpy.context.window_manager.motionbridge_report
