"""`.omf`: the skeletal motions of X-Ray models."""

from __future__ import annotations

from .document import MOTIONS, PARAMETERS, Omf
from .file import raw_size, read, recompose, write
from .text import describe, differences, dump

__all__ = ["MOTIONS", "PARAMETERS", "Omf", "describe", "differences", "dump", "raw_size", "read", "recompose", "write"]
