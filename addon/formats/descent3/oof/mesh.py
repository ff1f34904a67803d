"""The mesh of a sub-object in Blender's axes: polygons, texture coordinates by corner, a material for each look.

The axes are mirrored, so faces are turned round; their first corner stays the first. What a mesh cannot hold (faces of
fewer than three corners, or that use a vertex twice or one that is not there) is left out, and comes back on export.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....core import polygons, space
from ....core.model import FILE_FACE, FILE_VERTEX, Attribute, Domain, Material, PolygonMesh
from ....core.report import Report
from .faces import Faces
from .geometry import SubObject

ALPHA, FACE_NORMAL, SIZES = "alpha", "face_normal", "lightmap_size"
"""Attributes: alpha of a vertex (float32), stored normal of a face (3), the editor's two sizes of a face (2).

The last two are for looking at; an export works out those of changed faces anew.
"""


def holdable(faces: Faces, vertices: int) -> NDArray[np.bool_]:
    """(faces,) whether a mesh can hold them."""
    corners = faces.corners["vertex"]
    there = polygons.all_in_face((corners >= 0) & (corners < vertices), faces.counts)
    result: NDArray[np.bool_] = there & (faces.counts >= 3) & ~polygons.repeats_a_vertex(faces.counts, corners)
    return result


def looks(faces: Faces, textures: list[str]) -> tuple[list[Material], NDArray[np.int32]]:
    """The materials of faces, each look once, and (faces,) which each face has."""
    keys = np.where(faces.is_textured, faces.rows["texture"].astype(np.int64), -1)
    red, green, blue = (faces.rows["colour"][:, channel].astype(np.int64) for channel in range(3))
    keys = np.where(faces.is_textured, keys, -(1 + (red << 16 | green << 8 | blue)) - (1 << 40))
    different, place = np.unique(keys, return_inverse=True)
    materials: list[Material] = []
    numbers: dict[tuple[str, object], int] = {}
    index = np.zeros(len(different), np.int32)
    # Textures first, in the order of the table, then colours.
    order = sorted(range(len(different)), key=lambda n: (different[n] < -(1 << 40), abs(int(different[n]))))
    for number in order:
        material = _look(int(different[number]), textures)
        index[number] = numbers.setdefault((material.texture or material.name, material.colour), len(materials))
        if index[number] == len(materials):
            materials.append(material)
    return materials, index[place.ravel()]


def _look(key: int, textures: list[str]) -> Material:
    if key < -(1 << 40):
        code = -key - (1 << 40) - 1
        return Material(f"#{code:06x}", colour=(code >> 16, code >> 8 & 255, code & 255))
    if 0 <= key < len(textures):
        return Material(textures[key] or "no name", textures[key])
    return Material(f"missing texture {key}")


def decode_mesh(part: SubObject, textures: list[str], report: Report) -> PolygonMesh:
    """The mesh around the part's pivot; attributes `FILE_VERTEX` and `FILE_FACE` say which rows are whose."""
    kept = np.flatnonzero(holdable(part.faces, len(part.positions)))
    if len(kept) < len(part.faces):
        gone = len(part.faces) - len(kept)
        report.warn(f"{gone} faces are none to Blender (a vertex twice or missing); kept for export", part.label)
    counts = part.faces.counts[kept]
    corners = part.faces.corners[polygons.corners_of(part.faces.counts, kept)][polygons.reversed_corners(counts)]
    materials, index = looks(part.faces, textures)
    count = len(part.positions)
    attributes = {
        FILE_VERTEX: Attribute(Domain.VERTEX, np.arange(count, dtype=np.int32)),
        FILE_FACE: Attribute(Domain.FACE, kept.astype(np.int32)),
        ALPHA: Attribute(Domain.VERTEX, np.ones(count, np.float32) if part.alphas is None else part.alphas),
        FACE_NORMAL: Attribute(Domain.FACE, space.descent_points(part.faces.rows["normal"][kept])),
        SIZES: Attribute(Domain.FACE, part.faces.rows["sizes"][kept]),
    }
    return PolygonMesh(
        part.label,
        space.descent_points(part.positions),
        counts.astype(np.int32),
        corners["vertex"].astype(np.int32),
        space.descent_uvs(corners["uv"]),
        space.descent_points(part.normals),
        materials,
        index[kept],
        attributes,
    )
