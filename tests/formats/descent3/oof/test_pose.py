"""Poses: what the game's own code computed, and the same formulas written out one number at a time."""

import math

import numpy as np
import pytest

from addon.core.report import Report
from addon.formats.descent3 import oof
from addon.formats.descent3.oof import pose
from addon.formats.descent3.oof.commands import Kind, parse_property
from tests.formats.descent3.oof.annotated import CHUNKS, body, model
from tests.formats.descent3.oof.engine import engine_models


def engine(vectors, name):
    document = oof.read((vectors / "oof" / f"{name}.oof").read_bytes(), name, Report())
    return document, np.load(vectors / "oof" / f"{name}.npz")


@pytest.mark.parametrize("name", engine_models())
def test_poses_are_the_games(vectors, name):
    document, numbers = engine(vectors, name)
    result = pose.poses(document, numbers["frame"], numbers["game_time"], numbers["override"])
    assert np.abs(result.rotations - numbers["ideal_local_matrix"]).max() < 1e-6
    assert np.array_equal(result.fractions, numbers["time_fraction"])
    assert np.abs(result.positions - numbers["local_position"]).max() < 1e-6
    ideal = numbers["ideal_local_matrix"]
    cosine = np.hypot(ideal[..., 0, 2], ideal[..., 2, 2])
    off = np.abs(result.rotations - numbers["local_matrix"]).max(axis=(2, 3))
    assert off[cosine > 0.1].max(initial=0) < 1e-3
    assert off[cosine <= 0.1].max(initial=0) < 0.1  # near the vertical the game's own arithmetic twists
    if name != "near_vertical":
        assert np.abs(result.model_rotations - numbers["model_matrix"]).max() < 2e-3
        assert np.abs(result.model_positions - numbers["model_position"]).max() < 1.5e-2


@pytest.mark.parametrize("name", engine_models())
def test_property_strings_mean_what_they_mean_to_the_game(vectors, name):
    document, numbers = engine(vectors, name)
    bits = {
        Kind.ROTATE: 1, Kind.TURRET: 2, Kind.SHELL: 4, Kind.FRONT_FACE: 8, Kind.FACING: 0x1000, Kind.VIEWER: 0x2000,
        Kind.LAYER: 0x4000, Kind.GLOW: 0x200000, Kind.CUSTOM: 0x400000, Kind.THRUSTER: 0x800000, Kind.JITTER: 0x1000000,
    }  # fmt: skip
    in_a_battery = 0x8000
    for part, flags, glow in zip(document.sub_objects, numbers["sub_flags"], numbers["sub_glow"], strict=True):
        message = parse_property(part.property_text)
        mine = 0
        if message is not None and message.works:
            mine = bits[message.kind] if message.kind is not Kind.MONITOR else 0x10 << int(message.numbers[0]) - 1
        assert mine == int(flags) & 0x1FFFFFF & ~in_a_battery, part.property_text
        if message is not None and message.kind in (Kind.GLOW, Kind.THRUSTER):
            assert np.allclose(message.numbers, glow, atol=1e-5)


@pytest.mark.parametrize(
    ("text", "kind", "numbers", "works"),
    [
        ("$rotate=2", Kind.ROTATE, (2,), True),
        ("$ROTATE= .5 seconds", Kind.ROTATE, (0.5,), True),
        ("$rotate=20.5", Kind.ROTATE, (20.5,), False),
        ("$rotate=0", Kind.ROTATE, (0,), False),
        ("$rotate=", Kind.ROTATE, (), False),
        ("$GLOW=.35,0.0,1,1", Kind.GLOW, (0.35, 0, 1, 1), True),
        ("$glow=1,2,3", Kind.GLOW, (1, 2, 3), False),
        ("$thruster= 1 , 0 ,0 , 2.5e1", Kind.THRUSTER, (1, 0, 0, 25), True),
        ("$fov=180,4,0.5", Kind.TURRET, (180, 4, 0.5), True),
        ("$fov=180,61,0.5", Kind.TURRET, (180, 61, 0.5), False),
        ("$facingXYZ", Kind.FACING, (), True),
        ("$monitor08", Kind.MONITOR, (8,), True),
        ("$Viewer", Kind.VIEWER, (), True),
    ],
)
def test_a_property_string_is_taken_apart(text, kind, numbers, works):
    result = parse_property(text)
    assert (result.kind, result.numbers, result.works) == (kind, numbers, works)
    assert parse_property(result.text()).kind is kind


@pytest.mark.parametrize("text", ["", "$f", "$rotate", "$monitor09", "$monitor1", "$viewer ", "$glow =1,2,3,4", "hull"])
def test_what_the_game_does_not_know_means_nothing(text):
    assert parse_property(text) is None


def rodrigues(axis, degrees):
    """Written out, with nothing of ours."""
    x, y, z = axis
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    t = 1 - c
    return np.array(
        [
            [t * x * x + c, t * x * y - s * z, t * x * z + s * y],
            [t * x * y + s * z, t * y * y + c, t * y * z - s * x],
            [t * x * z - s * y, t * y * z + s * x, t * z * z + c],
        ]
    )


def keyed(keys, ticks=(0, 10)):
    """The annotated model with these rotation keys (tick, axis, units) on its body, and no position keys."""
    head = np.array([len(keys), *ticks], "<i4").tobytes()
    rows = b"".join(
        np.array([tick], "<i4").tobytes() + np.array(axis, "<f4").tobytes() + np.array([units], "<i4").tobytes()
        for tick, axis, units in keys
    )
    empty = np.array([0, *ticks], "<i4").tobytes()
    data = model(replaced={b"RANI": head + rows + empty}, without=(b"PANI",))
    return oof.read(data, "keyed.oof", Report())


def test_keys_are_cumulative_in_the_parents_frame():
    document = keyed([(0, (0, 0, 2), 0x4000), (5, (1, 0, 0), 0x2000), (10, (0, 1, 0), 0x1000)])
    result = pose.poses(document, np.array([-1, 0, 5, 10, 11])).rotations[:, 0]
    first = rodrigues((0, 0, 1), 90)
    second = rodrigues((1, 0, 0), 45) @ first
    third = rodrigues((0, 1, 0), 22.5) @ second
    for matrix, wanted in zip(result, (first, first, second, third, third), strict=True):
        assert np.abs(matrix - wanted).max() < 1e-12


def test_a_single_key_is_ignored_and_a_part_without_keys_stands_still():
    document = keyed([(0, (0, 0, 1), 0x4000)])
    assert np.array_equal(pose.poses(document, np.array([3])).rotations[0], [np.eye(3)] * 2)


def test_between_keys_matrices_are_blended_and_only_then_made_rotations():
    document = keyed([(0, (0, 0, 1), 0), (10, (0, 0, 1), 0x5555)])  # 120 degrees
    quarter = pose.poses(document, np.array([2.5])).rotations[0, 0]
    blended = 0.75 * np.eye(3) + 0.25 * rodrigues((0, 0, 1), 0x5555 * 360 / 65536)
    bank = math.atan2(blended[1, 0], blended[1, 1])
    assert np.abs(quarter - rodrigues((0, 0, 1), math.degrees(bank))).max() < 1e-12
    assert abs(math.degrees(bank) - 30) > 10, "a constant speed would be 30 degrees"


def test_a_battery_aims_its_turrets_and_a_rotor_runs_by_the_clock():
    document = oof.read(model(), "a.oof", Report())
    at = pose.poses(document, np.array([5.0]), np.array([0.5])).rotations[0, 1]
    assert np.abs(at - rodrigues((-1, 0, 0), math.trunc(65535 * 0.25) * 360 / 65536)).max() < 1e-9
    moved = pose.poses(document, np.array([5.0]))
    assert moved.positions[0, 0].tolist() == [0, 1, 2]
    assert moved.model_positions[0, 1].tolist() == [1.5, 1, 2]


def test_a_cycle_of_parents_ends_nothing():
    ring = bytearray(body(CHUNKS[b"SOBJ"], 2300))
    ring[4:8] = b"\1\0\0\0"
    document = oof.read(model(replaced={b"SOBJ": bytes(ring)}), "ring.oof", Report())
    with pytest.raises(ValueError, match="cycle"):
        pose.poses(document, np.array([0.0]))
