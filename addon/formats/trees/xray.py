r"""The tree of an X-Ray game: what ``fsgame.ltx`` mounts, in its order.

Each line of ``fsgame.ltx`` names a folder, which the engine scans at once: it mounts the archives and registers the
loose files there, in the byte order of their names. Who registers a file last wins. So the order of the lines decides,
and loose files win over archives only because their lines are below those of the archives. Shadow of Chernobyl also
mounts the archives beside ``fsgame.ltx``, before the first line, and those of ``$mod_dir$`` after the last one: they
win over loose files. Source: ``LocatorAPI`` of the engines.

An archive below the folder of the loose files (``gamedata``) itself is not looked for, since no game has one there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ...core.files import read_file
from ...core.game import InstalledGame
from ...core.report import Report
from .disk import Disk, Root
from .tree import NOT_SEEN, Mounted, Rank, Tree, key_of

KIND = "S.T.A.L.K.E.R. (X-Ray)"
FSGAME = "fsgame.ltx"
DATA = "gamedata\\"
MARKS = frozenset({FSGAME, "gamedata", "gamemtl.xr"})
"""Names that tell the folder of a game or an unpacked one."""
PARTS = ("meshes", "textures", "configs", "config", "levels", "anims", "sounds", "scripts", "spawns", "shaders", "ai")
"""Folders of ``gamedata``, which tell one that is called otherwise."""
_ARCHIVE = re.compile(r".*\.(x?db|xp|xrp)[^.]*")
_OF_GAMES = {"gamedata", FSGAME, "db", "database", "mods", "patches", "resources", "localization"}
"""Names that the folder of a game, or of a mod for it, has, but no ``gamedata``."""
_TRUE = {"true", "on", "yes", "1"}
_BEFORE = -1
"""Number of the line that stands for what the engine mounts before the first one."""


class Line(NamedTuple):
    """A line of ``fsgame.ltx``: its name, whether folders in its folder count, and the key of that ("" or with a
    backslash at the end).
    """

    alias: str
    recurse: bool
    folder: str

    def reaches(self, key: str) -> bool:
        """Return whether the engine registers a file with this key."""
        return key.startswith(self.folder) and (self.recurse or "\\" not in key[len(self.folder) :])


def read_fsgame(text: str, problems: Report) -> list[Line]:
    """Return the lines whose folders are below that of ``fsgame.ltx``; others hold nothing of the game."""
    folders: dict[str, str | None] = {"$fs_root$": ""}
    result = []
    for row in text.splitlines():
        alias, equals, values = row.partition(";")[0].partition("=")
        name, parts = alias.strip().lower(), [part.strip() for part in values.split("|")]
        if not equals or len(parts) < 3:
            continue
        if name in folders:
            problems.warn("fsgame.ltx has a name twice, at which the game stops; the first line is used", alias.strip())
            continue
        root, add = parts[2].lower(), parts[3] if len(parts) > 3 else ""
        above = folders[root] if root in folders else _folder(parts[2])
        folders[name] = folder = None if above is None else _folder(above + add)
        if folder is not None:
            result.append(Line(name, parts[0] in _TRUE, folder))
    return result


def _folder(path: str) -> str | None:
    """Return the key of a folder, None for one outside of the game's."""
    key = key_of(path)
    if not key:
        return None if path.strip(" .\\/") else ""
    return f"{key}\\"


def tree(game: InstalledGame) -> Tree:
    """Return the tree of a game, or of an unpacked ``gamedata``."""
    problems = Report()
    disk = Disk([overlay(folder) for folder in game.by_rank])
    fsgame = next(disk.files(FSGAME), None)
    text = read_file(fsgame).decode("cp1251", "replace") if fsgame is not None else _WITHOUT
    lines = read_fsgame(text, problems)
    named = {line.alias: line.folder for line in lines}
    data = named.get("$game_data$", DATA)
    if not any(_archives_in(disk, line.folder, recurse=line.recurse) for line in lines if _is_early(line, data)):
        # As in Shadow of Chernobyl: its root needs no line, its mods come last.
        lines = [line for line in lines if line.alias != "$mod_dir$"] + [
            line for line in lines if line.alias == "$mod_dir$"
        ]
        lines.insert(0, Line("", recurse=False, folder=""))

    def rank(key: str) -> Rank:
        reaching = [number for number, line in enumerate(lines) if line.reaches(key)]
        if not reaching:
            return NOT_SEEN
        below = key[len(lines[reaching[-1]].folder) :]
        return reaching[-1], tuple(part.encode() for part in below.split("\\"))

    archives: dict[Path, Mounted] = {}
    for number, line in enumerate(lines):
        if not line.folder.startswith(data):
            for path, parts in _archives_in(disk, line.folder, recurse=line.recurse):
                archives.setdefault(path, Mounted(path, (number, parts)))
    ordered = sorted(archives.values(), key=lambda archive: archive.rank, reverse=True)
    aliases = {alias[6:-1]: folder for alias, folder in named.items() if alias.startswith("$game_") and folder}
    aliases |= {"configs": aliases["config"]} if "config" in aliases else {}
    return Tree(KIND, game.folder, disk, ordered, rank, aliases, data, problems)


_WITHOUT = "$game_data$ = true| true| $fs_root$| gamedata\\\n$mod_dir$ = false| false| $fs_root$| mods\\"
"""The lines of a game without ``fsgame.ltx``."""


def _is_early(line: Line, data: str) -> bool:
    return line.alias != "$mod_dir$" and not line.folder.startswith(data)


def is_archive_name(name: str) -> bool:
    """Return whether the engine takes a file of this name, in small letters, for an archive."""
    return name != "thumbs.db" and _ARCHIVE.fullmatch(name) is not None


def _archives_in(disk: Disk, folder: str, *, recurse: bool) -> list[tuple[Path, tuple[bytes, ...]]]:
    """Return path, and parts of the path below the folder, of the files that are named as archives."""
    return list(_walk(disk, folder, (), recurse=recurse))


def _walk(
    disk: Disk, folder: str, above: tuple[bytes, ...], *, recurse: bool
) -> Iterator[tuple[Path, tuple[bytes, ...]]]:
    for name, (path, is_folder) in disk.names(folder).items():
        parts = (*above, os.fsencode(path.name))
        if not is_folder and is_archive_name(name):
            yield path, parts
        elif is_folder and recurse and f"{folder}{name}\\" != DATA:
            yield from _walk(disk, f"{folder}{name}\\", parts, recurse=True)


def overlay(folder: Path) -> Root:
    """Return where a folder of a mod or an unpacked game lies: at ``gamedata``, unless it has that or archives."""
    names = Disk([Root(folder)]).names("")
    is_game = not names.keys().isdisjoint(_OF_GAMES) or any(map(is_archive_name, names))
    return Root(folder, "" if is_game and folder.name.lower() != "gamedata" else DATA)
