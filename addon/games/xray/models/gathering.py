"""Meshes of models as exports write them: in model space, with the names of bones and surfaces in the game."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ....blender import material, modifiers, sharp_mesh
from ....core.mesh_parts import transformed_polygons
from ....core.model import Domain, PolygonMesh, VertexWeights
from ....core.report import Report
from ....formats.xray.object.mapping import POINT, SMOOTHING
from ..bones import properties as bone_properties
from .exporting import parent_bone, transform_in_model

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ....blender.typed import Context, Material, Object

WANTED = {POINT: (Domain.VERTEX, np.int32), SMOOTHING: (Domain.FACE, np.int32)}


@dataclass(frozen=True)
class Gathered:
    """The mesh of an object as triangles. ``slots``: Blender's materials of its material indices; ``faces``
    (triangles,): the polygon of each triangle, in the mesh that modifiers made.
    """

    obj: Object
    mesh: PolygonMesh
    slots: list[Any]
    faces: NDArray[np.int32]


def gather(context: Context, obj: Object, holder: Object, report: Report, *, apply: bool) -> Gathered:
    """Return a mesh in model space; groups have the game's names of bones, materials those of surfaces.

    ``apply``: with its modifiers and shape keys.
    """
    result = read(context, obj, holder, report, apply=apply)
    transform = transform_in_model(obj, holder)
    if np.abs(transform - np.eye(4)).max() > 1e-6:
        return replace(result, mesh=transformed_polygons(result.mesh, transform))
    return result


def read(context: Context, obj: Object, holder: Object, report: Report, *, apply: bool) -> Gathered:
    """Return the same mesh in the space of its object."""
    with modifiers.evaluated(context, obj, report, apply=apply) as evaluated:
        mesh, faces = sharp_mesh.gather(obj, WANTED, evaluated)
        slots = material.materials_of(obj, evaluated or obj.data)
    mesh.materials = [
        replace(used_material, name=surface_name(used))
        for used_material, used in zip(mesh.materials, slots, strict=True)
    ]
    if holder.type == "ARMATURE":
        game_names = {bone.name: bone_properties.game_name(bone) for bone in holder.data.bones}
        mesh.groups = [game_names.get(group, group) for group in mesh.groups]
    bone = parent_bone(obj, holder)
    if bone is not None and mesh.weights is None:
        follow(mesh, bone_properties.game_name(bone.bone))
    return Gathered(obj, mesh, slots, faces)


def follow(mesh: PolygonMesh, bone: str) -> None:
    """Weight all vertices to one bone."""
    count = len(mesh.positions)
    mesh.groups = [bone]
    mesh.weights = VertexWeights(
        np.arange(count, dtype=np.int32), np.zeros(count, np.int32), np.ones(count, np.float32)
    )


def surface_name(used: Material | None) -> str:
    """Return the name of a material's surface; "" for an empty slot."""
    if used is None:
        return ""
    return str((used.motionbridge_surface.is_surface and used.motionbridge_surface.game_name) or used.name)


def materials_by_surface(gathered: Iterable[Gathered]) -> dict[str, Material]:
    """Return the materials of meshes by the names of their surfaces in lower case; the first one of each name."""
    used: dict[str, Material] = {}
    for mesh in gathered:
        for slot in mesh.slots:
            if slot is not None:
                used.setdefault(surface_name(slot).lower(), slot)
    return used
