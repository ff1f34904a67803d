"""Blender's own tools for symmetric poses on controls: Paste Pose Flipped, Select Mirror, X-Axis Mirror.

They are compared with the formula for exchanging left and right that needs no particular axes.
"""

import bpy
import numpy as np
import pytest
from mathutils import Vector

from addon.blender import compat, control_links, control_rig
from addon.blender.armature import FINGER_JOINTS, matrices_of
from addon.core import control_parts, rotation, symmetry
from addon.core.body import body_of
from addon.core.control_rig import Role
from tests.blender.rtm_scene import load
from tests.blender.test_control_rig import REAL, select
from tests.real_files import CORPUS, corpus_files, motions_of_model

CREATURES = ["radium_rat"] if CORPUS else []
MODELS = [
    *("humanoid", *REAL[:2], *CREATURES),
    *(param.values[0] for param in corpus_files("rtm/agm_wipeglasses.rtm") if param.values[0]),
]
METRES = 1e-4
NEAR = 5e-3
"""Metres from the middle."""
DEGREES = 3.5
"""Largest angle between a hand's box and the palm: both hands of a body get one direction, in between theirs."""
POSED = {
    False: {Role.FREE, Role.TORSO, Role.CHEST, Role.FIST, Role.CURL},
    True: {Role.GOAL, Role.HOCK, Role.POLE, Role.TORSO, Role.CHEST, Role.FIST, Role.CURL},
}
"""Roles of the controls that are posed: with FK, and with IK."""


def at_rest(model):
    """A control rig in pose mode, without motions."""
    if isinstance(model, str):
        bpy.ops.import_scene.xray_ogf(filepath=str(motions_of_model(model)[0]), motions="NONE")
        rig = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
        if model in CREATURES:
            make_symmetric(rig)
        bpy.context.view_layer.objects.active = rig
        assert bpy.ops.motionbridge.add_control_rig() == {"FINISHED"}
    else:
        rig = load(model).rig
        make_symmetric(rig)
        bpy.context.view_layer.objects.active = rig
        assert bpy.ops.motionbridge.add_control_rig() == {"FINISHED"}
    controls = control_links.controls_of(rig)
    for owner in (rig, controls):
        if owner.animation_data is not None:
            compat.assign(owner, None)
        for bone in owner.pose.bones:
            bone.matrix_basis.identity()
            bone.rotation_quaternion, bone.location = (1, 0, 0, 0), (0, 0, 0)
    if FINGER_JOINTS in controls.data.collections:  # Blender copies no hidden controls
        controls.data.collections[FINGER_JOINTS].is_visible = True
    bpy.context.view_layer.objects.active = controls
    bpy.ops.object.mode_set(mode="POSE")
    return rig, controls


def make_symmetric(rig):
    """Move the bones on the right to where those on the left are reflected, and those near the middle into it; all keep
    their axes.
    """
    _, _, pairs = structure(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    names = rig.data.bones.keys()
    for bone, other in enumerate(pairs.tolist()):
        if other > bone:
            left, right = rig.data.edit_bones[names[bone]], rig.data.edit_bones[names[other]]
            shift = Vector((-left.head.x, *left.head.yz)) - right.head
            right.head, right.tail = right.head + shift, right.tail + shift
        elif other == bone and abs(rig.data.edit_bones[names[bone]].head.x) < NEAR:
            middle = rig.data.edit_bones[names[bone]]
            shift = Vector((-middle.head.x, 0, 0))
            middle.head, middle.tail = middle.head + shift, middle.tail + shift
    bpy.ops.object.mode_set(mode="OBJECT")


def structure(rig):
    bones = rig.data.bones
    index = {bone.name: number for number, bone in enumerate(bones)}
    parents = [index[bone.parent.name] if bone.parent is not None else -1 for bone in bones]
    rest = matrices_of(bones, "matrix_local")
    return rest, parents, symmetry.pairs_of(list(index), parents, rest[:, :3, 3])


def pose_at_random(controls, seed, *, is_ik):
    """Rotate controls of all kinds, and translate those that may be; return their names."""
    random = np.random.default_rng(seed)
    for owner in control_rig.goals_of(controls):
        owner["ik"] = float(is_ik)
    controls.update_tag()
    posed = []
    for bone in controls.pose.bones:
        role = Role(bone.bone[control_links.ROLE])
        if role not in POSED[is_ik]:
            continue
        posed.append(bone.name)
        turned = random.normal(size=3) * (0.3, 0.0, 0.0) if role is Role.FIST else random.normal(size=3) * 0.2
        bone.rotation_quaternion = rotation.normalised(np.array([[1.0, *turned]]))[0]
        if role in {Role.GOAL, Role.POLE, Role.TORSO}:
            bone.location = Vector(random.normal(size=3) * 0.02)
        if role is Role.GOAL:  # nearer, so that the limb bends
            bone.location += Vector((0, 0, 0.1)) if "foot" in bone.name else Vector((0, -0.1, 0))
    bpy.context.view_layer.update()
    return posed


def bones_of(rig):
    return matrices_of(rig.pose.bones, "matrix")[None]


def gap(poses, other, rows):
    """The largest distance in metres between heads, and between points a decimetre along each axis."""
    points = np.concatenate([np.zeros((3, 1)), 0.1 * np.eye(3)], axis=1)
    points = np.concatenate([points, np.ones((1, 4))])
    return float(np.linalg.norm(((poses - other) @ points)[:, rows, :3], axis=-2).max())


def check(rig, expected, pairs, parents):
    """Everything but what one hand carries, or what is not in the middle, is where it is expected."""
    heads = matrices_of(rig.data.bones, "matrix_local")[:, 0, 3]
    carried = {row for row, other in enumerate(pairs.tolist()) if other == row and abs(heads[row]) > METRES}
    for row, above in enumerate(parents):
        if above in carried or (pairs[row] == row and above >= 0 and pairs[above] != above):
            carried.add(row)
    rows = [row for row in range(len(parents)) if row not in carried]
    assert len(rows) > len(parents) / 2
    poses = bones_of(rig)
    gaps = {rig.data.bones[row].name: gap(poses[:, [row]], expected[:, [row]], [0]) for row in rows}
    assert {name: value for name, value in gaps.items() if value > METRES} == {}


@pytest.mark.parametrize("is_ik", [False, True])
@pytest.mark.parametrize("model", MODELS)
def test_a_pose_that_is_pasted_flipped_has_left_and_right_exchanged(model, is_ik):
    rig, controls = at_rest(model)
    rest, parents, pairs = structure(rig)
    for seed in range(3):
        posed = pose_at_random(controls, seed, is_ik=is_ik)
        expected = symmetry.mirrored(bones_of(rig), rest, parents, pairs)
        select(controls, *posed)
        assert bpy.ops.pose.copy() == {"FINISHED"}
        assert bpy.ops.pose.paste(flipped=True) == {"FINISHED"}
        bpy.context.view_layer.update()
        check(rig, expected, pairs, parents)


@pytest.mark.parametrize("model", MODELS)
def test_select_mirror_selects_the_controls_of_the_other_side(model):
    _, controls = at_rest(model)
    pose_at_random(controls, 0, is_ik=True)
    for ending in ("hand_ik", "elbow_pole", "hand_fist"):
        if f"{ending}.L" not in controls.pose.bones:
            assert ending == "hand_fist"
            continue
        select(controls, f"{ending}.L")
        controls.data.bones.active = controls.data.bones[f"{ending}.L"]
        assert bpy.ops.pose.select_mirror() == {"FINISHED"}
        selected = [bone.name for bone in controls.data.bones if compat.is_selected(controls, bone)]
        assert selected == [f"{ending}.R"]


@pytest.mark.skipif(bpy.app.version < (4, 4), reason="Blender before 4.4 without a window ends in transform operators")
@pytest.mark.parametrize("is_ik", [False, True])
@pytest.mark.parametrize("model", MODELS)
def test_x_axis_mirror_poses_both_sides(model, is_ik):
    rig, controls = at_rest(model)
    rest, parents, pairs = structure(rig)
    for owner in control_rig.goals_of(controls):
        owner["ik"] = float(is_ik)
    controls.update_tag()
    controls.pose.use_mirror_x = True
    window = bpy.context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    region = next(region for region in area.regions if region.type == "WINDOW")
    for name in ("hand_ik.L", "elbow_pole.L") if is_ik else ("upperarm_fk.L", "arm_fk.L", "forearm_fk.L"):
        if name not in controls.pose.bones:
            continue
        select(controls, name)
        with bpy.context.temp_override(window=window, area=area, region=region):
            if name.endswith("_fk.L"):
                assert bpy.ops.transform.rotate(value=0.3, orient_axis="Y") == {"FINISHED"}
            else:
                assert bpy.ops.transform.translate(value=(-0.05, -0.04, -0.06)) == {"FINISHED"}
        bpy.context.view_layer.update()
        assert gap(bones_of(rig), rest[None], slice(None)) > 0.01
        check(rig, symmetry.mirrored(bones_of(rig), rest, parents, pairs), pairs, parents)


@pytest.mark.parametrize("model", MODELS)
def test_each_control_knows_its_bone_and_has_a_counterpart_with_mirrored_axes(model):
    rig, controls = at_rest(model)
    _, _, pairs = structure(rig)
    names = rig.data.bones.keys()
    for control in controls.data.bones:
        if Role(control[control_links.ROLE]) not in POSED[False] | POSED[True]:
            continue
        bone = names.index(control[control_links.BONE])
        if pairs[bone] == bone:
            assert not control.name.endswith((".L", ".R"))
            continue
        flipped = bpy.utils.flip_name(control.name) if hasattr(bpy.utils, "flip_name") else ""
        other = controls.data.bones[control.name[:-1] + {"L": "R", "R": "L"}[control.name[-1]]]
        assert flipped in {"", other.name}
        assert names.index(other[control_links.BONE]) == pairs[bone]
        mirrored = symmetry.REFLECTION[:3, :3] @ np.array(control.matrix_local)[:3, :3] @ symmetry.REFLECTION[:3, :3]
        assert np.allclose(mirrored, np.array(other.matrix_local)[:3, :3], atol=1e-5)


@pytest.mark.parametrize("model", MODELS)
def test_boxes_stand_upright_in_palm_and_sole(model):
    """A hand's box points to the middle of the knuckles and lies in their plane; a foot's and a paw's are level."""
    rig, controls = at_rest(model)
    rest, parents, _ = structure(rig)
    names, heads = rig.data.bones.keys(), rest[:, :3, 3]
    fingers = control_parts.fingers_of(names, parents, heads, body_of(names, parents))
    seen = set()
    for goal in control_rig.goals_of(controls):
        end = names.index(goal.bone[control_links.BONE])
        across, along, upright = np.array(goal.bone.matrix_local)[:3, :3].T
        knuckles = [heads[finger.bones[0]] for finger in fingers if finger.hand == end and not finger.is_thumb]
        seen.add((goal.name[:4], len(knuckles) > 1))
        if len(knuckles) > 1:
            spread = np.array(knuckles) - heads[end]
            ahead, plane = spread.mean(axis=0), np.linalg.svd(np.vstack([spread, np.zeros(3)]))[2]
            assert along @ ahead > np.cos(np.radians(DEGREES)) * np.linalg.norm(ahead)
            assert abs(upright @ plane[2]) > np.cos(np.radians(DEGREES))
            closing = [finger.axis for finger in fingers if finger.hand == end]
            assert across @ np.sum(closing, axis=0) > 0  # so that it shows the way in which fingers close
        elif model in CREATURES or goal.name.startswith("foot"):
            assert np.allclose(upright, (0, 0, 1), atol=1e-6)
    assert ("hand", model not in {"humanoid", *CREATURES}) in seen


@pytest.mark.parametrize("model", MODELS)
def test_a_line_leads_from_each_pole_to_its_joint(model):
    rig, controls = at_rest(model)
    lines = [bone for bone in controls.pose.bones if bone.bone[control_links.ROLE] == Role.LINE.value]
    assert len(lines) == len(control_rig.goals_of(controls)) > 1
    for seed in range(3):
        pose_at_random(controls, seed, is_ik=True)
        for line in lines:
            joint = rig.pose.bones[line.bone[control_links.BONE]]
            ends = [line.matrix @ Vector(end) for end in ((0, 0, 0), (0, line.custom_shape_scale_xyz.y, 0))]
            assert (ends[0] - line.parent.matrix.translation).length < METRES
            assert (ends[1] - joint.matrix.translation).length < METRES
            assert line.bone.hide_select
