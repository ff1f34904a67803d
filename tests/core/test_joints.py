"""Skeletons of nothing but joints: bones begin there and point to their children, whatever the order of the list."""

import numpy as np
import pytest

from addon.core.joints import gaps, skeleton_of_joints

NAMES = ["hand", "arm", "root", "finger", "thumb"]
PARENTS = [1, 2, -1, 0, 0]
POINTS = np.array([[0.0, 1, 1], [0, 0, 1], [0, 0, 0], [1, 1, 1], [0, 1, 2]])


def directions(skeleton):
    return skeleton.rest_matrices()[:, :3, 1]


def test_bones_begin_at_their_joints_and_point_to_their_children():
    skeleton = skeleton_of_joints("man", NAMES, PARENTS, POINTS)
    assert skeleton.bones == NAMES
    assert skeleton.parents.tolist() == PARENTS
    assert np.allclose(skeleton.rest_matrices()[:, :3, 3], POINTS)
    half = np.sqrt(0.5)
    expected = [[half, 0, half], [0, 1, 0], [0, 0, 1], [half, 0, half], [half, 0, half]]
    assert np.allclose(directions(skeleton), expected)


def test_rest_poses_are_rotations():
    random = np.random.default_rng(5)
    parents = [-1] + [int(random.integers(0, index)) for index in range(1, 60)]
    skeleton = skeleton_of_joints("tree", [str(index) for index in range(60)], parents, random.normal(size=(60, 3)))
    rotations = skeleton.rest_matrices()[:, :3, :3]
    assert np.allclose(np.swapaxes(rotations, 1, 2) @ rotations, np.eye(3), atol=1e-12)
    assert np.allclose(np.linalg.det(rotations), 1.0)


@pytest.mark.parametrize("degrees", [0.5, 5.0, 15.0, 21.0])
def test_what_nearly_leads_back_leads_straight_back(degrees):
    angle = np.radians(degrees)
    points = np.array([[0.0, 0, 0], [0, 0, 1], [np.sin(angle), 0, 1 - np.cos(angle)]])
    skeleton = skeleton_of_joints("leg", ["hip", "knee", "foot"], [-1, 0, 1], points)
    along = directions(skeleton)
    assert np.allclose(along[0], [0, 0, 1])
    assert np.allclose(along[1], [0, 0, -1])


def test_joints_at_one_position_have_their_parents_direction():
    skeleton = skeleton_of_joints("stack", ["a", "b"], [-1, 0], np.zeros((2, 3)))
    assert np.allclose(directions(skeleton), [[0, 0, 1], [0, 0, 1]])
    assert skeleton_of_joints("none", [], [], np.empty((0, 3))).bones == []


def test_a_ring_is_refused():
    with pytest.raises(ValueError, match="cycle"):
        skeleton_of_joints("ring", ["a", "b"], [1, 0], np.zeros((2, 3)))


def test_a_far_child_does_not_turn_its_parent_away_from_the_others():
    points = np.array([[0.0, 0, 0], [0.1, 0, 0.1], [-0.1, 0, 0.1], [0, 0, 0.2], [0, -4, 0]])
    skeleton = skeleton_of_joints("man", ["hip", "left", "right", "spine", "camera"], [-1, 0, 0, 0, 0], points)
    assert np.allclose(directions(skeleton)[0], [0, 0, 1])


def test_gaps_are_how_far_bone_and_parent_move_a_joint_apart():
    random = np.random.default_rng(3)
    deltas = np.broadcast_to(np.eye(4), (4, 6, 4, 4)).copy()
    deltas[1, :, 0, 3] = [0.0, 0.1, -0.4, 0.2, np.nan, 0.3]  # slides
    deltas[2, 3, :3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]  # a quarter around the z axis
    points = random.normal(size=(4, 3))
    points[2] = [3.0, 0.0, 5.0]
    points[3] = np.nan
    assert np.allclose(gaps(deltas, [-1, 0, 0, 0], points), [0.0, 0.4, 3.0 * np.sqrt(2), 0.0])
    assert (gaps(deltas, [-1] * 4, points) == 0).all()
