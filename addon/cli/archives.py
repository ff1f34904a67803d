"""The commands `extract` and `pack`: files out of an archive into a folder, and files into an archive."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..core.errors import ReadError, WriteError
from ..core.files import backup_of, read_file, resolved
from ..core.report import Report, counted, listed
from ..formats import archives, format_named
from ..formats.descent3 import hog2
from .files import add_output, expanded, make_folder, opened, refuse_same_file, save
from .output import TROUBLE, complain, say

_LAST_TIME = 0xFFFFFFFF


def add_commands(commands: argparse._SubParsersAction[Any]) -> None:
    """Add the two commands to the parser."""
    command = commands.add_parser(
        "extract",
        help="write the files of an archive into a folder",
        usage="%(prog)s [-h] ARCHIVE [NAME ...] -o FOLDER [--overwrite]",
        description="Write the files of an archive of X-Ray, Arma or Descent 3 below a folder, each under its path in "
        "the archive. Exit status: 2 where a file had to be left out.",
    )
    command.add_argument("archive", metavar="ARCHIVE", help="a .db*, .xdb*, .xp*, .xrp, .pbo, .hog or .mn3")
    names = command.add_argument(
        "names", nargs="+", metavar="NAME", help="a name, a folder, or a pattern with * and ?; default all"
    )
    names.required = False  # nargs="*" would refuse names that follow -o
    command.add_argument("-o", "--output", metavar="FOLDER", required=True, help="made where it is missing")
    command.add_argument("--overwrite", action="store_true", help="replace existing files")
    command.set_defaults(run=_extract)
    pack = commands.add_parser(
        "pack",
        help="make an archive of files, or put files into one",
        description="Make an archive of Descent 3 of files. With --onto, files of the archive that have the same name "
        "are replaced, all others stay.",
    )
    pack.add_argument("files", nargs="+", metavar="FILE", help="a file, a pattern with * and ?, or a folder of files")
    pack.add_argument("--onto", metavar="ARCHIVE", help="the archive whose other files stay")
    add_output(pack, "write the archive here", "the archive named by --onto")
    pack.set_defaults(run=_pack)


def _extract(chosen: argparse.Namespace) -> int:
    archive = archives.open_archive(chosen.archive, findings := Report())
    wanted = _matching(chosen.names, archive) if chosen.names else range(len(archive))
    written = archives.extract(archive, make_folder(chosen.output), findings, wanted, overwrite=chosen.overwrite)
    for path in written:
        say(str(path))
    for line in findings.lines():
        complain(f"{chosen.archive}: {line}")
    return TROUBLE if len(written) < len(wanted) or archive.table.left_out else 0


def _archive(path: str) -> hog2.Hog2:
    """Return an archive and print what the reader reports. Raises `ReadError`."""
    _, source, archive, report = opened(path)
    if source is not format_named("hog2"):
        raise ReadError(f"this is no archive, but {source.title} ({source.name})", file=path, remedy="Name an archive")
    for line in report.lines():
        complain(f"{path}: {line}")
    result: hog2.Hog2 = archive
    return result


def _pack(chosen: argparse.Namespace) -> int:
    if chosen.in_place and not chosen.onto:
        raise WriteError("no archive is named that --in-place could replace", remedy="Name it with --onto")
    output = chosen.onto if chosen.in_place else chosen.output
    if not chosen.in_place and chosen.onto:
        refuse_same_file(output, chosen.onto, "changed")
    archives = {resolved(path) for path in (output, chosen.onto) if path}
    paths = [path for path in _files(chosen.files) if resolved(path) not in archives]
    by_name = {path.name: path for path in paths}
    if len(by_name) != len(paths):
        twice = next(name for name in by_name if sum(path.name == name for path in paths) > 1)
        raise WriteError(f"two files are named {twice!r}", remedy="An archive has no folders: rename one")
    contents = {name: _content(path) for name, path in by_name.items()}
    times = {name: min(max(int(path.stat().st_mtime), 0), _LAST_TIME) for name, path in by_name.items()}
    base = _archive(chosen.onto) if chosen.onto else None
    archive = hog2.new_hog2(contents, times) if base is None else hog2.with_files(base, contents, times)
    lost = _lost(output, archive) if base is None else []
    if lost:
        missing = f"{counted(len(lost), 'file')} that the new one does not have ({listed(lost)})"
        kept = "" if backup_of(output).exists() else "; it is kept with .bak added"
        complain(f"{output}: the old archive has {missing}{kept}. To add files to an archive, use --onto.")
    data = hog2.write(archive)
    if chosen.in_place and base is not None and data == hog2.write(base):
        say(f"{output}: no changes, file not written")
        return 0
    save(output, data, hog2.read, backup=chosen.backup or bool(lost))
    for name, content in contents.items() if base is not None else ():
        say(f"{_change(base, name, content)}: {name}")
    say(f"{output}: {counted(len(archive.table), 'file')}, {len(data)} bytes")
    return 0


def _content(path: Path) -> bytes:
    """Return the bytes of a file, which may be empty in an archive. Raises `ReadError`."""
    return b"" if path.is_file() and not path.stat().st_size else read_file(path)


def _lost(output: str, archive: hog2.Hog2) -> list[str]:
    """Return the names of the files that an archive at ``output`` has and the one that replaces it does not."""
    try:
        old = hog2.read(read_file(output), output, Report())
    except ReadError:
        return []
    return [name for name in old.names if archive.find(name) is None]


def _change(base: hog2.Hog2 | None, name: str, content: bytes) -> str:
    """Return what a file with this name and content changes in an archive."""
    number = base.find(name) if base is not None else None
    if base is None or number is None:
        return "added"
    return "unchanged" if bytes(base.contents[number]) == content else "replaced"


def _files(named: Sequence[str]) -> list[Path]:
    """Return the files named, and those that lie in the folders named. Raises `ReadError` if there are none."""
    result: list[Path] = []
    for path in map(Path, expanded(named)):
        result += sorted(path for path in path.iterdir() if path.is_file()) if path.is_dir() else [path]
    if not result:
        raise ReadError("there is no file in it", file=named[0], remedy="Name files, or a folder that has some")
    return result


def _matching(patterns: Sequence[str], archive: archives.Archive) -> list[int]:
    """Return the indices of the files that match. Raises `ReadError` for a pattern without a match."""
    result: set[int] = set()
    for pattern in patterns:
        matches = archives.matching(archive, pattern)
        if not matches:
            words = f"no file in it matches {pattern!r}"
            raise ReadError(words, file=str(archive.path), remedy="See their names with info")
        result.update(matches)
    return sorted(result)
