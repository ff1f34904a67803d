"""Decode the meshes of a level's visuals: ranges of vertices and triangles, vertex attributes; encode edited vertices.

Decoding was compared with the SDK's own float coordinates and face normals. Static surfaces are in world space, trees
in the space of their model. The compiler shifts texture coordinates by whole tiles.

Edited vertices are written into the bytes of `level.geom` and `level.geomx`. Encoding a decoded value does not always
give the compiler's bytes, so only values that differ from the decoded ones are encoded, to the nearest step. Normals,
tangents and unknown data are not changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import space
from ....core.report import Report, say
from .document import Kind, Level, Lists, VisualType
from .geometry import Geometry, VertexBuffer

UV_TILE, TREE_TILE, LIGHT_MAP_TILE = 1024.0, 2048.0, 32768.0
"""Steps per unit of a texture coordinate: of static surfaces, of trees (also of wind stiffness), of lightmaps."""
SURFACES = (VisualType.NORMAL, VisualType.PROGRESSIVE)
TREES = (VisualType.TREE, VisualType.TREE_PROGRESSIVE)
DRAWN = np.dtype([
    ("visual", "<i8"), ("shader", "<i8"), ("vertex_buffer", "<i8"), ("vertex_base", "<i8"), ("vertex_count", "<i8"),
    ("index_buffer", "<i8"), ("index_base", "<i8"), ("triangles", "<i8"),
])  # fmt: skip
"""What a visual draws at one level of detail; rows that are equal except for ``visual`` use the same mesh."""


@dataclass(slots=True, eq=False)
class Vertices:
    """Vertices of a buffer in Blender's axes, float32; None for attributes that its layout does not have.

    ``positions`` and ``normals`` (n, 3), normals of unit length; ``hemi`` (n,) visible share of the sky, 0 to 1;
    ``uvs`` and ``light_map_uvs`` (n, 2) with v up; ``colours`` (n, 4) red, green, blue of static light, and the share
    of the sun; ``wind`` (n,) stiffness of trees.
    """

    positions: NDArray[np.float32]
    normals: NDArray[np.float32] | None = None
    hemi: NDArray[np.float32] | None = None
    uvs: NDArray[np.float32] | None = None
    light_map_uvs: NDArray[np.float32] | None = None
    colours: NDArray[np.float32] | None = None
    wind: NDArray[np.float32] | None = None


def decode_vertices(buffer: VertexBuffer) -> Vertices:
    """Decode the rows of a buffer as its declaration defines. Fields of types unused by the games are left out."""
    rows = buffer.rows
    has_position = _has(rows, "position", "f", 3)
    result = Vertices(space.xray_points(rows["position"]) if has_position else np.zeros((len(rows), 3), np.float32))
    if _has(rows, "normal", "u", 4):
        packed = rows["normal"]
        # Bytes are z, y, x; so Blender's (x, z, y) are the bytes 2, 0, 1.
        normals = packed[:, [2, 0, 1]].astype(np.float32)
        normals *= np.float32(2 / 255)
        normals -= 1
        normals /= np.maximum(np.sqrt(np.einsum("ij,ij->i", normals, normals)), np.float32(1e-6))[:, None]
        result.normals, result.hemi = normals, _divided(packed[:, 3], 255)
    if _has(rows, "uv0", "f", 2):
        result.uvs = _flipped(rows["uv0"])
    elif _has(rows, "uv0", "i", 4):
        result.uvs = _flipped(_divided(rows["uv0"][:, :2], TREE_TILE))
        result.wind = _divided(rows["uv0"][:, 2], TREE_TILE)
    elif _has(rows, "uv0", "i", 2):
        uvs = rows["uv0"].astype(np.float64)
        for axis, name in enumerate(("tangent", "binormal")):
            if _has(rows, name, "u", 4):
                uvs[:, axis] += rows[name][:, 3] / 255.0
        result.uvs = _flipped(_divided(uvs, UV_TILE))
    if _has(rows, "uv1", "i", 2):
        result.light_map_uvs = _flipped(_divided(rows["uv1"], LIGHT_MAP_TILE))
    if _has(rows, "colour", "u", 4):
        result.colours = _divided(rows["colour"][:, [2, 1, 0, 3]], 255)
    return result


def _has(rows: NDArray[np.void], name: str, kind: str, width: int) -> bool:
    """Return whether there is a field of this name with ``width`` floats (f), signed (i) or unsigned integers (u)."""
    if name not in (rows.dtype.names or ()):
        return False
    base, shape = rows.dtype[name].base, rows.dtype[name].shape
    return base.kind == kind and shape == (width,)


def _divided(values: NDArray[Any], by: float) -> NDArray[np.float32]:
    return np.asarray(values / np.float32(by), np.float32)


def _flipped(uvs: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(space.xray_uvs(uvs), np.float32)


def drawn(level: Level, geometry: Geometry, report: Report, detail: float = 0.0) -> NDArray[np.void]:
    """Return (visuals with a mesh,) of `DRAWN`; ``detail`` 0 is the full level of detail, 1 the simplest one.

    Visuals whose ranges are outside of the buffers are left out with a warning.
    """
    visuals = level.visuals
    owners, rows = visuals.owners(Kind.CONTAINER)
    types = visuals.types[owners]
    has_mesh = np.isin(types, (*SURFACES, *TREES))
    owners, rows, types = owners[has_mesh], rows[has_mesh], types[has_mesh]
    containers = visuals.fixed[Kind.CONTAINER][rows]
    result = np.zeros(len(owners), DRAWN)
    result["visual"], result["shader"] = owners, visuals.shaders[owners]
    for name in ("vertex_buffer", "vertex_base", "vertex_count", "index_buffer", "index_base"):
        result[name] = containers[name]
    counts = containers["index_count"].astype(np.int64)
    result["triangles"] = counts // 3
    lists = visuals.rows_of(Kind.WINDOWS)[owners]
    _take_windows(result, counts, lists, visuals.windows.lists, detail)
    swi = visuals.rows_of(Kind.SWI)[owners]
    shared = geometry.windows.lists
    lists = np.append(visuals.fixed[Kind.SWI]["index"].astype(np.int64), -1)[swi]
    missing = (lists >= len(shared)) & (swi >= 0)
    _take_windows(result, counts, np.where(missing, -1, lists), shared, detail)
    fits = ~missing & _in_buffers(result, geometry)
    if not fits.all():
        sentence = "{:# visual refers|# visuals refer} to missing vertices or faces of level.geom; left out"
        report.warn(say(sentence, int((~fits).sum())))
    return np.asarray(result[fits])


def _take_windows(
    result: NDArray[np.void], counts: NDArray[np.int64], lists: NDArray[np.int64], windows: Lists, detail: float
) -> None:
    """Restrict the index ranges of visuals to one window of their list.

    ``lists`` is the index of each visual's list, -1 for none.
    """
    which = np.flatnonzero(lists >= 0)
    lengths = windows.counts[lists[which]]
    which, lengths = which[lengths > 0], lengths[lengths > 0]
    if not len(which):
        return
    rows = windows.starts[lists[which]] + np.floor(detail * (lengths - 1) + 0.5).astype(np.int64)
    windows_used = windows.rows[rows]
    offset, triangles = windows_used["offset"].astype(np.int64), windows_used["triangles"].astype(np.int64)
    # -1 marks a window that ends after the visual's indices; `_in_buffers` rejects it.
    outside = offset + 3 * triangles > counts[which]
    result["index_base"][which] += offset
    result["triangles"][which] = np.where(outside, -1, triangles)


def _in_buffers(rows: NDArray[np.void], geometry: Geometry) -> NDArray[np.bool_]:
    """Return (visuals,) whether the ranges are inside the buffers."""
    fits = rows["triangles"] >= 0
    for buffer, base, count, sizes in (
        (
            "vertex_buffer",
            rows["vertex_base"],
            rows["vertex_count"],
            [len(vertex.rows) for vertex in geometry.vertices],
        ),
        ("index_buffer", rows["index_base"], 3 * rows["triangles"], [len(index) for index in geometry.indices]),
    ):
        known = rows[buffer] < len(sizes)
        size = np.array([*sizes, 0], np.int64)[np.where(known, rows[buffer], -1)]
        fits &= known & (base + count <= size)
    return np.asarray(fits)


def triangles(row: np.void, geometry: Geometry) -> NDArray[np.int32]:
    """Return (triangles, 3) of a row of `drawn`, in Blender's order; indices are local to the visual.

    Triangles with missing vertices are left out.
    """
    begin = int(row["index_base"])
    corners = geometry.indices[int(row["index_buffer"])][begin : begin + 3 * int(row["triangles"])].reshape(-1, 3)
    if len(corners) and int(corners.max()) >= int(row["vertex_count"]):
        corners = corners[(corners < int(row["vertex_count"])).all(axis=1)]
    return space.xray_triangles(corners.astype(np.int32))


def tree_matrices(level: Level, visuals: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return (visuals, 4, 4) world matrices of trees in Blender's axes, column form; the identity for other visuals."""
    result = np.tile(np.eye(4, dtype=np.float32), (len(visuals), 1, 1))
    rows = level.visuals.rows_of(Kind.TREE)[visuals]
    placed = np.flatnonzero(rows >= 0)
    stored = level.visuals.fixed[Kind.TREE]["transform"][rows[placed]]
    swap_yz = [0, 2, 1, 3]
    result[placed] = np.swapaxes(stored, 1, 2)[:, swap_yz][:, :, swap_yz]
    return result


def tree_places(level: Level, visuals: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return (visuals,) the index of each tree's place: trees with the same transform and impostor are parts of one."""
    transforms = np.ascontiguousarray(tree_matrices(level, visuals)).view(np.int32)
    keys = np.column_stack([impostor_of(level)[visuals], transforms.reshape(len(visuals), 16)])
    _, first, index = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))
    return np.asarray(order[index.ravel()], np.int64)


def impostor_of(level: Level) -> NDArray[np.int64]:
    """Return (visuals,) the visual whose impostor stands for each visual from afar; -1 for none."""
    parent_of = parents(level)
    is_impostor = np.append(level.visuals.rows_of(Kind.LOD) >= 0, False)
    return np.where(is_impostor[parent_of], parent_of, -1)


def parents(level: Level) -> NDArray[np.int64]:
    """Return (visuals,) the index of each visual's parent; -1 for roots."""
    visuals = level.visuals
    result = np.full(len(visuals), -1, np.int64)
    owners, lists = visuals.owners(Kind.CHILDREN)
    owner_of_list = np.full(len(visuals.children), -1, np.int64)
    owner_of_list[lists] = owners
    parent_rows, children = np.repeat(owner_of_list, visuals.children.counts), visuals.children.rows.astype(np.int64)
    listed = (parent_rows >= 0) & (children < len(visuals))
    result[children[listed]] = parent_rows[listed]
    return result


def sectors(level: Level) -> NDArray[np.int64]:
    """Return (visuals,) the index of each visual's sector; -1 for none. Parents have larger indices than children."""
    parent_of = parents(level)
    result = np.full(len(parent_of), -1, np.int64)
    for number, sector in enumerate(level.sectors):
        if sector.root is not None and sector.root < len(result):
            result[sector.root] = number
    # Backwards, because parents come after their children. At most 20,000 steps of plain integers.
    sector_list, parent_list = result.tolist(), parent_of.tolist()
    for visual in range(len(sector_list) - 1, -1, -1):
        if sector_list[visual] < 0 <= parent_list[visual] and parent_list[visual] > visual:
            sector_list[visual] = sector_list[parent_list[visual]]
    return np.array(sector_list, np.int64)


# Edited vertices ------------------------------------------------------------------------------------------------------

_INT16_MIN, _INT16_MAX = -32768, 32767
_FRACTIONS_PER_STEP = 255
"""Fractions of a step of a texture coordinate, stored in the fourth byte of tangent and binormal."""


@dataclass(slots=True, eq=False)
class Encoded:
    """Encoded vertices: ``rows`` (n,) of the buffer; ``changed`` and ``moved`` (n,) mark edited vertices and positions.

    ``outside`` (n,) marks vertices whose texture coordinates the format cannot store; they are not changed.
    """

    rows: NDArray[np.void]
    changed: NDArray[np.bool_]
    moved: NDArray[np.bool_]
    outside: NDArray[np.bool_]


def encode(buffer: VertexBuffer, first: int, now: Vertices) -> Encoded:
    """Encode ``now`` as the vertices from index ``first`` on. Attributes that are None are not changed."""
    base = buffer.rows[first : first + len(now.positions)]
    old = decode_vertices(VertexBuffer(buffer.declaration, base))
    rows = base.copy()
    outside = np.zeros(len(rows), np.bool_)
    moved = (now.positions != old.positions).any(axis=1)
    rows["position"][moved] = space.xray_points(now.positions[moved])
    if now.hemi is not None and old.hemi is not None:
        _put(rows["normal"], 3, now.hemi != old.hemi, as_byte(now.hemi))
    if now.colours is not None and old.colours is not None:
        for index, column in zip((2, 1, 0, 3), range(4), strict=True):
            values = now.colours[:, column]
            _put(rows["colour"], index, values != old.colours[:, column], as_byte(values))
    if now.wind is not None and old.wind is not None:
        _put(rows["uv0"], 2, now.wind != old.wind, _steps(now.wind))
    if now.uvs is not None and old.uvs is not None:
        _encode_uvs(rows, now.uvs, now.uvs != old.uvs, outside)
    if now.light_map_uvs is not None and old.light_map_uvs is not None:
        differ = now.light_map_uvs != old.light_map_uvs
        # The value 1 would be one step above the largest integer.
        steps = np.rint(space.xray_uvs(now.light_map_uvs.astype(np.float64)) * LIGHT_MAP_TILE)
        for axis in (0, 1):
            _put_fitting(
                rows["uv1"],
                axis,
                differ[:, axis],
                np.where(steps == _INT16_MAX + 1, _INT16_MAX, steps)[:, axis],
                outside,
            )
    rows[outside] = base[outside]
    changed = _bytes_of(rows) != _bytes_of(base)
    return Encoded(rows, changed.any(axis=1), moved & ~outside, outside)


def _encode_uvs(
    rows: NDArray[np.void], uvs: NDArray[np.float32], differ: NDArray[np.bool_], outside: NDArray[np.bool_]
) -> None:
    stored = rows["uv0"]
    values = space.xray_uvs(uvs.astype(np.float64))
    for axis, name in enumerate(("tangent", "binormal")):
        if stored.dtype.kind == "f":
            _put(stored, axis, differ[:, axis], values[:, axis].astype(np.float32))
        elif stored.shape[1] == 4:
            _put_fitting(stored, axis, differ[:, axis], np.rint(values[:, axis] * TREE_TILE), outside)
        elif name in (rows.dtype.names or ()):
            steps, fraction = np.divmod(np.rint(values[:, axis] * UV_TILE * _FRACTIONS_PER_STEP), _FRACTIONS_PER_STEP)
            _put_fitting(stored, axis, differ[:, axis], steps, outside)
            _put(rows[name], 3, differ[:, axis], fraction.astype(np.uint8))
        else:
            _put_fitting(stored, axis, differ[:, axis], np.rint(values[:, axis] * UV_TILE), outside)


def _put(column: NDArray[Any], index: int, which: NDArray[np.bool_], values: NDArray[Any]) -> None:
    column[which, index] = values[which]


def _put_fitting(
    column: NDArray[Any],
    index: int,
    which: NDArray[np.bool_],
    steps: NDArray[np.float64],
    outside: NDArray[np.bool_],
) -> None:
    with np.errstate(invalid="ignore"):
        fits = (steps >= _INT16_MIN) & (steps <= _INT16_MAX)
    outside |= which & ~fits
    column[which & fits, index] = steps[which & fits].astype(np.int16)


def as_byte(values: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Convert values from 0 to 1 to bytes, rounded and clipped; NaN becomes 0."""
    return np.asarray(np.clip(np.nan_to_num(np.rint(values.astype(np.float64) * 255)), 0, 255), np.uint8)


def _steps(values: NDArray[np.float32]) -> NDArray[np.int16]:
    steps = np.nan_to_num(np.rint(values.astype(np.float64) * TREE_TILE))
    return np.asarray(np.clip(steps, _INT16_MIN, _INT16_MAX), np.int16)


def _bytes_of(rows: NDArray[np.void]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(rows).view(np.uint8).reshape(len(rows), -1)


def move_shadow_copy(
    shadow_points: NDArray[np.float32], before: NDArray[Any], after: NDArray[Any]
) -> tuple[NDArray[np.float32], int]:
    """Move the points ``shadow_points`` (m, 3) of the shadow copy as the positions (n, 3) of its visual were moved.

    Positions are compared bit by bit. The copy has each position once: if vertices at one position moved to several, it
    follows the first that moved. Returns the points, and at how many positions that happened.
    """
    result = shadow_points.copy()
    old_points, new_points = (
        np.ascontiguousarray(side, "<f4").view("V12").ravel().tolist() for side in (before, after)
    )
    targets_of: dict[bytes, set[bytes]] = {}
    first_target: dict[bytes, bytes] = {}
    for old, new in zip(old_points, new_points, strict=True):
        targets_of.setdefault(old, set()).add(new)
        if new != old:
            first_target.setdefault(old, new)
    for number, shadow_point in enumerate(np.ascontiguousarray(shadow_points, "<f4").view("V12").ravel().tolist()):
        if shadow_point in first_target:
            result[number] = np.frombuffer(first_target[shadow_point], "<f4")
    return result, sum(len(targets_of[old]) > 1 for old in first_target)
