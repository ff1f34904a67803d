"""Base classes of operators that import, export or save back files: dialogs, drag and drop, collections, backups.

Save Back is, for every format, a dialog that shows what will change and what will be lost, and then writes one file.
The operator of a format names the file, makes the plan, and says which options an error may ask for; everything else is
here.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from ..blender import armature, modifiers, scope
from ..blender.compat import PATH_OPTIONS
from ..blender.control_links import is_control_rig
from ..blender.properties import refuse_linked
from ..blender.typed import Context, Object
from ..core import files
from ..core.errors import MotionbridgeError, ReadError, WriteError, refused_access
from ..core.report import Report, listed
from ..formats import OTHER_DATA
from ..games import plan as plans
from ..games import renamed_bones
from ..games.kinds import FileKind
from .bases import CALL, OPERATOR, ExportHelper, iface_, rpt_
from .change_words import file_sentence, plan_sentence, tell
from .layouts import fields, paragraph
from .operation import FileChoice, Need, Operation, Outcome, call_operator, open_editors, stores_nothing, wrapped_lines
from .preferences import preferences
from .target import objects_of, rig_to_export, rigs_of

if TYPE_CHECKING:
    from ..games.plan import FilePlan

Made = TypeVar("Made")


class FileImport(Operation, FileChoice):
    """Mixin for operators that read files, listed before `ImportHelper`. Subclasses override `run` and `draw`."""

    bl_options = {"REGISTER", "UNDO", "PRESET"}
    edited = stores_nothing  # an import creates new objects, unless it imports onto one

    def invoke(self, context: Context, _event: bpy.types.Event) -> Any:
        """Open a dialog with the options for dropped files, else the file browser."""
        self.invoked_by_user(from_browser=not self.properties.is_property_set("filepath"))
        return self.invoke_popup(context)

    def invoke_popup(self, context: Context) -> Any:
        """Replaces Blender's function, whose dialog has the whole path as its title."""
        if not self.properties.is_property_set("filepath"):
            context.window_manager.fileselect_add(self)
            return {"RUNNING_MODAL"}
        button = bpy.app.translations.pgettext_iface(self.bl_label, OPERATOR)
        return context.window_manager.invoke_props_dialog(self, title=self.files_title(), confirm_text=button)

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
        made: list[Made] = []
        with scope.progress(context, len(files)) as step:

            def one(file: str, found: Report) -> None:
                made.append(work(file, found))
                step(len(made))

            self.each_file(files, one, report)
        return made


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


def draw_check_first(layout: bpy.types.UILayout, lines: Sequence[str]) -> None:
    """Draw what an export warns of, for the narrow column beside the file browser."""
    if lines:
        column = layout.column(align=True)
        column.label(text="Check first:", icon="ERROR")
        for line in lines:
            paragraph(column, line, BROWSER_LINE_LENGTH, "DOT")


class Planned(Protocol):
    """What an export is about to write."""

    @property
    def data(self) -> bytes:
        """The bytes of the file."""

    @property
    def changes(self) -> Any:
        """What differs from the imported file."""


def draw_changes_on_disk(layout: bpy.types.UILayout, plan: Planned | None, path: str) -> None:
    """Draw what an export would change in the file at ``path``, if there is one that can be compared."""
    target = bpy.path.abspath(path)
    if plan is None or not files.is_file(Path(target)):
        return
    vertices = tuple(part for part in plan.changes.parts if part.noun == "mesh" and target.endswith("level"))
    stamp = Path(target).stat().st_mtime_ns, bpy.app.translations.locale
    if sentence := _changes_on_disk(target, stamp, plan.data, vertices):
        column = layout.column(align=True)
        column.label(text="Changes in the file on disk:", icon="GREASEPENCIL")
        paragraph(column, sentence, BROWSER_LINE_LENGTH, "DOT")


@lru_cache(maxsize=2)
def _changes_on_disk(path: str, _stamp: Any, data: bytes, vertices: tuple[Any, ...]) -> str:
    """Return the sentence about ``data`` replacing the file; ``vertices``: changes in other files, compared already."""
    plan = plans.FilePlan(path, data, None)
    plan.compare_with_disk()
    if plan.changes is None:
        return ""
    if vertices:
        plan.changes.lines = [line for line in plan.changes.lines if line != OTHER_DATA]  # boxes follow the vertices
        plan.changes.parts += vertices
    return plan_sentence(plan)


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


class FileExport(Operation, NamedFile, BackupChoice):
    """Mixin for operators that write a file, listed before `ExportHelper`. Subclasses override `run` and `suggest`."""

    bl_options = {"PRESET"}
    types: tuple[str, ...] = ()
    """Types of the objects that the export writes; empty if it writes none."""
    checked: tuple[str, ...] = ()
    """Options on which `warn_before` depends."""
    if TYPE_CHECKING:  # as in `LongWork`
        _said_before: tuple[Any, list[str]] | None = None
        """Options -> the lines of `draw_last`, so that they are not collected at each redraw."""
    else:
        _said_before = None

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
        report.warn(f"{words}: {listed(left_out, NAMES_SHOWN)}")

    def _warn_of_modifiers(self, context: Context, report: Report) -> None:
        with suppress(MotionbridgeError):  # the export reports it
            for obj in dict.fromkeys(self.written(context)):
                if obj.type == "MESH":
                    modifiers.warn(obj, report)

    def _checked(self, context: Context, work: Any, report: Report) -> Outcome | None:
        self.warn_of_left_out(context, report)
        return super()._checked(context, work, report)

    def draw_last(self, context: Context) -> None:
        """Draw the backup option, what is left out, modifiers that are not applied, and what `warn_before` finds."""
        draw_backup(fields(self.layout), self, self.filepath)
        applied = getattr(self, "modifiers", True)
        key = self.filepath, applied, *(getattr(self, name) for name in self.checked)
        if self._said_before is None or self._said_before[0] != key:
            report = Report()
            self.warn_of_left_out(context, report)
            if not applied:
                self._warn_of_modifiers(context, report)
            try:
                self.warn_before(context, report)
                refused = []
            except MotionbridgeError as refusal:
                refused = [tell(refusal.sentence())]
            self._said_before = key, [*refused, *map(tell, report.lines())]
        draw_check_first(self.layout, self._said_before[1])

    def warn_before(self, context: Context, report: Report) -> None:
        """Warn of more before the file is written. Raises `MotionbridgeError` for what the export will refuse."""

    def invoke(self, context: Context, event: bpy.types.Event) -> Any:
        """Open the file browser at the suggested file."""
        self.invoked_by_user(from_browser=True)
        self.suggest(context)
        self.backup = preferences(context).backup
        return ExportHelper.invoke(self, context, event)

    def named_file(self, kind: FileKind) -> str:
        """Return the absolute path of the file to write. Raises `WriteError` if no file is named.

        A name without suffix gets the suffix of the kind of file, if it has only one.
        """
        suffixes = kind.exported_suffixes
        if not self.filepath:
            raise WriteError("no file is named", remedy=f"Name the file to write ({', '.join(suffixes)})")
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


# Save Back ------------------------------------------------------------------------------------------------------------

BASES = (
    ("REFUSE", "Stop", "Cancel the export and ask for a choice"),
    (
        "DISK",
        "File on Disk",
        "Write your edits into the file on disk and load its other changes into Blender",
    ),
    ("IMPORTED", "File as Imported", "Overwrite the changes made to the file since import"),
)
IMPORTED_BASES = (BASES[0], BASES[2])
"""For formats that always start from the imported file."""
UNDECIDED = {"REFUSE", "STOP", False}
NAMES_SHOWN = WARNINGS_SHOWN = 6
PREVIEWS_KEPT = 4
_VALUES = (str, bool, int, float)
LINE_LENGTH, BROWSER_LINE_LENGTH = 70, 30
_ready: dict[str, Any] = {}
"""Name of an operator -> the previews that one operator hands over to the one with the dialog."""


_said: dict[tuple[str, str], dict[str, list[str]]] = {}
"""Operator and path -> the warnings of the last save, until Blender is closed."""


def base_file(*items: tuple[str, str, str]) -> Any:
    """Return the property that chooses which file a save starts from."""
    return EnumProperty(
        name="Base File",
        description="The file on disk has changed since import",
        items=items,
        default="REFUSE",
        options={"SKIP_SAVE"},
    )


class Preview:
    """What the dialog shows for one choice of options: a plan, or the error that prevents it.

    ``matters``: option that an error may ask for -> whether to show it. ``is_saved``: saving would change nothing.
    """

    def __init__(self) -> None:
        self.plan: FilePlan | None = None
        self.report = Report()
        self.refusal: MotionbridgeError | None = None
        self.matters: dict[str, bool] = {}
        self.is_saved = False

    def can_save(self) -> bool:
        """Whether there are changes, and no error, or one that an option of the dialog can solve."""
        return bool(self.refusal.option) if self.refusal is not None else not self.is_saved


class SaveBack(Operation, BackupChoice):
    """Mixin for operators that write a file back, listed before `bpy.types.Operator`."""

    if TYPE_CHECKING:  # as in `LongWork`
        _previews: dict[Any, Preview] | None = None
        _shown: Preview | None = None
        _samples: dict[Any, Any] | None = None
        """Poses sampled while the dialog is open; the scene does not change meanwhile."""
        _asked: tuple[str, ...] = ()
    else:
        _previews = _shown = _samples = None
        _asked = ()

    def path(self, context: Context) -> str:
        """Return the path as it is stored, which may be relative. Overridden by every operator."""
        raise NotImplementedError

    def paths(self, context: Context) -> Iterable[str]:
        """Return the paths of the files that a plan depends on; a plan is made again when one of them changes."""
        return [self.path(context)]

    def base(self) -> "plans.OtherBase":
        """Return the file to start from if the file on disk has changed since import."""
        return plans.OtherBase[self.if_changed]

    def planned(self, context: Context, report: Report) -> "FilePlan":
        """Return the plan for the current options. Raises `MotionbridgeError`. Overridden by every operator."""
        raise NotImplementedError

    def compared(self, context: Context, report: Report) -> "FilePlan":
        """Return the plan, whose changes are those to the file on disk. Raises `MotionbridgeError`.

        If nothing is to be saved, ``report`` lacks the warnings of the last save: they are of the file as it is.
        """
        plan = self.planned(context, report)
        plan.compare_with_disk()
        if plan.is_saved():
            for finding, places in _said.get(self._saved_as(plan), {}).items():
                if report.warnings.get(finding) == places:
                    del report.warnings[finding]
        return plan

    def _saved_as(self, plan: "FilePlan") -> tuple[str, str]:
        return type(self).bl_idname, plan.path

    def put(self, context: Context, plan: "FilePlan", *, backup: bool) -> None:
        """Write a plan, which another instance of the operator may have made, and remember it."""
        plan.write(backup=backup)
        self.settle(context, plan)

    def settle(self, context: Context, plan: "FilePlan") -> None:
        """Store that a plan was written."""

    def questions(self, _context: Context) -> dict[str, bool]:
        """Return the options that an error may ask for -> whether to show them now."""
        return {"if_changed": False}

    def draw_options(self, context: Context, layout: bpy.types.UILayout) -> None:
        """Draw the options of one format."""

    def title(self) -> str:
        """Return the title of the dialog."""
        return iface_(self.bl_label)

    def details(self, _plan: "FilePlan") -> list[str]:
        """Return one line per part of the file that will change; empty if the sentence is enough."""
        return []

    def sentence(self, plan: "FilePlan") -> str:
        """Return what was written, as one sentence."""
        return file_sentence(plan.path, plan)

    def notes(self, _plan: "FilePlan") -> list[str]:
        """Return notes about a plan, shown below its changes."""
        return []

    def left_out(self, _plan: "FilePlan") -> list[str]:
        """Return notes about what saving leaves out, which are shown also if nothing else is to be saved."""
        return []

    def suggest(self, context: Context) -> None:
        """Set options that depend on the scene before the dialog opens."""

    def invoke(self, context: Context, _event: bpy.types.Event) -> Any:
        self.backup = preferences(context).backup
        if bpy.app.background:
            return self.execute(context)
        self.suggest(context)
        self._previews, self._samples, self._asked = {}, {}, ()
        if not self._take_over(context):
            return self.run_in_steps(context, lambda: self.check(context), self._planned)
        return self._ask(context)

    def _ask(self, context: Context) -> Any:
        return context.window_manager.invoke_props_dialog(
            self, width=480, title=self.title(), confirm_text=iface_("Save")
        )

    def _planned(self, context: Context, result: Callable[[], Any]) -> Any:
        """Open the dialog when the plan is ready, or report that planning was stopped."""

        def planned() -> None:
            result()

        if self._report_result(Report(), context, planned) == {"CANCELLED"}:
            return {"CANCELLED"}
        if self._timer is None:
            return self._ask(context)
        # This operator is modal and ends now: another call of it opens the dialog, with the same previews.
        group, name = type(self).bl_idname.split(".")
        _ready[name] = self._previews, self._samples, self._asked
        try:
            call_operator(self, getattr(getattr(CALL, group), name), **self.as_keywords(ignore=("backup",)))
        finally:
            _ready.clear()
        return {"CANCELLED"}

    def _take_over(self, context: Context) -> bool:
        """Take over the previews that another instance has planned in steps; returns whether there are any."""
        name = type(self).bl_idname.partition(".")[2]
        if name not in _ready:
            return False
        self._previews, self._samples, self._asked = _ready.pop(name)
        return self.check(context)

    def check(self, context: Context) -> bool:
        """Called by Blender whenever an option changes: preview the current options, each combination once."""
        self._previews = {} if self._previews is None else self._previews
        key = self._key(context)
        if key not in self._previews:
            if len(self._previews) >= PREVIEWS_KEPT:
                self._previews.pop(next(iter(self._previews)))
            self._previews[key] = self._preview(context)
        self._shown = self._previews[key]
        return True

    def _preview(self, context: Context) -> Preview:
        found = Preview()
        try:
            refuse_linked(self.edited(context))
            renamed_bones.refuse_renamed_in_edit_mode()
            renamed_bones.follow_renames(found.report)
            with refused_access():
                found.matters = self.questions(context)
                found.plan = self.compared(context, found.report)
                found.is_saved = found.plan.is_saved()
                if not found.is_saved:
                    found.plan.refuse_unwritable()
        except MotionbridgeError as refusal:
            found.refusal = refusal
            self._asked = (*self._asked, refusal.option)
        return found

    def _key(self, context: Context) -> Any:
        """Return what a plan depends on: the file on disk and the options."""
        names = {name for kind in type(self).__mro__ for name in getattr(kind, "__annotations__", ())} - {"backup"}
        options = {name: getattr(self, name, None) for name in names if not name.startswith("_")}
        chosen = tuple(sorted((name, value) for name, value in options.items() if isinstance(value, _VALUES)))
        return tuple(plans.digest_on_disk(bpy.path.abspath(path)) for path in self.paths(context)), chosen

    def draw(self, context: Context) -> None:
        """Draw the file, its changes, the warnings, the choices to make, the options."""
        layout, path, preview = self.layout, self.path(context), self._shown or Preview()
        column = layout.column(align=True)
        column.label(text=path, icon="FILE", translate=False)
        if preview.refusal is not None:
            refused = tell(preview.refusal.sentence(with_folder=False))  # the first line has the folder
            for number, line in enumerate(wrapped_lines(refused, LINE_LENGTH)):
                column.label(text=line, icon="BLANK1" if number else "ERROR", translate=False)
        elif preview.plan is not None:
            self._draw_plan(column, preview.plan, is_saved=preview.is_saved)
        draw_warnings(column, preview.report)
        options = fields(layout.column())
        for name in dict.fromkeys([*preview.matters, *filter(None, self._asked)]):
            if preview.matters.get(name) or name in self._asked:
                row = options.column()
                row.alert = getattr(self, name) in UNDECIDED
                row.prop(self, name)
        self.draw_options(context, options)
        if not preview.can_save():  # a Close button instead of Save and Cancel
            layout.template_popup_confirm("", cancel_text=iface_("Close"))
        else:
            draw_backup(options, self, path)

    def _draw_plan(self, column: bpy.types.UILayout, plan: "FilePlan", *, is_saved: bool) -> None:
        if is_saved:
            column.label(text="No changes to save", icon="INFO")
        else:
            self._draw_changes(column, plan)
        for note in self.left_out(plan):
            column.label(text=note, icon="INFO", translate=False)

    def _draw_changes(self, column: bpy.types.UILayout, plan: "FilePlan") -> None:
        sentence = plan_sentence(plan)
        if plan.is_as_imported:
            sentence = iface_("the file is written as it was imported or last saved")
        for number, line in enumerate(wrapped_lines(sentence, LINE_LENGTH)):
            column.label(text=line, icon="BLANK1" if number else "GREASEPENCIL", translate=False)
        details = self.details(plan)
        for detail in details[:NAMES_SHOWN]:
            for number, line in enumerate(wrapped_lines(detail, LINE_LENGTH)):
                column.label(text=line, icon="BLANK1" if number else "DOT", translate=False)
        if len(details) > NAMES_SHOWN:
            column.label(text=iface_("and {} more").format(len(details) - NAMES_SHOWN), icon="BLANK1", translate=False)
        for note in self.notes(plan):
            column.label(text=note, icon="INFO", translate=False)

    def run(self, context: Context, report: Report) -> Outcome:
        """Write the plan that the dialog showed, or make one now if there was no dialog."""
        found = (self._previews or {}).get(self._key(context))
        if found is not None and found.refusal is not None:
            raise found.refusal
        if found is not None:
            report.include(found.report)
        plan = found.plan if found is not None and found.plan is not None else self.compared(context, report)
        self._previews = self._samples = self._shown = None
        name = Path(plan.path).name
        if plan.is_saved():
            said = rpt_("{}: no changes to save").format(name) if name else rpt_("No changes to save")
            return Outcome(". ".join([said, *self.left_out(plan)]), done=False)
        plan.refuse_unwritable()  # of several files the first is not written if another one cannot be
        self.put(context, plan, backup=self.backup)
        _said[self._saved_as(plan)] = {finding: list(places) for finding, places in report.warnings.items()}
        if plan.is_as_imported:
            return Outcome(f"{name}: {rpt_('the file is written as it was imported or last saved')}")
        return Outcome(self.sentence(plan))


class SaveBackOntoEither(SaveBack):
    """Mixin for saves that start from the file on disk or from the file as it was imported."""

    if_changed: base_file(*BASES)


def warning_lines(report: Report) -> list[str]:
    """Return a line for each warning, in the language of the interface."""
    return [tell(line) for line in report.lines()[: len(report.warnings)]]


def draw_warnings(layout: bpy.types.UILayout, report: Report) -> None:
    """Draw each warning, wrapped; beyond a limit only their number."""
    lines = warning_lines(report)
    for warning in lines[:WARNINGS_SHOWN]:
        for number, line in enumerate(wrapped_lines(warning, LINE_LENGTH)):
            layout.label(text=line, icon="BLANK1" if number else "ERROR", translate=False)
    if len(lines) > WARNINGS_SHOWN:
        layout.label(text=iface_("and {} more").format(len(lines) - WARNINGS_SHOWN), icon="BLANK1", translate=False)


class SaveBackOntoImported(SaveBack):
    """Mixin for saves that always start from the imported file, with which edits are compared."""

    if_changed: base_file(*IMPORTED_BASES)

    def source(self, context: Context) -> Any:
        """Return the properties that have ``path`` and ``saved``. Overridden by every operator."""
        raise NotImplementedError

    def path(self, context: Context) -> str:
        return str(self.source(context).path)

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        return (self.source(context).id_data,)

    def settle(self, context: Context, plan: "FilePlan") -> None:
        """Store that the file on disk is the written one."""
        plans.keep_saved(plan, self.source(context))
