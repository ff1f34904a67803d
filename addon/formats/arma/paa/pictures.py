"""Pictures of textures (`.paa`) and back: RGBA arrays with the top row first.

Facts about the game's tools, measured on real textures: the mean color of a color texture is computed in linear light
and weighted by alpha, that of a swizzled one is the plain mean of the original image.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ....core import mipmaps, png
from ....core.binary import NOT_IN_FORMAT
from ....core.compression import lzo, lzss
from ....core.errors import ReadError, WriteError
from ....core.report import Report, say
from .. import dxt
from .document import END, LARGEST_SIDE, SMALLEST_SIDE, Alpha, Level, Paa, Tag, TextureType, plain_size, unpack


def decode(document: Paa, level: Level) -> NDArray[np.uint8]:
    """Return a level as (height, width, 4) RGBA, top row first, channels in the stored order. Raises `ReadError`."""
    return _decode_plain(document, level, unpack(document, level))


def _decode_plain(document: Paa, level: Level, plain: bytes) -> NDArray[np.uint8]:
    kind = document.kind
    shape = (level.height, level.width, 4)
    if kind is None:
        return _of_palette(document, plain).reshape(shape)
    if kind >= TextureType.DXT1:
        return dxt.decode(plain, level.width, level.height, kind - TextureType.DXT1 + 1)
    if kind == TextureType.ARGB8888:
        return np.ascontiguousarray(np.frombuffer(plain, np.uint8).reshape(shape)[..., [2, 1, 0, 3]])
    if kind == TextureType.AI88:
        return np.ascontiguousarray(np.frombuffer(plain, np.uint8).reshape(*shape[:2], 2)[..., [0, 0, 0, 1]])
    values = np.frombuffer(plain, "<u2").astype(np.int32)
    if kind == TextureType.ARGB4444:
        channels = [(values >> shift & 15) * 17 for shift in (8, 4, 0, 12)]
    else:
        fives = [values >> shift & 31 for shift in (10, 5, 0)]
        channels = [*(five << 3 | five >> 2 for five in fives), (values >> 15) * 255]
    return np.stack(channels, axis=-1).astype(np.uint8).reshape(shape)


_TRANSPARENT = ((255, 0, 255), (0, 255, 255))
"""Colors of a palette (red, green, blue) that are transparent in the game."""


def _of_palette(document: Paa, plain: bytes) -> NDArray[np.uint8]:
    indices = np.frombuffer(plain, np.uint8)
    if len(indices) and indices.max() >= len(document.palette):
        words = "a texel has color {}, the palette has {:# color|# colors}"
        raise ReadError(say(words, indices.max(), len(document.palette)), file=document.file, remedy=NOT_IN_FORMAT)
    colours = np.full((len(document.palette), 4), 255, np.uint8)
    colours[:, :3] = document.palette[:, ::-1]
    for transparent in _TRANSPARENT:
        colours[(colours[:, :3] == transparent).all(axis=1), 3] = 0
    result: NDArray[np.uint8] = colours[indices]
    return result


# Pictures -----------------------------------------------------------------------------------------------------------

_CHANNELS = (3, 0, 1, 2)
"""Index in RGBA of the channels that codes 0 to 3 of a swizzle name: alpha, red, green, blue."""


def picture(document: Paa, largest: int = LARGEST_SIDE) -> NDArray[np.uint8]:
    """Return (height, width, 4) RGBA, top row first, with the channels in the order of the original image.

    It is the first level without a side longer than ``largest``, or else the last one. Raises `ReadError` for damaged
    data and if there is no level.
    """
    level = _first_level(document, largest)
    pixels = _without_swizzle(decode(document, level), document.tag("SWIZ"))
    mean = document.tag("AVGC")
    if document.kind is None and len(mean) >= 3:
        # As in the game, so that transparent colors leave no fringe when the image is smoothed.
        pixels[pixels[..., 3] == 0] = (mean[2], mean[1], mean[0], 0)
    return pixels


def _first_level(document: Paa, largest: int) -> Level:
    filled = [level for level in document.levels if level.width and level.height]
    if not filled:
        raise ReadError("the texture has no texels", file=document.file, remedy="Choose another texture")
    return next((level for level in filled if max(level.width, level.height) <= largest), filled[-1])


_MEASURED = 256
"""Longest side of a level from which the size of larger ones as PNG is estimated (checked: real colors within a
quarter, flat images of a few kilobytes up to twice).
"""


def size_as_png(document: Paa, largest: int = LARGEST_SIDE) -> int:
    """Return about how many bytes a PNG file of `picture` has. Raises `ReadError` as that does."""
    level, pixels = _first_level(document, largest), picture(document, min(largest, _MEASURED))
    height, width, _ = pixels.shape
    return len(png.encode(pixels)) * (int(level.width) * int(level.height)) // (int(height) * int(width))


def _without_swizzle(stored: NDArray[np.uint8], codes: bytes) -> NDArray[np.uint8]:
    """Return the channels of the original image. ``codes``: for each of the stored alpha, red, green and blue the
    channel it holds (0 to 3), the inverted channel (4 to 7), or a constant (8: ones, 9: zeros).
    """
    result = stored.copy()
    for index, code in zip(_CHANNELS, codes[:4], strict=False):
        if code < 4:
            result[..., _CHANNELS[code]] = stored[..., index]
        elif code < 8:
            result[..., _CHANNELS[code - 4]] = 255 - stored[..., index]
    return result


def as_png(document: Paa, report: Report) -> list[bytes]:
    """Return the largest level as a PNG file. Raises `ReadError` if it is damaged or there is none."""
    if document.tag("SWIZ"):
        report.note("the texture is swizzled; the picture has the channels of the original image")
    return [png.encode(picture(document))]


# New and edited textures ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Coding:
    """How to store a texture: ``kind`` (one of `WRITABLE`), ``alpha`` mode, ``swizzle`` as for `swizzle_of`, whether
    it has smaller ``levels`` of detail, and whether large levels of DXT are packed as LZO. Arma reads both; Operation
    Flashpoint does not know LZO.
    """

    kind: TextureType
    alpha: Alpha = Alpha.OPAQUE
    swizzle: bytes = b""
    levels: bool = True
    lzo: bool = False


WRITABLE = (
    TextureType.DXT1,
    TextureType.DXT5,
    TextureType.ARGB8888,
    TextureType.ARGB4444,
    TextureType.ARGB1555,
    TextureType.AI88,
)
_SWIZZLES = {
    "_nohq": bytes((5, 4, 2, 3)),
    "_smdi": bytes((8, 8, 2, 3)),
    "_as": bytes((8, 8, 2, 8)),
    "_sky": bytes((6, 1, 4, 3)),
}
_LARGEST_LEVEL = (1 << 24) - 1
_LEAST_LZO_WIDTH = 256
"""The vendor's tools pack levels from this width on, whatever their height."""


def swizzle_of(name: str) -> bytes:
    """Return the codes (for stored alpha, red, green, blue) that the game's tools use for a texture of this name
    without suffix; empty for one that is not swizzled.
    """
    return next((codes for ending, codes in _SWIZZLES.items() if name.lower().endswith(ending)), b"")


def usual_coding(name: str, pixels: NDArray[np.uint8]) -> Coding:
    """Return how the game's tools store pixels (height, width, 4) in a texture of this name without suffix."""
    swizzle = swizzle_of(name)
    if swizzle:
        return Coding(TextureType.DXT5 if swizzle[0] < 8 else TextureType.DXT1, swizzle=swizzle)
    alpha = pixels[..., 3]
    if (alpha == 255).all():
        return Coding(TextureType.DXT1)
    if ((alpha == 0) | (alpha == 255)).all() and not name.lower().endswith("_ca"):
        return Coding(TextureType.DXT1, Alpha.CLIP)
    return Coding(TextureType.DXT5, Alpha.BLEND)


def coding_of(document: Paa) -> Coding | None:
    """Return how a texture is stored; None for types that are only read (palettes, DXT2 to DXT4)."""
    kind = document.kind
    if kind is None or kind not in WRITABLE:
        return None
    is_lzo = any(level.is_lzo for level in document.levels)
    return Coding(kind, document.alpha, document.tag("SWIZ")[:4], len(document.levels) > 1, is_lzo)


def encode(pixels: NDArray[np.uint8], coding: Coding, base: Paa | None = None) -> Paa:
    """Return the texture of pixels (height, width, 4) RGBA, top row first, channels as `picture` returns them.

    ``base``: the texture that was edited. If it is stored in the same way and has the same size, its levels keep the
    bytes of all blocks, and uncompressed levels the values of all texels, whose pixels were not edited. Without an edit
    that its largest level can store it is returned itself. Raises `WriteError` for sizes that the game or the type does
    not support.
    """
    height, width, _ = pixels.shape
    edited = np.ones((height, width), np.bool_)
    if base is not None and (coding_of(base) != coding or not base.levels):
        base = None
    if base is not None:
        before = picture(base)
        if before.shape == pixels.shape:
            edited = (pixels != before).any(axis=2)
        if not edited.any():
            return base
        if not has_levels(base, width, height):
            base, edited = None, np.ones_like(edited)
    refuse_size(width, height, coding.kind)
    stored = _swizzled(pixels, coding.swizzle)
    if coding.kind == TextureType.DXT1 and coding.alpha is Alpha.OPAQUE:
        stored[..., 3] = 255
    levels: list[Level] = []
    for old in _old_levels(base, width, height, coding):
        if levels:
            stored = mipmaps.halved(stored, is_colour=not coding.swizzle)
            edited = mipmaps.halved_mask(edited)
        plain = b""
        if base is not None:
            plain = unpack(base, old)
            stored = np.where(edited[..., None], stored, _decode_plain(base, old, plain))
        levels.append(_encode_level(stored, coding, plain, old, edited))
        if base is not None and levels == [old]:
            return base
    tags = _tags(pixels, coding, None if base is None else base.tags)
    if base is None:
        document = Paa(int(coding.kind), tags, np.zeros((0, 3), np.uint8), levels, END)
    else:
        document = replace(base, tags=tags, levels=levels)
    set_offsets(document)
    return document


def refuse_size(width: int, height: int, kind: TextureType) -> None:
    """Raise `WriteError` for a size in pixels that the game, or textures of this type, do not support."""
    size = f"{width} x {height}"
    if not all(SMALLEST_SIDE <= side <= LARGEST_SIDE for side in (width, height)):
        words = "the image is {}, the game supports sides of {} to {}"
        raise WriteError(say(words, size, SMALLEST_SIDE, LARGEST_SIDE), remedy="Scale the image")
    if kind >= TextureType.DXT1 and (width & (width - 1) or height & (height - 1) or min(width, height) < dxt.SIDE):
        words = "the image is {}, {} needs sides that are powers of two, such as 256, 512 or 1024"
        raise WriteError(say(words, size, kind.name), remedy="Scale the image, or choose the type ARGB8888")
    needed = plain_size(Paa(int(kind), [], np.zeros((0, 3), np.uint8), []), Level(width, height, b""))
    needed = lzss.stored_size(needed) if _is_packed(kind) else needed
    if needed > _LARGEST_LEVEL and kind < TextureType.DXT1:
        raise _too_large(width, height, kind)


def _too_large(width: int, height: int, kind: TextureType) -> WriteError:
    words = "the image is {} x {}, which is too large for {}"
    return WriteError(say(words, width, height, kind.name), remedy="Scale the image, or choose the type DXT1")


def _is_packed(kind: TextureType) -> bool:
    """Return whether new levels of this type are stored as LZSS."""
    return kind < TextureType.DXT1 and kind != TextureType.ARGB8888


def _sides(level: Level) -> tuple[int, int]:
    return level.width, level.height


def has_levels(document: Paa, width: int, height: int) -> bool:
    """Return whether the first level has these sides, and each of the others half the sides of the one before; else an
    edit makes all levels again.
    """
    halves = [(width >> number, height >> number) for number in range(len(document.levels))]
    return all(halves[-1]) and [_sides(level) for level in document.levels] == halves


def _old_levels(base: Paa | None, width: int, height: int, coding: Coding) -> list[Level]:
    """Return the levels of ``base``; without one, empty levels down to the smallest side that the tools write."""
    if base is not None:
        return base.levels
    least = dxt.SIDE if coding.kind >= TextureType.DXT1 else 1
    sides = [(width, height)]
    while coding.levels and min(sides[-1]) >= 2 * least:
        sides.append((sides[-1][0] // 2, sides[-1][1] // 2))
    return [Level(*side, b"", is_lzo=coding.lzo and side[0] >= _LEAST_LZO_WIDTH) for side in sides]


def _swizzled(pixels: NDArray[np.uint8], codes: bytes) -> NDArray[np.uint8]:
    """Return the channels as stored, the inverse of `_without_swizzle`."""
    result = pixels.copy()
    for index, code in zip(_CHANNELS, codes, strict=False):
        if code < 4:
            result[..., index] = pixels[..., _CHANNELS[code]]
        elif code < 8:
            result[..., index] = 255 - pixels[..., _CHANNELS[code - 4]]
        else:
            result[..., index] = 255 if code == 8 else 0
    return result


def _encode_level(
    stored: NDArray[np.uint8], coding: Coding, plain: bytes, old: Level, edited: NDArray[np.bool_]
) -> Level:
    """Return a level of texels (height, width, 4); ``old`` if its unpacked bytes, ``plain``, would be the same."""
    if plain and not edited.any():
        return old
    kind = coding.kind
    if kind >= TextureType.DXT1:
        see_through = coding.alpha is not Alpha.OPAQUE and not coding.swizzle
        blocks = dxt.blocks_of(stored)
        in_blocks = dxt.blocks_of(np.repeat(edited[..., None], 4, axis=2).astype(np.uint8))
        changed = in_blocks.reshape(len(blocks), -1).max(axis=1) > 0
        own_blocks = dxt.encode(blocks[changed], kind - TextureType.DXT1 + 1, see_through=see_through)
    else:
        changed = edited.ravel()
        own_blocks = _encode_texels(stored.reshape(-1, 4)[changed], kind)
    data = np.zeros((len(changed), own_blocks.shape[1]), np.uint8)
    if plain:
        data[:] = np.frombuffer(plain, np.uint8).reshape(data.shape)
    data[changed] = own_blocks
    new = data.tobytes()
    if new == plain:
        return old
    height, width, _ = stored.shape
    if kind < TextureType.DXT1:
        return Level(width, height, lzss.stored(new, signed=True) if _is_packed(kind) else new)
    if not old.is_lzo and len(new) <= _LARGEST_LEVEL:
        return Level(width, height, new)
    packed = lzo.pack(new)
    if min(len(packed), len(new)) > _LARGEST_LEVEL:
        raise _too_large(width, height, kind)
    return Level(width, height, packed, is_lzo=True) if len(packed) < len(new) else Level(width, height, new)


def _encode_texels(flat: NDArray[np.uint8], kind: TextureType) -> NDArray[np.uint8]:
    """Return the bytes (n, bytes per texel) of texels (n, 4) in an uncompressed type."""
    if kind == TextureType.ARGB8888:
        return flat[:, [2, 1, 0, 3]]
    if kind == TextureType.AI88:
        gray = np.rint(flat[:, :3] @ np.array([0.299, 0.587, 0.114]))
        return np.stack([gray.astype(np.uint8), flat[:, 3]], axis=1)
    bits = np.array([4, 4, 4, 4] if kind == TextureType.ARGB4444 else [5, 5, 5, 1])
    levels = np.rint(flat * ((1 << bits) - 1) / 255).astype(np.uint16)
    below = np.array([bits[1] + bits[2], bits[2], 0, bits[:3].sum()], np.uint16)
    values: NDArray[np.uint16] = (levels << below).sum(axis=1, dtype=np.uint16)
    return values.astype("<u2")[:, None].view(np.uint8)


def _tags(pixels: NDArray[np.uint8], coding: Coding, kept: list[Tag] | None) -> list[Tag]:
    """Return the tags in the order of the game's tools; of an edited texture its own with the new mean color."""
    red, green, blue, alpha = mipmaps.mean(pixels, (0, 1), is_colour=not coding.swizzle).tolist()
    colour = bytes((blue, green, red, alpha))
    if kept is not None:
        return [Tag(tag.name, colour) if tag.name == "AVGC" else Tag(tag.name, bytes(tag.data)) for tag in kept]
    tags = [Tag("AVGC", colour), Tag("MAXC", b"\xff" * 4)]
    if coding.alpha is not Alpha.OPAQUE:
        tags.append(Tag("FLAG", int(coding.alpha).to_bytes(4, "little")))
    if coding.swizzle:
        tags.append(Tag("SWIZ", coding.swizzle))
    return [*tags, Tag("OFFS", bytes(64))]


def set_offsets(document: Paa) -> None:
    """Set the tag with the position of each level in the file, if there is one."""
    at = (0 if document.type is None else 2) + sum(12 + len(tag.data) for tag in document.tags) + 2
    positions = np.zeros(16, "<u4")
    for number, level in enumerate(document.levels[:16]):
        positions[number] = at
        at += 7 + len(level.data)
    for tag in document.tags:
        if tag.name == "OFFS":
            tag.data = positions.tobytes()
