"""`.dm`: a detail model: grass and litter around the camera, rain, lightning; also used inside `.details`.

Not chunked: shader, texture, flags, range of random scale, vertices of 20 bytes, 16-bit indices. Sources: the engine's
``DetailModel.cpp`` and the editor's ``EDetailModel.cpp``. Flag 1 disables waving in the wind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import PurePath

import numpy as np
from numpy.typing import NDArray

from ...core import names, polygons, problems, rebase, space, text
from ...core.binary import Bytes, Reader, Writer, warn_not_finite
from ...core.changes import POSITIONS, TEXTURE_COORDINATES, Changes
from ...core.model import FILE_VERTEX, Domain, Material, Mesh
from ...core.problems import Problem
from ...core.report import Report, counted, say
from ...core.walk import View, Views

VERTEX = np.dtype([("position", "<f4", 3), ("uv", "<f4", 2)])
NO_WAVING = 1
MOST_VERTICES = 0xFFFF
DEFAULT_MATERIAL = Material("build_details", "build_details", "details\\blend")
"""Material of the detail models of real levels."""


@dataclass(frozen=True)
class Properties:
    """Properties of a detail model besides its mesh: waving in the wind, and the range of its random scale."""

    waving: bool = True
    min_scale: float = 0.5
    max_scale: float = 2.0


@dataclass(slots=True, eq=False)
class Dm:
    """A detail model.

    ``scale`` (2,) float32 minimum and maximum; ``vertices`` (vertices,) of `VERTEX`; ``corners`` (indices,) uint16.
    ``tail`` are the bytes after the model (broken files only).
    """

    shader: bytes
    texture: bytes
    flags: int
    scale: NDArray[np.float32]
    vertices: NDArray[np.void]
    corners: NDArray[np.uint16]
    tail: Bytes = b""
    file: str = field(default="", compare=False)

    @property
    def properties(self) -> Properties:
        """Waving and scale as `Properties`."""
        return Properties(not self.flags & NO_WAVING, float(self.scale[0]), float(self.scale[1]))

    @property
    def triangles(self) -> NDArray[np.uint16]:
        """(triangles, 3) the complete triangles."""
        return self.corners[: len(self.corners) // 3 * 3].reshape(-1, 3)


_TWO_NAMES_AND_FLAGS = re.compile(rb"[^\x00-\x1f]+\x00[^\x00-\x1f]+\x00[\x00-\xff]\x00\x00\x00", re.DOTALL)


def starts_like(head: bytes) -> bool:
    """Return whether a file starts with two names and flags below 256."""
    return _TWO_NAMES_AND_FLAGS.match(head) is not None


def read(data: bytes, file: str, report: Report) -> Dm:
    """Read a `.dm` file. Raises `ReadError` if it is cut off."""
    reader = Reader.of_file(data, file)
    reader.refuse_git_pointer()
    return read_model(reader, report)


def read_model(reader: Reader, report: Report) -> Dm:
    """Read a model from the rest of ``reader``. Raises `ReadError` if it is cut off."""
    shader, texture = reader.string("the shader's name"), reader.string("the texture's name")
    flags = reader.u32("the flags")
    scale = reader.array("<f4", 2, what="the scale")
    vertices, corners = reader.u32("the number of vertices"), reader.u32("the number of indices")
    document = Dm(
        shader,
        texture,
        flags,
        scale,
        reader.array(VERTEX, vertices, what=counted(vertices, "vertex|vertices")),
        reader.array("<u2", corners, what=counted(corners, "index|indices")),
        file=reader.file,
    )
    document.tail = reader.rest()
    where = reader.chunk
    inside = f" of chunk {where}" if where else ""
    for what, values in (("scales", scale), ("vertices", document.vertices)):
        warn_not_finite(report, f"{what}{inside}", values)
    if len(document.tail):
        report.warn(say("{:# extra byte|# extra bytes} after the model; kept", len(document.tail)), where)
    if corners % 3:
        report.warn(say("{:# corner does|# corners do} not make whole triangles", corners), where)
    if corners and int(document.corners.max()) >= vertices:
        report.warn("triangles refer to missing vertices", where)
    return document


def write(document: Dm) -> bytes:
    """Return the bytes of the file, all written from typed values."""
    writer = Writer()
    writer.string(document.shader)
    writer.string(document.texture)
    writer.u32(document.flags)
    writer.array(document.scale, "<f4")
    writer.u32(len(document.vertices))
    writer.u32(len(document.corners))
    writer.raw(document.vertices.tobytes())
    writer.array(document.corners, "<u2")
    writer.raw(document.tail)
    return writer.getvalue()


recompose = write


def raw_size(document: Dm) -> int:
    """Return the number of bytes that are kept without knowing their meaning."""
    return len(document.tail)


def describe(document: Dm) -> list[str]:
    """Return a summary: counts, texture, scale, bounds."""
    props = document.properties
    return [
        f"{len(document.vertices)} vertices, {len(document.triangles)} triangles",
        f"texture {names.decode(document.texture)}, shader {names.decode(document.shader)}",
        f"{'waves' if props.waving else 'does not wave'}, scale {props.min_scale:g} to {props.max_scale:g}",
        f"bounds (file axes): {text.extent(document.vertices['position'])}",
    ]


VIEWS: Views = {Dm: View(words={"corners": "indices"})}


# Document <-> mesh ---------------------------------------------------------------------------------------------------


def decode(document: Dm, report: Report, name: str = "") -> Mesh:
    """Convert to a mesh with texture coordinates and its one material; for the other values see `Dm.properties`.

    ``name`` of the mesh; default: the name of the file. Triangles that refer to missing vertices are left out and
    reported.
    """
    name = name or PurePath(document.file.replace("\\", "/")).stem or "detail"
    faces = document.triangles
    valid = (faces < len(document.vertices)).all(axis=1)
    if not valid.all():
        lost = int((~valid).sum())
        report.warn(say("{:# triangle refers|# triangles refer} to missing vertices; left out", lost), name)
        faces = faces[valid]
    return Mesh(
        name,
        space.xray_points(document.vertices["position"]),
        space.xray_triangles(faces).astype(np.int32),
        uvs=space.xray_uvs(document.vertices["uv"]),
        materials=[material_of(document)],
        material_index=np.zeros(len(faces), np.int32),
    )


def material_of(document: Dm) -> Material:
    """Return the material of a model, named after the last part of the texture's path."""
    texture, shader = names.decode(document.texture), names.decode(document.shader)
    return Material(texture.replace("/", "\\").rpartition("\\")[2] or shader, texture, shader)


def with_corner_uvs(mesh: Mesh, uvs: NDArray[np.float32]) -> Mesh:
    """Return the mesh with texture coordinates per vertex, from ``uvs`` (faces, 3, 2) per corner.

    A vertex is split only if its corners have different texture coordinates.
    """
    flat = uvs.reshape(-1, 2)
    split = polygons.split_corners(mesh.triangles.ravel(), flat, len(mesh.positions))
    by_vertex = np.zeros((len(split.source), 2), np.float32)
    used = split.corner >= 0
    by_vertex[used] = flat[split.corner[used]]
    if mesh.uvs is not None:
        by_vertex[~used] = mesh.uvs[split.source[~used]]
    attributes = {
        name: replace(attribute, values=attribute.values[split.source])
        if attribute.domain is Domain.VERTEX
        else attribute
        for name, attribute in mesh.attributes.items()
    }
    return replace(
        mesh,
        positions=mesh.positions[split.source],
        triangles=split.vertex.reshape(-1, 3),
        uvs=by_vertex,
        normals=None,
        weights=None,
        groups=[],
        attributes=attributes,
    )


def encode(mesh: Mesh, base: Dm | None = None, properties: Properties | None = None) -> tuple[Dm, Changes]:
    """Return the base, or a new model, with the mesh, its material and ``properties``, and the changes.

    ``properties`` None: those of the base. Raises `WriteError` for what the game cannot load.
    """
    problems.refuse(_fatal_problems(mesh, None if base is None else len(base.triangles)), mesh.name)
    changes = Changes()
    material = _material_of(mesh)
    if base is None:
        material = material or DEFAULT_MATERIAL
        base = Dm(b"", b"", 0, np.zeros(2, "<f4"), np.zeros(0, VERTEX), np.zeros(0, "<u2"))
        properties = properties or Properties()
    document = replace(base)
    if material is not None:
        document.shader, document.texture = (
            stored if names.decode(stored) == wanted else names.encode(wanted)
            for stored, wanted in ((base.shader, material.shader), (base.texture, material.texture))
        )
        if (document.shader, document.texture) != (base.shader, base.texture):
            changes.note(say("texture or shader"))
    if properties is not None and properties != base.properties:
        document.flags = base.flags & ~NO_WAVING | (0 if properties.waving else NO_WAVING)
        document.scale = np.array([properties.min_scale, properties.max_scale], "<f4")
        changes.note(say("waving or scale"))
    document.vertices = _encode_vertices(mesh, base, changes)
    document.corners = _encode_corners(mesh, base, changes)
    return (document if changes else base), changes


def compare(before: Dm, after: Dm) -> Changes:
    """Return what differs in ``after``, in the words of an export. Raises `WriteError` for what an export refuses."""
    return encode(decode(after, Report()), before, after.properties)[1]


def _material_of(mesh: Mesh) -> Material | None:
    if not mesh.materials:
        return None
    index = mesh.material_index
    return mesh.materials[int(index[0]) if index is not None and len(index) else 0]


def _encode_vertices(mesh: Mesh, base: Dm, changes: Changes) -> NDArray[np.void]:
    """Return the vertices. A base vertex that was not moved keeps its bits, also if others were added or deleted."""
    count = len(mesh.positions)
    given = mesh.values(FILE_VERTEX, Domain.VERTEX)
    source = rebase.sources(np.arange(count) if given is None else given, count, len(base.vertices))
    rows = np.zeros(count, VERTEX)
    old = base.vertices
    rows["position"], moved = rebase.restore_from_sources(space.xray_points(mesh.positions), old["position"], source)
    uvs = np.zeros((count, 2), np.float32) if mesh.uvs is None else mesh.uvs.astype(np.float32)
    # Compared as shown in Blender: flipping v twice can change its last bit.
    rows["uv"], uvs_edited = rebase.restore_from_sources(
        space.xray_uvs(uvs), old["uv"], source, (uvs, space.xray_uvs(old["uv"]))
    )
    edited = rows[moved | uvs_edited]
    message = say("a vertex of {!r} holds NaN or infinite values", mesh.name)
    rebase.refuse_not_finite(message, "Correct or delete it", edited["position"], edited["uv"])
    if not changes.resized("vertices {} -> {}", len(base.vertices), count):
        changes.count_fields(rows, base.vertices, {"position": POSITIONS, "uv": TEXTURE_COORDINATES})
    return rows


def _encode_corners(mesh: Mesh, base: Dm, changes: Changes) -> NDArray[np.uint16]:
    """Return the base's indices, including broken triangles, unless the triangles were changed."""
    corners = space.xray_triangles(mesh.triangles)
    valid = (base.triangles < len(base.vertices)).all(axis=1)
    if np.array_equal(corners, base.triangles[valid]):
        return base.corners
    count = int(np.count_nonzero(valid))
    if not changes.resized("triangles {} -> {}", count, len(corners)):
        changes.count((corners != base.triangles[valid]).any(axis=1), "{:# triangle redrawn|# triangles redrawn}")
    if 3 * count < len(base.corners):
        changes.left_out.append(say("corners of the old file that do not make triangles"))
    return corners.ravel().astype("<u2")


def _fatal_problems(mesh: Mesh, base_triangles: int | None = None) -> Iterator[Problem]:
    if base_triangles != 0:
        yield from problems.no_faces(mesh)
    yield from problems.points_to_nowhere(mesh)
    count = len(mesh.positions)
    if count > MOST_VERTICES:
        yield problems.whole(
            say("it has {:# vertex|# vertices}, the game supports {}", count, MOST_VERTICES),
            "Make it coarser, or join what the texture seams cut apart",
        )
    if len(_materials_used(mesh)) > 1:
        yield problems.whole("it has several materials, the game supports one", "Separate it by material")


def _materials_used(mesh: Mesh) -> set[tuple[str, str, int]]:
    """Return the materials of the faces; copies of one that names its texture are one to the game."""
    used = [] if mesh.material_index is None else np.unique(mesh.material_index).tolist()
    pairs = [(mesh.materials[index] if mesh.materials else Material(""), index) for index in used]
    return {(material.texture, material.shader, -1 if material.texture else number) for material, number in pairs}


def find_problems(mesh: Mesh) -> Iterator[Problem]:
    """Yield what the game would refuse, and warnings."""
    yield from _fatal_problems(mesh)
    yield from problems.likely_mistakes(mesh)
