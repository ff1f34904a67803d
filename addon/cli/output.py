"""Output to a terminal, a file or a closed pipe, without failing."""

from __future__ import annotations

import contextlib
import errno
import os
import sys

from ..core.report import on_one_line

TROUBLE = 2
"""Exit status if something was refused."""


def say(line: str, *, at_once: bool = False) -> None:
    """Print one line on the standard output; ``at_once``: also where the output is a file or a pipe."""
    print(on_one_line(line), flush=at_once)


def complain(sentence: str) -> None:
    """Print one sentence on the standard error, after everything printed before."""
    sys.stdout.flush()
    print(on_one_line(f"motionbridge: {sentence}"), file=sys.stderr)


def make_printable() -> None:
    """Make characters that the terminal's code page does not have print escaped instead of raising an error.

    A program that was started without an output (`>&-`) prints nowhere.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123 (open until the end)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def pipe_was_closed(wrong: OSError) -> bool:
    """Return whether the reader of the output has closed it. On Windows a closed pipe is an invalid argument."""
    return isinstance(wrong, BrokenPipeError) or (os.name == "nt" and wrong.errno == errno.EINVAL)


def abandon_output() -> None:
    """Discard what Python would still flush to the standard output when it ends, so that this does not fail again."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
