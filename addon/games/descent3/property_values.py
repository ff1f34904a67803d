"""The property string of a sub-object as fields of a panel: each is read out of the string, and setting one writes it.

A string that nobody touches stays as it is, also where it says nothing the game would understand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...formats.descent3.oof.model import NUMBERS, Kind, Property, parse_property

KINDS = (
    ("NONE", "Plain", "An ordinary sub-object", 0),
    ("ROTATE", "Rotor ($rotate)", "Rotates permanently around the axis of its keys", 1),
    ("JITTER", "Jitter ($jitter)", "The vertices tremble", 2),
    ("SHELL", "Door Housing ($shell)", "The room around a door; not drawn, has no children", 3),
    ("FACING", "Billboard ($facing)", "One textured face that always looks at the camera", 4),
    ("FRONT_FACE", "Door Front ($frontface)", "One face that closes a door; not drawn, has no children", 5),
    ("GLOW", "Glow ($glow)", "Light at the pivot; its one face gives the direction and is not drawn", 6),
    ("THRUSTER", "Thruster ($thruster)", "Glow of an engine; its one face gives the direction and is not drawn", 7),
    ("TURRET", "Turret ($fov)", "Rotated by the game around the axis of its keys", 8),
    ("MONITOR", "Cockpit Monitor ($monitor)", "A cockpit gauge", 9),
    ("VIEWER", "Cockpit Eye ($viewer)", "Position of the eye in a cockpit", 10),
    ("LAYER", "Cockpit Layer ($layer)", "Drawn after the gauges of a cockpit", 11),
    ("CUSTOM", "Team Logo ($custom)", "Drawn only with the texture of a team or player", 12),
    ("OTHER", "Other", "A property string unknown to the game", 13),
)
_NUMBERS = {identifier: number for identifier, _, _, number in KINDS}
_IDENTIFIERS = {number: identifier for identifier, _, _, number in KINDS}
_DEFAULTS: dict[Kind, tuple[float, ...]] = {
    Kind.ROTATE: (2.0,),
    Kind.GLOW: (1.0, 1.0, 1.0, 1.0),
    Kind.THRUSTER: (1.0, 0.6, 0.2, 1.0),
    Kind.TURRET: (360.0, 2.0, 0.5),
    Kind.MONITOR: (1.0,),
}
_COUNTS = {Kind.MONITOR: 1} | {kind: len(names) for kind, names in NUMBERS.items()}


def said(text: str) -> Property | None:
    """What a property string means to the game."""
    return parse_property(text)


def get_kind(part: Any) -> int:
    """The number of the kind in `KINDS`."""
    found = said(part.text)
    if found is None:
        return _NUMBERS["OTHER" if part.text else "NONE"]
    return _NUMBERS[found.kind.name]


def set_kind(part: Any, number: int) -> None:
    """Write the shortest string of another kind; the numbers are defaults to begin with."""
    name = _IDENTIFIERS[number]
    if number == get_kind(part) or name == "OTHER":
        return
    kind = None if name == "NONE" else Kind[name]
    part.text = "" if kind is None else Property(kind, _DEFAULTS.get(kind, ())).text()


def _get(part: Any, kinds: Sequence[Kind], place: int) -> float:
    found = said(part.text)
    if found is None or found.kind not in kinds or place >= len(found.numbers):
        return 0.0
    return found.numbers[place]


def _set(part: Any, kinds: Sequence[Kind], place: int, values: Sequence[float]) -> None:
    found = said(part.text)
    if found is None or found.kind not in kinds:
        return
    # Values of a panel are 32-bit floats: 0.35 is meant, not 0.3499999940395355.
    numbers = list(found.numbers) + list(_DEFAULTS[found.kind][len(found.numbers) :])
    numbers[place : place + len(values)] = values
    part.text = Property(found.kind, tuple(numbers[: _COUNTS[found.kind]])).text()


_LIGHTS = (Kind.GLOW, Kind.THRUSTER)


def get_seconds(part: Any) -> float:
    """Seconds a turn, of a rotor or turret."""
    return _get(part, (Kind.TURRET,), 1) or _get(part, (Kind.ROTATE,), 0)


def set_seconds(part: Any, value: float) -> None:
    """Set them."""
    found = said(part.text)
    place = 1 if found is not None and found.kind is Kind.TURRET else 0
    _set(part, (Kind.ROTATE, Kind.TURRET), place, [value])


def get_colour(part: Any) -> tuple[float, ...]:
    """Red, green, blue of a glow or thruster."""
    return tuple(_get(part, _LIGHTS, place) for place in range(3))


def set_colour(part: Any, value: Sequence[float]) -> None:
    """Set it."""
    _set(part, _LIGHTS, 0, list(value))


def get_size(part: Any) -> float:
    """Size of a glow or thruster."""
    return _get(part, _LIGHTS, 3)


def set_size(part: Any, value: float) -> None:
    """Set it."""
    _set(part, _LIGHTS, 3, [value])


def get_degrees(part: Any) -> float:
    """Degrees a turret may turn through."""
    return _get(part, (Kind.TURRET,), 0)


def set_degrees(part: Any, value: float) -> None:
    """Set them."""
    _set(part, (Kind.TURRET,), 0, [value])


def get_reaction(part: Any) -> float:
    """Seconds before a turret reacts."""
    return _get(part, (Kind.TURRET,), 2)


def set_reaction(part: Any, value: float) -> None:
    """Set them."""
    _set(part, (Kind.TURRET,), 2, [value])


def get_monitor(part: Any) -> int:
    """The number of a cockpit's gauge."""
    return int(_get(part, (Kind.MONITOR,), 0))


def set_monitor(part: Any, value: int) -> None:
    """Set it."""
    _set(part, (Kind.MONITOR,), 0, [value])
