"""Clocks for scripts/bench.py, for use with and without Blender."""

import time
from collections.abc import Callable


def seconds_of(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return how long ``work`` takes in seconds; freeing its result is not measured."""
    start = clock()
    kept = work()
    seconds = clock() - start
    del kept
    return seconds


def cpu_seconds_of(work: Callable[[], object]) -> float:
    """Return the CPU time of ``work`` in seconds."""
    return seconds_of(work, time.process_time)
