"""A second reader of archives, for tests: the plainest way, the whole file at once, none of the code of the first."""

import struct

from scripts.fuzzing.packing import unpack_lzhuf
from tests.formats.archives.written import KEYS, alphabet, numbers


def files_of(path):
    """(name, bytes) of every file of an archive, in the order of its table."""
    data = path.read_bytes()
    return list(pbo_files(data) if path.suffix == ".pbo" else xray_files(data))


def pbo_files(data):
    at, rows = 0, []
    while True:
        end = data.index(0, at)
        name, numbers = data[at:end], struct.unpack_from("<IIIII", data, end + 1)
        at = end + 21
        if name:
            rows.append((name, numbers))
        elif numbers[0] == 0x56657273:
            while data[at]:
                for _ in range(2):
                    at = data.index(0, at) + 1
            at += 1
        else:
            break
    for name, (method, original, _, _, size) in rows:
        stored = data[at : at + size]
        at += size
        yield name, unpack_lzss(stored, original) if method else stored


def unpack_lzss(stored, size):
    out, at = [32] * 4096, 0
    while len(out) < size + 4096:
        flags, at = stored[at], at + 1
        for bit in range(8):
            if len(out) >= size + 4096:
                break
            if flags >> bit & 1:
                out.append(stored[at])
                at += 1
            else:
                low, high = stored[at : at + 2]
                at += 2
                for _ in range((high & 15) + 3):
                    out.append(out[-(low | (high & 0xF0) << 4)])
    return bytes(out[4096 : size + 4096])


def xray_files(data):
    at, chunks = 0, {}
    while at < len(data):
        number, size = struct.unpack_from("<II", data, at)
        chunks[number] = data[at + 8 : at + 8 + size]
        at += 8 + size
    rows = table(chunks, len(data))
    for name, offset, stored, size in rows:
        if offset:
            yield name, unpacked(data[offset : offset + stored], size)


def table(chunks, size):
    """The rows (name, offset, stored, size or None) of the first layout and key that give a table which fits."""
    for plain in plain_tables(chunks):
        for layout in (long_rows, checked_rows, moded_rows, plain_rows):
            try:
                rows = list(layout(plain))
            except (ValueError, struct.error, IndexError):
                continue
            if rows and all(name and min(name) >= 32 and offset + stored <= size for name, offset, stored, _ in rows):
                return rows
    raise AssertionError("no layout fits")


def plain_tables(chunks):
    """The table, as it would be under each key."""
    if 1 in chunks:
        yield chunks[1]
    body = chunks.get(0x8000_0001, b"")
    for key in ("", "WW", "RU"):
        packed = unscrambled(body, key) if key else body
        length = int.from_bytes(packed[:4], "little")
        if length < 48 * len(packed):
            yield unpack_or_nothing(packed[4:], length)


def unscrambled(body, edition):
    letters, stream = alphabet(edition), numbers(KEYS[edition][2])
    return bytes(letters.index(byte ^ own) for byte, own in zip(body, stream, strict=False))


def unpack_or_nothing(packed, size):
    try:
        return unpack_lzhuf(packed, size)[0][:size]
    except Exception:  # noqa: BLE001 - the wrong key gives anything
        return b""


def long_rows(plain):
    at = 0
    while at < len(plain):
        length, size, stored, _ = struct.unpack_from("<HIII", plain, at)
        (offset,) = struct.unpack_from("<I", plain, at + length - 2)
        yield plain[at + 14 : at + length - 2], offset, stored, size
        at += length + 2


def named(plain, count):
    at = 0
    while at < len(plain):
        end = plain.index(0, at)
        yield plain[at:end], *struct.unpack_from(f"<{count}I", plain, end + 1)
        at = end + 1 + 4 * count


def checked_rows(plain):
    return ((name, offset, stored, size) for name, _, offset, size, stored in named(plain, 4))


def moded_rows(plain):
    for name, mode, offset, stored in named(plain, 3):
        if mode > 1:
            raise ValueError
        yield name, offset, stored, stored if mode else None


def plain_rows(plain):
    return ((name, offset, stored, size) for name, offset, size, stored in named(plain, 3))


def unpacked(stored, size):
    if size is None:
        length = int.from_bytes(stored[:4], "little")
        return unpack_lzhuf(stored[4:], length)[0][:length]
    return stored if len(stored) == size else unpack_lzo(stored)


def unpack_lzo(stored):  # noqa: C901 - the table of instructions is long
    """LZO1X by its table of instructions, one byte at a time."""
    out, at, state = bytearray(), 0, 0

    def byte():
        nonlocal at
        at += 1
        return stored[at - 1]

    def literals(count):
        for _ in range(count):
            out.append(byte())

    def length_of(short, base):
        total = short
        if not total:
            total = base
            while not (more := byte()):
                total += 255
            total += more
        return total

    if stored[0] > 17:
        count = byte() - 17
        literals(count)
        state = 4 if count > 3 else count
    while True:
        code = byte()
        after = code & 3
        if code < 16 and state == 0:
            literals(length_of(code, 15) + 3)
            state = 4
            continue
        if code < 16:
            more = byte()
            count, back = (3, (more << 2) + (code >> 2) + 2049) if state == 4 else (2, (more << 2) + (code >> 2) + 1)
        elif code < 64:
            far = code < 32
            count = length_of(code & (7 if far else 31), 7 if far else 31) + 2
            low, high = byte(), byte()
            back, after = (low >> 2) + (high << 6), low & 3
            if far:
                back += (code & 8) << 11
                if not back:
                    return bytes(out)
                back += 16384
            else:
                back += 1
        else:
            back = (byte() << 3) + (code >> 2 & 7) + 1
            count = (code >> 5) + 1
        for _ in range(count):
            out.append(out[-back])
        literals(after)
        state = after
