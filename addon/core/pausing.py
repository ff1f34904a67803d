"""Long work that can pause between two of its steps, so that a window is drawn meanwhile and can stop it.

The work is plain calls, not a generator: it runs in a thread of its own, but only while whoever calls `Work.advance`
waits. At any time one of the two runs, so that the work may do whatever its caller may.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")
STACK = 16 << 20  # bytes: threads of some systems have half a megabyte, of which Blender alone may need more

_here = threading.local()
_unfinished: set[object] = set()


class Stopped(BaseException):
    """Raised inside work that is to stop. No `Exception`: what goes on after failures must not go on after this."""


class Work(Generic[Result]):
    """A call that pauses where it says `pause`, and then goes on where it paused."""

    def __init__(self, call: Callable[[], Result]) -> None:
        """Nothing is called before `advance`."""
        self._call = call
        self._thread: threading.Thread | None = None
        self._go, self._paused = threading.Semaphore(0), threading.Semaphore(0)
        self._deadline = 0.0
        self._stopped = self._told = False
        self._results: list[Result] = []
        self._errands: list[Callable[[], None]] = []
        self._error: BaseException | None = None
        self.ended = False
        self.fraction = 0.0
        """How much is done, from 0 to 1, as `pause` was told."""

    def advance(self, seconds: float) -> bool:
        """Let it go on until it pauses after so many ``seconds`` or ends; whether it has ended."""
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
        while self._errands:
            self._errands.pop()()
            self._go.release()
            self._paused.acquire()
        return self.ended

    def stop(self) -> None:
        """Let `Stopped` be raised where it pauses, and wait until it has tidied up."""
        self._stopped = True
        if self._thread is not None:
            self.advance(math.inf)
        self.ended = True

    def result(self) -> Result:
        """What the call returned. Raises what it raised, `Stopped` where it was stopped."""
        if self._error is not None:
            raise self._error
        if not self._results:
            raise Stopped
        return self._results[0]

    def pause(self, fraction: float) -> None:
        """Called inside the work. Raises `Stopped`."""
        self.fraction = fraction
        if not self._stopped and time.monotonic() >= self._deadline:
            self._paused.release()
            self._go.acquire()
        if self._stopped and not self._told:  # what tidies up afterwards is not stopped
            self._told = True
            raise Stopped

    def errand(self, call: Callable[[], Result]) -> Result:
        """Called inside the work: what ``call`` gives or raises in the thread of whoever calls `advance`."""
        came_of_it: list[tuple[list[Result], BaseException | None]] = []
        self._errands.append(lambda: came_of_it.append(_caught(call)))
        self._paused.release()
        self._go.acquire()
        given, error = came_of_it[0]
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
    """What a call gives, or else what it raises; for the other thread, which raises it again."""
    try:
        return [call()], None
    except BaseException as error:  # noqa: BLE001 (nothing is swallowed)
        return [], error


def unfinished() -> bool:
    """Whether there is work that has begun and has not ended."""
    return bool(_unfinished)


def pausable() -> bool:
    """Whether the caller runs inside a `Work`."""
    return getattr(_here, "work", None) is not None


def pause(fraction: float) -> None:
    """A point where work may pause, with how much of it is done, from 0 to 1; nothing outside a `Work`.

    Raises `Stopped` if the user stopped it.
    """
    work: Work[object] | None = getattr(_here, "work", None)
    if work is not None:
        work.pause(fraction)


def at_home(call: Callable[[], Any]) -> Any:
    """What ``call`` gives, called in the thread of whoever advances the work; at once outside a `Work`.

    For what asks which thread it is in, as Blender's operators do.
    """
    work: Work[Any] | None = getattr(_here, "work", None)
    return call() if work is None else work.errand(call)
