"""Talking to a terminal, a file or a closed pipe without falling over."""

from __future__ import annotations

import contextlib
import errno
import os
import sys

TROUBLE = 2
"""The exit status of whatever was refused."""


def complain(sentence: str) -> None:
    """One sentence on the standard error, behind what was printed before it."""
    sys.stdout.flush()
    print(f"motionbridge: {sentence}", file=sys.stderr)


def make_printable() -> None:
    """A name the terminal's code page lacks is shown escaped instead of ending the program."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def pipe_was_closed(wrong: OSError) -> bool:
    """Whether the reader of our output has closed it. Windows calls a closed pipe an invalid argument."""
    return isinstance(wrong, BrokenPipeError) or (os.name == "nt" and wrong.errno == errno.EINVAL)


def abandon_output() -> None:
    """Python flushes its output once more when it ends; let that go nowhere instead of failing again."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
