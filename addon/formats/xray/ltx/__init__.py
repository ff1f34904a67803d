"""`.ltx`: the game's settings (configs) as text, in sections that inherit from each other."""

from __future__ import annotations

from .codec import raw_size, read, recompose, starts_like, write
from .document import Ltx
from .text import VIEWS, describe

__all__ = ["VIEWS", "Ltx", "describe", "raw_size", "read", "recompose", "starts_like", "write"]
