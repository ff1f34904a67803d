"""Arrays in words: each number told from every other, and where two arrays differ."""

import numpy as np
import pytest

from addon.core.text import array_differences, array_lines, counted, extent, row, rows, scalar


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0 motions"), (1, "1 motion"), (2, "2 motions"), (4294967295, "4294967295 motions")]
)
def test_things_are_counted(count, said):
    assert counted(count, "motion") == said


def test_a_plural_of_its_own():
    assert [counted(count, "mesh", "meshes") for count in (1, 3)] == ["1 mesh", "3 meshes"]


@pytest.mark.parametrize("bits", [0, 1, 0x80000000, 0x3F800000, 0x3F800001, 0x7F800000, 0x7FC00000, 0xFFC00001])
def test_each_float_has_a_text_of_its_own(bits):
    values = np.array([bits], "<u4").view("<f4")
    text = scalar(values[0])
    back = np.frombuffer(bytes.fromhex(text[4:]), "<f4") if text.startswith("nan:") else np.array([text], "<f4")
    assert back.view("<u4")[0] == bits
    assert row(values) == text


@pytest.mark.parametrize(("value", "said"), [(b"\xe6\xf3\xea", "'жук'"), (None, "-"), (np.uint16(7), "7"), (2, "2")])
def test_other_values_have_theirs(value, said):
    assert scalar(value) == said


def test_rows_are_lines():
    assert rows(np.array([[1, -2], [3, 4]], "i1")) == ["1 -2", "3 4"]
    assert rows(np.zeros((0, 3))) == []


def test_long_arrays_have_a_line_for_three_numbers_or_a_row():
    assert list(array_lines("weights", np.arange(4, dtype="<f4"))) == ["weights 0.0 1.0 2.0 3.0"]
    assert list(array_lines("corner", np.arange(17, dtype="<u2")))[:2] == ["corner count 17", "corner 0 0 1 2"]
    assert list(array_lines("corner", np.arange(17, dtype="<u2")))[-1] == "corner 15 15 16"
    assert list(array_lines("point", np.arange(4).reshape(2, 2))) == ["point 0 0 1", "point 1 2 3"]
    fields = np.array([(1, (2, 3))], [("a", "i4"), ("b", "i2", 2)])
    assert list(array_lines("vertex", fields)) == ["vertex count 1: a | b", "vertex 0 1 | 2 3"]


def test_differences_count_rows_and_show_the_first():
    one = np.zeros((20, 2), "<f4")
    other = one.copy()
    assert list(array_differences("points", one, other)) == []
    other[7], other[9] = (0.5, 0), (-0.0, 0)
    assert list(array_differences("points", one, other)) == ["points: 2 of 20 differ, first 7: 0.0 0.0 / 0.5 0.0"]
    assert list(array_differences("points", one, one[:3])) == ["points: 20 / 3"]
    assert list(array_differences("few", one[:2], other[7:9])) == ["few: 0.0 0.0 0.0 0.0 / 0.5 0.0 0.0 0.0"]


def test_the_extent_leaves_out_what_is_no_number():
    points = np.array([[0, 1, 2], [np.nan, 9, 9], [-1, 5, 0]], "<f4")
    assert extent(points) == "-1.0 1.0 0.0 to 0.0 5.0 2.0"
    assert extent(points[1:2]) == "nowhere"
