"""Worker processes for several files, as many as are faster than one."""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

WORTH_A_PROCESS = 8 << 20
"""Bytes. For less, starting processes takes longer than the work."""


def add_option(command: argparse.ArgumentParser) -> None:
    """Add the option for the number of processes."""
    command.add_argument("--jobs", type=_positive, metavar="N", help="processes (default: one for each core)")


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of processes: give 1 or more")
    return int(text)


@contextlib.contextmanager
def pool(count: int) -> Iterator[ProcessPoolExecutor]:
    """Provide a pool of worker processes that leave Ctrl-C to their parent.

    Work that has not begun when the block is left (Ctrl-C, a closed pipe) is not done.
    """
    # "spawn" on all systems: the only method on Windows, and safe even if numpy has started threads.
    spawn = multiprocessing.get_context("spawn")
    process_pool_executor = ProcessPoolExecutor(count, spawn, initializer=_leave_interrupts_to_the_parent)
    try:
        with _interrupts_held(), contextlib.suppress(BrokenProcessPool):  # the caller's own work meets the broken pool
            for _ in range(count):
                process_pool_executor.submit(os.getpid)  # starts a worker
        yield process_pool_executor
    finally:
        process_pool_executor.shutdown(cancel_futures=True)


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back until the end of the block, and forever in processes started in it (but not on Windows).

    A worker that has not reached its initializer would print a traceback.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def jobs(asked: int | None, files: Sequence[str]) -> int:
    """Return the number of processes: as asked, or else one per core if the files are large enough, or one; never more
    than files.
    """
    # Inside Blender a new process would not find this package, whose name is set by Blender.
    if "bpy" in sys.modules:
        return 1
    return min(asked or _usual_jobs(files), len(files))


def _usual_jobs(files: Sequence[str]) -> int:
    size = 0
    for file in files:
        size += os.path.getsize(file) if os.path.isfile(file) else 0  # noqa: PTH202, PTH113 (hundreds of thousands)
        if size > WORTH_A_PROCESS:
            return os.cpu_count() or 1
    return 1
