"""X-Ray models (`.ogf`): skeletons, their meshes, and the visuals of levels."""

from __future__ import annotations

from .codec import raw_size, read, recompose, starts_like, write
from .document import HEADER, motion_set_of
from .text import VIEWS, describe

__all__ = [
    "HEADER",
    "VIEWS",
    "describe",
    "motion_set_of",
    "raw_size",
    "read",
    "recompose",
    "starts_like",
    "write",
]
