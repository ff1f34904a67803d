"""Options of Descent 3's imports and exports.

They are needed when the extension is enabled, so no format, import or export is loaded here.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..options import Options, bone_display_option, listed, modifiers_option, number_or_none, option

if TYPE_CHECKING:
    from ...core.game import InstalledGame

VERSIONS = (
    ("AUTOMATIC", "Same as Imported", "The version of the imported file; for new models 2300"),
    ("2300", "2300", "The newest version, which the game's own tools write; keys of older files get times"),
    ("2200", "2200", "An older version, without alpha of vertices"),
    ("2100", "2100", "An older version, without alpha of vertices and without times of keys: keys are left out"),
)


class ModelImportOptions(Options):
    """Options of importing models.

    ``bones``: create an armature with a bone for each sub-object. ``games``: searched for textures.
    ``animation``: animate parts with actions that have a key at every tick, and more where parts rotate fast; with
    ``few_keys`` only the file's keys and those needed to stay within a tolerance of what the game shows. ``rotors``:
    preview rotors with drivers. ``animated``: folder to which images of animated textures are written. ``collection``:
    name of a new collection for the model; "" for the active one.
    """

    bones: bool = False
    readable_bones: bool = bone_display_option()
    points: bool = option(True, "Points", "Import gun, ground, attach and special points as empties")
    textures: bool = option(
        True,
        "Textures",
        "Show textures found next to the model, in its archive, or in the games of the preferences",
    )
    animation: bool = option(True, "Animation", "Import motions of sub-objects as actions; one game tick is one frame")
    few_keys: bool = False
    rotors: bool = option(True, "Rotate Rotors", "Show rotors rotating as in the game; not exported")
    games: tuple[InstalledGame, ...] = ()
    animated: Path | None = None
    collection: str = ""


class ModelExportOptions(Options):
    """Options of exporting models.

    ``modifiers`` are applied as in the viewport. ``shown_normals``: write normals as Blender shows them, with sharp
    edges, instead of computing them like the game's own tools. ``version`` of the file, None for that of the imported
    file. ``anew``: write a new file for an imported model. ``backup``: keep the replaced file.
    """

    modifiers: bool = modifiers_option()
    shown_normals: bool = False
    version: int | None = listed("AUTOMATIC", number_or_none, "Version", "Version of the file to write", VERSIONS)
    anew: bool = option(False, "New File", "Write a new file from the objects, without the imported data")
    backup: bool = True
