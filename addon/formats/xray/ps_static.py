"""`level.ps_static`: particle effects that always play, with a name and a transform (rows i, j, k, translation)."""

from __future__ import annotations

import struct

import numpy as np

from ...core.report import Report
from . import placed
from .placed import NOTHING, VIEWS, Layout, Placed, describe, raw_size, write

__all__ = ["VIEWS", "describe", "raw_size", "read", "recompose", "starts_like", "write"]

_AFTER = np.dtype([("transform", "<f4", (4, 4))])
_GAME = np.dtype([("game_type", "<u2")])
LAYOUTS: dict[int | None, Layout] = {
    None: Layout("particle effect", NOTHING, ("name",), _AFTER),
    1: Layout("particle effect", _GAME, ("name",), _AFTER),
}
"""Without a version: Shadow of Chernobyl; version 1: Clear Sky and later, with the game types that use an effect."""

_NEWER = struct.pack("<IIII", 0, 4, 1, 1)
"""First bytes in later games: chunk 0 with version 1, and the id of the first entry."""


def starts_like(head: bytes) -> bool:
    """Return whether a file starts with an entry of the right size with an ASCII name; a version may precede it."""
    if head[:16] == _NEWER:
        return _is_entry(head[16:], _GAME.itemsize)
    return head[:4] == bytes(4) and _is_entry(head[4:], 0)


def _is_entry(head: bytes, before: int) -> bool:
    """Return whether bytes are a chunk's size and an entry with ``before`` bytes before its name."""
    if len(head) < 20:
        return False
    name, end, after_name = head[4 + before :].partition(b"\0")
    if not end or int.from_bytes(head[:4], "little") != before + len(name) + 1 + _AFTER.itemsize:
        return False
    return len(name) > 1 and len(after_name) > 3 and name.isascii() and name.decode().isprintable()


def read(data: bytes, file: str, report: Report) -> Placed:
    """Read the file. Raises `ReadError` as `placed.read` does."""
    return placed.read(data, file, report, LAYOUTS)


recompose = write
