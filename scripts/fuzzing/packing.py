"""Compressed streams for the fuzzer: encoders for arbitrary streams, and decoders to compare the project's with.

LZHUF, LZO1X and LZSS, written from the descriptions of the formats in the most obvious way and independently of
`addon`: if both decoders accept a stream, both must return the same bytes. A stream is made from tokens: runs of
literals and matches ``(length, distance)``.
"""

from __future__ import annotations

from bisect import bisect_right
from random import Random

Match = tuple[int, int]
Token = bytes | Match

_SYMBOLS, _NODES = 314, 627
_WINDOW = 4096
_HALVE_AT = 0x4000
_DISTANCE_BITS = [3] * 1 + [4] * 3 + [5] * 8 + [6] * 12 + [7] * 24 + [8] * 16
"""Length of the prefix code of each value of a distance's upper six bits; codes ascend with the values."""


class Damaged(Exception):
    """A stream that a reference decoder refuses."""


def _codes() -> list[int]:
    codes, code, previous = [], 0, 3
    for length in _DISTANCE_BITS:
        code <<= length - previous
        codes.append(code)
        code, previous = code + 1, length
    return codes


_DISTANCE_CODES = _codes()
_BY_CODE = {(length, code): upper for upper, (length, code) in enumerate(zip(_DISTANCE_BITS, _codes(), strict=True))}


class HuffmanTree:
    """The adaptive tree of LZHUF. ``weights`` of the nodes are in ascending order.

    ``content`` of a node: its symbol (a leaf, 0 to 313), or minus the index of its first child, minus 1; ``parent`` of
    a node, and ``leaf`` of a symbol, are indices. The root has index 626.
    """

    def __init__(self) -> None:
        self.weights = [1] * _SYMBOLS
        self.content: list[int] = list(range(_SYMBOLS))
        self._join()

    def _join(self) -> None:
        first = 0
        while len(self.weights) < _NODES:
            weight = self.weights[first] + self.weights[first + 1]
            index = len(self.weights)
            while weight < self.weights[index - 1]:
                index -= 1
            self.weights.insert(index, weight)
            self.content.insert(index, -first - 1)
            first += 2
        self.parent = [0] * _NODES
        self.leaf = [0] * _SYMBOLS
        for index in range(_NODES):
            self._point_to(index)

    def _point_to(self, index: int) -> None:
        content = self.content[index]
        if content >= 0:
            self.leaf[content] = index
        else:
            self.parent[-content - 1] = self.parent[-content] = index

    def code(self, symbol: int) -> list[int]:
        """Return the bits of the path from the root to a symbol."""
        index, bits = self.leaf[symbol], []
        while index != _NODES - 1:
            above = self.parent[index]
            bits.append(index - (-self.content[above] - 1))
            index = above
        return bits[::-1]

    def count(self, symbol: int) -> None:
        """Increase the frequency of a symbol by one."""
        if self.weights[-1] == _HALVE_AT:
            self._halve()
        index = self.leaf[symbol]
        while True:
            last = bisect_right(self.weights, self.weights[index]) - 1
            if last != index:
                self.content[index], self.content[last] = self.content[last], self.content[index]
                self._point_to(index)
                self._point_to(last)
            self.weights[last] += 1
            if last == _NODES - 1:
                return
            index = self.parent[last]

    def _halve(self) -> None:
        leaves = [(weight + 1) // 2 for weight, content in zip(self.weights, self.content, strict=True) if content >= 0]
        self.content = [content for content in self.content if content >= 0]
        self.weights = leaves
        self._join()


def pack_lzhuf(tokens: list[Token]) -> bytes:
    """Return the bit stream of tokens, without the size before it. Matches: 3 to 60 bytes, up to 4096 back."""
    tree, bits = HuffmanTree(), []

    def put(symbol: int) -> None:
        bits.extend(tree.code(symbol))
        tree.count(symbol)

    for token in tokens:
        if isinstance(token, bytes):
            for byte in token:
                put(byte)
            continue
        length, distance = token
        put(length + 253)
        upper = distance - 1 >> 6
        width = _DISTANCE_BITS[upper]
        for value, count in ((_DISTANCE_CODES[upper], width), (distance - 1 & 63, 6)):
            bits += [value >> bit & 1 for bit in reversed(range(count))]
    bits += [0] * (-len(bits) % 8)
    return bytes(int("".join(map(str, bits[at : at + 8])), 2) for at in range(0, len(bits), 8))


def unpack_lzhuf(packed: bytes, size: int) -> tuple[bytes, int]:
    """Return at least ``size`` unpacked bytes, and the number of bytes of the stream used. Raises `Damaged`."""
    tree, at = HuffmanTree(), 0

    def bit() -> int:
        nonlocal at
        if at >= 8 * len(packed):
            raise Damaged("the stream ends")
        at += 1
        return packed[at - 1 >> 3] >> (-at & 7) & 1

    out = bytearray(b" " * _WINDOW)
    while len(out) < size + _WINDOW:
        index = _NODES - 1
        while tree.content[index] < 0:
            index = -tree.content[index] - 1 + bit()
        symbol = tree.content[index]
        tree.count(symbol)
        if symbol < 256:
            out.append(symbol)
            continue
        code, width = 0, 0
        while (width, code) not in _BY_CODE:
            code, width = code << 1 | bit(), width + 1
        distance = _BY_CODE[width, code] << 6
        for position in reversed(range(6)):
            distance |= bit() << position
        for _ in range(symbol - 253):
            out.append(out[-distance - 1])
    return bytes(out[_WINDOW:]), (at + 7) // 8


def pack_lzo(tokens: list[Token]) -> bytes:
    """Return the LZO1X stream of tokens. Matches: 3 bytes and more, up to 49151 back. Runs of 1 to 3 literals are
    stored in the match before them.
    """
    out, literals, start = bytearray(), b"", True
    for token in [*tokens, None]:
        if isinstance(token, bytes):
            literals += token
            continue
        if literals:
            if start and len(literals) <= 238:
                out += bytes((17 + len(literals),)) + literals
            elif not start and len(literals) <= 3:
                out[-2] |= len(literals)
                out += literals
            else:
                if len(literals) < 4:
                    raise ValueError("a run of 1 to 3 literals needs a match before it")
                out += _lzo_length(0, len(literals) - 3, 15) + literals
        if token is not None:
            length, distance = token
            if distance <= 16384:
                out += _lzo_length(32, length - 2, 31) + (distance - 1 << 2 & 0xFFFF).to_bytes(2, "little")
            else:
                far = distance - 16384
                out += _lzo_length(16 | far >> 11 & 8, length - 2, 7) + ((far & 0x3FFF) << 2).to_bytes(2, "little")
        literals, start = b"", False
    return bytes(out) + b"\x11\0\0"


def _lzo_length(code: int, length: int, most: int) -> bytes:
    if length <= most:
        return bytes((code | length,))
    zeros, last = divmod(length - most - 1, 255)
    return bytes((code,)) + bytes(zeros) + bytes((last + 1,))


class _Stream:
    """Reader of single bytes. Raises `Damaged` at the end."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def byte(self) -> int:
        if self.at >= len(self.data):
            raise Damaged("the stream ends")
        self.at += 1
        return self.data[self.at - 1]

    def take(self, count: int) -> bytes:
        if self.at + count > len(self.data):
            raise Damaged("the stream ends")
        self.at += count
        return self.data[self.at - count : self.at]

    def length(self, start: int, most: int) -> int:
        if start:
            return start
        length = most
        while not (byte := self.byte()):
            length += 255
        return length + byte


def unpack_lzo(packed: bytes, size: int) -> tuple[bytes, int]:
    """Return ``size`` unpacked bytes, and the number of bytes of the stream used. Raises `Damaged`."""
    stream, out = _Stream(packed), bytearray()
    before = 0  # number of literals copied just before, at most 4
    first = stream.byte()
    if first > 17:
        out += stream.take(first - 17)
        before = min(first - 17, 4)
    else:
        stream.at = 0
    while True:
        code = stream.byte()
        if code < 16 and not before:
            count = stream.length(code, 15) + 3
            out += stream.take(count)
            before = 4
            if len(out) > size:
                raise Damaged("too many bytes")
            continue
        if code < 16:
            distance = (stream.byte() << 2) + (code >> 2) + (2049 if before == 4 else 1)
            length, after = (3 if before == 4 else 2), code & 3
        elif code < 64:
            length = stream.length(code & (7 if code < 32 else 31), 7 if code < 32 else 31) + 2
            low = stream.byte()
            distance = (low | stream.byte() << 8) >> 2
            after = low & 3
            if code < 32:
                distance += (code & 8) << 11
                if not distance:
                    break
                distance += 16384
            else:
                distance += 1
        else:
            length, after = (code >> 5) + 1, code & 3
            distance = (stream.byte() << 3) + (code >> 2 & 7) + 1
        if distance > len(out) or len(out) + length > size:
            raise Damaged("a match that cannot be")
        for _ in range(length):
            out.append(out[-distance])
        out += stream.take(after)
        before = after
    if len(out) != size:
        raise Damaged("too few bytes")
    return bytes(out), stream.at


def pack_lzss(tokens: list[Token]) -> bytes:
    """Return the LZSS stream of tokens (matches: 3 to 18 bytes, up to 4095 back) and the sum of its unpacked bytes."""
    parts: list[tuple[int, bytes]] = []
    plain = bytearray(b" " * _WINDOW)
    for token in tokens:
        if isinstance(token, bytes):
            parts += [(1, bytes((byte,))) for byte in token]
            plain += token
        else:
            length, distance = token
            parts.append((0, bytes((distance & 255, distance >> 4 & 0xF0 | length - 3))))
            for _ in range(length):
                plain.append(plain[-distance])
    out = bytearray()
    for start in range(0, len(parts), 8):
        group = parts[start : start + 8]
        out.append(sum(flag << index for index, (flag, _) in enumerate(group)))
        out += b"".join(part for _, part in group)
    return bytes(out) + (sum(plain[_WINDOW:]) & 0xFFFFFFFF).to_bytes(4, "little")


def unpack_lzss(packed: bytes, size: int) -> tuple[bytes, int]:
    """Return the unpacked bytes, and the number of bytes of the stream used, with checksum. Raises `Damaged`."""
    stream, out = _Stream(packed), bytearray(b" " * _WINDOW)
    flags, left = 0, 0
    while len(out) < size + _WINDOW:
        if not left:
            flags, left = stream.byte(), 8
        if flags & 1:
            out.append(stream.byte())
        else:
            low, high = stream.byte(), stream.byte()
            distance = low | (high & 0xF0) << 4 or _WINDOW
            for _ in range(min((high & 15) + 3, size + _WINDOW - len(out))):
                out.append(out[-distance])
        flags, left = flags >> 1, left - 1
    plain = bytes(out[_WINDOW:])
    stored_sum = int.from_bytes(stream.take(4), "little")
    if stored_sum not in (sum(plain) & 0xFFFFFFFF, sum(byte - 256 * (byte > 127) for byte in plain) & 0xFFFFFFFF):
        raise Damaged("the sum is wrong")
    return plain, stream.at


def expanded(tokens: list[Token], before: bytes = b"") -> bytes:
    """Return the unpacked bytes of tokens; ``before``: initial content of the window, which matches can refer to."""
    out = bytearray(before)
    for token in tokens:
        if isinstance(token, bytes):
            out += token
        else:
            for _ in range(token[0]):
                out.append(out[-token[1]])
    return bytes(out[len(before) :])


def random_tokens(random: Random, longest: int, farthest: int, before: int = 0) -> list[Token]:
    """Return random tokens: matches of 3 to ``longest`` bytes, at most ``farthest`` back, and literals.

    ``before``: number of bytes already in the window.
    """
    tokens: list[Token] = [random.randbytes(random.choice((4, 5, 18, 200, 300)))]
    size = before + len(expanded(tokens))
    for _ in range(random.choice((0, 1, 3, 20, 60))):
        if isinstance(tokens[-1], bytes) or random.random() < 0.5:
            length = random.choice((3, 4, 8, 9, 33, longest, random.randint(3, longest)))
            most = min(farthest, size)
            distance = random.choice((1, 2, most, random.randint(1, most), random.randint(1, min(most, 64))))
            tokens.append((min(length, longest), distance))
        else:
            tokens.append(random.randbytes(random.choice((1, 2, 3, 4, 17, 300))))
        last = tokens[-1]
        size += len(last) if isinstance(last, bytes) else last[0]
    return tokens


def tokens_of(plain: bytes, longest: int, farthest: int) -> list[Token]:
    """Return tokens that unpack to ``plain``; the first is a run of at least four literals, if there are as many."""
    tokens: list[Token] = []
    literals, at = bytearray(plain[:4]), 4
    seen = {plain[position : position + 3]: position for position in range(2)}
    while at < len(plain):
        source = seen.get(plain[at : at + 3]) if at + 3 <= len(plain) else None
        length = 0
        if source is not None and at - source <= farthest:
            most = min(longest, len(plain) - at)
            while length < most and plain[source + length] == plain[at + length]:
                length += 1
        step = max(length, 1)
        for index in range(at, at + min(step, 8)):
            seen[plain[index : index + 3]] = index
        if source is None or length < 3:
            literals.append(plain[at])
        else:
            if literals:
                tokens.append(bytes(literals))
                literals = bytearray()
            tokens.append((length, at - source))
        at += step
    return [*tokens, bytes(literals)] if literals else tokens


def compressed_chunk_body(plain: bytes) -> bytes:
    """Return ``plain`` as the body of a compressed chunk: its size and an LZHUF stream."""
    return len(plain).to_bytes(4, "little") + pack_lzhuf(tokens_of(plain, 60, 4096))
