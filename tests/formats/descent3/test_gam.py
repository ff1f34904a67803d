"""`.gam`: texture pages to the byte; other pages stay as they are."""

import math
import struct

import pytest

from addon.core.binary import NOT_FINITE
from addon.core.errors import ReadError
from addon.core.walk import Walk
from addon.formats import detect
from addon.formats.descent3 import gam
from addon.formats.descent3.gam import TextureFlag
from tests.formats.reading import reading

PLAIN = (
    struct.pack("<h", 7) + b"Hull\0hull.oaf\0\0"
    + struct.pack("<4f", 0, 0.25, 0.5, 1)  # red, green, blue, alpha
    + struct.pack("<f", 2)                 # seconds for all frames
    + struct.pack("<3f", 0, 4, 0.125)      # slide u, v, reflectivity
    + b"\3" + struct.pack("<iI", -1, TextureFlag.ANIMATED | TextureFlag.ALPHA)
    + b"zap\0" + struct.pack("<f", 1)      # sound and volume
)  # fmt: skip
PROCEDURAL = (
    struct.pack("<h", 6) + b"Fire\0fire.ogf\0gone\0" + bytes(32) + b"\0"
    + struct.pack("<iI", 0, TextureFlag.PROCEDURAL)
    + struct.pack("<255H", *range(255))    # palette
    + b"\1\2\3" + struct.pack("<f", 0.5)   # settings, time
    + struct.pack("<fB", 0.25, 9)          # oscillation, from version 6 on
    + struct.pack("<h", 2) + bytes(range(16))
    + struct.pack("<if", 5, 1)
)  # fmt: skip


def page(kind, body):
    return bytes((kind,)) + struct.pack("<i", len(body) + 4) + body


read = reading(gam, "test.gam")


def test_a_table_is_known_to_the_last_byte():
    data = page(1, PLAIN) + page(5, b"a ship") + page(1, PROCEDURAL)
    document, report = read(data)
    assert not report
    hull, fire = document.texture("HULL"), document.texture("fire")
    assert (hull.bitmap, hull.speed, hull.slide.tolist(), hull.damage) == (b"hull.oaf", 2, [0, 4, 0.125], -1)
    assert hull.colour.tolist() == [0, 0.25, 0.5, 1]
    assert hull.flags == TextureFlag.ANIMATED | TextureFlag.ALPHA
    assert fire.procedure.palette.tolist() == list(range(255))
    assert fire.procedure.elements.tolist() == [list(range(8)), list(range(8, 16))]
    assert document.texture("ship") is None
    assert gam.write(document) == gam.recompose(document) == data
    assert gam.raw_size(document) == len(b"zap\0") + 4 + len(b"a ship") + 8
    assert gam.describe(document) == ["2 textures, 1 page of other things", "Hull: hull.oaf", "Fire: fire.ogf"]
    assert detect("table", data[:64]).module is gam
    assert len(list(Walk(gam.VIEWS).dump(document))) > 30


def test_nan_and_infinite_values_are_warned_about_and_kept():
    data = page(1, PLAIN.replace(struct.pack("<3f", 0, 4, 0.125), struct.pack("<3f", 0, math.nan, math.inf)))
    document, report = read(data)
    assert list(report.warnings.items()) == [(NOT_FINITE, ["texture Hull: 2"])]
    assert gam.write(document) == gam.recompose(document) == data


def test_old_procedures_lack_the_oscillation():
    body = bytearray(PROCEDURAL)
    body[:2] = struct.pack("<h", 5)
    at = bytes(body).index(struct.pack("<fB", 0.25, 9))
    del body[at : at + 5]
    document, _ = read(page(1, bytes(body)))
    assert document.texture("Fire").procedure.elements.tolist()[1][0] == 8
    assert gam.write(document) == page(1, bytes(body))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (page(1, PLAIN)[:-1], "a page: "),
        (b"\1" + struct.pack("<i", 3), "a page of 3 bytes"),
        (b"\1" + struct.pack("<i", 2**31 - 1), "2147483643 bytes are needed, 0 bytes are left"),
    ],
)
def test_what_is_cut_off_is_refused(data, words):
    with pytest.raises(ReadError, match=words):
        read(data)


def test_a_broken_page_is_kept_and_reported():
    for data, words in (
        (page(1, PLAIN[:30]), "not readable, kept unchanged"),
        (page(1, PROCEDURAL[:200]), "not readable, kept unchanged"),
        (page(1, PLAIN) + b"tail", "4 extra bytes after"),
    ):
        document, report = read(data)
        assert words in report.lines()[0]
        assert gam.write(document) == data


def test_what_differs_is_named():
    entry, _ = read(page(1, PLAIN))
    other, _ = read(page(1, PLAIN.replace(b"hull.oaf", b"HULL.oaf")))
    assert list(Walk(gam.VIEWS).differences(entry, other)) == ["page 0 bitmap: 'hull.oaf' / 'HULL.oaf'"]
    assert list(Walk(gam.VIEWS).differences(entry, entry)) == []
