"""Archives of X-Ray and Arma for the fuzzer: small ones of every layout, with tables of hostile names and numbers.

Written from the descriptions of the formats, without the project's readers.
"""

from __future__ import annotations

import struct
from random import Random

from fuzzing import packing, structures
from fuzzing.mutation import HOSTILE

_LAYOUTS = ("1114", "2215", "2945", "2947", "2947 WW", "2947 RU")
_KEYS = {"WW": (1024, 6011979, 24031979), "RU": (2048, 20091958, 20031955)}
"""Edition -> swaps, seed of the alphabet, seed of the stream."""
_NAMES = ("meshes\\a.ogf", "meshes\\b.ogf", "textures\\a.dds", "config.bin", "a")
_HEADERS = (
    b"",
    b"[header]\r\nentry_point = $fs_root$\\gamedata\\\r\n",
    b"entry_point = ..\\..\\up\\",
    b"entry_point = \0",
)
_PREFIXES = (b"a3\\x", b"..\\..\\up", b"\\\\", b"C:\\x", b"", b"prefix=x\r\n")
_ENTRY = struct.Struct("<5I")
_VERSION, _COMPRESSED, _ENCRYPTED = 0x56657273, 0x43707273, 0x456E6372


def fresh(random: Random) -> bytes:
    """Return an archive of up to eight files."""
    layout = random.choice((*_LAYOUTS, "pbo", "pbo"))
    return _pbo(random) if layout == "pbo" else _xray(random, layout)


def _name(random: Random) -> bytes:
    names = _NAMES if random.random() < 0.7 else structures.NAMES
    return "\\".join(random.choice(names) for _ in range(random.choice((1, 1, 1, 2, 40)))).encode("cp1251", "replace")


def _number(random: Random, right: int) -> int:
    return right if random.random() < 0.9 else random.choice((0, 1, right + 1, random.choice(HOSTILE))) & 0xFFFFFFFF


def _content(random: Random, layout: str) -> tuple[bytes, bytes, bool]:
    """Return a file, its stored bytes, and whether they are compressed."""
    if random.random() < 0.4:
        plain = random.randbytes(random.choice((0, 1, 40)))
        return plain, plain, False
    most, window, pack = {
        "1114": (60, 4096, packing.pack_lzhuf),
        "pbo": (18, 4095, packing.pack_lzss),
    }.get(layout, (random.choice((8, 5000)), 49151, packing.pack_lzo))
    tokens = packing.random_tokens(random, most, window, 0 if pack is packing.pack_lzo else 4096)
    plain = packing.expanded(tokens, b"" if pack is packing.pack_lzo else b" " * 4096)
    packed = pack(tokens)
    return plain, len(plain).to_bytes(4, "little") + packed if layout == "1114" else packed, True


def _xray(random: Random, layout: str) -> bytes:
    header = random.choice(_HEADERS)
    start = (8 + len(header) if header else 0) + 8
    data, rows, offset, sizes = b"", b"", start, (0, 0)
    is_packed = False
    for _ in range(random.choice((0, 1, 3, 8))):
        if not sizes[1] or random.random() < 0.8:  # else another name of the same bytes
            plain, stored, is_packed = _content(random, layout)
            offset, sizes = start + len(data), (len(plain), len(stored))
            data += stored
        numbers = {
            "1114": (not is_packed, offset, sizes[1]),
            "2215": (offset, *sizes),
            "2945": (0, offset, *sizes),
        }.get(layout)
        name = _name(random)
        if numbers is not None:
            rows += name + b"\0" + b"".join(_number(random, value).to_bytes(4, "little") for value in numbers)
        else:
            length = _number(random, len(name) + 16) & 0xFFFF
            rows += struct.pack("<HIII", length, _number(random, sizes[0]), _number(random, sizes[1]), 0) + name
            rows += struct.pack("<I", _number(random, offset))
    table = structures.damaged(rows, random) if random.random() < 0.1 else rows
    body = len(table).to_bytes(4, "little") + packing.pack_lzhuf([table] if table else [])
    edition = layout[5:]
    body = _scrambled(body, edition) if edition else body
    chunks = [(666, header)] if header else []
    chunks += [(0, data), (1 | 1 << 31, body)]
    return b"".join(struct.pack("<II", number, len(part)) + part for number, part in chunks)


def _scrambled(plain: bytes, edition: str) -> bytes:
    swaps, table_seed, stream_seed = _KEYS[edition]
    letters, state = list(range(256)), table_seed

    def following() -> int:
        nonlocal state
        state = (state * 134775813 + 1) % 2**32
        return state >> 24

    for _ in range(swaps):
        first = second = following()
        while first == second:
            second = following()
        letters[first], letters[second] = letters[second], letters[first]
    state = stream_seed
    return bytes(letters[byte] ^ following() for byte in plain)


def _pbo(random: Random) -> bytes:
    head = data = b""
    if random.random() < 0.8:
        key = random.choice((b"prefix", b"prefix", b"prefix", b"version", b"encryption"))
        head = b"\0" + _ENTRY.pack(_VERSION, 0, 0, 0, 0) + key + b"\0" + random.choice(_PREFIXES) + b"\0\0"
    for _ in range(random.choice((0, 1, 3, 8))):
        plain, stored, is_packed = _content(random, "pbo")
        method = _COMPRESSED if is_packed else random.choice((0, 0, 0, 0, 7, _VERSION, _ENCRYPTED))
        row = (method, _number(random, len(plain)), 0, 0, _number(random, len(stored)))
        head += _name(random) + b"\0" + _ENTRY.pack(*row)
        data += stored
    return head + b"\0" + _ENTRY.pack(0, 0, 0, 0, 0) + data + random.choice((b"", bytes(21), b"\0"))
