"""What X-Ray adds to objects that came from a level's files, or are to become one: collision, occluders, sound
occluders, errors, detail models.

The file is remembered on its mesh, or on the empty above the meshes it was split into.
"""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty, StringProperty

from ...blender.property_groups import AddedProperties
from ...blender.record import bytes_property, seal_property

NOT_WELDED = -1.0
KINDS = (
    ("NONE", "None", "Nothing of a level"),
    ("CFORM", "Collision", "What the level collides with (level.cform)"),
    ("HOM", "Occluders", "Triangles that hide what lies behind them (level.hom)"),
    ("SOM", "Sound Occluders", "Triangles that muffle sound (level.som)"),
    ("DETAILS", "Detail Objects", "The ground in slots, and what of grass and litter grows there (level.details)"),
    ("DM", "Detail Model", "Grass or litter that is scattered around (.dm)"),
    ("ERR", "Level Errors", "What a level compiler complained of (.err)"),
)
SHOWN_BY = (
    ("MODEL", "Model", "Which detail model stands there the densest"),
    ("DENSITY", "Density", "How densely the slot is planted, all models together"),
    ("SUN", "Sun", "How much light of the sun falls on it"),
    ("SKY", "Sky", "How much light of the sky falls on it"),
    ("COLOUR", "Colour", "The colour of other light that falls on it"),
)
"""What slots of `.details` can be coloured by."""


class LevelProperties(bpy.types.PropertyGroup):
    """What of a level an object is."""

    kind: EnumProperty(name="Kind", description="What of a level this is", items=KINDS, default="NONE")
    is_part: BoolProperty(name="Part", description="One of the meshes that a file was split into")
    path: StringProperty(name="Path", description="Where the file was read", subtype="FILE_PATH")
    saved: StringProperty(options={"HIDDEN"})
    """The SHA-256 of the file that was saved back last."""
    document: bytes_property("The file as it was read")
    document_seal: seal_property()
    weld: FloatProperty(options={"HIDDEN"}, default=NOT_WELDED)
    waving: BoolProperty(name="Waving", description="It waves in the wind", default=True)
    min_scale: FloatProperty(name="Least Scale", description="The smallest it is scattered at", default=0.5, min=0)
    max_scale: FloatProperty(name="Greatest Scale", description="The largest it is scattered at", default=2.0, min=0)
    number: IntProperty(
        name="Number",
        description="Which of the level's detail models it is; -1: none yet, it is numbered behind them",
        default=-1,
        min=-1,
    )
    models: PointerProperty(
        name="Models", description="The collection of the detail models that the slots name", type=bpy.types.Collection
    )
    active_model: IntProperty(options={"HIDDEN"})
    scattered: PointerProperty(
        name="Scattered", description="The plants that are shown on the ground", type=bpy.types.Object
    )
    shown_by: EnumProperty(name="Colour By", description="What of slots is shown", items=SHOWN_BY, default="MODEL")


ADDED = AddedProperties(
    (LevelProperties,), {(bpy.types.Object, "motionbridge_level"): PointerProperty(type=LevelProperties)}
)


def holder_of(shown: Any) -> Any:
    """The object that remembers the file which an object is of, or is to become; None where it is of none."""
    if shown is None or shown.motionbridge_level.kind == "NONE":
        return None
    parent = shown.parent
    if shown.motionbridge_level.is_part and parent is not None and parent.motionbridge_level.kind != "NONE":
        return parent
    return shown


def meshes_of(holder: Any) -> list[Any]:
    """The meshes that a file is made of: the holder itself, or the parts below it."""
    if holder.type == "MESH":
        return [holder]
    parts = [shown for shown in holder.children_recursive if shown.type == "MESH"]
    return [shown for shown in parts if shown.motionbridge_level.is_part]
