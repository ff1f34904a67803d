"""Bones of an object anew: the chunks that the SDK writes, in the order that editors give bones when they load them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import names
from ..bones import Bone, Bones, Naming, Placement, Value, Version, new_bone
from ..chunks import Chunk, Section
from ..ogf.chunk_types import IkBone

LENGTH = np.float32(0.1)
"""Of a new bone; editors only draw it."""


def new_object_bone(name: str, parent: str, offset: NDArray[Any], angles: NDArray[Any], entry: IkBone) -> Bone:
    """A bone with its weights under its own name; ``offset`` (3,) and ``angles`` (3,) from the parent as `Placement`.

    The SDK writes the name twice: with parent and weight map, and alone.
    """
    label = names.encode(name)
    head: list[tuple[int, Value]] = [
        (1, Version(2)),
        (2, Naming([label, names.encode(parent), label])),
        (3, Placement(offset.astype(np.float32), angles.astype(np.float32), LENGTH)),
    ]
    return Bone([*(Section(Chunk(kind, b""), value) for kind, value in head), *new_bone(name, entry).sections])


def in_editor_order(found: Sequence[Bone]) -> list[Bone]:
    """Depth first from the roots, brothers by name; bones of a cycle of parents last."""
    children: dict[str, list[Bone]] = {}
    known = {bone.name.lower() for bone in found}
    for bone in sorted(found, key=lambda one: names.encode(one.name.lower())):
        parent = bone.parent.lower()
        children.setdefault(parent if parent in known else "", []).append(bone)
    ordered: list[Bone] = []
    waiting = children.pop("", [])[::-1]
    while waiting:
        bone = waiting.pop()
        ordered.append(bone)
        waiting += children.pop(bone.name.lower(), [])[::-1]  # once, also if several bones have one name or none
    there = set(map(id, ordered))
    return ordered + [bone for bone in found if id(bone) not in there]


def numbered(found: Sequence[Bone]) -> Bones:
    """The chunk of these bones, in their order."""
    return Bones([Section(Chunk(number, b""), bone) for number, bone in enumerate(found)])


def placed(bone: Bone, offset: NDArray[Any], angles: NDArray[Any]) -> Bone:
    """The bone elsewhere at rest, in the order of angles of its version."""
    version, old = bone.first(Version), bone.first(Placement)
    if version is not None and version.number == 1:
        angles = angles[[1, 0, 2]]
    made = Placement(offset.astype(np.float32), angles.astype(np.float32), old.length if old is not None else LENGTH)
    return _with_value(bone, old, made, 3)


def below(bone: Bone, parent: str) -> Bone:
    """The bone with another parent."""
    old = bone.first(Naming)
    texts = list(old.texts) if old is not None else []
    label = names.encode(bone.name)
    return _with_value(bone, old, Naming([label, names.encode(parent), *(texts[2:] or [label])]), 2)


def with_kinds(bone: Bone, entry: IkBone, kinds: Sequence[type]) -> Bone:
    """The bone with those chunks of ``entry`` that it lacks and that are among ``kinds``."""
    there = {type(section.value) for section in bone.sections}
    made = new_bone(bone.name, entry).sections
    return Bone(
        [*bone.sections, *(one for one in made if type(one.value) in kinds and type(one.value) not in there)], bone.tail
    )


def _with_value(bone: Bone, old: Value | None, new: Value, number: int) -> Bone:
    if old is None:
        return Bone([*bone.sections, Section(Chunk(number, b""), new)], bone.tail)
    return Bone([Section(one.chunk, new if one.value is old else one.value) for one in bone.sections], bone.tail)
