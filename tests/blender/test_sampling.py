"""What is looked at in the evaluated scene, and what is not: bones that nothing reaches, motions, meshes beside."""

from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from addon.blender import action as actions
from addon.blender import bone_curves, compat, scope
from addon.blender.armature import rest_of
from addon.blender.sampling import Movers
from addon.core import space
from addon.core.errors import WriteError
from addon.core.report import Report
from addon.formats.xray import omf
from addon.games import plan as plans
from addon.games.arma import animation_edit, animation_export
from addon.games.xray.motions import library, list_edits, omf_codec
from addon.games.xray.motions.omf_codec import MotionExportOptions
from addon.ui import badges
from tests.blender.rtm_scene import load as load_animation
from tests.blender.rtm_scene import planned as planned_animation
from tests.blender.scenes import add_object
from tests.blender.test_motions import humanoid
from tests.blender.test_ui import game, load, turn_a_key
from tests.scene import differences, snapshot

__all__ = ["game", "humanoid"]


BESIDE = ("ground", "wall", "unseen", "free")


class Interrupted(BaseException):
    """As Ctrl C in a terminal."""


@pytest.fixture
def looked_at(monkeypatch):
    """The actions that poses were looked at of."""
    result = []
    evaluated = bone_curves.evaluated_poses

    def evaluated_poses(context, rig, action, wanted, *others):
        result.append(action)
        return evaluated(context, rig, action, wanted, *others)

    monkeypatch.setattr(actions, "evaluated_poses", evaluated_poses)
    monkeypatch.setattr(animation_export.delta_action, "evaluated_poses", evaluated_poses)
    return result


def planned(rig, report=None, **options):
    report = Report() if report is None else report
    file = rig.motionbridge_motion_files[0]
    return library.plan_save_back(
        omf_codec.OMF,
        bpy.context,
        rig,
        file,
        options=MotionExportOptions(),
        if_changed=plans.OtherBase.REFUSE,
        report=report,
        **options,
    )


def reach_toward(rig, bone="hand_l", count=2, offset=(0.4, 0.3, 0.8)):
    goal = bpy.data.objects.new("goal", None)
    goal.location = offset
    bpy.context.scene.collection.objects.link(goal)
    constraint = rig.pose.bones[bone].constraints.new("IK")
    constraint.target, constraint.chain_count = goal, count
    return constraint


def chain(rig, bone, count):
    return {bone, *(entry.name for entry in rig.pose.bones[bone].parent_recursive[: count - 1])}


def changed_tracks(plan):
    return {track.name for change in plan.changes.parts for track in change.items}


def raw_tracks(data):
    """Motion -> the bytes of each of its tracks."""
    motions = omf.read(data, "x.omf", Report()).motion_set.library.motions
    return {
        motion.label: [bytes(motion.track_bytes(track)) for track in range(motion.track_count)] for motion in motions
    }


def test_inverse_kinematics_change_the_tracks_of_their_chain_alone(humanoid, samples):
    rig, _ = humanoid
    reach_toward(rig, count=2)
    before = snapshot()
    plan = planned(rig)
    assert differences(before, snapshot()) == []
    assert changed_tracks(plan) == chain(rig, "hand_l", 2)
    old, new = raw_tracks((samples / "humanoid.omf").read_bytes()), raw_tracks(plan.data)
    for motion, tracks in old.items():
        assert sum(track != now for track, now in zip(tracks, new[motion], strict=True)) <= 2


@pytest.mark.parametrize("scale", [(0, 0, 0), (1, 0, 1)])
@pytest.mark.parametrize("generations", [1, 2])
def test_bones_below_one_that_is_scaled_to_zero_cannot_be_sampled(humanoid, scale, generations):
    rig, _ = humanoid
    rig.pose.bones["hand_l"].constraints.new("LIMIT_LOCATION")
    planned(rig)
    scaled = rig.pose.bones["hand_l"].parent_recursive[generations - 1]
    scaled.scale = scale
    before = snapshot()
    words = f"the bone '{scaled.name}' is scaled to 0 at frame 0 of 'walk'.*'hand_l' is posed.*Use a small scale"
    with pytest.raises(WriteError, match=words):
        planned(rig)
    assert differences(before, snapshot()) == []
    scaled.scale = (0.001, 0.001, 0.001)
    planned(rig)


@pytest.mark.parametrize(("tail", "count"), [(True, 3), (False, 2), (True, 0)])
def test_what_moves_which_bones(humanoid, tail, count):
    rig, imported = humanoid
    action = imported.actions[0]
    above = [bone.name for bone in rig.pose.bones["hand_l"].parent_recursive]
    constraint = reach_toward(rig, count=count)
    constraint.use_tail = tail
    assert Movers(rig).of(action)["active constraints"] == {"hand_l", *(above[:2] if count else above)}
    assert Movers(rig).of(action, ["head"]) == {}
    constraint.mute = True
    assert Movers(rig).of(action) == {}
    rig.pose.bones["hand_l"].constraints[0].driver_add("influence").driver.expression = "1"
    rig.pose.bones["head"].driver_add("location", 0).driver.expression = "0"
    assert Movers(rig).of(action)["active drivers"] == {"head", "hand_l", *(above[:2] if count else above)}
    rig.data.bones["head"].use_inherit_rotation = False
    assert "head" in Movers(rig).of(action)[actions.INHERITANCE]


def test_motions_of_a_rig_with_a_control_bone_of_its_own_are_read_by_their_keys(humanoid, samples, looked_at):
    """The file has no track of that bone, whatever moves it."""
    rig, imported = humanoid
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bone = rig.data.edit_bones.new("control")
    bone.tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.pose.bones["control"].constraints.new("LIMIT_LOCATION")
    rig.pose.bones["control"].driver_add("location", 0).driver.expression = "frame"
    turn_a_key(imported.actions[0])
    assert changed_tracks(planned(rig)) == {"head"}
    assert looked_at == []


@pytest.mark.parametrize("blending", ["REPLACE", "COMBINE"])
def test_strips_below_an_action_that_has_all_their_keys_show_nothing(humanoid, samples, looked_at, blending):
    rig, imported = humanoid
    walk, other = imported.actions[:2]
    rig.animation_data.nla_tracks.new().strips.new("strip", 0, other)
    rig.animation_data.action_blend_type = blending
    plan = planned(rig)
    if blending == "COMBINE":
        assert looked_at == [other]  # the base, on which the other is a layer
        assert [change.name for change in plan.changes.parts] == [other.motionbridge_motion.motion_name]
        return
    assert looked_at == []
    assert plan.data == (samples / "humanoid.omf").read_bytes()
    curves = compat.curve_bag(walk).fcurves
    for curve in [curve for curve in curves if '"head"' in curve.data_path]:
        curves.remove(curve)
    planned(rig)
    assert looked_at == [walk]


def test_one_motion_alone_is_saved(game, looked_at):
    rig = load(game)
    file = rig.motionbridge_motion_files[0]
    listed = library.motions_of(file)
    reach_toward(rig)
    for action in listed[:2]:
        turn_a_key(action)
    before = raw_tracks((game / "humanoid.omf").read_bytes())
    plan = planned(rig, only=listed[0])
    assert looked_at == [listed[0]]
    assert [change.name for change in plan.changes.parts] == [listed[0].motionbridge_motion.motion_name]
    after = raw_tracks(plan.data)
    assert after.keys() == before.keys()
    assert {name for name in before if after[name] != before[name]} == {listed[0].motionbridge_motion.motion_name}


def test_saving_one_motion_keeps_what_was_deleted_for_later(game):
    rig = load(game)
    file = rig.motionbridge_motion_files[0]
    listed = library.motions_of(file)
    last = listed[-1].motionbridge_motion.motion_name
    list_edits.delete(file, listed[-1])
    turn_a_key(listed[0])
    rig.animation_data.action = listed[0]
    assert bpy.ops.motionbridge.save_back(only_active=True) == {"FINISHED"}
    assert last in raw_tracks((game / "humanoid.omf").read_bytes())
    assert [entry.name for entry in file.deleted] == [last]
    assert bpy.ops.motionbridge.save_back() == {"FINISHED"}
    assert last not in raw_tracks((game / "humanoid.omf").read_bytes())


def test_planning_again_looks_at_nothing_again(humanoid, looked_at):
    rig, _ = humanoid
    reach_toward(rig)
    samples: dict = {}
    first = planned(rig, samples=samples)
    seen = len(looked_at)
    assert seen == 1
    assert planned(rig, samples=samples).data == first.data
    assert len(looked_at) == seen
    rig.pose.bones["hand_l"].constraints[0].mute = True
    assert planned(rig, samples=samples).changes.parts == []


# The badge ------------------------------------------------------------------------------------------------------------


def test_the_badge_of_a_motion_samples_nothing(game, looked_at):
    rig = load(game)
    action = rig.animation_data.action
    reach_toward(rig)
    badges.compare(bpy.context)
    assert action.motionbridge_motion.status == "UNKNOWN"
    turn_a_key(action)
    badges.compare(bpy.context)
    assert action.motionbridge_motion.status == "EDITED"  # keys of another bone tell
    assert looked_at == []
    omf_codec.update_status(bpy.context, rig, [action], Report())
    assert looked_at == [action]


def test_the_badge_of_an_animation_samples_nothing(samples, looked_at):
    done = load_animation(samples / "arma" / "walk.rtm")
    badges.compare(bpy.context)
    assert done.action.motionbridge_animation.status == "UNTOUCHED"
    done.rig.pose.bones[0].constraints.new("LIMIT_LOCATION")
    badges.compare(bpy.context)
    assert done.action.motionbridge_animation.status == "UNKNOWN"
    assert looked_at == []
    assert animation_edit.update_status(bpy.context, done.rig, done.action, Report()) == "UNTOUCHED"
    assert looked_at == [done.action]


# What is hidden meanwhile ---------------------------------------------------------------------------------------------


@pytest.fixture
def crowded(humanoid):
    """The rig with its skinned mesh, a mesh that a bone follows through an empty, one that collides, a hidden one."""
    rig, imported = humanoid
    created = {name: bpy.data.objects.new(name, bpy.data.meshes.new(name)) for name in BESIDE}
    for obj in created.values():
        bpy.context.scene.collection.objects.link(obj)
    middle = add_object("middle")
    middle.parent = created["ground"]
    rig.pose.bones["head"].constraints.new("COPY_ROTATION").target = middle
    created["wall"].modifiers.new("collision", "COLLISION")
    created["unseen"].hide_viewport = True
    for obj in bpy.context.scene.objects:
        obj.select_set(obj.name in {"free", "ground"})
    bpy.context.view_layer.objects.active = created["free"]
    return SimpleNamespace(rig=rig, actions=imported.actions, **created)


def test_meshes_that_nothing_sampled_depends_on_are_hidden(crowded):
    skins = [obj for obj in bpy.context.scene.objects if obj.type == "MESH" and obj.find_armature() == crowded.rig]
    before = snapshot()
    with scope.only_evaluated(bpy.context, [crowded.rig]):
        hidden = {obj for obj in bpy.context.scene.objects if obj.hide_viewport}
    assert differences(before, snapshot()) == []
    assert hidden == {crowded.free, crowded.unseen, *skins}
    planned(crowded.rig)
    assert differences(before, snapshot()) == []


@pytest.mark.parametrize("failure", [RuntimeError, Interrupted])
def test_what_was_hidden_comes_back_after_a_failure(crowded, monkeypatch, failure):
    seen = []

    def matrices_of(bones, _name):
        seen.append(crowded.free.hide_viewport)
        if len(seen) == 3:
            raise failure
        return np.tile(np.eye(4), (len(bones), 1, 1))

    monkeypatch.setattr(bone_curves, "matrices_of", matrices_of)
    before = snapshot()
    with pytest.raises(failure):
        planned(crowded.rig)
    assert seen == [True, True, True]
    assert differences(before, snapshot()) == []


# What sampling costs, and what of an Arma animation it may change ---------------------------------------------------


def test_the_frame_is_restored_once_for_many_motions(game, monkeypatch):
    """Going to a frame costs as much as looking at one."""
    rig = load(game)
    reach_toward(rig)
    listed = library.motions_of(rig.motionbridge_motion_files[0])
    for action in listed:  # whose keys say what constraints do
        path = 'pose.bones["hand_l"].constraints["IK"].influence'
        compat.curve_bag(action).fcurves.new(path).keyframe_points.insert(0, 1.0)
    scene = bpy.context.scene
    scene.frame_set(3)
    left = []
    kept = scope.kept_frame.__wrapped__

    @contextmanager
    def kept_frame(context):
        before = len(scope._kept_frames)
        with contextmanager(kept)(context) as result:
            yield result
        left.append(before == len(scope._kept_frames) == 0)

    monkeypatch.setattr(scope, "kept_frame", kept_frame)
    planned(rig)
    assert left.count(True) == 1
    assert len(left) == 1 + len(listed)
    assert scene.frame_current == 3


def test_a_sampled_clip_has_the_bones_that_were_asked_for(humanoid):
    rig, imported = humanoid
    rest = rest_of(rig, space.XRAY_ROOT_FRAME)
    modes = {bone.name: bone.rotation_mode for bone in rig.pose.bones}
    take = partial(actions.sample, bpy.context, rig, imported.actions[0], rest, 30.0, modes=modes)
    (whole, _), (few, _) = take(), take(bones={"hand_l", rest.bones[0]})
    rows = [rest.bones.index(bone) for bone in few.bones]
    assert set(few.bones) == {"hand_l", rest.bones[0]}
    assert np.array_equal(few.rotations, whole.rotations[rows])
    assert np.array_equal(few.translations, whole.translations[rows])


@pytest.mark.parametrize("how", ["scaled", "sheared", "turned"])
def test_scale_and_shear_of_constraints_are_reported_before_writing(humanoid, how):
    """The child of a scaled bone is shown larger, too, but its own pose relative to it is as it was."""
    rig, imported = humanoid
    bone = rig.pose.bones["forearm_l"]
    target = add_object("target")
    target.scale = (1.0, 1.0, 1.0) if how == "turned" else (1.0, 1.5, 1.0)
    if how == "sheared":
        rig.scale = (1.0, 2.0, 1.0)
    constraint = bone.constraints.new("COPY_ROTATION" if how == "sheared" else "COPY_TRANSFORMS")
    target.rotation_euler = (0.3, 0.4, 0.5)
    constraint.target = target
    report = Report()
    planned(rig, report)
    lines = [line for line in report.lines() if "no scale or shear" in line]
    if how == "turned":
        assert lines == []
    else:
        assert len(lines) == 1
        playing, *others = imported.actions
        assert f"{playing.name}: forearm_l" in lines[0]
        assert not any(action.name in lines[0] for action in others)


def test_bones_of_an_animation_that_nothing_moves_are_read_by_their_keys(samples):
    """An edit of them is written although it is smaller than what evaluation may round."""
    done = load_animation(samples / "arma" / "walk.rtm")
    rig = done.rig
    reached = next(bone for bone in rig.pose.bones if bone.parent is not None)
    constraint = reached.constraints.new("LIMIT_LOCATION")
    constraint.use_min_x, constraint.min_x = True, 0.5
    other = next(
        bone.name
        for bone in rig.pose.bones
        if bone != reached and reached not in bone.parent_recursive and bone not in reached.parent_recursive
    )
    before = planned_animation(done)
    curve = next(
        curve for curve in compat.curve_bag(done.action).fcurves if curve.data_path == f'pose.bones["{other}"].location'
    )
    for point in curve.keyframe_points:
        point.co[1] += 5e-6
    curve.update()
    after = planned_animation(done)
    assert before.sampled == after.sampled == ["active constraints"]
    changed = [{change.name for change in plan.changes.parts} for plan in (before, after)]
    assert [other in bones for bones in changed] == [False, True]
    assert all(reached.name in bones for bones in changed)


def test_reports_say_the_name_of_a_motion_where_blender_numbered_its_action(humanoid, samples):
    """The motions of a second armature have the names that the first one's have."""
    bpy.ops.import_scene.xray_ogf(filepath=str(samples / "humanoid.ogf"))
    second = bpy.context.object
    assert second != humanoid[0]
    bpy.ops.import_scene.xray_omf(filepath=str(samples / "humanoid.omf"))
    action = second.animation_data.action
    label, number = action.name[:-4], action.name[-4:]
    assert number == ".001"
    for curve in compat.curves_of(action, second):
        curve.mute = "hand_l" in curve.data_path
    report = Report()
    planned(second, report)
    lines = [line for line in report.lines() if "curves are muted" in line]
    assert lines
    assert all(label in line and number not in line for line in lines)
