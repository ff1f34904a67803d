"""The list of motions before an import: a tick for each, and the file browser that comes before it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, IntProperty, StringProperty

from ...core.errors import ReadError
from ...core.report import Report
from .. import tick_list
from ..bases import BlenderList
from ..operation import hand_over
from ..target import likely_rig
from ..tick_list import TickedChoice, TickedRows
from ..wording import shown

MOST_FRAMES = 2**31 - 1
"""What an `IntProperty` holds; broken files announce more."""
Names = Callable[[str], list[tuple[str, int]]]
"""Name and frames of each motion of a file. Raises `ReadError`."""


class ListedMotion(bpy.types.PropertyGroup):
    """A motion that could be imported; ``name`` is its own."""

    file: StringProperty()
    frames: IntProperty()
    ticked: BoolProperty(name="Import", description="Import this motion", default=True)


class MOTIONBRIDGE_UL_listed_motions(TickedRows, BlenderList):
    """Motions of the chosen files, with a tick each."""

    def size(self, item: Any) -> str:
        """Its length."""
        return shown("1 frame") if item.frames == 1 else shown("{} frames").format(item.frames)


class MotionList(TickedChoice):
    """Mixed into operators that import motions, beside `Operation`, `FileChoice` and a property ``name_filter``."""

    motions: StringProperty(
        name="Motions",
        description="Names of the motions to import, separated by semicolons; empty for all",
        options={"SKIP_SAVE", "SKIP_PRESET", "HIDDEN"},
    )
    listed: CollectionProperty(type=ListedMotion, options={"SKIP_SAVE", "SKIP_PRESET", "HIDDEN"})

    def list_files(self, names_of: Names, report: Report) -> None:
        """A ticked row for each motion of each chosen file."""
        operator: Any = self
        operator.listed.clear()

        def one(path: str, _found: Report) -> None:
            for name, frames in names_of(path):
                row = operator.listed.add()
                row.name, row.file, row.frames = name, path, min(frames, MOST_FRAMES)

        operator.each_file(operator.paths(), one, report)

    def ask(self, context: Any) -> None:
        """The dialog with the list."""
        operator: Any = self
        paths = operator.paths()
        title = Path(paths[0]).name if len(paths) == 1 else shown("Import {} files").format(len(paths))
        context.window_manager.invoke_props_dialog(
            operator, width=460, title=title, confirm_text=shown("Import Motions")
        )

    def draw_list(self, layout: Any) -> None:
        """The list, where there is one."""
        operator: Any = self
        if len(operator.listed):
            tick_list.draw(layout, operator, "MOTIONBRIDGE_UL_listed_motions", shown("{} of {} motions"))

    def chosen(self, paths: list[str], names_of: Names, report: Report) -> dict[str, list[str]]:
        """Path -> names of the motions to import from it: those named, else those ticked, else all.

        Raises `ReadError`.
        """
        operator: Any = self
        wanted = [name.strip() for name in operator.motions.split(";") if name.strip()]
        lowered = {name.lower() for name in wanted}
        chosen: dict[str, list[str]] = {}

        def one(path: str, _found: Report) -> None:
            names = [name for name, _ in names_of(path)]
            if not names:
                raise ReadError("there are no motions in this file", file=path, remedy="Choose another file")
            if wanted:
                names = [name for name in names if name.lower() in lowered]
            elif len(operator.listed):
                ticked = {row.name for row in operator.listed if row.ticked and row.file == path}
                names = [name for name in names if name in ticked]
            chosen[path] = names

        operator.each_file(paths, one, report)
        there = {name.lower() for names in chosen.values() for name in names}
        missing = [name for name in wanted if name.lower() not in there]
        if missing:
            raise ReadError(
                f"there is no motion named {missing[0]!r}", file=paths[0], remedy="Choose from the list of motions"
            )
        chosen = {path: names for path, names in chosen.items() if names}
        if not chosen:
            raise ReadError("no motion is chosen", file=paths[0], remedy="Tick at least one motion in the list")
        return chosen


class MotionChooser:
    """Mixed into the file browsers before the list, beside `FileChoice` and `ImportHelper`.

    They are operators of their own, without UNDO: the browser would leave an undo step before the list is confirmed.
    """

    bl_label = "List Motions"
    bl_options = {"INTERNAL"}

    def draw(self, context: Any) -> None:
        """What comes next."""
        operator: Any = self
        column = operator.layout.column()
        column.label(text="Next step: the list of motions", icon="INFO")
        rig = likely_rig(context)
        column.label(text=rig.name if rig is not None else "No armature is active", icon="ARMATURE_DATA")

    def list_with(self, importer: Any) -> Any:
        """Let the importer list the chosen files and go on from there."""
        operator: Any = self
        names = [{"name": entry.name} for entry in operator.files if entry.name]
        chosen = {"filepath": operator.filepath, "directory": operator.directory, "files": names}
        return {"FINISHED"} if hand_over(operator, importer, **chosen) else {"CANCELLED"}


CLASSES = (ListedMotion, MOTIONBRIDGE_UL_listed_motions)
