"""Rotors and turrets, which the game rotates by itself, and the preview of their rotation.

Rotors rotate permanently, turrets to and fro in their range. The preview consists of drivers on the rotation, which
exports ignore. Their expressions are simple functions of the frame, which Blender evaluates without permission to run
scripts.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...blender import scope
from ...blender.bone_curves import channel_path
from ...formats.descent3.oof.commands import Kind, Property, parse_property

if TYPE_CHECKING:
    from ...blender.typed import Context, Object

_CHANNEL = "rotation_quaternion"
_IDENTITY = (1.0, 0.0, 0.0, 0.0)


def rotates_itself(part: Object) -> Property | None:
    """Return the property of a part that the game rotates by itself (a rotor or turret), None for other parts."""
    prop = parse_property(part.motionbridge_descent_part.text)
    return prop if prop is not None and prop.rotates else None


def show(context: Context, holder: Object) -> None:
    """Add or remove the drivers of rotors and turrets by the model's properties."""
    model = holder.motionbridge_descent_model
    wanted = {Kind.ROTATE: model.shows_rotors, Kind.TURRET: model.shows_turrets}
    rate = scope.frames_per_second(context.scene)
    for part in holder.children_recursive:
        if not part.motionbridge_descent_part.is_part:
            continue
        prop = rotates_itself(part)
        if _is_driven(part):
            _stop(part)
        if prop is not None and wanted[prop.kind]:
            _drive(part, prop, rate)


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


def _drive(part: Object, prop: Property, rate: float) -> None:
    owner, rotated, path = _rotated(part)
    rotated.rotation_mode = "QUATERNION"
    axis = np.array(part.motionbridge_descent_part.spin_axis, np.float64)
    length = float(np.linalg.norm(axis))
    axis = axis / length if length else axis
    half = _half_angle(prop, rate)
    parts = [f"cos({half})", *(f"{along:.9g} * sin({half})" for along in axis.tolist())]
    for index, expression in enumerate(parts):
        driver = owner.driver_add(path, index).driver
        driver.type, driver.expression = "SCRIPTED", expression


def _half_angle(prop: Property, rate: float) -> str:
    """Return the driver expression for half of the angle, in radians."""
    if prop.kind is Kind.ROTATE:
        return f"frame * {math.pi / (prop.numbers[0] * rate):.12g}"
    degrees, seconds, _ = prop.numbers
    half = math.radians(degrees) / 4
    # One cycle goes to one end of the range, to the other and back: twice the range. 360° take `seconds`.
    cycle = max(seconds * 2 * degrees / 360, 1 / rate) * rate
    return f"{half:.9g} * sin(frame * {2 * math.pi / cycle:.12g})"
