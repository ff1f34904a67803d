"""What Descent 3 adds to objects: the model's file and its batteries, which sub-object or point of it an object is.

The model is remembered on its holder, an empty or an armature that itself is no part of the file: where it stands in
the scene means nothing to the game.
"""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from ...blender.property_groups import AddedProperties
from ...blender.record import bytes_property, seal_property
from ...formats.descent3.oof.model import NEW
from . import property_values as values
from . import spin

POINT_KINDS = (
    ("NONE", "None", "No point of a model"),
    ("GUN", "Gun Point", "Where shots leave, along the arrow; batteries and the game's tables know it by its number"),
    ("GROUND", "Ground Point", "Where the object touches the ground"),
    ("ATTACH", "Attach Point", "Where objects dock: the arrow is forward, the empty's y axis up"),
    ("SPECIAL", "Special Point", "A named place; the game passes over it"),
)
MOTION_STATES = (
    ("UNKNOWN", "Not Compared", "Not compared with its file since it was imported", "NONE", 0),
    ("UNTOUCHED", "Unchanged", "The motions are those of the file", "CHECKMARK", 1),
    ("EDITED", "Edited", "Exporting changes motions of the file", "GREASEPENCIL", 2),
)


def _show_turning(model: Any, context: Any) -> None:
    spin.show(context, model.id_data)


def _note_shown(member: Any, _context: Any) -> None:
    member.was_shown |= member.shown is not None


class BatteryMember(bpy.types.PropertyGroup):
    """A gun point or turret of a battery: the object, or where none was made its number in the file."""

    shown: PointerProperty(type=bpy.types.Object, update=_note_shown)
    number: IntProperty(default=NEW, options={"HIDDEN"})
    was_shown: IntProperty(options={"HIDDEN"})
    """1 where there was an object."""


class BatteryProperties(bpy.types.PropertyGroup):
    """Guns that fire together, and the sub-objects that aim them."""

    guns: CollectionProperty(type=BatteryMember)
    turrets: CollectionProperty(type=BatteryMember)


class DescentModelProperties(bpy.types.PropertyGroup):
    """The model an object holds."""

    is_model: BoolProperty(name="Descent 3 Model", description="What is below this object is a model of the game")
    path: StringProperty(name="Path", description="Where the model was read", subtype="FILE_PATH")
    member: StringProperty(name="In Archive", description="The model's name in the archive it was read from")
    saved: StringProperty(options={"HIDDEN"})
    """The SHA-256 of the file that was saved back last."""
    document: bytes_property("The model as its file has it")
    document_seal: seal_property()
    shown_points: IntProperty(options={"HIDDEN"})
    """Of how many of the file's points objects were made; exports keep them where that is 0."""
    shows_rotors: BoolProperty(
        name="Turn Rotors",
        description="Show rotors turning as the game turns them; exports take no notice of it",
        update=_show_turning,
    )
    shows_turrets: BoolProperty(
        name="Swing Turrets",
        description="Show turrets swinging through their fields; exports take no notice of it",
        update=_show_turning,
    )
    motion_status: EnumProperty(
        name="Motions",
        description="Whether the motions are those of the file",
        items=MOTION_STATES,
        options={"HIDDEN"},
    )
    batteries: CollectionProperty(type=BatteryProperties)
    active_battery: IntProperty(options={"HIDDEN"})


class DescentPartProperties(bpy.types.PropertyGroup):
    """Which sub-object of a model an object is.

    ``offset`` is its pivot from its parent's, where the object's own place does not say it: on a bone, or while an
    action moves it. ``is_moved``: the import gave it the keys of its motion. ``shown_name`` and ``shown_place`` are
    Blender's after the import: what differs was edited.
    """

    is_part: BoolProperty(name="Sub-Object", description="This object is a sub-object of a Descent 3 model")
    source: IntProperty(options={"HIDDEN"}, default=NEW)
    game_name: StringProperty(name="Name", description="The sub-object's name in the file", maxlen=255)
    shown_name: StringProperty(options={"HIDDEN"})
    shown_place: FloatVectorProperty(options={"HIDDEN"}, size=3)
    offset: FloatVectorProperty(
        name="Pivot", description="The pivot at rest, from that of the parent", size=3, subtype="XYZ", precision=4
    )
    spin_axis: FloatVectorProperty(
        name="Axis",
        description="What a rotor or turret turns about, in its parent's frame",
        size=3,
        subtype="XYZ",
        default=(0.0, 0.0, 1.0),
    )
    is_moved: BoolProperty(name="Has a Motion", options={"HIDDEN"})
    text: StringProperty(
        name="Properties", description="The property string as the file has it: $rotate=, $glow=, $fov=, $facing …"
    )
    kind: EnumProperty(
        name="Kind",
        description="What the property string makes of the sub-object",
        items=values.KINDS,
        get=values.get_kind,
        set=values.set_kind,
    )
    seconds: FloatProperty(
        name="Seconds a Turn",
        description="How long one turn takes; above 0, at most 20 for a rotor and 60 for a turret",
        min=0.0,
        max=60.0,
        get=values.get_seconds,
        set=values.set_seconds,
    )
    colour: FloatVectorProperty(
        name="Colour",
        description="Red, green and blue of the light",
        size=3,
        subtype="COLOR_GAMMA",
        min=0.0,
        max=1.0,
        get=values.get_colour,
        set=values.set_colour,
    )
    size: FloatProperty(
        name="Size", description="How large the light is", min=0.0, get=values.get_size, set=values.set_size
    )
    degrees: FloatProperty(
        name="Field (°)",
        description="Degrees the turret may turn through, half to each side",
        min=0.0,
        max=360.0,
        get=values.get_degrees,
        set=values.set_degrees,
    )
    reaction: FloatProperty(
        name="Reaction (s)",
        description="Seconds before the turret reacts",
        min=0.0,
        max=10.0,
        get=values.get_reaction,
        set=values.set_reaction,
    )
    monitor: IntProperty(
        name="Monitor",
        description="1 primary weapon, 2 ship, 3 secondary weapon, 4 and 5 energy, 6 shield, 7 afterburner, 8 unused",
        min=1,
        max=8,
        get=values.get_monitor,
        set=values.set_monitor,
    )


class DescentPointProperties(bpy.types.PropertyGroup):
    """Which point of a model an empty is.

    The file's ``direction`` and ``up`` count while the empty still has the rotation it was given (``shown_turn``);
    likewise a special point's ``radius`` and ``shown_size``.
    """

    kind: EnumProperty(name="Kind", description="What the point is for", items=POINT_KINDS, default="NONE")
    source: IntProperty(options={"HIDDEN"}, default=NEW)
    number: IntProperty(
        name="Number", description="Its place among the points of its kind; -1: behind them", default=NEW, min=NEW
    )
    direction: FloatVectorProperty(options={"HIDDEN"}, size=3)
    up: FloatVectorProperty(options={"HIDDEN"}, size=3)
    has_up: BoolProperty(name="Up", description="The attach point says which way is up: the empty's y axis")
    shown_turn: FloatVectorProperty(options={"HIDDEN"}, size=4)
    shown_up: BoolProperty(name="Up", options={"HIDDEN"})
    radius: FloatProperty(options={"HIDDEN"})
    shown_size: FloatProperty(options={"HIDDEN"})
    game_name: StringProperty(name="Name", description="The special point's name in the file", maxlen=255)
    text: StringProperty(name="Properties", description="The special point's property string")


ADDED = AddedProperties(
    (BatteryMember, BatteryProperties, DescentModelProperties, DescentPartProperties, DescentPointProperties),
    {
        (bpy.types.Object, "motionbridge_descent_model"): PointerProperty(type=DescentModelProperties),
        (bpy.types.Object, "motionbridge_descent_part"): PointerProperty(type=DescentPartProperties),
        (bpy.types.Object, "motionbridge_descent_point"): PointerProperty(type=DescentPointProperties),
    },
)


def holder_of(shown: Any) -> Any:
    """What remembers the model that an object is part of; None where it is of none."""
    while shown is not None and not shown.motionbridge_descent_model.is_model:
        shown = shown.parent
    return shown
