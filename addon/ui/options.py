"""Properties of operators from the options of imports and exports, and back (`games.options`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, fields
from enum import Enum
from typing import Any, TypeVar

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from ..games.options import OPTION, PATH
from . import nearby_paths

Options = TypeVar("Options")
PROPERTIES: Mapping[type, Any] = {bool: BoolProperty, int: IntProperty, float: FloatProperty, str: StringProperty}


def properties_from(options: type) -> Any:
    """A class to mix into operators, with a property for each option of the dataclass, named as its field."""
    declared = {one.name: _property(one) for one in fields(options) if OPTION in one.metadata}
    return type(f"{options.__name__}Properties", (), {"__annotations__": declared})


def _property(one: Field[Any]) -> Any:
    declared: dict[str, Any] = dict(one.metadata[OPTION])
    if PATH in one.metadata:
        # No FILE_PATH: its button opens a file browser, which closes a pop-up.
        declared |= {"search": nearby_paths.offered(*one.metadata[PATH]), "search_options": {"SUGGESTION"}}
    if isinstance(one.default, Enum):
        return EnumProperty(default=one.default.name, **declared)
    if isinstance(one.default, frozenset):
        names = {member.name for member in one.default}
        return EnumProperty(default=names, options={"ENUM_FLAG"}, **declared)
    return PROPERTIES[type(one.default)](default=one.default, **declared)


def options_from(operator: Any, options: type[Options], **others: Any) -> Options:
    """The dataclass with what is set on the operator; ``others`` are fields that it says otherwise."""
    chosen = {one.name: _value(operator, one) for one in fields(options) if OPTION in one.metadata}  # type: ignore[arg-type]
    return options(**(chosen | others))


def _value(operator: Any, one: Field[Any]) -> Any:
    value = getattr(operator, one.name)
    if PATH in one.metadata:
        return bpy.path.abspath(value)
    if isinstance(one.default, Enum):
        return type(one.default)[value]
    if isinstance(one.default, frozenset):
        kind = type(next(iter(one.default)))
        return frozenset(kind[name] for name in value)
    return value
