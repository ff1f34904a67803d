"""`.oof`: the models of Descent 3, rigid parts in a hierarchy, their points, batteries and animation."""

from __future__ import annotations

from .document import Oof
from .file import raw_size, read, recompose, starts_like, write
from .text import describe, differences, dump

__all__ = ["Oof", "describe", "differences", "dump", "raw_size", "read", "recompose", "starts_like", "write"]
