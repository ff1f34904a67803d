"""The clocks of scripts/bench.py, with a Blender and without one."""

import time
from collections.abc import Callable


def seconds_of(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """How long it takes; what it made is not freed before the clock stops."""
    start = clock()
    kept = work()
    seconds = clock() - start
    del kept
    return seconds


def cpu_seconds_of(work: Callable[[], object]) -> float:
    """How long it keeps processors busy."""
    return seconds_of(work, time.process_time)
