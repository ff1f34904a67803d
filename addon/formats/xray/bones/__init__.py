"""`.bones`: the properties of a skeleton's bones as the game's editor keeps them."""

from __future__ import annotations

from .document import PARTS, Bone, Bones
from .file import raw_size, read, recompose, starts_like, write
from .text import describe, differences, dump

__all__ = [
    "PARTS",
    "Bone",
    "Bones",
    "describe",
    "differences",
    "dump",
    "raw_size",
    "read",
    "recompose",
    "starts_like",
    "write",
]
