"""LZO1X, the compression of arrays in binarised files: byte-aligned literals and matches, with an end mark.

An instruction is one byte plus operands. The meaning of a match (its distance and length) depends on this byte and on
how many literals were copied just before it. Checked against streams of the reference library. `stored` does not
compress: it writes one run of literals, which every decoder accepts.
"""

from __future__ import annotations

from ...core.binary import Reader
from ...core.report import counted

HIGHEST_RATIO = 256
"""Largest possible ratio of unpacked to packed size: each extra byte of a long length stands for 255 bytes."""

_END = b"\x11\0\0"
_LONG_LITERALS = 4
_FAR_DISTANCE = 16384


def unpack(reader: Reader, size: int, what: str = "the compressed data") -> tuple[bytes, memoryview]:
    """Read a stream at the position of ``reader`` and return its ``size`` unpacked bytes and the stream itself.

    Raises `ReadError` for a stream that ends early, unpacks to another size, or refers to bytes before its start.
    """
    if size > HIGHEST_RATIO * reader.remaining:
        raise reader.error(
            f"{what} declares {size} unpacked bytes, but only {counted(reader.remaining, 'byte')} remain in the file"
        )
    ahead = reader.data[reader.position :]
    # Packed data is never twice as large as the plain data: this limits the copy, however large the file is.
    packed = bytes(ahead[: 2 * size + 64])
    try:
        plain, used = _decode(packed, size)
    except IndexError:
        raise reader.error(f"{what} ends before its {size} bytes are there") from None
    except ValueError as wrong:
        raise reader.error(f"{what} is damaged: {wrong}") from None
    if len(plain) != size:
        raise reader.error(f"{what} gives {counted(len(plain), 'byte')}, {size} are expected")
    return plain, reader.take(used, what)


def _decode(packed: bytes, size: int) -> tuple[bytes, int]:  # noqa: C901 (calls would cost more than the copying)
    """Return the unpacked bytes and how many of ``packed`` were used. `IndexError`: too short; `ValueError`:
    damaged.
    """
    out = bytearray()
    at, state = 0, 0
    if packed[0] > 17:
        literals = packed[0] - 17
        at, state = 1 + literals, min(literals, _LONG_LITERALS)
        out += packed[1:at]
    while True:
        code = packed[at]
        at += 1
        if code >= 64:
            length, distance, trailing_literals = (code >> 5) + 1, (packed[at] << 3) + (code >> 2 & 7) + 1, code & 3
            at += 1
        elif code >= 16:
            mask = 31 if code >= 32 else 7
            length = code & mask
            if not length:
                length, at = _extended(packed, at, mask)
            length += 2
            word = packed[at] | packed[at + 1] << 8
            at += 2
            distance, trailing_literals = (word >> 2) + 1, word & 3
            if code < 32:
                distance += _FAR_DISTANCE - 1 + ((code & 8) << 11)
                if distance == _FAR_DISTANCE:
                    break
        elif state == 0:
            length = code
            if not length:
                length, at = _extended(packed, at, 15)
            length += 3
            out += packed[at : at + length]
            at, state = at + length, _LONG_LITERALS
            if len(out) > size or at > len(packed):
                break
            continue
        else:
            is_near = state < _LONG_LITERALS
            length, distance, trailing_literals = (2, 1, code & 3) if is_near else (3, 2049, code & 3)
            distance += (packed[at] << 2) + (code >> 2)
            at += 1
        start = len(out) - distance
        if start < 0:
            raise ValueError("it refers to bytes before its beginning")
        if len(out) + length > size:
            raise ValueError(f"it gives more than its {size} bytes")
        if distance >= length:
            out += out[start : start + length]
        else:
            out += (out[start:] * (length // distance + 1))[:length]
        if trailing_literals:
            out += packed[at : at + trailing_literals]
            at += trailing_literals
        state = trailing_literals
    if at > len(packed):
        raise IndexError
    return bytes(out), at


def _extended(packed: bytes, at: int, base: int) -> tuple[int, int]:
    """Return a length whose bits in the instruction were 0, and the position after its extra bytes."""
    start = at
    while not packed[at]:
        at += 1
    return 255 * (at - start) + base + packed[at], at + 1


def stored(plain: bytes) -> bytes:
    """Return a stream that unpacks to ``plain``, without compression."""
    size = len(plain)
    if size <= 238:
        head = bytes((17 + size,)) if size else b""
    else:
        zeros, last = divmod(size - 3 - 15 - 1, 255)
        head = bytes(1 + zeros) + bytes((last + 1,))
    return head + plain + _END
