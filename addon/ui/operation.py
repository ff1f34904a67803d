"""Base classes of all operators: error handling, the status line, the report, long work that Esc stops, and checks.

Here an error becomes one sentence for the user and `CANCELLED`. Checks are operators that report all findings and
select one of them.
"""

import re
import textwrap
import traceback
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy
from bpy.props import CollectionProperty, IntProperty, StringProperty

from ..blender import compat, scope
from ..blender import mesh as meshes
from ..blender.properties import key_digests, refuse_linked
from ..blender.typed import Context
from ..core import names, pausing
from ..core.errors import MotionbridgeError, ReadError, refused_access
from ..core.report import Report, listed, on_one_line, say
from ..formats import archives
from ..games import renamed_bones
from .bases import BlenderOperator, MixedIn, classes_of, iface_, notice_language, refusal_in, rpt_, tell

if TYPE_CHECKING:
    from ..blender.mesh import Offending


FIRST_STEP = 0.5
"""Seconds that work may take before it is split into steps."""
STEP = 0.2
"""Seconds of work per step; between two steps Blender draws and handles events."""
TIMER_INTERVAL = 0.01
"""Seconds between two timer events while work runs in steps."""

STEPS_FROM_BROWSER = compat.BROWSER_WAITS_WITH_UNDO
"""Whether operators with UNDO may work in steps when the file browser calls them. Where this is False, the undo step
would contain a half-finished import: imports from the browser then show their progress at the mouse pointer, and Esc
does not stop them.
"""

ResultHandler = Callable[[Any, Callable[[], Any]], set[str]]
"""Function that reports the result of work and returns the operator's result set. It gets the context and a function
that returns the outcome, or raises what the work raised.
"""


class LongWork(MixedIn):
    """Mixin for operators: run work in short steps, so that Blender stays responsive and Esc stops it.

    `execute` calls `run_in_steps` where `works_in_steps` is True.
    """

    invoked = False
    """Whether the user called the operator in a window."""
    _in_steps = False
    if TYPE_CHECKING:  # Blender evaluates all annotations of all operators at every start to find properties.
        _work: Any = None
        _on_result: ResultHandler | None = None
        _timer: Any = None
    else:
        _work = _on_result = _timer = None

    def invoked_by_user(self, *, from_browser: bool = False) -> None:
        """Note that the user called the operator; called by `invoke`.

        ``from_browser``: the file browser will execute the operator, not a dialog.
        """
        self.invoked = True
        self._in_steps = not from_browser or STEPS_FROM_BROWSER or "UNDO" not in self.bl_options

    def works_in_steps(self, context: Context) -> bool:
        """Whether to work in steps. True once per call: a repetition with other options (redo) works without pauses."""
        in_steps = self._in_steps and not bpy.app.background and context.window is not None
        self.invoked = self._in_steps = False
        return in_steps

    def run_in_steps(self, context: Context, call: Callable[[], Any], on_result: ResultHandler) -> set[str]:
        """Run ``call`` in steps and return the operator's result; finally ``on_result`` reports the outcome."""
        notice_language()
        work: pausing.Work[Any] = pausing.Work(call)
        if work.advance(FIRST_STEP):
            return on_result(context, work.result)
        self._work, self._on_result = work, on_result
        self._timer = context.window_manager.event_timer_add(TIMER_INTERVAL, window=context.window)
        self._show(context, work)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: Context, event: bpy.types.Event) -> set[str]:
        """Called by Blender for each event; other operators do not get it."""
        work, on_result = self._work, self._on_result
        if work is None or on_result is None:
            return {"CANCELLED"}
        if event.type == "ESC" and event.value == "PRESS":
            work.stop()
        elif event.type == "TIMER":
            work.advance(STEP)
            self._show(context, work)
        if not work.ended:
            return {"RUNNING_MODAL"}
        self._leave(context)
        return on_result(context, work.result)

    def cancel(self, context: Context) -> None:
        """Stop the work. Called by Blender when the window is closed or another file is opened meanwhile."""
        if self._work is not None:
            self._work.stop()
            self._leave(context)

    def _show(self, context: Context, work: "pausing.Work[Any]") -> None:
        text = iface_("{}: {} %. Esc: stop").format(iface_(self.bl_label), round(work.fraction * 100))
        context.workspace.status_text_set(text)

    def _leave(self, context: Context) -> None:
        self._work = self._on_result = None
        context.window_manager.event_timer_remove(self._timer)
        context.workspace.status_text_set(None)


class StartsAtOnce(MixedIn):
    """Mixin for operators of buttons without a dialog, listed before `Operation`: run when invoked."""

    def invoke(self, context: Context, _event: bpy.types.Event) -> Any:
        self.invoked_by_user()
        return self.execute(context)


REPORT = "Motionbridge Report"
STATUS_LENGTH = 110
"""Characters that the status bar of a window 1280 pixels wide shows; Blender leaves out the middle of longer texts."""
MAX_LINES = 24
LINE_LENGTH = 110


class Outcome(NamedTuple):
    """What an operator did, as one sentence; ``done`` is False if there was nothing to do."""

    sentence: str
    done: bool = True


class Need(NamedTuple):
    """What an operator needs: ``find`` returns it; if there is none, the button is grey and its tooltip says why.

    ``reason``: a sentence that is translated when it is shown.
    """

    reason: str
    find: Callable[[Any], Any]


class Operation(LongWork):
    """Mixin for operators, listed before `bpy.types.Operator`. Subclasses override `run`.

    `run` may raise `MotionbridgeError`, which is reported and returns CANCELLED. Having nothing to do returns CANCELLED
    too, without an error.
    """

    bl_options = {"REGISTER", "UNDO"}
    needs: tuple[Need, ...] = ()
    """In the order in which they are looked for."""
    changes_keys = True
    """Whether, with UNDO, keys of actions may change: then what was read of them before is forgotten."""
    if TYPE_CHECKING:
        report: Callable[[set[str], str], None]

    @classmethod
    def poll(cls, context: Context) -> bool:
        missing = next((need for need in cls.needs if not need.find(context)), None)
        if missing is not None:
            cls.poll_message_set(missing.reason)
        return missing is None

    def run(self, context: Context, report: Report) -> Outcome:
        """Do the work. Overridden by every operator."""
        raise NotImplementedError

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        """Return the data-blocks in which the operator stores something; if one is linked, the operator is refused.

        By default the active object and its data; nothing for operators without UNDO, such as exports. Data-blocks that
        are only shown or selected need not be returned.
        """
        active = context.view_layer.objects.active
        return (active, active.data) if active is not None and "UNDO" in self.bl_options else ()

    def execute(self, context: Context) -> set[str]:
        """Called by Blender: by scripts, dialogs, the file browser and redo."""
        if not self.works_in_steps(context):
            return self.answer(context, self.run)
        report = Report()
        return self.run_in_steps(
            context, lambda: self._checked(context, self.run, report), partial(self._report_result, report)
        )

    def answer(self, context: Context, work: Callable[[Any, Report], Outcome | None]) -> set[str]:
        """Do ``work`` and report its result. Work that returns None has opened a dialog, which continues.

        If ``work`` raises anything, the data-blocks that it created are removed.
        """
        report = Report()
        return self._report_result(report, context, lambda: self._checked(context, work, report))

    def _checked(
        self, context: Context, work: Callable[[Any, Report], Outcome | None], report: Report
    ) -> Outcome | None:
        if self.changes_keys and "UNDO" in self.bl_options:
            key_digests.clear()
        refuse_linked(self.edited(context))
        renamed_bones.refuse_renamed_in_edit_mode()
        renamed_bones.follow_renames(report)
        with refused_access(), scope.undone_on_failure(context):
            return work(context, report)

    def _report_result(self, report: Report, context: Context, result: Callable[[], Outcome | None]) -> set[str]:
        try:
            outcome = result()
        except MotionbridgeError as refusal:
            show_report(context, tell(refusal.sentence(), rpt_), report)
            # Blender does not wrap its pop-up: a long path would push the remedy out of the window.
            sentence = tell(refusal.sentence(with_folder=bpy.app.background), rpt_)
            self.report({"ERROR"}, names.printable(sentence))
            return {"CANCELLED"}
        except pausing.Stopped:
            sentence = rpt_("Stopped: no changes were made")
            show_report(context, sentence, Report())
            self.report({"INFO"}, sentence)
            return {"CANCELLED"}
        if outcome is None:
            return {"RUNNING_MODAL"}
        show_report(context, outcome.sentence, report)
        shortened = names.printable(status_line(outcome.sentence, report))
        self.report({"WARNING"} if report.warnings else {"INFO"}, shortened)
        return {"FINISHED"} if outcome.done else {"CANCELLED"}

    def each_file(self, paths: Sequence[str], work: Callable[[str, Report], None], report: Report) -> int:
        """Call ``work`` for each file and return how many succeeded. A file that fails does not stop the others.

        The data-blocks created for a failed file are removed, and its error is reported as a warning. An unexpected
        exception (a bug of this extension) counts as a failed file too: its traceback is printed to the console. Raises
        the first error if no file succeeded.
        """
        failures: list[tuple[Exception, str]] = []
        for path in paths:
            own_report = Report()
            try:
                with refused_access(), scope.undone_on_failure(bpy.context):
                    _refuse_unprintable(path)
                    work(path, own_report)
            except MotionbridgeError as refused:
                refusal = self._archive_named(path) or refused
                failures.append((refusal, str(refusal).rstrip(".")))
            except Exception as defect:  # noqa: BLE001 (the other files are good)
                traceback.print_exception(defect)
                words = "the import failed, see the system console ({}: {})"
                failure = ReadError(say(words, type(defect).__name__, defect), file=path)
                failures.append((defect, str(failure).rstrip(".")))
            else:
                report.include(own_report)
        if len(failures) == len(paths):
            raise failures[0][0]
        for _, sentence in failures:
            report.warn(say("left out: {}", sentence))
        return len(paths) - len(failures)

    def _archive_named(self, path: str) -> ReadError | None:
        """Return the error for an archive whose files have to be chosen, None for any other file."""
        own = getattr(self, "filter_glob", "").split(";")
        if any(fnmatch(path.lower(), glob) for glob in own) or not archives.is_archive(path):
            return None
        remedy = "Choose one of its files with From the Game, or name it: ARCHIVE/INNER/PATH"
        return ReadError("this is an archive of a game", file=path, remedy=remedy)


def stores_nothing(self: Any, context: Context) -> Iterable[bpy.types.ID | None]:
    """For `Operation.edited` of operators that store nothing in data-blocks of the user."""
    return ()


def call_operator(
    operator: Any, other: Any, *, mode: str = "INVOKE_DEFAULT", undo: bool = False, **options: Any
) -> set[str]:
    """Call another operator, such as ``CALL.import_scene.xray_omf``, with its dialog or in another ``mode``.

    Returns its result, an empty set if it refused. ``undo``: it adds its own undo step.

    Its error is reported by ``operator``: Blender raises the error reports of a nested operator, and would show them
    with a Python traceback.
    """
    try:
        return set(other(mode, undo, **options))
    except RuntimeError as refused:
        if "Traceback (most recent call last)" in str(refused):  # a bug of this extension, not an error for the user
            raise
        operator.report({"ERROR"}, refusal_in(refused))
        return set()


def _refuse_unprintable(path: str) -> None:
    """Raise `ReadError` for a path that Blender cannot hold as text: data-blocks are named after the file."""
    if names.printable(path) != path:
        raise ReadError("its name or folder is not UTF-8, which Blender needs", file=path, remedy="Rename it")


def status_line(sentence: str, report: Report) -> str:
    """Return the text of the status bar: the sentence, and the only warning or the number of warnings.

    Beyond `STATUS_LENGTH` the last clauses of the sentence, or else its last words, and the warning are left to the
    report.
    """
    sentence = on_one_line(sentence)
    lines = report.warning_lines()
    count = len(lines)
    warning_lines = [lines[0], report.warning_lines(most=0)[0]] if count == 1 else []
    for whole in [f"{sentence}. {tell(line, rpt_)}" for line in warning_lines] or [sentence]:
        if count <= 1 and len(whole) <= STATUS_LENGTH:
            return whole
    more = rpt_("See Motionbridge > Report")
    if count:
        more = tell(say("{:# warning|# warnings}, see Motionbridge > Report", count), rpt_)
    clauses = re.split(r"(?<=[.;,]) (?![^(]*\))", sentence)  # not within parentheses
    while len(clauses) > 1 and len(" ".join([*clauses, more])) >= STATUS_LENGTH:
        clauses.pop()
    return f"{_first_words(' '.join(clauses).rstrip('.;,'), STATUS_LENGTH - len(more) - 2)}. {more}"


def _first_words(text: str, length: int) -> str:
    """Return the text, or the words of it for which there is room, at least one, and an ellipsis."""
    if len(text) <= length:
        return text
    words = text.split(" ")
    if len(words) == 1:
        return text
    while len(words) > 1 and len(" ".join(words)) > length - len(" …)"):
        words.pop()
    first = " ".join(words)
    return f"{first} …)" if first.count("(") > first.count(")") else f"{first} …"


def show_report(context: Context, sentence: str, report: Report) -> None:
    """Let **Report** show a sentence and what was found."""
    lines = [on_one_line(sentence), *(tell(line, rpt_) for line in report.lines())]
    context.window_manager.motionbridge_report = names.printable("\n".join(lines))


class FileChoice(MixedIn):
    """Mixin: the files passed to an operator, either ``filepath`` alone or ``files`` in ``directory``."""

    filepath: StringProperty(
        name="File Path", subtype="FILE_PATH", options={"SKIP_SAVE", "HIDDEN", "SKIP_PRESET", *compat.PATH_OPTIONS}
    )
    directory: StringProperty(subtype="DIR_PATH", options={"SKIP_SAVE", "HIDDEN", "SKIP_PRESET", *compat.PATH_OPTIONS})
    files: CollectionProperty(type=bpy.types.OperatorFileListElement, options={"SKIP_SAVE", "HIDDEN", "SKIP_PRESET"})

    def paths(self) -> list[str]:
        chosen = [Path(self.directory, entry.name) for entry in self.files if entry.name]
        if not chosen and self.filepath:
            chosen = [Path(self.filepath)]
        return list(dict.fromkeys(bpy.path.abspath(str(path)) for path in chosen))

    def files_title(self) -> str:
        """Return the title of a dialog for the files: the name of the only one, or their number."""
        paths = self.paths()
        return Path(paths[0]).name if len(paths) == 1 else iface_("Import {} files").format(len(paths))


class MOTIONBRIDGE_OT_report(BlenderOperator):
    """Show the full report of the last operation; confirm to keep it as a text"""

    bl_idname = "motionbridge.report"
    bl_label = "Report"
    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        cls.poll_message_set("No report yet: run an import or export first")
        return bool(context.window_manager.motionbridge_report)

    def invoke(self, context: Context, _event: bpy.types.Event) -> set[str]:
        return context.window_manager.invoke_props_dialog(
            self, width=720, title=iface_("Motionbridge Report"), confirm_text=iface_("Keep as Text")
        )

    def draw(self, context: Context) -> None:
        """Draw the lines of the report, wrapped to the width of the dialog."""
        lines = wrapped_lines(context.window_manager.motionbridge_report)
        column = self.layout.column(align=True)
        for line in lines[:MAX_LINES]:
            column.label(text=line, translate=False)
        if len(lines) > MAX_LINES:
            text = rpt_("More lines: {}; use Keep as Text to read them").format(len(lines) - MAX_LINES)
            column.label(text=text, translate=False)

    def execute(self, context: Context) -> set[str]:
        """Copy the report into a text data-block and show it in the open text editors."""
        text = bpy.data.texts.get(REPORT) or bpy.data.texts.new(REPORT)
        text.clear()
        text.write(context.window_manager.motionbridge_report)
        for area in open_editors(context, "TEXT_EDITOR"):
            area.spaces.active.text = text
        self.report({"INFO"}, rpt_("The report is in the text '{}'").format(REPORT))
        return {"FINISHED"}


def open_editors(context: Context, kind: str, scene: bpy.types.Scene | None = None) -> list[Any]:
    """Return the areas with an editor of this kind, in all windows or in those that show ``scene``."""
    # Not context.screen: long work runs in a context without a screen.
    windows = [window for window in context.window_manager.windows if scene in (None, window.scene)]
    return [area for window in windows for area in window.screen.areas if area.type == kind]


def wrapped_lines(text: str, letters: int = LINE_LENGTH) -> list[str]:
    """Wrap text to lines of at most ``letters`` characters; Blender's labels do not wrap."""
    lines = text.splitlines()
    return [part for line in lines for part in textwrap.wrap(line, letters, subsequent_indent="    ") or [""]]


MANAGER: Any = bpy.types.WindowManager


def register() -> None:
    """Register the property that holds the last report."""
    MANAGER.motionbridge_report = StringProperty(name="Motionbridge Report", options={"HIDDEN"})


def unregister() -> None:
    """Remove the property that holds the last report."""
    del MANAGER.motionbridge_report


# Checks of what the game would refuse ---------------------------------------------------------------------------------

_findings: dict[int, int] = {}
"""Object's ``session_uid`` -> number of findings of its last check."""


class Check(Operation):
    """Mixin for operators that look for problems; `find` returns them.

    A finding has the object ``iface_`` or None, its ``problem``, and the indices of its ``faces`` and ``vertices``.
    """

    number: IntProperty(name="Finding", description="Index of the finding to select", default=0, min=0)

    def find(self, context: Context, report: Report) -> tuple[Any, Sequence[Any]]:
        """Return the object that stores the imported file, if any, and the findings. Overridden by every check."""
        raise NotImplementedError

    def selectable(self, context: Context, problems: Sequence["Offending"], report: Report) -> list["Offending"]:
        """Return the findings that have faces or vertices to select; report objects that cannot be edited now."""
        chosen = [problem for problem in problems if len(problem.faces) or len(problem.vertices)]
        there = set(scope.objects_of(context.view_layer))
        there |= {
            problem.obj for problem in chosen if problem.obj not in there and self.layers_of(context, problem.obj)
        }
        excluded = dict.fromkeys(repr(problem.obj.name) for problem in chosen if problem.obj not in there)
        disabled = dict.fromkeys(
            repr(problem.obj.name) for problem in chosen if problem.obj in there and problem.obj.hide_viewport
        )
        if excluded:
            report.note(say("include the collections of {} to select what was found there", listed(excluded, 3)))
        if disabled:
            report.note(say("enable {} in viewports to select what was found there", listed(disabled, 3)))
        return [problem for problem in chosen if problem.obj in there and not problem.obj.hide_viewport]

    def layers_of(self, _context: Context, _obj: Any) -> list[Any]:
        """Return the switches of the layers that an object is in, which are shown to select a finding there."""
        return []

    def select(self, context: Context, chosen: Any) -> None:
        """Select the faces or vertices of one finding in edit mode, alone: Blender edits all objects selected."""
        if chosen.obj not in set(scope.objects_of(context.view_layer)):
            scope.show(self.layers_of(context, chosen.obj))
        meshes.select_elements(chosen.obj, chosen.faces, chosen.vertices)
        scope.make_current(context, [chosen.obj], chosen.obj)
        on_faces = bool(len(chosen.faces))
        scope.set_select_mode(context.scene, vertices=not on_faces, faces=on_faces)
        scope.set_mode("EDIT")

    edited = stores_nothing  # the operator only selects elements

    def run(self, context: Context, report: Report) -> Outcome:
        """Report all findings and select the elements of one; without any, the mode stays."""
        active = context.view_layer.objects.active
        mode: str = active.mode if active is not None else "OBJECT"
        with scope.leaving_edit_mode(context):
            holder, problems = self.find(context, report)
            selectable = self.selectable(context, problems, report)
        if holder is not None:
            _findings[holder.session_uid] = len(problems)
        for problem in problems:
            add = report.note if problem.problem.is_note else report.warn
            add(problem.problem.line, problem.obj.name if problem.obj is not None else "")
        if not selectable and mode != "OBJECT":
            scope.set_mode(mode)
        if not selectable and all(problem.problem.is_note for problem in problems):
            return Outcome(rpt_("No errors or warnings found"))
        if not selectable:
            return Outcome(tell(say("{:# finding|# findings}", len(problems)), rpt_))
        number = min(self.number, len(selectable) - 1)
        self.select(context, selectable[number])
        if mode != "OBJECT" and context.view_layer.objects.active is active and active.mode == "OBJECT":
            scope.set_mode(mode)
        if len(report.warning_lines()) == 1:  # the status line adds the warning
            return Outcome(rpt_("Selected finding {} of {}").format(number + 1, len(selectable)))
        sentence = tell(selectable[number].problem.sentence, rpt_)
        words = (number + 1, len(selectable), sentence)
        return Outcome(rpt_("Selected finding {} of {}: {}").format(*words))


def draw_last_check(layout: bpy.types.UILayout, holder: bpy.types.ID) -> None:
    """Draw the result of the last check, if there was one."""
    count = _findings.get(holder.session_uid)
    if count is None:
        return
    text = tell(say("Last check: {:# finding|# findings}", count) if count else say("Last check: no findings"))
    layout.label(text=text, icon="ERROR" if count else "CHECKMARK", translate=False)


CLASSES = classes_of(__name__)
