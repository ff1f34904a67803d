"""Choices for imports and exports of motions: lists of motions, export options, existing files, referenced files."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, IntProperty, StringProperty

from ...blender import scope
from ...blender.typed import Action, Context, Object
from ...core import files
from ...core.errors import ReadError, WriteError
from ...core.report import Report, say
from ...formats.xray import game_tree
from ...games.xray.models.properties import remembered
from ...games.xray.motions import files as motion_files
from ...games.xray.motions import library, omf_codec, omf_host, read_files, replaced
from ...games.xray.options import ExportOptions, MotionExportOptions, SkeletalExportOptions
from .. import layouts
from ..bases import (
    CALL,
    BlenderList,
    ExportHelper,
    MixedIn,
    classes_of,
    file_sentence,
    iface_,
    options_from,
    properties_from,
    rpt_,
    tell,
)
from ..bones import HiddenKeysChoice
from ..files import ArmatureExport, FileImport, doubts_of, draw_doubts
from ..layouts import TickedChoice, TickedRows, fields
from ..operation import call_operator
from ..preferences import known_games
from ..saving import MotionSaveBack, Target
from ..target import action_to_export, likely_rig, rig_to_export, some_action
from .target import actions_moving

if TYPE_CHECKING:
    from ...core.game import InstalledGame
    from ...games.xray.motions.library import AnyCodec
    from ...games.xray.motions.omf_host import MotionPlan


def paths_of(holder: Object, reference: str) -> list[str]:
    """Return the files for one motion reference of a model; several if the reference is a mask."""
    model = remembered(holder)
    if model is None or not model.path:
        return []
    context: Any = bpy.context
    return _look_up(bpy.path.abspath(model.path), reference, known_games(context, "XRAY"))


@lru_cache(maxsize=4096)  # more than all references in a scene
def _look_up(model: str, reference: str, games: "tuple[InstalledGame, ...]") -> list[str]:
    tree = game_tree.tree_of(Path(model), games, Report())
    return [str(path) for part in dict.fromkeys(reference.split(",")) for path in tree.find_motions(part)]


def not_imported(rig: Object, paths: Iterable[str]) -> list[str]:
    """Return the ``paths`` that are not yet motion files of the armature."""
    here = {Path(bpy.path.abspath(file.path)) for file in rig.motionbridge_motion_files}
    return [path for path in paths if Path(path) not in here]


def forget() -> None:
    """Clear the cache of found files: new ones may exist."""
    _look_up.cache_clear()


MOST_FRAMES = 2**31 - 1
"""Maximum of an `IntProperty`; broken files declare more frames."""


class ListedMotion(bpy.types.PropertyGroup):
    """A motion that can be imported; ``name`` is the motion's name."""

    file: StringProperty()
    frames: IntProperty()
    ticked: BoolProperty(name="Import", description="Import this motion", default=True)


class MOTIONBRIDGE_UL_listed_motions(TickedRows, BlenderList):
    """Motions of the chosen files, with a check box each."""

    def size(self, item: Any) -> str:
        return iface_("1 frame") if item.frames == 1 else iface_("{} frames").format(item.frames)


class MotionList(TickedChoice):
    """Mixin for operators that import motions, beside `Operation`, `FileChoice` and a property ``name_filter``."""

    motions: StringProperty(
        name="Motions",
        description="Names of the motions to import, separated by semicolons; empty for all",
        options={"SKIP_SAVE", "SKIP_PRESET", "HIDDEN"},
    )
    listed: CollectionProperty(type=ListedMotion, options={"SKIP_SAVE", "SKIP_PRESET", "HIDDEN"})
    read_files: Any = None  # `read_files.ReadFiles`: files parsed for the list, which the import uses
    doubts: Any = ()  # lines of `draw_doubts`

    def list_files(self, codec: "AnyCodec", report: Report) -> None:
        """Fill the list with every motion of every chosen file, all selected."""
        self.listed.clear()
        self.read_files = read_files.ReadFiles()

        def list_one(path: str, _found: Report) -> None:
            for name, frames in self.read_files.list_motions(codec, path):
                row = self.listed.add()
                row.name, row.file, row.frames = name, path, min(frames, MOST_FRAMES)

        self.each_file(self.paths(), list_one, report)

    def ask(self, context: Context, codec: "AnyCodec", rig: Object | None) -> None:
        """Open the dialog with the list; it says first if a file is likely to be for another armature than ``rig``."""
        paths = dict.fromkeys(row.file for row in self.listed) if rig is not None else ()
        self.doubts = doubts_of({path: self.read_files.bones_in(codec, path, rig) for path in paths})
        button = iface_("Import Anyway") if self.doubts else iface_("Import Motions")
        context.window_manager.invoke_props_dialog(self, width=460, title=self.files_title(), confirm_text=button)

    def draw_list(self, layout: bpy.types.UILayout) -> None:
        """Draw the list of motions if it has any, and above it whether they are likely to be for another armature."""
        draw_doubts(layout, self.doubts)
        if len(self.listed):
            layouts.draw_ticks(layout, self, "MOTIONBRIDGE_UL_listed_motions", iface_("Motions: {} of {}"))

    def chosen(self, paths: list[str], codec: "AnyCodec", report: Report) -> dict[str, list[str]]:
        """Return path -> names of the motions to import: those in ``motions``, else the chosen rows, else all.

        Raises `ReadError`.
        """
        self.read_files = self.read_files or read_files.ReadFiles()
        wanted = [name.strip() for name in self.motions.split(";") if name.strip()]
        lowered = {name.lower() for name in wanted}
        chosen: dict[str, list[str]] = {}

        def read_one(path: str, _found: Report) -> None:
            names = [name for name, _ in self.read_files.list_motions(codec, path)]
            if not names:
                raise ReadError("there are no motions in this file", file=path, remedy="Choose another file")
            if wanted:
                names = [name for name in names if name.lower() in lowered]
            elif len(self.listed):
                ticked = {row.name for row in layouts.chosen_rows(self) if row.file == path}
                names = [name for name in names if name in ticked]
            chosen[path] = names

        self.each_file(paths, read_one, report)
        there = {name.lower() for names in chosen.values() for name in names}
        missing = [name for name in wanted if name.lower() not in there]
        if missing:
            words = "there is no motion named {!r}"
            raise ReadError(say(words, missing[0]), file=paths[0], remedy="Choose from the list of motions")
        chosen = {path: names for path, names in chosen.items() if names}
        if not chosen:
            raise ReadError("no motion is chosen", file=paths[0], remedy="Tick at least one motion in the list")
        return chosen


class MotionImport(FileImport, MotionList):
    """Mixin for operators that import motions, listed before `bpy.types.Operator`."""

    browser = ""
    """Name of the operator with the file browser, see `MotionChooser`."""
    name_filter: StringProperty(
        name="Filter",
        description="Show motions whose names contain this text; * and ? match any letters",
        options={"SKIP_SAVE", "SKIP_PRESET", "TEXTEDIT_UPDATE"},
    )

    def invoke(self, context: Context, _event: bpy.types.Event) -> Any:
        """Open the file browser, or the list of motions if the files are already chosen."""
        if bpy.app.background:
            return self.execute(context)
        if self.at_once:
            self.invoked_by_user()
            return self.execute(context)
        if not self.paths():
            call_operator(self, getattr(CALL.motionbridge, self.browser))
            return {"CANCELLED"}
        self.invoked_by_user()
        return self.answer(context, self.fill)

    def fill(self, context: Context, report: Report) -> None:
        """Fill the list and open the dialog. Overridden by every operator."""
        raise NotImplementedError

    def import_chosen(
        self,
        context: Context,
        codec: "AnyCodec",
        rig: Object,
        chosen: dict[str, list[str]],
        *,
        options: Any,
        report: Report,
    ) -> list[Action]:
        """Return the actions of the motions ``chosen`` of each file; ``options``: class of the import's options."""
        actions: list[Action] = []
        with scope.progress(context, sum(map(len, chosen.values()))) as step:

            def import_one(path: str, report: Report) -> None:
                done = len(actions)
                result = library.import_motions(
                    codec,
                    context,
                    rig,
                    path,
                    options=options_from(self, options, motions=chosen[path], assign_first=not actions),
                    report=report,
                    progress=lambda number: step(done + number),
                    read=self.read_files.take,
                )
                actions.extend(result.actions)

            self.each_file(list(chosen), import_one, report)
        return actions


class MotionChooser(MixedIn):
    """Mixin for the file browsers that open before the list, beside `FileChoice` and `ImportHelper`.

    They are separate operators without UNDO: otherwise the file browser would add an undo step before the user confirms
    the list.
    """

    bl_label = "List Motions"
    bl_options = {"INTERNAL"}

    def draw(self, context: Context) -> None:
        column = self.layout.column()
        column.label(text="Next step: the list of motions", icon="INFO")
        rig = likely_rig(context)
        text = rig.name if rig is not None else iface_("No armature is active")
        column.label(text=text, icon="ARMATURE_DATA", translate=False)

    def list_with(self, importer: Any) -> Any:
        """Let the import operator list the motions of the chosen files and continue from there."""
        names = [{"name": entry.name} for entry in self.files if entry.name]
        chosen = {"filepath": self.filepath, "directory": self.directory, "files": names}
        return {"FINISHED"} if call_operator(self, importer, **chosen) else {"CANCELLED"}


NAMES_SHOWN = 4
ONTO = (
    ("OWN_FILES", "New File", "Write only the chosen motions; unedited motions keep their bytes"),
    (
        "FILE",
        "Existing File",
        "Replace motions of the same name and add the others; everything else keeps its bytes",
    ),
)


class RemovedMotions(MixedIn):
    """Mixin for exports, before `FileExport`: says which motions of the chosen file would be removed."""

    removed_motions: StringProperty(options={"SKIP_SAVE", "HIDDEN", "SKIP_PRESET"})

    @staticmethod
    def names_in(path: Path) -> Iterable[str]:
        """Return the names of the motions in a file or inside a model, none for a model that cannot be read.

        Raises `ReadError` for a file of motions.
        """
        return replaced.names_inside_file(path)

    def names_to_write(self, context: Context) -> Iterable[str]:
        """Return the names of the motions that the file will have. Overridden by every export."""
        raise NotImplementedError

    def invoke(self, context: Context, event: bpy.types.Event) -> Any:
        """Open the file browser."""
        answer = super().invoke(context, event)
        self.check_target_file(context)
        return answer

    def check(self, context: Context) -> bool:
        """Called by Blender whenever the file or an option changes."""
        before = self.target_file()
        changed = ExportHelper.check(self, context)
        self.check_target_file(context)
        return bool(changed) or before != self.target_file()

    def target_file(self) -> tuple[str, ...]:
        """Return the properties that `check_target_file` sets."""
        return (self.removed_motions,)

    def check_target_file(self, context: Context) -> None:
        """Find which motions of the file would be removed."""
        self.find_removed(context, Path(bpy.path.abspath(self.filepath)))

    def find_removed(self, context: Context, path: Path) -> bool:
        """Find which motions of the file at ``path`` would be removed. Returns whether there is no file, or a readable
        one.
        """
        self.removed_motions = ""
        if not files.is_file(path):
            return True
        status = path.stat()
        in_file = _names(self.names_in, path, status.st_mtime_ns, status.st_size)
        if in_file:
            self.removed_motions = "\n".join(replaced.removed(in_file, self.names_to_write(context)))
        return in_file is not None

    def draw_removed(self, layout: bpy.types.UILayout) -> None:
        """Draw how many motions of the existing file would be removed, and the names of the first ones."""
        removed = self.removed_motions.split("\n") if self.removed_motions else []
        if not removed:
            return
        column = layout.column(align=True)
        column.alert = True
        text = iface_("1 motion will be removed" if len(removed) == 1 else "{} motions will be removed")
        column.label(text=text.format(len(removed)), icon="ERROR", translate=False)
        for name in removed[:NAMES_SHOWN]:
            column.label(text=name, icon="BLANK1", translate=False)
        if len(removed) > NAMES_SHOWN:
            column.label(text=iface_("and {} more").format(len(removed) - NAMES_SHOWN), icon="BLANK1", translate=False)


class ExistingMotions(RemovedMotions):
    """Mixin for exports of motions, before `FileExport`: write a new file, or motions into an existing one.

    Scripts get the default of ``onto``. In a window it follows the chosen file, until the user sets it.
    """

    onto: EnumProperty(
        name="Write To",
        description="Which file the export changes",
        items=ONTO,
        default="OWN_FILES",
        options={"SKIP_SAVE"},
    )
    suggested_onto: StringProperty(options={"SKIP_SAVE", "HIDDEN", "SKIP_PRESET"})
    unreadable_target: StringProperty(options={"SKIP_SAVE", "HIDDEN", "SKIP_PRESET"})

    def can_add_to(self, path: Path) -> bool:
        """Whether motions can be added to the file at ``path``."""
        return files.is_file(path)

    def invoke(self, context: Context, event: bpy.types.Event) -> Any:
        """Open the file browser; ``onto`` suits the suggested file, unless the caller has set it."""
        self.suggested_onto = "" if self.properties.is_property_set("onto") else self.onto
        return super().invoke(context, event)

    def target_file(self) -> tuple[str, ...]:
        return self.onto, self.removed_motions, self.unreadable_target

    def check_target_file(self, context: Context) -> None:
        """Set ``onto``, unless the user has set it, and find which motions of the file would be removed."""
        path = Path(bpy.path.abspath(self.filepath))
        if self.suggested_onto and self.onto == self.suggested_onto:
            self.suggested_onto = self.onto = "FILE" if self.can_add_to(path) else "OWN_FILES"
        self.removed_motions = self.unreadable_target = ""
        if self.onto == "OWN_FILES" and not self.find_removed(context, path):
            self.unreadable_target = path.name

    def draw_removed(self, layout: bpy.types.UILayout) -> None:
        """Draw which motions would be removed, or that a file that cannot be read will be replaced."""
        if self.unreadable_target:
            row = layout.row()
            row.alert = True
            row.label(text="No readable motion file: will be replaced", icon="ERROR")
        super().draw_removed(layout)


class MotionFileExport(ExistingMotions, ArmatureExport):
    """Mixin for exports of motion files, listed before `ExportHelper`; they have an option ``choose``."""

    check_extension = None
    codec: Callable[[], Any]
    """Returns the codec of the files."""

    def file_of(self, rig: Object) -> Any:
        """Return the file of the armature that the choice FILE means, or None. Overridden by every export."""
        raise NotImplementedError

    @classmethod
    def names_in(cls, path: Path) -> list[str]:
        """Return the names of the motions in a file or inside a model. Raises `ReadError`."""
        return [name for name, _ in library.list_motions(cls.codec(), str(path))]

    def names_to_write(self, context: Context) -> list[str]:
        """Return the names in the game of the chosen actions."""
        try:
            chosen = self.chosen(rig_to_export(context, self.collection))
        except WriteError:
            return []  # the export will report what is wrong
        return library.written_names(chosen, self.codec().lists, Report(), rename=getattr(self, "rename", True))

    def chosen(self, rig: Object) -> list[Action]:
        """Return the actions to export. Raises `WriteError` if there are none."""
        if self.choose == "ACTIVE":
            return [action_to_export(rig)]
        file = self.file_of(rig)
        if self.choose == "FILE" and file is not None:
            return library.motions_of(file)
        return some_action(rig, actions_moving(rig))

    def write(self, context: Context, rig: Object, path: str, report: Report) -> Any:
        """Write the chosen actions; returns the plan."""
        chosen = self.chosen(rig)
        with scope.progress(context, len(chosen)) as step:
            plan = library.plan_export(
                self.codec(),
                context,
                rig,
                chosen,
                path,
                onto=library.Onto[self.onto],
                options=self.export_options(),
                report=report,
                progress=step,
            )
        plan.write(backup=self.backup)
        self.restore_hidden_keys(rig, chosen)
        return plan


@lru_cache(maxsize=4)
def _names(read: Callable[[Path], Iterable[str]], path: Path, _changed: int, _size: int) -> tuple[str, ...] | None:
    """Return the motions of a file; None if it cannot be read.

    Cached by time and size of the file, since the file browser asks after every click.
    """
    try:
        return tuple(read(path))
    except ReadError:
        return None


SMALLEST_ERROR = 5e-7
"""In metres: smaller errors are shown as 0.000 mm and come from float arithmetic, not from rounding keys."""


def rest_is_edited(rig: Object | None, known: str) -> bool:
    """Return whether the rest pose has changed since an import.

    ``known``: property of ``rig`` with the imported files.
    """
    return rig is not None and any(motion_files.rest_changes(file, rig) for file in getattr(rig, known))


RestProperties: Any = properties_from(ExportOptions)
SkeletalExportProperties: Any = properties_from(SkeletalExportOptions)
MotionExportProperties: Any = properties_from(MotionExportOptions)


class RestChoice(RestProperties):
    """Mixin for operators that write motions of armatures: how to export after the rest pose has changed."""

    def draw_rest_change(self, layout: bpy.types.UILayout, rig: Object, known: str) -> None:
        """Draw the option if the rest pose has changed since import; ``known`` as in `rest_is_edited`."""
        if rest_is_edited(rig, known):
            column = layout.column()
            column.alert = self.rest_change == "REFUSE"
            column.prop(self, "rest_change")


class EditorMotionChoices(SkeletalExportProperties, RestChoice, HiddenKeysChoice):
    """Mixin for operators that write editor motions."""

    def export_options(self) -> SkeletalExportOptions:
        """Return the options as the export takes them."""
        return options_from(self, SkeletalExportOptions)


class ExportChoices(MotionExportProperties, RestChoice, HiddenKeysChoice):
    """Mixin for operators that write motions of the game (.omf)."""

    def export_options(self) -> MotionExportOptions:
        """Return the options as the export takes them."""
        return options_from(self, MotionExportOptions)

    def draw_choices(self, layout: bpy.types.UILayout, rig: Object) -> None:
        """Draw the options; those for an edited rest pose and hidden keys only where they apply."""
        fields(layout)
        self.draw_rest_change(layout, rig, "motionbridge_motion_files")
        self.draw_hidden_keys(layout, rig)
        layout.prop(self, "width")
        layout.prop(self, "rename")


class MotionFileSaveBack(MotionSaveBack):
    """Mixin for saves of motion files, beside the choices of their export."""

    files = "motionbridge_motion_files"
    """Property of armatures with the files."""
    only: Any = None
    """The only action to save, None for all of the list."""

    @staticmethod
    def codec() -> "AnyCodec":
        """Return the codec of the files."""
        return omf_codec.OMF

    def export_options(self) -> Any:
        """Return the options as the export takes them. Overridden by the choices of the export."""
        raise NotImplementedError

    def plan_of(self, context: Context, target: Target, report: Report, step: "Callable[[int], None]") -> Any:
        samples = self._samples.setdefault(target.rig.name, {}) if self._samples is not None else None
        return library.plan_save_back(
            self.codec(),
            context,
            target.rig,
            target.stored,
            options=self.export_options(),
            if_changed=self.base(),
            report=report,
            progress=step,
            only=self.only,
            samples=samples,
            is_preview=self._is_preview,
        )

    def is_changed(self, target: Target) -> bool:
        return library.changed_by_others(target.rig, target.stored)

    def questions(self, context: Context) -> dict[str, bool]:
        rigs = {target.rig for target in self.targets(context)}
        return super().questions(context) | {"rest_change": any(rest_is_edited(rig, self.files) for rig in rigs)}

    def details(self, plan: Any) -> list[str]:
        """Return the changed motions with their bones and fields, new names, motions that will be removed."""
        return [line for plan in plan.plans for line in _changes_in(plan)]

    def notes(self, plan: Any) -> list[str]:
        """Return the largest rounding error of each file."""
        texts = [worst_error_text(part) for part in plan.plans if isinstance(part, omf_host.MotionPlan)]
        return [text for text in texts if text]

    def sentence(self, plan: Any) -> str:
        """Return what was written, with the largest rounding error of an only file."""
        if self.is_together:
            return tell(plan.sentence(), rpt_)
        return ". ".join([file_sentence(plan.path, plan), *self.notes(plan)])

    def settle_target(self, context: Context, target: Target, plan: Any) -> None:
        options = self.export_options()
        library.settle_saved(self.codec(), context, plan, target.rig, file=target.stored, options=options)


def _changes_in(plan: Any) -> list[str]:
    """Return a line per changed motion, or per changed line of a config."""
    is_of_motions = isinstance(plan, library.Plan)
    lines = [tell(part.line()) for part in plan.changes.parts] if is_of_motions else list(plan.changes.lines)
    if isinstance(plan, omf_host.MotionPlan):
        lines += [f"{old} > {new}" for old, new in plan.renamed]
        lines += [iface_("{} will be removed").format(name) for name in plan.deleted]
    return lines


def draw_bone_limit(layout: bpy.types.UILayout, operator: Any, rig: Object | None) -> None:
    """Draw the option of an export of ``rig`` if it has more bones than the games support."""
    if rig is not None and len(rig.data.bones) > MotionExportOptions.most_bones:
        layout.prop(operator, "most_bones")


def worst_error_text(plan: "MotionPlan") -> str:
    """Return the largest rounding error of a translation key in millimetres, with its bone and motion, or ""."""
    error, bone, motion = plan.changes.worst_error()
    if error < SMALLEST_ERROR:
        return ""
    return rpt_("Largest rounding of a translation key: {:.3f} mm ({}, {})").format(1000 * error, bone, motion)


def written_sentence(name: str, plan: "MotionPlan") -> str:
    """Return what was written to the file ``name``, and the largest rounding error."""
    error = worst_error_text(plan)
    sentence = file_sentence(name, plan)
    return f"{sentence}. {error}" if error else sentence


CLASSES = classes_of(__name__)
