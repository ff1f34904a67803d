"""Command line of Motionbridge: inspect, compare, verify, edit, convert, extract and pack files of the games.

`python3 -m addon.cli COMMAND` needs no Blender; `blender --command motionbridge COMMAND` is the same.

Exit statuses: 0 done, 1 files differ (or the code failed on one), 2 trouble, reported in one sentence on the standard
error.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import NoReturn

from ..core.errors import MotionbridgeError, refused_access
from .output import TROUBLE, abandon_output, complain, make_printable, pipe_was_closed

INTERRUPTED = 130
CLOSED_PIPE = 141
"""128 + the number of the signal, the exit status that shells use for a closed pipe."""


class Parser(argparse.ArgumentParser):
    """Parser of a command line whose errors are one sentence."""

    def error(self, message: str) -> NoReturn:
        complain(f"{message} (see {self.prog} --help)")
        self.exit(TROUBLE)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line.

    The commands are imported here, not above: this takes half a second, in which Ctrl-C must not print a traceback.
    """
    from . import archives, conversion, editing, inspection, trees, verification  # noqa: PLC0415

    each = "motionbridge COMMAND --help describes a command."
    top = Parser(prog="motionbridge", description=(__doc__ or "").partition("\n")[0], epilog=each)
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    inspection.add_commands(commands)
    verification.add_command(commands)
    editing.add_command(commands)
    conversion.add_command(commands)
    archives.add_commands(commands)
    trees.add_command(commands)
    return top


def _check_packages() -> None:
    if find_spec("numpy") is None:
        raise MotionbridgeError("this Python has no numpy", remedy=f"Install it: {sys.executable} -m pip install numpy")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status. Only defects of the code raise exceptions."""
    return exit_status(lambda: _run(sys.argv[1:] if arguments is None else arguments))


def _run(arguments: Sequence[str]) -> int:
    _check_packages()
    chosen = parser().parse_args(arguments)
    status: int = chosen.run(chosen)
    return status


def exit_status(work: Callable[[], int]) -> int:
    """Return the exit status of ``work``: its own, or that of the error after one sentence about it."""
    try:
        make_printable()
        with refused_access():
            status = work()
        sys.stdout.flush()
    except SystemExit as leaving:  # argparse has printed the error or the help
        return leaving.code if isinstance(leaving.code, int) else TROUBLE
    except MotionbridgeError as refusal:
        complain(str(refusal))
        return TROUBLE
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as wrong:  # errors of files are MotionbridgeErrors, so this is the standard output
        if not pipe_was_closed(wrong):
            complain(f"cannot write the output: {wrong.strerror or wrong}.")
        abandon_output()
        return CLOSED_PIPE if pipe_was_closed(wrong) else TROUBLE
    return status
