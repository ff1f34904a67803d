"""Values of bones that models and files of the editor have alike: shape, joint, mass, as numbers with names."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....core.report import Message, say
from .chunk_types import IkBone


def editor_limits(limits: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the limits (3, 4) of a joint of a model as the editor has them, and back: -highest and -lowest first."""
    result = limits.copy()
    result[:, 0], result[:, 1] = -limits[:, 1], -limits[:, 0]
    return result


_LENGTHS = {
    "box_rotation": 9, "box_centre": 3, "box_half_size": 3, "sphere_centre": 3, "sphere_radius": 1,
    "cylinder_centre": 3, "cylinder_direction": 3, "cylinder_height": 1, "cylinder_radius": 1,
    **{f"limit_{axis}.{part}": 1 for axis in "xyz" for part in ("lowest", "highest", "spring", "damping")},
    "spring": 1, "damping": 1, "mass": 1, "centre_of_mass": 3, "break_force": 1, "break_torque": 1, "friction": 1,
}  # fmt: skip
"""How many numbers each property has, in the order of `numbers_of`; ``limit_x.lowest`` is one of a nested group."""
_ENDS = np.cumsum(list(_LENGTHS.values())).tolist()
NUMBERS = [(path, end - width, end) for (path, width), end in zip(_LENGTHS.items(), _ENDS, strict=True)]


def numbers_of(entry: IkBone) -> NDArray[np.float32]:
    """Return all numbers of an entry, concatenated, the limits as in the editor. Old layouts lack the last ones."""
    shape, joint = entry.shape, entry.joint
    limits = editor_limits(joint.limits)  # as minimum and maximum change places
    single = np.array([joint.spring, joint.damping, entry.mass], np.float32)
    parts = [shape.box, shape.sphere, shape.cylinder, limits.ravel(), single, entry.centre_of_mass]
    if joint.breaking is not None:
        parts.append(joint.breaking)
    if joint.friction is not None:
        parts.append(np.array([joint.friction], np.float32))
    return np.concatenate(parts)


def changed_values(before: IkBone, after: IkBone) -> list[Message]:
    """Return the names of the values that differ, except those of the rest pose."""
    mine, other = numbers_of(before), numbers_of(after)
    changed = [name for name, start, end in NUMBERS if mine[start:end].tobytes() != other[start:end].tobytes()]
    fields = {
        "material": (before.material, after.material),
        "shape": (before.shape.type, after.shape.type),
        "shape_flags": (before.shape.flags, after.shape.flags),
        "joint": (before.joint.type, after.joint.type),
        "breakable": (before.joint.flags, after.joint.flags),
    }
    return [say(name) for name in (*(name for name, (first, second) in fields.items() if first != second), *changed)]
