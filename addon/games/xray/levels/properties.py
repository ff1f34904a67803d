"""Properties of X-Ray on objects that come from a level's files or will be written to one: collision, occluders, sound
occluders, errors, detail objects and models, and parts of a compiled level.

The file is stored on its mesh, or on the empty that is the parent of the meshes it was split into.
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

from ....blender.properties import AddedProperties, bytes_property, nearest_ancestor, seal_property
from ....blender.typed import Object

NOT_WELDED = -1.0
KINDS = (
    ("NONE", "None", "Not part of a level"),
    ("CFORM", "Collision", "Collision geometry of the level (level.cform)"),
    ("HOM", "Occluders", "Triangles that hide everything behind them (level.hom)"),
    ("SOM", "Sound Occluders", "Triangles that muffle sound (level.som)"),
    ("DETAILS", "Detail Objects", "The ground in slots, with the grass and litter in each (level.details)"),
    ("DM", "Detail Model", "Grass or litter that the game scatters (.dm)"),
    ("ERR", "Level Errors", "Errors reported by the level compiler (.err)"),
    ("SURFACE", "Surface", "Static surface of the level"),
    ("TREE", "Tree", "Tree or other object that occurs many times"),
    ("TREE_PART", "Part of a Tree", "Mesh that all trees with this part show"),
    ("LOD", "Impostors", "Flat images that the game shows instead of distant trees"),
    ("PORTAL", "Portal", "Opening between two sectors; its normal points into the first"),
    ("LIGHT", "Light", "Static light of the level"),
    ("GLOW", "Glow", "Glowing spot around a lamp"),
    ("AI", "AI Map", "Nodes that creatures walk on (level.ai)"),
    ("WALLMARKS", "Wallmarks", "Marks painted onto walls and ground (level.wallmarks)"),
    ("PARTICLES", "Particles", "Particle effect that always plays (level.ps_static)"),
    ("WEATHER", "Weather", "Sphere in which the weather differs (level.env_mod)"),
    ("SOUNDS", "Sound", "Sound that always plays (level.snd_static)"),
    ("SPAWNED", "Spawned Object", "Object that the level's editor placed (level.spawn)"),
    ("LEVEL", "Level", "The level file that visuals, portals, lights and glows are of (level)"),
)
DRAWN_KINDS = frozenset({"CFORM", "HOM", "SOM", "DETAILS", "DM"})
"""Kinds that can be made of any mesh in Blender."""
JOINED = frozenset({"CFORM", "HOM", "SOM"})
"""Kinds of which any number of meshes become one file."""
VISUAL_KINDS = frozenset({"SURFACE", "TREE", "TREE_PART", "LOD", "PORTAL", "LIGHT", "GLOW"})
"""Kinds that belong to a level file."""
SHOWS_LIGHT = "motionbridge_level_light"
"""Property of a scene: whether its levels show their light."""
SHOWN_BY = (
    ("MODEL", "Model", "The densest detail model of each slot"),
    ("DENSITY", "Density", "Density of the slot, all models together"),
    ("SUN", "Sun", "Amount of sunlight"),
    ("SKY", "Sky", "Amount of sky light"),
    ("COLOUR", "Color", "Color of the other light"),
)
"""Values by which the slots of `.details` can be coloured."""


class LevelProperties(bpy.types.PropertyGroup):
    """Data of an object that is part of a level."""

    kind: EnumProperty(name="Kind", description="Part of the level that the object is", items=KINDS, default="NONE")
    is_part: BoolProperty(name="Part", description="One of the meshes into which a file was split")
    path: StringProperty(name="Path", description="Path of the imported file", subtype="FILE_PATH")
    saved: StringProperty(options={"HIDDEN"})
    """SHA-256 of the last file that was saved back."""
    document: bytes_property("The file as it was read")
    document_seal: seal_property()
    weld: FloatProperty(options={"HIDDEN"}, default=NOT_WELDED)
    waving: BoolProperty(name="Waving", description="The plant moves in the wind", default=True)
    min_scale: FloatProperty(
        name="Minimum Scale", description="Smallest scale of a scattered plant", default=0.5, min=0
    )
    max_scale: FloatProperty(name="Maximum Scale", description="Largest scale of a scattered plant", default=2.0, min=0)
    number: IntProperty(
        name="Index",
        description="Index among the detail models of the level; -1 adds it at the end",
        default=-1,
        min=-1,
    )
    row: IntProperty(
        name="Row",
        description="Index in the level file: of the visual, portal, light or glow; of a part: among those of its tree",
        default=-1,
        min=-1,
    )
    visuals: StringProperty(options={"HIDDEN"})
    """For a tree: the indices of its visuals, one for each part, separated by spaces."""
    parts: PointerProperty(
        name="Parts", description="The collection of the parts that the tree shows", type=bpy.types.Collection
    )
    light_scale: FloatVectorProperty(size=4, options={"HIDDEN"})
    """For a tree, with ``light_bias``: factor and addend of the hemi of its vertices; red, green, blue, sun."""
    light_bias: FloatVectorProperty(size=4, options={"HIDDEN"})
    light_sky: FloatVectorProperty(size=3, options={"HIDDEN"})
    """For a tree: factor and addend of the hemi of its vertices for the light of the sky; 1."""
    level_file: PointerProperty(
        name="Level File", description="What remembers the level file that this is of", type=bpy.types.Object
    )
    imported: StringProperty(options={"HIDDEN"})
    """For a level file: the imported kinds, separated by spaces."""
    trees: bytes_property("Indices of the visuals that trees were made of, 4 bytes each")
    trees_seal: seal_property()
    surfaces: bytes_property("Indices of the visuals that surfaces were made of, 4 bytes each")
    surfaces_seal: seal_property()
    geometry: StringProperty(options={"HIDDEN"})
    """SHA-256 of `level.geom` as imported or last saved back; "" if there was none."""
    geometry_imported: StringProperty(options={"HIDDEN"})
    """SHA-256 of `level.geom` as imported."""
    geometry_folder: StringProperty(options={"HIDDEN"})
    """Folder in which `level.geom` was at the import, on disk or in an archive; used where none is beside `level`."""
    detail: FloatProperty(options={"HIDDEN"}, default=1.0)
    reshaped: bytes_property("Indices of the visuals whose vertices were moved and saved, 4 bytes each")
    reshaped_seal: seal_property()
    light_range: FloatProperty(
        name="Light Range", description="Radius of the sphere that the light brightens", min=0, subtype="DISTANCE"
    )
    front_sector: IntProperty(
        name="Front Sector", description="The sector that the normal of the portal points into", min=0, max=65535
    )
    back_sector: IntProperty(name="Back Sector", description="The sector behind the portal", min=0, max=65535)
    shader: StringProperty(name="Shader", description="Engine shader of the glow; empty to keep that of the file")
    texture: StringProperty(name="Texture", description="Texture of the glow, without extension")
    models: PointerProperty(
        name="Models", description="The collection of the detail models that the slots name", type=bpy.types.Collection
    )
    active_model: IntProperty(options={"HIDDEN"})
    scattered: PointerProperty(
        name="Scattered", description="The plants that are shown on the ground", type=bpy.types.Object
    )
    shown_by: EnumProperty(
        name="Color By", description="What the colors of the slots show", items=SHOWN_BY, default="MODEL"
    )


class LevelCollectionProperties(bpy.types.PropertyGroup):
    """Data of the collection of an imported level, and of those in it: one for each layer."""

    is_level: BoolProperty(name="Level", description="The collection of an imported level")
    is_layer: BoolProperty(name="Layer", description="A layer of a level, which its panel shows and hides")
    is_tree: BoolProperty(name="Tree", description="The parts that trees of a level show")
    edited_from: PointerProperty(
        name="Edited From", description="The tree whose parts are being edited", type=bpy.types.Object
    )
    tree_count: IntProperty(options={"HIDDEN"})
    """While the parts are edited: the number of trees that show them."""
    active_layer: IntProperty(options={"HIDDEN"})


ADDED = AddedProperties(
    (LevelProperties, LevelCollectionProperties),
    {
        (bpy.types.Object, "motionbridge_level"): PointerProperty(type=LevelProperties),
        (bpy.types.Collection, "motionbridge_level"): PointerProperty(type=LevelCollectionProperties),
        (bpy.types.Scene, SHOWS_LIGHT): BoolProperty(options={"HIDDEN"}),
    },
)


def become(obj: Any, kind: str) -> None:
    """Set the kind of a mesh. If it had another one, it forgets the file that it came from."""
    level = obj.motionbridge_level
    if level.kind != kind:
        for name, about in level.bl_rna.properties.items():
            if not about.is_readonly:
                level.property_unset(name)
        obj.update_tag()  # as in `blender.action_lists`: the evaluated copy keeps its pointers otherwise
        level.kind = kind


def holder_of(obj: Any) -> Any:
    """Return the object that stores the file of an object, or is exported to it; None if it is not part of a level."""
    if obj is None or obj.motionbridge_level.kind == "NONE":
        return None
    if obj.motionbridge_level.is_part:
        parent = nearest_ancestor(obj.parent, lambda ancestor: ancestor.motionbridge_level.kind != "NONE")
        if parent is not None:
            return parent
    return obj.motionbridge_level.level_file or obj


def is_new(obj: Any) -> bool:
    """Return whether an object is a part of a level that belongs to no imported file."""
    level = obj.motionbridge_level
    return level.kind != "NONE" and not level.path and not level.is_part and holder_of(obj) == obj


def meshes_of(holder: Object) -> list[Object]:
    """Return the meshes of a file: the holder itself, or its descendants that are parts."""
    if holder.type == "MESH":
        return [holder]
    parts = [obj for obj in holder.children_recursive if obj.type == "MESH"]
    return [obj for obj in parts if obj.motionbridge_level.is_part]
