"""Bytes of files of X-Ray, put together with nothing of ours."""

import struct


def hexed(text: str) -> bytes:
    """Bytes of a text of hex numbers, one field a line, with remarks behind a semicolon."""
    return bytes.fromhex("".join(line.partition(";")[0] for line in text.splitlines()))


def chunk(identifier: int, *bodies: bytes) -> bytes:
    body = b"".join(bodies)
    return struct.pack("<II", identifier, len(body)) + body


def floats(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


def words(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}I", *values)
