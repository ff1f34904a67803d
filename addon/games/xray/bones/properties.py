"""Properties that X-Ray adds to bones: index, rest pose as stored, collision shape, joint and mass.

All values are the game's own, in the game's bone axes (z is mirrored compared to Blender's bone). Joint limits are
shown as in the game's editor, with the opposite sign of the file's.
"""

from typing import Any

import bpy
from bpy.props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from ....blender.properties import AddedProperties, bytes_property, seal_property
from ....blender.typed import Bone, Object

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
AXES = "xyz"


class JointLimit(bpy.types.PropertyGroup):
    """Limits of a joint's rotation about one axis."""

    lowest: FloatProperty(name="Min", description="Lowest angle", subtype="ANGLE")
    highest: FloatProperty(name="Max", description="Highest angle", subtype="ANGLE")
    spring: FloatProperty(name="Spring", description="Stiffness of the limit")
    damping: FloatProperty(name="Damping", description="Damping of the limit")


class BoneProperties(bpy.types.PropertyGroup):
    """A bone of a game model."""

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
        name="Shape Flags", description="What ignores the collision shape", items=SHAPE_FLAGS, options={"ENUM_FLAG"}
    )
    box_rotation: FloatVectorProperty(name="Box Rotation", description="Axes of the box, row by row", size=9)
    box_centre: FloatVectorProperty(name="Box Center", description="Center of the box, in the bone's axes")
    box_half_size: FloatVectorProperty(name="Box Half Size", description="Distance from the center to the sides")
    sphere_centre: FloatVectorProperty(name="Sphere Center", description="Center of the sphere, in the bone's axes")
    sphere_radius: FloatProperty(name="Sphere Radius", description="Radius of the sphere")
    cylinder_centre: FloatVectorProperty(
        name="Cylinder Center", description="Center of the cylinder, in the bone's axes"
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
    centre_of_mass: FloatVectorProperty(name="Center of Mass", description="Center of mass, in the bone's axes")


class BonesFileProperties(bpy.types.PropertyGroup):
    """The `.bones` file that was imported last onto an armature."""

    path: StringProperty(name="Path", description="Path of the imported bone properties", subtype="FILE_PATH")
    document: bytes_property("The bone properties as stored in their file")
    document_seal: seal_property()


ADDED = AddedProperties(
    (JointLimit, BoneProperties, BonesFileProperties),
    {
        (bpy.types.Bone, "motionbridge_xray"): PointerProperty(type=BoneProperties),
        (bpy.types.Object, "motionbridge_bones"): PointerProperty(type=BonesFileProperties),
    },
)


def known(bone: Any) -> Any:
    """Return the game properties of a bone that was imported or set up, None for other bones.

    Also None for a bone that the user duplicated: it has the original's properties, but is not that bone.
    """
    properties = bone.motionbridge_xray
    if not properties.is_bone:
        return None
    original = properties.imported_name
    namesake = bone.id_data.bones.get(original)
    is_first = namesake in (None, bone) or namesake.motionbridge_xray.imported_name != original
    return properties if is_first else None


def game_name(bone: Bone) -> str:
    """Return the game's name of a bone, independent of its name in Blender; Blender's name if it has none."""
    properties = known(bone)
    return str(properties.game_name if properties is not None and properties.game_name else bone.name)


def in_order(rig: Object) -> list[Bone]:
    """Return the bones in the model's order, then other bones in Blender's order."""
    bones = [(known(bone), index, bone) for index, bone in enumerate(rig.data.bones)]
    last = len(bones)
    ordered = sorted(bones, key=lambda row: (row[0].index if row[0] is not None else last, row[1]))
    return [bone for _, _, bone in ordered]


def bones_in_order(rig: Object) -> list[str]:
    """Return the game's names of all bones in the order of `in_order`."""
    return [game_name(bone) for bone in in_order(rig)]
