"""`.paa`: bytes, colors against vectors and a second decoder, swizzles, new and edited textures."""

import hashlib
import json
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from addon.core import png
from addon.core.errors import ReadError, WriteError
from addon.core.report import Report
from addon.core.walk import Walk
from addon.formats import detect
from addon.formats.arma import dxt, paa
from addon.formats.arma.paa import Alpha, Coding, TextureType, pictures
from tests.formats.reading import reading
from tests.real_files import CORPUS, SAMPLES, VECTORS, corpus_files

read = reading(paa, "test.paa")


def texture(kind, *levels, tags=b"", palette=b"", tail=b"\0\0"):
    colours = struct.pack("<H", len(palette) // 3) + palette
    stored = b"".join(
        struct.pack("<HH", width, height) + len(body).to_bytes(3, "little") + body for width, height, body in levels
    )
    return (b"" if kind is None else struct.pack("<H", kind)) + tags + colours + stored + bytes(4) + tail


def tag(name, body):
    return b"GGAT" + name[::-1].encode() + struct.pack("<I", len(body)) + body


# Bytes ---------------------------------------------------------------------------------------------------------------


def test_a_texture_is_known_to_the_last_byte():
    data = bytes.fromhex(
        "01ff"  # DXT1
        "47474154 4741 4c46 04000000 02000000"  # GGAT, FLAG reversed, 4 bytes: clipped
        "0000"  # no palette
        "0400 0400 080000 00f8 1f00 e4e4e4e4"  # 4 x 4 texels: red, blue and two colors between, in each row
        "0000 0000"  # the end
        "0000"  # of the vendor's tools
    )
    document, report = read(data)
    assert not report
    assert (document.kind, document.alpha, len(document.levels)) == (TextureType.DXT1, Alpha.CLIP, 1)
    assert paa.write(document) == paa.recompose(document) == data
    assert paa.raw_size(document) == 0
    rows = paa.decode(document, document.levels[0])
    assert rows[0].tolist() == [[255, 0, 0, 255], [0, 0, 255, 255], [170, 0, 85, 255], [85, 0, 170, 255]]
    assert (rows == rows[0]).all()
    assert list(Walk(paa.VIEWS).differences(document, document)) == []
    assert list(Walk(paa.VIEWS).dump(document)) == [
        "type 65281", "tag 'FLAG'", "  data 02000000", "palette count 0 x 3", "level count 1", "level 0", "  width 4",
        "  height 4", "  data 00f81f00e4e4e4e4", "  is lzo False", "  is marked False", "tail 0000",
    ]  # fmt: skip
    assert detect("a.paa", data[:64]).module is paa
    assert detect("nameless", data[:64]).module is paa


def test_unknown_tags_and_bytes_after_the_end_are_kept_and_counted():
    data = texture(0xFF01, (4, 4, bytes(8)), tags=tag("ABCD", b"12345"), tail=b"\0\0extra")
    document, report = read(data)
    assert "7 extra bytes" in report.lines()[0]
    assert paa.write(document) == data
    assert paa.raw_size(document) == 5 + 7


@pytest.mark.skipif(VECTORS is None or CORPUS is None, reason="MOTIONBRIDGE_VECTORS or MOTIONBRIDGE_CORPUS is not set")
def test_colours_are_those_of_the_vectors():
    checked = 0
    for name, wanted in json.loads((VECTORS / "paa" / "paa_vectors.json").read_bytes()).items():
        document, _ = read((CORPUS / name).read_bytes(), name)
        for level, numbers in zip(document.levels, wanted["levels"], strict=True):
            assert paa.packing(document, level) == numbers["packing"], name
            assert hashlib.sha256(paa.unpack(document, level)).hexdigest() == numbers["raw_sha256"], name
            assert hashlib.sha256(paa.decode(document, level).tobytes()).hexdigest() == numbers["rgba_sha256"], name
            checked += 1
    assert checked > 100


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(90), "this is not a texture"),
        (texture(0xFF01, (4, 4, bytes(8)), tail=b"")[:-3], "the width of a level"),
        (texture(0xFF01, (4, 4, bytes(8)), tail=b"")[:-5], "the level of 4 x 4"),
        (b"\x01\xffGGATCGVA\xff\xff\xff\xff", "the tag AVGC"),
    ],
)
def test_broken_files_are_refused_with_their_offset(data, problem):
    with pytest.raises(ReadError, match=problem) as refusal:
        read(data)
    assert refusal.value.remedy


@pytest.mark.parametrize(
    ("kind", "level", "problem"),
    [
        (0xFF01, (4, 4, bytes(7)), "7 bytes, 8 are expected"),
        (0xFF01, (0x8004, 4, bytes(8)), "damaged"),
        (0xFF01, (8192, 4, bytes(8)), "sides up to 4096"),
        (
            0x4444,
            (4, 4, b"\xff" + bytes(8) + b"\xff" + bytes(8) + b"\xff" + bytes(16) + b"\7\0\0\0"),
            "sum of its bytes",
        ),
        (None, (4, 4, b"\x8f\x07"), "color 7, the palette has 1 color"),
        (None, (64, 64, b"\xff\x00"), "ends before its 4096 bytes"),
    ],
)
def test_broken_levels_are_refused_when_their_colours_are_needed(kind, level, problem):
    data = texture(kind, level, palette=b"abc" if kind is None else b"")
    document, _ = read(data)
    assert paa.write(document) == data
    with pytest.raises(ReadError, match=problem):
        paa.picture(document)


def test_what_the_game_refuses_is_a_problem():
    document, _ = read(texture(0x8888, (5000, 1, bytes(4))))
    assert list(paa.problems(document)) == ["the texture is 5000 x 1, the game supports sides of 2 to 4096"]
    assert list(paa.problems(read(texture(0xFF01))[0])) == ["the texture has no texels"]


@pytest.mark.parametrize(("flag", "alpha"), [(b"", 0), (b"\1\0\0\0", 1), (b"\2\0\0\0", 2), (b"\1\xff\xff\xff", 1)])
def test_the_lowest_byte_of_the_flag_is_the_alpha_mode(flag, alpha):
    tags = tag("FLAG", flag) if flag else b""
    assert read(texture(0xFF05, (4, 4, bytes(16)), tags=tags))[0].alpha == alpha


def test_transparent_colours_of_a_palette_are_shown_as_the_mean_colour():
    palette = bytes((255, 0, 255, 255, 255, 0, 1, 2, 3))  # blue, green, red
    tags = tag("AVGC", bytes((30, 20, 10, 255)))
    document, _ = read(texture(None, (3, 1, bytes((2, 0, 1, 2))), tags=tags, palette=palette))
    assert paa.picture(document).tolist() == [[[10, 20, 30, 0], [10, 20, 30, 0], [3, 2, 1, 255]]]


# Blocks --------------------------------------------------------------------------------------------------------------


def slow_texel(block, version, position):
    """The color of a texel by the format's description, one number at a time."""
    first, second, indices = struct.unpack("<HHI", block[-8:])
    wide = [
        [
            (value >> 11) * 8 + (value >> 13),
            (value >> 5 & 63) * 4 + (value >> 9 & 3),
            (value & 31) * 8 + (value >> 2 & 7),
        ]
        for value in (first, second)
    ]
    index, alpha = indices >> 2 * position & 3, 255
    if index < 2:
        colour = wide[index]
    elif version == 1 and first <= second:
        colour = [(a + b) // 2 for a, b in zip(*wide, strict=True)] if index == 2 else [0, 0, 0]
        alpha = 255 if index == 2 else 0
    else:
        near, far = wide if index == 2 else wide[::-1]
        colour = [(2 * a + b + 1) // 3 for a, b in zip(near, far, strict=True)]
    if version in (2, 3):
        alpha = (block[position // 2] >> 4 * (position % 2) & 15) * 17
    elif version > 3:
        low, high, code = block[0], block[1], int.from_bytes(block[2:8], "little") >> 3 * position & 7
        if code < 2:
            alpha = (low, high)[code]
        elif low > high:
            alpha = ((8 - code) * low + (code - 1) * high + 3) // 7
        else:
            alpha = 0 if code == 6 else 255 if code == 7 else ((6 - code) * low + (code - 1) * high + 2) // 5
    if version in (2, 4):
        colour = [min((255 * c + alpha // 2) // alpha, 255) if alpha else 0 for c in colour]
    return [*colour, alpha]


@settings(max_examples=60, deadline=None)
@given(st.sampled_from((1, 2, 3, 4, 5)), st.binary(min_size=64, max_size=64), st.booleans())
def test_blocks_have_the_colours_of_the_description(version, data, equal):
    size = dxt.block_size(version)
    blocks = [data[start : start + size] for start in range(0, 4 * size, size)]
    if equal:
        blocks = [block[:-8] + block[-8:-6] * 2 + block[-4:] for block in blocks]
    image = dxt.decode(b"".join(blocks), 7, 6, version)
    for y in range(6):
        for x in range(7):
            block = blocks[y // 4 * 2 + x // 4]
            assert image[y, x].tolist() == slow_texel(block, version, y % 4 * 4 + x % 4)


@settings(max_examples=40, deadline=None)
@given(st.binary(min_size=64, max_size=64), st.sampled_from((1, 5)))
def test_blocks_of_two_colours_are_encoded_without_loss(data, version):
    colours = dxt.expand_565(np.frombuffer(data[:4], "<u2").astype(np.int32)).astype(np.uint8)
    block = np.full((1, 16, 4), 255, np.uint8)
    block[0, :, :3] = colours[np.frombuffer(data[4:20], np.uint8) % 2]
    if version == 5:
        block[0, :, 3] = np.where(np.frombuffer(data[20:36], np.uint8) % 2, data[36], data[37])
    encoded = dxt.encode(block, version, see_through=False)
    assert dxt.blocks_of(dxt.decode(encoded.tobytes(), 4, 4, version)).tolist() == block.tolist()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from((1, 5)))
def test_no_other_pair_of_a_blocks_own_colours_is_much_better(seed, version):
    random = np.random.default_rng(seed)
    block = np.full((1, 16, 4), 255, np.uint8)
    block[0, :, :3] = np.clip(random.integers(0, 256, 3) + random.normal(0, random.uniform(1, 40), (16, 3)), 0, 255)
    blocks = dxt.blocks_of(dxt.decode(dxt.encode(block, version, see_through=False).tobytes(), 4, 4, version))
    ours = ((blocks[..., :3].astype(float) - block[..., :3]) ** 2).sum()
    texels = block[0, :, :3].astype(float)
    shares = np.array([1, 0, 2 / 3, 1 / 3])[:, None]
    best = min(
        ((texels[:, None] - (texels[a] * shares + texels[b] * (1 - shares))) ** 2).sum(axis=2).min(axis=1).sum()
        for a in range(16)
        for b in range(a)
    )
    rounding = 16 * 3 * 4.2**2  # a color with 5 bits misses by up to 4.1
    assert ours <= 1.35 * best + rounding


def test_hidden_texels_do_not_change_the_colours_of_the_others():
    block = np.zeros((1, 16, 4), np.uint8)
    block[0, :8] = 255, 0, 0, 255
    block[0, 8:] = 0, 255, 0, 0
    for version in (1, 5):
        blocks = dxt.blocks_of(dxt.decode(dxt.encode(block, version, see_through=True).tobytes(), 4, 4, version))
        assert blocks[0, :8].tolist() == [[255, 0, 0, 255]] * 8
        assert (blocks[0, 8:, 3] == 0).all()


# Pictures ------------------------------------------------------------------------------------------------------------


def gradient(width=16, height=8):
    y, x = np.mgrid[0:height, 0:width]
    across, down = 255 * x // (width - 1), 255 * y // (height - 1)
    return np.stack([across, down, 255 - across, np.full_like(x, 255)], axis=-1).astype(np.uint8)


def test_a_normal_map_has_its_channels_back():
    pixels = np.full((4, 4, 4), (90, 160, 250, 255), np.uint8)
    coding = paa.usual_coding("wall_nohq", pixels)
    assert coding == Coding(TextureType.DXT5, swizzle=bytes((5, 4, 2, 3)))
    document, _ = read(paa.write(paa.encode(pixels, coding)))
    (level,) = document.levels
    stored = paa.decode(document, level)[0, 0].astype(int)
    # Stored alpha is the inverse of x, stored red the inverse of the file's own alpha.
    assert (stored[0], stored[3]) == (0, 255 - 90)
    assert np.abs(paa.picture(document)[0, 0].astype(int) - (90, 160, 250, 255)).max() <= 4


@given(st.sampled_from(("a_nohq", "a_smdi", "a_as", "a_sky", "a_co")), st.binary(min_size=4, max_size=4))
def test_swizzled_channels_come_back_unless_they_are_constant(name, colour):
    pixels = np.full((2, 2, 4), tuple(colour), np.uint8)
    codes = paa.swizzle_of(name)
    document = paa.encode(pixels, Coding(TextureType.ARGB8888, swizzle=codes))
    actual = paa.picture(read(paa.write(document))[0])[0, 0]
    for channel, code in enumerate((1, 2, 3, 0)):  # red, green, blue, alpha
        if not codes or code in codes or code + 4 in codes:
            assert actual[channel] == colour[channel]


@pytest.mark.parametrize(
    ("kind", "steps"),
    [("ARGB8888", (255, 255, 255, 255)), ("ARGB4444", (15,) * 4), ("ARGB1555", (31, 31, 31, 1))],
)
def test_uncompressed_types_store_the_nearest_values(kind, steps):
    pixels = np.random.default_rng(3).integers(0, 256, (5, 6, 4)).astype(np.uint8)
    document, _ = read(paa.write(paa.encode(pixels, Coding(TextureType[kind], Alpha.BLEND, levels=False))))
    nearest = np.rint(pixels / 255 * steps) / steps * 255
    assert np.abs(paa.picture(document) - nearest).max() <= 1


def test_gray_and_alpha():
    document = paa.encode(np.full((2, 2, 4), (10, 10, 10, 77), np.uint8), Coding(TextureType.AI88, Alpha.BLEND))
    assert paa.picture(document)[1, 1].tolist() == [10, 10, 10, 77]


def test_a_new_texture_has_the_levels_tags_and_offsets_of_the_tools():
    pixels = gradient(64, 16)
    data = paa.write(paa.encode(pixels, paa.usual_coding("wall_co", pixels)))
    document, report = read(data)
    assert not report
    assert [(level.width, level.height) for level in document.levels] == [(64, 16), (32, 8), (16, 4)]
    assert [own_tag.name for own_tag in document.tags] == ["AVGC", "MAXC", "OFFS"]
    offsets = struct.unpack("<16I", document.tag("OFFS"))
    assert [struct.unpack_from("<HH", data, at) for at in offsets[:3]] == [(64, 16), (32, 8), (16, 4)]
    assert not any(offsets[3:])
    assert data.endswith(bytes(6))
    error = np.abs(paa.picture(document).astype(int) - pixels)
    assert error.max() <= 48
    assert error.mean() <= 6


@pytest.mark.parametrize(
    ("name", "alpha", "kind", "mode"),
    [
        ("a_co", (255, 255), TextureType.DXT1, Alpha.OPAQUE),
        ("a_co", (0, 255), TextureType.DXT1, Alpha.CLIP),
        ("a_ca", (0, 255), TextureType.DXT5, Alpha.BLEND),
        ("a_co", (0, 128), TextureType.DXT5, Alpha.BLEND),
        ("a_smdi", (255, 255), TextureType.DXT1, Alpha.OPAQUE),
    ],
)
def test_the_usual_type_follows_from_name_and_alpha(name, alpha, kind, mode):
    pixels = gradient()
    pixels[:, ::2, 3], pixels[:, 1::2, 3] = alpha
    coding = paa.usual_coding(name, pixels)
    assert (coding.kind, coding.alpha) == (kind, mode)
    actual = paa.picture(paa.encode(pixels, coding))
    assert actual[..., 3].tolist() == pixels[..., 3].tolist()


def test_an_opaque_texture_has_no_transparent_texel():
    pixels = gradient()
    pixels[..., 3] = 0
    actual = paa.picture(paa.encode(pixels, Coding(TextureType.DXT1)))
    assert (actual[..., 3] == 255).all()


@pytest.mark.parametrize(
    ("size", "kind", "problem"),
    [
        ((24, 16), "DXT1", "powers of two"),
        ((2, 2), "DXT5", "powers of two"),
        ((1, 16), "ARGB8888", "sides of 2 to 4096"),
        ((8192, 2), "ARGB8888", "sides of 2 to 4096"),
        ((4096, 1900), "ARGB4444", "too large for ARGB4444"),  # as a packed level
    ],
)
def test_sizes_that_do_not_fit_are_refused_with_a_remedy(size, kind, problem):
    pixels = np.broadcast_to(np.zeros(4, np.uint8), (size[1], size[0], 4))
    with pytest.raises(WriteError, match=problem) as refusal:
        paa.encode(pixels, Coding(TextureType[kind]))
    assert "Scale the image" in refusal.value.remedy


def test_levels_too_large_for_the_file_are_packed_and_refused_if_that_does_not_help(monkeypatch):
    """A level has less than 16 MiB, so that one of 4096 x 4096 in DXT5 must be packed; the limit is lower here."""
    monkeypatch.setattr(pictures, "_LARGEST_LEVEL", 128 * 128 - 1)
    pixels = np.broadcast_to(np.array([200, 100, 50, 128], np.uint8), (128, 128, 4))
    document, _ = read(paa.write(paa.encode(pixels, Coding(TextureType.DXT5, Alpha.BLEND))))
    assert [(level.width, level.is_lzo) for level in document.levels[:2]] == [(128, True), (64, False)]
    plain = np.frombuffer(paa.unpack(document, document.levels[0]), np.uint8).reshape(-1, 16)
    assert (plain == plain[0]).all()
    noise = np.random.default_rng(1).integers(0, 256, (128, 128, 4), np.uint8)
    with pytest.raises(WriteError, match="128 x 128, which is too large for DXT5") as refusal:
        paa.encode(noise, Coding(TextureType.DXT5))
    assert "Scale the image" in refusal.value.remedy


@pytest.mark.parametrize("path", corpus_files("paa/dxt1_lzo_track_co.paa", "paa/dxt5_flag_ffffff01.paa"))
def test_edited_levels_are_packed_if_they_were(path):
    document, _ = read(path.read_bytes())
    pixels = paa.picture(document)
    pixels[:8, :8] = 255 - pixels[:8, :8]
    edited, _ = read(paa.write(paa.encode(pixels, paa.coding_of(document), document)))
    assert [level.is_lzo for level in edited.levels] == [level.is_lzo for level in document.levels]
    smaller, _ = read(paa.write(paa.encode(pixels[::2, ::2], paa.coding_of(document), document)))
    assert [level.is_lzo for level in smaller.levels] == [level.width >= 256 for level in smaller.levels]
    assert smaller.levels[0].is_lzo or smaller.levels[0].width < 256


# Edits ---------------------------------------------------------------------------------------------------------------


def blocks_that_differ(first, second):
    return [
        sum(a != b for a, b in zip(*(chunks(paa.unpack(doc, level)) for doc, level in pair), strict=True))
        for pair in zip(((first, x) for x in first.levels), ((second, x) for x in second.levels), strict=True)
    ]


def chunks(data, size=8):
    return [data[start : start + size] for start in range(0, len(data), size)]


@pytest.mark.parametrize("path", corpus_files("paa/dxt1_lzo_track_co.paa", "paa/dxt1_mc_swiz.paa"))
def test_an_edited_texel_changes_its_block_in_each_level_and_nothing_else(path):
    document, _ = read(path.read_bytes())
    pixels = paa.picture(document)
    pixels[130, 261, :3] ^= 0x60
    edited, _ = read(paa.write(paa.encode(pixels, paa.coding_of(document), document)))
    assert [(x.width, x.height) for x in edited.levels] == [(x.width, x.height) for x in document.levels]
    result = blocks_that_differ(document, edited)
    assert result[0] == 1
    assert max(result) == 1
    assert [tag.name for tag in edited.tags] == [tag.name for tag in document.tags]
    actual, before = paa.picture(edited), paa.picture(document)
    ys, xs = np.nonzero((actual != before).any(axis=2))
    assert {(int(y) // 4, int(x) // 4) for y, x in zip(ys, xs, strict=True)} == {(130 // 4, 261 // 4)}
    assert np.abs(actual[130, 261].astype(int) - pixels[130, 261]).max() <= 24


def test_an_edited_texel_of_an_uncompressed_texture_changes_its_own_bytes():
    data = (SAMPLES / "arma" / "glass_ca.paa").read_bytes()
    document, _ = read(data)
    pixels = paa.picture(document)
    pixels[2, 3] = 255, 0, 0, 255
    edited = paa.write(paa.encode(pixels, paa.coding_of(document), document))
    changed = [at for at, (old, new) in enumerate(zip(data, edited, strict=True)) if old != new]
    (start,) = (at for at in range(len(data)) if data[at : at + 4] == struct.pack("<HH", 6, 4))
    texel = 2 * (2 * 6 + 3)
    position = start + 7 + texel + texel // 8 + 1  # a byte of flags before each 8 bytes
    sums = range(start + 7 + 54, start + 7 + 58)
    mean = range(data.index(b"CGVA") + 8, data.index(b"CGVA") + 12)
    assert {position, position + 1} <= set(changed) <= {position, position + 1, *sums, *mean}


MEAN_AND_UNKNOWN = b"GGATCGVA\4\0\0\0\0\0\0\0" + b"GGATXXXX\4\0\0\0kept"


@pytest.mark.parametrize("start", [b"DD", b"DD" + MEAN_AND_UNKNOWN, MEAN_AND_UNKNOWN], ids=["type", "both", "tags"])
def test_an_edit_keeps_a_missing_type_missing_tags_colours_and_bytes_after_the_end(start):
    head = start + (b"\1\0abc" if start[:2] == b"DD" else b"\0\0")  # with a color, or none
    level = struct.pack("<HH", 2, 2) + (8 + 1 + 4).to_bytes(3, "little") + b"\xff" + bytes(8) + bytes(4)
    data = head + level + bytes(4) + b"tail"
    document, _ = read(data)
    assert paa.write(document) == data
    pixels = paa.picture(document)
    pixels[0, 0] = 255
    edited = paa.write(paa.encode(pixels, paa.coding_of(document), document))
    changed = [at for at, (old, new) in enumerate(zip(data, edited, strict=True)) if old != new]
    texel, total = len(head) + 7 + 1, len(head) + 7 + 9
    mean = range(data.index(b"CGVA") + 8, data.index(b"CGVA") + 12) if b"CGVA" in data else range(0)
    assert {texel, texel + 1, total} <= set(changed) <= {texel, texel + 1, *range(total, total + 4), *mean}


def test_an_edit_is_written_once():
    random = np.random.default_rng(5)
    pixels = np.full((32, 32, 4), 255, np.uint8)
    pixels[..., :3] = random.integers(0, 256, (32, 32, 3))
    first = paa.encode(pixels, paa.usual_coding("a_co", pixels))
    painted = paa.picture(first)
    painted[9:12, 9:14, :3] = random.integers(0, 256, (3, 5, 3))
    coding = paa.coding_of(first)
    second = paa.encode(painted, coding, first)
    assert second is not first
    # The blocks only approximate the painted pixels: that is no further edit.
    assert paa.encode(painted, coding, second) is second


def test_textures_with_irregular_levels_are_written_again():
    document, _ = read(texture(0x8888, (4, 4, bytes(64)), (4, 4, bytes(64))))
    pixels = paa.picture(document)
    assert paa.encode(pixels, paa.coding_of(document), document) is document
    pixels[0, 0] = 1
    assert [level.width for level in paa.encode(pixels, paa.coding_of(document), document).levels] == [4, 2, 1]


def test_another_type_or_size_is_written_again():
    data = (SAMPLES / "arma" / "bricks_co.paa").read_bytes()
    document, _ = read(data)
    pixels = paa.picture(document)
    wider = paa.encode(np.repeat(pixels, 2, axis=1), paa.coding_of(document), document)
    assert (wider.levels[0].width, wider.levels[0].height) == (32, 16)
    assert paa.encode(pixels, Coding(TextureType.DXT5), document).kind is TextureType.DXT5


@pytest.mark.parametrize(
    "path",
    corpus_files(
        "paa/argb1555_252x25.paa", "paa/dxt1_flag2_2048_led.paa", "paa/dxt1_lzo_track_co.paa",
        "paa/dxt5_one_level_offs_126.paa", "paa/dxt5_nohq_flag.paa", "paa/dxt1_smdi_swiz.paa",
    ),
)  # fmt: skip
@pytest.mark.deep
def test_the_mean_colour_is_that_of_the_vendors_tools(path):
    document, _ = read(path.read_bytes())
    created = paa.encode(paa.picture(document), paa.coding_of(document))
    difference = np.abs(np.subtract(list(created.tag("AVGC")), list(document.tag("AVGC")), dtype=int))
    assert difference.max() <= 1


@pytest.mark.parametrize(("side", "share"), [(16, 0), (256, 0), (512, 0.25)])
def test_the_size_of_a_picture_as_png_is_known_before_it_is_made(side, share):
    blocks = np.random.default_rng(5).integers(0, 256, (side // 16, side // 16, 4), np.uint8)
    pixels = blocks.repeat(16, axis=0).repeat(16, axis=1) // 8 * 8
    pixels += np.random.default_rng(6).integers(0, 8, pixels.shape, np.uint8)
    document = paa.encode(pixels, paa.usual_coding("wall_co", pixels))
    (picture,) = paa.as_png(document, Report())
    assert paa.size_as_png(document) == pytest.approx(len(picture), rel=share)
    assert paa.size_as_png(document, 16) == len(png.encode(paa.picture(document, 16)))
