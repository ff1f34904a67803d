"""Property strings of sub-objects: a command and its numbers, parsed as by the engine.

Known from the engine's ``polymodel.cpp``. `NUMBERS` declares the numbers of each command: panels edit them by their
``field``, `parse_property` checks them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from ....core.report import say


class Kind(Enum):
    """Role of a sub-object, given by the command in its property string."""

    ROTATE = "$rotate="
    """Rotates continuously."""
    JITTER = "$jitter"
    SHELL = "$shell"
    """The housing of a door, which becomes the room."""
    FACING = "$facing"
    """One face that always points at the camera."""
    FRONT_FACE = "$frontface"
    GLOW = "$glow="
    """Light at the pivot."""
    THRUSTER = "$thruster="
    """Light of an engine."""
    TURRET = "$fov="
    """Rotated by the game in a range."""
    MONITOR = "$monitor"
    """A gauge of a cockpit."""
    VIEWER = "$viewer"
    LAYER = "$layer"
    CUSTOM = "$custom"


@dataclass(frozen=True)
class Number:
    """A number after a command: its ``name`` in messages, and the ``field`` in which users edit it.

    Consecutive numbers of one field are its components. ``usual``: value of a new command; ``most``: largest value that
    the engine accepts. The smallest is 0; rotors need more than 0.
    """

    name: str
    field: str
    usual: float
    most: float = math.inf


def _light(*colour: float) -> tuple[Number, ...]:
    channels = zip(("red", "green", "blue"), colour, strict=True)
    return (*(Number(name, "colour", usual) for name, usual in channels), Number("size", "size", 1.0))


NUMBERS = {
    Kind.ROTATE: (Number("seconds a turn", "seconds", 2.0, 20.0),),
    Kind.GLOW: _light(1.0, 1.0, 1.0),
    Kind.THRUSTER: _light(1.0, 0.6, 0.2),
    Kind.TURRET: (
        Number("degrees", "degrees", 360.0, 360.0),
        Number("seconds a turn", "seconds", 2.0, 60.0),
        Number("seconds to react", "reaction", 0.5, 10.0),
    ),
    Kind.MONITOR: (Number("monitor", "monitor", 1.0, 8.0),),
}
ROTATING = (Kind.ROTATE, Kind.TURRET)
"""Sub-objects that the game rotates by itself."""
_BY_PREFIX = (Kind.JITTER, Kind.SHELL, Kind.FACING, Kind.FRONT_FACE)
_EXACT = (Kind.VIEWER, Kind.LAYER, Kind.CUSTOM)
_NUMBER = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(\s*,)?")


@dataclass(frozen=True)
class Property:
    """A command with its ``numbers``, as in `NUMBERS`. ``problem``: why the engine would ignore it, "" if it obeys."""

    kind: Kind
    numbers: tuple[float, ...] = ()
    problem: str = ""

    @staticmethod
    def usual(kind: Kind) -> Property:
        """Return a command with its usual numbers."""
        return Property(kind, tuple(number.usual for number in NUMBERS.get(kind, ())))

    @property
    def works(self) -> bool:
        """Whether the engine obeys the command."""
        return not self.problem

    @property
    def rotates(self) -> bool:
        """Whether the engine rotates the sub-object by itself."""
        return self.works and self.kind in ROTATING

    def text(self) -> str:
        """Return the shortest property string with this meaning."""
        if self.kind is Kind.MONITOR:
            return f"{self.kind.value}{int(self.numbers[0]):02}"
        # Panels have 32-bit floats: 0.35 is written for 0.3499999940395355.
        return str(self.kind.value) + ",".join(f"{number:g}" for number in self.numbers)


def parse_property(text: str) -> Property | None:
    """Parse a property string as the engine does. None if it has no effect.

    The engine splits the string at its first ``=``, compares the command without regard to case (some commands only by
    their beginning), and ignores unknown commands and strings of fewer than three characters.
    """
    if len(text) < 3:
        return None
    head, sign, data = text.partition("=")
    command = (head + sign).lower()
    for kind in NUMBERS:
        if command == kind.value and kind is not Kind.MONITOR:
            return _with_numbers(kind, data)
    if any(command == kind.value for kind in _EXACT):
        return Property(Kind(command))
    monitor = re.fullmatch(r"\$monitor0([1-8])", command)
    if monitor:
        return Property(Kind.MONITOR, (float(monitor[1]),))
    return next((Property(kind) for kind in _BY_PREFIX if command.startswith(kind.value)), None)


def _with_numbers(kind: Kind, data: str) -> Property:
    wanted = NUMBERS[kind]
    numbers = _leading_numbers(data, len(wanted))
    if not data:
        return Property(kind, numbers, "there is no value after =; the game would read other memory")
    if len(numbers) < len(wanted):
        names = ", ".join(number.name for number in wanted)
        return Property(kind, numbers, say("it needs {:# number|# numbers}: {}", len(wanted), names))
    for value, number in zip(numbers, wanted, strict=True):
        name, most = number.name, number.most
        if most < math.inf and (not 0 <= value <= most or (kind is Kind.ROTATE and value == 0)):
            words = "{} must be above 0 to {:g}" if kind is Kind.ROTATE else "{} must be from 0 to {:g}"
            return Property(kind, numbers, say(words, name, most))
    return Property(kind, numbers)


def _leading_numbers(data: str, most: int) -> tuple[float, ...]:
    """Return the comma-separated numbers at the start of ``data``, at most ``most``."""
    numbers: list[float] = []
    at = 0
    while len(numbers) < most and (match := _NUMBER.match(data, at)) is not None:
        numbers.append(float(match[1]))
        if match[2] is None:
            break
        at = match.end()
    return tuple(numbers)


def values_of(text: str, field: str) -> list[float]:
    """Return the values of a field in a property string, 0 for missing ones; empty if its command has no such field."""
    command = parse_property(text)
    numbers = NUMBERS.get(command.kind, ()) if command is not None else ()
    values = command.numbers if command is not None else ()
    padded = (*values, *(0.0 for _ in numbers[len(values) :]))
    return [value for value, number in zip(padded, numbers, strict=True) if number.field == field]


def with_values(text: str, field: str, values: Sequence[float]) -> str:
    """Return the property string with other values of a field; the same string if its command has no such field."""
    command = parse_property(text)
    if command is None or not values_of(text, field):
        return text
    old = (*command.numbers, *Property.usual(command.kind).numbers[len(command.numbers) :])
    given = iter(values)
    pairs = zip(old, NUMBERS[command.kind], strict=True)
    return Property(command.kind, tuple(next(given) if n.field == field else value for value, n in pairs)).text()


def fields_of(text: str) -> list[str]:
    """Return the fields of the command in a property string, in order."""
    command = parse_property(text)
    return list(dict.fromkeys(n.field for n in NUMBERS.get(command.kind, ()))) if command is not None else []
