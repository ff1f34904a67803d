"""LZO1X and LZSS: instructions byte by byte, real streams against another reader, damage, bounds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core.binary import Reader
from addon.core.compression import lzo, lzss
from addon.core.errors import ReadError
from addon.core.report import Report
from addon.formats.arma import paa, rtm
from tests.real_files import corpus_files

END = b"\x11\0\0"


def unpack(stream, size, method=lzo):
    reader = Reader(stream, "test.rtm")
    plain, used = method.unpack(reader, size)
    assert reader.position == len(used)
    return plain, reader.remaining


def literals(data):
    """A long run: 0, a zero for every further 255, the rest; 18 are in the instruction itself."""
    return bytes(1 + (len(data) - 19) // 255) + bytes(((len(data) - 19) % 255 + 1,)) + data


ROUND = bytes(range(250)) * 8 + bytes(49)
FAR = b"Q" + bytes(16499)

# First byte 17 + n: n literals. Then one instruction of each kind, and what it gives.
INSTRUCTIONS = {
    "literals only": (bytes((17 + 4,)) + b"abcd" + END, b"abcd"),
    "one literal, then a near match of two": (bytes((18,)) + b"a" + bytes((0, 0)) + END, b"aaa"),
    "many literals, then a match of three 2049 back": (literals(ROUND) + bytes((0, 0)) + END, ROUND + b"\0\1\2"),
    "a match of 3 to 8, three bits of distance": (
        bytes((21,)) + b"abcd" + bytes(((6 - 1) << 5 | 3 << 2, 0)) + END,
        b"abcdabcdab",
    ),
    "with two literals behind": (bytes((21,)) + b"abcd" + bytes((2 << 5 | 1 << 2 | 2, 0)) + b"xy" + END, b"abcdcdcxy"),
    "a match of up to 33": (bytes((21,)) + b"abcd" + bytes((32 | 7, 3 << 2, 0)) + END, b"abcdabcdabcda"),
    "a longer one": (bytes((18,)) + b"z" + bytes((32, 0, 10, 0, 0)) + END, b"z" * (1 + 2 + 255 + 31 + 10)),
    "one from more than 16 KiB back": (
        literals(FAR) + bytes((16 | 1, 116 << 2 & 255, 116 >> 6)) + END,
        FAR + b"Q\0\0",
    ),
    "literals in the middle": (
        bytes((21,)) + b"abcd" + bytes((2 << 5 | 0 << 2, 0)) + bytes((1,)) + b"wxyz" + END,
        b"abcddddwxyz",
    ),
}


@pytest.mark.parametrize(("stream", "plain"), INSTRUCTIONS.values(), ids=INSTRUCTIONS)
def test_every_instruction(stream, plain):
    assert unpack(stream + b"next", len(plain)) == (plain, 4)


@pytest.mark.parametrize("method", [lzo, lzss])
@given(plain=st.binary(max_size=3000))
def test_stored_streams_unpack_to_what_was_stored(method, plain):
    stream = method.stored(plain)
    assert unpack(stream + b"next", len(plain), method) == (plain, 4)


def test_stored_streams_of_every_length():
    for size in range(600):
        plain = bytes(number * 7 & 255 for number in range(size))
        assert unpack(lzo.stored(plain), size) == (plain, 0)


WORDS = st.integers(0, 3).map(lambda number: bytes((number, 0, 255, number)))
"""Few different words, so that many repeat."""


@given(
    parts=st.lists(st.tuples(WORDS, st.sampled_from((1, 2, 3, 5, 9, 70, 600))) | st.binary(max_size=9), max_size=30),
    between=st.sampled_from((0, 500, 1000, 5000, 13000)),
)
@pytest.mark.parametrize("pack", [lzo.pack, lzo.pack_bytes])
def test_packed_streams_unpack_to_what_was_packed(pack, parts, between):
    blocks = [part if isinstance(part, bytes) else part[0] * part[1] for part in parts]
    plain = b"".join(blocks) + bytes(f"{'':{between}}", "ascii") + b"".join(reversed(blocks))
    stream = pack(plain)
    assert unpack(stream + b"next", len(plain)) == (plain, 4)
    assert len(stream) <= len(lzo.stored(plain))
    judge = pytest.importorskip("armaio.compression")
    assert judge.lzo1x_decompress(stream, len(plain)) == (len(stream), plain)


def test_matches_of_every_distance_and_length():
    rare = np.arange(20000, dtype="<u4") * 2654435761
    for distance in (2, 511, 512, 513, 4095, 4096, 4097, 8192, 12287, 12288):
        for length in (1, 2, 3, 8, 9, 70, 600):
            plain = rare[:distance].tobytes() + rare[: min(length, distance)].tobytes() + b"end"
            stream = lzo.pack(plain)
            for packed in (stream, lzo.pack_bytes(plain)):
                assert unpack(packed, len(plain)) == (plain, 0), (distance, length)
            if length > 2 and distance > length and distance < 12288:
                assert len(stream) < 4 * distance * 1.01 + 16 + length / 60, (distance, length)


@pytest.mark.parametrize("file", corpus_files("paa/dxt1_lzo_track_co.paa", "paa/dxt5_flag_ffffff01.paa"))
def test_levels_of_real_textures_are_packed_nearly_as_small_as_by_the_vendor(file):
    document = paa.read(file.read_bytes(), file.name, Report())
    for level in document.levels:
        if level.is_lzo:
            plain = paa.unpack(document, level)
            stream = lzo.pack(plain)
            assert unpack(stream, len(plain)) == (plain, 0)
            assert len(stream) < 1.4 * len(level.data)


@pytest.mark.parametrize("file", corpus_files("rtm_binarised/*.rtm"))
def test_real_streams_give_what_another_reader_gives(file):
    judge = pytest.importorskip("armaio.compression")
    document = rtm.read(file.read_bytes(), file.name, Report())
    for block, row in zip(document.blocks, document.transforms, strict=True):
        if len(block):
            used, plain = judge.lzo1x_decompress(bytes(block), row.nbytes)
            assert used == len(block)
            assert plain == row.tobytes()
            assert unpack(bytes(block), row.nbytes) == (plain, 0)
            packed = lzo.pack_bytes(plain)
            assert judge.lzo1x_decompress(packed, row.nbytes) == (len(packed), plain)
            assert len(packed) < 1.03 * len(block)


@pytest.mark.parametrize("stream", [stream for stream, _ in INSTRUCTIONS.values()], ids=INSTRUCTIONS)
def test_cut_and_lying_streams_are_refused(stream):
    plain = INSTRUCTIONS[next(name for name, (known, _) in INSTRUCTIONS.items() if known == stream)][1]
    for size in {*range(min(len(stream), 40)), len(stream) - 1}:
        with pytest.raises(ReadError):
            unpack(stream[:size], len(plain))
    for size in (len(plain) - 1, len(plain) + 1):
        with pytest.raises(ReadError):
            unpack(stream, size)


def test_a_copy_from_before_the_beginning_is_refused():
    with pytest.raises(ReadError, match="before its beginning"):
        unpack(bytes((18,)) + b"a" + bytes((2 << 5 | 1 << 2, 0)) + END, 4)


def test_a_bomb_is_refused_before_it_is_made():
    with pytest.raises(ReadError, match="bytes remain in the file"):
        unpack(bytes((18, 0, 32)) + bytes(100) + END, 1 << 30)
    with pytest.raises(ReadError, match="gives more"):
        unpack(bytes((18, 97, 32)) + bytes(100) + bytes((200, 0, 0)) + END, 1000)


@given(st.binary(max_size=200), st.integers(0, 5000))
def test_any_bytes_are_unpacked_or_refused(stream, size):
    for method in (lzo, lzss):
        try:
            plain, _ = unpack(stream, size, method)
        except ReadError:
            continue
        assert len(plain) == size


# LZSS: flags, lowest bit first; a match is the distance's low byte, its high bits and the length - 3.
LZSS = {
    "literals": (bytes((0b111,)) + b"abc", b"abc"),
    "a match": (bytes((0b0111,)) + b"abc" + bytes((3, 0x01)), b"abcabca"),
    "one that runs into itself": (bytes((0b01,)) + b"a" + bytes((1, 0x0F)), b"a" * 19),
    "spaces from before the beginning": (bytes((0,)) + bytes((0xFF, 0xF2)), b"     "),
}


@pytest.mark.parametrize(("stream", "plain"), LZSS.values(), ids=LZSS)
def test_every_kind_of_lzss(stream, plain):
    total = sum(plain).to_bytes(4, "little")
    assert unpack(stream + total + b"next", len(plain), lzss) == (plain, 4)
    with pytest.raises(ReadError, match="sum of its bytes"):
        unpack(stream + b"\xff\xff\0\0", len(plain), lzss)


def test_lzss_sums_may_be_signed():
    plain = b"\xff\x80"
    assert unpack(b"\3" + plain + (-1 - 128).to_bytes(4, "little", signed=True), 2, lzss) == (plain, 0)


@pytest.mark.parametrize("file", corpus_files("rtm_binarised/armaio_v5_lzo.rtm"))
def test_real_streams_unpack_to_their_transforms(file):
    document = rtm.read(file.read_bytes(), file.name, Report())
    blocks = [(bytes(block), row.nbytes) for block, row in zip(document.blocks, document.transforms, strict=True)]
    assert sum(len(unpack(block, size)[0]) for block, size in blocks if block) == 124 * 924
