"""What differs between the marks of two motions."""

import numpy as np
import pytest

from addon.core.walk import Walk
from addon.formats.xray.marks import MARK_VIEWS, Mark


def mark(name: bytes, *intervals: tuple[float, float], line_end: bytes = b"\r\n") -> Mark:
    return Mark(name, np.array(intervals, "<f4").reshape(-1, 2), line_end)


LEFT = mark(b"Left", (0.25, 0.5))
OTHER_NAN = mark(b"Left", (np.nan, 0.5))
OTHER_NAN.intervals.view("<u4")[0, 0] += 1


@pytest.mark.parametrize(
    ("ones", "others", "lines"),
    [
        ([LEFT], [mark(b"Left", (0.25, 0.5))], []),
        ([LEFT], [mark(b"Left", (0.25, 0.75))], ["mark 'Left': interval 0: 0.25 0.5 / 0.25 0.75"]),
        (
            [LEFT],
            [mark(b"Left", (0.25, np.nextafter(np.float32(0.5), np.float32(1))))],
            ["mark 'Left': interval 0: 0.25 0.5 / 0.25 0.50000006"],
        ),
        (
            [LEFT],
            [mark(b"Left", (0.25, 0.5), (1, 2))],
            ["mark 'Left': 1 / 2 intervals"],
        ),
        (
            [LEFT],
            [mark(b"Right", (0.25, 0.5))],
            ["mark 'Left' is only in the first", "mark 'Right' is only in the second"],
        ),
        ([], [LEFT], ["mark 'Left' is only in the second"]),
        ([LEFT], [mark(b"Left", (0.25, 0.5), line_end=b"\n")], [r"mark 'Left': line end: '\r\n' / '\n'"]),
        ([mark(b"Left", (0.0, 1))], [mark(b"Left", (-0.0, 1))], ["mark 'Left': interval 0: 0.0 1.0 / -0.0 1.0"]),
        (
            [mark(b"Left", (np.nan, 0.5))],
            [OTHER_NAN],
            ["mark 'Left': interval 0: nan:0000c07f 0.5 / nan:0100c07f 0.5"],
        ),
    ],
)
def test_the_two_sides_of_a_line_say_what_differs(ones: list[Mark], others: list[Mark], lines: list[str]) -> None:
    assert list(Walk(MARK_VIEWS).differences(ones, others)) == lines
