"""The property string of a sub-object: one command that makes it a rotor, a turret, a glow, a door, a cockpit gauge.

Known from the engine's ``newstyle.cpp``. The engine splits the string at its first ``=``, compares the command without
regard to case, some by their beginning only, and ignores what it does not know and strings of fewer than three
characters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """What a sub-object is, by the command that says so."""

    ROTATE = "$rotate="
    """Spins all the time: seconds a turn."""
    JITTER = "$jitter"
    SHELL = "$shell"
    """The housing of a door, which becomes the room."""
    FACING = "$facing"
    """One face that always looks at the camera."""
    FRONT_FACE = "$frontface"
    GLOW = "$glow="
    """Light at the pivot: red, green, blue, size."""
    THRUSTER = "$thruster="
    """The same behind an engine."""
    TURRET = "$fov="
    """Turned by the game: degrees it may turn through, seconds a turn, seconds to react."""
    MONITOR = "$monitor"
    """A gauge of a cockpit, 1 to 8."""
    VIEWER = "$viewer"
    LAYER = "$layer"
    CUSTOM = "$custom"


NUMBERS = {
    Kind.ROTATE: ("seconds a turn",),
    Kind.GLOW: ("red", "green", "blue", "size"),
    Kind.THRUSTER: ("red", "green", "blue", "size"),
    Kind.TURRET: ("degrees", "seconds a turn", "seconds to react"),
}
"""What the numbers behind a command mean, in their order."""
_BY_BEGINNING = (Kind.JITTER, Kind.SHELL, Kind.FACING, Kind.FRONT_FACE)
_EXACT = (Kind.VIEWER, Kind.LAYER, Kind.CUSTOM)
_LIMITS = {Kind.ROTATE: (20.0,), Kind.TURRET: (360.0, 60.0, 10.0)}
"""The greatest values the engine takes; the least is 0, which a rotor may not be."""
_NUMBER = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)")


@dataclass(frozen=True)
class Property:
    """A command with its ``numbers`` (`NUMBERS` names them; a monitor has its own number).

    ``problem`` says why the engine would not take it; empty where it does.
    """

    kind: Kind
    numbers: tuple[float, ...] = ()
    problem: str = ""

    @property
    def works(self) -> bool:
        """Whether the engine takes it."""
        return not self.problem

    def text(self) -> str:
        """The shortest property string that says this."""
        if self.kind is Kind.MONITOR:
            return f"{self.kind.value}{int(self.numbers[0]):02}"
        return str(self.kind.value) + ",".join(f"{number:g}" for number in self.numbers)


def parse(text: str) -> Property | None:
    """What a property string means to the engine; None where that is nothing."""
    if len(text) < 3:
        return None
    head, sign, data = text.partition("=")
    command = (head + sign).lower()
    for kind in NUMBERS:
        if command == kind.value:
            return _with_numbers(kind, data)
    if any(command == kind.value for kind in _EXACT):
        return Property(Kind(command))
    monitor = re.fullmatch(r"\$monitor0([1-8])", command)
    if monitor:
        return Property(Kind.MONITOR, (float(monitor[1]),))
    return next((Property(kind) for kind in _BY_BEGINNING if command.startswith(kind.value)), None)


def _with_numbers(kind: Kind, data: str) -> Property:
    wanted = NUMBERS[kind]
    numbers = _leading_numbers(data, len(wanted))
    if not data:
        return Property(kind, numbers, "nothing stands behind the =; the game would read on in its memory")
    if len(numbers) < len(wanted):
        return Property(kind, numbers, f"it needs {len(wanted)} numbers: {', '.join(wanted)}")
    for number, most, name in zip(numbers, _LIMITS.get(kind, ()), wanted, strict=False):
        if not 0 <= number <= most or (kind is Kind.ROTATE and number == 0):
            return Property(kind, numbers, f"{name} must be {'above' if kind is Kind.ROTATE else 'from'} 0 to {most:g}")
    return Property(kind, numbers)


def _leading_numbers(data: str, most: int) -> tuple[float, ...]:
    """Numbers with commas between, up to the first thing that is none."""
    numbers: list[float] = []
    at = 0
    while len(numbers) < most:
        found = _NUMBER.match(data, at)
        if found is None:
            break
        numbers.append(float(found[1]))
        at = found.end()
        comma = re.compile(r"\s*,").match(data, at)
        if comma is None:
            break
        at = comma.end()
    return tuple(numbers)
