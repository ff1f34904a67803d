"""What the game's curves cannot say is sampled and fitted: every kind of it, judged where Blender has the object."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from addon.blender import compat
from addon.core.errors import WriteError
from addon.core.report import Report
from addon.formats.xray import anm
from addon.games.xray.paths import PathExportOptions, followed_action, plan_export, why_sampled
from tests.blender.scenes import add_object
from tests.core.envelope.formula import Channel
from tests.scene import differences, snapshot

FIRST, LAST = 1, 41
METRES, RADIANS = 1e-4, np.radians(0.01)
RNA = 2e-6
"""What Blender's own 32-bit matrices leave open, metres and radians."""


def keyed_object(mode: str = "YXZ", data=None):
    """An object with three keys in 40 frames: it moves 2 m and turns about two axes."""
    obj = add_object("mover", data)
    obj.rotation_mode = mode
    channel = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(mode, "rotation_euler")
    for frame, x, angle in ((FIRST, 0.0, 0.0), (20, 2.0, 1.0), (LAST, 1.0, -0.5)):
        obj.location = (x, x / 2, 0.0)
        rotation = Matrix.Rotation(angle, 3, "Z") @ Matrix.Rotation(angle / 2, 3, "X")
        if mode == "QUATERNION":
            obj.rotation_quaternion = rotation.to_quaternion()
        elif mode == "AXIS_ANGLE":
            axis, about = rotation.to_quaternion().to_axis_angle()
            obj.rotation_axis_angle = (about, *axis)
        else:
            obj.rotation_euler = rotation.to_euler(mode)
        obj.keyframe_insert("location", frame=frame)
        obj.keyframe_insert(channel, frame=frame)
    return obj


def curves_of(obj) -> dict:
    return {
        (curve.data_path, curve.array_index): curve for curve in compat.curve_bag(obj.animation_data.action).fcurves
    }


def limited(created) -> None:
    created.constraints.new("LIMIT_LOCATION").use_max_x = True


def looked_at(created) -> None:
    target = add_object("target")
    target.location = (3, 4, 1)
    created.constraints.new("TRACK_TO").target = target


def carried(obj) -> None:
    above = add_object("above")
    above.rotation_euler = (0.2, 0.1, 0.3)
    for frame, z in ((FIRST, 0.0), (LAST, 3.0)):
        above.location = (1, 2, z)
        above.keyframe_insert("location", frame=frame)
    obj.parent = above


def driven(created) -> None:
    created.driver_add("location", 2).driver.expression = "frame * frame / 400"


def moved_to_strips(obj) -> None:
    data = obj.animation_data
    moving = data.action
    slot = compat.suitable_slot(moving, obj)
    data.action = None
    strip = data.nla_tracks.new().strips.new("strip", FIRST, moving)
    if slot is not None:
        strip.action_slot = slot
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FIRST, LAST


def shaken(created) -> None:
    curves_of(created)["location", 1].modifiers.new("NOISE").scale = 20.0


def put_aside(created) -> None:
    created.delta_location, created.delta_rotation_euler = (1, 0, 0), (0.0, 0.0, 0.25)


def of_samples(created) -> None:
    for curve in curves_of(created).values():
        curve.convert_to_samples(FIRST, LAST + 1)


def repeated(obj, **settings) -> None:
    """Keys up to frame 11 that go round ``settings`` limits."""
    for curve in curves_of(obj).values():
        for point in curve.keyframe_points:
            point.co.x = FIRST + (point.co.x - FIRST) / 4
        curve.update()
        cycles = curve.modifiers.new("CYCLES")
        for name, value in settings.items():
            setattr(cycles, name, value)
    action = obj.animation_data.action
    action.use_frame_range, action.frame_start, action.frame_end = True, FIRST, LAST


CASES = {
    "another Euler order": ("XYZ", None, "a rotation that is not Euler YXZ"),
    "quaternion": ("QUATERNION", None, "a rotation that is not Euler YXZ"),
    "axis and angle": ("AXIS_ANGLE", None, "a rotation that is not Euler YXZ"),
    "limit": ("YXZ", limited, "active constraints"),
    "track to": ("YXZ", looked_at, "active constraints"),
    "parent": ("YXZ", carried, "a parent"),
    "driver": ("YXZ", driven, "active drivers"),
    "strips": ("YXZ", moved_to_strips, "NLA tracks"),
    "noise": ("YXZ", shaken, "easing or modifiers the game lacks"),
    "samples": ("YXZ", of_samples, "easing or modifiers the game lacks"),
    "two cycles": ("YXZ", lambda created: repeated(created, cycles_after=2), "easing or modifiers the game lacks"),
    "cycles that end": (
        "YXZ",
        lambda created: repeated(created, use_restricted_range=True, frame_end=15),
        "easing or modifiers the game lacks",
    ),
    "half a cycle": (
        "YXZ",
        lambda created: repeated(created, use_influence=True, influence=0.5),
        "easing or modifiers the game lacks",
    ),
    "delta": ("YXZ", put_aside, "delta transforms"),
}


def written(created, **options):
    plan = plan_export(bpy.context, created, "x.anm", options=PathExportOptions(**options), report=Report())
    return plan, anm.read(plan.data, "", Report()).animation


def poses(animation) -> tuple[np.ndarray, list[Matrix]]:
    """Where the game has the object on every frame: (frames, 3) places and rotations, in Blender's axes."""
    times = np.arange(FIRST, LAST + 1) / bpy.context.scene.render.fps
    x, z, y, h, p, b = (Channel(envelope).at(times) for envelope in animation.envelopes)
    rotations = [
        Matrix.Rotation(-heading, 3, "Z") @ Matrix.Rotation(-pitch, 3, "X") @ Matrix.Rotation(-bank, 3, "Y")
        for heading, pitch, bank in zip(h, p, b, strict=True)
    ]
    return np.stack((x, y, z), axis=1), rotations


def check_poses(obj, animation, metres=METRES, radians=3 * RADIANS, turned=None) -> None:
    positions, rotations = poses(animation)
    for index, rotation, frame in zip(positions, rotations, range(FIRST, LAST + 1), strict=True):
        bpy.context.scene.frame_set(frame)
        there = obj.matrix_world
        assert np.abs(index - np.array(there.translation)).max() <= metres + RNA, frame
        actual = there.to_3x3() if turned is None else there.to_3x3() @ turned
        # An angle that differs by so much moves no number of a matrix by more.
        assert np.abs(np.array(rotation) - np.array(actual.normalized())).max() <= radians + RNA, frame


@pytest.mark.parametrize("case", CASES)
def test_what_is_no_curve_of_the_game_is_sampled_and_fitted(case) -> None:
    mode, prepare, reason = CASES[case]
    created = keyed_object(mode)
    if prepare is not None:
        prepare(created)
    bpy.context.scene.frame_set(7)
    plan, animation = written(created)
    assert plan.sampled == [reason]
    assert bpy.context.scene.frame_current == 7
    check_poses(created, animation)
    keys = [len(envelope.keys) for envelope in animation.envelopes]
    assert max(keys) <= (LAST - FIRST + 1) / 2, keys


@pytest.mark.parametrize("mode", ["XYZ", "YXZ", "QUATERNION", "AXIS_ANGLE"])
def test_an_object_that_is_turned_without_keys_is_turned_in_the_file(mode) -> None:
    obj = keyed_object()
    bag = compat.curve_bag(obj.animation_data.action)
    for curve in [curve for curve in bag.fcurves if curve.data_path != "location"]:
        bag.fcurves.remove(curve)
    obj.rotation_mode = mode
    obj.rotation_euler, obj.rotation_axis_angle = (0.5, 0.7, -0.9), (0.8, 1.0, 2.0, 3.0)
    obj.rotation_quaternion = 0.5, 0.5, 0.1, 0.7
    plan, animation = written(obj)
    assert plan.sampled == []
    assert [len(envelope.keys) for envelope in animation.envelopes] == [3, 3, 3, 1, 1, 1]
    check_poses(obj, animation, metres=0.05)


def test_muted_modifiers_change_no_keys() -> None:
    created = keyed_object()
    before = written(created)[0].data
    for curve in curves_of(created).values():
        curve.modifiers.new("NOISE").mute = True
    plan, _ = written(created)
    assert (plan.sampled, plan.data) == ([], before)


def test_a_channel_whose_keys_were_deleted_is_where_the_object_stands() -> None:
    obj = keyed_object()
    curves_of(obj)["location", 2].keyframe_points.clear()
    obj.location.z = 5.0
    check_poses(obj, written(obj)[1], metres=0.05)


@pytest.mark.parametrize("hide", ["eye", "viewport", "collection"])
def test_a_hidden_object_is_sampled_as_it_is_when_it_is_shown(hide) -> None:
    created = keyed_object()
    looked_at(created)
    seen = written(created)[0].data
    if hide == "eye":
        created.hide_set(True)
    elif hide == "viewport":
        created.hide_viewport = True
    else:
        apart = bpy.data.collections.new("apart")
        bpy.context.scene.collection.children.link(apart)
        apart.objects.link(created)
        bpy.context.scene.collection.objects.unlink(created)
        bpy.context.view_layer.layer_collection.children["apart"].exclude = True
    bpy.context.view_layer.update()
    before = snapshot()
    assert written(created)[0].data == seen
    assert differences(before, snapshot()) == []


@pytest.mark.parametrize(
    "easing", ["SINE", "QUAD", "CUBIC", "QUART", "QUINT", "EXPO", "CIRC", "BACK", "BOUNCE", "ELASTIC"]
)
def test_easing_the_game_lacks_is_fitted(easing) -> None:
    created = keyed_object()
    for curve in curves_of(created).values():
        for point in curve.keyframe_points:
            point.interpolation = easing
    plan, animation = written(created)
    assert plan.sampled == ["easing or modifiers the game lacks"]
    check_poses(created, animation)
    counts = [len(envelope.keys) for envelope in animation.envelopes]
    coarse = written(created, millimetres=50, degrees=5)[1]
    if easing in ("QUAD", "CUBIC", "BACK"):  # cubics themselves
        assert max(counts) == 3
    else:
        assert sum(len(envelope.keys) for envelope in coarse.envelopes) < sum(counts)
    check_poses(created, coarse, 0.05, np.radians(15))


def test_a_camera_of_its_own_is_turned_the_games_way() -> None:
    obj = keyed_object(data=bpy.data.cameras.new("eye"))
    plan, animation = written(obj)
    assert plan.sampled == ["a camera of its own, which looks along another axis"]
    check_poses(obj, animation, turned=Matrix.Rotation(-np.pi / 2, 3, "X"))
    # The game looks along +Z, Blender's +Y: the same way as the camera does along its -Z.
    bpy.context.scene.frame_set(20)
    looks = obj.matrix_world.to_3x3() @ Vector((0, 0, -1))
    rotation = poses(animation)[1][20 - FIRST]
    np.testing.assert_allclose(rotation @ Vector((0, 1, 0)), looks, atol=6e-4)


def test_steps_of_stored_handles_are_reported_where_they_cost_more_than_the_tolerance(tmp_path) -> None:
    obj = keyed_object()
    for version, calls in ((3, False), (4, True), (5, True)):
        report = Report()
        plan_export(bpy.context, obj, "x.anm", options=PathExportOptions(version=version), report=report)
        assert any("steps of 0.98 ms" in line for line in report.lines()) == calls, version
    report = Report()
    patient = PathExportOptions(version=5, millimetres=100, degrees=5)
    plan_export(bpy.context, obj, "x.anm", options=patient, report=report)
    assert not report.lines()
    # What is told is what is lost.
    bpy.context.scene.render.fps = 25
    report = Report()
    plan = plan_export(bpy.context, obj, "x.anm", options=PathExportOptions(version=5), report=report)
    metres, radians = plan.changes.worst_errors()
    animation = anm.read(plan.data, "", Report()).animation
    positions, _ = poses(animation)
    off = 0.0
    for index, frame in zip(positions, range(FIRST, LAST + 1), strict=True):
        bpy.context.scene.frame_set(frame)
        off = max(off, np.abs(index - np.array(obj.matrix_world.translation)).max())
    assert METRES < metres <= 1.5 * off + RNA
    assert off <= 1.3 * metres + RNA
    assert radians > RADIANS


def test_an_outer_handle_that_the_game_does_not_follow_is_reported() -> None:
    created = keyed_object()
    curve = curves_of(created)["location", 0]
    curve.extrapolation = "LINEAR"
    last = curve.keyframe_points[-1]
    last.handle_left_type = last.handle_right_type = "FREE"
    for lifted in (0.0, 1.0):
        last.handle_left, last.handle_right = (35, 1.25), (47, 0.75 + lifted)
        report = Report()
        plan_export(bpy.context, created, "x.anm", options=PathExportOptions(), report=report)
        assert any("outside the keys of X" in line for line in report.lines()) == bool(lifted)


def keyed_late(obj, frame=70) -> None:
    obj.location.z = 4
    obj.keyframe_insert("location", index=2, frame=frame)


@pytest.mark.parametrize("by", ["parent", "target", "strip"])
def test_what_else_moves_an_object_decides_how_long_it_is_sampled(by) -> None:
    """Own keys of frames 1 to 41 under something that moves until frame 70; a range set by hand is kept."""
    obj, other = keyed_object(), keyed_object()
    keyed_late(other)
    if by == "parent":
        obj.parent = other
    elif by == "target":
        obj.constraints.new("COPY_LOCATION").target = other
    else:
        moved_to_strips(other)
        obj, other = other, obj
        obj.animation_data_create()
        obj.location = (0, 0, 0)
        obj.keyframe_insert("location", index=0, frame=5)
        obj.animation_data.action_blend_type = "ADD"
    _, animation = written(obj)
    assert (animation.first, animation.last) == (FIRST, 70)
    check_poses(obj, animation)
    action = obj.animation_data.action
    action.use_frame_range, action.frame_start, action.frame_end = True, 5, 30
    _, animation = written(obj)
    assert (animation.first, animation.last) == (5, 30)


def test_keys_between_frames_are_sampled_too() -> None:
    obj = keyed_object("XYZ")
    obj.location.x = 3
    obj.keyframe_insert("location", index=0, frame=30.5)
    obj.location.x = 0
    obj.keyframe_insert("location", index=0, frame=30.75)
    _, animation = written(obj)
    check_poses(obj, animation)
    for frame in np.arange(29, 33, 0.125):
        bpy.context.scene.frame_set(int(frame), subframe=frame % 1)
        judged = Channel(animation.envelopes[0]).at(np.array([frame / bpy.context.scene.render.fps]))
        assert judged == pytest.approx(obj.matrix_world.translation.x, abs=0.1), frame


def test_a_cut_of_a_camera_stays_a_cut() -> None:
    """Held values jump at the key and are not blended over a frame, which the game would show as a fast pan."""
    created = keyed_object(data=bpy.data.cameras.new("eye"))
    for curve in curves_of(created).values():
        for point in curve.keyframe_points:
            point.interpolation = "CONSTANT"
    _, animation = written(created)
    check_poses(created, animation, turned=Matrix.Rotation(-np.pi / 2, 3, "X"))
    frames = np.array([18.5, 19.5, 19.95, 20, 20.5, 21.5, 40.9])
    judged = Channel(animation.envelopes[0]).at(frames / bpy.context.scene.render.fps)
    np.testing.assert_allclose(judged, [0, 0, 0, 2, 2, 2, 2], atol=METRES)


@pytest.mark.skipif(not compat.SLOTTED, reason="actions have slots since Blender 4.4")
def test_keys_of_another_slot_make_no_path_longer() -> None:
    obj, other = keyed_object(), bpy.data.objects.new("other", None)
    action = obj.animation_data.action
    other.animation_data_create().action = action
    other.animation_data.action_slot = action.slots.new("OBJECT", "other")
    keyed_late(other)
    for mode in ("YXZ", "XYZ"):
        obj.rotation_mode = mode
        _, animation = written(obj)
        assert (animation.first, animation.last) == (FIRST, LAST)


def test_keys_of_the_lens_are_reported_to_be_left_out() -> None:
    camera = keyed_object(data=bpy.data.cameras.new("eye"))
    camera.data.keyframe_insert("lens", frame=1)
    report = Report()
    plan_export(bpy.context, camera, "x.anm", options=PathExportOptions(), report=report)
    assert "the game cannot store these curves; left out (eye: lens)" in report.lines()


def test_keys_of_scale_alone_are_no_path() -> None:
    created = keyed_object()
    for curve in curves_of(created).values():
        curve.data_path = "scale"
    assert why_sampled(created) is None
    with pytest.raises(WriteError, match="does not move"):
        plan_export(bpy.context, created, "x.anm", options=PathExportOptions(), report=Report())


@pytest.mark.parametrize("mode", ["QUATERNION", "YXZ"])
@pytest.mark.parametrize("scale", [(-1, 1, 1), (1, -2, 1), (-1, -1, 0.5), (-1, -1, -1)])
def test_a_negative_scale_is_warned_of_and_leaves_the_rotation_alone(mode, scale) -> None:
    obj = keyed_object(mode)
    straight = poses(written(obj)[1])[1]
    obj.scale = scale
    bpy.context.view_layer.update()
    report = Report()
    data = plan_export(bpy.context, obj, "x.anm", options=PathExportOptions(), report=report).data
    rotations = poses(anm.read(data, "", Report()).animation)[1]
    for rotation, wanted in zip(rotations, straight, strict=True):
        assert np.abs(np.array(rotation) - np.array(wanted)).max() <= 3 * RADIANS
    assert [warning.partition(":")[0] for warning in report.warnings] == ["its scale is negative"]


def test_a_mirroring_parent_is_warned_of_and_the_other_axes_stay() -> None:
    obj = keyed_object()
    carried(obj)
    obj.parent.scale = (-1, 1, 1)
    bpy.context.view_layer.update()
    report = Report()
    data = plan_export(bpy.context, obj, "x.anm", options=PathExportOptions(), report=report).data
    positions, rotations = poses(anm.read(data, "", Report()).animation)
    assert [warning.partition(":")[0] for warning in report.warnings] == ["its scale is negative"]
    for index, rotation, frame in zip(positions, rotations, range(FIRST, LAST + 1), strict=True):
        bpy.context.scene.frame_set(frame)
        there = np.array(obj.matrix_world)
        assert np.abs(index - there[:3, 3]).max() <= METRES + RNA
        assert np.abs(np.array(rotation) - there[:3, :3] * [-1, 1, 1]).max() <= 3 * RADIANS + RNA


@pytest.mark.parametrize(
    ("path", "mode", "message"),
    [
        ("scale", "YXZ", "the game cannot store these curves; left out"),
        ("rotation_quaternion", "YXZ", "keys of a rotation that the object's mode does not read are left out"),
        ("rotation_euler", "QUATERNION", "keys of a rotation that the object's mode does not read are left out"),
    ],
)
def test_curves_that_are_left_out_are_reported(path, mode, message, tmp_path) -> None:
    obj = keyed_object()
    obj.rotation_mode = mode
    setattr(obj, path, [0.5] * len(getattr(obj, path)))
    obj.keyframe_insert(path, frame=5)
    plan_export(bpy.context, obj, str(tmp_path / "x.anm"), options=PathExportOptions(), report=(report := Report()))
    (sentence,) = report.warnings
    assert sentence.startswith(message)
    assert report.warnings[sentence] == [f"mover: {path}"]


def test_a_baked_scale_of_one_is_nothing_to_leave_out_and_a_muted_curve_is_reported(tmp_path) -> None:
    obj = keyed_object()
    obj.keyframe_insert("scale", frame=5)
    options = PathExportOptions()
    plan_export(bpy.context, obj, str(tmp_path / "x.anm"), options=options, report=(report := Report()))
    assert not report.warnings
    curves_of(obj)["location", 1].mute = True
    plan_export(bpy.context, obj, str(tmp_path / "x.anm"), options=options, report=report)
    assert list(report.warnings) == ["curves are muted: the path has the object's current values there"]


def test_keyed_delta_transforms_are_sampled_wherever_they_are_zero(tmp_path) -> None:
    obj = keyed_object()
    for frame, height in ((FIRST, 0.0), (LAST, 2.0)):
        obj.delta_location.z = height
        obj.keyframe_insert("delta_location", frame=frame)
    bpy.context.scene.frame_set(FIRST)
    assert why_sampled(obj) == ["delta transforms"]
    options = PathExportOptions()
    plan = plan_export(bpy.context, obj, str(tmp_path / "x.anm"), options=options, report=(report := Report()))
    assert not report.warnings
    last = anm.decode(anm.read(plan.data, "", Report()), Report()).channels.location[2].keys[-1]
    assert last.tolist() == pytest.approx([LAST / 24, 2.0], abs=1e-4)


@pytest.mark.parametrize("start", [0, 9])
@pytest.mark.parametrize("layered", [False, True])
def test_a_path_in_a_strip_is_written_with_its_layers(samples, start, layered) -> None:
    """Without layers the file comes back."""
    bpy.ops.import_scene.xray_anm(filepath=str(samples / "camera.anm"), target="EMPTY")
    owner = bpy.context.view_layer.objects.active
    path = owner.animation_data.action
    first, last = round(path.frame_range[0]), round(path.frame_range[1])
    slot = compat.suitable_slot(path, owner)
    owner.animation_data.action = None
    strip = owner.animation_data.nla_tracks.new().strips.new("path", first + start, path)
    if slot is not None:
        strip.action_slot = slot
    if layered:
        layer, slot, bag = compat.new_action("layer", "OBJECT", owner.name)
        for frame, value in ((first, 0.5), (last, 0.2)):
            bag.fcurves.new("location", index=2) if not len(bag.fcurves) else None
            bag.fcurves[0].keyframe_points.insert(frame, value)
        compat.assign(owner, layer, slot)
        owner.animation_data.action_blend_type = "ADD"
    assert followed_action(owner) == path
    before = snapshot()
    plan, animation = written(owner, version=3 if layered else None)  # others round handles
    assert differences(before, snapshot()) == []
    if not layered:
        assert plan.sampled == []
        assert plan.data == (samples / "camera.anm").read_bytes()
        return
    assert (animation.first, animation.last) == (first, last)
    heights = Channel(animation.envelopes[1]).at(np.arange(first, last + 1) / animation.rate)
    for frame, height in zip(range(first, last + 1), heights, strict=True):
        bpy.context.scene.frame_set(frame + start)
        assert abs(owner.matrix_world.translation.z - height) < METRES + RNA, frame
