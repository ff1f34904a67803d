"""`level.env_mod`: spheres with modified weather: fog, ambient, sky and hemi light."""

from __future__ import annotations

import numpy as np

from ...core.report import Report
from . import placed
from .placed import NOTHING, VIEWS, Layout, Placed, describe, raw_size, write

__all__ = ["VIEWS", "describe", "raw_size", "read", "recompose", "starts_like", "write"]

_FIELDS = [
    ("position", "<f4", 3), ("radius", "<f4"), ("power", "<f4"), ("far_plane", "<f4"), ("fog", "<f4", 3),
    ("fog_density", "<f4"), ("ambient", "<f4", 3), ("sky", "<f4", 3), ("hemi", "<f4", 3),
]  # fmt: skip
VERSIONED = 0x17
LAYOUTS: dict[int | None, Layout] = {
    None: Layout("weather modifier", NOTHING, (), np.dtype(_FIELDS)),
    VERSIONED: Layout("weather modifier", NOTHING, (), np.dtype([*_FIELDS, ("flags", "<u2")])),
}
"""Without a version: Shadow of Chernobyl; with version 0x17: Clear Sky and later."""


def starts_like(head: bytes) -> bool:
    """Return whether a file starts with a chunk 0 that has the size of an entry, or the version of later games."""
    if head[:8] == b"\0\0\0\0\4\0\0\0":
        return head[8:12] == VERSIONED.to_bytes(4, "little")
    return head[:8] == b"\0\0\0\0" + np.dtype(_FIELDS).itemsize.to_bytes(4, "little") and not head[8:].isascii()


def read(data: bytes, file: str, report: Report) -> Placed:
    """Read the file. Raises `ReadError` as `placed.read` does."""
    return placed.read(data, file, report, LAYOUTS)


recompose = write
