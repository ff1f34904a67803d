"""Games that are installed on this machine: those of Steam's libraries and of GOG. Looked for only if a user asks."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from ...core.errors import ReadError
from ...core.files import read_file
from .disk import Disk, Root
from .kinds import ARMA, kind_of

STEAM_GAMES = {
    "4500": "S.T.A.L.K.E.R.: Shadow of Chernobyl",
    "20510": "S.T.A.L.K.E.R.: Clear Sky",
    "41700": "S.T.A.L.K.E.R.: Call of Pripyat",
    "65790": "Arma: Cold War Assault",
    "2780": "Arma",
    "33900": "Arma 2",
    "33930": "Arma 2: Operation Arrowhead",
    "107410": "Arma 3",
    "221100": "DayZ",
    "273590": "Descent 3",
}
"""Number of a game in Steam -> its name."""
_GOG_NAMES = re.compile(r"s\.?t\.?a\.?l\.?k\.?e\.?r|arma|descent 3|dayz", re.IGNORECASE)
_GOG_KEY = r"SOFTWARE\GOG.com\Games"
_STEAM_KEY = r"Software\Valve\Steam"
WORKSHOP = "!workshop"


class Installed(NamedTuple):
    """A game that was found, and the folders of its mods."""

    name: str
    folder: Path
    kind: str
    mods: list[Path]


def find_games() -> list[Installed]:
    """Return the installed games, each folder once."""
    games = [*_of_steam(_steam_folders()), *_of_gog()]
    with_kind = {folder: (name, kind_of(folder)) for name, folder in games if folder.is_dir()}
    return [
        Installed(name, folder, kind, mods_of(folder) if kind == ARMA else [])
        for folder, (name, kind) in with_kind.items()
        if kind
    ]


def mods_of(game: Path) -> list[Path]:
    """Return the mods of Arma (``@name``) in the game's folder and in ``!Workshop``, sorted by name."""
    disk = Disk([Root(game)])
    rows = {**disk.names(""), **disk.names(f"{WORKSHOP}\\")}
    return [path for name, (path, is_folder) in sorted(rows.items()) if is_folder and name.startswith("@")]


def _steam_folders() -> Iterator[Path]:
    for path in _registry_values(_STEAM_KEY, "SteamPath"):
        yield Path(path)
    home = Path.home()
    yield from (Path(os.environ[name], "Steam") for name in ("ProgramFiles(x86)", "ProgramFiles") if name in os.environ)
    yield from (home / ".steam/steam", home / ".local/share/Steam", home / "Library/Application Support/Steam")
    yield home / ".var/app/com.valvesoftware.Steam/.local/share/Steam"


def _of_steam(folders: Iterable[Path]) -> Iterator[tuple[str, Path]]:
    """Yield name and folder of the known games in Steam's libraries."""
    for library in dict.fromkeys(library for folder in folders for library in _libraries(folder)):
        for number, name in STEAM_GAMES.items():
            manifest = library / "steamapps" / f"appmanifest_{number}.acf"
            folder = next(iter(_quoted(manifest, "installdir")), "")
            if folder:
                yield name, library / "steamapps" / "common" / folder


def _libraries(steam: Path) -> Iterator[Path]:
    """Yield the libraries that ``libraryfolders.vdf`` of Steam's folder names, and that folder."""
    yield steam
    for below in ("steamapps", "config"):
        yield from map(Path, _quoted(steam / below / "libraryfolders.vdf", "path"))


def _quoted(file: Path, key: str) -> list[str]:
    r"""Return the values of a key in a text of Steam: ``"path"  "D:\\Games"``. None of a file that is missing."""
    try:
        text = read_file(file).decode("utf-8", "replace")
    except ReadError:
        return []
    return [value.replace("\\\\", "\\") for value in re.findall(rf'"{key}"\s*"([^"]*)"', text, re.IGNORECASE)]


def _of_gog() -> Iterator[tuple[str, Path]]:
    """Yield name and folder of the games that GOG has written into the registry of Windows."""
    registry = _registry()
    if registry is not None:
        for view in (registry.KEY_WOW64_32KEY, registry.KEY_WOW64_64KEY):
            with (
                suppress(OSError),
                registry.OpenKey(registry.HKEY_LOCAL_MACHINE, _GOG_KEY, 0, registry.KEY_READ | view) as games,
            ):
                for number in range(registry.QueryInfoKey(games)[0]):
                    with suppress(OSError), registry.OpenKey(games, registry.EnumKey(games, number)) as game:
                        name = str(registry.QueryValueEx(game, "gameName")[0])
                        if _GOG_NAMES.search(name):
                            yield name, Path(str(registry.QueryValueEx(game, "path")[0]))


def _registry_values(key: str, name: str) -> Iterator[str]:
    """Yield the value of the user's registry on Windows, if there is one."""
    registry = _registry()
    if registry is not None:
        with suppress(OSError), registry.OpenKey(registry.HKEY_CURRENT_USER, key) as opened:
            yield str(registry.QueryValueEx(opened, name)[0])


def _registry() -> Any:
    """Return the module of the registry, None where there is no registry."""
    return import_module("winreg") if os.name == "nt" else None
