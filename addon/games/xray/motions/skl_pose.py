"""Motions of the editor on one rig: the channels of a track in the file as channels of a pose bone, and back.

The same arithmetic builds an action and finds out what was edited when it is exported: the bytes stored with the action
are decoded again, and the action's keys are compared with the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ....blender.armature import Rest
from ....blender.pose import EULER, QUATERNION, BoneCurves, SeveralBones
from ....core import pose_curves, rotation
from ....core.envelope import Behaviour, Curve, Curves, evaluate_curve
from ....core.envelope.curve import single_key
from ....core.envelope.writing import match, unchanged
from ....core.model import Channels
from ....core.report import Report, say
from ....formats.xray.envelopes import BONE, decode_tracks
from ....formats.xray.skl import WORLD_SPACE, BoneTrack, SkeletalMotion, bone_names
from ..bones.properties import bones_in_order
from .library import bone_indices

if TYPE_CHECKING:
    from ....blender.typed import Object

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
_CONSTANT = int(Behaviour.CONSTANT)
ROUND_TRIP_TOLERANCE = 3e-6
"""Tolerance in metres or radians for a value that was converted through a rest pose and 32-bit floats and back."""


@dataclass(frozen=True)
class Showing:
    """How a motion is shown: with quaternions or Euler angles, fitted within ``tolerance`` (metres, radians)."""

    quaternions: bool
    tolerance: tuple[float, float]

    @property
    def channel(self) -> str:
        """Name of the pose-bone channel with the rotation."""
        return QUATERNION if self.quaternions else EULER

    @property
    def mode(self) -> str:
        """Rotation mode that reads this channel."""
        return "QUATERNION" if self.quaternions else "ZXY"


@dataclass
class Shown:
    """One track as shown in Blender.

    ``channels``: relative to the parent bone, as in the file. ``pose``: relative to the rest pose, as on the pose bone.
    ``exact`` is False if any curve was fitted.
    """

    channels: Channels
    pose: BoneCurves
    exact: bool

    def values_at(self, times: Floats) -> tuple[Floats, Floats]:
        """Return locations and ZXY Euler angles, each (times, 3), at ``times`` (seconds), relative to the parent."""
        values = [evaluate_curve(curve, times) for curve in self.channels]
        return np.stack(values[:3], axis=1), np.stack(values[3:], axis=1)


@dataclass
class ShownTracks(Mapping[int, Shown]):
    """The tracks of a motion by the index of their bone in the rest pose. Several motions share the arrays.

    ``numbers``: index of a bone -> index of its track in ``channels``, which have six curves per track. ``located``:
    index of a bone -> index in ``location``, three curves each. ``rotated``: index of a bone -> index in ``rotation``,
    three or four curves each, of the pose-bone channel ``channel``.
    """

    numbers: dict[int, int]
    channels: Curves
    channel: str
    located: dict[int, int]
    location: pose_curves.ConvertedBones
    rotated: dict[int, int]
    rotation: pose_curves.ConvertedBones
    together: Curves
    """Curves of ``rotation``, then those of ``location``."""

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[int]:
        return iter(self.numbers)

    def __getitem__(self, bone: int) -> Shown:
        first = 6 * self.numbers[bone]
        curves = [self.channels.numbered(number) for number in range(first, first + 6)]
        pose = BoneCurves(channel=self.channel)
        if bone in self.located:
            pose.location = self.location[self.located[bone]].curves
        if bone in self.rotated:
            pose.rotation = self.rotation[self.rotated[bone]].curves
        return Shown(Channels(curves[:3], curves[3:]), pose, self.is_exact(bone))

    def is_exact(self, bone: int) -> bool:
        """Return whether no curve of a track was fitted."""
        return all(
            bone not in numbers or bool(carried.exact[numbers[bone]])
            for carried, numbers in ((self.location, self.located), (self.rotation, self.rotated))
        )

    def on_bones(self, names: Sequence[str]) -> SeveralBones:
        """Return the curves of the pose bones. ``names``: Blender's names of all bones by index."""
        width = 4 if self.channel == QUATERNION else 3
        rotation_channels, location_channels = (
            [(self.channel, index) for index in range(width)],
            [("location", index) for index in range(3)],
        )
        channels = {
            names[bone]: (rotation_channels if bone in self.rotated else [])
            + (location_channels if bone in self.located else [])
            for bone in self
        }
        rotated, located = (
            np.array([numbers.get(bone, -1) for bone in self], np.intp)[:, None]
            for numbers in (self.rotated, self.located)
        )
        rotation_count = len(self.rotation.curves)
        order = np.hstack((width * rotated + np.arange(width), rotation_count + 3 * located + np.arange(3)))
        exists = np.hstack((np.repeat(rotated >= 0, width, axis=1), np.repeat(located >= 0, 3, axis=1)))
        return SeveralBones(channels, self.together.take(order[exists]))


def show(
    tracks: dict[int, BoneTrack], motion: SkeletalMotion, rest: Rest, *, showing: Showing, report: Report
) -> ShownTracks:
    """Convert the tracks of one motion for the rest pose ``rest``. ``tracks``: by the index of their bone in it."""
    return show_all([(motion, tracks)], rest, showing=showing, report=report)[0]


def show_all(
    motions: Sequence[tuple[SkeletalMotion, dict[int, BoneTrack]]], rest: Rest, *, showing: Showing, report: Report
) -> list[ShownTracks]:
    """Convert the tracks of several motions as `show` does. All motions must have frames of the same length."""
    frame = motions[0][0].frame
    named = {(row, bone): track for row, (_, tracks) in enumerate(motions) for bone, track in tracks.items()}
    titles = [motion.label for motion, _ in motions]
    labels = [f"{titles[row]} {rest.bones[bone]}" for row, bone in named]
    indices = np.array([bone for _, bone in named], np.intp)
    channels = decode_tracks(
        [(f"{label} ", track.envelopes) for label, track in zip(labels, named.values(), strict=True)],
        BONE,
        frame,
        report,
    )
    # Blender's location x, y, z are the file's X, Y, Z; its angles x, y, z are P, H, B.
    in_file = np.array([len(envelope.keys) for track in named.values() for envelope in track.envelopes]).reshape(-1, 6)
    numbers = (channels.counts.reshape(-1, 6) > 0) | (in_file[:, BONE.channels] == 0)
    located, rotated = (np.flatnonzero(numbers[:, part].all(axis=1)) for part in (slice(3), slice(3, 6)))
    inverse_rotations = rotation.matrices(rest.rotations[indices[located]]).swapaxes(1, 2)
    moved = pose_curves.convert_locations_of_bones(
        channels.take((6 * located[:, None] + np.arange(3)).ravel()),
        inverse_rotations,
        -(inverse_rotations @ rest.translations[indices[located]][:, :, None])[..., 0],
        frame,
        showing.tolerance[0],
    )
    turned = pose_curves.convert_rotations_of_bones(
        channels.take((6 * rotated[:, None] + np.arange(3, 6)).ravel()),
        "ZXY",
        rotation.conjugate(rest.rotations[indices[rotated]]),
        frame,
        showing.tolerance[1],
        quaternions=showing.quaternions,
    )
    location, located_at = _without_unusable(moved, located, len(named), frame)
    rotations, rotated_at = _without_unusable(turned, rotated, len(named), frame)
    together = Curves.joined([rotations.curves, location.curves])
    result = [ShownTracks({}, channels, showing.channel, {}, location, {}, rotations, together) for _ in motions]
    for number, ((row, bone), label, located_as, rotated_as) in enumerate(
        zip(named, labels, located_at, rotated_at, strict=True)
    ):
        own_tracks = result[row]
        own_tracks.numbers[bone] = number
        if located_as >= 0:
            own_tracks.located[bone] = located_as
        if rotated_as >= 0:
            own_tracks.rotated[bone] = rotated_as
        if located_as < 0 or rotated_as < 0:
            report.warn("its values are too large for a pose: not shown, kept", label)
    return result


def _without_unusable(
    carried: pose_curves.ConvertedBones, numbers: Indices, tracks: int, frame: float
) -> tuple[pose_curves.ConvertedBones, list[int]]:
    """Remove curves with values that no pose can hold, and keys so close that Blender would merge them.

    ``numbers``: index of the track of each bone, of ``tracks`` in total. Returns the curves, and for each track the
    index of its bone in them, -1 if it has none.
    """
    kept = np.arange(len(numbers))
    if not (pose_curves.is_finite(carried.curves, frame) and pose_curves.are_keys_apart(carried.curves, frame)):
        bones = [carried[number].curves for number in kept.tolist()]
        kept = np.array([pose_curves.is_finite(Curves.of(curves), frame) for curves in bones]).nonzero()[0]
        usable = [pose_curves.without_merged_keys(curve, frame) for number in kept.tolist() for curve in bones[number]]
        carried = pose_curves.ConvertedBones(Curves.of(usable), carried.exact[kept])
    sources = np.full(tracks, -1)
    sources[numbers[kept]] = np.arange(len(kept))
    return carried, sources.tolist()


def continues_outside_keys(track: BoneTrack) -> bool:
    """Return whether a channel with several keys does not simply hold its values outside its keys."""
    return any(
        (stored.before != _CONSTANT or stored.after != _CONSTANT) and len(stored.keys) > 1 for stored in track.envelopes
    )


def same(curves: Sequence[Curve] | None, given: Sequence[Curve] | None, frame: float) -> bool:
    """Return whether curves read from Blender are those it was given. ``frame``: seconds per frame."""
    if curves is None or given is None or len(curves) != len(given):
        return curves is None and given is None
    if [curve.count for curve in curves] != [curve.count for curve in given]:
        return False
    read, then = Curves.of(curves), Curves.of(given)
    # F-curves do not show every behaviour outside the keys, so both are compared as constant there.
    read.before, read.after = then.before, then.after = np.full((2, len(read)), _CONSTANT)
    return bool(unchanged(read, then, match(read, then, frame)).all())


def to_file(
    pose: BoneCurves,
    mode: str,
    rest: Rest,
    index: int,
    *,
    frame: float,
    tolerance: tuple[float, float],
    base: Shown | None,
    same_location: bool = False,
    same_rotation: bool = False,
) -> Channels:
    """Convert a bone's pose curves to the file's channels, relative to the parent.

    Curves of ``base`` that give the same poses are kept. ``mode``: rotation mode of the rotation curves. Missing curves
    count as the rest pose. ``index``: index of the bone in ``rest``. ``frame``: seconds per frame. ``tolerance``:
    (metres, radians). ``same_location`` and ``same_rotation``: location or rotation are known to be those of ``base``.
    """
    at_rest = [single_key(0.0)] * 3
    if base is not None and same_location:
        location_curves = base.channels.location
    else:
        location = at_rest if pose.location is None else pose.location
        offset = rest.translations[index]
        moved = pose_curves.convert_locations(
            location, rotation.matrices(rest.rotations[index]), offset, frame, tolerance[0]
        )
        rounding = 4 * float(np.spacing(np.float32(np.abs(offset).max())))
        location_curves = _stored(moved, base, "location", frame=frame, tolerance=tolerance[0], rounding=rounding)
    if base is not None and same_rotation:
        rotation_curves = base.channels.rotation
    else:
        rotating, mode = (at_rest, "ZXY") if pose.rotation is None else (pose.rotation, mode)
        like = base.channels.rotation if base is not None else None
        turned = pose_curves.convert_rotations(rotating, mode, rest.rotations[index], frame, tolerance[1], like=like)
        rotation_curves = _stored(turned, base, "rotation", frame=frame, tolerance=tolerance[1])
    return Channels(location_curves, rotation_curves)


def _stored(
    carried: pose_curves.Converted,
    base: Shown | None,
    channels: str,
    *,
    frame: float,
    tolerance: float,
    rounding: float = 0.0,
) -> list[Curve]:
    """Return curves as the file stores them, with the numbers of ``base`` where they are within tolerance.

    ``channels``: which channels of ``base``, ``location`` or ``rotation``. ``rounding``: extra tolerance for offsets
    that 32-bit floats round.
    """
    if carried.exact:
        curves = list(map(pose_curves.without_repeated_keys, carried.curves))
    else:
        curves = [pose_curves.with_straight_segments(curve, tolerance) for curve in carried.curves]
    if base is None:
        return curves
    near_enough = ROUND_TRIP_TOLERANCE if carried.exact and base.exact else tolerance
    return pose_curves.snapped_to_base(curves, getattr(base.channels, channels), frame, near_enough + rounding)


# ---- the bones that tracks move


@dataclass(frozen=True)
class Bones:
    """Bones of a rig.

    ``rest``: their rest pose. ``indices``: index in ``rest`` by the game's name in lower case. ``order``: the game's
    names in the game's order, for motions that do not name their bones.
    """

    rest: Rest
    indices: dict[str, int]
    order: list[str]


def bones_of(rig: Object, rest: Rest) -> Bones:
    """Return the bones of ``rig`` with the rest pose ``rest``."""
    return Bones(rest, bone_indices(rig, rest), bones_in_order(rig))


def tracks_on(motion: SkeletalMotion, bones: Bones, report: Report) -> dict[int, int]:
    """Return which track of a motion moves which bone of a rig: index of the bone in ``rest`` -> index of the track.

    If a bone has two tracks, the first one is used. Warns of that, and of tracks that Blender shows differently from
    the game.
    """
    result: dict[int, int] = {}
    continued = []
    for number, (label, track) in enumerate(zip(bone_names(motion, bones.order), motion.tracks, strict=True)):
        bone = bones.indices.get(label.lower())
        if bone is None:
            continue
        if bone in result:
            words = "{:# bone occurs|# bones occur} twice: the first is shown, the second is kept"
            report.warn(say(words, 1), f"{motion.label} {label}")
            continue
        if track.flags & 1:
            report.warn(say(WORLD_SPACE, 1), label)
        if continues_outside_keys(track):
            continued.append(label)
        result[bone] = number
    if continued:
        words = (
            "{:# bone has keys that repeat or continue|# bones have keys that repeat or continue} outside their range, "
            "which is shown only where channels carry over as they are; kept unless edited"
        )
        report.warn(say(words, len(continued)), motion.label)
    return result
