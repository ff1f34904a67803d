"""What an installed game offers to import: kinds of files, their names, and where each is."""

from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..blender.typed import Context
from ..core import pausing
from ..core.errors import ReadError
from ..core.report import Report
from ..formats import trees
from ..games.arma import kinds as arma
from ..games.descent3 import kinds as descent3
from ..games.kinds import FileKind
from ..games.xray import kinds as xray
from ..games.xray.hud import sections
from ..games.xray.options import HudSceneOptions
from .preferences import installed_game, preferences

if TYPE_CHECKING:
    from ..core.game import InstalledGame
    from ..formats.trees import Index


class Offer(NamedTuple):
    """Files of a game under one word, an item of `ITEMS`. ``importers``: end of a name -> the operator that imports it:
    one of ``import_scene``, or `HUD_SCENE`.
    """

    game: str
    identifier: str
    importers: dict[str, str]

    def importer(self, name: str) -> str:
        """Return the operator for a file."""
        return next(operator for end, operator in self.importers.items() if name.lower().endswith(end))


def _by_suffix(*kinds: FileKind) -> dict[str, str]:
    return {suffix: kind.operator for kind in kinds for suffix in kind.suffixes}


ITEMS = (
    ("MODELS", "Models", "Models with their textures", 0),
    ("MOTIONS", "Motions", "Motions, which are imported onto the active armature", 1),
    ("PATHS", "Paths", "Motion paths of cameras and objects", 2),
    ("LEVELS", "Levels", "Whole levels, all files of their folders", 3),
    ("HANDS", "First Person", "Sections of configs: hands and what they hold, in a scene as the player sees them", 4),
    ("TEXTURES", "Textures", "Textures as images", 5),
)
ORIGINS = (
    ("ALL", "Everywhere", "Archives, mods and loose files"),
    ("ARCHIVE", "Archives", "Files that the game takes from its archives"),
    ("MOD", "Mods", "Files that the game takes from mods, loose or in their archives"),
    ("LOOSE", "Loose Files", "Files that the game takes from its own folder, outside of archives"),
)
SHOW_TEXTURES = "xray_textures"
HUD_SCENE = "new_hud_scene"
LEVEL = "\\level"
"""End of the name of the file that each level has."""
OFFERS = (
    Offer("XRAY", "MODELS", _by_suffix(xray.MODELS, xray.EDITOR_MODELS)),
    Offer("XRAY", "MOTIONS", _by_suffix(xray.MOTIONS, xray.EDITOR_MOTIONS)),
    Offer("XRAY", "PATHS", _by_suffix(xray.PATHS)),
    Offer("XRAY", "LEVELS", {LEVEL: xray.LEVEL_FOLDER.operator}),
    Offer("XRAY", "HANDS", {"": HUD_SCENE}),
    Offer("XRAY", "TEXTURES", dict.fromkeys((".dds", ".tga", ".png"), SHOW_TEXTURES)),
    Offer("ARMA", "MODELS", _by_suffix(arma.MODELS)),
    Offer("ARMA", "MOTIONS", _by_suffix(arma.ANIMATIONS)),
    Offer("ARMA", "TEXTURES", _by_suffix(arma.TEXTURES)),
    Offer("DESCENT3", "MODELS", _by_suffix(descent3.MODELS)),
    Offer("DESCENT3", "TEXTURES", _by_suffix(descent3.TEXTURES)),
)


def offer_of(kind: str, identifier: str) -> Offer:
    """Return an offer of a game (an identifier of `preferences.GAMES`), its first one if it has none of this word."""
    own = [offer for offer in OFFERS if offer.game == kind]
    return next((offer for offer in own if offer.identifier == identifier), own[0])


class Source(NamedTuple):
    """A game, or one archive, in which files are looked for. ``kind``: an identifier of `preferences.GAMES`; ``row``:
    its row of the preferences, None if it is not there.
    """

    kind: str
    game: "InstalledGame"
    row: Any = None

    @property
    def name(self) -> str:
        """Name for the user."""
        return str(self.row.name) if self.row is not None else self.game.folder.name


def source_at(path: Path, context: Context) -> Source:
    """Return a game of the preferences, the game in a folder, or an archive. Raises `ReadError` if there is none."""
    row = next((row for row in known_rows(context) if installed_game(row).folder == path), None)
    if row is not None:
        return Source(row.kind, installed_game(row), row)
    kind = trees.kind_of_archive(path) if path.is_file() else trees.kind_of(path)
    if not kind:
        raise ReadError("this folder has no game", file=str(path), remedy=trees.LOOKED_FOR)
    return Source(kind, trees.InstalledGame(path))


def known_rows(context: Context) -> list[Any]:
    """Return the installed games of the preferences, of those games that the user works with."""
    wanted = preferences(context)
    return [row for row in wanted.known_games if row.kind in wanted.games]


class Opened:
    """The tree of a game while its dialog is open, and its names."""

    def __init__(self, source: Source) -> None:
        """Make the tree. Raises `ReadError` if it cannot be read."""
        folder = source.game.folder
        self.source = source
        self.tree = trees.archive_tree(folder) if folder.is_file() else trees.tree_at(source.game)
        self._unusable: dict[str, bool] = {}
        self._folders: dict[str, list[str]] = {}
        self._source_names: dict[Path, str] = {}
        self.details: dict[tuple[str, str], Any] = {}  # what `game_details` found out about files

    def is_outdated(self) -> bool:
        """Return whether an archive was replaced since its table was read."""
        return any(archive.is_replaced() for archive in self.tree.archives)

    @cached_property
    def index(self) -> "Index":
        """All names of the tree."""
        index = trees.Index(self.tree)
        index.enter_all()
        return index

    @cached_property
    def _sections(self) -> list[str]:
        options = HudSceneOptions(folders=self.source.game.by_rank, games=(self.source.game,))
        return sorted(sections.hud_sections(sections.load_configs(options, Report())))

    def read(self, offer: Offer) -> None:
        """Read all names of an offer, which may take seconds; pauses (`core.pausing`). Raises `ReadError`."""
        self.search(offer, "")

    def folders(self, offer: Offer) -> list[str]:
        """Return the folders that have files of an offer somewhere below them, in ascending order."""
        if offer.identifier not in self._folders:
            names = self.index.search("", tuple(offer.importers), most=len(self.index)).names
            folders = {name.rpartition("\\")[0] for name in names}
            for folder in list(folders):
                while folder := folder.rpartition("\\")[0]:
                    folders.add(folder)
            self._folders[offer.identifier] = sorted(folders - {""})
        return self._folders[offer.identifier]

    @cached_property
    def _origins(self) -> dict[str, set[str]]:
        """Identifier of `ORIGINS` -> names of files from there."""
        mods = [folder for folder in trees.folders_of(self.source.game) if folder != self.tree.root]
        mods = [folder for folder in mods if folder != self.source.game.folder]
        archives = {archive.path for archive in self.tree.archives}
        result: dict[str, set[str]] = {}
        for source, names in self.index.by_source.items():
            own = "MOD" if any(source.is_relative_to(mod) for mod in mods) else "LOOSE"
            result.setdefault("ARCHIVE" if own == "LOOSE" and source in archives else own, set()).update(names)
        return result

    def search(self, offer: Offer, typed: str, folder: str = "", origin: str = "ALL") -> tuple[list[str], int]:
        """Return the best names of an offer that match what is typed, and how many match. Neither folder nor
        origin of a section are known. Raises `ReadError` if the configs cannot be read.
        """
        if offer.identifier == "HANDS":
            words = typed.lower().split()
            names = [name for name in self._sections if all(word in name for word in words)]
            return names[: trees.index.MOST], len(names)
        below = f"{folder}\\" if folder else ""
        among = None if origin == "ALL" else self._origins.get(origin, set())
        names, total = self.index.search(typed, tuple(offer.importers), below, among=among)
        return [name.removesuffix(LEVEL) for name in names], total

    def path(self, offer: Offer, name: str) -> Path | None:
        """Return the path of a file, the folder of a level, that of the game for a section; None if it is missing."""
        if offer.identifier == "HANDS":
            return self.source.game.folder if name in self._sections else None
        if offer.identifier == "LEVELS":
            file = self.index.path(name + LEVEL)
            return file.parent if file is not None else None
        return self.index.path(name) if name.endswith(tuple(offer.importers)) else None

    def source_name(self, path: Path) -> str:
        """Return the name of the archive, game or mod that a file is in."""
        if path.parent not in self._source_names:
            self._source_names[path.parent] = trees.source_of(self.tree, path).name
        return self._source_names[path.parent]

    def is_unusable(self, name: str, path: Path) -> bool:
        """Return whether a file is made for the game alone: a binarised model of Arma."""
        if not name.endswith(".p3d"):
            return False
        if name not in self._unusable:
            self._unusable[name] = trees.head_of(path, 4) == b"ODOL"
        return self._unusable[name]


_opened: list[Opened] = []
"""The tree of the last dialog, so that it is not made again at each letter."""


def opened(source: Source) -> Opened:
    """Return the tree of a game, a new one if an archive was replaced. Raises `ReadError` if it cannot be read."""
    if not _opened or _opened[0].source.game != source.game or _opened[0].is_outdated():
        _opened[:] = [Opened(source)]
    return _opened[0]


def read_ahead(source: Source, offer: Offer, others: Sequence[Source]) -> None:
    """Read what the dialog searches, in work that may pause (`core.pausing`): names of an offer, and the tables of the
    archives of other games, which are kept for when those are chosen. Raises `ReadError` if the game cannot be read.
    """
    opened(source).read(offer)
    for other in others:
        with suppress(ReadError):  # shown when that game is chosen
            for number, archive in enumerate(tables := Opened(other).tree.archives):
                pausing.pause(number / len(tables))
                archive.find("")


def forget() -> None:
    """Forget the tree, so that the next dialog sees what has changed on disk."""
    _opened.clear()
