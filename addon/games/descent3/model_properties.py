"""Properties of Descent 3 on objects: the model's file and batteries, and which sub-object or point an object is.

The holder of a model, an empty or an armature, stores the data of the file and is not a part of it: its transform has
no effect on the export. An unedited property string is kept, even if the game does not know it.
"""

from collections.abc import Callable
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

from ...blender.properties import (
    AddedProperties,
    Event,
    bytes_property,
    nearest_ancestor,
    seal_property,
    status_property,
)
from ...blender.typed import Context
from ...formats.descent3 import oof
from .kinds import PART_KINDS

POINT_KINDS = (
    ("NONE", "None", "Not a point of a model"),
    ("GUN", "Gun Point", "Origin of shots along the arrow; batteries and the game's tables use its index"),
    ("GROUND", "Ground Point", "Point where the object touches the ground"),
    ("ATTACH", "Attach Point", "Docking point of objects: the arrow is forward, the y axis of the empty is up"),
    ("SPECIAL", "Special Point", "A named point, ignored by the game"),
)


preview_changed = Event()
"""Another choice of what a model previews; `rotors` follows."""


def _note_object(member: "BatteryMember", _context: Context) -> None:
    member.had_object |= member.object is not None


class BatteryMember(bpy.types.PropertyGroup):
    """A gun point or turret of a battery: the object, or if none was created its index in the file."""

    object: PointerProperty(type=bpy.types.Object, update=_note_object)
    number: IntProperty(default=-1, options={"HIDDEN"})
    had_object: IntProperty(options={"HIDDEN"})
    """1 if an object was ever set."""


class BatteryProperties(bpy.types.PropertyGroup):
    """Guns that fire together, and the sub-objects that aim them."""

    guns: CollectionProperty(type=BatteryMember)
    turrets: CollectionProperty(type=BatteryMember)


class DescentModelProperties(bpy.types.PropertyGroup):
    """Data of the model whose holder the object is."""

    is_model: BoolProperty(name="Descent 3 Model", description="The children of this object are a game model")
    path: StringProperty(name="Path", description="Path of the imported model", subtype="FILE_PATH")
    saved: StringProperty(options={"HIDDEN"})
    """SHA-256 of the last file that was saved back."""
    document: bytes_property("The model as stored in its file")
    document_seal: seal_property()
    shown_points: IntProperty(options={"HIDDEN"})
    """Number of empties created for the file's points; if 0, exports keep the file's points."""
    shows_rotors: BoolProperty(
        name="Rotate Rotors",
        description="Show rotors rotating as in the game; not exported",
        update=preview_changed.update,
    )
    shows_turrets: BoolProperty(
        name="Rotate Turrets",
        description="Show turrets rotating through their range; not exported",
        update=preview_changed.update,
    )
    motion_status: status_property("Comparison of the motions with the file")
    batteries: CollectionProperty(type=BatteryProperties)
    active_battery: IntProperty(options={"HIDDEN"})


def _in_text(field: str, kind: Callable[[float], Any] = float, size: int = 1) -> dict[str, Any]:
    """Return the getter and setter of ``size`` numbers, or of one number, that are stored in the property string."""

    def read(part: "DescentPartProperties") -> Any:
        values = [kind(value) for value in oof.values_of(part.text, field)] or [kind(0)] * size
        return values if size > 1 else values[0]

    def write(part: "DescentPartProperties", value: Any) -> None:
        part.text = oof.with_values(part.text, field, list(value) if size > 1 else [value])

    return {"get": read, "set": write}


KIND_NAMES = [name for name, *_ in PART_KINDS]


def _kind(part: "DescentPartProperties") -> int:
    command = oof.parse_property(part.text)
    name = command.kind.name if command is not None else "OTHER" if part.text else "NONE"
    return KIND_NAMES.index(name)


def _set_kind(part: "DescentPartProperties", number: int) -> None:
    """Write the shortest property string of another kind, with usual numbers. OTHER changes nothing."""
    name = KIND_NAMES[number]
    if number != _kind(part) and name != "OTHER":
        part.text = "" if name == "NONE" else oof.Property.usual(oof.Kind[name]).text()


def file_digest() -> Any:
    """Return the property for the digest of the file to which ``source`` belongs."""
    return StringProperty(options={"HIDDEN"})


class DescentPartProperties(bpy.types.PropertyGroup):
    """Data of an object that is a sub-object of a model.

    ``offset``: pivot relative to the parent's pivot, for cases where the object's location does not show it: on a bone,
    or animated by an action. ``is_moved``: the import created keys for its motion. ``shown_name``:
    name in Blender after the import, to detect another one.
    """

    is_part: BoolProperty(name="Sub-Object", description="This object is a sub-object of a Descent 3 model")
    source: IntProperty(options={"HIDDEN"}, default=-1)
    of_file: file_digest()
    game_name: StringProperty(name="Name", description="The sub-object's name in the file", maxlen=255)
    shown_name: StringProperty(options={"HIDDEN"})
    offset: FloatVectorProperty(
        name="Pivot", description="Pivot at rest, relative to the parent's pivot", size=3, subtype="XYZ", precision=4
    )
    spin_axis: FloatVectorProperty(
        name="Axis",
        description="Rotation axis of the rotor or turret, in the parent's space",
        size=3,
        subtype="XYZ",
        default=(0.0, 0.0, 1.0),
    )
    is_moved: BoolProperty(name="Has Motion", options={"HIDDEN"})
    saved_motion: bytes_property("The motion that was saved back last")
    """Empty if that is the imported one."""
    saved_motion_seal: seal_property()
    text: StringProperty(
        name="Properties", description="Property string as in the file: $rotate=, $glow=, $fov=, $facing …"
    )
    kind: EnumProperty(
        name="Kind",
        description="Behaviour set by the property string",
        items=PART_KINDS,
        get=_kind,
        set=_set_kind,
    )
    seconds: FloatProperty(
        name="Seconds per Rotation",
        description="Duration of one full rotation; above 0, at most 20 for a rotor and 60 for a turret",
        min=0.0,
        max=60.0,
        **_in_text("seconds"),
    )
    colour: FloatVectorProperty(
        name="Color",
        description="Red, green and blue of the light",
        size=3,
        subtype="COLOR_GAMMA",
        min=0.0,
        max=1.0,
        **_in_text("colour", size=3),
    )
    size: FloatProperty(name="Size", description="Size of the light", min=0.0, **_in_text("size"))
    degrees: FloatProperty(
        name="Range (°)",
        description="Rotation range of the turret in degrees, half to each side",
        min=0.0,
        max=360.0,
        **_in_text("degrees"),
    )
    reaction: FloatProperty(
        name="Reaction (s)",
        description="Reaction time of the turret in seconds",
        min=0.0,
        max=10.0,
        **_in_text("reaction"),
    )
    monitor: IntProperty(
        name="Monitor",
        description=(
            "Gauge: 1 primary weapon, 2 ship, 3 secondary weapon, 4 and 5 energy, 6 shield, 7 afterburner, 8 unused"
        ),
        min=1,
        max=8,
        **_in_text("monitor", int),
    )


class DescentPointProperties(bpy.types.PropertyGroup):
    """Data of an empty that is a point of a model.

    The file's ``direction`` and ``up`` are exported as long as the empty has the rotation it was imported with
    (``shown_turn``); likewise a special point's ``radius`` as long as its size is ``shown_size``.
    """

    kind: EnumProperty(name="Kind", description="Purpose of the point", items=POINT_KINDS, default="NONE")
    source: IntProperty(options={"HIDDEN"}, default=-1)
    of_file: file_digest()
    file_kind: StringProperty(options={"HIDDEN"})
    """The imported kind, to which ``source`` belongs."""
    number: IntProperty(
        name="Index", description="Index among the points of this kind; -1 adds it at the end", default=-1, min=-1
    )
    direction: FloatVectorProperty(options={"HIDDEN"}, size=3)
    up: FloatVectorProperty(options={"HIDDEN"}, size=3)
    has_up: BoolProperty(
        name="Up", description="The attach point also defines the up direction: the y axis of the empty"
    )
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


def holder_of(obj: Any) -> Any:
    """Return the holder of the model that an object belongs to, or None."""
    return nearest_ancestor(obj, lambda ancestor: bool(ancestor.motionbridge_descent_model.is_model))


def digest_of_file(holder: Any) -> str:
    """Return a digest of the file that the holder of a model stores, "" if there is none."""
    seal: bytes = holder.motionbridge_descent_model.document_seal
    return seal.hex()


def is_of_file(properties: Any, holder: Any) -> bool:
    """Return whether the ``source`` of a part or point is an index in the file that the holder of a model stores.

    One that was made in Blender names no file.
    """
    return not properties.of_file or digest_of_file(holder) in ("", properties.of_file)


def _source_of(obj: Any, properties: Any) -> int:
    """Return the ``source`` of a part or point, -1 if it was moved here from a model of another file."""
    holder = holder_of(obj) if properties.of_file else None
    return int(properties.source) if holder is None or is_of_file(properties, holder) else -1


def is_point(candidate: Any) -> bool:
    """Return whether an object is a point of a model."""
    return candidate.type == "EMPTY" and candidate.motionbridge_descent_point.kind != "NONE"


def is_part(candidate: Any) -> bool:
    """Return whether an object is a sub-object, or can become one."""
    is_empty_part = candidate.type == "EMPTY" and bool(candidate.motionbridge_descent_part.is_part)
    return candidate.type == "MESH" or is_empty_part


def part_source(part: Any) -> int:
    """Return an object's index among the sub-objects of its model's file, -1 if it is new."""
    return _source_of(part, part.motionbridge_descent_part)


def point_source(point: Any) -> int:
    """Return the empty's index among the file's points of its kind; -1 if it is new, also of another kind or file."""
    properties = point.motionbridge_descent_point
    return _source_of(point, properties) if properties.file_kind in ("", properties.kind) else -1
