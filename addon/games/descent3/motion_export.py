"""Motions of a model out of Blender: each part against the part above it, tick by tick.

A part that objects or bones move is seen from the part above, through whatever lies between them; keys are read as
curves, and where constraints, drivers or NLA tracks have a say, places are looked at frame by frame. What is as the
import made it is the file's own motion.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ...blender import transforms
from ...blender.bone_curves import channel_path, key_times, rotation_kind
from ...core import rotation
from ...core.errors import WriteError
from ...core.report import Report
from ...formats.descent3.oof.model import Model, Motion
from ...formats.descent3.oof.tracks import Precision
from .hierarchy import Chosen, Hierarchy, hierarchy_of
from .motion import few_ticks, straightened
from .spin import turns_itself

Floats = NDArray[np.float64]

MOST_FRAMES, MOST_LOOKED_AT = 150_000, 20_000
"""Of one part, by its curves or frame by frame in the scene; a minute is 1800."""
SAME_SIZE = 1e-3


@dataclass
class _Moving:
    """A sub-object, the ``links`` of the way up to the object ``above``, and the ``curves`` on that way.

    ``hanging`` is the place on its bone of what is above, where the way leads through bones; ``sampled`` why the curves
    are not the whole truth. ``muted`` curves show nothing, ``hidden`` ones are of another rotation mode.
    """

    shown: Any
    above: Any
    links: list[_Link] = field(default_factory=list)
    hanging: _Link | None = None
    curves: list[Any] = field(default_factory=list)
    sampled: list[str] = field(default_factory=list)
    muted: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Link:
    """One step of the way from the part above to a part: an object, or a bone of a rig, or the bones' own parting."""

    owner: Any
    bone: str
    curves: dict[tuple[str, int], Any]
    turning: bool

    def matrices(self, frames: NDArray[np.float32]) -> Floats:
        """(frames, 4, 4) from the link to the one above it."""
        if self.bone:
            pose = self.owner.pose.bones[self.bone]
            rest = _array(pose.bone.matrix_local)
            if pose.parent is not None:
                rest = np.linalg.inv(_array(pose.parent.bone.matrix_local)) @ rest
            moving: Floats = rest @ transforms.basis(pose, self.curves, frames, turning=self.turning)
            return moving
        shown = self.owner
        if self.curves or not self.turning:
            own = transforms.basis(shown, self.curves, frames, turning=self.turning)
        else:
            own = np.broadcast_to(_array(shown.matrix_basis), (len(frames), 4, 4))
        before = _array(shown.matrix_parent_inverse)
        if shown.parent is not None and shown.parent_type == "BONE":
            bone = shown.parent.data.bones.get(shown.parent_bone)
            if bone is not None:
                before = _array(Matrix.Translation((0, bone.length, 0))) @ before
        result: Floats = before @ own
        return result


def _array(matrix: Any) -> Floats:
    return np.array(matrix, np.float64)


def gather(
    context: Any, hierarchy: Hierarchy, before: Model | None, precision: Precision, report: Report
) -> list[Motion | None]:
    """The motion of each part of the hierarchy; None where nothing is said and the file keeps what it has.

    Raises `WriteError`.
    """
    parts = [_moving(hierarchy, place) for place in range(len(hierarchy.parts))]
    bases = [_base_of(part.shown, before) for part in parts]
    imported = before.ticks if before is not None else (0, 0)
    ranges = [_range(context, part, base, imported, report) for part, base in zip(parts, bases, strict=True)]
    places = _sampled(context, [(part, ends) for part, ends in zip(parts, ranges, strict=True) if part.sampled])
    found: list[Motion | None] = []
    for part, base, ends in zip(parts, bases, ranges, strict=True):
        _report_left_out(part, report)
        _report_unseen(part, report, known=base is not None)
        motion = _motion(hierarchy, part, ends, places, report) if ends is not None else None
        if motion is None and part.shown.motionbridge_descent_part.is_moved and base is not None and not part.muted:
            report.warn("has no keys any more: it stands still in the file", part.shown.name)
            motion = _still(base)
        found.append(_settled(part, motion, base, hierarchy.offset(part.shown), precision))
    points = [shown.name for shown in hierarchy.points if transforms.playing_curves(shown)]
    if points:
        report.warn(f"points do not move on their own; keys of {len(points)} left out", points[0])
    return found


def _base_of(shown: Any, before: Model | None) -> Motion | None:
    source = shown.motionbridge_descent_part.source
    return before.parts[source].motion if before is not None and 0 <= source < len(before.parts) else None


def unseen(hierarchy: Hierarchy, before: Model | None) -> Report:
    """What an export will warn of that Blender does not show: muted curves, and keys of another rotation mode."""
    report = Report()
    for place in range(len(hierarchy.parts)):
        part = _moving(hierarchy, place)
        _report_unseen(part, report, known=_base_of(part.shown, before) is not None)
    return report


def edited_parts(context: Any, hierarchy: Hierarchy, before: Model) -> list[Any]:
    """The parts whose motions are not the file's. Raises `WriteError`."""
    motions = gather(context, hierarchy, before, Precision(), Report())
    edited = []
    for shown, motion in zip(hierarchy.parts, motions, strict=True):
        if motion is not None and not _is_base(motion, _base_of(shown, before)):
            edited.append(shown)
    return edited


def _is_base(motion: Motion, base: Motion | None) -> bool:
    return base is not None and motion.rotations is base.rotations and motion.displacements is base.displacements


def moved_by_keys(hierarchy: Hierarchy) -> list[tuple[Any, list[Any]]]:
    """The parts that curves move, with these."""
    parts = (_moving(hierarchy, place) for place in range(len(hierarchy.parts)))
    return [(part.shown, part.curves) for part in parts if part.curves]


# The way from part to part -------------------------------------------------------------------------------------------


def _moving(hierarchy: Hierarchy, place: int) -> _Moving:
    shown = hierarchy.parts[place]
    above = hierarchy.parts[hierarchy.parents[place]] if hierarchy.parents[place] >= 0 else hierarchy.holder
    part = _Moving(shown, above)
    for owner, bone in _way(shown, above):
        of_part = owner == shown or (shown.parent == owner and shown.parent_bone == bone)
        turning = not (of_part and turns_itself(shown) is not None)
        curves = transforms.channels_of(transforms.playing_curves(owner), bone)
        if not turning:
            curves = {key: curve for key, curve in curves.items() if not key[0].startswith("rotation")}
        muted = transforms.channels_of(transforms.playing_curves(owner, muted=True), bone)
        part.muted += [channel for channel, _ in muted if turning or not channel.startswith("rotation")]
        part.hidden += _hidden(owner.pose.bones[bone] if bone else owner, curves) if turning else []
        part.links.append(_Link(owner, bone, curves, turning))
        part.curves += list(curves.values())
        part.sampled += _why_sampled(owner, bone, turning=turning)
    if above is not None and above.parent_type == "BONE" and any(link.bone for link in part.links[1:]):
        own = transforms.channels_of(transforms.playing_curves(above))
        part.hanging = _Link(above, "", own, turns_itself(above) is None)
    return part


def _hidden(owner: Any, curves: transforms.Curves) -> list[str]:
    """The channels of rotations that an object or pose bone does not show, where it shows no curves in their place."""
    rotations = {channel for channel, _ in curves if channel.startswith("rotation_")}
    return sorted(rotations) if f"rotation_{rotation_kind(owner.rotation_mode)}" not in rotations else []


def _way(shown: Any, above: Any) -> Iterator[tuple[Any, str]]:
    """Objects and bones from a part up to the one above it, that one left out."""
    while shown is not None and shown != above:
        yield shown, ""
        parent = shown.parent
        if parent is not None and shown.parent_type == "BONE" and parent.type == "ARMATURE":
            ending = above.parent_bone if above is not None and above.parent == parent else ""
            bone = parent.pose.bones.get(shown.parent_bone)
            while bone is not None and bone.name != ending:
                yield parent, bone.name
                bone = bone.parent
            if bone is not None:
                return
        shown = parent


def _why_sampled(owner: Any, bone: str, *, turning: bool) -> list[str]:
    if not bone:
        return transforms.why_sampled(owner, turning=turning)
    pose = owner.pose.bones[bone]
    reasons = ["constraints"] if any(not constraint.mute for constraint in pose.constraints) else []
    data = owner.animation_data
    own = f"{channel_path(bone, '')}"
    if data is not None:
        driven = [curve.data_path for curve in data.drivers if not curve.mute and curve.data_path.startswith(own)]
        if any(turning or "rotation" not in path for path in driven):
            reasons.append("drivers")
        if data.use_nla and any(not track.mute and len(track.strips) for track in data.nla_tracks):
            reasons.append("NLA tracks")
    plain = pose.bone.use_inherit_rotation and pose.bone.inherit_scale == "FULL" and pose.bone.use_local_location
    if not plain or pose.bone.use_connect:
        reasons.append("bones that are connected or do not inherit from their parents")
    if any("IK" in constraint.type for other in owner.pose.bones for constraint in other.constraints):
        reasons.append("inverse kinematics")
    return reasons


# What moves ----------------------------------------------------------------------------------------------------------


def _range(
    context: Any, part: _Moving, base: Motion | None, imported: tuple[int, int], report: Report
) -> tuple[int, int] | None:
    """The first and last tick, None for what nothing moves. Raises `WriteError`.

    Keys make the motion of a file longer, never shorter; the frame range of the action does that, if it is no longer
    the one of the ``imported`` model.
    """
    if not part.curves and not part.sampled:
        return None
    keyed = transforms.key_range(part.curves)
    first, last = keyed or _scene_range(context, part)
    if base is not None and keyed is not None:
        first, last = _of_imported((min(first, base.first), max(last, base.last)), part, base, imported, report)
    most = MOST_LOOKED_AT if part.sampled else MOST_FRAMES
    if last - first >= most:
        because = f" ({part.sampled[0]}: each would be looked at)" if part.sampled else ""
        raise WriteError(
            f"{part.shown.name!r} moves over {last - first + 1} frames{because}", remedy=f"Keep it within {most} frames"
        )
    return first, max(last, first + 1)


def _of_imported(
    ends: tuple[int, int], part: _Moving, base: Motion, imported: tuple[int, int], report: Report
) -> tuple[int, int]:
    """The ticks of a part's keys and its file, as far as the frame range says that somebody set on the action."""
    chosen = _frame_range(part)
    if chosen is None or chosen == imported:
        return ends
    first, last = ends
    if chosen[1] > imported[1] and base.last == imported[1]:
        last = max(last, chosen[1])
    if chosen[0] > first or chosen[1] < last:
        first, last = max(first, chosen[0]), min(last, chosen[1])
        first, last = (first, last) if first <= last else chosen
        report.warn(
            f"the frame range of the action ({chosen[0]} to {chosen[1]}) leaves ticks out that the file or the keys "
            "have",
            part.shown.name,
        )
    return first, last


def _frame_range(part: _Moving) -> tuple[int, int] | None:
    """The frame range that is set on the action with a part's keys."""
    for link in part.links:
        action = link.owner.animation_data.action if link.curves else None
        if action is not None:
            return (math.floor(action.frame_start), math.ceil(action.frame_end)) if action.use_frame_range else None
    return None


def _sampled(context: Any, parts: list[tuple[_Moving, tuple[int, int] | None]]) -> _Places:
    """Where all objects concerned are, looked at once for all of them."""
    ranges = [ends for _, ends in parts if ends is not None]
    if not ranges:
        return _Places(0, {})
    first, last = min(ends[0] for ends in ranges), max(ends[1] for ends in ranges)
    concerned = {shown for part, _ in parts for shown in (part.shown, part.above) if shown is not None}
    return _Places(first, transforms.sample(context, list(concerned), np.arange(first, last + 1)))


@dataclass(frozen=True)
class _Places:
    """(frames, 4, 4) of objects in the scene, from frame ``first`` on."""

    first: int
    matrices: dict[Any, Floats]

    def between(self, part: _Moving, ticks: NDArray[np.int64]) -> Floats:
        """(ticks, 4, 4) from the part to what is above it."""
        rows = ticks - self.first
        own = self.matrices[part.shown][rows]
        if part.above is None:
            return own
        result: Floats = np.linalg.inv(self.matrices[part.above][rows]) @ own
        return result


def _motion(hierarchy: Hierarchy, part: _Moving, ends: tuple[int, int], places: _Places, report: Report) -> Motion:
    ticks = np.arange(ends[0], ends[1] + 1)
    relative = places.between(part, ticks) if part.sampled else _by_curves(part, ticks)
    if not np.isfinite(relative).all():
        raise WriteError(f"the motion of {part.shown.name!r} holds a number that is none", remedy="Clean up its curves")
    relative = _at_rest_straight(hierarchy, part, relative)
    lengths = np.linalg.norm(relative[:, :3, :3], axis=1)
    if np.abs(lengths - 1).max() > SAME_SIZE:
        report.warn("changes its size, which the game cannot; left out", part.shown.name)
    turns = rotation.from_matrices(relative[:, :3, :3] / np.where(lengths > 0, lengths, 1.0)[:, None, :])
    if turns_itself(part.shown) is not None:
        turns[:] = (1.0, 0.0, 0.0, 0.0)
    moved = relative[:, :3, 3] - hierarchy.offset(part.shown)
    return Motion(ends[0], rotation.continuous(turns), moved, _keys(part, ticks))


def _by_curves(part: _Moving, ticks: NDArray[np.int64]) -> Floats:
    result = np.broadcast_to(np.eye(4), (len(ticks), 4, 4))
    frames = ticks.astype(np.float32)
    for link in part.links:
        result = link.matrices(frames) @ result
    if part.hanging is not None:
        result = np.linalg.inv(part.hanging.matrices(frames)) @ result
    return result


def _at_rest_straight(hierarchy: Hierarchy, part: _Moving, relative: Floats) -> Floats:
    """The same between parts that stand straight at rest, as those of the file do.

    Where an object is turned at rest its vertices are, in the file.
    """
    result = relative
    if not hierarchy.is_straight(part.shown):
        straight = np.eye(4)
        straight[:3, :3] = np.linalg.pinv(hierarchy.frame(part.shown)[:3, :3])
        result = result @ straight
    if part.above is not None and part.above != hierarchy.holder and not hierarchy.is_straight(part.above):
        turned = np.eye(4)
        turned[:3, :3] = hierarchy.frame(part.above)[:3, :3]
        result = turned @ result
    return result


def _scene_range(context: Any, part: _Moving) -> tuple[int, int]:
    """Of what constraints, drivers or NLA tracks move: the strips, else the scene's frames."""
    strips = [
        strip
        for link in part.links
        if link.owner.animation_data is not None
        for track in link.owner.animation_data.nla_tracks
        if not track.mute
        for strip in track.strips
    ]
    if strips:
        return math.floor(min(s.frame_start for s in strips)), math.ceil(max(s.frame_end for s in strips))
    return context.scene.frame_start, context.scene.frame_end


def _keys(part: _Moving, ticks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where keys were set, unless there is one nearly everywhere: then nobody chose them."""
    if part.sampled:
        return np.zeros(0, np.int64)
    found = np.unique(np.rint(key_times(part.curves)).astype(np.int64))
    return found if 2 * len(found) <= len(ticks) else np.zeros(0, np.int64)


def _report_left_out(part: _Moving, report: Report) -> None:
    shown = part.shown
    bone = shown.parent_bone if shown.parent_type == "BONE" else ""
    owner = shown.parent if bone else shown
    curves = transforms.playing_curves(owner)
    if turns_itself(shown) is not None:
        turning = [key for key in transforms.channels_of(curves, bone) if key[0].startswith("rotation")]
        if turning:
            report.warn(f"the game turns it by itself: {len(turning)} curves of its rotation left out", shown.name)
    others = {curve.data_path for curve in transforms.playing_curves(shown)} - transforms.WIDTHS.keys()
    if others:
        report.warn(f"{len(others)} animated properties left out ({min(others)})", shown.name)
    if shown.type == "MESH" and shown.data.shape_keys is not None and shown.data.shape_keys.animation_data is not None:
        report.warn("animated shape keys left out: the game's parts are rigid", shown.name)


def _report_unseen(part: _Moving, report: Report, *, known: bool) -> None:
    """Warn of curves that show nothing; ``known``: the file has a motion of the part."""
    if part.muted and not part.sampled:
        what = " and ".join(sorted({_KINDS[channel.partition("_")[0]] for channel in part.muted}))
        kept = f"the file's {what} is kept" if known else "left out"
        report.warn(f"muted curves are not shown: {kept}", part.shown.name)
    if part.hidden:
        names = ", ".join(channel.removeprefix("rotation_") for channel in part.hidden)
        report.warn(
            f"its rotation mode hides its keys ({names}): exported as shown, without these turns; set the rotation "
            "mode back to export them",
            part.shown.name,
        )


_KINDS = {"location": "movement", "rotation": "rotation", "scale": "size"}


# What is the file's --------------------------------------------------------------------------------------------------


def _still(base: Motion) -> Motion:
    turns = np.zeros_like(base.rotations)
    turns[:, 0] = 1
    return Motion(base.first, turns, np.zeros_like(base.displacements))


def _settled(
    part: _Moving, motion: Motion | None, base: Motion | None, offset: NDArray[Any], precision: Precision
) -> Motion | None:
    """The motion with the base's own rotations and displacements where Blender still shows what it was given."""
    if motion is None or base is None:
        return motion
    # With few keys Blender shows something else than with a key at every tick.
    known = _over(base, motion)
    few = _over(straightened(base, few_ticks(base)), motion)
    turns = _turns_alike(motion, known, precision) | _turns_alike(motion, few, precision)
    moves = _moves_alike(motion, known, offset, precision) | _moves_alike(motion, few, offset, precision)
    muted = {channel.partition("_")[0] for channel in part.muted if not part.sampled}
    turns |= turns_itself(part.shown) is not None or "rotation" in muted
    moves |= "location" in muted
    turned, moved = known.rotations, known.displacements
    if not turns.all():
        turned = rotation.continuous(np.where(turns[:, None], turned, motion.rotations))
    if not moves.all():
        moved = np.where(moves[:, None], moved, motion.displacements)
    return Motion(motion.first, turned, moved, base.key_ticks if known is base else motion.key_ticks)


def _over(base: Motion, motion: Motion) -> Motion:
    """A motion over the ticks of another; before and behind its own it holds on."""
    if (motion.first, motion.last) == (base.first, base.last):
        return base
    rows = np.clip(np.arange(motion.first, motion.last + 1), base.first, base.last) - base.first
    return Motion(motion.first, base.rotations[rows], base.displacements[rows], base.key_ticks)


def _turns_alike(motion: Motion, other: Motion, precision: Precision) -> NDArray[np.bool_]:
    """(ticks,) where both turn alike."""
    apart = rotation.angles_between(motion.rotations, other.rotations)
    result: NDArray[np.bool_] = np.degrees(apart) <= precision.untouched_degrees
    return result


def _moves_alike(motion: Motion, other: Motion, offset: NDArray[Any], precision: Precision) -> NDArray[np.bool_]:
    """(ticks,) within what the file's own motion may be off by, and what adding the offset in 32 bits costs."""
    size = 1 + np.abs(other.displacements).max(initial=0)
    reach = np.abs(offset).max(initial=0) + size
    near = precision.untouched_distance * size + 4 * np.finfo(np.float32).eps * reach
    result: NDArray[np.bool_] = np.abs(motion.displacements - other.displacements).max(axis=1, initial=0) <= near
    return result


def update_status(context: Any, holder: Any, before: Model | None) -> list[Any]:
    """Compare the motions of a model with its file's, for the badge; the parts that differ. Raises `WriteError`."""
    hierarchy = hierarchy_of(context, Chosen(holder), Report())
    context.view_layer.update()
    edited = edited_parts(context, hierarchy, before or Model(""))
    holder.motionbridge_descent_model.motion_status = "EDITED" if edited else "UNTOUCHED"
    return edited


def is_sampled(context: Any, holder: Any) -> bool:
    """Whether some part of a model must be looked at frame by frame."""
    hierarchy = hierarchy_of(context, Chosen(holder), Report())
    return any(_moving(hierarchy, place).sampled for place in range(len(hierarchy.parts)))


def plays_any(holder: Any, datablocks: Sequence[Any]) -> bool:
    """Whether a part of a model, or its armature, plays one of these actions."""
    owners = [holder, *holder.children_recursive]
    playing = [one.animation_data.action for one in owners if one.animation_data is not None]
    return any(action is not None and action in datablocks for action in playing)
