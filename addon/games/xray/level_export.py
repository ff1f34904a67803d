"""Files of a level out of Blender: what was imported, with what was changed since, or meshes drawn from nothing.

What nobody touched leaves byte for byte. Transforms of objects are applied, polygons cut into triangles; the scene
stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...blender.attributes import Wanted
from ...blender.record import kept
from ...blender.shape import Shape, gather_shape
from ...core import files, mesh_parts
from ...core.errors import WriteError
from ...core.mesh_transform import transformed
from ...core.model import FILE_FACE, FILE_VERTEX, Attribute, Domain, Mesh
from ...core.problems import Problem
from ...core.report import Report
from ...formats.xray import cform, dm, hom, occluders, som
from ...formats.xray.changes import Changes
from . import level_materials
from .level_properties import meshes_of

WANTED: dict[str, Wanted] = {
    "CFORM": {
        cform.MATERIAL: (Domain.FACE, np.int32),
        cform.SUPPRESS_SHADOWS: (Domain.FACE, np.bool_),
        cform.SUPPRESS_WALLMARKS: (Domain.FACE, np.bool_),
        cform.SECTOR: (Domain.FACE, np.int32),
    },
    "HOM": {occluders.TWO_SIDED: (Domain.FACE, np.bool_), FILE_FACE: (Domain.FACE, np.int32)},
    "SOM": {
        occluders.TWO_SIDED: (Domain.FACE, np.bool_),
        som.OCCLUSION: (Domain.FACE, np.float32),
        FILE_FACE: (Domain.FACE, np.int32),
    },
    "DM": {FILE_VERTEX: (Domain.VERTEX, np.int32)},
}
"""Kind -> the attributes that say something to its file."""
SUFFIXES = {"CFORM": ".cform", "HOM": ".hom", "SOM": ".som", "DM": ".dm"}

_PROBLEMS: dict[str, Callable[[Mesh], Iterator[Problem]]] = {
    "CFORM": cform.find_problems,
    "HOM": hom.find_problems,
    "SOM": som.find_problems,
    "DM": dm.find_problems,
}


@dataclass(frozen=True)
class ExportOptions:
    """``modifiers`` applied as the viewport shows them; ``anew`` makes a new file, of the newest version, where one was
    imported; ``backup`` keeps the old file.
    """

    modifiers: bool = False
    anew: bool = False
    backup: bool = True


@dataclass(frozen=True)
class Plan:
    """The bytes that would be written and what in them is not the imported file's."""

    data: bytes
    changes: Changes
    faces: int

    def sentence(self) -> str:
        """``12 positions changed``, or ``nothing changed``."""
        return self.changes.sentence()


def plan_export(context: Any, holder: Any, options: ExportOptions, report: Report) -> Plan:
    """What exporting ``holder`` would write. Raises `WriteError`. The scene stays as it is."""
    kind = holder.motionbridge_level.kind
    if kind not in SUFFIXES:
        raise WriteError(
            f"{holder.name!r} is nothing that a level's files hold",
            remedy="Say what it is in the X-Ray Level panel of the sidebar",
        )
    mesh = _gather_whole(context, holder, options, report)
    data = b"" if options.anew else kept(holder.motionbridge_level, "document")
    plan = _ENCODERS[kind](holder, mesh, data)
    for left_out in plan.changes.left_out:
        report.warn(left_out)
    if plan.changes:
        _report_problems(_PROBLEMS[kind](mesh), holder.name, report)
    return plan


def export_file(context: Any, holder: Any, path: Path | str, options: ExportOptions, report: Report) -> Plan:
    """Write the file, whole or not at all. Raises `WriteError`."""
    plan = plan_export(context, holder, options, report)
    files.write_atomically(path, plan.data, backup=options.backup)
    report.note(plan.sentence(), Path(path).name)
    return plan


def _report_problems(problems: Iterator[Problem], name: str, report: Report) -> None:
    for problem in problems:
        report.warn(f"{problem.sentence}; {problem.remedy[:1].lower()}{problem.remedy[1:]}", name)


def _gather_whole(context: Any, holder: Any, options: ExportOptions, report: Report) -> Mesh:
    # Matrices of objects moved by a script are only up to date after this.
    context.view_layer.update()
    found = meshes_of(holder)
    if not found:
        raise WriteError(f"{holder.name!r} has no meshes any more", remedy="Import the file again")
    kind = holder.motionbridge_level.kind
    shapes = [gather(context, shown, kind, options, report).mesh for shown in found]
    return shapes[0] if found == [holder] else mesh_parts.join(shapes, holder.name)


def gather(context: Any, shown: Any, kind: str, options: ExportOptions, report: Report) -> Shape:
    """One mesh in world space with what the file wants to know of it."""
    wanted = dict(WANTED[kind])
    if shown.motionbridge_level.is_part:
        wanted |= {FILE_VERTEX: (Domain.VERTEX, np.int32), FILE_FACE: (Domain.FACE, np.int32)}
    with _evaluated(context, shown, options, report) as evaluated:
        shape = gather_shape(shown, wanted, report, evaluated, textured=kind == "DM")
        mesh = shape.mesh
        if kind == "CFORM":
            _take_materials(shown, mesh, report)
    if shape.corner_uvs is not None:
        mesh = dm.with_corner_uvs(mesh, shape.corner_uvs)
    place = np.array(shown.matrix_world, np.float64)
    if not np.array_equal(place, np.eye(4)):
        mesh = transformed(mesh, place)
    return replace(shape, mesh=mesh)


@contextmanager
def _evaluated(context: Any, shown: Any, options: ExportOptions, report: Report) -> Iterator[Any]:
    """The mesh that modifiers make, or None for the object's own."""
    active = [change.name for change in shown.modifiers if change.show_viewport]
    if not active or not options.modifiers:
        if active:
            report.warn(f"modifiers are not applied ({', '.join(active)})", shown.name)
        yield None
        return
    if shown.mode == "EDIT":
        shown.update_from_editmode()
    result = shown.evaluated_get(context.evaluated_depsgraph_get())
    try:
        yield result.to_mesh()
    finally:
        result.to_mesh_clear()


def _take_materials(shown: Any, mesh: Mesh, report: Report) -> None:
    """Game materials by Blender's: the slot of a face counts where it stands for one, else the attribute."""
    numbers, index = level_materials.game_numbers(shown.data), mesh.material_index
    if index is None or not len(numbers) or (numbers < 0).all():
        return
    said = mesh.values(cform.MATERIAL, Domain.FACE)
    by_slot = numbers[np.clip(index, 0, len(numbers) - 1)].astype(np.int32)
    unknown = by_slot < 0
    if said is None:
        by_slot[unknown] = 0
    else:
        by_slot[unknown] = said[unknown]
        differ = int(np.count_nonzero(by_slot != said))
        if differ:
            report.note(f"{differ} faces have the game material of their Blender material", shown.name)
    mesh.attributes[cform.MATERIAL] = Attribute(Domain.FACE, by_slot)


def _encode_collision(_holder: Any, mesh: Mesh, data: bytes) -> Plan:
    base = cform.read(data, "", Report()) if data else None
    document, changes = cform.encode(mesh, base)
    return Plan(cform.write(document) if changes else data, changes, len(mesh.triangles))


def _encode_occluders(holder: Any, mesh: Mesh, data: bytes) -> Plan:
    base = hom.read(data, "", Report()) if data else None
    document, changes = hom.encode(mesh, base, _weld(holder))
    return Plan(hom.write(document) if changes else data, changes, len(mesh.triangles))


def _encode_sound_occluders(holder: Any, mesh: Mesh, data: bytes) -> Plan:
    base = som.read(data, "", Report()) if data else None
    document, changes = som.encode(mesh, base, _weld(holder))
    return Plan(som.write(document) if changes else data, changes, len(mesh.triangles))


def _weld(holder: Any) -> float | None:
    distance = float(holder.motionbridge_level.weld)
    return None if distance < 0 else distance


def _encode_detail_model(holder: Any, mesh: Mesh, data: bytes) -> Plan:
    base = dm.read(data, "", Report()) if data else None
    shown = holder.motionbridge_level
    properties = dm.Properties(shown.waving, shown.min_scale, shown.max_scale)
    document, changes = dm.encode(mesh, base, properties)
    return Plan(dm.write(document) if changes else data, changes, len(mesh.triangles))


_ENCODERS: dict[str, Callable[[Any, Mesh, bytes], Plan]] = {
    "CFORM": _encode_collision,
    "HOM": _encode_occluders,
    "SOM": _encode_sound_occluders,
    "DM": _encode_detail_model,
}


@dataclass(frozen=True)
class Offending:
    """A problem of one mesh: ``faces`` and ``vertices`` numbers of Blender's polygons and vertices."""

    shown: Any
    problem: Problem
    faces: NDArray[np.int64]
    vertices: NDArray[np.int64]


def find_problems(context: Any, holder: Any, report: Report) -> list[Offending]:
    """What the game or its tools would not take, or what is worth a look, with the elements of Blender's meshes."""
    kind = holder.motionbridge_level.kind
    found = []
    for shown in meshes_of(holder):
        shape = gather(context, shown, kind, ExportOptions(), report)
        for problem in _PROBLEMS[kind](shape.mesh):
            elements = problem.elements
            on_faces = problem.domain is Domain.FACE
            faces = np.unique(shape.faces[elements]) if on_faces else elements[:0]
            vertices = elements[:0] if on_faces else elements[elements < len(shown.data.vertices)]
            found.append(Offending(shown, problem, faces[faces >= 0].astype(np.int64), vertices))
    return found
