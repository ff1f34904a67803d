"""`.rtm`: animations of Operation Flashpoint and Arma, plain or binarised for the game."""

from __future__ import annotations

from .codec import raw_size, read, recompose, starts_like, write
from .document import (
    BINARISED,
    LONGEST_NAME,
    MOST_FRAMES,
    STEP_SOUND,
    Binarised,
    Plain,
    Rtm,
    StoredEvent,
    with_phases,
)
from .mapping import (
    ALONG_SKELETON,
    ROUNDING,
    TOLERANCE,
    decode,
    default_phases,
    encode_binarised,
    encode_plain,
    scaled_bones,
)
from .sources import frame_sources
from .text import VIEWS, describe

__all__ = [
    "ALONG_SKELETON",
    "BINARISED",
    "LONGEST_NAME",
    "MOST_FRAMES",
    "ROUNDING",
    "STEP_SOUND",
    "TOLERANCE",
    "VIEWS",
    "Binarised",
    "Plain",
    "Rtm",
    "StoredEvent",
    "decode",
    "default_phases",
    "describe",
    "encode_binarised",
    "encode_plain",
    "frame_sources",
    "raw_size",
    "read",
    "recompose",
    "scaled_bones",
    "starts_like",
    "with_phases",
    "write",
]
