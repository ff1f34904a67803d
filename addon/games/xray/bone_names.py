"""Bones by the game's names and in the game's order, which are not Blender's."""

from __future__ import annotations

from typing import Any


def game_name(bone: Any) -> str:
    """The name a bone has in the game; Blender's where the armature came from elsewhere."""
    return bone.motionbridge_xray.game_name or bone.name


def bones_in_order(rig: Any) -> list[str]:
    """The game's names in the order of the model; bones the game does not know come last, as Blender lists them."""
    known = [bone for bone in rig.data.bones if bone.motionbridge_xray.index >= 0]
    others = [bone for bone in rig.data.bones if bone.motionbridge_xray.index < 0]
    return [game_name(bone) for bone in sorted(known, key=lambda bone: bone.motionbridge_xray.index) + others]
