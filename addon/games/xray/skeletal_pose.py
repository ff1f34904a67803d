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
from ...formats.xray.channels import BONE, decode_channels
from ...formats.xray.envelopes import StoredEnvelope
from ...formats.xray.skl.document import BoneTrack, SkeletalMotion

Floats = NDArray[np.float64]
UNTOUCHED = 3e-6
"""Metres or radians below which a value that went through a rest pose and 32-bit floats counts as the same."""


@dataclass(frozen=True)
class Showing:
    """How the channels of a motion are shown: by quaternions or angles, fitted within (metres, radians)."""

    quaternions: bool
    tolerance: tuple[float, float]


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
    track: BoneTrack, motion: SkeletalMotion, rest: Rest, place: int, *, showing: Showing, report: Report
) -> Shown:
    """A track on the bone ``place`` of ``rest``."""
    name = rest.bones[place]
    curves = decode_channels(track.envelopes, BONE, motion.frame, f"{motion.label} {name} ", report)
    channels = Channels(curves[:3], curves[3:])
    rest_turn = rest.rotations[place]
    turn = rotation.matrices(rest_turn)
    pose = BoneCurves(channel=QUATERNION if showing.quaternions else EULER)
    exact = True
    # Blender's location x, y, z are the file's X, Y, Z; its angles x, y, z are P, H, B.
    if _has_numbers(channels.location, track.envelopes[:3]):
        carried = pose_curves.moved(
            channels.location, turn.T, -turn.T @ rest.translations[place], motion.frame, showing.tolerance[0]
        )
        if pose_curves.is_finite(carried.curves, motion.frame):
            pose.location = [pose_curves.apart(curve, motion.frame) for curve in carried.curves]
            exact = exact and carried.exact
    if _has_numbers(channels.rotation, [track.envelopes[number] for number in (4, 3, 5)]):
        carried = pose_curves.turned(
            channels.rotation,
            "ZXY",
            rotation.conjugate(rest_turn),
            motion.frame,
            showing.tolerance[1],
            quaternions=showing.quaternions,
        )
        if pose_curves.is_finite(carried.curves, motion.frame):
            pose.rotation = [pose_curves.apart(curve, motion.frame) for curve in carried.curves]
            exact = exact and carried.exact
    if pose.location is None or pose.rotation is None:
        report.warn("its numbers are too large for a pose: not shown, kept", f"{motion.label} {name}")
    return Shown(channels, pose, exact)


def _has_numbers(curves: Sequence[Curve], envelopes: Sequence[StoredEnvelope]) -> bool:
    """Whether every channel with keys is shown with keys: others hold what is no number."""
    return all(curve.count or not len(stored.keys) for curve, stored in zip(curves, envelopes, strict=True))


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
