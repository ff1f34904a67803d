"""`.omf`: the skeletal motions of X-Ray models."""

from __future__ import annotations

from .codec import raw_size, read, recompose, starts_like, write
from .document import FRAMES_PER_SECOND, MOTIONS, PARAMETERS, MotionSet, Omf, new_omf
from .text import VIEWS, describe
from .tracks import Width

__all__ = [
    "FRAMES_PER_SECOND",
    "MOTIONS",
    "PARAMETERS",
    "VIEWS",
    "MotionSet",
    "Omf",
    "Width",
    "describe",
    "new_omf",
    "raw_size",
    "read",
    "recompose",
    "starts_like",
    "write",
]
