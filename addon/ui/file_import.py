"""What the operators of File > Import share: a dialog for dropped files, one file after the other, where drops are
taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from bpy_extras.io_utils import poll_file_object_drop

from ..blender import scope
from ..core.errors import ReadError
from ..core.report import Report
from .operation import FileChoice, Operation

Made = TypeVar("Made")


class FileImport(Operation, FileChoice):
    """Mixed into operators that read files, before `ImportHelper`. They write `run` and `draw`."""

    bl_options = {"REGISTER", "UNDO", "PRESET"}

    def invoke(self, context: Any, _event: Any) -> Any:
        """A dialog with the options for dropped files, else the file browser."""
        operator: Any = self
        self.called_by_person(from_browser=not operator.properties.is_property_set("filepath"))
        return operator.invoke_popup(context)

    def edited(self, context: Any) -> Iterable[Any]:
        """Nothing: new objects are made, unless an import says onto what."""
        return ()

    def chosen_files(self, remedy: str) -> list[str]:
        """Absolute paths, at least one. Raises `ReadError` with this ``remedy``."""
        paths = self.paths()
        if not paths:
            raise ReadError("no file is chosen", remedy=remedy)
        return paths

    def import_each(
        self, context: Any, files: list[str], work: Callable[[str, Report], Made], report: Report
    ) -> list[Made]:
        """What ``work`` made of each of the files, but for bad ones. Raises the refusal where all are bad."""
        made: list[Made] = []
        with scope.progress(context, len(files)) as step:

            def one(file: str, found: Report) -> None:
                made.append(work(file, found))
                step(len(made))

            self.each_file(files, one, report)
        return made


class DropInScene:
    """Mixed into file handlers, before `bpy.types.FileHandler`."""

    @classmethod
    def poll_drop(cls, context: Any) -> bool:
        """Dropped into the viewport or the outliner."""
        return bool(poll_file_object_drop(context))


class DropOnMotion(DropInScene):
    """The same of files that become actions."""

    @classmethod
    def poll_drop(cls, context: Any) -> bool:
        """Dropped into the viewport or the outliner, or where actions are edited."""
        area = context.area
        return super().poll_drop(context) or (area is not None and area.type == "DOPESHEET_EDITOR")
