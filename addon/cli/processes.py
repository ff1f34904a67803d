"""Several files at once: as many processes as are worth starting."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor

WORTH_A_PROCESS = 8 << 20
"""Bytes; below that, starting processes takes longer than the work."""


def add_option(command: argparse.ArgumentParser) -> None:
    """Let the user say how many."""
    command.add_argument("--jobs", type=_positive, metavar="N", help="processes (default: one for each core)")


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number


def pool(count: int) -> ProcessPoolExecutor:
    """So many workers that leave Ctrl-C to their parent."""
    # "spawn" everywhere: the only way on Windows, and safe whatever threads numpy has started.
    return ProcessPoolExecutor(count, multiprocessing.get_context("spawn"), initializer=_leave_interrupts_to_the_parent)


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def jobs(asked: int | None, files: Sequence[str]) -> int:
    """As many as were asked for, else one, or for work that is worth it one for each core; never more than files."""
    # Inside Blender a new process would not find this package, whose name Blender itself makes up.
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
