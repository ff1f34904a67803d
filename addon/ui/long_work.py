"""Long work that a person started: progress in the status bar, Esc stops it, and nothing stays half done.

Only what was invoked in a window (a menu, a dialog, a drop) is done so; scripts, collection exporters and repeating
with other options do the same work at once. Short work never gets here visibly: it is over before the first pause.
While the work is paused Blender draws and hands every event to the operator, so that nothing else can be edited.
"""

from collections.abc import Callable
from typing import Any

import bpy

from ..blender import compat
from ..core import pausing
from .wording import shown

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


class LongWork:
    """Mixed into operators; `go_on` is called where they are executed."""

    invoked = False
    """Whether a person called it at a window."""
    _pauses = False
    _work: Any = None
    _answer: Answer | None = None
    _timer: Any = None

    def called_by_person(self, *, from_browser: bool = False) -> None:
        """Called by `invoke`. ``from_browser``: the file browser will execute it, and no dialog."""
        operator: Any = self
        self.invoked = True
        self._pauses = not from_browser or PAUSES_FROM_BROWSER or "UNDO" not in operator.bl_options

    def pauses(self, context: Any) -> bool:
        """Whether to work in steps, once: what is repeated with other options is done at once."""
        pauses = self._pauses and not bpy.app.background and context.window is not None
        self.invoked = self._pauses = False
        return pauses

    def go_on(self, context: Any, call: Callable[[], Any], answer: Answer) -> set[str]:
        """Do it in steps, the last of which gives the ``answer``."""
        work: pausing.Work[Any] = pausing.Work(call)
        if work.advance(AT_ONCE):
            return answer(context, work.result)
        self._work, self._answer = work, answer
        self._timer = context.window_manager.event_timer_add(INTERVAL, window=context.window)
        self._show(context, work)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: Any, event: Any) -> set[str]:
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

    def cancel(self, context: Any) -> None:
        """Called by Blender when its window closes or another file is opened meanwhile."""
        if self._work is not None:
            self._work.stop()
            self._leave(context)

    def _show(self, context: Any, work: "pausing.Work[Any]") -> None:
        operator: Any = self
        text = shown("{}: {} %. Esc: stop").format(shown(operator.bl_label), round(work.fraction * 100))
        context.workspace.status_text_set(text)

    def _leave(self, context: Any) -> None:
        self._work = self._answer = None
        context.window_manager.event_timer_remove(self._timer)
        context.workspace.status_text_set(None)


class StartsAtOnce:
    """Mixed into operators of buttons without a dialog, before `Operation`: they begin when they are invoked."""

    def invoke(self, context: Any, _event: Any) -> Any:
        """Called by Blender for a button."""
        operator: Any = self
        operator.called_by_person()
        return operator.execute(context)
