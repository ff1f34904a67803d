"""Bones that were renamed in Blender keep their keys and what is stored of them.

Blender follows a rename in the action that plays and in the NLA, and nowhere else: actions that do not play still name
the old bone and move nothing. So every bone remembers the name under which actions and stored data know it. Where that
is no longer its name, the curves of the other actions and the stored names are taken along.

A bone that was duplicated carries the same memory: the one that still has the name is the original, else the first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import bpy
from bpy.props import StringProperty

from . import compat
from .linked import is_local
from .property_groups import AddedProperties

_BEGIN, _END = 'pose.bones["', '"]'


def remember(armature: Any) -> None:
    """Let the bones of an armature (data) be known by the names they have now. Of a linked one nothing is stored."""
    if not is_local(armature):
        return
    for bone in armature.bones:
        if bone.motionbridge_known_as != bone.name:
            bone.motionbridge_known_as = bone.name


def renames(armature: Any) -> dict[str, str]:
    """Old name -> new one of the bones that were renamed since `remember`."""
    bones = armature.bones
    found: dict[str, str] = {}
    for bone in bones:
        old = bone.motionbridge_known_as
        if old and old != bone.name and old not in found:
            original = bones.get(old)
            if original is None or original.motionbridge_known_as != old:
                found[old] = bone.name
    return found


def follow(
    armature: Any, actions: Iterable[Any], played: Collection[Any], names: Iterable[tuple[Any, str]]
) -> dict[str, str]:
    """Take ``actions`` and stored ``names`` (owner, property) along with bones that were renamed; which were.

    ``played``: the actions that play or are in the NLA, whose curves Blender renames itself. An action that names a
    bone which is gone was not followed; one that names a new bone was. Where bones only exchanged their names, the
    names in an action say neither: then it was followed if it is among ``played``.
    """
    found = renames(armature)
    if not found:
        return found
    for owner, name in names:
        if (old := getattr(owner, name)) in found:
            setattr(owner, name, found[old])
    gone, fresh = found.keys() - set(armature.bones.keys()), set(found.values()) - found.keys()
    for action in actions:
        for bag in compat.all_curve_bags(action):
            curves = [(curve, bone_of(curve.data_path)) for curve in bag.fcurves]
            named = {bone for _, bone in curves}
            if not named.isdisjoint(gone) or (action not in played and named.isdisjoint(fresh)):
                _follow(bag, curves, found)
    remember(armature)
    return found


def _follow(bag: Any, curves: Iterable[tuple[Any, str]], found: Mapping[str, str]) -> None:
    for curve, bone in curves:
        if bone in found:
            behind = curve.data_path[len(_BEGIN) + len(bpy.utils.escape_identifier(bone)) :]
            curve.data_path = f"{_BEGIN}{bpy.utils.escape_identifier(found[bone])}{behind}"
    for group in bag.groups:
        if group.name in found:
            group.name = found[group.name]


def bone_of(path: str) -> str:
    """The bone that a data path of a pose leads to, "" for other paths."""
    if not path.startswith(_BEGIN):
        return ""
    name, end, _ = path[len(_BEGIN) :].rpartition(_END)
    return bpy.utils.unescape_identifier(name) if end else ""


ADDED = AddedProperties(
    (), {(bpy.types.Bone, "motionbridge_known_as"): StringProperty(name="Known As", options={"HIDDEN"})}
)
