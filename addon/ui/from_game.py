"""From the Game…: the dialog that finds files of an installed game, imports them, and copies them into a mod."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, IntProperty, StringProperty
from bpy_extras.io_utils import poll_file_object_drop

from ..blender import material
from ..blender.typed import Context
from ..core.errors import ReadError, WriteError
from ..core.report import Report, say
from ..formats import trees
from ..games import mods
from . import game_details, game_offers
from .bases import CALL, BlenderList, BlenderOperator, FileHandler, MixedIn, classes_of, iface_, kept_text, rpt_, tell
from .game_offers import HUD_SCENE, ITEMS, LEVEL, OFFERS, ORIGINS, Offer, Opened, Source, known_rows, source_at
from .images import ImageImport
from .layouts import DrawnRows
from .operation import FileChoice, Need, Operation, Outcome, call_operator, status_line, stores_nothing
from .preferences import installed_game, preferences
from .target import likely_rig

WIDTH = 720
ROWS = 12
MOST_RECENT = 12
"""Files of a game that are listed first because they were imported last."""
SEPARATOR = ";"


class GameFile(bpy.types.PropertyGroup):
    """A file of the game in the dialog's list; ``name`` as the game has it."""

    path: StringProperty(options={"HIDDEN"})
    source: StringProperty(options={"HIDDEN"})
    is_recent: BoolProperty(name="Recent", options={"HIDDEN"})
    is_unusable: BoolProperty(name="Made for the Game", options={"HIDDEN"})
    ticked: BoolProperty(name="Import", description="Import this file, with all others that have a tick")


class MOTIONBRIDGE_UL_game_files(DrawnRows, BlenderList):
    """Files of a game, with a check box each, their folder, and the archive, game or mod that they are in."""

    def draw_row(self, layout: Any, item: Any, _owner: Any, _index: int) -> None:
        row = layout.row(align=True)
        row.enabled = not item.is_unusable
        row.prop(item, "ticked", text="")
        folder, _, name = item.name.rpartition("\\")
        parts = row.split(factor=0.45)
        parts.label(text=name, icon="TIME" if item.is_recent else "NONE", translate=False)
        parts = parts.split(factor=0.6)
        parts.active = False
        parts.label(text=folder, translate=False)
        text = iface_("made for the game") if item.is_unusable else item.source
        right = parts.row()
        right.alignment = "RIGHT"
        right.label(text=text, translate=False)

    def draw_filter(self, _context: Context, _layout: Any) -> None:
        """Draw nothing: the dialog has its own search."""

    def filter_items(self, _context: Context, _data: Any, _property: str) -> tuple[list[int], list[int]]:
        return [], []


def _source_of(operator: Any, context: Context) -> Source:
    """Return the game or archive that is chosen. Raises `ReadError` if none is known."""
    if operator.folder:
        return source_at(Path(bpy.path.abspath(operator.folder)), context)
    rows = known_rows(context)
    if not rows:
        raise ReadError("no game is known", remedy="Add the folder of a game to the preferences")
    row = rows[min(int(operator.game or 0), len(rows) - 1)]
    return Source(row.kind, installed_game(row), row)


def _games(_operator: Any, _context: Any) -> list[tuple[str, str, str]]:
    """Return the items of the known games; Blender may pass no context."""
    context: Any = bpy.context
    names = [row.name for row in known_rows(context)]
    return [(kept_text(str(index)), kept_text(name), "") for index, name in enumerate(names)] or [("0", "", "")]


def _listing_changed(operator: Any, context: Context) -> None:
    """Fill the list again; what keeps it empty is shown in its place."""
    try:
        _fill(operator, context)
    except ReadError as refusal:
        operator.listed.clear()
        operator.more, operator.problem = 0, tell(refusal.sentence())


def _kind_changed(operator: Any, context: Context) -> None:
    """Fill the list again, with the files of all folders: each kind has its own."""
    if operator.below:
        operator.below = ""  # which fills the list
    else:
        _listing_changed(operator, context)


def _folders(operator: Any, context: Context, typed: str) -> list[str]:
    """Return the folders of the chosen kind that contain what is typed."""
    try:
        source = _source_of(operator, context)
        folders = game_offers.opened(source).folders(game_offers.offer_of(source.kind, operator.kind))
    except ReadError:  # the list says it
        return []
    wanted = typed.lower().replace("/", "\\")
    return [folder for folder in folders if wanted in folder][: trees.index.MOST]


def _fill(operator: Any, context: Context) -> None:
    """Fill the list: ticked rows first, then what was imported last, then what the search finds. Raises `ReadError`."""
    source = _source_of(operator, context)
    opened, offer = game_offers.opened(source), game_offers.offer_of(source.kind, operator.kind)
    narrowed = operator.search.strip() or operator.below or operator.origin != "ALL"
    last = source.row.recent.splitlines() if source.row is not None and not narrowed else []
    kept = [row.name for row in operator.listed if row.ticked]
    names, total = opened.search(offer, operator.search, operator.below, operator.origin)
    operator.listed.clear()
    operator.active_listed = 0  # before there are rows: the first one was not clicked
    for name in dict.fromkeys([*kept, *last, *names]):
        path = opened.path(offer, name)
        if path is not None:
            row = operator.listed.add()
            row.name, row.path, row.source = name, str(path), opened.source_name(path)
            row.is_recent, row.ticked, row.is_unusable = name in last, name in kept, opened.is_unusable(name, path)
    left_out = [line for archive in opened.tree.archives for line in archive.problems.lines()]
    operator.more, operator.problem = max(total - len(names), 0), tell(left_out[0]) if left_out else ""


def _active_rows(operator: Any) -> list[Any]:
    """Return the row that is active, if there is one; ``operator`` may be its properties alone, as Blender passes."""
    return list(operator.listed)[operator.active_listed : operator.active_listed + 1]


def _clicked(operator: Any, _context: Context) -> None:
    operator.clicked = "".join(row.name for row in _active_rows(operator))


def _remember(context: Context, source: Source, names: list[str]) -> None:
    """Note in the preferences what was imported, the last first."""
    if source.row is not None:
        source.row.recent = "\n".join(list(dict.fromkeys([*names, *source.row.recent.splitlines()]))[:MOST_RECENT])
        context.preferences.is_dirty = True


class GameFiles(MixedIn):
    """Mixin for operators on files of a game, which a script names or a dialog lists."""

    names: StringProperty(
        name="Names",
        description="Names of the files, separated by semicolons, instead of those that a dialog lists",
        options={"SKIP_SAVE", "HIDDEN"},
    )
    folder: StringProperty(
        name="Folder",
        description="Folder of a game that is not in the preferences, or an archive",
        options={"SKIP_SAVE", "HIDDEN"},
    )

    def rows(self) -> list[Any]:
        """Return the rows that are ticked, else the active one."""
        return []

    def chosen_paths(self, opened: Opened, offer: Offer) -> dict[str, Path]:
        """Return name -> path of what a script names, else of the chosen rows. Raises `ReadError` if there is none."""
        named = [name.strip().lower().replace("/", "\\") for name in self.names.split(SEPARATOR) if name.strip()]
        names = named or [row.name for row in self.rows()]
        if not names:
            raise ReadError("no file is chosen", remedy="Click a row of the list, or tick several")
        paths = {name: opened.path(offer, name) for name in names}
        missing = [name for name, path in paths.items() if path is None]
        if missing:
            raise ReadError(say("the game has no file {!r}", missing[0]), remedy="Search for it in the dialog")
        return {name: path for name, path in paths.items() if path is not None}


class MOTIONBRIDGE_OT_from_game(GameFiles, Operation, FileChoice, BlenderOperator):
    """Find models, motions and levels of an installed game, in archives, folders and mods, and import them"""

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
    kind: EnumProperty(name="Kind", description="What to look for", items=ITEMS, update=_kind_changed)
    below: StringProperty(
        name="Folder",
        description="List only what is below this folder of the game",
        search=_folders,
        search_options=set(),
        update=_listing_changed,
        options={"SKIP_SAVE"},
    )
    origin: EnumProperty(
        name="From",
        description="List only files that the game takes from there",
        items=ORIGINS,
        update=_listing_changed,
        options={"SKIP_SAVE"},
    )
    search: StringProperty(
        name="Search",
        description="Words that names and folders contain, in any order",
        update=_listing_changed,
        options={"SKIP_SAVE", "TEXTEDIT_UPDATE"},
    )
    with_motions: BoolProperty(
        name="Referenced Motions",
        description="Also import the motions of the files that a model refers to",
        default=True,
    )
    is_read: BoolProperty(
        name="Game Is Read",
        description="Open the dialog without reading the archives again",
        options={"SKIP_SAVE", "HIDDEN"},
    )
    listed: CollectionProperty(type=GameFile, options={"SKIP_SAVE", "HIDDEN"})
    active_listed: IntProperty(name="File", options={"SKIP_SAVE", "HIDDEN"}, update=_clicked)
    clicked: StringProperty(options={"SKIP_SAVE", "HIDDEN"})
    more: IntProperty(options={"SKIP_SAVE", "HIDDEN"})
    problem: StringProperty(options={"SKIP_SAVE", "HIDDEN"})

    def invoke(self, context: Context, _event: bpy.types.Event) -> Any:
        """Read the game as it is on disk now, in steps, and open the dialog; of a dropped archive what it has."""
        if self.is_read:
            return self.answer(context, self.ask)
        game_offers.forget()
        if paths := self.paths():
            self.folder = paths[0]
        self.invoked_by_user()
        if not self.works_in_steps(context):
            return self.answer(context, self.ask)
        report = Report()
        return self.run_in_steps(
            context, lambda: self._checked(context, self.read, report), partial(self._open, report)
        )

    def read(self, context: Context, _report: Report) -> None:
        """Read what the dialog lists first. Raises `ReadError` if no game is known or it cannot be read."""
        source = _source_of(self, context)
        others = [Source(row.kind, installed_game(row), row) for row in known_rows(context)]
        offer = game_offers.offer_of(source.kind, self.kind)
        game_offers.read_ahead(source, offer, [other for other in others if other.game != source.game])

    def _open(self, report: Report, context: Context, result: Callable[[], Outcome | None]) -> set[str]:
        """Open the dialog by another call, since the one that has worked in steps ends."""
        answer = self._report_result(report, context, result)
        if answer == {"CANCELLED"}:
            return answer
        names = ("folder", "kind", "game")
        options = {name: getattr(self, name) for name in names if self.properties.is_property_set(name)}
        call_operator(self, CALL.motionbridge.from_game, **options, is_read=True)
        return {"FINISHED"}

    def ask(self, context: Context, _report: Report) -> None:
        """Fill the list and open the dialog. Raises `ReadError` if no game is known or it cannot be read."""
        _fill(self, context)
        button, title = iface_("Import"), iface_(self.bl_label)
        context.window_manager.invoke_props_dialog(self, width=WIDTH, title=title, confirm_text=button)

    def check(self, _context: Context) -> bool:
        """Redraw the dialog after every change."""
        return True

    def draw(self, context: Context) -> None:
        """Draw game, kinds, search and list, and the options of the kind."""
        layout = self.layout
        try:
            source = _source_of(self, context)
        except ReadError as refusal:  # the preferences were changed meanwhile
            layout.label(text=tell(refusal.sentence()), icon="ERROR", translate=False)
            return
        if self.folder:
            layout.label(text=source.name, icon="FILE_FOLDER", translate=False)
        elif len(_games(self, context)) > 1:
            layout.prop(self, "game")
        row = layout.row(align=True)
        for offer in OFFERS:
            if offer.game == source.kind:
                row.prop_enum(self, "kind", offer.identifier)
        search = layout.row()
        search.activate_init = True  # typing begins at once
        search.prop(self, "search", text="", icon="VIEWZOOM")
        if self.kind != "HANDS" and not (self.folder and source.game.folder.is_file()):
            row = layout.split(factor=0.65)
            row.prop(self, "below", icon="FILE_FOLDER")
            row.prop(self, "origin", text="")
        layout.template_list(
            "MOTIONBRIDGE_UL_game_files", "", self, "listed", self, "active_listed", rows=ROWS, maxrows=ROWS
        )
        text = iface_("{:,} more: type on").format(self.more) if self.more else ""
        text = text or ("" if len(self.listed) or self.problem else iface_("Nothing found"))
        layout.label(text=self.problem or text, icon="INFO" if self.problem else "NONE", translate=False)
        self._draw_options(layout, context, source)

    def _draw_options(self, layout: Any, context: Context, source: Source) -> None:
        offer = game_offers.offer_of(source.kind, self.kind)
        clicked = {row.name: Path(row.path) for row in self.listed if row.ticked or row.name == self.clicked}
        if offer.identifier == "MOTIONS":
            self._draw_bones(layout, source, likely_rig(context), clicked)
        elif offer.identifier != "PATHS":
            self._draw_textures(layout, context, source, offer, clicked)
        if mod := _mod_of(source):
            text = iface_("Copy into Mod: {}").format(mod.name)
            button = layout.operator("motionbridge.copy_into_mod", text=text, icon="COPYDOWN", translate=False)
            button.game, button.kind = self.game, self.kind
            button.names = SEPARATOR.join(row.name for row in self.rows())

    def _draw_bones(self, layout: Any, source: Source, rig: Any, clicked: dict[str, Path]) -> None:
        text = iface_("Armature: {}").format(rig.name) if rig is not None else iface_("No armature is active")
        layout.label(text=text, icon="ARMATURE_DATA", translate=False)
        for line in game_details.bones(game_offers.opened(source), rig, clicked) if rig is not None else ():
            layout.label(text=line, icon="BLANK1", translate=False)

    def _draw_textures(
        self, layout: Any, context: Context, source: Source, offer: Offer, clicked: dict[str, Path]
    ) -> None:
        """Draw whether textures are stored in the .blend, and how much that adds."""
        row = layout.row()
        if offer.identifier == "MODELS" and source.kind == "XRAY":
            row.prop(self, "with_motions")
        chosen = preferences(context)
        row.prop(chosen, "pack_textures")
        if chosen.pack_textures and offer.identifier in ("MODELS", "TEXTURES"):
            layout.label(text=game_details.textures(game_offers.opened(source), offer, clicked), translate=False)

    def execute(self, context: Context) -> Any:
        """Import the chosen files, each kind by its own operator, which reports itself."""
        chosen: list[Any] = []
        answer = self.answer(context, partial(self.choose, chosen))
        if not chosen:
            return answer
        source, names, calls = chosen
        for call in calls[:-1]:  # two that work in steps would work at the same time
            call(self, mode="EXEC_DEFAULT", undo=True)
        result = calls[-1](self, mode="EXEC_DEFAULT" if bpy.app.background else "INVOKE_DEFAULT", undo=True)
        if not result or result == {"CANCELLED"}:
            return {"CANCELLED"}
        _remember(context, source, names)
        if result == {"FINISHED"}:  # Blender shows reports only of the operator that it called itself
            first, *more = context.window_manager.motionbridge_report.splitlines()
            sentence = f"{first}. {rpt_('See Motionbridge > Report')}" if more else first
            self.report({"INFO"}, status_line(sentence, Report()))
        return {"FINISHED"}

    def choose(self, chosen: list[Any], context: Context, _report: Report) -> None:
        """Add to ``chosen``: the game, the names, and the imports. Raises `ReadError` if nothing is chosen."""
        source = _source_of(self, context)
        opened, offer = game_offers.opened(source), game_offers.offer_of(source.kind, self.kind)
        paths = self.chosen_paths(opened, offer)
        unusable = next((name for name, path in paths.items() if opened.is_unusable(name, path)), None)
        if unusable is not None:
            words = "a binarised model (ODOL) is made for the game and cannot be edited"
            raise ReadError(words, file=unusable, remedy="Choose an editable one (MLOD)")
        options = {"motions": "ALL" if self.with_motions else "INSIDE"}
        chosen += [source, list(paths), _imports(source, offer, paths, options)]

    def rows(self) -> list[Any]:
        return [row for row in self.listed if row.ticked] or _active_rows(self)


def _imports(source: Source, offer: Offer, paths: dict[str, Path], options: dict[str, Any]) -> list[Callable[..., Any]]:
    """Return the calls that import files: each takes the calling operator, the mode and ``undo``, and returns the
    result. ``options``: for X-Ray models.
    """
    if HUD_SCENE in offer.importers.values():
        folders = SEPARATOR.join(map(str, source.game.by_rank))
        return [_call(CALL.motionbridge.new_hud_scene, folders=folders, section=name) for name in paths]
    if LEVEL in offer.importers:
        level = CALL.import_scene.xray_level
        return [_call(level, directory=str(folder), at_once=True) for folder in paths.values()]
    by_importer: dict[str, list[dict[str, str]]] = {}
    for path in paths.values():
        by_importer.setdefault(offer.importer(str(path)), []).append({"name": str(path)})
    with_motions = options if (source.kind, offer.identifier) == ("XRAY", "MODELS") else {}
    return [
        _call(
            getattr(CALL.import_scene, importer),
            files=names,
            at_once=True,
            **with_motions,
        )
        for importer, names in by_importer.items()
    ]


def _call(importer: Any, **options: Any) -> Callable[..., Any]:
    return lambda operator, **how: call_operator(operator, importer, **how, **options)


class IMPORT_SCENE_OT_xray_textures(ImageImport, BlenderOperator):
    """Load textures of S.T.A.L.K.E.R. (X-Ray) as images"""

    bl_idname = "import_scene.xray_textures"
    bl_label = "Import X-Ray Textures"
    bl_options = ImageImport.bl_options | {"INTERNAL"}

    def run(self, context: Context, report: Report) -> Outcome:
        paths = self.chosen_files("Choose at least one texture (.dds, .tga)")
        return self.import_images(context, paths, lambda path, _report: [material.shown_image(Path(path))], report)


# Mods ----------------------------------------------------------------------------------------------------------------


def _mod_of(source: Source) -> Path | None:
    """Return the mod that files are copied into: the one over all others, None without any."""
    return source.game.mods[-1] if source.game.mods else None


def _has_mod(context: Context) -> bool:
    return any(installed_game(row).mods for row in known_rows(context))


class MOTIONBRIDGE_OT_copy_into_mod(GameFiles, Operation, BlenderOperator):
    """Copy the chosen files, as they are, into the last mod of the game, so that the game takes them from there"""

    bl_idname = "motionbridge.copy_into_mod"
    bl_label = "Copy into Mod"
    needs = (Need("No game of the preferences has a mod", _has_mod),)
    bl_options = {"INTERNAL"}
    edited = stores_nothing

    game: EnumProperty(name="Game", description="Game of the preferences", items=_games, options={"SKIP_SAVE"})
    kind: EnumProperty(name="Kind", description="What to copy", items=ITEMS, options={"SKIP_SAVE"})

    def run(self, context: Context, report: Report) -> Outcome:
        """Copy the files. Raises `WriteError` if the game has no mod."""
        source = _source_of(self, context)
        mod = _mod_of(source)
        if mod is None:
            raise WriteError("the game has no mod in the preferences", remedy="Add the folder of a mod there")
        opened, offer = game_offers.opened(source), game_offers.offer_of(source.kind, self.kind)
        chosen = self.chosen_paths(opened, offer)
        paths = [str(file) for name, path in chosen.items() for file in _files_of(opened, offer, name, path)]
        mods.refuse_others(mod, map(Path, paths), (source.game,))
        results: list[mods.Copied] = []
        self.each_file(
            paths, lambda path, own: results.append(mods.copy_into(mod, Path(path), (source.game,), own)), report
        )
        mods.warn_of_own(mod, map(Path, paths), opened.tree, report)
        game_offers.forget()
        copied = sum(result.is_new for result in results)
        if not copied:
            return Outcome(rpt_("Nothing to copy: {} has these files already").format(mod.name), done=False)
        sentence = rpt_("Copied into {}, files: {}").format(mod.name, copied)
        existing = len(results) - copied
        return Outcome(f"{sentence}; {rpt_('there already: {}').format(existing)}" if existing else sentence)


def _files_of(opened: Opened, offer: Offer, name: str, path: Path) -> list[Path]:
    """Return the files of a row: of a level all in its folder. Raises `ReadError` for a section."""
    if HUD_SCENE in offer.importers.values():
        raise ReadError("a section is part of a config", file=name, remedy="Save HUD Back writes into the mod")
    return list(opened.tree.below(name).values()) if LEVEL in offer.importers else [path]


# Offers --------------------------------------------------------------------------------------------------------------

_NUMBERS = ("", *"0123456789abcdefghijklmnopqrstuvwxyz")
ARCHIVES = (
    *(f".{start}{number}" for start in ("db", "xdb") for number in _NUMBERS),
    *(f".xp{number}" for number in _NUMBERS[:11]),
    *(".xrp", ".pbo", ".ifa"),
)
"""Suffixes of archives, as Blender knows dropped files: of `.hog` the import of Descent 3 lists the models."""


class IO_FH_motionbridge_archive(FileHandler):
    """Drop of an archive: the dialog shows what it has."""

    bl_idname = "IO_FH_motionbridge_archive"
    bl_label = "Game Archive"
    bl_import_operator = "motionbridge.from_game"
    bl_file_extensions = ";".join(ARCHIVES)

    @classmethod
    def poll_drop(cls, context: Context) -> bool:
        """The archive is dropped into the 3D viewport or the outliner."""
        return bool(poll_file_object_drop(context))


def draw_offer(layout: Any, context: Context) -> None:
    """Draw the first offer: a file of a known game, or naming the folder of one."""
    if known_rows(context):
        layout.operator("motionbridge.from_game", text="From the Game…", icon="VIEWZOOM")
    else:
        layout.operator("motionbridge.add_game", text="Choose the Game's Folder…", icon="FILE_FOLDER")


CLASSES = classes_of(__name__)
