"""`level.spawn`: the objects of a level as its editor placed them: section, name, position, angles; other data is kept.

The running game uses `all.spawn` instead. The data after the angles depends on the kind of object.
"""

from __future__ import annotations

import numpy as np

from ...core.binary import Reader
from ...core.report import Report
from . import placed
from .placed import VIEWS, Layout, Placed, describe, raw_size, write

__all__ = ["VIEWS", "describe", "raw_size", "read", "recompose", "starts_like", "write"]

_BEFORE = np.dtype([("packet", "<u2")])
_AFTER = np.dtype([("bytes", "u1", 2), ("position", "<f4", 3), ("angles", "<f4", 3)])
LAYOUTS: dict[int | None, Layout] = {
    None: Layout("spawned object", _BEFORE, ("section", "name"), _AFTER, rest=True),
}
PACKET = 1
"""Number of a spawn packet."""


def starts_like(head: bytes) -> bool:
    """Return whether a file starts with a chunk 0 with a spawn packet: its number and the name of a section."""
    if len(head) < 12 or head[:4] != bytes(4) or head[8:10] != PACKET.to_bytes(2, "little"):
        return False
    section = head[10:].partition(b"\0")[0]
    return len(section) > 1 and section.isascii() and section.decode().isprintable()


def read(data: bytes, file: str, report: Report) -> Placed:
    """Read the file.

    Raises `ReadError` as `placed.read` does, and for `all.spawn` and other files that start differently.
    """
    if len(data) >= 12 and data[:4] == bytes(4) and data[8:10] != PACKET.to_bytes(2, "little"):
        raise Reader(data, file, "0x0", 0).error(
            "this does not begin with a spawned object", "Name the level.spawn of a level; all.spawn is not read"
        )
    return placed.read(data, file, report, LAYOUTS)


recompose = write
