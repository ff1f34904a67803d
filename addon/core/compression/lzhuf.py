"""LZHUF, the compression of X-Ray's chunks (id bit 31): sliding window and adaptive Huffman codes. Reading only.

A body is ``u32 unpacked size`` and a bit stream, most significant bit first. Symbols 0..255 are bytes; 256..313 are
matches of 3..60 bytes, followed by a distance: its upper six bits have a fixed prefix code, its lower six bits are
stored directly. Source: the engine's ``LzHuf.cpp``, which halves its frequencies at 0x4000, while the method of 1989
does at 0x8000. Writing is not needed: the games read uncompressed chunks too.
"""

from __future__ import annotations

import numpy as np

from ..binary import Reader
from ..errors import ReadError
from ..report import say

LARGEST = 64 << 20
"""Limit of bytes that a body may unpack to. The largest file of the games is far smaller."""
HIGHEST_RATIO = 48
"""Limit of unpacked size / packed size: a match of 60 bytes takes at least ten bits, one for its symbol."""

_WINDOW = 4096
_SYMBOLS = 314
_NODES = 2 * _SYMBOLS - 1
_ROOT = _NODES - 1
_HALVE_AT = 0x4000
_SHORTEST_MATCH = 3
_ABOVE_ALL = 1 << 30
"""A frequency that no node has."""

_CODES_OF_LENGTH = {3: 1, 4: 3, 5: 8, 6: 12, 7: 24, 8: 16}
"""Length of a prefix code -> how many values of the distance's upper six bits use it; codes ascend with the values."""


def _distance_table() -> list[tuple[int, int]]:
    """Return (upper six bits << 6, length of their code) for every byte that a code can start with."""
    table: list[tuple[int, int]] = []
    value = 0
    for length, count in _CODES_OF_LENGTH.items():
        for _ in range(count):
            table += [(value << 6, length)] * (1 << (8 - length))
            value += 1
    return table


_DISTANCES = _distance_table()


class _Tree:
    """The adaptive Huffman tree: nodes sorted by frequency, ascending, so that siblings are neighbours.

    ``son[node]`` is the first of a node's two children, or ``_NODES + symbol`` for a leaf; ``parent`` is its inverse.
    """

    __slots__ = ("frequency", "parent", "son")

    def __init__(self) -> None:
        self.son = [_NODES + symbol for symbol in range(_SYMBOLS)] + [0] * (_NODES - _SYMBOLS)
        self.frequency = [1] * _SYMBOLS + [0] * (_NODES - _SYMBOLS) + [_ABOVE_ALL]
        self.parent = [0] * (_NODES + _SYMBOLS)
        first = 0
        for node in range(_SYMBOLS, _NODES):
            self.son[node] = first
            self.frequency[node] = self.frequency[first] + self.frequency[first + 1]
            first += 2
        self._connect()

    def _connect(self) -> None:
        parent = self.parent
        for node, son in enumerate(self.son):
            parent[son] = node
            if son < _NODES:
                parent[son + 1] = node
        parent[_ROOT] = 0

    def halve(self) -> None:
        """Halve the frequencies of all leaves (rounding up) and rebuild the tree from the leaves in their order."""
        leaves = [
            ((frequency + 1) // 2, son)
            for frequency, son in zip(self.frequency[:_NODES], self.son, strict=True)
            if son >= _NODES
        ]
        frequencies = [frequency for frequency, _ in leaves]
        sons = [son for _, son in leaves]
        first = 0
        for _ in range(_SYMBOLS, _NODES):
            joined = frequencies[first] + frequencies[first + 1]
            # After every node that is not heavier; searched from the heavy end as in the engine.
            index = len(frequencies)
            while joined < frequencies[index - 1]:
                index -= 1
            frequencies.insert(index, joined)
            sons.insert(index, first)
            first += 2
        self.frequency[:_NODES] = frequencies
        self.son[:] = sons
        self._connect()


def unpack(reader: Reader) -> bytes:
    """Unpack a compressed body; ``reader`` is at the unpacked size and is read to its end.

    Raises `ReadError` if the unpacked size is 0, above 64 MiB or above 48 times the packed size, or if the stream is
    too short or too long: then it was not compressed, or not by the game.
    """
    size, packed = _declared(reader)
    try:
        plain, used = _decode(packed, size)
    except IndexError:
        raise _mismatch(reader, say("the compressed stream ends before its {} bytes are there", size)) from None
    if len(plain) != size:
        raise _mismatch(reader, say("the compressed stream gives more than its {} bytes", size))
    if (used + 7) // 8 != len(packed):
        words = "{:# extra byte|# extra bytes} after the compressed stream"
        raise _mismatch(reader, say(words, len(packed) - (used + 7) // 8))
    return plain


def unpack_start(reader: Reader, count: int) -> bytes:
    """Unpack the first bytes of a body, at most ``count``, to see what it is. Raises `ReadError` as `unpack` does."""
    size, packed = _declared(reader)
    try:
        return _decode(packed[: 2 * count], min(size, count))[0][:count]
    except IndexError:
        raise _mismatch(reader, say("the compressed stream ends before its {} bytes are there", size)) from None


def _declared(reader: Reader) -> tuple[int, memoryview]:
    """Return the unpacked size of a body and its compressed bytes. Raises `ReadError` for an impossible size."""
    size = reader.u32("the unpacked size")
    packed = reader.rest()
    if not 0 < size <= min(LARGEST, HIGHEST_RATIO * len(packed)):
        words = "{:# byte is|# bytes are} declared to unpack to {}: not compressed, or encrypted"
        raise reader.error(say(words, len(packed), size))
    return size, packed


def _mismatch(reader: Reader, problem: str) -> ReadError:
    return reader.error(problem, "It is not compressed in the game's way, or a mod's own tool has encrypted it")


def _decode(packed: memoryview, size: int) -> tuple[bytes, int]:
    """Return at least ``size`` bytes and the number of bits that were read.

    Raises `IndexError` if the stream is too short.
    """
    bits = np.unpackbits(np.frombuffer(packed, np.uint8)).tobytes()
    at, end = 0, len(bits)
    stream = bytes(packed) + b"\0\0"
    tree = _Tree()
    son, parent, frequency = tree.son, tree.parent, tree.frequency
    total, frequency[_ROOT] = _SYMBOLS, _ABOVE_ALL  # so that no node is compared with the root
    out = bytearray(b" " * _WINDOW)
    target = size + _WINDOW
    while len(out) < target:
        leaf = son[_ROOT]
        while leaf < _NODES:
            leaf = son[leaf + bits[at]]
            at += 1
        # Count the symbol: its leaf and all nodes above, each of which goes to the end of those as frequent as itself.
        if total == _HALVE_AT:
            tree.halve()
            total, frequency[_ROOT] = frequency[_ROOT], _ABOVE_ALL
        total += 1
        node = parent[leaf]
        while node != _ROOT:
            before = frequency[node]
            other = node + 1
            if frequency[other] != before:
                frequency[node] = before + 1
                node = parent[node]
                continue
            while frequency[other + 1] == before:
                other += 1
            frequency[other] = before + 1
            mine, theirs = son[node], son[other]
            son[node], son[other] = theirs, mine
            parent[mine] = other
            if mine < _NODES:
                parent[mine + 1] = other
            parent[theirs] = node
            if theirs < _NODES:
                parent[theirs + 1] = node
            node = parent[other]
        symbol = leaf - _NODES
        if symbol < 256:
            out.append(symbol)
            continue
        word = int.from_bytes(stream[at >> 3 : (at >> 3) + 3], "big") << (at & 7)
        upper, length = _DISTANCES[word >> 16 & 255]
        distance = (upper | word << length >> 18 & 63) + 1
        at += length + 6
        if at > end:
            raise IndexError
        copied = symbol - 256 + _SHORTEST_MATCH
        start = len(out) - distance
        if distance >= copied:
            out += out[start : start + copied]
        else:
            out += (out[start:] * (copied // distance + 1))[:copied]
    return bytes(memoryview(out)[_WINDOW:]), at
