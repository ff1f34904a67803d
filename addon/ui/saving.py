"""Save Back: a dialog that shows what will change in a file and what will be lost, which then writes it.

The operator of a format names the file, makes the plan, and says which options an error may ask for; everything else is
here. `ModelSaveBack` is for files that a data-block stores, `MotionSaveBack` for motions, of one file or of several
that are saved together.
"""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy
from bpy.props import EnumProperty, StringProperty

from ..blender import scope
from ..blender.properties import key_digests, refuse_linked
from ..blender.typed import Action, Context, Object
from ..core import files
from ..core.errors import MotionbridgeError, WriteError, refused_access
from ..core.report import Report
from ..formats import trees
from ..games import ADDED, mods, renamed_bones
from ..games import plan as plans
from .bases import CALL, file_sentence, iface_, rpt_, tell
from .bones import HiddenKeysChoice, hides_keys
from .files import NAMES_SHOWN, BackupChoice, draw_backup, warning_lines
from .layouts import fields
from .operation import Operation, Outcome, call_operator, wrapped_lines
from .preferences import add_mod, all_games, known_mods, preferences

if TYPE_CHECKING:
    from ..games.plan import FilePlan

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
UNDECIDED = {"REFUSE", "STOP"}
WARNINGS_SHOWN = 6
PREVIEWS_KEPT = 4
_VALUES = (str, bool, int, float)
LINE_LENGTH = 70
_ready: dict[str, Any] = {}
"""Name of an operator -> the previews that one operator hands over to the one with the dialog."""


_last_mods: dict[Path, str] = {}
"""Folder of a game -> that of the mod into which a file of it was written last, until Blender is closed."""
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
        self.targets: dict[str, Path] = {}
        """Path of a file in an archive -> where it is written in the mod."""

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
        _is_preview: bool = False
        """Whether the plan that is made now is only shown."""
    else:
        _previews = _shown = _samples = None
        _asked = ()
        _is_preview = False
    if_changed: base_file(*BASES)
    mod_folder: StringProperty(
        name="Mod Folder",
        description="Folder of the mod that gets the file, which is in an archive of the game",
        search=known_mods,  # a button that opens the file browser would close the dialog
        search_options={"SUGGESTION"},
        options={"SKIP_SAVE"},
    )
    changes_keys = False

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
        self._take_saved_files(context, plan)
        plan.compare_with_disk()
        if plan.is_saved():
            for finding, indices in _said.get(self._saved_as(plan), {}).items():
                if report.warnings.get(finding) == indices:
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

    def details(self, plan: "FilePlan") -> list[str]:
        """Return one line per part of the file that will change."""
        return [tell(part.line()) for part in plan.changes.parts]

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
        self.mod_folder = self.mod_folder or self._usual_mod(context)
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
        preview = Preview()
        self._is_preview = True
        try:
            refuse_linked(self.edited(context))
            renamed_bones.refuse_renamed_in_edit_mode()
            renamed_bones.follow_renames(preview.report)
            with refused_access():
                preview.matters = self.questions(context)
                preview.plan = self.compared(context, preview.report)
                preview.is_saved = preview.plan.is_saved()
                if not preview.is_saved:
                    preview.targets = self._targets(context, preview.plan, preview.report)
                    preview.matters["mod_folder"] = bool(preview.targets)
        except MotionbridgeError as refusal:
            preview.refusal = refusal
            self._asked = (*self._asked, refusal.option)
        finally:
            self._is_preview = False
        return preview

    def _targets(self, context: Context, plan: "FilePlan", report: Report) -> dict[str, Path]:
        """Return where files in archives are written instead; why the game would not take them goes to ``report``.

        Raises `WriteError` if the mod's folder is not chosen, or a file cannot be written.
        """
        result: dict[str, Path] = {}
        mod = self._mod()
        for part in plan.plans:
            if part.archived:
                if not mods.is_own(target := Path(part.path)) and files.exists(target) and not self._overwrites():
                    raise plans.changed_on_disk(part.path)
                files.refuse_unwritable(target)
                result[part.archived] = target
                continue
            into_archive = mod is None and self.writes_archive(context, part.path)
            if into_archive or not mods.leads_into_archive(part.path):
                mods.refuse_missing(Path(part.path), all_games(context))
                part.refuse_unwritable()
                if not files.exists(part.path):
                    report.warn("the file is no longer there: it is written again", part.path)
                continue
            if mod is None:
                raise WriteError(
                    "the file is in an archive, which is never written",
                    file=part.path,
                    remedy="Choose the folder of a mod: the file is written there under the same path, where the game "
                    "takes it before the archive",
                    option="mod_folder",
                )
            target, findings = mods.destination_in(mod, Path(part.path), all_games(context))
            report.include(findings)
            if files.exists(target) and files.FileLocation(str(target)).digest() != part.digest:
                raise mods.refused(target)
            files.refuse_unwritable(target)
            result[part.path] = target
        if result:
            mods.warn_of_new(self._mod_of(context, result), report)
        return result

    def _overwrites(self) -> bool:
        """Return whether changes that others made to the file on disk are overwritten."""
        return self.base() is plans.OtherBase.IMPORTED

    def _mod(self) -> Path | None:
        """Return the chosen folder of a mod, None for a path that is not a whole one."""
        mod = Path(bpy.path.abspath(self.mod_folder.strip()))
        return mod if mod.is_absolute() else None

    def _mod_of(self, context: Context, targets: dict[str, Path]) -> Path:
        """Return the mod that gets ``targets``: the chosen one, else that into which undo took back a save."""
        saved = (mods.saved_before(self.edited(context), path) for path in targets)
        return self._mod() or next(before.mod for before in saved if before is not None)

    def _take_saved_files(self, context: Context, plan: "FilePlan") -> None:
        """Let a plan go to the files of a mod into which it was saved before undo made them those of an archive."""
        mod, taken = self._mod(), dict[str, Path]()
        for part in plan.plans:
            saved = mods.saved_before(self.edited(context), part.path)
            if saved is None or mod not in (None, saved.mod):
                continue
            if mod is not None or not self.writes_archive(context, part.path):
                part.archived, taken[part.path] = part.path, saved.path
        _redirect(plan, taken)

    def writes_archive(self, _context: Context, _path: str) -> bool:
        """Return whether a file is written into the archive that it is in, if no mod is chosen."""
        return False

    def uses_mod(self, context: Context, mod: Path) -> None:
        """Store that files are looked for in a mod from now on, before files are written into it."""

    def _usual_mod(self, context: Context) -> str:
        """Return the folder of the mod in which a file of an archive was written last, else the game's upper mod."""
        archived = (path for path in map(bpy.path.abspath, self.paths(context)) if mods.leads_into_archive(path))
        if not (path := next(archived, "")):
            return ""
        if (saved := mods.saved_before(self.edited(context), path)) is not None:
            return str(saved.mod)
        game = trees.game_of(Path(path), all_games(context))
        return _last_mods.get(game.folder, str(game.mods[-1]) if game.mods else "") if game is not None else ""

    def _put_into_mod(self, context: Context, plan: "FilePlan", targets: dict[str, Path]) -> None:
        """Write a plan whose files in archives go to other ``targets``, which the .blend remembers from then on."""
        _redirect(plan, targets)
        mod, holders = self._mod_of(context, targets), list(self.edited(context))
        self.uses_mod(context, mod)
        digests = {Path(part.path): part.digest for part in plan.plans}
        moved: dict[str, Path] = {}
        try:
            for part in plan.plans:
                part.archived = ""
            for old, new in targets.items():
                files.make_folder(new.parent)
                mods.follow(ADDED, old, new)
                moved[old] = new
            self.put(context, plan, backup=self.backup)
            moved.clear()
        finally:  # after a failure, files that were not written are those of the archive again
            for old, new in moved.items():
                if files.FileLocation(str(new)).digest() != digests[new]:
                    mods.follow(ADDED, str(new), Path(old))
        for old, new in targets.items():
            mods.remember_saved(holders, old, mods.Saved(mod, new))
        if (game := trees.game_of(Path(next(iter(targets))), all_games(context))) is not None:
            _last_mods[game.folder] = str(mod)
            add_mod(context, game, mod)

    def _key(self, context: Context) -> Any:
        """Return what a plan depends on: the file on disk and the options."""
        names = {name for kind in type(self).__mro__ for name in getattr(kind, "__annotations__", ())} - {"backup"}
        options = {name: getattr(self, name, None) for name in names if not name.startswith("_")}
        chosen = tuple(sorted((name, value) for name, value in options.items() if isinstance(value, _VALUES)))
        return tuple(files.FileLocation(bpy.path.abspath(path)).digest() for path in self.paths(context)), chosen

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
        for target in preview.targets.values():
            column.label(text=iface_("Written to {}").format(target), icon="FILE_NEW", translate=False)
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
        sentence = tell(plan.sentence())
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
        preview = (self._previews or {}).get(self._key(context))
        if preview is not None and preview.refusal is not None:
            raise preview.refusal
        plan = self._plan_to_write(context, preview, report)
        self._previews = self._samples = self._shown = None
        name = Path(plan.path).name
        if plan.is_saved():
            sentence = rpt_("{}: no changes to save").format(name) if name else rpt_("No changes to save")
            return Outcome(". ".join([sentence, *self.left_out(plan)]), done=False)
        # Of several files the first is not written if another one cannot be.
        targets = self._targets(context, plan, report if preview is None else Report())
        if targets:
            self._put_into_mod(context, plan, targets)
        else:
            self.put(context, plan, backup=self.backup)
        for part in plan.plans:
            mods.remember_written(part.path, part.digest)
        _said[self._saved_as(plan)] = {finding: list(warning) for finding, warning in report.warnings.items()}
        if plan.is_as_imported:
            return Outcome(f"{name}: {rpt_('the file is written as it was imported or last saved')}")
        return Outcome(self.sentence(plan))

    def _plan_to_write(self, context: Context, preview: Preview | None, report: Report) -> "FilePlan":
        """Return the plan that was shown, or an equal one for which everything was compared."""
        previewed = preview.plan if preview is not None else None
        if preview is None or previewed is None:
            return self.compared(context, report)
        if not any(part.is_preview for part in previewed.plans):
            report.include(preview.report)
            return previewed
        plan = self.compared(context, report)
        if [part.digest for part in plan.plans] != [part.digest for part in previewed.plans]:
            key_digests.clear()
            raise WriteError(
                "keys were changed in a way that Blender does not report, so the preview did not show every change",
                remedy="Open Save Back again: it shows all of them now",
            )
        return plan


def _redirect(plan: "FilePlan", targets: dict[str, Path]) -> None:
    """Let the parts of a plan go to other files."""
    for part in {id(part): part for part in (plan, *plan.plans)}.values():
        part.path = str(targets.get(part.path, part.path))


def draw_warnings(layout: bpy.types.UILayout, report: Report) -> None:
    """Draw each warning, wrapped; beyond a limit only their number."""
    lines = warning_lines(report)
    for warning in lines[:WARNINGS_SHOWN]:
        for number, line in enumerate(wrapped_lines(warning, LINE_LENGTH)):
            layout.label(text=line, icon="BLANK1" if number else "ERROR", translate=False)
    if len(lines) > WARNINGS_SHOWN:
        layout.label(text=iface_("and {} more").format(len(lines) - WARNINGS_SHOWN), icon="BLANK1", translate=False)


class ModelSaveBack(SaveBack):
    """Mixin for saves of files that a data-block stores, and that always start from the imported file.

    The last of the operator's `needs` finds the data-block.
    """

    stored_in = ""
    """Name of its property group, which has ``path`` and ``saved``."""
    recipe: Any = None
    """Module of the game with ``plan_save_back``."""
    if_changed: base_file(*IMPORTED_BASES)

    def holder(self, context: Context) -> Any:
        """Return the data-block that stores the file."""
        return self.needs[-1].find(context)

    def path(self, context: Context) -> str:
        return str(getattr(self.holder(context), self.stored_in).path)

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        return (self.holder(context),)

    def planned(self, context: Context, report: Report) -> "FilePlan":
        plan: FilePlan = self.recipe.plan_save_back(
            context, self.holder(context), if_changed=self.base(), report=report
        )
        return plan

    def settle(self, context: Context, plan: "FilePlan") -> None:
        """Store that the data-block is that of the written file."""
        plan.settle(getattr(self.holder(context), self.stored_in))


class Target(NamedTuple):
    """Motions of an armature that are saved into one file; ``stored``: property group with the path of the file."""

    rig: Object
    actions: list[Action]
    stored: Any


def _advance(step: Callable[[int], None], done: int, count: int) -> None:
    step(done + count)


class MotionSaveBack(SaveBack, HiddenKeysChoice):
    """Mixin for saves of motions, of any game."""

    is_together = False
    """Whether any number of files is saved after one preview."""

    def targets(self, context: Context) -> list[Target]:
        """Return what is saved, at least one target unless `others` plans files. Overridden by every operator."""
        raise NotImplementedError

    def plan_of(self, context: Context, target: Target, report: Report, step: Callable[[int], None]) -> "FilePlan":
        """Return the plan for one file. Overridden by every operator."""
        raise NotImplementedError

    def others(self, _context: Context, _report: Report) -> "list[FilePlan]":
        """Return plans of files without motions that are saved together with the motions."""
        return []

    def is_changed(self, target: Target) -> bool:
        """Return whether other programs changed the file on disk. Overridden by every operator."""
        raise NotImplementedError

    def settle_target(self, context: Context, target: Target, plan: Any) -> None:
        """Store that the motions are those of the written file. Overridden by every operator."""
        raise NotImplementedError

    def path(self, context: Context) -> str:
        """Return the path of the first file, with which the dialog begins."""
        return next(iter(self.paths(context)), "")

    def paths(self, context: Context) -> list[str]:
        return [str(target.stored.path) for target in self.targets(context) if target.stored.path]

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        """The armatures and the motions: saved motions count as unedited afterwards."""
        targets = self.targets(context)
        rigs = dict.fromkeys(target.rig for target in targets)
        return (*rigs, *(action for target in targets for action in target.actions))

    def questions(self, context: Context) -> dict[str, bool]:
        targets = self.targets(context)
        return {
            "if_changed": any(self.is_changed(target) for target in targets if target.stored.path),
            "hidden_keys": any(hides_keys(rig) for rig in {target.rig for target in targets}),
        }

    def planned(self, context: Context, report: Report) -> "FilePlan":
        targets, all_plans, done = self.targets(context), [], 0
        with scope.progress(context, sum(len(target.actions) for target in targets)) as step:
            for target in targets:
                all_plans.append(self.plan_of(context, target, report, partial(_advance, step, done)))
                done += len(target.actions)
        if not self.is_together:
            return all_plans[0]
        all_plans += self.others(context, report)
        return plans.Together(self.path(context), [plan for plan in all_plans if not plan.is_saved()])

    def put(self, context: Context, plan: "FilePlan", *, backup: bool) -> None:
        """Write and settle each file before the next one, which may fail."""
        for file_plan in plan.plans:
            file_plan.write(backup=backup)
            self.settle(context, file_plan)

    def settle(self, context: Context, plan: "FilePlan") -> None:
        for target in self.targets(context):
            if bpy.path.abspath(target.stored.path) == plan.path:
                self.settle_written(context, target, plan)

    def settle_written(self, context: Context, target: Target, plan: "FilePlan") -> None:
        """Restore rotation modes if the user chose that, and store that the motions are those of the file."""
        self.restore_hidden_keys(target.rig, target.actions)
        self.settle_target(context, target, plan)
