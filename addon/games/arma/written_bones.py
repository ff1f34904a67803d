"""The bones of an animation file to write: which ones, in which order, and their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...core.errors import WriteError
from ...core.report import Report, listed, say
from ...formats.arma.skeletons import BUILT_IN, BoneTable, Hierarchy
from . import skeletons

if TYPE_CHECKING:
    from ...blender.typed import Object
    from .properties import AnimationProperties


@dataclass
class WrittenBones:
    """``names`` in the file; ``bone_indices`` (bones,) in the armature, -1 if it lacks this bone of the source file;
    ``sources`` (bones,): index in the source file, -1 for new bones; ``left_out``: bones whose Deform is off.
    """

    names: list[str]
    bone_indices: NDArray[np.intp]
    sources: NDArray[np.intp]
    left_out: list[str]

    def in_order(self, order: Sequence[int], names: Sequence[str]) -> WrittenBones:
        """Return the same bones reordered by indices ``order``, with new names."""
        chosen = np.array(order, np.intp)
        return WrittenBones(list(names), self.bone_indices[chosen], self.sources[chosen], self.left_out)


def written_bones(
    rig: Object, keyed: NDArray[np.bool_], base: AnimationProperties | None, prefix: str, table: BoneTable
) -> WrittenBones:
    """Return the bones of the source file (``base``: the action's properties) and those keyed since; all if no file.

    Bones with Deform off are left out unless the file or the game's skeleton has them. ``table`` overrides names.
    Raises `WriteError` if it gives two bones the same name.
    """
    bones = rig.data.bones
    index_of = {bone.name: number for number, bone in enumerate(bones)}
    spelled = {entry.bone: entry.name for entry in rig.data.motionbridge_skeleton.bones}
    names, bone_indices = [], []
    for entry in base.bones if base is not None else ():
        names.append(_by_table(table, without_prefix(prefix, entry.bone), entry.name))
        bone_indices.append(index_of.get(entry.bone, -1))
    sources = list(range(len(names)))
    known = set(bone_indices)
    left_out = []
    for number, bone in enumerate(bones):
        if number in known or (base is not None and not keyed[number]):
            continue
        if not bone.use_deform and bone.name not in spelled:
            left_out.append(bone.name)
            continue
        own = without_prefix(prefix, bone.name)
        names.append(_by_table(table, own, spelled.get(bone.name) or own))
        bone_indices.append(number)
        sources.append(-1)
    if table:
        _refuse_duplicates(names)
    result = WrittenBones(names, np.array(bone_indices, np.intp), np.array(sources, np.intp), left_out)
    return result if base is not None else _in_skeleton_order(result, list(spelled.values()))


def _by_table(table: BoneTable, bone: str, name: str) -> str:
    """Return the file's name of ``bone`` by the table; ``name`` if not listed or if only letter case differs."""
    other_name = next((other for other in map(table.in_file, (bone, name)) if other not in (bone, name)), name)
    return name if other_name.lower() == name.lower() else other_name


def _refuse_duplicates(names: Sequence[str]) -> None:
    lowered = [name.lower() for name in names]
    twice = next((name for name in names if lowered.count(name.lower()) > 1), None)
    if twice is not None:
        raise WriteError(
            say("two bones would have the name {!r} in the file", twice),
            remedy="Choose another table of bone names, or switch Deform off for the wrong bone",
        )


def _in_skeleton_order(written: WrittenBones, known_order: Sequence[str]) -> WrittenBones:
    """Return the bones in the order of the skeleton stored on the armature."""
    rank = {name: number for number, name in enumerate(known_order)}
    order = sorted(range(len(written.names)), key=lambda row: rank.get(written.names[row], len(rank)))
    return written.in_order(order, [written.names[row] for row in order])


def named_by_config(written: WrittenBones, hierarchy: Hierarchy) -> WrittenBones:
    """Return the bones in the order and spelling of a hierarchy; bones it does not contain come last."""
    rank = {bone.lower(): number for number, bone in enumerate(hierarchy.parents)}
    order = sorted(range(len(written.names)), key=lambda row: rank.get(written.names[row].lower(), len(rank)))
    return written.in_order(order, skeletons.spelled_as(hierarchy, [written.names[row] for row in order]))


def named_by_armature(written: WrittenBones, rig: Object, prefix: str) -> WrittenBones:
    """Return the bones in the armature's order and spelling; bones it lacks come last, spelled as in their file."""
    count = len(rig.data.bones)
    order = sorted(range(len(written.names)), key=lambda row: (int(written.bone_indices[row]) % (count + 1), row))
    names = []
    for row in order:
        name, bone = written.names[row], int(written.bone_indices[row])
        own_name = without_prefix(prefix, rig.data.bones[bone].name) if bone >= 0 else name
        # Blender may have had to rename a bone, so only upper and lower case is taken from it.
        names.append(own_name if own_name.lower() == name.lower() else name)
    return written.in_order(order, names)


def report_unknown(
    written: WrittenBones, rig: Object, skeleton: Hierarchy | None, table: BoneTable, report: Report
) -> None:
    """Warn of bones that the game does not know, which it ignores. Bones of the source file count as known, and so do
    those of the armature's stored skeleton, unless ``skeleton``, the one of a model.cfg, is given.

    Raises `WriteError` if the game knows none of the bones. Without any skeleton that has one of them, they may be of
    an own skeleton, unless all names have the namespace of another program, such as ``mixamorig:Hips``.
    """
    stored = [entry.name for entry in rig.data.motionbridge_skeleton.bones] if skeleton is None else []
    known = {name.lower() for name in (*stored, *table.pairs)} if skeleton is None else set()
    new = [name for name, source in zip(written.names, written.sources, strict=True) if source < 0]
    listing = skeleton or min(BUILT_IN.values(), key=lambda man: len(man.unknown(written.names)))
    unknown = [name for name in listing.unknown(new) if name.lower() not in known]
    if not unknown:
        return
    if len(unknown) < len(written.names):
        words = "bones that the game's skeleton lacks are written, and the game ignores them: {}"
        report.warn(say(words, listed(unknown)))
        return
    foreign = all(":" in name for name in unknown)
    if skeleton is not None or known or foreign:
        raise WriteError(
            say("the game's skeleton has none of the bones to write: {}", listed(unknown)),
            remedy="Set Bone Names or Prefix to give them the game's names, or name the model.cfg of their skeleton",
        )
    words = "no known skeleton of the game has these bones; name the model.cfg of their skeleton to check them: {}"
    report.warn(say(words, listed(unknown)))


def without_prefix(prefix: str, name: str) -> str:
    """Return a bone's name without the prefix, in upper or lower case, that its armature adds to the game's names."""
    return name[len(prefix) :] if prefix and name.lower().startswith(prefix.lower()) else name
