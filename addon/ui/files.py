"""Base classes of operators that import or export files: dialogs, drag and drop, collections, backups."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import bpy
from bpy.props import BoolProperty, StringProperty

from ..blender import armature, modifiers, scope, views
from ..blender.compat import PATH_OPTIONS
from ..blender.control_links import is_control_rig
from ..blender.typed import Context, Object
from ..core import files
from ..core.errors import MotionbridgeError, ReadError, WriteError
from ..core.report import Report, listed, say
from ..games import plan as plans
from ..games.kinds import FileKind
from . import playing
from .bases import ExportHelper, MixedIn, iface_, rpt_, tell
from .layouts import fields, paragraph
from .operation import FileChoice, Need, Operation, Outcome, open_editors, stores_nothing
from .preferences import preferences
from .target import objects_of, rig_to_export, rigs_of

if TYPE_CHECKING:
    from ..blender.imported_bones import BonesInArmature
    from ..games.plan import FilePlan

Made = TypeVar("Made")
BROWSER_LINE_LENGTH = 30
NAMES_SHOWN = 6


_last_folders: dict[str, str] = {}
"""Game, as operator ids name it -> the folder of its last imported or exported file since Blender was started."""


class ProjectFolder(MixedIn):
    """Mixin for operators with file browsers, listed before `Operation`: these open where the user's files are.

    Blender forgets the folder each time that a file browser is closed.
    """

    def project_folder(self, _context: Context) -> str:
        """Return the folder of what is in the scene, "" if there is none: used before the first file of a session."""
        return ""

    def start_folder(self, context: Context) -> str:
        """Return the folder of the game's last file, else of the scene's files; "" to leave the choice to Blender."""
        folders = _last_folders.get(self._game(), ""), self.project_folder(context)
        return next((f"{Path(folder)}{os.sep}" for folder in folders if folder and Path(folder).is_dir()), "")

    def remember_folder(self, path: str) -> None:
        """Let later file browsers of the same game open in the folder of a file."""
        if path:
            _last_folders[self._game()] = str(Path(bpy.path.abspath(path)).parent)

    def _game(self) -> str:
        return str(self.bl_idname).replace("_OT_", ".").partition(".")[2].partition("_")[0]


class FirstView(MixedIn):
    """Mixin for operators that create models, listed before `Operation`: if the user called one, 3D views show them."""

    if TYPE_CHECKING:  # as in `LongWork`
        texture_shading: bool = False
        """Whether solid views of the window show textures afterwards."""
        _existing: frozenset[int] | None = None
        """``session_uid`` of the objects that are not new; None in scripts, where views stay as they are."""
    else:
        texture_shading = False
        _existing = None

    def execute(self, context: Context) -> Any:
        called = self.invoked and not bpy.app.background
        self._existing = frozenset(obj.session_uid for obj in bpy.data.objects) if called else None
        return super().execute(context)

    def _report_result(self, report: Report, context: Context, result: Callable[[], Outcome | None]) -> Any:
        answer = super()._report_result(report, context, result)
        if self._existing is not None and answer == {"FINISHED"}:
            objects = [obj for obj in scope.objects_of(context.view_layer) if obj.session_uid not in self._existing]
            views.frame(context, objects)
            if self.texture_shading:
                views.show_colours(context, "TEXTURE")
            playing.follow_active(context)
        return answer


class FileImport(FirstView, ProjectFolder, Operation, FileChoice):
    """Mixin for operators that read files, listed before `ImportHelper`. Subclasses override `run` and `draw`."""

    bl_options = {"REGISTER", "UNDO", "PRESET"}
    edited = stores_nothing  # an import creates new objects, unless it imports onto one

    at_once: BoolProperty(
        name="At Once", description="Import the files without a dialog", options={"SKIP_SAVE", "SKIP_PRESET", "HIDDEN"}
    )

    def invoke(self, context: Context, _event: bpy.types.Event) -> Any:
        """Open a dialog with the options for dropped files, else the file browser."""
        self.invoked_by_user(from_browser=not (self.at_once or self.properties.is_property_set("filepath")))
        return self.execute(context) if self.at_once else self.invoke_popup(context)

    def invoke_popup(self, context: Context) -> Any:
        """Replaces Blender's function, whose dialog has the whole path as its title."""
        if not self.properties.is_property_set("filepath"):
            self.directory = self.start_folder(context)
            context.window_manager.fileselect_add(self)
            return {"RUNNING_MODAL"}
        button = iface_(self.bl_label)
        return context.window_manager.invoke_props_dialog(self, title=self.files_title(), confirm_text=button)

    def _report_result(self, report: Report, context: Context, result: Callable[[], Outcome | None]) -> Any:
        answer = super()._report_result(report, context, result)
        if answer == {"FINISHED"} and not self.at_once:
            self.remember_folder(next(iter(self.paths()), ""))
        return answer

    def chosen_files(self, remedy: str) -> list[str]:
        """Return absolute paths, at least one. Raises `ReadError` with ``remedy`` if there is none."""
        paths = self.paths()
        if not paths:
            raise ReadError("no file is chosen", remedy=remedy)
        return paths

    def import_each(
        self, context: Context, files: list[str], work: Callable[[str, Report], Made], report: Report
    ) -> list[Made]:
        """Return what ``work`` returned for each file, without those that failed.

        Raises the first error if all failed.
        """
        result: list[Made] = []
        with scope.progress(context, len(files)) as step:

            def import_one(file: str, report: Report) -> None:
                result.append(work(file, report))
                step(len(result))

            self.each_file(files, import_one, report)
        return result


class ModelFileImport(FileImport):
    """Mixin for operators that read models, each into a collection of its own if the user likes."""

    new_collection: BoolProperty(
        name="New Collection", description="Import each model into its own collection", default=False
    )

    def own_collection(self, path: str | Path) -> str:
        """Return the name of the collection for a model's file, "" for none."""
        return Path(path).stem if self.new_collection else ""


def absolute(path: str) -> str:
    """Return the absolute path of a file to write.

    ``//`` is the folder of the .blend file. Until that is saved, Blender replaces it by the folder it was started in:
    this raises `WriteError`.
    """
    if path.startswith("//") and not bpy.data.filepath:
        raise WriteError(
            "the path starts at the folder of the .blend file, which is not saved yet",
            file=path,
            remedy="Save the .blend file first, or choose a full path",
        )
    return bpy.path.abspath(path)


class NamedFile:
    """Mixin, listed before `ExportHelper`: a file path that may begin with ``//`` without a warning of Blender 5.2."""

    filepath: StringProperty(
        name="File Path",
        description="Filepath used for exporting the file",
        maxlen=1024,
        subtype="FILE_PATH",
        options=PATH_OPTIONS,
    )


class BackupChoice:
    """Mixin for operators that write files: whether to keep a backup."""

    backup: BoolProperty(
        name="Keep a Backup",
        description="Keep the old file with .bak added to its name; an existing backup is kept",
        default=True,
    )


def keep_and_show(context: Context, images: Sequence[Any], fake_user: bool = True) -> str:
    """Set ``fake_user`` on images and show the first one in the open image editors; returns the report's sentence."""
    for image in images:
        image.use_fake_user = fake_user
    for area in open_editors(context, "IMAGE_EDITOR"):
        area.spaces.active.image = images[0]
    return rpt_("Images: {}, first: {}").format(len(images), images[0].name)


def draw_backup(layout: bpy.types.UILayout, operator: Any, path: str) -> None:
    """Draw the backup option, and a note if the file at ``path`` has a backup, which is kept."""
    layout.prop(operator, "backup")
    backup = files.backup_of(bpy.path.abspath(path)) if path else None
    if operator.backup and backup is not None and files.is_file(backup):
        layout.label(text="The existing backup is kept", icon="INFO")


def warning_lines(report: Report) -> list[str]:
    """Return a line for each warning, in the language of the interface."""
    return [tell(line) for line in report.warning_lines()]


def draw_check_first(layout: bpy.types.UILayout, lines: Sequence[str]) -> None:
    """Draw what an export warns of, for the narrow column beside the file browser."""
    if lines:
        column = layout.column(align=True)
        column.label(text="Check first:", icon="ERROR")
        for line in lines:
            paragraph(column, line, BROWSER_LINE_LENGTH, "DOT")


def doubts_of(bones: "Mapping[str, BonesInArmature]") -> list[str]:
    """Return a line for each file of motions, by path, of whose bones the armature has less than half."""
    few = {Path(path).name: counts for path, counts in bones.items() if counts.are_few}
    lines = {name: tell(counts.sentence()) for name, counts in few.items()}
    return list(lines.values()) if len(bones) == 1 else [f"{name}: {line}" for name, line in lines.items()]


def draw_doubts(layout: Any, doubts: Sequence[str]) -> None:
    """Draw the lines of `doubts_of`, in red, before an import."""
    if doubts:
        column = layout.column(align=True)
        column.alert = True
        for number, line in enumerate(doubts[:NAMES_SHOWN]):
            column.label(text=line, icon="BLANK1" if number else "ERROR", translate=False)
        if len(doubts) > NAMES_SHOWN:
            text = iface_("and {} more").format(len(doubts) - NAMES_SHOWN)
            column.label(text=text, icon="BLANK1", translate=False)


def draw_changes_on_disk(layout: bpy.types.UILayout, plan: "FilePlan | None", path: str) -> None:
    """Draw what an export would change in the file at ``path``, if there is one that can be compared."""
    target = bpy.path.abspath(path)
    if plan is None or not files.is_file(Path(target)):
        return
    vertices = tuple(part for part in plan.changes.parts if part.noun.name == "MESH" and target.endswith("level"))
    stamp = Path(target).stat().st_mtime_ns, bpy.app.translations.locale
    if sentence := _changes_on_disk(target, stamp, plan.data, vertices):
        column = layout.column(align=True)
        column.label(text="Changes in the file on disk:", icon="GREASEPENCIL")
        paragraph(column, sentence, BROWSER_LINE_LENGTH, "DOT")


@lru_cache(maxsize=2)
def _changes_on_disk(path: str, _stamp: Any, data: bytes, vertices: tuple[Any, ...]) -> str:
    """Return the sentence about ``data`` replacing the file; ``vertices``: changes in other files, compared already."""
    changes = plans.changes_on_disk(path, data)
    if changes is None:
        return ""
    changes.add_parts(vertices)
    return tell(changes.sentence())


def is_collection_exporter(operator: Any) -> bool:
    """Return whether a collection of this .blend file has this operator as its exporter.

    Blender silently skips an exporter whose `poll` returns False. So such an operator must run, and report itself that
    there is nothing to export.
    """
    scenes: Any = bpy.data.scenes
    collections: Any = bpy.data.collections
    return any(
        exporter.export_properties.bl_rna.identifier == operator.__name__
        for holder in (*collections, *(scene.collection for scene in scenes))
        for exporter in holder.exporters
    )


class FileExport(ProjectFolder, Operation, NamedFile, BackupChoice):
    """Mixin for operators that write a file, listed before `ExportHelper`. Subclasses override `run` and `suggest`."""

    bl_options = {"PRESET"}
    types: tuple[str, ...] = ()
    """Types of the objects that the export writes; empty if it writes none."""
    checked: tuple[str, ...] = ()
    """Options on which `preview` depends, besides ``modifiers``."""
    is_costly = False
    """Whether `preview` takes long: then it is called when an option has changed, and never while Blender draws."""
    if TYPE_CHECKING:  # as in `LongWork`
        _previews: dict[Any, tuple[list[str], "FilePlan | None"]] | None = None
        """Options -> the lines of `draw_last`, and the plan, so that they are not collected at each redraw."""
    else:
        _previews = None

    @classmethod
    def poll(cls, context: Context) -> bool:
        return super().poll(context) or is_collection_exporter(cls)

    def suggest(self, context: Context) -> None:
        """Set ``filepath``, and options that depend on the active object, before the file browser opens."""

    def written(self, _context: Context) -> Collection[Any]:
        """Return the objects that the export writes. Raises `MotionbridgeError`. Overridden where there are `types`."""
        return ()

    def can_write(self, _obj: Object) -> bool:
        """Return whether an object of `types` is of those that the export could write."""
        return True

    def warn_of_left_out(self, context: Context, report: Report) -> None:
        """Warn of selected objects, or objects of the collection, that the export could write but does not."""
        if not self.types:
            return
        collection = getattr(self, "collection", "")
        try:
            written = set(self.written(context))
            # Long work runs in a thread of its own, where the context has no `selected_objects`.
            chosen = objects_of(collection) if collection else context.view_layer.objects.selected
        except MotionbridgeError:  # the export reports it
            return
        others = [obj for obj in chosen if obj.type in self.types and obj not in written and self.can_write(obj)]
        left_out = [repr(obj.name) for obj in others if not (armature.is_shape(obj) or is_control_rig(obj))]
        if not left_out:
            return
        words = "other chosen objects are not written; export each to a file of its own"
        if "MESH" in self.types:
            words = (
                "chosen meshes are not part of the file and are not written; make them part of it (parent or kind), or "
                "export each on its own"
            )
        report.warn(say("{}: {}", say(words), listed(left_out, NAMES_SHOWN)))

    def _warn_of_modifiers(self, context: Context, report: Report) -> None:
        with suppress(MotionbridgeError):  # the export reports it
            for obj in dict.fromkeys(self.written(context)):
                if obj.type == "MESH":
                    modifiers.warn(obj, report)

    def _checked(self, context: Context, work: Any, report: Report) -> Outcome | None:
        self.warn_of_left_out(context, report)
        return super()._checked(context, work, report)

    def preview(self, context: Context, report: Report) -> "FilePlan | None":
        """Warn of more before the file is written; may return the plan. Raises `MotionbridgeError` for what the export
        will refuse.
        """

    def preview_key(self) -> tuple[Any, ...]:
        """Return the values on which the preview depends."""
        return getattr(self, "modifiers", True), *(getattr(self, name) for name in self.checked)

    def previewed(self, context: Context) -> "tuple[list[str], FilePlan | None]":
        """Return what is left out, modifiers that are not applied, what `preview` finds, and its plan."""
        self._previews = {} if self._previews is None else self._previews
        key = self.preview_key()
        if key not in self._previews:
            report, refused, plan = Report(), [], None
            self.warn_of_left_out(context, report)
            if not (self.is_costly or getattr(self, "modifiers", True)):
                self._warn_of_modifiers(context, report)
            try:
                plan = self.preview(context, report)
            except MotionbridgeError as refusal:
                refused = [tell(refusal.sentence())]
            self._previews[key] = [*refused, *map(tell, report.lines())], plan
        return self._previews[key]

    def check(self, context: Context) -> bool:
        """Called by Blender when an option or the name changes."""
        if self.is_costly:
            self.previewed(context)
        return bool(ExportHelper.check(self, context))

    def draw_last(self, context: Context) -> None:
        """Draw the backup option, what the export changes in the file on disk if that is known, and the preview."""
        draw_backup(fields(self.layout), self, self.filepath)
        known = (self._previews or {}).get(self.preview_key())
        lines, plan = known or (([], None) if self.is_costly else self.previewed(context))
        draw_changes_on_disk(self.layout, plan, self.filepath)
        draw_check_first(self.layout, lines)

    def invoke(self, context: Context, event: bpy.types.Event) -> Any:
        """Open the file browser at the suggested file."""
        self.invoked_by_user(from_browser=True)
        self.suggest(context)
        if self.filepath and not self.filepath.startswith("//"):
            self.filepath = str(Path(self.start_folder(context), self.filepath))  # a full path stays
        if self.is_costly:
            self.previewed(context)
        self.backup = preferences(context).backup
        return ExportHelper.invoke(self, context, event)

    def _report_result(self, report: Report, context: Context, result: Callable[[], Outcome | None]) -> Any:
        answer = super()._report_result(report, context, result)
        if answer == {"FINISHED"}:
            self.remember_folder(self.filepath)
        return answer

    def named_file(self, kind: FileKind) -> str:
        """Return the absolute path of the file to write. Raises `WriteError` if no file is named.

        A name without suffix gets the suffix of the kind of file, if it has only one.
        """
        suffixes = kind.exported_suffixes
        if not self.filepath:
            raise WriteError("no file is named", remedy=say("Name the file to write ({})", ", ".join(suffixes)))
        path = Path(absolute(self.filepath))
        keeps = (
            path.suffix or len(suffixes) > 1 or not path.name or path.is_dir()
        )  # a folder or no name is refused later
        return str(path if keeps else path.with_suffix(suffixes[0]))


def source_collection(description: str) -> Any:
    """Return the property with which a collection's exporter names the collection."""
    return StringProperty(name="Source Collection", description=description, options={"HIDDEN"})


class ArmatureExport(FileExport):
    """Mixin for exports of an armature: its motions, or the properties of its bones."""

    needs = (Need("No armature in the scene", rigs_of),)

    collection: source_collection("Export the armature of this collection")
    types = ("ARMATURE",)

    def written(self, context: Context) -> Collection[Any]:
        return (rig_to_export(context, self.collection),)
