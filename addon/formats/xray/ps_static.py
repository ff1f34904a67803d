"""`level.ps_static`: particle effects that always play, each a name and a transform (rows i, j, k, translation)."""

from __future__ import annotations

import struct

import numpy as np

from ...core.report import Report
from . import placed
from .placed import NOTHING, Layout, Placed, describe, differences, dump, raw_size, write

__all__ = ["describe", "differences", "dump", "raw_size", "read", "recompose", "starts_like", "write"]

_AFTER = np.dtype([("transform", "<f4", (4, 4))])
_GAME = np.dtype([("game_type", "<u2")])
LAYOUTS: dict[int | None, Layout] = {
    None: Layout("particle effect", NOTHING, ("name",), _AFTER),
    1: Layout("particle effect", _GAME, ("name",), _AFTER),
}
"""Shadow of Chernobyl; Clear Sky and later, with the kinds of games an effect is for."""

_NEWER = struct.pack("<IIII", 0, 4, 1, 1)
"""Chunk 0 with the version, and the id of the first entry."""


def starts_like(head: bytes) -> bool:
    """Whether a file's first bytes are an entry of the right size with a name in ASCII, a version before it or not."""
    if head[:16] == _NEWER:
        return _is_entry(head[16:], _GAME.itemsize)
    return head[:4] == bytes(4) and _is_entry(head[4:], 0)


def _is_entry(head: bytes, before: int) -> bool:
    """Whether bytes are a chunk's size and an entry with so many bytes ``before`` its name."""
    if len(head) < 20:
        return False
    name, end, behind = head[4 + before :].partition(b"\0")
    if not end or int.from_bytes(head[:4], "little") != before + len(name) + 1 + _AFTER.itemsize:
        return False
    return len(name) > 1 and len(behind) > 3 and name.isascii() and name.decode().isprintable()


def read(data: bytes, file: str, report: Report) -> Placed:
    """The document. Raises `ReadError`."""
    return placed.read(data, file, report, LAYOUTS)


recompose = write
