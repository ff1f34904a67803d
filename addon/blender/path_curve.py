"""Curve objects and paths: a path drawn as a curve, and a drawn curve as a path."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core import rotation
from ..core.envelope import evaluate_curve
from ..core.envelope.curve import fitted
from ..core.errors import WriteError
from ..core.model import Channels, Path
from . import compat

Floats = NDArray[np.float64]

MOST_POINTS = 20_000
"""Points of a drawn path: a damaged file may have any number of frames."""


def draw(path: Path, name: str) -> list[Any]:
    """A curve object along the path, a point a frame; where its location has keys, also a mesh of points at them."""
    start, end = sorted((path.first, path.last))
    times = np.linspace(start, end, min(end - start + 1, MOST_POINTS)) / path.fps
    marked = np.unique(np.concatenate([curve.keys[:, 0] for curve in path.channels.location]))
    made = bpy.data.curves.new(f"{name} path", "CURVE")
    made.dimensions = "3D"
    spline = made.splines.new("POLY")
    spline.points.add(len(times) - 1)
    spline.points.foreach_set("co", np.c_[_places(path, times), np.ones(len(times))].astype(np.float32).ravel())
    drawn = [bpy.data.objects.new(made.name, made)]
    if not len(marked):
        return drawn
    keys: Any = bpy.data.meshes.new(f"{name} keys")
    keys.vertices.add(len(marked))
    keys.attributes["position"].data.foreach_set("vector", _places(path, marked).astype(np.float32).ravel())
    keys.update()
    return [*drawn, bpy.data.objects.new(keys.name, keys)]


def _places(path: Path, times: Floats) -> Floats:
    return np.stack([evaluate_curve(curve, times) for curve in path.channels.location], axis=1)


def along(
    context: Any, shown: Any, name: str, fps: float, tolerance: tuple[float, float], *, banked: bool = True
) -> Path:
    """The path along a curve object, in as many frames as its path animation has.

    Speed is even, or what the curve's own evaluation time says where that is animated: then the frames are those of
    its keys. Objects head along the curve with their tops up; ``banked``: tilted as the curve is. Raises `WriteError`
    for a curve without length, with a thickness, or of several pieces.
    """
    points, tilts = _polyline(context, shown)
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    length = float(steps.sum())
    if len(points) < 2 or length < 1e-9:
        raise WriteError(f"the curve {shown.name!r} has no length", remedy="Draw at least two points")
    first, shares = _shares(shown)
    last = first + len(shares) - 1
    times = np.arange(first, last + 1) / fps
    passed = np.concatenate(([0.0], np.cumsum(steps)))
    wanted = shares * length
    places = np.stack([np.interp(wanted, passed, points[:, axis]) for axis in range(3)], axis=1)
    turns = _headings(points, passed, wanted, smooth=shown.data.splines[0].type != "POLY")
    if banked:
        bank = np.interp(wanted, passed, tilts)
        turns = turns @ rotation.matrices(rotation.about_axis(1, bank))
    angles = rotation.euler_yxz(turns)
    return Path(
        name,
        fps,
        first,
        last,
        Channels(
            [fitted(times, places[:, axis], tolerance[0]) for axis in range(3)],
            [fitted(times, angles[:, axis], tolerance[1]) for axis in range(3)],
        ),
    )


def _shares(shown: Any) -> tuple[int, Floats]:
    """The first frame, and for each frame how much of the curve's length has been passed, 0 to 1."""
    duration = max(int(shown.data.path_duration), 1)
    data = shown.data.animation_data
    if data is not None and data.action is not None:
        for curve in _curves_of(data):
            if curve.data_path == "eval_time" and not curve.mute and not curve.is_empty:
                first, last = int(np.floor(curve.range()[0])), int(np.ceil(curve.range()[1]))
                values = np.fromiter(map(curve.evaluate, range(first, last + 1)), np.float64, last - first + 1)
                return first, np.clip(values / duration, 0.0, 1.0)
    return 0, np.linspace(0.0, 1.0, duration + 1)


def _curves_of(data: Any) -> Any:
    bag = compat.curve_bag(data.action, compat.suitable_slot(data.action, data.id_data))
    return bag.fcurves if bag is not None else ()


def _polyline(context: Any, shown: Any) -> tuple[Floats, Floats]:
    """World points (n, 3) along the only spline, as finely as the curve is drawn, and the tilt at each."""
    data = shown.data
    if data.bevel_depth or data.extrude or data.bevel_object:
        raise WriteError(
            f"the curve {shown.name!r} has a thickness", remedy="Set its bevel and extrusion to 0, so that it is a line"
        )
    if len(data.splines) != 1:
        raise WriteError(
            f"the curve {shown.name!r} has {len(data.splines) or 'no'} pieces",
            remedy="Keep the piece that the path follows; move the others to their own objects with Separate",
        )
    spline = data.splines[0]
    evaluated = shown.evaluated_get(context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    points = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", points)
    evaluated.to_mesh_clear()
    world = np.array(evaluated.matrix_world)
    places = points.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3]
    controls = spline.bezier_points if spline.type == "BEZIER" else spline.points
    tilts = np.empty(len(controls), np.float32)
    controls.foreach_get("tilt", tilts)
    if spline.use_cyclic_u and len(places):
        places, tilts = np.concatenate((places, places[:1])), np.append(tilts, tilts[0])
    return places, np.interp(np.linspace(0, 1, len(places)), np.linspace(0, 1, len(tilts)), tilts)


def _headings(points: Floats, passed: Floats, wanted: Floats, *, smooth: bool) -> Floats:
    """(frames, 3, 3) rotations whose y axis lies along the curve and whose z axis is as far up as it can be.

    ``smooth``: the pieces stand for a curve, so that the direction turns evenly from one to the next.
    """
    pieces = np.diff(points, axis=0)
    pieces /= np.maximum(np.linalg.norm(pieces, axis=1, keepdims=True), 1e-12)
    if smooth:
        corners = np.concatenate((pieces[:1], pieces[:-1] + pieces[1:], pieces[-1:]))
        if np.allclose(points[0], points[-1]):
            corners[[0, -1]] = pieces[0] + pieces[-1]
        corners /= np.maximum(np.linalg.norm(corners, axis=1, keepdims=True), 1e-12)
        forward = np.stack([np.interp(wanted, passed, corners[:, axis]) for axis in range(3)], axis=1)
        forward /= np.maximum(np.linalg.norm(forward, axis=1, keepdims=True), 1e-12)
    else:
        forward = pieces[np.clip(np.searchsorted(passed, wanted, "right") - 1, 0, len(pieces) - 1)]
    up = np.where(np.abs(forward[:, 2:]) > 0.9999, np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0]))
    right = np.cross(forward, up)
    right /= np.maximum(np.linalg.norm(right, axis=1, keepdims=True), 1e-12)
    return np.stack((right, forward, np.cross(right, forward)), axis=-1)
