"""Preferences of the extension: games and their folders, backups, what a click on a motion does."""

from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from ..blender.properties import Event
from ..blender.typed import Context
from ..games.xray.options import ModelImportOptions
from .bases import PACKAGE, options_from

follow_length_set = Event()
"""**Follow Length** was switched on or off."""
GAMES = (
    ("XRAY", "S.T.A.L.K.E.R. (X-Ray)", "Models, motions, levels and first-person scenes of X-Ray games", 1),
    ("ARMA", "Arma, Operation Flashpoint", "Models and animations of Arma and Operation Flashpoint", 2),
    ("DESCENT3", "Descent 3", "Models of Descent 3", 4),
)


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
    textures_folder: StringProperty(
        name="Textures Folder",
        description="Unpacked textures folder of the game; not needed for models in a meshes folder next to it",
        subtype="DIR_PATH",
    )
    game_folder: StringProperty(
        name="Game Folder",
        description="Folder with meshes and textures (gamedata), searched for files that models refer to",
        subtype="DIR_PATH",
    )
    game_materials: StringProperty(
        name="Game Materials",
        description=(
            "The game's gamemtl.xr, for the names of collision materials; not needed for files in a levels folder"
        ),
        subtype="FILE_PATH",
    )
    arma_folder: StringProperty(
        name="Arma Folder",
        description="Work drive (P:) of the Arma tools, or its folder; texture paths of models start there",
        subtype="DIR_PATH",
    )
    descent3_folder: StringProperty(
        name="Descent 3 Folder",
        description="Descent 3 folder with d3.hog, searched for textures of models",
        subtype="DIR_PATH",
    )
    backup: BoolProperty(
        name="Keep a Backup",
        description=(
            "Keep the old file with .bak added to its name when a file is overwritten; an existing backup is kept"
        ),
        default=True,
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
        if "XRAY" in self.games:
            xray = layout.column()
            xray.label(text="S.T.A.L.K.E.R. (X-Ray)", translate=False)
            for name in ("game_folder", "textures_folder", "game_materials"):
                xray.prop(self, name)
            layout.separator()
        if "ARMA" in self.games:
            layout.prop(self, "arma_folder")
        if "DESCENT3" in self.games:
            layout.prop(self, "descent3_folder")
        layout.separator()
        for name in ("backup", "follow_length", "play_on_click"):
            layout.prop(self, name)


def preferences(context: Context) -> Any:
    """Return the extension's preferences."""
    return context.preferences.addons[PACKAGE].preferences


def folders(context: Context) -> tuple[Path | None, Path | None]:
    """Return the game folder and the textures folder; None for each that is not set."""
    chosen = preferences(context)
    folder_texts = [bpy.path.abspath(text) if text else "" for text in (chosen.game_folder, chosen.textures_folder)]
    game, textures = (Path(text) if text else None for text in folder_texts)
    return game, textures


def game_materials(context: Context) -> Path | None:
    """Return the path of gamemtl.xr, None if it is not set."""
    chosen = preferences(context).game_materials
    return Path(bpy.path.abspath(chosen)) if chosen else None


def descent3_folders(context: Context) -> list[Path]:
    """Return the Descent 3 folder as a list, empty if it is not set."""
    chosen = preferences(context).descent3_folder
    return [Path(bpy.path.abspath(chosen))] if chosen else []


def arma_folder(context: Context) -> Path | None:
    """Return the work drive of the Arma tools, None if it is not set."""
    chosen = preferences(context).arma_folder
    return Path(bpy.path.abspath(chosen)) if chosen else None


def model_options(context: Context, operator: Any = None, **options: Any) -> ModelImportOptions:
    """Return options for importing a model, with the folders of the preferences.

    ``operator``: the operator whose properties set the other options, if any.
    """
    game, textures = folders(context)
    options |= {"textures_folder": textures, "game_folder": game}
    return ModelImportOptions(**options) if operator is None else options_from(operator, ModelImportOptions, **options)


CLASSES = (MotionbridgePreferences,)
