"""What the editor's motions of X-Ray cost inside a Blender: a list of 100 in and out, each beside its floor.

The floor of importing is the same F-curves, arrays ready, in copies of a key-less action; that of exporting the same
arrays read. The files are those of scripts/bench_editor_motions.py; scripts/bench_blender.py starts one measurement.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from bench_level import seconds_of
from bench_library import made_skeleton

from addon.blender import armature, compat
from addon.core.report import Report
from addon.games.xray.motions import exporting as motion_export
from addon.games.xray.motions import library, skl_codec
from addon.games.xray.motions.skl_codec import SkeletalExportOptions, SkeletalImportOptions

FIELDS = ("co", "handle_left", "handle_right")
FREE = bytes([0])


def _rig() -> Any:
    rig, _ = armature.build(bpy.context, made_skeleton())
    bpy.context.scene.collection.objects.link(rig)
    return rig


def _imported(path: str, rig: Any) -> Any:
    return library.import_motions(
        skl_codec.SKL, bpy.context, rig, path, options=SkeletalImportOptions(), report=Report()
    )


def _curves(action: Any) -> Any:
    return compat.curve_bag(action).fcurves


def import_editor_motions(path: str) -> float:
    """Every motion of a file onto a rig."""
    rig = _rig()
    return seconds_of(lambda: _imported(path, rig))


def hand_over_editor_motions(path: str) -> float:
    """The floor of importing."""
    rig = _rig()
    chosen = _imported(path, rig).actions
    named = [(curve.data_path, curve.array_index) for curve in _curves(chosen[0])]
    prepared = [[_read(curve) for curve in _curves(action)] for action in chosen]

    def work() -> None:
        template, _, bag = compat.new_action("template", "OBJECT", rig.name)
        make = compat.curve_maker(template, bag)
        for data_path, index in named:
            make(data_path, index, data_path.split('"')[1])
        for number, rows in enumerate(prepared):
            action = template.copy()
            action.name = f"floor_{number}"
            for curve, (arrays, interpolation) in zip(_curves(action), rows, strict=True):
                points, count = curve.keyframe_points, len(interpolation)
                points.add(count)
                for name, array in zip(FIELDS, arrays, strict=True):
                    points.foreach_set(name, array)
                points.foreach_set("handle_left_type", FREE * count)
                points.foreach_set("handle_right_type", FREE * count)
                points.foreach_set("interpolation", interpolation)

    return seconds_of(work)


def _read(curve: Any) -> tuple[list[Any], Any]:
    points = curve.keyframe_points
    arrays = [np.empty(2 * len(points), np.float32) for _ in FIELDS]
    for name, array in zip(FIELDS, arrays, strict=True):
        points.foreach_get(name, array)
    interpolation = np.empty(len(points), np.uint8)
    points.foreach_get("interpolation", interpolation)
    return arrays, interpolation


def read_editor_motions(path: str) -> float:
    """The floor of exporting: every key and handle read, and as many bytes as the file has written."""
    chosen = _imported(path, _rig()).actions
    image = Path(path).read_bytes()
    with tempfile.TemporaryDirectory() as folder:

        def work() -> object:
            kept = [_read(curve) for action in chosen for curve in _curves(action)]
            (Path(folder) / "floor").write_bytes(image)
            return kept

        return seconds_of(work)


def export_editor_motions(path: str) -> float:
    """What was imported, nothing edited."""
    rig = _rig()
    seconds, data = _exported(rig, _imported(path, rig).actions)
    if data != Path(path).read_bytes():
        raise ValueError("the exported file is not the imported one")
    return seconds


def export_edited_editor_motions(path: str) -> float:
    """The same, one bone of every motion turned at one key."""
    rig = _rig()
    chosen = _imported(path, rig).actions
    for number, action in enumerate(chosen):
        curves = [curve for curve in _curves(action) if curve.data_path.endswith("rotation_euler")]
        curve = curves[7 * number % len(curves)]
        curve.keyframe_points[len(curve.keyframe_points) // 2].co[1] += 0.1
    seconds, data = _exported(rig, chosen)
    if data == Path(path).read_bytes():
        raise ValueError("the exported file is still the imported one")
    return seconds


def _exported(rig: Any, chosen: list[Any]) -> tuple[float, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "exported.skls"

        def work() -> None:
            options = SkeletalExportOptions()
            motion_export.plan_export(
                skl_codec.SKL, bpy.context, rig, chosen, str(target), options=options, report=Report()
            ).write()

        return seconds_of(work), target.read_bytes()


MEASUREMENTS: tuple[Callable[[str], float], ...] = (
    import_editor_motions,
    hand_over_editor_motions,
    export_editor_motions,
    export_edited_editor_motions,
    read_editor_motions,
)
