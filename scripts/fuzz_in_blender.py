"""The part of `scripts/fuzz_blender.py` that runs inside Blender: import damaged files, each in an empty scene.

    blender --background --factory-startup --python scripts/fuzz_in_blender.py -- JOB.json

The job lists targets, numbers of cases, seed and files. A line of JSON is appended to its ``progress`` file before and
after each case, so that the parent process knows which case caused a crash or a hang.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import time
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]
sys.dont_write_bytecode = True

import bpy

from tests import extension

if __name__ == "__main__":
    extension.pytest_configure()  # from here on `addon` is the extension

import fuzz
import numpy as np
from fuzzing.blender_targets import BLENDER_TARGETS, BlenderTarget
from fuzzing.law import Broken, floats_of, mentions_not_finite
from fuzzing.targets import TARGETS

from addon.blender import compat
from addon.blender.properties import kept as kept_bytes
from addon.core import names
from addon.core.errors import ReadError
from addon.core.report import Report
from addon.formats.xray import bones, omf, skl
from tests.scene import differences, snapshot

COMPARED_EVERY = 4
"""In every Nth case (on average) snapshots of the whole scene are compared: an export must not change it."""
SEAL = "_seal"
BOOKKEEPING = "motionbridge_known_as"
"""Property in which the first operator stores the names of bones that no importer created."""
LARGEST = float(np.finfo(np.float32).max)


def main(job: dict[str, Any]) -> None:
    """Run the cases of a job."""
    targets = [BLENDER_TARGETS[name] for name in job["targets"]]
    paths = [Path(path) for path in job["paths"]]
    cases = fuzz.Cases(
        paths, job["seed"], [TARGETS[name] for name in dict.fromkeys(target.bytes_of for target in targets)]
    )
    folder = Path(job["folder"])
    with Path(job["progress"]).open("a", encoding="utf-8") as progress:

        def write_progress(**fields: Any) -> None:
            progress.write(json.dumps(fields) + "\n")
            progress.flush()

        for name, number in job["cases"]:
            write_progress(begun=[name, number])
            start = time.process_time()
            target = BLENDER_TARGETS[name]
            source, data = cases.case(TARGETS[target.bytes_of], number)
            outcome, finding = run_case(target, source, data, folder, f"{job['seed']}:{name}:{number}")
            write_progress(
                done=[name, number], source=source, outcome=outcome, finding=finding, cpu=time.process_time() - start
            )


def run_case(target: BlenderTarget, source: str, data: bytes, folder: Path, seed: str) -> tuple[str, str]:
    """Return the outcome of a case, and how it broke the law ("" if it did not)."""
    errors = io.StringIO()
    try:
        with contextlib.redirect_stderr(errors), warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)  # numpy only warns where arithmetic goes wrong
            outcome = _case(target, source, data, folder, Random(seed))  # noqa: S311 (nothing here is secret)
        if "Traceback" in errors.getvalue():
            return "broken", f"a traceback: {errors.getvalue()[-3000:]}"
    except Broken as broken:
        return "broken", f"{broken}\n{errors.getvalue()[-2000:]}"
    except Exception:  # noqa: BLE001 (any exception is a finding)
        return "broken", traceback.format_exc()
    return outcome, ""


def _case(target: BlenderTarget, source: str, data: bytes, folder: Path, random: Random) -> str:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    path, main_bytes = target.prepare(folder, source, data)
    names = _bones_named_in(target, path, data) if random.random() < 0.5 else []
    if names:
        _make_rig(names)
    else:
        for operator, below, options in target.scene(source):
            getattr(bpy.ops.import_scene, operator)(filepath=str(below), **options)
    before = snapshot()
    load = getattr(bpy.ops.import_scene, target.importer)
    options = {name: random.choice(values) for name, values in target.options.items()}
    if _run(load, filepath=str(path), **options) is None:
        left = differences(before, snapshot())
        if left:
            raise Broken(f"a refused import left something behind: {left[:5]}")
        return "refused"
    _check_scene(before)
    whole = "left out" not in str(bpy.context.window_manager.motionbridge_report)
    out = folder / f"out{target.out_suffix or path.suffix}"
    return _export(target, main_bytes if whole else None, out, random)


def _bones_named_in(target: BlenderTarget, path: Path, data: bytes) -> list[str]:
    """Return the bones that a damaged motion or bone file names, to create an armature; [] if it is unreadable."""
    readers = {"omf": omf, "skl": skl, "bones": bones}
    if target.bytes_of not in readers:
        return []
    with contextlib.suppress(ReadError):
        document: Any = readers[target.bytes_of].read(data, path.name, Report())
        if target.bytes_of == "bones":
            return [bone.name for bone in document.bones]
        if target.bytes_of == "skl":
            return [names.decode(track.name or b"") for motion in document.motions for track in motion.tracks]
        parts = document.motion_set.parameters.partitions
        return [names.decode(bone.name or b"") for part in parts for bone in part.bones]
    return []


def _make_rig(labels: list[str]) -> None:
    """Create an armature with a chain of bones."""
    armature = bpy.data.armatures.new("rig")
    rig = bpy.data.objects.new("rig", armature)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    parent = None
    for index, label in enumerate(dict.fromkeys(labels)):
        bone = armature.edit_bones.new(names.printable(label)[:63])
        bone.head, bone.tail, bone.roll = (0, 0.1 * index, 0), (0.05, 0.1 * index, 0.1), 0.3 * index
        bone.parent, parent = parent, bone
    bpy.ops.object.mode_set(mode="OBJECT")


def _run(operator: Any, **options: Any) -> str | None:
    """Return the report of an operator, None if it refused. Raises `Broken` for a Python exception inside."""
    try:
        answer = operator(**options)
    except RuntimeError as refusal:
        sentence = str(refusal)
        if "Traceback" in sentence or "the import failed, see the system console" in sentence:
            raise Broken(sentence) from None
        return None
    if answer != {"FINISHED"}:
        return None
    return str(bpy.context.window_manager.motionbridge_report)


# The scene ----------------------------------------------------------------------------------------------------------


def _check_scene(before: dict[str, Any]) -> None:
    """Raise `Broken` for NaN and infinite numbers in the scene that were not reported."""
    report = str(bpy.context.window_manager.motionbridge_report)
    if "the import failed" in report:
        raise Broken(report)
    if mentions_not_finite(report):
        return
    wrong = next(_not_finite(before), None)
    if wrong is not None:
        raise Broken(f"a NaN or infinite value that the report does not announce: {wrong}")


def _not_finite(before: dict[str, Any]) -> Iterator[str]:
    for owner, attribute in [(mesh, attribute) for mesh in bpy.data.meshes for attribute in mesh.attributes]:
        values = _attribute(attribute)
        if values is not None and not np.isfinite(values).all():
            yield f"mesh {owner.name}, attribute {attribute.name}"
    for armature in bpy.data.armatures:
        for bone in armature.bones:
            if not np.isfinite(np.array([*bone.matrix_local.col])).all():
                yield f"bone {bone.name}"
    bags = (bag for action in bpy.data.actions for bag in compat.all_curve_bags(action))
    for curve in [curve for bag in bags for curve in bag.fcurves]:
        keys = np.empty(2 * len(curve.keyframe_points), np.float32)
        curve.keyframe_points.foreach_get("co", keys)
        if not np.isfinite(keys).all():
            yield f"a curve of {curve.id_data.name}, {curve.data_path}"
    for path, value in snapshot().items():
        if path not in before and any(not np.isfinite(result).all() for _, result in floats_of(value)):
            yield f"{path}: {value}"


_ATTRIBUTES = {
    "FLOAT": ("value", 1),
    "FLOAT_VECTOR": ("vector", 3),
    "FLOAT2": ("vector", 2),
    "FLOAT_COLOR": ("color", 4),
}


def _attribute(attribute: Any) -> Any:
    known = _ATTRIBUTES.get(attribute.data_type)
    if known is None:
        return None
    values = np.empty(len(attribute.data) * known[1], np.float32)
    attribute.data.foreach_get(known[0], values)
    return values


def _check_meshes() -> None:
    """Raise `Broken` if Blender repairs a mesh, except for duplicate faces, which files contain.

    Changes meshes, so it is called last.
    """
    for mesh in bpy.data.meshes:
        sizes = len(mesh.vertices), len(mesh.edges)
        corners = [tuple(face.vertices) for face in mesh.polygons]
        if mesh.validate(verbose=False):
            single = list({tuple(sorted(face)): face for face in reversed(corners)}.values())
            left = [tuple(face.vertices) for face in mesh.polygons]
            if (len(mesh.vertices), len(mesh.edges)) != sizes or sorted(left) != sorted(single):
                raise Broken(f"the mesh {mesh.name} is not valid")


# Exports ------------------------------------------------------------------------------------------------------------


def _export(target: BlenderTarget, data: bytes | None, out: Path, random: Random) -> str:
    if target.exporter is None:
        _check_meshes()
        return "kept"
    out.unlink(missing_ok=True)
    save = getattr(bpy.ops.export_scene, target.exporter)
    compared = random.random() * COMPARED_EVERY < 1
    before = snapshot() if compared else {}
    report = _run(save, filepath=str(out), **target.export_options)
    changed = [line for line in differences(before, snapshot()) if BOOKKEEPING not in line] if compared else []
    if changed:
        raise Broken(f"an export changed the scene: {changed[:5]}")
    outcome = "kept"
    if report is None:
        if out.exists():
            raise Broken("a refused export wrote a file")
        outcome = "not exported"
    elif data is None:
        outcome = "kept in parts"  # the report of the import lists what was left out
    elif out.read_bytes() != data:
        if target.bytes_of != "bones" or " added" not in report:
            raise Broken(f"exported unedited it is changed: {report[:500]}")
        outcome = "kept, and bones added"  # bones of the armature that the file lacks
    if outcome == "kept" and data is not None:
        _check_damaged_bytes(save, target, data, out, random)
    _check_meshes()
    return outcome


def _check_damaged_bytes(save: Any, target: BlenderTarget, data: bytes, out: Path, random: Random) -> None:
    """Damage the stored bytes of the file: the export must refuse, or not need them."""
    kept = list(_sealed())
    if not kept:
        return
    owner, name = random.choice(kept)
    stored = kept_bytes(owner, name)
    at = random.randrange(len(stored))
    damaged = random.choice((
        stored[:at],
        stored + random.randbytes(random.choice((1, 4, 100))),
        stored[:at] + bytes((stored[at] ^ 1 << random.randrange(8),)) + stored[at + 1 :],
        stored[at:] + stored[:at] if len(set(stored)) > 1 and at else stored[:at],
    ))  # fmt: skip
    setattr(owner, name, damaged)
    out.unlink()
    report = _run(save, filepath=str(out), **target.export_options)
    if report is None:
        if out.exists():
            raise Broken(f"an export that was refused for damaged data ({name}) wrote a file")
    elif out.read_bytes() != data:
        raise Broken(f"damaged data ({owner!r}.{name}) was exported: {report[:500]}")


def _sealed() -> Iterator[tuple[Any, str]]:
    """Yield owner and property name of all stored bytes of files, of data-blocks and their property groups."""
    for kind in ("objects", "meshes", "armatures", "actions", "materials", "images", "curves", "scenes", "collections"):
        for block in getattr(bpy.data, kind):
            yield from _sealed_in(block, 0)
    for armature in bpy.data.armatures:
        for bone in armature.bones:
            yield from _sealed_in(bone, 0)


def _sealed_in(owner: Any, depth: int) -> Iterator[tuple[Any, str]]:
    properties = owner.bl_rna.properties
    for prop in properties:
        name = prop.identifier
        if name == "rna_type" or (depth == 0 and not name.startswith("motionbridge")):
            continue
        if name + SEAL in properties:
            if len(kept_bytes(owner, name)):
                yield owner, name
        elif depth > 4:
            continue
        elif prop.type == "POINTER" and issubclass(type(value := getattr(owner, name)), bpy.types.PropertyGroup):
            yield from _sealed_in(value, depth + 1)
        elif prop.type == "COLLECTION":
            for row in getattr(owner, name):
                if isinstance(row, bpy.types.PropertyGroup):
                    yield from _sealed_in(row, depth + 1)


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[sys.argv.index("--") + 1]).read_text(encoding="utf-8")))
    sys.stdout.flush()
    os._exit(0)
