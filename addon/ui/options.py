"""Properties of operators from the options of imports and exports, and back (`games.options`)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, TypeVar

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from ..games.options import Option, Options
from . import nearby_paths

Chosen = TypeVar("Chosen", bound=Options)
PROPERTIES: Mapping[type, Any] = {bool: BoolProperty, int: IntProperty, float: FloatProperty, str: StringProperty}


def properties_from(options: type[Options]) -> Any:
    """A class to mix into operators, with a property for each option that users set, named as its field."""
    declared = {name: _property(one) for name, one in options.FIELDS.items() if one.declared is not None}
    return type(f"{options.__name__}Properties", (), {"__annotations__": declared})


def _property(one: Option) -> Any:
    declared = dict(one.declared or {})
    if one.suffixes is not None:
        # No FILE_PATH: its button opens a file browser, which closes a pop-up.
        declared |= {"search": nearby_paths.offered(*one.suffixes), "search_options": {"SUGGESTION"}}
    if isinstance(one.default, Enum):
        return EnumProperty(default=one.default.name, **declared)
    if isinstance(one.default, frozenset):
        names = {member.name for member in one.default}
        return EnumProperty(default=names, options={"ENUM_FLAG"}, **declared)
    return PROPERTIES[type(one.default)](default=one.default, **declared)


def options_from(operator: Any, options: type[Chosen], **others: Any) -> Chosen:
    """The options with what is set on the operator; ``others`` are fields that it says otherwise."""
    chosen = {name: _value(getattr(operator, name), one) for name, one in options.FIELDS.items() if one.declared}
    return options(**(chosen | others))


def _value(value: Any, one: Option) -> Any:
    if one.suffixes is not None:
        return bpy.path.abspath(value)
    if isinstance(one.default, Enum):
        return type(one.default)[value]
    if isinstance(one.default, frozenset):
        kind = type(next(iter(one.default)))
        return frozenset(kind[name] for name in value)
    return value
