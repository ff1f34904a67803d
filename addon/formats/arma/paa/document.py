"""`.paa` and `.pac`: the textures of Arma and Operation Flashpoint.

Known from the released engine of Operation Flashpoint, from community documentation and from 1,319 real textures. A
texture is a type, tags (mean color, alpha mode, swizzle), an optional palette, and levels of detail, each with half the
sides of the one before, top row first. Files of Operation Flashpoint may lack the type. Each level is stored raw or
compressed; compressed data is kept as it is and unpacked only when its colors are needed.

Normal and specular maps are swizzled: tag SWIZ tells which channel of the original image each stored channel holds,
and shaders expect the stored order. `pictures.picture` restores the original order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from ....core.binary import DAMAGED, Bytes, Reader, Writer
from ....core.compression import lzo, lzss
from ....core.errors import ReadError
from ....core.report import Report, counted, say
from ....core.walk import View, Views
from .. import dxt

TAG = b"GGAT"
KNOWN_TAGS = ("AVGC", "MAXC", "FLAG", "SWIZ", "OFFS", "PROC")
LARGEST_SIDE = 4096
"""The game refuses textures with a longer side."""
SMALLEST_SIDE = 2
_LZO = 0x8000
_MARK = (1234, 8765)
"""Instead of width and height: the level of a texture with a palette is packed as LZSS, and its size follows."""
END = bytes(2)
"""Two zeros that the vendor's tools write after the end mark."""
_MOST_COLOURS = 256


class TextureType(IntEnum):
    """How the texels of a texture are stored."""

    DXT1 = 0xFF01
    DXT2 = 0xFF02
    DXT3 = 0xFF03
    DXT4 = 0xFF04
    DXT5 = 0xFF05
    ARGB4444 = 0x4444
    ARGB1555 = 0x1555
    AI88 = 0x8080
    """Gray and alpha."""
    ARGB8888 = 0x8888


class Alpha(IntEnum):
    """How the game draws a texture (tag FLAG)."""

    OPAQUE = 0
    """Opaque, whatever the alpha of its texels."""
    BLEND = 1
    CLIP = 2


@dataclass(slots=True, eq=False)
class Tag:
    """A tag: its ``name`` of 4 characters in reading order (stored reversed) and its bytes."""

    name: str
    data: Bytes


@dataclass(slots=True, eq=False)
class Level:
    """A level of detail; ``data`` as stored. ``is_lzo``: the highest bit of the stored width; ``is_marked``: stored
    behind the mark that announces LZSS.
    """

    width: int
    height: int
    data: Bytes
    is_lzo: bool = False
    is_marked: bool = False


@dataclass(slots=True, eq=False)
class Paa:
    """A texture. ``type`` is None if the file has none; ``palette`` (colors, 3) blue, green, red; ``tail``: the bytes
    after the end mark, two zeros in files of the vendor's tools.
    """

    type: int | None
    tags: list[Tag]
    palette: NDArray[np.uint8]
    levels: list[Level]
    tail: Bytes = b""
    file: str = field(default="", compare=False)

    @property
    def kind(self) -> TextureType | None:
        """How texels are stored; None for indices into the palette."""
        if self.type is not None:
            return TextureType(self.type)
        return None if len(self.palette) else TextureType.ARGB4444

    def tag(self, name: str) -> bytes:
        """Return the bytes of the first tag of this name, empty if there is none."""
        return next((bytes(tag.data) for tag in self.tags if tag.name == name), b"")

    @property
    def alpha(self) -> Alpha:
        """How the game draws the texture. Only the lowest byte of the tag counts."""
        flag = self.tag("FLAG")[:1]
        return Alpha(flag[0] & 3) if flag and flag[0] & 3 < 3 else Alpha.BLEND if flag else Alpha.OPAQUE


def starts_like(head: bytes) -> bool:
    """Return whether a file begins like a texture."""
    if head[:4] == TAG:
        return True
    return head[2:6] == TAG and int.from_bytes(head[:2], "little") in TextureType.__members__.values()


def read(data: bytes, file: str, report: Report) -> Paa:
    """Parse a texture without unpacking it. Raises `ReadError` if the file is not a texture or is truncated."""
    reader = Reader.of_file(data, file)
    reader.refuse_git_pointer()
    kind: int | None = reader.u16("the type")
    if kind not in TextureType.__members__.values():
        # Without a type the file begins with a tag or the number of colors.
        kind, reader.position = None, 0
    tags = []
    while bytes(reader.data[reader.position : reader.position + 4]) == TAG:
        reader.take(4)
        name = bytes(reader.take(4, "the name of a tag"))[::-1].decode("latin-1")
        tags.append(Tag(name, reader.take(reader.u32("the size of a tag"), say("the tag {}", name))))
    colours = reader.u16("the number of colors")
    if colours > _MOST_COLOURS or (kind is None and not tags and not colours):
        reader.position = 0
        raise reader.error("this is not a texture of Arma or Operation Flashpoint", "Choose a .paa or .pac file")
    palette = reader.array("u1", colours, 3, what="the palette")
    document = Paa(kind, tags, palette, list(_read_levels(reader)), file=file)
    document.tail = reader.rest()
    if len(document.tail) and document.tail != END:
        report.warn(say("{:# extra byte|# extra bytes} after the last level; kept", len(document.tail)))
    return document


def _read_levels(reader: Reader) -> Iterator[Level]:
    while True:
        width, height = reader.u16("the width of a level"), reader.u16("the height of a level")
        if not width and not height:
            return
        is_marked = (width, height) == _MARK
        if is_marked:
            width, height = reader.u16("the width of a level"), reader.u16("the height of a level")
        stored = int.from_bytes(reader.take(3, "the size of a level"), "little")
        data = reader.take(stored, say("the level of {} x {}", width & ~_LZO, height))
        yield Level(width & ~_LZO, height, data, bool(width & _LZO), is_marked)


def write(document: Paa) -> bytes:
    """Return the file's bytes, composed from the typed values."""
    writer = Writer()
    if document.type is not None:
        writer.u16(document.type)
    for tag in document.tags:
        writer.raw(TAG)
        writer.raw(tag.name.encode("latin-1")[::-1])
        writer.u32(len(tag.data))
        writer.raw(tag.data)
    writer.u16(len(document.palette))
    writer.raw(document.palette.tobytes())
    for level in document.levels:
        if level.is_marked:
            writer.u16(_MARK[0])
            writer.u16(_MARK[1])
        writer.u16(level.width | (_LZO if level.is_lzo else 0))
        writer.u16(level.height)
        writer.raw(len(level.data).to_bytes(3, "little"))
        writer.raw(level.data)
    writer.raw(bytes(4))
    writer.raw(document.tail)
    return writer.getvalue()


recompose = write


def raw_size(document: Paa) -> int:
    """Return how many bytes are stored without being interpreted."""
    tail = 0 if document.tail == END else len(document.tail)
    return tail + sum(len(tag.data) for tag in document.tags if tag.name not in KNOWN_TAGS)


# Levels -------------------------------------------------------------------------------------------------------------

_BYTES_PER_TEXEL = {TextureType.ARGB8888: 4, None: 1}


def plain_size(document: Paa, level: Level) -> int:
    """Return the number of unpacked bytes of a level."""
    kind = document.kind
    if kind is not None and kind >= TextureType.DXT1:
        return dxt.size(level.width, level.height, kind - TextureType.DXT1 + 1)
    return level.width * level.height * _BYTES_PER_TEXEL.get(kind, 2)


def packing(document: Paa, level: Level) -> str:
    """Return how a level is stored: raw, lzo, lzss or rle (run lengths)."""
    kind = document.kind
    if level.is_lzo:
        return "lzo"
    if kind is None:
        return "lzss" if level.is_marked else "rle"
    if kind >= TextureType.DXT1:
        return "raw"
    if len(level.data) != plain_size(document, level):
        return "lzss"
    # Neither size nor a bit tells: it is packed if its checksum is right.
    try:
        return "raw" if _unpack_lzss(document, level) is None else "lzss"
    except ReadError:
        return "raw"


def unpack(document: Paa, level: Level) -> bytes:
    """Return the unpacked bytes of a level. Raises `ReadError` for damaged data and for sides the game refuses."""
    size, stored = plain_size(document, level), packing(document, level)
    reader = Reader(level.data, document.file)
    where = say("the level of {} x {}", level.width, level.height)
    if max(level.width, level.height) > LARGEST_SIDE:
        sentence = "the level of {} x {} is too large: the game supports sides up to {}"
        raise reader.error(say(sentence, level.width, level.height, LARGEST_SIDE), "Save it again with smaller sides")
    if stored == "rle":
        return _unpack_runs(reader, size, where)
    if stored == "lzss":
        result = _unpack_lzss(document, level)
        if result is None:
            raise reader.error(say("the level of {} x {} has bytes after its packed texels", level.width, level.height))
        return result
    if stored == "lzo":
        plain, _ = lzo.unpack(reader, size, where)
        reader.expect_end(where)
        return plain
    if len(level.data) != size:
        words = "the level of {} x {} has {:# byte|# bytes}, {} are expected"
        raise reader.error(say(words, level.width, level.height, len(level.data), size))
    return bytes(level.data)


def _unpack_lzss(document: Paa, level: Level) -> bytes | None:
    """Return the unpacked bytes of a level; None if bytes are left over. Raises `ReadError`."""
    reader = Reader(level.data, document.file)
    plain, _ = lzss.unpack(reader, plain_size(document, level), say("the level of {} x {}", level.width, level.height))
    return None if reader.remaining else plain


def _unpack_runs(reader: Reader, size: int, where: str) -> bytes:
    """Return ``size`` bytes of run lengths: a byte c from 128 on repeats the next byte c - 127 times, a smaller one is
    followed by c + 1 bytes as they are. Texels after the end are ignored, as in the game.
    """
    packed, out, at = bytes(reader.data), bytearray(), 0
    if size > 64 * len(packed):
        raise reader.error(say("{} ends before its {} bytes are there", where, size), DAMAGED)
    while len(out) < size:
        if at + 1 >= len(packed):
            raise reader.error(say("{} ends before its {} bytes are there", where, size), DAMAGED)
        code = packed[at]
        if code >= 128:
            out += packed[at + 1 : at + 2] * (code - 127)
            at += 2
        else:
            out += packed[at + 1 : at + 2 + code]
            at += 2 + code
    return bytes(out[:size])


# In words ------------------------------------------------------------------------------------------------------------


def describe(document: Paa) -> list[str]:
    """Return the type, the sizes of the levels, how they are stored, and how the game draws the texture."""
    kind = document.kind
    stored = "indices into a palette" if kind is None else kind.name
    alpha = {Alpha.OPAQUE: "opaque", Alpha.BLEND: "alpha blended", Alpha.CLIP: "alpha clipped"}[document.alpha]
    swizzled = ", swizzled" if document.tag("SWIZ") else ""
    first = document.levels[0] if document.levels else Level(0, 0, b"")
    levels = counted(len(document.levels), "level")
    return [
        f"{stored}, {first.width} x {first.height}, {levels} of detail, {alpha}{swizzled}",
        *(
            f"{level.width} x {level.height}: {packing(document, level)}, {counted(len(level.data), 'byte')}"
            for level in document.levels
        ),
    ]


def problems(document: Paa) -> Iterator[str]:
    """Yield what the game would refuse."""
    for level in document.levels[:1]:
        if not all(SMALLEST_SIDE <= side <= LARGEST_SIDE for side in (level.width, level.height)):
            words = "the texture is {} x {}, the game supports sides of {} to {}"
            yield (say(words, level.width, level.height, SMALLEST_SIDE, LARGEST_SIDE))
    if not document.levels:
        yield "the texture has no texels"


VIEWS: Views = {
    Paa: View(words={"levels": "level"}),
    Tag: View(lambda tag: f"tag {tag.name!r}", words={"name": None}),
}
