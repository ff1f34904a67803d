"""The property string as fields of a panel: each is read from the string and written into it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...formats.descent3.oof.model import NUMBERS, Kind, Property, parse_property
from .part_kinds import PART_KINDS

if TYPE_CHECKING:
    from .model_properties import DescentPartProperties


_NUMBERS = {identifier: number for identifier, _, _, number in PART_KINDS}
_IDENTIFIERS = {number: identifier for identifier, _, _, number in PART_KINDS}
_DEFAULTS: dict[Kind, tuple[float, ...]] = {
    Kind.ROTATE: (2.0,),
    Kind.GLOW: (1.0, 1.0, 1.0, 1.0),
    Kind.THRUSTER: (1.0, 0.6, 0.2, 1.0),
    Kind.TURRET: (360.0, 2.0, 0.5),
    Kind.MONITOR: (1.0,),
}
_COUNTS = {Kind.MONITOR: 1} | {kind: len(names) for kind, names in NUMBERS.items()}


def get_kind(part: DescentPartProperties) -> int:
    """The number of the kind in `PART_KINDS`."""
    found = parse_property(part.text)
    if found is None:
        return _NUMBERS["OTHER" if part.text else "NONE"]
    return _NUMBERS[found.kind.name]


def set_kind(part: DescentPartProperties, number: int) -> None:
    """Write the shortest property string of another kind, with default numbers."""
    name = _IDENTIFIERS[number]
    if number == get_kind(part) or name == "OTHER":
        return
    kind = None if name == "NONE" else Kind[name]
    part.text = "" if kind is None else Property(kind, _DEFAULTS.get(kind, ())).text()


def _get(part: DescentPartProperties, kinds: Sequence[Kind], index: int) -> float:
    found = parse_property(part.text)
    if found is None or found.kind not in kinds or index >= len(found.numbers):
        return 0.0
    return found.numbers[index]


def _set(part: DescentPartProperties, kinds: Sequence[Kind], index: int, values: Sequence[float]) -> None:
    found = parse_property(part.text)
    if found is None or found.kind not in kinds:
        return
    # Values of a panel are 32-bit floats; formatting gives 0.35, not 0.3499999940395355.
    numbers = list(found.numbers) + list(_DEFAULTS[found.kind][len(found.numbers) :])
    numbers[index : index + len(values)] = values
    part.text = Property(found.kind, tuple(numbers[: _COUNTS[found.kind]])).text()


_LIGHTS = (Kind.GLOW, Kind.THRUSTER)


def get_seconds(part: DescentPartProperties) -> float:
    """Seconds per turn of a rotor or turret, 0 for others."""
    return _get(part, (Kind.TURRET,), 1) or _get(part, (Kind.ROTATE,), 0)


def set_seconds(part: DescentPartProperties, value: float) -> None:
    """Write them into the property string."""
    found = parse_property(part.text)
    index = 1 if found is not None and found.kind is Kind.TURRET else 0
    _set(part, (Kind.ROTATE, Kind.TURRET), index, [value])


def get_colour(part: DescentPartProperties) -> tuple[float, ...]:
    """Red, green and blue of a glow or thruster, 0 for others."""
    return tuple(_get(part, _LIGHTS, index) for index in range(3))


def set_colour(part: DescentPartProperties, value: Sequence[float]) -> None:
    """Write it into the property string."""
    _set(part, _LIGHTS, 0, list(value))


def get_size(part: DescentPartProperties) -> float:
    """Size of a glow or thruster, 0 for others."""
    return _get(part, _LIGHTS, 3)


def set_size(part: DescentPartProperties, value: float) -> None:
    """Write it into the property string."""
    _set(part, _LIGHTS, 3, [value])


def get_degrees(part: DescentPartProperties) -> float:
    """Degrees of a turret's field, 0 for others."""
    return _get(part, (Kind.TURRET,), 0)


def set_degrees(part: DescentPartProperties, value: float) -> None:
    """Write them into the property string."""
    _set(part, (Kind.TURRET,), 0, [value])


def get_reaction(part: DescentPartProperties) -> float:
    """Seconds before a turret reacts, 0 for others."""
    return _get(part, (Kind.TURRET,), 2)


def set_reaction(part: DescentPartProperties, value: float) -> None:
    """Write them into the property string."""
    _set(part, (Kind.TURRET,), 2, [value])


def get_monitor(part: DescentPartProperties) -> int:
    """The number of a cockpit's gauge, 0 for others."""
    return int(_get(part, (Kind.MONITOR,), 0))


def set_monitor(part: DescentPartProperties, value: int) -> None:
    """Write it into the property string."""
    _set(part, (Kind.MONITOR,), 0, [value])
