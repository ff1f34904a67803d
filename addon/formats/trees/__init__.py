"""Trees: the files of a game as it is installed, from its archives, loose folders and mods (`tree.Tree`).

A game is recognised by what its folder has. `tree_at` makes its tree, each task makes one: this lists a few folders and
opens no archive, and what has changed on disk is seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ...core.errors import ReadError
from .. import archives
from . import arma, descent3, organizer, xray
from .disk import Disk, Root
from .tree import Tree

__all__ = ["Game", "Tree", "around", "kind_of", "tree_at", "tree_for"]

XRAY, ARMA, DESCENT3 = "XRAY", "ARMA", "DESCENT3"
LOOKED_FOR = (
    "Choose the folder with fsgame.ltx, gamedata or ModOrganizer.ini (S.T.A.L.K.E.R.), with Addons, Dta, config.cpp or "
    "$PBOPREFIX$ in it (Arma), or with .hog archives (Descent 3)"
)


class Game(NamedTuple):
    """A game as it is installed: its folder, that of Mod Organizer, or an unpacked one, and folders of ``mods``, of
    which later ones win.
    """

    folder: Path
    mods: tuple[Path, ...] = ()


def kind_of(folder: Path) -> str:
    """Return which game a folder has: `XRAY`, `ARMA`, `DESCENT3`, or "" if it has none."""
    names = Disk([Root(folder)]).names("")
    if organizer.SETTINGS.lower() in names or xray.FSGAME in names or "gamedata" in names:
        return XRAY
    if any(name.endswith(descent3.ARCHIVES) for name in names):
        return DESCENT3
    if any(xray.is_archive_name(name) for name in names):
        return XRAY
    if not names.keys().isdisjoint(arma.MARKS) or arma.has_addons(folder):
        return ARMA
    if any(name in names and names[name][1] for name in xray.PARTS):
        return XRAY
    return ARMA if arma.has_sources(folder) else ""


def tree_at(game: Game) -> Tree:
    """Return the tree of a game. Raises `ReadError` if its folder has no game, and says what was looked for."""
    folder, mods = game
    kind = kind_of(folder)
    if kind == XRAY:
        if organizer.is_instance(folder):
            instance = organizer.read_instance(folder)
            folder, mods = instance.game, (*instance.mods, *mods)
        elif folder.name.lower() == "gamedata" and xray.FSGAME in Disk([Root(folder.parent)]).names(""):
            folder = folder.parent
        return xray.tree(folder, mods)
    if kind == DESCENT3:
        return descent3.tree(folder, mods)
    if kind == ARMA:
        return arma.tree(folder, mods)
    raise ReadError("this folder has no game", file=str(folder), remedy=LOOKED_FOR)


def tree_for(path: Path, games: Sequence[Game]) -> Tree | None:
    """Return the tree of a file: that of the game among ``games`` in whose folder or mods it is, else that of the game
    around it; None if there is none.
    """
    path = path.absolute()
    for game in games:
        if any(path.is_relative_to(folder) for folder in _folders(game)):
            return tree_at(game)
    folder = around(path)
    return tree_at(Game(folder)) if folder is not None else None


def _folders(game: Game) -> Iterator[Path]:
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
    for folder in file.parents:
        names = Disk([Root(folder)]).names("")
        if xray.FSGAME in names or organizer.SETTINGS.lower() in names:
            return folder
    wanted = ["meshes", "levels", *(arma.ADDON_FOLDERS if inside is not None else ())]
    named = (above.parent for name in wanted for above in file.parents if above.name.lower() == name)
    return next(named, file.parent if inside is not None else None)
