"""Folders of Mod Organizer 2: the game, and the ticked mods of the chosen profile, which lie over it while it runs."""

from __future__ import annotations

import re
from pathlib import Path, PureWindowsPath
from typing import NamedTuple

from ...core.errors import ReadError
from ...core.files import is_file, is_folder, read_file
from ...core.report import say
from .disk import Disk, Root

SETTINGS = "ModOrganizer.ini"
_VALUE = re.compile(r"@ByteArray\((.*)\)")


class Instance(NamedTuple):
    """The game's folder, and the folders that lie over it, later ones over earlier ones."""

    game: Path
    mods: list[Path]


def is_instance(folder: Path) -> bool:
    """Return whether a folder is one of Mod Organizer."""
    return next(Disk([Root(folder)]).files(SETTINGS.lower()), None) is not None


def read_instance(folder: Path) -> Instance:
    """Return game and mods of a folder of Mod Organizer, as they are ticked now. Raises `ReadError`."""
    settings = next(Disk([Root(folder)]).files(SETTINGS.lower()), folder / SETTINGS)
    values = _values(read_file(settings).decode("utf-8-sig", "replace"))
    game = values.get("gamepath", "")
    if not game:
        raise ReadError("it names no game (gamePath)", file=str(settings), remedy="Run Mod Organizer once")
    base = _path(values.get("base_directory", ""), folder, folder)
    mods = _path(values.get("mod_directory", "%BASE_DIR%/mods"), base, folder)
    profiles = _path(values.get("profiles_directory", "%BASE_DIR%/profiles"), base, folder)
    overwrite = _path(values.get("overwrite_directory", "%BASE_DIR%/overwrite"), base, folder)
    modlist = profiles / values.get("selected_profile", "Default") / "modlist.txt"
    if not is_file(modlist):
        words = say("the profile {!r} has no list of mods", modlist.parent.name)
        raise ReadError(words, file=str(modlist), remedy="Choose a profile in Mod Organizer, and close it")
    rows = read_file(modlist).decode("utf-8-sig", "replace").splitlines() if modlist.stat().st_size else []
    # The first line is the mod that wins.
    ticked = [mods / row[1:].strip() for row in reversed(rows) if row.startswith("+")]
    here = [mod for mod in ticked if is_folder(mod)]
    return Instance(_path(game, base, folder), [*here, overwrite] if is_folder(overwrite) else here)


def _values(text: str) -> dict[str, str]:
    """Return the settings by their small names, of all groups."""
    result: dict[str, str] = {}
    for line in text.splitlines():
        name, equals, value = line.partition("=")
        if equals:
            match = _VALUE.fullmatch(value.strip())
            plain = (match[1] if match else value.strip()).replace("\\\\", "\\").strip('"')
            result.setdefault(name.strip().lower().rpartition("\\")[2], plain)
    return result


def _path(text: str, base: Path, folder: Path) -> Path:
    """Return the folder that a setting names: absolute, or below ``base``, which it may call ``%BASE_DIR%``."""
    plain = text.replace("%BASE_DIR%", str(base))
    if not plain:
        return base
    path = Path(plain) if PureWindowsPath(plain).drive else Path(plain.replace("\\", "/"))
    return path if path.is_absolute() or PureWindowsPath(plain).drive else folder / path
