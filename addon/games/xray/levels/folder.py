"""Import of a level folder: all supported files, in one collection for each kind."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ....blender import scope
from ....blender.scope import undone_on_failure
from ....core.errors import MotionbridgeError, ReadError
from ....core.report import Report, say
from ..options import LevelFolderOptions
from . import details as level_details
from . import geometry as level_geometry
from . import visuals
from .file import ImportedLevelFile

if TYPE_CHECKING:
    from ....blender.typed import Context


COLLECTIONS = {
    "SURFACE": ("Surfaces", "COLOR_08"),
    "TREE": ("Trees", "COLOR_04"),
    "LOD": ("Impostors", "COLOR_07"),
    "PORTAL": ("Portals", "COLOR_05"),
    "LIGHT": ("Lights", "COLOR_03"),
    "GLOW": ("Glows", "COLOR_03"),
    "WALLMARKS": ("Wallmarks", "COLOR_01"),
    "AI": ("AI Map", "COLOR_06"),
    "PARTICLES": ("Particles", "COLOR_02"),
    "WEATHER": ("Weather", "COLOR_05"),
    "SOUNDS": ("Sounds", "COLOR_04"),
    "SPAWNED": ("Spawned Objects", "COLOR_03"),
    "CFORM": ("Collision", "COLOR_05"),
    "HOM": ("Occluders", "COLOR_02"),
    "SOM": ("Sound Occluders", "COLOR_04"),
    "ERR": ("Errors", "COLOR_01"),
    "DETAILS": ("Detail Objects", "COLOR_06"),
    "DM": ("Detail Models", "COLOR_03"),
}
"""Kind -> name of its collection and colour tag in the outliner."""


VISUALS = ("surfaces", "trees", "impostors", "portals", "lights", "glows")
"""Options of `LevelFolderOptions` for contents of `level`."""


PLACED = (".ps_static", ".env_mod", ".snd_static", ".spawn")
OPTION_OF_SUFFIX = {".ai": "ai_map", ".wallmarks": "wallmarks", **dict.fromkeys(PLACED, "placed")}
"""File suffix -> option that enables its import."""


def files_in(folder: Path, options: LevelFolderOptions) -> list[Path]:
    """Return the files of a level folder to import, sorted by name. Raises `ReadError` if there are none."""
    if not folder.is_dir():
        raise ReadError("this is not a folder", file=str(folder), remedy="Choose the folder with level.cform")
    names = {visuals.FILE} if any(getattr(options, kind) for kind in VISUALS) else set()
    suffixes = {
        *level_geometry.SUFFIXES,
        *(suffix for suffix, kind in OPTION_OF_SUFFIX.items() if getattr(options, kind)),
    }
    result = sorted(
        path
        for path in folder.iterdir()
        if (path.suffix.lower() in suffixes or path.name.lower() in names) and path.is_file()
    )
    if not result:
        supported = ", ".join((visuals.FILE, *level_geometry.SUFFIXES, *OPTION_OF_SUFFIX))
        words = "there is no supported file in it ({})"
        raise ReadError(say(words, supported), file=str(folder), remedy="Choose the folder with level and level.cform")
    return result


def import_folder(
    context: Context,
    folder: Path,
    options: LevelFolderOptions,
    report: Report,
    step: Callable[[float], None],
) -> list[ImportedLevelFile]:
    """Import all supported files of ``folder``, each kind into a collection below one with the folder's name.

    A file that cannot be read does not stop the others. Raises `ReadError` if none can be read. ``step`` is called with
    the number of finished files, including fractions.
    """
    result: list[ImportedLevelFile] = []
    refusals: list[MotionbridgeError] = []
    paths = files_in(folder, options)
    for number, path in enumerate(paths):
        own_report = Report()
        try:
            with undone_on_failure(context):
                result += _read(path, options, own_report, partial(_step_in_file, step, number))
        except MotionbridgeError as refused:
            refusals.append(refused)
        else:
            report.include(own_report)
        step(number + 1)
    if not result:
        raise refusals[0]
    for refusal in refusals:
        report.warn(say("left out: {}", str(refusal).rstrip(".")))
    into = scope.target_collection(context, report, options.collection or folder.name)
    excluded = []
    for kind in COLLECTIONS:
        of_kind = [imported for imported in result if imported.kind == kind]
        if of_kind:
            below = kind_collection(kind, into)
            for level_file in of_kind:
                level_geometry.link(level_file, below)
                report.note(say("{}: {}", COLLECTIONS[kind][0].lower(), level_file.counts), level_file.name)
            excluded += [below] if any(imported.excluded for imported in of_kind) else []
            if kind == "DM":
                level_details.lay_out_models([imported.holder for imported in of_kind])
    scope.exclude(context, excluded)
    order = list(COLLECTIONS)
    kept = sorted(
        (imported for imported in result if not imported.excluded), key=lambda imported: order.index(imported.kind)
    )
    objects = [obj for imported in kept for obj in (*imported.held, *imported.objects)]
    scope.make_current(context, objects, objects[0] if objects else None)
    return result


def _read(
    path: Path, options: LevelFolderOptions, report: Report, step: Callable[[float], None]
) -> list[ImportedLevelFile]:
    """Return the objects of one file; ``step`` is called with the finished fraction."""
    if path.name.lower() == visuals.FILE:
        return visuals.read(path, options, report, step)
    return [level_geometry.read_file(path, options, report)]


def _step_in_file(step: Callable[[float], None], number: int, done: float) -> None:
    step(number + done)


def kind_collection(kind: str, into: bpy.types.Collection) -> bpy.types.Collection:
    """Create a collection for one kind of level files."""
    name, colour = COLLECTIONS[kind]
    collection: Any = bpy.data.collections.new(f"{name} {into.name}")
    collection.color_tag = colour
    into.children.link(collection)
    return collection
