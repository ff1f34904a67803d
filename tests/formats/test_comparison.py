"""What differs between two files, in the words of an export: nothing for equal ones, and never nothing for others."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from addon import formats
from addon.core.errors import MotionbridgeError
from addon.core.rebase import matched, named_or_in_order
from addon.core.report import Report
from addon.formats import COMPARISONS, HEAD_SIZE, compare, detect, is_comparable
from tests.real_files import SAMPLES

LARGEST = 3_000_000


def comparable(folder):
    """The files of a folder that can be compared, each once."""
    for path in sorted(folder.rglob("*")) if folder is not None else ():
        if path.is_file() and path.stat().st_size < LARGEST:
            data = path.read_bytes()
            obj = detect(path, data[:HEAD_SIZE])
            if obj is not None and obj.name in COMPARISONS:
                yield path, data


def differs_from_itself(folder):
    for path, data in comparable(folder):
        try:
            detect(path, data[:HEAD_SIZE]).module.read(data, str(path), Report())
        except MotionbridgeError:
            continue
        changes = compare(str(path), data, data)
        if changes:
            yield path, changes.sentence()


def test_equal_files_do_not_differ():
    assert {formats.detect(path, data[:HEAD_SIZE]).name for path, data in comparable(SAMPLES)} >= {*COMPARISONS} - {
        "skl",
        "bones",
    }
    assert list(differs_from_itself(SAMPLES)) == []


def test_a_format_that_no_save_writes_is_not_compared():
    assert not is_comparable("level.ai", b"")
    assert not is_comparable("level.geom", b"")
    assert is_comparable("level", b"")


rows = st.lists(st.integers(0, 5), max_size=12)


@given(rows, rows)
def test_rows_correspond_once_and_equal_ones_first(mine, theirs):
    first, other = (np.array(side, np.int32).reshape(-1, 1) for side in (mine, theirs))
    result = matched(first, other)
    used = result[result >= 0]
    assert len(set(used.tolist())) == len(used)
    equal = sum(mine[row] == theirs[source] for row, source in enumerate(result.tolist()) if source >= 0)
    assert equal == sum(min(mine.count(value), theirs.count(value)) for value in set(mine))


@given(st.lists(st.integers(0, 9), min_size=2, max_size=12, unique=True), st.data())
def test_an_edited_row_is_found_beside_deleted_and_new_ones(base, data):
    gone = data.draw(st.integers(0, len(base) - 1))
    kept = [row for row in range(len(base)) if row != gone]
    edited = data.draw(st.sampled_from(kept))
    values = [base[row] + 100 * (row == edited) for row in kept] + [50]
    result = matched(np.array(values, np.int32)[:, None], np.array(base, np.int32)[:, None]).tolist()
    expected = [*kept, -1]
    beside_the_gap = edited == gone + 1
    assert beside_the_gap or result[:-1] == expected[:-1]


def test_names_correspond_then_their_indices():
    assert named_or_in_order(["b", "x", "a", "new"], ["a", "y", "b"]) == [2, 1, 0, -1]
