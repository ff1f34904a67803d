"""The commands `info`, `dump` and `diff`: kind of a file, its whole content as text, differences between two files."""

from __future__ import annotations

import argparse
from typing import Any

from ..core.errors import ReadError
from ..core.report import Report
from ..formats.engine_rules import remarks
from ..formats.verification import first_difference
from .files import expanded, opened
from .output import TROUBLE, complain, say


def add_commands(commands: argparse._SubParsersAction[Any]) -> None:
    """Add the three commands to the parser."""
    info = commands.add_parser(
        "info",
        help="a few lines about each file",
        description="Say in a few lines what each file is, what it holds, and what is odd about it.",
    )
    info.add_argument("files", nargs="+", metavar="FILE", help="a file of one of the games")
    info.set_defaults(run=_info)
    dump = commands.add_parser(
        "dump",
        help="everything a file says, as text made for comparing",
        description="Print everything a file says as text, which other programs can compare.",
    )
    dump.add_argument("file", metavar="FILE", help="a file of one of the games")
    dump.set_defaults(run=_dump)
    diff = commands.add_parser(
        "diff",
        help="what differs between two files",
        description="Say what differs between two files of one format. Exit status: 0 the same, 1 different, "
        "2 trouble.",
    )
    diff.add_argument("first", metavar="OLD", help="a file")
    diff.add_argument("second", metavar="NEW", help="a file of the same format")
    diff.set_defaults(run=_diff)


def _info(chosen: argparse.Namespace) -> int:
    status = 0
    for path in expanded(chosen.files):
        try:
            data, source, document, report = opened(path)
        except ReadError as refusal:
            complain(str(refusal))
            status = TROUBLE
            continue
        say(f"{path}: {source.title} ({source.name}), {len(data)} bytes")
        for line in source.module.describe(document):
            say(f"  {line}")
        for remark in remarks(source.name, document):
            say(f"  {remark.kind}: {remark.text}")
        for kind, lines in (("warning", Report(report.warnings)), ("note", Report(notes=report.notes))):
            for line in lines.lines():
                say(f"  {kind}: {line}")
    return status


def _dump(chosen: argparse.Namespace) -> int:
    _, source, document, _ = opened(chosen.file)
    for line in source.walk.dump(document):
        say(line)
    return 0


def _diff(chosen: argparse.Namespace) -> int:
    first_data, first_format, first, _ = opened(chosen.first)
    second_data, second_format, second, _ = opened(chosen.second)
    if first_format is not second_format:
        raise ReadError(
            f"these are of two formats: {chosen.first}: {first_format.title} ({first_format.name}), "
            f"{chosen.second}: {second_format.title} ({second_format.name})",
            remedy="Compare files of one format",
        )
    different = False
    for line in first_format.walk.differences(first, second):
        different = True
        say(line)
    if not different and first_data != second_data:
        different = True
        say(f"only bytes that have no name differ: {first_difference(first_data, second_data)}")
    return int(different)
