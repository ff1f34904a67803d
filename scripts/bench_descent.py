"""What models of Descent 3 cost inside a Blender: as large as the engine takes, in and out, each beside its floor.

The floor of importing is the same arrays handed to Blender by the fastest calls known, normals included, that of
exporting the same arrays read from it. scripts/bench_blender.py starts one measurement.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from bench_level import seconds_of

from addon.blender import compat
from addon.core.report import Report
from addon.formats.descent3 import oof
from addon.games.descent3 import model, model_export
from addon.games.descent3.hierarchy import Chosen


def _import(path: str) -> model.ImportedModel:
    return model.import_model(bpy.context, model.Source(Path(path)), model.ImportOptions(), Report())


def import_oof(path: str) -> float:
    """From the disk to what is shown."""
    return seconds_of(lambda: _import(path))


def hand_over_oof(path: str) -> float:
    """The floor of importing: the same arrays, ready."""
    decoded = oof.decode(oof.read(Path(path).read_bytes(), path, Report()), Report())
    meshes = [part.mesh for part in decoded.parts]
    starts = [np.cumsum(mesh.counts, dtype=np.int32) - mesh.counts for mesh in meshes]
    normals = [np.ascontiguousarray(mesh.normals[mesh.corners]) for mesh in meshes]

    def work() -> object:
        made = []
        for mesh, first, by_corner in zip(meshes, starts, normals, strict=True):
            data: Any = bpy.data.meshes.new("floor")
            data.vertices.add(len(mesh.positions))
            data.attributes["position"].data.foreach_set("vector", mesh.positions.ravel())
            data.loops.add(len(mesh.corners))
            data.attributes[".corner_vert"].data.foreach_set("value", mesh.corners)
            data.polygons.add(len(first))
            data.polygons.foreach_set("loop_start", first)
            data.uv_layers.new(name="UVMap", do_init=False).uv.foreach_set("vector", mesh.uvs.ravel())
            data.update(calc_edges=True)
            data.shade_smooth()
            compat.set_corner_normals(data, by_corner)
            shown: Any = bpy.data.objects.new("floor", data)
            bpy.context.scene.collection.objects.link(shown)
            made.append(shown)
        return made

    return seconds_of(work)


def export_oof(path: str) -> float:
    """What was imported into a new file, nothing edited."""
    seconds, data = _exported(_import(path))
    if data != Path(path).read_bytes():
        raise ValueError("the exported file is not the imported one")
    return seconds


def export_edited_oof(path: str) -> float:
    """The same, every tenth vertex of every sub-object moved."""
    made = _import(path)
    for shown in made.parts:
        stored = shown.data.attributes["position"]
        values = np.empty(3 * len(stored.data), np.float32)
        stored.data.foreach_get("vector", values)
        values[2::30] += 0.25
        stored.data.foreach_set("vector", values)
        shown.data.update()
    seconds, data = _exported(made)
    if data == Path(path).read_bytes():
        raise ValueError("the exported file is still the imported one")
    return seconds


def _exported(made: model.ImportedModel) -> tuple[float, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "model.oof"
        chosen, options = Chosen(made.holder), model_export.ExportOptions()
        seconds = seconds_of(lambda: model_export.export_model(bpy.context, chosen, target, options, Report()))
        return seconds, target.read_bytes()


def read_oof(path: str) -> float:
    """The floor of exporting: the same arrays read from Blender, and as many bytes as the file has written."""
    meshes = [shown.data for shown in _import(path).parts]
    image = Path(path).read_bytes()
    with tempfile.TemporaryDirectory() as folder:

        def work() -> object:
            read = []
            for data in meshes:
                positions = np.empty(3 * len(data.vertices), np.float32)
                data.attributes["position"].data.foreach_get("vector", positions)
                corners = np.empty(len(data.loops), np.int32)
                data.attributes[".corner_vert"].data.foreach_get("value", corners)
                uvs = np.empty(2 * len(data.loops), np.float32)
                data.uv_layers[0].uv.foreach_get("vector", uvs)
                read += [positions, corners, uvs]
            (Path(folder) / "floor").write_bytes(image)
            return read

        return seconds_of(work)


MEASUREMENTS: tuple[Callable[[str], float], ...] = (
    import_oof,
    hand_over_oof,
    export_oof,
    export_edited_oof,
    read_oof,
)
