"""Wallmarks, particles, weather, sounds and spawned objects of a level: bytes by hand, real files, damaged ones."""

import numpy as np
import pytest

from addon.core.errors import ReadError
from addon.core.report import Report
from addon.core.walk import Walk
from addon.formats import format_named
from addon.formats.xray import env_mod, placed, ps_static, snd_static, spawn, wallmarks
from tests.formats.xray.level.annotated import (
    MATRIX,
    NEW_PARTICLES,
    NEW_WEATHER,
    SMALL_PARTICLES,
    SMALL_SOUNDS,
    SMALL_SPAWN,
    SMALL_WALLMARKS,
    SMALL_WEATHER,
    SOUND,
)
from tests.formats.xray.level_bytes import chunk, words

BESIDE = ("wallmarks", "ps_static", "env_mod", "snd_static", "spawn")


def read(module, data):
    report = Report()
    return module.read(data, "level.x", report), report


def test_a_wallmark_is_known_to_the_last_byte():
    document, _ = read(wallmarks, SMALL_WALLMARKS)
    slot = document.slots[0]
    assert (slot.shader, slot.texture) == (b"sh", b"tx")
    assert slot.marks[0].sphere.tolist() == [0, 1, 0, 2]
    assert slot.marks[0].vertices["uv"].tolist() == [[0, 1], [0, 0], [1, 1]]
    assert wallmarks.describe(document) == ["1 slot, 1 wallmark, 1 triangle", "1 wallmark: tx"]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (words(2**32 - 1) + bytes(40), "4294967295 slots need"),
        (words(1, 2**32 - 1) + b"s\0t\0" + bytes(40), "4294967295 wallmarks need"),
        (words(1, 1) + b"s\0t\0" + bytes(16) + words(2**32 - 1), "4294967295 vertices: "),
    ],
)
def test_hostile_counts_of_wallmarks_are_refused(body, problem):
    with pytest.raises(ReadError, match=problem) as refused:
        read(wallmarks, chunk(1, body))
    assert (refused.value.chunk, bool(refused.value.offset)) == ("0x1", True)


def test_a_wallmark_with_half_a_triangle_is_reported_and_kept():
    data = chunk(1, words(1, 1), b"s\0t\0", bytes(16), words(2), bytes(48))
    document, report = read(wallmarks, data)
    assert wallmarks.write(document) == data
    assert list(report.warnings) == ["1 wallmark has vertices behind the last triangle; kept"]


def test_particles_of_both_generations():
    document, report = read(ps_static, SMALL_PARTICLES)
    assert not report
    assert (document.version, document.words) == (None, [(b"fire\\torch",), (b"fog",)])
    assert placed.positions(document).tolist() == [[7, 8, 9]] * 2
    newer, _ = read(ps_static, NEW_PARTICLES)
    assert (newer.version, newer.words, newer.before["game_type"].tolist()) == (1, [(b"fog",)], [63])
    for data, entry in ((SMALL_PARTICLES, document), (NEW_PARTICLES, newer)):
        assert ps_static.write(entry) == data
    assert ps_static.describe(newer)[0] == "version 1, 1 particle effect"


def test_weather_of_both_generations():
    document, _ = read(env_mod, SMALL_WEATHER)
    assert env_mod.write(document) == SMALL_WEATHER
    assert (document.after["radius"][0], document.after["fog"][0].tolist()) == (
        10,
        np.float32([0.1, 0.2, 0.3]).tolist(),
    )
    newer, _ = read(env_mod, NEW_WEATHER)
    assert env_mod.write(newer) == NEW_WEATHER
    assert (newer.version, newer.after["flags"].tolist()) == (0x17, [31])
    with pytest.raises(ReadError, match="version 24 is not known"):
        read(env_mod, chunk(0, words(0x18)))


def test_a_sound_lies_in_a_chunk_of_its_own():
    document, _ = read(snd_static, SMALL_SOUNDS)
    assert document.after["play"].tolist() == [[1000, 2000]] * 2
    more = chunk(0, chunk(7, b"new"), chunk(0, SOUND), chunk(9, b""))
    document, _ = read(snd_static, more)
    assert snd_static.write(document) == more
    assert snd_static.raw_size(document) == 3
    with pytest.raises(ReadError, match=r"without a body \(chunk 0x0; there are 0x7\)"):
        read(snd_static, chunk(0, chunk(7, b"new")))


def test_a_spawned_object_keeps_what_follows_its_angles():
    document, _ = read(spawn, SMALL_SPAWN)
    assert document.words == [(b"graph_point", b"yard")]
    assert document.after["angles"].tolist() == [[0, 0.5, 0]]
    assert bytes(document.rests[0]) == b"\xaa\xbb\xcc\xdd"


def test_an_all_spawn_is_refused_by_name():
    with pytest.raises(ReadError, match=r"all\.spawn is not read"):
        read(spawn, chunk(0, words(8, 1, 2, 3)) + chunk(1))


@pytest.mark.parametrize("kind", BESIDE[1:])
def test_an_entry_that_is_cut_off_is_refused_with_its_chunk(kind):
    small = {
        "ps_static": SMALL_PARTICLES,
        "env_mod": SMALL_WEATHER,
        "snd_static": SMALL_SOUNDS,
        "spawn": SMALL_SPAWN,
    }[kind]
    module = format_named(kind).module
    document, _ = read(module, small)
    assert module.write(document) == small
    body = chunk(0, chunk(0, SOUND[:-1])) if kind == "snd_static" else chunk(0, b"\1\0name\0name\0" + bytes(20))
    with pytest.raises(ReadError, match="chunk 0x0"):
        read(module, body)


def test_a_name_that_changes_changes_its_entry_alone():
    document, _ = read(ps_static, SMALL_PARTICLES)
    document.words[0] = (b"fire\\lamp_of_the_yard",)
    data = ps_static.write(document)
    assert data == chunk(0, b"fire\\lamp_of_the_yard\0", MATRIX) + chunk(1, b"fog\0", MATRIX)
    first, second = read(ps_static, SMALL_PARTICLES)[0], read(ps_static, data)[0]
    assert list(Walk(ps_static.VIEWS).differences(first, second)) == [
        "particle effect 0 name: 'fire\\\\torch' / 'fire\\\\lamp_of_the_yard'"
    ]
