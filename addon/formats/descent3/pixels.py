"""The pixels of Descent 3's textures: runs of 16-bit numbers, and what colours these are.

Known from the engine's ``bitmap.cpp``, ``iff.cpp`` and ``tga.cpp`` and from real textures. A run is a count, 0 for a
single pixel or 2 to 250, and the pixel; runs do not reach over the end of a level of detail.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from ...core.binary import Bytes, Reader
from ...core.errors import ReadError

RUN = np.dtype([("count", "u1"), ("pixel", "<u2")])
LONGEST_RUN = 250
_BLOCK = 4096
_TRANSPARENT_565 = 0x07E0


class ImageType(IntEnum):
    """How an image is stored."""

    TGA = 2
    TGA_RUNS = 10
    RUNS_4444 = 121
    RUNS_1555 = 122
    RUNS_NAMED = 123
    """From here on 5 bits of red, 6 of green, 5 of blue."""
    RUNS_MIPMAPPED = 124
    EIGHT_BITS = 125
    """Not readable by the engine, and not here."""
    RAW = 126
    """Not readable by the engine, and not here."""
    RUNS = 127


IN_RUNS = (
    ImageType.RUNS_4444,
    ImageType.RUNS_1555,
    ImageType.RUNS_NAMED,
    ImageType.RUNS_MIPMAPPED,
    ImageType.RUNS,
)


def read_runs(reader: Reader, pixels: int) -> NDArray[np.void]:
    """The runs (n,) of `RUN` that are exactly so many pixels. Raises `ReadError`."""
    available = np.frombuffer(reader.data, RUN, reader.remaining // RUN.itemsize, reader.position)
    found, size = 0, 0
    while size < pixels:
        block = available[found : found + _BLOCK]
        if not len(block):
            raise reader.error(f"the image ends after {size} of {pixels} pixels")
        counts = block["count"].astype(np.int64)
        if ((counts == 1) | (counts > LONGEST_RUN)).any():
            bad = int(np.argmax((counts == 1) | (counts > LONGEST_RUN)))
        else:
            bad = len(counts)
        ends = size + np.cumsum(np.maximum(counts, 1))
        whole = int(np.searchsorted(ends, pixels))
        taken = min(whole + 1, len(block))
        if bad < taken:
            reader.position += (found + bad) * RUN.itemsize
            raise reader.error(f"a run of {counts[bad]} pixels; the game takes 2 to {LONGEST_RUN}")
        size, found = int(ends[taken - 1]), found + taken
    if size > pixels:
        raise reader.error(f"the runs of an image reach over its {pixels} pixels")
    return reader.array(RUN, found, what="the pixels")


def colours(runs: NDArray[np.void], kind: int) -> NDArray[np.uint8]:
    """(pixels, 4) red, green, blue, alpha of runs of an image type of `IN_RUNS`."""
    values = runs["pixel"].astype(np.int64)
    channels: list[NDArray[np.int64]]
    if kind == ImageType.RUNS_4444:
        channels = [(values >> shift & 15) * 17 for shift in (8, 4, 0, 12)]
    elif kind == ImageType.RUNS_1555:
        channels = [_five(values >> shift & 31) for shift in (10, 5, 0)] + [(values >> 15) * 255]
    else:
        alpha = np.where(values == _TRANSPARENT_565, 0, 255)
        green = ((values >> 5 & 63) * 255 + 31) // 63
        channels = [_five(values >> 11), green, _five(values & 31), alpha]
    by_run = np.stack(channels, axis=-1).astype(np.uint8)
    return np.repeat(by_run, np.maximum(runs["count"], 1), axis=0)


def _five(values: NDArray[np.int64]) -> NDArray[np.int64]:
    result: NDArray[np.int64] = (values * 255 + 15) // 31
    return result


def tga_colours(
    data: Bytes, width: int, height: int, *, depth: int, in_runs: bool, from_top: bool, file: str = ""
) -> NDArray[np.uint8]:
    """(height, width, 4), top row first, of an ordinary TGA of 24 or 32 bits. Raises `ReadError`."""
    size = depth // 8
    if depth not in (24, 32):
        raise ReadError(f"an image of {depth} bits a pixel is not read here", file=file, remedy="Save it with 24 or 32")
    reader = Reader(data, file)
    if in_runs:
        stored = _tga_runs(reader, width * height, size)
    else:
        stored = reader.array("u1", width * height, size, what=f"{width * height} pixels")
    result = np.full((height, width, 4), 255, np.uint8)
    result[..., :3] = stored[:, [2, 1, 0]].reshape(height, width, 3)
    if size == 4:
        result[..., 3] = stored[:, 3].reshape(height, width)
    return result if from_top else result[::-1]


def _tga_runs(reader: Reader, pixels: int, size: int) -> NDArray[np.uint8]:
    """(pixels, size) of packets: one pixel repeated, or several plain ones."""
    parts: list[NDArray[np.uint8]] = [np.zeros((0, size), np.uint8)]
    found = 0
    while found < pixels:
        head = reader.u8("a packet of pixels")
        count = (head & 0x7F) + 1
        plain: NDArray[np.uint8] = reader.array("u1", 1 if head & 0x80 else count, size, what="a packet of pixels")
        parts.append(np.repeat(plain, count, axis=0) if head & 0x80 else plain)
        found += count
    if found > pixels:
        raise reader.error(f"the packets of an image reach over its {pixels} pixels")
    return np.concatenate(parts)
