"""Ways to damage a file: bits, sizes and counts, cuts, and rearranged chunks.

All choices depend only on the given `random.Random`, so that a case can be repeated from its seed. This module parses
chunks on its own, so as not to share errors with the code that it tests.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

HOSTILE = (0, 1, 2, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
"""Values written over sizes and counts."""
Way = Callable[[bytes, Random, bytes], bytes]
"""Function (bytes, random, bytes of another file) -> damaged bytes."""
DESCENT_MODEL = b"PSPO"
"""Mark of a Descent 3 model. After it and a version follow chunks of the same layout."""
DEEPEST = 3
MOST_CHUNKS = 400
"""Files with more chunks are damaged as bytes only, because parsing them in Python would be the slowest step."""


@dataclass(slots=True)
class Node:
    """A chunk: its id, and its body as bytes or as inner chunks."""

    number: int
    body: bytes | list[Node]

    def plain(self) -> bytes:
        """Return the bytes of the body."""
        return self.body if isinstance(self.body, bytes) else compose(self.body)

    def compose(self) -> bytes:
        """Return the bytes of the chunk, with its correct size."""
        body = self.plain()
        return struct.pack("<II", self.number, len(body) & 0xFFFFFFFF) + body


def compose(nodes: list[Node]) -> bytes:
    """Return the bytes of concatenated chunks."""
    return b"".join(node.compose() for node in nodes)


def parse(data: bytes, deep: int = DEEPEST) -> list[Node] | None:
    """Return the chunks in ``data``, nested ones up to ``deep`` levels; None if it is not a sequence of chunks."""
    spans: list[tuple[int, bytes]] = []
    at = 0
    while at < len(data):
        if len(data) - at < 8 or len(spans) > MOST_CHUNKS:
            return None
        number, size = struct.unpack_from("<II", data, at)
        if size > len(data) - at - 8:
            return None
        spans.append((number, data[at + 8 : at + 8 + size]))
        at += 8 + size
    nodes = []
    for number, body in spans:
        inner = parse(body, deep - 1) if deep and len(body) >= 8 else None
        nodes.append(Node(number, inner or body))
    return nodes


def mutated(data: bytes, random: Random, other: bytes, more: Sequence[Way] = ()) -> bytes:
    """Return the bytes damaged in one, two or four ways; ``other`` is a file to borrow bytes from.

    ``more``: ways that know the format, used half the time.
    """
    for _ in range(random.choice((1, 1, 1, 2, 2, 4))):
        change = random.choice(more if more and random.random() < 0.5 else WAYS)
        data = change(bytes(data), random, other)
    return data


def _place(data: bytes, random: Random) -> int:
    """Return a random offset, half the time near the start, where headers and counts are."""
    limit = min(len(data), 512) if random.random() < 0.5 else len(data)
    return random.randrange(limit) if limit else 0


def _flip_bits(data: bytes, random: Random, _other: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 8, 64))):
        if changed:
            changed[_place(data, random)] ^= 1 << random.randrange(8)
    return bytes(changed)


def _truncate(data: bytes, random: Random, _other: bytes) -> bytes:
    return data[: _place(data, random)]


def _set_number(data: bytes, random: Random, _other: bytes) -> bytes:
    width = random.choice((1, 2, 4, 4, 4))
    at = _place(data, random)
    value = random.choice(HOSTILE) & ((1 << 8 * width) - 1)
    return data[:at] + value.to_bytes(width, "little") + data[at + width :]


def _nudge_number(data: bytes, random: Random, _other: bytes) -> bytes:
    at = min(_place(data, random), max(len(data) - 4, 0))
    value = int.from_bytes(data[at : at + 4], "little") + random.choice((-8, -1, 1, 8))
    return data[:at] + (value & 0xFFFFFFFF).to_bytes(4, "little") + data[at + 4 :]


def _remove_range(data: bytes, random: Random, _other: bytes) -> bytes:
    at = _place(data, random)
    return data[:at] + data[at + random.choice((1, 2, 4, 8, 100, 5000)) :]


def _insert(data: bytes, random: Random, other: bytes) -> bytes:
    at, start = _place(data, random), _place(other, random)
    size = random.choice((1, 4, 8, 64, 3000))
    piece = random.choice((other[start : start + size], random.randbytes(size), bytes(size), b"\xff" * size))
    return data[:at] + piece + data[at:]


def _overwrite(data: bytes, random: Random, other: bytes) -> bytes:
    """Overwrite a range with zeros, ones, noise or another file: gives empty chunks and names without an end."""
    at, size = _place(data, random), random.choice((16, 256, 20_000))
    size = min(size, len(data) - at)
    start = _place(other, random)
    piece = random.choice((bytes(size), b"\xff" * size, random.randbytes(size), other[start : start + size]))
    return data[:at] + piece + data[at + len(piece) :]


def chunk_way(change: Callable[[list[Node], Random], None]) -> Way:
    """Return a way that changes a list of chunks; bytes that are not chunks get flipped bits instead."""

    def kind(data: bytes, random: Random, other: bytes) -> bytes:
        start = 8 if data[:4] == DESCENT_MODEL else 0
        nodes = parse(data[start:])
        if not nodes:
            return _flip_bits(data, random, other)
        run = nodes
        while random.random() < 0.7:
            inner = [node.body for node in run if isinstance(node.body, list)]
            if not inner:
                break
            run = random.choice(inner)
        change(run, random)
        return data[:start] + compose(nodes)

    return kind


def _duplicate(run: list[Node], random: Random) -> None:
    run.insert(random.randrange(len(run) + 1), random.choice(run))


def _remove(run: list[Node], random: Random) -> None:
    run.pop(random.randrange(len(run)))


def _swap(run: list[Node], random: Random) -> None:
    entry, two = random.randrange(len(run)), random.randrange(len(run))
    run[entry], run[two] = run[two], run[entry]


def _renumber(run: list[Node], random: Random) -> None:
    node = random.choice(run)
    numbers = (node.number ^ 0x8000_0000, random.choice(run).number, random.randrange(32), random.choice(HOSTILE))
    run[run.index(node)] = Node(random.choice(numbers), node.body)


def _nest(run: list[Node], random: Random) -> None:
    index = random.randrange(len(run))
    node = run[index]
    numbers = random.choice(((node.number,), (0, 9), (9, 0), (0x8000_0000,)))
    body = node.compose()
    for level in range(random.choice((1, 2, 40, 1500))):
        body = struct.pack("<II", numbers[level % len(numbers)], len(body)) + body
    run[index] = Node(node.number, body)


def _empty(run: list[Node], random: Random) -> None:
    index = random.randrange(len(run))
    run[index] = Node(run[index].number, b"")


def _damage_body(run: list[Node], random: Random) -> None:
    """Damage a body but keep its size correct, to test the code after the first checks."""
    index = random.randrange(len(run))
    node = run[index]
    body = node.plain()
    change = random.choice(BYTE_WAYS)
    run[index] = Node(node.number, change(body, random, body))


BYTE_WAYS = (_flip_bits, _truncate, _set_number, _nudge_number, _remove_range, _insert, _overwrite)
CHUNK_WAYS = (_duplicate, _remove, _swap, _renumber, _nest, _empty, _damage_body, _damage_body, _damage_body)
WAYS = (*BYTE_WAYS, *(chunk_way(change) for change in CHUNK_WAYS))
