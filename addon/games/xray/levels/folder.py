"""Import of a level folder: all supported files, in one collection for each layer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import bpy

from ....blender import scope
from ....blender.scope import undone_on_failure
from ....core.errors import MotionbridgeError, ReadError
from ....core.report import Report, say
from ....formats.trees import folder_tree
from ..options import LevelFolderOptions
from . import details as level_details
from . import geometry as level_geometry
from . import visuals
from .file import ImportedLevelFile

if TYPE_CHECKING:
    from ....blender.typed import Context


LAYERS = {
    "Surfaces": ("COLOR_08", ("SURFACE",)),
    "Trees": ("COLOR_04", ("TREE",)),
    "Impostors": ("COLOR_07", ("LOD",)),
    "Detail Objects": ("COLOR_06", ("DETAILS", "DM")),
    "Collision": ("COLOR_05", ("CFORM",)),
    "Occluders": ("COLOR_02", ("HOM",)),
    "Sound Occluders": ("COLOR_04", ("SOM",)),
    "Portals": ("COLOR_05", ("PORTAL",)),
    "AI Map": ("COLOR_06", ("AI",)),
    "Lights": ("COLOR_03", ("LIGHT", "GLOW")),
    "Placed Objects": ("COLOR_02", ("PARTICLES", "WEATHER", "SOUNDS", "SPAWNED")),
    "Wallmarks": ("COLOR_01", ("WALLMARKS",)),
    "Level Errors": ("COLOR_01", ("ERR",)),
}
"""Name of a layer's collection -> its colour tag in the outliner, and the kinds of its objects."""
COVERING = frozenset({"Impostors", "Detail Objects", "Collision", "Occluders", "Sound Occluders", "Portals", "AI Map"})
"""Layers that lie on surfaces or in front of them, and are excluded at first if there are surfaces."""


VISUALS = ("surfaces", "trees", "impostors", "portals", "lights", "glows")
"""Options of `LevelFolderOptions` for contents of `level`."""


PLACED = (".ps_static", ".env_mod", ".snd_static", ".spawn")
OPTION_OF_SUFFIX = {".ai": "ai_map", ".wallmarks": "wallmarks", **dict.fromkeys(PLACED, "placed")}
"""File suffix -> option that enables its import."""


def files_in(folder: Path, options: LevelFolderOptions) -> list[Path]:
    """Return the files of a level folder, on disk or in an archive, to import, sorted by name. Raises `ReadError` if
    there are none.
    """
    tree = folder_tree(folder)
    there = sorted(tree.names(""))
    if not there and not folder.is_dir():
        raise ReadError("this is not a folder", file=str(folder), remedy="Choose the folder with the files of a level")
    names = {visuals.FILE} if any(getattr(options, kind) for kind in VISUALS) else set()
    suffixes = {
        *level_geometry.SUFFIXES,
        *(suffix for suffix, kind in OPTION_OF_SUFFIX.items() if getattr(options, kind)),
    }
    wanted = (name for name in there if PurePath(name).suffix in suffixes or name in names)
    result = [path for path in map(tree.find, wanted) if path is not None]
    if not result:
        supported = ", ".join((visuals.FILE, *level_geometry.SUFFIXES, *OPTION_OF_SUFFIX))
        words = "there is no supported file in it ({})"
        raise ReadError(say(words, supported), file=str(folder), remedy="Choose the folder with the files of a level")
    return result


def import_folder(
    context: Context,
    folder: Path,
    options: LevelFolderOptions,
    report: Report,
    step: Callable[[float], None],
) -> list[ImportedLevelFile]:
    """Import all supported files of ``folder``, each layer into a collection below one with the folder's name.

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
    _link(context, result, options.collection or folder.name, report)
    return result


def _link(context: Context, level_files: list[ImportedLevelFile], name: str, report: Report) -> None:
    """Link what was imported to the scene, a collection per layer. Nothing is selected; a visible object is active."""
    into = scope.target_collection(context, report, name)
    properties: Any = into
    properties.motionbridge_level.is_level = True
    surfaces = [obj for imported in level_files if imported.kind == "SURFACE" for obj in imported.all_objects]
    covered = any(obj.motionbridge_level.row >= 0 for obj in surfaces)
    # Where surfaces are only boxes, collision is what shows walls and ground.
    covering = COVERING if covered else COVERING - {"Collision"} if surfaces else frozenset()
    excluded, visible = [], []
    for layer, (colour, kinds) in LAYERS.items():
        of_layer = [imported for kind in kinds for imported in level_files if imported.kind == kind]
        if not of_layer:
            continue
        collection = _layer_collection(layer, colour, into)
        for level_file in of_layer:
            level_geometry.link(level_file, collection)
            report.note(say("{}: {}", say(layer), level_file.counts), level_file.name)
        models = [imported.holder for imported in of_layer if imported.kind == "DM"]
        if models:
            level_details.lay_out_models(models)
        hidden = layer in covering
        excluded += [collection] if hidden else []
        visible += [obj for imported in of_layer for obj in imported.all_objects if not hidden]
        if covered and layer == "Collision":  # its faces lie exactly on those of surfaces
            for mesh in (mesh for imported in of_layer for mesh in imported.meshes):
                mesh.display_type = "WIRE"
    scope.exclude(context, excluded)
    # Thousands of selected objects would make each redraw take much longer.
    scope.make_current(context, [], next(iter(visible), None))


def _read(
    path: Path, options: LevelFolderOptions, report: Report, step: Callable[[float], None]
) -> list[ImportedLevelFile]:
    """Return the objects of one file; ``step`` is called with the finished fraction."""
    if path.name.lower() == visuals.FILE:
        return visuals.read(path, options, report, step)
    return [level_geometry.read_file(path, options, report)]


def _step_in_file(step: Callable[[float], None], number: int, done: float) -> None:
    step(number + done)


def _layer_collection(layer: str, colour: str, into: bpy.types.Collection) -> bpy.types.Collection:
    collection: Any = bpy.data.collections.new(f"{layer} {into.name}")
    collection.color_tag = colour
    collection.motionbridge_level.is_layer = True
    into.children.link(collection)
    return collection
