"""Models of the X-Ray editor (`.object`): meshes, surfaces, bones, motions, and information such as the author."""

from __future__ import annotations

from .codec import raw_size, read, recompose, starts_like, write
from .document import Mesh, Model, Object
from .text import VIEWS, describe

__all__ = [
    "VIEWS",
    "Mesh",
    "Model",
    "Object",
    "describe",
    "raw_size",
    "read",
    "recompose",
    "starts_like",
    "write",
]
