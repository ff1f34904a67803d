"""Dumps and differences by one walk: how entries of two files are paired, and what is said of them."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pytest

from addon.core.binary import Bytes
from addon.core.text import Rows
from addon.core.walk import View, Walk


@dataclass
class Bone:
    name: str
    keys: np.ndarray
    parent: int = 0


@dataclass
class File:
    bones: list[Bone] = field(default_factory=list)
    lists: list[list[int]] = field(default_factory=list)
    tables: dict[int, bytes] = field(default_factory=dict)
    box: np.ndarray | None = None
    tail: Bytes = b""
    path: str = field(default="", compare=False)


def entries(bone: Bone) -> Iterator[tuple[str, object]]:
    yield "parent", bone.parent
    yield "keys", Rows(bone.keys, "frame", "LSB", counted=True)


WALK = Walk(
    {
        File: View(words={"tables": "table"}),
        Bone: View(
            lambda bone: f"bone {bone.name!r}",
            (lambda bone: bone.name, lambda bone: bone.keys.tobytes()),
            entries=entries,
        ),
    }
)


def bones(*names: str) -> list[Bone]:
    return [Bone(name, np.full((4, 2), ord(name[0]), np.int16)) for name in names]


def differences(first: File, second: File) -> list[str]:
    return list(WALK.differences(first, second))


def test_a_dump_has_a_line_for_each_value_and_row_and_none_for_what_is_missing():
    file = File(bones("a"), [[1, 2], []], {3: b"text"}, np.zeros(2, np.float32), b"\1\2", "not shown")
    assert list(WALK.dump(file)) == [
        *("bone 'a'", "  parent 0", "  keys 0 97 97", "  keys 1 97 97", "  keys 2 97 97", "  keys 3 97 97"),
        *("lists count 2", "lists 0 1 2", "lists 1 none", "table 3 'text'", "box 0.0 0.0", "tail 0102"),
    ]
    assert list(WALK.dump(File())) == ["bones none", "lists none"]


def test_entries_are_paired_by_their_title_and_then_by_their_content():
    assert differences(File(bones("a", "b", "c")), File(bones("c", "a", "d"))) == [
        "the bones are in another order",
        "bone 'b' is only in the first",
        "bone 'd' is only in the second",
    ]
    renamed = bones("a", "b")
    renamed[1].name = "new"
    renamed[1].parent = 1
    assert differences(File(bones("a", "b")), File(renamed)) == [
        "bone 'b' is now called 'new'",
        "bone 'b': parent: 0 / 1",
    ]
    edited = Walk(WALK.views, "was removed", "was added")
    assert list(edited.differences(File(bones("a")), File(bones("b")))) == [
        "bone 'a' was removed",
        "bone 'b' was added",
    ]


def test_entries_of_one_title_are_compared_each_with_its_own():
    changed = bones("a", "a")
    changed[1].parent = 1
    assert differences(File(bones("a", "a")), File(changed)) == ["bone 'a' (2): parent: 0 / 1"]


@pytest.mark.parametrize(
    ("frames", "changed", "line"),
    [
        (4, (), None),
        (4, (2,), "bone 'a': keys: frame 2: 97 97 / 97 90, by at most 7 LSB"),
        (4, (1, 3), "bone 'a': keys: 2 of 4 frames differ, first 1: 97 97 / 97 90, by at most 7 LSB"),
        (3, (1, 3), "bone 'a': keys: 1 of the common 3 frames differ, first 1: 97 97 / 97 90, by at most 7 LSB"),
        (3, (), None),
    ],
)
def test_keys_are_compared_as_far_as_the_shorter_motion_goes(frames, changed, line):
    other = bones("a")
    other[0].keys[list(changed), 1] = 90
    other[0].keys = other[0].keys[:frames]
    assert differences(File(bones("a")), File(other)) == ([line] if line else [])


@pytest.mark.parametrize(
    ("first", "second", "line"),
    [
        (File(tail=b"\1"), File(tail=b"\2\3"), "tail: 01 / 0203"),
        (File(tail=bytes(20)), File(tail=bytes(21)), "tail: 20 / 21 bytes"),
        (File(tail=bytes(20)), File(tail=bytes(18) + b"ab"), "tail: 2 of 20 bytes differ, first 18"),
        (File(lists=[[1], [2]]), File(lists=[[1], [3]]), "lists 1: 2 / 3"),
        (File(lists=[[1]]), File(lists=[[1], [3]]), "lists: 1 / 2"),
        (
            File(lists=[[*range(20)]]),
            File(lists=[[*range(9), 0, *range(10, 20)]]),
            "lists 0 from 9: 1 / 1 differ, first 9 / 0",
        ),
        (File(tables={1: b"a"}), File(tables={1: b"b"}), "table 1: 'a' / 'b'"),
        (File(tables={1: b"a"}), File(), "table 1 is only in the first"),
        (File(tables={1: b"", 2: b""}), File(tables={2: b"", 1: b""}), "table: in another order"),
        (File(), File(box=np.ones(2)), "box: - / 1.0 1.0"),
        (File(box=np.ones((9, 9))), File(), "box: 9 values / -"),
        (File(box=np.ones(2, np.float32)), File(box=np.ones(2, np.int16)), "box: 2 / 2, float32 / int16"),
    ],
)
def test_what_differs_is_reported_in_one_line(first, second, line):
    assert differences(first, second) == [line]
    assert list(WALK.dump(first)) != list(WALK.dump(second))


@dataclass
class Titled:
    title: str


def test_thousands_of_entries_are_paired_in_linear_work():
    """Of one title or each of its own."""
    walk = Walk({Titled: View(lambda entry: entry.title)})
    for count in (1, 20_000):
        mine, others = ([Titled(f"{side}{number % count}") for number in range(20_000)] for side in "ab")
        assert sum(1 for _ in walk.differences(mine, others)) == 40_000
