"""`convert`: a file in another version of its format."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..core.errors import WriteError
from ..core.files import write_atomically
from ..core.report import Report
from .inspection import opened
from .output import complain


def add_command(commands: argparse._SubParsersAction[Any]) -> None:
    """Make the command known."""
    text = "write a file in another version of its format"
    command = commands.add_parser("convert", help=text, description=text)
    command.add_argument("file", metavar="FILE")
    command.add_argument("--to", required=True, metavar="VERSION", help="for .anm: 3, 4 or 5")
    target = command.add_mutually_exclusive_group(required=True)
    target.add_argument("-o", "--output", metavar="OUT", help="write the result here")
    target.add_argument("--in-place", action="store_true", help="replace FILE, in one step")
    command.add_argument("--backup", action="store_true", help="keep the old bytes beside it, with .bak added")
    command.set_defaults(run=_convert)


def _convert(chosen: argparse.Namespace) -> int:
    data, found, document, report = opened(chosen.file)
    for line in report.lines():
        complain(f"{chosen.file}: {line}")
    conversion = found.conversions.get(chosen.to)
    if conversion is None:
        known = ", ".join(found.conversions)
        raise WriteError(
            f"an {found.title} ({found.name}) cannot be converted to {chosen.to!r}",
            file=chosen.file,
            remedy=f"Known: {known}" if known else "This format has one version",
        )
    output = chosen.file if chosen.in_place else chosen.output
    if not chosen.in_place and Path(output).resolve() == Path(chosen.file).resolve():
        raise WriteError("this is the file that is converted", file=output, remedy="To replace it say --in-place")
    told = Report()
    converted = found.module.write(conversion(document, told))
    # What we could not read ourselves shall replace nobody's file.
    found.module.read(converted, output, Report())
    for line in told.lines():
        print(line)
    if chosen.in_place and converted == data:
        print(f"{output}: nothing changed, left as it is")
        return 0
    write_atomically(output, converted, backup=chosen.backup)
    print(f"{output}: {found.name} {chosen.to}, {len(converted)} bytes (from {len(data)})")
    return 0
