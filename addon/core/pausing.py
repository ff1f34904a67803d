"""Long work that can pause between two steps, so that the window is redrawn meanwhile and the user can stop the work.

The work consists of plain calls, not of a generator: it runs in its own thread, but only while the caller of
`Work.advance` waits. Only one of the two threads runs at any time, so the work may do everything that its caller may
do.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")
STACK = 16 << 20  # bytes: some systems give threads half a megabyte, and Blender itself may need more

_here = threading.local()
_unfinished: set[object] = set()


class Stopped(BaseException):
    """Raised inside work to stop it. Not an `Exception`, so that code which continues after failures does not
    catch it.
    """


class Work(Generic[Result]):
    """A call that pauses where it calls `pause` and continues from there."""

    def __init__(self, call: Callable[[], Result]) -> None:
        self._call = call
        self._thread: threading.Thread | None = None
        self._go, self._paused = threading.Semaphore(0), threading.Semaphore(0)
        self._deadline = 0.0
        self._stopped = self._stop_raised = False
        self._results: list[Result] = []
        self._calls: list[Callable[[], None]] = []
        self._error: BaseException | None = None
        self.ended = False
        self.fraction = 0.0
        """Progress from 0 to 1, as last passed to `pause`."""

    def advance(self, seconds: float) -> bool:
        """Continue the work until it pauses after this many ``seconds`` or ends. Returns whether it has ended."""
        if self.ended:
            return True
        self._deadline = time.monotonic() + seconds
        _unfinished.add(self)
        if self._thread is None:
            before = threading.stack_size(STACK)
            self._thread = threading.Thread(target=self._run, name="motionbridge", daemon=True)
            self._thread.start()
            threading.stack_size(before)
        else:
            self._go.release()
        self._paused.acquire()
        while self._calls:
            self._calls.pop()()
            self._go.release()
            self._paused.acquire()
        return self.ended

    def stop(self) -> None:
        """Raise `Stopped` in the work where it paused, and wait until it has cleaned up."""
        self._stopped = True
        if self._thread is not None:
            self.advance(math.inf)
        self.ended = True

    def result(self) -> Result:
        """Return what the call returned. Raises what the call raised, or `Stopped` if it was stopped."""
        if self._error is not None:
            raise self._error
        if not self._results:
            raise Stopped
        return self._results[0]

    def pause(self, fraction: float) -> None:
        """Pause if the time is over; called inside the work. Raises `Stopped` if the work is to stop."""
        self.fraction = fraction
        if not self._stopped and time.monotonic() >= self._deadline:
            self._paused.release()
            self._go.acquire()
        if self._stopped and not self._stop_raised:  # raised once only: cleaning up is not stopped
            self._stop_raised = True
            raise Stopped

    def errand(self, call: Callable[[], Result]) -> Result:
        """Run ``call`` in the thread of the caller of `advance`, and return or raise what it returns or raises; called
        inside the work.
        """
        outcome: list[tuple[list[Result], BaseException | None]] = []
        self._calls.append(lambda: outcome.append(_caught(call)))
        self._paused.release()
        self._go.acquire()
        given, error = outcome[0]
        if error is not None:
            raise error
        return given[0]

    def _run(self) -> None:
        _here.work = self
        self._results, self._error = _caught(self._call)
        _unfinished.discard(self)
        self.ended = True
        self._paused.release()


def _caught(call: Callable[[], Result]) -> tuple[list[Result], BaseException | None]:
    """Return what a call returns, or else what it raises, for the other thread, which raises it again."""
    try:
        return [call()], None
    except BaseException as error:  # noqa: BLE001 (nothing is swallowed)
        return [], error


def unfinished() -> bool:
    """Return whether there is work that has begun and not ended."""
    return bool(_unfinished)


def pausable() -> bool:
    """Return whether the caller runs inside a `Work`."""
    return getattr(_here, "work", None) is not None


def pause(fraction: float) -> None:
    """Let the work pause here, with ``fraction`` of it done (0 to 1). Does nothing outside a `Work`.

    Raises `Stopped` if the user stopped the work.
    """
    work: Work[object] | None = getattr(_here, "work", None)
    if work is not None:
        work.pause(fraction)


def in_callers_thread(call: Callable[[], Any]) -> Any:
    """Run ``call`` in the thread of the caller of `Work.advance` and return its result; outside a `Work`, run it
    directly.

    For code that depends on its thread, such as Blender's operators.
    """
    work: Work[Any] | None = getattr(_here, "work", None)
    return call() if work is None else work.errand(call)
