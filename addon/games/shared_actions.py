"""Actions that duplicated armatures share, and their own copies of them.

A duplicate of an armature lists the same actions as the original, except those that play (`blender.action_lists`). As
long as the bones have the same names, both can play them; after a bone was renamed in one, no name moves it in both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import bpy

from ..blender import action_lists
from ..blender.control_links import control_action, controls_of, is_control_rig, moved_by
from ..blender.properties import is_local
from .xray.hud.state import holder_of
from .xray.motions.properties import LISTS, SKL_LISTS

if TYPE_CHECKING:
    from collections.abc import Collection

    from ..blender.typed import Action, Armature, Object
    from ..core.report import Report


def actions_of(rig: Object) -> list[Action]:
    """Return the actions that an armature object plays, has in the NLA, or lists, of every game."""
    listed = [action for kind in (LISTS, SKL_LISTS) for action in action_lists.files_of_actions(rig, kind)]
    rows = [row.action for row in rig.motionbridge_animations if row.action is not None]
    return list(dict.fromkeys([*action_lists.used_by(rig), *listed, *rows]))


def controls_actions_of(rig: Object) -> list[Action]:
    """Return the actions of the controls that belong to the actions of an armature object."""
    actions = (control_action(rig, action) for action in actions_of(rig))
    return [action for action in actions if action is not None]


def others_with(armature: Armature, bones: Collection[str]) -> list[Any]:
    """Return the armature objects of other data in which they, or their control rigs, have one of ``bones``.

    Control rigs themselves and linked objects are left out.
    """
    result = []
    objects: Any = bpy.data.objects
    for rig in objects:
        if rig.type != "ARMATURE" or is_control_rig(rig) or not is_local(rig):
            continue
        controls = controls_of(rig)
        armatures = [rig.data, *([controls.data] if controls is not None and controls.parent == rig else [])]
        if armature not in armatures and any(bone in armature.bones for armature in armatures for bone in bones):
            result.append(rig)
    return result


def separate(
    armature: Armature, rigs: list[Any], bones: Collection[str], report: Report
) -> tuple[list[Any], dict[Any, Any]]:
    """Give ``rigs`` (objects of ``armature``) actions of their own, before ``bones`` get other names there.

    Actions that they share with armatures which still have a bone of these names are copied; the armature whose name
    comes first keeps the originals. Returns the actions that the others have from now on, and original -> copy.
    """
    mine = [rig for rig in dict.fromkeys(map(moved_by, rigs)) if rig is not None]
    theirs = others_with(armature, bones)
    of_others = dict.fromkeys(action for rig in theirs for action in _all_of(rig))
    shared = [action for rig in mine for action in _all_of(rig) if action in of_others and is_local(action)]
    if not shared:
        return list(of_others), {}
    copies: dict[Any, Any] = {}
    for action in dict.fromkeys(shared):
        copies[action] = action.copy()
        copies[action].use_fake_user = action.use_fake_user
    first = min((*mine, *theirs), key=lambda rig: (len(rig.name), rig.name))
    for rig in theirs if first in mine else mine:
        _replace_actions(rig, copies)
        report.note("an armature shared actions with another; it has copies of them now", rig.name)
    if first in mine:
        of_others = {copies.get(action, action): None for action in of_others}
    return list(of_others), copies


def _all_of(rig: Object) -> Iterator[Any]:
    yield from actions_of(rig)
    yield from controls_actions_of(rig)


def _replace_actions(rig: Any, copies: Mapping[Any, Any]) -> None:
    """Let an armature object play and list ``copies`` (original -> copy) instead of the originals."""
    for kind in (LISTS, SKL_LISTS):
        for file in kind.files_of(rig):
            listed = action_lists.listed(file)
            if not copies.keys().isdisjoint(listed):
                action_lists.replace(file, [(copies.get(action, action), index) for action, index in listed.items()])
    hands = holder_of(rig)
    rows = [(row, "action") for row in rig.motionbridge_animations]
    if hands is not None:
        rows += [(row, "hands" if rig == hands else "item") for row in hands.motionbridge_hud.actions]
    for row, name in rows:
        if getattr(row, name) in copies:
            setattr(row, name, copies[getattr(row, name)])
    for action in actions_of(rig):
        if action.motionbridge_controls in copies:
            action.motionbridge_controls = copies[action.motionbridge_controls]
    controls = controls_of(rig)
    for owner in (rig, *([controls] if controls is not None and controls.parent == rig else [])):
        action_lists.replace_used(owner, copies)
    for kind in (LISTS, SKL_LISTS):
        action_lists.hold_used(rig, kind)
