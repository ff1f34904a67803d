"""Structs whose fields declare how they are stored."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pytest

from addon.core.binary import Reader, Writer
from addon.core.errors import ReadError
from addon.core.records import (
    Record,
    array,
    counted_rows,
    f32,
    i32,
    last_rows,
    list_of,
    list_to_end,
    nested,
    string,
    u8,
    u16,
    u32,
    unless_at_end,
)


@dataclass
class Inner(Record):
    name: Annotated[bytes, string("a name")]
    number: Annotated[int, u16("a number")]


@dataclass
class Outer(Record):
    first: Annotated[int, u8("the first")]
    position: Annotated[np.ndarray, array("<f4", 2, what="the position")]
    inner: Annotated[list[Inner], list_of(u32("the number of parts"), nested(Inner.read), "parts", 3)]
    pairs: Annotated[np.ndarray, counted_rows(u8("the number of pairs"), "<u2", 2, what="the pairs")]
    size: Annotated[np.float32, f32("the size")]
    offset: Annotated[int, i32("the offset")]
    kept: int = 7


DATA = (
    b"\x05"  # first
    b"\x00\x00\x80\x3f\x00\x00\x00\x40"  # position: 1, 2
    b"\x02\x00\x00\x00"  # two parts:
    b"a\0\x01\x00"
    b"bc\0\x02\x00"
    b"\x01\x01\x00\x02\x00"  # one pair: 1, 2
    b"\x00\x00\x00\x3f"  # size: 0.5
    b"\xff\xff\xff\xff"  # offset: -1
)


def written(value):
    writer = Writer()
    value.write(writer)
    return writer.getvalue()


def test_fields_are_read_and_written_in_their_order():
    reader = Reader(DATA)
    value = Outer.read(reader)
    assert reader.remaining == 0
    assert (value.first, value.size, value.offset, value.kept) == (5, 0.5, -1, 7)
    assert value.inner == [Inner(b"a", 1), Inner(b"bc", 2)]
    assert value.position.tolist() == [1, 2]
    assert value.pairs.tolist() == [[1, 2]]
    assert written(value) == DATA


@pytest.mark.parametrize("length", range(len(DATA)))
def test_missing_bytes_are_refused(length):
    with pytest.raises(ReadError):
        Outer.read(Reader(DATA[:length]))


@dataclass
class Placed(Record):
    """Four floats in one run, and one of another name behind them."""

    matrix: Annotated[np.ndarray, array("<f4", 1, 2, what="where it is")]
    height: Annotated[np.float32, f32("where it is")]
    offset: Annotated[np.ndarray, array("<f4", 1, what="where it is")]
    scale: Annotated[np.float32, f32("how large it is")]


def test_floats_of_one_name_are_read_at_once_and_bit_for_bit():
    data = np.array([1, 0x7F800001, 0xFFC00002, 0x80000000, 5], "<u4").tobytes()  # two NaNs and a negative zero
    value = Placed.read(Reader(data))
    assert [np.shape(part) for part in (value.matrix, value.height, value.offset, value.scale)] == [
        (1, 2),
        (),
        (1,),
        (),
    ]
    assert written(value) == data
    with pytest.raises(ReadError, match="where it is: 16 bytes are needed, 15 bytes are left"):
        Placed.read(Reader(data[:15]))
    with pytest.raises(ReadError, match="how large it is: 4 bytes are needed, 3 bytes are left"):
        Placed.read(Reader(data[:19]))


@dataclass
class Ending(Record):
    scale: Annotated[int | None, unless_at_end(u16("the scale"))] = None
    rows: Annotated[np.ndarray | None, unless_at_end(last_rows("<u2", 2, what="the rows"))] = None


@pytest.mark.parametrize("data", [b"", b"\1\0", b"\1\0\2\0\3\0\4\0\5\0"])
def test_what_a_file_ends_before_is_not_one(data):
    value = Ending.read(Reader(data))
    assert [value.scale is None, value.rows is None] == [len(data) < 1, len(data) < 3]
    assert written(value) == data


def test_whole_rows_are_taken_and_the_rest_is_left():
    reader = Reader(b"\1\0\2\0\3\0\4\0\5")
    assert last_rows("<u2", 2, what="the rows").read(reader).tolist() == [[1, 2], [3, 4]]
    assert reader.remaining == 1


def test_a_list_can_go_on_to_the_end():
    stored = list_to_end(string("a name"))
    writer = Writer()
    assert stored.read(Reader(b"a\0bc\0")) == [b"a", b"bc"]
    stored.write(writer, [b"a", b"bc"])
    assert writer.getvalue() == b"a\0bc\0"
