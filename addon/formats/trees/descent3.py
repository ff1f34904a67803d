"""The tree of Descent 3: loose files win over archives, archives that the game opens later over earlier ones.

Files have no folders in an archive: a file is found by its name alone. The game opens its archives in the order of
their names (``d3.hog``, ``extra.hog``, ``extra13.hog``); a mission's own (`.mn3`) is opened last.
"""

from __future__ import annotations

from pathlib import Path

from ...core.game import InstalledGame
from .disk import Disk, Root
from .tree import Mounted, Tree, key_of

KIND = "Descent 3"
ARCHIVES = (".hog", ".mn3")
FOLDERS = ("", "data", "textures", "bitmaps", "missions")
"""Folders of the game whose loose files are found."""
MOST_ARCHIVES = 64
"""Most archives of one folder that are opened."""


class FlatDisk(Disk):
    """Folders whose files are all directly in the tree, and which have no folders."""

    def names(self, key: str) -> dict[str, tuple[Path, bool]]:
        """Return small name -> path that wins, and False, of the files; nothing in any folder."""
        return {} if key else {name: row for name, row in super().names("").items() if not row[1]}


class FlatTree(Tree):
    """A tree whose files are found by their names alone."""

    def key(self, name: str) -> str:
        """Return the last part of a name."""
        return key_of(name).rpartition("\\")[2]


def tree(game: InstalledGame, first: Path | None = None) -> Tree:
    """Return the tree of a game; ``first``: an archive that wins over others."""
    folders = game.by_rank
    disk = FlatDisk([Root(folder / name if name else folder) for folder in folders for name in FOLDERS])
    archives = [Mounted(first, (0, (b"",)), "")] if first is not None else []
    for number, folder in enumerate(folders):
        names = sorted(Disk([Root(folder)]).names("").items(), reverse=True)
        paths = [path for name, (path, is_folder) in names if name.endswith(ARCHIVES) and not is_folder]
        archives += [
            Mounted(path, (-number - 1, (path.name.lower().encode(),)), "")
            for path in paths[:MOST_ARCHIVES]
            if path != first
        ]
    return FlatTree(KIND, game.folder, disk, archives, lambda _key: (1,))
