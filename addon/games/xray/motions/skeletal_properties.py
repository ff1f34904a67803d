"""What an action keeps of the editor's motion it came from, and a rig of the files.

How the game plays it (name, flags, timing, marks) stands where every motion of the game has it, in
`motion_properties`: the same panels show it.
"""

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from ....blender.action_lists import ListedAction, list_property
from ....blender.properties import AddedProperties, bytes_property, seal_property
from .properties import RestBone

ROTATIONS = (
    ("EULER", "Euler ZXY", "Euler angles, as the editor stores them; curves are preserved"),
    ("QUATERNION", "Quaternion", "Quaternions, like imported game motions"),
)


class SkeletalProperties(bpy.types.PropertyGroup):
    """What an action keeps of the motion it came from."""

    is_skeletal: BoolProperty(name="Editor Motion", description="This action is a motion of the game's editor")
    file: StringProperty(name="File", description="The file the motion came from", options={"HIDDEN"})
    place: IntProperty(
        name="Index", description="Index of the motion in its source file", default=-1, options={"HIDDEN"}
    )
    version: IntProperty(name="File Version", description="Version of the motion in its file", options={"HIDDEN"})
    fps: FloatProperty(name="Frame Rate", description="Frames per second in the game", options={"HIDDEN"})
    imported_name: StringProperty(options={"HIDDEN"})
    rotation: EnumProperty(
        name="Rotation", description="Rotation mode of the bones", items=ROTATIONS, options={"HIDDEN"}
    )
    metres: FloatProperty(options={"HIDDEN"})
    radians: FloatProperty(options={"HIDDEN"})
    shown_first: FloatProperty(options={"HIDDEN"})
    shown_last: FloatProperty(options={"HIDDEN"})
    kept_exactly: IntProperty(
        name="Bones with Their Keys", description="Bones whose curves are the file's", options={"HIDDEN"}
    )
    fitted: IntProperty(
        name="Bones Fitted", description="Bones whose curves are fitted, for their rest pose", options={"HIDDEN"}
    )
    body: bytes_property("The motion as stored in its file")
    body_seal: seal_property()
    drawn: bytes_property("A digest of the keys of each track, which shows whether it was edited")
    drawn_seal: seal_property()


class SkeletalFile(bpy.types.PropertyGroup):
    """A file of the editor's motions on a rig; ``name`` is the key that actions refer to."""

    path: StringProperty(name="Path", description="Path of the imported file", subtype="FILE_PATH")
    sha256: StringProperty(name="Digest", description="The file as imported or last saved", options={"HIDDEN"})
    embedded: BoolProperty(name="Inside Model", description="The motions are stored inside the model file")
    document: bytes_property("The file without its motions' keys")
    document_seal: seal_property()
    rest: CollectionProperty(type=RestBone)
    actions: CollectionProperty(type=ListedAction)
    action_list: list_property()
    lists_actions: BoolProperty(name="Lists Its Actions", options={"HIDDEN"})  # version 0.1.0 kept no list


ADDED = AddedProperties(
    (SkeletalProperties, SkeletalFile),
    {
        (bpy.types.Action, "motionbridge_skeletal"): PointerProperty(type=SkeletalProperties),
        (bpy.types.Object, "motionbridge_skeletal_files"): CollectionProperty(type=SkeletalFile),
    },
)
