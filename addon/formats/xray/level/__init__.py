"""A compiled level: `level` (what is where, without a vertex) and `level.geom` beside it (`level.geometry`)."""

from .codec import read, recompose, starts_like, write
from .document import Level
from .text import describe, differences, dump, raw_size

__all__ = [
    "Level",
    "describe",
    "differences",
    "dump",
    "raw_size",
    "read",
    "recompose",
    "starts_like",
    "write",
]
