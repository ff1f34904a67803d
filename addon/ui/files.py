"""What operators that import or export files share: dialogs, drops, several files, collections, backups."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import bpy
from bpy.props import BoolProperty, StringProperty

from ..blender import scope
from ..core import files
from ..core.errors import ReadError, WriteError
from ..core.report import Report
from ..games.kinds import FileKind
from .bases import ExportHelper
from .operation import FileChoice, Operation
from .preferences import preferences
from .target import rigs_of
from .translations import OPERATOR

Made = TypeVar("Made")


class FileImport(Operation, FileChoice):
    """Mixed into operators that read files, before `ImportHelper`. They write `run` and `draw`."""

    bl_options = {"REGISTER", "UNDO", "PRESET"}

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> Any:
        """A dialog with the options for dropped files, else the file browser."""
        operator: Any = self
        self.called_by_person(from_browser=not operator.properties.is_property_set("filepath"))
        return self.invoke_popup(context)

    def invoke_popup(self, context: Any) -> Any:
        """Instead of Blender's own, whose dialog has the whole path as its title."""
        operator: Any = self
        if not operator.properties.is_property_set("filepath"):
            context.window_manager.fileselect_add(self)
            return {"RUNNING_MODAL"}
        button = bpy.app.translations.pgettext_iface(operator.bl_label, OPERATOR)
        return context.window_manager.invoke_props_dialog(self, title=self.files_said(), confirm_text=button)

    def edited(self, context: bpy.types.Context) -> Iterable[Any]:
        """Nothing: new objects are made, unless an import says onto what."""
        return ()

    def chosen_files(self, remedy: str) -> list[str]:
        """Absolute paths, at least one. Raises `ReadError` with this ``remedy``."""
        paths = self.paths()
        if not paths:
            raise ReadError("no file is chosen", remedy=remedy)
        return paths

    def import_each(
        self, context: bpy.types.Context, files: list[str], work: Callable[[str, Report], Made], report: Report
    ) -> list[Made]:
        """What ``work`` made of each of the files, but for bad ones. Raises the refusal where all are bad."""
        made: list[Made] = []
        with scope.progress(context, len(files)) as step:

            def one(file: str, found: Report) -> None:
                made.append(work(file, found))
                step(len(made))

            self.each_file(files, one, report)
        return made


class BackupChoice:
    """Mixed into operators that write files."""

    backup: BoolProperty(
        name="Keep a Backup",
        description="Keep the old file with .bak added to its name; an existing backup is kept",
        default=True,
    )


def draw_backup(layout: bpy.types.UILayout, operator: Any, path: str) -> None:
    """The operator's option to keep a backup, and below it that an existing one of the file at ``path`` stays."""
    layout.prop(operator, "backup")
    backup = files.backup_of(bpy.path.abspath(path)) if path else None
    if operator.backup and backup is not None and backup.exists():
        layout.label(text="The existing backup is kept", icon="INFO")


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


class FileExport(Operation, BackupChoice):
    """Mixed into operators that write a file, before `ExportHelper`. They write `run`, and `suggest` a file."""

    bl_options = {"PRESET"}

    def suggest(self, context: bpy.types.Context) -> None:
        """Set ``filepath``, and options that follow from what is active, before the browser opens."""

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Any:
        """The file browser, at the file it came from."""
        operator: Any = self
        self.called_by_person(from_browser=True)
        self.suggest(context)
        operator.backup = preferences(context).backup
        return ExportHelper.invoke(operator, context, event)

    def named_file(self, kind: FileKind) -> str:
        """Absolute path of the file to write. Raises `WriteError`.

        A name without a suffix gets that of the kind of file, where there is but one.
        """
        operator: Any = self
        suffixes = kind.exported_suffixes
        if not operator.filepath:
            raise WriteError("no file is named", remedy=f"Name the file to write ({', '.join(suffixes)})")
        path = Path(bpy.path.abspath(operator.filepath))
        keeps = path.suffix or len(suffixes) > 1 or not path.name or path.is_dir()  # which is refused later
        return str(path if keeps else path.with_suffix(suffixes[0]))


class ArmatureExport(FileExport):
    """What an armature plays, or what its bones are."""

    collection: StringProperty(
        name="Source Collection", description="Export the armature of this collection", options={"HIDDEN"}
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """There is an armature."""
        operator: Any = cls
        operator.poll_message_set("No armature in the scene")
        return bool(rigs_of(context)) or is_collection_exporter(operator)
