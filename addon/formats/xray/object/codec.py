"""Read and write `.object` files: bytes <-> `Object`, chunk by chunk.

A chunk whose body cannot be read as its id promises is kept as bytes and reported, so that one broken chunk does not
make the whole object unreadable. A file is refused only if it contains no object at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from ....core.binary import Reader
from ....core.errors import ReadError
from ....core.report import Report, say
from .. import bones, skl
from ..chunks import (
    listed,
    starts_like_chunks,
)
from ..contents import Contents, Read, body_of, read_contents, typed_reader, unknown_size, write_contents
from ..ogf.chunk_types import MotionReferences, MotionReferences2, UserData
from ..skl import read_list
from .chunk_types import (
    OLD_SURFACES,
    SURFACES,
    SURFACES_WITHOUT_MATERIAL,
    ActorTransform,
    Authorship,
    CompilerShaders,
    ExportScale,
    LodName,
    NumberedParts,
    ObjectFlags,
    ObjectMotions,
    OldBones,
    Stamp,
    Surfaces,
)
from .document import BONES, MESHES, MOTIONS, OBJECT, Mesh, Meshes, Model, Object
from .mesh_chunks import (
    MAPS,
    MAPS_WITHOUT_LISTS,
    UV_MAPS,
    Box,
    Faces,
    Locked,
    MeshFlags,
    MeshName,
    Normals,
    Options,
    Points,
    Smoothing,
    SurfacesOfFaces,
    Version,
    VertexMapRefs,
    VertexMaps,
)

MESH_CHUNKS: Mapping[int, Read] = {
    0x1000: typed_reader(Version.read),
    0x1001: typed_reader(MeshName.read),
    0x1002: typed_reader(MeshFlags.read),
    0x1003: typed_reader(Locked.read),
    0x1004: typed_reader(Box.read),
    0x1005: typed_reader(Points.read),
    0x1006: typed_reader(Faces.read),
    UV_MAPS: typed_reader(partial(VertexMaps.read, layout=UV_MAPS)),
    0x1008: typed_reader(VertexMapRefs.read),
    0x1009: typed_reader(SurfacesOfFaces.read),
    0x1010: typed_reader(Options.read),
    MAPS_WITHOUT_LISTS: typed_reader(partial(VertexMaps.read, layout=MAPS_WITHOUT_LISTS)),
    MAPS: typed_reader(VertexMaps.read),
    0x1013: typed_reader(Smoothing.read),
    0x1014: typed_reader(Normals.read),
}


def _read_meshes(reader: Reader, report: Report) -> Meshes:
    return read_contents(Meshes, reader, report, lambda _: _read_mesh, empty=True)


def _read_mesh(reader: Reader, report: Report) -> Mesh:
    return read_contents(Mesh, reader, report, MESH_CHUNKS.get)


def _read_motions(reader: Reader, report: Report) -> skl.Skl | None:
    try:
        return read_list(reader, report)
    except ReadError as wrong:
        report.warn(say("not readable, kept unchanged: {}", wrong.problem), reader.chunk)
        return None


MODEL_CHUNKS: Mapping[int, Read] = {
    0x900: typed_reader(Version.read),
    0x903: typed_reader(ObjectFlags.read),
    OLD_SURFACES: typed_reader(partial(Surfaces.read, layout=OLD_SURFACES)),
    SURFACES_WITHOUT_MATERIAL: typed_reader(partial(Surfaces.read, layout=SURFACES_WITHOUT_MATERIAL)),
    SURFACES: typed_reader(Surfaces.read),
    MESHES: _read_meshes,
    0x911: typed_reader(Stamp.read),
    0x912: typed_reader(UserData.read),
    0x913: typed_reader(OldBones.read),
    0x914: typed_reader(ObjectMotions.read),
    MOTIONS: _read_motions,
    0x918: typed_reader(CompilerShaders.read),
    0x919: typed_reader(NumberedParts.read),
    0x920: typed_reader(ActorTransform.read),
    BONES: bones.read_bones,
    0x922: typed_reader(Authorship.read),
    0x923: typed_reader(bones.Parts.read),
    0x924: typed_reader(MotionReferences.read),
    0x925: typed_reader(LodName.read),
    0x926: typed_reader(MotionReferences2.read),
    0x927: typed_reader(ExportScale.read),
}

starts_like = starts_like_chunks(OBJECT)


def read(data: bytes, file: str, report: Report) -> Object:
    """Read the document of an `.object`. Raises `ReadError` if it contains no object."""
    reader = Reader.of_file(data, file)
    document = read_contents(Object, reader, report, {OBJECT: _read_model}.get, once=True)
    if not any(isinstance(section.value, Model) for section in document.sections):
        raise ReadError(
            say(
                "no chunk {:#x} (an object); found: {}",
                OBJECT,
                listed([section.chunk for section in document.sections]),
            ),
            file=file,
            remedy="Check that this is an .object of the game's editor and that it was copied whole",
        )
    return document


def _read_model(reader: Reader, report: Report) -> Model:
    model = read_contents(Model, reader, report, MODEL_CHUNKS.get)
    if all(section.value is None for section in model.sections):
        raise ReadError(
            say(
                "nothing of an object is in the chunk; found: {}", listed([section.chunk for section in model.sections])
            ),
            file=reader.file,
            chunk=reader.chunk,
            offset=reader.start,
            remedy="A tool may have encrypted it: get the unprotected file from its author",
        )
    return model


def write(document: Object) -> bytes:
    """Return the file's bytes."""
    return write_contents(document, _body)


recompose = write
"""The same as `write`, which already writes all typed values from their fields."""


def _body(value: Any) -> bytes:
    return skl.write(value) if isinstance(value, skl.Skl) else body_of(value)


def raw_size(document: Contents) -> int:
    """Return the number of bytes that are kept without knowing their meaning."""
    return unknown_size(document, lambda value: skl.raw_size(value) if isinstance(value, skl.Skl) else 0)
