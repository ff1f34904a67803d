"""All of a level's files that can be shown, from its folder into collections, one for each kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy

from ....blender import scope
from ....blender.scope import undone_on_failure
from ....core.errors import MotionbridgeError, ReadError
from ....core.report import Report
from ..options import LevelImportOptions
from . import importing as level
from . import models as level_models
from .file import ImportedLevelFile

COLLECTIONS = {
    "CFORM": ("Collision", "COLOR_05"),
    "HOM": ("Occluders", "COLOR_02"),
    "SOM": ("Sound Occluders", "COLOR_04"),
    "ERR": ("Errors", "COLOR_01"),
    "DETAILS": ("Detail Objects", "COLOR_06"),
    "DM": ("Detail Models", "COLOR_03"),
}
"""Kind -> what its collection is called, and its colour in the outliner."""


def files_in(folder: Path) -> list[Path]:
    """The files of a level folder that can be shown, by name. Raises `ReadError` where it is no folder or has none."""
    if not folder.is_dir():
        raise ReadError("this is not a folder", file=str(folder), remedy="Choose the folder with level.cform")
    found = sorted(path for path in folder.iterdir() if path.suffix.lower() in level.SUFFIXES and path.is_file())
    if not found:
        raise ReadError(
            f"there is no supported file in it ({', '.join(level.SUFFIXES)})",
            file=str(folder),
            remedy="Choose the folder with level.cform",
        )
    return found


def import_folder(
    context: bpy.types.Context, folder: Path, options: LevelImportOptions, report: Report, step: Callable[[int], None]
) -> list[ImportedLevelFile]:
    """Every file of ``folder`` that can be shown, each kind in a collection below one of the folder's name.

    A file that cannot be read does not stop the others. Raises `ReadError` where none can. ``step`` is called with how
    many files are done.
    """
    made: list[ImportedLevelFile] = []
    refusals: list[MotionbridgeError] = []
    paths = files_in(folder)
    for number, path in enumerate(paths):
        found = Report()
        try:
            with undone_on_failure(context):
                made.append(level.read_file(path, options, found))
        except MotionbridgeError as refused:
            refusals.append(refused)
        else:
            report.include(found)
        step(number + 1)
    if not made:
        raise refusals[0]
    for refusal in refusals:
        report.warn(f"left out: {str(refusal).rstrip('.')}")
    into = scope.target_collection(context, report, options.collection or folder.name)
    for kind in COLLECTIONS:
        of_kind = [one for one in made if one.kind == kind]
        if of_kind:
            below = kind_collection(kind, into)
            for one in of_kind:
                level.link(one, below)
                report.note(f"{COLLECTIONS[kind][0].lower()}: {one.counts}", one.name)
            if kind == "DM":
                level_models.lay_out([one.holder for one in of_kind])
    order = list(COLLECTIONS)
    shown = [thing for one in sorted(made, key=lambda one: order.index(one.kind)) for thing in one.objects]
    scope.make_current(context, shown, shown[0] if shown else None)
    return made


def kind_collection(kind: str, into: Any) -> Any:
    """A collection for one kind of a level's files."""
    name, colour = COLLECTIONS[kind]
    made: Any = bpy.data.collections.new(f"{name} {into.name}")
    made.color_tag = colour
    into.children.link(made)
    return made
