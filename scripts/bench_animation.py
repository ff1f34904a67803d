"""What animations of Arma cost inside a Blender: 600 frames of 90 bones in and out, each beside its floor.

The floor of importing is the same keys handed to Blender by the fastest calls known, that of exporting the same keys
read from it. The file is that of scripts/bench_library.py; scripts/bench_blender.py starts one measurement.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from bench_level import seconds_of
from bench_library import ANIMATION_FRAMES

from addon.blender import compat
from addon.blender.bone_curves import channel_path
from addon.blender.delta_action import CHANNEL_WIDTHS
from addon.core.report import Report
from addon.games.arma.animation_export import AnimationExportOptions, plan_export
from addon.games.arma.animation_import import AnimationImportOptions, import_animation


def _imported(path: str, rig: Any = None) -> Any:

    return import_animation(bpy.context, rig, path, options=AnimationImportOptions(), report=Report())


def import_animation_once(path: str) -> float:
    """A file onto an armature that is there, from the disk to what plays."""
    rig = _imported(path).rig
    return seconds_of(lambda: _imported(path, rig))


def hand_over_animation(path: str) -> float:
    """The floor of importing: the same keys, ready, by the fastest calls known, in an action of the same curves."""
    done = _imported(path)
    rows = _keys(compat.curve_bag(done.action).fcurves)
    linear = bytes([1]) * ANIMATION_FRAMES
    bones = [entry.bone for entry in done.action.motionbridge_animation.bones]

    def work() -> object:
        action, slot, bag = compat.new_action("floor", "OBJECT", done.rig.name)
        make = compat.curve_maker(action, bag)
        for bone in bones:
            for channel, width in CHANNEL_WIDTHS:
                for index in range(width):
                    make(channel_path(bone, channel), index, bone)
        for curve, row in zip(compat.curve_bag(action).fcurves, rows, strict=True):
            points = curve.keyframe_points
            points.add(ANIMATION_FRAMES)
            points.foreach_set("co", row)
            points.foreach_set("interpolation", linear)
        bpy.context.view_layer.update()
        compat.assign(done.rig, action, slot)
        return action

    return seconds_of(work)


def _keys(curves: Any) -> list[Any]:
    rows = [np.empty(2 * ANIMATION_FRAMES, np.float32) for _ in curves]
    for curve, row in zip(curves, rows, strict=True):
        curve.keyframe_points.foreach_get("co", row)
    return rows


def export_animation(path: str) -> float:
    """What was imported, nothing edited."""
    done = _imported(path)
    seconds, data = _exported(done)
    if data != Path(path).read_bytes():
        raise ValueError("the exported file is not the imported one")
    return seconds


def export_edited_animation(path: str) -> float:
    """The same, every bone moved in every other frame."""
    done = _imported(path)
    curves = list(compat.curve_bag(done.action).fcurves)
    for curve, row in zip(curves, _keys(curves), strict=True):
        row[1::4] += 0.01
        curve.keyframe_points.foreach_set("co", row)
    seconds, data = _exported(done)
    if data == Path(path).read_bytes():
        raise ValueError("the exported file is still the imported one")
    return seconds


def _exported(done: Any) -> tuple[float, bytes]:

    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "exported.rtm"

        def work() -> None:
            options = AnimationExportOptions()
            plan_export(bpy.context, done.rig, str(target), options=options, report=Report()).write()

        return seconds_of(work), target.read_bytes()


def read_animation(path: str) -> float:
    """The floor of exporting: the same keys read from Blender, and as many bytes as the file has written."""
    curves = list(compat.curve_bag(_imported(path).action).fcurves)
    image = Path(path).read_bytes()
    with tempfile.TemporaryDirectory() as folder:

        def work() -> object:
            kept = _keys(curves)
            (Path(folder) / "floor").write_bytes(image)
            return kept

        return seconds_of(work)


MEASUREMENTS: tuple[Callable[[str], float], ...] = (
    import_animation_once,
    hand_over_animation,
    export_animation,
    export_edited_animation,
    read_animation,
)
