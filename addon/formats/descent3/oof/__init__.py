"""`.oof`: the models of Descent 3, rigid parts in a hierarchy, their points, batteries and animation."""

from __future__ import annotations

from .conversion import CONVERSIONS
from .decoding import decode
from .document import Oof
from .encoding import Settings, encode
from .file import raw_size, read, recompose, starts_like, write
from .limits import Finding, find_problems
from .model import NEW, Model, Motion, Part, Point, PointKind, WeaponBattery
from .pose import Poses, poses
from .text import describe, differences, dump

__all__ = [
    "CONVERSIONS",
    "NEW",
    "Finding",
    "Model",
    "Motion",
    "Oof",
    "Part",
    "Point",
    "PointKind",
    "Poses",
    "Settings",
    "WeaponBattery",
    "decode",
    "describe",
    "differences",
    "dump",
    "encode",
    "find_problems",
    "poses",
    "raw_size",
    "read",
    "recompose",
    "starts_like",
    "write",
]
