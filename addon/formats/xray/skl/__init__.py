"""`.skl`, `.skls`: skeletal motions as the game's editor keeps them, a motion or a whole list, curves for each bone."""

from __future__ import annotations

from .codec import raw_size, read, recompose, starts_like, write
from .document import MOTION, BoneTrack, SkeletalMotion, Skl, new_skl, new_skls
from .mapping import decode, encode
from .text import describe, differences, dump

__all__ = [
    "MOTION",
    "BoneTrack",
    "SkeletalMotion",
    "Skl",
    "decode",
    "describe",
    "differences",
    "dump",
    "encode",
    "new_skl",
    "new_skls",
    "raw_size",
    "read",
    "recompose",
    "starts_like",
    "write",
]
