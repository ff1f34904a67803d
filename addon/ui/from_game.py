"""From the Game…: the dialog that finds files of an installed game and imports them, from archives as from folders."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, IntProperty, StringProperty

from ..blender.typed import Context
from ..core.errors import ReadError
from ..core.report import Report, say
from ..formats import trees
from ..games.kinds import FileKind
from ..games.xray import kinds as xray
from .bases import CALL, BlenderList, BlenderOperator, classes_of, iface_, rpt_, tell
from .layouts import DrawnRows
from .operation import Operation, call_operator, status_line, stores_nothing
from .preferences import installed_game, preferences

if TYPE_CHECKING:
    from ..core.game import InstalledGame
    from ..formats.trees import Catalogue, Tree

WIDTH = 620
ROWS = 12
MOST_RECENT = 12
"""Files of a game that are listed first because they were imported last."""


class Offer(NamedTuple):
    """Files of a game under one word, an item of `ITEMS`, and the kinds of files that are imported under it."""

    game: str
    identifier: str
    kinds: tuple[FileKind, ...]

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Suffixes of its files."""
        return tuple(suffix for kind in self.kinds for suffix in kind.suffixes)

    def importer(self, path: str) -> str:
        """Return the operator of ``import_scene`` for a file."""
        return next(kind.operator for kind in self.kinds if Path(path).suffix.lower() in kind.suffixes)


ITEMS = (
    ("MODELS", "Models", "Models with their textures", 0),
    ("MOTIONS", "Motions", "Motions, which are imported onto the active armature", 1),
    ("PATHS", "Paths", "Motion paths of cameras and objects", 2),
)
OFFERS = (
    Offer("XRAY", "MODELS", (xray.MODELS, xray.EDITOR_MODELS)),
    Offer("XRAY", "MOTIONS", (xray.MOTIONS, xray.EDITOR_MOTIONS)),
    Offer("XRAY", "PATHS", (xray.PATHS,)),
)


class GameFile(bpy.types.PropertyGroup):
    """A file of the game in the dialog's list; ``name`` as the game has it."""

    path: StringProperty(options={"HIDDEN"})
    source: StringProperty(options={"HIDDEN"})
    is_recent: BoolProperty(name="Recent", options={"HIDDEN"})
    ticked: BoolProperty(name="Import", description="Import this file, with all others that have a tick")


class MOTIONBRIDGE_UL_game_files(DrawnRows, BlenderList):
    """Files of a game, with a check box each and the archive or folder that they are in."""

    def draw_row(self, layout: Any, item: Any, _owner: Any, _index: int) -> None:
        row = layout.row(align=True)
        row.prop(item, "ticked", text="")
        parts = row.split(factor=0.75)
        parts.label(text=item.name, icon="TIME" if item.is_recent else "NONE", translate=False)
        right = parts.row()
        right.alignment, right.active = "RIGHT", False
        right.label(text=item.source, translate=False)

    def draw_filter(self, _context: Context, _layout: Any) -> None:
        """Draw nothing: the dialog has its own search."""

    def filter_items(self, _context: Context, _data: Any, _property: str) -> tuple[list[int], list[int]]:
        return [], []


class Opened(NamedTuple):
    """The tree of a game while its dialog is open, and the catalogue of each offer, by its identifier."""

    game: "InstalledGame"
    tree: "Tree"
    paths: dict[str, dict[str, Path]]
    catalogues: "dict[str, Catalogue]"

    def catalogue(self, offer: Offer) -> "Catalogue":
        """Return what the game has of an offer; listed once."""
        if offer.identifier not in self.catalogues:
            self.paths[offer.identifier] = trees.names_in(self.tree, offer.suffixes)
            self.catalogues[offer.identifier] = trees.Catalogue.of(self.paths[offer.identifier])
        return self.catalogues[offer.identifier]


_opened: list[Opened] = []
"""The tree of the last dialog, so that it is not made again at each letter."""


def _open(game: "InstalledGame") -> Opened:
    """Return the tree of a game. Raises `ReadError` if its folder has none."""
    if not _opened or _opened[0].game != game:
        _opened[:] = [Opened(game, trees.tree_at(game), {}, {})]
    return _opened[0]


def _game_of(operator: Any, context: Context) -> "tuple[str, InstalledGame]":
    """Return which game is chosen (an identifier of `GAMES`), and where it is. Raises `ReadError` if none is known."""
    if operator.folder:
        game = trees.InstalledGame(Path(bpy.path.abspath(operator.folder)))
        kind = trees.kind_of(game.folder)
        if kind not in {offer.game for offer in OFFERS}:
            raise ReadError("this folder has no game", file=str(game.folder), remedy=trees.LOOKED_FOR)
        return kind, game
    rows = known_rows(context)
    if not rows:
        raise ReadError("no game is known", remedy="Add the folder of a game to the preferences")
    row = rows[min(int(operator.game or 0), len(rows) - 1)]
    return row.kind, installed_game(row)


def known_rows(context: Context) -> list[Any]:
    """Return the games of the preferences of which something is offered."""
    kinds = {offer.game for offer in OFFERS}
    return [row for row in preferences(context).known_games if row.kind in kinds]


def _games(_operator: Any, _context: Any) -> list[tuple[str, str, str]]:
    """Return the items of the known games; Python keeps their texts, as Blender needs, which may pass no context."""
    context: Any = bpy.context
    names = [row.name for row in known_rows(context)]
    _items[:] = [(str(index), name, "") for index, name in enumerate(names)] or [("0", "", "")]
    return _items


_items: list[tuple[str, str, str]] = []


def _offer(kind: str, identifier: str) -> Offer:
    """Return an offer of a game, the first one if the game has none of this word."""
    own = [offer for offer in OFFERS if offer.game == kind]
    return next((offer for offer in own if offer.identifier == identifier), own[0])


def _listing_changed(operator: Any, context: Context) -> None:
    """Fill the list again: ticked rows first, then what was imported last, then what the search finds."""
    kind, game = _game_of(operator, context)
    opened, offer = _open(game), _offer(kind, operator.kind)
    catalogue = opened.catalogue(offer)
    paths = opened.paths[offer.identifier]
    kept = [row.name for row in operator.listed if row.ticked and row.name in paths]
    recent = [name for name in _recent(context, game) if name in paths] if not operator.search.strip() else []
    matches = catalogue.search(operator.search)
    operator.listed.clear()
    for name in dict.fromkeys([*kept, *recent, *matches.names]):
        row = operator.listed.add()
        row.name, row.path = name, str(paths[name])
        row.source = trees.source_of(opened.tree, paths[name]).name
        row.is_recent, row.ticked = name in recent, name in kept
    operator.more = max(matches.total - len(matches.names), 0)
    operator.active_listed = 0


def _recent(context: Context, game: "InstalledGame") -> list[str]:
    rows = (row for row in preferences(context).known_games if installed_game(row) == game)
    return next((row.recent.splitlines() for row in rows), [])


def _remember(context: Context, game: "InstalledGame", names: list[str]) -> None:
    """Note in the preferences what was imported, the last first."""
    for row in preferences(context).known_games:
        if installed_game(row) == game:
            row.recent = "\n".join(list(dict.fromkeys([*names, *row.recent.splitlines()]))[:MOST_RECENT])
            context.preferences.is_dirty = True


class MOTIONBRIDGE_OT_from_game(Operation, BlenderOperator):
    """Find models and motions of an installed game, in archives, folders and mods, and import them"""

    bl_idname = "motionbridge.from_game"
    bl_label = "From the Game"
    bl_options = {"INTERNAL"}
    edited = stores_nothing  # the imports it calls have their own

    game: EnumProperty(
        name="Game",
        description="Game of the preferences, with its mods in use",
        items=_games,
        update=_listing_changed,
        options={"SKIP_SAVE"},
    )
    folder: StringProperty(
        name="Folder",
        description="Folder of a game that is not in the preferences",
        options={"SKIP_SAVE", "HIDDEN"},
    )
    kind: EnumProperty(name="Kind", description="What to look for", items=ITEMS, update=_listing_changed)
    search: StringProperty(
        name="Search",
        description="Words that names and folders contain, in any order",
        update=_listing_changed,
        options={"SKIP_SAVE", "TEXTEDIT_UPDATE"},
    )
    names: StringProperty(
        name="Names",
        description="Names of the files to import, separated by semicolons, instead of a dialog",
        options={"SKIP_SAVE", "HIDDEN"},
    )
    with_motions: BoolProperty(
        name="Referenced Motions",
        description="Also import the motions of the files that a model refers to",
        default=True,
    )
    listed: CollectionProperty(type=GameFile, options={"SKIP_SAVE", "HIDDEN"})
    active_listed: IntProperty(options={"SKIP_SAVE", "HIDDEN"})
    more: IntProperty(options={"SKIP_SAVE", "HIDDEN"})

    def invoke(self, context: Context, _event: bpy.types.Event) -> Any:
        """Open the dialog, with the tree as it is on disk now."""
        _opened.clear()
        return self.answer(context, self.ask)

    def ask(self, context: Context, report: Report) -> None:
        """Fill the list and open the dialog. Raises `ReadError` if no game is known or it cannot be read."""
        _listing_changed(self, context)
        button, title = iface_("Import"), iface_(self.bl_label)
        context.window_manager.invoke_props_dialog(self, width=WIDTH, title=title, confirm_text=button)

    def check(self, _context: Context) -> bool:
        """Redraw the dialog after every change."""
        return True

    def draw(self, context: Context) -> None:
        """Draw game, kinds, search and list, and the options of the kind."""
        layout = self.layout
        try:
            kind, game = _game_of(self, context)
        except ReadError as refusal:  # the preferences were changed meanwhile
            layout.label(text=tell(refusal.sentence()), icon="ERROR", translate=False)
            return
        if self.folder:
            layout.label(text=game.folder.name, icon="FILE_FOLDER", translate=False)
        elif len(_games(self, context)) > 1:
            layout.prop(self, "game")
        row = layout.row(align=True)
        for offer in OFFERS:
            if offer.game == kind:
                row.prop_enum(self, "kind", offer.identifier)
        layout.prop(self, "search", text="", icon="VIEWZOOM")
        layout.template_list(
            "MOTIONBRIDGE_UL_game_files", "", self, "listed", self, "active_listed", rows=ROWS, maxrows=ROWS
        )
        text = iface_("{:,} more: type on").format(self.more) if self.more else ""
        text = text or ("" if len(self.listed) else iface_("Nothing found"))
        layout.label(text=text, translate=False)
        if _offer(kind, self.kind).identifier == "MODELS":
            layout.prop(self, "with_motions")

    def execute(self, context: Context) -> Any:
        """Import the chosen files, each kind by its own operator, which reports itself."""
        chosen: list[Any] = []
        answer = self.answer(context, partial(self.choose, chosen))
        if not chosen:
            return answer
        game, names, calls = chosen
        for importer, options in calls[:-1]:  # two that work in steps would work at the same time
            call_operator(self, importer, mode="EXEC_DEFAULT", undo=True, **options)
        importer, options = calls[-1]
        mode = "EXEC_DEFAULT" if bpy.app.background else "INVOKE_DEFAULT"
        result = call_operator(self, importer, mode=mode, undo=True, **options)
        if not result or result == {"CANCELLED"}:
            return {"CANCELLED"}
        _remember(context, game, names)
        if result == {"FINISHED"}:  # Blender shows reports only of the operator that it called itself
            first, *more = context.window_manager.motionbridge_report.splitlines()
            sentence = f"{first}. {rpt_('See Motionbridge > Report')}" if more else first
            self.report({"INFO"}, status_line(sentence, Report()))
        return {"FINISHED"}

    def choose(self, chosen: list[Any], context: Context, _report: Report) -> None:
        """Add to ``chosen``: the game, the names, and each import with its options. Raises `ReadError` if none is."""
        kind, game = _game_of(self, context)
        offer = _offer(kind, self.kind)
        paths = self._paths(game, offer)
        calls: dict[str, list[str]] = {}
        for path in paths.values():
            calls.setdefault(offer.importer(path), []).append(path)
        options = {"motions": "ALL" if self.with_motions else "INSIDE"} if offer.identifier == "MODELS" else {}
        imports = [
            (
                getattr(CALL.import_scene, importer),
                {"files": [{"name": path} for path in files], "at_once": True, **options},
            )
            for importer, files in calls.items()
        ]
        chosen += [game, list(paths), imports]

    def _paths(self, game: "InstalledGame", offer: Offer) -> dict[str, str]:
        """Return name -> path of what to import: what a script names, else what is ticked, else the active row."""
        named = [name.strip().lower().replace("/", "\\") for name in self.names.split(";") if name.strip()]
        if named:
            opened = _open(game)
            opened.catalogue(offer)
            paths = opened.paths[offer.identifier]
            missing = [name for name in named if name not in paths]
            if missing:
                raise ReadError(say("the game has no file {!r}", missing[0]), remedy="Search for it in the dialog")
            return {name: str(paths[name]) for name in named}
        rows = [row for row in self.listed if row.ticked]
        if not rows and 0 <= self.active_listed < len(self.listed):
            rows = [self.listed[self.active_listed]]
        if not rows:
            raise ReadError("no file is chosen", remedy="Click a row of the list, or tick several")
        return {row.name: row.path for row in rows}


def draw_offer(layout: Any, context: Context) -> None:
    """Draw the first offer: a file of a known game, or naming the folder of one."""
    if known_rows(context):
        layout.operator("motionbridge.from_game", text="From the Game…", icon="VIEWZOOM")
    else:
        layout.operator("motionbridge.add_game", text="Choose the Game's Folder…", icon="FILE_FOLDER")


CLASSES = classes_of(__name__)
