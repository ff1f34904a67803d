"""`.p3d` of tools (MLOD): the models that animations move; read for their meshes, weights and pivots."""

from __future__ import annotations

from .document import Lod, P3d, Tag
from .file import raw_size, read, recompose, starts_like, write
from .mesh import centres, decode_lod, pivots, selection_weights
from .text import describe, differences, dump

__all__ = [
    "Lod",
    "P3d",
    "Tag",
    "centres",
    "decode_lod",
    "describe",
    "differences",
    "dump",
    "pivots",
    "raw_size",
    "read",
    "recompose",
    "selection_weights",
    "starts_like",
    "write",
]
