"""A level's file: the result of its import, and gathering one mesh for its export.

A mesh is gathered in world space, triangulated, with the attributes of its kind. A detail model's object location is
ignored, because the game scatters the model: its origin is the point at ground level.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import bpy
import numpy as np

from ....blender import attributes, material, modifiers, views
from ....blender.attributes import Wanted
from ....blender.mesh import Shape, gather_shape
from ....blender.transforms import world_matrix
from ....core.changes import Changes
from ....core.mesh_parts import transformed
from ....core.model import FILE_FACE, FILE_VERTEX, Domain, Mesh
from ....core.problems import Problem
from ....core.report import Message, Report, listed, say
from ....formats.xray import cform, dm, occluders, som
from ..models.exporting import warn_of_pictures, with_game_names
from ..options import LevelExportOptions
from . import game_materials

if TYPE_CHECKING:
    from ....blender.typed import Context, Object


@dataclass
class ImportedLevelFile:
    """``holder``: the object that stores the file, None if an error file contains no errors; ``meshes``: all objects of
    it.

    ``collections``: what else the file contains: the models of `.details`, or the visuals of a level by sector, whose
    objects are ``held``.
    """

    kind: str
    name: str
    holder: Any
    meshes: list[Any]
    counts: Message
    collections: list[Any] = field(default_factory=list)
    held: list[Any] = field(default_factory=list)

    @property
    def all_objects(self) -> list[Any]:
        """All created objects, also those that are in a collection of ``collections``."""
        return [*self.held, *self.objects]

    @property
    def objects(self) -> list[Any]:
        """All created objects that are in no collection yet."""
        return [obj for obj in dict.fromkeys([self.holder, *self.meshes]) if obj is not None]


def new_object(name: str, data: Any, kind: str, row: int = -1) -> Any:
    """Create an object of a level, not linked to the scene yet; ``row``: its index in the file."""
    obj: Any = bpy.data.objects.new(name, data)
    obj.motionbridge_level.kind, obj.motionbridge_level.row = kind, row
    return obj


Encoded: TypeAlias = tuple[bytes, Changes]
"""The bytes to be written, and how they differ from the imported file."""

# Meshes ---------------------------------------------------------------------------------------------------------------

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
"""Kind -> attributes that its file stores."""


def report_problems(problems: Iterable[Problem], name: str, report: Report) -> None:
    """Warn of each problem."""
    for problem in problems:
        report.warn(problem.line, name)


def gather(context: Context, obj: Object, kind: str, options: LevelExportOptions, report: Report) -> Shape:
    """Return one mesh in world space with the attributes that its file stores."""
    wanted = dict(WANTED[kind])
    if obj.motionbridge_level.is_part:
        wanted |= {FILE_VERTEX: (Domain.VERTEX, np.int32), FILE_FACE: (Domain.FACE, np.int32)}
    attributes.warn_of_misfits(obj, wanted, report)
    if modifiers.is_bent(obj):
        report.warn("an armature bends it, which is not exported; apply its Armature modifier", obj.name)
    with modifiers.evaluated(context, obj, report, apply=options.modifiers) as evaluated:
        shape = gather_shape(obj, wanted, report, evaluated, textured=kind == "DM")
        mesh = shape.mesh
        if kind == "CFORM":
            game_materials.set_from_slots(obj, evaluated, mesh, report)
    if shape.corner_uvs is not None:
        mesh = dm.with_corner_uvs(mesh, shape.corner_uvs)
    matrix = world_matrix(obj)
    if kind == "DM":
        matrix[:3, 3] = 0
    if not np.array_equal(matrix, np.eye(4)):
        mesh = transformed(mesh, matrix)
    return replace(shape, mesh=mesh)


def encode_detail_model(holder: Object, mesh: Mesh, data: bytes, report: Report) -> Encoded:
    """Encode a detail model from its mesh onto the file ``data``, if that is not empty. Raises `WriteError`."""
    base = dm.read(data, "", Report()) if data else None
    if mesh.materials:
        default = replace(dm.DEFAULT_MATERIAL, texture="") if base is None else dm.material_of(base)
        materials = material.materials_of(holder, holder.data)
        used = {0} if mesh.material_index is None else set(mesh.material_index.tolist())
        for number in used:
            used_material = mesh.materials[number]
            mesh.materials[number] = (
                with_game_names(materials[number], default, holder.name, report)
                if number < len(materials)
                else replace(
                    used_material,
                    texture=used_material.texture or default.texture,
                    shader=used_material.shader or default.shader,
                )
            )
        warn_of_pictures(materials, report)
    settings = holder.motionbridge_level
    properties = dm.Properties(settings.waving, settings.min_scale, settings.max_scale)
    document, changes = dm.encode(mesh, base, properties)
    return dm.write(document) if changes else data, changes


# Objects in sentences -------------------------------------------------------------------------------------------------

MOST_NAMED = 3
"""Most objects that a sentence names; more are counted."""


def listed_objects(objects: Sequence[Object]) -> str:
    """Return a text such as ``'earth 00001', 'wall 00002' and 3 more``."""
    return listed_names([obj.name for obj in objects])


def listed_names(names: Sequence[str]) -> str:
    """Return the same text for names, also of objects that no longer exist."""
    return listed([repr(name) for name in names], MOST_NAMED)


# How far the 3D views show --------------------------------------------------------------------------------------------

CLIP_END_FACTOR = 4.0
"""Clip End as a multiple of the objects' size: a usual lens shows them as a whole from this distance."""
CLIP_RATIO = 1e5
"""Clip End divided by Clip Start, as in Blender's defaults; with a larger ratio, faces close to each other flicker."""


def extend_clipping(context: Context, objects: Sequence[Object], report: Report) -> None:
    """Increase Clip End of the 3D views in open workspaces if it is too small to show the objects as a whole.

    Clip End is never reduced, and cameras are not changed.
    """
    meshes = [obj for obj in objects if obj.type == "MESH" and len(obj.data.vertices)]
    box = views.box_of(meshes or [obj for obj in objects if obj.instance_collection])
    if box is None:
        return
    needed = CLIP_END_FACTOR * float(np.linalg.norm(box[1] - box[0]))
    near = [space for _, space in views.views_of(context) if space.clip_end < needed]
    for space in near:
        space.clip_end = needed
        space.clip_start = max(space.clip_start, needed / CLIP_RATIO)
    if near:
        report.note(say("3D views show up to {:.0f} m now (View > Clip End), to show the whole level", needed))
