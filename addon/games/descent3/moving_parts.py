"""Parts of a model as Blender moves them: the objects and bones between a part and its parent part, their curves and
matrices. A frame is a tick of the game.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...blender import nla, transforms
from ...blender.action import INHERITANCE
from ...blender.bone_curves import channel_path, rotation_kind
from ...blender.keyed_poses import follows_keys
from ...blender.sampling import REST_TOLERANCE
from ...core import affine
from ...core.errors import WriteError
from ...core.report import say
from .hierarchy import Hierarchy
from .rest import array, bone_of, to_tail
from .rotors import rotates_itself

if TYPE_CHECKING:
    import bpy

    from ...blender.typed import Context, Object, PoseBone

Floats = NDArray[np.float64]


@dataclass
class MovingPart:
    """A part: its index, its parent part's, and the ``links`` from its ``object`` up to the parent's object ``above``.

    ``curves`` of the links. ``on_bone``: the link of the parent's object to its bone, if the links go through bones.
    ``sampled``: reasons why curves alone do not define the motion. ``muted`` and ``hidden``: channels without effect,
    because they are muted or of another rotation mode.
    """

    index: int
    parent: int
    object: Any
    above: Object | None
    links: list[Link] = field(default_factory=list)
    on_bone: Link | None = None
    curves: list[bpy.types.FCurve] = field(default_factory=list)
    sampled: list[str] = field(default_factory=list)
    muted: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Link:
    """One object or bone between a part and its parent part; ``rotates`` False if the game ignores its rotation."""

    owner: Object
    bone: str
    curves: dict[tuple[str, int], bpy.types.FCurve]
    rotates: bool

    @property
    def is_posed(self) -> bool:
        """Whether this is a bone that is not in its rest pose."""
        posed = self.rotates and bool(self.bone)
        return posed and bool(
            np.abs(array(self.owner.pose.bones[self.bone].matrix_basis) - np.eye(4)).max() > REST_TOLERANCE
        )

    def matrices(self, frames: NDArray[np.float32]) -> Floats:
        """Return the matrices (frames, 4, 4) relative to the next link."""
        if self.bone:
            pose = self.owner.pose.bones[self.bone]
            rest = array(pose.bone.matrix_local)
            if pose.parent is not None:
                rest = affine.inverse(array(pose.parent.bone.matrix_local)) @ rest
            moving: Floats = rest @ transforms.basis(pose, self.curves, frames, turning=self.rotates)
            return moving
        owner = self.owner
        if self.curves or not self.rotates:
            own = transforms.basis(owner, self.curves, frames, turning=self.rotates)
        else:
            own = np.broadcast_to(array(owner.matrix_basis), (len(frames), 4, 4))
        before = array(owner.matrix_parent_inverse)
        bone = bone_of(owner)
        if bone is not None:
            before = to_tail(bone) @ before
        result: Floats = before @ own
        return result


def moving_parts(hierarchy: Hierarchy) -> list[MovingPart]:
    """Return each part with what is between it and its parent part."""
    return [_moving_part(hierarchy, index) for index in range(len(hierarchy.parts))]


def _moving_part(hierarchy: Hierarchy, index: int) -> MovingPart:
    obj, parent = hierarchy.parts[index], hierarchy.parents[index]
    above = hierarchy.parts[parent] if parent >= 0 else hierarchy.holder
    part = MovingPart(index, parent, obj, above)
    for owner, bone in _links(obj, above):
        of_part = owner == obj or (bool(bone) and obj.parent == owner and obj.parent_bone == bone)
        rotates = not (of_part and rotates_itself(obj) is not None)
        curves = transforms.channels_of(transforms.playing_curves(owner), bone)
        if not rotates:
            curves = {key: curve for key, curve in curves.items() if transforms.kind_of(key[0]) != "rotation"}
        muted = transforms.channels_of(transforms.playing_curves(owner, muted=True), bone)
        part.muted += [channel for channel, _ in muted if rotates or transforms.kind_of(channel) != "rotation"]
        part.hidden += _hidden(owner.pose.bones[bone] if bone else owner, curves) if rotates else []
        part.links.append(Link(owner, bone, curves, rotates))
        part.curves += list(curves.values())
        part.sampled += _why_sampled(owner, bone, rotates=rotates)
    if above is not None and any(_are_on_same_armature(link.owner, above) for link in part.links if not link.bone):
        own = transforms.channels_of(transforms.playing_curves(above))
        part.on_bone = Link(above, "", own, rotates_itself(above) is None)
    return part


def _are_on_same_armature(obj: Object, other: Object) -> bool:
    """Return whether both objects are parented to bones of the same armature."""
    return obj.parent == other.parent and (obj.parent_type, other.parent_type) == ("BONE", "BONE")


def _hidden(owner: Object | PoseBone, curves: transforms.Curves) -> list[str]:
    """Return the animated rotation channels of an object or pose bone if none of them belongs to its rotation mode."""
    rotations = {channel for channel, _ in curves if channel.startswith("rotation_")}
    return sorted(rotations) if f"rotation_{rotation_kind(owner.rotation_mode)}" not in rotations else []


def _links(obj: Object | None, above: Object | None) -> Iterator[tuple[Object, str]]:
    """Yield objects and bones from a part up to its parent part's object ``above``, which is left out."""
    while obj is not None and obj != above:
        yield obj, ""
        parent = obj.parent
        if parent is not None and obj.parent_type == "BONE" and parent.type == "ARMATURE":
            ending = above.parent_bone if above is not None and above.parent == parent else ""
            bone = parent.pose.bones.get(obj.parent_bone)
            while bone is not None and bone.name != ending:
                yield parent, bone.name
                bone = bone.parent
            if bone is not None:
                return
        obj = parent


def _why_sampled(owner: Object, bone: str, *, rotates: bool) -> list[str]:
    if not bone:
        return transforms.why_sampled(owner, turning=rotates)
    pose = owner.pose.bones[bone]
    own = channel_path(bone, "")
    reasons = nla.moved_besides_keys(
        owner, pose.constraints, lambda path: path.startswith(own) and (rotates or "rotation" not in path)
    )
    if not follows_keys(pose.bone):
        reasons.append(INHERITANCE)
    if any("IK" in constraint.type for other in owner.pose.bones for constraint in other.constraints):
        reasons.append("inverse kinematics")
    return reasons


def frame_range(part: MovingPart) -> tuple[int, int] | None:
    """Return the frame range of the action that has a part's keys, None if it has no manual range."""
    for link in part.links:
        action = link.owner.animation_data.action if link.curves else None
        if action is not None:
            return (math.floor(action.frame_start), math.ceil(action.frame_end)) if action.use_frame_range else None
    return None


def sample(context: Context, parts: list[tuple[MovingPart, tuple[int, int] | None]]) -> Samples:
    """Sample the matrices of the objects of these parts, in one pass over the frames."""
    ranges = [ends for _, ends in parts if ends is not None]
    if not ranges:
        return Samples(0, {})
    first, last = min(ends[0] for ends in ranges), max(ends[1] for ends in ranges)
    objects = {obj for part, _ in parts for obj in (part.object, part.above) if obj is not None}
    return Samples(first, transforms.sample(context, list(objects), np.arange(first, last + 1)))


@dataclass(frozen=True)
class Samples:
    """``matrices``: object -> (frames, 4, 4) in world space, from frame ``first`` on."""

    first: int
    matrices: dict[Object, Floats]

    def between(self, part: MovingPart, ticks: NDArray[np.int64]) -> Floats:
        """Return matrices (ticks, 4, 4) of a part relative to its parent part's object."""
        rows = ticks - self.first
        own = self.matrices[part.object][rows]
        if part.above is None:
            return own
        above = self.matrices[part.above][rows]
        _refuse_zero_scale(part, part.above.name, above, ticks)
        result: Floats = affine.inverse(above) @ own
        return result


def _refuse_zero_scale(part: MovingPart, above: str, matrices: Floats, ticks: NDArray[np.int64]) -> None:
    """Raise `WriteError` if ``matrices`` (ticks, 4, 4) of the object ``above`` have a scale of 0: no inverse exists."""
    flat = affine.is_singular(matrices)
    if flat.any():
        words = "{!r} is scaled to 0 at frame {}, so nothing tells how {!r} moves relative to it"
        raise WriteError(
            say(words, above, ticks[np.flatnonzero(flat)[0]], part.object.name),
            remedy="Use a small scale instead, such as 0.001",
        )


def matrices_by_curves(part: MovingPart, ticks: NDArray[np.int64]) -> Floats:
    """Return matrices (ticks, 4, 4) of a part relative to its parent part's object, from curves alone."""
    result = np.broadcast_to(np.eye(4), (len(ticks), 4, 4))
    frames = ticks.astype(np.float32)
    for link in part.links:
        result = link.matrices(frames) @ result
    if part.on_bone is not None:
        bone = part.on_bone.matrices(frames)
        _refuse_zero_scale(part, part.on_bone.bone or part.on_bone.owner.name, bone, ticks)
        result = affine.inverse(bone) @ result
    return result


def scene_range(context: Context, part: MovingPart) -> tuple[int, int]:
    """Return the frames of NLA strips, otherwise those of the scene."""
    strips = [strip for link in part.links for track in nla.evaluated_tracks(link.owner) for strip in track.strips]
    if strips:
        return math.floor(min(s.frame_start for s in strips)), math.ceil(max(s.frame_end for s in strips))
    return context.scene.frame_start, context.scene.frame_end
