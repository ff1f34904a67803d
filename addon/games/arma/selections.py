"""Vertex groups of LODs: which selection each one is, and weights of those that are bones as the game stores them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...blender import attributes
from ...formats.arma.p3d import weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...blender.typed import Object


def selection_of(obj: Object, group: str) -> str:
    """Return the selection that a vertex group is: as imported, else the game's name of a bone, else its name."""
    stored = obj.motionbridge_arma_level.selections.get(group)
    if stored is not None:
        return str(stored.value)
    rig = obj.find_armature()
    bones = rig.data.motionbridge_skeleton.bones if rig is not None else ()
    return next((str(entry.name) for entry in bones if entry.bone == group), group)


def cleaned_weights(obj: Object) -> weights.CleanWeights | None:
    """Return what cleaning the weights of a mesh changes; None without an armature or vertex groups. Called in object
    mode.
    """
    rig = obj.find_armature()
    if rig is None or not len(obj.vertex_groups):
        return None
    return weights.clean(attributes.weights_of(obj.data), _targets(obj, rig), len(obj.data.vertices))


def clean_weights(obj: Object, change: weights.CleanWeights) -> None:
    """Store cleaned weights in the vertex groups of a mesh. Called in object mode."""
    bones = obj.find_armature().data.bones
    vertices = change.vertices.tolist()
    groups = list(obj.vertex_groups)
    for group in groups:
        if group.name in bones:
            group.remove(vertices)
    attributes.assign(groups, change.weights)
    obj.data.update()


def _targets(obj: Object, rig: Object) -> NDArray[np.int32]:
    """Return the vertex group that gets the weights of each one, as `weights.clean` takes it.

    If the armature lists the bones of the game's skeleton, a bone that is not listed gives its weights to its nearest
    parent that is.
    """
    groups: Any = obj.vertex_groups
    number = {group.name: group.index for group in groups}
    listed = {row.bone for row in rig.data.motionbridge_skeleton.bones if row.bone}
    result = np.full(len(groups), -2, np.int32)
    for name, index in number.items():
        bone = rig.data.bones.get(name)
        if bone is None:
            continue
        chain = [bone, *bone.parent_recursive]
        result[index] = next((number[own.name] for own in chain if own.name in number and _is_known(own, listed)), -1)
    return result


def _is_known(bone: Any, listed: set[str]) -> bool:
    return not listed or bone.name in listed
