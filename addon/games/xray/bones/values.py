"""Shape, joint and mass of bones between armatures and files (models, `.bones`), and the bone order of another model.

A new model can take the order and the bone parts of another model or motion file, so that its motions fit: the index of
each bone is stored on the bone, the bone parts with the indices in the other model on the armature.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ....blender.properties import keep, kept
from ....core import files, names
from ....core.binary import as_in_file
from ....core.changes import Changes, Noun
from ....core.errors import ReadError, WriteError
from ....core.report import Report, listed, say
from ....formats.xray import bones as bones_format
from ....formats.xray import conversion
from ....formats.xray.bones import (
    Bones,
    Breaking,
    Friction,
    IkFlags,
    Mass,
    Material,
    Part,
    Physics,
    decode_bone,
    encode_bone,
    new_bone,
    new_bones,
    with_bones,
)
from ....formats.xray.ogf.bone_values import NUMBERS, numbers_of
from ....formats.xray.ogf.chunk_types import IkBone, Joint, Shape
from ...plan import FilePlan
from . import properties as bone_properties
from .properties import AXES, JOINTS, SHAPE_FLAGS, SHAPES, UNKNOWN, game_name, known

if TYPE_CHECKING:
    from ....blender.typed import Bone, Object
    from ....formats.xray.conversion import BoneOrder
    from ....formats.xray.ogf.chunk_types import IkBone
    from .properties import BoneProperties

BREAKABLE = 1
_DEFAULTS: dict[str, Any] = {
    "material": "",
    "shape": SHAPES[0][0],
    "shape_flags": set(),
    "joint": JOINTS[0][0],
    "breakable": False,
}
_SHAPE_NAMES, _JOINT_NAMES = ({item[3]: item[0] for item in items} for items in (SHAPES, JOINTS))

Value = Any
"""Value of a property: a string, a bool, an enum identifier or a set of them, or float32 numbers (n,)."""


def _other_values(entry: IkBone) -> dict[str, Value]:
    """Return the values of an entry that are not numbers, by property."""
    shape, joint = entry.shape, entry.joint
    values: dict[str, Value] = {
        "material": names.decode(entry.material),
        "shape": _SHAPE_NAMES.get(shape.type, UNKNOWN[0]),
        "shape_flags": {item[0] for item in SHAPE_FLAGS if shape.flags & item[3]} if shape.flags else set(),
        "joint": _JOINT_NAMES.get(joint.type, UNKNOWN[0]),
    }
    if joint.flags is not None:
        values["breakable"] = bool(joint.flags & BREAKABLE)
    return values


def _values(entry: IkBone) -> dict[str, Value]:
    """Return all values of an entry, by property."""
    numbers = numbers_of(entry)
    return _other_values(entry) | {path: numbers[start:end] for path, start, end in NUMBERS if end <= len(numbers)}


def build(bone: Bone, entry: IkBone) -> None:
    """Set rest pose, shape, joint and mass of a bone from ``entry``."""
    properties = bone.motionbridge_xray
    properties.rest_rotation = entry.rotation.tolist()
    properties.rest_offset = entry.offset.tolist()
    build_physics(bone, entry, new=True)


def build_physics(bone: Bone, entry: IkBone, left_out: Collection[str] = (), *, new: bool = False) -> None:
    """Set shape, joint and mass of a bone from ``entry``, except the properties ``left_out``.

    ``new``: all numbers of the bone are still 0 and its other properties those of `_DEFAULTS`, so only values that
    differ from these are set.
    """
    properties = bone.motionbridge_xray
    for name, value in _other_values(entry).items():
        if name not in left_out and not (new and value == _DEFAULTS[name]):
            setattr(properties, name, value)
    numbers = numbers_of(entry).tolist()
    for path, start, end in NUMBERS:
        part = numbers[start:end]
        if not part or (new and not any(part)) or path in left_out:
            continue
        owner, _, name = path.rpartition(".")
        setattr(getattr(properties, owner) if owner else properties, name, part if end - start > 1 else part[0])


def gather(bone: Bone, base: IkBone, left_out: Collection[str] = ()) -> tuple[IkBone, list[str]]:
    """Return ``base`` with the values that were edited on the bone, and the names of the edited properties.

    The same object is returned if nothing was edited. The rest pose, which belongs to the armature, and the properties
    ``left_out`` are not compared.
    """
    old = _values(base)
    new = {path: _current(bone.motionbridge_xray, path, value) for path, value in old.items()}
    changed = [path for path in old if path not in left_out and not _same(old[path], new[path])]
    if not changed:
        return base, []
    return _entry(base, old | {path: new[path] for path in changed}), changed


def _current(properties: BoneProperties, path: str, like: Value) -> Value:
    owner, _, name = path.rpartition(".")
    value = getattr(getattr(properties, owner) if owner else properties, name)
    if not isinstance(like, np.ndarray):
        return set(value) if isinstance(like, set) else value
    if like.tolist() == ([value] if isinstance(value, float) else list(value)):
        return like
    return as_in_file(np.array(value, np.float32).reshape(-1), like)


def _same(first: Value, second: Value) -> bool:
    if isinstance(first, np.ndarray):
        return first is second or np.array_equal(first, second, equal_nan=True)
    return bool(first == second)


def _entry(base: IkBone, values: dict[str, Value]) -> IkBone:
    known = sum(item[3] for item in SHAPE_FLAGS)
    chosen = sum(item[3] for item in SHAPE_FLAGS if item[0] in values["shape_flags"])
    shape = Shape(
        _number(SHAPES, values["shape"], base.shape.type),
        (base.shape.flags & ~known) | chosen,
        np.concatenate([values["box_rotation"], values["box_centre"], values["box_half_size"]]),
        np.concatenate([values["sphere_centre"], values["sphere_radius"]]),
        np.concatenate([values[f"cylinder_{part}"] for part in ("centre", "direction", "height", "radius")]),
    )
    limits = np.array(
        [
            [
                -values[f"limit_{axis}.highest"][0],
                -values[f"limit_{axis}.lowest"][0],
                values[f"limit_{axis}.spring"][0],
                values[f"limit_{axis}.damping"][0],
            ]
            for axis in AXES
        ],
        np.float32,
    )
    joint = Joint(_number(JOINTS, values["joint"], base.joint.type), limits, values["spring"][0], values["damping"][0])
    if base.joint.flags is not None:
        joint.flags = (base.joint.flags & ~BREAKABLE) | (BREAKABLE if values["breakable"] else 0)
        joint.breaking = np.concatenate([values["break_force"], values["break_torque"]])
    if base.joint.friction is not None:
        joint.friction = values["friction"][0]
    material = base.material if names.decode(base.material) == values["material"] else names.encode(values["material"])
    return replace(
        base,
        material=material,
        shape=shape,
        joint=joint,
        mass=values["mass"][0],
        centre_of_mass=values["centre_of_mass"],
    )


def _number(items: tuple[tuple[str, str, str, int], ...], identifier: str, default: int) -> int:
    return next((item[3] for item in items if item[0] == identifier), default)


# Order and parts of another model -------------------------------------------------------------------------------------


def order_of_new_model(holder: Object) -> BoneOrder:
    """Return the bone order and bone parts that a new model took from another; empty ones for any other object."""
    model = holder.motionbridge_editor_model
    if not model.is_made or not len(model.parts):
        return conversion.BoneOrder()
    bones = sorted((bone.track, bone.name) for part in model.parts for bone in part.bones)
    parts = [(part.name, [bone.name for bone in part.bones]) for part in model.parts]
    return conversion.BoneOrder([name for _, name in bones], parts)


def take_order(rig: Object, order: BoneOrder, report: Report) -> int:
    """Number the bones of a new model as in ``order``, and store its bone parts. Returns how many bones both have.

    Reports bones that only one of the models has. Bones without game properties do not change.
    """
    numbers = {bone.lower(): number for number, bone in enumerate(order.bones)}
    bones = sorted((bone for bone in rig.data.bones if known(bone) is not None), key=lambda bone: known(bone).index)
    labels = [game_name(bone).lower() for bone in bones]
    missing = [bone for bone in order.bones if bone.lower() not in labels]
    additional = [bone.name for bone, label in zip(bones, labels, strict=True) if label not in numbers]
    if missing:
        report.warn(say("bones of the other model that this one lacks: {}", listed(missing)), rig.name)
    if additional:
        words = "bones that the other model lacks, which get numbers behind its own: {}"
        report.warn(say(words, listed(additional)), rig.name)
    ranked = sorted(zip(bones, labels, strict=True), key=lambda row: numbers.get(row[1], len(numbers)))
    for number, (bone, _) in enumerate(ranked):
        bone.motionbridge_xray.index = number
    parts = rig.motionbridge_editor_model.parts
    parts.clear()
    for name, names_in_part in order.parts or [("default", order.bones)]:
        part = parts.add()
        part.name = name
        for label in names_in_part:
            entry = part.bones.add()
            entry.name, entry.track = label, numbers.get(label.lower(), len(numbers))
    return len(bones) - len(additional)


# Files of bones -------------------------------------------------------------------------------------------------------

PROPERTIES_OF_CHUNK: dict[type, tuple[str, ...]] = {
    Material: ("material",),
    Shape: (
        *("shape", "shape_flags", "box_rotation", "box_centre", "box_half_size", "sphere_centre", "sphere_radius"),
        *("cylinder_centre", "cylinder_direction", "cylinder_height", "cylinder_radius"),
    ),
    IkFlags: ("breakable",),
    Joint: (
        *("joint", "spring", "damping"),
        *(f"limit_{axis}.{part}" for axis in "xyz" for part in ("lowest", "highest", "spring", "damping")),
    ),
    Breaking: ("break_force", "break_torque"),
    Friction: ("friction",),
    Mass: ("mass", "centre_of_mass"),
}
"""Properties that each type of chunk stores."""


def import_bones(rig: Object, path: str, report: Report) -> int:
    """Set the properties of the file at ``path`` on the bones of ``rig``. Returns how many bones were set.

    Raises `ReadError` if the file is not a `.bones` file, or none of its bones is in the armature.
    """
    data = files.read_file(path)
    document = bones_format.read(data, path, report)
    by_name = _bones_by_name(rig)
    given, missing = 0, []
    pairs = [(bone, by_name.get(bone.name.lower())) for bone in document.bones]
    if not any(own is not None for _, own in pairs):
        sentence = "none of the file's bones is in the armature {!r}"
        raise ReadError(say(sentence, rig.name), file=path, remedy="Select the armature these properties belong to")
    firsts = _first_of_each_name(document)
    decoded = [decode_bone(bone) for bone, _ in pairs]  # errors are raised before a bone is changed
    for number, ((bone, own), physics) in enumerate(zip(pairs, decoded, strict=True)):
        if firsts[bone.name.lower()] is not bone:
            report.warn("the file has several bones of one name; the first is used, the others are kept", bone.name)
            continue
        if own is None:
            missing.append(bone.name)
            continue
        _make_game_bone(own, bone.name, number)
        build_physics(own, physics.entry, _missing_properties(physics))
        given += 1
    if missing:
        words = (
            "{0:# bone|# bones} of the file {0:is|are} not in the armature; {0:its|their} properties are kept and "
            "written back"
        )
        report.warn(say(words, len(missing)), ", ".join(missing))
    rig.motionbridge_bones.path = path
    keep(rig.motionbridge_bones, "document", data)
    return given


def _first_of_each_name(document: Bones) -> dict[str, bones_format.Bone]:
    """Return the first bone of each name in lower case, in the file's order, which is also that of an export."""
    result: dict[str, bones_format.Bone] = {}
    for section in document.sections:
        if isinstance(section.value, bones_format.Bone):
            result.setdefault(section.value.name.lower(), section.value)
    return result


def _bones_by_name(rig: Object) -> dict[str, Bone]:
    result: dict[str, Bone] = {}
    for bone in bone_properties.in_order(rig):
        result.setdefault(bone_properties.game_name(bone).lower(), bone)
    return result


def _make_game_bone(bone: Bone, name: str, number: int) -> None:
    """Give a bone that was not imported from a model the properties of a game bone, so that the panels show it."""
    properties = bone.motionbridge_xray
    if bone_properties.known(bone) is None:
        properties.is_bone, properties.index = True, number
        properties.game_name, properties.imported_name = name, bone.name


def _missing_properties(physics: Physics) -> set[str]:
    return {
        name for kind, properties in PROPERTIES_OF_CHUNK.items() if kind not in physics.kinds for name in properties
    }


def plan_export(rig: Object, path: str, report: Report) -> FilePlan:
    """Plan the file at ``path`` with the properties of the bones of ``rig``. Raises `WriteError`.

    It is based on the file imported onto the armature; without one it is a new file with all game bones.
    """
    if rig.mode == "EDIT":
        rig.update_from_editmode()
    files.warn_of_replacing(path, report)
    changes = Changes(noun=Noun.BONE, unchanged=0)
    data = kept(rig.motionbridge_bones, "document")
    document = bones_format.read(data, path, Report()) if data else None
    own_document = _new_file(rig, changes) if document is None else _changed(rig, document, changes, report)
    return FilePlan(path, bones_format.write(own_document), changes)


def _changed(rig: Object, document: Bones, changes: Changes, report: Report) -> Bones:
    by_name = _bones_by_name(rig)
    changed, unchanged = {}, 0
    for index, section in enumerate(document.sections):
        bone = section.value
        if not isinstance(bone, bones_format.Bone):
            continue
        own = by_name.pop(bone.name.lower(), None)
        physics = decode_bone(bone)
        entry, properties = gather(own, physics.entry, _missing_properties(physics)) if own else (physics.entry, [])
        if properties:
            changes.change(Noun.BONE, bone.name, *map(say, properties))
            changed[index] = encode_bone(bone, entry)
        else:
            unchanged += 1
    new = {name: own for name, own in by_name.items() if bone_properties.known(own) is not None}
    if left_out := [own.name for name, own in by_name.items() if name not in new]:
        report.note("bones without properties of the game are left out", ", ".join(left_out))
    changes.unchanged = unchanged
    return with_bones(document, changed, [_new_bone(own, changes) for own in new.values()])


def _new_file(rig: Object, changes: Changes) -> Bones:
    bones = [bone for bone in bone_properties.in_order(rig) if bone_properties.known(bone) is not None]
    if not bones:
        words = "no bone of {!r} has properties of the game"
        raise WriteError(say(words, rig.name), remedy="Import a model (.ogf) or bone properties (.bones) first")
    return new_bones([_new_bone(bone, changes) for bone in bones], list(_parts(rig)))


def _new_bone(bone: Bone, changes: Changes) -> bones_format.Bone:
    name = bone_properties.game_name(bone)
    changes.add(Noun.BONE, name)
    return new_bone(name, _file_entry(bone))


def _parts(rig: Object) -> Iterator[Part]:
    """Yield the bone parts of the armature's first motion file."""
    for file in list(rig.motionbridge_motion_files)[:1]:
        for partition in file.partitions:
            yield Part(names.encode(partition.name), [names.encode(bone.name) for bone in partition.bones])


def _file_entry(bone: Bone) -> IkBone:
    """Return the values of a bone as an entry of a model."""
    empty = decode_bone(new_bone("", decode_bone(bones_format.Bone([])).entry))
    entry, _ = gather(bone, empty.entry)
    return entry


def suggested_name(rig: Object) -> str:
    """Return the path of the imported `.bones` file, else a name made from the armature's."""
    return str(rig.motionbridge_bones.path) or f"{names.shortened(bpy.path.clean_name(rig.name))}.bones"
