"""`Skeleton` -> armature object, and the rest pose an armature really has."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ..core import affine, names, rotation
from ..core.model import Skeleton
from . import scope
from .properties import is_local

if TYPE_CHECKING:
    from .typed import Context, Object


Floats = NDArray[np.float64]

SHORTEST = 0.01
"""Metres. Blender deletes bones without length, and shorter ones hold their rest rotation less exactly."""
LONGEST = 1.0
SHORTEST_SHARE = 1e-3
"""Of a bone's distance from the origin: the tail of a shorter one far out would be rounded onto its head."""


def build(context: Context, skeleton: Skeleton) -> tuple[Any, list[str]]:
    """An armature object, linked nowhere yet, and the name Blender gave each bone of ``skeleton``.

    Bones stand exactly where the game has them, axes included; only their lengths are guessed, for display.
    Pose bones rotate by quaternions.
    """
    armature = bpy.data.armatures.new(skeleton.name)
    rig: Any = bpy.data.objects.new(skeleton.name, armature)
    rest = skeleton.rest_matrices()
    lengths = _lengths(skeleton, rest)
    given: list[str] = []
    with scope.editing_armature(context, rig) as edit_bones:
        made = []
        for bone, label in enumerate(skeleton.bones):
            edit_bone = edit_bones.new(names.shortened(label) or "bone")
            edit_bone.length = lengths[bone]
            edit_bone.matrix = Matrix(rest[bone].tolist())
            made.append(edit_bone)
            given.append(edit_bone.name)
        for bone, parent in enumerate(skeleton.parents):
            if parent >= 0:
                made[bone].parent = made[parent]
    for pose_bone in rig.pose.bones:
        if pose_bone.rotation_mode != "QUATERNION":
            pose_bone.rotation_mode = "QUATERNION"
    remember_names(armature)
    return rig, given


def remember_names(armature: Any) -> None:
    """Let the bones of an armature (data) be known by the names they have now. Of a linked one nothing is stored."""
    if not is_local(armature):
        return
    for bone in armature.bones:
        if bone.motionbridge_known_as != bone.name:
            bone.motionbridge_known_as = bone.name


def _lengths(skeleton: Skeleton, rest: Floats) -> list[float]:
    """The distance to the nearest child, else the parent's length halved: what reads well on screen."""
    heads, parents = rest[:, :3, 3], skeleton.parents.tolist()
    gaps = np.linalg.norm(heads - heads[skeleton.parents], axis=1).tolist()
    lengths = np.full(len(parents), np.nan)
    for parent, gap in zip(parents, gaps, strict=True):
        if parent >= 0 and gap >= SHORTEST and not lengths[parent] <= gap:
            lengths[parent] = gap
    for bone, parent in enumerate(parents):
        if np.isnan(lengths[bone]):
            inherited = lengths[parent] / 2 if parent >= 0 else np.nan
            lengths[bone] = 0.05 if np.isnan(inherited) else inherited
    far = SHORTEST_SHARE * np.abs(heads).max(axis=1, initial=0.0)
    return np.maximum(np.clip(lengths, SHORTEST, LONGEST), far).tolist()


def is_turned_or_scaled(rig: Any) -> bool:
    """Whether an armature object is rotated or scaled; its position does not count."""
    scaled = any(abs(value - 1.0) > 1e-5 for value in rig.matrix_world.to_scale())
    return scaled or any(abs(value) > 1e-5 for value in rig.matrix_world.to_euler())


@dataclass(frozen=True)
class Rest:
    """The rest pose that tracks are relative to.

    ``bones`` Blender's names; ``parents`` (bones,); ``rotations`` (bones, 4) and ``translations`` (bones, 3)
    relative to the parent; parentless bones stand in ``root_frame`` (4, 4).
    """

    bones: list[str]
    parents: NDArray[np.int32]
    rotations: Floats
    translations: Floats
    root_frame: Floats

    @cached_property
    def turns(self) -> tuple[Floats, Floats]:
        """What rows of quaternions (bones, 4, 4) and vectors (bones, 3, 3) are multiplied by to turn them by the rest
        rotation; transposed, by its opposite.
        """
        # Row vectors: rows @ Mᵀ is M applied to each row.
        left = rotation.left_matrices(self.rotations)
        return left.swapaxes(-1, -2), rotation.matrices(self.rotations).swapaxes(-1, -2)


def rest_of(rig: Object, root_frame: Floats) -> Rest:
    """The rest pose as Blender stores it.

    Blender keeps head, tail and roll and computes the matrices again (1e-5 off in rotation), so poses must be taken
    relative to what it has, never to what was once asked for.
    """
    bones = rig.data.bones
    matrices = matrices_of(bones, "matrix_local")
    place = {bone.name: number for number, bone in enumerate(bones)}
    parents = np.array([place[bone.parent.name] if bone.parent else -1 for bone in bones], np.int32)
    local = parent_local(matrices, parents, root_frame)
    return Rest(
        list(place),
        parents,
        rotation.from_matrices(local[:, :3, :3]),
        np.ascontiguousarray(local[:, :3, 3]),
        root_frame,
    )


def matrices_of(bones: Any, name: str) -> Floats:
    """(bones, 4, 4) of a matrix property of a collection of bones."""
    flat = np.empty(len(bones) * 16, np.float32)
    bones.foreach_get(name, flat)
    # Blender hands matrices out column by column.
    return flat.reshape(-1, 4, 4).transpose(0, 2, 1).astype(np.float64)


def parent_local(matrices: Floats, parents: NDArray[np.int32], root_frame: Floats) -> Floats:
    """Armature-space matrices (..., bones, 4, 4) relative to their parents; parentless ones to ``root_frame``."""
    frames = np.where((parents < 0)[:, None, None], root_frame, matrices[..., np.maximum(parents, 0), :, :])
    result: Floats = affine.inverse(frames) @ matrices
    return result


def hang_at_rest(shown: Object, rig: Object, bone: str) -> None:
    """Parent an object to a bone so that it stays where it is in the armature's space while the bone is at rest."""
    shown.parent, shown.parent_type, shown.parent_bone = rig, "BONE", bone
    found = rig.data.bones[bone]
    # Blender counts from the tail.
    shown.matrix_parent_inverse = (found.matrix_local @ Matrix.Translation((0, found.length, 0))).inverted()
