"""`.p3d` models for editing (MLOD): the models that animations move; read for their meshes, weights and pivots."""

from __future__ import annotations

from .codec import raw_size, read, recompose, starts_like, write
from .document import Lod, P3d, Tag
from .mesh import NamedPoint, centres, decode_polygons, named_points, pivots, proxies, selection_weights
from .text import describe, differences, dump

__all__ = [
    "Lod",
    "NamedPoint",
    "P3d",
    "Tag",
    "centres",
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
