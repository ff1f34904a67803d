"""The commands `extract` and `pack`: files out of an archive into a folder, and files into an archive."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..core.errors import ReadError, WriteError
from ..core.files import FileLocation, backup_of, exists, read_file, resolved
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
        "the archive. Names are those that info lists, without the prefix of a .pbo. Exit status: 2 where a name "
        "matches no file, a file had to be left out, or a checksum is wrong (such a file is written as it is).",
    )
    command.add_argument(
        "archive", metavar="ARCHIVE", help="a .db*, .xdb*, .xp*, .xrp, .pbo, .hog or .mn3; ARCHIVE/NAME for one file"
    )
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
        description="Make an archive of Descent 3 (.hog, .mn3) of files. It has no folders, and no other archives are "
        "written. With --onto, files of the archive that have the same name are replaced, all others stay.",
    )
    pack.add_argument(
        "files", nargs="+", metavar="FILE", help="a file, also in an archive; a pattern; a folder of files"
    )
    pack.add_argument("--onto", metavar="ARCHIVE", help="the archive whose other files stay")
    add_output(pack, "write the archive here", "the archive named by --onto")
    pack.set_defaults(run=_pack)


def _extract(chosen: argparse.Namespace) -> int:
    inside = archives.split(chosen.archive)
    outer, names = (
        (inside[0], [inside[1], *(chosen.names or ())]) if inside is not None else (chosen.archive, chosen.names)
    )
    archive = archives.open_archive(outer, findings := Report())
    every = list(archive.below())
    wanted, unmatched = _matching(names, archive) if names else (every, [])
    if unmatched and not wanted:
        raise unmatched[0]
    written = archives.extract(archive, make_folder(chosen.output), findings, wanted, overwrite=chosen.overwrite)
    for path in written:
        say(str(path))
    for refusal in unmatched:
        complain(str(refusal))
    if not names and len(every) < len(archive):
        doubled = counted(len(archive) - len(every), "file")
        complain(f"{outer}: {doubled} left out: the game takes another of the same name.")
    for line in findings.lines():
        complain(f"{outer}: {line}")
    is_whole = len(written) == len(wanted) and not (unmatched or archive.table.left_out or written.is_damaged)
    return 0 if is_whole else TROUBLE


def _archive(path: str) -> hog2.Hog2:
    """Return an archive and print what the reader reports. Raises `ReadError`."""
    _, source, archive, report = opened(path)
    if source is not format_named("hog2"):
        problem = f"this is not an archive of Descent 3, but of another kind: {source.title} ({source.name})"
        raise ReadError(problem, file=path, remedy="Name a .hog or .mn3: no others are written")
    for line in report.lines():
        complain(f"{path}: {line}")
    result: hog2.Hog2 = archive
    return result


def _pack(chosen: argparse.Namespace) -> int:
    if chosen.in_place and not chosen.onto:
        raise WriteError("no archive is named that --in-place could replace", remedy="Name it with --onto")
    output = chosen.onto if chosen.in_place else chosen.output
    suffixes = format_named("hog2").suffixes
    if not chosen.in_place and Path(output).suffix.lower() not in suffixes:
        problem = "only archives of Descent 3 are written"
        raise WriteError(problem, file=output, remedy=f"Give it one of the suffixes {', '.join(suffixes)}")
    if not chosen.in_place and chosen.onto:
        refuse_same_file(output, chosen.onto, "changed")
    own = {resolved(path) for path in (output, chosen.onto) if path}
    paths = [path for path in _files(chosen.files) if resolved(path) not in own]
    if not paths:
        raise ReadError("there is nothing to put into it", file=output, remedy="Name other files than the archive")
    by_name = {_name_of(path): path for path in paths}
    if len(by_name) != len(paths):
        twice = next(name for name in by_name if sum(_name_of(path) == name for path in paths) > 1)
        raise WriteError(f"two files are named '{twice}'", remedy="An archive has no folders: rename one")
    contents = {name: _content(path) for name, path in by_name.items()}
    times = {name: _time_of(path) for name, path in by_name.items()}
    base = _archive(chosen.onto) if chosen.onto else None
    archive = hog2.new_hog2(contents, times) if base is None else hog2.with_files(base, contents, times)
    lost = _lost(output, archive) if base is None else []
    if lost:
        missing = f"{counted(len(lost), 'file')} that the new one does not have ({listed(lost)})"
        backup = backup_of(output)
        if exists(backup) and read_file(backup) != read_file(output):
            problem = f"the old archive would be lost: it has {missing}, and {backup.name} is another one"
            raise WriteError(problem, file=output, remedy="Move the .bak away; to add files to an archive, use --onto")
        complain(f"{output}: the old archive has {missing}; it is kept with .bak added. To add files, use --onto.")
    data = hog2.write(archive)
    if chosen.in_place and base is not None and data == hog2.write(base):
        say(f"{output}: no changes, file not written")
        return 0
    save(output, data, hog2.read, backup=chosen.backup or bool(lost), by_archive=True)
    for name, content in contents.items() if base is not None else ():
        say(f"{_change(base, name, content)}: {name}")
    say(f"{output}: {counted(len(archive.table), 'file')}, {len(data)} bytes")
    return 0


def _name_of(path: str) -> str:
    """Return the name of a file without its folders, on disk or in an archive."""
    inside = archives.split(path)
    return Path(path).name if inside is None else inside[1].rpartition("\\")[2]


def _content(path: str) -> bytes:
    """Return the bytes of a file on disk or in an archive, which may be empty. Raises `ReadError`."""
    inner = archives.inner_file(path, verify=True)
    if inner is not None:
        return inner
    return b"" if Path(path).is_file() and not Path(path).stat().st_size else read_file(path)


def _time_of(path: str) -> int:
    """Return when a file or its archive was changed, in seconds as far as a `.hog` has room for them."""
    stamp = FileLocation(path).stamp()
    return min(max(stamp[0] // 10**9, 0), _LAST_TIME) if stamp is not None else 0


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


def _files(named: Sequence[str]) -> list[str]:
    """Return the files named, and those that lie in the folders named.

    Raises `ReadError` if there are none, `WriteError` for a folder with others in it.
    """
    result: list[str] = []
    for path in expanded(named):
        entries = sorted(Path(path).iterdir()) if Path(path).is_dir() else []
        if folders := [entry.name for entry in entries if entry.is_dir()]:
            problem = f"an archive has no folders, and this folder has some ({listed(folders)})"
            raise WriteError(problem, file=path, remedy=f"Name what goes into it, such as {path}/*")
        result += [str(entry) for entry in entries if entry.is_file()] if Path(path).is_dir() else [path]
    if not result:
        raise ReadError("there is no file in it", file=named[0], remedy="Name files, or a folder that has some")
    return result


def _matching(patterns: Sequence[str], archive: archives.Archive) -> tuple[list[int], list[ReadError]]:
    """Return the indices of the files that match, and refusals of patterns without a match."""
    result: set[int] = set()
    refusals: list[ReadError] = []
    for pattern in patterns:
        matches = archives.matching(archive, pattern)
        result.update(matches)
        if not matches:
            refusals.append(archives.no_such_file(archive, pattern))
    return sorted(result), refusals
