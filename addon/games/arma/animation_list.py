"""The animations that an armature lists, so that a click can play each of them.

Imported animations are listed by the armature, and only the one listed with an index of 0 or more is the original of
its file (see `animation_edit.original_of`). Actions made in Blender, copies and what version 0.1.0 stored, which kept
no lists, are listed with -1, when something is stored anyway: never while a panel is drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from ...blender import action_lists
from ...blender.properties import is_local

if TYPE_CHECKING:
    from ...blender.typed import Action, Object


ORIGINAL, ADDED_LATER = 0, -1


def add(rig: Object, action: Action, place: int) -> None:
    """List an action at the end. The armature must be editable."""
    entry = rig.motionbridge_animations.add()
    entry.action, entry.place = action, place


def find(rig: Object, action: Action) -> int:
    """The index of an action in the list, -1 if it is not listed."""
    return next((number for number, entry in enumerate(rig.motionbridge_animations) if entry.action == action), -1)


def listed(rig: Object) -> list[Action]:
    """The actions of the list; deleted ones leave an empty row behind, which does not count."""
    return [entry.action for entry in rig.motionbridge_animations if entry.action is not None]


def adopt(rig: Object) -> int:
    """List the actions that the armature plays or has in the NLA and the list lacks; how many these were."""
    return _append(rig, action_lists.used_by(rig))


def adopt_all(rig: Object) -> int:
    """The same, and imported animations that no armature lists and that move bones of this one; how many."""
    objects: Any = bpy.data.objects
    actions: Any = bpy.data.actions
    rigs = [owner for owner in objects if owner.type == "ARMATURE"]
    taken = {entry.action for owner in rigs for entry in owner.motionbridge_animations}
    taken |= {action for owner in rigs if owner != rig for action in action_lists.used_by(owner)}
    bones = set(rig.data.bones.keys())
    free = [one for one in actions if one.motionbridge_animation.is_animation and one not in taken]
    fitting = [one for one in free if any(entry.bone in bones for entry in one.motionbridge_animation.bones)]
    return _append(rig, [*action_lists.used_by(rig), *sorted(fitting, key=lambda one: one.name.lower())])


def remove_deleted(rig: Object) -> None:
    """Take the empty rows of deleted actions out of the list."""
    rows = rig.motionbridge_animations
    for number in reversed(range(len(rows))):
        if rows[number].action is None:
            rows.remove(number)


def _append(rig: Object, actions: list[Action]) -> int:
    if not is_local(rig):
        return 0
    known = set(listed(rig))
    missing = [action for action in dict.fromkeys(actions) if action not in known]
    for action in missing:
        add(rig, action, ADDED_LATER)
    return len(missing)
