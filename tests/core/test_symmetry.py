"""Counterparts on the other side, and exchanging left and right, judged by the reflection of heads and axes."""

import numpy as np
import pytest

from addon.core import rotation, symmetry

NAMES = [
    "root", "pelvis", "bip_l_thigh", "bip_r_thigh", "LeftHand", "RightHand", "weapon", "sight", "head", "braid1",
    "braid2", "tip1", "tip2",
]  # fmt: skip
PARENTS = [-1, 0, 1, 1, 1, 1, 5, 6, 1, 8, 8, 9, 10]
HEADS = np.array([
    (0, 0, 0), (0, 0, 1), (0.1, 0, 1), (-0.1, 0, 1), (0.5, 0, 1.4), (-0.5, 0, 1.4), (-0.5, 0.1, 1.4), (-0.5, 0.3, 1.5),
    (0, 0, 1.6), (0.1, 0, 1.7), (-0.1, 0, 1.7), (0.1, 0.1, 1.7), (-0.1, 0.1, 1.7),
])  # fmt: skip
PAIRS = [0, 1, 3, 2, 5, 4, 6, 7, 8, 10, 9, 12, 11]


def poses_at_random(seed, frames=4):
    """A rest pose with any axes, and poses of it that also translate bones."""
    random = np.random.default_rng(seed)

    def frame(*shape):
        result = np.broadcast_to(np.eye(4), (*shape, len(NAMES), 4, 4)).copy()
        turned = random.normal(size=(*shape, len(NAMES), 4))
        result[..., :3, :3] = rotation.matrices(rotation.normalised(turned))
        return result

    rest, poses = frame(), frame(frames)
    rest[:, :3, 3] = HEADS
    for bone, above in enumerate(PARENTS):
        local = HEADS[bone] - (HEADS[above] if above >= 0 else 0) + random.normal(size=(frames, 3)) / 10
        if above >= 0:
            turned = poses[:, above, :3, :3] @ np.linalg.inv(rest[above, :3, :3])
            local = poses[:, above, :3, 3] + np.einsum("fij,fj->fi", turned, local)
        poses[:, bone, :3, 3] = local
    return rest, poses


def test_bones_are_paired_by_name_and_otherwise_by_where_they_are():
    assert symmetry.pairs_of(NAMES, PARENTS, HEADS).tolist() == PAIRS
    nowhere = HEADS.copy()
    nowhere[10] += (0, 0.5, 0)
    assert symmetry.pairs_of(NAMES, PARENTS, nowhere).tolist() == [*PAIRS[:9], 9, 10, 11, 12]


def test_a_body_without_sides_has_no_pairs():
    assert symmetry.pairs_of(["a", "b", "c"], [-1, 0, 0], HEADS[[0, 2, 3]]).tolist() == [0, 1, 2]


@pytest.mark.parametrize("seed", range(20))
def test_exchanging_the_sides_twice_gives_the_same_poses(seed):
    rest, poses = poses_at_random(seed)
    once = symmetry.mirrored(poses, rest, PARENTS, np.array(PAIRS))
    assert np.abs(once - poses).max() > 0.1
    assert np.abs(symmetry.mirrored(once, rest, PARENTS, np.array(PAIRS)) - poses).max() < 1e-12


@pytest.mark.parametrize("seed", range(20))
def test_exchanged_poses_are_the_reflection_of_a_symmetric_body(seed):
    rest, poses = poses_at_random(seed)
    once = symmetry.mirrored(poses, rest, PARENTS, np.array(PAIRS))
    for bone, other in enumerate(PAIRS):
        if NAMES[bone] in {"weapon", "sight"}:
            in_hand = np.linalg.inv(poses[:, 5]) @ poses[:, bone]
            assert np.allclose(np.linalg.inv(once[:, 5]) @ once[:, bone], in_hand)
            continue
        assert np.allclose(once[:, bone, :3, 3], poses[:, other, :3, 3] * (-1, 1, 1))
        mirror = np.diag([-1, 1, 1])
        change = once[:, bone, :3, :3] @ rest[bone, :3, :3].T
        assert np.allclose(mirror @ change @ mirror, poses[:, other, :3, :3] @ rest[other, :3, :3].T)
