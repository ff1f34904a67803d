"""Paths of textures in the game for images that materials show: what an author need not type.

The game finds a texture by its addon's prefix and the path below the addon's folder. The tools know the prefix from a
file ``$PBOPREFIX$`` in that folder; without one it is the folder's path on the work drive, or else the folder's name.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import bpy

from ...blender import material
from ...formats.arma import names

if TYPE_CHECKING:
    from ...blender.typed import Material

PREFIX_FILES = ("$PBOPREFIX$", "$PBOPREFIX$.txt", "$PREFIX$")
CONFIG = "config.cpp"
WORK_DRIVE = "p:/"
GAME_SUFFIXES = (".paa", ".pac")
MOST_FOLDERS = 16
"""Largest number of parent folders that are searched for an addon's files."""
MOST_BYTES = 4096
"""Most bytes of a prefix file that are read."""


def texture_of(made: Material | None, work_folder: Path | None) -> str:
    """Return the path in the game of the image that a material shows; "" if it shows none, or one of no addon.

    ``work_folder``: folder that the tools mount as work drive, None if unknown.
    """
    image = material.image_of(made)
    if image is None or image.source != "FILE" or not image.filepath:
        return ""
    return game_path(bpy.path.abspath(image.filepath, library=image.library), work_folder)


def game_path(image: str, work_folder: Path | None) -> str:
    r"""Return the path in the game of an image file, such as ``tag\addon\data\wall_co.paa``; "" if it is in no folder
    of an addon and not on the work drive.
    """
    plain = image.replace("\\", "/")
    file = Path(plain)
    around = list(file.parents)[:MOST_FOLDERS]
    for folder in around:
        prefix = _prefix_of(folder)
        if prefix:
            return _joined(prefix, file.relative_to(folder).as_posix())
    if work_folder is not None and work_folder in around:
        return _joined("", file.relative_to(work_folder).as_posix())
    if plain.lower().startswith(WORK_DRIVE):
        return _joined("", plain[len(WORK_DRIVE) :])
    # An addon may have further configs in folders inside of it.
    addon = next((folder for folder in reversed(around) if (folder / CONFIG).is_file()), None)
    return _joined(addon.name, file.relative_to(addon).as_posix()) if addon is not None and addon.name else ""


def _joined(prefix: str, below: str) -> str:
    path = PurePosixPath(prefix.replace("\\", "/").strip("/"), below)
    return str(path if path.suffix.lower() in GAME_SUFFIXES else path.with_suffix(GAME_SUFFIXES[0])).replace("/", "\\")


def _prefix_of(folder: Path) -> str:
    r"""Return the prefix that a file in an addon's folder names (``x\tag`` or ``prefix=x\tag``), "" if none does."""
    for name in PREFIX_FILES:
        try:
            with (folder / name).open("rb") as stream:
                lines = names.decode(stream.read(MOST_BYTES)).splitlines()
        except OSError:  # there is none, or it is not readable
            continue
        for line in lines:
            key, equals, value = line.partition("=")
            if equals and key.strip().lower() != "prefix":
                continue
            found = (value if equals else line).strip().strip("\"';\\/ ")
            if found and not found.startswith("//"):
                return found
    return ""
