"""A look at what the game turns by itself: rotors all the time, turrets to and fro within their field.

Drivers on the rotation, which an export takes no notice of. They are plain sums of the frame, which Blender works out
without running scripts.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...blender.action import frames_per_second
from ...blender.bone_curves import channel_path
from ...formats.descent3.oof.model import Kind, Property
from . import property_values

_CHANNEL = "rotation_quaternion"
_NO_TURN = (1.0, 0.0, 0.0, 0.0)


def turns_itself(shown: Any) -> Property | None:
    """What the property string of a part says, where that makes it a rotor or turret; else None."""
    found = property_values.said(shown.motionbridge_descent_part.text)
    return found if found is not None and found.works and found.kind in (Kind.ROTATE, Kind.TURRET) else None


def show(context: Any, holder: Any) -> int:
    """Let the rotors and turrets of a model turn, or stand, as its properties say; how many turn."""
    model = holder.motionbridge_descent_model
    wanted = {Kind.ROTATE: model.shows_rotors, Kind.TURRET: model.shows_turrets}
    rate = frames_per_second(context.scene)
    turning = 0
    for shown in holder.children_recursive:
        if not shown.motionbridge_descent_part.is_part:
            continue
        found = turns_itself(shown)
        driven = _is_driven(shown)
        if driven:
            _stop(shown)
        if found is not None and wanted[found.kind]:
            _drive(shown, found, rate)
            turning += 1
    return turning


def _turned(shown: Any) -> tuple[Any, Any, str]:
    """The object whose drivers turn a part, what is turned, and the path to its rotation."""
    if shown.parent_type == "BONE" and shown.parent is not None and shown.parent.type == "ARMATURE":
        bone = shown.parent.pose.bones.get(shown.parent_bone)
        if bone is not None:
            return shown.parent, bone, channel_path(bone.name, _CHANNEL)
    return shown, shown, _CHANNEL


def _is_driven(shown: Any) -> bool:
    owner, _, path = _turned(shown)
    data = owner.animation_data
    return data is not None and any(curve.data_path == path for curve in data.drivers)


def _stop(shown: Any) -> None:
    owner, turned, path = _turned(shown)
    owner.driver_remove(path)
    turned.rotation_quaternion = _NO_TURN


def _drive(shown: Any, found: Property, rate: float) -> None:
    owner, turned, path = _turned(shown)
    turned.rotation_mode = "QUATERNION"
    axis = np.array(shown.motionbridge_descent_part.spin_axis, np.float64)
    length = float(np.linalg.norm(axis))
    axis = axis / length if length else axis
    half = _half_angle(found, rate)
    parts = [f"cos({half})", *(f"{along:.9g} * sin({half})" for along in axis.tolist())]
    for index, expression in enumerate(parts):
        driver = owner.driver_add(path, index).driver
        driver.type, driver.expression = "SCRIPTED", expression


def _half_angle(found: Property, rate: float) -> str:
    """Half of the angle, in radians, by the frame."""
    if found.kind is Kind.ROTATE:
        return f"frame * {math.pi / (found.numbers[0] * rate):.12g}"
    degrees, seconds, _ = found.numbers
    half = math.radians(degrees) / 4
    # To one end of the field, to the other and back: twice the field, at the speed of a turn in so many seconds.
    cycle = max(seconds * 2 * degrees / 360, 1 / rate) * rate
    return f"{half:.9g} * sin(frame * {2 * math.pi / cycle:.12g})"
