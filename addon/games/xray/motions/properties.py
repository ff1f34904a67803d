"""Properties that X-Ray adds to actions and rigs: how a motion is played, its marks, and its source file.

The action stores the bytes of its motion and the rig the rest of the file, so that unedited data is written back
unchanged. `MotionProperties` are used for motions of the editor too, and shown in the same panels.
"""

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

from ....blender import action_lists, compat
from ....blender.action_lists import Kind, ListedAction, list_property
from ....blender.properties import AddedProperties, Event, bytes_property, changed, seal_property, status_property
from ....blender.typed import Action, Context
from ....core import names
from ..bones.properties import in_order, known
from ..options import PATH_VERSIONS, ROTATIONS

LISTS = Kind("motionbridge_motion_files", "motionbridge_motion")
"""Property names of the game's motion files on an armature and of their actions."""
SKL_LISTS = Kind("motionbridge_skeletal_files", "motionbridge_skeletal")
"""Property names of the editor's motion files on an armature and of their actions."""

NAME_LIMITS = (63, 255)
"""Bytes that the name of an action can have before and since Blender 5.0: a scene may come from either."""
ALL_PARTITIONS = 0xFFFF
FLAG_ITEMS = (
    ("FX", "FX", "Plays on one bone, on top of other motions", 0x01),
    ("STOP_AT_END", "Stop at End", "Stop on the last frame instead of looping", 0x02),
    ("NO_MIX", "No Mix", "Does not blend with other motions", 0x04),
    ("SYNC_PART", "Sync Part", "Synchronized with the other bone parts", 0x08),
    (
        "USE_FOOT_STEPS",
        "Foot Steps",
        "Marks 1 and 2 are the times of the feet on the ground",
        0x10,
    ),
    ("ROOT_MOVER", "Root Mover", "The root bone moves the character", 0x20),
    ("IDLE", "Idle", "An idle motion", 0x40),
    ("USE_WEAPON_BONE", "Weapon Bone", "The weapon follows its bone", 0x80),
)
"""Bits as in the file (`formats.xray.omf.document.MotionFlag`, which is not loaded for this)."""


start_typed, end_typed = Event(), Event()
"""The user typed the start or the end of a mark's interval."""


class MarkInterval(bpy.types.PropertyGroup):
    """One interval of a mark, in seconds."""

    start: FloatProperty(
        name="Start", description="Time in seconds from the first frame", precision=4, update=start_typed.update
    )
    end: FloatProperty(
        name="End", description="Time in seconds from the first frame", precision=4, update=end_typed.update
    )


class MotionMark(bpy.types.PropertyGroup):
    """A named list of intervals. The order of marks matters: the first two are the left and the right foot."""

    intervals: CollectionProperty(type=MarkInterval)


ALL = "all"
"""Name in the panel of the target of a motion that plays on all bone parts."""


def _file_of(action: Any) -> tuple[Any, Any] | None:
    """Return the rig and the file that an action belongs to, None if there is none."""
    key = LISTS.properties(action).file
    rigs: Any = bpy.data.objects
    owners = [rig for rig in rigs if key and LISTS.files_of(rig).get(key) is not None]
    if len(owners) > 1:
        owners = [rig for rig in owners if action_lists.file_of(rig, action, LISTS) is not None] or owners
    return (owners[0], LISTS.files_of(owners[0])[key]) if owners else None


def _targets(motion: Any) -> list[tuple[str, int]]:
    """Return what a motion can play on: names, each with its index in the file (bone part, or bone for FX)."""
    own_file = _file_of(motion.id_data)
    if own_file is None:
        return [(ALL, ALL_PARTITIONS)]
    rig, file = own_file
    if "FX" in motion.flags:
        numbers = ((bone, known(bone), index) for index, bone in enumerate(in_order(rig)))
        return [(bone.name, index if of_file is None else of_file.index) for bone, of_file, index in numbers]
    return [(ALL, ALL_PARTITIONS), *((partition.name, index) for index, partition in enumerate(file.partitions))]


def _target_name(motion: "MotionProperties") -> str:
    """Return the name of the bone part or bone that the motion plays on; its index as text if the name is unknown."""
    number = motion.bone_or_part
    return next((name for name, known in _targets(motion) if known == number), str(number))


def _set_target(motion: Any, text: str) -> None:
    """Let a motion play on the bone part or bone with this name or index."""
    for name, number in _targets(motion):
        if names.same(name, text):
            motion.bone_or_part = max(number, 0)
            return
    if text.isdecimal() and int(text) <= ALL_PARTITIONS:
        motion.bone_or_part = int(text)


def _search_targets(motion: Any, _context: Context, text: str) -> list[str]:
    return [name for name, _ in _targets(motion) if text.lower() in name.lower()]


def _is_name_for(action_name: str, motion_name: str) -> bool:
    """Return whether an action has the name of a motion, as far as Blender lets it: shortened, or with a number."""
    if any(action_name == names.shortened(motion_name, limit) for limit in NAME_LIMITS):
        return True
    stem, _, number = action_name.rpartition(".")
    # Blender shortens a name further when it appends a number.
    return len(number) >= 3 and number.isdecimal() and bool(stem) and motion_name.startswith(stem)


def _motion_name(motion: "MotionProperties") -> str:
    """Return the name of a motion: that of its action if the user renamed this."""
    action: Any = motion.id_data
    stored, action_name = str(motion.stored_name), str(action.name)
    return stored if not stored or _is_name_for(action_name, stored) else action_name


def _rename(motion: Any, name: str) -> None:
    """Rename a motion and its action."""
    motion.stored_name = name
    if name and not _is_name_for(motion.id_data.name, name):
        motion.id_data.name = names.shortened(name, compat.DATA_NAME_LIMIT)


class StoredMotion:
    """What an action stores of the motion that it was imported from, of either kind of file."""

    file: StringProperty(name="File", description="The file that the motion belongs to", options={"HIDDEN"})
    index: IntProperty(
        name="Index", description="Index of the motion in its source file", default=-1, options={"HIDDEN"}
    )
    imported_name: StringProperty(options={"HIDDEN"})
    body: bytes_property("The motion as stored in its file")
    body_seal: seal_property()


class MotionProperties(StoredMotion, bpy.types.PropertyGroup):
    """How the game plays an action, and the motion that it was imported from."""

    is_motion: BoolProperty(name="Motion", description="This action is a motion of the game")
    stored_name: StringProperty(options={"HIDDEN"})
    motion_name: StringProperty(
        name="Name",
        description="Name of the motion in the game, and of its action, to which Blender may add a number",
        get=_motion_name,
        set=_rename,
        update=changed,
    )
    frame_step: FloatProperty(
        name="Frames per Key", description="Frames between two keys of the game", default=1.0, options={"HIDDEN"}
    )
    is_cut: BoolProperty(
        name="Keys Left Out",
        description="Keys behind the action's frame range were left out of the file when it was saved",
        options={"HIDDEN"},
    )
    flags: EnumProperty(
        name="Flags", items=[(*item[:3], "NONE", item[3]) for item in FLAG_ITEMS], options={"ENUM_FLAG"}
    )
    other_flags: IntProperty(name="Other Flags", description="Flag bits of unknown meaning", options={"HIDDEN"})
    bone_or_part: IntProperty(default=ALL_PARTITIONS, min=0, max=ALL_PARTITIONS, options={"HIDDEN"})
    target: StringProperty(
        name="Plays On",
        description="Bone part (partition) that the motion plays on, or the bone for FX; 'all' for the whole body",
        get=_target_name,
        set=_set_target,
        search=_search_targets,
    )
    speed: FloatProperty(
        name="Speed", description="Playback speed; 1 is 30 frames per second", default=1.0, soft_min=0.0, soft_max=10.0
    )
    power: FloatProperty(
        name="Power", description="Blend weight among motions played together", default=1.0, soft_min=0.0, soft_max=1.0
    )
    accrue: FloatProperty(
        name="Accrue", description="Fade-in speed of the motion", default=2.0, soft_min=0.0, soft_max=100.0
    )
    falloff: FloatProperty(
        name="Falloff", description="Fade-out speed of the motion", default=2.0, soft_min=0.0, soft_max=100.0
    )
    order: IntProperty(name="Order", description="Index of the motion in the list", options={"HIDDEN"}, update=changed)
    status: status_property("Comparison with the source file of the motion")
    marks: CollectionProperty(type=MotionMark)
    active_mark: IntProperty(options={"HIDDEN"})
    unedited: StringProperty(
        description="Digest of the action while it is the same as in the source file, in hexadecimal",
        options={"HIDDEN"},
    )


class DeletedMotion(bpy.types.PropertyGroup):
    """A motion to remove from the file on the next save: its ``name``, and ``index``, its index in the file."""

    index: IntProperty(default=-1, options={"HIDDEN"})


class PartitionBone(bpy.types.PropertyGroup):
    """A bone of a bone part. ``name``: the game's name of the bone."""

    track: IntProperty(name="Track", description="Index of the track that moves this bone")


class Partition(bpy.types.PropertyGroup):
    """A bone part (partition): a set of bones that can play a motion of its own."""

    bones: CollectionProperty(type=PartitionBone)


class RestBone(bpy.types.PropertyGroup):
    """Rest matrix of a bone when the motions were imported: armature space, row by row."""

    matrix: FloatVectorProperty(size=16)


class StoredFile:
    """A motion file on a rig, of either kind. Actions refer to it by its ``name``."""

    path: StringProperty(
        name="Path", description="Path where the file was imported or last written", subtype="FILE_PATH"
    )
    sha256: StringProperty(name="Digest", description="The file as imported or last saved", options={"HIDDEN"})
    embedded: BoolProperty(name="Inside Model", description="The motions are stored inside the model file")
    document: bytes_property("The file without its motions' keys")
    document_seal: seal_property()
    rest: CollectionProperty(type=RestBone)
    actions: CollectionProperty(type=ListedAction)
    action_list: list_property()
    deleted: CollectionProperty(type=DeletedMotion)


class MotionFile(StoredFile, bpy.types.PropertyGroup):
    """A motion file of the game."""

    listed_by = LISTS.files

    version: IntProperty(name="Version", description="Version of the motion parameters", default=4)
    partitions: CollectionProperty(type=Partition)
    active_partition: IntProperty(options={"HIDDEN"})
    motions_chunk: bytes_property("The chunk of motions, of a file where it is compressed or claims a wrong size")
    motions_chunk_seal: seal_property()


# The editor's motions -------------------------------------------------------------------------------------------------

EULER_ORDER = "ZXY"
"""Rotation order of the editor's motions."""


class SkeletalProperties(StoredMotion, bpy.types.PropertyGroup):
    """What an action stores of the editor motion it was imported from."""

    is_skeletal: BoolProperty(name="Editor Motion", description="This action is a motion of the game's editor")
    version: IntProperty(name="File Version", description="Version of the motion in its file", options={"HIDDEN"})
    fps: FloatProperty(name="Frame Rate", description="Frames per second in the game", options={"HIDDEN"})
    rotation: EnumProperty(
        name="Rotation", description="Rotation mode of the bones", items=ROTATIONS, options={"HIDDEN"}
    )
    metres: FloatProperty(options={"HIDDEN"})
    radians: FloatProperty(options={"HIDDEN"})
    shown_first: FloatProperty(options={"HIDDEN"})
    shown_last: FloatProperty(options={"HIDDEN"})
    kept_exactly: IntProperty(
        name="Bones with Their Keys", description="Bones whose curves are the file's", options={"HIDDEN"}
    )
    fitted: IntProperty(
        name="Bones Fitted", description="Bones whose curves are fitted, for their rest pose", options={"HIDDEN"}
    )
    saved: bytes_property("The motion as it was saved with layers, constraints or drivers")
    saved_seal: seal_property()
    drawn: bytes_property("A digest of the keys of each track, which shows whether it was edited")
    drawn_seal: seal_property()


class SkeletalFile(StoredFile, bpy.types.PropertyGroup):
    """A file of editor motions."""

    listed_by = SKL_LISTS.files


# Motion paths ---------------------------------------------------------------------------------------------------------


class PathProperties(bpy.types.PropertyGroup):
    """What an action stores of the motion path it was imported from."""

    is_path: BoolProperty(name="Path", description="This action is a motion path of the game")
    path_name: StringProperty(name="Name", description="The path's name in the game")
    path: StringProperty(name="File", description="Path of the imported file", subtype="FILE_PATH")
    version: EnumProperty(name="Version", description="Version of the file to write", items=PATH_VERSIONS)
    came_as: IntProperty(name="File Version", description="Version of the file that was read", options={"HIDDEN"})
    fps: FloatProperty(name="Frame Rate", description="Frames per second in the game", options={"HIDDEN"})
    not_shown: StringProperty(
        name="Not Shown", description="What Blender does not show and the file keeps", options={"HIDDEN"}
    )
    saved: StringProperty(options={"HIDDEN"})
    """SHA-256 of the file written by the last Save Back."""
    document: bytes_property("The file as it was read")
    document_seal: seal_property()


def order_of_angles(action: Action) -> str:
    """Return the rotation order of an action's Euler angles if its file defines one (editor motions), else ""."""
    skeletal = action.motionbridge_skeletal
    return EULER_ORDER if skeletal.is_skeletal and skeletal.rotation == "EULER" else ""


ADDED = AddedProperties(
    (
        MarkInterval,
        MotionMark,
        MotionProperties,
        DeletedMotion,
        PartitionBone,
        Partition,
        RestBone,
        MotionFile,
        SkeletalProperties,
        SkeletalFile,
        PathProperties,
    ),
    {
        (bpy.types.Action, "motionbridge_motion"): PointerProperty(type=MotionProperties),
        (bpy.types.Object, MotionFile.listed_by): CollectionProperty(type=MotionFile),
        (bpy.types.Object, "motionbridge_motion_file"): IntProperty(name="Motion File", options={"HIDDEN"}),
        (bpy.types.Action, "motionbridge_skeletal"): PointerProperty(type=SkeletalProperties),
        (bpy.types.Object, SkeletalFile.listed_by): CollectionProperty(type=SkeletalFile),
        (bpy.types.Action, "motionbridge_path"): PointerProperty(type=PathProperties),
    },
)
