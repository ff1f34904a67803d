"""What a model says of a bone's shape, joint and mass, as the properties of the bone, and back."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ....core import names
from ....core.binary import as_in_file
from ....formats.xray.ogf.chunk_types import IkBone, Joint, Shape
from .properties import AXES, JOINTS, SHAPE_FLAGS, SHAPES, UNKNOWN

if TYPE_CHECKING:
    from ....blender.typed import Bone
    from .properties import BoneProperties


BREAKABLE = 1

Value = Any
"""What a property holds: a text, a bool, an enum's identifier or identifiers, or float32 numbers (n,)."""


def _values(entry: IkBone) -> dict[str, Value]:
    """Property -> what the file says; ``limit_x.lowest`` is a property of a property."""
    shape, joint = entry.shape, entry.joint
    values: dict[str, Value] = {
        "material": names.decode(entry.material),
        "shape": _identifier(SHAPES, shape.type),
        "shape_flags": {item[0] for item in SHAPE_FLAGS if shape.flags & item[3]},
        "box_rotation": shape.box[:9],
        "box_centre": shape.box[9:12],
        "box_half_size": shape.box[12:],
        "sphere_centre": shape.sphere[:3],
        "sphere_radius": shape.sphere[3:],
        "cylinder_centre": shape.cylinder[:3],
        "cylinder_direction": shape.cylinder[3:6],
        "cylinder_height": shape.cylinder[6:7],
        "cylinder_radius": shape.cylinder[7:],
        "joint": _identifier(JOINTS, joint.type),
        "spring": _row(joint.spring),
        "damping": _row(joint.damping),
        "mass": _row(entry.mass),
        "centre_of_mass": entry.centre_of_mass,
    }
    for axis, row, negative in zip(AXES, joint.limits, -joint.limits, strict=True):
        limit = f"limit_{axis}."
        # The file has -max and -min of what the editor shows.
        values[limit + "lowest"], values[limit + "highest"] = negative[1:2], negative[0:1]
        values[limit + "spring"], values[limit + "damping"] = row[2:3], row[3:4]
    if joint.flags is not None and joint.breaking is not None:
        values["breakable"] = bool(joint.flags & BREAKABLE)
        values |= {"break_force": joint.breaking[:1], "break_torque": joint.breaking[1:]}
    if joint.friction is not None:
        values["friction"] = _row(joint.friction)
    return values


def _identifier(items: tuple[tuple[str, str, str, int], ...], number: int) -> str:
    return next((item[0] for item in items if item[3] == number), UNKNOWN[0])


def _row(value: Any) -> Any:
    return np.asarray([value], np.float32)


def build(bone: Bone, entry: IkBone) -> None:
    """Give a bone what the file says of it, besides its name and number."""
    properties = bone.motionbridge_xray
    properties.rest_rotation = entry.rotation.tolist()
    properties.rest_offset = entry.offset.tolist()
    build_physics(bone, entry, new=True)


def build_physics(bone: Bone, entry: IkBone, left_out: Collection[str] = (), *, new: bool = False) -> None:
    """Give a bone shape, joint and mass of ``entry``, besides the properties ``left_out``.

    Of a ``new`` bone all numbers are 0 already.
    """
    properties = bone.motionbridge_xray
    holders = {"": properties} | {f"limit_{axis}": getattr(properties, f"limit_{axis}") for axis in AXES}
    for path, value in _values(entry).items():
        if path in left_out:
            continue
        if isinstance(value, np.ndarray):
            numbers = value.tolist()
            if new and not any(numbers):
                continue
            value = numbers if len(numbers) > 1 else numbers[0]
        owner, _, name = path.rpartition(".")
        setattr(holders[owner], name, value)


def gather(bone: Bone, base: IkBone, left_out: Collection[str] = ()) -> tuple[IkBone, list[str]]:
    """The base with what was changed on the bone, itself where nothing was; and the properties that were.

    The rest pose is not among them: it is the armature's; nor are those ``left_out``.
    """
    old = _values(base)
    new = {path: _current(bone.motionbridge_xray, path, value) for path, value in old.items()}
    changed = [path for path in old if path not in left_out and not _same(old[path], new[path])]
    if not changed:
        return base, []
    return _entry(base, old | {path: new[path] for path in changed}), changed


def _current(properties: BoneProperties, path: str, like: Value) -> Value:
    owner, _, name = path.rpartition(".")
    value = getattr(getattr(properties, owner) if owner else properties, name)
    if not isinstance(like, np.ndarray):
        return set(value) if isinstance(like, set) else value
    return as_in_file(np.array(value, np.float32).reshape(-1), like)


def _same(first: Value, second: Value) -> bool:
    if isinstance(first, np.ndarray):
        return np.array_equal(first, second, equal_nan=True)
    return bool(first == second)


def _entry(base: IkBone, values: dict[str, Value]) -> IkBone:
    known = sum(item[3] for item in SHAPE_FLAGS)
    chosen = sum(item[3] for item in SHAPE_FLAGS if item[0] in values["shape_flags"])
    shape = Shape(
        _number(SHAPES, values["shape"], base.shape.type),
        (base.shape.flags & ~known) | chosen,
        np.concatenate([values["box_rotation"], values["box_centre"], values["box_half_size"]]),
        np.concatenate([values["sphere_centre"], values["sphere_radius"]]),
        np.concatenate([values[f"cylinder_{part}"] for part in ("centre", "direction", "height", "radius")]),
    )
    limits = np.array(
        [
            [
                -values[f"limit_{axis}.highest"][0],
                -values[f"limit_{axis}.lowest"][0],
                values[f"limit_{axis}.spring"][0],
                values[f"limit_{axis}.damping"][0],
            ]
            for axis in AXES
        ],
        np.float32,
    )
    joint = Joint(_number(JOINTS, values["joint"], base.joint.type), limits, values["spring"][0], values["damping"][0])
    if base.joint.flags is not None:
        joint.flags = (base.joint.flags & ~BREAKABLE) | (BREAKABLE if values["breakable"] else 0)
        joint.breaking = np.concatenate([values["break_force"], values["break_torque"]])
    if base.joint.friction is not None:
        joint.friction = values["friction"][0]
    material = base.material if names.decode(base.material) == values["material"] else names.encode(values["material"])
    return replace(
        base,
        material=material,
        shape=shape,
        joint=joint,
        mass=values["mass"][0],
        centre_of_mass=values["centre_of_mass"],
    )


def _number(items: tuple[tuple[str, str, str, int], ...], identifier: str, otherwise: int) -> int:
    return next((item[3] for item in items if item[0] == identifier), otherwise)
