"""Controls of a control rig beyond limbs: what each moves by a formula, and what of the file it changes."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from addon.blender import action as actions
from addon.blender import control_links, control_transfer
from addon.blender.armature import FINGER_JOINTS
from addon.core import rotation
from tests.blender.test_action_lists import duplicated
from tests.blender.test_control_rig import (
    BIG,
    REAL,
    clips,
    control_of,
    key,
    motions_of,
    off,
    saved,
    shown,
    some,
    with_rig,
)
from tests.real_files import sampled

MODELS = ["humanoid", *BIG]
SPINES = {
    "humanoid": ["pelvis", "spine", "chest"],
    "human_stalker_hero_1": ["bip01_pelvis", "bip01_spine", "bip01_spine1", "bip01_spine2"],
}
METRES, RADIANS = 1e-5, 5e-5
SOLVED = 5e-4
"""Metres within which the solution of a limb comes to its goal."""


def playing(model):
    """A rig with controls that plays a motion, and some frames of that."""
    rig, controls, _ = with_rig(model)
    action = next(action for action in motions_of(rig) if action.frame_range[1] >= 8)
    actions.play(bpy.context, rig, action)
    first = int(action.frame_range[0])
    return rig, controls, range(first + 1, first + 5)


def rows_of(rig, names):
    return [rig.data.bones.find(name) for name in names]


def bone_names(rig):
    return [bone.name for bone in rig.data.bones]


def ending(rig, *words):
    """The bones whose names without their sides end with one of some words."""
    result = [name for name in bone_names(rig) if name.removesuffix("_l").removesuffix("_r").endswith(words)]
    assert result
    return result


def bent(rig, before, names, frames, rotations):
    """(frames, names, 4, 4) of bones in a row, each below the one before it and turned about its own joint.

    ``rotations`` are in ``frames``, which lie in the armature's rest pose as the bones do.
    """
    above, result = np.eye(4), []
    for row, name, frame, quaternion in zip(rows_of(rig, names), names, frames, rotations, strict=True):
        carried = before[:, row] @ np.linalg.inv(np.array(rig.data.bones[name].matrix_local)) @ np.array(frame)
        result.append(above @ carried @ np.array(quaternion) @ np.linalg.inv(carried) @ before[:, row])
        above = result[-1] @ np.linalg.inv(before[:, row])
    return np.stack(result, axis=1)


@pytest.mark.parametrize("model", MODELS)
def test_a_torso_moves_pelvis_spine_and_head_but_no_hand_nor_foot(model):
    rig, controls, frames = playing(model)
    pelvis, *spine = SPINES[model]
    before = shown(rig, frames)
    change = Matrix.Translation((0.01, -0.005, -0.02)) @ Matrix.Rotation(0.02, 4, (1, 2, 3))
    key(controls, "torso", frames, change)
    after = shown(rig, frames)
    rows = rows_of(rig, [pelvis, *spine, *ending(rig, "neck", "head", "clavicle")])
    metres, radians = off(after[:, rows], np.array(change) @ before[:, rows])
    assert metres < METRES
    assert radians < RADIANS
    rows = rows_of(rig, ending(rig, "hand", "foot"))
    metres, radians = off(after[:, rows], before[:, rows])
    assert metres < SOLVED
    assert radians < RADIANS


@pytest.mark.parametrize("model", MODELS)
def test_hips_turn_beneath_the_spine(model):
    rig, controls, frames = playing(model)
    pelvis, *spine = SPINES[model]
    hips = controls.pose.bones[control_of(controls, "fk", pelvis)]
    waist = rig.data.bones[spine[0]].head_local
    assert (hips.bone.head_local - waist).length < METRES
    before = shown(rig, frames)
    # A little lower, for legs that are straight would not reach.
    lower = waist - Vector((0, 0, 0.02))
    change = Matrix.Translation(lower) @ Matrix.Rotation(0.05, 4, (3, -1, 2)) @ Matrix.Translation(-waist)
    key(controls, hips.name, frames, change)
    after = shown(rig, frames)
    rows = rows_of(rig, [pelvis])
    metres, radians = off(after[:, rows], np.array(change) @ before[:, rows])
    assert metres < METRES
    assert radians < RADIANS
    rows = rows_of(rig, [*spine, *ending(rig, "neck", "head", "clavicle", "hand")])
    metres, radians = off(after[:, rows], before[:, rows])
    assert metres < METRES
    assert radians < RADIANS
    rows = rows_of(rig, ending(rig, "foot"))
    assert off(after[:, rows], before[:, rows])[0] < SOLVED


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("angle", [0.3, -2.5])
def test_a_chest_bends_each_bone_of_the_spine_by_an_equal_share(model, angle):
    """Each turns about its own joint, in the axes of the armature as its own bone carries them."""
    rig, controls, frames = playing(model)
    pelvis, *spine = SPINES[model]
    before = shown(rig, frames)
    chest = controls.pose.bones["chest"]
    for frame in frames:
        chest.rotation_quaternion = Quaternion((2, 1, -1), angle)
        chest.keyframe_insert("rotation_quaternion", frame=frame)
    after = shown(rig, frames)
    share = Matrix.Rotation(angle / len(spine), 4, (2, 1, -1))
    upright = [Matrix.Translation(rig.data.bones[name].head_local) for name in spine]
    metres, radians = off(after[:, rows_of(rig, spine)], bent(rig, before, spine, upright, [share] * len(spine)))
    assert metres < METRES
    assert radians < RADIANS
    rows = rows_of(rig, [pelvis, *ending(rig, "thigh", "calf", "foot")])
    metres, radians = off(after[:, rows], before[:, rows])
    assert metres < METRES
    assert radians < RADIANS


@pytest.mark.parametrize("model", MODELS)
def test_a_chest_is_drawn_where_the_chest_is(model):
    rig, controls, frames = playing(model)
    top = SPINES[model][-1]
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        drawn = controls.pose.bones["chest"].custom_shape_transform
        assert drawn.id_data == controls
        assert (drawn.head - rig.pose.bones[top].head).length < METRES
    copy = duplicated(controls, rig)
    assert copy != controls
    assert copy.pose.bones["chest"].custom_shape_transform == copy.pose.bones[drawn.name]


LIMBS = ("upperarm", "forearm", "hand", "thigh", "calf", "foot")
EDITS = [
    ("torso", 0, ("pelvis", *LIMBS)),
    ("fk", 0, ("pelvis", "spine", "thigh", "calf", "foot")),
    ("chest", -1, ("spine", "spine1", "spine2", "chest", "upperarm", "forearm", "hand")),
]


def check_tracks(old, new, frames, is_moved):
    """Only tracks of bones that are moved differ, elsewhere than on ``frames`` by one step of a track at most.

    A track that had one key for the whole motion gets one for each frame.
    """
    outside = np.setdiff1d(np.arange(old.frames), frames)
    turned = (old.rotations != new.rotations).any(axis=-1)
    shifted = (old.translations != new.translations).any(axis=-1)
    changed = [bone for row, bone in enumerate(old.bones) if (turned | shifted)[row].any()]
    assert changed
    assert [bone for bone in changed if not is_moved(bone)] == []
    assert rotation.angles_between(old.rotations[:, outside], new.rotations[:, outside]).max() <= 2 * 2 / 32767
    steps = (new.translations.max(axis=1) - new.translations.min(axis=1)) / 254
    off_by = np.abs(old.translations - new.translations)[:, outside].max(axis=1)
    assert (off_by <= steps + 1e-6).all()
    return [bone for row, bone in enumerate(old.bones) if shifted[row].any()]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("control", "bone_index", "moved"), EDITS)
def test_an_edit_of_the_trunk_changes_tracks_that_it_moves_on_those_frames(model, control, bone_index, moved, tmp_path):
    def is_moved(bone):
        return bone.removesuffix("_l").removesuffix("_r").endswith(moved)

    def pose(controls, frames):
        name = control_of(controls, control, SPINES[model][bone_index])
        key(controls, name, frames, Matrix.Rotation(0.05, 4, (1, 1, 1)))

    shifted = edit_some(model, pose, is_moved, tmp_path / "edited.omf")
    # The trunk moves the start of no limb within its parent.
    assert [bone for bone in shifted if not bone.endswith(moved[:2])] == []


def edit_some(model, pose, is_moved, path):
    """Change controls by ``pose(controls, frames)`` on some frames of some motions.

    Gives the bones whose translations differ in the file.
    """
    rig, controls, motions = with_rig(model)
    long = [action for action in motions_of(rig) if action.frame_range[1] > 30] or motions_of(rig)[:1]
    chosen = {}
    for action in some(long, 4):
        actions.play(bpy.context, rig, action)
        first, last = map(int, action.frame_range)
        frames = range(first + 10, first + 21) if last - first > 30 else range(first + 2, first + 5)
        pose(controls, frames)
        chosen[action.motionbridge_motion.imported_name] = np.array(frames) - first
    before, after = clips(motions[-1].read_bytes()), clips(saved(rig, path))
    shifted = []
    for name, old in before.items():
        if name in chosen:
            shifted += check_tracks(old, after[name], chosen[name], is_moved)
        else:
            assert np.array_equal(old.rotations, after[name].rotations)
            assert np.array_equal(old.translations, after[name].translations)
    return shifted


FINGERS = [
    (model, first)
    for model, first in (
        ("human_stalker_hero_1", "bip01_l_finger1"),
        ("gwr_wpn_hand_04", "bip01_l_finger2"),
        ("ixray_wpn_hand_0", "r_finger0"),
    )
    if model in REAL
]


def joints_of(rig, first):
    """A finger's bones outwards."""
    result = [rig.data.bones[first]]
    while result[-1].children:
        result.append(result[-1].children[0])
    return [bone.name for bone in result]


def turn(controls, name, frames, angle):
    """Turn a control about its own x axis, as a person does who sees what is locked."""
    bone = controls.pose.bones[name]
    for frame in frames:
        bone.rotation_quaternion = Quaternion((1, 0, 0), angle)
        bone.keyframe_insert("rotation_quaternion", frame=frame)


@pytest.mark.parametrize(("model", "first"), FINGERS)
def test_fist_and_curl_add_up_in_every_joint_of_a_finger(model, first):
    rig, controls, frames = playing(model)
    joints = joints_of(rig, first)
    assert len(joints) > 1
    hand = rig.data.bones[first].parent.name
    angles = {control_of(controls, "fist", hand): 0.7, control_of(controls, "curl", first): -0.3}
    before = shown(rig, frames)
    for name, angle in angles.items():
        turn(controls, name, frames, angle)
    after = shown(rig, frames)
    frame_of = [controls.data.bones[control_of(controls, "fk", name)].matrix_local for name in joints]
    rotations = [Matrix.Rotation(0.4, 4, "X")] * len(joints)
    metres, radians = off(after[:, rows_of(rig, joints)], bent(rig, before, joints, frame_of, rotations))
    assert metres < METRES
    assert radians < RADIANS
    # The other fingers of that hand have the fist alone, and nothing else moves.
    is_other = [bone[control_links.BONE] for bone in controls.data.bones if bone.get(control_links.ROLE) == "curl"]
    for other in (name for name in is_other if name != first and rig.data.bones[name].parent.name == hand):
        line = joints_of(rig, other)
        frame_of = [controls.data.bones[control_of(controls, "fk", name)].matrix_local for name in line]
        rotations = [Matrix.Rotation(0.7, 4, "X")] * len(line)
        metres, radians = off(after[:, rows_of(rig, line)], bent(rig, before, line, frame_of, rotations))
        assert metres < METRES
        assert radians < RADIANS
    below = {bone.name for bone in rig.data.bones[hand].children_recursive}
    still = rows_of(rig, [name for name in bone_names(rig) if name not in below])
    metres, radians = off(after[:, still], before[:, still])
    assert metres < METRES
    assert radians < RADIANS


@pytest.mark.parametrize(("model", "first"), sampled(FINGERS[1::-1], 1))
@pytest.mark.parametrize("control", ["fist", "curl"])
def test_fingers_that_are_curled_change_their_tracks_on_those_frames(model, first, control, tmp_path):
    own = first if control == "curl" else "finger"

    def is_moved(bone):
        return own in bone and "l_" in bone

    def curl(controls, frames):
        turn(controls, "hand_fist.L" if control == "fist" else control_of(controls, "curl", first), frames, 0.2)

    assert edit_some(model, curl, is_moved, tmp_path / "edited.omf") == []


@pytest.mark.parametrize(("model", "first"), sampled(FINGERS[1::-1], 1))
def test_of_fingers_only_fist_and_curl_are_in_view_at_first(model, first):
    rig, controls, _ = playing(model)
    seen = {bone.name for bone in controls.data.bones if any(group.is_visible for group in bone.collections)}
    assert {
        control_of(controls, "fist", rig.data.bones[first].parent.name),
        control_of(controls, "curl", first),
    } <= seen
    joints = {control_of(controls, "fk", joint) for joint in joints_of(rig, first)}
    assert joints.isdisjoint(seen)
    controls.data.collections[FINGER_JOINTS].is_visible = True
    assert joints <= {bone.name for bone in controls.data.collections[FINGER_JOINTS].bones}


def look_of(controls):
    """What the head looks at; there is one."""
    (look,) = [bone for bone in controls.pose.bones if bone.name.endswith("_look")]
    return look


HEADS = {"humanoid": ("neck", "head"), "human_stalker_hero_1": ("bip01_head",)}
"""What turns: the stalker's neck carries its arms, and stays."""


def looking(model):
    """A rig whose head looks at a control, one motion and its frames."""
    rig, controls, frames = playing(model)
    before = shown(rig, frames)
    assert bpy.ops.motionbridge.match_controls(to="IK", what="HEAD", first=frames[0], last=frames[-1]) == {"FINISHED"}
    return rig, controls, frames, before


@pytest.mark.parametrize("model", MODELS)
def test_a_head_switches_to_what_it_looks_at_without_a_jump(model):
    rig, controls, frames, before = looking(model)
    values, around = [], range(frames[0] - 1, frames[-1] + 2)
    for frame in around:
        bpy.context.scene.frame_set(frame)
        values.append(look_of(controls)["look"])
    assert values == [float(frame in frames) for frame in around]
    for to in ("IK", "FK", "IK"):
        metres, radians = off(shown(rig, frames), before)
        assert metres < METRES
        assert radians < RADIANS
        assert bpy.ops.motionbridge.match_controls(to=to, what="HEAD", first=frames[0], last=frames[-1]) == {"FINISHED"}
    metres, radians = off(shown(rig, frames), before)
    assert metres < METRES
    assert radians < RADIANS


@pytest.mark.parametrize("model", MODELS)
def test_a_head_turns_to_what_it_looks_at_and_its_neck_half_as(model):
    """What of a head pointed to the old place points to the new one, wherever the neck has carried it."""
    rig, controls, frames, before = looking(model)
    look = look_of(controls)
    old = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        old.append(look.head[:])
    key(controls, look.name, frames, Matrix.Translation((0.25, 0.1, -0.15)))
    after = shown(rig, frames)
    *neck, head = rows_of(rig, HEADS[model])
    new = np.array(old) + np.array((0.25, 0.1, -0.15))

    def towards(poses, positions):
        result = positions - poses[:, head, :3, 3]
        return result / np.linalg.norm(result, axis=1, keepdims=True)

    turned = after[:, :, :3, :3] @ before[:, :, :3, :3].swapaxes(-1, -2)
    pointing = np.einsum("fij,fj->fi", turned[:, head], towards(before, np.array(old)))
    np.testing.assert_allclose(pointing, towards(after, new), atol=2e-5)
    rotations = rotation.from_matrices(turned)
    angles = rotation.angles_between(rotations, np.broadcast_to((1.0, 0, 0, 0), rotations.shape))
    assert (angles[:, head] > 0.1).all()
    for row in neck:
        assert (angles[:, row] > 0.3 * angles[:, head]).all()
        assert (angles[:, row] < 0.7 * angles[:, head]).all()
    top = rig.data.bones[HEADS[model][0]]
    moved = {top.name, *(bone.name for bone in top.children_recursive)}
    still = rows_of(rig, [name for name in bone_names(rig) if name not in moved])
    metres, radians = off(after[:, still], before[:, still])
    assert metres < METRES
    assert radians < RADIANS


@pytest.mark.parametrize("model", MODELS)
def test_an_edit_of_what_a_head_looks_at_changes_neck_and_head_on_those_frames(model, tmp_path):
    def pose(controls, frames):
        ends = {"first": frames[0], "last": frames[-1]}
        assert bpy.ops.motionbridge.match_controls(to="IK", what="HEAD", **ends) == {"FINISHED"}
        key(controls, look_of(controls).name, frames, Matrix.Translation((0.2, 0, 0.1)))

    assert edit_some(model, pose, HEADS[model].__contains__, tmp_path / "edited.omf") == []


@pytest.mark.parametrize("model", MODELS)
def test_motions_move_onto_controls_whose_head_looks_somewhere(model, tmp_path):
    """A switch without keys stays as it is from motion to motion."""
    rig, controls, motions = with_rig(model)
    look_of(controls)["look"] = 1.0
    for action in some(motions_of(rig), 4):
        rig.animation_data.action = action
        with control_links.links_muted(rig):
            frames = control_transfer.frames_of(action, rig)
            before = shown(rig, frames)
        action.motionbridge_controls = None
        actions.play(bpy.context, rig, action)
        for value in (1.0, 0.0, 1.0):
            look_of(controls)["look"] = value
            controls.update_tag()
            metres, radians = off(shown(rig, frames), before)
            assert metres < METRES
            assert radians < RADIANS
    assert saved(rig, tmp_path / "looking.omf") == motions[-1].read_bytes()
