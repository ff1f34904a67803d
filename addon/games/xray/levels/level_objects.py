"""The objects of one level file in the scenes: by kind, and by their index in the file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import bpy

from ....core.report import Report, say
from .file import listed_objects

if TYPE_CHECKING:
    from ....blender.typed import Object, Scene


@dataclass
class LevelObjects:
    """Objects of one level file: ``first``: kind -> row -> object; ``copies``: kind -> further objects with such a row.

    ``boxes``: objects that show surfaces or trees as boxes. ``saved``: whether
    the file was saved back since the import.
    """

    first: dict[str, dict[int, Object]]
    copies: dict[str, list[Object]]
    boxes: list[Object]
    report: Report
    saved: bool = False

    def all_of(self, kind: str) -> list[Object]:
        """Return the first objects by row, followed by copies."""
        first = self.first.get(kind, {})
        return [*(first[row] for row in sorted(first)), *self.copies.get(kind, [])]

    def keep_all(self, words: str) -> None:
        """Warn that all objects of a kind are written as imported, because the scene has none of them."""
        if self.saved:
            words = say("{}, without the edits that were saved since", say(words))
        self.report.warn(words)


def find_objects(scene: Scene, holder: Object, report: Report) -> LevelObjects:
    """Find the objects of a level file, for exporting a scene.

    Objects that exist only in another scene count as not deleted, but not as copies (that scene may be a copy).
    """
    first: dict[str, dict[int, Object]] = {}
    copies: dict[str, list[Object]] = {}
    boxes: list[Object] = []
    others: list[Object] = []
    here: set[Any] = set(scene.objects)
    elsewhere: set[Any] = {obj for other in bpy.data.scenes for obj in other.objects} - here
    # By name, so that originals come before their copies.
    for obj in (*sorted(here, key=_name), *sorted(elsewhere, key=_name)):
        properties = obj.motionbridge_level
        if properties.level_file != holder or properties.kind == "TREE_PART":
            continue
        row = properties.row
        rows = first.setdefault(properties.kind, {})
        if row < 0:
            boxes.append(obj)
        elif row not in rows:
            rows[row] = obj
            others += [obj] if obj in elsewhere else []
        elif obj in here:
            copies.setdefault(properties.kind, []).append(obj)
    if others:
        words = "objects that are only in another scene are written as they are there: {}"
        report.warn(say(words, listed_objects(others)))
    return LevelObjects(first, copies, boxes, report, bool(holder.motionbridge_level.saved))


def _name(obj: Object) -> str:
    return str(obj.name_full)
