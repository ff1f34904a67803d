"""Properties that X-Ray adds to objects and materials: imported model, motion references, user data, surfaces.

A model is stored on its armature, on the mesh of a model without bones, or on the empty that several meshes are
parented to. Each mesh stores which mesh of the model it is. A model of the editor (`.object`) also has flags, texts and
surfaces.
"""

from collections.abc import Iterable
from typing import Any

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

from ....blender.properties import AddedProperties, bytes_property, nearest_ancestor, seal_property
from ....blender.typed import Object
from ....core import names
from ..motions.properties import Partition


class MotionReferenceProperties(bpy.types.PropertyGroup):
    """A motion file that the model plays. ``name``: as stored in the model; it may be a mask."""


class ModelProperties(bpy.types.PropertyGroup):
    """The game model an object was imported from."""

    is_model: BoolProperty(name="Model", description="This object was imported from a game model")
    path: StringProperty(name="Path", description="Path of the imported model", subtype="FILE_PATH")
    document: bytes_property("The model as stored in its file")
    document_seal: seal_property()
    saved: StringProperty(name="Digest", description="The file as last saved", options={"HIDDEN"})
    references: CollectionProperty(type=MotionReferenceProperties)
    active_reference: IntProperty(options={"HIDDEN"})
    user_data: StringProperty(name="User Data", description="Settings of the model in ini format")
    lod: StringProperty(name="LOD", description="Object that replaces the model at a distance")


class MeshProperties(bpy.types.PropertyGroup):
    """Which mesh of a game model an object is."""

    is_part: BoolProperty(name="Mesh of a Model", description="This object was imported from a game model")
    part: StringProperty(name="Part", description="Indices of the mesh inside the model", default="")


def remembered(obj: Object) -> Any:
    """Return the properties of the game or editor model that an object was imported from or becomes, or None."""
    if obj.motionbridge_model.is_model:
        return obj.motionbridge_model
    of_editor = obj.motionbridge_editor_model
    return of_editor if of_editor.is_model or of_editor.is_made else None


def holder_of(obj: Any) -> Any:
    """Return the object that stores the model ``obj`` belongs to, None without one.

    It is ``obj``, one of its ancestors, or the armature that deforms it.
    """
    ancestor = nearest_ancestor(obj, lambda ancestor: remembered(ancestor) is not None)
    if ancestor is not None or obj is None:
        return ancestor
    rig = obj.find_armature()
    return rig if rig is not None and remembered(rig) is not None else None


def part_text(path: tuple[int, ...]) -> str:
    """Return the stored form of a mesh's indices in the tree of a model: ``0.2``; empty for the model itself."""
    return ".".join(map(str, path))


def groups_without_bones(labels: Iterable[str]) -> dict[str, str]:
    """Return a unique vertex group name for each bone of a model -> the bone's own name.

    For models whose skeleton cannot be built: several bones can have the same name or none, and Blender would number
    the groups.
    """
    result: dict[str, str] = {}
    for label in labels:
        result[names.distinct(label or "bone", result.keys())] = label
    return result


def objects_below(holder: Object) -> list[Object]:
    """Return the descendants of a model's object, except those of another model parented to it, such as a weapon."""
    return [obj for obj in holder.children_recursive if _model_ancestor(obj, holder) == holder]


def _model_ancestor(obj: Any, holder: Object) -> Object:
    while obj != holder and not (obj.motionbridge_model.is_model or obj.motionbridge_editor_model.is_model):
        obj = obj.parent
    return obj


def meshes_of(holder: Object) -> dict[str, list[Any]]:
    """Return the mesh objects of ``holder`` and its descendants by the part of the model they were imported as."""
    meshes: dict[str, list[Any]] = {}
    for obj in (holder, *objects_below(holder)):
        if obj.type == "MESH" and obj.motionbridge_mesh.is_part:
            meshes.setdefault(obj.motionbridge_mesh.part, []).append(obj)
    return meshes


# Models of the editor -------------------------------------------------------------------------------------------------

FLAG_ITEMS = (
    ("DYNAMIC", "Dynamic", "The object has bones, or is not part of the level's geometry", 0x1),
    ("PROGRESSIVE", "Progressive", "The game draws fewer faces at a distance; only with Dynamic", 0x2),
    ("LOD", "Uses LOD", "At a distance an image is shown instead", 0x4),
    ("HOM", "Occluder", "The object hides what is behind it (HOM)", 0x8),
    ("MULTIPLE", "Multiple Usage", "The level stores the geometry once for all its copies", 0x10),
    ("SOUND", "Sound Occluder", "The object muffles sounds behind it", 0x20),
    ("HIGH_QUALITY", "HQ Export", "The editor merges vertices within 0.01 mm instead of 1 mm", 0x40),
)
"""Flags of all editors. The Hybrid editor has others in higher bits, which are kept."""
_SHOWN = sum(item[3] for item in FLAG_ITEMS)


def flags_of(model: "EditorModelProperties") -> int:
    """Return the flags as the file stores them; 0 if the text is not a hexadecimal number."""
    try:
        return int(model.flags or "0", 16) & 0xFFFF_FFFF
    except ValueError:
        return 0


def _shown_flags(model: "EditorModelProperties") -> int:
    return flags_of(model) & _SHOWN


def _set_flags(model: "EditorModelProperties", value: int) -> None:
    model.flags = f"{flags_of(model) & ~_SHOWN | value:#x}"


class EditorModelProperties(bpy.types.PropertyGroup):
    """The editor model an object was imported from or becomes.

    It is stored on the armature, on the only mesh, or on the empty that the meshes are parented to.
    """

    is_model: BoolProperty(name="Editor Model", description="This object was imported from a model of the editor")
    has_meshes: BoolProperty(name="Meshes", options={"HIDDEN"})
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
    creator: StringProperty(name="Created By", description="Who made the object")
    modifier: StringProperty(name="Last Modified By", description="Who changed the object last")
    references: CollectionProperty(type=MotionReferenceProperties)
    active_reference: IntProperty(options={"HIDDEN"})
    parts: CollectionProperty(type=Partition)


class EditorMeshProperties(bpy.types.PropertyGroup):
    """Which mesh of an editor model an object is."""

    is_part: BoolProperty(name="Mesh of a Model", description="This object was imported from a model of the editor")
    index: IntProperty(name="Index", description="Index of the mesh in the file")


class SurfaceProperties(bpy.types.PropertyGroup):
    """Values of an editor surface besides texture and engine shader, which every X-Ray material has."""

    is_surface: BoolProperty(name="Surface", description="This material was imported from a model of the editor")
    game_name: StringProperty(name="Surface", description="Name of the surface in the editor")
    compiler_shader: StringProperty(name="Compiler Shader", description="Shader of the level compiler")
    game_material: StringProperty(name="Game Material", description="What the surface sounds and behaves like")
    two_sided: BoolProperty(name="Two-Sided", description="Faces are seen from both sides")


ADDED = AddedProperties(
    (
        MotionReferenceProperties,
        ModelProperties,
        MeshProperties,
        EditorModelProperties,
        EditorMeshProperties,
        SurfaceProperties,
    ),
    {
        (bpy.types.Object, "motionbridge_model"): PointerProperty(type=ModelProperties),
        (bpy.types.Object, "motionbridge_mesh"): PointerProperty(type=MeshProperties),
        (bpy.types.Object, "motionbridge_editor_model"): PointerProperty(type=EditorModelProperties),
        (bpy.types.Object, "motionbridge_editor_mesh"): PointerProperty(type=EditorMeshProperties),
        (bpy.types.Material, "motionbridge_surface"): PointerProperty(type=SurfaceProperties),
    },
)
