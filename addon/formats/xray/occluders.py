"""Common code of `.hom` and `.som`: separate triangles in world space, each with a few values, after a version.

Chunk 0 contains the version (0), chunk 1 the triangles. They share no vertices: the engine merges vertices within 0.01
m when it loads them (``HOM.cpp``, ``SoundRender_Scene.cpp``). All other data of the file is kept unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import polygons, problems, rebase, space, text
from ...core.binary import Bytes, Reader, warn_not_finite
from ...core.changes import Changes
from ...core.model import FILE_FACE, Attribute, Domain, Mesh
from ...core.report import Report, counted, say
from ...core.walk import Views
from .chunks import (
    CHUNK_VIEWS,
    Chunk,
    ChunkRun,
    note_unknown,
    open_chunk,
    read_chunks,
    stored_size,
    with_bodies,
    with_chunks,
    write_chunks,
)

VERSION, TRIANGLES = 0, 1
ENGINE_MERGES_WITHIN = 0.01
"""Metres within which the engine merges vertices; a good tolerance for welding."""

POSITIONS, TWO_SIDED_FLAGS = "{:# triangle position|# triangle positions}", "{:# two-sided flag|# two-sided flags}"
TWO_SIDED = "two_sided"
_SUFFIXES = {40: ".hom", 44: ".som"}
"""Size of a triangle -> the format that has it."""


@dataclass(slots=True, eq=False)
class Occluders:
    """A `.hom` or `.som` file: ``rows`` (triangles,) with ``positions`` (3, 3), file axes, and the format's own values.

    ``run`` are the file's chunks in order; ``rest`` the bytes after the last whole triangle (broken files only).
    """

    rows: NDArray[np.void]
    run: ChunkRun
    rest: Bytes = b""
    file: str = field(default="", compare=False)


def new(rows: NDArray[np.void]) -> Occluders:
    """Create a file with only these triangles."""
    return Occluders(rows, ChunkRun([Chunk(VERSION, bytes(4)), Chunk(TRIANGLES, rows.tobytes())]))


def read(data: bytes, file: str, report: Report, layout: np.dtype[np.void]) -> Occluders:
    """Read the file. Raises `ReadError` if it has no chunk of triangles, whole ones of the other format only, or an
    unknown version.
    """
    reader = Reader.of_file(data, file)
    run = read_chunks(reader, report)
    version, body = run.first(VERSION), run.first(TRIANGLES)
    if version is not None and len(version.body):
        head = open_chunk(version, reader)
        number = head.u32("the version")
        if number:
            words = "version {} is not known (known: 0)"
            raise head.error(say(words, number), "Check that the file is of this format and that it was copied whole")
        if head.remaining:
            report.warn(say("{:# extra byte|# extra bytes} after the version; kept", head.remaining), head.chunk)
    if body is None:
        raise reader.error(
            "there are no triangles (chunk 0x1)", "Check that the file is of this format and that it was copied whole"
        )
    inside = open_chunk(body, reader)
    count = inside.remaining // layout.itemsize
    for size, suffix in _SUFFIXES.items():
        if inside.remaining % layout.itemsize and not inside.remaining % size:
            raise inside.error(
                say("the triangles have the size of those of a {} file", suffix), say("Rename it to {}", suffix)
            )
    rows = inside.array(layout, count, what=counted(count, "triangle"))
    rest = inside.rest()
    if len(rest):
        report.warn(say("{:# extra byte|# extra bytes} after the last whole triangle; kept", len(rest)), inside.chunk)
    warn_not_finite(report, "triangles", rows)
    if not count:
        report.warn("there is no triangle in it; the game treats the file as missing")
    for chunk in run.others((VERSION, TRIANGLES)):
        note_unknown(report, reader, chunk)
    return Occluders(rows, run, rest, file)


def write(document: Occluders) -> bytes:
    """Return the bytes of the file."""
    rows = document.rows.tobytes()
    body = rows + bytes(document.rest) if len(document.rest) else rows
    return write_chunks(with_bodies(document.run, {TRIANGLES: body}))


def raw_size(document: Occluders) -> int:
    """Return the number of bytes that are kept without knowing their meaning."""
    kept = sum(stored_size(chunk) for chunk in document.run.others((VERSION, TRIANGLES)))
    version = document.run.first(VERSION)
    behind_version = max(stored_size(version) - 4, 0) if version is not None else 0
    return kept + behind_version + len(document.rest) + len(document.run.tail)


def describe(document: Occluders) -> list[str]:
    """Return a summary: counts and bounds."""
    rows = document.rows
    area = polygons.areas(*_soup(rows))
    return [
        f"{len(rows)} triangles, {int((area == 0).sum())} without area",
        f"{int((rows['two_sided'] != 0).sum())} two-sided, {int((rows['two_sided'] == 0).sum())} one-sided",
        f"bounds (file axes): {text.extent(rows['positions'].reshape(-1, 3))}",
    ]


VIEWS: Views = {**CHUNK_VIEWS, Occluders: with_chunks(lambda _: (TRIANGLES,), {"rows": "triangles"})}


def decode(document: Occluders, name: str, weld: float | None = None) -> Mesh:
    """Convert the triangles to a mesh with the face attribute `TWO_SIDED`, three vertices per triangle, in file order.

    ``name`` is used if the document has no file name. ``weld``: merge vertices within this tolerance in metres; 0
    merges only vertices that are equal bit by bit, None merges nothing.
    """
    points, corners = _soup(document.rows)
    positions = space.xray_points(points)
    if weld is not None:
        welded = polygons.weld(points, weld)
        positions, corners = positions[welded.source], welded.vertex[corners]
    mesh = Mesh(PurePath(document.file.replace("\\", "/")).name or name, positions, space.xray_triangles(corners))
    mesh.attributes[TWO_SIDED] = Attribute(Domain.FACE, document.rows["two_sided"] != 0)
    return mesh


def _soup(rows: NDArray[np.void]) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """Return positions (3 * triangles, 3) and triangles, in the file's axes and order."""
    return rows["positions"].reshape(-1, 3), np.arange(3 * len(rows), dtype=np.int32).reshape(-1, 3)


def encode_rows(
    mesh: Mesh, base: Occluders | None, layout: np.dtype[np.void], weld: float | None
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return new rows with the corners and sides of the mesh, and the base's row of each (-1 for none).

    These are the base's own rows if nothing was edited. Rows with a base row are copies of it; only the positions of
    moved corners are replaced. Welding with a tolerance,
    which must be given again here, does not count as moving. Faces without a base row are two-sided if the mesh has no
    `TWO_SIDED`, because a one-sided face that faces the wrong way hides nothing. Raises `WriteError`.
    """
    # A file without triangles may stay empty, although the game treats it as missing.
    missing = () if base is not None and not len(base.rows) else problems.no_faces(mesh)
    problems.refuse([*missing, *problems.points_to_nowhere(mesh)], mesh.name)
    positions = space.xray_points(mesh.positions).astype("<f4", copy=False)
    corners = np.take(positions, space.xray_triangles(mesh.triangles), axis=0)
    source = rebase.sources(mesh.values(FILE_FACE, Domain.FACE), len(corners), 0 if base is None else len(base.rows))
    in_order = base is not None and rebase.are_all_in_order(source, len(base.rows))
    rows = base.rows if base is not None and in_order else np.zeros(len(corners), layout)
    known = np.flatnonzero(source >= 0)
    points, moved = corners.reshape(-1, 3), np.ones(3 * len(corners), np.bool_)
    if base is not None and len(known):
        if not in_order:
            rows[known] = base.rows[source[known]]
        stored = base.rows["positions"].reshape(-1, 3)
        if in_order and not weld:
            points, moved = rebase.restore_unedited(points, stored)
        else:
            welded = polygons.weld(stored, weld) if weld else None
            seen = (points, stored if welded is None else stored[welded.source][welded.vertex])
            of_corner = np.where(source[:, None] < 0, -1, 3 * source[:, None] + np.arange(3)).ravel()
            points, moved = rebase.restore_from_sources(points, stored, of_corner, seen)
    is_edited = rebase.in_any_column(moved.reshape(-1, 3))
    rows = with_values(rows, "positions", points.reshape(-1, 3, 3), is_edited)
    words = "a vertex of {!r} has a NaN or infinite position"
    rebase.refuse_not_finite(say(words, mesh.name), "Move or delete it", rows["positions"][is_edited])
    sides = mesh.values(TWO_SIDED, Domain.FACE)
    wanted = sides.astype(np.bool_) if sides is not None else np.where(source >= 0, rows["two_sided"] != 0, True)
    return with_values(rows, "two_sided", wanted, wanted != (rows["two_sided"] != 0)), source


def with_values(
    rows: NDArray[np.void], name: str, values: NDArray[Any], changed: NDArray[np.bool_]
) -> NDArray[np.void]:
    """Return rows with ``values`` of a field where they ``changed``; the same rows if none did."""
    if changed.any():
        rows = rows.copy()
        rows[name][changed] = values[changed]
    return rows


def with_rows(rows: NDArray[np.void], base: Occluders | None, templates: dict[str, str]) -> tuple[Occluders, Changes]:
    """Return the base, or a new file, with these rows, and the changes. ``templates`` count the fields."""
    if base is None:
        triangles = say("{:# triangle|# triangles}", len(rows))
        return new(rows), Changes(new=say("a new occluder file"), extent=triangles)
    changes = Changes()
    if rows is not base.rows and not changes.resized("triangles {} -> {}", len(base.rows), len(rows)):
        changes.count_fields(rows, base.rows, templates)
    if not changes:
        return base, changes
    if len(base.rest):
        changes.left_out.append(say("{:# byte|# bytes} after the last whole triangle of the old file", len(base.rest)))
    return Occluders(rows, base.run, b"", base.file), changes


def starts_like(head: bytes, layout: np.dtype[np.void]) -> bool:
    """Return whether a file starts with a version 0 and a chunk of whole triangles of this layout."""
    if len(head) < 20:
        return False
    identifier, size, version, second, length = np.frombuffer(head[:20], "<u4").tolist()
    return (identifier, size, version, second) == (VERSION, 4, 0, TRIANGLES) and length % layout.itemsize == 0
