"""`level.cform`: the collision of a level, one indexed mesh in world space; not chunked.

A face of version 4 has 16 bytes: three vertices, then game material (14 bits), suppress shadows, suppress wallmarks and
the sector (``FMesh.hpp`` and the level compiler). The engine computes both suppress bits again from the material when
it loads a level, and compilers disagree about them; here they are separate values. A face of versions 2 and 3 (old
builds, known from tools for them, no real file) has 32 bytes: vertices, adjacent faces, an unknown value, sector,
material.

The SDK's `build.cform` is a chunk container. Chunk 0 is such a mesh whose last four bytes per face are an address in
the compiler's memory. Chunk 1 has 36 bytes per face, which the compiler uses for lighting: its own material, the game
material, three texture coordinates, and unknown values (0 in the only real file).

In the `Mesh`, game material, both suppress flags and sector are face attributes. They describe a face of version 4
completely. Faces of older versions and of `build.cform` store more (adjacent faces, data of the compiler), which cannot
be computed here: there, values can be edited, but faces cannot be added, removed or changed.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import polygons, problems, rebase, space, text
from ...core.binary import DAMAGED, Bytes, Reader, Writer, warn_not_finite
from ...core.changes import Changes
from ...core.errors import WriteError
from ...core.model import Attribute, Domain, Mesh
from ...core.problems import Problem
from ...core.report import Report, counted, listed, say
from ...core.walk import Entries, View, Views, fields
from .chunks import (
    CHUNK_VIEWS,
    ChunkRun,
    keep_rest,
    kept_size,
    note_unknown,
    open_chunk,
    read_chunks,
    with_bodies,
    with_chunks,
    write_chunks,
)

HEADER_SIZE = 36
NEWEST = 4
MOST_MATERIAL, MOST_SECTOR = 0x3FFF, 0xFFFF
SHADOWS_BIT, WALLMARKS_BIT = 14, 15
FACE = np.dtype([("vertices", "<u4", 3), ("material_bits", "<u2"), ("sector", "<u2")])
OLD_FACE = np.dtype(
    [("vertices", "<u4", 3), ("adjacent", "<u4", 3), ("unknown", "<u2"), ("sector", "<u2"), ("material", "<u4")]
)
FACES: dict[int, np.dtype[np.void]] = {2: OLD_FACE, 3: OLD_FACE, 4: FACE}
"""Version -> layout of a face."""
LIT_FACE = np.dtype(
    [("build_material", "<u2"), ("material", "<u2"), ("unknown", "<u4"), ("uv", "<f4", (3, 2)), ("unknown_2", "<u4")]
)
"""Additional data of a face in `build.cform`."""
_MESH, _LIT_FACES = 0, 1
MATERIAL, SECTOR = "material", "sector"
SUPPRESS_SHADOWS, SUPPRESS_WALLMARKS = "suppress_shadows", "suppress_wallmarks"
_WORDS = {
    MATERIAL: "{:# material|# materials}",
    SECTOR: "{:# sector|# sectors}",
    SUPPRESS_SHADOWS: "{:# shadow flag|# shadow flags}",
    SUPPRESS_WALLMARKS: "{:# wallmark flag|# wallmark flags}",
}
_HIGHEST = {MATERIAL: MOST_MATERIAL, SECTOR: MOST_SECTOR}


@dataclass(slots=True, eq=False)
class Build:
    """The container of a `build.cform`: its chunks in order, and ``faces`` (faces,) of `LIT_FACE`.

    ``rests``: bytes after the values of a chunk, by its id.
    """

    run: ChunkRun
    faces: NDArray[np.void]
    rests: dict[int, Bytes] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Cform:
    """A collision file, in the file's axes.

    ``box`` (2, 3) and ``vertices`` (vertices, 3) float32; ``faces`` (faces,) in the layout of the version. ``build`` is
    the container if it is a `build.cform`, None for a `level.cform`. ``tail``: bytes after the last face.
    """

    version: int
    box: NDArray[np.float32]
    vertices: NDArray[np.float32]
    faces: NDArray[np.void]
    build: Build | None = None
    file: str = field(default="", compare=False)
    tail: Bytes = b""

    @property
    def name(self) -> str:
        """Name of the file without its folder."""
        return PurePath(self.file.replace("\\", "/")).name or "level.cform"

    @property
    def materials(self) -> NDArray[Any]:
        """(faces,) ids of game materials."""
        if self.build is not None:
            return self.build.faces["material"]
        return self.faces["material"] if self.version < NEWEST else self.faces["material_bits"] & MOST_MATERIAL

    @property
    def suppressed(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]] | None:
        """(faces,) whether shadows and wallmarks are suppressed; None if the file does not store it."""
        if self.build is not None or self.version < NEWEST:
            return None
        word = self.faces["material_bits"]
        return (word >> SHADOWS_BIT & 1).astype(np.bool_), word >= 1 << WALLMARKS_BIT

    @property
    def sectors(self) -> NDArray[np.uint16] | None:
        """(faces,) indices of sectors; None if the file does not store them."""
        return None if self.build is not None else self.faces["sector"]

    def valid_faces(self) -> NDArray[np.bool_]:
        """Return (faces,) whether all vertices of a face exist."""
        # Column by column: five times as fast as all columns together.
        if not len(self.faces) or all(column.max() < len(self.vertices) for column in self.faces["vertices"].T):
            return np.ones(len(self.faces), np.bool_)
        result: NDArray[np.bool_] = np.all(self.faces["vertices"] < len(self.vertices), axis=1)
        return result


def material_bits(
    materials: NDArray[Any], shadows: NDArray[np.bool_], wallmarks: NDArray[np.bool_]
) -> NDArray[np.uint16]:
    """Pack material, suppress shadows and suppress wallmarks into one word per face (faces,)."""
    result: NDArray[np.uint16] = materials.astype(np.uint16)
    for flags, bit in ((shadows, SHADOWS_BIT), (wallmarks, WALLMARKS_BIT)):
        result |= flags.astype(np.uint16) << np.uint16(bit)
    return result


# Bytes <-> document ---------------------------------------------------------------------------------------------------


def starts_like(head: bytes) -> bool:
    """Return whether a file starts with a valid header of a collision mesh, or with a chunk 0 that contains one."""
    if len(head) >= 8 and head[:4] == bytes(4):
        size = int.from_bytes(head[4:8], "little")
        return _is_header(head[8:]) and _image_size(head[8:]) == size
    return _is_header(head)


def _is_header(head: bytes) -> bool:
    if len(head) < HEADER_SIZE or int.from_bytes(head[:4], "little") not in FACES:
        return False
    low, high = np.frombuffer(head[12:HEADER_SIZE], "<f4").reshape(2, 3)
    return bool((low <= high).all())


def _image_size(head: bytes) -> int:
    version, vertices, faces = (int.from_bytes(head[at : at + 4], "little") for at in (0, 4, 8))
    return HEADER_SIZE + 12 * vertices + FACES[version].itemsize * faces


def read(data: bytes, file: str, report: Report) -> Cform:
    """Read the file without copying. Raises `ReadError` if it has fewer bytes than its counts declare."""
    reader = Reader.of_file(data, file)
    reader.refuse_git_pointer()
    if data[:4] == bytes(4):
        return _read_build(reader, report)
    return _read_image(reader, report)


def write(document: Cform) -> bytes:
    """Return the bytes of the file."""
    return _write(document, document.faces)


def recompose(document: Cform) -> bytes:
    """Return the bytes of the file, with the word of every face packed again from material and flags."""
    faces, suppressed = document.faces, document.suppressed
    if suppressed is not None:
        faces = np.empty(len(document.faces), FACE)
        faces["vertices"], faces["sector"] = document.faces["vertices"], document.sectors
        faces["material_bits"] = material_bits(document.materials, *suppressed)
    return _write(document, faces)


def _read_image(reader: Reader, report: Report) -> Cform:
    size = reader.remaining
    version = reader.u32("the version")
    if version not in FACES:
        reader.position = 0
        words = "collision of version {} is not known (known: 2, 3, 4)"
        raise reader.error(say(words, version), "Check that this is a level.cform of S.T.A.L.K.E.R.")
    vertices, faces = reader.u32("the number of vertices"), reader.u32("the number of faces")
    layout = FACES[version]
    wanted = HEADER_SIZE + 12 * vertices + layout.itemsize * faces
    if size < wanted:
        sentence = (
            "cut off: {:# vertex|# vertices} and {:# face|# faces} of version {} take {:# byte|# bytes}, there are {}"
        )
        raise reader.error(say(sentence, vertices, faces, version, wanted, size), DAMAGED)
    document = Cform(
        version,
        reader.array("<f4", 2, 3, what="the bounding box"),
        reader.array("<f4", vertices, 3, what=counted(vertices, "vertex|vertices")),
        reader.array(layout, faces, what=counted(faces, "face")),
        file=reader.file,
    )
    document.tail = reader.rest()
    if len(document.tail):
        report.warn(say("{:# extra byte|# extra bytes} after the last face; kept", len(document.tail)), reader.chunk)
    for what, values in (("bounding box", document.box), ("vertices", document.vertices)):
        warn_not_finite(report, what, values)
    invalid = len(document.faces) - int(np.count_nonzero(document.valid_faces()))
    if invalid:
        report.warn(say("faces that refer to missing vertices: {} of {}", invalid, faces))
    return document


def _read_build(reader: Reader, report: Report) -> Cform:
    run = read_chunks(reader, report)
    body = run.first(_MESH)
    if body is None or not len(body.body):
        raise reader.error(
            "there is no collision mesh (chunk 0x0)", "Check that this is a build.cform of the SDK, copied whole"
        )
    document = _read_image(open_chunk(body, reader), report)
    lit = run.first(_LIT_FACES)
    if lit is None:
        raise reader.error("the faces' materials (chunk 0x1) are missing", "Check that it was copied whole")
    inside = open_chunk(lit, reader)
    document.build = Build(run, inside.array(LIT_FACE, len(document.faces), what="the faces' materials"))
    keep_rest(inside, _LIT_FACES, document.build.rests, report)
    warn_not_finite(report, "texture coordinates", document.build.faces["uv"])
    report.note("a build.cform, the SDK's input for its compiler; sectors are not in it")
    for chunk in run.others((_MESH, _LIT_FACES)):
        note_unknown(report, reader, chunk)
    return document


def _write(document: Cform, faces: NDArray[np.void]) -> bytes:
    writer = Writer()
    for number in (document.version, len(document.vertices), len(faces)):
        writer.u32(number)
    writer.array(document.box, "<f4")
    # Views, copied only once by the join: files have tens of megabytes.
    for rows in (document.vertices, faces):
        writer.raw(np.ascontiguousarray(rows).reshape(-1).view(np.uint8).data)
    writer.raw(document.tail)
    image = writer.getvalue()
    if document.build is None:
        return image
    bodies = {_MESH: image, _LIT_FACES: document.build.faces.tobytes()}
    return write_chunks(with_bodies(document.build.run, bodies, document.build.rests))


def raw_size(document: Cform) -> int:
    """Return the number of bytes that are kept without knowing their meaning."""
    if document.build is None:
        return len(document.tail) + (2 * len(document.faces) if document.version < NEWEST else 0)
    kept = len(document.tail) + kept_size(document.build.run, (_MESH, _LIT_FACES), document.build.rests)
    # 12 per face: the compiler's address and the two unknown fields of `LIT_FACE`.
    return 12 * len(document.faces) + kept


# Document <-> mesh ----------------------------------------------------------------------------------------------------


def decode(document: Cform, report: Report) -> Mesh:
    """Convert to one mesh: vertices and faces in file order, with the face attributes that the file stores.

    Materials and sectors are int32, flags bool. Faces that refer to missing vertices are left out and reported.
    """
    valid, faces = document.valid_faces(), document.faces["vertices"]
    if not valid.all():
        invalid = int(np.count_nonzero(~valid))
        report.warn(say("{:# face refers|# faces refer} to missing vertices; left out", invalid), document.name)
        faces = faces[valid]
    mesh = Mesh(document.name, space.xray_points(document.vertices), space.xray_triangles(faces).view(np.int32))
    for name, values in _values(document, valid).items():
        mesh.attributes[name] = Attribute(Domain.FACE, values)
    return mesh


def _values(document: Cform, valid: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
    """Return the attributes of the valid faces. A 32-bit material that int32 cannot hold becomes a negative number."""
    chosen = slice(None) if valid.all() else valid
    values: dict[str, NDArray[Any]] = {MATERIAL: document.materials[chosen].astype(np.int32)}
    if document.suppressed is not None:
        shadows, wallmarks = document.suppressed
        values[SUPPRESS_SHADOWS], values[SUPPRESS_WALLMARKS] = shadows[chosen], wallmarks[chosen]
    if document.sectors is not None:
        values[SECTOR] = document.sectors[chosen].astype(np.int32)
    return values


def encode(mesh: Mesh, base: Cform | None = None) -> tuple[Cform, Changes]:
    """Return the base, or a new file of version 4, with the geometry and attributes of the mesh, and the changes.

    Attributes that the mesh lacks are taken from the base if the number of faces is the same; otherwise they are 0,
    because the engine computes the suppress flags itself. Raises `WriteError` for a mesh that the file cannot store.
    """
    given = {name: mesh.values(name, Domain.FACE) for name in _WORDS}
    # A file without faces may stay empty.
    missing = () if base is not None and not len(base.faces) else problems.no_faces(mesh)
    problems.refuse([*missing, *problems.points_to_nowhere(mesh), *_out_of_range(mesh, base)], mesh.name)
    positions = space.xray_points(mesh.positions).astype("<f4")
    changes = Changes()
    if base is None:
        changes = Changes(new=say("a new collision file"), extent=say("{:# face|# faces}", len(mesh.triangles)))
        _check_positions(positions, mesh.name)
        empty = np.zeros(len(mesh.triangles), np.int32)
        values = {name: empty if column is None else column for name, column in given.items()}
        faces = np.empty(len(mesh.triangles), FACE)
        faces["vertices"] = space.xray_triangles(mesh.triangles)
        return Cform(NEWEST, _box(positions), positions, _with_values(faces, values), file=mesh.name), changes
    vertices, moved = _encode_vertices(positions, base, mesh.name, changes)
    faces, build = _encode_faces(mesh, base, given, changes)
    if not changes:
        return base, changes
    box = _box(positions) if moved or len(vertices) != len(base.vertices) else base.box
    return Cform(base.version, box, vertices, faces, build, base.file, base.tail), changes


def _out_of_range(mesh: Mesh, base: Cform | None) -> Iterator[Problem]:
    limits = _HIGHEST
    if base is not None and base.build is not None:
        limits = {MATERIAL: 0xFFFF}
    elif base is not None and base.version < NEWEST:
        limits = {SECTOR: MOST_SECTOR}  # materials have 32 bits
    for name, highest in limits.items():
        values = mesh.values(name, Domain.FACE)
        if values is not None:
            yield from problems.out_of_range(values, highest, name)


def _encode_vertices(
    positions: NDArray[np.float32], base: Cform, name: str, changes: Changes
) -> tuple[NDArray[np.float32], bool]:
    if changes.resized("vertices {} -> {}", len(base.vertices), len(positions)):
        _check_positions(positions, name)
        return positions, True
    vertices, edited = rebase.restore_unedited(positions, base.vertices)
    _check_positions(positions[edited], name)
    changes.count(edited, "{:# position|# positions}")
    return vertices, bool(edited.any())


def _check_positions(positions: NDArray[np.float32], name: str) -> None:
    words = "a vertex of {!r} has a NaN or infinite position"
    rebase.refuse_not_finite(say(words, name), "Move or delete it", positions)


def _box(positions: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return minimum and maximum corner, without vertices that are NaN or infinite (from a broken file)."""
    finite = positions if np.isfinite(positions).all() else positions[np.isfinite(positions).all(axis=1)]
    return polygons.bounds(finite)


def _with_values(faces: NDArray[np.void], values: dict[str, NDArray[Any]]) -> NDArray[np.void]:
    flags = (values[name].astype(np.bool_) for name in (SUPPRESS_SHADOWS, SUPPRESS_WALLMARKS))
    faces["material_bits"] = material_bits(values[MATERIAL], *flags)
    faces["sector"] = values[SECTOR]
    return faces


def _encode_faces(
    mesh: Mesh, base: Cform, given: dict[str, NDArray[Any] | None], changes: Changes
) -> tuple[NDArray[np.void], Build | None]:
    """Return the base's faces if nothing changed, including invalid ones, else new ones; and a `build.cform`'s data."""
    valid = base.valid_faces()
    count = int(np.count_nonzero(valid))
    old = _values(base, valid)
    same_count = not changes.resized("faces {} -> {}", count, len(mesh.triangles))
    old_corners = base.faces["vertices"] if count == len(valid) else base.faces["vertices"][valid]
    redrawn = np.ones(0, np.bool_)
    corners = space.xray_triangles(mesh.triangles).astype(np.uint32)
    if same_count:
        redrawn = functools.reduce(np.logical_or, (corners != old_corners).T)
        changes.count(redrawn, "{:# face redrawn|# faces redrawn}")
    values: dict[str, NDArray[Any]] = {}
    edited: dict[str, NDArray[np.bool_]] = {}
    for name, word in _WORDS.items():
        now, before = given[name], old.get(name)
        if now is None and same_count:
            now = before
        elif now is None and before is not None and before.any():
            changes.left_out.append(say("the attribute {!r} is gone, and written as 0", name))
        if now is None:
            now = np.zeros(len(mesh.triangles), np.int32)
        values[name] = now
        if same_count and before is not None:
            edited[name] = np.not_equal(now, before)
            changes.count(edited[name], word)
    if base.build is not None or base.version < NEWEST:
        return _with_new_values(mesh, base, values, edited, same_count and not redrawn.any())
    if same_count and not redrawn.any() and not any(mask.any() for mask in edited.values()):
        return base.faces, None
    if count < len(valid):
        words = "{0:# face|# faces} of the old file that {0:refers|refer} to missing vertices"
        changes.left_out.append(say(words, len(valid) - count))
    if same_count and count == len(valid) and not redrawn.any():
        return _with_values(base.faces.copy(), values), None
    faces = np.empty(len(corners), FACE)
    faces["vertices"] = corners
    return _with_values(faces, values), None


def _with_new_values(
    mesh: Mesh, base: Cform, values: dict[str, NDArray[Any]], edited: dict[str, NDArray[np.bool_]], same: bool
) -> tuple[NDArray[np.void], Build | None]:
    """Return the base's faces with other values. Raises `WriteError` if the faces themselves differ."""
    if not same:
        words = "the faces of {!r} are not those of the file, and what version {} knows of faces cannot be rebuilt"
        if base.build is not None:
            words = (
                "the faces of {!r} are not those of the file, and what a build.cform knows of faces cannot be rebuilt"
            )
        problem = say(words, mesh.name, base.version)
        raise WriteError(problem, remedy="Export it as a new level.cform instead")
    valid = np.flatnonzero(base.valid_faces())
    faces, lit = base.faces.copy(), None if base.build is None else base.build.faces.copy()
    for name, mask in edited.items():
        rows = faces if lit is None else lit
        rows[name][valid[mask]] = values[name][mask].astype(np.int64)
    build = None if base.build is None or lit is None else Build(base.build.run, lit, base.build.rests)
    return faces, build


def _unknown_materials(mesh: Mesh, game_materials: Collection[int]) -> Iterator[Problem]:
    """Yield faces whose game material is not in the game's `gamemtl.xr`."""
    values = mesh.values(MATERIAL, Domain.FACE)
    if values is None or not game_materials:
        return
    wrong = np.isin(values, np.array(sorted(game_materials), np.int64), invert=True)
    unknown = np.unique(values[wrong]).tolist()
    yield from problems.some(
        wrong,
        "face|faces",
        "{0:has|have} a game material that gamemtl.xr lacks ({2})",
        "Set a game material of the list",
        values=(listed(list(map(str, unknown))),),
    )


def find_problems(mesh: Mesh, game_materials: Collection[int] = ()) -> Iterator[Problem]:
    """Yield what a `level.cform` cannot store, and warnings.

    ``game_materials`` are the ids that the game knows; empty if unknown.
    """
    yield from problems.unusable(mesh)
    yield from _out_of_range(mesh, None)
    yield from _unknown_materials(mesh, game_materials)
    yield from problems.likely_mistakes(mesh)


# In words -------------------------------------------------------------------------------------------------------------


def describe(document: Cform) -> list[str]:
    """Return a summary: counts, bounds, materials, sectors."""
    valid = document.valid_faces()
    kind = ", a build.cform" if document.build else ""
    flat = polygons.without_area(document.vertices, document.faces["vertices"][valid])
    lines = [
        f"version {document.version}{kind}, {len(document.vertices)} vertices, {len(document.faces)} faces",
        f"{len(flat)} faces without area, {int((~valid).sum())} that point behind the last vertex",
        f"bounds (file axes): {text.extent(document.box)}, of the vertices {text.extent(document.vertices)}",
        _counted(document.materials, "materials"),
    ]
    if document.sectors is not None:
        lines.append(_counted(document.sectors, "sectors"))
    if document.suppressed is not None:
        shadows, wallmarks = document.suppressed
        lines.append(f"{int(shadows.sum())} faces suppress shadows, {int(wallmarks.sum())} suppress wallmarks")
    return lines


def _counted(values: NDArray[np.uint16], noun: str) -> str:
    different = np.unique(values)
    indices_text = ", ".join(map(str, different[: text.FEW].tolist()))
    word = noun.removesuffix("s") if len(different) == 1 else noun
    return f"{len(different)} {word}: {indices_text}{', ...' if len(different) > text.FEW else ''}"


def _with_flag_columns(document: Cform) -> NDArray[np.void]:
    """Return the faces with material and flags in separate columns."""
    if document.suppressed is None or document.sectors is None:
        return document.faces
    columns = [("vertices", "<u4", 3), ("material", "<u2"), ("shadows", "u1"), ("wallmarks", "u1"), ("sector", "<u2")]
    rows = np.empty(len(document.faces), columns)
    rows["vertices"], rows["material"] = document.faces["vertices"], document.materials
    rows["shadows"], rows["wallmarks"] = document.suppressed
    rows["sector"] = document.sectors
    return rows


def _entries(document: Cform) -> Entries:
    for name, value in fields(document, words={"box": "bounding box"}):
        yield name, _with_flag_columns(document) if name == "faces" else value


VIEWS: Views = {
    **CHUNK_VIEWS,
    Cform: View(entries=_entries),
    Build: with_chunks(lambda _: (_MESH, _LIT_FACES), {"faces": "compiler's faces"}),
}
