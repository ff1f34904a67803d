"""Files named on the command line: found, opened and saved."""

from __future__ import annotations

import argparse
import glob
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from ..core.binary import Bytes
from ..core.errors import WriteError
from ..core.files import exists, map_file, resolved, warn_of_replacing, write_atomically
from ..core.report import Report
from ..formats import Format, archives
from ..formats.verification import file_data, open_document
from .output import complain


def expanded(paths: Iterable[str]) -> Iterator[str]:
    """Yield paths with ``*`` and ``?`` expanded, which not every shell does, also in the part inside an archive; the
    name of an existing file is used literally. Raises `ReadError` if an archive in a path cannot be read.
    """
    for path in paths:
        wild = any(sign in path for sign in "*?") and not exists(path)
        matches = sorted(glob.glob(path)) if wild else []  # noqa: PTH207 (absolute patterns)
        yield from matches or archives.expanded(path) or [path]


def opened(path: str) -> tuple[Bytes, Format, Any, Report]:
    """Return a file's bytes, format, document and the report of reading it. Raises `ReadError`.

    Of an archive that is only read, the document is its table.
    """
    if archives.is_only_read(path):
        archive = archives.open_archive(path, report := Report())
        return map_file(path), archives.FORMAT, archive.table, report
    data = file_data(path)
    return data, *open_document(data, path)


def add_output(command: argparse.ArgumentParser, output: str, in_place: str) -> None:
    """Add ``-o``, which ``output`` explains, or ``--in-place``, and ``--backup`` to a command that writes a file."""
    target = command.add_mutually_exclusive_group(required=True)
    target.add_argument("-o", "--output", metavar="OUT", help=output)
    target.add_argument("--in-place", action="store_true", help=f"replace {in_place}, in one step")
    command.add_argument(
        "--backup", action="store_true", help="keep the old bytes beside it, with .bak added; an existing .bak stays"
    )


def refuse_same_file(
    output: Path | str, source: Path | str, done: str, remedy: str = "Use --in-place to replace it"
) -> None:
    """Raise `WriteError` if the output is the file that is read: only ``--in-place`` replaces that one.

    ``done``: what the command does with the file, such as "edited".
    """
    if resolved(output) == resolved(source):
        raise WriteError(f"this is the file that is {done}", file=str(output), remedy=remedy)


def make_folder(path: Path | str) -> Path:
    """Return the folder at ``path``, made if it is missing. Raises `WriteError`."""
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise WriteError("this is a file, not a folder", file=str(path), remedy="Name a folder with -o")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as wrong:
        problem = f"the folder cannot be made: {wrong.strerror}"
        raise WriteError(problem, file=str(path), remedy="Name a folder elsewhere with -o") from None
    return folder


def save(
    path: Path | str,
    data: bytes,
    read: Callable[[bytes, str, Report], object] | None,
    say: Callable[[str], None] = complain,
    *,
    backup: bool,
    by_archive: bool = False,
) -> None:
    """Write a file in one step, after saying what the file that it replaces loses.

    ``read``: reads the format; bytes that it refuses replace no file. ``by_archive``: as in `write_atomically`. Raises
    `ReadError`, `WriteError`.
    """
    if read is not None:
        read(data, str(path), Report())
    replacing = Report()
    warn_of_replacing(path, replacing)
    for line in replacing.lines():
        say(line)
    write_atomically(path, data, backup=backup, by_archive=by_archive)
