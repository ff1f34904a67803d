"""`.rtm`: how men and animals of Operation Flashpoint and Arma move; plain, or binarised for the game."""

from __future__ import annotations

from .changes import BoneChange, ClipChanges, with_phases
from .conversion import ALONG_SKELETON
from .decoding import ROUNDING, decode, scaled_bones
from .document import BINARISED, LONGEST_NAME, Binarised, Plain, Rtm, StoredEvent
from .encoding import REACH, default_phases
from .encoding_binarised import encode_binarised
from .encoding_plain import encode_plain
from .file import raw_size, read, recompose, starts_like, write
from .text import describe, differences, dump

__all__ = [
    "ALONG_SKELETON",
    "BINARISED",
    "LONGEST_NAME",
    "REACH",
    "ROUNDING",
    "Binarised",
    "BoneChange",
    "ClipChanges",
    "Plain",
    "Rtm",
    "StoredEvent",
    "decode",
    "default_phases",
    "describe",
    "differences",
    "dump",
    "encode_binarised",
    "encode_plain",
    "raw_size",
    "read",
    "recompose",
    "scaled_bones",
    "starts_like",
    "with_phases",
    "write",
]
