"""Images as PNG files, 8 bits per channel with alpha, for other programs."""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from .report import say

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_RGBA = 6


def encode(pixels: NDArray[np.uint8]) -> bytes:
    """Return the bytes of a PNG file of pixels (height, width, 4): red, green, blue, alpha, top row first. Raises
    `ValueError` for an empty image.
    """
    height, width, channels = pixels.shape
    if not height or not width or channels != 4:
        raise ValueError(say("a picture of {} x {} pixels of {} channels", width, height, channels))
    # Each row begins with the number of its filter, 0 for no filter.
    rows = np.zeros((height, 1 + 4 * width), np.uint8)
    rows[:, 1:] = pixels.reshape(height, 4 * width)
    header = struct.pack(">IIBBBBB", width, height, 8, _RGBA, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b""))
    return _SIGNATURE + b"".join(_chunk(name, body) for name, body in parts)


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
