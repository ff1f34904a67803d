"""Which bones an animation file gets, in which order, and how they are spelled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import WriteError
from ...formats.arma.bone_table import BoneTable
from ...formats.arma.hierarchy import Hierarchy
from . import hierarchies


class NamesFrom(Enum):
    """What decides the order of bones and their upper and lower case."""

    FILE = "file"
    """The file the action came from; where there is none the skeleton that the armature knows."""
    CONFIG = "model.cfg"
    ARMATURE = "armature"


@dataclass
class WrittenBones:
    """``names`` as the file gets them; ``places`` (bones,) of the armature, -1 where it lacks a bone of the base;
    ``sources`` (bones,) of the base file, -1 for new ones; ``left_out`` bones of the armature that deform nothing.
    """

    names: list[str]
    places: NDArray[np.intp]
    sources: NDArray[np.intp]
    left_out: list[str]

    def in_order(self, order: Sequence[int], names: Sequence[str]) -> WrittenBones:
        """The same bones in another order under other names."""
        chosen = np.array(order, np.intp)
        return WrittenBones(list(names), self.places[chosen], self.sources[chosen], self.left_out)


def written(rig: Any, keyed: NDArray[np.bool_], base: Any, prefix: str, table: BoneTable) -> WrittenBones:
    """The bones of the file the action came from (``base`` its properties) and those keyed since; without a file all.

    Bones that deform nothing are left out, unless the file has them. ``table`` has the last word on names. Raises
    `WriteError` where it gives two bones one name.
    """
    bones = rig.data.bones
    place = {bone.name: number for number, bone in enumerate(bones)}
    spelled = {entry.bone: entry.name for entry in rig.data.motionbridge_skeleton.bones}
    names, places = [], []
    for entry in base.bones if base is not None else ():
        names.append(_by_table(table, _without(prefix, entry.bone), entry.name))
        places.append(place.get(entry.bone, -1))
    sources = list(range(len(names)))
    known = set(places)
    left_out = []
    for number, bone in enumerate(bones):
        if number in known or (base is not None and not keyed[number]):
            continue
        if not bone.use_deform and bone.name not in spelled:
            left_out.append(bone.name)
            continue
        own = _without(prefix, bone.name)
        names.append(_by_table(table, own, spelled.get(bone.name) or own))
        places.append(number)
        sources.append(-1)
    if table:
        _refuse_doubles(names)
    result = WrittenBones(names, np.array(places, np.intp), np.array(sources, np.intp), left_out)
    return result if base is not None else _as_known(result, list(spelled.values()))


def _by_table(table: BoneTable, bone: str, name: str) -> str:
    """The file's name of a bone, which without the table would be ``name``; that where only case differs."""
    found = next((other for other in map(table.in_file, (bone, name)) if other not in (bone, name)), name)
    return name if found.lower() == name.lower() else found


def _refuse_doubles(names: Sequence[str]) -> None:
    lowered = [name.lower() for name in names]
    twice = next((name for name in names if lowered.count(name.lower()) > 1), None)
    if twice is not None:
        raise WriteError(
            f"two bones would be called {twice!r} in the file",
            remedy="Choose another table of bone names, or switch Deform off for the bone that is not meant",
        )


def in_file(hierarchy: Hierarchy, table: BoneTable) -> Hierarchy:
    """A hierarchy of the armature with the names that the file gets."""
    if not table:
        return hierarchy
    parents = {table.in_file(bone): table.in_file(parent) for bone, parent in hierarchy.parents.items()}
    return Hierarchy(hierarchy.name, parents, for_display=hierarchy.for_display)


def _as_known(found: WrittenBones, order: Sequence[str]) -> WrittenBones:
    """In the order of the skeleton that the armature knows."""
    rank = {name: number for number, name in enumerate(order)}
    places = sorted(range(len(found.names)), key=lambda place: rank.get(found.names[place], len(rank)))
    return found.in_order(places, [found.names[place] for place in places])


def named_by_config(found: WrittenBones, hierarchy: Hierarchy) -> WrittenBones:
    """In the order and spelling of a hierarchy, bones it does not list behind."""
    rank = {bone.lower(): number for number, bone in enumerate(hierarchy.parents)}
    order = sorted(range(len(found.names)), key=lambda place: rank.get(found.names[place].lower(), len(rank)))
    return found.in_order(order, hierarchies.spelled_as(hierarchy, [found.names[place] for place in order]))


def named_by_armature(found: WrittenBones, rig: Any, prefix: str) -> WrittenBones:
    """In the armature's order and spelling; bones it lacks behind, as their file spells them."""
    count = len(rig.data.bones)
    order = sorted(range(len(found.names)), key=lambda place: (int(found.places[place]) % (count + 1), place))
    names = []
    for place in order:
        name, bone = found.names[place], int(found.places[place])
        shown = _without(prefix, rig.data.bones[bone].name) if bone >= 0 else name
        # Blender may have had to call a bone otherwise; only the case of letters is its to say.
        names.append(shown if shown.lower() == name.lower() else name)
    return found.in_order(order, names)


def _without(prefix: str, name: str) -> str:
    return name[len(prefix) :] if prefix and name.lower().startswith(prefix.lower()) else name
