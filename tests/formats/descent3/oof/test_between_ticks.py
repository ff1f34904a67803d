"""Keys between ticks: what linear curves show is what the game shows, with few keys, and hostile files end."""

import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from addon.core.report import Report
from addon.formats.descent3 import oof
from addon.formats.descent3.oof import pose
from tests.formats.descent3.oof.annotated import model


def keyed(rows, report=None, few=False):
    """The keys of the first part, whose rotation keys are (tick, axis, units)."""
    keys = b"".join(struct.pack("<i3fi", tick, *axis, units) for tick, axis, units in rows)
    body = struct.pack("<3i", len(rows), rows[0][0], rows[-1][0]) + keys + struct.pack("<3i", 0, 0, 0)
    document = oof.read(model(replaced={b"RANI": body}, without=(b"PANI", b"WBAT")), "test.oof", Report())
    report = report if report is not None else Report()
    motions = [part.motion for part in oof.decode(document, Report()).parts]
    return document, pose.keyed_motions(document, motions, report, few=few)[0]


def shown(obj, times):
    """(times, 4) quaternions of linear curves."""
    rows = np.stack([np.interp(times, obj.rotation_times, column) for column in obj.rotations.T], axis=1)
    return rows / np.linalg.norm(rows, axis=1)[:, None]


def about_up(quaternions):
    """Degrees about Blender's z."""
    return np.degrees(2 * np.arctan2(quaternions[:, 3], quaternions[:, 0]))


def test_slow_turns_need_none():
    _, obj = keyed([(0, (0, 1, 0), 0), (60, (0, 1, 0), 65536 * 10 // 360)])
    assert obj.rotation_times.tolist() == list(range(61))


def test_a_fast_turn_is_shown_as_matrices_blend():
    _, obj = keyed([(0, (0, 1, 0), 0), (1, (0, 1, 0), 65536 // 4)])
    times = np.linspace(0, 1, 301)
    # Entries of no turn and a quarter blended: the sine is the weight, the cosine what is left of it.
    wanted = np.degrees(np.arctan2(times, 1 - times))
    assert np.abs(np.abs(about_up(shown(obj, times))) - wanted).max() < 0.004
    assert 2 < len(obj.rotation_times) <= pose.GRID + 1


def test_ten_degrees_a_tick_need_a_few():
    _, obj = keyed([(0, (0, 1, 0), 0), (1, (0, 1, 0), 65536 // 36)])
    assert 2 < len(obj.rotation_times) < 12


def test_a_step_has_one_key_just_before_it():
    still, quarter = (0, 1, 0), 65536 // 4
    _, obj = keyed([(0, still, 0), (5, still, 0), (5, still, quarter), (10, still, 0)])
    between = obj.rotation_times[obj.rotation_times % 1 != 0]
    assert len(between) == 1
    assert 0 < 5 - between[0] < 0.011
    assert np.abs(about_up(shown(obj, np.array([2.5, 4.98, 5, 7])))).round(6).tolist() == [0, 0, 90, 90]


def test_below_zero_a_key_takes_over_a_tick_early():
    axis = (0, 1, 0)
    document, result = keyed([(-4, axis, 0), (-2, axis, 0), (2, axis, 65536 // 8)])
    times = np.array([-3.5, -2.75, -2.5, -1.5, 1.25])
    rotations = oof.poses(document, times).rotations[:, 0]
    wanted = np.degrees(np.arctan2(rotations[:, 0, 2], rotations[:, 2, 2]))
    assert wanted[2] != 0  # extrapolated backwards
    assert np.abs(np.abs(about_up(shown(result, times))) - np.abs(wanted)).max() < 0.004


KEYS = st.lists(
    st.tuples(st.integers(1, 9), st.sampled_from([(0, 1, 0), (0.6, 0.8, 0), (1, 0, 0)]), st.integers(-24_000, 24_000)),
    min_size=1,
    max_size=6,
)


@given(KEYS)
@settings(max_examples=25)
def test_few_keys_stay_within_a_twentieth_of_a_degree_between_ticks_too(steps):
    """At any time, and they hold the file's own keys, between which nothing has to be added where a part is slow."""
    ticks = np.cumsum([0, *(step for step, _, _ in steps)]).tolist()
    rows = [(0, (0, 1, 0), 0), *((tick, axis, units) for tick, (_, axis, units) in zip(ticks[1:], steps, strict=True))]
    document, obj = keyed(rows, few=True)
    times = np.linspace(0, ticks[-1], 40 * ticks[-1] + 1).astype(np.float32).astype(np.float64)
    game = oof.decode(document, Report()).parts[0].motion
    wanted, _ = pose._played(game, times)
    before = np.minimum(np.searchsorted(obj.rotation_times, times, side="right") - 1, len(obj.rotation_times) - 2)
    left, right = obj.rotation_times[before], obj.rotation_times[before + 1]
    # A step of the game is shown as a straight line over a ninety-sixth of a tick: there nothing else is possible.
    near = right - left < 1.5 / pose.GRID
    apart = np.degrees(pose._angles(shown(obj, times), wanted))[~near]
    assert apart.max(initial=0) <= 0.05
    assert set(game.key_ticks.tolist()) <= set(obj.rotation_times.tolist())
    assert len(obj.rotation_times) <= len(keyed(rows)[1].rotation_times)
    again = pose.few_keys(game, len(document.sub_objects))
    assert again.rotation_times.tolist() == obj.rotation_times.tolist()
    assert np.degrees(pose._angles(again.sampled(game.first, game.last).rotations, game.rotations)).max() <= 0.05


@pytest.mark.deep
def test_fast_for_hours_ends_and_is_reported():
    axis = (0.6, 0.8, 0)
    report = Report()
    _, obj = keyed([(tick, axis, 30_000) for tick in range(16_000)], report)
    assert len(obj.rotation_times) <= 16_000 + pose.MOST_FAST_TICKS * (pose.GRID - 1)
    assert "rotates fast" in " ".join(report.warnings)


def moving(keys, ticks, positions):
    """The keys of the first part, whose position keys are (tick, x); it does not rotate from tick 0 to ``ticks``."""
    still = struct.pack("<3i", 0, 0, ticks) + struct.pack("<3i", 0, 0, 0)
    rows = b"".join(struct.pack("<i3f", tick, x, 0, 0) for tick, x in keys)
    moved = struct.pack("<3i", len(keys), 0, positions) + rows + struct.pack("<3i", 0, 0, 0)
    document = oof.read(model(replaced={b"RANI": still, b"PANI": moved}, without=(b"WBAT",)), "test.oof", Report())
    motions = [part.motion for part in oof.decode(document, Report()).parts]
    return pose.keyed_motions(document, motions, Report())[0]


def test_a_position_held_for_a_ninety_sixth_of_a_tick_is_shown():
    result = moving([(0, 0), (1, 5), (2, 0), (960, 0)], 10, 960)
    x = np.interp([0, 1 / 96, 2 / 96, 0.5], result.position_times, result.displacements[:, 0])
    np.testing.assert_allclose(x, [0, 5, 0, 0], atol=1e-4)


def test_what_32_bits_cannot_say_needs_no_keys():
    """Between two ticks the game's share of the way is a float32: off by 0.06 units of a million."""
    result = moving([(0, 0), (60, 1e6)], 60, 60)
    assert result.position_times.tolist() == list(range(61))


def test_keys_without_times_are_shown_where_they_lie():
    """Eight keys on eight ticks: key n lies at n * 8 / 7."""
    positions = [0, 3, -1, 4, 4, 0, 5, 2]
    moved = struct.pack("<i", 8) + b"".join(struct.pack("<3f", x, 0, 0) for x in positions) + bytes(8 * 12)
    still = struct.pack("<i", 0)
    document = oof.read(
        model(2000, replaced={b"RANI": still, b"PANI": moved}, without=(b"WBAT",)), "test.oof", Report()
    )
    motion = oof.decode(document, Report()).parts[0].motion
    result = pose.keyed_motions(document, [motion, None], Report())[0]
    times = np.linspace(0, motion.last, 1001)
    shown_x = np.interp(times, result.position_times, result.displacements[:, 0])
    np.testing.assert_allclose(shown_x, np.interp(times, np.arange(8) * 8 / 7, positions), atol=1e-4)
