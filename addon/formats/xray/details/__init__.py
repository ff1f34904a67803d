"""`level.details`: the grass and litter of a level, models and the grid that says what grows where."""

from __future__ import annotations

from .document import Details, Header, describe, differences, dump, new, raw_size, read, recompose, starts_like, write
from .ground import decode, encode, find_problems
from .slots import EMPTY, MODELS, SlotValues, empty_slots, pack, unpack

__all__ = [
    "EMPTY",
    "MODELS",
    "Details",
    "Header",
    "SlotValues",
    "decode",
    "describe",
    "differences",
    "dump",
    "empty_slots",
    "encode",
    "find_problems",
    "new",
    "pack",
    "raw_size",
    "read",
    "recompose",
    "starts_like",
    "unpack",
    "write",
]
