"""What Arma adds to the objects of a model: which level a mesh is, its named properties, what an empty stands for."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, FloatProperty, PointerProperty, StringProperty

from ...blender.property_groups import AddedProperties

POINT_ITEMS = (
    ("NONE", "None", "Not part of an Arma model"),
    ("POINT", "Point", "A point of the Memory LOD"),
    ("PROXY", "Proxy", "Where another model is attached"),
)


class NamedProperty(bpy.types.PropertyGroup):
    """A named property of a level; ``name`` is its own."""

    value: StringProperty(name="Value", description="Named properties of the model for the game")


class LevelProperties(bpy.types.PropertyGroup):
    """A level of detail of a model."""

    is_level: BoolProperty(name="Arma LOD", description="This mesh is a LOD of an Arma model")
    kind: StringProperty(name="Kind", description="Purpose of the LOD")
    resolution: FloatProperty(name="Resolution", description="Number that identifies the LOD")
    path: StringProperty(name="File", description="Path of the model file", subtype="FILE_PATH")
    properties: CollectionProperty(type=NamedProperty)


class MarkProperties(bpy.types.PropertyGroup):
    """What an empty stands for."""

    kind: EnumProperty(name="Type", description="What the empty represents in the model", items=POINT_ITEMS)
    game_name: StringProperty(name="Name", description="Name of the selection, or path of the attached model")


ADDED = AddedProperties(
    (NamedProperty, LevelProperties, MarkProperties),
    {
        (bpy.types.Object, "motionbridge_arma_level"): PointerProperty(type=LevelProperties),
        (bpy.types.Object, "motionbridge_arma_mark"): PointerProperty(type=MarkProperties),
    },
)


def level_of(active: Any) -> Any:
    """What the active object is to a model: the level itself, or of an empty the level it hangs on; else None."""
    while active is not None:
        if active.type == "MESH" and active.motionbridge_arma_level.is_level:
            return active.motionbridge_arma_level
        active = active.parent
    return None


def is_of_model(active: Any) -> bool:
    """Whether an object is a level, a point or a proxy of a model."""
    return active is not None and (level_of(active) is not None or active.motionbridge_arma_mark.kind != "NONE")
