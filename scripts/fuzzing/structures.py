"""Ways to damage tags of models, pages, tables of archives, compressed data and texts, rarely reached otherwise.

As in `mutation`, all choices depend only on the given `random.Random`. Files are parsed without the project's readers.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from random import Random

from fuzzing import packing
from fuzzing.mutation import BYTE_WAYS, HOSTILE, Node, Way, chunk_way

SPECIAL_FLOATS = (
    b"\0\0\xc0\x7f",  # NaN
    b"\x01\0\x80\x7f",  # a signalling NaN
    b"\0\0\x80\x7f",
    b"\0\0\x80\xff",  # infinities
    b"\xff\xff\x7f\x7f",  # the largest
    b"\0\0\0\x80",  # -0
    b"\x01\0\0\0",  # the smallest
    struct.pack("<f", 1e8),
    struct.pack("<f", -1e20),
    struct.pack("<f", 1e-20),
)
LONGEST_PACKED = 2000
"""Maximum number of bytes to compress in a case; the encoders are slow, plain Python."""


def damaged(data: bytes, random: Random) -> bytes:
    """Damage bytes in one of the general ways, or write special floats into them."""
    return random.choice((*BYTE_WAYS, set_floats))(data, random, data)


def set_floats(data: bytes, random: Random, _other: bytes) -> bytes:
    """Overwrite some 32-bit floats with NaN, infinite, huge or tiny values."""
    changed = bytearray(data)
    step = random.choice((1, 4, 4))
    for _ in range(random.choice((1, 1, 3, 30))):
        at = random.randrange(max(len(data) // step, 1)) * step
        if at + 4 <= len(data):
            changed[at : at + 4] = random.choice(SPECIAL_FLOATS)
    return bytes(changed)


# Compressed chunks of X-Ray -----------------------------------------------------------------------------------------


@chunk_way
def pack_chunk(run: list[Node], random: Random) -> None:
    """Compress the body of a chunk, damaged before, after or not at all, sometimes with a wrong size."""
    small = [position for position, node in enumerate(run) if len(node.plain()) <= LONGEST_PACKED]
    if not small:
        return
    index = random.choice(small)
    plain = run[index].plain()
    if random.random() < 0.5:
        plain = damaged(plain, random)[:LONGEST_PACKED]
    if len(plain) < 4:
        plain += bytes(4)
    body = packing.compressed_chunk_body(plain)
    chance = random.random()
    if chance < 0.2:
        body = damaged(body, random)
    elif chance < 0.3:
        size = (len(plain) + random.choice((-1, 1, 60, 1 << 20))) & 0xFFFFFFFF
        body = size.to_bytes(4, "little") + body[4:]
    run[index] = Node(run[index].number | 0x8000_0000, body)


# Models of Arma -----------------------------------------------------------------------------------------------------

_TAG_NAMES = (
    b"#Selected#",
    b"#Animation#",
    b"#Property#",
    b"#Mass#",
    b"#UVSet#",
    b"#SharpEdges#",
    b"#Lock#",
    b"#MaterialIndex#",
    b"#EndOfFile#",
    b"#Hide#",
    b"proxy:\\a3\\data\\proxy.001",
    b"proxy:a.1",
    b"proxy:",
    b"",
    b"head",
    b"camo",
    b"-",
    b"\xff\xfe",
    b"a" * 300,
)


def _tags(data: bytes, start: int) -> tuple[list[tuple[int, bytes, bytes]], int]:
    """Return (active, name, payload) of the tags after a mark ``TAGG``, and their end."""
    tags: list[tuple[int, bytes, bytes]] = []
    at = start
    while at + 2 < len(data):
        end = data.find(b"\0", at + 1)
        if end < 0 or end + 5 > len(data) or end - at > 400:
            break
        size = int.from_bytes(data[end + 1 : end + 5], "little")
        if size > len(data) - end - 5:
            break
        tags.append((data[at], data[at + 1 : end], data[end + 5 : end + 5 + size]))
        at = end + 5 + size
        if tags[-1][1] == b"#EndOfFile#":
            break
    return tags, at


def change_tags(data: bytes, random: Random, _other: bytes) -> bytes:
    """Rename, duplicate, remove, move or damage tags of a model, keeping sizes correct."""
    marks = [match.start() for match in re.finditer(b"TAGG", data)]
    if not marks:
        return damaged(data, random)
    start = random.choice(marks) + 4
    tags, end = _tags(data, start)
    if not tags:
        return damaged(data, random)
    for _ in range(random.choice((1, 1, 2, 6))):
        index = random.randrange(len(tags))
        active, name, payload = tags[index]
        kind = random.randrange(8)
        if kind == 0:
            tags.insert(random.randrange(len(tags) + 1), tags[index])
        elif kind == 1 and len(tags) > 1:
            tags.pop(index)
        elif kind == 2:
            tags[index] = (active, random.choice((*_TAG_NAMES, random.choice(tags)[1])), payload)
        elif kind == 3:
            tags[index] = (active, name, random.choice((b"", payload * 2, payload[:-1], random.choice(tags)[2])))
        elif kind == 4:
            tags[index] = (random.choice((0, 1, 2, 255)), name, payload)
        elif kind == 5:
            tags.insert(index, (1, random.choice(_TAG_NAMES), random.randbytes(random.choice((0, 1, 4, 64, 128)))))
        else:
            tags[index] = (active, name, damaged(payload, random))
    written = b"".join(
        bytes((active,)) + name + b"\0" + len(payload).to_bytes(4, "little") + payload for active, name, payload in tags
    )
    return data[:start] + written + data[end:]


def change_counts(data: bytes, random: Random, _other: bytes) -> bytes:
    """Change one of the numbers in the header of a LOD."""
    marks = [match.start() for match in re.finditer(b"P3DM|SP3X", data)]
    if not marks:
        return damaged(data, random)
    at = random.choice(marks) + 4 * random.randrange(1, 7)
    value = int.from_bytes(data[at : at + 4], "little")
    value = random.choice((value + 1, value - 1, 0, random.choice(HOSTILE))) & 0xFFFFFFFF
    return data[:at] + value.to_bytes(4, "little") + data[at + 4 :]


# Animations of Arma -------------------------------------------------------------------------------------------------


def pack_frames(data: bytes, random: Random, _other: bytes) -> bytes:
    """Compress uncompressed frames of a binarised animation of version 5, damaged or not."""
    if data[:4] != b"BMTR" or data[4:8] != b"\5\0\0\0":
        return damaged(data, random)
    changed = data
    bones = data[33:37]
    per_frame = 14 * int.from_bytes(bones, "little")
    stored = bones + b"\0"
    for _ in range(random.choice((1, 2, 5))):
        indices = [match.start() for match in re.finditer(re.escape(stored), changed) if match.start() > 37]
        if not indices or not 4 <= per_frame <= LONGEST_PACKED:
            break
        at = random.choice(indices)
        plain = changed[at + 5 : at + 5 + per_frame]
        if len(plain) < per_frame:
            continue
        if random.random() < 0.5:
            plain = (damaged(plain, random) + bytes(per_frame))[:per_frame]
        stream = packing.pack_lzo(packing.tokens_of(plain, 3000, 49151))
        if random.random() < 0.25:
            stream = damaged(stream, random)
        changed = changed[:at] + bones + b"\2" + stream + changed[at + 5 + per_frame :]
    return changed


# Textures of Arma ---------------------------------------------------------------------------------------------------

_TYPES = (0xFF01, 0xFF02, 0xFF03, 0xFF04, 0xFF05, 0x4444, 0x1555, 0x8080, 0x8888, 0x0001, 0x0000)
_SIDES = (0, 1, 2, 3, 4, 5, 16, 64, 1234, 4096, 8765, 32767, 65535)


def _levels(data: bytes) -> tuple[int, list[tuple[int, int, bytes]], int]:
    """Return the end of the tags, the levels (width with its flag, height, data), and the end of the last level."""
    at = 0 if data[:4] == b"GGAT" else 2
    while data[at : at + 4] == b"GGAT":
        at += 12 + int.from_bytes(data[at + 8 : at + 12], "little")
    start, levels = at, []
    at += 2 + 3 * int.from_bytes(data[at : at + 2], "little")
    while at + 7 <= len(data) and data[at : at + 4] != bytes(4):
        width, height = struct.unpack_from("<HH", data, at)
        size = int.from_bytes(data[at + 4 : at + 7], "little")
        levels.append((width, height, data[at + 7 : at + 7 + size]))
        at += 7 + size
    return start, levels, at


def change_levels(data: bytes, random: Random, _other: bytes) -> bytes:
    """Change the type of a texture, its palette, or sides and packing of its levels."""
    start, levels, end = _levels(data)
    if not levels or end > len(data):
        return damaged(data, random)
    head = data[:start]
    if random.random() < 0.4:
        head = random.choice(_TYPES).to_bytes(2, "little") + head[2:]
    colours = random.choice((0, 0, 1, 3, 256))
    for _ in range(random.choice((1, 1, 3))):
        index = random.randrange(len(levels))
        width, height, body = levels[index]
        kind = random.randrange(6)
        if kind == 0:
            levels[index] = (random.choice(_SIDES), random.choice((height, *_SIDES)), body)
        elif kind == 1:
            levels[index] = (width ^ 0x8000, height, body)
        elif kind == 2:
            levels[index] = (width, height, damaged(body or bytes(4), random))
        else:
            plain = (body * 3)[: random.choice((8, 16, 32, 128, LONGEST_PACKED))]
            if kind == 3:
                levels[index] = (width | 0x8000, height, packing.pack_lzo(packing.tokens_of(plain, 3000, 49151)))
            else:
                packed = packing.pack_lzss(packing.tokens_of(plain, 18, 4095))
                levels[index] = (width & 0x7FFF, height, packed)
    written = b"".join(
        struct.pack("<HH", width, height) + len(body).to_bytes(3, "little") + body for width, height, body in levels
    )
    return head + colours.to_bytes(2, "little") + random.randbytes(3 * colours) + written + data[end:]


# Descent 3 ----------------------------------------------------------------------------------------------------------


def _pages(data: bytes) -> list[tuple[int, bytes]]:
    pages, at = [], 0
    while at + 5 <= len(data):
        size = int.from_bytes(data[at + 1 : at + 5], "little")
        if size < 4 or size - 4 > len(data) - at - 5:
            break
        pages.append((data[at], data[at + 5 : at + 1 + size]))
        at += 1 + size
    return pages


def change_pages(data: bytes, random: Random, _other: bytes) -> bytes:
    """Duplicate, remove or damage pages of a table or change their type, keeping lengths correct."""
    pages = _pages(data)
    if not pages:
        return damaged(data, random)
    index = random.randrange(len(pages))
    kind, body = pages[index]
    own_kind = random.randrange(6)
    if own_kind == 0:
        pages.insert(random.randrange(len(pages) + 1), pages[index])
    elif own_kind == 1:
        pages.pop(index)
    elif own_kind == 2:
        pages[index] = (random.choice((0, 1, 2, 10, 255)), body)
    else:
        pages[index] = (kind, damaged(body, random))
    return b"".join(bytes((kind,)) + (len(body) + 4).to_bytes(4, "little") + body for kind, body in pages)


NAMES = (
    "../up", "..", ".", "", "/etc/x", "C:\\x", "a/b", "a\\b", "con", "CON.txt", "nul", "COM1", "com\xb9", "LPT\xb2.x",
    "conin$", "CONOUT$.a", "aux .txt", "x.", "x ", " ", "...", "a:b", "a*", "a?", "a\"", "a|", "a<", "\n", "\t", "\x7f",
    "a", "A", "file.oof", "FILE.OOF", "\xe9", "\xc9", "\xff", "ss", "\xdf", "clock$", "prn", "~", "-rf", "%00", ".x",
)  # fmt: skip
"""Names that are not plain file names, or that are equal to others on some systems."""


def change_table(data: bytes, random: Random, _other: bytes) -> bytes:
    """Change names, lengths and order in an archive's table, and the number and start before it."""
    if data[:4] != b"HOG2" or len(data) < 68:
        return damaged(data, random)
    count = min(int.from_bytes(data[4:8], "little"), (len(data) - 68) // 48)
    rows = [bytearray(data[68 + 48 * number : 116 + 48 * number]) for number in range(count)]
    tail = data[68 + 48 * count :]
    for _ in range(random.choice((1, 1, 3, 8))):
        row = random.choice(rows) if rows else bytearray(48)
        kind = random.randrange(6)
        if kind <= 2:
            name = random.choice(NAMES).encode("latin-1")
            if random.random() < 0.3:
                name += random.choice(NAMES).encode("latin-1")
            row[:36] = (name + b"\0" + random.choice((b"", b"rest\xff")) + bytes(36))[:36]
        elif kind == 3:
            row[40:44] = random.choice((0, 1, 7, random.choice(HOSTILE))).to_bytes(4, "little")
        elif kind == 4:
            rows.insert(random.randrange(len(rows) + 1), bytearray(row))
        else:
            random.shuffle(rows)
    start = 68 + 48 * len(rows) + random.choice((0, 0, 0, 1, -1))
    head = len(rows).to_bytes(4, "little") + (start & 0xFFFFFFFF).to_bytes(4, "little")
    return b"HOG2" + head + data[12:68] + b"".join(map(bytes, rows)) + tail + bytes(48 * max(len(rows) - count, 0))


def change_runs(data: bytes, random: Random, _other: bytes) -> bytes:
    """Change the type, size or runs of pixels of a texture."""
    if len(data) < 20:
        return damaged(data, random)
    kind = random.randrange(4)
    if kind == 0:
        return data[:2] + bytes((random.choice((2, 10, *range(119, 128))),)) + data[3:]
    if kind == 1:
        runs = b"".join(
            bytes((random.choice((0, 2, 3, 5, 250, 255)),)) + random.randbytes(2)
            for _ in range(random.choice((1, 20, 2000)))
        )
        at = random.randrange(18, len(data))
        return data[:at] + runs
    at = data.find(b"\0", 3) + 10
    sizes = struct.pack("<HH", *(random.choice((0, 1, 2, 3, 16, 128, 65535)) for _ in range(2)))
    return data[:at] + sizes + data[at + 4 :] if random.random() < 0.5 else damaged(data, random)


# Texts --------------------------------------------------------------------------------------------------------------

_WORDS = re.compile(rb"\w+|\s+|.", re.DOTALL)
_HOSTILE_WORDS = (
    b"class", b"CfgSkeletons", b"CfgModels", b"skeletonInherit", b"skeletonBones[]", b"skeletonName", b"pivotsModel",
    b"{", b"}", b"{{{{{{{{", b"}}}}", b";", b"=", b"+=", b"[]", b":", b'"', b'""', b"//", b"/*", b"*/", b"#define a a",
    b"\n#define b(x) x##x x\n", b"\n#define c b(b(b(b(a))))\n", b"\n#ifdef a\n", b"\n#else\n", b"\n#endif\n", b"\\\n",
    b"\n#include \"x\"\n", b"b(", b")", b",", b"\0", b"\xff", b"\xef\xbb\xbf", b"default", b"1e999", b"null",
    b"\\u0000",
    b"\"\\ud800\"", b"bones", b"comment", b"*", b"?", b"\\", b"..", b"*.*.*", b"[", b"]", b"\r", b"\xd0\xb0", b"-1",
)  # fmt: skip


def change_words(data: bytes, random: Random, other: bytes) -> bytes:
    """Replace, duplicate or remove words of a text, or repeat a range of them many times."""
    words = _WORDS.findall(data) or [b""]
    for _ in range(random.choice((1, 2, 4, 12))):
        index = random.randrange(len(words)) if words else 0
        size = random.choice((1, 1, 2, 10, 60))
        piece = words[index : index + size]
        kind = random.randrange(7)
        if kind == 0:
            words[index : index + size] = []
        elif kind == 1:
            words[index:index] = piece
        elif kind == 2:
            words[index:index] = piece * random.choice((2, 30, 1000 if len(words) < 3000 else 3))
        elif kind == 3:
            start = random.randrange(len(words)) if words else 0
            words[start:start] = piece
        elif kind == 4:
            taken = _WORDS.findall(other[: 1 << 16])
            words[index : index + 1] = [random.choice(taken)] if taken else []
        else:
            words[index : index + random.choice((0, 1))] = [random.choice(_HOSTILE_WORDS)]
    return b"".join(words)


def nest_text(data: bytes, random: Random, _other: bytes) -> bytes:
    """Insert text with very deep nesting or very many repeated definitions, includes or inheritances."""
    count = random.choice((3, 30, 70, 1000, 20_000))
    bombs: tuple[Callable[[], bytes], ...] = (
        lambda: b"class a {" * count,
        lambda: b"x[] = " + b"{" * count,
        lambda: b"{" * count + b'"bones":1' + b"}" * count,
        lambda: b"[" * count,
        lambda: b"\n".join(b"#define a%d a%d a%d" % (n, n + 1, n + 1) for n in range(min(count, 1000))) + b"\na0\n",
        lambda: b"#define a(x) a(a(x))\na(a(1))\n",
        lambda: b"class CfgSkeletons {" + b"".join(
            b'class s%d{skeletonInherit="s%d";skeletonBones[]={"b%d","b%d"};};' % (n, n + 1, n, n - 1)
            for n in range(min(count, 2000))
        ) + b"};",
        lambda: b"class CfgModels {" + b"".join(
            b"class m%d: m%d {};" % (n, n + 1) for n in range(min(count, 2000))
        ) + b"};",
        lambda: b"a(" * count,
        lambda: b"".join(b"[s%d]:s%d\n" % (n, n + 1) for n in range(min(count, 2000))),
        lambda: b'#include "system.ltx"\n#include "*.ltx"\n' * min(count, 1000),
        lambda: b'"' * count,
        lambda: b"/*" * count,
        lambda: b"\\\n" * count,
        lambda: b"#ifdef x\n" * count,
        lambda: b"*?" * count,
        lambda: b"*a" * min(count, 1000) + b"b",
    )  # fmt: skip
    at = random.choice((0, len(data), random.randrange(len(data) + 1)))
    return data[:at] + random.choice(bombs)() + data[at:]


P3D_WAYS: tuple[Way, ...] = (change_tags, change_tags, change_counts, set_floats)
RTM_WAYS: tuple[Way, ...] = (pack_frames, pack_frames, set_floats)
CHUNK_FILE_WAYS: tuple[Way, ...] = (pack_chunk, set_floats)
TEXT_WAYS: tuple[Way, ...] = (change_words, change_words, change_words, nest_text)
