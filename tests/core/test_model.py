"""Skeletons: parents anywhere in the list, poses as a plain loop of matrix products gives them."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core.model import Clip, Skeleton, parents_first
from tests.work import lines_run

RANDOM = np.random.default_rng(23)


def random_skeleton(parents, root_frame=None):
    bones = len(parents)
    rotations = RANDOM.normal(size=(bones, 4))
    rotations /= np.linalg.norm(rotations, axis=-1, keepdims=True)
    frame = {} if root_frame is None else {"root_frame": root_frame}
    return Skeleton(
        "s",
        [f"b{number}" for number in range(bones)],
        np.array(parents, np.int32),
        rotations,
        RANDOM.normal(size=(bones, 3)),
        **frame,
    )


def matrix(quaternion, translation):
    """A quaternion's matrix written as q·v·q*, one column a time."""
    w, v = quaternion[0], quaternion[1:]
    columns = [2 * v * (v @ axis) + (w * w - v @ v) * axis + 2 * w * np.cross(v, axis) for axis in np.eye(3)]
    result = np.eye(4)
    result[:3, :3], result[:3, 3] = np.array(columns).T, translation
    return result


def global_matrix(skeleton, rotations, translations, bone, frame):
    """By recursion, one bone and frame a time."""
    local = matrix(rotations[bone, frame], translations[bone, frame])
    parent = skeleton.parents[bone]
    if parent < 0:
        return skeleton.root_frame @ local
    return global_matrix(skeleton, rotations, translations, parent, frame) @ local


SHAPES = {
    "one bone": [-1],
    "a chain": [-1, 0, 1, 2, 3],
    "children first": [4, 0, 1, 2, -1],
    "two roots": [-1, 0, -1, 2, 0, 5, 1][:5],
    "a tree in any order": [3, 3, 0, -1, 2, 1, 0],
}


@pytest.mark.parametrize("parents", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("framed", [False, True])
def test_poses_are_the_products_along_the_chain(parents, framed):
    root_frame = matrix(np.array([0.5, 0.5, -0.5, 0.5]), [1.0, 2.0, 3.0]) if framed else None
    skeleton = random_skeleton(parents, root_frame)
    frames = 4
    rotations = RANDOM.normal(size=(len(parents), frames, 4))
    rotations /= np.linalg.norm(rotations, axis=-1, keepdims=True)
    translations = RANDOM.normal(size=(len(parents), frames, 3))
    created = skeleton.pose_matrices(rotations, translations)
    assert created.shape == (len(parents), frames, 4, 4)
    for bone in range(len(parents)):
        for frame in range(frames):
            expected = global_matrix(skeleton, rotations, translations, bone, frame)
            np.testing.assert_allclose(created[bone, frame], expected, atol=1e-13)


@pytest.mark.parametrize("parents", SHAPES.values(), ids=SHAPES)
def test_the_rest_pose_is_the_pose_of_the_rest_values(parents):
    skeleton = random_skeleton(parents)
    created = skeleton.rest_matrices()
    assert created.shape == (len(parents), 4, 4)
    rotations, translations = skeleton.rest_rotation[:, None], skeleton.rest_translation[:, None]
    for bone in range(len(parents)):
        np.testing.assert_allclose(created[bone], global_matrix(skeleton, rotations, translations, bone, 0), atol=1e-13)


def test_skeletons_do_not_share_their_root_frame():
    first, other = random_skeleton([-1]), random_skeleton([-1])
    first.root_frame[0, 3] = 5
    assert other.root_frame[0, 3] == 0


@given(st.permutations(range(12)), st.lists(st.integers(0, 10**6), min_size=12, max_size=12))
def test_parents_precede_their_children(order, choices):
    """Any forest: each bone hangs on one placed before it in a random order, or on none."""
    parents = [-1] * 12
    for index, bone in enumerate(order):
        choice = choices[index] % (index + 1)
        parents[bone] = -1 if choice == index else order[choice]
    created = parents_first(parents)
    assert sorted(created) == list(range(12))
    indices = {bone: position for position, bone in enumerate(created)}
    assert all(parent < 0 or indices[parent] < indices[bone] for bone, parent in enumerate(parents))


@pytest.mark.parametrize("parents", [[0], [1, 0], [-1, 2, 3, 1], [1, 2, 0, -1], [2, -1, 3, 2]])
def test_a_ring_of_parents_is_refused(parents):
    with pytest.raises(ValueError, match="form a cycle"):
        parents_first(parents)


def test_no_bones_have_no_order():
    assert parents_first([]) == []


def test_a_long_chain_listed_backwards_takes_no_recursion_and_linear_time():
    def backwards(count):
        return [*range(1, count), -1]

    assert parents_first(backwards(100_000)) == list(range(99_999, -1, -1))
    lines = [lines_run(partial(parents_first, backwards(count))) for count in (1_000, 2_000)]
    assert lines[1] < 2.1 * lines[0]


def test_a_clip_knows_its_frames():
    clip = Clip(
        "c",
        ["a"],
        np.zeros((1, 7, 4)),
        np.zeros((1, 7, 3)),
        np.ones(1, bool),
        np.ones(1, bool),
        30.0,
    )
    assert clip.frames == 7
    assert clip.markers == []
