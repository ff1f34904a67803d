"""`.omf`: the skeletal motions of X-Ray models."""

from __future__ import annotations

from .document import MOTIONS, PARAMETERS
from .file import raw_size, read, recompose, write

__all__ = ["MOTIONS", "PARAMETERS", "raw_size", "read", "recompose", "write"]
