"""The editor's motions on one rig: a bone's file channels as pose-bone channels, and back.

The same arithmetic builds an action and, when it is exported, tells what of it is not edited: the bytes kept with the
action are decoded again, and the action's keys are compared with the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....blender.armature import Rest
from ....blender.pose import EULER, QUATERNION, BoneCurves, SeveralBones
from ....core import pose_curves, rotation
from ....core.envelope import Behaviour, Curve, Curves, evaluate_curve
from ....core.envelope.display import Display
from ....core.envelope.writing import unchanged
from ....core.model import Channels
from ....core.report import Report
from ....formats.xray.envelopes import BONE, decode_tracks
from ....formats.xray.skl import BoneTrack, SkeletalMotion

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
_CONSTANT = int(Behaviour.CONSTANT)
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


@dataclass
class ShownTracks(Mapping[int, Shown]):
    """The tracks of a motion on bones of a rig, by the bones' places; all curves of several motions lie side by side.

    ``numbers`` (place -> which track) of ``channels``, six curves of a track; ``located`` those of ``location``, three
    curves, and ``rotated`` those of ``rotation``, three or four curves that turn by ``channel``.
    """

    numbers: dict[int, int]
    channels: Curves
    channel: str
    located: dict[int, int]
    location: pose_curves.CarriedBones
    rotated: dict[int, int]
    rotation: pose_curves.CarriedBones
    together: Curves
    """The curves of ``rotation``, then those of ``location``."""

    def __len__(self) -> int:
        """How many tracks there are."""
        return len(self.numbers)

    def __iter__(self) -> Iterator[int]:
        """The places of the bones."""
        return iter(self.numbers)

    def __getitem__(self, place: int) -> Shown:
        """One track."""
        first = 6 * self.numbers[place]
        curves = [self.channels.numbered(number) for number in range(first, first + 6)]
        pose = BoneCurves(channel=self.channel)
        if place in self.located:
            pose.location = self.location[self.located[place]].curves
        if place in self.rotated:
            pose.rotation = self.rotation[self.rotated[place]].curves
        return Shown(Channels(curves[:3], curves[3:]), pose, self.is_exact(place))

    def is_exact(self, place: int) -> bool:
        """Whether nothing of a track is fitted."""
        return all(
            place not in numbers or bool(carried.exact[numbers[place]])
            for carried, numbers in ((self.location, self.located), (self.rotation, self.rotated))
        )

    def on_bones(self, names: Sequence[str]) -> SeveralBones:
        """What the pose bones get; ``names`` of all bones by their places."""
        width = 4 if self.channel == QUATERNION else 3
        turning, moving = [(self.channel, index) for index in range(width)], [("location", index) for index in range(3)]
        channels = {
            names[place]: (turning if place in self.rotated else []) + (moving if place in self.located else [])
            for place in self
        }
        rotated, located = (
            np.array([numbers.get(place, -1) for place in self], np.intp)[:, None]
            for numbers in (self.rotated, self.located)
        )
        behind = len(self.rotation.curves)
        order = np.hstack((width * rotated + np.arange(width), behind + 3 * located + np.arange(3)))
        there = np.hstack((np.repeat(rotated >= 0, width, axis=1), np.repeat(located >= 0, 3, axis=1)))
        return SeveralBones(channels, self.together.take(order[there]))


def show(
    tracks: dict[int, BoneTrack], motion: SkeletalMotion, rest: Rest, *, showing: Showing, report: Report
) -> ShownTracks:
    """Tracks on bones of ``rest``, by their places in it."""
    return show_all([(motion, tracks)], rest, showing=showing, report=report)[0]


def show_all(
    motions: Sequence[tuple[SkeletalMotion, dict[int, BoneTrack]]], rest: Rest, *, showing: Showing, report: Report
) -> list[ShownTracks]:
    """What `show` makes of each of several motions, whose frames must be of one length."""
    frame = motions[0][0].frame
    named = {(row, place): track for row, (_, tracks) in enumerate(motions) for place, track in tracks.items()}
    titles = [motion.label for motion, _ in motions]
    labels = [f"{titles[row]} {rest.bones[place]}" for row, place in named]
    places = np.array([place for _, place in named], np.intp)
    channels = decode_tracks(
        [(f"{label} ", track.envelopes) for label, track in zip(labels, named.values(), strict=True)],
        BONE,
        frame,
        report,
    )
    # Blender's location x, y, z are the file's X, Y, Z; its angles x, y, z are P, H, B.
    in_file = np.array([len(one.keys) for track in named.values() for one in track.envelopes]).reshape(-1, 6)
    numbers = (channels.counts.reshape(-1, 6) > 0) | (in_file[:, BONE.channels] == 0)
    located, rotated = (np.flatnonzero(numbers[:, part].all(axis=1)) for part in (slice(3), slice(3, 6)))
    turns = rotation.matrices(rest.rotations[places[located]]).swapaxes(1, 2)
    moved = pose_curves.moved_all(
        channels.take((6 * located[:, None] + np.arange(3)).ravel()),
        turns,
        -(turns @ rest.translations[places[located]][:, :, None])[..., 0],
        frame,
        showing.tolerance[0],
    )
    turned = pose_curves.turned_all(
        channels.take((6 * rotated[:, None] + np.arange(3, 6)).ravel()),
        "ZXY",
        rotation.conjugate(rest.rotations[places[rotated]]),
        frame,
        showing.tolerance[1],
        quaternions=showing.quaternions,
    )
    location, located_at = _sound(moved, located, len(named), frame)
    rotations, rotated_at = _sound(turned, rotated, len(named), frame)
    together = Curves.joined([rotations.curves, location.curves])
    result = [ShownTracks({}, channels, showing.channel, {}, location, {}, rotations, together) for _ in motions]
    for number, ((row, place), label, located_as, rotated_as) in enumerate(
        zip(named, labels, located_at, rotated_at, strict=True)
    ):
        shown = result[row]
        shown.numbers[place] = number
        if located_as >= 0:
            shown.located[place] = located_as
        if rotated_as >= 0:
            shown.rotated[place] = rotated_as
        if located_as < 0 or rotated_as < 0:
            report.warn("its values are too large for a pose: not shown, kept", label)
    return result


def _sound(
    carried: pose_curves.CarriedBones, numbers: Indices, tracks: int, frame: float
) -> tuple[pose_curves.CarriedBones, list[int]]:
    """Curves without those that no pose can hold and without keys that Blender would make one.

    ``numbers`` which of ``tracks`` each bone is; for each track comes the number of its bone, -1 where there is none.
    """
    kept = np.arange(len(numbers))
    if not (pose_curves.is_finite(carried.curves, frame) and pose_curves.are_apart(carried.curves, frame)):
        bones = [carried[number].curves for number in kept.tolist()]
        kept = np.array([pose_curves.is_finite(Curves.of(curves), frame) for curves in bones]).nonzero()[0]
        sound = [pose_curves.apart(curve, frame) for number in kept.tolist() for curve in bones[number]]
        carried = pose_curves.CarriedBones(Curves.of(sound), carried.exact[kept])
    found = np.full(tracks, -1)
    found[numbers[kept]] = np.arange(len(kept))
    return carried, found.tolist()


def odd_behaviours(track: BoneTrack) -> bool:
    """Whether a channel does something else outside its keys than standing still."""
    return any(
        (stored.before != _CONSTANT or stored.after != _CONSTANT) and len(stored.keys) > 1 for stored in track.envelopes
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
    same_place: bool = False,
    same_turn: bool = False,
) -> Channels:
    """The channels that put a bone where its pose curves do, with the base's curves wherever they say the same.

    ``mode`` is how the rotation's numbers turn the bone. A bone without curves is in its rest pose. ``same_place``
    and ``same_turn``: the location, or the rotation, is known to be the base's.
    """
    standing = [pose_curves.still(0.0)] * 3
    if base is not None and same_place:
        places = base.channels.location
    else:
        location = standing if pose.location is None else pose.location
        offset = rest.translations[place]
        moved = pose_curves.moved(location, rotation.matrices(rest.rotations[place]), offset, frame, tolerance[0])
        rounding = 4 * float(np.spacing(np.float32(np.abs(offset).max())))
        places = _stored(moved, base, "location", frame=frame, tolerance=tolerance[0], rounding=rounding)
    if base is not None and same_turn:
        angles = base.channels.rotation
    else:
        rotating, mode = (standing, "ZXY") if pose.rotation is None else (pose.rotation, mode)
        like = base.channels.rotation if base is not None else None
        turned = pose_curves.turned(rotating, mode, rest.rotations[place], frame, tolerance[1], like=like)
        angles = _stored(turned, base, "rotation", frame=frame, tolerance=tolerance[1])
    return Channels(places, angles)


def _stored(
    carried: pose_curves.Carried,
    base: Shown | None,
    channels: str,
    *,
    frame: float,
    tolerance: float,
    rounding: float = 0.0,
) -> list[Curve]:
    """Curves in the file's frame as it holds them, with the numbers of these ``channels`` of ``base`` where near."""
    if carried.exact:
        curves = list(map(pose_curves.thinned, carried.curves))
    else:
        curves = [pose_curves.straightened(curve, tolerance) for curve in carried.curves]
    if base is None:
        return curves
    near = UNTOUCHED if carried.exact and base.exact else tolerance
    return pose_curves.snapped(curves, getattr(base.channels, channels), frame, near + rounding)
