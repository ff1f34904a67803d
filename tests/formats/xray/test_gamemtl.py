"""`gamemtl.xr`: materials by id, bytes kept."""

import numpy as np
import pytest

from addon.core.binary import NOT_FINITE
from addon.core.errors import ReadError
from addon.core.walk import Walk
from addon.formats.xray import gamemtl
from tests.formats.reading import reading
from tests.formats.xray.level_bytes import chunk, floats, words

CONCRETE = chunk(0x1000, words(12), b"materials\\concrete\0")
GLASS = b"".join([
    chunk(0x1000, words(40), b"objects\\\xf1\xf2\xe5\xea\xeb\xee\0"),  # a Cyrillic name
    chunk(0x1005, b"breaks\0"),
    chunk(0x1001, words(1 << 0 | 1 << 10 | 1 << 11 | 1 << 30 | 1 << 6)),
    chunk(0x1002, floats(1, 2, 3, 4, 5)),
    chunk(0x1003, floats(0.5, 0.25, 0.75, 0.6)),
    chunk(0x1004, floats(0.125)),
    chunk(0x1006, floats(9)),
    chunk(0x1007, floats(8)),
    chunk(0x1008, floats(7)),
    chunk(0x1009, b"acoustics"),
])  # fmt: skip
SMALL = b"".join([
    chunk(0x1000, b"\1\0"),
    chunk(0x1001, words(41, 3)),
    chunk(0x1002, chunk(0, CONCRETE), chunk(1, GLASS)),
    chunk(0x1003, b"pairs"),
])  # fmt: skip

read = reading(gamemtl, "gamemtl.xr")


def test_materials_are_known_by_their_ids():
    document, _ = read(SMALL)
    assert document.next_ids.tolist() == [41, 3]
    materials = document.by_id()
    assert list(materials) == [12, 40]
    concrete, glass = materials[12], materials[40]
    assert (concrete.label, concrete.flags, concrete.sound_occlusion) == ("materials\\concrete", None, None)
    assert glass.label == "objects\\стекло"
    assert glass.description == b"breaks"
    assert glass.sound_occlusion == pytest.approx(0.6)
    assert glass.floats[gamemtl.PHYSICS].tolist() == [1, 2, 3, 4, 5]
    assert [glass.floats[number].tolist() for number in (0x1004, 0x1006, 0x1007, 0x1008)] == [[0.125], [9], [8], [7]]
    flags = gamemtl.Flag(glass.flags & ~(1 << 6))
    assert flags == (
        gamemtl.Flag.BREAKABLE
        | gamemtl.Flag.SUPPRESS_SHADOWS
        | gamemtl.Flag.SUPPRESS_WALLMARKS
        | gamemtl.Flag.TRANSPARENT
    )
    assert gamemtl.flag_names(glass.flags) == "breakable, suppress shadows, suppress wallmarks, transparent, 0x40"


def test_nan_and_infinite_values_are_warned_about_and_kept():
    data = SMALL.replace(floats(0.5, 0.25, 0.75, 0.6), floats(0.5, np.nan, np.inf, 0.6))
    document, report = read(data)
    assert list(report.warnings.items()) == [(NOT_FINITE, ["objects\\стекло: 2"])]
    assert gamemtl.write(document) == gamemtl.recompose(document) == data


def test_a_value_is_written_from_the_document():
    document, _ = read(SMALL)
    document.by_id()[40].flags = 1
    document.by_id()[12].name = b"materials\\gravel"
    changed = SMALL.replace(words(1 << 0 | 1 << 10 | 1 << 11 | 1 << 30 | 1 << 6), words(1))
    wanted = changed.replace(chunk(0, CONCRETE), chunk(0, chunk(0x1000, words(12), b"materials\\gravel\0")))
    size = len(chunk(0, CONCRETE)) + len(chunk(1, GLASS))
    assert gamemtl.write(document) == wanted.replace(words(0x1002, size), words(0x1002, size - 2))


def test_an_odd_material_stays_bytes_and_the_others_are_read():
    odd = chunk(0, chunk(0x1001, words(1))) + chunk(5, chunk(0x1000, words(7), b"name\0", b"more")) + chunk(3, GLASS)
    data = chunk(0x1000, b"\2\0") + chunk(0x1002, odd, chunk(3, GLASS), b"tail")
    document, report = read(data)
    assert [material.id for material in document.materials.values()] == [7, 40, 40]
    assert list(document.by_id()) == [7, 40]
    assert gamemtl.write(document) == data
    assert report.lines()[:4] == [
        "game materials of version 2, only 1 is known (0x1000)",
        "4 extra bytes after the last chunk; kept (0x1002)",
        "a material is not readable, kept unchanged: it has no name (0x1002/0x0)",
        "4 extra bytes after the values of the chunk; kept (0x1002/0x5/0x1000)",
    ]
    assert report.lines()[4] == "several materials have one id; the first counts"


def test_floats_of_another_size_stay_bytes():
    data = chunk(0x1000, b"\1\0") + chunk(0x1002, chunk(0, CONCRETE, chunk(0x1003, floats(1, 2, 3))))
    document, _ = read(data)
    assert document.by_id()[12].sound_occlusion is None
    assert gamemtl.write(document) == data
    assert gamemtl.raw_size(document) == 12


@pytest.mark.parametrize("data", [chunk(0x1000, b"\1\0"), chunk(0, b"shaders"), chunk(0x1002, b"")])
def test_another_xr_file_is_refused(data):
    with pytest.raises(ReadError, match=r"no game materials in it.*gamemtl\.xr of the game"):
        read(data, "shaders.xr")


def test_differences_are_reported_by_id():
    first, _ = read(SMALL)
    louder = SMALL.replace(floats(0.5, 0.25, 0.75, 0.6), floats(0.5, 0.25, 0.75, 0.05))
    second, _ = read(louder.replace(words(12), words(13)))
    factors = "shoot, bounce damage, visual transparency, sound occlusion"
    assert list(Walk(gamemtl.VIEWS).differences(first, second)) == [
        "material 12 (materials\\concrete) is only in the first",
        f"material 40 (objects\\стекло): {factors}: 0.5 0.25 0.75 0.6 / 0.5 0.25 0.75 0.05",
        "material 13 (materials\\concrete) is only in the second",
    ]
