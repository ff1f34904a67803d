"""The editor's bone properties as a model has them, and back: the same facts in other chunks and with other signs.

A model (`ogf`) stores joint limits for the physics engine, -highest and -lowest of what the editor stores here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ....core import names
from ..chunks import Chunk, Section
from ..ogf.chunk_types import IkBone, Joint, Shape
from .document import PARTS, Bone, Bones, Breaking, Friction, IkFlags, Mass, Material, Naming, Part, Parts, Value

KINDS: dict[type, int] = {Material: 4, Shape: 5, IkFlags: 8, Joint: 6, Breaking: 9, Friction: 0x10, Mass: 7}
"""Chunks that a model has the like of, with their ids, in the order the editor writes them."""


@dataclass(frozen=True)
class Physics:
    """A bone as a model has it, and which kinds of chunks its file really has (of others ``entry`` holds zeros)."""

    entry: IkBone
    kinds: frozenset[type]


def decode_bone(bone: Bone) -> Physics:
    """What a file says of a bone."""
    material, shape, joint = bone.first(Material), bone.first(Shape), bone.first(Joint)
    flags, breaking, friction, mass = (bone.first(kind) for kind in (IkFlags, Breaking, Friction, Mass))
    there = (material, shape, joint, flags, breaking, friction, mass)
    zero, none = np.float32(0), np.zeros(3, "<f4")
    entry = IkBone(
        material.name if material is not None else b"",
        shape if shape is not None else Shape(0, 0, *(np.zeros(size, "<f4") for size in (15, 4, 8))),
        replace(joint, limits=_turned_round(joint.limits)) if joint else Joint(0, np.zeros((3, 4), "<f4"), zero, zero),
        none,
        none,
        mass.mass if isinstance(mass, Mass) else zero,
        mass.centre if isinstance(mass, Mass) else none,
    )
    entry.joint.flags = flags.flags if isinstance(flags, IkFlags) else 0
    entry.joint.breaking = np.zeros(2, "<f4")
    if isinstance(breaking, Breaking):
        entry.joint.breaking = np.array([breaking.force, breaking.torque], "<f4")
    entry.joint.friction = friction.value if isinstance(friction, Friction) else zero
    return Physics(entry, frozenset(type(value) for value in there if value is not None))


def _turned_round(limits: Any) -> Any:
    result = limits.copy()
    result[:, 0], result[:, 1] = -limits[:, 1], -limits[:, 0]
    return result


def encode_bone(bone: Bone, entry: IkBone) -> Bone:
    """A bone of a file with what ``entry`` says; chunks it has not are not added."""
    values = _chunks(entry)
    done: set[type] = set()
    sections: list[Section[Value]] = []
    for section in bone.sections:
        kind = type(section.value)
        if kind in values and kind not in done:
            done.add(kind)
            sections.append(Section(section.chunk, values[kind]))
        else:
            sections.append(section)
    return Bone(sections, bone.tail)


def _chunks(entry: IkBone) -> dict[type, Value]:
    joint = entry.joint
    breaking = joint.breaking if joint.breaking is not None else np.zeros(2, "<f4")
    return {
        Material: Material(entry.material),
        Shape: entry.shape,
        IkFlags: IkFlags(joint.flags or 0),
        Joint: Joint(joint.type, _turned_round(joint.limits), joint.spring, joint.damping),
        Breaking: Breaking(breaking[0], breaking[1]),
        Friction: Friction(joint.friction if joint.friction is not None else np.float32(0)),
        Mass: Mass(entry.mass, entry.centre_of_mass),
    }


def new_bone(name: str, entry: IkBone) -> Bone:
    """A bone with all chunks the editor writes, name first."""
    made = _chunks(entry)
    sections: list[Section[Value]] = [Section(Chunk(2, b""), Naming([names.encode(name)]))]
    sections += [Section(Chunk(number, b""), made[kind]) for kind, number in KINDS.items()]
    return Bone(sections)


def new_bones(bones: Sequence[Bone], parts: Sequence[Part] = ()) -> Bones:
    """A file of its own."""
    document = with_bones(Bones([]), {}, bones)
    if parts:
        document.sections.append(Section(Chunk(PARTS, b""), Parts(list(parts))))
    return document


def with_bones(document: Bones, changed: Mapping[int, Bone], added: Sequence[Bone] = ()) -> Bones:
    """The file with other bones for some and new ones behind the last.

    ``changed`` by index in the document's sections: damaged files have several bones of one number.
    """
    sections: list[Section[Bone | Parts]] = []
    behind, last = 0, -1
    for index, section in enumerate(document.sections):
        if isinstance(section.value, Bone):
            last = max(last, section.chunk.plain_id)
            behind = len(sections) + 1
            sections.append(Section(section.chunk, changed.get(index, section.value)))
        else:
            sections.append(section)
    new: list[Section[Bone | Parts]] = [
        Section(Chunk(last + 1 + number, b""), bone) for number, bone in enumerate(added)
    ]
    return Bones([*sections[:behind], *new, *sections[behind:]], document.tail)
