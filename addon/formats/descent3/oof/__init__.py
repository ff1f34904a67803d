"""`.oof`: the models of Descent 3: a hierarchy of rigid parts, with points, weapon batteries and animation."""

from __future__ import annotations

from .codec import raw_size, read, recompose, starts_like, write
from .commands import ROTATING, Kind, Property, fields_of, parse_property, values_of, with_values
from .document import Oof
from .mapping import CONVERSIONS, decode, encode
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
    problems_of_name,
)
from .pose import Poses, poses
from .text import VIEWS, describe

__all__ = [
    "CONVERSIONS",
    "NEW",
    "ROTATING",
    "VIEWS",
    "Finding",
    "Kind",
    "Model",
    "Motion",
    "Oof",
    "Part",
    "Point",
    "PointKind",
    "Poses",
    "Property",
    "WeaponBattery",
    "decode",
    "describe",
    "encode",
    "fields_of",
    "find_problems",
    "parse_property",
    "poses",
    "problems_of_name",
    "raw_size",
    "read",
    "recompose",
    "starts_like",
    "values_of",
    "with_values",
    "write",
]
