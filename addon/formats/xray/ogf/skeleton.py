"""Decode a model's bones into a `Skeleton`, and encode them.

The rest pose is the bind pose of the inverse kinematics chunk. The engine finds parents by name, without case, and
refuses a model that has not exactly one root. A model that it would refuse is imported with a warning if its bones
still form a tree, so that it can be repaired.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import names, quantum, rotation, space
from ....core.binary import DAMAGED, NOT_IN_FORMAT
from ....core.changes import Changes, Noun
from ....core.errors import ReadError, WriteError
from ....core.model import Skeleton, parents_first
from ....core.report import Report, say
from ..omf.document import MOST_BONES, RAISE_LIMIT, MotionLibrary
from .chunk_types import BoneName, BoneNames, IkBone, IkData, IkLayout, Joint, Shape, Vertices
from .document import Ogf, part_name, parts, with_parts

Floats = NDArray[np.float64]

NEW_BONE_MATERIAL = b"default_object"
NEW_BONE_MASS = 10.0
LARGEST_SHOWN = 1e9
"""Numbers of a rest pose (metres or radians) from this size on are shown as 0.

Blender squares coordinates in 32 bits.
"""


# Damaged files hold NaN and infinite values; they are reported.
@np.errstate(invalid="ignore")
def decode_skeleton(document: Ogf, report: Report) -> Skeleton:
    """Return the bones in the file's order, with names as stored.

    Raises `ReadError` if there are no bones or no rest poses for them, two bones have the same name, or parents form a
    cycle.
    """
    bone_names, physics = _bone_chunks(document)
    labels = [bone.label for bone in bone_names.bones]
    for group in names.duplicates(labels):
        raise ReadError(
            say("{} bones are named {!r}", len(group), group[0]),
            file=document.file,
            remedy="Rename all but one of them: the game finds bones by name",
        )
    parents = _parents(document, bone_names, report)
    for bone, entry in zip(labels, physics.bones, strict=True):
        if not (_usable(entry.rotation).all() and _usable(entry.offset).all()):
            report.warn("the rest pose has NaN, infinite or huge values; shown as zero, kept in the file", bone)
    rotations, offsets = _parent_local_rest(physics, parents)
    return Skeleton(document.name, labels, parents, rotations, offsets, space.XRAY_ROOT_FRAME.copy())


def _bone_chunks(document: Ogf) -> tuple[BoneNames, IkData]:
    bone_names, physics = document.first(BoneNames), document.first(IkData)
    if document.runs_past_end and (bone_names is None or physics is None):
        raise ReadError(
            "the bones cannot be read: chunks of the file run past its end", file=document.file, remedy=DAMAGED
        )
    if bone_names is None or not bone_names.bones:
        raise ReadError(
            "the model has no skeleton (no readable bone names)",
            file=document.file,
            remedy="Choose the model that the motions belong to, or copy this one again from its source",
        )
    if physics is None or len(physics.bones) != len(bone_names.bones):
        words = "the rest pose of {:# bone|# bones} is missing or unreadable (chunk of inverse kinematics)"
        raise ReadError(say(words, len(bone_names.bones)), file=document.file, remedy=NOT_IN_FORMAT)
    return bone_names, physics


def _parents(document: Ogf, bone_names: BoneNames, report: Report) -> NDArray[np.int32]:
    index = {bone.label.lower(): number for number, bone in enumerate(bone_names.bones)}
    parents = np.full(len(bone_names.bones), -1, np.int32)
    for number, bone in enumerate(bone_names.bones):
        parent = names.decode(bone.parent)
        if parent and parent.lower() not in index:
            report.warn(say("the parent {!r} does not exist; the bone becomes a root", parent), bone.label)
        elif parent:
            parents[number] = index[parent.lower()]
    try:
        parents_first(parents)
    except ValueError:
        cycle = [bone_names.bones[number].label for number in _cycle(parents)]
        raise ReadError(
            say("the parents of bones form a cycle: {}", ", ".join(cycle)),
            file=document.file,
            remedy="Give one of them another parent in the tool that made it",
        ) from None
    roots = [bone_names.bones[number].label for number in np.flatnonzero(parents < 0)]
    if len(roots) > 1:
        report.warn(say("several bones have no parent, the game supports one: {}", ", ".join(roots)))
    if len(bone_names.bones) > MOST_BONES:
        report.warn(say("{:# bone|# bones}, the game supports {}", len(bone_names.bones), MOST_BONES))
    return parents


def _cycle(parents: NDArray[np.int32]) -> list[int]:
    """Return the bones of one cycle, which must exist.

    After as many steps to the parent as there are bones, only bones of cycles are left.
    """
    here = np.arange(len(parents))
    for _ in range(len(parents)):
        here = np.where(here >= 0, parents[here], -1)
    start = int(here.max())
    cycle = [start]
    while (following := int(parents[cycle[-1]])) != start:
        cycle.append(following)
    return cycle


def _stored_pose(physics: IkData) -> tuple[Floats, Floats]:
    """Return rotations (bones, 4) wxyz and translations (bones, 3) as stored, in Blender's axes.

    Unusable numbers become 0.
    """
    angles = np.array([bone.rotation for bone in physics.bones], np.float64)
    offsets = np.array([bone.offset for bone in physics.bones], np.float64)
    angles, offsets = (np.where(_usable(numbers), numbers, 0.0) for numbers in (angles, offsets))
    return space.xray_bone_angles(angles), space.xray_bone_translations(offsets)


def _usable(numbers: NDArray[np.floating[Any]]) -> NDArray[np.bool_]:
    """Return which numbers of a rest pose Blender can show: finite, and small enough for a chain of 64 bones."""
    result: NDArray[np.bool_] = np.abs(numbers) < LARGEST_SHOWN
    return result


def _parent_local_rest(physics: IkData, parents: NDArray[np.int32]) -> tuple[Floats, Floats]:
    """Return rotations (bones, 4) and translations (bones, 3) of the rest pose relative to the parent."""
    rotations, offsets = _stored_pose(physics)
    if physics.layout != IkLayout.ABSOLUTE:
        return rotations, offsets
    parent_inverse = rotation.conjugate(np.where(parents[:, None] < 0, rotation.IDENTITY, rotations[parents]))
    origin = np.where(parents[:, None] < 0, 0.0, offsets[parents])
    return rotation.multiply(parent_inverse, rotations), rotation.rotate(parent_inverse, offsets - origin)


def _model_space_rest(skeleton: Skeleton) -> tuple[Floats, Floats]:
    """Return rotations (bones, 4) and translations (bones, 3) of the rest pose in the space of the root's parent."""
    rotations, offsets = skeleton.rest_rotation.copy(), skeleton.rest_translation.copy()
    for bone in parents_first(skeleton.parents):
        parent = skeleton.parents[bone]
        if parent >= 0:
            offsets[bone] = offsets[parent] + rotation.rotate(rotations[parent], skeleton.rest_translation[bone])
            rotations[bone] = rotation.multiply(rotations[parent], skeleton.rest_rotation[bone])
    return rotations, offsets


@np.errstate(invalid="ignore")
def encode_skeleton(skeleton: Skeleton, base: Ogf, most_bones: int = MOST_BONES) -> tuple[Ogf, Changes]:
    """Return ``base`` with the skeleton's bones, and what changed; unedited fields keep their bytes.

    Bones are matched by name without case. New ones get a box of size zero and no collision shape. Bone indices of
    vertices are adjusted if the order of the bones changes. Raises `WriteError` for a skeleton that the game cannot
    load, vertices of removed bones, and changed bones in a model that contains its motions.
    """
    bone_names, physics = _bone_chunks(base)
    same_tree = _same_tree(skeleton, base, bone_names)
    if not same_tree:
        check_skeleton(skeleton, most_bones)
    check_rest(skeleton)
    index = {bone.label.lower(): number for number, bone in enumerate(bone_names.bones)}
    base_index = [index.get(bone.lower(), -1) for bone in skeleton.bones]
    changes = Changes()
    document = base
    if not same_tree:
        document = document.replaced(bone_names, _encode_names(skeleton, bone_names, base_index, changes))
    if base_index != list(range(len(bone_names.bones))):
        document = _renumbered(document, bone_names, base_index, changes)
    new_physics = _encode_physics(skeleton, physics, base_index, changes)
    return (document if new_physics is physics else document.replaced(physics, new_physics)), changes


def _same_tree(skeleton: Skeleton, base: Ogf, bone_names: BoneNames) -> bool:
    """Return whether names and parents equal those of the base.

    Such a file is written as it is, even if the game could not load it.
    """
    labels = [bone.label for bone in bone_names.bones]
    return (
        len(labels) == len(skeleton.bones)
        and all(map(names.same, labels, skeleton.bones))
        and np.array_equal(skeleton.parents, _parents(base, bone_names, Report()))
    )


def check_skeleton(skeleton: Skeleton, most_bones: int = MOST_BONES) -> None:
    """Raise `WriteError` for a skeleton that the game cannot load.

    That is: no bones or more than ``most_bones``, no name, two bones with the same name, a missing parent, a cycle, not
    exactly one root.
    """
    count = len(skeleton.bones)
    if not 0 < count <= most_bones:
        raise WriteError(
            say("the skeleton has {:# bone|# bones}, the game supports 1 to {}", count, most_bones),
            remedy=RAISE_LIMIT if count else "Add a bone",
        )
    if any(not bone for bone in skeleton.bones):
        raise WriteError("a bone has no name", remedy="Give every bone a name")
    for group in names.duplicates(skeleton.bones):
        raise WriteError(
            say("the bones {} are the same name to the game", " and ".join(repr(bone) for bone in group)),
            remedy="Make them differ in more than upper and lower case",
        )
    wrong = [bone for bone, parent in zip(skeleton.bones, skeleton.parents, strict=True) if not -1 <= parent < count]
    if wrong:
        words = "the parent of {!r} is not a bone of the skeleton"
        raise WriteError(say(words, wrong[0]), remedy="Choose another parent")
    try:
        parents_first(skeleton.parents)
    except ValueError as cycle:
        raise WriteError(str(cycle), remedy="Give one of these bones another parent") from None
    roots = [bone for bone, parent in zip(skeleton.bones, skeleton.parents, strict=True) if parent < 0]
    if len(roots) != 1:
        words = "{:# bone has|# bones have} no parent ({}), the game needs exactly one"
        raise WriteError(say(words, len(roots), ", ".join(roots)), remedy="Give all but one of them a parent")


def check_rest(skeleton: Skeleton) -> None:
    """Raise `WriteError` for a rest pose with NaN or infinite values."""
    numbers = np.concatenate([skeleton.rest_rotation, skeleton.rest_translation], axis=1)
    if not np.isfinite(numbers).all():
        broken = skeleton.bones[int(np.flatnonzero(~np.isfinite(numbers).all(axis=1))[0])]
        words = "the rest pose of {!r} holds NaN or infinite values"
        raise WriteError(say(words, broken), remedy="Reset its rest pose")


def _encode_names(skeleton: Skeleton, bone_names: BoneNames, base_index: list[int], changes: Changes) -> BoneNames:
    """Return the chunk of names, with the old entry of every bone that still exists."""
    bones = []
    for bone, parent, old_index in zip(skeleton.bones, skeleton.parents, base_index, strict=True):
        parent_name = skeleton.bones[parent] if parent >= 0 else ""
        if old_index < 0:
            zero = np.zeros(3, np.float32)
            box = np.eye(3, dtype=np.float32)
            bones.append(BoneName(_stored_name(bone), _stored_name(parent_name), box, zero, zero))
            changes.change(Noun.BONE, bone, say("new"))
            continue
        old = bone_names.bones[old_index]
        if names.same(names.decode(old.parent), parent_name):
            bones.append(old)
        else:
            bones.append(replace(old, parent=_stored_name(parent_name)))
            changes.change(Noun.BONE, bone, say("parent"))
    gone = [bone.label for number, bone in enumerate(bone_names.bones) if number not in base_index]
    for bone in gone:
        changes.change(Noun.BONE, bone, say("removed"))
    kept = [number for number in base_index if number >= 0]
    if kept != sorted(kept):
        changes.note(say("order of the bones"))
    return BoneNames(bones)


def _stored_name(name: str) -> bytes:
    """Return the name as the engine's own tools write it: lower case, code page 1251."""
    return names.encode(name.lower())


def _renumbered(document: Ogf, bone_names: BoneNames, base_index: list[int], changes: Changes) -> Ogf:
    """Return the model with the bone indices of its vertices adjusted to the new order of bones.

    Raises `WriteError` if the model contains its motions, or if vertices refer to removed bones.
    """
    if document.first(MotionLibrary) is not None:
        raise WriteError(
            "bones were added, removed or reordered, and the model contains its motions",
            remedy="Keep the bones as they are, or move the motions to an .omf file first",
        )
    new_number = np.full(len(bone_names.bones), -1, np.int64)
    for number, old in enumerate(base_index):
        if old >= 0:
            new_number[old] = number
    if (new_number == np.arange(len(new_number))).all():
        return document
    changed: dict[tuple[int, ...], Ogf] = {}
    for part in parts(document):
        vertices = part.visual.first(Vertices)
        if vertices is None or not vertices.links:
            continue
        rows = vertices.rows.copy()
        name = part_name(document, part)
        rows["bones"] = _new_numbers(rows["bones"], new_number, bone_names.bones, name)
        changed[part.path] = part.visual.replaced(vertices, Vertices(vertices.format, rows))
        changes.change(Noun.MESH, name, say("bone numbers"))
    return with_parts(document, changed)


def _new_numbers(
    old: NDArray[np.integer], new_number: NDArray[np.int64], bones: Sequence[BoneName], mesh: str
) -> NDArray[np.int64]:
    known = old < len(new_number)
    numbers = np.where(known, new_number[np.where(known, old, 0)], old)
    if (numbers < 0).any():
        lost = sorted({bones[number].label for number in np.unique(old[numbers < 0])})
        raise WriteError(
            say("vertices of {!r} follow bones that were removed: {}", mesh, ", ".join(lost)),
            remedy="Assign these vertices to other bones, export the mesh, and then remove the bones",
        )
    return numbers


def _encode_physics(skeleton: Skeleton, physics: IkData, base_index: list[int], changes: Changes) -> IkData:
    """Return the chunk of rest poses and physics; the old object if nothing changed."""
    absolute = physics.layout == IkLayout.ABSOLUTE
    rotations, offsets = (
        _model_space_rest(skeleton) if absolute else (skeleton.rest_rotation, skeleton.rest_translation)
    )
    old_rotations, old_offsets = _stored_pose(physics)
    index = np.array(base_index)
    magnitude = np.abs(old_offsets[index]).max(axis=1, keepdims=True)
    if absolute:
        magnitude = np.maximum(magnitude, np.abs(old_offsets).max())
    magnitude = np.broadcast_to(magnitude, offsets.shape)
    same_rotation = quantum.unedited_rotations(rotations, old_rotations[index], 0.0) & (index >= 0)
    same_offset = quantum.unedited(offsets, old_offsets[index], magnitude=magnitude).all(axis=1) & (index >= 0)
    angles = space.xray_bone_angles_back(rotations).astype("<f4")
    metres = space.xray_bone_translations(offsets).astype("<f4")
    bones = []
    for number, (bone, old_index) in enumerate(zip(skeleton.bones, base_index, strict=True)):
        if old_index < 0:
            bones.append(_new_bone(physics, angles[number], metres[number]))
            continue
        entry = physics.bones[old_index]
        if not same_rotation[number]:
            entry = replace(entry, rotation=angles[number])
            changes.change(Noun.BONE, bone, say("rest rotation"))
        if not same_offset[number]:
            entry = replace(entry, offset=metres[number])
            changes.change(Noun.BONE, bone, say("rest position"))
        bones.append(entry)
    same = len(bones) == len(physics.bones) and all(a is b for a, b in zip(bones, physics.bones, strict=True))
    return physics if same else IkData(bones, physics.layout)


def _new_bone(physics: IkData, angles: NDArray[np.float32], metres: NDArray[np.float32]) -> IkBone:
    return replace(new_entry(physics.layout), rotation=angles, offset=metres)


def new_entry(layout: IkLayout = IkLayout.VERSIONED) -> IkBone:
    """Return a bone as the SDK makes it, at its parent: no shape, a rigid joint, and the fields that the layout has."""
    zero = np.zeros(3, np.float32)
    box = np.concatenate([np.eye(3, dtype=np.float32).ravel(), zero, zero])
    shape = Shape(0, 0, box, np.zeros(4, np.float32), np.zeros(8, np.float32))
    joint = Joint(0, np.tile(np.array([0, 0, 1, 1], np.float32), (3, 1)), np.float32(1), np.float32(1))
    if layout != IkLayout.ABSOLUTE:
        joint.flags, joint.breaking = 0, np.zeros(2, np.float32)
    version = 1 if layout == IkLayout.VERSIONED else None
    if version:
        joint.friction = np.float32(0)
    return IkBone(NEW_BONE_MATERIAL, shape, joint, zero, zero, np.float32(NEW_BONE_MASS), zero, version)
