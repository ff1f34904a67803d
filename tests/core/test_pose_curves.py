"""Curves through a rest pose: values against plain matrices, keys that are kept, tolerances that hold."""

import numpy as np
import pytest

from addon.core import pose_curves, pose_refit, rotation
from addon.core.envelope import Curve, Curves, Envelope, Interpolation, Shape, display, evaluate_curve
from addon.core.envelope.curve import single_key

FRAME = 1 / 30
TOLERANCE = 1e-4
TURN = rotation.normalised(np.array([0.3, -0.5, 0.7, 0.2]))
OFFSET = np.array([0.5, -1.0, 2.0])
TCB, LINEAR, STEPPED = Shape.TCB, Shape.LINEAR, Shape.STEPPED


def channels(shapes, seed=1, *, apart=False):
    random = np.random.default_rng(seed)
    result = []
    times = np.append(0, np.cumsum(random.integers(1, 5, 7))) * FRAME
    for _ in range(3):
        if apart:
            times = np.append(0, np.cumsum(random.integers(1, 5, 7))) * FRAME
        envelope = Envelope.of(times, random.normal(0, 0.4, 8), random.choice(shapes, 8).astype(np.uint8))
        result.append(display(envelope, FRAME).curve)
    return result


def looked_at(curves, away=0.0):
    """Times within the curves; with ``away`` none that lies so many frames or less before a key."""
    times = np.linspace(0, max(curve.keys[-1, 0] for curve in curves), 3001)
    if away:
        keys = np.unique(np.concatenate([curve.keys[:, 0] for curve in curves]))
        following = np.searchsorted(keys, times)
        gap = keys[np.minimum(following, len(keys) - 1)] - times
        times = times[(gap > away * FRAME) | (gap <= 0)]
    return times


def values(curves, times):
    return np.stack([evaluate_curve(curve, times) for curve in curves], axis=1)


CASES = [([STEPPED], False), ([STEPPED], True), ([TCB], False), ([TCB, LINEAR], True), ([TCB, STEPPED], False)]


@pytest.mark.parametrize(("shapes", "apart"), [*CASES, ([TCB, LINEAR, STEPPED], True)])
def test_locations_are_turned_and_moved(shapes, apart):
    given = channels(shapes, apart=apart)
    quaternion = rotation.matrices(TURN)
    carried = pose_curves.convert_locations(given, quaternion, OFFSET, FRAME, TOLERANCE)
    times = looked_at(given, away=0.03 if len(shapes) > 1 else 0.0)
    wanted = values(given, times) @ quaternion.T + OFFSET
    # Cubics whose time runs evenly, and what is held, are exact.
    np.testing.assert_allclose(values(carried.curves, times), wanted, atol=1e-9 if STEPPED not in shapes[1:] else 2e-4)
    if not apart:
        assert carried.exact


@pytest.mark.parametrize("quaternions", [False, True])
@pytest.mark.parametrize(("shapes", "apart"), CASES)
def test_rotations_are_put_behind_another(shapes, apart, quaternions):
    given = channels(shapes, apart=apart)
    carried = pose_curves.convert_rotations(given, "ZXY", TURN, FRAME, TOLERANCE, quaternions=quaternions)
    times = looked_at(given, away=0.03 if len(shapes) > 1 else 0.0)
    result = values(carried.curves, times)
    result = rotation.normalised(result) if quaternions else rotation.of_mode(result, "ZXY")
    wanted = rotation.multiply(TURN, rotation.of_mode(values(given, times), "ZXY"))
    assert rotation.angles_between(result, wanted).max() <= (1e-9 if shapes == [STEPPED] else 5 * TOLERANCE)
    assert carried.exact == (shapes == [STEPPED])


@pytest.mark.parametrize("quaternions", [False, True])
@pytest.mark.parametrize("size", [0.02, 0.1, 0.3, 0.6])
def test_pieces_keep_the_tolerance_however_far_they_turn(size, quaternions):
    """Most pieces are measured at few times: those that would need more are found, at any size of the moves."""
    random = np.random.default_rng(int(100 * size))
    times = np.arange(120) * 3 * FRAME
    envelopes = [
        Envelope.of(times, np.cumsum(random.normal(0, size, 120)) % 2.0, np.full(120, TCB, np.uint8)) for _ in range(3)
    ]
    given = [display(envelope, FRAME).curve for envelope in envelopes]
    carried = pose_curves.convert_rotations(given, "ZXY", TURN, FRAME, TOLERANCE, quaternions=quaternions)
    assert not carried.exact
    times = np.linspace(0, times[-1], 119 * 30 + 1)
    result = values(carried.curves, times)
    result = rotation.normalised(result) if quaternions else rotation.of_mode(result, "ZXY")
    wanted = rotation.multiply(TURN, rotation.of_mode(values(given, times), "ZXY"))
    # Three angles, each as far off as it may be.
    assert rotation.angles_between(result, wanted).max() <= 1.75 * TOLERANCE


@pytest.mark.parametrize("quaternions", [False, True])
@pytest.mark.parametrize("rotations", [0.4, 0.5, 2.5])
def test_a_fast_turn_leaves_what_follows_on_the_same_way_round(rotations, quaternions):
    """Finer looks at the fast segment may find another of several angles at its end than the first looks did."""
    times = np.arange(6) * 4 * FRAME
    angles = np.array([0.1, 0.3, 0.3 + 2 * np.pi * rotations, 0.5 + 2 * np.pi * rotations, 0.2, 0.1])
    fast = display(Envelope.of(times, angles, np.full(6, LINEAR, np.uint8)), FRAME).curve
    given = [fast, *channels([TCB])[1:]]
    carried = pose_curves.convert_rotations(given, "ZXY", TURN, FRAME, TOLERANCE, quaternions=quaternions)
    times = np.linspace(0, times[-1], 3001)
    result = values(carried.curves, times)
    result = rotation.normalised(result) if quaternions else rotation.of_mode(result, "ZXY")
    wanted = rotation.multiply(TURN, rotation.of_mode(values(given, times), "ZXY"))
    assert rotation.angles_between(result, wanted).max() <= 5 * TOLERANCE


@pytest.mark.parametrize("rotations", [1.0, 2.5, 3.0, 4.0])
def test_a_roll_of_several_turns_between_two_keys_goes_on_as_far(rotations):
    """Behind another rotation it is still a roll about z, as even as before: few looks would take it for another."""
    times = np.arange(3) * 4 * FRAME
    angles = np.array([0.1, 0.3, 0.3 + 2 * np.pi * rotations])
    roll = display(Envelope.of(times, angles, np.full(3, LINEAR, np.uint8)), FRAME).curve
    carried = pose_curves.convert_rotations([single_key(0.4), single_key(-0.3), roll], "ZXY", TURN, FRAME, TOLERANCE)
    created = carried.curves[2]
    np.testing.assert_allclose(np.diff(created.keys[:, 1]), np.diff(angles), atol=1e-9)
    np.testing.assert_allclose(created.right[:-1, 1] - created.keys[:-1, 1], np.diff(angles) / 3, atol=1e-9)


def test_only_segments_that_miss_the_tolerance_are_looked_at_again():
    times = np.arange(41) * FRAME
    curve = display(Envelope.of(times, np.arange(41.0), np.full(41, LINEAR, np.uint8)), FRAME).curve
    looks = []

    def bent(values, _bones, _starts):
        looks.append(len(values))
        inside = (values > 20) & (values < 21)
        return np.where(inside, values + 0.1 * np.sin(np.pi * (values - 20)) ** 3, values)

    pose_refit.refit(Curves.of([curve]), 1, bent, FRAME, np.array([1e-3]))
    assert looks[:2] == [41, 2]
    assert max(looks[1:]) <= 8


@pytest.mark.parametrize("quaternions", [False, True])
def test_many_bones_at_once_are_each_as_alone(quaternions):
    random = np.random.default_rng(4)
    bones = [channels(shapes, seed, apart=apart) for seed, (shapes, apart) in enumerate(CASES * 4)]
    bones[3] = [single_key(0.3), single_key(-1.0), bones[3][2]]
    bones[5] = [single_key(0.1), single_key(0.2, 1.0), single_key(0.3)]
    bones[7][1].keys[2, 1] = np.inf  # a broken file's
    rotations = rotation.normalised(random.normal(size=(len(bones), 4)))
    rotations[8:10] = [1.0, 0.0, 0.0, 0.0]
    matrices, offsets = rotation.matrices(rotations), random.normal(size=(len(bones), 3))
    everything = Curves.of([curve for curves in bones for curve in curves])
    together = [
        pose_curves.convert_locations_of_bones(everything, matrices, offsets, FRAME, TOLERANCE),
        pose_curves.convert_rotations_of_bones(everything, "ZXY", rotations, FRAME, TOLERANCE, quaternions=quaternions),
    ]
    for bone, curves in enumerate(bones):
        alone = [
            pose_curves.convert_locations(curves, matrices[bone], offsets[bone], FRAME, TOLERANCE),
            pose_curves.convert_rotations(curves, "ZXY", rotations[bone], FRAME, TOLERANCE, quaternions=quaternions),
        ]
        for entry, several in zip(alone, together, strict=True):
            assert entry.exact == several[bone].exact
            for a, b in zip(entry.curves, several[bone].curves, strict=True):
                assert a.interpolation.tolist() == b.interpolation.tolist()
                for name in ("keys", "left", "right"):
                    np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=0, atol=1e-12)


def test_exchanged_axes_and_a_turn_about_y_keep_every_key():
    given = channels([TCB], apart=True)
    exchanged = np.array([[0.0, 0, -1], [1, 0, 0], [0, 1, 0]])
    carried = pose_curves.convert_locations(given, exchanged, OFFSET, FRAME, TOLERANCE)
    for curve, source, sign, offset in zip(carried.curves, (2, 0, 1), (-1, 1, 1), OFFSET, strict=True):
        np.testing.assert_array_equal(curve.keys[:, 0], given[source].keys[:, 0])
        np.testing.assert_array_equal(curve.left[:, 1], given[source].left[:, 1] * sign + offset)
    carried = pose_curves.convert_rotations(given, "ZXY", rotation.about_axis(1, 0.7), FRAME, TOLERANCE)
    assert carried.exact
    np.testing.assert_allclose(carried.curves[1].keys, given[1].keys + np.array([0, 0.7]))
    np.testing.assert_array_equal(carried.curves[0].right, given[0].right)


def test_there_and_back_is_the_same_key_by_key():
    given = channels([STEPPED], apart=True)
    there = pose_curves.convert_rotations(given, "ZXY", rotation.conjugate(TURN), FRAME, TOLERANCE)
    back = pose_curves.convert_rotations(there.curves, "ZXY", TURN, FRAME, TOLERANCE, like=given)
    assert all(
        first is other
        for first, other in zip(pose_curves.snapped_to_base(back.curves, given, FRAME, 1e-6), given, strict=True)
    )


def test_a_changed_key_is_the_only_one_that_is_not_the_bases():
    (base, *_) = channels([TCB])
    near = np.array([0, 1e-7])
    keys = base.keys + near
    keys[3, 1] += 0.2
    edited = Curve(keys, base.left + near, base.right + near, base.interpolation)
    (result,) = pose_curves.snapped_to_base([edited], [base], FRAME, 1e-6)
    same = (result.keys == base.keys).all(axis=1)
    assert same.tolist() == [True] * 3 + [False] + [True] * 4
    np.testing.assert_array_equal(result.right, base.right)


def test_angles_between_two_ends_of_a_turn_do_not_leap():
    keys = np.array([[0.0, 0.0], [1.0, 7.0]])
    line = Curve(keys, keys.copy(), keys.copy(), np.full(2, Interpolation.LINEAR, np.uint8))
    still = single_key(0.3)
    carried = pose_curves.convert_rotations([still, line, still], "ZXY", rotation.about_axis(0, 0.4), FRAME, TOLERANCE)
    times = np.linspace(0, 1, 500)
    assert np.abs(np.diff(values(carried.curves, times), axis=0)).max() < 0.05


def test_numbers_and_times_without_bounds_make_no_more_keys_than_they_bear():
    given = channels([TCB], apart=True)
    given[1].keys[-1, 0] = 1e9
    carried = pose_curves.convert_rotations(given, "ZXY", TURN, FRAME, TOLERANCE)
    assert max(curve.count for curve in carried.curves) <= 24 * 2**6 + 1
    assert pose_curves.is_finite(Curves.of(given), FRAME)
    given[0].keys[2, 0] = 1e38  # seconds: as frames they are too many
    assert not pose_curves.is_finite(Curves.of(given), FRAME)
    given[0].keys[2] = 0.1, 1e39
    assert not pose_curves.is_finite(Curves.of(given), FRAME)


def test_held_keys_that_repeat_are_left_out():
    keys = np.stack((np.arange(6) * FRAME, [1.0, 1.0, 2.0, 2.0, 2.0, 2.0]), axis=1)
    curve = Curve(keys, keys.copy(), keys.copy(), np.zeros(6, np.uint8))
    assert pose_curves.without_repeated_keys(curve).keys[:, 1].tolist() == [1.0, 2.0, 2.0]
    curve.interpolation[0] = Interpolation.LINEAR
    assert pose_curves.without_repeated_keys(curve) is curve


def test_what_is_nearly_straight_becomes_a_line():
    keys = np.array([[0.0, 0.0], [0.3, 0.3], [0.6, 0.6]])
    left, right = keys - 0.1, keys + 0.1
    right[0, 1] += 1e-5
    right[1, 1] += 1e-2
    curve = Curve(keys, left, right, np.full(3, Interpolation.BEZIER, np.uint8))
    result = pose_curves.with_straight_segments(curve, TOLERANCE)
    assert result.interpolation.tolist() == [Interpolation.LINEAR, Interpolation.BEZIER, Interpolation.BEZIER]
    times = np.linspace(0, 0.6, 500)
    assert np.abs(evaluate_curve(result, times) - evaluate_curve(curve, times)).max() <= TOLERANCE


def test_keys_at_frames_that_are_one_to_blender():
    keys = np.array([[0.0, 1.0], [1e7, 2.0], [1e7 + 0.02 * FRAME, 3.0], [2e7, 4.0]])
    curve = Curve(keys, keys.copy(), keys.copy(), np.zeros(4, np.uint8))
    assert pose_curves.without_merged_keys(curve, FRAME).keys[:, 1].tolist() == [1.0, 3.0, 4.0]
    curve.keys[:, 0] = 0, 0.02 * FRAME, 1, 2
    assert pose_curves.without_merged_keys(curve, FRAME) is curve
