"""`.p3d` of tools (MLOD): the models that animations move; read for their meshes, weights and pivots."""

from __future__ import annotations

from .document import Lod, P3d, Tag
from .file import raw_size, read, recompose, starts_like, write
from .mesh import centres, decode_lod, pivots, selection_weights
from .points import NamedPoint, named_points, proxies
from .polygons import decode_polygons
from .text import describe, differences, dump

__all__ = [
    "Lod",
    "NamedPoint",
    "P3d",
    "Tag",
    "centres",
    "decode_lod",
    "decode_polygons",
    "describe",
    "differences",
    "dump",
    "named_points",
    "pivots",
    "proxies",
    "raw_size",
    "read",
    "recompose",
    "selection_weights",
    "starts_like",
    "write",
]
