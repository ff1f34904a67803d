"""Models of Descent 3 out of Blender: gather, encode onto the bytes that were imported, write.

What nobody touched is written as the file had it. A model that was made in Blender becomes a file of version 2300.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...blender import modifiers, polygon_mesh
from ...blender.attributes import Wanted
from ...blender.record import kept
from ...core import files, polygons
from ...core.errors import WriteError
from ...core.model import FILE_FACE, FILE_VERTEX, Domain, Material, PolygonMesh
from ...core.report import Report
from ...formats.descent3 import oof
from ...formats.descent3.oof.mapping import Settings, decode, encode
from ...formats.descent3.oof.mesh import ALPHA
from ...formats.descent3.oof.model import (
    Changes,
    Finding,
    Kind,
    Model,
    Part,
    Point,
    PointKind,
    WeaponBattery,
    check_hierarchy,
    parse_property,
)
from ...formats.descent3.oof.tracks import Precision
from ..plan import FilePlan, OtherBase, starts_from_disk
from . import looks, motion_export, points
from .hierarchy import Chosen, Hierarchy, hierarchy_of

SUFFIX = ".oof"
WANTED: Wanted = {
    FILE_VERTEX: (Domain.VERTEX, np.int32),
    FILE_FACE: (Domain.FACE, np.int32),
    ALPHA: (Domain.VERTEX, np.float32),
}
SPINNING = (Kind.ROTATE, Kind.TURRET)
SHOWN_NORMAL_STEP = 1e-3
"""How far a normal that Blender shows lies from the one it was given: before 4.5 it holds them in 16 bits."""
_NUMBERED = re.compile(r"\.\d{3,}$")


@dataclass(frozen=True)
class ExportOptions:
    """``modifiers`` applied as the viewport shows them; ``shown_normals`` writes the normals that Blender shows, with
    sharp edges, where else those follow the rule of the game's own tools; ``anew`` makes a new file, of version 2300,
    where one was imported; ``backup`` keeps the old file.
    """

    modifiers: bool = False
    shown_normals: bool = False
    anew: bool = False
    backup: bool = True


@dataclass(frozen=True)
class Plan:
    """The bytes that would be written, what in them is not the imported file's, and the model they say."""

    data: bytes
    changes: Changes
    model: Model

    def sentence(self) -> str:
        """``hull: 12 positions changed``, or ``nothing changed``."""
        return self.changes.sentence()


def plan_export(context: Any, chosen: Chosen, options: ExportOptions, report: Report, name: str = "model") -> Plan:
    """What exporting the chosen objects would write to a file of this ``name``.

    Raises `WriteError`. The scene stays as it is.
    """
    data = document_of(chosen)
    base = oof.read(data, name, Report()) if data else None
    before = decode(base, Report()) if base is not None else None
    model = gather_model(context, hierarchy_of(context, chosen, report), before, options, report)
    model.name = name
    if options.anew and before is not None:
        # The file's own motions; else those of the base stay where they are.
        model = replace(model, textures=[], parts=[_with_motion(part, before) for part in model.parts])
        base = None
    document, changes = encode(model, base, Settings(normal_step=SHOWN_NORMAL_STEP))
    for left_out in changes.left_out:
        report.warn(left_out)
    if changes:
        report_findings(model, report)
    return Plan(oof.write(document) if changes or not data else data, changes, model)


def plan_save_back(context: Any, holder: Any, *, if_changed: OtherBase, report: Report) -> FilePlan:
    """A model for the file it came from. Raises `WriteError`, also where that was changed by somebody else."""
    properties = holder.motionbridge_descent_model
    path = bpy.path.abspath(properties.path)
    if not path or properties.member:
        raise WriteError(
            f"{holder.name!r} comes from {'an archive' if path else 'no file'}", remedy="Export it to a file of its own"
        )
    imported = hashlib.sha256(document_of(Chosen(holder))).hexdigest()
    plan = plan_export(context, Chosen(holder), ExportOptions(), report, Path(path).stem)
    files.warn_of_replacing(path, report)
    made = FilePlan(path, plan.data, plan.changes)
    starts_from_disk(path, {imported, properties.saved, made.digest}, if_changed)
    return made


def _with_motion(part: Part, before: Model) -> Part:
    known = 0 <= part.source < len(before.parts)
    return replace(part, motion=before.parts[part.source].motion) if known and part.motion is None else part


def document_of(chosen: Chosen) -> bytes:
    """The file that was imported, empty where none was."""
    return kept(chosen.holder.motionbridge_descent_model, "document") if chosen.holder is not None else b""


def imported_model(chosen: Chosen) -> Model | None:
    """The model as it was imported, None where none was."""
    data = document_of(chosen)
    return decode(oof.read(data, "", Report()), Report()) if data else None


def export_model(context: Any, chosen: Chosen, path: Path | str, options: ExportOptions, report: Report) -> Plan:
    """Write the file, whole or not at all. Raises `WriteError`."""
    path = Path(path)
    plan = plan_export(context, chosen, options, report, path.stem)
    files.warn_of_replacing(path, report)
    files.write_atomically(path, plan.data, backup=options.backup)
    return plan


def report_findings(model: Model, report: Report) -> None:
    """Warn of what the game would show otherwise than meant."""
    for finding in oof.find_problems(model):
        report.warn(finding.problem.line, model.parts[finding.part].name if finding.part >= 0 else model.name)


@dataclass(frozen=True)
class Offending:
    """A problem of one object, or with None of the whole model."""

    shown: Any
    finding: Finding


def find_problems(context: Any, chosen: Chosen, report: Report) -> list[Offending]:
    """What the game would not take, or would show otherwise than meant, with the objects concerned."""
    hierarchy = hierarchy_of(context, chosen, report)
    before = imported_model(chosen)
    model = gather_model(context, hierarchy, before, ExportOptions(), report)
    model.name = ""
    check_hierarchy(model)
    return [
        Offending(hierarchy.parts[finding.part] if finding.part >= 0 else None, finding)
        for finding in oof.find_problems(model)
    ]


# What Blender has ----------------------------------------------------------------------------------------------------


def gather_model(
    context: Any, hierarchy: Hierarchy, before: Model | None, options: ExportOptions, report: Report
) -> Model:
    """The model that objects are; ``before`` is what was imported."""
    # Matrices of objects moved by a script, and what modifiers make, are only up to date after this.
    context.view_layer.update()
    if not hierarchy.parts:
        if hierarchy.holder is not None:
            raise WriteError(
                f"nothing of the model is below {hierarchy.holder.name!r}",
                remedy="Make that the parent of the mesh that carries the others (Ctrl P), or select meshes",
            )
        raise WriteError("there is no mesh to export", remedy="Choose an object or collection that has one")
    motions = motion_export.gather(context, hierarchy, before, Precision(), report)
    parts = []
    for place, shown in enumerate(hierarchy.parts):
        mesh = _gather_mesh(context, shown, options, report)
        part = _gather_part(hierarchy, place, mesh, before)
        parts.append(replace(part, motion=motions[place]))
    model = Model("model", parts, textures=list(before.textures) if before is not None else [])
    model.points = _points_of_file(hierarchy, before, report)
    batteries = _gather_batteries(hierarchy, model.points, before, report)
    for shown in hierarchy.points:
        kind = PointKind[shown.motionbridge_descent_point.kind]
        above = -1 if kind is PointKind.SPECIAL else hierarchy.part_above(shown)
        if above < 0 and kind is not PointKind.SPECIAL and shown.motionbridge_descent_point.source < 0:
            above = 0
        model.points.append(points.gather(shown, above, hierarchy.place_in_part(shown, above)))
    model.batteries = batteries
    return model


def _gather_part(hierarchy: Hierarchy, place: int, mesh: PolygonMesh, before: Model | None) -> Part:
    shown = hierarchy.parts[place]
    said = shown.motionbridge_descent_part
    if not hierarchy.is_straight(shown):
        mesh = turned(mesh, hierarchy.frame(shown)[:3, :3])
    name, text = game_name(shown), said.text
    found = parse_property(text)
    spinning = found is not None and found.works and found.kind in SPINNING
    known = before is not None and 0 <= said.source < len(before.parts)
    old_axis = before.parts[said.source].spin_axis if before is not None and known else None
    axis = np.array(said.spin_axis, np.float64) if spinning else None
    if axis is not None and old_axis is not None and np.abs(axis - old_axis).max() <= SAME_AXIS:
        axis = old_axis
    if before is not None and known and old_axis is None and text == before.parts[said.source].properties:
        # The file has no keys for it: then it does not turn, until somebody names an axis.
        axis = axis if said.is_property_set("spin_axis") else None
    mesh.name = name
    return Part(name, mesh, hierarchy.parents[place], hierarchy.offset(shown), text, None, axis, said.source)


SAME_AXIS = 1e-6
"""A property holds 32 bits of an axis."""


def game_name(shown: Any) -> str:
    """What a part is called in the file: as it was, unless the object was renamed. Blender's ``.001`` is no rename."""
    said = shown.motionbridge_descent_part
    plain = _NUMBERED.sub("", shown.name)
    if said.is_part and plain == _NUMBERED.sub("", said.shown_name):
        return str(said.game_name)
    return plain


def _gather_mesh(context: Any, shown: Any, options: ExportOptions, report: Report) -> PolygonMesh:
    if shown.type != "MESH":
        nothing = np.zeros(0, np.int32)
        return PolygonMesh(shown.name, np.zeros((0, 3), np.float32), nothing, nothing, material_index=nothing)
    with modifiers.evaluated(context, shown, report, modifiers=options.modifiers, without={"ARMATURE"}) as evaluated:
        mesh = polygon_mesh.gather(shown, WANTED, evaluated, normals=options.shown_normals)
    mesh.materials = [looks.gather(slot.material) for slot in shown.material_slots] or [Material("")]
    return mesh


def turned(mesh: PolygonMesh, turn: NDArray[np.float64]) -> PolygonMesh:
    """The mesh with a transform (3, 3) applied; where it mirrors, faces are turned so that outside stays outside."""
    result = replace(mesh, positions=(mesh.positions @ turn.T).astype(np.float32))
    if mesh.normals is not None:
        # Normals stand on surfaces, which a stretched space tilts the other way.
        normals = mesh.normals @ np.linalg.pinv(turn)
        length = np.linalg.norm(normals, axis=1, keepdims=True)
        result.normals = np.divide(normals, length, out=np.zeros_like(normals), where=length > 0).astype(np.float32)
    if np.linalg.det(turn) < 0:
        order = polygons.reversed_corners(mesh.counts)
        result.corners = mesh.corners[order]
        result.uvs = mesh.uvs[order] if mesh.uvs is not None else None
    return result


def _points_of_file(hierarchy: Hierarchy, before: Model | None, report: Report) -> list[Point]:
    """The file's points where no objects were made of them, on the parts that are still there."""
    if before is None or hierarchy.holder is None or hierarchy.holder.motionbridge_descent_model.shown_points:
        return []
    places: dict[int, int] = {}
    for place, shown in enumerate(hierarchy.parts):
        places.setdefault(shown.motionbridge_descent_part.source, place)
    result = []
    for point in before.points:
        place = places.get(point.parent, -1)
        if place < 0 <= point.parent:
            part = before.parts[point.parent].name
            report.warn(f"points of {part!r}, which is not in the model any more, are left out", point.kind.value)
            continue
        straight = place < 0 or hierarchy.is_straight(hierarchy.parts[place])
        turn = np.eye(3) if straight else hierarchy.frame(hierarchy.parts[place])[:3, :3]
        result.append(points.turned(replace(point, parent=place), turn))
    return result


def _gather_batteries(
    hierarchy: Hierarchy, of_file: list[Point], before: Model | None, report: Report
) -> list[WeaponBattery]:
    """Batteries by number; ``of_file``, those points of ``before`` that are no objects, come before the others."""
    if hierarchy.holder is None:
        return []
    said = hierarchy.holder.motionbridge_descent_model
    guns: list[Any] = [point.source for point in of_file if point.kind is PointKind.GUN]
    guns += [shown for shown in hierarchy.points if shown.motionbridge_descent_point.kind == "GUN"]
    numbers: dict[Any, int | None] = {gun: number for number, gun in enumerate(guns)}
    places: dict[Any, int | None] = {shown: place for place, shown in enumerate(hierarchy.parts)}
    if before is not None and not said.shown_points:
        # Of these the file's numbers mean nothing any more.
        numbers |= {gone: None for gone in range(len(before.of_kind(PointKind.GUN))) if gone not in numbers}
    return [
        WeaponBattery(_numbers(row.guns, numbers, "gun point", report), _numbers(row.turrets, places, "turret", report))
        for row in said.batteries
    ]


def _numbers(members: Any, there: dict[Any, int | None], noun: str, report: Report) -> list[int]:
    """The numbers that members of a battery have now, by their object, or where none was made by their old number."""
    result = []
    for member in members:
        number = there.get(member.shown)
        if member.shown is None and not member.was_shown:
            number = there.get(member.number, member.number)
        if number is not None:
            result.append(number)
        else:
            name = member.shown.name if member.shown is not None else "deleted"
            report.warn(f"a {noun} of a battery is not in the model any more; left out", name)
    return result
