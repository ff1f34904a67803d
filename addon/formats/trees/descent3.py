"""The tree of Descent 3: loose files win over archives, archives that the game opens later over earlier ones.

Files have no folders in an archive: a file is found by its name alone. The game opens its archives in the order of
their names (``d3.hog``, ``extra.hog``, ``extra13.hog``); a mission's own (`.mn3`) is opened last.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .disk import Disk, Root
from .tree import Mounted, Tree, key_of

KIND = "Descent 3"
ARCHIVES = (".hog", ".mn3")
FOLDERS = ("", "data", "textures", "bitmaps", "missions")
"""Folders of the game whose loose files are found."""
MOST_ARCHIVES = 64
"""Most archives of one folder that are opened."""


class FlatTree(Tree):
    """A tree whose files are found by their names alone."""

    def key(self, name: str) -> str:
        """Return the last part of a name."""
        return key_of(name).rpartition("\\")[2]

    def below(self, _folder: str, suffix: str = "", _refused: int = 0) -> dict[str, Path]:
        """Return name -> path of all files with this suffix that the game takes."""
        names = {name for name, (_, is_folder) in self.disk.names("").items() if not is_folder}
        names |= {name for archive in self.archives for name, _ in archive.below("", suffix)}
        paths = ((name, self.find(name)) for name in sorted(names) if name.endswith(suffix))
        return {name: path for name, path in paths if path is not None}


def tree(root: Path, mods: Sequence[Path] = (), first: Path | None = None) -> Tree:
    """Return the tree of the game in a folder, under those of its mods; ``first``: an archive that wins over others."""
    folders = [*reversed(mods), root]
    disk = Disk([Root(folder / name if name else folder) for folder in folders for name in FOLDERS])
    archives = [Mounted(first, (0, (b"",)), "")] if first is not None else []
    for number, folder in enumerate(folders):
        names = sorted(Disk([Root(folder)]).names("").items(), reverse=True)
        paths = [path for name, (path, is_folder) in names if name.endswith(ARCHIVES) and not is_folder]
        archives += [
            Mounted(path, (-number - 1, (path.name.lower().encode(),)), "")
            for path in paths[:MOST_ARCHIVES]
            if path != first
        ]
    return FlatTree(KIND, root, disk, archives, lambda _key: (1,))
