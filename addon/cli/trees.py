"""The command `where`: which of a game's archives, folders and mods has the file that the game takes, and which others
have it too.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..core.errors import ReadError
from ..core.files import exists
from ..formats import archives, trees
from .output import complain, say


def add_command(commands: argparse._SubParsersAction[Any]) -> None:
    """Add the command to the parser."""
    command = commands.add_parser(
        "where",
        help="which file of a game counts: of its archives, folders and mods",
        description="Print the path of the file that the game takes, then, indented, those of the same name that it "
        "does not: in archives, loose folders and mods, in the game's own order.",
    )
    command.add_argument(
        "name", metavar="NAME", help=r"a name as files have it (textures\act\act_face.dds), or a file on disk"
    )
    command.add_argument("--game", metavar="FOLDER", help="the game, or Mod Organizer; default: that around the file")
    command.add_argument(
        "--mod", metavar="FOLDER", action="append", default=[], help="a mod over the game; later ones win"
    )
    command.set_defaults(run=_where)


def _where(chosen: argparse.Namespace) -> int:
    mods = tuple(map(Path, chosen.mod))
    file = Path(chosen.name)
    is_file = exists(file) or archives.split(file) is not None
    folder = Path(chosen.game) if chosen.game else trees.around(file.absolute() if is_file else Path.cwd() / "file")
    if folder is None:
        raise ReadError("there is no game around it", file=chosen.name, remedy="Name the game's folder with --game")
    tree = trees.tree_at(trees.InstalledGame(folder, mods))
    name = tree.name_of(file.absolute()) if is_file else chosen.name
    paths = tree.where(name)
    for line in tree.report().lines():
        complain(line)
    if not paths:
        raise ReadError(f"the game has no file of this name ({tree.kind})", file=name, remedy="Name it with its suffix")
    for number, path in enumerate(paths):
        unseen = "" if tree.is_seen(path, name) else " (the game does not look here)"
        say(f"{'  ' if number else ''}{path}{unseen}")
    return 0
