"""What Arma adds to the objects of a model: which level a mesh is, its named properties, what an empty stands for."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, FloatProperty, PointerProperty, StringProperty

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


CLASSES = (NamedProperty, LevelProperties, MarkProperties)

# Any: no stub knows the properties that are added here.
OBJECT: Any = bpy.types.Object


def register() -> None:
    """Add the properties to objects."""
    for kind in CLASSES:
        bpy.utils.register_class(kind)
    OBJECT.motionbridge_arma_level = PointerProperty(type=LevelProperties)
    OBJECT.motionbridge_arma_mark = PointerProperty(type=MarkProperties)


def unregister() -> None:
    """Take them away."""
    del OBJECT.motionbridge_arma_mark
    del OBJECT.motionbridge_arma_level
    for kind in reversed(CLASSES):
        bpy.utils.unregister_class(kind)
