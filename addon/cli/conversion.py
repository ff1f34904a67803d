"""`convert`: a file in another version of its format, or a texture as a picture."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..core.errors import WriteError
from ..core.files import write_atomically
from ..core.report import Report
from .inspection import opened
from .output import complain


def add_command(commands: argparse._SubParsersAction[Any]) -> None:
    """Make the command known."""
    text = "write a file in another version of its format, or a texture as a picture"
    command = commands.add_parser("convert", help=text, description=text)
    command.add_argument("file", metavar="FILE")
    command.add_argument("--to", required=True, metavar="VERSION", help="for .anm: 3, 4 or 5; for textures: png")
    target = command.add_mutually_exclusive_group(required=True)
    target.add_argument("-o", "--output", metavar="OUT", help="write the result here")
    target.add_argument("--in-place", action="store_true", help="replace FILE, in one step")
    command.add_argument("--backup", action="store_true", help="keep the old bytes beside it, with .bak added")
    command.set_defaults(run=_convert)


def _convert(chosen: argparse.Namespace) -> int:
    data, found, document, report = opened(chosen.file)
    for line in report.lines():
        complain(f"{chosen.file}: {line}")
    rendering = found.renderings.get(chosen.to)
    if rendering is not None:
        return _render(chosen, rendering, document)
    conversion = found.conversions.get(chosen.to)
    if conversion is None:
        known = ", ".join((*found.conversions, *found.renderings))
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


def _render(chosen: argparse.Namespace, rendering: Callable[[Any, Report], list[bytes]], document: Any) -> int:
    """Write the files of another kind; several get numbers behind their name."""
    if chosen.in_place:
        raise WriteError(f"a {chosen.to} does not replace it", file=chosen.file, remedy="Name another file with -o")
    told = Report()
    files = rendering(document, told)
    for line in told.lines():
        print(line)
    output = Path(chosen.output)
    for number, data in enumerate(files):
        path = output if len(files) == 1 else output.with_name(f"{output.stem}_{number:04}{output.suffix}")
        if path.resolve() == Path(chosen.file).resolve():
            raise WriteError("this is the file that is converted", file=str(path), remedy="Name another")
        write_atomically(path, data, backup=chosen.backup)
        print(f"{path}: {chosen.to}, {len(data)} bytes")
    return 0
