"""Curves of pose bones -> action and back, key by key: handles and interpolation as they are, nothing sampled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np

from ..core import names
from ..core.envelope import Curve
from ..core.envelope.fitting import fitted
from ..core.pose_curves import still
from . import compat
from .bone_curves import channel_path
from .path import fill_curve, is_odd, read_curve

EULER, QUATERNION, AXIS_ANGLE = "rotation_euler", "rotation_quaternion", "rotation_axis_angle"
ROTATIONS = {"QUATERNION": QUATERNION, "AXIS_ANGLE": AXIS_ANGLE}
"""The channel that each rotation mode reads; all others are orders of Euler angles."""
WIDTHS = {"location": 3, EULER: 3, QUATERNION: 4, AXIS_ANGLE: 4}
SAMPLES = 4
"""Looks a frame at curves that no cubic is."""


@dataclass
class BoneCurves:
    """Curves of one pose bone: ``location`` x, y, z and ``rotation`` of ``channel``; None where there are none.

    ``fitted`` tells that some are cubics through what an F-curve with modifiers or easing says.
    """

    location: list[Curve] | None = None
    rotation: list[Curve] | None = None
    channel: str = EULER
    fitted: bool = False


@dataclass
class PoseCurves:
    """What an action says of pose bones, by Blender's names, and the curves of it that no motion can hold."""

    bones: dict[str, BoneCurves] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)


def build(name: str, slot_name: str, tracks: dict[str, BoneCurves], fps: float, frames: tuple[int, int]) -> Any:
    """A new action with a key for each key of the curves, ``fps`` frames a second, played from frame to frame."""
    action, _, bag = compat.new_action(names.shortened(name, compat.DATA_NAME_LIMIT), "OBJECT", slot_name)
    make = compat.curve_maker(action, bag)
    for bone, track in tracks.items():
        for channel, curves in ((track.channel, track.rotation), ("location", track.location)):
            for index, curve in enumerate(curves or ()):
                fill_curve(make(channel_path(bone, channel), index, bone), curve, fps)
    action.use_frame_range = True
    action.frame_start, action.frame_end = frames
    return action


def gather(
    rig: Any, action: Any, fps: float, tolerance: tuple[float, float], kinds: dict[str, str] | None = None
) -> PoseCurves:
    """The curves of ``action`` on the bones of ``rig``; channels without curves stand where Blender has them at rest.

    A bone turns by the channel its rotation mode reads, or where that has no curves by the one of ``kinds``, else by
    whichever has some. ``tolerance`` (metres, radians) of fitting what no cubic is.
    """
    paths = {channel_path(bone.name, channel): (bone.name, channel) for bone in rig.pose.bones for channel in WIDTHS}
    found: dict[str, dict[str, dict[int, Any]]] = {}
    result = PoseCurves()
    bag = compat.curve_bag(action, compat.suitable_slot(action, rig))
    for curve in bag.fcurves if bag is not None else ():
        place = paths.get(curve.data_path)
        if place is None or curve.array_index >= WIDTHS[place[1]]:
            result.left_out.append(curve.data_path)
        elif not curve.mute and len(curve.keyframe_points):
            found.setdefault(place[0], {}).setdefault(place[1], {})[curve.array_index] = curve
    for bone, channels in found.items():
        track = BoneCurves(channel=_turning(rig.pose.bones[bone].rotation_mode, channels, (kinds or {}).get(bone)))
        if "location" in channels:
            track.location = _filled(track, channels["location"], "location", fps, tolerance[0])
        if track.channel in channels:
            track.rotation = _filled(track, channels[track.channel], track.channel, fps, tolerance[1])
        result.bones[bone] = track
    result.left_out = sorted(set(result.left_out))
    return result


def _turning(mode: str, channels: dict[str, Any], known: str | None) -> str:
    wanted = [ROTATIONS.get(mode, EULER), *([known] if known else []), EULER, QUATERNION, AXIS_ANGLE]
    return next((channel for channel in wanted if channel in channels), wanted[0])


def _filled(track: BoneCurves, curves: dict[int, Any], channel: str, fps: float, tolerance: float) -> list[Curve]:
    made: list[Curve] = []
    for index in range(WIDTHS[channel]):
        curve = curves.get(index)
        if curve is None:
            made.append(still(1.0 if channel == QUATERNION and index == 0 else 0.0))
        elif is_odd(curve):
            track.fitted = True
            made.append(_through(curve, fps, tolerance))
        else:
            made.append(read_curve(curve, fps))
    return made


def _through(curve: Any, fps: float, tolerance: float) -> Curve:
    """Few cubics through what an F-curve says, within the range its action is played in."""
    action = curve.id_data
    ends = (action.frame_start, action.frame_end) if action.use_frame_range else action.frame_range
    first, last = (round(end) for end in ends)
    frames = np.arange(first, last + 0.5 / SAMPLES, 1 / SAMPLES)
    values = np.fromiter(map(curve.evaluate, frames.tolist()), np.float64, len(frames))
    return fitted(frames / fps, values, tolerance)


def mode_of(rig: Any, bone: str, channel: str) -> str:
    """How numbers of ``channel`` turn a bone: its own order of Euler angles, ZXY where it has none, or no angles."""
    if channel == QUATERNION:
        return "QUATERNION"
    if channel == AXIS_ANGLE:
        return "AXIS_ANGLE"
    mode = rig.pose.bones[bone].rotation_mode
    return "ZXY" if mode in ROTATIONS else str(mode)


def actions_turning(rig: Any, channel: str) -> list[Any]:
    """Actions that turn bones of ``rig`` by ``channel``, as far as their first such curve tells."""
    known = {channel_path(bone.name, channel) for bone in rig.pose.bones}
    return [action for action in _actions() if _first_path(action, channel) in known]


def turn_by_angles(rig: Any, action: Any, order: str) -> None:
    """Let the bones that ``action`` turns by angles alone be turned by angles of this ``order``."""
    bag = compat.curve_bag(action, compat.suitable_slot(action, rig))
    paths = {curve.data_path for curve in bag.fcurves} if bag is not None else set()
    for bone in rig.pose.bones:
        others = {channel_path(bone.name, QUATERNION), channel_path(bone.name, AXIS_ANGLE)}
        if bone.rotation_mode != order and channel_path(bone.name, EULER) in paths and not others & paths:
            bone.rotation_mode = order


def _first_path(action: Any, ending: str) -> str:
    bag = compat.curve_bag(action)
    curves = bag.fcurves if bag is not None else ()
    return next((str(curve.data_path) for curve in curves if curve.data_path.endswith(ending)), "")


def _actions() -> Sequence[Any]:
    return list(bpy.data.actions)
