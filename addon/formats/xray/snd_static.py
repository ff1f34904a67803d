"""`level.snd_static`: sounds that always play, each with a name, a position and its times."""

from __future__ import annotations

import numpy as np

from ...core.report import Report
from . import placed
from .placed import NOTHING, VIEWS, Layout, Placed, describe, raw_size, write

__all__ = ["VIEWS", "describe", "raw_size", "read", "recompose", "starts_like", "write"]

_AFTER = np.dtype([
    ("position", "<f4", 3), ("volume", "<f4"), ("frequency", "<f4"),
    ("active", "<i4", 2), ("play", "<i4", 2), ("pause", "<i4", 2),
])  # fmt: skip
LAYOUTS: dict[int | None, Layout] = {None: Layout("static sound", NOTHING, ("name",), _AFTER, nested=True)}


def starts_like(head: bytes) -> bool:
    """Return whether a file starts with a chunk 0 that contains only a chunk 0 with a name and an entry's numbers."""
    if len(head) < 20 or head[:4] != bytes(4) or head[8:12] != bytes(4):
        return False
    size = int.from_bytes(head[12:16], "little")
    name = head[16:].partition(b"\0")[0]
    if int.from_bytes(head[4:8], "little") != size + 8 or not name:
        return False
    return name.isascii() and name.decode().isprintable() and size > _AFTER.itemsize


def read(data: bytes, file: str, report: Report) -> Placed:
    """Read the file. Raises `ReadError` as `placed.read` does."""
    return placed.read(data, file, report, LAYOUTS)


recompose = write
