"""The mesh of a sub-object <-> `PolygonMesh` in Blender's axes: polygons, UVs per corner, materials.

The conversion mirrors, so the corners of a face are reversed; its first corner stays the first. Faces that a mesh
cannot store (fewer than three corners, a vertex twice or missing) are left out and restored on export. When encoding, a
face whose corners are those of the base, at the same positions, keeps its normal and sizes; a vertex keeps its normal
if none of its faces changed. Everything else follows the rules of the game's own tools, known from real files.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import polygons, rebase, space
from ....core.changes import NORMALS, POSITIONS, Changes
from ....core.errors import WriteError
from ....core.model import FILE_FACE, FILE_VERTEX, Attribute, Domain, Material, PolygonMesh
from ....core.rebase import Rows
from ....core.report import Report, say
from .. import strings
from .document import CORNER, FACE, Faces, SubObject
from .model import Singles

Flags = NDArray[np.bool_]

ALPHA, FACE_NORMAL, SIZES = "alpha", "face_normal", "lightmap_size"
"""Attributes: alpha per vertex (float32), stored normal per face (3), the level editor's sizes per face (2).

Normals and sizes of faces are for display only; an export recomputes those of changed faces.
"""
_STORED = (FILE_VERTEX, FILE_FACE)
DEFAULT_COLOUR = (128, 128, 128)
"""Colour of faces without texture and colour."""
NO_NORMAL = np.array([0xFFC00000], np.uint32).view(np.float32)[0]
"""NaN that the game's tools write as the normal of a vertex without faces."""
_LAST = np.iinfo(np.int64).max


# Decode --------------------------------------------------------------------------------------------------------------


def decode_mesh(part: SubObject, textures: list[str], report: Report) -> PolygonMesh:
    """Return the mesh relative to the part's pivot. Attributes `FILE_VERTEX` and `FILE_FACE` store file rows."""
    faces, count = part.faces, len(part.positions)
    kept = np.flatnonzero(storable(faces, count))
    counts, corners, rows = faces.counts, polygons.reversed_corners(faces.counts), faces.rows
    materials, index = face_materials(faces, textures)
    if len(kept) < len(faces):
        words = "{:# face|# faces} cannot be shown in Blender (a vertex twice or missing); kept for export"
        report.warn(say(words, len(faces) - len(kept)), part.label)
        corners = corners[polygons.corners_of(counts, kept)]
        counts, rows, index = counts[kept], rows[kept], index[kept]
    attributes = {
        FILE_VERTEX: Attribute(Domain.VERTEX, np.arange(count, dtype=np.int32)),
        FILE_FACE: Attribute(Domain.FACE, kept.astype(np.int32)),
        ALPHA: Attribute(Domain.VERTEX, np.ones(count, np.float32) if part.alphas is None else part.alphas),
        FACE_NORMAL: Attribute(Domain.FACE, space.descent_points(rows["normal"])),
        SIZES: Attribute(Domain.FACE, rows["sizes"].copy()),
    }
    return PolygonMesh(
        part.label,
        space.descent_points(part.positions),
        counts,
        faces.corners["vertex"][corners],
        space.descent_uvs(np.stack([column[corners] for column in faces.corners["uv"].T], axis=1)),
        space.descent_points(part.normals),
        materials,
        index,
        attributes,
    )


def storable(faces: Faces, vertices: int) -> Flags:
    """Return (faces,) whether a Blender mesh with this number of ``vertices`` can store each face."""
    corners = faces.corners["vertex"]
    existing = polygons.all_in_face((corners >= 0) & (corners < vertices), faces.counts)
    result: Flags = existing & (faces.counts >= 3) & ~polygons.repeats_a_vertex(faces.counts, corners)
    return result


# Materials -----------------------------------------------------------------------------------------------------------

_BLACK = -(1 << 40) - 1
"""Code of the colour black. Other colours have smaller codes, texture indices greater ones."""


def face_materials(faces: Faces, textures: list[str]) -> tuple[list[Material], NDArray[np.int32]]:
    """Return the distinct materials of faces, textures in table order before colours, and (faces,) index of each."""
    red, green, blue = (faces.rows["colour"][:, channel].astype(np.int64) for channel in range(3))
    colours = _BLACK - (red << 16 | green << 8 | blue)
    codes = np.where(faces.is_textured, faces.rows["texture"].astype(np.int64), colours)
    of_faces = codes
    codes = np.sort(codes)
    codes = codes[np.diff(codes, prepend=_LAST) != 0]
    materials: list[Material] = []
    indices: dict[tuple[str, object], int] = {}
    index = np.zeros(len(codes), np.int32)
    for row in sorted(range(len(codes)), key=lambda row: (codes[row] <= _BLACK, abs(int(codes[row])))):
        material = _material(int(codes[row]), textures)
        index[row] = indices.setdefault((material.texture or material.name, material.colour), len(materials))
        if index[row] == len(materials):
            materials.append(material)
    return materials, index[np.searchsorted(codes, of_faces)]


def _material(code: int, textures: list[str]) -> Material:
    if code <= _BLACK:
        colour = _BLACK - code
        return Material(f"#{colour:06x}", colour=(colour >> 16, colour >> 8 & 255, colour & 255))
    if 0 <= code < len(textures):
        return Material(textures[code] or "no name", textures[code])
    return Material(f"missing texture {code}")


def material_key(material: Material) -> tuple[str, object]:
    """Return what distinguishes materials: texture and colour, or the name if both are missing."""
    return material.texture or material.name if material.colour is None else "", material.colour


@dataclass
class TextureTable:
    """The file's texture names, to which new names are appended; ``stored`` with NUL."""

    stored: list[bytes]
    labels: list[str] = field(init=False)
    _indices: dict[str, int] = field(init=False)
    _indices_ignoring_case: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        self.labels, self._indices, self._indices_ignoring_case = [], {}, {}
        for name in self.stored:
            self._append(strings.decode(name))

    def index(self, name: str) -> int:
        """Return the first entry with this name, exactly or else ignoring case; append one if there is none."""
        result = self._indices.get(name, self._indices_ignoring_case.get(name.lower()))
        if result is None:
            self.stored.append(strings.encode(name))
            result = self._append(name)
        return result

    def _append(self, label: str) -> int:
        number = len(self.labels)
        self.labels.append(label)
        self._indices.setdefault(label, number)
        self._indices_ignoring_case.setdefault(label.lower(), number)
        return number


# The rules of the game's tools ---------------------------------------------------------------------------------------


def radius(positions: NDArray[Any]) -> np.float32:
    """Return the distance of the farthest vertex (vertices, 3) from the pivot."""
    if not len(positions):
        return np.float32(0)
    return np.float32(polygons.lengths(positions.T.astype(np.float64)).max())


def center(positions: Singles) -> Singles:
    """Return (3,) the centre of the vertices' bounding box."""
    if not len(positions):
        return np.zeros(3, np.float32)
    result: Singles = (polygons.bounds(positions).astype(np.float64).sum(axis=0) / 2).astype(np.float32)
    return result


def vertex_normals(wanted: Flags, face_normals: Singles, counts: NDArray[np.int32], corners: NDArray[Any]) -> Singles:
    """Return (vertices, 3) the mean of the face normals at each vertex's corners, not normalised; `NO_NORMAL` for those
    that are not ``wanted`` (vertices,).

    Summed in file order in float32, as by the game's tools.
    """
    count = len(wanted)
    chosen = np.flatnonzero(np.append(wanted, False)[np.where((corners >= 0) & (corners < count), corners, count)])
    face, corners = polygons.face_of_corner(counts)[chosen], corners[chosen]
    uses = np.bincount(corners, minlength=count)
    result = np.full((count, 3), NO_NORMAL, np.float32)
    used = uses > 0
    for axis in range(3):
        total = np.zeros(count, np.float32)
        np.add.at(total, corners, face_normals[face, axis])
        result[used, axis] = total[used] / uses[used].astype(np.float32)
    return result


def face_sizes(positions: Singles, normals: Singles, counts: NDArray[np.int32], corners: NDArray[Any]) -> Singles:
    """Return (faces, 2) the extent of each face along two axes in its plane, used by the level editor for lightmaps."""
    exact = np.ascontiguousarray(normals.T, np.float64)
    x, _, z = exact
    upright = (x == 0) & (z == 0)
    right = np.stack([z, np.zeros(len(x)), -x])
    right[:, upright] = [[1], [0], [0]]
    right /= polygons.lengths(right)
    up = polygons.crossed(exact, right)
    up[:, upright] = [[0], [0], [1]]
    across = np.ascontiguousarray(positions.T, np.float64)
    result = np.zeros((len(counts), 2), np.float32)
    for faces, index in polygons.by_size(counts):
        points = across[:, corners[index]]
        for column, axes in enumerate((right, up)):
            along = points[0] * axes[0, faces] + points[1] * axes[1, faces] + points[2] * axes[2, faces]
            if len(along):
                result[faces, column] = along.max(axis=0) - along.min(axis=0)
    return result


# Encode --------------------------------------------------------------------------------------------------------------


def encode_mesh(
    mesh: PolygonMesh,
    base: SubObject,
    old: PolygonMesh,
    textures: TextureTable,
    changes: Changes,
    *,
    normal_step: float = 0.0,
) -> SubObject:
    """Return the base (possibly a new empty one) with the mesh; the base itself if nothing differs.

    ``old``: the base's mesh, as of `decode_mesh`. ``normal_step``: largest difference of a normal's component from the
    file's that counts as unedited. Raises `WriteError` for a mesh that no file can store.
    """
    has_same_faces, has_same_materials = _has_same_faces(mesh, base, old), _has_same_materials(mesh, old)
    if has_same_faces and has_same_materials and _has_same_values(mesh, old):
        return base
    stored = None if has_same_faces else mesh.values(FILE_VERTEX, Domain.VERTEX)
    vertices = Rows.of(stored, len(mesh.positions), len(base.positions))
    positions = space.descent_points(mesh.positions).astype(np.float32)[vertices.order]
    positions, moved = rebase.restore_from_sources(positions, base.positions, vertices.source)
    shape = _shape_of_base(base, old) if has_same_faces else _shape(mesh, base, vertices, changes)
    _check(mesh, positions[moved])
    pairs = _all_pairs(base) if has_same_faces else _pair(base, shape, vertices)
    rows = base.faces.rows.copy() if has_same_faces else _known_rows(base, shape)
    corners = base.faces.corners
    changed_uvs = changed_materials = np.zeros(len(rows), np.bool_)
    if not (has_same_faces and (mesh.uvs is None or _same_bits(mesh.uvs, old.uvs))):
        corners = np.zeros(len(shape.corners), CORNER)
        corners["vertex"] = shape.corners
        corners["uv"], changed_uvs = _encode_uvs(mesh, base, shape, pairs)
    if not (has_same_faces and has_same_materials):
        changed_materials = _encode_materials(mesh, base, shape, rows, textures)
    changed = (shape.mesh >= 0) & ~(pairs.same & _is_unmoved(shape, moved))
    _recompute_faces(rows, positions, shape, changed)
    faces = Faces(rows, shape.counts, corners)
    touched = moved | _vertices_of_changed_faces(base, vertices, shape, changed, has_same_faces=has_same_faces)
    normals, changed_normals = _encode_normals(mesh, base, vertices, faces, touched=touched, step=normal_step)
    alphas, changed_alphas = _encode_alphas(mesh, base, vertices)
    if not changes.resized("vertices {} -> {}", len(base.positions), len(positions)):
        changes.count(moved, POSITIONS)
        changes.count(changed_normals, NORMALS)
        changes.count(changed_alphas, "{:# alpha|# alphas}")
    if not changes.resized("faces {} -> {}", len(base.faces), len(faces)):
        changes.count(changed, "{:# face|# faces}")
        changes.count(changed_uvs & ~changed, "{:# texture coordinate of faces|# texture coordinates of faces}")
        changes.count(changed_materials, "{:# texture or colours of faces|# textures or colours of faces}")
    result = replace(base, positions=positions, normals=normals, alphas=alphas, faces=faces)
    if moved.any() or len(positions) != len(base.positions):
        result.radius, result.center = radius(positions), center(positions)
    return result


def _has_same_faces(mesh: PolygonMesh, base: SubObject, old: PolygonMesh) -> bool:
    """Return whether vertices and faces are those of the base, in its order, so that no rows have to be matched."""
    if mesh.values(FILE_FACE, Domain.FACE) is None and len(mesh.counts) != len(base.faces):
        return False
    stored = ((mesh.values(name, old.attributes[name].domain), old.attributes[name].values) for name in _STORED)
    return (
        len(mesh.positions) == len(base.positions)
        and _same_bits(mesh.counts, old.counts)
        and _same_bits(mesh.corners, old.corners)
        and all(mine is None or _same_bits(mine, theirs) for mine, theirs in stored)
    )


def _has_same_materials(mesh: PolygonMesh, old: PolygonMesh) -> bool:
    if not mesh.materials:
        return True
    if mesh.material_index is None or old.material_index is None:
        return False
    keys = [[material_key(material) for material in materials] for materials in (mesh.materials, old.materials)]
    return keys[0] == keys[1] and np.array_equal(mesh.material_index, old.material_index)


def _has_same_values(mesh: PolygonMesh, old: PolygonMesh) -> bool:
    """Return whether positions, normals, texture coordinates and alphas are bitwise equal, as far as they are given."""
    given = [
        (mesh.positions, old.positions),
        (mesh.uvs, old.uvs),
        (mesh.normals, old.normals),
        (mesh.values(ALPHA, Domain.VERTEX), old.attributes[ALPHA].values),
    ]
    return all(mine is None or _same_bits(mine, theirs) for mine, theirs in given)


def _same_bits(own_values: NDArray[Any], other: NDArray[Any] | None) -> bool:
    if other is None or own_values.shape != other.shape or own_values.dtype != other.dtype:
        return False
    mine, theirs = (np.ascontiguousarray(values).view(np.uint8) for values in (own_values, other))
    return np.array_equal(mine, theirs)


@dataclass(frozen=True, eq=False)
class _Shape:
    """Faces in file order. ``source`` (faces,): row in the base or -1; ``mesh`` (faces,): face of the mesh or -1.

    ``counts`` (faces,) and ``corners`` (corners,): vertices of the file; ``mesh_corners`` (corners,): corners of the
    mesh, -1 for faces copied from the base because Blender meshes cannot store them.
    """

    source: NDArray[np.int64]
    mesh: NDArray[np.int64]
    counts: NDArray[np.int32]
    corners: NDArray[np.int64]
    mesh_corners: NDArray[np.int64]


def _shape_of_base(base: SubObject, old: PolygonMesh) -> _Shape:
    """Return the base's faces, for a mesh that has the faces of ``old``."""
    counts, kept = base.faces.counts, old.attributes[FILE_FACE].values
    faces, corners = np.full(len(counts), -1, np.int64), np.full(len(base.faces.corners), -1, np.int64)
    faces[kept] = np.arange(len(kept))
    of_mesh = polygons.reversed_corners(counts)
    if len(kept) < len(counts):
        of_mesh = of_mesh[polygons.corners_of(counts, kept)]
    corners[of_mesh] = np.arange(len(of_mesh))
    vertices = base.faces.corners["vertex"].astype(np.int64)
    return _Shape(np.arange(len(counts)), faces, counts, vertices, corners)


def _shape(mesh: PolygonMesh, base: SubObject, vertices: Rows, changes: Changes) -> _Shape:
    outside = (mesh.corners < 0) | (mesh.corners >= len(mesh.positions))
    if outside.any():
        raise WriteError(say("a face of {!r} refers to a missing vertex", mesh.name), remedy="Validate the mesh")
    is_storable = storable(base.faces, len(base.positions))
    storable_rows = np.flatnonzero(is_storable)
    stored = mesh.values(FILE_FACE, Domain.FACE)
    if stored is None and len(mesh.counts) == len(storable_rows):
        stored = storable_rows
    rows = Rows.of(stored, len(mesh.counts), len(base.faces))
    known = np.where(rows.source >= 0, rows.source, _LAST)
    restored = _restored_faces(base, np.flatnonzero(~is_storable), vertices, changes)
    flipped = polygons.reversed_corners(mesh.counts)
    source = np.concatenate([known, restored])
    order = np.argsort(source, kind="stable")
    counts = np.concatenate([mesh.counts[rows.order], base.faces.counts[restored]]).astype(np.int32)
    own = flipped[polygons.corners_of(mesh.counts, rows.order)]
    theirs = base.faces.corners["vertex"][polygons.corners_of(base.faces.counts, restored)].astype(np.int64)
    existing = (theirs >= 0) & (theirs < len(base.positions))
    theirs[existing] = vertices.of_base[theirs[existing]]
    corners = np.concatenate([vertices.index[mesh.corners[own]], theirs])
    mesh_corners = np.concatenate([own, np.full(len(theirs), -1, np.int64)])
    in_order = polygons.corners_of(counts, order)
    mesh_faces = np.concatenate([rows.order, np.full(len(restored), -1, np.int64)])
    source = np.where(source == _LAST, -1, source)
    return _Shape(source[order], mesh_faces[order], counts[order], corners[in_order], mesh_corners[in_order])


def _restored_faces(base: SubObject, broken: NDArray[np.int64], vertices: Rows, changes: Changes) -> NDArray[np.int64]:
    """Return the base's faces that Blender meshes cannot store and whose vertices all remain."""
    same = np.array_equal(vertices.of_base, np.arange(len(vertices.order)))
    corners = base.faces.corners["vertex"][polygons.corners_of(base.faces.counts, broken)]
    existing = np.logical_and(corners >= 0, corners < len(base.positions))
    if len(base.positions):
        existing = existing & (vertices.of_base[np.clip(corners, 0, len(base.positions) - 1)] >= 0)
    kept = polygons.all_in_face(existing | same, base.faces.counts[broken])
    if not kept.all():
        words = "faces that Blender could not show, whose vertices were removed: {}"
        changes.left_out.append(say(words, int((~kept).sum())))
    return broken[kept]


def _check(mesh: PolygonMesh, fresh: Singles) -> None:
    rebase.refuse_not_finite(say("a vertex of {!r} has a NaN or infinite position", mesh.name), "Delete it", fresh)
    if mesh.uvs is not None and len(mesh.uvs) != len(mesh.corners):
        words = "{!r} has different numbers of texture coordinates and corners"
        raise WriteError(say(words, mesh.name), remedy="Validate the mesh")


@dataclass(frozen=True, eq=False)
class _Pairs:
    """``same`` (faces,): whether a face has the vertices of the base's face, in its order.

    ``mine`` and ``theirs``: the corners of these faces, here and in the base.
    """

    same: Flags
    mine: NDArray[np.int64] | slice
    theirs: NDArray[np.int64] | slice


def _known_rows(base: SubObject, shape: _Shape) -> NDArray[np.void]:
    """Return rows of `FACE`: those of the base, zeros for new faces."""
    result, known = np.zeros(len(shape.counts), FACE), shape.source >= 0
    result[known] = base.faces.rows[shape.source[known]]
    return result


def _all_pairs(base: SubObject) -> _Pairs:
    return _Pairs(np.ones(len(base.faces), np.bool_), slice(None), slice(None))


def _pair(base: SubObject, shape: _Shape, vertices: Rows) -> _Pairs:
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
    paired = np.repeat(whole, shape.counts[chosen])
    return _Pairs(same, mine[paired], theirs[paired])


def _is_unmoved(shape: _Shape, moved: Flags) -> Flags:
    """Return (faces,) whether none of a face's vertices moved."""
    corners = np.where((shape.corners >= 0) & (shape.corners < len(moved)), shape.corners, len(moved))
    return polygons.all_in_face(np.append(~moved, True)[corners], shape.counts)


def _encode_uvs(mesh: PolygonMesh, base: SubObject, shape: _Shape, pairs: _Pairs) -> tuple[Singles, Flags]:
    """Return (corners, 2) UVs, and (faces,) whether they differ from the base's."""
    result = np.zeros((len(shape.corners), 2), np.float32)
    old = base.faces.corners["uv"][pairs.theirs]
    own = shape.mesh_corners >= 0
    result[pairs.mine] = old
    if mesh.uvs is not None:
        result[own] = space.descent_uvs(mesh.uvs.astype(np.float32))[shape.mesh_corners[own]]
    changed_uvs = np.ones(len(result), np.bool_)
    result[pairs.mine], changed_uvs[pairs.mine] = rebase.restore_unedited(result[pairs.mine], old)
    message = say("a texture coordinate of {!r} is NaN or infinite", mesh.name)
    rebase.refuse_not_finite(message, "Unwrap the face again", result[changed_uvs])
    return result, ~polygons.all_in_face(~changed_uvs, shape.counts)


def _recompute_faces(rows: NDArray[np.void], positions: Singles, shape: _Shape, changed: Flags) -> None:
    """Recompute normals and sizes of changed faces."""
    fresh = np.flatnonzero(changed)
    counts, corners = shape.counts[fresh], shape.corners[polygons.corners_of(shape.counts, fresh)]
    rows["normal"][fresh] = polygons.normals(positions, counts, corners)
    rows["sizes"][fresh] = face_sizes(positions, rows["normal"][fresh], counts, corners)


def _vertices_of_changed_faces(
    base: SubObject, vertices: Rows, shape: _Shape, changed: Flags, *, has_same_faces: bool
) -> Flags:
    """Return (vertices,) whether a vertex belongs to a changed face, here or in the base."""
    result = np.zeros(len(vertices.order), np.bool_)
    result[shape.corners[np.repeat(changed, shape.counts)]] = True
    if has_same_faces:
        return result
    unchanged = np.zeros(len(base.faces), np.bool_)
    unchanged[shape.source[(shape.source >= 0) & ~changed]] = True
    old = base.faces.corners["vertex"][polygons.corners_of(base.faces.counts, np.flatnonzero(~unchanged))]
    rows = vertices.of_base[old[(old >= 0) & (old < len(base.positions))]]
    result[rows[rows >= 0]] = True
    return result


def _encode_normals(
    mesh: PolygonMesh,
    base: SubObject,
    vertices: Rows,
    faces: Faces,
    *,
    touched: Flags,
    step: float,
) -> tuple[Singles, Flags]:
    """Return (vertices, 3) normals, and (vertices,) whether they differ from the base's.

    Given normals replace the base's where they differ. Normals follow the rule of the game's tools where the given ones
    are not finite, and at vertices of changed faces if none are given.
    """
    count, known = len(vertices.order), vertices.known
    result = np.zeros((count, 3), np.float32)
    result[known] = base.normals[vertices.source[known]]
    fresh = vertices.source < 0
    changed = touched | fresh
    if mesh.normals is not None:
        given = space.descent_points(mesh.normals).astype(np.float32)[vertices.order]
        changed = fresh.copy()
        # Blender's normals of vertices without faces (NaN in the file) are meaningless.
        is_known = ~rebase.in_any_column(np.isnan(result[known]))
        changed[known] = is_known & rebase.normals_differ(given[known], result[known], step)
        usable = ~rebase.in_any_column(~np.isfinite(given))
        result[changed & usable] = given[changed & usable]
        by_rule = changed & ~usable
    else:
        by_rule = changed
    if by_rule.any():
        normals = vertex_normals(by_rule, faces.rows["normal"], faces.counts, faces.corners["vertex"])
        result[by_rule] = normals[by_rule]
    theirs = base.normals[vertices.source[known]]
    changed[known] &= rebase.in_any_column(result[known].view(np.uint32) != theirs.view(np.uint32))
    return result, changed


def _encode_alphas(mesh: PolygonMesh, base: SubObject, vertices: Rows) -> tuple[Singles | None, Flags]:
    if base.alphas is None:
        return None, np.zeros(len(vertices.order), np.bool_)
    given = mesh.values(ALPHA, Domain.VERTEX)
    result = np.ones(len(vertices.order), np.float32)
    known = vertices.known
    if given is None:
        result[known] = base.alphas[vertices.source[known]]
    else:
        result = given.astype(np.float32)[vertices.order]
    return rebase.restore_from_sources(result, base.alphas, vertices.source)


def _encode_materials(
    mesh: PolygonMesh, base: SubObject, shape: _Shape, rows: NDArray[np.void], textures: TextureTable
) -> Flags:
    """Write textures and colours into ``rows`` of `FACE` where they differ from the base's; returns (faces,) where."""
    old_materials, old_index = face_materials(base.faces, textures.labels)
    known = {material_key(material): row for row, material in enumerate(old_materials)}
    index = np.zeros(len(mesh.counts), np.int64) if mesh.material_index is None else mesh.material_index
    materials = mesh.materials
    wanted = np.array([known.get(material_key(material), -1) for material in materials], np.int64)
    own = np.flatnonzero(shape.mesh >= 0)
    changed_materials = np.zeros(len(rows), np.bool_)
    fresh = own[shape.source[own] < 0] if not materials else own
    if materials:
        slots = np.clip(index[shape.mesh[own]], 0, len(materials) - 1)
        before = np.where(
            shape.source[own] >= 0, old_index[np.maximum(shape.source[own], 0)] if len(old_index) else 0, -2
        )
        fresh = own[(before < 0) | (before != wanted[slots])]
    changed_materials[fresh] = True
    for slot, material in enumerate(materials or [Material("")]):
        here = fresh[np.clip(index[shape.mesh[fresh]], 0, max(len(materials) - 1, 0)) == slot]
        if not len(here):
            continue
        textured = bool(material.texture)
        rows["textured"][here] = int(textured)
        rows["texture"][here] = textures.index(material.texture) if textured else -1
        rows["colour"][here] = (0, 0, 0) if textured else material.colour or DEFAULT_COLOUR
    return changed_materials
