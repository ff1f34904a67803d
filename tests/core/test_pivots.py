"""Joints recovered from motion: made-up skeletons whose joints are known, hinges, sliding, noise, and real dogs."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core import deltas, joints
from addon.core.model import absolute
from addon.core.report import Report
from addon.formats.arma import model_cfg, rtm
from tests.real_files import corpus_files

PARENTS = [-1, 0, 1, 2, 0]


def turning_about(points, rotations):
    """(bones, frames, 4, 4) what turns by (bones, frames, 4) about each bone's point, parent by parent."""
    bones, frames = rotations.shape[:2]
    to, back = (
        deltas.compose(sign * points, np.tile([1.0, 0, 0, 0], (bones, 1)), np.ones((bones, 3))) for sign in (1, -1)
    )
    own = deltas.compose(np.zeros((bones, frames, 3)), rotations, np.ones((bones, frames, 3)))
    return absolute(to[:, None] @ own @ back[:, None], PARENTS)


def random_turns(random, frames):
    rotations = random.normal(size=(len(PARENTS), frames, 4))
    return rotations / np.linalg.norm(rotations, axis=-1, keepdims=True)


@given(st.integers(0, 2**32 - 1))
def test_the_joints_of_a_made_up_skeleton_are_found(seed):
    random = np.random.default_rng(seed)
    points = random.uniform(-1, 1, (5, 3))
    moved = turning_about(points, random_turns(random, 12))
    result = joints.recover(moved.astype(np.float32).astype(float), PARENTS)
    assert result.accepted.tolist() == [False, True, True, True, True]
    np.testing.assert_allclose(result.points[1:], points[1:], atol=1e-4)
    assert (result.residuals < 1e-5).all()
    assert result.directions[1:].tolist() == [3, 3, 3, 3]


def test_the_position_along_a_hinge_is_the_nearest_to_the_parents_joint():
    points = np.array([[0, 0, 0], [0, 0, 1], [0.5, 0, 1.5], [0, 0, 0], [0, 0, 0]], float)
    rotations = np.zeros((5, 8, 4))
    rotations[..., 0] = 1
    angle = np.linspace(-1, 1, 8)
    random = np.random.default_rng(1)
    rotations[1] = random_turns(random, 8)[1]
    rotations[2] = np.stack([np.cos(angle / 2), np.sin(angle / 2), 0 * angle, 0 * angle], axis=-1)  # about x only
    result = joints.recover(turning_about(points, rotations), PARENTS)
    assert result.directions.tolist() == [0, 3, 2, 0, 0]
    np.testing.assert_allclose(result.points[1], [0, 0, 1], atol=1e-9)
    np.testing.assert_allclose(result.points[2], [0, 0, 1.5], atol=1e-9)
    assert result.accepted.tolist() == [False, True, True, False, False]
    np.testing.assert_allclose(result.points[3], result.points[2])
    near = np.array([[9.0, 9, 9]] * 5)
    given_points = joints.recover(turning_about(points, rotations), PARENTS, near=near)
    np.testing.assert_allclose(given_points.points[2], [9, 0, 1.5], atol=1e-9)
    np.testing.assert_allclose(given_points.points[0], [9, 9, 9])


def test_a_joint_that_slides_is_not_one():
    random = np.random.default_rng(2)
    points = random.uniform(-1, 1, (5, 3))
    moved = turning_about(points, random_turns(random, 20))
    moved[2, :, :3, 3] += random.normal(scale=0.05, size=(20, 3))
    result = joints.recover(moved, PARENTS)
    assert not result.accepted[2]
    assert 0.02 < result.residuals[2] < 0.1
    np.testing.assert_array_equal(result.points[2], result.points[1])
    assert result.accepted[[1, 4]].all()


def test_noise_larger_than_the_motion_determines_nothing():
    random = np.random.default_rng(3)
    rotations = random_turns(random, 30)
    rotations = np.where(np.arange(4) == 0, 1.0, rotations * 1e-3)
    rotations /= np.linalg.norm(rotations, axis=-1, keepdims=True)
    moved = turning_about(random.uniform(-1, 1, (5, 3)), rotations)
    rounded = np.round(moved / 5e-4) * 5e-4
    assert not joints.recover(rounded, PARENTS, noise=rtm.ROUNDING).accepted.any()
    assert joints.recover(moved, PARENTS).accepted[1:].all()


def test_broken_frames_are_left_out():
    random = np.random.default_rng(4)
    points = random.uniform(-1, 1, (5, 3))
    moved = turning_about(points, random_turns(random, 12))
    moved[1, 3] = np.nan
    moved[2, 5, 0, 0] = np.inf
    result = joints.recover(moved, PARENTS)
    np.testing.assert_allclose(result.points[1:], points[1:], atol=1e-6)
    assert result.accepted[1:].all()


def test_without_frames_nothing_is_found():
    result = joints.recover(np.zeros((5, 0, 4, 4)), PARENTS)
    assert not result.accepted.any()
    assert (result.points == 0).all()


DOGS = {"dog_idlejump": (42, 41), "dog_runfront": (41, 39), "dog_swimfront_big": (41, 39), "dog_walkfrontrf": (40, 37)}
"""Of 42 bones with a parent: how many joints slide less than 3 mm, and how many are accepted."""


def dog(corpus, name):
    config = model_cfg.read((corpus / "rtm" / "dog_model.cfg").read_bytes(), "dog_model.cfg", Report())
    clip = rtm.decode(rtm.read((corpus / "rtm" / f"{name}.rtm").read_bytes(), name, Report()), Report())
    parents = config.skeleton("MFR_Dogs_Skeleton").parent_indices(clip.bones)
    return joints.recover(clip.deltas, parents), parents, clip


@pytest.mark.parametrize("file", corpus_files(*(f"rtm/{name}.rtm" for name in DOGS)))
def test_the_joints_of_real_dogs(file, corpus):
    result, parents, clip = dog(corpus, file.stem)
    parented = parents >= 0
    small = int((result.residuals[parented] < 0.003).sum())
    share = f"{small} of {parented.sum()} joints slide less than 3 mm, {result.accepted.sum()} accepted"
    sys.stdout.write(f"{file.name}: {share}\n")
    least_small, least_accepted = DOGS[file.stem]
    assert small >= least_small
    assert result.accepted.sum() >= least_accepted
    # The two sides of the dog are alike: joints mirror at x = 0.
    sides = [
        (index, clip.bones.index(bone.replace("RigLB", "RigRB")))
        for index, bone in enumerate(clip.bones)
        if "RigLB" in bone
    ]
    both = [(left, right) for left, right in sides if result.accepted[left] and result.accepted[right]]
    assert len(both) >= 3
    if file.stem == "dog_swimfront_big":
        for left, right in both:
            np.testing.assert_allclose(result.points[left] * [-1, 1, 1], result.points[right], atol=0.02)


@pytest.mark.parametrize("other", ["dog_idlejump", "dog_runfront"])
def test_two_motions_of_one_rig_give_the_same_joints(corpus, other):
    """To 2 mm, where a joint turns about more than one axis in both: nothing of the one is used for the other."""
    entry, _, clip = dog(corpus, "dog_swimfront_big")
    two, _, same = dog(corpus, other)
    assert clip.bones == same.bones
    both = (entry.directions == 3) & (two.directions == 3) & entry.accepted & two.accepted
    assert both.sum() >= 15
    np.testing.assert_allclose(entry.points[both], two.points[both], atol=2e-3)
