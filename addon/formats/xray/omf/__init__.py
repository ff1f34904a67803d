"""`.omf`: the skeletal motions of X-Ray models."""

from __future__ import annotations

from .document import MOTIONS, PARAMETERS
from .file import raw_size, read, recompose, write
from .text import describe, differences, dump

__all__ = ["MOTIONS", "PARAMETERS", "describe", "differences", "dump", "raw_size", "read", "recompose", "write"]
