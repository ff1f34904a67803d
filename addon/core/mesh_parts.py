"""Splitting a mesh into parts and joining them again, and applying a transform to a mesh.

Each part stores which vertices and faces of the whole mesh it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .model import FILE_FACE, FILE_VERTEX, Attribute, Domain, Mesh, PolygonMesh
from .polygons import reversed_corners, row_groups

_LAST = np.iinfo(np.int64).max


def split(mesh: Mesh, keys: NDArray[Any]) -> list[tuple[int, Mesh]]:
    """Return the faces of each different key (faces,) as a mesh of their own, in ascending order of keys.

    A vertex used by several parts is in each of them; vertices without a face are in the first. The attributes
    `FILE_VERTEX` and `FILE_FACE` store their original indices for `join`. Weights, normals and texture coordinates are
    dropped.
    """
    different = np.unique(keys)
    loose = np.ones(len(mesh.positions), np.bool_)
    loose[mesh.triangles.ravel()] = False
    parts = []
    for number, key in enumerate(different):
        faces = np.flatnonzero(keys == key)
        used = loose.copy() if number == 0 else np.zeros(len(loose), np.bool_)
        used[mesh.triangles[faces].ravel()] = True
        parts.append((int(key), _part(mesh, np.flatnonzero(used), faces)))
    return parts


def _part(mesh: Mesh, vertices: NDArray[np.int64], faces: NDArray[np.int64]) -> Mesh:
    number = np.empty(len(mesh.positions), np.int32)
    number[vertices] = np.arange(len(vertices), dtype=np.int32)
    rows = {Domain.VERTEX: vertices, Domain.FACE: faces}
    attributes = {
        name: Attribute(attribute.domain, attribute.values[rows[attribute.domain]])
        for name, attribute in mesh.attributes.items()
    }
    attributes.setdefault(FILE_VERTEX, Attribute(Domain.VERTEX, vertices.astype(np.int32)))
    attributes.setdefault(FILE_FACE, Attribute(Domain.FACE, faces.astype(np.int32)))
    index = None if mesh.material_index is None else mesh.material_index[faces]
    return replace(
        mesh,
        positions=mesh.positions[vertices],
        triangles=number[mesh.triangles[faces]],
        normals=None,
        uvs=None,
        groups=[],
        weights=None,
        material_index=index,
        attributes=attributes,
        edges=None,
    )


def join(parts: Sequence[Mesh], name: str) -> Mesh:
    """Join parts to one mesh, with vertices and faces in the order of the file and new ones at the end.

    Copies of a vertex that are at the same position become one vertex again; a copy that was moved becomes a new
    vertex. An attribute that a part does not have is 0 there. Materials are dropped.
    """
    starts = np.cumsum([0, *(len(part.positions) for part in parts)])
    positions = np.concatenate([part.positions for part in parts] or [np.zeros((0, 3), np.float32)])
    triangles = np.concatenate(
        [part.triangles + start for part, start in zip(parts, starts, strict=False)] or [np.zeros((0, 3), np.int32)]
    )
    attributes = _joint_attributes(parts)
    faces = _file_order(attributes.get(FILE_FACE), len(triangles))
    vertices, number = _joint_vertices(positions, attributes.get(FILE_VERTEX))
    rows = {Domain.VERTEX: vertices, Domain.FACE: faces}
    return Mesh(
        name,
        positions[vertices],
        number[triangles[faces]].astype(np.int32),
        attributes={
            title: Attribute(attribute.domain, attribute.values[rows[attribute.domain]])
            for title, attribute in attributes.items()
        },
    )


def _joint_attributes(parts: Sequence[Mesh]) -> dict[str, Attribute]:
    counts = {Domain.VERTEX: [len(part.positions) for part in parts], Domain.FACE: [len(p.triangles) for p in parts]}
    result: dict[str, Attribute] = {}
    for name, like in {
        name: attribute for part in reversed(parts) for name, attribute in part.attributes.items()
    }.items():
        columns = []
        for part, count in zip(parts, counts[like.domain], strict=True):
            values = part.values(name, like.domain)
            empty = -1 if name in (FILE_VERTEX, FILE_FACE) else 0
            missing = np.full((count, *like.values.shape[1:]), empty, like.values.dtype)
            columns.append(missing if values is None else values)
        result[name] = Attribute(like.domain, np.concatenate(columns))
    return result


def first_of_each(rows: NDArray[Any]) -> NDArray[np.bool_]:
    """(n,): whether a row number of the file appears here for the first time; its duplicates, made by the user, are
    new.
    """
    if (rows[1:] > rows[:-1]).all():  # nearly always
        return rows >= 0
    result = np.zeros(len(rows), np.bool_)
    result[np.unique(rows, return_index=True)[1]] = True
    return np.logical_and(result, rows >= 0)


def in_file_order(mesh: Mesh) -> Mesh:
    """Return the mesh with its faces in the order of the file, from `FILE_FACE`, and new ones at the end."""
    order = _file_order(mesh.attributes.get(FILE_FACE), len(mesh.triangles))
    if np.array_equal(order, np.arange(len(order))):
        return mesh
    values = {
        name: replace(attribute, values=attribute.values[order]) if attribute.domain is Domain.FACE else attribute
        for name, attribute in mesh.attributes.items()
    }
    index = None if mesh.material_index is None else mesh.material_index[order]
    return replace(mesh, triangles=mesh.triangles[order], material_index=index, attributes=values)


def _file_order(attribute: Attribute | None, count: int) -> NDArray[np.int64]:
    if attribute is None:
        return np.arange(count)
    rows = attribute.values.astype(np.int64)
    if not count or (rows[0] >= 0 and (rows[1:] > rows[:-1]).all()):  # nearly always
        return np.arange(count)
    return np.argsort(np.where(first_of_each(rows), rows, _LAST), kind="stable")


def _joint_vertices(
    positions: NDArray[np.float32], attribute: Attribute | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the vertices that remain, in order, and (all vertices,) the new index of each."""
    count = len(positions)
    if attribute is None:
        return np.arange(count), np.arange(count)
    rows = attribute.values.astype(np.int64)
    # Each new vertex gets a key of its own, so new vertices are never merged.
    keys = np.where(rows < 0, -1 - np.arange(count), rows)
    bits = np.ascontiguousarray(positions, np.float32).view(np.int32)
    group = row_groups(np.concatenate([keys[:, None], bits], axis=1))
    _, first = np.unique(group, return_index=True)
    stays = np.sort(first)
    # If copies are at several positions, the first is the file's vertex; the others are appended as new vertices.
    ordered = stays[np.argsort(np.where(first_of_each(rows[stays]), rows[stays], _LAST), kind="stable")]
    number = np.empty(len(first), np.int64)
    number[group[ordered]] = np.arange(len(ordered))
    return ordered, number[group]


def transformed(mesh: Mesh, matrix: NDArray[Any]) -> Mesh:
    """Return the mesh with a transform (4, 4) applied. If it mirrors, the faces are flipped so that their outer side
    stays outside.
    """
    rotation = matrix[:3, :3]
    positions = mesh.positions @ rotation.T + matrix[:3, 3]
    normals = mesh.normals
    if normals is not None:
        # Normals are transformed by the inverse transpose, to stay perpendicular to surfaces that are stretched.
        turned = normals @ np.linalg.pinv(rotation)
        length = np.linalg.norm(turned, axis=1, keepdims=True)
        normals = np.divide(turned, length, out=np.zeros_like(turned), where=length > 0).astype(np.float32)
    mirrored = np.linalg.det(rotation) < 0
    triangles = mesh.triangles[:, [0, 2, 1]] if mirrored else mesh.triangles
    return replace(mesh, positions=positions.astype(np.float32), normals=normals, triangles=triangles)


def transformed_polygons(mesh: PolygonMesh, matrix: NDArray[Any]) -> PolygonMesh:
    """Return the mesh with a transform (4, 4) applied to positions and normals. If it mirrors, the faces are flipped so
    that their outer side stays outside.
    """
    rotation = matrix[:3, :3]

    def turned(normals: NDArray[Any] | None) -> NDArray[np.float32] | None:
        if normals is None:
            return None
        # By the inverse transpose, to stay perpendicular to surfaces that are stretched.
        result: NDArray[np.float64] = normals @ np.linalg.pinv(rotation)
        length = np.linalg.norm(result, axis=1, keepdims=True)
        return (result / np.where(length > 0, length, 1)).astype(np.float32)

    positions = (mesh.positions @ rotation.T + matrix[:3, 3]).astype(np.float32)
    normals, of_corners = turned(mesh.normals), turned(mesh.corner_normals)
    result = replace(mesh, positions=positions, normals=normals, corner_normals=of_corners)
    if np.linalg.det(rotation) < 0:
        order = reversed_corners(mesh.counts)
        result.corners = result.corners[order]
        result.uvs = None if result.uvs is None else result.uvs[order]
        result.corner_normals = None if result.corner_normals is None else result.corner_normals[order]
    return result
