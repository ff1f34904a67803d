"""Motions of a model <-> actions and bones: a tick is a frame, all parts play at the same time.

Import: Blender interpolates quaternions between keys, the game interpolates matrices. With a key at every tick, and
between ticks where parts rotate fast, Blender shows what the game shows; with few keys, Blender stays within 0.05
degrees and 0.001 units of it. Since Blender 4.4 the model has one action with a slot per moving
object; before, each object has its own action. An armature has one action.

Export: each part is exported relative to its parent part, tick by tick, through all objects and bones between them.
Keys are read from their curves; if constraints, drivers or NLA tracks are involved, matrices are sampled frame by frame
in the scene. Where nothing was edited, the file's own motion is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...blender import compat, transforms
from ...blender.armature import Rest, rest_of
from ...blender.bone_curves import key_times
from ...blender.pose_markers import LAST_FRAME
from ...blender.properties import drop, keep, kept
from ...core import names, rotation
from ...core.errors import WriteError
from ...core.report import Report, say
from ...formats.descent3.oof.document import Oof
from ...formats.descent3.oof.model import Floats, Model, Motion, Part
from ...formats.descent3.oof.pose import KeyedMotion, few_keys, keyed_motions
from ...formats.descent3.oof.tracks import is_same, same_displacements, same_rotations
from .hierarchy import Chosen, Hierarchy, hierarchy_of
from .moving_parts import MovingPart, Samples, frame_range, matrices_by_curves, moving_parts, sample, scene_range
from .rest import RestPose
from .rotors import rotates_itself

if TYPE_CHECKING:
    import bpy

    from ...blender.typed import Action, Context, Object


@dataclass(frozen=True)
class Mover:
    """The object (``bone`` empty) or the bone of an armature that has the channels of a part.

    ``rest``: rest pose of this bone; for an object, the model's axes at its parent's pivot.
    """

    owner: Any
    bone: str
    rest: Rest


def mover_of(part: Object, bones: Mapping[str, int], rest: Rest | None) -> Mover:
    """Return the mover of an imported part; ``rest`` of the whole armature, ``bones``: index of each of its bones."""
    if rest is not None and part.parent_type == "BONE":
        row = slice(bones[part.parent_bone], bones[part.parent_bone] + 1)
        own = Rest([part.parent_bone], np.array([-1], np.int32), rest.rotations[row], rest.translations[row], np.eye(4))
        return Mover(part.parent, part.parent_bone, own)
    plain = Rest([""], np.array([-1], np.int32), np.array([[1.0, 0, 0, 0]]), np.zeros((1, 3)), np.eye(4))
    return Mover(part, "", plain)


def build(
    context: Context, document: Oof, model: Model, parts: list[Object], rig: Object | None, *, few: bool, report: Report
) -> int:
    """Animate parts with the motions of the document; returns how many. The objects must be in the scene."""
    fitting = [_fits(part, report) for part in model.parts]
    if not any(fitting):
        return 0
    # Assigning an action to an object that was never evaluated crashes Blender 4.5 and 5.0.
    context.view_layer.update()
    motions = [part.motion if fits else None for part, fits in zip(model.parts, fitting, strict=True)]
    keyed = keyed_motions(document, motions, report, few=few)
    rest = rest_of(rig, np.eye(4)) if rig is not None else None
    bones = {bone: index for index, bone in enumerate(rest.bones)} if rest is not None else {}
    writers = _Writers(model)
    for part, owner, keys in zip(model.parts, parts, keyed, strict=True):
        if keys is None:
            continue
        mover = mover_of(owner, bones, rest)
        group = mover.bone or "Object Transforms"
        for channel, (times, values) in _tracks(part, mover, keys).items():
            transforms.write_tracks(writers.curves_of(mover.owner), mover.bone, group, times, {channel: values})
        owner.motionbridge_descent_part.is_moved = True
    return sum(fitting)


def _fits(part: Part, report: Report) -> bool:
    if part.motion is None:
        return False
    if max(abs(part.motion.first), abs(part.motion.last)) > LAST_FRAME:
        words = "its ticks lie outside of Blender's frames (up to {}); left out here, kept for export"
        report.warn(say(words, LAST_FRAME), part.name)
        return False
    # F-curves store 32-bit floats.
    with np.errstate(over="ignore", invalid="ignore"):
        positions = (part.offset + part.motion.displacements).astype(np.float32)
    if not (np.isfinite(positions).all() and np.isfinite(part.motion.rotations).all()):
        report.warn("its motion holds NaN or infinite values; left out here, kept for export", part.name)
        return False
    return True


def _tracks(part: Part, mover: Mover, keys: KeyedMotion) -> dict[str, tuple[Floats, Floats]]:
    """Return channel -> key times and values."""
    fixed = np.zeros((len(keys.rotation_times), 3)) + mover.rest.translations[0]
    rotations, _ = mover.rest.to_basis(keys.rotations[None], fixed[None])
    straight = np.broadcast_to(rotation.IDENTITY, (len(keys.position_times), 4))
    _, locations = mover.rest.to_basis(straight[None], (part.offset + keys.displacements)[None])
    tracks = {}
    if part.spin_axis is None:
        tracks["rotation_quaternion"] = keys.rotation_times, rotations[0]
    if part.spin_axis is not None or (keys.displacements != 0).any():
        tracks["location"] = keys.position_times, locations[0]
    return tracks


class _Writers:
    """Creates the actions when they are needed."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._action: Any = None
        self._makers: dict[Object, compat.MakeCurve] = {}

    def curves_of(self, owner: Object) -> compat.MakeCurve:
        """Return a function that creates curves in the action of an object; the first call assigns the action."""
        if owner not in self._makers:
            name = owner.name
            if self._action is not None and compat.SLOTTED:
                action = self._action
                slot, bag = compat.add_slot(action, "OBJECT", name)
            else:
                label = self._model.name if compat.SLOTTED or owner.type == "ARMATURE" else f"{self._model.name} {name}"
                label = names.shortened(label, compat.DATA_NAME_LIMIT)
                action, slot, bag = compat.new_action(label, "OBJECT", name)
                first, last = self._model.ticks
                action.use_frame_range = True
                action.frame_start, action.frame_end = first, last
                self._action = action
            compat.assign(owner, action, slot)
            self._makers[owner] = compat.curve_maker(action, bag)
        return self._makers[owner]


# Export --------------------------------------------------------------------------------------------------------------

MOST_FRAMES, MOST_SAMPLED = 150_000, 20_000
"""Most frames of one part that are read from curves, or sampled in the scene; 1800 frames are a minute."""
SCALE_TOLERANCE = 1e-3


def gather(context: Context, hierarchy: Hierarchy, report: Report) -> list[Motion | None]:
    """Return the motion of each part, None if nothing animates it; then the file's motion is kept.

    Raises `WriteError` for motions that are too long, NaN or infinite.
    """
    rest = hierarchy.rest
    parts, bases = moving_parts(hierarchy), _bases(hierarchy)
    imported = hierarchy.before.ticks
    ranges = [_range(context, part, base, imported, report) for part, base in zip(parts, bases, strict=True)]
    samples = sample(context, [(part, ends) for part, ends in zip(parts, ranges, strict=True) if part.sampled])
    result: list[Motion | None] = []
    for part, base, ends in zip(parts, bases, ranges, strict=True):
        _report_left_out(part, report)
        _report_unseen(part, report, known=base is not None)
        motion = _motion(rest, part, ends, samples, report) if ends is not None else None
        if motion is None and part.object.motionbridge_descent_part.is_moved and base is not None:
            if not part.muted:
                report.warn("has no keys: in the file it moves only with its parent", part.object.name)
            motion = base if part.muted else _identity_motion(base)
        count = len(hierarchy.before.parts)
        result.append(_with_base_values(part, motion, base, rest.offsets[part.index], count=count))
    points = [point.name for point in hierarchy.points if transforms.playing_curves(point)]
    if points:
        report.warn(say("points do not move on their own; keys of {} left out", len(points)), points[0])
    return result


def _bases(hierarchy: Hierarchy) -> list[Motion | None]:
    """Return the imported motion of each part."""
    olds = (hierarchy.old(index) for index in range(len(hierarchy.parts)))
    return [old.motion if old is not None else None for old in olds]


def edited_parts(context: Context, hierarchy: Hierarchy) -> list[Object]:
    """Return the parts whose motions differ from the last saved file. Raises `WriteError`."""
    rows = zip(hierarchy.parts, gather(context, hierarchy, Report()), _bases(hierarchy), strict=True)
    return [part for part, motion, base in rows if not _is_saved(part, motion, base)]


def _is_saved(part: Object, motion: Motion | None, base: Motion | None) -> bool:
    """Return whether the file contains a motion: the saved one, or the imported one if none was saved since."""
    stored = kept(part.motionbridge_descent_part, "saved_motion")
    if motion is None or _is_base(motion, base):
        return not stored
    saved = _from_bytes(stored)
    same_span = saved is not None and (saved.first, saved.last) == (motion.first, motion.last)
    return saved is not None and same_span and is_same(motion, saved)


def keep_saved(hierarchy: Hierarchy, motions: Sequence[Motion | None]) -> None:
    """Store which motions were saved back, to compare later ones with them."""
    for part, motion, base in zip(hierarchy.parts, motions, _bases(hierarchy), strict=True):
        properties = part.motionbridge_descent_part
        if motion is None or _is_base(motion, base):
            drop(properties, "saved_motion")
        else:
            keep(properties, "saved_motion", _to_bytes(motion))


def _to_bytes(motion: Motion) -> bytes:
    """Encode the first tick as a 32-bit integer, then rotation and displacement of each tick as 32-bit floats."""
    rows = np.hstack([motion.rotations, motion.displacements]).astype("<f4")
    return np.array([motion.first], "<i4").tobytes() + rows.tobytes()


def _from_bytes(stored: bytes) -> Motion | None:
    if not stored:
        return None
    rows = np.frombuffer(stored, "<f4", offset=4).reshape(-1, 7).astype(np.float64)
    return Motion(int(np.frombuffer(stored, "<i4", 1)[0]), rows[:, :4], rows[:, 4:])


def _is_base(motion: Motion, base: Motion | None) -> bool:
    return base is not None and motion.rotations is base.rotations and motion.displacements is base.displacements


def moved_by_keys(hierarchy: Hierarchy) -> list[tuple[Object, list[bpy.types.FCurve]]]:
    """Return the parts that curves move, with their curves."""
    return [(part.object, part.curves) for part in moving_parts(hierarchy) if part.curves]


# Frames and matrices -------------------------------------------------------------------------------------------------


def _range(
    context: Context, part: MovingPart, base: Motion | None, imported: tuple[int, int], report: Report
) -> tuple[int, int] | None:
    """Return the first and last tick, None if nothing moves the part. Raises `WriteError` for too many frames.

    Keys make the file's motion longer but never shorter; the action's frame range also makes it shorter if it differs
    from that of the ``imported`` model.
    """
    if not part.curves and not part.sampled:
        return None
    keyed = transforms.key_range(part.curves)
    first, last = keyed or scene_range(context, part)
    if base is not None and keyed is not None:
        first, last = _of_imported((min(first, base.first), max(last, base.last)), part, base, imported, report)
    most = MOST_SAMPLED if part.sampled else MOST_FRAMES
    if last - first >= most:
        problem = say("{!r} moves over too many frames: {}", part.object.name, last - first + 1)
        if part.sampled:
            words = "{!r} moves over too many frames to sample (it has {}): {}"
            problem = say(words, part.object.name, part.sampled[0], last - first + 1)
        raise WriteError(problem, remedy=say("Shorten it; at most {} are possible", most))
    return first, max(last, first + 1)


def _of_imported(
    ends: tuple[int, int], part: MovingPart, base: Motion, imported: tuple[int, int], report: Report
) -> tuple[int, int]:
    """Limit the ticks of a part's keys and its file to the frame range of the action, if that was edited."""
    chosen = frame_range(part)
    if chosen is None or chosen == imported:
        return ends
    first, last = ends
    if chosen[1] > imported[1] and base.last == imported[1]:
        last = max(last, chosen[1])
    if chosen[0] > first or chosen[1] < last:
        first, last = max(first, chosen[0]), min(last, chosen[1])
        first, last = (first, last) if first <= last else chosen
        words = "the frame range of the action ({} to {}) excludes ticks of the file or of keys"
        report.warn(say(words, chosen[0], chosen[1]), part.object.name)
    return first, last


def _motion(rest: RestPose, part: MovingPart, ends: tuple[int, int], samples: Samples, report: Report) -> Motion:
    ticks = np.arange(ends[0], ends[1] + 1)
    relative = samples.between(part, ticks) if part.sampled else matrices_by_curves(part, ticks)
    if not np.isfinite(relative).all():
        words = "the motion of {!r} holds NaN or infinite values"
        raise WriteError(say(words, part.object.name), remedy="Clean up its curves")
    relative = _between_unrotated(rest, part, relative)
    lengths = np.linalg.norm(relative[:, :3, :3], axis=1)
    if np.abs(lengths - 1).max() > SCALE_TOLERANCE:
        report.warn("scale is animated, which the game cannot store; left out", part.object.name)
    rotations = rotation.from_matrices(relative[:, :3, :3] / np.where(lengths > 0, lengths, 1.0)[:, None, :])
    if rotates_itself(part.object) is not None:
        rotations[:] = rotation.IDENTITY
    moved = relative[:, :3, 3] - rest.offsets[part.index]
    return Motion(ends[0], rotation.continuous(rotations), moved, _keys(part, ticks))


def _between_unrotated(rest: RestPose, part: MovingPart, relative: Floats) -> Floats:
    """Convert matrices (ticks, 4, 4) to parts without rotation or scale at rest, as the file stores them."""
    result = relative
    if not rest.is_straight[part.index]:
        inverse = np.eye(4)
        inverse[:3, :3] = np.linalg.pinv(rest.matrices[part.index, :3, :3])
        result = result @ inverse
    if part.parent >= 0 and not rest.is_straight[part.parent]:
        rotated = np.eye(4)
        rotated[:3, :3] = rest.matrices[part.parent, :3, :3]
        result = rotated @ result
    return result


def _keys(part: MovingPart, ticks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the ticks of keys; none if more than half of all ticks have keys, as these were not set by hand."""
    if part.sampled:
        return np.zeros(0, np.int64)
    frames = np.unique(np.rint(key_times(part.curves)).astype(np.int64))
    return frames if 2 * len(frames) <= len(ticks) else np.zeros(0, np.int64)


def _report_left_out(part: MovingPart, report: Report) -> None:
    obj = part.object
    bone = obj.parent_bone if obj.parent_type == "BONE" else ""
    owner = obj.parent if bone else obj
    curves = transforms.playing_curves(owner)
    if rotates_itself(obj) is not None:
        rotations = [key for key in transforms.channels_of(curves, bone) if transforms.kind_of(key[0]) == "rotation"]
        if rotations:
            words = "the game rotates it by itself: {:# curve|# curves} of its rotation left out"
            report.warn(say(words, len(rotations)), obj.name)
    others = {curve.data_path for curve in transforms.playing_curves(obj)} - transforms.WIDTHS.keys()
    if others:
        words = "{:# animated property|# animated properties} left out ({})"
        report.warn(say(words, len(others), min(others)), obj.name)
    if obj.type == "MESH" and obj.data.shape_keys is not None and obj.data.shape_keys.animation_data is not None:
        report.warn("animated shape keys left out: the game's parts are rigid", obj.name)


def _report_unseen(part: MovingPart, report: Report, *, known: bool) -> None:
    """Report curves and poses without effect; ``known``: the file has a motion of the part."""
    if not part.curves and not part.sampled and any(link.is_posed for link in part.links):
        report.warn(
            "its bone is posed without keys: exported at rest (add keys, or apply the pose as rest pose)",
            part.object.name,
        )
    if part.muted and not part.sampled:
        what = " and ".join(sorted({_KINDS[transforms.kind_of(channel)] for channel in part.muted}))
        problem = "muted curves are not shown: left out"
        if known:
            problem = say("muted curves are not shown: the file's {} is kept", what)
        report.warn(problem, part.object.name)
    if part.hidden:
        names = ", ".join(channel.removeprefix("rotation_") for channel in part.hidden)
        words = (
            "its rotation mode hides its keys ({}): exported as shown, without these rotations; restore the rotation "
            "mode to export them"
        )
        report.warn(say(words, names), part.object.name)


_KINDS = {"location": "movement", "rotation": "rotation", "scale": "size"}


# The file's own motion -----------------------------------------------------------------------------------------------


def _identity_motion(base: Motion) -> Motion:
    rotations = np.zeros_like(base.rotations)
    rotations[:, 0] = 1
    return Motion(base.first, rotations, np.zeros_like(base.displacements))


def _with_base_values(
    part: MovingPart,
    motion: Motion | None,
    base: Motion | None,
    offset: NDArray[Any],
    *,
    count: int,
) -> Motion | None:
    """Return the motion with the base's own rotations and displacements where Blender still shows those.

    ``count``: number of parts of the imported model.
    """
    if motion is None or base is None:
        return motion
    # With few keys Blender shows another motion than with a key at every tick.
    known = _extended(base, motion)
    same_rotation = same_rotations(motion, known)
    same_position = same_displacements(motion, known, offset)
    if not (same_rotation.all() and same_position.all()):
        few = _extended(few_keys(base, count).sampled(base.first, base.last), motion)
        same_rotation |= same_rotations(motion, few)
        same_position |= same_displacements(motion, few, offset)
    muted = {transforms.kind_of(channel) for channel in part.muted if not part.sampled}
    same_rotation |= rotates_itself(part.object) is not None or "rotation" in muted
    same_position |= "location" in muted
    rotations, displacements = known.rotations, known.displacements
    if not same_rotation.all():
        rotations = rotation.continuous(np.where(same_rotation[:, None], rotations, motion.rotations))
    if not same_position.all():
        displacements = np.where(same_position[:, None], displacements, motion.displacements)
    return Motion(motion.first, rotations, displacements, base.key_ticks if known is base else motion.key_ticks)


def _extended(base: Motion, motion: Motion) -> Motion:
    """Return a motion over the ticks of another, constant before its start and after its end."""
    if (motion.first, motion.last) == (base.first, base.last):
        return base
    rows = np.clip(np.arange(motion.first, motion.last + 1), base.first, base.last) - base.first
    return Motion(motion.first, base.rotations[rows], base.displacements[rows], base.key_ticks)


def update_status(context: Context, holder: Object, *, sample: bool = True) -> list[Object]:
    """Compare the motions of a model with its file and set its status; returns the parts that differ.

    Motions saved back since the import are stored on the parts. Without ``sample`` it is unknown for a new model, and
    for one with parts that must be sampled frame by frame. Raises `WriteError`.
    """
    hierarchy = hierarchy_of(context, Chosen(holder), Report())
    properties = holder.motionbridge_descent_model
    if not sample and (hierarchy.base is None or any(part.sampled for part in moving_parts(hierarchy))):
        properties.motion_status = "UNKNOWN"
        return []
    context.view_layer.update()
    edited = edited_parts(context, hierarchy)
    properties.motion_status = "EDITED" if edited else "UNTOUCHED"
    return edited


def plays_any(holder: Object, datablocks: Sequence[Action]) -> bool:
    """Return whether a part of a model, or its armature, plays one of these actions."""
    owners = [holder, *holder.children_recursive]
    playing = [owner.animation_data.action for owner in owners if owner.animation_data is not None]
    return any(action is not None and action in datablocks for action in playing)
