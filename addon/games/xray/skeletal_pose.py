"""The editor's motions on one rig: a bone's file channels as pose-bone channels, and back.

The same arithmetic builds an action and, when it is exported, says what of it nobody touched: the bytes that travel
with the action are shown once more, and what stands on the action is compared with that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...blender.armature import Rest
from ...blender.pose import EULER, QUATERNION, BoneCurves
from ...core import pose_curves, rotation
from ...core.envelope import Behaviour, Curve, evaluate_curve
from ...core.envelope.display import Display
from ...core.envelope.matching import unchanged
from ...core.model import Channels
from ...core.report import Report
from ...formats.xray.channels import BONE, decode_tracks
from ...formats.xray.skl.document import BoneTrack, SkeletalMotion

Floats = NDArray[np.float64]
UNTOUCHED = 3e-6
"""Metres or radians below which a value that went through a rest pose and 32-bit floats counts as the same."""


@dataclass(frozen=True)
class Showing:
    """How the channels of a motion are shown: by quaternions or angles, fitted within (metres, radians)."""

    quaternions: bool
    tolerance: tuple[float, float]

    @property
    def channel(self) -> str:
        """What bones are turned by."""
        return QUATERNION if self.quaternions else EULER

    @property
    def mode(self) -> str:
        """How its numbers turn them."""
        return "QUATERNION" if self.quaternions else "ZXY"


@dataclass
class Shown:
    """One track: its channels in the file's frame, and on the pose bone. ``exact`` False where something is fitted."""

    channels: Channels
    pose: BoneCurves
    exact: bool

    def values_at(self, times: Floats) -> tuple[Floats, Floats]:
        """Location and angles (times, 3) in the file's frame."""
        values = [evaluate_curve(curve, times) for curve in self.channels]
        return np.stack(values[:3], axis=1), np.stack(values[3:], axis=1)


def show(
    tracks: dict[int, BoneTrack], motion: SkeletalMotion, rest: Rest, *, showing: Showing, report: Report
) -> dict[int, Shown]:
    """Tracks on bones of ``rest``, by their places in it."""
    places = list(tracks)
    named = {f"{motion.label} {rest.bones[place]} ": tracks[place].envelopes for place in places}
    decoded = [Channels(curves[:3], curves[3:]) for curves in decode_tracks(named, BONE, motion.frame, report)]
    shown = {
        place: Shown(channels, BoneCurves(channel=showing.channel), exact=True)
        for place, channels in zip(places, decoded, strict=True)
    }
    # Blender's location x, y, z are the file's X, Y, Z; its angles x, y, z are P, H, B.
    located = [place for place in places if _has_numbers(shown[place].channels.location, tracks[place], (0, 1, 2))]
    rotated = [place for place in places if _has_numbers(shown[place].channels.rotation, tracks[place], (4, 3, 5))]
    turns = rotation.matrices(rest.rotations[located]).swapaxes(1, 2)
    moved = pose_curves.moved_all(
        [shown[place].channels.location for place in located],
        turns,
        -(turns @ rest.translations[located][:, :, None])[..., 0],
        motion.frame,
        showing.tolerance[0],
    )
    turned = pose_curves.turned_all(
        [shown[place].channels.rotation for place in rotated],
        "ZXY",
        rotation.conjugate(rest.rotations[rotated]),
        motion.frame,
        showing.tolerance[1],
        quaternions=showing.quaternions,
    )
    _give(shown, "location", located, moved, motion.frame)
    _give(shown, "rotation", rotated, turned, motion.frame)
    for place, one in shown.items():
        if one.pose.location is None or one.pose.rotation is None:
            report.warn("its numbers are too large for a pose: not shown, kept", f"{motion.label} {rest.bones[place]}")
    return shown


def _give(
    shown: dict[int, Shown], channel: str, places: list[int], carried: Sequence[pose_curves.Carried], frame: float
) -> None:
    """Put curves on their bones, those that no pose can hold left out, without keys that Blender would make one."""
    curves = [curve for one in carried for curve in one.curves]
    sound = not curves or (pose_curves.is_finite(curves, frame) and pose_curves.are_apart(curves, frame))
    for place, one in zip(places, carried, strict=True):
        if not sound and not pose_curves.is_finite(one.curves, frame):
            continue
        made = one.curves if sound else [pose_curves.apart(curve, frame) for curve in one.curves]
        setattr(shown[place].pose, channel, made)
        shown[place].exact = shown[place].exact and one.exact


def _has_numbers(curves: Sequence[Curve], track: BoneTrack, channels: Sequence[int]) -> bool:
    """Whether every channel with keys is shown with keys: others hold what is no number."""
    pairs = zip(curves, channels, strict=True)
    return all(curve.count or not len(track.envelopes[channel].keys) for curve, channel in pairs)


def odd_behaviours(track: BoneTrack) -> bool:
    """Whether a channel does something else outside its keys than standing still."""
    return any(
        len(stored.keys) > 1 and {stored.before, stored.after} != {int(Behaviour.CONSTANT)}
        for stored in track.envelopes
    )


def same(now: Sequence[Curve] | None, then: Sequence[Curve] | None, frame: float) -> bool:
    """Whether curves read from Blender are those it was given."""
    if now is None or then is None or len(now) != len(then):
        return now is None and then is None
    return all(_unchanged(one, other, frame) for one, other in zip(now, then, strict=True))


def _unchanged(now: Curve, then: Curve, frame: float) -> bool:
    if now.count != then.count:
        return False
    everything = np.arange(then.count)
    # What the curves do outside their keys is not the F-curves' to say: they are compared as standing still.
    given = Curve(then.keys, then.left, then.right, then.interpolation)
    read = Curve(now.keys, now.left, now.right, now.interpolation)
    return unchanged(read, Display(given, everything, everything, np.ones(then.count, np.bool_)), frame)


def to_file(
    pose: BoneCurves,
    mode: str,
    rest: Rest,
    place: int,
    *,
    frame: float,
    tolerance: tuple[float, float],
    base: Shown | None,
) -> Channels:
    """The channels that put a bone where its pose curves do, with the base's curves wherever they say the same.

    ``mode`` is how the rotation's numbers turn the bone. A bone without curves stands in its rest pose.
    """
    turn = rotation.matrices(rest.rotations[place])
    standing = [pose_curves.still(0.0)] * 3
    location = standing if pose.location is None else pose.location
    moved = pose_curves.moved(location, turn, rest.translations[place], frame, tolerance[0])
    rotating, mode = (standing, "ZXY") if pose.rotation is None else (pose.rotation, mode)
    turned = pose_curves.turned(
        rotating,
        mode,
        rest.rotations[place],
        frame,
        tolerance[1],
        like=base.channels.rotation if base is not None else None,
    )
    places, angles = (
        list(map(pose_curves.thinned, carried.curves))
        if carried.exact
        else [pose_curves.straightened(curve, allowed) for curve in carried.curves]
        for carried, allowed in zip((moved, turned), tolerance, strict=True)
    )
    if base is None:
        return Channels(places, angles)
    near = [
        UNTOUCHED if each.exact and base.exact else most for each, most in zip((moved, turned), tolerance, strict=True)
    ]
    near[0] += 4 * float(np.spacing(np.float32(np.abs(rest.translations[place]).max())))
    return Channels(
        pose_curves.snapped(places, base.channels.location, frame, near[0]),
        pose_curves.snapped(angles, base.channels.rotation, frame, near[1]),
    )
