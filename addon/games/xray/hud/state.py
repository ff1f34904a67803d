"""What is in a first-person scene: which objects belong to it, and which action of its list is active."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import bpy

from ....blender.properties import nearest_ancestor
from ....blender.typed import Object


@dataclass
class HudScene:
    """The created objects. ``item``: None if one model, ``hands``, has arms and weapon.

    ``view``: parent of the camera. ``points``: empties by config key. Actions are listed by the names of their motions,
    camera effects by the hands' motion. ``beside``: the item of the other hand, with the same camera and view.
    ``hidden``: names of the scene's other objects that were hidden because they were in the picture.
    """

    collection: bpy.types.Collection
    aim: Any
    hands: Object
    camera: Any
    view: Any
    item: Any = None
    hands_actions: Mapping[str, Any] = field(default_factory=dict)
    points: Mapping[str, Any] = field(default_factory=dict)
    item_actions: Mapping[str, Any] = field(default_factory=dict)
    view_actions: Mapping[str, Any] = field(default_factory=dict)
    beside: "HudScene | None" = None
    hidden: list[str] = field(default_factory=list)


def _above(part: Object) -> Any:
    """Return the hands that an aim empty carries, else the parent."""
    hands = part.motionbridge_hud.hands
    return hands if hands is not None and hands.motionbridge_hud.is_hud else part.parent


def holder_of(obj: Any) -> Any:
    """Return the hands' armature of the first-person scene that an object belongs to, or None."""
    return nearest_ancestor(obj, lambda ancestor: bool(ancestor.motionbridge_hud.is_hud), _above)


def item_of(hands: Object) -> Object | None:
    """Return the item that plays with these hands; None for a copy of the hands whose item belongs to the original."""
    item = hands.motionbridge_hud.item
    return item if item is not None and holder_of(item) in {hands, None} else None


def rigs_of(hands: Object) -> list[Object]:
    """Return the armatures that play an action of the list: the hands, and their item if they have one."""
    item = item_of(hands)
    return [hands] if item is None else [hands, item]


def active_row(hands: Object) -> Any:
    """Return the active action of the list; None if it has none, or if no motion of the hands was found for it."""
    return playable_row(hands, hands.motionbridge_hud.active_action)


def playable_row(hands: Object, number: int) -> Any:
    """Return the action of the list with this index; None as for `active_row`."""
    rows = hands.motionbridge_hud.actions
    row = rows[number] if 0 <= number < len(rows) else None
    return row if row is not None and row.hands is not None else None
