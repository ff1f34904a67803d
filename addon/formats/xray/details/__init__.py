"""`level.details`: the grass and litter of a level, models and the grid that says what grows where."""

from __future__ import annotations

from .document import (
    NEWEST,
    SLOT_SIZE,
    Details,
    Header,
    describe,
    differences,
    dump,
    new,
    raw_size,
    read,
    recompose,
    starts_like,
    write,
)
from .ground import COLOUR, DENSITY, HEIGHT, MODEL, SKY, SUN, decode, encode, find_problems
from .placing import arrange, find_misplaced, find_orphans, new_grid, renumbered
from .scatter import Plants, scatter
from .slots import EMPTY, MODELS, MOST_SHADE, SlotValues, empty_slots, pack, unpack

__all__ = [
    "COLOUR",
    "DENSITY",
    "EMPTY",
    "HEIGHT",
    "MODEL",
    "MODELS",
    "MOST_SHADE",
    "NEWEST",
    "SKY",
    "SLOT_SIZE",
    "SUN",
    "Details",
    "Header",
    "Plants",
    "SlotValues",
    "arrange",
    "decode",
    "describe",
    "differences",
    "dump",
    "empty_slots",
    "encode",
    "find_misplaced",
    "find_orphans",
    "find_problems",
    "new",
    "new_grid",
    "pack",
    "raw_size",
    "read",
    "recompose",
    "renumbered",
    "scatter",
    "starts_like",
    "unpack",
    "write",
]
