"""Preferences of the extension: games that menus offer, installed games with their mods, backups, what a click on a
motion does.
"""

from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, IntProperty, StringProperty

from ..blender.properties import Event
from ..blender.typed import Context
from ..core import game as installed
from ..formats import trees
from ..games.xray.options import ModelImportOptions
from .bases import PACKAGE, BlenderList, iface_, options_from, tell
from .layouts import paragraph

follow_length_set = Event()
"""**Follow Length** was switched on or off."""
GAMES = (
    ("XRAY", "S.T.A.L.K.E.R. (X-Ray)", "Models, motions, levels and first-person scenes of X-Ray games", 1),
    ("ARMA", "Arma, Operation Flashpoint", "Models and animations of Arma and Operation Flashpoint", 2),
    ("DESCENT3", "Descent 3", "Models of Descent 3", 4),
)
TITLES = {identifier: title for identifier, title, *_ in GAMES}
LINE = 70
"""Characters in a line of the preferences."""


class GameMod(bpy.types.PropertyGroup):
    """A mod of an installed game."""

    folder: StringProperty(name="Folder", description="Folder of the mod", subtype="DIR_PATH")
    use: BoolProperty(name="Use Mod", description="Look for files in this mod, before the game", default=True)


def _recognise(game: Any, _context: Context) -> None:
    path = bpy.path.abspath(game.folder)
    game.kind = trees.kind_of(Path(path)) if path else ""
    game.name = game.name or Path(path).name


def _changed(_preferences: Any, context: Context) -> None:
    context.preferences.is_dirty = True  # also where a dialog shows the option


class KnownGame(bpy.types.PropertyGroup):
    """An installed game. ``kind``: which one its folder has, an identifier of `GAMES`, "" for none; ``recent``: names
    of the files that were imported last, a line each.
    """

    folder: StringProperty(
        name="Folder",
        description="Folder of the game as it is installed, of Mod Organizer, of unpacked files, or the drive P: of "
        "Arma's tools",
        subtype="DIR_PATH",
        update=_recognise,
    )
    kind: StringProperty(options={"HIDDEN"})
    recent: StringProperty(options={"HIDDEN"})
    mods: CollectionProperty(type=GameMod)
    active_mod: IntProperty(options={"HIDDEN"})


class MOTIONBRIDGE_UL_known_games(BlenderList):
    """Installed games."""

    def draw_item(
        self, _context: Context, layout: Any, _data: Any, game: Any, _icon: int, _owner: Any, _active: str
    ) -> None:
        row = layout.row()
        row.prop(game, "name", text="", emboss=False, icon="FILE_FOLDER" if game.kind else "ERROR")
        row.label(text=TITLES.get(game.kind, iface_("No Game")), translate=False)


class MOTIONBRIDGE_UL_game_mods(BlenderList):
    """Mods of an installed game."""

    def draw_item(
        self, _context: Context, layout: Any, _data: Any, mod: Any, _icon: int, _owner: Any, _active: str
    ) -> None:
        row = layout.row()
        row.prop(mod, "use", text="")
        row.prop(mod, "folder", text="", emboss=False)


class MotionbridgePreferences(bpy.types.AddonPreferences):
    """Preferences of the extension."""

    bl_idname = PACKAGE

    games: EnumProperty(
        name="Games",
        description="Games that menus and panels offer; objects of other games keep their panels",
        items=GAMES,
        default={identifier for identifier, *_ in GAMES},
        options={"ENUM_FLAG"},
    )
    known_games: CollectionProperty(name="Installed Games", type=KnownGame)
    active_game: IntProperty(name="Installed Games", options={"HIDDEN"})
    backup: BoolProperty(
        name="Keep a Backup",
        description=(
            "Keep the old file with .bak added to its name when a file is overwritten; an existing backup is kept"
        ),
        default=True,
    )
    pack_textures: BoolProperty(
        name="Pack Textures",
        description="Store textures out of archives, and those of Arma and Descent 3, in the .blend. Otherwise they "
        "are loaded from the game each time the .blend is opened",
        default=True,
        update=_changed,
    )
    follow_length: BoolProperty(
        name="Follow Length",
        description="Set the preview range to the length of a motion that is chosen; the range of the scene stays",
        default=True,
        update=follow_length_set.update,
    )
    play_on_click: BoolProperty(name="Play on Click", description="Play a motion when it is chosen in a list")

    def draw(self, _context: Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "games")
        self._draw_games(layout)
        layout.separator()
        for name in ("backup", "pack_textures", "follow_length", "play_on_click"):
            layout.prop(self, name)

    def _draw_games(self, layout: Any) -> None:
        layout.separator()
        layout.label(text="Installed Games")
        _draw_list(layout, "MOTIONBRIDGE_UL_known_games", self, "known_games", "active_game", mods=False)
        layout.operator("motionbridge.find_games", icon="VIEWZOOM")
        if not 0 <= self.active_game < len(self.known_games):
            return
        game = self.known_games[self.active_game]
        layout.prop(game, "folder")
        if game.folder and not game.kind:
            paragraph(layout, tell(trees.LOOKED_FOR), LINE, "ERROR")
        layout.label(text="Mods, later ones over earlier ones")
        _draw_list(layout, "MOTIONBRIDGE_UL_game_mods", game, "mods", "active_mod", mods=True)


def _draw_list(layout: Any, drawn_by: str, owner: Any, rows: str, active: str, *, mods: bool) -> None:
    """Draw a list with the buttons that change it."""
    row = layout.row()
    row.template_list(drawn_by, "", owner, rows, owner, active, rows=4)
    column = row.column(align=True)
    column.operator("motionbridge.add_game", text="", icon="ADD").mod = mods
    for change, icon in (("REMOVE", "REMOVE"), ("UP", "TRIA_UP"), ("DOWN", "TRIA_DOWN")):
        button = column.operator("motionbridge.change_games", text="", icon=icon)
        button.action, button.mods = change, mods


def preferences(context: Context) -> Any:
    """Return the extension's preferences."""
    return context.preferences.addons[PACKAGE].preferences


def known_games(context: Context, kind: str) -> "tuple[installed.InstalledGame, ...]":
    """Return the installed games of one kind, an identifier of `GAMES`, with the mods that are in use."""
    return tuple(installed_game(row) for row in preferences(context).known_games if row.kind == kind)


def installed_game(row: Any) -> "installed.InstalledGame":
    """Return the folders of a game in the list, with those of the mods that are in use."""
    return installed.InstalledGame(_path(row.folder), tuple(_path(mod.folder) for mod in row.mods if mod.use))


def all_games(context: Context) -> "list[installed.InstalledGame]":
    """Return the installed games, with the mods that are in use."""
    return [installed_game(row) for row in preferences(context).known_games if row.folder]


def known_mods(_operator: Any, context: Context, _typed: str) -> list[str]:
    """Return the folders of all mods in use, for a field that suggests them."""
    return list(dict.fromkeys(str(mod) for game in all_games(context) for mod in game.mods))


def add_mod(context: Context, game: "installed.InstalledGame", mod: Path) -> None:
    """Add a mod to a game of the list, over its other mods, unless one of its folders has it."""
    chosen = preferences(context)
    row = next((row for row in chosen.known_games if row.folder and _path(row.folder) == game.folder), None)
    if row is None or any(mod.is_relative_to(folder) for folder in trees.folders_of(installed_game(row))):
        return
    known = next((listed for listed in row.mods if _path(listed.folder) == mod), None) or row.mods.add()
    known.folder, known.use = str(mod), True
    context.preferences.is_dirty = True


def _path(text: str) -> Path:
    return Path(bpy.path.abspath(text))


def model_options(context: Context, operator: Any = None, **options: Any) -> ModelImportOptions:
    """Return options for importing a model, with the games of the preferences.

    ``operator``: the operator whose properties set the other options, if any.
    """
    options |= {"games": known_games(context, "XRAY")}
    return ModelImportOptions(**options) if operator is None else options_from(operator, ModelImportOptions, **options)


CLASSES = (GameMod, KnownGame, MOTIONBRIDGE_UL_known_games, MOTIONBRIDGE_UL_game_mods, MotionbridgePreferences)
