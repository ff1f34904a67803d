"""Files of a level out of Blender: what was imported, with what was changed since, or meshes drawn from nothing.

What nobody touched leaves byte for byte. Transforms of objects are applied, polygons cut into triangles; the scene
stays as it is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ....blender.mesh import Offending
from ....blender.properties import kept
from ....core import files, mesh_parts, pausing
from ....core.errors import WriteError
from ....core.model import Domain, Mesh
from ....core.problems import Problem
from ....core.report import Report
from ....formats.xray import cform, dm, hom, som
from ...plan import FilePlan, OtherBase, starts_from_disk
from ..options import LevelExportOptions
from . import details_exporting as level_details_export
from . import layer_checks
from . import visuals_exporting as visuals_export
from .gather import Plan, encode_detail_model, gather, report_problems
from .properties import meshes_of

SUFFIXES = {"CFORM": ".cform", "HOM": ".hom", "SOM": ".som", "DETAILS": ".details", "DM": ".dm", "LEVEL": ""}
CHECKED = frozenset({*SUFFIXES, "AI"})
"""Kinds that `find_problems` looks at."""

_PROBLEMS: dict[str, Callable[[Mesh, LevelExportOptions], Iterator[Problem]]] = {
    "CFORM": lambda mesh, options: cform.find_problems(mesh, options.game_materials),
    "HOM": lambda mesh, _: hom.find_problems(mesh),
    "SOM": lambda mesh, _: som.find_problems(mesh),
    "DM": lambda mesh, _: dm.find_problems(mesh),
}


def plan_export(context: Any, holder: Any, options: LevelExportOptions, report: Report) -> Plan:
    """What exporting ``holder`` would write. Raises `WriteError`. The scene stays as it is."""
    kind = holder.motionbridge_level.kind
    if kind not in SUFFIXES:
        raise WriteError(
            f"{holder.name!r} is not part of a level",
            remedy="Set its kind in the X-Ray Level panel of the sidebar",
        )
    data = b"" if options.anew else kept(holder.motionbridge_level, "document")
    if kind == "DETAILS":
        context.view_layer.update()
        return level_details_export.plan(context, holder, data, report)
    if kind == "LEVEL":
        context.view_layer.update()
        return visuals_export.plan(context.scene, holder, data, report)
    mesh = _gather_whole(context, holder, options, report)
    plan = _ENCODERS[kind](holder, mesh, data)
    for left_out in plan.changes.left_out:
        report.warn(left_out)
    if not plan.faces:
        report.warn("there is no triangle in it; the game treats the file as missing", holder.name)
    if plan.changes:
        report_problems(_PROBLEMS[kind](mesh, options), holder.name, report)
    return plan


def export_file(
    context: bpy.types.Context, holder: Any, path: Path | str, options: LevelExportOptions, report: Report
) -> Plan:
    """Write the file, whole or not at all; a level with the vertices that were edited beside it. Raises `WriteError`.

    The scene stays as it is, unless the imported files were replaced: these are then the ones to start from.
    """
    plan = plan_export(context, holder, options, report)
    made = FilePlan(str(path), plan.data, plan.changes)
    if isinstance(plan, visuals_export.LevelPlan):
        made = visuals_export.export_plan(holder, Path(path), plan)
    for one in made.plans:
        files.warn_of_replacing(one.path, report)
    made.write(backup=options.backup)
    if isinstance(made, visuals_export.LevelFilePlan):
        made.settle_exported(holder)
        *beside, _ = made.plans
        if beside:
            names = ", ".join(Path(one.path).name for one in beside)
            report.note(f"also written: {names}", str(Path(path).parent))
    return plan


def plan_save_back(context: bpy.types.Context, holder: Any, *, if_changed: OtherBase, report: Report) -> FilePlan:
    """What of a level ``holder`` is, for the file it came from. Raises `WriteError`, also where that was changed."""
    properties = holder.motionbridge_level
    path = bpy.path.abspath(properties.path)
    if not path:
        raise WriteError(f"{holder.name!r} comes from no file", remedy="Export it to one")
    imported = hashlib.sha256(kept(properties, "document")).hexdigest()
    plan = plan_export(context, holder, LevelExportOptions(), report)
    files.warn_of_replacing(path, report)
    made = FilePlan(path, plan.data, plan.changes)
    if isinstance(plan, visuals_export.LevelPlan) and plan.beside is not None:
        made = visuals_export.LevelFilePlan(path, plan)
    starts_from_disk(path, {imported, properties.saved, made.digest}, if_changed)
    return made


def settle(holder: Any, plan: FilePlan) -> None:
    """The files on disk are known."""
    holder.motionbridge_level.saved = plan.digest
    if isinstance(plan, visuals_export.LevelFilePlan):
        plan.settle(holder)


def _gather_whole(context: Any, holder: Any, options: LevelExportOptions, report: Report) -> Mesh:
    # Matrices of objects moved by a script are only up to date after this.
    context.view_layer.update()
    found = meshes_of(holder)
    if not found:
        raise WriteError(f"{holder.name!r} has no meshes", remedy="Import the file again")
    kind = holder.motionbridge_level.kind
    shapes = [gather(context, shown, kind, options, report).mesh for shown in found]
    return shapes[0] if found == [holder] else mesh_parts.join(shapes, holder.name)


def _encode_collision(_holder: Any, mesh: Mesh, data: bytes) -> Plan:
    base = cform.read(data, "", Report()) if data else None
    document, changes = cform.encode(mesh, base)
    return Plan(cform.write(document) if changes else data, changes, len(mesh.triangles))


def _encode_occluders(module: Any, holder: Any, mesh: Mesh, data: bytes) -> Plan:
    base = module.read(data, "", Report()) if data else None
    distance = float(holder.motionbridge_level.weld)
    document, changes = module.encode(mesh, base, None if distance < 0 else distance)
    return Plan(module.write(document) if changes else data, changes, len(mesh.triangles))


_ENCODERS: dict[str, Callable[[Any, Mesh, bytes], Plan]] = {
    "CFORM": _encode_collision,
    "HOM": partial(_encode_occluders, hom),
    "SOM": partial(_encode_occluders, som),
    "DM": encode_detail_model,
}


def find_problems(
    context: bpy.types.Context, holder: Any, report: Report, options: LevelExportOptions | None = None
) -> list[Offending]:
    """What the game or its tools would not take, or what is worth a look, with the elements of Blender's meshes."""
    options = LevelExportOptions() if options is None else options
    kind = holder.motionbridge_level.kind
    if kind == "DETAILS":
        # Of the ground a vertex is a slot, shown as a face.
        problems = level_details_export.find_problems(holder)
        return [Offending(holder, problem, problem.elements, problem.elements[:0]) for problem in problems]
    if kind in ("LEVEL", "AI"):
        across = layer_checks.find(context.scene, holder)
        return [Offending(one, problem, problem.elements, problem.elements[:0]) for one, problem in across]
    found = []
    shapes = meshes_of(holder)
    for number, shown in enumerate(shapes):
        pausing.pause(number / len(shapes))
        shape = gather(context, shown, kind, options, report)
        for problem in _PROBLEMS[kind](shape.mesh, options):
            pausing.pause((number + 0.5) / len(shapes))
            elements = problem.elements
            on_faces = problem.domain is Domain.FACE
            faces = np.unique(shape.faces[elements]) if on_faces else elements[:0]
            vertices = elements[:0] if on_faces else elements[elements < len(shown.data.vertices)]
            found.append(Offending(shown, problem, faces[faces >= 0].astype(np.int64), vertices))
    return found
