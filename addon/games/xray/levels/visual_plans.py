"""Plans for the file `level`, with the files beside it that are written together with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import bpy

from ....blender.properties import keep
from ....core import files
from ....core.changes import Changes, Noun
from ....core.report import Message
from ....formats.trees import folder_tree
from ...plan import FilePlan, StoredFile, Together, remember_saved
from .visual_vertices import FAST_GEOMETRY, RESHAPED, FilesBeside
from .visuals import GEOMETRY, find_geometry

if TYPE_CHECKING:
    from ....blender.typed import Object


class LevelPlan(Together):
    """Writes the changed files beside `level`, then `level`."""

    def __init__(
        self, holder: Object, path: Path | str, data: bytes, changes: Changes, beside: FilesBeside | None
    ) -> None:
        """Plan writing `level` to ``path``, with `level.geom` and `level.geomx` beside it if edited since the import.

        ``beside``: None if `level.geom` could not be compared.
        """
        each = {} if beside is None else _written_beside(holder, Path(path), beside)
        self._reshaped = None if beside is None else beside.reshaped
        each[Path(path)] = data
        super().__init__(str(path), [FilePlan(str(file), each[file], changes) for file in each], data, changes)

    @property
    def is_as_imported(self) -> bool:
        """Whether only `level` is written, as it was imported or last saved."""
        return len(self.plans) == 1 and super().is_as_imported

    def sentence(self) -> Message:
        """Return the changes of `level`; those of the other files are among them."""
        return FilePlan.sentence(self)

    def compare_with_disk(self) -> None:
        """Let the changes of `level` be those to the file on disk; those of vertices compare with the files there."""
        for plan in self.plans:
            plan.is_compared = True
        before = self.changes
        FilePlan.compare_with_disk(self)
        if self.changes is before:
            return
        names: dict[Noun, list[str]] = {}
        for part in before.parts:
            if part.new:
                names.setdefault(part.noun, []).append(part.name)
        parts = [
            replace(part, name=names[part.noun].pop()) if part.new and names.get(part.noun) else part
            for part in reversed(self.changes.parts)  # objects that are new on disk have the last names
        ]
        vertices = [part for part in before.parts if part.noun is Noun.MESH]
        self.changes = replace(self.changes, parts=list(reversed(parts)))
        self.changes.add_parts(vertices)

    def settle(self, stored: StoredFile) -> None:
        """Remember also which files beside `level` were written: they are the base from now on."""
        super().settle(stored)
        self._settle_beside(stored.id_data)

    def settle_exported(self, stored: StoredFile) -> None:
        """Do the same after an export, if it replaced the imported files."""
        source = Path(bpy.path.abspath(stored.path))
        if files.resolved(Path(self.path).parent) == files.resolved(source.parent) and stored.id_data.library is None:
            self._settle_beside(stored.id_data)
        super().settle_exported(stored)

    def _settle_beside(self, holder: Object) -> None:
        if self._reshaped is not None:
            keep(holder.motionbridge_level, "reshaped", self._reshaped.astype("<i4").tobytes())
        for plan in self.plans:
            if Path(plan.path).name.lower() == GEOMETRY:
                holder.motionbridge_level.geometry = plan.digest
                remember_saved(holder, plan.path, plan.digest, GEOMETRY)
                if self._reshaped is not None:
                    remember_saved(holder, plan.path, " ".join(map(str, self._reshaped.tolist())), RESHAPED)


def _written_beside(holder: Object, path: Path, beside: FilesBeside) -> dict[Path, bytes]:
    """Return the files to be written beside a `level` at ``path``."""
    source = Path(bpy.path.abspath(holder.motionbridge_level.path)).parent
    # Edits that were saved back are only in the files beside the imported one.
    saved = not beside.is_imported and files.resolved(path.parent) != files.resolved(source)
    written = {}
    for name in (GEOMETRY, FAST_GEOMETRY):
        file_path = find_geometry(holder, name)
        data = None if file_path is None else beside.files.get(file_path)
        if data is None and saved and file_path is not None:
            data = files.read_file(file_path)
        if data is not None:
            written[folder_tree(path.parent).find(name) or path.parent / name] = data
    return written
