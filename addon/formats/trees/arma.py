r"""The tree of Operation Flashpoint, Arma and DayZ: addons by their prefixes, and folders of sources.

An addon's files are seen below its prefix (``\a3\characters_f``), which its `.pbo` has, or a file ``$PBOPREFIX$`` in
the folder of its sources. The drive ``P:`` of the tools is a folder in which paths start. Sources win over addons, the
addons of later mods over those of earlier ones and of the game; the game itself has no such order per file.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...core.files import read_file
from ...core.game import InstalledGame
from ..arma import names
from .disk import Disk, Root
from .tree import Mounted, Tree, key_of

KIND = "Arma, Operation Flashpoint"
MARKS = frozenset({"config.cpp", "config.bin", "model.cfg", "$pboprefix$", "$pboprefix$.txt", "$prefix$"})
"""Names of files that tell the folder of an addon's sources."""
PREFIX_FILES = ("$pboprefix$", "$pboprefix$.txt", "pboprefix.txt", "$prefix$")
ADDON_FOLDERS = ("addons", "dta")
ARCHIVES = (".pbo", ".ifa")
MOST_PREFIX = 4096
"""Most bytes of a file with a prefix that are read."""
DEEPEST = 4
"""Folders below a folder of sources in which addons are looked for."""
MOST_FOLDERS = 2_000
_SOURCES = 1 << 20


def tree(game: InstalledGame) -> Tree:
    """Return the tree of a game; its folder and its mods may also be folders of sources."""
    folders = game.by_rank
    disk = Disk([root for folder in folders if not has_addons(folder) for root in source_roots(folder)])
    archives = [
        Mounted(path, (-number, (path.name.lower().encode(),)))
        for number, folder in enumerate(folders)
        for path in addons(folder)
    ]
    ordered = sorted(archives, key=lambda archive: archive.rank, reverse=True)
    return Tree(KIND, game.folder, disk, ordered, lambda _key: (_SOURCES,))


def has_addons(folder: Path) -> bool:
    """Return whether a folder is that of the game or of a mod, with packed addons."""
    return next(addons(folder), None) is not None


def addons(folder: Path) -> Iterator[Path]:
    """Yield the packed addons of a game with its expansions, or of a mod. Mods inside the game's folder (``@name``) are
    not the game's.
    """
    disk = Disk([Root(folder)])
    inner = [f"{name}\\" for name, (_, is_folder) in disk.names("").items() if is_folder and name[0] not in "@!"]
    below = [f"{above}{name}\\" for above in ("", *inner) for name in ADDON_FOLDERS]
    for key in dict.fromkeys(["", *below]):
        for name, (path, is_folder) in disk.names(key).items():
            if not is_folder and name.endswith(ARCHIVES):
                yield path


def has_sources(folder: Path) -> bool:
    """Return whether a folder has sources of addons: a prefix or a config in it or a few folders below."""
    return any(not entries.keys().isdisjoint(MARKS) for _, entries in _source_folders(Disk([Root(folder)])))


def source_roots(folder: Path) -> Iterator[Root]:
    """Yield an addon's folder at its prefix, for each that has a file with one, and the folder itself, as drive P:."""
    disk = Disk([Root(folder)])
    for key, entries in _source_folders(disk):
        if prefix := key_of(_prefix_in(entries)):
            yield Root(next(disk.folders(key)), f"{prefix}\\")
    yield Root(folder)


def _source_folders(disk: Disk) -> Iterator[tuple[str, dict[str, tuple[Path, bool]]]]:
    """Yield key and content of a folder and those below, up to those of an addon."""
    waiting, visited = [("", 0)], 0
    while waiting and visited < MOST_FOLDERS:
        key, depth = waiting.pop()
        visited += 1
        entries = disk.names(key)
        yield key, entries
        if depth < DEEPEST and entries.keys().isdisjoint(PREFIX_FILES):
            waiting += [(f"{key}{name}\\", depth + 1) for name, (_, is_folder) in entries.items() if is_folder]


def prefix_of(folder: Path) -> str:
    """Return the prefix that a file in an addon's folder names, in the spelling of the file; "" if none does."""
    return _prefix_in(Disk([Root(folder)]).names(""))


def _prefix_in(entries: dict[str, tuple[Path, bool]]) -> str:
    prefixes = (_prefix(entries[name][0]) for name in PREFIX_FILES if name in entries and not entries[name][1])
    return next(filter(None, prefixes), "")


def _prefix(path: Path) -> str:
    """Return the prefix that a file names: the first line that is one, also ``prefix=x/tag``."""
    lines = names.decode(read_file(path, MOST_PREFIX)).splitlines() if path.stat().st_size else []
    for line in lines:
        key, equals, value = line.partition("=")
        if equals and key.strip().lower() != "prefix":
            continue
        prefix = (value if equals else line).strip().strip("\"';\\/ ")
        if prefix and not prefix.startswith("//"):
            return prefix
    return ""
