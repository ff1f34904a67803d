"""Values of the transform channels of bones at given frames, read from an action, for all types of clips."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..core import rotation
from .bone_curves import CurveTable, channel_path, keeps_scale_at_one, rotation_kind, sampled_table
from .rotation_modes import KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .typed import Object, PoseBone

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

LOCATION, ROTATION, SCALE = range(3)
"""Groups of channels."""
_QUATERNION = KINDS.index("quaternion")
_CHANNELS = (*(f"rotation_{kind}" for kind in KINDS), "location", "scale")
_GROUPS = np.array([ROTATION] * len(KINDS) + [LOCATION, SCALE])
"""Group of each of `_CHANNELS`."""
_COLUMNS = (slice(0, 3), slice(3, 7), slice(7, 10))
"""Columns of each group in a row of ten: location, quaternion, scale."""
_REST = np.array([0.0] * 3 + [1.0] + [0.0] * 3 + [1.0] * 3)
_UNKNOWN = (-1, -1)


@dataclass
class BoneChannels:
    """Channels of bones relative to their rest poses, and what the action contains besides.

    ``groups``: locations (bones, frames, 3), quaternions of any length (bones, frames, 4), scales (bones, frames, 3) if
    the reader has them. Of (bones, groups): ``keyed``, whether there are F-curves; ``animated``, whether any of them
    has several keys; ``muted``, whether any of them is muted, which then has rest values. ``rows`` (curves, frames):
    values of all these F-curves. ``left_out``: data paths of the others. ``other_kinds`` (bones,): which bones have
    keys of a rotation type that their rotation mode does not use.
    """

    groups: list[Floats]
    keyed: Flags
    animated: Flags
    muted: Flags
    rows: NDArray[np.float32]
    left_out: list[str]
    other_kinds: Flags


class ChannelReader:
    """Reads the channels of ``bones`` of one armature, with ``scales`` or without."""

    def __init__(self, rig: Object, bones: Sequence[str], *, scales: bool) -> None:
        self._rig, self._bones = rig, bones
        channels = _CHANNELS if scales else _CHANNELS[:-1]
        self._columns = _COLUMNS if scales else _COLUMNS[:SCALE]
        self.paths = {
            channel_path(bone, channel): (index, number)
            for index, bone in enumerate(bones)
            for number, channel in enumerate(channels)
        }
        """Data path -> index of the bone, and of the channel."""
        self._found: dict[tuple[str, ...], NDArray[np.int64]] = {}

    def _places(self, paths: tuple[str, ...]) -> NDArray[np.int64]:
        """Return (paths, 2) bone and channel. Cached: the actions of one file mostly have the same paths."""
        if paths not in self._found:
            self._found[paths] = np.array([self.paths.get(path, _UNKNOWN) for path in paths], np.int64).reshape(-1, 2)
        return self._found[paths]

    def read(self, table: CurveTable, frames: NDArray[np.float32], modes: dict[str, str]) -> BoneChannels:
        """Read F-curves at ``frames``; channels without F-curves have their rest values.

        ``modes``: the rotation mode of each bone (`RotationModes.of_export`). A bone whose rotation keys are all of
        other types keeps its current rotation.
        """
        rows, several = sampled_table(table, frames)
        indices, channels = self._places(tuple(table.paths)).T
        groups, known = _GROUPS[channels], indices >= 0
        mode_kinds = np.array([KINDS.index(rotation_kind(modes[bone])) for bone in self._bones] or [0])
        in_mode = known & (groups == ROTATION) & (channels == mode_kinds[indices])
        width = self._columns[-1].stop
        values = np.empty((len(self._bones), width, len(frames)))
        values[:] = _REST[:width, None]
        keyed, animated, muted = np.zeros((3, len(self._bones), len(_COLUMNS)), np.bool_)
        keyed[indices[known], groups[known]] = True
        muted[indices[known & table.muted], groups[known & table.muted]] = True
        unmuted = known & ~table.muted
        read = np.flatnonzero(unmuted & ((groups != ROTATION) | in_mode))
        changing = read[several[read]]
        animated[indices[changing], groups[changing]] = True
        first = np.array([columns.start for columns in _COLUMNS])[groups]
        is_in_columns = (groups[read] != ROTATION) | (channels[read] == _QUATERNION)
        in_columns = read[is_in_columns]
        values[indices[in_columns], (first + table.indices)[in_columns]] = rows[in_columns]
        own_channels = [values[:, columns].transpose(0, 2, 1) for columns in self._columns]
        rotations = own_channels[ROTATION]
        angles: dict[int, Floats] = {}
        for number in read[~is_in_columns].tolist():
            index = int(indices[number])
            angles.setdefault(index, np.zeros((len(frames), 4)))[:, table.indices[number]] = rows[number]
        for index, own in angles.items():
            rotations[index] = rotation.of_mode(own, modes[self._bones[index]])
            animated[index, ROTATION] = True
        other_kinds, rotated = np.zeros((2, len(self._bones)), np.bool_)
        other_kinds[indices[unmuted & (groups == ROTATION) & ~in_mode]] = True
        rotated[indices[in_mode]] = True
        for index in np.flatnonzero(other_kinds & ~rotated).tolist():
            rotations[index] = posed_rotation(self._rig.pose.bones[self._bones[index]])
        unknown = (table.curves[number] for number in np.flatnonzero(~known).tolist())
        left_out = {curve.data_path for curve in unknown if not keeps_scale_at_one(curve)}
        return BoneChannels(own_channels, keyed, animated, muted, rows[known], sorted(left_out), other_kinds)


def posed_rotation(bone: PoseBone) -> Floats:
    """Return (4,) the current rotation of a pose bone as a quaternion, read in its rotation mode."""
    values = np.zeros((1, 4))
    channel = getattr(bone, f"rotation_{rotation_kind(bone.rotation_mode)}")
    values[0, : len(channel)] = channel[:]
    quaternion: Floats = values if bone.rotation_mode == "QUATERNION" else rotation.of_mode(values, bone.rotation_mode)
    return quaternion[0]
