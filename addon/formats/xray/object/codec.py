"""Read and write `.object` files: bytes <-> `Object`, chunk by chunk.

A chunk whose body cannot be read as its id promises is kept as bytes and reported, so that one broken chunk does not
make the whole object unreadable. A file is refused only if it contains no object at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from ....core.binary import Reader, Writer
from ....core.errors import ReadError
from ....core.report import Report
from .. import bones, skl
from ..chunks import (
    Chunk,
    ChunkRun,
    Section,
    chunk_path,
    listed,
    open_chunk,
    read_chunks,
    starts_like_chunks,
    stored_size,
    typed,
    with_body,
    write_chunks,
)
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
from .document import BONES, MESHES, MOTIONS, OBJECT, Contents, Mesh, Meshes, Model, Object
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

ContentsType = TypeVar("ContentsType", bound=Contents)
Read = Callable[[Reader, Report], Any]
"""Reader of a chunk's body: returns its value, or None if the chunk is to be kept as bytes."""


def _typed_reader(known: Callable[[Reader], Any]) -> Read:
    return lambda reader, report: typed(known, reader, report)


MESH_CHUNKS: Mapping[int, Read] = {
    0x1000: _typed_reader(Version.read),
    0x1001: _typed_reader(MeshName.read),
    0x1002: _typed_reader(MeshFlags.read),
    0x1003: _typed_reader(Locked.read),
    0x1004: _typed_reader(Box.read),
    0x1005: _typed_reader(Points.read),
    0x1006: _typed_reader(Faces.read),
    UV_MAPS: _typed_reader(partial(VertexMaps.read, layout=UV_MAPS)),
    0x1008: _typed_reader(VertexMapRefs.read),
    0x1009: _typed_reader(SurfacesOfFaces.read),
    0x1010: _typed_reader(Options.read),
    MAPS_WITHOUT_LISTS: _typed_reader(partial(VertexMaps.read, layout=MAPS_WITHOUT_LISTS)),
    MAPS: _typed_reader(VertexMaps.read),
    0x1013: _typed_reader(Smoothing.read),
    0x1014: _typed_reader(Normals.read),
}


def _read_meshes(reader: Reader, report: Report) -> Meshes:
    return _contents(
        Meshes, reader, report, lambda _: lambda body, found: _contents(Mesh, body, found, MESH_CHUNKS.get)
    )


def _read_motions(reader: Reader, report: Report) -> skl.Skl | None:
    try:
        return read_list(reader, report)
    except ReadError as wrong:
        report.warn(f"not readable, kept unchanged: {wrong.problem}", reader.chunk)
        return None


MODEL_CHUNKS: Mapping[int, Read] = {
    0x900: _typed_reader(Version.read),
    0x903: _typed_reader(ObjectFlags.read),
    OLD_SURFACES: _typed_reader(partial(Surfaces.read, layout=OLD_SURFACES)),
    SURFACES_WITHOUT_MATERIAL: _typed_reader(partial(Surfaces.read, layout=SURFACES_WITHOUT_MATERIAL)),
    SURFACES: _typed_reader(Surfaces.read),
    MESHES: _read_meshes,
    0x911: _typed_reader(Stamp.read),
    0x912: _typed_reader(UserData.read),
    0x913: _typed_reader(OldBones.read),
    0x914: _typed_reader(ObjectMotions.read),
    MOTIONS: _read_motions,
    0x918: _typed_reader(CompilerShaders.read),
    0x919: _typed_reader(NumberedParts.read),
    0x920: _typed_reader(ActorTransform.read),
    BONES: bones.read_bones,
    0x922: _typed_reader(Authorship.read),
    0x923: _typed_reader(bones.Parts.read),
    0x924: _typed_reader(MotionReferences.read),
    0x925: _typed_reader(LodName.read),
    0x926: _typed_reader(MotionReferences2.read),
    0x927: _typed_reader(ExportScale.read),
}

starts_like = starts_like_chunks(OBJECT)


def read(data: bytes, file: str, report: Report) -> Object:
    """Read the document of an `.object`. Raises `ReadError` if it contains no object."""
    reader = Reader.of_file(data, file)
    document = _contents(Object, reader, report, {OBJECT: _read_model}.get, once=True)
    if not any(isinstance(section.value, Model) for section in document.sections):
        raise ReadError(
            f"no chunk {OBJECT:#x} (an object); found: {listed([section.chunk for section in document.sections])}",
            file=file,
            remedy="Check that this is an .object of the game's editor and that it was copied whole",
        )
    return document


def _read_model(reader: Reader, report: Report) -> Model:
    model = _contents(Model, reader, report, MODEL_CHUNKS.get)
    if all(section.value is None for section in model.sections):
        raise ReadError(
            f"nothing of an object is in the chunk; found: {listed([section.chunk for section in model.sections])}",
            file=reader.file,
            chunk=reader.chunk,
            offset=reader.start,
            remedy="A tool may have encrypted it: get the unprotected file from its author",
        )
    return model


def _contents(
    kind: type[ContentsType], reader: Reader, report: Report, reads: Callable[[int], Read | None], *, once: bool = False
) -> ContentsType:
    """Read the remaining chunks of ``reader``; with ``once``, type only the first one that can be typed."""
    run = read_chunks(reader, report)
    contents = kind([], run.tail)
    for chunk in run.chunks:
        value, read_body = None, reads(chunk.plain_id)
        if read_body is None:
            report.note("a chunk of unknown meaning, kept unchanged", chunk_path(reader.chunk, chunk.id))
        elif len(chunk.body) or kind is Meshes:
            value = read_body(open_chunk(chunk, reader), report)
            reads = reads if not once else lambda _: None
        contents.sections.append(Section(chunk, value))
    return contents


def write(document: Object) -> bytes:
    """Return the file's bytes."""
    return _write_contents(document)


recompose = write
"""The same as `write`, which already writes all typed values from their fields."""


def _write_contents(contents: Contents) -> bytes:
    return write_chunks(ChunkRun([_chunk(section) for section in contents.sections], contents.tail))


def _chunk(section: Section[Any]) -> Chunk:
    value = section.value
    if value is None:
        return section.chunk
    if isinstance(value, Contents):
        return with_body(section.chunk, _write_contents(value))
    if isinstance(value, bones.Bones):
        return with_body(section.chunk, bones.write(value))
    if isinstance(value, skl.Skl):
        return with_body(section.chunk, skl.write(value))
    writer = Writer()
    value.write(writer)
    return with_body(section.chunk, writer.getvalue())


def raw_size(document: Contents) -> int:
    """Return the number of bytes that are kept without knowing their meaning."""
    return len(document.tail) + sum(_raw_size(section) for section in document.sections)


def _raw_size(section: Section[Any]) -> int:
    value = section.value
    if value is None:
        return stored_size(section.chunk)
    if isinstance(value, Contents):
        return raw_size(value)
    if isinstance(value, bones.Bones):
        return bones.raw_size(value)
    return skl.raw_size(value) if isinstance(value, skl.Skl) else 0
