"""The command `where`: which of a game's archives, folders and mods has the file that the game takes, and which others
have it too.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from ..core.errors import ReadError
from ..core.files import exists, is_folder
from ..formats import archives, trees
from .output import complain, say


def add_command(commands: argparse._SubParsersAction[Any]) -> None:
    """Add the command to the parser."""
    command = commands.add_parser(
        "where",
        help="which file of a game counts: of its archives, folders and mods",
        description="Print the path of the file that the game takes, then, indented, those of the same name that it "
        "does not: in archives, loose folders and mods, in the game's own order. Exit status: 2 if it takes none.",
    )
    command.add_argument(
        "name", metavar="NAME", help=r"a name as files have it (textures\act\act_face.dds), or a file on disk"
    )
    command.add_argument("--game", metavar="FOLDER", help="the game, or Mod Organizer; default: that around the file")
    command.add_argument(
        "--mod",
        metavar="FOLDER",
        action="append",
        default=[],
        help="a mod over the game, also an @name in its folder (Arma); later ones win",
    )
    command.set_defaults(run=_where)


def _where(chosen: argparse.Namespace) -> int:
    mods = tuple(map(_folder, chosen.mod))
    if not chosen.name.strip():
        raise ReadError("no name is given", remedy="Name a file of the game")
    file = _absolute(chosen.name)
    is_file = exists(file) or archives.split(file) is not None
    folder = _folder(chosen.game) if chosen.game else trees.around(file if is_file else Path.cwd() / "file")
    if folder is None:
        raise ReadError("there is no game around it", file=chosen.name, remedy="Name the game's folder with --game")
    tree = trees.tree_at(trees.InstalledGame(folder, mods))
    name = (is_file and tree.name_of(file)) or chosen.name
    paths = tree.where(name)
    for line in tree.report().lines():
        complain(line)
    if not paths:
        raise _missing(tree, chosen.name, name, file if is_file else None)
    for number, path in enumerate(paths):
        unseen = "" if tree.is_seen(path, name) else " (the game does not look here)"
        say(f"{'  ' if number else ''}{path}{unseen}")
    return 0


def _missing(tree: trees.Tree, given: str, name: str, file: Path | None) -> ReadError:
    """Return the refusal of a name under which the game takes no file. ``file``: the path, if one exists."""
    if any(sign in given for sign in "*?"):
        return ReadError("this is a pattern", file=given, remedy="Name one file")
    if (file is not None and is_folder(file)) or (tree.key(name) and tree.below(name)):
        return ReadError("this is a folder", file=given, remedy="Name a file in it")
    if file is None or not (exists(file) or archives.find_inner(file)):
        problem = f"the game has no file of this name ({tree.kind})"
        return ReadError(problem, file=given, remedy="Write it as the game's files do, with its folders and suffix")
    if any(file == archive.path for archive in tree.archives):
        return ReadError("this is an archive of the game", file=given, remedy="Name a file in it")
    if tree.name_of(file):
        return ReadError(f"the game does not look for files here ({tree.kind})", file=given, remedy="Name another file")
    problem = f"this file is neither in the game's folder {tree.root} nor in a mod that is named"
    return ReadError(problem, file=given, remedy="Name its mod with --mod, or its game with --game")


def _folder(path: str) -> Path:
    """Return the absolute path of a folder. Raises `ReadError` if it is missing or a file."""
    folder = _absolute(path)
    if not exists(folder):
        raise ReadError("there is no such folder", file=path, remedy="Check its name")
    if not is_folder(folder):
        raise ReadError("this is a file, not a folder", file=path, remedy="Name the folder of a game or mod")
    return folder


def _absolute(path: str) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 (links stay, and `..` goes)
