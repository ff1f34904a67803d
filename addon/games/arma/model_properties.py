"""What Arma adds to the objects of a model: which level a mesh is, its named properties, what an empty stands for."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, FloatProperty, PointerProperty, StringProperty

from ...blender.property_groups import AddedProperties

POINT_ITEMS = (
    ("NONE", "None", "Not of a model of Arma"),
    ("POINT", "Point", "A point of the memory level"),
    ("PROXY", "Proxy", "Where another model hangs"),
)


class NamedProperty(bpy.types.PropertyGroup):
    """A named property of a level; ``name`` is its own."""

    value: StringProperty(name="Value", description="What the model says for the game")


class LevelProperties(bpy.types.PropertyGroup):
    """A level of detail of a model."""

    is_level: BoolProperty(name="Level of Arma", description="This mesh is a level of a model of Arma")
    kind: StringProperty(name="Kind", description="What the level is for")
    resolution: FloatProperty(name="Resolution", description="The number that tells levels apart")
    path: StringProperty(name="File", description="The model's file", subtype="FILE_PATH")
    properties: CollectionProperty(type=NamedProperty)


class MarkProperties(bpy.types.PropertyGroup):
    """What an empty stands for."""

    kind: EnumProperty(name="Stands For", description="What the empty is in the model", items=POINT_ITEMS)
    game_name: StringProperty(name="Name", description="The selection's name, or the path of the model that hangs here")


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
