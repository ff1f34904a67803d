"""What levels cost inside a Blender: collision, occluders and sound occluders in and out, each beside its floor.

The floor of importing is the same arrays handed to Blender by the fastest calls known, that of exporting the same
arrays read from it. The files are made by scripts/bench_library.py; scripts/bench_blender.py starts one measurement.
"""

from __future__ import annotations

import ctypes
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from addon.core.model import FILE_FACE
from addon.core.report import Report
from addon.formats import HEAD_SIZE, detect
from addon.formats.xray import cform, occluders, som
from addon.games.xray.levels import (
    exporting as level_export,
)
from addon.games.xray.levels import (
    importing as level,
)
from addon.games.xray.levels import (
    materials as level_materials,
)
from addon.games.xray.levels.file import LevelOptions
from addon.games.xray.levels.gather import ExportOptions

MEMORY_ABOVE_FLOOR = 3
"""Times the file's size that an import may hold besides what Blender needs for the mesh."""
_KINDS = {np.dtype(np.bool_): "BOOLEAN", np.dtype(np.int32): "INT", np.dtype(np.float32): "FLOAT"}

Arrays = dict[str, Any]


def seconds_of(work: Callable[[], object]) -> float:
    """How long it takes; what it made is not freed before the clock stops."""
    start = time.perf_counter()
    kept = work()
    seconds = time.perf_counter() - start
    del kept
    return seconds


def peak_growth(work: Callable[[], object]) -> float:
    """Bytes by which the most memory ever held grew."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the highest mark becomes what is held now
    before = _highest()
    kept = work()
    grown = _highest() - before
    del kept
    return grown


def _highest() -> float:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1024.0 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


def _import(path: str) -> Any:
    return level.import_file(bpy.context, path, LevelOptions(), Report()).holder


def import_level(path: str) -> float:
    """A file of a level from the disk to what is shown."""
    return seconds_of(lambda: _import(path))


def hand_over_level(path: str) -> float:
    """The floor of importing: the same arrays, ready, by the fastest calls known."""
    positions, corners, faces = trimmed(lambda: _prepared(path))
    return seconds_of(lambda: _handed_over(positions, corners, faces))


def memory_of_level(path: str) -> float:
    """The most that the process grew by while importing."""
    return peak_growth(lambda: _import(path))


def memory_allowed(path: str) -> float:
    """The floor of that: what it grew by when the same arrays were handed over, and three times the file."""
    positions, corners, faces = trimmed(lambda: _prepared(path))
    grown = peak_growth(lambda: _handed_over(positions, corners, faces))
    return grown + MEMORY_ABOVE_FLOOR * Path(path).stat().st_size


def trimmed(prepare: Callable[[], Any]) -> Any:
    """What is prepared, with no memory left over from preparing it: both sides begin with none."""
    arrays = prepare()
    ctypes.CDLL(None).malloc_trim(0)
    return arrays


def _prepared(path: str) -> tuple[Any, Any, Arrays]:
    """Positions, corners and values of faces, as Blender takes them."""
    data = Path(path).read_bytes()
    found = detect(path, data[:HEAD_SIZE])
    if found is None:
        raise ValueError(f"{path} is of no known format")
    mesh = found.module.decode(found.module.read(data, path, Report()), Report())
    faces = {name: one.values for name, one in mesh.attributes.items()}
    if found.name == "cform":
        _, index = level_materials.collision(faces[cform.MATERIAL], {})
    else:
        faces[FILE_FACE] = np.arange(len(mesh.triangles), dtype=np.int32)
        two_sided = faces[occluders.TWO_SIDED]
        shares = faces.get(som.OCCLUSION)
        _, index = (
            level_materials.occluders(two_sided)
            if shares is None
            else level_materials.sound_occluders(shares, two_sided)
        )
    faces |= {"material_index": index, "sharp_face": np.ones(len(mesh.triangles), np.bool_)}
    values = {name: np.ascontiguousarray(one) for name, one in faces.items()}
    return np.ascontiguousarray(mesh.positions).ravel(), np.ascontiguousarray(mesh.triangles).ravel(), values


def _handed_over(positions: Any, corners: Any, faces: Arrays) -> Any:
    data: Any = bpy.data.meshes.new("floor")
    data.vertices.add(len(positions) // 3)
    data.attributes["position"].data.foreach_set("vector", positions)
    data.loops.add(len(corners))
    data.attributes[".corner_vert"].data.foreach_set("value", corners)
    data.polygons.add(len(corners) // 3)
    data.polygons.foreach_set("loop_start", np.arange(0, len(corners), 3, dtype=np.int32))
    for name, values in faces.items():
        data.attributes.new(name, _KINDS[values.dtype], "FACE").data.foreach_set("value", values)
    data.update(calc_edges=True)
    made: Any = bpy.data.objects.new("floor", data)
    bpy.context.scene.collection.objects.link(made)
    return made


def export_level(path: str) -> float:
    """What was imported into a new file, nothing edited."""
    seconds, data = _exported(_import(path))
    if data != Path(path).read_bytes():
        raise ValueError("the exported file is not the imported one")
    return seconds


def export_edited_level(path: str) -> float:
    """The same, a vertex moved and a tenth of the faces given another value."""
    holder = _import(path)
    data = holder.data
    data.vertices[0].co[2] += 0.25
    chosen = {"CFORM": cform.SECTOR}.get(holder.motionbridge_level.kind, occluders.TWO_SIDED)
    values = _column(data, chosen)
    values[::10] = ~values[::10] if values.dtype == np.bool_ else values[::10] + 1
    data.attributes[chosen].data.foreach_set("value", values)
    seconds, exported = _exported(holder)
    if exported == Path(path).read_bytes():
        raise ValueError("the exported file is still the imported one")
    return seconds


def export_drawn_level(path: str) -> float:
    """The same mesh as if it had been drawn: a file of it alone."""
    holder = _import(path)
    return _exported(holder, anew=True)[0]


def _exported(holder: Any, *, anew: bool = False) -> tuple[float, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "exported"
        options = ExportOptions(anew=anew)
        seconds = seconds_of(lambda: level_export.export_file(bpy.context, holder, target, options, Report()))
        return seconds, target.read_bytes()


def read_level(path: str) -> float:
    """The floor of exporting: the same arrays read from Blender, and as many bytes as the file has written."""
    data = _import(path).data
    image = Path(path).read_bytes()
    names = [one.name for one in data.attributes if one.domain == "FACE" and one.name != "sharp_face"]
    with tempfile.TemporaryDirectory() as folder:

        def work() -> object:
            positions = np.empty(3 * len(data.vertices), np.float32)
            data.attributes["position"].data.foreach_get("vector", positions)
            corners = np.empty(len(data.loops), np.int32)
            data.attributes[".corner_vert"].data.foreach_get("value", corners)
            values = [_column(data, name) for name in names]
            (Path(folder) / "floor").write_bytes(image)
            return positions, corners, values

        return seconds_of(work)


def _column(data: Any, name: str) -> Any:
    stored = data.attributes[name]
    kind = next(dtype for dtype, word in _KINDS.items() if word == stored.data_type)
    values = np.empty(len(stored.data), kind)
    stored.data.foreach_get("value", values)
    return values


MEASUREMENTS: tuple[Callable[[str], float], ...] = (
    import_level,
    hand_over_level,
    memory_of_level,
    memory_allowed,
    export_level,
    export_edited_level,
    export_drawn_level,
    read_level,
)
