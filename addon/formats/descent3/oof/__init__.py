"""`.oof`: the models of Descent 3: a hierarchy of rigid parts, with points, weapon batteries and animation."""

from __future__ import annotations

from .codec import raw_size, read, recompose, starts_like, write
from .document import Oof
from .mapping import CONVERSIONS, Settings, decode, encode
from .model import (
    NEW,
    Finding,
    Model,
    Motion,
    Part,
    Point,
    PointKind,
    WeaponBattery,
    find_problems,
    parse_property,
    problems_of_name,
)
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
    "parse_property",
    "poses",
    "problems_of_name",
    "raw_size",
    "read",
    "recompose",
    "starts_like",
    "write",
]
