"""Save Back, for every format: a dialog that says what will change and what will be lost, and then one file is written.

An operator names the file, plans it, and says which options a refusal may ask for; everything else is here.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from ..blender import scope
from ..blender.properties import refuse_linked
from ..core.errors import MotionbridgeError, WriteError
from ..core.report import Report
from ..games import plan as plans
from ..games import renamed_bones
from ..games.xray.motions import exporting as motion_export
from ..games.xray.motions import library, omf_codec
from .bases import CALL, BlenderOperator
from .files import BackupChoice, draw_backup
from .hidden_keys import hides_keys
from .layouts import fields
from .operation import Operation, Outcome, broken_lines, hand_over
from .preferences import preferences
from .target import active_action, active_rig, rig_to_export
from .translations import said, shown
from .xray.motion_choices import ExportChoices, rest_is_edited, worst_error_text, written_sentence
from .xray.motion_files import active_file

if TYPE_CHECKING:
    from ..games.plan import FilePlan
    from ..games.xray.motions.exporting import Plan

BASES = (
    ("REFUSE", "Stop", "Cancel the export and ask for a choice"),
    ("DISK", "File on Disk", "Changes made to the file since import are kept; only your motions are replaced"),
    ("IMPORTED", "File as Imported", "Changes made to the file since import are overwritten"),
)
IMPORTED_BASES = (BASES[0], BASES[2])
"""Of formats that start from the imported file alone."""
UNDECIDED = {"REFUSE", "STOP", False}
NAMES_SHOWN = WARNINGS_SHOWN = 6
PREVIEWS_KEPT = BONES_SHOWN = 4
_VALUES = (str, bool, int, float)
LETTERS_SHOWN = 70
_ready: dict[str, Any] = {}
"""Name of an operator -> the plans of one that hands over to the next."""


def base_file(*items: tuple[str, str, str]) -> Any:
    """The option that says what a save starts from."""
    return EnumProperty(
        name="Base File",
        description="The file on disk has changed since import",
        items=items,
        default="REFUSE",
        options={"SKIP_SAVE"},
    )


class Preview:
    """What the dialog shows of one choice of options: a plan, or why there is none.

    ``matters``: the options that a refusal may ask for, and whether to show them. ``is_saved``: nothing would change.
    """

    def __init__(self) -> None:
        """Nothing was planned yet."""
        self.plan: FilePlan | None = None
        self.report = Report()
        self.refusal: MotionbridgeError | None = None
        self.matters: dict[str, bool] = {}
        self.is_saved = False

    def can_save(self) -> bool:
        """There are changes, and nothing but a choice in the dialog stands in their way."""
        return bool(self.refusal.option) if self.refusal is not None else not self.is_saved


class SaveBack(Operation, BackupChoice):
    """Mixed into operators that write a file back, before `bpy.types.Operator`; see `planned` for what they write."""

    if TYPE_CHECKING:  # as in `LongWork`
        _previews: dict[Any, Preview] | None = None
        _shown: Preview | None = None
        _samples: dict[Any, Any] | None = None
        """What was sampled while the dialog is open: nothing in the scene changes meanwhile."""
        _asked: tuple[str, ...] = ()
    else:
        _previews = _shown = _samples = None
        _asked = ()

    def path(self, context: bpy.types.Context) -> str:
        """The file as it is stored, relative paths too. Overridden by every operator."""
        raise NotImplementedError

    def planned(self, context: bpy.types.Context, report: Report) -> "FilePlan":
        """The plan with the options as they are. Raises `MotionbridgeError`. Overridden by every operator."""
        raise NotImplementedError

    def put(self, context: bpy.types.Context, plan: "FilePlan", *, backup: bool) -> None:
        """Write a plan, which another operator may have made, and remember it."""
        plan.write(backup=backup)
        self.settle(context, plan)

    def settle(self, context: bpy.types.Context, plan: "FilePlan") -> None:
        """Remember that a plan was written."""

    def questions(self, _context: bpy.types.Context) -> dict[str, bool]:
        """The options that a refusal may ask for, and whether they matter as things are."""
        return {"if_changed": False}

    def draw_options(self, context: bpy.types.Context, layout: bpy.types.UILayout) -> None:
        """Options of one operator."""

    def title(self) -> str:
        """The dialog's."""
        operator: Any = self
        return shown(operator.bl_label)

    def details(self, _plan: "FilePlan") -> list[str]:
        """What will change in each part of the file, a line each; nothing where the sentence says it all."""
        return []

    def sentence(self, plan: "FilePlan") -> str:
        """What was written, in one sentence."""
        return f"{Path(plan.path).name}: {plan.sentence()}"

    def notes(self, _plan: "FilePlan") -> list[str]:
        """What is worth knowing about a plan, below its changes."""
        return []

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> Any:
        """Say what would change."""
        operator: Any = self
        operator.backup = preferences(context).backup
        if bpy.app.background:
            return self.execute(context)
        self._previews, self._samples, self._asked = {}, {}, ()
        if not self._take_over(context):
            return self.go_on(context, lambda: self.check(context), self._planned)
        return self._ask(context)

    def _ask(self, context: Any) -> Any:
        return context.window_manager.invoke_props_dialog(
            self, width=480, title=self.title(), confirm_text=shown("Save")
        )

    def _planned(self, context: bpy.types.Context, result: Callable[[], Any]) -> Any:
        """Open the dialog once there is a plan, or say that planning was stopped."""

        def planned() -> None:
            result()

        if self._tell(Report(), context, planned) == {"CANCELLED"}:
            return {"CANCELLED"}
        if self._timer is None:
            return self._ask(context)
        # This one has the window's events, and ends with them: the dialog belongs to another one, with the same plans.
        operator: Any = self
        group, name = type(operator).bl_idname.split(".")
        _ready[name] = self._previews, self._samples, self._asked
        try:
            hand_over(self, getattr(getattr(CALL, group), name), **operator.as_keywords(ignore=("backup",)))
        finally:
            _ready.clear()
        return {"CANCELLED"}

    def _take_over(self, context: bpy.types.Context) -> bool:
        """Continue with what another one has planned in steps; whether there is such a plan."""
        operator: Any = self
        name = type(operator).bl_idname.partition(".")[2]
        if name not in _ready:
            return False
        self._previews, self._samples, self._asked = _ready.pop(name)
        return self.check(context)

    def check(self, context: bpy.types.Context) -> bool:
        """Called by Blender whenever an option is another one: plan with the options as they are now, once for each."""
        self._previews = {} if self._previews is None else self._previews
        key = self._key(context)
        if key not in self._previews:
            if len(self._previews) >= PREVIEWS_KEPT:
                self._previews.pop(next(iter(self._previews)))
            self._previews[key] = self._preview(context)
        self._shown = self._previews[key]
        return True

    def _preview(self, context: bpy.types.Context) -> Preview:
        found = Preview()
        try:
            refuse_linked(self.edited(context))
            renamed_bones.follow_renames(found.report)
            found.matters = self.questions(context)
            found.plan = self.planned(context, found.report)
            found.is_saved = found.plan.is_saved()
            if not found.is_saved:
                found.plan.refuse_unwritable()
        except MotionbridgeError as refusal:
            found.refusal = refusal
            self._asked = (*self._asked, refusal.option)
        return found

    def _key(self, context: bpy.types.Context) -> Any:
        """What a plan depends on: the file on disk, and options."""
        names = {name for kind in type(self).__mro__ for name in getattr(kind, "__annotations__", ())} - {"backup"}
        options = {name: getattr(self, name, None) for name in names if not name.startswith("_")}
        chosen = tuple(sorted((name, value) for name, value in options.items() if isinstance(value, _VALUES)))
        return plans.digest_on_disk(bpy.path.abspath(self.path(context))), chosen

    def draw(self, context: bpy.types.Context) -> None:
        """The file, what will change, what will be lost, what has to be decided, the options."""
        operator: Any = self
        layout, path, preview = operator.layout, self.path(context), self._shown or Preview()
        column = layout.column(align=True)
        column.label(text=path, icon="FILE", translate=False)
        if preview.refusal is not None:
            for number, line in enumerate(broken_lines(str(preview.refusal), LETTERS_SHOWN)):
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
        if not preview.can_save():  # instead of the buttons to save and to cancel
            layout.template_popup_confirm("", cancel_text=shown("Close"))
        else:
            draw_backup(options, self, path)

    def _draw_plan(self, column: bpy.types.UILayout, plan: "FilePlan", *, is_saved: bool) -> None:
        if is_saved:
            column.label(text="No changes to save", icon="INFO")
            return
        column.label(text=plan.sentence(), icon="GREASEPENCIL", translate=False)
        details = self.details(plan)
        for line in details[:NAMES_SHOWN]:
            column.label(text=line, icon="DOT", translate=False)
        if len(details) > NAMES_SHOWN:
            column.label(text=shown("and {} more").format(len(details) - NAMES_SHOWN), icon="BLANK1", translate=False)
        for note in self.notes(plan):
            column.label(text=note, icon="INFO", translate=False)

    def run(self, context: bpy.types.Context, report: Report) -> Outcome:
        """Write what was said, or plan now where nothing was said."""
        found = (self._previews or {}).get(self._key(context))
        if found is not None and found.refusal is not None:
            raise found.refusal
        if found is not None:
            report.include(found.report)
        plan = found.plan if found is not None and found.plan is not None else self.planned(context, report)
        self._previews = self._samples = self._shown = None
        name = Path(plan.path).name
        if plan.is_saved():
            return Outcome(said("{}: no changes to save").format(name), done=False)
        operator: Any = self
        self.put(context, plan, backup=operator.backup)
        return Outcome(self.sentence(plan))


class SaveBackOntoEither(SaveBack):
    """Saves that start from the file on disk or from the file as it was imported."""

    if_changed: base_file(*BASES)


class MOTIONBRIDGE_OT_save_back(SaveBackOntoEither, ExportChoices, BlenderOperator):
    """Write the motions to their source file, after a preview of the changes, with a backup"""

    bl_idname = "motionbridge.save_back"
    bl_label = "Save Back"
    bl_options = {"REGISTER", "UNDO"}

    file: StringProperty(
        name="Motion File",
        description="Name of the motion file in the list; empty for the active one",
        options={"SKIP_SAVE", "HIDDEN"},
    )
    only_active: BoolProperty(
        name="Active Motion Only",
        description="Save the playing motion only; the other motions in the file remain unchanged",
        default=False,
        options={"SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """The active armature has a motion file."""
        if active_rig(context) is None:
            cls.poll_message_set("Several armatures have motions: make one active")
            return False
        cls.poll_message_set("This armature has no imported motions")
        return active_file(active_rig(context)) is not None

    def planned(self, context: bpy.types.Context, report: Report) -> "Plan":
        """The motion file."""
        rig, file = self._target(context)
        with scope.progress(context, len(library.motions_of(file))) as step:
            return motion_export.plan_save_back(
                omf_codec.OMF,
                context,
                rig,
                file,
                options=self.motion_options(),
                if_changed=plans.OtherBase[self.if_changed],
                report=report,
                progress=step,
                only=self._only(context, rig),
                samples=self._samples,
            )

    def _only(self, context: bpy.types.Context, rig: bpy.types.Object) -> Any:
        """The action to save alone, None for the whole list."""
        action = active_action(context)
        if self.only_active and action is None:
            raise WriteError(f"{rig.name!r} plays no action", remedy="Choose one in the list of motions, or save all")
        return action if self.only_active else None

    def edited(self, context: bpy.types.Context) -> Iterable[Any]:
        """The armature and the motions: what was saved counts as unedited afterwards."""
        rig, file = self._target(context)
        return (rig, *library.motions_of(file))

    def path(self, context: bpy.types.Context) -> str:
        """The motion file's, or that of the model that the motions are inside of."""
        return str(self._target(context)[1].path)

    def _target(self, context: bpy.types.Context) -> tuple[Any, Any]:
        rig = rig_to_export(context, "")
        file = rig.motionbridge_motion_files.get(self.file) if self.file else active_file(rig)
        if file is None:
            raise WriteError(
                f"{rig.name!r} has no motion file {self.file!r}" if self.file else f"{rig.name!r} has no motion file",
                remedy="Import motions onto it first, or export to a new file",
            )
        return rig, file

    def questions(self, context: bpy.types.Context) -> dict[str, bool]:
        """What to start from, the edited rest pose, hidden keys."""
        rig, file = self._target(context)
        return {
            "if_changed": plans.digest_on_disk(bpy.path.abspath(file.path)) not in {None, file.sha256},
            "rest_change": rest_is_edited(rig, "motionbridge_motion_files"),
            "hidden_keys": hides_keys(rig),
        }

    def draw_options(self, context: bpy.types.Context, layout: bpy.types.UILayout) -> None:
        """Which motions, and how they are written."""
        if len(library.motions_of(self._target(context)[1])) > 1:
            layout.prop(self, "only_active")
        layout.prop(self, "width")
        layout.prop(self, "rename")

    def title(self) -> str:
        """Says what "Back" is about."""
        return shown("Save Motions Back")

    def details(self, plan: Any) -> list[str]:
        """The motions with their bones and fields, new names, motions that leave."""
        renamed = [f"{old} > {new}" for old, new in plan.renamed]
        gone = [shown("{} will be removed").format(name) for name in plan.deleted]
        return [*map(change_text, plan.changes.parts), *renamed, *gone]

    def notes(self, plan: Any) -> list[str]:
        """What rounding does."""
        return [text for text in [worst_error_text(plan)] if text]

    def settle(self, context: bpy.types.Context, plan: Any) -> None:
        """What is on disk is what the motions came from now."""
        rig, file = self._target(context)
        self.restore_hidden_keys(rig, library.motions_of(file))
        omf_codec.OMF.settle(plan, rig, file, options=self.motion_options())

    def sentence(self, plan: Any) -> str:
        """With what rounding did."""
        return written_sentence(Path(plan.path).name, plan)


def change_text(change: Any) -> str:
    """``walk_0: bip01_head, bip01_spine; marks``."""
    if change.new:
        return shown("{}: new").format(change.name)
    bones = ", ".join(track.name for track in change.items[:BONES_SHOWN])
    more = f" +{len(change.items) - BONES_SHOWN}" if len(change.items) > BONES_SHOWN else ""
    parts = [bones + more] if bones else []
    return f"{change.name}: {'; '.join([*parts, *change.fields])}"


def draw_warnings(layout: bpy.types.UILayout, report: Report) -> None:
    """What will be lost: each warning once, broken into lines; the rest of many is counted."""
    lines = report.lines()[: len(report.warnings)]
    for warning in lines[:WARNINGS_SHOWN]:
        for number, line in enumerate(broken_lines(warning, LETTERS_SHOWN)):
            layout.label(text=line, icon="BLANK1" if number else "ERROR", translate=False)
    if len(lines) > WARNINGS_SHOWN:
        layout.label(text=shown("and {} more").format(len(lines) - WARNINGS_SHOWN), icon="BLANK1", translate=False)


CLASSES = (MOTIONBRIDGE_OT_save_back,)
