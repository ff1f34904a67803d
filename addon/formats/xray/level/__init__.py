"""A compiled level: `level` (visuals, sectors, lights, no vertices). `level.geometry` reads `level.geom` next to it."""

from .codec import read, recompose, starts_like, write
from .document import Level
from .text import VIEWS, describe, raw_size

__all__ = [
    "VIEWS",
    "Level",
    "describe",
    "raw_size",
    "read",
    "recompose",
    "starts_like",
    "write",
]
