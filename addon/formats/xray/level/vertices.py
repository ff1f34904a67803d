"""Vertices of a compiled level that were edited in place, back into the bytes of `level.geom` and `level.geomx`.

Decoding and encoding again does not give the compiler's bytes, so that only what no longer decodes to the same is
encoded, to the nearest step. Normals, tangents and what is not known stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import space
from .geometry import VertexBuffer
from .mesh import LIGHT_MAP_TILE, TREE_TILE, UV_TILE, Vertices, decode_vertices

_LEAST, _MOST = -32768, 32767
_REST = 255
"""Parts of a step of a texture coordinate, in the fourth byte of tangent and binormal."""


@dataclass(slots=True, eq=False)
class Encoded:
    """``rows`` (n,) of the buffer; ``changed`` and ``moved`` (n,) which vertices, and positions, differ in bytes.

    ``outside`` (n,) whose texture coordinates the format cannot hold, which stay.
    """

    rows: NDArray[Any]
    changed: NDArray[np.bool_]
    moved: NDArray[np.bool_]
    outside: NDArray[np.bool_]


def encode(buffer: VertexBuffer, first: int, now: Vertices) -> Encoded:
    """The vertices from ``first`` on as ``now`` (n of them); None in it stays."""
    base = buffer.rows[first : first + len(now.positions)]
    was = decode_vertices(VertexBuffer(buffer.declaration, base))
    rows = base.copy()
    outside = np.zeros(len(rows), np.bool_)
    moved = (now.positions != was.positions).any(axis=1)
    rows["position"][moved] = space.xray_points(now.positions[moved])
    if now.hemi is not None and was.hemi is not None:
        _put(rows["normal"], 3, now.hemi != was.hemi, as_byte(now.hemi))
    if now.colours is not None and was.colours is not None:
        for place, column in zip((2, 1, 0, 3), range(4), strict=True):
            values = now.colours[:, column]
            _put(rows["colour"], place, values != was.colours[:, column], as_byte(values))
    if now.wind is not None and was.wind is not None:
        _put(rows["uv0"], 2, now.wind != was.wind, _steps(now.wind))
    if now.uvs is not None and was.uvs is not None:
        _encode_uvs(rows, now.uvs, now.uvs != was.uvs, outside)
    if now.light_map_uvs is not None and was.light_map_uvs is not None:
        differ = now.light_map_uvs != was.light_map_uvs
        # 1 is one step more than there is.
        steps = np.rint(space.xray_uvs(now.light_map_uvs.astype(np.float64)) * LIGHT_MAP_TILE)
        for axis in (0, 1):
            _put_fitting(
                rows["uv1"], axis, differ[:, axis], np.where(steps == _MOST + 1, _MOST, steps)[:, axis], outside
            )
    rows[outside] = base[outside]
    changed = _bytes_of(rows) != _bytes_of(base)
    return Encoded(rows, changed.any(axis=1), moved & ~outside, outside)


def _encode_uvs(
    rows: NDArray[Any], uvs: NDArray[np.float32], differ: NDArray[np.bool_], outside: NDArray[np.bool_]
) -> None:
    stored = rows["uv0"]
    values = space.xray_uvs(uvs.astype(np.float64))
    for axis, name in enumerate(("tangent", "binormal")):
        if stored.dtype.kind == "f":
            _put(stored, axis, differ[:, axis], values[:, axis].astype(np.float32))
        elif stored.shape[1] == 4:
            _put_fitting(stored, axis, differ[:, axis], np.rint(values[:, axis] * TREE_TILE), outside)
        elif name in (rows.dtype.names or ()):
            whole, rest = np.divmod(np.rint(values[:, axis] * UV_TILE * _REST), _REST)
            _put_fitting(stored, axis, differ[:, axis], whole, outside)
            _put(rows[name], 3, differ[:, axis], rest.astype(np.uint8))
        else:
            _put_fitting(stored, axis, differ[:, axis], np.rint(values[:, axis] * UV_TILE), outside)


def _put(column: NDArray[Any], place: int, which: NDArray[np.bool_], values: NDArray[Any]) -> None:
    column[which, place] = values[which]


def _put_fitting(
    column: NDArray[Any],
    place: int,
    which: NDArray[np.bool_],
    steps: NDArray[np.float64],
    outside: NDArray[np.bool_],
) -> None:
    with np.errstate(invalid="ignore"):
        fits = (steps >= _LEAST) & (steps <= _MOST)
    outside |= which & ~fits
    column[which & fits, place] = steps[which & fits].astype(np.int16)


def as_byte(values: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Shares from 0 to 1 in 255 steps; what is NaN as 0."""
    return np.asarray(np.clip(np.nan_to_num(np.rint(values.astype(np.float64) * 255)), 0, 255), np.uint8)


def _steps(values: NDArray[np.float32]) -> NDArray[np.int16]:
    steps = np.nan_to_num(np.rint(values.astype(np.float64) * TREE_TILE))
    return np.asarray(np.clip(steps, _LEAST, _MOST), np.int16)


def _bytes_of(rows: NDArray[Any]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(rows).view(np.uint8).reshape(len(rows), -1)


def follow(fast: NDArray[np.float32], before: NDArray[Any], after: NDArray[Any]) -> tuple[NDArray[np.float32], int]:
    """The points ``fast`` (m, 3) of the copy for shadows, moved as the positions (n, 3) of its visual did, as bits.

    The copy has each position once: where vertices of one place went to several, it follows the first that moved.
    Returns the points, and how many places that is so of.
    """
    result = fast.copy()
    olds, news = (np.ascontiguousarray(side, "<f4").view("V12").ravel().tolist() for side in (before, after))
    went: dict[bytes, set[bytes]] = {}
    to: dict[bytes, bytes] = {}
    for old, new in zip(olds, news, strict=True):
        went.setdefault(old, set()).add(new)
        if new != old:
            to.setdefault(old, new)
    for number, point in enumerate(np.ascontiguousarray(fast, "<f4").view("V12").ravel().tolist()):
        if point in to:
            result[number] = np.frombuffer(to[point], "<f4")
    return result, sum(len(went[old]) > 1 for old in to)
