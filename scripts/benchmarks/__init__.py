"""Parts of `scripts/bench.py`: the table of its rows, generated files, and what is measured."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "tests" / "samples"
LIMIT = 600
"""Time limit for one process in seconds."""


def seconds_of(work: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    """Return how much CPU time ``work`` takes in seconds; freeing its result, and waiting for the disk, is not
    measured.
    """
    start = clock()
    kept = work()
    seconds = clock() - start
    del kept
    return seconds


class Click(NamedTuple):
    """What a click does: ``work`` does it in a Blender without a window, ``operator`` is called in a window."""

    work: Callable[[], object]
    operator: Callable[[], object]
