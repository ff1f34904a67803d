"""F-curves of pose bones as arrays, for all types of clips."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core import names
from . import compat, control_links, nla, scope
from .armature import matrices_of
from .properties import key_digests

if TYPE_CHECKING:
    from .typed import Action, Context, Object


Floats = NDArray[np.float64]

ROTATION_KINDS = {"QUATERNION": "quaternion", "AXIS_ANGLE": "axis_angle"}
"""Rotation channel of each rotation mode; all other modes are orders of Euler angles."""
UNSCALED = 1e-6
"""Largest difference from 1 of a scale that counts as no scale."""
LINEAR = 1
"""Interpolation of keys: the number that `foreach_get` gives for linear ones."""
_DIGEST_SIZE = 16
_OTHER_ROTATIONS = (".rotation_euler", ".rotation_axis_angle")
_BONE_PREFIX = re.compile(r'pose\.bones\["((?:\\.|[^"\\])*)"\]')
_TRANSFORMS = (".location", ".rotation_quaternion", ".scale", *_OTHER_ROTATIONS)
_PATH_BEGIN, _PATH_END = 'pose.bones["', '"]'


def channel_path(bone: str, channel: str) -> str:
    """Return the data path of a pose bone's channel."""
    return f'pose.bones["{bpy.utils.escape_identifier(bone)}"].{channel}'


def bone_path(bone: str) -> str:
    """Return the data path of a pose bone."""
    return f"{_PATH_BEGIN}{bpy.utils.escape_identifier(bone)}{_PATH_END}"


def bone_of(path: str) -> str:
    """Return the bone of a data path that ends at a pose bone or one of its channels; "" for others."""
    if not path.startswith(_PATH_BEGIN):
        return ""
    name, end, _ = path[len(_PATH_BEGIN) :].rpartition(_PATH_END)
    return bpy.utils.unescape_identifier(name) if end else ""


def bone_within(path: str) -> str:
    """Return the bone of a data path that begins with a pose bone, such as that of its constraint; "" for others."""
    named = _BONE_PREFIX.match(path)
    return bpy.utils.unescape_identifier(named[1]) if named else ""


def rotation_kind(mode: str) -> str:
    """Return the channel that a rotation mode uses: ``quaternion``, ``axis_angle`` or ``euler``."""
    return ROTATION_KINDS.get(mode, "euler")


def clear_bones(bag: Any) -> None:
    """Remove the F-curves of the transforms of pose bones; those of anything else stay."""
    curves = list(bag.fcurves)
    moving = [curve for curve in curves if bone_of(curve.data_path) and curve.data_path.endswith(_TRANSFORMS)]
    if len(moving) == len(curves):
        compat.clear_curves(bag)
        return
    for curve in moving:
        bag.fcurves.remove(curve)


@dataclass
class ActionTemplate:
    """Creates actions with the same F-curves for the same bones, by copying one action without keys.

    ``channels``: names and widths of each bone's channels, in the order of its F-curves; ``others``: channels of bones
    that have different ones.
    """

    bones: Sequence[str]
    channels: Sequence[tuple[str, int]]
    slot_name: str
    others: Mapping[str, Sequence[tuple[str, int]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.action, _, self.bag = compat.new_action(".motionbridge", "OBJECT", self.slot_name)
        self._add_curves(self.action, self.bag)

    def _add_curves(self, action: Action, bag: Any) -> list[Any]:
        make = compat.curve_maker(action, bag)
        return [
            make(channel_path(bone, channel), index, bone)
            for bone in self.bones
            for channel, width in self.others.get(bone, self.channels)
            for index in range(width)
        ]

    def close(self) -> None:
        """Remove the template action."""
        bpy.data.actions.remove(self.action)

    def copy(self, name: str) -> Action:
        """Create an action with the template's F-curves."""
        action = self.action.copy()
        action.name = names.shortened(name, compat.DATA_NAME_LIMIT)
        return action

    def restore(self, action: Action, slot: Any) -> list[Any]:
        """Replace the F-curves of bones in a slot with empty ones, and return these.

        The action stays assigned to its users.
        """
        bag = compat.curve_bag(action, slot)
        clear_bones(bag)
        return self._add_curves(action, bag)


def keys_at(frames: NDArray[Any], *groups: Floats) -> NDArray[np.float32]:
    """Return (bones, channels, frames, 2) keys of frame and value at ``frames``, for groups of channels (bones, frames,
    width).
    """
    ends = np.cumsum([values.shape[2] for values in groups]).tolist()
    keys = np.empty((len(groups[0]), ends[-1], len(frames), 2), np.float32)
    keys[..., 0] = frames
    for values, end in zip(groups, ends, strict=True):
        keys[:, end - values.shape[2] : end, :, 1] = values.transpose(0, 2, 1)
    return keys


def write_keys(
    curves: Sequence[bpy.types.FCurve], keys: NDArray[np.float32], keyed: NDArray[np.bool_] | None = None
) -> None:
    """Write linear keys (curves, keys, 2) of frame and value; F-curves that are not ``keyed`` get only the first.

    Every key is linear: linear keys need no handles, and the games interpolate linearly between frames as well.
    """
    count = keys.shape[1]
    all_linear, one_linear = bytes([LINEAR]) * count, bytes([LINEAR])
    animated = [True] * len(curves) if keyed is None else keyed.tolist()
    for curve, row, several in zip(curves, keys.reshape(-1, 2 * count), animated, strict=True):
        points = curve.keyframe_points
        if several:
            points.add(count)
            points.foreach_set("co", row)
            points.foreach_set("interpolation", all_linear)
        else:
            points.add(1)
            points.foreach_set("co", row[:2])
            points.foreach_set("interpolation", one_linear)


@dataclass(frozen=True)
class CurveTable:
    """F-curves of one action, with properties that are read for all of them at once."""

    curves: list[Any]
    paths: list[str]
    indices: NDArray[np.int32]
    muted: NDArray[np.bool_]
    played: NDArray[np.bool_]
    """Not muted, and with keys, samples or a generator."""
    held: NDArray[np.bool_]
    """Whether extrapolation is constant."""
    keys: tuple[NDArray[np.int64], NDArray[np.float32]] | None = None
    """The keys as of `_keys_of`, if they were read."""

    def of(self, rows: Sequence[int]) -> Self:
        """Return the table of some rows."""
        curves, paths = [self.curves[row] for row in rows], [self.paths[row] for row in rows]
        return type(self)(curves, paths, self.indices[rows], self.muted[rows], self.played[rows], self.held[rows])


def table_of(action: bpy.types.Action | None, owner: Object, *, keys: bool = False) -> CurveTable:
    """Return the F-curves that ``action`` has for ``owner``, in its suitable slot; empty without an action.

    ``keys``: also read their keys, for callers that need both their times and their values.
    """
    bag = compat.curve_bag(action, compat.suitable_slot(action, owner)) if action is not None else None
    curves = list(bag.fcurves) if bag is not None else []
    indices, held = np.zeros(len(curves), np.int32), np.zeros(len(curves), np.int32)
    muted, empty = np.zeros(len(curves), np.bool_), np.zeros(len(curves), np.bool_)
    if bag is not None:
        for name, values in (("array_index", indices), ("extrapolation", held), ("mute", muted), ("is_empty", empty)):
            bag.fcurves.foreach_get(name, values)
        muted |= np.array(compat.muted_by_groups(bag, curves), np.bool_)
    paths, played = [curve.data_path for curve in curves], ~(muted | empty)
    return CurveTable(curves, paths, indices, muted, played, held == 0, _keys_of(curves) if keys else None)


def sampled(
    curves: Sequence[bpy.types.FCurve], wanted: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Sample F-curves like `sampled_table`, for a list of curves without a table."""
    played = [compat.is_played(curve) for curve in curves]
    held = [curve.extrapolation == "CONSTANT" for curve in curves]
    return _sampled(curves, np.array(played, np.bool_), np.array(held, np.bool_), wanted)


def sampled_table(table: CurveTable, wanted: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Return (curves, frames) values of F-curves at the ``wanted`` frames, and (curves,) which of them are animated.

    If a curve has one key on each frame, the keys are copied. A single key is a constant if extrapolation is constant.
    An F-curve that Blender does not play has its rest value. All others are evaluated.
    """
    return _sampled(table.curves, table.played, table.held, wanted, table.keys)


def _sampled(
    curves: Sequence[bpy.types.FCurve],
    played: NDArray[np.bool_],
    held: NDArray[np.bool_],
    wanted: NDArray[np.float32],
    read: tuple[NDArray[np.int64], NDArray[np.float32]] | None = None,
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    number, frames = len(curves), len(wanted)
    points = list(map(attrgetter("keyframe_points"), curves))
    counts = np.fromiter(map(len, points), np.int64, number)
    readable = played & (np.fromiter(map(len, map(attrgetter("modifiers"), curves)), np.int64, number) == 0)
    single = readable & (counts == 1) & held
    complete = np.flatnonzero(readable & ~single & (counts == frames))
    if read is not None:
        # Frame and value as one number each: ten times as fast as rows of two.
        keys = read[1].view(np.int64)[_rows_of(counts, complete, frames), 0].view(np.float32)
    else:
        keys = np.zeros((len(complete), 2 * frames), np.float32)
        for index, row in zip(complete.tolist(), keys, strict=True):
            points[index].foreach_get("co", row)
    on_frames = (keys[:, 0::2] == wanted).all(axis=1)
    rows = np.zeros((number, frames), np.float32)
    rows[complete] = keys[:, 1::2]
    # Constant, so the frame does not matter; the cheapest call that returns the key's value.
    constant = np.flatnonzero(single)
    rows[constant] = np.array([curves[position].evaluate(0.0) for position in constant.tolist()], np.float32)[:, None]
    others = ~single
    others[complete[on_frames]] = False
    for index in np.flatnonzero(others).tolist():
        curve = curves[index]
        rows[index] = rest_value(curve)
        if played[index]:
            rows[index] = np.fromiter(map(curve.evaluate, wanted.tolist()), np.float32, frames)
    return rows, ~single


def rest_value(curve: bpy.types.FCurve) -> float:
    """Return the value of a pose bone's channel in the rest pose."""
    first_of_rotation = curve.array_index == 0 and curve.data_path.endswith("rotation_quaternion")
    return 1.0 if first_of_rotation or curve.data_path.endswith(".scale") else 0.0


def keeps_scale_at_one(curve: bpy.types.FCurve) -> bool:
    """Whether an F-curve keeps the scale of a bone or object at 1. Baking in Blender writes such curves."""
    if curve.data_path != "scale" and not (curve.data_path.endswith(".scale") and bone_of(curve.data_path)):
        return False
    if len(curve.modifiers) or len(curve.sampled_points):
        return False
    points = curve.keyframe_points
    values, kinds = np.empty((3, 2 * len(points)), np.float32), np.empty(len(points), np.uint8)
    for name, row in zip(("co", "handle_left", "handle_right"), values, strict=True):
        points.foreach_get(name, row)
    points.foreach_get("interpolation", kinds)
    # Baking leaves handles at 0; linear and constant keys ignore them.
    read = np.stack([np.ones(len(points), np.bool_), *[kinds > LINEAR] * 2])
    return bool((np.abs(values[:, 1::2] - 1.0) <= UNSCALED)[read].all())


def identity_of(bag: Any, curves: Sequence[bpy.types.FCurve]) -> bytes | None:
    """Return data paths and settings of F-curves as bytes: all that defines their effect apart from the keys.

    None if keys alone do not define it: curves with modifiers, and rotations that depend on a bone's rotation mode.
    """
    paths = [str(curve.data_path) for curve in curves]
    listed = "\n".join(paths)
    if any(f"{channel}\n" in f"{listed}\n" for channel in _OTHER_ROTATIONS):
        return None
    if any(map(len, map(attrgetter("modifiers"), curves))):
        return None
    numbers = np.zeros((3, len(curves)), np.int32)
    for name, values in zip(("array_index", "extrapolation", "mute"), numbers, strict=True):
        bag.fcurves.foreach_get(name, values)
    numbers[2] |= compat.muted_by_groups(bag, list(curves))
    return listed.encode() + numbers.tobytes()


def digest_of_keys(identity: bytes, counts: NDArray[np.int64], keys: NDArray[np.float32]) -> bytes:
    """Return the digest that reveals edited keys: of ``identity``, ``counts`` (curves,) and ``keys`` (keys, 2)."""
    digest = blake2b(identity, digest_size=_DIGEST_SIZE)
    digest.update(np.ascontiguousarray(counts, np.int64).data)
    digest.update(np.ascontiguousarray(keys, np.float32).data)
    return digest.digest()


class KeysRead(NamedTuple):
    """The keys that an action has for an object, reduced to what shows whether they were edited.

    ``digest``: `digest_of_keys`, empty if `identity_of` is None, if an F-curve has no keys, or if there are none.
    ``curves``: how many F-curves ``identity`` is of. ``first`` and ``last``: frames of the first and the last key.
    """

    digest: bytes = b""
    identity: bytes = b""
    curves: int = 0
    first: float = 0.0
    last: float = 0.0


def keys_read(action: Action, owner: Object) -> KeysRead:
    """Read all keys that ``action`` has for ``owner``, without evaluating them."""
    bag = compat.curve_bag(action, compat.suitable_slot(action, owner))
    curves = list(bag.fcurves) if bag is not None else []
    identity = identity_of(bag, curves) if curves else None
    if identity is None:
        return KeysRead()
    counts, keys = _keys_of(curves)
    if not counts.all():  # a curve has samples or is empty
        return KeysRead()
    return keys_written(identity, counts, keys)


def keys_written(identity: bytes, counts: NDArray[np.int64], keys: NDArray[np.float32]) -> KeysRead:
    """Return what `keys_read` finds after keys were written; arguments as of `digest_of_keys`."""
    digest, times = digest_of_keys(identity, counts, keys), keys[:, 0]
    return KeysRead(digest, _shared(identity), len(counts), float(times.min()), float(times.max()))


@lru_cache(maxsize=64)
def _shared(identity: bytes) -> bytes:
    """Return one object for equal identities: those of a file's motions are mostly the same, and long."""
    return identity


def keys_known(action: Action, owner: Object) -> KeysRead:
    """Return what `keys_read` found before, if Blender has reported no change of ``action`` since.

    It reports all edits in editors, but not every edit by a script (measured in 4.2 and 5.2). So this is for previews:
    before anything is written, keys have to be read.
    """
    slot = compat.suitable_slot(action, owner)
    known = key_digests.setdefault(action.session_uid, {})
    key = owner.session_uid, slot.handle if slot is not None else 0
    if key not in known:
        known[key] = keys_read(action, owner)
    return known[key]


def remember_keys(action: Action, owner: Object, keys: KeysRead) -> None:
    """Let `keys_known` return ``keys``, which were just written."""
    slot = compat.suitable_slot(action, owner)
    key_digests[action.session_uid] = {(owner.session_uid, slot.handle if slot is not None else 0): keys}


def digest_of(action: Action, owner: Object) -> bytes:
    """Return the digest of `keys_read`."""
    return keys_read(action, owner).digest


def _keys_of(curves: Sequence[bpy.types.FCurve]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return (curves,) the number of keys of each curve, and (keys, 2) frame and value of all of them, concatenated."""
    points = list(map(attrgetter("keyframe_points"), curves))
    counts = np.fromiter(map(len, points), np.int64, len(points))
    ends = np.cumsum(counts)
    keys = np.empty((int(counts.sum()), 2), np.float32)
    indices = keys.reshape(-1).data
    for point, begin, end in zip(points, (2 * (ends - counts)).tolist(), (2 * ends).tolist(), strict=True):
        point.foreach_get("co", indices[begin:end])
    return counts, keys


def _rows_of(counts: NDArray[np.int64], curves: NDArray[np.intp], count: int) -> NDArray[np.int64]:
    """Return (curves, count) the rows in `_keys_of` of ``curves`` that have ``count`` keys each."""
    result: NDArray[np.int64] = (np.cumsum(counts) - counts)[curves, None] + np.arange(count)
    return result


def key_times(curves: Sequence[bpy.types.FCurve]) -> NDArray[np.float32]:
    """Return (keys,) the sorted distinct times at which at least one of the curves has a key."""
    return times_of(*_keys_of(curves))


def times_of(
    counts: NDArray[np.int64], keys: NDArray[np.float32], chosen: NDArray[np.bool_] | None = None
) -> NDArray[np.float32]:
    """Return `key_times` of the ``chosen`` (curves,) F-curves, by default all, with these keys (`CurveTable.keys`)."""
    known = [np.empty(0, np.float32)]
    for count in sorted(set(counts[chosen if chosen is not None else slice(None)].tolist()) - {0}):
        is_alike = counts == count if chosen is None else chosen & (counts == count)
        times = keys[_rows_of(counts, np.flatnonzero(is_alike), count), 0]
        # The curves of a motion mostly have the same times, which then are sorted only once.
        known += [times[0], times[(times != times[0]).any(axis=1)].ravel()]
    return merged_times(*known)


def merged_times(*times: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the sorted distinct values of all arrays. The first `numpy.unique` of a process takes 10 ms, as it loads
    another module.
    """
    result = np.sort(np.concatenate(times))
    first = np.ones(len(result), np.bool_)
    first[1:] = result[1:] != result[:-1]
    return result[first]


def _no_progress(_done: int) -> None:
    """Progress without a window."""


def evaluated_poses(
    context: Context,
    rig: Object,
    action: Any,
    wanted: NDArray[np.float32],
    progress: Callable[[int], None] = _no_progress,
) -> Floats:
    """Return (frames, bones, 4, 4) evaluated poses at the ``wanted`` frames of ``action``.

    In armature space, in the order of the armature's bones. The motion in play is evaluated as the scene shows it, with
    all NLA strips; any other as if it were assigned and there were no strips. Channels without keys have their current
    values on every frame. The scene is restored afterwards. Raises `WriteError` if another motion than the one in play
    is wanted while an NLA strip is in tweak mode.
    """
    play = nla.playing(rig)
    is_shown = play.is_stacked and play.action == action
    with (
        scope.evaluated(context, [rig]),
        scope.kept_pose(rig),
        scope.posed(rig),
        scope.kept_frame(context) as scene,
        nullcontext() if is_shown else nla.alone(rig, action),
        nullcontext() if is_shown else control_links.unkeyed_holds_muted(rig, action),
    ):
        result = np.empty((len(wanted), len(rig.pose.bones), 4, 4))
        for number, frame in enumerate((play.scene_frames(action, wanted) if is_shown else wanted).tolist()):
            scope.set_frame(scene, frame)
            result[number] = matrices_of(rig.pose.bones, "matrix")
            progress(number + 1)
        return result
