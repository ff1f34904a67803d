"""What Blender keeps of a model of the editor (`.object`): its file, what it says beside the shape, its surfaces."""

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

from ....blender.properties import AddedProperties, bytes_property, seal_property
from ..motions.properties import Partition
from .properties import MotionReferenceProperties

FLAG_ITEMS = (
    ("DYNAMIC", "Dynamic", "The object has bones, or is no part of the level's geometry", 0x1),
    ("PROGRESSIVE", "Progressive", "Faces are left out at a distance; only with Dynamic", 0x2),
    ("LOD", "Uses LOD", "At a distance an image is shown instead", 0x4),
    ("HOM", "Hides", "The object hides what is behind it (HOM)", 0x8),
    ("MULTIPLE", "Multiple Usage", "The level stores the geometry once for all its copies", 0x10),
    ("SOUND", "Sound Occluder", "The object muffles sounds behind it", 0x20),
    ("HIGH_QUALITY", "HQ Export", "The editor merges vertices within 0.01 mm instead of 1 mm", 0x40),
)
"""Of all editors; above them the Hybrid editor has others, which are kept."""
_SHOWN = sum(item[3] for item in FLAG_ITEMS)


def flags_of(model: "EditorModelProperties") -> int:
    """The flags as the file stores them, 0 for a text that is no number. ``model`` is an `EditorModelProperties`."""
    try:
        return int(model.flags or "0", 16) & 0xFFFF_FFFF
    except ValueError:
        return 0


def _shown_flags(model: "EditorModelProperties") -> int:
    return flags_of(model) & _SHOWN


def _set_flags(model: "EditorModelProperties", value: int) -> None:
    model.flags = f"{flags_of(model) & ~_SHOWN | value:#x}"


class EditorModelProperties(bpy.types.PropertyGroup):
    """The file an object was imported from, on its armature, its only mesh, or the empty above its meshes."""

    is_model: BoolProperty(name="Editor Model", description="This object was imported from a model of the editor")
    is_made: BoolProperty(name="New Editor Model", description="This object can be exported as a new editor model")
    path: StringProperty(name="Path", description="Path of the imported model", subtype="FILE_PATH")
    document: bytes_property("The model as stored in its file")
    document_seal: seal_property()
    saved: StringProperty(name="Digest", description="The file as last saved", options={"HIDDEN"})
    flags: StringProperty(name="Flags", description="Flags of the object in hexadecimal: 1 dynamic, 2 progressive")
    shown_flags: EnumProperty(
        name="Flags",
        description="What the object is used for",
        items=[(*item[:3], "NONE", item[3]) for item in FLAG_ITEMS],
        options={"ENUM_FLAG"},
        get=_shown_flags,
        set=_set_flags,
    )
    user_data: StringProperty(name="User Data", description="Settings of the model in ini format")
    lod: StringProperty(name="LOD", description="Object that replaces the model at a distance")
    scale: FloatProperty(
        name="Export Scale",
        description="The Hybrid editor multiplies positions by this when it exports the model for the game",
        default=1.0,
    )
    creator: StringProperty(name="Creator", description="Who made the object")
    modifier: StringProperty(name="Modifier", description="Who changed the object last")
    references: CollectionProperty(type=MotionReferenceProperties)
    active_reference: IntProperty(options={"HIDDEN"})
    parts: CollectionProperty(type=Partition)


class EditorMeshProperties(bpy.types.PropertyGroup):
    """Which mesh of a model of the editor an object is."""

    is_part: BoolProperty(name="Mesh of a Model", description="This object was imported from a model of the editor")
    index: IntProperty(name="Index", description="Index of the mesh in the file")


class SurfaceProperties(bpy.types.PropertyGroup):
    """A surface of the editor beside texture and engine shader, which every material of X-Ray has."""

    is_surface: BoolProperty(name="Surface", description="This material was imported from a model of the editor")
    game_name: StringProperty(name="Surface", description="Name of the surface in the editor")
    compiler_shader: StringProperty(name="Compiler Shader", description="Shader of the level compiler")
    game_material: StringProperty(name="Game Material", description="What the surface sounds and behaves like")
    two_sided: BoolProperty(name="Two-Sided", description="Faces are seen from both sides")


ADDED = AddedProperties(
    (EditorModelProperties, EditorMeshProperties, SurfaceProperties),
    {
        (bpy.types.Object, "motionbridge_editor_model"): PointerProperty(type=EditorModelProperties),
        (bpy.types.Object, "motionbridge_editor_mesh"): PointerProperty(type=EditorMeshProperties),
        (bpy.types.Material, "motionbridge_surface"): PointerProperty(type=SurfaceProperties),
    },
)
