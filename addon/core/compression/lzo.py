"""LZO1X, the compression of arrays in binarised files and of textures: byte-aligned literals and matches, an end mark.

An instruction is one byte plus operands. The meaning of a match (its distance and length) depends on this byte and on
how many literals were copied just before it. Checked against streams of the reference library. `stored` does not
compress: it writes one run of literals, which every decoder accepts. `pack` is fast and for whole words, `pack_bytes`
is thorough.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
from numpy.typing import NDArray

from ..binary import DAMAGED, Reader
from ..report import say

HIGHEST_RATIO = 256
"""Largest possible ratio of unpacked to packed size: each extra byte of a long length stands for 255 bytes."""

_END = b"\x11\0\0"
_LONG_LITERALS = 4
_FAR_DISTANCE = 16384
_NEAR_DISTANCE = 2048
_LONGEST_DISTANCE = 49151
_NEAR_LENGTH = 8
_SHORTEST = 3
"""Bytes of a match that saves space."""
_TRIES = 8
"""Earlier places of the same three bytes that are compared to find the longest match."""
_WORD = 4
"""Bytes."""
_EXTENSIONS = 16
"""Words by which a match may be made longer than its nearest equal words are. More of them save less than 1 %."""


def unpack(reader: Reader, size: int, what: str = "the compressed data") -> tuple[bytes, memoryview]:
    """Read a stream at the position of ``reader`` and return its ``size`` unpacked bytes and the stream itself.

    Raises `ReadError` for a stream that ends early, unpacks to another size, or refers to bytes before its start.
    """
    if size > HIGHEST_RATIO * reader.remaining:
        words = "{} declares {} unpacked bytes, but only {:# byte|# bytes} remain in the file"
        raise reader.error(say(words, what, size, reader.remaining), DAMAGED)
    ahead = reader.data[reader.position :]
    # Packed data is never twice as large as the plain data: this limits the copy, however large the file is.
    packed = bytes(ahead[: 2 * size + 64])
    try:
        plain, used = _decode(packed, size)
    except IndexError:
        raise reader.error(say("{} ends before its {} bytes are there", what, size), DAMAGED) from None
    except ValueError as wrong:
        raise reader.error(say("{} cannot be unpacked: {}", what, wrong), DAMAGED) from None
    if len(plain) != size:
        raise reader.error(say("{} gives {:# byte|# bytes}, {} are expected", what, len(plain), size))
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
            raise ValueError(say("it gives more than its {} bytes", size))
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


def pack(plain: bytes) -> bytes:
    """Return a compressed stream that unpacks to ``plain``.

    Matches are whole 32-bit words, such as the colors and indices of DXT blocks: numpy finds them all at once. Real
    levels of textures become about a third larger than with the reference library.
    """
    words = np.frombuffer(plain, "<u4", len(plain) // _WORD)
    if not len(words):
        return stored(plain)
    distances = _distances(words)
    starts = np.flatnonzero(np.diff(distances, prepend=-1))
    lengths = np.diff(starts, append=len(words)) * _WORD
    lengths[-1] += len(plain) % _WORD
    back = distances[starts] * _WORD
    codes, operands, operand_counts, sizes = _instructions(lengths, back)
    literals = np.where(back == 0, lengths, 0)
    parts = np.stack([sizes, literals], axis=1).ravel()
    is_literal = np.repeat(np.arange(len(parts)) % 2 == 1, parts)
    out = np.zeros(len(is_literal), np.uint8)
    out[is_literal] = np.frombuffer(plain, np.uint8)[np.repeat(back == 0, lengths)]
    ends = np.cumsum(sizes + literals) - literals
    out[ends - sizes] = codes
    for index in range(operands.shape[1]):
        from_end = operands.shape[1] - index
        has = operand_counts >= from_end
        out[ends[has] - from_end] = operands[has, index]
    return min(out.tobytes() + _END, stored(plain), key=len)


def _distances(words: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Return for each word how many words before it a match begins, 0 for literals. The last word is a literal."""
    order = np.argsort(words, kind="stable")
    same = words[order[1:]] == words[order[:-1]]
    distances = np.zeros(len(words), np.int64)
    distances[order[1:][same]] = np.diff(order)[same]  # the nearest equal word
    distances[distances > _LONGEST_DISTANCE // _WORD] = 0
    for _ in range(_EXTENSIONS):  # the match before goes on, if it can: one long match is smaller than two
        before = np.concatenate([[0], distances[:-1]])
        indices = np.flatnonzero((before > 0) & (before != distances))
        indices = indices[words[indices] == words[indices - before[indices]]]
        if not len(indices):
            break
        distances[indices] = before[indices]
    starts = np.flatnonzero(np.diff(distances, prepend=-1))
    is_short = np.diff(starts, append=len(words)) == 1
    distances[starts[is_short & (distances[starts] > _NEAR_DISTANCE // _WORD)]] = 0  # would save nothing
    distances[-1] = 0
    return distances


def _instructions(
    lengths: NDArray[np.int64], back: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return instructions: first bytes (n,), last bytes (n, 3) at the right, how many of these there are, and whole
    sizes (n,).

    ``lengths`` and ``back``: bytes of each literal run or match, and its distance, 0 for literals. Between the first
    and last bytes are the zeros of long lengths.
    """
    literal, far = back == 0, back > _FAR_DISTANCE
    near = ~literal & (lengths <= _NEAR_LENGTH) & (back <= _NEAR_DISTANCE)
    kinds = [literal, far]
    length = lengths - np.select(kinds, [3, 2], 2)
    rest = np.where(near, 0, np.maximum(length - np.select(kinds, [15, 7], 31), 0))
    zeros = np.maximum(rest - 1, 0) // 255
    beyond = back - _FAR_DISTANCE
    codes = np.select(kinds, [0, 16 | beyond >> 11 & 8], 32) + np.where(rest > 0, 0, length)
    codes[near] = (lengths - 1 << 5 | (back - 1 & 7) << 2)[near]
    word = np.where(far, beyond & 0x3FFF, back - 1) << 2
    operands = np.stack([rest - 255 * zeros, word & 255, word >> 8], axis=1)
    operands[literal, 2] = operands[literal, 0]
    operands[near, 2] = back[near] - 1 >> 3
    counts = np.where(literal, 0, np.where(near, 1, 2)) + (rest > 0)
    return codes, operands, counts, 1 + zeros + counts


def pack_bytes(plain: bytes) -> bytes:
    """Return a compressed stream that unpacks to ``plain``, with matches at any byte.

    Frames of real animations become less than 2 % larger than with the reference library; `pack` takes a tenth of the
    time.
    """
    out = bytearray()
    done, last = 0, -1  # the instruction byte that counts up to three literals behind a match
    for at, length, back in [*_matches(plain), (len(plain), 0, 0)]:
        literals = plain[done:at]
        if last >= 0 and len(literals) < _LONG_LITERALS:
            out[last] |= len(literals)
        elif last < 0 and 0 < len(literals) <= 238:
            out.append(17 + len(literals))
        elif literals:
            out += _with_length(0, len(literals) - 3, 15)
        out += literals
        if length:
            out += _match(length, back)
            done, last = at + length, len(out) - 2
    return min(bytes(out) + _END, stored(plain), key=len)


def _match(length: int, back: int) -> bytes:
    """Return the instruction that copies ``length`` bytes from ``back`` bytes before."""
    if length <= _NEAR_LENGTH and back <= _NEAR_DISTANCE:
        return bytes((length - 1 << 5 | (back - 1 & 7) << 2, back - 1 >> 3))
    if back <= _FAR_DISTANCE:
        return _with_length(32, length - 2, 31) + (back - 1 << 2).to_bytes(2, "little")
    beyond = back - _FAR_DISTANCE
    return _with_length(16 | beyond >> 11 & 8, length - 2, 7) + ((beyond & 0x3FFF) << 2).to_bytes(2, "little")


def _with_length(code: int, length: int, most: int) -> bytes:
    """Return an instruction and its length, which takes further bytes if it is above ``most``."""
    if length <= most:
        return bytes((code | length,))
    zeros, last = divmod(length - most - 1, 255)
    return bytes((code,)) + bytes(zeros) + bytes((last + 1,))


def _matches(plain: bytes) -> list[tuple[int, int, int]]:
    """Return start, length and distance of the matches to write, in order."""
    result: list[tuple[int, int, int]] = []
    earlier = _earlier(plain)
    starts = np.flatnonzero(earlier >= 0).tolist()
    before = earlier.tolist()
    index = 0
    while index < len(starts):
        at = starts[index]
        saved, length, back = _longest(plain, before, at)
        while index + 1 < len(starts) and starts[index + 1] == at + 1:
            following = _longest(plain, before, at + 1)
            if following[0] <= saved:
                break
            index, at = index + 1, at + 1
            saved, length, back = following
        if saved:
            result.append((at, length, back))
        index = bisect_left(starts, at + max(length, 1), index)
    return result


def _earlier(plain: bytes) -> NDArray[np.int64]:
    """Return for each position the nearest one before it where the same three bytes are, -1 if there is none."""
    data = np.frombuffer(plain, np.uint8).astype(np.uint32)
    three = data[:-2] | data[1:-1] << 8 | data[2:] << 16
    result = np.full(len(three), -1, np.int64)
    order = np.argsort(three, kind="stable")
    same = three[order[1:]] == three[order[:-1]]
    result[order[1:][same]] = order[:-1][same]
    return result


def _longest(plain: bytes, before: list[int], at: int) -> tuple[int, int, int]:
    """Return the bytes that the best match at a position saves, its length and its distance; 0 for none."""
    best = (0, 0, 0)
    source, end = before[at], len(plain)
    for _ in range(_TRIES):
        back = at - source
        if source < 0 or back > _LONGEST_DISTANCE:
            break
        length = _SHORTEST
        while at + length < end and plain[source + length] == plain[at + length]:
            length += 1
        saved = length - (2 if length <= _NEAR_LENGTH and back <= _NEAR_DISTANCE else 3)
        if saved > best[0]:
            best = saved, length, back
        source = before[source]
    return best
