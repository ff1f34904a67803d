"""`.omf`: the skeletal motions of X-Ray models."""

from __future__ import annotations

from .codec import raw_size, read, recompose, starts_like, write
from .document import FRAMES_PER_SECOND, MOTIONS, PARAMETERS, MotionSet, Omf, new_omf
from .text import describe, differences, dump
from .tracks import Width

__all__ = [
    "FRAMES_PER_SECOND",
    "MOTIONS",
    "PARAMETERS",
    "MotionSet",
    "Omf",
    "Width",
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
