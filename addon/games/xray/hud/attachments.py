"""What is fitted to a weapon: the game shows scope, silencer, launcher and grenade or hides them, whatever plays.

Each is a bone of the weapon, and what follows it. Which of them a new weapon has, the section of the item says
(``scope_status`` and the like: 0 never, 1 always, 2 once it is attached).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....blender import hidden_bones
from ....formats.xray.ltx.document import numbers
from ..bones.properties import game_name
from . import pairs

BONES = {
    "SCOPE": ("wpn_scope",),
    "SILENCER": ("wpn_silencer",),
    "LAUNCHER": ("wpn_launcher", "wpn_grenade_launcher"),
    "GRENADE": ("grenade",),
}
STATUS = {"SCOPE": "scope_status", "SILENCER": "silencer_status", "LAUNCHER": "grenade_launcher_status"}
ALWAYS = 1
LABEL = "Motionbridge Not Attached"
"""What the names of the masks begin with."""


def of_new(item: Mapping[str, str]) -> set[str]:
    """What a weapon has that nothing was attached to, by the values of its section; everything without a section."""
    fitted = {name for name, key in STATUS.items() if not item or int(numbers(item.get(key, ""), 1)[0]) == ALWAYS}
    return {*fitted, "GRENADE"}  # it is loaded


def bones(hands: Any) -> dict[str, list[str]]:
    """What can be attached to the weapon of a scene -> the names of its bones; nothing that the model lacks."""
    rig = pairs.item_of(hands) or hands
    found: dict[str, list[str]] = {}
    for bone in rig.data.bones:
        label = game_name(bone).lower()
        for name, labels in BONES.items():
            if label in labels:
                found.setdefault(name, []).append(bone.name)
    return found


def show(hands: Any) -> None:
    """Show what is attached and hide the rest."""
    attached = hands.motionbridge_hud.attached
    hidden = [bone for name, found in bones(hands).items() if name not in attached for bone in found]
    hidden_bones.hide(pairs.item_of(hands) or hands, hidden, LABEL)
