"""Edited values over imported ones: matching rows, bits that stay, numbers that are refused."""

import numpy as np
import pytest

from addon.core import rebase
from addon.core.errors import WriteError

BASE = np.array([[1.0, 2.0, 3.0], [4.0, np.nan, 6.0], [7.0, 8.0, 9.0]], np.float32)


@pytest.mark.parametrize(
    ("stored", "count", "unique", "wanted"),
    [
        (None, 3, False, [0, 1, 2]),
        (None, 2, False, [-1, -1]),
        ([2, 0, 7, -5, 0], 5, False, [2, 0, -1, -1, 0]),
        ([2, 0, 7, -5, 0], 5, True, [2, 0, -1, -1, -1]),
    ],
)
def test_rows_are_those_that_were_imported(stored, count, unique, wanted):
    stored = None if stored is None else np.array(stored, np.int32)
    assert rebase.sources(stored, count, 3, unique=unique).tolist() == wanted


def test_unedited_rows_keep_their_bits_and_others_are_new():
    values = BASE[[2, 1, 0, 0]].copy()
    values[0, 0] = np.nextafter(np.float32(7), np.float32(8))
    values[2, 1] = 2.5
    result, changed = rebase.restore_from_sources(values, BASE, np.array([2, 1, 0, -1]))
    assert changed.tolist() == [False, False, True, True]
    assert result[:2].tobytes() == BASE[[2, 1]].tobytes()
    assert result[2:].tobytes() == values[2:].tobytes()


@pytest.mark.parametrize("seen", [None, (BASE * 2, BASE * 2)])
def test_rows_in_the_order_of_the_base_are_restored_like_any_others(seen):
    values = BASE.copy()
    values[0, 0] = np.nextafter(np.float32(1), np.float32(2))
    values[2, 1] = 2.5
    source = np.arange(3)
    result, changed = rebase.restore_from_sources(values, BASE, source, seen)
    shuffled = np.array([1, 2, 0])
    mixed = None if seen is None else (seen[0][shuffled], seen[1])
    result_mixed, changed_mixed = rebase.restore_from_sources(values[shuffled], BASE, source[shuffled], mixed)
    assert changed[shuffled].tolist() == changed_mixed.tolist()
    assert result[shuffled].tobytes() == result_mixed.tobytes()


def test_what_is_shown_may_be_compared_instead():
    actual = BASE * np.float32(0.1)
    now = actual.copy()
    now[0, 0] = 5
    result, changed = rebase.restore_from_sources(now * 10, BASE, np.arange(3), (now, actual))
    assert changed.tolist() == [True, False, False]
    assert result[1:].tobytes() == BASE[1:].tobytes()
    assert result[0, 0] == 50


def test_normals_may_be_normalised_and_a_step_away():
    base = np.array([[0, 0, 2], [0, 0, 1], [0, 0, 0]], np.float32)
    given = np.array([[0, 0, 1], [0, 0.01, 1], [0, 0, 1]], np.float32)
    assert rebase.normals_differ(given, base, 0.005).tolist() == [False, True, True]
    assert rebase.normals_differ(given, base, 0.02).tolist() == [False, False, True]


def test_rows_keep_the_order_of_the_file_and_new_ones_come_last():
    rows = rebase.Rows.of(np.array([2, -1, 0, 2]), 4, 3)
    assert rows.order.tolist() == [2, 0, 1, 3]
    assert rows.source.tolist() == [0, 2, -1, -1]
    assert rows.index.tolist() == [1, 2, 0, 3]
    assert rows.of_base.tolist() == [0, -1, 1]
    assert rows.known.tolist() == [0, 1]


def test_new_numbers_must_be_finite():
    rebase.refuse_not_finite("a vertex", "Move it", BASE[0], BASE[2])
    with pytest.raises(WriteError, match="a vertex"):
        rebase.refuse_not_finite("a vertex", "Move it", BASE[0], BASE[1])
