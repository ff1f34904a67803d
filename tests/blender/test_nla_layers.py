"""The motion in play is written as Blender shows it with its NLA layers; no layer changes any other motion.

The judge is the pose that Blender evaluates, frame by frame, for stacks of strips on the armature and on its controls.
"""

import sys
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from addon.blender import armature, bone_curves, compat, nla
from addon.blender.armature import matrices_of
from addon.core import space
from addon.core.errors import WriteError
from addon.core.report import Report
from addon.formats.xray import omf
from addon.formats.xray.omf.mapping import decode
from addon.games import plan as plans
from addon.games.arma import animation_edit
from addon.games.xray.motions import library, omf_codec
from addon.games.xray.motions.omf_codec import MotionExportOptions
from tests.blender.rtm_scene import load as load_animation
from tests.blender.rtm_scene import planned as planned_animation
from tests.blender.rtm_scene import raw_matrices
from tests.blender.test_motions import humanoid, load_model, load_motions
from tests.blender.test_sampling import changed_tracks, planned, raw_tracks, reach_toward
from tests.blender.test_shown import difference, in_file
from tests.blender.test_ui import game, load
from tests.scene import differences, snapshot

__all__ = ["game", "humanoid"]

BLENDS = ("REPLACE", "ADD", "SUBTRACT", "MULTIPLY", "COMBINE")
CHANNELS = {"location": 3, "rotation_quaternion": 4}
NEAR = 2e-4
"""Metres, or the sine of the angle: 16-bit quaternions."""
SAMPLED = 2e-5
NOD = "nod"
measured = SimpleNamespace(stacks=0, frames=0, largest=0.0)


@st.composite
def layers(draw):
    """A layer: keys of some components of two bones, and how they play."""
    keys = [
        (bone, channel, draw(st.sets(st.integers(0, CHANNELS[channel] - 1), min_size=1)))
        for bone in draw(st.sets(st.integers(0, 40), min_size=1, max_size=2))
        for channel in draw(st.sets(st.sampled_from(list(CHANNELS)), min_size=1))
    ]
    return SimpleNamespace(
        keys=keys,
        values=draw(st.lists(st.integers(-30, 30).map(lambda number: number / 100), min_size=1, max_size=3)),
        blend=draw(st.sampled_from(BLENDS)),
        influence=draw(st.sampled_from([1.0, 0.5, 0.0])),
        extrapolation=draw(st.sampled_from(["HOLD", "HOLD_FORWARD", "NOTHING"])),
        start=draw(st.integers(-3, 12)),
        scale=draw(st.sampled_from([1.0, 0.5, 1.7])),
        repeat=draw(st.sampled_from([1.0, 2.5])),
        fade=draw(st.sampled_from([0, 3])),
        mute=draw(st.booleans()),
    )


@st.composite
def stacks(draw):
    """A stack of strips: its base is a strip, or the assigned action."""
    is_strip = draw(st.booleans())
    return SimpleNamespace(
        is_strip=is_strip,
        layers=draw(st.lists(layers(), max_size=2 if is_strip else 3)),
        assigned=draw(st.none() | layers()) if is_strip else None,
        start=draw(st.integers(-4, 20)),
        scale=draw(st.sampled_from([1.0, 1.0, 0.5, 1.5])),
        repeat=draw(st.sampled_from([1.0, 1.0, 2.0])),
        influence=draw(st.sampled_from([1.0, 1.0, 0.6])),
        blend=draw(st.sampled_from(BLENDS)),
        solo=draw(st.sampled_from([False, False, False, True])),
    )


def made_layer(owner, layer, name):
    """The action of a layer, with linear keys 5 frames apart, and its slot."""
    action, slot, bag = compat.new_action(name, "OBJECT", owner.name)
    bones = owner.pose.bones
    for number, channel, components in layer.keys:
        bone = bones[number % len(bones)].name
        for index in components:
            curve = bag.fcurves.new(bone_curves.channel_path(bone, channel), index=index)
            for key, value in enumerate(layer.values):
                curve.keyframe_points.insert(5 * key, value * (1 + index)).interpolation = "LINEAR"
    return action, slot


def add_strip(owner, action, slot, start=0, track=None):
    """A strip on a new track above all others."""
    data = owner.animation_data or owner.animation_data_create()
    strip = (track or data.nla_tracks.new()).strips.new(action.name, start, action)
    if slot is not None:
        strip.action_slot = slot
    return strip


def add_layer(owner, layer, name):
    strip = add_strip(owner, *made_layer(owner, layer, name), layer.start)
    strip.use_auto_blend = False
    strip.blend_type, strip.extrapolation = layer.blend, layer.extrapolation
    strip.scale, strip.repeat, strip.mute, strip.influence = layer.scale, layer.repeat, layer.mute, layer.influence
    strip.blend_in = layer.fade
    if layer.influence != 1.0:
        strip.use_animated_influence = True
        strip.fcurves[0].keyframe_points.insert(strip.frame_start, layer.influence)
    return strip


def build(owner, base, stack):
    """Build a stack with the action ``base``; returns its strip, None if it is assigned."""
    data = owner.animation_data
    slot = compat.suitable_slot(base, owner)
    strip = None
    data.action = None
    if stack.is_strip:
        strip = add_strip(owner, base, slot, stack.start)
        strip.scale, strip.repeat = stack.scale, stack.repeat
        if stack.solo:
            data.nla_tracks[0].is_solo = True
    for number, layer in enumerate(stack.layers):
        add_layer(owner, layer, f"layer {number}")
    if stack.assigned is not None:
        compat.assign(owner, *made_layer(owner, stack.assigned, "on top"))
        blend = "COMBINE" if stack.assigned.blend == "REPLACE" else stack.assigned.blend
        data.action_blend_type, data.action_influence = blend, stack.assigned.influence
    if not stack.is_strip:
        compat.assign(owner, base, slot)
        # With no full influence the lower strips are seen, whatever the blend type.
        data.action_blend_type, data.action_influence = stack.blend, stack.influence
    return strip


def seen(rig, frames):
    """The local poses (bones, frames) that the scene shows."""
    rest = armature.rest_of(rig, space.XRAY_ROOT_FRAME)
    result = []
    for frame in frames.tolist():
        bpy.context.scene.frame_set(int(np.floor(frame)), subframe=frame % 1.0)
        result.append(armature.parent_local(matrices_of(rig.pose.bones, "matrix"), rest.parents, rest.root_frame))
    return np.stack(result, axis=1)


def written_motion(rig, plan, name):
    """The poses of one motion of a plan's file, as `in_file`."""
    clips = {clip.name: clip for clip in decode(omf.read(plan.data, "x.omf", Report()).motion_set, Report())}
    library_of_one = SimpleNamespace(data=plan.data)
    return in_file(rig, library_of_one, list(clips).index(name))


def check(rig, file_data, strip, base, **options):
    """Save Back writes the base as shown, and no other motion."""
    before = snapshot()
    plan = library.plan_save_back(
        omf_codec.OMF,
        bpy.context,
        rig,
        rig.motionbridge_motion_files[0],
        options=MotionExportOptions(**options),
        if_changed=plans.OtherBase.REFUSE,
        report=Report(),
    )
    assert differences(before, snapshot()) == []
    name = base.motionbridge_motion.motion_name
    assert nla.playing(rig).action == base
    old, new = raw_tracks(file_data), raw_tracks(plan.data)
    assert {motion for motion in old if new[motion] != old[motion]} <= {name}
    poses = written_motion(rig, plan, name)
    first = strip.frame_start if strip is not None else base.frame_start
    if strip is not None:
        assert poses.shape[1] == int(strip.frame_end - strip.frame_start + 1e-3) + 1
    own_poses = seen(rig, first + np.arange(poses.shape[1], dtype=np.float64))
    measured.stacks, measured.frames = measured.stacks + 1, measured.frames + poses.shape[1]
    measured.largest = max(measured.largest, float(difference(poses, own_poses)))
    assert difference(poses, own_poses) < NEAR
    return plan


def fresh(samples):
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    rig = load_model(samples / "humanoid.ogf")
    load_motions(rig, samples / "humanoid.omf")
    return rig, bpy.data.actions[NOD], (samples / "humanoid.omf").read_bytes()


def compare_on_rig(samples, stack):
    rig, base, data = fresh(samples)
    check(rig, data, build(rig, base, stack), base, width=omf.Width.WIDE)


def compare_on_controls(samples, stack):
    rig, base, data = fresh(samples)
    library.play(bpy.context, rig, base)
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.motionbridge.add_control_rig() == {"FINISHED"}
    controls = next(obj for obj in bpy.data.objects if obj.motionbridge_is_control_rig)
    check(rig, data, build(controls, base.motionbridge_controls, stack), base, width=omf.Width.WIDE)


def few(count):
    checks = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
    return settings(max_examples=count, deadline=None, suppress_health_check=checks)


@few(3)
@given(stacks())
def test_layers_on_the_armature_are_written_as_shown(samples, stack):
    compare_on_rig(samples, stack)


@few(1)
@given(stacks())
def test_layers_on_the_controls_are_written_as_shown(samples, stack):
    compare_on_controls(samples, stack)


@pytest.mark.deep
@few(60)
@given(stacks())
def test_many_layers_on_the_armature_are_written_as_shown(samples, stack):
    compare_on_rig(samples, stack)


@pytest.mark.deep
@few(25)
@given(stacks())
def test_many_layers_on_the_controls_are_written_as_shown(samples, stack):
    compare_on_controls(samples, stack)


@pytest.mark.deep
def test_what_was_compared_is_counted(capsys):
    with capsys.disabled():
        sys.stdout.write(
            f"\n{measured.stacks} stacks, {measured.frames} frames; off by at most {measured.largest:.1e}\n"
        )
    assert measured.stacks >= 80
    assert measured.frames >= 700


# By name -------------------------------------------------------------------------------------------------------------

TURN = SimpleNamespace(
    keys=[(0, "rotation_quaternion", {0, 1, 2, 3})],
    values=[0.1],
    blend="COMBINE",
    influence=1.0,
    extrapolation="HOLD",
    start=0,
    scale=1.0,
    repeat=1.0,
    fade=0,
    mute=False,
)


def turn_of(rig, bone="head", **changes):
    """A layer that turns one bone."""
    keys = [(rig.pose.bones.find(bone), "rotation_quaternion", {1, 2, 3})]
    return SimpleNamespace(**vars(TURN) | {"keys": keys} | changes)


def pushed_down(rig, action, start=0):
    slot = compat.suitable_slot(action, rig)
    rig.animation_data.action = None
    return add_strip(rig, action, slot, start)


def on_top(owner, layer, blend="COMBINE"):
    compat.assign(owner, *made_layer(owner, layer, "on top"))
    owner.animation_data.action_blend_type = blend


def changed(plan):
    return [change.name for change in plan.changes.parts]


def test_a_layer_that_is_the_assigned_action_changes_one_bone_of_one_motion(humanoid):
    rig, imported = humanoid
    pushed_down(rig, imported.actions[0])
    on_top(rig, turn_of(rig))
    plan = planned(rig)
    assert changed(plan) == ["walk"]
    assert changed_tracks(plan) == {"head"}


def test_the_list_marks_the_motion_in_play_below_its_layers(humanoid):
    rig, imported = humanoid
    base, other = imported.actions[:2]
    pushed_down(rig, base)
    on_top(rig, turn_of(rig))
    assert rig.motionbridge_playing == bpy.data.actions.find(base.name)
    pushed_down(rig, other, 40)
    assert rig.motionbridge_playing == -1


def test_a_layer_that_is_a_strip_is_not_lost(humanoid):
    rig, imported = humanoid
    pushed_down(rig, imported.actions[0])
    add_layer(rig, turn_of(rig), "layer")
    assert changed(planned(rig)) == ["walk"]


@pytest.mark.parametrize("start", [0, 7])
def test_a_motion_that_was_pushed_down_is_unchanged(humanoid, samples, start):
    rig, imported = humanoid
    for action in imported.actions[:1]:
        pushed_down(rig, action, start)
    assert planned(rig).data == (samples / "humanoid.omf").read_bytes()


def with_controls(samples):
    """An armature that plays a motion, the motion, its control rig and the IK control of a hand."""
    rig, base, _ = fresh(samples)
    library.play(bpy.context, rig, base)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.motionbridge.add_control_rig()
    controls = next(obj for obj in bpy.data.objects if obj.motionbridge_is_control_rig)
    goal = next(bone for bone in controls.pose.bones if bone.name == "hand_ik.L")
    return rig, base, controls, goal


def test_a_layer_on_an_ik_control_changes_the_limb_alone(samples):
    rig, base, controls, goal = with_controls(samples)
    pushed_down(controls, base.motionbridge_controls)
    layer = SimpleNamespace(**vars(TURN) | {"keys": [(controls.pose.bones.find(goal.name), "location", {2})]})
    on_top(controls, layer, "ADD")
    plan = planned(rig)
    assert changed(plan) == [NOD]
    # The arm is straight and stays so: whether its elbow bends by one step depends on how Blender was compiled.
    assert {"upperarm_l", "hand_l"} <= changed_tracks(plan) <= {"upperarm_l", "forearm_l", "hand_l"}


def test_controls_under_a_layer_still_show_the_motion_in_play(samples):
    rig, base, controls, goal = with_controls(samples)
    other = next(action for action in library.motions_of(rig.motionbridge_motion_files[0]) if action != base)
    strip = pushed_down(controls, base.motionbridge_controls)
    assert nla.plays_controls_action(rig)
    layer = SimpleNamespace(**vars(TURN) | {"keys": [(controls.pose.bones.find(goal.name), "location", {2})]})
    on_top(controls, layer, "ADD")
    assert nla.plays_controls_action(rig)
    strip.mute = True
    assert not nla.plays_controls_action(rig)
    strip.mute = False
    library.play(bpy.context, rig, other)
    assert nla.plays_controls_action(rig)


def test_layers_of_the_armature_leave_the_controls_at_the_motion_in_play(samples):
    rig, base, _, _ = with_controls(samples)
    pushed_down(rig, base)
    on_top(rig, turn_of(rig))
    assert nla.plays_controls_action(rig)


def test_several_motions_in_strips_are_refused_with_the_remedy(humanoid):
    rig, imported = humanoid
    strips = [pushed_down(rig, action, 40 * number) for number, action in enumerate(imported.actions[:2])]
    add_layer(rig, turn_of(rig), "layer")
    with pytest.raises(WriteError, match=r"several motions.*walk, idle.*Mute or delete the strips of all but one"):
        planned(rig)
    strips[1].mute = True
    assert changed(planned(rig)) == ["walk"]


def test_strips_that_play_no_motion_are_named(humanoid):
    rig, _ = humanoid
    rig.animation_data.action = None
    add_layer(rig, turn_of(rig), "layer")
    report = Report()
    assert planned(rig, report).changes.parts == []
    assert any("NLA strips play no motion" in line for line in report.lines())


def test_what_was_saved_with_layers_stays_when_another_motion_plays(game):
    rig = load(game)
    file = rig.motionbridge_motion_files[0]
    walk, other = library.motions_of(file)[:2]
    strip = pushed_down(rig, walk)
    strip.scale = 2
    add_layer(rig, turn_of(rig), "layer")
    assert bpy.ops.motionbridge.save_back() == {"FINISHED"}
    saved = (game / "humanoid.omf").read_bytes()
    ends = walk.frame_start, walk.frame_end
    assert planned(rig).data == saved
    library.play(bpy.context, rig, other)
    assert planned(rig).data == saved
    omf_codec.update_status(bpy.context, rig, [walk], Report())
    assert walk.motionbridge_motion.status == "UNTOUCHED"
    assert (walk.frame_start, walk.frame_end) == ends
    curve = compat.curve_bag(walk).fcurves[0]
    curve.keyframe_points[0].co[1] += 0.1
    curve.update()
    report = Report()
    plan = planned(rig, report)
    assert changed(plan) == ["walk"]
    assert any("written from its own keys" in line for line in report.lines())


@pytest.mark.parametrize("saves", [1, 2])
def test_constraints_and_drivers_change_the_motion_in_play_alone(game, saves):
    rig = load(game)
    walk, other = library.motions_of(rig.motionbridge_motion_files[0])[:2]
    library.play(bpy.context, rig, walk)
    reach_toward(rig)
    rig.pose.bones["head"].driver_add("location", 0).driver.expression = "0.1"
    assert changed(planned(rig)) == ["walk"]
    for _ in range(saves):
        bpy.ops.motionbridge.save_back()
    saved = (game / "humanoid.omf").read_bytes()
    library.play(bpy.context, rig, other)
    assert changed(planned(rig)) == ["idle"]
    rig.pose.bones["hand_l"].constraints[0].mute = True
    rig.animation_data.drivers[0].mute = True
    assert planned(rig).data == saved


def test_a_motion_with_keys_of_a_constraint_is_written_with_it(humanoid):
    """Its own keys say how the constraint moves it."""
    rig, imported = humanoid
    reach_toward(rig)
    path = 'pose.bones["hand_l"].constraints["IK"].influence'
    compat.curve_bag(imported.actions[1]).fcurves.new(path).keyframe_points.insert(0, 1.0)
    assert changed(planned(rig)) == ["walk", "idle"]


def test_constraints_on_controls_change_the_motion_in_play_alone(samples):
    rig, _, _, goal = with_controls(samples)
    target = bpy.data.objects.new("target", None)
    target.location = (0.3, 0.3, 1.0)
    bpy.context.scene.collection.objects.link(target)
    goal.constraints.new("COPY_LOCATION").target = target
    assert changed(planned(rig)) == [NOD]


# Animations of Arma ---------------------------------------------------------------------------------------------------


def rows_seen(rig, frames):
    """(frames, bones, 4, 4) of the scene, as an .rtm has them."""
    rests = np.linalg.inv(matrices_of(rig.data.bones, "matrix_local"))
    result = []
    for frame in frames:
        bpy.context.scene.frame_set(int(np.floor(frame)), subframe=frame % 1.0)
        result.append(matrices_of(rig.pose.bones, "matrix") @ rests)
    return np.array(result)


@pytest.mark.parametrize("start", [0, 6])
@pytest.mark.parametrize("assigned", [False, True])
def test_layers_of_an_arma_animation_are_written_as_shown(samples, assigned, start):
    done = load_animation(samples / "arma" / "walk.rtm")
    rig, walk = done.rig, done.action
    pushed_down(rig, walk, start)
    done.action = None
    assert planned_animation(done).data == (samples / "arma" / "walk.rtm").read_bytes()
    layer = turn_of(rig, rig.pose.bones[1].name)
    on_top(rig, layer) if assigned else add_layer(rig, layer, "layer")
    before = snapshot()
    plan = planned_animation(done)
    assert differences(before, snapshot()) == []
    names, _, rows = raw_matrices(plan.data)
    order = [rig.data.bones.find(name) for name in names]
    frames = plan.key_frames - walk.frame_start + start
    assert np.abs(rows_seen(rig, frames.tolist())[:, order] - rows).max() < SAMPLED
    assert plan.changes
    assert rig.motionbridge_animations[rig.motionbridge_playing_animation].action == walk


def test_an_arma_animation_that_is_not_in_play_has_no_layers(samples):
    done = load_animation(samples / "arma" / "walk.rtm")
    other = load_animation(samples / "arma" / "walk.rtm", done.rig)
    pushed_down(done.rig, other.action)
    add_layer(done.rig, turn_of(done.rig, done.rig.pose.bones[1].name), "layer")
    reach_toward(done.rig, done.rig.pose.bones[-1].name)
    assert planned_animation(done).data == (samples / "arma" / "walk.rtm").read_bytes()


def test_an_arma_animation_saved_with_layers_stays_when_another_plays(samples, tmp_path):
    path = tmp_path / "walk.rtm"
    path.write_bytes((samples / "arma" / "walk.rtm").read_bytes())
    done = load_animation(path)
    pushed_down(done.rig, done.action)
    add_layer(done.rig, turn_of(done.rig, done.rig.pose.bones[1].name), "layer")
    plan = planned_animation(done, path)
    plan.write()
    animation_edit.settle(plan, done.rig, done.action)
    assert planned_animation(done, path).data == plan.data
    other = load_animation(samples / "arma" / "walk_binarised.rtm", done.rig)
    compat.assign(done.rig, other.action)
    assert planned_animation(done, path).data == plan.data
