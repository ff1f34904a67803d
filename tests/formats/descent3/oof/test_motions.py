"""Motions written as keys: what the game then plays is what was asked for, in steps it can blend."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core import rotation
from addon.core.errors import WriteError
from addon.core.report import Report
from addon.formats.descent3 import oof
from addon.formats.descent3.oof import pose
from addon.formats.descent3.oof.document import POSITION_KEY, ROTATION_KEY, PositionTracks, RotationTracks, Section
from addon.formats.descent3.oof.track import Keys
from tests.formats.descent3.oof.annotated import CHUNKS, body, model


def decoded(data=None):
    document = oof.read(data if data is not None else model(), "test.oof", Report())
    return document, oof.decode(document, Report())


def turning(rates, ticks, first=0, moved=(0, 0, 0)):
    """A motion whose quaternions are the products of turns about x, y, z at these degrees a tick, as they vary."""
    times = np.arange(ticks, dtype=np.float64)
    rotations = np.broadcast_to(np.array([1.0, 0, 0, 0]), (ticks, 4))
    for axis, rate in enumerate(rates):
        rotations = rotation.multiply(rotation.about_axis(axis, np.radians(rate) * times), rotations)
    bow = np.sin(times / 7)[:, None]
    return oof.Motion(first, rotation.continuous(rotations), times[:, None] * np.array(moved, np.float64) + bow * moved)


def played(motion):
    """The motion written, read again and played by `pose`, whose arithmetic is the engine's."""
    document, result = decoded(model(without=(b"WBAT", b"RANI", b"PANI")))
    result.parts[0].motion, result.parts[1].spin_axis = motion, np.array([1.0, 0, 0])
    again, changes = oof.encode(result, document)
    again = oof.read(oof.write(again), "again.oof", Report())
    ticks = np.arange(motion.first, motion.first + len(motion.rotations))
    poses = pose.poses(again, ticks)
    # Mirrored by hand: y and z change places.
    mirror = np.array([[1, 0, 0], [0, 0, 1], [0, 1, 0]], np.float64)
    matrices = mirror @ poses.rotations[:, 0] @ mirror
    moved = (poses.positions[:, 0] - again.sub_objects[0].offset) @ mirror
    return again, matrices, moved, changes


def degrees_apart(matrices, quaternions):
    wanted = rotation.matrices(quaternions)
    return np.degrees(2 * np.arcsin(np.linalg.norm(matrices - wanted, axis=(1, 2)) / (2 * np.sqrt(2))))


@given(
    st.tuples(*[st.floats(-3, 3)] * 3),
    st.integers(2, 120),
    st.integers(0, 50),
    st.tuples(*[st.floats(-1, 1)] * 3),
)
def test_what_is_written_plays_as_it_was(rates, ticks, first, moved):
    motion = turning(rates, ticks, first, moved)
    document, matrices, own_positions, changes = played(motion)
    assert degrees_apart(matrices, motion.rotations).max() < 0.025
    assert np.abs(own_positions - motion.displacements).max() < 1e-4 + 1e-6 * np.abs(motion.displacements).max()
    assert not changes.left_out
    rotations, positions = document.last(RotationTracks), document.last(PositionTracks)
    keys = rotations.keys[0]
    last = first + ticks - 1
    if len(keys):
        assert len(keys) >= 2
        assert rotations.ranges[0].tolist() == [first, last]
        assert keys["start"][0] == first, "the game stops where no key has started at the first tick"
        assert (np.diff(keys["start"]) > 0).all()
        assert keys["start"][-1] <= last
        assert (np.abs(keys["angle"][1:]) <= 10.01 / 360 * 65536).all()
        assert np.allclose(np.linalg.norm(keys["axis"], axis=1), 1, atol=1e-6)
    if positions is not None and len(positions.keys[0]):
        assert positions.ranges[0].tolist() == rotations.ranges[0].tolist()


def test_the_same_motion_gives_fewer_keys_where_it_is_straight():
    straight, bent = (
        played(turning(rates, 101, moved=moved))[0] for rates, moved in (((0, 0, 1), (0, 0, 0)), ((1, 2, 3), (1, 1, 1)))
    )
    counts = [len(document.last(RotationTracks).keys[0]) for document in (straight, bent)]
    assert counts[0] == 11, "100 degrees in steps of 10"
    assert counts[0] < counts[1] <= 101


def test_errors_do_not_add_up_over_thousands_of_keys():
    motion = turning((7.3, -8.1, 0.0), 4000)
    _, matrices, _, changes = played(motion)
    apart = degrees_apart(matrices, motion.rotations)
    assert len(changes.left_out) == 1, "faster than ten degrees a tick"
    assert apart[-100:].max() < 0.005
    assert apart.max() < 0.025


def test_a_pose_that_is_held_has_two_keys_and_rest_has_none():
    held = rotation.about_axis(2, np.full(11, 0.5))
    document, matrices, *_ = played(oof.Motion(3, held, np.zeros((11, 3))))
    assert document.last(RotationTracks).keys[0]["start"].tolist() == [3, 13]
    assert degrees_apart(matrices, held).max() < 0.003
    document, *_ = played(oof.Motion(0, rotation.about_axis(2, np.zeros(11)), np.zeros((11, 3))))
    assert len(document.last(RotationTracks).keys[0]) == 0
    document, matrices, positions, _ = played(oof.Motion(5, held[:1], np.array([[1.0, 2, 3]])))
    assert document.last(RotationTracks).ranges[0].tolist() == [5, 6], "no range is empty: the game crashes there"
    assert document.last(PositionTracks).keys[0]["start"].tolist() == [5, 6]
    assert np.allclose(positions, [[1, 2, 3]])


def test_ticks_that_have_keys_keep_them():
    motion = turning((0, 0, 1), 31)
    motion.key_ticks = np.array([0, 4, 11, 30])
    document, *_ = played(motion)
    assert {0, 4, 11, 30} <= {*document.last(RotationTracks).keys[0]["start"].tolist()}


def test_a_turn_too_fast_for_ticks_is_reported():
    *_, changes = played(turning((0, 0, 40), 5))
    assert changes.left_out == ["body turns 40° in one tick: the game rotates the shorter way"]


def test_one_edited_part_leaves_the_others_keys_alone():
    keys = body(CHUNKS[b"RANI"], 2300)
    document, result = decoded(model(without=(b"WBAT",)))
    motion = result.parts[0].motion
    motion.displacements = motion.displacements.copy()
    motion.displacements[5, 2] += 0.5
    again, changes = oof.encode(result, document)
    assert changes.lines == ["body: position keys 2 -> 5"]
    unchanged = [section.id for section in document.sections if section not in again.sections]
    assert unchanged == [b"RANI", b"PANI"]
    assert keys in oof.write(again)
    moving = again.last(PositionTracks)
    assert moving.keys[0]["start"].tolist() == [0, 4, 5, 6, 10]
    assert moving.keys[0]["position"][2].tolist() == [0, 0.5, 2]
    assert moving.ranges.tolist() == [[0, 10], [0, 10]]


def test_a_changed_property_leaves_the_keys_and_another_axis_does_not():
    document, result = decoded()
    result.parts[1].spin_axis = np.array([0, 0, 1.0])
    again, changes = oof.encode(result, document)
    assert changes.lines == ["rotor: axis of rotation"]
    keys = again.last(RotationTracks).keys[1]
    assert keys["axis"].tolist() == [[0, -1, 0]] * 2
    assert keys["angle"].tolist() == [0, 65536]
    turned = pose.poses(again, np.array([0.0]), np.array([0.5])).rotations[0, 1]
    mirror = np.array([[1, 0, 0], [0, 0, 1], [0, 1, 0]], np.float64)
    actual = mirror @ turned @ mirror
    assert np.allclose(actual @ [1, 0, 0], [0, 1, 0], atol=1e-3), "a quarter turn about z takes x to y"


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_an_axis_that_is_not_finite_is_kept_and_no_such_axis_is_written(value):
    keys = body(CHUNKS[b"RANI"], 2300)
    broken = keys.replace(np.array([-1, 0, 0], "<f4").tobytes(), np.array([value, 0, 0], "<f4").tobytes())
    assert broken != keys
    document, result = decoded(model(replaced={b"RANI": broken}))
    assert oof.encode(result, document)[0] is document
    largest = np.finfo(np.float32).max
    result.parts[1].spin_axis = np.clip(result.parts[1].spin_axis, -largest, largest)  # as Blender's properties hold it
    assert oof.encode(result, document)[0] is document
    result.parts[1].spin_axis = np.array([0, value, 0])
    with pytest.raises(WriteError, match="axis of rotation of 'rotor' is NaN or infinite"):
        oof.encode(result, document)


def test_an_axis_at_the_other_end_of_the_numbers_is_another_axis():
    keys = body(CHUNKS[b"RANI"], 2300)
    far = keys.replace(np.array([-1, 0, 0], "<f4").tobytes(), np.array([-3e38, 0, 0], "<f4").tobytes())
    document, result = decoded(model(replaced={b"RANI": far}))
    assert oof.encode(result, document)[0] is document
    result.parts[1].spin_axis = -result.parts[1].spin_axis
    assert oof.encode(result, document)[1].lines == ["rotor: axis of rotation"]


def test_positions_with_a_range_of_their_own_are_sampled_as_the_game_plays_them():
    """The fraction comes from the rotation's range: positions of ticks 0 to 10 take the rotation's 20."""
    keys = body(CHUNKS[b"RANI"], 2300)
    slower = np.array([0, 0, 20], "<i4").tobytes() + keys[12:]
    document, result = decoded(model(replaced={b"RANI": slower}))
    motion = result.parts[0].motion
    assert (motion.first, motion.last) == (0, 20)
    assert np.allclose(motion.displacements[:, 1], np.arange(21) * 0.2)
    assert oof.encode(result, document)[0] is document
    motion.rotations = turning((0, 0, 1), 21).rotations
    again, _ = oof.encode(result, document)
    assert again.last(PositionTracks).ranges[0].tolist() == [0, 20]
    actual = oof.decode(again, Report()).parts[0].motion
    assert np.abs(actual.displacements - motion.displacements).max() < 1e-4


def test_positions_without_any_rotation_jump_and_that_is_reported():
    document = oof.read(model(without=(b"RANI",)), "a.oof", Report())
    report = Report()
    result = oof.decode(document, report)
    assert result.parts[0].motion.displacements.tolist() == [[0, 0, 0], [0, 4, 0]]
    assert report.lines() == ["the rotation's range is empty: positions jump to their last key (body)"]


def test_keys_that_start_too_late_are_reported():
    keys = bytearray(body(CHUNKS[b"PANI"], 2300))
    keys[12:16] = b"\3\0\0\0"
    report = Report()
    oof.decode(oof.read(model(replaced={b"PANI": bytes(keys)}), "a.oof", Report()), report)
    assert "the first key starts after the first tick, which crashes the game (body)" in report.lines()


def test_a_range_of_billions_of_ticks_costs_nothing():
    keys = bytearray(body(CHUNKS[b"RANI"], 2300))
    keys[4:12] = np.array([-(2**31), 2**31 - 1], "<i4").tobytes()
    document = oof.read(model(replaced={b"RANI": bytes(keys)}), "a.oof", Report())
    report = Report()
    result = oof.decode(document, report)
    assert result.parts[0].motion is None
    assert "the motions last more than 150000 ticks; left out here, kept for export" in report.lines()
    assert oof.encode(result, document)[0] is document


@pytest.mark.parametrize("without", [(b"WBAT",), (b"WBAT", b"PANI")])
def test_keys_without_times_are_kept_but_not_changed(without):
    document, result = decoded(model(2000, without=without))
    assert result.parts[0].motion.last == 2
    result.parts[0].name = "other"
    assert oof.encode(result, document)[1].lines == ["other: name"]
    result.parts[0].motion = turning((0, 0, 5), 3)
    with pytest.raises(WriteError, match="have no times") as refusal:
        oof.encode(result, document)
    assert "2300" in refusal.value.remedy


def test_keys_are_chosen_where_the_error_is():
    def error(keys):
        values = np.abs(np.arange(100) - 37.0)
        return np.abs(np.interp(np.arange(100), keys, values[keys]) - values) / 0.5

    assert pose.chosen_ticks(100, np.zeros(0, np.int64), error).tolist() == [0, 37, 99]


@given(st.lists(st.integers(-4, 30), min_size=2, max_size=6), st.integers(-5, 5), st.integers(1, 30))
def test_the_key_that_holds_is_the_highest_that_has_started(starts, first, length):
    """Also where times are not in order, compared with the rule written out."""
    rows = np.zeros(len(starts), ROTATION_KEY)
    rows["start"] = starts = sorted(starts, key=lambda n: (n * 7) % 5)
    fractions = np.linspace(0, 1, 13, dtype=np.float32)
    result, *_ = pose._keys_at(fractions, Keys(rows, (first, first + length)))
    for fraction, key in zip(fractions, result, strict=True):
        tick = int(np.float32(np.float32(fraction * np.float32(length)) + np.float32(first)))
        started = [number for number, start in enumerate(starts) if start <= tick]
        wanted = len(starts) - 1 if fraction >= 1 else max(started, default=0)
        assert key == wanted


# One edit, the other keys ---------------------------------------------------------------------------------------------


def twenty_keys():
    """A model whose first part has twenty keys 6 ticks apart, each a large turn about an axis of its own, and moves.

    The lengths of axes mean nothing to the game, so a key that is composed again has other bytes.
    """
    rng = np.random.default_rng(7)
    axes = rng.normal(size=(20, 3))
    starts = np.arange(20) * 6
    turned = np.zeros(20, ROTATION_KEY)
    turned["start"], turned["angle"] = starts, rng.integers(4000, 12000, 20)
    turned["axis"] = axes
    moved = np.zeros(20, POSITION_KEY)
    moved["start"], moved["position"] = starts, rng.normal(size=(20, 3))
    ranges = np.array([[0, 120], [0, 0]], np.int32)
    document, _ = decoded(model(without=(b"WBAT", b"RANI", b"PANI")))
    sections = [section for section in document.sections if section.id not in (b"RANI", b"PANI")]
    sections.append(Section(b"RANI", RotationTracks([turned, turned[:0]], ranges)))
    sections.append(Section(b"PANI", PositionTracks([moved, moved[:0]], ranges)))
    base = oof.read(oof.write(replace(document, sections=sections)), "keys.oof", Report())
    return base, oof.decode(base, Report())


def edited(change):
    """The file after ``change(rotations, displacements)`` of the first part's motion; how it plays, how it should."""
    base, result = twenty_keys()
    motion = result.parts[0].motion
    turned, moved = motion.rotations.copy(), motion.displacements.copy()
    turned, moved = change(turned, moved)
    result.parts[0].motion = replace(motion, rotations=turned, displacements=moved)
    created, _ = oof.encode(result, base)
    again = oof.read(oof.write(created), "again.oof", Report())
    return base, again, oof.decode(again, Report()).parts[0].motion, result.parts[0].motion


def keys_of(document, kind):
    return [bytes(key) for key in document.last(kind).keys[0]]


def turn(rows):
    def change(turned, moved):
        turned[rows] = rotation.multiply(rotation.about_axis(2, np.radians(25.0)), turned[rows])
        return turned, moved

    return change


@pytest.mark.parametrize("tick", [6, 57, 60, 114])
def test_one_edited_tick_keeps_the_other_keys(tick):
    base, again, actual, wanted = edited(turn([tick]))
    assert keys_of(again, PositionTracks) == keys_of(base, PositionTracks)
    before, after = keys_of(base, RotationTracks), keys_of(again, RotationTracks)
    edits = {(tick + 5) // 6, tick // 6 + 1}  # a key at the tick, and the one after it, which is relative to it
    assert [number for number, key in enumerate(before) if key not in after] == sorted(edits & {*range(20)})
    assert len(after) <= len(before) + 14
    assert np.degrees(rotation.angles_between(actual.rotations, wanted.rotations)).max() < 0.03


def test_an_edited_interval_keeps_the_keys_outside_of_it():
    base, again, actual, wanted = edited(turn(np.arange(49, 66)))
    before, after = keys_of(base, RotationTracks), keys_of(again, RotationTracks)
    assert before[:9] == after[:9]
    assert before[-8:] == after[-8:]
    assert np.degrees(rotation.angles_between(actual.rotations, wanted.rotations)).max() < 0.03


def test_one_edited_position_keeps_the_other_positions_and_every_turn():
    def change(turned, moved):
        moved[60] += (1.0, 2.0, 3.0)
        return turned, moved

    base, again, actual, wanted = edited(change)
    assert keys_of(again, RotationTracks) == keys_of(base, RotationTracks)
    before, after = keys_of(base, PositionTracks), keys_of(again, PositionTracks)
    assert len(set(before) - set(after)) == 1
    assert len(after) == 22
    assert np.abs(actual.displacements - wanted.displacements).max() < 1e-3


def test_a_motion_that_goes_on_longer_keeps_all_its_keys():
    base, result = twenty_keys()
    motion = result.parts[0].motion
    rows = np.minimum(np.arange(161), 120)
    turned, moved = motion.rotations[rows], motion.displacements[rows].copy()
    moved[121:] += np.arange(1, 41)[:, None]
    result.parts[0].motion = replace(motion, rotations=turned, displacements=moved)
    created, _ = oof.encode(result, base)
    again = oof.read(oof.write(created), "again.oof", Report())
    assert again.last(RotationTracks).ranges[0].tolist() == [0, 160]
    assert keys_of(again, RotationTracks) == keys_of(base, RotationTracks)
    assert keys_of(again, PositionTracks)[:20] == keys_of(base, PositionTracks)
    actual = oof.decode(again, Report()).parts[0].motion
    assert np.degrees(rotation.angles_between(actual.rotations, turned)).max() < 0.01
    assert np.abs(actual.displacements - moved).max() < 1e-3


@pytest.mark.parametrize("first", [6, 12, 15])
def test_a_motion_that_begins_later_plays_as_it_did(first):
    base, result = twenty_keys()
    motion = result.parts[0].motion
    turned, moved = motion.rotations[first:], motion.displacements[first:]
    result.parts[0].motion = replace(motion, first=first, rotations=turned, displacements=moved)
    created, _ = oof.encode(result, base)
    again = oof.read(oof.write(created), "again.oof", Report())
    kept = (first + 5) // 6 + 1  # the key before it is relative to nothing now
    assert keys_of(again, RotationTracks)[kept - 20 :] == keys_of(base, RotationTracks)[kept:]
    actual = oof.decode(again, Report()).parts[0].motion
    assert np.degrees(rotation.angles_between(actual.rotations, turned)).max() < 0.03


@given(st.lists(st.integers(0, 120), min_size=1, max_size=6), st.floats(0.5, 90))
def test_edits_anywhere_play_as_asked(rows, degrees):
    def change(turned, moved):
        turned[rows] = rotation.multiply(rotation.about_axis(0, np.radians(degrees)), turned[rows])
        return rotation.continuous(turned), moved

    _, _, actual, wanted = edited(change)
    assert np.degrees(rotation.angles_between(actual.rotations, wanted.rotations)).max() < 0.06
