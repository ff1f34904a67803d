"""`.p3d` models for editing (MLOD): the models that animations move; read for their meshes, weights and pivots."""

from __future__ import annotations

from .codec import raw_size, read, recompose, starts_like, write
from .comparison import compare, lines_of
from .document import Lod, P3d, Tag
from .encoding import encode_lod
from .mesh import (
    MASS_ATTRIBUTE,
    MOST_UV_SETS,
    LodContent,
    NamedPoint,
    ProxyContent,
    centres,
    content_of,
    decode_polygons,
    further_uvs,
    named_points,
    pivots,
    proxies,
    selection_weights,
    uv_set_name,
)
from .text import VIEWS, describe

__all__ = [
    "MASS_ATTRIBUTE",
    "MOST_UV_SETS",
    "VIEWS",
    "Lod",
    "LodContent",
    "NamedPoint",
    "P3d",
    "ProxyContent",
    "Tag",
    "centres",
    "compare",
    "content_of",
    "decode_polygons",
    "describe",
    "encode_lod",
    "further_uvs",
    "lines_of",
    "named_points",
    "pivots",
    "proxies",
    "raw_size",
    "read",
    "recompose",
    "selection_weights",
    "starts_like",
    "uv_set_name",
    "write",
]
