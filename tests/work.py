"""How much work something is, counted and not timed: the same number on every machine, however busy."""

import gc
import sys
import tracemalloc
from collections.abc import Callable


def lines_run(work: Callable[[], object]) -> int:
    """How many lines of Python are run by ``work`` and everything it calls.

    What one line costs inside C is not seen: copies made there show in `memory_peak`.
    """
    count = 0

    def trace(_frame, event, _argument):
        nonlocal count
        count += event == "line"
        return trace

    before, collecting = sys.gettrace(), gc.isenabled()
    gc.disable()  # whoever left garbage behind would have its finalisers counted here
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
        if collecting:
            gc.enable()
    return count


def memory_peak(work: Callable[[], object]) -> int:
    """The most bytes that were held at once for ``work``, above what was held before."""
    tracemalloc.start()
    try:
        kept = work()
        peak = tracemalloc.get_traced_memory()[1]
        del kept
    finally:
        tracemalloc.stop()
    return peak
