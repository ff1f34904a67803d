"""One mesh of a level as its file wants it: in world space, cut into triangles, with the attributes that count.

Where an object stands does not count for a detail model, which is scattered: its origin is what stands in the ground.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np

from ....blender import attributes
from ....blender import mesh as meshes
from ....blender.attributes import Wanted
from ....blender.mesh import Shape, gather_shape
from ....core import text
from ....core.changes import Changes
from ....core.mesh_transform import transformed
from ....core.model import FILE_FACE, FILE_VERTEX, Attribute, Domain, Mesh
from ....core.problems import Problem
from ....core.report import Report
from ....formats.xray import cform, dm, occluders, som
from ..options import LevelExportOptions
from . import materials as level_materials

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


@dataclass(frozen=True)
class Plan:
    """The bytes that would be written and what in them is not the imported file's."""

    data: bytes
    changes: Changes
    faces: int

    def sentence(self) -> str:
        """``12 positions changed``, or ``nothing changed``."""
        return self.changes.sentence()


def report_problems(problems: Iterable[Problem], name: str, report: Report) -> None:
    """Warn of each."""
    for problem in problems:
        report.warn(problem.line, name)


def gather(context: Any, shown: Any, kind: str, options: LevelExportOptions, report: Report) -> Shape:
    """One mesh in world space with what the file wants to know of it."""
    wanted = dict(WANTED[kind])
    if shown.motionbridge_level.is_part:
        wanted |= {FILE_VERTEX: (Domain.VERTEX, np.int32), FILE_FACE: (Domain.FACE, np.int32)}
    attributes.warn_of_misfits(shown, wanted, report)
    with meshes.evaluated_mesh(context, shown, report, modifiers=options.modifiers) as made:
        shape = gather_shape(shown, wanted, report, made, textured=kind == "DM")
        mesh = shape.mesh
        if kind == "CFORM":
            _take_materials(shown, mesh, report)
    if shape.corner_uvs is not None:
        mesh = dm.with_corner_uvs(mesh, shape.corner_uvs)
    place = np.array(shown.matrix_world, np.float64)
    if kind == "DM":
        place[:3, 3] = 0
    if not np.array_equal(place, np.eye(4)):
        mesh = transformed(mesh, place)
    return replace(shape, mesh=mesh)


def _take_materials(shown: bpy.types.Object, mesh: Mesh, report: Report) -> None:
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
            told = f"{text.counted(differ, 'face')} written with the game material of their Blender material"
            report.note(told, shown.name)
    mesh.attributes[cform.MATERIAL] = Attribute(Domain.FACE, by_slot)


def encode_detail_model(holder: Any, mesh: Mesh, data: bytes) -> Plan:
    """The file of a detail model from its mesh, written into that of ``data``, if any. Raises `WriteError`."""
    base = dm.read(data, "", Report()) if data else None
    shown = holder.motionbridge_level
    properties = dm.Properties(shown.waving, shown.min_scale, shown.max_scale)
    document, changes = dm.encode(mesh, base, properties)
    return Plan(dm.write(document) if changes else data, changes, len(mesh.triangles))
