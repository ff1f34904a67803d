"""Keep keys and stored data attached to bones that were renamed in Blender.

When a bone is renamed, Blender updates only the playing action and those in the NLA; all other actions keep the old
name and no longer move the bone. So every bone stores the name under which actions and stored data know it
(`blender.armature.remember_names`). Where that differs from its current name, the curves of the other actions and the
stored names of every game are renamed.

A duplicated bone has the same stored name: the bone that still has that name is the original, otherwise the first
one.

A duplicated armature shares the actions that do not play with the original. Before their curves are renamed, one of
both gets its own copies (`shared_actions`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy

from ..blender import action_lists, compat, scope
from ..blender.armature import remember_names
from ..blender.bone_curves import bone_path, bone_within
from ..blender.control_links import BONE, controls_of
from ..blender.properties import is_local
from ..core.errors import WriteError
from ..core.report import Report, say
from .shared_actions import actions_of, controls_actions_of, separate

if TYPE_CHECKING:
    from ..blender.typed import Action, Armature, Context, Object


def refuse_renamed_in_edit_mode() -> None:
    """Raise `WriteError` if bones were renamed in edit mode: nothing can be stored on them until it is left."""
    for owner in _renamed_in_edit_mode():
        raise WriteError(say("bones of {!r} were renamed in edit mode", owner.name), remedy=scope.LEAVE_EDIT_MODE)


def _renamed_in_edit_mode() -> Iterator[Any]:
    edited: list[Any] = [owner for owner in bpy.data.objects if owner.type == "ARMATURE" and owner.mode == "EDIT"]
    for owner in edited:
        _watch(owner.data)
        owner.update_from_editmode()
        if renames(owner.data):
            yield owner


def before_playing(context: Context, rig: Object, action: Action) -> Action:
    """Follow renamed bones before ``rig`` plays another action; return that, or the copy that the armature got of it.

    Which actions Blender renamed is known only as long as the same ones play. Edit mode, where nothing can be stored
    on bones, is left for a moment if bones were renamed in it.
    """
    with scope.object_mode(context) if any(_renamed_in_edit_mode()) else nullcontext():
        copies = follow_renames(Report())
    own = copies.get(action)
    return own if own is not None and own in actions_of(rig) else action


def follow_renames(report: Report) -> dict[Any, Any]:
    """Rename bones in actions and stored names, for all bones renamed since their names were stored; reported.

    Returns original -> copy of the actions that armatures shared.
    """
    copies: dict[Any, Any] = {}
    armatures: Any = bpy.data.armatures
    for armature in armatures:
        # Properties stored on bones in edit mode are lost when it is left.
        if not is_local(armature):
            continue
        if armature.is_editmode:
            _watch(armature)
            continue
        _know(armature)
        if renamed := renames(armature):
            copies |= _follow(armature, renamed, report)
        _edited.pop(armature.session_uid, None)
    return copies


class _Edited(NamedTuple):
    """Names of an armature's bones in edit mode, and the actions (``session_uid``) that were used when bones got
    another name.
    """

    names: list[str]
    used: set[int] | None = None


_edited: dict[int, _Edited] = {}
"""By the ``session_uid`` of armatures in edit mode."""


def _watch(armature: Armature) -> None:
    """Note which actions are used when bones were renamed in edit mode: Blender renames in these, and another may play
    before edit mode is left.
    """
    names = armature.edit_bones.keys()
    before = _edited.get(armature.session_uid) or _Edited(armature.bones.keys())
    common = set(names) & set(before.names)
    swapped = [name for name in names if name in common] != [name for name in before.names if name in common]
    pairs = zip(names, before.names, strict=False)
    changed = {name for pair in pairs if len(names) == len(before.names) and pair[0] != pair[1] for name in pair}
    used = before.used
    if swapped or not changed.isdisjoint(armature.bones.keys()):
        used = {action.session_uid for rig in _rigs_of(armature) for action in action_lists.used_by(rig)}
    _edited[armature.session_uid] = _Edited(names, used)


def _rigs_of(armature: Armature) -> list[Any]:
    return [owner for owner in bpy.data.objects if owner.data == armature]


def _renamed_by_blender(armature: Armature, rigs: list[Any]) -> set[Any]:
    """Return the actions that were used when bones were renamed."""
    edited = _edited.get(armature.session_uid)
    if edited is not None and edited.used is not None:
        actions: Any = bpy.data.actions
        return {action for action in actions if action.session_uid in edited.used}
    return {action for rig in rigs for action in action_lists.used_by(rig)}


def _follow(armature: Any, renamed: Mapping[str, str], report: Report) -> dict[Any, Any]:
    rigs = _rigs_of(armature)
    played = _renamed_by_blender(armature, rigs)
    of_others, copies = separate(armature, rigs, renamed.keys(), report)
    for action in played:  # shared and renamed by Blender
        theirs = next((holder for holder in (action, copies.get(action)) if holder in of_others), None)
        if theirs is not None:
            _rename_back(theirs, renamed)
    played |= {copies[action] for action in played if action in copies}
    own_renamed = follow(armature, _actions(armature, rigs), played, _names(armature, rigs, of_others))
    _rename_controlled(rigs, own_renamed)
    for old, new in own_renamed.items():
        report.note("bones were renamed in Blender; their keys follow them", f"{old} > {new}")
    return copies


def _rename_controlled(rigs: Iterable[Object], renamed: Mapping[str, str]) -> None:
    """Rename bones in what the controls of armatures store."""
    for controls in dict.fromkeys(filter(None, map(controls_of, rigs))):
        for control in controls.data.bones if is_local(controls.data) else ():
            if control.get(BONE) in renamed:
                control[BONE] = renamed[control[BONE]]


def _know(armature: Armature) -> None:
    """Set the stored name of bones that were made in Blender and have become bones of the game."""
    for bone in armature.bones:
        if not bone.motionbridge_known_as and bone.motionbridge_xray.is_bone:
            bone.motionbridge_known_as = bone.motionbridge_xray.imported_name


def _actions(armature: Any, rigs: list[Any]) -> Iterator[Any]:
    """Yield actions of the rigs and their controls; all local ones if no other armature has a bone of an old name."""
    old = renames(armature)
    elsewhere = any(name in other.bones for other in bpy.data.armatures if other != armature for name in old)
    ours = {action for rig in rigs for action in actions_of(rig)}
    objects: Any = bpy.data.objects
    ours |= {action for owner in objects if controls_of(owner) in rigs for action in controls_actions_of(owner)}
    for action in bpy.data.actions:
        if is_local(action) and (action in ours or not elsewhere):
            yield action


def _names(armature: Armature, rigs: list[Any], of_others: Sequence[Any]) -> list[tuple[Any, str]]:
    """Return each stored bone name as (owner, property name). ``of_others``: actions of other armatures."""
    files = [file for rig in rigs for file in (*rig.motionbridge_motion_files, *rig.motionbridge_skeletal_files)]
    result = [(entry, "name") for file in files for entry in file.rest]
    result += [(entry, "bone") for entry in armature.motionbridge_skeleton.bones]
    used = {action for rig in rigs for action in action_lists.used_by(rig)}
    known = set(armature.bones.keys()) | renames(armature).keys() | {""}
    actions: Any = bpy.data.actions
    for action in actions:
        bones = action.motionbridge_animation.bones if is_local(action) else ()
        # An Arma animation stores no armature: it belongs to this one if it plays here or if all its bones exist here.
        if action in used or (action not in of_others and all(entry.bone in known for entry in bones)):
            result += [(entry, "bone") for entry in bones]
    return result


def renames(armature: Armature) -> dict[str, str]:
    """Return old name -> new name of the bones that were renamed since `remember_names`."""
    bones = armature.bones
    result: dict[str, str] = {}
    for bone in bones:
        old = bone.motionbridge_known_as
        if old and old != bone.name and old not in result:
            original = bones.get(old)
            if original is None or original.motionbridge_known_as != old:
                result[old] = bone.name
    return result


def follow(
    armature: Armature, actions: Iterable[Action], played: Collection[Action], names: Iterable[tuple[Any, str]]
) -> dict[str, str]:
    """Rename bones in ``actions`` and in stored ``names`` (owner, property name). Returns old name -> new name.

    ``played``: actions that play or are in the NLA; Blender has renamed their curves already. An action that contains a
    missing bone's name is renamed, one that contains a new name is not. If bones only swapped names, the names in an
    action do not show which: then it is renamed unless it is among ``played``.
    """
    result = renames(armature)
    if not result:
        return result
    for owner, name in names:
        if (old := getattr(owner, name)) in result:
            setattr(owner, name, result[old])
    gone, fresh = result.keys() - set(armature.bones.keys()), set(result.values()) - result.keys()
    for action in actions:
        for bag in compat.all_curve_bags(action):
            curves = [(curve, bone_within(curve.data_path)) for curve in bag.fcurves]
            named = {bone for _, bone in curves}
            if not named.isdisjoint(gone) or (action not in played and named.isdisjoint(fresh)):
                _rename_in(bag, curves, result)
    remember_names(armature)
    return result


def _rename_back(action: Action, renamed: Mapping[str, str]) -> None:
    """Give the curves that Blender renamed for one armature the old names, for another armature that has the action."""
    for bag in compat.all_curve_bags(action):
        _rename_in(
            bag,
            [(curve, bone_within(curve.data_path)) for curve in bag.fcurves],
            {new: old for old, new in renamed.items()},
        )


def _rename_in(bag: Any, curves: Iterable[tuple[Any, str]], renamed: Mapping[str, str]) -> None:
    for curve, bone in curves:
        if bone in renamed:
            curve.data_path = bone_path(renamed[bone]) + curve.data_path[len(bone_path(bone)) :]
    for group in bag.groups:
        if group.name in renamed:
            group.name = renamed[group.name]
