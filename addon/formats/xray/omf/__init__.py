"""`.omf`: the skeletal motions of X-Ray models."""

from __future__ import annotations

from .codec import raw_size, read, recompose, starts_like, write
from .document import MOTIONS, PARAMETERS, MotionSet, Omf, new_omf
from .text import describe, differences, dump

__all__ = [
    "MOTIONS",
    "PARAMETERS",
    "MotionSet",
    "Omf",
    "describe",
    "differences",
    "dump",
    "new_omf",
    "raw_size",
    "read",
    "recompose",
    "starts_like",
    "write",
]
