"""What Blender keeps of a model of the editor (`.object`): its file, what it says beside the shape, its surfaces."""

import bpy
from bpy.props import BoolProperty, CollectionProperty, IntProperty, PointerProperty, StringProperty

from ....blender.properties import AddedProperties, bytes_property, seal_property
from .properties import MotionReferenceProperties


class EditorModelProperties(bpy.types.PropertyGroup):
    """The file an object was imported from, on its armature, its only mesh, or the empty above its meshes."""

    is_model: BoolProperty(name="Editor Model", description="This object was imported from a model of the editor")
    path: StringProperty(name="Path", description="Path of the imported model", subtype="FILE_PATH")
    document: bytes_property("The model as stored in its file")
    document_seal: seal_property()
    flags: StringProperty(name="Flags", description="Flags of the object in hexadecimal: 1 dynamic, 2 progressive")
    user_data: StringProperty(name="User Data", description="Settings of the model in ini format")
    lod: StringProperty(name="LOD", description="Object that replaces the model at a distance")
    creator: StringProperty(name="Creator", description="Who made the object")
    modifier: StringProperty(name="Modifier", description="Who changed the object last")
    references: CollectionProperty(type=MotionReferenceProperties)


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
