"""Spread Pose: the change that a user made to a pose on one frame is added to the keys of the frames around it.

What counts is the pose that is shown. The motion's own pose on that frame is what Blender evaluates without the user's
change. If the user has inserted keys for it, by hand or by auto-keying, these are taken out first: the motion's own
pose is then the one between the neighbouring keys. Channels without keys are at rest. Values change only on frames with
a weight (`core.spread.Span`); curves with too few keys for that get one on each frame of the motion there.

An armature of a game and a control rig are the same here: pose bones that play an action.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..core import rotation, spread
from ..core.control_rig import Role
from ..core.errors import WriteError
from ..core.report import Message, joined, say
from ..core.spread import Span
from . import compat, scope
from .bone_channels import posed_rotation
from .bone_curves import LINEAR, channel_path, rest_value, rotation_kind, sampled
from .control_links import ROLE, links_of
from .control_transfer import frames_of
from .curve_keys import KeyRows

if TYPE_CHECKING:
    from .typed import Action, Context, Object, PoseBone

Floats = NDArray[np.float64]
_Key = tuple[str, str]
"""Bone and kind of channel: one of `_REST`."""

_REST = {"location": np.zeros(3), "rotation": rotation.IDENTITY, "scale": np.ones(3)}
_SPREAD = {"location": spread.locations, "rotation": spread.rotations, "scale": spread.scales}
_BLENDS = {"REPLACE", "COMBINE"}
"""How an action may be blended over NLA strips, so that what is added to its values is added to what is shown."""
_CARRIERS = {Role.ROOT.value, Role.TORSO.value}
"""Roles of controls that move bones also if they are only rotated."""
_REACHED = {Role.GOAL.value, Role.POLE.value, Role.LOOK.value}
"""Roles of controls that bones only turn towards."""
NEAR = 1e-3
"""Frames within which a key is on the current frame: Blender stores times as 32-bit floats."""
SAME_ENDS = 2e-3
"""Largest difference of a rotation's values between the first and last frame of a loop; files store them rounded."""
NOTICEABLE = 4.0
"""A key that is this many times as far from the values between its neighbours as the keys nearby was changed."""
NEARBY = 8
"""Number of keys on each side of the current frame that count as nearby."""


@dataclass
class Spreading:
    """Spreads what a user changed on one frame of ``action``, again and again with other spans until it is kept.

    ``owner``: the armature object of the bones. For each bone and kind of channel that was changed, ``own`` is the
    value that the motion has on the frame and ``posed`` the one that is to be there. ``frames``: those of the motion.
    ``keyed``: the frame, if the user has inserted keys on it. ``is_loop``: whether the motion ends as it begins.
    ``left``: reason -> bones whose channels stay.
    """

    owner: Object
    action: Action
    frames: NDArray[np.float32]
    own: dict[_Key, Floats]
    posed: dict[_Key, Floats]
    keyed: float | None = None
    is_loop: bool = False
    left: dict[Message, list[str]] = field(default_factory=dict)
    _before: dict[tuple[str, int], KeyRows | None] = field(default_factory=dict)

    def of(self, owner: Object) -> Spreading:
        """Return the same change for the action that ``owner`` plays now, after an undo."""
        action = owner.animation_data.action
        return replace(self, owner=owner, action=action, frames=frames_of(action, owner), left={}, _before={})

    @property
    def bones(self) -> list[str]:
        """The changed bones."""
        return list(dict.fromkeys(bone for bone, _ in self.posed))

    @property
    def moves_joints(self) -> bool:
        """Whether the change may move bones relative to their parents, other than by rotation."""
        roles = {bone: self.owner.data.bones[bone].get(ROLE) for bone in self.bones}
        moved = {roles[bone] for bone, kind in self.posed if kind == "location"}
        return bool(moved - _REACHED | set(roles.values()) & _CARRIERS)

    def crosses_an_end(self, span: Span) -> bool:
        """Whether ``span`` includes the first or last frame of a loop, so that its other end changes, too."""
        return bool(np.any(self._weights(span, keeps_loop=True) != self._weights(span, keeps_loop=False)))

    def _keyed_end(self) -> int | None:
        """Return the index (0 or -1) of the motion's end on which the user has inserted keys, or None."""
        is_near = [self.keyed is not None and abs(self.frames[end] - self.keyed) <= NEAR for end in (0, -1)]
        return -is_near.index(True) if any(is_near) else None

    def _weights(self, span: Span, *, keeps_loop: bool) -> Floats:
        period = float(self.frames[-1] - self.frames[0]) if keeps_loop and self.is_loop else 0.0
        return span.weights(self.frames, period)

    def apply(self, context: Context, span: Span, *, keeps_loop: bool = True) -> int:
        """Write the keys for ``span`` in place of those of the last call; return the number of frames that change.

        ``keeps_loop``: a change beyond one end of a loop continues at the other, so both ends stay the same.
        Raises `WriteError` if the motion has no frame there, or if no changed channel can be keyed.
        """
        self.restore()
        self.left = {}
        weights = self._weights(span, keeps_loop=keeps_loop)
        if not span.weights(self.frames).any():
            words = "the motion has no frame from {} to {}"
            raise WriteError(say(words, *(f"{end:g}" for end in span.ends)), remedy="Choose frames of the motion")
        with scope.kept_pose(self.owner):
            written = [key for key in self.posed if self._write(key, weights, keeps_loop=keeps_loop)]
            now = _evaluated(context, self.owner, self.bones)
        if not written:
            raise WriteError(joined(self.left, "; "), remedy="Change that in the Graph Editor")
        for key in written:
            _show(self.owner.pose.bones[key[0]], key[1], now[key])
        context.view_layer.update()
        return int(np.count_nonzero(weights))

    def restore(self) -> None:
        """Give all curves the keys that they had before `apply`."""
        bag = compat.curve_bag(self.action, compat.suitable_slot(self.action, self.owner))
        for (path, index), rows in self._before.items():
            curve = bag.fcurves.find(path, index=index)
            if rows is None:
                bag.fcurves.remove(curve)
            else:
                rows.write(curve)
        self._before = {}

    def _write(self, key: _Key, weights: Floats, *, keeps_loop: bool) -> bool:
        """Spread one kind of channel of a bone; return whether that was possible."""
        bone, kind = self.owner.pose.bones[key[0]], key[1]
        curves = _curves_of(self.action, self.owner, bone, kind)
        ends = self.frames[weights > 0][[0, -1]].tolist()
        for reason in filter(None, (_obstacle(curve, *ends) for curve in curves)):
            self.left.setdefault(reason, []).append(bone.name)
            return False
        mode, changing = bone.rotation_mode, weights > 0
        width = len(getattr(bone, _channel(bone, kind)))
        complete = [self._curve(_path(bone, kind), index, bone.name) for index in range(width)]
        values = sampled(complete, self.frames)[0].T.astype(np.float64)
        if kind == "rotation" and mode != "QUATERNION":
            changed = _SPREAD[kind](rotation.of_mode(values, mode), self.own[key], self.posed[key], weights)
            unit, first = rotation.normalised(changed[changing]), values[int(np.argmax(changing))]
            values[changing] = rotation.in_mode(unit, mode, first)
        else:
            values = _SPREAD[kind](values, self.own[key], self.posed[key], weights)
        if keeps_loop and self.is_loop and (end := self._keyed_end()) is not None and weights[end] > 0:
            # Without the user's key this end has the value of the key beside it, so the weights alone leave a gap.
            other = -1 - end
            sign = np.sign(values[other] @ values[end]) if mode == "QUATERNION" and kind == "rotation" else 1.0
            values[other] = values[end] * (sign or 1.0)
        for curve, column in zip(complete, values.T.astype(np.float32), strict=True):
            _write_values(curve, self.frames, column, changing)
        return True

    def _curve(self, path: str, index: int, bone: str) -> Any:
        """Return an F-curve as it is without the user's key; a missing one is made, with one key of the rest value."""
        bag = compat.curve_bag(self.action, compat.suitable_slot(self.action, self.owner))
        curve = bag.fcurves.find(path, index=index)
        rows = KeyRows.read(curve) if curve is not None else None
        self._before[path, index] = rows
        if curve is None:
            curve = compat.curve_maker(self.action, bag)(path, index, bone)
        cleaned = (
            rows.where(np.abs(rows.times - self.keyed) > NEAR) if rows is not None and self.keyed is not None else rows
        )
        if cleaned is None or not len(cleaned.times):
            cleaned = KeyRows.read(curve).replaced(self.frames[:1], np.array([rest_value(curve)], np.float32), LINEAR)
        if cleaned is not rows:
            cleaned.write(curve)
        return curve


def spreading(context: Context, owner: Object, selected: Collection[str]) -> Spreading:
    """Return what was changed in the pose of the ``selected`` bones of an armature object on the current frame.

    Without a selection these are all bones whose pose is not that of their keys: a key that stands out can be part of
    the motion, so it counts as the change only if its bone is selected.

    Raises `WriteError` if it plays no action of its own or blends it in a way that differences do not survive, if the
    bones copy a control rig, or if none was changed.
    """
    chosen = selected or owner.pose.bones.keys()
    data: Any = owner.animation_data
    action = data.action if data is not None else None
    if action is None or not compat.curves_of(action, owner):
        raise WriteError(say("{!r} plays no motion with keys of bones", owner.name), remedy="Play a motion first")
    scope.refuse_tweaked(owner)
    strips = data.use_nla and any(not track.mute for track in data.nla_tracks)
    if strips and (data.action_blend_type not in _BLENDS or data.action_influence != 1.0):
        words = "the action of {!r} is blended with NLA strips in a way that changes differences"
        raise WriteError(
            say(words, owner.name), remedy="Set its blending to Replace or Combine, and its influence to 1"
        )
    if any(name in chosen and not link.mute for name, link in links_of(owner).items()):
        words = "the bones of {!r} copy the controls of its control rig"
        raise WriteError(say(words, owner.name), remedy="Pose and select the controls instead")
    posed = _values(owner, chosen)
    with scope.kept_pose(owner):
        own = _evaluated(context, owner, chosen)
        if not strips:
            _reset_unkeyed(action, owner, chosen)
            own = _values(owner, chosen)
    changed, keyed = [key for key in posed if _differ(key[1], own[key], posed[key])], None
    if not changed:
        keyed = float(context.scene.frame_current_final)
        own = _between_keys(action, owner, selected, keyed)
        changed = [key for key in own if _differ(key[1], own[key], posed[key])]
    if not changed:
        words = "no chosen bone has another pose than the motion on this frame"
        raise WriteError(words, remedy="Change the pose first, with or without inserting keys")
    own, posed = ({key: values[key] for key in changed} for values in (own, posed))
    frames = frames_of(action, owner)
    is_changed_end = keyed is not None and np.abs(frames[[0, -1]] - keyed).min() <= NEAR
    without = {_path(owner.pose.bones[bone], kind) for bone, kind in changed} if is_changed_end else set()
    return Spreading(owner, action, frames, own, posed, keyed, _is_loop(action, owner, frames, without))


def _is_loop(action: Action, owner: Object, frames: NDArray[np.float32], without: Collection[str]) -> bool:
    """Whether the bones have the same rotations on the first and last frame, apart from some data paths."""
    curves = [curve for curve in compat.curves_of(action, owner) if "rotation" in curve.data_path]
    curves = [curve for curve in curves if curve.data_path not in without]
    if not curves or len(frames) < 2:
        return False
    first, last = sampled(curves, frames[[0, -1]])[0].T.astype(np.float64)
    index = np.unique([curve.data_path for curve in curves], return_inverse=True)[1].ravel()
    # A quaternion and its negative are the same rotation.
    gaps = [np.bincount(index, (first - sign * last) ** 2) for sign in (1.0, -1.0)]
    return bool(np.sqrt(np.minimum(*gaps)).max() <= SAME_ENDS)


def _evaluated(context: Context, owner: Object, bones: Collection[str]) -> dict[_Key, Floats]:
    """Evaluate the animation of an armature on the current frame and return the values of its bones."""
    owner.update_tag(refresh={"TIME"})
    context.view_layer.update()
    return _values(owner, bones)


def _values(owner: Object, bones: Collection[str]) -> dict[_Key, Floats]:
    """Return the current values of bones."""
    return {(name, kind): _value(owner.pose.bones[name], kind) for name in bones for kind in _REST}


def _reset_unkeyed(action: Action, owner: Object, bones: Collection[str]) -> None:
    """Set all channels of bones that the action does not play to their rest values."""
    played = {
        (curve.data_path, curve.array_index) for curve in compat.curves_of(action, owner) if compat.is_played(curve)
    }
    for bone in map(owner.pose.bones.__getitem__, bones):
        for kind, rest in _REST.items():
            values = getattr(bone, _channel(bone, kind))
            rest_values = _in_mode(rest, bone.rotation_mode) if kind == "rotation" else rest
            for index in range(len(values)):
                if (_path(bone, kind), index) not in played:
                    values[index] = rest_values[index]


def _in_mode(quaternion: Floats, mode: str, first: Sequence[float] = (0.0, 0.0, 1.0, 0.0)) -> Floats:
    """Return a rotation in a rotation mode, as the values nearest to ``first``."""
    near = np.array(first if mode != "QUATERNION" or len(first) == 4 else rotation.IDENTITY, np.float64)
    return rotation.in_mode(quaternion[None], mode, near[: 4 if mode in {"QUATERNION", "AXIS_ANGLE"} else 3])[0]


def _between_keys(action: Action, owner: Object, bones: Collection[str], frame: float) -> dict[_Key, Floats]:
    """Return the values of channels with a key on ``frame`` that stands out, as they are without that key."""
    result = {}
    for bone in map(owner.pose.bones.__getitem__, bones):
        for kind in _REST:
            curves = [curve for curve in _curves_of(action, owner, bone, kind) if compat.is_played(curve)]
            rows = [KeyRows.read(curve) for curve in curves]
            if not any(_stands_out(of, frame) for of in rows):
                continue
            values = getattr(bone, _channel(bone, kind))
            before = list(values)
            for curve, of in zip(curves, rows, strict=True):
                try:
                    of.where(np.abs(of.times - frame) > NEAR).write(curve)
                    is_empty = not len(curve.keyframe_points)
                    values[curve.array_index] = rest_value(curve) if is_empty else curve.evaluate(frame)
                finally:
                    of.write(curve)
            result[bone.name, kind] = _value(bone, kind)
            setattr(bone, _channel(bone, kind), before)
    return result


def _stands_out(rows: KeyRows, frame: float) -> bool:
    """Whether the key on ``frame`` is much farther from the line between its neighbours than the keys nearby are."""
    times, values = rows.fields["co"].astype(np.float64).T
    at = np.flatnonzero(np.abs(times - frame) <= NEAR)
    if not len(at):
        return False
    if len(times) < 2:
        return bool(abs(values[0]) > 0)
    before, after = np.maximum(np.arange(len(times)) - 1, 0), np.minimum(np.arange(len(times)) + 1, len(times) - 1)
    share = (times - times[before]) / np.maximum(times[after] - times[before], NEAR)
    apart = np.abs(values - values[before] - share * (values[after] - values[before]))
    apart[0], apart[-1] = abs(values[1] - values[0]), abs(values[-1] - values[-2])
    near = np.abs(np.arange(len(times)) - at[0])
    others = apart[(near > 1) & (near <= NEARBY)]
    return bool(apart[at[0]] > max(NOTICEABLE * others.max(initial=0.0), spread.SMALLEST))


def _channel(bone: PoseBone, kind: str) -> str:
    return f"rotation_{rotation_kind(bone.rotation_mode)}" if kind == "rotation" else kind


def _path(bone: PoseBone, kind: str) -> str:
    return channel_path(bone.name, _channel(bone, kind))


def _value(bone: PoseBone, kind: str) -> Floats:
    """Return the current value of a kind of channel of a bone; rotations as unit quaternions."""
    if kind == "rotation":
        return rotation.normalised(posed_rotation(bone))
    return np.array(getattr(bone, kind), np.float64)


def _show(bone: PoseBone, kind: str, value: Floats) -> None:
    """Set a kind of channel of a bone to a value of `_value`."""
    channel = _channel(bone, kind)
    if kind == "rotation":
        value = _in_mode(value, bone.rotation_mode, getattr(bone, channel))
    setattr(bone, channel, value.tolist())


def _differ(kind: str, own: Floats, posed: Floats) -> bool:
    if kind == "rotation":
        return bool(rotation.angles_between(own, posed) > spread.SMALLEST)
    return bool(np.abs(own - posed).max() > spread.SMALLEST)


def _curves_of(action: Action, owner: Object, bone: PoseBone, kind: str) -> list[Any]:
    """Return the existing F-curves of a kind of channel."""
    path = _path(bone, kind)
    return [curve for curve in compat.curves_of(action, owner) if curve.data_path == path]


def _obstacle(curve: Any, first: float, last: float) -> Message | None:
    """Return why values of an F-curve cannot be set by keys from ``first`` to ``last``; None if they can."""
    if compat.is_muted(curve):
        return say("muted curves stay as they are")
    if curve.lock:
        return say("locked curves stay as they are")
    start, end = curve.range()
    is_inside = start <= first and last <= end
    changing = [modifier for modifier in curve.modifiers if not modifier.mute]
    if len(curve.sampled_points) or any(modifier.type != "CYCLES" or not is_inside for modifier in changing):
        return say("curves with modifiers stay as they are")
    return None


def _write_values(
    curve: Any, frames: NDArray[np.float32], values: NDArray[np.float32], changing: NDArray[np.bool_]
) -> None:
    """Set the values of an F-curve on the ``changing`` of all ``frames`` of the motion.

    If it has keys on these and on those around them, only their values change. Else it gets linear keys on all frames
    there: as far as the keys around, where the curve between is not a line.
    """
    rows = KeyRows.read(curve)
    around = changing.copy()
    around[1:] |= changing[:-1]
    around[:-1] |= changing[1:]
    if np.isin(frames[around], rows.times).all():
        rows.moved(np.searchsorted(rows.times, frames[changing]), values[changing]).write(curve)
        return
    first, last = frames[around][[0, -1]].tolist()
    before, after = rows.times[rows.times <= first], rows.times[rows.times >= last]
    kinds = rows.fields["interpolation"][:, 0]
    is_straight = curve.extrapolation == "CONSTANT"
    if len(before) and before[-1] != first and kinds[len(before) - 1] != LINEAR:
        first = before[-1]
    elif not len(before) and not is_straight:
        first = frames[0]
    if len(after) and after[0] != last and len(after) < len(kinds) and kinds[-len(after) - 1] != LINEAR:
        last = after[0]
    elif not len(after) and not is_straight:
        last = frames[-1]
    part = (frames >= first) & (frames <= last)
    result = rows.replaced(frames[part], values[part], LINEAR)
    for time in {first, last} - set(frames[changing].tolist()):
        result.restore_outside(rows, time, keeps_kind=time == last)
    result.write(curve)
