"""Archives written for tests: those of X-Ray in every layout and with both keys, and those of Arma."""

import hashlib
import struct
import zlib

from addon.core.compression import lzo
from tests.core.compression.test_lzhuf import Encoder

KEYS = {"WW": (1024, 6011979, 24031979), "RU": (2048, 20091958, 20031955)}
"""Edition -> swaps, seed of the alphabet, seed of the stream."""
LAYOUTS = ("1114", "2215", "2945", "2947")


def numbers(state):
    """The generator that the games have from their compiler."""
    while True:
        state = (state * 134775813 + 1) % 2**32
        yield state // 2**24


def alphabet(edition):
    """For each plain byte the letter that stands for it."""
    swaps, seed, _ = KEYS[edition]
    letters, pairs = list(range(256)), numbers(seed)
    for _ in range(swaps):
        first = second = next(pairs)
        while second == first:
            second = next(pairs)
        letters[first], letters[second] = letters[second], letters[first]
    return letters


def scrambled(plain, edition):
    letters, stream = alphabet(edition), numbers(KEYS[edition][2])
    return bytes(letters[byte] ^ own for byte, own in zip(plain, stream, strict=False))


def chunk(number, body):
    return struct.pack("<II", number, len(body)) + body


def row(layout, name, offset, stored, plain, *, packed):
    """A row of the table for a file; ``packed``: whether its bytes are compressed."""
    crc = zlib.crc32(plain)
    return {
        "1114": lambda: name + b"\0" + struct.pack("<III", not packed, offset, len(stored)),
        "2215": lambda: name + b"\0" + struct.pack("<III", offset, len(plain), len(stored)),
        "2945": lambda: name + b"\0" + struct.pack("<IIII", crc, offset, len(plain), len(stored)),
        "2947": lambda: (
            struct.pack("<HIII", len(name) + 16, len(plain), len(stored), crc) + name + struct.pack("<I", offset)
        ),
    }[layout]()


def xray(files, *, layout="2947", edition="", header=b"", folders=(), packed_table=True):
    """An archive of ``files`` (name, bytes); those of more than 16 bytes are compressed, if that saves something."""
    data, rows = bytearray(), []
    start = (8 + len(header) if header else 0) + 8
    for name, plain in files:
        if layout == "1114":
            packed = Encoder().pack(plain) if len(plain) > 16 else plain
        else:
            packed = lzo.pack_bytes(plain) if len(plain) > 16 else plain
        stored = packed if len(packed) < len(plain) else plain
        rows.append(row(layout, name, start + len(data), stored, plain, packed=stored is not plain))
        data += stored
    rows += [row(layout, name, 0, b"", b"", packed=False)[:-4] + bytes(4) for name in folders]
    table = b"".join(rows)
    body = Encoder().pack(table) if packed_table else table
    body = scrambled(body, edition) if edition else body
    parts = [chunk(666, header)] if header else []
    return b"".join([*parts, chunk(0, bytes(data)), chunk(1 | packed_table << 31, body)])


def lzss(plain):
    """Literals alone, and the sum of the bytes."""
    parts = [b"\xff" + plain[at : at + 8] for at in range(0, len(plain), 8)]
    return b"".join(parts) + struct.pack("<I", sum(plain) % 2**32)


def pbo(files, *, properties=None, packed=(), sha1=True):
    """An archive of ``files`` (name, bytes); those of the names in ``packed`` are compressed."""
    head, data = bytearray(), bytearray()
    if properties is not None:
        head += b"\0" + struct.pack("<5I", 0x56657273, 0, 0, 0, 0)
        head += b"".join(key + b"\0" + text + b"\0" for key, text in properties) + b"\0"
    for name, plain in files:
        stored = lzss(plain) if name in packed else plain
        method, original = (0x43707273, len(plain)) if name in packed else (0, 0)
        head += name + b"\0" + struct.pack("<5I", method, original, 0, 7, len(stored))
        data += stored
    whole = bytes(head + bytes(21) + data)
    return whole + (b"\0" + hashlib.sha1(whole, usedforsecurity=False).digest() if sha1 else b"")
