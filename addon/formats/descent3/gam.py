"""`.gam`: the tables of Descent 3. Only texture pages are parsed: they map the name of a texture to its image file.

Known from the engine's ``manage.cpp`` and ``texpage.cpp`` and from a real table. A file is a sequence of pages, each
with a type, a length that includes the length field itself, and a body. The bodies of other types are kept as bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntFlag
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from ...core.binary import Bytes, Reader, Writer, warn_not_finite
from ...core.errors import ReadError
from ...core.records import Record, array, f32, i32, string, u8, u16, u32
from ...core.report import Report, counted, say
from ...core.walk import View, Views
from . import strings

TEXTURE_PAGE = 1
_NEWEST = 15
"""Texture pages up to this version are plausible; real ones have 5 to 7."""
_PALETTE = 255


class TextureFlag(IntFlag):
    """Flags of a texture page that affect how it is read or which image is shown. Other bits are kept."""

    ANIMATED = 1 << 6
    """The bitmap is an animation (`.oaf`)."""
    ALPHA = 1 << 22
    PROCEDURAL = 1 << 24


@dataclass(slots=True, eq=False)
class Procedure:
    """A procedural texture: ``palette`` (255,) 16-bit colours, and the parameters of its generator."""

    palette: NDArray[np.uint16]
    settings: bytes
    time: np.float32
    oscillation: bytes
    elements: NDArray[np.uint8]


@dataclass(slots=True, eq=False)
class TexturePage(Record):
    """One texture: its ``name`` and the name of its ``bitmap`` file, both as stored, without NUL.

    ``colour`` (4,) red, green, blue, alpha; ``speed``: seconds for all frames; ``slide`` (3,): seconds for a full
    scroll in u and in v, and reflectivity. ``rest``: the bytes after the parsed fields, not interpreted.
    """

    version: Annotated[int, u16("the version")]
    name: Annotated[bytes, string("the name")]
    bitmap: Annotated[bytes, string("the bitmap")]
    destroyed: Annotated[bytes, string("the destroyed texture")]
    colour: Annotated[NDArray[np.float32], array("<f4", 4, what="the colour")]
    speed: Annotated[np.float32, f32("the speed")]
    slide: Annotated[NDArray[np.float32], array("<f4", 3, what="the slide")]
    corona: Annotated[int, u8("the corona")]
    damage: Annotated[int, i32("the damage")]
    flags: Annotated[int, u32("the flags")]
    procedure: Procedure | None = None
    rest: Bytes = b""


@dataclass(slots=True, eq=False)
class Page:
    """A page: its type, and its texture, or for other types its ``body`` as bytes."""

    type: int
    texture: TexturePage | None
    body: Bytes = b""


@dataclass(slots=True, eq=False)
class Gam:
    """A table: its pages in the file's order."""

    pages: list[Page]
    tail: Bytes = b""
    file: str = field(default="", compare=False)

    def texture(self, name: str) -> TexturePage | None:
        """Return the texture page with this name (case-insensitive), or None."""
        wanted = name.lower()
        pages = (page.texture for page in self.pages if page.texture is not None)
        return next((page for page in pages if strings.decode(page.name).lower() == wanted), None)


def starts_like(head: bytes) -> bool:
    """Return whether a file begins with a texture page that has a name."""
    if len(head) < 16 or head[0] != TEXTURE_PAGE:
        return False
    length, version = int.from_bytes(head[1:5], "little"), int.from_bytes(head[5:7], "little")
    return 16 <= length < 1 << 16 and 1 <= version <= _NEWEST and head[7:10].isascii() and head[7] > 32


def read(data: bytes, file: str, report: Report) -> Gam:
    """Parse a table. Raises `ReadError` if a page is truncated."""
    reader = Reader.of_file(data, file)
    reader.refuse_git_pointer()
    pages: list[Page] = []
    while reader.remaining >= 5:
        kind, length = reader.u8("the type of a page"), reader.i32("the length of a page")
        if length < 4:
            raise reader.error(say("a page of {:# byte|# bytes}; its length counts itself", length))
        body = reader.part(length - 4, f"page {len(pages)}", "a page")
        pages.append(_read_page(kind, body, report))
    document = Gam(pages, reader.rest(), file)
    if len(document.tail):
        report.warn(say("{:# extra byte|# extra bytes} after the last page; kept", len(document.tail)))
    return document


def _read_page(kind: int, body: Reader, report: Report) -> Page:
    if kind != TEXTURE_PAGE:
        return Page(kind, None, body.data)
    try:
        texture = _read_texture(body)
    except ReadError as wrong:
        report.warn(say("not readable, kept unchanged: {}", wrong.problem), say("{} at {}", body.chunk, body.start))
        return Page(kind, None, body.data)
    warn_not_finite(report, say("texture {}", strings.decode(texture.name)), texture)
    return Page(kind, texture)


def _read_texture(reader: Reader) -> TexturePage:
    page = TexturePage.read(reader)
    if page.flags & TextureFlag.PROCEDURAL:
        page.procedure = _read_procedure(reader, page.version)
    page.rest = reader.rest()
    return page


def _read_procedure(reader: Reader, version: int) -> Procedure:
    palette = reader.array("<u2", _PALETTE, what="the palette")
    settings, time = bytes(reader.take(3, "the settings")), reader.f32("the time")
    oscillation = bytes(reader.take(5, "the oscillation")) if version >= 6 else b""
    count = reader.u16("the number of elements")
    return Procedure(palette, settings, time, oscillation, reader.array("u1", count, 8, what=counted(count, "element")))


def write(document: Gam) -> bytes:
    """Return the file's bytes, composed from the typed values."""
    writer = Writer()
    for page in document.pages:
        body = bytes(page.body) if page.texture is None else _texture_bytes(page.texture)
        writer.u8(page.type)
        writer.i32(len(body) + 4)
        writer.raw(body)
    writer.raw(document.tail)
    return writer.getvalue()


def _texture_bytes(page: TexturePage) -> bytes:
    writer = Writer()
    page.write(writer)
    if page.procedure is not None:
        writer.array(page.procedure.palette, "<u2")
        writer.raw(page.procedure.settings)
        writer.f32(page.procedure.time)
        writer.raw(page.procedure.oscillation)
        writer.u16(len(page.procedure.elements))
        writer.array(page.procedure.elements, "u1")
    writer.raw(page.rest)
    return writer.getvalue()


recompose = write


def raw_size(document: Gam) -> int:
    """Return how many bytes are stored without being interpreted."""
    pages = (len(page.body) if page.texture is None else len(page.texture.rest) for page in document.pages)
    return len(document.tail) + sum(pages)


def describe(document: Gam) -> list[str]:
    """Return the number of pages, and each texture with its bitmap."""
    textures = [page.texture for page in document.pages if page.texture is not None]
    others = len(document.pages) - len(textures)
    listed = [f"{strings.decode(page.name)}: {strings.decode(page.bitmap)}" for page in textures]
    return [f"{counted(len(textures), 'texture')}, {counted(others, 'page')} of other things", *listed]


VIEWS: Views = {Gam: View(words={"pages": "page"}), Page: View(words={"texture": ""})}
