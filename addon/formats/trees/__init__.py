"""Trees: the files of a game as it is installed, from its archives, loose folders and mods (`tree.Tree`).

A game is recognised by what its folder has. `tree_at` makes its tree, each task makes one: this lists a few folders and
opens no archive, and what has changed on disk is seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ...core.errors import ReadError
from ...core.game import InstalledGame
from .. import archives
from . import arma, descent3, disk, installed, organizer, xray
from .disk import Disk, Root
from .index import Index
from .kinds import ARMA, DESCENT3, LOOKED_FOR, XRAY, kind_of, kind_of_archive
from .places import archive_tree, head_of, source_of
from .tree import Mounted, Tree, key_of

__all__ = [
    "ARMA",
    "DESCENT3",
    "LOOKED_FOR",
    "XRAY",
    "Index",
    "InstalledGame",
    "Tree",
    "archive_tree",
    "around",
    "folder_tree",
    "folders_of",
    "game_of",
    "head_of",
    "installed",
    "kind_of",
    "kind_of_archive",
    "source_of",
    "tree_at",
    "tree_for",
    "tree_over",
]


def tree_at(game: InstalledGame) -> Tree:
    """Return the tree of a game. Raises `ReadError` if its folder has no game, and says what was looked for."""
    folder = game.folder
    kind = kind_of(folder)
    if kind == XRAY:
        if organizer.is_instance(folder):
            instance = organizer.read_instance(folder)
            game = InstalledGame(instance.game, (*instance.mods, *game.mods))
        elif folder.name.lower() == "gamedata" and xray.FSGAME in Disk([Root(folder.parent)]).names(""):
            game = InstalledGame(folder.parent, game.mods)
        return xray.tree(game)
    if kind == DESCENT3:
        return descent3.tree(game)
    if kind == ARMA:
        return arma.tree(game)
    raise ReadError("this folder has no game", file=str(folder), remedy=LOOKED_FOR)


def tree_over(folders: Sequence[Path]) -> Tree:
    """Return the tree of X-Ray folders, `InstalledGame.by_rank`: those of mods, the game's as the last.

    A folder that is no game is taken for an unpacked ``gamedata``. Raises `ReadError` as `tree_at`.
    """
    game = InstalledGame.ranked(folders)
    return tree_at(game) if kind_of(game.folder) == XRAY else xray.tree(game)


def folder_tree(folder: Path) -> Tree:
    """Return the tree of one folder, on disk or in an archive. Names that files have are looked for directly in it.

    As it may be any folder of a disk, `Tree.below` lists only its first `disk.MOST_FILES` entries.
    """
    inside = archives.split(folder)
    if inside is None:
        return Tree("", folder, Disk([Root(folder)]), most=disk.MOST_FILES)
    return Tree("", folder, Disk([]), [Mounted(inside[0], (0,), "")], data=f"{key_of(inside[1])}\\")


def game_of(path: Path, games: Sequence[InstalledGame]) -> InstalledGame | None:
    """Return the game of a file: that among ``games`` in whose folder or mods it is, else that around it, or None."""
    path = path.absolute()
    own = (game for game in games if any(path.is_relative_to(folder) for folder in folders_of(game)))
    if (game := next(own, None)) is not None:
        return game
    folder = around(path)
    return InstalledGame(folder) if folder is not None and kind_of(folder) else None


def tree_for(path: Path, games: Sequence[InstalledGame]) -> Tree | None:
    """Return the tree of the game of a file (`game_of`), None if there is none."""
    game = game_of(path, games)
    return tree_at(game) if game is not None else None


def folders_of(game: InstalledGame) -> Iterator[Path]:
    """Yield the folders of a game and its mods."""
    yield from (game.folder, *game.mods)
    if organizer.is_instance(game.folder):
        instance = organizer.read_instance(game.folder)
        yield from (instance.game, *instance.mods)


def around(path: Path) -> Path | None:
    """Return the folder of the game that a file is in, on disk or in an archive; None if there is none.

    The nearest that is one, else the unpacked ``gamedata``, or the folder that has ``meshes`` or ``levels``, around it.
    """
    inside = archives.split(path)
    file = inside[0] if inside is not None else path
    marks = {xray.FSGAME, organizer.SETTINGS.lower()}
    for folder in file.parents:
        if not marks.isdisjoint(disk.small_names(folder)):
            return folder
    wanted = ["meshes", "levels", *(arma.ADDON_FOLDERS if inside is not None else ())]
    named = (above.parent for name in wanted for above in file.parents if above.name.lower() == name)
    return next(named, file.parent if inside is not None else None)
