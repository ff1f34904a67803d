"""What all our operators share: the place where a refusal becomes a sentence, the status line, the report.

Also work that Esc stops, and checks: operators that report all findings and select one.
"""

import textwrap
import traceback
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy
from bpy.props import CollectionProperty, IntProperty, StringProperty

from ..blender import compat, scope
from ..blender import mesh as meshes
from ..blender.properties import refuse_linked
from ..blender.typed import Context, Object
from ..core import names, pausing
from ..core.errors import MotionbridgeError, ReadError
from ..core.report import Report
from ..games import renamed_bones
from .bases import BlenderOperator, MixedIn, notice_language, refusal_in, said, shown
from .change_words import teller

if TYPE_CHECKING:
    from ..blender.mesh import Offending


AT_ONCE = 0.5
"""Seconds that work may take before it pauses for the first time."""
TICK = 0.2
"""Seconds of work between two moments in which Blender draws and handles events."""
INTERVAL = 0.01
"""Seconds that Blender has for itself at least."""

PAUSES_FROM_BROWSER = compat.BROWSER_WAITS_WITH_UNDO
"""Otherwise the step of undo would hold what is half done: imports from the browser show their progress at the mouse
pointer there, and Esc does not stop them.
"""

Answer = Callable[[Any, Callable[[], Any]], set[str]]
"""What an operator says and returns, of a function that gives or raises what came of the work."""


class LongWork(MixedIn):
    """Mixed into operators; `go_on` is called where they are executed."""

    invoked = False
    """Whether a person called it at a window."""
    _pauses = False
    if TYPE_CHECKING:  # Blender evaluates every annotation of every operator at every start, to find its properties.
        _work: Any = None
        _answer: Answer | None = None
        _timer: Any = None
    else:
        _work = _answer = _timer = None

    def called_by_person(self, *, from_browser: bool = False) -> None:
        """Called by `invoke`. ``from_browser``: the file browser will execute it, and no dialog."""
        self.invoked = True
        self._pauses = not from_browser or PAUSES_FROM_BROWSER or "UNDO" not in self.bl_options

    def pauses(self, context: Context) -> bool:
        """Whether to work in steps, once: what is repeated with other options is done at once."""
        pauses = self._pauses and not bpy.app.background and context.window is not None
        self.invoked = self._pauses = False
        return pauses

    def go_on(self, context: Context, call: Callable[[], Any], answer: Answer) -> set[str]:
        """Do it in steps, the last of which gives the ``answer``."""
        notice_language()
        work: pausing.Work[Any] = pausing.Work(call)
        if work.advance(AT_ONCE):
            return answer(context, work.result)
        self._work, self._answer = work, answer
        self._timer = context.window_manager.event_timer_add(INTERVAL, window=context.window)
        self._show(context, work)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: Context, event: bpy.types.Event) -> set[str]:
        """Called by Blender for each event; other operators do not get it."""
        work, answer = self._work, self._answer
        if work is None or answer is None:
            return {"CANCELLED"}
        if event.type == "ESC" and event.value == "PRESS":
            work.stop()
        elif event.type == "TIMER":
            work.advance(TICK)
            self._show(context, work)
        if not work.ended:
            return {"RUNNING_MODAL"}
        self._leave(context)
        return answer(context, work.result)

    def cancel(self, context: Context) -> None:
        """Called by Blender when its window closes or another file is opened meanwhile."""
        if self._work is not None:
            self._work.stop()
            self._leave(context)

    def _show(self, context: Context, work: "pausing.Work[Any]") -> None:
        text = shown("{}: {} %. Esc: stop").format(shown(self.bl_label), round(work.fraction * 100))
        context.workspace.status_text_set(text)

    def _leave(self, context: Context) -> None:
        self._work = self._answer = None
        context.window_manager.event_timer_remove(self._timer)
        context.workspace.status_text_set(None)


class StartsAtOnce(MixedIn):
    """Mixed into operators of buttons without a dialog, before `Operation`: they begin when they are invoked."""

    def invoke(self, context: Context, _event: bpy.types.Event) -> Any:
        """Called by Blender for a button."""
        self.called_by_person()
        return self.execute(context)


REPORT = "Motionbridge Report"
LINES_SHOWN = 24
LETTERS_SHOWN = 110


class Outcome(NamedTuple):
    """What an operator did, in one sentence; ``done`` False where there was nothing to do."""

    sentence: str
    done: bool = True


class Operation(LongWork):
    """Mixed into operators, before `bpy.types.Operator`. They write `run`, which may raise `MotionbridgeError`.

    A refusal ends in CANCELLED and its sentence; so does having nothing to do, without an error.
    """

    if TYPE_CHECKING:
        report: Callable[[set[str], str], None]

    def run(self, context: Context, report: Report) -> Outcome:
        """Do the work. Overridden by every operator."""
        raise NotImplementedError

    def edited(self, context: Context) -> Iterable[bpy.types.ID | None]:
        """The data-blocks that the operator stores something in. It is refused before its work if one is linked.

        The active object and its data, unless an operator says differently; nothing where it cannot be undone, as
        exports. What is shown or selected alone does not count.
        """
        active = context.view_layer.objects.active
        return (active, active.data) if active is not None and "UNDO" in self.bl_options else ()

    def execute(self, context: Context) -> set[str]:
        """Called by Blender: by scripts, by a dialog, to repeat it."""
        if not self.pauses(context):
            return self.answer(context, self.run)
        report = Report()
        return self.go_on(context, lambda: self._done(context, self.run, report), partial(self._tell, report))

    def answer(self, context: Context, work: Callable[[Any, Report], Outcome | None]) -> set[str]:
        """Do some work and say what came of it. Work that gives nothing back has handed over to a dialog.

        Work that raises anything leaves no data-blocks behind.
        """
        report = Report()
        return self._tell(report, context, lambda: self._done(context, work, report))

    def _done(self, context: Context, work: Callable[[Any, Report], Outcome | None], report: Report) -> Outcome | None:
        refuse_linked(self.edited(context))
        renamed_bones.refuse_renamed_in_edit_mode()
        renamed_bones.follow_renames(report)
        with scope.undone_on_failure(context):
            return work(context, report)

    def _tell(self, report: Report, context: Context, result: Callable[[], Outcome | None]) -> set[str]:
        try:
            outcome = result()
        except MotionbridgeError as refusal:
            tell = teller(said)
            _keep(context, refusal.sentence(tell), report)
            # Blender breaks no line of its pop-up: a long path would push the remedy out of the window.
            self.report({"ERROR"}, names.printable(refusal.sentence(tell, with_folder=bpy.app.background)))
            return {"CANCELLED"}
        except pausing.Stopped:
            sentence = said("Stopped: no changes were made")
            _keep(context, sentence, Report())
            self.report({"INFO"}, sentence)
            return {"CANCELLED"}
        if outcome is None:
            return {"RUNNING_MODAL"}
        _keep(context, outcome.sentence, report)
        said_shortly = names.printable(status_line(outcome.sentence, report))
        self.report({"WARNING"} if report.warnings else {"INFO"}, said_shortly)
        return {"FINISHED"} if outcome.done else {"CANCELLED"}

    def each_file(self, paths: Sequence[str], work: Callable[[str, Report], None], report: Report) -> int:
        """Work on each file and count those that went well. One bad file does not stop the others.

        Of a bad file no data-block stays, and only its refusal is reported. Raises it if no file went well. A defect
        of ours counts as a bad file too: its traceback goes to the console.
        """
        failures: list[tuple[Exception, str]] = []
        for path in paths:
            found = Report()
            try:
                with scope.undone_on_failure(bpy.context):
                    _refuse_unprintable(path)
                    work(path, found)
            except MotionbridgeError as refused:
                failures.append((refused, str(refused).rstrip(".")))
            except Exception as defect:  # noqa: BLE001 (the other files are good)
                traceback.print_exception(defect)
                what = f"{type(defect).__name__}: {defect}"
                failure = ReadError(f"the import failed, see the system console ({what})", file=path)
                failures.append((defect, str(failure).rstrip(".")))
            else:
                report.include(found)
        if len(failures) == len(paths):
            raise failures[0][0]
        for _, sentence in failures:
            report.warn(f"left out: {sentence}")
        return len(paths) - len(failures)


def hand_over(operator: Any, other: Any, **options: Any) -> bool:
    """Let another operator, such as ``CALL.import_scene.xray_omf``, go on with its dialog; whether it did.

    What it refuses is reported by this ``operator``: Blender raises the error reports of a nested operator, and would
    show them with a Python traceback.
    """
    try:
        other("INVOKE_DEFAULT", **options)
    except RuntimeError as refused:
        if "Traceback (most recent call last)" in str(refused):  # a defect of ours and no refusal
            raise
        operator.report({"ERROR"}, refusal_in(refused))
        return False
    return True


def _refuse_unprintable(path: str) -> None:
    """Raise `ReadError` for a path that Blender cannot hold: what is imported is named after its file."""
    if names.printable(path) != path:
        raise ReadError("its name or folder is not UTF-8, which Blender needs", file=path, remedy="Rename it")


def status_line(sentence: str, report: Report) -> str:
    """The sentence, and the one warning there is or how many there are."""
    if not report.warnings:
        return sentence
    if len(report.warnings) == 1:
        return f"{sentence}. {report.lines(teller(said))[0]}"
    more = said("{} warnings, see Motionbridge > Report").format(len(report.warnings))
    return f"{sentence}. {more}"


def _keep(context: Context, sentence: str, report: Report) -> None:
    lines = [sentence, *report.lines(teller(said))]
    context.window_manager.motionbridge_report = names.printable("\n".join(lines))


class FileChoice(MixedIn):
    """The files an operator was given: ``filepath`` alone, or ``files`` in ``directory``."""

    filepath: StringProperty(
        name="File Path", subtype="FILE_PATH", options={"SKIP_SAVE", "HIDDEN", "SKIP_PRESET", *compat.PATH_OPTIONS}
    )
    directory: StringProperty(subtype="DIR_PATH", options={"SKIP_SAVE", "HIDDEN", "SKIP_PRESET", *compat.PATH_OPTIONS})
    files: CollectionProperty(type=bpy.types.OperatorFileListElement, options={"SKIP_SAVE", "HIDDEN", "SKIP_PRESET"})

    def paths(self) -> list[str]:
        found = [Path(self.directory, entry.name) for entry in self.files if entry.name]
        if not found and self.filepath:
            found = [Path(self.filepath)]
        return list(dict.fromkeys(bpy.path.abspath(str(path)) for path in found))

    def files_said(self) -> str:
        """The title of a dialog about them: a name without its folder, or how many there are."""
        paths = self.paths()
        return Path(paths[0]).name if len(paths) == 1 else shown("Import {} files").format(len(paths))


class MOTIONBRIDGE_OT_report(BlenderOperator):
    """Show the full report of the last operation; confirm to keep it as a text"""

    bl_idname = "motionbridge.report"
    bl_label = "Report"
    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        cls.poll_message_set("No report: no import or export was run")
        return bool(context.window_manager.motionbridge_report)

    def invoke(self, context: Context, _event: bpy.types.Event) -> set[str]:
        return context.window_manager.invoke_props_dialog(
            self, width=720, title=shown("Motionbridge Report"), confirm_text="Keep as Text"
        )

    def draw(self, context: Context) -> None:
        """The report's lines, broken where they are too long for the dialog."""
        lines = broken_lines(context.window_manager.motionbridge_report)
        column = self.layout.column(align=True)
        for line in lines[:LINES_SHOWN]:
            column.label(text=line, translate=False)
        if len(lines) > LINES_SHOWN:
            column.label(text=said("Lines left, in the text: {}").format(len(lines) - LINES_SHOWN))

    def execute(self, context: Context) -> set[str]:
        """Put it into a text."""
        text = bpy.data.texts.get(REPORT) or bpy.data.texts.new(REPORT)
        text.clear()
        text.write(context.window_manager.motionbridge_report)
        for area in context.screen.areas if context.screen is not None else ():
            if area.type == "TEXT_EDITOR":
                area.spaces.active.text = text
        self.report({"INFO"}, said("The report is in the text '{}'").format(REPORT))
        return {"FINISHED"}


def broken_lines(text: str, letters: int = LETTERS_SHOWN) -> list[str]:
    """Lines of at most so many letters; Blender's labels do not break theirs."""
    lines = text.splitlines()
    return [part for line in lines for part in textwrap.wrap(line, letters, subsequent_indent="    ") or [""]]


MANAGER: Any = bpy.types.WindowManager


def register() -> None:
    """Register the operator and the place where the last report is kept."""
    MANAGER.motionbridge_report = StringProperty(name="Motionbridge Report", options={"HIDDEN"})


def unregister() -> None:
    """Take the place away."""
    del MANAGER.motionbridge_report


# Checks of what the game would refuse ---------------------------------------------------------------------------------

_findings: dict[int, int] = {}
"""Object (its number in this session) -> how many findings its last check had."""


class Check(Operation):
    """Mixed into operators that look for problems; see `find` for what they look at.

    A finding has the object ``shown`` or None, its ``problem``, and the indices of its ``faces`` and ``vertices``.
    """

    bl_options = {"REGISTER", "UNDO"}

    number: IntProperty(name="Finding", description="Index of the finding to select", default=0, min=0)

    def find(self, context: Context, report: Report) -> tuple[Any, Sequence[Any]]:
        """The object that remembers the file, if any, and the findings. Overridden by every check."""
        raise NotImplementedError

    def selectable(self, _context: Context, found: Sequence["Offending"], _report: Report) -> list["Offending"]:
        """Those of which something can be selected."""
        return [one for one in found if len(one.faces) or len(one.vertices)]

    def select(self, context: Context, chosen: Any) -> None:
        """The faces or vertices of one finding, in edit mode."""
        meshes.select_elements(chosen.shown, chosen.faces, chosen.vertices)
        context.view_layer.objects.active = chosen.shown
        chosen.shown.select_set(True)
        context.tool_settings.mesh_select_mode = (not len(chosen.faces), False, bool(len(chosen.faces)))
        scope.set_mode("EDIT")

    def edited(self, _context: Context) -> Iterable[bpy.types.ID | None]:
        """Nothing: elements are selected."""
        return ()

    def run(self, context: Context, report: Report) -> Outcome:
        """Report everything, select the elements of one finding."""
        with scope.leaving_edit_mode(context):
            holder, found = self.find(context, report)
        if holder is not None:
            _findings[holder.session_uid] = len(found)
        if not found:
            return Outcome(said("No errors or warnings found"))
        for one in found:
            report.warn(one.problem.line, one.shown.name if one.shown is not None else "")
        selectable = self.selectable(context, found, report)
        if not selectable:
            return Outcome(said("Findings: {}").format(len(found)))
        number = min(self.number, len(selectable) - 1)
        self.select(context, selectable[number])
        if len(report.warnings) == 1:  # which the status line adds
            return Outcome(said("Selected finding {} of {}").format(number + 1, len(selectable)))
        found_there = teller(said)(selectable[number].problem.sentence)
        words = (number + 1, len(selectable), found_there)
        return Outcome(said("Selected finding {} of {}: {}").format(*words))


def draw_last_check(layout: bpy.types.UILayout, holder: Object) -> None:
    """The result of the last check, if there was one."""
    count = _findings.get(holder.session_uid)
    if count is None:
        return
    text = shown("Last check, findings: {}").format(count) if count else shown("Last check: no findings")
    layout.label(text=text, icon="ERROR" if count else "CHECKMARK", translate=False)


CLASSES = (MOTIONBRIDGE_OT_report,)
