"""Order and parts of the bones of another model or motion file, which a new model takes so that its motions fit.

A new model keeps them on its armature: the index of each bone, and the bone parts with the bones' numbers there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....core.report import Report
from ....core.text import listed
from ....formats.xray.conversion import BoneOrder, bone_order_of
from .properties import game_name, known

if TYPE_CHECKING:
    from ....blender.typed import Object


__all__ = ["BoneOrder", "bone_order_of", "of_new_model", "take"]


def of_new_model(holder: Object) -> BoneOrder:
    """What a new model has taken over from another; nothing of any other object."""
    model = holder.motionbridge_editor_model
    if not model.is_made or not len(model.parts):
        return BoneOrder()
    bones = sorted((bone.track, bone.name) for part in model.parts for bone in part.bones)
    parts = [(part.name, [bone.name for bone in part.bones]) for part in model.parts]
    return BoneOrder([name for _, name in bones], parts)


def take(rig: Object, order: BoneOrder, report: Report) -> int:
    """Let the bones of a new model be numbered as in ``order``, and keep its parts; how many bones both have.

    Bones that differ are reported. Bones without the properties of a model are left alone.
    """
    numbers = {bone.lower(): number for number, bone in enumerate(order.bones)}
    own = sorted((bone for bone in rig.data.bones if known(bone) is not None), key=lambda bone: known(bone).index)
    labels = [game_name(bone).lower() for bone in own]
    missing = [bone for bone in order.bones if bone.lower() not in labels]
    more = [bone.name for bone, label in zip(own, labels, strict=True) if label not in numbers]
    if missing:
        report.warn(f"bones of the other model that this one lacks: {listed(missing)}", rig.name)
    if more:
        report.warn(f"bones that the other model lacks, which get numbers behind its own: {listed(more)}", rig.name)
    ranked = sorted(zip(own, labels, strict=True), key=lambda row: numbers.get(row[1], len(numbers)))
    for number, (bone, _) in enumerate(ranked):
        bone.motionbridge_xray.index = number
    shown = rig.motionbridge_editor_model.parts
    shown.clear()
    for label, bones in order.parts or [("default", order.bones)]:
        part = shown.add()
        part.name = label
        for bone in bones:
            entry = part.bones.add()
            entry.name, entry.track = bone, numbers.get(bone.lower(), len(numbers))
    return len(own) - len(more)
