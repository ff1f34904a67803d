"""`.ltx`: the game's settings (configs) as text, in sections that inherit from each other."""

from __future__ import annotations

from .codec import raw_size, read, recompose, starts_like, write
from .document import Ltx
from .text import describe, differences, dump

__all__ = ["Ltx", "describe", "differences", "dump", "raw_size", "read", "recompose", "starts_like", "write"]
