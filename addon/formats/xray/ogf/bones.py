"""The chunks of a skeleton: bone names with their boxes, and what physics and inverse kinematics know of each bone.

Known from the engine's ``Bone.hpp`` and ``SkeletonCustom.cpp`` and the editor's ``bone.cpp``. Joint limits are stored
for the physics engine: min(-a, -b) and max(-a, -b) of what the editor shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from ....core import names
from ....core.binary import Reader, Writer

MOST_BONES = 64
"""The engine counts bones in a mask of 64 bits."""

_SMALLEST_NAME = 1 + 1 + 60
_SMALLEST_IK = 1 + 112 + 60 + 24 + 16


@dataclass(slots=True, eq=False)
class BoneName:
    """A bone's name, its parent's ("" for the root), and its oriented box in the bone's own space.

    ``rotation`` (3, 3) rows, ``centre`` (3,), ``half_size`` (3,), all float32.
    """

    name: bytes
    parent: bytes
    rotation: NDArray[np.float32]
    centre: NDArray[np.float32]
    half_size: NDArray[np.float32]

    @property
    def label(self) -> str:
        """The name as text."""
        return names.decode(self.name)


@dataclass(slots=True, eq=False)
class BoneNames:
    """The bones in the order that everything else counts by."""

    bones: list[BoneName]

    @classmethod
    def read(cls, reader: Reader) -> BoneNames:
        count = reader.u32("the number of bones")
        if count * _SMALLEST_NAME > reader.remaining:
            raise reader.error(f"{count} bones are announced, {reader.remaining} bytes are left")
        return cls([cls._read_bone(reader) for _ in range(count)])

    @staticmethod
    def _read_bone(reader: Reader) -> BoneName:
        return BoneName(
            reader.string("a bone's name"),
            reader.string("the name of a bone's parent"),
            reader.array("<f4", 3, 3, what="a bone's box"),
            reader.array("<f4", 3, what="a bone's box"),
            reader.array("<f4", 3, what="a bone's box"),
        )

    def write(self, writer: Writer) -> None:
        writer.u32(len(self.bones))
        for bone in self.bones:
            writer.string(bone.name)
            writer.string(bone.parent)
            for numbers in (bone.rotation, bone.centre, bone.half_size):
                writer.array(numbers, "<f4")


@dataclass(slots=True, eq=False)
class Shape:
    """What a bone collides as. All three shapes are stored; ``type``: 0 none counts, 1 box, 2 sphere, 3 cylinder.

    ``flags``: 1 no picking, 2 remove after a break, 4 no physics, 8 no fog collider. ``box`` (15,) rotation rows,
    centre, half size; ``sphere`` (4,) centre, radius; ``cylinder`` (8,) centre, direction, height, radius.
    """

    type: int
    flags: int
    box: NDArray[np.float32]
    sphere: NDArray[np.float32]
    cylinder: NDArray[np.float32]

    @classmethod
    def read(cls, reader: Reader) -> Shape:
        return cls(
            reader.u16("a shape's type"),
            reader.u16("a shape's flags"),
            reader.array("<f4", 15, what="a box shape"),
            reader.array("<f4", 4, what="a sphere shape"),
            reader.array("<f4", 8, what="a cylinder shape"),
        )

    def write(self, writer: Writer) -> None:
        writer.u16(self.type)
        writer.u16(self.flags)
        for numbers in (self.box, self.sphere, self.cylinder):
            writer.array(numbers, "<f4")


@dataclass(slots=True, eq=False)
class Joint:
    """How a bone hangs on its parent. ``type``: 0 rigid, 1 cloth, 2 joint, 3 wheel, 4 none, 5 slider.

    ``limits`` (3, 4) float32, a row for x, y, z: lowest, highest (radians), spring, damping. ``flags`` (1 breakable)
    and ``breaking`` (2,) force and torque are None, like ``friction``, where the layout is too old to have them.
    """

    type: int
    limits: NDArray[np.float32]
    spring: np.float32
    damping: np.float32
    flags: int | None = None
    breaking: NDArray[np.float32] | None = None
    friction: np.float32 | None = None

    @classmethod
    def read(cls, reader: Reader, *, breakable: bool, friction: bool) -> Joint:
        joint = cls(
            reader.u32("a joint's type"),
            reader.array("<f4", 3, 4, what="a joint's limits"),
            reader.f32("a joint's spring"),
            reader.f32("a joint's damping"),
        )
        if breakable:
            joint.flags = reader.u32("a joint's flags")
            joint.breaking = reader.array("<f4", 2, what="what breaks a joint")
        if friction:
            joint.friction = reader.f32("a joint's friction")
        return joint

    def write(self, writer: Writer) -> None:
        writer.u32(self.type)
        writer.array(self.limits, "<f4")
        writer.f32(self.spring)
        writer.f32(self.damping)
        if self.flags is not None and self.breaking is not None:
            writer.u32(self.flags)
            writer.array(self.breaking, "<f4")
        if self.friction is not None:
            writer.f32(self.friction)


@dataclass(slots=True, eq=False)
class IkBone:
    """A bone's physics and its rest pose.

    ``rotation`` (3,) float32 radians about x, y, z (``setXYZi``) and ``offset`` (3,) metres, in the parent's space, or
    in the model's (`IkLayout.ABSOLUTE`). ``version`` is None where the layout has none; friction comes with version 1.
    """

    material: bytes
    shape: Shape
    joint: Joint
    rotation: NDArray[np.float32]
    offset: NDArray[np.float32]
    mass: np.float32
    centre_of_mass: NDArray[np.float32]
    version: int | None = None


class IkLayout(IntEnum):
    """The three layouts, by version 3's chunk ids; version 4 (chunk 16) has the newest."""

    ABSOLUTE = 0x17
    EARLY = 0x19
    VERSIONED = 0x1C


@dataclass(slots=True, eq=False)
class IkData:
    """One entry a bone, in the order of `BoneNames`."""

    bones: list[IkBone]
    layout: IkLayout = IkLayout.VERSIONED

    @classmethod
    def read(cls, reader: Reader, count: int | None, layout: IkLayout) -> IkData:
        """``count`` bones, or as many as there are bytes for where it is None."""
        if count is not None and count * _SMALLEST_IK > reader.remaining:
            raise reader.error(f"{count} bones need more than the {reader.remaining} bytes that are left")
        data = cls([], layout)
        while reader.remaining if count is None else len(data.bones) < count:
            data.bones.append(cls._read_bone(reader, layout))
        return data

    @staticmethod
    def _read_bone(reader: Reader, layout: IkLayout) -> IkBone:
        version = reader.u32("the version of a bone's physics") if layout == IkLayout.VERSIONED else None
        material = reader.string("a bone's material")
        shape = Shape.read(reader)
        joint = Joint.read(reader, breakable=layout != IkLayout.ABSOLUTE, friction=bool(version))
        return IkBone(
            material,
            shape,
            joint,
            reader.array("<f4", 3, what="a bone's rest rotation"),
            reader.array("<f4", 3, what="a bone's rest position"),
            reader.f32("a bone's mass"),
            reader.array("<f4", 3, what="a bone's centre of mass"),
            version,
        )

    def write(self, writer: Writer) -> None:
        for bone in self.bones:
            if bone.version is not None:
                writer.u32(bone.version)
            writer.string(bone.material)
            bone.shape.write(writer)
            bone.joint.write(writer)
            writer.array(bone.rotation, "<f4")
            writer.array(bone.offset, "<f4")
            writer.f32(bone.mass)
            writer.array(bone.centre_of_mass, "<f4")
