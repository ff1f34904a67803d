"""The one door to meshes: `Mesh` -> mesh object, and back.

Every vertex of the model becomes one vertex, so that unedited vertices keep their index. Blender keeps
texture coordinates and normals at the corners of faces; a vertex whose corners came to disagree is taken apart on the
way out, the first corner's values staying under the old number. Vertices without faces have no corners; what they
carry lies in two attributes of their own.

A face with two corners on one vertex shows nothing and brings Blender down when it works out normals; such faces wait
in a list on the mesh, with their attributes, and are put back where they were.

Before 4.5 Blender holds custom normals as two angles of 16 bits, mostly good to 0.01 degrees, but off by up to 60
where the surface around a vertex folds up. There the normals that were given are kept beside the ones that Blender
made of them, and count for every corner that still shows the latter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core.model import Attribute, Domain, Mesh
from ..core.report import Report
from ..core.text import counted_plural, said_of
from . import attributes, compat, material, vertex_groups
from .mesh_arrays import (
    LOOSE_UV,
    column,
    corner_uvs,
    folded_faces,
    folded_rows,
    keep_folded,
    outside_edit_mode,
    positions_of,
    put_back,
    triangles_of,
)

UV_LAYER = "UVMap"
LOOSE_NORMAL = "loose_normal"
GIVEN_NORMAL, SHOWN_NORMAL = "given_normal", "shown_normal"
FAR_OFF = 0.02
"""A normal that is shown this far from the given one (about a degree) is worth a word."""

SAME_NORMAL = 2e-4
"""Normals of one vertex that differ by less (0.01 degrees) are one normal: Blender may hold them in 16 bits."""


def build(mesh: Mesh, materials: Sequence[Any], report: Report, *, flat: bool = False) -> Any:
    """A mesh object, linked nowhere yet, with a vertex group for each of ``mesh.groups``, in their order.

    ``materials`` are Blender's, one for each of ``mesh.materials``; ``flat`` shows the faces without smoothing. Faces
    that point to no vertex are left out and reported; ones folded to a line are not shown but kept.
    """
    data: Any = bpy.data.meshes.new(mesh.name)
    mesh = _without_faces_to_nowhere(mesh, report)
    shown_faces, triangles = None, np.ascontiguousarray(mesh.triangles, np.int32)
    folded = folded_faces(triangles)
    if folded.any():
        keep_folded(data, mesh, folded, report)
        shown_faces, triangles = ~folded, triangles[~folded]
    _build_topology(data, mesh, triangles)
    for made in materials:
        data.materials.append(made)
    faces = dict(mesh.attributes)
    if mesh.material_index is not None and mesh.material_index.any():
        faces["material_index"] = Attribute(Domain.FACE, mesh.material_index.astype(np.int32, copy=False))
    attributes.build(data, faces, shown_faces)
    corners = triangles.ravel()
    if mesh.uvs is not None:
        layer = data.uv_layers.new(name=UV_LAYER, do_init=False)
        layer.uv.foreach_set("vector", np.ascontiguousarray(mesh.uvs[corners], np.float32).ravel())
    _keep_loose(data, mesh, corners)
    data.update(calc_edges=True)
    if flat and len(triangles):
        attributes.build(data, {"sharp_face": Attribute(Domain.FACE, np.ones(len(triangles), np.bool_))})
    else:
        data.shade_smooth()
    if mesh.normals is not None and len(corners):
        # After everything that could throw them away: edges, smoothness.
        _build_normals(data, mesh.normals[corners], mesh.name, report)
    shown: Any = bpy.data.objects.new(mesh.name, data)
    vertex_groups.build(shown, mesh)
    return shown


def _without_faces_to_nowhere(mesh: Mesh, report: Report) -> Mesh:
    """Without the faces whose vertices do not exist, which kill the whole process inside Blender."""
    triangles = mesh.triangles
    if not len(triangles) or (int(triangles.min()) >= 0 and int(triangles.max()) < len(mesh.positions)):
        return mesh
    valid = np.logical_and(triangles >= 0, triangles < len(mesh.positions)).all(axis=1)
    problem = said_of(int((~valid).sum()), "triangles", "point to vertices that do not exist")
    report.warn(f"{problem}; left out", mesh.name)
    index = None if mesh.material_index is None else mesh.material_index[valid]
    kept = {
        name: replace(found, values=found.values[valid]) if found.domain is Domain.FACE else found
        for name, found in mesh.attributes.items()
    }
    return replace(mesh, triangles=triangles[valid], material_index=index, attributes=kept)


def _build_topology(data: Any, mesh: Mesh, triangles: NDArray[np.int32]) -> None:
    count = len(triangles)
    if len(mesh.positions):
        data.vertices.add(len(mesh.positions))
        data.attributes["position"].data.foreach_set("vector", np.ascontiguousarray(mesh.positions, np.float32).ravel())
    if count:
        data.loops.add(3 * count)
        data.attributes[".corner_vert"].data.foreach_set("value", triangles.ravel())
        data.polygons.add(count)
        data.polygons.foreach_set("loop_start", np.arange(0, 3 * count, 3, dtype=np.int32))
    if mesh.edges is not None and len(mesh.edges):
        data.edges.add(len(mesh.edges))
        data.edges.foreach_set("vertices", np.ascontiguousarray(mesh.edges, np.int32).ravel())


def _keep_loose(data: Any, mesh: Mesh, corners: NDArray[np.int32]) -> None:
    if mesh.uvs is None and mesh.normals is None:
        return
    if np.bincount(corners, minlength=len(mesh.positions)).all():
        return
    for name, kind, values in ((LOOSE_UV, "FLOAT2", mesh.uvs), (LOOSE_NORMAL, "FLOAT_VECTOR", mesh.normals)):
        if values is not None:
            kept = data.attributes.new(name, kind, "POINT")
            kept.data.foreach_set("vector", np.ascontiguousarray(values, np.float32).ravel())


def _build_normals(data: Any, given: NDArray[np.float32], name: str, report: Report) -> None:
    compat.set_corner_normals(data, given)
    shown, exact = _corner_normals(data)
    if exact:
        return
    for attribute, values in ((GIVEN_NORMAL, given), (SHOWN_NORMAL, shown)):
        kept = data.attributes.new(attribute, "FLOAT_VECTOR", "CORNER")
        kept.data.foreach_set("vector", np.ascontiguousarray(values, np.float32).ravel())
    with np.errstate(over="ignore", invalid="ignore"):  # normals of broken files
        length = np.linalg.norm(given, axis=1, keepdims=True)
        unit = np.divide(given, length, out=shown.copy(), where=length > 0)
        far = int((np.abs(unit - shown).max(axis=1) > FAR_OFF).sum())
    if far:
        normals = counted_plural(far, "normals")
        report.note(f"this Blender cannot show {normals} exactly (4.5 and later can); kept unchanged", name)


def select_loose_edges(data: Any) -> None:
    """Select the edges of a new mesh that has no faces, as its vertices and faces are from the start."""
    # Since 5.0 they are selected, by one value for all, which cannot be written at once: it crashes.
    if len(data.edges) and not data.edges[0].select:
        data.edges.foreach_set("select", np.ones(len(data.edges), np.bool_))


@dataclass(frozen=True)
class Gathered:
    """A mesh read from Blender. ``exact_normals`` is False where Blender alone had them, in 16 bits or worked out."""

    mesh: Mesh
    exact_normals: bool


def gather(shown: Any) -> Gathered:
    """What an object's mesh says, in the object's own space, without modifiers; polygons cut into triangles.

    Normals are those that Blender shows, custom ones as they were given.
    """
    with outside_edit_mode(shown) as data:
        positions = positions_of(data)
        triangles, faces = triangles_of(data)
        corners = np.empty(len(data.loops), np.int32)
        if len(corners):
            data.attributes[".corner_vert"].data.foreach_get("value", corners)
        normals, exact = _corner_normals(data)
        uvs = corner_uvs(data)
        index = np.zeros(len(data.polygons), np.int32)
        data.polygons.foreach_get("material_index", index)
        split = _split(corners, uvs, normals, len(positions))
        folded = folded_rows(data, len(triangles))
        cut = put_back(split.vertex[triangles], folded[:, 0], folded[:, 1:4])
        cut_index = put_back(index[faces], folded[:, 0], folded[:, 4])
        mesh = Mesh(
            shown.name,
            positions[split.source],
            cut,
            _of_vertices(data, normals, split, LOOSE_NORMAL),
            None if uvs is None else _of_vertices(data, uvs, split, LOOSE_UV),
            [group.name for group in shown.vertex_groups],
            vertex_groups.gather(data, split.source[len(positions) :]) if len(shown.vertex_groups) else None,
            [material.gather(used) for used in data.materials],
            cut_index if len(data.materials) else None,
        )
    return Gathered(mesh, exact)


def _corner_normals(data: Any) -> tuple[NDArray[np.float32], bool]:
    """(corners, 3), and whether what was once given is among them exactly."""
    exact = _vectors_of_corners(data, "custom_normal")
    if exact is not None:
        return exact, True
    shown = column(data.corner_normals, "vector", len(data.loops), 3)
    given, shown_then = _vectors_of_corners(data, GIVEN_NORMAL), _vectors_of_corners(data, SHOWN_NORMAL)
    if given is None or shown_then is None:
        return shown, False
    same = (np.abs(shown - shown_then) <= SAME_NORMAL).all(axis=1, keepdims=True)
    return np.where(same, given, shown), True


def _vectors_of_corners(data: Any, name: str) -> NDArray[np.float32] | None:
    stored = data.attributes.get(name)
    if stored is None or stored.data_type != "FLOAT_VECTOR" or stored.domain != "CORNER":
        return None
    return column(stored.data, "vector", len(data.loops), 3)


@dataclass(frozen=True)
class _Split:
    """How vertices are taken apart where their corners disagree.

    ``vertex`` (corners,) the new vertex of each; ``source`` (new vertices,) the old one; ``corner`` (new vertices,) one
    that speaks for it, -1 for none.
    """

    vertex: NDArray[np.int32]
    source: NDArray[np.int32]
    corner: NDArray[np.int64]


def _split(
    corners: NDArray[np.int32], uvs: NDArray[np.float32] | None, normals: NDArray[np.float32], count: int
) -> _Split:
    first = np.full(count, -1, np.int64)
    # Of several written to one place the last stays: backwards, that is the first corner.
    first[corners[::-1]] = np.arange(len(corners))[::-1]
    own = first[corners]
    # Compared as bits, with -0 as 0: what is NaN or infinite is then equal to itself.
    uv_bits = np.zeros((len(corners), 0), np.int32) if uvs is None else (uvs + np.float32(0)).view(np.int32)
    agrees = (uv_bits == uv_bits[own]).all(axis=1)
    with np.errstate(invalid="ignore"):
        agrees &= ~(np.abs(normals - normals[own]) > SAME_NORMAL).any(axis=1)
    other = np.flatnonzero(~agrees)
    vertex = corners.astype(np.int32)
    source = np.arange(count, dtype=np.int32)
    if not len(other):
        return _Split(vertex, source, first)
    steps = np.nan_to_num(np.rint(normals[other] / SAME_NORMAL)).astype(np.int64)
    keys = np.concatenate([corners[other, None], uv_bits[other], steps], axis=1)
    _, speaker, place = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    vertex[other] = count + place.ravel()
    return _Split(
        vertex,
        np.concatenate([source, corners[other][speaker]]).astype(np.int32),
        np.concatenate([first, other[speaker]]),
    )


def _of_vertices(data: Any, values: NDArray[np.float32], split: _Split, loose_name: str) -> NDArray[np.float32]:
    """(new vertices, …) of corner values; those of vertices without corners as they were given, else 0."""
    loose = split.corner < 0
    if not loose.any():
        return values[split.corner]
    result = np.zeros((len(split.corner), values.shape[1]), np.float32)
    result[~loose] = values[split.corner[~loose]]
    kept = data.attributes.get(loose_name)
    if kept is not None and kept.domain == "POINT":
        given = column(kept.data, "vector", len(data.vertices), values.shape[1])
        result[loose] = given[split.source[loose]]
    return result
