"""`.anm`: how cameras, anomalies and weapons' inertia move; one object, six channels of keys."""

from __future__ import annotations

from .conversion import CONVERSIONS
from .document import ANIMATION, Animation, Anm, new_anm
from .file import raw_size, read, recompose, starts_like, write
from .mapping import decode, encode
from .text import describe, differences, dump

__all__ = [
    "ANIMATION",
    "CONVERSIONS",
    "Animation",
    "Anm",
    "decode",
    "describe",
    "differences",
    "dump",
    "encode",
    "new_anm",
    "raw_size",
    "read",
    "recompose",
    "starts_like",
    "write",
]
