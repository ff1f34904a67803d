"""Fields of a panel that are read from a sub-object's property string and written into it; previews of rotation.

What the game rotates by itself can be previewed: rotors rotate permanently, turrets to and fro in their range. The
preview consists of drivers on the rotation, which exports ignore. Their expressions are simple functions of the frame,
which Blender evaluates without permission to run scripts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...blender import scope
from ...blender.bone_curves import channel_path
from ...formats.descent3.oof.model import NUMBERS, Kind, Property, parse_property
from .kinds import PART_KINDS

if TYPE_CHECKING:
    from ...blender.typed import Context, Object
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
    """Return the number of the kind in `PART_KINDS`."""
    found = parse_property(part.text)
    if found is None:
        return _NUMBERS["OTHER" if part.text else "NONE"]
    return _NUMBERS[found.kind.name]


def set_kind(part: DescentPartProperties, number: int) -> None:
    """Write the shortest property string of another kind, with default numbers. OTHER changes nothing."""
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
    # The panel's values are 32-bit floats: `Property.text` writes 0.35 instead of 0.3499999940395355.
    numbers = list(found.numbers) + list(_DEFAULTS[found.kind][len(found.numbers) :])
    numbers[index : index + len(values)] = values
    part.text = Property(found.kind, tuple(numbers[: _COUNTS[found.kind]])).text()


_LIGHTS = (Kind.GLOW, Kind.THRUSTER)


def get_seconds(part: DescentPartProperties) -> float:
    """Return the seconds per rotation of a rotor or turret, 0 for other parts."""
    return _get(part, (Kind.TURRET,), 1) or _get(part, (Kind.ROTATE,), 0)


def set_seconds(part: DescentPartProperties, value: float) -> None:
    """Write the seconds per rotation into the property string."""
    found = parse_property(part.text)
    index = 1 if found is not None and found.kind is Kind.TURRET else 0
    _set(part, (Kind.ROTATE, Kind.TURRET), index, [value])


def get_colour(part: DescentPartProperties) -> tuple[float, ...]:
    """Return red, green and blue of a glow or thruster, 0 for other parts."""
    return tuple(_get(part, _LIGHTS, index) for index in range(3))


def set_colour(part: DescentPartProperties, value: Sequence[float]) -> None:
    """Write the colour into the property string."""
    _set(part, _LIGHTS, 0, list(value))


def get_size(part: DescentPartProperties) -> float:
    """Return the size of a glow or thruster, 0 for other parts."""
    return _get(part, _LIGHTS, 3)


def set_size(part: DescentPartProperties, value: float) -> None:
    """Write the size into the property string."""
    _set(part, _LIGHTS, 3, [value])


def get_degrees(part: DescentPartProperties) -> float:
    """Return the rotation range of a turret in degrees, 0 for other parts."""
    return _get(part, (Kind.TURRET,), 0)


def set_degrees(part: DescentPartProperties, value: float) -> None:
    """Write the rotation range into the property string."""
    _set(part, (Kind.TURRET,), 0, [value])


def get_reaction(part: DescentPartProperties) -> float:
    """Return the seconds before a turret reacts, 0 for other parts."""
    return _get(part, (Kind.TURRET,), 2)


def set_reaction(part: DescentPartProperties, value: float) -> None:
    """Write the reaction time into the property string."""
    _set(part, (Kind.TURRET,), 2, [value])


def get_monitor(part: DescentPartProperties) -> int:
    """Return the number of a cockpit gauge, 0 for other parts."""
    return int(_get(part, (Kind.MONITOR,), 0))


def set_monitor(part: DescentPartProperties, value: int) -> None:
    """Write the number of the gauge into the property string."""
    _set(part, (Kind.MONITOR,), 0, [value])


# Rotors and turrets ---------------------------------------------------------------------------------------------------

_CHANNEL = "rotation_quaternion"
_IDENTITY = (1.0, 0.0, 0.0, 0.0)


def rotates_itself(part: Object) -> Property | None:
    """Return the property of a part that the game rotates by itself (a rotor or turret), None for other parts."""
    found = parse_property(part.motionbridge_descent_part.text)
    return found if found is not None and found.works and found.kind in (Kind.ROTATE, Kind.TURRET) else None


def show(context: Context, holder: Object) -> int:
    """Add or remove the drivers of rotors and turrets by the model's properties; returns the number of driven parts."""
    model = holder.motionbridge_descent_model
    wanted = {Kind.ROTATE: model.shows_rotors, Kind.TURRET: model.shows_turrets}
    rate = scope.frames_per_second(context.scene)
    driven = 0
    for part in holder.children_recursive:
        if not part.motionbridge_descent_part.is_part:
            continue
        found = rotates_itself(part)
        if _is_driven(part):
            _stop(part)
        if found is not None and wanted[found.kind]:
            _drive(part, found, rate)
            driven += 1
    return driven


def _rotated(part: Object) -> tuple[Any, Any, str]:
    """Return the object that has the drivers of a part, the object or pose bone that they rotate, and the data path."""
    if part.parent_type == "BONE" and part.parent is not None and part.parent.type == "ARMATURE":
        bone = part.parent.pose.bones.get(part.parent_bone)
        if bone is not None:
            return part.parent, bone, channel_path(bone.name, _CHANNEL)
    return part, part, _CHANNEL


def _is_driven(part: Object) -> bool:
    owner, _, path = _rotated(part)
    data = owner.animation_data
    return data is not None and any(curve.data_path == path for curve in data.drivers)


def _stop(part: Object) -> None:
    owner, rotated, path = _rotated(part)
    owner.driver_remove(path)
    rotated.rotation_quaternion = _IDENTITY


def _drive(part: Object, found: Property, rate: float) -> None:
    owner, rotated, path = _rotated(part)
    rotated.rotation_mode = "QUATERNION"
    axis = np.array(part.motionbridge_descent_part.spin_axis, np.float64)
    length = float(np.linalg.norm(axis))
    axis = axis / length if length else axis
    half = _half_angle(found, rate)
    parts = [f"cos({half})", *(f"{along:.9g} * sin({half})" for along in axis.tolist())]
    for index, expression in enumerate(parts):
        driver = owner.driver_add(path, index).driver
        driver.type, driver.expression = "SCRIPTED", expression


def _half_angle(found: Property, rate: float) -> str:
    """Return the driver expression for half of the angle, in radians."""
    if found.kind is Kind.ROTATE:
        return f"frame * {math.pi / (found.numbers[0] * rate):.12g}"
    degrees, seconds, _ = found.numbers
    half = math.radians(degrees) / 4
    # One cycle goes to one end of the range, to the other and back: twice the range. 360° take `seconds`.
    cycle = max(seconds * 2 * degrees / 360, 1 / rate) * rate
    return f"{half:.9g} * sin(frame * {2 * math.pi / cycle:.12g})"
