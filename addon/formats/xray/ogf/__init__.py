"""`.ogf`: the models of X-Ray, skeletons, their meshes and what level visuals hold."""

from __future__ import annotations

from .document import HEADER
from .file import raw_size, read, recompose, write

__all__ = ["HEADER", "raw_size", "read", "recompose", "write"]
