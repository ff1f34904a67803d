"""Properties of the hands of a first-person scene: config values, the item, and the motions of each action."""

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

from ....blender.properties import AddedProperties, Event
from ..options import Aspect, Game, Stance

action_chosen, stance_chosen, attachments_chosen = Event(), Event(), Event()
"""The user chose another action of the list, stance or aspect, or other attachments."""


class HudActionProperties(bpy.types.PropertyGroup):
    """One variant of an action; ``name``: its config key. ``hands`` is empty if its motion was not found."""

    hands_motion: StringProperty(name="Hands Motion", description="Motion of the hands named in the config")
    item_motion: StringProperty(name="Weapon Motion", description="Motion that the weapon plays at the same time")
    hands: PointerProperty(type=bpy.types.Action)
    item: PointerProperty(type=bpy.types.Action)
    fallback: BoolProperty(
        name="Fallback", description="The weapon has no motion of that name and plays 'idle', as in the game"
    )
    speed: FloatProperty(
        name="Speed", description="Speed of the action in the config, for both motions", default=1.0, min=0.01, max=100
    )
    end: FloatProperty(
        name="End", description="Seconds after which the game ends the action; 0 for the motion's length"
    )
    view: PointerProperty(type=bpy.types.Action)
    is_new: BoolProperty(name="New", description="Created in Blender; Save HUD Back writes its line into the config")


class HudValueProperties(bpy.types.PropertyGroup):
    """A config value of a position or angles; ``name``: its key."""

    text: StringProperty(name="Value", description="Value that is shown")
    saved: StringProperty(name="Saved Value", description="Value in the config")
    is_missing: BoolProperty(name="Missing", description="The section has no such key")


class HudPointProperties(bpy.types.PropertyGroup):
    """A point of the weapon; ``name``: its config key."""

    object: PointerProperty(type=bpy.types.Object)


ATTACHMENTS = (
    ("SCOPE", "Scope", "Show the scope: the bone wpn_scope", 1),
    ("SILENCER", "Silencer", "Show the silencer: the bone wpn_silencer", 2),
    ("LAUNCHER", "Launcher", "Show the grenade launcher: the bone wpn_launcher or wpn_grenade_launcher", 4),
    ("GRENADE", "Grenade", "Show the loaded grenade: the bone grenade", 8),
)


class HudProperties(bpy.types.PropertyGroup):
    """First-person data of an armature of hands, and on the aim empty the link to its hands."""

    is_hud: BoolProperty(name="HUD", description="These hands are of a first-person scene")
    section: StringProperty(name="Section", description="HUD section of the configs")
    folders: StringProperty(name="Game Folders", description="Folders that the configs were read from")
    configs: StringProperty(name="Configs", description="Config files that were read, in this order")
    game: EnumProperty(
        name="Game", description="Game whose config rules are used", items=Game.items(), default="ANOMALY"
    )
    values: CollectionProperty(type=HudValueProperties)
    points: CollectionProperty(type=HudPointProperties)
    one_model: BoolProperty(name="One Model", description="One model has arms and weapon")
    stance: EnumProperty(
        name="Stance",
        description="Offset of the config that places the hands",
        items=Stance.items(),
        update=stance_chosen.update,
    )
    aspect: EnumProperty(
        name="Aspect Ratio",
        description="Aspect ratio of the game's screen",
        items=Aspect.items(),
        update=stance_chosen.update,
    )
    shown_stance: EnumProperty(
        name="Shown Stance", description="Stance that the transforms belong to", items=Stance.items()
    )
    shown_aspect: EnumProperty(
        name="Shown Aspect", description="Aspect that the transforms belong to", items=Aspect.items()
    )
    item: PointerProperty(type=bpy.types.Object)
    view: PointerProperty(type=bpy.types.Object)
    hands: PointerProperty(type=bpy.types.Object)
    follows: PointerProperty(type=bpy.types.Object)
    camera_effects: BoolProperty(
        name="Camera Effects",
        description="Move the camera with the camera effect (.anm) of the motion, as in the game",
        default=True,
        update=action_chosen.update,
    )
    attached: EnumProperty(
        name="Attached",
        description="Attachments that the weapon has; the game hides the bones of all others",
        items=ATTACHMENTS,
        options={"ENUM_FLAG"},
        default={"SCOPE", "SILENCER", "LAUNCHER", "GRENADE"},
        update=attachments_chosen.update,
    )
    gizmos: BoolProperty(
        name="Gizmos",
        description="Show arrows and rings of the active hands or weapon, and dots of its points, in Object Mode",
        default=True,
    )
    actions: CollectionProperty(type=HudActionProperties)
    active_action: IntProperty(
        name="Action", description="Click an action to play both motions", update=action_chosen.update
    )


ADDED = AddedProperties(
    (HudActionProperties, HudValueProperties, HudPointProperties, HudProperties),
    {(bpy.types.Object, "motionbridge_hud"): PointerProperty(type=HudProperties)},
)
