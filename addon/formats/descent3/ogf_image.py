"""`.ogf` and `.oaf`: the textures of Descent 3, single images with levels of detail and sequences of images.

Known from the engine's ``bitmap.cpp``, ``iff.cpp``, ``tga.cpp`` and ``vclip.cpp`` and from real textures. X-Ray's
models also have the suffix `.ogf`. An image has the header of a TGA with a special type, into which a name and the
number of levels are inserted; this name may differ from the file's. Pixels are run-length encoded 16-bit values: a
count (0 for a single pixel, or 2 to 250), then the pixel. Runs do not extend over the end of a level of detail. The
engine takes the duration of an animation from its tables, not from the file.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from ...core import mipmaps, png
from ...core.binary import DAMAGED, Bytes, Reader, Writer, warn_not_finite
from ...core.errors import ReadError, WriteError
from ...core.records import Record, Stored, layout_of, u8, u16
from ...core.report import Report, counted, say
from ...core.walk import View, Views
from . import strings

RUN = np.dtype([("count", "u1"), ("pixel", "<u2")])
LONGEST_RUN = 250
_BLOCK = 4096
_TRANSPARENT_565 = 0x07E0


class ImageType(IntEnum):
    """Encoding of an image."""

    TGA = 2
    TGA_RUNS = 10
    RUNS_4444 = 121
    RUNS_1555 = 122
    RUNS_NAMED = 123
    """This and the later types have 5 bits of red, 6 of green and 5 of blue."""
    RUNS_MIPMAPPED = 124
    EIGHT_BITS = 125
    """Not supported by the engine, and not decoded here."""
    RAW = 126
    """Not supported by the engine, and not decoded here."""
    RUNS = 127


IN_RUNS = (
    ImageType.RUNS_4444,
    ImageType.RUNS_1555,
    ImageType.RUNS_NAMED,
    ImageType.RUNS_MIPMAPPED,
    ImageType.RUNS,
)

_NAMED_BY_END = (ImageType.RUNS_4444, ImageType.RUNS_1555, ImageType.RUNS_NAMED)
_LONG_NAME = 35
_WITH_LEVELS = (*_NAMED_BY_END, ImageType.RUNS_MIPMAPPED)
_FROM_TOP = 0x20
_ANIMATION = 127
_LARGEST_SIDE = 1 << 14


@dataclass(slots=True, eq=False)
class Image(Record):
    """One image.

    ``name`` as stored (without NUL in types 121 to 123, 35 bytes in 124 to 127, none in a TGA); ``origin``: nine bytes
    that the engine ignores; ``identifier``: as many bytes as the header declares; ``levels``: the runs of each level of
    detail, the largest first; ``packed``: the pixels of types without runs, and the bytes after them.
    """

    type: int
    colour_map: int
    name: bytes
    level_count: int | None
    origin: Annotated[bytes, Stored(lambda reader: bytes(reader.take(9, "the header")), Writer.raw)]
    width: Annotated[int, u16("the width")]
    height: Annotated[int, u16("the height")]
    depth: Annotated[int, u8("the depth")]
    descriptor: Annotated[int, u8("the descriptor")]
    identifier: bytes
    levels: list[NDArray[Any]]
    packed: Bytes = b""

    @property
    def label(self) -> str:
        """The stored name as text."""
        return strings.decode(self.name)


@dataclass(slots=True, eq=False)
class AnimationHead:
    """Header of an animation. ``version`` is 1, or None in the old form, which also has 12 unused bytes ``numbers``: a
    float before the time, an integer and a float after it.

    ``frame_time`` in seconds; the engine ignores it.
    """

    version: int | None
    frames: int
    frame_time: np.float32
    numbers: bytes = b""


@dataclass(slots=True, eq=False)
class OgfImage:
    """A texture: one image, or several if it has an ``animation`` header."""

    frames: list[Image]
    animation: AnimationHead | None = None
    tail: Bytes = b""
    file: str = field(default="", compare=False)


def starts_like(head: bytes) -> bool:
    """Return whether a file begins like a texture."""
    if len(head) > 10 and head[0] == _ANIMATION and head[1] == 1:
        return _starts_like_image(head[7:])
    return _starts_like_image(head)


def _starts_like_image(head: bytes) -> bool:
    if len(head) < 18 or head[1] != 0:
        return False
    if ImageType.RUNS_4444 <= head[2] <= ImageType.RUNS:
        return True
    width, height = struct.unpack_from("<HH", head, 12)
    # A TGA has no mark at its beginning: every field must be plausible.
    sizes = 0 < width <= _LARGEST_SIDE and 0 < height <= _LARGEST_SIDE and head[16] in (24, 32)
    return head[2] in (ImageType.TGA, ImageType.TGA_RUNS) and not any(head[3:8]) and sizes


def read(data: bytes, file: str, report: Report) -> OgfImage:
    """Parse a texture. Raises `ReadError` if the file is not a texture or is truncated."""
    reader = Reader.of_file(data, file)
    reader.refuse_git_pointer()
    head = _read_animation_head(reader)
    frames = [_read_image(reader, last=head is None) for _ in range(1 if head is None else head.frames)]
    document = OgfImage(frames, head, reader.rest(), file)
    if head is not None:
        warn_not_finite(report, "the time of a frame", head.frame_time)
    if len(document.tail):
        report.warn(say("{:# extra byte|# extra bytes} after the image; kept", len(document.tail)))
    for image in document.frames:
        if image.type not in ImageType.__members__.values() or image.type in (ImageType.EIGHT_BITS, ImageType.RAW):
            words = "an image of type {} is not readable by the game; its pixels are kept"
            report.warn(say(words, image.type), image.label)
    return document


def _read_animation_head(reader: Reader) -> AnimationHead | None:
    start = bytes(reader.data[:2])
    if start == bytes((_ANIMATION, 1)):
        reader.take(2)
        return AnimationHead(1, reader.u8("the number of frames"), reader.f32("the time of a frame"))
    if not reader.file.lower().endswith(".oaf"):
        return None
    frames = reader.u8("the number of frames")
    before, time = bytes(reader.take(4, "the head")), reader.f32("the time of a frame")
    return AnimationHead(None, frames, time, before + bytes(reader.take(8, "the head")))


def _read_image(reader: Reader, *, last: bool) -> Image:
    id_length, colour_map, kind = reader.u8("the header"), reader.u8("the header"), reader.u8("the type")
    known = kind in ImageType.__members__.values()
    if colour_map or not known:
        raise reader.error(
            say("an image of type {} (colour map {}) is not a Descent 3 image", kind, colour_map),
            "Check that this is a texture of Descent 3 (models of S.T.A.L.K.E.R. have the same suffix), copied whole",
        )
    name = b""
    if kind in _NAMED_BY_END:
        name = reader.string("the name")
    elif kind > ImageType.RUNS_NAMED:
        name = bytes(reader.take(_LONG_NAME, "the name"))
    level_count = reader.u8("the number of levels") if kind in _WITH_LEVELS else None
    numbers = layout_of(Image).read(reader)
    identifier = bytes(reader.take(id_length, "the identifier"))
    image = Image(kind, colour_map, name, level_count, **numbers, identifier=identifier, levels=[])
    if kind in IN_RUNS:
        sizes = (
            (image.width >> level) * (image.height >> level)
            for level in range(1 if level_count is None else level_count)
        )
        image.levels = [read_runs(reader, size) for size in sizes]
    elif last:
        image.packed = reader.rest()
    else:
        raise reader.error(say("an animation with an image of type {}, which has no end", kind))
    return image


def write(document: OgfImage) -> bytes:
    """Return the file's bytes, composed from the typed values."""
    writer = Writer()
    head = document.animation
    if head is not None:
        if head.version is not None:
            writer.u8(_ANIMATION)
            writer.u8(head.version)
        writer.u8(head.frames)
        writer.raw(head.numbers[:4])
        writer.f32(head.frame_time)
        writer.raw(head.numbers[4:])
    for image in document.frames:
        _write_image(writer, image)
    writer.raw(document.tail)
    return writer.getvalue()


def _write_image(writer: Writer, image: Image) -> None:
    writer.u8(len(image.identifier))
    writer.u8(image.colour_map)
    writer.u8(image.type)
    if image.type in _NAMED_BY_END:
        writer.string(image.name)
    else:
        writer.raw(image.name)
    if image.level_count is not None:
        writer.u8(image.level_count)
    image.write(writer)
    writer.raw(image.identifier)
    for runs in image.levels:
        writer.raw(runs.tobytes())
    writer.raw(image.packed)


recompose = write


def raw_size(document: OgfImage) -> int:
    """Return how many bytes are stored without being interpreted."""
    unknown = (len(image.packed) for image in document.frames if image.type in (ImageType.EIGHT_BITS, ImageType.RAW))
    return len(document.tail) + sum(unknown)


# Pictures ------------------------------------------------------------------------------------------------------------


def decode(document: OgfImage) -> list[NDArray[np.uint8]]:
    """Return the largest level of each frame as (height, width, 4) RGBA, top row first. Raises `ReadError`."""
    return [decode_image(image, file=document.file) for image in document.frames]


def decode_image(image: Image, level: int = 0, file: str = "") -> NDArray[np.uint8]:
    """Return one level of detail of an image as (height, width, 4) RGBA, top row first. Raises `ReadError`."""
    width, height = image.width >> level, image.height >> level
    if image.type in IN_RUNS:
        if level >= len(image.levels):
            words = "there is no level {} in the image"
            raise ReadError(say(words, level), file=file, remedy="Choose a level that the image has")
        return colours(image.levels[level], image.type).reshape(height, width, 4)
    if image.type in (ImageType.TGA, ImageType.TGA_RUNS):
        return tga_colours(
            image.packed,
            image.width,
            image.height,
            depth=image.depth,
            in_runs=image.type == ImageType.TGA_RUNS,
            from_top=bool(image.descriptor & _FROM_TOP),
            file=file,
        )
    words = "an image of type {} is not readable by the game"
    raise ReadError(say(words, image.type), file=file, remedy="Save it again with the game's tools")


MOST_LEVELS = 5
"""Levels of detail that the game's tools write: 128 to 8 pixels across."""
LARGEST_SIDE = 1024
_DEPTH, _DESCRIPTOR = 32, 0x28


def encode(pixels: NDArray[np.uint8], name: str, base: Image | None = None) -> Image:
    """Return the image of pixels (height, width, 4) RGBA, top row first.

    ``base``: the image that was edited. If it has the same size and its pixels are run-length encoded, it keeps its
    type, its name and the stored values of all pixels that were not edited, in each level; without an edit it is
    returned itself. A new image has 4 bits of alpha if alpha is more than on and off, else 1 bit. Raises `WriteError`
    for sizes and names that do not fit.
    """
    height, width, _ = pixels.shape
    if base is not None and (base.type not in IN_RUNS or (base.height, base.width) != (height, width)):
        base = None
    edited = np.ones((height, width), np.bool_)
    if base is not None:
        edited = (pixels != decode_image(base)).any(axis=2)
        if not edited.any():
            return base
    elif max(width, height) > LARGEST_SIDE or not width or not height:
        words = "the image is {} x {}, the sides of a texture are 1 to {}"
        raise WriteError(say(words, width, height, LARGEST_SIDE), remedy="Scale the image")
    kind = ImageType(base.type) if base is not None else _usual_type(pixels)
    count = len(base.levels) if base is not None else min(MOST_LEVELS, min(width, height).bit_length())
    levels: list[NDArray[Any]] = []
    own_pixels = pixels
    for number in range(count):
        values = _values(own_pixels, kind).ravel()
        if base is not None:
            values = np.where(edited.ravel(), values, _expanded(base.levels[number]))
        is_old = base is not None and np.array_equal(values, _expanded(base.levels[number]))
        if base is not None and is_old and not number:
            return base
        levels.append(base.levels[number] if base is not None and is_old else runs_of(values))
        if number + 1 < count:
            own_pixels, edited = mipmaps.halved(own_pixels), mipmaps.halved_mask(edited)
    if base is not None:
        return replace(base, levels=levels)
    stored = strings.encode(name)[:-1]
    if len(stored) >= _LONG_NAME:
        words = "the name {!r} has {:# character|# characters}, {} fit"
        raise WriteError(say(words, name, len(stored), _LONG_NAME - 1), remedy="Shorten it")
    return Image(kind, 0, stored, count, bytes(9), width, height, _DEPTH, _DESCRIPTOR, b"", levels)


def _usual_type(pixels: NDArray[np.uint8]) -> ImageType:
    alpha = pixels[..., 3]
    return ImageType.RUNS_4444 if ((alpha > 0) & (alpha < 255)).any() else ImageType.RUNS_1555


def _values(pixels: NDArray[np.uint8], kind: int) -> NDArray[np.uint16]:
    """Return the 16-bit values (height, width) of pixels, the inverse of `colours`."""
    bits = np.array((4, 4, 4, 4) if kind == ImageType.RUNS_4444 else (5, 5, 5, 1))
    if kind not in (ImageType.RUNS_4444, ImageType.RUNS_1555):
        bits = np.array((5, 6, 5, 1))
    levels = np.rint(pixels * ((1 << bits) - 1) / 255).astype(np.uint16)
    red, green, blue, alpha = np.moveaxis(levels, -1, 0)
    if kind == ImageType.RUNS_4444:
        return np.asarray(alpha << 12 | red << 8 | green << 4 | blue, np.uint16)
    if kind == ImageType.RUNS_1555:
        return np.where(alpha > 0, 0x8000 | red << 10 | green << 5 | blue, 0).astype(np.uint16)
    values = red << 11 | green << 5 | blue
    # The value for transparent pixels is pure green, which becomes one step darker.
    visible = np.where(values == _TRANSPARENT_565, _TRANSPARENT_565 - 0x20, values)
    return np.where(alpha > 0, visible, _TRANSPARENT_565).astype(np.uint16)


def _expanded(runs: NDArray[np.void]) -> NDArray[np.uint16]:
    """Return the value of each pixel."""
    result: NDArray[np.uint16] = np.repeat(runs["pixel"], np.maximum(runs["count"], 1))
    return result


def runs_of(values: NDArray[np.uint16]) -> NDArray[np.void]:
    """Return the runs (n,) of `RUN` of values (pixels,): equal neighbors, at most `LONGEST_RUN` together."""
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    lengths = np.diff(np.append(starts, len(values)))
    parts = -(-lengths // LONGEST_RUN)
    counts = np.full(parts.sum(), LONGEST_RUN)
    counts[np.cumsum(parts) - 1] = lengths - LONGEST_RUN * (parts - 1)
    runs = np.zeros(len(counts), RUN)
    runs["count"] = np.where(counts == 1, 0, counts)
    runs["pixel"] = np.repeat(values[starts], parts)
    return runs


def as_png(document: OgfImage, report: Report) -> list[bytes]:
    """Return each frame as a PNG file. Raises `ReadError` if the image cannot be decoded or has no pixels."""
    pictures = decode(document)
    if not all(picture.size for picture in pictures) or not pictures:
        raise ReadError("the image has no pixels", file=document.file, remedy="Choose another image")
    if document.animation is not None:
        report.note(say("{} frames, one file each", len(pictures)))
    return [png.encode(picture) for picture in pictures]


# In words ------------------------------------------------------------------------------------------------------------


def describe(document: OgfImage) -> list[str]:
    """Return sizes, pixel formats, levels of detail and the number of frames."""
    lines = []
    if document.animation is not None:
        lines.append(f"{counted(len(document.frames), 'frame')} of {document.animation.frame_time} s")
    for image in document.frames:
        kind = ImageType(image.type).name.lower().replace("_", " ")
        levels = f", {counted(len(image.levels), 'level')} of detail" if image.levels else ""
        lines.append(f"{image.label or 'no name'}: {image.width} x {image.height} pixels, {kind}{levels}")
    return lines


VIEWS: Views = {OgfImage: View(words={"frames": "frame"})}


# Pixels --------------------------------------------------------------------------------------------------------------


def read_runs(reader: Reader, pixels: int) -> NDArray[np.void]:
    """Read runs (n,) of `RUN` that contain exactly ``pixels`` pixels. Raises `ReadError`."""
    available = np.frombuffer(reader.data, RUN, reader.remaining // RUN.itemsize, reader.position)
    runs, size = 0, 0
    while size < pixels:
        block = available[runs : runs + _BLOCK]
        if not len(block):
            raise reader.error(say("the image ends after {} of {:# pixel|# pixels}", size, pixels), DAMAGED)
        counts = block["count"].astype(np.int64)
        if ((counts == 1) | (counts > LONGEST_RUN)).any():
            bad = int(np.argmax((counts == 1) | (counts > LONGEST_RUN)))
        else:
            bad = len(counts)
        ends = size + np.cumsum(np.maximum(counts, 1))
        whole = int(np.searchsorted(ends, pixels))
        taken = min(whole + 1, len(block))
        if bad < taken:
            reader.position += (runs + bad) * RUN.itemsize
            raise reader.error(say("a run of {:# pixel|# pixels}; the game supports 2 to {}", counts[bad], LONGEST_RUN))
        size, runs = int(ends[taken - 1]), runs + taken
    if size > pixels:
        raise reader.error(say("the runs of an image exceed its {:# pixel|# pixels}", pixels))
    return reader.array(RUN, runs, what="the pixels")


def colours(runs: NDArray[np.void], kind: int) -> NDArray[np.uint8]:
    """Return (pixels, 4) RGBA of the runs of an image type in `IN_RUNS`."""
    values = runs["pixel"].astype(np.int64)
    channels: list[NDArray[np.int64]]
    if kind == ImageType.RUNS_4444:
        channels = [(values >> shift & 15) * 17 for shift in (8, 4, 0, 12)]
    elif kind == ImageType.RUNS_1555:
        channels = [_from_five_bits(values >> shift & 31) for shift in (10, 5, 0)] + [(values >> 15) * 255]
    else:
        alpha = np.where(values == _TRANSPARENT_565, 0, 255)
        green = ((values >> 5 & 63) * 255 + 31) // 63
        channels = [_from_five_bits(values >> 11), green, _from_five_bits(values & 31), alpha]
    by_run = np.stack(channels, axis=-1).astype(np.uint8)
    return np.repeat(by_run, np.maximum(runs["count"], 1), axis=0)


def _from_five_bits(values: NDArray[np.int64]) -> NDArray[np.int64]:
    result: NDArray[np.int64] = (values * 255 + 15) // 31
    return result


def tga_colours(
    data: Bytes, width: int, height: int, *, depth: int, in_runs: bool, from_top: bool, file: str = ""
) -> NDArray[np.uint8]:
    """Return (height, width, 4) RGBA, top row first, of an ordinary TGA of 24 or 32 bits. Raises `ReadError`."""
    size = depth // 8
    if depth not in (24, 32):
        words = "an image of {} bits per pixel is not supported"
        raise ReadError(say(words, depth), file=file, remedy="Save it with 24 or 32 bits per pixel")
    reader = Reader(data, file)
    if in_runs:
        stored = _tga_runs(reader, width * height, size)
    else:
        stored = reader.array("u1", width * height, size, what=counted(width * height, "pixel"))
    result = np.full((height, width, 4), 255, np.uint8)
    result[..., :3] = stored[:, [2, 1, 0]].reshape(height, width, 3)
    if size == 4:
        result[..., 3] = stored[:, 3].reshape(height, width)
    return result if from_top else result[::-1]


def _tga_runs(reader: Reader, pixels: int, size: int) -> NDArray[np.uint8]:
    """Return (pixels, size) bytes of packets, each a repeated pixel or several literal ones."""
    parts: list[NDArray[np.uint8]] = [np.zeros((0, size), np.uint8)]
    runs = 0
    while runs < pixels:
        head = reader.u8("a packet of pixels")
        count = (head & 0x7F) + 1
        plain: NDArray[np.uint8] = reader.array("u1", 1 if head & 0x80 else count, size, what="a packet of pixels")
        parts.append(np.repeat(plain, count, axis=0) if head & 0x80 else plain)
        runs += count
    if runs > pixels:
        raise reader.error(say("the packets of an image exceed its {:# pixel|# pixels}", pixels))
    return np.concatenate(parts)
