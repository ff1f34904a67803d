"""What an action keeps of the motion path (`.anm`) it came from."""

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty, StringProperty

from ....blender.properties import AddedProperties, bytes_property, seal_property

VERSIONS = (
    (
        "AUTOMATIC",
        "Same as Imported",
        "The version of the imported file; for new paths version 3, which stores handles exactly",
    ),
    ("3", "3", "Handles are stored exactly; read by every engine and editor"),
    ("4", "4", "Handles are rounded to 0.98 ms; written by old builds only"),
    ("5", "5", "Handles are rounded to 0.98 ms; written by the latest editors"),
)


class PathProperties(bpy.types.PropertyGroup):
    """What an action keeps of the path it came from."""

    is_path: BoolProperty(name="Path", description="This action is a motion path of the game")
    path_name: StringProperty(name="Name", description="The path's name in the game")
    path: StringProperty(name="File", description="Path of the imported file", subtype="FILE_PATH")
    version: EnumProperty(name="Version", description="Version of the file to write", items=VERSIONS)
    came_as: IntProperty(name="File Version", description="Version of the file that was read", options={"HIDDEN"})
    fps: FloatProperty(name="Frame Rate", description="Frames per second in the game", options={"HIDDEN"})
    not_shown: StringProperty(
        name="Not Shown", description="What Blender does not show and the file keeps", options={"HIDDEN"}
    )
    saved: StringProperty(options={"HIDDEN"})
    """The SHA-256 of the file that was saved back last."""
    document: bytes_property("The file as it was read")
    document_seal: seal_property()


ADDED = AddedProperties(
    (PathProperties,), {(bpy.types.Action, "motionbridge_path"): PointerProperty(type=PathProperties)}
)
