"""`Path` to an object's action and back, key by key: handles and interpolation are kept, nothing is sampled.

A path can also be drawn as a curve object (`draw_curve`), or be made from a curve object (`along_curve`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from mathutils import Quaternion
from numpy.typing import NDArray

from ..core import rotation
from ..core.envelope import Behaviour, Curves, Interpolation, evaluate_curve
from ..core.envelope.curve import fitted, single_key
from ..core.envelope.display import JUMP_GAP
from ..core.errors import WriteError
from ..core.model import Channels, Path
from ..core.report import say
from . import compat, curve_keys, scope
from .bone_curves import keeps_scale_at_one, rotation_kind
from .nla import evaluated_tracks, moved_besides_keys

if TYPE_CHECKING:
    from .typed import Action, Context, Object


Floats = NDArray[np.float64]

LOCATION, ROTATION = "location", "rotation_euler"
MOVING = (LOCATION, ROTATION, "rotation_quaternion", "rotation_axis_angle")
DELTAS = ("delta_location", "delta_rotation_euler", "delta_rotation_quaternion")
MOST_SAMPLED = 200_000
"""Frames; nearly two hours of a path."""
PARENT = "a parent"
"""Reason why an object is sampled."""
BETWEEN_FRAMES = 0.01
"""Frames; a key farther than that from every frame is sampled too."""


def build(path: Path, name: str, slot_name: str) -> Any:
    """Create an action that moves an object along ``path``, with the path's keys and frame rate."""
    action, _, bag = compat.new_action(name, "OBJECT", slot_name)
    make = compat.curve_maker(action, bag)
    targets = [make(channel, index, "Object Transforms") for channel in (LOCATION, ROTATION) for index in range(3)]
    curve_keys.write(targets, Curves.of(list(path.channels)), path.fps)
    action.use_frame_range = True
    action.frame_start, action.frame_end = path.first, path.last
    return action


def not_shown(path: Path) -> list[str]:
    """Return descriptions of curve behaviour outside the keys that Blender shows differently from the game."""
    names = []
    for curve in path.channels:
        for behaviour in {curve.before, curve.after}:
            if curve.count < 2:
                continue
            if behaviour == Behaviour.RESET:
                names.append("reset (the game goes to 0)")
            elif behaviour in curve_keys.CYCLES and curve.keys[0, 0] != 0.0:
                names.append("repeating of keys that do not begin at 0 (the game counts from there)")
        held = curve.count > 1 and curve.interpolation[0] == Interpolation.CONSTANT
        if held and curve.before == Behaviour.LINEAR and curve.left[0, 1] != curve.keys[0, 1]:
            names.append("a straight line before a held key (it stands still there)")
    return sorted(set(names))


def why_sampled(owner: Any, action: Action | None) -> list[str]:
    """Return the reasons why the keys alone do not define how ``owner`` moves; empty if they do."""
    reasons = []
    if owner.parent is not None:
        reasons.append(PARENT)
    reasons += moved_besides_keys(owner, owner.constraints)
    curves = compat.curves_of(action, owner)
    turned = {curve.data_path for curve in curves if curve.data_path.startswith("rotation_")}
    if (turned and turned != {ROTATION}) or (turned and owner.rotation_mode != "YXZ"):
        reasons.append("a rotation that is not Euler YXZ")
    if any(curve_keys.needs_sampling(curve) for curve in curves if curve.data_path in (LOCATION, ROTATION)):
        reasons.append("easing or modifiers the game lacks")
    deltas = (*owner.delta_location, *owner.delta_rotation_euler, *owner.delta_rotation_quaternion[1:])
    if any(abs(value) > 1e-6 for value in deltas) or any(curve.data_path in DELTAS for curve in curves):
        reasons.append("delta transforms")
    return reasons


def unread(owner: Object, action: Action | None) -> tuple[list[str], list[str], list[str]]:
    """Return data paths of F-curves that an export leaves out.

    Of channels that a path cannot contain; of a kind of rotation that the object's mode does not use; of muted ones.
    """
    kind, kinds = f"rotation_{rotation_kind(owner.rotation_mode)}", MOVING[1:]
    others: dict[str, None] = {}
    unused: dict[str, None] = {}
    muted: dict[str, None] = {}
    for curve in compat.curves_of(action, owner):
        is_read = curve.data_path in {LOCATION, kind, *DELTAS}
        if keeps_scale_at_one(curve):
            continue
        own_unread = (
            (muted if compat.is_muted(curve) else {}) if is_read else unused if curve.data_path in kinds else others
        )
        own_unread[curve.data_path] = None
    return list(others), list(unused), list(muted)


def is_keyed(owner: Object, action: Action) -> bool:
    """Whether ``action`` has F-curves for the location or Euler rotation of ``owner``. Others, such as scale, are no
    path.
    """
    return any(curve.data_path in (LOCATION, ROTATION) for curve in compat.curves_of(action, owner))


def key_range(owner: Object, action: Action) -> tuple[float, float]:
    """Return the frames of the first and last key that move ``owner``, without muted F-curves; without keys the first
    is later than the last.
    """
    curves = compat.curves_of(action, owner)
    moving = [curve for curve in curves if curve.data_path in MOVING and not compat.is_muted(curve)]
    return _outer([curve for curve in moving if len(curve.keyframe_points)]) or (np.inf, -np.inf)


def frame_range(owner: Object, action: Action) -> tuple[float, float]:
    """Return the first and last frame of ``action``: as set by hand, or of the keys of ``owner``, whatever keys its
    other slots have.
    """
    if action.use_frame_range:
        return action.frame_start, action.frame_end
    start, end = action.frame_range  # within the frames that Blender can show
    own = _outer(curve for curve in compat.curves_of(action, owner) if not curve.is_empty)
    return (max(own[0], start), min(own[1], end)) if own is not None else (start, end)


def mover_range(owner: Object) -> tuple[float, float] | None:
    """Return the first and last frame in which NLA strips, parents and targets of constraints move ``owner``, or
    None.
    """
    ranges: list[tuple[float, float]] = []
    movers = [owner]
    for mover in movers:  # which grows
        for block in (mover, mover.data):
            data = getattr(block, "animation_data", None)
            if data is None or (block is not mover and mover is owner):
                continue
            if mover is not owner and (keyed := _outer(curve for curve in _playing(data) if not curve.is_empty)):
                ranges.append(keyed)
            ranges += [
                (strip.frame_start, strip.frame_end) for track in evaluated_tracks(block) for strip in track.strips
            ]
        targets = [getattr(constraint, "target", None) for constraint in mover.constraints if not constraint.mute]
        movers += [
            above for above in dict.fromkeys((mover.parent, *targets)) if above is not None and above not in movers
        ]
    return (min(first for first, _ in ranges), max(last for _, last in ranges)) if ranges else None


def _outer(curves: Iterable[bpy.types.FCurve]) -> tuple[float, float] | None:
    """Return the first and last frame of F-curves, None if there are none."""
    ranges = [curve.range() for curve in curves]
    return (min(span[0] for span in ranges), max(span[1] for span in ranges)) if ranges else None


def gather(owner: Any, action: Any, name: str, fps: float) -> Path:
    """Read the keys of ``action``; channels without played keys are constant at the object's current value."""
    read: dict[tuple[str, int], bpy.types.FCurve] = {}
    current = {LOCATION: owner.location, ROTATION: _angles(owner)}
    for curve in compat.curves_of(action, owner):
        # An F-curve without keys does not play. In files without keys the game uses 0, and so the object is at 0.
        unplayed = curve.is_empty and curve.data_path in current and current[curve.data_path][curve.array_index]
        if curve.data_path in current and not compat.is_muted(curve) and not unplayed:
            read[curve.data_path, curve.array_index] = curve
    keys = dict(zip(read, curve_keys.read_curves(list(read.values()), fps), strict=True))
    start, end = frame_range(owner, action)
    channels = {
        channel: [keys.get((channel, index)) or single_key(float(current[channel][index])) for index in range(3)]
        for channel in (LOCATION, ROTATION)
    }
    return Path(name, fps, round(start), round(end), Channels(channels[LOCATION], channels[ROTATION]))


def _angles(owner: Any) -> Any:
    """Return the rotation of an object's own channels as Euler angles in the game's order."""
    order: Any = Path.rotation_order
    kind = rotation_kind(owner.rotation_mode)
    if owner.rotation_mode == order:
        return owner.rotation_euler
    if kind == "axis_angle":
        angle, *axis = owner.rotation_axis_angle
        return Quaternion(axis, angle).to_euler(order)
    turned = owner.rotation_quaternion.normalized() if kind == "quaternion" else owner.rotation_euler
    return turned.to_matrix().to_euler(order)


def keep_not_shown(path: Path, base: Path) -> None:
    """Copy behaviours that F-curves cannot show from ``base``, for curves whose own behaviour is that of its unedited
    curve.
    """
    for curve, old in zip(path.channels, base.channels, strict=True):
        curve_keys.keep_not_shown(curve, old)


def keep_muted(path: Path, base: Path, muted: Iterable[bpy.types.FCurve]) -> None:
    """Copy the channels of ``muted`` F-curves from ``base``."""
    channels, stored = (
        {LOCATION: motion_path.channels.location, ROTATION: motion_path.channels.rotation}
        for motion_path in (path, base)
    )
    for curve in muted:
        if curve.data_path in channels:
            channels[curve.data_path][curve.array_index] = stored[curve.data_path][curve.array_index]


def keep_frames(path: Path, first: int, last: int) -> None:
    """Set the first and last frame of the file on a path if the action's range was not edited.

    Blender's ranges are 32-bit floats, and never begin after their end.
    """
    start, end = (round(float(np.float32(frame))) for frame in (min(first, last), last))
    if (path.first, path.last) == (start, end):
        path.first, path.last = first, last


def sample(
    context: Context,
    owner: Object,
    action: Any,
    name: str,
    fps: float,
    *,
    frames: tuple[int, int],
    tolerance: tuple[float, float],
    appended: Floats | None = None,
    played_at: Callable[[Floats], Floats] = lambda frames: frames,
    progress: Callable[[int], None] = lambda _: None,
) -> Path:
    """Sample the world transform of ``owner`` as the scene shows it on every frame, on its keys between frames and
    before its cuts, and fit curves with few keys.

    ``tolerance`` (metres, radians): as few keys as it allows. ``appended`` (3, 3): rotation to apply to the object's
    own axes first (a camera looks along another axis than the game's objects). ``played_at``: the frames of the scene
    at which it plays these frames of ``action``. Raises `WriteError` for too many frames.
    """
    first, last = frames
    if last - first >= MOST_SAMPLED:
        raise WriteError(
            say("{!r} moves over too many frames to sample: {}", owner.name, last - first + 1),
            remedy=say("Set a manual frame range of at most {} frames on its action", MOST_SAMPLED),
        )
    sampled = np.union1d(np.arange(first, last + 1.0), _between_frames(owner, action, first, last))
    matrices = np.empty((len(sampled), 4, 4))
    scales = np.empty((len(sampled), 3))
    with scope.only_evaluated(context, [owner]), scope.kept_frame(context) as scene:
        for number, frame in enumerate(played_at(sampled).tolist()):
            scene.frame_set(int(np.floor(frame)), subframe=frame % 1.0)
            graph = context.evaluated_depsgraph_get()
            evaluated = owner.evaluated_get(graph)
            matrices[number], scales[number] = np.array(evaluated.matrix_world), _scale(evaluated)
            progress(number)
    rotations = _rotations(matrices[:, :3, :3], scales)
    if appended is not None:
        rotations = rotations @ appended
    return Path(name, fps, first, last, _fitted(sampled / fps, matrices[:, :, 3], rotations, tolerance))


def _between_frames(owner: Object, action: Action | None, first: int, last: int) -> Floats:
    """Return (times,) at which ``owner`` has keys between frames, and those just before the end of a held value."""
    parts = [np.empty(0)]
    for read in curve_keys.read_curves(compat.curves_of(action, owner), 1.0):
        held = read.interpolation[:-1] == Interpolation.CONSTANT
        parts += [read.keys[:, 0], read.keys[1:, 0][held] - JUMP_GAP]
    times = np.concatenate(parts)
    return times[(times > first) & (times < last) & (np.abs(times - np.rint(times)) > BETWEEN_FRAMES)]


def is_mirrored(owner: Any) -> bool:
    """Whether an object's scale is negative, or its parents mirror it, so that it is shown mirrored or rotated."""
    world = np.array(owner.matrix_world)[:3, :3]
    return bool((_scale(owner) < 0.0).any() or np.linalg.det(world) < 0.0)


def _scale(owner: Any) -> Floats:
    """Return (3,) an object's own scale."""
    result: Floats = np.array(owner.scale) * np.array(owner.delta_scale)
    return result


def _rotations(matrices: Floats, scales: Floats) -> Floats:
    """Return (n, 3, 3) the rotations of ``matrices``, without scale.

    ``scales`` (n, 3): the object's own scale, whose negative axes are reversed. If the matrix still mirrors, its x axis
    is reversed as well.
    """
    rotations = matrices / np.linalg.norm(matrices, axis=1, keepdims=True) * np.where(scales < 0.0, -1.0, 1.0)[:, None]
    rotations[np.linalg.det(rotations) < 0.0, :, 0] *= -1.0
    result: Floats = rotations
    return result


def _fitted(times: Floats, positions: Floats, rotations: Floats, tolerance: tuple[float, float]) -> Channels:
    """Fit curves to ``positions`` (n, 3) and ``rotations`` (n, 3, 3) at ``times`` (n,) in seconds."""
    angles = rotation.euler(rotations, Path.rotation_order)
    is_short = np.diff(times) < 0.9 * np.diff(times).max(initial=0.0)
    # A cubic through samples of uneven distances may swing between them.
    stops = (np.flatnonzero(is_short[1:] | is_short[:-1]) + 1).tolist()
    return Channels(
        [fitted(times, positions[:, axis], tolerance[0], stops) for axis in range(3)],
        [fitted(times, angles[:, axis], tolerance[1], stops) for axis in range(3)],
    )


MOST_POINTS = 20_000
"""Limit for the points of a drawn path: a damaged file may have any number of frames."""


def draw_curve(path: Path, name: str) -> list[Any]:
    """Create a curve object along the path, one point per frame; if its location has keys, also a mesh with points at
    them.
    """
    start, end = sorted((path.first, path.last))
    times = np.linspace(start, end, min(end - start + 1, MOST_POINTS)) / path.fps
    marked = np.unique(np.concatenate([curve.keys[:, 0] for curve in path.channels.location]))
    data = bpy.data.curves.new(f"{name} path", "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new("POLY")
    spline.points.add(len(times) - 1)
    spline.points.foreach_set("co", np.c_[_positions(path, times), np.ones(len(times))].astype(np.float32).ravel())
    drawn = [bpy.data.objects.new(data.name, data)]
    if not len(marked):
        return drawn
    keys: Any = bpy.data.meshes.new(f"{name} keys")
    keys.vertices.add(len(marked))
    keys.attributes["position"].data.foreach_set("vector", _positions(path, marked).astype(np.float32).ravel())
    keys.update()
    return [*drawn, bpy.data.objects.new(keys.name, keys)]


def _positions(path: Path, times: Floats) -> Floats:
    return np.stack([evaluate_curve(curve, times) for curve in path.channels.location], axis=1)


def along_curve(
    context: Context, obj: Object, name: str, fps: float, tolerance: tuple[float, float], *, banked: bool = True
) -> Path:
    """Create the path along a curve object, with as many frames as its path animation.

    The speed is constant, or defined by the curve's own evaluation time if that is animated: then the frames are those
    of its keys. The y axis points along the curve and the z axis upwards; ``banked``: tilted like the curve.
    ``tolerance`` as in `sample`. Raises `WriteError` for a curve without length, with a thickness, or with more than
    one spline.
    """
    points, tilts = _polyline(context, obj)
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    length = float(steps.sum())
    if len(points) < 2 or length < 1e-9:
        raise WriteError(say("the curve {!r} has no length", obj.name), remedy="Draw at least two points")
    first, shares = _passed_fractions(obj)
    last = first + len(shares) - 1
    passed = np.concatenate(([0.0], np.cumsum(steps)))
    wanted = shares * length
    positions = np.stack([np.interp(wanted, passed, points[:, axis]) for axis in range(3)], axis=1)
    rotations = _directions(points, passed, wanted, smooth=obj.data.splines[0].type != "POLY")
    if banked:
        bank = np.interp(wanted, passed, tilts)
        rotations = rotations @ rotation.matrices(rotation.about_axis(1, bank))
    times = np.arange(first, last + 1) / fps
    return Path(name, fps, first, last, _fitted(times, positions, rotations, tolerance))


def _passed_fractions(obj: Object) -> tuple[int, Floats]:
    """Return the first frame, and for each frame the passed fraction of the curve's length, 0 to 1."""
    duration = max(int(obj.data.path_duration), 1)
    data = obj.data.animation_data
    if data is not None and data.action is not None:
        for curve in _playing(data):
            if curve.data_path == "eval_time" and not compat.is_muted(curve) and not curve.is_empty:
                first, last = int(np.floor(curve.range()[0])), int(np.ceil(curve.range()[1]))
                values = np.fromiter(map(curve.evaluate, range(first, last + 1)), np.float64, last - first + 1)
                return first, np.clip(values / duration, 0.0, 1.0)
    return 0, np.linspace(0.0, 1.0, duration + 1)


def _playing(data: Any) -> list[bpy.types.FCurve]:
    """Return the F-curves that the action in ``data`` (animation data) plays."""
    return compat.curves_of(data.action, data.id_data)


def _polyline(context: Context, obj: Object) -> tuple[Floats, Floats]:
    """Return world points (n, 3) along the only spline, at the curve's display resolution, and the tilt at each."""
    data = obj.data
    if data.bevel_depth or data.extrude or data.bevel_object:
        words = "the curve {!r} has a thickness"
        raise WriteError(say(words, obj.name), remedy="Set its bevel and extrusion to 0, so that it is a line")
    if len(data.splines) != 1:
        words = "the curve {!r} has {} pieces" if data.splines else "the curve {!r} has no pieces"
        raise WriteError(
            say(words, obj.name, len(data.splines)),
            remedy="Keep the piece that the path follows; move the others to their own objects with Separate",
        )
    spline = data.splines[0]
    with scope.evaluated(context, [obj]):
        evaluated = obj.evaluated_get(context.evaluated_depsgraph_get())
        mesh = evaluated.to_mesh()
        points = np.empty(3 * len(mesh.vertices), np.float32)
        mesh.vertices.foreach_get("co", points)
        evaluated.to_mesh_clear()
        world = np.array(evaluated.matrix_world)
    positions = points.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3]
    controls = spline.bezier_points if spline.type == "BEZIER" else spline.points
    tilts = np.empty(len(controls), np.float32)
    controls.foreach_get("tilt", tilts)
    if spline.use_cyclic_u and len(positions):
        positions, tilts = np.concatenate((positions, positions[:1])), np.append(tilts, tilts[0])
    return positions, np.interp(np.linspace(0, 1, len(positions)), np.linspace(0, 1, len(tilts)), tilts)


def _directions(points: Floats, passed: Floats, wanted: Floats, *, smooth: bool) -> Floats:
    """Return (frames, 3, 3) rotations whose y axis points along the curve and whose z axis points upwards as far as
    possible.

    ``smooth``: the segments approximate a curve, so the direction is interpolated between them.
    """
    segments = np.diff(points, axis=0)
    segments /= np.maximum(np.linalg.norm(segments, axis=1, keepdims=True), 1e-12)
    if smooth:
        corners = np.concatenate((segments[:1], segments[:-1] + segments[1:], segments[-1:]))
        if np.allclose(points[0], points[-1]):
            corners[[0, -1]] = segments[0] + segments[-1]
        corners /= np.maximum(np.linalg.norm(corners, axis=1, keepdims=True), 1e-12)
        forward = np.stack([np.interp(wanted, passed, corners[:, axis]) for axis in range(3)], axis=1)
        forward /= np.maximum(np.linalg.norm(forward, axis=1, keepdims=True), 1e-12)
    else:
        forward = segments[np.clip(np.searchsorted(passed, wanted, "right") - 1, 0, len(segments) - 1)]
    up = np.where(np.abs(forward[:, 2:]) > 0.9999, np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0]))
    right = np.cross(forward, up)
    right /= np.maximum(np.linalg.norm(right, axis=1, keepdims=True), 1e-12)
    return np.stack((right, forward, np.cross(right, forward)), axis=-1)
