"""Arrays in words: nothing is lost, everything has its place."""

import numpy as np
import pytest

from addon.core import text
from addon.core.report import listed


def test_floats_are_the_shortest_text_and_nans_keep_their_bits():
    values = np.array([[0.1, -0.0], [np.inf, 0]], np.float32)
    values.view(np.uint32)[1, 1] = 0x7FC01234
    assert text.rows(values) == ["0.1 -0.0", "inf nan:3412c07f"]
    assert text.scalar(np.float32(1) / np.float32(3)) == "0.33333334"


@pytest.mark.parametrize(
    ("count", "message"),
    [(0, ""), (1, "0"), (3, "0, 1, 2"), (4, "0, 1, 2 and 1 more"), (9, "0, 1, 2 and 6 more")],
)
def test_lists_say_how_many_they_leave_out(count, message):
    assert listed(list(map(str, range(count))), 3) == message


def test_structured_rows_are_columns_between_bars():
    rows = np.zeros(2, [("a", "<f4", (2, 2)), ("b", "u1")])
    rows["b"] = 7
    assert list(text.array_lines("t", rows)) == [
        "t count 2: a | b",
        "t 0 0.0 0.0 0.0 0.0 | 7",
        "t 1 0.0 0.0 0.0 0.0 | 7",
    ]


@pytest.mark.parametrize("shape", [(0,), (16,), (17,), (3, 2), (0, 3), (50_000,), (20_000, 3)])
def test_every_number_is_reported_once(shape):
    values = np.arange(int(np.prod(shape)), dtype=np.int32).reshape(shape)
    lines = list(text.array_lines("n", values))
    numbers = [word for line in lines if "count" not in line for word in line.split()[1 if len(shape) == 1 else 2 :]]
    if len(shape) == 1 and shape[0] > text.FEW:
        numbers = [word for line in lines[1:] for word in line.split()[2:]]
    assert [int(word) for word in numbers] == values.ravel().tolist()


def test_differences_are_counted_as_bits():
    first, other = np.zeros((20, 2), np.float32), np.zeros((20, 2), np.float32)
    other[3, 1] = -0.0
    other[7, 0] = 2
    assert list(text.array_differences("v", first, other)) == [
        "v: 2 of 20 differ, first 3: 0.0 0.0 / 0.0 -0.0, by at most 2"
    ]
    assert list(text.array_differences("v", first, first.copy())) == []
    assert list(text.array_differences("v", first, first[:5])) == ["v: 20 / 5"]
    assert list(text.array_differences("v", first, other[:5])) == [
        "v: 20 / 5",
        "v: 1 of the common 5 differ, first 3: 0.0 0.0 / 0.0 -0.0",
    ]


def test_fields_inside_of_fields_are_compared_one_by_one():
    corner = np.dtype([("point", "<u4"), ("uv", "<f4", 2)])
    entry = np.zeros(20, [("count", "<u4"), ("corners", corner, 4)])
    other = entry.copy()
    other["corners"]["uv"][3, 2] = 0.5
    calls = [
        "faces corners uv: 1 of 20 differ, first 3: 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 / 0.0 0.0 0.0 0.0 0.5 0.5 0.0 0.0"
    ]
    assert list(text.array_differences("faces", entry, other)) == calls


def test_an_extent_leaves_out_what_is_not_finite():
    points = np.array([[1, 2, 3], [np.nan, 9, 9], [-1, 5, 0]], np.float32)
    assert text.extent(points) == "-1.0 2.0 0.0 to 1.0 5.0 3.0"
    assert text.extent(points[1:2]) == text.extent(points[:0]) == "nowhere"
