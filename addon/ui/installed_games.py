"""The list of installed games in the preferences: adding, finding, ordering."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from ..blender.typed import Context
from ..core import kept
from ..core.errors import ReadError, WriteError
from ..core.report import Report
from ..formats import trees
from .bases import PACKAGE, BlenderOperator, classes_of, iface_, rpt_
from .operation import Operation, Outcome, stores_nothing
from .preferences import preferences

CHANGES = (
    ("REMOVE", "Remove", "Remove it from the list; its files stay"),
    ("UP", "Move Up", "Look in it earlier; of mods later ones win"),
    ("DOWN", "Move Down", "Look in it later; of mods later ones win"),
)


class ChangesPreferences(Operation):
    """Mixin for operators that change the preferences, not the .blend file."""

    bl_options = {"INTERNAL"}
    edited = stores_nothing

    def run(self, context: Context, report: Report) -> Outcome:
        context.preferences.is_dirty = True
        return self.change(preferences(context), report)

    def change(self, chosen: Any, report: Report) -> Outcome:
        """Change the preferences. Overridden by every operator."""
        raise NotImplementedError


class MOTIONBRIDGE_OT_add_game(ChangesPreferences, BlenderOperator):
    """Add an installed game, a folder of Mod Organizer, unpacked files, or a mod of the active game"""

    bl_idname = "motionbridge.add_game"
    bl_label = "Add Game"

    directory: StringProperty(subtype="DIR_PATH", options={"SKIP_SAVE", "HIDDEN"})
    mod: BoolProperty(
        name="Mod", description="Add a mod of the active game instead of a game", options={"SKIP_SAVE", "HIDDEN"}
    )

    def invoke(self, context: Context, _event: bpy.types.Event) -> Any:
        """Open the file browser."""
        self.invoked_by_user(from_browser=True)
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def change(self, chosen: Any, _report: Report) -> Outcome:
        """Add the folder. Raises `ReadError` if it has no game."""
        folder = Path(bpy.path.abspath(self.directory))
        if not self.directory or not folder.is_dir():
            raise ReadError("there is no such folder", file=str(folder), remedy=trees.LOOKED_FOR)
        if self.mod:
            game = _active(chosen)
            game.mods.add().folder = str(folder)
            game.active_mod = len(game.mods) - 1
            return Outcome(rpt_("Added the mod {}").format(folder.name))
        if not trees.kind_of(folder):
            raise ReadError("this folder has no game", file=str(folder), remedy=trees.LOOKED_FOR)
        _add(chosen, folder.name, folder, [])
        return Outcome(rpt_("Added the game {}").format(folder.name))


class MOTIONBRIDGE_OT_find_games(ChangesPreferences, BlenderOperator):
    """Look for games in Steam's libraries and among those of GOG, and for the mods of Arma's workshop"""

    bl_idname = "motionbridge.find_games"
    bl_label = "Find Games"

    def change(self, chosen: Any, _report: Report) -> Outcome:
        """Add the games that are found and not in the list yet."""
        known = {Path(bpy.path.abspath(row.folder)) for row in chosen.known_games}
        games = [game for game in trees.installed.find_games() if game.folder not in known]
        for game in games:
            _add(chosen, game.name, game.folder, game.mods)
        if not games:
            raise ReadError(
                "no further game of Steam or GOG was found", remedy="Add the folder of a game that is elsewhere"
            )
        return Outcome(rpt_("Games added: {}").format(", ".join(game.name for game in games)))


class MOTIONBRIDGE_OT_change_games(ChangesPreferences, BlenderOperator):
    """Remove or move the active game or mod"""

    bl_idname = "motionbridge.change_games"
    bl_label = "Change Games"

    action: EnumProperty(name="Change", description="What to change", items=CHANGES, options={"SKIP_SAVE"})
    mods: BoolProperty(name="Mods", description="Change the active mod instead of the game", options={"SKIP_SAVE"})

    @classmethod
    def description(cls, _context: Context, properties: Any) -> str:
        """Return the tooltip of the change."""
        return iface_(next(text for name, _, text in CHANGES if name == properties.action))

    def change(self, chosen: Any, _report: Report) -> Outcome:
        """Remove or move the active row."""
        owner, rows, index = (chosen, "known_games", "active_game")
        if self.mods:
            owner, rows, index = (_active(chosen), "mods", "active_mod")
        listed, active = getattr(owner, rows), getattr(owner, index)
        if not 0 <= active < len(listed):
            raise WriteError("no row is active", remedy="Click a row of the list")
        if self.action == "REMOVE":
            listed.remove(active)
            setattr(owner, index, max(min(active, len(listed) - 1), 0))
            return Outcome(rpt_("Removed from the list"))
        target = active + (1 if self.action == "DOWN" else -1)
        if not 0 <= target < len(listed):
            raise WriteError("the row is at the end of the list", remedy="Move another one")
        listed.move(active, target)
        setattr(owner, index, target)
        return Outcome(rpt_("Moved in the list"))


def _active(chosen: Any) -> Any:
    """Return the active game. Raises `WriteError` if there is none."""
    if not 0 <= chosen.active_game < len(chosen.known_games):
        raise WriteError("no game is active", remedy="Add a game first")
    return chosen.known_games[chosen.active_game]


def _add(chosen: Any, name: str, folder: Path, mods: Iterable[Path]) -> None:
    game = chosen.known_games.add()
    game.name, game.folder = name, str(folder)
    for mod in mods:
        game.mods.add().folder = str(mod)
    chosen.active_game = len(chosen.known_games) - 1


def _own_folder() -> Path | None:
    """Return the extension's own folder, None if Blender has none for it."""
    try:
        return Path(bpy.utils.extension_path_user(PACKAGE))
    except ValueError:  # not installed as an extension
        return None


def register() -> None:
    """Let the tables of archives be kept in the extension's own folder."""
    kept.folder = _own_folder


def unregister() -> None:
    """Let no tables be kept."""
    kept.folder = kept.nowhere


CLASSES = classes_of(__name__)
