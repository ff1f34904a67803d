"""Clips to actions and back: what plays, what the pose is, what comes back, what stays as it was."""

import zlib

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix, Quaternion

from addon.blender import action as actions
from addon.blender import armature, compat
from addon.blender.bone_curves import channel_path, keeps_scale_at_one, sampled_table, table_of, times_of
from addon.blender.rotation_modes import HiddenKeys, RotationModes
from addon.core import rotation
from addon.core.model import Clip, Skeleton
from tests.scene import differences, snapshot

RANDOM = np.random.default_rng()
ROOT_FRAME = np.array([[1.0, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
ROUNDED = 2.2e-6
"""Metres: a pose is a chain of up to 4 bones with 3 products of float32 matrices each, whose positions reach 3 m
(half of 2 ** -22 each time)."""


@pytest.fixture(autouse=True)
def _numbers_of_its_own(request) -> None:
    """Each test draws the same numbers, whichever ran before it."""
    seed = zlib.crc32(request.node.name.encode())
    RANDOM.bit_generator.state = np.random.default_rng(seed).bit_generator.state


def quaternions(*shape: int) -> np.ndarray:
    return rotation.normalised(RANDOM.normal(size=(*shape, 4)))


def skeleton(bones: int = 6) -> Skeleton:
    parents = np.array([-1, 0, 1, 1, 3, 0][:bones], np.int32)
    return Skeleton(
        "rig",
        [f"bone_{index}" for index in range(bones)],
        parents,
        quaternions(bones),
        RANDOM.uniform(-0.5, 0.5, (bones, 3)),
        ROOT_FRAME,
    )


def clip(bones: list[str], frames: int = 5, name: str = "walk") -> Clip:
    count = len(bones)
    rotations = rotation.continuous(quaternions(count, frames))
    translations = RANDOM.uniform(-0.5, 0.5, (count, frames, 3))
    keyed = np.arange(count) % 2 == 0
    rotations[~keyed] = rotations[~keyed][:, :1]
    translations[keyed] = translations[keyed][:, :1]
    return Clip(name, bones, rotations, translations, keyed, ~keyed, 30.0)


def build_rig(own_skeleton: Skeleton):
    rig, given = armature.build(bpy.context, own_skeleton)
    bpy.context.scene.collection.objects.link(rig)
    return rig, given


def written(rig, rest, *clips: Clip, first_frame: int = 0) -> list:
    indices = [rest.bones.index(bone) for bone in clips[0].bones]
    writer = actions.ClipWriter(rest, indices, compat.slot_name(rig))
    result = [writer.build(own_clip, list(range(len(own_clip.bones))), first_frame) for own_clip in clips]
    writer.close()
    return result


@pytest.fixture
def scene():
    own_skeleton = skeleton()
    rig, _ = build_rig(own_skeleton)
    rest = armature.rest_of(rig, ROOT_FRAME)
    return own_skeleton, rig, rest


def distortion(rig) -> float:
    """d: by how much Blender's rest matrices, made of heads, tails and rolls in float32, are not rotations.

    A bone's matrix in its parent's, L = inverse(M parent) M, then scales by 1 - 2 d to 1 + 2 d (a root's by half of
    that): applied to what is d away from the rotation R nearest to it, keys that are taken in R pose each bone of a
    chain 2 d away from the clip.
    """
    scales = np.linalg.svd(armature.matrices_of(rig.data.bones, "matrix_local")[:, :3, :3].astype(float))[1]
    return float(np.abs(scales - 1).max())


def modes_of(rig, action) -> dict[str, str]:
    return RotationModes(rig).of_export(action, "", HiddenKeys.STOP)


def gathered_from(rig, rest, action) -> actions.Gathered:
    return actions.ClipReader(rig, rest, 30.0).gather(action, modes_of(rig, action))


def test_the_rest_pose_is_the_skeletons(scene) -> None:
    own_skeleton, rig, rest = scene
    order = [own_skeleton.bones.index(bone) for bone in rest.bones]
    there = armature.matrices_of(rig.data.bones, "matrix_local")
    np.testing.assert_allclose(
        there, own_skeleton.rest_matrices()[order], atol=4e-5
    )  # head, tail, roll: see blender facts
    assert np.abs(rotation.angles_between(rest.rotations, own_skeleton.rest_rotation[order])).max() < 1e-4


@pytest.mark.parametrize("frame", [0, 3, 4])
def test_poses_are_the_clips(scene, frame: int) -> None:
    """Blender's pose against a chain of 4x4 products that never heard of rest poses."""
    own_skeleton, rig, rest = scene
    walk = clip(own_skeleton.bones)
    (action,) = written(rig, rest, walk)
    actions.play(bpy.context, rig, action)
    bpy.context.scene.frame_set(frame)
    world: dict[int, np.ndarray] = {}
    for bone, parent in enumerate(own_skeleton.parents):
        local = np.eye(4)
        local[:3, :3] = np.array(Quaternion(walk.rotations[bone, frame]).to_matrix())
        local[:3, 3] = walk.translations[bone, frame]
        world[bone] = (ROOT_FRAME if parent < 0 else world[parent]) @ local
    # Rotations of a chain of 4 are up to (1 + 2 + 2 + 2) d away. Positions: each bone's location, up to 2 * 0.87 m from
    # rest, is distorted by as much, and each bone hangs up to 0.87 m off a parent that is (1 + 3 + 5) d away.
    atol = ROUNDED + (7 * 2 * 0.87 + 9 * 0.87) * distortion(rig)
    for bone, name in enumerate(own_skeleton.bones):
        np.testing.assert_allclose(np.array(rig.pose.bones[name].matrix), world[bone], rtol=0, atol=atol)


def test_what_was_built_is_gathered(scene) -> None:
    own_skeleton, rig, rest = scene
    walk = clip(own_skeleton.bones)
    (action,) = written(rig, rest, walk)
    gathered = gathered_from(rig, rest, action)
    assert gathered.left_out == []
    order = [gathered.clip.bones.index(bone) for bone in own_skeleton.bones]
    signs = np.sign(np.einsum("...i,...i->...", gathered.clip.rotations[order], walk.rotations))[..., None]
    np.testing.assert_allclose(gathered.clip.rotations[order] * signs, walk.rotations, atol=2e-7)
    np.testing.assert_allclose(gathered.clip.translations[order], walk.translations, atol=2e-7)
    assert (gathered.clip.rotation_keyed[order] == walk.rotation_keyed).all()
    assert (gathered.clip.translation_keyed[order] == walk.translation_keyed).all()


def test_constant_tracks_have_one_key_and_animated_ones_a_key_a_frame(scene) -> None:
    own_skeleton, rig, rest = scene
    walk = clip(own_skeleton.bones, frames=9)
    (action,) = written(rig, rest, walk, first_frame=10)
    counts = {}
    for curve in compat.curve_bag(action).fcurves:
        counts.setdefault(curve.data_path, set()).add(len(curve.keyframe_points))
        assert curve.keyframe_points[0].co[0] == 10
        assert {point.interpolation for point in curve.keyframe_points} == {"LINEAR"}
    for index, bone in enumerate(own_skeleton.bones):
        assert counts[channel_path(bone, "rotation_quaternion")] == {9 if walk.rotation_keyed[index] else 1}
        assert counts[channel_path(bone, "location")] == {9 if walk.translation_keyed[index] else 1}
    assert (action.frame_start, action.frame_end) == (10, 18)
    assert actions.frame_range(action) == (10, 9)


def test_any_action_the_user_picks_plays(scene) -> None:
    own_skeleton, rig, rest = scene
    first, second = written(rig, rest, clip(own_skeleton.bones, name="a"), clip(own_skeleton.bones, name="b"))
    actions.play(bpy.context, rig, first)
    rig.animation_data.action = second  # what the editor does: no slot is named
    bpy.context.scene.frame_set(0)
    before = np.array(rig.pose.bones["bone_0"].matrix)
    bpy.context.scene.frame_set(3)
    assert np.abs(np.array(rig.pose.bones["bone_0"].matrix) - before).max() > 1e-3


def test_curves_the_user_made_are_sampled_on_whole_frames(scene) -> None:
    own_skeleton, rig, rest = scene
    (action,) = written(rig, rest, clip(own_skeleton.bones))
    actions.play(bpy.context, rig, action)
    curve = next(c for c in compat.curve_bag(action).fcurves if c.data_path.endswith("location"))
    while len(curve.keyframe_points) > 1:
        curve.keyframe_points.remove(curve.keyframe_points[0])
    curve.keyframe_points.insert(0.0, 0.0).interpolation = "BEZIER"
    curve.keyframe_points.insert(2.5, 1.0)
    curve.keyframe_points.insert(4.0, 0.5)
    expected = [curve.evaluate(frame) for frame in range(5)]
    gathered = gathered_from(rig, rest, action).clip
    index = next(p for p, bone in enumerate(rest.bones) if f'"{bone}"' in curve.data_path)
    back = rotation.rotate(
        rotation.conjugate(rest.rotations[index]), gathered.translations[index] - rest.translations[index]
    )
    np.testing.assert_allclose(back[:, curve.array_index], expected, atol=1e-6)


@pytest.mark.parametrize("mode", ["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX", "AXIS_ANGLE"])
def test_other_rotation_modes_are_read(scene, mode: str) -> None:
    _, rig, rest = scene
    bone = rig.pose.bones["bone_2"]
    bone.rotation_mode = mode
    channel = "rotation_axis_angle" if mode == "AXIS_ANGLE" else "rotation_euler"
    values = [0.7, 0.1, -0.5, 0.3] if mode == "AXIS_ANGLE" else [0.7, -0.4, 1.9]
    action, _, bag = compat.new_action("a", "OBJECT", rig.name)
    make = compat.curve_maker(action, bag)
    for index, value in enumerate(values):
        make(channel_path("bone_2", channel), index, "bone_2").keyframe_points.insert(0, value)
    gathered = gathered_from(rig, rest, action).clip
    position = rest.bones.index("bone_2")
    basis = rotation.multiply(rotation.conjugate(rest.rotations[position]), gathered.rotations[position, 0])
    expected = (
        Matrix.Rotation(values[0], 3, values[1:]).to_quaternion()
        if mode == "AXIS_ANGLE"
        else Euler(values, mode).to_quaternion()
    )
    assert rotation.angles_between(basis, np.array(expected)) < 1e-6


@pytest.mark.parametrize("value", [1.0, 1.5])
@pytest.mark.parametrize(
    ("path", "is_scale"),
    [
        ("scale", True),
        ('pose.bones["a"].scale', True),
        ("location", False),
        ('pose.bones["a"].location', False),
        ('["a"].scale', False),
        ("delta_scale", False),
    ],
)
def test_only_curves_of_scales_keep_a_scale_at_one(path, is_scale, value) -> None:
    action, _, bag = compat.new_action("scaled", "OBJECT", "rig")
    curve = compat.curve_maker(action, bag)(path, 0, "Scales")
    curve.keyframe_points.insert(0, value)
    assert keeps_scale_at_one(curve) == (is_scale and value == 1.0)


def test_curves_that_a_clip_cannot_hold_are_named(scene) -> None:
    own_skeleton, rig, rest = scene
    (action,) = written(rig, rest, clip(own_skeleton.bones))
    make = compat.curve_maker(action, compat.curve_bag(action))
    make(channel_path("bone_1", "scale"), 0, "bone_1").keyframe_points.insert(0, 2.0)
    make(channel_path("nobody", "location"), 0, "nobody").keyframe_points.insert(0, 2.0)
    left_out = gathered_from(rig, rest, action).left_out
    assert left_out == ['pose.bones["bone_1"].scale', 'pose.bones["nobody"].location']


def test_sampled_poses_are_the_keys_where_nothing_else_moves_the_rig(scene) -> None:
    own_skeleton, rig, rest = scene
    first, second = written(rig, rest, clip(own_skeleton.bones, name="a"), clip(own_skeleton.bones, name="b"))
    actions.play(bpy.context, rig, first)
    bpy.context.scene.frame_set(2)
    before = snapshot()
    sampled, distorted = actions.sample(bpy.context, rig, second, rest, 30.0, modes=modes_of(rig, second))
    assert distorted == []
    assert differences(before, snapshot()) == []
    gathered = gathered_from(rig, rest, second).clip
    # What is sampled has the distortion of a bone in its parent: 2 d of a location up to 2 * 0.87 m from rest. The
    # parents' own cancels out, but for what rounding makes of it.
    wrong = distortion(rig)
    assert rotation.angles_between(sampled.rotations, gathered.rotations).max() < ROUNDED + 2 * np.sqrt(3) * wrong
    np.testing.assert_allclose(sampled.translations, gathered.translations, rtol=0, atol=ROUNDED + 2 * 2 * 0.87 * wrong)


def test_why_a_rig_must_be_sampled(scene) -> None:
    _, rig, _ = scene
    assert actions.why_sampled(rig) == []
    constraint = rig.pose.bones["bone_2"].constraints.new("COPY_ROTATION")
    assert actions.why_sampled(rig) == ["active constraints"]
    constraint.mute = True
    assert actions.why_sampled(rig) == []
    rig.data.bones["bone_2"].use_inherit_rotation = False
    assert "inherit" in actions.why_sampled(rig)[0]


def test_a_rig_is_built_whatever_the_user_was_doing() -> None:
    other, _ = build_rig(skeleton(2))
    other.hide_set(True)
    excluded = bpy.data.collections.new("excluded")
    bpy.context.scene.collection.children.link(excluded)
    bpy.context.view_layer.layer_collection.children["excluded"].exclude = True
    bpy.context.view_layer.active_layer_collection = bpy.context.view_layer.layer_collection.children["excluded"]
    visible, _ = build_rig(skeleton(3))
    bpy.context.view_layer.objects.active = visible
    bpy.ops.object.mode_set(mode="EDIT")
    rig, given = armature.build(bpy.context, skeleton())
    assert len(given) == 6
    assert bpy.context.view_layer.objects.active == visible
    assert visible.mode == "EDIT"
    assert "motionbridge" not in bpy.data.collections
    assert rig.name not in bpy.context.view_layer.objects


def test_bones_keep_their_order_by_the_names_blender_gave() -> None:
    own_skeleton = skeleton(3)
    own_skeleton.bones = ["кость" * 20, "кость" * 20, 'quoted "bone" \\']
    rig, given = armature.build(bpy.context, own_skeleton)
    assert len(set(given)) == 3
    assert all(name in rig.data.bones for name in given)
    bpy.context.scene.collection.objects.link(rig)
    rest = armature.rest_of(rig, ROOT_FRAME)
    walk = clip(given)
    (action,) = written(rig, rest, walk)
    gathered = gathered_from(rig, rest, action)
    assert gathered.left_out == []


def test_keys_read_with_the_table_give_the_same_times_and_values() -> None:
    obj = bpy.data.objects.new("crate", None)
    keyed = ([], [3.0], [1.0, 2.0, 4.0], [1.0, 2.5, 4.0], [1.0, 2.0, 4.0, 9.0], [1.0, 2.0, 4.0])
    for index, times in enumerate(keyed):
        path = "location" if index < 3 else "rotation_euler"
        obj.keyframe_insert(path, index=index % 3, frame=1.0)
        points = compat.curve_bag(obj.animation_data.action).fcurves[index].keyframe_points
        points.clear()
        points.add(len(times))
        points.foreach_set("co", np.stack([times, RANDOM.normal(size=len(times))], axis=1).ravel())
    action, frames = obj.animation_data.action, np.array([1.0, 2.0, 4.0], np.float32)
    plain, table = table_of(action, obj), table_of(action, obj, keys=True)
    for values, expected in zip(sampled_table(table, frames), sampled_table(plain, frames), strict=True):
        assert np.array_equal(values, expected)
    assert times_of(*table.keys).tolist() == sorted({time for times in keyed for time in times})
    chosen = np.array([True, True, False, True, False, False])
    assert times_of(*table.keys, chosen).tolist() == [1.0, 2.5, 3.0, 4.0]
    assert times_of(*table.keys, np.zeros(6, np.bool_)).tolist() == []
