"""Exports of motions to a file that exists: in a window they go into it, and what a new file would lose is drawn."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import bpy
from bpy.props import StringProperty

from ...core.errors import ReadError
from ..bases import ExportHelper
from ..wording import shown

NAMES_SHOWN = 4


class ExistingMotions:
    """Mixed into exports of motions, before `FileExport`; they have the option ``onto``.

    Scripts get the option's default. In a window it follows the file that is named, until the user sets it.
    """

    suggested_onto: StringProperty(options={"SKIP_SAVE", "HIDDEN", "SKIP_PRESET"})
    removed_motions: StringProperty(options={"SKIP_SAVE", "HIDDEN", "SKIP_PRESET"})

    def goes_into(self, path: Path) -> bool:
        """Whether motions are added to such a file, if it exists."""
        return path.is_file()

    @staticmethod
    def names_in(path: Path) -> Iterable[str]:
        """The motions of a file. Raises `ReadError`. Overridden by every export."""
        raise NotImplementedError

    def names_to_write(self, context: Any) -> Iterable[str]:
        """The motions that would be written. Overridden by every export."""
        raise NotImplementedError

    def invoke(self, context: Any, event: Any) -> Any:
        """The file browser, with what suits the file it begins at, unless the caller has set it."""
        operator: Any = self
        operator.suggested_onto = "" if operator.properties.is_property_set("onto") else operator.onto
        parent: Any = super()
        answer = parent.invoke(context, event)
        self.look_at_target(context)
        return answer

    def check(self, context: Any) -> bool:
        """Called by Blender whenever the file or an option is another one."""
        operator: Any = self
        before = operator.onto, operator.removed_motions
        changed = ExportHelper.check(operator, context)
        self.look_at_target(context)
        return bool(changed) or before != (operator.onto, operator.removed_motions)

    def look_at_target(self, context: Any) -> None:
        """Set ``onto``, if the user has not, and find what the file would lose."""
        operator: Any = self
        path = Path(bpy.path.abspath(operator.filepath))
        if operator.suggested_onto and operator.onto == operator.suggested_onto:
            operator.suggested_onto = operator.onto = "FILE" if self.goes_into(path) else "OWN_FILES"
        removed: list[str] = []
        if operator.onto == "OWN_FILES" and path.is_file():
            written = {name.lower() for name in self.names_to_write(context)}
            removed = [name for name in self._names_in(path) if name.lower() not in written]
        operator.removed_motions = "\n".join(removed)

    def _names_in(self, path: Path) -> tuple[str, ...]:
        found = path.stat()
        return _names(self.names_in, path, found.st_mtime_ns, found.st_size)

    def draw_removed(self, layout: Any) -> None:
        """How many motions of the existing file are in none of the chosen actions, and the first of them."""
        operator: Any = self
        removed = operator.removed_motions.split("\n") if operator.removed_motions else []
        if not removed:
            return
        column = layout.column(align=True)
        column.alert = True
        text = shown("1 motion will be removed" if len(removed) == 1 else "{} motions will be removed")
        column.label(text=text.format(len(removed)), icon="ERROR", translate=False)
        for name in removed[:NAMES_SHOWN]:
            column.label(text=name, icon="BLANK1", translate=False)
        if len(removed) > NAMES_SHOWN:
            column.label(text=shown("and {} more").format(len(removed) - NAMES_SHOWN), icon="BLANK1", translate=False)


@lru_cache(maxsize=4)
def _names(read: Callable[[Path], Iterable[str]], path: Path, _changed: int, _size: int) -> tuple[str, ...]:
    """The browser asks again after every click; a file is read once. Other files have no motions to lose."""
    try:
        return tuple(read(path))
    except ReadError:
        return ()
