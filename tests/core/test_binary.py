"""Reading is bounds-checked and copies nothing; writing gives the same bytes, whatever the bits mean."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core.binary import Reader, Writer, as_in_file
from addon.core.errors import ReadError, WriteError
from tests.work import lines_run, memory_peak

FIELDS = {
    "u8": ("<B", st.integers(0, 0xFF)),
    "u16": ("<H", st.integers(0, 0xFFFF)),
    "u32": ("<I", st.integers(0, 0xFFFF_FFFF)),
    "i32": ("<i", st.integers(-0x8000_0000, 0x7FFF_FFFF)),
}


@given(st.lists(st.sampled_from(sorted(FIELDS)).flatmap(lambda name: st.tuples(st.just(name), FIELDS[name][1]))))
def test_whole_numbers_lie_as_struct_packs_them_and_come_back(values):
    writer = Writer()
    for name, value in values:
        getattr(writer, name)(value)
    data = b"".join(struct.pack(FIELDS[name][0], value) for name, value in values)
    assert writer.getvalue() == bytes(writer) == data
    reader = Reader(data)
    assert [getattr(reader, name)() for name, _ in values] == [value for _, value in values]
    reader.expect_end("the numbers")


@given(st.binary(min_size=4, max_size=64).filter(lambda data: len(data) % 4 == 0))
def test_the_bits_of_floats_survive_alone_and_in_arrays(data):
    """Any 32 bits, NaN payloads and signalling NaNs included."""
    reader, writer = Reader(data), Writer()
    while reader.remaining:
        writer.f32(reader.f32())
    assert writer.getvalue() == data
    again = Writer()
    again.array(Reader(data).array("<f4", len(data) // 4), "<f4")
    assert again.getvalue() == data


def test_a_signalling_nan_is_not_quietened():
    signalling = struct.pack("<I", 0x7F80_0001)
    value = Reader(signalling).f32()
    assert isinstance(value, np.float32)
    assert value.tobytes() == signalling
    writer = Writer()
    writer.f32(value)
    assert writer.getvalue() == signalling


@given(st.lists(st.binary(max_size=40).filter(lambda text: b"\0" not in text), max_size=20))
def test_names_end_at_their_zero_byte(texts):
    writer = Writer()
    for text in texts:
        writer.string(text)
    assert writer.getvalue() == b"".join(text + b"\0" for text in texts)
    reader = Reader(writer.getvalue())
    assert [reader.string() for _ in texts] == texts
    assert reader.remaining == 0


@pytest.mark.parametrize("length", [0, 1, 63, 64, 65, 191, 192, 193, 5000])
def test_the_end_of_a_name_is_found_however_far(length):
    reader = Reader(b"x" * length + b"\0tail")
    assert reader.string() == b"x" * length
    assert bytes(reader.rest()) == b"tail"


def test_a_name_without_end_is_refused_where_it_begins():
    reader = Reader(b"ab\0endless", "a.omf", "0xE", 100)
    reader.string()
    with pytest.raises(ReadError) as refused:
        reader.string("the motion's name")
    assert (refused.value.file, refused.value.chunk, refused.value.offset) == ("a.omf", "0xE", 103)
    assert "the motion's name has no end" in str(refused.value)
    assert "7 bytes" in str(refused.value)


def test_many_names_in_a_large_file_take_linear_time():
    """Looking for an end takes the same few lines wherever it is, and copies little of what lies behind it."""
    reader = Reader(b"bone\0" * 100_000)
    first = lines_run(reader.string)
    reader.take(5 * 50_000)
    assert lines_run(reader.string) == first
    assert memory_peak(reader.string) < 1024


def test_a_long_name_takes_few_steps():
    assert lines_run(Reader(b"x" * 1_000_000 + b"\0").string) < 100


@pytest.mark.parametrize(
    ("read", "size"),
    [
        (Reader.u8, 1),
        (Reader.u16, 2),
        (Reader.u32, 4),
        (Reader.i32, 4),
        (Reader.f32, 4),
        (lambda reader: reader.array("<f4", 3), 12),
        (lambda reader: reader.take(5), 5),
        (lambda reader: reader.part(5, "0xE/0x1"), 5),
    ],
)
def test_every_read_stops_at_the_end_and_stays_where_it_was(read, size):
    for length in range(size):
        reader = Reader(bytes(length), "a.omf", "0xE", 40)
        with pytest.raises(ReadError) as refused:
            read(reader)
        assert (refused.value.file, refused.value.chunk, refused.value.offset) == ("a.omf", "0xE", 40)
        needed, left = (f"{count} byte is" if count == 1 else f"{count} bytes are" for count in (size, length))
        assert f": {needed} needed, {left} left" in str(refused.value)
        assert reader.position == 0
    reader = Reader(bytes(size + 1))
    read(reader)
    assert reader.position == size


@pytest.mark.parametrize("shape", [(4_000_000_000,), (0xFFFF_FFFF, 0xFFFF_FFFF), (65536, 65536, 65536, 65536, 1)])
def test_four_billion_cost_nothing(shape):
    """The product is computed without overflow and compared before anything is made."""
    reader = Reader(bytes(1000))

    def read():
        with pytest.raises(ReadError, match="1000 bytes are left"):
            reader.array("<f4", *shape)
        with pytest.raises(ReadError, match="1000 bytes are left"):
            reader.take(shape[0])

    assert memory_peak(read) < 20_000


def test_negative_sizes_are_refused():
    with pytest.raises(ReadError, match="-1 bytes are needed"):
        Reader(bytes(8)).take(-1)
    with pytest.raises(ReadError, match="-4 bytes are needed"):
        Reader(bytes(8)).array("<f4", -1)


def test_what_is_read_is_a_view_and_cannot_be_written():
    data = bytearray(range(16))
    reader = Reader(data)
    numbers = reader.array("u1", 2, 4)
    view = reader.take(4)
    data[0], data[8] = 99, 77
    assert numbers[0, 0] == 99
    assert view[0] == 77
    frozen = Reader(bytes(8)).array("<u2", 4)
    with pytest.raises(ValueError, match="read-only"):
        frozen[0] = 1


def test_empty_arrays_need_no_bytes():
    assert Reader(b"").array("<f4", 0, 3).shape == (0, 3)
    assert len(Reader(b"").rest()) == 0


def test_a_part_knows_its_index_in_the_file():
    reader = Reader(bytes(range(20)), "a.omf", "", 0)
    reader.take(4)
    part = reader.part(8, "0xE")
    assert (reader.position, reader.offset) == (12, 12)
    assert (part.offset, part.remaining, part.u8()) == (4, 8, 4)
    inner = part.part(3, "0xE/0x1")
    assert (inner.offset, inner.chunk, inner.file) == (5, "0xE/0x1", "a.omf")
    inner.take(3)
    with pytest.raises(ReadError, match=r"a\.omf, chunk 0xE/0x1, offset 8: a byte: 1 byte is needed, 0 bytes are left"):
        inner.u8()


def test_bytes_left_over_are_refused():
    reader = Reader(bytes(3), chunk="0xE")
    reader.u8()
    with pytest.raises(ReadError, match="chunk 0xE, offset 1: 2 extra bytes after the header"):
        reader.expect_end("the header")


@pytest.mark.parametrize(
    ("method", "value"),
    [("u8", 256), ("u8", -1), ("u16", 65536), ("u32", 1 << 32), ("u32", -1), ("i32", 1 << 31), ("i32", -(1 << 31) - 1)],
)
def test_numbers_that_do_not_fit_are_refused(method, value):
    writer = Writer()
    with pytest.raises(WriteError, match=f"the number {value} does not fit"):
        getattr(writer, method)(value)
    assert writer.getvalue() == b""


def test_a_name_with_a_zero_byte_is_refused():
    with pytest.raises(WriteError, match="holds a zero byte"):
        Writer().string(b"a\0b")


def test_arrays_are_written_in_c_order_and_little_endian():
    writer = Writer()
    writer.array(np.array([[1, 2], [3, 4]], ">u2").T, "<u2")
    assert writer.getvalue() == bytes((1, 0, 3, 0, 2, 0, 4, 0))


@pytest.mark.parametrize(
    ("values", "dtype", "first"),
    [
        (np.array([1, 65536, 65537]), "<u2", "65536"),
        (np.array([-1]), "<u2", "-1"),
        (np.array([[127.0, 128.0]]), "i1", "128.0"),
        (np.array([0.0, 0.5]), "<i2", "0.5"),
        (np.array([np.nan]), "<i2", "nan"),
        (np.array([1 << 63], np.uint64), "<i4", str(1 << 63)),
    ],
)
def test_an_array_with_a_number_that_does_not_fit_is_refused(values, dtype, first):
    with pytest.raises(WriteError, match=f"the number {first} does not fit"):
        Writer().array(values, dtype)


@pytest.mark.parametrize("dtype", ["i1", "<u1", "<i2", "<u2", "<i4", "<u4"])
def test_an_arrays_extremes_fit(dtype):
    limits = np.iinfo(dtype)
    for source in (np.int64, np.float64):
        writer = Writer()
        writer.array(np.array([limits.min, 0, limits.max], source), dtype)
        assert writer.getvalue() == np.array([limits.min, 0, limits.max], dtype).tobytes()


def test_float_arrays_are_rounded_to_the_nearest_float():
    writer = Writer()
    writer.array(np.array([0.1, 1 + 2**-25]), "<f4")
    assert writer.getvalue() == struct.pack("<2f", 0.1, 1.0)


def test_raw_bytes_of_any_kind_are_kept_as_they_were_given():
    changing = bytearray(b"ab")
    writer = Writer()
    writer.raw(changing)
    writer.raw(memoryview(b"cd"))
    changing[0] = 0
    assert writer.getvalue() == b"abcd"


@pytest.mark.parametrize("width", [np.float32, np.float64])
def test_numbers_that_properties_hold_are_written_as_the_files(width):
    """As 32-bit floats, whatever the width of what they are compared with."""
    base = np.array([np.inf, 0.1, np.nan, 2.0], np.float32)
    held = np.array([np.finfo(np.float32).max, 0.1, np.nan, 3.0])
    result = as_in_file(held, base.astype(width))
    assert result.dtype == np.float32
    assert result[:3].tobytes() == base[:3].tobytes()
    assert result[3] == 3.0
