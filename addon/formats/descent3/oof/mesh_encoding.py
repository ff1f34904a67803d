"""The mesh of a part back into its sub-object: what still means what the base says keeps its bytes.

A face whose corners are the old ones and stand where they stood keeps its normal and sizes; a vertex none of whose
faces changed keeps its normal. All else follows the rules of the game's own generator (`surface`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import polygons, quantum, space
from ....core.errors import WriteError
from ....core.mesh_parts import first_of_each
from ....core.model import FILE_FACE, FILE_VERTEX, Domain, PolygonMesh
from ....core.report import Report
from . import surface
from .changes import Changes
from .faces import CORNER, FACE, Faces
from .geometry import SubObject
from .look_encoding import Faced, TextureTable, encode_looks, look_key
from .mesh import ALPHA, decode_mesh, holdable

_LAST = np.iinfo(np.int64).max


def encode_mesh(
    mesh: PolygonMesh,
    base: SubObject,
    textures: TextureTable,
    changes: Changes,
    *,
    normal_step: float = 0.0,
) -> SubObject:
    """The base, which may be an empty new one, with the mesh. Raises `WriteError` for what no file can hold.

    ``normal_step`` is how far a component of a given normal may lie from the file's and still be untouched.
    """
    if _is_of_base(mesh, base, textures):
        return base
    vertices = _Rows.of(mesh.values(FILE_VERTEX, Domain.VERTEX), len(mesh.positions), len(base.positions))
    positions = space.descent_points(mesh.positions).astype(np.float32)[vertices.order]
    positions, moved = _kept(positions, base.positions, vertices)
    shape = _shape(mesh, base, vertices, changes)
    _check(mesh, positions[moved])
    pairs = _pair(base, shape, vertices)
    rows, corners = np.zeros(len(shape.counts), FACE), np.zeros(len(shape.corners), CORNER)
    known = np.flatnonzero(shape.source >= 0)
    rows[known] = base.faces.rows[shape.source[known]]
    corners["vertex"] = shape.corners
    corners["uv"], slid = _encode_uvs(mesh, base, shape, pairs)
    painted = encode_looks(mesh, base, Faced(shape.source, shape.mesh), rows, textures)
    changed = (shape.mesh >= 0) & ~(pairs.same & _stands_still(shape, moved))
    _shape_faces(rows, positions, shape, changed)
    faces = Faces(rows, shape.counts, corners)
    touched = moved | _around(base, vertices, shape, changed)
    normals, turned = _encode_normals(mesh, base, vertices, faces, touched=touched, step=normal_step)
    alphas, faded = _encode_alphas(mesh, base, vertices)
    _tell(
        changes,
        (len(base.positions), len(positions)),
        (len(base.faces), len(faces)),
        {"positions": moved, "normals": turned, "alphas": faded},
        {"faces": changed, "texture coordinates of faces": slid & ~changed, "textures or colours of faces": painted},
    )
    result = replace(base, positions=positions, normals=normals, alphas=alphas, faces=faces)
    if moved.any() or len(positions) != len(base.positions):
        result.radius, result.center = surface.radius(positions), surface.center(positions)
    return result


def _is_of_base(mesh: PolygonMesh, base: SubObject, textures: TextureTable) -> bool:
    """Whether it is to the bit what the base decodes to: then nothing has to be compared row by row."""
    if len(mesh.positions) != len(base.positions) or len(mesh.counts) > len(base.faces):
        return False
    old = decode_mesh(base, textures.labels, Report())
    pairs: list[tuple[NDArray[Any], NDArray[Any] | None]] = [
        (mesh.positions, old.positions),
        (mesh.counts, old.counts),
        (mesh.corners, old.corners),
    ]
    pairs += [(mine, theirs) for mine, theirs in ((mesh.uvs, old.uvs), (mesh.normals, old.normals)) if mine is not None]
    if mesh.values(FILE_FACE, Domain.FACE) is None and len(mesh.counts) != len(base.faces):
        return False
    for name in (FILE_VERTEX, FILE_FACE, ALPHA):
        theirs = old.attributes[name]
        mine = mesh.values(name, theirs.domain)
        if mine is not None:
            pairs.append((mine, theirs.values))
    if not all(_same_bits(mine, theirs) for mine, theirs in pairs):
        return False
    if not mesh.materials:
        return True
    if mesh.material_index is None or old.material_index is None:
        return False
    keys = [[look_key(material) for material in materials] for materials in (mesh.materials, old.materials)]
    return keys[0] == keys[1] and np.array_equal(mesh.material_index, old.material_index)


def _same_bits(one: NDArray[Any], other: NDArray[Any] | None) -> bool:
    if other is None or one.shape != other.shape or one.dtype != other.dtype:
        return False
    mine, theirs = (np.ascontiguousarray(values).view(np.uint8) for values in (one, other))
    return np.array_equal(mine, theirs)


def _tell(
    changes: Changes,
    vertices: tuple[int, int],
    faces: tuple[int, int],
    of_vertices: dict[str, NDArray[np.bool_]],
    of_faces: dict[str, NDArray[np.bool_]],
) -> None:
    for noun, (before, after), flags in (("vertices", vertices, of_vertices), ("faces", faces, of_faces)):
        if before != after:
            changes.lines.append(f"{noun} {before} -> {after}")
        else:
            for what, rows in flags.items():
                changes.count(rows, what)


@dataclass(frozen=True, eq=False)
class _Rows:
    """How rows of a mesh lie in the file: ``order`` (n,) which comes when, ``source`` (n,) the base's row or -1.

    ``number`` (n,) the place in the file of each row of the mesh; ``of_base`` (base,) that of each row of the base, -1
    where it is gone.
    """

    order: NDArray[np.int64]
    source: NDArray[np.int64]
    number: NDArray[np.int64]
    of_base: NDArray[np.int64]

    @staticmethod
    def of(said: NDArray[Any] | None, count: int, base_count: int) -> _Rows:
        rows = np.full(count, -1, np.int64) if said is None else said.astype(np.int64)
        if said is None and count == base_count:
            rows = np.arange(count)
        rows = np.where(first_of_each(rows) & (rows < base_count), rows, -1)
        order = np.argsort(np.where(rows < 0, _LAST, rows), kind="stable")
        number = np.empty(count, np.int64)
        number[order] = np.arange(count)
        of_base = np.full(base_count, -1, np.int64)
        of_base[rows[rows >= 0]] = number[rows >= 0]
        return _Rows(order, rows[order], number, of_base)

    @property
    def known(self) -> NDArray[np.int64]:
        """The places in the file of rows that the base has."""
        found: NDArray[np.int64] = np.flatnonzero(self.source >= 0)
        return found


def _kept(values: NDArray[Any], base: NDArray[Any], rows: _Rows) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Values in file order with the base's bits where they still mean them, and (n,) which do not."""
    result = values.copy()
    changed = np.ones(len(values), np.bool_)
    known = rows.known
    result[known], changed[known] = quantum.kept(values[known], base[rows.source[known]])
    return result, changed


@dataclass(frozen=True, eq=False)
class _Shape:
    """Faces in file order: ``source`` (faces,) the base's row or -1, ``mesh`` (faces,) the mesh's face or -1.

    ``counts`` (faces,) and ``corners`` vertices in the file's numbers; ``mesh_corners`` (corners,) of the mesh, -1 for
    faces that no mesh can hold, which come from the base as they are.
    """

    source: NDArray[np.int64]
    mesh: NDArray[np.int64]
    counts: NDArray[np.int32]
    corners: NDArray[np.int64]
    mesh_corners: NDArray[np.int64]


def _shape(mesh: PolygonMesh, base: SubObject, vertices: _Rows, changes: Changes) -> _Shape:
    outside = (mesh.corners < 0) | (mesh.corners >= len(mesh.positions))
    if outside.any():
        raise WriteError(f"a face of {mesh.name!r} points behind its last vertex", remedy="Validate the mesh")
    holds = holdable(base.faces, len(base.positions))
    can_hold = np.flatnonzero(holds)
    said = mesh.values(FILE_FACE, Domain.FACE)
    if said is None and len(mesh.counts) == len(can_hold):
        said = can_hold
    rows = _Rows.of(said, len(mesh.counts), len(base.faces))
    known = np.where(rows.source >= 0, rows.source, _LAST)
    back = _faces_that_come_back(base, np.flatnonzero(~holds), vertices, changes)
    turned = polygons.reversed_corners(mesh.counts)
    source = np.concatenate([known, back])
    order = np.argsort(source, kind="stable")
    counts = np.concatenate([mesh.counts[rows.order], base.faces.counts[back]]).astype(np.int32)
    own = turned[polygons.corners_of(mesh.counts, rows.order)]
    theirs = base.faces.corners["vertex"][polygons.corners_of(base.faces.counts, back)].astype(np.int64)
    there = (theirs >= 0) & (theirs < len(base.positions))
    theirs[there] = vertices.of_base[theirs[there]]
    corners = np.concatenate([vertices.number[mesh.corners[own]], theirs])
    mesh_corners = np.concatenate([own, np.full(len(theirs), -1, np.int64)])
    moved = polygons.corners_of(counts, order)
    number = np.concatenate([rows.order, np.full(len(back), -1, np.int64)])
    source = np.where(source == _LAST, -1, source)
    return _Shape(source[order], number[order], counts[order], corners[moved], mesh_corners[moved])


def _faces_that_come_back(
    base: SubObject, broken: NDArray[np.int64], vertices: _Rows, changes: Changes
) -> NDArray[np.int64]:
    """Which of the base's faces that no mesh can hold have all their vertices still."""
    same = np.array_equal(vertices.of_base, np.arange(len(vertices.order)))
    corners = base.faces.corners["vertex"][polygons.corners_of(base.faces.counts, broken)]
    there = np.logical_and(corners >= 0, corners < len(base.positions))
    if len(base.positions):
        there = there & (vertices.of_base[np.clip(corners, 0, len(base.positions) - 1)] >= 0)
    kept = polygons.all_in_face(there | same, base.faces.counts[broken])
    if not kept.all():
        changes.left_out.append(f"faces that were none to Blender and whose vertices are gone: {int((~kept).sum())}")
    return broken[kept]


def _check(mesh: PolygonMesh, fresh: NDArray[np.float32]) -> None:
    if not np.isfinite(fresh).all():
        raise WriteError(f"a vertex of {mesh.name!r} stands at no finite place", remedy="Delete it")
    if mesh.uvs is not None and len(mesh.uvs) != len(mesh.corners):
        raise WriteError(f"{mesh.name!r} has other texture coordinates than corners", remedy="Validate the mesh")


@dataclass(frozen=True, eq=False)
class _Pairs:
    """``same`` (faces,) which have the vertices of the base's face, in its order.

    ``mine`` and ``theirs`` are the corners of these, here and in the base.
    """

    same: NDArray[np.bool_]
    mine: NDArray[np.int64]
    theirs: NDArray[np.int64]


def _pair(base: SubObject, shape: _Shape, vertices: _Rows) -> _Pairs:
    same = np.zeros(len(shape.source), np.bool_)
    known = shape.source >= 0
    same[known] = shape.counts[known] == base.faces.counts[shape.source[known]]
    chosen = np.flatnonzero(same)
    mine = polygons.corners_of(shape.counts, chosen)
    theirs = polygons.corners_of(base.faces.counts, shape.source[chosen])
    equal = shape.mesh_corners[mine] < 0
    if len(base.positions):
        wanted = vertices.of_base[np.clip(base.faces.corners["vertex"][theirs], 0, len(base.positions) - 1)]
        equal = equal | (shape.corners[mine] == wanted)
    whole = polygons.all_in_face(equal, shape.counts[chosen])
    same[chosen] = whole
    stays = np.repeat(whole, shape.counts[chosen])
    return _Pairs(same, mine[stays], theirs[stays])


def _stands_still(shape: _Shape, moved: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(faces,) whether none of their vertices moved."""
    there = (shape.corners >= 0) & (shape.corners < len(moved))
    still = np.ones(len(shape.corners), np.bool_)
    still[there] = np.logical_not(moved[shape.corners[there]])
    return polygons.all_in_face(still, shape.counts)


def _encode_uvs(
    mesh: PolygonMesh, base: SubObject, shape: _Shape, pairs: _Pairs
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """(corners, 2) texture coordinates, and (faces,) which have others than the base's."""
    result = np.zeros((len(shape.corners), 2), np.float32)
    old = base.faces.corners["uv"][pairs.theirs]
    own = shape.mesh_corners >= 0
    result[pairs.mine] = old
    if mesh.uvs is not None:
        result[own] = space.descent_uvs(mesh.uvs.astype(np.float32))[shape.mesh_corners[own]]
    slid = np.ones(len(result), np.bool_)
    result[pairs.mine], slid[pairs.mine] = quantum.kept(result[pairs.mine], old)
    if not np.isfinite(result[slid]).all():
        raise WriteError(f"a texture coordinate of {mesh.name!r} is no number", remedy="Unwrap the face again")
    return result, ~polygons.all_in_face(~slid, shape.counts)


def _shape_faces(rows: NDArray[Any], positions: NDArray[np.float32], shape: _Shape, changed: NDArray[np.bool_]) -> None:
    """Normals and sizes of faces that changed."""
    fresh = np.flatnonzero(changed)
    counts, corners = shape.counts[fresh], shape.corners[polygons.corners_of(shape.counts, fresh)]
    rows["normal"][fresh] = polygons.normals(positions, counts, corners)
    rows["sizes"][fresh] = surface.face_sizes(positions, rows["normal"][fresh], counts, corners)


def _around(base: SubObject, vertices: _Rows, shape: _Shape, changed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(vertices,) which belong to a face that changed, here or in the base."""
    result = np.zeros(len(vertices.order), np.bool_)
    result[shape.corners[polygons.corners_of(shape.counts, np.flatnonzero(changed))]] = True
    stays = np.zeros(len(base.faces), np.bool_)
    stays[shape.source[(shape.source >= 0) & ~changed]] = True
    gone = base.faces.corners["vertex"][polygons.corners_of(base.faces.counts, np.flatnonzero(~stays))]
    places = vertices.of_base[gone[(gone >= 0) & (gone < len(base.positions))]]
    result[places[places >= 0]] = True
    return result


def _encode_normals(
    mesh: PolygonMesh,
    base: SubObject,
    vertices: _Rows,
    faces: Faces,
    *,
    touched: NDArray[np.bool_],
    step: float,
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """(vertices, 3) normals and which are others: those given, or by the generator's rule where faces changed."""
    count, known = len(vertices.order), vertices.known
    result = np.zeros((count, 3), np.float32)
    result[known] = base.normals[vertices.source[known]]
    fresh = vertices.source < 0
    turned = touched | fresh
    if mesh.normals is not None:
        given = space.descent_points(mesh.normals).astype(np.float32)[vertices.order]
        turned = fresh.copy()
        turned[known] = _turned(given[known], result[known], step)
        usable = np.isfinite(given).all(axis=1)
        result[turned & usable] = given[turned & usable]
        by_rule = turned & ~usable
    else:
        by_rule = turned
    if by_rule.any():
        normals = surface.vertex_normals(count, faces.rows["normal"], faces.counts, faces.corners["vertex"])
        result[by_rule] = normals[by_rule]
    turned[known] &= (result[known].view(np.uint32) != base.normals[vertices.source[known]].view(np.uint32)).any(axis=1)
    return result, turned


def _turned(given: NDArray[np.float32], old: NDArray[np.float32], step: float) -> NDArray[np.bool_]:
    """(n,) which normals are neither the old ones nor these made of length 1."""
    length = np.linalg.norm(old.astype(np.float64), axis=1, keepdims=True)
    unit = old / np.where(length > 0, length, 1.0)
    near = [quantum.untouched(given, like.astype(np.float64), 2 * step).all(axis=1) for like in (old, unit)]
    unsaid = np.isnan(old).any(axis=1)  # of a vertex without faces: whatever Blender shows there means nothing
    result: NDArray[np.bool_] = np.logical_not(near[0] | near[1] | unsaid)
    return result


def _encode_alphas(
    mesh: PolygonMesh, base: SubObject, vertices: _Rows
) -> tuple[NDArray[np.float32] | None, NDArray[np.bool_]]:
    if base.alphas is None:
        return None, np.zeros(len(vertices.order), np.bool_)
    said = mesh.values(ALPHA, Domain.VERTEX)
    result = np.ones(len(vertices.order), np.float32)
    known = vertices.known
    if said is None:
        result[known] = base.alphas[vertices.source[known]]
    else:
        result = said.astype(np.float32)[vertices.order]
    return _kept(result, base.alphas, vertices)
