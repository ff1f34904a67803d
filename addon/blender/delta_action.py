"""`DeltaClip` to action, and actions or evaluated poses to model-space deltas.

A delta moves the rest pose to the pose: if R is the rest matrix of a bone in armature space, its pose is ``delta · R``,
so ``delta = pose · R⁻¹``, for any rest pose and any hierarchy. `core.deltas` converts deltas to the channels of a bone
relative to its parent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..core import affine, deltas, rotation
from ..core.deltas import DeltaChannels
from . import compat, scope
from .armature import matrices_of
from .bone_channels import LOCATION, ROTATION, SCALE, ChannelReader
from .bone_curves import (
    ActionTemplate,
    CurveTable,
    evaluated_poses,
    keys_at,
    rotation_kind,
    table_of,
    times_of,
    write_keys,
)
from .rotation_modes import modes_set, set_mode

if TYPE_CHECKING:
    import bpy

    from .typed import Action, Context, Object


Floats = NDArray[np.float64]

CHANNEL_WIDTHS = (("location", 3), ("rotation_quaternion", 4), ("scale", 3))
EULER_WIDTHS = (("location", 3), ("rotation_euler", 3), ("scale", 3))
CHANNELS = 10
"""F-curves of a bone: location, quaternion, scale."""


@dataclass(frozen=True)
class RestPose:
    """``bones``: names in Blender's order; ``parents`` (bones,): index or -1; ``matrices`` (bones, 4, 4): in armature
    space.
    """

    bones: list[str]
    parents: NDArray[np.int32]
    matrices: Floats

    @staticmethod
    def of(rig: Any) -> RestPose:
        """Return the rest pose of an armature object as Blender stores it."""
        bones = rig.data.bones
        index = {bone.name: number for number, bone in enumerate(bones)}
        parents = np.array([index[bone.parent.name] if bone.parent else -1 for bone in bones], np.int32)
        return RestPose(list(index), parents, matrices_of(bones, "matrix_local"))


def on_bones(
    rest: RestPose, indices: Sequence[int] | NDArray[np.intp], rows: Floats
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return deltas (bones of ``rest``, frames, 4, 4) with ``rows`` at ``indices``, and (bones,) which bones these are.

    The other bones get the identity.
    """
    # Same memory layout as the rows (mostly component by component), so that contiguous parts are copied.
    values = np.empty_like(rows, shape=(len(rest.bones), *rows.shape[1:]))
    animated = np.zeros(len(rest.bones), np.bool_)
    animated[indices] = True
    values[~animated] = np.eye(4)
    for index, row in zip(indices, rows, strict=True):
        values[index] = row
    return values, animated


def channels_of(
    values: Floats, rest: RestPose, animated: NDArray[np.bool_], rows: NDArray[np.intp] | None = None
) -> DeltaChannels:
    """Return the channels of deltas (bones, frames, 4, 4), rounded to 32 bits as Blender stores them.

    ``animated`` (bones,): the other bones follow their parents. ``rows`` (bones,): index of each bone in ``values``.
    """
    channels = deltas.channels(values, rest.matrices, rest.parents, animated, rows)
    for name in ("locations", "rotations", "scales"):
        with np.errstate(over="ignore"):
            setattr(channels, name, getattr(channels, name).astype(np.float32).astype(np.float64))
    return channels


def shown_by(locations: Floats, rotations: Floats, scales: Floats, rest: RestPose) -> Floats:
    """Return the deltas (bones, frames, 4, 4) of channels (bones, frames, 3 | 4 | 3); quaternions have any length."""
    channels = DeltaChannels(locations, rotation.normalised(rotations), scales, np.empty(0), np.empty(0, np.bool_))
    return deltas.deltas_of(channels, rest.matrices, rest.parents)


def key_digest(rows: NDArray[np.float32], frames: NDArray[np.float32], rest: RestPose) -> bytes:
    """Return a digest of keys (curves, frames) and rest pose; if it is the same, no key was edited."""
    digest = hashlib.blake2b(np.ascontiguousarray(rows, np.float32).data, digest_size=16)
    digest.update(np.ascontiguousarray(frames, np.float32).data)
    digest.update(rest.matrices.astype(np.float32).tobytes())
    digest.update(rest.parents.tobytes())
    return digest.digest()


def angles_of(quaternions: Floats, order: str) -> Floats:
    """Return continuous Euler angles (frames, 3) of quaternions (frames, 4), rounded to 32 bits like keys."""
    result: Floats = rotation.euler(rotation.matrices(rotation.normalised(quaternions)), order)
    return result.astype(np.float32).astype(np.float64)


def as_angles(delta_channels: DeltaChannels, rest: RestPose, modes: dict[str, str]) -> None:
    """Round the rotations of bones with Euler angles as their keys would; ``modes``: rotation modes of some bones."""
    for index, bone in enumerate(rest.bones):
        if rotation_kind(modes.get(bone, "QUATERNION")) == "euler":
            delta_channels.rotations[index] = rotation.of_mode(
                angles_of(delta_channels.rotations[index], modes[bone]), modes[bone]
            )


def points_about(rig: Object, indices: Sequence[int]) -> Floats:
    """Return (bones, 4, 4) homogeneous points of bones at rest: the head, and one bone length from it along each own
    axis.
    """
    rests = matrices_of(rig.data.bones, "matrix_local")[list(indices)]
    lengths = np.array([rig.data.bones[index].length for index in indices]).reshape(-1, 1, 1)
    offsets = np.concatenate((np.zeros((1, 3)), np.eye(3)))[None] * lengths
    own = np.concatenate((offsets, np.ones((*offsets.shape[:2], 1))), axis=-1)
    result: Floats = own @ rests.swapaxes(-1, -2)
    return result


class DeltaWriter:
    """Creates actions for some bones of one armature.

    ``indices``: which bones they are in ``rest``; ``orders``: order of Euler angles of the bones that have them.
    """

    def __init__(
        self, rest: RestPose, indices: Sequence[int], slot_name: str, orders: dict[str, str] | None = None
    ) -> None:
        self.rest = rest
        self.bone_indices = list(indices)
        self.digest = b""  # of the keys written last
        self._orders = orders or {}
        bones = [rest.bones[index] for index in self.bone_indices]
        others = dict.fromkeys(self._orders, EULER_WIDTHS)
        self._template = ActionTemplate(bones, CHANNEL_WIDTHS, slot_name, others)

    def close(self) -> None:
        """Remove the template action."""
        self._template.close()

    def build(self, name: str, delta_channels: DeltaChannels, frames: NDArray[np.float32]) -> Any:
        """Create an action with a key at each of ``frames`` (frames,) for every channel."""
        action = self._template.copy(name)
        self.fill(action, delta_channels, frames)
        return action

    def rebuild(
        self, action: Action, delta_channels: DeltaChannels, frames: NDArray[np.float32], owner: Object
    ) -> None:
        """Replace the F-curves that the action has for the bones of ``owner``; it stays assigned to its users."""
        self.fill(action, delta_channels, frames, self._template.restore(action, compat.suitable_slot(action, owner)))

    def fill(
        self,
        action: Action,
        delta_channels: DeltaChannels,
        frames: NDArray[np.float32],
        own_curves: Sequence[Any] | None = None,
    ) -> None:
        """Write the keys of an action that has the template's F-curves (``own_curves``, else all) and set its range."""
        groups = (delta_channels.locations, delta_channels.rotations, delta_channels.scales)
        keys = keys_at(frames, *(values[self.bone_indices] for values in groups))
        written = np.ones((len(self.bone_indices), CHANNELS), np.bool_)
        for row, index in enumerate(self.bone_indices):
            order = self._orders.get(self.rest.bones[index])
            if order is not None:
                keys[row, 3:6, :, 1] = angles_of(delta_channels.rotations[index], order).T
                written[row, 6] = False
        curves = keys[written]
        write_keys(compat.curve_bag(action).fcurves if own_curves is None else own_curves, curves)
        self.digest = key_digest(curves[..., 1], frames, self.rest)
        action.use_frame_range = True
        action.frame_start, action.frame_end = float(frames[0]), float(frames[-1])


@dataclass
class GatheredDeltas:
    """Deltas read from keys, and what the action contains besides.

    ``deltas`` (bones, frames, 4, 4) of all bones of the armature; ``keyed`` (bones,): which bones have F-curves;
    ``left_out``: data paths of F-curves that are not a pose bone's transform; ``digest`` of the keys; ``other_kinds``:
    bones with keys of a rotation type that their rotation mode does not use; ``muted``: bones with muted F-curves,
    whose channels have the values of the parameter ``instead`` of `DeltaReader.gather`, or else rest values.
    """

    deltas: Floats
    keyed: NDArray[np.bool_]
    left_out: list[str]
    digest: bytes = b""
    other_kinds: list[str] = field(default_factory=list)
    muted: list[str] = field(default_factory=list)


Muted = Callable[[], tuple[DeltaChannels, NDArray[np.bool_]]]
"""Function that returns channels to use for muted F-curves on the gathered frames, and (bones,) for which bones."""


class DeltaReader:
    """Reads actions of one armature as arrays."""

    def __init__(self, rig: Object, rest: RestPose) -> None:
        self.rest = rest
        self._rig = rig
        self._channels = ChannelReader(rig, rest.bones, scales=True)

    def curves(self, action: Action | None) -> list[bpy.types.FCurve]:
        """Return the F-curves that move bones of the armature."""
        return [curve for curve in compat.curves_of(action, self._rig) if curve.data_path in self._channels.paths]

    def table(self, action: Action | None) -> CurveTable:
        """Return the F-curves and keys of an action, for the other functions."""
        return table_of(action, self._rig, keys=True)

    def key_times(self, table: CurveTable) -> NDArray[np.float32]:
        """Return (keys,) the sorted times at which any bone has a key."""
        assert table.keys is not None  # noqa: S101 - of `table`
        return times_of(*table.keys, np.array([path in self._channels.paths for path in table.paths], np.bool_))

    def keyed(self, action: Action | None) -> NDArray[np.bool_]:
        """Return (bones,) which bones have F-curves in an action."""
        result = np.zeros(len(self.rest.bones), np.bool_)
        result[[self._channels.paths[curve.data_path][0] for curve in self.curves(action)]] = True
        return result

    def gather(
        self, table: CurveTable, frames: NDArray[np.float32], modes: dict[str, str], instead: Muted | None = None
    ) -> GatheredDeltas:
        """Read keys at ``frames``; channels without F-curves have their rest values.

        ``modes``: the rotation mode of each bone (`RotationModes.of_export`). ``instead``: returns the values to use
        for muted F-curves; without it they have their rest values.
        """
        channels = self._channels.read(table, frames, modes)
        if channels.muted.any() and instead is not None:
            values, known = instead()
            for group, rows in ((LOCATION, values.locations), (ROTATION, values.rotations), (SCALE, values.scales)):
                copied = channels.muted[:, group] & known
                channels.groups[group][copied] = rows[copied]
        muted, other_kinds = (
            [bone for bone, is_so in zip(self.rest.bones, row.tolist(), strict=True) if is_so]
            for row in (np.logical_or.reduce(channels.muted, axis=1), channels.other_kinds)
        )
        return GatheredDeltas(
            shown_by(channels.groups[LOCATION], channels.groups[ROTATION], channels.groups[SCALE], self.rest),
            np.logical_or.reduce(channels.keyed, axis=1),
            channels.left_out,
            b"" if muted or other_kinds else key_digest(channels.rows, frames, self.rest),
            other_kinds,
            muted,
        )


def sample(
    context: Context,
    rig: Object,
    action: Action | None,
    frames: NDArray[np.float32],
    *,
    modes: dict[str, str],
    progress: Callable[[int], None] = lambda _: None,
) -> Floats:
    """Return (bones, frames, 4, 4) the deltas of the evaluated pose at ``frames``; ``modes`` as in
    `DeltaReader.gather`.

    The scene is restored afterwards.
    """
    rests = matrices_of(rig.data.bones, "matrix_local")
    with modes_set(rig, modes), scope.only_evaluated(context, [rig]):
        poses = evaluated_poses(context, rig, action, frames, progress)
    result: Floats = poses.transpose(1, 0, 2, 3) @ affine.inverse(rests)[:, None]
    return result


def free_bones(context: Context, rig: Object, bones: Sequence[str], angles: Collection[str] = ()) -> list[str]:
    """Let pose bones take location, rotation and scale keys relative to their parents; return the changed ones.

    They inherit everything from their parents and rotate by quaternions, except those in ``angles``, which keep their
    rotation mode. Connected bones, which ignore location keys, are disconnected; heads and tails do not move.
    """
    changed = []
    for name in bones:
        bone, pose_bone = rig.data.bones[name], rig.pose.bones[name]
        inherits = bone.use_inherit_rotation and bone.inherit_scale == "FULL" and bone.use_local_location
        rotates = name in angles or pose_bone.rotation_mode == "QUATERNION"
        if not inherits:
            bone.use_inherit_rotation, bone.inherit_scale, bone.use_local_location = True, "FULL", True
        if not rotates:
            set_mode(pose_bone, "QUATERNION")
        if not inherits or not rotates:
            changed.append(name)
    connected = [name for name in bones if rig.data.bones[name].use_connect]
    if connected:
        with _temporarily_visible(rig), scope.editing_armature(context, rig) as edit_bones:
            for name in connected:
                edit_bones[name].use_connect = False
    return list(dict.fromkeys(connected + changed))


_INHERITANCE = ("use_inherit_rotation", "inherit_scale", "use_local_location")


@contextmanager
def bones_restored_on_failure(context: Context, rig: Object) -> Iterator[None]:
    """If the work inside raises, restore connection and inheritance of bones as before `free_bones`."""
    bones = rig.data.bones
    connected = [bone.name for bone in bones if bone.use_connect]
    inherited = {bone.name: [getattr(bone, name) for name in _INHERITANCE] for bone in bones}
    with ExitStack() as failure:
        failure.callback(_restore_bones, context, rig, connected, inherited)
        yield
        failure.pop_all()


def _restore_bones(context: Context, rig: Object, connected: list[str], inherited: dict[str, list[Any]]) -> None:
    bones = rig.data.bones
    for bone, values in inherited.items():
        for name, value in zip(_INHERITANCE, values, strict=True):
            if getattr(bones[bone], name) != value:
                setattr(bones[bone], name, value)
    loose = [name for name in connected if not bones[name].use_connect]
    if loose:
        with _temporarily_visible(rig), scope.editing_armature(context, rig) as edit_bones:
            for name in loose:
                edit_bones[name].use_connect = True


@contextmanager
def _temporarily_visible(rig: Object) -> Iterator[None]:
    """Show an object, because hidden ones cannot be edited; hide it again afterwards."""
    hidden, switched_off = rig.hide_get(), rig.hide_viewport
    rig.hide_viewport = False
    rig.hide_set(False)
    try:
        yield
    finally:
        rig.hide_viewport = switched_off
        rig.hide_set(hidden)
