"""The plan and the transfer of control rigs, judged by composing matrices one by one."""

import numpy as np
import pytest

from addon.core import control_parts, control_poses, control_rig, limbs, rotation
from addon.core.body import body_of
from addon.core.control_poses import Controls
from addon.core.control_rig import Role

NAMES = ["pelvis", "l_thigh", "l_calf", "l_foot", "r_thigh", "r_calf", "r_foot", "l_upperarm", "l_forearm", "l_hand"]
PARENTS = [-1, 0, 1, 2, 0, 4, 5, 0, 7, 8]
HEADS = [
    (0, 0, 1), (0.1, 0, 0.95), (0.1, -0.02, 0.5), (0.1, 0, 0.1), (-0.1, 0, 0.95), (-0.1, -0.02, 0.5), (-0.1, 0, 0.1),
    (0.2, 0, 1.4), (0.5, 0.03, 1.4), (0.8, 0, 1.4),
]  # fmt: skip


def rest_of_body():
    matrices = np.tile(np.eye(4), (len(NAMES), 1, 1))
    matrices[:, :3, :3] = rotation.matrices(rotation.normalised(np.random.default_rng(5).normal(size=(len(NAMES), 4))))
    matrices[:, :3, 3] = HEADS
    return matrices


def planned():
    return control_rig.plan(NAMES, PARENTS, rest_of_body(), np.full(len(NAMES), 0.1))


def test_each_bone_has_a_target_with_its_own_axes_and_each_limb_a_goal():
    plan = planned()
    for target, matrix in zip(plan.targets, rest_of_body(), strict=True):
        assert plan.bones[target].role is Role.TARGET
        assert np.array_equal(plan.bones[target].matrix, matrix)
    assert [limb.bones for limb in plan.limbs] == [(1, 2, 3), (4, 5, 6), (7, 8, 9)]
    for limb in plan.limbs:
        goal, pole = plan.bones[limb.goal], plan.bones[limb.pole]
        assert np.allclose(goal.matrix[:3, 3], HEADS[limb.bones[2]])
        start, joint, end = (np.array(HEADS[bone]) for bone in limb.bones)
        bend = joint - (start + end) / 2
        assert (pole.matrix[:3, 3] - joint) @ bend > 0


def test_arms_whose_collar_bones_are_where_the_upper_arms_are_have_goals():
    arm = ["clavicle", "upperarm", "forearm", "forearm_twist", "hand", "finger1"]
    names = ["bip01", *(f"l_{name}" for name in arm), *(f"r_{name}" for name in arm), "lead_gun"]
    parents = [-1, 0, 1, 2, 3, 3, 5, 0, 7, 8, 9, 9, 11, 0]
    heads = [(0, 0), (0, 0), (0.1, 0.4), (0.1, 0.7), (0.1, 0.7), (0.1, 0.8)]
    sides = [[(side * (0.2 + x), y, -0.1 * y) for x, y in heads] for side in (-1, 1)]
    anatomy = limbs.find(names, parents, np.array([(0, 0, 0), *sides[0], *sides[1], (0, 0.7, 0)]))
    assert [limb.joints for limb in anatomy.limbs] == [(2, 3, 5), (8, 9, 11)]


@pytest.mark.parametrize(("side", "sign"), [("l", 1), ("r", -1)])
@pytest.mark.parametrize("bend", [0.0, 0.01])
def test_fingers_close_towards_the_palm(side, sign, bend):
    """A hand along y with its palm down, seen from above: the thumb of the left one is on the right."""
    names, parents, heads = [f"{side}_forearm", f"{side}_hand"], [-1, 0], [(0, 0, 0), (0, 0.25, 0)]
    for number, across in enumerate((0.04, 0.03, 0.01, -0.01, -0.03)):
        for joint, (y, z) in enumerate(((0.3, 0), (0.34, 0), (0.37, -bend))):
            names.append(f"{side}_finger{number}{joint or ''}")
            parents.append(1 if joint == 0 else len(names) - 2)
            heads.append((sign * across, y - (0.03 if number == 0 else 0), z))
    # The body has another side, too.
    other = "r" if side == "l" else "l"
    names += [f"{other}_forearm", f"{other}_hand"]
    parents += [-1, len(names) - 2]
    heads += [(-sign, 0, 0), (-sign, 0.25, 0)]
    positions = np.array(heads, float)
    fingers = control_parts.fingers_of(names, parents, positions, body_of(names, parents))
    assert [names[finger.bones[0]] for finger in fingers if "finger0" not in names[finger.bones[0]]] == [
        f"{side}_finger{number}" for number in range(1, 5)
    ]
    for finger in fingers:
        assert finger.hand == 1
        tip = positions[finger.bones[1]] - positions[finger.bones[0]]
        closed = np.cross(finger.axis, tip)  # where it goes by a small turn
        if "finger0" in names[finger.bones[0]]:
            little = positions[names.index(f"{side}_finger4")] - positions[finger.bones[0]]
            assert closed @ (little if not bend else (0, 0, -1)) > 0
        else:
            assert closed / np.linalg.norm(closed) @ (0, 0, -1) > 0.9


def test_parents_come_first_and_no_bone_points_against_its_parent():
    plan = planned()
    for index, bone in enumerate(plan.bones):
        assert bone.parent < index
        assert np.allclose(bone.matrix[:3, :3].T @ bone.matrix[:3, :3], np.eye(3))
        assert np.linalg.det(bone.matrix[:3, :3]) == pytest.approx(1)
        if bone.parent >= 0:
            assert plan.bones[bone.parent].matrix[:3, 1] @ bone.matrix[:3, 1] >= control_rig.OPPOSITE


ROLLING = [*NAMES, "l_roll1", "l_roll2", "l_upperarm_twist", "l_thigh_twist", "l_ring", "l_hand_twist"]


def rolling(*, hand_on):
    """A body with two roll bones in a row on the left forearm, the hand on bone ``hand_on``."""
    parents = [*PARENTS[:9], hand_on, 8, 10, 7, 1, 12, 9]
    heads = [
        *HEADS, (0.6, 0.02, 1.4), (0.7, 0.01, 1.4), (0.3, 0.01, 1.4), (0.1, 0, 0.9), (0.3, 0.1, 1.4), (0.9, 0, 1.4),
    ]  # fmt: skip
    matrices = np.tile(np.eye(4), (len(heads), 1, 1))
    matrices[:, :3, 3] = heads
    return parents, control_rig.plan(ROLLING, parents, matrices, np.full(len(heads), 0.1))


@pytest.mark.parametrize("hand_on", [8, 11])
def test_twist_bones_share_the_twist_behind_them_evenly(hand_on):
    _, plan = rolling(hand_on=hand_on)
    shares = {ROLLING[twist.bone]: (round(twist.share, 9), plan.bones[twist.wrist].name) for twist in plan.twists}
    assert shares == {
        "l_thigh_twist": (0.5, "calf_wrist.L"),
        "l_upperarm_twist": (0.5, "forearm_wrist.L"),
        "l_roll1": (round(1 / 3, 9), "hand_wrist.L"),
        "l_roll2": (round(2 / 3, 9), "hand_wrist.L"),
    }
    for twist in plan.twists:
        turned, left = plan.bones[twist.turned], plan.bones[twist.left_over]
        assert (turned.role, turned.parent) == (Role.TWIST, plan.frees[twist.bone])
        assert (left.role, left.bone, left.parent) == (Role.LEFT_OVER, twist.bone, twist.turned)


@pytest.mark.parametrize("hand_on", [8, 11])
def test_nothing_that_twist_bones_follow_depends_on_them(hand_on):
    """But what else hangs on them does."""
    parents, plan = rolling(hand_on=hand_on)
    turned = {plan.targets[twist.bone] for twist in plan.twists} | {twist.turned for twist in plan.twists}

    def above(position):
        result = set()
        while position >= 0:
            result.add(position)
            position = plan.bones[position].parent
        return result

    for twist in plan.twists:
        assert above(twist.wrist).isdisjoint(turned)
        assert above(twist.grip).isdisjoint(turned)
    assert plan.targets[12] in above(plan.frees[ROLLING.index("l_ring")])
    for bone, parent in enumerate(parents):
        if parent >= 0:
            assert {plan.frees[parent], plan.targets[parent]} & above(plan.frees[bone])


def structure_of(plan):
    parents = np.array([bone.parent for bone in plan.bones])
    rest = np.array([bone.matrix for bone in plan.bones])
    references = np.arange(len(parents))
    for bone, target in enumerate(plan.targets):
        free = next(
            row for row, own_bone in enumerate(plan.bones) if own_bone.role is Role.FREE and own_bone.bone == bone
        )
        references[free] = target
    bones = np.array([bone.bone if bone.role in {Role.FREE, Role.TARGET} else -1 for bone in plan.bones])
    empty = np.empty((0, 5), np.intp), np.empty((0, 2), np.intp)
    return Controls([bone.role for bone in plan.bones], parents, rest, bones, references, *empty)


def rigid(rotations, positions):
    poses = np.tile(np.eye(4), (*positions.shape[:-1], 1, 1))
    poses[..., :3, :3], poses[..., :3, 3] = rotation.matrices(rotation.normalised(rotations)), positions
    return poses


def rigid_poses(seed, *shape):
    chance = np.random.default_rng(seed)
    return rigid(chance.normal(size=(*shape, 4)), chance.normal(size=(*shape, 3)))


def test_channels_put_targets_where_the_originals_are():
    plan = planned()
    controls, originals = structure_of(plan), rigid_poses(9, 6, len(NAMES))
    rest = controls.rest
    turned, moved = controls.channels(controls.poses(originals))
    for frame in range(6):
        there: list[np.ndarray] = []
        for row, bone in enumerate(plan.bones):
            basis = np.eye(4)
            basis[:3, :3], basis[:3, 3] = rotation.matrices(turned[row, frame]), moved[row, frame]
            local = np.linalg.inv(rest[bone.parent]) @ rest[row] if bone.parent >= 0 else rest[row]
            there.append((there[bone.parent] if bone.parent >= 0 else np.eye(4)) @ local @ basis)
        for bone, target in enumerate(plan.targets):
            assert np.allclose(there[target], originals[frame, bone], atol=1e-9)


def test_channels_of_some_controls_start_where_their_parents_were_evaluated():
    controls = structure_of(planned())
    rows = np.flatnonzero(controls.parents >= 0)
    parents = controls.parents[rows]
    poses, evaluated = rigid_poses(1, 6, len(controls.rest)), rigid_poses(2, 6, len(controls.rest))
    turned, moved = controls.channels_of(rows, poses, evaluated)
    basis = np.moveaxis(rigid(turned, moved), 0, 1)
    local = np.linalg.inv(controls.rest[parents]) @ controls.rest[rows]
    assert np.allclose(evaluated[:, parents] @ local @ basis, poses[:, rows], atol=1e-9)


def test_what_is_within_the_law_is_unedited():
    still = np.array([[1.0, 0, 0, 0]])
    quaternion = [[np.cos(angle / 2), np.sin(angle / 2), 0, 0] for angle in (4e-5, 6e-5)]
    assert control_poses.unedited_rotations(np.array(quaternion), still).tolist() == [True, False]
    assert control_poses.unedited_locations(np.array([[0, 1.9e-5, 0], [0, 0, -2.1e-5]]), np.zeros((2, 3))).tolist() == [
        True,
        False,
    ]
