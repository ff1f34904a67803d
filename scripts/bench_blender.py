"""The part of scripts/bench.py that runs inside a Blender: one measurement, in a process of its own.

    blender --background --factory-startup --python scripts/bench_blender.py -- NAME MOTIONS.omf

The motions are those of scripts/bench_library.py, whose skeleton they go onto, or its path; what is measured of levels
is in scripts/bench_level.py and bench_details.py, of animations in bench_animation.py, of the X-Ray editor's motions in
bench_skeletal.py, of sampled rigs in bench_sampling.py, of long lists in bench_lists.py. The last line printed is the
figure: seconds, or bytes.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

import bench_animation
import bench_descent
import bench_details
import bench_level
import bench_lists
import bench_sampling
import bench_skeletal
import bpy
import numpy as np
from bench_level import seconds_of
from bench_library import made_skeleton

from addon import games
from addon.blender import action as actions
from addon.blender import armature, compat
from addon.blender.armature import rest_of
from addon.core import space
from addon.core.report import Report
from addon.formats.xray import omf
from addon.formats.xray.omf.mapping import decode
from addon.games import plan as plans
from addon.games.xray.motions import exporting as motion_export
from addon.games.xray.motions import library, omf_codec
from addon.games.xray.motions.exporting import Onto
from addon.games.xray.motions.omf_codec import MotionExportOptions, MotionImportOptions
from addon.games.xray.paths.path import PathExportOptions, PathImportOptions, import_path, play
from addon.games.xray.paths.path import plan_export as plan_path

CONSTANT_KEY = bytes([1])


def _rig() -> Any:
    rig, _ = armature.build(bpy.context, made_skeleton())
    bpy.context.scene.collection.objects.link(rig)
    return rig


def _import(motions: str) -> Any:
    rig = _rig()
    library.import_motions(omf_codec.OMF, bpy.context, rig, motions, options=MotionImportOptions(), report=Report())
    return rig


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return float(pages * os.sysconf("SC_PAGE_SIZE"))


def import_all(motions: str) -> float:
    """Every motion of a file onto a rig."""
    rig = _rig()
    return seconds_of(
        lambda: library.import_motions(
            omf_codec.OMF, bpy.context, rig, motions, options=MotionImportOptions(), report=Report()
        )
    )


def hand_over(motions: str) -> float:
    """The floor of importing: the same keys, arrays ready, by the fastest calls known: copies of a key-less action."""
    rig = _rig()
    return seconds_of(_handing_over(rig, list(_prepared(rig, motions))))


def _handing_over(rig: Any, prepared: list[tuple[str, list[Any]]]) -> Callable[[], None]:
    bones = rest_of(rig, space.XRAY_ROOT_FRAME).bones

    def work() -> None:
        template, _, bag = compat.new_action("template", "OBJECT", rig.name)
        make = compat.curve_maker(template, bag)
        for bone in bones:
            for channel, size in (("rotation_quaternion", 4), ("location", 3)):
                for index in range(size):
                    make(actions.channel_path(bone, channel), index, bone)
        for name, rows in prepared:
            action = template.copy()
            action.name = name
            action.use_fake_user = True
            for curve, (count, keys, linear) in zip(compat.curve_bag(action).fcurves, rows, strict=True):
                points = curve.keyframe_points
                points.add(count)
                points.foreach_set("co", keys)
                points.foreach_set("interpolation", linear)

    return work


def _prepared(rig: Any, motions: str) -> Any:
    """For every motion its name and, for every curve, the number of keys, the keys and their interpolation."""
    rest = rest_of(rig, space.XRAY_ROOT_FRAME)
    document = omf.read(Path(motions).read_bytes(), motions, Report())
    for clip in decode(document.motion_set, Report()):
        tracks = [clip.bones.index(bone) for bone in rest.bones]
        turned, moved = actions.to_basis(rest, clip.rotations[tracks], clip.translations[tracks])
        keys = np.empty((len(tracks), 7, clip.frames, 2), np.float32)
        keys[..., 0] = np.arange(clip.frames)
        keys[:, :4, :, 1] = turned.transpose(0, 2, 1)
        keys[:, 4:, :, 1] = moved.transpose(0, 2, 1)
        rows = []
        for place, track in enumerate(tracks):
            for channel in range(7):
                keyed = clip.rotation_keyed[track] if channel < 4 else clip.translation_keyed[track]
                count = clip.frames if keyed else 1
                rows.append((count, keys[place, channel, :count].ravel(), CONSTANT_KEY * count))
        yield clip.name, rows


def export_new(motions: str) -> float:
    """Every motion from its F-curves into a new file."""
    rig = _import(motions)
    chosen = library.motions_of(rig.motionbridge_motion_files[0])
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "exported.omf")

        def work() -> None:
            options = MotionExportOptions()
            plan = motion_export.plan_export(
                omf_codec.OMF, bpy.context, rig, chosen, path, onto=Onto.OWN_FILES, options=options, report=Report()
            )
            plan.write()

        seconds = seconds_of(work)
        if Path(path).read_bytes() != Path(motions).read_bytes():
            raise ValueError("the exported file is not the imported one")
    return seconds


def save_back(motions: str) -> float:
    """Every motion compared with its file, and that written again."""
    rig = _import(motions)
    file = rig.motionbridge_motion_files[0]
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "motions.omf"
        copy.write_bytes(Path(motions).read_bytes())
        file.path = str(copy)

        def work() -> None:
            plan = motion_export.plan_save_back(
                omf_codec.OMF,
                bpy.context,
                rig,
                file,
                options=MotionExportOptions(),
                if_changed=plans.OtherBase.REFUSE,
                report=Report(),
            )
            plan.write()

        return seconds_of(work)


def read_keys(motions: str) -> float:
    """The floor of exporting: every key of every curve read as arrays."""
    rig = _import(motions)
    chosen = library.motions_of(rig.motionbridge_motion_files[0])

    def work() -> None:
        for action in chosen:
            for curve in compat.curve_bag(action).fcurves:
                points = curve.keyframe_points
                keys = np.empty(2 * len(points), np.float32)
                points.foreach_get("co", keys)

    return seconds_of(work)


def list_names(motions: str) -> float:
    """The names and lengths of a file's motions, nothing imported."""
    return seconds_of(lambda: library.list_motions(omf_codec.OMF, motions))


def memory_of_import(motions: str) -> float:
    """What the process grew by while importing."""
    rig = _rig()
    before = _resident()
    library.import_motions(omf_codec.OMF, bpy.context, rig, motions, options=MotionImportOptions(), report=Report())
    return _resident() - before


def memory_of_keys(motions: str) -> float:
    """The floor of that: what it grew by when the same keys were handed over (arrays made before)."""
    rig = _rig()
    work = _handing_over(rig, list(_prepared(rig, motions)))
    before = _resident()
    work()
    return _resident() - before


def import_a_path(path: str) -> float:
    """A path from its file onto a new empty."""
    return seconds_of(lambda: import_path(bpy.context, path, PathImportOptions(), Report()))


MANY_PATHS = 400


def import_many_paths(path: str) -> float:
    """The same file again and again in one go, each onto an empty of its own."""

    def work() -> None:
        options, report = PathImportOptions(play=False), Report()
        play(bpy.context, [import_path(bpy.context, path, options, report) for _ in range(MANY_PATHS)], report)

    return seconds_of(work)


def _curves_of_path(path: str) -> tuple[Any, list[Any]]:
    owner = import_path(bpy.context, path, PathImportOptions(), Report()).owner
    return owner, list(compat.curve_bag(owner.animation_data.action).fcurves)


CURVE_FIELDS = ("co", "handle_left", "handle_right")


def hand_over_path(path: str) -> float:
    """The floor of importing it: the same keys and handles, arrays ready, onto a new empty."""
    prepared = []
    for curve in _curves_of_path(path)[1]:
        arrays = [np.empty(2 * len(curve.keyframe_points), np.float32) for _ in CURVE_FIELDS]
        for name, array in zip(CURVE_FIELDS, arrays, strict=True):
            curve.keyframe_points.foreach_get(name, array)
        prepared.append((curve.data_path, curve.array_index, arrays))

    def work() -> None:
        owner = bpy.data.objects.new("floor", None)
        bpy.context.scene.collection.objects.link(owner)
        bpy.context.view_layer.update()
        action, slot, bag = compat.new_action("floor", "OBJECT", compat.slot_name(owner))
        make = compat.curve_maker(action, bag)
        for channel, index, arrays in prepared:
            points = make(channel, index, "Object Transforms").keyframe_points
            points.add(len(arrays[0]) // 2)
            for name, array in zip(CURVE_FIELDS, arrays, strict=True):
                points.foreach_set(name, array)
        compat.assign(owner, action, slot)

    return seconds_of(work)


def export_a_path(path: str) -> float:
    """The path into a new file, nothing edited."""
    return _exporting(_curves_of_path(path)[0])


def export_an_edited_path(path: str) -> float:
    """The same, a key of every channel moved."""
    owner, curves = _curves_of_path(path)
    for curve in curves:
        curve.keyframe_points[len(curve.keyframe_points) // 2].co[1] += 0.1
    return _exporting(owner)


def _exporting(owner: Any) -> float:
    with tempfile.TemporaryDirectory() as folder:
        target = str(Path(folder) / "exported.anm")

        def work() -> None:
            plan_path(bpy.context, owner, target, options=PathExportOptions(), report=Report()).write()

        return seconds_of(work)


def read_path_keys(path: str) -> float:
    """The floor of exporting it: its keys and handles read as arrays."""
    _, curves = _curves_of_path(path)

    def work() -> None:
        for curve in curves:
            array = np.empty(2 * len(curve.keyframe_points), np.float32)
            for name in CURVE_FIELDS:
                curve.keyframe_points.foreach_get(name, array)

    return seconds_of(work)


MEASUREMENTS: dict[str, Callable[[str], float]] = {
    measurement.__name__: measurement
    for measurement in (
        import_all,
        hand_over,
        export_new,
        save_back,
        read_keys,
        list_names,
        memory_of_import,
        memory_of_keys,
        import_a_path,
        import_many_paths,
        hand_over_path,
        export_a_path,
        export_an_edited_path,
        read_path_keys,
        *bench_level.MEASUREMENTS,
        *bench_animation.MEASUREMENTS,
        *bench_skeletal.MEASUREMENTS,
        *bench_sampling.MEASUREMENTS,
        *bench_lists.MEASUREMENTS,
        *bench_details.MEASUREMENTS,
        *bench_descent.MEASUREMENTS,
    )
}

if __name__ == "__main__":
    games.register()
    bpy.context.preferences.edit.use_global_undo = False
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    name, *files = sys.argv[sys.argv.index("--") + 1 :]
    figure = MEASUREMENTS[name](*files)
    print(f"\n{figure}", flush=True)
    os._exit(0)  # a Blender with classes still registered may hang while it shuts down
