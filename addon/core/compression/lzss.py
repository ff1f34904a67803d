"""LZSS, the compression of textures and of arrays in binarised files of version 2: a window of 4096 bytes, a checksum.

A byte holds eight flags, lowest bit first: 1 is a literal, 0 a match of 3 to 18 bytes, up to 4095 bytes back. The
window before the first byte is filled with spaces. After the stream follows a u32, the sum of all unpacked bytes: in
textures as signed bytes, which real ones confirm; no other file that uses it was available.
"""

from __future__ import annotations

import struct

from ..binary import DAMAGED, Reader
from ..report import say

HIGHEST_RATIO = 9
"""Largest possible ratio of unpacked to packed size: 17 bytes (a byte of flags, 8 matches) unpack to 8 times 18."""


def unpack(reader: Reader, size: int, what: str = "the compressed data") -> tuple[bytes, memoryview]:
    """Read a stream at the position of ``reader``; return its ``size`` unpacked bytes and the stream with its checksum.

    Raises `ReadError` for a stream that ends early or whose checksum is wrong.
    """
    if size > HIGHEST_RATIO * reader.remaining:
        words = "{} declares {} unpacked bytes, but only {:# byte|# bytes} remain in the file"
        raise reader.error(say(words, what, size, reader.remaining), DAMAGED)
    packed = bytes(reader.data[reader.position : reader.position + size + size // 8 + 64])
    try:
        plain, used = _decode(packed, size)
        (stored_sum,) = struct.unpack_from("<I", packed, used)
    except (IndexError, struct.error):
        raise reader.error(say("{} ends before its {} bytes are there", what, size), DAMAGED) from None
    if stored_sum not in _sums(plain):
        words = "{}: the sum of its bytes is {}, not {}"
        raise reader.error(say(words, what, _sums(plain)[0], stored_sum), DAMAGED)
    return plain, reader.take(used + 4, what)


def _sums(plain: bytes) -> tuple[int, int]:
    """Return the sum of the bytes, and the sum that tools with signed bytes compute. Both modulo 2**32."""
    unsigned = sum(plain)
    signed = unsigned - 256 * sum(1 for byte in plain if byte > 127)
    return unsigned & 0xFFFFFFFF, signed & 0xFFFFFFFF


def _decode(packed: bytes, size: int) -> tuple[bytes, int]:
    out = bytearray(b" " * 4096)
    at, flags = 0, 1
    end = size + 4096
    while len(out) < end:
        if flags == 1:
            flags = packed[at] | 256
            at += 1
        if flags & 1:
            out.append(packed[at])
            at += 1
        else:
            low, high = packed[at], packed[at + 1]
            at += 2
            distance, length = low | (high & 0xF0) << 4, min((high & 15) + 3, end - len(out))
            if not distance:
                distance = 4096  # this slot of the ring buffer still holds the byte written 4096 bytes ago
            start = len(out) - distance
            if distance >= length:
                out += out[start : start + length]
            else:
                out += (out[start:] * (length // distance + 1))[:length]
        flags >>= 1
    return bytes(out[4096:]), at


def stored_size(size: int) -> int:
    """Return the number of bytes of `stored` for ``size`` bytes."""
    return size + -(-size // 8) + 4


def stored(plain: bytes, *, signed: bool = False) -> bytes:
    """Return a stream that unpacks to ``plain``, without compression. ``signed``: the sum is that of signed bytes, as
    in textures.
    """
    parts = [b"\xff" + plain[start : start + 8] for start in range(0, len(plain), 8)]
    return b"".join(parts) + struct.pack("<I", _sums(plain)[signed])
