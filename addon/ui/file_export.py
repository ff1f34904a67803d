"""What the operators of File > Export share: the browser begins at the file that was read, a backup is offered."""

from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, StringProperty

from ..core import files
from ..core.errors import WriteError
from .bases import ExportHelper
from .operation import Operation
from .preferences import preferences
from .target import rigs_of
from .wording import shown


def draw_backup(layout: Any, operator: Any, path: str) -> None:
    """The operator's option to keep a backup, and below it that an existing one of the file at ``path`` stays."""
    layout.prop(operator, "backup")
    backup = files.backup_of(bpy.path.abspath(path)) if path else None
    if operator.backup and backup is not None and backup.exists():
        layout.label(text=shown("{} already exists and is kept").format(backup.name), icon="INFO", translate=False)


def is_collection_exporter(operator: Any) -> bool:
    """Whether a collection of this file exports by an operator.

    Blender skips an exporter whose poll refuses without a word. So such an operator has to run, and to say itself that
    there is nothing to export.
    """
    scenes: Any = bpy.data.scenes
    collections: Any = bpy.data.collections
    return any(
        exporter.export_properties.bl_rna.identifier == operator.__name__
        for holder in (*collections, *(scene.collection for scene in scenes))
        for exporter in holder.exporters
    )


class FileExport(Operation):
    """Mixed into operators that write a file, before `ExportHelper`. They write `run`, and `suggest` a file."""

    bl_options = {"PRESET"}

    backup: BoolProperty(
        name="Keep a Backup",
        description="Keep the old file with .bak added to its name; an existing backup is kept",
        default=True,
    )

    def suggest(self, context: Any) -> None:
        """Set ``filepath``, and options that follow from what is active, before the browser opens."""

    def invoke(self, context: Any, event: Any) -> Any:
        """The file browser, at the file it came from."""
        operator: Any = self
        self.called_by_person(from_browser=True)
        self.suggest(context)
        operator.backup = preferences(context).backup
        return ExportHelper.invoke(operator, context, event)

    def named_file(self, suffixes: str) -> str:
        """Absolute path of the file to write, which may have one of ``suffixes``. Raises `WriteError`.

        A name without any gets the suffix where there is but one.
        """
        operator: Any = self
        if not operator.filepath:
            raise WriteError("no file is named", remedy=f"Name the file to write ({suffixes})")
        path = Path(bpy.path.abspath(operator.filepath))
        keeps = path.suffix or "," in suffixes or not path.name or path.is_dir()  # which is refused later
        return str(path if keeps else path.with_suffix(suffixes))


class ArmatureExport(FileExport):
    """What an armature plays, or what its bones are."""

    collection: StringProperty(
        name="Source Collection", description="Export the armature of this collection", options={"HIDDEN"}
    )

    @classmethod
    def poll(cls, context: Any) -> bool:
        """There is an armature."""
        operator: Any = cls
        operator.poll_message_set("No armature in the scene")
        return bool(rigs_of(context)) or is_collection_exporter(operator)
