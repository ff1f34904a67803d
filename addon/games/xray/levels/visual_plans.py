"""Plans for the file `level`, with the files beside it that are written together with it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ....blender.properties import keep
from ....core import files
from ....core.changes import Words
from ....formats import OTHER_DATA
from ...plan import FilePlan, Together, keep_exported, remember_saved
from ..game_tree import GameTree
from . import visual_vertices
from .file import Plan
from .visual_vertices import FAST_GEOMETRY, RESHAPED
from .visuals import GEOMETRY

if TYPE_CHECKING:
    from ....blender.typed import Object


@dataclass(frozen=True)
class LevelPlan(Plan):
    """Also has the files ``beside`` `level`; None if `level.geom` could not be compared."""

    beside: visual_vertices.FilesBeside | None = None


class LevelFilePlan(Together):
    """Writes the changed files beside `level`, then `level`."""

    def __init__(self, path: str, planned: LevelPlan) -> None:
        """Plan writing `level` to ``path``, and the other files to their paths."""
        beside = {} if planned.beside is None else planned.beside.files
        self._reshaped = None if planned.beside is None else planned.beside.reshaped
        each = {**{str(path): data for path, data in beside.items()}, path: planned.data}
        plans = [FilePlan(path, data, planned.changes) for path, data in each.items()]
        super().__init__(path, plans, planned.data, planned.changes)

    @property
    def is_as_imported(self) -> bool:
        """Whether only `level` is written, as it was imported or last saved."""
        return len(self.plans) == 1 and super().is_as_imported

    def sentence(self, words: Words | None = None) -> str:
        """Return the changes of `level`; those of the other files are among them."""
        return FilePlan.sentence(self, words)

    def compare_with_disk(self) -> None:
        """Let the changes of `level` be those to the file on disk; those of vertices compare with the files there."""
        for plan in self.plans:
            plan.is_compared = True
        before = self.changes
        FilePlan.compare_with_disk(self)
        if self.changes is before:
            return
        names: dict[str, list[str]] = {}
        for part in before.parts:
            if part.new:
                names.setdefault(part.noun, []).append(part.name)
        parts = [
            replace(part, name=names[part.noun].pop()) if part.new and names.get(part.noun) else part
            for part in reversed(self.changes.parts)  # objects that are new on disk have the last names
        ]
        vertices = [part for part in before.parts if part.noun == "mesh"]
        lines = [line for line in self.changes.lines if line != OTHER_DATA or not vertices]  # boxes follow the vertices
        self.changes = replace(self.changes, lines=lines, parts=[*reversed(parts), *vertices])

    def settle(self, holder: Object) -> None:
        """Store which files beside `level` were written: they are the base from now on."""
        if self._reshaped is not None:
            keep(holder.motionbridge_level, "reshaped", self._reshaped.astype("<i4").tobytes())
        for plan in self.plans:
            if Path(plan.path).name.lower() == GEOMETRY:
                holder.motionbridge_level.geometry = plan.digest
                remember_saved(holder, plan.path, plan.digest, GEOMETRY)
                if self._reshaped is not None:
                    remember_saved(holder, plan.path, " ".join(map(str, self._reshaped.tolist())), RESHAPED)

    def settle_exported(self, holder: Any) -> None:
        """Do the same after an export, if it replaced the imported files."""
        source = Path(bpy.path.abspath(holder.motionbridge_level.path))
        if files.resolved(Path(self.path).parent) == files.resolved(source.parent) and holder.library is None:
            self.settle(holder)
        keep_exported(self.path, self.data, holder.motionbridge_level)


def export_plan(holder: Object, path: Path, planned: LevelPlan) -> LevelFilePlan:
    """Return a plan for ``path``, with `level.geom` and `level.geomx` beside it if edited since the import."""
    properties = holder.motionbridge_level
    source = Path(bpy.path.abspath(properties.path)).parent
    elsewhere = files.resolved(path.parent) != files.resolved(source)
    if planned.beside is None:
        return LevelFilePlan(str(path), planned)
    # Edits that were saved back are only in the files beside the imported one.
    saved = elsewhere and not planned.beside.is_imported
    written = {}
    for name in (GEOMETRY, FAST_GEOMETRY):
        file_path = GameTree(source).find_file(name)
        data = None if file_path is None else planned.beside.files.get(file_path)
        if data is None and saved and file_path is not None:
            data = files.read_file(file_path)
        if data is not None:
            written[GameTree(path.parent).find_file(name) or path.parent / name] = data
    return LevelFilePlan(str(path), replace(planned, beside=replace(planned.beside, files=written)))
