"""Archives of the games: `.db* .xdb* .xp* .xrp` of X-Ray, `.pbo` of Arma, `.hog .mn3` of Descent 3. Reading only.

A kind of archive is a module with the function ``read_table``. Opening an archive reads its table; each file is read
when it is asked for, by opening the archive, seeking and closing it, since a game or a launcher may replace an archive
that is not open. `.hog` archives are also a format of their own (`formats.descent3.hog2`), which can be written.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from ...core.errors import ReadError
from ...core.files import exists, is_file, make_folder, opened_for_reading, warn_of_replacing, write_atomically
from ...core.report import Report, say
from .. import Format, detect, format_named
from . import hog, kept, pbo, xray
from .table import VIEWS, Archive, Method, Table, checksum_problem, describe, key_of, sorted_by_name, without_unclean

__all__ = ["VIEWS", "Archive", "Method", "Table", "describe", "kept"]

FORMAT = Format("archive", "archive of a game", (), "archives")
"""Archives that are only read, for commands that describe and compare: their document is the `Table`."""
_KINDS = (hog, xray, pbo)
SUFFIXES = (".db*", ".xdb*", ".xp*", ".xrp", ".pbo", *format_named("hog2").suffixes)
"""Suffixes of archives, as users write them."""
_HEAD = 16
_MOST_SHARED = 64
"""How often the files that are extracted at once may have the size of the archive: X-Ray stores equal files once."""


def is_archive(path: Path | str) -> bool:
    """Return whether a file begins like an archive and has no suffix of another format. False for a file that cannot be
    read.
    """
    named = detect(path, b"")
    if named is not None and named is not format_named("hog2"):
        return False
    try:
        with opened_for_reading(path) as file:
            head, size = file.read(_HEAD), os.fstat(file.fileno()).st_size
    except ReadError:
        return False
    return any(kind.starts_like(head, size, str(path)) for kind in _KINDS)


def is_only_read(path: Path | str) -> bool:
    """Return whether a file is an archive that is not also a format which is written."""
    return detect(path, b"") is None and is_archive(path)


def kind_of_content(path: Path | str) -> str:
    """Return of what kind the archive at a path is, whatever its suffix; "" for a file that is not an archive, or for
    one that has no files.
    """
    try:
        archive = open_archive(path, Report())
    except ReadError:
        return ""
    return archive.table.kind if len(archive) else ""


def open_archive(path: Path | str, report: Report) -> Archive:
    """Read the table of an archive; what is odd goes to ``report``.

    Raises `ReadError` if the file is not an archive, is damaged, or is encrypted.
    """
    with opened_for_reading(path) as file:
        status = os.fstat(file.fileno())
        head = file.read(_HEAD)
        kind = next((kind for kind in _KINDS if kind.starts_like(head, status.st_size, str(path))), None)
        if kind is None:
            raise ReadError(
                "this is not an archive of one of the games", file=str(path), remedy=xray.foreign(head) or _WHICH
            )
        table = kind.read_table(file, status.st_size, str(path), report)
    table = sorted_by_name(without_unclean(table, report))
    return Archive(Path(path), table, (status.st_size, status.st_mtime_ns))


_WHICH = "Name an archive of X-Ray, Arma or Descent 3"


@lru_cache(maxsize=4096)
def _opened(path: Path, size: int, time: int) -> tuple[Archive, Report]:
    report = Report()
    known = kept.load(path, (size, time))
    if known is not None:
        return Archive(path, known, (size, time)), report
    archive = open_archive(path, report)
    if not report.lines() and archive.status == (size, time):
        kept.store(path, archive.status, archive.table)
    return archive, report


def _unchanged(path: Path | str) -> tuple[Archive, Report]:
    """Return an archive whose table is read once, unless the file changes, and what is odd about it."""
    status = Path(path).stat()
    return _opened(Path(path), status.st_size, status.st_mtime_ns)


def opened(path: Path | str) -> Archive:
    """Return an archive whose table is read once, unless the file changes. Raises `ReadError` as `open_archive`."""
    return _unchanged(path)[0]


# Paths that lead into archives ---------------------------------------------------------------------------------------


_LONGEST_INNER = 1024
"""Characters of a path that may lead on inside of an archive: longer ones are not names in one (`table.is_clean`)."""


def split(path: Path | str) -> tuple[Path, str] | None:
    """Return archive and inner path of a path that leads into an archive, ``db/meshes.db0/actors/x.ogf``; else None.

    An existing file or folder of that name wins. The inner path may be in any case and have both slashes.
    """
    given = os.fspath(path)
    if exists(given):
        return None
    first = max(0, len(given) - _LONGEST_INNER)
    for match in reversed(list(re.compile(r"[/\\]").finditer(given, first))):
        outer, inner = given[: match.start()], given[match.end() :]
        if is_file(outer):
            return (Path(outer), inner.replace("/", "\\")) if inner and is_archive(outer) else None
        if exists(outer):
            return None
    return None


def expanded(path: str) -> list[str]:
    """Return the paths of the files in an archive that an inner path with ``*`` and ``?`` matches; none for any other
    path. A name that has no such sign is also a folder.
    """
    parts = split(path)
    if parts is None:
        return []
    archive = opened(parts[0])
    indices = matching(archive, parts[1])
    return [f"{parts[0]}{os.sep}{archive.table.names[index]}" for index in indices]


def matching(archive: Archive, pattern: str) -> list[int]:
    """Return the indices of the files that count whose names are, or match, ``pattern``, or lie in the folder of that
    name.
    """
    key = key_of(pattern).strip("\\")
    exact = archive.find(key)
    if exact is not None:
        return [exact]
    match = re.compile(fnmatch.translate(key.replace("[", "[[]"))).match  # names may contain brackets
    folder = f"{key}\\"
    keys = archive.keys
    return [index for index in archive.below() if keys[index].startswith(folder) or match(keys[index])]


def no_such_file(archive: Archive, name: str) -> ReadError:
    """Return the refusal of a name that no file of an archive has or matches."""
    mount = archive.table.mount
    if mount and key_of(name).startswith(key_of(mount)):
        remedy = say("Leave out {}: the names in the archive are without it", mount)
    else:
        remedy = say("List it to see the names")
    is_pattern = any(sign in name for sign in "*?")
    words = say("no file in it matches '{}'", name) if is_pattern else say("there is no file named '{}' in it", name)
    return ReadError(words, file=str(archive.path), remedy=remedy)


class InnerFile(NamedTuple):
    """A file inside of an archive, as `core.inner_files` describes it."""

    archive: Archive
    number: int

    @property
    def path(self) -> str:
        """Path that leads to it, the name as the archive spells it."""
        return str(self.archive.path.joinpath(*self.archive.table.names[self.number].split("\\")))

    @property
    def stamp(self) -> tuple[int, int]:
        """Time (ns) and size of the archive."""
        size, time = self.archive.status
        return time, size

    def read(self) -> bytes:
        """Return its bytes. Raises `ReadError` if they are damaged."""
        return self.archive.read(self.number)


def find_inner(path: Path | str) -> InnerFile | None:
    """Return the file inside of an archive to which a path leads, None if there is none.

    Raises `ReadError` if the archive cannot be read.
    """
    parts = split(path)
    if parts is None:
        return None
    archive = opened(parts[0])
    index = archive.find(parts[1])
    return None if index is None else InnerFile(archive, index)


def inner_file(path: Path | str, *, verify: bool = False) -> bytes | None:
    """Return the bytes of a path that leads into an archive; None for any other path. ``verify``: check its checksum.

    Raises `ReadError` if the archive cannot be read or has no such file.
    """
    parts = split(path)
    if parts is None:
        return None
    inner = find_inner(path)
    if inner is None:
        raise no_such_file(opened(parts[0]), parts[1])
    return inner.archive.verify(inner.number) if verify else inner.read()


def verify(path: Path | str) -> list[str]:
    """Return warnings about an archive as a whole: its names, and the checksum after its files. Raises `ReadError`."""
    archive, findings = _unchanged(path)
    report = Report()
    report.include(findings)
    repeated = [name for name, count in Counter(archive.keys).items() if count > 1]
    if repeated:
        report.warn(say("{:# name is|# names are} listed more than once", len(repeated)), repeated[0])
    if problem := _whole_problem(archive):
        report.warn(problem)
    return report.lines()


def _whole_problem(archive: Archive) -> str:
    """Return what is wrong with the checksum after all files of an archive, "" if it is right or there is none."""
    if not archive.table.has_sha1:
        return ""
    with opened_for_reading(archive.path) as file:
        return pbo.checksum_problem(file, archive.table, archive.status[0])


class Extracted(list[Path]):
    """The paths that were written; ``is_damaged``: whether any of them, or the whole archive, has a wrong checksum."""

    is_damaged = False


def extract(
    archive: Archive, folder: Path, report: Report, wanted: Iterable[int] | None = None, *, overwrite: bool = False
) -> Extracted:
    """Write all files, or those with the indices ``wanted``, below an existing folder. Returns the paths written.

    Existing files (unless ``overwrite``), whatever lies behind a link, and files that cannot be unpacked are left out
    and reported, as are a wrong checksum of the whole archive and what a replaced file loses. Raises `WriteError` if
    the system refuses to write, and `ReadError` if the files have the same bytes so often that they would fill a disk.
    """
    written = Extracted()
    indices = list(range(len(archive)) if wanted is None else wanted)
    if int(archive.table.numbers["stored"][indices].sum()) > _MOST_SHARED * archive.status[0]:
        words = "its {:# file|# files} are the same bytes again and again"
        raise ReadError(say(words, len(indices)), file=str(archive.path), remedy="Extract only files that you need")
    if problem := _whole_problem(archive):
        report.warn(say("damaged: {}; written as it is", problem))
        written.is_damaged = True
    for index in indices:
        name = archive.table.names[index]
        path = folder.joinpath(*name.split("\\"))
        above = [parent for parent in path.parents if folder in parent.parents]
        if archive.find(name) != index:
            report.warn("left out: another file has the same name", name)
        elif any(parent.is_symlink() or (parent.exists() and not parent.is_dir()) for parent in above):
            report.warn("left out: a file or a link is where its folder would be", name)
        elif path.is_dir() and not path.is_symlink():
            report.warn("left out: a folder of this name is there", name)
        elif path.is_symlink() or (path.exists() and not overwrite):
            report.warn("left out: there is such a file already", name)
        else:
            try:
                data = archive.read(index)
            except ReadError as damaged:
                report.warn(say("left out: {}", damaged.problem), name)
                continue
            if problem := checksum_problem(archive.entry(index), data):
                report.warn(say("damaged: {}; written as it is", problem), name)
                written.is_damaged = True
            make_folder(path.parent)
            warn_of_replacing(path, report)
            write_atomically(path, data, tidy=not written)
            written.append(path)
    return written
