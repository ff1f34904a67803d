"""What the hands of a first-person scene remember: the item, and what plays together in each action of the section."""

from typing import Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, FloatProperty, IntProperty, PointerProperty, StringProperty

from ....blender.properties import AddedProperties
from . import pairs


class HudActionProperties(bpy.types.PropertyGroup):
    """One variant of an action; ``name`` is its key in the config. Without ``hands`` its motion was not found."""

    hands_motion: StringProperty(name="Hands Motion", description="Motion of the hands that the config names")
    item_motion: StringProperty(name="Weapon Motion", description="Motion that the weapon plays meanwhile")
    hands: PointerProperty(type=bpy.types.Action)
    item: PointerProperty(type=bpy.types.Action)
    fallback: BoolProperty(
        name="Fallback", description="The weapon has no motion of that name and plays 'idle', as in the game"
    )
    speed: FloatProperty(name="Speed", description="Speed of the action in the config, for both motions", default=1.0)


def _play(hud: "HudProperties", context: Any) -> None:
    pairs.play(context, hud.id_data, hud.active_action)


class HudProperties(bpy.types.PropertyGroup):
    """What an armature of hands shows in first person."""

    is_hud: BoolProperty(name="HUD", description="These hands are of a first-person scene")
    section: StringProperty(name="Section", description="HUD section of the configs")
    item: PointerProperty(type=bpy.types.Object)
    actions: CollectionProperty(type=HudActionProperties)
    active_action: IntProperty(name="Action", description="Click an action to play both motions", update=_play)


ADDED = AddedProperties(
    (HudActionProperties, HudProperties),
    {(bpy.types.Object, "motionbridge_hud"): PointerProperty(type=HudProperties)},
)
