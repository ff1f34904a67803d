"""The command `extract`: writes the files of an archive into a folder."""

from __future__ import annotations

import argparse
import fnmatch
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..core.errors import ReadError, WriteError
from ..core.report import Report
from ..formats import format_named
from ..formats.descent3 import hog2
from .inspection import opened
from .output import TROUBLE, complain


def add_command(commands: argparse._SubParsersAction[Any]) -> None:
    """Add the command to the parser."""
    command = commands.add_parser(
        "extract",
        help="write the files of an archive into a folder",
        description="Exit status: 2 where a file had to be left out.",
    )
    command.add_argument("archive", metavar="ARCHIVE")
    command.add_argument("names", nargs="*", metavar="NAME", help="a name, or a pattern with * and ?; default all")
    command.add_argument("-o", "--output", metavar="FOLDER", required=True, help="made where it is missing")
    command.add_argument("--overwrite", action="store_true", help="replace existing files")
    command.set_defaults(run=_extract)


def _extract(chosen: argparse.Namespace) -> int:
    _, found, archive, report = opened(chosen.archive)
    if found is not format_named("hog2"):
        raise ReadError(f"this is a {found.title} ({found.name})", file=chosen.archive, remedy="Name an archive")
    for line in report.lines():
        complain(f"{chosen.archive}: {line}")
    wanted = _matching(chosen.names, archive) if chosen.names else None
    folder = Path(chosen.output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as wrong:
        raise WriteError(f"cannot make the folder: {wrong.strerror}", file=str(folder)) from wrong
    findings = Report()
    written = hog2.extract(archive, folder, findings, wanted, overwrite=chosen.overwrite)
    for path in written:
        print(path)
    for line in findings.lines():
        complain(f"{chosen.archive}: {line}")
    return TROUBLE if findings.warnings else 0


def _matching(patterns: Sequence[str], archive: hog2.Hog2) -> set[int]:
    """Return the indices of the files that match. Raises `ReadError` for a pattern without a match."""
    names = [name.lower() for name in archive.names]
    found: set[int] = set()
    for pattern in patterns:
        wanted = pattern.lower()
        # Names may contain brackets.
        glob_pattern = wanted.replace("[", "[[]")
        matches = [n for n, name in enumerate(names) if name == wanted or fnmatch.fnmatchcase(name, glob_pattern)]
        if not matches:
            raise ReadError(f"no file in it matches {pattern!r}", file=archive.file, remedy="See their names with info")
        found.update(matches)
    return found
