"""`level.cform`: the mesh a level collides with."""

from __future__ import annotations

from .document import Cform, describe, differences, dump, raw_size, read, recompose, starts_like, write
from .mesh import MATERIAL, SECTOR, SUPPRESS_SHADOWS, SUPPRESS_WALLMARKS, decode, encode, find_problems

__all__ = [
    "MATERIAL",
    "SECTOR",
    "SUPPRESS_SHADOWS",
    "SUPPRESS_WALLMARKS",
    "Cform",
    "decode",
    "describe",
    "differences",
    "dump",
    "encode",
    "find_problems",
    "raw_size",
    "read",
    "recompose",
    "starts_like",
    "write",
]
