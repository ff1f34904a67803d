"""What X-Ray adds to bones: number, rest pose as stored, collision shape, joint and mass.

All numbers are the game's own, in the bone's axes as the game has them (z is mirrored against Blender's bone). Joint
limits are shown as the game's editor shows them, with the sign opposite to the file's.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import bpy
import numpy as np
from bpy.props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from ...blender.property_groups import AddedProperties
from ...core import names
from ...core.finite import as_in_file
from ...formats.xray.ogf.chunk_types import IkBone, Joint, Shape

SHAPES = (
    ("NONE", "None", "The bone has no collision", 0),
    ("BOX", "Box", "The collision shape is the box", 1),
    ("SPHERE", "Sphere", "The collision shape is the sphere", 2),
    ("CYLINDER", "Cylinder", "The collision shape is the cylinder", 3),
)
SHAPE_FLAGS = (
    ("NO_PICKING", "No Picking", "Rays pass through", 1),
    ("REMOVE_AFTER_BREAK", "Remove after Break", "The shape is removed when the joint breaks", 2),
    ("NO_PHYSICS", "No Physics", "Not simulated", 4),
    ("NO_FOG", "No Fog Collider", "Volumetric fog passes through", 8),
)
JOINTS = (
    ("RIGID", "Rigid", "Does not move relative to its parent", 0),
    ("CLOTH", "Cloth", "Bends freely", 1),
    ("JOINT", "Joint", "Rotates within the limits", 2),
    ("WHEEL", "Wheel", "Rolls like a wheel; the x limits are the steering angles", 3),
    ("NONE", "None", "Not connected to a parent", 4),
    ("SLIDER", "Slider", "Slides along its axis", 5),
)
UNKNOWN = ("UNKNOWN", "Unknown", "A flag of unknown meaning, kept unchanged", 255)
BREAKABLE = 1
AXES = "xyz"


class JointLimit(bpy.types.PropertyGroup):
    """How far a joint turns about one axis."""

    lowest: FloatProperty(name="Min", description="Lowest angle", subtype="ANGLE")
    highest: FloatProperty(name="Max", description="Highest angle", subtype="ANGLE")
    spring: FloatProperty(name="Spring", description="Stiffness of the limit")
    damping: FloatProperty(name="Damping", description="Damping of the limit")


class BoneProperties(bpy.types.PropertyGroup):
    """A bone as the game knows it."""

    is_bone: BoolProperty(name="Game Bone", description="The bone was imported from a game model")
    index: IntProperty(
        name="Index", description="Index of the bone in the model, used by vertices and motions", default=-1
    )
    game_name: StringProperty(name="Name", description="The bone's name in the game")
    imported_name: StringProperty(options={"HIDDEN"})
    rest_rotation: FloatVectorProperty(
        name="Rest Rotation", description="Rest rotation as stored, about the game's x, y and z", subtype="EULER"
    )
    rest_offset: FloatVectorProperty(name="Rest Offset", description="Rest position as stored, in the parent's axes")
    imported_rest: FloatVectorProperty(size=16, options={"HIDDEN"})

    material: StringProperty(
        name="Game Material", description="Game material of the bone, for sounds, wallmarks and hits"
    )
    shape: EnumProperty(name="Shape", description="Collision shape of the bone", items=(*SHAPES, UNKNOWN))
    shape_flags: EnumProperty(
        name="Shape Flags", description="What ignores the shape", items=SHAPE_FLAGS, options={"ENUM_FLAG"}
    )
    box_rotation: FloatVectorProperty(name="Box Rotation", description="Axes of the box, row by row", size=9)
    box_centre: FloatVectorProperty(name="Box Centre", description="Centre of the box, in the bone's axes")
    box_half_size: FloatVectorProperty(name="Box Half Size", description="Distance from the centre to the sides")
    sphere_centre: FloatVectorProperty(name="Sphere Centre", description="Centre of the sphere, in the bone's axes")
    sphere_radius: FloatProperty(name="Sphere Radius", description="Radius of the sphere")
    cylinder_centre: FloatVectorProperty(
        name="Cylinder Centre", description="Centre of the cylinder, in the bone's axes"
    )
    cylinder_direction: FloatVectorProperty(name="Cylinder Direction", description="Axis of the cylinder")
    cylinder_height: FloatProperty(name="Cylinder Height", description="Length of the cylinder")
    cylinder_radius: FloatProperty(name="Cylinder Radius", description="Radius of the cylinder")

    joint: EnumProperty(name="Joint", description="How the bone is connected to its parent", items=(*JOINTS, UNKNOWN))
    limit_x: PointerProperty(type=JointLimit)
    limit_y: PointerProperty(type=JointLimit)
    limit_z: PointerProperty(type=JointLimit)
    spring: FloatProperty(name="Spring", description="Stiffness of the joint")
    damping: FloatProperty(name="Damping", description="Damping of the joint")
    breakable: BoolProperty(name="Breakable", description="The joint can break")
    break_force: FloatProperty(name="Break Force", description="Force that breaks the joint")
    break_torque: FloatProperty(name="Break Torque", description="Torque that breaks the joint")
    friction: FloatProperty(name="Friction", description="Friction of the joint")
    mass: FloatProperty(name="Mass", description="Mass of the bone in kilograms")
    centre_of_mass: FloatVectorProperty(name="Centre of Mass", description="Centre of mass, in the bone's axes")


ADDED = AddedProperties(
    (JointLimit, BoneProperties), {(bpy.types.Bone, "motionbridge_xray"): PointerProperty(type=BoneProperties)}
)


def known(bone: Any) -> Any:
    """The game's properties of a bone that came from a model, None for others.

    A bone that the user duplicated carries the properties of the first, but is not it.
    """
    properties = bone.motionbridge_xray
    if not properties.is_bone:
        return None
    original = properties.imported_name
    return properties if bone.name == original or original not in bone.id_data.bones else None


def game_name(bone: Any) -> str:
    """The game's name of a bone, which a rename in Blender leaves alone; Blender's for a bone of other origin."""
    properties = known(bone)
    return str(properties.game_name if properties is not None and properties.game_name else bone.name)


def in_order(rig: Any) -> list[Any]:
    """The bones in the model's order, others behind them in Blender's."""
    bones = [(known(bone), place, bone) for place, bone in enumerate(rig.data.bones)]
    last = len(bones)
    ordered = sorted(bones, key=lambda row: (row[0].index if row[0] is not None else last, row[1]))
    return [bone for _, _, bone in ordered]


def bones_in_order(rig: Any) -> list[str]:
    """The game's names of all bones in the model's order."""
    return [game_name(bone) for bone in in_order(rig)]


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
    for axis, (lowest, highest, spring, damping) in zip(AXES, joint.limits, strict=True):
        limit = f"limit_{axis}."
        # The file has -max and -min of what the editor shows.
        values |= {limit + "lowest": _row(-highest), limit + "highest": _row(-lowest)}
        values |= {limit + "spring": _row(spring), limit + "damping": _row(damping)}
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


def build(bone: Any, entry: IkBone) -> None:
    """Give a bone what the file says of it, besides its name and number."""
    properties = bone.motionbridge_xray
    properties.rest_rotation = entry.rotation.tolist()
    properties.rest_offset = entry.offset.tolist()
    build_physics(bone, entry)


def build_physics(bone: Any, entry: IkBone, left_out: Collection[str] = ()) -> None:
    """Give a bone shape, joint and mass of ``entry``, besides the properties ``left_out``."""
    properties = bone.motionbridge_xray
    for path, value in _values(entry).items():
        if path in left_out:
            continue
        owner, _, name = path.rpartition(".")
        holder = getattr(properties, owner) if owner else properties
        if isinstance(value, np.ndarray):
            value = value.tolist() if len(value) > 1 else float(value[0])
        setattr(holder, name, value)


def gather(bone: Any, base: IkBone, left_out: Collection[str] = ()) -> tuple[IkBone, list[str]]:
    """The base with what was changed on the bone, itself where nothing was; and the properties that were.

    The rest pose is not among them: it is the armature's; nor are those ``left_out``.
    """
    old = _values(base)
    new = {path: _current(bone.motionbridge_xray, path, value) for path, value in old.items()}
    changed = [path for path in old if path not in left_out and not _same(old[path], new[path])]
    if not changed:
        return base, []
    return _entry(base, old | {path: new[path] for path in changed}), changed


def _current(properties: Any, path: str, like: Value) -> Value:
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
