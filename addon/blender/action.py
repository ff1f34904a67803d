"""`Clip` to action, and actions or evaluated poses to `Clip`.

The channels of a pose bone are relative to its rest pose, the tracks of a clip are relative to the parent bone:

    parent pose · track = parent pose · rest · basis,  hence  basis = rest⁻¹ · track  and  track = rest · basis

which for quaternions and offsets is ``q_basis = conj(q_rest) q_track``, ``t_basis = R(q_rest)ᵀ (t_track - t_rest)``.
This holds if the bone inherits its parent's rotation, scale and location and is not connected. If not, poses are
sampled.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..core import affine, rotation
from ..core.errors import WriteError
from ..core.model import Clip
from ..core.report import say
from . import action_lists, compat, control_transfer, rotation_modes
from .action_lists import label_of
from .armature import Rest, matrices_of, moving
from .bone_channels import LOCATION, ROTATION, ChannelReader
from .bone_curves import (
    ActionTemplate,
    CurveTable,
    KeysRead,
    evaluated_poses,
    identity_of,
    key_times,
    keys_at,
    keys_written,
    table_of,
    write_keys,
)
from .control_links import controls_of
from .keyed_poses import follows_keys
from .nla import moved_besides_keys
from .rotation_modes import modes_set

if TYPE_CHECKING:
    from .typed import Action, Context, Object


Floats = NDArray[np.float64]

CHANNELS = 7
"""F-curves per bone: four of the quaternion, three of the location."""
CHANNEL_WIDTHS = (("rotation_quaternion", 4), ("location", 3))
MOVING = (".location", ".rotation_quaternion", ".rotation_euler", ".rotation_axis_angle")
"""Ends of the data paths of F-curves that move bones."""
INHERITANCE = "bones that are connected or do not inherit from their parents"
"""A reason why a pose is not defined by its keys alone."""
NEAR = 1e-3
"""Tolerance in frames for a key to be on a frame: Blender stores times as 32-bit floats."""
DISTORTED = 1e-3
"""`affine.distortion` from which a sampled bone counts as scaled or sheared; rounding causes less."""


@dataclass
class ClipWriter:
    """Creates the actions of one armature. All have the same F-curves: copies of one action without keys.

    ``bone_indices`` (tracks,): for each track of the clips the index of its bone in ``rest``.
    """

    rest: Rest
    bone_indices: list[int]
    slot_name: str

    def __post_init__(self) -> None:
        bones = [self.rest.bones[index] for index in self.bone_indices]
        self._used = Rest(
            bones,
            self.rest.parents[self.bone_indices],
            self.rest.rotations[self.bone_indices],
            self.rest.translations[self.bone_indices],
            self.rest.root_frame,
        )
        self._template = ActionTemplate(bones, CHANNEL_WIDTHS, self.slot_name)
        bag = self._template.bag
        self._identity = identity_of(bag, list(bag.fcurves)) or b""
        self.keys = KeysRead()
        """`bone_curves.keys_read` of the action that was filled last."""

    def close(self) -> None:
        """Remove the template action."""
        self._template.close()

    def build(self, clip: Clip, tracks: list[int], first_frame: int = 0, step: float = 1.0) -> Action:
        """Create an action and `fill` it."""
        action = self._template.copy(clip.name)
        self.fill(action, clip, tracks, first_frame, step)
        return action

    def rebuild(
        self, action: Action, clip: Clip, tracks: list[int], *, first_frame: int, step: float, owner: Object
    ) -> None:
        """Replace the F-curves that the action has for the bones of ``owner`` and `fill` them; the action stays
        assigned to its users.
        """
        curves = self._template.restore(action, compat.suitable_slot(action, owner))
        self.fill(action, clip, tracks, first_frame, step, curves=curves)

    def fill(
        self, action: Action, clip: Clip, tracks: list[int], first_frame: int, step: float, *, curves: Any = None
    ) -> None:
        """Write one key every ``step`` frames for animated channels and one key for others, and set the action's frame
        range.

        ``tracks``: the clip's rows to write, one for each of ``bone_indices``. ``curves``: the F-curves; by default
        those of the action's first slot.
        """
        rotations, locations = self._used.to_basis(clip.rotations[tracks], clip.translations[tracks])
        frames = clip.frames
        keys = keys_at(key_frames(first_frame, frames, step), rotations, locations)
        keyed = np.empty((len(tracks), CHANNELS), np.bool_)
        keyed[:, :4] = clip.rotation_keyed[tracks][:, None]
        keyed[:, 4:] = clip.translation_keyed[tracks][:, None]
        rows = keys.reshape(-1, frames, 2)
        write_keys(curves or compat.curve_bag(action).fcurves, rows, keyed.ravel())
        written = np.repeat(keyed.reshape(-1, 1), frames, axis=1)
        written[:, :1] = True
        self.keys = keys_written(self._identity, written.sum(axis=1), rows[written])
        action.use_frame_range = True
        action.frame_start, action.frame_end = first_frame, first_frame + step * (frames - 1)


def key_frames(first: int, count: int, step: float) -> NDArray[np.float32]:
    """Return (count,) frames of the keys: every ``step`` frames (1 unless a motion was converted to another frame
    rate).
    """
    return (first + step * np.arange(count)).astype(np.float32)


def frame_range(
    action: Action,
    step: float = 1.0,
    imported: int | None = None,
    *,
    is_cut: bool = False,
    owner: Object | None = None,
) -> tuple[int, int]:
    """Return the first frame and the number of keys ``step`` frames apart: of the range set on the action, else of its
    keys.

    ``imported``: the number of keys that the action's motion has in its file. Bone keys after the end then extend the
    range if no range is set, or if the set range still has that length. They do not if the set range already left out
    keys when it was saved (``is_cut``). A range is never shortened because keys are missing: bones at rest have one
    key. ``owner``: the object whose slot is used, by default the first slot.
    """
    start, end = (action.frame_start, action.frame_end) if action.use_frame_range else _curve_range(action, owner)
    first = round(start)
    count = max(round((end - first) / step), 0) + 1
    if imported is None or (action.use_frame_range and (is_cut or count != imported)):
        return first, count
    last = first + step * (imported - 1)
    end = max(key_ends(action, first, last, owner)[1], last)
    return first, int(np.ceil((end - first) / step - NEAR)) + 1


def _curve_range(action: Action, owner: Object | None) -> tuple[float, float]:
    """Return the first and the last time of the F-curves that an action has for ``owner``."""
    if owner is None or not compat.has_several_slots(action):
        return action.curve_frame_range[0], action.curve_frame_range[1]
    ends = [curve.range() for curve in compat.curves_of(action, owner) if not curve.is_empty]
    return min((end[0] for end in ends), default=0.0), max((end[1] for end in ends), default=0.0)


def key_ends(action: Action, first: float, last: float, owner: Object | None = None) -> tuple[float, float]:
    """Return the range of the keys that move bones if some are outside ``first`` to ``last``, else ``first`` and
    ``last``.

    Muted F-curves are ignored. Keys that were added to the control rig after the motion was transferred to it count.
    ``owner`` as in `frame_range`.
    """
    # The range of the whole action is nearly always the answer, and costs one call.
    start, end = key_span(action)
    if start >= first - NEAR and end <= last + NEAR:
        return first, last
    bag = compat.curve_bag(action, compat.suitable_slot(action, owner) if owner is not None else None)
    ends = [
        curve.range()
        for curve in (bag.fcurves if bag is not None else ())
        if len(curve.keyframe_points) and not compat.is_muted(curve) and curve.data_path.endswith(MOVING)
    ]
    times = [*ends, *((time, time) for time in added_key_times(action).tolist())]
    return min((time[0] for time in times), default=first), max((time[1] for time in times), default=last)


def key_span(action: Action) -> tuple[float, float]:
    """Return the times of the first and the last key of an action, including `added_key_times`."""
    times = [*action.curve_frame_range, *added_key_times(action).tolist()]
    return min(times), max(times)


def added_key_times(action: Action) -> NDArray[np.float32]:
    """Return (keys,) times of control rig keys of an action outside the frames that were transferred to the control
    rig.
    """
    controls = action.motionbridge_controls
    empty = np.empty(0, np.float32)
    if controls is None or not controls.use_frame_range:
        return empty
    first, last = controls.frame_start - NEAR, controls.frame_end + NEAR
    start, end = controls.curve_frame_range
    if start >= first and end <= last:
        return empty
    times = key_times(compat.curve_bag(controls).fcurves)
    return times[(times < first) | (times > last)]


def set_length(action: Action, count: int, step: float = 1.0) -> None:
    """Resize the frame range set on an action to ``count`` keys ``step`` frames apart; no effect if none is set."""
    end = round(action.frame_start) + step * (count - 1)
    if action.use_frame_range and abs(action.frame_end - end) > NEAR:
        action.frame_end = end


def cut_keys(action: Action, last: float) -> None:
    """Remove the keys after the frame ``last``, except on F-curves that have no keys up to it."""
    bag = compat.curve_bag(action)
    for curve in bag.fcurves if bag is not None else ():
        points = curve.keyframe_points
        keys, kinds = np.empty(2 * len(points), np.float32), np.empty(len(points), np.uint8)
        points.foreach_get("co", keys)
        points.foreach_get("interpolation", kinds)
        count = int(np.count_nonzero(keys[::2] <= last + NEAR))
        if 0 < count < len(points):
            points.clear()
            points.add(count)
            points.foreach_set("co", keys[: 2 * count])
            points.foreach_set("interpolation", kinds[:count])
            curve.update()


@dataclass
class Gathered:
    """A clip read from keys, and what the action contains besides.

    ``left_out``: data paths of F-curves that a motion cannot contain; ``other_kinds``: bones with keys of a rotation
    type that their rotation mode does not use; ``muted`` (bones, 2): whether the F-curves of rotation and translation
    are muted, which then have their rest values.
    """

    clip: Clip
    left_out: list[str]
    other_kinds: list[str]
    muted: NDArray[np.bool_]


class ClipReader:
    """Reads actions of one armature and one `Rest` as arrays."""

    def __init__(self, rig: Object, rest: Rest, fps: float) -> None:
        self.rest = rest
        self.fps = fps
        self._rig = rig
        self._channels = ChannelReader(rig, rest.bones, scales=False)

    def gather(
        self,
        action: Action,
        modes: dict[str, str],
        step: float = 1.0,
        frames: tuple[int, int] | None = None,
        table: CurveTable | None = None,
    ) -> Gathered:
        """Read the keys of ``action`` every ``step`` frames, relative to the parent; bones without F-curves are at
        rest.

        ``modes``: the rotation mode of each bone (`RotationModes.of_export`). A bone whose rotation keys are all of
        other types keeps its current rotation. ``frames``: first frame and number of keys, by default those of
        `frame_range`. ``table``: the action's F-curves, if the caller already has them.
        """
        first, count = frames if frames is not None else frame_range(action, step)
        channels = self._channels.read(table or table_of(action, self._rig), key_frames(first, count, step), modes)
        clip = Clip(
            action.name,
            list(self.rest.bones),
            *self.rest.from_basis(channels.groups[ROTATION], channels.groups[LOCATION]),
            channels.animated[:, ROTATION],
            channels.animated[:, LOCATION],
            self.fps,
        )
        other_kinds = list(itertools.compress(self.rest.bones, channels.other_kinds.tolist()))
        return Gathered(clip, channels.left_out, other_kinds, channels.muted[:, [ROTATION, LOCATION]])


def why_sampled(rig: Object) -> list[str]:
    """Return the reasons why poses of ``rig`` are not defined by keys alone; empty if they are.

    `sampling.Movers` finds the bones that these affect.
    """
    reasons = moved_besides_keys(rig, itertools.chain.from_iterable(map(moving, rig.pose.bones)))
    if not all(follows_keys(bone) for bone in rig.data.bones):
        reasons.append(INHERITANCE)
    return reasons


def sample(
    context: Context,
    rig: Object,
    action: Action,
    rest: Rest,
    fps: float,
    *,
    modes: dict[str, str],
    step: float = 1.0,
    frames: tuple[int, int] | None = None,
    bones: Collection[str] | None = None,
) -> tuple[Clip, list[str]]:
    """Return the evaluated pose every ``step`` frames of ``action``, relative to the parent, and scaled or sheared
    bones.

    A clip contains no scale or shear. The scene is restored afterwards.

    ``modes``: the rotation mode of each bone (`RotationModes.of_export`). ``frames``: first frame and number of poses,
    by default those of `frame_range`. ``bones``: the bones for the clip, which are in the order of ``rest``; by default
    all. Raises `WriteError` if the parent of one of them has a scale of 0.
    """
    first, count = frames if frames is not None else frame_range(action, step)
    with modes_set(rig, modes):
        poses = evaluated_poses(context, rig, action, key_frames(first, count, step))
    rows = [row for row, bone in enumerate(rest.bones) if bones is None or bone in bones]
    parent_poses = _parent_poses(poses, rest, rows)
    flat = affine.is_singular(parent_poses)
    if flat.any():
        frame, own_bone = np.argwhere(flat)[0].tolist()
        _refuse_flat(action, rest, rows[own_bone], poses[frame], float(key_frames(first, count, step)[frame]))
    local = (affine.inverse(parent_poses) @ poses[:, rows]).swapaxes(0, 1)
    clip = _clip_of(action.name, local, [rest.bones[row] for row in rows], fps)
    distorted = (affine.distortion(local) > DISTORTED).any(axis=1)
    return clip, [clip.bones[row] for row in np.flatnonzero(distorted).tolist()]


def action_of_pose(rig: Object, rest: Rest, name: str, bones: Collection[str], fps: float) -> Action:
    """Create an action with the pose of ``bones`` that ``rig`` shows now, on frame 0. Keys added to it make it longer.

    ``rest``: the rest pose of ``rig``. Raises `WriteError` if the parent of one of them has a scale of 0.
    """
    rows = [row for row, bone in enumerate(rest.bones) if bone in bones]
    poses = matrices_of(rig.pose.bones, "matrix")[None]
    parent_poses = _parent_poses(poses, rest, rows)
    if affine.is_singular(parent_poses).any():
        raise WriteError(say("bones of {!r} are scaled to 0", rig.name), remedy="Clear the scale (Alt S) in pose mode")
    local = (affine.inverse(parent_poses) @ poses[:, rows]).swapaxes(0, 1)
    writer = ClipWriter(rest, rows, compat.slot_name(rig))
    try:
        action = writer.build(_clip_of(name, local, [rest.bones[row] for row in rows], fps), list(range(len(rows))))
    finally:
        writer.close()
    action.use_frame_range = False
    return action


def _parent_poses(poses: Floats, rest: Rest, rows: list[int]) -> Floats:
    """Return (frames, rows, 4, 4) the poses of the parents of the bones in these rows."""
    parents = rest.parents[rows]
    result: Floats = np.where((parents < 0)[:, None, None], rest.root_frame, poses[:, np.maximum(parents, 0)])
    return result


def _clip_of(name: str, local: Floats, bones: list[str], fps: float) -> Clip:
    """Return a clip of poses relative to the parents, ``local`` (bones, frames, 4, 4), without scale and shear."""
    rotations = rotation.continuous(rotation.from_matrices(_without_scale(local[..., :3, :3])))
    translations = np.ascontiguousarray(local[..., :3, 3])
    keyed = np.ones(len(bones), np.bool_)
    return Clip(name, bones, rotations, translations, keyed, keyed, fps)


def _refuse_flat(action: Action, rest: Rest, row: int, pose: Floats, frame: float) -> NoReturn:
    """Raise `WriteError` for an ancestor bone whose scale is 0 in at least one axis, so that its matrix has no inverse.

    ``row``: the affected bone in ``rest``; its topmost ancestor with such a scale is named. ``pose``: (bones, 4, 4) at
    that ``frame``.
    """
    bone = int(rest.parents[row])
    while rest.parents[bone] >= 0 and affine.is_singular(pose[rest.parents[bone]]):
        bone = int(rest.parents[bone])
    words = (
        "the bone {!r} is scaled to 0 at frame {:g} of {!r}, so nothing tells how {!r} is posed relative to its parent"
    )
    raise WriteError(
        say(words, rest.bones[bone], frame, label_of(action), rest.bones[row]),
        remedy="Use a small scale instead, such as 0.001",
    )


def _without_scale(rotations: Floats) -> Floats:
    lengths = np.linalg.norm(rotations, axis=-2, keepdims=True)
    result: Floats = rotations / np.where(lengths > 0, lengths, 1.0)
    return result


def play(context: Context, rig: Object, action: Action, order: str = "") -> None:
    """Assign ``action`` to ``rig`` and set the rotation modes that play its keys.

    ``order``: order of its Euler angles. The control rig of the armature plays the matching action. Other actions of
    the same import also play when the user picks them.
    """
    action = action_lists.before_playing(context, rig, action)
    # Assigning an action to an object that was never evaluated crashes some Blender versions.
    context.view_layer.update()
    compat.assign(rig, action, compat.suitable_slot(action, rig))
    rotation_modes.restore(rig, action, order)
    if controls_of(rig) is not None:
        control_transfer.show(context, rig, action)


def stash(rig: Object, stored: list[Action]) -> None:
    """Put each action on its own muted NLA track, where other add-ons look for actions."""
    data = rig.animation_data or rig.animation_data_create()
    for action in stored:
        track = data.nla_tracks.new()
        track.name = action.name
        track.strips.new(action.name, round(action.frame_range[0]), action)
        track.mute = True
