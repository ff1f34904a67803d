"""`.ogf` and `.oaf`: bytes, colours, which of two formats of one suffix a file is."""

import math
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core import png
from addon.core.binary import NOT_FINITE
from addon.core.errors import ReadError, WriteError
from addon.core.report import Report
from addon.core.walk import Walk
from addon.formats import detect, format_named
from addon.formats.descent3 import ogf_image
from addon.formats.verification import Status, verify
from tests.formats.reading import reading
from tests.real_files import corpus_files
from tests.work import memory_peak


def runs(*pairs):
    return b"".join(struct.pack("<BH", *pair) for pair in pairs)


def image(kind, width, height, pixels, *, levels=1, identifier=b"", depth=32):
    name = b"red.ogf\0" if 121 <= kind <= 123 else b"red.ogf\0".ljust(35, b"\xcd") if kind > 123 else b""
    count = bytes((levels,)) if 121 <= kind <= 124 else b""
    return (
        bytes((len(identifier), 0, kind)) + name + count + bytes(9)
        + struct.pack("<HHBB", width, height, depth, 0x28) + identifier + pixels
    )  # fmt: skip


TWO_LEVELS = runs((2, 0xF00F), (0, 0x8F00), (0, 0x00F0)) + runs((0, 0xFFFF))

read = reading(ogf_image, "test.ogf")


@pytest.mark.parametrize("kind", [121, 122, 123, 124, 127])
def test_an_image_is_known_to_the_last_byte(kind):
    pixels = TWO_LEVELS if kind != 127 else TWO_LEVELS[:-3]
    data = image(kind, 2, 2, pixels, levels=2, identifier=b"id")
    document, report = read(data)
    assert not report
    (result,) = document.frames
    assert (result.label, result.width, result.height, result.identifier) == ("red.ogf", 2, 2, b"id")
    assert [len(level) for level in result.levels] == ([3, 1] if kind != 127 else [3])
    assert ogf_image.write(document) == ogf_image.recompose(document) == data
    assert ogf_image.raw_size(document) == 0
    assert len(list(Walk(ogf_image.VIEWS).dump(document))) > 10
    assert list(Walk(ogf_image.VIEWS).differences(document, document)) == []
    assert detect("a.ogf", data[:64]).module is ogf_image
    assert detect("nameless", data[:64]).module is ogf_image


def test_a_frame_time_that_is_not_finite_is_warned_about_and_kept():
    data = bytes((127, 1, 1)) + struct.pack("<f", math.nan) + image(122, 1, 1, runs((0, 0xFC00)))
    document, report = read(data, "test.oaf")
    assert list(report.warnings.items()) == [(NOT_FINITE, ["the time of a frame: 1"])]
    assert ogf_image.write(document) == data


COLOURS = [
    (121, 0xF00F, (0, 0, 255, 255)),
    (121, 0x8F10, (255, 17, 0, 136)),
    (122, 0xFC00, (255, 0, 0, 255)),
    (122, 0x83E1, (0, 255, 8, 255)),
    (122, 0x0000, (0, 0, 0, 0)),
    (123, 0xF800, (255, 0, 0, 255)),
    (124, 0x001F, (0, 0, 255, 255)),
    (127, 0x07E0, (0, 255, 0, 0)),
    (127, 0x07C0, (0, 251, 0, 255)),
]


@pytest.mark.parametrize(("kind", "pixel", "colour"), COLOURS)
def test_pixels_have_their_colours(kind, pixel, colour):
    document, _ = read(image(kind, 3, 1, runs((0, 0), (2, pixel))))
    (picture,) = ogf_image.decode(document)
    assert picture.shape == (1, 3, 4)
    assert picture[0, 1].tolist() == picture[0, 2].tolist() == list(colour)


def test_the_first_row_is_the_top_and_coarser_levels_are_there():
    document, _ = read(image(121, 2, 2, TWO_LEVELS, levels=2))
    (picture,) = ogf_image.decode(document)
    assert picture[0].tolist() == [[0, 0, 255, 255]] * 2
    assert picture[1].tolist() == [[255, 0, 0, 136], [0, 255, 0, 0]]
    assert ogf_image.decode_image(document.frames[0], 1).tolist() == [[[255, 255, 255, 255]]]
    with pytest.raises(ReadError, match="no level 2"):
        ogf_image.decode_image(document.frames[0], 2)


def test_runs_of_every_length_over_many_blocks():
    random = np.random.default_rng(1)
    counts = random.choice([0, *range(2, 251)], 20_000)
    values = random.integers(0, 1 << 16, 20_000)
    pixels = np.repeat(values, np.maximum(counts, 1))
    width = 1000
    short = -len(pixels) % width
    counts, values = np.append(counts, [0] * short), np.append(values, [0xF800] * short)
    data = image(127, width, (len(pixels) + short) // width, runs(*zip(counts.tolist(), values.tolist(), strict=True)))
    document, _ = read(data)
    assert ogf_image.write(document) == data
    (picture,) = ogf_image.decode(document)
    flat = picture.reshape(-1, 4)
    assert np.array_equal(flat[: len(pixels), 0], ((pixels >> 11) * 255 + 15) // 31)
    assert flat[-1].tolist() == [255, 0, 0, 255] if short else True


def test_animations_new_and_old():
    frames = image(124, 1, 1, runs((0, 0xF800))) + image(127, 2, 1, runs((2, 0x001F)))
    new = bytes((127, 1, 2)) + struct.pack("<f", 0.07) + frames
    document, report = read(new, "a.oaf")
    assert not report
    assert document.animation.frame_time == np.float32(0.07)
    assert [picture.shape for picture in ogf_image.decode(document)] == [(1, 1, 4), (1, 2, 4)]
    assert ogf_image.write(document) == new
    assert detect("nameless", new[:64]).module is ogf_image
    old = struct.pack("<Bffif", 2, 1.5, 0.1, -3, 2.5) + frames
    document, _ = read(old, "A.OAF")
    assert document.animation.version is None
    assert document.animation.frame_time == np.float32(0.1)
    assert ogf_image.write(document) == old
    assert list(Walk(ogf_image.VIEWS).differences(document, read(new)[0]))


@pytest.mark.parametrize("descriptor", [0, 0x20])
@pytest.mark.parametrize("depth", [24, 32])
@pytest.mark.parametrize("packed", [False, True])
def test_an_ordinary_tga(descriptor, depth, packed):
    size = depth // 8
    rows = np.arange(2 * 3 * size, dtype=np.uint8).reshape(6, size)
    plain = rows.tobytes()
    if packed:
        rows[1:3] = rows[1]
        plain = bytes((0,)) + rows[0].tobytes() + bytes((0x81,)) + rows[1].tobytes() + b"\2" + rows[3:].tobytes()
    head = bytes((0, 0, 10 if packed else 2)) + bytes(9) + struct.pack("<HHBB", 3, 2, depth, descriptor)
    document, report = read(head + plain + b"footer")
    assert not report
    assert detect("a.ogf", head + plain).module is ogf_image
    (picture,) = ogf_image.decode(document)
    wanted = np.full((6, 4), 255, np.uint8)
    wanted[:, :3] = rows[:, [2, 1, 0]]
    if size == 4:
        wanted[:, 3] = rows[:, 3]
    wanted = wanted.reshape(2, 3, 4)
    assert np.array_equal(picture, wanted if descriptor else wanted[::-1])
    assert ogf_image.write(document) == head + plain + b"footer"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (image(121, 2, 2, runs((2, 1))), "the image ends after 2 of 4 pixels"),
        (image(121, 2, 2, runs((5, 1))), "exceed its 4 pixels"),
        (image(121, 2, 2, runs((1, 1))), "a run of 1 pixel"),
        (image(121, 300, 2, runs((251, 1))), "a run of 251 pixels"),
        (image(121, 0xFFFF, 0xFFFF, runs((250, 1))), "ends after 250 of 4294836225 pixels"),
        (image(9, 2, 2, b""), "an image of type 9"),
        (b"\0\1" + image(121, 2, 2, b"")[2:], "colour map 1"),
        (bytes((127, 1, 2)) + bytes(4) + image(126, 1, 1, b"x") * 2, "which has no end"),
        (bytes((127, 1, 9)) + bytes(4), "the header: 1 byte is needed"),
    ],
)
def test_what_is_no_texture_is_refused(data, words):
    with pytest.raises(ReadError, match=words):
        read(data)
    assert memory_peak(lambda: verify(data, "a.oaf")) < 400_000


def test_types_the_game_cannot_read_are_kept_but_not_shown():
    data = image(125, 4, 4, b"whatever")
    document, report = read(data)
    assert "type 125 is not readable by the game" in report.lines()[0]
    assert ogf_image.write(document) == data
    assert ogf_image.raw_size(document) == 8
    with pytest.raises(ReadError, match="type 125"):
        ogf_image.decode(document)


@pytest.mark.parametrize("file", corpus_files("ogf/odd_d3_texture_not_xray.ogf"))
def test_a_real_texture_opens_as_what_it_is(file):
    data = file.read_bytes()
    verdict = verify(data, file.name)
    assert (verdict.format, verdict.status, verdict.raw_share) == ("ogf_image", Status.IDENTICAL, 0)
    (picture,) = ogf_image.decode(read(data)[0])
    assert picture.shape == (128, 128, 4)
    assert 20 < picture[..., :3].std() < 120


@pytest.mark.parametrize("file", corpus_files("ogf"))
def test_models_and_textures_of_one_suffix_are_reported_apart(file):
    result = detect(file.name, file.read_bytes()[:64])
    assert result is format_named("ogf_image" if "d3_texture" in file.name else "ogf")


def test_a_png_holds_the_picture():
    """Read back with nothing of ours."""
    picture = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    data = png.encode(picture)
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, result = 8, {}
    while at < len(data):
        size, name = struct.unpack_from(">I4s", data, at)
        body = data[at + 8 : at + 8 + size]
        assert struct.unpack_from(">I", data, at + 8 + size) == (zlib.crc32(name + body),)
        result[name] = body
        at += 12 + size
    assert struct.unpack(">IIBBBBB", result[b"IHDR"]) == (3, 2, 8, 6, 0, 0, 0)
    rows = zlib.decompress(result[b"IDAT"])
    assert rows == b"".join(b"\0" + row.tobytes() for row in picture)
    with pytest.raises(ValueError, match="0 x 3"):
        png.encode(np.zeros((3, 0, 4), np.uint8))


def test_each_frame_becomes_a_png():
    frames = image(124, 1, 1, runs((0, 0xF800))) * 3
    document, _ = read(bytes((127, 1, 3)) + bytes(4) + frames, "a.oaf")
    report = Report()
    files = ogf_image.as_png(document, report)
    assert files == [png.encode(np.array([[[255, 0, 0, 255]]], np.uint8))] * 3
    assert report.lines() == ["3 frames, one file each"]
    with pytest.raises(ReadError, match="no pixels"):
        ogf_image.as_png(read(image(121, 0, 5, b""))[0], Report())


# New and edited images -----------------------------------------------------------------------------------------------


def expanded(runs):
    return [int(pixel) for count, pixel in runs for _ in range(max(int(count), 1))]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 600)), max_size=6))
def test_runs_give_their_values_and_are_as_long_as_the_game_allows(parts):
    values = np.array([value for value, count in parts for _ in range(count)] or [7], np.uint16)
    own_runs = ogf_image.runs_of(values)
    assert expanded(own_runs) == values.tolist()
    assert {int(count) for count in own_runs["count"]} <= {0, *range(2, 251)}
    full = own_runs["count"] == 250
    assert all(full[n] or own_runs["pixel"][n] != own_runs["pixel"][n + 1] for n in range(len(own_runs) - 1))


@pytest.mark.parametrize(
    ("kind", "steps"), [(121, (15, 15, 15, 15)), (122, (31, 31, 31, 1)), (123, (31, 63, 31, 1)), (127, (31, 63, 31, 1))]
)
def test_painted_pixels_get_the_nearest_values_and_no_other_changes(kind, steps):
    random = np.random.default_rng(kind)
    size = 2 * 4 * 4 if kind == 127 else 2 * (16 + 4 + 1)
    plain = [int(value) | 0x8000 for value in random.integers(0, 1 << 16, size // 2)]
    data = image(kind, 4, 4, runs(*((0, value) for value in plain)), levels=3)
    (before,) = read(data)[0].frames
    pixels = ogf_image.decode_image(before)
    assert ogf_image.encode(pixels, "x", before) is before
    pixels[1, 2] = 200, 100, 30, 255
    after = ogf_image.encode(pixels, "x", before)
    wanted = np.rint(np.array((200, 100, 30, 255)) / 255 * steps) / steps * 255
    assert np.abs(ogf_image.decode_image(after)[1, 2] - wanted).max() <= 1
    assert (after.name, after.type, len(after.levels)) == (before.name, kind, 1 if kind == 127 else 3)
    for level in range(len(after.levels)):
        old, new = expanded(before.levels[level]), expanded(after.levels[level])
        side = 4 >> level
        assert {n for n in range(side * side) if old[n] != new[n]} <= {(1 >> level) * side + (2 >> level)}
    assert expanded(before.levels[0]) != expanded(after.levels[0])
    assert ogf_image.encode(pixels, "x", after) is after


def test_green_is_not_taken_for_transparent():
    base = read(image(123, 1, 1, runs((0, 0))))[0].frames[0]
    green = ogf_image.encode(np.array([[[0, 255, 0, 255]]], np.uint8), "x", base)
    assert ogf_image.decode_image(green)[0, 0].tolist()[3] == 255
    clear = ogf_image.encode(np.array([[[9, 9, 9, 0]]], np.uint8), "x", base)
    assert expanded(clear.levels[0]) == [0x07E0]


@pytest.mark.parametrize(("alpha", "kind", "bits"), [(255, 122, 1), (0, 122, 1), (100, 121, 4)])
def test_a_new_image_has_the_levels_of_the_tools(alpha, kind, bits):
    pixels = np.full((64, 128, 4), (255, 0, 0, 255), np.uint8)
    pixels[:, :64, 3] = alpha
    created = ogf_image.encode(pixels, "hull.ogf")
    data = ogf_image.write(ogf_image.OgfImage([created]))
    document, report = read(data)
    assert not report
    (obj,) = document.frames
    assert (obj.type, obj.label, len(obj.levels)) == (kind, "hull.ogf", 5)
    actual = ogf_image.decode_image(obj)
    assert actual[0, 127].tolist() == [255, 0, 0, 255]
    assert abs(int(actual[0, 0, 3]) - alpha) <= 128 // (1 << bits)
    assert ogf_image.decode_image(obj, 4).shape == (4, 8, 4)


def test_names_and_sizes_that_do_not_fit_are_refused():
    square = np.zeros((4, 4, 4), np.uint8)
    with pytest.raises(WriteError, match="34 fit"):
        ogf_image.encode(square, "x" * 35)
    with pytest.raises(WriteError, match="sides of a texture"):
        ogf_image.encode(np.zeros((1, 2000, 4), np.uint8), "x")
