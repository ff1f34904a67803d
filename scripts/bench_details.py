"""What detail objects cost inside a Blender: ground and models in and out, each beside its floor.

As in scripts/bench_level.py the floor of importing is the same arrays handed to Blender by the fastest calls known,
edges included, and that of exporting the same arrays read from it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from bench_level import MEMORY_ABOVE_FLOOR, peak_growth, seconds_of, trimmed

from addon.core.model import FILE_FACE, FILE_VERTEX
from addon.core.report import Report
from addon.formats.xray import details, dm
from addon.games.xray.levels import (
    details as level_details,
)
from addon.games.xray.levels import (
    exporting as level_export,
)
from addon.games.xray.levels import (
    importing as level,
)
from addon.games.xray.levels.file import LevelOptions
from addon.games.xray.levels.gather import ExportOptions

_KINDS = {
    (np.dtype(np.bool_), 1): ("BOOLEAN", "value"),
    (np.dtype(np.int32), 1): ("INT", "value"),
    (np.dtype(np.float32), 1): ("FLOAT", "value"),
    (np.dtype(np.float32), 4): ("FLOAT_COLOR", "color"),
}


@dataclass
class Arrays:
    """A mesh as Blender takes it; ``edges`` and ``uvs`` or None."""

    positions: Any
    corners: Any
    starts: Any
    edges: Any
    uvs: Any
    values: dict[tuple[str, str], Any]


def _import(path: str) -> Any:
    return level.import_file(bpy.context, path, LevelOptions(), Report()).holder


def import_details(path: str) -> float:
    """From the disk to what is shown."""
    return seconds_of(lambda: _import(path))


def hand_over_details(path: str) -> float:
    """The floor of importing: the same arrays, ready."""
    arrays = _prepared(path)
    return seconds_of(lambda: _handed_over(arrays))


def memory_of_details(path: str) -> float:
    """The most that the process grew by while importing."""
    return peak_growth(lambda: _import(path))


def memory_allowed_of_details(path: str) -> float:
    """The floor of that: what it grew by when the same arrays were handed over, and three times the file."""
    arrays = trimmed(lambda: _prepared(path))
    grown = peak_growth(lambda: _handed_over(arrays))
    return grown + MEMORY_ABOVE_FLOOR * Path(path).stat().st_size


def _prepared(path: str) -> list[Arrays]:
    document = details.read(Path(path).read_bytes(), path, Report())
    points = details.decode(document, Report())
    faces = {name: one.values for name, one in points.attributes.items()}
    count = len(points.positions)
    faces[FILE_FACE] = np.arange(count, dtype=np.int32)
    faces["material_index"] = level_details.slots_of(faces.__getitem__, "MODEL")[1]
    around = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], np.float32)
    corners = np.arange(4 * count, dtype=np.int32)
    edges = np.stack([corners, np.roll(corners.reshape(-1, 4), -1, axis=1).ravel()], axis=1)
    values = {(name, "FACE"): np.ascontiguousarray(column) for name, column in faces.items()}
    positions = (points.positions[:, None] + around).ravel()
    made = [Arrays(positions, corners, corners[::4].copy(), edges.ravel(), None, values)]
    for number in sorted(document.models):
        mesh = dm.decode(document.models[number], Report())
        corners = np.ascontiguousarray(mesh.triangles).ravel()
        values = {
            (FILE_VERTEX, "POINT"): np.arange(len(mesh.positions), dtype=np.int32),
            ("sharp_face", "FACE"): np.ones(len(mesh.triangles), np.bool_),
        }
        starts = np.arange(0, len(corners), 3, dtype=np.int32)
        positions = np.ascontiguousarray(mesh.positions).ravel()
        uvs = None if mesh.uvs is None else mesh.uvs[corners].ravel()
        made.append(Arrays(positions, corners, starts, None, uvs, values))
    return made


def _handed_over(meshes: list[Arrays]) -> list[Any]:
    made = []
    for mesh in meshes:
        data: Any = bpy.data.meshes.new("floor")
        data.vertices.add(len(mesh.positions) // 3)
        data.attributes["position"].data.foreach_set("vector", mesh.positions)
        data.loops.add(len(mesh.corners))
        data.attributes[".corner_vert"].data.foreach_set("value", mesh.corners)
        data.polygons.add(len(mesh.starts))
        data.polygons.foreach_set("loop_start", mesh.starts)
        if mesh.edges is not None:
            data.edges.add(len(mesh.edges) // 2)
            data.attributes[".edge_verts"].data.foreach_set("value", mesh.edges)
            data.attributes[".corner_edge"].data.foreach_set("value", mesh.corners)
        for (name, domain), values in mesh.values.items():
            kind, field = _KINDS[values.dtype, 1 if values.ndim == 1 else values.shape[1]]
            data.attributes.new(name, kind, domain).data.foreach_set(field, values.ravel())
        if mesh.uvs is not None:
            data.uv_layers.new(name="UVMap", do_init=False).uv.foreach_set("vector", mesh.uvs)
        data.update(calc_edges=mesh.edges is None)
        shown: Any = bpy.data.objects.new("floor", data)
        bpy.context.scene.collection.objects.link(shown)
        made.append(shown)
    return made


def export_details(path: str) -> float:
    """What was imported into a new file, nothing edited."""
    seconds, data = _exported(_import(path))
    if data != Path(path).read_bytes():
        raise ValueError("the exported file is not the imported one")
    return seconds


def export_edited_details(path: str) -> float:
    """The same, a tenth of the slots given another model, a vertex of a model moved."""
    ground = _import(path)
    stored = ground.data.attributes[details.MODEL[0]]
    values = np.empty(len(stored.data), np.int32)
    stored.data.foreach_get("value", values)
    values[::10] = (values[::10] + 1) % 7
    stored.data.foreach_set("value", values)
    ground.motionbridge_level.models.objects[0].data.vertices[0].co[2] += 0.25
    seconds, data = _exported(ground)
    if data == Path(path).read_bytes():
        raise ValueError("the exported file is still the imported one")
    return seconds


def _exported(ground: Any) -> tuple[float, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "level.details"
        options = ExportOptions()
        seconds = seconds_of(lambda: level_export.export_file(bpy.context, ground, target, options, Report()))
        return seconds, target.read_bytes()


def read_details(path: str) -> float:
    """The floor of exporting: the same arrays read from Blender, and as many bytes as the file has written."""
    ground = _import(path)
    meshes = [ground.data, *(shown.data for shown in ground.motionbridge_level.models.objects)]
    image = Path(path).read_bytes()
    widths = {"BOOLEAN": (np.bool_, 1), "INT": (np.int32, 1), "FLOAT": (np.float32, 1), "FLOAT_COLOR": (np.float32, 4)}
    with tempfile.TemporaryDirectory() as folder:

        def work() -> object:
            read = []
            for data in meshes:
                positions = np.empty(3 * len(data.vertices), np.float32)
                data.attributes["position"].data.foreach_get("vector", positions)
                corners = np.empty(len(data.loops), np.int32)
                data.attributes[".corner_vert"].data.foreach_get("value", corners)
                read += [positions, corners]
                for one in data.attributes:
                    if one.domain == "FACE" and one.data_type in widths and not one.name.startswith("."):
                        kind, width = widths[one.data_type]
                        values = np.empty(width * len(one.data), kind)
                        one.data.foreach_get("color" if width == 4 else "value", values)
                        read.append(values)
                for layer in data.uv_layers:
                    uvs = np.empty(2 * len(data.loops), np.float32)
                    layer.uv.foreach_get("vector", uvs)
                    read.append(uvs)
            (Path(folder) / "floor").write_bytes(image)
            return read

        return seconds_of(work)


MEASUREMENTS: tuple[Callable[[str], float], ...] = (
    import_details,
    hand_over_details,
    memory_of_details,
    memory_allowed_of_details,
    export_details,
    export_edited_details,
    read_details,
)
