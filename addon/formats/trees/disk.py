"""Folders that lie over each other, as the mods of a game over its folder; names in any letter case, on every disk."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ...core.errors import ReadError
from ...core.files import is_file
from ...core.report import say

MOST_FILES = 20_000
"""Entries that are listed below a folder which may be any, so that a mask does not read a whole disk."""


class Root(NamedTuple):
    """A folder on disk, and the key at which its content is seen (`tree.key_of`, "" or with a backslash at the end)."""

    folder: Path
    mount: str = ""


class Disk:
    """``roots``: the first that has a file wins. A folder is listed once, when it is entered.

    On a disk that tells letters apart, files of one key are found in every spelling, the smallest in byte order first.
    """

    def __init__(self, roots: Sequence[Root]) -> None:
        self.roots = tuple(roots)
        self._listings: dict[Path, dict[str, list[tuple[str, bool]]]] = {}

    def listing(self, folder: Path) -> dict[str, list[tuple[str, bool]]]:
        """Return small name -> names as on disk and whether each is a folder; empty for a folder that is not readable
        or missing.
        """
        if folder not in self._listings:
            listing: dict[str, list[tuple[str, bool]]] = {}
            try:
                with os.scandir(folder) as entries:
                    names = sorted((entry.name, entry.is_dir()) for entry in entries if not _leads_up(entry))
            except OSError:
                names = []
            for name, is_folder in names:
                listing.setdefault(name.lower(), []).append((name, is_folder))
            self._listings[folder] = listing
        return self._listings[folder]

    def files(self, key: str) -> Iterator[Path]:
        """Yield the files with this key, the one that wins first."""
        *folders, name = key.split("\\")
        for folder in self.folders("".join(f"{part}\\" for part in folders)):
            paths = (folder / own for own, is_folder in self.listing(folder).get(name, ()) if not is_folder)
            yield from filter(is_file, paths)  # not links that lead nowhere

    def folders(self, key: str) -> Iterator[Path]:
        """Yield the folders with this key, which ends with a backslash or is "", the one that wins first."""
        for root, mount in self.roots:
            if key.startswith(mount):
                yield from self._below(root, key[len(mount) :].split("\\")[:-1])

    def _below(self, folder: Path, parts: Sequence[str]) -> Iterator[Path]:
        if not parts:
            yield folder
            return
        for name, is_folder in self.listing(folder).get(parts[0], ()):
            if is_folder:
                yield from self._below(folder / name, parts[1:])

    def names(self, key: str) -> dict[str, tuple[Path, bool]]:
        """Return small name -> path that wins and whether it is a folder, of what is directly in a folder."""
        result: dict[str, tuple[Path, bool]] = {}
        for folder in self.folders(key):
            for name, entries in self.listing(folder).items():
                result.setdefault(name, (folder / entries[0][0], entries[0][1]))
        inside = (mount[len(key) :] for _, mount in self.roots if mount.startswith(key) and mount != key)
        for mount in inside:
            name = mount.partition("\\")[0]
            result.setdefault(name, (next(self.folders(f"{key}{name}\\"), Path(name)), True))
        return result

    def walk(self, key: str, most: int = 0) -> Iterator[tuple[str, Path]]:
        """Yield key and path of the files below a folder: those of a folder in the order of their names, then its
        folders. Raises `ReadError` after ``most`` entries, if that is given.
        """
        visited, waiting = 0, [key]
        while waiting:
            here = waiting.pop()
            entries = sorted(self.names(here).items())
            for name, (path, is_folder) in entries:
                visited += 1
                if most and visited > most:
                    folder = str(next(self.folders(key), path.parent))
                    raise ReadError(say("the folder has more than {:# file|# files}", most), file=folder)
                if not is_folder:
                    yield here + name, path
            waiting += [f"{here}{name}\\" for name, (_, is_folder) in reversed(entries) if is_folder]


def small_names(folder: Path) -> set[str]:
    """Return the lower-case names directly in a folder; none of one that is not readable or missing.

    Much faster than `Disk.listing`: folders around a file may have thousands of others.
    """
    try:
        return {name.lower() for name in os.listdir(folder)}  # noqa: PTH208 (paths of all would take most of the time)
    except OSError:
        return set()


def _leads_up(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry of a folder is a link to a folder around it, by which a walk would never end."""
    if not entry.is_symlink():
        return False
    target = os.path.realpath(entry.path)
    return any(os.path.realpath(parent) == target for parent in Path(entry.path).parents)
