"""F-curves of pose bones to an action and back, key by key: handles and interpolation are kept, nothing is sampled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import bpy
import numpy as np

from ..core import names
from ..core.envelope import Curve, Curves
from ..core.envelope.curve import fitted, single_key
from . import compat, curve_keys
from .bone_curves import channel_path, clear_bones, keeps_scale_at_one

if TYPE_CHECKING:
    from .typed import Action, Object


EULER, QUATERNION, AXIS_ANGLE = "rotation_euler", "rotation_quaternion", "rotation_axis_angle"
ROTATIONS = {"QUATERNION": QUATERNION, "AXIS_ANGLE": AXIS_ANGLE}
"""Rotation channel of each rotation mode; all other modes are orders of Euler angles."""
WIDTHS = {"location": 3, EULER: 3, QUATERNION: 4, AXIS_ANGLE: 4}
DIGEST_SIZE = curve_keys.DIGEST_SIZE
NO_CURVES = b"\0" * DIGEST_SIZE
"""Digest of a bone without F-curves."""
SAMPLES = 4
"""Samples per frame of F-curves that are not made of cubic segments."""


@dataclass
class BoneCurves:
    """Curves of one pose bone: ``location`` x, y, z and ``rotation`` of ``channel``; None for a channel without
    F-curves.

    ``fitted``: some were fitted to the values of an F-curve with modifiers or easing.
    """

    location: list[Curve] | None = None
    rotation: list[Curve] | None = None
    channel: str = EULER
    fitted: bool = False


@dataclass
class SeveralBones:
    """Curves of several pose bones. ``channels``: for each bone the (channel, index) of its curves, in the order of
    ``curves``.
    """

    channels: dict[str, list[tuple[str, int]]]
    curves: Curves


_CurveIds: TypeAlias = "tuple[tuple[str, str, int], ...]"
"""Bone, channel and index of each F-curve."""


class PoseWriter:
    """Creates actions of bone curves. One template action is made per set of channels; the others are copies."""

    def __init__(self, slot_name: str) -> None:
        self._slot_name = slot_name
        self._templates: dict[_CurveIds, Any] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the template actions."""
        for template in self._templates.values():
            bpy.data.actions.remove(template)

    def build(
        self, name: str, bones: SeveralBones, fps: float, frames: tuple[int, int]
    ) -> tuple[Any, dict[str, bytes]]:
        """Create an action with a key for each key of the curves, at ``fps`` frames per second.

        ``frames``: first and last frame of its range. Also returns a digest for each bone, with which `PoseKeys`
        detects edits.
        """
        named = _ids_of(bones)
        action = self._copy(named)
        action.name = names.shortened(name, compat.DATA_NAME_LIMIT)
        return action, _write_keys(action, compat.curve_bag(action).fcurves if named else (), bones, fps, frames)

    def rebuild(
        self, action: Action, owner: Object, bones: SeveralBones, fps: float, frames: tuple[int, int]
    ) -> dict[str, bytes]:
        """Do the same as `build` for an existing action: replace its F-curves for the bones of ``owner``. It stays
        assigned to its users.
        """
        bag = compat.curve_bag(action, compat.suitable_slot(action, owner))
        clear_bones(bag)
        return _write_keys(action, _add_curves(action, bag, _ids_of(bones)), bones, fps, frames)

    def _copy(self, named: _CurveIds) -> Action:
        template = self._templates.get(named)
        if template is None:
            template, _, bag = compat.new_action("motionbridge", "OBJECT", self._slot_name)
            _add_curves(template, bag, named)
            self._templates[named] = template
        return template.copy()


def _ids_of(bones: SeveralBones) -> _CurveIds:
    return tuple((bone, channel, index) for bone, rows in bones.channels.items() for channel, index in rows)


def _add_curves(action: Any, bag: Any, named: _CurveIds) -> list[Any]:
    make = compat.curve_maker(action, bag)
    return [make(channel_path(bone, channel), index, bone) for bone, channel, index in named]


def _write_keys(
    action: Any, fcurves: Sequence[Any], bones: SeveralBones, fps: float, frames: tuple[int, int]
) -> dict[str, bytes]:
    """Write the keys of the bone curves to the new F-curves of an action; return a digest for each bone."""
    keys = curve_keys.write(fcurves, bones.curves, fps)
    extrapolations = np.where(curve_keys.extrapolated(bones.curves), "LINEAR", "CONSTANT").tolist()
    digests, first = {}, 0
    for bone, rows in bones.channels.items():
        channels = [
            (*row, is_linear) for row, is_linear in zip(rows, extrapolations[first : first + len(rows)], strict=True)
        ]
        digests[bone] = keys.digest(first, channels) if rows else NO_CURVES
        first += len(rows)
    action.use_frame_range = True
    action.frame_start, action.frame_end = frames
    return digests


@dataclass
class _Bone:
    """F-curves of one bone with their channels and indices, and its rotation channel.

    ``held``: the bone's current rotation, if its rotation keys are all of types that its mode does not use.
    """

    channel: str
    rows: list[tuple[str, int, Any]]
    held: list[float] = field(default_factory=list)


class PoseKeys:
    """Keys of an action by bone name, as Blender stores them; curves are computed on request.

    ``left_out``: data paths of F-curves that a motion cannot contain; ``other_kinds``: bones with keys of a rotation
    type that their rotation mode does not use; ``muted``: for each bone its channels with muted F-curves, "location"
    and "rotation"; ``modes``: the rotation mode with which each bone's keys are read.
    """

    def __init__(
        self,
        bones: dict[str, _Bone],
        left_out: set[str],
        other_kinds: list[str],
        *,
        muted: dict[str, set[str]],
        modes: dict[str, str],
    ) -> None:
        self._found = bones
        self.modes = modes
        self.left_out = sorted(left_out)
        self.other_kinds = other_kinds
        self.muted = muted
        self._first: dict[str, int] = {}
        curves: list[bpy.types.FCurve] = []
        for bone, entry in bones.items():
            self._first[bone] = len(curves)
            curves += [curve for _, _, curve in entry.rows]
        self._keys = curve_keys.read(curves)

    @property
    def bones(self) -> list[str]:
        """Names of the bones with F-curves that are played."""
        return list(self._found)

    def rotates(self, bone: str) -> bool:
        """Whether a bone has rotation F-curves that are played."""
        return bone in self._found and any(channel != "location" for channel, _, _ in self._found[bone].rows)

    def digest(self, bone: str) -> bytes:
        """Return the digest of a bone's keys, as `PoseWriter` returned it.

        Empty if F-curves have modifiers or samples, or if the bone keeps its current rotation (`_Bone.held`).
        """
        if bone not in self._found:
            return NO_CURVES
        rows = self._found[bone].rows
        if self._found[bone].held or any(len(curve.modifiers) or not len(curve.keyframe_points) for *_, curve in rows):
            return b""
        return self._keys.digest(
            self._first[bone], [(channel, index, curve.extrapolation) for channel, index, curve in rows]
        )

    def curves(self, bone: str, fps: float, tolerance: tuple[float, float]) -> BoneCurves:
        """Return the curves of a bone; a missing F-curve of a channel that has others is constant at its rest value.

        ``tolerance`` (metres, radians): for fitting F-curves that are not made of cubic segments.
        """
        if bone not in self._found:
            return BoneCurves()
        entry = self._found[bone]
        track = BoneCurves(channel=entry.channel)
        for channel, allowed in (("location", tolerance[0]), (entry.channel, tolerance[1])):
            first = self._first[bone]
            sources = {
                index: (curve, first + row_index)
                for row_index, (name, index, curve) in enumerate(entry.rows)
                if name == channel
            }
            if sources:
                converted = self._channel_curves(track, sources, channel, fps, allowed)
                setattr(track, "location" if channel == "location" else "rotation", converted)
        if entry.held:
            track.rotation = [single_key(value) for value in entry.held]
        return track

    def _channel_curves(
        self, track: BoneCurves, sources: dict[int, tuple[Any, int]], channel: str, fps: float, tolerance: float
    ) -> list[Curve]:
        result: list[Curve] = []
        for index in range(WIDTHS[channel]):
            curve, row_index = sources.get(index, (None, -1))
            if curve is None:
                result.append(single_key(1.0 if channel == QUATERNION and index == 0 else 0.0))
            elif curve_keys.needs_sampling(curve) or not len(curve.keyframe_points):
                track.fitted = True
                result.append(_fit(curve, fps, tolerance))
            else:
                result.append(self._keys.curve(row_index, curve, fps))
        return result


class PoseReader:
    """Reads the pose bone keys of actions of one armature."""

    def __init__(self, rig: Object) -> None:
        self._rig = rig
        self._paths = {
            channel_path(bone.name, channel): (bone.name, channel) for bone in rig.pose.bones for channel in WIDTHS
        }

    def read(self, action: Action, modes: dict[str, str]) -> PoseKeys:
        """Read the keys of ``action``; ``modes``: the rotation mode of each bone (`RotationModes.of_export`).

        A bone whose rotation keys are all of other types keeps its current rotation.
        """
        channels_of_bones: dict[str, dict[str, dict[int, Any]]] = {}
        left_out = set()
        muted: dict[str, set[str]] = {}
        for curve in compat.curves_of(action, self._rig):
            bone_index, index = self._paths.get(curve.data_path), curve.array_index
            if bone_index is None or index >= WIDTHS[bone_index[1]]:
                if not keeps_scale_at_one(curve):
                    left_out.add(curve.data_path)
            elif compat.is_muted(curve):
                muted.setdefault(bone_index[0], set()).add("location" if bone_index[1] == "location" else "rotation")
            elif not curve.is_empty:
                channels_of_bones.setdefault(bone_index[0], {}).setdefault(bone_index[1], {})[index] = curve
        ordered, of_other_kinds = {}, []
        for bone, channels in channels_of_bones.items():
            rotation_channel = ROTATIONS.get(modes[bone], EULER)
            rows = [
                (channel, index, channels[channel][index])
                for channel in (rotation_channel, "location")
                for index in sorted(channels.get(channel, ()))
            ]
            ordered[bone] = _Bone(rotation_channel, rows)
            if channels.keys() - {rotation_channel, "location"}:
                of_other_kinds.append(bone)
                if rotation_channel not in channels:
                    ordered[bone].held = list(getattr(self._rig.pose.bones[bone], rotation_channel))
        return PoseKeys(ordered, left_out, of_other_kinds, muted=muted, modes=modes)


def _fit(curve: Any, fps: float, tolerance: float) -> Curve:
    """Fit cubic segments to the samples of an F-curve, in the frame range of its action."""
    action = curve.id_data
    ends = (action.frame_start, action.frame_end) if action.use_frame_range else action.frame_range
    first, last = (round(end) for end in ends)
    frames = np.arange(first, last + 0.5 / SAMPLES, 1 / SAMPLES)
    values = np.fromiter(map(curve.evaluate, frames.tolist()), np.float64, len(frames))
    return fitted(frames / fps, values, tolerance)


def actions_turning(rig: Object, channel: str) -> list[Action]:
    """Return the actions that rotate bones of ``rig`` by ``channel``, judged by their first F-curve of that channel."""
    known = {channel_path(bone.name, channel) for bone in rig.pose.bones}
    return [action for action in _actions() if _first_path(action, channel) in known]


def _first_path(action: Action, ending: str) -> str:
    bag = compat.curve_bag(action)
    curves = bag.fcurves if bag is not None else ()
    return next((str(curve.data_path) for curve in curves if curve.data_path.endswith(ending)), "")


def _actions() -> Sequence[Any]:
    return list(bpy.data.actions)
