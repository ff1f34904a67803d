"""Animated transforms of objects and bones as arrays of matrices, which combine location, rotation and scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core import rotation
from ..core.deltas import compose
from . import compat, nla, scope
from .bone_curves import channel_path, rotation_kind, sampled, write_keys

if TYPE_CHECKING:
    from .typed import Context, Object, PoseBone


Floats = NDArray[np.float64]
Curves = Mapping[tuple[str, int], Any]

DELTA = "delta_"
"""Begin of the names of an object's delta transforms, which bones do not have."""
WIDTHS = {
    "location": 3,
    "rotation_quaternion": 4,
    "rotation_axis_angle": 4,
    "rotation_euler": 3,
    "scale": 3,
    "delta_location": 3,
    "delta_rotation_quaternion": 4,
    "delta_rotation_euler": 3,
    "delta_scale": 3,
}
_IDENTITY = (1.0, 0.0, 0.0, 0.0)
_UNMOVED = np.eye(4)


def playing_curves(owner: Object, *, muted: bool = False) -> list[bpy.types.FCurve]:
    """Return the F-curves of the action that a data-block plays: the unmuted ones, or with ``muted`` the muted ones."""
    data = owner.animation_data
    if data is None or data.action is None:
        return []
    slot = data.action_slot if compat.SLOTTED else None
    if compat.SLOTTED and slot is None:
        return []
    bag = compat.curve_bag(data.action, slot)
    return [curve for curve in bag.fcurves if compat.is_muted(curve) == muted] if bag is not None else []


def kind_of(channel: str) -> str:
    """Return ``location``, ``rotation`` or ``scale`` for the name of a channel, which may be a delta transform."""
    return channel.removeprefix(DELTA).partition("_")[0]


def channels_of(curves: Sequence[bpy.types.FCurve], bone: str = "") -> dict[tuple[str, int], Any]:
    """Return (channel, index) -> F-curve of an object itself, or of one of its pose bones."""
    paths = {channel_path(bone, channel) if bone else channel: channel for channel in WIDTHS}
    return {(paths[curve.data_path], curve.array_index): curve for curve in curves if curve.data_path in paths}


def basis(owner: Object | PoseBone, curves: Curves, frames: NDArray[np.float32], *, turning: bool = True) -> Floats:
    """Return (frames, 4, 4) the transform that an object's or pose bone's own channels define, without parent or
    constraints, but with an object's delta transforms.

    Channels without F-curves have their current value. With ``turning`` False there is no rotation.
    """
    locations, scales = (_channel(owner, curves, name, frames) for name in ("location", "scale"))
    if _has_deltas(owner):
        locations += _channel(owner, curves, "delta_location", frames)
        scales *= _channel(owner, curves, "delta_scale", frames)
    still = np.tile(np.array(_IDENTITY), (len(frames), 1))
    return compose(locations, rotations(owner, curves, frames) if turning else still, scales)


def rotations(owner: Object | PoseBone, curves: Curves, frames: NDArray[np.float32]) -> Floats:
    """Return the quaternions (frames, 4) of the rotation channels, with an object's delta rotation; as `basis`."""
    own = _rotations(owner, curves, "", frames)
    # Blender shows no delta rotation of an axis and an angle.
    if not _has_deltas(owner) or owner.rotation_mode == "AXIS_ANGLE":
        return own
    return rotation.multiply(_rotations(owner, curves, DELTA, frames), own)


def _has_deltas(owner: Object | PoseBone) -> bool:
    return isinstance(owner, bpy.types.Object)


def _rotations(owner: Object | PoseBone, curves: Curves, prefix: str, frames: NDArray[np.float32]) -> Floats:
    kind = rotation_kind(owner.rotation_mode)
    values = _channel(owner, curves, f"{prefix}rotation_{kind}", frames)
    quaternions = rotation.normalised(values) if kind == "quaternion" else rotation.of_mode(values, owner.rotation_mode)
    # Normalising would hide that these rotations are not finite.
    quaternions[~np.isfinite(values).all(axis=1)] = np.nan
    return quaternions


def _channel(owner: Object | PoseBone, curves: Curves, name: str, frames: NDArray[np.float32]) -> Floats:
    values = np.tile(np.array(getattr(owner, name), np.float64), (len(frames), 1))
    keyed = [index for index in range(WIDTHS[name]) if (name, index) in curves]
    rows, _ = sampled([curves[name, index] for index in keyed], frames)
    values[:, keyed] = rows.T
    return values


def key_range(curves: Sequence[bpy.types.FCurve]) -> tuple[int, int] | None:
    """Return the first and the last whole frame that enclose all keys; None without keys."""
    ends = [(points[0].co.x, points[-1].co.x) for points in (c.keyframe_points for c in curves) if len(points)]
    if not ends:
        return None
    return int(np.floor(min(first for first, _ in ends))), int(np.ceil(max(last for _, last in ends)))


def why_sampled(owner: Object, *, turning: bool = True) -> list[str]:
    """Return the reasons why an object's transform is not defined by its keys alone; empty if it is.

    With ``turning`` False drivers of its rotation are ignored.
    """
    reasons = nla.moved_besides_keys(
        owner, owner.constraints, lambda path: path in WIDTHS and (turning or "rotation" not in path)
    )
    if owner.parent_type not in ("OBJECT", "BONE"):
        reasons.append("a parent that deforms it")
    return reasons


def channel_matrix(obj: Object, root: Object | None = None) -> Floats | None:
    """Return the transform (4, 4) of an object in the space of an ancestor, or of the world, from the transforms of the
    object and its parents.

    None if constraints, animation or other kinds of parents count too, or if ``root`` is no ancestor.
    """
    matrix: Floats | None = None
    above: Any = obj
    while above is not None and above != root:
        parent = above.parent
        if len(above.constraints) or above.animation_data is not None:
            return None
        own = np.array(above.matrix_basis, np.float64)
        matrix = own if matrix is None else own @ matrix
        if parent is not None:
            if above.parent_type != "OBJECT" or parent.type == "CURVE":
                return None
            matrix = np.array(above.matrix_parent_inverse, np.float64) @ matrix
        above = parent
    if above != root:
        return None
    return np.eye(4) if matrix is None else matrix


def transformed(points: NDArray[Any], matrix: Floats) -> Floats:
    """Return points (n, 3) transformed by a matrix (4, 4), as 64-bit numbers; exactly the same for the identity."""
    result: Floats = points.astype(np.float64)
    return result if (matrix == _UNMOVED).all() else result @ matrix[:3, :3].T + matrix[:3, 3]


def in_world(obj: Object, points: NDArray[Any]) -> Floats:
    """Return points (n, 3) of an object in world space, as 64-bit numbers."""
    return transformed(points, world_matrix(obj))


def world_matrix(obj: Object) -> Floats:
    """Return the transform (4, 4) of an object in world space, also if it is excluded, disabled or in another scene.

    Blender does not evaluate such objects: their `matrix_world` is that of the last time they were shown, and after a
    .blend file was opened the identity. Where `channel_matrix` has none, `scope.evaluated` has to show them.
    """
    matrix = channel_matrix(obj)
    return np.array(obj.matrix_world, np.float64) if matrix is None else matrix


def sample(context: Context, objects: Sequence[Object], frames: NDArray[np.int64]) -> dict[Any, Floats]:
    """Return (frames, 4, 4) the evaluated world matrices of objects. The scene is restored afterwards."""
    result = {target: np.empty((len(frames), 4, 4)) for target in objects}
    with scope.only_evaluated(context, objects), scope.kept_frame(context) as scene:
        for number, frame in enumerate(frames.tolist()):
            scene.frame_set(frame)
            graph = context.evaluated_depsgraph_get()
            for obj, indices in result.items():
                indices[number] = np.array(obj.evaluated_get(graph).matrix_world)
    return result


def write_tracks(
    make: compat.MakeCurve, bone: str, group: str, ticks: NDArray[Any], tracks: Mapping[str, Floats]
) -> None:
    """Write linear keys at ``ticks`` for channels (ticks, width) of an object or pose bone; a constant channel gets
    two.
    """
    for channel, values in tracks.items():
        path = channel_path(bone, channel) if bone else channel
        curves = [make(path, index, group) for index in range(WIDTHS[channel])]
        still = bool((values == values[:1]).all())
        chosen = [0, len(ticks) - 1] if still and len(ticks) > 1 else slice(None)
        keys = np.empty((len(curves), len(ticks[chosen]), 2), np.float32)
        keys[..., 0], keys[..., 1] = ticks[chosen], values[chosen].T
        write_keys(curves, keys)
