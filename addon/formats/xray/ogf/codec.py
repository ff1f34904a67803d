"""Read and write `.ogf` files: bytes <-> `Ogf`, chunk by chunk.

A chunk whose body cannot be read as its id promises is kept as bytes and reported, so that one broken chunk does not
make the whole model unreadable. Only a file without a readable header is refused.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from ....core.binary import Reader, warn_not_finite
from ....core.errors import ReadError
from ....core.report import Report, say
from ..chunks import Section, note_unknown, open_chunk, read_chunks, starts_like_chunks
from ..contents import Contents, ContentsType, unknown_size, write_contents
from ..omf.codec import body_of_value, raw_size_of_value, read_motions, read_parameters
from ..omf.document import MotionLibrary, Parameters
from .chunk_types import (
    BoneNames,
    Bounds,
    Description,
    GeometryContainer,
    Header,
    IkData,
    IkLayout,
    IndexContainer,
    Indices,
    Links,
    LodFaces,
    LodPath,
    MotionReferences,
    MotionReferences2,
    SlidingWindows,
    Sphere,
    SwiContainer,
    Texture,
    TextureLinks,
    TreeShape,
    UserData,
    VertexContainer,
    Vertices,
)
from .document import HEADER, LOD, Children, FastPath, Ogf, Value

_NOT_A_MODEL = "Check that this is a model of S.T.A.L.K.E.R. and that it was copied whole"


@dataclass(slots=True)
class _Context:
    """What a reader of chunks needs to know of the visual; ``bones`` is the number of bones, None if unknown."""

    report: Report
    file: str
    version: int
    bones: int | None = None


Read = Callable[[Reader, _Context], Value]


def _without_context(read_value: Callable[[Reader], Value]) -> Read:
    return lambda reader, _context: read_value(reader)


def _ik(layout: IkLayout) -> Read:
    return lambda reader, context: IkData.read(reader, context.bones, layout)


def _read_children(reader: Reader, context: _Context) -> Children:
    return _read_chunks(Children, reader, context, lambda _: lambda part, _context: read_visual(part, context.report))


def _read_fast_path(reader: Reader, context: _Context) -> FastPath:
    return _read_chunks(FastPath, reader, context, _READERS[4].get)


def _read_chunks(
    kind: type[ContentsType], reader: Reader, context: _Context, reads: Callable[[int], Read | None]
) -> ContentsType:
    run = read_chunks(reader, context.report)
    contents = kind([Section(chunk) for chunk in run.chunks], run.tail)
    for section in contents.sections:
        _read_section(section, reader, context, reads(section.chunk.plain_id))
    return contents


def _read_description(reader: Reader, context: _Context) -> Description:
    description = Description.read(reader)
    if not description.complete:
        finding = "the description is broken (mods do that to protect a model); read as far as it goes"
        context.report.warn(finding, reader.chunk)
    return description


def _read_lod(reader: Reader, context: _Context) -> Ogf | LodPath:
    """Read the distant model: a whole visual if the bytes begin with the id of a header chunk, else a path."""
    if reader.remaining >= 4 and bytes(reader.data[reader.position : reader.position + 4]) == b"\1\0\0\0":
        return read_visual(reader, context.report)
    return LodPath.read(reader)


_MOTIONS: Read = lambda reader, context: read_motions(reader, context.report)  # noqa: E731 - an entry of the table below
_PARAMETERS: Read = lambda reader, context: read_parameters(reader, context.report)  # noqa: E731 - likewise

_READERS: dict[int, dict[int, Read]] = {
    4: {
        1: _without_context(Header.read),
        2: _without_context(Texture.read),
        3: _without_context(Vertices.read),
        4: _without_context(Indices.read),
        6: _without_context(SlidingWindows.read),
        7: _without_context(VertexContainer.read),
        8: _without_context(IndexContainer.read),
        9: _read_children,
        10: _without_context(Links.read),
        11: _without_context(LodFaces.read),
        12: _without_context(TreeShape.read),
        13: _without_context(BoneNames.read),
        14: _MOTIONS,
        15: _PARAMETERS,
        16: _ik(IkLayout.VERSIONED),
        17: _without_context(UserData.read),
        18: _read_description,
        19: _without_context(MotionReferences.read),
        20: _without_context(SwiContainer.read),
        21: _without_context(GeometryContainer.read),
        22: _read_fast_path,
        LOD: _read_lod,
        24: _without_context(MotionReferences2.read),
    },
    3: {
        0x01: _without_context(Header.read),
        0x02: _without_context(Texture.read),
        0x03: _without_context(TextureLinks.read),
        0x06: _without_context(Bounds.read),
        0x07: _without_context(Vertices.read_old),
        0x08: _without_context(Indices.read),
        0x0A: _without_context(VertexContainer.read),
        0x0B: _without_context(Sphere.read),
        0x0C: _without_context(Links.read),
        0x0D: _without_context(BoneNames.read),
        0x10: _read_lod,
        0x11: _read_children,
        0x12: _PARAMETERS,
        0x13: _without_context(IndexContainer.read),
        0x14: _PARAMETERS,
        0x15: _without_context(LodFaces.read),
        0x16: _without_context(TreeShape.read),
        0x17: _ik(IkLayout.ABSOLUTE),
        0x18: _without_context(UserData.read),
        0x19: _ik(IkLayout.EARLY),
        0x1A: _MOTIONS,
        0x1B: _read_description,
        0x1C: _ik(IkLayout.VERSIONED),
        0x1D: _without_context(MotionReferences.read),
    },
}
"""Version -> chunk id -> reader of its body."""

_BONE_NAMES_CHUNK = 13

_starts_with_header = starts_like_chunks(HEADER)
_VERSIONS = (3, 4)
_SMALLEST_HEADER = 4


def starts_like(head: bytes) -> bool:
    """Return whether a file begins with the header of a model. Functions of X-Ray's AI (`.efd`) begin with a chunk 1,
    too.
    """
    if not _starts_with_header(head):
        return False
    number, size = struct.unpack_from("<II", head)
    return bool(number >> 31) or len(head) == 8 or (size >= _SMALLEST_HEADER and head[8] in _VERSIONS)


def read(data: bytes, file: str, report: Report) -> Ogf:
    """Read the document of an `.ogf`. Raises `ReadError` if there is no readable header."""
    reader = Reader.of_file(data, file)
    if _is_descent_texture(data):
        raise reader.error(
            "this is a texture of Descent 3, which has the same suffix, not a model of S.T.A.L.K.E.R.",
            "Import it as a texture, or leave it beside the Descent 3 model (.oof) that uses it",
        )
    return read_visual(reader, report)


def _is_descent_texture(data: bytes) -> bool:
    """Return whether the bytes begin like a Descent 3 texture: length of an id, no colour map, a type of 121 to 127."""
    return len(data) > 20 and data[1] == 0 and 121 <= data[2] <= 127


def read_visual(reader: Reader, report: Report) -> Ogf:
    """Read a visual from the remaining bytes of ``reader``. Raises `ReadError` if there is no readable header."""
    run = read_chunks(reader, report)
    headers = (chunk for chunk in run.chunks if chunk.plain_id == HEADER and len(chunk.body))
    first = next(headers, None)
    if first is None:
        words = "there is no header (chunk {:#x}): not a model"
        raise ReadError(
            say(words, HEADER), file=reader.file, chunk=reader.chunk, offset=reader.start, remedy=_NOT_A_MODEL
        )
    header = Header.read(open_chunk(first, reader))
    context = _Context(report, reader.file, header.version)
    document = Ogf([Section(chunk) for chunk in run.chunks], run.tail, reader.file)
    # Reading physics needs the number of bone names, whose chunk may come later in the file.
    for is_bone_names in (True, False):
        for section in document.sections:
            if (section.chunk.plain_id == _BONE_NAMES_CHUNK) == is_bone_names:
                _read_section(section, reader, context, _READERS[header.version].get(section.chunk.plain_id))
        names = document.first(BoneNames)
        context.bones = len(names.bones) if names else None
    return document


def _read_section(section: Section[Any], parent: Reader, context: _Context, read_value: Read | None) -> None:
    """Read the value and the tail of a section, or report that its chunk is kept as bytes."""
    body = open_chunk(section.chunk, parent)
    if not body.remaining:
        return
    if read_value is None:
        note_unknown(context.report, parent, section.chunk)
        return
    try:
        section.value = read_value(body, context)
    except ReadError as wrong:
        context.report.warn(say("not readable, kept unchanged: {}", wrong.problem), body.chunk)
        return
    section.tail = body.rest()
    if not isinstance(section.value, Contents | MotionLibrary | Parameters):  # they report it themselves
        warn_not_finite(context.report, say("{}, chunk {}", _subject(section.value), body.chunk), section.value)
    if len(section.tail):
        context.report.warn(say("{:# extra byte|# extra bytes}; kept", len(section.tail)), body.chunk)


def _subject(value: Value) -> str:
    """Return the name of a value's type in words: ``bone names`` for `BoneNames`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z0-9])", " ", type(value).__name__).lower()


def write(document: Ogf) -> bytes:
    """Return the file's bytes, written from the typed values.

    Only the tracks of embedded motions are copied as stored runs of bytes.
    """
    return write_contents(document, body_of_value)


def recompose(document: Ogf) -> bytes:
    """Return the file's bytes with the tracks of embedded motions written from their typed fields as well."""
    return write_contents(document, partial(body_of_value, recompose=True))


def raw_size(document: Contents) -> int:
    """Return the number of bytes that are kept without knowing their meaning."""
    return unknown_size(document, raw_size_of_value)
