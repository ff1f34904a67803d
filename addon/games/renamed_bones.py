"""Keep keys and stored data attached to bones that were renamed in Blender.

When a bone is renamed, Blender updates only the playing action and those in the NLA; all other actions keep the old
name and no longer move the bone. So every bone stores the name under which actions and stored data know it
(`blender.armature.remember_names`). Where that differs from its current name, the curves of the other actions and the
stored names of every game are renamed.

A duplicated bone has the same stored name: the bone that still has that name is the original, otherwise the first
one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import bpy

from ..blender import action_lists, compat, scope
from ..blender.armature import remember_names
from ..blender.bone_curves import bone_path, bone_within
from ..blender.control_links import ROLE, controls_of
from ..blender.properties import is_local
from ..core.errors import WriteError
from ..core.report import Report
from .xray.motions import files as motion_files

if TYPE_CHECKING:
    from ..blender.typed import Action, Armature


def refuse_renamed_in_edit_mode() -> None:
    """Raise `WriteError` if bones were renamed in edit mode: nothing can be stored on them until it is left."""
    edited: list[Any] = [owner for owner in bpy.data.objects if owner.type == "ARMATURE" and owner.mode == "EDIT"]
    for owner in edited:
        owner.update_from_editmode()
        if renames(owner.data):
            raise WriteError(f"bones of {owner.name!r} were renamed in edit mode", remedy=scope.LEAVE_EDIT_MODE)


def follow_renames(report: Report) -> None:
    """Rename bones in actions and stored names, for all bones renamed since their names were stored; reported."""
    armatures: Any = bpy.data.armatures
    for armature in armatures:
        # Properties stored on bones in edit mode are lost when it is left.
        if not is_local(armature) or armature.is_editmode:
            continue
        _know(armature)
        if not renames(armature):
            continue
        rigs = [owner for owner in bpy.data.objects if owner.data == armature]
        played = {action for rig in rigs for action in action_lists.used_by(rig)}
        found = follow(armature, _actions(armature, rigs), played, _names(armature, rigs))
        for old, new in found.items():
            report.note("bones were renamed in Blender; their keys follow them", f"{old} > {new}")


def _know(armature: Armature) -> None:
    """Set the stored name of bones that have none.

    Version 0.1.0 stored only names of X-Ray bones, in another property; early control rigs stored none.
    """
    for bone in armature.bones:
        if bone.motionbridge_known_as:
            continue
        if bone.motionbridge_xray.is_bone:
            bone.motionbridge_known_as = bone.motionbridge_xray.imported_name
        elif bone.get(ROLE) is not None:
            bone.motionbridge_known_as = bone.name


def _actions(armature: Any, rigs: list[Any]) -> Iterator[Any]:
    """Yield actions of the rigs and their controls; all local ones if no other armature has a bone of an old name."""
    old = renames(armature)
    elsewhere = any(name in other.bones for other in bpy.data.armatures if other != armature for name in old)
    ours = {action for rig in rigs for action in _actions_of(rig)}
    objects: Any = bpy.data.objects
    moved = [owner for owner in objects if controls_of(owner) in rigs]
    ours |= {action.motionbridge_controls for owner in moved for action in _actions_of(owner)}
    for action in bpy.data.actions:
        if is_local(action) and (action in ours or not elsewhere):
            yield action


def _actions_of(rig: Any) -> Iterator[Any]:
    """Yield the actions that an armature object plays, has in the NLA, or lists in its files."""
    yield from action_lists.used_by(rig)
    for kind in (motion_files.LISTS, motion_files.SKL_LISTS):
        yield from action_lists.files_of_actions(rig, kind)


def _names(armature: Armature, rigs: list[Any]) -> list[tuple[Any, str]]:
    """Return each stored bone name as (owner, property name)."""
    files = [file for rig in rigs for file in (*rig.motionbridge_motion_files, *rig.motionbridge_skeletal_files)]
    found = [(entry, "name") for file in files for entry in file.rest]
    found += [(entry, "bone") for entry in armature.motionbridge_skeleton.bones]
    used = {action for rig in rigs for action in action_lists.used_by(rig)}
    known = set(armature.bones.keys()) | renames(armature).keys() | {""}
    actions: Any = bpy.data.actions
    for action in actions:
        bones = action.motionbridge_animation.bones if is_local(action) else ()
        # An Arma animation stores no armature: it belongs to this one if it plays here or if all its bones exist here.
        if action in used or all(entry.bone in known for entry in bones):
            found += [(entry, "bone") for entry in bones]
    return found


def renames(armature: Armature) -> dict[str, str]:
    """Return old name -> new name of the bones that were renamed since `remember_names`."""
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
    armature: Armature, actions: Iterable[Action], played: Collection[Action], names: Iterable[tuple[Any, str]]
) -> dict[str, str]:
    """Rename bones in ``actions`` and in stored ``names`` (owner, property name). Returns old name -> new name.

    ``played``: actions that play or are in the NLA; Blender has renamed their curves already. An action that contains a
    missing bone's name is renamed, one that contains a new name is not. If bones only swapped names, the names in an
    action do not show which: then it is renamed unless it is among ``played``.
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
            curves = [(curve, bone_within(curve.data_path)) for curve in bag.fcurves]
            named = {bone for _, bone in curves}
            if not named.isdisjoint(gone) or (action not in played and named.isdisjoint(fresh)):
                _rename_in(bag, curves, found)
    remember_names(armature)
    return found


def _rename_in(bag: Any, curves: Iterable[tuple[Any, str]], found: Mapping[str, str]) -> None:
    for curve, bone in curves:
        if bone in found:
            curve.data_path = bone_path(found[bone]) + curve.data_path[len(bone_path(bone)) :]
    for group in bag.groups:
        if group.name in found:
            group.name = found[group.name]
