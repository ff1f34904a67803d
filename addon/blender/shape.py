"""The geometry and attributes of a mesh alone: nothing is split, nothing worked out, a million faces in no time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.model import Attribute, Domain, Mesh
from ..core.report import Report
from ..core.text import said_of
from . import attributes, material
from .mesh_arrays import (
    FOLDED,
    FOLDED_VALUES,
    LOOSE_UV,
    column,
    corner_uvs,
    folded_rows,
    outside_edit_mode,
    positions_of,
    put_back,
    triangles_of,
)


@dataclass(frozen=True)
class Shape:
    """Geometry and attributes alone. ``faces`` (triangles,) the polygon each was cut from, -1 for one kept back.

    ``corner_uvs`` (triangles, 3, 2) where texture coordinates were asked for and are there.
    """

    mesh: Mesh
    faces: NDArray[np.int32]
    corner_uvs: NDArray[np.float32] | None = None


def gather_shape(
    shown: Any, wanted: attributes.Wanted, report: Report, evaluated: Any = None, *, textured: bool = False
) -> Shape:
    """Vertices, triangles, Blender's material slots and existing ``wanted`` attributes; nothing is split.

    ``evaluated`` is the mesh to read instead, such as the one modifiers make; ``textured`` asks for materials and
    texture coordinates, too.
    """
    with outside_edit_mode(shown) as own:
        data = own if evaluated is None else evaluated
        positions = positions_of(data)
        corners = np.empty(len(data.loops), np.int32)
        if len(corners):
            data.attributes[".corner_vert"].data.foreach_get("value", corners)
        cut, faces = triangles_of(data)
        all_triangles = len(faces) == len(data.polygons)
        folded = folded_rows(data, len(faces))
        lost = (len(data.get(FOLDED, (0, 0))) - 2) // 5 - len(folded)
        if lost:
            problem = said_of(lost, "triangles without area", "are left out because the mesh has changed")
            report.warn(problem, shown.name)
        places = folded[:, 0]
        index = attributes.gather(data, "material_index", Domain.FACE, np.int32)
        if index is None:
            index = np.zeros(len(data.polygons), np.int32)
        mesh = Mesh(
            shown.name,
            positions,
            put_back(corners.reshape(-1, 3) if all_triangles else corners[cut], places, folded[:, 1:4]),
            material_index=put_back(index if all_triangles else index[faces], places, folded[:, 4]),
        )
        for name, (domain, kind) in wanted.items():
            values = attributes.gather(data, name, domain, kind)
            if values is not None and domain is Domain.FACE:
                kept = np.array(data.get(FOLDED_VALUES, {}).get(name, ()), np.uint8).view(values.dtype)
                values = put_back(values if all_triangles else values[faces], places, kept)
            if values is not None:
                mesh.attributes[name] = Attribute(domain, values)
        by_corner = None
        if textured:
            mesh.materials = [material.gather(used) for used in data.materials]
            mesh.material_index = mesh.material_index if mesh.materials else None
            uvs = corner_uvs(data)
            if uvs is not None:
                mesh.uvs = _uvs_of_vertices(data, uvs, corners)
                by_corner = put_back(uvs[cut], places, mesh.uvs[folded[:, 1:4]])
        return Shape(mesh, put_back(faces, places, -1), by_corner)


def _uvs_of_vertices(data: Any, uvs: NDArray[np.float32], corners: NDArray[np.int32]) -> NDArray[np.float32]:
    """(vertices, 2) those of the first corner; of vertices without corners as they were given, else 0."""
    loose = data.attributes.get(LOOSE_UV)
    if loose is None or loose.domain != "POINT":
        result = np.zeros((len(data.vertices), 2), np.float32)
    else:
        result = column(loose.data, "vector", len(data.vertices), 2)
    # Of several written to one place the last stays: backwards, that is the first corner.
    result[corners[::-1]] = uvs[::-1]
    return result
